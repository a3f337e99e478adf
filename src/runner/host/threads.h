/* The library's threads: their number, and the CPUs on which they may run. */
#ifndef RUNNER_THREADS_H
#define RUNNER_THREADS_H

#include <sched.h>
#include <stdbool.h>

#define THREADS_MOST 1024

enum binding {
	BINDING_UNKNOWN,
	BINDING_NONE,       /* all may run on the same several cores */
	BINDING_SOME,       /* bound to sets of cores that differ */
	BINDING_CORE,       /* each to one core, some to the same one */
	BINDING_CORE_EACH   /* each to a core of its own */
};

struct threads {
	int count;
	enum binding binding;
	int core_count;          /* BINDING_CORE and _EACH: number of distinct cores */
	int cpus[THREADS_MOST];  /* BINDING_CORE and _EACH: first CPU of each thread */
};

/* Functions of the OpenMP runtime that the library has loaded. */
struct openmp {
	int (*max_threads)(void);
	int (*thread_num)(void);   /* in a parallel region; so is num_threads */
	int (*num_threads)(void);
	void (*parallel)(void (*work)(void *), void *argument, unsigned threads, unsigned flags);
};
bool threads_openmp(struct openmp *omp); /* false: no runtime is loaded */

/* Limits the regions that the library starts from the calling thread to `count` threads. */
void threads_limit(int count);

/* Resets the calling thread's affinity to all CPUs that the runtime found when it was loaded. If the
 * environment binds threads, the runtime has bound the first thread already, and its children would
 * inherit that. */
void threads_unbind(void);
/* Starts the runtime's threads, counts them (a limit may allow fewer than OMP_NUM_THREADS) and reads their
 * affinities. */
void threads_probe(struct threads *t);
/* Classifies count (at least 1) affinities; core_of returns the physical core of a CPU. Fills all fields
 * but count. */
void threads_classify(struct threads *t, const cpu_set_t *affinity, int count, int (*core_of)(int cpu));
/* Writes e.g. "2 threads bound one a core" to buf[64]; returns buf. */
const char *threads_describe(const struct threads *t, char *buf);
/* True if every thread is bound to a CPU that no other thread uses. */
int threads_are_apart(const struct threads *t);

/* Returns the number of physical cores on which the calling thread may run, at least 1. */
int threads_cores_count(void);

#endif
