"""The scorers on Docs: the figures of the tag functions and of spaCy, and a recipe with them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.scorer import Scorer as SpacyScorer
from spacy.scorer import get_ner_prf
from spacy.tokens import Doc
from spacy.tokens import Span as DocSpan
from spacy.training import Example
from spacy.vocab import Vocab
from typer.testing import CliRunner

from spacy_iobes import POLICIES, Span, __version__, score
from spacy_iobes.cli import app
from spacy_iobes.corpus import ColumnReader
from spacy_iobes.errors import AlignmentError, MalformedTagsError, UnknownNameError
from spacy_iobes.pipeline import span_scorer, tag_scorer

from . import by_hand, policies_by_hand, strategies
from .commands import run
from .docs import TAGS, VOCAB, bare, pipeline, with_entities, with_group, with_tags
from .shared import SHARED

DATA = SHARED / "data"
KEYS = ("p", "r", "f")
Rows = Sequence[Sequence[str]]

GOLD = [["B-X", "I-X", "O", "B-Y"], ["O", "B-X", "B-X"], ["O"], ["B-Y", "I-Y", "I-Y", "O"]]
PREDICTED = [["I-X", "I-X", "O", "B-Y"], ["O", "B-X", "I-Y"], ["I-Z"], ["B-Y", "I-X", "I-Y", "O"]]
CLEAN = [["B-X", "I-X", "O", "B-X"], ["O", "O", "B-X"], ["B-Z"], ["B-Y", "I-Y", "I-Y", "O"]]


def figures(scores: dict[str, Any]) -> list[Any]:
    return [scores[f"iobes_{key}"] for key in KEYS]


def by_sets(gold: set[Any], predicted: set[Any]) -> list[float | None]:
    """P, R and F1 from the definitions; 0 for what cannot be divided, None without any spans."""
    right, every = len(gold & predicted), len(gold) + len(predicted)
    p, r = (right / len(side) if side else 0.0 for side in (predicted, gold))
    return [p, r, 2 * right / every] if every else [None] * 3


def examples(gold: Rows, predicted: Rows) -> list[Example]:
    """References with entities and with tags, predictions with tags."""
    pairs = []
    for answer, guess in zip(gold, predicted):
        reference = with_entities(answer)
        reference.user_data["gold"] = list(answer)
        pairs.append(Example(with_tags(guess), reference))
    return pairs


def evaluated(gold: Rows, predicted: Rows, **config: Any) -> dict[str, Any]:
    """What `nlp.evaluate` says of a pipeline with a repairer."""
    scorer = {"@scorers": "spacy-iobes.tag_scorer.v1", **config}
    settings = {"scheme": config["scheme"], "policy": config["policy"], "scorer": scorer}
    return pipeline("iobes_repairer", **settings).evaluate(examples(gold, predicted))


def commanded(folder: Path, gold: Rows, predicted: Rows, *options: str) -> dict[str, Any]:
    """What `spacy-iobes score` says of the same tags in files."""
    for name, rows in (("gold", gold), ("predicted", predicted)):
        sentences = ["".join(f"w{i} {tag}\n" for i, tag in enumerate(row)) for row in rows]
        (folder / name).write_text("\n".join(sentences))
    paths = [str(folder / name) for name in ("gold", "predicted")]
    result = CliRunner().invoke(app, ["score", *paths, *options, "--layout", "json"])
    assert result.exit_code == 0, result.output
    report: dict[str, Any] = json.loads(result.stdout)
    return report


def alike(scores: dict[str, Any], report: dict[str, Any]) -> None:
    """The same figures, violations and recipe."""
    names = ("precision", "recall", "f1")
    assert figures(scores) == [report["micro"][name] or 0.0 for name in names]
    assert scores["iobes_violations"] == report["violations"]["predicted"]
    assert scores["iobes_signature"] == report["signature"]
    per_type = scores["iobes_f_per_type"]
    assert per_type.keys() == report["labels"].keys()
    for label, row in report["labels"].items():
        assert [per_type[label][key] for key in KEYS] == [row[name] or 0.0 for name in names]


@pytest.mark.parametrize("policy", POLICIES)
def test_evaluate_and_the_command_agree(policy: str, tmp_path: Path) -> None:
    predicted = CLEAN if policy == "raise" else PREDICTED
    found = evaluated(GOLD, predicted, scheme="bio", policy=policy)
    options = ("--scheme", "bio", "--policy", policy)
    alike(found, commanded(tmp_path, GOLD, predicted, *options))


def test_figures_by_hand() -> None:
    """begin: X(0,2) Y(3,4) | X(1,2) Y(2,3) | Z | Y(0,1) X(1,2) Y(2,3) against six gold spans."""
    found = evaluated(GOLD, PREDICTED, scheme="bio", policy="begin")
    assert figures(found) == [3 / 8, 3 / 5, 6 / 13]
    assert found["iobes_violations"] == 5
    assert found["iobes_f_per_type"]["X"] == {"p": 2 / 3, "r": 2 / 3, "f": 2 / 3}
    assert found["iobes_f_per_type"]["Z"] == {"p": 0.0, "r": 0.0, "f": 0.0}


def test_the_recipe_is_in_the_scores() -> None:
    found = evaluated(GOLD, PREDICTED, scheme="IOB2", policy="conlleval")
    recipe = f"f1:micro|match:exact|scheme:bio|policy:begin|gold_policy:raise|version:{__version__}"
    assert found["iobes_signature"] == recipe


@given(scheme=strategies.schemes, policy=strategies.repairs, data=st.data())
def test_scores_are_those_of_the_policies_by_hand(
    scheme: str, policy: str, data: st.DataObject
) -> None:
    longest = 4 if policy == "nearest" else 7
    row = st.lists(st.sampled_from(by_hand.all_tags(scheme)), min_size=1, max_size=longest)
    guesses = data.draw(st.lists(row, min_size=1, max_size=4))
    answers = [data.draw(st.sampled_from(legal_bio(len(row)))) for row in guesses]
    found = tag_scorer(scheme=scheme, policy=policy)(examples(answers, guesses))
    gold = {(n, span) for n, row in enumerate(answers) for span in by_hand.begin(row)}
    predicted = {
        (n, span)
        for n, row in enumerate(guesses)
        for span in policies_by_hand.POLICIES[policy](row, scheme)
    }
    assert figures(found) == by_sets(gold, predicted)
    assert set(found["iobes_f_per_type"] or ()) == {span.label for _, span in gold | predicted}


@cache
def legal_bio(length: int) -> list[tuple[str, ...]]:
    return sorted(by_hand.legal_sequences(length, "bio"))


# spaCy's own scorer, where the rules are the same


def entity_example(reference: Doc, predicted: Doc) -> Example:
    return Example(predicted, reference)


def spacy_figures(pairs: list[Example]) -> list[Any]:
    scores = get_ner_prf(pairs)
    return [scores[f"ents_{key}"] for key in KEYS]


absent = st.sampled_from(["B-X", "B-Y", "O", "O", "-", "!"])


@given(data=st.data())
def test_missing_gold_is_scored_as_spacy_does(data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.lists(absent, min_size=1, max_size=6), max_size=4))
    guesses = [data.draw(st.sampled_from(legal_bio(len(row)))) for row in rows]
    pairs = [Example(with_entities(b), with_entities(a)) for a, b in zip(rows, guesses)]
    found = span_scorer(scheme="bio", policy="raise")(pairs)
    expected = spacy_figures(pairs)
    assert figures(found) == [None if e is None else pytest.approx(e) for e in expected]


TEXT = "one two three four"


def tokenised(cuts: Sequence[int], spans: Sequence[tuple[int, int, str]] = ()) -> Doc:
    """A Doc of TEXT that is cut at these characters; spans are given in tokens."""
    bounds = sorted({0, len(TEXT), *cuts, *(i for i, c in enumerate(TEXT) if c == " ")})
    bounds = sorted({b + (TEXT[b : b + 1] == " ") for b in bounds} | {0})
    pieces = [TEXT[a:b] for a, b in pairwise(bounds)]
    words, spaces = [p.rstrip() for p in pieces], [p.endswith(" ") for p in pieces]
    doc = Doc(VOCAB, words=words, spaces=spaces)
    doc.set_ents([DocSpan(doc, *span) for span in spans])
    return doc


def characters(doc: Doc) -> set[tuple[int, int, str]]:
    return {(ent.start_char, ent.end_char, ent.label_) for ent in doc.ents}


@st.composite
def cut_text(draw: st.DrawFn) -> Doc:
    """TEXT in random tokens with random entities."""
    doc = tokenised(draw(st.lists(st.integers(1, len(TEXT) - 1), max_size=4)))
    tags = draw(st.lists(st.sampled_from("OBI"), min_size=len(doc), max_size=len(doc)))
    spans = by_hand.begin([tag if tag == "O" else f"{tag}-X" for tag in tags])
    doc.set_ents([DocSpan(doc, *span) for span in spans])
    return doc


@given(reference=cut_text(), predicted=cut_text())
def test_other_tokens_are_compared_by_their_characters(reference: Doc, predicted: Doc) -> None:
    found = span_scorer(scheme=None, policy=None)([Example(predicted, reference)])
    gold, guessed = characters(reference), characters(predicted)
    assert figures(found) == by_sets(gold, guessed)


@given(reference=cut_text(), predicted=cut_text())
def test_spacy_agrees_where_spans_begin_and_end_with_tokens_of_both(
    reference: Doc, predicted: Doc
) -> None:
    boundaries = [{t.idx for t in doc} | {len(TEXT)} for doc in (reference, predicted)]
    ends = [{t.idx + len(t) for t in doc} for doc in (reference, predicted)]
    shared = [
        span
        for span in predicted.ents
        if span.start_char in boundaries[0] and span.end_char in ends[0]
    ]
    predicted.set_ents(shared)
    pairs = [Example(predicted, reference)]
    found = span_scorer(scheme=None, policy=None)(pairs)
    assert figures(found) == pytest.approx(spacy_figures(pairs))


def test_half_of_a_token_is_not_the_token() -> None:
    """Where spaCy counts a hit: a prediction over a part of the reference's token."""
    reference = tokenised([], [(0, 1, "X")])
    predicted = tokenised([2], [(0, 1, "X")])
    pairs = [Example(predicted, reference)]
    assert [t.text for t in predicted[:2]] == ["on", "e"]
    assert spacy_figures(pairs) == [1.0, 1.0, 1.0]
    assert figures(span_scorer(scheme=None, policy=None)(pairs)) == [0.0, 0.0, 0.0]


def test_a_prediction_over_a_missing_token_with_other_tokens() -> None:
    reference = tokenised([], [(2, 3, "X")])
    reference.set_ents(list(reference.ents), missing=[reference[0:1]])
    predicted = tokenised([2], [(1, 2, "X"), (3, 4, "X")])
    pairs = [Example(predicted, reference)]
    assert figures(span_scorer(scheme=None, policy=None)(pairs)) == [1.0, 1.0, 1.0]
    assert spacy_figures(pairs) == [1.0, 1.0, 1.0]


def test_spans_over_white_space_have_no_place() -> None:
    reference = Doc(VOCAB, words=["a", "b"])
    predicted = Doc(VOCAB, words=["a", " ", "b"], spaces=[True, False, False])
    predicted.set_ents([DocSpan(predicted, 1, 2, "X")])
    pairs = [Example(predicted, reference)]
    reference.set_ents([])
    assert figures(span_scorer(scheme=None, policy=None)(pairs)) == [None] * 3
    assert spacy_figures(pairs) == [None] * 3


def test_two_texts_are_no_example() -> None:
    pair = Example(Doc(VOCAB, words=["a"]), Doc(VOCAB, words=["a"]))
    pair.predicted = Doc(VOCAB, words=["b"])
    with pytest.raises(AlignmentError, match="the Doc 'b' is predicted for the Doc 'a'"):
        span_scorer(scheme=None, policy=None)([pair])


# settings


def test_gold_is_never_repaired_unless_asked() -> None:
    pairs = examples([["I-X", "O"]], [["B-X", "O"]])
    with pytest.raises(MalformedTagsError, match="In the Doc 'w0 w1': Not legal bio"):
        tag_scorer(scheme="bio", policy="begin")(pairs)
    found = tag_scorer(scheme="bio", policy="begin", gold_policy="begin")(pairs)
    assert figures(found) == [1.0, 1.0, 1.0]
    assert "|gold_policy:begin|" in found["iobes_signature"]


def test_predictions_are_never_repaired_unless_asked() -> None:
    with pytest.raises(MalformedTagsError, match="In the Doc 'w0 w1"):
        tag_scorer(scheme="bio", policy="raise")(examples(GOLD, PREDICTED))


def test_malformed_entities_are_scored_under_a_policy() -> None:
    pairs = [Example(with_entities(["I-X", "I-X"]), with_entities(["B-X", "I-X"]))]
    with pytest.raises(ValueError, match="E093"):
        spacy_figures(pairs)
    found = span_scorer(scheme="bio", policy="begin")(pairs)
    assert (figures(found), found["iobes_violations"]) == ([1.0, 1.0, 1.0], 1)
    assert figures(span_scorer(scheme="bio", policy="discard")(pairs)) == [0.0, 0.0, 0.0]
    with pytest.raises(MalformedTagsError):
        span_scorer(scheme="bio", policy="raise")(pairs)


def test_span_groups_may_overlap() -> None:
    reference = with_group([(0, 3, "X"), (1, 2, "Y"), (0, 2, "X")], 4)
    predicted = with_group([(0, 3, "X"), (1, 2, "X")], 4)
    pairs = [Example(predicted, reference)]
    found = span_scorer(scheme=None, policy=None, source="spans:sc")(pairs)
    expected = SpacyScorer.score_spans(pairs, "spans_sc", allow_overlap=True, getter=of_group)
    assert figures(found) == pytest.approx([expected[f"spans_sc_{key}"] for key in KEYS])
    assert figures(found) == pytest.approx([1 / 2, 1 / 3, 2 / 5])


def of_group(doc: Doc, key: str) -> Any:
    return doc.spans["sc"]


def test_a_reference_without_the_group_is_not_annotated() -> None:
    pairs = [Example(with_group([(0, 1, "X")], 2), bare(2))]
    assert figures(span_scorer(scheme=None, policy=None, source="spans:sc")(pairs)) == [None] * 3


def test_spans_that_never_were_tags() -> None:
    found = span_scorer(scheme=None, policy=None)(examples([["B-X"]], [["O"]]))
    assert "|scheme:spans|policy:raise|" in found["iobes_signature"]


@pytest.mark.parametrize("source", ["user_data", "tag", "token:x"])
def test_span_scorer_reads_spans(source: str) -> None:
    with pytest.raises(
        UnknownNameError, match=r"not '.*'\. For tags there is spacy-iobes\.tag_sco"
    ):
        span_scorer(scheme=None, policy=None, source=source)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"scheme": "x"}, "Unknown scheme 'x'. Known: io"),
        ({"policy": "x"}, "Unknown policy 'x'. Known: raise"),
        ({"gold_policy": "x"}, "Unknown policy 'x'. Known: raise"),
        ({"policy": "best"}, "raise, begin, discard, ncrfpp, stanza, nearest"),
        ({"source": "x"}, "Unknown place for tags 'x'. Known: user_data"),
        ({"gold_source": "x"}, "Unknown place for tags 'x'. Known: user_data"),
    ],
)
def test_unknown_names(wrong: dict[str, str], message: str) -> None:
    with pytest.raises(UnknownNameError) as error:
        tag_scorer(**{"scheme": "bio", "policy": "begin"} | wrong)  # type: ignore[arg-type]
    assert message in str(error.value)


def test_without_annotation_there_are_no_figures() -> None:
    found = tag_scorer(scheme="bio", policy="begin")([Example(with_tags(["B-X"]), bare(1))])
    assert figures(found) == [None] * 3
    assert found["iobes_f_per_type"] is None
    assert spacy_figures([Example(with_entities(["B-X"]), bare(1))]) == [None] * 3
    assert figures(tag_scorer(scheme="bio", policy="begin")([])) == [None] * 3
    empty = tag_scorer(scheme="bio", policy="begin")([Example(bare(0), bare(0))])
    assert figures(empty) == [None] * 3


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [("O", "O", [None] * 3), ("B-X", "O", [0.0] * 3), ("O", "B-X", [0.0] * 3)],
)
def test_nothing_to_divide_by_is_as_in_spacy(gold: str, predicted: str, expected: Any) -> None:
    found = tag_scorer(scheme="bio", policy="begin")(examples([[gold]], [[predicted]]))
    assert figures(found) == expected
    pair = Example(with_entities([predicted]), with_entities([gold]))
    assert spacy_figures([pair]) == expected


def test_under_the_names_of_spacy() -> None:
    found = tag_scorer(scheme="bio", policy="begin", as_ents=True)(examples(GOLD, PREDICTED))
    assert [found[f"ents_{key}"] for key in KEYS] == figures(found)
    assert found["ents_per_type"] == found["iobes_f_per_type"]


def test_gold_tags_from_anywhere() -> None:
    scorer = tag_scorer(scheme="iobes", policy="begin", gold_source="user_data:gold")
    pair = Example(with_tags(["S-X", "O"]), with_tags(["S-X", "O"], "gold"))
    assert figures(scorer([pair])) == [1.0, 1.0, 1.0]


def test_sentences_bound_spans() -> None:
    tags = ["B-X", "I-X", "I-X"]
    reference = with_entities(["B-X", "I-X", "B-X"])
    predicted = with_tags(tags)
    pairs = [Example(predicted, reference)]
    scorer = tag_scorer(scheme="bio", policy="begin", unit="sentence")
    assert figures(scorer(pairs)) == [0.0, 0.0, 0.0]
    reference[2].is_sent_start = True
    assert figures(scorer(pairs)) == [1.0, 1.0, 1.0]
    assert figures(tag_scorer(scheme="bio", policy="begin")(pairs)) == [0.0, 0.0, 0.0]


def test_sentences_of_the_prediction_where_the_reference_has_none() -> None:
    predicted = with_tags(["B-X", "I-X", "I-X"])
    predicted[2].is_sent_start = True
    pairs = [Example(predicted, with_entities(["B-X", "I-X", "B-X"]))]
    scorer = tag_scorer(scheme="bio", policy="begin", unit="sentence")
    assert figures(scorer(pairs)) == [1.0, 1.0, 1.0]


def test_docs_need_not_share_a_vocabulary() -> None:
    pairs = [
        Example(with_entities([f"B-{name}"], Vocab()), with_entities([f"B-{name}"], Vocab()))
        for name in ("one", "two")
    ]
    found = span_scorer(scheme="bio", policy="raise")(pairs)
    assert set(found["iobes_f_per_type"]) == {"one", "two"}


def test_a_document_is_scored_as_its_sentences() -> None:
    """One Doc of four sentences, with the unit `sentence`, and four Docs."""
    apart = tag_scorer(scheme="bio", policy="begin")(examples(GOLD, PREDICTED))
    gold, guess = ([tag for row in rows for tag in row] for rows in (GOLD, PREDICTED))
    starts = [number == 0 for row in GOLD for number in range(len(row))]
    reference, predicted = with_entities(gold), with_tags(guess)
    for doc in (reference, predicted):
        for token, start in zip(doc, starts):
            token.is_sent_start = start
    scorer = tag_scorer(scheme="bio", policy="begin", unit="sentence")
    assert scorer([Example(predicted, reference)]) == apart


# real outputs


def tags_of(path: Path) -> list[list[str]]:
    return [row for part in ColumnReader(path) for row in part.tags]


def outputs() -> Iterator[tuple[str, Path, Path]]:
    """Names, gold and predicted files of outputs that have violations."""
    wnut = DATA / "wnut17"
    for name in ("mic-cis.txt", "spinningbytes.txt"):
        yield name, wnut / "emerging.test.annotated", wnut / "submissions" / name
    for language in ("pcm", "wol"):
        output = f"masakhaner1-predictions/XLM-R/{language}_xlmr_test_predictions.txt.gz"
        yield language, DATA / "masakhaner1" / language / "test.txt", DATA / output


OTHER_TOKENS = ("mic-cis.txt",)  # the command refuses them


@pytest.mark.parametrize("policy", [name for name in POLICIES if name != "raise"])
@pytest.mark.parametrize(("name", "gold", "output"), [pytest.param(*o, id=o[0]) for o in outputs()])
def test_evaluate_agrees_with_function_and_command_on_real_outputs(
    name: str, gold: Path, output: Path, policy: str
) -> None:
    if not (gold.is_file() and output.is_file()):
        pytest.skip(f"no {name} in {DATA}: set SPACY_IOBES_SHARED")
    settings = {"scheme": "bio", "policy": policy, "gold_policy": "begin"}
    answers, guesses = tags_of(gold), tags_of(output)
    found = evaluated(answers, guesses, gold_source="user_data:gold", **settings)
    alike(found, score(answers, guesses, **settings).as_dict())
    assert found["iobes_violations"] > 0
    options = ["-s", "bio", "-p", policy, "--gold-policy", "begin", "--layout", "json"]
    command = CliRunner().invoke(app, ["score", str(gold), str(output), *options])
    assert (command.exit_code != 0) == (name in OTHER_TOKENS)
    if name not in OTHER_TOKENS:
        alike(found, json.loads(command.stdout))


@pytest.mark.parametrize("policy", ["raise", "begin"])
def test_evaluate_and_the_function_agree_on_entities_of_real_gold(policy: str) -> None:
    gold = DATA / "wnut17" / "emerging.test.annotated"
    if not gold.is_file():
        pytest.skip(f"no WNUT-17 in {DATA}: set SPACY_IOBES_SHARED")
    output = tags_of(DATA / "wnut17" / "submissions" / "arcada")
    found = evaluated(tags_of(gold), output, scheme="bio", policy=policy)
    report = score(tags_of(gold), output, scheme="bio", policy=policy)
    alike(found, report.as_dict())
    assert f"{100 * found['iobes_f']:.2f}" == "39.98"  # as published


def test_spans_are_what_they_seem() -> None:
    """The helper of these tests: what is put in is what spaCy reads."""
    assert [Span(e.start, e.end, e.label_) for e in with_entities(GOLD[0]).ents] == list(
        by_hand.begin(GOLD[0])
    )
    assert with_tags(GOLD[0]).user_data[TAGS] == GOLD[0]


def test_a_config_must_name_the_policy(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    scorer = {"@scorers": "spacy-iobes.tag_scorer.v1", "scheme": "bio", "policy": "begin"}
    nlp.add_pipe("iobes_repairer", config={"scheme": "bio", "policy": "begin", "scorer": scorer})
    nlp.to_disk(tmp_path)
    config = tmp_path / "config.cfg"
    head, tail = config.read_text().rsplit('policy = "begin"\n', 1)
    config.write_text(head + tail)
    result = run("tune", tmp_path, tmp_path / "dev.bio")
    assert result.exit_code == 2
    assert "iobes_repairer.scorer -> policy" in result.stderr
    assert 'write policy = "raise", for example: one of raise, begin, discard' in result.stderr
