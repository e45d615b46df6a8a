"""Inference over mention separators: compiled where a compiler was at hand, or else in numpy."""

from __future__ import annotations

from . import SWITCH, SWITCHED_OFF

try:
    if SWITCHED_OFF:
        raise ImportError(f"{SWITCH} asks for numpy")
    from .separator_builds import best, expect, loss, messages, total

    IN_USE = "compiled"
except ImportError:
    from .separators_numpy import best, expect, loss, messages, total

    IN_USE = "numpy"

__all__ = ["IN_USE", "best", "expect", "loss", "messages", "total"]
