# Sums over all paths.
#
# They run on plain numbers, scaled at every token. Where so little of a state that can be reached is
# left that part of it may be lost, the sequence is done again with wider numbers: float, double, and
# at last logarithms, which hold everything.

cdef struct Sums:
    # Memory for the sums of a group, in vectors.
    void* a  # what leads to every state, [T, K]
    void* e  # exp(scores), then the weight of every state as a target, [T, K]
    void* w  # the weights for one of several variants, [T, K]
    void* scale  # what every row of `a` was multiplied with, [T]
    void* tile  # [T, 4]
    void* rows  # [4, K]


cdef inline double faint(bint single, double lowest) noexcept nogil:
    """What is not below this is still a plain number when it is multiplied by the lowest step."""
    return (1e-33 if single else 1e-300) * exp(-lowest)


cdef inline bint too_steep(bint single, double lowest) noexcept nogil:
    """Whether there is no use in trying."""
    return lowest < (-50.0 if single else -450.0)


cdef Lanes expose(const Job* job, const Group* group, int64_t t, Lanes* row) noexcept nogil:
    """`exp(scores - top)` of token t; returns the top."""
    cdef Lanes top, more
    cdef int k, K = job.K
    load(job, group, t, row)
    top = more = row[0]
    for k in range(1, K - 1, 2):
        top = larger(top, row[k])
        more = larger(more, row[k + 1])
    top = larger(larger(top, more), row[K - 1])
    top = where(top, -INFINITY, top, all_of(row, 0.0))
    for k in range(K):
        row[k] = exp_of(row[k] - top)
    return top


cdef Lanes forward(
    const Job* job, const Group* group, const Sums* sums, const Lanes* like, bint keep,
    double* totals,
) noexcept nogil:
    """What leads to every state, and the totals; unless `keep`, only the last rows are kept.

    Returns the least that is left of a state that can be reached.
    """
    cdef Lanes* a = <Lanes*>sums.a
    cdef Lanes* e = <Lanes*>sums.e
    cdef Lanes* scale = <Lanes*>sums.scale
    cdef Lanes* rows = <Lanes*>sums.rows
    cdef Lanes* now = a
    cdef Lanes* before = a
    cdef const void* start = (
        <const void*>job.start_single if Lanes is Floats else <const void*>job.start
    )
    cdef Lanes least = all_of(like, 1.0), zero = all_of(like, 0.0)
    cdef Lanes top, sum_, value
    cdef double[WIDEST] logs
    cdef double[WIDEST] mass
    cdef int k, l, K = job.K, lanes = lanes_in(like)
    cdef int64_t t
    for l in range(lanes):
        logs[l], mass[l] = job.edges, 1.0
    for t in range(group.T):
        now = a + (t if keep else t & 1) * K
        if keep:
            e = <Lanes*>sums.e + t * K
            scale = <Lanes*>sums.scale + t
        top = expose(job, group, t, e)
        if t:
            push(job, group, t, SUMS, job.into, before, now, rows)
        else:
            for k in range(K):
                now[k] = plus(zero, start, k)
        sum_ = zero
        for k in range(K):
            value = now[k] * e[k]
            least = where(now[k], 0.0, where(e[k], 0.0, smaller(least, value), least), least)
            now[k] = value
            sum_ += value
        scale[0] = where(sum_, 0.0, all_of(like, 1.0) / sum_, zero)
        for k in range(K):
            now[k] *= scale[0]
        for l in range(group.n):
            if t >= group.length[l]:
                continue
            logs[l] += lane(&top, l) + (job.into[variant(job, group, l, t)].top if t else 0.0)
            if lane(&sum_, l) > 1e-100:
                mass[l] *= lane(&sum_, l)
            else:
                logs[l] += log(lane(&sum_, l))
            if not 1e-100 < mass[l] < 1e100:
                logs[l] += log(mass[l])
                mass[l] = 1.0
            if t == group.length[l] - 1:
                logs[l] += log(mass[l]) + log(stopped(job, now, l))
                totals[group.sequence[l]] = logs[l]
        before = now
    return least


cdef inline Lanes smaller(Lanes x, Lanes y) noexcept nogil:
    return -larger(-x, -y)


cdef double stopped(const Job* job, const Lanes* row, int l) noexcept nogil:
    """How much of a row is left after the last token of a sequence."""
    cdef int k
    cdef double found = 0.0
    for k in range(job.K):
        found += lane(row + k, l) * job.stop[k]
    return found


cdef void backward(
    const Job* job, const Group* group, const Sums* sums, const Lanes* like, void* states
) noexcept nogil:
    """The probability of every state, into `states[N, K]`, and the weights of all targets.

    The probability of a step to token t is a[t - 1, from] * step[from, to] * weight[t, to]. What
    leads to a state is never faint, so what follows it is never too large; nor can it be too small:
    then the state is so improbable that it does not matter.
    """
    cdef Lanes* b = <Lanes*>sums.rows
    cdef Lanes* spare = b + job.K
    cdef Lanes* now
    cdef Lanes* e
    cdef Lanes product, inverse, zero = all_of(like, 0.0)
    cdef int k, K = job.K
    cdef int64_t t
    for k in range(K):
        b[k] = zero
    for t in range(group.T - 1, -1, -1):
        now, e = <Lanes*>sums.a + t * K, <Lanes*>sums.e + t * K
        end(job, group, t, job.stop, b)
        product = zero
        for k in range(K):
            spare[k] = now[k] * b[k]
            product += spare[k]
        inverse = where(product, 0.0, all_of(like, 1.0) / product, zero)
        for k in range(K):
            spare[k] *= inverse
        store(job, group, t, spare, states)
        inverse *= (<Lanes*>sums.scale)[t]
        for k in range(K):
            e[k] = where(now[k], 0.0, e[k] * b[k] * inverse, zero)
        if t:
            push(job, group, t, SUMS, job.back, e, b, spare)


cdef void count(
    const Steps* s, const Lanes* a, const Lanes* w, Lanes* tile, int64_t T, int K, double* found
) noexcept nogil:
    """Add up `a[t - 1, from] * w[t, to]` over all tokens, in the order of the values of the steps."""
    cdef int block, i, j, k, u, width, last
    cdef int64_t t, at = 0
    cdef const Lanes* p
    cdef Lanes[8] sums
    for block in range(s.blocks):
        width = s.target_at[block + 1] - s.target_at[block]
        last = s.source_at[block + 1]
        for i in range(s.source_at[block], last, 4):
            for t in range(1, T):
                for u in range(4):
                    tile[4 * t + u] = a[(t - 1) * K + s.source[min(i + u, last - 1)]]
            for j in range(0, width, 2):
                k = s.target_at[block] + j
                count_tile(
                    tile, w + s.target[k], w + s.target[min(k + 1, k - j + width - 1)], T, K, sums
                )
                for u in range(min(4, last - i)):
                    found[at + u * width + j] += added(&sums[u])
                    if j + 1 < width:
                        found[at + u * width + j + 1] += added(&sums[u + 4])
            at += min(4, last - i) * width
    for j in range(s.loose):
        p = w + s.loose_target[j]
        for k in range(s.loose_at[j], s.loose_at[j + 1]):
            sums[0] = all_of(a, 0.0)
            for t in range(1, T):
                sums[0] += a[(t - 1) * K + s.loose_source[k]] * p[t * K]
            found[at] += added(&sums[0])
            at += 1


cdef inline void count_tile(
    const Lanes* x, const Lanes* p, const Lanes* q, int64_t T, int64_t K, Lanes* sums
) noexcept nogil:
    """Four sources `x[T, 4]` and two targets, `p` and `q`, of rows of K."""
    cdef Lanes a, b, c, d, e, f, g, h, one, other, v
    cdef int64_t t
    a = b = c = d = e = f = g = h = all_of(x, 0.0)
    for t in range(1, T):
        one, other = p[t * K], q[t * K]
        v = x[4 * t]
        a += v * one
        e += v * other
        v = x[4 * t + 1]
        b += v * one
        f += v * other
        v = x[4 * t + 2]
        c += v * one
        g += v * other
        v = x[4 * t + 3]
        d += v * one
        h += v * other
    sums[0], sums[1], sums[2], sums[3] = a, b, c, d
    sums[4], sums[5], sums[6], sums[7] = e, f, g, h


cdef void sum_up(
    const Job* job, const Group* group, const Sums* sums, const Lanes* like, double* totals,
    double faintest, uint8_t* again, void* states, double* counts, int64_t size,
) noexcept nogil:
    """The totals of a group, and if asked for, the probabilities of states and the expected steps."""
    cdef Lanes* a = <Lanes*>sums.a
    cdef Lanes* e = <Lanes*>sums.e
    cdef Lanes* w = <Lanes*>sums.w
    cdef Lanes least
    cdef int64_t i, t, T = group.T
    cdef int k, l, v, K = job.K
    cdef bint used
    least = forward(job, group, sums, like, states != NULL, totals)
    for l in range(group.n):
        again[group.sequence[l]] = lane(&least, l) < faintest
    if states == NULL:
        return
    backward(job, group, sums, like, states)
    for l in range(group.n):
        if again[group.sequence[l]]:
            for i in range(T * K):
                set_lane(a + i, l, 0.0)
                set_lane(e + i, l, 0.0)
    if job.variants == 1:
        count(job.into, a, e, <Lanes*>sums.tile, T, K, counts)
        return
    for v in range(job.variants):
        memcpy(w, e, T * K * sizeof(Lanes))
        used = False
        for t in range(1, T):
            for l in range(group.n):
                if variant(job, group, l, t) == v:
                    used = True
                else:
                    for k in range(K):
                        set_lane(w + t * K + k, l, 0.0)
        if used:
            count(job.into + v, a, w, <Lanes*>sums.tile, T, K, counts + v * size)


# ---- the same in logarithms ----

cdef double log_sum(const Job* job, const Doubles* row, int l) noexcept nogil:
    """The total of a sequence from the row of its last token."""
    cdef int k
    cdef double top = -INFINITY, found = 0.0
    for k in range(job.K):
        top = max(top, lane(row + k, l) + job.stop[k])
    if top == -INFINITY:
        return top
    for k in range(job.K):
        found += exp(lane(row + k, l) + job.stop[k] - top)
    return top + log(found)


cdef void log_messages(
    const Job* job, const Group* group, const Sums* sums, double* totals, bint both
) noexcept nogil:
    """What leads to every state, its own score included, into `a`; what follows it, into `e`."""
    cdef Doubles* rows = <Doubles*>sums.rows
    cdef Doubles* row = rows + 2 * job.K
    cdef Doubles* now
    cdef int k, l, K = job.K
    cdef int64_t t
    for t in range(group.T):
        now = <Doubles*>sums.a + t * K
        if t:
            push(job, group, t, LOGS, job.into, now - K, now, rows)
        else:
            for k in range(K):
                now[k] = all_doubles(job.start[k])
        load(job, group, t, row)
        for k in range(K):
            now[k] += row[k]
        for l in range(group.n):
            if t == group.length[l] - 1:
                totals[group.sequence[l]] = log_sum(job, now, l)
    if not both:
        return
    now = <Doubles*>sums.e + (group.T - 1) * K
    for k in range(K):
        now[k] = all_doubles(-INFINITY)
    for t in range(group.T - 1, -1, -1):
        now = <Doubles*>sums.e + t * K
        end(job, group, t, job.stop, now)
        if t:
            load(job, group, t, row)
            for k in range(K):
                row[k] += now[k]
            push(job, group, t, LOGS, job.back, row, now - K, rows)


cdef void log_expect(
    const Job* job, const Group* group, const Sums* sums, void* states, double* pairs
) noexcept nogil:
    """The probability of every state, and the expected steps added to `pairs[M, K, K]`."""
    cdef Doubles* x = <Doubles*>sums.rows
    cdef Doubles* row = x + job.K
    cdef Doubles* a
    cdef Doubles* b
    cdef Doubles top, sum_
    cdef Doubles zero = all_doubles(0.0)
    cdef int k, l, v, K = job.K
    cdef int64_t t
    for t in range(group.T):
        a, b = <Doubles*>sums.a + t * K, <Doubles*>sums.e + t * K
        top = all_doubles(-INFINITY)
        for k in range(K):
            row[k] = a[k] + b[k]
            top = larger(top, row[k])
        top = where(top, -INFINITY, top, zero)
        sum_ = zero
        for k in range(K):
            row[k] = exp_of(row[k] - top)
            sum_ += row[k]
        for k in range(K):
            row[k] = where(sum_, 0.0, row[k] / sum_, zero)
        store(job, group, t, row, states)
        if not t:
            continue
        load(job, group, t, row)
        for l in range(DOUBLES):
            set_lane(&top, l, lane(&top, l) + log(max(lane(&sum_, l), 1e-300)))
        for v in range(job.variants):
            for k in range(K):
                x[k] = row[k] + b[k] - top
            for l in range(DOUBLES):
                if variant(job, group, l, t) != v:
                    for k in range(K):
                        set_lane(x + k, l, -INFINITY)
            add_pairs(job.into + v, a - K, x, K, pairs + <int64_t>v * K * K)


cdef void add_pairs(
    const Steps* s, const Doubles* a, const Doubles* x, int K, double* pairs
) noexcept nogil:
    """Add `exp(a[from] + step + x[to])`, for all sequences of a group."""
    cdef Doubles top = all_doubles(-INFINITY), least = all_doubles(-NOTHING), most
    cdef int block, j, k
    cdef int64_t i = 0
    for k in range(K):
        top = larger(top, x[k])
    for block in range(s.blocks):
        for k in range(s.source_at[block], s.source_at[block + 1]):
            most = a[s.source[k]] + top + s.top
            if not any_above(&most, &least):
                i += s.target_at[block + 1] - s.target_at[block]
                continue
            for j in range(s.target_at[block], s.target_at[block + 1]):
                add_pair(s.source[k], s.target[j], s.value[i], a, x, K, pairs)
                i += 1
    for j in range(s.loose):
        for k in range(s.loose_at[j], s.loose_at[j + 1]):
            add_pair(s.loose_source[k], s.loose_target[j], s.value[i], a, x, K, pairs)
            i += 1


cdef inline void add_pair(
    int source, int target, double step, const Doubles* a, const Doubles* x, int K, double* pairs
) noexcept nogil:
    cdef Doubles way = exp_doubles(a[source] + step + x[target])
    pairs[<int64_t>source * K + target] += added(&way)
