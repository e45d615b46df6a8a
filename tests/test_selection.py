"""Pools, what models think of them, and the loop: against enumeration and identities."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, SpanGroup
from spacy.tokens import Span as DocSpan

from spacy_iobes import Span
from spacy_iobes.chain.separators import Edge
from spacy_iobes.corpus import make_docs
from spacy_iobes.errors import CorpusError, SettingError, UnknownNameError
from spacy_iobes.generate import GeneratedCorpus
from spacy_iobes.selection import (
    RANKINGS,
    Plan,
    Pool,
    PoolLearner,
    Ranked,
    Round,
    SeparatorView,
    TagView,
    first_batch,
    get_ranking,
    learned,
    simulate,
)

VOCAB = spacy.blank("en").vocab
EVERY = 2000  # more than the annotations of a short sentence


def doc(text: str, *ents: tuple[int, int, str], starts: tuple[int, ...] = ()) -> Doc:
    words = text.split()
    marks: list[bool | int | None] = [i in (0, *starts) for i in range(len(words))]
    made = Doc(VOCAB, words=words, sent_starts=marks if starts else None)
    made.set_ents([DocSpan(made, *ent) for ent in ents])
    return made


def small(nested: bool = False) -> Pool:
    docs = [
        doc(
            "Ada met Bo . They went to Oslo .",
            (0, 1, "PER"),
            (2, 3, "PER"),
            (7, 8, "LOC"),
            starts=(4,),
        ),
        doc("Cy saw Rome", (0, 1, "PER"), (2, 3, "LOC")),
        doc("Rome fell"),
        doc("Bo saw Ada"),
    ]
    if nested:
        for each in docs:
            each.spans["sc"] = SpanGroup(each, name="sc", spans=list(each.ents))
            each.set_ents([])
    return Pool.of(docs, ["PER"], nested=nested)


def test_sentences_are_counted_through_all_docs() -> None:
    pool = small()
    assert len(pool) == 5
    assert pool.words(1) == (["They", "went", "to", "Oslo", "."], [True] * 5)
    assert pool.place(2) == (1, 0, 3)
    assert pool.gold(0) == [Span(0, 1, "PER"), Span(2, 3, "PER")]
    assert pool.known(1) == [Span(3, 4, "LOC")]
    assert pool.counts.tolist() == [2, 0, 1, 0, 0]
    assert np.flatnonzero(pool.ruled_out).tolist() == [7, 11]  # Oslo, Rome
    bare = pool.without_known()
    assert (bare.known(1), bare.gold(0)) == ([], pool.gold(0))
    assert not bare.ruled_out.any()
    assert len({pool.digest, bare.digest, small(nested=True).digest}) == 2


def test_where_mentions_may_nest_nothing_is_ruled_out() -> None:
    pool = small(nested=True)
    assert pool.known(2) == [Span(2, 3, "LOC")]
    assert not pool.ruled_out.any()


def test_pools_that_cannot_be() -> None:
    with pytest.raises(CorpusError, match="Name the labels"):
        Pool.of([doc("a b")], [])
    with pytest.raises(CorpusError, match="each once"):
        Pool.of([doc("a b")], ["X", "X"])
    with pytest.raises(TypeError, match="list of str"):
        Pool.of([doc("a b")], "PER")
    with pytest.raises(CorpusError, match="no token"):
        Pool.of([Doc(VOCAB)], ["X"])
    crossing = doc("Ada Lovelace met", (0, 2, "PER"), starts=(1,))
    with pytest.raises(CorpusError, match=r"PER 'Ada Lovelace' \(tokens 0:2\) goes beyond"):
        Pool.of([crossing], ["PER"])


@pytest.mark.parametrize("nested", [False, True])
def test_a_view_is_that_of_all_annotations(nested: bool) -> None:
    pool = small(nested)
    model = PoolLearner(pool, seed=1)
    view = model.learn({0: pool.gold(0), 2: pool.gold(2)})
    assert isinstance(view, SeparatorView if nested else TagView)
    entropy, margin = view.entropy(), view.margin()
    for sentence in (1, 3, 4):
        every = view.suggestions(sentence, EVERY)
        chances = [each.probability for each in every]
        assert sum(chances) == pytest.approx(1, abs=1e-5)
        assert chances == sorted(chances, reverse=True)
        assert len({tuple(each.spans) for each in every}) == len(every)
        counted = sum(each.probability * len(each.spans) for each in every)
        assert view.expected[sentence] == pytest.approx(counted, abs=1e-5)
        assert entropy[sentence] == pytest.approx(-sum(p * log(p) for p in chances if p), abs=1e-4)
        assert margin[sentence] == pytest.approx(chances[0] - chances[1], abs=1e-5)
    for sentence in (0, 2):  # it was not asked about these
        assert view.suggestions(sentence, 3) == []
        assert (view.expected[sentence], entropy[sentence], margin[sentence]) == (0, 0, 1)


def test_separators_have_as_many_annotations_as_sequences() -> None:
    view = PoolLearner(small(nested=True)).learn({0: [Span(0, 1, "PER")]})
    assert len(view.suggestions(3, EVERY)) == 8  # two tokens: see the paper's counts
    assert len(view.suggestions(4, EVERY)) == 40
    assert isinstance(view, SeparatorView)
    assert Edge().total(view.gaps).shape == (4, 1)


def test_known_mentions_rule_targets_out_exactly() -> None:
    pool = small()
    view = PoolLearner(pool).learn({0: pool.gold(0)})
    for sentence, token in ((1, 3), (2, 2)):
        every = view.suggestions(sentence, EVERY)
        assert not any(s.start <= token < s.end for each in every for s in each.spans)
        assert sum(each.probability for each in every) == pytest.approx(1, abs=1e-5)
    free = PoolLearner(pool.without_known()).learn({0: pool.gold(0)})
    assert any(Span(2, 3, "PER") in each.spans for each in free.suggestions(2, EVERY))


@pytest.mark.parametrize("nested", [False, True])
def test_what_was_learned_comes_back(nested: bool) -> None:
    docs = [
        doc(f"the {w} saw {n} today", (3, 4, "PER"))
        for w in ("cat", "dog", "cow")
        for n in ("Ada", "Bo", "Cy")
    ]
    docs += [doc("the cat saw it today"), doc("the hen saw Bo today"), doc("a hen saw it")]
    pool = Pool.of(docs, ["PER"], nested=nested)
    model, answers = (
        PoolLearner(pool),
        {n: [Span(3, 4, "PER")] for n in range(9)} | {9: list[Span]()},
    )
    for _ in range(10):
        view = model.learn(answers)
    assert view.suggestions(10, 1)[0].spans == [Span(3, 4, "PER")]
    assert view.suggestions(11, 1)[0].spans == []
    assert view.expected[10] > 0.5 > view.expected[11]


def test_without_an_answer_a_view_still_ranks() -> None:
    view = PoolLearner(small()).learn({})
    assert (view.expected > 0).all()


def test_rankings() -> None:
    pool = small()
    view = PoolLearner(pool).learn({0: pool.gold(0)})
    random = np.random.default_rng(0)
    orders = {name: np.argsort(-row.values(view, random)) for name, row in RANKINGS.items()}
    assert orders["sequential"].tolist() == [0, 1, 2, 3, 4]
    assert orders["expected"][0] == int(view.expected.argmax())
    assert orders["margin"][0] == int(view.margin().argmin())
    assert orders["entropy"][0] == int(view.entropy().argmax())
    with pytest.raises(UnknownNameError, match="Known: expected, entropy"):
        get_ranking("best")


def test_first_batches() -> None:
    pool = small()
    assert first_batch(pool, 2).sentences == (0, 1)
    assert first_batch(pool, 2, done={0}).sentences == (1, 2)
    assert set(first_batch(pool, 9).sentences) == {0, 1, 2, 3, 4}
    assert sorted(first_batch(pool, 5, start="random", seed=3).sentences) == [0, 1, 2, 3, 4]
    found = first_batch(pool, 2, start="words", words=["rome", "fell"])
    assert found.sentences == (3, 2)  # two words, then one
    assert first_batch(pool, 1, start="words", words=["row"]).sentences == (0,)  # no part of Rome
    drawn = first_batch(pool, 4, share=0.5, seed=2)
    assert len(drawn.audit) == 2
    assert set(drawn.audit) <= set(drawn.sentences) - {0, 1}
    with pytest.raises(UnknownNameError, match="first, random, words"):
        first_batch(pool, 2, start="last")
    with pytest.raises(SettingError, match="start 'words'"):
        first_batch(pool, 2, start="words")
    with pytest.raises(SettingError, match="at least 1"):
        first_batch(pool, 0)
    with pytest.raises(SettingError, match="share"):
        first_batch(pool, 2, share=1.0)


@pytest.fixture(scope="module")
def ships() -> Pool:
    return Pool.of(
        list(make_docs(GeneratedCorpus(4, 600), VOCAB, unit="document")), ["ORG"]
    ).without_known()


def curve(pool: Pool, **plan: object) -> list[Round]:
    return list(simulate(pool, Plan(**{"batch": 40, **plan})))  # type: ignore[arg-type]


def test_a_simulation_reads_each_sentence_once_and_tells_the_truth(ships: Pool) -> None:
    rounds = curve(ships, rule="never", suggest=True)
    order = [sentence for each in rounds for sentence in each.sentences]
    assert sorted(order) == list(range(len(ships)))
    read = 0
    for each in rounds:
        read += len(each.sentences)
        found = sum(len(ships.gold(sentence)) for sentence in order[:read])
        assert (each.estimate.read, each.estimate.mentions) == (read, found)
        assert each.coverage == found / ships.counts.sum()
        if each.suggested:
            assert each.suggested.relevant == sum(bool(ships.gold(s)) for s in each.sentences)
            assert each.suggested.first <= each.suggested.among <= each.suggested.sentences
    last = rounds[-1].estimate
    assert (last.left, last.coverage, last.low, last.high) == (0, 1.0, 1.0, 1.0)


def test_ranking_finds_more_than_reading_in_order(ships: Pool) -> None:
    half = len(ships) // 2
    found = {
        name: next(
            e.coverage
            for e in curve(ships, ranking=name, rule="never", audit=0.0)
            if e.estimate.read >= half
        )
        for name in ("expected", "sequential", "random")
    }
    assert found["sequential"] == pytest.approx(
        ships.counts[: -(-half // 40) * 40].sum() / ships.counts.sum()
    )
    assert found["expected"] > max(found["sequential"], found["random"]) + 0.1


def test_a_simulation_stops_by_its_rule_and_is_the_same_again(ships: Pool) -> None:
    rounds = curve(ships, target=0.9)
    assert rounds[-1].estimate.coverage is not None
    assert rounds[-1].estimate.coverage >= 0.9 > (rounds[-2].estimate.coverage or 0)
    again = curve(ships, target=0.9)
    assert [e.estimate for e in again] == [e.estimate for e in rounds]
    beyond = curve(ships, target=0.5, beyond=0.97)
    assert beyond[-1].coverage >= 0.97 > beyond[-2].coverage
    growing = curve(ships, rule="never", grow=0.5)
    assert len(growing[3].sentences) == 60  # half of the 120 that were read


def test_sparse_and_absent_labels() -> None:
    docs = [doc("nothing here") for _ in range(30)] + [doc("only Ada", (1, 2, "PER"))]
    pool = Pool.of(docs, ["PER"])
    rounds = curve(pool, batch=5, audit=0.0)
    assert rounds[0].estimate.coverage == 0.0  # nothing was found, and nobody stops
    assert rounds[-1].coverage == 1.0
    with pytest.raises(CorpusError, match="no mention of LOC"):
        curve(Pool.of(docs, ["LOC"]))


def test_several_labels_and_nested_mentions() -> None:
    some = GeneratedCorpus(5, 200, nested=True)
    docs = list(make_docs(some, VOCAB, "spans:sc", "document"))
    pool = Pool.of(docs, ["ORG", "LOC"], nested=True, spans_key="sc")
    rounds = curve(pool, target=0.8)
    assert rounds[-1].coverage > 0.5
    assert {span.label for s in range(len(pool)) for span in pool.gold(s)} == {"ORG", "LOC"}


def test_a_pool_ranked_once(ships: Pool) -> None:
    docs = list(ships.docs)
    first = sum(ships.units.doc < len(docs) // 2)
    view, among = learned(ships, len(docs) // 2)
    assert among.tolist() == list(range(first))
    ranked = Ranked.of(ships, view, among, "expected", 0)
    assert ranked.expected == sorted(ranked.expected, reverse=True)
    best = ranked.order[: first // 3]
    assert (ships.counts[best] > 0).mean() > (ships.counts[:first] > 0).mean() + 0.2
    (task, *_) = ranked.tasks(3, 2)
    assert task["meta"]["rank"] == 1
    assert task["meta"]["expected"] == pytest.approx(ranked.expected[0])
    assert task["suggestions"][0]["probability"] >= task["suggestions"][1]["probability"]
    assert [[s["token_start"], s["token_end"] + 1, s["label"]] for s in task["spans"]] == [
        list(span) for span in task["suggestions"][0]["spans"]
    ]
    with pytest.raises(CorpusError, match="to be learned from has no mention"):
        learned(Pool.of(docs, ["NONE"]), 5)
