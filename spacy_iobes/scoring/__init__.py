"""Scores of span tags that carry their recipe: counts, matching, signatures, significance."""

from ..surface import surface

__getattr__, __all__ = surface(__name__, __file__)
