/* How fast two-armed Thompson sampling and ε-greedy can go on this machine when nothing but the laws matters:
 *
 *     limit thompson|epsilon-greedy one|lanes JOB RUNS SEED
 *
 * Any generator (xoshiro256++, one word for both numbers of a decision), a reward for the chosen arm only, totals at
 * the end only. `one` plays a trial at a time; `lanes` plays as many at once as fit into vector registers. */
#include <math.h>
#include <string.h>
#include "job.h"

enum { TOGETHER = 1024, BYTES = 64, LANES = BYTES / 8, GROUPS = 3 }; /* groups hide how long a division takes */
typedef double Reals __attribute__((vector_size(BYTES)));
typedef int64_t Masks __attribute__((vector_size(BYTES)));
typedef uint64_t Words __attribute__((vector_size(BYTES)));
typedef int32_t Halves __attribute__((vector_size(BYTES)));
typedef uint32_t HalfWords __attribute__((vector_size(BYTES)));

typedef struct {
    Words a, b, c, d;
} Generator;

static Job job;
static Generator generators[GROUPS];
static uint64_t words[TOGETHER];
static double per_total[LONGEST];                           /* 1 / (t + 4) */
static uint32_t explore[LONGEST], explore_0[LONGEST]; /* ε and ε/2 of patient t, of 2^32 */
static int64_t pulls, rewards;                              /* of arm 1; of either */

static inline Words next(Generator *g) {
    Words sum = g->a + g->d, word = (sum << 23 | sum >> 41) + g->a, shifted = g->b << 17;
    g->c ^= g->a, g->d ^= g->b, g->b ^= g->c, g->a ^= g->d, g->c ^= shifted;
    g->d = g->d << 45 | g->d >> 19;
    return word;
}

static void fill_words(void) {
    for (int i = 0; i < TOGETHER; i += LANES) {
        Words word = next(generators);
        memcpy(words + i, &word, sizeof word);
    }
}

static void thompson_one(void) {
    double s0 = 1, s1 = 1, f0 = 1, f1 = 1, p = 0x1p31, h = 0x1p32 / 6; /* p and h of 2^32 */
    const uint32_t good0 = (uint32_t)(job.mean[0] * 0x1p32), good1 = (uint32_t)(job.mean[1] * 0x1p32);
    for (int64_t t = 0; t < job.n_patients; t++) {
        if (t % TOGETHER == 0) fill_words();
        uint64_t word = words[t % TOGETHER];
        double inverse, factor;
        if ((double)(word >> 32) < p) {
            if ((uint32_t)word < good1) {
                inverse = 1 / s1, p += h * inverse, factor = (s1 + s0) * ((s1 + f1) * inverse);
                s1 += 1;
            } else {
                inverse = 1 / f1, p -= h * inverse, factor = (f1 + f0) * ((f1 + s1) * inverse);
                f1 += 1;
            }
        } else {
            if ((uint32_t)word < good0) {
                inverse = 1 / s0, p -= h * inverse, factor = (s0 + s1) * ((s0 + f0) * inverse);
                s0 += 1;
            } else {
                inverse = 1 / f0, p += h * inverse, factor = (f0 + f1) * ((f0 + s0) * inverse);
                f0 += 1;
            }
        }
        h *= factor * per_total[t];
    }
    expect(h > 0, "arms so close that h does not vanish");
    pulls += (int64_t)(s1 + f1) - 2, rewards += (int64_t)(s0 + s1) - 2;
}

static void epsilon_greedy_one(void) {
    int32_t n0 = 0, n1 = 0, s0 = 0, s1 = 0;
    const uint32_t good0 = (uint32_t)(job.mean[0] * 0x1p32), good1 = (uint32_t)(job.mean[1] * 0x1p32);
    for (int64_t t = 0; t < job.n_patients; t++) {
        if (t % TOGETHER == 0) fill_words();
        uint32_t u = (uint32_t)(words[t % TOGETHER] >> 32), v = (uint32_t)words[t % TOGETHER];
        int32_t mean1 = s1 * (n0 + !n0), mean0 = s0 * (n1 + !n1); /* both times n0 n1; an arm never tried has 0 */
        int arm = u < explore[t] ? u >= explore_0[t] : mean0 == mean1 ? (int)(v & 1) : mean1 > mean0;
        if (arm) n1++, s1 += v < good1;
        else n0++, s0 += v < good0;
    }
    pulls += n1, rewards += s0 + s1;
}

static inline Reals pick(Masks where, Reals yes, Reals no) {
    return (Reals)((where & (Masks)yes) | (~where & (Masks)no));
}

static void thompson_lanes(void) {
    const Reals zero = {0}, one = zero + 1.0;
    const Reals good0 = zero + job.mean[0] * 0x1p32, good1 = zero + job.mean[1] * 0x1p32;
    Reals wins[GROUPS], wins1[GROUPS], n1[GROUPS], p[GROUPS], h[GROUPS]; /* with the prior; p and h of 2^32 */
    Generator own[GROUPS];
    for (int k = 0; k < GROUPS; k++) {
        wins[k] = n1[k] = one + one, wins1[k] = one, p[k] = one * 0x1p31, h[k] = one * 0x1p32 / 6.0;
        own[k] = generators[k];
    }
    for (int64_t t = 0; t < job.n_patients; t++) {
        const Reals total = zero + (double)(t + 4), inverse_total = zero + per_total[t];
        for (int k = 0; k < GROUPS; k++) {
            Words word = next(&own[k]);
            Masks arm = __builtin_convertvector((Masks)(word >> 32), Reals) < p[k];
            Masks win = __builtin_convertvector((Masks)(word & 0xFFFFFFFFu), Reals) < pick(arm, good1, good0);
            Reals n = pick(arm, n1[k], total - n1[k]), won = pick(arm, wins1[k], wins[k] - wins1[k]);
            Reals inverse = one / pick(win, won, n - won), alike = pick(win, wins[k], total - wins[k]);
            p[k] += (Reals)((Masks)(h[k] * inverse) ^ ((arm ^ win) & (Masks)-zero)); /* down if arm and win differ */
            h[k] *= alike * inverse_total * (n * inverse);
            wins[k] += (Reals)(win & (Masks)one);
            wins1[k] += (Reals)(win & arm & (Masks)one);
            n1[k] += (Reals)(arm & (Masks)one);
        }
    }
    for (int k = 0; k < GROUPS; k++) generators[k] = own[k];
    for (int k = 0; k < GROUPS; k++)
        for (int lane = 0; lane < LANES; lane++) {
            expect(h[k][lane] > 0, "arms so close that h does not vanish");
            pulls += (int64_t)n1[k][lane] - 2, rewards += (int64_t)wins[k][lane] - 2;
        }
}

static inline Halves pick_halves(Halves where, Halves yes, Halves no) { return (where & yes) | (~where & no); }

static void epsilon_greedy_lanes(void) {
    const Halves zero = {0};
    const Halves good0 = zero + (int32_t)(uint32_t)(job.mean[0] * 0x1p32);
    const Halves good1 = zero + (int32_t)(uint32_t)(job.mean[1] * 0x1p32);
    Halves n1[GROUPS], s0[GROUPS], s1[GROUPS];
    Generator own[GROUPS];
    for (int k = 0; k < GROUPS; k++) n1[k] = s0[k] = s1[k] = zero, own[k] = generators[k];
    for (int64_t t = 0; t < job.n_patients; t++) {
        const HalfWords epsilon = (HalfWords)zero + explore[t], half = (HalfWords)zero + explore_0[t];
        for (int k = 0; k < GROUPS; k++) {
            HalfWords u = (HalfWords)next(&own[k]), v = (HalfWords)next(&own[k]);
            Halves n0 = (int32_t)t - n1[k];
            Halves mean1 = s1[k] * (n0 - (n0 == zero)), mean0 = s0[k] * (n1[k] - (n1[k] == zero));
            Halves best = (mean1 > mean0) | ((mean1 == mean0) & -(Halves)(v & 1));
            Halves arm = pick_halves(u < epsilon, u >= half, best);
            Halves win = v < (HalfWords)pick_halves(arm, good1, good0);
            n1[k] -= arm, s1[k] -= arm & win, s0[k] -= ~arm & win; /* true is -1 */
        }
    }
    for (int k = 0; k < GROUPS; k++) generators[k] = own[k];
    for (int k = 0; k < GROUPS; k++)
        for (int lane = 0; lane < 2 * LANES; lane++) pulls += n1[k][lane], rewards += s0[k][lane] + s1[k][lane];
}

static uint64_t splitmix(uint64_t *state) {
    uint64_t word = *state += 0x9E3779B97F4A7C15u;
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9u;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBu;
    return word ^ (word >> 31);
}

static void prepare(uint64_t seed) {
    for (int k = 0; k < GROUPS; k++)
        for (int lane = 0; lane < LANES; lane++) {
            generators[k].a[lane] = splitmix(&seed), generators[k].b[lane] = splitmix(&seed);
            generators[k].c[lane] = splitmix(&seed), generators[k].d[lane] = splitmix(&seed);
        }
    for (int64_t t = 0; t < job.n_patients; t++) {
        double epsilon = t > 1 ? 1.0 / log((double)(t + 1) + 1e-7) : 1.0;
        per_total[t] = 1.0 / (double)(t + 4);
        explore[t] = epsilon < 1 ? (uint32_t)(epsilon * 0x1p32) : UINT32_MAX;
        explore_0[t] = (uint32_t)(epsilon * 0x1p31);
    }
}

int main(int argc, char **argv) {
    expect(argc == 6, "limit thompson|epsilon-greedy one|lanes JOB RUNS SEED");
    int is_greedy = strcmp(argv[1], "thompson") != 0, in_lanes = strcmp(argv[2], "lanes") == 0;
    int64_t n_runs = strtoll(argv[4], NULL, 10), done = 0;
    int64_t at_once = in_lanes ? GROUPS * LANES * (is_greedy ? 2 : 1) : 1;
    void (*one)(void) = is_greedy ? epsilon_greedy_one : thompson_one;
    void (*lanes)(void) = is_greedy ? epsilon_greedy_lanes : thompson_lanes;
    job = read_job(argv[3]);
    double start = now();
    prepare(strtoull(argv[5], NULL, 10));
    for (; done < n_runs; done += at_once) in_lanes ? lanes() : one();
    double seconds = now() - start;
    printf("{\"seconds\": %.9f, \"runs\": %lld, ", seconds, (long long)done);
    printf("\"pulls_1\": %lld, \"rewards\": %lld}\n", (long long)pulls, (long long)rewards);
    return 0;
}
