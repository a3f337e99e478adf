/* Bytes are cases as in tests/ops: one call of an operator each, whose rules get whatever stands there, and
 * the same with less known. What is found can go to tests/ops as it is. */
#include "config.h"

#include "tests/fuzz/fuzz.h"
#include "tests/unit/ops_case.h"

#include "model/tensor.h"

#include <math.h>
#include <string.h>

/* What the loader promises of tensors. */
static bool tensor_is_sound(const struct tensor *t)
{
	int64_t elements = t->rank < 0 ? -1 : tensor_elements(t->rank, t->dims);
	return elements == t->elements && dtype_bits(t->dtype) >= 8;
}

/* What a plan's values are before any rule has seen them. */
static bool value_is_sound(const struct op_value *v)
{
	int64_t elements = 1;
	for (int i = 0; i < v->shape.rank; i++) {
		struct dim d = v->shape.dims[i];
		if (d.kind == DIM_KNOWN && d.value < 0)
			return false;
		if (v->elements && (d.kind != DIM_KNOWN || d.value > OP_ELEMENTS_MAX))
			return false;
		elements *= v->elements ? d.value : 1;
	}
	return !v->elements || (v->elements->count == elements && dtype_bits(v->dtype) > 0);
}

static bool call_is_sound(const struct op_call *c)
{
	for (int i = 0; i < c->input_count; i++)
		if (!value_is_sound(&c->inputs[i]))
			return false;
	const struct node *n = c->node;
	for (int i = 0; i < n->attribute_count; i++)
		if (n->attributes[i].kind == ATTRIBUTE_TENSOR && !tensor_is_sound(n->attributes[i].tensor))
			return false;
	return true;
}

static void check_outputs(const struct op_call *c)
{
	for (int i = 0; i < c->output_count; i++) {
		const struct op_value *v = &c->outputs[i];
		for (int j = 0; j < v->shape.rank; j++) {
			struct dim d = v->shape.dims[j];
			FUZZ_CHECK(d.kind != DIM_KNOWN || d.value >= 0);
			FUZZ_CHECK(d.kind == DIM_KNOWN || d.upper >= -1);
		}
	}
}

/* A problem that can be written can be read. */
static void check_problem(const struct op_call *c)
{
	struct op_problem out;
	struct problem back;
	struct error err = ERROR_NONE;
	char text[PROBLEM_TEXT_SIZE];
	op_call_problem(c, &out);
	FUZZ_CHECK(out.known || out.why);
	if (out.known && problem_format(&out.problem, text, &err) == 0)
		FUZZ_CHECK(problem_parse(text_of(text), &back, &err) == 0);
}

static void check_call(struct op_call *c, struct arena *a)
{
	struct error err = ERROR_NONE;
	struct op_cost cost;
	bool failed = op_infer(c, &err) != 0;
	if (failed) {
		fuzz_check_line(err.text);
	} else {
		check_outputs(c);
		op_call_cost(c, &cost);
		FUZZ_CHECK(isnan(cost.flops) || cost.flops >= 0);
		FUZZ_CHECK(isnan(cost.bytes) || cost.bytes >= 0);
		check_problem(c);
	}
	const char *other = ops_less_known(a, c, failed);
	if (other) {
		fprintf(stderr, "%s\nin full: %s\n", other, failed ? err.text : ops_outputs_text(a, c));
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	FILE *f = n ? fmemopen((void *)bytes, n, "r") : NULL;
	int line = 0;
	char *bad = NULL;
	for (bool more = f != NULL; more && !bad;) {
		struct arena a = { 0 };
		struct ops_case t;
		more = ops_case_read(&a, f, "case", &line, &t, &bad);
		if (more && call_is_sound(&t.call))
			check_call(&t.call, &a);
		arena_free(&a);
	}
	if (f)
		fclose(f);
	return 0;
}
