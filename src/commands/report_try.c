/* Tried changes as text and JSON: predicted, measured, and a verdict by their intervals. */
#include "config.h"

#include "commands/report.h"
#include "commands/try.h"

#include <math.h>
#include <string.h>

#define REASON_COLUMN 28
#define TITLE_COLUMN 15

static const struct {
	const char *name, *text;
} states[TRIED_STATE_COUNT] = {
	[TRIED_MEASURED] = { "ok", "" },
	[TRIED_REFUSED] = { "refused", "refused" },
	[TRIED_UNAVAILABLE] = { "unavailable", "not available here" },
	[TRIED_FAILED] = { "failed", "failed" },
};

/* "3.4e-05", "0", "-" */
static const char *error_of(struct arena *a, double x)
{
	return isnan(x) ? "-" : x == 0 ? "0" : arena_printf(a, "%.1e", x);
}

/* "1.23x", "~0.80x", "-" */
static const char *factor(struct arena *a, double x, bool estimated)
{
	return isnan(x) ? "-" : arena_printf(a, "%s%.*fx", estimated ? "~" : "", x < 100 ? 2 : 0, x);
}

static double items_of(const struct execution *e)
{
	return e->batch > 0 ? (double)e->batch : 1;
}

static const char *verdict(const struct tried *t)
{
	return t->noisy ? "noisy" : !t->significant ? "unclear" : t->trial.gain > 1 ? "faster" : "slower";
}

static void tried_text(struct arena *a, const struct tried *t, FILE *out)
{
	char item[STR_QUANTITY];
	fprintf(out, "%s %9s", text_pad(a, t->change.move, 16, false), isnan(t->most) ?
		factor(a, t->predicted, t->estimated) :
		arena_printf(a, "<%s", factor(a, t->most, t->estimated)));
	if (t->state != TRIED_MEASURED) {
		fputs("  ", out);
		report_wrapped(arena_printf(a, "%s: %s", states[t->state].text, t->why), REASON_COLUMN, 80,
			out);
		return;
	}
	bool known = !isnan(t->trial.lo) && !isnan(t->trial.hi);
	fprintf(out, " %8s  %-14s %10s %8s  %s\n", factor(a, t->trial.gain, false),
		known ? arena_printf(a, "%.2f to %.2f", t->trial.lo, t->trial.hi) : "-",
		str_duration(item, t->execution.stats.median / items_of(&t->execution)),
		error_of(a, t->execution.output_error), verdict(t));
}

/* What made the change ("settings.try.with" of its execution); "": unknown. */
static const char *made_with(struct arena *a, const struct tried *t)
{
	json_t *settings = *t->execution.settings ? json_loads(t->execution.settings, 0, NULL) : NULL;
	const char *with = json_string_at(json_object_get(settings, "try"), "with", "");
	with = text_clean(a, text_of(with));
	json_decref(settings);
	return with;
}

static const char *made_note(struct arena *a, const struct tried *t)
{
	const char *with = made_with(a, t);
	return *with ? arena_printf(a, "%s: %s", text_cut(a, t->change.move, 16, false), with) : NULL;
}

/* Why a prediction is unknown; if only measurements are missing: "batch=8 is not measured: benanza bench -b 8
 * MODEL". NULL: there is one. */
static const char *unpredicted_note(struct arena *a, const struct tried *t)
{
	const char *move = text_cut(a, t->change.move, 16, false);
	if (!isnan(t->predicted))
		return NULL;
	return *t->unknown ? arena_printf(a, "%s: %s", move, t->unknown)
			   : arena_printf(a, "%s is not measured: benanza bench %s MODEL", move, t->bench);
}

/* Prints the notes on what was measured below a title. */
static void notes_text(struct arena *a, const char *title,
	const char *(*note)(struct arena *, const struct tried *), const struct tried *tried, int count,
	FILE *out)
{
	for (int i = 0; i < count; i++) {
		const char *text = tried[i].state == TRIED_MEASURED ? note(a, &tried[i]) : NULL;
		if (!text)
			continue;
		fprintf(out, "%-*s", TITLE_COLUMN, title);
		report_wrapped(text, TITLE_COLUMN, 80, out);
		title = "";
	}
}

void report_try_text(const struct execution *base, const struct tried *tried, int count, FILE *out)
{
	struct arena a = { 0 };
	char item[STR_QUANTITY];
	fprintf(out, "\ntried         in turn with the unchanged model%s%s\n",
		isnan(base->stats.median) ? "" : ": time per item ",
		isnan(base->stats.median) ? ""
					  : str_duration(item, base->stats.median / items_of(base)));
	fputs("              gain: time per item, unchanged / changed; error: of the outputs\n", out);
	fprintf(out, "%-16s %9s %8s  %-14s %10s %8s  %s\n", "move", "predicted", "gain", "interval",
		"per item", "error", "verdict");
	for (int i = 0; i < count; i++)
		tried_text(&a, &tried[i], out);
	notes_text(&a, "made with", made_note, tried, count, out);
	notes_text(&a, "not predicted", unpredicted_note, tried, count, out);
	arena_free(&a);
}

static json_t *tried_json(const struct tried *t)
{
	const struct execution *e = &t->execution;
	const struct sample_stats *base = &t->trial.base;
	bool good = t->state == TRIED_MEASURED, unpredicted = good && isnan(t->predicted);
	struct arena a = { 0 };
	json_t *o = json_pack("{s:o, s:s, s:o, s:o, s:b}", "move", json_text(text_of(t->change.move)),
		"status", states[t->state].name, "why", report_json_text(t->why), "predicted_gain",
		json_number_or_null(t->predicted), "predicted_estimated",
		t->estimated && !isnan(t->predicted));
	json_object_set_new(o, "predicted_at_most", json_number_or_null(t->most));
	json_object_set_new(o, "unpredicted",
		report_json_text(!unpredicted ? "" : *t->unknown ? t->unknown : "not measured"));
	json_object_set_new(o, "gain", json_number_or_null(good ? t->trial.gain : NAN));
	json_object_set_new(
		o, "gain_interval", good ? report_json_interval(t->trial.lo, t->trial.hi) : json_null());
	json_object_set_new(o, "significant", json_boolean(good && t->significant));
	json_object_set_new(o, "noisy", json_boolean(good && t->noisy));
	json_object_set_new(o, "rounds", good ? json_integer(t->trial.rounds) : json_null());
	json_object_set_new(o, "base_ns", json_number_or_null(good ? base->median : NAN));
	json_object_set_new(
		o, "base_interval_ns", good ? report_json_interval(base->lo, base->hi) : json_null());
	json_object_set_new(o, "measured_ns", json_number_or_null(good ? e->stats.median : NAN));
	json_object_set_new(
		o, "interval_ns", good ? report_json_interval(e->stats.lo, e->stats.hi) : json_null());
	json_object_set_new(o, "batch", good && e->batch ? json_integer(e->batch) : json_null());
	json_object_set_new(o, "threads", good && e->threads ? json_integer(e->threads) : json_null());
	json_object_set_new(o, "dtype", report_json_text(good ? e->dtype : ""));
	json_object_set_new(o, "provider", report_json_text(good ? e->provider : ""));
	json_object_set_new(o, "output_error", json_number_or_null(good ? e->output_error : NAN));
	json_object_set_new(o, "with", report_json_text(made_with(&a, t)));
	arena_free(&a);
	return o;
}

json_t *report_try_json(const struct tried *tried, int count)
{
	json_t *list = json_array();
	for (int i = 0; i < count; i++)
		json_array_append_new(list, tried_json(&tried[i]));
	return list;
}
