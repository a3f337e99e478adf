/* What differs between the runner programs: the device. Each program links exactly one `platform`;
 * measure.c, job.c, serve.c, batch.c and main.c are the same in all. */
#ifndef RUNNER_PLATFORM_H
#define RUNNER_PLATFORM_H

#include "runner/measure/backend.h"

/* Options of the command line about the device. Strings are borrowed from argv. */
struct platform_options {
	int threads;              /* --threads; 0: not given */
	const char *device;       /* --device: ordinal, "cuda:1", or beginning of a UUID; NULL: the first */
	const char *plan;         /* --plan: file that describes a device, to list for; NULL: measure */
	int compile_threads;      /* --compile-threads; 0: not given */
};

/* How a device was lost to this process. */
struct platform_loss {
	char why[256];            /* one line */
	/* The kernel that ran caused it (an illegal address). Else the hardware, the driver or another
	 * process may have: the problem may be measured again. */
	bool by_problem;
};

struct platform {
	const char *program;      /* "benanza-runner-cuda" */
	bool has_threads, has_device, has_plan; /* which of the options it takes */
	/* The algorithms of a problem share its operands and reference values, so copies count once and
	 * checks are cheap. */
	bool shares_operands;
	/* Its instruction for tanh is approximate: outputs may differ by tolerance_hardware (noted as
	 * approximate_tanh). */
	bool approximates;
	/* Warm-up in ns before algorithms are compared, if the device is warm from the previous one; the
	 * rest follows before the full measurement. 0: the full warm-up. */
	double glance_ns;
	/* Longer executions (ns) take as long alone as back to back within a percent. For shorter ones an
	 * amortized sample has at least two. 0: launches cost nothing. */
	double alone_ns;
	double step_limit_s;      /* usual limit of one step of a job from a file, in seconds; 0: none */
	double tolerance;         /* sampling stops at this half-width: 0.02, on a GPU 0.01 */
	const struct backend *const *backends;  /* NULL-terminated, in order of preference */
	/* Called before any library is loaded and any thread is started; may restart the program with argv
	 * to set its environment. NULL: nothing to do. */
	void (*prepare)(const struct platform_options *o, char **argv);
	/* Opens the device and describes it; strings are in the arena. Returns -1 if there is no device
	 * that can measure (or plan); err has the reason and the fix. */
	int (*open)(const struct platform_options *o, struct arena *a, struct device *d, struct error *err);
	/* Makes the device that of the calling thread. The backends' algorithms() and compile() may then be
	 * called on it, at the same time as on others (ahead.h). NULL: they are for one thread. */
	int (*enter)(struct error *err);
	/* Called before and after a problem is measured or checked: waits until no other process does so on
	 * this device, whose memory is then free; returns -1 and sets err if that is impossible, and is then
	 * not followed by vacate. Both NULL: nothing to do. */
	int (*occupy)(struct error *err);
	void (*vacate)(void);
	/* Free device memory in bytes, now. */
	double (*memory_bytes)(void);
	/* Samples longer than this (ns) are kept although a thread was preempted: with a scheduler almost
	 * all are. */
	double long_ns;
	/* Disturbances so far: preemptions of measuring threads (CPU), clocks below 75% of the steady one
	 * (GPU). */
	int64_t (*disturbances)(void);
	/* Total time in ns that the measuring threads waited for cores; replaces `disturbances` if known.
	 * NaN: unknown; NULL: not applicable. */
	double (*waited_ns)(void);
	/* As canary_ask (canary.h): the reason why the device is slower now and how many times, or NULL.
	 * May be NULL. */
	const char *(*canary)(double *slower);
	/* Returns why times measured on this device cannot be trusted, or NULL: every problem is then
	 * mistrusted for this reason. May be NULL (trusted). */
	const char *(*doubt)(void);
	/* False if the device is lost to this process (a poisoned CUDA context): the program then ends
	 * with a log line and the parent starts another. NULL: always true. */
	bool (*is_alive)(void);
	/* True while it waits for another process to end its measurement, which counts against no limit. Any
	 * thread may ask. NULL: never. */
	bool (*is_waiting)(void);
	/* How the device was lost; NULL: it is alive. Absent (NULL): unknown, counts as by_problem. */
	const struct platform_loss *(*loss)(void);
	void (*close)(void);
};

extern const struct platform platform;

#endif
