/* Operators that select or replace elements by index or condition: Gather*, Scatter*, Where, OneHot, NonZero,
 * Trilu, ReverseSequence. */
#include "config.h"

#include "ops/rules/op_rules.h"

#include "ops/rules/op_contents.h"

#include <math.h>

/* ---- Gather */

static int gather_elements(struct op_call *c, int axis, struct error *err)
{
	struct op_value *v = &c->outputs[0];
	const struct op_value *data = &c->inputs[0], *indices = &c->inputs[1];
	int count = op_elements_count(v->shape), at[2 * OP_RANK_MAX], from[OP_RANK_MAX],
	    index[OP_ELEMENTS_MAX];
	if (count < 0 || !data->elements || !indices->elements || v->shape.rank > OP_RANK_MAX)
		return 0;
	int picked = indices->shape.rank;
	for (int i = 0; i < count; i++) {
		op_coords(v->shape, i, at);
		int64_t k = op_contents_index(
			indices->elements, op_index(indices->shape, at + axis), data->shape.dims[axis].value);
		if (k == -2)
			return op_fail(c, err, "an index is out of range");
		for (int j = 0; j < data->shape.rank; j++)
			from[j] = j < axis ? at[j] : j == axis ? (int)k : at[j + picked - 1];
		index[i] = k < 0 ? -1 : op_index(data->shape, from);
	}
	v->elements = op_elements_pick(c->arena, data->elements, count, index);
	return 0;
}

static int gather_shape(struct op_call *c, struct error *err)
{
	struct shape data = c->inputs[0].shape, indices = c->inputs[1].shape;
	if (data.rank < 0)
		return 0;
	int axis = op_axis(c, node_int(c->node, "axis", 0), data.rank, err);
	if (axis < 0)
		return -1;
	if (indices.rank < 0)
		return 0;
	struct shape out = shape_make(c->arena, data.rank - 1 + indices.rank);
	for (int i = 0; i < axis; i++)
		out.dims[i] = data.dims[i];
	for (int i = 0; i < indices.rank; i++)
		out.dims[axis + i] = indices.dims[i];
	for (int i = axis + 1; i < data.rank; i++)
		out.dims[i - 1 + indices.rank] = data.dims[i];
	c->outputs[0].shape = out;
	return gather_elements(c, axis, err);
}

/* Reads the selected elements once, and the indices. */
void op_gather_cost(const struct op_call *c, struct op_cost *cost)
{
	cost->flops = 0;
	double taken = op_bytes(&c->outputs[0]);
	cost->bytes = taken + fmin(taken, op_bytes(&c->inputs[0])) + op_bytes(&c->inputs[1]);
}

/* True for types whose elements are whole bytes. */
static bool type_is_whole(enum dtype t)
{
	return dtype_bits(t) >= 8;
}

static void gather_problem(const struct op_call *c, struct op_problem *out)
{
	const struct op_value *data = &c->inputs[0], *indices = &c->inputs[1];
	if (!op_problem_ready(c, out))
		return;
	int axis = op_axis(c, node_int(c->node, "axis", 0), data->shape.rank, NULL);
	if (axis < 0 || !type_is_whole(data->dtype) ||
		data->shape.rank - 1 + indices->shape.rank > PROBLEM_RANK) {
		op_problem_mover(c, out);
		return;
	}
	struct problem *p = op_problem_start(out, KERNEL_GATHER, MODE_NONE);
	p->operand[0] = op_operand(data);
	p->operand[1] = op_operand(indices);
	p->operand[2] = op_operand(&c->outputs[0]);
	p->axis = axis;
	p->shape_count = 2;
	p->shape[0] = op_problem_shape(data->shape);
	p->shape[1] = op_problem_shape(indices->shape);
}

static int gather_elements_shape(struct op_call *c, struct error *err)
{
	struct shape data = c->inputs[0].shape, indices = c->inputs[1].shape;
	int axis = data.rank < 0 ? 0 : op_axis(c, node_int(c->node, "axis", 0), data.rank, err);
	if (axis < 0)
		return -1;
	if (data.rank >= 0 && indices.rank >= 0 && data.rank != indices.rank)
		return op_fail(c, err, "indices of rank %d for data of rank %d", indices.rank, data.rank);
	c->outputs[0].shape = indices.rank < 0 ? shape_make(c->arena, data.rank) :
		op_shape_copy(c->arena, indices);
	op_contents_gather_elements(c, axis);
	return 0;
}

static int gather_nd_shape(struct op_call *c, struct error *err)
{
	struct shape data = c->inputs[0].shape, indices = c->inputs[1].shape;
	int64_t batch = node_int(c->node, "batch_dims", 0);
	if (data.rank < 0 || indices.rank < 0)
		return 0;
	if (data.rank < 1 || indices.rank < 1 || batch < 0 || batch >= indices.rank || batch >= data.rank)
		return op_fail(c, err, "ranks %d and %d with %lld batch dimensions", data.rank, indices.rank,
			(long long)batch);
	struct dim last = indices.dims[indices.rank - 1];
	if (last.kind != DIM_KNOWN)
		return 0;
	if (last.value < 1 || last.value > data.rank - batch)
		return op_fail(
			c, err, "%lld indices into %s", (long long)last.value, shape_text(c->arena, data));
	int skipped = (int)(batch + last.value), head = indices.rank - 1;
	struct shape out = shape_make(c->arena, head + data.rank - skipped);
	for (int i = 0; i < head; i++) {
		out.dims[i] = indices.dims[i];
		if (i < batch && !op_dim_merge(indices.dims[i], data.dims[i], &out.dims[i]))
			return op_fail(c, err, "batch dimension %d differs", i);
	}
	for (int i = skipped; i < data.rank; i++)
		out.dims[head + i - skipped] = data.dims[i];
	c->outputs[0].shape = out;
	op_contents_gather_nd(c, (int)batch);
	return 0;
}

/* ---- Scatter */

/* True if updates replace elements. Reductions (opset 16) are not propagated. */
static bool scatter_replaces(const struct op_call *c)
{
	return text_is(node_string(c->node, "reduction", "none"), "none");
}

static int scatter_nd_shape(struct op_call *c, struct error *err)
{
	if (scatter_replaces(c))
		op_contents_scatter_nd(c);
	return op_shape_as_input(c, err);
}

static int scatter_elements_shape(struct op_call *c, struct error *err)
{
	int rank = c->inputs[0].shape.rank;
	int axis = rank < 0 ? 0 : op_axis(c, node_int(c->node, "axis", 0), rank, err);
	if (axis < 0)
		return -1;
	if (scatter_replaces(c))
		op_contents_scatter_elements(c, axis);
	return op_shape_as_input(c, err);
}

/* ---- Where */

static void where_elements(struct op_call *c)
{
	struct op_value *v = &c->outputs[0];
	const struct op_value *cond = &c->inputs[0], *x = &c->inputs[1], *y = &c->inputs[2];
	int count = op_elements_count(v->shape);
	if (count < 0 || !x->elements || !y->elements || (x->elements->f != NULL) != (y->elements->f != NULL))
		return;
	bool known = cond->elements && cond->elements->i;
	struct elements *e = op_elements_new(c->arena, count, x->elements->f != NULL);
	for (int i = 0; i < count; i++) {
		struct dim which = known ? cond->elements->i[op_broadcast_index(v->shape, i, cond->shape)]
					 : dim_unknown();
		int ix = op_broadcast_index(v->shape, i, x->shape),
		    iy = op_broadcast_index(v->shape, i, y->shape);
		if (e->f && which.kind == DIM_KNOWN)
			e->f[i] = which.value ? x->elements->f[ix] : y->elements->f[iy];
		else if (e->i && which.kind == DIM_KNOWN)
			e->i[i] = which.value ? x->elements->i[ix] : y->elements->i[iy];
		else if (e->i && dim_same(x->elements->i[ix], y->elements->i[iy]))
			e->i[i] = x->elements->i[ix];
		else if (e->i)
			e->i[i] = dim_unknown_upto(dim_max(c->arena, x->elements->i[ix],
				y->elements->i[iy]).upper);
	}
	v->elements = e;
}

static int where_shape(struct op_call *c, struct error *err)
{
	struct shape branches;
	c->outputs[0].dtype = c->inputs[1].dtype;
	if (op_broadcast(c, c->inputs[1].shape, c->inputs[2].shape, &branches, err) ||
		op_broadcast(c, c->inputs[0].shape, branches, &c->outputs[0].shape, err))
		return -1;
	where_elements(c);
	return 0;
}

static void where_problem(const struct op_call *c, struct op_problem *out)
{
	if (!op_problem_ready(c, out))
		return;
	if (!type_is_whole(c->outputs[0].dtype)) {
		op_problem_mover(c, out);
		return;
	}
	struct problem *p = op_problem_start(out, KERNEL_SELECT, MODE_NONE);
	p->shape_count = 3;
	for (int i = 0; i < 3; i++) {
		p->operand[i] = op_operand(&c->inputs[i]);
		p->shape[i] = op_problem_shape(c->inputs[i].shape);
	}
	p->operand[0].dtype = DTYPE_BOOL;
	p->operand[3] = op_operand(&c->outputs[0]);
}

/* ---- OneHot, NonZero, Trilu */

static int one_hot_shape(struct op_call *c, struct error *err)
{
	struct shape indices = c->inputs[0].shape;
	const struct elements *depth = c->inputs[1].elements;
	c->outputs[0].dtype = c->inputs[2].dtype;
	if (indices.rank < 0)
		return 0;
	int axis = op_axis(c, node_int(c->node, "axis", -1), indices.rank + 1, err);
	if (axis < 0)
		return -1;
	struct shape out = shape_make(c->arena, indices.rank + 1);
	for (int i = 0; i < indices.rank; i++)
		out.dims[i < axis ? i : i + 1] = indices.dims[i];
	if (depth && depth->count == 1)
		out.dims[axis] = depth->i ? depth->i[0]
				 : isnan(depth->f[0]) || !(fabs(depth->f[0]) < 0x1p53)
					 ? dim_unknown()
					 : dim_known((int64_t)depth->f[0]);
	if (out.dims[axis].kind == DIM_KNOWN && out.dims[axis].value < 0)
		return op_fail(c, err, "a negative depth");
	c->outputs[0].shape = out;
	op_contents_one_hot(c, axis);
	return 0;
}

/* Coordinates of the nonzero elements of fully known contents. */
static bool nonzero_elements(struct op_call *c)
{
	const struct op_value *in = &c->inputs[0];
	int found[OP_ELEMENTS_MAX], at[OP_RANK_MAX], count = 0;
	if (!op_elements_concrete(in->elements))
		return false;
	for (int i = 0; i < in->elements->count; i++) {
		if (in->elements->i ? in->elements->i[i].value != 0 : in->elements->f[i] != 0)
			found[count++] = i;
	}
	int64_t dims[2] = { in->shape.rank, count };
	c->outputs[0].shape = shape_known(c->arena, 2, dims);
	if (count * in->shape.rank > OP_ELEMENTS_MAX)
		return true;
	struct elements *e = op_elements_new(c->arena, count * in->shape.rank, false);
	for (int k = 0; k < count; k++) {
		op_coords(in->shape, found[k], at);
		for (int j = 0; j < in->shape.rank; j++)
			e->i[j * count + k] = dim_known(at[j]);
	}
	c->outputs[0].elements = e;
	return true;
}

/* The count depends on the data; at most all elements. */
static int nonzero_shape(struct op_call *c, struct error *err)
{
	struct shape in = c->inputs[0].shape;
	(void)err;
	c->outputs[0].dtype = DTYPE_S64;
	if (nonzero_elements(c))
		return 0;
	c->outputs[0].shape = shape_make(c->arena, 2);
	if (in.rank < 0)
		return 0;
	c->outputs[0].shape.dims[0] = dim_known(in.rank);
	c->outputs[0].shape.dims[1] = dim_unknown_upto(shape_elements(c->arena, in).upper);
	return 0;
}

static int trilu_shape(struct op_call *c, struct error *err)
{
	int rank = c->inputs[0].shape.rank;
	if (rank >= 0 && rank < 2)
		return op_fail(c, err, "rank %d, at least 2 is needed", rank);
	op_contents_trilu(c);
	return op_shape_as_input(c, err);
}

/* ---- ReverseSequence */

static RULE_SHAPE(reverse_sequence)
{
	struct shape in = c->inputs[0].shape, lengths = c->inputs[1].shape;
	int64_t batch = node_int(c->node, "batch_axis", 1), time = node_int(c->node, "time_axis", 0);
	if (batch < 0 || batch > 1 || time < 0 || time > 1 || batch == time)
		return op_fail(c, err, "batch_axis %lld and time_axis %lld are not 0 and 1", (long long)batch,
			(long long)time);
	if (in.rank >= 0 && in.rank < 2)
		return op_fail(c, err, "an input of %d dimensions", in.rank);
	if (in.rank >= 2 && lengths.rank == 1 && dim_differs(lengths.dims[0], in.dims[batch]))
		return op_fail(c, err, "%lld lengths for a batch of %lld", (long long)lengths.dims[0].value,
			(long long)in.dims[batch].value);
	return op_shape_as_input(c, err);
}

static const struct op rows[] = {
	{ "Gather", "", 1, 0, 2, 2, CLASS_MOVE, gather_shape, op_gather_cost, gather_problem,
		.quant = QUANT_MOVER },
	OP_MOVER_ROW("GatherElements", 11, 0, 2, 2, gather_elements_shape, op_gather_cost, NULL, 0),
	OP_MOVER_ROW("GatherND", 11, 0, 2, 2, gather_nd_shape, op_gather_cost, NULL, 0),
	OP_MOVER_ROW("ScatterND", 11, 0, 3, 3, scatter_nd_shape, op_cost_move, NULL, 0),
	OP_MOVER_ROW("ScatterElements", 11, 0, 3, 3, scatter_elements_shape, op_cost_move, NULL, 0),
	OP_MOVER_ROW("Scatter", 9, 0, 3, 3, scatter_elements_shape, op_cost_move, NULL, 0),
	{ "Where", "", 9, 0, 3, 3, CLASS_MOVE, where_shape, op_cost_move, where_problem,
		.flags = OP_ANY_LAYOUT, .quant = QUANT_CHOICE },
	OP_MOVER_ROW("OneHot", 9, 0, 3, 3, one_hot_shape, op_cost_move, NULL, 0),
	{ "NonZero", "", 9, 0, 1, 1, CLASS_MOVE, nonzero_shape, op_cost_move, op_problem_mover, NULL,
		"the size of its output depends on the data" },
	OP_MOVER_ROW("Trilu", 14, 0, 1, 2, trilu_shape, op_first_cost, NULL, 0),
	OP_MOVER_ROW("ReverseSequence", 10, 0, 2, 2, reverse_sequence_shape, op_cost_move, NULL, 0),
};
const struct op_rows op_gather_rows = OP_ROWS(rows);
