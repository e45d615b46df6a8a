"""A progress bar for long work, on a terminal only."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tqdm import tqdm

from ..corpus.conll import ColumnReader, Columns
from ..corpus.files import STANDARD, shown


@contextmanager
def reading(path: str, columns: Columns) -> Iterator[ColumnReader]:
    """A reader whose progress is shown after a second, and gone when it is done."""
    known = path != STANDARD and Path(path).is_file()
    total = os.path.getsize(path) if known else None
    with tqdm(
        total=total,
        desc=shown(path),
        unit="B",
        unit_scale=True,
        leave=False,
        delay=1,
        disable=not sys.stderr.isatty(),
    ) as bar:
        yield ColumnReader(path, columns, bar.update)
