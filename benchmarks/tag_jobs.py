"""One tag job: on which tags, with which tools, how fast each of them is and whether they agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

from .corpora import Corpus, Sentences, perturbed, repeated, unshared
from .table import Cell
from .tag_tools import Tool
from .timing import Alternative, Timing, race


@dataclass(frozen=True)
class Job:
    """What is done to which tags; `fresh`: every tag an object of its own that is used once."""

    name: str
    scheme: str = "bio"
    fresh: bool = False

    @property
    def verb(self) -> str:
        """The first word of the name."""
        return self.name.split()[0]

    def inputs(self, corpus: Corpus) -> Sentences:
        """The tags to work on."""
        tags = corpus.tags(self.scheme)
        return perturbed(tags) if self.verb == "repair" else tags

    def probes(self, corpus: Corpus) -> list[Sentences]:
        """The tags on which tools must agree; to validate only legal ones would prove little."""
        tags = self.inputs(corpus)
        return [tags, perturbed(tags)] if self.verb == "validate" else [tags]


JOBS = (
    Job("parse bio"),
    Job("parse bio, tags not shared", fresh=True),
    Job("parse iobes", "iobes"),
    Job("parse bilou", "bilou"),
    Job("validate bio"),
    Job("validate iobes", "iobes"),
    Job("convert bio to iobes"),
    Job("convert bio to bilou"),
    Job("repair bio"),
)


@dataclass(frozen=True)
class Outcome:
    """The times of one job's tools on one input, and which pairs of tools gave the same output."""

    job: Job
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
                "job": self.job.name,
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


def agreeing(job: Job, tools: Sequence[Tool], corpus: Corpus) -> frozenset[tuple[str, str]]:
    """The pairs of a tool and a peer that give the same output."""
    probes = job.probes(corpus)
    outputs = {t.name: [t.compared(t.run(t.prepare(probe))) for probe in probes] for t in tools}
    return frozenset(
        (tool.name, peer.name)
        for peer in tools
        for tool in tools
        if peer.peer and outputs[tool.name] == outputs[peer.name]
    )


def measure_small(
    job: Job, tools: Sequence[Tool], corpus: Corpus, rounds: int, floor: float
) -> Outcome:
    """Check that the tools agree on the corpus, then time all of them in all rounds."""
    inputs = job.inputs(corpus)

    def prepare(tool: Tool) -> object:
        return tool.prepare(unshared(inputs) if job.fresh else inputs)

    alternatives = [
        Alternative(tool.name, tool.run, partial(prepare, tool), fresh=job.fresh) for tool in tools
    ]
    alike = agreeing(job, tools, corpus)
    timings = race(alternatives, rounds, floor)
    return Outcome(job, corpus.tokens, tools, timings, alike)


def measure_large(small: Outcome, corpus: Corpus, tokens: int, rounds: int) -> Outcome:
    """Time the tools on the corpus many times over; those that take over a second run once."""
    times = round(tokens / corpus.tokens)
    inputs = repeated(small.job.inputs(corpus), times)

    def alternative(tool: Tool) -> Alternative:
        seconds = median(small.timings[tool.name].cpu.values()) * times
        once = 1 if seconds > 1 else None
        return Alternative(tool.name, tool.run, partial(tool.prepare, inputs), rounds=once)

    timings = race([alternative(tool) for tool in small.tools], rounds, floor=None)
    return Outcome(small.job, corpus.tokens * times, small.tools, timings, small.alike)
