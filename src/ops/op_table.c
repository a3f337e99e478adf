/* The operator table. Rows of one operator follow each other, oldest first; a further row only where the rules or
 * the number of inputs differ. */
#include "config.h"

#include "ops/op.h"

#include "ops/op_rules.h"

/* Notes that several rows share. */
#define COPY "measured as a plain copy of equal bytes"

/* name, domain, since, until, fewest and most inputs, class, shape, cost, problem, is_free, note */
static const struct op table[] = {
	/* op_conv.c, op_pool.c, op_gemm.c, op_norm.c, op_resize.c */
	{ "Conv", "", 1, 0, 2, 3, CLASS_COMPUTE, op_conv_shape, op_conv_cost, op_conv_problem, NULL, NULL },
	{ "ConvTranspose", "", 1, 0, 2, 3, CLASS_COMPUTE, op_deconv_shape, op_deconv_cost, op_deconv_problem, NULL,
		"priced in FLOPs and bytes, not measured" },
	{ "MaxPool", "", 1, 0, 1, 1, CLASS_MEMORY, op_pool_shape, op_pool_cost, op_pool_problem, NULL,
		"Indices are not measured" },
	{ "AveragePool", "", 1, 0, 1, 1, CLASS_MEMORY, op_pool_shape, op_pool_cost, op_pool_problem, NULL, NULL },
	{ "LpPool", "", 2, 0, 1, 1, CLASS_MEMORY, op_pool_shape, op_lp_pool_cost, op_lp_pool_problem, NULL,
		"priced in FLOPs and bytes, not measured" },
	{ "GlobalAveragePool", "", 1, 0, 1, 1, CLASS_MEMORY, op_global_pool_shape, op_global_pool_cost,
		op_global_pool_problem, op_global_pool_free, NULL },
	{ "GlobalMaxPool", "", 1, 0, 1, 1, CLASS_MEMORY, op_global_pool_shape, op_global_pool_cost,
		op_global_pool_problem, op_global_pool_free, NULL },
	{ "Gemm", "", 1, 10, 3, 3, CLASS_COMPUTE, op_gemm_shape, op_gemm_cost, op_gemm_problem, NULL, NULL },
	{ "Gemm", "", 11, 0, 2, 3, CLASS_COMPUTE, op_gemm_shape, op_gemm_cost, op_gemm_problem, NULL, NULL },
	{ "MatMul", "", 1, 0, 2, 2, CLASS_COMPUTE, op_matmul_shape, op_matmul_cost, op_matmul_problem, NULL, NULL },
	{ "Einsum", "", 12, 0, 1, -1, CLASS_COMPUTE, op_einsum_shape, op_einsum_cost, op_einsum_problem, NULL,
		"explicit and implicit equations without ellipsis; not measured" },
	{ "BatchNormalization", "", 1, 0, 5, 5, CLASS_MEMORY, op_batchnorm_shape, op_batchnorm_cost,
		op_batchnorm_problem, NULL, "inference" },
	{ "LayerNormalization", "", 17, 0, 2, 3, CLASS_MEMORY, op_layernorm_shape, op_layernorm_cost,
		op_layernorm_problem, NULL, NULL },
	{ "RMSNormalization", "", 23, 0, 2, 2, CLASS_MEMORY, op_layernorm_shape, op_rms_norm_cost,
		op_rms_norm_problem, NULL, "measured as a layer normalization (proxy)" },
	{ "InstanceNormalization", "", 1, 0, 3, 3, CLASS_MEMORY, op_instance_norm_shape, op_instance_norm_cost,
		op_instance_norm_problem, NULL, "measured as a layer normalization (proxy)" },
	{ "GroupNormalization", "", 18, 0, 3, 3, CLASS_MEMORY, op_instance_norm_shape, op_instance_norm_cost,
		op_instance_norm_problem, NULL, "measured as a layer normalization (proxy)" },
	{ "Softmax", "", 1, 0, 1, 1, CLASS_MEMORY, op_softmax_shape, op_softmax_cost, op_softmax_problem, NULL, NULL },
	{ "LogSoftmax", "", 1, 0, 1, 1, CLASS_MEMORY, op_softmax_shape, op_softmax_cost, op_softmax_problem, NULL,
		NULL },
	{ "LRN", "", 1, 0, 1, 1, CLASS_MEMORY, op_lrn_shape, op_lrn_cost, op_lrn_problem, NULL, NULL },
	{ "Dropout", "", 1, 0, 1, 3, CLASS_FREE, op_dropout_shape, op_cost_move, NULL, NULL, "inference" },
	{ "Resize", "", 10, 10, 2, 2, CLASS_MEMORY, op_resize_shape, op_resize_cost, op_resize_problem, NULL, NULL },
	{ "Resize", "", 11, 0, 1, 4, CLASS_MEMORY, op_resize_shape, op_resize_cost, op_resize_problem, NULL,
		"nearest and linear; cubic and antialiased as a copy (proxy)" },
	{ "Upsample", "", 7, 8, 1, 1, CLASS_MEMORY, op_resize_shape, op_resize_cost, op_resize_problem, NULL, NULL },
	{ "Upsample", "", 9, 9, 2, 2, CLASS_MEMORY, op_resize_shape, op_resize_cost, op_resize_problem, NULL, NULL },

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
		op_constant_of_shape_problem, NULL, COPY },
	{ "Range", "", 11, 0, 3, 3, CLASS_MOVE, op_range_shape, op_cost_move, op_problem_mover, NULL, COPY },
	{ "Cast", "", 1, 0, 1, 1, CLASS_MOVE, op_cast_shape, op_cast_cost, op_cast_problem, op_cast_free,
		"64-bit and other rare types: a copy of equal bytes" },
	{ "CastLike", "", 15, 0, 2, 2, CLASS_MOVE, op_cast_like_shape, op_cast_cost, op_cast_problem, op_cast_free, NULL },

	/* op_move.c, op_slice.c */
	{ "Transpose", "", 1, 0, 1, 1, CLASS_MOVE, op_transpose_shape, op_cost_move, op_transpose_problem,
		op_transpose_free, NULL },
	{ "Concat", "", 1, 0, 1, -1, CLASS_MOVE, op_concat_shape, op_cost_move, op_concat_problem, op_concat_free, NULL },
	{ "Split", "", 2, 12, 1, 1, CLASS_MOVE, op_split_shape, op_taken_cost, op_problem_mover, op_split_free, COPY },
	{ "Split", "", 13, 0, 1, 2, CLASS_MOVE, op_split_shape, op_taken_cost, op_problem_mover, op_split_free, COPY },
	{ "Slice", "", 1, 9, 1, 1, CLASS_MOVE, op_slice_shape, op_taken_cost, op_problem_mover, op_slice_free, COPY },
	{ "Slice", "", 10, 0, 3, 5, CLASS_MOVE, op_slice_shape, op_taken_cost, op_problem_mover, op_slice_free, COPY },
	{ "Expand", "", 8, 0, 2, 2, CLASS_MOVE, op_expand_shape, op_first_cost, op_problem_mover, op_same_shape_free, COPY },
	{ "Tile", "", 6, 0, 2, 2, CLASS_MOVE, op_tile_shape, op_first_cost, op_problem_mover, op_same_shape_free, COPY },
	{ "Pad", "", 1, 10, 1, 1, CLASS_MOVE, op_pad_shape, op_first_cost, op_problem_mover, op_pad_free, COPY },
	{ "Pad", "", 11, 0, 2, 4, CLASS_MOVE, op_pad_shape, op_first_cost, op_problem_mover, op_pad_free, COPY },
	{ "DepthToSpace", "", 1, 0, 1, 1, CLASS_MOVE, op_depth_to_space_shape, op_cost_move, op_problem_mover, NULL, COPY },
	{ "SpaceToDepth", "", 1, 0, 1, 1, CLASS_MOVE, op_space_to_depth_shape, op_cost_move, op_problem_mover, NULL, COPY },

	/* op_gather.c */
	{ "Gather", "", 1, 0, 2, 2, CLASS_MOVE, op_gather_shape, op_gather_cost, op_problem_mover, NULL, COPY },
	{ "GatherElements", "", 11, 0, 2, 2, CLASS_MOVE, op_gather_elements_shape, op_gather_cost, op_problem_mover, NULL,
		COPY },
	{ "GatherND", "", 11, 0, 2, 2, CLASS_MOVE, op_gather_nd_shape, op_gather_cost, op_problem_mover, NULL, COPY },
	{ "ScatterND", "", 11, 0, 3, 3, CLASS_MOVE, op_scatter_nd_shape, op_cost_move, op_problem_mover, NULL, COPY },
	{ "ScatterElements", "", 11, 0, 3, 3, CLASS_MOVE, op_scatter_elements_shape, op_cost_move, op_problem_mover, NULL,
		COPY },
	{ "Scatter", "", 9, 10, 3, 3, CLASS_MOVE, op_scatter_elements_shape, op_cost_move, op_problem_mover, NULL, COPY },
	{ "Where", "", 9, 0, 3, 3, CLASS_MOVE, op_where_shape, op_cost_move, op_problem_mover, NULL, COPY },
	{ "OneHot", "", 9, 0, 3, 3, CLASS_MOVE, op_one_hot_shape, op_cost_move, op_problem_mover, NULL, COPY },
	{ "NonZero", "", 9, 0, 1, 1, CLASS_MOVE, op_nonzero_shape, op_cost_move, op_problem_mover, NULL,
		"the size of its output is known only when it has run" },
	{ "Trilu", "", 14, 0, 1, 2, CLASS_MOVE, op_trilu_shape, op_first_cost, op_problem_mover, NULL, COPY },

	/* op_eltwise.c, op_binary.c */

	/* op_reduce.c */
};

const struct op *op_table(size_t *count)
{
	*count = sizeof(table) / sizeof(table[0]);
	return table;
}
