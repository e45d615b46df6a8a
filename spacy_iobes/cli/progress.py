"""A progress bar for long work, on a terminal only."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..corpus.conll import ColumnReader, Columns
from ..corpus.files import STANDARD, shown


@contextmanager
def reading(
    path: str, columns: Columns, vocabulary: dict[bytes, int] | None = None
) -> Iterator[ColumnReader]:
    """A reader whose progress is shown after a second, and gone when it is done."""
    if not sys.stderr.isatty():
        yield ColumnReader(path, columns, vocabulary=vocabulary)
        return
    from tqdm import tqdm  # only now: it takes longer to load than a small file to read

    known = path != STANDARD and Path(path).is_file()
    total = os.path.getsize(path) if known else None
    with tqdm(
        total=total,
        desc=shown(path),
        unit="B",
        unit_scale=True,
        leave=False,
        delay=1,
    ) as bar:
        yield ColumnReader(path, columns, bar.update, vocabulary)
