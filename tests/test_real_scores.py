"""Published scores of real systems, reproduced from their outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from spacy_iobes import Report, score
from spacy_iobes.corpus import ColumnReader, Columns

from .shared import SHARED

DATA = SHARED / "data"
pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"no system outputs at {DATA}: set SPACY_IOBES_SHARED"
)
CONLL = DATA / "conll2003-official"
SYSTEMS = sorted(path.name for path in (CONLL / "results").glob("*")) if CONLL.is_dir() else []
HEAD = re.compile(
    r"processed (\d+) tokens with (\d+) phrases; found: (\d+) phrases; correct: (\d+)"
)
TYPE = re.compile(r"\s*(\w+): precision: +([\d.]+)%; recall: +([\d.]+)%; FB1: +([\d.]+)")


@cache
def tags(path: Path, encoding: str = "utf8", markers: bool = True) -> list[list[str]]:
    """The tags of a file; conlleval counts document markers as tokens."""
    columns = Columns(encoding=encoding) if markers else Columns(encoding=encoding, markers=())
    return [row for part in ColumnReader(path, columns) for row in part.tags]


def gold(name: str) -> list[list[str]]:
    """The gold tags of a test set of the shared task."""
    if name.startswith("eng"):
        return tags(DATA / "conll2003-eng" / name, markers=False)
    every = tags(CONLL / "etc" / "tags.deu.gz", "latin-1", markers=False)
    return every[-3160:] if name == "deu.testb" else every[-3160 - 3068 : -3160]


def official(system: str) -> Iterator[tuple[str, list[int], list[tuple[str, ...]]]]:
    """What the organisers' conlleval.out says of each test set: counts, and figures per type."""
    lines = (CONLL / "results" / system / "conlleval.out").read_text().splitlines()
    for name, *_ in re.findall(r"^((eng|deu)\.test[ab])$", "\n".join(lines), re.MULTILINE):
        block = lines[lines.index(name) + 1 :]
        head = HEAD.match(block[0])
        assert head
        types = [match.groups() for line in block[2:6] if (match := TYPE.match(line))]
        yield name, [int(number) for number in head.groups()], types


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_systems_of_conll_2003(system: str) -> None:
    scheme = "bio" if system in ("wu", "whitelaw") else "iob1"
    sets = 0
    for name, numbers, types in official(system):
        output = tags(CONLL / "results" / system / f"{name}.gz", markers=False)
        found = both(gold(name), output, scheme)
        correct, predicted, of_gold = found.counts.totals
        assert [found.counts.tokens, of_gold, predicted, correct] == numbers, name
        for label, *figures in types:
            rounded = [f"{100 * (figure or 0):.2f}" for figure in found.per_label[label]]
            assert rounded == figures, (name, label)
        sets += 1
    assert sets == 4


def both(reference: list[list[str]], output: list[list[str]], scheme: str) -> Report:
    """Score as conlleval does, which reads IOB1 and BIO alike and repairs gold as well."""
    return score(reference, output, scheme=scheme, policy="begin", gold_policy="begin")


WNUT = {
    "arcada": "39.98",
    "drexel_cci": "26.30",
    "flytxt": "38.35",
    "mic-cis.txt": "37.06",
    "sjtu_adapt.txt": "40.42",
    "spinningbytes.txt": "40.78",
    "uh_ritual": "41.86",
}
DISCARDED = {"mic-cis.txt": "37.30", "spinningbytes.txt": "41.31"}


@pytest.mark.parametrize(("policy", "published"), [("begin", WNUT), ("discard", DISCARDED)])
def test_the_submissions_of_wnut_17(policy: str, published: dict[str, str]) -> None:
    reference = tags(DATA / "wnut17" / "emerging.test.annotated")
    for name, f1 in published.items():
        output = tags(DATA / "wnut17" / "submissions" / name)
        found = score(reference, output, scheme="bio", policy=policy)
        assert f"{100 * (found.value or 0):.2f}" == f1, name


def masakhane() -> list[Path]:
    return sorted((DATA / "masakhaner1-predictions").glob("*/*_test_predictions.txt.gz"))


@pytest.mark.parametrize("path", masakhane(), ids=lambda path: path.name[:-7])
def test_the_models_of_masakhaner(path: Path) -> None:
    language = path.name.partition("_")[0]
    reference = DATA / "masakhaner1" / language / "test.txt"
    if language == "amh":
        reference = DATA / "masakhaner1-predictions" / "gold" / "amh_test_2021-03-17.txt"
    results = path.with_name(path.name.replace("predictions.txt.gz", "result.txt")).read_text()
    reported = dict(re.findall(r"^(f1|precision|recall) = ([\d.]+)$", results, re.MULTILINE))
    found = both(tags(reference), tags(path), "bio")
    for name, figure in found.micro._asdict().items():
        assert (figure or 0.0) == pytest.approx(float(reported[name]), abs=1e-12)


def test_all_forty_models_were_there() -> None:
    assert len(masakhane()) == 40
