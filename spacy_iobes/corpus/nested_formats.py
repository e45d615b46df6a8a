"""What a file with nested mentions is, by its name."""

from __future__ import annotations

from pathlib import Path

from ..errors import UnknownNameError
from .files import require_name

AUTO = "auto"
COLUMNS, DOCS, BRAT, JSON, INLINE = "columns", "docs", "brat", "json", "inline"
TEXT = "text"
FORMATS = (AUTO, COLUMNS, DOCS, BRAT, JSON, INLINE)
"""What a file may be said to be; `auto` goes by its name."""
_ENDINGS = {
    ".spacy": DOCS,
    ".ann": BRAT,
    ".jsonl": JSON,
    ".ndjson": JSON,
    ".json": JSON,
    ".jsonlines": JSON,
    ".xml": INLINE,
    ".tar": INLINE,
    ".tgz": INLINE,
}


def require_format(name: str) -> str:
    """The name of a format, if it is one."""
    if name not in FORMATS:
        message = f"Unknown format {name!r}. Known: {', '.join(FORMATS)}."
        raise UnknownNameError(message, name, FORMATS)
    return name


def format_of(path: str | Path, form: str = AUTO) -> str:
    """What somebody says a file is; else what its name says, or a column file.

    A folder is one of brat, unless somebody says that it holds inline-tagged texts.
    """
    if require_format(form) != AUTO:
        return form
    require_name(path)
    if Path(path).is_dir():
        return BRAT
    name = str(path).lower().removesuffix(".gz")
    return _ENDINGS.get(Path(name).suffix, COLUMNS)
