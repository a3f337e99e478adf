/* What operators of the attention family share: softmax(scale q k' + masks) v for every head, as sizes.
 * Private to the room. */
#ifndef OPS_OP_ATTENTION_H
#define OPS_OP_ATTENTION_H

#include "ops/op_rules.h"

/* What the shapes say; unknown where they do not. Query i stands at the place of key i + offset: causal, it
 * sees the keys up to that place; a window leaves it so many on either side of it. */
struct attention {
	struct dim n, heads, kv_heads, query_length, head_size, value_size;
	struct dim key_length;	/* new keys */
	struct dim past, total; /* keys that a cache gives, and all that are looked at */
	struct dim offset;	/* of the first query's place */
	bool causal;
	int64_t left, right; /* window; -1: as far as there are keys */
	double extra;	     /* operations a pair beside both products and the softmax: masks, caps */
	bool shared;	     /* the cache is one buffer before and after: only the new rows are written */
};

/* All unknown, no window, nothing extra. */
struct attention attention_none(void);
/* heads: attribute `name`, from 1 to 2^31 - 1. */
int attention_heads(const struct op_call *c, const char *name, struct dim *heads, struct error *err);
/* whole / parts, which must divide it. */
int attention_part(const struct op_call *c, struct dim whole, struct dim parts, const char *what,
	struct dim *part, struct error *err);
/* Pairs of a query and a key it sees, of one head of one sample. */
double attention_pairs(const struct attention *t);
/* Two products, a softmax of 5 for each pair that is seen, and what is extra. */
double attention_flops(const struct attention *t);
/* Bytes of keys and values that come from a cache of this type and, where `written`, go to it. */
double attention_cache_bytes(const struct attention *t, enum dtype type, bool written);
/* The kernel: q, k, v are operands 0 to 2 of the problem, the destination output 0. Causal is the kernel's
 * own triangle where it ends at the last key; proxy is set for other triangles, windows, and where `proxy`
 * says so. */
void attention_problem(const struct op_call *c, const struct attention *t,
	const struct op_value *const qkv[3], bool proxy, struct op_problem *out);
/* The product of input 0 (all dimensions but the last are rows) and the weights at an input, `columns` wide, with the bias
 * at an input (0: none): it stands in. False: why. Whole numbers get their scale. */
bool attention_projection(const struct op_call *c, int weights, int bias, struct dim columns, struct op_problem *out);
/* Tokens one behind the other, of as many sequences as the input of their bounds (n + 1) says, as sequences of even
 * lengths: no others have fewer pairs. */
void attention_even(const struct op_call *c, struct dim tokens, int bounds, struct attention *t);
/* The two caches from an input on (4 dimensions where their rank is known to be that) have so many heads at an axis. */
int attention_caches(const struct op_call *c, int from, int axis, struct dim heads, struct error *err);
/* Sequences that lie one behind the other: one fewer than there are bounds at an input, which is not empty. */
int attention_sequences(const struct op_call *c, int bounds, struct dim *n, struct error *err);
/* Tokens of each sequence whose changes of a state are asked for: attribute `state_update_capacity`, from 0 to 8. */
int attention_captures(const struct op_call *c, struct dim *captures, struct error *err);
/* s behind the dimension that com.microsoft's attribute `state_window` puts in front of a state. */
struct shape attention_window(const struct op_call *c, struct shape s);
/* a x b x d x e. */
struct shape attention_shape(const struct op_call *c, struct dim a, struct dim b, struct dim d, struct dim e);

#endif
