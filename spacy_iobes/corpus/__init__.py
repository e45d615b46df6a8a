"""Annotated text in and out: column files."""

from ..surface import surface

__getattr__, __all__ = surface(__name__, __file__)
