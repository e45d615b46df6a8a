"""Every command of files and scores takes every format; what is refused is listed here by hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

import spacy_iobes as si

from .commands import fine, run
from .every_format import FORMATS, GOLD, PREDICTED, TEXTS, Mention, tokens

ROWS = {
    "columns": "bio",
    "docbin": "entities",
    "jsonl": "characters",
    "prodigy": "prodigy",
    "doccano": "doccano",
    "label_studio": "label_studio",
    "hugging_face": "hugging_face",
    "brat": "brat",
    "inline": "inline",
    "session": "session",
    "text": "",
    "tokens": "",
}
"""Every row of the table of formats, and who writes a file of it for these tests."""
SPANS = ("jsonl", "prodigy", "doccano", "label_studio", "brat", "inline", "session")
"""Formats that have spans, not tags that might be illegal."""
BARE = ("text", "tokens")
"""Formats without any annotation."""
NO_TAGS = "hold no tags that could be illegal"
NO_GOLD = "annotates none of its 26 tokens"
NOTHING_TO_LEARN = "hold no annotation"
READ_ONLY = "of the format session cannot be written"
REFUSED = {
    **{("validate", name): NO_TAGS for name in (*SPANS, *BARE)},
    **{(verb, name): NO_GOLD for verb in ("score", "errors", "report", "compare") for name in BARE},
    **{("strategies", name): "without annotation" for name in BARE},
    ("repair", "session"): READ_ONLY,
    ("generate", "session"): READ_ONLY,
    ("predict --to", "session"): READ_ONLY,
    **{("predict --to", name): f"the format {name} holds no annotation" for name in BARE},
    **{(verb, name): NOTHING_TO_LEARN for verb in ("train", "tune") for name in BARE},
    **{("simulate", name): "no mention of PER" for name in BARE},
    ("to", "session"): READ_ONLY,
}
"""All that commands refuse: what they say, by command and format."""
NESTED: list[list[Mention]] = [[*some, (0, 1, "MISC")] for some in GOLD]
"""Mentions of which some lie in others."""


def test_no_row_of_the_table_is_left_out() -> None:
    assert set(ROWS) == set(si.FORMATS)
    assert {name for _, name in REFUSED} <= set(ROWS)


def test_info_says_the_same() -> None:
    """What is refused here, and nothing else, is refused in the table that users see."""
    names = {
        "convert --to": ["to"],
        "score GOLD": ["score", "errors", "report"],
        "compare GOLD": ["compare"],
    }
    found = json.loads(fine("info", "formats", "--json").stdout)
    refused = {
        (verb, row["name"])
        for row in found
        for name, taken in row["commands"].items()
        for verb in names.get(name, [name])
        if not taken
    }
    assert refused == set(REFUSED)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Any]:
    """Gold and predictions in every format, and the options that they need."""
    folder, found = tmp_path_factory.mktemp("matrix"), dict[tuple[str, str], Any]()
    for row, name in ROWS.items():
        for side, spans in (("gold", GOLD), ("predicted", PREDICTED)):
            if name:
                ending, write = FORMATS[name]
                path = folder / f"{row}.{side}.{ending}"
                found[row, side] = path, write(path, spans, -1)
            else:
                path = folder / f"{row}.{side}.txt"
                between = "\n\n" if row == "text" else "\n"
                path.write_text(between.join(TEXTS) + "\n", encoding="utf8")
                found[row, side] = path, [] if row == "text" else ["--format", row]
    return found


def summarize(path: Path, some: list[str], row: str) -> None:
    (summary,) = json.loads(fine("summarize", path, *some, "--json").stdout)["files"]
    labels = {} if row in BARE else {"LOC": 3, "ORG": 1, "PER": 5}
    assert (summary["tokens"], summary["labels"]) == (26, labels)


def count(path: Path, some: list[str], row: str) -> None:
    found = json.loads(fine("summarize", "--mentions", path, *some, "--json").stdout)
    assert ({"count": 1, "label": "LOC", "text": "Phrygia"} in found) == (row not in BARE)


def fits(path: Path, some: list[str], row: str) -> None:
    result = run("validate", "--fits", "separators", path, *some, "--json")
    assert result.exit_code == 0, result.output


VERBS: dict[str, Callable[[Path, list[str], str], None]] = {
    "summarize": summarize,
    "count": count,
    "fits": fits,
}


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("verb", VERBS)
def test_commands_that_read(files: dict[tuple[str, str], Any], verb: str, row: str) -> None:
    assert (verb, row) not in REFUSED
    path, some = files[row, "gold"]
    VERBS[verb](path, some, row)


def answered(verb: str, row: str, arguments: Sequence[object], command: str = "") -> str | None:
    """What a command prints; None if it refuses the format, as it has to."""
    result = run(command or (verb if verb != "to" else "convert"), *arguments)
    if (verb, row) in REFUSED:
        assert result.exit_code in (1, 2), result.output
        assert REFUSED[verb, row] in " ".join(result.stderr.split())
        return None
    assert result.exit_code == 0, (verb, row, result.output)
    return result.stdout


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("named", [True, False])
def test_commands_for_tags(files: dict[tuple[str, str], Any], named: bool, row: str) -> None:
    """With a scheme and without one."""
    path, some = files[row, "gold"]
    answered("validate", row, [path, *(some if named or "-s" not in some else [])])


@pytest.mark.parametrize("row", ROWS)
def test_repair(files: dict[tuple[str, str], Any], row: str, tmp_path: Path) -> None:
    path, some = files[row, "gold"]
    out = tmp_path / f"repaired{path.suffix}"
    to = ["-t", row] if row in ("brat", "session", *BARE) else []
    if answered("repair", row, [path, out, *some, "-p", "begin", *to]) and row not in BARE:
        assert "score 100.00" in fine("score", path, out, *some).stdout


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("verb", ["score", "errors", "report", "compare"])
def test_scores(files: dict[tuple[str, str], Any], verb: str, row: str, tmp_path: Path) -> None:
    (gold, some), (predicted, _) = files[row, "gold"], files[row, "predicted"]
    more = {
        "score": [gold, predicted, "--layout", "json"],
        "errors": [gold, predicted, "--errors", "--layout", "json"],
        "report": [gold, predicted, "--html", tmp_path / "page.html"],
        "compare": [gold, "-a", predicted, "-b", gold, "--set", "rounds=100", "--json"],
    }[verb]
    command = verb if verb == "compare" else "score"
    said = answered(verb, row, [*more, *some], command)
    if said and verb == "score":
        assert json.loads(said)["micro"] == si.score(GOLD, PREDICTED).as_dict()["micro"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recogniser of the fixtures, which is never right about text that it has not seen."""
    folder = tmp_path_factory.mktemp("trained")
    ending, write = FORMATS["bio"]
    some = write(folder / f"gold.{ending}", GOLD, -1)
    gold = folder / f"gold.{ending}"
    fine("train", gold, gold, *some, "-o", folder / "model", "--max-steps", 20, "--no-tune")
    return folder / "model"


@pytest.mark.parametrize("row", ROWS)
def test_recognisers(
    files: dict[tuple[str, str], Any], model: Path, row: str, tmp_path: Path
) -> None:
    path, some = files[row, "gold"]
    answered("train", row, [path, path, *some, "-o", tmp_path / "again", "--max-steps", 2])
    answered("tune", row, [model, path, *some, "--json"])
    kind = some[some.index("--format") :] if "--format" in some else []
    assert "probability" in fine("explain", model, path, *kind).stdout
    (found,) = json.loads(
        fine("predict", model, path, tmp_path / "out.jsonl", *some, "--json").stdout
    )
    assert found["labels"] == {"LOC": 3, "ORG": 1, "PER": 5}
    answered(
        "predict --to", row, [model, path, tmp_path / "found.spacy", *some, "-t", row], "predict"
    )


@pytest.mark.parametrize("row", ROWS)
def test_the_lab(files: dict[tuple[str, str], Any], row: str, tmp_path: Path) -> None:
    path, some = files[row, "gold"]
    few = [
        "--strategies",
        "bio",
        "--learners",
        "softmax",
        "--set",
        "epochs=1",
        "--set",
        "workers=1",
    ]
    said = answered("strategies", row, [path, *some, *few, "--json"])
    assert not said or json.loads(said)[0]["spans"] == 9
    out = tmp_path / ("out.spacy" if row == "docbin" else "out")
    said = answered("generate", row, [out, "-t", row, "--sentences", 20, "--json"])
    assert not said or json.loads(said)["sentences"] == 20


@pytest.mark.parametrize("row", [row for row in ROWS if row != "tokens"])
def test_predictions(files: dict[tuple[str, str], Any], row: str) -> None:
    """Gold is a column file; text has no mention that could be right."""
    (gold, scheme), (predicted, some) = files["columns", "gold"], files[row, "predicted"]
    more = [*scheme, *([] if "-s" in some else some)]
    said = json.loads(fine("score", gold, predicted, *more, "--layout", "json").stdout)
    wanted = [[] for _ in TEXTS] if row in BARE else PREDICTED
    assert said["micro"] == si.score(GOLD, wanted).as_dict()["micro"]
    assert said["missing"]["predicted"] == (26 if row in BARE else 0)


@pytest.mark.parametrize("target", ROWS)
@pytest.mark.parametrize("source", ROWS)
def test_convert(
    files: dict[tuple[str, str], Any], source: str, target: str, tmp_path: Path
) -> None:
    path, some = files[source, "gold"]
    out = tmp_path / ("out.spacy" if target == "docbin" else "out")
    more = ["--to-scheme", "bio"] if target in ("columns", "hugging_face") else []
    if answered("to", target, [path, out, *dict.fromkeys(some), "-t", target, *more]) is None:
        return
    parts = [*si.read(out, format=target)]
    assert sum(part.tokens for part in parts) == 26
    if not {source, target} & {*BARE}:
        scheme = "bio" if target in ("columns", "hugging_face") else ""
        found = [
            (start + begin, end + begin, label)
            for part in parts
            for begin, some in zip(part.offsets.tolist(), part.known(scheme).spans)
            for start, end, label in some
        ]
        before = [0, *accumulate(len(tokens(text)) for text in TEXTS)]
        assert sorted(found) == [
            (start + begin, end + begin, label)
            for begin, some in zip(before, GOLD)
            for start, end, label in some
        ]


@pytest.mark.parametrize("target", ["columns", "hugging_face", "docbin"])
def test_overlap_does_not_fit_one_column(target: str, tmp_path: Path) -> None:
    """Nothing is left out silently; more columns, tags under more keys or a group hold it."""
    ending, write = FORMATS["characters"]
    source, out = tmp_path / f"source.{ending}", tmp_path / "out.spacy"
    write(source, NESTED, -1)
    more = [] if target == "docbin" else ["--to-scheme", "bio"]
    one = run("convert", source, out, "-t", target, *more, "--set", "layers=1")
    assert one.exit_code == (0 if target == "docbin" else 1), one.output
    assert ("no column left" in one.stderr) == (target != "docbin")
    fine("convert", source, out, "-t", target, *more)


@pytest.mark.parametrize("row", ROWS)
def test_annotation(files: dict[tuple[str, str], Any], row: str, tmp_path: Path) -> None:
    """A pool of every format, of which a session takes what is annotated."""
    path, some = files[row, "gold"]
    simulated = answered("simulate", row, [path, *some, "-l", "PER", "--json"])
    if simulated:
        found = json.loads(simulated)
        assert (found["sentences"], found["mentions"]) == (5, 5)
    labels = ["-l", "PER", "-l", "LOC", "-l", "ORG"]
    begin = ["annotate", path, tmp_path / "state", *some, *labels, "--existing", "drop"]
    (taken,) = json.loads(fine(*begin, "--take", path, "--json").stdout)
    assert (taken["new"], taken["unannotated"]) == ((0, 5) if row in BARE else (5, 0))
    parts = [*si.read(tmp_path / "state")]
    assert [[tuple(span) for span in spans] for part in parts for spans in part.known().spans] == [
        [] if row in BARE else sorted(spans) for spans in GOLD
    ]
