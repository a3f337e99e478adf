/* What a call gives, as the lines of a case have it, and what it gives when less is known. */
#include "config.h"

#include "tests/unit/ops_case.h"

char *ops_outputs_text(struct arena *a, const struct op_call *c)
{
	char *text = arena_printf(a, "%s", "");
	for (int i = 0; i < c->output_count; i++)
		text = arena_printf(a, "%s%s%s", text, i ? " " : "", ops_value_text(a, &c->outputs[i]));
	return text;
}

char *ops_problem_text(struct arena *a, const struct op_call *c)
{
	struct op_problem problem;
	struct error err = ERROR_NONE;
	char buf[PROBLEM_TEXT_SIZE];
	const char *class = op_class_name(op_call_class(c));
	op_call_problem(c, &problem);
	if (op_call_class(c) == CLASS_FREE && !problem.known)
		return arena_printf(a, "%s", class);
	if (!problem.known)
		return arena_printf(a, "%s none: %s", class, problem.why);
	if (problem_format(&problem.problem, buf, &err))
		return arena_printf(a, "%s does not print: %s", class, err.text);
	struct problem back;
	if (problem_parse(text_of(buf), &back, &err))
		return arena_printf(a, "%s %s does not read back: %s", class, buf, err.text);
	return arena_printf(a, "%s %s%s", class, problem.proxy ? "proxy " : "", buf);
}

static bool dim_agrees(struct dim less, struct dim full)
{
	if (less.kind == DIM_UNKNOWN)
		return less.upper < 0 || full.kind != DIM_KNOWN || full.value <= less.upper;
	return full.kind == DIM_UNKNOWN || !dim_differs(less, full);
}

/* Does the result with less knowledge say nothing else than the full one? */
static bool value_agrees(const struct op_value *less, const struct op_value *full)
{
	if (less->kind != full->kind || !dim_agrees(less->length, full->length))
		return false;
	if (less->shape.rank >= 0 && full->shape.rank >= 0 && less->shape.rank != full->shape.rank)
		return false;
	for (int i = 0; i < less->shape.rank && full->shape.rank >= 0; i++) {
		if (!dim_agrees(less->shape.dims[i], full->shape.dims[i]))
			return false;
	}
	for (int i = 0; less->elements && full->elements && less->elements->i && full->elements->i &&
			i < less->elements->count && i < full->elements->count;
		i++) {
		if (dim_differs(less->elements->i[i], full->elements->i[i]))
			return false;
	}
	return true;
}

/* Takes knowledge away: 0 contents, 1 dimensions, 2 ranks; of input i or of all (-1). */
static void forget(struct arena *a, struct op_value *inputs, int count, int i, int how)
{
	for (int k = i < 0 ? 0 : i; k < (i < 0 ? count : i + 1); k++) {
		struct op_value *v = &inputs[k];
		v->elements = NULL;
		v->constant = false;
		v->items = NULL;
		if (how)
			v->length = dim_unknown();
		if (how == 1 && v->shape.rank >= 0)
			v->shape = shape_make(a, v->shape.rank);
		else if (how == 2)
			v->shape = SHAPE_UNKNOWN;
	}
}

/* The call with less known; NULL: nothing else comes out. */
static const char *less_run(
	struct arena *a, const struct op_call *full, bool full_failed, const struct op_value *inputs)
{
	struct op_call c = *full;
	struct error err = ERROR_NONE;
	struct op_cost cost;
	c.inputs = inputs;
	c.outputs = ARENA_ARRAY(a, struct op_value, c.output_count);
	for (int k = 0; k < c.output_count; k++)
		c.outputs[k].present = full->outputs[k].present;
	if (op_infer(&c, &err))
		return full_failed ? NULL : arena_printf(a, "%s", err.text);
	op_call_cost(&c, &cost);
	ops_problem_text(a, &c);
	for (int k = 0; k < c.output_count && !full_failed; k++) {
		if (!value_agrees(&c.outputs[k], &full->outputs[k]))
			return ops_outputs_text(a, &c);
	}
	return NULL;
}

const char *ops_less_known(struct arena *a, const struct op_call *full, bool full_failed)
{
	for (int i = -1; i < full->input_count; i++) {
		for (int how = 0; how < 3; how++) {
			struct op_value *inputs = ARENA_ARRAY(a, struct op_value, full->input_count);
			for (int k = 0; k < full->input_count; k++)
				inputs[k] = full->inputs[k];
			forget(a, inputs, full->input_count, i, how);
			const char *other = less_run(a, full, full_failed, inputs);
			if (other)
				return arena_printf(a, "with less known of input %d (%d): %s", i, how, other);
		}
	}
	return NULL;
}
