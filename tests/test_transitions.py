"""Which tag may follow which, as a list and as masks; and under which schemes a corpus is legal."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_iobes import CodedTags, check, mask, transitions
from spacy_iobes.codes import Check
from spacy_iobes.errors import UnreadableTagError

from . import by_hand

every_scheme = pytest.mark.parametrize("scheme", by_hand.PREFIXES)


@every_scheme
def test_transitions_are_those_that_occur_in_written_sentences(scheme: str) -> None:
    tags = by_hand.all_states(scheme)
    legal = by_hand.legal_neighbours(scheme)
    expected = {(a, b): (a, b) in legal for a in ("^", *tags) for b in (*tags, "$")}
    expected["^", "$"] = True  # an empty sentence
    rows = transitions(["X", "Y"], scheme, start="^", end="$")
    assert {(source, target): ok for source, target, ok in rows} == expected
    assert len(rows) == len(expected)


@every_scheme
def test_masks_are_those_that_occur_in_written_sentences(scheme: str) -> None:
    tags = sorted(by_hand.all_states(scheme), reverse=True)
    legal = by_hand.legal_neighbours(scheme)
    step, start, stop = mask(tags, scheme)
    assert step.tolist() == [[(a, b) in legal for b in tags] for a in tags]
    assert start.tolist() == [("^", tag) in legal for tag in tags]
    assert stop.tolist() == [(tag, "$") in legal for tag in tags]
    assert step.dtype == start.dtype == stop.dtype == np.bool_


def test_transitions_of_one_label() -> None:
    assert transitions(["X"], "bio") == [
        ("<GO>", "O", True),
        ("<GO>", "B-X", True),
        ("<GO>", "I-X", False),
        ("<GO>", "<EOS>", True),
        ("O", "O", True),
        ("O", "B-X", True),
        ("O", "I-X", False),
        ("O", "<EOS>", True),
        ("B-X", "O", True),
        ("B-X", "B-X", True),
        ("B-X", "I-X", True),
        ("B-X", "<EOS>", True),
        ("I-X", "O", True),
        ("I-X", "B-X", True),
        ("I-X", "I-X", True),
        ("I-X", "<EOS>", True),
    ]


def test_labels_count_once_and_may_be_none_at_all() -> None:
    assert transitions(["X", "X"], "iobes") == transitions(iter("X"), "iobes")
    assert transitions([], "iobes") == [
        ("<GO>", "O", True),
        ("<GO>", "<EOS>", True),
        ("O", "O", True),
        ("O", "<EOS>", True),
    ]


def test_masks_of_untyped_and_missing_tags() -> None:
    step, start, stop = mask(["I", "B-X", "B", "I-X"], "bio")
    # rows I, B-X, B, I-X: I may follow I and B, I-X may follow B-X and I-X
    assert step.tolist() == [[1, 1, 1, 0], [0, 1, 1, 1], [1, 1, 1, 0], [0, 1, 1, 1]]
    assert start.tolist() == [False, True, True, False]
    assert stop.all()
    assert mask([], "bio").step.shape == (0, 0)


def test_masks_refuse_tags_of_other_schemes() -> None:
    with pytest.raises(UnreadableTagError, match=r"tag 2.*'E-X'") as error:
        mask(["O", "B-X", "E-X", "S-X"], "bio")
    assert (error.value.tag, error.value.index) == ("E-X", 2)


def test_check_one_sentence() -> None:
    report = check(["B-X", "I-X"])
    assert report.legal == ["bio", "bia"]
    assert (report.sentences, report.tokens) == (1, 2)
    iobes = report.schemes["iobes"]
    assert (iobes.legal, iobes.violations, iobes.sentence) == (False, 1, 0)
    assert iobes.first is not None
    assert (iobes.first.index, iobes.first.kind) == (2, "end")
    io = report.schemes["io"]
    assert io.first is not None
    assert (io.violations, io.first.index, io.first.kind) == (1, 0, "unreadable")
    assert report.schemes["bio"].first is None


@pytest.mark.parametrize(
    ("tags", "legal"),
    [
        ("O O", list(by_hand.PREFIXES)),
        ("I-X O", ["io", "iob1", "ioe1"]),
        ("I-X B-X", ["iob1"]),
        ("B-X A-X", ["bia"]),
        ("E-X", ["ioe2"]),
        ("S-X O", ["iobes", "bmes"]),
        ("B-X M-X E-X", ["bmewo", "bmes"]),
        ("B-X E-X", ["iobes", "bmewo", "bmes", "bie", "be"]),
        ("BE-X B-X E-X", ["bie", "be"]),
        ("BE-X B-X I-X E-X", ["bie"]),
        ("B-X O E-X", ["be"]),
        ("B-X L-X", ["bilou"]),
        ("L-X S-X", []),
    ],
)
def test_under_which_schemes(tags: str, legal: list[str]) -> None:
    assert check(tags.split()).legal == legal
    assert check([[], tags.split()]).legal == legal
    assert check(iter([tags.split(), ["O"]])).legal == legal


def test_check_a_corpus_part_by_part() -> None:
    parts = [["B-X"], ["O", "I-X"]], [[], ["I-X", "I-X"]]
    report = Check()
    for part in parts:
        report.add(part)
    assert (report.sentences, report.tokens) == (4, 5)
    bio = report.schemes["bio"]
    assert (bio.violations, bio.sentence) == (2, 1)
    assert bio.first is not None
    assert (bio.first.index, bio.first.previous, bio.first.current) == (1, "O", "I-X")
    # violations under iobes: B $ | O I, I $ | ^ I, I $
    assert report.schemes["iobes"].violations == 5
    assert check([*parts[0], *parts[1]]).schemes == report.schemes


def test_the_first_violation_may_be_in_a_later_part() -> None:
    report = Check()
    report.add([["B-X"], []])
    report.add([["O"], ["O", "I-X"], ["I-X"]])
    assert (report.schemes["bio"].violations, report.schemes["bio"].sentence) == (2, 3)
    assert report.schemes["ioe1"].sentence == 0


def test_check_nothing_and_codes() -> None:
    assert check([]).legal == list(by_hand.PREFIXES)
    coded = CodedTags.from_lengths([1, 0, 1], [2, 1], ["O", "I-X"])
    assert check(coded).schemes == check([["I-X", "O"], ["I-X"]]).schemes
