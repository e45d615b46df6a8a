"""A tool that does a job, its output in a form to compare, and the tools that are installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Tool:
    """A function over a corpus: `run(prepare(inputs))`.

    `compared(output)` has one form for all tools of a job. `peer` names the column in which other
    tools are compared with this one. `large`: it runs on the large input too.
    """

    name: str
    run: Callable[[Any], Any]
    compared: Callable[[Any], object] = lambda output: output
    prepare: Callable[[Any], Any] = lambda inputs: inputs
    peer: str = ""
    large: bool = True


Tools = dict[str, list[Tool]]
"""The tools of each job."""


def gather(sources: Mapping[str, Callable[[], Tools]]) -> tuple[Tools, list[str]]:
    """The tools of each job, and a line for every package that is not installed."""
    found: Tools = {}
    missing = []
    for package, source in sources.items():
        try:
            tools = source()
        except ImportError:
            missing.append(
                f'{package} is left out, it is missing: pip install "spacy-iobes[bench]"'
            )
            continue
        for job, more in tools.items():
            found.setdefault(job, []).extend(more)
    return found, missing
