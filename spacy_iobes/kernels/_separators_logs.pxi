# One chain in logarithms: slower, and right for whatever scores there are.

ctypedef fused Real:
    float
    double


cdef double log_sum(const double* x, int n) noexcept nogil:
    """The logarithm of a sum of exponentials; minus infinity where there is nothing to add."""
    cdef double top = -INFINITY, found = 0.0
    cdef int k
    for k in range(n):
        top = max(top, x[k])
    if top == -INFINITY:
        return top
    for k in range(n):
        found += exp(x[k] - top)
    return top + log(found)


cdef inline double either(double x, double y) noexcept nogil:
    """The same for two."""
    if x < y:
        x, y = y, x
    return x if y == -INFINITY else x + log1p(exp(y - x))


cdef double log_messages(
    const Real* x, int64_t gaps, int64_t stride, double* steps, double* before, double* behind,
    int64_t apart,
) noexcept nogil:
    """What leads to the two states before every gap, and what follows those behind it; the total.

    `x` are rows so far apart (`stride`); two states of a gap and those of the next are `apart`.
    """
    cdef double[8] row
    cdef double* to
    cdef int64_t g, at
    cdef int k
    for g in range(gaps):
        for k in range(8):
            row[k] = x[g * stride + k]
        steps[4 * g], steps[4 * g + 1], steps[4 * g + 2] = row[0], row[1], row[2]
        steps[4 * g + 3] = log_sum(row + 3, 5)
    before[0], before[1] = 0.0, -INFINITY
    for g in range(1, gaps):
        to, at = steps + 4 * (g - 1), (g - 1) * apart
        before[g * apart] = either(before[at] + to[0], before[at + 1] + to[2])
        before[g * apart + 1] = either(before[at] + to[1], before[at + 1] + to[3])
    at = (gaps - 1) * apart
    behind[at], behind[at + 1] = 0.0, -INFINITY
    for g in range(gaps - 1, 0, -1):
        to, at = steps + 4 * g, g * apart
        behind[at - apart] = either(to[0] + behind[at], to[1] + behind[at + 1])
        behind[at - apart + 1] = either(to[2] + behind[at], to[3] + behind[at + 1])
    return either(steps[0] + behind[0], steps[1] + behind[1])


cdef void log_expect(
    const Real* x, int64_t gaps, int64_t stride, const double* before, const double* behind, Real* out
) noexcept nogil:
    """The probability of every separator; 0 where there is no legal sequence."""
    cdef double[8] ways
    cdef double every
    cdef int64_t g
    cdef int k
    for g in range(gaps):
        for k in range(8):
            ways[k] = before[2 * g + (k > 1)] + x[g * stride + k] + behind[2 * g + (k & 5 > 0)]
        every = log_sum(ways, 8)
        for k in range(8):
            out[g * stride + k] = 0 if every == -INFINITY else <Real>exp(ways[k] - every)
