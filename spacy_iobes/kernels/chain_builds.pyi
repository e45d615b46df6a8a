from types import ModuleType

from .chain_numpy import best as best
from .chain_numpy import expect as expect
from .chain_numpy import follow as follow
from .chain_numpy import messages as messages
from .chain_numpy import nbest as nbest
from .chain_numpy import total as total

BUILDS: list[ModuleType]
NAME: str
