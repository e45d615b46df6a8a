"""docs/migration.md: what it says of other tools is so, as far as they are installed.

A row of a table has an expression for them and one for us, which must come out alike on generated
tags and, where they are at hand, on the outputs of real systems.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from random import Random
from shutil import which
from typing import Any

import pytest
import spacy
from spacy.tokens import DocBin

import spacy_iobes
from spacy_iobes import Span, convert, score, write
from spacy_iobes.corpus import ColumnReader, Columns

from .commands import fine
from .pages import PACKAGE, PAGES, blocks, examples, run_commands, run_examples
from .shared import SHARED, needs_shared, outputs

PAGE = PAGES["migration.md"]
PEERS = ("iobes", "seqeval", "seqscore", "nervaluate", "spacy")
TITLES = dict(zip(PEERS, (*PEERS[:-1], "spaCy: `iob_utils` and `spacy convert`")))
SCHEMES = ("bio", "iob1", "iobes", "bilou", "bmewo")
LABELS = ["PER", "LOC", "creative-work"]
WNUT = SHARED / "data" / "wnut17"
SAMPLE = PACKAGE / "data" / "sample.bio"
CONLLEVAL = os.environ.get("CONLLEVAL") or which("conlleval.pl") or which("conlleval")
Names = dict[str, Any]


def tables(peer: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """The tables about a tool: the first cell, and the pairs of expressions or commands."""
    section = PAGE.split(f"\n## {TITLES[peer]}\n")[1].split("\n## ")[0]
    found = re.findall(r"^\| (.+) \| here \|\n\|---\|---\|\n((?:\|.+\n)+)", section, re.MULTILINE)
    pair = re.compile(r"^\| `([^`]+)` \| `([^`]+)` \|$", re.MULTILINE)
    return [(head, pair.findall(body)) for head, body in found]


def expressions(peer: str) -> list[tuple[str, str, bool]]:
    """The rows with expressions, and whether they hold for malformed tags, too."""
    return [
        (*row, "legal" not in head)
        for head, rows in tables(peer)
        if "command" not in head and "convert`" not in head
        for row in rows
    ]


ROWS = [(peer, *row) for peer in PEERS for row in expressions(peer)]
COMMANDS = next(rows for head, rows in tables("seqscore") if "command" in head)
CONVERTERS = next(rows for head, rows in tables("spacy") if head == "`spacy convert`")


def legal_bio(random: Random) -> list[str]:
    """The tags of a few spans, some of which touch."""
    length = random.randint(1, 12)
    spans, start = [], 0
    while (start := start + random.choice((0, 0, 1, 3))) < length:
        end = min(length, start + random.choice((1, 1, 2, 3)))
        spans.append(Span(start, end, random.choice(LABELS)))
        start = end
    return write(spans, length, "bio")


def spoilt(tags: list[str], every: list[str], random: Random) -> list[str]:
    """The same with some tags replaced."""
    return [random.choice(every) if random.random() < 0.15 else tag for tag in tags]


@cache
def generated(malformed: bool) -> list[Names]:
    """Sentences in every scheme, and gold and predicted tags."""
    random, made = Random(0), []
    for _ in range(150):
        gold = [legal_bio(random) for _ in range(4)]
        names: Names = {"labels": LABELS, "gold": gold}
        for scheme in SCHEMES:
            rows = [convert(tags, "bio", scheme) for tags in gold]
            every = sorted({tag for row in rows for tag in row})
            if malformed:
                rows = [spoilt(row, every, random) for row in rows]
            names |= {scheme: rows[0]} | ({"pred": rows} if scheme == "bio" else {})
        made.append(names)
    return made


@cache
def real(malformed: bool) -> list[Names]:
    """The outputs of systems on WNUT-17, of which two are malformed; nothing where there are none.

    All of the gold and the predictions are scored, and so are the sentences that are malformed.
    """
    if not WNUT.is_dir() or not malformed:
        return []
    gold = tags_of(WNUT / "emerging.test.annotated")
    labels = sorted({tag[2:] for row in gold for tag in row if tag != "O"})
    made: list[Names] = []
    for path in sorted((WNUT / "submissions").iterdir()):
        pred = tags_of(path)
        ours = {"labels": labels, "gold": gold, "pred": pred, "bio": max(pred, key=len)}
        made.append(ours)
        for one, two in zip(gold, pred):
            if spacy_iobes.validate(two, "bio"):
                made.append({"labels": labels, "gold": [one], "pred": [two], "bio": two})
    return made


def tags_of(path: Path) -> list[list[str]]:
    """The tags of a file."""
    return [list(row) for part in ColumnReader(path, Columns()) for row in part.tags]


def peer_names(peer: str) -> Names:
    """The names that the page uses for a tool."""
    if peer == "iobes":
        logging.getLogger("iobes").setLevel(logging.CRITICAL)  # it reports each violation
        module = import_module("iobes")
        return vars(module) | {each.name: each for each in module.SpanEncoding}
    if peer == "seqeval":
        every = ("metrics", "metrics.sequence_labeling", "scheme")
        modules = [import_module(f"seqeval.{name}") for name in every]
        return {name: value for module in modules for name, value in vars(module).items()}
    if peer == "seqscore":
        encoding = import_module("seqscore.encoding")
        names = {name: encoding.get_encoding(name) for name in ("BIO", "BIOES")}
        functions = ("scoring", "validation")
        return {
            key: value
            for name in functions
            for key, value in vars(import_module(f"seqscore.{name}")).items()
        } | names
    if peer == "nervaluate":
        return {"Evaluator": import_module("nervaluate").Evaluator}
    return vars(import_module("spacy.training.iob_utils"))


def needed(peer: str) -> None:
    """Skip where a tool is missing."""
    if not find_spec(peer):
        pytest.skip(f'{peer} is not installed: pip install "spacy-iobes[bench]"')


def span(found: Any) -> tuple[int, int, str] | None:
    """A span of any tool, half-open."""
    if isinstance(found, Span):
        return found.start, found.end, found.label
    if isinstance(found, tuple) and len(found) == 3:  # seqeval and spaCy: the last token
        return found[1], found[2] + 1, found[0]
    if hasattr(found, "span"):
        return found.span.start, found.span.end, found.type
    if hasattr(found, "start"):
        return found.start, found.end, found.type if hasattr(found, "type") else found.tag
    return None


def plain(found: Any) -> Any:
    """A result in the form in which those of all tools are compared; what is undefined is 0."""
    if isinstance(found, (list, tuple)):
        return sorted(map(span, found)) if any(map(span, found)) else list(found)
    return round(float(found or 0.0), 9)


def outcome(expression: str, names: Names) -> Any:
    """What an expression gives, or that it is refused."""
    refusals = ValueError, AssertionError, names.get("EncodingError", ValueError)  # seqscore's
    try:
        return plain(eval(expression, dict(names)))
    except refusals:
        return "refused"


def with_results(peer: str, names: Names) -> Names:
    """The names of a section, which may stand for results."""
    ours = {name: getattr(spacy_iobes, name) for name in spacy_iobes.__all__}
    if peer != "nervaluate":
        return ours | names
    evaluate = peer_names(peer)["Evaluator"]
    found = evaluate(names["gold"], names["pred"], tags=names["labels"], loader="list").evaluate()
    report = score(names["gold"], names["pred"], scheme="bio", policy="begin")
    return {"found": found, "report": report}


def used(expression: str) -> set[str]:
    """The lists of tags that an expression is about."""
    return {*re.findall(rf"\b(?:{'|'.join(SCHEMES)}|gold|pred)\b(?!\")", expression)}


@pytest.mark.parametrize(("peer", "theirs", "ours", "malformed"), ROWS)
def test_both_sides_of_a_row_come_out_alike(
    peer: str, theirs: str, ours: str, malformed: bool
) -> None:
    needed(peer)
    names, seen = peer_names(peer), set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # seqeval's, of what is undefined
        for inputs in [*generated(malformed), *real(malformed)]:
            if used(theirs) <= inputs.keys():
                both = with_results(peer, inputs)
                expected = outcome(theirs, names | both)
                assert outcome(ours, both) == expected, inputs
                seen.add(repr(expected))
    assert len(seen) > 1


@pytest.mark.parametrize(("peer", "theirs", "ours", "malformed"), ROWS)
def test_our_side_of_a_row_runs(peer: str, theirs: str, ours: str, malformed: bool) -> None:
    """It gives results, and refuses nothing but malformed tags, without the other tool, too."""
    results = []
    for inputs in generated(malformed):
        names = {name: getattr(spacy_iobes, name) for name in spacy_iobes.__all__} | inputs
        report = score(inputs["gold"], inputs["pred"], scheme="bio", policy="begin")
        results.append(outcome(ours, names | {"report": report}))
    assert any(result != "refused" for result in results)
    assert malformed or "refused" not in results


def test_every_tool_has_rows() -> None:
    counts = {peer: len(expressions(peer)) for peer in PEERS}
    assert counts == {"iobes": 11, "seqeval": 12, "seqscore": 9, "nervaluate": 7, "spacy": 4}
    assert (len(COMMANDS), len(CONVERTERS)) == (9, 2)


@pytest.mark.parametrize("peer", PEERS)
def test_sessions_with_other_tools(peer: str) -> None:
    needed(peer)
    names = {name: getattr(spacy_iobes, name) for name in spacy_iobes.__all__}
    peer_names(peer)
    session = examples("\n".join(blocks("pycon", "migration.md", peer)), peer, names)
    assert session.examples
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run_examples(session)


def test_commands_of_seqscore(tmp_path: Path) -> None:
    needed("seqscore")
    (session,) = blocks("console", "migration.md", "seqscore")
    run_commands(session, tmp_path)


def in_shell(command: str, folder: Path) -> int:
    """Run the command of a package that is installed beside this one, or our own."""
    name, *rest = shlex.split(command)
    module = {"seqscore": "seqscore.scripts.seqscore", "spacy-iobes": "spacy_iobes"}.get(name, name)
    start = ["-c", "from seqscore.scripts.seqscore import cli; cli()"]
    line = [sys.executable, *(start if name == "seqscore" else ["-m", module]), *rest]
    return subprocess.run(line, cwd=folder, capture_output=True, check=False).returncode


@pytest.mark.parametrize(("theirs", "ours"), COMMANDS)
def test_both_commands_of_a_row_write_the_same(theirs: str, ours: str, tmp_path: Path) -> None:
    needed("seqscore")
    results = []
    for number, command in enumerate((theirs, ours)):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "sample.bio").write_bytes(SAMPLE.read_bytes())
        options = ("--scheme", "bio", "--policy", "begin", "--quiet")
        fine("repair", SAMPLE, folder / "legal.bio", *options)
        done = in_shell(command, folder)
        written = folder / "out"
        lines = written.read_text(encoding="utf8").splitlines() if written.exists() else []
        lines = [*filter(None, lines)]  # seqscore ends a file with one, we end a document
        results.append((bool(done), sorted(lines) if "count" in theirs else lines))
    assert results[0] == results[1]
    assert ("out" in shlex.split(theirs) and not results[0][0]) == bool(results[0][1])


@pytest.mark.parametrize(("theirs", "ours"), CONVERTERS)
def test_converted_files_hold_the_same_entities(theirs: str, ours: str, tmp_path: Path) -> None:
    vocab = spacy.blank("en").vocab
    found = []
    for number, command in enumerate((theirs, ours)):
        folder = tmp_path / str(number)
        folder.mkdir()
        source = folder / "FILE.iob"
        fine("repair", SAMPLE, source, "--scheme", "bio", "--policy", "begin")
        text = re.sub(r"-DOCSTART-.*\n\n", "", source.read_text(encoding="utf8"))
        source.write_text(text, encoding="utf8")
        assert in_shell(command, folder) == 0
        docs = DocBin().from_disk(folder / "FILE.spacy").get_docs(vocab)
        found.append(
            [
                ([t.text for t in doc], [(e.start, e.end, e.label_) for e in doc.ents])
                for doc in docs
            ]
        )
    assert found[0] == found[1]
    assert found[0]


@pytest.mark.parametrize(
    ("marker", "words"), [("-DOCSTART- -X- O O", ["Ada"]), ("-DOCSTART- O", ["-DOCSTART-", "Ada"])]
)
def test_marks_of_documents(marker: str, words: list[str], tmp_path: Path) -> None:
    row = "Ada X O B-PER" if "-X-" in marker else "Ada B-PER"
    (tmp_path / "file.iob").write_text(f"{marker}\n\n{row}\n\n", encoding="utf8")
    assert in_shell("spacy convert file.iob . -c ner", tmp_path) == 0
    fine("convert", tmp_path / "file.iob", tmp_path / "ours.spacy", "--scheme", "bio")
    vocab = spacy.blank("en").vocab
    theirs, ours = (
        [token.text for doc in DocBin().from_disk(tmp_path / name).get_docs(vocab) for token in doc]
        for name in ("file.spacy", "ours.spacy")
    )
    assert (theirs, ours) == (words, ["Ada"])


@needs_shared
@pytest.mark.parametrize(
    ("tool", "spans"),
    [
        ("conlleval.pl-2004-01-26__begin", [["ORG", 0, 2]]),
        ("conlleval.py-spyysalo-6a21dde__begin", [["ORG", 0, 1], ["ORG", 1, 2]]),
        ("conlleval.py-sighsmile-423ac49__begin", [["ORG", 0, 1], ["ORG", 1, 2]]),
    ],
)
def test_spans_that_touch_in_iobes(tool: str, spans: list[list[str | int]]) -> None:
    rows = [row for row in outputs(tool, "IOBES") if row["tags"] == ["S-ORG", "S-ORG"]]
    assert [row["spans"] for row in rows] == [spans]


def both_columns() -> Iterator[str]:
    """A file for conlleval: tokens, gold tags and predicted ones, malformed."""
    for number, names in enumerate(generated(True)):
        for gold, pred in zip(names["gold"], names["pred"]):
            yield from (f"w{number} {one} {two}\n" for one, two in zip(gold, pred))
            yield "\n"


@pytest.mark.skipif(
    not (CONLLEVAL and which("perl")), reason="no conlleval.pl: CONLLEVAL names the script"
)
def test_conlleval(tmp_path: Path) -> None:
    path = tmp_path / "both"
    path.write_text("".join(both_columns()), encoding="utf8")
    with path.open("rb") as lines:
        perl = subprocess.run(
            ["perl", str(CONLLEVAL)], stdin=lines, capture_output=True, check=True
        )
    command = next(
        ours
        for theirs, ours in re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|$", PAGE, re.MULTILINE)
        if theirs == "conlleval < FILE"
    )
    result = fine(*[path if word == "FILE" else word for word in shlex.split(command)[1:]])
    assert result.stdout == perl.stdout.decode()
