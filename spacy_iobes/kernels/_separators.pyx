# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
include "_separators.pxi"
