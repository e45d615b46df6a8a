"""The benchmark of tags: which inputs it hands to the tools, and what its table says of them."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

if not find_spec("benchmarks"):
    pytest.skip("there is no benchmarks/ beside tests/", allow_module_level=True)

from benchmarks.corpora import Corpus, unshared
from benchmarks.outcome import Outcome
from benchmarks.tag_jobs import JOBS, Job, measure_large, measure_small
from benchmarks.tag_peers import SOURCES
from benchmarks.tags import WAYS, ways
from benchmarks.timing import Timing
from benchmarks.tools import Tool, gather

CORPUS = Corpus("two sentences", [["B-PER", "I-PER", "O"], ["B-LOC"]], [["a", "b", "c"], ["d"]])
TOOLS, _ = gather({"spacy-iobes": SOURCES["spacy-iobes"]})


def outcome(job: str, tokens: int, seconds: dict[str, float], peer: str) -> Outcome:
    """Tools that took some seconds each, of which the last is the peer, and all agree."""
    names = list(seconds)
    tools = [Tool(name, len, peer=peer if name == names[-1] else "") for name in names]
    timings = {name: Timing({0: value}, {0: value}) for name, value in seconds.items()}
    return Outcome(job, tokens, tools, timings, frozenset((name, names[-1]) for name in names))


def test_each_way_to_hand_over_tags_has_a_row() -> None:
    made = {}
    for task, many, single, peer in WAYS:
        made[task] = outcome(task, 1000, {many: 1.0, single: 25.0, peer: 10.0}, peer)
        fresh = f"{task}, fresh strings"
        made[fresh] = outcome(fresh, 1000, {many: 2.0, single: 25.0, peer: 10.0}, peer)
    rows = ways(made, {}).rows
    assert [row["input"] for row in rows[:3]] == [
        "shared strings",
        "fresh strings",
        "one sentence at a time",
    ]
    assert [row["x peer, 1,000 tokens"] for row in rows] == [10.0, 5.0, 0.4] * 4
    assert [row["ns/token, 1,000 tokens"] for row in rows[:3]] == pytest.approx([1e6, 2e6, 25e6])


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_every_job_runs_on_both_sizes(job: Job) -> None:
    small = measure_small(job, job.tools(TOOLS), CORPUS, rounds=1, floor=0.0)
    large = measure_large(job, small, CORPUS, tokens=40, rounds=1)
    assert (small.tokens, large.tokens) == (4, 40)
    assert {*small.timings} == {*large.timings}


def test_every_way_is_measured() -> None:
    names = {job.name: [tool.name for tool in job.tools(TOOLS)] for job in JOBS}
    for task, many, single, _ in WAYS:
        assert {many, single} <= {*names[task]}
        assert many in names[Job(task, fresh=True).name]


def test_fresh_strings_are_objects_of_their_own() -> None:
    tag = "B-PER"
    (one, other), *_ = unshared([[tag, tag]])
    assert one == other == tag
    assert len({id(each) for each in (tag, one, other)}) == 3
