# Inference over chains, compiled: the fast twin of `chain_numpy.py`, which says what each does.
#
# Sequences are done several at once, one in each lane of a vector, sorted by length. How wide a vector
# is depends on how this is compiled: `_chain.pyx` is for any processor, `_chain_v3.pyx` and
# `_chain_v4.pyx` are the same for those that can do more.

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.math cimport INFINITY, exp, fabs, log
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t, uintptr_t
from libc.stdlib cimport qsort
from libc.string cimport memcpy, memmove, memset

import numpy as np


cdef extern from "_chain.h" nogil:
    int FLOATS, DOUBLES  # how many a vector holds
    ctypedef float Floats
    ctypedef double Doubles
    Floats all_floats(float)
    Doubles all_doubles(double)
    Floats larger_floats(Floats, Floats)
    Doubles larger_doubles(Doubles, Doubles)
    Floats nearer_floats(Floats, Floats)
    Floats floats_where(Floats, float, Floats, Floats)
    Doubles doubles_where(Doubles, double, Doubles, Doubles)
    Floats exp_floats(Floats)
    Doubles exp_doubles(Doubles)
    void turn_floats(Floats*)
    void turn_doubles(Doubles*)
    float added_floats(Floats)
    double added_doubles(Doubles)
    int chain_level()


def level():
    """The best of the builds that this processor can run: 1, 3 or 4."""
    return chain_level()


include "_chain_steps.pxi"
include "_chain_lanes.pxi"
include "_chain_sums.pxi"
include "_chain_paths.pxi"
include "_chain_calls.pxi"
