#include "config.h"

#include "ui/view.h"

#include "ui/app_private.h"

#include <stdlib.h>
#include <string.h>

/* Every line is made from the key table and the views' own lines. */
struct help_line {
	const char *left, *right;
	enum look look;
};

struct help {
	struct arena arena;
	struct help_line *lines;
	int count, capacity, width;
};

static void add(struct help *h, const char *left, const char *right, enum look look)
{
	VEC_GROW(h->lines, h->count, h->capacity);
	h->lines[h->count++] = (struct help_line){ left, right, look };
}

static const struct help_line signs[] = {
	{ "\u25cf \u25cb \u25c6", "a layer: with a cost, free or fused, on the critical path", LOOK_NORMAL },
	{ "\u251c \u2514 \u2500", "fused into the layer above; into one further up", LOOK_NORMAL },
	{ "= 1.2 ms", "the same problem as a layer before: measured once", LOOK_NORMAL },
	{ "~", "a stand-in or an estimate, or a difference of incomplete sums", LOOK_NORMAL },
	{ "-", "not measured", LOOK_NORMAL },
	{ "?3", "three problems must be measured before the what-if can tell", LOOK_NORMAL },
	{ "n/a", "this device has nothing of the kind", LOOK_NORMAL },
	{ "FUSION", "capitals: the what-if is on; the figure is what being on saves (-) or costs (+)",
		LOOK_NORMAL },
	{ "run 1st 2nd", "being measured; waiting in this place of the queue", LOOK_NORMAL },
	{ "unsup failed", "the library cannot do it; it went wrong (details say why)", LOOK_NORMAL },
	{ "stale", "measured by another version of the runner", LOOK_NORMAL },
};

#define LEFT_COLUMNS 18

/* Text that is longer than the line goes on below, broken at blanks. */
static void add_wrapped(struct help *h, const char *left, const char *right, enum look look)
{
	size_t room = h->width - LEFT_COLUMNS > 20 ? (size_t)(h->width - LEFT_COLUMNS) : 20;
	while (strlen(right) > room) {
		size_t n = room;
		while (n > 0 && right[n] != ' ')
			n--;
		n = n ? n : room;
		add(h, left, arena_strndup(&h->arena, right, n), look);
		right += n + (right[n] == ' ');
		left = "";
	}
	add(h, left, right, look);
}

static void help_make(struct help *h)
{
	int count;
	const struct key_row *rows = keys_table(&count);
	arena_free(&h->arena);
	h->count = 0;
	for (int g = 0; g < KEYS_GROUP_COUNT; g++) {
		if (g)
			add(h, "", "", LOOK_NORMAL);
		add(h, keys_group_name(g), "", LOOK_HEADER);
		for (int i = 0; i < count; i++)
			if (rows[i].group == (enum key_group)g)
				add_wrapped(h, rows[i].keys, rows[i].text, LOOK_NORMAL);
	}
	add(h, "", "", LOOK_NORMAL);
	add(h, "Signs", "", LOOK_HEADER);
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		add_wrapped(h, signs[i].left, signs[i].right, signs[i].look);
	add(h, "", "", LOOK_NORMAL);
	add(h, "The views", "", LOOK_HEADER);
	for (int i = 0; app_view(i); i++)
		add_wrapped(h, app_view(i)->name, app_view(i)->help, LOOK_NORMAL);
}

static void help_close(struct app *app, void *state)
{
	(void)app;
	struct help *h = state;
	arena_free(&h->arena);
	free(h->lines);
}

static int help_rows(struct app *app, void *state, int width)
{
	struct help *h = state;
	(void)app;
	if (h->width != width) {
		h->width = width;
		help_make(h);
	}
	return h->count;
}

static void help_draw_row(struct app *app, void *state, int row, int above, struct area line)
{
	const struct help_line *l = &((struct help *)state)->lines[row];
	(void)app;
	(void)above;
	if (l->look == LOOK_HEADER) {
		canvas_fit(line, 1, 0, line.width - 1, LOOK_HEADER, l->left);
		return;
	}
	canvas_fit(line, 3, 0, 14, LOOK_BOLD, l->left);
	canvas_fit(line, LEFT_COLUMNS, 0, line.width - LEFT_COLUMNS, l->look, l->right);
}

static const char *help_row_text(struct app *app, void *state, int row)
{
	const struct help_line *l = &((struct help *)state)->lines[row];
	return arena_printf(&app->scratch, "%s %s", l->left, l->right);
}

const struct view view_help = {
	.name = "help",
	.help = "this page",
	.state_size = sizeof(struct help),
	.close = help_close,
	.rows = help_rows,
	.draw_row = help_draw_row,
	.row_text = help_row_text,
	.text = true,
};
