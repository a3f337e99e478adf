/* The command line of a runner program. */
#ifndef RUNNER_OPTIONS_H
#define RUNNER_OPTIONS_H

#include "runner/measure/platform.h"

enum exits { EXIT_DONE = 0, EXIT_GAPS = 1, EXIT_USAGE = 2, EXIT_DEVICE = 3 };

struct options {
	struct platform_options machine;
	const char *problem;   /* NULL: read jobs from standard input */
	const char *output;    /* a file instead of standard output, or NULL */
	int64_t budget_ms;     /* 0: not given */
	int64_t idle_s;        /* the runner ends after this time without a job; 0: never */
	int64_t step_limit_s;  /* -1: not given; 0: unlimited */
	int64_t algorithms;    /* maximum number per problem; 0: not given */
	bool all;              /* --algorithms all */
	bool list, json, info, check;
	bool has_caches, has_launches; /* given; else the default states are set */
	bool caches[CACHE_COUNT], launches[LAUNCH_COUNT];
};

/* Reads and checks the command line. Returns -1 to go on, else the exit status; any message is printed. */
int options_read(struct options *o, int argc, char **argv);

#endif
