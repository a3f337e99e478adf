/* Functions of the legacy API for whole layers: pooling, softmax, batch normalization, LRN, reduction,
 * dropout. */
#include "config.h"

#include "runner/cudnn_legacy/cudnn_legacy.h"

enum { SLOT_SOURCE, SLOT_DESTINATION, SLOT_CHANNELS };

#define DROPOUT_SEED 20200518ull
#define EPSILON 1e-5

static int tensors_open(struct cudnn_legacy *l, struct error *err)
{
	struct cuda_layout source = cuda_operand_layout(&l->problem, 0, 0),
			   destination = cuda_operand_layout(&l->problem, 1, 0);
	return cudnn_legacy_tensor(l, SLOT_SOURCE, &source, err) ||
		cudnn_legacy_tensor(l, SLOT_DESTINATION, &destination, err) ? -1 : 0;
}

/* ---- pooling ---- */

static int pool_plan(struct cudnn_legacy *l, const struct cudnn_legacy_offer *o, struct error *err)
{
	const struct problem *p = &l->problem;
	int rank = p->spatial < 2 ? 2 : p->spatial, window[3], pad[3], stride[3];
	(void)o;
	for (int i = 0; i < rank; i++) {
		int at = 3 - rank + i;
		bool real = at >= 3 - p->spatial;
		if (cudnn_legacy_int(real ? p->kernel_size[at] : 1, &window[i], err) ||
			cudnn_legacy_int(real ? p->pad_begin[at] : 0, &pad[i], err) ||
			cudnn_legacy_int(real ? p->stride[at] : 1, &stride[i], err))
			return -1;
	}
	if (tensors_open(l, err))
		return -1;
	CUDNN_CALL(l, cudnnCreatePoolingDescriptor, &l->pooling);
	CUDNN_CALL(l, cudnnSetPoolingNdDescriptor, l->pooling, (cudnnPoolingMode_t)l->algorithm,
		CUDNN_NOT_PROPAGATE_NAN, rank, window, pad, stride);
	return 0;
}

static int pool_enqueue(
	struct cudnn_legacy *l, const struct cuda_pointers *at, cudaStream_t stream, struct error *err)
{
	(void)stream;
	CUDNN_CALL(l, cudnnPoolingForward, l->handle, l->pooling, &l->one, l->tensor[SLOT_SOURCE],
		at->source[0], &l->zero, l->tensor[SLOT_DESTINATION], at->destination);
	return 0;
}

static const struct cudnn_legacy_way pool_way = { pool_plan, pool_enqueue };

int cudnn_legacy_pool_offer(struct cudnn_legacy_offers *o, struct error *err)
{
	const struct problem *p = &o->problem;
	struct problem even = *p;
	if (cudnn_legacy_refuse_epilogues(p, err))
		return -1;
	for (int i = 3 - p->spatial; i < 3; i++) {
		even.pad_end[i] = even.pad_begin[i];
		if (p->dilation[i] != 1)
			return error_set(err, "the pooling of cuDNN's legacy API has no dilation");
		if (problem_out_size(&even, i) != problem_out_size(p, i))
			return error_set(err, "cuDNN's legacy API needs equal pads at both ends");
	}
	if (p->mode == MODE_MAX) {
		cudnn_legacy_add(o, &pool_way, "max", CUDNN_POOLING_MAX);
		cudnn_legacy_add(o, &pool_way, "max_deterministic", CUDNN_POOLING_MAX_DETERMINISTIC);
	} else if (p->mode == MODE_AVG_INCLUDE) {
		cudnn_legacy_add(
			o, &pool_way, "average_include", CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING);
	} else {
		cudnn_legacy_add(
			o, &pool_way, "average_exclude", CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING);
	}
	return 0;
}

/* ---- softmax ---- */

#define BY_CHANNEL 16 /* added to the cudnnSoftmaxAlgorithm_t in `algorithm` */

/* Merges dimensions from..until - 1 to one. Returns false if they are not contiguous. */
static bool dims_join(const struct cuda_layout *l, int from, int until, int64_t *dim, int64_t *stride)
{
	*dim = 1;
	*stride = 1;
	for (int i = until - 1; i >= from; i--) {
		if (l->shape.dim[i] == 1)
			continue;
		if (*dim == 1)
			*stride = l->stride[i];
		else if (l->stride[i] != *stride * *dim)
			return false;
		*dim *= l->shape.dim[i];
	}
	return true;
}

/* Makes a tensor with the dimensions before the axis as n, the axis as c, those after it as h. Both softmax
 * modes sum only over c: mode instance is only used if h is 1. */
static int softmax_tensor(
	struct cudnn_legacy *l, int slot, const struct cuda_layout *layout, struct error *err)
{
	int axis = l->problem.axis;
	struct cuda_layout t = { .dtype = layout->dtype, .shape = { 4, { 1, layout->shape.dim[axis], 1, 1 } },
		.stride = { 1, layout->stride[axis], 1, 1 } };
	if (!dims_join(layout, 0, axis, &t.shape.dim[0], &t.stride[0]) ||
		!dims_join(layout, axis + 1, layout->shape.rank, &t.shape.dim[2], &t.stride[2]))
		return error_set(err, "the dimensions around the softmax axis cannot be merged to the four "
			"of cuDNN's legacy API");
	t.stride[3] = t.stride[2];
	if (t.shape.dim[0] == 1)
		t.stride[0] = t.stride[1] * t.shape.dim[1] > t.stride[2] * t.shape.dim[2]
			? t.stride[1] * t.shape.dim[1]
			: t.stride[2] * t.shape.dim[2];
	return cudnn_legacy_tensor(l, slot, &t, err);
}

static int softmax_plan(struct cudnn_legacy *l, const struct cudnn_legacy_offer *o, struct error *err)
{
	struct cuda_layout source = cuda_operand_layout(&l->problem, 0, 0),
			   destination = cuda_operand_layout(&l->problem, 1, 0);
	(void)o;
	return softmax_tensor(l, SLOT_SOURCE, &source, err) ||
			softmax_tensor(l, SLOT_DESTINATION, &destination, err)
		? -1
		: 0;
}

static int softmax_enqueue(
	struct cudnn_legacy *l, const struct cuda_pointers *at, cudaStream_t stream, struct error *err)
{
	(void)stream;
	CUDNN_CALL(l, cudnnSoftmaxForward, l->handle, (cudnnSoftmaxAlgorithm_t)(l->algorithm % BY_CHANNEL),
		l->algorithm >= BY_CHANNEL ? CUDNN_SOFTMAX_MODE_CHANNEL : CUDNN_SOFTMAX_MODE_INSTANCE,
		&l->one, l->tensor[SLOT_SOURCE], at->source[0], &l->zero, l->tensor[SLOT_DESTINATION],
		at->destination);
	return 0;
}

static const struct cudnn_legacy_way softmax_way = { softmax_plan, softmax_enqueue };

int cudnn_legacy_softmax_offer(struct cudnn_legacy_offers *o, struct error *err)
{
	const struct problem *p = &o->problem;
	int64_t inner = 1;
	if (cudnn_legacy_refuse_epilogues(p, err))
		return -1;
	for (int i = p->axis + 1; i < p->shape[0].rank; i++)
		inner *= p->shape[0].dim[i];
	for (int channel = inner > 1; channel < 2; channel++) {
		int by = channel ? BY_CHANNEL : 0;
		if (p->mode == MODE_LOGSOFTMAX) {
			cudnn_legacy_add(o, &softmax_way, channel ? "log:channel" : "log:instance",
				CUDNN_SOFTMAX_LOG + by);
			continue;
		}
		cudnn_legacy_add(o, &softmax_way, channel ? "accurate:channel" : "accurate:instance",
			CUDNN_SOFTMAX_ACCURATE + by);
		cudnn_legacy_add(
			o, &softmax_way, channel ? "fast:channel" : "fast:instance", CUDNN_SOFTMAX_FAST + by);
	}
	return 0;
}

/* ---- batch normalization at inference ---- */

static int batchnorm_plan(struct cudnn_legacy *l, const struct cudnn_legacy_offer *o, struct error *err)
{
	const struct problem *p = &l->problem;
	int64_t channels = p->shape[0].dim[1];
	struct cuda_layout one = { .dtype = DTYPE_F32, .shape = { p->shape[0].rank < 4 ? 4 : p->shape[0].rank,
		{ 1, channels, 1, 1, 1, 1, 1, 1 } }, .stride = { channels, 1, 1, 1, 1, 1, 1, 1 } };
	(void)o;
	l->epsilon = EPSILON;
	return tensors_open(l, err) || cudnn_legacy_tensor(l, SLOT_CHANNELS, &one, err) ? -1 : 0;
}

static int batchnorm_enqueue(
	struct cudnn_legacy *l, const struct cuda_pointers *at, cudaStream_t stream, struct error *err)
{
	(void)stream;
	CUDNN_CALL(l, cudnnBatchNormalizationForwardInference, l->handle, (cudnnBatchNormMode_t)l->algorithm,
		&l->one, &l->zero, l->tensor[SLOT_SOURCE], at->source[0], l->tensor[SLOT_DESTINATION],
		at->destination, l->tensor[SLOT_CHANNELS], at->scale, at->shift, at->mean, at->variance,
		l->epsilon);
	return 0;
}

static const struct cudnn_legacy_way batchnorm_way = { batchnorm_plan, batchnorm_enqueue };

int cudnn_legacy_batchnorm_offer(struct cudnn_legacy_offers *o, struct error *err)
{
	const struct problem *p = &o->problem;
	if (cudnn_legacy_refuse_epilogues(p, err))
		return -1;
	if (p->operand[0].dtype == DTYPE_F64)
		return error_set(err, "the legacy batch normalization of f64 needs f64 scales");
	if (p->shape[0].rank < 2 || p->shape[0].rank > 5)
		return error_set(err, "the legacy batch normalization needs 2 to 5 dimensions");
	cudnn_legacy_add(o, &batchnorm_way, "spatial", CUDNN_BATCHNORM_SPATIAL);
	cudnn_legacy_add(o, &batchnorm_way, "spatial_persistent", CUDNN_BATCHNORM_SPATIAL_PERSISTENT);
	return 0;
}

/* ---- local response normalization ---- */

static int lrn_plan(struct cudnn_legacy *l, const struct cudnn_legacy_offer *o, struct error *err)
{
	const struct problem *p = &l->problem;
	(void)o;
	if (tensors_open(l, err))
		return -1;
	CUDNN_CALL(l, cudnnCreateLRNDescriptor, &l->lrn);
	CUDNN_CALL(l, cudnnSetLRNDescriptor, l->lrn, (unsigned)p->size, p->alpha, p->beta, 1);
	return 0;
}

static int lrn_enqueue(
	struct cudnn_legacy *l, const struct cuda_pointers *at, cudaStream_t stream, struct error *err)
{
	(void)stream;
	CUDNN_CALL(l, cudnnLRNCrossChannelForward, l->handle, l->lrn, CUDNN_LRN_CROSS_CHANNEL_DIM1, &l->one,
		l->tensor[SLOT_SOURCE], at->source[0], &l->zero, l->tensor[SLOT_DESTINATION],
		at->destination);
	return 0;
}

static const struct cudnn_legacy_way lrn_way = { lrn_plan, lrn_enqueue };

int cudnn_legacy_lrn_offer(struct cudnn_legacy_offers *o, struct error *err)
{
	const struct problem *p = &o->problem;
	if (cudnn_legacy_refuse_epilogues(p, err))
		return -1;
	if (p->size < CUDNN_LRN_MIN_N || p->size > CUDNN_LRN_MAX_N || (double)p->beta < CUDNN_LRN_MIN_BETA)
		return error_set(err, "cuDNN's LRN needs windows of %d to %d channels and beta of at least "
			"%g", CUDNN_LRN_MIN_N, CUDNN_LRN_MAX_N, CUDNN_LRN_MIN_BETA);
	cudnn_legacy_add(o, &lrn_way, "cross_channel", 0);
	return 0;
}

/* ---- reduction ---- */

static int reduce_plan(struct cudnn_legacy *l, const struct cudnn_legacy_offer *o, struct error *err)
{
	struct cuda_layout source = cuda_operand_layout(&l->problem, 0, 0),
			   destination = cuda_operand_layout(&l->problem, 1, 0);
	const struct cuda_layout *const both[] = { &source, &destination };
	cudnnDataType_t compute =
		l->problem.operand[0].dtype == DTYPE_F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
	(void)o;
	if (cudnn_legacy_tensors(l, SLOT_SOURCE, both, 2, err))
		return -1;
	CUDNN_CALL(l, cudnnCreateReduceTensorDescriptor, &l->reduce);
	CUDNN_CALL(l, cudnnSetReduceTensorDescriptor, l->reduce, (cudnnReduceTensorOp_t)l->algorithm, compute,
		CUDNN_NOT_PROPAGATE_NAN, CUDNN_REDUCE_TENSOR_NO_INDICES, CUDNN_32BIT_INDICES);
	CUDNN_CALL(l, cudnnGetReductionWorkspaceSize, l->handle, l->reduce, l->tensor[SLOT_SOURCE],
		l->tensor[SLOT_DESTINATION], &l->workspace);
	return 0;
}

static int reduce_enqueue(
	struct cudnn_legacy *l, const struct cuda_pointers *at, cudaStream_t stream, struct error *err)
{
	(void)stream;
	CUDNN_CALL(l, cudnnReduceTensor, l->handle, l->reduce, NULL, 0, at->workspace, l->workspace, &l->one,
		l->tensor[SLOT_SOURCE], at->source[0], &l->zero, l->tensor[SLOT_DESTINATION],
		at->destination);
	return 0;
}

static const struct cudnn_legacy_way reduce_way = { reduce_plan, reduce_enqueue };

int cudnn_legacy_reduce_offer(struct cudnn_legacy_offers *o, struct error *err)
{
	static const struct {
		enum mode mode;
		cudnnReduceTensorOp_t op;
		const char *name;
	} rows[] = {
		{ MODE_REDUCE_SUM, CUDNN_REDUCE_TENSOR_ADD, "add" },
		{ MODE_REDUCE_MEAN, CUDNN_REDUCE_TENSOR_AVG, "avg" },
		{ MODE_REDUCE_MAX, CUDNN_REDUCE_TENSOR_MAX, "max" },
		{ MODE_REDUCE_MIN, CUDNN_REDUCE_TENSOR_MIN, "min" },
		{ MODE_REDUCE_MUL, CUDNN_REDUCE_TENSOR_MUL, "mul" },
		{ MODE_REDUCE_L2, CUDNN_REDUCE_TENSOR_NORM2, "norm2" },
	};
	if (cudnn_legacy_refuse_epilogues(&o->problem, err))
		return -1;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].mode == o->problem.mode)
			cudnn_legacy_add(o, &reduce_way, rows[i].name, rows[i].op);
	return o->count ? 0 : error_set(err, "cuDNN's legacy API has no reduction %s",
		mode_name(o->problem.mode));
}

/* ---- dropout as in training, which draws a mask and stores it in the workspace ---- */

static int dropout_plan(struct cudnn_legacy *l, const struct cudnn_legacy_offer *o, struct error *err)
{
	struct cuda_layout source = cuda_operand_layout(&l->problem, 0, 0),
			   destination = cuda_operand_layout(&l->problem, 1, 0);
	const struct cuda_layout *const both[] = { &source, &destination };
	size_t states;
	(void)o;
	if (cudnn_legacy_tensors(l, SLOT_SOURCE, both, 2, err))
		return -1;
	CUDNN_CALL(l, cudnnDropoutGetReserveSpaceSize, l->tensor[SLOT_SOURCE], &l->workspace);
	CUDNN_CALL(l, cudnnDropoutGetStatesSize, l->handle, &states);
	if (cuda_error(cudaMalloc(&l->states, states), "cudaMalloc", err))
		return STATUS_NO_MEMORY;
	CUDNN_CALL(l, cudnnCreateDropoutDescriptor, &l->dropout);
	CUDNN_CALL(l, cudnnSetDropoutDescriptor, l->dropout, l->handle, l->problem.alpha, l->states, states,
		DROPOUT_SEED);
	return 0;
}

static int dropout_enqueue(
	struct cudnn_legacy *l, const struct cuda_pointers *at, cudaStream_t stream, struct error *err)
{
	(void)stream;
	CUDNN_CALL(l, cudnnDropoutForward, l->handle, l->dropout, l->tensor[SLOT_SOURCE], at->source[0],
		l->tensor[SLOT_DESTINATION], at->destination, at->workspace, l->workspace);
	return 0;
}

static const struct cudnn_legacy_way dropout_way = { dropout_plan, dropout_enqueue };

int cudnn_legacy_dropout_offer(struct cudnn_legacy_offers *o, struct error *err)
{
	if (cudnn_legacy_refuse_epilogues(&o->problem, err))
		return -1;
	cudnn_legacy_add(o, &dropout_way, "dropout", 0);
	return 0;
}
