/* Contents of small tensors for operators with indexes: Gather*, Scatter*, OneHot, Trilu, Pad, ArgMax, TopK,
 * CumSum. An element of the result is known if the elements it is made of are. */
#include "config.h"

#include "ops/rules/op_contents.h"

#include <math.h>

int64_t op_contents_index(const struct elements *indices, int k, int64_t size)
{
	if (!indices || !indices->i || k >= indices->count || indices->i[k].kind != DIM_KNOWN)
		return -1;
	int64_t at = indices->i[k].value;
	if (at < -size || at >= size)
		return -2;
	return at < 0 ? at + size : at;
}

/* Copies from[index] to to[at]; unknown if there is no such element. */
static void element_copy(struct elements *to, int at, const struct elements *from, int index)
{
	if (to->f)
		to->f[at] = NAN;
	else
		to->i[at] = dim_unknown();
	if (!from || index < 0 || index >= from->count)
		return;
	if (to->f && from->f)
		to->f[at] = from->f[index];
	else if (to->i && from->i)
		to->i[at] = from->i[index];
}

static void element_zero(struct elements *to, int at)
{
	if (to->f)
		to->f[at] = 0;
	else
		to->i[at] = dim_known(0);
}

static struct elements *elements_copy(struct arena *a, const struct elements *from)
{
	struct elements *e = op_elements_new(a, from->count, from->f != NULL);
	for (int i = 0; i < e->count; i++)
		element_copy(e, i, from, i);
	return e;
}

/* ---- Gather and Scatter */

/* True if there are contents to select from; the shape is then known and small. */
static bool is_full(const struct op_value *v)
{
	return v->elements && v->elements->count > 0;
}

void op_contents_gather_elements(struct op_call *c, int axis)
{
	const struct op_value *data = &c->inputs[0], *indices = &c->inputs[1];
	int count = op_elements_count(indices->shape), at[OP_RANK_MAX], index[OP_ELEMENTS_MAX];
	if (count < 0 || !is_full(data) || !indices->elements)
		return;
	for (int i = 0; i < count; i++) {
		int64_t k = op_contents_index(indices->elements, i, data->shape.dims[axis].value);
		op_coords(indices->shape, i, at);
		at[axis] = (int)k;
		index[i] = k < 0 ? -1 : op_index(data->shape, at);
	}
	c->outputs[0].elements = op_elements_pick(c->arena, data->elements, count, index);
}

/* Offset of the dimensions that row `row` of `width` indices selects in a tensor of shape s, after its first
 * `from` dimensions; -1: unknown. */
static int tuple_offset(const struct elements *indices, int row, int width, struct shape s, int from)
{
	int64_t offset = 0;
	for (int j = 0; j < width; j++) {
		int64_t k = op_contents_index(indices, row * width + j, s.dims[from + j].value);
		if (k < 0)
			return -1;
		offset = offset * s.dims[from + j].value + k;
	}
	return (int)offset;
}

/* Number of elements of dimensions [from, to). */
static int run_length(struct shape s, int from, int to)
{
	int length = 1;
	for (int i = from; i < to; i++)
		length *= (int)s.dims[i].value;
	return length;
}

void op_contents_gather_nd(struct op_call *c, int batch)
{
	const struct op_value *data = &c->inputs[0], *indices = &c->inputs[1];
	int count = op_elements_count(c->outputs[0].shape), index[OP_ELEMENTS_MAX];
	if (count < 1 || !is_full(data) || !is_full(indices) || !indices->elements->i)
		return;
	int width = (int)indices->shape.dims[indices->shape.rank - 1].value;
	int each = run_length(data->shape, batch + width, data->shape.rank);
	int of_batch = run_length(data->shape, batch, data->shape.rank);
	int rows_of_batch = count / each / run_length(data->shape, 0, batch);
	for (int i = 0; i < count; i++) {
		int row = i / each, offset = tuple_offset(indices->elements, row, width, data->shape, batch);
		index[i] = offset < 0 ? -1 : row / rows_of_batch * of_batch + offset * each + i % each;
	}
	c->outputs[0].elements = op_elements_pick(c->arena, data->elements, count, index);
}

void op_contents_scatter_nd(struct op_call *c)
{
	const struct op_value *data = &c->inputs[0], *indices = &c->inputs[1], *updates = &c->inputs[2];
	if (!is_full(data) || !is_full(indices) || !indices->elements->i || indices->shape.rank < 1)
		return;
	int64_t width = indices->shape.dims[indices->shape.rank - 1].value;
	if (width < 1 || width > data->shape.rank)
		return;
	int each = run_length(data->shape, (int)width, data->shape.rank);
	int rows = indices->elements->count / (int)width;
	struct elements *e = elements_copy(c->arena, data->elements);
	for (int row = 0; row < rows; row++) {
		int offset = tuple_offset(indices->elements, row, (int)width, data->shape, 0);
		if (offset < 0)
			return; /* the index may be anywhere, so all is unknown */
		for (int i = 0; i < each; i++)
			element_copy(e, offset * each + i, updates->elements, row * each + i);
	}
	c->outputs[0].elements = e;
}

void op_contents_scatter_elements(struct op_call *c, int axis)
{
	const struct op_value *data = &c->inputs[0], *indices = &c->inputs[1], *updates = &c->inputs[2];
	int at[OP_RANK_MAX];
	if (!is_full(data) || !indices->elements || !updates->elements || !indices->elements->i ||
		indices->shape.rank != data->shape.rank ||
		updates->elements->count != indices->elements->count)
		return;
	struct elements *e = elements_copy(c->arena, data->elements);
	for (int i = 0; i < indices->elements->count; i++) {
		int64_t k = op_contents_index(indices->elements, i, data->shape.dims[axis].value);
		if (k < 0)
			return;
		op_coords(indices->shape, i, at);
		at[axis] = (int)k;
		for (int j = 0; j < data->shape.rank; j++) {
			if (at[j] >= data->shape.dims[j].value)
				return;
		}
		element_copy(e, op_index(data->shape, at), updates->elements, i);
	}
	c->outputs[0].elements = e;
}

/* ---- OneHot, Trilu, Pad */

/* Like op_contents_index, for indices that may be floats. */
static int64_t one_hot_index(const struct elements *indices, int k, int64_t depth)
{
	if (indices->i || isnan(indices->f[k]))
		return op_contents_index(indices, k, depth);
	double at = trunc(indices->f[k]);
	if (!(at >= -(double)depth && at < (double)depth))
		return -2;
	return (int64_t)(at < 0 ? at + (double)depth : at);
}

void op_contents_one_hot(struct op_call *c, int axis)
{
	struct op_value *v = &c->outputs[0];
	const struct elements *indices = c->inputs[0].elements, *values = c->inputs[2].elements;
	int count = op_elements_count(v->shape), at[OP_RANK_MAX];
	if (count < 0 || v->shape.rank > OP_RANK_MAX || !indices || !values || values->count != 2)
		return;
	int64_t depth = v->shape.dims[axis].value;
	struct elements *e = op_elements_new(c->arena, count, values->f != NULL);
	for (int i = 0; i < count; i++) {
		op_coords(v->shape, i, at);
		int here = at[axis];
		for (int j = axis; j + 1 < v->shape.rank; j++)
			at[j] = at[j + 1];
		int64_t hot = one_hot_index(indices, op_index(c->inputs[0].shape, at), depth);
		if (hot != -1) /* out of range: all elements are off */
			element_copy(e, i, values, hot == here);
	}
	v->elements = e;
}

void op_contents_trilu(struct op_call *c)
{
	const struct op_value *in = &c->inputs[0];
	int at[OP_RANK_MAX], rank = in->shape.rank;
	double k = 0;
	if (!is_full(in) || rank < 2 || (op_in(c, 1) && !op_scalar(op_in(c, 1), &k)))
		return;
	bool upper = node_int(c->node, "upper", 1) != 0;
	struct elements *e = elements_copy(c->arena, in->elements);
	for (int i = 0; i < e->count; i++) {
		op_coords(in->shape, i, at);
		int over = at[rank - 1] - at[rank - 2];
		if (upper ? over < k : over > k)
			element_zero(e, i);
	}
	c->outputs[0].elements = e;
}

/* The index along an axis of `size` that index `at` of the padded axis comes from; -1: padding. */
static int64_t pad_place(struct text mode, int64_t at, int64_t size)
{
	if ((at >= 0 && at < size) || size < 1)
		return size < 1 ? -1 : at;
	if (text_is(mode, "edge"))
		return at < 0 ? 0 : size - 1;
	if (text_is(mode, "wrap"))
		return (at % size + size) % size;
	if (!text_is(mode, "reflect"))
		return -1;
	int64_t period = size > 1 ? 2 * (size - 1) : 1;
	at = (at % period + period) % period;
	return at < size ? at : period - at;
}

void op_contents_pad(struct op_call *c, const int64_t *begin)
{
	struct op_value *v = &c->outputs[0];
	const struct op_value *in = &c->inputs[0], *value = c->opset < 11 ? NULL : op_in(c, 2);
	struct text mode = node_string(c->node, "mode", "constant");
	int count = op_elements_count(v->shape), at[OP_RANK_MAX];
	if (count < 0 || !is_full(in))
		return;
	struct elements *e = op_elements_new(c->arena, count, in->elements->f != NULL);
	float fixed = c->opset < 11 ? node_float(c->node, "value", 0) : 0;
	for (int i = 0; i < count; i++) {
		bool padded = false;
		op_coords(v->shape, i, at);
		for (int j = 0; j < in->shape.rank; j++) {
			int64_t place = pad_place(mode, at[j] - begin[j], in->shape.dims[j].value);
			padded |= place < 0;
			at[j] = (int)place;
		}
		if (!padded)
			element_copy(e, i, in->elements, op_index(in->shape, at));
		else if (value)
			element_copy(e, i, value->elements, 0);
		else if (e->f)
			e->f[i] = (double)fixed;
		else if (fixed == 0)
			e->i[i] = dim_known(0);
	}
	v->elements = e;
}

/* ---- along an axis */

/* A line of elements along an axis: index of the first, count, and stride. */
struct lane {
	int first, count, step;
};

/* Line n of a tensor of known shape. */
static struct lane lane_of(struct shape s, int axis, int n)
{
	int step = run_length(s, axis + 1, s.rank), count = (int)s.dims[axis].value;
	return (struct lane){ n / step * step * count + n % step, count, step };
}

static bool lane_is_concrete(const struct elements *e, const struct lane *l)
{
	for (int i = 0; i < l->count; i++) {
		int at = l->first + i * l->step;
		if (e->f ? isnan(e->f[at]) : e->i[at].kind != DIM_KNOWN)
			return false;
	}
	return true;
}

/* True if element x of the line is larger than element y. */
static bool lane_larger(const struct elements *e, const struct lane *l, int x, int y)
{
	x = l->first + x * l->step;
	y = l->first + y * l->step;
	return e->f ? e->f[x] > e->f[y] : e->i[x].value > e->i[y].value;
}

void op_contents_arg(struct op_call *c, int axis, bool largest)
{
	const struct op_value *in = &c->inputs[0];
	int count = op_elements_count(c->outputs[0].shape);
	if (count < 1 || !is_full(in))
		return;
	bool later = node_int(c->node, "select_last_index", 0) != 0;
	struct elements *e = op_elements_new(c->arena, count, false);
	for (int n = 0; n < count; n++) {
		struct lane l = lane_of(in->shape, axis, n);
		int best = 0;
		if (!lane_is_concrete(in->elements, &l))
			continue;
		for (int i = 1; i < l.count; i++) {
			bool more = lane_larger(in->elements, &l, i, best),
				less = lane_larger(in->elements, &l, best, i);
			if ((largest ? more : less) || (later && !more && !less))
				best = i;
		}
		e->i[n] = dim_known(best);
	}
	c->outputs[0].elements = e;
}

/* shape arithmetic needs fewer comparisons */
#define ORDER_MAX (1 << 16)

/* Indexes of the k largest or smallest elements of the line; equal ones in order. */
static void lane_top(const struct elements *e, const struct lane *l, bool largest, int k, int *places)
{
	int count = 0;
	for (int i = 0; i < l->count; i++) {
		int at = count < k ? count++ : k;
		while (at > 0 && (largest ? lane_larger(e, l, i, places[at - 1]) :
			lane_larger(e, l, places[at - 1], i))) {
			if (at < k)
				places[at] = places[at - 1];
			at--;
		}
		if (at < k)
			places[at] = i;
	}
}

void op_contents_top_k(struct op_call *c, int axis, bool largest)
{
	const struct op_value *in = &c->inputs[0];
	struct shape s = c->outputs[0].shape;
	int count = op_elements_count(s), places[OP_ELEMENTS_MAX],
		k = count < 0 ? 0 : (int)s.dims[axis].value;
	if (k < 1 || !is_full(in) || k > in->shape.dims[axis].value || in->elements->count * k > ORDER_MAX)
		return;
	struct elements *values = op_elements_new(c->arena, count, in->elements->f != NULL);
	struct elements *indices = op_elements_new(c->arena, count, false);
	for (int n = 0; n < count / k; n++) {
		struct lane from = lane_of(in->shape, axis, n), to = lane_of(s, axis, n);
		if (!lane_is_concrete(in->elements, &from))
			continue;
		lane_top(in->elements, &from, largest, k, places);
		for (int i = 0; i < k; i++) {
			element_copy(values, to.first + i * to.step, in->elements,
				from.first + places[i] * from.step);
			indices->i[to.first + i * to.step] = dim_known(places[i]);
		}
	}
	c->outputs[0].elements = values;
	if (c->output_count > 1)
		c->outputs[1].elements = indices;
}

void op_contents_cumulate(struct op_call *c, int axis, bool product)
{
	const struct op_value *in = &c->inputs[0];
	if (in->elements && in->elements->count == 0)
		c->outputs[0].elements = in->elements;
	if (!is_full(in))
		return;
	bool exclusive = node_int(c->node, "exclusive", 0) != 0,
		reverse = node_int(c->node, "reverse", 0) != 0;
	struct elements *e = op_elements_new(c->arena, in->elements->count, in->elements->f != NULL);
	for (int n = 0; n < e->count / (int)in->shape.dims[axis].value; n++) {
		struct lane l = lane_of(in->shape, axis, n);
		struct dim whole = dim_known(product ? 1 : 0);
		double sum = product ? 1 : 0;
		for (int i = 0; i < l.count; i++) {
			int at = l.first + (reverse ? l.count - 1 - i : i) * l.step;
			if (e->f) {
				double x = in->elements->f[at], next = product ? sum * x : sum + x;
				e->f[at] = op_float_round(in->dtype, exclusive ? sum : next);
				sum = next;
			} else {
				struct dim x = in->elements->i[at];
				struct dim next =
					product ? dim_mul(c->arena, whole, x) : dim_add(c->arena, whole, x);
				e->i[at] = exclusive ? whole : next;
				whole = next;
			}
		}
	}
	c->outputs[0].elements = e;
}

/* ---- MatMul */

/* shape arithmetic needs fewer multiplications */
#define PRODUCT_MAX 4096

void op_contents_matmul(struct op_call *c, struct shape batch_a, struct shape batch_b)
{
	struct op_value *v = &c->outputs[0];
	const struct op_value *a = &c->inputs[0], *b = &c->inputs[1];
	int count = op_elements_count(v->shape);
	if (count < 1 || !a->elements || !b->elements || (a->elements->f != NULL) != (b->elements->f != NULL))
		return;
	int m = a->shape.rank > 1 ? (int)a->shape.dims[a->shape.rank - 2].value : 1;
	int k = (int)a->shape.dims[a->shape.rank - 1].value;
	int n = b->shape.rank > 1 ? (int)b->shape.dims[b->shape.rank - 1].value : 1;
	struct shape batch = { v->shape.rank - (a->shape.rank > 1) - (b->shape.rank > 1), v->shape.dims };
	if ((int64_t)count * k > PRODUCT_MAX)
		return;
	struct elements *e = op_elements_new(c->arena, count, a->elements->f != NULL);
	for (int i = 0; i < count; i++) {
		int which = i / (m * n), row = i / n % m, column = i % n;
		int from_a = op_broadcast_index(batch, which, batch_a) * m * k + row * k;
		int from_b = op_broadcast_index(batch, which, batch_b) * k * n + column;
		struct dim whole = dim_known(0);
		double sum = 0;
		for (int j = 0; j < k; j++) {
			if (e->f)
				sum += a->elements->f[from_a + j] * b->elements->f[from_b + j * n];
			else
				whole = dim_add(c->arena, whole,
					dim_mul(c->arena, a->elements->i[from_a + j],
						b->elements->i[from_b + j * n]));
		}
		if (e->f)
			e->f[i] = op_float_round(v->dtype, sum);
		else
			e->i[i] = whole;
	}
	v->elements = e;
}
