# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Column files as arrays, compiled: the fast twin of `columns_numpy.py`, which says what each does."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memchr, memcmp, memcpy

import numpy as np

from ._hashing cimport hash_bytes

from . import columns_numpy
from .columns_numpy import NEWDOC_TEXT, Scanned, Wrong

cdef enum:
    SLOTS = 512  # of the cache from tags to their numbers, a power of two
    FIELDS = 6  # numbers kept for each token

cdef enum Kind:
    TOKEN
    BREAK
    MARKER
    COMMENT
    NEWDOC

cdef struct Slot:
    const char* tag
    Py_ssize_t length
    int32_t code

cdef bytes NEWDOC_BYTES = NEWDOC_TEXT


cdef class Rows:
    """A table that grows: six numbers for each token."""

    cdef int32_t* data
    cdef Py_ssize_t size, room

    def __dealloc__(self):
        PyMem_Free(self.data)

    cdef int32_t* add(self) except NULL:
        if self.size == self.room:
            self.room = max(1024, self.room * 2)
            grown = <int32_t*>PyMem_Realloc(self.data, self.room * FIELDS * sizeof(int32_t))
            if grown == NULL:
                raise MemoryError()
            self.data = grown
        self.size += 1
        return self.data + (self.size - 1) * FIELDS

    cdef list arrays(self, Py_ssize_t count):
        """The columns of the first rows, each as an array."""
        cdef int32_t[::1] column
        cdef Py_ssize_t i
        cdef int field
        made = []
        for field in range(FIELDS):
            array = np.empty(count, dtype=np.int32)
            column = array
            for i in range(count):
                column[i] = self.data[i * FIELDS + field]
            made.append(array)
        return made


cdef bint _starts(const char* row, Py_ssize_t length, bytes start) noexcept:
    return length >= len(start) and memcmp(row, PyBytes_AS_STRING(start), len(start)) == 0


cdef Kind _kind(const char* row, Py_ssize_t length, bytes comment, tuple markers):
    """What a line is."""
    cdef Py_ssize_t i = 0
    while i < length and (row[i] == b" " or row[i] == b"\t"):
        i += 1
    if i == length:
        return BREAK
    for marker in markers:
        if _starts(row, length, marker):
            return MARKER
    if len(comment) and _starts(row, length, comment):
        i = len(comment)
        while i < length and (row[i] == b" " or row[i] == b"\t"):
            i += 1
        return NEWDOC if _starts(row + i, length - i, NEWDOC_BYTES) else COMMENT
    return TOKEN


cdef inline Py_ssize_t _end(
    const char* row, Py_ssize_t at, Py_ssize_t length, const char* delimiter, Py_ssize_t size
) noexcept:
    """Where the column that begins at `at` ends."""
    if size == 0:
        while at < length and row[at] != b" " and row[at] != b"\t":
            at += 1
        return at
    while at + size <= length:
        if row[at] == delimiter[0] and (size == 1 or memcmp(row + at, delimiter, size) == 0):
            return at
        at += 1
    return length


cdef inline Py_ssize_t _next(
    const char* row, Py_ssize_t at, Py_ssize_t length, Py_ssize_t size
) noexcept:
    """Where the column after an end begins; -1 if there is none."""
    if size == 0:
        while at < length and (row[at] == b" " or row[at] == b"\t"):
            at += 1
        return at if at < length else -1
    return at + size if at < length else -1


cdef Py_ssize_t _width(
    const char* row, Py_ssize_t length, const char* delimiter, Py_ssize_t size
) noexcept:
    """How many columns a line has."""
    cdef Py_ssize_t count = 0, at = 0
    if size == 0:
        at = _next(row, 0, length, 0)
    while at >= 0:
        count += 1
        at = _next(row, _end(row, at, length, delimiter, size), length, size)
    return count


cdef class Tags:
    """The numbers of the tags of one buffer, by their bytes."""

    cdef bytes buffer
    cdef dict vocabulary
    cdef Slot slots[SLOTS]

    def __cinit__(self, bytes buffer, dict vocabulary):
        self.buffer = buffer
        self.vocabulary = vocabulary
        for i in range(SLOTS):
            self.slots[i].tag = NULL

    cdef int32_t number(self, Py_ssize_t begin, Py_ssize_t end) except -1:
        cdef const char* tag = PyBytes_AS_STRING(self.buffer) + begin
        cdef Py_ssize_t length = end - begin
        cdef Slot* slot = &self.slots[hash_bytes(tag, length) & (SLOTS - 1)]
        if slot.tag == NULL or slot.length != length or memcmp(slot.tag, tag, length):
            name = self.buffer[begin:end]
            slot.code = self.vocabulary.setdefault(name, len(self.vocabulary))
            slot.tag = tag
            slot.length = length
        return slot.code


def scan(bytes buffer, bint final, layout, dict vocabulary):
    cdef bytes delimiter_bytes = layout.delimiter, comment = layout.comment
    cdef tuple markers = layout.markers
    cdef const char* delimiter = PyBytes_AS_STRING(delimiter_bytes)
    cdef Py_ssize_t size = len(delimiter_bytes), width = layout.width
    cdef Py_ssize_t token = layout.token, tag = layout.tag
    cdef const char* text = PyBytes_AS_STRING(buffer)
    cdef const char* row
    cdef const char* feed
    cdef Py_ssize_t total = len(buffer), begin = 0, stop, length, at, end, count, i
    cdef Py_ssize_t number = 0, documents = 0  # so far
    cdef Py_ssize_t consumed = 0, lines = 0, ended = 0, kept = 0  # where no sentence is open
    cdef int32_t first = -1
    cdef int32_t* places
    cdef Kind kind
    cdef bint fits = False
    cdef bint usual[256]  # first bytes of a line that can only be a token's
    cdef Rows rows = Rows()
    cdef Tags tags = Tags(buffer, vocabulary)
    if total > columns_numpy.LARGEST:
        raise OverflowError(f"{total:,} bytes are more than {columns_numpy.LARGEST:,}.")
    wrong = None
    offsets = [0]
    for i in range(256):
        usual[i] = True
    for start in (b" ", b"\t", comment, *markers):
        if start:
            usual[start[0]] = False
    while True:
        feed = <const char*>memchr(text + begin, b"\n", total - begin)
        if feed == NULL and not final:
            break
        row = text + begin
        stop = feed - text if feed != NULL else total
        length = stop - begin
        if length and row[length - 1] == b"\r":
            length -= 1
        if length == 0:
            kind = BREAK
        elif usual[<unsigned char>row[0]]:
            kind = TOKEN
        else:
            kind = _kind(row, length, comment, markers)
        if kind == TOKEN:
            width = width or _width(row, length, delimiter, size)
            if not fits:
                fits = -width <= token < width and -width <= tag < width
                if fits:
                    token, tag = token % width, tag % width
            places = rows.add()
            count = 0
            at = 0 if size else _next(row, 0, length, 0)
            while at >= 0:
                end = _end(row, at, length, delimiter, size)
                if count == token:
                    places[2] = <int32_t>(begin + at)
                    places[3] = <int32_t>(begin + end)
                if count == tag:
                    places[4] = <int32_t>(begin + at)
                    places[5] = <int32_t>(begin + end)
                count += 1
                at = _next(row, end, length, size)
            if count != width or not fits:
                wrong = Wrong(number, begin, begin + length, count, width)
                rows.size -= 1
                break
            places[0] = tags.number(places[4], places[5])
            places[1] = <int32_t>number
            if first < 0:
                first = <int32_t>number
        elif kind == MARKER or kind == NEWDOC:
            documents += 1
        if feed == NULL:
            break
        begin = stop + 1
        number += 1
        if kind == BREAK or kind == MARKER:
            if rows.size > kept:
                kept = rows.size
                offsets.append(kept)
            consumed, lines, ended = begin, number, documents
    if final and wrong is None:
        if rows.size > kept:
            kept = rows.size
            offsets.append(kept)
        consumed, lines, ended = total, number, documents
    bounds = np.array(offsets, dtype=np.int64)
    return Scanned(consumed, lines, ended, bounds, *rows.arrays(kept), width, first, wrong)


def splice(
    bytes buffer,
    const int32_t[::1] begin,
    const int32_t[::1] end,
    const int32_t[::1] codes,
    tags,
):
    cdef list names = list(tags)
    cdef Py_ssize_t i, at = 0, size = len(buffer)
    cdef bytes tag
    for i in range(codes.shape[0]):
        size += len(<bytes>names[codes[i]]) - (end[i] - begin[i])
    cdef bytes made = PyBytes_FromStringAndSize(NULL, size)
    cdef char* out = PyBytes_AS_STRING(made)
    cdef const char* text = PyBytes_AS_STRING(buffer)
    for i in range(codes.shape[0]):
        tag = <bytes>names[codes[i]]
        memcpy(out, text + at, begin[i] - at)
        out += begin[i] - at
        memcpy(out, PyBytes_AS_STRING(tag), len(tag))
        out += len(tag)
        at = end[i]
    memcpy(out, text + at, len(buffer) - at)
    return made


def first_difference(
    bytes a,
    const int32_t[::1] a_begin,
    const int32_t[::1] a_end,
    bytes b,
    const int32_t[::1] b_begin,
    const int32_t[::1] b_end,
):
    cdef const char* left = PyBytes_AS_STRING(a)
    cdef const char* right = PyBytes_AS_STRING(b)
    cdef Py_ssize_t i, length
    for i in range(a_begin.shape[0]):
        length = a_end[i] - a_begin[i]
        if length != b_end[i] - b_begin[i] or memcmp(left + a_begin[i], right + b_begin[i], length):
            return i
    return -1
