# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Names of a list among words, compiled: the fast twin of `names_numpy.py`."""

from libc.stdint cimport int32_t, int64_t, uint64_t

import numpy as np

from . import names_numpy as _twin

cdef uint64_t PRIME = _twin.PRIME
cdef uint64_t SMALL = _twin.SMALL, EXACT = _twin.EXACT
cdef uint64_t SINGLE = _twin.SINGLE, BEGIN = _twin.BEGIN, INSIDE = _twin.INSIDE, END = _twin.END
cdef uint64_t OTHER_CASE = _twin.OTHER_CASE


cdef inline uint64_t mixed(uint64_t seed, uint64_t word) noexcept nogil:
    seed = (seed ^ word) * PRIME
    return seed ^ (seed >> 29)


cdef inline int32_t number_of(
    uint64_t word, const uint64_t[::1] keys, const int32_t[::1] numbers
) noexcept nogil:
    cdef uint64_t last = keys.shape[0] - 1, slot = word & last
    while numbers[slot] >= 0 and keys[slot] != word:
        slot = (slot + 1) & last
    return numbers[slot]


def spot(
    const uint64_t[::1] lower,
    const uint64_t[::1] text,
    const int64_t[::1] sentences,
    const uint64_t[::1] first_keys,
    const int32_t[::1] first_numbers,
    const uint64_t[::1] lengths,
    const uint64_t[::1] keys,
    const int32_t[::1] numbers,
):
    cdef Py_ssize_t s, at, end, size, i
    cdef int32_t first
    cdef uint64_t bits, exact, case
    cdef uint64_t small[65]
    found = np.zeros(lower.shape[0], dtype=np.uint64)
    cdef uint64_t[::1] out = found
    with nogil:
        for s in range(sentences.shape[0] - 1):
            at, end = sentences[s], sentences[s + 1]
            while at < end:
                first = number_of(lower[at], first_keys, first_numbers)
                bits = lengths[first] if first >= 0 else 0
                small[0] = SMALL
                size = 0
                while size < end - at and size < 64 and bits >> size:
                    small[size + 1] = mixed(small[size], lower[at + size])
                    size += 1
                while size and not (
                    bits >> (size - 1) & 1 and number_of(small[size], keys, numbers) >= 0
                ):
                    size -= 1
                if not size:
                    at += 1
                    continue
                exact = EXACT
                for i in range(size):
                    exact = mixed(exact, text[at + i])
                case = 0 if number_of(exact, keys, numbers) >= 0 else OTHER_CASE
                for i in range(size):
                    out[at + i] = INSIDE + case
                out[at] = BEGIN + case
                out[at + size - 1] = (END if size > 1 else SINGLE) + case
                at += size
    return found
