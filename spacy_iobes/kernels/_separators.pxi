# Inference over mention separators, compiled: the fast twin of `separators_numpy.py`.
#
# A row is the eight scores of one gap and label; the rows of a sentence lie end to end. What needs one
# row only is done for as many rows at once as a vector has lanes, the recursion for several labels.
# Sums run on plain numbers. Single scores give exponentials as exact as those of scores that are moved
# by 4e-7, and by 6e-8 of their distance from the highest of the row; all else is in double precision.
# Where a chain is too steep for that, it is done again in logarithms, which hold everything.

from libc.math cimport INFINITY, exp, log, log1p
from libc.stdint cimport int64_t, uint8_t, uintptr_t
from libc.string cimport memcpy, memset

import numpy as np


cdef extern from "_separators.h" nogil:
    int FLOATS, DOUBLES  # how many a vector holds
    ctypedef float Floats
    ctypedef double Doubles
    Floats all_floats(float)
    Doubles all_doubles(double)
    Floats larger_floats(Floats, Floats)
    Doubles larger_doubles(Doubles, Doubles)
    Floats floats_where(Floats, float, Floats, Floats)
    Doubles doubles_where(Doubles, double, Doubles, Doubles)
    Floats exp_floats(Floats)
    Doubles exp_doubles(Doubles)
    Floats exp_near_floats(Floats)
    Doubles exp_near_doubles(Doubles)
    bint any_floats_below(Floats, float)
    bint any_doubles_below(Doubles, double)
    void load_floats(const float*, Floats*)
    void load_doubles(const double*, Doubles*)
    void store_floats(Floats*, float*)
    void store_doubles(Doubles*, double*)
    void floats_pass(
        int64_t, int64_t, const float*, int64_t, const float*, const float*, double, bint, bint, double*,
        double*, double*, double*, double*, double*, double*,
    )
    void floats_weigh(
        int64_t, const float*, int64_t, const double*, const double*, const double*, const double*,
        float*,
    )
    void doubles_pass(
        int64_t, int64_t, const double*, int64_t, const double*, const double*, double, bint, bint, double*,
        double*, double*, double*, double*, double*, double*,
    )
    void doubles_weigh(
        int64_t, const double*, int64_t, const double*, const double*, const double*, const double*,
        double*,
    )
    void floats_ahead(
        int64_t, int64_t, const float*, int64_t, const float*, double*, double*
    )
    void doubles_ahead(
        int64_t, int64_t, const double*, int64_t, const double*, double*, double*
    )
    int chain_level()


def level():
    """The best of the builds that this processor can run: 1, 3 or 4."""
    return chain_level()


include "_separators_rows.pxi"
include "_separators_logs.pxi"
include "_separators_calls.pxi"
