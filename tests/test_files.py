"""Text in and out: gzip, encodings, and writes that are whole or not at all."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from spacy_iobes.corpus import files, read_bytes, write_bytes
from spacy_iobes.errors import FileError

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="no such signals and permissions")
TEXTS = ["", "\n", "a", "a\n", "a\r\nb\r\n", "\ufeffa\n\n", "é\x85語\u2028c\n\n語"]


def read(path: Path, encoding: str = "utf8") -> str:
    return b"".join(read_bytes(path, encoding)).decode("utf8")


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("chunk", [1, 2, 3, 1 << 20])
@pytest.mark.parametrize("packed", [False, True])
def test_the_pieces_are_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, chunk: int, packed: bool
) -> None:
    monkeypatch.setattr(files, "CHUNK", chunk)
    data = text.encode("utf8")
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(data) if packed else data)
    assert read(path) == text


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-32-be", "latin-1", "cp1252"])
def test_any_encoding(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "file"
    path.write_bytes("é O\nü B-X\n".encode(encoding))
    assert read(path, encoding) == "é O\nü B-X\n"


def test_progress_counts_the_bytes_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(b"a O\n" * 10_000))
    seen: list[int] = []
    assert sum(map(len, read_bytes(path, "utf8", seen.append))) == 40_000
    assert sum(seen) == path.stat().st_size


@pytest.mark.parametrize(
    ("data", "line", "said"),
    [
        (b"a O\nb O\ncaf\xe9 O\n", 3, "0xe9"),
        (b"a O\nb\xc3", 2, "0xc3"),
        (b"a O\n\x00\x01\n", 2, "NUL"),
        (b"a O\n" + b"x" * (files.LONGEST + 1), 2, "longer than"),
        (b"a O\n" + b"x" * (files.LONGEST + 1) + b"\nb O\n", 2, "longer than"),
    ],
)
def test_unreadable_text_names_the_line(tmp_path: Path, data: bytes, line: int, said: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(FileError, match=said) as caught:
        read(path)
    assert caught.value.line == line
    assert f"line {line}:" in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("damage", [slice(0, -9), slice(0, 40), slice(0, 2)])
def test_damaged_gzip(tmp_path: Path, damage: slice) -> None:
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(bytes(range(256)) * 99)[damage])
    with pytest.raises(FileError, match="gzip data is damaged"):
        read(path, "latin-1")


def test_gzip_that_holds_nonsense(tmp_path: Path) -> None:
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(b"a O\n")[:10] + b"\xff" * 40)
    with pytest.raises(FileError, match="gzip data is damaged"):
        read(path)


def test_what_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is a directory"):
        read(tmp_path)
    with pytest.raises(FileError, match="no such file"):
        read(tmp_path / "nothing")
    with pytest.raises(FileError, match="no text encoding 'klingon'"):
        read(tmp_path, "klingon")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def fail() -> None:
        with write_bytes(path) as put:
            put(b"new")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


@needs_posix
def test_a_killed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    script = (
        "import os, signal, sys\n"
        "from spacy_iobes.corpus.files import write_bytes\n"
        "with write_bytes(sys.argv[1]) as put:\n"
        "    put(b'new' * 1_000_000)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    assert done.returncode == -9
    assert path.read_text() == "old"


@needs_posix
def test_write_keeps_permissions_and_links(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    with write_bytes(link) as put:
        put(b"new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o640


def test_write_compresses_by_name_and_always_the_same(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        with write_bytes(tmp_path / name) as put:
            put("é O\n".encode())
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()).decode() == "é O\n"
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_a_byte_order_mark_is_neither_added_nor_lost(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for data in (b"a O\n", b"\xef\xbb\xbfa O\n"):
        with write_bytes(path, "utf-8-sig") as put:
            put(data)
        assert path.read_bytes() == data
        assert b"".join(read_bytes(path, "utf-8-sig")) == data


def test_encodings_that_end_with_a_shift(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with write_bytes(path, "iso2022_jp") as put:
        put("語".encode())
    assert path.read_bytes() == "語".encode("iso2022_jp")


def test_write_to_what_is_no_file(tmp_path: Path) -> None:
    script = (
        "from spacy_iobes.corpus.files import write_bytes\n"
        "with write_bytes('/dev/stdout') as put:\n"
        "    put(b'new')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.stdout == b"new"
    with write_bytes(tmp_path / ("x" * 250)) as put:
        put(b"new")


def test_unwritable(tmp_path: Path) -> None:
    for target, said in [(tmp_path, "is a directory"), (tmp_path / "no" / "file", "no such file")]:
        with pytest.raises(FileError, match=said), write_bytes(target) as put:
            put(b"x")
    with pytest.raises(FileError, match="語"), write_bytes(tmp_path / "file", "latin-1") as put:
        put("語".encode())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full to be out of space")
def test_no_space_left() -> None:
    with pytest.raises(FileError, match="no space left"), write_bytes("/dev/full") as put:
        put(b"x" * 100_000)
    assert Path("/dev/full").is_char_device()
