/* Strides of a problem's operands in each layout. */
#include "config.h"

#include "problem/kernel.h"
#include "runner/gpu/cuda_work.h"

#include <string.h>

bool cuda_is_float8(enum dtype t)
{
	return t == DTYPE_F8E4M3 || t == DTYPE_F8E5M2;
}

float cuda_float8_scales(const struct problem *p, float scale[CUDA_SCALES])
{
	bool scaled = cuda_is_float8(p->operand[0].dtype) && cuda_is_float8(p->operand[1].dtype);
	scale[0] = scaled ? 0.25f : 1;
	scale[1] = scaled ? 4 : 1;
	scale[2] = scaled && cuda_is_float8(p->operand[2].dtype) ? 0.5f : 1;
	return scale[2];
}

static void strides_dense(struct cuda_layout *l)
{
	int64_t step = 1;
	for (int i = l->shape.rank - 1; i >= 0; i--) {
		l->stride[i] = step;
		step *= l->shape.dim[i];
	}
}

/* Makes dimension 1 (channels; input channels of weights) the innermost one. */
static void strides_channels_last(struct cuda_layout *l)
{
	int64_t step = l->shape.dim[1];
	l->stride[1] = 1;
	for (int i = l->shape.rank - 1; i >= 2; i--) {
		l->stride[i] = step;
		step *= l->shape.dim[i];
	}
	l->stride[0] = step;
}

static struct cuda_layout layout_of(const struct operand *o, const struct problem_shape *s)
{
	struct cuda_layout l = { .dtype = o->dtype, .shape = *s };
	if (o->layout == LAYOUT_STRIDES)
		memcpy(l.stride, o->stride, (size_t)(o->stride_rank < s->rank ? o->stride_rank : s->rank) *
			sizeof(l.stride[0]));
	else if (o->layout == LAYOUT_NXC && s->rank > 2)
		strides_channels_last(&l);
	else
		strides_dense(&l);
	return l;
}

struct cuda_layout cuda_operand_layout(const struct problem *p, int i, int source)
{
	const struct operand *o = &p->operand[i];
	struct problem_shape s =
		kernel_row(p->kernel)->source_list && i == 0 ? p->shape[source] : problem_operand_shape(p, i);
	struct cuda_layout l = layout_of(o, &s);
	bool transposed = p->kernel == KERNEL_MATMUL &&
		((i == 0 && p->transpose_a) || (i == 1 && p->transpose_b));
	if (transposed && o->layout != LAYOUT_STRIDES) { /* explicit strides include the transpose */
		l.stride[s.rank - 2] = 1;
		l.stride[s.rank - 1] = s.dim[s.rank - 2];
	}
	return l;
}

struct cuda_layout cuda_epilogue_layout(const struct problem *p, int e)
{
	const struct epilogue *x = &p->epilogue[e];
	struct problem_shape s = problem_operand_shape(p, problem_operand_count(p) - 1);
	if (x->kind == EPILOGUE_BIAS || x->kind == EPILOGUE_SCALE)
		s = (struct problem_shape){ .rank = 1, .dim = { s.dim[problem_channel_axis(p)] } };
	return layout_of(&x->operand, &s);
}

struct cuda_layout cuda_mask_layout(const struct problem *p)
{
	struct operand mask = { .dtype = p->operand[0].dtype };
	return layout_of(&mask, problem_mask(p));
}

const char *cuda_layout_name(const struct problem *p, int i)
{
	static const char *const names[] = { [LAYOUT_ANY] = "ncx", [LAYOUT_NCX] = "ncx", [LAYOUT_NXC] = "nxc",
		[LAYOUT_STRIDES] = "strided" };
	return names[p->operand[i].layout];
}
