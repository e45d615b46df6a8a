"""The compiled chain kernels, in the build that makes the most of this processor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _chain
from .builds import builds

LEVELS = {3: "_chain_v3", 4: "_chain_v4"}  # of x86-64
FEW = 4  # sequences: in wide vectors they would take much memory for nothing


def _kernel(name: str) -> Callable[..., Any]:
    """A kernel in narrow vectors for few sequences, in the widest for more."""
    narrow, wide = getattr(BUILDS[0], name), getattr(BUILDS[-1], name)

    def run(scores: Any, offsets: Any, *others: Any) -> Any:
        return (wide if len(offsets) > FEW + 1 else narrow)(scores, offsets, *others)

    return run


BUILDS = builds(_chain, LEVELS)
NAME = BUILDS[-1].__name__.rpartition("_chain")[2].replace("_", "x86-64-") or "baseline"
"""The widest build: baseline, x86-64-v3 or x86-64-v4."""
best = _kernel("best")
expect = _kernel("expect")
follow = BUILDS[-1].follow
messages = _kernel("messages")
nbest = _kernel("nbest")
total = _kernel("total")
