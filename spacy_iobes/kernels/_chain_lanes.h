/* Sums over paths and best paths, for LANES sequences at once.

   A vector holds one number for each of LANES sequences, so a row of K vectors is what a token of
   each of them says about the K states, and every operation serves all sequences. The sequences of a
   group begin together; those that have ended are all zeros (or minus infinity) from there on.

   `_chain.h` includes this once for each kind of processor and precision, with LANES, TARGET (what
   the compiler may use), NAME (a suffix), SINGLE (float, not double) and, where there is an
   instruction for it, MAX, MIN, ANY_ABOVE and SCALE. Single precision is only for sums. */

#if SINGLE
#define REAL float
#define UINT uint32_t
#define FIELD(x) x##_f
#define MANTISSA 23
#define EXPONENT 0x7F800000u /* its bits */
#define TWICE 0x7F000000u    /* twice its bias */
#define BIAS 127.0
#define MAGIC 12582912.0f /* adding it rounds to an integer, in the last bits */
#define LOWEST (-87.0f)   /* where exp(x) would no longer be a normal number */
#define FAINT FAINT_F
#else
#define REAL double
#define UINT uint64_t
#define FIELD(x) x
#define MANTISSA 52
#define EXPONENT 0x7FF0000000000000u
#define TWICE 0x7FE0000000000000u
#define BIAS 1023.0
#define MAGIC 6755399441055744.0
#define LOWEST (-700.0)
#define FAINT FAINT_D
#endif

#define V NAME(Vector)
#define M NAME(Marks)
#define INLINE static inline TARGET
#define APART static TARGET __attribute__((noinline)) /* has all registers to itself */
typedef REAL V __attribute__((vector_size(sizeof(REAL) * LANES)));
typedef UINT M __attribute__((vector_size(sizeof(REAL) * LANES)));
#define F NAME(Floats)
typedef float F __attribute__((vector_size(4 * LANES)));

INLINE V NAME(all)(REAL x) { return x - (V){0}; }

INLINE V NAME(pick)(M marks, V yes, V no) { return (V)(((M)yes & marks) | ((M)no & ~marks)); }

/* A peak that can be subtracted: not minus infinity. */
INLINE V NAME(guard)(V peak) {
    return NAME(pick)((M)(peak > -(REAL)INFINITY), peak, NAME(all)(0.0));
}

INLINE int NAME(any)(M marks) {
    UINT found = 0;
    for (int l = 0; l < LANES; l++) found |= marks[l];
    return found != 0;
}

#ifndef MAX
#define MAX(x, y) NAME(pick)((M)((x) > (y)), x, y)
#define MIN(x, y) NAME(pick)((M)((x) < (y)), x, y)
#define ANY_ABOVE(x, y) NAME(any)((M)((x) >= (y)))
#endif

INLINE double NAME(added)(V x) {
    double sum = 0;
    for (int l = 0; l < LANES; l++) sum += x[l];
    return sum;
}

/* exp(x) for x <= 0, to a relative 2e-15 (or 1e-7); below LOWEST it may be 0 */
INLINE V NAME(exp)(V x) {
    const V lowest = NAME(all)(LOWEST), twice = lowest + lowest, magic = NAME(all)(MAGIC);
    V v = MAX(x, twice); /* not minus infinity */
    V power = v * (REAL)1.4426950408889634 + magic; /* k in its last bits */
    V k = power - magic;
#if SINGLE
    V r = v - k * 0.693359375f;
    r = r + k * 2.12194440e-4f;
    V r2 = r * r;
    V a = r * EXPF_1 + EXPF_0, b = r * EXPF_3 + EXPF_2, c = r * EXPF_5 + EXPF_4;
    V p = ((r2 * EXPF_6 + c) * r2 + b) * r2 + a;
#else
    V r = v - k * 6.93147180369123816490e-01;
    r = r - k * 1.90821492927058770002e-10;
    V r2 = r * r, r4 = r2 * r2;
    V a = r * EXP_1 + EXP_0, b = r * EXP_3 + EXP_2, c = r * EXP_5 + EXP_4;
    V d = r * EXP_7 + EXP_6, e = r * EXP_9 + EXP_8;
    V low = b * r2 + a, middle = d * r2 + c, high = r2 * EXP_10 + e;
    V p = (high * r4 + middle) * r4 + low;
#endif
#ifdef SCALE
    return SCALE(p, k);
#else
    return (V)(((M)p + ((M)power << MANTISSA)) & (M)(x >= lowest));
#endif
}

/* The power of two that brings x > 0 to 1 <= x < 2; its exponent is added to *exponent. */
INLINE V NAME(power)(V x, M *exponent) {
    M bits = (M)x & EXPONENT;
    *exponent += bits >> MANTISSA;
    return (V)(TWICE - bits);
}

/* Turn LANES rows of LANES numbers into columns. */
INLINE void NAME(transpose)(V *rows) {
    V x[LANES];
    memcpy(x, rows, sizeof x);
#define SWAP(distance, low, high) \
    UNROLL for (int i = 0; i < LANES; i++) \
        if (!(i & distance)) { \
            V p = SHUFFLE(x[i], x[i + distance], low), q = SHUFFLE(x[i], x[i + distance], high); \
            x[i] = p; \
            x[i + distance] = q; \
        }
#if LANES == 2
    SWAP(1, LIST(0, 2), LIST(1, 3))
#elif LANES == 4
    SWAP(1, LIST(0, 4, 2, 6), LIST(1, 5, 3, 7))
    SWAP(2, LIST(0, 1, 4, 5), LIST(2, 3, 6, 7))
#elif LANES == 8
    SWAP(1, LIST(0, 8, 2, 10, 4, 12, 6, 14), LIST(1, 9, 3, 11, 5, 13, 7, 15))
    SWAP(2, LIST(0, 1, 8, 9, 4, 5, 12, 13), LIST(2, 3, 10, 11, 6, 7, 14, 15))
    SWAP(4, LIST(0, 1, 2, 3, 8, 9, 10, 11), LIST(4, 5, 6, 7, 12, 13, 14, 15))
#else
    SWAP(1, LIST(0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30),
         LIST(1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31))
    SWAP(2, LIST(0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29),
         LIST(2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31))
    SWAP(4, LIST(0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27),
         LIST(4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31))
    SWAP(8, LIST(0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23),
         LIST(8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31))
#endif
#undef SWAP
    memcpy(rows, x, sizeof x);
}

/* The scores of token t of every sequence, `row[K]`; minus infinity where it has ended. */
APART void NAME(load)(const Job *job, const Group *group, int64_t t, V *row) {
    const int K = job->K;
    int k = 0;
    for (; k + LANES <= K; k += LANES) {
        for (int l = 0; l < LANES; l++) {
            const int64_t at = (group->first[l] + t) * K + k;
            V v = NAME(all)(-INFINITY);
            if (t < group->length[l] && (SINGLE || job->single)) {
                F f;
                memcpy(&f, (const float *)job->scores + at, sizeof f);
                v = __builtin_convertvector(f, V);
            } else if (t < group->length[l]) {
                memcpy(&v, (const double *)job->scores + at, sizeof v);
            }
            row[k + l] = v;
        }
        NAME(transpose)(row + k);
    }
    for (; k < K; k++)
        for (int l = 0; l < LANES; l++) {
            const int64_t at = (group->first[l] + t) * K + k;
            row[k][l] = t >= group->length[l] ? -INFINITY
                        : job->single         ? ((const float *)job->scores)[at]
                                              : ((const double *)job->scores)[at];
        }
}

/* Probabilities of token t, `row[K]`, to where they belong in `states[N, K]`. */
APART void NAME(store)(const Job *job, const Group *group, int64_t t, V *row, void *states) {
    const int K = job->K;
    int k = 0;
    for (; k + LANES <= K; k += LANES) {
        NAME(transpose)(row + k);
        for (int l = 0; l < LANES; l++) {
            const int64_t at = (group->first[l] + t) * K + k;
            if (t < group->length[l] && (SINGLE || job->single)) {
                F f = __builtin_convertvector(row[k + l], F);
                memcpy((float *)states + at, &f, sizeof f);
            } else if (t < group->length[l]) {
                memcpy((double *)states + at, row + k + l, sizeof(V));
            }
        }
    }
    for (; k < K; k++)
        for (int l = 0; l < LANES; l++) {
            const int64_t at = (group->first[l] + t) * K + k;
            if (t >= group->length[l]) continue;
            if (job->single) ((float *)states)[at] = (float)row[k][l];
            else ((double *)states)[at] = row[k][l];
        }
}

/* Put values[K] where token t is the last one of a sequence. */
INLINE void NAME(end)(const Job *job, const Group *group, int64_t t, const REAL *values, V *row) {
    REAL *out = (REAL *)row;
    for (int l = 0; l < LANES; l++)
        if (t == group->length[l] - 1)
            for (int k = 0; k < job->K; k++) out[k * LANES + l] = values[k];
}

/* Plus infinity for the sequences that have no token t, minus infinity for the others. */
INLINE V NAME(ended)(const Group *group, int64_t t) {
    V ended = NAME(all)(-INFINITY);
    for (int l = 0; l < LANES; l++)
        if (t >= group->length[l]) ended[l] = INFINITY;
    return ended;
}

/* ---- one step: from x[K] to out[K] ---- */

#define EIGHT(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define FOUR(DO) DO(0) DO(1) DO(2) DO(3)

/* out[target] = the sum over its sources of x[source] * step */
APART void NAME(push_sums)(const Blocks *b, const V *x, V *out) {
    for (int g = 0; g < b->blocks; g++) {
        const int width = b->target_at[g + 1] - b->target_at[g];
        const int n = b->source_at[g + 1] - b->source_at[g];
        const int32_t *source = b->sources + b->source_at[g], *target = b->targets + b->target_at[g];
        const REAL *values = b->FIELD(values) + b->value_at[g];
        int j = 0;
    #define ZERO(u) V s##u = NAME(all)(0.0);
    #define ADD(u) s##u += v * row[u];
    #define PUT(u) out[target[j + u]] = s##u;
        for (; j + 8 <= width; j += 8) {
            EIGHT(ZERO)
            const REAL *row = values + j;
            for (int k = 0; k < n; k++, row += width) { V v = x[source[k]]; EIGHT(ADD) }
            EIGHT(PUT)
        }
        for (; j + 4 <= width; j += 4) {
            FOUR(ZERO)
            const REAL *row = values + j;
            for (int k = 0; k < n; k++, row += width) { V v = x[source[k]]; FOUR(ADD) }
            FOUR(PUT)
        }
        for (; j < width; j++) {
            ZERO(0)
            const REAL *row = values + j;
            for (int k = 0; k < n; k++, row += width) { V v = x[source[k]]; ADD(0) }
            PUT(0)
        }
    #undef ZERO
    #undef ADD
    #undef PUT
    }
    for (int j = 0; j < b->loose; j++) {
        V s = NAME(all)(0.0);
        for (int k = b->loose_at[j]; k < b->loose_at[j + 1]; k++)
            s += x[b->loose_source[k]] * b->FIELD(loose_value)[k];
        out[b->loose_target[j]] = s;
    }
}

#if !SINGLE
/* The sources of a block that may matter to a target: not for all of them `margin` below another,
   in any sequence. `ended` is plus infinity for the sequences that do not count. */
INLINE int NAME(select)(const Blocks *b, int g, const V *x, V ended, double margin, int32_t *picked) {
    const int first = b->source_at[g], last = b->source_at[g + 1];
    V level = ended;
    int n = 0;
    for (int k = first; k < last; k++) {
        V low = x[b->sources[k]] + (b->low[k] - margin);
        level = MAX(level, low);
    }
    for (int k = first; k < last; k++) {
        V high = x[b->sources[k]] + b->high[k];
        picked[n] = k - first;
        n += ANY_ABOVE(high, level);
    }
    return n;
}

/* out[target] = the largest over its sources of x[source] + step */
APART void NAME(push_peaks)(const Blocks *b, const V *x, V *out, V ended, int32_t *picked) {
    for (int g = 0; g < b->blocks; g++) {
        const int width = b->target_at[g + 1] - b->target_at[g];
        const int n = NAME(select)(b, g, x, ended, 0.0, picked);
        const int32_t *source = b->sources + b->source_at[g], *target = b->targets + b->target_at[g];
        const double *values = b->values + b->value_at[g];
        int j = 0;
    #define NONE(u) V s##u = NAME(all)(-INFINITY);
    #define RAISE(u) { V way = v + row[u]; s##u = MAX(s##u, way); }
    #define PUT(u) out[target[j + u]] = s##u;
    #define NEXT const double *row = values + (ptrdiff_t)picked[k] * width + j; V v = x[source[picked[k]]];
        for (; j + 8 <= width; j += 8) {
            EIGHT(NONE)
            for (int k = 0; k < n; k++) { NEXT EIGHT(RAISE) }
            EIGHT(PUT)
        }
        for (; j + 4 <= width; j += 4) {
            FOUR(NONE)
            for (int k = 0; k < n; k++) { NEXT FOUR(RAISE) }
            FOUR(PUT)
        }
        for (; j < width; j++) {
            NONE(0)
            for (int k = 0; k < n; k++) { NEXT RAISE(0) }
            PUT(0)
        }
    }
    for (int j = 0; j < b->loose; j++) {
        V s = NAME(all)(-INFINITY);
        for (int k = b->loose_at[j]; k < b->loose_at[j + 1]; k++) {
            V way = x[b->loose_source[k]] + b->loose_value[k];
            s = MAX(s, way);
        }
        out[b->loose_target[j]] = s;
    }
}

INLINE V NAME(log)(V x) {
    V out;
    for (int l = 0; l < LANES; l++) out[l] = log(x[l]);
    return out;
}

/* out[target] = the logarithm of the sum over its sources of exp(x[source] + step) */
APART void NAME(push_logs)(const Blocks *b, const V *x, V *out, V ended, int32_t *picked) {
    for (int g = 0; g < b->blocks; g++) {
        const int width = b->target_at[g + 1] - b->target_at[g];
        const int n = NAME(select)(b, g, x, ended, NOTHING, picked);
        const int32_t *source = b->sources + b->source_at[g], *target = b->targets + b->target_at[g];
        const double *values = b->values + b->value_at[g];
        int j = 0;
    #define GUARD(u) V p##u = NAME(guard)(s##u); s##u = NAME(all)(0.0);
    #define ADD(u) s##u += NAME(exp)(v + row[u] - p##u);
    #define PUT_LOG(u) out[target[j + u]] = NAME(log)(s##u) + p##u;
        for (; j + 4 <= width; j += 4) {
            FOUR(NONE)
            for (int k = 0; k < n; k++) { NEXT FOUR(RAISE) }
            FOUR(GUARD)
            for (int k = 0; k < n; k++) { NEXT FOUR(ADD) }
            FOUR(PUT_LOG)
        }
        for (; j < width; j++) {
            NONE(0)
            for (int k = 0; k < n; k++) { NEXT RAISE(0) }
            GUARD(0)
            for (int k = 0; k < n; k++) { NEXT ADD(0) }
            PUT_LOG(0)
        }
    }
    for (int j = 0; j < b->loose; j++) {
        NONE(0)
        for (int k = b->loose_at[j]; k < b->loose_at[j + 1]; k++) {
            V way = x[b->loose_source[k]] + b->loose_value[k];
            s0 = MAX(s0, way);
        }
        GUARD(0)
        for (int k = b->loose_at[j]; k < b->loose_at[j + 1]; k++)
            s0 += NAME(exp)(x[b->loose_source[k]] + b->loose_value[k] - p0);
        out[b->loose_target[j]] = NAME(log)(s0) + p0;
    }
}

#undef ADD
#undef PUT
#undef PUT_LOG
#undef GUARD
#undef NONE
#undef RAISE
#undef NEXT

#endif

/* The step to token t. Where the sequences take different variants, each is done for all of them,
   and then they take their own. */
INLINE void NAME(push)(const Job *job, const Group *group, int64_t t, enum How how,
                       const Blocks *blocks, const V *x, V *out, V *spare, int32_t *picked) {
    int32_t variant[LANES], first = -1, same = 1;
    for (int l = 0; l < LANES; l++) {
        variant[l] = -1;
        if (t >= group->length[l]) continue;
        variant[l] = job->which ? job->which[group->first[l] + t] : 0;
        if (first < 0) first = variant[l];
        same &= variant[l] == first;
    }
    for (int l = 0; l < LANES && !same; l++)
        if (variant[l] < 0) /* it has ended */
            for (int k = 0; k < job->K; k++)
                ((REAL *)out)[k * LANES + l] = how == SUMS ? 0.0 : -INFINITY;
    for (int l = 0; l < LANES; l++) {
        const int32_t v = variant[l];
        int done = v < 0;
        for (int m = 0; m < l; m++) done |= variant[m] == v;
        if (done) continue;
        V *to = same ? out : spare;
        if (how == SUMS) NAME(push_sums)(blocks + v, x, to);
#if !SINGLE
        else if (how == PEAKS) NAME(push_peaks)(blocks + v, x, to, NAME(ended)(group, t), picked);
        else NAME(push_logs)(blocks + v, x, to, NAME(ended)(group, t), picked);
#endif
        if (same) return;
        for (int m = l; m < LANES; m++)
            if (variant[m] == v)
                for (int k = 0; k < job->K; k++)
                    ((REAL *)out)[k * LANES + m] = ((REAL *)spare)[k * LANES + m];
    }
}

/* ---- sums of scaled probabilities ---- */

/* Whether any of x[K] is below FAINT, in a sequence that has a token t. */
INLINE int NAME(faint)(const Group *group, int64_t t, const V *x, int K) {
    V least = x[0];
    for (int k = 1; k < K; k++) least = MIN(least, x[k]);
    if (!ANY_ABOVE(NAME(all)(FAINT), least)) return 0;
    least = MAX(least, NAME(ended)(group, t));
    return ANY_ABOVE(NAME(all)(FAINT), least);
}

/* The states that a step leads to from any x[K] > 0: more than 0 in out[K]. `spare[2, K]`. */
INLINE void NAME(reach)(const Job *job, const Group *group, int64_t t, const Blocks *blocks,
                        const V *x, V *out, V *spare) {
    for (int k = 0; k < job->K; k++)
        spare[k] = NAME(pick)((M)(x[k] > 0), NAME(all)(1.0), NAME(all)(0.0));
    NAME(push)(job, group, t, SUMS, blocks, spare, out, spare + job->K, NULL);
}

/* The sequences in which a state of token t can be reached, but next to nothing of it is left in
   now[K]. Those must be done again with wider numbers. `rows[3, K]` is scratch. */
INLINE M NAME(lost_forward)(const Job *job, const Group *group, int64_t t, const V *before,
                            const V *now, V *rows) {
    const int K = job->K;
    V *scores = rows + K;
    M lost = (M)NAME(all)(0.0);
    if (t)
        NAME(reach)(job, group, t, job->into, before, rows, rows + K);
    else
        for (int k = 0; k < K; k++) rows[k] = NAME(all)(job->FIELD(start)[k]);
    NAME(load)(job, group, t, scores);
    for (int k = 0; k < K; k++)
        lost |= (M)(now[k] < FAINT) & (M)(rows[k] > 0) & (M)(scores[k] > -(REAL)INFINITY);
    return lost;
}

/* What leads to every state, `a[T, K]`, and exp(scores), `e[T, K]`; the totals. Unless `keep`, `a`
   has two rows and `e` one. Returns the sequences that must be done again. */
INLINE M NAME(forward)(const Job *job, const Group *group, V *a, V *e, V *rows, int keep,
                       double *totals) {
    const int K = job->K;
    double shift[LANES];
    for (int l = 0; l < LANES; l++) shift[l] = job->edges;
    M bad = (M)NAME(all)(0.0), exponent = bad;
    V *now = a, *before = a, *row = e;
    for (int64_t t = 0; t < group->T; t++, before = now) {
        now = a + (keep ? t : t & 1) * K;
        row = e + (keep ? t : 0) * K;
        NAME(load)(job, group, t, row);
        V top = row[0], more = top, sum = NAME(all)(0.0);
        int k = 1;
        for (; k + 2 <= K; k += 2) { top = MAX(top, row[k]); more = MAX(more, row[k + 1]); }
        if (k < K) top = MAX(top, row[k]);
        top = NAME(guard)(MAX(top, more));
        for (k = 0; k < K; k++) row[k] = NAME(exp)(row[k] - top);
        for (int l = 0; l < LANES; l++) {
            shift[l] += top[l];
            if (t && t < group->length[l])
                shift[l] += job->tops[job->which ? job->which[group->first[l] + t] : 0];
        }
        if (t)
            NAME(push)(job, group, t, SUMS, job->into, before, now, rows, NULL);
        else
            for (k = 0; k < K; k++) now[k] = NAME(all)(job->FIELD(start)[k]);
        for (k = 0; k < K; k++) { now[k] *= row[k]; sum += now[k]; }
        if (NAME(faint)(group, t, now, K))
            bad |= NAME(lost_forward)(job, group, t, before, now, rows);
        const V power = NAME(power)(sum, &exponent);
        for (k = 0; k < K; k++) now[k] *= power;
        int ends = 0;
        for (int l = 0; l < LANES; l++) ends |= t == group->length[l] - 1;
        if (!ends) continue;
        sum = NAME(all)(0.0);
        for (k = 0; k < K; k++) sum += now[k] * job->FIELD(stop)[k];
        for (int l = 0; l < LANES; l++)
            if (t == group->length[l] - 1) {
                totals[group->sequence[l]] =
                    log(sum[l]) + shift[l] + ((double)exponent[l] - BIAS * (t + 1)) * LN2;
                if (sum[l] < FAINT)
                    for (k = 0; k < K; k++)
                        if (now[k][l] > 0 && job->FIELD(stop)[k] > 0) bad[l] = ~(UINT)0;
            }
    }
    return bad;
}

/* The probability of every state, into `states[N, K]`. Leaves in `a` and `w[K, T]` what the expected
   steps are made of: from token t - 1 to t they are a[t - 1, from] * step[from, to] * w[to, t].
   Returns the sequences that must be done again. */
INLINE M NAME(backward)(const Job *job, const Group *group, V *a, V *e, V *rows, V *w,
                        const double *totals, void *states) {
    const int K = job->K;
    M bad = (M)NAME(all)(0.0), exponent = bad;
    V *b = rows, *spare = rows + K;
    for (int k = 0; k < K; k++) b[k] = NAME(all)(0.0);
    for (int64_t t = group->T - 1; t >= 0; t--) {
        V *now = a + t * K, *row = e + t * K;
        NAME(end)(job, group, t, job->FIELD(stop), b);
        V product = NAME(all)(0.0), sum = product;
        for (int k = 0; k < K; k++) { product += now[k] * b[k]; sum += b[k]; }
        for (int l = 0; l < group->n; l++)
            if (t < group->length[l] && product[l] < FAINT && totals[group->sequence[l]] > -INFINITY)
                bad[l] = ~(UINT)0;
        const V inverse = (V)((M)((REAL)1.0 / product) & (M)(product > 0));
        const V power = NAME(power)(sum, &exponent);
        for (int k = 0; k < K; k++) {
            now[k] *= inverse;
            spare[k] = now[k] * b[k];
            b[k] *= power;
            w[k * group->T + t] = row[k] *= b[k];
        }
        NAME(store)(job, group, t, spare, states);
        if (!t) break;
        if (NAME(faint)(group, t, row, K))
            for (int k = 0; k < K; k++)
                bad |= (M)(row[k] < FAINT) & (M)(b[k] > 0) & (M)(now[k] > 0);
        NAME(push)(job, group, t, SUMS, job->back, row, b, spare, NULL);
        if (NAME(faint)(group, t, b, K)) {
            NAME(reach)(job, group, t, job->back, row, spare, spare + K);
            for (int k = 0; k < K; k++)
                bad |= (M)(b[k] < FAINT) & (M)(spare[k] > 0) & (M)(now[k - K] > 0);
        }
    }
    return bad;
}

/* Count the steps of one variant: adds up a[t - 1, from] * w[t, to] over all tokens. `w[K, T]` has
   zeros for sequences that take another variant; `x[T, 8]` is scratch. */
APART void NAME(count)(const Blocks *b, const V *a, const V *w, V *x, int64_t T, int K,
                        double *sums) {
    double *loose = sums + b->value_at[b->blocks];
    for (int g = 0; g < b->blocks; g++) {
        const int width = b->target_at[g + 1] - b->target_at[g];
        const int n = b->source_at[g + 1] - b->source_at[g];
        const int32_t *source = b->sources + b->source_at[g], *target = b->targets + b->target_at[g];
        double *to = sums + b->value_at[g];
        for (int i = 0; i < n; i += TILE, to += TILE * width) {
            const int some = n - i < TILE ? n - i : TILE;
            for (int64_t t = 1; t < T; t++)
                for (int u = 0; u < TILE; u++)
                    x[TILE * t + u] = a[(t - 1) * K + source[u < some ? i + u : i]];
            for (int j = 0; j < width; j += 2) {
                const V *p = w + target[j] * T, *q = w + target[j + 1 < width ? j + 1 : j] * T;
                const V *y = x + TILE;
                V s[TILE], z[TILE];
                for (int u = 0; u < TILE; u++) s[u] = z[u] = NAME(all)(0.0);
                for (int64_t t = 1; t < T; t++, y += TILE)
                    for (int u = 0; u < TILE; u++) {
                        s[u] += y[u] * p[t];
                        z[u] += y[u] * q[t];
                    }
                for (int u = 0; u < some; u++) {
                    to[u * width + j] += NAME(added)(s[u]);
                    if (j + 1 < width) to[u * width + j + 1] += NAME(added)(z[u]);
                }
            }
        }
    }
    for (int j = 0; j < b->loose; j++)
        for (int k = b->loose_at[j]; k < b->loose_at[j + 1]; k++) {
            V s = NAME(all)(0.0);
            const V *p = w + b->loose_target[j] * T;
            for (int64_t t = 1; t < T; t++) s += a[(t - 1) * K + b->loose_source[k]] * p[t];
            loose[k] += NAME(added)(s);
        }
}

/* Sums over the paths of a group: totals, and if asked for, states and steps. */
static TARGET void NAME(sums)(const Job *job, const Group *group, const Work *work, double *totals,
                              uint8_t *again, void *states, const Counts *counts) {
    const int K = job->K;
    const int64_t T = group->T;
    V *a = (V *)work->a, *e = (V *)work->b, *rows = (V *)work->rows, *w = (V *)work->c;
    M bad = NAME(forward)(job, group, a, e, rows, states != NULL, totals);
    if (states) bad |= NAME(backward)(job, group, a, e, rows, w, totals, states);
    for (int l = 0; l < group->n; l++) again[group->sequence[l]] = bad[l] != 0;
    if (!counts) return;
    if (NAME(any)(bad))
        for (int64_t k = 0; k < T * K; k++) { /* whatever they hold */
            a[k] = (V)((M)a[k] & ~bad);
            e[k] = (V)((M)e[k] & ~bad);
            w[k] = (V)((M)w[k] & ~bad);
        }
    for (int v = 0; v < job->variants; v++) {
        int64_t used = job->variants == 1;
        for (int64_t t = 1; t < T && !used; t++)
            for (int l = 0; l < group->n; l++)
                used |= t < group->length[l] && job->which[group->first[l] + t] == v;
        if (!used) continue;
        for (int64_t t = 1; t < T && job->variants > 1; t++) {
            M kept = (M)NAME(all)(0.0);
            for (int l = 0; l < group->n; l++)
                if (t < group->length[l] && job->which[group->first[l] + t] == v)
                    kept[l] = ~(UINT)0;
            for (int k = 0; k < K; k++) w[k * T + t] = (V)((M)e[t * K + k] & kept);
        }
        NAME(count)(job->into + v, a, w, (V *)work->x, T, K, counts->sums + v * counts->size);
    }
}

#if !SINGLE
/* out = exp(logs - top) for n numbers; returns top, and lowers *lowest to the smallest finite
   logs - top. */
static TARGET double NAME(scaled)(const double *logs, int64_t n, double *out, double *lowest) {
    const V none = NAME(all)(-INFINITY), zero = NAME(all)(0.0);
    const int64_t whole = n / LANES * LANES;
    const size_t rest = sizeof(double) * (n - whole);
    V tops = none, least = zero, last = none, v;
    double top = -INFINITY;
    memcpy(&last, logs + whole, rest);
    for (int64_t i = 0; i < whole; i += LANES) {
        memcpy(&v, logs + i, sizeof v);
        tops = MAX(tops, v);
    }
    tops = MAX(tops, last);
    for (int l = 0; l < LANES; l++) top = tops[l] > top ? tops[l] : top;
    if (top == -INFINITY) top = 0;
#define LOWER(x) \
    x -= top; \
    V finite = NAME(pick)((M)(x > -INFINITY), x, zero); \
    least = MIN(least, finite); \
    x = NAME(exp)(x);
    for (int64_t i = 0; i < whole; i += LANES) {
        memcpy(&v, logs + i, sizeof v);
        LOWER(v)
        memcpy(out + i, &v, sizeof v);
    }
    LOWER(last)
#undef LOWER
    memcpy(out + whole, &last, rest);
    for (int l = 0; l < LANES; l++) *lowest = least[l] < *lowest ? least[l] : *lowest;
    return top;
}

/* ---- the same in logarithms ---- */

/* What leads to every state, its own score included, `a[T, K]`, and what follows it, `b[T, K]`. */
static TARGET void NAME(logs)(const Job *job, const Group *group, const Work *work, double *totals,
                              int forward_only) {
    const int K = job->K;
    V *a = (V *)work->a, *b = (V *)work->b, *spare = (V *)work->rows, *row = spare + K;
    for (int64_t t = 0; t < group->T; t++) {
        V *now = a + t * K;
        if (t)
            NAME(push)(job, group, t, LOGS, job->into, now - K, now, spare, work->picked);
        else
            for (int k = 0; k < K; k++) now[k] = NAME(all)(job->start[k]);
        NAME(load)(job, group, t, row);
        for (int k = 0; k < K; k++) now[k] += row[k];
        for (int l = 0; l < group->n; l++) {
            if (t != group->length[l] - 1) continue;
            double top = -INFINITY, sum = 0;
            const double *mine = (const double *)now + l;
            for (int k = 0; k < K; k++) top = fmax(top, mine[k * LANES] + job->stop[k]);
            for (int k = 0; k < K && top > -INFINITY; k++)
                sum += exp(mine[k * LANES] + job->stop[k] - top);
            totals[group->sequence[l]] = top + log(sum);
        }
    }
    if (forward_only) return;
    for (int k = 0; k < K; k++) b[(group->T - 1) * K + k] = NAME(all)(-INFINITY);
    for (int64_t t = group->T - 1; t >= 0; t--) {
        V *now = b + t * K;
        NAME(end)(job, group, t, job->stop, now);
        if (!t) break;
        NAME(load)(job, group, t, row);
        for (int k = 0; k < K; k++) row[k] += now[k];
        NAME(push)(job, group, t, LOGS, job->back, row, now - K, spare, work->picked);
    }
}

/* Add exp(a[from] + step + x[to]) to `pairs[K, K]`; `top` is the largest x. */
INLINE void NAME(add_pairs)(const Blocks *b, const V *a, const V *x, V top, int K, double *pairs) {
    const V least = NAME(all)(-NOTHING);
    for (int g = 0; g < b->blocks; g++) {
        const int width = b->target_at[g + 1] - b->target_at[g];
        const double *row = b->values + b->value_at[g];
        for (int k = b->source_at[g]; k < b->source_at[g + 1]; k++, row += width) {
            const V from = a[b->sources[k]], most = from + top + b->high[k];
            if (!ANY_ABOVE(most, least)) continue;
            for (int j = 0; j < width; j++) {
                const int32_t to = b->targets[b->target_at[g] + j];
                pairs[b->sources[k] * K + to] += NAME(added)(NAME(exp)(from + row[j] + x[to]));
            }
        }
    }
    for (int j = 0; j < b->loose; j++)
        for (int k = b->loose_at[j]; k < b->loose_at[j + 1]; k++) {
            const int32_t from = b->loose_source[k], to = b->loose_target[j];
            V way = a[from] + b->loose_value[k] + x[to];
            pairs[from * K + to] += NAME(added)(NAME(exp)(way));
        }
}

/* The probability of every state, and the expected steps added to `pairs[M, K, K]`, from `logs`. */
static TARGET void NAME(expect)(const Job *job, const Group *group, const Work *work, void *states,
                                double *pairs) {
    const int K = job->K;
    const V none = NAME(all)(-INFINITY);
    V *x = (V *)work->rows, *row = x + K;
    for (int64_t t = 0; t < group->T; t++) {
        const V *a = (V *)work->a + t * K, *b = (V *)work->b + t * K, *before = a - K;
        V top = none, sum = NAME(all)(0.0);
        for (int k = 0; k < K; k++) { row[k] = a[k] + b[k]; top = MAX(top, row[k]); }
        top = NAME(guard)(top);
        for (int k = 0; k < K; k++) { row[k] = NAME(exp)(row[k] - top); sum += row[k]; }
        for (int k = 0; k < K; k++) row[k] = (V)((M)(row[k] / sum) & (M)(sum > 0));
        NAME(store)(job, group, t, row, states);
        if (!t) continue;
        NAME(load)(job, group, t, row);
        sum = NAME(guard)(NAME(log)(sum)) + top;
        for (int k = 0; k < K; k++) row[k] += b[k] - sum;
        for (int v = 0; v < job->variants; v++) {
            M mine = (M)NAME(all)(0.0);
            for (int l = 0; l < group->n; l++)
                if (t < group->length[l] && v == (job->which ? job->which[group->first[l] + t] : 0))
                    mine[l] = ~(UINT)0;
            if (!NAME(any)(mine)) continue;
            top = none;
            for (int k = 0; k < K; k++) { x[k] = NAME(pick)(mine, row[k], none); top = MAX(top, x[k]); }
            NAME(add_pairs)(job->into + v, before, x, top, K, pairs + (int64_t)v * K * K);
        }
    }
}

/* ---- the best path ---- */

/* The best score from every state to the end, its own included, `a[T, K]`, and without, `b[T, K]`. */
static TARGET void NAME(ahead)(const Job *job, const Group *group, const Work *work) {
    const int K = job->K;
    V *a = (V *)work->a, *b = (V *)work->b, *spare = (V *)work->rows;
    for (int k = 0; k < K; k++) b[(group->T - 1) * K + k] = NAME(all)(-INFINITY);
    for (int64_t t = group->T - 1; t >= 0; t--) {
        V *now = a + t * K, *row = b + t * K;
        NAME(end)(job, group, t, job->stop, row);
        NAME(load)(job, group, t, now);
        for (int k = 0; k < K; k++) now[k] += row[k];
        if (t) NAME(push)(job, group, t, PEAKS, job->back, now, row - K, spare, work->picked);
    }
}
#endif

#undef V
#undef M
#undef F
#undef SCALE
#undef TILE
#undef ANY_ABOVE
#undef INLINE
#undef APART
#undef EIGHT
#undef FOUR
#undef MAX
#undef MIN
#undef REAL
#undef UINT
#undef FIELD
#undef MANTISSA
#undef EXPONENT
#undef TWICE
#undef BIAS
#undef MAGIC
#undef LOWEST
#undef FAINT
#undef LANES
#undef TARGET
#undef NAME
#undef SINGLE
