"""What the command `strategies` shows: progress, tables, and files with a page."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..corpus.files import require_name, visible, write_bytes
from ..errors import FileError
from ..scoring.tables import as_text
from .application import echo

if TYPE_CHECKING:
    from ..strategies.lab import Progress, Study

NARROW = 6  # labels that have columns of their own on a terminal


def require_folder(output: str) -> None:
    """Refuse what cannot be made a directory, before there is something to put there."""
    if output:
        require_name(output)
    for place in (Path(output), *Path(output).parents):
        if place.exists() and not place.is_dir():
            raise FileError(f"{place} is a file: --output names a directory.", str(place))


@contextmanager
def jobs_shown(name: str) -> Iterator[Progress]:
    """Progress: a bar on a terminal, a line for each job elsewhere."""
    if not sys.stderr.isatty():

        def told(done: int, jobs: int) -> None:
            echo(f"{name}: {done} of {jobs} jobs done", err=True)

        yield told
        return
    from tqdm import tqdm

    with tqdm(desc=visible(name), unit="job", leave=False) as bar:

        def drawn(done: int, jobs: int) -> None:
            bar.total = jobs
            bar.update(done - bar.n)
            bar.refresh()

        yield drawn


def show(studies: Sequence[Study]) -> None:
    """The tables on a terminal."""
    from ..strategies.tables import table_of

    for study in studies:
        echo(f"{study.name}: {study.facts}\n")
        for comparison in study.comparisons:
            wide = len(study.labels) <= NARROW
            echo(as_text(table_of(comparison, wide)))


def store(studies: Sequence[Study], folder: Path) -> None:
    """Everything into files, each written whole."""
    from ..strategies.chart import chart_of
    from ..strategies.page import Section, page_of, short

    found = {
        "comparison.json": json.dumps([s.as_dict() for s in studies], indent=1) + "\n",
        "index.html": page_of(
            [Section(study.name, study.facts, study.comparisons) for study in studies],
            "Tagging strategies",
        ),
    }
    for study in studies:
        for comparison in study.comparisons:
            name = f"{study.name}.{comparison.measure}.svg"
            found[name] = chart_of(comparison, f"{study.name}: {short(comparison)}")
    for name, text in found.items():
        with write_bytes(folder / name) as put:
            put(text.encode("utf8"))
