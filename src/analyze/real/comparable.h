/* Decides whether an execution and a bound are comparable, for every command and the explorer. */
#ifndef ANALYZE_COMPARABLE_H
#define ANALYZE_COMPARABLE_H

#include "analyze/bound/analyzer.h"
#include "profile/match/match.h"

/* Uses of an execution beside a bound; a difference between both prevents some of them. */
enum comparable_use {
	USE_ROWS = 1,          /* its rows are of the model's layers */
	USE_GAPS = 2,          /* the gaps from the bound to reality */
	USE_RATIO = 4,         /* the Benanza ratio */
	USE_CONTRADICTION = 8, /* it contradicts the bound where it is faster */
	USE_STORED = 16,       /* an execution of the database stands beside the bound, in any scenario */
};

struct comparable {
	const char *why;   /* "4 threads against 2"; NULL: no difference */
	unsigned prevents; /* uses */
};

/* Returns the most severe difference that prevents one of `uses`. `why` is a constant or in the arena. m:
 * with the ground's plan; NULL: the layers are not compared. */
struct comparable comparable_find(struct arena *a, const struct ground *g, const struct scenario *s,
	const struct execution *e, const struct match *m, unsigned uses);

/* Returns true if the execution ran the shapes of the plan's inputs, or at least its batch, as far as it
 * reports them. */
bool comparable_shapes(const struct plan *p, const struct execution *e);
/* Returns the batch that the execution ran: the one it reports, else the first dimension of the model's input
 * in the row that reads it. m: with the plan, or NULL. 0 if unknown. */
int64_t comparable_batch(const struct plan *p, const struct execution *e, const struct match *m);
/* The same from the first tensor of the rows that has the other sizes of a model's input: to try if the rows
 * match nothing at another batch. */
int64_t comparable_batch_guess(const struct plan *p, const struct execution *e);
/* Returns true if the match lacks so much of the rows' time that they seem to be of another model. */
bool comparable_is_foreign(const struct match *m);
/* Returns true if two models of devices, as an execution and a runner report them, are the same: by the first
 * word with a digit ("A100"), without one by the whole text. */
bool comparable_device(const char *execution, const char *bound);

#endif
