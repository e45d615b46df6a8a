"""`iobes_ner` as a component of spaCy: labels, training, storage, pipelines around it."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.lang.en import English
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Config, fix_random_seed

from spacy_iobes import score
from spacy_iobes.errors import MalformedTagsError, ModelError

from . import by_hand
from .docs import BLANK, stored, with_entities
from .recognizers import (
    CNN,
    SENTENCES,
    entities,
    example,
    examples,
    known,
    learn,
    make,
    ner,
    parameters,
    scatter,
    weights,
)

TEXTS = [text for text, _ in SENTENCES]
TRUTH = [
    [(0, 1, "PER"), (3, 5, "LOC")],
    [(0, 2, "LOC"), (3, 5, "PER")],
    [(0, 1, "PER"), (3, 4, "LOC")],
]


@pytest.fixture(scope="module")
def trained() -> Language:
    """A pipeline that knows its sentences by heart; not to be changed."""
    return learn(make(scores=True), examples())


def check(nlp: Language, n_process: int = 1) -> None:
    """That a pipeline still knows them."""
    docs = list(nlp.pipe(TEXTS, n_process=n_process, batch_size=2))
    assert entities(docs) == TRUTH
    assert all(doc.spans["iobes_ner"].attrs["scores"].min() > 0.5 for doc in docs)


def same(one: Language, other: Language) -> None:
    """That two pipelines believe the same, down to the last digit."""
    docs = [one.make_doc(text) for text in TEXTS]
    for a, b in zip(ner(one).marginals(docs), ner(other).marginals(docs)):
        np.testing.assert_array_equal(a, b)


# overfitting, and the ways to store what was learned


def test_overfitting(trained: Language) -> None:
    check(trained)
    scores = trained.evaluate(examples())
    assert (scores["iobes_f"], scores["ents_f"], scores["iobes_violations"]) == (1.0, 1.0, 0)


def test_disk(trained: Language, tmp_path: Path) -> None:
    trained.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    check(again)
    same(trained, again)
    assert ner(again).labels == ("LOC", "PER")


def test_bytes(trained: Language) -> None:
    again = make(scores=True).from_bytes(trained.to_bytes())
    check(again)
    same(trained, again)
    same(trained, again.from_bytes(trained.to_bytes()))


def test_component_bytes_and_disk(trained: Language, tmp_path: Path) -> None:
    ner(trained).to_disk(tmp_path / "pipe")
    one, other = make(scores=True), make(scores=True)
    ner(one).from_disk(tmp_path / "pipe")
    ner(other).from_bytes(ner(trained).to_bytes())
    for nlp in (one, other):
        check(nlp)
        same(trained, nlp)


def test_pipe_is_call(trained: Language) -> None:
    texts = [*TEXTS, "", "Paris", "   ", "Anna\n\nLee lives"]
    one, two = (list(trained.pipe(texts, batch_size=3)) for _ in range(2))
    called = [trained(text) for text in texts]
    for a, b, c in zip(one, two, called):
        assert a.to_bytes() == b.to_bytes()
        assert entities([a]) == entities([c])
        np.testing.assert_allclose(*(d.spans["iobes_ner"].attrs["scores"] for d in (a, c)))


def test_two_processes(trained: Language) -> None:
    check(trained, n_process=2)


def test_pickle(trained: Language) -> None:
    again = pickle.loads(pickle.dumps(trained))
    check(again)
    same(trained, again)
    pipe = pickle.loads(pickle.dumps(ner(trained)))
    assert (pipe.labels, pipe.scheme.name) == (ner(trained).labels, "iobes")
    assert entities(map(pipe, map(trained.make_doc, TEXTS))) == TRUTH


def test_config_round_trip(trained: Language) -> None:
    text = trained.config.to_str()
    config = Config().from_str(text, interpolate=False)
    again = English.from_config(config, auto_fill=False)
    assert again.config == trained.config
    check(again.from_bytes(trained.to_bytes()))


def test_settings_are_in_the_config() -> None:
    settings = {
        "scheme": "bilou",
        "objective": "softmax",
        "entity_bias": 0.5,
        "sentence_bound": True,
        "scores": True,
        "spans_key": "mine",
        "threshold": 0.25,
        "incorrect_spans_key": "wrong",
        "misaligned": "missing",
    }
    nlp = make(**settings)
    assert settings.items() <= nlp.config["components"]["iobes_ner"].items()
    pipe = ner(English.from_config(nlp.config))
    assert (pipe.scheme.name, pipe.entity_bias, pipe.misaligned) == ("bilou", 0.5, "missing")
    assert (pipe.sentence_bound, pipe.scores, pipe.spans_key) == (True, True, "mine")
    assert (pipe.threshold, pipe.incorrect_spans_key) == (0.25, "wrong")
    assert pipe.objective.__name__ == "softmax"


def test_defaults() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("iobes_ner")
    pipe = ner(nlp)
    assert (pipe.scheme.name, pipe.objective.__name__, pipe.entity_bias) == ("iobes", "crf", 0.0)
    assert nlp.config["components"]["iobes_ner"]["model"]["tok2vec"]["width"] == 96
    weights = nlp.config["training"]["score_weights"]
    assert (weights["iobes_f"], weights["iobes_signature"]) == (1.0, None)


def test_analyze_pipes(trained: Language) -> None:
    report: Any = trained.analyze_pipes(pretty=False)
    assert report["problems"] == {"iobes_ner": []}
    assert report["summary"]["iobes_ner"]["assigns"][0] == "doc.ents"
    assert "iobes_f" in report["summary"]["iobes_ner"]["scores"]


# labels


def test_labels_of_the_data() -> None:
    nlp = make()
    nlp.initialize(examples)
    assert ner(nlp).labels == ("LOC", "PER")
    assert ner(nlp).label_data == ("LOC", "PER")


def test_labels_beyond_the_sample_are_found() -> None:
    nlp = make()
    many = [*[example(["O"])] * 30, example(["B-late"]), example(["-", "B-part"])]
    nlp.initialize(lambda: many)
    assert ner(nlp).labels == ("late", "part")


def test_labels_that_are_added_come_first() -> None:
    nlp = make()
    assert ner(nlp).add_label("PER") == 1
    assert ner(nlp).add_label("PER") == 0
    nlp.initialize(examples)
    assert ner(nlp).labels == ("PER", "LOC")
    assert "PER" in nlp.vocab.strings


def test_labels_that_are_given() -> None:
    nlp = make()
    pipe = ner(nlp)
    pipe.initialize(examples, nlp=nlp, labels=["PER", "B-side", "LOC", "O"])
    assert pipe.labels == ("PER", "B-side", "LOC", "O")
    learn_more(nlp, [*examples(), example(["B-B-side", "I-B-side", "B-O"], ["la", "le", "lu"])])
    assert entities([nlp("la le lu")]) == [[(0, 2, "B-side"), (2, 3, "O")]]


def optimizer_of(nlp: Language) -> Any:
    """A new optimizer."""
    make_optimizer: Any = nlp.create_optimizer
    optimizer = make_optimizer()
    optimizer.learn_rate = 0.03
    return optimizer


def learn_more(nlp: Language, pairs: list[Example], steps: int = 30) -> None:
    optimizer = optimizer_of(nlp)
    for _ in range(steps):
        nlp.update(pairs, sgd=optimizer)


def test_labels_in_the_config(trained: Language, tmp_path: Path) -> None:
    """As `spacy init labels` writes them, and as a list."""
    (tmp_path / "labels.json").write_text(json.dumps(ner(trained).label_data))
    reader = {"@readers": "spacy.read_labels.v1", "path": str(tmp_path / "labels.json")}
    for labels in (reader, ["LOC", "PER"]):
        nlp = make()
        nlp.config["initialize"]["components"]["iobes_ner"] = {"labels": labels}
        nlp.initialize(lambda: [example(["O"])])
        assert ner(nlp).labels == ("LOC", "PER")


def test_no_labels() -> None:
    nlp = make(scores=True)
    nlp.initialize()
    assert ner(nlp).labels == ()
    assert entities([nlp("a b")]) == [[]]
    nlp.update([example(["O", "-"])])
    assert ner(nlp).expected_counts([nlp.make_doc("a b")]) == [{}]
    assert [a.spans for a in ner(nlp).nbest([nlp.make_doc("a b")], 3)[0]] == [[]]


def test_one_label() -> None:
    pairs = [example(["B-X", "O"], ["Anna", "is"]), example(["O", "B-X"], ["is", "Lee"])]
    nlp = learn(make(), pairs)
    assert nlp.evaluate(pairs)["iobes_f"] == 1.0


def test_only_outside() -> None:
    nlp = learn(make(), [example(["O", "O"]), example(["O"])], steps=2)
    scores = nlp.evaluate([example(["O"])])
    assert (scores["iobes_f"], scores["ents_f"]) == (None, None)


def test_a_label_that_is_added_later(tmp_path: Path) -> None:
    pipe, doc = known("iobes", spread=2.0), example(["O"] * 4).predicted
    before, old = pipe.model.predict([doc]), parameters(pipe)
    pipe.add_label("Z")
    after, new = pipe.model.predict([doc]), parameters(pipe)
    np.testing.assert_array_equal(after.emissions[:, :9], before.emissions)
    np.testing.assert_array_equal(after.step[:9, :9], before.step)
    np.testing.assert_array_equal(after.start[:9], before.start)
    np.testing.assert_array_equal(after.stop[:9], before.stop)
    assert after.emissions.shape == (4, 13)
    for name, values in new.items():
        assert values.sum() == pytest.approx(old[name].sum())  # all that is new is 0
    assert pipe.tags.states.tags == by_hand.all_tags("iobes", ["X", "Y", "Z"])


@pytest.mark.parametrize("new_optimizer", [False, True])
def test_a_new_label_is_learned(tmp_path: Path, new_optimizer: bool) -> None:
    nlp = make(scores=True)
    optimizer = nlp.initialize(examples)
    optimizer.learn_rate = 0.03
    for _ in range(20):
        nlp.update(examples(), sgd=optimizer)
    ner(nlp).add_label("DATE")
    if new_optimizer:
        optimizer = nlp.resume_training()
        optimizer.learn_rate = 0.03
    pairs = [*examples(), example(["O", "B-DATE"], ["on", "Monday"])]
    for _ in range(20):
        nlp.update(pairs, sgd=optimizer)
    assert nlp.evaluate(pairs)["iobes_f"] == 1.0
    with nlp.use_params(optimizer.averages):
        nlp.evaluate(pairs)
    check(nlp)
    nlp.to_disk(tmp_path)
    check(spacy.load(tmp_path))
    same(nlp, spacy.load(tmp_path))
    assert [ent.label_ for ent in spacy.load(tmp_path)("on Monday").ents] == ["DATE"]


def test_a_second_initialisation_starts_anew() -> None:
    nlp = learn(make(), examples(), steps=5)
    nlp.initialize(lambda: [example(["B-NEW"])])
    assert ner(nlp).labels == ("LOC", "PER", "NEW")
    assert not np.any(weights(ner(nlp), "W"))


# sizes


def test_empty_docs(trained: Language) -> None:
    docs = list(trained.pipe(["", "", TEXTS[0], ""], batch_size=2))
    assert entities(docs) == [[], [], TRUTH[0], []]
    assert [len(doc.spans["iobes_ner"].attrs["scores"]) for doc in docs] == [0, 0, 2, 0]
    assert len(trained("").ents) == 0


def test_a_corpus_of_empty_docs() -> None:
    nlp = learn(make(), [example([]), example([])], steps=2)
    assert entities([nlp("a b"), nlp("")]) == [[], []]


def test_a_very_long_doc(trained: Language) -> None:
    words = [word for text in TEXTS for word in text.split()]
    times = 100_000 // len(words) + 1
    doc = Doc(trained.vocab, words=words * times)
    assert len(doc) >= 100_000
    trained.get_pipe("iobes_ner")(doc)
    short = ner(trained)(Doc(trained.vocab, words=words * 3))
    middle = [(ent.text, ent.label_) for ent in short.ents if ent.start >= len(words)]
    per_round = len(middle) // 2
    found = [(ent.text, ent.label_) for ent in doc.ents]
    assert found[per_round : 2 * per_round] == middle[:per_round]
    assert len(found) == per_round * times
    assert len(doc.spans["iobes_ner"].attrs["scores"]) == len(doc.ents)


def test_a_very_long_doc_is_learned_from() -> None:
    words, tags = ["a", "b", "c", "d"] * 25_000, ["B-X", "I-X", "O", ""] * 25_000
    doc = Doc(BLANK.vocab, words=words, ents=tags)
    pipe = known("iobes")
    scores, backprop = pipe.model.begin_update([doc])
    loss, gradient = pipe.get_loss([Example(doc, doc)], scores)
    backprop(gradient)
    assert 0 < loss < np.inf
    assert gradient.emissions.shape == (100_000, 9)
    assert np.isfinite(gradient.emissions).all()


# incomplete data


def test_incomplete_data() -> None:
    """Missing in one example, annotated in another; a Doc that says nothing at all is no harm."""
    pairs = [
        example(["B-PER", "O", "O", "-", "-", "O"], TEXTS[0].split()),
        example(["-", "-", "O", "B-PER", "I-PER", "O"], TEXTS[1].split()),
        example(["-", "-", "-", "B-LOC", "O"], TEXTS[2].split()),
        example(["-", "-", "O", "O", "O", "O"], ["New", "York", "is", "a", "big", "city"]),
        example(["B-LOC", "I-LOC", "O", "-", "-", "-"], ["New", "York", "is", "for", "Anna", "."]),
        example(["-"] * 4),
    ]
    nlp = learn(make(), pairs)
    doc = nlp(TEXTS[0])
    assert (doc[0].ent_type_, doc[1].ent_iob_, doc[2].ent_iob_) == ("PER", "O", "O")
    assert nlp.evaluate(pairs)["iobes_f"] == 1.0


# training goes on, or does not


def test_resume(tmp_path: Path) -> None:
    learn(make(), examples(), steps=5).to_disk(tmp_path)
    nlp = spacy.load(tmp_path)
    optimizer = nlp.resume_training()
    optimizer.learn_rate = 0.03
    values = []
    for _ in range(25):
        losses: dict[str, float] = {}
        nlp.update(examples(), sgd=optimizer, losses=losses)
        values.append(losses["iobes_ner"])
    assert values[-1] < values[0]
    assert nlp.evaluate(examples())["iobes_f"] == 1.0


def test_frozen() -> None:
    nlp = learn(make(), examples(), steps=3)
    nlp.add_pipe("tagger")
    before = {name: values.copy() for name, values in parameters(ner(nlp)).items()}
    pair = examples()[0]
    for token in pair.reference:
        token.tag_ = "N"
    nlp.get_pipe("tagger").initialize(lambda: [pair], nlp=nlp)  # type: ignore[attr-defined]
    nlp.update([pair], exclude=["iobes_ner"], sgd=optimizer_of(nlp))
    for name, values in parameters(ner(nlp)).items():
        np.testing.assert_array_equal(values, before[name])


def test_sourced(trained: Language) -> None:
    nlp = spacy.blank("en", vocab=trained.vocab)
    nlp.add_pipe("iobes_ner", source=trained)
    check(nlp)
    assert nlp.config["components"] == trained.config["components"]


def test_select_pipes(trained: Language) -> None:
    with trained.select_pipes(disable="iobes_ner"):
        assert stored(trained("Anna lives")) == ["-", "-"]
    check(trained)


def test_annotations_for_components_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    nlp = learn(make(), examples())
    nlp.add_pipe("iobes_ner", name="second", config={"model": {"tok2vec": CNN}})
    second: Any = nlp.get_pipe("second")
    second.initialize(examples, nlp=nlp)
    seen: list[Any] = []

    def update(pairs: list[Example], **kwargs: Any) -> None:
        seen.append(entities(pair.predicted for pair in pairs))

    monkeypatch.setattr(second, "update", update)
    nlp.update(examples(), annotates=["iobes_ner"])
    nlp.update(examples())
    assert seen == [TRUTH, [[], [], []]]


def test_a_bad_doc_goes_to_the_error_handler(trained: Language) -> None:
    bad = with_entities(["O", "I-LOC"], trained.vocab)
    good = trained.make_doc(TEXTS[0])
    with pytest.raises(MalformedTagsError):
        list(trained.pipe([bad]))
    seen = []

    def note(name: str, pipe: Any, docs: list[Doc], error: Exception) -> Any:
        seen.append((name, len(docs)))

    trained.set_error_handler(note)
    try:
        done = list(trained.pipe([bad, good], batch_size=1))
    finally:
        trained.set_error_handler(spacy.util.raise_error)
    assert (seen, entities(done)) == ([("iobes_ner", 1)], [TRUTH[0]])


def test_docs_of_another_vocabulary(trained: Language) -> None:
    doc = Doc(BLANK.vocab, words=TEXTS[0].split())
    assert entities([ner(trained)(doc)]) == [TRUTH[0]]
    assert [ent.label_ for ent in doc.ents] == ["PER", "LOC"]


# a shared encoder


def listening(*names: str) -> Language:
    """Recognisers that listen to one encoder."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec", config={"model": CNN})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 16, "upstream": "*"}
    for name in names or ("iobes_ner",):
        config = {"model": {"tok2vec": listener}, "scores": True}
        nlp.add_pipe("iobes_ner", name=name, config=config)
    return nlp


def embedding(nlp: Language) -> Any:
    model: Any = nlp.get_pipe("tok2vec").model  # type: ignore[attr-defined]
    return next(n for n in model.walk() if n.name == "hashembed").get_param("E").copy()


def test_a_listener_learns_and_teaches(tmp_path: Path) -> None:
    nlp = listening()
    optimizer = nlp.initialize(examples)
    before = embedding(nlp)
    optimizer.learn_rate = 0.03
    for _ in range(30):
        nlp.update([*examples(), example([])], sgd=optimizer)
    assert (embedding(nlp) != before).any()
    check(nlp)
    assert entities(nlp.pipe(["", TEXTS[0]])) == [[], TRUTH[0]]
    nlp.update([example([])], sgd=optimizer)
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    check(again)
    again.replace_listeners("tok2vec", "iobes_ner", ["model.tok2vec"])
    again.remove_pipe("tok2vec")
    check(again)
    alone = spacy.blank("en", vocab=again.vocab)
    alone.add_pipe("iobes_ner", source=again)
    check(alone)
    ner(again).add_label("MORE")
    again.update(examples(), sgd=optimizer_of(again))


def test_questions_about_docs_that_a_listener_has_not_heard_of() -> None:
    """They have no vectors; a listener would take these for 0 and answer something."""
    nlp = learn(listening(), examples(), steps=2)
    pipe, heard, unheard = ner(nlp), nlp(TEXTS[0]), nlp.make_doc(TEXTS[0])
    message = "iobes_ner listens to .* the Doc 'Anna lives in New York .' has not been through"
    assert pipe.nbest([heard, nlp("")], 1)
    assert pipe.expected_counts([nlp.make_doc("")]) == [{"LOC": 0.0, "PER": 0.0}]
    for ask in (pipe.marginals, pipe.expected_counts, lambda docs: pipe.nbest(docs, 2)):
        with pytest.raises(ModelError, match=message):
            ask([heard, unheard])
    with pytest.raises(ModelError, match=message):
        pipe.span_probability(unheard, 0, 1, "PER")


def test_a_frozen_encoder_that_annotates() -> None:
    nlp = listening()
    optimizer = nlp.initialize(examples)
    before = embedding(nlp)
    optimizer.learn_rate = 0.03
    for _ in range(30):
        nlp.update(examples(), sgd=optimizer, exclude=["tok2vec"], annotates=["tok2vec"])
    np.testing.assert_array_equal(embedding(nlp), before)
    check(nlp)


def test_two_recognisers_share_an_encoder() -> None:
    nlp = learn(listening("iobes_ner", "second"), examples())
    check(nlp)
    assert nlp.evaluate(examples(), per_component=True)["second"]["iobes_f"] == 1.0


# scores


def test_evaluate_is_score(trained: Language) -> None:
    """On a model that is wrong here and there."""
    nlp = make().from_bytes(trained.to_bytes())
    random = np.random.default_rng(0)
    for _ in range(10):
        scatter(ner(nlp), random, 2.0)
        pairs = list(more_examples(40, random))
        scores = nlp.evaluate(pairs)
        found = [entities([doc])[0] for doc in nlp.pipe(pair.reference.text for pair in pairs)]
        gold = entities(pair.reference for pair in pairs)
        report = score(gold, found)
        figures = [scores[f"iobes_{key}"] for key in "prf"]
        assert figures == [figure or 0 for figure in report.micro]
        assert scores["ents_f"] == scores["iobes_f"]
        assert scores["ents_per_type"] == scores["iobes_f_per_type"]
        assert set(scores["iobes_f_per_type"]) == {"LOC", "PER"}
        own = spacy.scorer.Scorer.score_spans(annotated(nlp, pairs), "ents")
        assert figures == pytest.approx([own[f"ents_{key}"] for key in "prf"])


def annotated(nlp: Language, pairs: list[Example]) -> list[Example]:
    return [Example(nlp(pair.reference.text), pair.reference) for pair in pairs]


def more_examples(number: int, random: np.random.Generator) -> Iterator[Example]:
    words = [word for text in TEXTS for word in text.split() if word != "."]
    for length in islice(random.integers(1, 8, size=number), number):
        legal = list(by_hand.legal_sequences(min(int(length), 4), "bio", ("LOC", "PER")))
        tags = list(legal[random.integers(len(legal))])
        yield example(tags, [words[i] for i in random.integers(len(words), size=len(tags))])


def test_missing_annotation_is_neither_right_nor_wrong(trained: Language) -> None:
    pairs = [example(["-", "O", "O", "B-LOC", "I-LOC", "O"], TEXTS[0].split())]
    scores = trained.evaluate(pairs)
    assert (scores["iobes_p"], scores["iobes_r"]) == (1.0, 1.0)


def test_another_scorer() -> None:
    scorer = {"@scorers": "spacy-iobes.span_scorer.v1", "scheme": None, "policy": None}
    scores = learn(make(scorer=scorer), examples(), steps=1).evaluate(examples())
    assert "ents_f" not in scores
    assert "scheme:iobes" not in scores["iobes_signature"]
