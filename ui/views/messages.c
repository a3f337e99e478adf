/* The messages and the log of this session, whole: a long one goes on in rows below, which the cursor
 * skips. */
#include "config.h"

#include "base/log.h"
#include "ui/model/page.h"
#include "ui/views/view.h"

#define TIME_COLUMNS 9 /* "12:34:56 " */

struct messages {
	struct page page;
	uint64_t seen_count, seen_first; /* of the log, when the rows were made */
};

static int messages_rows(struct app *app, void *state, int width)
{
	struct messages *m = state;
	struct page *p = &m->page;
	if (p->count && p->width == width && m->seen_count == log_count() && m->seen_first == log_first())
		return p->count;
	m->seen_count = log_count();
	m->seen_first = log_first();
	app->generation++;
	page_begin(p, app, width);
	for (uint64_t i = m->seen_first; i < m->seen_count; i++) {
		const char *text = app_clean(app, text_of(log_kept(i)));
		if (page_wrap(p, 1, 1 + TIME_COLUMNS, STYLE_NORMAL, text) == p->count)
			page_add(p, 1, STYLE_NORMAL, "");
	}
	if (!p->count)
		page_add(p, 1, STYLE_NORMAL, "no messages yet");
	return p->count;
}

/* The last message. */
static int messages_row_at_entry(struct app *app, void *state)
{
	int row = ((struct page *)state)->count - 1;
	while (row > 0 && page_passes(app, state, row))
		row--;
	return row;
}

static const struct list messages_list = {
	.rows = messages_rows,
	.draw_row = page_draw_row,
	.row_text = page_row_text,
	.passes = page_passes,
	.row_at_entry = messages_row_at_entry,
};

const struct view view_messages = {
	.name = "messages",
	.help = "all messages and log lines of this session, in full",
	.keys = "gl",
	.group = KEYS_VIEWS,
	.state_size = sizeof(struct messages),
	.close = page_close,
	.list = &messages_list,
	.own_footer = true,
};
