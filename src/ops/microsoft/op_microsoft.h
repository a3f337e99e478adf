/* Shared by com.microsoft's operators: activations fused behind a matmul, convolution or pooling, and sizes.
 * Private to the room. */
#ifndef OPS_MICROSOFT_OP_MICROSOFT_H
#define OPS_MICROSOFT_OP_MICROSOFT_H

#include "ops/rules/op_rules.h"

/* True if the node's attribute `activation` names a function. */
bool microsoft_activates(const struct op_call *c);
/* Adds that function to a known problem as an epilogue, with parameters from activation_params or
 * activation_alpha and _beta. A function without a mode, or invalid parameters, make the problem a proxy. */
void microsoft_activate(const struct op_call *c, struct op_problem *out);
/* Operations of the function: 1 per element of the first output. */
double microsoft_activation_flops(const struct op_call *c);

/* Output `output` has the type and shape of input `input`. */
void microsoft_output_like(struct op_call *c, int output, int input);
/* The share of the experts whose weights are read: exact for one token, or if each token chooses all; else
 * the expected one if each token chooses evenly, and cost->upto is set. */
double microsoft_experts_read(double tokens, double chosen, double count, struct op_cost *cost);
/* Size of dimension i of an input of this rank; NaN if it is unknown. */
double microsoft_size_at(const struct op_call *c, int input, int rank, int i);
/* Last dimension. */
struct dim microsoft_last_of(struct shape s);
/* Rows: the product of all dimensions but the last. */
struct dim microsoft_rows_of(const struct op_call *c, struct shape s);

#endif
