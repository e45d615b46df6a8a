"""Inline-tagged text, by hand and by writing it; the corpora against their published figures."""

from __future__ import annotations

import io
import json
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import DocBin

from spacy_iobes.corpus import (
    Markup,
    NestedReading,
    NestedText,
    TaggedText,
    TextReading,
    format_of,
    read_inline,
    read_inline_text,
)
from spacy_iobes.corpus.inline_files import inline_files
from spacy_iobes.corpus.nested_corpus import nested
from spacy_iobes.errors import FileError, UnknownNameError

from .commands import fine, run
from .shared import SHARED, needs_shared

CORPORA = SHARED / "data" / "ie-corpora"


def one(raw: str, **markup: Any) -> TaggedText:
    (found,) = read_inline_text(raw, Markup(**markup))
    return found


def said(found: TaggedText) -> list[tuple[str, str]]:
    """The words and labels of mentions."""
    return [(found.text[start:end], label) for start, end, label, _ in found.mentions]


# Text and tags


def test_mentions_and_text() -> None:
    found = one("Time: <stime>1:30 PM</stime> - <etime>3</etime>\nin <location>\n 5 A </location>.")
    assert found.text == "Time: 1:30 PM - 3\nin \n 5 A ."
    assert said(found) == [("1:30 PM", "stime"), ("3", "etime"), ("5 A", "location")]
    assert [mention.line for mention in found.mentions] == [1, 1, 2]
    assert not found.problems


@pytest.mark.parametrize(
    "text",
    [
        "<0.30.11.87.16.48.33.Marcella.Zaragoza@ISL1.RI.CMU.EDU.0>",
        "<hf08+@andrew.cmu.edu>",
        "<a@b>",
        "<...>",
        "< stime>",
        "<>",
        "</>",
        "<I believe>",
        "<Check out our web-page>",
        "<news.onramp.net>",
        "<5>",
        "a < b > c",
        "<a",
        "a>",
        "<stime",
        "<a b=>",
        "</a b='c'>",
        "AT&T &lt; &amp; <!-- no comment -->",
    ],
)
def test_what_is_no_tag_is_text(text: str) -> None:
    found = one(f"{text} <x>y</x> {text}")
    assert found.text == f"{text} y {text}"
    assert said(found) == [("y", "x")]
    assert not found.problems


@pytest.mark.parametrize(
    "tags",
    ["<x>{}</x>", "<x >{}</x >", "<x\n a='b>c' _d = e>{}</x\n>", '<x a="1" b="">{}</x>'],
)
def test_what_is_a_tag(tags: str) -> None:
    found = one(tags.format("one two"))
    assert (found.text, said(found)) == ("one two", [("one two", "x")])


def test_names_of_tags() -> None:
    found = one("<post_date>1</post_date><creative-work>2</creative-work><né>3</né><h1>4</h1>")
    assert said(found) == [("1", "post_date"), ("2", "creative-work"), ("3", "né"), ("4", "h1")]


def test_tags_nest() -> None:
    found = one("<title><area>DBA</area> <title>chief</title></title>")
    assert said(found) == [("DBA chief", "title"), ("DBA", "area"), ("chief", "title")]


def test_ignored_tags_may_be_unbalanced_and_cross() -> None:
    raw = "<p><s>In <x>room 5</s></x>.</p></p> <s>End"
    found = one(raw, ignore=("p", "s"))
    assert (found.text, said(found)) == ("In room 5. End", [("room 5", "x")])
    assert not found.problems


def test_empty_tags_are_told() -> None:
    found = one("a<x></x> <y/> b<x> </x>")
    assert found.text == "a  b "
    assert said(found) == [("", "x"), ("", "y"), ("", "x")]


# Problems

BROKEN = "one\n<x>two <y>three</y>\nfour</z> <x>five</x>"


def test_tags_without_their_other_half() -> None:
    found = one(BROKEN, unbalanced="text")
    assert found.text == "one\n<x>two three\nfour</z> five"
    assert said(found) == [("three", "y"), ("five", "x")]
    assert [(kind, tag, line) for kind, tag, _, line in found.problems] == [
        ("unbalanced", "x", 2),
        ("unbalanced", "z", 3),
    ]
    assert found.problems[0].shown == "<x>two <y>three</y> four</z> <x>five</x>"
    skipped = one(BROKEN, unbalanced="skip")
    assert skipped.text == "one\ntwo three\nfour five"
    assert (said(skipped), skipped.problems) == (said(found), found.problems)


def test_tags_that_cross() -> None:
    found = one("<x>a <y>b</x> c</y> <x>d</x>")
    assert said(found) == [("a b", "x"), ("b c", "y"), ("d", "x")]
    assert [(kind, tag) for kind, tag, *_ in found.problems] == [("crossed", "x")]


def test_problems_are_refused_by_name_and_line(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(BROKEN)
    with pytest.raises(FileError, match=r"a\.txt, line 2: a tag without .*1 more in this") as error:
        list(read_inline(path))
    assert error.value.line == 2
    for option in ("--ignore-tag x", "--unbalanced text", "--unbalanced skip"):
        assert option in str(error.value)
    path.write_text("<x>a <y>b</x> c</y>")
    with pytest.raises(FileError, match="line 1: a tag that ends after one"):
        list(read_inline(path))


def test_problems_are_findings(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(BROKEN)
    (text,) = read_inline(path, TextReading(markup=Markup(unbalanced="skip")))
    found = [(each.kind, each.place, each.label) for each in text.findings]
    assert found == [("unbalanced", f"{path}:2", "x"), ("unbalanced", f"{path}:3", "z")]


# XML

XML = """<?xml version="1.0"?>
<!DOCTYPE set [<!ELEMENT set (a)>]>
<set><!-- <x>no</x> -->
<article id="1"><sentence><cons sem="G#DNA">IL&lt;2 <cons sem='G&amp;p'>&#945;&unknown;</cons>\
</cons>.</sentence><sentence>R&amp;D</sentence></article>
<article><sentence><cons lex="q">x</cons> <![CDATA[<x>&lt;]]> <cons sem="G#DNA"/></sentence>\
</article>
</set>
"""


def test_xml() -> None:
    found = one(XML, label_attribute="sem")
    assert found.text == "\n\n\nIL<2 α&unknown;.R&D\nx <x>&lt; \n\n"
    assert said(found) == [("IL<2 α&unknown;", "G#DNA"), ("α&unknown;", "G&p"), ("", "G#DNA")]
    assert [mention.line for mention in found.mentions] == [4, 4, 5]
    assert not found.problems


def test_documents_and_sentences_of_xml() -> None:
    markup = Markup(label_attribute="sem", document="article", sentence="sentence")
    first, second = read_inline_text(XML, markup)
    assert (first.text, second.text) == ("IL<2 α&unknown;.R&D", "x <x>&lt; ")
    assert [label for _, label in said(first)] == ["G#DNA", "G&p"]
    assert (first.line, second.line) == (4, 5)
    assert first.borders == [0, 16, 16, 19]
    assert second.borders == [0, 10]
    # The names are labels where no attribute is said to be; what is outside a document is told.
    raw = "<x>out</x> <d>in <x>side</x></d> <x>be <d>tween</x></d> <x>behind</x>"
    first, second = read_inline_text(raw, Markup(document="d"))
    assert (first.text, said(first)) == ("in side", [("side", "x")])
    assert (second.text, said(second)) == ("tween", [])
    assert [problem[:3] for problem in first.problems] == [("beyond", "x", "out")]
    kinds = [(problem.kind, problem.tag) for problem in second.problems]
    assert kinds == [("beyond", "x"), ("beyond", "x"), ("crossed", "x")]


def test_entities_only_in_xml() -> None:
    raw = "<x>R&amp;D &eacute;&#xe9;</x>"
    assert one(raw).text == "R&amp;D &eacute;&#xe9;"
    assert one(raw, xml=True).text == "R&D éé"
    assert one(f"<?xml?>{raw}", xml=False).text == "<?xml?>R&amp;D &eacute;&#xe9;"


# Writing and reading

words = st.text("ab <>&\n", max_size=5).map(lambda text: text.replace("<", "< "))


@st.composite
def trees(draw: st.DrawFn, depth: int = 2) -> list[Any]:
    """Words, and labels with the same below them."""
    branch = st.tuples(st.sampled_from("xyz"), trees(depth - 1)) if depth else st.nothing()
    return draw(st.lists(st.one_of(words, branch), max_size=4))


def written(tree: list[Any], at: int = 0) -> tuple[str, str, list[tuple[int, int, str]]]:
    """Text with tags, text without, and mentions in the order in which they begin."""
    raw, plain, mentions = "", "", list[tuple[int, int, str]]()
    for item in tree:
        if isinstance(item, str):
            raw, plain = raw + item, plain + item
            continue
        label, below = item
        inner, text, more = written(below, at + len(plain))
        start = at + len(plain) + len(text) - len(text.lstrip())
        mentions += [(start, start + len(text.strip()), label), *more]
        raw, plain = f"{raw}<{label}>{inner}</{label}>", plain + text
    return raw, plain, mentions


@given(trees())
def test_what_is_written_is_read(tree: list[Any]) -> None:
    raw, plain, mentions = written(tree)
    found = one(raw)
    assert found.text == plain
    assert [mention[:3] for mention in found.mentions] == mentions
    assert not found.problems


pieces = st.lists(st.sampled_from(["<x>", "</x>", "<y>", "</y>", "a", " < ", "\n"]), max_size=12)


def alone(parts: list[str], name: str) -> list[int]:
    """The tags of a name that are left when pairs of neighbours are taken away, again and again."""
    left = [n for n, part in enumerate(parts) if part in (f"<{name}>", f"</{name}>")]
    while True:
        both = ["".join(parts[n] for n in left[i : i + 2]) for i in range(len(left))]
        if f"<{name}></{name}>" not in both:
            return left
        at = both.index(f"<{name}></{name}>")
        left[at : at + 2] = []


@given(pieces)
def test_nothing_is_lost(parts: list[str]) -> None:
    left = {*alone(parts, "x"), *alone(parts, "y")}
    plain = [n for n, part in enumerate(parts) if part in ("a", " < ", "\n")]
    text, skip = (one("".join(parts), unbalanced=way) for way in ("text", "skip"))
    assert text.text == "".join(parts[n] for n in sorted({*plain, *left}))
    assert skip.text == "".join(parts[n] for n in plain)
    for found in (text, skip):
        tags = [problem.tag for problem in found.problems if problem.kind == "unbalanced"]
        assert tags == [parts[n].strip("</>") for n in sorted(left)]
        assert 2 * len(found.mentions) + len(left) + len(plain) == len(parts)


# Files


def texts(path: Path, **how: Any) -> list[NestedText]:
    return list(read_inline(path, TextReading(**how)))


def archive(path: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz" if path.name.endswith("gz") else "w") as made:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            made.addfile(member, io.BytesIO(data))
    return path


FILES = {"d/b": b"<x>two</x>", "d/a": b"<x>one</x>", "d/.hidden": b"</x>", "d/e/c.txt": b"three"}


@pytest.mark.parametrize("name", ["c.tar", "c.tar.gz", "c.TGZ"])
def test_an_archive_is_a_folder(tmp_path: Path, name: str) -> None:
    for file, data in FILES.items():
        path = tmp_path / "folder" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    packed = archive(tmp_path / name, FILES)
    for where in (tmp_path / "folder", packed):
        assert [*inline_files(where)] == [
            (f"{where}/d/a", "<x>one</x>"),
            (f"{where}/d/b", "<x>two</x>"),
            (f"{where}/d/e/c.txt", "three"),
        ]
    assert [text.spans for text in texts(packed)] == [[(0, 1, "x")], [(0, 1, "x")], []]
    assert format_of(packed) == "inline"
    assert format_of(tmp_path / "folder") == "brat"
    assert format_of(tmp_path / "folder", "inline") == "inline"
    with pytest.raises(UnknownNameError, match="Known: auto, columns"):
        format_of(packed, "inlin")


def test_encodings(tmp_path: Path) -> None:
    data = "eins\n<x>Zoë</x>".encode("latin-1")
    path = tmp_path / "d" / "a"
    path.parent.mkdir()
    path.write_bytes(data)
    for where in (path, path.parent, archive(tmp_path / "b.tgz", {"a": data})):
        with pytest.raises(FileError, match=r"a, line 2: cannot be read as utf-8.*--encoding lat"):
            texts(where)
        assert texts(where, encoding="latin-1")[0].words(1, 2) == "Zoë"
    path.write_bytes("\ufeff<x>a</x>".encode())
    assert texts(path)[0].text == "a"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="without files"):
        texts(tmp_path)
    with pytest.raises(FileError, match="no such file"):
        texts(tmp_path / "no.tgz")
    with pytest.raises(FileError, match="no such file"):
        texts(tmp_path / "no.xml")
    with pytest.raises(FileError, match="an archive without files"):
        texts(archive(tmp_path / "a.tar", {}))
    (tmp_path / "b.tgz").write_bytes(b"no archive")
    with pytest.raises(FileError, match=r"b\.tgz: cannot be read as an archive"):
        texts(tmp_path / "b.tgz")
    whole = archive(tmp_path / "c.tgz", {"a": bytes(range(256)) * 200}).read_bytes()
    (tmp_path / "c.tgz").write_bytes(whole[:-100])
    with pytest.raises(FileError, match=r"c\.tgz: cannot be read as an archive"):
        texts(tmp_path / "c.tgz")


# Tokens and Docs


def docs(path: Path, unit: str = "document", **how: Any) -> Iterator[Any]:
    reading = NestedReading("sc", unit, texts=TextReading(**how), form="inline", entities=True)  # type: ignore[arg-type]
    return nested(path, reading, spacy.blank("en").vocab)


def test_mentions_within_tokens(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("at <x>3p</x>m, <x>room5</x>")
    (made,) = docs(path)
    assert [(each.kind, each.gone[0][2]) for each in made.findings] == [("misaligned", "3p")]
    assert [ent.text for ent in made.doc.ents] == ["room5"]
    (made,) = docs(path, misaligned="split")
    assert [token.text for token in made.doc] == ["at", "3p", "m", ",", "room5"]
    assert [(ent.text, ent.label_) for ent in made.doc.ents] == [("3p", "x"), ("room5", "x")]
    assert made.doc.text == "at 3pm, room5"
    assert not made.findings
    (made,) = docs(path, misaligned="expand")
    assert [ent.text for ent in made.doc.ents] == ["3pm", "room5"]


def test_brat_and_json_tokens_are_split_too(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_text("unhappy people")
    (tmp_path / "1.ann").write_text("T1\tA 2 7\thappy\nT2\tB 0 1;8 9\tu p\n")
    (made,) = nested(tmp_path, NestedReading(texts=TextReading(misaligned="split")))
    assert [token.text for token in made.doc] == ["un", "happy", "p", "eople"]
    path = tmp_path / "a.jsonl"
    rows = [
        {"text": "unhappy people", "spans": [[2, 7, "A"], [5, 7, "B"]]},
        {"tokens": ["unhappy", "people"], "spans": [[0, 1, "A"]]},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    first, second = nested(path, NestedReading(texts=TextReading(misaligned="split")))
    assert [token.text for token in first.doc] == ["un", "hap", "py", "people"]
    assert [span.text for span in first.doc.spans["sc"]] == ["happy", "py"]
    assert [token.text for token in second.doc] == ["unhappy", "people"]


def test_overlapping_mentions_are_no_entities(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("<x>one <y>two</y></x> three")
    (made,) = docs(path)
    assert [(span.text, span.label_) for span in made.doc.spans["sc"]] == [
        ("one two", "x"),
        ("two", "y"),
    ]
    assert not made.doc.has_annotation("ENT_IOB")
    path.write_text("none at all")
    (made,) = docs(path)
    assert made.doc.has_annotation("ENT_IOB")


@pytest.mark.parametrize("language", ["", "en"])
def test_sentences_stand_in_tags(tmp_path: Path, language: str) -> None:
    path = tmp_path / "a"
    path.write_text("Head:\n\n<s>One <x>two</s></x>\n <s>three <x>four</s> five</x>\nend\n")
    how: dict[str, Any] = {"markup": Markup(sentence="s")}
    if language:
        from spacy_iobes.corpus import tokens_by

        how["tokenize"] = tokens_by(spacy.blank(language).tokenizer)
    (made,) = docs(path, **how)
    assert [sent.text.split() for sent in made.doc.sents] == [
        ["Head:"],
        ["One", "two"],
        ["three", "four"],
        ["five", "end"],
    ]
    assert made.doc.text == path.read_text().replace("<s>", "").replace("</s>", "").replace(
        "<x>", ""
    ).replace("</x>", "")
    parts = list(docs(path, "sentence", **how))
    assert len(parts) == 4
    assert [each.kind for part in parts for each in part.findings] == ["beyond"]
    assert [span.text for part in parts for span in part.doc.spans["sc"]] == ["two"]


# The command


def test_to_docbin(tmp_path: Path) -> None:
    raw = "Time: <stime>3 PM</stime>\n<p>In <location>room <n>5</n></location>"
    path, out = tmp_path / "a.txt", tmp_path / "out.spacy"
    path.write_text(raw, encoding="latin-1")
    options = ["--from", "inline", "--lang", "en", "--unit", "document"]
    assert "line 2: a tag without its other half" in run("to-docbin", path, out, *options).stderr
    text = fine("to-docbin", path, out, *options, "--ignore-tag", "p").stdout
    assert "1 Doc, 1 sentence, 8 tokens, 3 spans" in text
    assert "1 Doc without entities, for mentions overlap" in text
    text = fine(
        "to-docbin", path, out, *options, "--unbalanced", "skip", "--ignore-tag", "n"
    ).stdout
    assert "1 tag unbalanced, the first at" in text
    (doc,) = DocBin().from_disk(out).get_docs(spacy.blank("en").vocab)
    assert [(ent.text, ent.label_) for ent in doc.ents] == [
        ("3 PM", "stime"),
        ("room 5", "location"),
    ]
    assert [span.text for span in doc.spans["sc"]] == ["3 PM", "room 5"]
    result = run("to-docbin", path, out, *options, "--unbalanced", "drop")
    assert "Known: raise, text, skip" in result.stderr
    result = run("to-docbin", path, out, *options, "--lines", "--sentence-tag", "p")
    assert result.exit_code == 2


def test_to_docbin_of_xml(tmp_path: Path) -> None:
    path, out = tmp_path / "a.xml", tmp_path / "out.spacy"
    path.write_text(XML, encoding="utf8")
    names = ("--label-attribute", "sem", "--document-tag", "article", "--sentence-tag", "sentence")
    result = json.loads(fine("to-docbin", path, out, *names, "--unit", "document", "--json").stdout)
    assert (result["docs"], result["sentences"]) == (2, 3)
    assert result["labels"] == {"G#DNA": 1, "G&p": 1}
    assert [each["kind"] for each in result["findings"]] == ["empty"]
    assert result["without_entities"] == 1
    assert "2 texts" not in fine("to-docbin", path, out, *names).stdout
    text = "a <x>b</x> &amp;"
    (tmp_path / "b.txt").write_text(text)
    made = fine("to-docbin", tmp_path / "b.txt", out, "--from", "inline", "--xml").stdout
    assert "3 tokens" in made


def test_roundtrip_of_an_archive(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.tgz", {"a": b"<x>one <y>two</y></x>", "b": b"<x>three</x>"})
    assert "2 texts, 3 tokens" in fine("roundtrip", path, "-q").stdout


# The corpora

SEMINARS = {  # mentions, documents with any
    "stime": (982, 485),
    "etime": (433, 228),
    "speaker": (757, 409),
    "location": (643, 464),
}
ACQUISITIONS = {
    "acqabr": 1450,
    "purchabr": 1263,
    "acquired": 683,
    "purchaser": 624,
    "status": 461,
    "sellerabr": 431,
    "dlramt": 283,
    "purchcode": 279,
    "seller": 267,
    "acqbus": 264,
    "acqcode": 214,
    "acqloc": 213,
    "sellercode": 136,
}


def corpus(name: str, **markup: Any) -> list[TaggedText]:
    files = inline_files(CORPORA / f"{name}.tar.gz", "latin-1")
    return [one(raw, **markup) for _, raw in files]


def labels_of(found: TaggedText) -> list[str]:
    return [label for _, _, label, _ in found.mentions]


@needs_shared
def test_seminars() -> None:
    found = corpus("sa", ignore=("sentence", "paragraph"))
    assert len(found) == 485
    mentions = Counter(label for text in found for label in labels_of(text))
    documents = Counter(label for text in found for label in {*labels_of(text)})
    assert {label: (mentions[label], documents[label]) for label in mentions} == SEMINARS
    assert not any(text.problems for text in found)
    every = corpus("sa", unbalanced="text")
    unbalanced = [t for t in every if any(p.kind == "unbalanced" for p in t.problems)]
    assert len(unbalanced) == 2
    assert sum(len(text.text.split()) for text in found) == pytest.approx(102_000, abs=1000)


@needs_shared
def test_acquisitions() -> None:
    found = corpus("acq")
    assert len(found) == 600
    assert Counter(label for text in found for label in labels_of(text)) == ACQUISITIONS
    assert sum(len(text.text.split()) for text in found) == pytest.approx(72_000, abs=1000)


@needs_shared
def test_jobs() -> None:
    found = corpus("jobs", unbalanced="text")
    assert len(found) == 300
    labels = Counter(label for text in found for label in labels_of(text))
    assert len(labels) == 17
    assert {p.tag for text in found for p in text.problems} == {"Contract"}  # a word in brackets
    inner = [
        m for t in found for m in t.mentions for o in t.mentions if m[:2] > o[:2] and m[1] <= o[1]
    ]
    assert inner


@needs_shared
def test_genia() -> None:
    """The five kinds of names that others score, and all sentences."""
    path = SHARED / "data" / "genia-term" / "GENIAcorpus3.02.xml.gz"
    ((_, raw),) = inline_files(path)
    markup = Markup(label_attribute="sem", document="article", sentence="sentence")
    found = read_inline_text(raw, markup)
    kinds = ("G#protein", "G#DNA", "G#RNA", "G#cell_type", "G#cell_line")
    assert sum(label.startswith(kinds) for text in found for label in labels_of(text)) == 56_079
    assert sum(len(text.borders) for text in found) == 2 * 18_546
    assert not any(text.problems for text in found)
