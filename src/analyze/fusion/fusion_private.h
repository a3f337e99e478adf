/* Internal interfaces of fusion: what finds the groups of a plan. */
#ifndef ANALYZE_FUSION_PRIVATE_H
#define ANALYZE_FUSION_PRIVATE_H

#include "analyze/fusion/fusion.h"
#include "analyze/roof/roof.h"

#define FUSION_REGION (1 << 30)
#define REGION_LAYERS_MAX 12 /* most layers of one activation written as several operators */

/* ---- fusion_chain.c, activation.c: layers that can be fused into an anchor, found one step at a time */

/* True if the layer reads the value at run time; Shape(x), for example, does not read x. */
bool chain_reads(const struct plan *p, int layer, int value);
/* Stores the layers that read the value at run time (ascending, at most max) and returns their number; -1 if
 * there are more, or the value is a graph output. */
int chain_readers(const struct plan *p, int value, int *layers, int max);

/* An activation written as several layers: all layers between its input value and its output value. */
struct region {
	int layer_count, layers[REGION_LAYERS_MAX]; /* ascending */
	int value;              /* output */
	enum mode mode;
	float alpha, beta;
	const char *name;       /* "Gelu" */
};
/* Recognizes SiLU, HardSwish, Mish and both GELUs after `value` by computing the layers at sample points, so
 * the order of operators does not matter. Returns false for other layers. */
bool region_match(const struct plan *p, int value, struct region *r);

struct chain {
	const struct plan *plan;
	struct problem problem;
	bool foldable;          /* only a constant bias follows the kernel so far: batch norm and bias can be
				   folded */
	bool pointwise;         /* pointwise anchor: fuses elementwise layers in any order */
	bool activation, add;   /* the last epilogue is an activation; a residual was added */
	bool gate;              /* the result was multiplied by another tensor */
	enum fusion_level level;
	int channel_axis;       /* of the chain's output; -1 unknown */
	int value;              /* the chain's output */
	int residual;           /* producer of the added value, or -1 */
	bool proxy;             /* the problem is a stand-in */
	int layer_count, layers[FUSION_LAYERS_MAX];
	int unit[FUSION_LAYERS_MAX]; /* per layer: itself, or FUSION_REGION | first layer of its region */
	struct str pattern;
};
/* Starts at an anchor; false if the layer is not one. The caller frees c->pattern in both cases. */
bool chain_start(struct chain *c, const struct plan *p, const struct plan_layer *l);
/* Starts at a pointwise layer; false if the layer is not one. */
bool chain_start_pointwise(struct chain *c, const struct plan *p, const struct plan_layer *l);
/* Starts with region r; true if it is a group by itself. */
bool chain_start_region(struct chain *c, const struct plan *p, int value, const struct region *r);
/* Appends the next layer (or region); true if a group can end there, false if the chain ends. */
bool chain_step(struct chain *c);
/* fusion_attention.c: matches attention from its softmax, l. Returns false without a match; *why then says
 * what prevents one, or is NULL where l does not belong to attention. The caller frees c->pattern in both
 * cases. */
bool chain_attention(struct chain *c, const struct plan *p, const struct plan_layer *l, const char **why);
/* fusion_triangle.c: as op_triangle, also of masks that layers compute. */
enum triangle triangle_of(const struct plan *p, int value);
bool triangle_added(const struct plan *p, int value);
/* True for a number that hides the score that it replaces or is added to; unknown contents count as one. */
bool triangle_fills(const struct plan *p, int value);
/* fusion_norm.c: matches a normalization from l, the mean of its squares; true if it is a group by itself.
 * The caller frees c->pattern in both cases. */
bool chain_norm(struct chain *c, const struct plan *p, const struct plan_layer *l);
/* fusion_rotary.c: matches a rotary position embedding from its last layer, l; why as in chain_attention. The
 * caller frees c->pattern in both cases. */
bool chain_rotary(struct chain *c, const struct plan *p, const struct plan_layer *l, const char **why);
/* fusion_bytes.c: matches an integer convolution or matmul and the 8-bit sum after it; false without such a
 * sum. */
bool chain_bytes(struct chain *c, const struct plan *p, const struct plan_layer *l);
/* fusion_transposed.c: matches a Transpose of matrices and the matmul that reads them; true if they are a
 * group by themselves. The caller frees c->pattern in both cases. */
bool chain_transposed(struct chain *c, const struct plan *p, const struct plan_layer *l);
/* fusion_pad.c: matches a Pad with zeros and the convolution that reads it; true if they are a group by
 * themselves. The caller frees c->pattern in both cases. */
bool chain_padded(struct chain *c, const struct plan *p, const struct plan_layer *l);
/* True for a Transpose that only exchanges the last two dimensions of its input. */
bool chain_swaps_matrix(const struct plan *p, const struct plan_layer *l);

/* fusion_join.c: matmuls of one value with constant weights, each with its bias. */
#define JOIN_MEMBERS_MAX 8
struct join {
	const bool *dense;      /* per layer: it may become part of a kernel that reads dense rows only */
	int next;               /* the reader of the value to go on with: 0 at first */
	int count;
	struct chain parts[JOIN_MEMBERS_MAX]; /* ascending by their matmuls */
	const char *why;        /* what prevents a join of several matmuls, or NULL */
};
/* Finds those that can run as one, from reader `next` on, which it advances: of many, JOIN_MEMBERS_MAX at a
 * time. False: there are no more; the caller calls join_free in both cases. */
bool join_find(struct join *j, const struct plan *p, int value);
void join_free(struct join *j);
/* Joins the members in the bit set: fills the problem, layers (ascending) and pattern of *c, and the size in
 * bytes of the parts to copy. False: too large. */
bool join_make(const struct join *j, unsigned members, struct chain *c, double *copy_bytes);
/* The next bit set to try after this one, 0 at first; 0: no more. All sets of two and three members; of more,
 * all together and the pairs 0 1, 2 3 ... */
unsigned join_next(const struct join *j, unsigned members);

/* True if the layer is an activation that only a product with another tensor of its shape reads, as in
 * swish(gate) * up. */
bool chain_is_gate(const struct plan *p, const struct plan_layer *l);

/* Shared helpers: */
bool chain_begin(struct chain *c, const struct plan *p, const struct plan_layer *l);
void chain_take(struct chain *c, int layer, int value);
/* True for an integer kernel: its first epilogue is a scale per channel, and later ones compute in f32. */
static inline bool sums_are_scaled(const struct problem *q)
{
	return q->epilogue_count && q->epilogue[0].kind == EPILOGUE_SCALE;
}
void chain_name(struct chain *c, const struct plan_layer *l); /* appends the operator to the pattern */
bool chain_hands_on(const struct plan_layer *l); /* Identity, Dropout */
bool chain_one_output(const struct plan *p, const struct plan_layer *l);

/* fusion_cluster.c: makes the clusters of the groups; unit: per layer as in struct chain, -1: in no group. */
void fusion_cluster(struct fusion *f, const struct plan *p, const int *unit);

/* ... and the contests of its joins. */
void fusion_contests(struct fusion *f, const struct plan *p);

#endif
