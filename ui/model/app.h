/* What the explorer shows: one session, its layers numbered in all graphs, the rows of the list, facts about
 * layers and problems. Views read it and do not change it, except `layer`. */
#ifndef UI_MODEL_APP_H
#define UI_MODEL_APP_H

#include "base/hash.h"
#include "session/state.h"
#include "ui/model/scopes.h"
#include "ui/screen/canvas.h"
#include "ui/screen/key.h"
#include "ui/screen/lanes.h"

struct app_agent; /* agent.c */
struct frame;     /* ui/frame/frame.h */
struct stage;     /* ui/stage/stage.h */

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

/* Devices marked to be compared (beside.h), in the order of the marks. */
#define BESIDE_MOST 16
struct beside {
	struct arena arena;
	int count;
	struct session_device list[BESIDE_MOST];
};

struct app {
	struct session *session;
	struct beside beside;
	struct arena scratch;    /* freed before each drawing */
	uint64_t analyses;       /* counts analyses: changes with every figure */
	uint64_t generation;     /* counts changes of plan, results and scenario */
	double load;             /* load average of this machine, if it measures; else 0 */
	int layer;               /* the selected layer, or -1. Here and below a layer is an index into places:
	                            the model's own layers in plan order, then those of bodies */
	char note[ERROR_TEXT_SIZE]; /* one line for the user, until the next key: app_note */
	bool note_bad;
	int64_t note_ms;         /* when it was written (clock_ms) */
	int count;               /* typed before the key that is handled: 5 in 5j; 0: none */
	char target[16];         /* of advice, as typed: "5ms"; "" none */
	bool show_folded;        /* list the layers that only compute constants too */
	bool is_still;           /* a single frame is printed: no process is started */
	bool results_wait;       /* app_renew leaves results that came since the analysis */
	int64_t renewed_ms, renew_ms; /* when the last analysis was there (clock_ms), and what it took with
					 all that follows from it */
	struct app_agent *agent; /* that runs the model (agent.h) */
	struct stage *stage;     /* what is shown, asked and selected: panes, prompt ... */
	struct frame *frame;     /* the screen around the views */
	/* computed by app_renew */
	int folded_count;        /* layers that only compute constants, listed or not */
	int place_count;
	struct place *places;
	bool *unfolded;          /* per place: true if its bodies are listed */
	bool *picked;            /* per place: marked by the user */
	int picked_count;
	int unfold_changes, seen_unfolded;
	int *first_of;           /* per problem of the plan: its first layer, or -1 */
	int listed_count;        /* layers in the list, in execution order */
	int *listed;             /* layer of a row */
	int *lane_of;            /* of a row: its row of the lanes, or its outermost owner's */
	int *row_of;             /* row of a layer, or -1 */
	int *number_of;          /* a layer's number from 1, constant layers not counted; 0 for these */
	int name_columns; /* columns that the longest short name needs, about; at most APP_NAME_COLUMNS_MAX */
	struct scopes scopes;
	uint8_t *name_detail;    /* per place: how much of the name app_name_short keeps; 0 = least */
	struct lanes lanes;      /* of the listed layers of the model's own graph */
	const struct plan *lanes_plan;
	const struct plan_layer *lanes_layers;
	bool lanes_folded;
	int suspect_count;       /* layers without a cost, because all results are suspect */
	int failed_count;        /* layers without a cost whose measurement failed */
	int sweep_left;          /* points of the sweep not completely measured */
	struct {                 /* the last answer of app_needed_for, for as long as the rows stay */
		const struct plan *plan;
		const char *what;
		char problem[PROBLEM_TEXT_SIZE];
	} needed;
	struct {                 /* the last answer of app_missing, with the state that it is of */
		uint64_t analyses, jobs;
		struct session_missing what;
	} missing;
	double most_ns;          /* highest cost of a layer, for bars; 0 if none is known */
};

#define APP_NAME_COLUMNS_MAX 64

/* Begins with a session, which the caller closes after app_end. */
void app_begin(struct app *app, struct session *s);
void app_end(struct app *app);
/* Brings session, list, lanes and figures up to date. */
enum app_change { APP_SAME, APP_RENEWED, APP_RELISTED /* the rows of the list too */ };
enum app_change app_renew(struct app *app);

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
/* Marks a layer, or removes its mark. */
void app_pick_layer(struct app *app, int layer, bool picked);
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
const char *app_state_word(struct app *app, enum state state, enum style *style);
enum state app_state_of(const struct app *app, int layer);
/* The words that search and filter match: the state's, its stored name and its earlier name. */
const char *app_problem_terms(struct app *app, const char *problem);
const char *app_layer_terms(struct app *app, int layer);
/* Batches times data types of the configuration (-b, -t): more than 1 is a sweep, and b measures all of it.
 * */
int app_sweep_points(const struct app *app);
/* The first key of the row with that name in the table of keys (ui/stage/keys.h), for texts: keys may be
 * configured. A letter of the row ("$a") is left out. Valid until the end. */
const char *key_named(const char *name);
/* What `b` would queue now, without the texts; and how many problems that is. Looks them up when something
 * has changed. */
struct session_missing app_missing(struct app *app);
/* True if that would take long (SESSION_LATER_LAYERS): app_go_on looks them up between keys. */
bool app_missing_waits(const struct app *app);
int app_missing_count(struct app *app);
/* True if the device can measure missing problems, or its planner has not answered yet. */
bool app_can_measure(const struct app *app);
/* True if only its stored results are used: no runner was asked for. */
bool app_is_recorded(const struct app *app);
/* True if the cost comes from a proxy or is an estimate; both are marked `~`. */
bool app_is_guess(const struct layer_cost *c);
/* True if the layer is on the critical path; false while costs are missing, since the path may change. */
bool app_is_critical(const struct app *app, const struct layer_cost *c);
/* "17.2%", "100%"; with a `~` while something is missing from the total. */
const char *app_share(struct app *app, double ns, double total_ns);
/* The reason why a layer has no cost, and what to do. */
const char *app_missing_why(struct app *app, int layer);
/* "removed by fold, into relu: undoes there", of a layer that the what-if fold removes. */
const char *app_folded_text(struct app *app, int layer);
/* What needs a problem: "" the current plan, fused or not; else "conversion", "peak" (of the device), "other
 * scenario". */
const char *app_needed_for(struct app *app, const char *problem);
void app_note(struct app *app, bool bad, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Bytes of text that fit in one line of `columns`: up to a blank if there is one, else up to the edge. The
 * next line begins after the blanks that follow. */
size_t app_break(const char *text, int columns);
/* "1.2 ms", "~1.2 ms" of a guess, "-" if unknown; lives until the next drawing. */
const char *app_duration(struct app *app, double ns, bool guess);
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
