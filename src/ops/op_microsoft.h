/* Shared by com.microsoft's operators: activations fused behind a matmul, convolution or pooling. Private to
 * the room. */
#ifndef OPS_OP_MICROSOFT_H
#define OPS_OP_MICROSOFT_H

#include "ops/op_rules.h"

/* True if the node's attribute `activation` names a function. */
bool microsoft_activates(const struct op_call *c);
/* Adds that function to a known problem as an epilogue, with parameters from activation_params or
 * activation_alpha and _beta. A function without a mode, or invalid parameters, make the problem a proxy. */
void microsoft_activate(const struct op_call *c, struct op_problem *out);
/* Operations of the function: 1 per element of the first output. */
double microsoft_activation_flops(const struct op_call *c);

#endif
