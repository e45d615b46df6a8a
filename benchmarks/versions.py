"""Commands of files and scores beside version 0.1.0, start-up included: CPU time and memory."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory

from .commands import MEASURABLE, Command, Trial, race_commands, script
from .table import Cell, Table
from .targets import at_least, at_most

LAYERS = 4
SC = "--spans-key sc"
NESTED = f"--nested {SC}"
COLUMNS = " ".join(f"--layer {number + 1}" for number in range(LAYERS))
NOTES = [
    "Whole commands, start-up included; CPU: process time, the median of all rounds.",
    "x 0.1.0: how many times less CPU time than version 0.1.0, the median of the ratios.",
    "Predictions are gold with every 20th mention left out. Files are invented (generate).",
]


@dataclass(frozen=True)
class Job:
    """A command line of this version and that of 0.1.0 (none: it has no such command).

    {gold} and the like stand for files; `least`: how many times less CPU time it has to take.
    """

    name: str
    line: str
    before: str = ""
    least: float = 1.0


JOBS = [
    Job("validate", "validate {gold} -s bio -q", "validate {gold} -s bio -q"),
    Job("count", "summarize --mentions {gold} -s bio", "count {gold} -s bio"),
    Job("summarize", "summarize {gold} -s bio", "summarize {gold} -s bio"),
    Job("text", "convert {gold} - -t tokens", "text {gold}"),
    Job("check", "validate {gold}", "check {gold}"),
    Job("repair", "repair {gold} {out} -s bio -p begin", "repair {gold} {out} -s bio -p begin"),
    Job(
        "convert, a scheme",
        "convert {gold} {out} -s bio --to-scheme iobes",
        "convert {gold} {out} --from bio --to iobes",
    ),
    Job(
        "convert, a label left out",
        "convert {gold} {out} -s bio --remove SHIP",
        "process {gold} {out} -s bio --remove SHIP",
    ),
    Job(
        "convert, columns to DocBin",
        "convert {gold} {out}.spacy -s bio",
        "to-docbin {gold} {out}.spacy -s bio",
    ),
    Job(
        "convert, DocBin to columns",
        "convert {gold_entities} {out} --to columns --to-scheme bio",
        "from-docbin {gold_entities} {out} -s bio --to columns",
    ),
    Job("validate a DocBin", "validate {gold_entities}", "docs {gold_entities}"),
    Job(
        "roundtrip",
        f"validate --fits separators {{gold_group}} {SC}",
        f"roundtrip {{gold_group}} {SC}",
    ),
    Job("score", "score {gold} {pred} -s bio", "score {gold} {pred} -s bio -r begin"),
    Job("errors", "score --errors {gold} {pred} -s bio", "errors {gold} {pred} -s bio -r begin"),
    Job(
        "report",
        "score {gold} {pred} -s bio --html {out}.html",
        "report {gold} {pred} -s bio -r begin -o {out}.html",
    ),
    Job(
        "compare",
        "compare {gold} -a {pred} -b {gold} -s bio --set rounds=1000",
        "compare {gold} -a {pred} -b {gold} -s bio -r begin --set rounds=1000",
    ),
    Job(
        f"score, {LAYERS} layers",
        f"score {{gold_layers}} {{pred_layers}} -s bio {COLUMNS}",
        f"score {{gold_layers}} {{pred_layers}} -s bio -r begin --nested {COLUMNS}",
        10,
    ),
    Job(
        "score, groups of DocBins",
        f"score {{gold_group}} {{pred_group}} {SC}",
        f"score {{gold_group}} {{pred_group}} {NESTED}",
        6,
    ),
    Job("score, entities of DocBins", "score {gold_entities} {pred_entities}"),
    Job(
        "score, JSON lines",
        "score {gold_json} {pred_json}",
        "score {gold_json} {pred_json} --nested",
        1.7,
    ),
]
CONSTANT = ("summarize", "score")
"""Commands whose memory must not grow with the file, columns and JSON lines."""


def write_columns(path: Path, tokens: int, layers: int, drop: bool) -> None:
    """Write tokens and BIO tags; `drop` leaves out every 20th mention, layers share the labels."""
    made = generated(tokens)
    random, kept = Random(1), True
    with path.open("w", encoding="utf8") as file:
        for line in made:
            word, _, tag = line.partition("\t")
            if tag.startswith("B-"):
                kept = not drop or random.random() >= 0.05
            tag = tag if kept else "O"
            layer = ["LOC", "PER", "ORG", "DATE", "SHIP"].index(tag[2:]) % layers if tag[2:] else 0
            tags = [tag if number == layer else "O" for number in range(layers)]
            file.write("\t".join([word, *tags]) + "\n" if word else "\n")


def generated(tokens: int) -> list[str]:
    """Lines of an invented column file."""
    done = program([installed(), *f"generate - --tokens {tokens} --seed 1".split()])
    return done.splitlines()


def installed() -> str:
    """This version's command."""
    if found := script("spacy-iobes"):
        return found
    raise SystemExit("versions: install the package first: pip install .")


def program(line: Sequence[str]) -> str:
    """What a command prints."""
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(line)}\n{done.stderr}")
    return done.stdout


def write_files(folder: Path, tokens: int) -> dict[str, Path]:
    """Gold and predictions as columns, layers, DocBins of entities and of groups, JSON lines."""
    files = {"out": folder / "out"}
    for side, drop in (("gold", False), ("pred", True)):
        source = files[side] = folder / f"{side}.bio"
        write_columns(source, tokens, 1, drop)
        files[f"{side}_layers"] = folder / f"{side}-layers.bio"
        write_columns(files[f"{side}_layers"], tokens, LAYERS, drop)
        for name, ending, options in (
            ("entities", "entities.spacy", []),
            ("group", "group.spacy", ["--set", "output-spans-key=sc"]),
            ("json", "jsonl", []),
        ):
            target = files[f"{side}_{name}"] = folder / f"{side}.{ending}"
            line = ["convert", source, target, "-s", "bio", "--unit", "document", *options]
            program([installed(), *map(str, line)])
    return files


def command(name: str, start: str, line: str, files: dict[str, Path], peer: str = "") -> Command:
    """A command line with the paths of its files."""
    return Command(name, (start, *(word.format(**files) for word in line.split())), peer=peer)


def race(job: Job, files: dict[str, Path], beside: str, rounds: int, folder: Path) -> list[Trial]:
    """This version, and the other one where it has the command, in turns."""
    commands = [command(job.name, installed(), job.line, files)]
    if beside and job.before:
        commands.append(command(f"{job.name}, 0.1.0", beside, job.before, files, "0.1.0"))
    return race_commands(commands, rounds, folder)


def row(job: Job, trials: Sequence[Trial]) -> dict[str, Cell]:
    """One line of the table: this version's figures, and how it compares."""
    ours, *other = trials
    times = ours.timing.times_faster_than(other[0].timing) if other else None
    return {
        "command": job.name,
        "CPU s": median(ours.timing.cpu.values()),
        "0.1.0 s": median(other[0].timing.cpu.values()) if other else None,
        "x 0.1.0": times,
        "wanted": f"at least {job.least:g}" if job.before else "",
        "result": at_least(times, job.least) if job.before else "",
        "max RSS MB": max(ours.peaks) / 1e6,
        "0.1.0 MB": max(other[0].peaks) / 1e6 if other else None,
    }


def memory(folder: Path, sizes: Sequence[int]) -> Iterator[dict[str, Cell]]:
    """The highest memory of commands that stream, for files of several sizes."""
    for name in CONSTANT:
        for kind, file in (("columns", ""), ("JSON lines", "_json")):
            peaks: dict[str, Cell] = {}
            for size in sizes:
                files = write_files_once(folder / str(size), size)
                sides = [f"{side}{file}" for side in ("gold", "pred")[: 1 + (name == "score")]]
                line = " ".join([name, *(f"{{{side}}}" for side in sides)])
                line += " -s bio" * (not file)
                (trial,) = race_commands([command(name, installed(), line, files)], 1, folder)
                peaks[f"MB at {size:,} tokens"] = max(trial.peaks) / 1e6
            yield {"command": name, "files": kind, **peaks}


def write_files_once(folder: Path, tokens: int) -> dict[str, Path]:
    """The files of a size, written when they are first asked for."""
    if not folder.is_dir():
        folder.mkdir()
        return write_files(folder, tokens)
    return {
        **{side: folder / f"{side}.bio" for side in ("gold", "pred")},
        **{f"{side}_json": folder / f"{side}.jsonl" for side in ("gold", "pred")},
    }


def counting(files: dict[str, Path], rounds: int, folder: Path) -> Iterator[dict[str, Cell]]:
    """How much more CPU time commands that count take than `validate`."""
    names = ("validate", "summarize", "summarize --mentions")
    lines = {name: f"{name} {{gold}} -s bio" for name in names}
    commands = [command(name, installed(), line, files) for name, line in lines.items()]
    first, *others = race_commands(commands, rounds, folder)
    for trial in others:
        times = 1 / trial.timing.times_faster_than(first.timing)
        yield {
            "command": trial.command.name,
            "CPU s": median(trial.timing.cpu.values()),
            "x validate": times,
            "wanted": "at most 2",
            "result": at_most(times, 2),
        }


def run(quick: bool, beside: str = "") -> Iterator[Table]:
    """Measure all commands, then those that count beside `validate`, then memory."""
    if not MEASURABLE:
        yield Table("commands beside 0.1.0", [], ["CPU time of commands cannot be taken here."])
        return
    tokens, rounds = (2_000, 1) if quick else (2_000_000, 3)
    with TemporaryDirectory() as directory:
        folder = Path(directory)
        files = write_files_once(folder / str(tokens), tokens)
        rows = [row(job, race(job, files, beside, rounds, folder)) for job in JOBS]
        notes = [] if beside else ["Name the command of version 0.1.0 with --beside."]
        yield Table(f"commands beside 0.1.0, {tokens:,} tokens", rows, [*NOTES, *notes])
        large = 2 * tokens if quick else 4_000_000
        files = write_files_once(folder / str(large), large)
        rows = list(counting(files, rounds, folder))
        yield Table(f"counting beside validate, {large:,} tokens", rows)
        yield Table("memory", list(memory(folder, (tokens, large))))
