/* TensorRT plugins that ONNX Runtime accepts in the domain ai.onnx, and the copies that it inserts between
 * host and device. Source of the shapes: the shape inference of ONNX Runtime. */
#include "config.h"

#include "ops/rules/op_rules.h"

#include <math.h>

/* ---- MemcpyFromHost, MemcpyToHost */

static int memcpy_shape(struct op_call *c, struct error *err)
{
	struct op_value *out = &c->outputs[0];
	bool present = out->present;
	(void)err;
	*out = c->inputs[0];
	out->present = present;
	out->constant = false;
	return 0;
}

/* Copies every tensor of a sequence. */
static void memcpy_cost(const struct op_call *c, struct op_cost *cost)
{
	const struct op_value *v = &c->inputs[0];
	double count = v->kind == VALUE_TENSOR ? 1 : v->kind == VALUE_SEQUENCE ?
		op_dim_number(v->length) : NAN;
	cost->flops = 0;
	cost->bytes = 2 * op_bytes(v) * count;
}

/* ---- DisentangledAttention_TRT: content scores plus gathered position scores */

static int disentangled_shape(struct op_call *c, struct error *err)
{
	int64_t span = node_int(c->node, "span", 0);
	struct dim n = dim_unknown(), rows = dim_unknown();
	struct dim places = span > 0 && span < INT32_MAX ? dim_known(2 * span) : dim_unknown();
	if (span < 1 || span > INT32_MAX)
		return op_fail(c, err, "span is %lld", (long long)span);
	for (int i = 0; i < 3; i++) {
		const struct op_value *v = &c->inputs[i];
		if (op_rank_is(c, i, 3, err))
			return -1;
		if (!op_dim_merge(n, op_dim_at(v, 3, 0), &n) ||
			!op_dim_merge(rows, op_dim_at(v, 3, 1), &rows) ||
			!op_dim_merge(i ? places : rows, op_dim_at(v, 3, 2), i ? &places : &rows))
			return op_fail(c, err, "scores of shape %s do not fit",
				shape_text(c->arena, v->shape));
	}
	c->outputs[0].shape = op_shape_of(c->arena, 3, (struct dim[]){ n, rows, rows });
	return 0;
}

/* Two additions and a multiplication per element. */
static void disentangled_cost(const struct op_call *c, struct op_cost *cost)
{
	cost->flops = 3 * op_count(op_out(c, 0));
	cost->bytes = op_bytes_all(c);
}

/* ---- EfficientNMS_TRT: max_output_boxes boxes per image; unused entries stay empty */

static struct dim nms_most(const struct op_call *c)
{
	int64_t most = node_int(c->node, "max_output_boxes", 0);
	return most > 0 && most <= INT32_MAX ? dim_known(most) : dim_unknown();
}

/* boxes: n x boxes x 4, or n x boxes x classes x 4. scores: n x boxes x classes. */
static int efficient_nms_shape(struct op_call *c, struct error *err)
{
	struct shape boxes = c->inputs[0].shape;
	struct dim n, count, most = nms_most(c), one = dim_known(1);
	if (most.kind != DIM_KNOWN)
		return op_fail(c, err, "max_output_boxes is %lld",
			(long long)node_int(c->node, "max_output_boxes", 0));
	if (op_rank_is(c, 1, 3, err))
		return -1;
	const struct op_value *scores = &c->inputs[1];
	bool fits = boxes.rank < 0 || ((boxes.rank == 3 || boxes.rank == 4) &&
					      !dim_differs(boxes.dims[boxes.rank - 1], dim_known(4)));
	if (!fits ||
		!op_dim_merge(boxes.rank > 0 ? boxes.dims[0] : dim_unknown(), op_dim_at(scores, 3, 0), &n) ||
		!op_dim_merge(
			boxes.rank > 1 ? boxes.dims[1] : dim_unknown(), op_dim_at(scores, 3, 1), &count))
		return op_fail(c, err, "boxes of shape %s with scores of shape %s",
			shape_text(c->arena, boxes), shape_text(c->arena, scores->shape));
	for (int i = 0; i < c->output_count && i < 4; i++) {
		struct dim dims[] = { n, i ? most : one, dim_known(4) };
		c->outputs[i].shape = op_shape_of(c->arena, i == 1 ? 3 : 2, dims);
		c->outputs[i].dtype = i == 0 || i == 3 ? DTYPE_S32 : c->inputs[0].dtype;
	}
	return 0;
}

/* Upper bound, as for NonMaxSuppression: each kept box is compared with all others, 11 operations each. */
static void efficient_nms_cost(const struct op_call *c, struct op_cost *cost)
{
	const struct op_value *scores = op_in(c, 1);
	cost->flops = op_dim_number(op_dim_at(scores, 3, 0)) * op_dim_number(op_dim_at(scores, 3, 1)) *
		      op_dim_number(nms_most(c)) * 11;
	cost->bytes = op_bytes_all(c);
	cost->upto = !isnan(cost->flops) || !isnan(cost->bytes);
}

/* Proxy: top-k over the scores of all classes, for each image. */
static void efficient_nms_problem(const struct op_call *c, struct op_problem *out)
{
	struct op_value scores = c->inputs[1];
	struct dim all = dim_mul(c->arena, op_dim_at(&scores, 3, 1), op_dim_at(&scores, 3, 2));
	scores.shape = op_shape_of(c->arena, 2, (struct dim[]){ op_dim_at(&scores, 3, 0), all });
	if (!op_problem_value(c, &c->inputs[1], out) || !op_problem_value(c, &scores, out))
		return;
	struct problem *p = op_problem_map(out, KERNEL_TOPK, MODE_LARGEST, &scores, &scores);
	struct dim most = nms_most(c);
	p->operand[1].constant = false;
	p->axis = 1;
	p->size = most.value < all.value ? most.value : all.value;
	out->proxy = true;
}

/* ---- PyramidROIAlign_TRT, MultilevelCropAndResize_TRT: a square crop of each box, from the map of its
 * size */

static int pyramid_shape(struct op_call *c, struct error *err)
{
	struct dim n = op_dim_at(&c->inputs[0], 3, 0), channels = dim_unknown();
	int64_t size = node_int(c->node, "pooled_size", 0);
	if (size < 1 || size > INT32_MAX)
		return op_fail(c, err, "pooled_size is %lld", (long long)size);
	if (op_rank_is(c, 0, 3, err))
		return -1;
	for (int i = 1; i < c->input_count; i++) {
		const struct op_value *map = op_in(c, i);
		if (op_rank_is(c, i, 4, err))
			return -1;
		if (!op_dim_merge(n, op_dim_at(map, 4, 0), &n) ||
			!op_dim_merge(channels, op_dim_at(map, 4, 1), &channels))
			return op_fail(c, err, "a map of shape %s does not fit the others or the boxes %s",
				shape_text(c->arena, map->shape), shape_text(c->arena, c->inputs[0].shape));
	}
	struct dim side = dim_known(size);
	c->outputs[0].shape = op_shape_of(
		c->arena, 5, (struct dim[]){ n, op_dim_at(&c->inputs[0], 3, 1), channels, side, side });
	return 0;
}

/* Upper bound: which map is read depends on the data. Four neighbours per sample, at most all maps. */
static double pyramid_bytes(const struct op_call *c, double places)
{
	double maps = 0, wanted = 4 * places * op_bytes(op_out(c, 0));
	for (int i = 1; i < c->input_count; i++)
		maps += op_bytes(op_in(c, i));
	return op_bytes(op_in(c, 0)) + op_bytes(op_out(c, 0)) + (isnan(wanted) ? maps : fmin(wanted, maps));
}

/* Bilinear interpolation: 7 operations per element. */
static void pyramid_crop_cost(const struct op_call *c, struct op_cost *cost)
{
	cost->flops = 7 * op_count(op_out(c, 0));
	cost->bytes = pyramid_bytes(c, 1);
	cost->upto = !isnan(cost->bytes);
}

/* As RoiAlign: sampling_ratio^2 samples per element. Without sampling_ratio the number depends on the boxes:
 * unknown. */
static void pyramid_align_cost(const struct op_call *c, struct op_cost *cost)
{
	double ratio = (double)node_int(c->node, "sampling_ratio", 0);
	cost->flops = ratio > 0 ? op_count(op_out(c, 0)) * (ratio * ratio * 9 + 1) : NAN;
	cost->bytes = pyramid_bytes(c, ratio > 0 ? ratio * ratio : NAN);
	cost->upto = !isnan(cost->bytes);
}

/* ---- operator table */

#define TRT(name, fewest, most, shape, cost, problem, note)                                        \
	{                                                                                          \
		name, "", 1, 0, fewest, most, CLASS_MEMORY, shape, cost, problem, NULL, note       \
	}

static const struct op rows[] = {
	TRT("DisentangledAttention_TRT", 3, 3, disentangled_shape, disentangled_cost, op_problem_mover,
		OP_COPY),
	TRT("EfficientNMS_TRT", 2, 3, efficient_nms_shape, efficient_nms_cost, efficient_nms_problem,
		"measured as TopK of the scores (proxy)"),
	TRT("MultilevelCropAndResize_TRT", 5, 5, pyramid_shape, pyramid_crop_cost, op_problem_mover, OP_COPY),
	TRT("PyramidROIAlign_TRT", 5, 5, pyramid_shape, pyramid_align_cost, op_problem_mover, OP_COPY),
};
const struct op_rows op_tensorrt_rows = OP_ROWS(rows);

#define BUS "measured as a plain copy of equal bytes within the device, not to the host (proxy)"
static const struct op copies[] = {
	{ "MemcpyFromHost", "", 1, 0, 1, 1, CLASS_MOVE, memcpy_shape, memcpy_cost, op_problem_mover, NULL,
		BUS },
	{ "MemcpyToHost", "", 1, 0, 1, 1, CLASS_MOVE, memcpy_shape, memcpy_cost, op_problem_mover, NULL,
		BUS },
};
const struct op_rows op_memcpy_rows = OP_ROWS_ANY_KIND(copies);
