"""The view of a Doc: what is in it, that all of it is text, and where it goes."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from html.parser import HTMLParser
from importlib.resources import files
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.attrs import ENT_IOB, ENT_TYPE
from spacy.tokens import Doc

from spacy_iobes.errors import AlignmentError, UnknownNameError
from spacy_iobes.pipeline import direction, render, view

VOID = {"meta", "link"}


class Node:
    """An element of a page: its classes, its attributes, its text and what is in it."""

    def __init__(self, name: str, attributes: dict[str, str | None]):
        self.name = name
        self.attributes = attributes
        self.classes = (attributes.get("class") or "").split()
        self.parts: list[Node | str] = []

    @property
    def text(self) -> str:
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    def all(self, name: str) -> list[Node]:
        """All elements inside that have this name or class, in the order of the page."""
        found = []
        for part in self.parts:
            if isinstance(part, Node):
                found += [part] * (part.name == name or name in part.classes) + part.all(name)
        return found

    def texts(self, name: str) -> list[str]:
        return [node.text for node in self.all(name)]


class Reader(HTMLParser):
    """Reads a page, and fails where it is not well formed."""

    def __init__(self) -> None:
        super().__init__()
        self.open = [Node("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, dict(attrs))
        self.open[-1].parts.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().name == tag

    def handle_data(self, data: str) -> None:
        self.open[-1].parts.append(data)


def read(html: str | None) -> Node:
    assert html is not None
    reader = Reader()
    reader.feed(html)
    reader.close()
    (root,) = reader.open
    return root


def tagged(words: str, tags: str, language: str = "en") -> Doc:
    doc = Doc(spacy.blank(language).vocab, words.split())
    doc.user_data["iobes_tags"] = tags.split()
    return doc


def drawn(doc: Doc | Sequence[Doc], policy: str | list[str] = "begin", **settings: Any) -> Node:
    return read(render(doc, **{"scheme": "iobes", "policy": policy} | settings))


def malformed() -> Doc:
    words = "Ada Lovelace wrote to the Bank of Kenya in New York ."
    return tagged(words, "I-PER E-PER O O O B-ORG I-ORG E-LOC ! B-GPE O -")


def test_every_token_stands_over_its_tag() -> None:
    cells = drawn(malformed()).all("iobes-token")
    found = [(cell.texts("bdi")[0], cell.texts("code")[0]) for cell in cells]
    assert found[:3] == [("Ada", "I-PER"), ("Lovelace", "E-PER"), ("wrote", "O")]
    assert found[8:] == [("in", "! blocked"), ("New", "B-GPE"), ("York", "O"), (".", "- missing")]


def test_violations_stand_at_their_gaps_and_in_a_list() -> None:
    root = drawn(malformed())
    cells = [cell for cell in root.all("iobes-cell") if cell.all("iobes-gap")]
    assert [cell.text for cell in cells] == ["1startAdaI-PER", "2labelKenyaE-LOC", "3endYorkO"]
    assert root.texts("li") == [
        "1token 0 Ada: the sentence start -> I-PER: I cannot start a span here, B can",
        "2token 7 Kenya: I-ORG -> E-LOC: E cannot start a span here, S can",
        "3token 10 York: B-GPE -> O: B cannot end a span here, S can",
    ]


def test_a_violation_at_the_end_stands_behind_the_last_token() -> None:
    root = drawn(tagged("in New", "O B-GPE"))
    assert root.texts("iobes-cell") == ["inO", "NewB-GPE1end"]
    (reason,) = root.texts("li")
    assert reason.startswith("1after token 1 New: B-GPE -> the sentence end")


def test_the_repair_is_drawn_with_what_it_changed() -> None:
    root = drawn(malformed())
    assert root.texts("mark") == [
        "AdaI-PER => B-PER LovelacePER",
        "Bank ofI-ORG => E-ORGORG",
        "KenyaE-LOC => S-LOCLOC",
        "NewB-GPE => S-GPEGPE",
    ]
    assert root.texts("iobes-sum") == ["4 entities, 4 tags changed"]
    assert root.texts("iobes-untagged") == ["in", "."]


def test_policies_side_by_side() -> None:
    root = drawn(malformed(), ["raise", "begin", "strict", "nearest"])
    assert root.texts("iobes-head")[1:3] == [
        "raiserefuse, and list every violation",
        "begina tag that cannot continue the open span begins a new one; nothing is lost",
    ]
    assert len(root.all("iobes-panel")) == 5
    assert root.texts("iobes-sum") == [
        "4 entities, 4 tags changed",
        "0 entities, 6 tags changed",
        "3 entities, 3 tags changed",
    ]
    (refused,) = root.texts("iobes-refused")
    assert refused.startswith("refused")


def test_a_tag_that_nobody_can_read() -> None:
    root = drawn(tagged("a b", "O X-PER"), ["begin", "nearest"])
    assert root.texts("iobes-gap") == ["1unreadable"]
    reason = (
        "refused'X-PER' is not a tag of iobes (prefixes: B, I, E, S, O). No policy repairs that."
    )
    assert root.texts("iobes-refused") == [reason] * 2


def test_legal_tags_have_no_list() -> None:
    root = drawn(tagged("in Rome", "O S-LOC"), ["raise", "begin"])
    assert root.all("li") == root.all("iobes-gap") == root.all("iobes-changed") == []
    assert root.texts("mark") == ["RomeLOC"] * 2


def test_entities_that_spacy_cannot_read() -> None:
    doc = Doc(spacy.blank("en").vocab, ["in", "New", "York"])
    label = doc.vocab.strings.add("GPE")
    columns: Any = np.array([[2, 0], [1, label], [1, label]], dtype=np.uint64)  # O I I
    doc.from_array([ENT_IOB, ENT_TYPE], columns)
    with pytest.raises(ValueError, match="E093"):
        _ = doc.ents
    root = drawn(doc, scheme="bio", source="ents")
    assert root.texts("mark") == ["NewI-GPE => B-GPE YorkGPE"]


def test_the_doc_stays_as_it_was() -> None:
    doc = malformed()
    before = doc.to_bytes()
    drawn(doc, ["begin", "nearest"])
    assert doc.to_bytes() == before


def test_sentences_bound_spans() -> None:
    doc = tagged("a b c d", "B-X I-X I-X E-X")
    doc[0].is_sent_start, doc[2].is_sent_start = True, True
    assert drawn(doc).texts("li") == []
    root = drawn(doc, unit="sentence")
    assert [node.text for node in root.all("iobes-cell")][2] == "1end2startcI-X"
    assert len(root.all("iobes-cut")) == 1


def test_everything_is_text() -> None:
    word, label = "<script>alert('1')</script>", '"><img/src=x>&amp;'
    doc = tagged(f"{word} </style>", f"B-{label} I-{label}")
    doc.user_data["title"] = "<b>title</b>"
    for page in (False, True):
        root = drawn(doc, page=page, options={"colors": {label: 'red"><i>'}})
        assert root.all("script") == root.all("img") == root.all("i") == []
        assert root.texts("iobes-title") == ["<b>title</b>"]
        assert root.texts("iobes-token")[0] == f"{word}B-{label}"
        assert root.texts("iobes-label") == [label]


def test_white_space_tokens_can_be_seen() -> None:
    doc = Doc(spacy.blank("en").vocab, ["a", "\n\t ", "b"])
    doc.user_data["iobes_tags"] = ["O", "O", "O"]
    root = drawn(doc)
    assert root.texts("iobes-token") == ["aO", "⏎⇥␣O", "bO"]
    assert root.texts("iobes-text") == ["a \n\t  b "]


def test_nothing_to_show() -> None:
    empty = Doc(spacy.blank("en").vocab, [])
    assert drawn(empty).texts("iobes-tokens") == ["no tokens"]
    assert drawn([]).all("iobes-doc") == []
    assert drawn([], page=True).texts("h1") == ["0 Docs, 0 violations"]


@pytest.mark.parametrize(
    ("words", "language", "expected"),
    [
        ("كتبت Ada إلى بنك", "xx", "rtl"),
        ("wrote إلى somebody", "xx", "ltr"),
        ("1 2", "he", "rtl"),
        ("", "xx", "ltr"),
    ],
)
def test_direction(words: str, language: str, expected: str) -> None:
    doc = tagged(words, "O " * len(words.split()), language)
    assert direction(doc) == expected
    root = drawn(doc)
    assert {node.attributes["dir"] for node in root.all("iobes-tokens")} == {expected}
    assert {node.attributes["dir"] for node in root.all("iobes-text")} == {expected}


def test_options_are_those_of_displacy() -> None:
    doc = tagged("Ada of IBM", "S-PER O S-ORG")
    marks = drawn(doc, options={"colors": {"per": "#123456"}}).all("mark")
    styles = [node.attributes["style"] for node in marks]
    assert styles == ["--iobes-colour: #123456", "--iobes-colour: #7aecec"]
    assert drawn(doc, options={"ents": ["ORG"]}).texts("mark") == ["IBMORG"]


def test_labels_that_displacy_does_not_know_differ() -> None:
    marks = drawn(tagged("a b c", "S-X S-Y S-creative-work")).all("mark")
    assert len({node.attributes["style"] for node in marks}) == 3


def test_a_page_needs_nothing_else() -> None:
    html = render(malformed(), scheme="iobes", policy="begin", page=True) or ""
    root = read(html)
    assert root.texts("title") == root.texts("h1") == ["1 Doc, 3 violations"]
    assert "default-src 'none'" in html
    assert not re.findall(r"https?:|url\(|@import|src=", html)


def test_every_rule_of_the_style_begins_with_a_class_of_ours() -> None:
    css = (files("spacy_iobes.pipeline") / "view.css").read_text(encoding="utf8")
    css = re.sub(r"/\*.*?\*/|@media[^{]*\{", "", css, flags=re.DOTALL)
    selectors = [
        part.strip() for rule in re.findall(r"([^{}]+)\{", css) for part in rule.split(",")
    ]
    assert len(selectors) > 30
    assert [part for part in selectors if not part.startswith((".iobes-view", ".iobes-page"))] == []


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a notebook was asked to show."""
    shown: list[str] = []
    module = ModuleType("IPython.display")
    vars(module).update(HTML=str, display=shown.append)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    return shown


@pytest.mark.parametrize("found", [True, False])
def test_notebooks_are_recognised(
    notebook: list[str], found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "is_in_jupyter", lambda: found)
    html = render(malformed(), scheme="iobes", policy="begin")
    assert (html is None, len(notebook)) == (found, found)
    assert render(malformed(), scheme="iobes", policy="begin", jupyter=True) is None
    assert "mathjax_ignore" in notebook[-1]
    assert render(malformed(), scheme="iobes", policy="begin", jupyter=False)


def test_bad_input() -> None:
    doc = tagged("a b", "O")
    with pytest.raises(AlignmentError, match="2 tokens but 1 tags"):
        drawn(doc)
    with pytest.raises(UnknownNameError, match="Known: raise, begin"):
        drawn(malformed(), "bgin")
    with pytest.raises(UnknownNameError, match="iobes"):
        drawn(malformed(), scheme="iobs")
    with pytest.raises(UnknownNameError, match="user_data"):
        drawn(malformed(), source="userdata")
    with pytest.raises(TypeError, match="not 'text'"):
        drawn(["text"])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="shows a Doc"):
        drawn(malformed()[:2])  # type: ignore[arg-type]
