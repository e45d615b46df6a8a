"""The few loops that must be fast, compiled where a compiler was at hand, and their numpy twins."""

from __future__ import annotations

import os

SWITCH = "SPACY_IOBES_KERNELS"  # set it to "numpy" to use the readable twins

SWITCHED_OFF = os.environ.get(SWITCH) == "numpy"

try:
    if SWITCHED_OFF:
        raise ImportError(f"{SWITCH} asks for numpy")
    from ._columns import first_difference, scan, splice
    from ._tags import align, decode, encode, lists, nearest, violations, write

    IN_USE = "compiled"
except ImportError:
    from .columns_numpy import first_difference, scan, splice
    from .tags_numpy import align, decode, encode, lists, nearest, violations, write

    IN_USE = "numpy"

__all__ = [
    "IN_USE",
    "SWITCH",
    "SWITCHED_OFF",
    "align",
    "decode",
    "encode",
    "first_difference",
    "lists",
    "nearest",
    "scan",
    "splice",
    "violations",
    "write",
]
