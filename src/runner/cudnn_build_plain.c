#include "config.h"

#include "runner/cudnn_graph.h"

/* Kernels on plain shapes: pointwise ones, reductions, softmax, concatenation, changes of type and of layout. */

#define LEAST_RANK 3

static bool is_without_holes(const struct cuda_layout *l)
{
	int64_t count = 1, last = 1;
	for (int i = 0; i < l->shape.rank; i++) {
		count *= l->shape.dim[i];
		last += (l->shape.dim[i] - 1) * l->stride[i];
	}
	return count == last;
}

/* Where every operand lies alike and without holes, the shape means nothing: one row of elements. */
static bool is_row(const struct problem *p)
{
	struct cuda_layout first = cuda_operand_layout(p, 0, 0);
	bool row = is_without_holes(&first);
	for (int i = 1; i < problem_operand_count(p); i++) {
		struct cuda_layout l = cuda_operand_layout(p, i, 0);
		row = row && cudnn_layouts_equal(&first, &l);
	}
	for (int i = 0; i < p->epilogue_count; i++) {
		if (p->epilogue[i].kind == EPILOGUE_ELTWISE)
			continue;
		struct cuda_layout l = cuda_epilogue_layout(p, i);
		row = row && p->epilogue[i].kind == EPILOGUE_BINARY && cudnn_layouts_equal(&first, &l);
	}
	return row;
}

static struct cudnn_tensor row_shape(const struct cuda_layout *l)
{
	int64_t dim[LEAST_RANK] = { 1, 1, 1 };
	for (int i = 0; i < l->shape.rank; i++)
		dim[LEAST_RANK - 1] *= l->shape.dim[i];
	return cudnn_shape_dense(LEAST_RANK, dim, l->dtype);
}

/* A pointwise operation on all operands of the problem, then its epilogues. */
static void pointwise_problem(struct cudnn_graph *g, const struct cudnn_pointwise *how, struct cudnn_chain *chain)
{
	bool row = is_row(g->p);
	int count = problem_operand_count(g->p) - 1;
	struct cuda_layout to = cuda_operand_layout(g->p, count, 0);
	struct cudnn_tensor ys = row ? row_shape(&to) : cudnn_shape_plain(&to, LEAST_RANK);
	struct cudnn_tensor y = cudnn_tensor_bound(g, &ys, CUDNN_DESTINATION, 0), in[3] = { { 0 } };
	for (int i = 0; i < count; i++) {
		struct cuda_layout l = cuda_operand_layout(g->p, i, 0);
		struct cudnn_tensor shape = row ? row_shape(&l) : cudnn_shape_plain(&l, ys.rank);
		in[i] = cudnn_tensor_bound(g, &shape, CUDNN_SOURCE, i);
	}
	cudnn_chain_epilogues(g, chain, &y, 1, row ? NULL : cudnn_shape_plain);
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

void cudnn_build_cast(struct cudnn_graph *g)
{
	struct cudnn_chain chain = { 0 };
	struct cudnn_pointwise how = { .mode = CUDNN_POINTWISE_IDENTITY };
	pointwise_problem(g, &how, &chain);
}

/* The identity on a source whose strides are permuted to the destination's order. */
void cudnn_build_transpose(struct cudnn_graph *g)
{
	struct cuda_layout in = cuda_operand_layout(g->p, 0, 0), to = cuda_operand_layout(g->p, 1, 0), from = to;
	struct cudnn_chain chain = { 0 };
	struct cudnn_pointwise how = { .mode = CUDNN_POINTWISE_IDENTITY };
	from.dtype = in.dtype;
	for (int i = 0; i < to.shape.rank; i++)
		from.stride[i] = in.stride[g->p->perm[i]];
	struct cudnn_tensor xs = cudnn_shape_plain(&from, LEAST_RANK), ys = cudnn_shape_plain(&to, LEAST_RANK);
	struct cudnn_tensor x = cudnn_tensor_bound(g, &xs, CUDNN_SOURCE, 0);
	struct cudnn_tensor y = cudnn_tensor_bound(g, &ys, CUDNN_DESTINATION, 0);
	cudnn_chain_epilogues(g, &chain, &y, 1, cudnn_shape_plain);
	struct cudnn_tensor out = cudnn_chain_input(g, &chain, &y, DTYPE_F32);
	cudnn_pointwise(g, &how, &x, NULL, NULL, &out);
	cudnn_chain_add(g, &chain, &out, &y);
}

void cudnn_build_reduce(struct cudnn_graph *g)
{
	static const cudnnReduceTensorOp_t of[MODE_COUNT] = {
		[MODE_REDUCE_SUM] = CUDNN_REDUCE_TENSOR_ADD, [MODE_REDUCE_MEAN] = CUDNN_REDUCE_TENSOR_AVG,
		[MODE_REDUCE_MAX] = CUDNN_REDUCE_TENSOR_MAX, [MODE_REDUCE_MIN] = CUDNN_REDUCE_TENSOR_MIN,
		[MODE_REDUCE_MUL] = CUDNN_REDUCE_TENSOR_MUL, [MODE_REDUCE_L2] = CUDNN_REDUCE_TENSOR_NORM2,
	};
	struct cudnn_chain chain = { 0 };
	struct cuda_layout in = cuda_operand_layout(g->p, 0, 0), to = cuda_operand_layout(g->p, 1, 0);
	struct cudnn_tensor xs = cudnn_shape_plain(&in, LEAST_RANK), ys = cudnn_shape_plain(&to, LEAST_RANK);
	struct cudnn_tensor x = cudnn_tensor_bound(g, &xs, CUDNN_SOURCE, 0);
	struct cudnn_tensor y = cudnn_tensor_bound(g, &ys, CUDNN_DESTINATION, 0);
	cudnn_chain_epilogues(g, &chain, &y, 1, NULL);
	struct cudnn_tensor out = cudnn_chain_input(g, &chain, &y, DTYPE_F32);
	cudnn_reduction(g, of[g->p->mode], &x, &out);
	cudnn_chain_add(g, &chain, &out, &y);
}

/* Dense rows around the axis: outer, size, inner. */
static struct cudnn_tensor line_shape(const struct cuda_layout *l, int axis)
{
	int64_t dim[LEAST_RANK] = { 1, 1, 1 };
	for (int i = 0; i < l->shape.rank; i++)
		dim[i < axis ? 0 : i == axis ? 1 : 2] *= l->shape.dim[i];
	return cudnn_shape_dense(LEAST_RANK, dim, l->dtype);
}

/* exp(x - max) / sum, or x - max - log(sum). */
void cudnn_build_softmax(struct cudnn_graph *g)
{
	struct cudnn_chain chain = { 0 };
	struct cuda_layout in = cuda_operand_layout(g->p, 0, 0), to = cuda_operand_layout(g->p, 1, 0);
	struct cudnn_tensor xs = line_shape(&in, g->p->axis), ys = line_shape(&to, g->p->axis), one = xs;
	struct cudnn_pointwise sub = { .mode = CUDNN_POINTWISE_SUB }, exponent = { .mode = CUDNN_POINTWISE_EXP };
	struct cudnn_pointwise logarithm = { .mode = CUDNN_POINTWISE_LOG }, div = { .mode = CUDNN_POINTWISE_DIV };
	bool log = g->p->mode == MODE_LOGSOFTMAX;
	one.dim[1] = 1;
	one.stride[0] = one.stride[1] = one.dim[2];
	struct cudnn_tensor x = cudnn_tensor_bound(g, &xs, CUDNN_SOURCE, 0);
	struct cudnn_tensor y = cudnn_tensor_bound(g, &ys, CUDNN_DESTINATION, 0);
	cudnn_chain_epilogues(g, &chain, &y, 1, NULL);
	struct cudnn_tensor most = cudnn_tensor_virtual(g, &one, DTYPE_F32), sum = cudnn_tensor_virtual(g, &one, DTYPE_F32);
	struct cudnn_tensor below = cudnn_tensor_virtual(g, &xs, DTYPE_F32);
	struct cudnn_tensor power = cudnn_tensor_virtual(g, &xs, DTYPE_F32);
	struct cudnn_tensor out = cudnn_chain_input(g, &chain, &y, DTYPE_F32);
	cudnn_reduction(g, CUDNN_REDUCE_TENSOR_MAX, &x, &most);
	cudnn_pointwise(g, &sub, &x, &most, NULL, &below);
	cudnn_pointwise(g, &exponent, &below, NULL, NULL, &power);
	cudnn_reduction(g, CUDNN_REDUCE_TENSOR_ADD, &power, &sum);
	if (log) {
		struct cudnn_tensor root = cudnn_tensor_virtual(g, &one, DTYPE_F32);
		cudnn_pointwise(g, &logarithm, &sum, NULL, NULL, &root);
		cudnn_pointwise(g, &sub, &below, &root, NULL, &out);
	} else {
		cudnn_pointwise(g, &div, &power, &sum, NULL, &out);
	}
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
		cudnn_bag_refuse(b, "cuDNN fuses nothing with a concatenation");
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
