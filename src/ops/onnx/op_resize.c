/* Resize and Upsample. */
#include "config.h"

#include "ops/rules/op_rules.h"

#include "ops/onnx/op_window.h"

#include <math.h>
#include <string.h>

/* Input indexes at this opset; -1: no such input. */
struct resize_inputs {
	int scales, sizes;
};

static struct resize_inputs resize_inputs(const struct op_call *c)
{
	bool upsample = text_is(c->node->op, "Upsample");
	if (upsample)
		return (struct resize_inputs){ c->opset >= 9 ? 1 : -1, -1 };
	return c->opset >= 11 ? (struct resize_inputs){ 2, 3 } : (struct resize_inputs){ 1, -1 };
}

/* The axes of scales and sizes (opset 18) in their order; returns the count, or -1 on error. Default: all. */
static int resize_axes(const struct op_call *c, int rank, int *axes, struct error *err)
{
	const struct attribute *a = node_attribute(c->node, "axes");
	if (!a || a->kind != ATTRIBUTE_INTS) {
		for (int i = 0; i < rank; i++)
			axes[i] = i;
		return rank;
	}
	bool mask[OP_RANK_MAX];
	struct op_list list = op_list_get(c, "axes", -1);
	if (op_axes(c, &list, rank, mask, err))
		return -1;
	for (int i = 0; i < list.count; i++)
		axes[i] = op_axis(c, list.at[i].value, rank, err);
	return list.count;
}

/* floor(in * scale), in the single precision that ONNX Runtime computes it with. */
static struct dim resize_scaled(struct arena *a, struct dim in, double scale)
{
	if (in.kind == DIM_KNOWN) {
		float size = (float)in.value * (float)scale;
		return size >= 0 && size < 0x1p40f ? dim_known((int64_t)size) : dim_unknown();
	}
	if (scale == floor(scale) && scale < 0x1p31)
		return dim_mul(a, in, dim_known((int64_t)scale));
	double back = round(1 / scale);
	return (float)(1 / back) == (float)scale && back < 0x1p31 ?
		dim_floor_div(a, in, dim_known((int64_t)back))
								  : dim_unknown();
}

static int resize_by_scale(const struct op_call *c, const double *scales, int count, const int *axes,
	struct shape *y, struct error *err)
{
	for (int i = 0; i < count; i++) {
		struct dim *d = &y->dims[axes[i]];
		if (isnan(scales[i])) {
			*d = dim_unknown();
			continue;
		}
		if (!(scales[i] > 0))
			return op_fail(c, err, "scale %g is not positive", scales[i]);
		if (scales[i] != 1)
			*d = resize_scaled(c->arena, *d, scales[i]);
	}
	return 0;
}

/* keep_aspect_ratio_policy: one scale, the smallest or largest, for all axes; sizes are rounded half up. */
static void resize_keep_ratio(
	struct text policy, const struct op_list *sizes, const int *axes, struct shape *y)
{
	double scale = NAN;
	for (int i = 0; i < sizes->count; i++) {
		struct dim in = y->dims[axes[i]], out = sizes->at[i];
		bool known = in.kind == DIM_KNOWN && out.kind == DIM_KNOWN && in.value > 0;
		double each = known ? (double)out.value / (double)in.value : NAN;
		bool larger = text_is(policy, "not_smaller");
		if (i == 0 || isnan(each) || (larger ? each > scale : each < scale))
			scale = each;
		if (isnan(scale))
			break;
	}
	for (int i = 0; i < sizes->count; i++) {
		double size = isnan(scale) ? NAN : floor((double)y->dims[axes[i]].value * scale + 0.5);
		y->dims[axes[i]] = size >= 0 && size < 0x1p40 ? dim_known((int64_t)size) : dim_unknown();
	}
}

static int resize_by_size(const struct op_call *c, const struct op_list *sizes, const int *axes,
	struct shape *y, struct error *err)
{
	for (int i = 0; i < sizes->count; i++) {
		if (sizes->at[i].kind == DIM_KNOWN && sizes->at[i].value < 0)
			return op_fail(c, err, "size %lld", (long long)sizes->at[i].value);
	}
	struct text policy = node_string(c->node, "keep_aspect_ratio_policy", "stretch");
	if (!text_is(policy, "stretch")) {
		resize_keep_ratio(policy, sizes, axes, y);
		return 0;
	}
	for (int i = 0; i < sizes->count; i++)
		y->dims[axes[i]] = sizes->at[i];
	return 0;
}

/* The scales as numbers; -1: unknown. 0 for an empty list, with which opset 11 selects sizes. */
static int resize_scales(const struct op_call *c, int input, double *scales)
{
	const struct attribute *a = node_attribute(c->node, "scales");
	const struct op_value *v = op_in(c, input);
	if (c->opset < 7) { /* Upsample, images only */
		scales[0] = scales[1] = 1;
		scales[2] = (double)node_float(c->node, "height_scale", NAN);
		scales[3] = (double)node_float(c->node, "width_scale", NAN);
		return 4;
	}
	if (!v && input < 0 && a && a->kind == ATTRIBUTE_FLOATS && a->count <= OP_RANK_MAX) {
		for (size_t i = 0; i < a->count; i++)
			scales[i] = (double)a->floats[i];
		return (int)a->count;
	}
	if (!v || (v->shape.rank == 1 && v->shape.dims[0].kind == DIM_KNOWN && v->shape.dims[0].value == 0))
		return 0;
	if (!v->elements || !v->elements->f || v->elements->count > OP_RANK_MAX)
		return -1;
	memcpy(scales, v->elements->f, (size_t)v->elements->count * sizeof(*scales));
	return v->elements->count;
}

/* tf_crop_and_resize: the scaled part of each axis, from start to end as fractions. */
static void resize_crop(const struct op_call *c, double *scales, int count)
{
	const struct op_value *roi = op_in(c, 1);
	bool known = roi && roi->elements && roi->elements->f && roi->elements->count == 2 * count;
	for (int i = 0; i < count; i++)
		scales[i] *= known ? (double)(float)(roi->elements->f[count + i] - roi->elements->f[i]) : NAN;
}

static int resize_fill(const struct op_call *c, struct resize_inputs at, struct shape *y, struct error *err)
{
	int axes[OP_RANK_MAX];
	double scales[OP_RANK_MAX];
	int axis_count = resize_axes(c, y->rank, axes, err);
	if (axis_count < 0)
		return -1;
	int count = resize_scales(c, at.scales, scales);
	struct op_list sizes = op_list_get(c, NULL, at.sizes);
	bool by_size = sizes.state == OP_LIST_KNOWN && sizes.count > 0;
	if (count > 0 && count != axis_count && sizes.state == OP_LIST_UNKNOWN)
		count = -1; /* the sizes may count */
	int got = by_size ? sizes.count : count;
	if ((by_size || count > 0) && got != axis_count)
		return op_fail(c, err, "%d scales or sizes for %d dimensions", got, axis_count);
	if (by_size)
		return resize_by_size(c, &sizes, axes, y, err);
	if (count == 0 && sizes.state == OP_LIST_ABSENT)
		return op_fail(c, err, "scales and sizes are missing");
	bool crop = text_is(node_string(c->node, "coordinate_transformation_mode", ""), "tf_crop_and_resize");
	if (count > 0 && crop)
		resize_crop(c, scales, axis_count);
	if (count > 0)
		return resize_by_scale(c, scales, count, axes, y, err);
	for (int i = 0; i < axis_count; i++)
		y->dims[axes[i]] = dim_unknown();
	return 0;
}

/* The rank from the scales or sizes of all axes; -1: unknown. */
static int resize_rank(const struct op_call *c)
{
	double scales[OP_RANK_MAX];
	struct resize_inputs at = resize_inputs(c);
	struct op_list sizes = op_list_get(c, NULL, at.sizes);
	int count = sizes.state == OP_LIST_KNOWN && sizes.count > 0 ? sizes.count :
		resize_scales(c, at.scales, scales);
	return count > 0 && count <= OP_RANK_MAX ? count : -1;
}

static RULE_SHAPE(resize)
{
	struct shape x = c->inputs[0].shape;
	if (x.rank < 0 && !node_attribute(c->node, "axes"))
		x = shape_make(c->arena, resize_rank(c));
	if (x.rank < 0)
		return 0;
	struct shape y = op_shape_copy(c->arena, x);
	if (resize_fill(c, resize_inputs(c), &y, err))
		return -1;
	c->outputs[0].shape = y;
	return 0;
}

static bool resize_is(const struct op_call *c, const char *mode)
{
	struct text got = node_string(c->node, "mode", "nearest");
	/* old exporters write "bilinear" in Upsample */
	return text_is(got, mode) || (text_is(got, "bilinear") && strcmp(mode, "linear") == 0);
}

/* A multiply-add per neighbour: 2 along a resized axis, 4 if cubic. */
static RULE_COST(resize)
{
	const struct op_value *x = op_in(c, 0), *y = op_out(c, 0);
	double neighbours = 1, each = resize_is(c, "linear") ? 2 : 4;
	cost->bytes = op_bytes(x) + op_bytes(y);
	for (int i = 2; y && x->shape.rank == y->shape.rank && i < x->shape.rank; i++)
		neighbours *= each;
	cost->flops = resize_is(c, "nearest") ? 0 : 2 * op_count(y) * neighbours;
}

/* True if batch and channels stay and there are 1 to 3 spatial dimensions. */
static bool resize_is_spatial(struct shape x, struct shape y)
{
	return x.rank == y.rank && x.rank >= 3 && x.rank <= 5 && dim_same(x.dims[0], y.dims[0]) &&
	       dim_same(x.dims[1], y.dims[1]);
}

static RULE_PROBLEM(resize)
{
	struct text coordinates = node_string(c->node, "coordinate_transformation_mode", "half_pixel");
	bool nearest = resize_is(c, "nearest"), linear = resize_is(c, "linear");
	if (!op_problem_value(c, &c->inputs[0], out) || !op_problem_value(c, &c->outputs[0], out))
		return;
	struct shape x = c->inputs[0].shape, y = c->outputs[0].shape;
	bool plain = !text_is(coordinates, "tf_crop_and_resize") && node_int(c->node, "antialias", 0) == 0;
	if (!plain || (!nearest && !linear) || !resize_is_spatial(x, y)) {
		op_problem_copy(c, op_bytes(&c->inputs[0]) + op_bytes(&c->outputs[0]), out);
		return;
	}
	window_resample(c, nearest ? MODE_NEAREST : MODE_LINEAR, out);
	/* Other coordinates (aligned corners ...) have the same reads and operations, but not the kernel's
	 * values. */
	bool half_pixel = text_is(coordinates, "half_pixel") || text_is(coordinates, "pytorch_half_pixel");
	out->proxy = linear && (!half_pixel || !text_is(c->node->op, "Resize") || c->opset < 11);
}

static const struct op rows[] = {
	{ "Resize", "", 10, 10, 2, 2, CLASS_MEMORY, resize_shape, resize_cost, resize_problem,
		.flags = OP_ANY_LAYOUT, .quant = QUANT_MOVER },
	{ "Resize", "", 11, 0, 1, 4, CLASS_MEMORY, resize_shape, resize_cost, resize_problem, NULL,
		"cubic and antialiased are measured as a copy (proxy)",
		.flags = OP_ANY_LAYOUT, .quant = QUANT_MOVER },
	{ "Upsample", "", 1, 8, 1, 1, CLASS_MEMORY, resize_shape, resize_cost, resize_problem,
		.flags = OP_ANY_LAYOUT },
	{ "Upsample", "", 9, 0, 2, 2, CLASS_MEMORY, resize_shape, resize_cost, resize_problem,
		.flags = OP_ANY_LAYOUT },
};
const struct op_rows op_resize_rows = OP_ROWS(rows);
