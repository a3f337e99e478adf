/* The last line: what keys do here, or what may follow those that wait. */
#include "config.h"

#include "ui/frame/frame.h"
#include "ui/model/agent.h"

/* Forms of what `b` does, from long to short. */
#define HINT_FORMS 3

/* What is left when all problems of the scenario are measured: "1 conversion, 3 peaks". */
static const char *extra_text(struct app *app)
{
	struct session_missing m = app_missing(app);
	const char *conversions = m.conversions ? arena_printf(&app->scratch, "%d conversion%s",
		m.conversions, m.conversions == 1 ? "" : "s") : "";
	const char *peaks = m.peaks ? arena_printf(&app->scratch, "%d peak%s", m.peaks,
		m.peaks == 1 ? "" : "s") : "";
	return arena_printf(&app->scratch, "%s%s%s", conversions, *conversions && *peaks ? ", " : "", peaks);
}

static const char *measure_hint(struct app *app, int form)
{
	int sweep = app_sweep_points(app);
	if (app->picked_count)
		return arena_printf(&app->scratch, "measure marked (%d)", app->picked_count);
	if (app->sweep_left &&
		!session_sweep_count(app->session)) /* what is missing is counted by the first `b` */
		return arena_printf(&app->scratch, "measure sweep (%d points)", sweep);
	if (app->sweep_left)
		return arena_printf(&app->scratch, "measure sweep (%d/%d)", app->sweep_left, sweep);
	if (app_missing_waits(app))
		return "measure missing";
	struct session_missing m = app_missing(app);
	int left = app_missing_count(app);
	bool extra = !m.own && !m.besides;
	if (!left && m.shaky)
		return arena_printf(&app->scratch, "measure noisy again (%d)", m.shaky);
	if (!left)
		return "all measured";
	if (extra && form < 2)
		return arena_printf(&app->scratch, "measure %s (%s)", extra_text(app), question_time(app));
	switch (form) {
	case 0: return arena_printf(&app->scratch, "measure missing (%d, %s)", left, question_time(app));
	case 1: return arena_printf(&app->scratch, "measure %d (%s)", left, question_time(app));
	default: return arena_printf(&app->scratch, "measure %d", left);
	}
}

static bool can_do(struct app *app, const struct key_row *row)
{
	const struct pane *p = app_pane(app);
	if (row->request == REQUEST_OPEN && !p->view->request)
		return false;
	return !p->view->can || p->view->can(app, p->state, row, pane_row(p));
}

/* Text of a hint, "" if its key does nothing now. */
static const char *hint_text(struct app *app, const struct key_row *row, bool busy, int form)
{
	const struct session *s = app->session;
	const struct view *view = app_pane(app)->view;
	const struct plan *p = app_plan(app);
	bool unbound = p && p->unbound_count;
	switch (row->request) {
	case REQUEST_DIMS: return unbound && !busy ? "set dimensions" : "";
	case REQUEST_CANCEL: return app_agent_is_busy(app) ? "stop the run" : busy ? "stop measuring" : "";
	case REQUEST_AGENT: return app_agent_can_run(app) && !unbound && !busy ? row->hint : "";
	case REQUEST_MEASURE_MISSING:
		return unbound || busy || !session_queue(s) || !session_analysis(s) ? "" :
			measure_hint(app, form);
	case REQUEST_OPEN: return !can_do(app, row) ? "" : view->opens ? view->opens : row->hint;
	case REQUEST_SORT: return view_list(view)->orders ? row->hint : "";
	case REQUEST_SEARCH: return view_list(view)->row_text ? row->hint : "";
	case REQUEST_CLOSE: return app->stage->depth > 0 ? "close" : row->hint;
	case REQUEST_OWN: return row->view == view && can_do(app, row) ? row->hint : "";
	default: return row->hint;
	}
}

#define HINTS_MAX 32

struct hint {
	const struct key_row *row;
	const char *key, *text;
	int columns;
};

/* The first hint is the next step; the others are always the same. */
static int hints_list(struct app *app, int form, struct hint *list)
{
	static const enum request first[] = { REQUEST_DIMS, REQUEST_CANCEL, REQUEST_MEASURE_MISSING,
		REQUEST_OPEN, REQUEST_OWN, REQUEST_SEARCH, REQUEST_NEXT_VIEW, REQUEST_VIEW, REQUEST_CLOSE,
		REQUEST_SORT, REQUEST_AGENT };
	struct queue_status q = { .idle = true };
	if (session_queue(app->session))
		q = queue_status(session_queue(app->session));
	bool busy = (!q.idle && !app->stage->stopping) || app_agent_is_busy(app);
	int count, n = 0;
	const struct key_row *rows = keys_table(&count);
	for (size_t k = 0; k < sizeof(first) / sizeof(*first); k++)
		for (int i = 0; i < count && n < HINTS_MAX; i++) {
			const char *text =
				rows[i].request == first[k] ? hint_text(app, &rows[i], busy, form) : NULL;
			if (!text || !text[0])
				continue;
			const char *key = rows[i].first;
			list[n++] = (struct hint){ &rows[i], key, text,
				canvas_columns(key) + 1 + canvas_columns(text) };
		}
	return n;
}

/* True if those up to the one that leaves fit. */
static bool hints_fit(const struct hint *list, int count, int width)
{
	int x = 1;
	for (int i = 0; i < count; i++) {
		x += list[i].columns;
		if (list[i].row->request == REQUEST_CLOSE)
			return x <= width;
		x += 2;
	}
	return true;
}

const char *typed_text(struct app *app)
{
	const struct typed *t = &app->frame->typed;
	char key[16];
	key_text(key, t->first);
	return t->count ? arena_printf(&app->scratch, "%d%s", t->count, key) :
		arena_printf(&app->scratch, "%s", key);
}

/* What may follow them; the number of them. */
static int typed_next(struct app *app, struct key_next *next, int most)
{
	const struct typed *t = &app->frame->typed;
	const struct view *view = app_pane(app)->view;
	const struct key_row *row = t->count > 0 && t->count < 10 && t->until_ms && !t->first ?
		keys_find(view, (struct key_pair){ (uint32_t)('0' + t->count), 0 }) : NULL;
	int n = 0;
	if (t->first)
		return keys_next(view, t->first, next, most);
	if (!t->count)
		return 0;
	if (row && n < most)
		next[n++] = (struct key_next){ .key = "alone:", .name = row->name };
	if (n < most)
		next[n++] = (struct key_next){ .key = "j k G ]c ...", .name = "repeat" };
	if (!row && n < most)
		next[n++] = (struct key_next){ .key = "Esc", .name = "forget it" };
	return n;
}

/* Lists the keys that may follow a pending prefix, and the prefix at the end. Uses the last row, or both if
 * one is too short. Returns false if no prefix is pending. */
static bool draw_waiting(struct app *app, struct area rows)
{
	struct key_next next[HINTS_MAX];
	const char *waiting = typed_text(app);
	int count = typed_next(app, next, HINTS_MAX), all = 1, x = 1, last = rows.height - 1, y = last;
	int end = rows.width - canvas_columns(waiting) - 3;
	if (!*waiting)
		return false;
	for (int i = 0; i < count; i++)
		all += canvas_columns(next[i].key) + canvas_columns(next[i].name) + 3;
	if (all - 2 > end && last > 0) {
		y = last - 1;
		canvas_fill(rows, 0, y, rows.width, STYLE_NORMAL, ' ');
	}
	for (int i = 0; i < count; i++) {
		int columns = canvas_columns(next[i].key) + 1 + canvas_columns(next[i].name);
		if (y < last && x + columns > rows.width) {
			y++;
			x = 1;
		}
		if (y == last && x + columns > (i + 1 < count ? end - 3 : end)) {
			canvas_put(rows, x, y, STYLE_NORMAL, 0x2026);
			break;
		}
		x += canvas_text(rows, x, y, STYLE_BOLD, next[i].key) + 1;
		x += canvas_text(rows, x, y, STYLE_NORMAL, next[i].name) + 2;
	}
	canvas_fit_right(rows, end + 2, last, rows.width - end - 3, STYLE_BOLD, waiting);
	return true;
}

void app_draw_hints(struct app *app, struct area rows)
{
	struct area line = canvas_part(rows, 0, rows.height - 1, rows.width, 1);
	struct hint list[HINTS_MAX];
	int count = 0, x = 1;
	if (draw_waiting(app, rows))
		return;
	for (int form = 0; form < HINT_FORMS; form++) {
		count = hints_list(app, form, list);
		if (hints_fit(list, count, line.width))
			break;
	}
	for (int i = 0; i < count && x + list[i].columns <= line.width; i++) {
		spot_add(app, line, x, list[i].columns, list[i].row);
		x += canvas_text(line, x, 0, STYLE_BOLD, list[i].key) + 1;
		x += canvas_text(line, x, 0, STYLE_NORMAL, list[i].text) + 2;
	}
}
