/* Finding integer layers: shared by quant.c (DequantizeLinear and QuantizeLinear around a layer),
 * quant_move.c (data movement), quant_raw.c (raw sums) and quant_weights.c (constants). Private to the
 * room. */
#ifndef PLAN_QUANT_QUANT_SEARCH_H
#define PLAN_QUANT_QUANT_SEARCH_H

#include "plan/plan_private.h"

/* For each value the layers that read its data, from the nodes. Readers in subgraphs and model outputs are
 * not in it, nor are Shape and Size, which read no data. */
struct readers {
	int *first; /* of value v: layers[first[v] .. first[v + 1]) */
	int *layers;
};

struct quant_search {
	struct builder *b;
	struct plan *p;
	struct readers readers;
	bool *captured;      /* per value: a subgraph reads it */
	int *takers;         /* per layer that several groups may share: number of its readers that absorb it
			        */
	int *first_taker;    /* per layer: the core of the first of these readers, or -1 */
	int *last_core;      /* per value: the latest core that took it as an input, or -1 */
	signed char *moved;  /* per value: 1 if it is moved and read by matmuls and convolutions only
			        (quant_move.c), -1 if not, 0 = not computed */
};

/* The kind of integer layer that a layer can be the core of. */
static inline enum op_quant quant_kind(const struct plan_layer *l)
{
	return l->op ? l->op->quant : QUANT_NONE;
}

/* True if the node is ai.onnx `op`. */
static inline bool quant_op_is(const struct node *n, const char *op)
{
	return text_is(n->op, op) && n->domain.n == 0;
}

/* The only layer that reads the value; -1 if there are other readers or none. */
int quant_only_reader(const struct quant_search *s, int value);
/* The DequantizeLinear that makes this value, or NULL. */
const struct plan_layer *quant_dequantizer(const struct quant_search *s, int value);
/* True if the layer is a known `op` of ai.onnx or com.microsoft with a value, a scale and an output. */
bool quant_is(const struct plan_layer *l, const char *op);
bool quant_same_shape(const struct plan *p, int a, int b);
/* A new group with this core and all fields absent. */
struct quant *quant_new(const struct quant_search *s, const struct plan_layer *core);
/* Makes a layer behind the core part of its group. */
void quant_take(struct quant_search *s, int layer, int core);
/* The same for a layer in front of the core, which others may read: it is absorbed once all its readers have
 * absorbed it. NULL: does nothing. */
void quant_take_shared(struct quant_search *s, const struct plan_layer *l, int core);

/* Adds the bytes of a quantizing or dequantizing layer's scales and zero points to the group's. */
void quant_scaled_by(const struct quant_search *s, struct quant *q, const struct plan_layer *quantizer);
bool quant_is_byte(enum dtype t); /* integers and floats of 8 bits */
bool quant_is_one_scale(const struct plan *p, const struct plan_layer *quantizer);

/* The number of layers that read the value. */
int quant_reader_count(const struct quant_search *s, int value);
/* The 8-bit tensor with one scale that the value is dequantized from, or -1. `moved`: also one of 16 bits. */
int quant_whole_source(const struct quant_search *s, int value, bool moved);
int quant_byte_source(const struct quant_search *s, int value); /* not moved */
/* True if both layers have the same type, scale and zero point, so that quantizing again is exact. */
bool quant_same_scale(const struct plan *p, const struct plan_layer *from, const struct plan_layer *to);
/* The QuantizeLinear with one scale that is the only reader of the value, or NULL. */
const struct plan_layer *quant_quantizer_behind(const struct quant_search *s, int value);
/* True if the matmul or convolution has no bias, an integer vector (kept in q->source[2]) or constant values.
 * */
bool quant_bias_find(const struct quant_search *s, const struct plan_layer *core, struct quant *q);

/* quant_move.c */
/* Fills q->result of a data movement layer: every output in use must be quantized again with the scale of the
 * input. Data movement layers in between then move bytes, too. False: not the case. */
bool quant_mover_behind(struct quant_search *s, const struct plan_layer *core, struct quant *q);
/* The DequantizeLinear before layers that only move the value, all read by matmuls and convolutions only;
 * NULL without one. */
const struct plan_layer *quant_moved_dequantizer(const struct quant_search *s, int value);
/* Makes these layers move the bytes of `source`. */
void quant_take_movers(struct quant_search *s, int value, int source);

/* quant_weights.c */
/* True if the layer only moves the elements of a constant into another constant. */
bool quant_moves_constant(const struct plan *p, const struct plan_layer *l);
/* The DequantizeLinear of the value, possibly followed by moves of the constant. *axis: the axis of the value
 * that the vector of scales is along, or -1. NULL without such a value. */
const struct plan_layer *quant_weights_dequantizer(const struct quant_search *s, int value, int *axis);
/* The 8-bit weights of an integer matmul or convolution that have one scale, or one per output channel; else
 * -1. */
int quant_weights_source(const struct quant_search *s, const struct plan_layer *core);
/* Sets b->quants[core] if the layer multiplies float values by packed weights. */
void quant_find_packed(struct quant_search *s, const struct plan_layer *core);
/* quant_raw.c */
/* The value that the only reader of `value` adds, if it is a scalar or has one element per channel; else
 * -1. */
int quant_bias_behind(const struct quant_search *s, const struct plan_layer *core, int value);
/* Sets b->quants[core] if the layer computes raw sums that a later layer scales. */
void quant_find_raw(struct quant_search *s, const struct plan_layer *core);

#endif
