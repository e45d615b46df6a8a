"""Inline-tagged texts as Docs, and the commands for that; test_format_inline.py has the rest."""

from __future__ import annotations

import io
import json
import re
import tarfile
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import DocBin

from spacy_iobes.corpus import Sentences, make_docs, read

from .commands import fine, run

XML = """<?xml version="1.0"?>
<!DOCTYPE set [<!ELEMENT set (a)>]>
<set><!-- <x>no</x> -->
<article id="1"><sentence><cons sem="G#DNA">IL&lt;2 <cons sem='G&amp;p'>&#945;&unknown;</cons>\
</cons>.</sentence><sentence>R&amp;D</sentence></article>
<article><sentence><cons lex="q">x</cons> <![CDATA[<x>&lt;]]> <cons sem="G#DNA"/></sentence>\
</article>
</set>
"""


def archive(path: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz" if path.name.endswith("gz") else "w") as made:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            made.addfile(member, io.BytesIO(data))
    return path


# Tokens and Docs


def whole(path: Path, form: str = "auto", **how: Any) -> Sentences:
    (part,) = read(path, **{"format": form, **how})
    return part


def gone(part: Sentences) -> list[tuple[str, str]]:
    return [(each.kind, each.gone[0][2]) for each in part.findings]


def found(part: Sentences) -> list[list[tuple[str, str]]]:
    spans = part.known().spans
    return [
        [(part.text(number, start, end), label) for start, end, label in sorted(row)]
        for number, row in enumerate(spans)
    ]


def test_mentions_within_tokens(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("at <x>3p</x>m, <x>room5</x>")
    part = whole(path, "inline")
    assert gone(part) == [("misaligned", "3p")]
    assert found(part) == [[("room5", "x")]]
    part = whole(path, "inline", misaligned="split")
    assert part.words.strings() == ["at", "3p", "m", ",", "room5"]
    assert found(part) == [[("3p", "x"), ("room5", "x")]]
    assert part.words.document(0) == "at 3pm, room5"
    assert not part.findings
    part = whole(path, "inline", misaligned="expand")
    assert found(part) == [[("3pm", "x"), ("room5", "x")]]


def test_brat_and_json_tokens_are_split_too(tmp_path: Path) -> None:
    (tmp_path / "brat").mkdir()
    (tmp_path / "brat" / "1.txt").write_text("unhappy people")
    (tmp_path / "brat" / "1.ann").write_text("T1\tA 2 7\thappy\nT2\tB 0 1;8 9\tu p\n")
    part = whole(tmp_path / "brat", misaligned="split")
    assert part.words.strings() == ["un", "happy", "p", "eople"]
    path = tmp_path / "a.jsonl"
    rows = [
        {"text": "unhappy people", "spans": [[2, 7, "A"], [5, 7, "B"]]},
        {"tokens": ["unhappy", "people"], "spans": [[0, 1, "A"]]},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    first, second = read(path, misaligned="split")
    assert first.words.strings() == ["un", "hap", "py", "people"]
    assert found(first) == [[("happy", "A"), ("py", "B")]]
    assert second.words.strings() == ["unhappy", "people"]


@pytest.mark.parametrize("language", ["", "en"])
def test_sentences_stand_in_tags(tmp_path: Path, language: str) -> None:
    path = tmp_path / "a"
    path.write_text("Head:\n\n<s>One <x>two</s></x>\n <s>three <x>four</s> five</x>\nend\n")
    part = whole(path, "inline", sentence_tag="s", lang=language)
    (doc,) = make_docs([part], spacy.blank("en").vocab, "spans:sc", "document")
    assert doc.text == re.sub("</?[sx]>", "", path.read_text())
    assert [sent.text.split() for sent in doc.sents] == [
        ["Head:"],
        ["One", "two"],
        ["three", "four", "five", "end"],  # a mention goes over the boundary, so there is none
    ]
    assert [each.kind for each in part.findings] == ["crossing"]
    assert [span.text for span in doc.spans["sc"]] == ["two", "four five"]


# The command


def test_convert(tmp_path: Path) -> None:
    raw = "Time: <stime>3 PM</stime>\n<p>In <location>room <n>5</n></location>"
    path, out = tmp_path / "a.txt", tmp_path / "out.spacy"
    path.write_text(raw, encoding="latin-1")
    options = ["--format", "inline", "--lang", "en", "--unit", "document"]
    assert "line 2: a tag without its other half" in run("convert", path, out, *options).stderr
    text = fine("convert", path, out, *options, "--set", "ignore-tag=p").stdout
    assert "3 spans in 1 document, 1 sentence, 8 tokens" in text
    (doc,) = DocBin().from_disk(out).get_docs(spacy.blank("en").vocab)
    assert [span.text for span in doc.spans["sc"]] == ["3 PM", "room 5", "5"]
    more = ["--set", "unbalanced=skip", "--set", "ignore-tag=n"]
    text = fine("convert", path, out, *options, *more).stdout
    assert "1 tag unbalanced, the first at" in text
    (doc,) = DocBin().from_disk(out).get_docs(spacy.blank("en").vocab)
    assert [(ent.text, ent.label_) for ent in doc.ents] == [
        ("3 PM", "stime"),
        ("room 5", "location"),
    ]
    result = run("convert", path, out, *options, "--set", "unbalanced=drop")
    assert "Known: raise, text, skip" in result.stderr


def test_convert_xml(tmp_path: Path) -> None:
    path, out = tmp_path / "a.xml", tmp_path / "out.spacy"
    path.write_text(XML, encoding="utf8")
    names = (
        "--set",
        "label-attribute=sem",
        "--set",
        "document-tag=article",
        "--set",
        "sentence-tag=sentence",
    )
    options = ("--unit", "document", "--lossy", "--json")
    (result,) = json.loads(fine("convert", path, out, *names, *options).stdout)
    assert (result["documents"], result["sentences"]) == (2, 3)
    assert result["labels"] == {"G#DNA": 1, "G&p": 1}
    assert [each["kind"] for each in result["findings"]] == ["empty"]
    text = "a <x>b</x> &amp;"
    (tmp_path / "b.txt").write_text(text)
    made = fine("convert", tmp_path / "b.txt", out, "--format", "inline", "--set", "xml").stdout
    assert "3 tokens" in made


def test_roundtrip_of_an_archive(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.tgz", {"a": b"<x>one <y>two</y></x>", "b": b"<x>three</x>"})
    assert "2 sentences, 3 tokens" in fine("validate", "--fits", "separators", path, "-q").stdout
