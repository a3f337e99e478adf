/* The session's members, for src/session and tests that arrange a session by hand. Internal interfaces: plans
 * and analysis (session.c), measuring (session_measure.c), the device (session_device.c), change of device
 * (session_choose.c). */
#ifndef SESSION_PRIVATE_H
#define SESSION_PRIVATE_H

#include "session/recorded.h"
#include "session/session.h"

struct session_plan {
	int64_t batch;
	enum dtype dtype;
	struct plan *plan;
	struct fusion *fusion;        /* NULL until session_fusion creates it */
	struct session_real *real;    /* of session_reality.c; NULL until it looks an execution up */
	int assumed_count;            /* layers with an assumed cost */
	struct assumption *assumed;   /* per layer; NULL: none was given */
	struct batches_tried tried;
	uint64_t used;                /* when it was last asked for, counted */
	bool held;                    /* session_plans_trim leaves it */
	bool typed, types[DTYPE_COUNT]; /* of its problems (peaks_note_type), once they are asked for */
};

/* SHA-256 of the model's file (session/session_reality.h). */
struct session_hash {
	enum { SESSION_HASH_UNREAD, SESSION_HASH_KNOWN, SESSION_HASH_NONE } state;
	char text[DIGEST_SIZE];
};

/* One batch and data type of a sweep. */
struct session_sweep_point {
	int64_t batch;                /* 0: the model's own */
	enum dtype dtype;
	int problem_count;
	const char **problems;        /* distinct problems that it needs, fused ones included */
};

/* The last sweep that was started; count 0: none. */
struct session_sweep {
	struct arena arena;
	unsigned variants; /* of the problems that it has */
	int count;
	struct session_sweep_point *points;
};

struct session_digest; /* session_agent.c */
struct session_beside; /* session_choose.c */
struct session_seat; /* a device that is being connected or closed */

struct session {
	const struct session_export *exports; /* NULL: none; set by the explorer's command */
	struct config *given;         /* borrowed: the configuration at session_open */
	const struct config *config;  /* the same, or with the device that was chosen since */
	struct session_options options; /* as given; dims, shapes and values borrowed */
	struct arena dim_arena;
	int dim_count;
	const char **dim_sources;     /* of each in dims, see session_dim_source */
	struct dim_binding *dims;     /* in use: --dim > remembered > configuration > sidecar */
	struct arena operators_arena;
	struct op_own_table operators; /* beside the model, then those of the configuration */
	struct model *model;
	struct store *store;          /* NULL: no database, and none is created */
	struct results *results;
	struct recorded_file *recorded; /* file of the data directory, read as plans need it; NULL: not such a
					   device */
	struct queue *queue;          /* NULL: no runner for the device (recorded device or --frame without
					 one) */
	struct device device;         /* strings live in device_arena; name NULL until known */
	struct arena device_arena;
	const struct described *described; /* described device: costs are estimates, nothing is measured; else
					      NULL */
	struct planner *planner;      /* of a described device; else NULL */
	const struct session_plan *asked; /* the plan whose problems were sent to the planner, in layout
					     asked_variants; or NULL */
	unsigned asked_variants;
	uint64_t seen_planner;        /* the planner's version at the last analysis */
	uint64_t device_changes;      /* number of device changes, reconnections included */
	struct session_seat *awaited; /* chosen device whose runner has not sent its hello yet; or NULL */
	struct session_beside *beside; /* devices that were opened to be compared; or NULL */
	struct session_seat *leaving; /* previous devices whose runners have not ended yet */
	char unkept[ERROR_TEXT_SIZE]; /* why nothing is stored (SESSION_DB_TRY), or "" */
	char trouble[ERROR_TEXT_SIZE]; /* why the requested runner does not answer, so that records are shown;
					  else "" */
	int plan_count, plan_capacity;
	struct session_plan **plans;
	struct session_plan *current;
	uint64_t plan_uses;           /* counts askings for a plan */
	bool trimmed_types[DTYPE_COUNT]; /* of the problems of plans that session_plans_trim freed */
	struct scenario scenario;
	bool gpu_asked;               /* -d names a described device */
	bool matrix_given;            /* someone has chosen the what-if matrix; else session_matrix_meant */
	int assumed_count, assumed_capacity;
	struct session_assumed {      /* costs that session_assume set */
		int layer;
		struct assumption cost;
	} *assumed;
	/* made by session_refresh */
	struct arena analysis_arena;
	struct analysis *analysis;
	struct peaks peaks;           /* the device's; they may have gaps (peaks_known) */
	struct adviser *advice;       /* session_advice_begin; NULL: no search */
	struct session_plan *advice_types[2]; /* its plans in other types, held until it ends */
	int advice_type_count;
	bool advice_done;             /* it has found all */
	struct scenario advice_from;  /* its scenario */
	enum besides_due {            /* problems side by side to queue when the queue is empty */
		BESIDES_NONE,
		BESIDES_CURRENT,      /* those of the current plan */
		BESIDES_SWEEP         /* those of all points of the sweep */
	} besides_due;
	int repeats_due;              /* rounds of session_queue_repeats to queue when the queue is empty, */
	int64_t repeats_batch;        /* of this plan */
	enum dtype repeats_dtype;
	struct analyzer *analyzer;    /* what the analyses of the current plan share; NULL until the first */
	int effects_ms;               /* time that session_refresh takes for effects, about: the others
					 stay pending until session_effects_step; 0: takes all */
	struct what_if_effect *effects;
	int effect_count;
	uint64_t seen_version;        /* version of the results at the last analysis */
	bool stale;                   /* scenario or plan changed since then */
	struct contradicted contradicted; /* of that analysis, set by session_contradicted; else zeros */
	const struct reality **contradicting; /* set with it: of each layer the newest one, or NULL */
	bool trust_known;
	struct trust trust;           /* of that analysis, set by session_trust */
	struct session_hash hash;
	struct arena taken_arena;
	struct execution *taken;      /* session_reality_take; NULL: none */
	uint64_t execution_changes;   /* number of session_reality_renew */
	struct session_besides_bound *besides_bound; /* the executions beside that analysis, as far as they
							are known; NULL: none was asked for */
	struct session_sweep sweep;   /* made by session_measure_sweep */
	struct arena digest_arena;    /* of paths */
	int digest_count, digest_capacity;
	struct session_digest *digests; /* of files that session_digest read */
	int64_t model_bytes, model_date_ns; /* of the model's file when it was loaded; date 0: unknown */
	struct digest *digest_reading; /* the file that session_digest_step reads; or NULL */
};

/* Frees the analysis and what it was made with, and cancels the search for advice. */
void session_analysis_drop(struct session *s);
/* session_measure.c: notes the data types of a plan's problems (peaks_note_type). */
void session_types_note(bool *types, struct session_plan *sp);
void session_sweep_drop(struct session *s);
int session_queue_missing(struct session *s); /* session_measure.c: queues session_missing */
/* Queues the problems side by side of all points of the sweep. Returns the number added. */
int session_sweep_besides(struct session *s);
/* Makes the rounds of repeated measurements of the current plan due. */
void session_repeats_begin(struct session *s);
/* Queues such a round if one is due and the queue is empty, of that plan; the current one stays selected. */
void session_repeat_when_idle(struct session *s);
/* The plan of a batch and data type, made if needed; the current one stays selected. NULL with err. */
struct session_plan *session_plan_of(struct session *s, int64_t batch, enum dtype dtype, struct error *err);
/* session_reality.c */
struct session_real;
void session_real_free(struct session_real *r); /* may be NULL */
void session_reality_drop(struct session *s); /* what the analysis arena holds */
/* session_executions.c: loads the successful executions of the model with this hash, newest first; of each
 * setup (execution_setup) only the newest. comparable: only those that may stand beside the current bound
 * (session_is_comparable). In the arena. Returns -1 if the database cannot be read. */
int session_pick(struct session *s, struct arena *a, const char *hash, bool comparable,
	struct execution **list, int *count, struct error *err);
void session_hash_drop(struct session *s);
void session_digests_free(struct session *s); /* session_digest.c */
/* Notes size and date of a model's file that is loaded next: session_digest then refuses a changed file. */
void session_file_note(struct session *s, const char *path);
/* Copies the device of a hello or record into the session. */
void session_device_adopt(struct session *s, const struct device *d);
/* Loads the results that a file of the data directory has for the current plan, all what-ifs included, and
 * for the device's peaks. */
int session_recorded_more(struct session *s, struct error *err);

/* Switches to a device of the data directory; `one` must live as long as the device. SESSION_UNREADABLE:
 * cannot be read. */
int session_use_file(struct session *s, const struct recorded *one, struct error *err);
/* Switches to a described device, with a planner; `d` must live as long as the device. */
void session_use_described(struct session *s, const struct described *d);
/* Frees the current device, the awaited one and those that are being closed. */
void session_device_free(struct session *s);

/* session_assume.c: fills a plan's assumed costs. -1: an option names no layer of it (err). */
/* Reads the operators beside the model into an arena of their own; -1: the file is not valid. */
int session_operators_gather(struct session *s, struct error *err);
/* True if layers have a cost that --assume or an operator's description gives. */
bool session_assumes(const struct session *s);
int session_assume_plan(struct session *s, struct session_plan *made, struct error *err);
void session_assume_drop(struct session *s); /* those of the explorer */
/* session_dims.c: plan_build; an error that names dimensions says which of them --dim did not give. */
struct plan *session_plan_build(const struct session *s, struct plan_options *o, struct error *err);
/* session_dims.c: -1 if --dim gives a dimension another value than --input or -b. p: the first plan. */
int session_check_options(const struct session *s, const struct plan *p, struct error *err);

/* True if the what-if matrix is on unless someone chose it: the present plan runs on a GPU in fewer bits than
 * f32. */
bool session_matrix_meant(const struct session *s);
/* True if the device is a GPU; before it is connected: if -d names a described one. */
bool session_on_gpu(const struct session *s);
/* Call it when the device has changed: plans of few bits depend on its kind. */
void session_follow_device(struct session *s);
/* session_ground with the analyzer, whose prices are shared if the analysis is up to date. */
struct ground session_ground_shared(struct session *s);

#endif
