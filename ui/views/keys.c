#include "config.h"

#include "ui/views/keys.h"

#include "ui/screen/canvas.h"

#include "analyze/scenario.h"
#include "base/arena.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	uint32_t key;
} names[] = {
	{ "Up", KEY_CODE_UP },
	{ "Down", KEY_CODE_DOWN },
	{ "Left", KEY_CODE_LEFT },
	{ "Right", KEY_CODE_RIGHT },
	{ "Home", KEY_CODE_HOME },
	{ "End", KEY_CODE_END },
	{ "PgUp", KEY_CODE_PAGE_UP },
	{ "PgDn", KEY_CODE_PAGE_DOWN },
	{ "Enter", KEY_CODE_ENTER },
	{ "Esc", KEY_CODE_ESC },
	{ "Tab", KEY_CODE_TAB },
	{ "BackTab", KEY_CODE_BACKTAB },
	{ "Space", ' ' },
	{ "Backspace", KEY_CODE_BACKSPACE },
	{ "Delete", KEY_CODE_DELETE },
	{ "F1", KEY_CODE_F1 },
	{ "F12", KEY_CODE_F12 },
};

static const struct key_row fixed[] = {
	{ "j Down", REQUEST_DOWN, 0, KEYS_MOVE, "one row down", NULL },
	{ "k Up", REQUEST_UP, 0, KEYS_MOVE, "one row up", NULL },
	{ "PgDn ^F Space", REQUEST_PAGE_DOWN, 0, KEYS_MOVE, "one page down", NULL },
	{ "PgUp ^B", REQUEST_PAGE_UP, 0, KEYS_MOVE, "one page up", NULL },
	{ "^D", REQUEST_HALF_DOWN, 0, KEYS_MOVE, "half a page down", NULL },
	{ "^U", REQUEST_HALF_UP, 0, KEYS_MOVE, "half a page up", NULL },
	{ "g Home", REQUEST_FIRST, 0, KEYS_MOVE, "to the first row", NULL },
	{ "G End", REQUEST_LAST, 0, KEYS_MOVE, "to the last row", NULL },
	{ "H", REQUEST_TOP, 0, KEYS_MOVE, "to the top of the screen", NULL },
	{ "M", REQUEST_MIDDLE, 0, KEYS_MOVE, "to the middle of the screen", NULL },
	{ "L", REQUEST_BOTTOM, 0, KEYS_MOVE, "to the bottom of the screen", NULL },
	{ ">", REQUEST_NEXT_LAYER, 0, KEYS_MOVE, "to the next layer, staying in the view (details)", NULL },
	{ "<", REQUEST_PREVIOUS_LAYER, 0, KEYS_MOVE, "to the previous layer", NULL },
	{ "/ F3", REQUEST_SEARCH, 0, KEYS_FIND, "search as you type; Enter stays at the match, Esc goes back",
		"search" },
	{ "n", REQUEST_FIND_NEXT, 0, KEYS_FIND, "next match", NULL },
	{ "N", REQUEST_FIND_PREVIOUS, 0, KEYS_FIND, "previous match", NULL },
	{ "& \\ F4", REQUEST_FILTER, 0, KEYS_FIND,
		"show only matching rows, as you type; an empty text shows all", NULL },
	{ "s F6", REQUEST_SORT, 0, KEYS_FIND, "sort by the next column (model order, cost, name, ...)",
		"sort" },
	{ "S", REQUEST_SORT_BACK, 0, KEYS_FIND, "sort by the previous column", NULL },
	{ "I", REQUEST_REVERSE, 0, KEYS_FIND, "reverse the order", NULL },
	{ "c", REQUEST_FOLDED, 0, KEYS_FIND,
		"show or hide the layers that only compute constants (weights, arithmetic on shapes)", NULL },
	{ "Enter", REQUEST_OPEN, 0, KEYS_VIEWS,
		"open a layer's details or the layer that a line names; flip a toggle; use a device",
		"details" },
	{ "Esc Backspace", REQUEST_BACK, 0, KEYS_VIEWS,
		"back to the previous layer or view; clears a search or filter", NULL },
	{ "Right", REQUEST_UNFOLD, 0, KEYS_VIEWS,
		"show the layers inside a layer (If, Loop, Scan); elsewhere: open", NULL },
	{ "Left", REQUEST_FOLD, 0, KEYS_VIEWS, "hide them again; elsewhere: back", NULL },
	{ "*", REQUEST_UNFOLD_ALL, 0, KEYS_VIEWS, "show or hide the layers inside all such layers", NULL },
	{ "Tab", REQUEST_NEXT_VIEW, 0, KEYS_VIEWS, "next view", "next view" },
	{ "BackTab", REQUEST_PREVIOUS_VIEW, 0, KEYS_VIEWS, "previous view", NULL },
	{ "1", REQUEST_VIEW, 0, KEYS_VIEWS, "view 1: layers", NULL },
	{ "2", REQUEST_VIEW, 1, KEYS_VIEWS, "view 2: details of the selected layer", NULL },
	{ "3", REQUEST_VIEW, 2, KEYS_VIEWS, "view 3: what-ifs, and the model's own figures", NULL },
	{ "4", REQUEST_VIEW, 3, KEYS_VIEWS, "view 4: distinct problems and their measurements", NULL },
	{ "5 D", REQUEST_VIEW, 4, KEYS_VIEWS, "view 5: devices to choose from, described ones too", NULL },
	{ "6", REQUEST_VIEW, 5, KEYS_VIEWS, "view 6: doctor, what distorts measurements on this machine",
		NULL },
	{ "7 A", REQUEST_VIEW, 6, KEYS_VIEWS, "view 7: advice, what to do first from the current scenario on",
		NULL },
	{ "? h F1 8", REQUEST_HELP, 0, KEYS_VIEWS, "view 8: this help", "help" },
	{ "b", REQUEST_MEASURE_MISSING, 0, KEYS_MEASURE,
		"measure what is missing, also for what-ifs; with several -b or -t, the whole sweep",
		"measure missing" },
	{ "B", REQUEST_MEASURE_LAYER, 0, KEYS_MEASURE,
		"measure the selected layer now, even if it has results", NULL },
	{ "e", REQUEST_AGENT, 0, KEYS_MEASURE,
		"run the whole model with an agent (ONNX Runtime ...) and show its real latency; again: "
		"cancel",
		"real latency" },
	{ "E", REQUEST_AGENT_NEXT, 0, KEYS_MEASURE, "choose the next configured agent", NULL },
	{ "x", REQUEST_CANCEL, 0, KEYS_MEASURE, "stop measuring; finished results are kept", NULL },
	{ "+ ]", REQUEST_BATCH_UP, 0, KEYS_WHAT_IF, "next configured batch size; without any, double it",
		NULL },
	{ "- [", REQUEST_BATCH_DOWN, 0, KEYS_WHAT_IF, "previous configured batch size; without any, halve it",
		NULL },
	{ "t", REQUEST_DTYPE, 0, KEYS_WHAT_IF, "next configured data type; without any, f32 or bf16", NULL },
	{ "d", REQUEST_DIMS, 0, KEYS_WHAT_IF, "set the model's symbolic dimensions", NULL },
	{ "^L R F5", REQUEST_REDRAW, 0, KEYS_LEAVE, "redraw the screen", NULL },
	{ "q", REQUEST_CLOSE, 0, KEYS_LEAVE, "close the view; in the layers view, quit (results are kept)",
		"quit" },
	{ "Q F10 ^C", REQUEST_QUIT, 0, KEYS_LEAVE, "quit at once", NULL },
};

#define FIXED_COUNT ((int)(sizeof(fixed) / sizeof(*fixed)))
#define ROWS_MAX (FIXED_COUNT + 32)

const char *keys_group_name(enum key_group g)
{
	static const char *const group_names[] = { "Moving", "Finding", "Views", "Measuring", "What if",
		"Leaving" };
	return group_names[g];
}

/* Puts the what-ifs before the other keys of their group. The names of their keys are in a separate buffer.
 * */
static int table_make(struct key_row *rows)
{
	static char toggle_names[32][2];
	int toggle_count, count = 0;
	const struct what_if *toggles = what_if_table(&toggle_count);
	bool done = false;
	for (int i = 0; i < FIXED_COUNT; i++) {
		if (fixed[i].group == KEYS_WHAT_IF && !done) {
			done = true;
			for (int t = 0; t < toggle_count && t < 32; t++) {
				toggle_names[t][0] = toggles[t].key;
				rows[count++] = (struct key_row){ toggle_names[t], REQUEST_WHAT_IF, t,
					KEYS_WHAT_IF, toggles[t].text, NULL };
			}
		}
		rows[count++] = fixed[i];
	}
	return count;
}

const struct key_row *keys_table(int *count)
{
	static struct key_row rows[ROWS_MAX];
	static int made;
	if (!made)
		made = table_make(rows);
	*count = made;
	return rows;
}

/* The next name in a list of them; false at its end. */
static bool name_next(const char **list, struct text *name)
{
	*list += strspn(*list, " ");
	*name = (struct text){ *list, strcspn(*list, " ") };
	*list += name->n;
	return name->n > 0;
}

uint32_t keys_parse(struct text name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (text_is(name, names[i].name))
			return names[i].key;
	if (name.n == 2 && name.p[0] == '^' && name.p[1] >= '@' && name.p[1] <= '_')
		return (uint32_t)name.p[1] & 31;
	if (name.n >= 2 && name.n <= 3 && name.p[0] == 'F') {
		int64_t number;
		if (text_to_int64((struct text){ name.p + 1, name.n - 1 }, &number) && number >= 1 &&
			number <= 12)
			return KEY_CODE_F1 + (uint32_t)number - 1;
	}
	char copy[8] = "";
	if (name.n == 0 || name.n > 4)
		return KEY_CODE_NONE;
	memcpy(copy, name.p, name.n);
	const char *p = copy;
	uint32_t code = canvas_decode(&p);
	return *p ? KEY_CODE_NONE : code;
}

char *keys_name(char *buf, uint32_t key)
{
	buf[0] = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].key == key)
			return strcpy(buf, names[i].name);
	if (key == KEY_CODE_NONE)
		return buf;
	if (key < 32)
		snprintf(buf, 16, "^%c", (char)(key + 64));
	else if (key >= KEY_CODE_F1 && key <= KEY_CODE_F12)
		snprintf(buf, 16, "F%u", key - KEY_CODE_F1 + 1);
	else if (key < 127)
		snprintf(buf, 16, "%c", (char)key);
	return buf;
}

const struct key_row *keys_find(uint32_t key)
{
	int count;
	const struct key_row *rows = keys_table(&count);
	for (int i = 0; i < count; i++) {
		const char *list = rows[i].keys;
		for (struct text name; name_next(&list, &name);)
			if (keys_parse(name) == key)
				return &rows[i];
	}
	return NULL;
}

/* Escapes for roff: a leading dot or quote would be a request, a backslash an escape, a minus a hyphen. */
static void man_add(struct str *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		switch (s[i]) {
		case '\\': str_addf(out, "\\e"); break;
		case '-': str_addf(out, "\\-"); break;
		case '^': str_addf(out, "\\(ha"); break;
		case '\'': str_addf(out, "\\(aq"); break;
		default: str_add(out, s + i, 1);
		}
}

/* The words that --keys accepts. */
static void names_print_man(struct str *out)
{
	str_addf(out, ".SS Names of keys\nThe option \\fB\\-\\-keys\\fR takes single characters and these "
		"names, separated by blanks:\n");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].key < KEY_CODE_F1)
			str_addf(out, "\\fB%s\\fR,\n", names[i].name);
	str_addf(out, "\\fBF1\\fR to \\fBF12\\fR,\nand \\fB\\(haA\\fR to \\fB\\(haZ\\fR with Ctrl.\n"
		"\\fBtext:\\fR\\fIWORD\\fR types a word letter by letter; while a prompt is open, any word "
		"that is not a key name is typed:\n\\fB/ layer3 Enter Enter\\fR.\n"
		"Any other word is an error.\n");
}

void keys_print_man(struct str *out)
{
	int count;
	const struct key_row *rows = keys_table(&count);
	for (int g = 0; g < KEYS_GROUP_COUNT; g++) {
		str_addf(out, ".SS %s\n", keys_group_name(g));
		for (int i = 0; i < count; i++) {
			if (rows[i].group != (enum key_group)g)
				continue;
			str_addf(out, ".TP\n");
			const char *list = rows[i].keys, *comma = "";
			for (struct text name; name_next(&list, &name); comma = ", ") {
				str_addf(out, "%s\\fB", comma);
				man_add(out, name.p, name.n);
				str_addf(out, "\\fR");
			}
			str_addf(out, "\n");
			man_add(out, rows[i].text, strlen(rows[i].text));
			str_addf(out, "\n");
		}
	}
	names_print_man(out);
}
