"""The commands that score column files: ours, conlleval.pl and seqscore."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import which

from .commands import Command, Trial, race_commands, ratio, script
from .corpora import Corpus, Sentences
from .score_tools import inputs
from .table import Cell, Table

CONLLEVAL = "CONLLEVAL"  # names the Perl script, which is not ours to ship
OURS, OURS_TWO = "spacy-iobes score, one file", "spacy-iobes score, two files"
PERL, SEQSCORE = "conlleval.pl", "seqscore score"
NUMPY = "python -c 'import numpy'"
NOTES = [
    "Whole commands, start-up included; all print the report of conlleval.",
    "max RSS: no less than about 9 MB can be seen, which is what starts the command.",
]


@dataclass(frozen=True)
class Files:
    """The same corpus as gold, as predictions, and as one file with both tags."""

    tokens: int
    both: str
    gold: str
    predicted: str


def write_files(corpus: Corpus, times: int, directory: Path) -> Files:
    """Write the corpus many times over."""
    gold, predicted = inputs(corpus)
    columns = {
        "both": (corpus.words, gold, predicted),
        "gold": (corpus.words, gold),
        "predicted": (corpus.words, predicted),
    }
    paths = {name: str(directory / f"{times}.{name}") for name in columns}
    for name, sides in columns.items():
        text = as_text(sides).encode("utf8")
        with open(paths[name], "wb") as file:
            for _ in range(times):
                file.write(text)
    return Files(corpus.tokens * times, **paths)


def as_text(columns: Sequence[Sentences]) -> str:
    """One token on a line, a blank line behind each sentence."""
    blocks = (zip(*sides) for sides in zip(*columns))
    return "".join("".join(f"{' '.join(row)}\n" for row in block) + "\n" for block in blocks)


def find_commands(files: Files) -> tuple[list[Command], list[str]]:
    """The commands at hand, and a line for each that is not."""
    missing = []
    installed = script("spacy-iobes")
    start = (installed,) if installed else (sys.executable, "-m", "spacy_iobes")
    ours = (*start, "score", "--scheme", "bio", "--policy", "begin", "--layout", "conlleval")
    found = [
        Command(OURS, (*ours, files.both)),
        Command(OURS_TWO, (*ours, files.gold, files.predicted)),
    ]
    perl = which("perl")
    conlleval = os.environ.get(CONLLEVAL) or which("conlleval.pl") or which("conlleval")
    if perl and conlleval and Path(conlleval).is_file():
        found.append(Command(PERL, (perl, conlleval), files.both, PERL))
    else:
        missing.append(
            f"conlleval.pl is left out: it needs perl, and {CONLLEVAL} set to the path of the "
            "script (from the CoNLL-2000 shared task; it is not part of this package)."
        )
    if seqscore := script("seqscore"):
        options = "--labels BIO --repair-method conlleval --score-format conlleval --quiet"
        line = (seqscore, "score", *options.split(), "--reference", files.gold, files.predicted)
        found.append(Command(SEQSCORE, line, peer=SEQSCORE))
    else:
        missing.append(
            'seqscore score is left out, it is missing: pip install "spacy-iobes[bench]"'
        )
    return found, missing


def measure_small(files: Files, rounds: int, directory: Path) -> tuple[list[Trial], list[str]]:
    """All commands in all rounds, after a run that does not count."""
    commands, missing = find_commands(files)
    commands.append(Command(NUMPY, (sys.executable, "-c", "import numpy")))
    race_commands(commands, 1, directory)
    return race_commands(commands, rounds, directory), missing


def measure_large(files: Files, rounds: int, directory: Path) -> list[Trial]:
    """Ours in all rounds, the peers in the last one."""
    commands, _ = find_commands(files)
    commands = [replace(c, rounds=1) if c.peer else c for c in commands]
    return race_commands(commands, rounds, directory)


def as_table(files: Files, trials: Sequence[Trial], notes: Sequence[str] = ()) -> Table:
    """One row for each command, with what its output is compared with."""
    model = next((t for t in trials if t.command.name == PERL), trials[0])
    peers = [trial.command.peer for trial in trials if trial.command.peer]
    rows: list[dict[str, Cell]] = []
    for trial in trials:
        name, prints = trial.command.name, trial.command.name != NUMPY
        ratios = {f"x {peer}": ratio(trials, name, peer) if prints else None for peer in peers}
        same = f"same bytes as {model.command.name}" if trial.agrees(model) else "differs"
        output = "" if trial is model or not prints else same
        rows.append({**trial.row(), **ratios, "output": output})
    return Table(f"score files, {files.tokens:,} tokens", rows, [*NOTES, *notes])
