/* The words of adhere.randomness, endlessly, on standard output: words ORDER SEED.
 *
 * The four orders are the directions in which a weak generator would show itself:
 *   draws      consecutive draws of one decision, then of the next
 *   decisions  the first draw of consecutive decisions
 *   runs       the first draw of the same decision in consecutive runs
 *   purposes   the first draw of every purpose of a decision, then of the next
 * battery.py holds these words against the package's own before any battery sees them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DRAW_BITS = 20, PURPOSES = 7, BLOCK = 1 << 14 };
static const uint64_t GOLDEN = 0x9E3779B97F4A7C15u, SILVER = 0xD1342543DE82EF95u;

static uint64_t right(uint64_t word, int by) { return (word >> by) | (word << (64 - by)); }

static uint64_t mix(uint64_t word, uint64_t middle_key) {
    word ^= right(word, 25) ^ right(word, 50);
    word = word * 0xA24BAED4963EE407u + middle_key;
    word ^= right(word, 24) ^ right(word, 49);
    word *= 0x9FB21C651E98DF25u;
    return word ^ (word >> 28);
}

static uint64_t word(uint64_t seed, uint64_t run, uint64_t decision, uint64_t purpose, uint64_t draw) {
    uint64_t outer = mix(mix(seed ^ GOLDEN, 0) + run * GOLDEN, 0);
    uint64_t middle = mix(mix(seed ^ SILVER, 0) + run * SILVER, 0);
    return mix(((decision << (DRAW_BITS + 3)) | (purpose << DRAW_BITS) | draw) ^ outer, middle);
}

static uint64_t word_in_order(char order, uint64_t seed, uint64_t i) {
    switch (order) {
    case 'd': return word(seed, 0, i >> DRAW_BITS, 0, i & ((1u << DRAW_BITS) - 1));
    case 't': return word(seed, 0, i, 0, 0);
    case 'r': return word(seed, i, 0, 0, 0);
    default: return word(seed, 0, i / PURPOSES, i % PURPOSES, 0);
    }
}

int main(int argc, char **argv) {
    static const char *names[] = {"draws", "decisions", "runs", "purposes"};
    static uint64_t block[BLOCK];
    char order = 0;
    for (int n = 0; argc == 3 && n < 4; n++)
        if (!strcmp(argv[1], names[n])) order = "dtrp"[n];
    if (!order) return fprintf(stderr, "usage: words draws|decisions|runs|purposes SEED\n"), 2;
    uint64_t seed = strtoull(argv[2], NULL, 10);
    for (uint64_t first = 0;; first += BLOCK) {
        for (uint64_t i = 0; i < BLOCK; i++) block[i] = word_in_order(order, seed, first + i);
        if (fwrite(block, sizeof block, 1, stdout) != 1) return 0;
    }
}
