"""The place where tags become spans in spaCy.

The public names are loaded when they are first used, so that `import spacy_iobes` costs nothing.
`__init__.pyi` says the same to type checkers; a test compares the two.
"""

import sys
from importlib import import_module
from typing import Any

from .about import __version__ as __version__

_HOMES = {
    "codes.best": "TagScores",
    "codes.check": "check",
    "codes.columns": "CodedTags SpanColumns ViolationColumns",
    "codes.new_scheme": "add_scheme",
    "codes.parse": "parse parse_many validate validate_many",
    "codes.policy": "POLICIES",
    "codes.scheme": "SCHEMES Scheme",
    "codes.transitions": "mask transitions",
    "codes.violation": "Violation",
    "codes.write": "Repaired RepairedMany convert convert_many repair repair_many write write_many",
    "scoring.counts": "Counts",
    "scoring.report": "Report",
    "scoring.score": "score",
    "scoring.signature": "Signature",
    "span": "Span",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}
__all__ = sorted([*_HOME, "__version__"])


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    if f"{__name__}.kernels" in sys.modules:
        import_module(".kernels.twins", __name__).warn()
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
