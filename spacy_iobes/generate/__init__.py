"""Invented documents of any size, with flat or nested mentions, and with violations on purpose."""

from ..surface import surface

__getattr__, __all__ = surface(__name__, __file__)
