/* Data propagation for operators that select, place, sort or multiply elements. Shape rules call these
 * functions once the output's shape is set; they set the contents that can be known. Elements that depend on
 * unknown data stay unknown. An index out of range makes everything unknown. Private to the room. */
#ifndef OPS_RULES_OP_CONTENTS_H
#define OPS_RULES_OP_CONTENTS_H

#include "ops/rules/op_rules.h"

/* Index k of `indices` along an axis of `size`, made >= 0; -1: unknown, -2: out of range. */
int64_t op_contents_index(const struct elements *indices, int k, int64_t size);

/* The contents of the output of GatherElements and GatherND, if those of the inputs are known. batch:
 * dimensions that data and indices share. */
void op_contents_gather_elements(struct op_call *c, int axis);
void op_contents_gather_nd(struct op_call *c, int batch);
/* ScatterElements and ScatterND with updates that replace elements. */
void op_contents_scatter_nd(struct op_call *c);
void op_contents_scatter_elements(struct op_call *c, int axis);
/* axis: of the output. */
void op_contents_one_hot(struct op_call *c, int axis);
void op_contents_trilu(struct op_call *c);
/* begin: elements added (or removed, if negative) before each axis of the input. */
void op_contents_pad(struct op_call *c, const int64_t *begin);
void op_contents_arg(struct op_call *c, int axis, bool largest);
void op_contents_top_k(struct op_call *c, int axis, bool largest);
/* Sums or products of all elements up to each one along the axis. */
void op_contents_cumulate(struct op_call *c, int axis, bool product);
/* batch_a, batch_b: the operands' shapes without the matrix dimensions. */
void op_contents_matmul(struct op_call *c, struct shape batch_a, struct shape batch_b);

#endif
