/* Operators that sample images at positions given by data: GridSample, AffineGrid, RoiAlign, MaxRoiPool,
 * NonMaxSuppression. */
#include "config.h"

#include "ops/onnx/op_window.h"

#include <math.h>

static struct dim dim_at(struct shape s, int i)
{
	return i < s.rank ? s.dims[i] : dim_unknown();
}

/* ---- GridSample */

/* X is N, C, space; the grid N, output space, a coordinate for each dimension of space. */
static RULE_SHAPE(grid_sample)
{
	struct shape x = c->inputs[0].shape, grid = c->inputs[1].shape;
	int rank = x.rank >= 0 ? x.rank : grid.rank;
	if (rank < 0)
		return 0;
	if (rank < 3 || (grid.rank >= 0 && grid.rank != rank))
		return op_fail(c, err, "a grid of shape %s for an input of shape %s",
			shape_text(c->arena, grid), shape_text(c->arena, x));
	struct shape y = shape_make(c->arena, rank);
	if (dim_differs(dim_at(grid, rank - 1), dim_known(rank - 2)))
		return op_fail(c, err, "%lld coordinates for %d dimensions",
			(long long)grid.dims[rank - 1].value, rank - 2);
	if (!op_dim_merge(dim_at(x, 0), dim_at(grid, 0), &y.dims[0]))
		return op_fail(c, err, "the batches of input and grid differ");
	y.dims[1] = dim_at(x, 1);
	for (int i = 2; i < rank; i++)
		y.dims[i] = dim_at(grid, i - 1);
	c->outputs[0].shape = y;
	return 0;
}

enum sampling { SAMPLING_NEAREST, SAMPLING_LINEAR, SAMPLING_CUBIC };

/* Opset 16 uses the names bilinear and bicubic. */
static enum sampling grid_sampling(const struct op_call *c)
{
	struct text mode = node_string(c->node, "mode", "linear");
	if (text_is(mode, "nearest"))
		return SAMPLING_NEAREST;
	return text_is(mode, "cubic") || text_is(mode, "bicubic") ? SAMPLING_CUBIC : SAMPLING_LINEAR;
}

/* A multiply-add per coordinate for its position, and one per neighbour as in Resize: 2 along an axis, 4 if
 * cubic. */
static RULE_COST(grid_sample)
{
	enum sampling sampling = grid_sampling(c);
	double neighbours = sampling == SAMPLING_NEAREST ? 0 : 1;
	for (int i = 2; i < c->outputs[0].shape.rank; i++)
		neighbours *= sampling == SAMPLING_CUBIC ? 4 : 2;
	cost->flops = 2 * op_count(&c->inputs[1]) + 2 * neighbours * op_count(&c->outputs[0]);
	cost->bytes = op_bytes_all(c);
}

/* A resampling between the same sizes has the same reads and operations, without the grid. */
static RULE_PROBLEM(grid_sample)
{
	if (!op_problem_ready(c, out))
		return;
	struct shape x = c->inputs[0].shape;
	enum sampling sampling = grid_sampling(c);
	if (sampling == SAMPLING_CUBIC || x.rank > 5) {
		op_problem_mover(c, out);
		return;
	}
	window_resample(c, sampling == SAMPLING_NEAREST ? MODE_NEAREST : MODE_LINEAR, out);
	out->proxy = true;
}

/* ---- AffineGrid */

/* Number of spatial dimensions: from size (N, C, space), else from the matrices (N, space, space + 1); -1
 * unknown. */
static int affine_space(const struct op_call *c, const struct op_list *size)
{
	struct dim rows = dim_at(c->inputs[0].shape, 1);
	if (size->count >= 0)
		return size->count - 2;
	return rows.kind == DIM_KNOWN && rows.value < OP_RANK_MAX ? (int)rows.value : -1;
}

static RULE_SHAPE(affine_grid)
{
	struct shape theta = c->inputs[0].shape;
	struct op_list size = op_list_get(c, NULL, 1);
	int space = affine_space(c, &size);
	if (size.count > OP_RANK_MAX || (space < 0 && size.count < 0))
		return 0;
	bool fits = theta.rank < 0 || (theta.rank == 3 && !dim_differs(theta.dims[1], dim_known(space)) &&
					      !dim_differs(theta.dims[2], dim_known(space + 1)));
	if (op_list_sizes(c, &size, err))
		return -1;
	if (space < 1 || !fits)
		return op_fail(c, err, "matrices of shape %s for a size of %d numbers",
			shape_text(c->arena, theta), size.count);
	struct shape grid = shape_make(c->arena, space + 2);
	for (int i = 0; i <= space && size.state == OP_LIST_KNOWN; i++)
		grid.dims[i] = size.at[i == 0 ? 0 : i + 1];
	if (!op_dim_merge(grid.dims[0], dim_at(theta, 0), &grid.dims[0]))
		return op_fail(c, err, "%lld matrices for a batch of %lld", (long long)theta.dims[0].value,
			(long long)grid.dims[0].value);
	grid.dims[space + 1] = dim_known(space);
	c->outputs[0].shape = grid;
	return 0;
}

/* A row of a matrix times a position and 1, per coordinate. */
static RULE_COST(affine_grid)
{
	const struct op_value *grid = &c->outputs[0];
	cost->flops = op_count(grid) * 2 * (grid->shape.rank - 1);
	cost->bytes = op_bytes(&c->inputs[0]) + op_bytes(grid);
}

/* ---- RoiAlign, MaxRoiPool */

/* The regions' count, channels, and the size of the pooled windows. */
static int roi_shape(struct op_call *c, struct dim regions, int64_t height, int64_t width, struct error *err)
{
	struct shape x = c->inputs[0].shape, rois = c->inputs[1].shape;
	if ((x.rank >= 0 && x.rank != 4) || (rois.rank >= 0 && rois.rank != 2))
		return op_fail(c, err, "an input of shape %s with regions of shape %s",
			shape_text(c->arena, x), shape_text(c->arena, rois));
	if (height < 1 || width < 1)
		return op_fail(c, err, "windows of %lld x %lld", (long long)height, (long long)width);
	struct shape y = shape_make(c->arena, 4);
	if (!op_dim_merge(regions, dim_at(rois, 0), &y.dims[0]))
		return op_fail(c, err, "%lld batch indices for %lld regions", (long long)regions.value,
			(long long)rois.dims[0].value);
	y.dims[1] = dim_at(x, 1);
	y.dims[2] = dim_known(height);
	y.dims[3] = dim_known(width);
	c->outputs[0].shape = y;
	return 0;
}

static RULE_SHAPE(roi_align)
{
	return roi_shape(c, dim_at(c->inputs[2].shape, 0), node_int(c->node, "output_height", 1),
		node_int(c->node, "output_width", 1), err);
}

/* Each output element is the mean or maximum of sampling_ratio^2 samples, each interpolated from four
 * neighbours (four multiply-adds). With ratio 0 their number depends on the sizes of the regions: unknown. */
static RULE_COST(roi_align)
{
	double ratio = (double)node_int(c->node, "sampling_ratio", 0);
	cost->flops = ratio > 0 ? op_count(&c->outputs[0]) * (ratio * ratio * 9 + 1) : NAN;
	cost->bytes = op_bytes_all(c);
}

static RULE_SHAPE(max_roi_pool)
{
	struct op_list size = op_list_get(c, "pooled_shape", -1);
	if (!op_list_all_known(&size) || size.count != 2)
		return op_fail(c, err, "pooled_shape is missing, or is not two numbers");
	return roi_shape(c, dim_unknown(), size.at[0].value, size.at[1].value, err);
}

/* The number of comparisons depends on the sizes of the regions. */
static RULE_COST(max_roi_pool)
{
	cost->flops = NAN;
	cost->bytes = op_bytes_all(c);
}

/* ---- NonMaxSuppression */

/* Upper bound of the boxes kept per class: all, limited by the third input (0 without it). */
static struct dim nms_kept(const struct op_call *c)
{
	struct dim boxes = dim_at(c->inputs[0].shape, 1);
	struct dim most = op_in(c, 2) ? op_dim_get(c, 2) : dim_known(0);
	if (boxes.kind != DIM_KNOWN)
		boxes = dim_at(c->inputs[1].shape, 2);
	if (most.kind == DIM_KNOWN && most.value <= 0)
		return dim_known(0);
	if (most.kind == DIM_KNOWN && (boxes.upper < 0 || most.value < boxes.upper))
		return most;
	return boxes.upper >= 0 ? dim_known(boxes.upper) : dim_unknown();
}

/* Boxes are batch, boxes, 4; scores batch, classes, boxes. Each row of the result is a kept box; their number
 * depends on the data and is limited per class. */
static RULE_SHAPE(nms)
{
	struct shape boxes = c->inputs[0].shape, scores = c->inputs[1].shape;
	struct dim batch = dim_at(scores, 0), ignored;
	c->outputs[0].dtype = DTYPE_S64;
	if ((boxes.rank >= 0 && boxes.rank != 3) || (scores.rank >= 0 && scores.rank != 3) ||
		!op_dim_merge(dim_at(boxes, 0), batch, &batch) ||
		!op_dim_merge(dim_at(boxes, 1), dim_at(scores, 2), &ignored) ||
		dim_differs(dim_at(boxes, 2), dim_known(4)))
		return op_fail(c, err, "boxes of shape %s with scores of shape %s",
			shape_text(c->arena, boxes), shape_text(c->arena, scores));
	struct dim kept = nms_kept(c), classes = dim_at(scores, 1), rows;
	rows = dim_mul(c->arena, dim_mul(c->arena, batch, classes), kept);
	struct shape s = shape_make(c->arena, 2);
	bool none = kept.kind == DIM_KNOWN && kept.value == 0;
	s.dims[0] = none ? kept : dim_unknown_upto(rows.upper);
	s.dims[1] = dim_known(3);
	c->outputs[0].shape = s;
	return 0;
}

/* Upper bound: each kept box is compared with all of its class: two corners of the overlap (4 operations),
 * its area (3), the union (2), their ratio, and the comparison. */
static RULE_COST(nms)
{
	struct dim boxes = dim_at(c->inputs[0].shape, 1);
	cost->flops = boxes.kind == DIM_KNOWN ? op_count(&c->outputs[0]) / 3 * (double)boxes.value * 11 : NAN;
	cost->bytes = op_bytes_all(c);
	cost->upto = !isnan(cost->flops);
}

/* Implementations sort each class by score first and keep the best. */
static RULE_PROBLEM(nms)
{
	const struct op_value *scores = &c->inputs[1];
	struct dim kept = nms_kept(c);
	if (!op_problem_value(c, scores, out))
		return;
	if (kept.kind != DIM_KNOWN || kept.value < 1) {
		op_problem_why(out, "how many boxes may be kept is not known");
		return;
	}
	struct problem *p = op_problem_map(out, KERNEL_TOPK, MODE_LARGEST, scores, scores);
	p->operand[1].constant = false;
	p->axis = 2;
	p->size = kept.value < p->shape[0].dim[2] ? kept.value : p->shape[0].dim[2];
	out->proxy = true;
}

/* ---- operator table */

static const struct op rows[] = {
	{ "GridSample", "", 16, 0, 2, 2, CLASS_MEMORY, grid_sample_shape, grid_sample_cost,
		grid_sample_problem, NULL, "measured as a resampling, cubic as a copy (proxy)" },
	{ "AffineGrid", "", 20, 0, 2, 2, CLASS_MEMORY, affine_grid_shape, affine_grid_cost, op_problem_mover,
		NULL, OP_COPY },
	{ "RoiAlign", "", 10, 0, 3, 3, CLASS_MEMORY, roi_align_shape, roi_align_cost, op_problem_mover, NULL,
		OP_COPY },
	{ "MaxRoiPool", "", 1, 0, 2, 2, CLASS_MEMORY, max_roi_pool_shape, max_roi_pool_cost, op_problem_mover,
		NULL, OP_COPY },
	{ "NonMaxSuppression", "", 10, 0, 2, 5, CLASS_MEMORY, nms_shape, nms_cost, nms_problem, NULL,
		"measured as TopK of the scores; how many boxes it keeps is known only when it has run" },
};
const struct op_rows op_vision_rows = OP_ROWS(rows);
