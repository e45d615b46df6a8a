"""What errors say can be done: the command has every option they name, and following them helps."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import typer
from spacy.attrs import ENT_IOB, ENT_TYPE
from spacy.tokens import Doc, DocBin
from typer.testing import Result

from spacy_iobes.cli import MODULES, app

from .commands import fine, run
from .shared import SHARED, environment, needs_shared
from .small_sessions import small

WORDS = ("Ada", "King", "Lovelace", "met", "Bo")
GOOD = ("B-PER", "I-PER", "I-PER", "O", "B-PER")
BAD = ("I-PER", "I-PER", "I-PER", "O", "B-PER")  # in every scheme
IOBES = ("B-PER", "I-PER", "E-PER", "O", "S-PER")  # in no other scheme
FRAME = re.compile("[│╭╮╰╯─]")
OPTION = re.compile(r"(?:(?<![\w-])([a-z-]+) )?(--[a-z][a-z-]*(?: --[a-z][a-z-]*)*)")
REMEDY = re.compile(r"policy[^(.]*\((--[a-z-]+)\)")
SCHEMES = "io, iob1, bio, ioe1, ioe2, iobes, bilou"

ONE_FILE = """
annotate {x} {new} -s bio -l PER --no-browser
annotate {x} {new} -s bio -l PER --no-browser --nested
convert {x} {out} -s bio --to-scheme iobes
summarize --mentions {x} -s bio
annotate {state} --take {x} -s bio
convert {x} {out} -s bio --map PER=P
repair {x} {out} -s bio -p raise
validate --fits separators {x} -s bio
select {good} --learn {x} -s bio -l PER
select {x} --learn {good} -s bio -l PER
select {x} --learn {good} -s bio -l PER --nested
simulate {x} -s bio -l PER
strategies {x} -s bio
summarize {x} -s bio
convert {x} {out}.spacy -s bio
convert {x} {out}.spacy -s bio --spans-key sc
train {good} {x} -s bio --print-config
train {x} {good} -s bio --print-config
train {x} {good} -s bio --print-config --nested
tune {model} {x} -s bio
tune {nested} {x} -s bio
""".strip().split("\n")
"""Commands that read the tags of one file."""
GOLD = """
compare {x} -a {y} -b {y} -s bio
score --errors {x} {y} -s bio
score {x} {y} -s bio --html {out}
score {x} {y} -s bio --html {out}
score {x} {y} -s bio
score {x} {y} -s bio
score {x} {y} -s bio --policies
""".strip().split("\n")
"""Commands that compare the tags of gold with those of a prediction."""
OTHERS = {"explain", "generate", "info", "predict"}
"""Commands that read no tags, or refuse none."""
LONG = ("annotate", "strategies")
"""Commands that would go on and on if nothing was wrong."""


@dataclass(frozen=True)
class Data:
    """Files of the same words, and what some commands need beside them."""

    folder: Path
    target: Path

    def line(self, line: str, x: Path, y: Path | None = None) -> list[str]:
        """A command line about the files x and y."""
        places = {
            "x": x,
            "y": y or self.good,
            "good": self.good,
            "model": self.folder / "model",
            "nested": self.folder / "nested",
            "state": self.folder / "state",
            "out": self.target / "out",
            "new": self.target / "new",
        }
        return [word.format(**places) for word in line.split()]

    @property
    def good(self) -> Path:
        return self.folder / "good"

    @property
    def bad(self) -> Path:
        return self.folder / "bad"

    @property
    def iobes(self) -> Path:
        return self.folder / "iobes"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("advice")
    for name, tags in (("good", GOOD), ("bad", BAD), ("iobes", IOBES)):
        rows = "".join(f"{word} {tag}\n" for word, tag in zip(WORDS, tags))
        (folder / name).write_text("\n".join([rows] * 12))
    train = ["train", folder / "good", folder / "good", "-s", "bio", "--max-steps", 1]
    fine(*train, "-o", folder / "model")
    fine(*train, "-o", folder / "nested", "--nested")
    small(folder / "state", labels=("PER",)).close()
    return folder


@pytest.fixture
def data(folder: Path, tmp_path: Path) -> Data:
    return Data(folder, tmp_path)


def options(command: str) -> set[str]:
    """All options of a command."""
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    found = {
        name for each in commands[command].params for name in (*each.opts, *each.secondary_opts)
    }
    return found | {"--help"}


def said(result: Result) -> str:
    """What a command says beside its output, in one line."""
    return " ".join(FRAME.sub(" ", result.stderr).split())


def lacking(command: str, text: str) -> set[str]:
    """The options in a text that the command lacks, or another one that stands before them."""
    found = set()
    for other, names in OPTION.findall(text):
        known = options(other if other in MODULES else command)
        found |= {name for name in names.split() if name not in known}
    return found


def refused(line: list[str], code: int = 2) -> str:
    """What a command says that fails, and that only names options which it has."""
    if line[0] == "annotate":
        pytest.importorskip("starlette")
    result = run(*line)
    text = said(result)
    assert result.exit_code == code, result.output
    assert not lacking(line[0], text), text
    return text


def in_one_line(line: list[str]) -> str:
    """What a command says about a file that it cannot use."""
    text = refused(line)
    assert text.count("Error: ") == 1, text
    assert text.startswith("Error: "), text
    return text


# Malformed tags.


def test_every_command_is_here_or_has_nothing_to_say() -> None:
    here = {line.split()[0] for line in (*ONE_FILE, *GOLD)}
    assert here | OTHERS == set(MODULES)
    assert not here & OTHERS


@pytest.mark.parametrize("line", ONE_FILE)
def test_a_policy_for_malformed_tags_can_be_named(data: Data, line: str) -> None:
    words = data.line(line, data.bad)
    text = refused(words, 1)
    (remedy,) = REMEDY.findall(text)
    if words[0] not in LONG:
        followed(words, [remedy])


@pytest.mark.parametrize("line", GOLD)
def test_a_policy_for_each_side_can_be_named(data: Data, line: str) -> None:
    sides = {"--gold-policy": (data.bad, data.good), "--policy": (data.good, data.bad)}
    for option, files in sides.items():
        if option == "--policy" and "--policies" in line:
            continue  # those are all the policies that there are
        words = data.line(line, *files)
        assert REMEDY.findall(refused(words, 1)) == [option]
        followed(words, [option])


def followed(line: list[str], remedies: list[str]) -> None:
    """Name the policy that an error asks for, and see that the command goes on."""
    line = [word for word in line if word not in ("-p", "raise")]
    for remedy in remedies:
        line += [remedy, "begin"]
    result = run(*line)
    assert "violations and no policy" not in result.output
    assert result.exit_code == 0 or line[0] in ("import", "validate"), result.output


@pytest.mark.parametrize("line", [*ONE_FILE, *GOLD])
def test_another_scheme_is_named_once_and_only_a_few_violations(data: Data, line: str) -> None:
    text = refused(data.line(line, data.iobes, data.iobes), 1)
    assert text.count("This looks like iobes") == 1
    assert "Is it another scheme" not in text
    assert text.count("is not a tag of bio") <= 5
    named = re.findall(r"name that scheme \((--[a-z]+)\)", text)
    assert named == ["--scheme"]


def test_validate_says_which_scheme_it_looks_like(data: Data) -> None:
    result = run("validate", data.iobes, "-s", "bio")
    assert result.exit_code == 1
    assert result.stderr == (f"{data.iobes}: This looks like iobes: name that scheme (--scheme).\n")
    assert result.stdout.count("is not a tag of bio") == 5
    every = run("validate", data.iobes, "-s", "bio", "--limit", 0).stdout
    assert every.count("is not a tag of bio") == 24


def test_a_file_with_few_mistakes_is_of_its_own_scheme(tmp_path: Path) -> None:
    path = tmp_path / "few"
    path.write_text("Ada B-PER\nKing I-PER\nmet O\n\n" * 40 + "Bo I-PER\n\n" * 15)
    for command in (["summarize", "--mentions", path], ["score", path, path], ["validate", path]):
        assert "looks like" not in run(*command, "-s", "bio").output


def test_the_training_file_of_conll_2003(tmp_path: Path) -> None:
    """It is IOB1, and has B- in two places where IOB1 has I-."""
    path = tmp_path / "eng.train"
    path.write_text(
        "-DOCSTART- -X- O O\n\n"
        + "EU NNP I-NP I-ORG\nrejects VBZ I-VP O\nGerman JJ I-NP I-MISC\n\n" * 20
        + "Israel NNP I-NP I-LOC\nSyria NNP I-NP B-LOC\n\n"
        + "an DT I-NP O\nUrdu-speaking NN I-NP B-MISC\n"
    )
    the_way_to_train(path)


@needs_shared
def test_the_real_training_file_of_conll_2003() -> None:
    the_way_to_train(SHARED / "data" / "conll2003-eng" / "eng.train")


def the_way_to_train(path: Path) -> None:
    """Somebody takes the file for bio, and does what the errors say."""
    line = ["train", str(path), str(path), "--print-config"]
    text = refused([*line, "-s", "bio"], 1)
    assert "This looks like iob1: name that scheme (--scheme)." in text
    assert text.count(f"{path}:") <= 5
    text = refused([*line, "-s", "iob1"], 1)
    assert "looks like" not in text
    assert REMEDY.findall(text) == ["--policy"]
    fine(*line, "-s", "iob1", "--policy", "begin")


@pytest.fixture(scope="module")
def malformed_docs(folder: Path) -> Path:
    """A DocBin with an entity that begins with I."""
    vocab, docs = spacy.blank("en").vocab, []
    label = vocab.strings.add("PER")
    for _ in range(4):
        doc = Doc(vocab, words=["met", "Ada", "and", "Bo"])
        rows: Any = np.array([[2, 0], [1, label], [2, 0], [3, label]], dtype=np.uint64)
        docs.append(doc.from_array([ENT_IOB, ENT_TYPE], rows))
    path = folder / "malformed.spacy"
    DocBin(docs=docs).to_disk(path)
    return path


@pytest.mark.parametrize(
    "line",
    [
        "annotate {x} {new} -l PER --existing keep --take {x}",
        "annotate {state} --take {x}",
        "select {good} --learn {x} -s bio -l PER",
        "simulate {x} -l PER",
        "train {x} {x} --print-config",
        "tune {model} {x}",
    ],
)
def test_malformed_docs_need_a_policy(data: Data, malformed_docs: Path, line: str) -> None:
    words = data.line(line, malformed_docs)
    assert REMEDY.findall(refused(words, 1)) == ["--policy"]
    assert run(*words, "--policy", "begin").exit_code in (0, 1)  # some sentences may be elsewhere


@pytest.mark.parametrize("form", ["columns", "jsonl", "brat"])
def test_that_command_has_a_policy(data: Data, malformed_docs: Path, form: str) -> None:
    line = [*data.line("convert {x} {out} --to-scheme bio --to", malformed_docs), form]
    text = refused(line, 1)
    assert f"{malformed_docs}, Doc 3, token 1: 'Ada'" in text
    assert REMEDY.findall(text) == ["--policy"]
    assert "another scheme" not in text  # a DocBin has its own
    fine(*line, "--policy", "begin")


# Files that are something else.


def zipped() -> bytes:
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("a", "Ada B-PER\n" * 99)
        return file.getvalue()


def tarred() -> bytes:
    with io.BytesIO() as file:
        with tarfile.open(fileobj=file, mode="w") as archive:
            member = tarfile.TarInfo("a")
            member.size = 5
            archive.addfile(member, io.BytesIO(b"Ada O"))
        return file.getvalue()


def docbin() -> bytes:
    data: bytes = DocBin(docs=[spacy.blank("en")("Ada met Bo")]).to_bytes()
    return data


COLUMNS = b"Ada B-PER\nmet O\n\n" * 99
EVERY_BYTE = bytes(range(256)) * 9
DOCBIN = "this is a DocBin, not text. Let its name end in .spacy."
KINDS: dict[str, tuple[bytes, str]] = {
    "DocBin": (docbin(), DOCBIN),
    "gzip of DocBin": (gzip.compress(docbin()), DOCBIN),
    "Parquet": (b"PAR1\x15\x04\x15\x80" + EVERY_BYTE, "this is a Parquet file, not text. Write"),
    "Arrow": (b"ARROW1\0\0" + EVERY_BYTE, "this is an Arrow file, not text. Write"),
    "zip": (zipped(), "this is a zip archive, not text. Unpack it"),
    "xz": (lzma.compress(COLUMNS), "this is xz data, not text. Unpack it"),
    "bzip2": (bz2.compress(COLUMNS), "this is bzip2 data, not text. Unpack it"),
    "zstd": (b"\x28\xb5\x2f\xfd\x24" + EVERY_BYTE, "this is zstd data, not text. Unpack it"),
    "tar": (tarred(), "this is a tar archive, not text. Unpack it"),
    "gzip of tar": (gzip.compress(tarred()), "this is a tar archive, not text. Unpack it"),
    "gzip twice": (gzip.compress(gzip.compress(COLUMNS)), "this is gzip data, not text. Unpack"),
    "pickle 2": (pickle.dumps(["Ada"], 2), "this is a pickle of Python, not text. Write it"),
    "pickle 5": (pickle.dumps({"Ada": 1}, 5), "this is a pickle of Python, not text. Write it"),
    "PNG": (b"\x89PNG\r\n\x1a\n" + EVERY_BYTE, "this is an image, not text."),
    "JPEG": (b"\xff\xd8\xff\xe0\0\x10JFIF" + EVERY_BYTE, "this is an image, not text."),
    "array": (b"\x93NUMPY\x01\0" + EVERY_BYTE, "this is a numpy array, not text. Write it"),
    "unknown": (b"\xd0\xcf\x11\xe0" + EVERY_BYTE, "this looks like a binary file, not like text."),
    "JSON lines": (
        b'{"text": "Ada met Bo", "spans": [[0, 3, "PER"]]}\n' * 2,
        "this looks like JSON, not columns. 'spacy-iobes convert' makes columns of it",
    ),
    "JSON": (b'[\n  {\n    "tokens": [\n      "Ada"\n    ]\n  }\n]', "this looks like JSON, not"),
    "JSON of spaCy 2": (b'[["Ada", {"entities": [[0, 3, "PER"]]}]]', "this looks like JSON, not"),
    "JSON of others": (b'{"annotations": [["Ada", {}]]}', "this looks like JSON, not columns"),
    "Label Studio": (
        b'[{"id": 1, "annotations": [{"result": []}], "data": {"text": "Ada"}}]',
        "this looks like JSON, not columns. 'spacy-iobes convert'",
    ),
    "commas": (
        b"Ada,B-PER\nmet,O\n",
        "this looks like columns with commas between them: name the delimiter (--delimiter comma).",
    ),
    "semicolons": (b"Ada;B-PER\nmet;O\n", "with semicolons between them: name the delimiter (--d"),
    "CSV": (b"token,tag\nAda,B-PER\nmet,O\n", "and remove the line that names the columns."),
    "quoted": (b'"Ada","B-PER"\n"met","O"\n', "write the columns without quotation marks."),
}
FORMATS = ["DocBin", "gzip of DocBin", "JSON lines", "JSON", "JSON of spaCy 2", "JSON of others"]
FORMATS.append("Label Studio")
"""What some commands read, whatever the name of the file says."""
READING = """
validate {x}
convert {x} {out} -s bio --to-scheme iobes
score {x} {good} -s bio
score {good} {x} -s bio
simulate {x} -s bio -l PER
annotate {state} --take {x} -s bio
convert {x} {out} -t tokens
convert {x} {out}.spacy -s bio
train {x} {good} -s bio --print-config
tune {model} {x} -s bio
validate {x} -s bio
""".strip().split("\n")


@pytest.mark.parametrize("kind", KINDS)
def test_files_are_called_what_they_are(data: Data, kind: str) -> None:
    content, expected = KINDS[kind]
    path = data.target / "file"
    path.write_bytes(content)
    for line in READING if kind not in FORMATS else ():
        text = in_one_line(data.line(line, path))
        assert expected in re.sub(r" \(--format \w+ reads it\)", "", text)
        assert text.startswith(f"Error: {path}")
        assert "latin-1" not in text
        assert "utf-16" not in text


def test_text_in_another_encoding_is_still_told_so(data: Data) -> None:
    path = data.target / "file"
    for encoding in ("latin-1", "utf-16"):
        path.write_bytes("Adà B-PER\nmet O\n".encode(encoding))
        text = in_one_line(["validate", str(path), "-s", "bio"])
        assert f"(--encoding {encoding}, for example)" in text
        fine("validate", path, "-s", "bio", "--encoding", encoding)
    path.write_bytes("Ada B-PER\nmet O\n".encode("utf-16-le"))
    assert "another encoding? Name it (--encoding)" in in_one_line(["validate", str(path)])


def test_the_advice_about_json_and_commas_helps(data: Data) -> None:
    lines, docs = data.target / "a.jsonl", data.target / "a.spacy"
    lines.write_bytes(KINDS["JSON lines"][0])
    fine("convert", lines, docs)
    fine("convert", docs, data.target / "a", "--to-scheme", "bio")
    fine("validate", data.target / "a", "-s", "bio")
    commas = data.target / "commas"
    commas.write_bytes(KINDS["commas"][0])
    fine("validate", commas, "-s", "bio", "--delimiter", "comma")


def test_label_studio_is_known_where_json_is_read(data: Data) -> None:
    path = data.target / "export.json"
    path.write_bytes(KINDS["Label Studio"][0])
    text = in_one_line(data.line("train {x} {x} --nested --print-config", path))
    assert text.endswith("export.json: there is no mention in 1 Doc.")  # it is read
    fine(*data.line("convert {x} {out}.spacy", path))
    path.write_text(json.dumps({"annotations": [["Ada", {"entities": []}]]}))
    fine(*data.line("convert {x} {out}.spacy", path))


@pytest.mark.parametrize("first", [b"[", b'[ O\n" O\nAda O\n', b"{ O\n} O\n", b'"Ada", O\n'])
def test_tokens_that_look_like_json_are_tokens(data: Data, first: bytes) -> None:
    path = data.target / "file"
    path.write_bytes(first if b" O" in first else first + b" O\n")
    fine("validate", path, "-s", "bio")


# A scheme that nobody named.


def test_a_missing_scheme_to_write(data: Data) -> None:
    docs = data.target / "docs.spacy"
    fine("convert", data.good, docs, "-s", "bio")
    for line in (f"convert {docs} {{out}}.bio -t columns", f"repair {docs} {{out}}.bio -p begin"):
        text = refused(data.line(line, data.good))
        assert SCHEMES in text


def test_what_check_says_of_a_file(data: Data) -> None:
    rows = [line.split() for line in fine("validate", data.iobes).stdout.splitlines()]
    assert [row[0] for row in rows if row[1:2] == ["yes"]] == ["iobes"]


# Errors of the system.

TOO_LONG = "x" * 300
CAUSES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "a name that is too long": (lambda folder: folder / TOO_LONG, "file name too long|no such"),
    "a link to itself": (lambda folder: folder / "loop", "levels of symbolic links|no such"),
    "a directory": (lambda folder: folder / "directory", r"directory|\.ann files"),
    "nothing": (lambda folder: folder / "nothing", "no such file"),
    "nothing in a file": (lambda folder: folder / "file" / "nothing", "not a directory|no such"),
    "an empty name": (lambda folder: Path("EMPTY"), "An empty name is no name of a file"),
}


@pytest.mark.skipif(sys.platform == "win32", reason="other causes there")
@pytest.mark.parametrize("cause", CAUSES)
def test_what_cannot_be_read_is_named_with_its_cause(data: Data, cause: str) -> None:
    (data.target / "loop").symlink_to("loop")
    (data.target / "directory").mkdir()
    (data.target / "file").touch()
    path, expected = CAUSES[cause][0](data.target), CAUSES[cause][1]
    for line in READING:
        words = [word if word != "EMPTY" else "" for word in data.line(line, path)]
        text = in_one_line(words)
        assert re.search(expected, text), text
        assert "Cannot print" not in text


@pytest.mark.skipif(sys.platform == "win32", reason="other causes there")
@pytest.mark.parametrize(
    "line",
    [
        "annotate {good} {x} -s bio -l PER --no-browser --existing keep",
        "convert {good} {x} -s bio --to-scheme iobes",
        "summarize --mentions {good} -s bio -o {x}",
        "convert {state} {x} --to columns --to-scheme bio",
        "generate {x}",
        "score {good} {good} -s bio --html {x}",
        "strategies {good} -s bio -o {x}",
        "convert {good} {x}.spacy -s bio",
        "train {good} {good} -s bio -o {x}",
        "tune {model} {good} -s bio -o {x}",
    ],
)
def test_what_cannot_be_written_is_named_with_its_cause(data: Data, line: str) -> None:
    text = in_one_line(data.line(line, data.target / TOO_LONG))
    assert re.search("file name too long|no such file", text), text
    assert "Cannot print" not in text
    assert not list(data.target.iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_no_space_left(data: Data) -> None:
    text = in_one_line(
        ["convert", str(data.good), "/dev/full", "-s", "bio", "--to-scheme", "iobes"]
    )
    assert text == "Error: /dev/full: cannot be written: no space left on device."
    said = {
        "validate": "Error: Cannot print: no space left on device.\n",
        "summarize": "Error: standard output: cannot be written: no space left on device.\n",
    }
    for command, expected in said.items():
        program = [sys.executable, "-m", "spacy_iobes", command, str(data.good), "-s", "bio"]
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                program, stdout=full, stderr=subprocess.PIPE, env=environment(), check=False
            )
        assert (done.returncode, done.stderr.decode()) == (2, expected)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="may write anywhere")
def test_no_permission(data: Data) -> None:
    locked = data.target / "locked"
    locked.mkdir(mode=0o500)
    line = ["convert", str(data.good), str(locked / "out"), "-s", "bio", "--to-scheme", "iobes"]
    assert in_one_line(line).endswith("cannot be written: permission denied.")
