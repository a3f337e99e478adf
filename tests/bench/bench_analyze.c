/* CPU time of a key press that switches a what-if: the analysis, and the effects of all rows of the table, on
 * residual networks of growing size that are measured completely. Run by `make bench`. A walk switches
 * one row at a time, at random. Before each walk a result arrives, so that no total is known from before; of
 * several walks with the same analyzer the least of each press counts. */
#include "config.h"

#include "analyze/analyze.h"
#include "tests/unit/make_plan.h"

#include <math.h>
#include <time.h>

#define IMAGE "1x64x56x56"
#define PRESSES 24
#define WALKS 4
#define PRICED_LAYERS_MAX 10000
#define TEXT_OF_(x) #x
#define TEXT_OF(x) TEXT_OF_(x)
#define ALGORITHMS 6

static int conv(struct maker *m, int channels, int x)
{
	char problem[128];
	snprintf(problem, sizeof(problem),
		"conv:f32,f32.c,f32/f32:n1c%dh56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1", channels);
	return make_layer(m, "Conv", problem, IMAGE, x, make_constant(m, "64x64x3x3"));
}

/* A chain of residual blocks of seven layers; `kinds` different convolutions. */
static struct plan *residual_network(struct maker *m, int layers, int kinds)
{
	int x = make_input(m, IMAGE), i = 0;
	while (m->plan.layer_count < layers) {
		int y = make_batchnorm(m, IMAGE, 64, conv(m, 1 + i++ % kinds, x));
		y = make_layer(m, "Relu", "eltwise:f32,f32:relu:" IMAGE, IMAGE, y, -1);
		y = make_batchnorm(m, IMAGE, 64, conv(m, 1 + i++ % kinds, y));
		y = make_layer(m, "Add", "binary:f32,f32,f32:add:" IMAGE ":" IMAGE, IMAGE, y, x);
		x = make_layer(m, "Relu", "eltwise:f32,f32:relu:" IMAGE, IMAGE, y, -1);
	}
	m->plan.values[x].is_output = true;
	return make_finish(m);
}

static struct results *measured(struct arena *a, const struct plan *p, const struct fusion *f)
{
	struct results *r = results_new();
	int count;
	const char **texts = analyze_problems_in(a, p, f, true, 0, &count);
	for (int i = 0; i < count * ALGORITHMS * CACHE_COLD * LAUNCH_COUNT; i++) {
		char name[16];
		int k = i / count;
		struct result one = make_result(texts[i % count], 1000 + i % count + k);
		snprintf(name, sizeof(name), "algorithm %d", k % ALGORITHMS);
		one.algorithm.name = name;
		one.algorithm.rank = k % ALGORITHMS;
		one.cache = k / ALGORITHMS % CACHE_COLD;
		one.launch = k / ALGORITHMS / CACHE_COLD;
		results_put(r, &one);
	}
	return r;
}

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* Switches one row that is available, to any of its choices. */
static void switch_one(struct analyzer *z, const struct ground *g, struct scenario *s, uint64_t *random)
{
	int count;
	const struct what_if *table = what_if_table(&count), *row;
	struct what_if_effect effect;
	do {
		*random = *random * 6364136223846793005u + 1442695040888963407u;
		row = &table[(*random >> 33) % (unsigned)count];
		analyzer_effect_begin(z, g, s, (int)(row - table), &effect);
	} while (row->stage == STAGE_PLAN || !effect.available);
	int choices = what_if_choices(row);
	row->set(s, (row->get(s) + 1 + (int)((*random >> 20) % (unsigned)(choices - 1))) % choices);
}

struct press {
	double bound_ms, all_ms; /* the analysis; with all effects */
};

static struct press press(struct analyzer *z, const struct ground *g, const struct scenario *s)
{
	struct arena a = { 0 };
	struct what_if_effect effect;
	struct press p;
	int count;
	what_if_table(&count);
	double begin = now_ms();
	analyzer_run(z, &a, g, s);
	p.bound_ms = now_ms() - begin;
	for (int i = 0; i < count; i++)
		analyzer_effect(z, g, s, i, &effect);
	p.all_ms = now_ms() - begin;
	arena_free(&a);
	return p;
}

/* A result arrives, of a problem that the plan does not have. */
static void arrive(struct results *r)
{
	static int64_t date;
	struct result one = make_result("eltwise:f32,f32:relu:1", 1);
	one.measured_at = ++date;
	results_add(r, &one);
}

static void walk(struct analyzer *z, const struct ground *g, struct results *r, enum layouts layouts,
	struct press *least)
{
	struct scenario s = scenario_default();
	uint64_t random = 1;
	s.layouts = layouts;
	arrive(r);
	for (int i = 0; i < PRESSES; i++) {
		switch_one(z, g, &s, &random);
		struct press p = press(z, g, &s);
		least[i].bound_ms = p.bound_ms < least[i].bound_ms ? p.bound_ms : least[i].bound_ms;
		least[i].all_ms = p.all_ms < least[i].all_ms ? p.all_ms : least[i].all_ms;
	}
}

static double middle(const struct press *least, bool all, double *most)
{
	double ms[PRESSES];
	for (int i = 0; i < PRESSES; i++)
		ms[i] = all ? least[i].all_ms : least[i].bound_ms;
	qsort(ms, PRESSES, sizeof(*ms), compare);
	*most = ms[PRESSES - 1];
	return ms[PRESSES / 2];
}

static void presses(const char *what, const struct ground *g, struct results *r, enum layouts layouts)
{
	struct press least[PRESSES];
	struct analyzer *z = analyzer_new();
	for (int i = 0; i < PRESSES; i++)
		least[i] = (struct press){ INFINITY, INFINITY };
	for (int i = 0; i < WALKS; i++)
		walk(z, g, r, layouts, least);
	double bound_most, all_most;
	double bound = middle(least, false, &bound_most), all = middle(least, true, &all_most);
	printf("%7d layers %6d distinct %-7s bound %8.3f ms, most %8.3f; "
	       "with all effects %8.3f, most %8.3f\n",
		g->plan->layer_count, g->plan->problem_count + g->fusion->text_count, what, bound, bound_most,
		all, all_most);
	fflush(stdout);
	analyzer_free(z);
}

static void bench(int layers, int kinds)
{
	struct maker *m = make_begin();
	struct plan *p = residual_network(m, layers, kinds);
	struct fusion *f = fusion_find(p);
	struct arena a = { 0 };
	struct results *r = measured(&a, p, f);
	const struct device d = { .llc_bytes = NAN, .has_matrix = true };
	struct peaks peaks = peaks_unknown();
	peaks.bandwidth_bytes_s = 1e11;
	peaks.flops[DTYPE_F32] = 1e12;
	const struct ground g = { .plan = p, .fusion = f, .results = r, .device = &d, .peaks = &peaks };
	presses("", &g, r, LAYOUTS_FREE);
	if (layers <= PRICED_LAYERS_MAX)
		presses("priced", &g, r, LAYOUTS_PRICED);
	results_free(r);
	arena_free(&a);
	fusion_free(f);
	make_end(m);
}

int main(int argc, char **argv)
{
	int most = argc > 1 ? atoi(argv[1]) : 100000, least = argc > 2 ? atoi(argv[2]) : 1000;
	base_memory_keep();
	puts("CPU ms of switching one what-if, median and most of " TEXT_OF(PRESSES) " presses; 6 algorithms "
	     "in 4 states a problem; aim: 0.2, 2, 20 ms");
	for (int layers = least; layers <= most; layers *= 10) {
		bench(layers, 20);
		bench(layers, layers / 10);
	}
	return 0;
}
