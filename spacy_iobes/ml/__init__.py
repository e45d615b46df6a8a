"""Thinc layers and models."""

from ..surface import surface

__getattr__, __all__ = surface(__name__, __file__)
