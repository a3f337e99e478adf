/* Short names of layers: paths without repeated parts and operators, "/layer1/layer1.0/relu/Relu" as
 * "layer1.0/relu". The explorer shows them, and options accept them. */
#ifndef PLAN_VALUE_SHORT_NAME_H
#define PLAN_VALUE_SHORT_NAME_H

#include "plan/plan.h"

/* How much of a name is kept: the least that tells the listed layers apart. */
enum short_detail { SHORT_LEAST, SHORT_OP, SHORT_WHOLE };
/* In the arena, cleaned. */
const char *plan_name_short(struct arena *a, const struct plan_layer *l, enum short_detail detail);
/* The index of the only numbered layer of that short name; -1: none has it, or several. numbers: of
 * session_numbers, one a layer, 0 without one. */
int plan_named_short(const struct plan *p, const int *numbers, struct text name);
/* True for the operator again, as exporters end their names: "Conv", "Conv_3". */
bool name_is_op_again(const char *part, size_t n, struct text op);
/* True if the next part of a path repeats this one: features, features.0. */
bool name_is_repeated(const char *part, size_t n, const char *next);

#endif
