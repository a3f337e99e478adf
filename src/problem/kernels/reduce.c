/* Along dimensions: reduce, argreduce, scan, topk. */
#include "config.h"

#include "problem/problem_private.h"
#include "problem/problem_segments.h"

static int reduce_check(const struct problem *p, struct error *err)
{
	const struct problem_shape *a = &p->shape[0], *b = &p->shape[1];
	if (a->rank != b->rank)
		return error_set(err, "problem: source and destination of a reduction need one rank");
	for (int i = 0; i < a->rank; i++)
		if (b->dim[i] != a->dim[i] && b->dim[i] != 1)
			return error_set(err, "problem: a reduced dimension must become 1");
	return 0;
}

static struct problem_shape reduce_shape(const struct problem *p, int i)
{
	return p->shape[i];
}

const struct kernel_row kernel_reduce = {
	.operands = 2,
	.names = { "src", "dst" },
	.mode = true,
	.segments = SEGMENTS(&segment_shape, &segment_shape1),
	.shapes = 2,
	.check = reduce_check,
	.shape = reduce_shape,
	.element_flops = 1,
	.layout = KERNEL_LAYOUT_SOURCE,
};

/* Shape of the source, and of the destination with another size along the axis. */
static struct problem_shape axis_shape(const struct problem *p, int i, int64_t size)
{
	struct problem_shape s = p->shape[0];
	if (i == 1)
		s.dim[p->axis] = size;
	return s;
}

static struct problem_shape argreduce_shape(const struct problem *p, int i)
{
	return axis_shape(p, i, 1);
}

const struct kernel_row kernel_argreduce = {
	.operands = 2,
	.names = { "src", "dst" },
	.mode = true,
	.segments = SEGMENTS(&segment_shape, &segment_axis),
	.shapes = 1,
	.axis = true,
	.shape = argreduce_shape,
	.element_flops = 1,
};

const struct kernel_row kernel_scan = {
	.operands = 2,
	.names = { "src", "dst" },
	.mode = true,
	.segments = SEGMENTS(&segment_shape, &segment_axis),
	.shapes = 1,
	.axis = true,
	.element_flops = 1,
};

/* ---- topk: `size` is k */

static void taken_write(const struct problem *p, struct str *out)
{
	number_write("k", p->size, out);
}

static int taken_read(struct cursor *c, struct problem *p)
{
	return cursor_field(c, "k", &p->size);
}

static const struct segment seg_taken = { "k", taken_write, taken_read };

static int topk_check(const struct problem *p, struct error *err)
{
	if (p->size < 1 || p->size > p->shape[0].dim[p->axis])
		return error_set(err, "problem: k is %lld of %lld", (long long)p->size,
			(long long)p->shape[0].dim[p->axis]);
	return 0;
}

static struct problem_shape topk_shape(const struct problem *p, int i)
{
	return axis_shape(p, i, p->size);
}

static double topk_indices_bytes(const struct problem *p)
{
	return dtype_bytes(DTYPE_S64, problem_operand_volume(p, 1));
}

const struct kernel_row kernel_topk = {
	.operands = 2,
	.names = { "src", "dst" },
	.mode = true,
	.segments = SEGMENTS(&segment_shape, &segment_axis, &seg_taken),
	.shapes = 1,
	.axis = true,
	.check = topk_check,
	.shape = topk_shape,
	.element_flops = 1,
	.other_bytes = topk_indices_bytes,
	.second_output = true,
};
