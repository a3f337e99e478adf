/* Gather and select as plans of strides. */
#include "config.h"

#include "runner/kernels/cuda_kernels.h"

/* Plans gather and select on the host. */

static int64_t volume(const struct problem_shape *s, int from, int until)
{
	int64_t n = 1;
	for (int i = from; i < until; i++)
		n *= s->dim[i];
	return n;
}

int cuda_gather_plan(struct cuda_gather *g, const struct problem *p)
{
	const struct problem_shape *s = &p->shape[0];
	int bytes = dtype_bits(p->operand[0].dtype) / 8;
	*g = (struct cuda_gather){ .bytes = bytes,
		.index_type = p->operand[1].dtype,
		.outer = volume(s, 0, p->axis),
		.size = s->dim[p->axis],
		.count = volume(&p->shape[1], 0, p->shape[1].rank),
		.inner = volume(s, p->axis + 1, s->rank) };
	if (!bytes || bytes > 16 || (g->index_type != DTYPE_S32 && g->index_type != DTYPE_S64) ||
		p->operand[0].dtype != p->operand[2].dtype)
		return -1;
	while (g->bytes < 16 && g->inner % 2 == 0) {
		g->inner /= 2;
		g->bytes *= 2;
	}
	return 0;
}

/* Sets the strides of a dense shape that is broadcast to `rank` dimensions; 0 in broadcast dimensions. */
static void broadcast_strides(const struct problem_shape *s, int rank, int64_t *stride)
{
	int64_t step = 1;
	for (int i = rank - 1; i >= 0; i--) {
		int from = i - (rank - s->rank);
		stride[i] = from < 0 || s->dim[from] == 1 ? 0 : step;
		step *= from < 0 ? 1 : s->dim[from];
	}
}

int cuda_select_plan(struct cuda_select *c, const struct problem *p)
{
	struct problem_shape to = problem_operand_shape(p, 3);
	*c = (struct cuda_select){ .bytes = dtype_bits(p->operand[3].dtype) / 8 };
	if (!c->bytes || c->bytes > 8 || dtype_bits(p->operand[0].dtype) != 8 ||
		p->operand[1].dtype != p->operand[3].dtype || p->operand[2].dtype != p->operand[3].dtype)
		return -1;
	/* neighboring dimensions are merged if all three operands allow it */
	int64_t x[3][PROBLEM_RANK], *stride[3] = { c->condition, c->a, c->b };
	for (int i = 0; i < 3; i++)
		broadcast_strides(&p->shape[i], to.rank, x[i]);
	for (int i = 0; i < to.rank; i++) {
		int last = c->rank - 1;
		bool joins = last >= 0;
		for (int k = 0; k < 3 && joins; k++)
			joins = stride[k][last] == x[k][i] * to.dim[i];
		if (to.dim[i] == 1)
			continue;
		if (!joins)
			last = c->rank++;
		c->dim[last] = joins ? c->dim[last] * to.dim[i] : to.dim[i];
		for (int k = 0; k < 3; k++)
			stride[k][last] = x[k][i];
	}
	if (!c->rank)
		c->dim[c->rank++] = 1;
	return 0;
}
