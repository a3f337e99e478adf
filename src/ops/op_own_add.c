/* Described operators as they are written: each key is checked, as far as it can be without a node. */
#include "config.h"

#include "ops/op_own_private.h"

#include "problem/kernel.h"

#include <string.h>

#define NAME_MOST 128 /* bytes of an operator's name or domain */

const struct op_own_row op_own_rows[OP_OWN_KEYS] = {
	[OP_OWN_NAME] = { "name", OP_OWN_ONE },
	[OP_OWN_DOMAIN] = { "domain", OP_OWN_ONE },
	[OP_OWN_INPUTS] = { "inputs", OP_OWN_LIST },
	[OP_OWN_OUTPUTS] = { "outputs", OP_OWN_LIST },
	[OP_OWN_TYPES] = { "types", OP_OWN_LIST },
	[OP_OWN_ATTRIBUTES] = { "attributes", OP_OWN_MAP },
	[OP_OWN_CLASS] = { "class", OP_OWN_ONE },
	[OP_OWN_FLOPS] = { "flops", OP_OWN_ONE },
	[OP_OWN_BYTES] = { "bytes", OP_OWN_ONE },
	[OP_OWN_KERNEL] = { "kernel", OP_OWN_ONE },
	[OP_OWN_PROXY] = { "proxy", OP_OWN_ONE },
	[OP_OWN_TIME] = { "time", OP_OWN_ONE },
	[OP_OWN_OVERRIDE] = { "override", OP_OWN_ONE },
};

static int shown(struct text t)
{
	return t.n < 40 ? (int)t.n : 40;
}

static bool is_name(struct text t)
{
	for (size_t i = 0; i < t.n; i++) {
		char c = t.p[i];
		bool digit = c >= '0' && c <= '9', letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
		if (c != '_' && !letter && !(i && digit))
			return false;
	}
	return t.n > 0;
}

/* x0, y1: inputs and outputs by number. */
static bool is_numbered(struct text t)
{
	return t.n > 1 && (t.p[0] == 'x' || t.p[0] == 'y') && strspn(t.p + 1, "0123456789") >= t.n - 1;
}

/* A name that expressions may use for an input or attribute. */
static int name_check(const struct op_own *own, struct text t, struct error *err)
{
	if (!is_name(t))
		return error_set(err, "%.*s is not a name: letters, digits and _", shown(t), t.p);
	if (is_numbered(t))
		return error_set(err, "%.*s is an input or output by its number; use another name",
			shown(t), t.p);
	for (int i = 0; i < own->input_count; i++)
		if (text_equal(own->inputs[i], t))
			return error_set(err, "%.*s is given twice", shown(t), t.p);
	return 0;
}

static int take_text(struct arena *a, struct text t, bool empty, const char **to, struct error *err)
{
	if ((!t.n && !empty) || t.n > NAME_MOST || memchr(t.p, 0, t.n))
		return error_set(err, "it is empty, longer than %d bytes, or contains a NUL", NAME_MOST);
	*to = arena_strndup(a, t.p, t.n);
	return 0;
}

/* One value of a key: value number `at`, x. */
struct taken {
	struct op_own *own;
	struct arena *a;
	enum op_own_key key;
	int at;
	const struct op_own_text *x;
	struct text text;          /* of x */
};

static bool has(const struct op_own *own, enum op_own_key key)
{
	return own->given->keys[key].count > 0;
}

static int take_name(const struct taken *t, struct error *err)
{
	return take_text(t->a, t->text, false, &t->own->op.name, err);
}

/* ai.onnx is the empty domain. */
static int take_domain(const struct taken *t, struct error *err)
{
	struct text domain = text_is(t->text, "ai.onnx") ? TEXT("") : t->text;
	return take_text(t->a, domain, true, &t->own->op.domain, err);
}

/* "w", or "w?" of one that may be left out. */
static int take_input(const struct taken *t, struct error *err)
{
	struct op_own *own = t->own;
	bool optional = t->text.n && t->text.p[t->text.n - 1] == '?';
	struct text name = { t->text.p, t->text.n - optional };
	if (name_check(own, name, err))
		return -1;
	own->inputs[own->input_count++] = name;
	own->op.inputs_max = own->input_count;
	own->op.inputs_min = optional ? own->op.inputs_min : own->input_count;
	return 0;
}

static int default_name(const void *with, struct text function, struct text name, struct computed *v,
	struct error *err)
{
	(void)with;
	(void)v;
	struct text t = function.n ? function : name;
	return error_set(err, "%.*s is not a number", shown(t), t.p);
}

static int take_attribute(const struct taken *t, struct error *err)
{
	struct text name = t->x->name;
	if (name_check(t->own, name, err))
		return -1;
	for (int i = 1; i <= t->at; i++)
		if (text_equal(t->x[-i].name, name))
			return error_set(err, "%.*s is given twice", shown(name), name.p);
	return expression_read(t->a, t->text, default_name, NULL, &t->own->defaults[t->at], err) ?
		error_context(err, "%.*s", shown(name), name.p) : 0;
}

/* Evaluates an expression without a node. */
static int expression_check(const struct taken *t, struct computed *v, struct error *err)
{
	struct op_own_call call = { .own = t->own };
	struct arena scratch = { 0 };
	int bad = expression_read(&scratch, t->text, op_own_name, &call, v, err);
	arena_free(&scratch);
	return bad;
}

/* An output may use those before it. */
static int take_output(const struct taken *t, struct error *err)
{
	struct computed v;
	if (expression_check(t, &v, err))
		return -1;
	if (v.kind == EXPRESSION_NUMBER)
		return error_set(err, "a number; a shape is a list, e.g. \"[%.*s]\"", shown(t->text),
			t->text.p);
	t->own->output_count = t->at + 1;
	return 0;
}

/* A data type, or the input that has it. */
static int take_type(const struct taken *t, struct error *err)
{
	struct op_own *own = t->own;
	struct op_own_type *type = &own->types[t->at];
	if (t->at >= own->output_count)
		return error_set(err, "more types than outputs (%d)", own->output_count);
	if ((type->dtype = dtype_parse_usual(t->text)) != DTYPE_UNKNOWN)
		return 0;
	bool output = false;
	int found = op_own_value(own, t->text, &output, &type->input, err);
	return found < 0 ? -1 : found && !output ? 0 : error_set(err,
		"%.*s is neither a data type, such as f32, nor an input", shown(t->text), t->text.p);
}

static int take_class(const struct taken *t, struct error *err)
{
	for (enum op_class c = CLASS_COMPUTE; c <= CLASS_HOST; c++)
		if (text_is(t->text, op_class_name(c))) {
			t->own->op.class = c;
			return 0;
		}
	return error_set(err, "%.*s is not one of compute, memory, move, free, host", shown(t->text),
		t->text.p);
}

static int take_amount(const struct taken *t, struct error *err)
{
	struct computed v;
	double amount;
	return expression_check(t, &v, err) || expression_amount(&v, &amount, err) ? -1 : 0;
}

static int take_kernel(const struct taken *t, struct error *err)
{
	struct op_own_call call = { .own = t->own };
	struct arena scratch = { 0 };
	struct str out = { 0 };
	const char *colon = t->text.n ? memchr(t->text.p, ':', t->text.n) : NULL;
	struct text name = { t->text.p, colon ? (size_t)(colon - t->text.p) : t->text.n };
	int k = 0;
	if (t->key == OP_OWN_PROXY && has(t->own, OP_OWN_KERNEL))
		return error_set(err, "kernel is given too: leave one out");
	while (k < KERNEL_COUNT && (k == KERNEL_BESIDE || !text_is(name, kernel_name((enum kernel)k))))
		k++;
	if (k == KERNEL_COUNT || t->text.n >= PROBLEM_TEXT_SIZE)
		return error_set(err, k < KERNEL_COUNT ? "its text is too long: %.*s ..." :
			"unknown kernel %.*s; a text begins with conv:, matmul:, softmax: ...",
			shown(name), name.p);
	if (!has(t->own, OP_OWN_CLASS))
		t->own->op.class = kernel_row((enum kernel)k)->accumulator ? CLASS_COMPUTE : CLASS_MEMORY;
	int filled = op_own_fill(&call, &scratch, t->text, &out, err);
	arena_free(&scratch);
	str_free(&out);
	return filled < 0 ? -1 : 0;
}

static int take_time(const struct taken *t, struct error *err)
{
	if (assumed_parse(t->text, &t->own->time, err))
		return -1;
	bool kernel = has(t->own, OP_OWN_KERNEL) || has(t->own, OP_OWN_PROXY);
	return t->own->time.kind == ASSUME_FACTOR && !kernel ?
		error_set(err, "a factor (2x) needs a kernel, whose time it divides") : 0;
}

static int take_override(const struct taken *t, struct error *err)
{
	return text_is(t->text, "true") || text_is(t->text, "false") ? 0 :
		error_set(err, "%.*s is not true or false", shown(t->text), t->text.p);
}

typedef int take_function(const struct taken *t, struct error *err);

/* In this order: expressions need the names of inputs, and kernels the class. */
static take_function *const takes[OP_OWN_KEYS] = { take_name, take_domain, take_input, take_output,
	take_type, take_attribute, take_class, take_amount, take_amount, take_kernel, take_kernel, take_time,
	take_override };

static bool is_built_in(const struct op *op)
{
	for (size_t i = 0; i < op_row_count(); i++)
		if (strcmp(op_row(i)->name, op->name) == 0 && strcmp(op_row(i)->domain, op->domain) == 0)
			return true;
	return false;
}

/* What its keys say together. */
static int whole_check(const struct op_own_table *t, const struct op_own *own, struct error *err)
{
	const struct op_own_values *keys = own->given->keys;
	for (int i = 0; i < t->count; i++)
		if (strcmp(t->at[i]->op.name, own->op.name) == 0 &&
			strcmp(t->at[i]->op.domain, own->op.domain) == 0)
			return error_set(err, "%s is described in line %d already", own->op.name,
				t->at[i]->given->line);
	if (is_built_in(&own->op) && !(has(own, OP_OWN_OVERRIDE) &&
			text_is(keys[OP_OWN_OVERRIDE].at[0].text, "true")))
		return error_set(err, "%s%s%s is built in; override: true replaces it", own->op.domain,
			*own->op.domain ? "." : "", own->op.name);
	static const enum op_own_key work[] = { OP_OWN_FLOPS, OP_OWN_BYTES, OP_OWN_KERNEL, OP_OWN_PROXY,
		OP_OWN_TIME };
	for (size_t i = 0; i < sizeof(work) / sizeof(work[0]) && own->op.class == CLASS_FREE; i++)
		if (has(own, work[i]))
			return error_set(err, "class free takes no time: leave %s out",
				op_own_rows[work[i]].name);
	if (own->op.class == CLASS_HOST && (has(own, OP_OWN_KERNEL) || has(own, OP_OWN_PROXY)))
		return error_set(err, "class host runs no kernel: give a time, or another class");
	return 0;
}

static int own_read(const struct op_own_table *t, struct op_own *own, struct arena *a, struct error *err)
{
	const struct op_own_given *g = own->given;
	if (!has(own, OP_OWN_NAME) || !has(own, OP_OWN_OUTPUTS)) {
		error_set(err, "an operator needs a name and outputs, the shapes of its results");
		return error_context(err, "%s:%d", g->path, g->line);
	}
	for (int key = 0; key < OP_OWN_KEYS; key++)
		for (int i = 0; i < g->keys[key].count; i++)
			if (takes[key](&(struct taken){ own, a, (enum op_own_key)key, i, &g->keys[key].at[i],
					g->keys[key].at[i].text }, err))
				return op_own_wrong(g, (enum op_own_key)key, i, err);
	return whole_check(t, own, err) ? error_context(err, "%s:%d", g->path, g->line) : 0;
}

int op_own_add(struct op_own_table *t, struct arena *a, const struct op_own_given *given, struct error *err)
{
	struct op_own *own = ARENA_NEW(a, struct op_own);
	own->given = given;
	own->op = (struct op){ .domain = "", .since = 1, .inputs_max = -1, .class = CLASS_MEMORY,
		.shape = op_own_shape, .cost = op_own_cost, .problem = op_own_problem };
	own->place = arena_printf(a, "%s:%d", given->path, given->line);
	if (t->count == OP_OWN_MAX) {
		error_set(err, "more than %d operators", OP_OWN_MAX);
		return error_context(err, "%s", own->place);
	}
	if (own_read(t, own, a, err))
		return -1;
	if (!t->at)
		t->at = ARENA_ARRAY(a, const struct op_own *, OP_OWN_MAX);
	t->at[t->count++] = own;
	return 0;
}
