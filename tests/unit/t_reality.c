#include "config.h"

#include "analyze/real/reality.h"
#include "make_plan.h"
#include "tap.h"

/* The waterfall from a bound to an execution: each kind of gap, their sum, intervals, contradictions. Times
 * are in microseconds here. */

#define US 1000.0
#define CONV "conv:f32,f32.c,f32/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"
#define FUSED CONV "+eltwise:relu"
#define RELU "eltwise:f32,f32:relu:1x64x56x56"
#define POOL "pool:f32,f32:max:n1c64h56w56r2s2:ph0pw0qh0qw0:sh2sw2:dh1dw1"

/* x -> conv -> relu -> pool -> reshape */
struct net {
	struct maker *m;
	struct plan *plan;
	struct fusion *fusion;
	struct results *results;
	struct device device;
	struct ground ground;
	struct scenario scenario;
	struct arena arena;
	struct execution e;
	int capacity;
};

static void name(struct net *n, const char *text)
{
	n->m->plan.layers[n->m->plan.layer_count - 1].name = text_of(text);
}

static struct net net_new(void)
{
	struct net n = { .m = make_begin(), .e = execution_new(), .results = results_new(),
		.scenario = scenario_default() };
	int conv = make_layer(n.m, "Conv", CONV, "1x64x56x56", make_input(n.m, "1x64x56x56"),
		make_constant(n.m, "64x64x3x3"));
	name(&n, "conv");
	int relu = make_layer(n.m, "Relu", RELU, "1x64x56x56", conv, -1);
	name(&n, "relu");
	int pool = make_layer(n.m, "MaxPool", POOL, "1x64x28x28", relu, -1);
	name(&n, "pool");
	make_layer(n.m, "Reshape", NULL, "1x50176", pool, -1);
	name(&n, "reshape");
	n.plan = make_finish(n.m);
	n.fusion = fusion_find(n.plan);
	measure(n.results, CONV, 100 * US);
	measure(n.results, RELU, 20 * US);
	measure(n.results, POOL, 30 * US);
	n.device = (struct device){ .model = "Word 1", .llc_bytes = NAN };
	n.ground = (struct ground){ .plan = n.plan, .fusion = n.fusion, .results = n.results };
	n.e.dtype = "f32";
	n.e.math = "strict";
	n.e.device = "Word 1";
	return n;
}

static void net_free(struct net *n)
{
	arena_free(&n->arena);
	fusion_free(n->fusion);
	results_free(n->results);
	make_end(n->m);
}

static struct execution_row *row(struct net *n, const char *nodes, const char *op, double us)
{
	struct execution_row *r = execution_add(&n->arena, &n->e, &n->capacity);
	r->name = *nodes ? "row" : op;
	r->nodes = nodes;
	r->op = op;
	r->ns = us * US;
	r->lo_ns = 0.98 * us * US;
	r->hi_ns = 1.02 * us * US;
	return r;
}

static struct reality *compare(struct net *n, double latency_us)
{
	n->ground.device = &n->device;
	n->e.stats.median = latency_us * US;
	n->e.stats.lo = 0.99 * latency_us * US;
	n->e.stats.hi = 1.01 * latency_us * US;
	struct match *m = match_execution(&n->arena, &n->e, n->plan);
	struct analysis *bound = analyze(&n->arena, &n->ground, &n->scenario);
	struct reality *y = reality_of(&n->arena, &n->ground, &n->scenario, bound, &n->e, m);
	double sum = 0;
	for (int k = 0; k < GAP_COUNT; k++)
		sum += isnan(y->gaps[k].ns) ? 0 : y->gaps[k].ns;
	ok(isnan(y->bound_ns) || fabs(sum - (y->measured_ns - y->bound_ns)) < 1e-6, "the gaps add up");
	return y;
}

/* The gap in microseconds, 0 if it does not occur. */
static double us(const struct reality *y, enum gap_kind k)
{
	return isnan(y->gaps[k].ns) ? 0 : y->gaps[k].ns / US;
}

static void every_layer_alone(void)
{
	struct net n = net_new();
	n.e.outside_ns = 20 * US;
	n.e.outside_lo_ns = 19 * US;
	n.e.outside_hi_ns = 22 * US;
	row(&n, "conv", "Conv", 150);
	row(&n, "relu", "Relu", 20);
	row(&n, "pool", "MaxPool", 20);
	row(&n, "reshape", "Reshape", 2);
	row(&n, "", "ReorderInput", 5);
	row(&n, "", "Pad", 4);
	row(&n, "", "Cast", 3);
	row(&n, "", "MemcpyToHost", 6);
	row(&n, "", "Mystery", 1);
	struct reality *y = compare(&n, 231);
	near(y->bound_ns, 150 * US, 1e-9, "the bound");
	near(y->layers_ns, 211 * US, 1e-9, "the sum of the rows");
	near(us(y, GAP_LAUNCH), 20, 1e-9, "launch: the time of a run outside the layers");
	near(y->gaps[GAP_LAUNCH].lo, 19 * US, 1e-9, "with its interval");
	ok(y->gaps[GAP_UNEXPLAINED].hi - y->gaps[GAP_UNEXPLAINED].lo >= y->hi - y->lo,
		"the interval of the rest contains that of the whole");
	near(us(y, GAP_ALGORITHM), 50, 1e-9, "a slower algorithm");
	is_int(y->gaps[GAP_ALGORITHM].layer_count, 1, "of one layer");
	near(us(y, GAP_FASTER), -10, 1e-9, "a faster layer");
	near(us(y, GAP_FREE), 2, 1e-9, "a layer that is free in the bound");
	near(us(y, GAP_REORDER), 5, 1e-9, "a reorder");
	near(us(y, GAP_PAD), 4, 1e-9, "a pad");
	near(us(y, GAP_CAST), 3, 1e-9, "a cast");
	near(us(y, GAP_PLACEMENT), 6, 1e-9, "a copy between providers");
	near(us(y, GAP_UNMATCHED), 1, 1e-9, "an unknown row");
	near(us(y, GAP_UNEXPLAINED), 0, 1e-9, "what is equal within its interval is unexplained, here 0");
	is_int(y->contradicted_count, 1, "the faster layer contradicts the bound");
	ok(!y->contradicted, "the whole does not");
	is_str(y->groups[0].better->algorithm.name, "a", "the better algorithm");
	near(y->ratio, 150.0 / 231, 1e-9, "the Benanza ratio");
	net_free(&n);
}

static void fused_in_reality(void)
{
	struct net n = net_new();
	row(&n, "conv\nrelu", "FusedConv", 104);
	row(&n, "pool", "MaxPool", 30);
	struct reality *y = compare(&n, 134);
	near(us(y, GAP_FASTER), -16, 1e-9, "without a fused measurement, the group beats its layers");
	measure(n.results, n.fusion->groups[n.fusion->first_group[0]].text, 100 * US);
	y = compare(&n, 134);
	near(us(y, GAP_FUSION), -20, 1e-9, "reality fuses, the bound does not");
	near(us(y, GAP_FASTER), 0, 1e-9, "the same layers, fused alike, are not faster");
	near(us(y, GAP_ALGORITHM), 4, 0.6, "they are slower by a little");
	net_free(&n);
}

static void missed_fusion(void)
{
	struct net n = net_new();
	measure(n.results, n.fusion->groups[n.fusion->first_group[0]].text, 100 * US);
	n.scenario.fusion = true;
	row(&n, "conv", "Conv", 100);
	row(&n, "relu", "Relu", 20);
	row(&n, "pool", "MaxPool", 30);
	struct reality *y = compare(&n, 150);
	near(y->bound_ns, 130 * US, 1e-9, "the bound with fusion");
	near(us(y, GAP_FUSION), 20, 1e-9, "missed fusion is the what-if's saving");
	is_int(y->gaps[GAP_FUSION].layer_count, 2, "of the group's layers");
	net_free(&n);
}

static void matrix_units(void)
{
	struct net n = net_new();
	measure_algorithm(n.results, CONV, "amx", 1, MATRIX_YES, 40 * US);
	n.scenario.matrix = true;
	row(&n, "conv", "Conv", 120)->kernel = "jit_avx512_core";
	row(&n, "relu", "Relu", 20);
	row(&n, "pool", "MaxPool", 30);
	struct reality *y = compare(&n, 170);
	near(us(y, GAP_MATRIX), 60, 1e-9, "what matrix units save");
	near(us(y, GAP_ALGORITHM), 20, 1e-9, "the rest is the algorithm");
	n.e.rows[0].kernel = "brgconv_avx512_core_amx";
	y = compare(&n, 170);
	near(us(y, GAP_MATRIX), 0, 1e-9, "a kernel on matrix units misses none");
	net_free(&n);
}

static void threads(void)
{
	struct net n = net_new();
	row(&n, "conv", "Conv", 250);
	row(&n, "relu", "Relu", 21);
	row(&n, "pool", "MaxPool", 40);
	n.device.threads = 2;
	n.e.threads = 1;
	struct reality *y = compare(&n, 311);
	near(us(y, GAP_THREADS), 125 + 1 + 10, 1e-9, "at most half of a layer's time");
	near(us(y, GAP_ALGORITHM), 25, 1e-9, "the rest is the algorithm");
	n.e.threads = 4;
	y = compare(&n, 311);
	near(us(y, GAP_THREADS), 0, 1e-9, "more threads cost nothing");
	ok(y->not_comparable != NULL, "but are not comparable");
	net_free(&n);
}

static void placement(void)
{
	struct net n = net_new();
	n.e.provider = "CUDAExecutionProvider";
	row(&n, "conv", "Conv", 100)->provider = "CUDAExecutionProvider";
	row(&n, "relu", "Relu", 90)->provider = "CPUExecutionProvider";
	row(&n, "", "Memcpy", 15);
	row(&n, "pool", "MaxPool", 30)->provider = "CUDAExecutionProvider";
	struct reality *y = compare(&n, 235);
	near(us(y, GAP_PLACEMENT), 85, 1e-9, "a node on the CPU and the copy that it causes");
	is_int(y->gaps[GAP_PLACEMENT].rows, 2, "two rows");
	n.e.provider = "";
	y = compare(&n, 235);
	near(us(y, GAP_PLACEMENT), 85, 1e-9, "the provider is found where the file does not name it");
	net_free(&n);
}

static void profiler(void)
{
	struct net n = net_new();
	row(&n, "conv", "Conv", 102);
	row(&n, "relu", "Relu", 22);
	row(&n, "pool", "MaxPool", 32);
	n.e.profiler_row_ns = 3 * US;
	struct reality *y = compare(&n, 140);
	near(y->layers_ns - y->measured_ns, 16 * US, 1e-9, "profiled rows are longer than an unprofiled run");
	near(y->groups[0].real_ns, 102 * US, 1e-9, "with an unknown part in the rows, nothing is subtracted");
	ok(isnan(y->gaps[GAP_LAUNCH].ns), "without the time outside the rows, launch is unknown");
	near(us(y, GAP_UNEXPLAINED), -14, 1e-9, "and the difference is unexplained, not scaled to fit");
	n.e.profiler_inside_ns = 2 * US;
	n.e.outside_ns = n.e.outside_lo_ns = n.e.outside_hi_ns = 10 * US;
	y = compare(&n, 140);
	near(y->profiler_ns, 9 * US, 1e-9, "the profiler's predicted cost");
	near(us(y, GAP_LAUNCH), 10 - 3, 1e-9, "launch, less what the profiler costs outside the rows");
	near(us(y, GAP_UNEXPLAINED), -17, 1e-9, "corrected layers equal the bound's; runs vary");
	n.e.rows[0].calls = 3;
	n.e.rows[1].ns = 3 * US;
	y = compare(&n, 140);
	near(y->groups[0].real_ns, 96 * US, 1e-9, "the cost is that of each call");
	near(y->groups[1].real_ns, 1.5 * US, 1e-9, "at least half of a row's time remains");
	near(y->profiler_ns, 15 * US, 1e-9, "of five calls");
	n.e.rows[0].calls = NAN;
	n.e.stats.median = NAN;
	n.e.profiled_ns = 160 * US;
	struct match *m = match_execution(&n.arena, &n.e, n.plan);
	y = reality_of(&n.arena, &n.ground, &n.scenario, analyze(&n.arena, &n.ground, &n.scenario), &n.e, m);
	ok(y->from == MEASURED_PROFILED, "without a latency the profiled runs count");
	near(y->measured_ns, 151 * US, 1e-9, "less the profiler's cost");
	net_free(&n);
}

static void not_comparable(void)
{
	struct net n = net_new();
	row(&n, "conv", "Conv", 50);
	row(&n, "relu", "Relu", 20);
	row(&n, "pool", "MaxPool", 30);
	n.device.threads = 2;
	is_int(compare(&n, 100)->contradicted_count, 0, "an unknown number of threads");
	n.e.threads = 2;
	n.e.device = "";
	is_int(compare(&n, 100)->contradicted_count, 0, "an unknown device");
	is_int(compare(&n, 100)->faster_count, 1, "is faster nonetheless");
	n.e.device = "Word 1";
	is_int(compare(&n, 100)->contradicted_count, 1, "comparable");
	ok(compare(&n, 100)->contradicted, "the whole is faster than the bound");
	n.e.dtype = "bf16";
	is_int(compare(&n, 100)->contradicted_count, 0, "another type");
	n.e.dtype = "";
	is_int(compare(&n, 100)->contradicted_count, 0, "an unknown type");
	n.e.dtype = "f32";
	n.e.math = "tf32";
	is_int(compare(&n, 100)->contradicted_count, 0, "relaxed math");
	n.e.math = "strict";
	n.e.device = "Word 2";
	is_int(compare(&n, 100)->contradicted_count, 0, "another device");
	n.e.device = "Speak Word 1 x";
	is_int(compare(&n, 100)->contradicted_count, 1, "a longer name of the same device");
	n.e.rows[0].hi_ns = 98.5 * US;
	is_int(compare(&n, 100)->contradicted_count, 1, "intervals just apart");
	n.e.source = "agent";
	is_int(compare(&n, 100)->contradicted_count, 0, "within the step of the clock");
	n.e.source = "";
	n.e.rows[0].lo_ns = n.e.rows[0].hi_ns = NAN;
	is_int(compare(&n, 100)->contradicted_count, 0, "a row of a single run");
	is_int(compare(&n, 100)->doubt_count[DOUBT_INTERVAL], 1, "is without an interval");
	n.e.rows[0].lo_ns = 49 * US;
	n.e.rows[0].hi_ns = 51 * US;
	n.e.rows[0].hi_ns = 101 * US;
	is_int(compare(&n, 100)->contradicted_count, 0, "intervals that overlap");
	near(us(compare(&n, 100), GAP_UNEXPLAINED), -50, 1e-9, "are not resolvable");
	net_free(&n);
}

/* Each reason, its words, and what it prevents: the ratio, or only contradictions. */
static void reasons(void)
{
	struct net n = net_new();
	const struct reality *y;
	row(&n, "conv", "Conv", 50);
	n.device.threads = n.e.threads = 2;
	n.e.requests = 1;
	n.m->plan.batch = 1;
	y = compare(&n, 100);
	ok(!y->not_comparable && !y->prevents && y->ratio > 1, "comparable");
	n.e.threads = 0;
	y = compare(&n, 100);
	is_str(y->not_comparable, "its number of threads is unknown", "unknown threads");
	ok(y->ratio > 1, "have a ratio");
	n.e.device = "";
	is_str(compare(&n, 100)->not_comparable, "its device is unknown", "unknown device");
	n.device.has_matrix = n.scenario.relaxed = true;
	is_str(compare(&n, 100)->not_comparable, "the bound leaves out the matrix units (-w matrix)",
		"matrix");
	n.e.dtype = "";
	y = compare(&n, 100);
	is_str(y->not_comparable, "its type of computation is unknown", "unknown type");
	ok(y->ratio > 1, "still has a ratio");
	n.scenario.relaxed = false;
	n.e.math = "tf32";
	y = compare(&n, 100);
	is_str(y->not_comparable, "tf32 against f32 (run benanza compare -w math,matrix ...)",
		"relaxed math");
	ok(isnan(y->ratio) && y->prevents & USE_RATIO, "has no ratio");
	ok(!(y->prevents & USE_STORED), "which the scenario decides");
	n.e.dtype = "bf16";
	is_str(compare(&n, 100)->not_comparable, "bf16 against f32 (run benanza compare -t bf16 ...)",
		"type");
	n.e.dtype = "mixed";
	is_str(compare(&n, 100)->not_comparable, "mixed against f32", "a type that -t does not have");
	n.e.threads = 1;
	is_str(compare(&n, 100)->not_comparable, "1 thread against 2", "fewer threads");
	n.e.threads = 3;
	is_str(compare(&n, 100)->not_comparable, "3 threads against 2", "more threads");
	n.e.settings = "{\"processors\":1}";
	is_str(compare(&n, 100)->not_comparable,
		"3 threads against 2, more than the 1 processor on which they ran", "than processors");
	n.e.settings = "";
	n.e.provider = "CPUExecutionProvider";
	n.device.stack = "CUDA 12";
	y = compare(&n, 100);
	is_str(y->not_comparable, "CPUExecutionProvider against a GPU (choose the CPU with -d)",
		"a CPU's provider");
	ok(y->prevents & USE_GAPS && y->prevents & USE_STORED, "has no gaps");
	n.e.device = "Word 2";
	is_str(compare(&n, 100)->not_comparable, "Word 2 against a GPU (choose the CPU with -d)",
		"... of a known device");
	n.e.provider = "";
	is_str(compare(&n, 100)->not_comparable, "Word 2 against Word 1 (choose it with -d)", "device");
	n.e.requests = 4;
	y = compare(&n, 100);
	is_str(y->not_comparable, "it ran 4 requests at a time, the bound is of one", "requests");
	ok(isnan(y->ratio) && (y->prevents & USE_GAPS), "have neither gaps nor a ratio");
	n.e.requests = 1;
	n.e.settings = "{\"try\":{\"move\":\"level=basic\"}}";
	is_str(comparable_find(&n.arena, &n.ground, &n.scenario, &n.e, NULL, USE_STORED).why,
		"it is a trial of level=basic (compare --try)", "a side of a trial");
	n.e.settings = "{\"request\":{\"try\":\"f16\"}}";
	is_str(comparable_find(&n.arena, &n.ground, &n.scenario, &n.e, NULL, USE_STORED).why,
		"it is a trial of f16 (compare --try)", "... by its request");
	n.e.settings = "";
	n.e.requests = 4;
	n.e.inputs = "none:f32:1";
	y = compare(&n, 100);
	is_str(y->not_comparable, "it ran other shapes (set them with --dim or --input)", "shapes");
	ok(y->prevents & USE_GAPS && !(y->prevents & USE_ROWS), "have no gaps");
	n.e.batch = 8;
	is_str(compare(&n, 100)->not_comparable, "batch 8 against batch 1 (run benanza compare -b 8 ...)",
		"batch");
	n.e.source = "nsys";
	n.e.rows[0].level = LEVEL_KERNEL;
	for (int i = 0; i < 3; i++)
		n.m->plan.layers[i].class = CLASS_COMPUTE;
	is_str(compare(&n, 100)->not_comparable,
		"the runs have 1 kernel, too few for the model (mark its runs with NVTX)", "a part");
	n.e.source = "";
	n.e.rows[0].level = LEVEL_LAYER;
	struct batches_tried tried = { 0 };
	n.ground.tried = &tried;
	compare(&n, 100);
	ok(tried.count == 1 && tried.list[0].batch == 8 && tried.list[0].runs, "which was tried");
	tried.list[0].runs = false;
	is_str(compare(&n, 100)->not_comparable,
		"batch 8 against batch 1 (the model cannot run at batch 8)", "and is not tried again");
	is_int(tried.count, 1, "nor kept again");
	n.e.rows[0].nodes = n.e.rows[0].op = "";
	y = compare(&n, 100);
	is_str(y->not_comparable, "this profile seems to be of another model", "model");
	ok(y->prevents & USE_ROWS, "its rows are of no layers");
	n.e.status = STATUS_FAILED;
	is_str(compare(&n, 100)->not_comparable, "it failed", "status");
	n.m->plan.unbound_count = 1;
	is_str(compare(&n, 100)->not_comparable, "the model's dimensions are not set", "dimensions");
	net_free(&n);
}

/* An execution of an unknown device beside a CPU and a GPU. */
static void kinds(void)
{
	static const struct {
		const char *provider, *framework, *source, *who;
		bool gpu;
	} list[] = {
		{ "CPUExecutionProvider", "onnxruntime", "onnxruntime", "CPUExecutionProvider", false },
		{ "DnnlExecutionProvider", "onnxruntime", "onnxruntime", "DnnlExecutionProvider", false },
		{ "CUDAExecutionProvider", "onnxruntime", "onnxruntime", "CUDAExecutionProvider", true },
		{ "DmlExecutionProvider", "onnxruntime", "onnxruntime", "DmlExecutionProvider", true },
		{ "", "tensorrt", "trtexec", "TensorRT", true },
		{ "", "", "nsys", "kernels of a GPU", true },
		{ "cpu", "", "onednn", "cpu", false },
		{ "OtherExecutionProvider", "onnxruntime", "onnxruntime", NULL, false },
		{ "", "", "onednn", NULL, false },
	};
	struct net n = net_new();
	row(&n, "conv", "Conv", 50);
	n.e.device = "";
	n.m->plan.batch = 1;
	for (size_t i = 0; i < 2 * sizeof(list) / sizeof(list[0]); i++) {
		bool gpu = i % 2;
		const char *who = list[i / 2].who, *why;
		n.device.stack = gpu ? "CUDA 12" : "oneDNN";
		n.e.provider = list[i / 2].provider;
		n.e.framework = list[i / 2].framework;
		n.e.source = list[i / 2].source;
		n.e.rows[0].level = *n.e.provider || *n.e.framework ? LEVEL_LAYER : LEVEL_KERNEL;
		why = compare(&n, 100)->not_comparable;
		bool differs = who && list[i / 2].gpu != gpu, said = why && strstr(why, " against a ");
		ok(differs == said && (!said || !strncmp(why, who, strlen(who))), "%s beside a %s: %s",
			who ? who : list[i / 2].source, gpu ? "GPU" : "CPU", why ? why : "comparable");
	}
	net_free(&n);
}

/* The rows' types decide, not that of the whole. */
static void types_of_rows(void)
{
	struct net n = net_new();
	row(&n, "conv", "Conv", 50);
	row(&n, "relu", "Relu", 4);
	n.device.threads = n.e.threads = 2;
	n.m->plan.batch = 1;
	n.e.dtype = "mixed";
	n.e.rows[0].dtype = n.e.rows[1].dtype = "f32";
	ok(!compare(&n, 100)->not_comparable, "rows in the types of their layers");
	n.e.rows[1].dtype = "bool";
	ok(!compare(&n, 100)->not_comparable, "one of 8%% of the time may have another");
	n.e.rows[0].dtype = "tf32";
	ok(!compare(&n, 100)->not_comparable, "TF32 is math of f32");
	n.e.rows[0].dtype = n.e.rows[1].dtype = "f16";
	is_str(compare(&n, 100)->not_comparable, "f16 against f32 (run benanza compare -t f16 ...)",
		"others");
	n.e.rows[1].ns *= 10;
	n.e.rows[1].dtype = "f32";
	is_str(compare(&n, 100)->not_comparable, "f16 against f32", "no -t makes two types equal");
	n.e.rows[1].parent = 0;
	ok(!compare(&n, 100)->not_comparable, "of a row with a body that of what ran in it counts");
	n.e.rows[0].dtype = "f32";
	n.e.rows[1].op = "Cast";
	n.e.rows[1].dtype = "f64";
	ok(!compare(&n, 100)->not_comparable, "but for casts");
	n.e.rows[1].op = "Relu";
	is_str(compare(&n, 100)->not_comparable, "f64 against f32 (run benanza compare -t f64 ...)",
		"another one in it");
	n.e.rows[1].parent = -1;
	n.e.rows[0].dtype = "s8";
	n.e.rows[1].dtype = "s8";
	is_str(compare(&n, 100)->not_comparable, "s8 against f32", "nor integers");
	net_free(&n);
}

/* Rows of some microseconds, each with the profiler's cost: they contradict nothing. */
static void short_rows(void)
{
	struct net n = net_new();
	results_free(n.results);
	n.ground.results = n.results = results_new();
	measure(n.results, CONV, 9 * US);
	measure(n.results, RELU, 9 * US);
	measure(n.results, POOL, 3 * US);
	row(&n, "conv", "Conv", 7);
	row(&n, "relu", "Relu", 4);
	row(&n, "pool", "MaxPool", 1.5);
	is_int(compare(&n, 40)->contradicted_count, 2, "a row below 2 us is not resolvable");
	n.e.profiler_row_ns = 5.25 * US;
	struct reality *y = compare(&n, 40);
	is_int(y->contradicted_count, 0, "nor one below twice the profiler's cost");
	near(us(y, GAP_FASTER), 0, 1e-9, "it is not called faster");
	net_free(&n);
}

static void single_sample(void)
{
	struct net n = net_new();
	row(&n, "conv", "Conv", 50);
	row(&n, "relu", "Relu", 20);
	row(&n, "pool", "MaxPool", 30);
	struct result one = make_result(CONV, 100 * US);
	one.stats.n = 1;
	results_free(n.results);
	n.ground.results = n.results = results_new();
	results_put(n.results, &one);
	measure(n.results, RELU, 20 * US);
	measure(n.results, POOL, 30 * US);
	struct reality *y = compare(&n, 100);
	is_int(y->contradicted_count, 0, "a bound of a single sample is not contradicted");
	is_int(y->doubt_count[DOUBT_INTERVAL], 1, "it has no interval");
	net_free(&n);
}

/* Two executions at the dates 10 and 30, and a measurement of conv, 100 us. Returns the second one beside the
 * bound, judged in turn. */
static struct reality *turn(struct net *n, double first_us, double second_us, int64_t measured)
{
	n->e.row_count = 0;
	n->e.measured_at = 10;
	row(n, "conv", "Conv", first_us);
	row(n, "relu", "Relu", 20);
	row(n, "pool", "MaxPool", 30);
	struct reality *first = compare(n, first_us + 50);
	first->execution = ARENA_NEW(&n->arena, struct execution);
	*(struct execution *)(uintptr_t)first->execution = n->e;
	struct result again = make_result(CONV, 100 * US);
	again.measured_at = measured;
	results_put(n->results, &again);
	n->e.row_count = 0;
	n->e.measured_at = 30;
	row(n, "conv", "Conv", second_us);
	row(n, "relu", "Relu", 20);
	row(n, "pool", "MaxPool", 30);
	struct reality *y = compare(n, second_us + 50);
	is_int(reality_not_again(y), y->contradicted_count, "nothing is measured again at first");
	reality_turn(y, first);
	return y;
}

static void in_turn(void)
{
	struct net n = net_new();
	struct reality *y = turn(&n, 50, 50, 5);
	ok(y->contradicted_count == 1 && reality_not_again(y) == 1, "measured before both: not again");
	y = turn(&n, 50, 50, 20);
	ok(y->contradicted_count == 1 && reality_not_again(y) == 0, "faster before and after: it holds");
	ok(y->contradicted && !y->in_turn, "the whole was not measured again with it");
	y = turn(&n, 50, 101, 20);
	is_int(y->contradicted_count, 0, "faster before only");
	is_int(y->doubt_count[DOUBT_TURN], 1, "is not confirmed");
	is_str(faster_doubt_text(y->groups[0].doubt), "not confirmed when measured again", "with the reason");
	y = turn(&n, 101, 50, 20);
	ok(y->contradicted_count == 0 && y->doubt_count[DOUBT_TURN] == 1 && y->doubt_count[DOUBT_NONE] == 0,
		"nor is faster after only");
	ok(!y->contradicted, "nor the whole");
	near(us(y, GAP_FASTER), -50, 1e-9, "its time stays where it was");
	y = turn(&n, 101, 50, 40);
	ok(y->contradicted_count == 1 && reality_not_again(y) == 1, "measured after both: open again");
	y = turn(&n, 50, 101, 40);
	is_int(y->doubt_count[DOUBT_TURN], 0, "measured after both: the first one is outdated");
	n.e.dtype = "bf16";
	y = turn(&n, 101, 50, 40);
	is_int(y->doubt_count[DOUBT_TURN], 0, "what is not comparable confirms nothing");
	net_free(&n);
	n = net_new();
	struct result rest[] = { make_result(RELU, 20 * US), make_result(POOL, 30 * US) };
	for (int i = 0; i < 2; i++) {
		rest[i].measured_at = 15 + i;
		results_put(n.results, &rest[i]);
	}
	y = turn(&n, 50, 50, 20);
	ok(y->contradicted && y->in_turn, "all of the bound was measured in turn");
	net_free(&n);
}

static void labels(void)
{
	struct net n = net_new();
	row(&n, "conv\nrelu", "FusedConv", 104);
	row(&n, "pool", "MaxPool", 60);
	measure(n.results, n.fusion->groups[n.fusion->first_group[0]].text, 100 * US);
	struct reality *y = compare(&n, 164);
	is_str(reality_label(y, GAP_FUSION), "fused more than bound", "reality fuses more");
	is_str(reality_label(y, GAP_ALGORITHM), "slower algorithms", "measured algorithms");
	y->gaps[GAP_FUSION].ns = 1;
	y->gaps[GAP_ALGORITHM].ns = 10;
	y->gaps[GAP_ALGORITHM].estimated_ns = 4;
	is_str(reality_label(y, GAP_ALGORITHM), "slower algorithms", "most of the gap is measured");
	y->gaps[GAP_ALGORITHM].estimated_ns = 6;
	y->gaps[GAP_CAST].ns = -1;
	is_str(reality_label(y, GAP_FUSION), "missed fusion", "the bound fuses more");
	is_str(reality_label(y, GAP_ALGORITHM), "above the estimate", "an estimate has no algorithm");
	is_str(reality_label(y, GAP_CAST), "casts of the bound", "without a cast in reality");
	net_free(&n);
}

static void caches(void)
{
	struct net n = net_new();
	row(&n, "conv", "Conv", 50);
	row(&n, "relu", "Relu", 20);
	row(&n, "pool", "MaxPool", 30);
	n.m->plan.weight_bytes = 60;
	n.m->plan.peak_live_bytes = 20;
	n.device.llc_bytes = 100;
	struct reality *y = compare(&n, 100);
	is_int(y->contradicted_count, 0, "a model that fits in the cache is not comparable with state net");
	near(us(y, GAP_CACHE), -50, 1e-9, "the difference is the caches'");
	net_free(&n);
	n = net_new();
	row(&n, "conv", "Conv", 100);
	row(&n, "relu", "Relu", 5);
	row(&n, "pool", "MaxPool", 30);
	n.m->plan.weight_bytes = 60;
	n.m->plan.peak_live_bytes = 20;
	n.device.llc_bytes = 100;
	y = compare(&n, 135);
	is_int(y->contradicted_count, 1, "a layer without weights is comparable all the same");
	net_free(&n);
	n = net_new();
	row(&n, "conv", "Conv", 50);
	row(&n, "relu", "Relu", 20);
	row(&n, "pool", "MaxPool", 30);
	n.m->plan.weight_bytes = 60;
	n.m->plan.peak_live_bytes = 20;
	n.device.llc_bytes = 100;
	struct peaks peaks = peaks_unknown();
	peaks.bandwidth_bytes_s = 1e15;
	peaks.level[peaks.level_count++] = (struct peak_level){ .level = 3, .bytes = 50, NAN };
	n.ground.peaks = &peaks;
	y = compare(&n, 100);
	is_int(y->contradicted_count, 1, "the cache ends where reads slow down, whatever its nominal size");
	near(us(y, GAP_CACHE), 0, 0, "so the difference is not the caches'");
	net_free(&n);
}

static void gaps_of_the_bound(void)
{
	struct net n = net_new();
	results_free(n.results);
	n.ground.results = n.results = results_new();
	measure(n.results, CONV, 100 * US);
	row(&n, "conv", "Conv", 100);
	row(&n, "relu\npool", "Fused", 60);
	struct reality *y = compare(&n, 160);
	near(us(y, GAP_UNMEASURED), 60, 1e-9, "layers without a cost");
	ok(!y->bound_complete, "the bound has gaps");
	net_free(&n);
	n = net_new();
	results_free(n.results);
	n.ground.results = n.results = results_new();
	row(&n, "conv", "Conv", 100);
	row(&n, "", "Pad", 4);
	y = compare(&n, 160);
	ok(isnan(y->bound_ns) && isnan(y->ratio), "no bound");
	near(us(y, GAP_PAD), 4, 1e-9, "added nodes need none");
	ok(isnan(y->gaps[GAP_LAUNCH].ns), "launch is unknown");
	n.e.outside_ns = 6 * US;
	y = compare(&n, 160);
	near(us(y, GAP_LAUNCH), 6, 1e-9, "a known launch needs no bound");
	ok(isnan(y->gaps[GAP_UNEXPLAINED].ns), "the rest is unknown");
	net_free(&n);
}

static void against(void)
{
	struct net a = net_new(), b = net_new();
	row(&a, "conv", "Conv", 100);
	row(&a, "relu", "Relu", 20);
	row(&a, "pool", "MaxPool", 30);
	row(&b, "conv\nrelu", "FusedConv", 100);
	row(&b, "pool", "MaxPool", 30.5);
	row(&b, "", "Pad", 7);
	struct reality *x = compare(&a, 150);
	struct match *m = match_execution(&a.arena, &b.e, a.plan);
	b.e.stats.median = 140 * US;
	struct reality *y = reality_of(&a.arena, &a.ground, &a.scenario,
		analyze(&a.arena, &a.ground, &a.scenario), &b.e, m);
	struct against *d = reality_against(&a.arena, x, y);
	is_int(d->group_count, 2, "conv and relu together, pool with the free layer after it");
	is_int(d->groups[0].layer_count, 2, "the largest difference first");
	near(d->groups[0].b_ns - d->groups[0].a_ns, -20 * US, 1e-9, "fused, they take less");
	ok(d->groups[0].significant, "intervals apart");
	ok(!d->groups[1].significant, "overlapping intervals");
	near(d->b_other_ns, 7 * US, 1e-9, "added rows");
	net_free(&b);
	net_free(&a);
}

int main(void)
{
	every_layer_alone();
	fused_in_reality();
	missed_fusion();
	matrix_units();
	threads();
	placement();
	profiler();
	not_comparable();
	reasons();
	kinds();
	types_of_rows();
	short_rows();
	single_sample();
	labels();
	in_turn();
	caches();
	gaps_of_the_bound();
	against();
	return done_testing();
}
