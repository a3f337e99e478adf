/* The command line of a runner program. */
#ifndef RUNNER_OPTIONS_H
#define RUNNER_OPTIONS_H

#include "runner/platform.h"

enum exits { EXIT_DONE = 0, EXIT_GAPS = 1, EXIT_USAGE = 2, EXIT_DEVICE = 3 };

struct options {
	struct platform_options machine;
	const char *problem;   /* NULL: jobs come from standard input */
	const char *output;    /* a file in place of standard output; NULL none */
	int64_t budget_ms;     /* 0: not given */
	int64_t idle_s;        /* without a job for so long it leaves; 0: never */
	int64_t algorithms;    /* most to check of a problem; 0: not given */
	bool list, json, info, check;
	bool has_caches, has_launches; /* given; else the usual ones are set */
	bool caches[CACHE_COUNT], launches[LAUNCH_COUNT];
};

/* Reads and judges it all. -1: go on; else the exit status, and what there is to say has been said. */
int options_read(struct options *o, int argc, char **argv);

#endif
