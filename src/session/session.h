/* One model on one device under one scenario: what both the commands and the explorer work on. It owns the model, the
 * plans made from it (one per batch and data type, kept), the store, the queue and the current analysis. */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "analyze/analyze.h"
#include "analyze/limit.h"
#include "config/config.h"
#include "doctor/doctor.h"
#include "drive/planner.h"
#include "drive/queue.h"
#include "session/described.h"

enum session_db {
	SESSION_DB_READ,  /* nothing is written; a file that is not there is one that holds nothing, and is not made */
	SESSION_DB_WRITE  /* results and dimensions are kept in it */
};

struct session_options {
	const char *model_path;                 /* "-" = standard input */
	enum session_db db;
	const volatile sig_atomic_t *stop;      /* session_connect gives up once it is not 0; may be NULL */
	void (*say)(const char *line);          /* what session_connect waits for; may be NULL */
	int dim_count, shape_count, value_count;
	const struct dim_binding *dims;         /* --dim: stronger than remembered, configured and sidecar values */
	bool batch_option;                      /* the batches are of the command line, not of the configuration's file */
	const struct plan_input_shape *shapes;  /* --input */
	const struct plan_input_value *values;  /* --value */
};

struct session_plan {
	int64_t batch;
	enum dtype dtype;
	struct plan *plan;
	struct fusion *fusion;        /* NULL until session_fusion makes it */
};

/* One batch and data type of a sweep. */
struct session_sweep_point {
	int64_t batch;                /* 0: the model's own */
	enum dtype dtype;
	int problem_count;
	const char **problems;        /* distinct problems that it needs, fused ones too */
};

/* The sweep that was measured last; count 0: none. */
struct session_sweep {
	struct arena arena;
	int count;
	struct session_sweep_point *points;
};

struct session_seat; /* a device that is awaited, or on its way out */

struct session {
	const struct config *given;   /* borrowed: what the session was opened with */
	const struct config *config;  /* the same, or with the device that was chosen since */
	struct session_options options; /* as given; dims, shapes and values borrowed */
	struct arena dim_arena;
	int dim_count;
	const char **dim_sources;     /* of each in dims, see session_dim_source */
	struct dim_binding *dims;     /* in force: --dim > remembered > configuration > sidecar */
	struct model *model;
	struct store *store;          /* NULL: there is no database, and none is made */
	struct results *results;
	struct recorded_file *recorded; /* of the data folder: read on as plans need it; NULL: the device is none of it */
	struct queue *queue;          /* NULL: no runner for the device (recorded device or --frame without one) */
	struct device device;         /* strings live in device_arena; name NULL until known */
	struct arena device_arena;
	const struct described *described; /* the device is only described: costs are estimates, nothing is measured; else NULL */
	struct planner *planner;      /* of a described device; NULL else */
	const struct session_plan *asked; /* whose problems the planner was asked for, in this layout; NULL none yet */
	bool asked_nxc;
	uint64_t seen_planner;        /* its version when the analysis was made */
	uint64_t device_changes;      /* counts how often another device, or the same anew, came into force */
	struct session_seat *awaited; /* chosen, its runner has not said hello yet; NULL: none */
	struct session_seat *leaving; /* were in force, their runners are still ending what they were at */
	char trouble[ERROR_TEXT_SIZE]; /* why no runner answers where one was wanted, so that only records are shown; else "" */
	int plan_count, plan_capacity;
	struct session_plan **plans;
	struct session_plan *current;
	struct scenario scenario;
	/* made by session_refresh */
	struct arena analysis_arena;
	struct analysis *analysis;
	struct peaks peaks;           /* the device's; they may have gaps (peaks_known) */
	struct what_if_effect *effects;
	int effect_count;
	uint64_t seen_version;        /* of results when the analysis was made */
	bool stale;                   /* scenario or plan changed since */
	struct session_sweep sweep;   /* made by session_measure_sweep */
};

/* Opens the model, its sidecar and the database. Does not start a runner, makes no plan yet. Dimensions remembered for
 * the model's file apply where none is given; what is given is remembered where the database is for writing. A model
 * from standard input has no memory. */
struct session *session_open(struct config *config, const struct session_options *o, struct error *err);
/* Another model on the same device: database, results, runners and scenario stay, dimensions are the model's own, and no plan
 * is made yet. -1: it cannot be opened, and the model before stays. */
int session_turn_to(struct session *s, const char *model_path, struct error *err);
void session_close(struct session *s);

/* Finds the runner of config->device and says hello to it (timeout_ms as in queue_connect), loads its results; where no
 * runner answers but the database knows the device, analysis works from the records (`trouble` says why), else from those
 * of the data folder (session/recorded.h). A recorded device is chosen by its name, model or number, or else by a part of
 * its stack; config->threads narrows it. What is none of these may be a device that is only described ("h100"):
 * s->described is then set, and session_plan_step asks what could run.
 * -1: none of these; SESSION_UNREADABLE: it is there, but what the database, or its description, says of it cannot be read. */
#define SESSION_UNREADABLE (-2)
int session_connect(struct session *s, int timeout_ms, struct error *err);
/* After session_connect with timeout 0, when the runner turned out not to answer: gives its queue up and works from the
 * records, as session_connect would have done. */
int session_give_up_runner(struct session *s, struct error *err);

/* ---- another device instead ---- */

enum session_device_kind {
	SESSION_RUNNER,    /* one of the configuration */
	SESSION_RECORDED,  /* results in the database, or in a file of the data folder */
	SESSION_DESCRIBED
};

struct session_device {
	enum session_device_kind kind;
	const char *key;      /* short, mostly what -d takes: "cpu", "3", "h100"; a file's is its model */
	const char *model;    /* "" not known: a runner that was not started */
	const char *stack;    /* "" not known */
	const char *command;  /* of a runner: its words; else "" */
	const char *path;     /* of a file; else "" */
	int64_t id;           /* in the database; 0 it is not there */
	struct described described; /* of a described device */
	bool in_use;
};

/* All that can be chosen, runners first (none is started for it), then recorded devices, then described ones. Strings live
 * in the arena; they are text from outside, not cleaned. Returns the count. What cannot be read is left out: err then says why, else
 * it is empty. */
int session_devices(const struct session *s, struct arena *a, struct session_device **list, struct error *err);
/* Puts another device in force: 0. Scenario, plans and dimensions stay; results, analysis, queue and planner are the new
 * one's. A runner is only started: SESSION_AWAITED, and the old device stays in force until session_choose_step finds that it
 * has answered. One that was awaited before is no longer. What the old device's runner is measuring is cancelled; what
 * was measured is kept. -1: it cannot be opened, and the old one stays in force. Results and planned answers of the old
 * device are gone afterwards: nobody may hold on to them. */
#define SESSION_AWAITED 1
int session_choose(struct session *s, const struct session_device *d, struct error *err);
/* To be called as often as queue_step, waits up to timeout_ms for what is awaited. 1: it came into force; -1: its runner does not
 * answer (err), and the old device stays; 0: neither. */
int session_choose_step(struct session *s, int timeout_ms, struct error *err);
/* The key of the device that is awaited, or NULL; and a descriptor that tells of its answer, or -1. */
const char *session_awaited(const struct session *s);
int session_awaited_fd(const struct session *s);
const char *session_awaited_waits(const struct session *s); /* what its runner says that waits in a cluster's queue, or "" */
/* It is no longer awaited. */
void session_choose_leave(struct session *s);

/* Where there is no result of the device, but some of other stacks or thread counts of the same model: a line that says
 * which and how to choose them, in the arena; else NULL. */
const char *session_other_records(struct session *s, struct arena *a);
/* Selects (and makes, once) the plan of a batch and data type. batch 0 = the model's own. On error the present one stays. */
int session_select(struct session *s, int64_t batch, enum dtype dtype, struct error *err);
/* The plan's fused groups, found when they are first asked for: a list of layers needs none. */
const struct fusion *session_fusion(struct session_plan *sp);
/* Binds symbolic dimensions together (remembered) and plans again, once. -1: the model refuses them, and everything stays. */
int session_bind(struct session *s, const struct dim_binding *dims, int count, struct error *err);
/* Source of a dimension's value, one word: "--dim", "remembered", "config", "sidecar", "entered"; "" for one that the plan has
 * by itself (-b, --input). */
const char *session_dim_source(const struct session *s, struct text name);
const char *session_model_name(const struct session *s); /* as errors name it */
/* Where the value of a dimension in the current plan's bindings comes from, as reports write it: "option", "entered", "remembered",
 * "configuration", "sidecar", "default". */
const char *session_dim_origin(const struct session *s, struct text name);
/* "batch 1 (default), sequence 64 (remembered)": the bindings of the current plan; "" without any. */
void session_dims_describe(const struct session *s, struct str *out);
/* True for a layer that only makes constants (weights, shapes): it does not run, and lists fold it. */
bool session_is_folded(const struct plan *p, const struct plan_layer *l);
/* The number of each layer as lists show it, from 1, folded layers not counted; 0: folded. total: the highest. In the arena. */
int *session_numbers(const struct plan *p, struct arena *a, int *total);
/* 0 when every symbol of the current plan is bound; -1 with a line that names the first free one and the option. */
int session_check_bound(const struct session *s, struct error *err);
/* Takes over the runner's device once its hello has come; recomputes the analysis when scenario, plan or results
 * changed. Returns whether it did. */
bool session_refresh(struct session *s);
/* For a described device: asks the planner for all problems of the current plan, and takes answers, waiting up to
 * timeout_ms for one. Returns whether anything is still open. false for other devices. */
bool session_plan_step(struct session *s, int timeout_ms);
/* What a described device could run for a problem; NULL where the device is not described, or problem is NULL. */
const struct planned *session_planned(const struct session *s, const char *problem);
/* What distorts measurements here, after the doctor's first reading. The caller closes it. */
struct doctor *session_doctor(const struct session *s);
/* Queues what the scenario and its what-ifs lack: all fused problems too, and then the device's peaks. Returns how many were added. */
int session_measure_missing(struct session *s);
/* The same for every batch and data type of the configuration (-b, -t), the present scenario first; the present plan stays
 * selected. Returns how many problems were added; -1: one of the plans cannot be made (err), what was queued before stays. */
int session_measure_sweep(struct session *s, struct error *err);
struct session_sweep_progress {
	int problems, open, failed, missing; /* open: queued or running; missing: neither queued nor measured (cancelled) */
	bool running;
};
/* Of point i of s->sweep: two hash look-ups a problem. */
struct session_sweep_progress session_sweep_progress(const struct session *s, int i);
/* The first point that needs the problem being measured, or -1. */
int session_sweep_running(const struct session *s);
/* "batch 4 bf16", or "bf16" for batch 0. Returns buf. */
char *session_sweep_text(char *buf, size_t size, int64_t batch, enum dtype dtype);
/* The problems whose results are the device's peaks (analyze/peaks.h), in the types that the plans made so far compute in:
 * about ten. Texts live in the arena. */
const char **session_peak_problems(struct session *s, struct arena *a, int *count);
/* Queues a problem again, at once. */
int session_measure_problem(struct session *s, const char *problem);
/* Queues one layer's problem (and its groups') again. */
int session_measure_layer(struct session *s, int layer);

/* What limits a layer with cost `c` that runs `problem` (analyze/limit.h), once session_refresh has made an analysis. */
static inline struct limit session_limit(const struct session *s, const struct layer_cost *c, const char *problem)
{
	return limit_of(c, problem, &s->peaks, &s->scenario, s->analysis->cache);
}

#endif
