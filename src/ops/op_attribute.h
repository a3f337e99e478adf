/* Attributes of the wrong kind. Private to the room. */
#ifndef OPS_OP_ATTRIBUTE_H
#define OPS_OP_ATTRIBUTE_H

#include "ops/op.h"

/* Is it of a kind that an operator may have it with? Unknown names fit. A rule that asks for another kind than the file has
 * would take its default for it. */
bool op_attribute_fits(const struct attribute *a);
/* The attribute of a Constant that should be its value and is of another kind; NULL: a value can be read, or there is none
 * (op_shape.c). */
const struct attribute *op_constant_unread(const struct op_call *c);
/* The names that are known, in order; NULL behind the last. */
const char *op_attribute_known(size_t i);

#endif
