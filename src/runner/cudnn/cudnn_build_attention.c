/* Scaled-dot-product attention, in two variants: composed of two matmuls and a softmax, a form that cuDNN's
 * fused engines recognize also with a causal mask; and cuDNN's own attention operation. */
#include "config.h"

#include "runner/cudnn/cudnn_graph.h"

#include <math.h>

#define RANK 4

static struct cudnn_tensor operand(struct cudnn_graph *g, int i)
{
	struct cuda_layout l = cuda_operand_layout(g->p, i, 0);
	struct cudnn_tensor shape = cudnn_shape_of(&l, RANK);
	return i == 3 ? cudnn_tensor_bound(g, &shape, CUDNN_DESTINATION, 0)
		      : cudnn_tensor_bound(g, &shape, CUDNN_SOURCE, i);
}

static float scale_of(const struct problem *p)
{
	return (float)(1 / sqrt((double)p->head_size));
}

/* Scales the scores. Where a mask is added next, by a division: cuDNN 9.19 takes a multiplication and an
 * addition for parts of dropout. */
static struct cudnn_tensor scaled(struct cudnn_graph *g, const struct cudnn_tensor *product)
{
	bool divides = problem_mask(g->p) != NULL;
	struct cudnn_pointwise how = { .mode = divides ? CUDNN_POINTWISE_DIV : CUDNN_POINTWISE_MUL };
	float by = divides ? 1 / scale_of(g->p) : scale_of(g->p);
	struct cudnn_tensor scale = cudnn_tensor_value(g, RANK, by);
	struct cudnn_tensor scores = cudnn_tensor_virtual(g, product, DTYPE_F32);
	cudnn_pointwise(g, &how, product, &scale, NULL, &scores);
	return scores;
}

static void refuse_epilogues(struct cudnn_graph *g)
{
	if (g->p->epilogue_count)
		cudnn_bag_refuse(&g->bag, "cuDNN does not fuse epilogues with attention");
}

void cudnn_build_sdpa(struct cudnn_graph *g)
{
	struct cudnn_bag *b = &g->bag;
	refuse_epilogues(g);
	if (g->p->mode != MODE_FULL)
		cudnn_bag_refuse(b, "cuDNN's attention operation has no mask");
	struct cudnn_tensor q = operand(g, 0), k = operand(g, 1), v = operand(g, 2), o = operand(g, 3);
	struct cudnn_tensor scale = cudnn_tensor_value(g, RANK, scale_of(g->p));
	cudnnBackendDescriptor_t op = CUDNN_NEW(b, OPERATION_SDPA_FWD);
	CUDNN_PUT(b, op, OPERATION_SDPA_FWD_QDESC, BACKEND_DESCRIPTOR, q.d);
	CUDNN_PUT(b, op, OPERATION_SDPA_FWD_KDESC, BACKEND_DESCRIPTOR, k.d);
	CUDNN_PUT(b, op, OPERATION_SDPA_FWD_VDESC, BACKEND_DESCRIPTOR, v.d);
	CUDNN_PUT(b, op, OPERATION_SDPA_FWD_ODESC, BACKEND_DESCRIPTOR, o.d);
	CUDNN_PUT(b, op, OPERATION_SDPA_FWD_SCALEDESC, BACKEND_DESCRIPTOR, scale.d);
	cudnn_operation_add(g, op, "attention operation");
}

/* Masks scores with -infinity where the key comes after the query, both counted from the end: row + keys -
 * queries < column. */
static struct cudnn_tensor causal_mask(struct cudnn_graph *g, const struct cudnn_tensor *scores)
{
	const struct problem *p = g->p;
	struct cudnn_pointwise index = { .mode = CUDNN_POINTWISE_GEN_INDEX, .math = DTYPE_S32, .axis = 2 };
	struct cudnn_pointwise add = { .mode = CUDNN_POINTWISE_ADD, .math = DTYPE_S32 };
	struct cudnn_pointwise sub = { .mode = CUDNN_POINTWISE_SUB, .math = DTYPE_S32 };
	struct cudnn_pointwise compare = { .mode = CUDNN_POINTWISE_CMP_GE, .math = DTYPE_BOOL };
	struct cudnn_pointwise select = { .mode = CUDNN_POINTWISE_BINARY_SELECT };
	struct cudnn_tensor row = cudnn_tensor_virtual(g, scores, DTYPE_S32);
	cudnn_pointwise(g, &index, scores, NULL, NULL, &row);
	/* needed also if keys equals queries: without these operations cuDNN 9.19 mistakes the graph for one
	 * with dropout */
	struct cudnn_tensor keys = cudnn_tensor_index_value(g, RANK, (int32_t)p->key_length);
	struct cudnn_tensor queries = cudnn_tensor_index_value(g, RANK, (int32_t)p->query_length);
	struct cudnn_tensor below = cudnn_tensor_virtual(g, scores, DTYPE_S32);
	struct cudnn_tensor shifted = cudnn_tensor_virtual(g, scores, DTYPE_S32);
	cudnn_pointwise(g, &add, &row, &keys, NULL, &below);
	cudnn_pointwise(g, &sub, &below, &queries, NULL, &shifted);
	struct cudnn_tensor column = cudnn_tensor_virtual(g, scores, DTYPE_S32);
	index.axis = 3;
	cudnn_pointwise(g, &index, scores, NULL, NULL, &column);
	struct cudnn_tensor seen = cudnn_tensor_virtual(g, scores, DTYPE_BOOL);
	cudnn_pointwise(g, &compare, &shifted, &column, NULL, &seen);
	struct cudnn_tensor never = cudnn_tensor_value(g, RANK, -INFINITY);
	struct cudnn_tensor masked = cudnn_tensor_virtual(g, scores, DTYPE_F32);
	cudnn_pointwise(g, &select, scores, &never, &seen, &masked);
	return masked;
}

/* The scores and the mask, which broadcasts. */
static struct cudnn_tensor added_mask(struct cudnn_graph *g, const struct cudnn_tensor *scores)
{
	struct cuda_layout layout = cuda_mask_layout(g->p);
	struct cudnn_tensor shape = cudnn_shape_of(&layout, RANK);
	struct cudnn_tensor mask = cudnn_tensor_bound(g, &shape, CUDNN_SOURCE, 3);
	struct cudnn_tensor sum = cudnn_tensor_virtual(g, scores, DTYPE_F32);
	struct cudnn_pointwise add = { .mode = CUDNN_POINTWISE_ADD };
	cudnn_pointwise(g, &add, scores, &mask, NULL, &sum);
	return sum;
}

static struct cudnn_tensor softmax(struct cudnn_graph *g, const struct cudnn_tensor *scores, enum dtype to)
{
	struct cudnn_pointwise sub = { .mode = CUDNN_POINTWISE_SUB },
			       exponent = { .mode = CUDNN_POINTWISE_EXP };
	struct cudnn_pointwise div = { .mode = CUDNN_POINTWISE_DIV };
	int64_t dim[RANK] = { scores->dim[0], scores->dim[1], scores->dim[2], 1 };
	struct cudnn_tensor one = cudnn_shape_dense(RANK, dim, DTYPE_F32);
	struct cudnn_tensor most = cudnn_tensor_virtual(g, &one, DTYPE_F32),
			    sum = cudnn_tensor_virtual(g, &one, DTYPE_F32);
	struct cudnn_tensor below = cudnn_tensor_virtual(g, scores, DTYPE_F32);
	struct cudnn_tensor power = cudnn_tensor_virtual(g, scores, DTYPE_F32);
	struct cudnn_tensor share = cudnn_tensor_virtual(g, scores, to);
	cudnn_reduction(g, CUDNN_REDUCE_TENSOR_MAX, scores, &most);
	cudnn_pointwise(g, &sub, scores, &most, NULL, &below);
	cudnn_pointwise(g, &exponent, &below, NULL, NULL, &power);
	cudnn_reduction(g, CUDNN_REDUCE_TENSOR_ADD, &power, &sum);
	cudnn_pointwise(g, &div, &power, &sum, NULL, &share);
	return share;
}

void cudnn_build_attention(struct cudnn_graph *g)
{
	const struct problem *p = g->p;
	refuse_epilogues(g);
	/* the keys are transposed by swapping their last two dimensions */
	struct cuda_layout kl = cuda_operand_layout(p, 1, 0);
	struct cudnn_tensor ks = cudnn_shape_of(&kl, RANK);
	int64_t length = ks.dim[2], stride = ks.stride[2];
	ks.dim[2] = ks.dim[3];
	ks.stride[2] = ks.stride[3];
	ks.dim[3] = length;
	ks.stride[3] = stride;
	struct cudnn_tensor q = operand(g, 0), k = cudnn_tensor_bound(g, &ks, CUDNN_SOURCE, 1);
	struct cudnn_tensor v = operand(g, 2), o = operand(g, 3);
	int64_t dim[RANK] = { p->n, p->heads, p->query_length, p->key_length };
	struct cudnn_tensor square = cudnn_shape_dense(RANK, dim, DTYPE_F32);
	struct cudnn_tensor product = cudnn_tensor_virtual(g, &square, DTYPE_F32);
	cudnn_matmul(g, DTYPE_F32, &q, &k, &product);
	struct cudnn_tensor scores = scaled(g, &product);
	if (p->mode == MODE_CAUSAL)
		scores = causal_mask(g, &scores);
	else if (problem_mask(p))
		scores = added_mask(g, &scores);
	struct cudnn_tensor share = softmax(g, &scores, p->operand[2].dtype);
	cudnn_matmul(g, DTYPE_F32, &share, &v, &o);
}
