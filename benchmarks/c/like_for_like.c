/* What adhere.simulate does for two-armed Thompson sampling and ε-greedy under the protocol Chosen, by hand:
 *
 *     like_for_like thompson|epsilon-greedy JOB RUNS SEED
 *
 * The same keyed numbers, the same counterfactual patients (both arms drawn), the same tallies for each run at each
 * point of the grid. Written for speed as one would in C for this very job: rewards are 0 or 1 and there are two
 * arms, so outcomes are bytes, sums are whole numbers and branches take the place of tables. Compile with
 * -ffp-contract=off: a fused multiplication and addition rounds otherwise than the two. */
#include <math.h>
#include <string.h>
#include "job.h"

enum { TOGETHER = 1024, CHOOSE = 0, PATIENT = 1 };
static const uint64_t GOLDEN = 0x9E3779B97F4A7C15u, SILVER = 0xD1342543DE82EF95u;
#define SELDOM(condition) __builtin_expect(condition, 0)

typedef struct {
    int64_t pulls[ARMS], rewards, both_arms_rewards;
} Point;

typedef struct {
    uint64_t outer, middle;
} Keys;

typedef struct {
    int64_t pulls, rewards; /* recommendations of arm 1, and rewards, so far */
    double successes[ARMS], failures[ARMS], p, h, exponent; /* Thompson sampling */
    double n[ARMS], sums[ARMS], means[ARMS];                /* ε-greedy */
} State;

static const State START = {.successes = {1, 1}, .failures = {1, 1}, .p = 0.5, .h = 1.0 / 6.0};
static Job job;
static double epsilons[LONGEST + 2];
static double numbers[TOGETHER];         /* with which decisions are made */
static uint8_t outcomes[ARMS][TOGETHER]; /* of the same patients under either arm */

static inline uint64_t right(uint64_t word, int by) { return (word >> by) | (word << (64 - by)); }

static inline uint64_t mix(uint64_t word, uint64_t middle) {
    word ^= right(word, 25) ^ right(word, 50);
    word = word * 0xA24BAED4963EE407u + middle;
    word ^= right(word, 24) ^ right(word, 49);
    word *= 0x9FB21C651E98DF25u;
    return word ^ (word >> 28);
}

static inline double number_at(Keys keys, int64_t decision, uint64_t purpose, uint64_t draw) {
    uint64_t counter = ((uint64_t)decision << 23) | (purpose << 20) | draw;
    return (double)(mix(counter ^ keys.outer, keys.middle) >> 11) * 0x1p-53;
}

static Keys keys_of(uint64_t seed, uint64_t run) {
    return (Keys){mix(mix(seed ^ GOLDEN, 0) + run * GOLDEN, 0), mix(mix(seed ^ SILVER, 0) + run * SILVER, 0)};
}

/* Loops that compilers turn into vector instructions. */
static void draw(Keys keys, int64_t first, int64_t n) {
    for (int64_t i = 0; i < n; i++) numbers[i] = number_at(keys, first + i, CHOOSE, 0);
    for (uint64_t arm = 0; arm < ARMS; arm++) {
        const double a = job.cumulative[arm][0], b = job.cumulative[arm][1], c = job.cumulative[arm][2];
        uint64_t rewarded = 0; /* one bit for each cell */
        for (int cell = 0; cell < CELLS; cell++) rewarded |= (uint64_t)job.reward[arm][cell] << cell;
        for (int64_t i = 0; i < n; i++) {
            double number = number_at(keys, first + i, PATIENT, arm);
            uint64_t cell = (uint64_t)(number >= a) + (number >= b) + (number >= c);
            outcomes[arm][i] = rewarded >> cell & 1;
        }
    }
}

/* Patients `from` up to `to` of those drawn from `first` on. p = P(θ_1 > θ_0) by its recurrence. */
static void thompson(State *state, Keys keys, int64_t first, int64_t from, int64_t to) {
    double s0 = state->successes[0], s1 = state->successes[1], f0 = state->failures[0], f1 = state->failures[1];
    double p = state->p, h = state->h, exponent = state->exponent, total = s0 + s1 + f0 + f1;
    (void)keys;
    for (int64_t i = from - first; i < to - first; i++) {
        double share, change;
        if (numbers[i] < p) {
            if (outcomes[1][i]) {
                share = 1 / (s1 * total), change = h * (share * total), h *= (s0 + s1) * (s1 + f1) * share;
                s1 += 1;
            } else {
                share = 1 / (f1 * total), change = -(h * (share * total)), h *= (f0 + f1) * (s1 + f1) * share;
                f1 += 1;
            }
        } else {
            if (outcomes[0][i]) {
                share = 1 / (s0 * total), change = -(h * (share * total)), h *= (s0 + s1) * (s0 + f0) * share;
                s0 += 1;
            } else {
                share = 1 / (f0 * total), change = h * (share * total), h *= (f0 + f1) * (s0 + f0) * share;
                f0 += 1;
            }
        }
        total += 1;
        if (exponent == 0) p += change;
        if (SELDOM(h < 0x1p-512)) h *= 0x1p512, exponent += 1;
        else if (SELDOM(h > 1 && exponent > 0)) h /= 0x1p512, exponent -= 1;
    }
    int64_t pulls = (int64_t)(s1 + f1) - 2, rewards = (int64_t)(s0 + s1) - 2;
    *state = (State){pulls, rewards, {s0, s1}, {f0, f1}, p, h, exponent, {0}, {0}, {0}};
}

static void epsilon_greedy(State *state, Keys keys, int64_t first, int64_t from, int64_t to) {
    double n0 = state->n[0], n1 = state->n[1], sum0 = state->sums[0], sum1 = state->sums[1];
    double mean0 = state->means[0], mean1 = state->means[1];
    for (int64_t t = from; t < to; t++) {
        double u = numbers[t - first], epsilon = epsilons[t + 1];
        int arm;
        if (u < epsilon) arm = (int)(u / epsilon * ARMS * (1 - 0x1p-52));
        else if (SELDOM(mean0 == mean1)) arm = number_at(keys, t, CHOOSE, 1) * 2 < 1;
        else arm = mean1 > mean0;
        if (arm) n1 += 1, sum1 += outcomes[1][t - first], mean1 = sum1 / n1;
        else n0 += 1, sum0 += outcomes[0][t - first], mean0 = sum0 / n0;
    }
    int64_t pulls = (int64_t)n1, rewards = (int64_t)(sum0 + sum1);
    *state = (State){pulls, rewards, {0}, {0}, 0, 0, 0, {n0, n1}, {sum0, sum1}, {mean0, mean1}};
}

typedef void Policy(State *state, Keys keys, int64_t first, int64_t from, int64_t to);

/* One trial: from stop to stop, so that nothing but the policy is in the loop over patients. */
static void trial(Policy *policy, Keys keys, Point *points, int64_t *last_pulls) {
    State state = START;
    int64_t both = 0, pulls_before_last = 0, t = 0, last = job.n_patients - job.n_last;
    for (int64_t first = 0; first < job.n_patients; first += TOGETHER) {
        int64_t end = first + TOGETHER < job.n_patients ? first + TOGETHER : job.n_patients;
        draw(keys, first, end - first);
        while (t < end) {
            int64_t stop = *job.grid;
            for (int i = 0; stop <= t; i++) stop = job.grid[i];
            stop = stop < end ? stop : end;
            stop = t < last && last < stop ? last : stop;
            for (int64_t i = t - first; i < stop - first; i++) both += outcomes[0][i] + outcomes[1][i];
            policy(&state, keys, first, t, stop);
            t = stop;
            if (t == last) pulls_before_last = state.pulls;
            for (int i = 0; i < job.n_points; i++)
                if (t == job.grid[i]) points[i] = (Point){{t - state.pulls, state.pulls}, state.rewards, both};
        }
    }
    last_pulls[1] = state.pulls - pulls_before_last, last_pulls[0] = job.n_last - last_pulls[1];
}

static void print_totals(const char *name, const Point *points, int64_t n_runs, int field) {
    printf(", \"%s\": [", name);
    for (int i = 0; i < job.n_points; i++) {
        int64_t total = 0;
        for (int64_t run = 0; run < n_runs; run++) {
            const Point *point = &points[run * job.n_points + i];
            total += field < ARMS ? point->pulls[field] : field == ARMS ? point->rewards : point->both_arms_rewards;
        }
        printf("%s%lld", i ? ", " : "", (long long)total);
    }
    printf("]");
}

int main(int argc, char **argv) {
    expect(argc == 5, "like_for_like thompson|epsilon-greedy JOB RUNS SEED");
    Policy *policy = strcmp(argv[1], "thompson") ? epsilon_greedy : thompson;
    job = read_job(argv[2]);
    int64_t n_runs = strtoll(argv[3], NULL, 10);
    uint64_t seed = strtoull(argv[4], NULL, 10);

    double start = now();
    for (int64_t t = 0; t <= job.n_patients + 1; t++) epsilons[t] = t > 2 ? 1.0 / log((double)t + 1e-7) : 1.0;
    Point *points = calloc((size_t)(n_runs * job.n_points), sizeof *points);
    int64_t *last_pulls = calloc((size_t)n_runs, ARMS * sizeof *last_pulls), favour_1 = 0;
    expect(points && last_pulls, "enough memory");
    for (int64_t run = 0; run < n_runs; run++) {
        trial(policy, keys_of(seed, (uint64_t)run), points + run * job.n_points, last_pulls + run * ARMS);
        favour_1 += last_pulls[run * ARMS + 1] > last_pulls[run * ARMS];
    }
    double seconds = now() - start;

    printf("{\"seconds\": %.9f, \"favour_1\": %lld", seconds, (long long)favour_1);
    print_totals("pulls_0", points, n_runs, 0);
    print_totals("pulls_1", points, n_runs, 1);
    print_totals("rewards", points, n_runs, 2);
    print_totals("both_arms_rewards", points, n_runs, 3);
    printf("}\n");
    return 0;
}
