"""Time whole commands side by side, start-up included: CPU, wall and peak of resident memory."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which
from statistics import median

from .table import Cell
from .timing import Entrant, Timing, take_turns

LAUNCHER = Path(__file__).with_name("launcher.py")
MEASURABLE = hasattr(os, "wait4") and hasattr(os, "posix_spawn")


@dataclass(frozen=True)
class Command:
    """A command line, and what it reads.

    `peer` names the column in which others are compared with it; `rounds`: only the last so many.
    """

    name: str
    arguments: tuple[str, ...]
    stdin: str = os.devnull
    peer: str = ""
    rounds: int | None = None


@dataclass
class Trial:
    """A command, and what its runs wrote and needed."""

    command: Command
    written: Path
    outputs: set[bytes] = field(default_factory=set)
    peaks: list[int] = field(default_factory=list)
    timing: Timing = field(default_factory=Timing)

    def sample(self) -> tuple[float, float]:
        """CPU and wall seconds of one run."""
        launcher = [sys.executable, "-I", "-S", str(LAUNCHER), self.command.stdin]
        line = [*launcher, str(self.written), *self.command.arguments]
        done = subprocess.run(line, capture_output=True, text=True)  # so no terminal, no progress
        if done.returncode:
            raise RuntimeError(f"{self.command.name} failed:\n{done.stderr}")
        cpu, wall, peak = done.stdout.split()
        self.outputs.add(self.written.read_bytes())
        self.peaks.append(int(peak))
        return float(cpu), float(wall)

    def agrees(self, other: Trial) -> bool:
        """Every run of both wrote the same bytes."""
        return len(self.outputs | other.outputs) == 1

    def row(self) -> dict[str, Cell]:
        """The medians of the seconds, the highest peak."""
        return {
            "command": self.command.name,
            "CPU s": median(self.timing.cpu.values()),
            "spread": self.timing.spread,
            "wall s": median(self.timing.wall.values()),
            "max RSS MB": max(self.peaks) / 1e6,
        }


def race_commands(commands: Sequence[Command], rounds: int, directory: Path) -> list[Trial]:
    """Run every command in every round that it takes part in."""
    trials = [Trial(command, directory / "output") for command in commands]
    entrants = [Entrant(t.command.name, t.sample, t.command.rounds) for t in trials]
    timings = take_turns(entrants, rounds)
    for trial in trials:
        trial.timing = timings[trial.command.name]
    return trials


def ratio(trials: Sequence[Trial], name: str, peer: str) -> Cell:
    """How much less CPU time than the peer a command takes; no number if they write other bytes."""
    for other in (trial for trial in trials if trial.command.peer == peer):
        for trial in (trial for trial in trials if trial.command.name == name):
            if not trial.agrees(other):
                return "differs"
            return trial.timing.times_faster_than(other.timing)
    return None


def script(name: str) -> str | None:
    """A console script of this Python's environment, or else one on the path."""
    beside = Path(sys.executable).with_name(name)
    return str(beside) if beside.is_file() else which(name)
