/* Conversion to and from quantized types: quantize, dequantize. The mode says whether there is one scale, one
 * a place along the axis, or one a block of `size` elements along the axis. */
#include "config.h"

#include "problem/problem_private.h"
#include "problem/problem_segments.h"

static bool is_by_block(enum mode m)
{
	return m == MODE_QUANTIZE_BLOCK || m == MODE_DEQUANTIZE_BLOCK;
}

static bool has_axis(enum mode m)
{
	return m == MODE_QUANTIZE_AXIS || m == MODE_DEQUANTIZE_AXIS || is_by_block(m);
}

static void block_write(const struct problem *p, struct str *out)
{
	number_write("b", p->size, out);
}

static int block_read(struct cursor *c, struct problem *p)
{
	return cursor_field(c, "b", &p->size);
}

static const struct segment seg_block = { "block", block_write, block_read };

static const struct segment *const *segments(enum mode m)
{
	static const struct segment *const single[] = { &segment_shape, NULL };
	static const struct segment *const by_axis[] = { &segment_shape, &segment_axis, NULL };
	static const struct segment *const by_block[] = { &segment_shape, &segment_axis, &seg_block, NULL };
	return is_by_block(m) ? by_block : has_axis(m) ? by_axis : single;
}

/* The unquantized operand is floating-point or s32; the quantized one is an integer or a float of at most
 * 8 bits. */
static int check(const struct problem *p, int wide_operand, struct error *err)
{
	enum dtype wide = p->operand[wide_operand].dtype, narrow = p->operand[!wide_operand].dtype;
	bool packs = wide_operand == 0;
	if (has_axis(p->mode) && problem_check_axis(p, err))
		return -1;
	if (!dtype_is_float(wide) && !(packs && wide == DTYPE_S32))
		return error_set(err, "problem: values of type %s cannot be quantized", dtype_name(wide));
	if (dtype_bits(narrow) > 32 || narrow == DTYPE_BOOL ||
		(dtype_is_float(narrow) && dtype_bits(narrow) > 8))
		return error_set(err, "problem: a quantized value cannot have type %s", dtype_name(narrow));
	if (is_by_block(p->mode) && (p->size < 1 || p->size > PROBLEM_NUMBER_MAX))
		return error_set(err, "problem: blocks of %lld elements", (long long)p->size);
	return 0;
}

static int quantize_check(const struct problem *p, struct error *err)
{
	return check(p, 0, err);
}

static int dequantize_check(const struct problem *p, struct error *err)
{
	return check(p, 1, err);
}

struct problem_shape problem_scale_shape(const struct problem *p)
{
	struct problem_shape s = { .rank = 0 };
	if (is_by_block(p->mode)) {
		s = p->shape[0];
		s.dim[p->axis] = (s.dim[p->axis] - 1) / p->size + 1;
	} else if (has_axis(p->mode)) {
		s = (struct problem_shape){ .rank = 1, .dim = { p->shape[0].dim[p->axis] } };
	}
	return s;
}

static int64_t scale_count(const struct problem *p)
{
	struct problem_shape scales = problem_scale_shape(p);
	int64_t count = 1;
	for (int i = 0; i < scales.rank; i++)
		count *= scales.dim[i];
	return count;
}

static double scales_bytes(const struct problem *p)
{
	struct problem_shape scales = problem_scale_shape(p);
	return dtype_bytes(DTYPE_F32, problem_shape_volume(&scales));
}

/* The scale and the zero point; dynamic: a comparison each for the least and the largest value, too. */
static double quantize_flops(const struct problem *p)
{
	return problem_operand_volume(p, 0) * (p->mode == MODE_QUANTIZE_DYNAMIC ? 4 : 2);
}

static bool any_order(const struct problem *p)
{
	return !has_axis(p->mode);
}

const struct kernel_row kernel_quantize = {
	.operands = 2,
	.names = { "src", "dst" },
	.mode = true,
	.segments_by_mode = segments,
	.shapes = 1,
	.check = quantize_check,
	.flops = quantize_flops,
	.other_bytes = scales_bytes,
	.image_like = true,
	.layout = KERNEL_LAYOUT_PASS,
	.any_order = any_order,
	.quantizer = true,
	.parameters = 1,
	.parameter_count = scale_count,
	.estimated_from_own = true,
};

const struct kernel_row kernel_dequantize = {
	.operands = 2,
	.names = { "src", "dst" },
	.mode = true,
	.segments_by_mode = segments,
	.shapes = 1,
	.check = dequantize_check,
	.element_flops = 2,
	.other_bytes = scales_bytes,
	.image_like = true,
	.layout = KERNEL_LAYOUT_PASS,
	.any_order = any_order,
	.quantizer = true,
	.parameters = 1,
	.parameter_count = scale_count,
	.estimated_from_own = true,
};
