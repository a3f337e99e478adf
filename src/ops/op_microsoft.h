/* What the operators of com.microsoft share: functions fused behind a product, a convolution or a pooling.
 * Private to the room. */
#ifndef OPS_OP_MICROSOFT_H
#define OPS_OP_MICROSOFT_H

#include "ops/op_rules.h"

/* Does the node's attribute `activation` name a function? */
bool microsoft_activates(const struct op_call *c);
/* Puts that function behind a known problem, its parameters from activation_params or activation_alpha and
 * _beta. One that the problem has no name for, or with parameters that are no numbers, makes the problem a
 * proxy. */
void microsoft_activate(const struct op_call *c, struct op_problem *out);
/* 1 per element of the first output for the function. */
double microsoft_activation_flops(const struct op_call *c);

#endif
