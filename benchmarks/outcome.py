"""How fast each tool does one job on one input, and which of them agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from .table import Cell, Table
from .timing import Alternative, Timing, race
from .tools import Tool


@dataclass(frozen=True)
class Outcome:
    """The times of one job's tools on one input, and which pairs of tools gave the same output."""

    job: str
    tokens: int
    tools: Sequence[Tool]
    timings: dict[str, Timing]
    alike: frozenset[tuple[str, str]]

    def ratio(self, tool: str, peer: str) -> Cell:
        """How many times faster a tool is than the peer; no number if their outputs differ."""
        for other in self.tools:
            if other.peer == peer and tool in self.timings:
                if (tool, other.name) not in self.alike:
                    return "differs"
                return self.timings[tool].times_faster_than(self.timings[other.name])
        return None

    def rows(self, peers: Sequence[str]) -> list[dict[str, Cell]]:
        """One row for each tool."""
        return [
            {
                "job": self.job,
                "tool": tool.name,
                **nanoseconds(self.timings[tool.name], self.tokens),
                **{f"x {peer}": self.ratio(tool.name, peer) for peer in peers},
            }
            for tool in self.tools
        ]


def nanoseconds(timing: Timing, tokens: int) -> dict[str, Cell]:
    """The median and spread of the CPU times per token, the median of the wall times, the speed."""
    cpu, spread = median(timing.cpu.values()), timing.spread
    return {
        "ns/token": cpu / tokens * 1e9,
        "spread": None if spread is None else spread / tokens * 1e9,
        "wall ns/token": median(timing.wall.values()) / tokens * 1e9,
        "M tokens/s": tokens / cpu / 1e6,
    }


def agreeing(tools: Sequence[Tool], probes: Sequence[Any]) -> frozenset[tuple[str, str]]:
    """The pairs of a tool and a peer that give the same output for all probes."""
    outputs = {t.name: [t.compared(t.run(t.prepare(probe))) for probe in probes] for t in tools}
    return frozenset(
        (tool.name, peer.name)
        for peer in tools
        for tool in tools
        if peer.peer and outputs[tool.name] == outputs[peer.name]
    )


def enlarged(
    small: Outcome, make: Callable[[], Any], times: int, rounds: int, fresh: bool = False
) -> Outcome:
    """Time the tools on an input so many times as large; what takes over a second runs once.

    `make` makes the input: once for each tool, or with `fresh` for each call.
    """
    tools = [tool for tool in small.tools if tool.large]

    def alternative(tool: Tool) -> Alternative:
        seconds = median(small.timings[tool.name].cpu.values()) * times
        once = 1 if seconds > 1 else None
        return Alternative(tool.name, tool.run, lambda: tool.prepare(make()), fresh, once)

    timings = race([alternative(tool) for tool in tools], rounds, floor=None)
    return Outcome(small.job, small.tokens * times, tools, timings, small.alike)


def as_table(title: str, outcomes: Sequence[Outcome]) -> Table:
    """One table for several jobs on one size of input."""
    peers = list(dict.fromkeys(t.peer for o in outcomes for t in o.tools if t.peer))
    rows = [row for outcome in outcomes for row in outcome.rows(peers)]
    differs = any("differs" in row.values() for row in rows)
    notes = ["differs: another output than the peer's, so no ratio"] if differs else []
    return Table(f"{title}, {outcomes[0].tokens:,} tokens", rows, notes)
