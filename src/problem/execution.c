/* Memory of executions: texts and rows are copied into one arena, and moved with it. */
#include "config.h"

#include "problem/execution.h"

#include "base/json.h"
#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const level_names[] = {
#define LEVEL_NAME(id, name) [LEVEL_##id] = name,
	EXECUTION_LEVEL_LIST(LEVEL_NAME)
#undef LEVEL_NAME
};

const char *execution_level_name(enum execution_level level)
{
	return level_names[level];
}

int execution_level_parse(const char *name)
{
	for (int i = 0; i < LEVEL_COUNT; i++)
		if (!strcmp(level_names[i], name))
			return i;
	return -1;
}

struct execution_row execution_row_new(void)
{
	return (struct execution_row){ .parent = -1, .name = "", .op = "", .provider = "", .kernel = "",
		.nodes = "", .inputs = "", .outputs = "", .shapes = "", .dtype = "", .ns = NAN, .lo_ns = NAN,
		.hi_ns = NAN, .calls = NAN, .start_ns = NAN, .output_bytes = NAN, .flops = NAN,
		.read_bytes = NAN, .write_bytes = NAN, .occupancy = NAN, .stream = -1 };
}

struct execution execution_new(void)
{
	return (struct execution){ .source = "", .framework = "", .version = "", .provider = "", .device = "",
		.host = "", .dtype = "", .math = "", .settings = "", .model = "", .model_hash = "",
		.inputs = "", .status = STATUS_OK, .why = "", .gaps = "",
		.stats = { .min = NAN, .q1 = NAN, .median = NAN, .q3 = NAN, .mean = NAN, .stdev = NAN,
			.lo = NAN, .hi = NAN, .p10 = NAN, .p10_lo = NAN, .p10_hi = NAN, .spent = NAN },
		.p90_ns = NAN, .p99_ns = NAN, .items_per_s = NAN, .load_ns = NAN, .first_ns = NAN,
		.copy_in_ns = NAN, .copy_out_ns = NAN, .floor_ns = NAN, .profiled_ns = NAN,
		.outside_ns = NAN, .outside_lo_ns = NAN, .outside_hi_ns = NAN, .profiler_row_ns = NAN,
		.profiler_inside_ns = NAN, .memory_bytes = NAN, .output_error = NAN };
}

static void copy_texts(struct arena *a, const char **texts[], int count)
{
	for (int i = 0; i < count; i++)
		*texts[i] = *texts[i] && **texts[i] ? arena_strndup(a, *texts[i], strlen(*texts[i])) : "";
}

struct execution_row execution_row_copy(struct arena *a, const struct execution_row *r)
{
	struct execution_row to = *r;
	const char **texts[] = { &to.name, &to.op, &to.provider, &to.kernel, &to.nodes, &to.inputs,
		&to.outputs, &to.shapes, &to.dtype };
	copy_texts(a, texts, sizeof(texts) / sizeof(texts[0]));
	return to;
}

struct execution execution_copy(struct arena *a, const struct execution *e)
{
	struct execution to = *e;
	const char **texts[] = { &to.source, &to.framework, &to.version, &to.provider, &to.device, &to.host,
		&to.dtype, &to.math, &to.settings, &to.model, &to.model_hash, &to.inputs, &to.why, &to.gaps };
	copy_texts(a, texts, sizeof(texts) / sizeof(texts[0]));
	to.rows = ARENA_ARRAY(a, struct execution_row, e->row_count ? e->row_count : 1);
	for (int i = 0; i < e->row_count; i++)
		to.rows[i] = execution_row_copy(a, &e->rows[i]);
	return to;
}

struct execution_row *execution_add(struct arena *a, struct execution *e, int *capacity)
{
	if (e->row_count == *capacity) {
		int larger = *capacity ? 2 * *capacity : 64;
		struct execution_row *rows = ARENA_ARRAY(a, struct execution_row, larger);
		if (e->row_count)
			memcpy(rows, e->rows, sizeof(*rows) * (size_t)e->row_count);
		e->rows = rows;
		*capacity = larger;
	}
	e->rows[e->row_count] = execution_row_new();
	return &e->rows[e->row_count++];
}

static bool is_measured(const char *key)
{
	static const char *const units[] = { "_ns", "_us", "_ms", "_s", "_bytes" };
	size_t n = strlen(key);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (n > strlen(units[i]) && !strcmp(key + n - strlen(units[i]), units[i]))
			return true;
	return !strcmp(key, "reference");
}

const char *execution_setup(struct arena *a, const struct execution *e)
{
	json_t *all = *e->settings ? json_loads(e->settings, 0, NULL) : NULL, *kept = json_object(), *value;
	const char *key;
	json_object_foreach(all, key, value)
		if (!is_measured(key))
			json_object_set(kept, key, value);
	char *settings = json_dumps(kept, JSON_COMPACT | JSON_SORT_KEYS);
	const char *setup = arena_printf(a, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t%lld\t%d", e->framework,
		e->version, e->provider, e->device, e->threads, e->dtype, e->math, settings, e->inputs,
		(long long)e->batch, e->requests > 1 ? e->requests : 1);
	free(settings);
	json_decref(kept);
	json_decref(all);
	return setup;
}

const char *execution_move(struct arena *a, const struct execution *e)
{
	json_t *all = *e->settings ? json_loads(e->settings, 0, NULL) : NULL;
	const json_t *request = json_object_get(all, "request"), *trial = json_object_get(all, "try");
	const char *move = json_string_at(request, "try", json_string_at(trial, "move", ""));
	const char *kept = *move ? text_clean(a, text_of(move)) : "";
	json_decref(all);
	return kept;
}

double execution_corrected_ns(const struct execution *e, const struct execution_row *r, double ns)
{
	double calls = isnan(r->calls) ? 1 : r->calls;
	double inside = isnan(e->profiler_inside_ns) ? 0 : e->profiler_inside_ns * calls;
	return isnan(ns) ? NAN : fmax(ns - inside, ns / 2);
}
