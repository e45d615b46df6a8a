/* Sweeps over the gaps of a sentence, for as many labels at once as a vector of doubles has lanes.

   `sums` are four arrays of R rows, from each state to each: outside to outside, outside to inside,
   inside to outside, inside to inside. The rows of a gap lie side by side, one for each label. Where
   labels do not fill whole vectors, the last vector of a sweep forward also holds rows of the next gap,
   and the first one of a sweep back rows of the gap before. Such a vector comes before all others, so
   that whatever it writes there is written again.

   Numbers are scaled at every gap by a power of two, which loses nothing: `field` is its exponent as a
   number in memory has it, 1023 for 1. `least` is the smallest that was met and is not 0, or 0 where a
   row is too deep for plain numbers. */

#include "_chain.h"

#ifdef BYTES
typedef float Halves __attribute__((vector_size(BYTES / 2)));
#define WIDE(x) __builtin_convertvector(x, Doubles)
#define NARROW(x) __builtin_convertvector(x, Halves)
static inline DoubleBits field(Doubles x) { return (DoubleBits)x >> 52; }
static inline Doubles inverse(DoubleBits x) { return (Doubles)((2046 - x) << 52); }
#else
typedef float Halves;
typedef uint64_t DoubleBits;
#define WIDE(x) ((double)(x))
#define NARROW(x) ((float)(x))
static inline uint64_t field(double x) {
    uint64_t bits;
    memcpy(&bits, &x, 8);
    return bits >> 52;
}
static inline double inverse(uint64_t x) {
    double found;
    x = (2046 - x) << 52;
    memcpy(&found, &x, 8);
    return found;
}
#endif

/* Whether anything in a vector is below a limit. */
#ifdef BYTES
#define ANY_BELOW(name, type, real) \
    static inline int any_##name##_below(type x, real limit) { \
        uint64_t found = 0; \
        const union { __typeof__(x < limit) marks; uint64_t part[BYTES / 8]; } all = {x < limit}; \
        EACH (int i = 0; i < BYTES / 8; i++) found |= all.part[i]; \
        return found != 0; \
    }
#else
#define ANY_BELOW(name, type, real) \
    static inline int any_##name##_below(type x, real limit) { return x < limit; }
#endif
ANY_BELOW(floats, Floats, float)
ANY_BELOW(doubles, Doubles, double)

static inline Doubles doubles_at(const double *x) {
    Doubles found;
    memcpy(&found, x, sizeof found);
    return found;
}
static inline Doubles floats_at(const float *x) {
    Halves found;
    memcpy(&found, x, sizeof found);
    return WIDE(found);
}
static inline void put_doubles(double *to, Doubles x) { memcpy(to, &x, sizeof x); }
static inline void put_floats(float *to, Doubles x) {
    const Halves found = NARROW(x);
    memcpy(to, &found, sizeof found);
}
static inline Doubles smaller(Doubles x, Doubles y) {
    return CHOOSE(Doubles, DoubleBits, x < y, x, y);
}
static inline Doubles least_of(Doubles least, Doubles x, Doubles y) {
    const Doubles one = all_doubles(1), few = doubles_where(x, 0, x, one);
    return smaller(least, smaller(few, doubles_where(y, 0, y, one)));
}

/* The first label of the last vector. */
#define LAST(labels) (((labels) - 1) / DOUBLES * DOUBLES)

#define SWEEPS(name, real) \
    /* What leads to the states before every gap, and for each label the logarithm of all sequences; \
       if asked for, also what follows the states behind every gap. The two do not depend on each \
       other, so that neither waits for the other. Only where rows are deep there is need for care: \
       from others, not much less leads to one state than to the other. */ \
    static inline void name##_sweep(int64_t gaps, int64_t labels, const real *sums, int64_t rows, \
                                    const real *top, const real *depth, double deepest, int both, \
                                    int careful, \
                                    double *outside, double *inside, double *outside_next, \
                                    double *inside_next, double *least, double *least_next, \
                                    double *totals) { \
        for (int64_t v = LAST(labels); v >= 0; v -= DOUBLES) { \
            const int64_t first = labels - DOUBLES - v; \
            const Doubles kept_o = doubles_at(outside_next + first); \
            const Doubles kept_i = doubles_at(inside_next + first); \
            Doubles o = all_doubles(1), i = all_doubles(0), low = o, logs = i; \
            Doubles next_o = o, next_i = i, next_low = o; \
            DoubleBits fields = field(i); \
            for (int64_t g = 0; g < gaps; g++) { \
                const int64_t at = g * labels + v, back = (gaps - 1 - g) * labels + first; \
                const real *s = sums + at, *r = sums + back; \
                const Doubles x = o * name##_at(s) + i * name##_at(s + 2 * rows); \
                const Doubles y = o * name##_at(s + rows) + i * name##_at(s + 3 * rows); \
                const DoubleBits power = field(x + y); \
                put_doubles(outside + at, o); \
                put_doubles(inside + at, i); \
                o = x * inverse(power); \
                i = y * inverse(power); \
                logs += name##_at(top + at); \
                fields += power; \
                if (careful) { \
                    low = least_of(low, o, i); \
                    low = doubles_where(name##_at(depth + at), deepest, all_doubles(0), low); \
                } \
                if (both) { \
                    const Doubles z = next_o * name##_at(r) + next_i * name##_at(r + rows); \
                    const Doubles w = next_o * name##_at(r + 2 * rows) + \
                                      next_i * name##_at(r + 3 * rows); \
                    const Doubles scale = inverse(field(z + w)); \
                    put_doubles(outside_next + back, next_o); \
                    put_doubles(inside_next + back, next_i); \
                    next_o = z * scale; \
                    next_i = w * scale; \
                    if (careful) next_low = least_of(next_low, next_o, next_i); \
                } \
            } \
            if (both) { /* what was written before the sentence is that of another */ \
                for (int64_t l = first; l < 0; l++) { \
                    outside_next[l] = ((const double *)&kept_o)[l - first]; \
                    inside_next[l] = ((const double *)&kept_i)[l - first]; \
                } \
            } \
            put_doubles(least + v, low); \
            put_doubles(least_next + first, next_low); \
            for (int l = 0; l < DOUBLES && v + l < labels; l++) { \
                const int64_t powers = ((const int64_t *)&fields)[l] - 1023 * gaps; \
                totals[v + l] = ((double *)&logs)[l] + 0.6931471805599453 * powers + \
                                log(((double *)&o)[l]); \
            } \
        } \
    } \
    static void name##_pass(int64_t gaps, int64_t labels, const real *sums, int64_t rows, \
                            const real *top, const real *depth, double deepest, int both, \
                            int careful, double *outside, double *inside, double *outside_next, \
                            double *inside_next, double *least, double *least_next, \
                            double *totals) { \
        if (both && careful) \
            name##_sweep(gaps, labels, sums, rows, top, depth, deepest, 1, 1, outside, \
                         inside, outside_next, inside_next, least, least_next, totals); \
        else if (both) \
            name##_sweep(gaps, labels, sums, rows, top, depth, deepest, 1, 0, outside, \
                         inside, outside_next, inside_next, least, least_next, totals); \
        else if (careful) \
            name##_sweep(gaps, labels, sums, rows, top, depth, deepest, 0, 1, outside, \
                         inside, outside_next, inside_next, least, least_next, totals); \
        else \
            name##_sweep(gaps, labels, sums, rows, top, depth, deepest, 0, 0, outside, \
                         inside, outside_next, inside_next, least, least_next, totals); \
    } \
    /* What the exponentials of all rows are multiplied with to be probabilities. */ \
    static void name##_weigh(int64_t number, const real *sums, int64_t rows, const double *outside, \
                             const double *inside, const double *outside_next, \
                             const double *inside_next, real *weights) { \
        const Doubles zero = all_doubles(0); \
        for (int64_t r = 0; r < number; r += DOUBLES) { \
            const real *s = sums + r; \
            const Doubles oo = name##_at(s), oi = name##_at(s + rows); \
            const Doubles io = name##_at(s + 2 * rows), ii = name##_at(s + 3 * rows); \
            const Doubles o = doubles_at(outside_next + r), i = doubles_at(inside_next + r); \
            const Doubles a = doubles_at(outside + r), b = doubles_at(inside + r); \
            const Doubles every = a * (oo * o + oi * i) + b * (io * o + ii * i); \
            const Doubles part = doubles_where(every, 0, 1 / every, zero); \
            const Doubles left = a * part, right = b * part; \
            put_##name(weights + r, doubles_where(oo, 0, left * o, zero)); \
            put_##name(weights + rows + r, doubles_where(oi, 0, left * i, zero)); \
            put_##name(weights + 2 * rows + r, doubles_where(io, 0, right * o, zero)); \
            put_##name(weights + 3 * rows + r, doubles_where(ii, 0, right * i, zero)); \
        } \
    } \
    /* The best from every gap on, and the separators to take there: that behind a token outside, and \
       8 times that behind one inside; `kind` is the best that leads from inside to inside. */ \
    static void name##_ahead(int64_t gaps, int64_t labels, const real *tops, int64_t rows, \
                             const real *kind, double *choice, double *peaks) { \
        const Doubles zero = all_doubles(0); \
        for (int64_t first = labels - DOUBLES - LAST(labels); first < labels; first += DOUBLES) { \
            Doubles o = zero, i = all_doubles(-INFINITY); \
            for (int64_t g = gaps - 1; g >= 0; g--) { \
                const int64_t at = g * labels + first; \
                const real *s = tops + at; \
                const Doubles out = name##_at(s) + o, start = name##_at(s + rows) + i; \
                const Doubles end = name##_at(s + 2 * rows) + o; \
                const Doubles on = name##_at(s + 3 * rows) + i; \
                const Doubles kinds = 8 * name##_at(kind + at); \
                put_doubles(choice + at, \
                            CHOOSE(Doubles, DoubleBits, start > out, all_doubles(1), zero) + \
                            CHOOSE(Doubles, DoubleBits, on > end, kinds, all_doubles(16))); \
                o = larger_doubles(start, out); \
                i = larger_doubles(on, end); \
            } \
            for (int l = 0; l < DOUBLES; l++) \
                if (first + l >= 0) peaks[first + l] = ((double *)&o)[l]; \
        } \
    }

SWEEPS(floats, float)
SWEEPS(doubles, double)

/* Rows of eight numbers, as many as a vector has lanes, as eight vectors: one for each column; and back.
   Squares of rows and columns are turned within vectors, by swapping halves of ever larger blocks. */
#if defined(__GNUC__) && !defined(__clang__)
#define ROWS(name, real, type, bits, lanes) \
    enum {name##_side = lanes < 8 ? lanes : 8}; \
    static inline void turn_##name##_rows(type *x) { \
        bits places; \
        EACH (int l = 0; l < lanes; l++) places[l] = l; \
        EACH (int d = 1; d < name##_side; d *= 2) { \
            const bits low = places + (places & d) * (lanes / d - 1), high = low + d; \
            EACH (int i = 0; i < 8; i++) \
                if (!(i & d)) { \
                    const type one = x[i], other = x[i + d]; \
                    x[i] = __builtin_shuffle(one, other, low); \
                    x[i + d] = __builtin_shuffle(one, other, high); \
                } \
        } \
    } \
    static inline void load_##name(const real *rows, type *x) { \
        const int side = name##_side; \
        EACH (int i = 0; i < 8; i++) \
            EACH (int r = i % side; r < lanes; r += side) \
                memcpy((real *)(x + i) + r / side * side, rows + r * 8 + i / side * side, \
                       side * sizeof(real)); \
        turn_##name##_rows(x); \
    } \
    static inline void store_##name(type *x, real *rows) { \
        const int side = name##_side; \
        turn_##name##_rows(x); \
        EACH (int i = 0; i < 8; i++) \
            EACH (int r = i % side; r < lanes; r += side) \
                memcpy(rows + r * 8 + i / side * side, (real *)(x + i) + r / side * side, \
                       side * sizeof(real)); \
    }
#else
#define ROWS(name, real, type, bits, lanes) \
    static inline void load_##name(const real *rows, type *x) { \
        for (int i = 0; i < 8 * lanes; i++) ((real *)(x + i % 8))[i / 8] = rows[i]; \
    } \
    static inline void store_##name(const type *x, real *rows) { \
        for (int i = 0; i < 8 * lanes; i++) rows[i] = ((const real *)(x + i % 8))[i / 8]; \
    }
#endif
ROWS(floats, float, Floats, FloatBits, FLOATS)
ROWS(doubles, double, Doubles, DoubleBits, DOUBLES)
