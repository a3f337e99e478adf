/* Shared by the app_*.c files; view_help.c lists the views through app_view. */
#ifndef UI_APP_PRIVATE_H
#define UI_APP_PRIVATE_H

#include "ui/frame/app.h"
#include "ui/views/view.h"

/* Smallest screen that is drawn. */
#define APP_COLUMNS_MIN 40
#define APP_ROWS_MIN 10
/* With the details at the right: minimum columns of the list, besides two per lane, and of the details. */
#define APP_LIST_COLUMNS 72
#define APP_PANE_COLUMNS 43
#define APP_LIST_NAMES 17       /* columns of names in a list of APP_LIST_COLUMNS */
#define APP_LIST_WIDE 110       /* from this width on, the other columns of the list are wider, by: */
#define APP_LIST_WIDE_MORE 18
#define APP_NAME_COLUMNS_MAX 64
#define APP_REAL_WIDTH 140      /* from this width of the screen on, the list has a column of real times: */
#define APP_REAL_COLUMNS 10

/* app.c */
void app_init(struct app *app, struct session *s, int columns, int rows, bool ascii);
void app_free(struct app *app);
/* Brings session, lanes and figures up to date. Returns whether anything changed. */
bool app_refresh(struct app *app);
/* Handles one key: passes it to the prompt, the view or the frame. */
void app_key(struct app *app, uint32_t key);
const struct view *app_find_view(const char *name);
const struct view *app_view(int number); /* NULL beyond the last */
struct pane *app_pane(struct app *app);  /* the pane that is shown */

/* app_panes.c: a pane's rows, order, filter, cursor */
void pane_open(struct app *app, struct pane *p);
void pane_close(struct app *app, struct pane *p);
/* Reads the view's rows for a width; the selected row stays selected. Of the pane functions only pane_move,
 * pane_scroll, pane_find_show and pane_tell change app->layer. */
void pane_sync(struct app *app, struct pane *p, int width);
void pane_reorder(struct app *app, struct pane *p);
int pane_row(const struct pane *p); /* view row under the cursor, or -1 */
void pane_move(struct app *app, struct pane *p, int to);
void pane_scroll(struct app *app, struct pane *p, int by);
void pane_select_row(struct app *app, struct pane *p, int row);
/* Calls the view's `selected` for the row under the cursor, which may set app->layer. */
void pane_tell(struct app *app, struct pane *p);
/* Moves to a search result (an index into shown); a page of text scrolls only if the row is not visible. */
void pane_find_show(struct app *app, struct pane *p, int at);
/* Highlights the matches of the search in a line already drawn. */
void pane_mark_matches(const struct app *app, struct area line, bool selected);
/* "&Relu 49/175" in at most room columns (only the text is shortened); "" without a filter. */
const char *pane_filter_text(struct app *app, const struct pane *p, int room);
/* First row after `from` (an index into shown) in direction +1 or -1 that contains the text, wrapping;
 * -1 without one. */
int pane_find(struct app *app, struct pane *p, int from, int direction, const char *text);

/* app_places.c: to call after the plan changed, and after the set of listed layers changed */
void places_renew(struct app *app);
void listed_renew(struct app *app);

/* app_facts.c: after the list was rebuilt, finds short names that several listed layers would share */
void app_names_renew(struct app *app);

/* app_facts.c: after every analysis, counts failed and unmeasured problems */
void app_counts_renew(struct app *app);

/* app_device.c: switches to the device that is starting once its runner answers */
void app_device_step(struct app *app, int timeout_ms);
/* Stops waiting for a device. False: none was starting. */
bool app_device_leave(struct app *app);

/* app_draw.c */
void app_draw(struct app *app);
bool app_is_too_small(const struct app *app);
int app_list_width(const struct app *app); /* columns of the main pane */
bool app_has_real_column(const struct app *app);

/* app_header.c: model and device; dimensions other than the batch, if any; bound; toggles */
#define APP_DIM_ROWS_MIN 12 /* a lower screen has no row for dimensions */
int app_header_rows(const struct app *app);
void app_draw_header(struct app *app, struct area area);

/* app_prompt.c: the input line at the bottom */
void prompt_open(struct app *app, enum prompt_kind kind);
void prompt_key(struct app *app, uint32_t key);
void prompt_close(struct app *app);
/* Prompts for the dimensions without a value, if there are any. */
void prompt_ask_unbound(struct app *app);

#endif
