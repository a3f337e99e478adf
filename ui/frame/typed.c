/* Keys as they are typed: counts (5j) and pairs (zo). A key that could begin one, but means something by
 * itself too, waits for the next key for a moment: 5 shows view 5, unless j follows at once. One that moves
 * (g) does so at once; a pair that follows in time begins where it was. */
#include "config.h"

#include "config/config.h"
#include "ui/frame/frame.h"

#define WAIT_MS 300        /* without a configuration */
#define WAIT_MOVED_MS 1000 /* at least, after a key that has moved: time to read what may follow */
#define COUNT_MAX 99999

static const struct view *view_of(struct app *app)
{
	return app_pane(app)->view;
}

static const struct key_row *row_of(struct app *app, uint32_t first, uint32_t second)
{
	return keys_find(view_of(app), (struct key_pair){ first, second });
}

static void clear(struct app *app)
{
	app->frame->typed = (struct typed){ 0 };
}

/* Waits for the next key: for a moment, or for as long as it takes if the key means nothing by itself. */
static void wait(struct app *app, bool alone, int64_t now_ms)
{
	const struct config *c = session_config(app->session);
	int ms = c && c->key_wait_ms > 0 ? c->key_wait_ms : WAIT_MS;
	if (app->frame->typed.done && ms < WAIT_MOVED_MS)
		ms = WAIT_MOVED_MS;
	app->frame->typed.until_ms = alone ? now_ms + ms : 0;
	app->note[0] = '\0';
}

/* What waits means what it means by itself. */
static void give_up(struct app *app)
{
	struct typed t = app->frame->typed;
	const struct key_row *row = t.done ? NULL : t.first ? row_of(app, t.first, 0) :
		t.count && t.count < 10 ? row_of(app, (uint32_t)('0' + t.count), 0) : NULL;
	clear(app);
	if (row)
		request_run(app, row, t.first ? t.count : 0);
}

static bool is_motion(const struct key_row *row)
{
	return row && row->request >= REQUEST_DOWN && row->request <= REQUEST_PREVIOUS_LAYER;
}

/* Moves at once, and keeps where it was. */
static void move_now(struct app *app, const struct key_row *row, int count)
{
	struct typed *t = &app->frame->typed;
	const struct pane *p = app_pane(app);
	t->before = (struct typed_place){ p->cursor, p->top, app->layer, p->marked, app->stage->jumps };
	request_run(app, row, count);
	t->done = true;
}

static void move_undo(struct app *app, const struct typed_place *before)
{
	struct pane *p = app_pane(app);
	if (!p->view->draw)
		pane_move(app, p, before->cursor);
	p->top = before->top;
	p->marked = before->marked;
	app->layer = before->layer < app->place_count ? before->layer : app->layer;
	app->generation++;
	app->stage->jumps = before->jumps;
}

/* Runs the row of a pair, whose second key may be any letter. */
static void pair_run(struct app *app, const struct key_row *row, uint32_t second, int count)
{
	struct key_row one = *row;
	one.argument = row->letter ? (int)second : row->argument;
	request_run(app, &one, count);
}

/* The second key of a pair. Returns whether it was one; else it still has to be handled. */
static bool pair_end(struct app *app, uint32_t key)
{
	struct typed t = app->frame->typed;
	const struct key_row *row = row_of(app, t.first, key);
	if (row) {
		clear(app);
		if (t.done && row == row_of(app, t.first, 0)) /* gg: g has done it */
			return true;
		if (t.done)
			move_undo(app, &t.before);
		pair_run(app, row, key, t.count);
		return true;
	}
	if (t.until_ms) {
		give_up(app);
		return false;
	}
	clear(app);
	app->note[0] = '\0';
	if (key != KEY_CODE_ESC)
		request_unknown(app, (struct key_pair){ t.first, key });
	return true;
}

static void count_add(struct app *app, uint32_t key, int64_t now_ms)
{
	struct typed *t = &app->frame->typed;
	bool first = !t->count;
	t->count = 10 * t->count + (int)(key - '0');
	t->count = t->count > COUNT_MAX ? COUNT_MAX : t->count;
	wait(app, first && row_of(app, key, 0), now_ms);
}

void typed_key(struct app *app, uint32_t key, int64_t now_ms)
{
	struct typed *t = &app->frame->typed;
	bool digit = key >= '0' && key <= '9';
	if (app_is_too_small(app) || app->stage->prompt.use) {
		clear(app);
		if (request_is_direct(app, key))
			return;
	}
	if (t->first && pair_end(app, key))
		return;
	if (t->count && key == KEY_CODE_ESC) {
		clear(app);
		return;
	}
	if (digit && (t->count || key > '0')) {
		count_add(app, key, now_ms);
		return;
	}
	const struct key_row *row = row_of(app, key, 0);
	if (t->count && t->until_ms && !keys_begins(view_of(app), key) && !(row && row->counts)) {
		give_up(app); /* 2 Enter: the view, then Enter in it */
		row = row_of(app, key, 0);
	}
	if (keys_begins(view_of(app), key)) {
		int count = t->count;
		t->first = key;
		if (is_motion(row))
			move_now(app, row, count);
		wait(app, row, now_ms);
		return;
	}
	int count = t->count;
	clear(app);
	if (row)
		request_run(app, row, count);
	else
		app_key(app, key);
}

int typed_due_ms(const struct app *app, int64_t now_ms)
{
	int64_t until = app->frame->typed.until_ms;
	return !until ? -1 : until > now_ms ? (int)(until - now_ms) : 0;
}

void typed_expire(struct app *app, int64_t now_ms)
{
	if (typed_due_ms(app, now_ms) == 0)
		give_up(app);
}

bool typed_word(struct app *app, struct text word)
{
	size_t digits = 0;
	int64_t count = 0;
	if (app->stage->prompt.use || app_is_too_small(app))
		return false;
	while (digits < word.n && word.p[digits] >= '0' && word.p[digits] <= '9')
		digits++;
	if (digits && (!text_to_int64((struct text){ word.p, digits }, &count) || count < 1 ||
			      count > COUNT_MAX))
		return false;
	struct key_pair keys = keys_parse((struct text){ word.p + digits, word.n - digits });
	const struct key_row *row = keys.first ? keys_find(view_of(app), keys) : NULL;
	if (!row || (!digits && !keys.second) || (digits && !row->counts))
		return false;
	pair_run(app, row, keys.second, (int)count);
	return true;
}
