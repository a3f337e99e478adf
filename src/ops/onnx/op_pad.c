/* Pad and CenterCropPad. */
#include "config.h"

#include "ops/rules/op_rules.h"

#include "ops/rules/op_contents.h"

#include <math.h>

/* ---- Pad */

static int pad_axes(const struct op_call *c, int rank, int *axis, int *count, bool *known, struct error *err)
{
	struct op_list list = op_list_get(c, NULL, 3);
	*known = list.state == OP_LIST_ABSENT || op_list_all_known(&list);
	*count = rank;
	for (int i = 0; i < rank; i++)
		axis[i] = i;
	if (!*known || list.state == OP_LIST_ABSENT)
		return 0;
	bool mask[OP_RANK_MAX];
	if (op_axes(c, &list, rank, mask, err))
		return -1;
	*count = list.count;
	for (int i = 0; i < list.count; i++)
		axis[i] = op_axis(c, list.at[i].value, rank, NULL);
	return 0;
}

static struct op_list pad_list(const struct op_call *c)
{
	return op_list_get(c, c->opset < 2 ? "paddings" : "pads", c->opset < 11 ? -1 : 1);
}

static int pad_shape(struct op_call *c, struct error *err)
{
	struct op_list pads = pad_list(c);
	struct shape in = c->inputs[0].shape;
	int axis[OP_RANK_MAX], count;
	bool known;
	if (pads.state == OP_LIST_ABSENT)
		return op_fail(c, err, "pads are missing");
	if (in.rank < 0) {
		bool all = !op_in(c, 3) && pads.count >= 0 && pads.count <= 2 * OP_RANK_MAX &&
			pads.count % 2 == 0;
		c->outputs[0].shape = shape_make(c->arena, all ? pads.count / 2 : -1);
		return 0;
	}
	struct shape out = c->outputs[0].shape = shape_make(c->arena, in.rank);
	if (pad_axes(c, in.rank, axis, &count, &known, err))
		return -1;
	if (known && pads.count >= 0 && pads.count != 2 * count)
		return op_fail(c, err, "%d pads for %d axes", pads.count, count);
	if (!known || pads.state != OP_LIST_KNOWN)
		return 0;
	for (int i = 0; i < in.rank; i++)
		out.dims[i] = in.dims[i];
	int64_t begin[OP_RANK_MAX] = { 0 };
	for (int i = 0; i < count; i++) {
		struct dim *d = &out.dims[axis[i]];
		*d = dim_add(c->arena, *d, dim_add(c->arena, pads.at[i], pads.at[count + i]));
		if (d->kind == DIM_KNOWN && d->value < 0)
			return op_fail(c, err, "negative pads remove more than the input has");
		begin[axis[i]] = pads.at[i].value;
	}
	if (op_list_all_known(&pads))
		op_contents_pad(c, begin);
	return 0;
}

/* True if all pads are zero. (Equal shapes are not enough: -1 and 1 shift.) */
static bool pad_free(const struct op_call *c)
{
	struct op_list pads = pad_list(c);
	for (int i = 0; i < pads.count; i++) {
		if (pads.state != OP_LIST_KNOWN || pads.at[i].kind != DIM_KNOWN || pads.at[i].value != 0)
			return false;
	}
	return pads.state == OP_LIST_KNOWN;
}

/* ---- CenterCropPad */

static RULE_SHAPE(center_crop_pad)
{
	struct shape in = c->inputs[0].shape;
	struct op_list size = op_list_get(c, NULL, 1), axes = op_list_get(c, "axes", -1);
	bool all = axes.state == OP_LIST_ABSENT, mask[OP_RANK_MAX];
	if (op_list_sizes(c, &size, err))
		return -1;
	int rank = in.rank < 0 && all ? size.count : in.rank;
	if (rank < 0 || rank > OP_RANK_MAX)
		return 0;
	if (!all && (!op_list_all_known(&axes) || op_axes(c, &axes, rank, mask, err)))
		return axes.state == OP_LIST_KNOWN ? -1 : 0;
	int count = all ? rank : axes.count;
	if (size.count >= 0 && size.count != count)
		return op_fail(c, err, "%d sizes for %d axes", size.count, count);
	struct shape y = shape_make(c->arena, rank);
	for (int i = 0; i < rank && in.rank >= 0; i++)
		y.dims[i] = in.dims[i];
	for (int i = 0; i < count; i++) {
		int axis = all ? i : op_axis(c, axes.at[i].value, rank, NULL);
		y.dims[axis] = size.state == OP_LIST_KNOWN ? size.at[i] : dim_unknown();
	}
	c->outputs[0].shape = y;
	return 0;
}

/* Reads only the part of each axis that stays. */
static RULE_COST(center_crop_pad)
{
	const struct op_value *x = &c->inputs[0], *y = &c->outputs[0];
	double read = 1;
	for (int i = 0; i < y->shape.rank && x->shape.rank == y->shape.rank; i++) {
		struct dim p = x->shape.dims[i], q = y->shape.dims[i];
		bool known = p.kind == DIM_KNOWN && q.kind == DIM_KNOWN;
		read *= known ? (double)(p.value < q.value ? p.value : q.value) : NAN;
	}
	cost->flops = 0;
	cost->bytes = (x->shape.rank == y->shape.rank ? dtype_bytes(x->dtype, read) : NAN) + op_bytes(y);
}

static const struct op rows[] = {
	OP_MOVER_ROW("Pad", 1, 10, 1, 1, pad_shape, op_first_cost, pad_free, OP_ANY_LAYOUT, QUANT_MOVER),
	OP_MOVER_ROW("Pad", 11, 0, 2, 4, pad_shape, op_first_cost, pad_free, OP_ANY_LAYOUT, QUANT_MOVER),
	OP_MOVER_ROW("CenterCropPad", 18, 0, 2, 2, center_crop_pad_shape, center_crop_pad_cost,
		op_same_shape_free, 0),
};
const struct op_rows op_pad_rows = OP_ROWS(rows);
