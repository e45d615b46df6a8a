"""What classifiers choose from: as many classes as Siefkes (2006) counts, and their states."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spacy_iobes import SCHEMES, Scheme
from spacy_iobes.codes.classes import classes
from spacy_iobes.codes.scheme import pairs
from spacy_iobes.codes.states import states

BEGINS_AND_ENDS = replace(SCHEMES["bie"], name="begins and ends", choices=("B", "E"))
COUNTS = {
    "io": lambda n: n + 1,
    "iob1": lambda n: 2 * n + 1,
    "bio": lambda n: 2 * n + 1,
    "bia": lambda n: 3 * n + 1,
    "bie": lambda n: 4 * n + 1,
    "iobes": lambda n: 4 * n + 1,
}


@pytest.mark.parametrize("labels", [0, 1, 4, 13])
@pytest.mark.parametrize("scheme", COUNTS)
def test_as_many_classes_as_the_paper_counts(scheme: str, labels: int) -> None:
    found = classes([f"x{n}" for n in range(labels)], scheme)
    assert len(found.names) == COUNTS[scheme](labels)
    assert found.choices == 1


@pytest.mark.parametrize("labels", [0, 1, 4, 13])
def test_two_choices_have_twice_one_more_than_labels(labels: int) -> None:
    found = classes([f"x{n}" for n in range(labels)], BEGINS_AND_ENDS)
    assert len(found.names) == 2 * (labels + 1)
    assert np.diff(found.bounds).tolist() == [labels + 1, labels + 1]


def test_what_is_chosen_in_a_state() -> None:
    found, names = classes(["x", "y"], BEGINS_AND_ENDS), states(["x", "y"], BEGINS_AND_ENDS).tags
    chosen = {
        tag: tuple(found.names[c] for c in row) for tag, row in zip(names, found.of_state.tolist())
    }
    assert chosen == {
        "O": ("O", "O"),
        "B-x": ("B-x", "O"),
        "I-x": ("O", "O"),
        "E-x": ("O", "E-x"),
        "BE-x": ("B-x", "E-x"),
        "B-y": ("B-y", "O"),
        "I-y": ("O", "O"),
        "E-y": ("O", "E-y"),
        "BE-y": ("B-y", "E-y"),
    }
    assert BEGINS_AND_ENDS.silent == {"I"}


def test_a_scheme_of_one_choice_keeps_silent_about_nothing() -> None:
    assert all(not scheme.silent for scheme in SCHEMES.values() if not scheme.choices)
    new = Scheme("new", "", join=pairs("XX"), split=pairs(""), meet=pairs("OO OX XO XX"))
    assert classes(["x"], new).names == ("O", "X-x")
