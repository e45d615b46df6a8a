"""The policy `best` in the component `iobes_repairer`."""

from __future__ import annotations

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_iobes.errors import AlignmentError, TagError

TAGS = ["O", "B-X", "I-X", "I-Y"]
WORDS = ["a", "b", "c"]
# I-Y is the best tag of the second token, but B-X I-X is the best legal pair
SCORES = [[0.0, 3.0, 0.0, 0.0], [0.0, 0.0, 1.0, 2.0], [1.0, 0.0, 0.0, 0.0]]


@pytest.fixture
def nlp() -> Language:
    made = spacy.blank("en")
    made.add_pipe("iobes_repairer", config={"scheme": "bio", "policy": "best"})
    return made


def doc_of(nlp: Language, tags: list[str], scores: object) -> Doc:
    doc = Doc(nlp.vocab, words=WORDS)
    doc.user_data["iobes_tags"] = tags
    doc.user_data["iobes_scores"] = {"tags": TAGS, "scores": scores}
    return doc


def entities(doc: Doc) -> list[tuple[int, int, str]]:
    return [(entity.start, entity.end, entity.label_) for entity in doc.ents]


@pytest.mark.parametrize("scores", [SCORES, np.array(SCORES), np.array(SCORES, dtype=np.float32)])
def test_malformed_tags_become_the_best_legal_ones(nlp: Language, scores: object) -> None:
    doc = nlp(doc_of(nlp, ["B-X", "I-Y", "O"], scores))
    assert entities(doc) == [(0, 2, "X")]
    assert [(c.index, c.old, c.new) for c in doc._.iobes_changes] == [(1, "I-Y", "I-X")]


def test_legal_tags_stay_whatever_the_scores_say(nlp: Language) -> None:
    assert entities(nlp(doc_of(nlp, ["O", "B-X", "I-X"], SCORES))) == [(1, 3, "X")]


def test_a_token_without_a_tag_takes_its_scores_with_it(nlp: Language) -> None:
    doc = nlp(doc_of(nlp, ["-", "I-Y", "O"], SCORES))
    assert (
        entities(doc) == []
    )  # alone, the second token can only be O or B-X, which tie: O is first
    assert [token.ent_iob for token in doc] == [0, 2, 2]


def test_scores_survive_other_processes(nlp: Language) -> None:
    docs = [doc_of(nlp, ["B-X", "I-Y", "O"], np.array(SCORES)) for _ in range(4)]
    assert [entities(doc) for doc in nlp.pipe(docs, n_process=2)] == [[(0, 2, "X")]] * 4


def test_the_signature_says_best(nlp: Language) -> None:
    reference = Doc(nlp.vocab, words=WORDS, ents=["B-X", "I-X", "O"])
    scores = nlp.evaluate([Example(doc_of(nlp, ["B-X", "I-Y", "O"], SCORES), reference)])
    assert scores["iobes_f"] == 1.0
    assert scores["iobes_violations"] == 1
    assert "policy:best" in scores["iobes_signature"]


def test_without_scores_it_says_what_to_do(nlp: Language) -> None:
    doc = Doc(nlp.vocab, words=WORDS)
    doc.user_data["iobes_tags"] = ["O"] * 3
    with pytest.raises(AlignmentError, match="'iobes_scores'"):
        nlp(doc)
    with pytest.raises(AlignmentError, match=r"'a b c'.*\(2, 4\), but 3 tokens and 4 tags"):
        nlp(doc_of(nlp, ["B-X", "I-Y", "O"], SCORES[:2]))
    with pytest.raises(AlignmentError, match=r"\(4, 3\)"):
        nlp(doc_of(nlp, ["B-X", "I-Y", "O"], np.array(SCORES).T))
    with pytest.raises(TagError, match=r"'a b c'.*NaN"):
        nlp(doc_of(nlp, ["B-X", "I-Y", "O"], [[np.nan] * 4] * 3))
    assert entities(nlp(Doc(nlp.vocab))) == []
