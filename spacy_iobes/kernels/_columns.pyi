from .columns_numpy import first_difference as first_difference
from .columns_numpy import scan as scan
from .columns_numpy import splice as splice
