/* What the tests of the queue share: a queue of runners that fail as they are told to. */
#ifndef QUEUE_HELP_H
#define QUEUE_HELP_H

#include <time.h>

#include "drive/queue_private.h"
#include "store_help.h"

static struct error err;
__attribute__((unused)) static char fake[512];

#define BENCH_RUNNERS 3

struct bench {
	struct config config;
	struct config_runner runners[BENCH_RUNNERS]; /* as many as the test wants, in config too */
	const char *argv[2], *env[BENCH_RUNNERS][8];
	struct store *store;
	struct results *results;
	struct queue *q;
};

static void bench_begin(struct bench *b, const char *db)
{
	err.text[0] = '\0';
	b->store = db ? store_open(scratch_path(db), false, &err) : NULL;
	b->results = results_new();
	b->q = queue_new(&b->config, b->store, b->results);
	queue_limits(b->q)->restart = 1;
}

static void bench_close(struct bench *b)
{
	queue_free(b->q);
	results_free(b->results);
	store_close(b->store);
}

/* Steps until idle; the results that came, or -1. Five minutes are for ever, also here. */
__attribute__((unused)) static int bench_run(struct bench *b)
{
	int total = 0;
	for (time_t until = time(NULL) + 300; !queue_status(b->q).idle;) {
		int n = queue_step(b->q, 1000, &err);
		if (n < 0)
			return -1;
		total += n;
		if (time(NULL) > until)
			return -2;
	}
	return total;
}

#endif
