/* Products of 8-bit integers that no library has: u8 operands whose correction is not constant
 * (cuda_signed.h), and convolutions in groups, since cuDNN has no grouped ones with factors. */
#include "config.h"

#include "runner/own/cuda_own_private.h"

#include <math.h>

#include "runner/gpu/cuda_signed.h"

/* Columns of a group below which most of a tile is empty; from half of them on it may be faster. */
#define FEW_COLUMNS 16

static bool is_eight(enum dtype t)
{
	return t == DTYPE_S8 || t == DTYPE_U8;
}

/* True if a library multiplies this, perhaps as s8. */
static bool is_library(const struct problem *p)
{
	struct error ignored = ERROR_NONE;
	struct cuda_signed as_signed;
	if (p->kernel == KERNEL_CONV && p->g > 1)
		return false;
	return (p->operand[0].dtype == DTYPE_S8 && p->operand[1].dtype == DTYPE_S8) ||
		cuda_signed_make(p, &as_signed, &ignored) == 0;
}

static int step_make(const struct problem *p, int i, struct cuda_eight_step *to, struct error *err)
{
	const struct epilogue *e = &p->epilogue[i];
	bool relu = e->kind == EPILOGUE_ELTWISE && e->mode == MODE_RELU;
	enum dtype t = e->operand.dtype;
	*to = (struct cuda_eight_step){ .dtype = t, .high = INFINITY };
	if (relu || (e->kind == EPILOGUE_ELTWISE && e->mode == MODE_CLIP)) {
		to->kind = CUDA_EIGHT_CLIP;
		to->low = relu ? 0 : e->alpha;
		to->high = relu ? INFINITY : e->beta;
		return 0;
	}
	bool known = is_eight(t) || t == DTYPE_S32 || t == DTYPE_F32 || t == DTYPE_F16 || t == DTYPE_BF16;
	bool added = e->kind == EPILOGUE_BINARY && e->mode == MODE_ADD &&
		(e->operand.layout == LAYOUT_ANY || e->operand.layout == p->operand[2].layout);
	if (!known || (e->kind != EPILOGUE_SCALE && e->kind != EPILOGUE_BIAS && !added))
		return error_set(err, "our products of 8-bit integers are followed by factors, a bias, "
			"an addition, a relu or a clip");
	to->kind = e->kind == EPILOGUE_SCALE ? CUDA_EIGHT_SCALE : e->kind == EPILOGUE_BIAS ? CUDA_EIGHT_BIAS
											     : CUDA_EIGHT_ADD;
	return 0;
}

static int steps_make(struct cuda_eight *c, const struct problem *p, struct error *err)
{
	enum dtype t = p->operand[2].dtype;
	if (t != DTYPE_S32 && !is_eight(t) && t != DTYPE_F32 && t != DTYPE_F16 && t != DTYPE_BF16)
		return error_set(err, "our products of 8-bit integers have no results of %s", dtype_name(t));
	if (t == DTYPE_S32 && p->epilogue_count)
		return error_set(err, "our products of 8-bit integers have no epilogues for sums of s32");
	c->to_type = t;
	c->step_count = p->epilogue_count;
	for (int i = 0; i < p->epilogue_count; i++)
		if (step_make(p, i, &c->step[i], err))
			return -1;
	return 0;
}

/* All open operands become channels last. */
static int picture_place(struct problem *p, struct error *err)
{
	for (int i = 0; i < 3; i++) {
		if (p->operand[i].layout == LAYOUT_ANY)
			p->operand[i].layout = LAYOUT_NXC;
		if (p->operand[i].layout != LAYOUT_NXC)
			return error_set(err, "our convolution of 8-bit integers needs channels last, "
				"or an open layout");
	}
	for (int i = 0; i < p->epilogue_count; i++)
		if (p->epilogue[i].kind == EPILOGUE_BINARY && p->epilogue[i].operand.layout == LAYOUT_ANY)
			p->epilogue[i].operand.layout = LAYOUT_NXC;
	return 0;
}

static int picture_make(struct cuda_eight *c, const struct problem *p, struct error *err)
{
	struct problem_shape to = problem_operand_shape(p, 2);
	c->is_picture = true;
	c->channels = p->c;
	c->depth = p->c / p->g;
	c->columns = p->k / p->g;
	c->rows = p->n;
	c->terms = c->depth;
	for (int i = 0; i < 3; i++) {
		bool real = i >= 3 - p->spatial;
		c->in[i] = real ? p->in[i] : 1;
		c->out[i] = real ? to.dim[2 + i - (3 - p->spatial)] : 1;
		c->window[i] = real ? p->kernel_size[i] : 1;
		c->step_by[i] = real ? p->stride[i] : 1;
		c->dilation[i] = real ? p->dilation[i] : 1;
		c->before[i] = real ? p->pad_begin[i] : 0;
		c->rows *= c->out[i];
		c->terms *= c->window[i];
	}
	c->b_term = 1;
	c->b_column = c->terms;
	c->to_row = p->k;
	c->rank = 1;
	c->dim[0] = p->g;
	const int64_t stride[4] = { c->depth, c->columns * c->terms, c->columns, c->columns };
	for (int k = 0; k < 4; k++)
		c->stride[0][k] = stride[k];
	if (c->rows > INT32_MAX || c->terms > INT32_MAX)
		return error_set(err, "our convolution of 8-bit integers has fewer than 2^31 results "
			"a channel");
	return 0;
}

static int matrix_make(struct cuda_eight *c, const struct problem *p, struct error *err)
{
	struct cuda_layout l[3];
	for (int i = 0; i < 3; i++)
		l[i] = cuda_operand_layout(p, i, 0);
	int r = l[2].shape.rank;
	if (l[2].stride[r - 1] != 1)
		return error_set(err, "our products of 8-bit integers have dense rows as results");
	c->rows = p->m;
	c->columns = p->mn;
	c->terms = p->mk;
	c->a_row = l[0].stride[r - 2];
	c->a_term = l[0].stride[r - 1];
	c->b_term = l[1].stride[r - 2];
	c->b_column = l[1].stride[r - 1];
	c->to_row = l[2].stride[r - 2];
	c->rank = r - 2;
	for (int i = 0; i < c->rank; i++) {
		c->dim[i] = l[2].shape.dim[i];
		for (int k = 0; k < 3; k++)
			c->stride[i][k] = l[k].shape.dim[i] == 1 ? 0 : l[k].stride[i];
	}
	return 0;
}

static int eight_offer(struct cuda_own *o, struct error *err)
{
	struct problem *p = &o->problem;
	struct cuda_eight *c = &o->eight;
	bool picture = p->kernel == KERNEL_CONV;
	if (!is_eight(p->operand[0].dtype) || !is_eight(p->operand[1].dtype))
		return error_set(err, "our convolutions are of 8-bit integers");
	if (picture && picture_place(p, err))
		return -1;
	if (is_library(p))
		return error_set(err, "our products of 8-bit integers are for those that no library has");
	*c = (struct cuda_eight){ .a_signed = p->operand[0].dtype == DTYPE_S8,
		.b_signed = p->operand[1].dtype == DTYPE_S8 };
	if (steps_make(c, p, err) || (picture ? picture_make : matrix_make)(c, p, err))
		return -1;
	if (picture && c->columns < FEW_COLUMNS)
		cuda_own_add(o, CUDA_EIGHT_DIRECT, "benanza", "integer_product:direct");
	if (!picture || c->columns >= FEW_COLUMNS / 2)
		cuda_own_add(o, CUDA_EIGHT_TILE, "benanza", "integer_product:tile64x64");
	return 0;
}

static cudaError_t eight_enqueue(
	const struct cuda_own *o, int kind, const struct cuda_pointers *at, cudaStream_t s)
{
	struct cuda_eight_operands operands = { .a = at->source[0], .b = at->weights, .to = at->destination };
	for (int i = 0; i < o->eight.step_count; i++)
		operands.step[i] = at->epilogue[i];
	return cuda_eight(&o->eight, (enum cuda_eight_kind)kind, &operands, s);
}

const struct cuda_family cuda_family_eight = { eight_offer, eight_enqueue, "our product of 8-bit integers" };
