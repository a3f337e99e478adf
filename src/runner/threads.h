/* The library's threads: how many, and where the system lets each of them run. */
#ifndef RUNNER_THREADS_H
#define RUNNER_THREADS_H

#include <sched.h>
#include <stdbool.h>

#define THREADS_MOST 1024

enum binding {
	BINDING_UNKNOWN,
	BINDING_NONE,       /* all may go to the same cores, and there are several */
	BINDING_SOME,       /* to sets of cores, not all the same */
	BINDING_CORE,       /* each within one core, some share one */
	BINDING_CORE_EACH   /* each within a core of its own */
};

struct threads {
	int count;
	enum binding binding;
	int core_count;          /* BINDING_CORE and _EACH: different ones in use */
	int cpus[THREADS_MOST];  /* BINDING_CORE and _EACH: the first CPU of each thread */
};

/* The OpenMP runtime that the library has loaded: asked, not linked. */
struct openmp {
	int (*max_threads)(void);
	int (*thread_num)(void);   /* in a parallel region, as the next */
	int (*num_threads)(void);
	void (*parallel)(void (*work)(void *), void *argument, unsigned threads, unsigned flags);
};
bool threads_openmp(struct openmp *omp); /* false: there is none */

/* Gives the calling thread back the CPUs that the runtime found when it was loaded: where the environment binds threads, it has
 * bound the first one already, and whatever that starts would be bound with it. */
void threads_unbind(void);
/* Asks the OpenMP runtime that is loaded; its threads are started, as many as it really has (a limit may allow fewer than
 * OMP_NUM_THREADS says), and each looks at its own affinity. */
void threads_probe(struct threads *t);
/* What these affinities (at least one) are, where core_of names the physical core of a CPU: fills all but count. */
void threads_classify(struct threads *t, const cpu_set_t *affinity, int count, int (*core_of)(int cpu));
/* "2 threads bound one a core"; buf of 64 bytes. */
const char *threads_describe(const struct threads *t, char *buf);
/* Can every thread have a CPU of its own? */
int threads_are_apart(const struct threads *t);

/* The lowest CPU of the physical core that a CPU belongs to; itself where the system does not say. */
int threads_core_of(int cpu);
/* Physical cores among the CPUs that the calling thread may use, at least 1. */
int threads_cores_count(void);

#endif
