/* A described operator, compiled. Private to the room. */
#ifndef OPS_OP_OWN_PRIVATE_H
#define OPS_OP_OWN_PRIVATE_H

#include "ops/op_own.h"
#include "problem/expression.h"

struct op_own {
	struct op op;              /* the first member: rules find the rest by it */
	const char *place;
	const struct op_own_given *given;
	int input_count;           /* names of inputs; 0: none is given, any number */
	struct text inputs[OP_OWN_VALUES];
	int output_count;
	struct op_own_type {
		enum dtype dtype;  /* DTYPE_UNKNOWN: that of an input */
		int input;
	} types[OP_OWN_VALUES];
	struct computed defaults[OP_OWN_VALUES]; /* of the attributes that are given */
	struct assumption time;
};

/* The rules of every described operator. */
int op_own_shape(struct op_call *c, struct error *err);
void op_own_cost(const struct op_call *c, struct op_cost *cost);
void op_own_problem(const struct op_call *c, struct op_problem *out);

/* What expressions are evaluated for. */
struct op_own_call {
	const struct op_own *own;
	const struct op_call *call; /* NULL: none, the entry is checked: nothing is known of any value */
};
/* The value of a name in an expression (expression_name; with: a struct op_own_call). */
expression_name op_own_name;
/* The input or output of that name. 1: found; 0: it is neither; -1: no input or output has that number. */
int op_own_value(
	const struct op_own *own, struct text name, bool *output, int *index, struct error *err);
/* Prepends file, line and key of a value to the error. Returns -1. */
int op_own_wrong(const struct op_own_given *g, enum op_own_key key, int value, struct error *err);
/* Writes a kernel's text with the expressions in braces replaced. 1: done; 0: something is not known, always
 * so
 * without a call; -1 with err. */
int op_own_fill(const struct op_own_call *x, struct arena *a, struct text kernel, struct str *out,
	struct error *err);

#endif
