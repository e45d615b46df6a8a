"""Hashed features: templates, words as numbers, and the table of weights."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
from hashlib import sha256
from itertools import islice
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.tokens import Span as SpacySpan
from spacy.training import Example
from thinc.api import fix_random_seed

from spacy_iobes.errors import ModelError, UnknownNameError
from spacy_iobes.ml import (
    ATTRIBUTES,
    TEMPLATES,
    Extractor,
    FeatureTable,
    Lexemes,
    build_hashed_features,
    read_templates,
    set_states,
)

from .docs import VOCAB

BITS = 24  # so many that features of a few words do not share a row


def doc(text: str) -> Doc:
    return Doc(VOCAB, words=text.split())


def features(extractor: Extractor, *docs: Doc) -> Any:
    offsets = np.cumsum([0, *map(len, docs)], dtype=np.int64)
    return extractor(docs, offsets)


# words


@pytest.mark.parametrize(
    ("word", "answers"),
    [
        ("Lovelace", {"text": "Lovelace", "lower": "lovelace", "shape": "Xxxxxxxx", "kinds": "Xx"}),
        ("U.N.-led", {"shape": "X.X.-xxx", "kinds": "X.X.-x", "prefix2": "U.", "suffix3": "led"}),
        ("1996-08-22", {"digits": "####-##-##", "shape": "dddd-dd-", "kinds": "d-d-d"}),
        ("Äpfel", {"shape": "Xxxxx", "lower": "äpfel", "prefix4": "Äpfe", "suffix1": "l"}),
        ("東京", {"shape": "xx", "kinds": "x", "suffix2": "東京", "suffix3": ""}),
        ("...", {"shape": "...", "kinds": ".", "digits": "", "prefix3": "...", "prefix4": ""}),
        ("\n\n", {"text": "\n\n", "kinds": "\n"}),
        ("٣", {"kinds": "d", "digits": ""}),
    ],
)
def test_attributes_of_words(word: str, answers: dict[str, str]) -> None:
    assert {name: ATTRIBUTES[name](word) for name in answers} == answers


def test_words_are_worked_out_once() -> None:
    asked = []
    lexemes = Lexemes({"text": lambda text: asked.append(text) or text})  # type: ignore[func-returns-value]
    assert lexemes.numbers([doc("a b a"), doc(""), doc("b c")]).tolist() == [0, 1, 0, 1, 2]
    assert lexemes.numbers([doc("c a")]).tolist() == [2, 0]
    assert asked == ["a", "b", "c"]
    assert lexemes.values.shape == (3, 1)


def test_many_words_and_several_vocabularies() -> None:
    lexemes = Lexemes({name: ATTRIBUTES[name] for name in ("text", "suffix4")})
    numbers = lexemes.numbers([doc(" ".join(map(str, range(5000))))])
    assert numbers.tolist() == list(range(5000))
    other = spacy.blank("de").vocab
    words = ["1234", "Straßenbahn"]
    assert lexemes.numbers([Doc(other, words=words)]).tolist() == [1234, 5000]
    assert lexemes.values[1234, 0] == lexemes.values[1234, 1] != 0
    assert lexemes.values[7].tolist()[1] == 0


def test_words_take_no_more_memory_than_so_many_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scores of a pipeline stay those of one that forgets nothing."""
    config = {"model": {"tok2vec": {"@architectures": "spacy-iobes.HashedFeatures.v1"}}}
    nlp = spacy.blank("en")
    nlp.add_pipe("iobes_ner", config=config)
    words = [f"{prefix}{i}" for i in range(3000) for prefix in ("Ada", "in", "B-")]
    first = Doc(nlp.vocab, words=words[:600])
    first.ents = [SpacySpan(first, i, i + 2, "PER") for i in range(0, 600, 3)]
    example = Example(Doc(nlp.vocab, words=words[:600]), first)
    nlp.initialize(lambda: [example])
    for _ in range(3):
        nlp.update([example])
    other = spacy.blank("en")
    other.add_pipe("iobes_ner", config=config)
    other.from_bytes(nlp.to_bytes())
    docs = [Doc(nlp.vocab, words=words[i : i + 250]) for i in range(0, len(words), 250)]
    few = [docs[:4], docs[4:12], docs[2:6], *([each] for each in docs)]

    def scores(nlp: Language, some: list[Doc]) -> str:
        pipe: Any = nlp.get_pipe("iobes_ner")
        found = pipe.model.predict(some).emissions
        assert found.any()
        return sha256(found.tobytes()).hexdigest()

    expected = [scores(nlp, some) for some in few]  # and every cache has all words
    made, sizes = [], []
    tracemalloc.start()
    with monkeypatch.context() as patched:
        patched.setattr("spacy_iobes.ml.lexemes.MOST", 1000)
        for some in few:
            made.append(scores(other, some))
            sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert made == expected
    assert max(sizes[8:]) < 1.1 * max(sizes[:8])


# templates


def test_the_default_templates_are_readable() -> None:
    read = read_templates(TEMPLATES, list(ATTRIBUTES))
    assert read.names == TEMPLATES
    assert set(read.attributes) == {*ATTRIBUTES} - {"casing"}
    assert len(set(read.seeds.tolist())) == len(TEMPLATES)


def test_a_template_in_numbers() -> None:
    read = read_templates(["bias", "shape[-1]  lower", "lower[+2]"], ["lower", "text", "shape"])
    assert read.names == ("bias", "shape[-1] lower", "lower[+2]")
    assert read.attributes == ("lower", "shape")
    assert read.parts.tolist() == [[1, -1], [0, 0], [0, 2]]
    assert read.bounds.tolist() == [0, 0, 2, 3]


@pytest.mark.parametrize("template", ["lower[", "lower[x]", "lower+shape", "lower[1.5]", "[1]"])
def test_what_is_no_template(template: str) -> None:
    with pytest.raises(ValueError, match="is no template"):
        read_templates([template], ["lower", "shape"])


def test_an_unknown_attribute() -> None:
    with pytest.raises(
        UnknownNameError, match=r"'colour' in the template 'lower colour\[1\]'"
    ) as e:
        build_hashed_features(["lower", "lower colour[1]"])
    assert "suffix3" in str(e.value)
    assert "TAG" in str(e.value)


# features of a sentence


def test_features_by_hand() -> None:
    """Two tokens share a feature exactly if what the template looks at is the same."""
    names = ["bias", "lower", "lower[-1]", "kinds[+1]", "prefix3", "lower kinds[+1]"]
    first, second = doc("The cat saw the Cat"), doc("the cat")
    found = features(Extractor(names, BITS), first, second)
    seen = [  # what each template sees: < and > are the ends of a Doc
        ["", "the", "<", "x", "The", "the x"],
        ["", "cat", "the", "x", "cat", "cat x"],
        ["", "saw", "cat", "x", "saw", "saw x"],
        ["", "the", "saw", "Xx", "the", "the Xx"],
        ["", "cat", "the", ">", "Cat", "cat >"],
        ["", "the", "<", "x", "the", "the x"],
        ["", "cat", "the", ">", "cat", "cat >"],
    ]
    for column, texts in zip(found.T.tolist(), zip(*seen)):
        assert [column.index(number) for number in column] == [texts.index(t) for t in texts]
    assert len(set(found.ravel().tolist())) == len({(i, t) for r in seen for i, t in enumerate(r)})


def test_short_words_have_no_long_prefix() -> None:
    found = features(Extractor(["prefix3", "lower prefix3[+1]"], BITS), doc("an island in"))
    assert (found < 0).tolist() == [[True, False], [False, True], [True, False]]


def test_attributes_of_tokens_count_where_they_are_set() -> None:
    tagged, bare = (Doc(VOCAB, words=["a", "b"], tags=tags) for tags in (["X", "Y"], None))
    extractor = Extractor(["lower", "TAG", "TAG[-1] lower"], BITS)
    found, plain = features(extractor, tagged), features(extractor, bare)
    assert (found >= 0).all()
    assert found[:, 0].tolist() == plain[:, 0].tolist()
    assert (plain[:, 1] == -1).all()
    assert plain[1, 2] == -1
    assert plain[0, 2] == found[0, 2]  # nothing stands before either


def test_the_rows_of_features_are_the_same_everywhere() -> None:
    """A stored model has nothing but these numbers to find its weights by."""
    found = features(Extractor(["bias", "lower", "shape[-1] suffix3"], 20), doc("In Kisumu"))
    assert found.tolist() == [[198414, 63254, -1], [198414, 743590, 110624]]


# the table


def table(**settings: Any) -> FeatureTable:
    made = FeatureTable(8, **{"rate": 0.1, "store": "float32", **settings})
    made.set_states(np.array([-1, -1, -1]))
    return made


def ids(*rows: list[int]) -> Any:
    return np.array(rows, dtype=np.int32)


def train(made: FeatureTable, steps: int, seed: int = 0) -> FeatureTable:
    random = np.random.default_rng(seed)
    for _ in range(steps):
        rows = random.integers(0, 100, (5, 4)).astype(np.int32)
        _, learn = made.begin_update(rows)
        learn(random.normal(size=(5, 3)).astype(np.float32))
        made.finish_update(None)
    return made


def test_what_was_never_seen_scores_nothing() -> None:
    made = train(table(), 3)
    assert made.predict(ids([200, -1], [201, 202])).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_the_average_counts_late_weights_more() -> None:
    """The weights after step t count t * t times."""
    made, every, counts = table(), [], []
    for number in range(1, 8):
        train(made, 1, number)
        size = np.zeros((100, 3))
        size[: made.count] = made.weights[: made.count]
        every.append(size)
        counts.append(number**2)
    expected = np.average(every, axis=0, weights=counts)[: made.count]
    np.testing.assert_allclose(made.average, expected, atol=1e-6)


def test_gradients_add_up_until_a_step() -> None:
    first, second = ids([1, 2]), ids([2, 3])
    gradient = np.array([[1.0, -2.0, 0.5]], dtype=np.float32)
    apart, at_once = table(), table()
    for rows in (first, second):
        apart.begin_update(rows.copy())[1](gradient)
    at_once.begin_update(np.vstack([first, second]))[1](np.vstack([gradient, gradient]))
    for made in (apart, at_once):
        made.finish_update(None)
        made.finish_update(None)  # nothing is left to do
    assert apart.weights.tolist() == at_once.weights.tolist()
    assert apart.steps == 1


def test_dropout_leaves_features_out_and_expected_scores_alone() -> None:
    made = train(table(), 20)
    rows = ids([*range(40)])
    whole = made.begin_update(rows.copy())[0]
    made.dropout, made.drawn = 0.4, 0
    drawn = [made.begin_update(rows.copy())[0] for _ in range(4000)]
    np.testing.assert_allclose(np.mean(drawn, axis=0), whole, atol=0.05)
    kept = rows.copy()
    _, learn = made.begin_update(kept)
    assert 10 < (kept >= 0).sum() < 35
    learn(np.ones((1, 3), dtype=np.float32))
    assert made.gradients[-1][1][0] == pytest.approx(np.full(3, 1 / 0.6), rel=1e-4)
    assert made.predict(rows.copy()).tolist() == made.predict(rows.copy()).tolist()


def test_prediction_between_a_pass_and_its_step() -> None:
    """New features have a row already, but no weights that count."""
    made = train(table(), 3)
    made.predict(ids([1]))
    made.begin_update(ids([*range(100, 250)]))
    assert made.predict(ids([240, 249])).tolist() == [[0, 0, 0]]


def test_storage_holds_the_rows_in_use() -> None:
    made = train(table(), 30)
    size = len(made.to_bytes())
    assert size < made.count * (3 * 4 + 4 + 4) + 400
    made.store = "float16"
    assert len(made.to_bytes()) == pytest.approx(size - made.count * 3 * 2, abs=20)


def test_a_loaded_table_predicts_the_same_and_learns_on() -> None:
    made = train(table(), 30)
    rows = ids([1, 2, 3, 200], [5, 5, 7, -1])
    loaded = table().from_bytes(made.to_bytes())
    assert loaded.predict(rows.copy()).tolist() == made.predict(rows.copy()).tolist()
    assert loaded.to_bytes() == made.to_bytes()
    train(loaded, 3)
    moved = np.abs(loaded.weights[:80] - made.average[:80]).max()
    assert 0 < moved < 0.1  # the steps are as small as they had become


def test_features_with_small_weights_are_not_stored() -> None:
    made = train(table(), 30)
    features = made.used[: made.count].tolist()
    before = {feature: weight(made, feature) for feature in features}
    sizes = sorted(max(map(abs, values)) for values in before.values())
    made.least = sizes[len(sizes) // 2]
    loaded = table(least=made.least).from_bytes(made.to_bytes())
    for feature, values in before.items():
        large = max(map(abs, values)) >= made.least
        assert weight(loaded, feature) == (values if large else [0.0, 0.0, 0.0])
    assert loaded.count == len(sizes) - len(sizes) // 2
    assert loaded.to_bytes() == made.to_bytes()  # what is stored again does not shrink again


def weight(made: FeatureTable, feature: int) -> list[float]:
    """The weights of one feature."""
    (found,) = made.predict(ids([feature])).tolist()
    return [float(value) for value in found]


def test_half_precision_is_nearly_the_same() -> None:
    made = train(table(store="float16"), 30)
    loaded = table().from_bytes(made.to_bytes())
    rows = ids([1, 2, 3], [5, 6, 7])
    wanted = made.predict(rows.copy())
    np.testing.assert_allclose(loaded.predict(rows.copy()), wanted, rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_a_copy_goes_on_as_the_original_does(duplicate: Any) -> None:
    fix_random_seed(0)
    made = train(table(dropout=0.3), 10)
    other = train(duplicate(made), 10, seed=1)
    train(made, 10, seed=1)
    assert other.to_bytes() == made.to_bytes()
    assert other.weights.tolist() == made.weights.tolist()


def test_more_states_keep_what_is_known() -> None:
    made = train(table(), 10)
    rows = ids([1, 2, 3])
    before = made.predict(rows.copy())
    made.set_states(np.array([-1] * 5))
    assert made.predict(rows.copy()).tolist() == [[*before[0], 0.0, 0.0]]


def test_the_states_of_a_label_share_weights() -> None:
    """What is learned of one tag of a label is learned of its others too."""
    made = table()
    made.set_states(np.array([-1, 0, 0, 1, 1]))
    scores, learn = made.begin_update(ids([3, 4]))
    assert scores.tolist() == [[0, 0, 0, 0, 0]]
    learn(np.array([[1.0, -1.0, 0.0, 0.0, 0.0]], dtype=np.float32))
    made.finish_update(None)
    outside, seen, same, *others = made.predict(ids([3, 4]))[0].tolist()
    assert outside < 0 < same < seen
    assert others == [0, 0]
    loaded = table().from_bytes(made.to_bytes())
    assert loaded.predict(ids([3, 4])).tolist() == made.predict(ids([3, 4])).tolist()


def test_a_label_more_keeps_what_labels_share() -> None:
    made = table()
    made.set_states(np.array([-1, 0, 0]))
    _, learn = made.begin_update(ids([3, 4]))
    learn(np.array([[1.0, -1.0, 0.0]], dtype=np.float32))
    made.finish_update(None)
    before = made.predict(ids([3, 4]))
    made.set_states(np.array([-1, 0, 0, 1, 1]))
    assert made.predict(ids([3, 4])).tolist() == [[*before[0], 0.0, 0.0]]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_damaged_weights_are_refused(value: float) -> None:
    made = train(table(), 3)
    made.average[0, 0] = value
    with pytest.raises(ModelError, match="NaN"):
        table().from_bytes(made.to_bytes())


def test_rare_features_learn_less_with_damping() -> None:
    """One step, by hand: the rate times the gradient through the root of damping and its square."""
    made = table(damping=16.0, rate=0.5)
    _, learn = made.begin_update(ids([7]))
    learn(np.array([[3.0, 0.0, 0.0]], dtype=np.float32))
    made.finish_update(None)
    assert made.weights[0] == pytest.approx([-0.5 * 3 / 5, 0, 0])
    again = table(damping=16.0, rate=0.5).from_bytes(made.to_bytes())
    _, learn = again.begin_update(ids([7], [8]))
    learn(np.array([[0.0, 12.0, 0.0], [0.0, 3.0, 0.0]], dtype=np.float32))
    again.finish_update(None)
    assert again.weights[0] == pytest.approx([-0.3, -0.5 * 12 / 13, 0])  # 16 + 9 + 144
    assert again.weights[1] == pytest.approx([0, -0.5 * 3 / 5, 0])


def test_another_number_of_rows_is_refused() -> None:
    other = FeatureTable(9, rate=0.1, store="float32")
    with pytest.raises(ModelError, match=r"2 \*\* 8 rows, but the config says 2 \*\* 9"):
        other.from_bytes(table().to_bytes())


# the encoder


@pytest.mark.parametrize(
    "settings",
    [
        {"rows": 1000},
        {"rows": 0},
        {"rows": 1},
        {"rate": 0.0},
        {"rate": float("nan")},
        {"l2": -1.0},
        {"dropout": 1.0},
        {"least": -0.1},
        {"damping": -1},
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, Any]) -> None:
    said = r"rows is a power of two|dropout is a prob|rate is the|(l2|least|damping) is 0 or more"
    with pytest.raises(ValueError, match=said):
        build_hashed_features(**settings)


def encoder(**settings: Any) -> Any:
    model = build_hashed_features(**{"rows": 2**12, **settings})
    set_states(model, np.array([-1, 0, 0, 1]))
    model.initialize()
    return model


def test_the_encoder_gives_a_row_for_each_token() -> None:
    model = encoder()
    docs = [doc("a b c"), doc(""), doc("d")]
    assert [rows.shape for rows in model.predict(docs)] == [(3, 4), (0, 4), (1, 4)]
    scores, backprop = model.begin_update(docs)
    assert [rows.shape for rows in scores] == [(3, 4), (0, 4), (1, 4)]
    assert backprop(scores) == []
    assert model.predict([]) == []


def test_its_gradient_by_differences() -> None:
    """Of a score that is not linear in the weights, with features left out."""
    model, docs = encoder(dropout=0.25), [doc("a b a"), doc("c a")]
    weight: Any = model.shims[0]

    def run() -> tuple[Any, Any]:
        weight.drawn = 1
        return model.begin_update(docs)  # type: ignore[no-any-return]

    run()
    random = np.random.default_rng(0)
    weight.weights[: weight.count] = random.normal(size=(weight.count, 4))
    scores, backprop = run()
    backprop([np.cos(rows) for rows in scores])
    rows, gradient = weight.gradients[-1]
    for row, state in islice(zip(random.permutation(weight.count), random.integers(0, 4, 99)), 30):
        exact = sum(float(gradient[n, state]) for n, f in np.argwhere(rows == row))
        ends = []
        for change in (0.01, -0.01):
            weight.weights[row, state] += change
            ends.append(sum(np.sin(r.astype(float)).sum() for r in run()[0]))
            weight.weights[row, state] -= change
        assert (ends[0] - ends[1]) / 0.02 == pytest.approx(exact, abs=2e-3)


def test_copies_of_the_encoder_learn_apart() -> None:
    model = encoder(dropout=0.0)
    other = model.copy()
    scores, backprop = other.begin_update([doc("a b")])
    backprop([rows + 1 for rows in scores])
    other.finish_update(None)
    assert np.abs(other.predict([doc("a b")])[0]).max() > 0
    assert np.abs(model.predict([doc("a b")])[0]).max() == 0


def test_a_very_long_doc() -> None:
    model = encoder()
    long = Doc(VOCAB, words=[f"w{i % 500}" for i in range(100_000)])
    assert model.predict([long])[0].shape == (100_000, 4)
    scores, backprop = model.begin_update([long])
    backprop([rows + 1 for rows in scores])
    model.finish_update(None)
    assert np.isfinite(model.predict([long])[0]).all()


# what else a config may say


def test_templates_are_a_list() -> None:
    with pytest.raises(ValueError, match=r"templates are a list of them, .*, not 'lower'"):
        build_hashed_features("lower")


@pytest.mark.parametrize(
    ("stored", "config", "message"),
    [
        ({}, {"document": True}, "'after_earlier', 'after_first', 'after_later'"),
        ({"clusters": "en"}, {}, "'cluster', 'cluster "),
        ({"templates": ["lower", "bias"]}, {"templates": ["lower"]}, "'bias'"),
        ({"templates": ["lower", "bias"]}, {"templates": ["bias", "lower"]}, "their order"),
        ({"gazetteers": {"a": "x"}}, {"gazetteers": {"b": "x"}}, "'in_a', 'in_a[+1]', "),
        ({"gazetteers": {"a": "x", "b": "x"}}, {"gazetteers": {"b": "x", "a": "x"}}, "their order"),
    ],
)
def test_a_config_with_other_features_is_refused(
    stored: dict[str, Any], config: dict[str, Any], message: str
) -> None:
    data = build_hashed_features(**stored).to_bytes()
    with pytest.raises(ModelError, match="trained with other feature templates than") as caught:
        build_hashed_features(**config).from_bytes(data)
    assert f"({message}" in str(caught.value)
    build_hashed_features(**stored).from_bytes(data)


def test_empty_docs_have_no_attributes() -> None:
    model = encoder(templates=["TAG", "POS"])
    assert model.predict([]) == []
    assert [rows.shape for rows in model.predict([doc(""), doc("a"), doc("")])] == [
        (0, 4),
        (1, 4),
        (0, 4),
    ]
