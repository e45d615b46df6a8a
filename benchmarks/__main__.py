"""The command line: run one benchmark, print its tables, keep them as JSON; or run them all."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from . import ROOT, ner_options
from .table import Table, shown

BENCHMARKS = {
    "tags": "Parse, validate, convert and repair tags, beside iobes, seqeval, seqscore and spaCy.",
    "score": "Score tags and files, beside seqeval, seqscore, nervaluate, iobes and conlleval.pl.",
    "chain": "Best path, and loss with gradient, of a chain, beside pytorch-crf.",
    "ner": "Recognisers beside spaCy's ner and crfsuite: F1, speed and size on nine corpora.",
    "policies": "How far the repair of malformed tags moves published scores (MasakhaNER).",
    "separators": "Inference over mention separators: two states beside eight, words per second.",
    "nested": "Nested mentions: what corpora lose as separators; recognisers beside spancat.",
    "strategies": "Tagging strategies x learners x decodings: F1, significance, crfsuite's time.",
    "selection": "Sentences read to find nearly all mentions, beside the published figures.",
    "versions": "Commands of files and scores, beside version 0.1.0 of this package.",
    "docs": "What the components cost in a pipeline, beside a default spaCy tagger (WNUT-17).",
    "all": "Everything above (hours), then RESULTS.md and its pictures; what is kept is not run.",
}
"""Every benchmark with one sentence; each but `all` is a module with `run(quick)`: its tables."""
RESULTS = ROOT / "benchmarks"


def parser() -> argparse.ArgumentParser:
    """The arguments and their help."""
    listing = "\n".join(f"  {name:<12}{sentence}" for name, sentence in BENCHMARKS.items())
    made = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure this package beside other tools, on this machine.",
        epilog=f"benchmarks:\n{listing}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("name", choices=BENCHMARKS, metavar="NAME", help="one of those listed below")
    made.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    made.add_argument("--json", type=Path, metavar="FILE", help="also write the results here")
    ner_options.add(made)
    return made


def run(name: str, quick: bool, **options: Any) -> dict[str, object]:
    """Run one benchmark and print its tables as they come; returns all of it as JSON."""
    from .machine import describe

    machine = describe()
    print(
        Table("machine", [{"what": name, "value": shown(cell)} for name, cell in machine.items()])
    )
    tables = []
    for table in import_module(f"benchmarks.{name}").run(quick, **options):
        print(f"\n{table}", flush=True)
        tables.append(table.as_json())
    return {"machine": machine, "quick": quick, "benchmarks": {name: tables}}


def write_json(path: Path, results: dict[str, object]) -> None:
    """Write a file atomically: beside its place, then rename."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(json.dumps(results, indent=2) + "\n", encoding="utf8")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def run_all(quick: bool, **options: Any) -> int:
    """Run the benchmarks that have no results yet, and write the page; 1 if one of them failed."""
    from . import results_page
    from .everything import Shelf, jobs, measure

    every = jobs(BENCHMARKS)
    shelf = Shelf(options.get("keep") or RESULTS / "results", quick, options.get("since", ""))
    output = options.get("output") or RESULTS
    for folder in (shelf.directory, output):
        folder.mkdir(exist_ok=True)
    failed: list[str] = []
    if not options.get("kept"):
        chosen = [every[name] for name in options.get("only") or every]
        failed += measure(shelf, chosen, bool(options.get("fresh")))
    for path in results_page.write(shelf, [*every.values()], output):
        print(path)
    for name in failed:
        print(f"{name} failed", file=sys.stderr)
    return int(bool(failed))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for."""
    reader = parser()
    options = reader.parse_args(arguments)
    if options.json and not options.json.absolute().parent.is_dir():
        reader.error(f"--json: there is no directory for {options.json}")
    own = ner_options.given(options)
    if problem := ner_options.problem(options.name, own):
        reader.error(problem)
    if options.name == "all":
        if options.json:
            reader.error("--json: all writes a file for each benchmark, into the directory --keep")
        return run_all(options.quick, **own)
    results = run(options.name, options.quick, **own)
    if options.json:
        write_json(options.json, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
