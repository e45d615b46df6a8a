"""The options of the command line that only some benchmarks have."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PICTURES = (".svg", ".png", ".pdf")


def names(text: str) -> list[str]:
    """What commas separate."""
    return [name.strip() for name in text.split(",")]


OPTIONS: dict[str, dict[str, Any]] = {
    "cnn": {"action": "store_true", "help": "only the recognisers with a CNN, on CoNLL-2003"},
    "keep": {
        "type": Path,
        "metavar": "FILE",
        "help": "keep every measurement here, and do not repeat those that it has; "
        "it knows settings and versions, but not what changes in the code. Of all: a directory "
        "for the results of each benchmark as JSON (benchmarks/results)",
    },
    "kept": {"action": "store_true", "help": "measure nothing: show what --keep has"},
    "only": {
        "type": names,
        "metavar": "NAME,...",
        "help": "only these corpora; 'curve' stands for the learning curves. Of all: benchmarks",
    },
    "systems": {"type": names, "metavar": "NAME,...", "help": "only these systems"},
    "budget": {
        "type": float,
        "metavar": "SECONDS",
        "help": "CPU time of training, of nested recognisers with a CNN (300)",
    },
    "seeds": {"type": int, "metavar": "N", "help": "so many seeds instead of three"},
    "plot": {
        "type": Path,
        "metavar": "FILE",
        "help": "draw the learning curves: a file that ends in .svg, .png or .pdf",
    },
    "fresh": {"action": "store_true", "help": "measure all of it again, whatever is kept"},
    "since": {"metavar": "DATE", "help": "measure again what is older than this day, YYYY-MM-DD"},
    "beside": {"metavar": "PROGRAM", "help": "the spacy-iobes of version 0.1.0, with its path"},
    "output": {
        "type": Path,
        "metavar": "DIR",
        "help": "for RESULTS.md and its pictures (benchmarks)",
    },
}
NER = {"cnn", "keep", "kept", "only", "systems", "seeds", "plot"}
NESTED = {"keep", "kept", "only", "systems", "budget"}
STRATEGIES = {"keep", "only"}
SELECTION = {"keep", "kept", "only"}
ALL = {"keep", "kept", "only", "fresh", "since", "output"}
HAVE = {
    "ner": NER,
    "nested": NESTED,
    "strategies": STRATEGIES,
    "selection": SELECTION,
    "versions": {"beside"},
    "all": ALL,
}
"""The benchmarks that have options of their own."""


def add(parser: ArgumentParser) -> None:
    """Add the options as a group of their own."""
    group = parser.add_argument_group("ner, nested, strategies, selection, versions and all")
    for name, settings in OPTIONS.items():
        group.add_argument(f"--{name}", **settings)


def given(options: Namespace) -> dict[str, Any]:
    """Those that the command line has."""
    values = {name: getattr(options, name) for name in OPTIONS}
    return {
        name: value for name, value in values.items() if value is not None and value is not False
    }


def problem(benchmark: str, own: dict[str, Any]) -> str:
    """Why these options cannot be used; empty if they can."""
    for name in own:
        if name not in HAVE.get(benchmark, ()):
            names = ", ".join(other for other, theirs in HAVE.items() if name in theirs)
            return f"--{name}: this is an option of {names}, not of {benchmark}"
    checks = (files(benchmark, own), unknown(benchmark, own), picture(own), count(own), day(own))
    return next(filter(None, checks if own else ()), "")


def files(benchmark: str, own: dict[str, Any]) -> str:
    """Files need a directory, and what is kept needs a file."""
    if "kept" in own and "keep" not in own and benchmark != "all":
        return "--kept: name the file with --keep"
    for name in ("keep", "plot", "output"):
        if name in own and not own[name].absolute().parent.is_dir():
            return f"--{name}: there is no directory for {own[name]}"
    return ""


def unknown(benchmark: str, own: dict[str, Any]) -> str:
    """Names must be in the tables."""
    if not {"only", "systems"} & own.keys():
        return ""
    for option, every in known(benchmark).items():
        for name in own.get(option, ()):
            if name not in every:
                return f"--{option}: {name!r} is none of {', '.join(every)}"
    return ""


def known(benchmark: str) -> dict[str, list[str]]:
    """The names of corpora and systems."""
    if benchmark == "all":
        from .__main__ import BENCHMARKS
        from .everything import jobs

        return {"only": list(jobs(BENCHMARKS))}
    if benchmark == "nested":
        from . import nested_ner_corpora, nested_ner_systems

        corpora, systems = nested_ner_corpora.CORPORA, nested_ner_systems.SYSTEMS
        return {"only": list(corpora), "systems": list(systems)}
    if benchmark == "strategies":
        from . import strategies_corpora

        return {"only": list(strategies_corpora.CORPORA)}
    if benchmark == "selection":
        from . import selection_corpora

        return {"only": list(selection_corpora.SETTINGS)}
    from .ner_corpora import CORPORA
    from .ner_systems import SYSTEMS
    from .ner_tables import CURVE

    return {"only": [*CORPORA, CURVE], "systems": list(SYSTEMS)}


def picture(own: dict[str, Any]) -> str:
    """A picture needs an ending that says what it is, and matplotlib."""
    if "plot" not in own:
        return ""
    if "curve" not in own.get("only", ["curve"]):
        return "--plot: there is nothing to draw without the learning curves: add curve to --only"
    if own["plot"].suffix not in PICTURES:
        return f"--plot: {own['plot']} ends in none of {', '.join(PICTURES)}"
    if not find_spec("matplotlib"):
        return '--plot: matplotlib is missing: pip install "spacy-iobes[bench]"'
    return ""


def count(own: dict[str, Any]) -> str:
    """There is at least one seed, and some time."""
    if own.get("budget", 1) <= 0:
        return "--budget: more than 0"
    return "--seeds: at least 1" if own.get("seeds", 1) < 1 else ""


def day(own: dict[str, Any]) -> str:
    """A day is written so that days can be compared as text."""
    try:
        date.fromisoformat(own.get("since", "2000-01-01"))
    except ValueError:
        return f"--since: {own['since']!r} is no day like 2026-01-31"
    return ""
