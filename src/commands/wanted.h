/* The distinct problems that models want measured, over all their scenarios: for bench, its jobs, and exports. */
#ifndef COMMANDS_WANTED_H
#define COMMANDS_WANTED_H

#include "base/hash.h"
#include "commands/command.h"

struct wanted_problem {
	const char *text;
	int uses;      /* layers and groups that it stands for */
	int scenario;  /* the first that needs it: index of its batch and type, types within a batch */
	double share;  /* what it is worth: its part of each scenario's work, summed over them; see wanted_sort */
};

struct wanted {
	struct arena arena;
	struct hash index; /* text -> index in problems */
	int scenario; /* being gathered */
	int count, capacity;
	struct wanted_problem *problems;
};

/* Adds the problems of a model under every batch and data type asked for, fused ones included. */
int wanted_gather(struct wanted *w, struct session *s, const struct options *o, struct error *err);
/* Adds the problems whose best results are a device's peaks (analyze/peaks.h), in the types that those gathered so far
 * compute in, before all others. */
void wanted_add_peaks(struct wanted *w, const struct device *d);
/* The most valuable first. A problem's part of a scenario is uses x cost, where the cost is a rough roofline of no device
 * in particular (wanted.c) that only has to order them; fused problems count half: without them the first bound is whole.
 * The index does not hold afterwards. */
void wanted_sort(struct wanted *w);
void wanted_free(struct wanted *w);

/* The cache states that --caches names, net and warm where it is not given. -1: one is none. */
int bench_caches(const struct options *o, bool caches[CACHE_COUNT], struct error *err);
/* bench --emit-jobs: an exit status. */
int bench_jobs(struct options *o, struct error *err);

#endif
