/* The operator table. Rows of one operator follow each other, oldest first; a further row only where the rules or
 * the number of inputs differ. */
#include "config.h"

#include "ops/op.h"

#include "ops/op_rules.h"

/* name, domain, since, until, fewest and most inputs, class, shape, cost, problem, is_free, note */
static const struct op table[] = {
	/* op_conv.c, op_pool.c, op_gemm.c, op_norm.c */

	/* op_shape.c */
	{ "Identity", "", 1, 0, 1, 1, CLASS_FREE, op_shape_as_input, op_cost_move, NULL, NULL, NULL },

	/* op_move.c */

	/* op_eltwise.c */

	/* op_reduce.c */
};

const struct op *op_table(size_t *count)
{
	*count = sizeof(table) / sizeof(table[0]);
	return table;
}
