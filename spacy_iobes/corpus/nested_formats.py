"""What a file with nested mentions is, by its name."""

from __future__ import annotations

from pathlib import Path

COLUMNS, DOCS, BRAT, JSON, TEXT = "columns", "docs", "brat", "json", "text"
_ENDINGS = {
    ".spacy": DOCS,
    ".ann": BRAT,
    ".jsonl": JSON,
    ".ndjson": JSON,
    ".json": JSON,
    ".jsonlines": JSON,
}


def format_of(path: str | Path) -> str:
    """Column files unless the name says otherwise; a folder is one of brat."""
    if Path(path).is_dir():
        return BRAT
    name = str(path).lower().removesuffix(".gz")
    return _ENDINGS.get(Path(name).suffix, COLUMNS)
