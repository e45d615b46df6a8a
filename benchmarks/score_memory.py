"""How much memory scoring takes beyond its input, each tool in a process of its own."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from .corpora import load, repeated
from .score_tools import JOB, SOURCES, inputs
from .table import Cell, Table

MEASURED = ("spacy-iobes", "seqscore")
STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")  # only Linux has them


def memory_table(sizes: Sequence[int], missing: Sequence[str]) -> Table:
    """The extra memory of some tools on inputs of about so many tokens."""
    title = "memory beyond the input lists, each in a fresh process"
    if not RESET.exists():
        return Table(title, [], ["Not measured: only Linux lets a process reset its peak."])
    rows = []
    for package in MEASURED:
        if not any(line.startswith(package) for line in missing):
            for tokens in sizes:
                with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                    rows.append(pool.submit(measured, package, tokens).result())
    note = "extra MB: how far the peak of resident memory rose above what the input lists took."
    return Table(title, rows, [note])


def measured(package: str, tokens: int) -> dict[str, Cell]:
    """Build the input, then score once; to be called in a fresh process."""
    tool = SOURCES[package]()[JOB][0]
    corpus = load()
    times = round(tokens / corpus.tokens)
    gold, predicted = (repeated(side, times) for side in inputs(corpus))
    tool.run((gold[:1000], predicted[:1000]))  # what is loaded at first use is no extra
    gc.collect()
    before = megabytes("VmRSS")
    RESET.write_text("5")  # the peak starts anew
    tool.run((gold, predicted))
    extra = megabytes("VmHWM") - before
    size = corpus.tokens * times
    return {
        "tool": tool.name,
        "tokens": size,
        "before, MB": before,
        "extra MB": extra,
        "extra bytes/token": extra * 1e6 / size,
    }


def megabytes(field: str) -> float:
    """A line of the process's status: VmRSS is what is resident now, VmHWM its peak."""
    lines = STATUS.read_text(encoding="utf8").splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith(field))
