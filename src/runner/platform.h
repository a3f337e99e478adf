/* What differs between the runner programs: the machine behind them. Each program links exactly one `platform`; measure.c,
 * job.c, serve.c, batch.c and main.c are the same in all. */
#ifndef RUNNER_PLATFORM_H
#define RUNNER_PLATFORM_H

#include "runner/backend.h"

/* What the command line says of the machine. Strings are borrowed from argv. */
struct platform_options {
	int threads;              /* --threads; 0 = not given */
	const char *device;       /* --device: an ordinal, "cuda:1", a UUID or the start of one; NULL = the first */
	const char *plan;         /* --plan: a file that describes a device that is not here; NULL = measure */
};

struct platform {
	const char *program;      /* "benanza-runner-cuda" */
	bool has_threads, has_device, has_plan; /* which of the options it takes */
	/* Prepared algorithms of a problem share its operands and the reference values: copies count once, checks are cheap. */
	bool shares_operands;
	/* Warm-up before algorithms are compared, where the machine is warm from the one before; 0: all of it. What is measured
	 * in full has the rest before that. */
	double glance_ns;
	/* Executions from here on take as long alone as back to back, to a percent: a launch is nothing beside them. Of shorter
	 * ones an amortized sample has at least two. 0: launches cost nothing. */
	double alone_ns;
	double tolerance;         /* half-width of the median's interval at which sampling stops: 0.02, on a GPU 0.01 */
	const struct backend *const *backends;  /* NULL-terminated; a problem has the algorithms of all, in this order */
	/* Before any library loads and any thread starts; NULL: nothing to do. May start the program anew (argv) to have its environment set. */
	void (*prepare)(const struct platform_options *o, char **argv);
	/* Opens the machine and describes it; strings live in the arena. -1: there is none that can measure (or plan), err
	 * says why and what to do. */
	int (*open)(const struct platform_options *o, struct arena *a, struct device *d, struct error *err);
	/* Bytes of device memory that can be had now. */
	double (*memory_bytes)(void);
	/* Samples that take this long are kept, disturbed or not: on a system with a scheduler nearly all of them are. */
	double long_ns;
	/* Disturbances so far of what is measured: cores taken away (CPU), clocks fallen below 75% of the default (GPU). */
	int64_t (*disturbances)(void);
	/* How long the threads that measure had to wait for cores, together, so far: decides instead of the disturbances where
	 * it is known. NaN: not known; NULL: there is no such thing. */
	double (*waited_ns)(void);
	/* What is wrong with the machine at this moment, though no thread had to wait, and how many times slower it is for that (1
	 * not at all, NaN not known); NULL: nothing. NULL: nobody looks. */
	const char *(*canary)(double *slower);
	/* False once nothing can be measured any more by this process (a poisoned CUDA context): the program ends then with
	 * a log line, and the parent starts another. NULL: always alive. */
	bool (*is_alive)(void);
	void (*close)(void);
};

extern const struct platform platform;

#endif
