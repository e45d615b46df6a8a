/* The loops of `_chain.pyx`: step matrices taken apart, and the recursions over them.

   Sums over paths run on plain numbers, scaled at every token by a power of two. Where so little of a
   state that can be reached is left that part of it may be lost (FAINT), the sequence is done again
   with wider numbers: float, double, and at last logarithms, which hold everything. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FAINT_D 1e-290 /* far from the smallest double: below it, sums may be inexact */
#define FAINT_F 1e-28f
#define STEEP_D (-600.0) /* nats: exp(steps) are far above that, or there is no use in trying */
#define STEEP_F (-60.0)
#define NOTHING 45.0     /* nats: what is so far below the best adds nothing to a sum */
#define LN2 0.6931471805599453
#define SMALLEST 4       /* states that a block has at least */
#define WIDEST 16        /* sequences at once, at most */

/* 1 + r + ... is exp(r) for |r| <= log(2) / 2, to a relative 1.2e-15 */
#define EXP_0 1.0
#define EXP_1 1.0
#define EXP_2 0.5
#define EXP_3 0.16666666666648303
#define EXP_4 0.041666666666651364
#define EXP_5 0.008333333353717156
#define EXP_6 0.0013888888905871347
#define EXP_7 0.0001984120875699232
#define EXP_8 2.4801536409064087e-05
#define EXP_9 2.7625102005388108e-06
#define EXP_10 2.761379555451986e-07

/* for float, to a relative 1e-8 */
#define EXPF_0 1.0f
#define EXPF_1 1.0f
#define EXPF_2 0.5f
#define EXPF_3 0.16666577f
#define EXPF_4 0.0416665547f
#define EXPF_5 0.00836317307f
#define EXPF_6 0.00139261761f

#define UNROLL _Pragma("GCC unroll 16")
#define LIST(...) __VA_ARGS__
#ifdef __clang__
#define SHUFFLE(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define SHUFFLE(x, y, ...) __builtin_shuffle(x, y, (M){__VA_ARGS__})
#endif

enum How { SUMS, PEAKS, LOGS };

/* One step matrix, by what it leads to. The states that can be reached from the same states form a
   block, with a row of `values` for each source; for IOBES tags that is one block from {E*, S*, O}
   to {B*, S*, O}. The other targets are loose, each with its own sources. */
typedef struct {
    int blocks, loose;
    int32_t *sources, *targets;       /* of all blocks */
    int32_t *source_at, *target_at;   /* [blocks + 1], where those of each block begin */
    int32_t *value_at;                /* [blocks + 1] */
    double *values, *low, *high;      /* low, high: of each source in its block */
    float *values_f, *loose_value_f;  /* in single precision, where it is used */
    int32_t *loose_target, *loose_at; /* [loose], [loose + 1] */
    int32_t *loose_source;
    double *loose_value;
    int32_t *block_of, *place_of;     /* [K]: the block of a target or -1, its place there */
} Blocks;

/* What all sequences have in common. `start` and `stop` are logarithms, or probabilities less
   `edges` and scaled, as the steps are by `tops`. */
typedef struct {
    int K, single, variants;
    const void *scores;
    const double *start, *stop, *tops;
    const float *start_f, *stop_f;
    double edges;
    const Blocks *into, *back; /* [variants], by where steps lead, and by where they come from */
    const int32_t *which;
} Job;

/* The sequences that are done at once; `length` is 0 beyond `n`. */
typedef struct {
    int n;
    int64_t T, sequence[WIDEST], first[WIDEST], length[WIDEST];
} Group;

/* Scratch memory, in vectors: a, b, c [T, K], x [T, 8], rows [4, K]. */
typedef struct {
    double *a, *b, *c, *x, *rows;
    int32_t *picked; /* [K] */
} Work;

/* How often every step is expected, in the order of the values of Blocks. */
typedef struct {
    double *sums; /* [variants, size]: first those of blocks, then the loose ones */
    int64_t size;
} Counts;

typedef void Sums(const Job *, const Group *, const Work *, double *, uint8_t *, void *,
                  const Counts *);

/* The loops for one kind of processor. In single precision it has twice as many lanes. */
typedef struct {
    int lanes;
    Sums *sums, *sums_f;
    void (*logs)(const Job *, const Group *, const Work *, double *, int);
    void (*expect)(const Job *, const Group *, const Work *, void *, double *);
    void (*ahead)(const Job *, const Group *, const Work *);
    double (*scaled)(const double *, int64_t, double *, double *);
} Kind;

#if defined(__x86_64__) && defined(__GNUC__) && !defined(CHAIN_PLAIN)
#include <immintrin.h>

#define LANES 2
#define SINGLE 0
#define TARGET
#define NAME(x) chain_##x##_2
#define TILE 4
#define MAX(x, y) (V) _mm_max_pd((__m128d)(x), (__m128d)(y))
#define MIN(x, y) (V) _mm_min_pd((__m128d)(x), (__m128d)(y))
#define ANY_ABOVE(x, y) (_mm_movemask_pd(_mm_cmpge_pd((__m128d)(x), (__m128d)(y))) != 0)
#include "_chain_lanes.h"

#define LANES 4
#define SINGLE 1
#define TARGET
#define NAME(x) chain_##x##_4f
#define TILE 4
#define MAX(x, y) (V) _mm_max_ps((__m128)(x), (__m128)(y))
#define MIN(x, y) (V) _mm_min_ps((__m128)(x), (__m128)(y))
#define ANY_ABOVE(x, y) (_mm_movemask_ps(_mm_cmpge_ps((__m128)(x), (__m128)(y))) != 0)
#include "_chain_lanes.h"

#define LANES 4
#define SINGLE 0
#define TARGET __attribute__((target("avx2,fma")))
#define NAME(x) chain_##x##_4
#define TILE 4
#define MAX(x, y) (V) _mm256_max_pd((__m256d)(x), (__m256d)(y))
#define MIN(x, y) (V) _mm256_min_pd((__m256d)(x), (__m256d)(y))
#define ANY_ABOVE(x, y) \
    (_mm256_movemask_pd(_mm256_cmp_pd((__m256d)(x), (__m256d)(y), _CMP_GE_OQ)) != 0)
#include "_chain_lanes.h"

#define LANES 8
#define SINGLE 1
#define TARGET __attribute__((target("avx2,fma")))
#define NAME(x) chain_##x##_8f
#define TILE 4
#define MAX(x, y) (V) _mm256_max_ps((__m256)(x), (__m256)(y))
#define MIN(x, y) (V) _mm256_min_ps((__m256)(x), (__m256)(y))
#define ANY_ABOVE(x, y) \
    (_mm256_movemask_ps(_mm256_cmp_ps((__m256)(x), (__m256)(y), _CMP_GE_OQ)) != 0)
#include "_chain_lanes.h"

#define LANES 8
#define SINGLE 0
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma")))
#define NAME(x) chain_##x##_8
#define TILE 8
#define MAX(x, y) (V) _mm512_max_pd((__m512d)(x), (__m512d)(y))
#define MIN(x, y) (V) _mm512_min_pd((__m512d)(x), (__m512d)(y))
#define ANY_ABOVE(x, y) (_mm512_cmp_pd_mask((__m512d)(x), (__m512d)(y), _CMP_GE_OQ) != 0)
#define SCALE(p, k) (V) _mm512_scalef_pd((__m512d)(p), (__m512d)(k))
#include "_chain_lanes.h"

#define LANES 16
#define SINGLE 1
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma")))
#define NAME(x) chain_##x##_16f
#define TILE 8
#define MAX(x, y) (V) _mm512_max_ps((__m512)(x), (__m512)(y))
#define MIN(x, y) (V) _mm512_min_ps((__m512)(x), (__m512)(y))
#define ANY_ABOVE(x, y) (_mm512_cmp_ps_mask((__m512)(x), (__m512)(y), _CMP_GE_OQ) != 0)
#define SCALE(p, k) (V) _mm512_scalef_ps((__m512)(p), (__m512)(k))
#include "_chain_lanes.h"

#define KIND(n, m) \
    {n,               chain_sums_##n,  chain_sums_##m##f,     chain_logs_##n, \
     chain_expect_##n, chain_ahead_##n, chain_scaled_##n}
static const Kind chain_kinds[] = {KIND(2, 4), KIND(4, 8), KIND(8, 16)};

/* How many kinds this processor can do. */
static int chain_kinds_here(void) {
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 1;
    return __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") ? 3 : 2;
}
#else
#define LANES 2
#define SINGLE 0
#define TARGET
#define NAME(x) chain_##x##_2
#define TILE 4
#include "_chain_lanes.h"

#define LANES 4
#define SINGLE 1
#define TARGET
#define NAME(x) chain_##x##_4f
#define TILE 4
#include "_chain_lanes.h"

static const Kind chain_kinds[] = {
    {2, chain_sums_2, chain_sums_4f, chain_logs_2, chain_expect_2, chain_ahead_2,
     chain_scaled_2}};
static int chain_kinds_here(void) { return 1; }
#endif

/* ---- before the loops ---- */

/* Memory that is handed out piece by piece, on whole cache lines. */
static void *chain_piece(char **memory, int64_t bytes) {
    char *piece = (char *)(((uintptr_t)*memory + 63) / 64 * 64);
    *memory = piece + bytes;
    return piece;
}

/* How many bytes `chain_divide` takes for a matrix with so many legal steps. */
static int64_t chain_room(int64_t K, int64_t legal) {
    const int64_t sources = K * (K / SMALLEST);
    const int64_t bytes = 36 * (K + 1) + 20 * sources + 16 * legal + 8 * K * ((K + 63) / 64);
    return (bytes / 64 + 16) * 64;
}

/* How many of the logarithms are legal. */
static int64_t chain_legal(const double *logs, int64_t n) {
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++) found += logs[i] > -INFINITY;
    return found;
}

static void chain_transpose(const double *x, int K, double *out) {
    int i = 0;
    for (; i + 8 <= K; i += 8)
        for (int j = 0; j < K; j++)
            for (int u = i; u < i + 8; u++) out[(int64_t)j * K + u] = x[(int64_t)u * K + j];
    for (; i < K; i++)
        for (int j = 0; j < K; j++) out[(int64_t)j * K + i] = x[(int64_t)i * K + j];
}

/* Take a matrix `steps[source, target]` apart, of which `turned` is `[target, source]`; `none` is
   what is illegal, and less than all that is legal. */
static void chain_divide(Blocks *b, const double *steps, const double *turned, int K, double none,
                         int64_t legal, char *memory) {
    const int words = (K + 63) / 64;
    const int64_t many = (int64_t)K * (K / SMALLEST);
    int sources = 0, targets = 0, values = 0, loose = 0;
    int32_t *small = chain_piece(&memory, 4 * 9 * (K + 1));
    uint64_t *sets = chain_piece(&memory, 8 * (int64_t)K * words); /* the sources of each target */
    b->targets = small, b->source_at = small + (K + 1), b->target_at = small + 2 * (K + 1);
    b->value_at = small + 3 * (K + 1), b->loose_target = small + 4 * (K + 1);
    b->loose_at = small + 5 * (K + 1), b->block_of = small + 6 * (K + 1);
    b->place_of = small + 7 * (K + 1);
    int32_t *done = small + 8 * (K + 1);
    b->sources = chain_piece(&memory, 4 * many);
    b->low = chain_piece(&memory, 8 * many);
    b->high = chain_piece(&memory, 8 * many);
    b->values = chain_piece(&memory, 8 * legal);
    b->values_f = chain_piece(&memory, 4 * legal);
    b->loose_source = chain_piece(&memory, 4 * legal);
    memset(done, 0, 4 * (size_t)K);
    for (int j = 0; j < K; j++)
        for (int word = 0; word < words; word++) {
            const double *leg = turned + (int64_t)j * K + 64 * word;
            const int n = K - 64 * word < 64 ? K - 64 * word : 64;
            uint64_t set = 0;
            for (int i = 0; i < n; i++) set |= (uint64_t)(leg[i] > none) << i;
            sets[j * words + word] = set;
        }
    b->blocks = b->loose = 0;
    b->source_at[0] = b->target_at[0] = b->value_at[0] = b->loose_at[0] = 0;
    for (int j = 0; j < K; j++) { /* the blocks */
        const uint64_t *set = sets + j * words;
        int32_t *block = b->targets + targets;
        int width = 0;
        for (int other = j; other < K && !done[j]; other++)
            if (set[0] == sets[other * words] && !memcmp(set, sets + other * words, 8 * words))
                block[width++] = other;
        if (width < SMALLEST) continue;
        for (int n = 0; n < width; n++) {
            done[block[n]] = 1;
            b->block_of[block[n]] = b->blocks;
            b->place_of[block[n]] = n;
        }
        for (int i = 0; i < K; i++) {
            if (!(set[i / 64] >> i % 64 & 1)) continue;
            double *row = b->values + values, low = INFINITY, high = -INFINITY;
            for (int n = 0; n < width; n++) {
                row[n] = steps[(int64_t)i * K + block[n]];
                low = row[n] < low ? row[n] : low;
                high = row[n] > high ? row[n] : high;
            }
            b->low[sources] = low;
            b->high[sources] = high;
            b->sources[sources++] = i;
            values += width;
        }
        targets += width;
        b->blocks++;
        b->source_at[b->blocks] = sources;
        b->target_at[b->blocks] = targets;
        b->value_at[b->blocks] = values;
    }
    b->loose_value = b->values + values;
    b->loose_value_f = b->values_f + values;
    for (int j = 0; j < K; j++) { /* the rest */
        if (done[j]) continue;
        const double *leg = turned + (int64_t)j * K;
        b->block_of[j] = -1;
        b->place_of[j] = b->loose;
        b->loose_target[b->loose] = j;
        for (int i = 0; i < K; i++)
            if (leg[i] > none) {
                b->loose_source[loose] = i;
                b->loose_value[loose++] = leg[i];
            }
        b->loose_at[++b->loose] = loose;
    }
    for (int i = 0; i < values + loose; i++) b->values_f[i] = (float)b->values[i];
}

typedef struct {
    int64_t length, sequence;
} Item;

static int chain_longer(const void *x, const void *y) {
    const Item *one = x, *other = y;
    if (one->length != other->length) return one->length > other->length ? -1 : 1;
    return one->sequence < other->sequence ? -1 : 1;
}

/* The sequences that are not empty, of those marked in `chosen` if given, the longest first. */
static int64_t chain_order(const int64_t *offsets, int64_t S, const uint8_t *chosen, Item *items) {
    int64_t n = 0;
    for (int64_t s = 0; s < S; s++)
        if (offsets[s + 1] > offsets[s] && (!chosen || chosen[s])) {
            items[n].length = offsets[s + 1] - offsets[s];
            items[n++].sequence = s;
        }
    qsort(items, n, sizeof(Item), chain_longer);
    return n;
}

/* Put counts where they belong in `pairs[K, K]`, times the steps. */
static void chain_spread(const Blocks *b, int K, const double *sums, double *pairs) {
    const double *loose = sums + b->value_at[b->blocks];
    for (int g = 0; g < b->blocks; g++) {
        int at = b->value_at[g];
        for (int k = b->source_at[g]; k < b->source_at[g + 1]; k++)
            for (int j = b->target_at[g]; j < b->target_at[g + 1]; j++, at++)
                pairs[b->sources[k] * K + b->targets[j]] = sums[at] * b->values[at];
    }
    for (int j = 0; j < b->loose; j++)
        for (int k = b->loose_at[j]; k < b->loose_at[j + 1]; k++)
            pairs[b->loose_source[k] * K + b->loose_target[j]] = loose[k] * b->loose_value[k];
}

/* ---- paths ---- */

/* A sequence that has been looked ahead: the best score from token t and state k to the end is
   ahead[(t * K + k) * lanes] with its own score, and after[...] without. */
typedef struct {
    const Job *job;
    const double *ahead, *after;
    int lanes;
    int64_t first, T;
} Trail;

static double chain_score(const Trail *trail, int64_t t, int state) {
    const int64_t at = (trail->first + t) * trail->job->K + state;
    return trail->job->single ? ((const float *)trail->job->scores)[at]
                              : ((const double *)trail->job->scores)[at];
}

/* The n-th way on from a state to token t: to `*target` with the score of the step. */
typedef struct {
    int n;
    const int32_t *targets;
    const double *values;
    int stride;
} Ways;

static Ways chain_ways(const Trail *trail, int64_t t, int state) {
    const Job *job = trail->job;
    const Blocks *b = job->back + (job->which ? job->which[trail->first + t] : 0);
    const int g = b->block_of[state], place = b->place_of[state];
    Ways ways;
    if (g < 0) {
        ways.n = b->loose_at[place + 1] - b->loose_at[place];
        ways.targets = b->loose_source + b->loose_at[place];
        ways.values = b->loose_value + b->loose_at[place];
        ways.stride = 1;
    } else {
        ways.n = b->source_at[g + 1] - b->source_at[g];
        ways.targets = b->sources + b->source_at[g];
        ways.values = b->values + b->value_at[g] + place;
        ways.stride = b->target_at[g + 1] - b->target_at[g];
    }
    return ways;
}

/* The best way on from a state to token t: the first that keeps the promise made for the state. */
static int chain_best_way(const Trail *trail, int64_t t, int state) {
    const Ways ways = chain_ways(trail, t, state);
    const int64_t row = (int64_t)trail->job->K * trail->lanes;
    const double *ahead = trail->ahead + t * row;
    const double best = trail->after[(t - 1) * row + (int64_t)state * trail->lanes];
    double top = -INFINITY;
    int found = -1;
    for (int k = 0; k < ways.n; k++) {
        const double way =
            ways.values[(int64_t)k * ways.stride] + ahead[(int64_t)ways.targets[k] * trail->lanes];
        if (way == best) return ways.targets[k];
        if (way > top) top = way, found = ways.targets[k]; /* should another rounding be in use */
    }
    return found;
}

/* The state with which the best path begins, or -1; its score. */
static int chain_first_state(const Trail *trail, double *score) {
    int found = -1;
    *score = -INFINITY;
    for (int k = 0; k < trail->job->K; k++) {
        const double way = trail->job->start[k] + trail->ahead[(int64_t)k * trail->lanes];
        if (way > *score) {
            *score = way;
            found = k;
        }
    }
    return found;
}

/* The best paths of a group that has been looked ahead, into `paths[N]`, and their scores. All go
   on together, since what they need next lies together. */
static void chain_follow(const Job *job, const Group *group, const Work *work, int lanes,
                         int32_t *paths, double *scores) {
    for (int64_t t = 0; t < group->T; t++)
        for (int l = 0; l < group->n; l++) {
            const Trail trail = {job, work->a + l, work->b + l, lanes, group->first[l], 0};
            int32_t *path = paths + group->first[l] + t;
            if (t == 0)
                path[0] = chain_first_state(&trail, scores + group->sequence[l]);
            else if (t < group->length[l])
                path[0] = path[-1] < 0 ? -1 : chain_best_way(&trail, t, path[-1]);
        }
}

/* A path to come: it is like path `parent` up to token `place`, where it goes to `state`. */
typedef struct {
    double score;
    int64_t place;
    int32_t parent, state;
} Branch;

/* The best of them, best first; `room` is how many more are wanted. */
typedef struct {
    Branch *branches;
    int size, room;
} Pool;

/* Keep a branch if it is among the best; of equals, the one that came first goes first. */
static void chain_offer(Pool *pool, double score, int32_t parent, int64_t place, int32_t state) {
    Branch branch = {score, place, parent, state};
    if (!pool->room || score == -INFINITY) return;
    if (pool->size == pool->room) {
        if (score <= pool->branches[pool->size - 1].score) return;
        pool->size--;
    }
    int i = pool->size++;
    for (; i > 0 && pool->branches[i - 1].score < score; i--)
        pool->branches[i] = pool->branches[i - 1];
    pool->branches[i] = branch;
}

/* Take the best branch as path `p` of `paths[n, N]`, and offer all that leave it further on. */
static void chain_take(const Trail *trail, Pool *pool, int32_t p, int32_t *paths, int64_t N) {
    const Branch branch = pool->branches[0];
    const Job *job = trail->job;
    int32_t *path = paths + p * N + trail->first;
    const int32_t *parent = paths + branch.parent * N + trail->first;
    pool->size--;
    pool->room--;
    memmove(pool->branches, pool->branches + 1, pool->size * sizeof(Branch));
    if (branch.place) memcpy(path, parent, branch.place * sizeof(int32_t));
    path[branch.place] = branch.state;
    double score = job->start[path[0]] + chain_score(trail, 0, path[0]), step = 0.0;
    for (int64_t t = 1; t < trail->T; t++) {
        const Ways ways = chain_ways(trail, t, path[t - 1]);
        const double *ahead = trail->ahead + t * job->K * trail->lanes;
        if (t > branch.place) path[t] = chain_best_way(trail, t, path[t - 1]);
        for (int k = 0; k < ways.n; k++) {
            const double value = ways.values[(int64_t)k * ways.stride];
            if (ways.targets[k] == path[t])
                step = value;
            else if (t > branch.place)
                chain_offer(pool, score + (value + ahead[(int64_t)ways.targets[k] * trail->lanes]),
                            p, t, ways.targets[k]);
        }
        score = score + step + chain_score(trail, t, path[t]);
    }
}
