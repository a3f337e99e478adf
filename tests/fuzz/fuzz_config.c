/* Bytes are a configuration: read whole, printed, and read again; read as the sidecars of a model; and as
 * what the command line sets. Operators that it describes are evaluated for a layer. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "config/config.h"
#include "config/config_private.h"

#include <stdlib.h>
#include <string.h>

/* Behind the first line, which names the file. */
static const char *body(const struct str *printed)
{
	const char *end = strchr(printed->p, '\n');
	FUZZ_CHECK(end);
	return end;
}

/* No scenarios that were saved. */
__attribute__((constructor)) static void no_home(void)
{
	setenv("XDG_DATA_HOME", "/nonexistent", 1);
}

/* A value of every kind of dimension; the second is a constant, with contents. */
static struct op_value value_of(struct arena *a, bool constant)
{
	struct op_value v = { .present = true, .dtype = constant ? DTYPE_S64 : DTYPE_F32,
		.constant = constant, .shape = shape_make(a, constant ? 1 : 4), .length = dim_unknown() };
	struct elements *e = ARENA_NEW(a, struct elements);
	e->count = 2;
	e->i = ARENA_ARRAY(a, struct dim, 2);
	e->i[0] = dim_known(-3);
	v.shape.dims[0] = dim_known(2);
	for (int i = 1; i < v.shape.rank; i++)
		v.shape.dims[i] = i == 1 ? dim_symbol(a, TEXT("n")) : i == 2 ? dim_unknown_upto(9) :
			dim_known(768);
	v.elements = constant ? e : NULL;
	return v;
}

static void check_operator(const struct op_own_table *t, int i)
{
	struct arena a = { 0 };
	struct error err = ERROR_NONE;
	struct op_cost cost;
	struct op_problem problem;
	const struct op_own_given *g = op_own_entry(t, i);
	struct text domain = g->keys[OP_OWN_DOMAIN].count ? g->keys[OP_OWN_DOMAIN].at[0].text : TEXT("");
	float floats[2] = { 0.1f, 3 };
	struct attribute attributes[2] = { { .name = TEXT("k"), .kind = ATTRIBUTE_INT, .i = INT64_MIN },
		{ .name = TEXT("f"), .kind = ATTRIBUTE_FLOATS, .count = 2, .floats = floats } };
	struct node n = { .name = TEXT("layer"), .attribute_count = 2, .attributes = attributes };
	struct op_value inputs[] = { value_of(&a, false), value_of(&a, true), { .present = false } };
	struct op_value outputs[] = { { .present = true }, { .present = true } };
	struct op_call c = { .node = &n, .opset = 1, .input_count = 3, .output_count = 2, .inputs = inputs,
		.outputs = outputs, .arena = &a,
		.op = op_own_find(t, text_is(domain, "ai.onnx") ? TEXT("") : domain,
			g->keys[OP_OWN_NAME].at[0].text) };
	FUZZ_CHECK(c.op && op_own_place(c.op));
	for (; c.output_count > 0; c.output_count--) {
		if (op_infer(&c, &err))
			fuzz_check_line(err.text);
		op_call_cost(&c, &cost);
		op_call_problem(&c, &problem);
		FUZZ_CHECK(!(cost.flops < 0) && !(cost.bytes < 0) && (problem.known || problem.why));
	}
	arena_free(&a);
}

static void check_whole(const uint8_t *bytes, size_t n)
{
	struct config c, again;
	struct error err = ERROR_NONE;
	if (config_load(&c, fuzz_file(bytes, n), &err)) {
		fuzz_check_line(err.text);
		return;
	}
	for (int i = 0; i < c.operators.count; i++)
		check_operator(&c.operators, i);
	struct str once = { 0 }, twice = { 0 };
	config_print(&c, &once);
	if (config_load(&again, fuzz_file((const uint8_t *)once.p, once.n), &err)) {
		fprintf(stderr, "%s\n%s\n", err.text, once.p);
		abort();
	}
	config_print(&again, &twice);
	FUZZ_CHECK(strcmp(body(&once), body(&twice)) == 0);
	str_free(&once);
	str_free(&twice);
	config_free(&again);
	config_free(&c);
}

static void check_sidecars(const uint8_t *bytes, size_t n)
{
	static const char *const only[] = { "dims", "operators" };
	for (int i = 0; i < 2; i++) {
		struct config c = { 0 };
		struct error err = ERROR_NONE;
		if (config_read_yaml(&c, fuzz_file(bytes, n), only[i], &err))
			fuzz_check_line(err.text);
		config_free(&c);
	}
}

static void check_set(const uint8_t *bytes, size_t n)
{
	struct config c = { 0 };
	struct arena a = { 0 };
	char *key = arena_strndup(&a, (const char *)bytes, n), *value = strchr(key, ':');
	if (value) {
		struct error err = ERROR_NONE;
		*value++ = '\0';
		if (config_set(&c, key, value, &err))
			fuzz_check_line(err.text);
	}
	config_free(&c);
	arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	unsetenv("BENANZA_DB");
	check_whole(bytes, n);
	check_sidecars(bytes, n);
	check_set(bytes, n);
	return 0;
}
