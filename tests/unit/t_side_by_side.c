/* Branches side by side (parallel=measured): sets found in random graphs against their definition, the choice
 * among them against all choices, totals of plans by hand. */
#include "config.h"

#include "analyze/analyze.h"
#include "analyze/branches/beside_private.h"
#include "make_plan.h"
#include "random_help.h"
#include "tap.h"

#include <math.h>

#define NODES 12
#define TRIALS 4000

/* ---- random graphs */

struct random_graph {
	struct arena arena;
	int first[NODES + 1], edges[NODES * NODES], node_of[NODES];
	enum beside_kind kind[NODES];
	double weight[NODES];
	struct beside_graph g;
	struct beside_sets sets;
	uint32_t before[NODES]; /* all that a node depends on, as bits */
};

/* The nodes that a node reads: any, or (likely) one that nothing reads yet, a fork, or several that join. */
static int random_reads(const int *readers, int node, bool any, int *from)
{
	int count = 0, how = below(10);
	if (any || how < 3) { /* a fork */
		for (int k = any ? 1 + below(3) : 1; k > 0; k--)
			from[count++] = any ? below(node) : node - 1 - below(node < 4 ? node : 4);
		return count;
	}
	for (int i = node - 1; i >= 0 && count < (how < 6 ? 1 : 3); i--)
		if (!readers[i] && below(4))
			from[count++] = i;
	if (!count)
		from[count++] = node - 1;
	return count;
}

static void random_open(struct random_graph *r)
{
	static const enum beside_kind kinds[] = { BESIDE_RUNS, BESIDE_RUNS, BESIDE_RUNS, BESIDE_RUNS,
		BESIDE_RUNS, BESIDE_FREE, BESIDE_APART };
	int count = 0, any = below(4) == 0, apart = below(2), readers[NODES] = { 0 };
	*r = (struct random_graph){ 0 };
	for (int i = 0; i < NODES; i++) {
		r->first[i] = count;
		r->node_of[i] = i;
		r->kind[i] = kinds[below(6 + apart)];
		r->weight[i] = r->kind[i] == BESIDE_RUNS ? 1 + below(9) : 0;
		int reads = i ? random_reads(readers, i, any, r->edges + count) : 0;
		for (int k = 0; k < reads; k++)
			readers[r->edges[count++]]++;
	}
	r->first[NODES] = count;
	beside_graph(&r->g, &r->arena, NODES, r->first, r->edges, r->node_of, r->kind, r->weight);
	beside_find(&r->g, &r->sets);
	for (int at = 0; at < NODES; at++) {
		int node = r->g.order[at];
		for (int e = r->g.in_first[node]; e < r->g.in_first[node + 1]; e++)
			r->before[node] |= r->before[r->g.in[e]] | 1u << r->g.in[e];
	}
}

static void random_close(struct random_graph *r)
{
	free(r->sets.items);
	arena_free(&r->arena);
}

static uint32_t branch_bits(const struct beside_set *s, int branch)
{
	uint32_t bits = 0;
	for (int i = s->first[branch]; i < s->first[branch + 1]; i++)
		bits |= 1u << s->node[i];
	return bits;
}

/* Each node depends only on its branch, on free nodes, on the fork and what that depends on. */
static bool set_holds(const struct random_graph *r, const struct beside_set *s)
{
	uint32_t known = s->fork < 0 ? 0 : r->before[s->fork] | 1u << s->fork, seen = 0;
	bool holds = s->branch_count >= 2;
	for (int i = 0; i < NODES; i++)
		known |= r->kind[i] == BESIDE_FREE ? 1u << i : 0;
	for (int b = 0; b < s->branch_count; b++) {
		uint32_t own = branch_bits(s, b), earlier = 0;
		holds &= own && !(own & seen);
		seen |= own;
		for (int i = s->first[b]; i < s->first[b + 1]; i++) {
			holds &= r->kind[s->node[i]] == BESIDE_RUNS;
			holds &= !(r->before[s->node[i]] & ~known & ~earlier);
			earlier |= 1u << s->node[i];
		}
	}
	return holds;
}

/* True if the chosen sets, each as one step, can still be put in an order. */
static bool steps_hold(const struct random_graph *r, const bool *chosen)
{
	int step[NODES];
	uint32_t waits[NODES] = { 0 }, left = (1u << NODES) - 1;
	for (int i = 0; i < NODES; i++)
		step[i] = i;
	for (int k = 0; k < r->sets.count; k++)
		for (int i = 0; chosen[k] && i < r->sets.items[k].first[r->sets.items[k].branch_count]; i++)
			step[r->sets.items[k].node[i]] = r->sets.items[k].node[0];
	for (int i = 0; i < NODES; i++) /* free nodes take no step */
		for (int k = 0; k < NODES; k++)
			if ((r->before[i] >> k & 1) && r->kind[i] != BESIDE_FREE && r->kind[k] != BESIDE_FREE)
				waits[step[i]] |= 1u << step[k];
	for (int i = 0; i < NODES; i++)
		left &= step[i] == i ? ~0u : ~(1u << i);
	/* members of a step wait for each other only inside a branch */
	for (int i = 0; i < NODES; i++)
		waits[i] &= ~(1u << i);
	for (bool any = true; any && left;) {
		any = false;
		for (int i = 0; i < NODES; i++)
			if ((left >> i & 1) && !(waits[i] & left)) {
				left &= ~(1u << i);
				any = true;
			}
	}
	return !left;
}

/* The components between a fork and the node where all paths from it join, by definition. Returns how many of
 * them run something and have nothing apart, 0: there is no such join; bits: of each. */
static int components(const struct random_graph *r, int fork, int join, uint32_t *bits)
{
	uint32_t inside = 0, done = 0;
	int count = 0;
	for (int i = 0; i < NODES; i++)
		if ((r->before[i] >> fork & 1) && (r->before[join] >> i & 1))
			inside |= 1u << i;
	for (int i = 0; i < NODES; i++)
		for (int e = r->g.in_first[i]; e < r->g.in_first[i + 1]; e++) {
			int from = r->g.in[e];
			bool leaves = ((inside >> from & 1) || from == fork) && !(inside >> i & 1) &&
				i != join;
			bool enters = (inside >> i & 1) && !(inside >> from & 1) && from != fork;
			if (leaves || enters)
				return 0;
		}
	for (int i = 0; i < NODES; i++) {
		uint32_t own = 1u << i, was = 0;
		if (!(inside >> i & 1) || (done >> i & 1))
			continue;
		while (own != was) {
			was = own;
			for (int k = 0; k < NODES; k++)
				for (int e = r->g.in_first[k]; e < r->g.in_first[k + 1]; e++) {
					uint32_t both = 1u << k | 1u << r->g.in[e];
					if ((both & inside) == both && (both & own))
						own |= both;
				}
		}
		done |= own;
		bool apart = false;
		uint32_t runs = 0;
		for (int k = 0; k < NODES; k++) {
			apart |= (own >> k & 1) && r->kind[k] == BESIDE_APART;
			runs |= (own >> k & 1) && r->kind[k] == BESIDE_RUNS ? 1u << k : 0;
		}
		if (runs && !apart)
			bits[count++] = runs;
	}
	return count;
}

static bool is_found(const struct random_graph *r, int fork, const uint32_t *bits, int count)
{
	for (int k = 0; k < r->sets.count; k++) {
		const struct beside_set *s = &r->sets.items[k];
		int same = 0;
		for (int b = 0; b < s->branch_count; b++)
			for (int i = 0; i < count; i++)
				same += branch_bits(s, b) == bits[i];
		if (s->fork == fork && same == count && s->branch_count == count)
			return true;
	}
	return false;
}

/* The most that disjoint sets save, by trying all selections. */
static double by_force(const struct beside_sets *sets, const double *saves, int at, uint32_t taken)
{
	if (at == sets->count)
		return 0;
	uint32_t own = 0;
	for (int b = 0; b < sets->items[at].branch_count; b++)
		own |= branch_bits(&sets->items[at], b);
	double best = by_force(sets, saves, at + 1, taken);
	return own & taken || !(saves[at] > 0) ? best :
		fmax(best, saves[at] + by_force(sets, saves, at + 1, taken | own));
}

static void random_graphs(void)
{
	int wrong = 0, cycles = 0, sets = 0, joins = 0, lost = 0, worse = 0, competing = 0;
	for (int n = 0; n < TRIALS; n++) {
		struct random_graph r;
		double saves[4 * NODES], sum = 0, all = 0;
		bool chosen[4 * NODES] = { false };
		random_open(&r);
		for (int k = 0; k < r.sets.count; k++) {
			wrong += !set_holds(&r, &r.sets.items[k]);
			saves[k] = below(5) ? below(20) - 4 : NAN;
			all += saves[k] > 0 ? saves[k] : 0;
		}
		sets += r.sets.count;
		for (int f = 0; f < NODES; f++)
			for (int j = f + 1; j < NODES; j++) {
				uint32_t bits[NODES];
				int count = components(&r, f, j, bits);
				joins += count >= 2;
				lost += count >= 2 && !is_found(&r, f, bits, count);
			}
		double best = beside_choose(&r.sets, saves, NODES, chosen);
		for (int k = 0; k < r.sets.count; k++)
			sum += chosen[k] ? saves[k] : 0;
		double force = by_force(&r.sets, saves, 0, 0);
		worse += fabs(best - force) > 1e-9 || fabs(sum - best) > 1e-9;
		competing += force < all;
		cycles += !steps_hold(&r, chosen);
		random_close(&r);
	}
	printf("# %d sets, %d joins, %d graphs with sets that compete\n", sets, joins, competing);
	is_int(wrong, 0, "branches depend on their fork only");
	is_int(cycles, 0, "the chosen sets can be put in an order");
	is_int(lost, 0, "all forks that join again are found");
	is_int(worse, 0, "the choice equals that of all selections");
	ok(sets > TRIALS && joins > TRIALS / 10 && competing > TRIALS / 100, "there was something to find");
}

/* ---- plans by hand */

#define IMAGE "1x64x56x56"
#define CONV(n) "conv:f32,f32.c,f32/f32:n1c" #n "h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"
#define RELU "eltwise:f32,f32:relu:" IMAGE
#define ADD "binary:f32,f32,f32:add:" IMAGE ":" IMAGE

/* A residual block: conv, relu, conv beside conv, joined by a sum. */
struct block {
	struct maker *m;
	struct plan *plan;
	struct fusion *fusion;
	struct results *results;
	struct arena arena;
};

static int conv(struct maker *m, const char *text, int x)
{
	return make_layer(m, "Conv", text, IMAGE, x, make_constant(m, "64x64x3x3"));
}

static void block_open(struct block *b)
{
	*b = (struct block){ .m = make_begin(), .results = results_new() };
	int in = make_input(b->m, IMAGE);
	int stem = make_layer(b->m, "Relu", RELU, IMAGE, conv(b->m, CONV(1), in), -1);
	int main = conv(b->m, CONV(3), make_layer(b->m, "Relu", RELU, IMAGE, conv(b->m, CONV(2), stem), -1));
	int side = conv(b->m, CONV(4), stem);
	int sum = make_layer(b->m, "Add", ADD, IMAGE, main, side);
	b->m->plan.values[sum].is_output = true;
	b->plan = make_finish(b->m);
	b->fusion = fusion_find(b->plan);
	static const struct { const char *text; double ns; } known[] = { { CONV(1), 100e3 },
		{ CONV(2), 70e3 }, { CONV(3), 60e3 }, { CONV(4), 50e3 }, { RELU, 10e3 }, { ADD, 20e3 } };
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct result r = make_result(known[i].text, known[i].ns);
		results_put(b->results, &r);
	}
}

static void block_close(struct block *b)
{
	fusion_free(b->fusion);
	results_free(b->results);
	make_end(b->m);
	arena_free(&b->arena);
}

#define UNFUSED "beside:" CONV(2) "=" RELU "=" CONV(3) "%" CONV(4)
#define FUSED "beside:" CONV(2) "+relu=" CONV(3) "%" CONV(4)

static const struct analysis *analysis_of(struct block *b, const char *what_if)
{
	struct scenario s = scenario_default();
	scenario_parse(&s, what_if, NULL);
	return analyze(&b->arena, GROUND(b->plan, b->fusion, b->results, NULL), &s);
}

static void put(struct block *b, const char *text, double ns)
{
	struct result r = make_result(text, ns);
	results_put(b->results, &r);
}

static void totals(void)
{
	struct block b;
	block_open(&b);
	const struct analysis *a = analysis_of(&b, "parallel=measured");
	near(a->total_ns, 320e3, 1e-9, "unmeasured: the sum");
	ok(a->complete, "which is whole");
	is_int(a->unmeasured_problems, 1, "one problem is to be measured");
	is_int(a->beside_count, 1, "one set of branches");
	is_str(a->besides[0].text, UNFUSED, "its problem");
	near(a->besides[0].alone_ns, 190e3, 1e-9, "what it takes one after the other");
	ok(isnan(a->besides[0].ns) && !a->besides[0].used, "side by side: unknown");
	int count;
	struct scenario s = scenario_default();
	const struct ground *g = GROUND(b.plan, b.fusion, b.results, NULL);
	const char **texts = analyze_besides(&b.arena, g, &s, &count);
	ok(count == 1 && strcmp(texts[0], UNFUSED) == 0, "it is listed");
	struct what_if_effect *w = analyze_what_ifs(&b.arena, g, &a->scenario, &count);
	ok(isnan(w[0].saves_ns) && w[0].unmeasured_problems == 1, "what it saves is unknown until then");
	put(&b, UNFUSED, 150e3);
	a = analysis_of(&b, "parallel=measured");
	near(a->total_ns, 280e3, 1e-9, "measured: 40 us less");
	near(a->beside_saves_ns, 40e3, 1e-9, "which it saves");
	near(a->sequential_ns, 320e3, 1e-9, "the sum is as before");
	near(a->lo_ns, 280e3 * 0.99 - 1e3 * sqrt(1 + 0.1 * 0.1 + 0.2 * 0.2 + 1.5 * 1.5), 1e-9,
		"its interval has that of the measurement");
	ok(a->besides[0].used && a->unmeasured_problems == 0 && a->beside_unmeasured == 0, "it is used");
	ok(a->besides[0].layer_count == 4 && a->besides[0].layers[0] == 2 && a->besides[0].layers[3] == 5 &&
			a->besides[0].branch[2] == 0 && a->besides[0].branch[3] == 1,
		"with its layers, by branch");
	w = analyze_what_ifs(&b.arena, g, &a->scenario, &count);
	near(w[0].saves_ns, 40e3, 1e-9, "what it saves is known");
	analyze_besides(&b.arena, g, &s, &count);
	is_int(count, 0, "nothing is left to measure");
	near(analysis_of(&b, "")->total_ns, 320e3, 1e-9, "without the what-if it does not count");
	block_close(&b);
}

static void slower(void)
{
	struct block b;
	block_open(&b);
	put(&b, UNFUSED, 250e3);
	const struct analysis *a = analysis_of(&b, "parallel=measured");
	near(a->total_ns, 320e3, 1e-9, "slower side by side: one after the other");
	ok(!a->besides[0].used && a->besides[0].ns == 250e3, "it is known and not used");
	block_close(&b);
	block_open(&b);
	struct result r = make_result(UNFUSED, NAN);
	r.status = STATUS_UNSUPPORTED;
	r.algorithm.name = "";
	r.why = "one thread";
	results_put(b.results, &r);
	a = analysis_of(&b, "parallel=measured");
	near(a->total_ns, 320e3, 1e-9, "not supported: one after the other");
	ok(a->unmeasured_problems == 0 && a->besides[0].why && strcmp(a->besides[0].why, "one thread") == 0,
		"for the runner's reason");
	block_close(&b);
}

static void with_fusion(void)
{
	struct block b;
	block_open(&b);
	put(&b, CONV(2) "+relu", 72e3); /* 8 us less than apart */
	const struct analysis *a = analysis_of(&b, "parallel=measured,fusion=epilogue");
	is_str(a->besides[0].text, FUSED, "a group of fused layers is one problem of a branch");
	near(a->total_ns, 312e3, 1e-9, "unmeasured: the sum");
	put(&b, UNFUSED, 150e3);
	a = analysis_of(&b, "parallel=measured,fusion=epilogue");
	near(a->total_ns, 280e3, 1e-9, "unfused side by side is faster than fused alone: it counts");
	is_int(a->unmeasured_problems - analysis_of(&b, "fusion=epilogue")->unmeasured_problems, 1,
		"the fused form is still unmeasured");
	put(&b, FUSED, 140e3);
	a = analysis_of(&b, "parallel=measured,fusion=epilogue");
	near(a->total_ns, 312e3 - (182e3 - 140e3), 1e-9, "measured, it counts");
	ok(a->besides[0].used && strcmp(a->besides[0].text, FUSED) == 0, "as fused");
	block_close(&b);
}

static void states(void)
{
	struct block b;
	block_open(&b);
	struct result r = make_result(UNFUSED, 150e3);
	r.launch = LAUNCH_ISOLATED;
	results_put(b.results, &r);
	near(analysis_of(&b, "parallel=measured")->total_ns, 320e3, 1e-9, "of another launch mode: not used");
	block_close(&b);
	block_open(&b);
	r = make_result(UNFUSED, 150e3);
	r.algorithm.matrix = MATRIX_YES;
	results_put(b.results, &r);
	near(analysis_of(&b, "parallel=measured")->total_ns, 320e3, 1e-9, "on matrix units: not used");
	near(analysis_of(&b, "parallel=measured,matrix")->total_ns, 280e3, 1e-9, "but with them");
	block_close(&b);
}

/* The total if the set takes 150 us and so ran, with the what-if. */
static double allowed(const char *kernels, const char *what_if)
{
	struct block b;
	block_open(&b);
	struct result r = make_result(UNFUSED, 150e3);
	char list[128];
	r.algorithm.api = "beside";
	r.algorithm.workspace_bytes = NAN;
	r.kernels = kernels;
	results_put(b.results, &r);
	snprintf(list, sizeof(list), "parallel=measured%s", what_if);
	double ns = analysis_of(&b, list)->total_ns;
	block_close(&b);
	return ns;
}

#define LANE "lane 1, 1 thread: conv test jit, workspace 1024\n"
#define OTHER "lane 2, 1 thread: conv plain C loops, workspace 512, notes nondeterministic\n"
#define UNSAID "lane 2, 1 thread: conv test jit\n"

static void what_ran(void)
{
	near(allowed(LANE LANE LANE LANE, ",libraries=test"), 280e3, 1e-9, "all of a library that is named");
	near(allowed(LANE LANE LANE OTHER, ",libraries=test"), 320e3, 1e-9, "one of another library");
	near(allowed(LANE LANE LANE OTHER, ",libraries=test+plain"), 280e3, 1e-9, "both are named");
	near(allowed("", ",libraries=test"), 320e3, 1e-9, "it is not said what ran");
	near(allowed(LANE LANE LANE LANE, ",workspace=4K"), 280e3, 1e-9, "workspaces add up to the limit");
	near(allowed(LANE LANE LANE LANE, ",workspace=3K"), 320e3, 1e-9, "... above it");
	near(allowed(LANE LANE LANE UNSAID, ",workspace=1G"), 320e3, 1e-9, "one is unknown");
	near(allowed(LANE LANE LANE OTHER, ",deterministic"), 320e3, 1e-9, "one is nondeterministic");
	near(allowed(LANE LANE LANE LANE, ",deterministic"), 280e3, 1e-9, "none is");
}

static void suspect(void)
{
	struct block b;
	block_open(&b);
	struct peaks k = peaks_unknown();
	struct scenario s = scenario_default();
	struct ground g = { .plan = b.plan, .fusion = b.fusion, .results = b.results, .peaks = &k };
	struct result r = make_result(UNFUSED, 150e3);
	r.algorithm.api = "beside";
	r.kernels = LANE LANE LANE UNSAID;
	results_put(b.results, &r);
	s.parallel = PARALLEL_MEASURED;
	k.flops[DTYPE_F32] = 3e11;
	const struct analysis *a = analyze(&b.arena, &g, &s);
	ok(a->besides[0].used && !a->besides[0].mistrusted && !a->beside_mistrusted,
		"as fast as the units allow");
	k.flops[DTYPE_F32] = 1.5e11;
	a = analyze(&b.arena, &g, &s);
	ok(a->besides[0].used && a->besides[0].mistrusted && a->beside_mistrusted == 1, "faster: suspect");
	block_close(&b);
}

static void described(void)
{
	struct block b;
	block_open(&b);
	struct peaks k = peaks_unknown();
	struct results *none = results_new();
	struct scenario s = scenario_default();
	struct ground g = { .plan = b.plan, .fusion = b.fusion, .results = none, .peaks = &k,
		.estimate = true };
	int count;
	s.parallel = PARALLEL_MEASURED;
	k.flops[DTYPE_F32] = 1e12;
	k.bandwidth_bytes_s = 1e12;
	const struct analysis *a = analyze(&b.arena, &g, &s);
	near(a->total_ns, a->sequential_ns, 1e-9, "a described device: the sum");
	ok(a->beside_count == 1 && a->besides[0].why && a->unmeasured_problems == 0, "for a reason");
	struct what_if_effect *w = analyze_what_ifs(&b.arena, &g, &s, &count);
	ok(isnan(w[0].saves_ns) && w[0].unmeasured_problems == 0, "what it saves is unknown");
	ok(!isnan(w[1].saves_ns), "what fusion saves is not");
	results_free(none);
	block_close(&b);
}

int main(void)
{
	random_graphs();
	totals();
	slower();
	with_fusion();
	states();
	what_ran();
	suspect();
	described();
	return done_testing();
}
