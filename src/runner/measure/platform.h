/* What differs between the runner programs: the device. Each program links exactly one `platform`;
 * measure.c, job.c, serve.c, batch.c and main.c are the same in all. */
#ifndef RUNNER_PLATFORM_H
#define RUNNER_PLATFORM_H

#include "runner/measure/backend.h"
#include "runner/measure/machine.h"

/* Options of the command line about the device. Strings are borrowed from argv. */
struct platform_options {
	int threads;              /* --threads; 0: not given */
	const char *device;       /* --device: ordinal, "cuda:1", or beginning of a UUID; NULL: the first */
	const char *plan;         /* --plan: file that describes a device, to list for; NULL: measure */
	int compile_threads;      /* --compile-threads; -1: not given */
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
	struct machine machine;
	double step_limit_s;      /* usual limit of one step of a job from a file, in seconds; 0: none */
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
	/* Returns why times measured on this device cannot be trusted, or NULL: every problem is then
	 * mistrusted for this reason. May be NULL (trusted). */
	const char *(*doubt)(void);
	/* True while it waits for another process to end its measurement, which counts against no limit. Any
	 * thread may ask. NULL: never. */
	bool (*is_waiting)(void);
	/* How the device was lost; NULL: it is alive. Absent (NULL): unknown, counts as by_problem. */
	const struct platform_loss *(*loss)(void);
	void (*close)(void); /* NULL: nothing to close */
};

extern const struct platform platform;

#endif
