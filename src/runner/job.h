/* One problem, from its text to its results: what the protocol and the command line share. */
#ifndef RUNNER_JOB_H
#define RUNNER_JOB_H

#include "runner/measure.h"

struct job {
	const char *problem;   /* its text */
	double budget_ns;
	bool caches[CACHE_COUNT], launches[LAUNCH_COUNT];
	const struct device *device;
	void *user;            /* of the calls, see measure.h */
	bool (*cancelled)(void *user);
	void (*trying)(void *user, const struct algorithm *a, enum cache c, enum launch l);
	void (*emit)(void *user, const struct result *r, const struct samples *samples);
	void (*list)(void *user, const struct algorithm *a); /* job_list: one call an algorithm */
};

/* Measures; emits results as they are known. ok when anything was measured; else err says why not. A text that is no
 * problem is `failed`. *stopped: cancelled on the way. */
enum status job_run(const struct job *j, bool *stopped, struct error *err);
/* Only says which algorithms there are. */
enum status job_list(const struct job *j, struct error *err);
/* Runs every algorithm once and compares outputs with plain C; reports each: worst error, or why there is
 * none (NaN). */
enum status job_check(const struct job *j,
	void (*report)(void *user, const struct algorithm *a, double worst, const char *why), struct error *err);

#endif
