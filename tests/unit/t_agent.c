/* One request on one agent, against every way in which an agent may fail (tests/lib/fake_agent.py). */
#include "config.h"

#include "drive/agent.h"

#include <math.h>

#include "base/clock.h"
#include "base/digest.h"
#include "store_help.h"

static struct error err;
static char digests[2][DIGEST_SIZE];

/* A model file of more than one chunk, and a file of external data. */
static const struct wire_model *model_make(void)
{
	static struct wire_part part;
	static struct wire_model m;
	static char path[512];
	size_t n = WIRE_CHUNK + 1234;
	char *bytes = malloc(n);
	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)(i * 31 + i / 97);
	file_write(scratch_path("m.onnx"), bytes, n);
	file_write(scratch_path("w.bin"), bytes, 77);
	free(bytes);
	snprintf(path, sizeof(path), "%s", scratch_path("m.onnx"));
	m = (struct wire_model){ .path = path,
		.external_count = 1,
		.external = &part,
		.seed = 1,
		.provider = "",
		.dtype = "f32",
		.level = "all",
		.requests = 1,
		.options = "" };
	part.name = "w.bin";
	digest_file(path, NULL, digests[0], &m.bytes, &err);
	digest_file(scratch_path("w.bin"), NULL, digests[1], &part.bytes, &err);
	m.sha256 = digests[0];
	part.sha256 = digests[1];
	return &m;
}

static struct agent *start(const char *mode)
{
	const char *dir = getenv("abs_srcdir");
	static char program[512];
	snprintf(program, sizeof(program), "%s/tests/lib/fake_agent.py", dir ? dir : "..");
	const char *argv[] = { "python3", program, mode, NULL };
	const struct config_runner r = { .name = "fake", .argc = 3, .argv = argv, .count = 1 };
	err.text[0] = '\0';
	struct agent *a = agent_start(&r, &err);
	ok(a != NULL, "%s: it starts", mode);
	return a;
}

/* Steps until the state is another one than AGENT_WORKS. */
static enum agent_state wait_for(struct agent *a)
{
	enum agent_state state = AGENT_WORKS;
	for (int64_t until = clock_ms() + 60000; state == AGENT_WORKS && clock_ms() < until;)
		state = agent_step(a, 200, &err);
	return state;
}

static const char *externals[1];
static struct agent_request request;

static struct agent *run(const char *mode, enum agent_state want)
{
	struct agent *a = start(mode);
	struct agent_limits *limits = agent_limits(a);
	limits->silence = limits->grace = 1500;
	limits->hello = strcmp(mode, "never") == 0 ? 300 : 30000;
	agent_run(a, &request);
	is_int(wait_for(a), want, "%s: its end: %s", mode, err.text);
	return a;
}

static void test_good(void)
{
	struct agent *a = run("good", AGENT_ENDED);
	const struct execution *e = agent_execution(a);
	ok(e->status == STATUS_OK && e->stats.median == 1e6 && e->row_count == 2, "the execution");
	is_str(e->source, "agent", "its source");
	is_str(e->model, "model", "its model");
	ok(e->rows[1].parent == 0 && e->rows[1].level == LEVEL_KERNEL && !strcmp(e->rows[0].nodes, "node0"),
		"its rows");
	is_str(agent_device(a)->stack, "fake 1.2, 2 threads", "the hello");
	is_str(agent_progress(a).what, "importing fake", "the last step");
	is_int(agent_progress(a).sent_bytes, 0, "it needed no file");
	is_int(wait_for(a), AGENT_READY, "ready for another");
	agent_run(a, &request);
	is_int(wait_for(a), AGENT_ENDED, "which ends too");
	agent_free(a);
}

static void test_fetch(void)
{
	setenv("FAKE_AGENT_LOG", scratch_path("log"), 1);
	struct agent *a = run("fetch", AGENT_ENDED);
	size_t n;
	char *log = file_read(scratch_path("log"), &n), want[256];
	snprintf(want, sizeof(want), "%.8s %d\n%.8s 77\n", digests[0], WIRE_CHUNK + 1234, digests[1]);
	is_str(log ? log : "", want, "both files arrive as they are");
	is_int(agent_progress(a).sent_bytes, WIRE_CHUNK + 1234 + 77, "the bytes are counted");
	is_int(wait_for(a), AGENT_READY, "ready");
	free(log);
	agent_free(a);
	file_text(scratch_path("w.bin"), "changed");
	a = run("fetch", AGENT_FAILED);
	has(err.text, "the agent fake failed: the file changed since its hash", "a file that changed");
	agent_free(a);
	unlink(scratch_path("w.bin"));
	a = run("fetch", AGENT_FAILED);
	has(err.text, "No such file", "a file that is gone");
	agent_free(a);
	unsetenv("FAKE_AGENT_LOG");
	model_make();
}

static void test_statuses(void)
{
	struct agent *a = run("unsupported", AGENT_ENDED);
	const struct execution *e = agent_execution(a);
	ok(e->status == STATUS_UNSUPPORTED && !strcmp(e->why, "fake has no operator Conv") && !e->row_count,
		"a model that it cannot run");
	agent_free(a);
	const char *const doubtful[][2] = { { "lies", "has a time above 1e15 ns" },
		{ "parent", "row 1 (row1) has a parent that is not a row before it" } };
	for (int i = 0; i < 2; i++) {
		a = run(doubtful[i][0], AGENT_ENDED);
		e = agent_execution(a);
		ok(e->status == STATUS_MISTRUSTED && isnan(e->stats.median) && isnan(e->load_ns) &&
				!e->row_count,
			"suspect, without numbers");
		has(e->why, doubtful[i][1], "and why");
		is_str(e->framework, "fake", "its identity is kept");
		agent_free(a);
	}
	a = run("late", AGENT_ENDED);
	is_str(agent_execution(a)->model_hash, digests[0], "the hash is that of the request");
	agent_free(a);
}

static void test_failures(void)
{
	static const struct {
		const char *mode, *says;
	} cases[] = {
		{ "twice", "the agent fake sent: a second execution before the end of the first" },
		{ "rows", "the agent fake sent: a row without its execution" },
		{ "empty", "the agent fake ended without an execution" },
		{ "failed", "the agent fake failed: fake: the model is too strange" },
		{ "other", "the agent fake requested a file that does not belong to the model" },
		{ "behind", "the agent fake requested bytes beyond the end of a file" },
		{ "dies",
			"the agent fake was killed by signal 9 (Killed); last output: fake: terminate "
			"called" },
		{ "hangs", "the agent fake sent nothing for 1 s while importing fake; it was killed" },
		{ "garbage",
			"the agent fake sent an invalid message (execution: \"execution\" is not an object" },
		{ "never", "the agent fake did not start within" },
		{ "foreign", "uses protocol 2, this benanza uses 1" },
		{ "runner", "fake is not an agent: its hello lists the jobs \"problem\", not model" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct agent *a = run(cases[i].mode, AGENT_FAILED);
		has(err.text, cases[i].says, "a clear line");
		int64_t since = clock_ms();
		agent_free(a);
		ok(clock_ms() - since < 10000, "it is ended");
	}
	const char *argv[] = { "no-such-program", NULL };
	const struct config_runner r = { .name = "fake", .argc = 1, .argv = argv, .count = 1 };
	ok(!agent_start(&r, &err), "a program that is missing");
	has(err.text,
		"cannot start the agent fake: No such file or directory; install no-such-program, or set "
		"python:",
		"is an error with the fix");
}

static void test_cancel(void)
{
	struct agent *a = start("slow");
	agent_run(a, &request);
	for (int i = 0; i < 100 && !*agent_progress(a).what; i++)
		agent_step(a, 100, &err);
	agent_cancel(a);
	is_int(wait_for(a), AGENT_FAILED, "a cancelled request");
	has(err.text, "cancelled", "ends");
	agent_free(a);
	a = start("deaf");
	agent_limits(a)->grace = 300;
	agent_run(a, &request);
	for (int i = 0; i < 100 && !*agent_progress(a).what; i++)
		agent_step(a, 100, &err);
	agent_cancel(a);
	is_int(wait_for(a), AGENT_FAILED, "one that does not listen");
	has(err.text, "did not stop after a cancel", "is killed");
	agent_free(a);
	a = start("deaf");
	agent_limits(a)->job = 500;
	agent_run(a, &request);
	is_int(wait_for(a), AGENT_FAILED, "one that never ends");
	has(err.text, "did not finish within", "is killed");
	agent_free(a);
}

static void test_hello(void)
{
	struct agent *a = start("absent");
	is_int(wait_for(a), AGENT_READY, "an agent without a request");
	ok(agent_device(a) && strstr(agent_device(a)->attributes, "\"version\":null"),
		"its hello: the framework is not installed");
	agent_free(a);
}

int main(void)
{
	scratch_make();
	request = (struct agent_request){ .model = model_make(), .externals = externals, .name = "model",
		.payload = "m", .budget_ms = 100 };
	char weights[512];
	snprintf(weights, sizeof(weights), "%s", scratch_path("w.bin"));
	externals[0] = weights;
	test_good();
	test_fetch();
	test_statuses();
	test_failures();
	test_cancel();
	test_hello();
	scratch_remove();
	return done_testing();
}
