/* XSP's analyses on small executions and plans whose figures are computed by hand. */
#include "config.h"

#include "analyze/tables/xsp.h"

#include "make_plan.h"
#include "tap.h"

/* Of a column's known numbers; NaN if all are unknown. */
static double sum_of(const struct xsp_table *t, int column)
{
	double sum = NAN;
	for (int i = 0; i < t->row_count; i++) {
		double x = xsp_cell(t, i, column)->number;
		if (!isnan(x))
			sum = isnan(sum) ? x : sum + x;
	}
	return sum;
}

static struct arena arena;
static struct error err;

static const struct xsp_table *table_of(const struct xsp_input *in, const char *id)
{
	int count;
	const struct xsp_analysis *all = xsp_analyses(&count);
	for (int i = 0; i < count; i++)
		if (!strcmp(all[i].id, id))
			return xsp_analyze(&arena, &all[i], in);
	return NULL;
}

static double number(const struct xsp_table *t, int row, const char *column)
{
	for (int i = 0; i < t->analysis->column_count; i++)
		if (!strcmp(t->analysis->columns[i].name, column))
			return xsp_cell(t, row, i)->number;
	printf("# no column %s\n", column);
	return NAN;
}

static const char *text(const struct xsp_table *t, int row, const char *column)
{
	for (int i = 0; i < t->analysis->column_count; i++)
		if (!strcmp(t->analysis->columns[i].name, column))
			return xsp_cell(t, row, i)->text;
	return NULL;
}

static void is_row(const struct xsp_table *t, int row, const char *name, const char *columns, ...)
{
	char column[32];
	va_list ap;
	va_start(ap, columns);
	for (const char *p = columns; *p; p += strcspn(p, " "), p += *p == ' ') {
		snprintf(column, sizeof(column), "%.*s", (int)strcspn(p, " "), p);
		double want = va_arg(ap, double), got = row < t->row_count ? number(t, row, column) : -1;
		if (!ok(isnan(want) ? isnan(got) : fabs(got - want) <= 1e-9 * fabs(want), "%s %s: %s of %s",
			    t->analysis->id, t->analysis->name, column, name))
			printf("# got %.17g want %.17g\n", got, want);
	}
	va_end(ap);
}

/* ---- an execution ---- */

static struct execution_row *row(struct execution *e, enum execution_level level, int parent,
	const char *name, const char *op, double ns)
{
	static int room;
	room = e->row_count ? room : 0;
	struct execution_row *r = execution_add(&arena, e, &room);
	r->level = level;
	r->parent = parent;
	r->name = name;
	r->op = op;
	r->ns = ns;
	r->calls = 1;
	return r;
}

static void counters(struct execution_row *r, double flops, double reads, double writes, double occupancy)
{
	r->flops = flops;
	r->read_bytes = reads;
	r->write_bytes = writes;
	r->occupancy = occupancy;
}

/* Layers c1 (conv: 2 kernels), r (relu: 1), c2 (conv: 1), f (flatten: none); the profiler costs 10 ns a
 * layer. Known peaks: 1000 GFLOP/s, 100 GB/s, so the ideal intensity is 10. */
static struct execution sample(void)
{
	struct execution e = execution_new();
	e.framework = "fw", e.version = "1.2", e.batch = 4, e.dtype = "f32";
	e.stats.median = 1000;
	e.profiler_row_ns = e.profiler_inside_ns = 10;
	row(&e, LEVEL_LAYER, -1, "c1", "Conv", 410)->output_bytes = 300;
	row(&e, LEVEL_LAYER, -1, "r", "Relu", 110)->output_bytes = 300;
	row(&e, LEVEL_LAYER, -1, "c2", "Conv", 310)->output_bytes = 100;
	row(&e, LEVEL_LAYER, -1, "f", "Flatten", NAN);
	counters(row(&e, LEVEL_KERNEL, 0, "gemm", "", 100), 4000, 100, 100, 0.5);
	counters(row(&e, LEVEL_KERNEL, 0, "gemm", "", 200), 8000, 200, 200, 0.2);
	counters(row(&e, LEVEL_KERNEL, 1, "relu", "", 50), 100, 400, 400, 1);
	counters(row(&e, LEVEL_KERNEL, 2, "wino", "", 250), 5000, 150, 50, 0.4);
	return e;
}

static struct peaks peaks_sample(void)
{
	struct peaks k = peaks_unknown();
	k.bandwidth_bytes_s = 100e9;
	k.flops[DTYPE_F32] = 1000e9;
	return k;
}

static void test_layers(const struct xsp_input *in)
{
	/* c1 410 - 10 = 400, r 100, c2 300: 800 in all */
	const struct xsp_table *t = table_of(in, "A2");
	is_int(t->row_count, 4, "A2: four layers");
	is_row(t, 0, "c1", "latency_ns output_bytes", 400.0, 300.0);
	is_row(t, 3, "f", "latency_ns output_bytes", NAN, NAN);
	is_str(text(t, 0, "name"), "c1", "A2: name");
	is_str(t->note, "layers at least 800 ns; model 1.00 us; less 10 ns per layer for the profiler; "
			"1 layer without a latency", "A2: totals");
	t = table_of(in, "A3");
	is_row(t, 1, "r", "latency_ns share", 100.0, 0.125);
	double layers = sum_of(t, 2);
	t = table_of(in, "A4");
	is_row(t, 2, "c2", "output_bytes share", 100.0, 1.0 / 7);
	t = table_of(in, "A5");
	is_int(t->row_count, 3, "A5: three types");
	is_str(text(t, 0, "type"), "Conv", "A5: the most frequent first");
	is_row(t, 0, "Conv", "count share", 2.0, 0.5);
	t = table_of(in, "A6");
	is_row(t, 0, "Conv", "count latency_ns share", 2.0, 700.0, 0.875);
	is_row(t, 2, "Flatten", "count latency_ns share", 1.0, NAN, NAN);
	ok(sum_of(t, 2) == layers && layers == 800, "the sums of A6 and A3 are equal");
	t = table_of(in, "A7");
	is_row(t, 0, "Conv", "count output_bytes share", 2.0, 400.0, 4.0 / 7);
}

static void test_kernels(const struct xsp_input *in)
{
	const struct xsp_table *t = table_of(in, "A8");
	is_int(t->row_count, 4, "A8: four kernels");
	is_row(t, 1, "gemm", "latency_ns flops read_bytes write_bytes occupancy", 200.0, 8000.0, 200.0, 200.0,
		0.2);
	is_str(text(t, 3, "layer_name"), "c2", "A8: layer");
	/* gemm: 4000 / 200 = 20 above 10; relu: 100 / 800 = 0.125 below it */
	t = table_of(in, "A9");
	is_row(t, 0, "gemm", "flops_per_byte flops_s", 20.0, 4000 / 100e-9);
	is_str(text(t, 0, "bound_by"), "compute", "A9: above the ideal intensity");
	is_str(text(t, 2, "bound_by"), "memory", "A9: below it");
	is_str(t->note, "ideal intensity 10 FLOP/B: f32 1.00 TFLOP/s, memory 100 GB/s", "A9: peaks");
	/* gemm: 100 + 200 ns of 600; occupancy (100 * .5 + 200 * .2) / 300 = .3 */
	t = table_of(in, "A10");
	is_row(t, 0, "gemm", "count latency_ns share flops read_bytes occupancy", 2.0, 300.0, 0.5, 12000.0,
		300.0, 0.3);
	is_str(text(t, 1, "name"), "wino", "A10: then the next in latency");
	t = table_of(in, "A11");
	is_int(t->row_count, 3, "A11: layers with kernels");
	is_row(t, 0, "c1", "kernels layer_ns kernel_ns occupancy flops_per_byte", 2.0, 400.0, 300.0, 0.3,
		20.0);
	t = table_of(in, "A12");
	is_row(t, 0, "c1", "flops read_bytes write_bytes", 12000.0, 300.0, 300.0);
	t = table_of(in, "A13");
	is_row(t, 0, "c1", "layer_ns kernel_ns other_ns kernel_share", 400.0, 300.0, 100.0, 0.75);
	is_row(t, 3, "f", "layer_ns kernel_ns other_ns kernel_share", NAN, 0.0, NAN, NAN);
	/* c1: 12000 FLOP in 400 ns = 30 GFLOP/s of the 1000 that intensity 20 allows; r: .125 * 100 = 12.5 */
	t = table_of(in, "A14");
	is_int(t->row_count, 3, "A14: layers that compute");
	is_row(t, 0, "c1", "flops_per_byte flops_s roofline_share", 20.0, 30e9, 0.03);
	is_row(t, 1, "r", "flops_per_byte flops_s roofline_share", 0.125, 1e9, 0.08);
	is_str(text(t, 1, "bound_by"), "memory", "A14: limit");
	/* 17100 FLOP, 850 + 750 bytes; occupancy (50 + 40 + 50 + 100) / 600 */
	t = table_of(in, "A15");
	is_row(t, 0, "model",
		"model_ns kernel_ns share flops read_bytes write_bytes occupancy flops_per_byte flops_s",
		1000.0, 600.0, 0.6, 17100.0, 850.0, 750.0, 0.4, 17100.0 / 1600, 17100 / 600e-9);
}

static void test_batches(void)
{
	/* images a second: 1 million, 1.9, 2.0 (5.3% more), 2.08 (4% more: not worth it) */
	static const double ns[] = { 1000, 2 / 1.9e-3, 4 / 2.0e-3, 8 / 2.08e-3 };
	struct execution e[6];
	struct xsp_execution list[6];
	for (int i = 0; i < 6; i++) {
		e[i] = execution_new();
		e[i].framework = i == 5 ? "other" : "fw";
		e[i].batch = i < 4 ? 1 << (3 - i) : 1;
		e[i].stats.median = i < 4 ? ns[3 - i] : i == 4 ? NAN : 1;
		list[i] = (struct xsp_execution){ &e[i], NULL };
	}
	struct plan plan = { .dtype = DTYPE_F32 };
	struct xsp_input in = { .plan = &plan, .executions = list, .execution_count = 6 };
	const struct xsp_table *t = table_of(&in, "A1");
	is_int(t->row_count, 4, "A1: executions of one framework with a latency");
	is_row(t, 0, "batch 1", "batch latency_ns items_s", 1.0, 1000.0, 1e6);
	is_str(text(t, 2, "optimal"), "yes", "A1: the last doubling that gains more than 5%%");
	ok(!*text(t, 1, "optimal") && !*text(t, 3, "optimal"), "A1: one is optimal");
	in.execution_count = 1;
	t = table_of(&in, "A1");
	ok(t->row_count == 1 && !*text(t, 0, "optimal"), "A1: of one batch none is optimal");
	is_str(t->note, "the optimal batch needs executions of several batches", "A1: says why");
}

/* Each level from the execution in which it is the deepest. */
static void test_levels(void)
{
	struct execution kernels = sample(), layers = execution_new(), model = execution_new();
	struct plan plan = { .dtype = DTYPE_F32 };
	kernels.stats.median = kernels.profiler_row_ns = kernels.profiler_inside_ns = NAN;
	layers.framework = model.framework = "fw";
	row(&layers, LEVEL_LAYER, -1, "c2", "Conv", 200);
	row(&layers, LEVEL_LAYER, -1, "c1", "Conv", 330);
	model.stats.median = 900;
	struct xsp_execution list[] = { { &kernels, NULL }, { &layers, NULL }, { &model, NULL } };
	struct xsp_input in = { .plan = &plan, .executions = list, .execution_count = 1 };
	const struct xsp_table *t = table_of(&in, "A13");
	is_row(t, 0, "c1", "layer_ns kernel_ns", 410.0, 300.0);
	t = table_of(&in, "A15");
	ok(t->row_count == 0 && strstr(t->missing, "level model is missing"),
		"no latency without a profiler");
	in.execution_count = 3;
	t = table_of(&in, "A13");
	is_int(t->row_count, 2, "layers of the execution without kernels");
	is_row(t, 1, "c1", "layer_ns kernel_ns", 330.0, 300.0);
	is_row(t, 0, "c2", "layer_ns kernel_ns", 200.0, 250.0);
	ok(strstr(t->note, "1 kernel without a layer") != NULL, "a kernel whose layer it lacks");
	ok(strstr(t->note, "layers from another execution (fw)") && !strstr(t->note, "kernels from"),
		"the execution that lends a level is named");
	t = table_of(&in, "A15");
	is_row(t, 0, "model", "model_ns kernel_ns", 900.0, 600.0);
	kernels.threads = 1, model.threads = 2;
	ok(table_of(&in, "A15")->row_count == 0, "an execution on other threads lends no level");
	model.threads = 1;
	kernels.inputs = "x:f32:1x3", model.inputs = "x:f32:1x4";
	ok(table_of(&in, "A15")->row_count == 0, "nor one of other inputs");
	model.inputs = kernels.inputs;
	kernels.version = "1", model.version = "2";
	ok(table_of(&in, "A15")->row_count == 0, "nor another version");
	model.version = "1";
	is_int(table_of(&in, "A15")->row_count, 1, "an equal one does");
	kernels.row_count = 4;
	in.execution_count = 1;
	t = table_of(&in, "A8");
	ok(t->row_count == 0 && strstr(t->missing, "level kernel is missing"), "no kernels");
	kernels.row_count = 0;
	t = table_of(&in, "A6");
	ok(t->row_count == 0 && strstr(t->missing, "level layer is missing"), "no layers");
}

/* ---- the bound alone ---- */

#define CONV "conv:f32,f32.c,f32/f32:n1c2h4w4k2r1s1:ph0pw0qh0qw0:sh1sw1:dh1dw1:g1"

/* Costs by a word, their distribution, and gains: Conv 500 of 600 preferred, Relu 200, Softmax unknown. */
static void test_costs(struct xsp_input *in, struct results *r)
{
	struct scenario s = scenario_default();
	measure_algorithm(r, CONV, "fast", 1, MATRIX_NO, 500);
	const struct ground *g = GROUND(in->plan, NULL, r, NULL);
	in->ground = g;
	in->bound = analyze(&arena, g, &s);
	const struct xsp_table *t = table_of(in, "B1");
	is_row(t, 0, "Conv", "count latency_ns share preferred_ns", 1.0, 500.0, 5.0 / 7, 600.0);
	is_row(t, 2, "Reshape", "count latency_ns", 1.0, 0.0);
	is_row(t, 3, "Softmax", "count latency_ns share", 1.0, NAN, NAN);
	is_str(t->note, "1 layer without a cost", "what is missing is said");
	t = table_of(in, "B3");
	ok(sum_of(t, 1) == 4 && sum_of(t, 2) == 700, "classes have all layers and costs");
	t = table_of(in, "B6");
	ok(sum_of(t, 1) == 4 && sum_of(t, 2) == 700, "limits have all layers and costs");
	struct peaks none = peaks_unknown();
	const struct peaks *before = in->peaks;
	in->peaks = &none;
	t = table_of(in, "B6");
	is_str(xsp_cell(t, 0, 0)->text, "unknown", "without peaks no limit is known");
	ok(strstr(t->note, "1 layer without a cost; limit unknown; of the costliest layer because ") != NULL,
		"and why: %s", t->note);
	in->peaks = before;
	t = table_of(in, "B4");
	is_row(t, 0, "half", "cost_share layers least_ns sum_ns", 0.5, 1.0, 500.0, 500.0);
	is_row(t, 1, "most", "cost_share layers least_ns sum_ns", 0.8, 2.0, 200.0, 700.0);
	is_row(table_of(in, "B5"), 0, "Conv", "latency_ns gain_algorithm_ns", 500.0, NAN);
	measure(r, "softmax:f32,f32:soft:1x32:ax1", 100);
	in->bound = analyze(&arena, g, &s);
	t = table_of(in, "B5");
	is_row(t, 0, "Conv", "latency_ns preferred_ns gain_algorithm_ns", 500.0, 600.0, 100.0);
	is_row(t, 1, "Relu", "latency_ns gain_algorithm_ns gain_matrix_ns", 200.0, 0.0, NAN);
	in->ground = NULL;
	is_row(table_of(in, "B5"), 0, "Conv", "latency_ns gain_algorithm_ns", 500.0, NAN);
}

static void test_scopes(void)
{
	static const char *const names[] = { "/enc/a/q/MatMul", "/enc/a/k/MatMul", "/enc/b/q/MatMul",
		"/enc/c/Add", "/enc/d/Add", "/Add" };
	struct maker *m = make_begin();
	struct results *r = results_new();
	int x = make_input(m, "1x200");
	for (int i = 0; i < 6; i++)
		x = make_layer(m, "Relu", "eltwise:f32,f32:relu:1x200", "1x200", x, -1);
	struct plan *p = make_finish(m);
	for (int i = 0; i < 6; i++)
		p->layers[i].name = text_of(names[i]);
	measure(r, "eltwise:f32,f32:relu:1x200", 100);
	struct scenario s = scenario_default();
	struct xsp_input in = { .plan = p, .bound = analyze(&arena, GROUND(p, NULL, r, NULL), &s) };
	const struct xsp_table *t = table_of(&in, "B2");
	is_int(t->row_count, 5, "two parts of the names: four scopes and none");
	is_str(text(t, 0, "scope"), "enc/a", "the one of highest cost first");
	is_row(t, 0, "enc/a", "count latency_ns", 2.0, 200.0);
	ok(sum_of(t, 2) == 600, "all layers");
	results_free(r);
	make_end(m);
}

static void test_bound(void)
{
	struct maker *m = make_begin();
	int x = make_input(m, "1x2x4x4");
	int a = make_layer(m, "Conv", CONV, "1x2x4x4", x, -1);
	int b = make_layer(m, "Relu", "eltwise:f32,f32:relu:1x2x4x4", "1x2x4x4", a, -1);
	int c = make_layer(m, "Reshape", NULL, "32", b, -1);
	make_layer(m, "Softmax", "softmax:f32,f32:soft:1x32:ax1", "1x32", c, -1);
	struct plan *p = make_finish(m);
	p->layers[0].flops = 128, p->layers[0].bytes = 64;
	p->layers[1].flops = 32, p->layers[1].bytes = 320;
	struct results *r = results_new();
	measure(r, CONV, 600);
	measure(r, "eltwise:f32,f32:relu:1x2x4x4", 200);
	struct scenario s = scenario_default();
	const struct peaks k = peaks_sample();
	struct analysis *bound = analyze(&arena, GROUND(p, NULL, r, NULL), &s);
	struct xsp_input in = { .plan = p, .bound = bound, .peaks = &k };
	const struct xsp_table *t = table_of(&in, "A2");
	is_int(t->row_count, 4, "the layers of the plan");
	is_row(t, 0, "Conv", "layer latency_ns output_bytes", 0.0, 600.0, 128.0);
	is_row(t, 3, "Softmax", "layer latency_ns output_bytes", 3.0, NAN, 128.0);
	is_str(text(t, 0, "shape"), "1x2x4x4", "shape of the output");
	is_str(t->note, "layers at least 800 ns; 1 layer without a latency", "what is not measured is a gap");
	t = table_of(&in, "A6");
	is_row(t, 0, "Conv", "latency_ns share", 600.0, 0.75);
	ok(sum_of(t, 2) == sum_of(table_of(&in, "A3"), 2), "the sums of A6 and A3 are equal");
	ok(sum_of(t, 2) == bound->sequential_ns, "and that of the bound");
	/* Conv: 128 / 64 = 2 FLOP/B below 10; 128 FLOP in 600 ns of the 200 GFLOP/s that 2 FLOP/B allow */
	t = table_of(&in, "A14");
	is_row(t, 0, "Conv", "flops_per_byte flops_s roofline_share", 2.0, 128 / 600e-9,
		128 / 600e-9 / 200e9);
	is_str(text(t, 0, "bound_by"), "memory", "limit");
	is_int(table_of(&in, "A5")->row_count, 4, "types");
	t = table_of(&in, "A8");
	ok(t->row_count == 0 && strstr(t->missing, "needs an execution"), "kernels need an execution");
	test_costs(&in, r);
	in.peaks = NULL;
	t = table_of(&in, "A14");
	ok(isnan(number(t, 0, "roofline_share")) && !*text(t, 0, "bound_by") && strstr(t->note, "unknown"),
		"without peaks no roofline");
	in.bound = NULL;
	ok(strstr(table_of(&in, "A2")->missing, "the bound is unknown"), "without a bound nothing");
	results_free(r);
	make_end(m);
}

/* What fused layers compute: Conv, Relu and Reshape in one row, then Softmax. */
static void test_fused(void)
{
	struct maker *m = make_begin();
	int x = make_input(m, "1x2x4x4");
	int a = make_layer(m, "Conv", CONV, "1x2x4x4", x, -1);
	int b = make_layer(m, "Relu", "eltwise:f32,f32:relu:1x2x4x4", "1x2x4x4", a, -1);
	int c = make_layer(m, "Reshape", NULL, "1x32", b, -1);
	make_layer(m, "Softmax", "softmax:f32,f32:soft:1x32:ax1", "1x32", c, -1);
	struct plan *p = make_finish(m);
	p->layers[0].flops = 2000, p->layers[0].bytes = 744;
	p->layers[1].flops = 32, p->layers[1].bytes = 256;
	p->layers[2].flops = p->layers[2].bytes = 0;
	p->layers[3].flops = 128, p->layers[3].bytes = 256;
	struct execution e = execution_new();
	row(&e, LEVEL_LAYER, -1, "fused", "", 100)->nodes = "Conv\nRelu\nReshape";
	row(&e, LEVEL_LAYER, -1, "soft", "", 50)->nodes = "Softmax";
	const struct xsp_execution one = { &e, match_execution(&arena, &e, p) };
	const struct peaks k = peaks_sample();
	struct xsp_input in = { .plan = p, .peaks = &k, .executions = &one, .execution_count = 1 };
	/* 744 + 256 bytes less the 128 that are neither written nor read again: 2032 FLOP in 744 bytes */
	const struct xsp_table *t = table_of(&in, "A14");
	is_row(t, 0, "fused", "layer flops_per_byte", 0.0, 2032.0 / 744);
	is_row(t, 1, "soft", "layer flops_per_byte", 3.0, 0.5);
	is_str(text(t, 0, "type"), "Conv", "the type is that of the first layer that runs");
	is_str(text(table_of(&in, "A2"), 0, "shape"), "1x32", "the shape is that of the last");
	make_end(m);
}

static void test_names(void)
{
	unsigned wanted;
	ok(xsp_parse("A2,a6", false, &wanted, &err) == 0 && wanted == (1u << 1 | 1u << 5), "ids");
	ok(xsp_parse("kernel-roofline", false, &wanted, &err) == 0 && wanted == 1u << 8, "a name");
	ok(xsp_parse("all", false, &wanted, &err) == 0 && wanted == 0x7fff, "all");
	ok(xsp_parse("all", true, &wanted, &err) == 0 &&
			wanted == (1u << 1 | 1u << 2 | 1u << 4 | 1u << 5 | 1u << 13 | 0x3fu << 15),
		"all of the bound");
	ok(xsp_parse("A16", false, &wanted, &err) < 0 &&
			strstr(err.text, "--analysis A16: no such analysis; use all, A1 model"),
		"an unknown one");
	ok(xsp_parse("A8", true, &wanted, &err) < 0 && strstr(err.text, "needs an execution"),
		"not of the bound");
	ok(xsp_parse("gains", true, &wanted, &err) == 0 && wanted == 1u << 19, "one of the bound alone");
	ok(xsp_parse("B1", false, &wanted, &err) < 0 && strstr(err.text, "needs only the bound"),
		"not of executions");
	ok(xsp_parse("", false, &wanted, &err) < 0 && xsp_parse("A2,", false, &wanted, &err) < 0,
		"an empty one");
	int count;
	const struct xsp_analysis *all = xsp_analyses(&count);
	is_int(count, 21, "fifteen of XSP, six of the bound");
	for (int i = 0; i < count; i++)
		ok(strlen(all[i].title) + strlen(all[i].name) < 72 && all[i].column_count > 2, "%s",
			all[i].title);
}

int main(void)
{
	struct execution e = sample();
	const struct xsp_execution one = { &e, NULL };
	const struct peaks k = peaks_sample();
	struct plan plan = { .dtype = DTYPE_F32 };
	const struct xsp_input in = { .plan = &plan, .peaks = &k, .executions = &one, .execution_count = 1 };
	test_layers(&in);
	test_kernels(&in);
	test_batches();
	test_levels();
	test_bound();
	test_scopes();
	test_fused();
	test_names();
	arena_free(&arena);
	return done_testing();
}
