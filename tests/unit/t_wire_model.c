/* The messages of agents: requests, files, executions and rows. */
#include "config.h"

#include "tests/unit/tap.h"

#include <stdlib.h>

#include "problem/execution_field.h"
#include "wire/wire.h"

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* Formats a message and parses the text. */
static struct wire_message round_trip(const struct wire_message *m, bool *good)
{
	struct wire_message back = { .problem = "" };
	struct error err = ERROR_NONE;
	char *line = wire_format(m);
	size_t n = strlen(line);
	*good = n > 0 && n <= WIRE_LINE_MAX && line[n - 1] == '\n' && wire_parse(line, n, &back, &err) == 0;
	if (!*good)
		printf("# %.2000s\n# %s\n", line, err.text);
	free(line);
	return back;
}

static void test_request(void)
{
	bool good;
	const struct wire_part part = { .name = "data/weights.bin", .bytes = 5, .sha256 = HASH };
	const int64_t shape[] = { 1, 3, 0 };
	const struct wire_input inputs[] = {
		{ .name = "data", .dtype = "f32", .rank = 3, .shape = shape, .low = NAN, .high = NAN },
		{ .name = "ids", .dtype = "s64", .rank = 0, .low = -1, .high = 7 }
	};
	const struct wire_model request = { .path = "/m.onnx", .bytes = 9, .sha256 = HASH,
		.external_count = 1, .external = &part, .input_count = 2, .inputs = inputs, .seed = 3,
		.batch = 4, .provider = "CPU", .dtype = "bf16", .level = "basic", .threads = 2, .requests = 8,
		.io_binding = true, .profile = true, .compare = true, .options = "{\"a\":\"0\"}" };
	struct wire_message m = { .type = WIRE_RUN,
		.id = 1,
		.kind = JOB_MODEL,
		.payload = "m",
		.budget_ms = 9,
		.caches = { true },
		.launches = { true },
		.model = &request };
	struct wire_message b = round_trip(&m, &good);
	const struct wire_model *r = b.model;
	ok(good && r, "a request: round trip");
	ok(!strcmp(r->path, "/m.onnx") && r->bytes == 9 && !strcmp(r->sha256, HASH), "its file");
	ok(r->external_count == 1 && !strcmp(r->external[0].name, "data/weights.bin") &&
			r->external[0].bytes == 5 && !strcmp(r->external[0].sha256, HASH),
		"its external data");
	ok(r->input_count == 2 && !strcmp(r->inputs[0].dtype, "f32") && r->inputs[0].rank == 3 &&
			r->inputs[0].shape[1] == 3 && r->inputs[0].shape[2] == 0 && isnan(r->inputs[0].low),
		"its inputs with their shapes");
	ok(r->inputs[1].rank == 0 && r->inputs[1].low == -1 && r->inputs[1].high == 7, "a range");
	ok(r->seed == 3 && r->batch == 4 && r->threads == 2 && r->requests == 8, "its numbers");
	ok(!strcmp(r->provider, "CPU") && !strcmp(r->dtype, "bf16") && !strcmp(r->level, "basic"),
		"its words");
	ok(r->io_binding && r->profile && r->compare, "its flags");
	is_str(r->options, "{\"a\":\"0\"}", "the framework's options");
	wire_free(&b);
}

/* A request with a change, and what was measured. */
static void test_trial(void)
{
	bool good;
	const int64_t shape[] = { 8, 3 };
	const struct wire_input input = { .name = "data", .dtype = "f32", .rank = 2, .shape = shape,
		.low = NAN, .high = NAN };
	const struct wire_try change = { .move = "batch=8", .provider = "CPU", .dtype = "s8",
		.level = "basic", .pages = "2m", .threads = 3, .batch = 8, .input_count = 1,
		.inputs = &input };
	const struct wire_model request = { .path = "/m.onnx", .bytes = 9, .sha256 = HASH, .provider = "",
		.dtype = "f32", .level = "all", .requests = 1, .options = "", .change = &change };
	const struct wire_message run = { .type = WIRE_RUN, .id = 1, .kind = JOB_MODEL, .payload = "m",
		.budget_ms = 9, .caches = { true }, .launches = { true }, .model = &request };
	struct wire_message b = round_trip(&run, &good);
	const struct wire_try *t = good && b.model ? b.model->change : NULL;
	ok(t && !strcmp(t->move, "batch=8") && !strcmp(t->provider, "CPU") && !strcmp(t->dtype, "s8") &&
			!strcmp(t->level, "basic") && !strcmp(t->pages, "2m"),
		"a trial: its words");
	ok(t && t->threads == 3 && t->batch == 8 && t->input_count == 1 && t->inputs[0].shape[0] == 8,
		"its numbers and inputs");
	wire_free(&b);
	struct execution e = execution_new();
	const struct wire_trial trial = { .base = { .n = 9, .executions = 1, .min = 1, .q1 = 2, .median = 3,
						  .q3 = 4, .mean = 3, .stdev = 1, .lo = 2.5, .hi = 3.5 },
		.gain = 1.25, .lo = 1.2, .hi = NAN, .rounds = 7 };
	e.source = "agent";
	e.status = STATUS_FAILED;
	b = round_trip(&(struct wire_message){ .type = WIRE_EXECUTION, .id = 3, .execution = &e,
			       .trial = &trial },
		&good);
	const struct wire_trial *x = b.trial;
	ok(good && x && x->base.median == 3 && x->base.hi == 3.5 && x->base.n == 9, "the unchanged side");
	ok(x && x->gain == 1.25 && x->lo == 1.2 && isnan(x->hi) && x->rounds == 7, "the gain");
	wire_free(&b);
	b = round_trip(&(struct wire_message){ .type = WIRE_EXECUTION, .id = 3, .execution = &e }, &good);
	ok(good && !b.trial, "an execution without a trial");
	wire_free(&b);
}

static void test_request_defaults(void)
{
	struct wire_message b;
	struct error err = ERROR_NONE;
	const char *least = "{\"type\":\"run\",\"id\":1,\"kind\":\"model\",\"payload\":\"m\",\"model\":{"
			    "\"sha256\":\"" HASH "\",\"bytes\":7}}";
	is_int(wire_parse(least, strlen(least), &b, &err), 0, "only hash and size are required: %s",
		err.text);
	ok(b.model && !strcmp(b.model->dtype, "f32") && !strcmp(b.model->level, "all") &&
			b.model->requests == 1 && b.model->seed == 1 && !b.model->threads &&
			!b.model->input_count && !b.model->profile && !*b.model->options,
		"the defaults");
	wire_free(&b);
	const char *none = "{\"type\":\"run\",\"id\":1,\"kind\":\"model\",\"payload\":\"m\"}";
	is_int(wire_parse(none, strlen(none), &b, &err), 0, "a job of this kind without a request");
	ok(!b.model, "has none");
	wire_free(&b);
}

static void test_files(void)
{
	bool good;
	struct wire_message b = round_trip(&(struct wire_message){ .type = WIRE_NEED, .id = 2, .sha256 = HASH,
						   .offset = 1 << 20, .bytes = WIRE_CHUNK },
		&good);
	ok(good && b.type == WIRE_NEED && b.offset == 1 << 20 && b.bytes == WIRE_CHUNK &&
			!strcmp(b.sha256, HASH),
		"need: round trip");
	wire_free(&b);
	const char *from_start = "{\"type\":\"need\",\"id\":1,\"sha256\":\"" HASH "\",\"bytes\":1}";
	struct error err = ERROR_NONE;
	is_int(wire_parse(from_start, strlen(from_start), &b, &err), 0, "a need without an offset");
	ok(b.offset == 0 && b.bytes == 1, "begins at the start");
	wire_free(&b);
	char *bytes = malloc(WIRE_CHUNK);
	for (int i = 0; i < WIRE_CHUNK; i++)
		bytes[i] = (char)(i * 7 + i / 251);
	const size_t sizes[] = { 1, 2, 3, 4, 5, 255, WIRE_CHUNK - 1, WIRE_CHUNK };
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		b = round_trip(&(struct wire_message){ .type = WIRE_FILE, .id = 2, .sha256 = HASH,
				       .offset = 5, .data = { bytes, sizes[i] } },
			&good);
		ok(good && b.offset == 5 && b.data.n == sizes[i] && !memcmp(b.data.p, bytes, sizes[i]),
			"file: %zu bytes", sizes[i]);
		wire_free(&b);
	}
	free(bytes);
	b = round_trip(&(struct wire_message){ .type = WIRE_FILE, .id = 2, .sha256 = HASH, .what = "gone" },
		&good);
	ok(good && !strcmp(b.what, "gone") && !b.data.n, "file: why it cannot be sent");
	wire_free(&b);
}

static struct execution sample_execution(void)
{
	struct execution e = execution_new();
	e.source = "agent";
	e.framework = "onnxruntime";
	e.version = "1.32.0";
	e.threads = 2;
	e.settings = "{\"level\":\"all\"}";
	e.model_hash = HASH;
	e.inputs = "data:f32:1x3\nids:s64:";
	e.batch = 1;
	e.requests = 1;
	e.stats = (struct sample_stats){ .n = 50, .discarded = 2, .executions = 1, .min = 1, .q1 = 2,
		.median = 3, .q3 = 4, .mean = 3, .stdev = 0.5, .lo = 2.5, .hi = 3.5, .stop = STOP_CONVERGED };
	e.p90_ns = 5;
	e.p99_ns = 6;
	e.floor_ns = 0;
	e.output_compared = true;
	e.measured_at = 1700000000;
	return e;
}

/* Every field of the table survives; the value of a field is its index. */
static void test_every_field(void)
{
	bool good;
	struct execution e = sample_execution();
	struct wire_message b =
		round_trip(&(struct wire_message){ .type = WIRE_EXECUTION, .id = 3, .execution = &e }, &good);
	ok(good && b.type == WIRE_EXECUTION, "execution: round trip");
	const struct execution *x = b.execution;
	is_str(x->inputs, e.inputs, "its inputs");
	is_str(x->settings, e.settings, "its settings");
	ok(x->stats.median == 3 && x->stats.n == 50 && x->stats.stop == STOP_CONVERGED, "its statistics");
	ok(x->floor_ns == 0 && isnan(x->load_ns), "a time of 0 is not an unknown one");
	ok(x->output_compared && !x->output_finite && x->measured_at == 1700000000, "flags and date");
	wire_free(&b);

	for (int i = 0; i < 2; i++) { /* of a failed one, and of one without a latency */
		e.status = i ? STATUS_OK : STATUS_FAILED;
		e.stats.median = i ? NAN : 3;
		char *line = wire_format(
			&(struct wire_message){ .type = WIRE_EXECUTION, .id = 3, .execution = &e });
		ok(!strstr(line, "\"stats\""), "no statistics are sent");
		free(line);
	}

	struct execution_row r = execution_row_new(), y = execution_row_new();
	int count;
	const struct execution_field *f = execution_row_fields(&count);
	for (int i = 0; i < count; i++) {
		void *at = (char *)&r + f[i].offset;
		if (f[i].type == FIELD_NUMBER)
			*(double *)at = i;
		else if (f[i].type == FIELD_INT)
			*(int *)at = i;
		else if (f[i].type == FIELD_WORD)
			*(int *)at = LEVEL_KERNEL;
		else
			*(const char **)at = f[i].type == FIELD_NAMES ? "a\nb" : f[i].key;
	}
	b = round_trip(&(struct wire_message){ .type = WIRE_ROW, .id = 3, .row = &r }, &good);
	ok(good && b.row, "row: round trip");
	y = good ? *b.row : y;
	for (int i = 0; good && i < count; i++) {
		const void *at = (const char *)&r + f[i].offset, *to = (const char *)&y + f[i].offset;
		bool same = f[i].type == FIELD_NUMBER ? *(const double *)at == *(const double *)to
			    : f[i].type == FIELD_INT || f[i].type == FIELD_WORD
				    ? *(const int *)at == *(const int *)to
				    : !strcmp(*(const char *const *)at, *(const char *const *)to);
		ok(same, "row: %s", f[i].key);
	}
	wire_free(&b);
	r = execution_row_new();
	b = round_trip(&(struct wire_message){ .type = WIRE_ROW, .id = 3, .row = &r }, &good);
	ok(good && b.row->parent == -1 && b.row->stream == -1 && isnan(b.row->ns) && !*b.row->nodes,
		"unknown numbers stay unknown");
	wire_free(&b);
}

#define RUN(model) "{\"type\":\"run\",\"id\":1,\"kind\":\"model\",\"payload\":\"m\",\"model\":" model "}"
#define PART(name) \
	RUN("{\"sha256\":\"" HASH "\",\"bytes\":7,\"external\":[{\"bytes\":1,\"sha256\":\"" HASH \
		"\",\"name\":\"" name "\"}]}")
#define EXECUTION(rest) "{\"type\":\"execution\",\"id\":1,\"execution\":{\"source\":\"agent\"," rest "}}"
#define TRY(rest) RUN("{\"sha256\":\"" HASH "\",\"bytes\":7,\"try\":" rest "}")
#define TRIAL(rest) "{\"type\":\"execution\",\"id\":1,\"execution\":{},\"trial\":" rest "}"
#define BASE "\"base\":{\"n\":1,\"median_ns\":5},"
#define ROW(rest) "{\"type\":\"row\",\"id\":1,\"row\":{\"level\":\"layer\"," rest "}}"

static const struct {
	const char *line, *says;
} bad[] = {
	{ RUN("3"), "\"model\" is not an object" },
	{ RUN("{\"bytes\":7}"), "not a hash" },
	{ RUN("{\"sha256\":\"" HASH "\"}"), "\"bytes\" or \"requests\" is missing" },
	{ RUN("{\"bytes\":7,\"sha256\":\"../" HASH "\"}"), "not a hash" },
	{ RUN("{\"sha256\":\"" HASH "\",\"bytes\":7,\"level\":\"most\"}"), "unknown value \"most\"" },
	{ RUN("{\"sha256\":\"" HASH "\",\"bytes\":7,\"threads\":99999999999}"), "out of range" },
	{ RUN("{\"sha256\":\"" HASH "\",\"bytes\":7,\"inputs\":[{\"shape\":[-1]}]}"), "integer >= 0" },
	{ RUN("{\"sha256\":\"" HASH "\",\"bytes\":7,\"inputs\":[{\"shape\":3}]}"), "not an object with a" },
	{ TRY("3"), "try: is not an object" },
	{ TRY("{}"), "\"move\" is missing" },
	{ TRY("{\"move\":\"m\",\"level\":\"most\"}"), "unknown value \"most\"" },
	{ TRY("{\"move\":\"m\",\"batch\":-1}"), "integer >= 0" },
	{ TRY("{\"move\":\"m\",\"inputs\":[3]}"), "not an object with a" },
	{ TRIAL("3"), "trial: is not an object" },
	{ TRIAL("{\"gain\":1,\"rounds\":1}"), "\"stats\" is missing" },
	{ TRIAL("{" BASE "\"gain\":0,\"rounds\":1}"), "not a number above 0" },
	{ TRIAL("{" BASE "\"rounds\":1}"), "not a number above 0" },
	{ TRIAL("{" BASE "\"gain\":1}"), "not a number above 0" },
	{ TRIAL("{" BASE "\"gain\":-1,\"rounds\":1}"), "not a number >= 0" },
	{ TRIAL("{" BASE "\"gain\":1,\"gain_lo\":1.1,\"rounds\":1}"), "outside its interval" },
	{ TRIAL("{" BASE "\"gain\":1,\"gain_hi\":0.9,\"rounds\":1}"), "outside its interval" },
	{ PART("a/../b"), "not a path below" },
	{ PART("a//b"), "not a path below" },
	{ PART("/b"), "not a path below" },
	{ PART("a/"), "not a path below" },
	{ PART("a/.b"), "not a path below" },
	{ PART("a\\\\b"), "not a path below" },
	{ PART(".."), "not a path below" },
	{ PART(""), "not a path below" },
	{ "{\"type\":\"need\",\"id\":1,\"sha256\":\"" HASH "\",\"bytes\":0}", "must be 1 to 524288" },
	{ "{\"type\":\"need\",\"id\":1,\"sha256\":\"" HASH "\"}", "must be 1 to 524288" },
	{ "{\"type\":\"need\",\"id\":1,\"sha256\":\"" HASH "\",\"bytes\":524289}", "must be 1 to 524288" },
	{ "{\"type\":\"need\",\"id\":1,\"sha256\":\"" HASH "\",\"bytes\":1,\"offset\":-1}", ">= 0" },
	{ "{\"type\":\"need\",\"id\":1,\"sha256\":\"abc\",\"bytes\":1}", "not a hash" },
	{ "{\"type\":\"need\",\"id\":1,\"sha256\":3,\"bytes\":1}", "\"sha256\" is not a string" },
	{ "{\"type\":\"file\",\"id\":1,\"sha256\":\"" HASH "\"}", "not the base64" },
	{ "{\"type\":\"file\",\"id\":1,\"sha256\":\"" HASH "\",\"data\":\"abc\"}", "not the base64" },
	{ "{\"type\":\"file\",\"id\":1,\"sha256\":\"" HASH "\",\"data\":\"ab=c\"}", "not the base64" },
	{ "{\"type\":\"file\",\"id\":1,\"sha256\":\"" HASH "\",\"data\":\"====\"}", "not the base64" },
	{ "{\"type\":\"execution\",\"id\":1}", "not an object" },
	{ EXECUTION("\"status\":\"ok\""), "\"stats\" is missing" },
	{ EXECUTION("\"status\":\"ok\",\"stats\":{}"), "\"median_ns\" is missing" },
	{ EXECUTION("\"status\":\"ok\",\"stats\":{\"n\":1,\"median_ns\":-1}"), "not a number >= 0" },
	{ EXECUTION("\"status\":\"ok\",\"stats\":{\"n\":1,\"median_ns\":1e999}"), "not JSON" },
	{ EXECUTION("\"status\":\"good\""), "unknown value \"good\"" },
	{ EXECUTION("\"why\":\"\""), "\"status\" has the unknown value" },
	{ EXECUTION("\"status\":\"failed\",\"settings\":[]"), "\"settings\" is not an object" },
	{ EXECUTION("\"status\":\"failed\",\"inputs\":[3]"), "\"inputs\" contains a value" },
	{ EXECUTION("\"status\":\"failed\",\"threads\":-2"), "not an integer >= 0" },
	{ ROW("\"ns\":-1"), "\"ns\" is not a number >= 0" },
	{ ROW("\"parent\":-1"), "\"parent\" is not an integer >= 0" },
	{ ROW("\"nodes\":\"a\""), "\"nodes\" is not a list" },
	{ "{\"type\":\"row\",\"id\":1,\"row\":{\"level\":\"floor\"}}", "unknown value \"floor\"" },
	{ "{\"type\":\"row\",\"id\":1,\"row\":{}}", "\"level\" has the unknown value" },
};

static void test_bad(void)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct wire_message m;
		struct error err = ERROR_NONE;
		int got = wire_parse(bad[i].line, strlen(bad[i].line), &m, &err);
		ok(got == -1 && strstr(err.text, bad[i].says) && m.id == (strstr(err.text, "JSON:") ? 0 : 1),
			"refused: %.70s", bad[i].line);
		if (got != -1 || !strstr(err.text, bad[i].says))
			printf("# %s\n", err.text);
		if (got == 0)
			wire_free(&m);
	}
}

static void test_limits(void)
{
	struct error err = ERROR_NONE;
	struct wire_message m;
	struct execution_row r = execution_row_new();
	char *names = malloc(80000);
	memset(names, 'n', 80000);
	names[5000] = '\0';
	r.nodes = names;
	char *line = wire_format(&(struct wire_message){ .type = WIRE_ROW, .id = 1, .row = &r });
	is_int(wire_parse(line, strlen(line), &m, &err), -1, "a name longer than 4096 bytes: %s", err.text);
	free(line);
	for (int i = 0; i < 80000; i += 100)
		names[i] = '\n';
	names[5000] = 'n';
	names[79999] = '\0';
	line = wire_format(&(struct wire_message){ .type = WIRE_ROW, .id = 1, .row = &r });
	is_int(wire_parse(line, strlen(line), &m, &err), -1, "more than 65536 bytes of names: %s", err.text);
	free(line);
	names[60000] = '\0';
	line = wire_format(&(struct wire_message){ .type = WIRE_ROW, .id = 1, .row = &r });
	is_int(wire_parse(line, strlen(line), &m, &err), 0, "less than that");
	free(line);
	free(names);
	wire_free(&m);
	const char *dirty =
		ROW("\"name\":\"a\\u001b[2J\\nb\",\"nodes\":[\"c\\nd\",\"\",\"e\"],\"kernel\":\"k\\nl\"");
	is_int(wire_parse(dirty, strlen(dirty), &m, &err), 0, "control characters: %s", err.text);
	is_str(m.row->name, "a?[2J?b", "are cleaned in a name");
	is_str(m.row->nodes, "c?d\ne", "in a list of names, where an empty name is dropped");
	is_str(m.row->kernel, "k?l", "and in the name of a kernel");
	wire_free(&m);
}

static void test_faults(void)
{
	struct execution e = sample_execution();
	ok(!execution_fault(&e), "a sound execution: %s", execution_fault(&e));
	const struct {
		double *at, value;
		const char *says;
	} bends[] = { { &e.stats.median, 0, "zero" }, { &e.stats.q1, 100, "order" },
		{ &e.p90_ns, 7, "order" }, { &e.p99_ns, 2, "order" }, { &e.stats.lo, 4, "interval" },
		{ &e.load_ns, 1e16, "11 days" }, { &e.items_per_s, 1e19, "1e18" },
		{ &e.memory_bytes, INFINITY, "infinite" } };
	for (size_t i = 0; i < sizeof(bends) / sizeof(bends[0]); i++) {
		double before = *bends[i].at;
		*bends[i].at = bends[i].value;
		const char *fault = execution_fault(&e);
		ok(fault && strstr(fault, bends[i].says), "a fault: %s", fault ? fault : "none");
		*bends[i].at = before;
	}
	e.measured_at = INT64_MAX;
	ok(execution_fault(&e) != NULL, "a date out of range");
	e = execution_new();
	e.status = STATUS_FAILED;
	ok(!execution_fault(&e), "a failure");
	e.stats.median = 3;
	ok(execution_fault(&e) != NULL, "with a time");
	struct execution_row r = execution_row_new();
	ok(!execution_row_fault(&r, 0), "a row without numbers");
	r.parent = 3;
	ok(execution_row_fault(&r, 3) && !execution_row_fault(&r, 4), "a parent must be a row before it");
	r.occupancy = 1.5;
	ok(execution_row_fault(&r, 4) != NULL, "an occupancy above 1");
	r.occupancy = NAN;
	r.ns = 2e15;
	ok(execution_row_fault(&r, 4) != NULL, "a time of 23 days");
	r.ns = 5;
	r.lo_ns = 6;
	ok(execution_row_fault(&r, 4) != NULL, "a median outside its interval");
}

int main(void)
{
	test_request();
	test_trial();
	test_request_defaults();
	test_files();
	test_every_field();
	test_bad();
	test_limits();
	test_faults();
	return done_testing();
}
