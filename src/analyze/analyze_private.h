/* What the files of this room share. */
#ifndef ANALYZE_ANALYZE_PRIVATE_H
#define ANALYZE_ANALYZE_PRIVATE_H

#include "analyze/analyze.h"

#define FUSION_LAYERS_MAX 24 /* most layers of one group */
#define REGION_LAYERS_MAX 12 /* most layers of one activation written out in parts */

static inline const struct plan_problem *layer_problem(const struct plan *p, const struct plan_layer *l)
{
	return l->problem >= 0 ? &p->problems[l->problem] : NULL;
}

/* fusion_chain.c, activation.c: layers that an anchor may take along, found one step at a time. */

/* Does the layer need the value at run time? Shape(x) reads x on paper only. */
bool chain_reads(const struct plan *p, int layer, int value);
/* Layers that read the value at run time, up to max of them, ascending; -1 when it is a graph output or has
 * more. */
int chain_readers(const struct plan *p, int value, int *layers, int max);

/* An activation written as several layers: everything between a value and the one value that leaves. */
struct region {
	int layer_count, layers[REGION_LAYERS_MAX]; /* ascending */
	int value;              /* that leaves */
	enum mode mode;
	float alpha, beta;
	const char *name;       /* "Gelu" */
};
/* Recognizes SiLU, HardSwish, Mish and both GELUs by computing the layers at sample points, whatever their
 * order of writing. False when what follows the value is none of them. */
bool region_match(const struct plan *p, int value, struct region *r);

struct chain {
	const struct plan *plan;
	struct problem problem;
	bool foldable;          /* nothing but a constant bias behind the kernel yet: batch norm and bias fold in */
	bool activation, add;   /* the last epilogue is an activation; a residual was added */
	int channel_axis;       /* of the value now leaving; -1 unknown */
	int value;              /* leaves the last layer */
	int residual;           /* producer of the added value, or -1 */
	int layer_count, layers[FUSION_LAYERS_MAX];
	struct str pattern;
};
/* Starts at an anchor; false when the layer is none. The caller frees c->pattern in both cases. */
bool chain_start(struct chain *c, const struct plan *p, const struct plan_layer *l);
/* Takes one more layer (or activation) along: true when a group may end here. */
bool chain_step(struct chain *c);

/* pick.c: the scenario-independent part of an analysis, made once for all toggles, and prices in one
 * scenario. */

struct study {
	struct arena arena;
	const struct plan *plan;
	const struct fusion *fusion;
	const struct device *device;
	enum cache cache;
	int distinct_count;
	struct found {
		const struct result *const *results;
		int count;
		bool finished;  /* measured to its end: while it is being measured, a slow algorithm may stand alone */
	} *found;               /* per distinct problem: plan's, then fusion's */
	int groups;             /* how many of fusion's groups are looked at: all or 0 */
	/* The graph as nodes: casts at inputs, layers, casts at outputs. */
	int node_count, first_layer;
	int *node_problem;      /* distinct problem, -1 none */
	int *first, *edges;     /* predecessors as critical_path wants them */
};
void study_open(struct study *st, const struct plan *p, const struct fusion *f, const struct results *r,
	const struct device *d, bool fused);
void study_close(struct study *st);

struct price {
	double ns;              /* NaN: none */
	const struct result *result;
	bool answered;          /* a measurement of any outcome for the scenario's launch mode */
	bool unsupported;       /* no price because the library refused, or has only algorithms the scenario bars */
};
/* Price of a distinct problem; `best` instead of the scenario's. */
struct price study_price(const struct study *st, const struct scenario *s, int distinct, bool best);
/* The text of a distinct problem. */
const char *study_text(const struct study *st, int distinct);
/* Has the problem an answer for the launch mode in cache state c (net or warm)? */
bool found_answered(const struct found *f, enum launch launch, enum cache c);
/* The runner's reason why an answered problem has no price, or what the scenario bars; NULL: none is known. */
const char *study_why(const struct study *st, const struct scenario *s, int distinct);
/* Could the problem run on matrix units: a convolution or matrix product, under strict math on anything but
 * f32? */
bool matrix_possible(const char *problem, bool strict);

/* choose.c: what a scenario costs, with fusion decided. */

struct solution {
	struct price *prices;   /* per distinct problem */
	double *cost;           /* per node, alone: NaN missing, 0 free */
	int *chosen_sum, *chosen_path; /* per layer: index of the group it is in, or -1; same array without fusion */
	double *cost_sum, *cost_path;  /* per node under each choice: a group's cost stands at its last layer, NaN = 0 */
	double sequential_ns, parallel_ns; /* NaN: nothing that costs is priced (casts at the border do not count) */
	double border_ns;       /* NaN: there are casts and none is priced */
	bool complete_sum, complete_path, border_complete;
	bool *lacking;          /* per distinct problem: wanted here and not answered */
	bool *refused;          /* ... wanted here, answered, and without a price */
	int unmeasured;         /* how many those are */
};
/* Everything in it lives in arena. */
void solve(const struct study *st, const struct scenario *s, struct arena *a, struct solution *out);

#endif
