# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The attributes of words in ASCII, compiled; `ml/lexemes.py` says what each of them is."""

from libc.stdint cimport int32_t, uint8_t, uint64_t
from libc.string cimport memcpy

import numpy as np

from . import words_python as _twin

cdef extern from "Python.h":
    bint PyUnicode_IS_ASCII(object text)
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL

DEF MOST = 128  # characters of a word that is done here
cdef int TEXT = _twin.TEXT, LOWER = _twin.LOWER, DIGITS = _twin.DIGITS, SHAPE = _twin.SHAPE
cdef int KINDS = _twin.KINDS, CASING = _twin.CASING, PREFIX = _twin.PREFIX, SUFFIX = _twin.SUFFIX
cdef int LONG = _twin.LONG
cdef uint64_t MIX = 0xC6A4A7935BD1E995

cdef struct Word:
    const char* text
    int length, kinds_length
    char lower[MOST]
    char digits[MOST]
    char shape[MOST]
    char kinds[MOST]
    bint has_digits, has_upper, has_lower


cdef uint64_t hashed(const char* data, Py_ssize_t length) noexcept nogil:
    """The hash that spaCy gives a string (MurmurHash64A, seed 1); 0 for the empty one."""
    cdef uint64_t block, mixed = 1 ^ (<uint64_t>length * MIX)
    cdef int i
    if length == 0:
        return 0
    while length >= 8:
        memcpy(&block, data, 8)
        block *= MIX
        block ^= block >> 47
        block *= MIX
        mixed = (mixed ^ block) * MIX
        data += 8
        length -= 8
    if length:
        for i in range(length):
            mixed ^= <uint64_t><uint8_t>data[i] << 8 * i
        mixed *= MIX
    mixed ^= mixed >> 47
    mixed *= MIX
    return mixed ^ (mixed >> 47)


cdef void read(Word* word) noexcept nogil:
    """Go through the characters of a word."""
    cdef int i, last = 0
    cdef char c, kind
    word.has_digits = word.has_upper = word.has_lower = False
    word.kinds_length = 0
    for i in range(word.length):
        c = kind = word.text[i]
        word.lower[i] = word.digits[i] = c
        if c >= 65 and c <= 90:
            word.has_upper, kind = True, 88  # X
            word.lower[i] = word.digits[i] = c + 32
        elif c >= 97 and c <= 122:
            word.has_lower, kind = True, 120  # x
        elif c >= 48 and c <= 57:
            word.has_digits, kind = True, 100  # d
            word.digits[i] = 35  # the number sign
        word.shape[i] = kind
        if i == 0 or kind != last:
            word.kinds[word.kinds_length] = kind
            word.kinds_length += 1
        last = kind


cdef uint64_t casing(const Word* word) noexcept nogil:
    if word.has_lower and not word.has_upper:
        return hashed("lower", 5)
    if word.has_upper and not word.has_lower and word.length > 1:
        return hashed("upper", 5)
    if word.length and word.text[0] >= 65 and word.text[0] <= 90:
        return hashed("title", 5)
    return 0


cdef uint64_t answer(const Word* word, int what) noexcept nogil:
    """One attribute; those of affixes are above the others, by their lengths."""
    cdef int size
    if what == TEXT:
        return hashed(word.text, word.length)
    if what == LOWER:
        return hashed(word.lower, word.length)
    if what == DIGITS:
        return hashed(word.digits, word.length if word.has_digits else 0)
    if what == SHAPE:
        return hashed(word.shape, min(word.length, LONG))
    if what == KINDS:
        return hashed(word.kinds, word.kinds_length)
    if what == CASING:
        return casing(word)
    size = what - (SUFFIX if what > SUFFIX else PREFIX)
    if size > word.length:
        return 0
    return hashed(word.text + (word.length - size if what > SUFFIX else 0), size)


def describe(list texts, const int32_t[::1] asked):
    cdef Py_ssize_t w, a, length
    cdef Word word
    values = np.zeros((len(texts), asked.shape[0]), dtype=np.uint64)
    done = np.zeros(len(texts), dtype=bool)
    cdef uint64_t[:, ::1] out = values
    cdef uint8_t[::1] ready = done.view(np.uint8)
    for w in range(len(texts)):
        if not PyUnicode_IS_ASCII(texts[w]):
            continue
        word.text = PyUnicode_AsUTF8AndSize(texts[w], &length)
        if length > MOST:
            continue
        word.length = <int>length
        read(&word)
        for a in range(asked.shape[0]):
            out[w, a] = answer(&word, asked[a])
        ready[w] = 1
    return values, done
