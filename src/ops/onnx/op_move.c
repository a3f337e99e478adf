/* Data movement operators: Transpose, Concat, Split, Expand, Tile, DepthToSpace, SpaceToDepth. */
#include "config.h"

#include "ops/rules/op_rules.h"

#include "ops/rules/op_contents.h"

/* ---- Transpose */

static int transpose_perm(const struct op_call *c, int rank, int *perm, struct error *err)
{
	const struct attribute *a = node_attribute(c->node, "perm");
	bool seen[OP_RANK_MAX] = { false };
	for (int i = 0; i < rank; i++)
		perm[i] = rank - 1 - i;
	if (!a || a->kind != ATTRIBUTE_INTS)
		return 0;
	if (a->count != (size_t)rank)
		return op_fail(c, err, "perm has %zu numbers, the input has rank %d", a->count, rank);
	for (int i = 0; i < rank; i++) {
		int axis = op_axis(c, a->ints[i], rank, err);
		if (axis < 0)
			return -1;
		if (seen[axis])
			return op_fail(c, err, "perm names axis %d twice", axis);
		seen[axis] = true;
		perm[i] = axis;
	}
	return 0;
}

static int transpose_shape(struct op_call *c, struct error *err)
{
	struct shape in = c->inputs[0].shape;
	struct op_value *v = &c->outputs[0];
	int perm[OP_RANK_MAX], at[OP_RANK_MAX], from[OP_RANK_MAX], index[OP_ELEMENTS_MAX];
	const struct attribute *a = node_attribute(c->node, "perm");
	if (in.rank < 0) {
		if (a && a->kind == ATTRIBUTE_INTS && a->count <= OP_RANK_MAX)
			v->shape = shape_make(c->arena, (int)a->count);
		return 0;
	}
	if (transpose_perm(c, in.rank, perm, err))
		return -1;
	v->shape = shape_make(c->arena, in.rank);
	for (int i = 0; i < in.rank; i++)
		v->shape.dims[i] = in.dims[perm[i]];
	int count = op_elements_count(v->shape);
	if (!c->inputs[0].elements || count < 0)
		return 0;
	for (int i = 0; i < count; i++) {
		op_coords(v->shape, i, at);
		for (int j = 0; j < in.rank; j++)
			from[perm[j]] = at[j];
		index[i] = op_index(in, from);
	}
	v->elements = op_elements_pick(c->arena, c->inputs[0].elements, count, index);
	return 0;
}

/* Writes the equivalent transpose without axes of size 1, and with adjacent axes that stay adjacent merged.
 * Libraries do the same, so equal work gets one problem text. Returns the reduced rank. */
static int transpose_simplify(const struct op_call *c, int64_t *size, int *perm)
{
	struct shape in = c->inputs[0].shape;
	int full[OP_RANK_MAX], kept[OP_RANK_MAX], rank = 0, groups = 0, new_of[OP_RANK_MAX];
	int first[OP_RANK_MAX]; /* first input axis (after dropping ones) of each output group */
	int64_t group_size[OP_RANK_MAX];
	transpose_perm(c, in.rank, full, NULL);
	for (int i = 0; i < in.rank; i++)
		new_of[i] = in.dims[i].value == 1 ? -1 : rank++;
	rank = 0;
	for (int i = 0; i < in.rank; i++) {
		if (new_of[full[i]] < 0)
			continue;
		kept[rank] = new_of[full[i]];
		if (rank > 0 && kept[rank] == kept[rank - 1] + 1) {
			group_size[groups - 1] *= in.dims[full[i]].value;
		} else {
			first[groups] = kept[rank];
			group_size[groups++] = in.dims[full[i]].value;
		}
		rank++;
	}
	for (int i = 0; i < groups; i++) {
		int place = 0;
		for (int j = 0; j < groups; j++)
			place += first[j] < first[i];
		perm[i] = place;
		size[place] = group_size[i];
	}
	return groups;
}

/* True if only axes of size 1 are permuted: the transpose is then a reshape. */
static bool transpose_free(const struct op_call *c)
{
	int64_t size[OP_RANK_MAX];
	int perm[OP_RANK_MAX];
	return op_count(&c->inputs[0]) <= 1e15 && transpose_simplify(c, size, perm) <= 1;
}

static void transpose_problem(const struct op_call *c, struct op_problem *out)
{
	int64_t size[OP_RANK_MAX];
	int perm[OP_RANK_MAX];
	if (!op_problem_value(c, &c->inputs[0], out))
		return;
	if (!op_is_library_type(c->inputs[0].dtype)) {
		op_problem_mover(c, out);
		return;
	}
	int rank = transpose_simplify(c, size, perm);
	struct problem *p = op_problem_start(out, KERNEL_TRANSPOSE, MODE_NONE);
	p->operand[0] = op_operand(&c->inputs[0]);
	p->operand[1] = op_operand(&c->outputs[0]);
	p->shape_count = 1;
	p->shape[0].rank = rank;
	for (int i = 0; i < rank; i++) {
		p->shape[0].dim[i] = size[i];
		p->perm[i] = perm[i];
	}
}

/* ---- Concat */

/* Concatenates the known elements of the inputs; elements of an input with unknown contents stay unknown. */
static void concat_elements(struct op_call *c, int axis)
{
	struct op_value *v = &c->outputs[0];
	int count = op_elements_count(v->shape), at[OP_RANK_MAX], input_of[OP_ELEMENTS_MAX];
	bool any = false;
	if (count < 0)
		return;
	for (int i = 0, along = 0; i < c->input_count; i++) {
		any = any || c->inputs[i].elements;
		for (int64_t j = 0; j < c->inputs[i].shape.dims[axis].value && along < OP_ELEMENTS_MAX; j++)
			input_of[along++] = i;
	}
	if (!any || count == 0)
		return;
	struct elements *e = op_elements_new(c->arena, count, dtype_is_float(v->dtype));
	for (int k = 0; k < count; k++) {
		op_coords(v->shape, k, at);
		int i = input_of[at[axis]], start = at[axis];
		while (start > 0 && input_of[start - 1] == i)
			start--;
		at[axis] -= start;
		const struct elements *from = c->inputs[i].elements;
		int index = op_index(c->inputs[i].shape, at);
		if (!from || index >= from->count)
			continue;
		if (e->f && from->f)
			e->f[k] = from->f[index];
		else if (e->i && from->i)
			e->i[k] = from->i[index];
	}
	v->elements = e;
}

static int concat_axis(const struct op_call *c, int rank, struct error *err)
{
	const struct attribute *a = node_attribute(c->node, "axis");
	if (!a && c->opset >= 4)
		return op_fail(c, err, "attribute \"axis\" is missing");
	return op_axis(c, a ? a->i : 1, rank, err);
}

static int concat_shape(struct op_call *c, struct error *err)
{
	struct op_value *v = &c->outputs[0];
	int rank = -1;
	bool ranks_known = true;
	for (int i = 0; i < c->input_count; i++) {
		if (!op_in(c, i))
			return op_fail(c, err, "input %d is missing", i);
		int r = c->inputs[i].shape.rank;
		ranks_known = ranks_known && r >= 0;
		if (r >= 0 && rank >= 0 && r != rank)
			return op_fail(c, err, "inputs have ranks %d and %d", rank, r);
		rank = r >= 0 ? r : rank;
	}
	if (rank < 0)
		return 0;
	int axis = concat_axis(c, rank, err);
	if (axis < 0)
		return -1;
	v->shape = shape_make(c->arena, rank);
	v->shape.dims[axis] = dim_known(0);
	for (int i = 0; i < c->input_count; i++) {
		struct shape in = c->inputs[i].shape;
		if (in.rank < 0)
			continue;
		for (int j = 0; j < rank; j++) {
			struct dim *d = &v->shape.dims[j];
			if (j == axis)
				*d = dim_add(c->arena, *d, in.dims[j]);
			else if (!op_dim_merge(*d, in.dims[j], d))
				return op_fail(c, err, "input %d is %s, expected %s off axis %d", i,
					shape_text(c->arena, in), shape_text(c->arena, v->shape), axis);
		}
	}
	if (ranks_known)
		concat_elements(c, axis);
	else
		v->shape.dims[axis] = dim_unknown();
	return 0;
}

static bool concat_free(const struct op_call *c)
{
	return c->input_count == 1;
}

static void concat_problem(const struct op_call *c, struct op_problem *out)
{
	struct problem_shape shapes[PROBLEM_SHAPES];
	int count = 0;
	if (!op_problem_value(c, &c->outputs[0], out))
		return;
	for (int i = 0; i < c->input_count; i++) {
		const struct op_value *v = &c->inputs[i];
		if (op_count(v) == 0)
			continue; /* an empty key/value cache: nothing to copy */
		if (!op_problem_value(c, v, out))
			return;
		if (count < PROBLEM_SHAPES)
			shapes[count] = op_problem_shape(v->shape);
		count++;
	}
	if (count < 2 || count > PROBLEM_SHAPES || !op_is_library_type(c->outputs[0].dtype)) {
		op_problem_mover(c, out);
		return;
	}
	struct problem *p = op_problem_start(out, KERNEL_CONCAT, MODE_NONE);
	p->operand[0].dtype = p->operand[1].dtype = op_operand(&c->outputs[0]).dtype;
	p->axis = concat_axis(c, c->outputs[0].shape.rank, NULL);
	p->shape_count = count;
	for (int i = 0; i < count; i++)
		p->shape[i] = shapes[i];
}

/* ---- Split */

static void split_elements(struct op_call *c, int axis, const int64_t *size)
{
	int at[OP_RANK_MAX], index[OP_ELEMENTS_MAX];
	int64_t start = 0;
	for (int k = 0; k < c->output_count; start += size[k++]) {
		struct op_value *v = &c->outputs[k];
		int count = op_elements_count(v->shape);
		if (count < 0)
			continue;
		for (int i = 0; i < count; i++) {
			op_coords(v->shape, i, at);
			at[axis] += (int)start;
			index[i] = op_index(c->inputs[0].shape, at);
		}
		v->elements = op_elements_pick(c->arena, c->inputs[0].elements, count, index);
	}
}

/* Sizes of the first n of `parts` chunks of ceil(d / parts) elements; the last chunks may be smaller or
 * empty. */
static void split_unevenly(struct arena *a, struct dim d, int64_t parts, struct dim *size, int n)
{
	struct dim chunk = dim_ceil_div(a, d, parts);
	bool exact = d.kind == DIM_SYMBOLIC && dim_div(a, d, dim_known(parts)).kind != DIM_UNKNOWN;
	for (int i = 0; i < n; i++) {
		struct dim left = dim_sub(a, d, dim_mul(a, chunk, dim_known(i)));
		size[i] = chunk;
		if (i == 1 && parts == 2)
			size[i] = dim_floor_div(a, d, dim_known(2));
		else if (i > 0 && !exact && d.kind != DIM_UNKNOWN)
			size[i] = dim_max(a, dim_min(a, chunk, left), dim_known(0));
	}
}

/* Writes the size of each output along the axis; dim_unknown() where it cannot be inferred. */
static int split_sizes(struct op_call *c, struct dim d, struct dim *size, struct error *err)
{
	struct op_list list = op_list_get(c, "split", 1);
	int n = c->output_count;
	if (list.state == OP_LIST_ABSENT) {
		bool uneven = c->opset >= 18; /* num_outputs: the last output may be smaller */
		int64_t parts = uneven ? node_int(c->node, "num_outputs", n) : n;
		if (parts < n || parts > INT32_MAX)
			return op_fail(c, err, "num_outputs is %lld for %d outputs", (long long)parts, n);
		if (!uneven && d.kind == DIM_KNOWN && d.value % n)
			return op_fail(
				c, err, "%lld does not divide into %d equal parts", (long long)d.value, n);
		for (int i = 0; i < n && !uneven; i++)
			size[i] = dim_floor_div(c->arena, d, dim_known(n));
		if (uneven)
			split_unevenly(c->arena, d, parts, size, n);
		return 0;
	}
	for (int i = 0; i < n; i++)
		size[i] = dim_unknown();
	if (list.state != OP_LIST_KNOWN)
		return 0;
	if (list.count != n)
		return op_fail(c, err, "%d sizes for %d outputs", list.count, n);
	struct dim sum = dim_known(0);
	for (int i = 0; i < n; i++) {
		size[i] = list.at[i];
		if (size[i].kind == DIM_KNOWN && size[i].value < 0)
			return op_fail(c, err, "a negative size");
		sum = dim_add(c->arena, sum, size[i]);
	}
	return dim_differs(sum, d) ? op_fail(c, err, "the sizes add up to %lld, not %lld",
					     (long long)sum.value, (long long)d.value)
				   : 0;
}

static int split_shape(struct op_call *c, struct error *err)
{
	struct shape in = c->inputs[0].shape;
	if (in.rank < 0 || c->output_count < 1)
		return 0;
	int axis = op_axis(c, node_int(c->node, "axis", 0), in.rank, err);
	if (axis < 0)
		return -1;
	struct dim *size = ARENA_ARRAY(c->arena, struct dim, c->output_count);
	int64_t *known = ARENA_ARRAY(c->arena, int64_t, c->output_count);
	if (split_sizes(c, in.dims[axis], size, err))
		return -1;
	bool all = true;
	for (int i = 0; i < c->output_count; i++) {
		c->outputs[i].shape = op_shape_copy(c->arena, in);
		c->outputs[i].shape.dims[axis] = size[i];
		all = all && size[i].kind == DIM_KNOWN;
		known[i] = size[i].value;
	}
	if (all && c->inputs[0].elements)
		split_elements(c, axis, known);
	return 0;
}

/* Cost of a copy: every output element is read once and written once. */
void op_taken_cost(const struct op_call *c, struct op_cost *cost)
{
	cost->flops = 0;
	cost->bytes = 0;
	for (int i = 0; i < c->output_count; i++)
		cost->bytes += 2 * op_bytes(op_out(c, i));
}

static bool split_free(const struct op_call *c)
{
	return c->output_count == 1;
}

/* ---- Expand, Tile */

/* Fills the output elements: each output coordinate, modulo the input size, is the input coordinate. */
static void repeat_elements(struct op_call *c)
{
	struct op_value *v = &c->outputs[0];
	struct shape in = c->inputs[0].shape;
	int count = op_elements_count(v->shape), at[OP_RANK_MAX], index[OP_ELEMENTS_MAX];
	if (count < 0 || !c->inputs[0].elements)
		return;
	int lead = v->shape.rank - in.rank;
	for (int i = 0; i < count; i++) {
		op_coords(v->shape, i, at);
		for (int j = 0; j < in.rank; j++)
			at[lead + j] %= (int)in.dims[j].value;
		index[i] = op_index(in, at + lead);
	}
	v->elements = op_elements_pick(c->arena, c->inputs[0].elements, count, index);
}

static int shape_of_list(const struct op_call *c, const struct op_list *l, struct shape *s, struct error *err)
{
	*s = SHAPE_UNKNOWN;
	if (l->count < 0 || l->count > OP_RANK_MAX)
		return 0;
	*s = shape_make(c->arena, l->count);
	for (int i = 0; l->state == OP_LIST_KNOWN && i < l->count; i++) {
		s->dims[i] = l->at[i];
		if (l->at[i].kind == DIM_KNOWN && l->at[i].value < 0)
			return op_fail(c, err, "a negative size");
	}
	return 0;
}

static int expand_shape(struct op_call *c, struct error *err)
{
	struct op_list list = op_list_get(c, NULL, 1);
	struct shape want;
	if (shape_of_list(c, &list, &want, err) ||
		op_broadcast(c, c->inputs[0].shape, want, &c->outputs[0].shape, err))
		return -1;
	repeat_elements(c);
	return 0;
}

static int tile_shape(struct op_call *c, struct error *err)
{
	struct op_list list = op_list_get(c, NULL, 1);
	struct shape in = c->inputs[0].shape, times;
	if (shape_of_list(c, &list, &times, err))
		return -1;
	if (in.rank < 0 || times.rank < 0) {
		c->outputs[0].shape = shape_make(c->arena, in.rank < 0 ? times.rank : in.rank);
		return 0;
	}
	if (times.rank != in.rank)
		return op_fail(c, err, "%d repeats for rank %d", times.rank, in.rank);
	c->outputs[0].shape = shape_make(c->arena, in.rank);
	for (int i = 0; i < in.rank; i++)
		c->outputs[0].shape.dims[i] = dim_mul(c->arena, in.dims[i], times.dims[i]);
	repeat_elements(c);
	return 0;
}

/* Tile before opset 6: repeats the input `tiles` times along one axis. */
static int tile_old_shape(struct op_call *c, struct error *err)
{
	struct op_list tiles = op_list_get(c, NULL, 1), axis = op_list_get(c, NULL, 2);
	struct shape in = c->inputs[0].shape;
	if (in.rank < 0)
		return 0;
	struct shape out = c->outputs[0].shape = shape_make(c->arena, in.rank);
	if (axis.state != OP_LIST_KNOWN || axis.count != 1 || axis.at[0].kind != DIM_KNOWN)
		return 0;
	int at = op_axis(c, axis.at[0].value, in.rank, err);
	if (at < 0)
		return -1;
	for (int i = 0; i < in.rank; i++)
		out.dims[i] = in.dims[i];
	struct dim times = tiles.state == OP_LIST_KNOWN && tiles.count == 1 ? tiles.at[0] : dim_unknown();
	if (times.kind == DIM_KNOWN && times.value < 0)
		return op_fail(c, err, "a negative size");
	out.dims[at] = dim_mul(c->arena, in.dims[at], times);
	repeat_elements(c);
	return 0;
}

/* Cost of a copy: reads the data input once and writes the output; shape and index inputs are not counted. */
void op_first_cost(const struct op_call *c, struct op_cost *cost)
{
	cost->flops = 0;
	cost->bytes = op_bytes(&c->inputs[0]) + op_bytes(&c->outputs[0]);
}

/* True if the output shape equals the input shape, where such an operator returns its input unchanged. */
bool op_same_shape_free(const struct op_call *c)
{
	return op_shape_same(c->inputs[0].shape, c->outputs[0].shape);
}

/* ---- DepthToSpace, SpaceToDepth */

static int blocks_shape(struct op_call *c, bool to_space, struct error *err)
{
	struct shape in = c->inputs[0].shape;
	int64_t block = node_int(c->node, "blocksize", 0);
	if (block < 1 || block > 1 << 20)
		return op_fail(c, err, "blocksize %lld", (long long)block);
	struct shape out = c->outputs[0].shape = shape_make(c->arena, 4);
	if (in.rank < 0)
		return 0;
	if (in.rank != 4)
		return op_fail(c, err, "rank %d, not 4", in.rank);
	struct dim b = dim_known(block), bb = dim_known(block * block);
	out.dims[0] = in.dims[0];
	for (int i = 1; i < 4; i++) {
		struct dim d = in.dims[i], by = i == 1 ? bb : b;
		bool divides = to_space == (i == 1);
		if (divides && d.kind == DIM_KNOWN && d.value % by.value)
			return op_fail(c, err, "%lld does not divide by %lld", (long long)d.value,
				(long long)by.value);
		out.dims[i] = divides ? dim_floor_div(c->arena, d, by) : dim_mul(c->arena, d, by);
	}
	return 0;
}

static int depth_to_space_shape(struct op_call *c, struct error *err)
{
	return blocks_shape(c, true, err);
}

static int space_to_depth_shape(struct op_call *c, struct error *err)
{
	return blocks_shape(c, false, err);
}

static const struct op rows[] = {
	{ "Transpose", "", 1, 0, 1, 1, CLASS_MOVE, transpose_shape, op_cost_move, transpose_problem,
		transpose_free, .flags = OP_MOVES_WEIGHTS, .quant = QUANT_MOVER },
	{ "Concat", "", 1, 0, 1, -1, CLASS_MOVE, concat_shape, op_cost_move, concat_problem, concat_free,
		.flags = OP_ANY_LAYOUT, .quant = QUANT_LIST },
	OP_MOVER_ROW("Split", 1, 1, 1, 2, split_shape, op_taken_cost, split_free, OP_ANY_LAYOUT, QUANT_MOVER),
	OP_MOVER_ROW("Split", 2, 12, 1, 1, split_shape, op_taken_cost, split_free,
		OP_ANY_LAYOUT, QUANT_MOVER),
	OP_MOVER_ROW("Split", 13, 0, 1, 2, split_shape, op_taken_cost, split_free,
		OP_ANY_LAYOUT, QUANT_MOVER),
	OP_MOVER_ROW("Expand", 8, 0, 2, 2, expand_shape, op_first_cost, op_same_shape_free, 0, QUANT_MOVER),
	OP_MOVER_ROW("Tile", 1, 5, 3, 3, tile_old_shape, op_first_cost, op_same_shape_free, 0, QUANT_MOVER),
	OP_MOVER_ROW("Tile", 6, 0, 2, 2, tile_shape, op_first_cost, op_same_shape_free, 0, QUANT_MOVER),
	OP_MOVER_ROW("DepthToSpace", 1, 0, 1, 1, depth_to_space_shape, op_cost_move, NULL, 0, QUANT_MOVER),
	OP_MOVER_ROW("SpaceToDepth", 1, 0, 1, 1, space_to_depth_shape, op_cost_move, NULL, 0, QUANT_MOVER),
};
const struct op_rows op_move_rows = OP_ROWS(rows);
