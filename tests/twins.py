"""The compiled kernels and their numpy twins, side by side.

A test module that imports this is skipped where the kernels are not compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from spacy_iobes.kernels import tags_numpy

compiled = pytest.importorskip(
    "spacy_iobes.kernels._tags", reason="the kernels are not compiled here: there is one twin only"
)


def same(a: Any, b: Any) -> bool:
    """Equal, down to the types of numbers and arrays."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all())
    return type(a) is type(b) and bool(a == b)


def agree(name: str, *arguments: Any) -> Any:
    """Call both twins; return what both say."""
    fast, slow = (getattr(module, name)(*arguments) for module in (compiled, tags_numpy))
    assert same(fast, slow), (name, fast, slow)
    return slow
