from types import ModuleType

from .separators_numpy import best as best
from .separators_numpy import expect as expect
from .separators_numpy import loss as loss
from .separators_numpy import messages as messages
from .separators_numpy import total as total

BUILDS: list[ModuleType]
