/* Kernels whose dimensions have no meaning: pointwise operations, reductions, softmax, concat, casts,
 * transposes. */
#include "config.h"

#include "runner/cudnn/cudnn_merge.h"

#define LEAST_RANK 3
#define SOURCES 3

/* Merged shapes of all operands. */
struct operands {
	struct cudnn_tensor source[SOURCES], destination, epilogue[PROBLEM_EPILOGUES];
};

/* Returns the layout of source i; of a transpose with its dimensions in the destination's order. */
static struct cuda_layout source_layout(const struct problem *p, int i)
{
	struct cuda_layout l = cuda_operand_layout(p, i, 0);
	if (p->kernel != KERNEL_TRANSPOSE)
		return l;
	struct cuda_layout transposed = l;
	for (int j = 0; j < l.shape.rank; j++) {
		transposed.shape.dim[j] = l.shape.dim[p->perm[j]];
		transposed.stride[j] = l.stride[p->perm[j]];
	}
	return transposed;
}

static void operands_shape(const struct problem *p, struct operands *o)
{
	struct cuda_layout l[CUDNN_MERGED];
	struct cudnn_tensor shape[CUDNN_MERGED];
	int sources = problem_operand_count(p) - 1, count = sources;
	for (int i = 0; i < sources; i++)
		l[i] = source_layout(p, i);
	l[count++] = cuda_operand_layout(p, sources, 0);
	for (int i = 0; i < p->epilogue_count; i++)
		if (p->epilogue[i].kind == EPILOGUE_BINARY)
			l[count++] = cuda_epilogue_layout(p, i);
	cudnn_merge(l, count, p->kernel == KERNEL_REDUCE, shape);
	for (int i = 0; i < sources; i++)
		o->source[i] = shape[i];
	o->destination = shape[sources];
	for (int i = 0, at = sources + 1; i < p->epilogue_count; i++)
		if (p->epilogue[i].kind == EPILOGUE_BINARY)
			o->epilogue[i] = shape[at++];
}

static void epilogues_add(struct cudnn_graph *g, struct cudnn_chain *chain, const struct operands *o)
{
	cudnn_chain_epilogues(g, chain, &o->destination, 1, cudnn_shape_of);
	for (int i = 0; i < chain->count; i++)
		if (chain->step[i].second == CUDNN_STEP_TENSOR && chain->step[i].role == CUDNN_EPILOGUE)
			chain->step[i].tensor = o->epilogue[chain->step[i].index];
}

/* Builds an operation on all sources (NULL: only the chain), then the epilogues. */
static void pointwise_problem(
	struct cudnn_graph *g, const struct cudnn_pointwise *how, struct cudnn_chain *chain)
{
	int count = problem_operand_count(g->p) - 1;
	struct operands o;
	struct cudnn_tensor in[SOURCES] = { { 0 } };
	operands_shape(g->p, &o);
	/* cuDNN's engines accept 64-bit types when they are listed, and fail when they are compiled */
	for (int i = 0; i < count; i++)
		if (dtype_bits(o.source[i].dtype) > 32)
			cudnn_bag_refuse(&g->bag, "cuDNN's element-wise engines compute in 32 bits and do "
				"not support %s",
				dtype_name(o.source[i].dtype));
	struct cudnn_tensor y = cudnn_tensor_bound(g, &o.destination, CUDNN_DESTINATION, 0);
	for (int i = 0; i < count; i++)
		in[i] = cudnn_tensor_bound(g, &o.source[i], CUDNN_SOURCE, i);
	epilogues_add(g, chain, &o);
	struct cudnn_tensor out = how ? cudnn_chain_input(g, chain, &y, DTYPE_F32) : in[0];
	if (how && count == 3) /* select: a where the condition holds, else b */
		cudnn_pointwise(g, how, &in[1], &in[2], &in[0], &out);
	else if (how)
		cudnn_pointwise(g, how, &in[0], count > 1 ? &in[1] : NULL, NULL, &out);
	cudnn_chain_add(g, chain, &out, &y);
}

void cudnn_build_eltwise(struct cudnn_graph *g)
{
	struct cudnn_chain chain = { 0 };
	if (!cudnn_chain_mode(g, &chain, g->p->mode, g->p->alpha, g->p->beta))
		pointwise_problem(g, NULL, &chain);
}

void cudnn_build_binary(struct cudnn_graph *g)
{
	struct cudnn_chain chain = { 0 };
	struct cudnn_pointwise how = { .mode = cudnn_binary_mode(g->p->mode) };
	pointwise_problem(g, &how, &chain);
}

void cudnn_build_select(struct cudnn_graph *g)
{
	struct cudnn_chain chain = { 0 };
	struct cudnn_pointwise how = { .mode = CUDNN_POINTWISE_BINARY_SELECT };
	pointwise_problem(g, &how, &chain);
}

/* A cast, or a transpose of a source whose dimensions are in the destination's order. */
void cudnn_build_identity(struct cudnn_graph *g)
{
	struct cudnn_chain chain = { 0 };
	struct cudnn_pointwise how = { .mode = CUDNN_POINTWISE_IDENTITY };
	if (g->p->operand[1].dtype == DTYPE_BOOL && g->p->operand[0].dtype != DTYPE_BOOL)
		cudnn_bag_refuse(&g->bag, "cuDNN does not convert numbers to bool");
	pointwise_problem(g, &how, &chain);
}

static float count_ratio(const struct cudnn_tensor *x, const struct cudnn_tensor *y)
{
	double ratio = 1;
	for (int i = 0; i < x->rank; i++)
		ratio *= (double)x->dim[i] / (double)y->dim[i];
	return (float)ratio;
}

/* For a mean the inputs are scaled by 1 / count and then added: cuDNN's engines have no mean, and nothing may
 * follow a reduction. */
void cudnn_build_reduce(struct cudnn_graph *g)
{
	static const cudnnReduceTensorOp_t of[MODE_COUNT] = {
		[MODE_REDUCE_SUM] = CUDNN_REDUCE_TENSOR_ADD, [MODE_REDUCE_MEAN] = CUDNN_REDUCE_TENSOR_ADD,
		[MODE_REDUCE_MAX] = CUDNN_REDUCE_TENSOR_MAX, [MODE_REDUCE_MIN] = CUDNN_REDUCE_TENSOR_MIN,
		[MODE_REDUCE_MUL] = CUDNN_REDUCE_TENSOR_MUL, [MODE_REDUCE_L2] = CUDNN_REDUCE_TENSOR_NORM2,
	};
	struct cudnn_chain chain = { 0 };
	struct operands o;
	operands_shape(g->p, &o);
	struct cudnn_tensor x = cudnn_tensor_bound(g, &o.source[0], CUDNN_SOURCE, 0);
	struct cudnn_tensor y = cudnn_tensor_bound(g, &o.destination, CUDNN_DESTINATION, 0);
	epilogues_add(g, &chain, &o);
	struct cudnn_tensor out = cudnn_chain_input(g, &chain, &y, DTYPE_F32);
	if (g->p->mode == MODE_REDUCE_MEAN) {
		struct cudnn_pointwise mul = { .mode = CUDNN_POINTWISE_MUL };
		struct cudnn_tensor share = cudnn_tensor_value(g, x.rank, 1 / count_ratio(&x, &y));
		struct cudnn_tensor part = cudnn_tensor_virtual(g, &x, DTYPE_F32);
		cudnn_pointwise(g, &mul, &x, &share, NULL, &part);
		x = part;
	}
	cudnn_reduction(g, of[g->p->mode], &x, &out);
	cudnn_chain_add(g, &chain, &out, &y);
}

void cudnn_build_concat(struct cudnn_graph *g)
{
	struct cudnn_bag *b = &g->bag;
	cudnnBackendDescriptor_t in[PROBLEM_SHAPES];
	struct cuda_layout to = cuda_operand_layout(g->p, 1, 0);
	struct cudnn_tensor ys = cudnn_shape_of(&to, LEAST_RANK);
	struct cudnn_tensor y = cudnn_tensor_bound(g, &ys, CUDNN_DESTINATION, 0);
	int64_t axis = g->p->axis + ys.rank - to.shape.rank;
	if (g->p->epilogue_count)
		cudnn_bag_refuse(b, "cuDNN does not fuse epilogues with a concat");
	for (int i = 0; i < g->p->shape_count; i++) {
		struct cuda_layout l = cuda_operand_layout(g->p, 0, i);
		struct cudnn_tensor shape = cudnn_shape_of(&l, LEAST_RANK);
		in[i] = cudnn_tensor_bound(g, &shape, CUDNN_SOURCE, i).d;
	}
	cudnnBackendDescriptor_t op = CUDNN_NEW(b, OPERATION_CONCAT);
	CUDNN_PUT(b, op, OPERATION_CONCAT_AXIS, INT64, axis);
	CUDNN_PUT_ARRAY(b, op, OPERATION_CONCAT_INPUT_DESCS, BACKEND_DESCRIPTOR, g->p->shape_count, in);
	CUDNN_PUT(b, op, OPERATION_CONCAT_OUTPUT_DESC, BACKEND_DESCRIPTOR, y.d);
	cudnn_operation_add(g, op, "concat operation");
}
