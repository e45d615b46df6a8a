"""A journal: what was acknowledged is there, whatever happens to the process or the last line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_iobes.errors import FileError
from spacy_iobes.selection import Journal, Lock, read_journal

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
records = st.dictionaries(st.text(), values, max_size=4)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "decisions.jsonl"


def written(path: Path, *some: dict[str, Any]) -> None:
    journal = Journal.create(path)
    for record in some:
        journal.append(record)
    journal.close()


@given(st.lists(st.lists(records, max_size=3), max_size=4))
def test_what_is_appended_is_read(rounds: list[list[dict[str, Any]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal"
        Journal.create(path).close()
        known: list[dict[str, Any]] = []
        for some in rounds:
            journal = Journal(path)
            assert journal.records == known
            journal.append(*some)
            journal.close()
            known += some
        assert read_journal(path).records == known


def test_every_torn_end_is_cut_off(path: Path) -> None:
    """Whatever part of the last line is missing, all others are there, and more can be added."""
    whole: list[dict[str, Any]] = [
        {"decision": 1, "text": "é\u2028\\n"},
        {"undo": 1},
        {"batch": 2, "sentences": [1, 2]},
    ]
    written(path, *whole)
    data = path.read_bytes()
    lines = data.splitlines(keepends=True)
    for size in range(len(data) + 1):
        path.write_bytes(data[:size])
        ends = [sum(map(len, lines[: n + 1])) for n in range(len(lines))]
        kept = [record for record, end in zip(whole, ends) if size >= end - 1]  # but for its \n
        journal = Journal(path)
        assert journal.records == kept
        journal.append({"more": size})
        journal.close()
        assert read_journal(path).records == [*kept, {"more": size}]


@pytest.mark.parametrize("tail", [b"\0" * 40, b"\xff\xfe", b'{"a": "\xc3', b"[1, 2]", b"null"])
def test_a_tail_that_is_no_record_is_cut_off(path: Path, tail: bytes) -> None:
    written(path, {"a": 1})
    whole = path.read_bytes()
    path.write_bytes(whole + tail)
    Journal(path).close()
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    "line", [b"", b"{", b"[]", b"12", b'{"a": 1}{"b": 2}', b"\0\0", b"[" * 9999]
)
def test_a_damaged_line_is_named_and_nothing_is_changed(path: Path, line: bytes) -> None:
    written(path, {"a": 1}, {"b": 2})
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + line + b"\n" + second)
    before = path.read_bytes()
    with pytest.raises(FileError, match=r"line 2: damaged .* remove line 2") as caught:
        Journal(path)
    assert caught.value.line == 2
    assert path.read_bytes() == before


def test_a_closed_journal_takes_nothing(path: Path) -> None:
    journal = Journal.create(path)
    journal.close()
    with pytest.raises(FileError, match="closed"):
        journal.append({"a": 1})
    assert path.read_bytes() == b""


def test_there_is_no_journal(path: Path) -> None:
    with pytest.raises(FileError, match="cannot be read"):
        Journal(path)


@pytest.mark.skipif(os.name != "posix", reason="no limits of processes on this system")
def test_a_full_disk_is_an_error_and_leaves_nothing(path: Path) -> None:
    """As large a file as the limit of this process allows is a disk that is full."""
    code = """
import resource, signal, sys
from spacy_iobes.errors import FileError
from spacy_iobes.selection import Journal, read_journal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
journal, taken = Journal.create(sys.argv[1]), 0
try:
    while True:
        journal.append({"number": taken, "text": "x" * 90})
        taken += 1
except FileError as error:
    print(error)
journal.append({"small": 1})
print(taken)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    reason, taken = done.stdout.splitlines()
    assert "cannot be written" in reason
    assert "Nothing was added" in reason
    found = read_journal(path).records
    assert [record.get("number") for record in found] == [*range(int(taken)), None]
    assert 5 < int(taken) < 10


WRITER = """
import os, sys
from spacy_iobes.selection import Journal
journal = Journal(sys.argv[1])
number = len(journal.records)
while True:
    journal.append({"number": number, "text": "x" * (number % 700)})
    os.write(1, b"%d\\n" % number)
    number += 1
"""


def killed_after(path: Path, acknowledged: int) -> int:
    """Let a process write until it has acknowledged so many, kill it, and say what was the last."""
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for _ in range(acknowledged):
            last = process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read().split(b"\n")
    return int(([last.strip(), *rest[:-1]])[-1])


@pytest.mark.skipif(os.name != "posix", reason="no SIGKILL on this system")
def test_nothing_acknowledged_is_lost_when_the_process_is_killed(path: Path) -> None:
    Journal.create(path).close()
    for moment in (1, 2, 7, 50, 3, 1):
        last = killed_after(path, moment)
        numbers = [json.loads(line)["number"] for line in path.read_bytes().split(b"\n")[:-1]]
        assert numbers == list(range(len(numbers)))
        assert last < len(numbers)
        found = Journal(path)
        assert [record["number"] for record in found.records][: last + 1] == list(range(last + 1))
        found.close()


HOLDER = """
import sys
from spacy_iobes.selection import Lock
lock = Lock(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_process_is_refused_and_a_killed_one_leaves_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(FileError, match=f"in use by process {process.pid}.*end that one first"):
            Lock(path)
        process.kill()
        process.wait()
    lock = Lock(path)
    with pytest.raises(FileError, match=f"in use by process {os.getpid()}"):
        Lock(path)
    lock.release()
    lock.release()
    Lock(path).release()


ROOT = os.name != "posix" or os.geteuid() == 0


@pytest.mark.skipif(ROOT, reason="whoever runs this may write anywhere")
def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(FileError, match=r"the folder cannot be written to \(lock: permission"):
        Lock(tmp_path / "lock")
    tmp_path.chmod(0o700)


def test_a_lock_that_cannot_be_made(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be locked: no such file"):
        Lock(tmp_path / "nowhere" / "lock")
