/* Preloaded before a process under test: makes every sync take longer, and counts them.
 *
 * The disk that a benchmark runs on is often much faster than a user's. BENCH_SYNC_DELAY_US adds
 * that many microseconds to each fsync and fdatasync, after the real call, as a slower disk would.
 * At exit the number of syncs, their total and their longest time (nanoseconds) are written to the
 * file named by BENCH_SYNC_REPORT.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static atomic_long calls, total_ns, longest_ns;
static long delay_us;

static long now_ns(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1000000000L + at.tv_nsec;
}

static int delayed(const char *name, int file) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    long began = now_ns();
    int result = real(file);
    if (delay_us > 0) {
        struct timespec wait = {delay_us / 1000000, delay_us % 1000000 * 1000};
        nanosleep(&wait, NULL);
    }
    long took = now_ns() - began, longest = atomic_load(&longest_ns);
    atomic_fetch_add(&calls, 1);
    atomic_fetch_add(&total_ns, took);
    while (took > longest && !atomic_compare_exchange_weak(&longest_ns, &longest, took)) {
    }
    return result;
}

int fsync(int file) { return delayed("fsync", file); }
int fdatasync(int file) { return delayed("fdatasync", file); }

__attribute__((constructor)) static void begin(void) {
    const char *wanted = getenv("BENCH_SYNC_DELAY_US");
    delay_us = wanted ? atol(wanted) : 0;
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("BENCH_SYNC_REPORT");
    FILE *report = path ? fopen(path, "w") : NULL;
    if (report) {
        fprintf(report, "%ld %ld %ld\n", calls, total_ns, longest_ns);
        fclose(report);
    }
}
