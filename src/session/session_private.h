/* Internal interfaces: plans and analysis (session.c), measuring (session_measure.c), the device
 * (session_device.c), change of device (session_choose.c). */
#ifndef SESSION_PRIVATE_H
#define SESSION_PRIVATE_H

#include "session/recorded.h"
#include "session/session.h"

void session_analysis_drop(struct session *s);
/* session_measure.c: notes the data types of a plan's problems (peaks_note_type). */
void session_types_note(bool *types, const struct plan *p);
void session_sweep_drop(struct session *s);
/* Queues the problems side by side of all points of the sweep. Returns the number added. */
int session_sweep_besides(struct session *s);
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
int session_assume_plan(struct session *s, struct session_plan *made, struct error *err);
void session_assume_drop(struct session *s); /* those of the explorer */
/* session_dims.c: plan_build; an error that names dimensions says which of them --dim did not give. */
struct plan *session_plan_build(const struct session *s, const struct plan_options *o, struct error *err);
/* session_dims.c: -1 if --dim gives a dimension another value than --input or -b. p: the first plan. */
int session_check_options(const struct session *s, const struct plan *p, struct error *err);

#endif
