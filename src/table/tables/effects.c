/* The table of what-ifs: what each saves. */
#include "config.h"

#include "table/print.h"
#include "table/tables/costs.h"

#include <math.h>
#include <string.h>

static const struct table_column columns[] = {
	{ "name", "what-if", TABLE_TEXT, IN_SHOWN | IN_JSON },
	{ "on", "", TABLE_BOOL, IN_JSON },
	{ "choice", "now", TABLE_TEXT, IN_SHOWN | IN_JSON },
	{ "saves", "saves", TABLE_NS, IN_SHOWN | IN_ALWAYS },
	{ "total", "total", TABLE_NS, IN_SHOWN | IN_ALWAYS },
	{ "factor", "speedup", TABLE_RATIO, IN_SHOWN | IN_ALWAYS | IN_SPARE },
	{ "bound_ns", "", TABLE_NS, IN_JSON },
	{ "estimate_ns", "", TABLE_NS, IN_JSON },
	{ "saves_ns", "", TABLE_NS, IN_JSON },
	{ "speedup", "", TABLE_RATIO, IN_JSON },
	{ "available", "", TABLE_BOOL, IN_JSON },
	{ "complete", "", TABLE_BOOL, IN_JSON },
	{ "estimated", "", TABLE_BOOL, IN_JSON },
	{ "bound_complete", "", TABLE_BOOL, IN_JSON },
	{ "unmeasured_problems", "", TABLE_INDEX, IN_JSON },
	{ "unavailable_problems", "", TABLE_INDEX, IN_JSON },
	{ "noisy_problems", "", TABLE_INDEX, IN_JSON },
	{ "layers", "", TABLE_INDEX, IN_JSON },
	{ "why", "", TABLE_TEXT, IN_JSON },
	{ "tried", "", TABLE_TEXT, IN_JSON },
	{ "words", "", TABLE_TEXT, IN_SHOWN | IN_WRAP },
};

/* An effect, and its words. */
struct effect {
	const struct what_if_effect *e;
	const struct session *s;
	char why[WHAT_IF_WHY_SIZE], tried[WHAT_IF_WORD_SIZE];
	double now; /* the present total */
};

static void add_problems(struct str *line, const struct effect *f)
{
	const struct what_if_effect *e = f->e;
	bool described = session_described(f->s) != NULL, fusion = strcmp(e->row->name, "fusion") == 0;
	if (e->unmeasured_problems && described)
		str_addf(line, "  unknown: %d problem%s no estimate", e->unmeasured_problems,
			e->unmeasured_problems == 1 ? " has" : "s have");
	else if (e->unmeasured_problems)
		str_addf(line, "  unknown until %d problem%s measured", e->unmeasured_problems,
			e->unmeasured_problems == 1 ? " is" : "s are");
	else if (described && isnan(e->saves_ns) &&
		e->row->get(session_scenario(f->s)) == PARALLEL_MEASURED &&
		strcmp(e->row->name, "parallel") == 0)
		str_puts(line, "  unknown: branches side by side have no estimate");
	if (e->layers >= 0)
		str_addf(line, "  %d layer%s", e->layers, e->layers == 1 ? "" : "s");
	if (e->unavailable_problems)
		str_addf(line, "  %d %sproblem%s %s", e->unavailable_problems, fusion ? "fused " : "",
			e->unavailable_problems == 1 ? "" : "s",
			fusion ? "unsupported or failed" : "with a result on one side only");
	if (e->noisy_problems && !e->unmeasured_problems)
		str_addf(line, "  %d noisy", e->noisy_problems);
}

static const char *words_of(struct arena *a, const struct effect *f, unsigned in)
{
	const struct what_if_effect *e = f->e;
	struct str line = { 0 };
	if (in == IN_HTML)
		str_addf(&line, "  %s", *f->why ? f->why : e->row->text);
	else if (!e->available)
		str_addf(&line, "  not available here: %s", e->row->absent);
	if (e->available) {
		add_problems(&line, f);
		if (in == IN_TEXT && *f->why)
			str_addf(&line, "  %s", f->why);
		if (*f->tried)
			str_addf(&line, "%s%s", in == IN_HTML ? "; here: " : "  ", f->tried);
	}
	const char *kept = line.n > 2 ? arena_strndup(a, line.p + 2, line.n - 2) : "";
	str_free(&line);
	return kept;
}

static void shown_fill(struct table *t, const struct effect *f)
{
	const struct what_if_effect *e = f->e;
	bool whole = e->complete && !e->estimated;
	double on = e->on ? f->now : e->total_ns, off = e->on ? e->total_ns : f->now;
	double total = !e->on && e->unmeasured_problems ? NAN : on; /* else a sum of other layers */
	if (!e->available) {
		for (int i = 0; i < 3; i++)
			table_shown(t, NAN, "n/a");
		return;
	}
	table_number(t, e->saves_ns, whole ? "" : "~");
	table_number(t, total, (e->on ? session_analysis(f->s)->complete : e->bound_complete) &&
		!e->estimated ? "" : "~");
	if (total > 0 && !isnan(e->saves_ns))
		table_shown(t, off / total,
			arena_printf(&t->arena, "%s%.2fx", whole ? "" : "~", off / total));
	else
		table_number(t, NAN, "");
}

static void data_fill(struct table *t, const struct effect *f)
{
	const struct what_if_effect *e = f->e;
	bool known = e->available && !isnan(e->total_ns);
	double on = e->on ? f->now : e->total_ns, off = e->on ? e->total_ns : f->now;
	table_number(t, known ? e->bound_ns : NAN, "");
	table_number(t, known && e->estimated ? e->total_ns : NAN, "");
	table_number(t, known ? e->saves_ns : NAN, "");
	table_number(t, known && !isnan(e->saves_ns) && on > 0 ? off / on : NAN, "");
	table_number(t, e->available, "");
	table_number(t, e->complete, "");
	table_number(t, e->estimated, "");
	table_number(t, e->bound_complete, "");
	table_number(t, e->unmeasured_problems, "");
	table_number(t, e->unavailable_problems, "");
	table_number(t, e->noisy_problems, "");
	table_number(t, e->layers < 0 ? NAN : e->layers, "");
	table_text(t, *f->why ? arena_strndup(&t->arena, f->why, strlen(f->why)) : NULL);
	table_text(t, *f->tried ? arena_strndup(&t->arena, f->tried, strlen(f->tried)) : NULL);
}

static void row_fill(struct table *t, const struct effect *f, unsigned in)
{
	const struct what_if_effect *e = f->e;
	bool hidden = in == IN_TEXT && e->row->show == SHOW_ON && !e->on && !e->available;
	char word[WHAT_IF_WORD_SIZE];
	what_if_word(e->row, session_scenario(f->s), word, sizeof(word));
	table_row(t, hidden ? ROW_HIDDEN : 0, 0);
	table_text(t, e->row->name);
	table_number(t, e->on, "");
	table_text(t, arena_strndup(&t->arena, word, strlen(word)));
	shown_fill(t, f);
	data_fill(t, f);
	table_text(t, words_of(&t->arena, f, in));
}

void effects_table(struct table *t, const struct session *s, unsigned in)
{
	int count;
	bool noisy = false;
	const struct what_if_effect *effects = session_effects(s, &count);
	TABLE_COLUMNS(t, columns);
	for (int i = 0; i < count; i++) {
		const struct what_if_effect *e = &effects[i];
		struct effect f = { .e = e, .s = s, .now = session_analysis(s)->total_ns };
		what_if_tried(e->row, session_scenario(s), f.tried, sizeof(f.tried));
		what_if_why(e->row, e->available, e->on, f.why, sizeof(f.why));
		row_fill(t, &f, in);
		noisy |= e->noisy_problems && !e->unmeasured_problems;
	}
	table_note(t, "total: with the what-if on; saves, speedup: on against off; ~: missing layers, or "
		"estimates");
	if (noisy)
		table_note(t, "noisy: problems in either total whose measurement is noisy");
}
