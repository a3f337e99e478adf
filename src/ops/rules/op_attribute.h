/* Attributes of the wrong kind. Private to the room. */
#ifndef OPS_RULES_OP_ATTRIBUTE_H
#define OPS_RULES_OP_ATTRIBUTE_H

#include "ops/op.h"

/* True if an operator may have the attribute with this kind; true for unknown names. Otherwise a rule would
 * silently use its default. */
bool op_attribute_fits(const struct attribute *a);
/* The attribute of a Constant that should be its value but has another kind; NULL if a value can be read or
 * it is absent (op_shape.c). */
const struct attribute *op_constant_unread(const struct op_call *c);
/* The known names in order; NULL after the last. */
const char *op_attribute_known(size_t i);

#endif
