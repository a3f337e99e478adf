/* The whole screen: list and details between header and footer; the selected layer, progress, messages. */
#include "config.h"

#include "drive/runner_process.h"
#include "ui/model/agent.h"
#include "ui/frame/frame.h"
#include "ui/frame/tour.h"
#include "ui/model/real.h"
#include "ui/model/say.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A measuring runner sends a message twice a second; a silence longer than this is shown. */
#define SILENCE_SAID_S 3

/* ---- the footer: the selected layer, its problem, measuring, keys ---- */

static const char *layer_price(struct app *app, int layer, const struct layer_cost *c)
{
	char text[SAY_INTERVAL];
	if (!c)
		return "";
	if (c->origin == ORIGIN_FUSED && c->group)
		return arena_printf(&app->scratch, "fused into %s",
			app_clean(app, app_plan(app)->layers[c->group->layers[0]].name));
	if (c->folded)
		return app_folded_text(app, layer);
	if (c->origin == ORIGIN_FREE) {
		const char *why = app_layer(app, layer)->why;
		return why ? arena_printf(&app->scratch, "%sfree: %s", c->at_least ? "~" : "",
				     app_clean(app, text_of(why)))
			   : "free: no kernel runs for it";
	}
	if (c->origin == ORIGIN_UNSUPPORTED)
		return "n/a: the library does not support it";
	if (isnan(c->ns) || c->origin == ORIGIN_MISSING)
		return app_missing_why(app, layer);
	if (c->origin == ORIGIN_ASSUMED)
		return arena_printf(&app->scratch, "%s  an assumed cost: %s changes it",
			say_interval(text, c->ns, c->lo, c->hi, 0), key_named("set-cost"));
	return arena_printf(&app->scratch, "%s%s", c->mistrusted ? "!" : app_is_guess(c) ? "~" : "",
		say_interval(text, c->ns, c->lo, c->hi, c->result ? c->result->stats.n : 0));
}

/* "  brgconv:avx512_core (of 3)": the algorithm and how many were measured, or "". */
static const char *layer_algorithm(struct app *app, int layer, const struct layer_cost *c, bool counted)
{
	int algorithms = 0, count = 0;
	const char *problem = app_problem(app, layer), *last = "";
	if (!c || !c->result || !c->result->algorithm.name || c->origin == ORIGIN_FUSED)
		return "";
	const struct result *const *all =
		problem ? results_of(session_results(app->session), problem, &count) : NULL;
	for (int i = 0; i < count; i++)
		if (strcmp(all[i]->algorithm.name, last) != 0) {
			algorithms++;
			last = all[i]->algorithm.name;
		}
	return arena_printf(&app->scratch, "  %s%s", app_clean(app, text_of(c->result->algorithm.name)),
		counted && algorithms > 1 ? arena_printf(&app->scratch, " (of %d)", algorithms) : "");
}

/* "  real 1.21 ms contradicted", or "". */
static const char *real_price(struct app *app, int layer)
{
	const struct reality_group *g = app_real_group(app, layer);
	char text[STR_QUANTITY];
	if (!g)
		return "";
	return arena_printf(&app->scratch, "  real %s%s%s", str_duration(text, g->real_ns),
		g->layer_count > 1 ? " fused" : "", app_is_contradicted(app, layer) ? " contradicted" : "");
}

/* "  = conv1, x3  runs 8 times, each", from long to short; the last form is "". */
static const char *again_text(struct app *app, int form)
{
	char number[STR_QUANTITY];
	const struct plan *p = app_plan(app);
	const struct plan_layer *l = app_layer(app, app->layer);
	int same = app_same_as(app, app->layer),
	    uses = l->problem >= 0 ? p->problems[l->problem].use_count : 0;
	double times = app->places[app->layer].times;
	const char *runs = times > 1 ? arena_printf(&app->scratch, "  runs %s times, each",
		str_count(number, times)) : "";
	const char *again = "";
	if (same >= 0 && form == 0)
		again = arena_printf(&app->scratch, "  = %s, x%d",
			app_clean(app, app_layer(app, same)->name), uses);
	else if (uses > 1 && form < 2)
		again = arena_printf(&app->scratch, "  x%d%s", uses, form ? "" : " in this model");
	return arena_printf(&app->scratch, "%s%s", again, runs);
}

/* The layer, its cost and its real latency stay; the number of algorithms, equal layers and the algorithm's
 * name leave in this order where the line is too short. */
static void draw_summary(struct app *app, struct area line)
{
	static const struct {
		bool counted;     /* the algorithms */
		int again;
	} forms[] = { { true, 0 }, { false, 0 }, { false, 1 }, { false, 2 } };
	const struct plan_layer *l = app_layer(app, app->layer);
	if (!app_plan(app) || !l)
		return;
	const struct layer_cost *c = app_cost(app, app->layer);
	const char *price = arena_printf(&app->scratch, "%s%s", layer_price(app, app->layer, c),
		real_price(app, app->layer)), *name = app_clean(app, l->name), *again = "", *algorithm = "";
	int most = line.width - 4, columns = canvas_columns_on(line, price), named = canvas_columns(name);
	columns = columns > most * 2 / 3 ? most * 2 / 3 : columns;
	named = named > most - columns ? most - columns : named;
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		again = again_text(app, forms[i].again);
		algorithm = layer_algorithm(app, app->layer, c, forms[i].counted);
		if (named + columns + canvas_columns(again) + canvas_columns_on(line, algorithm) <= most)
			break;
	}
	int x = 1 + canvas_fit_tail(line, 1, 0, most - columns, STYLE_BOLD, name);
	x += canvas_fit(line, x, 0, line.width - columns - 3 - x, STYLE_NORMAL, again);
	canvas_fit(line, x + 2, 0, line.width - x - 3, STYLE_NORMAL,
		arena_printf(&app->scratch, "%s%s", price, algorithm));
}

/* The problem and, where there is room, what limits it: "memory 43%". Details always have both. */
static void draw_problem(struct app *app, struct area line)
{
	const char *problem = app->layer >= 0 ? app_problem(app, app->layer) : NULL;
	const struct layer_cost *c = app_cost(app, app->layer);
	if (!problem)
		return;
	struct str limit = { 0 };
	if (c && c->ns > 0) {
		struct limit l = session_limit(app->session, c, problem);
		if (l.by != LIMIT_UNKNOWN)
			limit_describe(&l, &limit);
	}
	int used = canvas_fit(line, 1, 0, line.width - 1, STYLE_DIM, problem);
	if (limit.n && used + canvas_columns(limit.p) + 4 <= line.width)
		canvas_fit_right(line, used + 3, 0, line.width - used - 4, STYLE_NORMAL, limit.p);
	str_free(&limit);
}

static const char *counted(struct app *app, int n, const char *word)
{
	return n ? arena_printf(&app->scratch, "%d %s  ", n, word) : "";
}

/* "waiting 2:13  srun: job 12 queued ..." for a runner in a cluster's queue, or "". */
static const char *place_text(struct app *app, const struct queue_status *q)
{
	int s = (int)q->waiting_s;
	if (!q->waiting || !*q->waiting)
		return "";
	return arena_printf(
		&app->scratch, "waiting %d:%02d  %s  ", s / 60, s % 60, app_clean(app, text_of(q->waiting)));
}

/* Several runners: how many are up and what each is measuring: "2 of 3 runners  gpu7 #1 conv  gpu7 #2
 * matmul". */
static const char *runners_text(struct app *app, const struct queue_status *q)
{
	const char *out = arena_printf(&app->scratch, "%d of %d runners  ", q->workers_up, q->workers);
	for (int i = 0; i < q->workers; i++) {
		struct queue_worker w = queue_worker(session_queue(app->session), i);
		int kernel = w.problem ? (int)strcspn(w.problem, ":") : 0;
		if (kernel)
			out = arena_printf(&app->scratch, "%s%s %.*s%s  ", out,
				app_clean(app, text_of(w.label)), kernel, w.problem,
				w.silence_s < SILENCE_SAID_S ? "" : " (no answer)");
	}
	return out;
}

/* "sweep 2/8 batch 4 bf16  ": the point that needs the problem being measured, or "". */
static const char *sweep_text(struct app *app)
{
	const struct session *s = app->session;
	int at = session_sweep_count(s) > 1 ? session_sweep_running(s) : -1;
	char point[64];
	if (at < 0)
		return "";
	int64_t batch;
	enum dtype dtype;
	session_sweep_point(s, at, &batch, &dtype);
	session_sweep_text(s, point, sizeof(point), batch, dtype);
	return arena_printf(&app->scratch, "sweep %d/%d %s  ", at + 1, session_sweep_count(s), point);
}

/* "(other scenario)  " of a problem that is not the plan's. */
static const char *needed_text(struct app *app, const struct queue_status *q)
{
	const char *what = q->current ? app_needed_for(app, q->current) : "";
	return *what ? arena_printf(&app->scratch, "(%s)  ", what) : "";
}

static void draw_measuring(struct app *app, struct area line, const struct queue_status *q)
{
	bool again = q->repeats && q->repeats == q->pending + q->running;
	int done = q->quick ? q->quick_ended : again ? q->batch_repeats :
		q->batch_done + q->batch_failed + q->batch_unsupported;
	int total = done + (q->quick ? q->quick : q->pending + q->running), bar = line.width >= 70 ? 24 : 10;
	canvas_put(line, 1, 0, STYLE_NORMAL, 0x2595);
	canvas_bar(line, 2, 0, bar, STYLE_ACCENT, total ? (double)done / total : 0);
	canvas_put(line, 2 + bar, 0, STYLE_NORMAL, 0x258f);
	const char *what =
		q->current_what && q->current_what[0] ? app_clean(app, text_of(q->current_what)) : "";
	const char *wait = place_text(app, q), *sweep = sweep_text(app);
	const char *silent = q->silence_s < SILENCE_SAID_S || q->workers > 1
				     ? ""
				     : arena_printf(&app->scratch, "no answer for %.0f s  ", q->silence_s);
	const char *left = app_header_has_left(app) ? "" : app_left_text(app, q);
	canvas_fit(line, 4 + bar, 0, line.width - bar - 4, STYLE_NORMAL,
		arena_printf(&app->scratch, "%s%d/%d problems  %s%s%s%s%s%s%s%s",
			*wait			? ""
				: q->starting	? "starting the runner: "
				: app->stage->stopping ? "stopping "
				: q->quick	? "first pass: "
				: again		? "measuring again "
						: "measuring ",
			done, total, wait, silent,
			*sweep ? sweep : needed_text(app, q),
			left, *left ? "  " : "",
			counted(app, q->batch_unsupported, "n/a"), counted(app, q->batch_failed, "failed"),
			q->workers > 1 ? runners_text(app, q) : what));
}

/* Outcome of the last batch: "109 measured, 107 unsupported", or "". */
static const char *batch_text(struct app *app, const struct queue_status *q)
{
	const struct {
		int n;
		const char *word;
	} parts[] = { { q->batch_done, "measured" }, { q->batch_unsupported, "n/a" },
		{ q->batch_failed, "failed" } };
	const char *out = "";
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i].n)
			out = arena_printf(&app->scratch, "%s%s%d %s", out, out[0] ? ", " : "", parts[i].n,
				parts[i].word);
	return out;
}

/* A described device: progress of planning, and where the numbers come from. */
static const char *planning_text(struct app *app)
{
	const struct session *s = app->session;
	const struct plan *p = app_plan(app);
	int open = planner_open_count(session_planner(s)), yes = 0;
	for (int i = 0; i < p->problem_count; i++)
		yes += session_planned(s, p->problems[i].text)->state == PLANNED_YES;
	if (!open && !yes && !planner_device(session_planner(s)))
		return "planning...";
	if (open)
		return arena_printf(
			&app->scratch, "planning... %d problem%s left", open, open == 1 ? "" : "s");
	return arena_printf(&app->scratch,
			"%d of %d problems plannable; times are estimates (~) from the vendor's figures", yes,
		p->problem_count);
}

/* "sequence, past have no value, so nothing can be computed: d sets them" */
static const char *unbound_text(struct app *app, const struct plan *p)
{
	int shown = p->unbound_count > 3 ? 2 : p->unbound_count, more = p->unbound_count - shown;
	const char *names = "";
	for (int i = 0; i < shown; i++)
		names = arena_printf(&app->scratch, "%s%s%s", names, i ? ", " : "",
			text_cut(&app->scratch, app_clean(app, p->unbound[i]), 24, true));
	if (more)
		names = arena_printf(&app->scratch, "%s and %d more", names, more);
	return arena_printf(&app->scratch, "%s ha%s no value: %s sets %s", names,
		p->unbound_count == 1 ? "s" : "ve", key_named("dimensions"),
		p->unbound_count == 1 ? "it" : "them");
}

static const char *idle_text(struct app *app, const struct queue_status *q)
{
	const struct session *s = app->session;
	const struct plan *p = app_plan(app);
	const char *batch = batch_text(app, q);
	char flops[STR_QUANTITY], bytes[STR_QUANTITY];
	if (session_described(s) && p && !p->unbound_count)
		return planning_text(app);
	if (q->starting && *place_text(app, q))
		return arena_printf(&app->scratch, "the runner is %s", place_text(app, q));
	if (p && p->unbound_count)
		return unbound_text(app, p);
	int left = session_queue(s) && session_analysis(s) ? session_analysis(s)->unmeasured_problems : 0;
	const char *plural = left == 1 ? "" : "s";
	if (left && batch[0])
		return arena_printf(&app->scratch, "%d problem%s not measured yet: %s measures them (%s)",
			left, plural, key_named("measure"), batch);
	if (left)
		return arena_printf(&app->scratch,
			"%d problem%s of this scenario %s not measured yet: %s measures them", left, plural,
			left == 1 ? "is" : "are", key_named("measure"));
	if (batch[0])
		return arena_printf(
			&app->scratch, "%s%s", batch, session_store(s) ? "" : "; not stored: no database");
	if (!p)
		return "";
	return arena_printf(&app->scratch, "%d layers, %d distinct problems, %s, %s of weights",
		p->layer_count - app->folded_count, p->problem_count, str_flops(flops, p->flops),
		str_bytes(bytes, p->weight_bytes));
}

/* Draws a message, broken at blanks if the area has several rows. */
static void draw_wrapped(struct area a, enum style style, const char *text)
{
	for (int y = 0; y < a.height && *text; y++) {
		size_t n = 0, all = strlen(text);
		char part[ERROR_TEXT_SIZE + 1];
		while (y + 1 < a.height && all > 0) { /* as many words as fit */
			size_t next = n + strspn(text + n, " ");
			next += strcspn(text + next, " ");
			snprintf(part, sizeof(part), "%.*s", (int)next, text);
			if (next == n || canvas_columns_on(a, part) > a.width - 2)
				break;
			n = next;
		}
		n = n && n < all ? n : all;
		snprintf(part, sizeof(part), "%.*s", (int)n, text);
		canvas_fit(a, 1, y, a.width - 1, style, part);
		text += n + strspn(text + n, " ");
	}
}

/* "no NVIDIA driver found (the runner x ended with status 3)": the runner's last output goes first, because
 * it is the reason and a line may be cut at its end. */
static const char *reason_first(struct app *app, const char *text)
{
	const char *at = strstr(text, RUNNER_LAST_OUTPUT);
	return at ? arena_printf(&app->scratch, "%s (%.*s)", at + strlen(RUNNER_LAST_OUTPUT),
			    (int)(at - text), text)
		  : text;
}

/* A lasting error, or ""; shown while there is no other message. */
static const char *trouble_text(struct app *app, const struct queue_status *q)
{
	const struct session *s = app->session;
	bool queue = q->trouble && q->trouble[0] && !q->trouble_past;
	if (session_planner(s) && *planner_trouble(session_planner(s)))
		return arena_printf(&app->scratch, "estimates only: %s",
			reason_first(app, app_clean(app, text_of(planner_trouble(session_planner(s))))));
	return app_clean(app, text_of(queue ? q->trouble : app->stage->standing));
}

static const char *awaited_text(struct app *app)
{
	const struct session *s = app->session;
	const char *name = session_device(s)->name ? app_clean(app, text_of(session_device(s)->name)) : NULL;
	const char *wait = session_awaited_waits(s);
	return arena_printf(&app->scratch, "starting the runner of %s%s%s; %s cancels%s%s",
		app_clean(app, text_of(session_awaited(s))),
		name ? "; until it answers, this device stays in use: " : "", name ? name : "",
		key_named("stop"), *wait ? "; " : "", app_clean(app, text_of(wait)));
}

/* Reports results that are not stored yet, or cannot be, ahead of other messages; "" if all are stored. */
static const char *waiting_text(struct app *app, const struct queue_status *q)
{
	struct store_waiting w = session_store(app->session) ? store_waiting(session_store(app->session))
							     : (struct store_waiting){ 0 };
	if (!w.results && !w.lost)
		return "";
	return arena_printf(&app->scratch, "%s%d results %s: %s", q->idle ? "" : "measuring, ",
		w.results ? w.results : w.lost, w.results ? "not stored yet" : "could not be stored",
		app_clean(app, text_of(w.why)));
}

/* A message that is too long for its row says where the rest is. */
static void draw_note(struct app *app, struct area line, enum style style, const char *text)
{
	static const char more[] = " :messages";
	int rest = (int)sizeof(more) - 1;
	text = text_cut_paths(&app->scratch, text, line.width - 1, line.width - 1, canvas_mark(line));
	if (canvas_columns_on(line, text) < line.width || line.width < 3 * rest) {
		canvas_fit(line, 1, 0, line.width - 1, style, text);
		return;
	}
	canvas_fit(line, 1, 0, line.width - 2 - rest, style, text);
	canvas_text(line, line.width - 1 - rest, 0, STYLE_DIM, more);
}

/* The rows above the keys. A lasting error, and one in a prompt, also takes the row of the problem if it is
 * too long for one row. */
static void draw_progress(struct app *app, struct area rows)
{
	struct queue_status q = app_queue_status(app);
	struct area line = canvas_part(rows, 0, rows.height - 1, rows.width, 1);
	bool note = app->note[0] != '\0';
	const char *bad = note && app->note_bad ? app_clean(app, text_of(app->note))
			  : note ? "" : waiting_text(app, &q);
	if (!bad[0] && !note && q.idle && !session_awaited(app->session))
		bad = trouble_text(app, &q);
	bad = reason_first(app, bad);
	if (bad[0] && note && !app->stage->prompt.use) {
		draw_note(app, line, STYLE_BAD, bad);
	} else if (bad[0]) {
		bool fits = canvas_columns_on(line, bad) < line.width;
		int width = line.width - 2;
		if (!fits) {
			canvas_fill(rows, 0, 0, rows.width, STYLE_NORMAL, ' ');
			bad = text_cut_paths(
				&app->scratch, bad, width * rows.height, width, canvas_mark(line));
		}
		draw_wrapped(fits ? line : rows, STYLE_BAD, bad);
	} else if (note)
		draw_note(app, line, STYLE_ACCENT, app_clean(app, text_of(app->note)));
	else if (session_awaited(app->session))
		canvas_fit(line, 1, 0, line.width - 1, STYLE_ACCENT, awaited_text(app));
	else if (app_agent_is_busy(app))
		canvas_fit(line, 1, 0, line.width - 1, STYLE_ACCENT, app_agent_text(app));
	else if (!q.idle)
		draw_measuring(app, line, &q);
	else
		canvas_fit(line, 1, 0, line.width - 1,
			app_plan(app) && app_plan(app)->unbound_count ? STYLE_WARN : STYLE_NORMAL,
			idle_text(app, &q));
}

static void draw_prompt(struct app *app, struct area line)
{
	const struct prompt *q = &app->stage->prompt;
	if (prompt_is_question(app)) {
		int asked = canvas_fit(line, 1, 0, line.width - 1, STYLE_BOLD, q->use->question(app));
		canvas_cursor(line, asked + 1 < line.width ? asked + 1 : line.width - 1, 0);
		return;
	}
	if (q->use == &prompt_form) {
		form_draw_keys(app, line);
		return;
	}
	int x = 1 + canvas_fit(line, 1, 0, line.width / 2, STYLE_BOLD, prompt_label(app));
	x += canvas_fit_tail(
		line, x, 0, line.width - x - 1, q->untouched ? STYLE_DIM : STYLE_NORMAL, q->text);
	canvas_put(line, x, 0, STYLE_REVERSE, ' ');
	canvas_cursor(line, x, 0);
	const char *end = prompt_help(app);
	if (line.width - x > canvas_columns(end) + 3)
		canvas_fit_right(line, x + 2, 0, line.width - x - 3, STYLE_DIM, end);
}

/* ---- the whole screen ---- */

static int footer_rows(const struct app *app)
{
	const struct stage *s = app->stage;
	return s->canvas.height >= 16 && !s->panes[s->stack[s->depth]].view->own_footer ? 4 : 2;
}

static bool is_split(const struct app *app)
{
	return app_list_width(app) < app->stage->canvas.width;
}

/* True for a row of a layer that the user marked. */
static bool row_is_picked(struct app *app, const struct pane *p, int row)
{
	if (!app->picked_count || !p->list->subject)
		return false;
	struct subject of = p->list->subject(app, p->state, row);
	return !of.is_problem && of.layer >= 0 && app->picked[of.layer];
}

/* Returns the number of cells that match the text, ignoring the case of ASCII letters. */
static bool cells_match(const struct cell *cells, int count, const uint32_t *text, int n)
{
	if (n > count)
		return false;
	for (int i = 0; i < n; i++) {
		uint32_t c = cells[i].code;
		c = c >= 'A' && c <= 'Z' ? c + 32 : c;
		if (c != text[i])
			return false;
	}
	return true;
}

static void mark_word(const struct app *app, struct area line, bool selected, struct text word)
{
	char text[sizeof(app->stage->search)];
	uint32_t wanted[sizeof(app->stage->search)];
	int n = 0;
	snprintf(text, sizeof(text), "%.*s", (int)word.n, word.p);
	const char *next = text;
	for (uint32_t code; (code = text_decode(&next));)
		wanted[n++] = code >= 'A' && code <= 'Z' ? code + 32 : code;
	struct cell *cells = line.canvas->cells + (size_t)line.y * (size_t)line.canvas->width + line.x;
	for (int x = 0; x < line.width; x++) {
		if (!cells_match(cells + x, line.width - x, wanted, n))
			continue;
		for (int i = 0; i < n; i++) { /* in the selected row, the match is shown not reversed */
			cells[x + i].style = selected ? STYLE_BOLD : STYLE_REVERSE;
			cells[x + i].selected = false;
		}
		x += n - 1;
	}
}

/* Highlights the matches of the search in a line already drawn. */
static void mark_matches(struct app *app, struct area line, bool selected)
{
	const struct stage *s = app->stage;
	const char *text = s->prompt.use == &prompt_search ? s->prompt.text : s->search;
	struct terms terms;
	if (!text[0] || line.width < 1 || line.height < 1 || pane_parse(app_pane(app), text, &terms, NULL))
		return;
	for (int i = 0; i < terms.count; i++)
		if (!terms.term[i].key && !terms.term[i].negated)
			mark_word(app, line, selected, terms.term[i].value);
}

static void draw_pane(struct app *app, struct pane *p, struct area a, bool focus)
{
	int above = -1, top = focus ? p->top : 0, marks = pane_marks(app, p);
	pane_sync(app, p, a.width);
	for (int y = 0; y < a.height && top + y < p->shown_count; y++) {
		int row = p->shown[top + y];
		struct area line = canvas_part(a, 0, y, a.width, 1);
		p->list->draw_row(app, p->state, row, above, canvas_part(a, marks, y, a.width - marks, 1));
		above = row;
		if (row_is_picked(app, p, row))
			canvas_put(line, 1, 0, STYLE_BOLD, '*');
		bool selected = focus && (!p->list->text || p->marked) && top + y == p->cursor;
		if (selected && p->list->heading)
			canvas_put(line, 0, 0, STYLE_BOLD, '>');
		if (selected)
			canvas_select(line, 0);
		if (focus)
			mark_matches(app, line, selected);
	}
	if (p->shown_count == 0)
		canvas_fit(a, 1, 0, a.width - 1, STYLE_DIM, p->filter[0] ? arena_printf(&app->scratch,
			"no match; %s clears the filter", key_named("back")) : "no rows");
}

static void draw_body(struct app *app, struct area body)
{
	struct pane *p = app_pane(app);
	int width = app_list_width(app);
	struct area list = canvas_part(body, 0, 0, width, body.height);
	int heading = p->list->heading ? 1 : 0;
	int foot = p->list->foot ? p->list->foot(app, p->state, list.height) : 0;
	app->stage->page = list.height - heading - foot;
	int marks = pane_marks(app, p);
	pane_sync(app, p, width);
	if (foot)
		p->list->draw_foot(app, p->state,
			canvas_part(list, 0, list.height - foot, width, foot));
	if (heading)
		p->list->heading(app, p->state, canvas_part(list, marks, 0, width - marks, 1));
	struct area rest = canvas_part(list, 0, heading, width, list.height - heading - foot);
	if (p->view->draw) {
		app->stage->chart = rest;
		p->view->draw(app, p->state, rest);
	} else {
		app->stage->list = rest;
		draw_pane(app, p, rest, true);
	}
	if (!is_split(app))
		return;
	for (int y = 0; y < body.height; y++)
		canvas_put(body, width, y, STYLE_DIM, 0x2502);
	struct pane *detail = &app->stage->panes[views_number(views_details())];
	pane_open(app, detail);
	draw_pane(app, detail, canvas_part(body, width + 1, 0, body.width - width - 1, body.height), false);
}

static void draw_too_small(struct app *app, struct area all)
{
	canvas_fit(all, 0, 0, all.width, STYLE_BOLD, "terminal too small");
	canvas_fit(all, 0, 1, all.width, STYLE_NORMAL,
		arena_printf(&app->scratch, "%dx%d, needs %dx%d", all.width, all.height, APP_COLUMNS_MIN,
			APP_ROWS_MIN));
	canvas_fit(all, 0, 2, all.width, STYLE_NORMAL, "q quit");
}

static void draw_explorer(struct app *app)
{
	app->stage->spot_count = 0;
	app->stage->list = app->stage->chart = (struct area){ 0 };
	app->stage->item_count = 0;
	struct area all = canvas_area(&app->stage->canvas);
	if (app_is_too_small(app)) {
		draw_too_small(app, all);
		return;
	}
	int footer = footer_rows(app), y = all.height - footer;
	int header = app_header_rows(app);
	struct area body = canvas_part(all, 0, header, all.width, y - header);
	draw_body(app, body);
	if (app->stage->prompt.use == &prompt_form)
		form_draw(app, body);
	app_draw_header(app, canvas_part(all, 0, 0, all.width, header));
	if (footer == 4) {
		draw_summary(app, canvas_part(all, 0, y, all.width, 1));
		draw_problem(app, canvas_part(all, 0, y + 1, all.width, 1));
	}
	/* a long error may cover the last row while it is shown */
	int rows = footer == 4 || (all.height >= 16 && app->note[0] && app->note_bad &&
		app->stage->prompt.use) ? 2 : 1;
	draw_progress(app, canvas_part(all, 0, all.height - 1 - rows, all.width, rows));
	struct area last = canvas_part(all, 0, all.height - 1, all.width, 1);
	if (app->stage->prompt.use)
		draw_prompt(app, last);
	else
		app_draw_hints(app, canvas_part(all, 0, all.height - 2, all.width, 2));
}

/* The box of the tour is below the explorer, on small screens over its last rows. */
void app_draw(struct app *app)
{
	struct canvas *c = &app->stage->canvas;
	int height = c->height;
	arena_free(&app->scratch);
	canvas_clear(c);
	int box = app_is_too_small(app) ? 0 : tour_rows(app);
	box = box < height ? box : height;
	if (height - box >= APP_ROWS_MIN)
		c->height -= box;
	draw_explorer(app);
	c->height = height;
	struct area all = canvas_area(c);
	if (box)
		tour_draw(app, canvas_part(all, 0, height - box, all.width, box));
}
