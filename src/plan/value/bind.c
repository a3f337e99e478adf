/* Symbols of the model and what they are bound to. */
#include "config.h"

#include "plan/plan_private.h"
#include "problem/expression.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAMES_SHOWN 8

static struct plan_symbol *symbol_find(const struct plan_symbols *s, struct text name)
{
	int64_t i = hash_find(&s->by_name, name);
	return i < 0 ? NULL : &s->at[i];
}

static struct plan_symbol *symbol_add(struct plan_symbols *s, struct dim d)
{
	int64_t *at = hash_at(&s->by_name, dim_expression(d));
	if (*at < 0) {
		VEC_GROW(s->at, s->count, s->capacity);
		*at = s->count;
		s->at[s->count++] = (struct plan_symbol){ .name = dim_expression(d), .dim = d };
	}
	return &s->at[*at];
}

static bool name_ends_in_number(const char *after)
{
	size_t n = strspn(after, "0123456789");
	return n > 0 && after[n] == '\0';
}

static bool name_copy(struct text name, char copy[64])
{
	if (name.n >= 64 || memchr(name.p, '\0', name.n))
		return false;
	memcpy(copy, name.p, name.n);
	copy[name.n] = '\0';
	return true;
}

/* True if the name ends in "batch", or in that and "size", "dim", "axis" or a number, with any separators:
 * "batch", "BatchSize", "text_batch_size", "batch_1"; not "batch_size_plus_1", "batch*sequence". */
static bool name_is_batch(struct text name)
{
	static const char *const after[] = { "", "size", "-size", "dim", "axis" };
	static const char separators[] = "_. ";
	char copy[64];
	if (!name_copy(name, copy))
		return false;
	const char *exported = strstr(copy, "_dynamic_axes_");
	if (exported)
		return strcmp(exported, "_dynamic_axes_1") == 0;
	const char *batch = strcasestr(copy, "batch");
	if (!batch || strpbrk(copy, "+*/("))
		return false;
	batch += strlen("batch");
	batch += strspn(batch, separators);
	for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++) {
		if (strncasecmp(batch, after[i], strlen(after[i])) != 0)
			continue;
		const char *number = batch + strlen(after[i]);
		number += strspn(number, separators);
		if (number[strspn(number, "0123456789")] == '\0')
			return true;
	}
	return false;
}

/* True if the name is a short one for a batch. Other dimensions have such names, too: N of a matrix M x N, B
 * of boxes. */
static bool name_is_short(struct text name)
{
	static const char *const shorts[] = { "n", "b", "bs" };
	for (size_t i = 0; i < sizeof(shorts) / sizeof(shorts[0]); i++) {
		if (name.n == strlen(shorts[i]) && strncasecmp(name.p, shorts[i], name.n) == 0)
			return true;
	}
	return false;
}

/* True for the names that tf2onnx, PyTorch's newer exporter and Paddle2ONNX give to nameless dimensions: a
 * prefix and a number. */
static bool name_is_made_up(struct text name)
{
	static const char *const before[] = { "unk__", "s", "DynamicDimension.", "p2o.DynamicDimension." };
	char copy[64];
	bool found = false;
	if (!name_copy(name, copy))
		return false;
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		size_t n = strlen(before[i]);
		found |= strncmp(copy, before[i], n) == 0 && name_ends_in_number(copy + n);
	}
	return found;
}

/* The input whose first dimension is the batch: the first with at least two dimensions, else the first with
 * one. */
static const struct value *batch_input(const struct graph *g)
{
	const struct value *vector = NULL;
	for (int i = 0; i < g->input_count; i++) {
		const struct value *v = &g->values[g->inputs[i]];
		if (v->kind == VALUE_TENSOR && v->shape.rank >= 2)
			return v;
		if (v->kind == VALUE_TENSOR && v->shape.rank == 1 && !vector)
			vector = v;
	}
	return vector;
}

static void symbols_collect(struct builder *b)
{
	struct plan_symbols *s = &b->symbols;
	s->first = batch_input(b->g);
	for (int i = 0; i < b->g->input_count; i++) {
		const struct value *v = &b->g->values[b->g->inputs[i]];
		for (int j = 0; j < v->shape.rank; j++) {
			if (v->shape.dims[j].kind != DIM_SYMBOLIC)
				continue;
			struct plan_symbol *symbol = symbol_add(s, v->shape.dims[j]);
			symbol->in_input = true;
			/* A vector's length may be that of a text or a sound, so short names do not count. */
			symbol->batch |= j == 0 &&
				(name_is_batch(symbol->name) ||
					(v == s->first && name_is_short(symbol->name)) ||
					(v->shape.rank > 1 && name_is_made_up(symbol->name)));
		}
	}
	for (int i = 0; i < b->g->value_count; i++) {
		const struct value *v = &b->g->values[i];
		for (int j = 0; j < v->shape.rank; j++) {
			if (v->shape.dims[j].kind == DIM_SYMBOLIC)
				symbol_add(s, v->shape.dims[j]);
		}
	}
}

/* ---- names that are expressions of other symbols and numbers */

/* The dimension of a symbol of the model's inputs that is not an expression itself; else unknown. */
static struct dim symbol_dim(const void *with, struct text name)
{
	const struct plan_symbol *symbol = symbol_find(with, name);
	return symbol && symbol->in_input && !symbol->derived ? symbol->dim : dim_unknown();
}

static bool name_has_operator(struct text name)
{
	for (size_t i = 0; i < name.n; i++) {
		if (memchr("+-*/(", name.p[i], 5))
			return name.n <= 128; /* longer names are not expressions; this keeps the work linear
					         */
	}
	return false;
}

/* Marks all expressions first, so that no expression refers to another, and then evaluates them. */
static void symbols_derive(struct builder *b)
{
	struct plan_symbols *s = &b->symbols;
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < s->count; i++) {
			struct plan_symbol *symbol = &s->at[i];
			if (symbol->bound || !name_has_operator(symbol->name))
				continue;
			struct dim d = expression_dim(&b->p->arena, symbol->name, symbol_dim, s);
			if (d.kind == DIM_UNKNOWN)
				continue;
			symbol->derived = true;
			if (pass == 1)
				symbol->dim = d;
		}
	}
}

/* A name that is looked for in an expression. */
struct part {
	struct arena *a;
	struct text name;
	bool *found;
};

static struct dim part_dim(const void *with, struct text name)
{
	const struct part *p = with;
	*p->found |= text_equal(name, p->name);
	return dim_symbol(p->a, name);
}

/* The symbol of a name that occurs in the inputs' shapes only as a part of expressions, "n" of "2*n"; NULL:
 * it does not. */
static struct plan_symbol *symbol_within(struct builder *b, struct text name)
{
	struct plan_symbols *s = &b->symbols;
	for (int i = 0; i < s->count; i++) {
		bool found = false;
		const struct part part = { &b->p->arena, name, &found };
		if (!s->at[i].in_input || !name_has_operator(s->at[i].name) ||
			expression_dim(&b->p->arena, s->at[i].name, part_dim, &part).kind == DIM_UNKNOWN ||
			!found)
			continue;
		struct plan_symbol *symbol = symbol_add(s, dim_symbol(&b->p->arena, name));
		symbol->in_input = true;
		return symbol;
	}
	return NULL;
}

/* ---- bindings */

static int size_check(int64_t value, struct text name, struct arena *a, struct error *err)
{
	if (value < 0 || value > PLAN_SIZE_MAX)
		return error_set(err, "dimension %s: %lld is out of range 0..%lld", text_clean(a, name),
			(long long)value, (long long)PLAN_SIZE_MAX);
	return 0;
}

/* Adds the nth existing name to the list in an error; only the first few are listed. */
static void name_list(struct builder *b, struct str *to, int nth, struct text name)
{
	if (nth == NAMES_SHOWN)
		str_addf(to, " ...");
	else
		str_addf(to, "%s%s", nth ? ", " : "", text_clean(&b->p->arena, name));
}

static int binding_unknown(struct builder *b, struct text name, struct error *err)
{
	struct plan_symbols *s = &b->symbols;
	struct str known = { 0 };
	int named = 0;
	for (int i = 0; i < s->count && named <= NAMES_SHOWN; i++) {
		if (s->at[i].in_input && !s->at[i].derived)
			name_list(b, &known, named++, s->at[i].name);
	}
	error_set(err, "the model has no dimension %s; it has %s", text_clean(&b->p->arena, name),
		named ? known.p : "only fixed ones (batch stands for the first)");
	str_free(&known);
	return -1;
}

/* Applies --dim and the sidecar's bindings. *batch: the value of a binding called "batch" if no symbol has
 * that name. */
static int bindings_apply(struct builder *b, int64_t *batch, struct error *err)
{
	for (int i = 0; i < b->o->binding_count; i++) {
		const struct dim_binding *given = &b->o->bindings[i];
		struct plan_symbol *symbol = symbol_find(&b->symbols, given->name);
		if (size_check(given->value, given->name, &b->p->arena, err))
			return -1;
		if (!symbol || !symbol->in_input) {
			struct plan_symbol *part = symbol_within(b, given->name);
			symbol = part ? part : symbol;
		}
		if (symbol) {
			symbol->bound = true;
			symbol->value = given->value;
		} else if (text_is(given->name, "batch")) {
			*batch = given->value;
		} else {
			return binding_unknown(b, given->name, err);
		}
	}
	return 0;
}

static const struct value *input_find(const struct graph *g, struct text name)
{
	for (int i = 0; i < g->input_count; i++) {
		if (text_equal(g->values[g->inputs[i]].name, name))
			return &g->values[g->inputs[i]];
	}
	return NULL;
}

static int shape_dim_apply(
	struct builder *b, struct dim declared, int64_t size, const char *input, struct error *err)
{
	if (declared.kind == DIM_KNOWN && declared.value != size)
		b->symbols.resized = true;
	if (declared.kind != DIM_SYMBOLIC)
		return 0;
	struct plan_symbol *symbol = symbol_find(&b->symbols, dim_expression(declared));
	if (symbol->by_shape && symbol->value != size)
		return error_set(err, "input %s: dimension %s is %lld here and %lld in another input", input,
			text_clean(&b->p->arena, symbol->name), (long long)size, (long long)symbol->value);
	symbol->bound = symbol->by_shape = true;
	symbol->value = size;
	return 0;
}

int input_unknown(struct builder *b, struct text name, struct error *err)
{
	struct str known = { 0 };
	for (int i = 0; i < b->g->input_count && i <= NAMES_SHOWN; i++)
		name_list(b, &known, i, b->g->values[b->g->inputs[i]].name);
	error_set(err, "the model has no input %s; it has %s", text_clean(&b->p->arena, name),
		b->g->input_count ? known.p : "none");
	str_free(&known);
	return -1;
}

/* Applies --input: binds the symbols in these shapes. bind_input replaces the fixed sizes. */
static int shapes_apply(struct builder *b, struct error *err)
{
	for (int i = 0; i < b->o->shape_count; i++) {
		const struct plan_input_shape *given = &b->o->shapes[i];
		const struct value *v = input_find(b->g, given->name);
		const char *name = text_clean(&b->p->arena, given->name);
		if (!v)
			return input_unknown(b, given->name, err);
		if (given->rank < 0 || given->rank > PROBLEM_RANK)
			return error_set(err,
				"input %s: %d dimensions are given, more than %d", name, given->rank,
				PROBLEM_RANK);
		if (v->shape.rank >= 0 && v->shape.rank != given->rank)
			return error_set(
				err, "input %s has %d dimensions, not %d", name, v->shape.rank, given->rank);
		for (int j = 0; j < given->rank; j++) {
			if (size_check(given->dims[j], given->name, &b->p->arena, err))
				return -1;
			struct dim d = v->shape.rank < 0 ? dim_unknown() : v->shape.dims[j];
			if (shape_dim_apply(b, d, given->dims[j], name, err))
				return -1;
		}
	}
	return 0;
}

/* ---- the batch */

static const struct plan_input_shape *shape_given(const struct plan_options *o, struct text name)
{
	for (int i = 0; i < o->shape_count; i++) {
		if (text_equal(o->shapes[i].name, name))
			return &o->shapes[i];
	}
	return NULL;
}

/* Binds every symbol that is a batch. Returns false without such a symbol. given 0: sets those without a
 * binding to the guess. */
static bool batch_bind(struct plan_symbols *s, int64_t given, struct guess *guess)
{
	bool any = false;
	for (int i = 0; i < s->count; i++) {
		struct plan_symbol *symbol = &s->at[i];
		if (!symbol->batch || symbol->derived)
			continue;
		any = true;
		if (symbol->by_shape || (symbol->bound && given == 0))
			continue;
		guess->made |= given == 0;
		symbol->guessed = given == 0;
		symbol->by_batch = given != 0;
		symbol->value = given ? given : guess->batch;
		symbol->bound = symbol->value != 0;
	}
	return any;
}

/* The first dimension that --input gives to an input, or 0. */
static int64_t shape_first(const struct plan_options *o, const struct value *v)
{
	const struct plan_input_shape *given = shape_given(o, v->name);
	return given && given->rank > 0 ? given->dims[0] : 0;
}

static int batch_apply(struct builder *b, int64_t given, struct error *err)
{
	struct plan_symbols *s = &b->symbols;
	const struct value *first = s->first;
	s->batch.was = -1;
	if (given < 0 || given > INT32_MAX)
		return error_set(err, "batch %lld is out of range", (long long)given);
	if (batch_bind(s, given, b->guess))
		return 0;
	if (!first)
		return given ? error_set(err, "batch: no input of the model has a first dimension") : 0;
	struct dim d = first->shape.dims[0];
	if (d.kind == DIM_SYMBOLIC) {
		struct plan_symbol *symbol = symbol_find(s, dim_expression(d));
		if (given && !symbol->by_shape) {
			symbol->bound = symbol->by_batch = true;
			symbol->value = given;
		}
		return 0;
	}
	s->batch.was = d.kind == DIM_KNOWN ? d.value : 0;
	s->batch.is = given;
	if (d.kind == DIM_KNOWN) {
		s->batch.is = given == d.value ? 0 : given;
	} else if (!given) {
		s->batch.is = shape_first(b->o, first);
		b->guess->made |= !s->batch.is;
		s->batch.is = s->batch.is ? s->batch.is : b->guess->batch;
	}
	return 0;
}

int bind_symbols(struct builder *b, struct error *err)
{
	struct plan_symbols *s = &b->symbols;
	int64_t batch = 0;
	symbols_collect(b);
	if (bindings_apply(b, &batch, err))
		return -1;
	s->batch.named = batch != 0;
	if (shapes_apply(b, err))
		return error_context(err, "--input");
	if (batch_apply(b, b->o->batch ? b->o->batch : batch, err))
		return -1;
	for (int i = 0; i < s->count; i++) {
		if (s->at[i].bound)
			s->at[i].dim = dim_known(s->at[i].value);
	}
	symbols_derive(b);
	return given_check_all(b, err) ? error_context(err, "--value") : 0;
}

struct dim bind_dim(const struct builder *b, struct dim d)
{
	if (d.kind != DIM_SYMBOLIC)
		return d;
	const struct plan_symbol *symbol = symbol_find(&b->top->symbols, dim_expression(d));
	/* A symbol that only a body declares may have a different value in each iteration, so it stays
	 * unknown. */
	if (b->up && (!symbol || !(symbol->in_input || symbol->bound || symbol->derived)))
		return dim_unknown();
	return symbol ? symbol->dim : d;
}

bool bind_is_stale(const struct builder *b)
{
	const struct plan_symbols *s = &b->top->symbols;
	return s->resized || (s->batch.is > 0 && s->batch.was > 0);
}

struct shape bind_input(struct builder *b, const struct value *v)
{
	const struct plan_batch *batch = &b->symbols.batch;
	const struct plan_input_shape *given = shape_given(b->o, v->name);
	if (given)
		return shape_known(&b->p->arena, given->rank, given->dims);
	if (v->shape.rank < 0)
		return SHAPE_UNKNOWN;
	struct shape s = shape_make(&b->p->arena, v->shape.rank);
	for (int i = 0; i < s.rank; i++)
		s.dims[i] = bind_dim(b, v->shape.dims[i]);
	if (batch->is > 0 && s.rank > 0 && v->kind == VALUE_TENSOR) {
		struct dim d = v->shape.dims[0];
		bool vector = s.rank == 1 && v != b->symbols.first;
		if (d.kind == DIM_UNKNOWN ||
			(batch->was > 0 && d.kind == DIM_KNOWN && d.value == batch->was && !vector))
			s.dims[0] = dim_known(batch->is);
	}
	return s;
}

/* The batch in force: the first dimension of the first input. */
static int64_t batch_in_force(struct builder *b)
{
	const struct value *first = b->symbols.first;
	if (!first)
		return 0;
	struct dim d = bind_input(b, first).dims[0];
	return d.kind == DIM_KNOWN ? d.value : 0;
}

static enum plan_dim_source source_of(const struct builder *b, const struct plan_symbol *symbol)
{
	if (symbol->by_shape)
		return PLAN_DIM_SHAPE;
	if (symbol->guessed)
		return b->guess->why ? PLAN_DIM_FIXED : PLAN_DIM_ASSUMED;
	/* Without -b the batch comes from a binding called "batch". */
	return symbol->by_batch && b->o->batch ? PLAN_DIM_BATCH : PLAN_DIM_BINDING;
}

/* The source of a batch that is no symbol. */
static enum plan_dim_source batch_source(const struct builder *b)
{
	for (int i = 0; i < b->o->shape_count; i++)
		if (text_equal(b->o->shapes[i].name, b->symbols.first->name))
			return PLAN_DIM_SHAPE;
	if (b->o->batch)
		return PLAN_DIM_BATCH;
	if (b->symbols.batch.named)
		return PLAN_DIM_BINDING;
	return b->symbols.batch.was > 0 || b->guess->why ? PLAN_DIM_FIXED : PLAN_DIM_ASSUMED;
}

static void binding_add(struct plan *p, struct text name, int64_t value, enum plan_dim_source source)
{
	p->bindings[p->binding_count] = (struct dim_binding){ name, value };
	p->binding_sources[p->binding_count++] = source;
}

/* True if the symbol is the first dimension of the first input. */
static bool is_first_dim(const struct plan_symbols *s, const struct plan_symbol *symbol)
{
	struct dim d = s->first ? s->first->shape.dims[0] : dim_unknown();
	return d.kind == DIM_SYMBOLIC && text_equal(dim_expression(d), symbol->name);
}

void bind_report(struct builder *b)
{
	struct plan_symbols *s = &b->symbols;
	struct plan *p = b->p;
	p->bindings = ARENA_ARRAY(&p->arena, struct dim_binding, s->count + 1);
	p->binding_sources = ARENA_ARRAY(&p->arena, enum plan_dim_source, s->count + 1);
	p->unbound = ARENA_ARRAY(&p->arena, struct text, s->count);
	p->batch = batch_in_force(b);
	for (int i = 0; i < s->count; i++) {
		const struct plan_symbol *symbol = &s->at[i];
		if (symbol->bound)
			binding_add(p, symbol->name, symbol->value, source_of(b, symbol));
		else if (symbol->in_input && !symbol->derived)
			p->unbound[p->unbound_count++] = symbol->name;
		if (symbol->by_shape && (symbol->batch || is_first_dim(s, symbol)))
			p->shape_batch = symbol->value;
	}
	if (s->batch.was >= 0 && p->batch > 0) {
		binding_add(p, TEXT("batch"), p->batch, batch_source(b));
		if (batch_source(b) == PLAN_DIM_SHAPE)
			p->shape_batch = p->batch;
	}
}
