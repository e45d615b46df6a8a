"""Tag jobs beside other tools: strings in, spans or strings out, in nanoseconds per token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from .corpora import Corpus, load, repeated
from .outcome import Outcome, as_table, nanoseconds
from .table import Cell, Table
from .tag_jobs import JOBS, Job, measure_large, measure_small
from .tag_peers import SOURCES
from .targets import at_least, at_most
from .timing import Alternative, race
from .tools import Tools, gather

LEGEND = [
    "ns/token: process CPU time, the median of all rounds; spread: its interquartile range.",
    "x PEER: how many times faster than that peer, the median of the ratios of every round.",
    "What takes more than a second on the large input runs there once; every ratio uses that time.",
]
VERBS = ("parse", "validate", "convert", "repair")


@dataclass(frozen=True)
class Plan:
    """How much to measure: `large` and `sizes` are tokens, to which the corpus is repeated."""

    rounds: int
    floor: float
    large: int | None
    sizes: tuple[int, ...]
    large_rounds: int = 5


FULL = Plan(rounds=15, floor=0.01, large=5_000_000, sizes=(500_000, 5_000_000))
QUICK = Plan(rounds=3, floor=0.002, large=None, sizes=(500_000,), large_rounds=3)


def linearity(tools: Tools, corpus: Corpus, plan: Plan) -> Table:
    """Our time per token as the corpus grows; `growth` is that of the last size to the first."""
    inputs = {corpus.tokens: corpus.bio}
    for size in plan.sizes:
        times = round(size / corpus.tokens)
        inputs[times * corpus.tokens] = repeated(corpus.bio, times)
    rows = []
    for job in ("parse bio", "validate bio", "convert bio to iobes"):
        tool = tools[job][0]
        alternatives = [Alternative(str(n), tool.run, partial(inputs.get, n)) for n in inputs]
        timings = race(alternatives, plan.large_rounds, plan.floor)
        row: dict[str, Cell] = {"job": job, "tool": tool.name}
        for n in inputs:
            row[f"ns/token at {n:,}"] = nanoseconds(timings[str(n)], n)["ns/token"]
        first, last = min(inputs), max(inputs)
        slower = timings[str(first)].times_faster_than(timings[str(last)])
        row["growth"] = slower * first / last
        rows.append(row)
    return Table("linearity", rows)


WAYS = (
    ("parse bio", "ours parse_many", "ours parse, one by one", "iobes"),
    ("validate bio", "ours validate_many", "ours validate, one by one", "iobes"),
    ("convert bio to iobes", "ours convert_many", "ours convert, one by one", "iobes"),
    (
        "repair bio",
        "ours repair_many, begin",
        "ours repair, begin, one by one",
        "seqscore conlleval",
    ),
)
"""Tasks with our function for many sentences, the one for a single sentence, and a peer."""


def ways(*sizes: dict[str, Outcome]) -> Table:
    """How many times faster we are than a peer, by how the tags are handed over."""
    rows: list[dict[str, Cell]] = []
    for task, many, single, peer in WAYS:
        fresh = Job(task, fresh=True).name
        for how, job, tool in (
            ("shared strings", task, many),
            ("fresh strings", fresh, many),
            ("one sentence at a time", task, single),
        ):
            row: dict[str, Cell] = {"task": task, "input": how, "tool": tool, "peer": peer}
            for outcome in (outcomes[job] for outcomes in sizes if outcomes):
                timing = outcome.timings[tool]
                tokens = f"{outcome.tokens:,} tokens"
                row[f"ns/token, {tokens}"] = nanoseconds(timing, outcome.tokens)["ns/token"]
                row[f"x peer, {tokens}"] = outcome.ratio(tool, peer)
            rows.append(row)
    notes = [
        "Shared: equal tags are one object, as readers of files make them. Fresh: each tag is an",
        "object of its own that no call has seen, as str.split makes them; O is always one object.",
        "Peers read one sentence at a time in all rows. Below 1 the peer is faster.",
    ]
    return Table("how the tags are handed over", rows, notes)


@dataclass(frozen=True)
class Target:
    """A speed we want to keep: our tool at least so many times faster than a peer."""

    job: str
    tool: str
    peer: str
    at_least: float


TARGETS = (
    Target("parse bio", "ours parse_many", "iobes", 40),
    Target("parse iobes", "ours parse_many", "iobes", 40),
    Target("validate bio", "ours validate_many", "iobes", 25),
    Target("validate iobes", "ours validate_many", "iobes", 25),
    Target("convert bio to iobes", "ours convert_many", "iobes", 14),
    Target("convert bio to bilou", "ours convert_many", "spaCy", 6),
)
GROWTH = 2.0  # beyond the caches a token costs more; anything quadratic would be near 100


def targets(small: dict[str, Outcome], large: dict[str, Outcome], growth: Table) -> Table:
    """The targets, what was measured, and whether they are met."""
    rows: list[dict[str, Cell]] = []
    for target in TARGETS:
        one, many = (
            outcomes[target.job].ratio(target.tool, target.peer) if outcomes else None
            for outcomes in (small, large)
        )
        wanted = f">= {target.at_least:g} x {target.peer}"
        verdict = at_least(one, target.at_least)
        rows.append(target_row(f"{target.job}: {target.tool}", wanted, one, many, verdict))
    for row in growth.rows:
        value = row["growth"]
        sizes = [column.split()[-1] for column in row if column.startswith("ns/token at")]
        name = f"{row['job']}: linear, time per token at {sizes[-1]} / at {sizes[0]}"
        rows.append(target_row(name, f"<= {GROWTH:g}", value, None, at_most(value, GROWTH)))
    return Table("targets", rows)


def target_row(name: str, wanted: str, one: Cell, many: Cell, verdict: str) -> dict[str, Cell]:
    """One row of the table of targets."""
    return {
        "target": name,
        "wanted": wanted,
        "ratio": one,
        "ratio, large": many,
        "verdict": verdict,
    }


def run(quick: bool) -> Iterator[Table]:
    """Measure everything, table by table."""
    plan = QUICK if quick else FULL
    corpus = load()
    tools, missing = gather(SOURCES)
    size: dict[str, Cell] = {"sentences": len(corpus.bio), "tokens": corpus.tokens}
    yield Table("input", [{"corpus": corpus.name, **size}], LEGEND + missing)
    small: dict[str, Outcome] = {}
    large: dict[str, Outcome] = {}
    for verb in VERBS:
        jobs = [job for job in JOBS if job.verb == verb]
        small |= {
            job.name: measure_small(job, job.tools(tools), corpus, plan.rounds, plan.floor)
            for job in jobs
        }
        yield as_table(verb, [small[job.name] for job in jobs])
        if plan.large:
            large |= {
                job.name: measure_large(job, small[job.name], corpus, plan.large, plan.large_rounds)
                for job in jobs
            }
            yield as_table(verb, [large[job.name] for job in jobs])
    yield ways(small, large)
    growth = linearity(tools, corpus, plan)
    yield growth
    yield targets(small, large, growth)
