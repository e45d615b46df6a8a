# One step, and what it is made of: all sequences of a group at once, one in each lane of a vector.
#
# A row is K vectors: what a token of each sequence says about the K states. The sequences of a group
# begin together; those that have ended are all zeros (or minus infinity) from there on.

ctypedef fused Lanes:
    Floats
    Doubles

cdef enum How:
    SUMS
    PEAKS
    LOGS

cdef enum:
    WIDEST = 16  # sequences in a group, at most

cdef double NOTHING = 45.0  # nats: what is so far below the largest adds nothing to a sum


cdef struct Job:
    # What all sequences have in common. `start`, `stop` and the steps are logarithms, or what is left
    # when they are divided by the largest. `edges` are then the logarithms of the largest two.
    int K, variants
    bint single
    const void* scores
    const int32_t* which
    const double* start
    const double* stop
    const float* start_single
    const float* stop_single
    double edges
    const double* step  # [variant, from, to], as given
    const Steps* into  # [variant]
    const Steps* back  # [variant], from targets to sources


cdef struct Group:
    # The sequences that are done at once, the longest first; `length` is 0 beyond `n`.
    int n
    int64_t T
    int64_t[WIDEST] sequence
    int64_t[WIDEST] first
    int64_t[WIDEST] length


# ---- vectors ----

cdef inline int lanes_in(const Lanes* row) noexcept nogil:
    return FLOATS if Lanes is Floats else DOUBLES


cdef inline Lanes all_of(const Lanes* row, double x) noexcept nogil:
    """A vector like those of a row, of the same number everywhere."""
    if Lanes is Floats:
        return all_floats(<float>x)
    else:
        return all_doubles(x)


cdef inline Lanes larger(Lanes x, Lanes y) noexcept nogil:
    if Lanes is Floats:
        return larger_floats(x, y)
    else:
        return larger_doubles(x, y)


cdef inline Lanes nearer(Lanes x, Lanes y) noexcept nogil:
    """The larger one; in single precision, of numbers that are not above 0."""
    if Lanes is Floats:
        return nearer_floats(x, y)
    else:
        return larger_doubles(x, y)


cdef inline Lanes exp_of(Lanes x) noexcept nogil:
    if Lanes is Floats:
        return exp_floats(x)
    else:
        return exp_doubles(x)


cdef inline Lanes where(Lanes y, double limit, Lanes x, Lanes other) noexcept nogil:
    """`x` where `y` is above a limit, else `other`."""
    if Lanes is Floats:
        return floats_where(y, <float>limit, x, other)
    else:
        return doubles_where(y, limit, x, other)


cdef inline Lanes times(Lanes x, const void* values, int64_t i) noexcept nogil:
    """`x * values[i]`."""
    if Lanes is Floats:
        return x * (<const float*>values)[i]
    else:
        return x * (<const double*>values)[i]


cdef inline Lanes plus(Lanes x, const void* values, int64_t i) noexcept nogil:
    """`x + values[i]`."""
    if Lanes is Floats:
        return x + (<const float*>values)[i]
    else:
        return x + (<const double*>values)[i]


cdef inline double lane(const Lanes* x, int l) noexcept nogil:
    if Lanes is Floats:
        return (<const float*>x)[l]
    else:
        return (<const double*>x)[l]


cdef inline void set_lane(Lanes* x, int l, double value) noexcept nogil:
    if Lanes is Floats:
        (<float*>x)[l] = <float>value
    else:
        (<double*>x)[l] = value


cdef inline double added(const Lanes* x) noexcept nogil:
    """The sum of all lanes."""
    if Lanes is Floats:
        return added_floats(x[0])
    else:
        return added_doubles(x[0])


cdef inline bint any_above(const Lanes* x, const Lanes* limit) noexcept nogil:
    """Whether any lane is above its limit."""
    cdef int l
    for l in range(lanes_in(x)):
        if lane(x, l) > lane(limit, l):
            return True
    return False


cdef inline void turn_rows(Lanes* rows) noexcept nogil:
    """Turn as many rows as there are lanes into columns."""
    if Lanes is Floats:
        turn_floats(rows)
    else:
        turn_doubles(rows)


cdef inline const void* values_of(const Steps* s, const Lanes* row) noexcept nogil:
    return <const void*>s.single if Lanes is Floats else <const void*>s.value


# ---- rows ----

cdef inline double number(bint single, const void* numbers, int64_t i) noexcept nogil:
    return (<const float*>numbers)[i] if single else (<const double*>numbers)[i]


cdef inline int vectors(const Job* job, const Lanes* row) noexcept nogil:
    """In how many vectors to copy a row of scores; none if those are of another precision.

    The last one may overlap with the one before. A few states at the end are left out.
    """
    cdef int lanes = lanes_in(row)
    if job.K < lanes or (Lanes is Doubles and job.single):
        return 0
    return (job.K + lanes - 5) // lanes if lanes > 4 else job.K // lanes


cdef void load(const Job* job, const Group* group, int64_t t, Lanes* row) noexcept nogil:
    """The scores of token t of every sequence; minus infinity where it has ended."""
    cdef int i, k, l, lanes = lanes_in(row), whole = vectors(job, row)
    cdef int64_t at, size = sizeof(float) if job.single else sizeof(double)
    for i in range(whole):
        k = min(i * lanes, job.K - lanes)
        for l in range(lanes):
            at = (group.first[l] + t) * job.K + k
            if t < group.length[l]:
                memcpy(row + k + l, <const char*>job.scores + at * size, sizeof(Lanes))
            else:
                row[k + l] = all_of(row, -INFINITY)
        turn_rows(row + k)
    for k in range(min(whole * lanes, job.K), job.K):
        for l in range(lanes):
            at = (group.first[l] + t) * job.K + k
            if t < group.length[l]:
                set_lane(row + k, l, number(job.single, job.scores, at))
            else:
                set_lane(row + k, l, -INFINITY)


cdef void store(
    const Job* job, const Group* group, int64_t t, const Lanes* row, void* states
) noexcept nogil:
    """What a row says of token t, to where it belongs in `states[N, K]`."""
    cdef int i, k, l, lanes = lanes_in(row), whole = vectors(job, row)
    cdef int64_t at, size = sizeof(float) if job.single else sizeof(double)
    cdef Lanes[WIDEST] part
    for i in range(whole):
        k = min(i * lanes, job.K - lanes)
        for l in range(lanes):
            part[l] = row[k + l]
        turn_rows(part)
        for l in range(lanes):
            at = (group.first[l] + t) * job.K + k
            if t < group.length[l]:
                memcpy(<char*>states + at * size, &part[l], sizeof(Lanes))
    for l in range(group.n):
        if t >= group.length[l]:
            continue
        for k in range(min(whole * lanes, job.K), job.K):
            at = (group.first[l] + t) * job.K + k
            if job.single:
                (<float*>states)[at] = <float>lane(row + k, l)
            else:
                (<double*>states)[at] = lane(row + k, l)


cdef void end(
    const Job* job, const Group* group, int64_t t, const double* values, Lanes* row
) noexcept nogil:
    """Put `values[K]` where token t is the last one of a sequence."""
    cdef int k, l
    for l in range(group.n):
        if t == group.length[l] - 1:
            for k in range(job.K):
                set_lane(row + k, l, values[k])


# ---- one step, from x[K] to out[K] ----

cdef void add_up(const Steps* s, const Lanes* x, Lanes* out) noexcept nogil:
    """`out[target]` is the sum over its sources of `x[source] * step`."""
    cdef const void* values = values_of(s, x)
    cdef Lanes a, b, c, d, e, f, g, h, v
    cdef Lanes none = all_of(x, 0.0)
    cdef int block, j, k, width, last
    cdef int64_t i, at = s.value_at[s.blocks]
    cdef const int32_t* to
    for block in range(s.blocks):
        width = s.target_at[block + 1] - s.target_at[block]
        to = s.target + s.target_at[block]
        last = s.source_at[block + 1]
        j = 0
        while width - j > 2 and width > 7:
            j = min(j, width - 8)  # the last eight may be among them twice
            a = b = c = d = e = f = g = h = none
            i = s.value_at[block] + j
            for k in range(s.source_at[block], last):
                v = x[s.source[k]]
                a += times(v, values, i)
                b += times(v, values, i + 1)
                c += times(v, values, i + 2)
                d += times(v, values, i + 3)
                e += times(v, values, i + 4)
                f += times(v, values, i + 5)
                g += times(v, values, i + 6)
                h += times(v, values, i + 7)
                i += width
            out[to[j]], out[to[j + 1]], out[to[j + 2]], out[to[j + 3]] = a, b, c, d
            out[to[j + 4]], out[to[j + 5]], out[to[j + 6]], out[to[j + 7]] = e, f, g, h
            j += 8
        for j in range(j, width):
            a = none
            i = s.value_at[block] + j
            for k in range(s.source_at[block], last):
                a += times(x[s.source[k]], values, i)
                i += width
            out[to[j]] = a
    for j in range(s.loose):
        a = none
        for k in range(s.loose_at[j], s.loose_at[j + 1]):
            a += times(x[s.loose_source[k]], values, at + k)
        out[s.loose_target[j]] = a


cdef void raise_up(const Steps* s, const Lanes* x, Lanes* out) noexcept nogil:
    """`out[target]` is the largest over its sources of `x[source] + step`."""
    cdef const void* values = values_of(s, x)
    cdef Lanes a, b, c, d, e, f, g, h, v
    cdef Lanes none = all_of(x, -INFINITY)
    cdef int block, j, k, width, last
    cdef int64_t i, at = s.value_at[s.blocks]
    cdef const int32_t* to
    for block in range(s.blocks):
        width = s.target_at[block + 1] - s.target_at[block]
        to = s.target + s.target_at[block]
        last = s.source_at[block + 1]
        j = 0
        while width - j > 2 and width > 7:
            j = min(j, width - 8)  # the last eight may be among them twice
            a = b = c = d = e = f = g = h = none
            i = s.value_at[block] + j
            for k in range(s.source_at[block], last):
                v = x[s.source[k]]
                a = nearer(a, plus(v, values, i))
                b = nearer(b, plus(v, values, i + 1))
                c = nearer(c, plus(v, values, i + 2))
                d = nearer(d, plus(v, values, i + 3))
                e = nearer(e, plus(v, values, i + 4))
                f = nearer(f, plus(v, values, i + 5))
                g = nearer(g, plus(v, values, i + 6))
                h = nearer(h, plus(v, values, i + 7))
                i += width
            out[to[j]], out[to[j + 1]], out[to[j + 2]], out[to[j + 3]] = a, b, c, d
            out[to[j + 4]], out[to[j + 5]], out[to[j + 6]], out[to[j + 7]] = e, f, g, h
            j += 8
        for j in range(j, width):
            a = none
            i = s.value_at[block] + j
            for k in range(s.source_at[block], last):
                a = nearer(a, plus(x[s.source[k]], values, i))
                i += width
            out[to[j]] = a
    for j in range(s.loose):
        a = none
        for k in range(s.loose_at[j], s.loose_at[j + 1]):
            a = nearer(a, plus(x[s.loose_source[k]], values, at + k))
        out[s.loose_target[j]] = a


cdef void add_logs(const Steps* s, const Lanes* x, Lanes* out, Lanes* sums) noexcept nogil:
    """`out[target]` is the logarithm of the sum over its sources of `exp(x[source] + step)`."""
    cdef const void* values = values_of(s, x)
    cdef Lanes least, most
    cdef int block, j, k, l, to
    cdef int64_t i = 0
    raise_up(s, x, out)
    for block in range(s.blocks):
        least = all_of(x, INFINITY)
        for j in range(s.target_at[block], s.target_at[block + 1]):
            to = s.target[j]
            least = -larger(-least, -out[to])
            out[to] = where(out[to], -INFINITY, out[to], all_of(x, 0.0))
            sums[to] = all_of(x, 0.0)
        least -= all_of(x, NOTHING)
        for k in range(s.source_at[block], s.source_at[block + 1]):
            most = x[s.source[k]] + all_of(x, s.top)
            if not any_above(&most, &least):
                i += s.target_at[block + 1] - s.target_at[block]
                continue
            for j in range(s.target_at[block], s.target_at[block + 1]):
                to = s.target[j]
                sums[to] += exp_of(plus(x[s.source[k]], values, i) - out[to])
                i += 1
    for j in range(s.loose):
        to = s.loose_target[j]
        out[to] = where(out[to], -INFINITY, out[to], all_of(x, 0.0))
        sums[to] = all_of(x, 0.0)
        for k in range(s.loose_at[j], s.loose_at[j + 1]):
            sums[to] += exp_of(plus(x[s.loose_source[k]], values, i) - out[to])
            i += 1
    for j in range(s.target_at[s.blocks] + s.loose):
        for l in range(lanes_in(x)):
            set_lane(out + j, l, log(lane(sums + j, l)) + lane(out + j, l))


cdef inline int variant(const Job* job, const Group* group, int l, int64_t t) noexcept nogil:
    """The kind of step with which a sequence reaches token t; -1 where it has ended."""
    if t >= group.length[l]:
        return -1
    return 0 if job.which == NULL else job.which[group.first[l] + t]


cdef void push(
    const Job* job, const Group* group, int64_t t, How how, const Steps* steps, const Lanes* x,
    Lanes* out, Lanes* spare,
) noexcept nogil:
    """The step between tokens t - 1 and t; `spare[2, K]` is scratch.

    Where the sequences take different variants, each is done for all of them, and then they take
    their own.
    """
    cdef int k, l, v
    cdef bint mixed = False
    cdef Lanes* to = out
    for l in range(1, group.n):
        mixed |= variant(job, group, l, t) not in (-1, variant(job, group, 0, t))
    if mixed:
        to = spare
    for v in range(job.variants):
        for l in range(group.n):
            if variant(job, group, l, t) == v:
                break
        else:
            continue
        if how == SUMS:
            add_up(steps + v, x, to)
        elif how == PEAKS:
            raise_up(steps + v, x, to)
        else:
            add_logs(steps + v, x, to, spare + job.K)
        if not mixed:
            break
        for l in range(lanes_in(x)):
            if variant(job, group, l, t) in (v, -1):
                for k in range(job.K):
                    set_lane(out + k, l, lane(spare + k, l))
