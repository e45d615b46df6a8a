# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Where a token stands and where else its word does, compiled: see `surroundings_numpy.py`."""

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t

import numpy as np

from .surroundings_numpy import FIRST_PLACES as _FIRST_PLACES

cdef int FIRST_PLACES = _FIRST_PLACES
cdef uint64_t PRIME = 0x9E3779B97F4A7C15

cdef struct Token:
    int32_t sentence, index  # its sentence, and its number there
    int32_t first, earlier, later  # other places of its word in the Doc, or -1
    int8_t casing  # a number from 0 to 2, or -1
    bint capitals, telling

cdef struct Word:
    int32_t first, last, places  # where it is in the Doc, and how often
    int32_t written[3]  # how often it is written so where that says something



def surround(
    const uint64_t[::1] lower,
    const uint64_t[::1] casing,
    const uint64_t[::1] casings,
    const int64_t[::1] docs,
    const int64_t[::1] sentences,
):
    cdef Py_ssize_t tokens = lower.shape[0], longest = 1, d, s, n
    for d in range(docs.shape[0] - 1):
        longest = max(longest, docs[d + 1] - docs[d])
    cdef uint64_t slots = 4
    while slots < 2 * <uint64_t>longest:
        slots *= 2
    values = np.zeros((tokens, 9), dtype=np.uint64)
    if not tokens:
        return values
    cdef uint64_t[:, ::1] out = values
    cdef uint8_t[::1] memory = np.empty(tokens * sizeof(Token), dtype=np.uint8)
    cdef uint8_t[::1] table = np.empty(slots * sizeof(Word), dtype=np.uint8)
    cdef Token* token = <Token*>&memory[0]
    cdef Word* word = <Word*>&table[0]
    cdef int32_t[::1] slot_of = np.empty(longest, dtype=np.int32)
    with nogil:
        for s in range(sentences.shape[0] - 1):
            read_sentence(token, &casing[0], &casings[0], s, sentences[s], sentences[s + 1])
        for d in range(docs.shape[0] - 1):
            if docs[d] < docs[d + 1]:
                link(token, &lower[0], docs[d], docs[d + 1], word, slots, &slot_of[0])
                for n in range(docs[d], docs[d + 1]):
                    out[n, 2] = seen(&token[n], &word[slot_of[n - docs[d]]])
        for s in range(sentences.shape[0] - 1):
            for n in range(sentences[s], sentences[s + 1]):
                out[n, 0] = 1 + min(token[n].index, FIRST_PLACES)
                if n + 1 == sentences[s + 1]:
                    out[n, 0] += FIRST_PLACES + 1
                out[n, 1] = 1 + token[n].capitals
                near(token, &lower[0], tokens, token[n].first, &out[n, 3])
                near(token, &lower[0], tokens, token[n].earlier, &out[n, 5])
                near(token, &lower[0], tokens, token[n].later, &out[n, 7])
    return values


cdef void read_sentence(
    Token* token, const uint64_t* casing, const uint64_t* casings, Py_ssize_t s,
    Py_ssize_t begin, Py_ssize_t end,
) noexcept nogil:
    """The tokens of a sentence, by themselves."""
    cdef Py_ssize_t n
    cdef int c
    cdef bint upper = False, small = False
    for n in range(begin, end):
        token[n].sentence, token[n].index = <int32_t>s, <int32_t>(n - begin)
        token[n].casing = -1
        for c in range(3):
            if casing[n] == casings[c]:
                token[n].casing = c
        upper |= token[n].casing == 2
        small |= token[n].casing == 0 or token[n].casing == 1
    for n in range(begin, end):
        token[n].capitals = upper and not small
        token[n].telling = n > begin and not token[n].capitals and token[n].casing >= 0


cdef void link(
    Token* token, const uint64_t* lower, Py_ssize_t begin, Py_ssize_t end,
    Word* word, uint64_t slots, int32_t* slot_of,
) noexcept nogil:
    """Find the other places of every word of a Doc; `slot_of` says which of the words it is."""
    cdef Py_ssize_t n
    cdef uint64_t slot, mixed, size = 4
    while size < 2 * <uint64_t>(end - begin):
        size *= 2
    for slot in range(size):
        word[slot].places = 0
    for n in range(begin, end):
        mixed = lower[n] * PRIME
        slot = (mixed ^ (mixed >> 32)) & (size - 1)
        while word[slot].places and lower[word[slot].first] != lower[n]:
            slot = (slot + 1) & (size - 1)
        token[n].later = token[n].first = token[n].earlier = -1
        if word[slot].places:
            token[n].first, token[n].earlier = word[slot].first, word[slot].last
            token[word[slot].last].later = <int32_t>n
        else:
            word[slot].first = <int32_t>n
            word[slot].written[0] = word[slot].written[1] = word[slot].written[2] = 0
        word[slot].last = <int32_t>n
        word[slot].places += 1
        if token[n].telling:
            word[slot].written[token[n].casing] += 1
        slot_of[n - begin] = <int32_t>slot


cdef uint64_t seen(const Token* token, const Word* word) noexcept nogil:
    """How the word is written at its other places."""
    cdef uint64_t found = 0
    cdef int c
    if word.places == 1:
        return 0
    for c in range(3):
        if word.written[c] > (token.telling and token.casing == c):
            found |= 1 << c
    return found + 1


cdef void near(
    const Token* token, const uint64_t* lower, Py_ssize_t tokens, int32_t place, uint64_t* out
) noexcept nogil:
    """The words before and behind a place, if they are in the same sentence."""
    if place < 0:
        return
    if place > 0 and token[place - 1].sentence == token[place].sentence:
        out[0] = lower[place - 1]
    if place + 1 < tokens and token[place + 1].sentence == token[place].sentence:
        out[1] = lower[place + 1]
