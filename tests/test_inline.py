"""Inline-tagged texts as Docs, and the commands for that; test_format_inline.py has the rest."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import DocBin

from spacy_iobes.corpus import Markup, NestedReading, TextReading
from spacy_iobes.corpus.nested_corpus import nested

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
