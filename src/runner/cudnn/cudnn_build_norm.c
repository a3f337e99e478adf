/* Layer, RMS, instance and batch normalization. */
#include "config.h"

#include "runner/cudnn/cudnn_merge.h"

#define EPSILON 1e-5f

/* Returns the shape for layer and RMS normalization: dimensions before the axis are merged to rows, the
 * others to the elements of a row. */
static struct cudnn_tensor rows_shape(const struct cuda_layout *l, int axis)
{
	int64_t dim[4] = { 1, 1, 1, 1 };
	for (int i = 0; i < l->shape.rank; i++)
		dim[i >= axis] *= l->shape.dim[i];
	return cudnn_shape_dense(4, dim, l->dtype);
}

static bool is_dense(const struct cuda_layout *l)
{
	int64_t stride = 1;
	for (int i = l->shape.rank - 1; i >= 0; i--) {
		if (l->shape.dim[i] != 1 && l->stride[i] != stride)
			return false;
		stride *= l->shape.dim[i];
	}
	return true;
}

static cudnnBackendNormMode_t norm_mode(enum kernel k)
{
	return k == KERNEL_LAYERNORM  ? CUDNN_LAYER_NORM
		: k == KERNEL_RMSNORM ? CUDNN_RMS_NORM
				      : CUDNN_INSTANCE_NORM;
}

static struct cudnn_tensor norm_shape(struct cudnn_graph *g, int operand)
{
	struct cuda_layout l = cuda_operand_layout(g->p, operand, 0);
	if (g->p->kernel == KERNEL_INSTANCENORM)
		return cudnn_shape_spatial(&l, 3);
	if (!is_dense(&l))
		cudnn_bag_refuse(&g->bag, "cuDNN normalizes only dense rows");
	return rows_shape(&l, g->p->axis);
}

void cudnn_build_norm(struct cudnn_graph *g)
{
	struct cudnn_bag *b = &g->bag;
	struct cudnn_chain chain = { 0 };
	cudnnBackendNormMode_t mode = norm_mode(g->p->kernel);
	cudnnBackendNormFwdPhase_t phase = CUDNN_NORM_FWD_INFERENCE;
	struct cudnn_tensor xs = norm_shape(g, 0), ys = norm_shape(g, 1);
	struct cudnn_tensor scales = cudnn_shape_along(&xs, 1, DTYPE_F32);
	struct cudnn_tensor x = cudnn_tensor_bound(g, &xs, CUDNN_SOURCE, 0);
	struct cudnn_tensor y = cudnn_tensor_bound(g, &ys, CUDNN_DESTINATION, 0);
	struct cudnn_tensor scale = cudnn_tensor_bound(g, &scales, CUDNN_SCALE, 0), shift;
	g->epsilon = EPSILON;
	struct cudnn_tensor epsilon = cudnn_tensor_value(g, xs.rank, EPSILON);
	if (mode != CUDNN_RMS_NORM)
		shift = cudnn_tensor_bound(g, &scales, CUDNN_SHIFT, 0);
	cudnn_chain_epilogues(g, &chain, &y, 1, NULL);
	struct cudnn_tensor out = cudnn_chain_input(g, &chain, &y, DTYPE_F32);
	cudnnBackendDescriptor_t op = CUDNN_NEW(b, OPERATION_NORM_FORWARD);
	CUDNN_PUT(b, op, OPERATION_NORM_FWD_MODE, NORM_MODE, mode);
	CUDNN_PUT(b, op, OPERATION_NORM_FWD_PHASE, NORM_FWD_PHASE, phase);
	CUDNN_PUT(b, op, OPERATION_NORM_FWD_XDESC, BACKEND_DESCRIPTOR, x.d);
	CUDNN_PUT(b, op, OPERATION_NORM_FWD_SCALE_DESC, BACKEND_DESCRIPTOR, scale.d);
	if (mode != CUDNN_RMS_NORM)
		CUDNN_PUT(b, op, OPERATION_NORM_FWD_BIAS_DESC, BACKEND_DESCRIPTOR, shift.d);
	CUDNN_PUT(b, op, OPERATION_NORM_FWD_EPSILON_DESC, BACKEND_DESCRIPTOR, epsilon.d);
	CUDNN_PUT(b, op, OPERATION_NORM_FWD_YDESC, BACKEND_DESCRIPTOR, out.d);
	cudnn_operation_add(g, op, "norm forward operation");
	cudnn_chain_add(g, &chain, &out, &y);
}

/* Returns the layout of one value per channel that broadcasts to l. */
static struct cuda_layout channel_layout(const struct cuda_layout *l)
{
	struct cuda_layout one = { .dtype = DTYPE_F32, .shape = { .rank = l->shape.rank } };
	for (int i = 0; i < one.shape.rank; i++) {
		one.shape.dim[i] = i == 1 ? l->shape.dim[1] : 1;
		one.stride[i] = i == 1 ? 1 : l->shape.dim[1];
	}
	return one;
}

/* Batch normalization at inference: (x - mean) / sqrt(variance + epsilon) * scale + shift with values per
 * channel, as pointwise operations. cuDNN's own operation needs 1 / sqrt(variance + epsilon) as input, which
 * the layer does not have. */
void cudnn_build_batchnorm(struct cudnn_graph *g)
{
	struct cuda_layout l[3] = { cuda_operand_layout(g->p, 0, 0), cuda_operand_layout(g->p, 1, 0) };
	struct cudnn_tensor shape[3], *one = &shape[2];
	l[2] = channel_layout(&l[0]);
	cudnn_merge(l, 3, false, shape);
	struct cudnn_tensor x = cudnn_tensor_bound(g, &shape[0], CUDNN_SOURCE, 0);
	struct cudnn_tensor y = cudnn_tensor_bound(g, &shape[1], CUDNN_DESTINATION, 0);
	struct cudnn_tensor variance = cudnn_tensor_bound(g, one, CUDNN_VARIANCE, 0);
	g->epsilon = EPSILON;
	struct cudnn_tensor epsilon = cudnn_tensor_value(g, x.rank, EPSILON);
	struct cudnn_tensor sum = cudnn_tensor_virtual(g, one, DTYPE_F32),
			    root = cudnn_tensor_virtual(g, one, DTYPE_F32);
	struct cudnn_pointwise add = { .mode = CUDNN_POINTWISE_ADD },
			       rsqrt = { .mode = CUDNN_POINTWISE_RSQRT };
	struct cudnn_pointwise sub = { .mode = CUDNN_POINTWISE_SUB }, mul = { .mode = CUDNN_POINTWISE_MUL };
	struct cudnn_tensor mean = cudnn_tensor_bound(g, one, CUDNN_MEAN, 0);
	struct cudnn_tensor centered = cudnn_tensor_virtual(g, &x, DTYPE_F32);
	struct cudnn_tensor normal = cudnn_tensor_virtual(g, &x, DTYPE_F32);
	struct cudnn_chain chain = { 0 };
	cudnn_pointwise(g, &add, &variance, &epsilon, NULL, &sum);
	cudnn_pointwise(g, &rsqrt, &sum, NULL, NULL, &root);
	cudnn_pointwise(g, &sub, &x, &mean, NULL, &centered);
	cudnn_pointwise(g, &mul, &centered, &root, NULL, &normal);
	cudnn_chain_operand(&chain, CUDNN_POINTWISE_MUL, CUDNN_SCALE, 0, one);
	cudnn_chain_operand(&chain, CUDNN_POINTWISE_ADD, CUDNN_SHIFT, 0, one);
	cudnn_chain_epilogues(g, &chain, &y, 1, NULL);
	cudnn_chain_add(g, &chain, &normal, &y);
}
