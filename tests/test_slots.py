"""One answer per slot, by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_iobes import Counts, Report, Signature, Span
from spacy_iobes.errors import AlignmentError, SpanRangeError
from spacy_iobes.scoring import MUC, Figures, figures, filler, kinds_of, slot_answers, slot_counts

SAID = "Talk at 1:30 PM by Ada Lovelace ; note 1:30 PM , Ada Lovelace ends 3 PM"
TEXT = SAID.split()
FIRST, SECOND = Span(2, 4, "stime"), Span(9, 11, "stime")
ADA, ADA_AGAIN, END = Span(5, 7, "speaker"), Span(12, 14, "speaker"), Span(15, 17, "etime")


def one(
    gold: Sequence[Span], predicted: Sequence[Span], confidences: Sequence[float]
) -> dict[str, tuple[int, int, int]]:
    counts = slot_counts([gold], [predicted], [confidences], [TEXT])
    return {label: tuple(row) for label, row in zip(counts.labels, counts.exact.tolist())}


def test_any_occurrence_will_do() -> None:
    assert one([FIRST], [SECOND], [0.1]) == {"stime": (1, 1, 1)}
    assert one([FIRST, SECOND], [SECOND], [0.1]) == {"stime": (1, 1, 1)}
    assert one([ADA, FIRST], [ADA_AGAIN, SECOND], [1, 1]) == {
        "speaker": (1, 1, 1),
        "stime": (1, 1, 1),
    }


def test_only_the_most_confident_counts() -> None:
    wrong = Span(2, 3, "stime")
    assert one([FIRST], [wrong, SECOND], [0.9, 0.8]) == {"stime": (0, 1, 1)}
    assert one([FIRST], [wrong, SECOND], [0.8, 0.9]) == {"stime": (1, 1, 1)}
    assert one([FIRST], [SECOND, FIRST, END], [0.1, 0.2, 0.3]) == {
        "etime": (0, 1, 0),  # nobody asked
        "stime": (1, 1, 1),
    }


def test_the_words_of_another_label_do_not_help() -> None:
    assert one([FIRST], [Span(2, 4, "etime")], [1]) == {"etime": (0, 1, 0), "stime": (0, 0, 1)}


def test_no_answer() -> None:
    assert one([FIRST, SECOND, ADA], [], []) == {"speaker": (0, 0, 1), "stime": (0, 0, 1)}
    assert one([], [], []) == {}


def test_the_first_of_equals_is_taken() -> None:
    spans = [SECOND, FIRST, Span(2, 3, "stime"), ADA_AGAIN, ADA]
    assert slot_answers(spans, [0.5] * 5) == {"stime": Span(2, 3, "stime"), "speaker": ADA}
    assert slot_answers(reversed(spans), [0.5] * 5) == slot_answers(spans, [0.5] * 5)
    assert slot_answers(spans, [0.6, 0.5, 0.5, 0.5, 0.5])["stime"] == SECOND


def test_documents_add_up() -> None:
    gold = [[FIRST], [FIRST], [FIRST], []]
    predicted = [[SECOND], [END], [Span(0, 1, "stime")], [FIRST]]
    counts = slot_counts(gold, predicted, [[1.0]] * 4, [TEXT] * 4)
    assert counts.labels == ("etime", "stime")
    assert counts.exact.tolist() == [[0, 1, 0], [1, 3, 3]]
    assert (counts.sentences, counts.tokens) == (4, 4 * len(TEXT))
    report = Report(Signature(), counts)
    assert report.per_label["stime"] == Figures(1 / 3, 1 / 3, 1 / 3)
    assert report.micro == Figures(1 / 4, 1 / 3, 2 / 7)
    for kind in MUC:
        found = counts.muc_counts(kind)
        assert found[:7] == (1, 1, 0, 1, 2, 3, 4)
        assert found[7:] == tuple(figures(1, 4, 3))
    assert kinds_of(counts) == {
        "label": 0,
        "boundary": 1,
        "label and boundary": 0,
        "missed": 1,
        "spurious": 2,
    }
    parts = [slot_counts([g], [p], [[1.0]], [TEXT]) for g, p in zip(gold, predicted)]
    assert sum(parts, Counts.none()).exact.tolist() == counts.exact.tolist()


def test_white_space_is_one_space() -> None:
    tokens = ["Room", "\n  ", "5", "A"]
    assert filler(tokens, Span(0, 4, "")) == "Room 5 A"
    assert filler(tokens, Span(0, 4, ""), [True, False, False, False]) == "Room 5A"
    both = ["5", "\n", "A", "or", "5", "A", "or", "5A"]
    gaps = [False, False, True, True, True, True, True, False]
    apart, joined, line = Span(4, 6, "x"), Span(7, 8, "x"), Span(0, 3, "x")
    assert slot_counts([[apart]], [[line]], [[1]], [both], [gaps]).totals == (1, 1, 1)
    assert slot_counts([[apart]], [[joined]], [[1]], [both], [gaps]).totals == (0, 1, 1)


spans = st.builds(
    lambda start, size, label: Span(start, start + size, label),
    st.integers(0, 4),
    st.integers(1, 2),
    st.sampled_from("xy"),
)
documents = st.lists(
    st.tuples(
        st.lists(st.sampled_from("ab"), min_size=6, max_size=6),
        st.lists(spans, max_size=3),
        st.lists(st.tuples(spans, st.integers(0, 3)), max_size=4),
    ),
    max_size=4,
)


@given(documents)
def test_slots_by_another_way(
    found: list[tuple[list[str], list[Span], list[tuple[Span, int]]]],
) -> None:
    counts = slot_counts(
        [gold for _, gold, _ in found],
        [[span for span, _ in answers] for *_, answers in found],
        [[confidence for _, confidence in answers] for *_, answers in found],
        [tokens for tokens, *_ in found],
    )
    for label in "xy":
        right = answered = asked = 0
        for tokens, gold, answers in found:
            fillers = [tokens[start:end] for start, end, name in gold if name == label]
            mine = [(span, c) for span, c in answers if span.label == label]
            asked += bool(fillers)
            answered += bool(mine)
            if mine:
                top = max(c for _, c in mine)
                start, end, _ = min(span for span, c in mine if c == top)
                right += tokens[start:end] in fillers
        row = (
            counts.exact[counts.labels.index(label)].tolist() if label in counts.labels else [0] * 3
        )
        assert row == [right, answered, asked]


def test_what_cannot_be_counted() -> None:
    with pytest.raises(AlignmentError, match="1 of gold, 0 of predicted"):
        slot_counts([[]], [], [[]], [[]])
    with pytest.raises(AlignmentError, match="one confidence"):
        slot_answers([FIRST], [])
    with pytest.raises(AlignmentError, match="one confidence"):
        slot_answers([FIRST], [1, 2])
    with pytest.raises(ValueError, match="nan"):
        slot_answers([FIRST], [float("nan")])
    for start, end in ((-1, 1), (1, 1), (16, 18)):
        with pytest.raises(SpanRangeError, match="17 tokens"):
            one([Span(start, end, "x")], [], [])
