"""Tagging strategies side by side: learners that differ in nothing but what they are told to."""

from ..surface import surface

__getattr__, __all__ = surface(__name__, __file__)
