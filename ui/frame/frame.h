/* The frame around the views: what its files share. */
#ifndef UI_FRAME_FRAME_H
#define UI_FRAME_FRAME_H

#include "ui/frame/app.h"
#include "ui/model/real.h"
#include "ui/screen/reply.h"
#include "ui/screen/theme.h"
#include "ui/stage/stage.h"
#include "ui/views/view.h"

/* Earlier commands, oldest first. */
#define HISTORY_LINES 200
struct history {
	char *path;           /* of the file; NULL: they are not kept */
	char **lines;
	int count;
};

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

/* The tour's place (tour.h). */
struct tour {
	bool on;
	int step;
	uint32_t typed;      /* the first key of the step's pair; 0: none */
};

/* What only the frame knows; what is shown, asked and selected is in struct stage. */
struct frame {
	struct theme theme;
	bool light;              /* the terminal's background */
	bool theme_chosen;       /* by :theme */
	bool redraw;
	int clicked;             /* row, or place in a chart, clicked last; or -1 */
	const struct view *clicked_view;
	int64_t clicked_ms;
	struct typed typed;
	struct tour tour;
	struct history history;
	bool always;             /* the answer to whether to measure was: always */
};

/* app.c */
void app_init(struct app *app, struct session *s, int columns, int rows, bool ascii);
void app_free(struct app *app);
struct config_word;
int theme_set(struct app *app, const struct config_word *words, int count, struct error *err);
/* Takes the theme of the configuration; light: what "auto" is. */
void theme_use(struct app *app, bool light);
/* While something is measured or run, a note gives way to the progress after some seconds. */
void app_note_age(struct app *app, int64_t now_ms);
/* Goes on with what is pending of the analysis, as session_effects_step, then with app_missing. */
bool app_go_on(struct app *app, int ms);
/* Decides whether results that came wait (app->results_wait), so that a key that only moves costs no
 * analysis: if one takes longer than a few milliseconds, until the keys pause, and until it takes only a
 * small share of the time. typed_ms: when the last key was pressed; both as clock_ms. */
void app_pace(struct app *app, int64_t typed_ms, int64_t now_ms);
void view_cycle(struct app *app, int direction); /* Tab */
/* Esc; quit_at_top: q */
void view_back(struct app *app, bool quit_at_top);

/* request.c: handles one key by itself: passes it to the prompt, the view or the frame */
void app_key(struct app *app, uint32_t key);
/* Does what the row of a key asks for; count 0: none was typed. */
void request_run(struct app *app, const struct key_row *row, int count);
/* Says what keys that do nothing could be. */
void request_unknown(struct app *app, struct key_pair keys);
/* Passes a key to the prompt, if one is open. Returns whether the key is handled. */
bool request_is_direct(struct app *app, uint32_t key);

/* typed.c: handles a key as it is typed, which may be part of a count or pair; ms of any clock */
void typed_key(struct app *app, uint32_t key, int64_t now_ms);
int typed_due_ms(const struct app *app, int64_t now_ms); /* to typed_expire; -1: nothing waits */
void typed_expire(struct app *app, int64_t now_ms);
/* Handles "5j", "zo", "12gg". False: the word is not a sequence of keys. */
bool typed_word(struct app *app, struct text word);

/* mouse.c */
void mouse_event(struct app *app, const struct mouse *m, int64_t now_ms);

/* jump.c: all of them stay in the view; app->count is how often */
void jump_remember(struct app *app);              /* where ^O comes back to */
void jump_back(struct app *app);
void jump_kind(struct app *app, int argument);    /* of REQUEST_JUMP */
void jump_along(struct app *app, int direction);  /* 1: to a reader, -1: to a producer */
void mark_set(struct app *app, int letter);
void mark_jump(struct app *app, int letter);
void pick_toggle(struct app *app);                /* V */
void pick_clear(struct app *app);

/* questions.c */
extern const struct prompt_use prompt_measure;
/* Once a model: asks whether to measure, if nothing is measured and a runner is there. True: something
 * changed. */
bool question_measure(struct app *app);
void question_leave(struct app *app); /* leaves, but asks while something is measured */
/* About how long measuring the missing problems takes: "~14 s". */
const char *question_time(struct app *app);

/* find.c: search and filter */
extern const struct prompt_use prompt_search, prompt_filter;
void search_ask(struct app *app);
void filter_ask(struct app *app);
void find_next(struct app *app, int direction);

/* line.c: what commands (ui/stage/lines.h) do. The text is copied first. */
extern const struct prompt_use prompt_line;
void line_run(struct app *app, const char *typed);

/* complete.c: Tab (direction 1) and BackTab (-1) in the command */
void prompt_complete(struct app *app, int direction);

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

/* draw.c */
void app_draw(struct app *app);

/* hints.c: the last row; keys that wait may take the one above too */
void app_draw_hints(struct app *app, struct area rows);
/* The keys that wait for the next one: "12g", or "". */
const char *typed_text(struct app *app);

/* header.c: model and device; dimensions other than the batch, if any; bound; toggles */
#define APP_DIM_ROWS_MIN 12 /* a lower screen has no row for dimensions */
int app_header_rows(const struct app *app);
void app_draw_header(struct app *app, struct area area);
/* True if the header has the load and the time left; they are in the row of the progress otherwise. */
bool app_header_has_left(const struct app *app);
/* "load 7.2  0:07 left", or one of them, or "". */
const char *app_left_text(struct app *app, const struct queue_status *q);

/* form_draw.c: the form over the view */
void form_draw(struct app *app, struct area body);
void form_draw_keys(struct app *app, struct area line); /* in the bottom line */

#endif
