"""Planted violations: one spoilt tag in a sentence, every way to do so, and an honest count."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

from spacy_iobes import SCHEMES, validate_many, write_many
from spacy_iobes.codes import KINDS
from spacy_iobes.generate import LABELS, Flaws, Planter, limited

MALFORMED = [name for name in SCHEMES if name not in ("io", "be")]
BY_HAND = {
    "iob1": {"^ B-x", "O B-x", "B-x B-y", "I-x B-y"},
    "bio": {"^ I-x", "O I-x", "B-x I-y", "I-x I-y"},
    "ioe1": {"E-x $", "E-x O", "E-x I-y", "E-x E-y"},
    "ioe2": {"I-x $", "I-x O", "I-x I-y", "I-x E-y"},
    "io": set[str](),
}
"""Every illegal gap of some schemes."""


def gold(scheme: str, count: int = 1000) -> list[list[str]]:
    some = list(limited(11, count))
    return write_many([s.spans for s in some], [len(s.words) for s in some], scheme)


def of_iobes() -> set[str]:
    """The same of iobes: inside a span B or I comes before, outside nothing or E or S."""
    found = set()
    for p, c, same in product("^OBIES", "O$BIES", (True, False)):
        inside, joins = p in "BI", c in "IE"
        labelled = p in "BIES" and c in "BIES"
        if inside != joins or (inside and joins and not same):
            other = "x" if same or p in "^O" else "y"
            if labelled or same:
                first = p if p in "^O" else f"{p}-x"
                found.add(f"{first} {c if c in 'O$' else f'{c}-{other}'}")
    return found


@pytest.mark.parametrize("scheme", BY_HAND)
def test_every_flaw_by_hand(scheme: str) -> None:
    assert {flaw.tags for flaw in Flaws(SCHEMES[scheme], LABELS).every()} == BY_HAND[scheme]


def test_every_flaw_of_iobes() -> None:
    found = Flaws(SCHEMES["iobes"], LABELS).every()
    assert {flaw.tags for flaw in found} == of_iobes()
    assert {flaw.kind for flaw in found} == {"start", "end", "label"}


@pytest.mark.parametrize("scheme", MALFORMED)
def test_what_is_planted_is_what_is_found(scheme: str) -> None:
    planter = Planter(SCHEMES[scheme], LABELS, 0.4, 0.1)
    before = gold(scheme)
    after = [planter.spoil(tags) for tags in before]
    changes = [sum(a != b for a, b in zip(*both)) for both in zip(before, after)]
    assert set(changes) == {0, 1}
    assert sum(changes) == planter.sentences
    found = [violation for _, violation in validate_many(after, scheme).rows()]
    kinds = Counter(violation.kind for violation in found)
    assert dict(kinds) == planter.kinds
    assert planter.planted.total() == len(found)
    bad = set(validate_many(after, scheme).sentence.tolist())
    assert bad == {number for number, change in enumerate(changes) if change}
    assert set(planter.kinds) <= set(KINDS)
    assert gold(scheme) == before


@pytest.mark.parametrize("scheme", MALFORMED)
def test_every_way_is_planted(scheme: str) -> None:
    planter = Planter(SCHEMES[scheme], LABELS, 0.5)
    for tags in gold(scheme):
        planter.spoil(tags)
    assert set(planter.planted) == planter.flaws.every()
    assert min(planter.planted.values()) >= 10  # some need two mentions that touch in the gold


def test_shares() -> None:
    tags = gold("bio", 2000)
    for share, unreadable in ((0.05, 0.0), (0.0, 0.2), (0.3, 0.3), (1.0, 0.0)):
        planter = Planter(SCHEMES["bio"], LABELS, share, unreadable)
        for sentence in tags:
            planter.spoil(sentence)
        assert abs(planter.sentences / 2000 - share - unreadable) < 0.05
        assert abs(planter.kinds.get("unreadable", 0) / 2000 - unreadable) < 0.05
        wanted = ["start", "label"] * bool(share) + ["unreadable"] * bool(unreadable)
        assert set(planter.kinds) == set(wanted)


def test_a_seed_plants_the_same() -> None:
    def planted(seed: int) -> list[list[str]]:
        planter = Planter(SCHEMES["bilou"], LABELS, 0.5, seed=seed)
        return [planter.spoil(tags) for tags in gold("bilou", 50)]

    assert planted(1) == planted(1) != planted(2)


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="Every sequence of tags is legal in io"):
        Planter(SCHEMES["io"], LABELS, 0.1)
    assert Planter(SCHEMES["io"], LABELS, 0.0, 1.0).spoil(["O"]) != ["O"]
    with pytest.raises(ValueError, match="In be, tags that are far apart make a span"):
        Planter(SCHEMES["be"], LABELS, 0.1)
    for shares in ((0.7, 0.6), (-0.1, 0.0), (0.5, -0.2)):
        with pytest.raises(ValueError, match="from 0 to 1"):
            Planter(SCHEMES["bio"], LABELS, *shares)
