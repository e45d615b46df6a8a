"""Brown clusters: from a table of spacy-lookups-data or one like it, into the model."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import catalogue
import pytest
import spacy
import srsly
from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import ConfigValidationError

from spacy_iobes.errors import ModelError, UnknownNameError
from spacy_iobes.ml import Clusters, build_hashed_features

from .recognizers import entities, example, ner
from .test_features_training import fast, trained

LANGUAGE = "tlh"  # spaCy knows nothing of it
PATHS = {"Rome": 0b1011, "Oslo": 0b1011, "is": 0b0110, "in": 0b0111, "Huge": 0b1 << 33, "dull": 0}
needs_tables = pytest.mark.skipif(
    find_spec("spacy_lookups_data") is None, reason="spacy-lookups-data is not installed"
)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small table, where spaCy looks for those of packages."""
    path = tmp_path / "clusters.json"
    srsly.write_json(path, PATHS)
    place = ("spacy", "lookups", LANGUAGE)
    monkeypatch.setitem(catalogue.REGISTRY, place, {"lexeme_cluster": str(path)})


@pytest.fixture
def no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if no package had tables for spaCy."""
    monkeypatch.setattr(registry.lookups, "entry_points", False)


def learnt(**settings: Any) -> Any:
    """A pipeline that knows nothing of words but their clusters."""
    pairs = [example(["B-LOC", "O"], ["Rome", "is"]), example(["O", "B-LOC"], ["in", "Rome"])]
    return trained(pairs=pairs, settings={"templates": ["bias"], "clusters": LANGUAGE, **settings})


def found(nlp: Any, text: str) -> Any:
    return entities([nlp(Doc(nlp.vocab, words=text.split()))])[0]


def test_paths_of_words(table: None) -> None:
    clusters = Clusters(LANGUAGE)
    assert clusters.path("Rome", bits=4) == ""
    clusters.load()
    ask = clusters.attributes
    assert {name: ask[name]("Rome") for name in ask} == {
        "cluster4": "11",
        "cluster6": "11",
        "cluster10": "11",
        "cluster": "11",
    }
    assert [clusters.path(word, bits=2) for word in ("Rome", "is", "in")] == ["3", "2", "3"]
    assert clusters.path("rome", bits=4) == ""  # capitals count,
    assert clusters.path("ROME", bits=4) == "11"  # but a word in capitals may be a name,
    assert clusters.path("IS", bits=4) == ""  # if it is long enough
    assert [clusters.path(word, bits=32) for word in ("dull", "none", "", "Huge")] == [""] * 4


def test_words_of_a_cluster_are_alike(table: None) -> None:
    nlp = learnt()
    assert found(nlp, "Oslo is") == [(0, 1, "LOC")]
    assert found(nlp, "in OSLO") == [(1, 2, "LOC")]


def test_a_stored_model_needs_no_package(
    table: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nlp = learnt()
    nlp.to_disk(tmp_path / "model")
    monkeypatch.delitem(catalogue.REGISTRY, ("spacy", "lookups", LANGUAGE))
    loaded = spacy.load(tmp_path / "model")
    assert found(loaded, "Oslo is") == [(0, 1, "LOC")]
    assert ner(loaded).model.to_bytes() == ner(nlp).model.to_bytes()
    with pytest.raises(ModelError, match="no table of clusters for the language 'tlh'"):
        loaded.initialize(lambda: [example(["O"])])


def test_the_same_table_gives_the_same_bytes(table: None, tmp_path: Path) -> None:
    """In whatever order it has its words."""
    first = learnt()
    srsly.write_json(tmp_path / "clusters.json", dict(reversed(PATHS.items())))
    assert ner(learnt()).model.to_bytes() == ner(first).model.to_bytes()


def test_the_package_is_not_there(no_package: None) -> None:
    nlp = fast(settings={"clusters": "en"})
    with pytest.raises(ModelError) as caught:
        nlp.initialize(lambda: [example(["O"])])
    assert str(caught.value) == (
        "There is no table of clusters for the language 'en'. The package spacy-lookups-data has "
        "them for English, German and Spanish (en, de, es): pip install spacy-lookups-data, or set "
        "clusters = null."
    )


def test_a_language_without_a_table(no_package: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """There may be other tables, of this language and of others."""
    monkeypatch.setitem(catalogue.REGISTRY, ("spacy", "lookups", LANGUAGE), {"lemma": "nowhere"})
    for language in (LANGUAGE, "fr", "no such language"):
        with pytest.raises(ModelError, match=f"for the language '{language}'.*pip install"):
            Clusters(language).load()
    for other in ("vo", "eo"):
        place = ("spacy", "lookups", other)
        monkeypatch.setitem(catalogue.REGISTRY, place, {"lexeme_cluster": "nowhere"})
    with pytest.raises(ModelError) as caught:
        Clusters("fr").load()
    assert str(caught.value) == (
        "There is no table of clusters for the language 'fr'. There are tables for: eo, vo. For "
        "another language set clusters = null; lists of names (gazetteers) work in any."
    )


@needs_tables
def test_the_languages_of_the_package_are_named() -> None:
    with pytest.raises(ModelError, match=r"'fr'. There are tables for: de, .*\ben, es"):
        Clusters("fr").load()


def test_languages_that_are_none() -> None:
    with pytest.raises(ValueError, match="clusters is a language such as 'en', or null, not ''"):
        fast(settings={"clusters": ""})
    with pytest.raises(ConfigValidationError, match="clusters"):
        fast(settings={"clusters": ["en"]})


def test_attributes_of_clusters_are_there_with_the_clusters() -> None:
    with pytest.raises(UnknownNameError, match="'cluster6'"):
        build_hashed_features(["cluster6"])
    build_hashed_features(["cluster6[-1] cluster10"], clusters="en")


@needs_tables
@pytest.mark.parametrize(
    ("language", "first", "second"),
    [("en", "Paris", "London"), ("de", "Paris", "London"), ("es", "París", "Londres")],
)
def test_the_tables_of_the_package(language: str, first: str, second: str) -> None:
    clusters = Clusters(language)
    clusters.load()
    assert len(clusters.words) > 100_000
    assert (clusters.words[1:] > clusters.words[:-1]).all()
    assert clusters.path(first, bits=6) == clusters.path(second, bits=6) != ""
    assert clusters.path("xyzzyx", bits=6) == ""


LOAD = """
import sys
sys.modules["spacy_lookups_data"] = None
import spacy
from spacy.util import registry
registry.lookups.entry_points = False
print([(ent.text, ent.label_) for ent in spacy.load(sys.argv[1])(sys.argv[2]).ents])
"""


@needs_tables
def test_another_process_without_the_package(tmp_path: Path) -> None:
    """London was not in the training data: nothing but its cluster is known of it."""
    nlp = learnt(clusters="en")
    nlp.to_disk(tmp_path / "model")
    text = "London is"
    line = [sys.executable, "-W", "ignore", "-c", LOAD, str(tmp_path / "model"), text]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "[('London', 'LOC')]\n", done.stderr
    assert found(nlp, text) == [(0, 1, "LOC")]
