/* The problem of s8 that stands for one with a u8 source: its bias, and its padding as a border. */
#include "config.h"

#include "runner/gpu/cuda_signed.h"

#include <string.h>

/* Makes the epilogue with the corrected bias: added to the bias after the factors, or as a new bias. */
static int bias_place(struct cuda_signed *c, struct error *err)
{
	struct problem *p = &c->inner;
	bool scaled = p->epilogue_count && p->epilogue[0].kind == EPILOGUE_SCALE;
	if (scaled && !p->epilogue[0].operand.constant)
		return error_set(err, "u8 as s8: the factors are not constant");
	c->bias = scaled;
	c->sum.whole = !scaled;
	const struct epilogue *e = &p->epilogue[c->bias];
	if (scaled && p->epilogue_count > 1 && e->kind == EPILOGUE_BIAS && e->operand.constant &&
		e->operand.dtype == DTYPE_F32)
		return 0;
	if (p->epilogue_count == PROBLEM_EPILOGUES)
		return error_set(err, "u8 as s8: no room for a bias among %d epilogues", PROBLEM_EPILOGUES);
	memmove(&p->epilogue[c->bias + 1], &p->epilogue[c->bias],
		(size_t)(p->epilogue_count - c->bias) * sizeof(p->epilogue[0]));
	p->epilogue[c->bias] = (struct epilogue){ .kind = EPILOGUE_BIAS,
		.operand = { .dtype = scaled ? DTYPE_F32 : DTYPE_S32, .constant = true } };
	p->epilogue_count++;
	c->added = true;
	return 0;
}

/* The padding becomes a border of the source. */
static int conv_make(struct cuda_signed *c, struct error *err)
{
	struct problem *p = &c->inner;
	for (int i = 0; i < 3; i++)
		if (p->operand[i].layout != LAYOUT_NXC)
			return error_set(err, "u8 as s8: a convolution needs channels last");
	c->shift.n = p->n;
	for (int i = 0; i < 3; i++) {
		bool real = i >= 3 - p->spatial;
		int64_t each = i == 2 ? p->c : 1;
		c->shift.size[i] = (real ? p->in[i] : 1) * each;
		if (!real)
			continue;
		c->shift.before[i] = p->pad_begin[i] * each;
		c->shift.after[i] = p->pad_end[i] * each;
		p->in[i] += p->pad_begin[i] + p->pad_end[i];
		p->pad_begin[i] = p->pad_end[i] = 0;
	}
	struct problem_shape w = problem_operand_shape(p, 1);
	c->sum.channels = w.dim[0];
	c->sum.terms = 1;
	for (int i = 1; i < w.rank; i++)
		c->sum.terms *= w.dim[i];
	c->sum.channel_stride = c->sum.terms; /* in both layouts a channel's weights are dense */
	c->sum.term_stride = 1;
	return 0;
}

static int matmul_make(struct cuda_signed *c, struct error *err)
{
	const struct problem *p = &c->inner;
	struct problem_shape a = problem_operand_shape(p, 0);
	struct cuda_layout b = cuda_operand_layout(p, 1, 0);
	int r = b.shape.rank;
	if (p->operand[0].layout == LAYOUT_STRIDES)
		return error_set(err, "u8 as s8: the source is not dense");
	for (int i = 0; i < r - 2; i++)
		if (b.shape.dim[i] != 1)
			return error_set(err, "u8 as s8: a batch of weights has no common bias");
	c->shift.n = c->shift.size[0] = c->shift.size[1] = c->shift.size[2] = 1;
	for (int i = 0; i < a.rank; i++)
		c->shift.size[2] *= a.dim[i];
	c->sum.channels = b.shape.dim[r - 1];
	c->sum.terms = b.shape.dim[r - 2];
	c->sum.channel_stride = b.stride[r - 1];
	c->sum.term_stride = b.stride[r - 2];
	return 0;
}

double cuda_signed_bytes(const struct cuda_signed *c)
{
	double bytes = (double)c->shift.n;
	for (int i = 0; i < 3; i++)
		bytes *= (double)(c->shift.before[i] + c->shift.size[i] + c->shift.after[i]);
	return bytes;
}

int cuda_signed_make(const struct problem *p, struct cuda_signed *c, struct error *err)
{
	enum dtype w = p->operand[1].dtype;
	*c = (struct cuda_signed){ .inner = *p, .weights_as_s8 = w == DTYPE_U8 };
	if ((p->kernel != KERNEL_CONV && p->kernel != KERNEL_MATMUL) || p->operand[0].dtype != DTYPE_U8 ||
		(w != DTYPE_S8 && w != DTYPE_U8))
		return error_set(err, "u8 as s8: only conv and matmul of u8 sources and 8-bit weights");
	if (!p->operand[1].constant)
		return error_set(err, "u8 as s8: the weights are not constant, so their sums are not");
	c->inner.operand[0].dtype = c->inner.operand[1].dtype = DTYPE_S8;
	if ((p->kernel == KERNEL_CONV ? conv_make : matmul_make)(c, err) || bias_place(c, err))
		return -1;
	return cuda_signed_bytes(c) <= INT32_MAX ? 0 : error_set(err, "u8 as s8: the source is too large");
}
