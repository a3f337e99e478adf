/* The operator table: the groups of rows, and the first of them, the everyday operators, whose rules stand in the
 * files that are named between the rows. The other groups stand at the end of the file that holds their rules. Rows
 * of one operator stand in one group and follow each other, oldest first; a further row only where the rules or the
 * number of inputs differ. */
#include "config.h"

#include "ops/op.h"

#include "ops/op_rules.h"

/* Notes that several rows share. */
#define COPY "measured as a plain copy of equal bytes"
#define AS_TANH "measured as Tanh"
#define MASKED "with masks, a past or a soft cap as without them (proxy)"
#define RECURRENT "with peepholes, lengths, other activations or directions as plain (proxy)"
#define MANY "of more than two tensors: measured as a plain copy of equal bytes"

/* Rows that are alike. */
#define SHAPE(name, since, until, fewest, most, shape) \
	{ name, "", since, until, fewest, most, CLASS_FREE, shape, NULL, NULL, NULL, NULL }
#define MOVER(name, since, until, fewest, most, shape, cost, is_free) \
	{ name, "", since, until, fewest, most, CLASS_MOVE, shape, cost, op_problem_mover, is_free, COPY }
#define ELTWISE(name, since, note)                                                                           \
	{ name, "", since, 0, 1, 1, CLASS_MEMORY, op_eltwise_shape, op_cost_eltwise, op_eltwise_problem, NULL, \
		note }
#define BINARY(name, since, note)                                                                              \
	{ name, "", since, 0, 2, 2, CLASS_MEMORY, op_binary_shape, op_binary_cost, op_binary_problem, NULL, note }
#define VARIADIC(name)                                                                               \
	{ name, "", 1, 0, 1, -1, CLASS_MEMORY, op_binary_shape, op_binary_cost, op_binary_problem, \
		op_binary_free, MANY }
#define REDUCE(name, since, until, most, note)                                                               \
	{ name, "", since, until, 1, most, CLASS_MEMORY, op_reduce_shape, op_reduce_cost, op_reduce_problem, \
		op_reduce_free, note }

/* name, domain, since, until, fewest and most inputs, class, shape, cost, problem, is_free, note */
static const struct op everyday[] = {
	/* op_conv.c, op_pool.c, op_gemm.c, op_norm.c, op_resize.c */
	{ "Conv", "", 1, 0, 2, 3, CLASS_COMPUTE, op_conv_shape, op_conv_cost, op_conv_problem, NULL, NULL },
	{ "ConvTranspose", "", 1, 0, 2, 3, CLASS_COMPUTE, op_deconv_shape, op_deconv_cost, op_deconv_problem,
		NULL, NULL },
	{ "DeformConv", "", 19, 0, 3, 5, CLASS_COMPUTE, op_deform_conv_shape, op_deform_conv_cost,
		op_deform_conv_problem, NULL, "measured as the convolution alone (proxy)" },
	{ "Col2Im", "", 18, 0, 3, 3, CLASS_MEMORY, op_col2im_shape, op_col2im_cost, op_problem_mover, NULL, COPY },
	{ "MaxPool", "", 1, 0, 1, 1, CLASS_MEMORY, op_pool_shape, op_pool_cost, op_pool_problem, NULL,
		"where places are asked for, as without them (proxy)" },
	{ "AveragePool", "", 1, 0, 1, 1, CLASS_MEMORY, op_pool_shape, op_pool_cost, op_pool_problem, NULL,
		NULL },
	{ "LpPool", "", 1, 0, 1, 1, CLASS_MEMORY, op_pool_shape, op_lp_pool_cost, op_lp_pool_problem, NULL,
		"priced in FLOPs and bytes, not measured" },
	{ "GlobalAveragePool", "", 1, 0, 1, 1, CLASS_MEMORY, op_global_pool_shape, op_global_pool_cost,
		op_global_pool_problem, op_global_pool_free, NULL },
	{ "GlobalMaxPool", "", 1, 0, 1, 1, CLASS_MEMORY, op_global_pool_shape, op_global_pool_cost,
		op_global_pool_problem, op_global_pool_free, NULL },
	{ "GlobalLpPool", "", 1, 0, 1, 1, CLASS_MEMORY, op_global_pool_shape, op_global_lp_pool_cost,
		op_global_lp_pool_problem, NULL, "other powers than 2 measured as it" },
	{ "MaxUnpool", "", 9, 0, 2, 3, CLASS_MOVE, op_max_unpool_shape, op_max_unpool_cost, op_problem_mover, NULL,
		COPY },
	{ "Gemm", "", 1, 10, 3, 3, CLASS_COMPUTE, op_gemm_shape, op_gemm_cost, op_gemm_problem, NULL, NULL },
	{ "Gemm", "", 11, 0, 2, 3, CLASS_COMPUTE, op_gemm_shape, op_gemm_cost, op_gemm_problem, NULL, NULL },
	{ "MatMul", "", 1, 0, 2, 2, CLASS_COMPUTE, op_matmul_shape, op_matmul_cost, op_matmul_problem, NULL,
		NULL },
	{ "Einsum", "", 12, 0, 1, -1, CLASS_COMPUTE, op_einsum_shape, op_einsum_cost, op_einsum_problem,
		NULL, "of two tensors as the matrix product that it is, or whose work it does (proxy); of one as a copy" },
	{ "BatchNormalization", "", 1, 0, 5, 5, CLASS_MEMORY, op_batchnorm_shape, op_batchnorm_cost,
		op_batchnorm_problem, NULL, "inference" },
	{ "LayerNormalization", "", 1, 0, 2, 3, CLASS_MEMORY, op_layernorm_shape, op_layernorm_cost,
		op_layernorm_problem, NULL, "before opset 17 ONNX Runtime's own" },
	{ "RMSNormalization", "", 23, 0, 2, 2, CLASS_MEMORY, op_layernorm_shape, op_rms_norm_cost,
		op_rms_norm_problem, NULL, NULL },
	{ "SimplifiedLayerNormalization", "", 1, 0, 2, 2, CLASS_MEMORY, op_layernorm_shape, op_rms_norm_cost,
		op_rms_norm_problem, NULL, "ONNX Runtime's name of RMSNormalization" },
	{ "InstanceNormalization", "", 1, 0, 3, 3, CLASS_MEMORY, op_instance_norm_shape,
		op_instance_norm_cost, op_instance_norm_problem, NULL, NULL },
	{ "GroupNormalization", "", 18, 0, 3, 3, CLASS_MEMORY, op_instance_norm_shape, op_instance_norm_cost,
		op_group_norm_problem, NULL, "measured as a layer normalization (proxy)" },
	{ "Softmax", "", 1, 0, 1, 1, CLASS_MEMORY, op_softmax_shape, op_softmax_cost, op_softmax_problem,
		NULL, NULL },
	{ "LogSoftmax", "", 1, 0, 1, 1, CLASS_MEMORY, op_softmax_shape, op_softmax_cost, op_softmax_problem,
		NULL, NULL },
	{ "Hardmax", "", 1, 0, 1, 1, CLASS_MEMORY, op_softmax_shape, op_hardmax_cost, op_hardmax_problem, NULL,
		"measured as Softmax" },
	{ "LpNormalization", "", 1, 0, 1, 1, CLASS_MEMORY, op_lp_normalization_shape, op_lp_normalization_cost,
		op_lp_normalization_problem, NULL, "measured as RMSNormalization or Softmax" },
	{ "MeanVarianceNormalization", "", 1, 0, 1, 1, CLASS_MEMORY, op_mean_variance_shape, op_mean_variance_cost,
		op_mean_variance_problem, NULL, "measured as LayerNormalization" },
	{ "LRN", "", 1, 0, 1, 1, CLASS_MEMORY, op_lrn_shape, op_lrn_cost, op_lrn_problem, NULL, NULL },
	{ "Dropout", "", 1, 0, 1, 3, CLASS_MEMORY, op_dropout_shape, op_dropout_cost, op_dropout_problem,
		op_dropout_free, "free at inference" },
	{ "Resize", "", 10, 10, 2, 2, CLASS_MEMORY, op_resize_shape, op_resize_cost, op_resize_problem, NULL,
		NULL },
	{ "Resize", "", 11, 0, 1, 4, CLASS_MEMORY, op_resize_shape, op_resize_cost, op_resize_problem, NULL,
		"nearest and linear; cubic and antialiased as a copy (proxy)" },
	{ "Upsample", "", 1, 8, 1, 1, CLASS_MEMORY, op_resize_shape, op_resize_cost, op_resize_problem, NULL,
		NULL },
	{ "Upsample", "", 9, 0, 2, 2, CLASS_MEMORY, op_resize_shape, op_resize_cost, op_resize_problem, NULL,
		NULL },

	/* op_attention.c, op_rnn.c */
	{ "Attention", "", 23, 23, 3, 6, CLASS_COMPUTE, op_attention_shape, op_attention_cost,
		op_attention_problem, NULL, MASKED },
	{ "Attention", "", 24, 0, 3, 7, CLASS_COMPUTE, op_attention_shape, op_attention_cost,
		op_attention_problem, NULL, MASKED },
	{ "GRU", "", 1, 0, 3, 6, CLASS_COMPUTE, op_rnn_shape, op_rnn_cost, op_rnn_problem, NULL, RECURRENT },
	{ "LSTM", "", 1, 0, 3, 8, CLASS_COMPUTE, op_rnn_shape, op_rnn_cost, op_rnn_problem, NULL, RECURRENT },
	{ "RNN", "", 1, 0, 3, 6, CLASS_COMPUTE, op_rnn_shape, op_rnn_cost, op_rnn_problem, NULL, RECURRENT },

	/* op_shape.c */
	SHAPE("Shape", 1, 0, 1, 1, op_shape_shape),
	SHAPE("Size", 1, 0, 1, 1, op_size_shape),
	SHAPE("Reshape", 1, 4, 1, 1, op_reshape_shape),
	SHAPE("Reshape", 5, 0, 2, 2, op_reshape_shape),
	SHAPE("Flatten", 1, 0, 1, 1, op_flatten_shape),
	SHAPE("Squeeze", 1, 12, 1, 1, op_squeeze_shape),
	SHAPE("Squeeze", 13, 0, 1, 2, op_squeeze_shape),
	SHAPE("Unsqueeze", 1, 12, 1, 1, op_unsqueeze_shape),
	SHAPE("Unsqueeze", 13, 0, 2, 2, op_unsqueeze_shape),
	SHAPE("Constant", 1, 0, 0, 0, op_constant_shape),
	{ "ConstantOfShape", "", 9, 0, 1, 1, CLASS_MOVE, op_constant_of_shape_shape,
		op_constant_of_shape_cost, op_constant_of_shape_problem, NULL, COPY },
	MOVER("Range", 11, 0, 3, 3, op_range_shape, op_cost_move, NULL),
	{ "EyeLike", "", 9, 0, 1, 1, CLASS_MOVE, op_eye_like_shape, op_constant_of_shape_cost,
		op_constant_of_shape_problem, NULL, COPY },
	/* op_cast.c */
	{ "Cast", "", 1, 0, 1, 1, CLASS_MOVE, op_cast_shape, op_cast_cost, op_cast_problem, op_cast_free,
		"64-bit and other rare types: a copy of equal bytes" },
	{ "CastLike", "", 15, 0, 2, 2, CLASS_MOVE, op_cast_like_shape, op_cast_cost, op_cast_problem,
		op_cast_free, NULL },
	SHAPE("BitCast", 26, 0, 1, 1, op_bit_cast_shape),

	/* op_move.c, op_slice.c, op_pad.c */
	{ "Transpose", "", 1, 0, 1, 1, CLASS_MOVE, op_transpose_shape, op_cost_move, op_transpose_problem,
		op_transpose_free, NULL },
	{ "Concat", "", 1, 0, 1, -1, CLASS_MOVE, op_concat_shape, op_cost_move, op_concat_problem,
		op_concat_free, NULL },
	MOVER("Split", 1, 1, 1, 2, op_split_shape, op_taken_cost, op_split_free),
	MOVER("Split", 2, 12, 1, 1, op_split_shape, op_taken_cost, op_split_free),
	MOVER("Split", 13, 0, 1, 2, op_split_shape, op_taken_cost, op_split_free),
	MOVER("Slice", 1, 9, 1, 1, op_slice_shape, op_taken_cost, op_slice_free),
	MOVER("Slice", 10, 0, 3, 5, op_slice_shape, op_taken_cost, op_slice_free),
	MOVER("Expand", 8, 0, 2, 2, op_expand_shape, op_first_cost, op_same_shape_free),
	MOVER("Tile", 1, 5, 3, 3, op_tile_old_shape, op_first_cost, op_same_shape_free),
	MOVER("Tile", 6, 0, 2, 2, op_tile_shape, op_first_cost, op_same_shape_free),
	MOVER("Pad", 1, 10, 1, 1, op_pad_shape, op_first_cost, op_pad_free),
	MOVER("Pad", 11, 0, 2, 4, op_pad_shape, op_first_cost, op_pad_free),
	MOVER("CenterCropPad", 18, 0, 2, 2, op_center_crop_pad_shape, op_center_crop_pad_cost, op_same_shape_free),
	MOVER("DepthToSpace", 1, 0, 1, 1, op_depth_to_space_shape, op_cost_move, NULL),
	MOVER("SpaceToDepth", 1, 0, 1, 1, op_space_to_depth_shape, op_cost_move, NULL),

	/* op_gather.c */
	{ "Gather", "", 1, 0, 2, 2, CLASS_MOVE, op_gather_shape, op_gather_cost, op_gather_problem, NULL,
		NULL },
	MOVER("GatherElements", 11, 0, 2, 2, op_gather_elements_shape, op_gather_cost, NULL),
	MOVER("GatherND", 11, 0, 2, 2, op_gather_nd_shape, op_gather_cost, NULL),
	MOVER("ScatterND", 11, 0, 3, 3, op_scatter_nd_shape, op_cost_move, NULL),
	MOVER("ScatterElements", 11, 0, 3, 3, op_scatter_elements_shape, op_cost_move, NULL),
	MOVER("Scatter", 9, 0, 3, 3, op_scatter_elements_shape, op_cost_move, NULL),
	{ "Where", "", 9, 0, 3, 3, CLASS_MOVE, op_where_shape, op_cost_move, op_where_problem, NULL, NULL },
	MOVER("OneHot", 9, 0, 3, 3, op_one_hot_shape, op_cost_move, NULL),
	{ "NonZero", "", 9, 0, 1, 1, CLASS_MOVE, op_nonzero_shape, op_cost_move, op_problem_mover, NULL,
		"the size of its output is known only when it has run" },
	MOVER("Trilu", 14, 0, 1, 2, op_trilu_shape, op_first_cost, NULL),
	MOVER("ReverseSequence", 10, 0, 2, 2, op_reverse_sequence_shape, op_cost_move, NULL),

	/* op_eltwise.c, op_binary.c */
	ELTWISE("Abs", 1, NULL),
	ELTWISE("Acos", 7, AS_TANH),
	ELTWISE("Acosh", 9, AS_TANH),
	ELTWISE("Asin", 7, AS_TANH),
	ELTWISE("Asinh", 9, AS_TANH),
	ELTWISE("Atan", 7, AS_TANH),
	ELTWISE("Atanh", 9, AS_TANH),
	ELTWISE("Ceil", 1, "measured as rounding"),
	ELTWISE("Celu", 12, "measured as Elu"),
	{ "Clip", "", 1, 10, 1, 1, CLASS_MEMORY, op_eltwise_shape, op_cost_eltwise, op_eltwise_problem,
		op_clip_free, NULL },
	{ "Clip", "", 11, 0, 1, 3, CLASS_MEMORY, op_eltwise_shape, op_cost_eltwise, op_eltwise_problem,
		op_clip_free, NULL },
	ELTWISE("Cos", 7, AS_TANH),
	ELTWISE("Cosh", 9, AS_TANH),
	ELTWISE("Elu", 1, NULL),
	ELTWISE("Erf", 9, "measured as erf-Gelu"),
	ELTWISE("Exp", 1, NULL),
	ELTWISE("Floor", 1, "measured as rounding"),
	ELTWISE("Gelu", 20, NULL),
	ELTWISE("HardSigmoid", 1, NULL),
	ELTWISE("HardSwish", 14, NULL),
	ELTWISE("LeakyRelu", 1, NULL),
	ELTWISE("Log", 1, NULL),
	ELTWISE("Mish", 18, NULL),
	ELTWISE("Neg", 1, NULL),
	ELTWISE("Reciprocal", 1, NULL),
	ELTWISE("Relu", 1, NULL),
	ELTWISE("Round", 11, NULL),
	ELTWISE("Selu", 1, "measured as Elu"),
	ELTWISE("Shrink", 9, "measured as Clip"),
	ELTWISE("Sigmoid", 1, NULL),
	ELTWISE("Sign", 9, "measured as Abs"),
	ELTWISE("Sin", 7, AS_TANH),
	ELTWISE("Sinh", 9, AS_TANH),
	ELTWISE("Softplus", 1, NULL),
	ELTWISE("Softsign", 1, "measured as Sigmoid"),
	ELTWISE("Sqrt", 1, NULL),
	ELTWISE("Swish", 24, NULL),
	ELTWISE("Tan", 7, AS_TANH),
	ELTWISE("Tanh", 1, NULL),
	ELTWISE("ThresholdedRelu", 1, "measured as Relu"),
	{ "Gelu", "com.microsoft", 1, 0, 1, 1, CLASS_MEMORY, op_eltwise_shape, op_cost_eltwise,
		op_eltwise_problem, NULL, NULL },
	{ "QuickGelu", "com.microsoft", 1, 0, 1, 1, CLASS_MEMORY, op_eltwise_shape, op_cost_eltwise,
		op_eltwise_problem, NULL, NULL },
	{ "Not", "", 1, 0, 1, 1, CLASS_MEMORY, op_not_shape, op_cost_eltwise, op_problem_mover, NULL, COPY },
	{ "BitwiseNot", "", 18, 0, 1, 1, CLASS_MEMORY, op_bitwise_not_shape, op_cost_eltwise, op_problem_mover,
		NULL, COPY },
	{ "IsNaN", "", 9, 0, 1, 1, CLASS_MEMORY, op_test_shape, op_cost_eltwise, op_problem_mover, NULL,
		COPY },
	{ "IsInf", "", 10, 0, 1, 1, CLASS_MEMORY, op_test_shape, op_cost_eltwise, op_problem_mover, NULL,
		COPY },
	BINARY("Add", 1, NULL),
	BINARY("And", 1, COPY),
	BINARY("BitShift", 11, COPY),
	BINARY("BitwiseAnd", 18, COPY),
	BINARY("BitwiseOr", 18, COPY),
	BINARY("BitwiseXor", 18, COPY),
	BINARY("Div", 1, NULL),
	BINARY("Equal", 1, NULL),
	BINARY("Greater", 1, NULL),
	BINARY("GreaterOrEqual", 12, NULL),
	BINARY("Less", 1, NULL),
	BINARY("LessOrEqual", 12, NULL),
	BINARY("Mod", 10, "measured as Div"),
	BINARY("Mul", 1, NULL),
	BINARY("Or", 1, COPY),
	BINARY("PRelu", 1, "measured as Mul"),
	BINARY("Pow", 1, "by a tensor: measured as Mul"),
	BINARY("Sub", 1, NULL),
	BINARY("Xor", 1, COPY),
	VARIADIC("Max"),
	VARIADIC("Mean"),
	VARIADIC("Min"),
	VARIADIC("Sum"),

	/* op_reduce.c */
	REDUCE("ReduceL1", 1, 17, 1, "measured as ReduceSum"),
	REDUCE("ReduceL1", 18, 0, 2, "measured as ReduceSum"),
	REDUCE("ReduceL2", 1, 17, 1, NULL),
	REDUCE("ReduceL2", 18, 0, 2, NULL),
	REDUCE("ReduceLogSum", 1, 17, 1, "measured as ReduceSum"),
	REDUCE("ReduceLogSum", 18, 0, 2, "measured as ReduceSum"),
	REDUCE("ReduceLogSumExp", 1, 17, 1, "measured as ReduceSum"),
	REDUCE("ReduceLogSumExp", 18, 0, 2, "measured as ReduceSum"),
	REDUCE("ReduceMax", 1, 17, 1, NULL),
	REDUCE("ReduceMax", 18, 0, 2, NULL),
	REDUCE("ReduceMean", 1, 17, 1, NULL),
	REDUCE("ReduceMean", 18, 0, 2, NULL),
	REDUCE("ReduceMin", 1, 17, 1, NULL),
	REDUCE("ReduceMin", 18, 0, 2, NULL),
	REDUCE("ReduceProd", 1, 17, 1, NULL),
	REDUCE("ReduceProd", 18, 0, 2, NULL),
	REDUCE("ReduceSum", 1, 12, 1, NULL),
	REDUCE("ReduceSum", 13, 0, 2, NULL),
	REDUCE("ReduceSumSquare", 1, 17, 1, "measured as ReduceL2"),
	REDUCE("ReduceSumSquare", 18, 0, 2, "measured as ReduceL2"),
	{ "ArgMax", "", 1, 0, 1, 1, CLASS_MEMORY, op_arg_shape, op_arg_cost, op_arg_problem, NULL,
		"the last index as the first (proxy)" },
	{ "ArgMin", "", 1, 0, 1, 1, CLASS_MEMORY, op_arg_shape, op_arg_cost, op_arg_problem, NULL,
		"the last index as the first (proxy)" },
	{ "TopK", "", 1, 9, 1, 1, CLASS_MEMORY, op_top_k_shape, op_arg_cost, op_top_k_problem, NULL, NULL },
	{ "TopK", "", 10, 0, 2, 2, CLASS_MEMORY, op_top_k_shape, op_arg_cost, op_top_k_problem, NULL,
		"unsorted as sorted (proxy)" },
	{ "CumSum", "", 11, 0, 2, 2, CLASS_MEMORY, op_cum_sum_shape, op_cum_sum_cost, op_cum_sum_problem, NULL,
		"exclusive and reverse as plain (proxy)" },
	{ "CumProd", "", 26, 0, 2, 2, CLASS_MEMORY, op_cum_sum_shape, op_cum_sum_cost, op_cum_prod_problem, NULL,
		"measured as CumSum" },
	{ "Det", "", 11, 0, 1, 1, CLASS_MEMORY, op_det_shape, op_det_cost, op_problem_mover, NULL, COPY },
};

static const struct op_rows everyday_rows = OP_ROWS(everyday);

static const struct op_rows *const groups[] = {
	&everyday_rows,
	&op_quant_rows,
	&op_llm_rows,
	&op_microsoft_norm_rows,
	&op_microsoft_attention_rows,
	&op_microsoft_matmul_rows,
	&op_microsoft_ragged_rows,
	&op_microsoft_rest_rows,
	&op_microsoft_alias_rows,
	&op_vision_rows,
	&op_select_rows,
	&op_signal_rows,
	&op_random_rows,
	&op_text_rows,
	&op_ml_rows,
	&op_ml_map_rows,
	&op_loss_rows,
	&op_old_rows,
	&op_sequence_rows,
};
#define GROUP_COUNT (sizeof(groups) / sizeof(groups[0]))

size_t op_row_count(void)
{
	size_t count = 0;
	for (size_t i = 0; i < GROUP_COUNT; i++)
		count += groups[i]->count;
	return count;
}

const struct op *op_row(size_t i)
{
	size_t group = 0;
	while (i >= groups[group]->count)
		i -= groups[group++]->count;
	return &groups[group]->at[i];
}

bool op_row_any_kind(const struct op *op)
{
	for (size_t i = 0; i < GROUP_COUNT; i++) {
		if (groups[i]->any_kind && op >= groups[i]->at && op < groups[i]->at + groups[i]->count)
			return true;
	}
	return false;
}
