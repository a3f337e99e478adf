/* The memory of a model with very many layers: bytes a layer (docs/architecture.md, Large models), counted by
 * malloc, so that they are the same on every machine. */
#include "config.h"

#include "large_model.h"

#define measure make_measure /* frame.h has another one */
#include "make_plan.h"
#undef measure

#include "session/scenarios.h"
#include "session/session_private.h"
#include "session/session_reality.h"
#include "tap.h"
#include "ui/frame/frame.h"

#include <malloc.h>

#define LAYERS 110000 /* more than SESSION_PLANS_LAYERS: no other plan is kept */
#define SMALL 2000
#define MODEL_MOST 280
#define PLAN_MOST 800
#define FUSION_MOST 220
#define ANALYSIS_MOST 550
#define VIEWS_MOST 700

static double in_use(void)
{
	struct mallinfo2 m = mallinfo2();
	return (double)(m.uordblks + m.hblkhd);
}

static void at_most(double before, double now, int layers, double most, const char *what)
{
	double bytes = (now - before) / layers;
	ok(bytes <= most, "%s: %.0f bytes a layer, at most %.0f", what, bytes, most);
}

/* Totals of all the usual batches and two types, as the view sweep asks for them. */
static void walk_batches(struct session *s)
{
	static const int64_t batches[] = { 1, 2, 4, 8, 16, 32 };
	for (int i = 0; i < 12; i++) {
		struct arena a = { 0 };
		struct config_scenario one = { .batch = batches[i % 6], .has_dtype = true,
			.dtype = i < 6 ? DTYPE_F32 : DTYPE_BF16 };
		scenarios_total(s, &one, &a);
		arena_free(&a);
	}
}

static struct session *open_large(struct config *config, int layers)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", large_file(layers));
	return large_open(config, path);
}

static void test_plans(void)
{
	struct config config;
	struct session *s = open_large(&config, SMALL);
	walk_batches(s);
	is_int(s->subject->plan_count, 12, "of a small model all plans are kept");
	const struct session_plan *first = s->subject->plans[1];
	session_plans_trim(s);
	ok(s->subject->plan_count == 12 && s->subject->plans[1] == first, "trimming leaves them");
	int count;
	struct arena a = { 0 };
	session_peak_problems(s, &a, &count);
	int of_small = count;
	session_close(s);
	config_free(&config);
	s = open_large(&config, SESSION_PLANS_LAYERS / 2 + 10);
	walk_batches(s);
	is_int(s->subject->plan_count, 2, "of a larger one those that fit");
	ok(s->current == s->subject->plans[0] || s->current == s->subject->plans[1],
		"the current one among them");
	ok(s->current->dtype == DTYPE_F32, "which stays");
	session_peak_problems(s, &a, &count);
	is_int(count, of_small, "the peaks of a type are wanted also when its plans are gone");
	arena_free(&a);
	session_close(s);
	config_free(&config);
}

static void test_bytes(void)
{
	struct config config;
	struct app app;
	double empty = in_use();
	struct session *s = open_large(&config, LAYERS);
	double bytes = (double)s->current->plan->arena.total;
	at_most(0, bytes, LAYERS, PLAN_MOST, "the plan");
	at_most(empty + bytes, in_use(), LAYERS, MODEL_MOST, "the model");
	double planned = in_use();
	session_fusion(s);
	at_most(planned, in_use(), LAYERS, FUSION_MOST, "groups");
	double fused = in_use();
	session_effects_within(s, 4);
	session_refresh(s);
	while (session_effects_step(s, 1000))
		;
	at_most(fused, in_use(), LAYERS, ANALYSIS_MOST, "the analysis with all effects");
	double analyzed = in_use();
	app_init(&app, s, 120, 40, false);
	for (int v = 0; v < views_count(); v++) {
		app_show(&app, views_at(v), -1);
		app_draw(&app);
	}
	at_most(analyzed, in_use(), LAYERS, VIEWS_MOST, "all views, each shown once");
	double shown = in_use();
	walk_batches(s);
	at_most(shown, in_use(), LAYERS, 1, "twelve other batches and types");
	is_int(s->subject->plan_count, 1, "whose plans are gone");
	app_free(&app);
	session_close(s);
	config_free(&config);
	ok(in_use() - empty < 1e6, "all is given back");
}

/* The comparison with a real run is behind the keys: first what was measured, then the rest, the same as at
 * once. */
static void test_later(void)
{
	struct config config;
	int count;
	struct arena a = { 0 };
	struct session *s = open_large(&config, SESSION_LATER_LAYERS + CHAIN);
	const char **texts = analyze_problems_in(&a, s->current->plan, session_fusion(s), true, 0, &count);
	s->seat->device.model = "test";
	s->seat->device.threads = 2;
	for (int i = 0; i < count; i++) {
		struct result one = make_result(texts[i], 750);
		results_put(s->seat->results, &one);
	}
	large_run(s, 15000); /* twenty times what each problem was measured to take */
	session_refresh(s);
	const struct reality *y = session_reality(s);
	ok(y && !y->pending && !session_reality_pending(s), "without a limit of time all is there");
	double unexplained = y->gaps[GAP_UNEXPLAINED].ns, algorithm = y->gaps[GAP_ALGORITHM].ns;
	double cost = y->groups[7].cost_ns;
	session_effects_within(s, 4);
	session_use(s, &s->scenario);
	session_refresh(s);
	y = session_reality(s);
	ok(y && y->pending && session_reality_pending(s), "with one it is pending");
	ok(y->measured_ns > 0 && y->group_count > 0 && y->ratio > 0 && !session_contradicted(s).known,
		"it has what was measured");
	while (session_effects_step(s, 1000))
		;
	ok(session_reality(s) == y && !y->pending && session_contradicted(s).known, "then it has the rest");
	ok(y->gaps[GAP_UNEXPLAINED].ns == unexplained && y->gaps[GAP_ALGORITHM].ns == algorithm &&
			algorithm > 0 && y->groups[7].cost_ns == cost,
		"which is the same: %g ns by algorithms, %g unexplained", algorithm, unexplained);
	session_use(s, &s->scenario);
	session_refresh(s);
	session_reality(s);
	session_reality_go_on(s);
	session_use(s, &s->scenario);
	session_refresh(s);
	ok(session_reality(s)->pending, "another analysis begins again");
	arena_free(&a);
	session_close(s);
	config_free(&config);
}

/* What `b` would measure is counted behind the keys. */
static void test_counted(void)
{
	struct config config;
	struct app app;
	struct session *s = open_large(&config, SESSION_LATER_LAYERS + CHAIN);
	s->seat->queue = queue_new(&config, NULL, s->seat->results);
	session_effects_within(s, 4);
	app_init(&app, s, 120, 24, false);
	app_refresh(&app);
	app_draw(&app);
	ok(app_missing_waits(&app), "a frame does not count what is missing");
	while (app_go_on(&app, 1000))
		;
	ok(!app_missing_waits(&app) && app_missing_count(&app) > 0, "then it is known: %d problems",
		app_missing_count(&app));
	session_use(s, &s->scenario);
	app_refresh(&app);
	ok(app_missing_waits(&app), "until the next what-if");
	app_free(&app);
	session_close(s);
	config_free(&config);
}

int main(void)
{
	test_plans();
	test_bytes();
	test_later();
	test_counted();
	return done_testing();
}
