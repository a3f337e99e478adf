/* Operators on sequences and optionals, and control flow operators. A sequence is a list of references:
 * building or indexing one needs no kernel. Only splitting or concatenating tensors moves bytes. */
#include "config.h"

#include "ops/rules/op_rules.h"

#include "model/tensor.h"

#include <math.h>
#include <string.h>

static bool is_sequence(const struct op_value *v)
{
	return v->kind == VALUE_SEQUENCE || v->kind == VALUE_MAPS;
}

static bool is_optional(const struct op_value *v)
{
	return v->kind == VALUE_OPTIONAL || v->kind == VALUE_OPTIONAL_SEQUENCE;
}

static int need_sequence(const struct op_call *c, struct error *err)
{
	const struct op_value *v = &c->inputs[0];
	if (!is_sequence(v) && v->kind != VALUE_OPAQUE && (v->kind != VALUE_TENSOR || v->shape.rank >= 0))
		return op_fail(c, err, "its input is not a sequence");
	return 0;
}

/* Copies the input to the output, contents included; the output is not marked as constant. */
static void hand_on(struct op_value *out, const struct op_value *in)
{
	bool present = out->present;
	*out = *in;
	out->present = present;
	out->constant = false;
}

static int identity_shape(struct op_call *c, struct error *err)
{
	(void)err;
	hand_on(&c->outputs[0], &c->inputs[0]);
	return 0;
}

/* ---- items */

/* Items of a sequence if each one is known, and their number in *count; NULL otherwise. */
static const struct op_value *items_of(const struct op_value *v, int *count)
{
	static const struct op_value none;
	*count = 0;
	if (v->length.kind != DIM_KNOWN || v->length.value < 0 || v->length.value > OP_ITEMS_MAX)
		return NULL;
	*count = (int)v->length.value;
	return *count ? v->items : &none;
}

/* Makes `out` a sequence of `items`; its type and shape are those that all items have in common. */
static void sequence_set(struct op_call *c, struct op_value *out, const struct op_value *items, int count)
{
	struct op_value common = items[0];
	for (int i = 1; i < count; i++)
		common = op_value_join(c->arena, &common, &items[i], true);
	out->kind = VALUE_SEQUENCE;
	out->dtype = common.dtype;
	out->shape = common.shape;
	out->length = dim_known(count);
	out->items = count <= OP_ITEMS_MAX ? items : NULL;
}

/* Allocates an array for `count` items, at least one. */
static struct op_value *items_new(struct arena *a, int count)
{
	return ARENA_ARRAY(a, struct op_value, count ? count : 1);
}

static int sequence_construct_shape(struct op_call *c, struct error *err)
{
	for (int i = 0; i < c->input_count; i++) {
		const struct op_value *v = op_in(c, i);
		if (!v)
			return op_fail(c, err, "input %d is missing", i);
		if (v->kind != c->inputs[0].kind ||
			(v->dtype != c->inputs[0].dtype && v->dtype && c->inputs[0].dtype))
			return op_fail(c, err, "inputs 0 and %d are of different types", i);
	}
	struct op_value *items = items_new(c->arena, c->input_count);
	memcpy(items, c->inputs, (size_t)c->input_count * sizeof(*items));
	sequence_set(c, &c->outputs[0], items, c->input_count);
	return 0;
}

static enum dtype dtype_attribute(const struct op_call *c)
{
	return tensor_dtype(node_int(c->node, "dtype", 1));
}

static int sequence_empty_shape(struct op_call *c, struct error *err)
{
	struct op_value *out = &c->outputs[0];
	(void)err;
	out->kind = VALUE_SEQUENCE;
	out->dtype = dtype_attribute(c);
	out->length = dim_known(0);
	return 0;
}

/* Writes the items of input 0 (see items_of) and the index that input i selects; -1 if it is unknown. The
 * default is the last valid index. `more` is 1 where the index may point one past the last item, as for an
 * insertion. Returns -1 if the index is out of range. */
static int items_at(const struct op_call *c, int i, int more, const struct op_value **items, int *count,
	int *at, struct error *err)
{
	const struct dim *known = &c->inputs[0].length;
	double place;
	*items = items_of(&c->inputs[0], count);
	int length = *count;
	*at = -1;
	if (known->kind != DIM_KNOWN || known->value > OP_ITEMS_MAX)
		return 0;
	if (!op_in(c, i))
		*at = length + more - 1;
	if (!op_in(c, i) || !op_scalar(op_in(c, i), &place))
		return 0;
	if (place < -length || place >= length + more)
		return op_fail(c, err, "position %.0f of a sequence of %d", place, length);
	*at = (int)(place < 0 ? place + length : place);
	return 0;
}

static int sequence_insert_shape(struct op_call *c, struct error *err)
{
	const struct op_value *in = &c->inputs[0], *one = &c->inputs[1];
	struct op_value *out = &c->outputs[0];
	const struct op_value *items;
	int count, at;
	if (need_sequence(c, err))
		return -1;
	if (in->dtype && one->dtype && in->dtype != one->dtype)
		return op_fail(c, err, "a tensor of %s into a sequence of %s", dtype_name(one->dtype),
			dtype_name(in->dtype));
	if (items_at(c, 2, 1, &items, &count, &at, err))
		return -1;
	if (items && at >= 0 && count < OP_ITEMS_MAX) {
		struct op_value *more = items_new(c->arena, count + 1);
		memcpy(more, items, (size_t)at * sizeof(*more));
		more[at] = *one;
		memcpy(more + at + 1, items + at, (size_t)(count - at) * sizeof(*more));
		sequence_set(c, out, more, count + 1);
		return 0;
	}
	struct op_value holder = *one;
	holder.kind = VALUE_SEQUENCE;
	holder.length = dim_unknown();
	struct op_value both = op_value_join(c->arena, in, &holder, true);
	out->kind = VALUE_SEQUENCE;
	out->dtype = in->dtype ? in->dtype : one->dtype;
	out->shape = both.shape;
	out->length = dim_add(c->arena, in->length, dim_known(1));
	return 0;
}

static int sequence_erase_shape(struct op_call *c, struct error *err)
{
	const struct op_value *in = &c->inputs[0];
	struct op_value *out = &c->outputs[0];
	const struct op_value *items;
	int count, at;
	if (need_sequence(c, err))
		return -1;
	if (in->length.kind == DIM_KNOWN && in->length.value == 0)
		return op_fail(c, err, "the sequence is empty");
	if (items_at(c, 1, 0, &items, &count, &at, err))
		return -1;
	out->kind = VALUE_SEQUENCE;
	out->dtype = in->dtype;
	out->shape = in->shape;
	out->length = dim_sub(c->arena, in->length, dim_known(1));
	if (!items || at < 0 || count < 2)
		return 0;
	struct op_value *fewer = items_new(c->arena, count - 1);
	memcpy(fewer, items, (size_t)at * sizeof(*fewer));
	memcpy(fewer + at, items + at + 1, (size_t)(count - 1 - at) * sizeof(*fewer));
	sequence_set(c, out, fewer, count - 1);
	return 0;
}

static int sequence_at_shape(struct op_call *c, struct error *err)
{
	const struct op_value *in = &c->inputs[0];
	struct op_value *out = &c->outputs[0];
	const struct op_value *items;
	int count, at;
	if (need_sequence(c, err) || items_at(c, 1, 0, &items, &count, &at, err))
		return -1;
	if (items && at >= 0) {
		hand_on(out, &items[at]);
		return 0;
	}
	out->kind = in->kind == VALUE_MAPS ? VALUE_MAP : VALUE_TENSOR;
	out->dtype = in->dtype;
	out->shape = op_shape_copy(c->arena, in->shape);
	return 0;
}

static void scalar_set(struct op_call *c, enum dtype t, struct dim d)
{
	struct elements *e = op_elements_new(c->arena, 1, false);
	e->i[0] = d;
	c->outputs[0].dtype = t;
	c->outputs[0].shape = shape_make(c->arena, 0);
	c->outputs[0].elements = e;
}

static int sequence_length_shape(struct op_call *c, struct error *err)
{
	if (need_sequence(c, err))
		return -1;
	scalar_set(c, DTYPE_S64, c->inputs[0].length);
	return 0;
}

/* ---- SplitToSequence, ConcatFromSequence */

/* Number of parts, and the size of each: all `each` (the last may be smaller), or listed in `sizes`. */
struct parts {
	struct dim count, each;
	const struct elements *sizes;
};

static int parts_check(const struct op_call *c, const struct parts *p, struct dim whole, struct error *err)
{
	int64_t sum = 0;
	if (p->each.kind == DIM_KNOWN && p->each.value <= 0)
		return op_fail(c, err, "parts of %lld", (long long)p->each.value);
	for (int i = 0; p->sizes && i < p->sizes->count; i++) {
		struct dim d = p->sizes->i[i];
		if (d.kind != DIM_KNOWN)
			return 0;
		if (d.value < 0 || __builtin_add_overflow(sum, d.value, &sum))
			return op_fail(c, err, "a part of %lld", (long long)d.value);
	}
	if (p->sizes && whole.kind == DIM_KNOWN && whole.value != sum)
		return op_fail(c, err, "%lld are split into parts of %lld in all", (long long)whole.value,
			(long long)sum);
	return 0;
}

static struct parts parts_of(const struct op_call *c, struct dim whole)
{
	const struct op_value *v = op_in(c, 1);
	struct parts p = { .count = dim_unknown(), .each = dim_unknown() };
	if (!v) {
		p.each = dim_known(1);
	} else if (v->shape.rank == 0) {
		p.each = v->elements && v->elements->i ? v->elements->i[0] : dim_unknown();
	} else if (v->shape.rank == 1) {
		p.count = v->shape.dims[0];
		p.sizes = v->elements && v->elements->i ? v->elements : NULL;
	}
	bool known = p.each.kind == DIM_KNOWN && p.each.value > 0;
	if (known && p.each.value == 1)
		p.count = whole;
	else if (known && whole.kind == DIM_KNOWN)
		p.count = dim_known(whole.value / p.each.value + (whole.value % p.each.value != 0));
	return p;
}

static struct dim part_size(const struct parts *p, struct dim whole, int i)
{
	if (p->sizes)
		return p->sizes->i[i];
	if (p->each.kind == DIM_KNOWN && whole.kind == DIM_KNOWN &&
		whole.value - p->each.value * i < p->each.value)
		return dim_known(whole.value - p->each.value * i);
	return p->each;
}

/* Shape of one part: `size` along the axis; without the axis if `kept` is false. */
static struct shape part_shape(struct op_call *c, int axis, struct dim size, bool kept)
{
	struct shape in = c->inputs[0].shape, s = shape_make(c->arena, in.rank - !kept);
	for (int i = 0, to = 0; i < in.rank; i++) {
		if (i != axis || kept)
			s.dims[to++] = i == axis ? size : in.dims[i];
	}
	return s;
}

static int split_to_sequence_shape(struct op_call *c, struct error *err)
{
	const struct op_value *in = &c->inputs[0];
	struct op_value *out = &c->outputs[0];
	bool kept = op_in(c, 1) || node_int(c->node, "keepdims", 1) != 0;
	out->kind = VALUE_SEQUENCE;
	if (in->shape.rank < 0) {
		struct parts p = parts_of(c, dim_unknown());
		out->length = p.count;
		return 0;
	}
	int axis = op_axis(c, node_int(c->node, "axis", 0), in->shape.rank, err);
	if (axis < 0)
		return -1;
	struct dim whole = in->shape.dims[axis];
	struct parts p = parts_of(c, whole);
	if (parts_check(c, &p, whole, err))
		return -1;
	out->length = p.count;
	bool one_size = p.each.kind == DIM_KNOWN && p.each.value == 1;
	out->shape = part_shape(c, axis, one_size ? p.each : dim_unknown(), kept);
	bool each_known = p.sizes || (p.each.kind == DIM_KNOWN && (one_size || whole.kind == DIM_KNOWN));
	if (p.count.kind != DIM_KNOWN || p.count.value < 1 || p.count.value > OP_ITEMS_MAX || !each_known)
		return 0;
	struct op_value *items = items_new(c->arena, (int)p.count.value);
	for (int i = 0; i < (int)p.count.value; i++)
		items[i] = (struct op_value){ .present = true, .dtype = in->dtype,
			.shape = part_shape(c, axis, part_size(&p, whole, i), kept) };
	sequence_set(c, out, items, (int)p.count.value);
	return 0;
}

static void split_to_sequence_cost(const struct op_call *c, struct op_cost *cost)
{
	cost->flops = 0;
	cost->bytes = 2 * op_bytes(&c->inputs[0]) + op_bytes(op_in(c, 1));
}

/* Size along the axis: the sum over the items where each is known, else length of the sequence x item size,
 * or unknown. */
static int concat_dims(struct op_call *c, struct shape *out, int axis, struct error *err)
{
	int count;
	const struct op_value *in = &c->inputs[0], *items = items_of(in, &count);
	out->dims[axis] = dim_known(0);
	if (!items || !count) {
		struct dim part = in->shape.dims[axis];
		out->dims[axis] = part.kind == DIM_UNKNOWN ? dim_unknown() :
			dim_mul(c->arena, part, in->length);
		return 0;
	}
	for (int i = 0; i < count; i++) {
		struct shape s = items[i].shape;
		if (s.rank >= 0 && s.rank != out->rank)
			return op_fail(c, err, "ranks %d and %d", out->rank, s.rank);
		for (int k = 0; k < s.rank; k++) {
			if (k != axis && !op_dim_merge(out->dims[k], s.dims[k], &out->dims[k]))
				return op_fail(c, err, "%s does not fit the others", shape_text(c->arena, s));
		}
		out->dims[axis] = dim_add(c->arena, out->dims[axis],
			s.rank < 0 ? dim_unknown() : s.dims[axis]);
	}
	return 0;
}

static int concat_from_sequence_shape(struct op_call *c, struct error *err)
{
	const struct op_value *in = &c->inputs[0];
	struct op_value *out = &c->outputs[0];
	const struct attribute *where = node_attribute(c->node, "axis");
	bool stacked = node_int(c->node, "new_axis", 0) != 0;
	if (need_sequence(c, err))
		return -1;
	if (!where)
		return op_fail(c, err, "axis is missing");
	if (in->shape.rank < 0 || in->shape.rank >= OP_RANK_MAX)
		return 0;
	int rank = in->shape.rank + stacked, axis = op_axis(c, where->i, rank, err);
	if (axis < 0)
		return -1;
	struct shape s = shape_make(c->arena, rank);
	for (int i = 0, from = 0; i < rank; i++)
		s.dims[i] = stacked && i == axis ? in->length : in->shape.dims[from++];
	out->shape = s;
	return stacked ? 0 : concat_dims(c, &out->shape, axis, err);
}

static void concat_from_sequence_cost(const struct op_call *c, struct op_cost *cost)
{
	cost->flops = 0;
	cost->bytes = 2 * op_bytes(op_out(c, 0));
}

/* ---- optionals */

/* Number of values in an optional: 0 or 1; a value that is not an optional counts as one. */
static struct dim optional_length(const struct op_value *v)
{
	return !v ? dim_known(0) : is_optional(v) ? v->length : dim_known(1);
}

static int optional_shape(struct op_call *c, struct error *err)
{
	const struct op_value *in = op_in(c, 0);
	struct op_value *out = &c->outputs[0];
	if (in && is_optional(in))
		return op_fail(c, err, "the input is an optional");
	out->kind = in && is_sequence(in) ? VALUE_OPTIONAL_SEQUENCE : VALUE_OPTIONAL;
	out->length = optional_length(in);
	if (!in) /* the type would come from the attribute `type`, which the reader does not keep */
		return 0;
	struct op_value *held = items_new(c->arena, 1);
	*held = *in;
	out->dtype = in->dtype;
	out->shape = op_shape_copy(c->arena, in->shape);
	out->items = held;
	return 0;
}

static int optional_has_element_shape(struct op_call *c, struct error *err)
{
	(void)err;
	scalar_set(c, DTYPE_BOOL, optional_length(op_in(c, 0)));
	return 0;
}

static int optional_get_element_shape(struct op_call *c, struct error *err)
{
	const struct op_value *in = &c->inputs[0];
	struct op_value *out = &c->outputs[0];
	if (!is_optional(in) || in->items) {
		hand_on(out, is_optional(in) ? &in->items[0] : in);
		return 0;
	}
	if (in->length.kind == DIM_KNOWN && in->length.value == 0)
		return op_fail(c, err, "the optional is empty");
	out->kind = in->kind == VALUE_OPTIONAL_SEQUENCE ? VALUE_SEQUENCE : VALUE_TENSOR;
	out->dtype = in->dtype;
	out->shape = op_shape_copy(c->arena, in->shape);
	return 0;
}

/* ---- control flow: the outputs are those of the subgraphs, which the planner infers */

static int control_shape(struct op_call *c, struct error *err)
{
	(void)err;
	for (int i = 0; i < c->output_count; i++)
		c->outputs[i].dtype = DTYPE_UNKNOWN;
	return 0;
}

#define LIST(name, since, fewest, most, shape) \
	{ name, "", since, 0, fewest, most, CLASS_FREE, shape, NULL, NULL, NULL, \
		"a list of references: no bytes move" }
#define CONTROL(name, since, until, fewest, most, note) \
	{ name, "", since, until, fewest, most, CLASS_HOST, control_shape, NULL, NULL, NULL, note }

static const struct op rows[] = {
	{ "Identity", "", 1, 0, 1, 1, CLASS_FREE, identity_shape,
		.flags = OP_MOVES_WEIGHTS, .quant = QUANT_MOVER },
	LIST("SequenceConstruct", 11, 1, -1, sequence_construct_shape),
	LIST("SequenceEmpty", 11, 0, 0, sequence_empty_shape),
	LIST("SequenceInsert", 11, 2, 3, sequence_insert_shape),
	LIST("SequenceErase", 11, 1, 2, sequence_erase_shape),
	LIST("SequenceAt", 11, 2, 2, sequence_at_shape),
	LIST("SequenceLength", 11, 1, 1, sequence_length_shape),
	{ "SplitToSequence", "", 11, 0, 1, 2, CLASS_MOVE, split_to_sequence_shape, split_to_sequence_cost,
		op_problem_mover, NULL, OP_COPY },
	{ "ConcatFromSequence", "", 11, 0, 1, 1, CLASS_MOVE, concat_from_sequence_shape,
		concat_from_sequence_cost, op_problem_mover, NULL, OP_COPY },
	LIST("Optional", 15, 0, 1, optional_shape),
	{ "OptionalHasElement", "", 15, 17, 1, 1, CLASS_FREE, optional_has_element_shape, NULL, NULL, NULL,
		NULL },
	{ "OptionalHasElement", "", 18, 0, 0, 1, CLASS_FREE, optional_has_element_shape, NULL, NULL, NULL,
		NULL },
	{ "OptionalGetElement", "", 15, 0, 1, 1, CLASS_FREE, optional_get_element_shape, NULL, NULL, NULL,
		NULL },
	CONTROL("If", 1, 0, 1, 1, "costs what its branch costs; if it is unknown which, the cheaper one (~)"),
	CONTROL("Loop", 1, 0, 0, -1, "costs its body times the number of iterations, if known"),
	CONTROL("Scan", 8, 8, 0, -1, "costs its body times the length of the sequences times the batch"),
	CONTROL("Scan", 9, 0, 1, -1, "costs its body times the length of the sequences"),
	CONTROL("SequenceMap", 17, 0, 1, -1, "costs its body times the length of the sequence"),
};

const struct op_rows op_sequence_rows = OP_ROWS_ANY_KIND(rows);
