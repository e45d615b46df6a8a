# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Tag sequences as arrays, compiled: the fast twin of `tags_numpy.py`, which says what each does."""

from cpython.list cimport PyList_GET_ITEM, PyList_GET_SIZE, PyList_New, PyList_SET_ITEM
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.unicode cimport PyUnicode_CheckExact, PyUnicode_FromObject
from libc.stdint cimport int32_t, int64_t, uint8_t, uintptr_t
from libc.stdlib cimport abs
from libc.string cimport memcmp

from ._hashing cimport hash_bytes

import gc

import numpy as np

from . import bits as _bits

cdef int END = _bits.END
cdef int START = _bits.START
cdef int ILLEGAL = _bits.ILLEGAL
cdef int LOSE_LEFT = _bits.LOSE_LEFT
cdef int LOSE_RIGHT = _bits.LOSE_RIGHT
cdef int CUT = _bits.CUT
cdef int OUTSIDE = _bits.OUTSIDE
cdef int EDGE = _bits.EDGE
cdef int FIRST = _bits.FIRST

cdef int32_t PACKED_EDGE = _bits.pack(-1, _bits.EDGE)
cdef int32_t PACKED_OUTSIDE = _bits.pack(-1, _bits.OUTSIDE)
cdef int64_t FAR = <int64_t>1 << 60  # further than any legal sequence


cdef extern from *:
    """
    static int iobes_ascii(PyObject* tag) { return PyUnicode_IS_COMPACT_ASCII(tag); }
    static const char* iobes_data(PyObject* tag) { return (const char*)PyUnicode_DATA(tag); }
    static Py_ssize_t iobes_length(PyObject* tag) { return PyUnicode_GET_LENGTH(tag); }
    """
    bint iobes_ascii(PyObject* tag) noexcept
    const char* iobes_data(PyObject* tag) noexcept
    Py_ssize_t iobes_length(PyObject* tag) noexcept


cdef enum:
    SLOTS = 512  # of each cache, a power of two

cdef struct Slot:
    PyObject* tag
    int32_t code

cdef struct Caches:
    # most corpora share one str object for each tag, so the address is tried first; then the
    # characters, since strings that were just read from a file are all different objects
    Slot addresses[SLOTS]
    Slot contents[SLOTS]


cdef list _rows(sequences):
    """The sentences as lists, all held at once, so that no str is freed while its address counts.

    What a generator yields is copied: it may yield one list again and again.
    """
    cdef list rows = []
    cdef bint lasting = isinstance(sequences, (list, tuple))
    for s, sequence in enumerate(sequences):
        if isinstance(sequence, (str, bytes)):
            raise TypeError(
                f"The tags of a sentence are a list of str, but sentence {s} is {sequence!r}."
            )
        rows.append(sequence if lasting and type(sequence) is list else list(sequence))
    return rows


cdef int32_t _numbered(PyObject* item, dict vocabulary, Py_ssize_t s, Py_ssize_t i) except -1:
    """The number of a tag in the vocabulary, which grows by tags it did not have."""
    tag = <object>item
    if not isinstance(tag, str):
        raise TypeError(f"Sentence {s}, token {i}: a tag is a str, not {tag!r}.")
    if not PyUnicode_CheckExact(tag):
        tag = PyUnicode_FromObject(tag)  # the characters, whatever the subclass prints
    found = vocabulary.get(tag)
    if found is None:
        found = vocabulary[tag] = len(vocabulary)
    return found


cdef int32_t _code(
    PyObject* item, Caches* caches, dict vocabulary, Py_ssize_t s, Py_ssize_t i
) except -1:
    """The number of a tag whose address is not in the cache."""
    cdef Py_ssize_t length
    cdef const char* data
    cdef Slot* slot
    if not PyUnicode_CheckExact(<object>item) or not iobes_ascii(item):
        return _numbered(item, vocabulary, s, i)
    length = iobes_length(item)
    data = iobes_data(item)
    slot = &caches.contents[hash_bytes(data, length) & (SLOTS - 1)]
    if (
        slot.tag == NULL
        or iobes_length(slot.tag) != length
        or memcmp(iobes_data(slot.tag), data, length)
    ):
        slot.code = _numbered(item, vocabulary, s, i)
        slot.tag = item
    return slot.code


def encode(sequences, dict vocabulary):
    cdef list rows = _rows(sequences)
    cdef list row
    cdef Py_ssize_t s, i, n, total = 0
    cdef PyObject* item
    cdef Caches caches
    cdef Slot* slot
    offsets_array = np.empty(len(rows) + 1, dtype=np.int64)
    cdef int64_t[::1] offsets = offsets_array
    offsets[0] = 0
    for s in range(PyList_GET_SIZE(rows)):
        total += PyList_GET_SIZE(<list>PyList_GET_ITEM(rows, s))
        offsets[s + 1] = total
    codes_array = np.empty(total, dtype=np.int32)
    cdef int32_t[::1] codes = codes_array
    for i in range(SLOTS):
        caches.addresses[i].tag = caches.contents[i].tag = NULL
    total = 0
    for s in range(PyList_GET_SIZE(rows)):
        row = <list>PyList_GET_ITEM(rows, s)
        n = offsets[s + 1] - offsets[s]
        if PyList_GET_SIZE(row) != n:
            raise RuntimeError(f"Sentence {s} changed its length while it was read.")
        for i in range(n):
            item = <PyObject*>PyList_GET_ITEM(row, i)
            slot = &caches.addresses[((<uintptr_t>item) >> 4 ^ (<uintptr_t>item) >> 13) & (SLOTS - 1)]
            if slot.tag != item:
                slot.code = _code(item, &caches, vocabulary, s, i)
                slot.tag = item
            codes[total] = slot.code
            total += 1
    return codes_array, offsets_array


def lists(const int32_t[::1] codes, const int64_t[::1] offsets, tags):
    cdef list names = list(tags)
    cdef list result = PyList_New(offsets.shape[0] - 1)
    cdef list row
    cdef PyObject* tag
    cdef Py_ssize_t s, i, n
    cdef const int32_t* code
    collecting = gc.isenabled()
    gc.disable()  # hundreds of thousands of new lists and no garbage among them
    try:
        for s in range(offsets.shape[0] - 1):
            n = offsets[s + 1] - offsets[s]
            row = PyList_New(n)
            if n:
                code = &codes[offsets[s]]
            for i in range(n):
                tag = <PyObject*>PyList_GET_ITEM(names, code[i])
                Py_INCREF(<object>tag)
                PyList_SET_ITEM(row, i, <object>tag)
            Py_INCREF(row)
            PyList_SET_ITEM(result, s, row)
    finally:
        if collecting:
            gc.enable()
    return result


cdef inline int _bits_of(const uint8_t* table, int32_t before, int32_t behind) noexcept nogil:
    return table[((before >> 3) == (behind >> 3)) << 6 | (before & 7) << 3 | (behind & 7)]


cdef Py_ssize_t _count(
    const int32_t[::1] codes,
    const int64_t[::1] offsets,
    const int32_t[::1] packed,
    const uint8_t* table,
    int wanted,
) noexcept nogil:
    """How many gaps have one of the wanted bits."""
    cdef Py_ssize_t s, i, found = 0
    cdef int32_t before, behind
    for s in range(offsets.shape[0] - 1):
        before = PACKED_EDGE
        for i in range(offsets[s], offsets[s + 1]):
            behind = packed[codes[i]]
            found += (_bits_of(table, before, behind) & wanted) != 0
            before = behind
        found += (_bits_of(table, before, PACKED_EDGE) & wanted) != 0
    return found


def violations(
    const int32_t[::1] codes,
    const int64_t[::1] offsets,
    const int32_t[::1] packed,
    const uint8_t[:, :, ::1] table,
):
    cdef const uint8_t* flat = &table[0, 0, 0]
    cdef Py_ssize_t s, i, k = 0, m
    cdef int32_t before, behind
    with nogil:
        m = _count(codes, offsets, packed, flat, ILLEGAL)
    arrays = [np.empty(m, dtype=np.int32) for _ in range(2)]
    cdef int32_t[::1] sentence = arrays[0]
    cdef int32_t[::1] index = arrays[1]
    if m:
        with nogil:
            for s in range(offsets.shape[0] - 1):
                before = PACKED_EDGE
                for i in range(offsets[s], offsets[s + 1] + 1):
                    behind = packed[codes[i]] if i < offsets[s + 1] else PACKED_EDGE
                    if _bits_of(flat, before, behind) & ILLEGAL:
                        sentence[k] = <int32_t>s
                        index[k] = <int32_t>(i - offsets[s])
                        k += 1
                    before = behind
    return tuple(arrays)


def decode(
    const int32_t[::1] codes,
    const int64_t[::1] offsets,
    const int32_t[::1] packed,
    const uint8_t[:, :, ::1] table,
    bint first,
):
    cdef const uint8_t* flat = &table[0, 0, 0]
    cdef Py_ssize_t s, i, k = 0, illegal = 0
    cdef int64_t begin, stop, opened, last
    cdef int32_t before, behind
    cdef int found, lost = 0
    # a span has a token at least; memory that is never touched is never taken
    arrays = [np.empty(codes.shape[0], dtype=np.int32) for _ in range(4)]
    cdef int32_t[::1] sentence = arrays[0]
    cdef int32_t[::1] start = arrays[1]
    cdef int32_t[::1] end = arrays[2]
    cdef int32_t[::1] label = arrays[3]
    with nogil:
        for s in range(offsets.shape[0] - 1):
            begin = offsets[s]
            stop = offsets[s + 1]
            before = PACKED_EDGE
            opened = -1
            for i in range(begin, stop + 1):
                behind = packed[codes[i]] if i < stop else PACKED_EDGE
                found = _bits_of(flat, before, behind)
                before = behind
                if not found:
                    continue
                illegal += (found & ILLEGAL) != 0
                if found & END and opened >= 0:
                    if not (lost or found & LOSE_LEFT):
                        last = opened + 1 if found & CUT else i
                        sentence[k] = <int32_t>s
                        start[k] = <int32_t>(opened - begin)
                        end[k] = <int32_t>(last - begin)
                        label[k] = packed[codes[opened if first else last - 1]] >> 3
                        k += 1
                    opened = -1
                if found & START:
                    opened = i
                    lost = found & LOSE_RIGHT
    return tuple([array[:k].copy() for array in arrays]), illegal


def write(
    const int32_t[::1] sentence,
    const int32_t[::1] start,
    const int32_t[::1] end,
    const int32_t[::1] label,
    const int64_t[::1] offsets,
    const uint8_t[:, ::1] symbols,
    int after,
    int width,
):
    cdef Py_ssize_t k, m = start.shape[0], bad = -1
    cdef int64_t i, begin, stop
    cdef int32_t base, opening, closing
    cdef int left, right
    cdef bint touch = False
    codes_array = np.zeros(offsets[offsets.shape[0] - 1], dtype=np.int32)
    cdef int32_t[::1] codes = codes_array
    with nogil:
        left = 2
        for k in range(m):
            base = 1 + label[k] * width - FIRST
            begin = offsets[sentence[k]] + start[k]
            stop = offsets[sentence[k]] + end[k]
            touch = k + 1 < m and sentence[k + 1] == sentence[k] and start[k + 1] == end[k]
            right = 1 if touch and label[k + 1] == label[k] else 2
            opening = symbols[left, right if stop - begin == 1 else 0]
            closing = symbols[left if stop - begin == 1 else 0, right]
            if opening == 0 or closing == 0:
                bad = k
                break
            codes[begin] = base + opening
            for i in range(begin + 1, stop - 1):
                codes[i] = base + symbols[0, 0]
            codes[stop - 1] = base + closing
            if after and not touch and stop < offsets[sentence[k] + 1]:
                codes[stop] = base + after
            left = right
    return codes_array, bad


def nearest(
    const int32_t[::1] tokens,
    const int64_t[::1] offsets,
    const uint8_t[:, :, ::1] legal,
    int width,
    int inside,
    int silent=0,
):
    cdef Py_ssize_t s
    cdef int64_t begin, n
    out_array = np.array(tokens, dtype=np.int32)
    cdef int32_t[::1] out = out_array
    labels = int(out_array.max(initial=-1)) // 8 + 1
    local_array = np.full(labels + 1, -1, dtype=np.int32)  # label -> its rank in the sentence
    names_array = np.empty(labels + 1, dtype=np.int32)  # rank in the sentence -> label
    cdef int32_t[::1] local = local_array
    cdef int32_t[::1] names = names_array
    cdef int64_t[::1] far
    cdef int32_t count
    cdef int64_t i
    for s in range(offsets.shape[0] - 1):
        begin = offsets[s]
        n = offsets[s + 1] - begin
        count = 0
        for i in range(begin, begin + n):
            if tokens[i] >= 0 and local[tokens[i] >> 3] < 0:
                local[tokens[i] >> 3] = count
                names[count] = tokens[i] >> 3
                count += 1
        if count:  # a sentence of nothing but O is legal as it stands
            far = np.empty(n * (1 + count * width), dtype=np.int64)
            with nogil:
                _distances(
                    tokens[begin : begin + n], local, legal, width, inside, silent, count, far
                )
                _choose(out[begin : begin + n], local, names, legal, width, silent, count, far)
        for i in range(count):
            local[names[i]] = -1
    return out_array


cdef inline int32_t _state(int32_t token, const int32_t[::1] local, int width) noexcept nogil:
    """The state of a packed tag: 0 is O, then the prefixes of each label of the sentence."""
    return 0 if token < 0 else 1 + local[token >> 3] * width + (token & 7) - FIRST


cdef inline int32_t _written(int32_t state, int width, int silent) noexcept nogil:
    """The state that a state is written as: 0 for one with a silent prefix."""
    return 0 if state and silent >> (FIRST + (state - 1) % width) & 1 else state


cdef inline int32_t _member(int32_t state, int width, int inside) noexcept nogil:
    """The label of a token in a span; -1 outside of spans."""
    return (state - 1) // width if state and (state - 1) % width < inside else -1


cdef void _distances(
    const int32_t[::1] tokens,
    const int32_t[::1] local,
    const uint8_t[:, :, ::1] legal,
    int width,
    int inside,
    int silent,
    int32_t labels,
    int64_t[::1] far,
) noexcept nogil:
    """far[i, k]: the weight of the changes from token i to the end if token i is in state k."""
    cdef Py_ssize_t n = tokens.shape[0], i
    cdef int32_t states = 1 + labels * width
    cdef int32_t own, k, l, said
    cdef int64_t best
    cdef int64_t least[8]  # over labels, of far[i + 1] per prefix
    cdef int64_t second[8]  # the same without the label that has the least
    cdef int32_t holder[8]
    cdef int p, q
    cdef int64_t* row
    cdef int64_t* ahead
    for i in range(n - 1, -1, -1):
        row = &far[i * states]
        ahead = &far[(i + 1) * states] if i + 1 < n else NULL
        if ahead != NULL:
            for q in range(width):
                least[q] = FAR
                second[q] = FAR
                holder[q] = -1
                for l in range(labels):
                    best = ahead[1 + l * width + q]
                    if best < least[q]:
                        second[q] = least[q]
                        least[q] = best
                        holder[q] = l
                    elif best < second[q]:
                        second[q] = best
        # from O
        if ahead == NULL:
            row[0] = 0 if legal[0, OUTSIDE, EDGE] else FAR
        else:
            best = ahead[0] if legal[0, OUTSIDE, OUTSIDE] else FAR
            for q in range(width):
                if legal[0, OUTSIDE, FIRST + q]:
                    best = min(best, least[q])
            row[0] = best
        for p in range(width):
            for l in range(labels):
                if ahead == NULL:
                    best = 0 if legal[0, FIRST + p, EDGE] else FAR
                else:
                    best = ahead[0] if legal[0, FIRST + p, OUTSIDE] else FAR
                    for q in range(width):
                        if legal[1, FIRST + p, FIRST + q]:
                            best = min(best, ahead[1 + l * width + q])
                        if legal[0, FIRST + p, FIRST + q]:
                            best = min(best, second[q] if holder[q] == l else least[q])
                row[1 + l * width + p] = best
        own = _state(tokens[i], local, width)
        for k in range(states):  # one changed tag weighs more than all changed labels
            said = _written(k, width, silent) if silent else k
            if said != own and row[k] < FAR:
                row[k] += n + 1 + (_member(said, width, inside) != _member(own, width, inside))


cdef void _choose(
    int32_t[::1] out,
    const int32_t[::1] local,
    const int32_t[::1] names,
    const uint8_t[:, :, ::1] legal,
    int width,
    int silent,
    int32_t labels,
    const int64_t[::1] far,
) noexcept nogil:
    """Replace each token by the best state that may follow the one before, ties by preference."""
    cdef Py_ssize_t i
    cdef int32_t states = 1 + labels * width
    cdef int32_t k, packed, said, own, before = PACKED_EDGE, chosen, rank, lowest
    cdef int64_t best, distance
    for i in range(out.shape[0]):
        own = out[i]
        best = FAR
        lowest = 4
        chosen = own
        for k in range(states):
            packed = PACKED_OUTSIDE if k == 0 else names[(k - 1) // width] << 3 | FIRST + (k - 1) % width
            if not legal[(before >> 3) == (packed >> 3), before & 7, packed & 7]:
                continue
            distance = far[i * states + k]
            said = PACKED_OUTSIDE if silent >> (packed & 7) & 1 else packed
            rank = 0 if said == own else 1 if said >> 3 == own >> 3 else 2 if said < 0 else 3
            if distance < best or (distance == best and rank < lowest):
                best = distance
                lowest = rank
                chosen = packed
        out[i] = chosen
        before = chosen


def align(gold, predicted, bint by_label):
    cdef const int32_t[::1] g_sentence = gold[0], g_start = gold[1], g_end = gold[2], g_label = gold[3]
    cdef const int32_t[::1] p_sentence = predicted[0], p_start = predicted[1]
    cdef const int32_t[::1] p_end = predicted[2], p_label = predicted[3]
    cdef Py_ssize_t m = g_start.shape[0], n = p_start.shape[0], i, k, equal = 0
    cdef int32_t f = 0, j, last, best, distance, nearest, ahead
    cdef bint fits
    partner_array = np.empty(n, dtype=np.int32)
    free_array = np.empty(m, dtype=np.int32)
    cdef int32_t[::1] partner = partner_array
    cdef int32_t[::1] free = free_array  # the f gold spans that no prediction equals
    with nogil:
        i = 0  # equal spans: both lists are sorted, so one walk finds them
        for k in range(n):
            while i < m and _before(g_sentence, g_start, g_end, g_label, i, p_sentence[k], p_start[k], p_end[k], p_label[k]):
                free[f] = <int32_t>i
                f += 1
                i += 1
            partner[k] = -1
            if (
                i < m
                and g_sentence[i] == p_sentence[k]
                and g_start[i] == p_start[k]
                and g_end[i] == p_end[k]
                and g_label[i] == p_label[k]
            ):
                partner[k] = <int32_t>i
                equal += 1
                i += 1
        while i < m:
            free[f] = <int32_t>i
            f += 1
            i += 1
    after_array = np.arange(1, f + 2, dtype=np.int32)
    taken_array = np.zeros(f, dtype=np.uint8)
    cdef int32_t[::1] after = after_array  # a linked list of places in `free`; its head is after[f]
    cdef uint8_t[::1] taken = taken_array
    after[f] = 0
    with nogil:
        for k in range(n):
            if partner[k] >= 0:
                continue
            while after[f] < f and g_sentence[free[after[f]]] < p_sentence[k]:
                after[f] = after[after[f]]
            best = -1
            nearest = -1  # the distance of the best so far; -1 if it is only the first of all
            last = f
            j = after[f]
            while j < f:
                i = free[j]
                if g_sentence[i] != p_sentence[k] or g_start[i] >= p_end[k]:
                    break
                if taken[j] or g_end[i] <= p_start[k]:  # dead: later predictions start no earlier
                    after[last] = after[j]
                else:
                    ahead = g_start[i] - p_start[k]  # what follows is no nearer than that
                    if ahead > 0 and best >= 0 and (not by_label or 0 <= nearest <= ahead):
                        break
                    distance = abs(ahead) + abs(g_end[i] - p_end[k])
                    fits = g_label[i] == p_label[k] if by_label else distance == 0
                    if fits and (nearest < 0 or distance < nearest):
                        best = j
                        nearest = distance
                    elif best < 0:
                        best = j
                    last = j
                j = after[j]
            if best >= 0:
                partner[k] = free[best]
                taken[best] = True
    return partner_array, equal


cdef inline bint _before(
    const int32_t[::1] sentence,
    const int32_t[::1] start,
    const int32_t[::1] end,
    const int32_t[::1] label,
    Py_ssize_t i,
    int32_t s,
    int32_t a,
    int32_t b,
    int32_t l,
) noexcept nogil:
    """Whether row i comes before (s, a, b, l)."""
    if sentence[i] != s:
        return sentence[i] < s
    if start[i] != a:
        return start[i] < a
    if end[i] != b:
        return end[i] < b
    return label[i] < l
