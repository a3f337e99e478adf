/* The difference of two bounds, layer by layer. */
#ifndef TABLE_TABLES_DIFF_H
#define TABLE_TABLES_DIFF_H

#include "analyze/tables/sweep.h"
#include "session/session.h"
#include "table/table.h"

struct diff_layer {
	int a, b;                    /* layers of the plans' main graphs; -1: the side has no such layer */
	double a_ns, b_ns, diff_ns;  /* per item if `per_item`; NaN unknown; diff: B - A */
	bool estimated;              /* one side is an estimate */
	enum diff_verdict verdict;
};

struct diff {
	const struct session *a, *b;
	bool per_item;               /* the batches differ: all times are divided by them */
	double threshold;            /* a smaller share of A's total is no slowdown */
	double a_ns, b_ns;           /* the bounds */
	double a_lo, a_hi, b_lo, b_hi; /* their intervals; NaN unknown */
	bool estimated, complete;    /* of both sides */
	enum diff_verdict verdict;
	bool slower;                 /* significantly, and by more than the threshold */
	int count;
	struct diff_layer *layers;   /* largest difference first; those of unknown difference last */
};

/* Compares the current analyses of two sessions. Layers of equal name and operator belong together, several
 * of one name in their order. Arrays are in the arena. */
void diff_make(struct arena *a, const struct session *one, const struct session *two, double threshold,
	struct diff *d);
/* The layers; text has those that differ most, CSV also the total and what B is. */
void diff_table(struct table *t, const struct diff *d);
/* A duration with its sign: "+1.29 ms". */
const char *diff_signed(struct arena *a, double ns);
json_t *diff_json(const struct diff *d);

#endif
