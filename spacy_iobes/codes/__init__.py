"""Tags as data: schemes, policies, and the verbs that are derived from them."""

from ..surface import surface

__getattr__, __all__ = surface(__name__, __file__)
