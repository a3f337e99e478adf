/* A view fills the screen between header and footer. One of rows draws them one by one, and the frame moves,
 * scrolls, searches, sorts and filters; one of a chart draws the whole area. A view is a file with a
 * struct view, and its line in view_list.h. */
#ifndef UI_STAGE_VIEW_H
#define UI_STAGE_VIEW_H

#include "base/json.h"
#include "ui/model/app.h"
#include "ui/model/terms.h"
#include "ui/stage/keys.h"

/* The rows of a view. Members may be NULL but rows and draw_row. What pages of lines have in common is in
 * ui/model/page.h. */
struct list {
	/* Number of rows for an area `width` columns wide; called before every drawing; the view may rebuild
	 * its rows then. */
	int (*rows)(struct app *app, void *state, int width);
	/* The line above the rows. */
	void (*heading)(struct app *app, void *state, struct area line);
	/* Draws row (the view's own numbering, whatever the order) into an area one line high. shown_after:
	 * the row drawn on the line above, or -1. */
	void (*draw_row)(struct app *app, void *state, int row, int shown_after, struct area line);
	/* Text of a row for search and filter, cleaned; lives until the next drawing. NULL: no search. */
	const char *(*row_text)(struct app *app, void *state, int row);
	/* True if a cheap part of row_text contains the text; false: unknown. */
	bool (*row_has)(struct app *app, void *state, int row, struct text text);
	/* The layer or problem that a row is about, for terms in searches and filters. */
	struct subject (*subject)(struct app *app, void *state, int row);
	/* The row that is shown in place of a row: another one that stands for it (a closed fold), or the
	 * row itself. Not used while a filter is set. NULL: no row is hidden. */
	int (*shown_for)(struct app *app, void *state, int row);
	void (*reveal)(struct app *app, void *state, int row); /* opens what hides the row; with shown_for */
	/* Names of the sort orders, NULL-terminated, the first is the view's own; and a comparison of two
	 * rows in one of the others. NULL: no sorting. */
	const char *const *orders;
	/* Returns false for an order that does not apply now; it is skipped. NULL: all apply. */
	bool (*offers)(const struct app *app, const void *state, int order);
	int (*compare)(struct app *app, void *state, int order, int a, int b);
	/* The number that an order sorts a row by, largest first, NaN last: faster for many rows. Returns
	 * false for an order by something else. */
	bool (*number)(struct app *app, void *state, int order, int row, double *number);
	bool ranked; /* compare also says the view's own order, 0: the numbers of rows do not */
	/* Lines at the bottom of an area of that height that are no rows, and what is there. */
	int (*foot)(struct app *app, void *state, int height);
	void (*draw_foot)(struct app *app, void *state, struct area area);
	/* Called when row `row` is selected: the view may set app->layer. */
	void (*select)(struct app *app, void *state, int row);
	/* Row of a layer, or -1; selected when the view is opened. */
	int (*row_of_layer)(struct app *app, void *state, int layer);
	/* Row to select when a view without row_of_layer is opened, or -1. */
	int (*row_at_entry)(struct app *app, void *state);
	/* True for a continuation or blank line, which the cursor skips. */
	bool (*passes)(struct app *app, void *state, int row);
	bool click_opens;            /* one click does what Enter does; else it takes two */
	bool text;                   /* a page of text: it scrolls, and has a cursor only on a search
					result */
	bool long_names;             /* with `beside`: names of layers may take columns of the details */
};

struct view {
	const char *name;            /* for --view, and shown at the top right */
	const char *help;            /* one line, for the help screen and the manual page */
	const char *keys;            /* that show it, as in struct key_row: "7 A", "gr" */
	enum key_group group;        /* of these keys */
	const char *hint;            /* short text for the bottom line; NULL: no hint */
	const char *opens;           /* what Enter does, for the hints at the bottom; NULL: the key table's */
	const struct key_row *own;   /* keys that only this view has, passed to its request; the last row is
					zeros; may be NULL */
	size_t state_size;           /* the view's own state, zeroed before open */
	void (*open)(struct app *app, void *state);  /* may be NULL */
	void (*close)(struct app *app, void *state); /* frees what the state owns; may be NULL */
	const struct list *list;     /* its rows; NULL: a chart */
	/* A chart: fills the area. Keys that move (REQUEST_DOWN to REQUEST_PREVIOUS_LAYER), Left and Right
	 * (REQUEST_FOLD, REQUEST_UNFOLD) go to its request. */
	void (*draw)(struct app *app, void *state, struct area area);
	/* A click in a chart chose what it drew with app_item. NULL: it is a layer, which is selected. */
	void (*pick)(struct app *app, void *state, int item);
	/* Handles REQUEST_OPEN, REQUEST_FOLD and REQUEST_UNFOLD for the selected row (-1: none), its own keys
	 * and, if it draws an area, keys that move; app->count has a typed count. False: it did nothing. */
	bool (*request)(struct app *app, void *state, const struct key_row *key, int row);
	/* False: Enter or a key of its own does nothing for the selected row (-1: none), and is not offered
	 * at the bottom. NULL: all are offered. */
	bool (*can)(const struct app *app, const void *state, const struct key_row *key, int row);
	/* Goes on with what the view computes beside other work, for about `ms` (0: only asks). Returns true
	 * while there is more. It is drawn again after each part. May be NULL. */
	bool (*work)(struct app *app, void *state, int ms);
	/* Milliseconds until the view must be drawn again; -1: no such time. May be NULL. */
	int (*due_ms)(struct app *app, void *state);
	/* What of the view's own state comes back with the model (NULL: nothing), and gives it back; what was
	 * kept is untrusted. May be NULL. */
	json_t *(*keep)(const struct app *app, const void *state);
	void (*restore)(struct app *app, void *state, const json_t *kept);
	bool own_footer;             /* no rows for the selected layer at the bottom */
	bool passing;                /* one chooses here and goes on: it is not the view that comes back */
	bool details;                /* of one view: it describes the selected layer; Esc goes back through
					the layers that app_follow left */
	bool beside;                 /* on a wide screen the details are at its right */
};

/* Its rows; of a chart a list without members. */
const struct list *view_list(const struct view *view);

/* ---- the table of views ---- */

/* The views in the order of Tab, after them NULL; the first is that of layers. Not copied. */
void views_use(const struct view *const *views);
const struct view *views_at(int number); /* NULL beyond the last */
int views_count(void);
int views_number(const struct view *view);
/* The view that describes the selected layer. */
const struct view *views_details(void);
/* The view of that name, or the only one whose name begins like it or that begins like the name: "what",
 * "details"; else NULL. */
const struct view *views_find(const char *name);
/* Names of all, comma separated, for help and errors. */
void views_names(struct str *out);

/* ---- what the stage does for views ---- */

/* Shows or hides the inner layers of a layer (app_fold: of the layer or its owner). False: nothing to do. */
bool app_unfold(struct app *app, int layer);
bool app_fold(struct app *app, int layer);
/* Follows a line of the details to another layer; Esc comes back. */
void app_follow(struct app *app, int layer);
/* Shows another view with the given layer selected (-1: keeps the selected one). */
void app_show(struct app *app, const struct view *view, int layer);
/* The view to which Esc returns from the present one. */
const struct view *app_view_before(const struct app *app);
/* Shows the layers for which a filter's text holds, the costliest first. */
void app_show_only(struct app *app, const char *filter);
/* Switches to another device; the result is shown in the footer. */
void app_device_choose(struct app *app, const struct session_device *d);
/* Opens another model in place of this one. False: it cannot be opened (said), and this one stays. */
bool app_open_model(struct app *app, const char *path);
/* Asks for the path of a model. */
void app_ask_path(struct app *app);
/* Asks for the choice of what-if number `row`. */
void app_ask_choice(struct app *app, int row);
/* Turns to another scenario. */
void app_use(struct app *app, const struct scenario *s);
/* Takes the next choice of what-if number `row` of what_if_table; after the last one, off. */
void app_toggle(struct app *app, int row);
/* As the key that measures missing problems, or the whole sweep. */
void app_measure(struct app *app);
/* Asks for a text in the bottom line. accept is called with it; false: it is not good (it notes why), and the
 * prompt stays. label: not copied. */
void app_ask(struct app *app, const char *label, bool (*accept)(struct app *app, const char *text));
/* Asks a question in the bottom line; y or Enter calls yes. The text is copied. */
void app_confirm(struct app *app, const char *question, void (*yes)(struct app *app));
/* While a chart is drawn: the columns from x on stand for a layer, or what its `pick` takes; a click selects
 * the nearest one. Areas may be parts of the chart. */
void app_item(struct app *app, struct area a, int x, int y, int width, int item);
/* While a heading is drawn: a click on these columns sorts by an order of the view. */
void app_order_spot(struct app *app, struct area line, int x, int width, int order);
/* Marks the row that is in use; in ASCII not by the * of other marks. */
void view_draw_in_use(struct area line);
/* The mark behind the heading of the sorted column; "" for the other columns. */
const char *app_order_mark(const struct app *app, const struct view *view, int order);
/* True if the rows are sorted or reversed, i.e. not in the view's own order; if a filter hides some. */
bool app_is_sorted(const struct app *app, const struct view *view);
bool app_is_filtered(const struct app *app, const struct view *view);
/* True if the screen is wide enough for a column of real times, of APP_REAL_COLUMNS, and there are some. */
#define APP_REAL_COLUMNS 10
bool app_has_real_column(const struct app *app);

#endif
