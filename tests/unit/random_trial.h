/* Trials: random models with random results, one a seed. A check that fails names the seed, and an
 * environment variable runs that one alone. */
#ifndef RANDOM_TRIAL_H
#define RANDOM_TRIAL_H

#include "analyze/analyze.h"
#include "make_plan.h"
#include "random_help.h"
#include "tap.h"

struct trial {
	struct maker *m;
	struct plan *plan;
	struct fusion *fusion;
	struct results *results;
	struct peaks peaks;
	struct ground ground;
	struct arena arena;
	int failed; /* checks */
};

static unsigned trial_seed;
static int trial_failures;

/* Counts a check; says the first one of a trial that failed. */
__attribute__((format(printf, 3, 4))) static void must(struct trial *t, bool good, const char *format, ...)
{
	va_list ap;
	trial_failures += !good;
	if (good || t->failed++)
		return;
	printf("# seed %u: ", trial_seed);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	printf("\n");
}

static void trial_close(struct trial *t)
{
	fusion_free(t->fusion);
	results_free(t->results);
	make_end(t->m);
	arena_free(&t->arena);
}

/* The seed in an environment variable, or 0. */
static unsigned trial_asked(const char *variable)
{
	const char *asked = getenv(variable);
	return asked ? (unsigned)strtoul(asked, NULL, 10) : 0;
}

#endif
