/* Vectors that hold one number for each of several sequences, as wide as the compiler may make them.
   What is written for numbers then works on all of them at once. Other compilers: one sequence. */

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && defined(__AVX512DQ__)
#define BYTES 64
#elif defined(__GNUC__) && defined(__AVX2__)
#define BYTES 32
#elif defined(__GNUC__)
#define BYTES 16
#endif

#ifdef BYTES
#define FLOATS (BYTES / 4)
#define DOUBLES (BYTES / 8)
typedef float Floats __attribute__((vector_size(BYTES)));
typedef double Doubles __attribute__((vector_size(BYTES)));
typedef uint32_t FloatBits __attribute__((vector_size(BYTES)));
typedef uint64_t DoubleBits __attribute__((vector_size(BYTES)));
#define CHOOSE(type, bits, marks, x, y) \
    ((type)(((bits)(x) & (bits)(marks)) | ((bits)(y) & ~(bits)(marks))))
#define SHIFTED(type, bits, x, power, places) ((type)((bits)(x) + ((bits)(power) << places)))
#else
#define FLOATS 1
#define DOUBLES 1
typedef float Floats;
typedef double Doubles;
#define CHOOSE(type, bits, marks, x, y) ((marks) ? (x) : (y))
static float shifted(float x, float power) { return ldexpf(x, (int)(power - 12582912.0f)); }
static double shifted_wide(double x, double power) {
    return ldexp(x, (int)(power - 6755399441055744.0));
}
#define SHIFTED(type, bits, x, power, places) \
    (places == 23 ? (type)shifted((float)x, (float)power) : (type)shifted_wide(x, power))
#endif

/* `nearer`: the larger of numbers that are not above 0. As integers, since an addition and a maximum of
   floats wait for each other. */
#if defined(__GNUC__) && defined(__AVX512DQ__)
#include <immintrin.h>
#define larger_floats(x, y) ((Floats)_mm512_max_ps((__m512)(x), (__m512)(y)))
#define nearer_floats(x, y) ((Floats)_mm512_min_epu32((__m512i)(x), (__m512i)(y)))
#define larger_doubles(x, y) ((Doubles)_mm512_max_pd((__m512d)(x), (__m512d)(y)))
#elif defined(__GNUC__) && defined(__AVX2__)
#include <immintrin.h>
#define larger_floats(x, y) ((Floats)_mm256_max_ps((__m256)(x), (__m256)(y)))
#define nearer_floats(x, y) ((Floats)_mm256_min_epu32((__m256i)(x), (__m256i)(y)))
#define larger_doubles(x, y) ((Doubles)_mm256_max_pd((__m256d)(x), (__m256d)(y)))
#else
#define nearer_floats larger_floats
static inline Floats larger_floats(Floats x, Floats y) {
    return CHOOSE(Floats, FloatBits, x > y, x, y);
}
static inline Doubles larger_doubles(Doubles x, Doubles y) {
    return CHOOSE(Doubles, DoubleBits, x > y, x, y);
}
#endif

static inline Floats all_floats(float x) { return x - (Floats){0}; }
static inline Doubles all_doubles(double x) { return x - (Doubles){0}; }

/* `x` where `y > limit`, else `other`. */
static inline Floats floats_where(Floats y, float limit, Floats x, Floats other) {
    return CHOOSE(Floats, FloatBits, y > limit, x, other);
}
static inline Doubles doubles_where(Doubles y, double limit, Doubles x, Doubles other) {
    return CHOOSE(Doubles, DoubleBits, y > limit, x, other);
}

/* exp(x) for -87 <= x <= 0, or -700 <= x <= 0, to a relative 1e-7 or 2e-15. Adding `magic` rounds to a
   whole number, in the last bits: 2 to that power times exp of the rest, at most log(2) / 2. */
static inline Floats exp_near_floats(Floats x) {
    const Floats magic = all_floats(12582912.0f);
    const Floats power = x * 1.44269504f + magic, k = power - magic;
    const Floats r = (x - k * 0.693359375f) + k * 2.12194440e-4f, r2 = r * r;
    const Floats p = ((r2 * 0.00139261761f + (r * 0.00836317307f + 0.0416665547f)) * r2 +
                      (r * 0.16666577f + 0.5f)) * r2 + (r + 1.0f);
    return SHIFTED(Floats, FloatBits, p, power, 23);
}
static inline Doubles exp_near_doubles(Doubles x) {
    const Doubles magic = all_doubles(6755399441055744.0);
    const Doubles power = x * 1.4426950408889634 + magic, k = power - magic;
    const Doubles r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
    const Doubles r2 = r * r, r4 = r2 * r2;
    const Doubles low = (r * 0.16666666666648303 + 0.5) * r2 + (r + 1.0);
    const Doubles middle = (r * 0.0001984120875699232 + 0.0013888888905871347) * r2 +
                           (r * 0.008333333353717156 + 0.041666666666651364);
    const Doubles high =
        r2 * 2.761379555451986e-07 + (r * 2.7625102005388108e-06 + 2.4801536409064087e-05);
    const Doubles p = (high * r4 + middle) * r4 + low;
    return SHIFTED(Doubles, DoubleBits, p, power, 52);
}

/* The same for every x <= 0: 0 for minus infinity only, since all that is below the lowest is that. */
static inline Floats exp_floats(Floats x) {
    const Floats near = exp_near_floats(larger_floats(x, all_floats(-87.0f)));
    return floats_where(x, -INFINITY, near, all_floats(0));
}
static inline Doubles exp_doubles(Doubles x) {
    const Doubles near = exp_near_doubles(larger_doubles(x, all_doubles(-700.0)));
    return doubles_where(x, -INFINITY, near, all_doubles(0));
}

/* Turn as many rows as a vector has lanes into columns: swap halves of blocks, ever larger ones. */
#if defined(__GNUC__) && !defined(__clang__)
#define EACH _Pragma("GCC unroll 16") for
#define TURN(name, type, bits, lanes) \
    static inline void name(type *x) { \
        bits places; \
        EACH (int l = 0; l < lanes; l++) places[l] = l; \
        EACH (int d = 1; d < lanes; d *= 2) { \
            const bits low = places + (places & d) * (lanes / d - 1), high = low + d; \
            EACH (int i = 0; i < lanes; i++) \
                if (!(i & d)) { \
                    const type one = x[i], other = x[i + d]; \
                    x[i] = __builtin_shuffle(one, other, low); \
                    x[i + d] = __builtin_shuffle(one, other, high); \
                } \
        } \
    }
#else
#define EACH for
#define TURN(name, type, bits, lanes) \
    static inline void name(type *x) { \
        for (int i = 1; i < lanes; i++) \
            for (int j = 0; j < i; j++) { \
                const double one = ((LANE(type) *)(x + i))[j]; \
                ((LANE(type) *)(x + i))[j] = ((LANE(type) *)(x + j))[i]; \
                ((LANE(type) *)(x + j))[i] = (LANE(type))one; \
            } \
    }
#define LANE(type) LANE_##type
typedef float LANE_Floats;
typedef double LANE_Doubles;
#endif
TURN(turn_floats, Floats, FloatBits, FLOATS)
TURN(turn_doubles, Doubles, DoubleBits, DOUBLES)

/* The sum of all lanes, by halves. */
#define ADDED(name, real, type, lanes) \
    static inline real name(type x) { \
        real part[lanes]; \
        memcpy(part, &x, sizeof x); \
        EACH (int n = lanes / 2; n; n /= 2) \
            EACH (int l = 0; l < n; l++) part[l] += part[l + n]; \
        return part[0]; \
    }
ADDED(added_floats, float, Floats, FLOATS)
ADDED(added_doubles, double, Doubles, DOUBLES)

/* Which of the builds of the kernels this processor can run: 1, and those for x86-64-v3 and v4. */
static int chain_level(void) {
#if defined(__GNUC__) && defined(__x86_64__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 1;
    if (!__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl") ||
        !__builtin_cpu_supports("avx512bw")) return 3;
    return 4;
#else
    return 1;
#endif
}
