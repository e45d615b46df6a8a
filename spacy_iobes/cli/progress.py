"""A progress bar for long work, on a terminal only."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..corpus.files import STANDARD, Progress, shown, visible
from .application import tell


@contextmanager
def counter(name: str, total: int | None, unit: str) -> Iterator[Progress | None]:
    """Show a bar that counts, after a second, until it is done."""
    if not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm  # only now: it takes longer to load than a small file to read

    with tqdm(
        total=total, desc=visible(name), unit=unit, unit_scale=True, leave=False, delay=1
    ) as shown_bar:
        yield shown_bar.update


@contextmanager
def jobs(name: str) -> Iterator[Callable[[int, int], None]]:
    """Show how many jobs are done, of how many: a bar on a terminal, a line for each elsewhere."""
    if not sys.stderr.isatty():
        yield lambda done, every: tell(f"{name}: {done} of {every} jobs done")
        return
    from tqdm import tqdm

    with tqdm(desc=visible(name), unit="job", leave=False) as shown_bar:

        def drawn(done: int, every: int) -> None:
            shown_bar.total = every
            shown_bar.update(done - shown_bar.n)
            shown_bar.refresh()

        yield drawn


@contextmanager
def bar(path: str) -> Iterator[Progress | None]:
    """Show a bar for the bytes of one file."""
    known = path != STANDARD and Path(path).is_file()
    with counter(shown(path), os.path.getsize(path) if known else None, "B") as progress:
        yield progress
