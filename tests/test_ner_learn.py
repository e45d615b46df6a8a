"""`learn`: a recogniser goes on with new examples alone, and keeps what it knows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from thinc.api import Adam, fix_random_seed

from spacy_iobes.errors import ModelError

from .people import PEOPLE, sentences
from .recognizers import entities, example, make, ner
from .test_features_training import fast, table

COMPANIES = ("Acme Corp", "Initech", "Globex Energy")


def people(count: int, seed: int) -> list[Example]:
    """People in places."""
    found = [tuple(zip(*rows)) for rows in sentences(count, seed)]
    return [example(list(tags), list(words)) for words, tags in found]


def companies(count: int, seed: int) -> list[Example]:
    """Companies, whose label and words are new, and people that are known."""
    choose, found = random.Random(seed), []
    for _ in range(count):
        parts = [(choose.choice(COMPANIES), "ORG"), (choose.choice(PEOPLE), "PER")]
        words, tags = list[str](), list[str]()
        for (text, label), behind in zip(parts, (choose.choice(["hired", "left"]), ".")):
            mine = text.split()
            words += [*mine, behind]
            tags += [f"B-{label}", *[f"I-{label}" for _ in mine[1:]], "O"]
        found.append(example(tags, words))
    return found


def share(nlp: Language, pairs: Sequence[Example]) -> float:
    """F1 of entities."""
    docs = [Doc(nlp.vocab, words=[token.text for token in pair.reference]) for pair in pairs]
    found = {(n, *e) for n, row in enumerate(entities(nlp.pipe(docs))) for e in row}
    gold = {
        (n, *e) for n, row in enumerate(entities(pair.reference for pair in pairs)) for e in row
    }
    return 2 * len(found & gold) / (len(found) + len(gold))


def begun(make_pipeline: Any = fast, pairs: Sequence[Example] = (), **settings: Any) -> Any:
    """A pipeline that knows people and places."""
    nlp = make_pipeline(**settings)
    pairs = pairs or people(150, 0)
    nlp.initialize(lambda: pairs)
    ner(nlp).learn(pairs, epochs=5)
    return nlp


@pytest.mark.parametrize("learned_steps", [False, True])
@pytest.mark.parametrize("scheme", ["iobes", "bio", "bia"])
@pytest.mark.parametrize("stored", [False, True])
def test_a_new_label_from_a_few_examples(learned_steps: bool, scheme: str, stored: bool) -> None:
    nlp = begun(learned_steps=learned_steps, scheme=scheme)
    if stored:
        nlp = fast(learned_steps=learned_steps, scheme=scheme).from_bytes(nlp.to_bytes())
    old, new = people(40, 1), companies(40, 2)
    assert share(nlp, old) > 0.95 > 0.75 > share(nlp, new)
    losses = ner(nlp).learn(companies(10, 3))
    assert len(losses) == 10
    assert losses[-1] < 0.1 * losses[0]
    assert ner(nlp).labels == ("LOC", "PER", "ORG")
    assert share(nlp, old) > 0.95
    assert share(nlp, new) > 0.95


def test_new_words_of_a_known_label() -> None:
    nlp, words = begun(), ["They", "flew", "over", "Ouagadougou"]
    nothing, place = ["O", "O", "O", "O"], ["O", "O", "O", "B-LOC"]
    unseen = example(["O", "B-LOC", "O", "B-PER"], ["That", "Ouagadougou", "pleased", "Grace"])
    assert share(nlp, [unseen]) < 1
    ner(nlp).learn([example(place, words), example(nothing, ["They", "flew", "over", "it"])])
    assert share(nlp, [unseen]) == 1
    assert share(nlp, people(40, 1)) > 0.95


def test_two_halves_are_as_good_as_the_whole() -> None:
    pairs, new = people(60, 0), people(100, 1)
    whole = begun(pairs=pairs)
    halves = begun(pairs=pairs[:30])
    ner(halves).learn(pairs[30:], epochs=5)
    assert share(halves, new) >= share(whole, new) - 0.02 > 0.9


def test_what_was_learned_before_is_not_begun_anew() -> None:
    """Weights, rows and the sizes of steps go on; the average begins with what predicts."""
    nlp = begun()
    before, rows, squares = (
        np.copy(part) for part in (table(nlp).average, table(nlp).used, table(nlp).squares)
    )
    count = table(nlp).count
    ner(nlp).learn(companies(1, 0), epochs=1)
    after = table(nlp)
    assert after.count > count
    assert (after.used[:count] == rows[:count]).all()
    assert (after.squares[:count] >= squares[:count]).all()
    assert after.steps == 1
    same = after.squares[:count] == squares[:count]  # rows that the new example does not have
    assert 0 < same.sum() < count
    kept = before.shape[1]
    np.testing.assert_array_equal(after.average[:count, :kept][same], before[:count][same])


def test_the_same_seed_gives_the_same_weights() -> None:
    found = []
    for seed in (1, 1, 2):
        nlp = begun()
        table(nlp).drawn = 7
        ner(nlp).learn(companies(30, 0), epochs=2, seed=seed)
        found.append(ner(nlp).model.to_bytes())
    assert found[0] == found[1] != found[2]


def test_a_network_learns_with_an_optimizer_of_its_own_or_a_given_one() -> None:
    pairs = people(20, 0)
    for sgd in (None, Adam(0.02)):
        nlp = make()
        nlp.initialize(lambda: pairs)
        losses = ner(nlp).learn(pairs, epochs=30, sgd=sgd)
        assert losses[-1] < 0.5 * losses[0]
        losses = ner(nlp).learn(companies(10, 0), epochs=30, sgd=sgd)
        assert losses[-1] < 0.5 * losses[0]
        assert ner(nlp).labels == ("LOC", "PER", "ORG")


def test_nested_recognisers_learn_too() -> None:
    fix_random_seed(0)
    nlp = spacy.blank("en")
    features = {"@architectures": "spacy-iobes.HashedFeatures.v1", "rows": 2**14}
    model = {"@architectures": "spacy-iobes.SeparatorTagger.v1", "tok2vec": features}
    pipe: Any = nlp.add_pipe("iobes_nested_ner", config={"model": model})
    pairs = []
    for text, spans in (
        ("Bank of Kenya", [(0, 3, "ORG"), (2, 3, "LOC")]),
        ("the Kenya Times", [(1, 3, "PAPER"), (1, 2, "LOC")]),
    ):
        docs = [Doc(nlp.vocab, words=text.split()) for _ in range(2)]
        docs[1].spans["sc"] = [Span(docs[1], *span) for span in spans]
        pairs.append(Example(*docs))
    nlp.initialize(lambda: pairs[:1])
    pipe.learn(pairs[:1], epochs=20)
    losses = pipe.learn(pairs[1:], epochs=20)
    assert losses[-1] < losses[0]
    found = [nlp(Doc(nlp.vocab, words=[t.text for t in pair.reference])) for pair in pairs]
    mentions = [{(s.text, s.label_) for s in doc.spans["sc"]} for doc in found]
    assert mentions[0] >= {("Bank of Kenya", "ORG"), ("Kenya", "LOC")}
    assert mentions[1] == {("Kenya Times", "PAPER"), ("Kenya", "LOC")}


def test_nothing_new_is_nothing_learned() -> None:
    nlp = begun()
    before = table(nlp).average.copy()
    assert ner(nlp).learn([], epochs=2) == [0, 0]
    np.testing.assert_array_equal(table(nlp).average, before)


def test_what_cannot_learn_alone_is_refused() -> None:
    with pytest.raises(ModelError, match="not initialised"):
        ner(fast()).learn(people(1, 0))
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec")
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 96, "upstream": "*"}
    pipe: Any = nlp.add_pipe("iobes_ner", config={"model": {"tok2vec": listener}})
    nlp.initialize(lambda: people(3, 0))
    with pytest.raises(ModelError, match="listens to a component before it"):
        pipe.learn(people(3, 0))
    with pytest.raises(TypeError, match="learn"):
        ner(begun()).learn(cast(Any, ["Ada"]))
