/* The options of bench itself, and bench --emit-jobs. */
#ifndef COMMANDS_BENCH_H
#define COMMANDS_BENCH_H

#include "commands/command.h"

struct bench_options {
	bool again;                    /* measure everything again */
	bool shaky;                    /* measure noisy results again */
	bool emit_jobs;                /* print jobs for a runner on another machine */
	const char *caches, *launches; /* states to measure; NULL: default */
};

/* The cache states of --caches; default net and warm. -1: unknown state. */
int bench_caches(const struct options *o, bool caches[CACHE_COUNT], struct error *err);
/* bench --emit-jobs; returns an exit status. */
int bench_jobs(struct options *o, struct error *err);

#endif
