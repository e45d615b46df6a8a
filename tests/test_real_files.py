"""Published corpora, read as they are: known violations at known lines, and byte-exact rewriting.

The lines and counts are those that the corpora's own documentation and other validators give.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from spacy_iobes.corpus import Summary, checked, read, save, summarized, violations

from .shared import SHARED

DATA = SHARED / "data"
pytestmark = pytest.mark.skipif(
    not DATA.is_dir(),
    reason=f"no corpora at {DATA}: set SPACY_IOBES_SHARED to the folder with data/",
)
UNER = {"token": 1, "tag": 2, "comment": "#"}


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
    found = list(violations(read(DATA / file), scheme, Summary()))
    assert [violation.line for violation in found] == lines


@pytest.mark.parametrize(
    ("files", "scheme", "columns", "total"),
    [
        ("masakhaner1/*/*.txt", "bio", {}, 12),
        ("uner/da_ddt-ud-train.iob2.gz", "bio", UNER, 6),
        ("uner/da_ddt-ud-dev.iob2.gz", "bio", UNER, 0),
        ("uner/da_ddt-ud-test.iob2.gz", "bio", UNER, 1),
        ("uner/en_ewt-ud-*.iob2.gz", "bio", UNER, 0),
        ("sec-filings/FIN5.txt.gz", "bio", {}, 1168),
        ("sec-filings/FIN3.txt.gz", "bio", {}, 318),
        ("sec-filings/*.gz", "iob1", {}, 0),
        ("wnut17/submissions/mic-cis.txt", "bio", {}, 13),
        ("wnut17/submissions/spinningbytes.txt", "bio", {}, 34),
        ("conll2003-official/results/whitelaw/eng.test?.gz", "bio", {}, 31),
        ("conll2003-official/results/munro/deu.test?.gz", "iob1", {}, 44),
        ("mit-restaurant/*.bio", "bio", {"token": 1, "tag": 0}, 0),
        ("genia-nested/genia.dev.nested.iob2.gz", "bio", {"tag": 1}, 0),
        ("germeval2014/NER-de-dev.tsv.gz", "bio", {"token": 1, "tag": 2, "comment": "#\t"}, 0),
        ("jnlpba2004/Genia4ER*.iob2.gz", "bio", {}, 0),
    ],
)
def test_number_of_violations(files: str, scheme: str, columns: dict[str, Any], total: int) -> None:
    paths = sorted(DATA.glob(files))
    assert paths
    assert sum(len(list(violations(read(p, **columns), scheme, Summary()))) for p in paths) == total


@pytest.mark.parametrize(
    ("file", "scheme", "columns", "size"),
    [
        ("conll2003-eng/eng.train", "iob1", {}, (946, 14041, 203621, 23499)),
        ("conll2003-eng/eng.testa", "iob1", {}, (216, 3250, 51362, 5942)),
        ("conll2002/ned.train", "bio", {}, (287, 15806, 202644, 13344)),
        ("conll2002/esp.testb", "bio", {}, (1, 1517, 51533, 3559)),
        ("jnlpba2004/Genia4EReval2.iob2.gz", "bio", {}, (404, 3856, 101039, 8662)),
        ("wnut17/wnut17train.conll", "bio", {}, (1, 3394, 62730, 1975)),
        ("uner/da_ddt-ud-train.iob2.gz", "bio", UNER, (1, 4383, 80378, 3028)),
        ("mit-restaurant/restauranttest.bio", "bio", {"token": 1, "tag": 0}, (1, 706, 6807, 1439)),
    ],
)
def test_sizes(file: str, scheme: str, columns: dict[str, Any], size: tuple[int, ...]) -> None:
    found = summarized(read(DATA / file, **columns), scheme, "begin")
    assert (found.documents, found.sentences, found.tokens, found.labels.total()) == size


@pytest.mark.parametrize(
    ("file", "scheme", "columns"),
    [
        ("conll2003-eng/eng.testa", "iob1", {}),
        ("masakhaner1/luo/train.txt", "bio", {}),  # a byte order mark
        ("masakhaner1/yor/dev.txt", "bio", {}),
        ("wnut17/wnut17train.conll", "bio", {}),  # separators that hold a tab
        ("wnut17/submissions/arcada", "bio", {}),  # CRLF
        ("mit-restaurant/restauranttest.bio", "bio", {"token": 1, "tag": 0}),
        ("conll2002/ned.testa", "bio", {}),
    ],
)
def test_through_other_schemes_and_back_byte_for_byte(
    tmp_path: Path, file: str, scheme: str, columns: dict[str, Any]
) -> None:
    path = DATA / file
    steps = [scheme, "bio", "iobes", "bilou", "ioe1", "bia", "bmewo", "ioe2", "iob1", "bie", scheme]
    for number, (source, target) in enumerate(pairwise(steps)):
        save(
            read(path, **columns),
            tmp_path / str(number),
            scheme=source,
            to="columns",
            to_scheme=target,
        )
        path = tmp_path / str(number)
    assert path.read_bytes() == (DATA / file).read_bytes()


def legal_schemes(path: Path) -> list[str]:
    return checked(read(path), Summary()).legal


def test_schemes_of_corpora() -> None:
    assert legal_schemes(DATA / "wikigold/wikigold.conll.txt") == [
        "io",
        "iob1",
        "ioe1",
    ]
    assert legal_schemes(DATA / "conll2003-eng/eng.testa") == ["iob1"]
    assert legal_schemes(DATA / "wnut17/wnut17train.conll") == ["bio"]


@pytest.mark.parametrize("policy", ["conlleval", "discard"])
def test_repairs_of_the_seqscore_samples(tmp_path: Path, policy: str) -> None:
    samples = DATA / "seqscore-samples" / "samples"
    save(
        read(samples / "invalid.bio"),
        tmp_path / "out",
        scheme="bio",
        policy=policy,
        to="columns",
        to_scheme="bio",
    )
    assert (tmp_path / "out").read_bytes() == (
        samples / f"invalid_repair_{policy}.bio"
    ).read_bytes()
