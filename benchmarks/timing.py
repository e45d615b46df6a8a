"""Time alternatives fairly, side by side.

The alternatives take turns in rounds, so that whatever slows the machine down slows all of them; a
ratio is taken within each round, and the median of the ratios is what counts. Garbage collection is
off for all, as in `timeit`. Every call is timed alone, the release of its result included.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil
from statistics import median, quantiles
from time import perf_counter, process_time
from typing import Any

MMAP_THRESHOLD, TRIM_THRESHOLD, LARGE = -3, -1, 1 << 30  # of glibc's mallopt


def steady_memory() -> str:
    """Let freed memory stay with the process, for all alternatives alike; says whether it does.

    Otherwise it depends on what ran before whether a large array is new memory, each page of which
    the system has to clear first: that may double the time of whoever makes large arrays.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return "Freed memory may go back to the system, whose clearing of new memory then counts."
    done = [mallopt(name, LARGE) for name in (MMAP_THRESHOLD, TRIM_THRESHOLD)]
    return "Freed memory stays with the process, for all tools." if all(done) else "As malloc is."


@dataclass(frozen=True)
class Alternative:
    """One of several ways to do a job: `run(prepare())`, where only `run` is timed.

    `fresh`: what `prepare` makes is used once. `rounds`: take part only in the last so many rounds.
    """

    name: str
    run: Callable[[Any], object]
    prepare: Callable[[], Any]
    fresh: bool = False
    rounds: int | None = None


@dataclass
class Timing:
    """Seconds per call in each round: of the process (`cpu`) and of the clock (`wall`)."""

    cpu: dict[int, float] = field(default_factory=dict)
    wall: dict[int, float] = field(default_factory=dict)

    @property
    def spread(self) -> float | None:
        """The interquartile range of the CPU times; None for a single round."""
        if len(self.cpu) < 2:
            return None
        low, _, high = quantiles(self.cpu.values(), n=4, method="inclusive")
        return high - low

    def at(self, number: int) -> float:
        """The CPU time in a round, or the last one where it did not take part."""
        return self.cpu.get(number) or self.cpu[max(self.cpu)]

    def times_faster_than(self, peer: Timing) -> float:
        """The median over the rounds of the peer's CPU time divided by this one's."""
        return median(peer.at(number) / self.at(number) for number in self.cpu.keys() | peer.cpu)


class Runner:
    """An alternative with its prepared input and the number of calls that one sample needs."""

    def __init__(self, alternative: Alternative):
        self.alternative = alternative
        self.calls = 1
        self.kept = None if alternative.fresh else alternative.prepare()

    def sample(self) -> tuple[float, float]:
        """CPU and wall seconds per call."""
        run, cpu, wall = self.alternative.run, 0.0, 0.0
        for _ in range(self.calls):
            value = self.alternative.prepare() if self.alternative.fresh else self.kept
            wall_start, cpu_start = perf_counter(), process_time()
            run(value)
            cpu += process_time() - cpu_start
            wall += perf_counter() - wall_start
        return cpu / self.calls, wall / self.calls

    def warm(self, floor: float) -> None:
        """One call that does not count, to learn how many make a sample of `floor` seconds."""
        self.calls = max(1, ceil(floor / max(self.sample()[1], 1e-9)))


@dataclass(frozen=True)
class Entrant:
    """Who takes turns: `sample()` gives CPU and wall seconds; `rounds`: only the last so many."""

    name: str
    sample: Callable[[], tuple[float, float]]
    rounds: int | None = None


def take_turns(entrants: Sequence[Entrant], rounds: int) -> dict[str, Timing]:
    """Sample all entrants in every round that they take part in."""
    timings = {entrant.name: Timing() for entrant in entrants}
    for number in range(rounds):
        first = number % len(entrants)  # nobody always runs behind the same neighbour
        for entrant in [*entrants[first:], *entrants[:first]]:
            if number >= rounds - (entrant.rounds or rounds):
                timing = timings[entrant.name]
                timing.cpu[number], timing.wall[number] = entrant.sample()
    return timings


def race(
    alternatives: Sequence[Alternative], rounds: int, floor: float | None = 0.01
) -> dict[str, Timing]:
    """Time all alternatives; without a `floor` a sample is one call, and nothing is warmed up."""
    runners = [Runner(alternative) for alternative in alternatives]
    with collector_off():
        if floor is not None:
            for runner in runners:
                runner.warm(floor)
        entrants = [Entrant(a.name, r.sample, a.rounds) for a, r in zip(alternatives, runners)]
        return take_turns(entrants, rounds)


@contextmanager
def collector_off() -> Iterator[None]:
    """Collect garbage once, then leave the collector off."""
    was_on = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
