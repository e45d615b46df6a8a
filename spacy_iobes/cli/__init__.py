"""The command line: `spacy-iobes …`, and the same as `spacy iobes …` through a spaCy plugin.

Exit codes: 0 all is well, 1 the tags are at fault, 2 the command or a file cannot be used.
"""

from . import compare, docbin, docs, edit, errors, report, score, show, survey, tune
from .app import app, main

__all__ = [
    "app",
    "compare",
    "docbin",
    "docs",
    "edit",
    "errors",
    "main",
    "report",
    "score",
    "show",
    "survey",
    "tune",
]
