from .names_numpy import spot as spot
