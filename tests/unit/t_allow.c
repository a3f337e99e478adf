#include "config.h"

#include <math.h>

#include "analyze/analyze.h"
#include "make_plan.h"
#include "random_help.h"
#include "tap.h"

/* The what-ifs that decide which results count: workspace, deterministic, libraries, a named algorithm,
 * cache. */

#define IMAGE "1x64x56x56"
#define RELU "eltwise:f32,f32:relu:" IMAGE
#define TANH "eltwise:f32,f32:tanh:" IMAGE
#define EXP "eltwise:f32,f32:exp:" IMAGE
static const char *const problems[] = { RELU, TANH, EXP };

struct world {
	struct maker *m;
	struct plan *plan;
	struct results *results;
	struct arena arena;
};

static void world_open(struct world *w)
{
	struct maker *m = make_begin();
	*w = (struct world){ .m = m, .results = results_new() };
	int x = make_layer(m, "Relu", RELU, IMAGE, make_input(m, IMAGE), -1);
	x = make_layer(m, "Tanh", TANH, IMAGE, x, -1);
	x = make_layer(m, "Exp", EXP, IMAGE, make_layer(m, "Relu", RELU, IMAGE, x, -1), -1);
	m->plan.values[x].is_output = true;
	w->plan = make_finish(m);
}

static void world_close(struct world *w)
{
	arena_free(&w->arena);
	results_free(w->results);
	make_end(w->m);
}

struct kind {
	const char *api, *name;
	double workspace;
	const char *notes;
	enum cache cache;
};

static void put(struct world *w, const char *problem, struct kind k, double ns)
{
	struct result one = make_result(problem, ns);
	one.algorithm.api = k.api;
	one.algorithm.name = k.name;
	one.algorithm.workspace_bytes = k.workspace;
	one.algorithm.notes = k.notes;
	one.cache = k.cache;
	results_put(w->results, &one);
}

static struct analysis *look(struct world *w, const char *what_ifs)
{
	struct scenario s = scenario_default();
	struct error err = ERROR_NONE;
	if (scenario_parse(&s, what_ifs, &err))
		ok(false, "%s", err.text);
	return analyze(&w->arena, GROUND(w->plan, NULL, w->results, NULL), &s);
}

#define BIAS "binary:f32,f32.c,f32:add:" IMAGE ":1x64x1x1"

/* A distance whose copies had no room: the farthest one that was measured counts, with a wider interval. */
static void beyond(struct plan *p, const struct device *d)
{
	struct results *r = results_new();
	struct arena a = { 0 };
	struct peaks peaks = peaks_unknown();
	struct scenario s = scenario_default();
	const struct ground g = { .plan = p, .results = r, .device = d, .peaks = &peaks };
	struct result near_one = make_result(BIAS, 200), one = make_result(BIAS, 300);
	near_one.cache = CACHE_NEAREST + 2;
	results_put(r, &near_one);
	one.status = STATUS_NO_MEMORY;
	one.cache = CACHE_NEAREST + 5;
	results_put(r, &one);
	one.cache = CACHE_NEAREST + 4;
	results_put(r, &one);
	const struct analysis *got = analyze(&a, &g, &s);
	struct str line = { 0 };
	analysis_cache_describe(got, &line);
	near(got->total_ns, 200, 1e-9, "no room at its own distance: the farthest that was measured counts");
	ok(got->layers[0].nearer && strstr(line.p, "1 layer measured at a shorter distance"), "said: %s",
		line.p);
	ok(isnan(got->layers[0].hi), "without a peak its high end is unknown");
	peaks.bandwidth_bytes_s = 1e9; /* 256 bytes of bias */
	got = analyze(&a, &g, &s);
	near(got->layers[0].hi - got->layers[0].ns, 2 + 256, 1e-6,
		"else the constants may come from memory: +%g", got->layers[0].hi - got->layers[0].ns);
	near(got->layers[0].lo, 198, 1e-9, "the low end stays");
	one = make_result(BIAS, 250);
	one.cache = CACHE_NEAREST + 4;
	one.measured_at -= 100;
	results_put(r, &one);
	got = analyze(&a, &g, &s);
	near(got->total_ns, 250, 1e-9, "an older measurement, when there was room, as it is");
	one = make_result(BIAS, 300);
	one.cache = CACHE_NEAREST + 5;
	results_put(r, &one);
	got = analyze(&a, &g, &s);
	near(got->total_ns, 275, 1e-9, "with room at both distances as ever");
	ok(!got->layers[0].nearer, "... and nothing is said");
	str_free(&line);
	arena_free(&a);
	results_free(r);
}

/* A problem with constants at two reuse distances: costs lie between, never above the farther one; other
 * distances are no answer. */
static void distances(void)
{
	static const struct device d = { .name = "cpu", .distances = true, .llc_bytes = 32 << 20 };
	struct maker *m = make_begin();
	struct results *r = results_new();
	struct arena a = { 0 };
	int x = make_layer(m, "Add", BIAS, IMAGE, make_input(m, IMAGE), -1);
	m->plan.values[x].is_output = true;
	struct plan *p = make_finish(m);
	p->reuse_bytes = sqrt(2) * (16 << 20);
	struct scenario s = scenario_default();
	struct result one = make_result(BIAS, 400);
	one.cache = CACHE_NEAREST + 6;
	results_put(r, &one);
	one = make_result(BIAS, 100);
	one.cache = CACHE_WARM;
	results_put(r, &one);
	struct analysis *got = analyze(&a, GROUND(p, NULL, r, &d), &s);
	ok(got->cache == CACHE_NEAREST + 5 && isnan(got->layers[0].ns) && got->coverage.missing == 1,
		"another distance is no answer, nor is warm");
	one = make_result(BIAS, 300);
	one.cache = CACHE_NEAREST + 5;
	results_put(r, &one);
	near(analyze(&a, GROUND(p, NULL, r, &d), &s)->total_ns, 300, 1e-9,
		"the farther one alone counts as it is");
	one = make_result(BIAS, 200);
	one.cache = CACHE_NEAREST + 4;
	results_put(r, &one);
	near(analyze(&a, GROUND(p, NULL, r, &d), &s)->total_ns, 250, 1e-9, "half way between both");
	s.cache = CACHE_CHOICE_WARM;
	near(analyze(&a, GROUND(p, NULL, r, &d), &s)->total_ns, 100, 1e-9,
		"a scenario reads the state that it names");
	s = scenario_default();
	s.huge_pages = true;
	ok(isnan(analyze(&a, GROUND(p, NULL, r, &d), &s)->layers[0].ns),
		"pages of 2 MiB are another measurement");
	s = scenario_default();
	one = make_result(BIAS, 3000);
	one.cache = CACHE_NEAREST + 4;
	one.measured_at += 100;
	results_put(r, &one);
	near(analyze(&a, GROUND(p, NULL, r, &d), &s)->total_ns, 300, 1e-9,
		"a nearer one that costs more is impossible, and raises nothing");
	beyond(p, &d);
	arena_free(&a);
	results_free(r);
	make_end(m);
}

static struct what_if_effect effect(struct world *w, const char *what_ifs, const char *name)
{
	struct scenario s = scenario_default();
	int count;
	scenario_parse(&s, what_ifs, NULL);
	struct what_if_effect *e =
		analyze_what_ifs(&w->arena, GROUND(w->plan, NULL, w->results, NULL), &s, &count);
	while (strcmp(e->row->name, name) != 0)
		e++;
	return *e;
}

static const struct kind small = { "oneDNN", "small:1", 0, "", CACHE_NET },
	large = { "cuDNN", "large:1", 4096, "", CACHE_NET },
	unknown = { "cuDNN", "unknown:1", NAN, "", CACHE_NET },
	varying = { "cuBLASLt", "varying:1", 0, "winograd nondeterministic", CACHE_NET },
	lookalike = { "plain C", "sure:1", 0, "not_nondeterministic", CACHE_NET };

static void workspace(void)
{
	struct world w;
	world_open(&w);
	put(&w, RELU, small, 10);
	put(&w, TANH, small, 10);
	put(&w, EXP, small, 10);
	ok(!effect(&w, "", "workspace").available, "no algorithm needs a workspace");
	put(&w, RELU, large, 6);
	put(&w, TANH, unknown, 3);
	ok(look(&w, "")->total_ns == 6 + 3 + 6 + 10, "without a limit");
	ok(look(&w, "workspace=4K")->total_ns == 6 + 10 + 6 + 10, "an unknown need does not count");
	ok(look(&w, "workspace=4095")->total_ns == 40, "too much by a byte");
	ok(look(&w, "workspace")->total_ns == 40, "none");
	struct what_if_effect e = effect(&w, "", "workspace");
	ok(e.available && e.total_ns == 40 && e.saves_ns == 25 - 40, "what none costs");
	e = effect(&w, "workspace=4K", "workspace");
	ok(e.on && e.choice == 2 && e.total_ns == 25 && e.saves_ns == 25 - 32, "what a limit costs");
	world_close(&w);

	world_open(&w);
	put(&w, RELU, large, 6);
	put(&w, TANH, small, 10);
	put(&w, EXP, small, 10);
	struct analysis *a = look(&w, "workspace");
	ok(!a->complete && a->total_ns == 20 && a->layers[0].origin == ORIGIN_UNSUPPORTED &&
			isnan(a->layers[0].ns),
		"a layer without another algorithm has no cost, and the total says so");
	ok(a->layers[0].why && strstr(a->layers[0].why, "workspace"), "... and why: %s", a->layers[0].why);
	is_int(a->unmeasured_problems, 0, "... and nothing is to be measured");
	ok(isnan(effect(&w, "", "workspace").saves_ns), "... nor is there a saving");
	world_close(&w);
}

static void others(void)
{
	struct world w;
	world_open(&w);
	for (int i = 0; i < 3; i++)
		put(&w, problems[i], small, 10);
	ok(!effect(&w, "", "deterministic").available && !effect(&w, "", "libraries").available,
		"one library, which is deterministic");
	put(&w, RELU, varying, 4);
	put(&w, TANH, lookalike, 7);
	ok(look(&w, "")->total_ns == 4 + 7 + 4 + 10, "all");
	ok(look(&w, "deterministic")->total_ns == 10 + 7 + 10 + 10, "what is nondeterministic is barred");
	ok(effect(&w, "", "deterministic").saves_ns == -12, "what that costs");
	ok(look(&w, "libraries=plain+ONEDNN")->total_ns == 37, "two libraries, by their first words");
	ok(look(&w, "libraries=onednn")->total_ns == 40, "one");
	struct analysis *a = look(&w, "libraries=cublaslt");
	ok(a->total_ns == 8 && !a->complete && strstr(a->layers[1].why, "libraries"), "one that has gaps: %s",
		a->layers[1].why);
	ok(look(&w, "libraries=cublas")->coverage.unsupported == 4, "no part of a name");
	struct what_if_effect e = effect(&w, "", "libraries");
	ok(e.available && isnan(e.saves_ns) && isnan(e.total_ns) && e.layers == -1, "no names, no effect");
	ok(effect(&w, "libraries=onednn", "libraries").saves_ns == 25 - 40, "names have one");
	is_int(effect(&w, "libraries=onednn", "libraries").layers, 4, "... in all layers");
	is_int(effect(&w, "libraries=cublaslt", "libraries").layers, 2, "... in some");
	is_int(effect(&w, "libraries=onedn", "libraries").layers, 0, "... a misspelt one in none");
	ok(look(&w, "algorithm=small*")->total_ns == 40, "a named algorithm");
	ok(look(&w, "algorithm=sure:1")->total_ns == 25, "... that is the best anyway");
	is_int(effect(&w, "algorithm=varying:?", "algorithm").layers, 2, "... runs in two layers");
	ok(look(&w, "algorithm=varying*,deterministic")->total_ns == 37, "... unless it is barred");
	is_int(effect(&w, "algorithm=nothing:1", "algorithm").layers, 0, "one that no layer has");
	ok(look(&w, "algorithm=nothing:1")->total_ns == 25, "... changes nothing");
	world_close(&w);
}

static void caches(void)
{
	struct world w;
	struct kind k = small;
	world_open(&w);
	for (int i = 0; i < 3; i++)
		put(&w, problems[i], k, 10);
	ok(!effect(&w, "", "cache").available, "one cache state");
	k.cache = CACHE_WARM;
	put(&w, RELU, k, 5);
	ok(look(&w, "")->total_ns == 40 && look(&w, "")->cache == CACHE_NET, "net");
	struct analysis *a = look(&w, "cache=warm");
	ok(a->total_ns == 30 && a->complete && a->cache == CACHE_WARM, "warm, else net without constants");
	ok(effect(&w, "", "cache").saves_ns == 10, "what it saves");
	a = look(&w, "cache=cold");
	ok(!a->complete && isnan(a->total_ns) && a->unmeasured_problems == 3, "nothing was measured cold");
	k.cache = CACHE_COLD;
	for (int i = 0; i < 3; i++)
		put(&w, problems[i], k, 20);
	ok(look(&w, "cache=cold")->total_ns == 80, "cold");
	world_close(&w);
}

#define CONV3 "conv:f16,f16.c,f16/f32:n1c3h56w56k12r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"
#define CONV8 "conv:f16,f16.c,f16/f32:n1c8h56w56k16r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"

static void padded_is(const char *text, const char *want)
{
	struct problem p, padded;
	char is[PROBLEM_TEXT_SIZE] = "none";
	ok(problem_parse(text_of(text), &p, NULL) == 0, "%s", text);
	if (plan_padded(&p, &padded))
		problem_format(&padded, is, NULL);
	is_str(is, want, "... padded");
}

static void pad(void)
{
	padded_is(CONV3, CONV8);
	padded_is(CONV8, "none");
	padded_is("conv:f32,f32.c,f32/f32:n1c12h56w56k12r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g12", "none");
	padded_is("matmul:f16,f16.c,f16/f32:ba1bb1m7n50257k768:ta0tb0",
		"matmul:f16,f16.c,f16/f32:ba1bb1m7n50264k768:ta0tb0");
	padded_is(RELU, "none");

	struct maker *m = make_begin();
	struct world w = { .m = m, .results = results_new() };
	int x = make_layer(m, "Conv", CONV3, IMAGE, make_input(m, IMAGE), make_constant(m, "12x3x3x3"));
	x = make_layer(m, "Relu", RELU, IMAGE, x, -1);
	x = make_layer(m, "Conv", CONV8, IMAGE, x, make_constant(m, "16x8x3x3"));
	m->plan.values[x].is_output = true;
	w.plan = make_finish(m);
	ok(!effect(&w, "", "pad").available, "no padded problem is known");
	plan_pad(w.plan);
	int count;
	analyze_problems_in(&w.arena, w.plan, NULL, false, 0, &count);
	is_int(count, 3, "three problems");
	analyze_problems_in(&w.arena, w.plan, NULL, false, PROBLEMS_PADDED, &count);
	is_int(count, 3, "the padded one is another layer's");
	put(&w, CONV3, small, 30);
	put(&w, RELU, small, 10);
	struct what_if_effect e = effect(&w, "", "pad");
	ok(e.available && e.unmeasured_problems == 2 && isnan(e.saves_ns), "unknown until it is measured");
	put(&w, CONV8, small, 20);
	struct analysis *a = look(&w, "pad");
	ok(a->total_ns == 50 && a->complete && a->layers[0].padded && !a->layers[2].padded, "it is faster");
	ok(a->layers[0].result && strcmp(a->layers[0].result->problem, CONV8) == 0, "... as measured");
	ok(effect(&w, "", "pad").saves_ns == 10 && effect(&w, "pad", "pad").layers == 1, "in one layer");
	results_free(w.results);
	w.results = results_new();
	put(&w, CONV3, small, 15);
	put(&w, RELU, small, 10);
	put(&w, CONV8, small, 20);
	ok(look(&w, "pad")->total_ns == 45 && !look(&w, "pad")->layers[0].padded, "a slower one is not used");
	world_close(&w);
}

static void fill(struct world *w, const struct kind *kinds, const double *ns, const char *const *names,
	int count, int without)
{
	for (int i = 0; i < count; i++) {
		struct kind k = kinds[i];
		k.name = names[i];
		if (i != without)
			put(w, problems[i % 3], k, ns[i]);
	}
}

/* Pairs of which the second allows all that the first allows. */
static const char *const wider[][2] = { { "workspace=0", "workspace=1K" }, { "workspace=1K", "workspace=1M" },
	{ "workspace=1M", "" }, { "deterministic", "" }, { "libraries=onednn", "libraries=onednn+cudnn" },
	{ "libraries=onednn+cudnn", "" }, { "deterministic,workspace=1K", "workspace=1K" },
	{ "algorithm=a*", "algorithm=best" }, { "libraries=cudnn,deterministic", "deterministic" },
	{ "algorithm=preferred", "" } };

/* Counts violations: a wider scenario that has more gaps, or a higher bound where both are complete; and a
 * removed result that lowers a total which does not say that it has gaps. */
static int violations(int *compared, int *lowered)
{
	static const char *const apis[] = { "oneDNN", "cuDNN", "plain C" };
	static const char *const names[] = { "a:1", "a:2", "b:1", "b:2", "c:1", "c:2", "d:1", "d:2" };
	static const double spaces[] = { 0, 0, 512, 4096, NAN };
	struct kind kinds[8];
	double ns[8];
	int wrong = 0, count = 4 + below(5);
	struct world all, less;
	for (int i = 0; i < count; i++) {
		kinds[i] = (struct kind){ apis[below(3)], "", spaces[below(5)],
			below(3) ? "" : "nondeterministic", CACHE_NET };
		ns[i] = 1 + below(30);
	}
	world_open(&all);
	world_open(&less);
	fill(&all, kinds, ns, names, count, -1);
	fill(&less, kinds, ns, names, count, below(count));
	for (size_t i = 0; i < sizeof(wider) / sizeof(*wider); i++) {
		struct analysis *narrow = look(&all, wider[i][0]), *wide = look(&all, wider[i][1]),
				*removed = look(&less, wider[i][0]);
		bool both = narrow->complete && wide->complete;
		*compared += both;
		wrong += narrow->complete && (!wide->complete || wide->total_ns > narrow->total_ns);
		*lowered += removed->total_ns < narrow->total_ns;
		/* without its first choice, or its named one, a layer runs another, which may be faster */
		bool fastest = strncmp(wider[i][0], "algorithm", 9) != 0;
		wrong += fastest && removed->total_ns < narrow->total_ns && removed->complete;
	}
	world_close(&all);
	world_close(&less);
	return wrong;
}

static void properties(void)
{
	int wrong = 0, compared = 0, lowered = 0;
	for (int i = 0; i < 500; i++)
		wrong += violations(&compared, &lowered);
	is_int(wrong, 0, "what allows more never raises a bound; no total gets lower in silence");
	ok(compared > 500 && lowered > 100, "%d pairs compared, %d totals got lower with gaps", compared,
		lowered);
}

/* A result of the algorithm sure:1 of RELU, which the model has twice; the other layers cost 7 and 10. */
static void put_state(struct world *w, enum cache cache, enum launch launch, double ns, int n, enum stop stop)
{
	struct result one = make_result(RELU, ns);
	one.algorithm.name = "sure:1";
	one.cache = cache;
	one.launch = launch;
	one.stats.n = n;
	one.stats.stop = stop;
	results_put(w->results, &one);
}

static void impossible_costs(void)
{
	static const struct kind only = { "oneDNN", "sure:1", 0, "", CACHE_NET };
	struct world w;
	world_open(&w);
	put(&w, TANH, only, 7);
	put(&w, EXP, only, 10);
	put_state(&w, CACHE_NET, LAUNCH_AMORTIZED, 1000, 1, STOP_BUDGET);
	struct analysis *a = look(&w, "");
	ok(a->total_ns == 2017 && !a->layers[0].capped, "without another state it counts");
	put_state(&w, CACHE_NET, LAUNCH_ISOLATED, 20, 30, STOP_DISTURBED);
	ok(look(&w, "")->total_ns == 2017, "a noisy result of another state proves nothing");
	put_state(&w, CACHE_WARM, LAUNCH_ISOLATED, 15, 30, STOP_CONVERGED);
	ok(look(&w, "")->total_ns == 2017, "nor does one of a state that may be faster");
	put_state(&w, CACHE_COLD, LAUNCH_AMORTIZED, 25, 30, STOP_CONVERGED);
	a = look(&w, "");
	ok(a->total_ns == 2 * 25 + 17 && a->layers[0].capped && a->layers[0].noisy,
		"a state that cannot be faster: its cost counts, and is doubted");
	near(a->layers[0].hi, 25 * 1.01, 1e-12, "with its interval");
	put_state(&w, CACHE_NET, LAUNCH_ISOLATED, 22, 30, STOP_CONVERGED);
	ok(look(&w, "")->total_ns == 2 * 22 + 17, "the cheapest of several");
	put_state(&w, CACHE_NET, LAUNCH_AMORTIZED, 23, 30, STOP_CONVERGED);
	a = look(&w, "");
	ok(a->total_ns == 2 * 23 + 17 && !a->layers[0].capped, "a difference of a few percent is possible");
	world_close(&w);
}

/* 100 times too fast: below what the peaks allow. */
static void impossible_cap(void)
{
	static const struct kind only = { "oneDNN", "sure:1", 0, "", CACHE_NET };
	struct peaks k = peaks_unknown();
	struct world w;
	world_open(&w);
	k.bandwidth_bytes_s = 1e9; /* 1.6 MB: 1.6 ms */
	k.level_count = 1;
	k.level[0] = (struct peak_level){ 1, 65536, 1e12, false };
	put(&w, TANH, only, 2e6);
	put(&w, EXP, only, 2e6);
	put_state(&w, CACHE_NET, LAUNCH_AMORTIZED, 2e6, 30, STOP_CONVERGED);
	put_state(&w, CACHE_NET, LAUNCH_ISOLATED, 2e4, 30, STOP_CONVERGED);
	struct ground on = { .plan = w.plan, .results = w.results, .peaks = &k };
	struct scenario s = scenario_default();
	struct analysis *a = analyze(&w.arena, &on, &s);
	near(a->total_ns, 8e6, 1e-12, "a result below its roofline caps nothing");
	k.bandwidth_bytes_s = 1e12;
	a = analyze(&w.arena, &on, &s);
	near(a->total_ns, 4e6 + 4e4, 1e-12, "one that the peaks allow does");
	world_close(&w);
}

int main(void)
{
	random_state = 5;
	workspace();
	others();
	caches();
	distances();
	pad();
	impossible_costs();
	impossible_cap();
	properties();
	return done_testing();
}
