/* The view of keys and terms, made from their tables. */
#include "config.h"

#include "ui/model/page.h"
#include "ui/stage/lines.h"
#include "ui/views/columns.h"
#include "ui/views/view.h"

#include "analyze/scenario/scenario.h"
#include "session/glossary.h"
#include "session/state.h"

#include <string.h>

/* The lines are made from the tables of keys, views, states and terms. */
struct help {
	struct page page;
	const struct view *of; /* the view that it was opened from */
	bool other;            /* another one than before */
};

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

#define LEFT_AT 3
#define LEFT_WIDTH 14
#define RIGHT_AT 18

static void add(struct page *h, const char *left, const char *right)
{
	page_add(h, RIGHT_AT, STYLE_NORMAL, right)->label = left;
}

/* With a blank line before it, but at the top. */
static void add_heading(struct page *h, const char *text)
{
	if (h->count)
		add(h, "", "");
	page_add(h, 1, STYLE_HEADER, text);
}

/* Text that is longer than the line goes on in further ones. */
static void add_wrapped(struct page *h, const char *left, const char *right)
{
	if (canvas_columns(left) > LEFT_WIDTH) { /* a long term gets its own line */
		add(h, left, "");
		left = "";
	}
	int first = page_wrap(h, RIGHT_AT, RIGHT_AT, STYLE_NORMAL, right);
	if (h->count == first)
		add(h, left, "");
	for (int i = first; i < h->count; i++, left = "")
		h->lines[i].label = left;
}

static void commands_add(struct page *h)
{
	int count;
	const struct line_row *rows = lines_table(&count);
	add_heading(h, "After :");
	for (int i = 0; i < count; i++) {
		char shown[LINE_SHOWN];
		add_wrapped(h, arena_printf(&h->arena, "%s", line_shown(shown, &rows[i])), rows[i].text);
	}
}

/* What the view's own keys do, and Enter. */
static void view_add(struct page *h, const struct view *v, const struct key_row *rows, int count)
{
	struct str about = { 0 };
	keys_spell(&about, v->help);
	add_heading(h, arena_printf(&h->arena, "In this view, %s", v->name));
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
static void what_if_add(struct page *h, const struct key_row *row)
{
	int count;
	const struct what_if *w = &what_if_table(&count)[row->argument];
	bool same = strcmp(w->label, w->name) == 0;
	add_wrapped(h, arena_printf(&h->arena, "%s %s", row->keys, w->label), same ? w->text :
		arena_printf(&h->arena, "%s: %s", w->name, w->text));
}

static void group_add(struct page *h, const struct view *of, const struct key_row *rows, int count,
	enum key_group g)
{
	if (!keys_group_has(g))
		return;
	add_heading(h, keys_group_name(g));
	for (int i = 0; i < count; i++) {
		if (rows[i].group != g || rows[i].view == of)
			continue;
		if (rows[i].request == REQUEST_WHAT_IF)
			what_if_add(h, &rows[i]);
		else
			add_wrapped(h, rows[i].keys, rows[i].text);
	}
}

static void lines_make(struct page *h, const struct view *of)
{
	int count;
	const struct key_row *rows = keys_table(&count);
	view_add(h, of, rows, count);
	for (int g = 0; g < KEYS_GROUP_COUNT; g++)
		group_add(h, of, rows, count, (enum key_group)g);
	commands_add(h);
	add_heading(h, "Signs");
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		add_wrapped(h, signs[i].left, signs[i].right);
	add_heading(h, "States");
	for (int i = 0; i < STATE_COUNT; i++)
		if (*state_row((enum state)i)->word)
			add_wrapped(h, state_row((enum state)i)->word, state_row((enum state)i)->text);
	add_heading(h, "Columns of the layers view");
	for (int i = 0; column_help(i); i++)
		add_wrapped(h, column_name(i), column_help(i));
	const char *text, *term;
	add_heading(h, "Search and filter");
	for (int i = 0; (term = term_help(i, &text)); i++)
		add_wrapped(h, term, text);
	int term_count;
	const struct glossary_row *terms = glossary_table(&term_count);
	add_heading(h, "Terms");
	for (int i = 0; i < term_count; i++)
		add_wrapped(h, terms[i].term, terms[i].text);
}

static int help_rows(struct app *app, void *state, int width)
{
	struct help *h = state;
	const struct view *of = app_view_before(app);
	if (h->page.width != width || h->of != of) {
		h->other |= h->of != of;
		h->of = of;
		page_begin(&h->page, app, width);
		lines_make(&h->page, of);
	}
	return h->page.count;
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
	const struct page_line *l = &((struct page *)state)->lines[row];
	page_draw_row(app, state, row, above, line);
	if (l->label)
		canvas_fit(line, LEFT_AT, 0, *l->text ? LEFT_WIDTH : line.width - LEFT_AT, STYLE_BOLD,
			l->label);
}

static const struct list help_list = {
	.rows = help_rows,
	.row_at_entry = help_entry,
	.draw_row = help_draw_row,
	.row_text = page_row_text,
	.text = true,
};

const struct view view_help = {
	.name = "help",
	.help = "this page: first what the keys do in the view that it is opened from",
	.keys = "? h F1 8",
	.group = KEYS_VIEWS,
	.hint = "help",
	.state_size = sizeof(struct help),
	.close = page_close,
	.list = &help_list,
	.own_footer = true,
};
