"""Say that the numpy twins are in use though nobody asked for them, and where compiled kernels are.

That happens where no compiler was at hand, and in a clone after `pip install .`: Python prefers the
package of the working directory, which is not compiled, to the one that was installed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES, PathFinder
from pathlib import Path

from . import CHAIN_IN_USE, IN_USE, SWITCH, SWITCHED_OFF

HERE = Path(__file__).resolve().parents[1]
_told = False


def compiled_copy() -> Path | None:
    """Return the folder of another `spacy_iobes` whose kernels are compiled, if Python has one."""
    for folder in _other_copies():
        if any((folder / "kernels" / f"_tags{suffix}").is_file() for suffix in EXTENSION_SUFFIXES):
            return folder
    return None


def notice() -> str | None:
    """Return one line about the twins, once in a process; None if there is nothing to say.

    Worker processes leave it to the process that started them.
    """
    global _told
    if _told or SWITCHED_OFF or {IN_USE, CHAIN_IN_USE} == {"compiled"}:
        return None
    _told = True
    from multiprocessing import parent_process

    if parent_process() is not None:
        return None
    copy = compiled_copy()
    todo = (
        f"A compiled copy is in {copy}: run 'spacy-iobes' or 'spacy' instead of 'python -m …', "
        "or start Python in another folder."
        if copy
        else "Install a C compiler, then reinstall the package."
    )
    return (
        f"spacy-iobes runs without compiled kernels, from {HERE}: all works, but takes about "
        f"8 times as long. {todo} ({SWITCH}=numpy hides this line.)"
    )


def warn() -> None:
    """Log the notice as a warning, which Python prints to standard error.

    A warning of `warnings` would be an error, and break spaCy, where warnings are errors.
    """
    if line := notice():
        import logging  # here, since it takes long to load, and there is seldom anything to say

        logging.getLogger("spacy_iobes").warning(line)


def _other_copies() -> Iterator[Path]:
    name = __name__.partition(".")[0]
    specs = [PathFinder.find_spec(name, [entry]) for entry in sys.path]
    finders = [finder for finder in sys.meta_path if finder is not PathFinder]
    specs += [finder.find_spec(name, None) for finder in finders]  # editable installs
    for spec in specs:
        for place in (spec and spec.submodule_search_locations) or ():
            if Path(place).resolve() != HERE:
                yield Path(place)
