/* Messages as a table of types, each with a function that writes its keys and one that reads them. */
#include "config.h"

#include "wire/wire_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIRE_LINES_KEY "kernels" /* the only text that may contain newlines */

/* A message type: the functions that write and read the keys besides "type" and "id". */
struct wire_row {
	const char *name;
	int (*format)(const struct wire_message *m, json_t *o);
	int (*parse)(const json_t *o, struct wire_message *m, struct error *err);
};

/* --- algorithm, result --- */

static json_t *wire_algorithm_to_json(const struct algorithm *g)
{
	json_t *o = json_object();
	wire_set_text(o, "api", g->api);
	wire_set_text(o, "name", g->name);
	wire_set_text(o, "layouts", g->layouts);
	wire_set_text(o, "math", g->math);
	json_object_set_new(o, "rank", json_integer(g->rank));
	json_object_set_new(o, "matrix", json_string(matrix_name(g->matrix)));
	json_object_set_new(o, "workspace_bytes", json_number_or_null(g->workspace_bytes));
	wire_set_text(o, "notes", g->notes);
	return o;
}

static int algorithm_from_json(const json_t *o, struct algorithm *g, struct error *err)
{
	int matrix;
	int64_t rank;
	*g = (struct algorithm){ .api = "", .name = "", .layouts = "", .math = "", .workspace_bytes = NAN,
		.notes = "" };
	if (!o)
		return 0;
	if (!json_is_object(o))
		return error_set(err, "\"algorithm\" is not an object");
	if (wire_get_text(o, "api", &g->api, err) || wire_get_text(o, "name", &g->name, err) ||
		wire_get_text(o, "layouts", &g->layouts, err) || wire_get_text(o, "math", &g->math, err) ||
		wire_get_text(o, "notes", &g->notes, err) ||
		wire_get_count(o, "rank", 0, &rank, err) ||
		wire_get_word(o, "matrix", matrix_parse, MATRIX_UNKNOWN, &matrix, err) ||
		wire_get_amount(o, "workspace_bytes", &g->workspace_bytes, err))
		return error_context(err, "algorithm");
	if (rank > INT32_MAX)
		return error_set(err, "algorithm: \"rank\" is out of range");
	g->rank = (int)rank;
	g->matrix = (enum matrix)matrix;
	return 0;
}

/* A JSON string of the cleaned text, with its newlines. */
static json_t *lines_text(const char *s)
{
	struct text t = text_of(s);
	char *out = base_malloc(t.n + 1);
	json_t *lines = json_stringn(out, text_clean_lines_to(out, t));
	free(out);
	return lines;
}

/* For enqueue_ns and clock_mhz: 0 means that the field was not set. */
static json_t *amount_or_null(double x)
{
	return json_number_or_null(x > 0 ? x : NAN);
}

json_t *wire_result_to_json(const struct result *r)
{
	json_t *o = json_object();
	wire_set_text(o, "problem", r->problem);
	json_object_set_new(o, "algorithm", wire_algorithm_to_json(&r->algorithm));
	json_object_set_new(o, "status", json_string(status_name(r->status)));
	json_object_set_new(o, "cache", json_string(cache_name(r->cache)));
	json_object_set_new(o, "launch", json_string(launch_name(r->launch)));
	if (r->status == STATUS_OK)
		json_object_set_new(o, "stats", wire_stats_to_json(&r->stats));
	wire_set_text(o, "why", r->why);
	json_object_set_new(o, "kernels", lines_text(r->kernels));
	json_object_set_new(o, "enqueue_ns", amount_or_null(r->enqueue_ns));
	json_object_set_new(o, "clock_mhz", amount_or_null(r->clock_mhz));
	json_object_set_new(o, "measured_at", json_integer(r->measured_at));
	wire_set_text(o, "runner_version", r->runner_version);
	if (r->sketch && *r->sketch)
		wire_set_text(o, "sketch", r->sketch);
	if (r->rotated_bytes > 0)
		json_object_set_new(o, "rotated_bytes", json_number_or_null(r->rotated_bytes));
	return o;
}

/* The strings of the result are owned by the object. */
static int wire_result_from_json(const json_t *o, struct result *r, struct error *err)
{
	int status, cache, launch;
	*r = (struct result){ .stats = wire_stats_unknown(), .enqueue_ns = NAN, .clock_mhz = NAN };
	if (!json_is_object(o))
		return error_set(err, "\"result\" is not an object");
	if (wire_get_text(o, "problem", &r->problem, err) ||
		algorithm_from_json(json_object_get(o, "algorithm"), &r->algorithm, err) ||
		wire_get_word(o, "status", status_parse, -1, &status, err) ||
		wire_get_word(o, "cache", cache_parse, CACHE_NET, &cache, err) ||
		wire_get_word(o, "launch", launch_parse, LAUNCH_AMORTIZED, &launch, err) ||
		wire_get_text(o, "why", &r->why, err) ||
		wire_get_long_text(o, "kernels", WIRE_LONG_MAX, &r->kernels, err) ||
		wire_get_amount(o, "enqueue_ns", &r->enqueue_ns, err) ||
		wire_get_amount(o, "clock_mhz", &r->clock_mhz, err) ||
		wire_get_count(o, "measured_at", 0, &r->measured_at, err) ||
		wire_get_text(o, "runner_version", &r->runner_version, err) ||
		wire_get_long_text(o, "sketch", WIRE_LONG_MAX, &r->sketch, err) ||
		wire_get_amount(o, "rotated_bytes", &r->rotated_bytes, err))
		return error_context(err, "result");
	if (!*r->problem || strlen(r->problem) >= PROBLEM_TEXT_SIZE)
		return error_set(err, "result: \"problem\" is missing or too long");
	r->status = (enum status)status;
	r->cache = (enum cache)cache;
	r->launch = (enum launch)launch;
	if (r->status != STATUS_OK)
		return 0;
	if (!*r->algorithm.name)
		return error_set(err, "result: the status is ok, but the algorithm has no name");
	if (wire_stats_from_json(json_object_get(o, "stats"), &r->stats, err))
		return error_context(err, "result");
	return 0;
}

/* --- messages --- */

bool wire_is_problem(const struct wire_message *m)
{
	return !m->kind || !*m->kind || strcmp(m->kind, JOB_PROBLEM) == 0;
}

bool wire_is_repeat(const struct wire_message *m)
{
	return m->kind && strcmp(m->kind, JOB_REPEAT) == 0;
}

/* Written only where it is not a problem: older programs expect none. */
static void kind_format(const struct wire_message *m, json_t *o)
{
	if (!wire_is_problem(m))
		wire_set_text(o, "kind", m->kind);
}

static int kind_parse(const json_t *o, struct wire_message *m, struct error *err)
{
	if (wire_get_text(o, "kind", &m->kind, err))
		return -1;
	if (!*m->kind)
		m->kind = JOB_PROBLEM;
	return job_kind_is_valid(m->kind)
		       ? 0
		       : error_set(err, "\"kind\" is not the name of a kind of jobs: \"%.60s\"", m->kind);
}

static int payload_parse(const json_t *o, struct wire_message *m, struct error *err)
{
	if (wire_get_text(o, "payload", &m->payload, err))
		return -1;
	if (!*m->payload || strlen(m->payload) >= PROBLEM_TEXT_SIZE)
		return error_set(
			err, "the job's kind is \"%s\", but its \"payload\" is missing or too long", m->kind);
	return 0;
}

static int nothing_format(const struct wire_message *m, json_t *o)
{
	(void)m;
	(void)o;
	return 0;
}

static int nothing_parse(const json_t *o, struct wire_message *m, struct error *err)
{
	(void)o;
	(void)m;
	(void)err;
	return 0;
}

static int problem_only_format(const struct wire_message *m, json_t *o)
{
	return wire_set_text(o, "problem", m->problem);
}

static int problem_only_parse(const json_t *o, struct wire_message *m, struct error *err)
{
	if (wire_get_text(o, "problem", &m->problem, err))
		return -1;
	if (!*m->problem || strlen(m->problem) >= PROBLEM_TEXT_SIZE)
		return error_set(err, "\"problem\" is missing or too long");
	return 0;
}

/* What a job asks for: the algorithms that heuristics return, or all. */
static const char *const algorithms_words[] = { "heuristics", "all" };

static int algorithms_parse(const char *word)
{
	for (int i = 0; i < 2; i++)
		if (strcmp(word, algorithms_words[i]) == 0)
			return i;
	return -1;
}

static json_t *words_to_json(const bool *set, int count, const char *(*name)(int))
{
	json_t *list = json_array();
	for (int i = 0; i < count; i++)
		if (set[i])
			json_array_append_new(list, json_string(name(i)));
	return list;
}

/* Reads a list of enum names into flags. If the list is absent, `set` keeps its defaults. */
static int words_from_json(const json_t *o, const char *key, int (*parse)(const char *), bool *set, int count,
	struct error *err)
{
	const json_t *list = json_object_get(o, key), *v;
	size_t i;
	if (!list)
		return 0;
	if (!json_is_array(list))
		return error_set(err, "\"%s\" is not a list", key);
	memset(set, 0, (size_t)count * sizeof(*set));
	json_array_foreach(list, i, v) {
		int word = json_is_string(v) ? parse(json_string_value(v)) : -1;
		if (word < 0 || word >= count)
			return error_set(err, "\"%s\" contains an unknown value", key);
		set[word] = true;
	}
	return json_array_size(list) ? 0 : error_set(err, "\"%s\" is empty", key);
}

static const char *cache_word(int i)
{
	return cache_name((enum cache)i);
}

static const char *launch_word(int i)
{
	return launch_name((enum launch)i);
}

/* Written only where all are asked for: that is what older programs expect. */
static void all_format(const struct wire_message *m, json_t *o)
{
	if (m->all)
		json_object_set_new(o, "algorithms", json_string(algorithms_words[1]));
}

static int all_parse(const json_t *o, struct wire_message *m, struct error *err)
{
	int all;
	if (wire_get_word(o, "algorithms", algorithms_parse, 0, &all, err))
		return -1;
	m->all = all;
	return 0;
}

static void next_format(const struct wire_message *m, json_t *o)
{
	json_t *list = m->next_count ? json_array() : NULL;
	for (int i = 0; i < m->next_count; i++)
		json_array_append_new(list, json_string(m->next[i]));
	if (list)
		json_object_set_new(o, "next", list);
}

/* Reads the problems that may follow. What is not a problem's text is found out when it is prepared. */
static int next_parse(const json_t *o, struct wire_message *m, struct error *err)
{
	const json_t *list = json_object_get(o, "next"), *v;
	size_t i;
	if (!list)
		return 0;
	if (!json_is_array(list))
		return error_set(err, "\"next\" is not a list");
	const char **next = ARENA_ARRAY(&m->arena, const char *, WIRE_NEXT_MAX);
	json_array_foreach(list, i, v) {
		if (!json_is_string(v) || json_string_length(v) >= PROBLEM_TEXT_SIZE)
			return error_set(err, "\"next\" contains something that is not a problem");
		if (m->next_count < WIRE_NEXT_MAX)
			next[m->next_count++] = json_string_value(v);
	}
	m->next = next;
	return 0;
}

static int algorithm_format(const struct wire_message *m, json_t *o)
{
	return json_object_set_new(o, "algorithm", wire_algorithm_to_json(&m->algorithm));
}

static int algorithm_parse(const json_t *o, struct wire_message *m, struct error *err)
{
	const json_t *g = json_object_get(o, "algorithm");
	if (!g)
		return error_set(err, "\"algorithm\" is missing");
	return algorithm_from_json(g, &m->algorithm, err);
}

static int run_format(const struct wire_message *m, json_t *o)
{
	bool is_problem = wire_is_problem(m);
	kind_format(m, o);
	wire_set_text(o, is_problem ? "problem" : "payload", is_problem ? m->problem : m->payload);
	json_object_set_new(o, "budget_ms", json_integer(m->budget_ms));
	if (m->model)
		wire_model_format(m->model, o);
	json_object_set_new(o, "caches", words_to_json(m->caches, CACHE_COUNT, cache_word));
	json_object_set_new(o, "launches", words_to_json(m->launches, LAUNCH_COUNT, launch_word));
	if (wire_is_repeat(m))
		algorithm_format(m, o);
	next_format(m, o);
	all_format(m, o);
	return m->samples ? json_object_set_new(o, "samples", json_true()) : 0;
}

static int run_parse(const json_t *o, struct wire_message *m, struct error *err)
{
	m->caches[CACHE_NET] = m->caches[CACHE_WARM] = true;
	m->launches[LAUNCH_AMORTIZED] = m->launches[LAUNCH_ISOLATED] = true;
	if (kind_parse(o, m, err) ||
		(wire_is_problem(m) ? problem_only_parse(o, m, err) : payload_parse(o, m, err)) ||
		wire_get_count(o, "budget_ms", WIRE_BUDGET_MS, &m->budget_ms, err) ||
		words_from_json(o, "caches", cache_parse, m->caches, CACHE_COUNT, err) ||
		words_from_json(o, "launches", launch_parse, m->launches, LAUNCH_COUNT, err) ||
		all_parse(o, m, err) || next_parse(o, m, err))
		return -1;
	if (m->budget_ms < 1 || m->budget_ms > WIRE_BUDGET_MS_MAX)
		return error_set(err, "\"budget_ms\" must be 1 to %d", WIRE_BUDGET_MS_MAX);
	m->samples = json_is_true(json_object_get(o, "samples"));
	return wire_is_repeat(m) ? algorithm_parse(o, m, err) :
		strcmp(m->kind, JOB_MODEL) == 0 ? wire_model_parse(o, m, err) : 0;
}

static int algorithms_format(const struct wire_message *m, json_t *o)
{
	all_format(m, o);
	return problem_only_format(m, o);
}

static int algorithms_request_parse(const json_t *o, struct wire_message *m, struct error *err)
{
	return problem_only_parse(o, m, err) || all_parse(o, m, err) ? -1 : 0;
}

static int result_format(const struct wire_message *m, json_t *o)
{
	if (m->sample_count > 0) {
		json_t *list = json_array();
		for (int64_t i = 0; i < m->sample_count; i++)
			json_array_append_new(list, json_number_or_null(m->sample_ns[i]));
		json_object_set_new(o, "sample_ns", list);
	}
	kind_format(m, o);
	return json_object_set_new(o, "result", wire_result_to_json(&m->result));
}

static int result_parse(const json_t *o, struct wire_message *m, struct error *err)
{
	return kind_parse(o, m, err) ? -1
				     : wire_result_from_json(json_object_get(o, "result"), &m->result, err);
}

/* Adds the list of the names that are set, unless it is empty. */
static void words_format(json_t *o, const char *key, const bool *set, int count, const char *(*name)(int))
{
	json_t *list = words_to_json(set, count, name);
	if (json_array_size(list))
		json_object_set(o, key, list);
	json_decref(list);
}

static int done_format(const struct wire_message *m, json_t *o)
{
	json_object_set_new(o, "status", json_string(status_name(m->status)));
	wire_set_text(o, "why", m->what);
	if (m->leaves)
		json_object_set_new(o, "leaves", json_true());
	if (m->retry)
		json_object_set_new(o, "retry", json_true());
	if (!wire_is_problem(m)) {
		kind_format(m, o);
		return wire_set_text(o, "payload", m->payload);
	}
	if (m->left_out > 0)
		json_object_set_new(o, "left_out", json_integer(m->left_out));
	if (!m->problem || !*m->problem)
		return 0;
	all_format(m, o);
	words_format(o, "caches", m->caches, CACHE_COUNT, cache_word);
	words_format(o, "launches", m->launches, LAUNCH_COUNT, launch_word);
	return wire_set_text(o, "problem", m->problem);
}

static int done_parse(const json_t *o, struct wire_message *m, struct error *err)
{
	int status;
	if (wire_get_word(o, "status", status_parse, -1, &status, err) ||
		wire_get_text(o, "why", &m->what, err) || kind_parse(o, m, err) ||
		wire_get_text(o, "problem", &m->problem, err) ||
		wire_get_text(o, "payload", &m->payload, err) ||
		words_from_json(o, "caches", cache_parse, m->caches, CACHE_COUNT, err) ||
		words_from_json(o, "launches", launch_parse, m->launches, LAUNCH_COUNT, err) ||
		all_parse(o, m, err) || wire_get_count(o, "left_out", 0, &m->left_out, err))
		return -1;
	m->leaves = json_is_true(json_object_get(o, "leaves"));
	m->retry = json_is_true(json_object_get(o, "retry"));
	m->status = (enum status)status;
	return 0;
}

static int check_format(const struct wire_message *m, json_t *o)
{
	wire_set_text(o, "problem", m->problem);
	json_object_set_new(o, "algorithm", wire_algorithm_to_json(&m->algorithm));
	json_object_set_new(o, "status", json_string(status_name(m->status)));
	json_object_set_new(o, "worst", json_number_or_null(m->worst));
	json_object_set_new(o, "allowed", json_number_or_null(m->allowed));
	return wire_set_text(o, "why", m->what);
}

static int check_parse(const json_t *o, struct wire_message *m, struct error *err)
{
	int status;
	if (problem_only_parse(o, m, err) || algorithm_parse(o, m, err) ||
		wire_get_word(o, "status", status_parse, -1, &status, err) ||
		wire_get_amount(o, "worst", &m->worst, err) ||
		wire_get_amount(o, "allowed", &m->allowed, err) || wire_get_text(o, "why", &m->what, err))
		return -1;
	m->status = (enum status)status;
	return 0;
}

static int what_format(const struct wire_message *m, json_t *o)
{
	return wire_set_text(o, "what", m->what);
}

static int what_parse(const json_t *o, struct wire_message *m, struct error *err)
{
	return wire_get_text(o, "what", &m->what, err);
}

static const struct wire_row rows[WIRE_TYPE_COUNT] = {
	[WIRE_RUN] = { "run", run_format, run_parse },
	[WIRE_ALGORITHMS] = { "algorithms", algorithms_format, algorithms_request_parse },
	[WIRE_CANCEL] = { "cancel", nothing_format, nothing_parse },
	[WIRE_QUIT] = { "quit", nothing_format, nothing_parse },
	[WIRE_ALGORITHM] = { "algorithm", algorithm_format, algorithm_parse },
	[WIRE_RESULT] = { "result", result_format, result_parse },
	[WIRE_DONE] = { "done", done_format, done_parse },
	[WIRE_CHECK] = { "check", check_format, check_parse },
	[WIRE_HEARTBEAT] = { "heartbeat", what_format, what_parse },
	[WIRE_LOG] = { "log", what_format, what_parse },
	[WIRE_NEED] = { "need", wire_need_format, wire_need_parse },
	[WIRE_FILE] = { "file", wire_file_format, wire_file_parse },
	[WIRE_EXECUTION] = { "execution", wire_execution_format, wire_execution_parse },
	[WIRE_ROW] = { "row", wire_row_format, wire_row_parse },
};

char *wire_format(const struct wire_message *m)
{
	json_t *o = json_object();
	json_object_set_new(o, "type", json_string(rows[m->type].name));
	json_object_set_new(o, "id", json_integer(m->id));
	rows[m->type].format(m, o);
	return wire_line(o);
}

static int message_from_json(const json_t *o, struct wire_message *m, struct error *err)
{
	const char *name;
	if (!json_is_object(o))
		return error_set(err, "the line is not a JSON object");
	if (wire_get_text(o, "type", &name, err) || wire_get_count(o, "id", 0, &m->id, err))
		return -1;
	int type = 0;
	while (type < WIRE_TYPE_COUNT && strcmp(rows[type].name, name) != 0)
		type++;
	if (type == WIRE_TYPE_COUNT)
		return error_set(err, "unknown message type \"%.60s\"", name);
	m->type = (enum wire_type)type;
	return rows[type].parse(o, m, err) ? error_context(err, "%s", name) : 0;
}

int wire_parse(const char *line, size_t n, struct wire_message *m, struct error *err)
{
	json_error_t where;
	*m = (struct wire_message){ .kind = JOB_PROBLEM,
		.payload = "",
		.problem = "",
		.what = "",
		.sha256 = "",
		.result = { .stats = wire_stats_unknown() } };
	m->result.problem = m->result.why = m->result.kernels = m->result.runner_version = "";
	m->result.enqueue_ns = m->result.clock_mhz = NAN;
	if (n > WIRE_LINE_MAX)
		return error_set(err, "the line has %zu bytes, more than %d", n, WIRE_LINE_MAX);
	m->json = json_load_clean((struct text){ line, n }, WIRE_LINES_KEY, &where);
	if (!m->json)
		return error_set(err, "not JSON: %s", where.text);
	if (message_from_json(m->json, m, err) == 0)
		return 0;
	int64_t id = m->id;
	wire_free(m);
	m->id = id;
	return -1;
}

void wire_free(struct wire_message *m)
{
	json_decref(m->json);
	arena_free(&m->arena);
	*m = (struct wire_message){ .kind = JOB_PROBLEM, .payload = "", .problem = "", .what = "" };
}
