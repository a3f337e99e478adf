/* The session's members, for src/session and tests that arrange a session by hand, and what its files do for
 * each other. */
#ifndef SESSION_PRIVATE_H
#define SESSION_PRIVATE_H

#include "session/seat.h"
#include "session/variant.h"

/* Values of dimensions, and the source of each (session_dim_source). */
struct sizes {
	struct arena arena;
	int count;
	struct dim_binding *dims;
	const char **sources;
};

struct session_plan {
	int64_t batch;
	enum dtype dtype;
	struct sizes *sizes;          /* of a variant with other dimensions than the session's; else NULL */
	struct plan *plan;
	struct fusion *fusion;        /* NULL until plan_fusion finds it */
	struct arena real_arena;
	struct session_real *real;    /* of session_reality.c; NULL until it looks an execution up */
	int assumed_count;            /* layers with an assumed cost */
	struct assumption *assumed;   /* per layer; NULL: none was given */
	struct batches_tried tried;
	uint64_t used;                /* when it was last asked for, counted */
	int held;                     /* number of grounds that use it: session_plans_trim leaves it */
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

/* A model, and all that depends on its file. */
struct session_subject {
	struct session_options given; /* for this model; the path is in the arena, the rest borrowed */
	struct arena arena;
	struct sizes *sizes;          /* in use: --dim > remembered > configuration > sidecar */
	struct op_own_table operators; /* beside the model, then those of the configuration */
	struct model *model;
	int64_t model_bytes, model_date_ns; /* of its file when it was loaded; date 0: unknown */
	int plan_count, plan_capacity;
	struct session_plan **plans;
	bool trimmed_types[DTYPE_COUNT]; /* of the problems of plans that session_plans_trim freed */
	int assumed_count, assumed_capacity;
	struct session_assumed {      /* costs that session_assume set */
		int layer;
		struct assumption cost;
	} *assumed;
	struct session_hash hash;
	struct arena taken_arena;
	struct execution *taken;      /* session_reality_take; NULL: none */
};

struct session {
	const struct session_export *exports; /* NULL: none; set by the explorer's command */
	struct config *given;         /* borrowed: the configuration at session_open */
	struct session_options options; /* as given; those for a model are of its subject */
	struct arena arena;           /* of paths */
	struct store *store;          /* NULL: no database, and none is created */
	char unkept[ERROR_TEXT_SIZE]; /* why nothing is stored (SESSION_DB_TRY), or "" */
	struct session_subject *subject;      /* the model */
	struct seat *seat;            /* the device; it has no name until it is known */
	struct seat *awaited;         /* chosen device whose runner has not sent its hello yet; or NULL */
	struct seat *compared;        /* devices that variants are on, which stay open */
	struct seat *leaving;         /* previous devices whose runners have not ended yet */
	uint64_t device_changes;      /* number of device changes, reconnections included */
	uint64_t seen_planner;        /* the planner's version at the last analysis */
	struct session_plan *current;
	uint64_t plan_uses;           /* counts askings for a plan */
	struct scenario scenario;
	bool gpu_asked;               /* -d names a described device */
	bool matrix_given;            /* someone has chosen the what-if matrix; else session_matrix_meant */
	/* made by session_refresh */
	struct arena analysis_arena;
	struct analysis *analysis;
	struct adviser *advice;       /* session_advice_begin; NULL: no search */
	struct variant_ground advice_types[2]; /* in other types, open until it ends */
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
	uint64_t execution_changes;   /* number of session_reality_renew */
	struct session_besides_bound *besides_bound; /* the executions beside that analysis, as far as they
							are known; NULL: none was asked for */
	struct session_sweep sweep;   /* made by session_measure_sweep */
	struct arena digest_arena;    /* of paths */
	int digest_count, digest_capacity;
	struct session_digest *digests; /* of files that session_digest read */
	struct digest *digest_reading; /* the file that session_digest_step reads; or NULL */
};

/* ---- from low to high: no file calls one below it ---- */

/* session_parts.c */
const struct fusion *plan_fusion(struct session_plan *sp); /* found at the first call */
/* True if the device is a GPU; before it is connected: if -d names a described one. */
bool seat_on_gpu(const struct session *s, const struct seat *seat);

/* seat.c */
/* As seat_adopt, into the present seat; then call session_follow_device. */
void session_device_adopt(struct session *s, const struct device *d);
void session_device_renewed(struct session *s); /* the present seat has another device */

/* session_digest.c */
void session_digests_free(struct session *s);
/* Notes size and date of a model's file that is loaded next: session_digest then refuses a changed file. */
void session_file_note(struct session_subject *u, const char *path);

/* sizes.c */
void sizes_put(struct sizes *z, struct text name, int64_t value, const char *source);
/* A copy with other values of some dimensions, which are "entered". The caller frees it. */
struct sizes *sizes_with(const struct sizes *z, const struct dim_binding *dims, int count);
bool sizes_equal(const struct sizes *x, const struct sizes *y);
void sizes_free(struct sizes *z); /* may be NULL */

/* session_operators.c: true if layers have a cost that --assume or an operator's description gives */
bool subject_assumes(const struct session_subject *u);
/* session_assume.c: fills a plan's assumed costs. -1: an option names no layer of it (err). */
int session_assume_plan(struct session_subject *u, struct session_plan *made, struct error *err);

/* plans.c */
/* The plan of a variant on the device of a seat, made if needed. NULL with err. */
struct session_plan *plan_get(struct session *s, struct session_subject *u, const struct seat *seat,
	const struct variant *v, struct error *err);
/* True if a plan of few bits has the right other types for the device (plan.rest). */
bool plan_fits(const struct session *s, const struct seat *seat, const struct plan *p);
/* As session_check_bound, of any plan. */
int plan_check_bound(const struct session *s, const struct plan *p, struct error *err);
/* As session_set_distance, for another plan: set it back after adding its problems. */
void session_plan_distance(struct session *s, const struct session_plan *sp);
/* Frees all plans but one (NULL: all). */
void plans_keep(struct session_subject *u, struct session_plan *one);
/* Notes the data types of a plan's problems (peaks_note_type). */
void session_types_note(bool *types, struct session_plan *sp);
/* -1 if --dim gives a dimension another value than --input or -b. p: the first plan. */
int session_check_options(const struct session *s, const struct plan *p, struct error *err);

/* subject.c */
/* Opens the model's file and the operators beside it; subject_gather reads the values of its dimensions. NULL
 * or -1 with err. */
struct session_subject *subject_load(
	const struct session *s, const struct session_options *o, struct error *err);
int subject_gather(const struct session *s, struct session_subject *u, struct error *err);
struct session_subject *subject_open(
	const struct session *s, const struct session_options *o, struct error *err);
void subject_free(struct session_subject *u); /* may be NULL */
/* Stores values of dimensions for the model's file. Names that are not valid UTF-8 cannot be JSON keys and
 * are not remembered. */
void session_dims_remember(struct session *s, const struct dim_binding *dims, int count);

/* variant.c */
/* True if the what-if matrix is on for the present plan unless someone chose it. */
bool session_matrix_meant(const struct session *s);
/* The ground of what is shown; it holds nothing. */
struct variant_ground session_shown(struct session *s);
/* session_ground with the analyzer, whose prices are shared if the analysis is up to date. */
struct ground session_ground_shared(struct session *s);
/* Loads the results that a file of the data directory has for a plan, all what-ifs included, and for the
 * device's peaks. sp: NULL: no plan. */
int session_recorded_more(struct seat *seat, struct session_plan *sp, const struct scenario *with,
	struct error *err);

/* session_executions.c: loads the successful executions of the model with this hash, newest first; of each
 * setup (execution_setup) only the newest. comparable: only those that may stand beside the current bound
 * (session_is_comparable). In the arena. Returns -1 if the database cannot be read. */
int session_pick(struct session *s, struct arena *a, const char *hash, bool comparable,
	struct execution **list, int *count, struct error *err);
/* session_reality.c */
void session_reality_drop(struct session *s); /* what the analysis arena holds */
void session_hash_drop(struct session *s);

/* session_drop.c */
/* Frees the analysis, and with session_analysis_drop what it was made with and the search for advice. */
void session_analysis_clear(struct session *s);
void session_analysis_drop(struct session *s);
void session_advice_release(struct session *s); /* a search that has ended */
void session_sweep_drop(struct session *s);

/* session.c: call it when the device has changed, because plans of few bits depend on its kind. */
void session_follow_device(struct session *s);
/* session_analysis.c: as session_refresh, but queues nothing */
bool session_analyze(struct session *s);

/* session_besides.c */
struct variant session_sweep_variant(const struct session *s, int point);
/* session_measure.c */
int session_queue_missing(struct session *s); /* queues session_missing */
int session_quick_of(struct session *s, const struct variant_ground *g); /* session_measure_quick of it */
/* Makes the rounds of repeated measurements of the current plan due. */
void session_repeats_begin(struct session *s);
/* Queues such a round if one is due and the queue is empty, of that plan. */
void session_repeat_when_idle(struct session *s);

#endif
