from .features_numpy import drop as drop
from .features_numpy import emit as emit
from .features_numpy import find as find
from .features_numpy import mix as mix
from .features_numpy import number as number
from .features_numpy import place as place
from .features_numpy import step as step
