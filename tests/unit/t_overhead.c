#include "config.h"

#include "analyze/real/reality.h"
#include "make_plan.h"
#include "tap.h"

/* What framework and profiler add to the layers of an execution, rows that exceed the latency, and the causes
 * besides algorithms. Times are in microseconds here. */

#define US 1000.0
#define LARGE "eltwise:f32,f32:relu:1x64x56x56"
#define TINY "eltwise:f32,f32:tanh:1x8"

/* x -> large -> tiny */
struct net {
	struct maker *m;
	struct plan *plan;
	struct results *results;
	struct device device;
	struct arena arena;
	struct execution e;
	int capacity;
};

static struct net net_new(double large_us, double tiny_us)
{
	struct net n = { .m = make_begin(), .e = execution_new(), .results = results_new() };
	int large = make_layer(n.m, "Relu", LARGE, "1x64x56x56", make_input(n.m, "1x64x56x56"), -1);
	n.m->plan.layers[0].name = text_of("large");
	make_layer(n.m, "Tanh", TINY, "1x8", large, -1);
	n.m->plan.layers[1].name = text_of("tiny");
	n.plan = make_finish(n.m);
	measure(n.results, LARGE, 100 * US);
	measure(n.results, TINY, 0.03 * US);
	n.device = (struct device){ .model = "Word 1", .llc_bytes = NAN };
	n.e.dtype = "f32";
	n.e.math = "strict";
	n.e.device = "Word 1";
	n.e.source = "agent";
	n.e.profiler_row_ns = 4 * US;
	const char *const nodes[] = { "large", "tiny" };
	const double times[] = { large_us, tiny_us };
	for (int i = 0; i < 2; i++) {
		struct execution_row *r = execution_add(&n.arena, &n.e, &n.capacity);
		r->name = "row";
		r->nodes = nodes[i];
		r->op = i ? "Tanh" : "Relu";
		r->ns = times[i] * US;
		r->lo_ns = 0.99 * times[i] * US;
		r->hi_ns = 1.01 * times[i] * US;
	}
	return n;
}

static void net_free(struct net *n)
{
	arena_free(&n->arena);
	results_free(n->results);
	make_end(n->m);
}

static struct reality *compare(struct net *n, double latency_us)
{
	struct scenario s = scenario_default();
	struct ground g = { .plan = n->plan, .results = n->results, .device = &n->device };
	n->e.stats.median = latency_us * US;
	n->e.stats.lo = 0.99 * latency_us * US;
	n->e.stats.hi = 1.01 * latency_us * US;
	struct match *m = match_execution(&n->arena, &n->e, n->plan);
	struct reality *y = reality_of(&n->arena, &g, &s, analyze(&n->arena, &g, &s), &n->e, m);
	double sum = 0;
	for (int k = 0; k < GAP_COUNT; k++)
		sum += isnan(y->gaps[k].ns) ? 0 : y->gaps[k].ns;
	ok(fabs(sum - (y->measured_ns - y->bound_ns)) < 1e-6, "the gaps add up");
	return y;
}

static double us(const struct reality *y, enum gap_kind k)
{
	return isnan(y->gaps[k].ns) ? 0 : y->gaps[k].ns / US;
}

static void small_layers(void)
{
	struct net n = net_new(150, 25.7);
	struct reality *y = compare(&n, 176);
	near(us(y, GAP_OVERHEAD), 25.67, 1e-9, "a tiny layer has only overhead");
	near(us(y, GAP_ALGORITHM), 50, 1e-9, "a large one has a slower algorithm");
	is_int(y->groups[1].kind, GAP_OVERHEAD, "the tiny layer's kind");
	is_int(y->gaps[GAP_OVERHEAD].layer_count, 1, "one layer");
	n.e.settings = "{\"node_ns\":600}";
	y = compare(&n, 176);
	near(us(y, GAP_OVERHEAD), 25.67 + 0.6, 1e-9, "the framework's part counts in every layer");
	near(us(y, GAP_ALGORITHM), 49.4, 1e-9, "and is no algorithm's");
	is_int(y->groups[0].kind, GAP_ALGORITHM, "the larger part is the layer's kind");
	n.e.rows[0].calls = 3;
	near(us(compare(&n, 176), GAP_OVERHEAD), 25.67 + 1.8, 1e-9, "of each call");
	n.e.rows[0].calls = NAN;
	n.e.rows[1].ns = n.e.rows[1].lo_ns = n.e.rows[1].hi_ns = 1000 * US;
	y = compare(&n, 1150);
	near(us(y, GAP_OVERHEAD), 46 + 0.6, 1e-9, "ten times what both add at most");
	is_int(y->groups[1].kind, GAP_ALGORITHM, "a tiny layer of a millisecond has a slower algorithm");
	n.e.profiler_row_ns = NAN;
	n.e.settings = "{\"node_ns\":-5}";
	near(us(compare(&n, 1150), GAP_OVERHEAD), 20, 1e-9, "unknown: 2 us");
	n.e.rows[0].level = n.e.rows[1].level = LEVEL_KERNEL;
	near(us(compare(&n, 1150), GAP_OVERHEAD), 0, 1e-9, "kernels are timed by the device");
	net_free(&n);
}

static void excess(void)
{
	struct net n = net_new(150, 30);
	struct reality *y = compare(&n, 180);
	ok(isnan(y->excess_ns) && !reality_excess_text(&n.arena, y), "rows as long as the latency");
	near(us(y, GAP_OVERHEAD), 29.97, 1e-9, "have no profiler's part in the large layer");
	y = compare(&n, 174);
	near(y->excess_ns, 6 * US, 1e-9, "rows that exceed the latency");
	near(us(y, GAP_OVERHEAD), 29.97 + 3, 1e-9, "the excess is the profiler's, a part a layer");
	near(us(y, GAP_UNEXPLAINED), -6, 1e-9, "and unexplained takes it back");
	is_str(reality_excess_text(&n.arena, y),
		"rows take 180 us, 6.00 us more than the median latency: the profiled run was slower, or "
		"rows overlap. The gaps of layers are together too large by this time; "
		"unexplained is lower by it",
		"it is said");
	n.e.profiled_ns = 185 * US;
	n.e.outside_ns = 5 * US;
	y = compare(&n, 120);
	near(y->excess_ns, (180 + 5 - 120) * US, 1e-9, "with the launch");
	near(us(y, GAP_OVERHEAD), 29.97 + 4, 1e-9, "a layer has at most what profiling it costs");
	const char *text = reality_excess_text(&n.arena, y);
	ok(strstr(text, "rows and launch") && strstr(text, ": a profiled run takes 185 us."), "and said");
	n.e.profiled_ns = 100 * US;
	text = reality_excess_text(&n.arena, compare(&n, 120));
	ok(strstr(text, ": rows ran at the same time.") != NULL, "rows that overlap");
	net_free(&n);
}

/* Compares and returns the doubt, or "". */
static const char *doubt(struct net *n, double latency_us)
{
	const struct reality *y = compare(n, latency_us);
	is_str(reality_label(y, GAP_ALGORITHM), y->slower_doubt ? "slower algorithms?" : "slower algorithms",
		"the label");
	return y->slower_doubt ? y->slower_doubt : "";
}

static void causes(void)
{
	struct net n = net_new(150, 25.7);
	n.e.output_compared = n.e.output_finite = true;
	n.e.settings = "{\"level\":\"all\",\"spinning\":true,\"options\":{\"enable_cpu_mem_arena\":\"1\"}}";
	is_str(doubt(&n, 176), "", "an agent with its usual settings");
	n.e.output_finite = false;
	ok(strstr(doubt(&n, 176), "denormal"), "outputs that are no usual numbers");
	n.device.stack = "CUDA 13.0";
	is_str(doubt(&n, 176), "", "are not slow on a GPU");
	n.device.stack = NULL;
	n.e.output_compared = false;
	is_str(doubt(&n, 176), "", "nothing is said of outputs that nobody compared");
	n.e.output_compared = n.e.output_finite = true;
	n.e.settings = "{\"level\":\"none\",\"spinning\":false,\"options\":{\"enable_mem_pattern\":\"0\"}}";
	is_str(doubt(&n, 176),
		"graph optimizations are none; memory is allocated in each run; its threads sleep between "
		"layers", "what the settings show");
	n.e.settings = "[{";
	n.e.stats.stop = STOP_DISTURBED;
	is_str(doubt(&n, 176), "other work disturbed its samples", "noise");
	n.e.stats.stop = STOP_NONE;
	is_str(doubt(&n, 150), "profiled runs were slower", "a slow profile");
	n.e.source = "onnxruntime";
	is_str(doubt(&n, 176),
		"the file does not say its threads, graph optimizations, memory arena, or whether numbers "
		"are denormal", "a file");
	n.e.threads = 2;
	is_str(doubt(&n, 176),
		"the file does not say its graph optimizations, memory arena, or whether numbers are "
		"denormal", "with threads");
	n.e.rows[0].ns = n.e.rows[0].lo_ns = n.e.rows[0].hi_ns = 100 * US;
	ok(!compare(&n, 126)->slower_doubt, "without slower layers there is no doubt");
	net_free(&n);
}

int main(void)
{
	small_layers();
	excess();
	causes();
	return done_testing();
}
