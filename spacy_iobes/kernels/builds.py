"""Compiled kernels come in several builds: those that this processor can run."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


def builds(plain: Any, levels: Mapping[int, str]) -> list[ModuleType]:
    """All builds that are there and can be run here, from the plainest to the fastest.

    `levels` are the names of those for levels of x86-64; the plain one tells which level this is.
    """
    found: list[ModuleType] = [plain]
    for level, name in levels.items():
        try:
            if level <= plain.level():
                found.append(import_module(f".{name}", __package__))
        except ImportError:  # the compiler did not know of such a processor
            continue
    return found
