/* What the bound predicts for a change that is tried for real (compare --try). */
#ifndef SESSION_SESSION_TRY_H
#define SESSION_SESSION_TRY_H

#include "session/variant.h"

/* A bound of the session's scenario. */
struct session_bound {
	double ns;      /* NaN: unknown, or a layer has no cost */
	bool estimated; /* it contains rooflines */
};

/* Returns the bound of a variant; of another batch and data type. */
struct session_bound session_bound_of(struct session *s, const struct variant *v);
struct session_bound session_bound_at(struct session *s, int64_t batch, enum dtype dtype);
/* Returns the bound of the current plan with another number of threads, from the records in the database of
 * the same device, whose stack differs in that number only. */
struct session_bound session_bound_threads(struct session *s, int threads);
/* Returns true if two stacks are equal except for their numbers of threads ("2 threads", "1 thread"). */
bool session_stack_is_like(const char *a, const char *b);

/* Returns true if the current plan has a convolution, in subgraphs too. */
bool session_convolves(const struct session *s);

/* Returns the time that the fusions of an execution save, from the costs of its fused layers and of the same
 * layers one by one: the gap `fusion` of a bound without fusion, negated. NaN: unknown. y: the execution
 * beside the session's bound. */
double session_fusion_saves(struct session *s, const struct reality *y);

#endif
