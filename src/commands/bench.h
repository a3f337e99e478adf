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
	const char *order;             /* of these jobs: "value", "model"; NULL: value */
	const char *agents;            /* also run the models: list of agents, "": all; NULL: none */
	const char *caches, *launches; /* states to measure; NULL: default */
	bool no_quick;                 /* no quick pass first */
	const char *within;            /* measure until the interval is so narrow; NULL: everything */
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

/* The quick pass. */
struct bench_quick {
	int problems;
	double bound_ns; /* of the first batch and type; NaN: there was no pass */
	double wall_s;
};
/* Measures the missing problems of all batches and types quickly, if they are many (session_measure_quick),
 * adds to *q and prints the rough bounds. Returns an exit status. */
int bench_quick(struct session *s, const struct options *o, struct bench_quick *q, struct error *err);
/* Measures what matters to the bounds of all batches and types REPEAT_ROUNDS times more
 * (session_queue_repeats). Returns an exit status. */
int bench_repeats(struct session *s, const struct options *o, struct error *err);
/* Reads --within; *percent is NaN without it. */
int bench_within_read(const struct options *o, double *percent, struct error *err);
/* Measures what the interval of each bound owes most to, until half of it is at most this share of the bound
 * and nothing that the bound needs is unmeasured. Prints how far it came. *reached: for all of them. Returns
 * an exit status. */
int bench_within(
	struct session *s, const struct options *o, double percent, bool *reached, struct error *err);

#endif
