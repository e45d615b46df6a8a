# Step matrices taken apart, so that the loops meet legal steps only.

cdef struct Steps:
    # The targets that can be reached from the same sources form a block, with a row of `value` for
    # each source; for IOBES tags that is one block from {E*, S*, O} to {B*, S*, O}. The other
    # targets are loose, each with its own sources. Of block g, `target_at[g]` is the first place in
    # `target` and `target_at[g + 1]` the end, and so for the others.
    int blocks, loose
    int32_t* source
    int32_t* source_at
    int32_t* target
    int32_t* target_at
    int32_t* value_at
    int32_t* loose_target
    int32_t* loose_source
    int32_t* loose_at
    int32_t* block_of  # [K]: the block of a target, or -1
    int32_t* place_of  # [K]: its place there, or among the loose ones
    double* value  # of the blocks, then of the loose targets
    float* single  # the same, divided by the largest
    double top  # the largest of them
    int64_t values  # how many there are


cdef enum:
    SMALLEST = 4  # targets that a block has at least


cdef struct Area:
    char* begin
    int64_t size


cdef Area[2] shelf  # memory that no call is using: new memory costs as much as the work itself
cdef int64_t SMALLEST_KEPT = 1 << 16, LARGEST_KEPT = 1 << 26  # bytes


cdef class _Memory:
    """Memory on whole cache lines, handed out piece by piece; it is left for others at the end."""

    cdef Area area
    cdef char* at

    def __cinit__(self, int64_t size):
        cdef int i
        self.area.size = size + 64
        for i in range(2):
            if self.area.begin == NULL and size < shelf[i].size - 63 < 8 * size:
                self.area, shelf[i] = shelf[i], self.area
                shelf[i].size = 0
        if self.area.begin == NULL:
            self.area.begin = <char*>PyMem_RawMalloc(self.area.size)
        if self.area.begin == NULL:
            raise MemoryError
        self.at = <char*>((<uintptr_t>self.area.begin + 63) // 64 * 64)

    def __dealloc__(self):
        cdef int i
        for i in range(2):  # the largest are kept
            if max(shelf[i].size, SMALLEST_KEPT) < self.area.size <= LARGEST_KEPT:
                self.area, shelf[i] = shelf[i], self.area
        PyMem_RawFree(self.area.begin)

    cdef void* piece(self, int64_t size) noexcept nogil:
        cdef char* found = self.at
        self.at += (size + 63) // 64 * 64
        return found


cdef int64_t count_legal(const double* step, int64_t n) noexcept nogil:
    """How many of the steps are legal."""
    cdef int64_t i, found = 0
    for i in range(n):
        found += step[i] > -INFINITY
    return found


cdef int64_t room(int64_t K, int64_t legal) noexcept nogil:
    """How many bytes `divide` takes at most."""
    return 8 * (K + 64) * ((K + 63) // 64) + 44 * (K + 1) + 4 * K * (K // SMALLEST) + 16 * legal + 2048


cdef void turn(const double* step, int64_t K, double* turned) noexcept nogil:
    """The matrix with sources and targets exchanged."""
    cdef int64_t i, j, u
    for i in range(0, K, 8):
        for j in range(K):
            for u in range(i, min(i + 8, K)):
                turned[j * K + u] = step[u * K + j]


cdef void divide(Steps* s, const double* step, int K, int64_t legal, _Memory memory) noexcept nogil:
    """Take `step[source, target]` apart."""
    cdef uint64_t* sets = <uint64_t*>memory.piece(8 * <int64_t>K * ((K + 63) // 64))
    cdef int32_t* small = <int32_t*>memory.piece(4 * 9 * (K + 1))
    cdef int64_t i
    s.target, s.source_at, s.target_at = small, small + (K + 1), small + 2 * (K + 1)
    s.value_at, s.loose_target, s.loose_at = (
        small + 3 * (K + 1), small + 4 * (K + 1), small + 5 * (K + 1)
    )
    s.block_of, s.place_of = small + 6 * (K + 1), small + 7 * (K + 1)
    s.source = <int32_t*>memory.piece(4 * <int64_t>K * (K // SMALLEST))
    s.loose_source = <int32_t*>memory.piece(4 * legal)
    s.value = <double*>memory.piece(8 * legal + 64)
    s.single = <float*>memory.piece(4 * legal + 64)
    find_sources(step, K, sets)
    find_blocks(s, step, K, sets, small + 8 * (K + 1))
    find_loose(s, step, K, sets)
    s.top = highest(s.value, s.values)
    for i in range(s.values):
        s.single[i] = <float>(s.value[i] - s.top)


cdef double highest(const double* x, int64_t n) noexcept nogil:
    """The largest of n numbers, eight at a time."""
    cdef double[8] top
    cdef int64_t i, u
    for u in range(8):
        top[u] = -INFINITY
    for i in range(n // 8):
        for u in range(8):
            top[u] = x[8 * i + u] if x[8 * i + u] > top[u] else top[u]
    for i in range(n // 8 * 8, n):
        top[0] = max(top[0], x[i])
    for u in range(1, 8):
        top[0] = max(top[0], top[u])
    return top[0]


cdef void find_sources(const double* step, int64_t K, uint64_t* sets) noexcept nogil:
    """The sources of every target as bits, `sets[K / 64, K]`."""
    cdef int64_t i, j
    cdef uint64_t* own
    memset(sets, 0, 8 * K * ((K + 63) // 64))
    for i in range(K):
        own = sets + i // 64 * K
        for j in range(K):
            own[j] |= <uint64_t>(step[i * K + j] > -INFINITY) << (i % 64)


cdef inline bint same_sources(const uint64_t* sets, int K, int one, int other) noexcept nogil:
    cdef int word
    for word in range((K + 63) // 64):
        if sets[word * K + one] != sets[word * K + other]:
            return False
    return True


cdef void find_blocks(
    Steps* s, const double* step, int K, const uint64_t* sets, int32_t* done
) noexcept nogil:
    """Gather the targets that have the same sources."""
    cdef int i, j, other, n, width
    cdef int sources = 0, targets = 0
    cdef int64_t values = 0
    s.blocks = 0
    s.source_at[0] = s.target_at[0] = s.value_at[0] = 0
    for j in range(K):
        s.block_of[j] = -1
        done[j] = 0
    for j in range(K):
        if done[j]:
            continue
        width = 0
        for other in range(j, K):
            if sets[other] == sets[j] and same_sources(sets, K, j, other):
                s.target[targets + width] = other
                done[other] = 1
                width += 1
        if width < SMALLEST:
            continue
        for i in range(K):
            if sets[i // 64 * K + j] >> (i % 64) & 1:
                s.source[sources] = i
                sources += 1
                for n in range(width):
                    s.value[values + n] = step[<int64_t>i * K + s.target[targets + n]]
                values += width
        for n in range(width):
            s.block_of[s.target[targets + n]] = s.blocks
            s.place_of[s.target[targets + n]] = n
        targets += width
        s.blocks += 1
        s.source_at[s.blocks], s.target_at[s.blocks] = sources, targets
        s.value_at[s.blocks] = <int32_t>values


cdef void find_loose(Steps* s, const double* step, int K, const uint64_t* sets) noexcept nogil:
    """Gather the sources of each of the other targets."""
    cdef int i, j, found = 0
    cdef uint64_t left = 0
    cdef double* value = s.value + s.value_at[s.blocks]
    s.loose = s.loose_at[0] = 0
    for j in range(K):
        if s.block_of[j] >= 0:
            continue
        for i in range(K):
            if i % 64 == 0:
                left = sets[i // 64 * K + j]
            if left == 0:
                continue
            if left & 1:
                s.loose_source[found], value[found] = i, step[<int64_t>i * K + j]
                found += 1
            left >>= 1
        s.place_of[j], s.loose_target[s.loose] = s.loose, j
        s.loose += 1
        s.loose_at[s.loose] = found
    s.values = s.value_at[s.blocks] + found


cdef double scaled(double* log, int64_t n, double* lowest) noexcept nogil:
    """Make the largest of n logarithms 1, and the others what they are beside it.

    Returns that logarithm, and lowers `lowest` to the smallest beside it. There is room for a whole
    vector at the end.
    """
    cdef int64_t i
    cdef double top = highest(log, n)
    cdef Doubles* lanes = <Doubles*>log
    cdef Doubles least = all_doubles(0.0), zero = least
    if top == -INFINITY:
        top = 0.0
    for i in range(n, (n + DOUBLES - 1) // DOUBLES * DOUBLES):
        log[i] = -INFINITY
    for i in range((n + DOUBLES - 1) // DOUBLES):
        lanes[i] -= top
        least = larger_doubles(least, doubles_where(lanes[i], -INFINITY, -lanes[i], zero))
        lanes[i] = exp_doubles(lanes[i])
    for i in range(DOUBLES):
        lowest[0] = min(lowest[0], -(<double*>&least)[i])
    return top


cdef void scale(Steps* s, double* lowest) noexcept nogil:
    """Turn logarithms into probabilities, the largest of which is 1."""
    cdef int64_t i
    s.top = scaled(s.value, s.values, lowest)
    for i in range(s.values):
        s.single[i] = <float>s.value[i]


cdef void spread(const Steps* s, int K, const double* sums, double* pairs) noexcept nogil:
    """Put counts, in the order of the values, where they belong in `pairs[K, K]`, times the steps."""
    cdef int g, j, k
    cdef int64_t at = 0
    for g in range(s.blocks):
        for k in range(s.source_at[g], s.source_at[g + 1]):
            for j in range(s.target_at[g], s.target_at[g + 1]):
                pairs[<int64_t>s.source[k] * K + s.target[j]] = sums[at] * s.value[at]
                at += 1
    for j in range(s.loose):
        for k in range(s.loose_at[j], s.loose_at[j + 1]):
            pairs[<int64_t>s.loose_source[k] * K + s.loose_target[j]] = sums[at] * s.value[at]
            at += 1
