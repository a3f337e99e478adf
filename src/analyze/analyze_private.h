/* What the files of this room share. */
#ifndef ANALYZE_ANALYZE_PRIVATE_H
#define ANALYZE_ANALYZE_PRIVATE_H

#include "analyze/analyze.h"

#define FUSION_LAYERS_MAX 24 /* most layers of one group */
#define FUSION_REGION (1 << 30)
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
	bool pointwise;         /* a pointwise anchor: takes what is element by element, in any order */
	bool activation, add;   /* the last epilogue is an activation; a residual was added */
	int channel_axis;       /* of the value now leaving; -1 unknown */
	int value;              /* leaves the last layer */
	int residual;           /* producer of the added value, or -1 */
	int layer_count, layers[FUSION_LAYERS_MAX];
	int unit[FUSION_LAYERS_MAX]; /* per layer: itself, or FUSION_REGION | the first of its activation in parts */
	struct str pattern;
};
/* Starts at an anchor; false when the layer is none. The caller frees c->pattern in both cases. */
bool chain_start(struct chain *c, const struct plan *p, const struct plan_layer *l);
/* Starts at a pointwise layer; false when the layer is none. */
bool chain_start_pointwise(struct chain *c, const struct plan *p, const struct plan_layer *l);
/* Starts with an activation in parts, r: true when it is a group by itself. */
bool chain_start_region(struct chain *c, const struct plan *p, int value, const struct region *r);
/* Takes one more layer (or activation) along: true when a group may end here. */
bool chain_step(struct chain *c);
/* fusion_attention.c: the whole of attention from its first product on; false when it is none. */
bool chain_attention(struct chain *c, const struct plan *p, const struct plan_layer *l);
/* fusion_bytes.c: a product of whole numbers and the sum of bytes behind it; false when there is none. */
bool chain_bytes(struct chain *c, const struct plan *p, const struct plan_layer *l);

/* The pieces they share. */
bool chain_begin(struct chain *c, const struct plan *p, const struct plan_layer *l);
void chain_take(struct chain *c, int layer, int value);
void chain_name(struct chain *c, const struct plan_layer *l); /* adds it to the pattern */
bool chain_hands_on(const struct plan_layer *l); /* Identity, Dropout */
bool chain_one_output(const struct plan *p, const struct plan_layer *l);

/* fusion_cluster.c: clusters of the groups found; unit: per layer as struct chain has it, -1 in no group. */
void fusion_cluster(struct fusion *f, const struct plan *p, const int *unit);

/* What a price is held against. */
struct roof {
	const struct result *of; /* NULL: not known yet */
	double ns;
	bool mistrusted;         /* the price is under it, and no cache can be the reason */
};

/* pick.c: the scenario-independent part of an analysis, made once for all toggles, and prices in one
 * scenario. */

struct study {
	struct arena arena;
	struct ground on;
	const struct plan *plan;
	const struct fusion *fusion;
	const struct device *device;
	enum cache cache;
	bool nxc;               /* the side: layout what-if on */
	int distinct_count;
	struct found {
		const struct result *const *results;
		int count;
		bool finished;  /* measured to its end: while it is being measured, a slow algorithm may stand alone */
	} *found;               /* per distinct problem: plan's, then fusion's; those of this side alone are looked up */
	bool *wanted;           /* per distinct problem: of this side */
	struct roof *roofs;     /* per distinct problem, as they were asked for last */
	int groups;             /* how many of fusion's groups are looked at: all or 0 */
	/* The graph as nodes: casts at inputs, their conversions, layers each followed by its conversions, casts at
	 * outputs. */
	int node_count, last_layer_node;
	int *layer_node;        /* per layer */
	int *node_layer;        /* -1: a cast or conversion */
	int *node_problem;      /* distinct problem, -1 none */
	int *first, *edges;     /* predecessors as critical_path wants them */
};
void study_open(struct study *st, const struct ground *g, bool nxc, bool fused);
void study_close(struct study *st);
/* study_graph.c */
void study_graph(struct study *st);
static inline int study_group_distinct(const struct study *st, const struct fusion_group *g)
{
	return st->nxc ? g->distinct_nxc : g->distinct;
}

struct price {
	double ns;              /* NaN: none */
	const struct result *result; /* NULL: none, or estimated */
	bool estimated;         /* its roofline */
	bool answered;          /* a measurement of any outcome for the scenario's launch mode, or an estimate */
	bool unsupported;       /* no price because the library refused, or has only algorithms the scenario bars */
	bool known;             /* looked up */
};
/* Price of a distinct problem; `best` instead of the scenario's. */
struct price study_price(const struct study *st, const struct scenario *s, int distinct, bool best);
/* The text of a distinct problem. */
const char *study_text(const struct study *st, int distinct);
/* Has the problem an answer for the launch mode in cache state c (net or warm)? */
bool found_answered(const struct found *f, enum launch launch, enum cache c);
/* The runner's reason why an answered problem has no price, or what the scenario bars; NULL: none is known. */
const char *study_why(const struct study *st, const struct scenario *s, int distinct);
/* Could the problem run on matrix units: a convolution, matrix product or their like, under strict math on anything but
 * f32? */
bool matrix_possible(const char *problem, bool strict);
/* Is the algorithm's math strict: nothing said is. */
bool is_strict(const struct result *r);

/* roofline.c */
/* Products run on matrix units where there are some, and their operations count. */
bool roofline_is_product(enum kernel k);
/* The type that an algorithm's math rounds operands to; DTYPE_UNKNOWN: no figure fits it. */
enum dtype roofline_math_type(const struct result *r, enum dtype own);
/* Winograd and FFT: fewer multiplications than the problem has. */
bool roofline_counts_its_own(const struct algorithm *a);
/* The unit that operations run on: type and side, and its peak in FLOP/s (NaN unknown, 0: no claim). */
struct unit {
	enum dtype type;
	bool matrix;
	double peak;
};
/* The two parts of a roofline. */
struct roof_parts {
	struct unit unit;
	double ops_ns;          /* operations / peak of the unit; NaN: that is unknown */
	double bytes_ns;        /* bytes / bandwidth; NaN: memory's is unknown */
	double bytes_per_s;     /* that bandwidth, and the cache that it is of; 0: memory */
	int level;
	int unknown_level;      /* the cache that holds the bytes, where its bandwidth is unknown; 0: it is known */
	bool counts_its_own, unit_unknown; /* of a result: nothing can be said of its operations */
};
/* c: the state that `of` was measured in; of NULL: what the scenario would run. */
struct roof_parts roofline_parts(const struct problem *p, const struct peaks *k, const struct scenario *s, enum cache c,
	const struct result *of);
/* Of a problem's price in a scenario: the measurement's own, or (no result) that of what would run. ns NaN without peaks. */
struct roof roofline_of_price(const struct study *st, const struct scenario *s, int distinct, const struct result *r);
/* Why a problem has no estimate: the peak that it takes is not known, or only on units that the scenario bars. In arena a;
 * NULL: its text is not one. */
const char *roofline_why(struct arena *a, const struct study *st, const struct scenario *s, int distinct);

/* What layers keep busy: memory, each level of cache, each unit for each type. */
enum { RESOURCE_MEMORY, RESOURCE_CACHE, RESOURCE_PLAIN = RESOURCE_CACHE + PEAK_LEVELS, RESOURCE_MATRIX = RESOURCE_PLAIN + DTYPE_COUNT,
	RESOURCE_COUNT = RESOURCE_MATRIX + DTYPE_COUNT };
/* Adds for how long a problem does so when it runs so often, at their peaks; as roofline_of_price, without what is not known. */
void roofline_resources(const struct study *st, const struct scenario *s, int distinct, const struct result *r, int times,
	double *busy_ns);

/* cost.c: what one layer costs. */
struct interval {
	bool known, is_range;   /* is_range: of 2 to 5 samples, for which there is no interval of 95% */
	double lo, hi;
};
struct interval interval_of(const struct result *r);
/* Nothing known yet; free, or paid for elsewhere. */
void cost_none(struct layer_cost *c);
void cost_nothing(struct layer_cost *c, enum origin origin);
/* Paid for by the measurement of a distinct problem (its own or its group's). */
void cost_priced(struct arena *a, struct layer_cost *c, const struct study *st, const struct scenario *s, int distinct,
	const struct price *price, bool proxy);
/* In no group: by its problem, or by the layers of its bodies, which are listed in arena a. */
struct solution;
void cost_alone(struct arena *a, struct layer_cost *c, const struct study *st, const struct scenario *s,
	const struct solution *x, const struct plan_layer *l, int problem);

/* What a scenario costs, with fusion decided. */

struct solution {
	struct price *prices;   /* per distinct problem */
	double *cost;           /* per node, alone: NaN missing, 0 free */
	bool *estimated;        /* per node, alone */
	struct layer_cost **inside; /* per layer: what it costs by its bodies, or NULL; NULL: no layer does */
	int *chosen_sum, *chosen_path; /* per layer: index of the group it is in, or -1; same array without fusion */
	double *cost_sum, *cost_path;  /* per node under each choice: a group's cost stands at its last layer, NaN = 0 */
	double sequential_ns, parallel_ns; /* NaN: nothing that costs is priced (casts at the border do not count) */
	double border_ns;       /* NaN: there are casts and none is priced */
	double enqueue_sum, enqueue_path; /* launch isolated: host time of each choice; NaN not known of any */
	bool complete_sum, complete_path, border_complete, border_estimated;
	bool estimated_sum, estimated_path;
	bool *lacking;          /* per distinct problem: wanted here and not answered */
	bool *refused;          /* ... wanted here, answered, and without a price */
	int unmeasured;         /* how many those are */
};
/* solve.c. Everything in it lives in arena. */
void solve(const struct study *st, const struct scenario *s, struct arena *a, struct solution *out);
/* What a node costs by its layer's bodies, or NULL. */
static inline const struct layer_cost *solution_inside(const struct study *st, const struct solution *x, int node)
{
	int layer = st->node_layer[node];
	return x->inside && layer >= 0 ? x->inside[layer] : NULL;
}
/* The distinct problem that a node pays for under a choice (a group's at its last layer), or -1. */
int solution_problem(const struct study *st, const int *chosen, int node);
/* choose.c: fills chosen_* and cost_*. */
void solve_choices(const struct study *st, struct arena *a, struct solution *out);

#endif
