"""Lists of names: found as a few plain lines of Python find them, read with care, and stored."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import spacy
from hypothesis import example, given
from hypothesis import strategies as st
from spacy.tokens import Doc
from thinc.api import ConfigValidationError

from spacy_iobes.errors import FileError, UnknownNameError
from spacy_iobes.ml import Extractor, Gazetteers, build_hashed_features, read_names

from .docs import VOCAB
from .feature_classes import BITS, Sentences, check, doc_of, features
from .recognizers import entities, ner
from .recognizers import example as pair
from .test_features_training import fast, trained

WORDS = ["new", "New", "NEW", "york", "York", "of"]
names = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
lists = st.lists(names, max_size=5)
sentence = st.lists(st.sampled_from([*WORDS, "x"]), min_size=1, max_size=7)
Said = list[Hashable | None]


# names are found


def longest(words: list[str], listed: list[str]) -> tuple[int, bool]:
    """How many of the first words are a name, whatever its capitals, and if they are the same."""
    for end in range(len(words), 0, -1):
        text = " ".join(words[:end])
        if text.lower() in {name.lower() for name in listed}:
            return end, text in listed
    return 0, False


def places(words: list[str], listed: list[str]) -> Said:
    """Where in a name the words of a sentence are: how far from both ends, cut at 1."""
    found: Said = []
    while len(found) < len(words):
        length, same = longest(words[len(found) :], listed)
        found += [(i > 0, i < length - 1, same) for i in range(length)] or [None]
    return found


def said(sentences: Sentences, every: list[list[str]]) -> list[Said]:
    """What is said of all tokens: by each list, and by all of them together."""
    columns = [[p for words in sentences for p in places(words, listed)] for listed in every]
    rows: list[Said] = [list(row) for row in zip(*columns)]
    return [[*row, tuple(row) if any(row) else None] for row in rows]


def extractor(every: list[list[str]], document: bool = True) -> Extractor:
    gazetteers = Gazetteers(dict.fromkeys("ab", ""))
    gazetteers.take(dict(zip("ab", every)))
    return Extractor(["in_a", "in_b", "in_lists"], BITS, document, gazetteers=gazetteers)


@given(st.lists(st.lists(sentence, max_size=3), max_size=3), lists, lists)
@example([[["New", "york"], ["York"]]], ["New York York", "york"], ["new"])
def test_the_longest_names_are_found(
    documents: list[Sentences], first: list[str], second: list[str]
) -> None:
    """From left to right, in each list for itself, never across the end of a sentence."""
    finder = extractor([first, second])
    at = [finder.templates.names.index(name) for name in ("in_a", "in_b", "in_lists")]
    found = features(finder, [doc_of(sentences) for sentences in documents])
    wanted = [row for sentences in documents for row in said(sentences, [first, second])]
    check([[row[n] for n in at] for row in found], wanted)


@given(st.lists(sentence, max_size=3), lists)
def test_a_doc_is_a_sentence_where_docs_are_no_documents(
    sentences: Sentences, listed: list[str]
) -> None:
    finder = extractor([listed, []], document=False)
    at = [finder.templates.names.index(name) for name in ("in_a", "in_b", "in_lists")]
    found = features(finder, [doc_of(sentences)])
    whole = [list(chain(*sentences))] if sentences else []
    check([[row[n] for n in at] for row in found], said(whole, [listed, []]))


def test_words_of_many_names() -> None:
    """Names share their first word by the thousand, and lower case is more than ASCII."""
    listed = [f"the {number}" for number in range(5000)] + ["ΟΔΟΣ ΣΣ", "İzmir"]
    finder = extractor([listed, []])
    at = finder.templates.names.index("in_a")
    words = ["the", "4999", "the", "the", "5000", "οδος", "σς", "İZMIR"]
    column = [row[at] >= 0 for row in features(finder, [doc_of([words])])]
    assert column == [True, True, False, False, False, True, True, True]


# files


def listed(path: Path, data: bytes) -> list[str]:
    path.write_bytes(data)
    return list(read_names(path))


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"New York\nRome\n", ["New York", "Rome"]),
        (b"\xef\xbb\xbfNew York\r\nRome", ["New York", "Rome"]),
        (b"Rome\rNairobi\r", ["Rome", "Nairobi"]),
        (b"\n  Rome \n\nRome\nROME\n\t\n", ["Rome", "ROME"]),
        ("New\u00a0York\nNew   York\n東京\u3000都\n".encode(), ["New York", "東京 都"]),
        (" ".join("a" * 64).encode(), [" ".join("a" * 64)]),
        ("می\u200cخواهم".encode(), ["می\u200cخواهم"]),
    ],
)
def test_names_of_a_file(tmp_path: Path, data: bytes, found: list[str]) -> None:
    assert listed(tmp_path / "list", data) == found


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"Rome\nK\xf6ln\n", "list, line 2: not UTF-8. Store the list as UTF-8."),
        ("Rome".encode("utf-16"), "list, line 1: not UTF-8"),
        (b"Rome\n\nNew\x00York\n", r"list, line 3: 'New\x00York' is no name. A list has one name"),
        (b"New\x1cYork\n", r"'New\x1cYork' is no name"),
        ("New\x85York\n".encode(), r"'New\x85York' is no name"),
        (b"Rome\tLOC\n", r"'Rome\tLOC' is no name. A list has one name on a line, of at most 64"),
        (" ".join("a" * 65).encode(), "line 1: 'a a a a a a a a a a a a a a a a a a a a ' is no"),
        (b"", "list: the list has no names. Name another file."),
        (b"\xef\xbb\xbf\n \r\n\t\n", "list: the list has no names"),
    ],
)
def test_files_that_are_no_lists(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(FileError) as caught:
        listed(tmp_path / "list", data)
    assert message in str(caught.value)


def test_a_list_that_is_not_there(tmp_path: Path) -> None:
    nlp = fast(settings={"gazetteers": {"city": str(tmp_path / "none")}})
    with pytest.raises(FileError, match=r"none: the list cannot be read \(No such file"):
        nlp.initialize(lambda: [pair(["O"])])
    with pytest.raises(FileError, match="cannot be read"):
        list(read_names(tmp_path))


# settings


@pytest.mark.parametrize("name", ["two words", "", "a-b", "in[1]", "x.y", "a\n"])
def test_names_of_lists_that_are_no_words(name: str) -> None:
    with pytest.raises(ValueError, match="A list has a name of letters, digits and _, not "):
        build_hashed_features(gazetteers={name: "list"})


def test_all_lists_have_a_name_already() -> None:
    with pytest.raises(ValueError, match="cannot have the name 'lists': in_lists is all of them"):
        build_hashed_features(gazetteers={"lists": "list"})


@pytest.mark.parametrize("value", [["cities.txt"], "cities.txt", [], ""])
def test_gazetteers_that_have_no_names(value: Any) -> None:
    with pytest.raises(ValueError, match=r'such as \{"city": "cities.txt"\}, not '):
        build_hashed_features(gazetteers=value)
    with pytest.raises(ConfigValidationError, match=r"gazetteers.*is not dict"):
        fast(settings={"gazetteers": value})


def test_attributes_of_lists_are_there_with_the_lists() -> None:
    with pytest.raises(UnknownNameError, match="'in_city'"):
        build_hashed_features(["in_city"])
    with pytest.raises(UnknownNameError, match=r"'in_town'.*in_city, in_lists"):
        build_hashed_features(["in_town"], gazetteers={"city": "list"})
    build_hashed_features(["in_city[-2] in_lists"], gazetteers={"city": "list"})
    none, without = build_hashed_features(gazetteers={}), build_hashed_features()
    assert none.to_bytes() == without.to_bytes()


# models


def learnt(tmp_path: Path, **lists: str) -> Any:
    """A pipeline that knows nothing but whether a word is in a list."""
    for name, text in lists.items():
        (tmp_path / name).write_text(text, encoding="utf8")
    paths = {name: str(tmp_path / name) for name in lists}
    pairs = [pair(["O", "B-LOC", "I-LOC", "O"], ["in", "New", "York", "."])]
    pairs.append(pair(["B-LOC", "O"], ["Rome", "is"]))
    return trained(pairs=pairs, settings={"templates": ["bias"], "gazetteers": paths})


def test_a_stored_model_has_its_lists(tmp_path: Path) -> None:
    """Names that were not in the training data are found, though the files are gone."""
    nlp = learnt(tmp_path, zone="Nowhere\n", city="New York\nRome\nRio de Janeiro\nCape Town\n")
    words = ["Cape", "Town", "or", "Rome", "or", "rome", "or", "Janeiro"]
    before = entities([nlp(Doc(nlp.vocab, words=words))])
    assert before[0][:2] == [(0, 2, "LOC"), (3, 4, "LOC")]
    assert (7, 8, "LOC") not in before[0]
    nlp.to_disk(tmp_path / "model")
    for name in ("zone", "city"):
        (tmp_path / name).unlink()
    loaded = spacy.load(tmp_path / "model")
    assert entities([loaded(Doc(loaded.vocab, words=words))]) == before
    assert ner(loaded).model.to_bytes() == ner(nlp).model.to_bytes()
    with pytest.raises(FileError, match="cannot be read"):
        loaded.initialize(lambda: [pair(["O"])])


def test_lists_are_read_anew_when_a_model_is(tmp_path: Path) -> None:
    nlp = learnt(tmp_path, city="New York\nRome\n")
    oslo = Doc(nlp.vocab, words=["Oslo"])
    assert entities([nlp(oslo)]) == [[]]
    (tmp_path / "city").write_text("Oslo\nRome\n")
    assert entities([nlp(Doc(nlp.vocab, words=["Oslo"]))]) == [[]]
    pairs = [pair(["B-LOC", "O"], ["Rome", "is"])]
    optimizer = nlp.initialize(lambda: pairs)
    for _ in range(20):
        nlp.update(pairs, sgd=optimizer)
    assert entities([nlp(Doc(nlp.vocab, words=["Oslo"]))]) == [[(0, 1, "LOC")]]


def test_words_in_a_vocabulary_are_not_needed() -> None:
    """What is stored are strings, so that a model does not depend on what a vocabulary holds."""
    gazetteers = Gazetteers({"a": "", "b": ""})
    gazetteers.take({"a": ["Unheard-of Xyzzy"], "b": []})
    Extractor(["in_a"], BITS, gazetteers=gazetteers)
    assert "Xyzzy" not in VOCAB.strings
