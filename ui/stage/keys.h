/* One table maps keys to requests. Dispatch, the help screen, the hints at the bottom and the key section of
 * the manual page are made from it. A key of one view is a row in that view's file (struct view, own). */
#ifndef UI_STAGE_KEYS_H
#define UI_STAGE_KEYS_H

#include "base/error.h"
#include "ui/screen/key.h"

struct view;

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
	REQUEST_SCROLL_DOWN,
	REQUEST_SCROLL_UP,
	REQUEST_SCROLL_TOP,
	REQUEST_SCROLL_MIDDLE,
	REQUEST_SCROLL_BOTTOM,
	REQUEST_NEXT_LAYER,
	REQUEST_PREVIOUS_LAYER,
	REQUEST_JUMP,
	REQUEST_JUMP_ALONG,
	REQUEST_JUMP_BACK,
	REQUEST_MARK_SET,
	REQUEST_MARK_JUMP,
	REQUEST_PICK,
	REQUEST_PICK_CLEAR,
	REQUEST_SEARCH,
	REQUEST_FIND_NEXT,
	REQUEST_FIND_PREVIOUS,
	REQUEST_FILTER,
	REQUEST_SORT,
	REQUEST_SORT_BACK,
	REQUEST_ORDER,           /* a click on the heading of order `argument`; again: reversed */
	REQUEST_REVERSE,
	REQUEST_GAINS,
	REQUEST_FOLDED,
	REQUEST_UNFOLD,
	REQUEST_FOLD,
	REQUEST_UNFOLD_ALL,
	REQUEST_OPEN,
	REQUEST_BACK,
	REQUEST_NEXT_VIEW,
	REQUEST_PREVIOUS_VIEW,
	REQUEST_VIEW,
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
	REQUEST_UNDO,            /* the last changes of what-ifs */
	REQUEST_REDO,
	REQUEST_RESET,           /* the what-ifs as the options and the configuration have them */
	REQUEST_TYPE,
	REQUEST_COMMAND,
	REQUEST_COPY_NAME,
	REQUEST_COPY_PROBLEM,
	REQUEST_REDRAW,
	REQUEST_CLOSE,
	REQUEST_QUIT,
	REQUEST_OWN              /* of one view: `argument` is its own number of it */
};

/* In the order of the help screen. */
enum key_group { KEYS_WHAT_IF, KEYS_VIEWS, KEYS_MEASURE, KEYS_FIND, KEYS_CHARTS, KEYS_MOVE, KEYS_COMMAND,
	KEYS_LEAVE, KEYS_GROUP_COUNT };

#define KEYS_ELSE_OPEN 1 /* where nothing can be folded: opens, or goes back */

struct key_row {
	const char *keys;      /* names, separated by blanks: "j Down"; "zo" is o after z */
	enum request request;
	int argument;          /* REQUEST_WHAT_IF: row of what_if_table; REQUEST_VIEW: number of the view;
				  REQUEST_UNFOLD, REQUEST_FOLD: KEYS_ELSE_OPEN or 0;
				  REQUEST_JUMP: 1 + enum kind, negative: previous; REQUEST_JUMP_ALONG: 1
				  or -1; with `letter`: the letter typed; REQUEST_GAINS passed to a view:
				  row of what_if_table */
	enum key_group group;
	const char *text;      /* one line of help; in the tables other keys stand in it as their names,
				  "{measure}" */
	const char *hint;      /* short text for the bottom line, or NULL; the first key is shown before it */
	bool counts;           /* a number may be typed before it: 5j */
	bool letter;           /* the second key of a pair stands for any letter */
	const char *name;      /* in `keys:` of the configuration; that of one view's own key begins with the
				  view's and a dot: "timeline.zoom-in" */
	const struct view *view; /* set by keys_table: the only view that has it; NULL: all views */
	const char *unspelt;   /* set by keys_table: the text with names, as in the tables */
	const char *first;     /* set by keys_table: the first of `keys` that is no digit, if there is one */
};

/* Lets key_named (ui/screen/key.h) answer from this table. */
void keys_begin(void);
/* All rows: the fixed ones, one per view and per what-if, and the views' own. Built once, never freed. */
const struct key_row *keys_table(int *count);
const char *keys_group_name(enum key_group g);
bool keys_group_has(enum key_group g); /* false: the group has no rows */

/* Gives rows other keys, as configured; all or none. Of a row with `letter`, the second key given stands for
 * any letter. -1 with an error that has the line: an unknown name or key, or a key with two meanings. */
struct config_word;
int keys_bind(const struct config_word *list, int count, struct error *err);

/* The row of that name, or NULL. */
const struct key_row *keys_named(const char *name);
/* Adds a text with keys in place of their names: "{measure} measures". */
void keys_spell(struct str *out, const char *text);
/* The first key of what-if number `number`: "f"; and the what-if of a key, or -1. */
struct text keys_of_what_if(int number);
int keys_what_if(uint32_t key);

/* One key, or two that are pressed one after the other (second KEY_CODE_NONE: one). */
struct key_pair {
	uint32_t first, second;
};
/* The keys of a name: "j", "Down", "zo", "]c"; first KEY_CODE_NONE for an unknown name. */
struct key_pair keys_parse(struct text name);
/* The row of a key in a view: one of its own if it has one, else one of all views; or NULL. */
const struct key_row *keys_find(const struct view *view, struct key_pair keys);
/* Of the names in a list ("? F1 8") the digit, if there is one, else the first; "" of NULL. */
struct text keys_shown(const char *keys);
/* True if `first` begins a pair in that view. */
bool keys_begins(const struct view *view, uint32_t first);
/* The pairs that begin with a key: their second keys ("a-z" of a row with `letter`), and their names without
 * the view's. Returns how many of at most `most`. */
struct key_next {
	char key[16];
	const char *name;
};
int keys_next(const struct view *view, uint32_t first, struct key_next *next, int most);
/* Adds "zo show the layers inside, zc hide them": the pairs that begin with a key. */
void keys_list_pairs(const struct view *view, uint32_t first, struct str *out);

/* The key section of the manual page, in man macros. */
void keys_print_man(struct str *out);

#endif
