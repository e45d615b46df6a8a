"""One tag job: on which tags, with which tools, how fast each of them is and whether they agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from spacy_iobes.codes import code_tags

from .corpora import Corpus, Sentences, perturbed, repeated, unshared
from .outcome import Outcome, agreeing, enlarged
from .timing import Alternative, race
from .tools import Tool, Tools


@dataclass(frozen=True)
class Job:
    """What is done to which tags.

    `fresh`: every tag is an object of its own that is used once, as `str.split` makes them.
    """

    task: str
    scheme: str = "bio"
    fresh: bool = False

    @property
    def name(self) -> str:
        """The task, and whether its strings are fresh."""
        return f"{self.task}, fresh strings" if self.fresh else self.task

    def tools(self, every: Tools) -> list[Tool]:
        """The tools for the task; fresh strings are not for those that take integers."""
        found = every[self.task]
        return [tool for tool in found if tool.prepare is not code_tags] if self.fresh else found

    @property
    def verb(self) -> str:
        """The first word of the task."""
        return self.task.split()[0]

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
    Job("parse bio", fresh=True),
    Job("parse iobes", "iobes"),
    Job("parse bilou", "bilou"),
    Job("validate bio"),
    Job("validate bio", fresh=True),
    Job("validate iobes", "iobes"),
    Job("convert bio to iobes"),
    Job("convert bio to iobes", fresh=True),
    Job("convert bio to bilou"),
    Job("repair bio"),
    Job("repair bio", fresh=True),
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
    alike = agreeing(tools, job.probes(corpus))
    timings = race(alternatives, rounds, floor)
    return Outcome(job.name, corpus.tokens, tools, timings, alike)


def measure_large(job: Job, small: Outcome, corpus: Corpus, tokens: int, rounds: int) -> Outcome:
    """Time the tools on the corpus many times over."""
    times = round(tokens / corpus.tokens)
    inputs = repeated(job.inputs(corpus), times)
    make = partial(unshared, inputs) if job.fresh else lambda: inputs
    return enlarged(small, make, times, rounds, job.fresh)
