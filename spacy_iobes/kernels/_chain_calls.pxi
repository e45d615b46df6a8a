# The kernels: arguments, the order of the sequences, memory to work in.

cdef struct Item:
    int64_t length, sequence


cdef int longer(const void* x, const void* y) noexcept nogil:
    """For sorting: the longest first."""
    cdef const Item* one = <const Item*>x
    cdef const Item* other = <const Item*>y
    if one.length != other.length:
        return -1 if one.length > other.length else 1
    return -1 if one.sequence < other.sequence else 1


cdef class _Call:
    """The arguments of a call, the sequences in groups, and memory to work in."""

    cdef Job job
    cdef Group group
    cdef Sums sums
    cdef Trail trail
    cdef int64_t N, S, sequences, groups, lanes
    cdef double lowest, largest
    cdef list kept
    cdef _Memory work, plan
    cdef const int64_t[::1] offsets
    cdef const double[::1] start, stop
    cdef const double[:, :, ::1] steps
    cdef Item* order

    def __cinit__(self, scores, const int64_t[::1] offsets, start, steps, stop, which):
        cdef const float[:, ::1] single
        cdef const double[:, ::1] wide
        cdef const int32_t[::1] gaps
        self.kept = [scores, which]
        self.offsets, self.start, self.stop, self.steps = offsets, start, stop, steps
        self.N, self.S = scores.shape[0], offsets.shape[0] - 1
        self.job.K, self.job.variants = scores.shape[1], self.steps.shape[0]
        self.job.step = &self.steps[0, 0, 0]
        self.job.single = scores.dtype == np.float32
        if self.N and self.job.single:
            single = scores
            self.job.scores = &single[0, 0]
        elif self.N:
            wide = scores
            self.job.scores = &wide[0, 0]
        if self.N and which is not None:
            gaps = which
            self.job.which = &gaps[0]
        memory = _Memory(self.S * sizeof(Item))
        self.kept.append(memory)
        self.order = <Item*>(<_Memory>memory).at

    cdef void choose(self, const uint8_t* chosen, bint single) noexcept:
        """Work on these sequences, or on all, in single or double precision."""
        cdef int64_t s
        self.sequences = 0
        for s in range(self.S):
            if self.offsets[s + 1] > self.offsets[s] and (chosen == NULL or chosen[s]):
                self.order[self.sequences] = Item(self.offsets[s + 1] - self.offsets[s], s)
                self.sequences += 1
        qsort(self.order, self.sequences, sizeof(Item), longer)
        self.lanes = FLOATS if single else DOUBLES
        self.groups = (self.sequences + self.lanes - 1) // self.lanes

    cdef allot(self, int large):
        """Memory for the longest sequence: `large` arrays of all tokens, and rows."""
        cdef int64_t K = self.job.K, T = self.order[0].length if self.groups else 1
        cdef int64_t vector = 8 * DOUBLES, size = T * K * vector + 64
        self.work = None
        self.work = _Memory(large * size + 5 * T * vector + 4 * K * vector + 1024)
        self.sums.a = self.trail.ahead = self.work.piece(size - 64)
        self.sums.e = self.trail.after = self.work.piece(size - 64)
        if large > 2:
            self.sums.w = self.work.piece(size - 64)
        self.sums.scale = self.work.piece(T * vector)
        self.sums.tile = self.work.piece(4 * T * vector)
        self.sums.rows = self.trail.rows = self.work.piece(4 * K * vector)

    cdef void gather(self, int64_t g) noexcept nogil:
        """Make group number `g` the one to work on."""
        cdef int l
        cdef int64_t s
        self.group.n = <int>min(self.lanes, self.sequences - g * self.lanes)
        for l in range(WIDEST):
            self.group.length[l] = self.group.first[l] = 0
        for l in range(self.group.n):
            s = self.order[g * self.lanes + l].sequence
            self.group.sequence[l], self.group.first[l] = s, self.offsets[s]
            self.group.length[l] = self.offsets[s + 1] - self.offsets[s]
        self.group.T = self.group.length[0]

    cdef prepare(self, bint logs, bint into, bint back):
        """Take the steps apart, and scale everything unless logarithms are wanted."""
        cdef int K = self.job.K, M = self.job.variants, v
        cdef int64_t k, legal = count_legal(self.job.step, M * <int64_t>K * K)
        legal = min(legal, <int64_t>K * K)
        self.plan = None
        self.plan = _Memory(
            2 * M * (room(K, legal) + sizeof(Steps)) + 8 * <int64_t>K * K + 24 * K + 2048
        )
        cdef Steps* steps = <Steps*>self.plan.piece(2 * M * sizeof(Steps))
        cdef double* turned = <double*>self.plan.piece(8 * <int64_t>K * K)
        cdef double* start = <double*>self.plan.piece(8 * K)
        cdef double* stop = <double*>self.plan.piece(8 * K)
        cdef float* start_single = <float*>self.plan.piece(4 * K)
        cdef float* stop_single = <float*>self.plan.piece(4 * K)
        self.lowest = self.largest = self.job.edges = 0.0
        with nogil:
            memcpy(start, &self.start[0], 8 * K)
            memcpy(stop, &self.stop[0], 8 * K)
            if not logs:
                self.job.edges = scaled(start, K, &self.lowest) + scaled(stop, K, &self.lowest)
            for k in range(K):
                start_single[k], stop_single[k] = <float>start[k], <float>stop[k]
            for v in range(M):
                if into:
                    divide(&steps[v], self.job.step + v * <int64_t>K * K, K, legal, self.plan)
                    if not logs:
                        scale(&steps[v], &self.lowest)
                if back:
                    turn(self.job.step + v * <int64_t>K * K, K, turned)
                    divide(&steps[M + v], turned, K, legal, self.plan)
                    if not logs:
                        scale(&steps[M + v], &self.lowest)
            if logs:
                self.measure(steps + M if back else steps)
        self.job.start, self.job.stop = start, stop
        self.job.start_single, self.job.stop_single = start_single, stop_single
        self.job.into, self.job.back = steps, steps + M

    cdef void measure(self, const Steps* steps) noexcept nogil:
        """The largest number, without its sign, in start, stop and steps."""
        cdef int v
        cdef int64_t i
        for i in range(self.job.K):
            for v in range(2):
                self.largest = max(self.largest, finite(self.start[i] if v else self.stop[i]))
        for v in range(self.job.variants):
            for i in range(steps[v].values):
                self.largest = max(self.largest, finite(steps[v].value[i]))

    cdef bint sum(self, double[::1] totals, void* states, double* counts, int64_t size):
        """Sum over all paths, in the precision of the scores; what that is too narrow for is done
        again in double precision. Returns whether any sequences are left for logarithms.
        """
        cdef uint8_t[::1] again = np.ones(self.S, dtype=np.uint8)
        cdef int64_t g
        cdef bint single
        for single in (True, False):
            self.choose(&again[0] if self.S else NULL, single)
            if single > self.job.single or too_steep(single, self.lowest) or not self.groups:
                continue
            self.allot(3 if counts != NULL and self.job.variants > 1 else 2)
            with nogil:
                for g in range(self.groups):
                    self.gather(g)
                    if single:
                        sum_up(
                            &self.job, &self.group, &self.sums, <Floats*>self.sums.a, &totals[0],
                            faint(single, self.lowest), &again[0], states, counts, size,
                        )
                    else:
                        sum_up(
                            &self.job, &self.group, &self.sums, <Doubles*>self.sums.a, &totals[0],
                            faint(single, self.lowest), &again[0], states, counts, size,
                        )
        self.choose(&again[0] if self.S else NULL, False)
        return self.groups > 0


cdef inline double finite(double x) noexcept nogil:
    """A number without its sign; 0 for minus infinity."""
    return fabs(x) if x > -INFINITY else 0.0


def total(scores, offsets, start, steps, stop, which):
    """The logarithm of the summed exponentials of all paths."""
    cdef _Call call = _Call(scores, offsets, start, steps, stop, which)
    cdef double[::1] totals = np.zeros(call.S)
    cdef int64_t g
    call.prepare(False, True, False)
    if call.sum(totals, NULL, NULL, 0):
        call.prepare(True, True, True)
        call.allot(2)
        with nogil:
            for g in range(call.groups):
                call.gather(g)
                log_messages(&call.job, &call.group, &call.sums, &totals[0], False)
    return np.asarray(totals)


def expect(scores, offsets, start, steps, stop, which):
    """The totals, the probability of every state, and how often each step is expected."""
    cdef _Call call = _Call(scores, offsets, start, steps, stop, which)
    cdef double[::1] totals = np.zeros(call.S)
    cdef double[:, :, ::1] pairs = np.zeros(steps.shape)
    cdef double[:, ::1] counts
    cdef int64_t g, v, size = 1
    cdef bint rest
    states = np.empty_like(scores)
    cdef void* out = <void*><uintptr_t>states.ctypes.data
    call.prepare(False, True, True)
    for v in range(call.job.variants):
        size = max(size, call.job.into[v].values)
    counts = np.zeros((call.job.variants, size))
    rest = call.sum(totals, out, &counts[0, 0], size)
    with nogil:
        for v in range(call.job.variants):
            spread(&call.job.into[v], call.job.K, &counts[v, 0], &pairs[v, 0, 0])
    if rest:
        call.prepare(True, True, True)
        call.allot(2)
        with nogil:
            for g in range(call.groups):
                call.gather(g)
                log_messages(&call.job, &call.group, &call.sums, &totals[0], True)
                log_expect(&call.job, &call.group, &call.sums, out, &pairs[0, 0, 0])
    return np.asarray(totals), states, np.asarray(pairs)


def messages(scores, offsets, start, steps, stop, which):
    """What leads to every state, what follows it, and the totals."""
    cdef _Call call = _Call(scores, offsets, start, steps, stop, which)
    cdef double[::1] totals = np.zeros(call.S)
    before, after = np.zeros((2, call.N, call.job.K))
    cdef double* to = <double*><uintptr_t>before.ctypes.data
    cdef double* onward = <double*><uintptr_t>after.ctypes.data
    cdef Job wide
    cdef int64_t g, t
    call.prepare(True, True, True)
    call.choose(NULL, False)
    call.allot(2)
    wide = call.job
    wide.single = False  # what goes out is in double precision
    with nogil:
        for g in range(call.groups):
            call.gather(g)
            log_messages(&call.job, &call.group, &call.sums, &totals[0], True)
            for t in range(call.group.T):
                store(&wide, &call.group, t, <Doubles*>call.sums.a + t * wide.K, to)
                store(&wide, &call.group, t, <Doubles*>call.sums.e + t * wide.K, onward)
    return before, after, np.asarray(totals)


def best(scores, offsets, start, steps, stop, which):
    """The path of the highest score, and that score."""
    cdef _Call call = _Call(scores, offsets, start, steps, stop, which)
    cdef double[::1] peaks = np.zeros(call.S)
    cdef int32_t[::1] states = np.empty(call.N, dtype=np.int32)
    cdef uint8_t[::1] again = np.ones(call.S, dtype=np.uint8)
    cdef int64_t g
    cdef bint single
    call.prepare(True, False, True)
    for single in (True, False):
        call.choose(&again[0] if call.S else NULL, single)
        if single > call.job.single or not call.groups or single > (call.largest < 1e6):
            continue
        call.allot(2)
        with nogil:
            for g in range(call.groups):
                call.gather(g)
                if single and call.group.T > LONG:
                    continue
                elif single:
                    best_of(call, <Floats*>call.trail.ahead, &states[0], &peaks[0], &again[0])
                else:
                    best_of(call, <Doubles*>call.trail.ahead, &states[0], &peaks[0], &again[0])
    return np.asarray(states), np.asarray(peaks)


cdef inline void best_of(
    _Call call, const Lanes* like, int32_t* states, double* peaks, uint8_t* again
) noexcept nogil:
    """The best paths of a group."""
    look_ahead(&call.job, &call.group, &call.trail, like, call.largest)
    follow_best(&call.job, &call.group, &call.trail, like, states, peaks, again)


def nbest(scores, offsets, start, steps, stop, which, int n):
    """The paths of the highest scores, best first, and those scores."""
    cdef _Call call = _Call(scores, offsets, start, steps, stop, which)
    cdef double[:, ::1] peaks = np.full((n, call.S), -np.inf)
    cdef int32_t[:, ::1] states = np.full((n, call.N), -1, dtype=np.int32)
    cdef _Memory memory = _Memory((n + 1) * sizeof(Branch))
    cdef Pool pool
    cdef int64_t g
    call.prepare(True, False, True)
    call.choose(NULL, False)
    call.allot(2)
    np.asarray(peaks)[:1, np.diff(offsets) == 0] = 0.0
    pool.branch = <Branch*>memory.at
    with nogil:
        for g in range(call.groups):
            call.gather(g)
            look_ahead(&call.job, &call.group, &call.trail, <Doubles*>call.trail.ahead, 0.0)
            take_best(
                &call.job, &call.group, &call.trail, &pool, n, &states[0, 0], call.N,
                &peaks[0, 0], call.S,
            )
    return np.asarray(states), np.asarray(peaks)
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


