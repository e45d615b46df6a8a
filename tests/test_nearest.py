"""The policy `nearest` against brute force: every legal sequence as a candidate for every input.

The written rule: the fewest changed tags; then the fewest tokens that change their label, none
being the label outside of spans; then the sequence that comes first when compared token by token
from the left, where every token prefers its own tag, then its own label with another prefix (in the
order of the scheme's table), then `O`, then the other labels in the order in which the sentence has
them.
"""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from numpy.typing import NDArray

from spacy_iobes import repair, repair_many

from . import by_hand
from .by_hand import PREFIXES, Tags

LENGTHS = (1, 2, 3, 4)
LABELS = ("X", "Y")
ORDERS = [order for n in range(3) for order in permutations(LABELS, n)]

every_scheme = pytest.mark.parametrize("scheme", PREFIXES)


def label_of(tag: str) -> str:
    return tag.partition("-")[2]


def order_of(tags: Tags) -> Tags:
    """The labels of a sentence in the order in which it has them."""
    return tuple(dict.fromkeys(label_of(tag) for tag in tags if tag != "O"))


def preference(own: str, tag: str, order: Tags, prefixes: Tags) -> tuple[int, int, int]:
    """How gladly a token takes a tag: the lower the better."""
    if tag == own:
        return 0, 0, 0
    if tag == "O":
        return 2, 0, 0
    prefix, _, label = tag.partition("-")
    if label == label_of(own):
        return 1, 0, prefixes.index(prefix)
    return 3, order.index(label), prefixes.index(prefix)


def ranks(order: Tags, scheme: str) -> NDArray[np.int64]:
    """[own tag, other tag]: the place of the other tag in the preferences of the own one."""
    tags = by_hand.all_tags(scheme, order)
    table = np.zeros((len(tags), len(tags)), dtype=np.int64)
    for i, own in enumerate(tags):
        table[i] = [
            sorted(preference(own, tag, order, PREFIXES[scheme]) for tag in tags).index(
                preference(own, other, order, PREFIXES[scheme])
            )
            for other in tags
        ]
    return table


def winners(length: int, scheme: str, order: Tags) -> dict[Tags, Tags]:
    """The sequence that the rule chooses for every input whose labels come in this order."""
    tags = by_hand.all_tags(scheme, order)
    inputs = [t for t in product(tags, repeat=length) if order_of(t) == order]
    legal = list(by_hand.legal_sequences(length, scheme, order))
    a = np.array([[tags.index(tag) for tag in row] for row in inputs])
    b = np.array([[tags.index(tag) for tag in row] for row in legal])
    member = np.array([order.index(label_of(t)) if t[0] not in "OA" else -1 for t in tags])
    score = np.zeros((len(inputs), len(legal)), dtype=np.int64)  # tags, labels, ranks, as digits
    for i in range(length):
        score += (a[:, None, i] != b[None, :, i]) * 16 ** (length + 1)
        score += (member[a[:, None, i]] != member[b[None, :, i]]) * 16**length
        score += ranks(order, scheme)[a[:, None, i], b[None, :, i]] * 16 ** (length - 1 - i)
    return {found: legal[best] for found, best in zip(inputs, score.argmin(axis=1))}


@every_scheme
def test_brute_force(scheme: str) -> None:
    expected: dict[Tags, Tags] = {}
    for length, order in product(LENGTHS, ORDERS):
        if len(order) <= length:
            expected |= winners(length, scheme, order)
    assert len(expected) == sum(len(by_hand.all_tags(scheme)) ** n for n in LENGTHS)
    found = repair_many(list(expected), scheme, "nearest")
    assert found.tags == [list(tags) for tags in expected.values()]


@every_scheme
def test_a_label_from_elsewhere_never_helps(scheme: str) -> None:
    """Candidates here have a label more than the inputs, and all of those that the inputs lack."""
    length = 4
    tags = by_hand.all_tags(scheme, (*LABELS, "Z"))
    inputs = list(product(by_hand.all_tags(scheme, LABELS), repeat=length))
    legal = by_hand.legal_sequences(length, scheme, (*LABELS, "Z"))
    fewest = np.full(len(inputs), length)
    a = np.array([[tags.index(tag) for tag in row] for row in inputs])
    for candidate in legal:
        changed = (a != [tags.index(tag) for tag in candidate]).sum(axis=1)
        fewest = np.minimum(fewest, changed)
    found = repair_many(inputs, scheme, "nearest").tags
    ours = [sum(x != y for x, y in zip(row, new)) for row, new in zip(inputs, found)]
    assert ours == fewest.tolist()


@pytest.mark.parametrize(
    ("scheme", "tags", "expected"),
    [
        ("bio", "I-X I-X", "B-X I-X"),
        ("bio", "O I-X O", "O B-X O"),
        ("bio", "B-X I-Y", "B-X B-Y"),  # not B-X I-X: the second token keeps its label
        ("bio", "O I-Y B-X", "O B-Y B-X"),
        ("iob1", "O B-X", "O I-X"),
        ("ioe2", "I-X O I-Y E-Y", "E-X O I-Y E-Y"),  # not I-X E-X: both tokens keep their labels
        ("iobes", "B-X O", "S-X O"),
        ("iobes", "B-X E-Y", "B-X E-X"),  # not B-Y E-Y: the first token keeps its tag
        ("bia", "B-X I-X O", "B-X I-X A-X"),
        ("iobes", "O B-X I-Y E-X O", "O B-X I-X E-X O"),
        ("iobes", "B-X I-X I-X", "B-X I-X E-X"),
        ("iobes", "B-X O E-X", "B-X I-X E-X"),
        ("be", "B-X O O", "BE-X O O"),  # not B-X O E-X: the last token keeps its label
        ("be", "B-X O E-Y", "B-X O E-X"),
        ("be", "B-X O E-Y O E-X", "B-X O O O E-X"),
    ],
)
def test_examples(scheme: str, tags: str, expected: str) -> None:
    assert repair(tags.split(), scheme, "nearest").tags == expected.split()


def test_the_rest_of_the_corpus_has_no_say() -> None:
    sentences = [["B-Y", "I-Y"], ["I-Z"], ["B-X", "I-Y", "I-Z"], [], ["I-Z"]]
    together = repair_many(sentences, "bio", "nearest").tags
    assert together == [repair(tags, "bio", "nearest").tags for tags in sentences]


def test_a_long_sentence() -> None:
    tags = ["B-X", "I-X", "O", "E-X"] * 5000
    assert repair(tags, "iobes", "nearest").tags == ["B-X", "I-X", "I-X", "E-X"] * 5000
