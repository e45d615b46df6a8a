"""One gold, one prediction, one answer: the same annotation in every format has the same score."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from spacy.scorer import Scorer
from spacy.training import Example

from spacy_iobes import score

from .commands import fine, run
from .every_format import (
    COMPLETE,
    FORMATS,
    GOLD,
    INNER,
    LETTERS,
    PREDICTED,
    UNKNOWN,
    docs,
)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str, bool], Any]:
    """Gold and predictions in every format, gold also with a document that is not annotated."""
    folder, found = tmp_path_factory.mktemp("formats"), {}
    for name, (ending, write) in FORMATS.items():
        for side, spans in (("gold", GOLD), ("predicted", PREDICTED)):
            for partial in (False, True) if name not in COMPLETE else (False,):
                path = folder / f"{name}.{side}.{partial}.{ending}"
                missing = UNKNOWN if partial and side == "gold" else -1
                found[name, side, partial] = path, write(path, spans, missing)
    return found


def expected(partial: bool) -> dict[str, Any]:
    """The score of the spans as lists, without what gold cannot judge."""
    gold, predicted = list(map(list, GOLD)), list(map(list, PREDICTED))
    if partial:
        gold[UNKNOWN], predicted[UNKNOWN] = [], []
    return score(gold, predicted).as_dict()


def options(first: list[str], second: list[str]) -> list[str]:
    """The options that serve both files; two schemes are found, not named."""
    schemes = {some[some.index("-s") + 1] for some in (first, second) if "-s" in some}
    others = [some[2:] if some[:1] == ["-s"] else some for some in (first, second)]
    named = ["-s", *schemes] if len(schemes) == 1 else []
    return [*named, *others[0], *(others[1] if others[1] != others[0] else [])]


NAMES = [*product(FORMATS, FORMATS)]


@pytest.mark.parametrize("partial", [False, True])
def test_every_pair_of_formats_has_the_same_score(
    files: dict[tuple[str, str, bool], Any], partial: bool
) -> None:
    wanted, tried = expected(partial), 0
    for first, second in NAMES:
        if partial and first in COMPLETE:
            continue
        gold, some = files[first, "gold", partial]
        predicted, others = files[second, "predicted", False]
        more = options(some, others)
        found = json.loads(fine("score", gold, predicted, *more, "--layout", "json").stdout)
        for figure in ("micro", "macro", "weighted", "labels", "muc", "confusion", "gold"):
            assert found[figure] == wanted[figure], (first, second, figure)
        assert found["missing"]["gold"] == (9 if partial else 0), (first, second)
        tried += 1
    assert tried == sum(not partial or first not in COMPLETE for first, _ in NAMES)


def test_the_mistakes_are_the_same(files: dict[tuple[str, str, bool], Any]) -> None:
    said = set[str]()
    for name in FORMATS:
        gold, some = files[name, "gold", False]
        predicted, _ = files[name, "predicted", False]
        said_of = fine("score", "--errors", gold, predicted, *some, "--layout", "json").stdout
        (report,) = json.loads(said_of)
        rows = [
            {key: row[key] for key in ("kind", "sentence", "gold", "predicted")}
            for row in report["mistakes"]
        ]
        said.add(json.dumps(rows, sort_keys=True))
    assert len(said) == 1


def test_spacy_s_scorer_agrees() -> None:
    examples = [
        Example(predicted, gold)
        for predicted, gold in zip(docs(PREDICTED, -1, False), docs(GOLD, -1, False))
    ]
    found = Scorer.score_spans(examples, "ents")
    wanted = expected(False)
    assert found["ents_f"] == pytest.approx(wanted["micro"]["f1"])
    assert found["ents_p"] == pytest.approx(wanted["micro"]["precision"])
    for label, row in found["ents_per_type"].items():
        assert row["f"] == pytest.approx(wanted["labels"][label]["f1"] or 0.0)


def test_overlapping_mentions_have_the_same_score(tmp_path: Path) -> None:
    """In a group, in JSON lines and in brat; entities and one column cannot hold them."""
    gold = [[*outer, *inner] for outer, inner in zip(GOLD, INNER)]
    wanted, said = score(gold, PREDICTED).as_dict(), list[dict[str, Any]]()
    names = (
        "group",
        "characters",
        "tokens",
        "prodigy",
        "doccano",
        "label_studio",
        "brat",
        "session",
    )
    paths = dict[tuple[str, str], Path]()
    for name in names:
        ending, write = FORMATS[name]
        for side, spans in (("gold", gold), ("predicted", PREDICTED)):
            paths[name, side] = tmp_path / f"{name}.{side}.{ending}"
            write(paths[name, side], spans, -1)
    for first, second in product(names, names):
        files = paths[first, "gold"], paths[second, "predicted"]
        said.append(json.loads(fine("score", *files, "--layout", "json").stdout))
    for found in said:
        for figure in ("micro", "labels", "nested", "confusion"):
            assert found[figure] == wanted[figure]
    refused = run("convert", paths["group", "gold"], tmp_path / "out.bio", "--to-scheme", "bio",
                  "--set", "layers=1")  # fmt: skip
    assert refused.exit_code == 1
    assert "no column left" in refused.stderr


WRITABLE = [name for name in FORMATS if name not in ("tokens", "layers", "session")]


@pytest.mark.parametrize("target", WRITABLE)
def test_every_format_becomes_every_other(
    files: dict[tuple[str, str, bool], Any], target: str, tmp_path: Path
) -> None:
    """What is converted has the same score as its source."""
    ending, _ = FORMATS[target]
    for source in FORMATS:
        path, some = files[source, "gold", False]
        out = tmp_path / f"{source}.{ending}"
        more = list[str]()
        if target in LETTERS:
            more = ["-t", "columns", "--to-scheme", target]
            more += ["--set", "layers=1", "--set", "order=outermost"] if source == "layers" else []
        elif target in ("prodigy", "doccano", "label_studio", "hugging_face", "brat", "inline"):
            more = ["-t", target, *(["--to-scheme", "bio"] if target == "hugging_face" else [])]
        elif target == "group":
            more = ["--set", "output-spans-key=sc"]
        fine("convert", path, out, *some, *more)
        gold, scheme = files["entities", "gold", False][0], [*LETTERS.keys()]
        own = ["-s", target] if target in scheme else ["-s", "bio"] * (target == "hugging_face")
        said = fine("score", gold, out, *own).stdout
        assert "score 100.00" in said, (source, target, said)
