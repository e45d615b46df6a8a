"""The place where tags become spans in spaCy.

The public names are loaded when they are first used, so that `import spacy_iobes` costs nothing.
"""

import sys
from importlib import import_module
from typing import Any

from .about import __version__ as __version__
from .surface import surface

_load, __all__ = surface(__name__, __file__)


def __getattr__(name: str) -> Any:
    value = _load(name)
    if f"{__name__}.kernels" in sys.modules:
        import_module(".kernels.twins", __name__).warn()
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
