"""All benchmarks, one after the other: those that a directory has results of are not repeated."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import ROOT
from .machine import PACKAGE, installed

NAME = "all"
RESUMED = ("ner", "nested", "selection", "strategies")
"""Benchmarks that take long and keep every measurement in a file of their own."""


@dataclass(frozen=True)
class Job:
    """A benchmark with its options, under a name of its own."""

    name: str
    arguments: tuple[str, ...]
    sentence: str

    def command(self, quick: bool) -> str:
        """The command that makes the same tables, without files that keep results."""
        return " ".join(["python -m benchmarks", *self.arguments, *["--quick"] * quick])


def jobs(benchmarks: dict[str, str]) -> dict[str, Job]:
    """Every benchmark, and those of recognisers with a CNN for themselves."""
    every = [Job(name, (name,), sentence) for name, sentence in benchmarks.items() if name != NAME]
    cnn = "Recognisers with a CNN beside spaCy's ner: F1, speed, calibration, partial annotation."
    every.append(Job("ner-cnn", ("ner", "--cnn"), cnn))
    return {job.name: job for job in every}


def measured(found: dict[str, Any]) -> bool:
    """Whether results have any figure."""
    return any(table["rows"] for tables in found["benchmarks"].values() for table in tables)


@dataclass(frozen=True)
class Shelf:
    """A directory with the results of each job as JSON, and which of them are good enough.

    They are if something was measured (the data were at hand), by the same version of this package
    and a run that was as long (`quick` or not), and not before a day (`since`, YYYY-MM-DD).
    """

    directory: Path
    quick: bool = False
    since: str = ""

    def path(self, job: Job) -> Path:
        """Where the results of a job are."""
        return self.directory / f"{job.name}.json"

    def read(self, job: Job) -> dict[str, Any] | None:
        """The results of a job, however old; None without."""
        try:
            found: dict[str, Any] = json.loads(self.path(job).read_text(encoding="utf8"))
        except FileNotFoundError:
            return None
        return found

    def has(self, job: Job) -> bool:
        """Whether there are results that are good enough."""
        found = self.read(job)
        return (
            found is not None
            and measured(found)
            and found["quick"] == self.quick
            and found["machine"][PACKAGE] == installed(PACKAGE)
            and found["machine"]["date"] >= self.since
        )

    def line(self, job: Job) -> list[str]:
        """The command line of a job whose results go here."""
        kept = ["--keep", str(self.directory.absolute() / f"{self.kept(job)}.jsonl")]
        options = [*["--quick"] * self.quick, *kept * (job.name in RESUMED)]
        start = [sys.executable, "-m", "benchmarks", *job.arguments]
        return [*start, *options, "--json", str(self.path(job).absolute())]

    def kept(self, job: Job) -> str:
        """How the files are called in which a job that takes long keeps its measurements."""
        return f"{job.name}-quick" if self.quick else job.name

    def forget(self, job: Job) -> None:
        """Remove what a job has kept of its measurements; results stay until there are new ones."""
        for path in self.directory.glob(f"{self.kept(job)}.*jsonl"):
            path.unlink()


def measure(shelf: Shelf, every: Sequence[Job], fresh: bool) -> Iterator[str]:
    """Run what is missing, each in a process of its own; yields the names of those that failed."""
    for job in every:
        if not fresh and shelf.has(job):
            print(f"{job.name}: kept", file=sys.stderr, flush=True)
            continue
        if fresh:
            shelf.forget(job)
        print(f"{job.name}: {job.command(shelf.quick)}", file=sys.stderr, flush=True)
        if subprocess.run(shelf.line(job), cwd=ROOT, check=False).returncode:
            yield job.name
