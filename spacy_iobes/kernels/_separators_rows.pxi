# Rows, as many at once as a vector has lanes: x[k] are their scores of separator k.

ctypedef fused Lanes:
    Floats
    Doubles

cdef enum:
    MOST = 16  # lanes

cdef double LEAST = 1e-100  # three of these can be multiplied
cdef double DEEP = 230.0, DEEP_SINGLE = 60.0  # nats: the logarithm of LEAST; what floats hold well


cdef struct Work:
    # Memory for some sentences: R rows in whole vectors, and one vector more.
    int64_t R
    bint deep  # whether any row is
    void* powers  # exponentials, in vectors, [R / lanes, 8]
    void* sums  # over the separators from each state to each: X, S, E, and inside to inside, [4, R]
    void* weights  # what makes probabilities of the exponentials, [4, R]
    void* top  # the highest score of every row, [R]
    void* depth  # how far below that the lowest is, [R]; for best paths, which is the highest
    double* outside  # what leads to the two states of the token before every gap, [R]
    double* inside
    double* outside_next  # what follows those of the token behind it, [R]
    double* inside_next
    double* least  # of what leads to any state, and of what follows it, [L]
    double* least_next


cdef inline int lanes_in(const Lanes* row) noexcept nogil:
    return FLOATS if Lanes is Floats else DOUBLES


cdef inline Lanes all_of(const Lanes* row, double x) noexcept nogil:
    """A vector of the same number everywhere."""
    if Lanes is Floats:
        return all_floats(<float>x)
    else:
        return all_doubles(x)


cdef inline Lanes larger(Lanes x, Lanes y) noexcept nogil:
    if Lanes is Floats:
        return larger_floats(x, y)
    else:
        return larger_doubles(x, y)


cdef inline Lanes exp_of(Lanes x) noexcept nogil:
    if Lanes is Floats:
        return exp_floats(x)
    else:
        return exp_doubles(x)


cdef inline Lanes exp_near(Lanes x) noexcept nogil:
    """The same for what is not far below 0."""
    if Lanes is Floats:
        return exp_near_floats(x)
    else:
        return exp_near_doubles(x)


cdef inline bint any_deep(Lanes x) noexcept nogil:
    """Whether anything is far below 0."""
    if Lanes is Floats:
        return any_floats_below(x, <float>-DEEP_SINGLE)
    else:
        return any_doubles_below(x, -DEEP)


cdef inline Lanes where(Lanes y, double limit, Lanes x, Lanes other) noexcept nogil:
    """`x` where `y` is above a limit, else `other`."""
    if Lanes is Floats:
        return floats_where(y, <float>limit, x, other)
    else:
        return doubles_where(y, limit, x, other)


cdef inline void load(const void* rows, Lanes* x) noexcept nogil:
    if Lanes is Floats:
        load_floats(<const float*>rows, x)
    else:
        load_doubles(<const double*>rows, x)


cdef inline void store(Lanes* x, void* rows) noexcept nogil:
    if Lanes is Floats:
        store_floats(x, <float*>rows)
    else:
        store_doubles(x, <double*>rows)


cdef inline void begin(const char* scores, int64_t r, int64_t R, Lanes* x) noexcept nogil:
    """Load the rows from `r` on; there may be fewer than lanes."""
    cdef Lanes[8] spare
    cdef int64_t size = sizeof(Lanes) // lanes_in(x) * 8
    if r + lanes_in(x) <= R:
        load(scores + r * size, x)
    else:
        memset(spare, 0, sizeof(spare))
        memcpy(spare, scores + r * size, (R - r) * size)
        load(spare, x)


cdef void expose(const char* scores, int64_t R, Work* work, Lanes* p) noexcept nogil:
    """The exponentials of all rows, divided by the largest of each, and their sums."""
    cdef Lanes[8] x
    cdef Lanes top, depth, zero = all_of(p, 0.0)
    cdef Lanes* sums = <Lanes*>work.sums
    cdef int64_t block, blocks = work.R // lanes_in(p)
    cdef int k
    work.deep = False
    for block in range((R + lanes_in(p) - 1) // lanes_in(p)):
        begin(scores, block * lanes_in(p), R, x)
        top = larger(
            larger(larger(x[0], x[1]), larger(x[2], x[3])),
            larger(larger(x[4], x[5]), larger(x[6], x[7])),
        )
        top = where(top, -INFINITY, top, zero)
        depth = zero
        for k in range(8):
            x[k] = x[k] - top
            depth = larger(depth, -x[k])
        if any_deep(-depth):
            work.deep, depth = True, zero
            for k in range(8):
                depth = larger(depth, where(x[k], -INFINITY, -x[k], zero))
                x[k] = exp_of(x[k])
        else:
            for k in range(8):
                x[k] = exp_near(x[k])
        for k in range(8):
            p[k] = x[k]
        (<Lanes*>work.top)[block], (<Lanes*>work.depth)[block] = top, depth
        sums[block], sums[blocks + block], sums[2 * blocks + block] = x[0], x[1], x[2]
        sums[3 * blocks + block] = ((x[3] + x[4]) + (x[5] + x[6])) + x[7]
        p += 8


cdef void compare(const char* scores, int64_t R, const Work* work, Lanes* tops) noexcept nogil:
    """The highest scores of all rows, and from inside to inside also the separator that has it."""
    cdef Lanes[8] x
    cdef Lanes top, kind
    cdef int64_t block, blocks = work.R // lanes_in(tops)
    cdef int k
    for block in range((R + lanes_in(tops) - 1) // lanes_in(tops)):
        begin(scores, block * lanes_in(tops), R, x)
        top, kind = x[3], all_of(tops, 3.0)
        for k in range(4, 8):
            kind = where(x[k] - top, 0.0, all_of(tops, k), kind)
            top = larger(top, x[k])
        tops[block], tops[blocks + block], tops[2 * blocks + block] = x[0], x[1], x[2]
        tops[3 * blocks + block], (<Lanes*>work.depth)[block] = top, kind


cdef void assign(const Work* work, const Lanes* p, int64_t R, char* out) noexcept nogil:
    """The probabilities of all rows."""
    cdef Lanes[8] x
    cdef Lanes[8] spare
    cdef const Lanes* parts = <const Lanes*>work.weights
    cdef int64_t block, r, lanes = lanes_in(p), blocks = work.R // lanes
    cdef int64_t size = sizeof(Lanes) // lanes * 8
    cdef int k
    for block in range((R + lanes - 1) // lanes):
        r = block * lanes
        for k in range(8):
            x[k] = p[k] * parts[min(k, 3) * blocks + block]
        if r + lanes <= R:
            store(x, out + r * size)
        else:
            store(x, spare)
            memcpy(out + r * size, spare, (R - r) * size)
        p += 8
