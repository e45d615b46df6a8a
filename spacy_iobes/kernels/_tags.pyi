from .tags_numpy import align as align
from .tags_numpy import decode as decode
from .tags_numpy import encode as encode
from .tags_numpy import lists as lists
from .tags_numpy import nearest as nearest
from .tags_numpy import violations as violations
from .tags_numpy import write as write
