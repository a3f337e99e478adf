/* The mouse: a click selects a row, a second one at once opens it; what the header and the bottom line name
 * acts where it stands; the wheel scrolls. All of it is what a key does too. */
#include "config.h"

#include "ui/frame/frame.h"

#define TWICE_MS 400    /* two clicks on a row within it are one double click */
#define WHEEL_ROWS 3

void spot_add(struct app *app, struct area line, int x, int width, const struct key_row *row)
{
	struct frame *f = app->frame;
	width = x + width > line.width ? line.width - x : width;
	if (f->spot_count < SPOTS_MAX && width > 0 && line.height > 0)
		f->spots[f->spot_count++] = (struct spot){ line.x + x, line.y, width, *row };
}

static const struct key_row *spot_at(const struct frame *f, int x, int y)
{
	for (int i = 0; i < f->spot_count; i++)
		if (y == f->spots[i].y && x >= f->spots[i].x && x < f->spots[i].x + f->spots[i].width)
			return &f->spots[i].row;
	return NULL;
}

static void wheel(struct app *app, int direction)
{
	struct pane *p = app_pane(app);
	struct key_row key = { .keys = "", .request = direction > 0 ? REQUEST_DOWN : REQUEST_UP, .text = "",
		.counts = true };
	if (p->view->draw)
		request_run(app, &key, 1);
	else
		pane_scroll(app, p, direction * WHEEL_ROWS);
}

static void row_click(struct app *app, int at, int64_t now_ms)
{
	static const struct key_row open = { .keys = "Enter", .request = REQUEST_OPEN, .text = "" };
	struct frame *f = app->frame;
	struct pane *p = app_pane(app);
	if (at < 0 || at >= p->shown_count || p->view->text)
		return;
	int row = p->shown[at];
	bool again = f->clicked == row && f->clicked_view == p->view && now_ms - f->clicked_ms < TWICE_MS;
	pane_move(app, p, at);
	bool reached = pane_row(p) == row; /* it is no continuation of another row */
	f->clicked = again || !reached ? -1 : row;
	f->clicked_view = p->view;
	f->clicked_ms = now_ms;
	if (reached && (again || p->view->click_opens))
		request_run(app, &open, 0);
}

/* While the form is open. */
static void form_event(struct app *app, const struct mouse *m)
{
	const struct key_row *row = m->kind == MOUSE_PRESS ? spot_at(app->frame, m->x, m->y) : NULL;
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
	struct frame *f = app->frame;
	enum prompt_kind kind = f->prompt.kind;
	if (app_is_too_small(app) ||
		(kind && kind != PROMPT_MEASURE && kind != PROMPT_LEAVE && kind != PROMPT_DIM))
		return;
	if (kind == PROMPT_DIM) {
		app->note[0] = '\0';
		form_event(app, m);
		return;
	}
	if (kind) /* as a key that is no answer */
		prompt_close(app);
	f->typed = (struct typed){ 0 };
	app->note[0] = '\0';
	pane_sync(app, app_pane(app), app_list_width(app));
	const struct key_row *found = m->kind == MOUSE_PRESS ? spot_at(f, m->x, m->y) : NULL;
	const struct area *list = &f->list;
	if (m->kind != MOUSE_PRESS)
		wheel(app, m->kind == MOUSE_WHEEL_DOWN ? 1 : -1);
	else if (found) {
		struct key_row row = *found; /* drawing may replace the spots */
		request_run(app, &row, 0);
	} else if (m->x >= list->x && m->x < list->x + list->width && m->y >= list->y &&
		m->y < list->y + list->height)
		row_click(app, app_pane(app)->top + m->y - list->y, now_ms);
}
