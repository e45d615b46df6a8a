"""The commands select and simulate: tables, JSON, pictures, and what they refuse."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import pytest

from spacy_iobes.cli.application import FINE, UNUSABLE

from . import commands


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpora")
    for name, seed, size in (("pool.bio", 1, 300), ("known.bio", 2, 200)):
        done = run("generate", folder / name, "--sentences", size, "--seed", seed)
        assert done[0] == FINE
    return folder


def run(*arguments: object) -> tuple[int, str, str]:
    done = commands.run(*arguments)
    return done.exit_code, done.stdout, done.stderr


def test_simulate(corpora: Path, tmp_path: Path) -> None:
    pictures = [tmp_path / name for name in ("curve.svg", "curve.html")]
    plots = [part for path in pictures for part in ("--plot", path)]
    order = ("simulate", corpora / "pool.bio", "-s", "bio", "-l", "ORG", "--batch", 50)
    code, out, _ = run(*order, *plots)
    assert code == FINE
    assert "mentions of ORG in 300 sentences. Stop after" in out
    assert "the audit says" in out
    ElementTree.fromstring(pictures[0].read_text(encoding="utf8"))
    page = pictures[1].read_text(encoding="utf8")
    assert "Content-Security-Policy" in page
    assert "@@" not in page
    assert 'class="text"' not in page  # figures alone
    code, out, _ = run(*order, "--json", "--set", "audit=0")
    found = json.loads(out)
    read = [row["estimate"]["read"] for row in found["rounds"]]
    assert (found["sentences"], read[0], read[1]) == (300, 50, 100)
    assert found["rounds"][found["stop"]]["estimate"]["coverage"] >= 0.99
    assert found["rounds"][0]["sentences"] == list(range(50))
    assert all(row["estimate"]["audited"] == 0 for row in found["rounds"])


@pytest.mark.skipif(not find_spec("matplotlib"), reason="matplotlib is not installed")
def test_a_picture_by_matplotlib(corpora: Path, tmp_path: Path) -> None:
    path = tmp_path / "curve.png"
    order = ("simulate", corpora / "pool.bio", "-s", "bio", "-l", "PER", "--set", "rule=never")
    code, out, _ = run(*order, "--batch", 100, "--plot", path)
    assert code == FINE
    assert "was not met before all sentences were read" in out
    assert path.read_bytes().startswith(b"\x89PNG")


def test_select_by_learning(corpora: Path, tmp_path: Path) -> None:
    target, page = tmp_path / "next.jsonl", tmp_path / "rank.html"
    order = ("select", corpora / "pool.bio", "--learn", corpora / "known.bio", "-s", "bio")
    code, out, _ = run(
        *order, "-l", "ORG", "--limit", 7, "-o", target, "--plot", page, "-t", "prodigy"
    )
    assert code == FINE
    assert len(out.splitlines()) == 2 + 7 + 2
    assert "in the first 7." in out
    tasks = [json.loads(line) for line in target.read_text(encoding="utf8").splitlines()]
    assert [task["meta"]["rank"] for task in tasks] == list(range(1, 8))
    expected = [task["meta"]["expected"] for task in tasks]
    assert expected == sorted(expected, reverse=True)
    for task in tasks:
        for span in task["spans"]:
            words = [token["text"] for token in task["tokens"]]
            mine = words[span["token_start"] : span["token_end"] + 1]
            assert task["text"][span["start"] : span["end"]].split() == mine
    columns = tmp_path / "next.bio"
    code, _, err = run(*order, "-l", "ORG", "--limit", 7, "-o", columns, "--to-scheme", "bio")
    assert (code, f"{columns}: 7 sentences" in err) == (FINE, True)
    blocks = columns.read_text(encoding="utf8").strip().split("\n\n")
    assert [[row.split()[0] for row in block.split("\n")] for block in blocks] == [
        [token["text"] for token in task["tokens"]] for task in tasks
    ]
    written = page.read_text(encoding="utf8")
    assert '<th scope="col">rank</th><th scope="col">expected</th>' in written
    assert written.count('<td class="text">') == 7  # the sentences
    assert '<th scope="col" class="text">sentence</th>' in written
    code, out, _ = run(*order, "-l", "ORG", "--limit", 2, "--set", "suggestions=0", "--json")
    assert [set(task) for task in json.loads(out)] == [
        {"text", "tokens", "spans", "meta", "answer", "_input_hash"}
    ] * 2


def test_a_pool_of_another_kind_than_what_is_learned_from(corpora: Path, tmp_path: Path) -> None:
    lines = (corpora / "pool.bio").read_text(encoding="utf8").split("\n\n")
    sentences = [" ".join(row.split()[0] for row in rows.split("\n") if row) for rows in lines]
    texts = [words for words in sentences if words and "-DOCSTART-" not in words]
    text, columns = tmp_path / "pool.txt", tmp_path / "columns.txt"
    text.write_text("\n".join(texts), encoding="utf8")
    columns.write_bytes((corpora / "pool.bio").read_bytes())
    order = ("-l", "ORG", "--limit", 1000, "--set", "suggestions=0", "--json")
    learn = (*order, "-s", "bio", "--learn", corpora / "known.bio")
    for more in ([], ["--format", "text"]):
        code, out, err = run("select", text, *learn, "--sentences", "lines", *more)
        assert code == FINE
        assert ("read as plain text (else: --format columns)" in err) != bool(more)
        assert sorted(row["text"] for row in json.loads(out)) == sorted(texts)
    for more in (["--format", "columns"], ["--learn", str(columns)]):  # the last --learn counts
        code, out, _ = run("select", columns, *learn, *more)
        assert (code, len(json.loads(out))) == (FINE, 300)


def test_select_by_a_pipeline(corpora: Path, tmp_path: Path) -> None:
    model, known = tmp_path / "model", corpora / "known.bio"
    code, _, err = run("train", known, known, "-s", "bio", "-o", model)
    assert code == FINE, err
    order = ("select", corpora / "pool.bio", "--model", model, "-s", "bio")
    code, out, _ = run(*order, "-l", "ORG", "--limit", 5, "--json", "--ranking", "margin")
    assert code == FINE
    first = json.loads(out)[0]
    assert first["suggestions"]
    assert {span[2] for each in first["suggestions"] for span in each["spans"]} <= {"ORG"}
    code, out, _ = run(*order, "-l", "ORG", "--limit", 300, "--json", "--set", "suggestions=1")
    expected = {task["meta"]["sentence"]: task["meta"]["expected"] for task in json.loads(out)}
    assert len(expected) == 300
    code, _, err = run(*order, "-l", "CAR")
    assert (code, "does not know CAR" in err) == (UNUSABLE, True)
    code, _, err = run(*order, "-l", "ORG", "--ranking", "entropy")
    assert (code, "'expected' or 'margin'" in err) == (UNUSABLE, True)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["-s", "bio"], "say what to look for"),
        (["-s", "bio", "-l", "CAR"], "no mention of CAR"),
        (["-s", "bio", "-l", "ORG", "--ranking", "best"], "Known: expected, entropy"),
        (["-s", "bio", "-l", "ORG", "--set", "rule=soon"], "Known: estimate"),
        (["-s", "bio", "-l", "ORG", "--set", "start=words"], "needs some"),
        (["-s", "bio", "-l", "ORG", "--plot", "curve.gif"], "ends in one of .svg"),
        (["-s", "bio", "-l", "ORG", "--plot", "none/curve.svg"], "no directory"),
        (["-s", "bio", "-l", "ORG", "--target", "2"], "target"),
    ],
)
def test_what_simulate_refuses(corpora: Path, more: list[str], words: str) -> None:
    code, _, err = run("simulate", corpora / "pool.bio", *more)
    assert code == UNUSABLE
    assert words in " ".join(err.split())


def test_what_select_refuses(corpora: Path) -> None:
    pool = corpora / "pool.bio"
    for more in ([], ["--learn", pool, "--model", pool]):
        code, _, err = run("select", pool, "-s", "bio", "-l", "ORG", *more)
        assert (code, "name one of both" in err) == (UNUSABLE, True)
    code, _, err = run("select", pool, "-s", "bio", "-l", "CAR", "--learn", pool)
    assert (code, "has no mention of CAR" in err) == (UNUSABLE, True)
    code, _, err = run("select", corpora / "none.bio", "-s", "bio", "-l", "X", "--learn", pool)
    assert (code, "there is no such file" in err) == (UNUSABLE, True)
