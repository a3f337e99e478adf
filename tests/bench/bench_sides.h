/* What bench_rows and bench_pair share: sides that are timed in turn, among them the fastest algorithm of
 * some backends, and the lines that they answer:
 *   open PROBLEM    {"threads", "sides": {NAME: algorithm}}
 *   run SIDE MS     {"ns"}: the time of one execution */
#ifndef BENCH_SIDES_H
#define BENCH_SIDES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "runner/host/team.h"
#include "runner/measure/measure.h"
#include "runner/measure/offers.h"

#define TRIED_NS 30e6 /* for each implementation when the fastest is looked for */

struct side {
	const char *name;
	void *state;
	double (*run)(void *side, int64_t times);
	char what[128]; /* "": missing */
};

/* Runs for about `ns`, at least once after an untimed one; returns the time of one execution. */
static double side_time(const struct side *s, double ns)
{
	double one = s->run(s->state, 1), spent = 0;
	int64_t count = 0;
	while (spent < ns && !isnan(spent)) {
		int64_t times = (int64_t)fmin(fmax((ns - spent) / fmax(one, 100), 1), 10000);
		spent += s->run(s->state, times);
		count += times;
	}
	return spent / (double)count;
}

/* --- the state of a side that is an algorithm of a backend --- */

struct backed {
	struct offers offers;
	int best;
	void *work;
};

static double backed_run(void *side, int64_t times)
{
	struct backed *b = side;
	struct error err = ERROR_NONE;
	double ns = NAN;
	const struct backend *backend = b->offers.offer[b->best].list->backend;
	return backend->run(b->work, CACHE_NET, times, &ns, &err) ? NAN : ns;
}

static void backed_release(struct backed *b)
{
	if (b->work)
		b->offers.offer[b->best].list->backend->release(b->work);
	b->work = NULL;
}

static void backed_close(struct backed *b)
{
	backed_release(b);
	if (b->offers.count)
		offers_close(&b->offers);
	*b = (struct backed){ 0 };
}

static bool backed_prepare(struct backed *b, int i, const struct backend_limits *limits)
{
	const struct offer *o = &b->offers.offer[i];
	enum status status;
	struct error err = ERROR_NONE;
	b->best = i;
	b->work = o->list->backend->prepare(o->list, o->index, limits, &status, &err);
	return b->work != NULL;
}

/* Takes the fastest algorithm of the backends (NULL-terminated). */
static void backed_open(struct side *s, const struct backend *const *backends, const struct problem *p,
	struct backend_limits limits)
{
	struct backed *b = s->state;
	struct error err = ERROR_NONE;
	double least = INFINITY;
	int best = -1;
	if (offers_open(&b->offers, backends, p, false, &err))
		return;
	for (int i = 0; i < b->offers.count && b->offers.count > 1; i++) {
		if (algorithm_is_in_place(&b->offers.offer[i].algorithm)) /* it moves fewer bytes */
			continue;
		double ns = backed_prepare(b, i, &limits) ? side_time(s, TRIED_NS) : INFINITY;
		best = ns < least ? i : best;
		least = fmin(ns, least);
		backed_release(b);
	}
	if (backed_prepare(b, best < 0 ? 0 : best, &limits))
		snprintf(s->what, sizeof(s->what), "%s %s", b->offers.offer[b->best].algorithm.name,
			b->offers.offer[b->best].algorithm.layouts);
}

/* --- answers --- */

static void sides_print(const struct side *sides, size_t count)
{
	const char *between = "";
	printf("{\"threads\": %d, \"sides\": {", team_size());
	for (size_t i = 0; i < count; i++)
		if (sides[i].what[0]) {
			printf("%s\"%s\": \"%s\"", between, sides[i].name, sides[i].what);
			between = ", ";
		}
	printf("}}\n");
}

/* Answers the lines of the input; `open` opens the sides of a problem. */
static void sides_serve(struct side *sides, size_t count, void (*open)(const char *text))
{
	char line[PROBLEM_TEXT_SIZE + 16], text[PROBLEM_TEXT_SIZE], name[16];
	for (double ms; fgets(line, sizeof(line), stdin); fflush(stdout))
		if (sscanf(line, "open %1023s", text) == 1) {
			open(text);
			sides_print(sides, count);
		} else if (sscanf(line, "run %15s %lf", name, &ms) == 2) {
			for (size_t i = 0; i < count; i++)
				if (strcmp(sides[i].name, name) == 0 && sides[i].what[0])
					printf("{\"ns\": %.1f}\n", side_time(&sides[i], ms * 1e6));
		}
}

/* Starts the library and its threads. -1, with a message: it cannot. */
static int sides_start(const char *program)
{
	struct str stack = { 0 };
	struct threads threads;
	struct error err = ERROR_NONE;
	bool has_matrix;
	json_t *attributes = json_object();
	int bad = backend_onednn.probe(&stack, attributes, &has_matrix, &err);
	if (bad)
		fprintf(stderr, "%s: %s\n", program, err.text);
	threads_probe(&threads);
	team_set(threads.count);
	str_free(&stack);
	json_decref(attributes);
	return bad;
}

#endif
