"""spaCy components and scorers."""

from ..surface import surface

__getattr__, __all__ = surface(__name__, __file__)
