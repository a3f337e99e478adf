/* Modes of problems as algorithms of oneDNN. */
#include "config.h"

#include "runner/onednn/onednn_case_private.h"

/* Modes that are one oneDNN algorithm. alpha and beta are for modes that have no parameters of their own. */
static const struct onednn_mode mode_rows[] = {
	{ MODE_MAX, dnnl_pooling_max, 0, 0 },
	{ MODE_AVG_INCLUDE, dnnl_pooling_avg_include_padding, 0, 0 },
	{ MODE_AVG_EXCLUDE, dnnl_pooling_avg_exclude_padding, 0, 0 },
	{ MODE_SOFTMAX, dnnl_softmax_accurate, 0, 0 },
	{ MODE_LOGSOFTMAX, dnnl_softmax_log, 0, 0 },
	{ MODE_NEAREST, dnnl_resampling_nearest, 0, 0 },
	{ MODE_LINEAR, dnnl_resampling_linear, 0, 0 },
	{ MODE_LRN_ACROSS, dnnl_lrn_across_channels, 0, 0 },
	{ MODE_RELU, dnnl_eltwise_relu, 0, 0 },
	{ MODE_LEAKY_RELU, dnnl_eltwise_relu, 0, 0 },
	{ MODE_CLIP, dnnl_eltwise_clip_v2, 0, 0 },
	{ MODE_SIGMOID, dnnl_eltwise_logistic, 0, 0 },
	{ MODE_TANH, dnnl_eltwise_tanh, 0, 0 },
	{ MODE_GELU_ERF, dnnl_eltwise_gelu_erf, 0, 0 },
	{ MODE_GELU_TANH, dnnl_eltwise_gelu_tanh, 0, 0 },
	{ MODE_SWISH, dnnl_eltwise_swish, 0, 0 },
	{ MODE_HARD_SWISH, dnnl_eltwise_hardswish, 1.0f / 6, 0.5f },
	{ MODE_ELU, dnnl_eltwise_elu, 0, 0 },
	{ MODE_SOFTPLUS, dnnl_eltwise_soft_relu, 1, 0 },
	{ MODE_MISH, dnnl_eltwise_mish, 0, 0 },
	{ MODE_EXP, dnnl_eltwise_exp, 0, 0 },
	{ MODE_LOG, dnnl_eltwise_log, 0, 0 },
	{ MODE_SQRT, dnnl_eltwise_sqrt, 0, 0 },
	{ MODE_ABS, dnnl_eltwise_abs, 0, 0 },
	{ MODE_SQUARE, dnnl_eltwise_square, 0, 0 },
	{ MODE_POW, dnnl_eltwise_pow, 0, 0 },
	{ MODE_ROUND, dnnl_eltwise_round, 0, 0 },
	{ MODE_LINEAR_MAP, dnnl_eltwise_linear, 0, 0 },
	{ MODE_ADD, dnnl_binary_add, 0, 0 },
	{ MODE_SUB, dnnl_binary_sub, 0, 0 },
	{ MODE_MUL, dnnl_binary_mul, 0, 0 },
	{ MODE_DIV, dnnl_binary_div, 0, 0 },
	{ MODE_MAXIMUM, dnnl_binary_max, 0, 0 },
	{ MODE_MINIMUM, dnnl_binary_min, 0, 0 },
	{ MODE_GREATER, dnnl_binary_gt, 0, 0 },
	{ MODE_GREATER_EQ, dnnl_binary_ge, 0, 0 },
	{ MODE_LESS, dnnl_binary_lt, 0, 0 },
	{ MODE_LESS_EQ, dnnl_binary_le, 0, 0 },
	{ MODE_EQUAL, dnnl_binary_eq, 0, 0 },
	{ MODE_REDUCE_SUM, dnnl_reduction_sum, 0, 0 },
	{ MODE_REDUCE_MEAN, dnnl_reduction_mean, 0, 0 },
	{ MODE_REDUCE_MAX, dnnl_reduction_max, 0, 0 },
	{ MODE_REDUCE_MIN, dnnl_reduction_min, 0, 0 },
	{ MODE_REDUCE_MUL, dnnl_reduction_mul, 0, 0 },
	{ MODE_REDUCE_L2, dnnl_reduction_norm_lp_sum, 2, 0 },
};

static const struct onednn_mode *mode_find(enum mode m)
{
	for (size_t i = 0; i < sizeof(mode_rows) / sizeof(mode_rows[0]); i++)
		if (mode_rows[i].mode == m)
			return &mode_rows[i];
	return NULL;
}

bool onednn_mode_resolve(enum mode m, float alpha, float beta, struct onednn_mode *out)
{
	const struct onednn_mode *row = mode_find(m);
	if (!row)
		return false;
	*out = *row;
	if (mode_parameters(m) > 0)
		out->alpha = alpha;
	if (mode_parameters(m) > 1)
		out->beta = beta;
	return true;
}
