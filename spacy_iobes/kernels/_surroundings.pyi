from .surroundings_numpy import surround as surround
