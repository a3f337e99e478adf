/* Sets of branches side by side as text and JSON. */
#include "config.h"

#include "commands/report.h"

#include <math.h>
#include <string.h>

/* Branches side by side (parallel=measured). */

#define SHOWN 4       /* sets listed in a text report */
#define NAME_COLUMNS 14

const char *report_bound_kind(const struct analysis *a)
{
	return a->scenario.parallel == PARALLEL_MEASURED ? "side by side" :
		a->scenario.parallel ? "parallel" : "sequential";
}

static int used_count(const struct analysis *a)
{
	int used = 0;
	for (int i = 0; i < a->beside_count; i++)
		used += a->besides[i].used;
	return used;
}

/* "conv1, conv2 | conv3": the layers of each branch. */
static const char *branches_text(struct arena *a, const struct plan *p, const struct beside_cost *b)
{
	struct str text = { 0 };
	for (int i = 0; i < b->layer_count; i++) {
		struct text name = p->layers[b->layers[i]].name;
		const char *clean = name.n ? text_clean(a, name) : arena_printf(a, "%d", b->layers[i] + 1);
		str_addf(&text, "%s%s", !i ? "" : b->branch[i] != b->branch[i - 1] ? " | " : ", ",
			text_cut(a, clean, NAME_COLUMNS, true));
	}
	const char *kept = arena_strndup(a, text.p ? text.p : "", text.n);
	str_free(&text);
	return kept;
}

/* The sets that save most, in the order of the model. */
static void used_text(const struct session *s, FILE *out)
{
	const struct analysis *a = session_analysis(s);
	struct arena scratch = { 0 };
	int shown = 0, used = used_count(a);
	for (int i = 0; i < a->beside_count && shown < SHOWN; i++) {
		const struct beside_cost *b = &a->besides[i];
		char ns[STR_QUANTITY], alone[STR_QUANTITY];
		if (!b->used)
			continue;
		shown++;
		fprintf(out, "              %s%s, alone %s: ", b->mistrusted ? "!" : "",
			str_duration(ns, b->ns),
			str_duration(alone, b->alone_ns));
		report_wrapped(branches_text(&scratch, session_plan(s), b), 16, report_width(out), out);
	}
	if (used > shown)
		fprintf(out, "              and %d more (bound --json)\n", used - shown);
	arena_free(&scratch);
}

/* How many sets cannot be measured, and the first reason. */
static void failed_text(const struct analysis *a, FILE *out)
{
	int failed = 0;
	const char *why = NULL;
	for (int i = 0; i < a->beside_count; i++) {
		failed += a->besides[i].why != NULL;
		why = why ? why : a->besides[i].why;
	}
	struct arena scratch = { 0 };
	if (failed)
		fprintf(out, "              %d %s no time: %s\n", failed, failed == 1 ? "has" : "have",
			text_clean(&scratch, text_of(why)));
	arena_free(&scratch);
}

/* What is not measured, and how it is. */
static void unmeasured_text(const struct session *s, int used, FILE *out)
{
	int n = session_analysis(s)->beside_unmeasured;
	const char *verb = n == 1 ? " is" : "s are";
	if (!session_queue(s))
		fprintf(out, "%s%d problem%s not measured; a recorded device measures nothing\n",
			used ? "              " : "side by side  unknown: ", n, verb);
	else
		fprintf(out, "%s%d problem%s%s measured: bench -w parallel=measured\n",
			used ? "              " : "side by side  unknown until ", n, verb,
			used ? " not" : "");
}

void report_besides_text(const struct session *s, FILE *out)
{
	const struct analysis *a = session_analysis(s);
	char saves[STR_QUANTITY];
	int used = used_count(a);
	if (!a->beside_count)
		fprintf(out, "side by side  nothing: no branches are independent of each other\n");
	else if (session_described(s))
		fprintf(out,
			"side by side  not available on a described device: it has neither measurements nor "
			"estimates;\n              the bound is that of the layers one after the other\n");
	else if (!a->beside_unmeasured || used)
		fprintf(out, "side by side  %d of %d sets of branches, %s less than the layers one after "
			"the other\n",
			used, a->beside_count, str_duration(saves, a->beside_saves_ns));
	if (a->beside_unmeasured)
		unmeasured_text(s, used, out);
	if (session_described(s))
		return;
	if (a->beside_mistrusted)
		fprintf(out,
			"              %d suspect, marked !: faster than memory and units allow; measure "
			"again: bench --again\n",
			a->beside_mistrusted);
	failed_text(a, out);
	used_text(s, out);
}

static json_t *branches_json(const struct plan *p, const struct beside_cost *b)
{
	json_t *all = json_array(), *one = NULL;
	for (int i = 0; i < b->layer_count; i++) {
		if (!i || b->branch[i] != b->branch[i - 1])
			json_array_append_new(all, one = json_array());
		json_array_append_new(one, json_pack("{s:i, s:o}", "layer", b->layers[i], "name",
			json_text(p->layers[b->layers[i]].name)));
	}
	return all;
}

/* What ran, a text for each problem. */
static json_t *kernels_json(const struct result *r)
{
	json_t *lines = json_array();
	for (const char *p = r && r->kernels ? r->kernels : ""; *p;) {
		size_t n = strcspn(p, "\n");
		json_array_append_new(lines, json_text((struct text){ p, n }));
		p += n + (p[n] == '\n');
	}
	return lines;
}

json_t *report_besides_json(const struct session *s)
{
	const struct analysis *a = session_analysis(s);
	if (a->scenario.parallel != PARALLEL_MEASURED)
		return json_null();
	json_t *sets = json_array();
	for (int i = 0; i < a->beside_count; i++) {
		const struct beside_cost *b = &a->besides[i];
		const struct result *r = b->result;
		json_array_append_new(sets, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:b, s:o}",
			"problem", b->text, "branches", branches_json(session_plan(s), b), "alone_ns",
			json_number_or_null(b->alone_ns), "ns", json_number_or_null(b->ns), "algorithm",
			report_json_text(r ? r->algorithm.name : NULL), "kernels", kernels_json(r), "noisy",
			r && r->stats.stop == STOP_DISTURBED, "mistrusted", b->mistrusted, "used", b->used,
			"why",
			report_json_text(b->why)));
	}
	return json_pack("{s:o, s:i, s:o}", "saves_ns", json_number_or_null(a->beside_saves_ns), "unmeasured",
		a->beside_unmeasured, "sets", sets);
}
