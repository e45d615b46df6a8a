# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Begins and ends put together, compiled: the fast twin of `pairing_numpy.py`."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

import numpy as np


def pair(
    const double[:, ::1] first,
    const double[:, ::1] last,
    const double[:, ::1] lengths,
    const int64_t[::1] offsets,
):
    cdef Py_ssize_t labels = first.shape[1], longest = lengths.shape[1], tokens = first.shape[0]
    cdef Py_ssize_t s, t, begin, at, start, low, row = tokens
    cdef double found, value
    # of every token: the best sum up to it, and the span that ends with it if there is one
    cdef double[::1] best = np.empty(tokens)
    cdef double[::1] score = np.empty(tokens)
    cdef int32_t[::1] origin = np.full(tokens, -1, dtype=np.int32)
    cdef int32_t[::1] label = np.empty(tokens, dtype=np.int32)
    # rows are filled from the last one, and there are no more of them than tokens
    columns = [np.empty(tokens, dtype=np.int32) for _ in range(4)]
    scores = np.empty(tokens)
    cdef int32_t[::1] sentences = columns[0], starts = columns[1], ends = columns[2]
    cdef int32_t[::1] names = columns[3]
    cdef double[::1] values = scores
    with nogil:
        for s in range(offsets.shape[0] - 1):
            begin = offsets[s]
            for at in range(begin, offsets[s + 1]):
                best[at] = best[at - 1] if at > begin else 0
                low = max(at + 1 - longest, begin)
                for start in range(at, low - 1, -1):  # short spans first
                    for t in range(labels):
                        if last[at, t] == -INFINITY or first[start, t] == -INFINITY:
                            continue
                        found = first[start, t] + last[at, t] + lengths[t, at - start]
                        value = (best[start - 1] if start > begin else 0) + found
                        if value > best[at]:
                            best[at] = value
                            score[at] = found
                            origin[at] = <int32_t>start
                            label[at] = <int32_t>t
        for s in range(offsets.shape[0] - 2, -1, -1):
            begin = offsets[s]
            at = offsets[s + 1] - 1
            while at >= begin:
                if origin[at] < 0:
                    at -= 1
                    continue
                row -= 1
                sentences[row] = <int32_t>s
                starts[row] = <int32_t>(origin[at] - begin)
                ends[row] = <int32_t>(at + 1 - begin)
                names[row] = label[at]
                values[row] = score[at]
                at = origin[at] - 1
    return (*(column[row:].copy() for column in columns), scores[row:].copy())
