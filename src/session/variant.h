/* Variants of a session: its model with another batch, type or dimensions, on another device, in another
 * scenario. The session stays as it is, but for the plans (until session_plans_trim) and devices that it
 * keeps for them. */
#ifndef SESSION_VARIANT_H
#define SESSION_VARIANT_H

#include "session/session.h"

struct variant {
	const struct session_device *device; /* recorded or described; NULL: the session's */
	int64_t batch;                /* batch and type as of session_select */
	enum dtype dtype;
	int dim_count;                /* dimensions with other values than the session's */
	const struct dim_binding *dims;
	struct scenario scenario;
	bool matrix_given;            /* the scenario's what-if matrix counts; else it is on where products of
					 fewer bits than f32 run on a GPU */
};

/* What the session shows. */
struct variant session_variant(const struct session *s);

/* The inputs of an analysis of a variant. They hold its plan until variant_close. */
struct variant_ground {
	struct ground on;
	struct scenario scenario;     /* with the matrix that counts */
	enum dtype dtype;             /* of the variant */
	struct session *session;
	struct session_plan *plan;
	struct seat *seat;
};
/* Reads the recorded results of its problems. -1 with err: the device cannot be opened, or the model rejects
 * batch, type or dimensions; VARIANT_UNBOUND: dimensions have no value (as session_check_bound). */
#define VARIANT_UNBOUND (-2)
int variant_open(struct session *s, const struct variant *v, struct variant_ground *g, struct error *err);
/* Of a variant that was not opened: nothing. */
void variant_close(struct variant_ground *g);
/* Its analysis: the session's own if that is of this variant, else made in the arena. Valid until the next
 * result. */
const struct analysis *variant_analysis(const struct variant_ground *g, struct arena *a);

#endif
