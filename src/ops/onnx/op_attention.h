/* Shared by the attention operators: softmax(scale q k' + masks) v for every head, as sizes. Private to the
 * room. */
#ifndef OPS_ONNX_OP_ATTENTION_H
#define OPS_ONNX_OP_ATTENTION_H

#include "ops/rules/op_rules.h"

/* Sizes from the shapes; unknown if they do not tell. Query i is at the position of key i + offset: causal
 * attention sees the keys up to it; a window limits how many on either side. */
struct attention {
	struct dim n, heads, kv_heads, query_length, head_size, value_size;
	struct dim key_length;	/* new keys */
	struct dim past, total; /* keys from a cache, and all keys together */
	struct dim offset;	/* position of the first query */
	bool causal;
	int64_t left, right; /* window to the left and right; -1: unlimited */
	double extra;	     /* operations per pair other than both matmuls and the softmax: masks, caps */
	bool shared;	     /* past and present are one buffer: only new rows are written */
};

/* All sizes unknown, no window, nothing extra. */
struct attention attention_none(void);
/* Number of heads from attribute `name`, 1 to 2^31 - 1. */
int attention_heads(const struct op_call *c, const char *name, struct dim *heads, struct error *err);
/* whole / parts; -1 with an error if it does not divide. */
int attention_part(const struct op_call *c, struct dim whole, struct dim parts, const char *what,
	struct dim *part, struct error *err);
/* Two matmuls, 5 for softmax per visible pair, and the extra operations. */
double attention_flops(const struct attention *t);
/* Bytes of keys and values read from a cache of this type and, if `written`, written to it. */
double attention_cache_bytes(const struct attention *t, enum dtype type, bool written);
/* Fills the attention problem: q, k, v are its operands 0 to 2, the destination is output 0. Mode causal if
 * the triangle ends at the last key; other triangles, windows and `proxy` make it a proxy. */
void attention_problem(const struct op_call *c, const struct attention *t,
	const struct op_value *const qkv[3], bool proxy, struct op_problem *out);
/* Matmul of input 0 (all dimensions but the last are rows) and the weights at an input, `columns` wide, with
 * the bias at an input (0: none), as a proxy. False: `why` is set. Integers get a scale. */
bool attention_projection(
	const struct op_call *c, int weights, int bias, struct dim columns, struct op_problem *out);
/* Packed tokens, of as many sequences as the bounds input (n + 1) has, as sequences of equal length: the
 * division with the fewest pairs. */
void attention_even(const struct op_call *c, struct dim tokens, int bounds, struct attention *t);
/* Checks the number of heads at an axis of the two caches from an input on (4 dimensions if the rank is
 * known). */
int attention_caches(const struct op_call *c, int from, int axis, struct dim heads, struct error *err);
/* Number of packed sequences: one fewer than the elements of the bounds input, which must not be empty. */
int attention_sequences(const struct op_call *c, int bounds, struct dim *n, struct error *err);
/* Number of tokens per sequence whose state updates are returned: attribute `state_update_capacity`, 0 to
 * 8. */
int attention_captures(const struct op_call *c, struct dim *captures, struct error *err);
/* s with the leading dimension that com.microsoft's attribute `state_window` adds to a state. */
struct shape attention_window(const struct op_call *c, struct shape s);
/* The shape a x b x d x e. */
struct shape attention_shape(const struct op_call *c, struct dim a, struct dim b, struct dim d, struct dim e);

#endif
