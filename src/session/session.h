/* One model on one device under one scenario: what both the commands and the explorer work on. It owns the model, the
 * plans made from it (one per batch and data type, kept), the store, the queue and the current analysis. */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "analyze/analyze.h"
#include "config/config.h"
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
	int dim_count, shape_count;
	const struct dim_binding *dims;         /* --dim: stronger than remembered, configured and sidecar values */
	const struct plan_input_shape *shapes;  /* --input */
};

struct session_plan {
	int64_t batch;
	enum dtype dtype;
	struct plan *plan;
	struct fusion *fusion;
};

struct session {
	struct config *config;        /* borrowed */
	struct session_options options; /* as given; dims and shapes borrowed */
	struct arena dim_arena;
	int dim_count;
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
	uint64_t seen_planner;        /* its version when the analysis was made */
	char trouble[ERROR_TEXT_SIZE]; /* why no runner answers where one was wanted, so that only records are shown; else "" */
	int plan_count, plan_capacity;
	struct session_plan **plans;
	struct session_plan *current;
	struct scenario scenario;
	/* made by session_refresh */
	struct arena analysis_arena;
	struct analysis *analysis;
	struct what_if_effect *effects;
	int effect_count;
	uint64_t seen_version;        /* of results when the analysis was made */
	bool stale;                   /* scenario or plan changed since */
};


/* Opens the model, its sidecar and the database. Does not start a runner, makes no plan yet. Dimensions remembered for
 * the model's file apply where none is given; what is given is remembered where the database is for writing. A model
 * from standard input has no memory. */
struct session *session_open(struct config *config, const struct session_options *o, struct error *err);
void session_close(struct session *s);

/* Finds the runner of config->device and says hello to it (timeout_ms as in queue_connect), loads its results; where no
 * runner answers but the database knows the device, analysis works from the records (`trouble` says why), else from those
 * of the data folder (session/recorded.h). A recorded device is chosen by its name, model or number, or else by a part of
 * its stack; config->threads narrows it. What is none of these may be a device that is only described ("h100"):
 * s->described is then set, and session_plan_step asks what could run.
 * -1: none of these; SESSION_UNREADABLE: the runner answers, but what the database has of it cannot be read. */
#define SESSION_UNREADABLE (-2)
int session_connect(struct session *s, int timeout_ms, struct error *err);
/* After session_connect with timeout 0, when the runner turned out not to answer: gives its queue up and works from the
 * records, as session_connect would have done. */
int session_give_up_runner(struct session *s, struct error *err);
/* Where there is no result of the device, but some of other stacks or thread counts of the same model: a line that says
 * which and how to choose them, in the arena; else NULL. */
const char *session_other_records(struct session *s, struct arena *a);
/* Selects (and makes, once) the plan of a batch and data type. batch 0 = the model's own. On error the present one stays. */
int session_select(struct session *s, int64_t batch, enum dtype dtype, struct error *err);
/* Gives a symbolic dimension a value (remembered) and plans anew. -1: the model refuses it, and everything stays. */
int session_bind(struct session *s, struct text name, int64_t value, struct error *err);
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
/* Queues what the scenario and its what-ifs lack: all fused problems too. Returns how many were added. */
int session_measure_missing(struct session *s);
/* Queues one layer's problem (and its groups') again. */
int session_measure_layer(struct session *s, int layer);

#endif
