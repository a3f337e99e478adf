/* Rows with a name, a unit and a function each. */
#include "config.h"

#include "problem/execution_figure.h"

#include <math.h>
#include <string.h>

#include "base/json.h"

#define OPTIONS_SHOWN 8
#define AT(field) offsetof(struct execution, field)

static double samples_of(const struct execution *e)
{
	return e->stats.n > 0 ? (double)e->stats.n : NAN;
}

static double p10_of(const struct execution *e)
{
	return e->stats.p10 > 0 ? e->stats.p10 : NAN;
}

/* Without a 10th percentile the median is the latency itself. */
static double median_of(const struct execution *e)
{
	return e->stats.p10 > 0 ? e->stats.median : NAN;
}

static double requests_of(const struct execution *e)
{
	return e->requests > 0 ? e->requests : NAN;
}

static const struct execution_figure rows[] = {
	{ "import_ns", "import", FIGURE_START, FIGURE_NS, 0, NULL },
	{ "load_ns", "load", FIGURE_START, FIGURE_NS, AT(load_ns), NULL },
	{ "first_ns", "first run", FIGURE_START, FIGURE_NS, AT(first_ns), NULL },
	{ "memory_bytes", "peak memory", FIGURE_START, FIGURE_BYTES, AT(memory_bytes), NULL },
	{ "temp_bytes", "most temporaries of a layer", FIGURE_START, FIGURE_BYTES, 0, NULL },
	{ "huge_bytes", "huge pages", FIGURE_START, FIGURE_BYTES, 0, NULL },
	{ "samples", "samples", FIGURE_RUNS, FIGURE_COUNT, 0, samples_of },
	{ "p10_ns", "p10", FIGURE_RUNS, FIGURE_NS, 0, p10_of },
	{ "median_ns", "median", FIGURE_RUNS, FIGURE_NS, 0, median_of },
	{ "p90_ns", "p90", FIGURE_RUNS, FIGURE_NS, AT(p90_ns), NULL },
	{ "p99_ns", "p99", FIGURE_RUNS, FIGURE_NS, AT(p99_ns), NULL },
	{ "items_per_s", "items/s", FIGURE_RUNS, FIGURE_RATE, AT(items_per_s), NULL },
	{ "floor_ns", "empty model", FIGURE_RUNS, FIGURE_NS, AT(floor_ns), NULL },
	{ "node_ns", "tiny node", FIGURE_RUNS, FIGURE_NS, 0, NULL },
	{ "copy_in_ns", "copy in", FIGURE_RUNS, FIGURE_NS, AT(copy_in_ns), NULL },
	{ "copy_out_ns", "copy out", FIGURE_RUNS, FIGURE_NS, AT(copy_out_ns), NULL },
	{ "profiled_ns", "profiled run", FIGURE_RUNS, FIGURE_NS, AT(profiled_ns), NULL },
	{ "output_error", "error of outputs", FIGURE_RUNS, FIGURE_SHARE, AT(output_error), NULL },
	{ "requests", "requests at a time", FIGURE_SETUP, FIGURE_COUNT, 0, requests_of },
};
#define ROWS ((int)(sizeof(rows) / sizeof(rows[0])))

const char *figure_line_name(enum figure_line line)
{
	static const char *const names[FIGURE_LINES] = { "start", "runs", "settings" };
	return names[line];
}

const struct execution_figure *execution_figures(int *count)
{
	*count = ROWS;
	return rows;
}

static json_t *settings_of(const struct execution *e)
{
	json_t *settings = *e->settings ? json_loads(e->settings, 0, NULL) : NULL;
	return json_is_object(settings) ? settings : (json_decref(settings), json_object());
}

double execution_figure_value(const struct execution *e, const struct execution_figure *f)
{
	if (f->get)
		return f->get(e);
	if (f->offset)
		return *(const double *)(const void *)((const char *)e + f->offset);
	json_t *settings = settings_of(e);
	double value = json_number_or_nan(json_object_get(settings, f->key));
	json_decref(settings);
	return value >= 0 ? value : NAN;
}

const char *execution_figure_text(struct arena *a, const struct execution_figure *f, double value)
{
	char text[STR_QUANTITY];
	switch (f->unit) {
	case FIGURE_NS: return arena_printf(a, "%s", str_duration(text, value));
	case FIGURE_BYTES: return arena_printf(a, "%s", str_bytes(text, value));
	case FIGURE_COUNT:
	case FIGURE_RATE: return arena_printf(a, "%s", str_count(text, value));
	case FIGURE_SHARE: return isnan(value) ? "-" : arena_printf(a, "%.1e", value);
	}
	return "-";
}

/* Adds the settings that differ from what agents request by themselves. */
static void settings_add(struct str *out, const struct execution *e)
{
	json_t *settings = settings_of(e), *value;
	const char *level = json_string_at(settings, "level", "all"), *key;
	if (strcmp(level, "all") != 0)
		str_addf(out, "%sgraph optimizations %.40s", out->n ? ", " : "", level);
	if (json_is_false(json_object_get(settings, "spinning")))
		str_addf(out, "%sthreads do not spin", out->n ? ", " : "");
	int count = 0;
	json_object_foreach(json_object_get(settings, "options"), key, value)
		if (json_is_string(value) && ++count <= OPTIONS_SHOWN)
			str_addf(out, "%s%.80s=%.80s", out->n ? ", " : "", key, json_string_value(value));
	if (count > OPTIONS_SHOWN)
		str_addf(out, ", %d options more", count - OPTIONS_SHOWN);
	json_decref(settings);
}

const char *execution_figures_line(struct arena *a, const struct execution *e, enum figure_line line)
{
	struct str out = { 0 };
	for (int i = 0; i < ROWS; i++) {
		const struct execution_figure *f = &rows[i];
		double value = f->line == line ? execution_figure_value(e, f) : NAN;
		bool counts = f->unit == FIGURE_COUNT || f->unit == FIGURE_RATE;
		if (isnan(value) || (line == FIGURE_SETUP && value == 1))
			continue;
		const char *number = execution_figure_text(a, f, value);
		str_addf(&out, "%s%s %s", out.n ? ", " : "", counts ? number : f->label,
			counts ? f->label : number);
	}
	if (line == FIGURE_SETUP)
		settings_add(&out, e);
	const char *kept = out.n ? text_clean(a, text_of(out.p)) : "";
	str_free(&out);
	return kept;
}
