/* Operators that keep some slices along an axis: Compress, Unique. */
#include "config.h"

#include "ops/rules/op_rules.h"

#include <math.h>
#include <stdlib.h>

/* The axis of attribute "axis": -1 = none, the tensor is one line. -2: an error. */
static int line_axis(const struct op_call *c, struct shape in, struct error *err)
{
	const struct attribute *a = node_attribute(c->node, "axis");
	if (!a || a->kind != ATTRIBUTE_INT || in.rank < 0)
		return -1;
	int axis = op_axis(c, a->i, in.rank, err);
	return axis < 0 ? -2 : axis;
}

static bool has_axis(const struct op_call *c)
{
	return node_attribute(c->node, "axis") != NULL;
}

/* Number of slices along the axis. */
static struct dim line_length(struct arena *a, struct shape in, int axis)
{
	return axis >= 0 ? in.dims[axis] : in.rank >= 0 ? shape_elements(a, in) : dim_unknown();
}

/* The shape with `kept` slices. */
static struct shape line_shape(struct arena *a, struct shape in, int axis, struct dim kept)
{
	struct shape out = axis >= 0 ? op_shape_copy(a, in) : shape_make(a, 1);
	out.dims[axis >= 0 ? axis : 0] = kept;
	return out;
}

/* Concatenates slices `which` of known contents. */
static void line_pick(struct op_call *c, int axis, const int *which)
{
	const struct op_value *in = &c->inputs[0];
	struct op_value *v = &c->outputs[0];
	int count = op_elements_count(v->shape), at[OP_RANK_MAX], index[OP_ELEMENTS_MAX];
	if (count < 0 || !in->elements)
		return;
	for (int i = 0; i < count; i++) {
		op_coords(v->shape, i, at);
		int along = axis >= 0 ? axis : 0;
		at[along] = which[at[along]];
		index[i] = axis >= 0 ? op_index(in->shape, at) : at[0];
	}
	v->elements = op_elements_pick(c->arena, in->elements, count, index);
}

/* ---- Compress */

/* The slices that a known condition keeps, and their number; -1: out of range. Slices after the end of the
 * condition are dropped. */
static int compress_which(const struct op_call *c, const struct elements *keep, struct dim length, int *which,
	struct error *err)
{
	int count = 0;
	for (int i = 0; i < keep->count; i++) {
		if (keep->i[i].value)
			which[count++] = i;
	}
	if (count && length.upper >= 0 && which[count - 1] >= length.upper)
		return op_fail(
			c, err, "slice %d of %lld is to be kept", which[count - 1], (long long)length.upper);
	return count;
}

/* Upper bound of the slices kept by an unknown condition: its length, and all slices. */
static struct dim compress_most(struct dim length, struct dim condition)
{
	int64_t most = length.upper;
	if (condition.upper >= 0 && (most < 0 || condition.upper < most))
		most = condition.upper;
	return most == 0 ? dim_known(0) : dim_unknown_upto(most);
}

static RULE_SHAPE(compress)
{
	struct shape in = c->inputs[0].shape;
	const struct op_value *condition = &c->inputs[1];
	int axis = line_axis(c, in, err), which[OP_ELEMENTS_MAX];
	if (axis == -2)
		return -1;
	if (condition->shape.rank >= 0 && condition->shape.rank != 1)
		return op_fail(c, err, "a condition of rank %d", condition->shape.rank);
	if (in.rank < 0 && has_axis(c))
		return 0;
	struct dim length = line_length(c->arena, in, axis);
	if (op_elements_concrete(condition->elements) && condition->elements->i) {
		int count = compress_which(c, condition->elements, length, which, err);
		if (count < 0)
			return -1;
		c->outputs[0].shape = line_shape(c->arena, in, axis, dim_known(count));
		line_pick(c, axis, which);
		return 0;
	}
	struct dim given = condition->shape.rank == 1 ? condition->shape.dims[0] : dim_unknown();
	c->outputs[0].shape = line_shape(c->arena, in, axis, compress_most(length, given));
	return 0;
}

/* ---- Unique */

/* Slices of the input as element indexes: `count` slices of `size` elements. */
struct slices {
	const struct elements *e;
	int count, size, inner; /* inner: adjacent elements of a slice */
};

static double slice_number(const struct slices *s, int slice, int i)
{
	int at = (i / s->inner) * s->inner * s->count + slice * s->inner + i % s->inner;
	return s->e->f ? s->e->f[at] : (double)s->e->i[at].value;
}

/* Lexicographic order of two slices. */
static int slice_compare(const struct slices *s, int x, int y)
{
	for (int i = 0; i < s->size; i++) {
		double p = slice_number(s, x, i), q = slice_number(s, y, i);
		if (p != q)
			return p < q ? -1 : 1;
	}
	return 0;
}

/* Equal slices by index. */
static int slice_order(const void *x, const void *y, void *slices)
{
	int p = *(const int *)x, q = *(const int *)y, order = slice_compare(slices, p, q);
	return order ? order : (p > q) - (p < q);
}

/* first[k]: the first slice equal to the k-th unique one; of[i]: the unique slice equal to slice i; many[k]:
 * their number. */
struct unique {
	int count;
	int first[OP_ELEMENTS_MAX], of[OP_ELEMENTS_MAX], many[OP_ELEMENTS_MAX];
};

/* Finds them in sorted order. */
static void unique_find(struct unique *u, struct slices *s)
{
	int order[OP_ELEMENTS_MAX];
	for (int i = 0; i < s->count; i++)
		order[i] = i;
	qsort_r(order, (size_t)s->count, sizeof(order[0]), slice_order, s);
	u->count = 0;
	for (int i = 0; i < s->count; i++) {
		if (i == 0 || slice_compare(s, order[i - 1], order[i]) != 0) {
			u->first[u->count] = order[i];
			u->many[u->count++] = 0;
		}
		u->of[order[i]] = u->count - 1;
		u->many[u->count - 1]++;
	}
}

/* Reorders them by first occurrence. */
static void unique_by_place(struct unique *u, const struct unique *sorted, int slices)
{
	int number[OP_ELEMENTS_MAX];
	u->count = 0;
	for (int i = 0; i < slices; i++) {
		int k = sorted->of[i];
		if (sorted->first[k] == i) {
			number[k] = u->count;
			u->first[u->count] = i;
			u->many[u->count++] = sorted->many[k];
		}
		u->of[i] = number[k];
	}
}

static void unique_list(struct op_call *c, int output, int count, const int *from)
{
	struct op_value *v = op_out(c, output);
	if (!v)
		return;
	struct elements *e = op_elements_new(c->arena, count, false);
	for (int i = 0; i < count; i++)
		e->i[i] = dim_known(from[i]);
	v->elements = e;
}

/* True for fully known contents, few enough, whose integers are exact as doubles. */
static bool unique_is_known(const struct op_value *in)
{
	const struct elements *e = in->elements;
	if (!op_elements_concrete(e) || e->count < 1)
		return false;
	for (int i = 0; e->i && i < e->count; i++) {
		if (e->i[i].value > ((int64_t)1 << 53) || e->i[i].value < -((int64_t)1 << 53))
			return false;
	}
	return true;
}

/* The shapes of all outputs for `kept` unique slices out of `length`. */
static void unique_shapes(struct op_call *c, int axis, struct dim length, struct dim kept)
{
	c->outputs[0].shape = line_shape(c->arena, c->inputs[0].shape, axis, kept);
	for (int i = 1; i < c->output_count; i++) {
		c->outputs[i].shape = shape_make(c->arena, 1);
		c->outputs[i].shape.dims[0] = i == 2 ? length : kept;
	}
}

static RULE_SHAPE(unique)
{
	const struct op_value *in = &c->inputs[0];
	int axis = line_axis(c, in->shape, err);
	for (int i = 1; i < c->output_count; i++)
		c->outputs[i].dtype = DTYPE_S64;
	if (axis == -2)
		return -1;
	if (in->shape.rank < 0 && has_axis(c))
		return 0;
	struct dim length = line_length(c->arena, in->shape, axis);
	if (!unique_is_known(in)) {
		bool few = length.kind == DIM_KNOWN && length.value <= 1;
		unique_shapes(c, axis, length, few ? length : dim_unknown_upto(length.upper));
		return 0;
	}
	struct slices s = { in->elements, (int)length.value, in->elements->count / (int)length.value, 1 };
	for (int i = axis + 1; axis >= 0 && i < in->shape.rank; i++)
		s.inner *= (int)in->shape.dims[i].value;
	struct unique found[2], *u = &found[0];
	unique_find(u, &s);
	if (!node_int(c->node, "sorted", 1)) {
		u = &found[1];
		unique_by_place(u, &found[0], s.count);
	}
	unique_shapes(c, axis, length, dim_known(u->count));
	line_pick(c, axis, u->first);
	unique_list(c, 1, u->count, u->first);
	unique_list(c, 2, s.count, u->of);
	unique_list(c, 3, u->count, u->many);
	return 0;
}

/* Sorting takes n log2 n comparisons. */
static RULE_COST(unique)
{
	double n = op_count(&c->inputs[0]);
	cost->flops = n > 1 ? n * log2(n) : n;
	cost->bytes = op_bytes_all(c);
}

/* The size of the output depends on the data; as many bytes as are read are a proxy. */
static RULE_PROBLEM(unique)
{
	if (op_problem_value(c, &c->inputs[0], out))
		op_problem_copy(c, 2 * op_bytes(&c->inputs[0]), out);
}

/* ---- operator table */

#define DATA "the size of its output depends on the data"

static const struct op rows[] = {
	{ "Compress", "", 9, 0, 2, 2, CLASS_MOVE, compress_shape, op_gather_cost, op_problem_mover, NULL,
		DATA },
	{ "Unique", "", 11, 0, 1, 1, CLASS_MEMORY, unique_shape, unique_cost, unique_problem, NULL, DATA },
};
const struct op_rows op_select_rows = OP_ROWS(rows);
