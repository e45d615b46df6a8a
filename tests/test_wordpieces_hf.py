"""Word pieces from a real token classifier: a small BERT with random weights, made on the spot."""

from __future__ import annotations

import random
import warnings
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc

from spacy_iobes import parse
from spacy_iobes.corpus import token_tags

pytest.importorskip("torch")
transformers: Any = pytest.importorskip("transformers")
tokenizers: Any = pytest.importorskip("tokenizers")
pytestmark = pytest.mark.filterwarnings("ignore")  # of libraries that are not ours

TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
TEXT = "Ada Lovelace wrote notes about the analytical engine of Charles Babbage Nairobi Kisumu"
WORDS = TEXT.split()
STRATEGIES = {"first": "first", "strongest": "max"}  # ours, and what transformers calls it


@pytest.fixture(scope="module")
def classify(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A pipeline with a WordPiece tokenizer that knows only letters and a few of their pairs."""
    folder: Path = tmp_path_factory.mktemp("bert")
    wordpiece = tokenizers.BertWordPieceTokenizer(lowercase=False)
    wordpiece.train_from_iterator([TEXT], vocab_size=80, show_progress=False)
    wordpiece.save_model(str(folder))
    fast = transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt"), do_lower_case=False)
    transformers.set_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(fast),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        initializer_range=1.0,
        id2label=dict(enumerate(TAGS)),
        label2id={tag: number for number, tag in enumerate(TAGS)},
    )
    model = transformers.BertForTokenClassification(config).eval()
    model.classifier.bias.data[0] = 3.0  # some pieces are outside
    return transformers.pipeline("token-classification", model=model, tokenizer=fast, device="cpu")


def texts() -> list[str]:
    choose = random.Random(0)
    return [" ".join(choose.choices(WORDS, k=choose.randint(1, 12))) for _ in range(40)]


def words(text: str) -> Doc:
    return Doc(spacy.blank("en").vocab, text.split())


@pytest.mark.parametrize("how", sorted(STRATEGIES))
def test_the_spans_are_those_of_the_pipeline(classify: Any, how: str) -> None:
    """With all pieces at hand, tags and `begin` give what transformers itself aggregates."""
    pieces_of_words, spans = 0, 0
    for text in texts():
        doc = words(text)
        pieces = classify(text, aggregation_strategy="none", ignore_labels=[])
        pieces_of_words += len(pieces) - len(doc)
        tags = token_tags(doc, pieces, scheme="bio", how=how)
        groups = classify(text, aggregation_strategy=STRATEGIES[how])
        expected = [(row["start"], row["end"], row["entity_group"]) for row in groups]
        found = [(doc[a:b], label) for a, b, label in parse(tags, "bio", "begin")]
        assert [(span.start_char, span.end_char, label) for span, label in found] == expected
        spans += len(expected)
    assert pieces_of_words > 200
    assert spans > 50


def test_pieces_that_the_pipeline_leaves_out_are_outside(classify: Any) -> None:
    dropped = 0
    for text in texts():
        every = classify(text, aggregation_strategy="none", ignore_labels=[])
        some = classify(text, aggregation_strategy="none")
        dropped += len(every) - len(some)
        doc = words(text)
        assert token_tags(doc, some, scheme="bio") == token_tags(doc, every, scheme="bio")
    assert dropped > 100


def test_into_a_pipeline(classify: Any) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("iobes_repairer", config={"scheme": "bio", "policy": "begin"})
    doc = nlp.make_doc("Ada Lovelace wrote notes, about the  engine!")
    pieces = classify(doc.text, aggregation_strategy="none")
    doc.user_data["iobes_tags"] = token_tags(doc, pieces, scheme="bio")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert nlp(doc).ents


def test_a_model_without_names_for_its_labels(classify: Any) -> None:
    config = classify.model.config
    named = config.id2label
    config.id2label = {number: f"LABEL_{number}" for number in named}
    try:
        pieces = classify("Ada wrote", aggregation_strategy="none", ignore_labels=[])
    finally:
        config.id2label = named
    with pytest.raises(ValueError, match="id2label"):
        token_tags(words("Ada wrote"), pieces, scheme="bio")
