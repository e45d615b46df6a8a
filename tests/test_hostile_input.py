"""Hostile files and terminals: one line, an exit code, and advice that can be followed."""

from __future__ import annotations

import io
import lzma
import os
import pty
import re
import subprocess
import sys
import tarfile
import zlib
from pathlib import Path

import pytest
import typer

from spacy_iobes import CodedTags
from spacy_iobes.cli import app
from spacy_iobes.corpus import ColumnReader, Columns, edit_file
from spacy_iobes.errors import FileError

from .commands import fine, run
from .people import column_file
from .shared import environment

OPTIONS = {
    name: {flag for each in command.params for flag in (*each.opts, *each.secondary_opts)}
    for name, command in typer.main.get_group(app).commands.items()
}
MALFORMED = "a I-X\nb B-X\n\nc I-X\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad").write_text(MALFORMED)
    (tmp_path / "good").write_text(MALFORMED.replace("I-X", "B-X"))
    return tmp_path


# advice


@pytest.mark.parametrize(
    "line",
    [
        "summarize bad -s bio",
        "count bad -s bio",
        "convert bad out -f bio -t iobes",
        "process bad out -s bio --keep X",
        "score bad good -s bio",
        "score good bad -s bio",
        "score bad good -s bio --nested",
        "score good bad -s bio --nested",
        "errors bad good -s bio",
        "report bad good -s bio -o page.html",
        "compare bad -a good -b good -s bio",
        "to-docbin bad out.spacy -s bio",
        "roundtrip bad -s bio",
        "train bad good -s bio -o model",
        "train bad good -s bio -o model --nested",
        "simulate bad -s bio -l X",
        "select bad -s bio -l X",
        "strategies bad -s bio",
        "annotate bad state -s bio -l X --existing keep",
    ],
)
def test_advice_names_options_that_the_command_has(line: str, folder: Path) -> None:
    result = run(*line.split())
    said = " ".join(re.sub("[│╭╰─╮╯]", " ", result.stderr).split())
    assert result.exit_code in (1, 2), result.output
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", said))
    assert named <= OPTIONS[line.split()[0]]
    assert named, said  # what to do about it is said


def test_the_training_data_of_conll_2003_lead_to_the_option(folder: Path) -> None:
    (folder / "eng.train").write_text("EU I-ORG\nrejects O\nGerman I-MISC\ncall O\n\nPeter I-PER\n")
    result = run("train", "eng.train", "eng.train", "-s", "bio", "-o", "model")
    assert result.exit_code == 1
    assert "This looks like" in result.stderr
    assert "iob1" in result.stderr
    assert "(--repair)" in result.stderr


def test_another_scheme_is_told_once(folder: Path) -> None:
    text = "".join(f"w{i} {tag}\n" for i in range(100) for tag in ("B-X", "E-X", "S-Y", "O"))
    (folder / "iobes").write_text(text)
    for command in ("validate", "summarize", "score iobes"):
        result = run(*command.split(), "iobes", "-s", "bio")
        assert result.output.count("This looks like iobes") == 1
        assert len(result.output.splitlines()) < 12


@pytest.mark.parametrize(
    ("content", "kind", "todo"),
    [
        (b"PAR1\x15\x04\x15" + bytes(range(256)) * 4, "a Parquet file", "column file"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "an image", "Name a text"),
        (b"\x80\x04\x95\x1a" + bytes(range(256)), "a pickle", "Write it as text"),
        (b"PK\x03\x04" + bytes(range(256)), "a zip archive", "Unpack it"),
        (lzma.compress(b"a B-X\n"), "xz data", "Unpack it"),
        (b'{"text": "Ada", "spans": []}\n', "JSON, not columns", "'spacy-iobes to-docbin' reads"),
        (
            b'[{"data": {"text": "Ada"}, "annotations": [{"result": []}]}]',
            "an export of Label Studio",
            "CONLL2003",
        ),
        (b"Ada,B-PER\nsleeps,O\n", "columns with commas", "(--delimiter comma)"),
    ],
    ids="parquet image pickle zip xz json label-studio commas".split(),  # noqa: SIM905
)
def test_files_are_called_what_they_are(content: bytes, kind: str, todo: str, folder: Path) -> None:
    (folder / "file").write_bytes(content)
    result = run("validate", "file", "-s", "bio")
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert re.search(f"this (is|looks like) {kind}", result.stderr)
    assert todo in result.stderr
    assert "latin-1" not in result.stderr


def test_a_docbin_is_no_column_file(folder: Path) -> None:
    fine("to-docbin", "good", "good.spacy", "-s", "bio")
    for command in ("validate", "summarize", "check"):
        result = run(command, "good.spacy", *(["-s", "bio"] if command != "check" else []))
        assert result.exit_code == 2
        assert "a DocBin (.spacy), not text" in result.stderr
        assert "latin-1" not in result.stderr


@pytest.mark.parametrize(
    "line",
    [
        "validate good",
        "score good good",
        "summarize good",
        "convert good out -t iobes",
        "train good good -o model",
        "roundtrip good",
        "to-docbin good out.spacy",
        "simulate good -l X",
        "strategies good",
    ],
)
def test_a_missing_scheme_lists_the_schemes_and_points_at_check(line: str, folder: Path) -> None:
    result = run(*line.split())
    said = " ".join(re.sub("[│╭╰─╮╯]", " ", result.stderr).split())
    assert result.exit_code == 2
    assert "io, iob1, bio, ioe1, ioe2, iobes, bilou" in said
    assert "'spacy-iobes check FILE'" in said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_errors_of_the_system_name_their_cause(folder: Path) -> None:
    program = [sys.executable, "-m", "spacy_iobes", "schemes"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            program, stdout=full, stderr=subprocess.PIPE, text=True, env=environment(), check=False
        )
    assert (done.returncode, done.stderr) == (2, "Error: Cannot print: no space left on device.\n")
    result = run("convert", "good", "/dev/full", "-f", "bio", "-t", "iobes")
    assert (result.exit_code, "cannot be written: no space left" in result.stderr) == (2, True)
    result = run("convert", "good", "x" * 300, "-f", "bio", "-t", "iobes")
    assert (result.exit_code, "file name too long" in result.stderr) == (2, True)
    assert "Cannot print" not in result.stderr


# crashes


def test_parts_that_are_too_large_are_refused_with_their_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "long").write_text("a O\n\n" + "b O\n" * 1000)
    monkeypatch.setattr("spacy_iobes.kernels.columns_numpy.LARGEST", 1000)
    monkeypatch.setattr("spacy_iobes.corpus.conll.columns_numpy.LARGEST", 1000)
    for line in ("validate long -s bio", "convert long out -f bio -t iobes", "score long -s bio"):
        result = run(*line.split())
        assert result.exit_code == 2
        assert re.search(r"long, line \d+: ", result.stderr), result.stderr
        assert not (folder / "out").exists()


def test_reading_one_long_sentence_is_linear(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the scanner is given, all in all, is a few times the file, not its square."""
    from spacy_iobes import kernels

    scan, given = kernels.scan, list[int]()

    def counting(buffer: bytes, *others: object) -> object:
        given.append(len(buffer))
        return scan(buffer, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(kernels, "scan", counting)
    size = 8 << 20
    (folder / "long").write_bytes(b"token O\n" * (size // 8))
    assert sum(len(part.tags.codes) for part in ColumnReader("long", Columns())) == size // 8
    assert sum(given) < 4 * size


def archive(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> None:
    with tarfile.open(path, "w") as made:
        for member, content in members:
            member.size = len(content)
            made.addfile(member, io.BytesIO(content))


def link(name: str, target: str) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = tarfile.SYMTYPE, target
    return member


def test_hostile_archives_are_one_line(folder: Path) -> None:
    archive(folder / "dangling.tar", (link("a.txt", "b.txt"), b""))
    archive(folder / "self.tar", (link("a.txt", "a.txt"), b""))
    archive(folder / "circle.tar", (link("a.txt", "b.txt"), b""), (link("b.txt", "a.txt"), b""))
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:xz") as made:
        member = tarfile.TarInfo("a.txt")
        member.size = 100_000
        made.addfile(member, io.BytesIO(os.urandom(100_000)))
    data = bytearray(buffer.getvalue())
    data[len(data) // 2] ^= 0xFF
    (folder / "xz.tar").write_bytes(data)
    (folder / "cut.tar").write_bytes(buffer.getvalue()[:5000])
    for name in ("dangling", "self", "circle", "xz", "cut"):
        result = run("to-docbin", f"{name}.tar", "out.spacy", "--from", "inline", "--lines")
        assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1), result.output
        assert f"{name}.tar" in result.stderr


@pytest.mark.parametrize(
    "line", ["to-docbin deep.jsonl out.spacy", "score deep.jsonl deep.jsonl --nested"]
)
def test_deep_json_is_one_line(line: str, folder: Path) -> None:
    for text in ("[" * 100_000, '{"text": ' + "[" * 100_000 + "]" * 100_000 + "}"):
        (folder / "deep.jsonl").write_text(text + "\n")
        result = run(*line.split())
        assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1), result.output
        assert "deep.jsonl, line 1: " in result.stderr


def test_half_of_a_surrogate_pair_is_one_line(folder: Path) -> None:
    (folder / "utf7").write_bytes(b"a O\n\n+2AA- B-X\n")
    result = run("validate", "utf7", "-s", "bio", "--encoding", "utf-7")
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1), result.output
    assert "utf7, line 3: " in result.stderr
    assert "surrogate" in result.stderr


def test_damaged_docbins_are_one_line(folder: Path) -> None:
    fine("to-docbin", "good", "good.spacy", "-s", "bio")
    data = (folder / "good.spacy").read_bytes()
    for damaged in (data[: len(data) // 2], data[:-1], zlib.compress(b"\x81"), b""):
        (folder / "bad.spacy").write_bytes(damaged)
        result = run("docs", "bad.spacy")
        assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1), result.output


# terminals


def on_a_terminal(*arguments: object) -> str:
    """Return what a command prints where standard output and error are a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "spacy_iobes", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment(NO_COLOR="1"))
    os.close(theirs)
    found = b""
    try:
        while data := os.read(ours, 1 << 16):
            found += data
    except OSError:  # the other end is closed
        pass
    process.wait()
    os.close(ours)
    return found.decode()


@pytest.mark.parametrize(
    "line",
    [
        "count evil -s bio",
        "score evil evil -s bio",
        "text evil",
        "summarize evil -s bio",
        "convert evil - -f bio -t iobes",
        "errors evil none -s bio",
        "validate evil -s ioe2",
    ],
)
def test_control_characters_do_not_reach_a_terminal(line: str, folder: Path) -> None:
    (folder / "evil").write_text("\x1b]0;owned\x07a B-X\x1b[31m\nb\x9b2J O\n")
    (folder / "none").write_text("\x1b]0;owned\x07a O\nb\x9b2J O\n")
    printed = on_a_terminal(*line.split())
    shown = printed.replace("\r\n", "\n")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown), repr(shown)
    assert "\\x1b" in shown


def test_data_in_a_pipe_stay_as_they_are(folder: Path) -> None:
    (folder / "evil").write_bytes(b"\x1b[31ma B-X\n")
    result = fine("convert", "evil", "-", "-f", "bio", "-t", "iobes")
    assert result.stdout_bytes == b"\x1b[31ma S-X\n"


# files that change


@pytest.mark.parametrize("change", ["grow", "shrink"])
def test_a_file_that_changes_while_it_is_read_is_noticed(change: str, folder: Path) -> None:
    path = column_file(folder / "large", 40_000)
    reader = ColumnReader(path, Columns())
    parts = iter(reader)
    assert isinstance(next(parts).tags, CodedTags)
    with path.open("ab") as file:
        if change == "grow":
            file.write(b"x O\n")
        else:
            file.truncate(path.stat().st_size - 100)
    with pytest.raises(FileError, match="has changed while it was read"):
        list(parts)


def test_nothing_is_written_of_a_file_that_changes(folder: Path) -> None:
    path = column_file(folder / "large", 40_000)
    first = ColumnReader(path, Columns())

    class Growing(ColumnReader):
        def __iter__(self):  # type: ignore[no-untyped-def]
            for part in super().__iter__():
                with path.open("ab") as file:
                    file.write(b"x O\n")
                yield part

    growing = Growing(path, Columns())
    assert next(iter(first)).tags
    with pytest.raises(FileError, match="has changed while it was read"):
        edit_file(growing, folder / "out", "bio", "iobes", "raise")
    assert not (folder / "out").exists()
