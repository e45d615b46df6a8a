"""Published corpora, read as they are: known violations at known lines, and byte-exact rewriting.

The lines and counts are those that the corpora's own documentation and other validators give.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from spacy_iobes.corpus import (
    ColumnReader,
    Columns,
    edit_file,
    file_check,
    file_mentions,
    file_violations,
)

from .shared import SHARED

DATA = SHARED / "data"
pytestmark = pytest.mark.skipif(
    not DATA.is_dir(),
    reason=f"no corpora at {DATA}: set SPACY_IOBES_SHARED to the folder with data/",
)
UNER = Columns(token=1, tag=2, comment="#")


@pytest.mark.parametrize(
    ("file", "scheme", "lines"),
    [
        ("conll2002/esp.train", "bio", [221619]),
        ("conll2002/esp.testa", "bio", [30882]),
        ("conll2002/esp.testb", "bio", [9291]),
        ("conll2002/ned.train", "bio", []),
        ("conll2003-eng/eng.train", "iob1", [152428, 175436]),
        ("conll2003-eng/eng.testa", "iob1", []),
        ("conll2003-eng/eng.testb", "iob1", []),
        ("wnut17/emerging.dev.conll", "bio", []),
        ("wnut17/pre-pr4/emerging.dev.conll", "bio", [1674]),
        ("masakhaner1/hau/train.txt", "bio", [17929]),
        ("masakhaner1/hau/test.txt", "bio", [2851]),
        ("masakhaner1/yor/train.txt", "bio", [20487]),
        ("masakhaner1/yor/test.txt", "bio", [15604]),
    ],
)
def test_violations_at_known_lines(file: str, scheme: str, lines: list[int]) -> None:
    found = list(file_violations(ColumnReader(DATA / file), scheme))
    assert [violation.line for violation in found] == lines


@pytest.mark.parametrize(
    ("files", "scheme", "columns", "total"),
    [
        ("masakhaner1/*/*.txt", "bio", Columns(), 12),
        ("uner/da_ddt-ud-train.iob2.gz", "bio", UNER, 6),
        ("uner/da_ddt-ud-dev.iob2.gz", "bio", UNER, 0),
        ("uner/da_ddt-ud-test.iob2.gz", "bio", UNER, 1),
        ("uner/en_ewt-ud-*.iob2.gz", "bio", UNER, 0),
        ("sec-filings/FIN5.txt.gz", "bio", Columns(), 1168),
        ("sec-filings/FIN3.txt.gz", "bio", Columns(), 318),
        ("sec-filings/*.gz", "iob1", Columns(), 0),
        ("wnut17/submissions/mic-cis.txt", "bio", Columns(), 13),
        ("wnut17/submissions/spinningbytes.txt", "bio", Columns(), 34),
        ("conll2003-official/results/whitelaw/eng.test?.gz", "bio", Columns(), 31),
        ("conll2003-official/results/munro/deu.test?.gz", "iob1", Columns(), 44),
        ("mit-restaurant/*.bio", "bio", Columns(token=1, tag=0), 0),
        ("genia-nested/genia.dev.nested.iob2.gz", "bio", Columns(tag=1), 0),
        ("germeval2014/NER-de-dev.tsv.gz", "bio", Columns(token=1, tag=2, comment="#\t"), 0),
        ("jnlpba2004/Genia4ER*.iob2.gz", "bio", Columns(), 0),
    ],
)
def test_number_of_violations(files: str, scheme: str, columns: Columns, total: int) -> None:
    paths = sorted(DATA.glob(files))
    assert paths
    assert sum(len(list(file_violations(ColumnReader(p, columns), scheme))) for p in paths) == total


@pytest.mark.parametrize(
    ("file", "scheme", "columns", "size"),
    [
        ("conll2003-eng/eng.train", "iob1", Columns(), (946, 14041, 203621, 23499)),
        ("conll2003-eng/eng.testa", "iob1", Columns(), (216, 3250, 51362, 5942)),
        ("conll2002/ned.train", "bio", Columns(), (287, 15806, 202644, 13344)),
        ("conll2002/esp.testb", "bio", Columns(), (1, 1517, 51533, 3559)),
        ("jnlpba2004/Genia4EReval2.iob2.gz", "bio", Columns(), (404, 3856, 101039, 8662)),
        ("wnut17/wnut17train.conll", "bio", Columns(), (1, 3394, 62730, 1975)),
        ("uner/da_ddt-ud-train.iob2.gz", "bio", UNER, (1, 4383, 80378, 3028)),
        ("mit-restaurant/restauranttest.bio", "bio", Columns(token=1, tag=0), (1, 706, 6807, 1439)),
    ],
)
def test_sizes(file: str, scheme: str, columns: Columns, size: tuple[int, ...]) -> None:
    found = file_mentions(ColumnReader(DATA / file, columns), scheme, "begin")
    assert (found.documents, found.sentences, found.tokens, found.labels.total()) == size


@pytest.mark.parametrize(
    ("file", "scheme", "columns"),
    [
        ("conll2003-eng/eng.testa", "iob1", Columns()),
        ("masakhaner1/luo/train.txt", "bio", Columns()),  # a byte order mark
        ("masakhaner1/yor/dev.txt", "bio", Columns()),
        ("wnut17/wnut17train.conll", "bio", Columns()),  # separators that hold a tab
        ("wnut17/submissions/arcada", "bio", Columns()),  # CRLF
        ("mit-restaurant/restauranttest.bio", "bio", Columns(token=1, tag=0)),
        ("conll2002/ned.testa", "bio", Columns()),
    ],
)
def test_through_other_schemes_and_back_byte_for_byte(
    tmp_path: Path, file: str, scheme: str, columns: Columns
) -> None:
    path = DATA / file
    steps = [scheme, "bio", "iobes", "bilou", "ioe1", "bia", "bmewo", "ioe2", "iob1", "bie", scheme]
    for number, (source, target) in enumerate(pairwise(steps)):
        edit_file(ColumnReader(path, columns), tmp_path / str(number), source, target)
        path = tmp_path / str(number)
    assert path.read_bytes() == (DATA / file).read_bytes()


def test_schemes_of_corpora() -> None:
    assert file_check(ColumnReader(DATA / "wikigold/wikigold.conll.txt")).legal == [
        "io",
        "iob1",
        "ioe1",
    ]
    assert file_check(ColumnReader(DATA / "conll2003-eng/eng.testa")).legal == ["iob1"]
    assert file_check(ColumnReader(DATA / "wnut17/wnut17train.conll")).legal == ["bio"]


@pytest.mark.parametrize("policy", ["conlleval", "discard"])
def test_repairs_of_the_seqscore_samples(tmp_path: Path, policy: str) -> None:
    samples = DATA / "seqscore-samples" / "samples"
    edit_file(ColumnReader(samples / "invalid.bio"), tmp_path / "out", "bio", "bio", policy)
    assert (tmp_path / "out").read_bytes() == (
        samples / f"invalid_repair_{policy}.bio"
    ).read_bytes()
