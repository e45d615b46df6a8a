"""Commands do what the pages in `cases/` show: `transcripts.py` says how to read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from .transcripts import PAGES, played


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_commands_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf8")
    assert played(text, tmp_path) == text
