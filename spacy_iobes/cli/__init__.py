"""The command line: `spacy-iobes …`, and the same as `spacy iobes …` through a spaCy plugin.

Exit codes: 0 all is well, 1 the tags are at fault, 2 the command or a file cannot be used.
"""

from . import compare, edit, report, score, show, survey
from .app import app, main

__all__ = ["app", "compare", "edit", "main", "report", "score", "show", "survey"]
