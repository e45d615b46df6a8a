"""Which sentences a person should read, what is suggested there, and when enough were read."""

from ..surface import surface

__getattr__, __all__ = surface(__name__, __file__)
