# The best paths: look ahead from the end, then follow what is best.

cdef int64_t LONG = 250  # tokens: over so many, rounding leaves too little certain in single precision


cdef struct Trail:
    # A group that has been looked ahead: the best score from token t and state k to the end is
    # `ahead[t, k]` with the score of the state itself, `after[t, k]` without it.
    void* ahead
    void* after
    void* rows  # [4, K]
    double[WIDEST] margin  # for each token up to the end: so far apart must two of these numbers be
    #                        for their order to be certain


cdef struct Ways:
    # The states to which a state can go, and where the scores of these steps are: among the values
    # of the steps, every `stride`-th from `first` on, and for all states in `step[K]`.
    int n, stride
    int64_t first
    const int32_t* state
    const double* step


cdef void look_ahead(
    const Job* job, const Group* group, Trail* trail, const Lanes* like, double largest
) noexcept nogil:
    """The best score from every state to the end.

    In single precision, all steps and all rows are lowered until the largest number is 0; what
    rounding can do to them is in proportion to the numbers that were met: `largest` is more than
    any in start, steps and stop, and `most` more than any in the rows.
    """
    cdef Lanes* row
    cdef Lanes* now
    cdef Lanes top, most, zero = all_of(like, 0.0)
    cdef int k, l, K = job.K
    cdef int64_t t
    row = <Lanes*>trail.after + (group.T - 1) * K
    for k in range(K):
        row[k] = all_of(like, -INFINITY)
    most = zero
    for t in range(group.T - 1, -1, -1):
        now, row = <Lanes*>trail.ahead + t * K, <Lanes*>trail.after + t * K
        end(job, group, t, job.stop, row)
        load(job, group, t, now)
        if Lanes is Floats:
            top = all_of(like, -INFINITY)
            for k in range(K):
                now[k] += row[k]
                top = larger(top, now[k])
            top = where(top, -INFINITY, top, zero)
            most = larger(most, larger(top, -top))
            for k in range(K):
                now[k] -= top
                most = larger(most, where(now[k], -INFINITY, -now[k], zero))
        else:
            for k in range(K):
                now[k] += row[k]
        if t:
            push(job, group, t, PEAKS, job.back, now, row - K, <Lanes*>trail.rows)
    for l in range(group.n):
        if Lanes is Floats:
            trail.margin[l] = 5e-7 * (lane(&most, l) + 2.0 * largest)
        else:
            trail.margin[l] = 0.0


cdef Ways ways_on(const Job* job, const Group* group, int l, int64_t t, int state) noexcept nogil:
    """From a state to token t."""
    cdef Ways ways
    cdef int v = variant(job, group, l, t)
    cdef const Steps* s = job.back + v
    cdef int g = s.block_of[state], place = s.place_of[state]
    if g < 0:
        ways.n = s.loose_at[place + 1] - s.loose_at[place]
        ways.state = s.loose_source + s.loose_at[place]
        ways.first, ways.stride = s.value_at[s.blocks] + s.loose_at[place], 1
    else:
        ways.n, ways.state = s.source_at[g + 1] - s.source_at[g], s.source + s.source_at[g]
        ways.first, ways.stride = s.value_at[g] + place, s.target_at[g + 1] - s.target_at[g]
    ways.step = job.step + (<int64_t>v * job.K + state) * job.K
    return ways


cdef int best_way(
    const Job* job, const Group* group, const Trail* trail, const Lanes* like, int l, int64_t t,
    int state,
) noexcept nogil:
    """The best state of token t to go to; -1 if it is not certain which."""
    cdef Ways ways = ways_on(job, group, l, t, state)
    cdef const Lanes* ahead = <Lanes*>trail.ahead + t * job.K
    cdef double best = lane(<Lanes*>trail.after + (t - 1) * job.K + state, l)
    cdef double least = best - trail.margin[l] * (group.length[l] + 1 - t)
    cdef const void* values = values_of(job.back + variant(job, group, l, t), like)
    cdef int k, found = -1
    cdef int64_t i = ways.first
    for k in range(ways.n):
        if score_on(values, i, ahead + ways.state[k], l) >= least:
            if found >= 0:
                return -1
            found = ways.state[k]
            if Lanes is Doubles:
                break
        i += ways.stride
    return found


cdef inline double score_on(const void* values, int64_t i, const Lanes* ahead, int l) noexcept nogil:
    """A step and the best from there on, rounded as `raise_up` does."""
    if Lanes is Floats:
        return (<const float*>values)[i] + (<const float*>ahead)[l]
    else:
        return (<const double*>values)[i] + (<const double*>ahead)[l]


cdef int best_start(
    const Job* job, const Group* group, const Trail* trail, const Lanes* like, int l, double* score
) noexcept nogil:
    """The state with which the best path begins; -1 if it is not certain which, or there is none."""
    cdef const Lanes* ahead = <Lanes*>trail.ahead
    cdef double value, runner = -INFINITY
    cdef int k, found = -1
    score[0] = -INFINITY
    for k in range(job.K):
        value = job.start[k] + lane(ahead + k, l)
        if value > score[0]:
            runner, score[0], found = score[0], value, k
        elif value > runner:
            runner = value
    if Lanes is Floats and runner >= score[0] - trail.margin[l] * (group.length[l] + 1):
        return -1
    return found


cdef void follow_best(
    const Job* job, const Group* group, const Trail* trail, const Lanes* like, int32_t* states,
    double* peaks, uint8_t* again,
) noexcept nogil:
    """The best paths of a group and their scores; `again` where they are not certain.

    All paths go on together, since what they need next lies together.
    """
    cdef int64_t t
    cdef int l, before
    cdef int32_t* path
    for t in range(group.T):
        for l in range(group.n):
            path = states + group.first[l] + t
            if t == 0:
                path[0] = best_start(job, group, trail, like, l, peaks + group.sequence[l])
            elif t < group.length[l]:
                before = (path - 1)[0]
                path[0] = before
                if before >= 0:
                    path[0] = best_way(job, group, trail, like, l, t, before)
    for l in range(group.n):
        path = states + group.first[l]
        t = group.length[l] - 1
        again[group.sequence[l]] = Lanes is Floats and path[t] < 0
        if path[t] >= 0:
            peaks[group.sequence[l]] = score_of(job, group, l, path)


cdef inline double own_score(const Job* job, const Group* group, int l, int64_t t, int k) noexcept nogil:
    cdef int64_t at = (group.first[l] + t) * job.K + k
    return (<const float*>job.scores)[at] if job.single else (<const double*>job.scores)[at]


cdef double score_of(const Job* job, const Group* group, int l, const int32_t* path) noexcept nogil:
    """The score of a path, added up from the end as `look_ahead` does."""
    cdef int64_t t = group.length[l] - 1
    cdef double score = job.stop[path[t]] + own_score(job, group, l, t, path[t])
    cdef const double* step
    while t:
        step = job.step + <int64_t>variant(job, group, l, t) * job.K * job.K
        t -= 1
        score += step[<int64_t>path[t] * job.K + path[t + 1]]
        score += own_score(job, group, l, t, path[t])
    return job.start[path[0]] + score


# ---- more than one ----

cdef struct Branch:
    # A path to come: it is like path `parent` up to token `place`, where it goes to `state`.
    double score
    int64_t place
    int32_t parent, state


cdef struct Pool:
    # The best of them, best first; `room` is how many more are wanted.
    Branch* branch
    int size, room


cdef void offer(Pool* pool, double score, int parent, int64_t place, int state) noexcept nogil:
    """Keep a branch if it is among the best; of equals, the one that came first goes first."""
    cdef int i
    if not pool.room or score == -INFINITY:
        return
    if pool.size == pool.room:
        if score <= pool.branch[pool.size - 1].score:
            return
        pool.size -= 1
    i = pool.size
    pool.size += 1
    while i > 0 and pool.branch[i - 1].score < score:
        pool.branch[i] = pool.branch[i - 1]
        i -= 1
    pool.branch[i] = Branch(score, place, parent, state)


cdef void take(
    const Job* job, const Group* group, const Trail* trail, int l, Pool* pool, int p,
    int32_t* states, int64_t N,
) noexcept nogil:
    """Take the best branch as path `p` of `states[n, N]`, and offer all that leave it further on."""
    cdef Branch branch = pool.branch[0]
    cdef int32_t* path = states + p * N + group.first[l]
    cdef Doubles* ahead
    cdef Ways ways
    cdef double score
    cdef int64_t t
    cdef int k, to
    pool.size -= 1
    pool.room -= 1
    memmove(pool.branch, pool.branch + 1, pool.size * sizeof(Branch))
    if branch.place:
        memcpy(path, states + branch.parent * N + group.first[l], branch.place * sizeof(int32_t))
    path[branch.place] = branch.state
    score = job.start[path[0]] + own_score(job, group, l, 0, path[0])
    for t in range(1, group.length[l]):
        ways = ways_on(job, group, l, t, path[t - 1])
        if t > branch.place:
            ahead = <Doubles*>trail.ahead + t * job.K
            path[t] = best_way(job, group, trail, ahead, l, t, path[t - 1])
            for k in range(ways.n):
                to = ways.state[k]
                if to != path[t]:
                    offer(pool, score + (ways.step[to] + lane(ahead + to, l)), p, t, to)
        score = score + ways.step[path[t]] + own_score(job, group, l, t, path[t])


cdef void take_best(
    const Job* job, const Group* group, const Trail* trail, Pool* pool, int n, int32_t* states,
    int64_t N, double* peaks, int64_t S,
) noexcept nogil:
    """The `n` best paths of every sequence of a group, into `states[n, N]` and `peaks[n, S]`."""
    cdef Doubles* ahead = <Doubles*>trail.ahead
    cdef int k, l, p
    for l in range(group.n):
        pool.size, pool.room = 0, n
        for k in range(job.K):
            offer(pool, job.start[k] + lane(ahead + k, l), 0, 0, k)
        for p in range(n):
            if pool.size:
                peaks[p * S + group.sequence[l]] = pool.branch[0].score
                take(job, group, trail, l, pool, p, states, N)
