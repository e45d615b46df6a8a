"""Inline-tagged text: read, and saved so that it can be read; corpora and their known figures."""

from __future__ import annotations

import io
import tarfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_iobes.corpus import ReadOptions, read, save
from spacy_iobes.corpus.formats import format_of
from spacy_iobes.corpus.formats.inline import inline_files
from spacy_iobes.corpus.formats.inline_tags import TaggedText, tagged_texts
from spacy_iobes.errors import FileError, InexpressibleError, SettingError, UnknownNameError

from .made_texts import MadeText, held, made, texts, whole
from .shared import SHARED, needs_shared

FILES = Path(__file__).parent / "cases" / "files"
CORPORA = SHARED / "data" / "ie-corpora"


def one(raw: str, **options: Any) -> TaggedText:
    (found,) = tagged_texts(raw, ReadOptions(**options))
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
    found = one(raw, ignore_tags=("p", "s"))
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
        list(read(path, format="inline"))
    assert error.value.line == 2
    for option in ("ignore-tag=x", "unbalanced=text", "unbalanced=skip"):
        assert f"--set {option}" in str(error.value)
    path.write_text("<x>a <y>b</x> c</y>")
    with pytest.raises(FileError, match="line 1: a tag that ends after one"):
        list(read(path, format="inline"))


def test_problems_are_findings(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(BROKEN)
    part = whole(path, format="inline", unbalanced="skip")
    found = [(each.kind, each.place, each.label) for each in part.findings]
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
    how = ReadOptions(label_attribute="sem", document_tag="article", sentence_tag="sentence")
    first, second = tagged_texts(XML, how)
    assert (first.text, second.text) == ("IL<2 α&unknown;.R&D", "x <x>&lt; ")
    assert [label for _, label in said(first)] == ["G#DNA", "G&p"]
    assert (first.line, second.line) == (4, 5)
    assert first.boundaries == [0, 16, 16, 19]
    assert second.boundaries == [0, 10]
    # The names are labels where no attribute is said to be; what is outside a document is told.
    raw = "<x>out</x> <d>in <x>side</x></d> <x>be <d>tween</x></d> <x>behind</x>"
    first, second = tagged_texts(raw, ReadOptions(document_tag="d"))
    assert (first.text, said(first)) == ("in side", [("side", "x")])
    assert (second.text, said(second)) == ("tween", [])
    assert [problem[:3] for problem in first.problems] == [("beyond", "x", "out")]
    kinds = [(problem.kind, problem.tag) for problem in second.problems]
    assert kinds == [("beyond", "x"), ("beyond", "x"), ("crossed", "x")]


def test_entities_only_in_xml() -> None:
    raw = "<x>R&amp;D &eacute;&#xe9;</x>"
    assert one(raw).text == "R&amp;D &eacute;&#xe9;"
    assert one(raw, xml=True).text == "R&D éé"
    assert one(f"<?xml?>{raw}").text == "R&D éé"


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


def archive(path: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz" if path.name.endswith("gz") else "w") as packed:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            packed.addfile(member, io.BytesIO(data))
    return path


PACKED = {"d/b": b"<x>two</x>", "d/a": b"<x>one</x>", "d/.hidden": b"</x>", "d/e/c.txt": b"three"}


@pytest.mark.parametrize("name", ["c.tar", "c.tar.gz", "c.TGZ"])
def test_an_archive_is_a_folder(tmp_path: Path, name: str) -> None:
    for file, data in PACKED.items():
        path = tmp_path / "folder" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    packed = archive(tmp_path / name, PACKED)
    for where in (tmp_path / "folder", packed):
        assert [*inline_files(where)] == [
            (f"{where}/d/a", "<x>one</x>"),
            (f"{where}/d/b", "<x>two</x>"),
            (f"{where}/d/e/c.txt", "three"),
        ]
        part = whole(where, format="inline")
        assert list(part.known().spans) == [[(0, 1, "x")], [(0, 1, "x")], []]
        assert [row["id"] for row in part.info] == ["d/a", "d/b", "d/e/c.txt"]
        assert [part.place(at) for at in range(3)] == [
            f"{where}/{file}:1" for file in ("d/a", "d/b", "d/e/c.txt")
        ]
        assert part.name == str(where)
    assert format_of(packed).name == "inline"
    assert format_of(tmp_path / "folder").name == "folder"
    with pytest.raises(UnknownNameError, match="Known: columns"):
        format_of(packed, "inlin")


def test_encodings(tmp_path: Path) -> None:
    data = "eins\n<x>Zoë</x>".encode("latin-1")
    path = tmp_path / "d" / "a"
    path.parent.mkdir()
    path.write_bytes(data)
    for where in (path, path.parent, archive(tmp_path / "b.tgz", {"a": data})):
        with pytest.raises(FileError, match=r"a, line 2: cannot be read as utf-8.*--encoding lat"):
            whole(where, format="inline")
        assert whole(where, format="inline", encoding="latin-1").text(0, 1, 2) == "Zoë"
    path.write_bytes("\ufeff<x>a</x>".encode())
    assert whole(path, format="inline").words.document(0) == "a"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="without files"):
        whole(tmp_path, format="inline")
    with pytest.raises(FileError, match="no such file"):
        whole(tmp_path / "no.tgz")
    with pytest.raises(FileError, match="no such file"):
        whole(tmp_path / "no.xml")
    with pytest.raises(FileError, match="an archive without files"):
        whole(archive(tmp_path / "a.tar", {}))
    (tmp_path / "b.tgz").write_bytes(b"no archive")
    with pytest.raises(FileError, match=r"b\.tgz: cannot be read as an archive"):
        whole(tmp_path / "b.tgz")
    packed = archive(tmp_path / "c.tgz", {"a": bytes(range(256)) * 200}).read_bytes()
    (tmp_path / "c.tgz").write_bytes(packed[:-100])
    with pytest.raises(FileError, match=r"c\.tgz: cannot be read as an archive"):
        whole(tmp_path / "c.tgz")


# Sentences and tokens


@pytest.mark.parametrize("language", ["", "en"])
def test_sentences_stand_in_tags(tmp_path: Path, language: str) -> None:
    """The second mention goes beyond its sentence, so that there is no boundary."""
    path = tmp_path / "a"
    raw = "Head:\n\n<s>One <x>two</s></x>\n <s>three <x>four</s> five</x>\nend\n"
    path.write_text(raw)
    part = whole(path, format="inline", sentence_tag="s", lang=language)
    sentences = [part.text(number).split() for number in range(len(part))]
    words = ["three", "four", "five", "end"]
    assert sentences == [["Head:"], ["One", "two"], words]
    strings = [word for word in part.words.strings() if not word.isspace()]
    assert strings == ["Head", ":", "One", "two", *words]
    assert [len(row) for row in part.known().spans] == [0, 1, 1]
    assert part.text(2, *part.known().spans[2][0][:2]) == "four five"
    assert [(found.kind, found.sentence) for found in part.findings] == [("crossing", 2)]
    for tag in ("<s>", "</s>", "<x>", "</x>"):
        raw = raw.replace(tag, "")
    assert part.words.document(0) == raw
    part = whole(path, format="inline", sentence_tag="s", sentences="lines", lang=language)
    lines = [part.text(number) for number in range(len(part))]
    assert lines == ["Head:", "One two", "three four five", "end"]


def test_rules_are_asked_where_no_tag_tells(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("<s>One. Two.</s> <s>Three</s>")
    for options, count in (({}, 3), ({"sentence_tag": "s"}, 2)):
        ignored = {"ignore_tags": ("s",)} | options
        assert len(whole(path, format="inline", sentences="rules", **ignored)) == count


@pytest.mark.parametrize("lang", ["", "en"])
def test_mentions_within_tokens(tmp_path: Path, lang: str) -> None:
    path = tmp_path / "a"
    path.write_text("at <x>3x</x>y, <x>room5</x>")
    part = whole(path, format="inline", lang=lang)
    assert [(f.kind, f.gone[0][2], f.parts) for f in part.findings] == [
        ("misaligned", "3x", ((3, 5),))
    ]
    assert [part.text(0, a, b) for a, b, _ in part.known().spans[0]] == ["room5"]
    part = whole(path, format="inline", misaligned="split", lang=lang)
    assert part.words.strings() == ["at", "3x", "y", ",", "room5"]
    assert list(part.known().spans) == [[(1, 2, "x"), (4, 5, "x")]]
    assert not part.findings
    with pytest.raises(FileError, match=r"a:1: '3x' \(x\) begins or ends within a token"):
        whole(path, format="inline", misaligned="raise", lang=lang)


def test_a_language_that_there_is_not(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("a")
    with pytest.raises(SettingError, match="no language 'nope'"):
        whole(tmp_path / "a.xml", lang="nope")
    with pytest.raises(UnknownNameError, match="Known: raise, text, skip"):
        whole(tmp_path / "a.xml", unbalanced="drop")


# Saving


def test_what_is_saved(tmp_path: Path) -> None:
    spans = frozenset({(0, 2, "PER"), (0, 1, "First"), (2, 3, "x.y")})
    one_text = MadeText("Ada <B>\n& \r", spans, frozenset({(((8, 9),), "Z")}), 'a"<1', (2,))
    assert [one_text.text[a:b] for a, b in one_text.tokens] == ["Ada", "<", "B", ">", "&"]
    path = tmp_path / "new.xml"
    done = save([made([one_text, MadeText(" x")])], path)
    head = '<?xml version="1.0" encoding="utf-8"?>\n<?spacy-iobes ignore-tag="documents" '
    head += 'document-tag="document" sentence-tag="sentence"?>\n'
    first = '<document id="a&quot;&lt;1"><sentence><PER><First>Ada</First> &lt;</PER></sentence>'
    first += "<sentence><x.y>B</x.y>&gt;\n<Z>&amp;</Z></sentence> &#13;</document>\n"
    rest = "<document> x</document>\n"
    assert path.read_bytes().decode() == f"{head}<documents>\n{first}{rest}</documents>\n"
    assert (done.documents, done.sentences, done.tokens) == (2, 3, 6)
    assert not done.findings[1:]
    tree = ElementTree.parse(path).getroot()
    assert ["".join(each.itertext()) for each in tree] == [one_text.text, " x"]
    again = whole(path)
    assert [row.get("id", "") for row in again.info] == ['a"<1', ""]
    assert [row.text for row in held(again)] == [one_text.text, " x"]


nested = texts(nested=True, parts=False, breaks=True)


@settings(max_examples=150)
@given(st.lists(nested, min_size=1, max_size=3), st.booleans())
def test_what_is_saved_is_read(wanted: list[MadeText], named: bool) -> None:
    """Without any options, and with those that name the tags."""
    ids = [f'{number} <é&\n"' if named else "" for number in range(len(wanted))]
    wanted = [replace(text, id=key) for text, key in zip(wanted, ids)]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "new.xml"
        save([made(wanted)], path)
        assert held(whole(path)) == wanted
        options = {"document_tag": "document", "sentence_tag": "sentence"}
        assert held(whole(path, **options)) == wanted
        part = made(wanted)
        again = Path(folder) / "again.xml"
        save([part.cut(i, i + 1) for i in range(len(part))], again)
        assert again.read_bytes() == path.read_bytes()
        root = ElementTree.parse(path).getroot()
        assert ["".join(each.itertext()) for each in root] == [text.text for text in wanted]


@pytest.mark.parametrize(
    ("text", "kind", "left"),
    [
        (MadeText("a b c", frozenset({(0, 2, "X"), (1, 3, "Y")})), "crossed", "<X>a b</X> c"),
        (MadeText("a b", frozenset({(0, 1, "G#DNA"), (1, 2, "X")})), "label", "a <X>b</X>"),
        (MadeText("a b", frozenset({(0, 1, "two words")})), "label", "a b"),
        (MadeText("a b", frozenset({(0, 1, "sentence")})), "label", "a b"),
        (MadeText("a b", frozenset({(0, 1, "")})), "label", "a b"),
        (
            MadeText("a b c", frozenset(), frozenset({(((0, 1), (4, 5)), "X")})),
            "discontinuous",
            "a b c",
        ),
        (MadeText("a b", missing=frozenset({1})), "unannotated", "a b"),
    ],
)
def test_what_cannot_be_saved(tmp_path: Path, text: MadeText, kind: str, left: str) -> None:
    path = tmp_path / "new.xml"
    with pytest.raises(InexpressibleError, match=rf"^1 \w+ .*{kind}.*, the first at made.*--lossy"):
        save([made([text])], path)
    assert not [*tmp_path.iterdir()]
    done = save([made([text])], path, lossy=True)
    assert [found.kind for found in done.findings] == [kind]
    assert path.read_text().splitlines()[3] == f"<document>{left}</document>"


def test_a_mention_that_is_no_span_may_cross_a_sentence(tmp_path: Path) -> None:
    text = MadeText("one two", frozenset(), frozenset({(((1, 5),), "X")}), breaks=(1,))
    with pytest.raises(InexpressibleError, match="1 tag crossed, the first at made: X"):
        save([made([text])], tmp_path / "new.xml")
    save([made([text])], tmp_path / "new.xml", lossy=True)
    assert held(whole(tmp_path / "new.xml")) == [replace(text, others=frozenset())]


@pytest.mark.parametrize(
    ("encoding", "declared"), [("latin-1", "iso8859-1"), ("utf-16-le", "utf-16-le")]
)
def test_encodings_are_written(tmp_path: Path, encoding: str, declared: str) -> None:
    part = made([MadeText("ö", frozenset({(0, 1, "é")}))])
    save([part], tmp_path / "new.xml", encoding=encoding)
    raw = (tmp_path / "new.xml").read_bytes().decode(encoding)
    assert raw.startswith(f'<?xml version="1.0" encoding="{declared}"?>')
    assert held(whole(tmp_path / "new.xml", encoding=encoding)) == held(part)
    with pytest.raises(FileError, match="cannot be written as ascii"):
        save([part], tmp_path / "ascii.xml", encoding="ascii")
    assert [file.name for file in tmp_path.iterdir()] == ["new.xml"]


def test_what_cannot_be_a_file(tmp_path: Path) -> None:
    for name in ("a.tar", "a.tgz", "a.tar.gz"):
        with pytest.raises(FileError, match="archives are not written"):
            save([made([MadeText("a")])], tmp_path / name)
    for text in ("a \0", "a \ud800"):
        with pytest.raises(FileError, match=r"made, Doc 0, token .: no text file can hold"):
            save([made([MadeText(text)])], tmp_path / "a.xml")
    assert not [*tmp_path.iterdir()]


def test_columns_as_tags(tmp_path: Path) -> None:
    (tmp_path / "in.bio").write_text("Ada B-PER\n& O\n\nBo B-PER\nLee I-PER\n")
    save(read(tmp_path / "in.bio"), tmp_path / "new.xml.gz", scheme="bio")
    part = whole(tmp_path / "new.xml.gz")
    assert [part.text(number) for number in range(2)] == ["Ada &", "Bo Lee"]
    assert list(part.known().spans) == [[(0, 1, "PER")], [(0, 2, "PER")]]


def test_the_case(tmp_path: Path) -> None:
    part = whole(FILES / "inline.xml", sentence_tag="s")
    found = [(part.text(s, a, b), label) for s in range(2) for a, b, label in part.known().spans[s]]
    assert found == [
        ("Ada Lovelace", "PER"),
        ("Charles Babbage", "PER"),
        ("London", "LOC"),
        ("Acme Corp.", "ORG"),
    ]
    save([part], tmp_path / "new.xml")
    assert held(whole(tmp_path / "new.xml")) == held(part)


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


def corpus(name: str, **options: Any) -> list[TaggedText]:
    files = inline_files(CORPORA / f"{name}.tar.gz", "latin-1")
    return [one(raw, **options) for _, raw in files]


def labels_of(found: TaggedText) -> list[str]:
    return [label for _, _, label, _ in found.mentions]


@needs_shared
def test_seminars() -> None:
    found = corpus("sa", ignore_tags=("sentence", "paragraph"))
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
    how = ReadOptions(label_attribute="sem", document_tag="article", sentence_tag="sentence")
    found = tagged_texts(raw, how)
    kinds = ("G#protein", "G#DNA", "G#RNA", "G#cell_type", "G#cell_line")
    assert sum(label.startswith(kinds) for text in found for label in labels_of(text)) == 56_079
    assert sum(len(text.boundaries) for text in found) == 2 * 18_546
    assert not any(text.problems for text in found)
    options = {"label_attribute": "sem", "document_tag": "article", "sentence_tag": "sentence"}
    part = whole(path, **options)
    # The number of an article stands before its first sentence. No mention is in two sentences.
    assert (len(part.opens), len(part)) == (2000, 18_546 + 2000)
    assert {found.kind for found in part.findings} <= {"repeated", "empty", "misaligned"}


@needs_shared
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("sa", {"ignore_tags": ("sentence", "paragraph")}),
        ("acq", {}),
        ("jobs", {"unbalanced": "text"}),
    ],
)
def test_corpora_come_back(tmp_path: Path, name: str, options: dict[str, Any]) -> None:
    part = whole(CORPORA / f"{name}.tar.gz", encoding="latin-1", **options)
    done = save([part], tmp_path / "new.xml", lossy=True)
    left_out = [found for found in done.findings if found.kind in ("crossed", "label")]
    again = whole(tmp_path / "new.xml")
    if not left_out:
        assert held(again) == held(part)
    assert again.words.strings() == part.words.strings()
    assert again.info == part.info
    assert again.known().spans.total == part.known().spans.total - len(left_out)


def test_findings_of_texts_without_tokens_are_told(tmp_path: Path) -> None:
    """They are those of the next text, else of the last one; or of none at all."""
    files = {"a": b"<x> </x>", "b": b"b", "c": b"</y>"}
    options = {"format": "inline", "unbalanced": "skip"}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    part = whole(tmp_path, **options)
    assert part.tokens == 1
    assert [(found.kind, found.place) for found in part.findings] == [
        ("empty", f"{tmp_path / 'a'}:1"),
        ("unbalanced", f"{tmp_path / 'c'}:1"),
    ]
    part = whole(tmp_path / "a", **options)
    assert (len(part), part.tokens, part.name) == (0, 0, str(tmp_path / "a"))
    assert [found.kind for found in part.findings] == ["empty"]
    done = save([part], tmp_path / "new.xml")
    assert (done.documents, [found.kind for found in done.findings]) == (0, ["empty"])
    assert not list(read(tmp_path / "new.xml"))
