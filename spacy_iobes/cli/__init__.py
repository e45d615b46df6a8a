"""The command line: `spacy-iobes …` or, through a plugin of spaCy, `spacy iobes …`.

Exit codes: 0 all is well, 1 the tags are at fault, 2 the command or a file cannot be used; 128 and
the number of the signal that has ended it. Of all the commands only the one that is asked for is
loaded, so that it starts quickly.
"""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .application import app as app

_COMMANDS = {
    "annotate": "annotate",
    "compare": "compare",
    "edit": "repair convert",
    "explain": "explain",
    "generate": "generate",
    "predict": "predict",
    "score": "score",
    "select": "select",
    "info": "info",
    "simulate": "simulate",
    "strategies": "strategies",
    "summarize": "summarize",
    "train": "train",
    "tune": "tune",
    "validate": "validate",
}
MODULES = {name: module for module, names in _COMMANDS.items() for name in names.split()}
"""Every command, and the module that it is in."""
SELDOM = 100_000
"""So many new objects there are before garbage is looked for among them."""


def __getattr__(name: str) -> Any:
    """Return `app`, the application with all its commands."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for module in _COMMANDS:
        import_module(f".{module}", __name__)
    from .application import app

    return app


def main() -> None:
    """Run the console script; a command's own arguments go to it, anything else to the application.

    Garbage is looked for seldom, and not at the end: modules are none, and to go through those of
    spaCy takes a fifth of the time of a short command.
    """
    from . import signals

    gc.set_threshold(SELDOM)
    try:
        _run(*sys.argv[1:])
    except signals.Ended as ended:
        signals.leave(ended.args[0])
    finally:
        gc.freeze()


def _run(name: str = "", *arguments: str) -> None:
    if name not in MODULES:
        __getattr__("app")()
    import_module(f".{MODULES[name]}", __name__)
    from .application import run_command

    run_command(name, list(arguments))
