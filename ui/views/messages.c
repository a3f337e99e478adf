/* The messages and the log of this session, whole: a long one goes on in rows below, which the cursor
 * skips. */
#include "config.h"

#include "ui/views/view.h"

#include "base/log.h"

#include <stdlib.h>
#include <string.h>

#define TIME_COLUMNS 9 /* "12:34:56 " */

/* A row: a part of a line of the log. */
struct message_row {
	uint64_t line;
	size_t from, n;
};

struct messages {
	struct message_row *rows;
	int count, capacity, width;
	uint64_t seen_count, seen_first; /* of the log, when the rows were made */
};

/* Lines are not cleaned: parts are cut between the characters of the clean text. */
static void line_add(struct app *app, struct messages *m, uint64_t line)
{
	const char *text = app_clean(app, text_of(log_kept(line)));
	int room = m->width - 1;
	for (size_t from = 0, all = strlen(text); from < all || !from;) {
		size_t n = app_break(text + from, from ? room - TIME_COLUMNS : room);
		n = n ? n : all - from;
		VEC_GROW(m->rows, m->count, m->capacity);
		m->rows[m->count++] = (struct message_row){ line, from, n };
		from += n + strspn(text + from + n, " ");
		if (!all)
			break;
	}
}

static int messages_rows(struct app *app, void *state, int width)
{
	struct messages *m = state;
	if (m->width == width && m->seen_count == log_count() && m->seen_first == log_first())
		return m->count ? m->count : 1;
	m->width = width > TIME_COLUMNS + 10 ? width : TIME_COLUMNS + 10;
	m->seen_count = log_count();
	m->seen_first = log_first();
	m->count = 0;
	for (uint64_t i = m->seen_first; i < m->seen_count; i++)
		line_add(app, m, i);
	m->width = width;
	app->generation++;
	return m->count ? m->count : 1; /* the line "no messages" */
}

static void messages_close(struct app *app, void *state)
{
	(void)app;
	free(((struct messages *)state)->rows);
}

static const char *messages_row_text(struct app *app, void *state, int row)
{
	const struct messages *m = state;
	const char *line = row < m->count ? log_kept(m->rows[row].line) : NULL;
	if (!line)
		return m->count ? "" : "no messages yet";
	const char *text = app_clean(app, text_of(line));
	const struct message_row *r = &m->rows[row];
	return r->from + r->n > strlen(text) ? "" : arena_strndup(&app->scratch, text + r->from, r->n);
}

static bool messages_passes(struct app *app, void *state, int row)
{
	const struct messages *m = state;
	(void)app;
	return row < m->count && m->rows[row].from;
}

static void messages_draw_row(struct app *app, void *state, int row, int above, struct area line)
{
	int x = 1 + (messages_passes(app, state, row) ? TIME_COLUMNS : 0);
	(void)above;
	canvas_fit(line, x, 0, line.width - x, STYLE_NORMAL, messages_row_text(app, state, row));
}

/* The last message. */
static int messages_row_at_entry(struct app *app, void *state)
{
	const struct messages *m = state;
	int row = m->count - 1;
	while (row > 0 && messages_passes(app, state, row))
		row--;
	return row;
}

const struct view view_messages = {
	.name = "messages",
	.help = "all messages and log lines of this session, in full",
	.keys = "gl",
	.group = KEYS_VIEWS,
	.state_size = sizeof(struct messages),
	.close = messages_close,
	.rows = messages_rows,
	.draw_row = messages_draw_row,
	.row_text = messages_row_text,
	.passes = messages_passes,
	.row_at_entry = messages_row_at_entry,
	.own_footer = true,
};
