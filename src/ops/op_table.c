/* The operator table. Rows of one operator follow each other, oldest first; a further row only where the rules or
 * the number of inputs differ. */
#include "config.h"

#include "ops/op.h"

#include "ops/op_rules.h"

/* name, domain, since, until, fewest and most inputs, class, shape, cost, problem, is_free, note */
static const struct op table[] = {
	/* op_conv.c, op_pool.c, op_gemm.c, op_norm.c */

	/* op_shape.c */
	{ "Identity", "", 1, 0, 1, 1, CLASS_FREE, op_identity_shape, NULL, NULL, NULL, NULL },
	{ "Shape", "", 1, 0, 1, 1, CLASS_FREE, op_shape_shape, NULL, NULL, NULL, NULL },
	{ "Size", "", 1, 0, 1, 1, CLASS_FREE, op_size_shape, NULL, NULL, NULL, NULL },
	{ "Reshape", "", 1, 4, 1, 1, CLASS_FREE, op_reshape_shape, NULL, NULL, NULL, NULL },
	{ "Reshape", "", 5, 0, 2, 2, CLASS_FREE, op_reshape_shape, NULL, NULL, NULL, NULL },
	{ "Flatten", "", 1, 0, 1, 1, CLASS_FREE, op_flatten_shape, NULL, NULL, NULL, NULL },
	{ "Squeeze", "", 1, 12, 1, 1, CLASS_FREE, op_squeeze_shape, NULL, NULL, NULL, NULL },
	{ "Squeeze", "", 13, 0, 1, 2, CLASS_FREE, op_squeeze_shape, NULL, NULL, NULL, NULL },
	{ "Unsqueeze", "", 1, 12, 1, 1, CLASS_FREE, op_unsqueeze_shape, NULL, NULL, NULL, NULL },
	{ "Unsqueeze", "", 13, 0, 2, 2, CLASS_FREE, op_unsqueeze_shape, NULL, NULL, NULL, NULL },
	{ "Constant", "", 1, 0, 0, 0, CLASS_FREE, op_constant_shape, NULL, NULL, NULL, NULL },
	{ "ConstantOfShape", "", 9, 0, 1, 1, CLASS_MOVE, op_constant_of_shape_shape, op_constant_of_shape_cost,
		op_constant_of_shape_problem, NULL, "a copy of equal bytes" },
	{ "Range", "", 11, 0, 3, 3, CLASS_MOVE, op_range_shape, op_cost_move, op_problem_mover, NULL,
		"a copy of equal bytes" },
	{ "Cast", "", 1, 0, 1, 1, CLASS_MOVE, op_cast_shape, op_cast_cost, op_cast_problem, op_cast_free,
		"64-bit and other rare types: a copy of equal bytes" },
	{ "CastLike", "", 15, 0, 2, 2, CLASS_MOVE, op_cast_like_shape, op_cast_cost, op_cast_problem, op_cast_free, NULL },

	/* op_move.c */

	/* op_eltwise.c */

	/* op_reduce.c */
};

const struct op *op_table(size_t *count)
{
	*count = sizeof(table) / sizeof(table[0]);
	return table;
}
