/* Data propagation of operators that pick, place, order or multiply elements. Each is called by its shape rule once the
 * output's shape is there, and sets the contents of outputs where they can be known; elements that depend on what is not
 * known stay unknown. An index beyond its axis makes nothing known. Private to the room. */
#ifndef OPS_OP_CONTENTS_H
#define OPS_OP_CONTENTS_H

#include "ops/op_rules.h"

/* Index k of indices into an axis of `size`, made >= 0; -1: not known, -2: out of range. */
int64_t op_contents_index(const struct elements *indices, int k, int64_t size);

void op_contents_gather_elements(struct op_call *c, int axis);
void op_contents_gather_nd(struct op_call *c, int batch);
/* Updates that replace what was there. */
void op_contents_scatter_nd(struct op_call *c);
void op_contents_scatter_elements(struct op_call *c, int axis);
/* axis: of the output. */
void op_contents_one_hot(struct op_call *c, int axis);
void op_contents_trilu(struct op_call *c);
/* begin: how many are added (or taken) before each axis of the input. */
void op_contents_pad(struct op_call *c, const int64_t *begin);
void op_contents_arg(struct op_call *c, int axis, bool largest);
void op_contents_top_k(struct op_call *c, int axis, bool largest);
/* Sums, or products, of all up to each element along the axis. */
void op_contents_cumulate(struct op_call *c, int axis, bool product);
/* batch_a, batch_b: the operands' shapes without their matrices. */
void op_contents_matmul(struct op_call *c, struct shape batch_a, struct shape batch_b);

#endif
