/* What both programs are told, in a file that c_programs.py writes from adhere's tables, and how they tell time. */
#ifndef JOB_H
#define JOB_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ARMS = 2, CELLS = 4, MOST_POINTS = 64, LONGEST = 1 << 14 };

typedef struct {
    int64_t n_patients, n_last, n_points, grid[MOST_POINTS];
    double cumulative[ARMS][CELLS]; /* a number below cumulative[arm][c], and no lower one, lands in cell c */
    double reward[ARMS][CELLS];
    double mean[ARMS];
} Job;

static void expect(int holds, const char *what) {
    if (!holds) fprintf(stderr, "expected %s\n", what), exit(2);
}

static double next_number(FILE *file) {
    double number = 0;
    expect(fscanf(file, "%la", &number) == 1, "a number in the job's file");
    return number;
}

static Job read_job(const char *path) {
    Job job = {0};
    FILE *file = fopen(path, "r");
    expect(file != NULL, "a job's file that can be read");
    job.n_patients = (int64_t)next_number(file), job.n_last = (int64_t)next_number(file);
    job.n_points = (int64_t)next_number(file);
    expect(job.n_patients < LONGEST && job.n_points <= MOST_POINTS, "at most 16383 patients and 64 points");
    for (int i = 0; i < job.n_points; i++) job.grid[i] = (int64_t)next_number(file);
    for (int arm = 0; arm < ARMS; arm++) {
        for (int cell = 0; cell < CELLS; cell++) job.cumulative[arm][cell] = next_number(file);
        for (int cell = 0; cell < CELLS; cell++) {
            job.reward[arm][cell] = next_number(file);
            expect(job.reward[arm][cell] == 0 || job.reward[arm][cell] == 1, "rewards of 0 or 1");
        }
        job.mean[arm] = next_number(file);
    }
    fclose(file);
    return job;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
#endif
