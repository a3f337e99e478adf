/* A view fills the screen below the totals. It returns and draws rows; the frame (app.c) moves, scrolls,
 * searches, sorts and filters. To add a view: write view_NAME.c with a struct view, and add it to views[] in
 * app.c. */
#ifndef UI_VIEW_H
#define UI_VIEW_H

#include "session/session.h"
#include "ui/screen/canvas.h"
#include "ui/views/keys.h"
#include "ui/screen/lanes.h"

struct app;

struct view {
	const char *name;            /* for --view, and shown at the top right */
	const char *help;            /* one line */
	size_t state_size;           /* the view's own state, zeroed before open */
	void (*open)(struct app *app, void *state);  /* may be NULL */
	void (*close)(struct app *app, void *state); /* frees what the state owns; may be NULL */
	/* Number of rows for an area `width` columns wide; called before every drawing; the view may rebuild
	 * its rows then. */
	int (*rows)(struct app *app, void *state, int width);
	/* The line above the rows; NULL = none. */
	void (*heading)(struct app *app, void *state, struct area line);
	/* Draws row (the view's own numbering, whatever the order) into an area one line high. shown_after:
	 * the row drawn on the line above, or -1. */
	void (*draw_row)(struct app *app, void *state, int row, int shown_after, struct area line);
	/* Text of a row for search and filter, cleaned; lives until the next drawing. NULL function = no
	 * search. */
	const char *(*row_text)(struct app *app, void *state, int row);
	/* True if a cheap part of row_text contains the text; false: unknown. May be NULL. */
	bool (*row_has)(struct app *app, void *state, int row, struct text text);
	/* Names of the sort orders, NULL-terminated, the first is the view's own; and a comparison of two
	 * rows in one of the others. NULL = no sorting. */
	const char *const *orders;
	/* Returns false for an order that does not apply now; it is skipped. NULL: all apply. */
	bool (*offers)(const struct app *app, int order);
	int (*compare)(struct app *app, void *state, int order, int a, int b);
	/* Handles REQUEST_OPEN for the selected row. False: it did nothing. */
	bool (*request)(struct app *app, void *state, const struct key_row *key, int row);
	/* Called when row `row` is selected: the view may set app->layer. May be NULL. */
	void (*select)(struct app *app, void *state, int row);
	/* Row of a layer, or -1; selected when the view is opened. May be NULL. */
	int (*row_of_layer)(struct app *app, void *state, int layer);
	/* Row to select when a view without row_of_layer is opened, or -1. May be NULL. */
	int (*row_at_entry)(struct app *app, void *state);
	/* True for a continuation or blank line, which the cursor skips. May be NULL. */
	bool (*passes)(struct app *app, void *state, int row);
	/* Milliseconds until the view must be drawn again; -1: no such time. May be NULL. */
	int (*due_ms)(struct app *app, void *state);
	const char *opens;           /* what Enter does, for the hints at the bottom; NULL: the key table's */
	bool text;                   /* a page of text: it scrolls, and has a cursor only on a search
					result */
	bool own_footer;             /* the page describes the layer itself: no rows for it at the bottom */
};

extern const struct view view_layers, view_detail, view_what_if, view_problems, view_devices, view_doctor,
	view_advice, view_help;

/* A view with its state and position. */
struct pane {
	const struct view *view;
	void *state;
	bool is_open;
	int row_count;       /* of the view */
	int shown_count;     /* after filtering */
	int *shown;          /* view rows in the order shown */
	int capacity;
	int cursor, top;     /* indexes into shown */
	bool marked;         /* a page of text: the cursor is on a search result; else on the top line */
	int order;
	bool reverse;
	char filter[128];
	uint64_t seen_generation;
	int seen_width;
};

enum prompt_kind { PROMPT_NONE, PROMPT_SEARCH, PROMPT_FILTER, PROMPT_DIM };

#define PROMPT_DIM_SIZE 24

struct prompt_dim {
	struct text name;             /* as the model has it */
	char *shown;                  /* cleaned for the screen; both malloc'd */
	char text[PROMPT_DIM_SIZE];   /* "" no value */
	bool changed;
};

struct prompt {
	enum prompt_kind kind;
	char text[128];
	bool untouched;       /* text is the previous value: the first letter replaces it */
	char before[128];     /* PROMPT_FILTER: the filter that Esc restores */
	int start_cursor, start_top, start_row; /* position when the search or filter was started */
	struct prompt_dim *dims; /* PROMPT_DIM: all dimensions of the prompt, bound together at the end */
	int dim_count, dim_index;
};

#define APP_VIEWS_MAX 16

/* Position of a layer: in the model's graph, or in a body of a layer. */
struct place {
	const struct plan *plan;       /* the graph's */
	const struct plan_layer *layer;
	int base;                      /* number of that graph's first layer */
	int inside;                    /* number of the first layer of its own bodies, which follow one
					  another */
	int owner, body, depth;        /* enclosing layer or -1; index of its body; nesting depth */
	double times;                  /* runs per run of the model; NaN unknown, 0 never */
};

struct app {
	struct session *session;
	struct canvas canvas;
	struct arena scratch;    /* freed before each drawing */
	uint64_t generation;     /* counts changes of plan, results and scenario */
	struct pane panes[APP_VIEWS_MAX];
	int stack[APP_VIEWS_MAX];/* views opened one from another; the last is shown, the first is layers */
	int depth;
	struct { int layer, cursor; } trail[16]; /* layers that Esc returns to in the details; oldest first */
	int trail_count;
	int layer;               /* the selected layer, or -1. Here and below a layer is an index into places:
	                            the model's own layers in plan order, then those of bodies */
	int page;                /* rows of the list at the last drawing */
	char search[128];
	struct prompt prompt;
	char note[ERROR_TEXT_SIZE]; /* one line for the user, until the next key */
	bool note_bad;
	char standing[ERROR_TEXT_SIZE]; /* error shown while there is no other message, or "" */
	bool quit, redraw;
	bool stopping;           /* x was pressed; the running problem has not ended yet */
	bool is_frame;           /* app_frame: no process is started */
	struct session_agent *agent; /* that runs the model, or NULL; these are of app_agent.c */
	int agent_chosen;        /* index of a configured agent */
	bool agent_waits;        /* for the end of measuring */
	bool agent_reads;        /* the model's files are read before it starts */
	/* plan of the first of two runs in turn with measuring (reality_turn), before the second; or NULL */
	const struct session_plan *agent_second;
	bool agent_stopping;     /* it was cancelled and has not ended yet */
	bool runner_dead;        /* it does not start; retried only when the user presses b or B */
	bool show_folded;        /* list the layers that only compute constants too */
	/* computed by app_refresh, for the views */
	int folded_count;        /* layers that only compute constants, listed or not */
	int place_count;
	struct place *places;
	bool *unfolded;          /* per place: true if its bodies are listed */
	int unfold_changes, seen_unfolded;
	int *first_of;           /* per problem of the plan: its first layer, or -1 */
	int listed_count;        /* layers in the list, in execution order */
	int *listed;             /* layer of a row */
	int *lane_of;            /* of a row: its row of the lanes, or its outermost owner's */
	int *row_of;             /* row of a layer, or -1 */
	int *number_of;          /* a layer's number from 1, constant layers not counted; 0 for these */
	int name_columns; /* columns that the longest short name needs, about; at most APP_NAME_COLUMNS_MAX */
	uint8_t *name_detail;    /* per place: how much of the name app_name_short keeps; 0 = least */
	struct lanes lanes;      /* of the listed layers of the model's own graph */
	const struct plan *lanes_plan;
	const struct plan_layer *lanes_layers;
	bool lanes_folded;
	int suspect_count;       /* layers without a cost, because all results are suspect */
	int failed_count;        /* layers without a cost whose measurement failed */
	int unmeasured_count;    /* distinct problems without a result: the scenario's and its what-ifs' */
	int sweep_left;          /* points of the sweep not completely measured */
	double most_ns;          /* highest cost of a layer, for bars; 0 if none is known */
};

/* ---- for views ---- */

/* Returns the current plan, or NULL. */
const struct plan *app_plan(const struct app *app);
/* The layer with this number, in any graph, or NULL. */
const struct plan_layer *app_layer(const struct app *app, int layer);
/* The layer that produces a value of the layer's graph or of an enclosing one, or -1. */
int app_producer(const struct app *app, int layer, int value);
/* The first layer of a body of a layer. */
int app_body_first(const struct app *app, int layer, int body);
bool app_is_body(const struct app *app, int layer);
/* True if the layer only computes constants. */
bool app_is_folded(const struct app *app, int layer);
/* True if the layer has inner layers that can be listed. */
bool app_can_unfold(const struct app *app, int layer);
/* Shows or hides the inner layers of a layer (app_fold: of the layer or its owner). False: nothing to do. */
bool app_unfold(struct app *app, int layer);
bool app_fold(struct app *app, int layer);
/* Shows the inner layers of all layers or, if all are shown, hides them. Returns the number of layers
 * opened. */
int app_unfold_all(struct app *app);
/* The layer itself or, if it is not listed, the innermost enclosing layer that is. */
int app_listed_at(const struct app *app, int layer);
/* A layer's cost, or NULL while there is no analysis. For a layer of a body: the cost of one run. */
const struct layer_cost *app_cost(const struct app *app, int layer);
/* A layer's cost in the model: that of one run times the runs (once if their number is unknown). */
double app_cost_all(const struct app *app, int layer);
/* The text of the problem that a layer's cost comes from in this scenario (the fused one for a group), or
 * NULL. */
const char *app_problem(const struct app *app, int layer);
/* Width of the state column: the words of a described device are longer. */
int app_state_columns(const struct app *app);
/* The state of a problem or layer as a word (session/state.h), "queue 3" with its position; "" when nothing
 * is recorded. */
const char *app_problem_state(struct app *app, const char *problem, enum style *style);
const char *app_layer_state(struct app *app, int layer, enum style *style);
/* The words that search and filter match: the state's, its stored name and its earlier name. */
const char *app_problem_terms(struct app *app, const char *problem);
const char *app_layer_terms(struct app *app, int layer);
/* Batches times data types of the configuration (-b, -t): more than 1 is a sweep, and b measures all of it.
 * */
int app_sweep_points(const struct app *app);
/* True if the device can measure what is missing, or its planner has not answered yet. */
bool app_can_measure(const struct app *app);
/* Follows a line of the details to another layer; Esc comes back. */
void app_follow(struct app *app, int layer);
/* Shows another view with the given layer selected (-1: keeps the selected one). */
void app_show(struct app *app, const struct view *view, int layer);
/* True if the cost comes from a proxy or is an estimate; both are marked `~`. */
bool app_is_guess(const struct layer_cost *c);
/* True if the layer is on the critical path; false while costs are missing, since the path may change. */
bool app_is_critical(const struct app *app, const struct layer_cost *c);
/* "17.2%", "100%"; with a `~` while something is missing from the total. */
const char *app_share(struct app *app, double ns, double total_ns);
/* The reason why a layer has no cost, and what to do. */
const char *app_missing_why(struct app *app, int layer);
/* True if the current plan needs the problem, fused or not. */
bool app_is_of_scenario(const struct app *app, const char *problem);
void app_note(struct app *app, bool bad, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Switches to another device; the result is shown in the footer. */
void app_device_choose(struct app *app, const struct session_device *d);
/* True if the what-if does not apply because costs are estimates, which have no algorithms and no
 * launches. */
bool app_is_inapplicable(const struct app *app, const struct what_if *row);
/* Takes the next choice of what-if number `row` of what_if_table; after the last one, off. */
void app_toggle(struct app *app, int row);
/* Bytes of text that fit in one line of `columns`: up to a blank if there is one, else up to the edge. The
 * next line begins after the blanks that follow. */
size_t app_break(const char *text, int columns);
/* The mark behind the heading of the sorted column; "" for the other columns. */
const char *app_order_mark(const struct app *app, const struct view *view, int order);
/* True if the rows are sorted or reversed, i.e. not in the view's own order. */
bool app_is_sorted(const struct app *app, const struct view *view);
/* Larger first, unknown last. */
int app_compare_numbers(double a, double b);
/* Text of a model without control characters; lives until the next drawing. */
const char *app_clean(struct app *app, struct text t);
/* The layer's problem in the scenario's layout: its index in the plan, or -1; and the first layer with a
 * problem. */
int app_own_problem(const struct app *app, int layer);
int app_first_layer(const struct app *app, int problem);
/* The first layer with the same problem, if that is another layer; else -1. */
int app_same_as(const struct app *app, int layer);
/* The problem's measurement that the current scenario uses, or NULL. */
const struct result *app_pick(const struct app *app, const char *problem);
/* Estimate of a problem on a described device in ns; NaN: another device, or unknown. */
double app_estimate_ns(const struct app *app, const char *problem);
/* Operator for narrow columns: "Norm" for "Normalization" and so on. */
const char *app_op_short(struct app *app, struct text op);
/* A layer's name for a narrow column beside its operator. Drops parts of an exporter's path that the next
 * part repeats, and the operator at the end: "/layer1/layer1.0/conv1/Conv" becomes "layer1.0/conv1". If
 * several listed layers would get the same name, the operator's number, the operator or the whole name is
 * kept. */
const char *app_name_short(struct app *app, const struct plan_layer *l);
/* The same for a layer's number. */
const char *app_name(struct app *app, int layer);

#endif
