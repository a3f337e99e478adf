/* The rules of operators that users describe. */
#include "config.h"

#include "ops/op_own_private.h"

#include "ops/rules/op_rules.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHOWN 40 /* bytes of a name in an error */

static const struct op_own *own_of(const struct op *op)
{
	return op && op->shape == op_own_shape ? (const struct op_own *)(const void *)op : NULL;
}

const char *op_own_place(const struct op *op)
{
	const struct op_own *own = own_of(op);
	return own ? own->place : NULL;
}

const struct op *op_own_find(const struct op_own_table *t, struct text domain, struct text name)
{
	for (; t; t = t->next)
		for (int i = 0; i < t->count; i++)
			if (text_is(name, t->at[i]->op.name) && text_is(domain, t->at[i]->op.domain))
				return &t->at[i]->op;
	return NULL;
}

const struct assumption *op_own_time(const struct op *op)
{
	const struct op_own *own = own_of(op);
	return own && own->time.kind != ASSUME_NOTHING ? &own->time : NULL;
}

const struct op_own_given *op_own_entry(const struct op_own_table *t, int i)
{
	return t->at[i]->given;
}

int op_own_wrong(const struct op_own_given *g, enum op_own_key key, int value, struct error *err)
{
	int line = value < g->keys[key].count ? g->keys[key].at[value].line : g->line;
	return error_context(err, "%s:%d: %s", g->path, line, op_own_rows[key].name);
}

/* ---- names */

static int shown(struct text t)
{
	return t.n < SHOWN ? (int)t.n : SHOWN;
}

/* "x0", "y12": the index of an input or output; -1: not such a name. */
static int64_t numbered(struct text name, char letter)
{
	int64_t index;
	return name.n > 1 && name.p[0] == letter && name.p[1] != '-' &&
		text_to_int64((struct text){ name.p + 1, name.n - 1 }, &index) ? index : -1;
}

int op_own_value(
	const struct op_own *own, struct text name, bool *output, int *index, struct error *err)
{
	for (int i = 0; i < own->input_count; i++)
		if (text_equal(own->inputs[i], name)) {
			*output = false;
			*index = i;
			return 1;
		}
	int64_t in = numbered(name, 'x'), out = numbered(name, 'y');
	int most = in >= 0 ? own->input_count ? own->input_count : OP_OWN_VALUES : own->output_count;
	if (in < 0 && out < 0)
		return 0;
	*output = in < 0;
	if ((*output ? out : in) >= most)
		return error_set(err, "there is no %.*s: %d %s", shown(name), name.p, most, *output ?
			"outputs are given" : own->input_count ? "inputs are given" : "inputs at most");
	*index = (int)(*output ? out : in);
	return 1;
}

static struct computed list_of(struct arena *a, int count, const int64_t *numbers)
{
	struct dim *items = ARENA_ARRAY(a, struct dim, count);
	for (int i = 0; i < count; i++)
		items[i] = dim_known(numbers[i]);
	return expression_list(count, items);
}

/* Items of a list of floats that are all integers. */
static int list_of_floats(struct arena *a, const struct attribute *attribute, struct computed *v,
	struct error *err)
{
	struct dim *items = ARENA_ARRAY(a, struct dim, attribute->count);
	int64_t by = 1;
	for (size_t i = 0; i < attribute->count; i++) {
		struct computed one;
		if (expression_double((double)attribute->floats[i], &one, err))
			return -1;
		by = one.by > by ? one.by : by; /* powers of two */
	}
	for (size_t i = 0; i < attribute->count; i++) {
		struct computed one;
		if (expression_double((double)attribute->floats[i] * (double)by, &one, err))
			return -1;
		items[i] = one.number;
	}
	*v = expression_list((int)attribute->count, items);
	v->by = by;
	return 0;
}

static int attribute_get(
	const struct op_own_call *x, struct text name, struct computed *v, struct error *err)
{
	const struct op_own_values *given = &x->own->given->keys[OP_OWN_ATTRIBUTES];
	if (!x->call) {
		v->kind = EXPRESSION_ANY;
		return 0;
	}
	struct arena *a = x->call->arena;
	const struct attribute *attribute =
		node_attribute(x->call->node, arena_strndup(a, name.p, name.n));
	for (int i = 0; !attribute && i < given->count; i++)
		if (text_equal(given->at[i].name, name)) {
			*v = x->own->defaults[i];
			return 0;
		}
	if (!attribute)
		return error_set(err, "%.*s is not an input, and the layer has no such attribute; "
			"attributes: { "
			"%.*s: VALUE } gives one", shown(name), name.p, shown(name), name.p);
	bool list = attribute->kind == ATTRIBUTE_INTS || attribute->kind == ATTRIBUTE_FLOATS;
	if (list && attribute->count > EXPRESSION_ITEMS)
		return error_set(err, "attribute %.*s has %zu items, at most %d can be used", shown(name),
			name.p, attribute->count, EXPRESSION_ITEMS);
	switch (attribute->kind) {
	case ATTRIBUTE_INT: *v = expression_number(dim_known(attribute->i)); return 0;
	case ATTRIBUTE_FLOAT: return expression_double((double)attribute->f, v, err) ?
		error_context(err, "attribute %.*s", shown(name), name.p) : 0;
	case ATTRIBUTE_INTS: *v = list_of(a, (int)attribute->count, attribute->ints); return 0;
	case ATTRIBUTE_FLOATS: return list_of_floats(a, attribute, v, err) ?
		error_context(err, "attribute %.*s", shown(name), name.p) : 0;
	default: break;
	}
	return error_set(err, "attribute %.*s is neither a number nor a list of "
		"numbers", shown(name), name.p);
}

static int value_get(const struct op_own_call *x, struct text function, struct text name,
	const struct op_value *of, struct computed *v, struct error *err)
{
	bool has = text_is(function, "has"), bytes = text_is(function, "bytes"),
		values = text_is(function, "values");
	bool list = !function.n || values;
	if (!list && !has && !bytes)
		return error_set(err, "unknown function %.*s; use size, rank, bytes, has, values, min, "
			"max, floor or ceil", shown(function), function.p);
	*v = list ? expression_list(-1, NULL) : expression_number(dim_unknown());
	if (!x->call)
		return 0;
	if (!of && list)
		return error_set(err, "%.*s is left out; has(%.*s) is then 0", shown(name), name.p,
			shown(name), name.p);
	if (has)
		*v = expression_number(dim_known(of != NULL));
	else if (bytes && !of)
		*v = expression_number(dim_known(0));
	else if (bytes && dtype_bits(of->dtype)) {
		struct dim bits = dim_known(dtype_bits(of->dtype));
		v->number = dim_mul(x->call->arena, shape_elements(x->call->arena, of->shape), bits);
		v->by = 8;
	} else if (values && of->elements && of->elements->i)
		*v = expression_list(of->elements->count, of->elements->i);
	else if (!function.n && of->shape.rank >= 0)
		*v = expression_list(of->shape.rank, of->shape.dims);
	return 0;
}

int op_own_name(const void *with, struct text function, struct text name, struct computed *v,
	struct error *err)
{
	const struct op_own_call *x = with;
	bool output = false;
	int index = 0, found = op_own_value(x->own, name, &output, &index, err);
	if (found < 0)
		return -1;
	if (found)
		return value_get(x, function, name, !x->call ? NULL :
			output ? op_out(x->call, index) : op_in(x->call, index), v, err);
	return function.n ? error_set(err, "%.*s is neither an input nor an output", shown(name), name.p) :
		attribute_get(x, name, v, err);
}

/* ---- shapes */

static int dims_check(struct shape s, struct error *err)
{
	if (s.rank > OP_RANK_MAX)
		return error_set(err, "%d dimensions, at most %d are allowed", s.rank, OP_RANK_MAX);
	for (int i = 0; i < s.rank; i++)
		if (s.dims[i].kind == DIM_KNOWN && (s.dims[i].value < 0 || s.dims[i].value > DIM_UPPER_MOST))
			return error_set(err, "dimension %d is %s: %" PRId64, i,
				s.dims[i].value < 0 ? "negative" : "too large", s.dims[i].value);
	return 0;
}

static int output_shape(const struct op_own_call *x, int i, struct op_value *out, struct error *err)
{
	const struct op_own *own = x->own;
	struct arena *a = x->call->arena;
	struct computed v;
	if (expression_read(a, own->given->keys[OP_OWN_OUTPUTS].at[i].text, op_own_name, x, &v, err))
		return -1;
	if (v.kind != EXPRESSION_LIST)
		return error_set(err, "a number; a shape is a list, e.g. [8, 16]");
	struct shape s = v.count < 0 ? SHAPE_UNKNOWN : shape_make(a, v.count);
	for (int k = 0; k < s.rank; k++) {
		struct computed one = { .number = v.items[k], .by = v.by };
		if (expression_whole(a, &one, &s.dims[k], err))
			return -1;
	}
	if (dims_check(s, err))
		return -1;
	const struct op_value *like = own->types[i].dtype ? NULL : op_in(x->call, own->types[i].input);
	out->shape = s;
	out->dtype = like ? like->dtype : own->types[i].dtype;
	return 0;
}

/* *amount: the number that a key gives; NaN: it is not given, or not known. */
static int amount_of(const struct op_own_call *x, enum op_own_key key, double *amount, struct error *err)
{
	const struct op_own_values *given = &x->own->given->keys[key];
	struct arena *a = x->call->arena;
	struct computed v;
	struct arena_mark mark = arena_mark(a);
	*amount = NAN;
	int bad = given->count && (expression_read(a, given->at[0].text, op_own_name, x, &v, err) ||
		expression_amount(&v, amount, err));
	arena_return(a, mark);
	return bad ? op_own_wrong(x->own->given, key, 0, err) : 0;
}

static enum op_own_key kernel_key(const struct op_own *own)
{
	return own->given->keys[OP_OWN_KERNEL].count ? OP_OWN_KERNEL : OP_OWN_PROXY;
}

/* The problem of the entry's kernel. 1: it is set; 0: the entry has no kernel, or a size is unknown; -1 with
 * err. */
static int kernel_of(const struct op_own_call *x, struct problem *p, struct error *err)
{
	enum op_own_key key = kernel_key(x->own);
	const struct op_own_values *given = &x->own->given->keys[key];
	struct str text = { 0 };
	struct arena_mark mark = arena_mark(x->call->arena);
	int filled = given->count ? op_own_fill(x, x->call->arena, given->at[0].text, &text, err) : 0;
	if (filled > 0 && problem_parse((struct text){ text.p, text.n }, p, err))
		filled = -1;
	arena_return(x->call->arena, mark);
	str_free(&text);
	return filled < 0 ? op_own_wrong(x->own->given, key, 0, err) : filled;
}

static bool is_empty(const struct op_call *c)
{
	for (int i = 0; i < c->output_count; i++)
		if (op_out(c, i) && op_count(op_out(c, i)) > 0)
			return false;
	return true;
}

/* Work and kernel are evaluated here too, since only this rule can report an error. */
int op_own_shape(struct op_call *c, struct error *err)
{
	const struct op_own_call x = { own_of(c->op), c };
	const struct op_own *own = x.own;
	struct problem p;
	double amount;
	if (c->output_count > own->output_count) {
		error_set(err, "the layer has %d outputs, %d given", c->output_count, own->output_count);
		return op_own_wrong(own->given, OP_OWN_OUTPUTS, 0, err);
	}
	for (int i = 0; i < c->output_count; i++)
		if (output_shape(&x, i, &c->outputs[i], err))
			return op_own_wrong(own->given, OP_OWN_OUTPUTS, i, err);
	for (int i = 0; i < own->given->keys[OP_OWN_TYPES].count && i < c->output_count; i++)
		if (!own->types[i].dtype && !op_in(c, own->types[i].input)) {
			error_set(err, "x%d is left out", own->types[i].input);
			return op_own_wrong(own->given, OP_OWN_TYPES, i, err);
		}
	return amount_of(&x, OP_OWN_FLOPS, &amount, err) || amount_of(&x, OP_OWN_BYTES, &amount, err) ||
		(!is_empty(c) && kernel_of(&x, &p, err) < 0) ? -1 : 0;
}

/* ---- costs and problems */

void op_own_cost(const struct op_call *c, struct op_cost *cost)
{
	const struct op_own_call x = { own_of(c->op), c };
	const struct op_own_values *given = x.own->given->keys;
	struct problem p;
	struct error err;
	if (amount_of(&x, OP_OWN_FLOPS, &cost->flops, &err) ||
		amount_of(&x, OP_OWN_BYTES, &cost->bytes, &err))
		return;
	if (!given[OP_OWN_FLOPS].count && given[OP_OWN_KERNEL].count && kernel_of(&x, &p, &err) > 0)
		cost->flops = problem_flops(&p);
	if (!given[OP_OWN_BYTES].count)
		cost->bytes = op_bytes_all(c);
}

/* Without a kernel and a time it is measured as a copy of its bytes. */
void op_own_problem(const struct op_call *c, struct op_problem *out)
{
	const struct op_own_call x = { own_of(c->op), c };
	const struct op_own_values *given = x.own->given->keys;
	struct error err;
	double bytes;
	bool kernel = given[kernel_key(x.own)].count > 0;
	int found = kernel_of(&x, &out->problem, &err);
	if (found > 0) {
		out->known = true;
		out->proxy = kernel_key(x.own) == OP_OWN_PROXY;
	} else if (found < 0)
		op_problem_why(out, arena_printf(c->arena, "%s", err.text));
	else if (kernel)
		op_problem_why(out, "a size or type of its kernel is not known");
	else if (given[OP_OWN_TIME].count)
		op_problem_why(out, arena_printf(c->arena, "only a time is given: %s", x.own->place));
	else if (!amount_of(&x, OP_OWN_BYTES, &bytes, &err) && bytes == 0)
		op_problem_why(
			out, "its bytes are 0: there is nothing to measure; class: free takes no time");
	else
		op_problem_mover(c, out);
}

/* ---- kernels' texts */

/* type(NAME): the operand, "f32.c" */
static int fill_type(const struct op_own_call *x, struct text name, struct str *out, struct error *err)
{
	bool output = false;
	int index = 0, found = op_own_value(x->own, name, &output, &index, err);
	if (found <= 0)
		return found ? -1 : error_set(err, "%.*s is neither an input nor an "
			"output", shown(name), name.p);
	if (!x->call)
		return 0;
	const struct op_value *v = output ? op_out(x->call, index) : op_in(x->call, index);
	if (!v)
		return error_set(err, "%.*s is left out", shown(name), name.p);
	struct operand operand = op_operand(v);
	str_puts(out, dtype_name(operand.dtype));
	str_puts(out, operand.constant ? ".c" : "");
	return operand.dtype != DTYPE_UNKNOWN;
}

static int fill_number(struct arena *a, struct computed one, struct str *out, struct error *err)
{
	struct dim d;
	if (expression_whole(a, &one, &d, err))
		return -1;
	str_add_int(out, d.kind == DIM_KNOWN ? d.value : 0);
	return d.kind == DIM_KNOWN;
}

/* A number, or a list as a shape: "1x64x56x56", of a scalar "1". */
static int fill_value(const struct op_own_call *x, struct arena *a, struct text t, struct str *out,
	struct error *err)
{
	struct computed v;
	if (expression_read(a, t, op_own_name, x, &v, err))
		return -1;
	if (v.kind != EXPRESSION_LIST)
		return fill_number(a, v, out, err);
	int known = v.count >= 0;
	for (int i = 0; i < v.count && known > 0; i++) {
		str_puts(out, i ? "x" : "");
		known = fill_number(a, (struct computed){ .number = v.items[i], .by = v.by }, out, err);
	}
	str_puts(out, v.count ? "" : "1");
	return known;
}

int op_own_fill(const struct op_own_call *x, struct arena *a, struct text kernel, struct str *out,
	struct error *err)
{
	int all = 1;
	for (const char *p = kernel.p, *end = p + kernel.n; p < end;) {
		const char *open = memchr(p, '{', (size_t)(end - p));
		str_add(out, p, (size_t)((open ? open : end) - p));
		if (!open)
			break;
		const char *close = memchr(open, '}', (size_t)(end - open));
		if (!close)
			return error_set(err, "a { without }");
		struct text t = { open + 1, (size_t)(close - open - 1) }, type = TEXT("type(");
		bool is_type = t.n > type.n && memcmp(t.p, type.p, type.n) == 0 && t.p[t.n - 1] == ')';
		struct text of = is_type ? (struct text){ t.p + type.n, t.n - type.n - 1 } : t;
		int known = is_type ? fill_type(x, of, out, err) : fill_value(x, a, of, out, err);
		if (known < 0)
			return error_context(err, "{%.*s}", shown(t), t.p);
		all &= known;
		p = close + 1;
	}
	return all;
}
