/* How long a key press takes: one analysis and the what-ifs beside it, on residual networks of growing size.
 * Run by `make bench`; prints the median of several recomputations. */
#include "config.h"

#include "analyze/analyze.h"
#include "tests/unit/make_plan.h"

#include <math.h>
#include <time.h>

#define IMAGE "1x64x56x56"
#define RUNS 11
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
	const char **texts = analyze_problems(a, p, f, true, &count);
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
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static double recompute_ms(const struct plan *p, const struct fusion *f, const struct results *r,
	const struct scenario *s)
{
	const struct device d = { .llc_bytes = NAN, .has_matrix = true };
	struct peaks peaks = peaks_unknown();
	peaks.bandwidth_bytes_s = 1e11;
	peaks.flops[DTYPE_F32] = 1e12;
	const struct ground g = { .plan = p, .fusion = f, .results = r, .device = &d, .peaks = &peaks };
	double runs[RUNS];
	for (int i = 0; i < RUNS; i++) {
		struct arena a = { 0 };
		int count;
		double begin = now_ms();
		analyze(&a, &g, s);
		analyze_what_ifs(&a, &g, s, &count);
		arena_free(&a);
		runs[i] = now_ms() - begin;
	}
	qsort(runs, RUNS, sizeof(*runs), compare);
	return runs[RUNS / 2];
}

static void bench(int layers, int kinds)
{
	struct maker *m = make_begin();
	struct plan *p = residual_network(m, layers, kinds);
	double begin = now_ms();
	struct fusion *f = fusion_find(p);
	double found = now_ms() - begin;
	struct arena a = { 0 };
	struct results *r = measured(&a, p, f);
	struct scenario plain = scenario_default(), all = plain;
	scenario_parse(&all, "fusion,parallel,matrix", NULL);
	printf("%7d layers %6d distinct: %8.2f ms plain, %8.2f ms with all what-ifs on (groups found once in "
	       "%.1f ms)\n",
		p->layer_count, p->problem_count + f->text_count, recompute_ms(p, f, r, &plain),
		recompute_ms(p, f, r, &all), found);
	results_free(r);
	arena_free(&a);
	fusion_free(f);
	make_end(m);
}

int main(void)
{
	puts("analysis and seven what-ifs, 6 algorithms in 4 states a problem");
	for (int layers = 1000; layers <= 100000; layers *= 10) {
		bench(layers, 20);
		bench(layers, layers / 10);
	}
	return 0;
}
