"""Learners on features found once: they know features and classes, and nothing of Docs."""

from ..surface import surface

__getattr__, __all__ = surface(__name__, __file__)
