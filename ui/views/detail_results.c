/* The part of the details page about one problem's algorithms and measurements. */
#include "config.h"

#include "session/state.h"
#include "ui/views/detail.h"

#include <math.h>
#include <string.h>

/* From this width on, the main numbers of a measurement fit in one line. */
#define WIDE 66

/* True for the result in use, also if its cost is interpolated at the model's own distance. */
static bool is_used(const struct result *r, const struct result *used)
{
	return used && results_same_key(r, used);
}

static int name_columns(const struct page *d)
{
	int rest = d->width - (d->width >= WIDE ? 48 : 21);
	return rest < 12 ? 12 : rest > 40 ? 40 : rest;
}

static const char *matrix_word(enum matrix m)
{
	return m == MATRIX_YES ? "yes" : m == MATRIX_NO ? "no" : "?";
}

static void add_result(struct page *d, const struct result *r, const struct result *used)
{
	char median[STR_QUANTITY], workspace[STR_QUANTITY];
	int columns = name_columns(d);
	const char *name = r->algorithm.name && r->algorithm.name[0] ?
		detail_clean(d, text_of(r->algorithm.name))
								     : "(whole problem)";
	if (r->status != STATUS_OK) {
		ADD(d, STYLE_WARN, -1, "   %-*.*s %s: %s", columns, columns, name,
			state_row(state_of_status(r->status))->word,
			detail_clean(d, text_of(r->why)));
		return;
	}
	const struct sample_stats *s = &r->stats;
	const char *why = r->why ? detail_clean(d, text_of(r->why)) : ""; /* what disturbed it */
	double side = s->median > 0 ? 100 * fmax(s->hi - s->median, s->median - s->lo) / s->median : NAN;
	const char *spread = isnan(side) ? "     -" : side >= 1000 ? " >999%" :
		arena_printf(&d->arena, "%5.1f%%", side);
	const char *left_out = s->discarded > 0 ?
		arena_printf(&d->arena, ", %lld left out", (long long)s->discarded) : "";
	enum style style = is_used(r, used) ? STYLE_GOOD : STYLE_NORMAL;
	const char *mark = is_used(r, used) ? ">" : " ",
		*layouts = r->algorithm.layouts ? r->algorithm.layouts : "";
	str_duration(median, s->median);
	str_bytes(workspace, r->algorithm.workspace_bytes);
	if (d->width >= WIDE) {
		ADD(d, style, -1, " %s %-*.*s %9s %s %5lld %-3s %4s, %s", mark, columns, columns, name,
			median,
			spread, (long long)s->n, matrix_word(r->algorithm.matrix), cache_name(r->cache),
			launch_name(r->launch));
		ADD(d, STYLE_DIM, -1, "     library's choice %d, workspace %s, stopped: %s%s%s%s",
			r->algorithm.rank + 1, workspace,
			s->stop == STOP_DISTURBED ? "noisy" : stop_name(s->stop), left_out, *why ? ": " : "",
			why);
	} else {
		ADD(d, style, -1, " %s %-*.*s %9s %s", mark, columns, columns, name, median, spread);
		ADD(d, STYLE_DIM, -1, "     n %lld, %s, %s, matrix units %s", (long long)s->n,
			cache_name(r->cache), launch_name(r->launch), matrix_word(r->algorithm.matrix));
		ADD(d, STYLE_DIM, -1, "     choice %d, space %s, %s%s", r->algorithm.rank + 1, workspace,
			s->stop == STOP_DISTURBED ? "noisy" : stop_name(s->stop), left_out);
	}
	if (layouts[0])
		detail_wrapped(d, STYLE_DIM, "     ", detail_clean(d, text_of(layouts)));
}

const char *detail_problem_word(struct app *app, struct page *d, const char *problem, enum style *style)
{
	const char *word = app_problem_state(app, problem, style);
	enum job_state state =
		session_queue(app->session) ? queue_state(session_queue(app->session), problem) : JOB_NONE;
	if (state == JOB_RUNNING)
		return "is being measured";
	if (state == JOB_PENDING)
		return arena_printf(&d->arena, "%s", word);
	return word[0] == '\0' || strcmp(word, "ok") == 0 ? "not measured" : word;
}

/* Algorithms that the libraries of a described device offer; none is measured. */
static void add_planned(struct app *app, struct page *d, const char *title, const struct planned *p)
{
	int columns = d->width - 24 < 12 ? 12 : d->width - 24;
	detail_heading(d, arena_printf(&d->arena, "%s (planned, not measured)", title));
	if (p->state == PLANNED_NO)
		detail_wrapped(d, STYLE_WARN, " ",
			arena_printf(&d->arena, "none: %s", detail_clean(d, text_of(p->why))));
	else if (p->state != PLANNED_YES)
		detail_add(d, STYLE_DIM, -1, " planning...");
	if (p->state != PLANNED_YES)
		return;
	if (*session_described(app->session)->caveat)
		detail_wrapped(d, STYLE_WARN, " ", session_described(app->session)->caveat);
	ADD(d, STYLE_DIM, -1, "   %-*s matrix  workspace", columns, "algorithm");
	for (int i = 0; i < p->count; i++) {
		const struct algorithm *a = &p->algorithms[i];
		char workspace[STR_QUANTITY];
		ADD(d, STYLE_NORMAL, -1, "   %-*.*s %-6s %10s", columns, columns,
			detail_clean(d, text_of(a->name)),
			matrix_word(a->matrix), str_bytes(workspace, a->workspace_bytes));
		detail_wrapped(d, STYLE_DIM, "     ",
			detail_clean(d, text_of(arena_printf(&d->arena, "%s, %s%s%s%s%s", a->api, a->math,
			*a->notes ? ", " : "", a->notes, *a->layouts ? ", " : "", a->layouts))));
	}
}

/* The columns of the table of algorithms: a state of the caches and a launch mode each, back to back first.
 * Cold caches, and single launches in pages of 2 MiB, have none. */
#define STATES (CACHE_COUNT + CACHE_STATES)
#define STATE_COLUMNS 9

static bool is_of_state(const struct result *r, int state)
{
	return r->status == STATUS_OK && (int)r->cache == state % CACHE_COUNT &&
		(int)r->launch == state / CACHE_COUNT && cache_plain(r->cache) != CACHE_COLD;
}

/* The values of layouts, once if all are equal: "nhwc" for "src=nhwc dst=nhwc", "nhwc nchw" for
 * "src=nhwc dst=nchw". */
static const char *layouts_short(struct page *d, const char *layouts)
{
	struct str out = { 0 };
	struct text first = { 0 };
	bool equal = true;
	str_puts(&out, "");
	for (const char *at = layouts; *(at += strspn(at, " "));) {
		struct text word = { at, strcspn(at, " ") };
		const char *sign = memchr(at, '=', word.n);
		struct text value = sign ? (struct text){ sign + 1, word.n - (size_t)(sign + 1 - at) } : word;
		first = out.n ? first : value;
		equal &= text_equal(first, value);
		str_puts(&out, out.n ? " " : "");
		str_add_clean(&out, value);
		at += word.n;
	}
	const char *text = equal ? detail_clean(d, first) : arena_strndup(&d->arena, out.p, out.n);
	str_free(&out);
	return text;
}

/* What differs from other algorithms of the same name: " strict", " nhwc"; "" if the name is unique. */
static const char *algorithm_apart(struct page *d, const struct result *one, const struct result *const *r,
	int count)
{
	const struct algorithm *a = &one->algorithm;
	bool api = false, math = false, layouts = false;
	for (int i = 0; i < count; i++) {
		const struct algorithm *b = &r[i]->algorithm;
		if (strcmp(a->name, b->name) != 0)
			continue;
		api |= strcmp(a->api, b->api) != 0;
		math |= strcmp(a->math, b->math) != 0;
		layouts |= strcmp(a->layouts, b->layouts) != 0;
	}
	const char *layout = layouts ? layouts_short(d, a->layouts) : "";
	return arena_printf(&d->arena, "%s%s%s%s%s%s", api ? " " : "",
		api ? detail_clean(d, text_of(a->api)) : "",
		math ? " " : "", math ? detail_clean(d, text_of(a->math)) : "", *layout ? " " : "", layout);
}

/* The name and what differs from others of that name; a long name is cut to at least half of the columns. */
static const char *algorithm_label(struct page *d, const struct result *one, const struct result *const *r,
	int count, int columns)
{
	const char *name = *one->algorithm.name ? detail_clean(d, text_of(one->algorithm.name)) :
		"(whole problem)";
	const char *apart = algorithm_apart(d, one, r, count);
	int rest = columns - canvas_columns(apart);
	return arena_printf(&d->arena, "%.*s%s", rest < columns / 2 ? columns / 2 : rest, name, apart);
}

static const char *state_title(struct page *d, int state)
{
	return arena_printf(&d->arena, "%s%s", cache_name((enum cache)(state % CACHE_COUNT)),
		state < CACHE_COUNT ? "" : " iso");
}

/* The states that have a column, and the columns of the name. */
struct algorithm_columns {
	bool shown[STATES];
	int name;
};

#define NAME_LEAST 14

/* Those with a result, as many as leave room for names; that of the result in use is always among them. */
static struct algorithm_columns columns_choose(const struct page *d, const struct result *const *r,
	int count, const struct result *used)
{
	struct algorithm_columns c = { .name = d->width - 3 };
	for (int turn = 0; turn < 2; turn++)
		for (int k = 0; k < STATES; k++) {
			bool wanted = false, fits = turn == 0 || c.name - STATE_COLUMNS >= NAME_LEAST;
			for (int i = 0; i < count; i++)
				wanted |= (turn || is_used(r[i], used)) && is_of_state(r[i], k);
			if (!wanted || !fits || c.shown[k])
				continue;
			c.shown[k] = true;
			c.name -= STATE_COLUMNS;
		}
	c.name = c.name < NAME_LEAST ? NAME_LEAST : c.name > 40 ? 40 : c.name;
	return c;
}

/* An algorithm's medians, one column per state. */
static void add_algorithm(struct page *d, const char *label, const struct result *const *r, int count,
	const struct result *used, const struct algorithm_columns *c)
{
	int columns = c->name;
	const struct result *at[STATES] = { NULL };
	bool in_use = false, good = false;
	char text[STR_QUANTITY];
	for (int i = 0; i < count; i++) {
		in_use |= is_used(r[i], used);
		good |= r[i]->status == STATUS_OK;
		for (int k = 0; k < STATES; k++)
			if (is_of_state(r[i], k))
				at[k] = r[i];
	}
	if (!good) {
		ADD(d, STYLE_WARN, -1, "   %-*.*s %s: %s", columns, columns, label,
			state_row(state_of_status(r[0]->status))->word,
			detail_clean(d, text_of(r[0]->why ? r[0]->why : "")));
		return;
	}
	const char *line = arena_printf(&d->arena, " %s %-*.*s", in_use ? ">" : " ", columns, columns,
		label);
	for (int k = 0; k < STATES; k++)
		line = !c->shown[k] ? line : arena_printf(&d->arena, "%s%*s", line, STATE_COLUMNS,
			at[k] ? str_duration(text, stats_cost(&at[k]->stats)) : "-");
	detail_add(d, in_use ? STYLE_GOOD : STYLE_NORMAL, -1, line);
}

/* One row per algorithm; the results of an algorithm are adjacent. */
static void add_algorithms(struct page *d, const struct result *const *r, int count,
	const struct result *used)
{
	struct algorithm_columns c = columns_choose(d, r, count, used);
	const char *line = arena_printf(&d->arena, "   %-*s", c.name, "algorithm");
	for (int k = 0; k < STATES; k++)
		line = !c.shown[k] ? line :
			arena_printf(&d->arena, "%s%*s", line, STATE_COLUMNS, state_title(d, k));
	detail_add(d, STYLE_DIM, -1, line);
	for (int i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && results_same_algorithm(r[i], r[end]);)
			end++;
		add_algorithm(d, algorithm_label(d, r[i], r, count, c.name), r + i, end - i, used, &c);
	}
}

/* How the cost in use was measured, in a few lines. */
static void add_used(struct page *d, const struct result *r)
{
	char workspace[STR_QUANTITY];
	const struct sample_stats *s = &r->stats;
	const char *left_out = s->discarded > 0 ?
		arena_printf(&d->arena, ", %lld left out", (long long)s->discarded) : "";
	detail_wrapped(d, STYLE_DIM, "   ", arena_printf(&d->arena,
		"> n %lld%s, %s; library's choice %d, matrix units %s, workspace %s",
		(long long)s->n, left_out, s->stop == STOP_DISTURBED ? "noisy" : stop_name(s->stop),
		r->algorithm.rank + 1,
		matrix_word(r->algorithm.matrix), str_bytes(workspace, r->algorithm.workspace_bytes)));
	if (r->why && *r->why)
		detail_wrapped(d, STYLE_WARN, "     ", detail_clean(d, text_of(r->why)));
}

void detail_results(struct app *app, struct page *d, const char *title, const char *problem)
{
	int count;
	const struct planned *planned = session_planned(app->session, problem);
	if (planned) {
		add_planned(app, d, title, planned);
		return;
	}
	const struct result *const *r = results_of(session_results(app->session), problem, &count);
	const struct result *used = app_pick(app, problem);
	enum style style;
	const char *word = detail_problem_word(app, d, problem, &style);
	const char *why = session_queue(app->session) ? queue_why(session_queue(app->session), problem) : "";
	detail_heading(d, title);
	if (count == 0) {
		ADD(d, style, -1, " %s", word);
		if (why && why[0])
			detail_wrapped(d, STYLE_BAD, " ", detail_clean(d, text_of(why)));
		return;
	}
	add_algorithms(d, r, count, used);
	if (used)
		add_used(d, used);
}

void detail_measurements(struct app *app, struct page *d, const char *title, const char *problem)
{
	int count;
	const struct result *const *r = results_of(session_results(app->session), problem, &count);
	const struct result *used = app_pick(app, problem);
	if (count == 0 || session_planned(app->session, problem))
		return;
	detail_heading(d, title);
	ADD(d, STYLE_DIM, -1, "   %-*s %9s      \u00b1%s", name_columns(d), "algorithm", "median",
		d->width >= WIDE ? "     n mtx cache, launch" : "");
	for (int i = 0; i < count; i++)
		add_result(d, r[i], used);
}
