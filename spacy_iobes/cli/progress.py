"""A progress bar for long work, on a terminal only."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..corpus.files import STANDARD, Progress, shown, visible


@contextmanager
def counter(name: str, total: int | None, unit: str) -> Iterator[Progress | None]:
    """A bar that counts, which is shown after a second, and gone when it is done."""
    if not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm  # only now: it takes longer to load than a small file to read

    with tqdm(
        total=total, desc=visible(name), unit=unit, unit_scale=True, leave=False, delay=1
    ) as shown_bar:
        yield shown_bar.update


@contextmanager
def bar(path: str) -> Iterator[Progress | None]:
    """A bar for the bytes of one file."""
    known = path != STANDARD and Path(path).is_file()
    with counter(shown(path), os.path.getsize(path) if known else None, "B") as progress:
        yield progress
