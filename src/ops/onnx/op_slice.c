/* Slice: starts, ends, axes and steps as attributes or inputs, numbers or symbols. */
#include "config.h"

#include "ops/rules/op_rules.h"

/* Ends from here on mean "to the end", for any dimension. */
#define FAR INT32_MAX

struct slice_axis {
	struct dim start, end, step;
};

static int64_t clamp(int64_t v, int64_t lo, int64_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

/* First index and count along a known dimension. */
static void slice_known(int64_t d, int64_t start, int64_t end, int64_t step, int64_t *first, int64_t *count)
{
	bool back = step < 0;
	start = start < 0 ? start + d : start;
	end = end < 0 && end >= -d ? end + d : end < 0 ? -1 : end;
	start = back ? clamp(start, -1, d - 1) : clamp(start, 0, d);
	end = back ? clamp(end, -1, d - 1) : clamp(end, 0, d);
	int64_t span = back ? start - end : end - start;
	uint64_t size = back ? -(uint64_t)step : (uint64_t)step;
	*first = start;
	*count = span <= 0 ? 0 : (int64_t)(((uint64_t)span - 1) / size) + 1;
}

static bool is_known(struct dim d)
{
	return d.kind == DIM_KNOWN;
}

/* True for a number that is an index and not "to the end". */
static bool is_near(struct dim d)
{
	return is_known(d) && d.value > -FAR && d.value < FAR;
}

static bool is_zero(struct dim d)
{
	return is_known(d) && d.value == 0;
}

/* The smaller of two upper bounds; -1 = none. */
static int64_t lesser_upper(int64_t x, int64_t y)
{
	return x < 0 || (y >= 0 && y < x) ? y : x;
}

/* A bound normalized to 0..d, for steps forward; unknown if its sign is. */
static struct dim slice_bound(struct arena *a, struct dim d, struct dim bound)
{
	struct dim zero = dim_known(0);
	if (is_zero(bound) || (is_known(bound) && bound.value <= -FAR))
		return zero;
	if (is_known(bound) && bound.value >= FAR)
		return d;
	if (dim_nonnegative(bound))
		return d.kind == DIM_UNKNOWN ? dim_unknown_upto(lesser_upper(d.upper, bound.upper))
					     : dim_min(a, bound, d);
	bool negative = dim_nonnegative(dim_sub(a, zero, bound));
	return negative ? dim_max(a, dim_add(a, d, bound), zero) : dim_unknown_upto(d.upper);
}

static struct dim slice_symbolic(struct arena *a, struct dim d, const struct slice_axis *s)
{
	if (is_known(s->step) && s->step.value == -1 && is_known(s->start) && s->start.value == -1 &&
		is_known(s->end) && s->end.value <= -FAR)
		return d;
	if (!is_known(s->step) || s->step.value < 1)
		return dim_unknown_upto(d.upper);
	struct dim first = slice_bound(a, d, s->start), last = slice_bound(a, d, s->end), span = last;
	if (!is_zero(first)) {
		bool to_end = dim_same(last, d) && dim_nonnegative(s->start);
		span = dim_max(a, dim_sub(a, last, to_end ? s->start : first), dim_known(0));
	}
	if (span.kind == DIM_UNKNOWN) {
		/* Upper bound: the size of the input, the part up to `end`, or the distance of two known
		 * bounds. */
		bool between = is_near(s->start) && is_near(s->end) &&
			(s->start.value < 0) == (s->end.value < 0);
		int64_t gap = between && s->end.value > s->start.value ? s->end.value - s->start.value : -1;
		span.upper = lesser_upper(lesser_upper(d.upper, last.upper), gap);
	}
	return dim_ceil_div(a, span, s->step.value);
}

/* What is sliced along each axis of the input. false: the axes are unknown. An error in err: invalid. */
static int slice_axes(const struct op_call *c, int rank, struct slice_axis *at, bool *sliced, bool *known,
	struct error *err)
{
	bool inputs = c->opset >= 10 || text_is(c->node->op, "DynamicSlice");
	struct op_list starts = op_list_get(c, "starts", inputs ? 1 : -1),
		       ends = op_list_get(c, "ends", inputs ? 2 : -1);
	struct op_list axes = op_list_get(c, "axes", inputs ? 3 : -1),
		       steps = op_list_get(c, NULL, inputs ? 4 : -1);
	int count = starts.count >= 0 ? starts.count : ends.count;
	*known = (axes.state == OP_LIST_ABSENT || op_list_all_known(&axes)) && count >= 0;
	if (!*known)
		return 0;
	bool lengths = (ends.count < 0 || ends.count == count) &&
		       (axes.state == OP_LIST_ABSENT || axes.count == count) &&
		       (steps.state == OP_LIST_ABSENT || steps.count < 0 || steps.count == count);
	if (!lengths || count > rank)
		return op_fail(c, err, "starts, ends, axes and steps do not match rank %d", rank);
	if (axes.state != OP_LIST_ABSENT) {
		bool mask[OP_RANK_MAX];
		if (op_axes(c, &axes, rank, mask, err))
			return -1;
	}
	for (int i = 0; i < count; i++) {
		int axis = axes.state == OP_LIST_ABSENT ? i : op_axis(c, axes.at[i].value, rank, NULL);
		sliced[axis] = true;
		at[axis].start = starts.state == OP_LIST_KNOWN ? starts.at[i] : dim_unknown();
		at[axis].end = ends.state == OP_LIST_KNOWN ? ends.at[i] : dim_unknown();
		at[axis].step = steps.state == OP_LIST_KNOWN	? steps.at[i]
				: steps.state == OP_LIST_ABSENT ? dim_known(1)
								: dim_unknown();
		if (is_known(at[axis].step) && at[axis].step.value == 0)
			return op_fail(c, err, "a step of 0");
	}
	return 0;
}

/* first and step of each axis of a slice that is known in full. */
static void slice_elements(struct op_call *c, const int64_t *first, const int64_t *step)
{
	struct op_value *v = &c->outputs[0];
	int count = op_elements_count(v->shape), at[OP_RANK_MAX], index[OP_ELEMENTS_MAX];
	if (count < 0)
		return;
	for (int i = 0; i < count; i++) {
		op_coords(v->shape, i, at);
		for (int j = 0; j < v->shape.rank; j++)
			at[j] = (int)(first[j] + at[j] * step[j]);
		index[i] = op_index(c->inputs[0].shape, at);
	}
	v->elements = op_elements_pick(c->arena, c->inputs[0].elements, count, index);
}

int op_slice_shape(struct op_call *c, struct error *err)
{
	struct shape in = c->inputs[0].shape;
	struct slice_axis axis[OP_RANK_MAX];
	bool sliced[OP_RANK_MAX] = { false }, known, exact = true;
	int64_t first[OP_RANK_MAX] = { 0 }, step[OP_RANK_MAX], count;
	if (in.rank < 0)
		return 0;
	if (slice_axes(c, in.rank, axis, sliced, &known, err))
		return -1;
	struct shape out = c->outputs[0].shape = shape_make(c->arena, in.rank);
	for (int i = 0; i < in.rank; i++)
		out.dims[i] = known ? in.dims[i] : dim_unknown_upto(in.dims[i].upper);
	for (int i = 0; i < in.rank && known; i++) {
		struct slice_axis *s = &axis[i];
		step[i] = 1;
		if (!sliced[i])
			continue;
		if (is_known(in.dims[i]) && is_known(s->start) && is_known(s->end) && is_known(s->step)) {
			slice_known(in.dims[i].value, s->start.value, s->end.value, s->step.value, &first[i],
				&count);
			step[i] = count > 1 ? s->step.value : 1;
			out.dims[i] = dim_known(count);
		} else {
			out.dims[i] = slice_symbolic(c->arena, in.dims[i], s);
			exact = false;
		}
	}
	if (known && exact && c->inputs[0].elements)
		slice_elements(c, first, step);
	return 0;
}

bool op_slice_free(const struct op_call *c)
{
	struct shape in = c->inputs[0].shape;
	struct slice_axis axis[OP_RANK_MAX];
	bool sliced[OP_RANK_MAX] = { false }, known;
	if (!op_shape_same(in, c->outputs[0].shape) || slice_axes(c, in.rank, axis, sliced, &known, NULL) ||
		!known)
		return false;
	for (int i = 0; i < in.rank; i++) {
		if (sliced[i] && in.dims[i].value > 1 && !(is_known(axis[i].step) && axis[i].step.value > 0))
			return false;
	}
	return true;
}

static const struct op rows[] = {
	OP_MOVER_ROW("Slice", 1, 9, 1, 1, op_slice_shape, op_taken_cost, op_slice_free,
		OP_ANY_LAYOUT, QUANT_MOVER),
	OP_MOVER_ROW("Slice", 10, 0, 3, 5, op_slice_shape, op_taken_cost, op_slice_free,
		OP_ANY_LAYOUT, QUANT_MOVER),
};
const struct op_rows op_slice_rows = OP_ROWS(rows);
