/* A session: one model on one device in one scenario, for commands and the explorer. It owns the model, its
 * plans (one per batch, data type and dimensions, kept until session_plans_trim), the store, the queue and
 * the current analysis. */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "analyze/analyze.h"
#include "analyze/bound/limit.h"
#include "analyze/real/reality.h"
#include "analyze/real/trust.h"
#include "base/digest.h"
#include "config/config.h"
#include "doctor/doctor.h"
#include "drive/planner.h"
#include "drive/queue.h"
#include "session/described.h"

#include <stdio.h>

enum session_db {
	SESSION_DB_READ,  /* nothing is written; a missing file counts as empty and is not created */
	SESSION_DB_WRITE, /* results and dimensions are stored */
	SESSION_DB_TRY    /* the same if the disk is not full and the usual place can be written; else
			     `unkept` says why not, and a database that is there is read */
};

struct session_options {
	const char *model_path;                 /* "-" = standard input */
	enum session_db db;
	const volatile sig_atomic_t *stop;      /* session_connect stops waiting once it is not 0; may be
						   NULL */
	void (*say)(const char *line);          /* called with what session_connect waits for; may be NULL */
	int dim_count, shape_count, value_count;
	const struct dim_binding *dims;         /* --dim: overrides remembered, configured and sidecar
						   values */
	bool batch_option;                      /* the batches are from the command line, not from the
						   configuration file */
	const struct plan_input_shape *shapes;  /* --input */
	const struct plan_input_value *values;  /* --value */
	int assume_count;
	const struct assume_item *assume;       /* --assume */
	int requests;                           /* that agents run at a time; 0: one */
	const json_t *agent_options;            /* object of texts for the framework itself; NULL: none */
};

struct session;

/* A form of file in which the explorer saves what it shows. */
struct session_export {
	const char *suffix;  /* of the file's name: "csv"; NULL ends a table */
	/* layers: those that are shown, in their order, as indexes into the plan. After session_refresh, with
	 * an analysis. */
	void (*print)(struct session *s, const int *layers, int count, FILE *out);
};

/* Opens the model, its sidecar and the database; starts no runner, makes no plan. Remembered dimensions of
 * the model's file apply if no others are given; given ones are remembered if the database is writable.
 * Nothing is remembered for a model from standard input. NULL with err on failure; release with
 * session_close. */
struct session *session_open(struct config *config, const struct session_options *o, struct error *err);
/* Opens another model on the same device. Database, results, runners and scenario stay; dimensions are those
 * of the model; no plan is made. -1: it cannot be opened, and the previous model stays. */
int session_turn_to(struct session *s, const char *model_path, struct error *err);
/* The same for a person: plans the model too (as session_select) before anything of the previous one is given
 * up. --dim, --input, --value and assumed costs were for the previous model. -1: nothing changes. */
int session_replace(struct session *s, const char *model_path, int64_t batch, enum dtype dtype,
	struct error *err);
void session_close(struct session *s);

/* ---- what it has ----
 * Everything is borrowed from the session: a plan and its parts until session_plans_trim or another model;
 * the analysis and its parts until session_refresh returns true; results, queue and planner until the device
 * changes. */

const struct plan *session_plan(const struct session *s); /* the selected one; NULL until session_select */
int64_t session_batch(const struct session *s);    /* as selected; 0: the model's own, or no plan */
enum dtype session_dtype(const struct session *s); /* in which it runs; unknown: in several types, those of
						      the file, or no plan */
/* The name of a type that session_select takes: of DTYPE_UNKNOWN that of the current plan, "f16" or "mixed".
 */
const char *session_type_name(const struct session *s, enum dtype dtype);
/* The plan's fused groups, found at the first call; `layers`, for example, needs none. */
const struct fusion *session_fusion(const struct session *s);
/* The costs that --assume and session_assume gave to layers of the plan, one a layer; NULL: none. */
const struct assumption *session_assumed(const struct session *s);
const struct scenario *session_scenario(const struct session *s);
const struct analysis *session_analysis(const struct session *s); /* NULL until session_refresh */
/* The effects of all what-ifs, made with the analysis; that of one, or NULL. */
const struct what_if_effect *session_effects(const struct session *s, int *count);
const struct what_if_effect *session_effect(const struct session *s, const struct what_if *row);
/* The device's; they may have gaps (peaks_known). Those of the analysis. */
const struct peaks *session_peaks(const struct session *s);
const struct device *session_device(const struct session *s); /* name NULL until known */
uint64_t session_device_changes(const struct session *s);     /* their number, reconnections included */
/* The described device, for which costs are estimates and nothing is measured; NULL: another kind. */
const struct described *session_described(const struct session *s);
bool session_is_recorded(const struct session *s); /* the device is one of the data directory */
/* Why the requested runner does not answer, so that records are shown; else "". */
const char *session_trouble(const struct session *s);
const char *session_unkept(const struct session *s); /* why nothing is stored (SESSION_DB_TRY), or "" */
struct results *session_results(const struct session *s);
/* NULL: no runner for the device (recorded device, or --frame without one). */
struct queue *session_queue(const struct session *s);
struct planner *session_planner(const struct session *s); /* of a described device; else NULL */
struct store *session_store(const struct session *s);     /* NULL: no database, and none is created */
const struct model *session_model(const struct session *s);
/* The paths of all files that the session reads, and `count` more, in the arena; NULL at the end. */
const char *const *session_reads(
	const struct session *s, const char *const *more, int count, struct arena *a);
const char *session_model_path(const struct session *s);  /* as given; "-": standard input */
struct config *session_given(const struct session *s);    /* the configuration at session_open */
const struct config *session_config(const struct session *s); /* the same with the device chosen since */
/* The forms in which the explorer saves what it shows (session_exports_set); NULL: none. */
const struct session_export *session_exports(const struct session *s);

/* Connects to the runner of config->device (timeout_ms as in queue_connect) and loads the device's results.
 * If no runner answers, the analysis uses the device's records in the database (session_trouble has the
 * reason), else those of the data directory (session/recorded.h). A recorded device is matched by name, model
 * or number, else by a part of its stack, and by config->threads. Else it may be a described device ("h100"):
 * session_described is set, and session_plan_step plans for it. Returns 0; -1: not found; SESSION_UNREADABLE:
 * found, but its records or description cannot be read. */
#define SESSION_UNREADABLE (-2)
int session_connect(struct session *s, int timeout_ms, struct error *err);
/* After session_connect with timeout 0, if the runner does not answer: drops its queue and uses the records,
 * as session_connect would. */
int session_give_up_runner(struct session *s, struct error *err);

/* ---- change of device ---- */

enum session_device_kind {
	SESSION_RUNNER,    /* a configured runner */
	SESSION_RECORDED,  /* has results in the database or in a file of the data directory */
	SESSION_DESCRIBED
};

struct session_device {
	enum session_device_kind kind;
	const char *key;      /* short, usually valid for -d: "cpu", "3", "h100"; of a file: its model */
	const char *model;    /* "" unknown: a runner that was not started */
	const char *stack;    /* "" unknown */
	const char *command;  /* command line of a runner; else "" */
	const char *path;     /* of a file; else "" */
	int64_t id;           /* in the database; 0: not in it */
	struct described described; /* of a described device */
	bool in_use;
};

/* Lists all devices: runners (none is started), then recorded devices, then described ones. Strings live in
 * the arena; they are untrusted text, not cleaned. Returns the count. Unreadable ones are left out; err has
 * the reason, else it is empty. */
int session_devices(
	const struct session *s, struct arena *a, struct session_device **list, struct error *err);
/* Switches to another device: 0. Scenario, plans and dimensions stay; results, analysis, queue and planner
 * are replaced. A runner is only started: SESSION_AWAITED, and the old device stays in use until
 * session_choose_step reports its answer; a previously awaited one is dropped. The old runner's current
 * measurement is cancelled, its results are kept. -1: the device cannot be opened, and the old one stays in
 * use. Pointers to results and plan answers of the old device become invalid. */
#define SESSION_AWAITED 1
int session_choose(struct session *s, const struct session_device *d, struct error *err);
/* Call as often as queue_step; waits up to timeout_ms for the awaited device. 1: it is in use now; -1: its
 * runner does not answer (err), and the old device stays; 0: still waiting, or nothing awaited. */
int session_choose_step(struct session *s, int timeout_ms, struct error *err);
/* The key of the awaited device, or NULL; a file descriptor to poll for its answer, or -1. */
const char *session_awaited(const struct session *s);
int session_awaited_fd(const struct session *s);
/* True while a device starts or a previous one is shutting down. */
bool session_is_changing(const struct session *s);
const char *session_awaited_waits(const struct session *s); /* message of its runner while it waits in a
							       cluster's queue, or "" */
/* Stops waiting for it. */
void session_choose_leave(struct session *s);

/* If the device has no results, but other stacks or thread counts of the same model have: a line that lists
 * them and how to choose them, in the arena; else NULL. */
const char *session_other_records(struct session *s, struct arena *a);
/* Selects the plan of a batch and data type, and makes it if needed. batch 0, DTYPE_UNKNOWN: the model's own.
 * On error (-1) the current one stays. */
int session_select(struct session *s, int64_t batch, enum dtype dtype, struct error *err);
/* Frees the plans that were asked for longest ago, until those beside the current one have at most
 * SESSION_PLANS_LAYERS layers together: of small models all stay, of large ones none. Plans of open
 * variants stay too. */
#define SESSION_PLANS_LAYERS 100000
void session_plans_trim(struct session *s);
/* Sets symbolic dimensions together (remembered) and plans again, once. -1: the model rejects them, and
 * nothing changes. */
int session_bind(struct session *s, const struct dim_binding *dims, int count, struct error *err);
/* The same with a batch and data type (as session_select), all checked together. */
int session_set(struct session *s, int64_t batch, enum dtype dtype, const struct dim_binding *dims, int count,
	struct error *err);
/* Source of a dimension's value, one word: "--dim", "remembered", "config", "sidecar", "entered"; "" if the
 * plan itself sets it (-b, --input). */
const char *session_dim_source(const struct session *s, struct text name);
const char *session_model_name(const struct session *s); /* as in error messages */
/* Source of a dimension's value in the current plan, as in reports: "option", "entered", "remembered",
 * "configuration", "sidecar", "default". */
const char *session_binding_origin(const struct session *s, int index); /* of the current plan's
									   bindings[index] */
const char *session_dim_origin(const struct session *s, struct text name);
/* "batch 1 (default), sequence 64 (remembered)": the bindings of the current plan; "" without any. */
void session_dims_describe(const struct session *s, struct str *out);
/* The operators of the current plan that the user describes, with file, line and layers; "" without any.
 * only_timed: those of layers that have a time and nothing to measure. */
void session_operators_describe(const struct session *s, bool only_timed, struct str *out);
/* The same without the batch and those of the list. */
void session_dims_besides(
	const struct session *s, const struct dim_binding *but, int but_count, struct str *out);
/* Number of each layer in lists, from 1; folded layers (plan_layer_is_folded) are not counted and have 0.
 * *total: the highest. In the arena. */
int *session_numbers(const struct plan *p, struct arena *a, int *total);
/* 0 if every symbol of the current plan has a value; -1 with an error that names the first free one and the
 * option. */
int session_check_bound(const struct session *s, struct error *err);
/* Adopts the runner's device after its hello; recomputes the analysis if scenario, plan or results changed.
 * Returns true if it did. */
bool session_refresh(struct session *s);
/* Problems that are added to the queue from now on are measured at the reuse distance of the current plan.
 * Called by session_select and session_refresh. */
void session_set_distance(struct session *s);
/* True if the analysis is of the current plan and scenario: it may lack only newer results. */
bool session_is_analyzed(const struct session *s);
/* Assumes a cost for a layer of the model in all its plans, instead of that of the options; of kind
 * ASSUME_NOTHING: none. Switches the what-if assume on, off without any. */
void session_assume(struct session *s, int layer, const struct assumption *cost);
/* The same for the layers that an item of --assume selects. Returns their number; -1: as assume_apply. */
int session_assume_item(struct session *s, const struct assume_item *item, struct error *err);
/* Takes another scenario; session_refresh computes what it changes. */
void session_use(struct session *s, const struct scenario *scenario);
/* Takes the what-ifs of the options and the configuration again, without these the defaults. */
void session_reset_what_ifs(struct session *s);
/* The what-if matrix stays as it is now; until then, or until session_use changes it, it is on where products
 * of fewer bits than f32 run on a GPU. Whether that was chosen. */
void session_choose_matrix(struct session *s);
bool session_matrix_chosen(const struct session *s);
/* The time that session_refresh may take for effects; the others stay pending. */
void session_effects_within(struct session *s, int ms);
/* The forms in which the explorer saves what it shows; the table is borrowed. */
void session_exports_set(struct session *s, const struct session_export *table);
/* Computes pending effects for about `ms`, then the executions beside the bound (session_reality), which are
 * pending too in models of more than SESSION_LATER_LAYERS. Returns true while some are pending; false also if
 * the analysis is not up to date, because session_refresh comes first. */
#define SESSION_LATER_LAYERS 20000
bool session_effects_step(struct session *s, int ms);
/* The inputs of the current analysis (analyze/analyze.h), borrowed from the session. After session_refresh.
 */
struct ground session_ground(struct session *s);
/* For a described device: sends all problems of the current plan to the planner and reads its answers,
 * waiting up to timeout_ms for one. Returns true while answers are missing; false for other devices. */
bool session_plan_step(struct session *s, int timeout_ms);
/* What a described device could run for a problem; NULL if the device is not described, or problem is
 * NULL. */
const struct planned *session_planned(const struct session *s, const char *problem);
/* A doctor after its first reading. The caller closes it. */
struct doctor *session_doctor(const struct session *s);
/* The conversions between layouts that the results make possible (analyze_conversions), in arena a. */
const char **session_conversions(struct session *s, struct arena *a, int *count);
/* With the what-if parallel=measured: the problems side by side without a result (analyze_besides), in
 * arena a. Else none. */
const char **session_besides(struct session *s, struct arena *a, int *count);
/* Queues them once no other problem is left (besides_due). Returns the number added. */
int session_measure_besides(struct session *s);
/* All distinct problems of the current scenario, in arena a. */
const char **session_problems(const struct session *s, struct arena *a, int *count);
/* Queues quick measurements (queue_add_quick) of the current scenario's unmeasured problems, if they are more
 * than QUICK_LEAST and the configuration does not switch them off (quick). Returns the number added. */
#define QUICK_LEAST 10
int session_measure_quick(struct session *s);
/* Queues one more short measurement (queue_add_repeat) of each problem of the current plan that this queue
 * has measured, or (stored) any has, at most REPEAT_ROUNDS times so far, and whose uses are at least
 * REPEAT_SHARE of the bound, also fused ones: of the algorithm that the analysis uses.
 * Other work and other guests of a machine slow it down for seconds, and the low quantile of samples at
 * several times does not see that. Nothing for a GPU, which settles its clock. Returns the number added. */
#define REPEAT_SHARE 0.005
#define REPEAT_ROUNDS 2 /* of all problems: the time between two measurements of one is that of a round */
int session_queue_repeats(struct session *s, bool stored);
/* True if a result is one measurement by this version of the device's runner, with a low quantile: another
 * one is pooled with it. */
bool session_is_once(const struct session *s, const struct result *r);
/* Queues the measured peaks of the device once more: on a CPU the best algorithm of each. Returns the number
 * added. */
int session_queue_peaks_again(struct session *s);
/* What session_measure_missing would queue: the unmeasured problems of the scenario and its what-ifs, fused
 * ones included; then the conversions that the results make possible, and the device's peaks. In arena a,
 * each once. Nothing without a queue. */
struct session_missing {
	int own, conversions, peaks;
	int besides;                  /* branches side by side, which follow these (session_besides) */
	int shaky;                    /* measured: what session_measure_shaky queues */
	const char **texts;           /* without besides and shaky, in this order */
};
struct session_missing session_missing(struct session *s, struct arena *a);
/* True if a result of the problem is noisy or disputed, in a state that the current plan reads. */
bool session_is_shaky(const struct session *s, const char *problem);
/* Queues again the problems of the scenario that are noisy, those of capped and disputed costs (struct
 * layer_cost), and such peaks. Returns the number added. */
int session_measure_shaky(struct session *s);
/* True if the queue works, or session_refresh will give it more. */
bool session_is_measuring(const struct session *s);
/* Queues problems without results. Returns the number added. Problems side by side depend on the results of
 * the
 * others: session_refresh queues them when no other is left, then REPEAT_ROUNDS of session_queue_repeats. */
int session_measure_missing(struct session *s);
/* Removes the pending jobs, and with them what would follow. Returns the number of jobs removed. */
int session_queue_clear(struct session *s);
/* The same, and cancels the running ones (queue_cancel). */
void session_queue_cancel(struct session *s);
/* session_measure_missing for every batch and data type of the configuration (-b, -t), the current scenario
 * first; the current plan stays selected. Returns the number added; -1: a plan cannot be made (err), already
 * queued problems stay. Problems side by side follow; of the current plan repeated measurements too. */
int session_measure_sweep(struct session *s, struct error *err);
struct session_sweep_progress {
	int problems, open, failed, missing; /* open: queued or running; missing: neither queued nor measured
						(cancelled) */
	bool running;
};
/* Points of the last sweep that was started; 0: none. */
int session_sweep_count(const struct session *s);
/* Batch (0: the model's own) and data type of point i. */
void session_sweep_point(const struct session *s, int i, int64_t *batch, enum dtype *dtype);
/* Progress of point i; two hash lookups per problem. */
struct session_sweep_progress session_sweep_progress(const struct session *s, int i);
/* The first point that needs the problem being measured, or -1. */
int session_sweep_running(const struct session *s);
/* "batch 4 bf16", or "bf16" for batch 0. Returns buf. */
char *session_sweep_text(
	const struct session *s, char *buf, size_t size, int64_t batch, enum dtype dtype);
/* The problems whose results are the device's peaks (analyze/roof/peaks.h), in the data types of the plans
 * made so far: about ten. Array and texts live in the arena. */
const char **session_peak_problems(struct session *s, struct arena *a, int *count);
/* Queues such a problem, of a CPU briefly (queue_add_brief). Returns whether it was added. */
bool session_queue_peak(struct session *s, const char *text, bool again);
/* Queues a problem again, at the front. */
int session_measure_problem(struct session *s, const char *problem);
/* Queues a layer's problem and those of its groups again. */
int session_measure_layer(struct session *s, int layer);
/* Queues the problems again that the marked layers of the plan need, alone or fused with each other. Returns
 * the number added. */
int session_measure_layers(struct session *s, const bool *marked);

/* ---- executions of the model in the database (analyze/real/reality.h) ---- */

/* Loads the successful executions of the model's file, newest first; of each setup (execution_setup) only the
 * newest; without trials (execution_move). In the arena. Reads the file once for its hash, unless the
 * database has no executions. A
 * model from standard input has no executions. Returns -1 with an error if the file or the database cannot be
 * read. */
int session_executions(
	struct session *s, struct arena *a, struct execution **list, int *count, struct error *err);

/* What limits a layer with cost `c` that runs `problem` (analyze/bound/limit.h). Needs an analysis
 * (session_refresh). */
struct limit session_limit(const struct session *s, const struct layer_cost *c, const char *problem);

#endif
