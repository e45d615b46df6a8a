"""The reference data beside the repository; tests that need it are skipped where it is not."""

from __future__ import annotations

import errno
import gzip
import json
import os
import signal
import subprocess
import sys
import tarfile
from functools import lru_cache
from pathlib import Path
from time import sleep
from typing import Any, BinaryIO

import pytest

from spacy_iobes.pipeline import FOLDERS

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("SPACY_IOBES_SHARED") or ROOT.parent / "shared")
CONFIGS = next(folder for folder in FOLDERS if folder.is_dir())

needs_shared = pytest.mark.skipif(
    not (SHARED / "oracles").is_dir(),
    reason=f"no reference data at {SHARED}: set SPACY_IOBES_SHARED to the folder that holds it",
)

Row = dict[str, Any]


def environment(**variables: str) -> dict[str, str]:
    """Variables for a process that is to import from where this one does."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | variables


PATIENT = """
import sys

from spacy_iobes.cli import signals

signals.UNWINDING = 600
sys.argv[0] = "spacy-iobes"
from spacy_iobes.__main__ import main

main()
"""


def patient(*arguments: object) -> list[str]:
    """A command line whose command may take its time to unwind, as it does on a busy machine."""
    return [sys.executable, "-c", PATIENT, *map(str, arguments)]


def opened_for(process: subprocess.Popen[Any], pipe: Path) -> BinaryIO:
    """A named pipe, open for writing as soon as a process reads it; the process must not end."""
    while process.poll() is None:
        try:
            end = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:  # nobody reads it yet
                raise
            sleep(0.01)
        else:
            os.set_blocking(end, True)
            return open(end, "wb")
    raise AssertionError(f"ended with {process.returncode}, and did not read {pipe}")


def require_heeded(name: str) -> None:
    """Skip a test of a signal that processes started from here ignore."""
    if signal.getsignal(getattr(signal, name)) is signal.SIG_IGN:
        pytest.skip(f"{name} is ignored here, as it is for jobs in the background")


def beside(name: str) -> Path:
    """A file or folder of the repository; tests that need it are skipped in its absence."""
    path = ROOT / name
    if not path.exists():
        reason = f"{name} is not beside these tests, as it is in a clone"
        pytest.skip(reason, allow_module_level=True)
    return path


def unpacked(archive: Path, folder: Path) -> None:
    """Unpack an archive, whose names are filtered where this Python can (3.11.4, 3.10.12)."""
    with tarfile.open(archive) as files:
        if hasattr(tarfile, "data_filter"):
            files.extraction_filter = tarfile.data_filter
        files.extractall(folder)


@lru_cache(maxsize=4)
def oracle(name: str) -> list[Row]:
    """Every row of a file of oracle data, given its path without the ending."""
    with gzip.open(SHARED / "oracles" / f"{name}.jsonl.gz", "rt", encoding="utf8") as lines:
        return [json.loads(line) for line in lines]


def outputs(tool: str, scheme: str) -> list[Row]:
    """What a tool makes of the sequences of one scheme."""
    rows = [row for row in oracle(f"spans/{tool}") if row["scheme"] == scheme]
    assert rows, f"{tool} has no rows for {scheme}"
    return rows
