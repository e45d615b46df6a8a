"""A quick hash of a few bytes, for small caches whose hits are compared in full."""

from libc.stdint cimport uint64_t
from libc.string cimport memcpy


cdef inline uint64_t hash_bytes(const char* data, Py_ssize_t length) noexcept nogil:
    """Mix the bytes, eight at a time."""
    cdef uint64_t word, mixed = <uint64_t>length
    while length > 0:
        word = 0
        memcpy(&word, data, 8 if length >= 8 else length)
        mixed = (mixed ^ word) * <uint64_t>0x9E3779B97F4A7C15
        mixed ^= mixed >> 29
        data += 8
        length -= 8
    return mixed
