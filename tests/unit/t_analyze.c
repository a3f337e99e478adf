#include "config.h"

#include "analyze/bound/bound_private.h"
#include "world.h"

#include <math.h>

#define CONV "conv:f32,f32.c,f32/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"
#define CONV2 "conv:f32,f32.c,f32/f32:n1c64h56w56k64r1s1:ph0pw0qh0qw0:sh1sw1:dh1dw1:g1"
#define IMAGE "1x64x56x56"
#define RELU "eltwise:f32,f32:relu:" IMAGE
#define ADD "binary:f32,f32,f32:add:" IMAGE ":" IMAGE
#define BATCHNORM "batchnorm:f32,f32:" IMAGE

static const struct device matrix_device = { .name = "cpu", .llc_bytes = 32e6, .has_matrix = true };

static int conv(struct maker *m, const char *problem, int x)
{
	return make_layer(m, "Conv", problem, IMAGE, x, make_constant(m, "64x64x3x3"));
}

static int relu(struct maker *m, int x)
{
	return make_layer(m, "Relu", RELU, IMAGE, x, -1);
}

static int add(struct maker *m, int a, int b)
{
	return make_layer(m, "Add", ADD, IMAGE, a, b);
}

/* Conv, BatchNorm, Relu, twice, then a Reshape: measured 100, 10, 5. */
static void open_chain(struct world *w)
{
	struct maker *m = make_begin();
	int y = relu(m, make_batchnorm(m, IMAGE, 64, conv(m, CONV, make_input(m, IMAGE))));
	y = relu(m, make_batchnorm(m, IMAGE, 64, conv(m, CONV, y)));
	y = make_layer(m, "Reshape", NULL, "1x200704", y, make_constant(m, "2"));
	m->plan.values[y].is_output = true;
	world_open(w, m);
	measure(w->results, CONV, 100);
	measure(w->results, BATCHNORM, 10);
	measure(w->results, RELU, 5);
}

/* Two convolutions side by side, summed: 0 -> {1, 2} -> 3 -> 4. */
static void open_diamond(struct world *w)
{
	struct maker *m = make_begin();
	int x = relu(m, make_input(m, IMAGE));
	int a = conv(m, CONV, x), b = conv(m, CONV2, x);
	relu(m, add(m, a, b));
	world_open(w, m);
	measure(w->results, CONV, 100);
	measure(w->results, CONV2, 40);
	measure(w->results, ADD, 10);
	measure(w->results, RELU, 5);
}

static void sums(void)
{
	struct world w;
	open_chain(&w);
	struct analysis *a = look(&w, "");
	near(a->total_ns, 230, 1e-12, "the sum of all layers");
	near(a->parallel_ns, 230, 1e-12, "a chain is as long as its sum");
	near(a->lo_ns, 230 * 0.99 - sqrt(2 * 2 + 0.2 * 0.2 + 0.1 * 0.1), 1e-12, "the lower end");
	near(a->hi_ns, 230 * 1.01 + sqrt(2 * 2 + 0.2 * 0.2 + 0.1 * 0.1), 1e-12, "the upper end");
	ok(a->complete && a->unmeasured_problems == 0, "nothing is missing");
	is_int(a->coverage.layers, 7, "seven layers");
	is_int(a->coverage.measured, 6, "six measured");
	is_int(a->coverage.free, 1, "one free");
	near(a->coverage.flops_measured_share, 1, 0, "all that runs is measured");
	ok(a->layers[6].origin == ORIGIN_FREE && a->layers[6].ns == 0, "the reshape costs nothing");
	near(a->layers[3].start_ns, 115, 1e-12,
		"the second convolution starts behind the first three layers");
	ok(a->layers[3].critical && a->layers[3].slack_ns == 0, "a chain has no slack");
	ok(a->layers[0].result && strcmp(a->layers[0].result->problem, CONV) == 0,
		"a layer names its measurement");
	world_close(&w);
}

static void fused(void)
{
	struct world w;
	open_chain(&w);
	is_int(look(&w, "fusion")->unmeasured_problems, 2, "fusion needs two more problems");
	near(look(&w, "fusion")->total_ns, 230, 1e-12, "not measured, not used");
	is_int(effect(&w, "", "fusion").unmeasured_problems, 2, "the toggle says so from the outside");
	measure(w.results, CONV "+bias:f32.c", 101);
	struct analysis *a = look(&w, "fusion");
	near(a->total_ns, 212, 1e-12, "a prefix is used when it alone is measured");
	ok(a->layers[0].origin == ORIGIN_MEASURED && a->layers[1].origin == ORIGIN_FUSED &&
			a->layers[2].origin == ORIGIN_MEASURED,
		"the anchor pays, its batch norm is fused, the rest is not");
	ok(a->layers[1].ns == 0 && a->layers[1].group == a->layers[0].group && a->layers[1].group,
		"one group");
	is_int(a->coverage.fused, 2, "two layers fused");
	is_int(a->coverage.layers, a->coverage.measured + a->coverage.free + a->coverage.fused,
		"coverage adds up");
	measure(w.results, CONV "+bias:f32.c+relu", 104);
	near(look(&w, "fusion")->total_ns, 208, 1e-12, "the longer group is cheaper");
	measure(w.results, CONV "+bias:f32.c+relu", 130);
	near(look(&w, "fusion")->total_ns, 212, 1e-12, "measured slower: back to the prefix");
	measure(w.results, CONV "+bias:f32.c", 120);
	near(look(&w, "fusion")->total_ns, 230, 1e-12, "no fused kernel helps: none is used");
	near(effect(&w, "", "fusion").saves_ns, 0, 0, "... and fusion saves nothing");
	measure(w.results, CONV "+bias:f32.c", 105);
	near(effect(&w, "", "fusion").saves_ns, 10, 1e-12, "off: what it would save");
	near(effect(&w, "fusion", "fusion").saves_ns, 10, 1e-12, "on: what it saves");
	near(effect(&w, "fusion", "fusion").total_ns, 230, 1e-12, "... and the bound without it");
	is_int(effect(&w, "", "fusion").noisy_problems, 0, "no measurement is noisy");
	struct result noisy = make_result(CONV "+bias:f32.c", 105);
	noisy.stats.stop = STOP_DISTURBED;
	noisy.runner_version = "2"; /* replaces results of all others */
	noisy.measured_at = 99;
	results_put(w.results, &noisy);
	is_int(effect(&w, "", "fusion").noisy_problems, 1, "a noisy measurement of the other side counts");
	is_int(effect(&w, "", "parallel").noisy_problems, 0, "one that neither total contains does not");
	noisy = make_result(CONV, 100);
	noisy.stats.stop = STOP_DISTURBED;
	noisy.runner_version = "2"; /* replaces results of all others */
	noisy.measured_at = 99;
	results_put(w.results, &noisy);
	is_int(effect(&w, "", "parallel").noisy_problems, 1,
		"the first problem, which both contain, counts once");
	is_int(effect(&w, "", "fusion").noisy_problems, 2, "so do those of either side");
	world_close(&w);
}

/* A difference of totals with unmeasured parts is not a saving, in either direction. */
static void partial_effects(void)
{
	struct world w;
	struct maker *m = make_begin();
	int y = conv(m, CONV, make_input(m, IMAGE));
	y = conv(m, CONV2, relu(m, y));
	m->plan.values[y].is_output = true;
	world_open(&w, m);
	struct result strict = make_result(CONV, 100), preferred = make_result(CONV, 130);
	strict.algorithm.name = "fast", strict.algorithm.rank = 1, strict.algorithm.matrix = MATRIX_YES;
	preferred.algorithm.name = "slow", preferred.algorithm.matrix = MATRIX_NO;
	results_put(w.results, &strict);
	results_put(w.results, &preferred);
	measure(w.results, RELU, 10);
	w.device = matrix_device;
	struct what_if_effect e = effect(&w, "matrix", "algorithm");
	ok(e.unmeasured_problems == 1 && isnan(e.saves_ns) && !isnan(e.total_ns),
		"on: a layer is unmeasured, what it saves is unknown");
	e = effect(&w, "matrix,algorithm=preferred", "algorithm");
	ok(e.unmeasured_problems == 1 && isnan(e.saves_ns), "off: what it would save is unknown too");
	ok(isnan(effect(&w, "", "parallel").saves_ns) && isnan(effect(&w, "parallel", "parallel").saves_ns),
		"so with the longest path");
	strict = make_result(CONV2, 50);
	strict.algorithm.matrix = MATRIX_YES;
	results_put(w.results, &strict);
	e = effect(&w, "", "matrix");
	ok(!e.unmeasured_problems && e.bound_complete && isnan(e.saves_ns),
		"off lacks a layer that on has: no saving and no cost");
	ok(isnan(effect(&w, "matrix", "matrix").saves_ns), "... in either direction");
	near(effect(&w, "matrix", "algorithm").saves_ns, 30, 1e-12, "both sides measured: known");
	struct result no = make_result(CONV2, NAN);
	results_free(w.results);
	w.results = results_new();
	no.status = STATUS_UNSUPPORTED;
	no.algorithm.name = "";
	results_put(w.results, &no);
	results_put(w.results, &preferred);
	strict = make_result(CONV, 100);
	strict.algorithm.name = "fast", strict.algorithm.rank = 1;
	results_put(w.results, &strict);
	measure(w.results, RELU, 10);
	e = effect(&w, "", "algorithm");
	ok(!e.complete && !e.unmeasured_problems, "a layer that no side can run");
	near(e.saves_ns, 30, 1e-12, "... is missing from both: the difference of the others is known");
	world_close(&w);
}

static void missing(void)
{
	struct world w;
	open_chain(&w);
	struct results *only = results_new();
	results_free(w.results);
	w.results = only;
	struct analysis *a = look(&w, "");
	ok(isnan(a->total_ns) && isnan(a->sequential_ns) && isnan(a->parallel_ns) && isnan(a->lo_ns) &&
			isnan(a->hi_ns) && !a->complete && a->coverage.missing == 6,
		"nothing measured: not 0, not known");
	ok(isnan(effect(&w, "", "parallel").total_ns) && isnan(effect(&w, "", "algorithm").total_ns),
		"... by any toggle");
	ok(isnan(a->layers[6].slack_ns) && !a->layers[6].critical,
		"... and no layer is on a path, not even a free one");
	ok(isnan(a->layers[0].ns) && isnan(a->layers[0].slack_ns),
		"a missing layer has no cost and no slack");
	ok(isnan(a->coverage.cost_proxy_share) && a->coverage.flops_measured_share == 0, "nothing to share");
	ok(isnan(effect(&w, "", "fusion").saves_ns), "what a toggle saves is then not 0 but not known");
	measure(only, CONV, 100);
	ok(isnan(effect(&w, "", "launch").total_ns) && isnan(effect(&w, "", "launch").saves_ns) &&
		effect(&w, "", "launch").available, "nor is it where the other side has nothing");
	a = look(&w, "");
	near(a->total_ns, 200, 1e-12, "what there is is summed");
	ok(!a->complete && a->coverage.missing == 4 && a->unmeasured_problems == 2,
		"and what is not is counted");
	near(a->coverage.flops_measured_share, 2.0 / 6, 1e-12, "two of six equal layers");
	struct result bad = make_result(BATCHNORM, NAN);
	bad.status = STATUS_UNSUPPORTED;
	bad.algorithm.name = "";
	results_put(only, &bad);
	a = look(&w, "");
	ok(a->layers[1].origin == ORIGIN_UNSUPPORTED && a->coverage.unsupported == 2 &&
			a->coverage.missing == 2 && !a->complete,
		"unsupported is counted apart, and is a gap");
	is_int(a->unmeasured_problems, 1, "measuring it again would not help");
	bad = make_result(RELU, NAN);
	bad.status = STATUS_CRASHED;
	results_put(only, &bad);
	a = look(&w, "");
	ok(a->layers[2].origin == ORIGIN_MISSING && a->unmeasured_problems == 0,
		"a failure is an answer, no cost");
	measure(only, CONV "+bias:f32.c+relu", 300);
	a = look(&w, "fusion");
	ok(a->complete && a->total_ns == 600, "a measured group closes the gaps inside it");
	ok(!effect(&w, "", "fusion").complete && effect(&w, "", "fusion").bound_complete,
		"a difference to a partial sum is no saving");
	struct result negative = make_result(RELU, -5);
	negative.measured_at = 1;
	results_put(only, &negative);
	ok(isnan(look(&w, "")->layers[2].ns), "a negative time is no time");
	world_close(&w);
}

static void problem_list(void)
{
	struct world w;
	open_chain(&w);
	int count;
	is_int(look(&w, "launch=isolated")->unmeasured_problems, 3,
		"isolated launches are other measurements");
	is_int(look(&w, "launch=isolated,fusion")->unmeasured_problems, 5, "... and of the fused ones too");
	const char **texts = analyze_problems_in(&w.arena, w.plan, w.fusion, true, 0, &count);
	is_int(count, 5, "five distinct problems with the fused ones");
	is_str(texts[1], CONV "+bias:f32.c", "a group's stand behind its anchor's");
	analyze_problems_in(&w.arena, w.plan, w.fusion, false, 0, &count);
	is_int(count, 3, "three without");
	world_close(&w);
	struct maker *m = make_begin();
	relu(m, conv(m, CONV, relu(m, make_input(m, IMAGE))));
	world_open(&w, m);
	texts = analyze_problems_in(&w.arena, w.plan, w.fusion, true, 0, &count);
	is_int(count, 3, "an anchor that is not the first layer");
	is_str(texts[0], RELU, "the first layer's");
	is_str(texts[1], CONV, "the anchor's");
	is_str(texts[2], CONV "+relu", "the group's");
	world_close(&w);
}

static void refuse(struct world *w, const char *problem, enum status status, const char *why)
{
	struct result one = make_result(problem, NAN);
	one.status = status;
	one.algorithm.name = "";
	one.why = why;
	results_put(w->results, &one);
}

static void refusals(void)
{
	struct world w;
	open_chain(&w);
	results_free(w.results);
	w.results = results_new();
	measure(w.results, CONV, 100);
	refuse(&w, BATCHNORM, STATUS_UNSUPPORTED, "no implementation for this");
	refuse(&w, RELU, STATUS_TIMEOUT, "");
	struct analysis *a = look(&w, "");
	is_str(a->layers[1].why, "no implementation for this", "the runner's reason");
	is_str(a->layers[2].why, "timeout", "... or else the outcome");
	ok(!a->layers[0].why && !a->layers[6].why, "what has a cost needs none");
	ok(!a->layers[1].critical && isnan(a->layers[1].slack_ns) && a->layers[0].critical &&
			a->layers[6].critical,
		"what has no cost is on no path, and a free layer may be");
	a = look(&w, "launch=isolated");
	is_str(a->layers[0].why, "only measured amortized (-w launch=amortized)", "the other launch mode");
	a = look(&w, "cache=cold");
	is_str(a->layers[0].why, "only measured with caches net (-w cache=net)", "the other cache state");
	a = look(&w, "cache=cold,launch=isolated");
	is_str(a->layers[0].why,
		"only measured amortized with caches net (-w launch=amortized,cache=net)", "both differ");
	is_int(effect(&w, "", "fusion").unavailable_problems, 0, "fused problems not tried are not refused");
	refuse(&w, CONV "+bias:f32.c", STATUS_UNSUPPORTED, "no such epilogue");
	refuse(&w, CONV "+bias:f32.c+relu", STATUS_CRASHED, "");
	is_int(effect(&w, "", "fusion").unavailable_problems, 2, "fused problems that failed are seen");
	is_int(effect(&w, "fusion", "fusion").unavailable_problems, 2, "... with fusion on too");
	is_int(effect(&w, "fusion", "parallel").unavailable_problems, 0, "... and do not matter to parallel");
	is_int(effect(&w, "fusion", "fusion").unmeasured_problems, 0, "there is nothing left to measure");
	world_close(&w);
}

/* What the scenario excludes is the reason, unless the problem failed as a whole. */
static void excluded(void)
{
	struct world w;
	struct maker *m = make_begin();
	relu(m, conv(m, CONV, make_input(m, IMAGE)));
	world_open(&w, m);
	w.device = matrix_device;
	struct result one = make_result(CONV, 40);
	one.algorithm.name = "tf32";
	one.algorithm.math = "tf32";
	one.algorithm.matrix = MATRIX_YES;
	results_put(w.results, &one);
	struct result bad = make_result(RELU, NAN);
	bad.status = STATUS_CRASHED;
	bad.why = "killed";
	results_put(w.results, &bad);
	is_str(look(&w, "")->layers[0].why, "only measured with algorithms of relaxed math", "relaxed math");
	is_str(look(&w, "math=relaxed")->layers[0].why,
		"only measured with algorithms that use matrix units, or may use them", "matrix units");
	ok(!look(&w, "math=relaxed,matrix")->layers[0].why, "allowed, it counts");
	is_str(look(&w, "")->layers[1].why, "killed", "the only algorithm failed");
	one = make_result(CONV, NAN);
	one.algorithm.name = "other";
	one.status = STATUS_FAILED;
	one.why = "broke";
	results_put(w.results, &one);
	is_str(look(&w, "")->layers[0].why, "only measured with algorithms of relaxed math",
		"the failure of another algorithm is not the reason");
	one.algorithm.name = "";
	one.why = "no memory";
	one.measured_at++;
	results_put(w.results, &one);
	is_str(look(&w, "")->layers[0].why, "no memory", "the failure of the whole problem is");
	world_close(&w);
}

/* What stands before a total. */
static void marks(void)
{
	static const struct {
		bool complete, estimated;
		const char *mark;
	} rows[] = { { true, false, "" }, { true, true, "~" }, { false, false, "at least " },
		{ false, true, "partial ~" } };
	for (int i = 0; i < 4; i++) {
		const struct analysis a = { .complete = rows[i].complete, .estimated = rows[i].estimated };
		is_str(analysis_mark(&a), rows[i].mark, "complete %d, estimated %d", rows[i].complete,
			rows[i].estimated);
	}
}

static void nothing_known(void)
{
	struct maker *m = make_begin();
	int x = make_input(m, IMAGE);
	int y = make_layer(m, "Identity", NULL, IMAGE, conv(m, CONV, x), -1);
	make_border(m, x, true, "cast:f32,bf16:" IMAGE);
	make_border(m, y, false, "cast:bf16,f32:" IMAGE);
	struct world w;
	world_open(&w, m);
	ok(isnan(look(&w, "")->border_ns), "casts not measured are not 0");
	measure(w.results, "cast:f32,bf16:" IMAGE, 7);
	measure(w.results, "cast:bf16,f32:" IMAGE, 8);
	refuse(&w, CONV, STATUS_UNSUPPORTED, "no bf16 here");
	struct analysis *a = look(&w, "parallel");
	near(a->border_ns, 15, 0, "the casts are measured");
	ok(isnan(a->total_ns) && isnan(a->sequential_ns) && isnan(a->lo_ns), "and alone are no bound");
	ok(isnan(effect(&w, "parallel", "parallel").total_ns), "... nor a what-if's");
	ok(!a->layers[0].critical && !a->layers[1].critical && isnan(a->layers[1].slack_ns),
		"nothing is critical");
	world_close(&w);

	m = make_begin();
	make_layer(m, "Identity", NULL, IMAGE, make_input(m, IMAGE), -1);
	world_open(&w, m);
	a = look(&w, "");
	ok(a->total_ns == 0 && a->complete && a->border_ns == 0, "a model of free layers does cost 0");
	world_close(&w);
}

static void measure_samples(struct world *w, const char *problem, int n, double lo, double ns, double hi)
{
	struct result one = make_result(problem, ns);
	one.stats.n = n;
	one.stats.lo = lo;
	one.stats.hi = hi;
	one.runner_version = "2"; /* replaces results of all others */
	results_put(w->results, &one);
}

static void intervals(void)
{
	struct world w;
	open_diamond(&w);
	measure_samples(&w, CONV, 1, NAN, 100, NAN);
	measure_samples(&w, CONV2, 4, 30, 40, 130);
	measure_samples(&w, ADD, 1, 10, 10, 10);
	measure_samples(&w, RELU, 50, 4, 5, 6);
	struct analysis *a = look(&w, "");
	ok(isnan(a->layers[1].lo) && isnan(a->layers[1].hi), "one sample has no interval");
	ok(isnan(a->layers[3].lo) && isnan(a->layers[3].hi), "... even where a record says so");
	ok(a->layers[2].lo == 30 && a->layers[2].hi == 50, "a few have their range");
	near(a->lo_ns, 160 * 0.99 - sqrt(10 * 10 + 2 * 2), 1e-12, "what has none counts by its median: low");
	near(a->hi_ns, 160 * 1.01 + sqrt(10 * 10 + 2 * 2), 1e-12, "... high");
	ok(a->without_interval == 2 && a->range_intervals == 1, "and is counted");
	a = look(&w, "parallel");
	near(a->lo_ns, 120 * 0.99 - 2, 1e-12, "parallel: the longest path");
	near(a->hi_ns, 120 * 1.01 + 2, 1e-12, "... at both ends");

	/* cheaper in sequence, later in parallel: each interval is of its own choice */
	measure_samples(&w, CONV2 "+add:f32", 9, 41, 42, 43);
	a = look(&w, "fusion");
	near(a->lo_ns, 152 * 0.99 - sqrt(1 + 2 * 2), 1e-12, "the interval of a group");
	a = look(&w, "fusion,parallel");
	ok(a->layers[3].ns == 10, "... the layers listed beside it");
	near(a->lo_ns, 120 * 0.99 - 2, 1e-12, "... and their interval");
	results_free(w.results);
	w.results = results_new();
	measure_samples(&w, CONV, 1, 100, 100, 100);
	a = look(&w, "");
	ok(a->total_ns == 100 && isnan(a->lo_ns) && isnan(a->hi_ns),
		"where none has one, the total has none");
	world_close(&w);
}

static void algorithms(void)
{
	struct maker *m = make_begin();
	conv(m, CONV, make_input(m, IMAGE));
	struct world w;
	world_open(&w, m);
	measure_algorithm(w.results, CONV, "first", 0, MATRIX_NO, 120);
	measure_algorithm(w.results, CONV, "second", 1, MATRIX_NO, 100);
	measure_algorithm(w.results, CONV, "amx", 2, MATRIX_YES, 30);
	near(look(&w, "")->total_ns, 100, 0, "best: the fastest that is allowed");
	near(look(&w, "")->layers[0].preferred_ns, 120, 0, "... beside the library's own choice");
	near(look(&w, "algorithm=preferred")->total_ns, 120, 0,
		"preferred: the first in the library's order");
	near(look(&w, "matrix")->total_ns, 30, 0, "with matrix units");
	near(look(&w, "matrix,algorithm=preferred")->total_ns, 120, 0,
		"... the library still prefers another");
	near(effect(&w, "", "matrix").saves_ns, 70, 0, "matrix would save 70");
	near(effect(&w, "matrix", "matrix").saves_ns, 70, 0, "... does save 70");
	near(effect(&w, "", "algorithm").saves_ns, 20, 0, "best saves 20 over preferred");
	struct result failed = make_result(CONV, NAN);
	failed.algorithm.name = "first";
	failed.status = STATUS_CRASHED;
	results_put(w.results, &failed);
	near(look(&w, "algorithm=preferred")->total_ns, 100, 0, "the preferred one crashed: the next stands");
	const struct result *r = analyze_pick(look(&w, ""), w.results, CONV);
	is_str(r ? r->algorithm.name : NULL, "second", "analyze_pick picks the same");
	ok(analyze_pick(look(&w, ""), w.results, "conv:nothing") == NULL, "no results, no pick");
	world_close(&w);
}

static void measure_in_place(struct world *w, const char *problem, double ns)
{
	struct result r = make_result(problem, ns);
	r.algorithm.name = "over";
	r.algorithm.rank = 1;
	r.algorithm.notes = "unchecked in_place";
	results_put(w->results, &r);
}

/* Two layers with one problem: an algorithm in place counts if both may write over their input. */
static void in_place(void)
{
	struct maker *m = make_begin();
	int x = make_input(m, IMAGE), a = relu(m, x);
	relu(m, a);
	struct world w;
	world_open(&w, m);
	measure_algorithm(w.results, RELU, "apart", 0, MATRIX_NO, 10);
	measure_in_place(&w, RELU, 4);
	struct analysis *over = look(&w, "");
	near(over->total_ns, 20, 0, "a layer's input is read again: no layer with the problem is in place");
	is_str(analyze_pick(over, w.results, RELU)->algorithm.name, "apart", "... nor is the pick");
	is_int(over->apart_count, 1, "... and the analysis names the problem");
	int b = w.plan->layers[1].inputs[0];
	w.plan->values[x].dies_in = 0;
	w.plan->values[b].dies_in = 1;
	over = look(&w, "");
	near(over->total_ns, 8, 0, "both inputs end here: in place");
	is_str(analyze_pick(over, w.results, RELU)->algorithm.name, "over", "... and so is the pick");
	near(look(&w, "algorithm=preferred")->total_ns, 20, 0, "... which is not the library's first choice");
	w.plan->values[b].dies_in = -1;
	near(look(&w, "")->total_ns, 20, 0, "one of them does not: apart");
	world_close(&w);
}

static void measure_state(
	struct results *to, const char *name, int rank, enum launch launch, enum stop stop, double ns)
{
	struct result one = make_result(CONV, ns);
	one.algorithm.name = name;
	one.algorithm.rank = rank;
	one.launch = launch;
	one.stats.stop = stop;
	results_put(to, &one);
}

/* What a runner leaves: a shortlist in the first state, the survivors in full in all states. */
static void shortlists(void)
{
	struct maker *m = make_begin();
	conv(m, CONV, make_input(m, IMAGE));
	struct world w;
	world_open(&w, m);
	measure_state(w.results, "brief", 1, LAUNCH_AMORTIZED, STOP_SHORTLIST, 90);
	measure_state(w.results, "briefer", 2, LAUNCH_AMORTIZED, STOP_SHORTLIST, 80);
	near(look(&w, "")->total_ns, 80, 0, "a shortlist alone is better than nothing");
	near(look(&w, "algorithm=preferred")->total_ns, 90, 0, "... in the library's order too");
	measure_state(w.results, "last", 3, LAUNCH_AMORTIZED, STOP_CONVERGED, 100);
	measure_state(w.results, "last", 3, LAUNCH_ISOLATED, STOP_BUDGET, 130);
	near(look(&w, "")->total_ns, 100, 0, "one measured in full wins over any shortlist");
	near(look(&w, "algorithm=preferred")->total_ns, 100, 0, "... though the library prefers others");
	measure_state(w.results, "first", 0, LAUNCH_AMORTIZED, STOP_CONVERGED, 110);
	measure_state(w.results, "first", 0, LAUNCH_ISOLATED, STOP_CONVERGED, 120);
	near(look(&w, "")->total_ns, 100, 0, "the best of those measured in full, whatever came before");
	near(look(&w, "algorithm=preferred,launch=isolated")->total_ns -
			look(&w, "algorithm=preferred")->total_ns,
		10, 0, "launch modes compare the same algorithm");
	world_close(&w);
}

static void matrix_unknown(void)
{
	static const char bf16[] =
		"conv:bf16,bf16.c,bf16/f32:n1c64h56w56k64r1s1:ph0pw0qh0qw0:sh1sw1:dh1dw1:g1";
	struct maker *m = make_begin();
	conv(m, CONV, make_input(m, IMAGE));
	conv(m, bf16, make_input(m, IMAGE));
	struct world w;
	world_open(&w, m);
	ok(!effect(&w, "", "matrix").available,
		"no matrix units and no result that uses them: not available");
	ok(isnan(effect(&w, "", "matrix").total_ns), "... so no figure");
	measure_algorithm(w.results, CONV, "jit", 0, MATRIX_UNKNOWN, 50);
	measure_algorithm(w.results, bf16, "jit", 0, MATRIX_UNKNOWN, 20);
	near(look(&w, "")->total_ns, 70, 0, "a device without matrix units: unknown cannot use them");
	w.device = matrix_device;
	struct analysis *a = look(&w, "");
	near(a->total_ns, 50, 0, "with matrix units unknown is out in bf16 and harmless in f32");
	ok(!a->complete && a->layers[1].origin == ORIGIN_MISSING, "... and leaves a gap");
	is_int(a->unmeasured_problems, 0, "... that measuring does not close");
	near(look(&w, "matrix")->total_ns, 70, 0, "allowed, unknown counts");
	ok(!effect(&w, "", "matrix").available,
		"everything measured and nothing known to use them: not available");
	measure_algorithm(w.results, bf16, "amx", 1, MATRIX_YES, 10);
	ok(effect(&w, "", "matrix").available, "a result that uses them: available");
	is_int(look(&w, "")->layers[1].origin, ORIGIN_UNSUPPORTED, "only algorithms that are barred");
	world_close(&w);
}

static void matrix_open(void)
{
	static const char bf16[] =
		"conv:bf16,bf16.c,bf16/f32:n1c64h56w56k64r1s1:ph0pw0qh0qw0:sh1sw1:dh1dw1:g1";
	for (int i = 0; i < 2; i++) {
		struct maker *m = make_begin();
		conv(m, i ? bf16 : CONV, make_input(m, IMAGE));
		struct world w;
		world_open(&w, m);
		w.device = matrix_device;
		is_int(effect(&w, "", "matrix").available, i, "unmeasured %s: %s", i ? "bf16" : "f32",
			i ? "could be" : "strict f32 never runs there");
		world_close(&w);
	}
}

static void cache_states(void)
{
	struct world w;
	open_chain(&w);
	struct result warm = make_result(CONV, 60);
	warm.cache = CACHE_WARM;
	results_put(w.results, &warm);
	near(look(&w, "")->total_ns, 230, 1e-12, "a big model reads its weights from memory: net");
	is_int(look(&w, "")->cache, CACHE_NET, "... and says so");
	w.plan->weight_bytes = 10e6;
	w.plan->peak_live_bytes = 6e6;
	near(look(&w, "")->total_ns, 150, 1e-12,
		"all of it in half of the cache: warm, net where nothing is constant");
	is_int(look(&w, "")->cache, CACHE_WARM, "... and says so");
	w.plan->peak_live_bytes = 6.1e6;
	is_int(look(&w, "")->cache, CACHE_NET, "a little more is too much");
	w.plan->peak_live_bytes = NAN;
	is_int(look(&w, "")->cache, CACHE_NET, "unknown is net");
	w.plan->peak_live_bytes = 1;
	w.device.llc_bytes = NAN;
	is_int(look(&w, "")->cache, CACHE_NET, "an unknown cache is net");
	struct scenario s = scenario_default();
	struct analysis *a = analyze(&w.arena, GROUND(w.plan, NULL, w.results, NULL), &s);
	near(a->total_ns, 230, 1e-12, "no device and no fusion are no trouble");
	results_free(w.results);
	w.results = results_new();
	ok(look(&w, "")->layers[0].why == NULL, "not measured needs no reason");
	results_put(w.results, &warm);
	is_int(look(&w, "")->cache, CACHE_WARM, "results in no other state");
	near(look(&w, "")->layers[0].ns, 60, 1e-12, "... are used");
	measure(w.results, RELU, 5);
	is_int(look(&w, "")->cache, CACHE_NET, "a result in state net ends that");
	world_close(&w);
}

/* found_answered: in the cache state warm, net answers for problems without constant operands. */
static void answered_states(void)
{
	struct result one = make_result(RELU, 10);
	const struct result *list[] = { &one };
	struct found f = { .results = list, .count = 1, .finished = true };
	one.launch = LAUNCH_AMORTIZED;
	one.cache = CACHE_NET;
	found_states(&f);
	ok(found_answered(&f, LAUNCH_AMORTIZED, CACHE_WARM) &&
			found_answered(&f, LAUNCH_AMORTIZED, CACHE_NET),
		"net answers both states where nothing was measured warm");
	found_states(&f);
	ok(!found_answered(&f, LAUNCH_ISOLATED, CACHE_WARM) &&
			!found_answered(&f, LAUNCH_ISOLATED, CACHE_NET),
		"another launch answers none");
	one.cache = CACHE_WARM;
	found_states(&f);
	ok(found_answered(&f, LAUNCH_AMORTIZED, CACHE_WARM) &&
			!found_answered(&f, LAUNCH_AMORTIZED, CACHE_NET),
		"warm answers warm only");
	one.cache = CACHE_COLD;
	found_states(&f);
	ok(!found_answered(&f, LAUNCH_AMORTIZED, CACHE_WARM), "cold does not answer warm");
	one.cache = CACHE_NET;
	f.finished = false;
	found_states(&f);
	ok(!found_answered(&f, LAUNCH_AMORTIZED, CACHE_WARM), "an unfinished problem is not answered");
	f = (struct found){ .finished = true };
	found_states(&f);
	ok(!found_answered(&f, LAUNCH_AMORTIZED, CACHE_WARM), "no result answers nothing");
}

static void diamond(void)
{
	struct world w;
	open_diamond(&w);
	struct analysis *a = look(&w, "");
	near(a->total_ns, 160, 1e-12, "diamond: sum");
	near(a->parallel_ns, 120, 1e-12, "diamond: longest path");
	ok(a->layers[1].critical && !a->layers[2].critical, "the long side is critical");
	near(a->layers[2].slack_ns, 60, 1e-12, "the short side has room");
	near(look(&w, "parallel")->total_ns, 120, 1e-12, "parallel: the path is the bound");
	near(effect(&w, "", "parallel").saves_ns, 40, 1e-12, "parallel would save 40");
	near(effect(&w, "parallel", "parallel").saves_ns, 40, 1e-12, "... does save 40");

	/* either side could take the sum along; both together never */
	measure(w.results, CONV "+add:f32", 101);
	measure(w.results, CONV2 "+add:f32", 41);
	a = look(&w, "fusion");
	near(a->total_ns, 151, 1e-12, "one side takes Add, the Relu stays");
	is_int(a->coverage.fused, 1, "one layer fused, not two");
	measure(w.results, CONV2 "+add:f32+relu", 42);
	a = look(&w, "fusion");
	near(a->total_ns, 147, 1e-12, "the short side takes both");
	ok(a->layers[3].group && a->layers[3].group->layers[0] == 2 && a->layers[4].origin == ORIGIN_FUSED,
		"... along");
	near(a->parallel_ns, 120, 1e-12,
		"that would wait for the long side: in parallel the sum stays apart");
	near(look(&w, "parallel,fusion")->layers[3].ns, 10, 1e-12,
		"... as the layers of the parallel scenario show");
	near(look(&w, "parallel,fusion")->sequential_ns, 147, 1e-12, "each total has its own best choice");
	measure(w.results, CONV "+add:f32+relu", 76);
	near(look(&w, "parallel,fusion")->total_ns, 120, 1e-12, "45 to the shortcut and 76 are too long");
	measure(w.results, CONV "+add:f32+relu", 70);
	a = look(&w, "parallel,fusion");
	near(a->total_ns, 115, 1e-12, "45 and 70 are not");
	near(a->layers[3].start_ns, 45, 1e-12, "the group starts when the shortcut is there");
	ok(a->layers[1].critical && a->layers[3].critical && a->layers[4].critical,
		"a group is critical as one");
	measure(w.results, CONV "+add:f32+relu", 300);
	near(look(&w, "fusion,parallel")->total_ns, 120, 1e-12, "never longer than unfused");
	near(look(&w, "fusion,parallel")->layers[1].ns, 100, 1e-12, "waiting for the shortcut must pay");
	world_close(&w);
}

/* Waiting for the shortcut lengthens the path although the kernel saves time. */
static void shortcut(void)
{
	struct maker *m = make_begin();
	int x = relu(m, make_input(m, IMAGE));
	int a = conv(m, CONV, x);
	int slow = relu(m, relu(m, relu(m, relu(m, x))));
	add(m, a, slow);
	struct world w;
	world_open(&w, m);
	measure(w.results, RELU, 25);
	measure(w.results, CONV, 100);
	measure(w.results, ADD, 20);
	measure(w.results, CONV "+add:f32", 105);
	struct analysis *s = look(&w, "fusion"), *p = look(&w, "parallel,fusion");
	near(s->total_ns, 125 + 105, 1e-12, "in sequence the fused sum is cheaper");
	near(p->total_ns, 145, 1e-12, "in parallel it would wait for the shortcut and is left");
	near(s->parallel_ns, 145, 1e-12, "the other total agrees");
	ok(isnan(effect(&w, "fusion", "parallel").saves_ns), "the toggle waits for the other groups");
	for (int i = 0; i < w.fusion->group_count; i++)
		if (!results_is_finished(w.results, w.fusion->groups[i].text))
			measure(w.results, w.fusion->groups[i].text, 1000);
	near(effect(&w, "fusion", "parallel").saves_ns, 230 - 145, 1e-12, "... and then agrees");
	world_close(&w);
}

static void borders(void)
{
	struct maker *m = make_begin();
	int x = make_input(m, IMAGE);
	int y = conv(m, CONV, x);
	int z = conv(m, CONV2, make_input(m, IMAGE));
	make_border(m, x, true, "cast:f32,bf16:" IMAGE);
	make_border(m, y, false, "cast:bf16,f32:" IMAGE);
	make_border(m, z, false, "cast:bf16,f32:1x64x56x57");
	struct world w;
	world_open(&w, m);
	measure(w.results, CONV, 100);
	measure(w.results, CONV2, 40);
	measure(w.results, "cast:f32,bf16:" IMAGE, 7);
	measure(w.results, "cast:bf16,f32:" IMAGE, 8);
	struct analysis *a = look(&w, "");
	near(a->total_ns, 155, 1e-12, "casts at the border are part of the sum");
	near(a->border_ns, 15, 1e-12, "and shown apart");
	ok(!a->complete && a->coverage.missing == 0 && a->unmeasured_problems == 1,
		"a cast not measured is a gap");
	near(a->parallel_ns, 115, 1e-12, "the path goes through them");
	near(a->layers[0].start_ns, 7, 1e-12, "a layer waits for its input's cast");
	near(a->lo_ns, 155 * 0.99 - sqrt(1 + 0.4 * 0.4 + 0.07 * 0.07 + 0.08 * 0.08), 1e-12,
		"their intervals count");
	struct result single = make_result(CONV, 50);
	single.stats.n = 1;
	single.stats.lo = single.stats.hi = NAN;
	single.runner_version = "2";
	results_put(w.results, &single);
	a = look(&w, "");
	ok(a->layers[0].ns == 50 && isnan(a->layers[0].lo) && isnan(a->layers[0].hi),
		"one sample has no interval");
	measure(w.results, CONV, 100);
	measure(w.results, "cast:bf16,f32:1x64x56x57", 90);
	a = look(&w, "parallel");
	ok(a->complete && a->total_ns == 130, "a dear cast behind the short side makes it the path");
	world_close(&w);
}

static void proxies_and_unknowns(void)
{
	struct maker *m = make_begin();
	int y = conv(m, CONV, make_input(m, IMAGE));
	make_layer(m, "Gather", "copy:u8,u8:b100", IMAGE, y, make_constant(m, "3"));
	m->plan.layers[1].proxy = true;
	make_layer(m, "NonMaxSuppression", NULL, "3", y, -1);
	m->plan.layers[2].class = CLASS_HOST;
	m->plan.layers[2].flops = NAN;
	struct world w;
	world_open(&w, m);
	measure(w.results, CONV, 75);
	measure(w.results, "copy:u8,u8:b100", 25);
	struct analysis *a = look(&w, "");
	ok(a->layers[1].origin == ORIGIN_PROXY && a->coverage.proxy == 1, "a stand-in is marked");
	near(a->coverage.cost_proxy_share, 0.25, 1e-12, "a quarter of the cost is by proxy");
	near(a->coverage.flops_measured_share, 0.5, 1e-12, "a proxy's FLOPs are not measured");
	ok(a->layers[2].origin == ORIGIN_MISSING && !a->complete, "a layer without a problem is missing");
	is_int(a->unmeasured_problems, 0, "... and nothing can be measured for it");
	is_str(origin_name(a->layers[1].origin), "proxy", "origins have names");
	world_close(&w);
}

static void launches(void)
{
	struct world w;
	open_chain(&w);
	static const char *const texts[] = { CONV, BATCHNORM, RELU };
	for (int i = 0; i < 3; i++) {
		struct result one = make_result(texts[i], 200);
		one.launch = LAUNCH_ISOLATED;
		results_put(w.results, &one);
	}
	near(look(&w, "launch=isolated")->total_ns, 1200, 1e-12, "isolated launches");
	near(effect(&w, "", "launch").saves_ns, 970, 1e-12, "amortized saves what it saves");
	near(effect(&w, "launch=isolated", "launch").saves_ns, 970, 1e-12, "... or would");
	near(effect(&w, "launch=isolated", "launch").total_ns, 230, 1e-12, "... and comes to");
	world_close(&w);
}

/* While a problem is being measured its first algorithms would make a bound that falls again. */
static void unfinished(void)
{
	struct maker *m = make_begin();
	int y = relu(m, make_input(m, IMAGE));
	m->plan.values[y].is_output = true;
	struct world w;
	world_open(&w, m);
	struct result one = make_result(RELU, 300);
	results_add(w.results, &one);
	struct analysis *a = look(&w, "");
	ok(a->layers[0].origin == ORIGIN_MISSING && a->unmeasured_problems == 1,
		"half measured is not measured");
	results_finish(w.results, RELU);
	a = look(&w, "");
	ok(a->layers[0].origin == ORIGIN_MEASURED && a->total_ns == 300 && a->complete,
		"finished, it counts");
	world_close(&w);
}

static void quick(struct results *r, const char *problem, double ns, enum launch launch)
{
	struct result one = { .problem = problem, .status = STATUS_OK, .cache = CACHE_NET, .launch = launch,
		.algorithm = { .api = "a", .name = "first", .math = "strict", .matrix = MATRIX_NO } };
	one.stats = (struct sample_stats){ .n = 3, .median = ns, .lo = ns - 1, .hi = ns + 1,
		.stop = STOP_SHORTLIST };
	results_add_rough(r, &one);
}

/* Quick measurements give a rough bound, until the full ones replace them. */
static void rough(void)
{
	struct world w;
	struct maker *m = make_begin();
	relu(m, add(m, conv(m, CONV, make_input(m, IMAGE)), conv(m, CONV2, make_input(m, IMAGE))));
	world_open(&w, m);
	quick(w.results, CONV, 100, LAUNCH_AMORTIZED);
	quick(w.results, CONV2, 40, LAUNCH_AMORTIZED);
	quick(w.results, ADD, 10, LAUNCH_AMORTIZED);
	struct analysis *a = look(&w, "");
	near(a->total_ns, 150, 0, "three of four layers quickly");
	ok(a->rough && !a->complete, "rough, with a gap");
	is_str(analysis_mark(a), "partial rough ", "and neither a bound nor complete");
	measure(w.results, RELU, 5);
	a = look(&w, "");
	near(a->total_ns, 155, 0, "all four layers");
	ok(a->rough && a->complete, "a complete bound");
	is_str(analysis_mark(a), "rough ", "marked");
	is_int(a->coverage.rough, 3, "three rough layers");
	is_int(a->coverage.measured, 1, "one is measured");
	is_int(a->unmeasured_problems, 3, "the problems still count as unmeasured");
	ok(a->layers[0].origin == ORIGIN_ROUGH && !strcmp(origin_name(a->layers[0].origin), "rough"),
		"the origin");
	ok(a->hi_ns > 155 * 1.01 && isnan(a->lo_ns), "their ranges are in it, which has no low end");
	struct what_if_effect e = effect(&w, "", "parallel");
	ok(e.rough && e.unmeasured_problems == 3, "a what-if of the same problems has a rough gain");
	near(e.saves_ns, 40, 0, "which is that of the rough bounds");
	near(effect(&w, "parallel", "parallel").saves_ns, 40, 0, "in either direction");
	e = effect(&w, "", "algorithm");
	ok(!e.rough && isnan(e.saves_ns), "a choice of algorithms needs the full measurements");
	e = effect(&w, "", "launch");
	ok(!e.rough && isnan(e.saves_ns), "and so does another launch mode");
	e = effect(&w, "", "fusion");
	ok(!e.rough && isnan(e.saves_ns) && e.unmeasured_problems > 3,
		"fused problems that were not tried say nothing");
	a = look(&w, "launch=isolated");
	ok(!a->rough && a->coverage.rough == 0 && a->coverage.missing >= 3,
		"only of the scenario's launch mode");
	is_int(look(&w, "cache=cold")->coverage.rough, 0, "only of its cache state: not cold");
	is_int(look(&w, "cache=warm")->coverage.rough, 3, "... constants in memory count as warm too");
	measure(w.results, CONV, 60);
	a = look(&w, "");
	near(a->total_ns, 115, 0, "the full measurement replaces the quick one");
	is_int(a->coverage.rough, 2, "two are left");
	measure(w.results, CONV2, 50);
	measure(w.results, ADD, 10);
	a = look(&w, "");
	near(a->total_ns, 125, 0, "also if it is slower");
	ok(!a->rough && a->unmeasured_problems == 0, "nothing is rough any more");
	is_str(analysis_mark(a), "", "nor marked");
	world_close(&w);
}

int main(void)
{
	unfinished();
	rough();
	sums();
	fused();
	partial_effects();
	missing();
	problem_list();
	refusals();
	excluded();
	marks();
	nothing_known();
	intervals();
	algorithms();
	in_place();
	shortlists();
	matrix_unknown();
	matrix_open();
	cache_states();
	answered_states();
	diamond();
	shortcut();
	borders();
	proxies_and_unknowns();
	launches();
	return done_testing();
}
