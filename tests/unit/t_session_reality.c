/* The newest comparable execution of a session's model, which executions are comparable, and what is kept. */
#include "config.h"

#include "session/session_private.h"
#include "session/session_reality.h"
#include "session/session_try.h"
#include "store/executions.h"

#include "store_help.h"
#include "ui_fixture.h"

#include <math.h>

static struct session *opened(void)
{
	struct session *s = fixture_open(&(struct fixture_options){ .measured = true, .real = true });
	session_refresh(s);
	return s;
}

/* An execution like that of the fixture, of 1 ms. */
static struct execution like(const struct session *s)
{
	struct execution e = execution_new();
	e.source = "agent";
	e.framework = "other";
	e.device = s->seat->device.model;
	e.threads = s->seat->device.threads;
	e.dtype = "f32";
	e.model_hash = session_model_hash(s);
	e.inputs = "image:f32:1x3x224x224";
	e.stats = (struct sample_stats){ .n = 9, .executions = 1, .min = 1e6, .q1 = 1e6, .median = 1e6,
		.q3 = 1e6, .mean = 1e6, .lo = 1e6, .hi = 1e6, .stop = STOP_CONVERGED };
	e.measured_at = 1800000000;
	return e;
}

static void test_stacks(void)
{
	const char *two = "oneDNN 2.6 (OpenMP), 2 threads bound, strict";
	ok(session_stack_is_like(two, two), "equal stacks");
	ok(session_stack_is_like(two, "oneDNN 2.6 (OpenMP), 16 threads bound, strict"), "16 threads");
	ok(session_stack_is_like("oneDNN 2.6 (OpenMP), 1 thread bound, strict", two), "one thread");
	ok(!session_stack_is_like(two, "oneDNN 2.7 (OpenMP), 2 threads bound, strict"), "another version");
	ok(!session_stack_is_like(two, "oneDNN 2.6 (OpenMP), 2 threads bound, relaxed"), "another math");
	ok(!session_stack_is_like(two, "oneDNN 2.6 (OpenMP), 2 threads bound"), "a shorter one");
	ok(!session_stack_is_like("x2 threads", "x3 threads"), "a number at the end of a word is a name");
}

/* The bound of a batch and type is that which the session has after it selected them. */
static void test_bounds(void)
{
	struct session *s = fixture_open(&(struct fixture_options){ .measured = true, .chain = 7 });
	struct error err = ERROR_NONE;
	session_refresh(s);
	const struct session_plan *base = s->current;
	double own = s->analysis->total_ns;
	struct session_bound b = session_bound_at(s, base->batch, base->dtype);
	ok(own > 0 && b.ns == own && !b.estimated, "the bound of the current plan");
	ok(s->current == base && s->analysis && s->analysis->total_ns == own, "which stays");
	b = session_bound_at(s, 64, DTYPE_BF16);
	ok(isnan(b.ns) && s->current == base && s->analysis->total_ns == own, "nothing is measured: unknown");
	ok(isnan(session_bound_threads(s, 77).ns), "no records of 77 threads");
	ok(session_select(s, base->batch, base->dtype, &err) == 0, "the plan is still there");
	fixture_close(s);
}

static void test_comparable(void)
{
	struct session *s = opened();
	struct execution e = like(s);
	ok(session_is_comparable(s, &e), "the same device, threads, type and inputs");
	e.threads = 0;
	ok(session_is_comparable(s, &e), "an unknown number of threads is accepted");
	e.threads = 4;
	ok(!session_is_comparable(s, &e), "another one is not");
	e = like(s);
	e.dtype = "bf16";
	ok(!session_is_comparable(s, &e), "another type");
	e.dtype = "";
	ok(!session_is_comparable(s, &e), "an unknown type");
	e = like(s);
	e.device = "Intel Xeon 8481C";
	ok(!session_is_comparable(s, &e), "another device");
	e.device = "";
	ok(!session_is_comparable(s, &e), "an unknown device");
	e = like(s);
	e.requests = 4;
	ok(!session_is_comparable(s, &e), "several requests at a time");
	e = like(s);
	e.status = STATUS_FAILED;
	ok(!session_is_comparable(s, &e), "a failed one");
	e = like(s);
	static const char *const others[] = { "image:f32:2x3x224x224", "image:f32:1x3x224",
		"image:f32:1x3x224x", "image:f32:1x3x224x224x1", "image:f32:", "image",
		"picture:f32:1x3x224x224", "image:f32:1x3x224x224\nmask:f32:1" };
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		e.inputs = others[i];
		ok(!session_is_comparable(s, &e), "inputs that are not the plan's, %zu", i);
	}
	e.inputs = "";
	e.batch = 1;
	ok(session_is_comparable(s, &e), "without inputs the batch is compared");
	e.batch = 2;
	ok(!session_is_comparable(s, &e), "another batch");
	fixture_close(s);
}

static void test_newest(void)
{
	struct session *s = opened();
	struct error err = ERROR_NONE;
	const struct reality *y = session_reality(s);
	ok(y && strcmp(y->execution->framework, "onnxruntime") == 0, "the execution of the database");
	if (!y)
		return;
	const struct match *match = y->match;
	const struct execution *execution = y->execution;
	ok(session_reality(s) == y, "is computed once for an analysis");
	double before = y->bound_ns;
	s->scenario.fusion = s->stale = true;
	session_refresh(s);
	y = session_reality(s);
	ok(y && y->bound_ns < before, "another scenario: compared with its bound");
	ok(y && y->match == match && y->execution == execution, "the match is kept");
	struct execution e = like(s);
	ok(store_execution_add(s->store, &e, &err) == 0, "a newer one is stored%s", err.text);
	y = session_reality(s);
	ok(y && y->execution == execution, "the old one is shown until the session looks again");
	session_reality_renew(s);
	y = session_reality(s);
	ok(y && strcmp(y->execution->framework, "other") == 0, "the newest");
	ok(y && y->ratio > 1 && y->group_count == 0, "a latency without rows has a ratio");
	e.threads = 4;
	e.measured_at++;
	ok(store_execution_add(s->store, &e, &err) == 0, "one with other threads is stored%s", err.text);
	session_reality_renew(s);
	y = session_reality(s);
	ok(y && y->execution->threads == 2, "and not taken");
	e = like(s);
	e.measured_at += 2;
	e.framework = "taken";
	session_reality_take(s, &e);
	y = session_reality(s);
	ok(y && strcmp(y->execution->framework, "taken") == 0, "one that is not in the database yet");
	s->seat->device.model = "Intel Xeon 8481C";
	s->device_changes++;
	s->stale = true;
	session_refresh(s);
	ok(!session_reality(s), "none ran on another device");
	fixture_close(s);
}

/* The model's file is read in steps, and only if an execution may be its own. */
static void test_hash(void)
{
	static char model[5 << 20];
	scratch_make();
	file_write(scratch_path("model.onnx"), model, sizeof(model));
	struct session *s = opened();
	struct error err = ERROR_NONE;
	s->subject->hash = (struct session_hash){ 0 };
	s->subject->model->path = scratch_path("model.onnx");
	session_reality_renew(s);
	ok(!session_reality(s), "no hash yet: nothing is shown");
	int steps = 0;
	while (session_reality_step(s))
		steps++;
	ok(steps > 1, "a large file is read in steps: %d", steps);
	is_str(session_model_hash(s), "c036cbb7553a909f8b8877d4461924307f27ecb66cff928eeeafd569c3887e29",
		"its hash");
	ok(!session_reality(s), "an execution of another model is not shown");
	struct execution e = like(s);
	ok(store_execution_add(s->store, &e, &err) == 0, "one of this model%s", err.text);
	session_reality_renew(s);
	ok(session_reality(s), "is");
	s->subject->hash = (struct session_hash){ 0 };
	s->seat->device.model = "Intel Xeon 8481C";
	s->device_changes++;
	ok(!session_reality_step(s) && !session_model_hash(s), "nothing comparable: the file is not read");
	s->seat->device.model = "AMD EPYC 7B13 64-Core Processor";
	s->device_changes++;
	s->subject->model->path = scratch_path("missing.onnx");
	ok(!session_reality_step(s) && !session_reality(s), "a file that cannot be read has no executions");
	fixture_close(s);
	scratch_remove();
}

static void test_layers(void)
{
	struct session *s = opened();
	const struct reality *y = session_reality(s);
	int contradicted = 0;
	for (int i = 0; y && i < s->current->plan->layer_count; i++) {
		const struct reality_group *g = session_reality_group(y, i);
		contradicted += g && reality_contradicts(y, g);
	}
	ok(contradicted > 0, "layers are faster than in the bound");
	is_int(session_contradicted(s).layers, contradicted, "and counted");
	struct error err = ERROR_NONE;
	struct execution e = like(s);
	e.settings = "{\"import_ns\":1}";
	ok(store_execution_add(s->store, &e, &err) == 0, "a newer one without rows%s", err.text);
	e.settings = "{\"import_ns\":2}";
	e.measured_at++;
	ok(store_execution_add(s->store, &e, &err) == 0, "and once more%s", err.text);
	session_reality_renew(s);
	ok(session_reality(s) && strcmp(session_reality(s)->execution->framework, "other") == 0,
		"is the newest");
	is_int(session_contradicted(s).executions, 2, "one of each setup counts");
	is_int(session_contradicted(s).layers, contradicted, "layers that an older one contradicts count");
	int layer = 0;
	while (layer < s->current->plan->layer_count && !session_contradicting(s, layer))
		layer++;
	const struct reality *older = session_contradicting(s, layer);
	ok(older && strcmp(older->execution->framework, "onnxruntime") == 0, "with the one that does");
	ok(!session_contradicting(s, -1) && !session_contradicting(s, 10000), "none outside the plan");
	const struct reality *newest = session_reality(s);
	size_t bytes = s->analysis_arena.total;
	session_contradicted(s);
	ok(session_reality(s) == newest && s->analysis_arena.total == bytes, "computed once");
	char hash[DIGEST_SIZE];
	snprintf(hash, sizeof(hash), "%s", e.model_hash);
	e.model_hash = hash;
	session_reality_take(s, &e);
	is_int(session_contradicted(s).executions, 2, "a taken execution replaces that of its setup");
	y = session_reality(s);
	ok(!session_reality_group(y, -1) && !session_reality_group(y, 10000) &&
			!session_reality_group(NULL, 0),
		"no group outside the plan");
	fixture_close(s);
}

/* The execution before the newest: with it the measurements between both are in turn. Results of the fixture
 * have no date, which is before all others. */
static void test_in_turn(void)
{
	struct session *s = opened();
	struct error err = ERROR_NONE;
	struct arena a = { 0 };
	const struct reality *y = session_reality(s);
	int layers = session_reality_contradicted(y), groups = y->contradicted_count;
	ok(layers > 0 && reality_not_again(y) == groups && session_turn_open(y), "not measured again yet");
	is_int(session_turn_measure(s, y), layers, "the layers to be measured again");
	ok(!session_execution_before(s, &a, y->execution), "there is no execution before");
	struct execution e = execution_copy(&a, y->execution);
	e.measured_at = 1;
	ok(store_execution_add(s->store, &e, &err) == 0, "one before the measurements%s", err.text);
	e.threads = 4;
	e.measured_at = 3;
	ok(store_execution_add(s->store, &e, &err) == 0, "and one with other threads%s", err.text);
	session_reality_renew(s);
	y = session_reality(s);
	is_int(session_reality_contradicted(y), layers, "all layers hold");
	ok(reality_not_again(y) == 0 && !session_turn_open(y), "measured again");
	e = execution_copy(&a, y->execution);
	e.measured_at = 2;
	for (int i = 0; i < e.row_count; i++) {
		e.rows[i].ns *= 1000;
		e.rows[i].lo_ns *= 1000;
		e.rows[i].hi_ns *= 1000;
	}
	ok(store_execution_add(s->store, &e, &err) == 0, "a slower one between%s", err.text);
	session_reality_renew(s);
	y = session_reality(s);
	is_int(session_reality_contradicted(y), 0, "no layer holds");
	is_int(y->doubt_count[DOUBT_TURN], groups, "they are not confirmed");
	arena_free(&a);
	fixture_close(s);
}

int main(void)
{
	test_comparable();
	test_stacks();
	test_bounds();
	test_newest();
	test_hash();
	test_layers();
	test_in_turn();
	return done_testing();
}
