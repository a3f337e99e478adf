/* One model on one device under one scenario: what both the commands and the explorer work on. It owns the model, the
 * plans made from it (one per batch and data type, kept), the store, the queue and the current analysis. */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "analyze/analyze.h"
#include "config/config.h"
#include "drive/queue.h"

struct session_plan {
	int64_t batch;
	enum dtype dtype;
	struct plan *plan;
	struct fusion *fusion;
};

struct session {
	struct config *config;        /* borrowed */
	struct model *model;
	struct store *store;          /* NULL: nothing is kept (said once) */
	struct results *results;
	struct queue *queue;          /* NULL: no runner for the device (recorded device or --frame without one) */
	struct device device;         /* strings live in device_arena; name NULL until known */
	struct arena device_arena;
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

/* Opens the model, the sidecar and (open_db) the database. Does not start a runner. */
struct session *session_open(struct config *config, const char *model_path, bool open_db, struct error *err);
void session_close(struct session *s);

/* Finds the runner of config->device and says hello to it (timeout_ms), loads its results; where no runner answers but
 * the database knows the device, analysis works from the records. -1: neither. */
int session_connect(struct session *s, int timeout_ms, struct error *err);
/* Selects (and makes, once) the plan of a batch and data type. batch 0 = the model's own. On error the present one stays. */
int session_select(struct session *s, int64_t batch, enum dtype dtype, struct error *err);
/* Recomputes the analysis when scenario, plan or results changed. Returns whether it did. */
bool session_refresh(struct session *s);
/* Queues what the scenario and its what-ifs lack: all fused problems too. Returns how many were added. */
int session_measure_missing(struct session *s);
/* Queues one layer's problem (and its groups') again. */
int session_measure_layer(struct session *s, int layer);

#endif
