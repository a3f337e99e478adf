/* Element-wise functions of the legacy API: activation, OpTensor, AddTensor, ScaleTensor, TransformTensor. */
#include "config.h"

#include "runner/cudnn_legacy/cudnn_legacy.h"

#include <stdio.h>

enum { SLOT_DESTINATION, SLOT_A, SLOT_B };

static double layout_bytes(const struct cuda_layout *l)
{
	double count = 1;
	for (int i = 0; i < l->shape.rank; i++)
		count *= (double)l->shape.dim[i];
	return dtype_bytes(l->dtype, count);
}

/* True if the layout has no gaps, in whatever order of dimensions. */
static bool layout_is_dense(const struct cuda_layout *l)
{
	int64_t span = 1, count = 1;
	for (int i = 0; i < l->shape.rank; i++) {
		span += (l->shape.dim[i] - 1) * l->stride[i];
		count *= l->shape.dim[i];
	}
	return span == count;
}

/* Makes the tensors of a kernel with one source. */
static int tensors_open(struct cudnn_legacy *l, struct error *err)
{
	struct cuda_layout source = cuda_operand_layout(&l->problem, 0, 0),
			   destination = cuda_operand_layout(&l->problem, 1, 0);
	const struct cuda_layout *const both[] = { &destination, &source };
	return cudnn_legacy_tensors(l, SLOT_DESTINATION, both, 2, err);
}

/* ---- activation ---- */

static int activation_plan(struct cudnn_legacy *l, const struct cudnn_legacy_offer *o, struct error *err)
{
	const struct problem *p = &l->problem;
	double coefficient = p->mode == MODE_CLIP ? p->beta : p->mode == MODE_ELU ? p->alpha : 0;
	(void)o;
	if (tensors_open(l, err))
		return -1;
	CUDNN_CALL(l, cudnnCreateActivationDescriptor, &l->activation);
	CUDNN_CALL(l, cudnnSetActivationDescriptor, l->activation, (cudnnActivationMode_t)l->algorithm,
		CUDNN_NOT_PROPAGATE_NAN, coefficient);
	if (l->algorithm == CUDNN_ACTIVATION_SWISH)
		CUDNN_CALL(l, cudnnSetActivationDescriptorSwishBeta, l->activation, p->alpha);
	return 0;
}

static int activation_enqueue(
	struct cudnn_legacy *l, const struct cuda_pointers *at, cudaStream_t stream, struct error *err)
{
	(void)stream;
	CUDNN_CALL(l, cudnnActivationForward, l->handle, l->activation, &l->one, l->tensor[SLOT_A],
		at->source[0], &l->zero, l->tensor[SLOT_DESTINATION], at->destination);
	return 0;
}

static const struct cudnn_legacy_way activation_way = { activation_plan, activation_enqueue };

/* ---- OpTensor: C = op(alpha1 A, alpha2 B); B may be broadcast to A ---- */

/* Chooses cuDNN's A: the first operand with the destination's size and type. */
static int op_order(struct cudnn_legacy *l, struct cuda_layout *a, struct cuda_layout *b, struct error *err)
{
	struct cuda_layout destination = cuda_operand_layout(&l->problem, 2, 0);
	for (int first = 0; first < 2; first++) {
		*a = cuda_operand_layout(&l->problem, first, 0);
		*b = cuda_operand_layout(&l->problem, !first, 0);
		bool whole = layout_bytes(a) == layout_bytes(&destination) && a->dtype == destination.dtype;
		l->operand[0] = first;
		l->operand[1] = !first;
		if (whole)
			return 0;
	}
	return error_set(err, "cuDNN's legacy API broadcasts only one operand and does not convert types");
}

static int op_set(struct cudnn_legacy *l, struct error *err)
{
	CUDNN_CALL(l, cudnnCreateOpTensorDescriptor, &l->op);
	CUDNN_CALL(l, cudnnSetOpTensorDescriptor, l->op, (cudnnOpTensorOp_t)l->algorithm,
		l->problem.operand[0].dtype == DTYPE_F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT,
		CUDNN_NOT_PROPAGATE_NAN);
	return 0;
}

static int op_plan(struct cudnn_legacy *l, const struct cudnn_legacy_offer *o, struct error *err)
{
	struct cuda_layout a, b, destination = cuda_operand_layout(&l->problem, 2, 0);
	const struct cuda_layout *const all[] = { &destination, &a, &b };
	(void)o;
	if (op_order(l, &a, &b, err) || cudnn_legacy_tensors(l, SLOT_DESTINATION, all, 3, err))
		return -1;
	/* a subtraction is an addition with alpha -1 for our second operand, which may be A or B */
	bool minus = l->problem.mode == MODE_SUB;
	l->factor = cudnn_legacy_scalar(&l->problem, minus && l->operand[0] == 1 ? -1 : 1);
	l->other = cudnn_legacy_scalar(&l->problem, minus && l->operand[1] == 1 ? -1 : 1);
	return op_set(l, err);
}

static int op_enqueue(
	struct cudnn_legacy *l, const struct cuda_pointers *at, cudaStream_t stream, struct error *err)
{
	(void)stream;
	CUDNN_CALL(l, cudnnOpTensor, l->handle, l->op, &l->factor, l->tensor[SLOT_A],
		at->source[l->operand[0]], &l->other, l->tensor[SLOT_B], at->source[l->operand[1]], &l->zero,
		l->tensor[SLOT_DESTINATION], at->destination);
	return 0;
}

static const struct cudnn_legacy_way op_way = { op_plan, op_enqueue };

/* OpTensor with one source: its square root, or its square. */
static int unary_plan(struct cudnn_legacy *l, const struct cudnn_legacy_offer *o, struct error *err)
{
	(void)o;
	return tensors_open(l, err) || op_set(l, err) ? -1 : 0;
}

static int unary_enqueue(
	struct cudnn_legacy *l, const struct cuda_pointers *at, cudaStream_t stream, struct error *err)
{
	(void)stream;
	CUDNN_CALL(l, cudnnOpTensor, l->handle, l->op, &l->one, l->tensor[SLOT_A], at->source[0], &l->one,
		l->tensor[SLOT_A], at->source[0], &l->zero, l->tensor[SLOT_DESTINATION], at->destination);
	return 0;
}

static const struct cudnn_legacy_way unary_way = { unary_plan, unary_enqueue };

/* ---- AddTensor, ScaleTensor: in place, so each execution first copies the source to the destination ---- */

static int copy_first(struct cudnn_legacy *l, const struct cuda_pointers *at, int source, cudaStream_t stream,
	struct error *err)
{
	struct cuda_layout destination =
		cuda_operand_layout(&l->problem, problem_operand_count(&l->problem) - 1, 0);
	return cuda_error(cudaMemcpyAsync(at->destination, at->source[source],
				  (size_t)layout_bytes(&destination), cudaMemcpyDeviceToDevice, stream),
		"cudaMemcpyAsync", err);
}

static int copy_check(const struct cuda_layout *from, const struct cuda_layout *to, struct error *err)
{
	return cudnn_legacy_same(from, to) && layout_is_dense(to) ? 0 :
		error_set(err, "the copy before an in-place function needs equal layouts without gaps");
}

static int add_plan(struct cudnn_legacy *l, const struct cudnn_legacy_offer *o, struct error *err)
{
	struct cuda_layout a, b, destination = cuda_operand_layout(&l->problem, 2, 0);
	const struct cuda_layout *const all[] = { &destination, &b };
	(void)o;
	return op_order(l, &a, &b, err) || copy_check(&a, &destination, err) ||
		cudnn_legacy_tensors(l, SLOT_DESTINATION, all, 2, err) ? -1 : 0;
}

static int add_enqueue(
	struct cudnn_legacy *l, const struct cuda_pointers *at, cudaStream_t stream, struct error *err)
{
	if (copy_first(l, at, l->operand[0], stream, err))
		return -1;
	CUDNN_CALL(l, cudnnAddTensor, l->handle, &l->one, l->tensor[SLOT_A], at->source[l->operand[1]],
		&l->one, l->tensor[SLOT_DESTINATION], at->destination);
	return 0;
}

static const struct cudnn_legacy_way add_way = { add_plan, add_enqueue };

static int scale_plan(struct cudnn_legacy *l, const struct cudnn_legacy_offer *o, struct error *err)
{
	struct cuda_layout source = cuda_operand_layout(&l->problem, 0, 0),
			   destination = cuda_operand_layout(&l->problem, 1, 0);
	(void)o;
	l->factor = cudnn_legacy_scalar(&l->problem, l->problem.alpha);
	return copy_check(&source, &destination, err) || tensors_open(l, err) ? -1 : 0;
}

static int scale_enqueue(
	struct cudnn_legacy *l, const struct cuda_pointers *at, cudaStream_t stream, struct error *err)
{
	if (copy_first(l, at, 0, stream, err))
		return -1;
	CUDNN_CALL(l, cudnnScaleTensor, l->handle, l->tensor[SLOT_DESTINATION], at->destination, &l->factor);
	return 0;
}

static const struct cudnn_legacy_way scale_way = { scale_plan, scale_enqueue };

/* ---- TransformTensor: y = alpha x, between any strides ---- */

static int transform_plan(struct cudnn_legacy *l, const struct cudnn_legacy_offer *o, struct error *err)
{
	const struct problem *p = &l->problem;
	(void)o;
	l->factor = cudnn_legacy_scalar(p, p->kernel == KERNEL_ELTWISE ? p->alpha : 1);
	if (p->kernel == KERNEL_ELTWISE)
		return tensors_open(l, err);
	/* a transpose: the source with its dimensions in the destination's order */
	struct cuda_layout source = cuda_operand_layout(p, 0, 0), destination = cuda_operand_layout(p, 1, 0),
			   seen = source;
	const struct cuda_layout *const both[] = { &destination, &seen };
	for (int i = 0; i < seen.shape.rank; i++) {
		seen.shape.dim[i] = source.shape.dim[p->perm[i]];
		seen.stride[i] = source.stride[p->perm[i]];
	}
	return cudnn_legacy_tensors(l, SLOT_DESTINATION, both, 2, err);
}

static int transform_enqueue(
	struct cudnn_legacy *l, const struct cuda_pointers *at, cudaStream_t stream, struct error *err)
{
	(void)stream;
	CUDNN_CALL(l, cudnnTransformTensor, l->handle, &l->factor, l->tensor[SLOT_A], at->source[0], &l->zero,
		l->tensor[SLOT_DESTINATION], at->destination);
	return 0;
}

static const struct cudnn_legacy_way transform_way = { transform_plan, transform_enqueue };

/* ---- candidates ---- */

static const struct {
	enum mode mode;
	const struct cudnn_legacy_way *way;
	int algorithm;
	const char *name;
} eltwises[] = {
	{ MODE_RELU, &activation_way, CUDNN_ACTIVATION_RELU, "activation:relu" },
	{ MODE_CLIP, &activation_way, CUDNN_ACTIVATION_CLIPPED_RELU, "activation:clipped_relu" },
	{ MODE_SIGMOID, &activation_way, CUDNN_ACTIVATION_SIGMOID, "activation:sigmoid" },
	{ MODE_TANH, &activation_way, CUDNN_ACTIVATION_TANH, "activation:tanh" },
	{ MODE_ELU, &activation_way, CUDNN_ACTIVATION_ELU, "activation:elu" },
	{ MODE_SWISH, &activation_way, CUDNN_ACTIVATION_SWISH, "activation:swish" },
	{ MODE_SQRT, &unary_way, CUDNN_OP_TENSOR_SQRT, "op_tensor:sqrt" },
	{ MODE_SQUARE, &unary_way, CUDNN_OP_TENSOR_MUL, "op_tensor:mul" },
	{ MODE_LINEAR_MAP, &transform_way, 0, "transform_tensor" },
	{ MODE_LINEAR_MAP, &scale_way, 0, "scale_tensor" },
};

int cudnn_legacy_eltwise_offer(struct cudnn_legacy_offers *o, struct error *err)
{
	const struct problem *p = &o->problem;
	if (cudnn_legacy_refuse_epilogues(p, err))
		return -1;
	if (p->mode == MODE_CLIP && p->alpha != 0)
		return error_set(err, "the clip of cuDNN's legacy API has the lower bound 0");
	if (p->mode == MODE_LINEAR_MAP && p->beta != 0)
		return error_set(err, "the scaling of cuDNN's legacy API has no offset");
	for (size_t i = 0; i < sizeof(eltwises) / sizeof(eltwises[0]); i++)
		if (eltwises[i].mode == p->mode) {
			struct cudnn_legacy_offer *one =
				cudnn_legacy_add(o, eltwises[i].way, eltwises[i].name, eltwises[i].algorithm);
			if (eltwises[i].way == &scale_way)
				snprintf(one->notes, sizeof(one->notes), "copies_first");
		}
	return o->count ? 0 : error_set(err, "cuDNN's legacy API has no %s", mode_name(p->mode));
}

int cudnn_legacy_binary_offer(struct cudnn_legacy_offers *o, struct error *err)
{
	static const struct {
		enum mode mode;
		cudnnOpTensorOp_t op;
		const char *name;
	} rows[] = {
		{ MODE_ADD, CUDNN_OP_TENSOR_ADD, "op_tensor:add" },
		{ MODE_SUB, CUDNN_OP_TENSOR_ADD, "op_tensor:add" },
		{ MODE_MUL, CUDNN_OP_TENSOR_MUL, "op_tensor:mul" },
		{ MODE_MINIMUM, CUDNN_OP_TENSOR_MIN, "op_tensor:min" },
		{ MODE_MAXIMUM, CUDNN_OP_TENSOR_MAX, "op_tensor:max" },
	};
	const struct problem *p = &o->problem;
	if (cudnn_legacy_refuse_epilogues(p, err))
		return -1;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].mode == p->mode)
			cudnn_legacy_add(o, &op_way, rows[i].name, rows[i].op);
	if (p->mode == MODE_ADD)
		snprintf(cudnn_legacy_add(o, &add_way, "add_tensor", 0)->notes, sizeof(o->offer[0].notes),
			"copies_first");
	return o->count ? 0 : error_set(err, "cuDNN's legacy API has no %s", mode_name(p->mode));
}

int cudnn_legacy_transpose_offer(struct cudnn_legacy_offers *o, struct error *err)
{
	if (cudnn_legacy_refuse_epilogues(&o->problem, err))
		return -1;
	cudnn_legacy_add(o, &transform_way, "transform_tensor", 0);
	return 0;
}
