"""Scores: by hand for small cases, by identities for all others."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_iobes import CodedTags, Counts, Report, Signature, score
from spacy_iobes.codes import code_tags
from spacy_iobes.errors import (
    AlignmentError,
    MalformedTagsError,
    SpanRangeError,
    UnknownNameError,
    UnreadableTagError,
)
from spacy_iobes.scoring import FORMATS, MUC, Mistake, as_json, formatted
from spacy_iobes.scoring import sides as sides_module

GOLD = [["B-X", "I-X", "O", "B-Y"], ["O", "B-X"], ["B-Y", "I-Y", "I-Y"]]
PRED = [["B-X", "I-X", "O", "B-X"], ["B-X", "O"], ["O", "B-Y", "I-Y"]]


@pytest.fixture
def report() -> Report:
    return score(GOLD, PRED, scheme="bio", policy="begin")


def test_by_hand(report: Report) -> None:
    """X[0,2) is right, Y[3,4) became X, X[1,2) is missed, X[0,1) spurious, Y[0,3) cut short."""
    assert report.counts.labels == ("X", "Y")
    assert report.counts.exact.tolist() == [[1, 3, 2], [0, 1, 2]]
    assert report.micro == (1 / 4, 1 / 4, 1 / 4)
    assert report.per_label["X"] == (1 / 3, 1 / 2, 2 / 5)
    assert report.per_label["Y"] == (0.0, 0.0, 0.0)
    assert report.macro == pytest.approx((1 / 6, 1 / 4, 1 / 5))
    assert report.weighted == pytest.approx((1 / 6, 1 / 4, 1 / 5))
    assert report.accuracy == 4 / 9
    assert (report.counts.sentences, report.counts.tokens) == (3, 9)
    assert report.value == 1 / 4


def test_muc_by_hand(report: Report) -> None:
    """correct, incorrect, partial, missed, spurious, possible, actual"""
    assert report.muc["strict"][:7] == (1, 2, 0, 1, 1, 4, 4)
    assert report.muc["exact"][:7] == (2, 1, 0, 1, 1, 4, 4)
    assert report.muc["partial"][:7] == (2, 0, 1, 1, 1, 4, 4)
    assert report.muc["type"][:7] == (2, 1, 0, 1, 1, 4, 4)
    assert report.muc["partial"].precision == 2.5 / 4


def test_confusion_and_mistakes_by_hand(report: Report) -> None:
    assert report.counts.confusion.tolist() == [[1, 0, 1], [1, 1, 0], [1, 0, 0]]
    assert list(report.mistakes) == [
        Mistake("label", 0, (3, 4, "Y"), (3, 4, "X")),
        Mistake("spurious", 1, None, (0, 1, "X")),
        Mistake("missed", 1, (1, 2, "X"), None),
        Mistake("boundary", 2, (0, 3, "Y"), (1, 3, "Y")),
    ]
    assert report.by_sentence().tolist() == [[1, 2, 2], [0, 1, 1], [0, 1, 1]]


@pytest.mark.parametrize(
    ("gold", "pred", "figures"),
    [
        ([["O"]], [["O"]], (None, None, None)),
        ([["B-X"]], [["O"]], (None, 0, 0)),
        ([["O"]], [["B-X"]], (0, None, 0)),
        ([["B-X"]], [["B-Y"]], (0, 0, 0)),
        ([], [], (None, None, None)),
        ([[]], [[]], (None, None, None)),
    ],
)
def test_undefined_is_none(gold: Any, pred: Any, figures: tuple[float | None, ...]) -> None:
    found = score(gold, pred, scheme="bio", policy="raise")
    assert found.micro == figures
    assert json.loads(as_json(found))["micro"]["precision"] == figures[0]
    for form in FORMATS:
        assert "nan" not in formatted(found, form)


def test_repair_is_named_and_counted() -> None:
    gold, pred = [["B-X", "I-X"]], [["I-X", "I-X"]]
    for refusing in ({}, {"policy": "raise"}):
        with pytest.raises(MalformedTagsError, match="policy="):
            score(gold, pred, scheme="bio", **refusing)
    begun, discarded = (score(gold, pred, scheme="bio", policy=p) for p in ("begin", "discard"))
    assert (begun.value, discarded.value) == (1, 0)
    assert (begun.counts.violations, begun.counts.gold_violations) == (1, 0)
    assert begun.accuracy == 1 / 2  # of the tags before repair


def test_gold_is_never_repaired_silently() -> None:
    with pytest.raises(MalformedTagsError):
        score([["I-X"]], [["B-X"]], scheme="bio", policy="begin")
    found = score([["I-X"]], [["B-X"]], scheme="bio", policy="begin", gold_policy="begin")
    assert (found.value, found.counts.gold_violations, found.signature.gold_policy) == (
        1,
        1,
        "begin",
    )


def test_nested_spans() -> None:
    gold = [[(0, 4, "X"), (0, 2, "X"), (0, 2, "Y"), (3, 4, "Y")]]
    pred = [[(0, 2, "Y"), (0, 4, "X"), (1, 2, "X"), (1, 2, "X")]]
    found = score(gold, pred)
    assert found.counts.totals == (2, 3, 4)
    assert found.accuracy is None
    assert found.signature.scheme == "spans"
    assert [m.kind for m in found.mistakes] == ["boundary", "missed"]


def test_equal_spans_are_paired_before_all_others() -> None:
    """(0, 9) overlaps both gold spans and comes first, but takes neither from its equal."""
    found = score([[(1, 2, "X"), (3, 4, "X")]], [[(0, 9, "X"), (1, 2, "X"), (3, 4, "X")]])
    assert found.muc["strict"][:5] == (2, 0, 0, 0, 1)


@pytest.mark.parametrize(
    ("gold", "pred", "said"),
    [
        ([["O"]], [["O"], ["O"]], "1 gold sentences but 2"),
        ([["O"], ["O", "O"]], [["O"], ["O"]], "Sentence 1 has 2 gold tags but 1"),
    ],
)
def test_other_lengths_are_refused(gold: Any, pred: Any, said: str) -> None:
    with pytest.raises(AlignmentError, match=said):
        score(gold, pred, scheme="bio", policy="begin")


def test_coded_tags_with_other_numbers() -> None:
    lengths = [len(tags) for tags in GOLD]
    orders = [["O", "B-X", "I-X", "B-Y", "I-Y"], ["I-Y", "B-Y", "I-X", "B-X", "O"]]
    sides = [
        CodedTags.from_lengths([o.index(t) for row in rows for t in row], lengths, o)
        for rows, o in zip((GOLD, PRED), orders)
    ]
    found = score(*sides, scheme="bio", policy="begin")
    assert found.counts == score(GOLD, PRED, scheme="bio", policy="begin").counts


tags = st.lists(
    st.lists(st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Z"]), max_size=6), max_size=6
)
corpora = tags.flatmap(
    lambda gold: st.tuples(
        st.just(gold),
        st.tuples(
            *(
                st.lists(st.sampled_from(["O", "B-X", "I-Y"]), min_size=len(g), max_size=len(g))
                for g in gold
            )
        ).map(list),
    )
)


def scored(gold: Any, pred: Any) -> Report:
    return score(gold, pred, scheme="bio", policy="begin", gold_policy="begin")


@given(corpora)
def test_parts_add_up_in_any_order(corpus: Any) -> None:
    gold, pred = corpus
    whole = scored(gold, pred).counts
    parts = [scored([g], [p]).counts for g, p in zip(gold, pred)]
    for order in list(permutations(parts))[:6]:
        assert sum(order, Counts.none()) == whole


@given(corpora)
def test_identities(corpus: Any) -> None:
    gold, pred = corpus
    found = scored(gold, pred)
    counts = found.counts
    correct, predicted, of_gold = counts.totals
    assert counts.confusion[:-1].sum() == of_gold
    assert counts.confusion[:, :-1].sum() == predicted
    assert counts.confusion[:-1].sum(axis=1).tolist() == counts.exact[:, 2].tolist()
    assert counts.confusion[:, :-1].sum(axis=0).tolist() == counts.exact[:, 1].tolist()
    for kind in MUC:
        whole = counts.muc_counts(kind)
        assert (whole.possible, whole.actual) == (of_gold, predicted)
        per_label = [counts.muc_counts(kind, label) for label in counts.labels]
        for field in ("missed", "spurious", "possible", "actual"):
            assert sum(getattr(row, field) for row in per_label) == getattr(whole, field)
    assert found.muc["strict"].correct == correct
    assert found.muc["strict"].f1 == found.micro.f1
    wrong = list(found.mistakes)
    assert Counter(m.kind for m in wrong) == Counter(found.kinds)
    assert sum(m.gold is not None for m in wrong) == of_gold - correct
    assert sum(m.predicted is not None for m in wrong) == predicted - correct
    assert found.by_sentence().sum(axis=0).tolist() == [correct, predicted, of_gold]
    assert scored(gold, gold).counts.totals[0] == of_gold


@given(corpora)
def test_gold_and_prediction_change_places(corpus: Any) -> None:
    gold, pred = corpus
    there, back = scored(gold, pred), scored(pred, gold)
    assert there.micro == (back.micro.recall, back.micro.precision, back.micro.f1)
    assert there.accuracy == back.accuracy


def test_reports_cannot_be_changed_and_can_be_pickled(report: Report) -> None:
    with pytest.raises(AttributeError):
        report.counts = Counts.none()  # type: ignore[misc]
    with pytest.raises(TypeError):
        report.per_label["X"] = report.micro  # type: ignore[index]
    with pytest.raises(TypeError):
        report.muc["strict"] = report.muc["type"]  # type: ignore[index]
    again = pickle.loads(pickle.dumps(report))
    assert again == report
    assert list(again.mistakes) == list(report.mistakes)
    for counts in (report.counts, again.counts, report.counts + Counts.none()):
        for table in (counts.exact, counts.muc, counts.confusion):
            with pytest.raises(ValueError, match="read-only"):
                table[...] = 0


def test_what_made_the_counts_cannot_change_them() -> None:
    exact = np.zeros((1, 3), dtype=np.int64)
    counts = Counts(("X",), exact, np.zeros((4, 2, 1, 4)), np.zeros((2, 2)))  # type: ignore[arg-type]
    exact[0, 0] = 7
    assert counts.totals == (0, 0, 0)


def test_equal_input_gives_equal_reports(report: Report) -> None:
    again = score(GOLD, PRED, scheme="bio", policy="begin")
    assert report == again
    assert len({report, again}) == 1
    assert report != score(GOLD, PRED, scheme="bio", policy="begin", metric="recall")
    assert report != score(GOLD, GOLD, scheme="bio", policy="begin")
    assert report != "25.00"


def test_mistakes_far_into_a_sentence_with_many_labels() -> None:
    """Numbers that need one, two and four bytes are kept alike."""
    places = [(start, start + 1, f"L{n}") for n, start in enumerate((0, 254, 255, 256, 65535))]
    far = (70_000, 140_000, "FAR")
    many = [(n, n + 1, f"M{n:03}") for n in range(300)]
    found = score([places, many, [far]], [places[::2], many[:-1], [(*far[:2], "L0")]])
    assert list(found.mistakes) == [
        Mistake("missed", 0, places[1], None),
        Mistake("missed", 0, places[3], None),
        Mistake("missed", 1, many[-1], None),
        Mistake("label", 2, far, (*far[:2], "L0")),
    ]


def test_kinds_of_mistakes_by_hand(report: Report) -> None:
    kinds = {"label": 1, "boundary": 1, "label and boundary": 0, "missed": 1, "spurious": 1}
    assert report.kinds == kinds


@pytest.mark.parametrize(
    ("spans", "said"),
    [
        ([[(0.5, 2, "X")]], r"Sentence 0: a span is .* integers .* not \(0.5, 2, 'X'\)"),
        ([[], [("0", 1, "X")]], "Sentence 1: a span is"),
        ([[(0, 1, None)]], r"the label of \(0, 1, None\) is no str"),
        ([[(0, 1, "X", 2)]], "a span is"),
        ([[3]], "a span is"),
        ([["B-X", "O"]], r"the string 'B-X'.*Tags need their scheme: score\("),
    ],
)
def test_what_is_no_span(spans: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        score(spans, spans)


@pytest.mark.parametrize("span", [(1, 1, "X"), (-1, 1, "X"), (2, 1, "X"), (0, 2**31, "X")])
def test_spans_that_cannot_be(span: Any) -> None:
    with pytest.raises(SpanRangeError, match=r"Sentence 0: .* is no span"):
        score([[span]], [[]])


def test_numbers_of_numpy_are_numbers() -> None:
    assert score([[(np.int64(0), np.int32(2), "X")]], [[(0, 2, "X")]]).value == 1


def test_spans_know_no_policies() -> None:
    spans = [[(0, 1, "X")]]
    for wrong in ({"policy": "begin"}, {"gold_policy": "discard"}):
        with pytest.raises(TypeError, match="nothing to repair in spans"):
            score(spans, spans, **wrong)
    for wrong in ({"policy": "nonsense"}, {"gold_policy": "nonsense"}):
        with pytest.raises(UnknownNameError, match="nonsense"):
            score(spans, spans, **wrong)
    assert score(spans, spans, policy="raise", gold_policy="none").value == 1


def test_lists_of_spans_have_the_same_length() -> None:
    with pytest.raises(AlignmentError, match="1 gold sentences but 2"):
        score([[]], [[], []])


def test_errors_say_which_side_is_at_fault() -> None:
    good, bad, strange = [["B-X"], ["O"]], [["I-X"], ["O"]], [["Q-X"], ["O"]]
    with pytest.raises(MalformedTagsError, match=r"in the gold: .*\(gold_policy=\): begin"):
        score(bad, good, scheme="bio", policy="begin")
    with pytest.raises(MalformedTagsError, match=r"in the predictions: .*\(policy=\): begin"):
        score(good, bad, scheme="bio", policy="raise")
    with pytest.raises(UnreadableTagError, match=r"^gold, sentence 0, token 0: 'Q-X'"):
        score(strange, good, scheme="bio", policy="begin")
    with pytest.raises(UnreadableTagError, match=r"^predictions, sentence 0.*No policy repairs"):
        score(good, strange, scheme="bio", policy="raise")


def test_counts_of_what_does_not_exist(report: Report) -> None:
    with pytest.raises(UnknownNameError, match=r"Unknown label .FOO.\. Known: X, Y"):
        report.counts.muc_counts("strict", "FOO")
    with pytest.raises(UnknownNameError, match="Unknown match 'FOO'"):
        report.counts.muc_counts("FOO")


def test_counts_add_up_with_sum(report: Report) -> None:
    assert sum([report.counts]) == report.counts
    assert sum([report.counts, Counts.none()]) == report.counts
    assert sum([report.counts, report.counts]).totals == (2, 8, 8)  # type: ignore[union-attr]
    for wrong in (1, "0", None):
        with pytest.raises(TypeError):
            report.counts + wrong


LONG = 200_000  # tokens of one sentence


def test_one_long_sentence_of_tags() -> None:
    """Each gold span lies on a prediction's boundary: all are wrong, and all are paired."""
    gold = ["B-X", "I-X"] * (LONG // 2)
    pred = ["O", *gold[:-1]]
    found = score([gold], [pred], scheme="bio", policy="begin")
    assert found.counts.totals == (0, LONG // 2, LONG // 2)
    assert found.kinds["boundary"] == LONG // 2
    first, *_ = found.mistakes
    assert first == Mistake("boundary", 0, (0, 2, "X"), (1, 3, "X"))


@pytest.mark.parametrize("label", ["X", "Y"])
def test_one_long_sentence_of_nested_spans(label: str) -> None:
    """An outer span overlaps all others, but each prediction is answered by the one it overlaps."""
    outer = (0, LONG, "Z")
    gold = [outer, *((i, i + 2, "X") for i in range(0, LONG, 4))]
    pred = [outer, *((i, i + 3, label) for i in range(0, LONG, 4))]
    found = score([gold], [pred])
    size = LONG // 4
    assert found.counts.totals == (1, size + 1, size + 1)
    assert found.muc["partial"][:5] == (1, 0, size, 0, 0)
    assert found.muc["type"].correct == 1 + size * (label == "X")


@given(
    st.builds(
        Signature,
        metric=st.sampled_from(["f1", "precision", "recall"]),
        average=st.sampled_from(["micro", "macro", "weighted"]),
        scheme=st.sampled_from(["spans", "bio", "IOB2", "bilou"]),
        policy=st.sampled_from(["raise", "begin", "conlleval", "nearest"]),
        gold_policy=st.sampled_from(["raise", "STRICT"]),
        version=st.sampled_from(["0.1.0", "9.9.9.dev1"]),
    )
)
def test_signatures_can_be_read_back(signature: Signature) -> None:
    assert Signature.parse(str(signature)) == signature
    assert len({signature, Signature.parse(str(signature))}) == 1


@pytest.mark.parametrize("match", ["muc-strict", "muc-exact", "muc-partial", "muc-type"])
def test_muc_matches_have_only_a_micro_average(match: str) -> None:
    assert Signature.parse(str(Signature(match=match))) == Signature(match=match)
    with pytest.raises(UnknownNameError, match="average for the match muc"):
        Signature(match=match, average="macro")


def test_the_signature_of_the_design() -> None:
    text = "f1:micro|match:exact|scheme:bio|policy:begin|gold_policy:raise|version:0.1.0"
    assert str(Signature(scheme="iob2", policy="conlleval", version="0.1.0")) == text


@pytest.mark.parametrize(
    "text", ["", "f1", "f1:micro|match:exact", "f1:micro|scheme:bio|match:exact"]
)
def test_what_is_no_signature(text: str) -> None:
    with pytest.raises(UnknownNameError, match="is not a signature"):
        Signature.parse(text)


def test_unknown_parts_of_a_signature() -> None:
    for wrong in (
        {"metric": "f2"},
        {"average": "x"},
        {"match": "x"},
        {"scheme": "x"},
        {"policy": "x"},
    ):
        with pytest.raises(UnknownNameError, match="Known:"):
            Signature(**wrong)


@pytest.mark.parametrize(
    ("settings", "value"),
    [
        ({}, 1 / 4),
        ({"metric": "recall"}, 1 / 4),
        ({"average": "macro"}, 1 / 5),
        ({"match": "muc-partial"}, 2.5 / 4),
        ({"match": "muc-type", "metric": "precision"}, 2 / 4),
    ],
)
def test_the_value_is_what_the_signature_names(settings: dict[str, str], value: float) -> None:
    found = score(GOLD, PRED, scheme="bio", policy="begin", **settings)
    assert found.value == pytest.approx(value)
    assert np.isfinite(found.value or 0)


@given(corpora)
def test_the_size_of_parts_does_not_matter(corpus: Any) -> None:
    gold, pred = corpus
    whole = scored(gold, pred)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sides_module, "SENTENCES", 2)
        parts = scored(gold, pred)
        again = scored(*map(code_tags, (gold, pred)))
    assert parts.counts == whole.counts == again.counts
    assert list(parts.mistakes) == list(whole.mistakes) == list(again.mistakes)
    assert parts.by_sentence().tolist() == whole.by_sentence().tolist()


def test_errors_count_from_the_start_whatever_the_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sides_module, "SENTENCES", 1)
    gold = [["O"], ["B-X"], ["B-X"]]
    with pytest.raises(MalformedTagsError, match=r"sentence 1, .*sentence 2, ") as caught:
        score(gold, [["O"], ["I-X"], ["I-X"]], scheme="bio", policy="raise")
    assert len(caught.value.violations) == 2
    with pytest.raises(AlignmentError, match="Sentence 2 has 1 gold tags but 2"):
        score(gold, [["O"], ["O"], ["O", "O"]], scheme="bio", policy="begin")
    with pytest.raises(AlignmentError, match="3 gold sentences but 2"):
        score(gold, gold[:2], scheme="bio", policy="begin")
