/* What is shown, asked and selected: the explorer's state above the session, and what changes it. The
 * frame draws it. Views see of it what view.h declares. */
#ifndef UI_STAGE_STAGE_H
#define UI_STAGE_STAGE_H

#include "base/json.h"
#include "drive/queue.h"
#include "ui/model/agent.h"
#include "ui/stage/view.h"

#define PROMPT_SIZE 1024 /* bytes of a text that is typed */

/* A view with its state and position. */
struct pane {
	const struct view *view;
	const struct list *list; /* the view's; of a chart an empty one */
	void *state;
	bool is_open;
	int row_count;       /* of the view */
	int shown_count;     /* after filtering */
	int *shown;          /* view rows in the order shown */
	int all_count;       /* the same with the rows that folds hide */
	int *all;
	int *place;          /* of a row of shown: its index in all */
	int has_all;         /* number of rows, if all of them are in `all`; else 0 */
	int capacity;        /* of the three */
	int cursor, top;     /* indexes into shown */
	bool marked;         /* a page of text: the cursor is on a search result; else on the top line */
	int order;
	bool reverse;
	char filter[PROMPT_SIZE];
	uint64_t seen_generation;
	int seen_width;
};

struct app;
struct prompt;

/* What a prompt asks for, and what its keys do: given by what opens it. Any member may be NULL. */
struct prompt_use {
	const char *label;                          /* before the text */
	const char *(*label_of)(struct app *app);   /* the same, where it is not fixed */
	const char *help;                           /* after the text; NULL: what Enter and Esc do */
	void (*accept)(struct app *app);            /* Enter; closes the prompt unless the text is bad */
	void (*follow)(struct app *app);            /* the text has changed */
	void (*leave)(struct app *app);             /* Esc: restores what was before */
	bool (*key)(struct app *app, uint32_t key); /* takes keys before the text does: true if it has */
	void (*close)(struct prompt *q);            /* frees what it has of its own */
	bool leaves_empty;                          /* Backspace on no text closes it as it is */
	/* A question: its text, the letters besides y and n that answer it, and what takes an answer. */
	const char *(*question)(struct app *app);
	const char *letters;
	void (*answer)(struct app *app, uint32_t key, bool yes);
};

#define FORM_TEXT_SIZE 24

/* A field of the form of dimensions (form.c). */
struct form_field {
	enum form_kind { FORM_BATCH, FORM_DTYPE, FORM_DIM } kind;
	struct text name;             /* as the model has it */
	char *shown;                  /* cleaned for the screen; both malloc'd */
	char text[FORM_TEXT_SIZE], before[FORM_TEXT_SIZE]; /* "" no value; the value in force */
	const char *source;           /* where that value comes from */
	bool locked;                  /* --input sets it */
	bool own;                     /* the user typed it: it follows no others */
};

/* Tab in a command: what the text from byte `from` on may become. */
struct completion {
	int count, at;        /* at: the word that the text ends with, or -1; count 0: none */
	size_t from;
	char **words;         /* malloc'd */
};

struct prompt {
	const struct prompt_use *use; /* NULL: no prompt is open */
	char text[PROMPT_SIZE];
	bool untouched;       /* text is the previous value: the first letter replaces it */
	bool behind;          /* text was pasted: what it finds or filters is not shown yet */
	char before[PROMPT_SIZE]; /* of a filter: the one that Esc restores */
	int start_cursor, start_top, start_row, start_layer; /* position when the search or filter
								    was started */
	const char *label;    /* of app_ask: before the text */
	bool (*accept)(struct app *app, const char *text);
	void (*yes)(struct app *app); /* of app_confirm: the question is `text` */
	struct form_field *fields; /* of the form of dimensions; `text` is that of field `field` */
	int field_count, field;
	struct area fields_at; /* where the form was drawn last: a row a field, from `field_top` on */
	int field_top;
	int target;           /* of a cost: index of the layer in the plan; of a choice: row of
				 what_if_table */
	struct completion completion;
	int earlier;          /* of a command: lines of the history gone back, 0 none */
	char draft[PROMPT_SIZE]; /* the text typed before that */
};

/* Layers that ^O returns to, oldest first. */
#define JUMPS_MOST 64
struct jumps {
	int count, layers[JUMPS_MOST];
};

#define UNDO_MOST 32

/* Where something stands that a click does, on the screen drawn last. */
#define SPOTS_MAX 48
struct spot {
	int x, y, width;
	struct key_row row;
};

/* What a chart drew last, for clicks. */
struct chart_item {
	int x, y, width, item;
};

struct stage {
	struct canvas canvas;
	bool mouse;              /* on */
	struct spot spots[SPOTS_MAX];
	int spot_count;
	struct area list;        /* rows of the view, without their heading; a chart has none */
	struct area chart;       /* of a view that is one */
	struct chart_item *items; /* in it; only with the mouse */
	int item_count, item_capacity;
	struct pane *panes;      /* one a view, in the order of the table */
	int *stack;              /* numbers of views opened one from another; the last is shown, the
					first is 0 */
	int depth;
	struct { int layer, cursor; } trail[16]; /* layers that Esc returns to in the details; oldest first */
	int trail_count;
	struct jumps jumps;
	/* What-ifs before each change, oldest first; from undo_at on, those that were taken back. */
	struct scenario undo[UNDO_MOST];
	int undo_at, undo_count;
	int marks[26];           /* per letter: 1 + its layer; 0: none */
	int page;                /* rows of the list at the last drawing */
	char search[PROMPT_SIZE];
	struct prompt prompt;
	struct str copy;         /* to be put on the clipboard; empty: nothing */
	char standing[ERROR_TEXT_SIZE]; /* error shown while there is no other message, or "" */
	bool quit;
	bool asked;              /* whether to measure, since the model was opened */
	bool keeps;              /* in a terminal: the state of the model is kept */
	bool fresh, what_ifs_given; /* of struct app_options */
	bool stopping;           /* x was pressed; the running problem has not ended yet */
	bool runner_dead;        /* it does not start; retried only when the user presses b or B */
};

/* Smallest screen that is drawn. */
#define APP_COLUMNS_MIN 40
#define APP_ROWS_MIN 10
/* With the details at the right: minimum columns of the list, besides two per lane, and of the details. */
#define APP_LIST_COLUMNS 72
#define APP_PANE_COLUMNS 43
#define APP_LIST_NAMES 17       /* columns of names in a list of APP_LIST_COLUMNS */
#define APP_LIST_WIDE 110       /* from this width on, the other columns of the list are wider, by: */
#define APP_LIST_WIDE_MORE 18
#define APP_REAL_WIDTH 140      /* from this width of the screen on, the list has a column of real times */

/* stage.c: an empty one for the views of the table, and its end */
void stage_begin(struct app *app, int columns, int rows, bool ascii);
void stage_end(struct app *app);

/* show.c */
/* Brings session, lanes and figures up to date. Returns whether anything changed. */
bool app_refresh(struct app *app);
struct pane *app_pane(struct app *app);  /* the pane that is shown */
/* Reads the pane's rows and moves to the row of the selected layer. */
void pane_enter(struct app *app);
/* Sorts the pane's rows by one of the view's orders. */
void sort_by(struct app *app, int order);
/* Passes a key to the view in front; false: it did nothing. */
bool view_request(struct app *app, const struct key_row *key);
/* The number of the view's order of that name, or -1. */
int order_named(const struct view *view, const char *name);
bool app_is_too_small(const struct app *app);
int app_list_width(const struct app *app); /* columns of the main pane */
/* The status of the queue; without one it is idle. */
struct queue_status app_queue_status(const struct app *app);

/* spots.c */
/* While drawing: a click on `width` columns from x on does what the row of a key asks for. */
void spot_add(struct app *app, struct area line, int x, int width, const struct key_row *row);

/* actions.c: what keys change besides the screen */
void batch_step(struct app *app, int direction);
void dtype_next(struct app *app);
void scenario_select(struct app *app, int64_t batch, enum dtype dtype);
/* Takes what-ifs as scenario_parse does; those that do not apply are refused. */
void what_ifs_set(struct app *app, const char *list);
/* Turns to another scenario; says if a name in it fits no algorithm. */
void what_ifs_take(struct app *app, const struct scenario *s);
/* Takes app->count changes of what-ifs back (-1), or makes them again (1), as far as they are kept. */
void what_ifs_step(struct app *app, int direction);
void what_ifs_reset(struct app *app);
/* True if it does not apply: nothing measured uses it, or costs are estimates that have none. */
bool what_if_is_absent(const struct app *app, const struct what_if *row);
void measure(struct app *app, bool all); /* missing problems, or the selected layer */
void measure_stop(struct app *app);
/* Asks for the cost of the selected layer. */
void assume_ask(struct app *app);
extern const struct prompt_use prompt_assume, prompt_choice;

/* pane.c: a pane's rows, order, filter, cursor */
void pane_open(struct app *app, struct pane *p);
void pane_close(struct app *app, struct pane *p);
/* Columns for the signs of marked layers, while there are any; the first column is the cursor's. */
int pane_marks(const struct app *app, const struct pane *p);
/* Reads the view's rows for a width; the selected row stays selected. Of the pane functions only pane_move,
 * pane_scroll, pane_find_show and pane_tell change app->layer. */
void pane_sync(struct app *app, struct pane *p, int width);
void pane_reorder(struct app *app, struct pane *p);
int pane_row(const struct pane *p); /* view row under the cursor, or -1 */
void pane_move(struct app *app, struct pane *p, int to);
/* Moves the cursor; where only continuation rows follow, these scroll. */
void pane_step(struct app *app, struct pane *p, int by);
void pane_scroll(struct app *app, struct pane *p, int by);
void pane_select_row(struct app *app, struct pane *p, int row);
/* Calls `select` of the view's list for the row under the cursor, which may set app->layer. */
void pane_tell(struct app *app, struct pane *p);
/* Moves to a search result (an index into all); a page of text scrolls only if the row is not visible. open:
 * opens folds that hide it; else moves to the fold. */
void pane_find_show(struct app *app, struct pane *p, int at, bool open);
int pane_place(const struct pane *p, int at); /* index in all of an index in shown */
void pane_reveal(struct app *app, struct pane *p, int row); /* opens folds that hide the row */
int pane_shown_for(struct app *app, const struct pane *p, int row);
/* Parses a search or filter of the pane's view. Returns -1 with an error. */
int pane_parse(const struct pane *p, const char *text, struct terms *out, struct error *err);
/* "&Relu 49/175" in at most room columns (only the text is shortened); "" without a filter. */
const char *pane_filter_text(struct app *app, const struct pane *p, int room);
/* First row after `from` (an index into all) in direction +1 or -1 that contains the text, wrapping;
 * -1 without one. */
int pane_find(struct app *app, struct pane *p, int from, int direction, const char *text);

/* prompt.c: the input line at the bottom */
/* What stands before and after the text of the prompt. */
const char *prompt_label(struct app *app);
const char *prompt_help(struct app *app);
void prompt_open(struct app *app, const struct prompt_use *use);
void prompt_close(struct app *app);
bool prompt_is_question(const struct app *app);
/* Passes a key to the prompt. False: a question was open, and the key is no answer: it does what it does. */
bool prompt_key(struct app *app, uint32_t key);
/* Edits the text. Returns whether the key was an editing key, and had room. */
bool prompt_edit(struct prompt *q, uint32_t key);
/* Adds a letter of pasted text; prompt_catch_up then finds or filters, once for all. */
void prompt_paste(struct app *app, uint32_t key);
void prompt_catch_up(struct app *app);
void completion_clear(struct completion *c);
extern const struct prompt_use prompt_path; /* models.c */

/* form.c: batch, data type and all dimensions in one form over the view, applied together */
extern const struct prompt_use prompt_form;
void form_open(struct app *app);
/* Opens the form at the dimensions without a value, if there are any. */
void prompt_ask_unbound(struct app *app);
bool form_key(struct app *app, uint32_t key);
/* Types a character, if the field takes it; else says why not. */
void form_type(struct app *app, uint32_t key);
void form_click(struct app *app, int x, int y);
bool form_changed(const struct form_field *f);
bool form_is_sum(const struct form_field *f); /* of others, because these changed */
const char *form_range(const struct form_field *f); /* the values that it takes */

/* device.c: switches to the device that is starting once its runner answers */
void app_device_step(struct app *app, int timeout_ms);
/* Stops waiting for a device. False: none was starting. */
bool app_device_leave(struct app *app);

/* keep.c: what comes back when the model is opened again */
json_t *keep_state(const struct app *app);
/* Restores a state, which is untrusted. what_ifs, view: restore these too. */
void keep_restore(struct app *app, const json_t *state, bool what_ifs, bool view);
/* The same with the file of the model, if there is one. A damaged file is ignored, with a note. */
void keep_load(struct app *app, bool what_ifs, bool view);
/* Writes the file; a failure is logged too. */
int keep_save(const struct app *app, struct error *err);

bool path_is_model(const char *name); /* models.c: .onnx */

#endif
