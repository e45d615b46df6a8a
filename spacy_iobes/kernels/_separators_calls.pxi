# The kernels: arguments, memory to work in, and sentences by the hundred rows.

cdef enum:
    ROOM = 512  # rows to work on at once, unless a sentence alone has more
    ALIGNED = 64

cdef class _Call:
    """The arguments of a call, and memory to work in."""

    cdef int64_t S, L, G, longest, first, end, R, used
    cdef bint single
    cdef const char* scores
    cdef const uint8_t* path  # what is known, if anything, [G, L]
    cdef const int64_t[::1] offsets
    cdef object kept
    cdef uint8_t[::1] memory
    cdef uint8_t[:, ::1] again  # which chains are too steep for plain numbers
    cdef Work work

    def __cinit__(self, scores, const int64_t[::1] offsets):
        cdef const float[:, :, ::1] single
        cdef const double[:, :, ::1] wide
        cdef int64_t s
        self.kept, self.offsets, self.S = scores, offsets, offsets.shape[0] - 1
        self.G, self.L = scores.shape[0], scores.shape[1]
        self.single = scores.dtype == np.float32
        if self.G and self.L and self.single:
            single = scores
            self.scores = <const char*>&single[0, 0, 0]
        elif self.G and self.L:
            wide = scores
            self.scores = <const char*>&wide[0, 0, 0]
        for s in range(self.S):
            self.longest = max(self.longest, offsets[s + 1] - offsets[s])

    cdef allot(self):
        """Memory for the longest sentence."""
        cdef int64_t R = max(ROOM, self.longest * self.L) + 2 * MOST
        cdef int64_t real = 4 if self.single else 8, size = R * (18 * real + 32)
        self.memory = np.zeros(size + 16 * (self.L + MOST) + 22 * ALIGNED, dtype=np.uint8)
        self.again = np.zeros((self.S, self.L), dtype=np.uint8)
        self.used = 0
        self.work.powers, self.work.sums = self.room(8 * R * real), self.room(4 * R * real)
        self.work.weights = self.room(4 * R * real)
        self.work.top, self.work.depth = self.room(R * real), self.room(R * real)
        self.work.outside, self.work.inside = <double*>self.room(8 * R), <double*>self.room(8 * R)
        self.work.outside_next = <double*>self.room(8 * R)
        self.work.inside_next = <double*>self.room(8 * R)
        self.work.least = <double*>self.room(8 * (self.L + MOST))
        self.work.least_next = <double*>self.room(8 * (self.L + MOST))

    cdef void* room(self, int64_t size):
        """A part of the memory that begins where vectors may, one vector behind the last part."""
        cdef uintptr_t at = <uintptr_t>&self.memory[self.used]
        cdef int64_t before = 2 * ALIGNED - at % ALIGNED
        self.used += before + size
        return <void*>(at + before)

    cdef inline const char* row(self, int64_t gap, int64_t label) noexcept nogil:
        return self.scores + (gap * self.L + label) * (32 if self.single else 64)

    cdef inline int64_t rows(self, int64_t first, int64_t end) noexcept nogil:
        return (self.offsets[end] - self.offsets[first]) * self.L

    cdef bint gather(self) noexcept nogil:
        """Take the next sentences; returns whether there are any."""
        cdef int64_t lanes = FLOATS if self.single else DOUBLES
        self.first = self.end
        if self.first == self.S:
            return False
        self.end += 1
        while self.end < self.S and self.rows(self.first, self.end + 1) <= ROOM:
            self.end += 1
        self.R = self.rows(self.first, self.end)
        self.work.R = ((self.R + lanes - 1) // lanes + 1) * lanes
        return True


cdef inline void sweep(
    _Call call, const Real* sums, int64_t s, double* totals, bint back
) noexcept nogil:
    """Over a sentence: forward, and if asked for, back as well."""
    cdef Work* w = &call.work
    cdef int64_t L = call.L, at = call.rows(call.first, s), l
    cdef int64_t gaps = call.offsets[s + 1] - call.offsets[s]
    if Real is float:
        floats_pass(
            gaps, L, sums + at, w.R, <float*>w.top + at, <float*>w.depth + at, DEEP_SINGLE, back,
            w.deep, w.outside + at, w.inside + at, w.outside_next + at, w.inside_next + at, w.least,
            w.least_next, totals,
        )
    else:
        doubles_pass(
            gaps, L, sums + at, w.R, <double*>w.top + at, <double*>w.depth + at, DEEP, back, w.deep,
            w.outside + at, w.inside + at, w.outside_next + at, w.inside_next + at, w.least,
            w.least_next, totals,
        )
    for l in range(L):
        call.again[s, l] = w.deep and min(w.least[l], w.least_next[l]) < LEAST


cdef inline void sum_up(_Call call, const Real* like, double* totals, void* out) noexcept nogil:
    """Totals `[S, L]` of the sentences at hand, and if asked for, probabilities `[G, L, 8]`."""
    cdef Work* w = &call.work
    cdef const char* scores = call.row(call.offsets[call.first], 0)
    cdef char* to = <char*>out + (scores - call.scores)
    cdef int64_t s, L = call.L
    if Real is float:
        expose(scores, call.R, w, <Floats*>w.powers)
    else:
        expose(scores, call.R, w, <Doubles*>w.powers)
    for s in range(call.first, call.end):
        sweep(call, like, s, totals + s * L, out != NULL)
    if out == NULL:
        return
    elif Real is float:
        floats_weigh(
            call.R, like, w.R, w.outside, w.inside, w.outside_next, w.inside_next,
            <float*>w.weights,
        )
        assign(w, <const Floats*>w.powers, call.R, to)
    else:
        doubles_weigh(
            call.R, like, w.R, w.outside, w.inside, w.outside_next, w.inside_next,
            <double*>w.weights,
        )
        assign(w, <const Doubles*>w.powers, call.R, to)


cdef inline void do_again(_Call call, const Real* like, double* totals, void* out) noexcept nogil:
    """The same in logarithms, for the chains that were too steep."""
    cdef double* steps = <double*>call.work.powers  # [gaps, 4]
    cdef double* before = <double*>call.work.sums  # [gaps, 2]
    cdef double* behind = <double*>call.work.weights
    cdef const Real* x
    cdef int64_t s, l, gaps, L = call.L
    for s in range(call.first, call.end):
        for l in range(L):
            if call.again[s, l]:
                x = <const Real*>call.row(call.offsets[s], l)
                gaps = call.offsets[s + 1] - call.offsets[s]
                totals[s * L + l] = log_messages(x, gaps, 8 * L, steps, before, behind, 2)
                if out != NULL:
                    log_expect(
                        x, gaps, 8 * L, before, behind, <Real*>out + (x - <const Real*>call.scores)
                    )


cdef inline void take_off(_Call call, const Real* like, double* totals, Real* out) noexcept nogil:
    """Take off what is known: the scores of one sequence for each chain, and 1 wherever it goes."""
    cdef const Real* scores = <const Real*>call.scores
    cdef const uint8_t* path = call.path
    cdef double* known = call.work.least
    cdef int64_t s, l, g, at, L = call.L
    cdef uint8_t kind, before
    for s in range(call.first, call.end):
        memset(known, 0, 8 * L)
        for g in range(call.offsets[s], call.offsets[s + 1]):
            for l in range(L):
                at = g * L + l
                kind, before = path[at], path[at - L] if g > call.offsets[s] else 0
                if (kind > 1) != (before & 5 > 0):
                    known[l] = -INFINITY
                known[l] += scores[8 * at + kind]
                out[8 * at + kind] -= 1
        for l in range(L):
            if path[(call.offsets[s + 1] - 1) * L + l] & 5:
                known[l] = -INFINITY
            at, known[l] = s * L + l, totals[s * L + l] - known[l]
            totals[at] = max(known[l], 0.0) if known[l] == known[l] else INFINITY


cdef sums(_Call call, double[:, ::1] totals, void* out):
    """All totals, and if asked for, all probabilities."""
    cdef double* to
    if not totals.size:
        return
    to = &totals[0, 0]
    call.allot()
    with nogil:
        while call.gather():
            if call.single:
                sum_up(call, <const float*>call.work.sums, to, out)
                do_again(call, <const float*>call.work.sums, to, out)
                if call.path != NULL:
                    take_off(call, <const float*>call.work.sums, to, <float*>out)
            else:
                sum_up(call, <const double*>call.work.sums, to, out)
                do_again(call, <const double*>call.work.sums, to, out)
                if call.path != NULL:
                    take_off(call, <const double*>call.work.sums, to, <double*>out)


def total(scores, offsets):
    """The logarithm of the summed exponentials of all legal sequences, `[S, L]`."""
    cdef _Call call = _Call(scores, offsets)
    totals = np.empty((call.S, call.L))
    sums(call, totals, NULL)
    return totals


def expect(scores, offsets):
    """`total`, and the probability of every separator `[G, L, 8]`."""
    cdef _Call call = _Call(scores, offsets)
    totals, found = np.empty((call.S, call.L)), np.empty_like(scores)
    sums(call, totals, <void*><uintptr_t>found.ctypes.data)
    return totals, found


def loss(scores, offsets, const uint8_t[:, ::1] path):
    """The negative log-likelihood of one sequence for each chain, and its gradient."""
    cdef _Call call = _Call(scores, offsets)
    totals, found = np.empty((call.S, call.L)), np.empty_like(scores)
    call.path = &path[0, 0] if found.size else NULL
    sums(call, totals, <void*><uintptr_t>found.ctypes.data)
    return totals, found


def messages(scores, offsets):
    """What leads to both states before every gap, what follows those behind it, and `total`."""
    cdef _Call call = _Call(scores, offsets)
    totals = np.empty((call.S, call.L))
    before, behind = np.empty((2, call.G, call.L, 2))
    cdef double[:, ::1] to = totals
    cdef double[:, :, ::1] left = before, right = behind
    if call.single:
        log_all(call, <const float*>call.scores, to, left, right)
    else:
        log_all(call, <const double*>call.scores, to, left, right)
    return before, behind, totals


cdef log_all(
    _Call call, const Real* scores, double[:, ::1] totals, double[:, :, ::1] before,
    double[:, :, ::1] behind,
):
    cdef double[::1] memory = np.empty(4 * call.longest + 1)
    cdef double* steps = &memory[0]
    cdef int64_t s, l, first, L = call.L
    with nogil:
        for s in range(call.S):
            first = call.offsets[s]
            for l in range(L):
                totals[s, l] = log_messages(
                    scores + (first * L + l) * 8, call.offsets[s + 1] - first, 8 * L, steps,
                    &before[first, l, 0], &behind[first, l, 0], 2 * L,
                )


def best(scores, offsets):
    """The legal sequence of the highest score `[G, L]`, and that score `[S, L]`."""
    cdef _Call call = _Call(scores, offsets)
    found, peaks = np.empty((call.G, call.L), dtype=np.uint8), np.empty((call.S, call.L))
    cdef uint8_t[:, ::1] path = found
    cdef double[:, ::1] to = peaks
    if not peaks.size:
        return found, peaks
    call.allot()
    with nogil:
        while call.gather():
            if call.single:
                find_best(call, <const float*>call.work.sums, &path[0, 0], &to[0, 0])
            else:
                find_best(call, <const double*>call.work.sums, &path[0, 0], &to[0, 0])
    return found, peaks


cdef inline void find_best(_Call call, const Real* tops, uint8_t* path, double* peaks) noexcept nogil:
    """The best sequences of the sentences at hand."""
    cdef Work* w = &call.work
    cdef const char* scores = call.row(call.offsets[call.first], 0)
    cdef int64_t s, g, l, at, first, gaps, L = call.L
    cdef uint8_t* to
    cdef int both
    if Real is float:
        compare(scores, call.R, w, <Floats*>w.sums)
    else:
        compare(scores, call.R, w, <Doubles*>w.sums)
    for s in range(call.first, call.end):
        first, at = call.offsets[s], call.rows(call.first, s)
        gaps = call.offsets[s + 1] - first
        if Real is float:
            floats_ahead(
                gaps, L, tops + at, w.R, <float*>w.depth + at, w.outside, peaks + s * L
            )
        else:
            doubles_ahead(
                gaps, L, tops + at, w.R, <double*>w.depth + at, w.outside, peaks + s * L
            )
        for g in range(gaps):
            to = path + (first + g) * L
            for l in range(L):
                both = <int>w.outside[g * L + l]
                to[l] = both >> 3 if g and to[l - L] & 5 else both & 7
