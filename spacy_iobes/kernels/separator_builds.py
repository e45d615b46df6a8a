"""The compiled kernels for separators, in the build that makes the most of this processor."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from . import _separators

LEVELS = {3: "_separators_v3"}  # of x86-64; wider vectors than those of level 3 are not faster


def builds() -> list[ModuleType]:
    """All builds that are there and can be run here, from the plainest to the fastest."""
    found: list[ModuleType] = [_separators]
    for level, name in LEVELS.items():
        try:
            if level <= _separators.level():
                found.append(import_module(f".{name}", __package__))
        except ImportError:  # this compiler did not know of such a processor
            continue
    return found


BUILDS = builds()
best = BUILDS[-1].best
expect = BUILDS[-1].expect
loss = BUILDS[-1].loss
messages = BUILDS[-1].messages
total = BUILDS[-1].total
