/* What all rules share: checks of a call before its rule, soundness of the outputs after it, constness,
 * and costs at upper bounds. */
#include "config.h"

#include "ops/op.h"

#include "ops/rules/op_attribute.h"
#include "ops/op_own.h"
#include "ops/rules/op_rules.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const char *op_class_name(enum op_class c)
{
	static const char *const names[] = { "unknown", "compute", "memory", "move", "free", "host" };
	assert((size_t)c < sizeof(names) / sizeof(names[0]));
	return names[c];
}

/* ---- calls */

static int call_check_inputs(const struct op_call *c, struct error *err)
{
	const struct op *op = c->op;
	for (int i = 0; i < op->inputs_min; i++) {
		if (!op_in(c, i))
			return op_fail(c, err, "input %d is missing", i);
	}
	return 0;
}

/* Inputs that hold a fixed number of values, which runtimes demand. */
static const struct op_number {
	const char *op;
	int input, values;
	const char *name;
} numbers[] = { { "BlackmanWindow", 0, 1, "size" }, { "Clip", 1, 1, "min" }, { "Clip", 2, 1, "max" },
	{ "CumProd", 1, 1, "axis" }, { "CumSum", 1, 1, "axis" }, { "DFT", 1, 1, "dft_length" },
	{ "DFT", 2, 1, "axis" }, { "Dropout", 1, 1, "ratio" }, { "HammingWindow", 0, 1, "size" },
	{ "HannWindow", 0, 1, "size" }, { "OneHot", 1, 1, "depth" }, { "OneHot", 2, 2, "values" },
	{ "Pad", 2, 1, "constant_value" }, { "Range", 0, 1, "start" }, { "Range", 1, 1, "limit" },
	{ "Range", 2, 1, "delta" }, { "STFT", 1, 1, "frame_step" }, { "STFT", 3, 1, "frame_length" },
	{ "TopK", 1, 1, "k" }, { "Trilu", 1, 1, "k" } };

static int call_check_numbers(const struct op_call *c, struct error *err)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const struct op_number *n = &numbers[i];
		if (n->op[0] != c->op->name[0] || strcmp(n->op, c->op->name) || !op_in(c, n->input))
			continue;
		double count = op_count(op_in(c, n->input));
		if (!isnan(count) && count != n->values)
			return op_fail(c, err, "%s (input %d) has %.0f values, not %d", n->name, n->input,
				count, n->values);
	}
	return 0;
}

/* Number of present inputs beyond those that the row knows. */
static int inputs_beyond(const struct op *op, const struct node *n)
{
	int count = 0;
	for (int i = op->inputs_max; op->inputs_max >= 0 && i < n->input_count; i++)
		count += n->inputs[i] >= 0;
	return count;
}

int op_inputs_known(const struct op *op, int count)
{
	return op && op->inputs_max >= 0 && count > op->inputs_max ? op->inputs_max : count;
}

const char *op_call_ambiguous(const struct op_call *c)
{
	const char *name = c->op && !c->op->domain[0] ? c->op->name : "";
	if (strcmp(name, "Split") == 0 && c->opset >= 18) {
		bool count = node_attribute(c->node, "num_outputs") != NULL;
		if (count == (op_in(c, 1) != NULL))
			return count ? "Split: both split and num_outputs are given"
				     : "Split: neither split nor num_outputs is given";
	}
	if (strcmp(name, "Resize") == 0 && c->opset >= 11 && op_in(c, 2) && op_in(c, 3) &&
		op_count(op_in(c, 2)) > 0)
		return "Resize: both scales and sizes are given";
	return NULL;
}

const char *op_call_surplus(const struct op_call *c)
{
	int beyond = c->op ? inputs_beyond(c->op, c->node) : 0;
	return beyond ? arena_printf(c->arena, "%s: %d more input%s than the %d known, ignored", c->op->name,
		beyond, beyond == 1 ? "" : "s", c->op->inputs_max) : NULL;
}

/* True if known contents fit the type and a known shape, and known sizes are not negative. */
static bool value_is_sound(const struct op_value *v)
{
	const struct elements *e = v->elements;
	for (int i = 0; i < v->shape.rank; i++) {
		if (v->shape.dims[i].kind == DIM_KNOWN && v->shape.dims[i].value < 0)
			return false;
	}
	return !e || (op_elements_count(v->shape) == e->count && (e->f != NULL) == dtype_is_float(v->dtype));
}

/* An attribute that is present but was not read, because it is too long or of the wrong kind; a rule would
 * use its default. NULL: none, or the rule checks it itself. */
static const struct attribute *call_unread(const struct op_call *c)
{
	if (c->op->class == CLASS_HOST || op_own_place(c->op))
		return NULL;
	if (strcmp(c->op->name, "Constant") == 0)
		return op_constant_unread(c);
	for (int i = 0; i < c->node->attribute_count; i++) {
		const struct attribute *a = &c->node->attributes[i];
		if (a->kind == ATTRIBUTE_OTHER || !op_attribute_fits(a))
			return a;
	}
	return NULL;
}

/* True if rules can handle the call: all attributes were read, ranks are at most OP_RANK_MAX, values are
 * tensors (except in rows of any_kind) and sound. */
static bool call_is_in_reach(const struct op_call *c)
{
	for (int i = 0; i < c->input_count; i++) {
		const struct op_value *v = op_in(c, i);
		if (v && (v->shape.rank > OP_RANK_MAX || !value_is_sound(v) ||
				 (v->kind != VALUE_TENSOR && !op_row_any_kind(c->op))))
			return false;
	}
	return !call_unread(c);
}

/* True if all inputs are constant and the operator is deterministic. Operators without inputs decide
 * themselves. */
static bool call_is_constant(const struct op_call *c)
{
	int present = 0;
	if (c->op->shape == op_random_shape)
		return false;
	for (int i = 0; i < c->input_count; i++) {
		const struct op_value *v = op_in(c, i);
		present += v != NULL;
		if (v && (v->given || (!v->constant && !op_elements_concrete(v->elements))))
			return false;
	}
	return present > 0;
}

/* True if the elements of the outputs follow from elements that --value gave to an input of the model. Shape
 * and Size read no elements. */
static bool call_is_given(const struct op_call *c)
{
	for (int i = 0; i < c->input_count; i++) {
		if (op_in(c, i) && c->inputs[i].given)
			return !(c->op->flags & OP_READS_SHAPE);
	}
	return false;
}

/* Drops integers outside the type's range: they would wrap, so they are unknown. */
static const struct elements *elements_in_range(struct arena *a, const struct elements *from, enum dtype t)
{
	struct elements *e = NULL;
	for (int i = 0; from && from->i && i < from->count; i++) {
		if (from->i[i].kind != DIM_KNOWN || op_int_fits(t, from->i[i].value))
			continue;
		if (!e) {
			e = op_elements_new(a, from->count, false);
			memcpy(e->i, from->i, (size_t)from->count * sizeof(*e->i));
		}
		e->i[i] = dim_unknown();
	}
	return e ? e : from;
}

static void output_finish(struct arena *a, struct op_value *v, bool constant, bool given)
{
	if (v->shape.rank > OP_RANK_MAX)
		v->shape = SHAPE_UNKNOWN;
	if (!value_is_sound(v))
		v->elements = NULL;
	v->elements = elements_in_range(a, v->elements, v->dtype);
	v->given = given && v->elements;
	if (constant || (!v->given && op_elements_concrete(v->elements)))
		v->constant = true;
}

int op_infer(struct op_call *c, struct error *err)
{
	for (int i = 0; i < c->output_count; i++) {
		struct op_value *v = &c->outputs[i];
		bool present = v->present;
		*v = (struct op_value){ .present = present, .shape = SHAPE_UNKNOWN, .length = dim_unknown() };
	}
	c->input_count = op_inputs_known(c->op, c->input_count);
	if (!c->op || c->output_count < 1)
		return 0;
	if (call_check_inputs(c, err))
		return -1;
	if (!call_is_in_reach(c))
		return 0;
	if (!op_own_place(c->op) && call_check_numbers(c, err))
		return -1;
	const struct op_value *first = op_in(c, 0);
	for (int i = 0; first && i < c->output_count; i++)
		c->outputs[i].dtype = first->dtype;
	if (c->op->shape(c, err))
		return -1;
	bool constant = call_is_constant(c) && c->op->class != CLASS_HOST, given = call_is_given(c);
	for (int i = 0; i < c->output_count; i++)
		output_finish(c->arena, &c->outputs[i], constant, given);
	return 0;
}

/* Cost and problem rules read the first output, except for two operators whose first output is optional: a
 * recurrent layer may give its last state alone, a router its scores. */
static bool call_has_first(const struct op_call *c)
{
	bool optional = c->op->problem == op_rnn_problem || c->op->problem == op_group_router_problem;
	return op_out(c, 0) || (optional && c->output_count > 0);
}

static bool call_is_whole(const struct op_call *c)
{
	return call_is_in_reach(c) && call_has_first(c);
}

static bool call_is_empty(const struct op_call *c)
{
	for (int i = 0; i < c->output_count; i++) {
		if (op_out(c, i) && !(op_count(op_out(c, i)) <= 0))
			return false;
	}
	return true;
}

/* True if all results are known beforehand. Integers that follow from --value count as shape arithmetic;
 * floats are computed at run time. */
static bool call_is_known(const struct op_call *c)
{
	for (int i = 0; i < c->output_count; i++) {
		const struct op_value *v = op_out(c, i);
		bool computed = v && v->given && dtype_is_float(v->dtype);
		if (v && !v->constant && (computed || !op_elements_known(v->elements)))
			return false;
	}
	return true;
}

enum op_class op_call_class(const struct op_call *c)
{
	if (!c->op)
		return CLASS_UNKNOWN;
	if (c->op->class == CLASS_FREE)
		return CLASS_FREE;
	if (c->op->class == CLASS_HOST) /* constant inputs do not make its result constant, such as a random
					   one */
		return call_is_known(c) ? CLASS_FREE : CLASS_HOST;
	bool folded = call_is_constant(c) || call_is_known(c) || call_is_empty(c);
	bool nothing = !folded && call_is_whole(c) && c->op->is_free && c->op->is_free(c);
	return folded || nothing ? CLASS_FREE : c->op->class;
}

/* ---- costs and problems */

/* Work of a year at 100 TFLOP/s or 1 TB/s: an upper bound beyond this is not an estimate. */
#define YEAR_FLOPS 3.2e21
#define YEAR_BYTES 3.2e19

static bool cost_is_absurd(const struct op_cost *cost)
{
	return cost->flops > YEAR_FLOPS || cost->bytes > YEAR_BYTES;
}

/* Replaces dimensions of v by their upper bounds; false if one has none. */
static bool value_at_bounds(struct arena *a, struct op_value *v, bool *any)
{
	bool all = !v->present || (v->kind == VALUE_TENSOR && v->shape.rank >= 0);
	for (int i = 0; all && i < v->shape.rank; i++) {
		struct dim d = v->shape.dims[i];
		all = d.kind == DIM_KNOWN || (d.kind == DIM_UNKNOWN && d.upper >= 0);
		if (d.kind != DIM_UNKNOWN || !all)
			continue;
		v->shape = op_shape_copy(a, v->shape);
		v->shape.dims[i] = dim_known(d.upper);
		*any = true;
	}
	return all;
}

static struct op_value *values_at_bounds(
	struct arena *a, const struct op_value *from, int count, bool *all, bool *any)
{
	struct op_value *to = ARENA_ARRAY(a, struct op_value, count);
	for (int i = 0; i < count && *all; i++) {
		to[i] = from[i];
		*all = value_at_bounds(a, &to[i], any);
	}
	return to;
}

/* Sets `at` to the call with every unknown dimension at its upper bound. Returns false if no dimension is
 * unknown, or if one has no bound. */
static bool call_at_bounds(const struct op_call *c, struct op_call *at)
{
	bool all = true, any = false;
	*at = *c;
	at->inputs = values_at_bounds(c->arena, c->inputs, c->input_count, &all, &any);
	at->outputs = values_at_bounds(c->arena, c->outputs, c->output_count, &all, &any);
	return all && any;
}

void op_call_cost(const struct op_call *c, struct op_cost *cost)
{
	struct op_call at;
	*cost = (struct op_cost){ NAN, NAN, false };
	enum op_class class = op_call_class(c);
	if (class == CLASS_FREE)
		*cost = (struct op_cost){ 0, 0, false };
	if (class == CLASS_FREE || !c->op || !c->op->cost || !call_is_whole(c))
		return;
	c->op->cost(c, cost);
	if ((isnan(cost->flops) || isnan(cost->bytes)) && call_at_bounds(c, &at)) {
		*cost = (struct op_cost){ NAN, NAN, false };
		c->op->cost(&at, cost);
		if (cost_is_absurd(cost))
			*cost = (struct op_cost){ NAN, NAN, false };
		cost->upto = !isnan(cost->flops) || !isnan(cost->bytes);
	}
}

static void problem_of(const struct op_call *c, struct op_problem *out)
{
	struct op_call at;
	c->op->problem(c, out);
	if (out->known || !call_at_bounds(c, &at))
		return;
	struct op_problem bounded = { .known = false };
	struct op_cost cost = { NAN, NAN, false };
	if (c->op->cost)
		c->op->cost(&at, &cost);
	if (cost_is_absurd(&cost)) {
		op_problem_why(
			out, "a dimension is not known, and at its upper bound the work would exceed a year");
		return;
	}
	c->op->problem(&at, &bounded);
	if (!bounded.known)
		return;
	*out = bounded;
	out->proxy = out->upto = true;
}

const char *op_call_unread(const struct op_call *c)
{
	const struct attribute *a = call_unread(c);
	return a ? arena_printf(c->arena, "attribute %s is too long, or not of its kind",
		text_clean(c->arena, a->name))
		 : NULL;
}

#define HOST "runs on the host"

void op_call_problem(const struct op_call *c, struct op_problem *out)
{
	out->known = out->proxy = out->upto = false; /* the problem itself is cleared by the function that
						        fills it */
	out->why = NULL;
	enum op_class class = op_call_class(c);
	if (class == CLASS_FREE)
		op_problem_why(out, "no kernel at run time");
	else if (class == CLASS_UNKNOWN)
		op_problem_why(out, "the operator is not known");
	else if (class == CLASS_HOST || !c->op->problem)
		op_problem_why(out, c->op->note ? arena_printf(c->arena, "%s: %s", HOST, c->op->note) : HOST);
	else if (call_unread(c))
		op_problem_why(out, op_call_unread(c));
	else if (!call_is_in_reach(c))
		op_problem_why(out, "not a tensor, or of a rank above the limit");
	else if (!call_has_first(c))
		op_problem_why(out, "its first output is left out");
	else
		problem_of(c, out);
}
