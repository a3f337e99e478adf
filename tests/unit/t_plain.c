/* Choices that study_plain leaves out change no price: over random results and scenarios, each problem has
 * the same price with them and without them. */
#include "config.h"

#include "analyze/bound/bound_private.h"

#include "make_plan.h"
#include "tap.h"

#include <math.h>
#include <string.h>

#define IMAGE "1x64x8x8"
#define BLOCKS 3
#define TRIALS 400
#define STEPS 20

static uint64_t state = 7;

static int below(int n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (int)((state >> 33) % (unsigned)n);
}

static struct plan *network(struct maker *m)
{
	int x = make_input(m, IMAGE);
	for (int i = 0; i < BLOCKS; i++) {
		char problem[128];
		snprintf(problem, sizeof(problem),
			"conv:%s:n1c%dh8w8k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1",
			i ? "f32,f32.c,f32/f32" : "bf16,bf16.c,bf16/f32", 1 + i);
		int y = make_layer(m, "Conv", problem, IMAGE, x, make_constant(m, "64x64x3x3"));
		x = make_layer(m, "Relu", "eltwise:f32,f32:relu:" IMAGE, IMAGE, y, -1);
	}
	m->plan.values[x].is_output = true;
	return make_finish(m);
}

/* What results of one trial can have: each trait is there or not in the whole trial. */
struct traits {
	bool matrix, relaxed, random, workspace, cold, isolated;
};

static void arrive(struct results *r, const struct traits *t, const char *text)
{
	static int64_t date;
	char name[16];
	struct result one = make_result(text, 100 + below(900));
	int algorithm = below(4);
	snprintf(name, sizeof(name), "algorithm %d", algorithm);
	one.algorithm.name = name;
	one.algorithm.rank = algorithm;
	one.algorithm.matrix = t->matrix ? (enum matrix)below(3) : MATRIX_NO;
	one.algorithm.math = t->relaxed && below(2) ? "tf32" : "strict";
	one.algorithm.notes = t->random && below(2) ? "engine nondeterministic" : "";
	one.algorithm.workspace_bytes = !t->workspace || below(2) ? 0 : below(3) ? 1e5 * below(30) : NAN;
	one.cache = t->cold ? (enum cache)below(3) : CACHE_NET;
	one.launch = t->isolated && below(2) ? LAUNCH_ISOLATED : LAUNCH_AMORTIZED;
	one.status = below(8) ? STATUS_OK : STATUS_UNSUPPORTED;
	one.measured_at = ++date;
	results_add(r, &one);
	results_finish(r, text);
}

static bool same_price(const struct price *x, const struct price *y)
{
	return x->result == y->result && x->answered == y->answered && x->unsupported == y->unsupported &&
		x->padded == y->padded && x->estimated == y->estimated && x->rough == y->rough &&
		(x->ns == y->ns || (isnan(x->ns) && isnan(y->ns)));
}

static bool same_prices(const struct study *st, const struct scenario *s, const struct scenario *plain)
{
	struct study view = *st, plainly = *st;
	bool same = true;
	view.cache = study_cache(st, s);
	plainly.cache = study_cache(st, plain);
	for (int i = 0; i < 2 * st->distinct_count; i++) {
		struct price x = study_price_in(&view, s, i / 2, i % 2, LAYOUT_PAIRS_ALL),
			     y = study_price_in(&plainly, plain, i / 2, i % 2, LAYOUT_PAIRS_ALL);
		same = same && (!st->wanted[i / 2] || same_price(&x, &y));
	}
	return same;
}

static bool same_groups(const struct study *st, const struct scenario *s, const struct scenario *plain)
{
	for (int i = 0; i < st->groups; i++)
		if (fusion_allows(s->fusion, st->fusion->groups[i].level) !=
			fusion_allows(plain->fusion, st->fusion->groups[i].level))
			return false;
	return true;
}

static void switch_one(struct scenario *s)
{
	int count;
	const struct what_if *table = what_if_table(&count), *row = &table[below(count)];
	if (row->stage != STAGE_PLAN)
		row->set(s, below(what_if_choices(row)));
	if (below(6) == 0)
		scenario_parse(s, "workspace=1M", NULL);
}

struct tally {
	int same, left_out, kept; /* steps; with a choice left out; with one beside the default kept */
};

static void trial(struct tally *tally, bool estimate)
{
	struct maker *m = make_begin();
	struct plan *p = network(m);
	struct fusion *f = fusion_find(p);
	struct results *r = results_new();
	struct arena a = { 0 };
	struct device d = { .llc_bytes = 1, .has_matrix = below(2) };
	struct peaks peaks = peaks_unknown();
	const struct traits t = { below(2), below(2), below(2), below(2), below(2), below(2) };
	struct scenario s = scenario_default(), first = s;
	struct study st;
	int count;
	peaks.bandwidth_bytes_s = 1e11;
	peaks.flops[DTYPE_F32] = peaks.flops[DTYPE_BF16] = 1e12;
	peaks.matrix_flops[DTYPE_TF32] = peaks.matrix_flops[DTYPE_BF16] = 4e12;
	plan_pad(p);
	const char **texts = analyze_problems_in(&a, p, f, true, PROBLEMS_PADDED, &count);
	for (int i = 0; i < below(12) * count; i++)
		arrive(r, &t, texts[below(count)]);
	const struct ground g = { .plan = p, .fusion = f, .results = r, .device = &d, .peaks = &peaks,
		.estimate = estimate };
	study_open(&st, &g, LAYOUTS_FREE, true);
	for (int i = 0; i < STEPS; i++) {
		switch_one(&s);
		struct scenario plain = study_plain(&st, &s), twice = study_plain(&st, &plain);
		bool same = same_prices(&st, &s, &plain) && same_groups(&st, &s, &plain);
		tally->same += same && scenario_equal(&plain, &twice);
		tally->left_out += !scenario_equal(&plain, &s);
		first.parallel = plain.parallel;
		tally->kept += !scenario_equal(&plain, &first);
	}
	study_close(&st);
	arena_free(&a);
	results_free(r);
	fusion_free(f);
	make_end(m);
}

int main(void)
{
	for (int estimate = 0; estimate < 2; estimate++) {
		struct tally tally = { 0 };
		for (int i = 0; i < TRIALS; i++)
			trial(&tally, estimate);
		is_int(tally.same, TRIALS * STEPS, "%s: the same prices and groups", estimate ? "estimates" :
			"results");
		ok(tally.left_out > TRIALS * STEPS / 2, "... where %d scenarios had a choice left out",
			tally.left_out);
		ok(tally.kept > TRIALS * STEPS / 2, "... and %d kept one", tally.kept);
	}
	return done_testing();
}
