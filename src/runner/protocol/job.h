/* Runs one problem, from its text to its results; used by the protocol and by the command line. */
#ifndef RUNNER_JOB_H
#define RUNNER_JOB_H

#include "runner/measure/platform.h"
#include "runner/verify/tolerance.h"
#include "runner/measure/ahead.h"
#include "runner/measure/measure.h"

/* Result of checking one algorithm. */
struct check_finding {
	enum status status;    /* ok, mistrusted, no_memory, failed; unsupported: nothing to compare with */
	double worst, allowed; /* relative errors; worst NaN: unknown */
	const char *why;       /* a reason besides the two errors, or "" */
	const struct approximation *approximate; /* its row if it is inexact by design, else NULL */
};

struct job {
	const char *problem;   /* its text (docs/problem.md) */
	double budget_ns;
	bool caches[CACHE_COUNT], launches[LAUNCH_COUNT];
	bool planning;         /* no device: job_run lists the algorithms and returns unsupported */
	bool quick;            /* measure_options.quick */
	const struct algorithm *only; /* measures this one once more (measure_options.repeats); NULL: all */
	bool all;              /* all algorithms, not only what heuristics return (struct backend_list) */
	/* Maximum number of algorithms, an equal share per backend; 0: all (or MEASURE_CONTENDERS). */
	int most;
	int *left_out;         /* out: algorithms that were left out for a limit other than `most` */
	struct ahead *ahead;   /* has what was prepared of the problem; NULL, or nothing: it is listed now */
	const struct device *device;
	void *user;            /* argument of the functions below (measure.h) */
	bool (*cancelled)(void *user);
	/* a is NULL before the algorithms are freed. */
	void (*trying)(void *user, const struct algorithm *a, enum cache c, enum launch l);
	void (*emit)(void *user, const struct result *r, const struct samples *samples);
	/* Called per algorithm by job_list, and by job_check. */
	void (*list)(void *user, const struct algorithm *a);
	/* Called by job_list with the reasons of libraries for such problems that have no algorithm. May be
	 * NULL. */
	void (*others)(void *user, const char *reasons);
	void (*check)(void *user, const struct algorithm *a, const struct check_finding *f);
};

/* Returns how the device was lost; NULL: it is alive. */
const struct platform_loss *job_loss(void);

/* Measures the problem and emits results as they are complete. Returns ok if any algorithm was measured;
 * else err has the reason. A text that is not a problem gives `failed`. *stopped: it was cancelled. If the
 * device is lost and the problem is not known to be the cause, the algorithm that ran has no result. */
enum status job_run(const struct job *j, bool *stopped, struct error *err);
/* Calls `list` for each algorithm. */
enum status job_list(const struct job *j, struct error *err);
/* Runs each algorithm once and compares its outputs with reference values in plain C. Returns ok unless
 * nothing can be run (err) or the device is lost. ok with a text in err: all algorithms are suspect, and
 * what that means. */
enum status job_check(const struct job *j, struct error *err);

#endif
