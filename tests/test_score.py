"""Scores: by hand for small cases, by identities for all others."""

from __future__ import annotations

import json
import pickle
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_iobes import CodedTags, Report, Signature, score
from spacy_iobes.codes.columns import code_tags
from spacy_iobes.errors import AlignmentError, MalformedTagsError, UnknownNameError
from spacy_iobes.scoring import report as report_module
from spacy_iobes.scoring.counts import MUC, Counts
from spacy_iobes.scoring.formats import FORMATS, as_csv, as_json, as_latex, as_markdown, as_table
from spacy_iobes.scoring.report import Mistake

GOLD = [["B-X", "I-X", "O", "B-Y"], ["O", "B-X"], ["B-Y", "I-Y", "I-Y"]]
PRED = [["B-X", "I-X", "O", "B-X"], ["B-X", "O"], ["O", "B-Y", "I-Y"]]


@pytest.fixture
def report() -> Report:
    return score(GOLD, PRED, scheme="bio", repair="begin")


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
        Mistake("border", 2, (0, 3, "Y"), (1, 3, "Y")),
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
    found = score(gold, pred, scheme="bio", repair="raise")
    assert found.micro == figures
    assert json.loads(as_json(found))["micro"]["precision"] == figures[0]
    for form in FORMATS.values():
        assert "nan" not in form(found)


def test_repair_is_named_and_counted() -> None:
    gold, pred = [["B-X", "I-X"]], [["I-X", "I-X"]]
    with pytest.raises(TypeError, match="repair="):
        score(gold, pred, scheme="bio")
    with pytest.raises(MalformedTagsError):
        score(gold, pred, scheme="bio", repair="raise")
    begun, discarded = (score(gold, pred, scheme="bio", repair=p) for p in ("begin", "discard"))
    assert (begun.value, discarded.value) == (1, 0)
    assert (begun.counts.violations, begun.counts.gold_violations) == (1, 0)
    assert begun.accuracy == 1 / 2  # of the tags before repair


def test_gold_is_never_repaired_silently() -> None:
    with pytest.raises(MalformedTagsError):
        score([["I-X"]], [["B-X"]], scheme="bio", repair="begin")
    found = score([["I-X"]], [["B-X"]], scheme="bio", repair="begin", gold_repair="begin")
    assert (found.value, found.counts.gold_violations, found.signature.gold) == (1, 1, "begin")


def test_nested_spans() -> None:
    gold = [[(0, 4, "X"), (0, 2, "X"), (0, 2, "Y"), (3, 4, "Y")]]
    pred = [[(0, 2, "Y"), (0, 4, "X"), (1, 2, "X"), (1, 2, "X")]]
    found = score(gold, pred)
    assert found.counts.totals == (2, 3, 4)
    assert found.accuracy is None
    assert found.signature.scheme == "spans"
    assert [m.kind for m in found.mistakes] == ["border", "missed"]


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
        score(gold, pred, scheme="bio", repair="begin")


def test_coded_tags_with_other_numbers() -> None:
    lengths = [len(tags) for tags in GOLD]
    orders = [["O", "B-X", "I-X", "B-Y", "I-Y"], ["I-Y", "B-Y", "I-X", "B-X", "O"]]
    sides = [
        CodedTags.from_lengths([o.index(t) for row in rows for t in row], lengths, o)
        for rows, o in zip((GOLD, PRED), orders)
    ]
    found = score(*sides, scheme="bio", repair="begin")
    assert found.counts == score(GOLD, PRED, scheme="bio", repair="begin").counts


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
    return score(gold, pred, scheme="bio", repair="begin", gold_repair="begin")


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
    assert pickle.loads(pickle.dumps(report)).counts == report.counts


def test_signature_in_every_format(report: Report) -> None:
    for name in set(FORMATS) - {"conlleval"}:
        text = FORMATS[name](report)
        assert str(report.signature) in text
        assert text.endswith("\n")


def test_formats(report: Report) -> None:
    assert "micro average        4          4        1      25.00   25.00  25.00" in as_table(
        report
    )
    assert "| X | 2 | 3 | 1 | 33.33 | 50.00 | 40.00 |" in as_markdown(report)
    assert "X,2,3,1,0.3333333333333333,0.5,0.4," in as_csv(report)
    assert r"X & 2 & 3 & 1 & 33.33 & 50.00 & 40.00 \\" in as_latex(report)
    assert json.loads(as_json(report))["labels"]["X"]["gold"] == 2


def test_labels_that_look_like_markup() -> None:
    found = score([["B-a|b_c%"]], [["B-a|b_c%"]], scheme="bio", repair="raise")
    assert r"a\|b_c%" in as_markdown(found)
    assert r"a|b\_c\%" in as_latex(found)


@given(
    st.builds(
        Signature,
        metric=st.sampled_from(["f1", "precision", "recall"]),
        average=st.sampled_from(["micro", "macro", "weighted"]),
        scheme=st.sampled_from(["spans", "bio", "IOB2", "bilou"]),
        repair=st.sampled_from(["raise", "begin", "conlleval", "nearest"]),
        gold=st.sampled_from(["raise", "STRICT"]),
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
    text = "f1:micro|match:exact|scheme:bio|repair:begin|gold:raise|version:0.1.0"
    assert str(Signature(scheme="iob2", repair="conlleval", version="0.1.0")) == text


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
        {"repair": "x"},
    ):
        with pytest.raises(UnknownNameError, match="Known:"):
            Signature(**wrong)


@pytest.mark.parametrize(
    ("settings", "value"),
    [
        ({}, 1 / 4),
        ({"metric": "recall"}, 1 / 4),
        ({"average": "macro"}, 1 / 5),
        ({"match_by": "muc-partial"}, 2.5 / 4),
        ({"match_by": "muc-type", "metric": "precision"}, 2 / 4),
    ],
)
def test_the_value_is_what_the_signature_names(settings: dict[str, str], value: float) -> None:
    found = score(GOLD, PRED, scheme="bio", repair="begin", **settings)
    assert found.value == pytest.approx(value)
    assert np.isfinite(found.value or 0)


@given(corpora)
def test_the_size_of_parts_does_not_matter(corpus: Any) -> None:
    gold, pred = corpus
    whole = scored(gold, pred)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report_module, "SENTENCES", 2)
        parts = scored(gold, pred)
        again = scored(*map(code_tags, (gold, pred)))
    assert parts.counts == whole.counts == again.counts
    assert list(parts.mistakes) == list(whole.mistakes) == list(again.mistakes)
    assert parts.by_sentence().tolist() == whole.by_sentence().tolist()


def test_errors_count_from_the_start_whatever_the_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_module, "SENTENCES", 1)
    gold = [["O"], ["B-X"], ["B-X"]]
    with pytest.raises(MalformedTagsError, match=r"sentence 1, .*sentence 2, ") as caught:
        score(gold, [["O"], ["I-X"], ["I-X"]], scheme="bio", repair="raise")
    assert len(caught.value.violations) == 2
    with pytest.raises(AlignmentError, match="Sentence 2 has 1 gold tags but 2"):
        score(gold, [["O"], ["O"], ["O", "O"]], scheme="bio", repair="begin")
    with pytest.raises(AlignmentError, match="3 gold sentences but 2"):
        score(gold, gold[:2], scheme="bio", repair="begin")
