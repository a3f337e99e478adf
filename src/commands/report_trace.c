/* An execution and the bound's schedule as a trace of events, for chrome://tracing and Perfetto. */
#include "config.h"

#include "commands/compare.h"

#include <math.h>
#include <string.h>

/* The trace event format: objects with ph "X" (complete events), times in microseconds. */

int trace_open(struct trace *t, const char *path, const struct output_rules *rules, struct error *err)
{
	struct output *file = output_open(path, rules, err);
	if (!file)
		return error_context(err, "--trace %s", path);
	*t = (struct trace){ .file = file, .out = output_stream(file), .path = path };
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", t->out);
	return 0;
}

int trace_close(struct trace *t, struct error *err)
{
	fputs("\n]}\n", t->out);
	return output_close(t->file, err) ? error_context(err, "--trace %s", t->path) : 0;
}

static void event(struct trace *t, json_t *o)
{
	fputs(t->any ? ",\n" : "\n", t->out);
	t->any = true;
	json_dumpf(o, t->out, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(o);
}

static void name_process(struct trace *t, const char *name)
{
	event(t, json_pack("{s:s, s:s, s:i, s:i, s:{s:o}}", "name", "process_name", "ph", "M", "pid",
		++t->processes, "tid", 0, "args", "name", json_text(text_of(name))));
}

static void span(struct trace *t, int tid, struct text name, const char *category, double start_ns, double ns,
	json_t *args)
{
	event(t,
		json_pack("{s:o, s:s, s:s, s:i, s:i, s:o, s:o, s:o}", "name", json_text(name), "cat",
			category, "ph", "X", "pid", t->processes, "tid", tid, "ts",
			json_number_or_null(start_ns / 1e3), "dur", json_number_or_null(ns / 1e3), "args",
			args));
}

/* Returns the thread of a row: 1 for layers without a stream; each other level and stream has its own. */
static int row_thread(const struct execution_row *r)
{
	return 1 + (int)r->level * 1000 + (r->stream > 0 ? r->stream % 1000 : 0);
}

/* Places rows at their start time; without one, after the row before; an inner row at its parent's start. */
static void rows_add(struct trace *t, const struct comparison *c, double *start)
{
	const struct execution *e = c->execution;
	double end[LEVEL_COUNT] = { 0 };
	for (int i = 0; i < e->row_count; i++) {
		const struct execution_row *r = &e->rows[i];
		const struct match_row *m = &c->match->rows[i];
		if (isnan(r->ns))
			continue;
		bool inner = r->parent >= 0 && r->parent < i && !isnan(start[r->parent]);
		start[i] = !isnan(r->start_ns) ? r->start_ns : inner ? fmax(start[r->parent], end[r->level])
								      : end[r->level];
		end[r->level] = start[i] + r->ns;
		json_t *args = json_pack("{s:s, s:o, s:o, s:o}", "match", match_how_name(m->how), "op",
			json_text(text_of(r->op)), "kernel", json_text(text_of(r->kernel)), "layer",
			m->layer_count ? json_integer(m->layers[0]) : json_null());
		span(t, row_thread(r), text_of(*r->name ? r->name : r->op), execution_level_name(r->level),
			start[i], r->ns, args);
	}
}

/* The bound's schedule: the longest path's starts in the parallel scenario, else one layer after the other.
 */
static void bound_add(struct trace *t, const struct session *s)
{
	const struct analysis *an = session_analysis(s);
	double at = 0;
	for (int i = 0; i < an->layer_count; i++) {
		const struct layer_cost *l = &an->layers[i];
		if (isnan(l->ns) || !(l->ns > 0))
			continue;
		bool parallel = scenario_has_path(&an->scenario) && !isnan(l->start_ns);
		span(t, parallel ? 1 + i : 1, session_plan(s)->layers[i].name, origin_name(l->origin),
			parallel ? l->start_ns : at, l->ns,
			json_pack("{s:i, s:o, s:b}", "layer", i, "algorithm",
				l->result ? json_text(text_of(l->result->algorithm.name)) : json_null(),
				"critical", l->critical));
		at += l->ns;
	}
}

void trace_add(struct trace *t, struct session *s, const struct comparison *c)
{
	struct arena a = { 0 };
	const struct execution *e = c->execution;
	double *start = ARENA_ARRAY(&a, double, e->row_count + 1);
	for (int i = 0; i < e->row_count; i++)
		start[i] = NAN;
	name_process(t,
		arena_printf(&a, "measured: %s %s %s", *e->framework ? e->framework : e->source, e->version,
			e->provider));
	rows_add(t, c, start);
	name_process(
		t, arena_printf(&a, "bound: %s", session_device(s)->model ? session_device(s)->model : ""));
	bound_add(t, s);
	arena_free(&a);
}
