/* The search for integer layers: what quant.c (conversions around a layer), quant_move.c (movers), quant_raw.c
 * (raw sums) and quant_weights.c (constants) share. Private to the room. */
#ifndef PLAN_QUANT_SEARCH_H
#define PLAN_QUANT_SEARCH_H

#include "plan/plan_private.h"

/* Readers of each value's data, as the nodes have them; a subgraph's and the model's output count as no layer, and who asks
 * for a shape reads nothing. */
struct readers {
	int *first; /* of value v: layers[first[v] .. first[v + 1]) */
	int *layers;
};

struct quant_search {
	struct builder *b;
	struct plan *p;
	struct readers readers;
	bool *captured;      /* per value: a subgraph reads it */
	int *takers;         /* per layer that several may share: those of its readers that take it in */
	int *first_taker;    /* per layer: the core of the first of them, or -1 */
	int *last_core;      /* per value: the newest core that took it as an input, or -1 */
	signed char *moved;  /* per value: is it moved to products alone (quant_move.c)? 1 yes, -1 no, 0 not asked yet */
};

/* What each operator needs to be an integer layer. */
enum core_kind {
	CORE_NONE,
	CORE_PRODUCT, /* sums in s32: both factors quantized; leaves as it likes */
	CORE_PAIR,    /* two quantized tensors in, one out */
	CORE_LIST,    /* all tensors in quantized, one out */
	CORE_SINGLE,  /* the first quantized, one out */
	CORE_CHOICE,  /* the second and third quantized, one out */
	CORE_INDEX,   /* the first quantized; what leaves says where it is, in no scale */
	CORE_MOVER    /* the same with one scale for both: whole numbers are only moved, or compared */
};
enum core_kind quant_core_kind(const struct node *n);

/* An operator of ai.onnx. */
static inline bool quant_op_is(const struct node *n, const char *op)
{
	return text_is(n->op, op) && n->domain.n == 0;
}

/* The one layer that reads the value, if nobody else wants it; else -1. */
int quant_only_reader(const struct quant_search *s, int value);
/* The layer that dequantizes to this value, or NULL. */
const struct plan_layer *quant_dequantizer(const struct quant_search *s, int value);
bool quant_same_shape(const struct plan *p, int a, int b);
/* A group of which nothing is known yet. */
struct quant *quant_new(const struct quant_search *s, const struct plan_layer *core);
/* Makes the layer a part of the core, a layer that stands behind it. */
void quant_take(struct quant_search *s, int layer, int core);
/* ... one in front, which others may read, too: it goes when all have taken it. NULL: nothing to do. */
void quant_take_shared(struct quant_search *s, const struct plan_layer *l, int core);

/* Counts the scales and zero points of a layer that quantizes or dequantizes as the group's. */
void quant_scaled_by(const struct quant_search *s, struct quant *q, const struct plan_layer *quantizer);
bool quant_is_byte(enum dtype t); /* integers and floats of 8 bits */
bool quant_is_one_scale(const struct plan *p, const struct plan_layer *quantizer);

int quant_reader_count(const struct quant_search *s, int value);
/* What an 8-bit tensor with one scale is dequantized from, or -1. */
int quant_byte_source(const struct quant_search *s, int value);
/* Does `from` dequantize the very numbers that `to` quantizes to? */
bool quant_same_scale(const struct plan *p, const struct plan_layer *from, const struct plan_layer *to);
/* The layer that alone reads the value and quantizes it with one scale, or NULL. */
const struct plan_layer *quant_quantizer_behind(const struct quant_search *s, int value);
/* Has the product no bias, or a vector of whole numbers (q->source[2]), or of constant values? */
bool quant_bias_find(const struct quant_search *s, const struct plan_layer *core, struct quant *q);

/* quant_move.c */
/* Fills q->result of a mover: all outputs that anyone wants quantized again, each with the scale of the input; movers on
 * the way move bytes, too. False: not so. */
bool quant_mover_behind(struct quant_search *s, const struct plan_layer *core, struct quant *q);
/* What dequantizes the value before layers that only move it, for products alone; NULL: nothing, or there are none. */
const struct plan_layer *quant_moved_dequantizer(const struct quant_search *s, int value);
/* Makes these layers move bytes, `source`. */
void quant_take_movers(struct quant_search *s, int value, int source);

/* quant_weights.c */
/* Does the layer make one constant of values of another, element for element? */
bool quant_moves_constant(const struct plan *p, const struct plan_layer *l);
/* What dequantizes the value, perhaps before it is moved as a constant, and the axis that its vector of scales is along
 * in the value; -1: along none. NULL: nothing does. */
const struct plan_layer *quant_weights_dequantizer(const struct quant_search *s, int value, int *axis);
/* The bytes that are the weights of an integer product, with a scale for each output channel or one for all; or -1. */
int quant_weights_source(const struct quant_search *s, const struct plan_layer *core);
/* b->quants[core] where the layer is a product of values and packed weights. */
void quant_find_packed(struct quant_search *s, const struct plan_layer *core);
/* quant_raw.c */
/* What the only reader of the core's output, or of what is made of it, adds: one number a channel, or one for all; else
 * -1. */
int quant_bias_behind(const struct quant_search *s, const struct plan_layer *core, int value);
/* b->quants[core] where the layer makes raw sums that are scaled behind it. */
void quant_find_raw(struct quant_search *s, const struct plan_layer *core);

#endif
