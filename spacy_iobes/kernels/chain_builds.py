"""The compiled chain kernels, in the build that makes the most of this processor."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from . import _chain

LEVELS = {3: "_chain_v3", 4: "_chain_v4"}  # of x86-64


def builds() -> list[ModuleType]:
    """All builds that are there and can be run here, from the plainest to the fastest."""
    found: list[ModuleType] = [_chain]
    for level, name in LEVELS.items():
        try:
            if level <= _chain.level():
                found.append(import_module(f".{name}", __package__))
        except ImportError:  # this compiler did not know of such a processor
            continue
    return found


_fastest = builds()[-1]
best = _fastest.best
expect = _fastest.expect
follow = _fastest.follow
messages = _fastest.messages
nbest = _fastest.nbest
total = _fastest.total
