/* Both major versions of oneDNN behind one set of functions. */
#include "config.h"

#include "runner/onednn/onednn_compat.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* --- memory descriptors --- */

#if DNNL_VERSION_MAJOR >= 3

onednn_md onednn_md_strides(int rank, const int64_t *dims, dnnl_data_type_t type, const int64_t *strides)
{
	dnnl_memory_desc_t md = NULL;
	return dnnl_memory_desc_create_with_strides(&md, rank, dims, type, strides) == dnnl_success ? md
												    : NULL;
}

onednn_md onednn_md_tag(int rank, const int64_t *dims, dnnl_data_type_t type, dnnl_format_tag_t tag)
{
	dnnl_memory_desc_t md = NULL;
	return dnnl_memory_desc_create_with_tag(&md, rank, dims, type, tag) == dnnl_success ? md : NULL;
}

void onednn_md_free(onednn_md md)
{
	if (md)
		dnnl_memory_desc_destroy((dnnl_memory_desc_t)md);
}

void onednn_md_describe(onednn_md md, struct onednn_md_info *info)
{
	*info = (struct onednn_md_info){ 0 };
	dnnl_format_kind_t format = dnnl_format_kind_undef;
	if (!md || dnnl_memory_desc_query(md, dnnl_query_format_kind, &format) != dnnl_success)
		return;
	info->format = format == dnnl_format_kind_any ? ONEDNN_FORMAT_ANY :
		format == dnnl_blocked ? ONEDNN_FORMAT_BLOCKED :
		format == dnnl_format_kind_undef ? ONEDNN_FORMAT_NONE : ONEDNN_FORMAT_OPAQUE;
	dnnl_dims_t *dims = NULL, *strides = NULL, *size = NULL, *dim = NULL;
	dnnl_memory_desc_query(md, dnnl_query_ndims_s32, &info->rank);
	dnnl_memory_desc_query(md, dnnl_query_dims, &dims);
	if (dims)
		memcpy(info->dims, *dims, sizeof(info->dims));
	if (info->format != ONEDNN_FORMAT_BLOCKED)
		return;
	dnnl_memory_desc_query(md, dnnl_query_strides, &strides);
	dnnl_memory_desc_query(md, dnnl_query_inner_nblks_s32, &info->blocks);
	dnnl_memory_desc_query(md, dnnl_query_inner_blks, &size);
	dnnl_memory_desc_query(md, dnnl_query_inner_idxs, &dim);
	if (strides)
		memcpy(info->strides, *strides, sizeof(info->strides));
	for (int i = 0; size && dim && i < info->blocks; i++) {
		info->block_size[i] = (*size)[i];
		info->block_dim[i] = (int)(*dim)[i];
	}
}

#else

static onednn_md md_keep(const dnnl_memory_desc_t *md)
{
	return memcpy(base_malloc(sizeof(*md)), md, sizeof(*md));
}

onednn_md onednn_md_strides(int rank, const int64_t *dims, dnnl_data_type_t type, const int64_t *strides)
{
	dnnl_memory_desc_t md;
	return dnnl_memory_desc_init_by_strides(&md, rank, dims, type, strides) == dnnl_success ? md_keep(&md)
												: NULL;
}

onednn_md onednn_md_tag(int rank, const int64_t *dims, dnnl_data_type_t type, dnnl_format_tag_t tag)
{
	dnnl_memory_desc_t md;
	return dnnl_memory_desc_init_by_tag(&md, rank, dims, type, tag) == dnnl_success ? md_keep(&md) : NULL;
}

void onednn_md_free(onednn_md md)
{
	free((void *)(uintptr_t)md);
}

void onednn_md_describe(onednn_md md, struct onednn_md_info *info)
{
	*info = (struct onednn_md_info){ 0 };
	if (!md)
		return;
	info->format = md->format_kind == dnnl_format_kind_any ? ONEDNN_FORMAT_ANY :
		md->format_kind == dnnl_blocked ? ONEDNN_FORMAT_BLOCKED :
		md->format_kind == dnnl_format_kind_undef ? ONEDNN_FORMAT_NONE : ONEDNN_FORMAT_OPAQUE;
	info->rank = md->ndims;
	memcpy(info->dims, md->dims, sizeof(info->dims));
	if (info->format != ONEDNN_FORMAT_BLOCKED)
		return;
	const dnnl_blocking_desc_t *b = &md->format_desc.blocking;
	memcpy(info->strides, b->strides, sizeof(info->strides));
	info->blocks = b->inner_nblks;
	for (int i = 0; i < b->inner_nblks; i++) {
		info->block_size[i] = b->inner_blks[i];
		info->block_dim[i] = (int)b->inner_idxs[i];
	}
}

#endif

size_t onednn_md_bytes(onednn_md md)
{
	return md ? dnnl_memory_desc_get_size(md) : 0;
}

/* --- operations --- */

static dnnl_rnn_direction_t rnn_direction(const struct onednn_op *op)
{
	return op->both_directions ? dnnl_bidirectional_concat : dnnl_unidirectional_left2right;
}

static dnnl_alg_kind_t rnn_activation(const struct onednn_op *op)
{
	return op->mode == MODE_RNN_RELU ? dnnl_eltwise_relu : dnnl_eltwise_tanh;
}

#if DNNL_VERSION_MAJOR >= 3

static dnnl_status_t concat_create(dnnl_primitive_desc_t *pd, dnnl_engine_t e, const struct onednn_op *op,
	dnnl_primitive_attr_t attr)
{
	return dnnl_concat_primitive_desc_create(
		pd, e, op->dst, op->source_count, op->axis, op->source, attr);
}

static dnnl_status_t rnn_create(dnnl_primitive_desc_t *pd, dnnl_engine_t e, const struct onednn_op *op,
	dnnl_primitive_attr_t attr)
{
	const dnnl_prop_kind_t inference = dnnl_forward_inference;
	if (op->mode == MODE_LSTM)
		return dnnl_lstm_forward_primitive_desc_create(pd, e, inference, rnn_direction(op), op->src,
			NULL, NULL, op->src1, op->src2, NULL, NULL, op->bias, op->dst, NULL, NULL, 0, attr);
	if (op->mode == MODE_GRU)
		return dnnl_lbr_gru_forward_primitive_desc_create(pd, e, inference, rnn_direction(op),
			op->src, NULL, op->src1, op->src2, op->bias, op->dst, NULL, 0, attr);
	return dnnl_vanilla_rnn_forward_primitive_desc_create(pd, e, inference, rnn_activation(op),
		rnn_direction(op), op->src, NULL, op->src1, op->src2, op->bias, op->dst, NULL, 0, 0, 0, attr);
}

static dnnl_status_t first_create(dnnl_primitive_desc_t *pd, dnnl_engine_t e, const struct onednn_op *op,
	dnnl_primitive_attr_t attr)
{
	const dnnl_prop_kind_t inference = dnnl_forward_inference;
	switch (op->kind) {
	case KERNEL_CONV:
		return dnnl_convolution_forward_primitive_desc_create(pd, e, inference, op->algorithm,
			op->src, op->src1, op->bias, op->dst, op->stride, op->dilation, op->pad_begin,
			op->pad_end, attr);
	case KERNEL_DECONV:
		return dnnl_deconvolution_forward_primitive_desc_create(pd, e, inference, op->algorithm,
			op->src, op->src1, op->bias, op->dst, op->stride, op->dilation, op->pad_begin,
			op->pad_end, attr);
	case KERNEL_RNN:
		return rnn_create(pd, e, op, attr);
	case KERNEL_MATMUL:
		return dnnl_matmul_primitive_desc_create(pd, e, op->src, op->src1, op->bias, op->dst, attr);
	case KERNEL_POOL:
		return dnnl_pooling_forward_primitive_desc_create(pd, e, inference, op->algorithm, op->src,
			op->dst, op->stride, op->window, op->dilation, op->pad_begin, op->pad_end, attr);
	case KERNEL_BATCHNORM:
		return dnnl_batch_normalization_forward_primitive_desc_create(
			pd, e, inference, op->src, op->dst, op->epsilon, op->flags, attr);
	case KERNEL_LAYERNORM:
		return dnnl_layer_normalization_forward_primitive_desc_create(
			pd, e, inference, op->src, op->dst, op->stat, op->epsilon, op->flags, attr);
	case KERNEL_SOFTMAX:
		return dnnl_softmax_forward_primitive_desc_create(
			pd, e, inference, op->algorithm, op->src, op->dst, op->axis, attr);
	case KERNEL_ELTWISE:
		return dnnl_eltwise_forward_primitive_desc_create(
			pd, e, inference, op->algorithm, op->src, op->dst, op->alpha, op->beta, attr);
	case KERNEL_BINARY:
		return dnnl_binary_primitive_desc_create(
			pd, e, op->algorithm, op->src, op->src1, op->dst, attr);
	case KERNEL_REDUCE:
		return dnnl_reduction_primitive_desc_create(
			pd, e, op->algorithm, op->src, op->dst, op->alpha, op->epsilon, attr);
	case KERNEL_RESAMPLE:
		return dnnl_resampling_forward_primitive_desc_create(
			pd, e, inference, op->algorithm, NULL, op->src, op->dst, attr);
	case KERNEL_LRN:
		return dnnl_lrn_forward_primitive_desc_create(pd, e, inference, op->algorithm, op->src,
			op->dst, op->size, op->alpha, op->beta, op->k, attr);
	case KERNEL_CONCAT:
		return concat_create(pd, e, op, attr);
	default:
		return dnnl_reorder_primitive_desc_create(pd, op->src, e, op->dst, e, attr);
	}
}

int onednn_implementations(dnnl_engine_t engine, const struct onednn_op *op, dnnl_primitive_attr_t attr,
	dnnl_primitive_desc_t *pd, int max, dnnl_status_t *status)
{
	dnnl_primitive_desc_t at = NULL;
	int n = 0;
	*status = first_create(&at, engine, op, attr);
	if (*status != dnnl_success)
		return 0;
	do {
		if (n < max && dnnl_primitive_desc_clone(&pd[n], at) == dnnl_success)
			n++;
	} while (n < max && dnnl_primitive_desc_next_impl(at) == dnnl_success);
	dnnl_primitive_desc_destroy(at);
	return n;
}

#else

union op_desc {
	dnnl_convolution_desc_t conv;
	dnnl_deconvolution_desc_t deconv;
	dnnl_rnn_desc_t rnn;
	dnnl_matmul_desc_t matmul;
	dnnl_pooling_v2_desc_t pool;
	dnnl_batch_normalization_desc_t batchnorm;
	dnnl_layer_normalization_desc_t layernorm;
	dnnl_softmax_v2_desc_t softmax;
	dnnl_eltwise_desc_t eltwise;
	dnnl_binary_desc_t binary;
	dnnl_reduction_desc_t reduce;
	dnnl_resampling_desc_t resample;
	dnnl_lrn_desc_t lrn;
};

static dnnl_status_t rnn_desc_init(dnnl_rnn_desc_t *d, const struct onednn_op *op)
{
	const dnnl_prop_kind_t inference = dnnl_forward_inference;
	if (op->mode == MODE_LSTM)
		return dnnl_lstm_forward_desc_init(d, inference, rnn_direction(op), op->src, NULL, NULL,
			op->src1, op->src2, op->bias, op->dst, NULL, NULL, 0);
	if (op->mode == MODE_GRU)
		return dnnl_lbr_gru_forward_desc_init(d, inference, rnn_direction(op), op->src, NULL,
			op->src1, op->src2, op->bias, op->dst, NULL, 0);
	return dnnl_vanilla_rnn_forward_desc_init(d, inference, rnn_activation(op), rnn_direction(op),
		op->src, NULL, op->src1, op->src2, op->bias, op->dst, NULL, 0, 0, 0);
}

static dnnl_status_t op_desc_init(union op_desc *d, const struct onednn_op *op)
{
	const dnnl_prop_kind_t inference = dnnl_forward_inference;
	switch (op->kind) {
	case KERNEL_CONV:
		return dnnl_dilated_convolution_forward_desc_init(&d->conv, inference, op->algorithm, op->src,
			op->src1, op->bias, op->dst, op->stride, op->dilation, op->pad_begin, op->pad_end);
	case KERNEL_DECONV:
		return dnnl_dilated_deconvolution_forward_desc_init(&d->deconv, inference, op->algorithm,
			op->src, op->src1, op->bias, op->dst, op->stride, op->dilation, op->pad_begin,
			op->pad_end);
	case KERNEL_RNN:
		return rnn_desc_init(&d->rnn, op);
	case KERNEL_MATMUL:
		return dnnl_matmul_desc_init(&d->matmul, op->src, op->src1, op->bias, op->dst);
	case KERNEL_POOL:
		return dnnl_pooling_v2_forward_desc_init(&d->pool, inference, op->algorithm, op->src, op->dst,
			op->stride, op->window, op->dilation, op->pad_begin, op->pad_end);
	case KERNEL_BATCHNORM:
		return dnnl_batch_normalization_forward_desc_init(
			&d->batchnorm, inference, op->src, op->epsilon, op->flags);
	case KERNEL_LAYERNORM:
		return dnnl_layer_normalization_forward_desc_init(
			&d->layernorm, inference, op->src, op->stat, op->epsilon, op->flags);
	case KERNEL_SOFTMAX:
		return dnnl_softmax_v2_forward_desc_init(
			&d->softmax, inference, op->algorithm, op->src, op->dst, op->axis);
	case KERNEL_ELTWISE:
		return dnnl_eltwise_forward_desc_init(
			&d->eltwise, inference, op->algorithm, op->src, op->alpha, op->beta);
	case KERNEL_BINARY:
		return dnnl_binary_desc_init(&d->binary, op->algorithm, op->src, op->src1, op->dst);
	case KERNEL_REDUCE:
		return dnnl_reduction_desc_init(
			&d->reduce, op->algorithm, op->src, op->dst, op->alpha, op->epsilon);
	case KERNEL_RESAMPLE:
		return dnnl_resampling_forward_desc_init(
			&d->resample, inference, op->algorithm, NULL, op->src, op->dst);
	case KERNEL_LRN:
		return dnnl_lrn_forward_desc_init(
			&d->lrn, inference, op->algorithm, op->src, op->size, op->alpha, op->beta, op->k);
	default:
		return dnnl_unimplemented;
	}
}

static dnnl_status_t concat_create(dnnl_primitive_desc_t *pd, dnnl_engine_t e, const struct onednn_op *op,
	dnnl_primitive_attr_t attr)
{
	dnnl_memory_desc_t sources[PROBLEM_SHAPES];
	for (int i = 0; i < op->source_count; i++)
		sources[i] = *op->source[i];
	return dnnl_concat_primitive_desc_create(pd, op->dst, op->source_count, op->axis, sources, attr, e);
}

/* True if version 2 can express the destination: its normalizations and eltwise have one descriptor for
 * source and destination, so types and layouts must be equal. */
static bool destination_fits(const struct onednn_op *op)
{
	bool one = op->kind == KERNEL_BATCHNORM || op->kind == KERNEL_LAYERNORM ||
		op->kind == KERNEL_ELTWISE || op->kind == KERNEL_LRN;
	if (!one || op->dst->format_kind == dnnl_format_kind_any)
		return !one || op->dst->data_type == op->src->data_type;
	return dnnl_memory_desc_equal(op->src, op->dst);
}

int onednn_implementations(dnnl_engine_t engine, const struct onednn_op *op, dnnl_primitive_attr_t attr,
	dnnl_primitive_desc_t *pd, int max, dnnl_status_t *status)
{
	bool reorders = op->kind == KERNEL_TRANSPOSE || op->kind == KERNEL_CAST ||
		op->kind == KERNEL_QUANTIZE || op->kind == KERNEL_DEQUANTIZE;
	if (op->kind == KERNEL_CONCAT || reorders) {
		*status = op->kind == KERNEL_CONCAT ? concat_create(pd, engine, op, attr) :
			dnnl_reorder_primitive_desc_create(pd, op->src, engine, op->dst, engine, attr);
		return *status == dnnl_success ? 1 : 0;
	}
	union op_desc d;
	memset(&d, 0, sizeof(d));
	*status = destination_fits(op) ? op_desc_init(&d, op) : dnnl_unimplemented;
	dnnl_primitive_desc_iterator_t it = NULL;
	if (*status == dnnl_success)
		*status = dnnl_primitive_desc_iterator_create(&it, &d, attr, engine, NULL);
	if (*status != dnnl_success)
		return 0;
	int n = 0;
	do {
		dnnl_primitive_desc_t at = dnnl_primitive_desc_iterator_fetch(it);
		if (at)
			pd[n++] = at;
	} while (n < max && dnnl_primitive_desc_iterator_next(it) == dnnl_success);
	dnnl_primitive_desc_iterator_destroy(it);
	return n;
}

#endif

/* --- attributes, memory, reorders --- */

#if DNNL_VERSION_MAJOR >= 3

dnnl_status_t onednn_attr_factors(dnnl_primitive_attr_t attr, const struct onednn_factors *f)
{
	return dnnl_primitive_attr_set_scales_mask(attr, f->arg, f->mask);
}

dnnl_status_t onednn_attr_zero_point(dnnl_primitive_attr_t attr, int arg, int32_t zero_point)
{
	(void)zero_point;
	return dnnl_primitive_attr_set_zero_points_mask(attr, arg, 0);
}

#else

dnnl_status_t onednn_attr_factors(dnnl_primitive_attr_t attr, const struct onednn_factors *f)
{
	float *by = base_malloc((size_t)f->count * sizeof(*by));
	for (int64_t i = 0; i < f->count; i++)
		by[i] = f->divides ? 1 / f->values[i] : f->values[i];
	dnnl_status_t status = dnnl_primitive_attr_set_output_scales(attr, f->count, f->destination_mask, by);
	free(by);
	return status;
}

dnnl_status_t onednn_attr_zero_point(dnnl_primitive_attr_t attr, int arg, int32_t zero_point)
{
	return dnnl_primitive_attr_set_zero_points(attr, arg, 1, 0, &zero_point);
}

#endif

dnnl_status_t onednn_post_eltwise(dnnl_post_ops_t post, dnnl_alg_kind_t algorithm, float alpha, float beta)
{
#if DNNL_VERSION_MAJOR >= 3
	return dnnl_post_ops_append_eltwise(post, algorithm, alpha, beta);
#else
	return dnnl_post_ops_append_eltwise(post, 1.0f, algorithm, alpha, beta);
#endif
}

dnnl_status_t onednn_post_binary(dnnl_post_ops_t post, dnnl_alg_kind_t algorithm, onednn_md md)
{
	return dnnl_post_ops_append_binary(post, algorithm, md);
}

dnnl_memory_t onednn_memory(onednn_md md, dnnl_engine_t engine, void *bytes)
{
	dnnl_memory_t m = NULL;
	return dnnl_memory_create(&m, md, engine, bytes) == dnnl_success ? m : NULL;
}

onednn_md onednn_argument(const_dnnl_primitive_desc_t pd, int arg)
{
	return dnnl_primitive_desc_query_md(pd, dnnl_query_exec_arg_md, arg);
}

dnnl_status_t onednn_reorder(
	dnnl_engine_t engine, dnnl_stream_t stream, onednn_md from_md, void *from, onednn_md to_md, void *to)
{
	struct onednn_op op = { .kind = KERNEL_CAST, .src = from_md, .dst = to_md };
	dnnl_primitive_desc_t pd = NULL;
	dnnl_primitive_t primitive = NULL;
	dnnl_status_t status;
	if (!onednn_implementations(engine, &op, NULL, &pd, 1, &status))
		return status;
	dnnl_memory_t a = onednn_memory(from_md, engine, from), b = onednn_memory(to_md, engine, to);
	status = a && b ? dnnl_primitive_create(&primitive, pd) : dnnl_out_of_memory;
	if (status == dnnl_success) {
		dnnl_exec_arg_t args[2] = { { DNNL_ARG_FROM, a }, { DNNL_ARG_TO, b } };
		status = dnnl_primitive_execute(primitive, stream, 2, args);
		dnnl_stream_wait(stream);
		dnnl_primitive_destroy(primitive);
	}
	dnnl_memory_destroy(a);
	dnnl_memory_destroy(b);
	dnnl_primitive_desc_destroy(pd);
	return status;
}
