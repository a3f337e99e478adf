/* Element by element: eltwise, binary, select, cast, dropout. */
#include "config.h"

#include "problem/problem_private.h"
#include "problem/problem_segments.h"

#include <string.h>

static bool any_order(const struct problem *p)
{
	(void)p;
	return true;
}

const struct kernel_row kernel_eltwise = {
	.operands = 2,
	.names = { "src", "dst" },
	.mode = true,
	.segments = SEGMENTS(&segment_shape),
	.shapes = 1,
	.element_flops = 1,
	.image_like = true,
	.layout = KERNEL_LAYOUT_PASS,
	.any_order = any_order,
	.pointwise = true,
	.eta_factor = { 0.9, 0.9 },
	.estimated_from_own = true,
	.leading_dimension = true,
};

const struct kernel_row kernel_cast = {
	.operands = 2,
	.names = { "src", "dst" },
	.segments = SEGMENTS(&segment_shape),
	.shapes = 1,
	.image_like = true,
	.layout = KERNEL_LAYOUT_PASS,
	.any_order = any_order,
	.estimated_from_own = true,
	.leading_dimension = true,
};

static int dropout_check(const struct problem *p, struct error *err)
{
	return p->alpha >= 0 && p->alpha < 1 ? 0
					     : error_set(err, "problem: a ratio must be from 0 to below 1");
}

/* A comparison and a scaling. */
const struct kernel_row kernel_dropout = {
	.operands = 2,
	.names = { "src", "dst" },
	.mode = true,
	.segments = SEGMENTS(&segment_shape),
	.shapes = 1,
	.check = dropout_check,
	.element_flops = 2,
	.layout = KERNEL_LAYOUT_PASS,
	.any_order = any_order,
};

/* ---- operands that broadcast */

/* Checks that the first `count` shapes broadcast, pair by pair. */
static int check_broadcast(const struct problem *p, int count, struct error *err)
{
	for (int j = 0; j < count * count; j++) {
		const struct problem_shape *a = &p->shape[j / count], *b = &p->shape[j % count];
		for (int i = 1; i <= a->rank && i <= b->rank; i++) {
			int64_t x = a->dim[a->rank - i], y = b->dim[b->rank - i];
			if (x != y && x != 1 && y != 1)
				return error_set(err, "problem: the shapes do not broadcast");
		}
	}
	return 0;
}

/* Shape of operand i; the destination's is that to which the `count` shapes before it broadcast. */
static struct problem_shape broadcast_shape(const struct problem *p, int i, int count)
{
	struct problem_shape s = p->shape[i < count ? i : 0];
	for (int j = 1; i == count && j < count; j++) {
		const struct problem_shape a = s, *b = &p->shape[j];
		s.rank = a.rank > b->rank ? a.rank : b->rank;
		for (int d = 1; d <= s.rank; d++) {
			int64_t x = d <= a.rank ? a.dim[a.rank - d] : 1,
				y = d <= b->rank ? b->dim[b->rank - d] : 1;
			s.dim[s.rank - d] = x == 1 ? y : x;
		}
	}
	return s;
}

static int binary_check(const struct problem *p, struct error *err)
{
	return check_broadcast(p, 2, err);
}

static struct problem_shape binary_shape(const struct problem *p, int i)
{
	return broadcast_shape(p, i, 2);
}

static double binary_flops(const struct problem *p)
{
	return problem_operand_volume(p, 2);
}

static bool binary_any_order(const struct problem *p)
{
	const struct problem_shape *a = &p->shape[0], *b = &p->shape[1];
	return a->rank == b->rank && memcmp(a->dim, b->dim, (size_t)a->rank * sizeof(a->dim[0])) == 0;
}

const struct kernel_row kernel_binary = {
	.operands = 3,
	.names = { "a", "b", "dst" },
	.mode = true,
	.segments = SEGMENTS(&segment_shape, &segment_shape1),
	.shapes = 2,
	.check = binary_check,
	.shape = binary_shape,
	.flops = binary_flops,
	.image_like = true,
	.layout = KERNEL_LAYOUT_PASS,
	.any_order = binary_any_order,
	.pointwise = true,
	.eta_factor = { 1.7, 1.7 },
	.estimated_from_own = true,
	.leading_dimension = true,
};

static int select_check(const struct problem *p, struct error *err)
{
	return check_broadcast(p, 3, err);
}

static struct problem_shape select_shape(const struct problem *p, int i)
{
	return broadcast_shape(p, i, 3);
}

const struct kernel_row kernel_select = {
	.operands = 4,
	.names = { "cond", "a", "b", "dst" },
	.segments = SEGMENTS(&segment_shape, &segment_shape1, &segment_shape2),
	.shapes = 3,
	.check = select_check,
	.shape = select_shape,
	.layout = KERNEL_LAYOUT_PASS,
	.leading_dimension = true,
};
