/* The mouse: a click selects a row or what a chart shows there, a second one at once opens it; one on a
 * heading sorts; what the header and the bottom line name acts where it stands; the wheel scrolls. All of it
 * is what a key does too. */
#include "config.h"

#include "ui/frame/frame.h"

#define TWICE_MS 400    /* two clicks on a row within it are one double click */
#define WHEEL_ROWS 3

/* The nearest item; of equal ones that drawn last, which is on top. A row counts for two columns. NULL:
 * none. */
static const struct chart_item *item_at(const struct stage *s, int x, int y)
{
	const struct chart_item *best = NULL;
	int least = 0;
	for (int i = 0; i < s->item_count; i++) {
		const struct chart_item *c = &s->items[i];
		int aside = x < c->x ? c->x - x : x >= c->x + c->width ? x - c->x - c->width + 1 : 0;
		int apart = aside + 2 * (y < c->y ? c->y - y : y - c->y);
		if (!best || apart <= least) {
			best = c;
			least = apart;
		}
	}
	return best;
}

static const struct key_row *spot_at(const struct stage *s, int x, int y)
{
	for (int i = 0; i < s->spot_count; i++)
		if (y == s->spots[i].y && x >= s->spots[i].x && x < s->spots[i].x + s->spots[i].width)
			return &s->spots[i].row;
	return NULL;
}

/* A chart that scrolls does so, else the selection steps. */
static void wheel(struct app *app, int direction)
{
	struct pane *p = app_pane(app);
	bool down = direction > 0;
	struct key_row scroll = { .keys = "", .request = down ? REQUEST_SCROLL_DOWN : REQUEST_SCROLL_UP,
		.text = "" }, step = { .keys = "", .request = down ? REQUEST_DOWN : REQUEST_UP, .text = "" };
	app->count = 0;
	if (!p->view->draw)
		pane_scroll(app, p, direction * WHEEL_ROWS);
	else if (!p->view->request || !p->view->request(app, p->state, &scroll, -1))
		request_run(app, &step, 1);
}

static const struct key_row open = { .keys = "Enter", .request = REQUEST_OPEN, .text = "" };

/* True for the second click on the same thing. */
static bool is_again(struct app *app, int clicked, int64_t now_ms)
{
	struct frame *f = app->frame;
	const struct view *view = app_pane(app)->view;
	bool again = f->clicked == clicked && f->clicked_view == view && now_ms - f->clicked_ms < TWICE_MS;
	f->clicked = again ? -1 : clicked;
	f->clicked_view = view;
	f->clicked_ms = now_ms;
	return again;
}

/* A second click at the same place opens, whatever the first one has moved there. */
static void item_click(struct app *app, int x, int y, int64_t now_ms)
{
	struct pane *p = app_pane(app);
	const struct chart_item *c = item_at(app->stage, x, y);
	if (is_again(app, y * CANVAS_SIDE_MAX + x, now_ms)) {
		request_run(app, &open, 0);
		return;
	}
	if (c && p->view->pick)
		p->view->pick(app, p->state, c->item);
	else if (c && c->item >= 0 && c->item < app->place_count)
		app->layer = c->item;
	app->generation++;
}

static void row_click(struct app *app, int at, int64_t now_ms)
{
	struct pane *p = app_pane(app);
	if (at < 0 || at >= p->shown_count || p->list->text)
		return;
	int row = p->shown[at];
	bool again = is_again(app, row, now_ms);
	pane_move(app, p, at);
	bool reached = pane_row(p) == row; /* it is no continuation of another row */
	app->frame->clicked = reached ? app->frame->clicked : -1;
	if (reached && (again || p->list->click_opens))
		request_run(app, &open, 0);
}

static bool is_in(const struct area *a, const struct mouse *m)
{
	return m->x >= a->x && m->x < a->x + a->width && m->y >= a->y && m->y < a->y + a->height;
}

/* While the form is open. */
static void form_event(struct app *app, const struct mouse *m)
{
	const struct key_row *row = m->kind == MOUSE_PRESS ? spot_at(app->stage, m->x, m->y) : NULL;
	if (m->kind != MOUSE_PRESS)
		form_key(app, m->kind == MOUSE_WHEEL_DOWN ? KEY_CODE_DOWN : KEY_CODE_UP);
	else if (row)
		form_key(app, row->request == REQUEST_OPEN ? KEY_CODE_ENTER : row->request == REQUEST_BACK ?
			KEY_CODE_ESC : KEY_CODE_DOWN);
	else
		form_click(app, m->x, m->y);
}

void mouse_event(struct app *app, const struct mouse *m, int64_t now_ms)
{
	struct stage *s = app->stage;
	const struct prompt *q = &s->prompt;
	if (app_is_too_small(app) ||
		(q->use && q->use != &prompt_form && (!q->use->question || q->yes)))
		return;
	if (q->use == &prompt_form) {
		app->note[0] = '\0';
		form_event(app, m);
		return;
	}
	if (q->use) /* as a key that is no answer */
		prompt_close(app);
	app->frame->typed = (struct typed){ 0 };
	app->note[0] = '\0';
	pane_sync(app, app_pane(app), app_list_width(app));
	const struct key_row *found = m->kind == MOUSE_PRESS ? spot_at(s, m->x, m->y) : NULL;
	if (m->kind != MOUSE_PRESS)
		wheel(app, m->kind == MOUSE_WHEEL_DOWN ? 1 : -1);
	else if (found) {
		struct key_row row = *found; /* drawing may replace the spots */
		request_run(app, &row, 0);
	} else if (is_in(&s->list, m))
		row_click(app, app_pane(app)->top + m->y - s->list.y, now_ms);
	else if (is_in(&s->chart, m))
		item_click(app, m->x, m->y, now_ms);
}
