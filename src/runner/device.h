/* The machine: what it is called, its cores and caches, and the threads that measure on it. */
#ifndef RUNNER_DEVICE_H
#define RUNNER_DEVICE_H

#include "base/error.h"
#include "problem/result.h"

/* The library's threads are bound to cores when its runtime loads, by environment variables. Starts the program anew with
 * them set where they are not; returns only when they are, or when that failed (then unbound). threads 0 = the number in
 * OMP_NUM_THREADS, else one a core. */
void device_bind_threads(int threads, char **argv);

/* Asks all backends and the system. Strings live in the arena. */
int device_probe(struct arena *a, struct device *d, struct error *err);

/* Bytes of memory that can be had without swapping, as of now. */
double device_memory_bytes(void);

#endif
