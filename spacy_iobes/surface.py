"""Public names of a package that are loaded when they are first used.

`__init__.pyi` of the package lists them, for type checkers and for `surface` alike, so that
importing one module of a package does not load all the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

IMPORT = re.compile(r"^from \.([\w.]+) import (?:\(([^)]*)\)|(.+))$", re.MULTILINE)


def surface(package: str, file: str) -> tuple[Callable[[str], Any], list[str]]:
    """Return `__getattr__` and `__all__` for the package whose `__init__.py` is `file`."""
    stub = Path(file).with_name("__init__.pyi").read_text(encoding="utf8")
    homes = {
        name.split()[0]: module
        for module, several, one in IMPORT.findall(stub)
        for name in (several or one).replace("\n", " ").split(",")
        if name.strip()
    }

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f".{homes[name]}", package), name)
        setattr(import_module(package), name, value)
        return value

    return load, sorted(homes)
