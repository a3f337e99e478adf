/* Reductions, ArgMax and ArgMin, TopK, CumSum and CumProd, Det. */
#include "config.h"

#include "ops/rules/op_rules.h"

#include "ops/rules/op_contents.h"

#include <math.h>

enum reduce_kind {
	REDUCE_SUM,
	REDUCE_MEAN,
	REDUCE_MAX,
	REDUCE_MIN,
	REDUCE_PROD,
	REDUCE_L1,
	REDUCE_L2,
	REDUCE_LOG_SUM,
	REDUCE_LOG_SUM_EXP,
	REDUCE_SUM_SQUARE
};

struct reduce {
	enum reduce_kind kind;
	enum mode mode;
	bool proxy;
	int per_input; /* operations per input element */
	bool last;     /* one more per output element: a division, root or logarithm */
	bool identity; /* reducing a single element returns it unchanged */
};

/* The axes to reduce. known false: the list is unknown. -1: invalid. */
static int reduce_mask(const struct op_call *c, int rank, bool *mask, bool *known, struct error *err)
{
	struct op_list axes = op_list_get(c, "axes", 1);
	bool none = axes.state == OP_LIST_ABSENT || (axes.state == OP_LIST_KNOWN && axes.count == 0);
	*known = none || op_list_all_known(&axes);
	if (!*known)
		return 0;
	if (!none)
		return op_axes(c, &axes, rank, mask, err);
	bool all = node_int(c->node, "noop_with_empty_axes", 0) == 0;
	for (int i = 0; i < rank; i++)
		mask[i] = all;
	return 0;
}

/* The shape without the axes in mask, or with ones in their place. */
static struct shape reduced_shape(struct arena *a, struct shape in, const bool *mask, bool keep)
{
	struct shape s = shape_make(a, in.rank);
	s.rank = 0;
	for (int i = 0; i < in.rank; i++) {
		if (!mask[i] || keep)
			s.dims[s.rank++] = mask[i] ? dim_known(1) : in.dims[i];
	}
	return s;
}

/* Adds element x to the partial result `sum`. */
static struct dim fold_int(struct arena *a, enum reduce_kind kind, struct dim sum, struct dim x)
{
	switch (kind) {
	case REDUCE_SUM:
	case REDUCE_MEAN:
		return dim_add(a, sum, x);
	case REDUCE_PROD:
		return dim_mul(a, sum, x);
	case REDUCE_MAX:
		return dim_max(a, sum, x);
	case REDUCE_MIN:
		return dim_min(a, sum, x);
	case REDUCE_L1:
		return dim_add(a, sum, dim_max(a, x, dim_sub(a, dim_known(0), x)));
	case REDUCE_SUM_SQUARE:
		return dim_add(a, sum, dim_mul(a, x, x));
	default:
		return dim_unknown();
	}
}

static double fold_float(enum reduce_kind kind, double sum, double x)
{
	switch (kind) {
	case REDUCE_SUM:
	case REDUCE_MEAN:
	case REDUCE_LOG_SUM:
		return sum + x;
	case REDUCE_PROD:
		return sum * x;
	case REDUCE_MAX:
		return isnan(x) || sum > x ? sum + 0 * x : x + 0 * sum;
	case REDUCE_MIN:
		return isnan(x) || sum < x ? sum + 0 * x : x + 0 * sum;
	case REDUCE_L1:
		return sum + fabs(x);
	case REDUCE_L2:
	case REDUCE_SUM_SQUARE:
		return sum + x * x;
	case REDUCE_LOG_SUM_EXP:
		return sum + exp(x);
	}
	return NAN;
}

/* The result from a sum of n elements. */
static struct dim last_int(struct arena *a, enum reduce_kind kind, struct dim sum, int n)
{
	if (kind != REDUCE_MEAN)
		return sum;
	return dim_nonnegative(sum) ? dim_floor_div(a, sum, dim_known(n)) : dim_unknown();
}

static double last_float(enum reduce_kind kind, double sum, int n)
{
	switch (kind) {
	case REDUCE_MEAN:
		return sum / n;
	case REDUCE_L2:
		return sqrt(sum);
	case REDUCE_LOG_SUM:
	case REDUCE_LOG_SUM_EXP:
		return log(sum);
	default:
		return sum;
	}
}

/* Initial value: the first element for extremes, 1 for products, 0 for sums. */
static void fold_start(const struct reduce *row, struct elements *e, int to,
	const struct elements *from, int i)
{
	bool extreme = row->kind == REDUCE_MAX || row->kind == REDUCE_MIN;
	if (e->f)
		e->f[to] = extreme ? from->f[i] : row->kind == REDUCE_PROD;
	else
		e->i[to] = extreme ? from->i[i] : dim_known(row->kind == REDUCE_PROD);
}

/* True if the reduction of no elements is defined. */
static bool reduces_nothing(const struct reduce *row)
{
	return row->kind == REDUCE_SUM || row->kind == REDUCE_PROD || row->kind == REDUCE_L1 ||
	       row->kind == REDUCE_SUM_SQUARE;
}

static void reduce_elements(struct op_call *c, const struct reduce *row, const bool *mask)
{
	const struct elements *from = c->inputs[0].elements;
	struct op_value *v = &c->outputs[0];
	struct shape in = c->inputs[0].shape;
	int count = op_elements_count(v->shape), at[OP_RANK_MAX];
	if (count < 1 || !from || (from->count < 1 && !reduces_nothing(row)))
		return;
	struct shape kept = reduced_shape(c->arena, in, mask, true);
	struct elements *e = op_elements_new(c->arena, count, from->f != NULL);
	bool seen[OP_ELEMENTS_MAX] = { false };
	for (int i = 0; i < count && from->count == 0; i++)
		fold_start(row, e, i, from, 0);
	for (int i = 0; i < from->count; i++) {
		op_coords(in, i, at);
		for (int j = 0; j < in.rank; j++)
			at[j] = mask[j] ? 0 : at[j];
		int to = op_index(kept, at);
		if (!seen[to])
			fold_start(row, e, to, from, i);
		seen[to] = true;
		if (e->f)
			e->f[to] = fold_float(row->kind, e->f[to], from->f[i]);
		else
			e->i[to] = fold_int(c->arena, row->kind, e->i[to], from->i[i]);
	}
	for (int i = 0; i < count; i++) {
		if (e->f)
			e->f[i] = op_float_round(v->dtype,
				last_float(row->kind, e->f[i], from->count / count));
		else
			e->i[i] = last_int(c->arena, row->kind, e->i[i], from->count / count);
	}
	v->elements = e;
}

static int reduce_shape(struct op_call *c, struct error *err)
{
	const struct reduce *row = c->op->own;
	struct shape in = c->inputs[0].shape;
	bool mask[OP_RANK_MAX], known, keep = node_int(c->node, "keepdims", 1) != 0;
	struct op_list axes = op_list_get(c, "axes", 1);
	if (in.rank < 0) {
		if (!keep && axes.state == OP_LIST_ABSENT && !node_int(c->node, "noop_with_empty_axes", 0))
			c->outputs[0].shape = shape_make(c->arena, 0);
		return 0;
	}
	if (reduce_mask(c, in.rank, mask, &known, err))
		return -1;
	if (known) {
		c->outputs[0].shape = reduced_shape(c->arena, in, mask, keep);
		reduce_elements(c, row, mask);
	} else if (keep) {
		c->outputs[0].shape = shape_make(c->arena, in.rank);
	} else if (axes.count > 0 && axes.count <= in.rank) {
		c->outputs[0].shape = shape_make(c->arena, in.rank - axes.count);
	}
	return 0;
}

static void reduce_cost(const struct op_call *c, struct op_cost *cost)
{
	const struct reduce *row = c->op->own;
	cost->flops = row->per_input * op_count(&c->inputs[0]);
	if (row->last)
		cost->flops += op_count(&c->outputs[0]);
	cost->bytes = op_bytes(&c->inputs[0]) + op_bytes(&c->outputs[0]);
}

/* All reduced axes have size 1: nothing to do, or a reshape. */
static bool reduce_free(const struct op_call *c)
{
	const struct reduce *row = c->op->own;
	return row->identity && op_count(&c->inputs[0]) == op_count(&c->outputs[0]) &&
	       op_count(&c->inputs[0]) > 0;
}

/* Reduced dimensions are 1 in the destination for any keepdims: equal work, equal text. */
static void reduced_problem(
	const struct op_call *c, enum mode mode, enum dtype to, const bool *mask, struct op_problem *out)
{
	const struct op_value *in = &c->inputs[0];
	struct problem *p = op_problem_start(out, KERNEL_REDUCE, mode);
	p->operand[0] = op_operand(in);
	p->operand[1].dtype = to;
	p->shape_count = 2;
	p->shape[0] = p->shape[1] = op_problem_shape(in->shape);
	for (int i = 0; i < in->shape.rank; i++) {
		if (mask[i])
			p->shape[1].dim[i] = 1;
	}
}

static void reduce_problem(const struct op_call *c, struct op_problem *out)
{
	const struct reduce *row = c->op->own;
	bool mask[OP_RANK_MAX], known;
	if (!op_problem_value(c, &c->inputs[0], out) || !op_problem_value(c, &c->outputs[0], out))
		return;
	if (reduce_mask(c, c->inputs[0].shape.rank, mask, &known, NULL) || !known) {
		op_problem_why(out, "the axes are not known");
		return;
	}
	if (!dtype_is_float(c->inputs[0].dtype)) {
		op_problem_mover(c, out);
		return;
	}
	reduced_problem(c, row->mode, c->outputs[0].dtype, mask, out);
	out->proxy = row->proxy;
}

/* ---- ArgMax, ArgMin */

static int arg_shape(struct op_call *c, struct error *err)
{
	struct shape in = c->inputs[0].shape;
	bool mask[OP_RANK_MAX] = { false };
	c->outputs[0].dtype = DTYPE_S64;
	if (in.rank < 0)
		return 0;
	int axis = op_axis(c, node_int(c->node, "axis", 0), in.rank, err);
	if (axis < 0)
		return -1;
	mask[axis] = true;
	c->outputs[0].shape = reduced_shape(c->arena, in, mask, node_int(c->node, "keepdims", 1) != 0);
	op_contents_arg(c, axis, text_is(c->node->op, "ArgMax"));
	return 0;
}

/* One comparison per input element; all outputs are written. */
static void arg_cost(const struct op_call *c, struct op_cost *cost)
{
	cost->flops = op_count(&c->inputs[0]);
	cost->bytes = op_bytes(&c->inputs[0]);
	for (int i = 0; i < c->output_count; i++)
		cost->bytes += op_bytes(op_out(c, i));
}

/* Ordered types of whole bytes. */
static bool type_is_number(enum dtype t)
{
	return dtype_bits(t) >= 8 && t != DTYPE_BOOL && t != DTYPE_C64 && t != DTYPE_C128;
}

/* A kernel along one axis of input 0, or a copy of equal bytes if the type has no order. NULL: `why` is
 * set. */
static struct problem *axis_problem(
	const struct op_call *c, enum kernel kernel, enum mode mode, int64_t axis, struct op_problem *out)
{
	const struct op_value *in = &c->inputs[0];
	if (!op_problem_ready(c, out))
		return NULL;
	if (!type_is_number(in->dtype) || in->shape.rank < 1) {
		op_problem_mover(c, out);
		return NULL;
	}
	int at = op_axis(c, axis, in->shape.rank, NULL);
	if (at < 0) {
		op_problem_why(out, "the axis is out of range");
		return NULL;
	}
	struct problem *p = op_problem_map(out, kernel, mode, in, &c->outputs[0]);
	p->axis = at;
	return p;
}

static void arg_problem(const struct op_call *c, struct op_problem *out)
{
	enum mode mode = text_is(c->node->op, "ArgMin") ? MODE_ARGMIN : MODE_ARGMAX;
	if (axis_problem(c, KERNEL_ARGREDUCE, mode, node_int(c->node, "axis", 0), out))
		out->proxy = node_int(c->node, "select_last_index", 0) != 0;
}

/* ---- TopK */

static int top_k_shape(struct op_call *c, struct error *err)
{
	struct shape in = c->inputs[0].shape;
	struct op_list k = op_list_get(c, "k", c->opset < 10 ? -1 : 1);
	if (c->output_count > 1)
		c->outputs[1].dtype = DTYPE_S64;
	if (k.state == OP_LIST_ABSENT)
		return op_fail(c, err, "k is missing");
	if (in.rank < 0)
		return 0;
	int axis = op_axis(c, node_int(c->node, "axis", -1), in.rank, err);
	if (axis < 0)
		return -1;
	struct dim size = k.state == OP_LIST_KNOWN && k.count == 1 ? k.at[0] : dim_unknown();
	if (size.kind == DIM_UNKNOWN && in.dims[axis].upper >= 0 &&
		(size.upper < 0 || size.upper > in.dims[axis].upper))
		size.upper = in.dims[axis].upper;
	if (size.kind == DIM_KNOWN &&
		(size.value < 0 || (in.dims[axis].kind == DIM_KNOWN && size.value > in.dims[axis].value)))
		return op_fail(c, err, "k is %lld, out of range for axis %d of %s",
			(long long)size.value, axis, shape_text(c->arena, in));
	for (int i = 0; i < c->output_count; i++) {
		c->outputs[i].shape = op_shape_copy(c->arena, in);
		c->outputs[i].shape.dims[axis] = size;
	}
	if (size.kind == DIM_KNOWN)
		op_contents_top_k(c, axis, c->opset < 11 || node_int(c->node, "largest", 1));
	return 0;
}

/* The kernel sorts; without that requirement it is a proxy. */
static void top_k_problem(const struct op_call *c, struct op_problem *out)
{
	enum mode mode = c->opset < 11 || node_int(c->node, "largest", 1) ? MODE_LARGEST : MODE_SMALLEST;
	struct problem *p = axis_problem(c, KERNEL_TOPK, mode, node_int(c->node, "axis", -1), out);
	if (!p)
		return;
	p->size = c->outputs[0].shape.dims[p->axis].value;
	out->proxy = c->opset >= 11 && node_int(c->node, "sorted", 1) == 0;
}

/* ---- CumSum, CumProd */

static int cum_sum_shape(struct op_call *c, struct error *err)
{
	int rank = c->inputs[0].shape.rank;
	double at;
	if (rank >= 0 && op_scalar(op_in(c, 1), &at)) {
		int axis = op_axis(c, fabs(at) < OP_RANK_MAX ? (int64_t)at : OP_RANK_MAX, rank, err);
		if (axis < 0)
			return -1;
		op_contents_cumulate(c, axis, text_is(text_of(c->op->name), "CumProd"));
	}
	return op_shape_as_input(c, err);
}

static void cum_sum_cost(const struct op_call *c, struct op_cost *cost)
{
	cost->flops = op_count(&c->outputs[0]);
	cost->bytes = op_bytes(&c->inputs[0]) + op_bytes(&c->outputs[0]);
}

/* Reverse or exclusive sums have the same additions and bytes. */
static void cum_sum_problem(const struct op_call *c, struct op_problem *out)
{
	double axis;
	if (!op_scalar(op_in(c, 1), &axis)) {
		if (op_problem_ready(c, out))
			op_problem_why(out, "the axis is not known");
		return;
	}
	if (axis_problem(c, KERNEL_SCAN, MODE_SCAN_SUM,
		fabs(axis) < OP_RANK_MAX ? (int64_t)axis : OP_RANK_MAX, out))
		out->proxy = node_int(c->node, "exclusive", 0) || node_int(c->node, "reverse", 0);
}

static void cum_prod_problem(const struct op_call *c, struct op_problem *out)
{
	cum_sum_problem(c, out);
	out->proxy = out->known;
}

/* ---- Det */

/* Square matrices after the batch dimensions. */
static RULE_SHAPE(det)
{
	struct shape x = c->inputs[0].shape;
	if (x.rank < 0)
		return 0;
	if (x.rank < 2 || dim_differs(x.dims[x.rank - 2], x.dims[x.rank - 1]))
		return op_fail(c, err, "%s is not a batch of square matrices", shape_text(c->arena, x));
	c->outputs[0].shape = op_shape_copy(c->arena, (struct shape){ x.rank - 2, x.dims });
	return 0;
}

/* Elimination takes 2/3 n^3 operations (Golub and Van Loan, Matrix Computations, 3.2). */
static RULE_COST(det)
{
	struct shape x = c->inputs[0].shape;
	struct dim n = x.rank > 0 ? x.dims[x.rank - 1] : dim_unknown();
	cost->flops = op_count(&c->inputs[0]) * (n.kind == DIM_KNOWN ? (double)n.value * 2 / 3 : NAN);
	cost->bytes = op_bytes_all(c);
}

/* Two rows: the axes are an attribute, and an input from opset `input` on. */
#define REDUCE_ROW(name, since, until, most, note, ...)                                                      \
	{ name, "", since, until, 1, most, CLASS_MEMORY, reduce_shape, reduce_cost, reduce_problem, \
		reduce_free, note, &(const struct reduce){ __VA_ARGS__ } }
#define REDUCE(name, input, note, ...)                                                                       \
	REDUCE_ROW(name, 1, input - 1, 1, note, __VA_ARGS__), REDUCE_ROW(name, input, 0, 2, note, __VA_ARGS__)

static const struct op rows[] = {
	REDUCE("ReduceL1", 18, "measured as ReduceSum", REDUCE_L1, MODE_REDUCE_SUM, true, 2, false, false),
	REDUCE("ReduceL2", 18, NULL, REDUCE_L2, MODE_REDUCE_L2, false, 2, true, false),
	REDUCE("ReduceLogSum", 18, "measured as ReduceSum",
		REDUCE_LOG_SUM, MODE_REDUCE_SUM, true, 1, true, false),
	REDUCE("ReduceLogSumExp", 18, "measured as ReduceSum",
		REDUCE_LOG_SUM_EXP, MODE_REDUCE_SUM, true, 2, true, false),
	REDUCE("ReduceMax", 18, NULL, REDUCE_MAX, MODE_REDUCE_MAX, false, 1, false, true),
	REDUCE("ReduceMean", 18, NULL, REDUCE_MEAN, MODE_REDUCE_MEAN, false, 1, true, true),
	REDUCE("ReduceMin", 18, NULL, REDUCE_MIN, MODE_REDUCE_MIN, false, 1, false, true),
	REDUCE("ReduceProd", 18, NULL, REDUCE_PROD, MODE_REDUCE_MUL, false, 1, false, true),
	REDUCE("ReduceSum", 13, NULL, REDUCE_SUM, MODE_REDUCE_SUM, false, 1, false, true),
	REDUCE("ReduceSumSquare", 18, "measured as ReduceL2",
		REDUCE_SUM_SQUARE, MODE_REDUCE_L2, true, 2, false, false),
	{ "ArgMax", "", 1, 0, 1, 1, CLASS_MEMORY, arg_shape, arg_cost, arg_problem, NULL,
		"the last index is measured as the first (proxy)", .quant = QUANT_INDEX },
	{ "ArgMin", "", 1, 0, 1, 1, CLASS_MEMORY, arg_shape, arg_cost, arg_problem, NULL,
		"the last index is measured as the first (proxy)", .quant = QUANT_INDEX },
	{ "TopK", "", 1, 9, 1, 1, CLASS_MEMORY, top_k_shape, arg_cost, top_k_problem, NULL, NULL },
	{ "TopK", "", 10, 0, 2, 2, CLASS_MEMORY, top_k_shape, arg_cost, top_k_problem, NULL,
		"unsorted is measured as sorted (proxy)" },
	{ "CumSum", "", 11, 0, 2, 2, CLASS_MEMORY, cum_sum_shape, cum_sum_cost, cum_sum_problem, NULL,
		"exclusive and reverse are measured as plain (proxy)" },
	{ "CumProd", "", 26, 0, 2, 2, CLASS_MEMORY, cum_sum_shape, cum_sum_cost, cum_prod_problem, NULL,
		"measured as CumSum" },
	{ "Det", "", 11, 0, 1, 1, CLASS_MEMORY, det_shape, det_cost, op_problem_mover, NULL, OP_COPY },
};
const struct op_rows op_reduce_rows = OP_ROWS(rows);
