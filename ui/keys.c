#include "config.h"

#include "ui/keys.h"

#include "ui/canvas.h"

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
	{ "M", REQUEST_MIDDLE, 0, KEYS_MOVE, "to its middle", NULL },
	{ "L", REQUEST_BOTTOM, 0, KEYS_MOVE, "to its bottom", NULL },
	{ ">", REQUEST_NEXT_LAYER, 0, KEYS_MOVE, "to the next layer, staying in the view (details)", NULL },
	{ "<", REQUEST_PREVIOUS_LAYER, 0, KEYS_MOVE, "to the previous layer", NULL },
	{ "/ F3", REQUEST_SEARCH, 0, KEYS_FIND, "search as you type; Enter keeps the place, Esc goes back",
		"search" },
	{ "n", REQUEST_FIND_NEXT, 0, KEYS_FIND, "next match", NULL },
	{ "N", REQUEST_FIND_PREVIOUS, 0, KEYS_FIND, "previous match", NULL },
	{ "& \\ F4", REQUEST_FILTER, 0, KEYS_FIND,
		"show only rows that match, as you type; an empty text shows all again",
		NULL },
	{ "s F6", REQUEST_SORT, 0, KEYS_FIND, "sort by the next column (model order, cost, name, ...)", "sort" },
	{ "S", REQUEST_SORT_BACK, 0, KEYS_FIND, "sort by the previous column", NULL },
	{ "I", REQUEST_REVERSE, 0, KEYS_FIND, "reverse the order", NULL },
	{ "c", REQUEST_FOLDED, 0, KEYS_FIND,
		"show or hide the layers that only make constants (weights, arithmetic on shapes)",
		NULL },
	{ "Enter", REQUEST_OPEN, 0, KEYS_VIEWS,
		"open: details of a layer, the layer behind a line, a toggle, a device", "details" },
	{ "Esc Backspace", REQUEST_BACK, 0, KEYS_VIEWS, "back to the layer or the view before; drops a search or a filter",
		NULL },
	{ "Right", REQUEST_UNFOLD, 0, KEYS_VIEWS, "show the layers inside a layer (If, Loop, Scan); elsewhere: open", NULL },
	{ "Left", REQUEST_FOLD, 0, KEYS_VIEWS, "hide them again; elsewhere: back", NULL },
	{ "*", REQUEST_UNFOLD_ALL, 0, KEYS_VIEWS, "show or hide the layers inside all such layers", NULL },
	{ "Tab", REQUEST_NEXT_VIEW, 0, KEYS_VIEWS, "next view", "next view" },
	{ "BackTab", REQUEST_PREVIOUS_VIEW, 0, KEYS_VIEWS, "previous view", NULL },
	{ "1", REQUEST_VIEW, 0, KEYS_VIEWS, "view 1: layers", NULL },
	{ "2", REQUEST_VIEW, 1, KEYS_VIEWS, "view 2: details of the selected layer", NULL },
	{ "3", REQUEST_VIEW, 2, KEYS_VIEWS, "view 3: what-ifs, and the model's own figures", NULL },
	{ "4", REQUEST_VIEW, 3, KEYS_VIEWS, "view 4: distinct problems and their measurements", NULL },
	{ "5 D", REQUEST_VIEW, 4, KEYS_VIEWS, "view 5: devices to choose from, described ones too", NULL },
	{ "6", REQUEST_VIEW, 5, KEYS_VIEWS, "view 6: doctor, what distorts measurements on this machine", NULL },
	{ "? h F1 7", REQUEST_HELP, 0, KEYS_VIEWS, "view 7: this help", "help" },
	{ "b", REQUEST_MEASURE_MISSING, 0, KEYS_MEASURE,
		"measure what is missing, for the what-ifs too; with several -b or -t the whole sweep", "measure missing" },
	{ "B", REQUEST_MEASURE_LAYER, 0, KEYS_MEASURE,
		"measure the selected layer now, again if it has results", NULL },
	{ "x", REQUEST_CANCEL, 0, KEYS_MEASURE, "stop measuring; what is done is kept", NULL },
	{ "+ ]", REQUEST_BATCH_UP, 0, KEYS_WHAT_IF, "next batch size (of the configured ones, else doubled)",
		NULL },
	{ "- [", REQUEST_BATCH_DOWN, 0, KEYS_WHAT_IF, "previous batch size (else halved)", NULL },
	{ "t", REQUEST_DTYPE, 0, KEYS_WHAT_IF, "next data type (of the configured ones, else f32 and bf16)",
		NULL },
	{ "d", REQUEST_DIMS, 0, KEYS_WHAT_IF, "set the model's symbolic dimensions", NULL },
	{ "^L R F5", REQUEST_REDRAW, 0, KEYS_LEAVE, "redraw the screen", NULL },
	{ "q", REQUEST_CLOSE, 0, KEYS_LEAVE,
		"close the view; in the layers view quit, what is measured is kept", "quit" },
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

/* The what-ifs come before the other keys of their group. Their key names live in a buffer of their own. */
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

/* roff takes a leading dot or quote for a request, a backslash for an escape and a minus for a hyphen. */
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

/* What --keys takes. */
static void names_print_man(struct str *out)
{
	str_addf(out, ".SS Names of keys\nThe option \\fB\\-\\-keys\\fR takes, separated by blanks, single characters and the "
		"names\n");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].key < KEY_CODE_F1)
			str_addf(out, "\\fB%s\\fR,\n", names[i].name);
	str_addf(out, "\\fBF1\\fR to \\fBF12\\fR,\nand \\fB\\(haA\\fR to \\fB\\(haZ\\fR with Ctrl.\n"
		"\\fBtext:\\fR\\fIWORD\\fR types a word letter by letter; where a line takes text, any word that is no "
		"name is typed:\n\\fB/ layer3 Enter Enter\\fR.\nAny other word is an error.\n");
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
