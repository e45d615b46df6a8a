# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Inference over chains, compiled: the fast twin of `chain_numpy.py`, which says what each does.

Here are memory and order; the loops are in `_chain.h`. Sequences are done several at once, one in
each lane of a vector: as many as the processor has lanes, sorted by length.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t, uintptr_t

import numpy as np


cdef extern from "_chain.h":
    double STEEP_D
    double STEEP_F

    ctypedef struct Blocks:
        int blocks, loose
        int32_t* value_at
        int32_t* loose_at

    ctypedef struct Job:
        int K, single, variants
        const void* scores
        const double* start
        const double* stop
        const double* tops
        const float* start_f
        const float* stop_f
        double edges
        const Blocks* into
        const Blocks* back
        const int32_t* which

    ctypedef struct Group:
        int n
        int64_t T
        int64_t* sequence
        int64_t* first
        int64_t* length

    ctypedef struct Work:
        double* a
        double* b
        double* c
        double* x
        double* rows
        int32_t* picked

    ctypedef struct Counts:
        double* sums
        int64_t size

    ctypedef void Sums(
        const Job*, const Group*, const Work*, double*, uint8_t*, void*, const Counts*
    ) noexcept nogil

    ctypedef struct Kind:
        int lanes
        Sums* sums
        Sums* sums_f
        void logs(const Job*, const Group*, const Work*, double*, int) noexcept nogil
        void expect(const Job*, const Group*, const Work*, void*, double*) noexcept nogil
        void ahead(const Job*, const Group*, const Work*) noexcept nogil
        double scaled(const double*, int64_t, double*, double*) noexcept nogil

    ctypedef struct Item:
        int64_t length, sequence

    ctypedef struct Trail:
        const Job* job
        const double* ahead
        const double* after
        int lanes
        int64_t first, T

    ctypedef struct Branch:
        double score

    ctypedef struct Pool:
        Branch* branches
        int size, room

    const Kind chain_kinds[3]
    int chain_kinds_here() noexcept nogil
    int64_t chain_room(int64_t, int64_t) noexcept nogil
    int64_t chain_legal(const double*, int64_t) noexcept nogil
    void chain_transpose(const double*, int, double*) noexcept nogil
    void chain_divide(Blocks*, const double*, const double*, int, double, int64_t, char*) noexcept nogil
    int64_t chain_order(const int64_t*, int64_t, const uint8_t*, Item*) noexcept nogil
    void chain_spread(const Blocks*, int, const double*, double*) noexcept nogil
    void chain_follow(const Job*, const Group*, const Work*, int, int32_t*, double*) noexcept nogil
    void chain_offer(Pool*, double, int32_t, int64_t, int32_t) noexcept nogil
    void chain_take(const Trail*, Pool*, int32_t, int32_t*, int64_t) noexcept nogil


cdef int kinds = chain_kinds_here()


def widths():
    """How many sequences can be done at once here, from the narrowest kind of code to the widest."""
    return tuple(chain_kinds[k].lanes for k in range(chain_kinds_here()))


def use(int count):
    """Use only the first so many of these widths; for tests."""
    global kinds
    kinds = min(count, chain_kinds_here())


cdef list shelf = []  # memory that no call is using: new memory costs as much as the work itself
cdef Py_ssize_t PLACES = 4  # on the shelf
cdef Py_ssize_t SMALLEST_KEPT = 1 << 13, LARGEST_KEPT = 1 << 22  # doubles


cdef class _Memory:
    """Memory, if possible what an earlier call has used; it is left for others at the end."""

    cdef object held
    cdef char* at

    def __cinit__(self, Py_ssize_t size):
        cdef double[::1] view
        cdef Py_ssize_t needed = size // 8 + 9
        fitting = [array for array in shelf if len(array) >= needed]
        if fitting and needed >= SMALLEST_KEPT:
            self.held = min(fitting, key=len)
            shelf[:] = [array for array in shelf if array is not self.held]
        else:
            self.held = np.empty(needed)
        view = self.held
        self.at = <char*>((<uintptr_t>&view[0] + 63) // 64 * 64)

    def __dealloc__(self):
        if SMALLEST_KEPT <= len(self.held) <= LARGEST_KEPT:
            shelf.append(self.held)
            shelf.sort(key=len, reverse=True)
            del shelf[PLACES:]


cdef class _Call:
    """The arguments of a call, the sequences in groups, and memory to work in."""

    cdef Job job
    cdef const Kind* kind
    cdef Group group
    cdef Work work
    cdef Py_ssize_t N, S, sequences, groups, lanes
    cdef int64_t legal
    cdef double lowest
    cdef list kept
    cdef _Memory rows, plan
    cdef const int64_t[::1] offsets
    cdef const double[::1] start, stop
    cdef const double[:, :, ::1] steps
    cdef Item* order

    def __cinit__(self, scores, const int64_t[::1] offsets, start, steps, stop, which):
        cdef const float[:, ::1] single
        cdef const double[:, ::1] double_
        cdef const int32_t[::1] gaps
        self.kept = [scores, which]
        self.offsets, self.start, self.stop, self.steps = offsets, start, stop, steps
        self.N, self.S = scores.shape[0], offsets.shape[0] - 1
        self.job.K, self.job.variants = scores.shape[1], self.steps.shape[0]
        self.job.single = scores.dtype == np.float32
        if self.N and self.job.single:
            single = scores
            self.job.scores = &single[0, 0]
        elif self.N:
            double_ = scores
            self.job.scores = &double_[0, 0]
        if self.N and which is not None:
            gaps = which
            self.job.which = &gaps[0]
        memory = _Memory(self.S * sizeof(Item))
        self.kept.append(memory)
        self.order = <Item*>(<_Memory>memory).at
        self.legal = min(
            chain_legal(&self.steps[0, 0, 0], self.steps.size), self.job.K * self.job.K
        )
        self.choose(NULL, False)

    cdef void choose(self, const uint8_t* chosen, bint single) noexcept:
        """Work on these, or on all; with the narrowest kind that does them at once, or the widest."""
        cdef int k = 0
        self.sequences = chain_order(&self.offsets[0], self.S, chosen, self.order)
        while k + 1 < kinds and chain_kinds[k].lanes << single < self.sequences:
            k += 1
        self.kind = &chain_kinds[k]
        self.lanes = self.kind.lanes << single
        self.groups = (self.sequences + self.lanes - 1) // self.lanes

    cdef allot(self, int large, bint counting):
        """Memory for the longest sequence: `large` arrays of all tokens, and rows."""
        cdef Py_ssize_t L = self.kind.lanes, K = self.job.K, T = 1
        if self.groups:
            T = self.order[0].length
        cdef Py_ssize_t size = (T * K * L + 7) // 8 * 8, tiles = 8 * T * L * counting
        self.rows = None
        self.rows = _Memory(8 * (large * size + tiles + 4 * K * L) + 4 * K)
        cdef double* a = <double*>self.rows.at
        self.work.a, self.work.b, self.work.c = a, a + size, a + 2 * size
        self.work.x = a + large * size
        self.work.rows = self.work.x + tiles
        self.work.picked = <int32_t*>(self.work.rows + 4 * K * L)

    cdef void gather(self, Py_ssize_t g) noexcept nogil:
        """Make group number `g` the one to work on."""
        cdef int l
        cdef int64_t s
        self.group.n = 0
        for l in range(<int>self.lanes):
            self.group.length[l] = 0
            if g * self.lanes + l < self.sequences:
                s = self.order[g * self.lanes + l].sequence
                self.group.sequence[l] = s
                self.group.first[l] = self.offsets[s]
                self.group.length[l] = self.offsets[s + 1] - self.offsets[s]
                self.group.n += 1
        self.group.T = self.group.length[0]

    cdef prepare(self, bint logs, bint into, bint back):
        """Take the steps apart, and scale them unless logarithms are wanted."""
        cdef Py_ssize_t v, K = self.job.K, M = self.job.variants
        cdef Py_ssize_t room = chain_room(K, self.legal)
        self.plan = None
        self.plan = _Memory(
            2 * M * (room + sizeof(Blocks)) + 8 * (2 * K * K + 4 * K + M) + 1024
        )
        cdef char* at = self.plan.at
        cdef Blocks* blocks = <Blocks*>(at + 2 * M * room)
        cdef double* step = <double*>(blocks + 2 * M)
        cdef double* turned = step + K * K
        cdef double* start = turned + K * K
        cdef double* stop = start + K
        cdef float* singles = <float*>(stop + K)
        cdef double* tops = <double*>(singles + 2 * K)
        cdef const double* source
        cdef Py_ssize_t k
        with nogil:
            self.lowest = 0.0
            self.job.edges = 0.0
            if logs:
                self.job.start, self.job.stop = &self.start[0], &self.stop[0]
            else:
                self.job.edges = chain_kinds[kinds - 1].scaled(&self.start[0], K, start, &self.lowest)
                self.job.edges += chain_kinds[kinds - 1].scaled(&self.stop[0], K, stop, &self.lowest)
                for k in range(2 * K):
                    singles[k] = <float>start[k]
                self.job.start, self.job.stop = start, stop
                self.job.start_f, self.job.stop_f = singles, singles + K
            for v in range(M):
                source = &self.steps[v, 0, 0]
                if not logs:
                    tops[v] = chain_kinds[kinds - 1].scaled(source, K * K, step, &self.lowest)
                    source = step
                chain_transpose(source, <int>K, turned)
                if into:
                    chain_divide(
                        &blocks[v], source, turned, <int>K, -INFINITY if logs else 0.0,
                        self.legal, at + v * room,
                    )
                if back:
                    chain_divide(
                        &blocks[M + v], turned, source, <int>K, -INFINITY if logs else 0.0,
                        self.legal, at + (M + v) * room,
                    )
        self.job.into, self.job.back, self.job.tops = blocks, blocks + M, tops

    cdef bint sums(self, double[::1] totals, void* states, Counts* counts):
        """Sum over all paths, in the precision of the scores; what that is too small for is done
        again in double precision. Returns whether any sequences are left for logarithms.
        """
        cdef uint8_t[::1] again = np.ones(self.S, dtype=np.uint8)
        cdef bint single
        cdef Sums* run
        cdef Py_ssize_t g
        for single in (True, False):
            if self.groups == 0:
                break
            if self.lowest < (STEEP_F if single else STEEP_D) or single > self.job.single:
                continue
            self.choose(&again[0], single)
            self.allot(3 if counts != NULL else 2, counts != NULL)
            run = self.kind.sums_f if single else self.kind.sums
            with nogil:
                for g in range(self.groups):
                    self.gather(g)
                    run(&self.job, &self.group, &self.work, &totals[0], &again[0], states, counts)
            self.choose(&again[0], False)
        return self.groups > 0


def total(scores, offsets, start, steps, stop, which):
    """The logarithm of the summed exponentials of all paths."""
    cdef _Call call = _Call(scores, offsets, start, steps, stop, which)
    cdef double[::1] totals = np.zeros(call.S)
    cdef Py_ssize_t g
    call.prepare(False, True, False)
    if call.sums(totals, NULL, NULL):
        call.prepare(True, True, True)
        call.allot(2, False)
        with nogil:
            for g in range(call.groups):
                call.gather(g)
                call.kind.logs(&call.job, &call.group, &call.work, &totals[0], True)
    return np.asarray(totals)


def expect(scores, offsets, start, steps, stop, which):
    """The totals, the probability of every state, and how often each step is expected."""
    cdef _Call call = _Call(scores, offsets, start, steps, stop, which)
    cdef int K = call.job.K
    cdef double[::1] totals = np.zeros(call.S)
    states = np.empty_like(scores)
    cdef void* out = <void*><uintptr_t>states.ctypes.data
    cdef double[:, :, ::1] pairs = np.zeros(steps.shape)
    cdef double[:, ::1] sums
    cdef Counts counts
    cdef Py_ssize_t g, v, size = 1
    cdef bint rest
    call.prepare(False, True, True)
    for v in range(call.job.variants):
        size = max(size, value_count(&call.job.into[v]))
    sums = np.zeros((call.job.variants, size))
    counts.sums, counts.size = &sums[0, 0], size
    rest = call.sums(totals, out, &counts)
    with nogil:
        for v in range(call.job.variants):
            chain_spread(&call.job.into[v], K, &sums[v, 0], &pairs[v, 0, 0])
    if rest:
        call.prepare(True, True, True)
        call.allot(2, False)
        with nogil:
            for g in range(call.groups):
                call.gather(g)
                call.kind.logs(&call.job, &call.group, &call.work, &totals[0], False)
                call.kind.expect(&call.job, &call.group, &call.work, out, &pairs[0, 0, 0])
    return np.asarray(totals), states, np.asarray(pairs)


cdef Py_ssize_t value_count(const Blocks* b) noexcept nogil:
    """How many steps are legal."""
    return b.value_at[b.blocks] + b.loose_at[b.loose]


def messages(scores, offsets, start, steps, stop, which):
    """What leads to every state, what follows it, and the totals."""
    cdef _Call call = _Call(scores, offsets, start, steps, stop, which)
    cdef double[::1] totals = np.zeros(call.S)
    cdef double[:, ::1] before = np.zeros((call.N + 1, call.job.K))
    cdef double[:, ::1] after = np.zeros((call.N + 1, call.job.K))
    cdef Py_ssize_t g
    cdef int l
    call.prepare(True, True, True)
    call.allot(2, False)
    with nogil:
        for g in range(call.groups):
            call.gather(g)
            call.kind.logs(&call.job, &call.group, &call.work, &totals[0], False)
            for l in range(call.group.n):
                unlace(call, l, call.work.a, &before[call.group.first[l], 0])
                unlace(call, l, call.work.b, &after[call.group.first[l], 0])
    return np.asarray(before)[: call.N], np.asarray(after)[: call.N], np.asarray(totals)


cdef void unlace(_Call call, int l, const double* lanes, double* out) noexcept nogil:
    """Copy what belongs to one sequence of a group."""
    cdef Py_ssize_t i
    for i in range(call.group.length[l] * call.job.K):
        out[i] = lanes[i * call.kind.lanes + l]


def follow(
    const int32_t[::1] path, scores, const int64_t[::1] offsets, const double[::1] start,
    const double[:, :, ::1] steps, const double[::1] stop, const int32_t[::1] which,
    states=None, double[:, :, ::1] pairs=None,
):
    """The score of one path for each sequence, taken off `states` and `pairs` if there are any."""
    cdef const float[:, ::1] single
    cdef const double[:, ::1] double_
    cdef float[:, ::1] single_states
    cdef double[:, ::1] double_states
    cdef bint is_single = scores.dtype == np.float32, counted = states is not None
    cdef double[::1] totals = np.zeros(offsets.shape[0] - 1)
    cdef Py_ssize_t s, t
    cdef int32_t state, before = 0, v
    cdef double sum_
    if is_single:
        single, single_states = scores, states
    else:
        double_, double_states = scores, states
    with nogil:
        for s in range(offsets.shape[0] - 1):
            sum_ = 0.0
            for t in range(offsets[s], offsets[s + 1]):
                state = path[t]
                sum_ += single[t, state] if is_single else double_[t, state]
                v = 0 if which is None else which[t]
                sum_ += start[state] if t == offsets[s] else steps[v, before, state]
                if t == offsets[s + 1] - 1:
                    sum_ += stop[state]
                if counted:
                    if is_single:
                        single_states[t, state] -= 1
                    else:
                        double_states[t, state] -= 1
                    if t > offsets[s]:
                        pairs[v, before, state] -= 1
                before = state
            totals[s] = sum_
    return np.asarray(totals)


cdef Trail trail_of(_Call call, int l) noexcept nogil:
    """One sequence of a group that has been looked ahead."""
    cdef Trail trail
    trail.job, trail.ahead, trail.after = &call.job, call.work.a + l, call.work.b + l
    trail.lanes = call.kind.lanes
    trail.first, trail.T = call.group.first[l], call.group.length[l]
    return trail


def best(scores, offsets, start, steps, stop, which):
    """The path of the highest score, and that score."""
    cdef _Call call = _Call(scores, offsets, start, steps, stop, which)
    cdef double[::1] peaks = np.zeros(call.S)
    cdef int32_t[::1] states = np.empty(call.N, dtype=np.int32)
    cdef Py_ssize_t g
    call.prepare(True, False, True)
    call.allot(2, False)
    with nogil:
        for g in range(call.groups):
            call.gather(g)
            call.kind.ahead(&call.job, &call.group, &call.work)
            chain_follow(
                &call.job, &call.group, &call.work, call.kind.lanes, &states[0], &peaks[0]
            )
    return np.asarray(states), np.asarray(peaks)


def nbest(scores, offsets, start, steps, stop, which, int n):
    """The paths of the highest scores, best first, and those scores."""
    cdef _Call call = _Call(scores, offsets, start, steps, stop, which)
    cdef double[:, ::1] peaks = np.full((n, call.S), -np.inf)
    cdef int32_t[:, ::1] states = np.full((n, call.N), -1, dtype=np.int32)
    cdef uint8_t[::1] memory = np.empty((n + 1) * sizeof(Branch), dtype=np.uint8)
    cdef Trail trail
    cdef Pool pool
    cdef Py_ssize_t g
    cdef int k, l, p
    call.prepare(True, False, True)
    call.allot(2, False)
    np.asarray(peaks)[:1, np.diff(offsets) == 0] = 0.0
    pool.branches = <Branch*>&memory[0]
    with nogil:
        for g in range(call.groups):
            call.gather(g)
            call.kind.ahead(&call.job, &call.group, &call.work)
            for l in range(call.group.n):
                trail = trail_of(call, l)
                pool.size, pool.room = 0, n
                for k in range(call.job.K):
                    chain_offer(&pool, start_of(&trail, k), 0, 0, k)
                for p in range(n):
                    if not pool.size:
                        break
                    peaks[p, call.group.sequence[l]] = pool.branches[0].score
                    chain_take(&trail, &pool, p, &states[0, 0], call.N)
    return np.asarray(states), np.asarray(peaks)


cdef inline double start_of(Trail* trail, int k) noexcept nogil:
    """The best score of a path that begins with a state."""
    return trail.job.start[k] + trail.ahead[k * trail.lanes]
