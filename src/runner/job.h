/* One problem, from its text to its results: what the protocol and the command line share. */
#ifndef RUNNER_JOB_H
#define RUNNER_JOB_H

#include "runner/tolerance.h"
#include "runner/measure.h"

/* Result of checking one algorithm. */
struct check_finding {
	enum status status;    /* ok, mistrusted, no_memory, failed; unsupported: nothing to compare with */
	double worst, allowed; /* relative errors; worst NaN: none known */
	const char *why;       /* the reason if there is one besides the figures, else "" */
	const struct approximation *approximate; /* inexact by design: its row; else NULL */
};

struct job {
	const char *problem;   /* its text */
	double budget_ns;
	bool caches[CACHE_COUNT], launches[LAUNCH_COUNT];
	bool planning;         /* there is no device: job_run only lists, and says so */
	int most;              /* algorithms that are run, taken fairly from all backends; 0 = all (measured: MEASURE_CONTENDERS) */
	const struct device *device;
	void *user;            /* of the calls, see measure.h */
	bool (*cancelled)(void *user);
	void (*trying)(void *user, const struct algorithm *a, enum cache c, enum launch l);
	void (*emit)(void *user, const struct result *r, const struct samples *samples);
	void (*list)(void *user, const struct algorithm *a); /* job_list: one call an algorithm */
	void (*check)(void *user, const struct algorithm *a, const struct check_finding *f); /* job_check: likewise */
};

/* Measures; emits results as they are known. ok when anything was measured; else err says why not. A text that is no
 * problem is `failed`. *stopped: cancelled on the way. */
enum status job_run(const struct job *j, bool *stopped, struct error *err);
/* Lists the algorithms. */
enum status job_list(const struct job *j, struct error *err);
/* Runs algorithms once and compares their outputs with reference values in plain C. ok unless there is nothing to run (err) or
 * the device is lost. ok with a text in err: every algorithm was rejected, and what that means. */
enum status job_check(const struct job *j, struct error *err);

#endif
