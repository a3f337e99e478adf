/* The options of bench itself, bench --emit-jobs, and running a queue. */
#ifndef COMMANDS_BENCH_H
#define COMMANDS_BENCH_H

#include "commands/bench_eta.h"
#include "commands/command.h"
#include "commands/wanted.h"

struct bench_options {
	bool again;                    /* measure everything again */
	bool shaky;                    /* measure noisy results again */
	bool emit_jobs;                /* print jobs for a runner on another machine */
	const char *agents;            /* also run the models: list of agents, "": all; NULL: none */
	const char *caches, *launches; /* states to measure; NULL: default */
	const char *algorithms;        /* "all", "heuristics"; NULL: as configured */
};

/* The cache states of --caches; default net and warm. -1: unknown state. */
int bench_caches(const struct options *o, bool caches[CACHE_COUNT], struct error *err);
/* bench --emit-jobs; returns an exit status. */
int bench_jobs(struct options *o, struct error *err);
/* Runs the session's queue until it is empty, interrupted, or useless to continue, with a progress bar on a
 * terminal; returns an exit status. w: the problems with their scenarios, which the bar names; may be NULL.
 * estimates: gets the estimates of the time left; may be NULL. */
int bench_drain(struct session *s, const struct options *o, const struct wanted *w,
	struct bench_eta *estimates, struct error *err);

#endif
