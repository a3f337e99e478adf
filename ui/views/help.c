#include "config.h"

#include "ui/views/columns.h"
#include "ui/stage/lines.h"
#include "ui/views/view.h"

#include "analyze/scenario.h"
#include "session/glossary.h"
#include "session/state.h"

#include <stdlib.h>
#include <string.h>

/* The lines are made from the tables of keys, views, states and terms. */
struct help_line {
	const char *left, *right;
	bool heading;
};

struct help {
	struct arena arena;
	struct help_line *lines;
	int count, capacity, width;
	const struct view *of; /* the view that it was opened from */
	bool other;            /* another one than before */
};

static void add(struct help *h, const char *left, const char *right, bool heading)
{
	VEC_GROW(h->lines, h->count, h->capacity);
	h->lines[h->count++] = (struct help_line){ left, right, heading };
}

static const struct {
	const char *left, *right;
} signs[] = {
	{ "\u25cf \u25cb \u25c6", "a layer: with a cost, free or fused, on the critical path" },
	{ "\u251c \u2514 \u2500", "fused into the layer above; into one further up" },
	{ "= 1.2 ms", "same problem as an earlier layer: measured once" },
	{ "~", "a proxy or an estimate" },
	{ "*", "an assumed cost (=, --assume)" },
	{ "!", "suspect: faster than the measured peaks allow (details)" },
	{ "<104 us", "real time below the bound: contradicted" },
	{ "-", "not measured" },
	{ "?3", "unknown until three problems are measured" },
	{ "n/a", "does not apply on this device, or cannot be measured on it" },
	{ "FUSION", "capitals: the what-if is on; the number is its saving (-) or loss (+) when on" },
};

#define LEFT_COLUMNS 18
#define LEFT_WIDTH 14

/* Wraps text that is longer than the line at blanks. */
static void add_wrapped(struct help *h, const char *left, const char *right)
{
	int room = h->width - LEFT_COLUMNS > 20 ? h->width - LEFT_COLUMNS : 20;
	if (canvas_columns(left) > LEFT_WIDTH) { /* a long term gets its own line */
		add(h, left, "", false);
		left = "";
	}
	for (size_t n; right[n = app_break(right, room)]; left = "") {
		add(h, left, arena_strndup(&h->arena, right, n), false);
		right += n;
		right += strspn(right, " ");
	}
	add(h, left, right, false);
}

static void commands_add(struct help *h)
{
	int count;
	const struct line_row *rows = lines_table(&count);
	add(h, "", "", false);
	add(h, "After :", "", true);
	for (int i = 0; i < count; i++) {
		char shown[LINE_SHOWN];
		add_wrapped(h, arena_printf(&h->arena, "%s", line_shown(shown, &rows[i])), rows[i].text);
	}
}

/* What the view's own keys do, and Enter. */
static void view_add(struct help *h, const struct key_row *rows, int count)
{
	const struct view *v = h->of;
	struct str about = { 0 };
	keys_spell(&about, v->help);
	add(h, arena_printf(&h->arena, "In this view, %s", v->name), "", true);
	add_wrapped(h, "shows", arena_printf(&h->arena, "%s", about.p));
	str_free(&about);
	if (v->request)
		add_wrapped(h, keys_named("open")->keys, v->opens ? v->opens : keys_named("open")->hint);
	for (int i = 0; i < count; i++) {
		size_t n = strlen(rows[i].text), end = strlen(v->name) + strlen(" ()");
		if (rows[i].view == v)
			add_wrapped(h, rows[i].keys, arena_strndup(&h->arena, rows[i].text, n - end));
	}
}

/* A what-if by its name in the header, which -w may call otherwise. */
static void what_if_add(struct help *h, const struct key_row *row)
{
	int count;
	const struct what_if *w = &what_if_table(&count)[row->argument];
	bool same = strcmp(w->label, w->name) == 0;
	add_wrapped(h, arena_printf(&h->arena, "%s %s", row->keys, w->label), same ? w->text :
		arena_printf(&h->arena, "%s: %s", w->name, w->text));
}

static void group_add(struct help *h, const struct key_row *rows, int count, enum key_group g)
{
	if (!keys_group_has(g))
		return;
	add(h, "", "", false);
	add(h, keys_group_name(g), "", true);
	for (int i = 0; i < count; i++) {
		if (rows[i].group != g || rows[i].view == h->of)
			continue;
		if (rows[i].request == REQUEST_WHAT_IF)
			what_if_add(h, &rows[i]);
		else
			add_wrapped(h, rows[i].keys, rows[i].text);
	}
}

static void help_make(struct help *h)
{
	int count;
	const struct key_row *rows = keys_table(&count);
	arena_free(&h->arena);
	h->count = 0;
	view_add(h, rows, count);
	for (int g = 0; g < KEYS_GROUP_COUNT; g++)
		group_add(h, rows, count, (enum key_group)g);
	commands_add(h);
	add(h, "", "", false);
	add(h, "Signs", "", true);
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		add_wrapped(h, signs[i].left, signs[i].right);
	add(h, "", "", false);
	add(h, "States", "", true);
	for (int i = 0; i < STATE_COUNT; i++)
		if (*state_row((enum state)i)->word)
			add_wrapped(h, state_row((enum state)i)->word, state_row((enum state)i)->text);
	add(h, "", "", false);
	add(h, "Columns of the layers view", "", true);
	for (int i = 0; column_help(i); i++)
		add_wrapped(h, column_name(i), column_help(i));
	const char *text, *term;
	add(h, "", "", false);
	add(h, "Search and filter", "", true);
	for (int i = 0; (term = term_help(i, &text)); i++)
		add_wrapped(h, term, text);
	int term_count;
	const struct glossary_row *terms = glossary_table(&term_count);
	add(h, "", "", false);
	add(h, "Terms", "", true);
	for (int i = 0; i < term_count; i++)
		add_wrapped(h, terms[i].term, terms[i].text);
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
	const struct view *of = app_view_before(app);
	if (h->width != width || h->of != of) {
		h->other |= h->of != of;
		h->width = width;
		h->of = of;
		help_make(h);
	}
	return h->count;
}

/* From another view it begins at its first row; from the same one it goes on where it was left. */
static int help_entry(struct app *app, void *state)
{
	struct help *h = state;
	bool other = h->other;
	(void)app;
	h->other = false;
	return other ? 0 : -1;
}

static void help_draw_row(struct app *app, void *state, int row, int above, struct area line)
{
	const struct help_line *l = &((struct help *)state)->lines[row];
	(void)app;
	(void)above;
	if (l->heading) {
		canvas_fit(line, 1, 0, line.width - 1, STYLE_HEADER, l->left);
		return;
	}
	canvas_fit(line, 3, 0, *l->right ? LEFT_WIDTH : line.width - 3, STYLE_BOLD, l->left);
	canvas_fit(line, LEFT_COLUMNS, 0, line.width - LEFT_COLUMNS, STYLE_NORMAL, l->right);
}

static const char *help_row_text(struct app *app, void *state, int row)
{
	const struct help_line *l = &((struct help *)state)->lines[row];
	return arena_printf(&app->scratch, "%s %s", l->left, l->right);
}

const struct view view_help = {
	.name = "help",
	.help = "this page: first what the keys do in the view that it is opened from",
	.keys = "? h F1 8",
	.group = KEYS_VIEWS,
	.hint = "help",
	.state_size = sizeof(struct help),
	.close = help_close,
	.rows = help_rows,
	.row_at_entry = help_entry,
	.draw_row = help_draw_row,
	.row_text = help_row_text,
	.text = true,
	.own_footer = true,
};
