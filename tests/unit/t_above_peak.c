/* Layers that are faster than a peak allows: which raise it, and what the totals say of the others. */
#include "config.h"

#include "world.h"

#include <math.h>

#define SIZE "1x64x56x56"
#define SQUARE "matmul:f32,f32.c,f32/f32:ba1bb1m1024n1024k1024:ta0tb0"
#define SQUARE_FLOPS (2.0 * 1024 * 1024 * 1024)
#define CONV(c, h) \
	"conv:f32,f32.c,f32/f32:n1c" #c "h" #h "w" #h "k" #c "r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"
#define CONV_ONE "conv:f32,f32.c,f32/f32:n1c64h56w56k64r1s1:ph0pw0qh0qw0:sh1sw1:dh1dw1:g1"
#define ONE_FLOPS (2.0 * 64 * 64 * 56 * 56)
#define CONV_TWO "conv:f32,f32.c,f32/f32:n1c128h56w56k64r1s1:ph0pw0qh0qw0:sh1sw1:dh1dw1:g1"
#define PEAK 1e12

static const struct device cpu = { .name = "cpu", .threads = 2, .llc_bytes = 32e6 };

static void put_with(struct results *r, const char *text, double ns, const char *notes, enum stop stop)
{
	struct result one = make_result(text, ns);
	one.algorithm.notes = notes;
	one.algorithm.matrix = MATRIX_NO;
	one.stats.min = ns;
	one.stats.stop = stop;
	results_put(r, &one);
}

static void put(struct results *r, const char *text, double ns)
{
	put_with(r, text, ns, "", STOP_CONVERGED);
}

/* The peak after two convolutions at these multiples of it, the first with notes and a reason to stop. */
static double peak_with(const char *first, double of_first, const char *notes, enum stop stop,
	const char *second, double flops, double of_second)
{
	struct results *r = results_new();
	put(r, SQUARE, SQUARE_FLOPS / PEAK * 1e9);
	put_with(r, first, ONE_FLOPS / PEAK / of_first * 1e9, notes, stop);
	if (second)
		put(r, second, flops / PEAK / of_second * 1e9);
	double peak = peaks_from_results(r, &cpu).flops[DTYPE_F32];
	results_free(r);
	return peak / PEAK;
}

static void raised(void)
{
	const enum stop done = STOP_CONVERGED;
	near(peak_with(CONV_ONE, 1.1, "", done, CONV_TWO, 2 * ONE_FLOPS, 1.05), 1.1, 1e-9,
		"a convolution that another one comes close to raises the peak");
	near(peak_with(CONV_ONE, 1.1, "", done, CONV_TWO, 2 * ONE_FLOPS, 0.95), 1, 1e-9,
		"... not if it does not come close");
	near(peak_with(CONV_ONE, 100, "", done, CONV_TWO, 2 * ONE_FLOPS, 1.05), 1, 1e-9,
		"one result, however fast, raises nothing");
	near(peak_with(CONV_ONE, 1.05, "", done, NULL, 0, 0), 1, 1e-9, "nor does a single one");
	near(peak_with(CONV_ONE, 1.2, "", done, SQUARE "+relu", SQUARE_FLOPS, 1.05), 1.05, 1e-3,
		"nor beside a product of another kernel, which the square confirms");
	near(peak_with(CONV_ONE, 1.1, "unchecked", done, CONV_TWO, 2 * ONE_FLOPS, 1.05), 1, 1e-9,
		"outputs that were not verified do not count");
	near(peak_with(CONV_ONE, 1.1, "", STOP_BUDGET, CONV_TWO, 2 * ONE_FLOPS, 1.05), 1, 1e-9,
		"nor do samples that have not converged");
	near(peak_with(CONV_ONE, 1.1, "winograd", done, CONV_TWO, 2 * ONE_FLOPS, 1.05), 1, 1e-9,
		"nor does Winograd, which does fewer multiplications");
	double padded = 2.0 * 64 * 64 * 9 * 14 * 14, needed = padded * (40.0 / 42) * (40.0 / 42);
	near(peak_with(CONV_ONE, 1.1, "", done, CONV(64, 14), needed, 1.2), 1.2, 1e-9,
		"multiplications with padding do not count");
}

static struct analysis *look_at(struct world *w, const struct peaks *k, const char *list)
{
	struct scenario s = scenario(list);
	struct ground g = { .plan = w->plan, .fusion = w->fusion, .results = w->results, .device = &w->device,
		.peaks = k };
	return analyze(&w->arena, &g, &s);
}

static int conv(struct maker *m, const char *problem, int x)
{
	return make_layer(m, "Conv", problem, SIZE, x, make_constant(m, "64x64x3x3"));
}

static struct peaks peaks(void)
{
	struct peaks k = peaks_unknown();
	k.bandwidth_bytes_s = 1e15;
	k.flops[DTYPE_F32] = PEAK;
	k.flops_spread[DTYPE_F32] = 1.05;
	return k;
}

/* Two equal convolutions side by side. */
static void open_pair(struct world *w, const char *problem, double ns)
{
	struct maker *m = make_begin();
	int x = make_input(m, SIZE), left = conv(m, problem, x), right = conv(m, problem, x);
	m->plan.values[left].is_output = m->plan.values[right].is_output = true;
	world_open_on(w, m, &cpu);
	put(w->results, problem, ns);
}

static void totals(void)
{
	struct world w;
	struct peaks k = peaks();
	const double least = ONE_FLOPS / PEAK * 1e9;
	open_pair(&w, CONV_ONE, least / 0.8);
	struct analysis *a = look_at(&w, &k, "parallel");
	is_str(a->limit, "f32 units", "two at once are limited by their units");
	near(a->total_ns, 2 * least, 1e-9, "... for what both do at the peak");
	near(a->hi_ns, 2 * least * 1.05 * 1.01, 1e-9, "the interval is that of the peak");
	near(a->lo_ns, 2 * least * 0.99, 1e-9, "... at both ends");
	is_int(a->above_peak, 0, "none is above it");
	near(look_at(&w, &k, "")->roofline_ns, 2 * least, 1e-9, "the roofline of the sum");
	world_close(&w);

	open_pair(&w, CONV_ONE, least / 1.25);
	a = look_at(&w, &k, "");
	near(a->roofline_ns, a->total_ns, 1e-9, "above the peak: a roofline is not above the cost");
	is_int(a->above_peak, 2, "... and said");
	ok(a->resource_ns <= a->sequential_ns * (1 + 1e-9), "nor is what the resources need above the sum");
	a = look_at(&w, &k, "parallel");
	near(a->total_ns, 1.6 * least, 1e-9, "a kernel uses its unit for no longer than it runs");
	ok(a->lo_ns < a->total_ns && a->hi_ns > a->total_ns, "the interval has a width");
	world_close(&w);

	double padded = 2.0 * 64 * 64 * 9 * 14 * 14 / PEAK * 1e9;
	open_pair(&w, CONV(64, 14), padded);
	near(look_at(&w, &k, "parallel")->total_ns, 2 * padded * (40.0 / 42) * (40.0 / 42), 1e-9,
		"nobody needs to multiply with padding");
	world_close(&w);
}

static void winograd(void)
{
	struct world w;
	struct peaks k = peaks();
	struct maker *m = make_begin();
	int y = conv(m, CONV(64, 56), make_input(m, SIZE));
	m->plan.values[y].is_output = true;
	world_open_on(&w, m, &cpu);
	struct result one = make_result(CONV(64, 56), 400e3);
	one.algorithm.name = "jit_wino_4x3:avx512_core";
	one.algorithm.matrix = MATRIX_NO;
	results_put(w.results, &one);
	const double own = 9 * ONE_FLOPS / 4 / PEAK * 1e9; /* 36 multiplications for 144 */
	struct analysis *a = look_at(&w, &k, "");
	near(a->layers[0].roofline_ns, own, 1e-9, "Winograd: the roofline of its own multiplications");
	near(a->roofline_ns, own, 1e-9, "... in the total");
	near(a->resource_ns, 400e3, 1e-9, "... which its units do within the cost");
	put_with(w.results, CONV(64, 56), 300e3, "", STOP_CONVERGED);
	near(look_at(&w, &k, "")->layers[0].roofline_ns, 9 * ONE_FLOPS / PEAK * 1e9, 1e-9,
		"a direct algorithm: all multiplications");
	struct results *r = results_new();
	one.algorithm.name = "fft_tiling";
	results_put(r, &one);
	results_free(w.results);
	w.results = r;
	ok(look_at(&w, &k, "")->layers[0].roofline_ns < 100, "FFT, whose number is unknown: the bytes alone");
	world_close(&w);
}

/* Elementwise problems that the L2 holds, faster than a copy there. */
static void caches(void)
{
	static const struct device two = { .name = "cpu", .threads = 2, .llc_bytes = 32 << 20,
		.attributes = "{\"caches\":[{\"level\":2,\"bytes\":524288,\"shared\":1},"
			      "{\"level\":3,\"bytes\":33554432,\"shared\":2}]}" };
	static const char relu[] = "eltwise:f32,f32:relu:1x384x14x14",
		tanh[] = "eltwise:f32,f32:tanh:1x400x14x14";
	const double bytes = 2 * 4 * 384 * 14 * 14.0, rate = 100e9;
	struct results *r = results_new();
	put(r, "copy:u8,u8:b131072", 262144 / 50e9 * 1e9);
	put(r, relu, bytes / rate * 1e9);
	double before = peaks_from_results(r, &two).level[0].bandwidth_bytes_s;
	put(r, tanh, bytes * 400 / 384 / (0.95 * rate) * 1e9);
	double after = peaks_from_results(r, &two).level[0].bandwidth_bytes_s;
	ok(before < 0.9 * rate, "one alone raises nothing: %.3g", before);
	near(after, rate, 1e-6, "two that agree raise the bandwidth of the cache");
	results_free(r);
}

int main(void)
{
	raised();
	caches();
	totals();
	winograd();
	return done_testing();
}
