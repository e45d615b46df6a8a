"""The tags of be as what begins and what ends at each token."""

from __future__ import annotations

from itertools import product

import pytest

from spacy_iobes import TagScores, mask, repair
from spacy_iobes.codes import begins_and_ends, class_count, from_begins_and_ends
from spacy_iobes.errors import AlignmentError, TagError, UnreadableTagError

from . import by_hand


def test_two_sequences() -> None:
    tags = ["B-x", "O", "E-x", "BE-y", "O"]
    begins, ends = ["B-x", "O", "O", "B-y", "O"], ["O", "O", "E-x", "E-y", "O"]
    assert begins_and_ends(tags) == (begins, ends)
    assert from_begins_and_ends(begins, ends) == tags
    assert begins_and_ends(["BE", "B-a-b"]) == (["B", "B-a-b"], ["E", "O"])
    assert from_begins_and_ends(["B"], ["E"]) == ["BE"]
    assert begins_and_ends([]) == ([], [])


def test_there_and_back() -> None:
    for tags in product(by_hand.all_tags("be"), repeat=3):
        assert from_begins_and_ends(*begins_and_ends(tags)) == list(tags)


def test_spans_begin_and_end_where_the_sequences_say() -> None:
    for tags, spans in by_hand.legal_sequences(5, "be").items():
        begins, ends = begins_and_ends(tags)
        first = {start: label for start, _, label in spans}
        last = {end - 1: label for _, end, label in spans}
        assert begins == [f"B-{first[i]}" if i in first else "O" for i in range(5)]
        assert ends == [f"E-{last[i]}" if i in last else "O" for i in range(5)]


@pytest.mark.parametrize("labels", [0, 1, 4])
def test_class_counts(labels: int) -> None:
    counts = {name: class_count(labels, name) for name in ("io", "bio", "bia", "bie", "be")}
    assert counts == {
        "io": labels + 1,
        "bio": 2 * labels + 1,
        "bia": 3 * labels + 1,
        "bie": 4 * labels + 1,
        "be": 2 * (labels + 1),
    }


def test_what_does_not_fit() -> None:
    with pytest.raises(UnreadableTagError, match="token 1: 'I-x' is not a tag of be"):
        begins_and_ends(["O", "I-x"])
    with pytest.raises(AlignmentError, match="1 begins, but 2 ends"):
        from_begins_and_ends(["O"], ["O", "O"])
    with pytest.raises(TagError, match="B-x and E-y at one token"):
        from_begins_and_ends(["B-x"], ["E-y"])
    with pytest.raises(UnreadableTagError, match="'E-x' is neither O nor B"):
        from_begins_and_ends(["E-x"], ["O"])
    with pytest.raises(TagError, match="bio is one sequence"):
        begins_and_ends(["O"], "bio")


def test_a_mask_needs_the_state_of_tokens_that_are_written_o() -> None:
    with pytest.raises(TagError, match="add 'I-x' to the tags"):
        mask(["O", "B-x", "E-x", "BE-x"], "be")
    assert mask(["O"], "be").step.tolist() == [[True]]


def test_scores_are_of_tags_that_are_written() -> None:
    tags = ("O", "B-x", "E-x")
    scores = TagScores(tags, [[0.0, 5, 0], [1, 0, 0], [0, 0, 5]])  # type: ignore[arg-type]
    assert repair(["B-x", "O", "O"], "be", "best", scores).tags == ["B-x", "O", "E-x"]
    more = TagScores((*tags, "I-x"), [[0.0] * 4])
    with pytest.raises(UnreadableTagError, match="'I-x'"):
        repair(["B-x"], "be", "best", more)
