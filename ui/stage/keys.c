/* The table of keys: of all views, of what-ifs and of single views, as the configuration changes them. */
#include "config.h"

#include "ui/stage/view.h"

#include "analyze/scenario/scenario.h"
#include "base/arena.h"
#include "base/word.h"
#include "config/config.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct key_row fixed[] = {
	{ "j Down", REQUEST_DOWN, 0, KEYS_MOVE,
		"one row down; 5{down}: five rows (a digit alone shows a view)",
		.counts = true, .name = "down" },
	{ "k Up", REQUEST_UP, 0, KEYS_MOVE, "one row up", .counts = true, .name = "up" },
	{ "PgDn ^F Space", REQUEST_PAGE_DOWN, 0, KEYS_MOVE, "one page down", .counts = true,
		.name = "page-down" },
	{ "PgUp ^B", REQUEST_PAGE_UP, 0, KEYS_MOVE, "one page up", .counts = true, .name = "page-up" },
	{ "^D", REQUEST_HALF_DOWN, 0, KEYS_MOVE, "half a page down", .counts = true, .name = "half-down" },
	{ "^U", REQUEST_HALF_UP, 0, KEYS_MOVE, "half a page up", .counts = true, .name = "half-up" },
	{ "g gg Home", REQUEST_FIRST, 0, KEYS_MOVE,
		"to the first row; with a number before it, to that row", .counts = true, .name = "first" },
	{ "G End", REQUEST_LAST, 0, KEYS_MOVE, "to the last row; 12{last}: to row 12", .counts = true,
		.name = "last" },
	{ "H", REQUEST_TOP, 0, KEYS_MOVE, "to the top of the screen", .name = "top" },
	{ "M", REQUEST_MIDDLE, 0, KEYS_MOVE, "to the middle of the screen", .name = "middle" },
	{ "L", REQUEST_BOTTOM, 0, KEYS_MOVE, "to the bottom of the screen", .name = "bottom" },
	{ "^E", REQUEST_SCROLL_DOWN, 0, KEYS_MOVE, "scroll one row down; the cursor stays visible",
		.counts = true, .name = "scroll-down" },
	{ "^Y", REQUEST_SCROLL_UP, 0, KEYS_MOVE, "scroll one row up", .counts = true, .name = "scroll-up" },
	{ "zt", REQUEST_SCROLL_TOP, 0, KEYS_MOVE,
		"scroll so that the selected row is the first one; {scroll-middle}: in the middle; "
		"{scroll-bottom}: the last",
		.name = "scroll-top" },
	{ "zz", REQUEST_SCROLL_MIDDLE, 0, KEYS_MOVE, "scroll the selected row to the middle",
		.name = "scroll-middle" },
	{ "zb", REQUEST_SCROLL_BOTTOM, 0, KEYS_MOVE, "scroll the selected row to the bottom",
		.name = "scroll-bottom" },
	{ ">", REQUEST_NEXT_LAYER, 0, KEYS_MOVE, "to the next layer, staying in the view (details)",
		.counts = true, .name = "next-layer" },
	{ "<", REQUEST_PREVIOUS_LAYER, 0, KEYS_MOVE, "to the previous layer", .counts = true,
		.name = "previous-layer" },
	{ "]c", REQUEST_JUMP, 1 + KIND_CRITICAL, KEYS_FIND,
		"next layer on the critical path; {previous-critical}: previous", .counts = true,
		.name = "next-critical" },
	{ "[c", REQUEST_JUMP, -1 - KIND_CRITICAL, KEYS_FIND, "previous critical layer", .counts = true,
		.name = "previous-critical" },
	{ "]u", REQUEST_JUMP, 1 + KIND_UNMEASURED, KEYS_FIND, "next layer without a cost", .counts = true,
		.name = "next-unmeasured" },
	{ "[u", REQUEST_JUMP, -1 - KIND_UNMEASURED, KEYS_FIND, "previous layer without a cost",
		.counts = true, .name = "previous-unmeasured" },
	{ "]n", REQUEST_JUMP, 1 + KIND_NOISY, KEYS_FIND, "next noisy or suspect layer", .counts = true,
		.name = "next-noisy" },
	{ "[n", REQUEST_JUMP, -1 - KIND_NOISY, KEYS_FIND, "previous noisy or suspect layer",
		.counts = true, .name = "previous-noisy" },
	{ "]s", REQUEST_JUMP, 1 + KIND_SAME, KEYS_FIND, "next layer with the same problem", .counts = true,
		.name = "next-same" },
	{ "[s", REQUEST_JUMP, -1 - KIND_SAME, KEYS_FIND, "previous layer with the same problem",
		.counts = true, .name = "previous-same" },
	{ "]m", REQUEST_JUMP, 1 + KIND_MARKED, KEYS_FIND, "next marked layer", .counts = true,
		.name = "next-marked" },
	{ "[m", REQUEST_JUMP, -1 - KIND_MARKED, KEYS_FIND, "previous marked layer", .counts = true,
		.name = "previous-marked" },
	{ "]p", REQUEST_JUMP_ALONG, 1, KEYS_FIND, "to the first layer that reads its output",
		.counts = true, .name = "reader" },
	{ "[p", REQUEST_JUMP_ALONG, -1, KEYS_FIND, "to the layer that produces its first input",
		.counts = true, .name = "producer" },
	{ "^O", REQUEST_JUMP_BACK, 0, KEYS_FIND, "back to the row before the last jump or search",
		.counts = true, .name = "jump-back" },
	{ "\"a", REQUEST_MARK_SET, 0, KEYS_FIND, "set mark a, or another letter", .letter = true,
		.name = "mark" },
	{ "'a", REQUEST_MARK_JUMP, 0, KEYS_FIND, "to mark a, or another letter", .letter = true,
		.name = "to-mark" },
	{ "V", REQUEST_PICK, 0, KEYS_MEASURE,
		"mark the layer (*), or remove its mark, and go on; 5{pick}: five layers. {measure} then "
		"measures only marked layers, {measure-layer} measures them again",
		.counts = true, .name = "pick" },
	{ "U", REQUEST_PICK_CLEAR, 0, KEYS_MEASURE, "remove all marks of {pick}", .name = "pick-none" },
	{ "/ F3", REQUEST_SEARCH, 0, KEYS_FIND,
		"search as you type; Enter stays at the match, Esc goes back. Terms (cost>1ms) are below",
		.hint = "search", .name = "search" },
	{ "n", REQUEST_FIND_NEXT, 0, KEYS_FIND, "next match", .counts = true, .name = "find-next" },
	{ "N", REQUEST_FIND_PREVIOUS, 0, KEYS_FIND, "previous match", .counts = true,
		.name = "find-previous" },
	{ "& \\ F4", REQUEST_FILTER, 0, KEYS_FIND,
		"show only matching rows, as you type (state:noisy op=Conv); an empty text shows all",
		.name = "filter" },
	{ "s F6", REQUEST_SORT, 0, KEYS_FIND, "sort by the next column (model order, cost, name, ...)",
		.hint = "sort", .name = "sort" },
	{ "S", REQUEST_SORT_BACK, 0, KEYS_FIND, "sort by the previous column", .name = "sort-back" },
	{ "I", REQUEST_REVERSE, 0, KEYS_FIND, "reverse the order", .name = "reverse" },
	{ "$a", REQUEST_GAINS, 0, KEYS_FIND,
		"layers by the saving of the what-if with key a, or another key: {gains}{fusion} by the "
		"saving of fusion",
		.letter = true, .name = "gains" },
	{ "c", REQUEST_FOLDED, 0, KEYS_FIND,
		"show or hide the layers that only compute constants (weights, arithmetic on shapes)",
		.name = "constants" },
	{ "Enter", REQUEST_OPEN, 0, KEYS_VIEWS,
		"open a layer's details or the layer that a line names; switch a what-if; use a device",
		.hint = "details", .name = "open" },
	{ "Esc Backspace", REQUEST_BACK, 0, KEYS_VIEWS,
		"back to the previous layer or view; clears a search or filter", .name = "back" },
	{ "Right", REQUEST_UNFOLD, KEYS_ELSE_OPEN, KEYS_VIEWS,
		"show the layers inside a layer (If, Loop, Scan); elsewhere: open", .name = "right" },
	{ "Left", REQUEST_FOLD, KEYS_ELSE_OPEN, KEYS_VIEWS, "hide them again; elsewhere: back",
		.name = "left" },
	{ "zo", REQUEST_UNFOLD, 0, KEYS_VIEWS,
		"show the layers inside a layer or in a closed scope (layer1.0)", .name = "fold-open" },
	{ "zc", REQUEST_FOLD, 0, KEYS_VIEWS,
		"hide them again; a closed scope is one row with subtotals", .name = "fold-close" },
	{ "*", REQUEST_UNFOLD_ALL, 0, KEYS_VIEWS, "show or hide the layers inside all such layers",
		.name = "unfold-all" },
	{ "Tab", REQUEST_NEXT_VIEW, 0, KEYS_VIEWS, "next view", .hint = "next view", .name = "next-view" },
	{ "BackTab", REQUEST_PREVIOUS_VIEW, 0, KEYS_VIEWS, "previous view", .name = "previous-view" },
	{ "b", REQUEST_MEASURE_MISSING, 0, KEYS_MEASURE,
		"measure problems without results, also those of what-ifs; if all have results, noisy ones "
		"again; with several -b or -t, the whole sweep",
		.hint = "measure missing", .name = "measure" },
	{ "B", REQUEST_MEASURE_LAYER, 0, KEYS_MEASURE,
		"measure the selected layer, or the marked ones, even if they have results",
		.name = "measure-layer" },
	{ "e", REQUEST_AGENT, 0, KEYS_MEASURE,
		"run the whole model with an agent (ONNX Runtime ...) and show its real latency; again: "
		"cancel",
		.hint = "real latency", .name = "agent" },
	{ "E", REQUEST_AGENT_NEXT, 0, KEYS_MEASURE, "select the next configured agent",
		.name = "next-agent" },
	{ "x", REQUEST_CANCEL, 0, KEYS_MEASURE, "stop measuring; finished results are kept",
		.name = "stop" },
	{ "+", REQUEST_BATCH_UP, 0, KEYS_WHAT_IF, "next configured batch size; if none is configured, "
		"twice the size",
		.name = "batch-up" },
	{ "-", REQUEST_BATCH_DOWN, 0, KEYS_WHAT_IF, "previous configured batch size; if none is "
		"configured, half the size",
		.name = "batch-down" },
	{ "t", REQUEST_DTYPE, 0, KEYS_WHAT_IF, "next configured data type; if none is configured, f32 or "
		"bf16",
		.name = "type" },
	{ "d", REQUEST_DIMS, 0, KEYS_WHAT_IF, "batch, data type and all dimensions in one form, set together",
		.name = "dimensions" },
	{ "u zu", REQUEST_UNDO, 0, KEYS_WHAT_IF,
		"undo the last change of what-ifs; 99{undo-what-if}: all changes",
		.counts = true, .name = "undo-what-if" },
	{ "^R", REQUEST_REDO, 0, KEYS_WHAT_IF, "redo the last change that was undone",
		.counts = true, .name = "redo-what-if" },
	{ "zU", REQUEST_RESET, 0, KEYS_WHAT_IF,
		"reset all what-ifs to the options and the configuration, else to the defaults",
		.name = "reset-what-ifs" },
	{ "=", REQUEST_TYPE, 0, KEYS_WHAT_IF,
		"assume a cost for the selected layer, as with a custom kernel: 12us, 2x, 0; in the view "
		"what-if: type a choice", .name = "set-cost" },
	{ ":", REQUEST_COMMAND, 0, KEYS_COMMAND,
		"type a command: Tab completes, Up and Down go through earlier ones", .name = "command" },
	{ "y", REQUEST_COPY_NAME, 0, KEYS_COMMAND, "copy the selected layer's name to the clipboard",
		.name = "copy" },
	{ "Y", REQUEST_COPY_PROBLEM, 0, KEYS_COMMAND, "copy the text of its problem, as runners read it",
		.name = "copy-problem" },
	{ "^L R F5", REQUEST_REDRAW, 0, KEYS_LEAVE, "redraw the screen", .name = "redraw" },
	{ "q", REQUEST_CLOSE, 0, KEYS_LEAVE, "close the view; in the layers view, quit (results are kept)",
		.hint = "quit", .name = "close" },
	{ "Q F10 ^C ZZ ZQ", REQUEST_QUIT, 0, KEYS_LEAVE, "quit at once", .name = "quit" },
};

#define FIXED_COUNT ((int)(sizeof(fixed) / sizeof(*fixed)))

const char *keys_group_name(enum key_group g)
{
	static const char *const group_names[KEYS_GROUP_COUNT] = { [KEYS_MOVE] = "Moving",
		[KEYS_FIND] = "Finding", [KEYS_VIEWS] = "Views", [KEYS_CHARTS] = "Charts",
		[KEYS_MEASURE] = "Measuring", [KEYS_WHAT_IF] = "What if", [KEYS_COMMAND] = "Commands",
		[KEYS_LEAVE] = "Leaving" };
	return group_names[g];
}

bool keys_group_has(enum key_group g)
{
	int count;
	const struct key_row *rows = keys_table(&count);
	for (int i = 0; i < count; i++)
		if (rows[i].group == g)
			return true;
	return false;
}

/* A key or pair of a row. */
struct key_entry {
	struct key_pair keys;
	int row;
};

/* Built once; texts live in the arena. */
static struct {
	struct arena arena;
	struct key_row *rows;
	int count, capacity;
	struct key_entry *entries; /* of all rows */
	int entry_count, entry_capacity;
} table;

static const char *first_of(const struct key_row *row)
{
	struct text first = { "", 0 };
	const char *list = row->keys;
	for (struct text name; key_name_next(&list, &name);)
		if (!first.n || (first.n == 1 && first.p[0] >= '0' && first.p[0] <= '9'))
			first = name;
	struct key_pair keys = keys_parse(first);
	if (row->letter && keys.second) {
		char one[16];
		return arena_printf(&table.arena, "%s", key_text(one, keys.first));
	}
	return arena_printf(&table.arena, "%.*s", (int)first.n, first.p);
}

static void table_add(struct key_row row)
{
	row.first = first_of(&row);
	row.unspelt = row.text;
	const char *list = row.keys;
	for (struct text name; key_name_next(&list, &name);) {
		VEC_GROW(table.entries, table.entry_count, table.entry_capacity);
		table.entries[table.entry_count++] =
			(struct key_entry){ .keys = keys_parse(name), .row = table.count };
	}
	VEC_GROW(table.rows, table.count, table.capacity);
	table.rows[table.count++] = row;
}

static void add_view(int number)
{
	const struct view *v = views_at(number);
	if (v->keys)
		table_add((struct key_row){ .keys = v->keys, .request = REQUEST_VIEW, .argument = number,
			.group = v->group, .hint = v->hint, .name = v->name,
			.text = arena_printf(&table.arena, "view %s: %s", v->name, v->help) });
	for (const struct key_row *own = v->own; own && own->keys; own++) {
		struct key_row row = *own;
		row.view = v;
		row.text = arena_printf(&table.arena, "%s (%s)", own->text, v->name);
		row.name = arena_printf(&table.arena, "%s.%s", v->name, own->name);
		table_add(row);
	}
}

/* The what-ifs stand before the other keys of their group. */
static void table_make(void)
{
	int toggle_count;
	const struct what_if *toggles = what_if_table(&toggle_count);
	for (int t = 0; t < toggle_count; t++)
		table_add((struct key_row){ .keys = arena_printf(&table.arena, "%c", toggles[t].key),
			.request = REQUEST_WHAT_IF, .argument = t, .group = KEYS_WHAT_IF,
			.text = toggles[t].text, .name = toggles[t].name });
	for (int i = 0; i < FIXED_COUNT; i++)
		table_add(fixed[i]);
	for (int i = 0; views_at(i); i++)
		add_view(i);
}

/* Texts of help name the keys that the rows have now. */
static void table_spell(void)
{
	struct str text = { 0 };
	for (int i = 0; i < table.count; i++) {
		struct key_row *row = &table.rows[i];
		if (!strchr(row->unspelt, '{'))
			continue;
		str_clear(&text);
		keys_spell(&text, row->unspelt);
		row->text = arena_printf(&table.arena, "%s", text.p);
	}
	str_free(&text);
}

const struct key_row *keys_table(int *count)
{
	if (!table.count) {
		table_make();
		table_spell();
	}
	*count = table.count;
	return table.rows;
}

/* A name of one key, or names of two without a blank between them. */
struct key_pair keys_parse(struct text name)
{
	struct key_pair keys = { .first = key_parse(name) };
	for (size_t n = 1; !keys.first && n < name.n; n++) {
		struct key_pair two = { key_parse((struct text){ name.p, n }),
			key_parse((struct text){ name.p + n, name.n - n }) };
		if (two.first && two.second)
			keys = two;
	}
	return keys;
}

struct text keys_shown(const char *keys)
{
	struct text shown = { "", 0 };
	for (struct text name; keys && key_name_next(&keys, &name);)
		if (!shown.n || (name.n == 1 && name.p[0] >= '0' && name.p[0] <= '9'))
			shown = name;
	return shown;
}

/* ---- other keys ---- */

static const char *first_of_name(const char *name)
{
	const struct key_row *row = keys_named(name);
	assert(row);
	return row ? row->first : "";
}

void keys_begin(void)
{
	key_names_use(first_of_name);
}

void keys_spell(struct str *out, const char *text)
{
	for (; *text; text++) {
		size_t n = *text == '{' ? strcspn(text + 1, "}") : 0;
		char name[48];
		if (!n || n >= sizeof(name) || !text[1 + n]) {
			str_add(out, text, 1);
			continue;
		}
		snprintf(name, sizeof(name), "%.*s", (int)n, text + 1);
		str_puts(out, key_named(name));
		text += n + 1;
	}
}

const struct key_row *keys_named(const char *name)
{
	int count;
	const struct key_row *rows = keys_table(&count);
	for (int i = 0; i < count; i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

static int row_named(const char *name)
{
	for (int i = 0; i < table.count; i++)
		if (strcmp(table.rows[i].name, name) == 0)
			return i;
	return -1;
}

static int entries_add(int row, const char *list, struct error *err)
{
	for (struct text name; key_name_next(&list, &name);) {
		struct key_pair keys = keys_parse(name);
		if (!keys.first)
			return error_set(err, "unknown key \"%.*s\"; keys are j, Down, ^F, F3, gg ...",
				name.n > 20 ? 20 : (int)name.n, name.p);
		for (int i = 0; i < table.entry_count; i++) {
			const struct key_entry *e = &table.entries[i];
			const struct key_row *other = &table.rows[e->row];
			if (other->view != table.rows[row].view || e->keys.first != keys.first ||
				e->keys.second != keys.second)
				continue;
			if (e->row == row)
				return error_set(err, "%.*s is given twice: leave one out", (int)name.n,
					name.p);
			size_t shown = app_break(other->text, 40);
			return error_set(err, "%.*s already means \"%.*s%s\"; choose another, or "
				"give that other keys too", (int)name.n, name.p, (int)shown, other->text,
				shown < strlen(other->text) ? " ..." : "");
		}
		VEC_GROW(table.entries, table.entry_count, table.entry_capacity);
		table.entries[table.entry_count++] = (struct key_entry){ keys, row };
	}
	return 0;
}

static void entries_remove(int row)
{
	int kept = 0;
	for (int i = 0; i < table.entry_count; i++)
		if (table.entries[i].row != row)
			table.entries[kept++] = table.entries[i];
	table.entry_count = kept;
}

static int unknown_name(const struct config_word *w, struct error *err)
{
	struct word_nearest near = { .word = w->name };
	for (int i = 0; i < table.count; i++)
		word_try(&near, table.rows[i].name);
	return error_set(err, "%d: keys: there is no %s; %s%s%s", w->line, w->name,
		near.best ? "did you mean " : "names are in benanza(1)", near.best ? near.best : "",
		near.best ? "?" : "");
}

static int bind_all(const struct config_word *list, int count, struct error *err)
{
	for (int i = 0; i < count; i++) {
		int row = row_named(list[i].name);
		if (row < 0)
			return unknown_name(&list[i], err);
		entries_remove(row);
	}
	for (int i = 0; i < count; i++) { /* after all are removed: keys may be exchanged */
		int row = row_named(list[i].name);
		if (entries_add(row, list[i].value, err))
			return error_context(err, "%d: keys: %s", list[i].line, list[i].name);
		table.rows[row].keys = arena_printf(&table.arena, "%s", list[i].value);
		table.rows[row].first = first_of(&table.rows[row]);
	}
	table_spell();
	return 0;
}

static void table_drop(void)
{
	arena_free(&table.arena);
	free(table.rows);
	free(table.entries);
	memset(&table, 0, sizeof(table));
}

int keys_bind(const struct config_word *list, int count, struct error *err)
{
	int rows;
	table_drop(); /* keys of another configuration */
	keys_table(&rows);
	if (!bind_all(list, count, err))
		return 0;
	table_drop();
	return -1;
}

static bool is_of(const struct key_row *row, const struct view *view)
{
	return !row->view || row->view == view;
}

const struct key_row *keys_find(const struct view *view, struct key_pair keys)
{
	int count;
	const struct key_row *rows = keys_table(&count), *found = NULL;
	for (int i = 0; i < table.entry_count; i++) {
		const struct key_entry *e = &table.entries[i];
		const struct key_row *row = &rows[e->row];
		bool any = row->letter && ((keys.second >= 'a' && keys.second <= 'z') ||
			(keys.second >= 'A' && keys.second <= 'Z'));
		if (e->keys.first == keys.first && (any || e->keys.second == keys.second) &&
			is_of(row, view) && (!found || row->view))
			found = row;
	}
	return found;
}

struct text keys_of_what_if(int number)
{
	int count;
	const struct key_row *rows = keys_table(&count);
	for (int i = 0; i < count; i++)
		if (rows[i].request == REQUEST_WHAT_IF && rows[i].argument == number)
			return (struct text){ rows[i].keys, strcspn(rows[i].keys, " ") };
	return (struct text){ "", 0 };
}

int keys_what_if(uint32_t key)
{
	int count;
	const struct key_row *rows = keys_table(&count);
	for (int i = 0; i < table.entry_count; i++) {
		const struct key_entry *e = &table.entries[i];
		if (e->keys.first == key && !e->keys.second && rows[e->row].request == REQUEST_WHAT_IF)
			return rows[e->row].argument;
	}
	return -1;
}

/* The next pair after entry `at` that begins with a key, or the count of entries. */
static int pair_next(const struct view *view, uint32_t first, int at)
{
	int count;
	const struct key_row *rows = keys_table(&count);
	while (at < table.entry_count && (table.entries[at].keys.first != first ||
			!table.entries[at].keys.second || !is_of(&rows[table.entries[at].row], view)))
		at++;
	return at;
}

bool keys_begins(const struct view *view, uint32_t first)
{
	return first && pair_next(view, first, 0) < table.entry_count;
}

int keys_next(const struct view *view, uint32_t first, struct key_next *next, int most)
{
	int n = 0;
	for (int at = 0; (at = pair_next(view, first, at)) < table.entry_count && n < most; at++) {
		const struct key_row *row = &table.rows[table.entries[at].row];
		const char *dot = row->view ? strchr(row->name, '.') : NULL;
		next[n].name = dot ? dot + 1 : row->name;
		if (row->letter)
			snprintf(next[n++].key, sizeof(next->key), "a-z");
		else
			key_text(next[n++].key, table.entries[at].keys.second);
	}
	return n;
}

void keys_list_pairs(const struct view *view, uint32_t first, struct str *out)
{
	char one[16], two[16];
	for (int at = 0; (at = pair_next(view, first, at)) < table.entry_count; at++) {
		const struct key_entry *e = &table.entries[at];
		str_addf(out, "%s%s%s %s", out->n ? ", " : "", key_text(one, e->keys.first),
			key_text(two, e->keys.second), table.rows[e->row].text);
	}
}
