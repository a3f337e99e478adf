/* The frame around the views: what its files share. */
#ifndef UI_FRAME_FRAME_H
#define UI_FRAME_FRAME_H

#include "base/json.h"
#include "ui/frame/app.h"
#include "ui/model/agent.h"
#include "ui/model/real.h"
#include "ui/screen/reply.h"
#include "ui/screen/theme.h"
#include "ui/views/view.h"

#define PROMPT_SIZE 1024 /* bytes of a text that is typed */

/* A view with its state and position. */
struct pane {
	const struct view *view;
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

enum prompt_kind { PROMPT_NONE, PROMPT_SEARCH, PROMPT_FILTER, PROMPT_DIM, PROMPT_ASSUME, PROMPT_CHOICE,
	PROMPT_LINE, PROMPT_TEXT, PROMPT_PATH, PROMPT_MEASURE, PROMPT_LEAVE, PROMPT_CONFIRM };

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
	enum prompt_kind kind;
	char text[PROMPT_SIZE];
	bool untouched;       /* text is the previous value: the first letter replaces it */
	bool behind;          /* text was pasted: what it finds or filters is not shown yet */
	char before[PROMPT_SIZE]; /* PROMPT_FILTER: the filter that Esc restores */
	int start_cursor, start_top, start_row, start_layer; /* position when the search or filter
								    was started */
	const char *label;    /* PROMPT_TEXT: before the text */
	bool (*accept)(struct app *app, const char *text);
	void (*yes)(struct app *app); /* PROMPT_CONFIRM: the question is `text` */
	struct form_field *fields; /* PROMPT_DIM: the form; `text` is that of field `field` */
	int field_count, field;
	struct area fields_at; /* where the form was drawn last: a row a field, from `field_top` on */
	int field_top;
	int target;           /* PROMPT_ASSUME: index of the layer in the plan; PROMPT_CHOICE: row of
				 what_if_table */
	struct completion completion;
	int earlier;          /* PROMPT_LINE: lines of the history gone back, 0 none */
	char draft[PROMPT_SIZE]; /* the text typed before that */
};

/* Earlier commands, oldest first. */
#define HISTORY_LINES 200
struct history {
	char *path;           /* of the file; NULL: they are not kept */
	char **lines;
	int count;
};

/* Layers that ^O returns to, oldest first. */
#define JUMPS_MOST 64
struct jumps {
	int count, layers[JUMPS_MOST];
};

#define UNDO_MOST 32

/* Where a motion began that may have to be taken back. */
struct typed_place {
	int cursor, top, layer;
	bool marked;
	struct jumps jumps;
};

/* Keys that wait for the next one. */
struct typed {
	uint32_t first;      /* first key of a pair; KEY_CODE_NONE: none */
	int count;           /* 0: none */
	int64_t until_ms;    /* then they mean what they mean alone; 0: they wait for a key */
	bool done;           /* `first` has moved already, from `before` */
	struct typed_place before;
};

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

/* The tour's place (tour.h). */
struct tour {
	bool on;
	int step;
	uint32_t typed;      /* the first key of the step's pair; 0: none */
};

struct frame {
	struct canvas canvas;
	struct theme theme;
	bool light;              /* the terminal's background */
	bool theme_chosen;       /* by :theme */
	bool mouse;              /* on */
	struct spot spots[SPOTS_MAX];
	int spot_count;
	struct area list;        /* rows of the view, without their heading; a chart has none */
	struct area chart;       /* of a view that is one */
	struct chart_item *items; /* in it; only with the mouse */
	int item_count, item_capacity;
	int clicked;             /* row, or place in a chart, clicked last; or -1 */
	const struct view *clicked_view;
	int64_t clicked_ms;
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
	struct typed typed;
	struct tour tour;
	struct history history;
	struct str copy;         /* to be put on the clipboard; empty: nothing */
	char standing[ERROR_TEXT_SIZE]; /* error shown while there is no other message, or "" */
	bool quit, redraw;
	bool asked;              /* whether to measure, since the model was opened */
	bool always;             /* the answer was: always */
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

/* app.c */
void app_init(struct app *app, struct session *s, int columns, int rows, bool ascii);
void app_free(struct app *app);
struct config_word;
int theme_set(struct app *app, const struct config_word *words, int count, struct error *err);
/* Takes the theme of the configuration; light: what "auto" is. */
void theme_use(struct app *app, bool light);
/* Brings session, lanes and figures up to date. Returns whether anything changed. */
bool app_refresh(struct app *app);
/* While something is measured or run, a note gives way to the progress after some seconds. */
void app_note_age(struct app *app, int64_t now_ms);
/* Goes on with what is pending of the analysis, as session_effects_step, then with app_missing. */
bool app_go_on(struct app *app, int ms);
/* Decides whether results that came wait (app->results_wait), so that a key that only moves costs no
 * analysis: if one takes longer than a few milliseconds, until the keys pause, and until it takes only a
 * small share of the time. typed_ms: when the last key was pressed; both as clock_ms. */
void app_pace(struct app *app, int64_t typed_ms, int64_t now_ms);
struct pane *app_pane(struct app *app);  /* the pane that is shown */
/* Reads the pane's rows and moves to the row of the selected layer. */
void pane_enter(struct app *app);
void view_cycle(struct app *app, int direction); /* Tab */
/* Esc; quit_at_top: q */
void view_back(struct app *app, bool quit_at_top);

/* request.c: handles one key by itself: passes it to the prompt, the view or the frame */
void app_key(struct app *app, uint32_t key);
/* Sorts the pane's rows by one of the view's orders. */
void sort_by(struct app *app, int order);
/* Does what the row of a key asks for; count 0: none was typed. */
void request_run(struct app *app, const struct key_row *row, int count);
/* Says what keys that do nothing could be. */
void request_unknown(struct app *app, struct key_pair keys);
/* Passes a key to the prompt, if one is open. Returns whether the key is handled. */
bool request_is_direct(struct app *app, uint32_t key);

/* typed.c: handles a key as it is typed, which may be part of a count or pair; ms of any clock */
void typed_key(struct app *app, uint32_t key, int64_t now_ms);
/* The keys that wait for the next one: "12g", or "". */
const char *typed_text(struct app *app);
/* What may follow them, for the bottom lines; the number of them. */
int typed_next(struct app *app, struct key_next *next, int most);
int typed_due_ms(const struct app *app, int64_t now_ms); /* to typed_expire; -1: nothing waits */
void typed_expire(struct app *app, int64_t now_ms);
/* Handles "5j", "zo", "12gg". False: the word is not a sequence of keys. */
bool typed_word(struct app *app, struct text word);

/* mouse.c */
void mouse_event(struct app *app, const struct mouse *m, int64_t now_ms);
/* While drawing: a click on `width` columns from x on does what the row of a key asks for. */
void spot_add(struct app *app, struct area line, int x, int width, const struct key_row *row);

/* jump.c: all of them stay in the view; app->count is how often */
void jump_remember(struct app *app);              /* where ^O comes back to */
void jump_back(struct app *app);
void jump_kind(struct app *app, int argument);    /* of REQUEST_JUMP */
void jump_along(struct app *app, int direction);  /* 1: to a reader, -1: to a producer */
void mark_set(struct app *app, int letter);
void mark_jump(struct app *app, int letter);
void pick_toggle(struct app *app);                /* V */
void pick_clear(struct app *app);

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

/* questions.c: y, n and a (always) answer; any other key does what it does */
bool question_key(struct app *app, uint32_t key); /* false: the key was no answer */
bool question_is_open(const struct app *app);
const char *question_text(struct app *app);
/* Once a model: asks whether to measure, if nothing is measured and a runner is there. True: something
 * changed. */
bool question_measure(struct app *app);
void question_leave(struct app *app); /* leaves, but asks while something is measured */
/* About how long measuring the missing problems takes: "~14 s". */
const char *question_time(struct app *app);

/* request.c: passes a key to the view in front; false: it did nothing */
bool view_request(struct app *app, const struct key_row *key);

/* panes.c: a pane's rows, order, filter, cursor */
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
/* Calls the view's `selected` for the row under the cursor, which may set app->layer. */
void pane_tell(struct app *app, struct pane *p);
/* Moves to a search result (an index into all); a page of text scrolls only if the row is not visible. open:
 * opens folds that hide it; else moves to the fold. */
void pane_find_show(struct app *app, struct pane *p, int at, bool open);
int pane_place(const struct pane *p, int at); /* index in all of an index in shown */
void pane_reveal(struct app *app, struct pane *p, int row); /* opens folds that hide the row */
int pane_shown_for(struct app *app, const struct pane *p, int row);
/* Parses a search or filter of the pane's view. Returns -1 with an error. */
int pane_parse(const struct pane *p, const char *text, struct terms *out, struct error *err);
/* Highlights the matches of the search in a line already drawn. */
void pane_mark_matches(struct app *app, struct area line, bool selected);
/* "&Relu 49/175" in at most room columns (only the text is shortened); "" without a filter. */
const char *pane_filter_text(struct app *app, const struct pane *p, int room);
/* First row after `from` (an index into all) in direction +1 or -1 that contains the text, wrapping;
 * -1 without one. */
int pane_find(struct app *app, struct pane *p, int from, int direction, const char *text);

/* line.c: what commands (ui/stage/lines.h) do. The text is copied first. */
void line_run(struct app *app, const char *typed);

/* complete.c: Tab (direction 1) and BackTab (-1) in the command */
void prompt_complete(struct app *app, int direction);
void completion_clear(struct completion *c);

/* history.c */
/* Reads the file; later lines are added to it. */
void history_open(struct history *h, const char *path);
/* Keeps a line, unless it is the newest one already. */
void history_add(struct history *h, const char *line);
void history_free(struct history *h);

/* write.c: saves what is shown. force: replaces a file. */
void screen_write(struct app *app, const char *path, bool force);

/* copy.c: `y`, `Y` */
void copy_layer(struct app *app, bool problem);

/* device.c: switches to the device that is starting once its runner answers */
void app_device_step(struct app *app, int timeout_ms);
/* Stops waiting for a device. False: none was starting. */
bool app_device_leave(struct app *app);

/* draw.c */
void app_draw(struct app *app);
bool app_is_too_small(const struct app *app);
int app_list_width(const struct app *app); /* columns of the main pane */

/* hints.c: the last row; keys that wait may take the one above too */
void app_draw_hints(struct app *app, struct area rows);

/* header.c: model and device; dimensions other than the batch, if any; bound; toggles */
#define APP_DIM_ROWS_MIN 12 /* a lower screen has no row for dimensions */
int app_header_rows(const struct app *app);
void app_draw_header(struct app *app, struct area area);
/* True if the header has the load and the time left; they are in the row of the progress otherwise. */
bool app_header_has_left(const struct app *app);
/* "load 7.2  0:07 left", or one of them, or "". */
const char *app_left_text(struct app *app, const struct queue_status *q);
/* The status of the queue; without one it is idle. */
struct queue_status app_queue_status(const struct app *app);

/* keep.c: what comes back when the model is opened again */
json_t *keep_state(const struct app *app);
/* Restores a state, which is untrusted. what_ifs, view: restore these too. */
void keep_restore(struct app *app, const json_t *state, bool what_ifs, bool view);
/* The same with the file of the model, if there is one. A damaged file is ignored, with a note. */
void keep_load(struct app *app, bool what_ifs, bool view);
/* Writes the file; a failure is logged too. */
int keep_save(const struct app *app, struct error *err);

/* models.c: completes the path of a model in the prompt */
void path_complete(struct app *app);
bool path_is_model(const char *name); /* .onnx */

/* prompt.c: the input line at the bottom */
/* What stands before and after the text of the prompt. */
const char *prompt_label(struct app *app);
const char *prompt_help(struct app *app);
void prompt_open(struct app *app, enum prompt_kind kind);
void prompt_key(struct app *app, uint32_t key);
void prompt_close(struct app *app);
/* Opens the form at the dimensions without a value, if there are any. */
void prompt_ask_unbound(struct app *app);
/* Edits the text. Returns whether the key was an editing key, and had room. */
bool prompt_edit(struct prompt *q, uint32_t key);
/* Adds a letter of pasted text; prompt_catch_up then finds or filters, once for all. */
void prompt_paste(struct app *app, uint32_t key);
void prompt_catch_up(struct app *app);

/* form.c: batch, data type and all dimensions in one form over the view, applied together */
void form_open(struct app *app);
void form_key(struct app *app, uint32_t key);
void form_free(struct prompt *q);
/* Types a character, if the field takes it; else says why not. */
void form_type(struct app *app, uint32_t key);
void form_click(struct app *app, int x, int y);
void form_draw(struct app *app, struct area body);
void form_draw_keys(struct app *app, struct area line); /* in the bottom line */

#endif
