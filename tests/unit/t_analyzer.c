/* An analyzer that is kept answers as a new one: over random switches of what-ifs, results that arrive, and
 * other peaks. */
#include "config.h"

#include "analyze/analyze.h"

#include "make_plan.h"
#include "tap.h"

#include <math.h>

#define IMAGE "1x64x8x8"
#define ROWS "128x64"
#define BLOCKS 6
#define STEPS 300

static uint64_t state = 1;

static int below(int n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (int)((state >> 33) % (unsigned)n);
}

static int conv(struct maker *m, int kind, int x)
{
	char problem[128];
	snprintf(problem, sizeof(problem),
		"conv:f32,f32.c,f32/f32:n1c%dh8w8k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1", 1 + kind);
	return make_layer(m, "Conv", problem, IMAGE, x, make_constant(m, "64x64x3x3"));
}

/* Three matmuls of one value, one of which is read as it is: a join with a copy, pairs of it, and groups. */
static void matmuls(struct maker *m)
{
	int x = make_input(m, ROWS);
	for (int i = 0; i < 3; i++) {
		int y = make_layer(m, "MatMul", "matmul:f32,f32.c,f32/f32:ba1bb1m128n64k64:ta0tb0", ROWS, x,
			make_constant(m, "64x64"));
		y = make_layer(m, "Add", "binary:f32,f32.c,f32:add:" ROWS ":64", ROWS, y,
			make_constant(m, "64"));
		m->plan.values[y].is_output = i == 0;
		if (i)
			make_layer(m, "Transpose", "transpose:f32,f32:" ROWS ":perm1x0", "64x128", y, -1);
	}
}

static struct plan *network(struct maker *m)
{
	int x = make_input(m, IMAGE);
	matmuls(m);
	for (int i = 0; i < BLOCKS; i++) {
		int y = make_batchnorm(m, IMAGE, 64, conv(m, i % 4, x));
		y = make_layer(m, "Relu", "eltwise:f32,f32:relu:" IMAGE, IMAGE, y, -1);
		y = make_layer(m, "Sigmoid", "eltwise:f32,f32:sigmoid:" IMAGE, IMAGE, conv(m, i % 3, y), -1);
		x = make_layer(m, "Add", "binary:f32,f32,f32:add:" IMAGE ":" IMAGE, IMAGE, y, x);
	}
	m->plan.values[x].is_output = true;
	return make_finish(m);
}

/* One more result, of a random problem, algorithm, state and outcome. */
static void arrive(struct results *r, const char *const *texts, int count)
{
	static const char *const layouts[] = { "", "nhwc:any:nhwc", "nchw:any:nchw" };
	static int64_t date;
	char name[16];
	const char *text = texts[below(count)];
	struct result one = make_result(text, 100 + below(900));
	int algorithm = below(4);
	snprintf(name, sizeof(name), "algorithm %d", algorithm);
	one.algorithm.name = name;
	one.algorithm.rank = algorithm;
	one.algorithm.matrix = (enum matrix)below(3);
	one.algorithm.math = below(3) ? "strict" : "tf32";
	one.algorithm.layouts = layouts[below(3) ? 0 : below(3)];
	one.algorithm.notes = below(4) ? "" : "nondeterministic";
	one.algorithm.workspace_bytes = below(3) ? 0 : 1000000.0 * below(3);
	one.cache = (enum cache)below(2);
	one.launch = below(4) ? LAUNCH_AMORTIZED : LAUNCH_ISOLATED;
	one.enqueue_ns = below(2) ? 40 : NAN;
	one.status = below(8) ? STATUS_OK : STATUS_UNSUPPORTED;
	one.stats.stop = below(5) ? one.stats.stop : STOP_DISTURBED;
	one.measured_at = ++date;
	results_add(r, &one);
	if (below(4))
		results_finish(r, text);
}

static bool same(double x, double y)
{
	return x == y || (isnan(x) && isnan(y));
}

static bool same_analysis(const struct analysis *x, const struct analysis *y)
{
	bool equal = same(x->total_ns, y->total_ns) && same(x->parallel_ns, y->parallel_ns) &&
		same(x->sequential_ns, y->sequential_ns) && same(x->lo_ns, y->lo_ns) &&
		same(x->hi_ns, y->hi_ns) && same(x->resource_ns, y->resource_ns) &&
		same(x->roofline_ns, y->roofline_ns) && same(x->enqueue_ns, y->enqueue_ns) &&
		x->complete == y->complete && x->estimated == y->estimated &&
		x->unmeasured_problems == y->unmeasured_problems && x->conversions == y->conversions &&
		x->coverage.mistrusted == y->coverage.mistrusted && x->apart_count == y->apart_count;
	for (int i = 0; i < x->layer_count; i++) {
		const struct layer_cost *a = &x->layers[i], *b = &y->layers[i];
		equal = equal && same(a->ns, b->ns) && a->origin == b->origin && a->result == b->result &&
			same(a->preferred_ns, b->preferred_ns) && same(a->roofline_ns, b->roofline_ns) &&
			same(a->overhead_ns, b->overhead_ns) && same(a->start_ns, b->start_ns) &&
			same(a->slack_ns, b->slack_ns) && a->group == b->group && a->row == b->row &&
			a->matrix == b->matrix && a->relaxed == b->relaxed && a->padded == b->padded;
	}
	return equal;
}

static bool same_effect(const struct what_if_effect *x, const struct what_if_effect *y)
{
	return x->row == y->row && x->choice == y->choice && x->on == y->on && x->pending == y->pending &&
		same(x->total_ns, y->total_ns) && x->bound_complete == y->bound_complete &&
		same(x->saves_ns, y->saves_ns) && x->complete == y->complete &&
		x->estimated == y->estimated && x->available == y->available && x->layers == y->layers &&
		x->unmeasured_problems == y->unmeasured_problems &&
		x->noisy_problems == y->noisy_problems && x->unavailable_problems == y->unavailable_problems;
}

/* Without fusion no problem is needed that fusion of all groups does not need: the effect, which is of both,
 * lacks the same problems. */
static bool counts_once(const struct what_if_effect *e, const struct analysis *x)
{
	bool all = x->scenario.fusion == FUSION_ALL && strcmp(e->row->name, "fusion") == 0 &&
		x->scenario.parallel != PARALLEL_MEASURED; /* other branches run side by side */
	return !all || !e->available || e->unmeasured_problems == x->unmeasured_problems;
}

static void switch_one(struct scenario *s)
{
	int count;
	const struct what_if *table = what_if_table(&count), *row = &table[below(count)];
	row->set(s, below(what_if_choices(row)));
}

/* Assumes a cost for one more layer, or for one less, in place. */
static void assume_one(struct assumption *assumed, int layers)
{
	struct assumption *one = &assumed[below(layers)];
	one->kind = below(3);
	one->value = one->kind ? 1 + below(200) : 0;
}

/* Compares the kept analyzer with new ones after each step. Returns the number of equal answers. */
static int compare(const struct ground *g, struct peaks *peaks, struct assumption *assumed,
	struct results *r, const char *const *texts, int text_count, int *known)
{
	struct analyzer *kept = analyzer_new();
	struct scenario s = scenario_default();
	int equal = 0, rows;
	for (int i = 0; i < STEPS; i++) {
		struct arena a = { 0 };
		for (int k = below(3) ? 0 : below(4); k > 0; k--)
			arrive(r, texts, text_count);
		if (below(20) == 0)
			peaks->flops[DTYPE_F32] *= 1.5;
		if (below(3) == 0)
			assume_one(assumed, g->plan->layer_count);
		switch_one(&s);
		if (below(8) == 0)
			scenario_parse(&s, below(2) ? "algorithm=*2" : "workspace=1M", NULL);
		const struct analysis *x = analyzer_run(kept, &a, g, &s), *y = analyze(&a, g, &s);
		const struct what_if_effect *all = analyze_what_ifs(&a, g, &s, &rows);
		bool good = same_analysis(x, y);
		for (int k = 0; k < rows; k++) {
			struct what_if_effect one;
			analyzer_effect(kept, g, &s, (i + k) % rows, &one);
			good = good && same_effect(&one, &all[(i + k) % rows]) && counts_once(&one, x);
			*known += !isnan(one.saves_ns);
		}
		equal += good;
		if (!good)
			printf("# step %d differs\n", i);
		arena_free(&a);
	}
	analyzer_free(kept);
	return equal;
}

static const struct {
	const char *name;
	bool estimate;
	int sm;
} cases[] = { { "measured", false, 0 }, { "estimates by peaks", true, 0 }, { "of a GPU", true, 80 } };

static bool has_join(const struct fusion *f)
{
	for (int i = 0; i < f->group_count; i++)
		if (fusion_copy(&f->groups[i]) >= 0)
			return true;
	return false;
}

static void kept_as_new(int number)
{
	bool estimate = cases[number].estimate;
	struct maker *m = make_begin();
	struct plan *p = network(m);
	plan_pad(p);
	struct fusion *f = fusion_find(p);
	struct results *r = results_new();
	struct device d = { .llc_bytes = 1e9, .has_matrix = true };
	struct peaks peaks = peaks_unknown();
	struct arena a = { 0 };
	struct assumption *assumed = ARENA_ARRAY(&a, struct assumption, p->layer_count);
	int count, known = 0;
	peaks.bandwidth_bytes_s = 1e11;
	peaks.flops[DTYPE_F32] = 1e12;
	peaks.matrix_flops[DTYPE_TF32] = 4e12;
	peaks.sm = cases[number].sm;
	peaks.clock_share = peaks.bandwidth_share = 1;
	ok(p->padded != NULL, "problems have padded ones");
	ok(has_join(f), "a join with a copy is among the groups");
	const struct ground g = { .plan = p, .fusion = f, .results = r, .device = &d, .peaks = &peaks,
		.estimate = estimate, .assumed = assumed };
	const char **texts = analyze_problems_in(&a, p, f, true, PROBLEMS_PADDED, &count);
	for (int i = 0; i < (estimate ? 0 : 60 * count); i++)
		arrive(r, texts, count);
	is_int(compare(&g, &peaks, assumed, r, texts, count, &known), STEPS,
		"%s: as a new analyzer at each step", cases[number].name);
	ok(known > STEPS / 4, "%d effects were known", known);
	arena_free(&a);
	results_free(r);
	fusion_free(f);
	make_end(m);
}

/* Another plan at the same time, and back: nothing of the other one is left. */
static void other_plan(void)
{
	struct maker *m[2] = { make_begin(), make_begin() };
	struct results *r = results_new();
	struct analyzer *z = analyzer_new();
	struct arena a = { 0 };
	struct scenario s = scenario_default();
	for (int i = 0; i < 2; i++) {
		int x = make_input(m[i], IMAGE);
		x = conv(m[i], i, x);
		m[i]->plan.values[x].is_output = true;
		struct plan *p = make_finish(m[i]);
		struct result one = make_result(p->problems[0].text, 100 * (i + 1));
		results_put(r, &one);
	}
	for (int i = 0; i < 4; i++) {
		const struct ground *g = GROUND(&m[i % 2]->plan, NULL, r, NULL);
		near(analyzer_run(z, &a, g, &s)->total_ns, 100 * (i % 2 + 1), 1e-12, "plan %d", i % 2);
	}
	analyzer_free(z);
	arena_free(&a);
	results_free(r);
	make_end(m[0]);
	make_end(m[1]);
}

/* The first result in cache state net, of any problem, changes the state of the bound. */
static void other_state(void)
{
	struct maker *m = make_begin();
	struct results *r = results_new();
	struct analyzer *z = analyzer_new();
	struct arena a = { 0 };
	struct scenario s = scenario_default();
	struct device d = { .llc_bytes = 1 };
	int y = conv(m, 0, make_input(m, IMAGE));
	m->plan.values[y].is_output = true;
	struct plan *p = make_finish(m);
	struct result one = make_result(p->problems[0].text, 100);
	one.cache = CACHE_WARM;
	results_put(r, &one);
	const struct ground *g = GROUND(p, NULL, r, &d);
	const struct analysis *x = analyzer_run(z, &a, g, &s);
	is_int(x->cache, CACHE_WARM, "results in one state only");
	near(x->total_ns, 100, 1e-12, "... count");
	one.problem = "copy:u8,u8:b32768";
	one.cache = CACHE_NET;
	results_put(r, &one);
	x = analyzer_run(z, &a, g, &s);
	is_int(x->cache, CACHE_NET, "the state is net as soon as any result is");
	ok(isnan(x->total_ns), "... in which the problem is not measured");
	analyzer_free(z);
	arena_free(&a);
	results_free(r);
	make_end(m);
}

/* What an analysis points to stays while results come, until the next analysis. */
static void held_results(void)
{
	struct maker *m = make_begin();
	struct results *r = results_new();
	struct analyzer *z = analyzer_new();
	struct arena a = { 0 };
	struct scenario s = scenario_default();
	int y = conv(m, 0, make_input(m, IMAGE));
	m->plan.values[y].is_output = true;
	struct plan *p = make_finish(m);
	const struct ground *g = GROUND(p, NULL, r, NULL);
	struct result one = make_result(p->problems[0].text, 100);
	results_put(r, &one);
	const struct layer_cost *c = &analyzer_run(z, &a, g, &s)->layers[0];
	for (int i = 1; i < 50; i++) {
		one = make_result(p->problems[0].text, 100 - i);
		one.measured_at = i;
		results_put(r, &one);
	}
	near(c->result->stats.median, 100, 1e-12, "an older result is as it was");
	near(analyzer_run(z, &a, g, &s)->total_ns, 51, 1e-12, "the next analysis has the newest");
	analyzer_free(z);
	arena_free(&a);
	results_free(r);
	make_end(m);
}

int main(void)
{
	for (int i = 0; i < 3; i++)
		kept_as_new(i);
	other_state();
	other_plan();
	held_results();
	return done_testing();
}
