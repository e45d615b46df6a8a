"""What a template may ask of where a token stands, and where else its word does."""

from __future__ import annotations

import numpy as np

from ..arrays import Values
from .lexemes import hashed

CASINGS = ("lower", "title", "upper")  # each a bit of what `seen` says, the first the lowest
CASING_VALUES: Values = np.array([hashed(name) for name in CASINGS], dtype=np.uint64)
SURROUNDINGS = (
    "place",
    "capitals",
    "seen",
    "before_first",
    "after_first",
    "before_earlier",
    "after_earlier",
    "before_later",
    "after_later",
)
"""The columns that `kernels.surround` gives."""
