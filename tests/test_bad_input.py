"""Files that are huge, damaged, hostile or changing: one line, an exit code and nothing else."""

from __future__ import annotations

import builtins
import gzip
import io
import json
import os
import random
import re
import subprocess
import sys
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import spacy
import srsly
from spacy.tokens import Doc, DocBin
from spacy.tokens import Span as DocSpan

from spacy_iobes import kernels
from spacy_iobes.kernels import columns_numpy

from .commands import fine, run
from .people import column_file
from .shared import environment
from .small_sessions import small

posix = pytest.mark.skipif(sys.platform == "win32", reason="files and terminals are others there")
LARGEST = "spacy_iobes.kernels.columns_numpy.LARGEST"


def one_line(*arguments: object) -> str:
    """What a command says that cannot use a file."""
    result = run(*arguments)
    assert result.exit_code == 2, (result.exception, result.output)
    assert re.fullmatch(r"Error: [^\n]+\n", result.stderr), result.stderr
    assert not result.stdout
    return result.stderr


# Sentences beyond what 32 bits can number, and long ones.


@pytest.fixture
def one_long(tmp_path: Path) -> Path:
    """A short sentence, and one of 3 MB that begins in line 3."""
    path = tmp_path / "long"
    path.write_text("a O\n\n" + "bcdefg O\n" * (3_000_000 // 9))
    return path


@pytest.mark.parametrize(
    "line",
    [
        "validate {x}",
        "convert {x} {out} -s bio --to-scheme iobes",
        "summarize --mentions {x} -s bio -o {out}",
        "repair {x} {out} -s bio -p begin",
        "score {x} {x} -s bio -o {out}",
        "convert {x} {out} -t tokens",
        "convert {x} {out}.spacy -s bio",
        "validate {x} -s bio",
    ],
)
def test_a_sentence_that_is_too_large_is_refused_with_its_line(
    one_long: Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LARGEST, 1 << 20)
    words = line.format(x=one_long, out=one_long.with_name("out")).split()
    assert one_line(*words) == (
        f"Error: {one_long}, line 3: the sentence that begins here is larger than 1,048,576 "
        "bytes. Put a blank line between sentences.\n"
    )
    assert os.listdir(one_long.parent) == ["long"]


def test_only_one_sentence_has_a_largest_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LARGEST, 1 << 20)
    path = tmp_path / "many"
    path.write_text(("Ada B-PER\nmet O\n" * 40_000 + "\n") * 5)  # 640,000 bytes each
    printed = fine("validate", path, "-s", "bio").stdout
    assert "no violations of bio in 1 document, 5 sentences, 400,000 tokens" in printed


@pytest.mark.parametrize("scan", [kernels.scan, columns_numpy.scan])
def test_no_place_is_cut_to_32_bits(
    scan: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    layout = columns_numpy.Layout(b"", 0, -1, 0, b"", ())
    monkeypatch.setattr(LARGEST, 8)
    assert len(scan(b"a O\nb O\n", True, layout, {}).codes) == 2
    with pytest.raises(OverflowError, match="9 bytes are more than 8"):
        scan(b"a O\nb O\n\n", True, layout, {})


def test_one_long_sentence_is_scanned_a_few_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, sizes, scan = tmp_path / "long", list[int](), kernels.scan

    def counting(buffer: bytes, *others: Any) -> Any:
        sizes.append(len(buffer))
        return scan(buffer, *others)

    monkeypatch.setattr(kernels, "scan", counting)
    for megabytes in (4, 16):
        path.write_bytes(b"token O\n" * (megabytes << 17))
        sizes.clear()
        fine("summarize", path, "-s", "bio")
        assert path.stat().st_size <= sum(sizes) <= 4 * path.stat().st_size


# Archives.

TAGGED = b"<PER>Ada</PER> met <LOC>Rome</LOC>"
LINKS = {
    "a link to nothing": [("b", tarfile.SYMTYPE, "nowhere")],
    "a hard link to nothing": [("b", tarfile.LNKTYPE, "nowhere")],
    "a link to itself": [("b", tarfile.SYMTYPE, "b")],
    "a hard link to itself": [("b", tarfile.LNKTYPE, "b")],
    "a ring of links": [("b", tarfile.SYMTYPE, "c"), ("c", tarfile.SYMTYPE, "b")],
    "a link out of it": [("b", tarfile.SYMTYPE, "/etc/passwd")],
    "a link up": [("d/b", tarfile.SYMTYPE, "../../../etc/passwd")],
}


def archive(path: Path, *members: tuple[str, bytes, str], mode: str = "w", **more: Any) -> Path:
    """An archive of a text and other members."""
    with tarfile.open(path, mode, **more) as made:  # type: ignore[call-overload]
        text = tarfile.TarInfo("a.txt")
        text.size = len(TAGGED)
        made.addfile(text, io.BytesIO(TAGGED))
        for name, kind, target in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, target
            made.addfile(member)
    return path


def unpackable(path: Path) -> str:
    """What the commands say that read archives, which is the same."""
    said = one_line("convert", path, path.with_name("out.spacy"))
    assert said.startswith(f"Error: {path}")
    assert one_line("validate", "--fits", "separators", path) == said
    assert one_line("strategies", path) == said
    return said


@pytest.mark.parametrize("kind", LINKS)
def test_links_of_archives_that_lead_nowhere(tmp_path: Path, kind: str) -> None:
    said = unpackable(archive(tmp_path / "a.tar", *LINKS[kind]))
    name, _, target = LINKS[kind][0]
    assert f"{name} is a link to {target}, which is no file of the archive" in said


def test_what_is_no_file_of_an_archive_is_left_aside(tmp_path: Path) -> None:
    others = [
        ("directory", tarfile.DIRTYPE, ""),
        ("pipe", tarfile.FIFOTYPE, ""),
        ("device", tarfile.CHRTYPE, ""),
        ("disk", tarfile.BLKTYPE, ""),
        ("../../../b", tarfile.LNKTYPE, "a.txt"),  # is not written anywhere
        ("/c", tarfile.LNKTYPE, "a.txt"),
    ]
    path = archive(tmp_path / "a.tar", *others)
    printed = fine("convert", path, tmp_path / "out.spacy").stdout
    assert " in 3 documents, " in printed
    assert sorted(os.listdir(tmp_path)) == ["a.tar", "out.spacy"]


def header(size: bytes, kind: bytes = tarfile.REGTYPE, real: bytes = b"") -> bytes:
    """A member of an archive whose size is not what follows."""
    member = tarfile.TarInfo("b.txt")
    member.type = kind
    block = bytearray(member.tobuf(tarfile.GNU_FORMAT))
    block[124:136] = size.rjust(12, b"\0")
    if real:  # of a sparse file, which has one piece at its end
        block[386:398], block[398:410] = real, b"0" * 11 + b"\0"
        block[483:495] = real
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def number(value: int) -> bytes:
    """A size as GNU tar writes large and negative ones."""
    return (
        (value & (1 << 95) - 1 | 1 << 95).to_bytes(12, "big")
        if value >= 0
        else ((1 << 96) + value).to_bytes(12, "big")
    )


@pytest.mark.parametrize(
    ("block", "said"),
    [
        (header(number(2**33)), "more than 2,147,483,647 bytes"),
        (header(number(2**60)), "more than 2,147,483,647 bytes"),
        (header(number(2**80)), "cannot be read as an archive"),
        (header(number(-5)), "b.txt has a negative size"),
        (header(b"0" * 11 + b"\0", tarfile.GNUTYPE_SPARSE, number(2**40)), "more than 2,147,483"),
    ],
    ids=["8 GB", "1 EB", "1 YB", "negative", "sparse"],
)
def test_sizes_that_archives_make_up(tmp_path: Path, block: bytes, said: str) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(block + bytes(1024))
    assert said in unpackable(path)


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz"])
def test_damaged_archives(tmp_path: Path, kind: str) -> None:
    """Not one wrong byte is taken for text."""
    path = tmp_path / "a.tgz"
    numbers = random.Random(0)
    text = "".join(numbers.choice("abcdefghij") for _ in range(50_000)).encode()
    with tarfile.open(path, f"w:{kind}") as made:  # type: ignore[call-overload]
        member = tarfile.TarInfo("a.txt")
        member.size = len(text)
        made.addfile(member, io.BytesIO(text))
    whole = path.read_bytes()
    fine("convert", path, tmp_path / "out.spacy")
    for place in (len(whole) // 2, len(whole) // 3, len(whole) - 6):
        damaged = bytearray(whole)
        damaged[place] ^= 0x10
        path.write_bytes(damaged)
        assert "cannot be read" in one_line("convert", path, tmp_path / "out.spacy")
    path.write_bytes(whole[: len(whole) // 2])
    assert "cannot be read" in unpackable(path)


@pytest.mark.parametrize("content", [b"", bytes(10240), b"Ada met Bo. " * 99])
def test_what_is_no_archive(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(content)
    unpackable(path)


# JSON.

DEEP = {
    "lists": "[" * 100_000 + "]" * 100_000,
    "objects": '{"a": ' * 50_000 + "1" + "}" * 50_000,
    "lists without an end": "[" * 100_000,
    "objects without an end": '{"a": ' * 100_000,
    "in spans": '{"text": "Ada", "spans": ' + "[" * 9_999 + "]" * 9_999 + "}",
    "in what is kept": '{"text": "Ada", "spans": [], "meta": ' + "[" * 500 + "]" * 500 + "}",
}
WRONG = {
    "NaN": r'{"text": "Ada", "spans": [{"start": NaN, "end": 3, "label": "PER"}]}',
    "infinity": r'{"text": "Ada", "spans": [{"start": 0, "end": 1e999, "label": "PER"}]}',
    "a number that is too large": '{"text": "Ada", "spans": [[0, 1' + "0" * 40 + ', "PER"]]}',
    "a number of 5,000 digits": '{"text": "Ada", "spans": [[0, ' + "9" * 5_000 + ', "PER"]]}',
    "half a character": r'{"text": "Ada \ud83d met", "spans": [[0, 3, "PER"]]}',
    "half a character in a label": r'{"text": "Ada", "spans": [[0, 3, "P\udc00"]]}',
    "half a character in a token": r'{"tokens": ["Ada", "\uDBFF"], "spans": [[0, 1, "PER"]]}',
    "half a character in what is kept": r'{"text": "Ada", "spans": [], "meta": {"\ud800": 1}}',
    "truth in place of a number": '{"text": "Ada", "spans": [[false, true, "PER"]]}',
    "no object": "3",
    "text that is none": '{"text": ["Ada"], "spans": []}',
    "the end is missing": '{"text": "Ada", "spans": [',
}
READ_JSON = """
annotate {x} {new} -l PER --no-browser
annotate {state} --take {x}
score {x} {x} --html {new}
validate --fits separators {x}
score {x} {x}
select {x} --learn {x} -l PER
simulate {x} -l PER
convert {x} {new}.spacy
train {x} {x} --nested --print-config
tune {model} {x}
""".strip().split("\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session, and a pipeline that finds nested mentions."""
    folder = tmp_path_factory.mktemp("bad")
    source = column_file(folder / "people", 12)
    options = ["-s", "bio", "--nested", "--max-steps", 1]
    fine("train", source, source, *options, "-o", folder / "model")
    small(folder / "state", labels=("PER",)).close()
    return folder


@pytest.fixture
def places(folder: Path, tmp_path: Path) -> dict[str, Path]:
    """What stands for what in command lines."""
    pytest.importorskip("starlette", reason="annotate needs it")
    return {"model": folder / "model", "state": folder / "state", "new": tmp_path / "new"}


@pytest.mark.parametrize("kind", [*DEEP, *WRONG])
@pytest.mark.parametrize("ending", ["jsonl", "json"])
def test_json_that_is_no_text_with_spans(
    places: dict[str, Path], tmp_path: Path, ending: str, kind: str
) -> None:
    path = tmp_path / f"a.{ending}"
    path.write_text({**DEEP, **WRONG}[kind])
    for line in READ_JSON:
        said = one_line(*line.format(x=path, **places).split())
        assert said.startswith(f"Error: {path}, line 1: "), said
        assert (kind in DEEP) == ("values in values, more than 100 deep" in said)
        assert ("half a character" in kind) == ("half of a surrogate pair" in said)
    assert os.listdir(tmp_path) == [path.name]


def test_deep_json_behind_a_good_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "Ada", "spans": []}\n\n' + DEEP["objects"])
    assert f"{path}, line 3: values in values" in one_line("validate", "--fits", "separators", path)


def test_both_halves_are_a_character(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        r'{"text": "Ada \ud83d\ude00 met", "spans": [[0, 3, "PER"]], "id": "\uD83D\uDE00"}'
    )
    fine("convert", path, tmp_path / "a.spacy")
    fine("convert", tmp_path / "a.spacy", tmp_path / "b.jsonl")
    assert json.loads((tmp_path / "b.jsonl").read_bytes())["text"] == "Ada \U0001f600 met"


@pytest.mark.parametrize("content", [*DEEP.values(), '{"P": [["PER"]]}', '{"P": [1]}', "[]"])
def test_names_of_labels_in_json(tmp_path: Path, content: str) -> None:
    source, path = column_file(tmp_path / "people", 2), tmp_path / "names.json"
    path.write_text(content)
    said = one_line("convert", source, "-", "-s", "bio", "--map", path)
    assert f"{path}: not JSON of the form" in said


# Encodings.


@pytest.mark.parametrize(
    "name", ["rot13", "idna", "punycode", "undefined", "base64", "zlib", "", "utf8\0", "nothing"]
)
def test_what_is_no_encoding_of_text(tmp_path: Path, name: str) -> None:
    source, out = column_file(tmp_path / "people", 2), tmp_path / "out"
    for line in (
        ["validate", source, "-s", "bio"],
        ["convert", source, "-", "-t", "tokens"],
        ["convert", source, out, "-s", "bio", "--to-scheme", "iobes"],
        ["score", source, source, "-s", "bio"],
        ["convert", source, tmp_path / "out.spacy", "-s", "bio"],
        ["train", source, source, "-s", "bio", "--print-config"],
    ):
        assert f"no text encoding {name!r}" in one_line(*line, "--encoding", name)
    assert not out.exists()


def test_half_a_character_in_utf_7(tmp_path: Path) -> None:
    out, half = tmp_path / "out.spacy", b"+2AA-"
    (tmp_path / "a").write_bytes(b"Ada O\n\n" + half + b" O\n")
    (tmp_path / "a.jsonl").write_bytes(b'+AHs-"text": "' + half + b'", "spans": []+AH0-')
    (tmp_path / "a.xml").write_bytes(b"<PER>Ada" + half + b"</PER>")
    brat = tmp_path / "brat"
    brat.mkdir()
    (brat / "a.txt").write_bytes(b"Ada " + half)
    (brat / "a.ann").write_bytes(b"T1\tPER 0 3\tAda\n")
    for line in (
        ["validate", tmp_path / "a", "-s", "bio"],
        ["validate", tmp_path / "a"],
        ["convert", tmp_path / "a", out, "-s", "bio", "--to-scheme", "iobes"],
        ["convert", tmp_path / "a", "-", "-t", "tokens"],
        ["convert", tmp_path / "a", out, "-s", "bio"],
        ["convert", tmp_path / "a.jsonl", out],
        ["convert", tmp_path / "a.xml", out],
        ["convert", brat, out],
    ):
        said = one_line(*line, "--encoding", "utf-7")
        place = "line 3" if line[1] == tmp_path / "a" else "line 1"
        assert f"{place}: \\ud800, half of a surrogate pair, is no character" in said


# brat.


@pytest.mark.parametrize(
    "places_of",
    ["5 2", "0 99", "-1 3", "0 3;", "0", "0 " + "9" * 5_000, "9" * 5_000 + " 3", "0 3;1 99", "a b"],
)
def test_mentions_of_brat_that_are_no_part_of_the_text(tmp_path: Path, places_of: str) -> None:
    (tmp_path / "a.txt").write_text("Ada met Bo")
    (tmp_path / "a.ann").write_text(f"T1\tPER 0 3\tAda\nT2\tPER {places_of}\tAda\n")
    for path in (tmp_path, tmp_path / "a.ann"):
        for line in (["summarize", path], ["score", path, path], ["convert", path, "o.spacy"]):
            assert f"{tmp_path / 'a.ann'}, line 2: " in one_line(*line)


# DocBins.


def docbin() -> bytes:
    """Docs with entities and a span group."""
    doc = Doc(spacy.blank("en").vocab, words=["Ada", "met", "Bo"], ents=["B-PER", "O", "B-PER"])
    doc.spans["sc"] = [DocSpan(doc, 0, 3, "SCENE")]  # spaCy has EVENT without its string
    data: bytes = DocBin(docs=[doc] * 3).to_bytes()
    return data


def without(name: str) -> bytes:
    """The same Docs, but one of their strings is missing."""
    held = srsly.msgpack_loads(zlib.decompress(docbin()))
    held["strings"].remove(name)
    return zlib.compress(srsly.msgpack_dumps(held))


@pytest.mark.parametrize(
    "content",
    [
        docbin()[:-1],
        docbin()[: len(docbin()) // 2],
        docbin()[:40] + b"x" + docbin()[41:],
        gzip.compress(docbin()[:-9]),
        zlib.compress(b"Ada met Bo"),
        zlib.compress(srsly.msgpack_dumps({"attrs": []})),
        without("PER"),
        without("SCENE"),
        without("Ada"),
        b"",
    ],
    ids=["cut", "half", "damaged", "gzip", "text", "empty", "no label", "no span", "no word", "0"],
)
def test_damaged_docbins(places: dict[str, Path], tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.spacy"
    path.write_bytes(content)
    for line in (
        "summarize {x}",
        "convert {x} {new} --to-scheme bio",
        "annotate {state} --take {x}",
        "predict {model} {x} {new}.spacy",
        "validate --fits separators {x}",
        f"score {{x}} {{x}} {'-g sc' * (content == without('SCENE'))}",
        "simulate {x} -l PER",
        "convert {x} {new}.spacy",
        "train {x} {x} --print-config",
        "train {x} {x} --nested --print-config",
    ):
        said = one_line(*line.format(x=path, **places).split())
        assert said.startswith(f"Error: {path}: not a DocBin, or a damaged one (")
    assert os.listdir(tmp_path) == ["a.spacy"]


# Names.


@pytest.mark.parametrize("name", ["", "a\0b"])
def test_what_is_no_name_of_a_file(folder: Path, tmp_path: Path, name: str) -> None:
    good = folder / "people"
    for line in (
        ["validate", name, "-s", "bio"],
        ["convert", good, name, "-s", "bio", "--to-scheme", "iobes"],
        ["validate", "--fits", "separators", name, "-s", "bio"],
        ["score", good, name, "-s", "bio"],
        ["score", good, name, "-s", "bio"],
        ["simulate", name, "-s", "bio", "-l", "PER"],
        ["convert", name, tmp_path / "a.spacy", "-s", "bio"],
        ["train", name, good, "-s", "bio", "--print-config"],
        ["train", name, good, "-s", "bio", "--print-config", "--nested"],
    ):
        assert "no name of a file" in one_line(*line)
    for line in (
        ["annotate", good, "a\0b", "-s", "bio", "-l", "PER", "--existing", "keep"],
        ["strategies", good, "-s", "bio", "-o", "a\0b"],
        ["train", good, good, "-s", "bio", "-o", "a\0b"],
    ):
        if line[0] == "annotate":
            pytest.importorskip("starlette")
        assert "no name of a file" in one_line(*line)


def test_no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, real = column_file(tmp_path / "people", 2), builtins.open

    def opening(file: Any, *others: Any, **more: Any) -> Any:
        if str(file) == str(path):
            raise MemoryError
        return real(file, *others, **more)

    monkeypatch.setattr(builtins, "open", opening)
    assert "not enough memory" in one_line("validate", path, "-s", "bio")


# Files that some bytes of are wrong.

STRANGE = [b"\0", b"\xff", b"\xed\xa0\x80", b"\n", b"\r", b"\t", b"\\ud800", b'"', b"{", b"]", b"<"]
STRANGE += [b"NaN", b"-1", b"9" * 30, b"null", b"&#xD800;", b"&", b";", b" ", b"T1", b"\x1b[31m"]
MODEL = {
    "a.conll": b"\xef\xbb\xbf# newdoc\n-DOCSTART- O\n\nAda B-PER\nmet O\n"
    b"\nB\xc3\xb6 I-PER\nLo B-X\n",
    "a.jsonl": b'{"text": "Ada met Bo", "spans": [{"start": 0, "end": 3, "label": "PER"}], "id": 1}'
    b'\n{"tokens": ["Ada", "met"], "spans": [[0, 1, "PER"]], "answer": "accept"}\n'
    b'["Ada met Bo", {"entities": [[0, 3, "PER"]]}]\n',
    "a.json": b'[{"text": "Ada", "spans": null}, {"tokens": ["Ada"], "spans": [[0, 1, "PER"]]}]',
    "a.xml": b"<?xml version='1.0'?>\n<d><s><PER a='b'>Ada &amp; Bo</PER> "
    b"<L>New <X>York</X></L></s></d>",
    "a.ann": b"T1\tPER 0 3\tAda\nT2\tLOC 8 10;11 15\tin Rome\nR1\tat Arg1:T1 Arg2:T2\n",
    "a.spacy": docbin(),
    "b.spacy": zlib.decompress(docbin()),
    "a.tar": b"",
}
LINES = {
    "conll": [
        "validate {x}",
        "convert {x} {out} -s bio --to-scheme iobes -p begin",
        "summarize --mentions {x} -s bio -p begin -o {out}",
        "score {x} {x} -s bio -p begin --gold-policy begin -o {out}",
        "convert {x} {out} -t tokens --encoding utf-7",
        "convert {x} {out}.spacy -s bio -p begin",
        "validate {x} -s bio --comment #",
        "validate {x} -s bio --encoding utf-16",
    ],
    "spacy": [
        "summarize {x}",
        "convert {x} {out} --to-scheme bio -p begin",
        "convert {x} {out} --to jsonl --spans-key sc --lossy",
        "validate --fits separators {x}",
        "score {x} {x} -o {out}",
        "simulate {x} -l PER --set rule=never",
        "convert {x} {out}.spacy",
    ],
    "": [
        "validate --fits separators {x}",
        "score {x} {x} -o {out}",
        "convert {x} {out}.spacy --misaligned split",
        "convert {x} {out}.spacy --sentences lines --set unbalanced=skip",
        "convert {x} {out}.spacy --set unbalanced=text --set sentence-tag=s",
    ],
}


def mutants(data: bytes, count: int) -> Iterator[bytes]:
    """The same bytes with a few of them changed, left out, doubled or cut off."""
    numbers = random.Random(0)
    for _ in range(count):
        made = bytearray(data)
        for _ in range(numbers.choice((1, 1, 2, 5))):
            at, size = numbers.randrange(len(made) + 1), numbers.randrange(1, 20)
            kind = numbers.randrange(6)
            if kind == 0:
                made[at : at + 1] = bytes([numbers.randrange(256)])
            elif kind == 1:
                made[at:at] = numbers.choice(STRANGE)
            elif kind == 2:
                made[at : at + size] = numbers.choice(STRANGE)
            elif kind == 3:
                made[at:at] = made[at // 2 : at // 2 + size]
            elif kind == 4:
                del made[at : at + size]
            else:
                del made[at:]
        yield bytes(made)


@pytest.mark.parametrize("name", MODEL)
def test_wrong_bytes_are_errors_or_text(tmp_path: Path, name: str) -> None:
    path, packed = tmp_path / name, name == "b.spacy"
    (tmp_path / "a.txt").write_text("Ada met in Rome.\n")
    content = MODEL[name]
    if path.suffix == ".tar":
        content = archive(path, ("b", tarfile.SYMTYPE, "a.txt")).read_bytes()[:2048]
    lines = LINES.get(path.suffix[1:], LINES[""])
    for number, data in enumerate(mutants(content, 150)):
        path.write_bytes(zlib.compress(data) if packed else data)
        line = lines[number % len(lines)].format(x=path, out=tmp_path / "out").split()
        result = run(*line)
        assert isinstance(result.exception, (SystemExit, type(None))), (line, data)
        assert result.exit_code in (0, 1, 2), (line, data)
        errors = [line.startswith("Error: ") for line in result.stderr.splitlines()]
        assert result.exit_code < 2 or (sum(errors), errors[-1]) == (1, True), (line, data)


# Terminals.

EVIL = "\x1b]0;owned\x07\x9b31m\u202e\x08\x7f"
RAW = re.compile(r"[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e]|\x1b(?!\[[\d;]*m)")
"""What steers a terminal, but for colours, which errors have."""
ESCAPED = re.compile(
    r"\\(x1b|u001b)\]0;owned\\(x07|u0007)\\(x|u00)9b31m\\u202e\\(x08|b)\\(x|u00)7f"
)


def on_a_terminal(*arguments: object) -> str:
    """What a command prints to a terminal."""
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "spacy_iobes", *map(str, arguments)]
    variables = environment(TERM="xterm", COLUMNS="250", OPENBLAS_NUM_THREADS="1")
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, env=variables)
    os.close(theirs)
    pieces = []
    while True:
        try:
            piece = os.read(ours, 1 << 16)
        except OSError:  # the process has ended
            break
        if not piece:
            break
        pieces.append(piece)
    process.wait()
    os.close(ours)
    return b"".join(pieces).decode().replace("\r\n", "\n")


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    """A folder of files whose names, tokens and labels steer terminals."""
    rows = f"Ada{EVIL} B-L{EVIL}\nmet O\nBo {{}}-L{EVIL}\n"
    for name, tag in (("good", "B"), ("bad", "I"), ("other", "S")):
        (tmp_path / f"{name}{EVIL}").write_text(rows.format(tag))
    spans = [[0, 1, f"L{EVIL}"], [len(EVIL) + 8, len(EVIL) + 10, f"L{EVIL}"]]
    line = json.dumps({"text": f"Ada{EVIL} met Bo", "spans": spans, "id": EVIL})
    (tmp_path / f"lines{EVIL}.jsonl").write_text(f"{line}\n" * 4)
    return tmp_path


@posix
@pytest.mark.parametrize(
    "line",
    [
        "validate {bad}",
        "compare {good} -a {bad} -b {good} -s bio",
        "convert {good} - -s bio --to-scheme iobes",
        "convert {good} {out} -s bio --to-scheme iobes",
        "summarize --mentions {good} -s bio",
        "summarize --mentions {good} -s bio --json",
        "score --errors {good} {good} -s bio",
        "repair {bad} {out} -s bio -p begin",
        "score {bad} {good} -s bio",
        "score {good} {good} -s bio",
        "score {good} {good} -s bio --layout csv",
        "score {good} {good} -s bio --layout conlleval",
        "summarize {good} -s bio",
        "convert {good} - -t tokens",
        "convert {good} {out}.spacy",
        "convert {lines} {out}.spacy",
        "train {lines} {lines} --nested -o {out} --max-steps 1",
        "validate {bad} -s bio",
        "validate {bad} -s bio --json",
        "validate {good} -s bio --{evil}",
        "validate {nothing} -s bio",
        "validate {other} -s bio",
    ],
)
def test_nothing_of_a_file_steers_a_terminal(evil: Path, line: str) -> None:
    names = ("good", "bad", "other", "nothing", "out")
    files = {name: evil / f"{name}{EVIL}" for name in names}
    files |= {"lines": evil / f"lines{EVIL}.jsonl"}
    printed = on_a_terminal(*(word.format(evil=EVIL, **files) for word in line.split()))
    assert not RAW.search(printed), repr(printed)
    assert ESCAPED.search(printed), repr(printed)


@posix
def test_data_in_pipes_and_files_stay_as_they_are(evil: Path) -> None:
    good, out = evil / f"good{EVIL}", evil / "out"
    label, text = f"L{EVIL}".encode(), f"Ada{EVIL}".encode()
    written = text + b" S-" + label + b"\nmet O\nBo S-" + label + b"\n"
    convert = ["convert", good, "-s", "bio", "--to-scheme", "iobes"]
    assert fine(*convert, "-").stdout_bytes == written
    fine(*convert, out)
    assert out.read_bytes() == written
    assert fine("convert", good, "-", "-t", "tokens").stdout_bytes == text + b" met Bo\n"
    assert text in fine("summarize", "--mentions", good, "-s", "bio").stdout_bytes
    assert label in fine("score", good, good, "-s", "bio", "--layout", "csv").stdout_bytes


@posix
def test_json_for_people_is_still_json(evil: Path) -> None:
    bad = evil / f"bad{EVIL}"
    (file,) = json.loads(run("validate", bad, "-s", "bio", "--json").stdout)["files"]
    assert file["file"] == str(bad)
    assert file["violations"][0]["current"] == f"I-L{EVIL}"


# Files that change while they are read.

BLOCK = b"Ada B-PER\nmet O\nBo B-PER\n\n"
BLOCKS = 60_000  # more than is read at a time


class Changing(io.FileIO):
    """A file that is changed once some of it was read."""

    def __init__(self, path: Path, change: Callable[[], None]):
        super().__init__(path)
        self.change: Callable[[], None] | None = change

    def readinto(self, buffer: Any) -> int | None:
        count = super().readinto(buffer)
        change, self.change = self.change, None
        if change:
            change()
        return count


def grow(path: Path) -> None:
    place = os.open(path, os.O_WRONLY | os.O_APPEND)
    os.write(place, BLOCK)
    os.close(place)


def shrink(path: Path) -> None:
    os.truncate(path, path.stat().st_size // len(BLOCK) // 2 * len(BLOCK))


def rewrite(path: Path) -> None:
    place = os.open(path, os.O_WRONLY)
    os.write(place, BLOCK.replace(b"Ada", b"Eva"))
    os.close(place)
    later = path.stat().st_mtime_ns + 10**9
    os.utime(path, ns=(later, later))


@pytest.mark.parametrize("change", [grow, shrink, rewrite])
@pytest.mark.parametrize(
    "line",
    [
        "validate {x}",
        "convert {x} {out} -s bio --to-scheme iobes",
        "score {x} {y} -s bio -o {out}",
        "score {y} {x} -s bio -o {out}",
        "convert {x} {out} -s bio",
        "validate {x} -s bio",
    ],
)
def test_a_file_that_changes_while_it_is_read(
    tmp_path: Path, line: str, change: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, other, out, real = tmp_path / "x", tmp_path / "y", tmp_path / "out.spacy", builtins.open
    path.write_bytes(BLOCK * BLOCKS)
    other.write_bytes(BLOCK * (BLOCKS // 2 if change is shrink else BLOCKS + (change is grow)))

    def opening(file: Any, mode: str = "r", *others: Any, **more: Any) -> Any:
        if str(file) == str(path) and mode == "rb":
            return io.BufferedReader(Changing(path, lambda: change(path)))
        return real(file, mode, *others, **more)

    monkeypatch.setattr(builtins, "open", opening)
    said = one_line(*line.format(x=path, y=other, out=out).split())
    assert said.startswith(f"Error: {path}: the file has changed while it was read.")
    assert not out.exists()


def test_a_file_that_is_replaced_was_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, real = tmp_path / "x", builtins.open
    path.write_bytes(BLOCK * BLOCKS)

    def replace() -> None:
        (tmp_path / "new").touch()
        (tmp_path / "new").replace(path)

    def opening(file: Any, mode: str = "r", *others: Any, **more: Any) -> Any:
        if str(file) == str(path) and mode == "rb":
            return io.BufferedReader(Changing(path, replace))
        return real(file, mode, *others, **more)

    monkeypatch.setattr(builtins, "open", opening)
    printed = fine("validate", path, "-s", "bio").stdout
    assert f"{BLOCKS:,} sentences" in printed


# The order in which labels are renamed and removed.


def test_labels_are_renamed_before_some_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("Rome B-LOC\nKenya B-GPE\n")
    options = ["--map", "LOC=GPE,GPE=LOC", "--remove", "LOC"]
    printed = fine("convert", path, "-", "-s", "bio", *options).stdout
    assert printed == "Rome B-GPE\nKenya O\n"
    said = " ".join(re.sub("[│╭╮╰╯─]", " ", fine("convert", "--help").stdout).split())
    assert "with --map, by their new names" in said
