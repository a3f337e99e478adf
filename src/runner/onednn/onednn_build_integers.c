/* Scaling between integers and floating-point values: per-channel factors after convolutions and matmuls,
 * and reorders that scale. Version 2 takes factors as attributes and also multiplies the bias by them;
 * version 3 takes them as arguments of an execution and adds the bias after scaling. */
#include "config.h"

#include "runner/onednn/onednn_case_private.h"

#include "runner/verify/integers.h"

#define FACTOR_SEED 77

/* Fills c->factor and sets it as the factor of argument f.arg. */
static int factors_add(struct onednn_case *c, struct onednn_factors f, int epilogue, struct error *err)
{
	int64_t limit = integer_factor_limit(&c->problem);
	c->factor = base_malloc((size_t)f.count * sizeof(*c->factor));
	for (int64_t i = 0; i < f.count; i++)
		c->factor[i] = (float)fill_value(FACTOR_SEED, i, FILL_FACTOR, limit, DTYPE_F32);
	f.values = c->factor;
	if (onednn_attr_factors(c->attr, &f) != dnnl_success)
		return error_set(err, "oneDNN takes no factors for this operation");
	if (!ONEDNN_FACTORS_ARE_ARGUMENTS)
		return 0;
	const struct operand o = { .dtype = DTYPE_F32, .constant = true, .layout = LAYOUT_NCX };
	struct onednn_arg *a = onednn_arg_add(c, DNNL_ARG_ATTR_SCALES | f.arg, "", &o,
		(struct problem_shape){ .rank = 1, .dim = { f.count } }, CHOICE_NCX, err);
	if (!a)
		return -1;
	a->attribute = true;
	a->epilogue = epilogue;
	a->values = c->factor;
	return 0;
}

int onednn_scale_add(struct onednn_case *c, int epilogue, struct error *err)
{
	const struct problem *p = &c->problem;
	bool product = p->kernel == KERNEL_MATMUL;
	int rank = problem_operand_shape(p, 2).rank;
	const struct onednn_factors f = { .arg = DNNL_ARG_WEIGHTS, .count = product ? p->mn : p->k,
		.destination_mask = product ? 1 << (rank - 1) : 2,
		.mask = product ? 1 << (rank - 1) : p->g > 1 ? 3 : 1 };
	return factors_add(c, f, epilogue + 1, err);
}

void onednn_bias_before_factors(struct onednn_case *c, struct onednn_arg *bias)
{
	if (c->factor && !ONEDNN_FACTORS_ARE_ARGUMENTS)
		bias->divisor = c->factor;
}

static int zero_point_add(struct onednn_case *c, int arg, enum dtype t, struct error *err)
{
	if (integer_zero_point(t) == 0)
		return 0;
	if (onednn_attr_zero_point(c->attr, arg, (int32_t)integer_zero_point(t)) != dnnl_success)
		return error_set(err, "oneDNN takes no zero points for this operation");
	if (!ONEDNN_FACTORS_ARE_ARGUMENTS)
		return 0;
	const struct operand o = { .dtype = DTYPE_S32, .constant = true, .layout = LAYOUT_NCX };
	struct onednn_arg *a = onednn_arg_add(c, DNNL_ARG_ATTR_ZERO_POINTS | arg, "", &o,
		(struct problem_shape){ .rank = 1, .dim = { 1 } }, CHOICE_NCX, err);
	if (!a)
		return -1;
	c->zero_point = (float)integer_zero_point(t);
	a->attribute = true;
	a->values = &c->zero_point;
	return 0;
}

int onednn_build_quantize(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	const struct problem *p = &c->problem;
	enum mode mode = p->mode;
	bool packs = p->kernel == KERNEL_QUANTIZE,
	     single = mode == MODE_QUANTIZE_TENSOR || mode == MODE_DEQUANTIZE_TENSOR;
	if (!single && mode != MODE_QUANTIZE_AXIS && mode != MODE_DEQUANTIZE_AXIS)
		return error_set(err, "oneDNN quantizes per tensor or per axis, not per block");
	c->problem.mode = MODE_NONE; /* a reorder has no algorithm */
	int bad = onednn_build_plain(c, choice, err);
	c->problem.mode = mode;
	const struct onednn_factors f = { .arg = packs ? DNNL_ARG_DST : DNNL_ARG_SRC, .divides = packs,
		.count = single ? 1 : p->shape[0].dim[p->axis], .mask = single ? 0 : 1 << p->axis,
		.destination_mask = single ? 0 : 1 << p->axis };
	return bad || factors_add(c, f, 0, err) ||
		zero_point_add(c, packs ? DNNL_ARG_DST : DNNL_ARG_SRC, p->operand[packs].dtype, err) ? -1 : 0;
}
