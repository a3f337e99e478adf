/* Attributes by name, with the kinds that the schemas of ONNX and ONNX Runtime declare: a name nearly always
 * has one kind. */
#include "config.h"

#include "ops/rules/op_attribute.h"

#include <stdlib.h>

#define IS(kind) (1u << ATTRIBUTE_##kind)

/* Sorted by name: those that rules read. Written by tools/make_attributes.py. */
static const struct attribute_row {
	const char *name;
	unsigned kinds;
} rows[] = {
	{ "K", IS(INT) }, { "N", IS(INT) }, { "Nkv", IS(INT) }, { "Nq", IS(INT) },
	{ "across_channels", IS(INT) }, { "activation", IS(INT) | IS(STRING) },
	{ "activation_alpha", IS(FLOAT) | IS(FLOATS) }, { "activation_beta", IS(FLOAT) | IS(FLOATS) },
	{ "activation_params", IS(FLOATS) }, { "activation_type", IS(STRING) }, { "activations", IS(STRINGS) },
	{ "allowzero", IS(INT) }, { "alpha", IS(FLOAT) }, { "antialias", IS(INT) },
	{ "approximate", IS(STRING) }, { "auto_pad", IS(STRING) }, { "axes", IS(INTS) }, { "axis", IS(INT) },
	{ "batch_axis", IS(INT) }, { "batch_dims", IS(INT) }, { "beta", IS(FLOAT) },
	{ "beta_activation", IS(STRING) }, { "bits", IS(INT) }, { "blk_quant_type", IS(INT) },
	{ "block_dim", IS(INT) }, { "block_size", IS(INT) }, { "blocksize", IS(INT) }, { "body", IS(GRAPH) },
	{ "border", IS(INTS) }, { "broadcast", IS(INT) }, { "causal", IS(INT) }, { "ceil_mode", IS(INT) },
	{ "channels", IS(INT) }, { "channels_last", IS(INT) }, { "clip", IS(FLOAT) },
	{ "compress_ratio", IS(INT) }, { "coordinate_transformation_mode", IS(STRING) },
	{ "count_include_pad", IS(INT) }, { "d_state", IS(INT) }, { "detect_negative", IS(INT) },
	{ "detect_positive", IS(INT) }, { "dilation", IS(INT) }, { "dilations", IS(INTS) }, { "dim", IS(INT) },
	{ "direction", IS(STRING) }, { "do_rotary", IS(INT) }, { "dtype", IS(INT) },
	{ "else_branch", IS(GRAPH) }, { "embedding_size", IS(INT) }, { "end", IS(INT) }, { "ends", IS(INTS) },
	{ "equation", IS(STRING) }, { "exclusive", IS(INT) }, { "expert_weight_bits", IS(INT) },
	{ "extra_shape", IS(INTS) }, { "fc1_expert_weight_bits", IS(INT) },
	{ "fc2_expert_weight_bits", IS(INT) }, { "fc3_expert_weight_bits", IS(INT) },
	{ "flatten_batch", IS(INT) }, { "fmod", IS(INT) }, { "gate_activation", IS(STRING) },
	{ "gather_axis", IS(INT) }, { "group", IS(INT) }, { "groups", IS(INT) }, { "head_dim", IS(INT) },
	{ "heads", IS(INT) }, { "height_scale", IS(FLOAT) }, { "hidden_size", IS(INT) },
	{ "index_topk", IS(INT) }, { "input_as_shape", IS(INT) }, { "input_channels", IS(INT) },
	{ "input_forget", IS(INT) }, { "input_start", IS(INT) }, { "input_width", IS(INT) },
	{ "inverse", IS(INT) }, { "is_causal", IS(INT) }, { "is_test", IS(INT) }, { "k", IS(INT) },
	{ "keep_aspect_ratio_policy", IS(STRING) }, { "keepdims", IS(INT) }, { "kernel_shape", IS(INTS) },
	{ "kv_num_heads", IS(INT) }, { "largest", IS(INT) }, { "layout", IS(INT) },
	{ "left_window_size", IS(INT) }, { "limit", IS(FLOAT) }, { "linear_before_reset", IS(INT) },
	{ "local_window_size", IS(INT) }, { "lora_bits", IS(INT) }, { "lora_block_size", IS(INT) },
	{ "max", IS(FLOAT) }, { "max_ngram_size", IS(INT) }, { "max_output_boxes", IS(INT) },
	{ "max_output_entries", IS(INT) }, { "maxsplit", IS(INT) }, { "mean", IS(FLOAT) }, { "min", IS(FLOAT) },
	{ "mode", IS(STRING) }, { "n_groups", IS(INT) }, { "n_head_per_ngram", IS(INT) }, { "ndim", IS(INT) },
	{ "new_axis", IS(INT) }, { "ngram_indexes", IS(INTS) }, { "noop_with_empty_axes", IS(INT) },
	{ "num_branches", IS(INT) }, { "num_groups", IS(INT) }, { "num_heads", IS(INT) },
	{ "num_outputs", IS(INT) }, { "num_scan_inputs", IS(INT) }, { "onesided", IS(INT) },
	{ "opset", IS(INT) }, { "output_datatype", IS(INT) }, { "output_dtype", IS(INT) },
	{ "output_fp16", IS(INT) }, { "output_height", IS(INT) }, { "output_padding", IS(INTS) },
	{ "output_shape", IS(INTS) }, { "output_width", IS(INT) }, { "p", IS(FLOAT) | IS(INT) },
	{ "paddings", IS(INTS) }, { "pads", IS(INTS) }, { "past_present_share_buffer", IS(INT) },
	{ "perm", IS(INTS) }, { "pixel_format", IS(STRING) }, { "policy_mode", IS(STRING) },
	{ "pooled_shape", IS(INTS) }, { "pooled_size", IS(INT) }, { "positive", IS(INT) },
	{ "prob_mod", IS(GRAPH) }, { "q_num_heads", IS(INT) }, { "qk_l2_norm", IS(INT) },
	{ "qkv_hidden_sizes", IS(INTS) }, { "quant_type", IS(INT) | IS(STRING) }, { "ratio", IS(FLOAT) },
	{ "reduction", IS(STRING) }, { "reverse", IS(INT) }, { "right_window_size", IS(INT) },
	{ "rotary_embedding_dim", IS(INT) }, { "router_size", IS(INT) }, { "sample_size", IS(INT) },
	{ "sampling_ratio", IS(INT) }, { "saturate", IS(INT) }, { "scale", IS(FLOAT) | IS(INTS) },
	{ "scales", IS(FLOATS) | IS(INTS) }, { "scan_input_axes", IS(INTS) }, { "scan_output_axes", IS(INTS) },
	{ "score_mod", IS(GRAPH) }, { "select_last_index", IS(INT) }, { "shape", IS(INTS) },
	{ "signal_ndim", IS(INT) }, { "size", IS(INT) }, { "sliding_window_cache", IS(INT) },
	{ "smooth_softmax", IS(INT) }, { "softcap", IS(FLOAT) }, { "sorted", IS(INT) }, { "span", IS(INT) },
	{ "split", IS(INTS) }, { "start", IS(INT) }, { "starts", IS(INTS) }, { "stash_type", IS(INT) },
	{ "state_capacity", IS(INT) }, { "state_channels_last", IS(INT) }, { "state_length", IS(INT) },
	{ "state_update_capacity", IS(INT) }, { "state_window", IS(INT) }, { "step", IS(INT) },
	{ "stopwords", IS(STRINGS) }, { "strides", IS(INTS) }, { "swiglu_fusion", IS(INT) },
	{ "then_branch", IS(GRAPH) }, { "time_axis", IS(INT) }, { "to", IS(INT) | IS(STRING) },
	{ "token_budget", IS(INT) }, { "training_mode", IS(INT) }, { "transA", IS(INT) }, { "transB", IS(INT) },
	{ "transBatchA", IS(INT) }, { "transBatchB", IS(INT) }, { "unidirectional", IS(INT) },
	{ "update_rule", IS(STRING) }, { "upper", IS(INT) }, { "v_head_size", IS(INT) },
	{ "value", IS(FLOAT) | IS(TENSOR) }, { "value_float", IS(FLOAT) }, { "value_floats", IS(FLOATS) },
	{ "value_int", IS(INT) }, { "value_ints", IS(INTS) }, { "value_string", IS(STRING) },
	{ "value_strings", IS(STRINGS) }, { "values", IS(FLOATS) }, { "vocab_size", IS(INT) },
	{ "weight_prepacked", IS(INT) }, { "width_scale", IS(FLOAT) }, { "xs", IS(STRINGS) },
};

static int row_compare(const void *key, const void *row)
{
	return text_compare(*(const struct text *)key, text_of(((const struct attribute_row *)row)->name));
}

bool op_attribute_fits(const struct attribute *a)
{
	const struct attribute_row *row =
		bsearch(&a->name, rows, sizeof(rows) / sizeof(rows[0]), sizeof(rows[0]), row_compare);
	return !row || row->kinds & 1u << a->kind;
}

const char *op_attribute_known(size_t i)
{
	return i < sizeof(rows) / sizeof(rows[0]) ? rows[i].name : NULL;
}
