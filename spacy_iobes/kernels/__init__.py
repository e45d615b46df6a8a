"""The few loops that must be fast, compiled where a compiler was at hand, and their numpy twins."""

from __future__ import annotations

import os

SWITCH = "SPACY_IOBES_KERNELS"  # set it to "numpy" to use the readable twins

SWITCHED_OFF = os.environ.get(SWITCH) == "numpy"

try:
    if SWITCHED_OFF:
        raise ImportError(f"{SWITCH} asks for numpy")
    from ._columns import first_difference, scan, splice
    from ._features import drop, emit, find, mix, number, place, step
    from ._names import spot
    from ._pairing import pair
    from ._surroundings import surround
    from ._tags import align, decode, encode, lists, nearest, violations, write
    from ._winnow import winnow
    from ._words import describe

    IN_USE = "compiled"
except ImportError:
    from .columns_numpy import first_difference, scan, splice
    from .features_numpy import drop, emit, find, mix, number, place, step
    from .names_numpy import spot
    from .pairing_numpy import pair
    from .surroundings_numpy import surround
    from .tags_numpy import align, decode, encode, lists, nearest, violations, write
    from .winnow_python import winnow
    from .words_python import describe

    IN_USE = "numpy"

try:  # on its own: it asks more of a compiler than the others do
    if SWITCHED_OFF:
        raise ImportError(f"{SWITCH} asks for numpy")
    from .chain_builds import NAME as CHAIN_BUILD
    from .chain_builds import best, expect, follow, messages, nbest, total

    CHAIN_IN_USE = "compiled"
except ImportError:
    from .chain_numpy import best, expect, follow, messages, nbest, total

    CHAIN_IN_USE = CHAIN_BUILD = "numpy"

__all__ = [
    "CHAIN_BUILD",
    "CHAIN_IN_USE",
    "IN_USE",
    "SWITCH",
    "SWITCHED_OFF",
    "align",
    "best",
    "decode",
    "describe",
    "drop",
    "emit",
    "encode",
    "expect",
    "find",
    "first_difference",
    "follow",
    "lists",
    "messages",
    "mix",
    "nbest",
    "nearest",
    "number",
    "pair",
    "place",
    "scan",
    "splice",
    "spot",
    "step",
    "surround",
    "total",
    "violations",
    "winnow",
    "write",
]
