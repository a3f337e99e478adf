/* One table maps keys to requests. Dispatch, the help screen, the hints at the bottom and the key section of
 * the manual page are made from it. */
#ifndef UI_KEYS_H
#define UI_KEYS_H

#include "base/str.h"

/* A key: a code point (control characters as themselves: ^L is 12), or one of these. */
enum key {
	KEY_CODE_NONE = 0,
	KEY_CODE_ENTER = 13, KEY_CODE_TAB = 9, KEY_CODE_ESC = 27, KEY_CODE_BACKSPACE = 127,
	KEY_CODE_UP = 0x110000, KEY_CODE_DOWN, KEY_CODE_LEFT, KEY_CODE_RIGHT, KEY_CODE_HOME, KEY_CODE_END,
	KEY_CODE_PAGE_UP, KEY_CODE_PAGE_DOWN, KEY_CODE_BACKTAB, KEY_CODE_DELETE,
	KEY_CODE_F1, KEY_CODE_F12 = KEY_CODE_F1 + 11
};

enum request {
	REQUEST_NONE,
	REQUEST_DOWN,
	REQUEST_UP,
	REQUEST_PAGE_DOWN,
	REQUEST_PAGE_UP,
	REQUEST_HALF_DOWN,
	REQUEST_HALF_UP,
	REQUEST_FIRST,
	REQUEST_LAST,
	REQUEST_TOP,
	REQUEST_MIDDLE,
	REQUEST_BOTTOM,
	REQUEST_NEXT_LAYER,
	REQUEST_PREVIOUS_LAYER,
	REQUEST_SEARCH,
	REQUEST_FIND_NEXT,
	REQUEST_FIND_PREVIOUS,
	REQUEST_FILTER,
	REQUEST_SORT,
	REQUEST_SORT_BACK,
	REQUEST_REVERSE,
	REQUEST_FOLDED,
	REQUEST_UNFOLD,
	REQUEST_FOLD,
	REQUEST_UNFOLD_ALL,
	REQUEST_OPEN,
	REQUEST_BACK,
	REQUEST_NEXT_VIEW,
	REQUEST_PREVIOUS_VIEW,
	REQUEST_VIEW,
	REQUEST_HELP,
	REQUEST_MEASURE_MISSING,
	REQUEST_MEASURE_LAYER,
	REQUEST_CANCEL,
	REQUEST_AGENT,
	REQUEST_AGENT_NEXT,
	REQUEST_WHAT_IF,
	REQUEST_BATCH_UP,
	REQUEST_BATCH_DOWN,
	REQUEST_DTYPE,
	REQUEST_DIMS,
	REQUEST_REDRAW,
	REQUEST_CLOSE,
	REQUEST_QUIT
};

enum key_group { KEYS_MOVE, KEYS_FIND, KEYS_VIEWS, KEYS_MEASURE, KEYS_WHAT_IF, KEYS_LEAVE, KEYS_GROUP_COUNT };

struct key_row {
	const char *keys;      /* names, separated by blanks: "j Down" */
	enum request request;
	int argument;          /* REQUEST_WHAT_IF: row of what_if_table; REQUEST_VIEW: number of the view */
	enum key_group group;
	const char *text;      /* one line of help */
	const char *hint;      /* short text for the bottom line, or NULL; the first key is shown before it */
};

/* All rows: the fixed ones and one per what-if. Built once, never freed. */
const struct key_row *keys_table(int *count);
const char *keys_group_name(enum key_group g);

/* The row of a key, or NULL. */
const struct key_row *keys_find(uint32_t key);
/* The key of a name ("j", "Down", "^F", "F1"), KEY_CODE_NONE for an unknown name. */
uint32_t keys_parse(struct text name);
/* Writes the name of a key to buf (16 bytes), "" if it has none. */
char *keys_name(char *buf, uint32_t key);

/* The key section of the manual page, in man macros. */
void keys_print_man(struct str *out);

#endif
