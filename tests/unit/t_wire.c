#include "config.h"

#include "tests/unit/tap.h"

#include <stdlib.h>

#include "wire/wire.h"

static const char *const conv = "conv:f32,f32.c,f32/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1";

static struct result sample_result(void)
{
	return (struct result){ .problem = conv,
		.status = STATUS_OK,
		.cache = CACHE_WARM,
		.launch = LAUNCH_ISOLATED,
		.why = "",
		.measured_at = 1700000000,
		.runner_version = "0.1.0",
		.rotated_bytes = 67108864,
		.algorithm = { .api = "oneDNN",
			.name = "jit:avx2",
			.layouts = "src=nChw8c dst=nChw8c",
			.math = "strict",
			.rank = 3,
			.matrix = MATRIX_NO,
			.workspace_bytes = 4096,
			.notes = "winograd down_convert" },
		.kernels = "void first<int>(float *)\nsecond",
		.enqueue_ns = 2150.5,
		.clock_mhz = 1980,
		.stats = { .n = 11,
			.discarded = 2,
			.executions = 20,
			.min = 1200.5,
			.q1 = 1210,
			.median = 1220.25,
			.q3 = 1230,
			.mean = 1221,
			.stdev = 12.5,
			.lo = 1215,
			.hi = 1226,
			.stop = STOP_CONVERGED } };
}

/* Formats a message and parses the text. */
static struct wire_message round_trip(const struct wire_message *m, bool *good)
{
	struct wire_message back = { .problem = "" };
	struct error err = ERROR_NONE;
	char *line = wire_format(m);
	size_t n = strlen(line);
	*good = n > 0 && line[n - 1] == '\n' && memchr(line, '\n', n - 1) == NULL &&
		wire_parse(line, n, &back, &err) == 0;
	if (!*good)
		printf("# %.2000s\n# %s\n", line, err.text);
	free(line);
	return back;
}

/* A runner takes as many next problems as it has room for. */
static void next_limit_test(void)
{
	struct wire_message m;
	struct error err = ERROR_NONE;
	struct str line = { 0 };
	str_addf(&line, "{\"type\":\"run\",\"id\":1,\"problem\":\"copy:u8,u8:b1\",\"next\":[");
	for (int i = 0; i < 2 * WIRE_NEXT_MAX; i++)
		str_addf(&line, "%s\"copy:u8,u8:b%d\"", i ? "," : "", i);
	str_addf(&line, "]}");
	ok(wire_parse(line.p, line.n, &m, &err) == 0 && m.next_count == WIRE_NEXT_MAX &&
			strcmp(m.next[WIRE_NEXT_MAX - 1], "copy:u8,u8:b30") == 0,
		"more problems than can be prepared: the first ones");
	wire_free(&m);
	str_free(&line);
	static const char *const bad[][2] = {
		{ "\"next\":\"copy:u8,u8:b1\"", "run: \"next\" is not a list" },
		{ "\"next\":[1]", "run: \"next\" contains something that is not a problem" },
		{ "\"algorithms\":\"some\"", "run: \"algorithms\" has the unknown value \"some\"" },
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[200];
		int n = snprintf(text, sizeof(text),
			"{\"type\":\"run\",\"id\":1,\"problem\":\"copy:u8,u8:b1\",%s}", bad[i][0]);
		is_int(wire_parse(text, (size_t)n, &m, &err), -1, "refused: %s", bad[i][0]);
		is_str(err.text, bad[i][1], "and said");
	}
}

static void test_requests(void)
{
	bool good;
	struct wire_message m = {
		.type = WIRE_RUN, .id = 7, .problem = conv, .budget_ms = 150, .samples = true
	};
	m.caches[CACHE_NET] = m.launches[LAUNCH_ISOLATED] = true;
	struct wire_message b = round_trip(&m, &good);
	ok(good && b.type == WIRE_RUN && b.id == 7 && b.budget_ms == 150 && b.samples, "run: round trip");
	is_str(b.problem, conv, "its problem");
	ok(b.caches[CACHE_NET] && !b.caches[CACHE_WARM] && !b.caches[CACHE_COLD], "its cache states");
	ok(b.launches[LAUNCH_ISOLATED] && !b.launches[LAUNCH_AMORTIZED], "its launches");
	ok(!b.all && b.next_count == 0, "not all algorithms, and no next problems");
	wire_free(&b);
	const char *next[] = { "copy:u8,u8:b1", "copy:u8,u8:b2" };
	m.all = true;
	m.next = next;
	m.next_count = 2;
	b = round_trip(&m, &good);
	ok(good && b.all && b.next_count == 2 && strcmp(b.next[1], next[1]) == 0,
		"all algorithms, and the problems that follow");
	wire_free(&b);
	const enum wire_type plain[] = { WIRE_CANCEL, WIRE_QUIT };
	for (size_t i = 0; i < 2; i++) {
		b = round_trip(&(struct wire_message){ .type = plain[i], .id = 9 }, &good);
		ok(good && b.type == plain[i] && b.id == 9, "a message with only an id");
		wire_free(&b);
	}
	b = round_trip(&(struct wire_message){ .type = WIRE_ALGORITHMS, .id = 1, .problem = "copy:u8,u8:b1" },
		&good);
	ok(good && b.type == WIRE_ALGORITHMS && !b.all, "algorithms");
	wire_free(&b);
	b = round_trip(&(struct wire_message){ .type = WIRE_ALGORITHMS, .problem = conv, .all = true },
		&good);
	ok(good && b.all, "all of them");
	wire_free(&b);
	b = round_trip(&(struct wire_message){ .type = WIRE_DONE, .id = 1, .problem = conv, .all = true,
		.left_out = 12, .what = "" }, &good);
	ok(good && b.all && b.left_out == 12, "done: which were asked for, and how many were left out");
	wire_free(&b);
	next_limit_test();
}

static void test_answers(void)
{
	bool good;
	const struct result r = sample_result();
	const double raw[] = { 1200.5, 1220.25 };
	struct wire_message b = round_trip(
		&(struct wire_message){
			.type = WIRE_RESULT, .id = 4, .result = r, .sample_ns = raw, .sample_count = 2 },
		&good);
	ok(good && b.type == WIRE_RESULT && b.id == 4, "result: round trip");
	is_str(b.result.problem, conv, "its problem");
	is_str(b.result.algorithm.name, "jit:avx2", "its algorithm");
	is_str(b.result.algorithm.layouts, "src=nChw8c dst=nChw8c", "its layouts");
	ok(b.result.algorithm.rank == 3 && b.result.algorithm.matrix == MATRIX_NO, "its rank and matrix");
	ok(b.result.cache == CACHE_WARM && b.result.launch == LAUNCH_ISOLATED, "its state");
	const struct sample_stats *x = &b.result.stats, *y = &r.stats;
	ok(x->n == y->n && x->discarded == y->discarded && x->executions == y->executions &&
			x->stop == y->stop,
		"its counts");
	ok(x->min == y->min && x->q1 == y->q1 && x->median == y->median && x->q3 == y->q3 &&
			x->mean == y->mean && x->stdev == y->stdev && x->lo == y->lo && x->hi == y->hi,
		"its times");
	is_int(b.result.measured_at, 1700000000, "its date");
	ok(b.result.rotated_bytes == 67108864, "its rotated bytes");
	is_str(b.result.algorithm.notes, "winograd down_convert", "the library's notes");
	is_str(b.result.kernels, "void first<int>(float *)\nsecond", "its kernels");
	ok(b.result.enqueue_ns == 2150.5 && b.result.clock_mhz == 1980, "its enqueue time and clock");
	is_int((int64_t)json_array_size(json_object_get(b.json, "sample_ns")), 2, "its raw samples");
	wire_free(&b);
	b = round_trip(
		&(struct wire_message){
			.type = WIRE_DONE, .id = 4, .status = STATUS_UNSUPPORTED, .what = "no" },
		&good);
	ok(good && b.status == STATUS_UNSUPPORTED && strcmp(b.what, "no") == 0,
		"done with status and reason");
	is_str(b.problem, "", "done of an older runner has no problem");
	wire_free(&b);
	b = round_trip(&(struct wire_message){ .type = WIRE_DONE,
			       .id = 4,
			       .problem = conv,
			       .caches = { true, false, true },
			       .launches = { false, true } },
		&good);
	is_str(b.problem, conv, "done has the problem");
	ok(!b.leaves && !b.retry, "the runner does not exit by default");
	ok(good && b.caches[CACHE_NET] && !b.caches[CACHE_WARM] && b.caches[CACHE_COLD] &&
			!b.launches[LAUNCH_AMORTIZED] && b.launches[LAUNCH_ISOLATED],
		"done has the requested states");
	wire_free(&b);
	b = round_trip(&(struct wire_message){ .type = WIRE_DONE, .id = 4, .problem = conv }, &good);
	ok(good && !b.caches[CACHE_NET] && !b.launches[LAUNCH_AMORTIZED],
		"done of a list of algorithms has no states");
	wire_free(&b);
	b = round_trip(&(struct wire_message){ .type = WIRE_HEARTBEAT, .what = "jit:avx2" }, &good);
	ok(good && b.id == 0 && strcmp(b.what, "jit:avx2") == 0, "heartbeat");
	wire_free(&b);
	b = round_trip(
		&(struct wire_message){ .type = WIRE_ALGORITHM, .id = 2, .algorithm = r.algorithm }, &good);
	ok(good && b.algorithm.workspace_bytes == 4096, "algorithm");
	wire_free(&b);
	b = round_trip(&(struct wire_message){ .type = WIRE_CHECK,
			       .id = 3,
			       .problem = conv,
			       .algorithm = r.algorithm,
			       .status = STATUS_MISTRUSTED,
			       .worst = 0.25,
			       .allowed = 1e-6,
			       .what = "far off" },
		&good);
	ok(good && b.type == WIRE_CHECK && b.id == 3 && b.status == STATUS_MISTRUSTED && b.worst == 0.25 &&
			b.allowed == 1e-6,
		"check");
	is_str(b.problem, conv, "its problem");
	is_str(b.algorithm.name, "jit:avx2", "its algorithm");
	is_str(b.what, "far off", "its reason");
	wire_free(&b);
	b = round_trip(&(struct wire_message){ .type = WIRE_LOG, .what = "two\nlines \x1b[2J \xff" }, &good);
	ok(good && !strchr(b.what, '\n') && !strchr(b.what, 0x1b),
		"newlines and escape characters are replaced");
	wire_free(&b);
}

static void test_unknown(void)
{
	bool good;
	struct result r = sample_result();
	r.stats.lo = r.stats.hi = r.stats.stdev = NAN;
	r.stats.n = 1;
	r.algorithm.notes = r.kernels = NULL;
	r.enqueue_ns = r.clock_mhz = NAN;
	struct wire_message b =
		round_trip(&(struct wire_message){ .type = WIRE_RESULT, .id = 4, .result = r }, &good);
	ok(good && isnan(b.result.stats.lo) && isnan(b.result.stats.stdev), "unknown statistics stay NaN");
	ok(isnan(b.result.enqueue_ns) && isnan(b.result.clock_mhz),
		"unknown enqueue time and clock stay NaN");
	is_str(b.result.algorithm.notes, "", "no notes");
	is_str(b.result.kernels, "", "no kernels");
	wire_free(&b);
	r.enqueue_ns = r.clock_mhz = 0;
	b = round_trip(&(struct wire_message){ .type = WIRE_RESULT, .id = 4, .result = r }, &good);
	ok(good && isnan(b.result.enqueue_ns) && isnan(b.result.clock_mhz),
		"an enqueue time and clock of 0 are unknown");
	wire_free(&b);
	r = sample_result();
	r.status = STATUS_FAILED;
	r.why = "it broke";
	b = round_trip(&(struct wire_message){ .type = WIRE_RESULT, .id = 4, .result = r }, &good);
	ok(good && isnan(b.result.stats.median) && b.result.stats.n == 0, "a failure has no statistics");
	is_str(b.result.why, "it broke", "a failure has a reason");
	wire_free(&b);
}

/* Lines that are not valid messages, a part of the error, and the id that was read. */
static const struct {
	const char *line, *says;
	int64_t id;
} bad[] = {
	{ "", "not JSON", 0 },
	{ "hello", "not JSON", 0 },
	{ "{", "not JSON", 0 },
	{ "[1]", "not a JSON object", 0 },
	{ "{\"id\":1}", "unknown message type \"\"", 1 },
	{ "{\"type\":\"sing\",\"id\":5}", "unknown message type \"sing\"", 5 },
	{ "{\"type\":7}", "not a string", 0 },
	{ "{\"type\":\"run\",\"id\":3}", "\"problem\" is missing", 3 },
	{ "{\"type\":\"run\",\"id\":-3,\"problem\":\"x\"}", "\"id\" is not an integer >= 0", 0 },
	{ "{\"type\":\"run\",\"id\":1.5,\"problem\":\"x\"}", "\"id\" is not an integer >= 0", 0 },
	{ "{\"type\":\"run\",\"id\":1,\"problem\":\"x\",\"budget_ms\":0}", "budget_ms", 1 },
	{ "{\"type\":\"run\",\"id\":1,\"problem\":\"x\",\"budget_ms\":99999999999}", "budget_ms", 1 },
	{ "{\"type\":\"run\",\"id\":1,\"problem\":\"x\",\"caches\":[\"hot\"]}",
		"\"caches\" contains an unknown value", 1 },
	{ "{\"type\":\"run\",\"id\":1,\"problem\":\"x\",\"caches\":[]}", "empty", 1 },
	{ "{\"type\":\"run\",\"id\":1,\"problem\":\"x\",\"launches\":\"isolated\"}", "not a list", 1 },
	{ "{\"type\":\"run\",\"type\":\"quit\"}", "not JSON", 0 },
	{ "{\"type\":\"log\",\"what\":\"a\\u0000b\"}", "not JSON", 0 },
	{ "{\"type\":\"done\",\"id\":1}", "status", 1 },
	{ "{\"type\":\"done\",\"id\":1,\"status\":\"fine\"}", "\"status\" has the unknown value \"fine\"",
		1 },
	{ "{\"type\":\"result\",\"id\":1}", "not an object", 1 },
	{ "{\"type\":\"result\",\"id\":1,\"result\":{\"problem\":\"x\",\"status\":\"ok\"}}",
		"the algorithm has no name", 1 },
	{ "{\"type\":\"result\",\"id\":1,\"result\":{\"problem\":\"x\",\"status\":\"ok\",\"algorithm\":{"
	  "\"name\":\"a\"}}}",
		"stats", 1 },
	{ "{\"type\":\"result\",\"id\":1,\"result\":{\"problem\":\"x\",\"status\":\"ok\",\"algorithm\":{"
	  "\"name\":\"a\"},"
	  "\"stats\":{\"n\":3,\"median_ns\":-5}}}",
		"\"median_ns\" is not a number >= 0", 1 },
	{ "{\"type\":\"result\",\"id\":1,\"result\":{\"problem\":\"x\",\"status\":\"ok\",\"algorithm\":{"
	  "\"name\":\"a\"},"
	  "\"stats\":{\"n\":3,\"median_ns\":5,\"lo_ns\":6,\"hi_ns\":7}}}",
		"the median is outside its interval", 1 },
	{ "{\"type\":\"algorithm\",\"id\":1}", "\"algorithm\" is missing", 1 },
	{ "{\"type\":\"check\",\"id\":1,\"problem\":\"x\",\"status\":\"ok\"}", "\"algorithm\" is missing",
		1 },
	{ "{\"type\":\"log\",\"what\":3}", "\"what\" is not a string", 0 },
	{ "{\"type\":\"result\",\"id\":1,\"result\":{\"problem\":\"x\",\"status\":\"ok\",\"algorithm\":{"
	  "\"name\":\"a\"},"
	  "\"stats\":{\"n\":3,\"median_ns\":1e999}}}",
		"not JSON", 0 },
};

/* Results of older runners, without notes, kernels and clocks. */
static void test_older(void)
{
	struct wire_message m;
	struct error err = ERROR_NONE;
	const char *line =
		"{\"type\":\"result\",\"id\":1,\"result\":{\"problem\":\"x\",\"status\":\"ok\",\"algorithm\":"
		"{\"name\":\"a\"},\"stats\":{\"n\":1,\"median_ns\":5}}}";
	is_int(wire_parse(line, strlen(line), &m, &err), 0, "a result of an older runner");
	is_str(m.result.algorithm.notes, "", "without notes");
	is_str(m.result.kernels, "", "without kernels");
	ok(isnan(m.result.enqueue_ns) && isnan(m.result.clock_mhz), "without enqueue time and clock");
	wire_free(&m);
	line = "{\"type\":\"result\",\"id\":1,\"result\":{\"problem\":\"x\",\"status\":\"ok\",\"measured_"
	       "at\":null,\"algorithm\":"
	       "{\"name\":\"a\",\"rank\":null},\"stats\":{\"n\":1,\"median_ns\":5}}}";
	is_int(wire_parse(line, strlen(line), &m, &err), 0, "unknown numbers are null: %s", err.text);
	is_int(m.result.measured_at, 0, "an unknown date");
	wire_free(&m);
	const struct wire_message long_names = { .type = WIRE_RESULT, .id = 4, .result = sample_result() };
	struct wire_message copy = long_names;
	char *kernels = calloc(70000, 1);
	memset(kernels, 'k', 30000);
	copy.result.kernels = kernels;
	bool good;
	m = round_trip(&copy, &good);
	ok(good && strlen(m.result.kernels) == 30000, "names of kernels up to 65536 bytes");
	wire_free(&m);
	memset(kernels, 'k', 69999);
	char *text = wire_format(&copy);
	is_int(wire_parse(text, strlen(text), &m, &err), -1, "longer names of kernels are refused");
	free(text);
	free(kernels);
}

/* A job is a kind and a payload; "kind" is written only where it is not a problem. */
static void test_kinds(void)
{
	struct error err = ERROR_NONE;
	bool good;
	struct wire_message run = { .type = WIRE_RUN,
		.id = 5,
		.kind = JOB_PROBLEM,
		.problem = "x",
		.payload = "y",
		.budget_ms = 9,
		.caches = { true },
		.launches = { true } };
	char *line = wire_format(&run);
	is_str(line,
		"{\"type\":\"run\",\"id\":5,\"problem\":\"x\",\"budget_ms\":9,\"caches\":[\"net\"],"
		"\"launches\":[\"amortized\"]}\n",
		"a problem, as older runners expect it");
	free(line);
	run.kind = "model";
	struct wire_message m = round_trip(&run, &good);
	ok(good && !wire_is_problem(&m) && !strcmp(m.kind, "model") && !strcmp(m.payload, "y") && !*m.problem,
		"another kind");
	wire_free(&m);
	struct wire_message done = {
		.type = WIRE_DONE, .id = 5, .kind = "model", .payload = "y", .what = ""
	};
	m = round_trip(&done, &good);
	ok(good && !strcmp(m.kind, "model") && !strcmp(m.payload, "y") && !*m.problem, "its end");
	wire_free(&m);
	struct wire_message result = {
		.type = WIRE_RESULT, .id = 4, .kind = "model", .result = sample_result()
	};
	m = round_trip(&result, &good);
	ok(good && !strcmp(m.kind, "model"), "its result");
	wire_free(&m);
	const char *none = "{\"type\":\"done\",\"id\":1,\"status\":\"ok\"}";
	is_int(wire_parse(none, strlen(none), &m, &err), 0, "a message without a kind");
	ok(wire_is_problem(&m) && !strcmp(m.kind, JOB_PROBLEM), "is about a problem");
	wire_free(&m);
	is_int(wire_parse("{\"type\":\"run\",\"id\":8,\"kind\":\"model\",\"problem\":\"x\"}", 50, &m, &err),
		-1, "no payload");
	ok(strstr(err.text, "kind is \"model\", but its \"payload\" is missing") && m.id == 8,
		"an error with the kind: %s", err.text);
	const char *odd = "{\"type\":\"run\",\"id\":8,\"kind\":\"A b\",\"payload\":\"x\"}";
	is_int(wire_parse(odd, strlen(odd), &m, &err), -1, "no name of a kind: %s", err.text);
}

static int hello_with(const char *jobs, struct arena *a, struct device *d, struct error *err)
{
	char line[512];
	snprintf(line, sizeof(line),
		"{\"magic\":\"BENANZA-RUNNER\",\"protocol\":1,\"name\":\"a\",\"model\":\"b\",\"stack\":\"c\"%"
		"s%s}",
		*jobs ? ",\"jobs\":" : "", jobs);
	return wire_parse_hello(line, a, d, err);
}

static void test_jobs(void)
{
	struct arena a = { 0 };
	struct error err = ERROR_NONE;
	struct device d;
	is_int(hello_with("", &a, &d, &err), 1, "a hello without kinds of jobs");
	ok(jobs_contain(d.jobs, JOB_PROBLEM) && !jobs_contain(d.jobs, "model"), "answers problems");
	is_int(hello_with("[\"problem\",\"model\"]", &a, &d, &err), 1, "two kinds");
	ok(jobs_contain(d.jobs, JOB_PROBLEM) && jobs_contain(d.jobs, "model") && !jobs_contain(d.jobs, "mod"),
		"are known");
	is_int(hello_with("[\"model\"]", &a, &d, &err), 1, "a hello without problems");
	ok(!jobs_contain(d.jobs, JOB_PROBLEM), "answers none");
	static const char *const refused[] = { "[]", "3", "\"problem\"", "[3]", "[\"a b\"]", "[\"\"]",
		"[\"a-name-of-more-than-thirty-two-byte\"]" };
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		is_int(hello_with(refused[i], &a, &d, &err), -1, "refused: %s", refused[i]);
	d.jobs = "problem model";
	char *line = wire_hello(&d);
	ok(strstr(line, "\"jobs\":[\"problem\",\"model\"]") != NULL, "a hello lists them");
	free(line);
	d.jobs = "";
	line = wire_hello(&d);
	ok(strstr(line, "\"jobs\":[\"problem\"]") != NULL, "an empty list is problems");
	free(line);
	d.jobs = NULL;
	line = wire_hello(&d);
	ok(strstr(line, "\"jobs\":[\"problem\"]") != NULL, "problems where nothing is said");
	free(line);
	arena_free(&a);
}

static void test_bad_lines(void)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct wire_message m;
		struct error err = ERROR_NONE;
		int got = wire_parse(bad[i].line, strlen(bad[i].line), &m, &err);
		ok(got == -1 && strstr(err.text, bad[i].says) && m.id == bad[i].id, "refused: %.60s",
			bad[i].line);
		if (got != -1 || !strstr(err.text, bad[i].says))
			printf("# %s\n", err.text);
	}
	struct wire_message m;
	struct error err = ERROR_NONE;
	size_t n = WIRE_LINE_MAX + 1;
	char *line = calloc(n, 1);
	memset(line, ' ', n);
	ok(wire_parse(line, n, &m, &err) == -1 && strstr(err.text, "more than 1048576"),
		"a line past the limit");
	for (int more = 0; more < 2; more++) {
		char text[PROBLEM_TEXT_SIZE + 64];
		int length = PROBLEM_TEXT_SIZE - 1 + more;
		n = (size_t)snprintf(text, sizeof(text),
			"{\"type\":\"algorithms\",\"id\":1,\"problem\":\"%0*d\"}", length, 1);
		is_int(wire_parse(text, n, &m, &err), -more, "a problem of %d bytes", length);
		if (!more)
			wire_free(&m);
	}
	n = WIRE_LINE_MAX + 1;
	memset(line, '[', n);
	ok(wire_parse(line, n / 2, &m, &err) == -1, "deep nesting");
	free(line);
}

/* Statistics of a result with status ok: what is too little, and what is just enough. */
static void test_stats(void)
{
	static const struct {
		const char *stats, *says; /* says: NULL: accepted */
	} rows[] = {
		{ "\"n\":1,\"median_ns\":5", NULL },
		{ "\"n\":1,\"executions\":1,\"median_ns\":0", NULL },
		{ "\"n\":3,\"median_ns\":5,\"lo_ns\":5,\"hi_ns\":5,\"min_ns\":5", NULL },
		{ "\"n\":0,\"median_ns\":5", "is missing" },
		{ "\"median_ns\":5", "is missing" },
		{ "\"n\":3", "is missing" },
		{ "\"n\":3,\"executions\":0,\"median_ns\":5", "is missing" },
		{ "\"n\":3,\"median_ns\":5,\"lo_ns\":6", "outside its interval" },
		{ "\"n\":3,\"median_ns\":5,\"hi_ns\":4", "outside its interval" },
		{ "\"n\":3,\"median_ns\":5,\"min_ns\":6", "outside its interval" },
		{ "\"n\":3.5,\"median_ns\":5", "\"n\" is not an integer" },
		{ "\"n\":3,\"discarded\":-1,\"median_ns\":5", "\"discarded\" is not an integer" },
		{ "\"n\":3,\"median_ns\":5,\"stop\":\"bored\"", "\"stop\" has the unknown value" },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char line[512];
		struct wire_message m;
		struct error err = ERROR_NONE;
		int n = snprintf(line, sizeof(line),
			"{\"type\":\"result\",\"id\":1,\"result\":{\"problem\":\"x\",\"status\":\"ok\","
			"\"algorithm\":{\"name\":\"a\"},\"stats\":{%s}}}",
			rows[i].stats);
		int got = wire_parse(line, (size_t)n, &m, &err);
		ok(got == (rows[i].says ? -1 : 0) && (!rows[i].says || strstr(err.text, rows[i].says)),
			"%s: %s", rows[i].says ? "refused" : "accepted", rows[i].stats);
		if (got == 0)
			wire_free(&m);
	}
}

static void test_hello(void)
{
	struct arena a = { 0 };
	struct error err = ERROR_NONE;
	const struct device d = { .name = "cpu",
		.model = "A \"CPU\"",
		.stack = "lib 1, 2 threads",
		.runner = "r",
		.version = "0.1.0",
		.host = "h",
		.attributes = "{\"isa\":\"avx2\"}",
		.threads = 2,
		.llc_bytes = NAN,
		.has_matrix = true };
	struct device b;
	char *line = wire_hello(&d);
	is_int(wire_parse_hello(line, &a, &b, &err), 1, "the hello is parsed");
	is_str(b.model, d.model, "model");
	is_str(b.stack, d.stack, "stack");
	is_str(b.attributes, d.attributes, "attributes");
	is_str(b.name, d.name, "name");
	is_str(b.runner, d.runner, "runner");
	is_str(b.version, d.version, "version");
	is_str(b.host, d.host, "host");
	ok(b.threads == 2 && isnan(b.llc_bytes) && b.has_matrix, "numbers, unknown cache");
	char glued[1024];
	size_t at;
	int n = snprintf(glued, sizeof(glued), "{\"magic\": 3}$ %s", line);
	char *padded = base_malloc(WIRE_LINE_MAX + 2);
	for (size_t more = 0; more < 2; more++) { /* blanks up to the limit, and one more */
		size_t own = strlen(line) - 1;
		memcpy(padded, line, own);
		memset(padded + own, ' ', WIRE_LINE_MAX + more - own);
		padded[WIRE_LINE_MAX + more] = '\0';
		is_int(wire_parse_hello(padded, &a, &b, &err), more ? 0 : 1, "a hello of %zu bytes",
			WIRE_LINE_MAX + more);
	}
	free(padded);
	is_int(wire_parse_hello(glued, &a, &b, &err), 0,
		"wire_parse_hello does not accept text before the hello");
	is_int(wire_find_hello((struct text){ glued, (size_t)n }, &a, &b, &at, &err), 1,
		"wire_find_hello does");
	ok(at == 14 && strcmp(b.stack, d.stack) == 0, "and returns the offset");
	free(line);
	static const struct {
		const char *threads;
		int got;
	} threads[] = { { "0", 1 }, { "2147483647", 1 }, { "2147483648", -1 }, { "-1", -1 }, { "1.5", -1 } };
	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		snprintf(glued, sizeof(glued),
			"{\"magic\":\"BENANZA-RUNNER\",\"protocol\":1,\"name\":\"n\",\"model\":\"m\","
			"\"stack\":\"s\",\"threads\":%s}",
			threads[i].threads);
		is_int(wire_parse_hello(glued, &a, &b, &err), threads[i].got, "%s threads",
			threads[i].threads);
	}
	is_int(wire_parse_hello("Welcome to gpu7!\n", &a, &b, &err), 0, "a login banner is skipped");
	is_int(wire_parse_hello("{\"some\":\"json\"}\n", &a, &b, &err), 0, "other JSON is skipped");
	is_int(wire_parse_hello("", &a, &b, &err), 0, "an empty line is skipped");
	is_int(wire_parse_hello("{\"magic\":\"BENANZA-RUNNER\",\"protocol\":2}\n", &a, &b, &err), -1,
		"another protocol version is refused");
	ok(strstr(err.text, "protocol 2") != NULL, "the error has the version: %s", err.text);
	is_int(wire_parse_hello("{\"magic\":\"BENANZA-RUNNER\",\"protocol\":1}\n", &a, &b, &err), -1,
		"a hello without a device is refused");
	ok(strstr(err.text, "\"stack\" is missing") != NULL, "the error has the keys: %s", err.text);
	arena_free(&a);
}

/* Lines with control characters in every text: the texts are clean, and only the kernels keep their
 * newlines. */
static void test_clean(void)
{
#define EVIL "\\u001b[31m\\n\\u0085\\u202e"
	static const char *const lines[] = {
		"{\"type\":\"done\",\"id\":1,\"status\":\"failed\",\"why\":\"" EVIL "\",\"problem\":\"" EVIL
		"\"}",
		"{\"type\":\"log\",\"what\":\"" EVIL "\"}",
		"{\"type\":\"heartbeat\",\"what\":\"" EVIL "\"}",
		"{\"type\":\"check\",\"problem\":\"" EVIL "\",\"status\":\"ok\",\"why\":\"" EVIL
		"\",\"algorithm\":{\"name\":\"" EVIL "\"}}",
		"{\"type\":\"algorithm\",\"algorithm\":{\"api\":\"" EVIL "\",\"name\":\"" EVIL
		"\",\"layouts\":\"" EVIL "\",\"math\":\"" EVIL "\",\"notes\":\"" EVIL "\"}}",
		"{\"type\":\"result\",\"result\":{\"problem\":\"" EVIL "\",\"algorithm\":{\"name\":\"" EVIL
		"\"},\"status\":\"failed\",\"why\":\"" EVIL "\",\"kernels\":\"" EVIL
		"\",\"runner_version\":\"" EVIL "\"}}",
	};
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct wire_message m;
		struct error err = ERROR_NONE;
		is_int(wire_parse(lines[i], strlen(lines[i]), &m, &err), 0, "parsed: %.30s", lines[i]);
		const struct algorithm *g = m.type == WIRE_RESULT ? &m.result.algorithm : &m.algorithm;
		const char *const texts[] = { m.what, m.problem, g->api, g->name, g->layouts, g->math,
			g->notes, m.result.problem, m.result.why, m.result.runner_version };
		int clean = 0;
		for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
			ok(text_is_clean(text_of(texts[k])), "text %zu is clean", k);
			clean += texts[k] && strcmp(texts[k], "?[31m???") == 0;
		}
		ok(clean > 0, "the texts were read");
		if (m.type == WIRE_RESULT)
			is_str(m.result.kernels, "?[31m\n??", "kernels keep their newlines");
		wire_free(&m);
	}
	struct arena a = { 0 };
	struct error err = ERROR_NONE;
	struct device d;
	const char *hello =
		"{\"magic\":\"BENANZA-RUNNER\",\"protocol\":1,\"runner\":\"" EVIL "\",\"version\":\"" EVIL
		"\",\"name\":\"" EVIL "\",\"model\":\"" EVIL "\",\"stack\":\"" EVIL "\",\"host\":\"" EVIL
		"\",\"attributes\":{\"" EVIL "\":[\"" EVIL "\"]}}";
	is_int(wire_parse_hello(hello, &a, &d, &err), 1, "a hello with control characters");
	const char *const texts[] = { d.runner, d.version, d.name, d.model, d.stack, d.host };
	for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
		is_str(texts[k], "?[31m???", "its text %zu", k);
	is_str(d.attributes, "{\"?[31m???\":[\"?[31m???\"]}", "attributes are clean, keys too");
	struct str big = { 0 };
	str_puts(&big,
		"{\"magic\":\"BENANZA-RUNNER\",\"protocol\":1,\"name\":\"n\",\"model\":\"m\",\"stack\":\"s\","
		"\"attributes\":{\"x\":\"");
	for (int i = 0; i < 1030; i++)
		str_addf(&big, "%064d", i);
	str_puts(&big, "\"}}");
	is_int(wire_parse_hello(big.p, &a, &d, &err), -1, "attributes that are too long are refused");
	ok(strstr(err.text, "\"attributes\" is longer than 65536 bytes") != NULL,
		"the error has the limit: %s", err.text);
	str_free(&big);
	arena_free(&a);
}

int main(void)
{
	test_requests();
	test_answers();
	test_unknown();
	test_older();
	test_bad_lines();
	test_stats();
	test_kinds();
	test_jobs();
	test_hello();
	test_clean();
	return done_testing();
}
