/* The types in which a plan's layers run. A type of more than 8 bits replaces the model's own everywhere. One
 * of at most 8 bits (s8, fp8) is that of the products with weights, as in engines that quantize a model: what
 * such a matmul or convolution reads has it. Each other layer computes in plan.rest, and writes the few bits
 * where a product reads its result. */
#include "config.h"

#include "plan/quant/quant_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Counts the layers that run, by the type of their first output if it is a float: those of class compute, and
 * the others. */
static void types_count(const struct plan *p, int compute[DTYPE_COUNT], int others[DTYPE_COUNT])
{
	for (int i = 0; i < p->layer_count; i++) {
		const struct plan_layer *l = &p->layers[i];
		const struct plan_value *v =
			l->output_count && l->outputs[0] >= 0 ? &p->values[l->outputs[0]] : NULL;
		if (l->op && v && !v->constant && dtype_is_float(v->dtype))
			(l->op->class == CLASS_COMPUTE ? compute : others)[v->dtype]++;
		for (int j = 0; j < l->body_count; j++)
			types_count(&l->bodies[j], compute, others);
	}
}

/* Returns the most frequent type, DTYPE_UNKNOWN if nothing was counted. kinds: the number of types. */
static enum dtype type_frequent(const int counts[DTYPE_COUNT], int *kinds)
{
	enum dtype most = DTYPE_UNKNOWN;
	*kinds = 0;
	for (int t = DTYPE_UNKNOWN + 1; t < DTYPE_COUNT; t++) {
		*kinds += counts[t] > 0;
		if (counts[t] > counts[most])
			most = (enum dtype)t;
	}
	return most;
}

/* True for a type that the plan's type replaces. A few values in f64 have it for its range. */
static bool type_gives_way(const struct plan *p, enum dtype t)
{
	return t == DTYPE_F32 || t == DTYPE_F16 || t == DTYPE_BF16 || t == p->own;
}

/* ---- products of few bits */

bool plan_is_few(const struct plan *p)
{
	return !p->own_types && dtype_bits(p->dtype) <= 8;
}

const char *plan_types_text(const struct plan *p, char buf[PLAN_TYPES_SIZE])
{
	snprintf(buf, PLAN_TYPES_SIZE, "%s%s%s", plan_type_name(p), plan_is_few(p) ? ", rest " : "",
		plan_is_few(p) ? dtype_name(p->rest) : "");
	return buf;
}

/* A model of 16 bits keeps its type, and no product of 8 bits writes f64. */
enum dtype plan_rest(enum dtype own, enum dtype asked)
{
	enum dtype rest = asked && dtype_bits(asked) < dtype_bits(own) ? asked : own;
	return rest == DTYPE_F64 ? DTYPE_F32 : rest;
}

enum dtype plan_wide(const struct plan *p, const struct plan_value *v)
{
	return v->few ? p->rest : v->dtype;
}

/* Sets of values that have one type because layers only move data between them (union-find). */
struct few {
	struct plan *p;
	const struct plan *top;
	int *parent;    /* per value */
	bool *read;     /* per value, true of a set in its root: a product reads it */
	bool *kept;     /* the same: one of the set keeps its type */
};

static bool is_product(const struct plan *p, const struct plan_layer *l)
{
	return quant_kind(l) == QUANT_PRODUCT && l->input_count > 1 && l->inputs[0] >= 0 &&
		l->inputs[1] >= 0 && p->values[l->inputs[1]].constant;
}

static bool moves_data(const struct plan_layer *l)
{
	enum op_quant kind = quant_kind(l);
	return kind == QUANT_MOVER || kind == QUANT_LIST;
}

static int few_root(struct few *f, int v)
{
	while (f->parent[v] != v)
		v = f->parent[v] = f->parent[f->parent[v]];
	return v;
}

/* True of a value whose type the plan may replace. Constants are not among them: they are stored in the type
 * in which they are read. */
static bool few_takes(const struct few *f, int v)
{
	return v >= 0 && !f->p->values[v].constant && type_gives_way(f->top, f->p->values[v].dtype);
}

/* Joins the sets of these values with that of `first`, a root, or -1. Returns the root. */
static int few_join(struct few *f, int first, const int *values, int count)
{
	for (int i = 0; i < count; i++) {
		if (!few_takes(f, values[i]))
			continue;
		int v = few_root(f, values[i]);
		first = first < 0 ? v : first;
		f->parent[v] = first;
		f->kept[first] |= f->kept[v];
	}
	return first;
}

/* Values that a body shares with the layer around it keep its type. */
static void few_keep(struct few *f)
{
	const struct graph *g = f->p->graph;
	for (int i = 0; i < f->p->value_count; i++)
		f->kept[i] = f->p->values[i].outer >= 0;
	for (int i = 0; f->p != f->top && i < g->input_count; i++)
		f->kept[g->inputs[i]] = true;
	for (int i = 0; f->p != f->top && i < g->output_count; i++)
		f->kept[g->outputs[i]] = true;
}

static void few_take(struct plan *p, int v)
{
	p->values[v].dtype = p->dtype;
	p->values[v].few = true;
	p->values[v].elements = NULL; /* they are floats */
}

/* True if the layer reads this constant in few bits. */
static bool few_constant(const struct plan *p, const struct plan_layer *l, int input)
{
	int v = l->inputs[input];
	bool runs = is_product(p, l) ? input == 1 && p->values[l->inputs[0]].few
		: moves_data(l) && l->output_count && l->outputs[0] >= 0 && p->values[l->outputs[0]].few;
	return runs && v >= 0 && p->values[v].constant && p->values[v].kind == VALUE_TENSOR;
}

/* A constant that is read in few bits only is stored in them. Returns the number of those. */
static int few_constants(struct plan *p, const struct plan *top)
{
	int *readers = base_calloc((size_t)p->value_count + 1, sizeof(*readers)), replaced = 0;
	for (int i = 0; i < p->layer_count; i++) {
		const struct plan_layer *l = &p->layers[i];
		for (int j = 0; j < l->input_count; j++)
			if (l->inputs[j] >= 0 && readers[l->inputs[j]] >= 0)
				readers[l->inputs[j]] = few_constant(p, l, j) ? 1 : -1;
		for (int j = 0; j < l->capture_count; j++)
			readers[l->captures[j]] = -1;
	}
	for (int i = 0; i < p->value_count; i++)
		if (readers[i] > 0 && type_gives_way(top, p->values[i].dtype)) {
			few_take(p, i);
			replaced++;
		}
	free(readers);
	return replaced;
}

/* Gives what products read the plan's type. Returns the number of these values. */
static int few_replace(struct plan *p, const struct plan *top)
{
	size_t count = (size_t)p->value_count + 1;
	struct few f = { .p = p, .top = top, .parent = base_malloc(count * sizeof(int)),
		.read = base_calloc(count, 1), .kept = base_calloc(count, 1) };
	int replaced = 0;
	for (int i = 0; i < p->value_count; i++)
		f.parent[i] = i;
	few_keep(&f);
	for (int i = 0; i < p->layer_count; i++) {
		const struct plan_layer *l = &p->layers[i];
		if (moves_data(l))
			few_join(&f, few_join(&f, -1, l->inputs, l->input_count), l->outputs,
				l->output_count);
	}
	for (int i = 0; i < p->layer_count; i++)
		if (is_product(p, &p->layers[i]) && few_takes(&f, p->layers[i].inputs[0]))
			f.read[few_root(&f, p->layers[i].inputs[0])] = true;
	for (int i = 0; i < p->value_count; i++) {
		int root = few_root(&f, i);
		if (f.read[root] && !f.kept[root] && few_takes(&f, i)) {
			few_take(p, i);
			replaced++;
		}
	}
	free(f.parent);
	free(f.read);
	free(f.kept);
	return replaced + few_constants(p, top);
}

/* True if all tensors of the layer in floating point have few bits, and libraries have such kernels. */
static bool runs_in_few(const struct plan *p, const struct plan_layer *l)
{
	int few = 0, wide = 0;
	for (int i = 0; i < l->input_count + l->output_count; i++) {
		int v = i < l->input_count ? l->inputs[i] : l->outputs[i - l->input_count];
		few += v >= 0 && p->values[v].few;
		wide += v >= 0 && !p->values[v].few && p->values[v].dtype == p->rest;
	}
	return few && !wide && quant_kind(l) != QUANT_NONE;
}

bool types_call(const struct builder *b, const struct plan_layer *l)
{
	const struct plan *p = b->p;
	if (!plan_is_few(p))
		return false;
	bool product = is_product(p, l) && p->values[l->inputs[0]].few;
	bool few = product || moves_data(l) || runs_in_few(p, l);
	for (int i = 0; i < l->input_count; i++)
		if (few_constant(p, l, i) && type_gives_way(b->top->p, b->inputs[i].dtype)) {
			b->inputs[i].dtype = p->dtype;
			b->inputs[i].elements = NULL;
		} else if (!few && l->inputs[i] >= 0) {
			b->inputs[i].dtype = plan_wide(p, &p->values[l->inputs[i]]);
		}
	for (int i = 0; !few && i < l->output_count; i++)
		if (l->outputs[i] >= 0)
			b->outputs[i].dtype = plan_wide(p, &p->values[l->outputs[i]]);
	return product;
}

/* Gives the graph and its bodies the plan's type. Returns the number of values that have it instead of
 * another. */
static int types_replace(struct plan *p, const struct plan *top, const struct plan *up)
{
	int replaced = 0;
	p->dtype = top->dtype;
	p->rest = top->rest;
	p->own_types = top->own_types;
	bool few = plan_is_few(p);
	for (int i = 0; i < p->value_count && !p->own_types; i++) {
		enum dtype *t = &p->values[i].dtype;
		if (!type_gives_way(top, *t))
			continue;
		const struct plan_value *outer =
			few && up && p->values[i].outer >= 0 ? &up->values[p->values[i].outer] : NULL;
		enum dtype to = !few ? p->dtype : outer ? outer->dtype : p->rest;
		p->values[i].few = outer && outer->few;
		replaced += *t != to && !few;
		*t = to;
	}
	replaced += few ? few_replace(p, top) : 0;
	for (int i = 0; i < p->layer_count; i++)
		for (int j = 0; j < p->layers[i].body_count; j++)
			replaced += types_replace(&p->layers[i].bodies[j], top, p);
	return replaced;
}

/* The first layer of a quantized model, also in a body, or NULL. */
static const struct plan_layer *quantizer_find(const struct plan *p)
{
	static const char *const words[] = { "Quantize", "QLinear", "Integer", "QAttention", "QGemm" };
	const struct plan_layer *found = NULL;
	for (int i = 0; i < p->layer_count && !found; i++) {
		const struct plan_layer *l = &p->layers[i];
		for (size_t k = 0; k < sizeof(words) / sizeof(words[0]) && !found; k++)
			found = text_contains(l->node->op, text_of(words[k])) ? l : NULL;
		for (int j = 0; j < l->body_count && !found; j++)
			found = quantizer_find(&l->bodies[j]);
	}
	return found;
}

int types_settle(struct plan *p, enum dtype asked, enum dtype rest, struct error *err)
{
	int compute[DTYPE_COUNT] = { 0 }, others[DTYPE_COUNT] = { 0 }, kinds, other_kinds;
	types_count(p, compute, others);
	enum dtype own = type_frequent(compute, &kinds), other = type_frequent(others, &other_kinds);
	p->own = own ? own : other ? other : DTYPE_F32;
	p->own_types = !asked || (asked == p->own && kinds < 2);
	p->mixed = kinds > 1;
	p->dtype = p->own_types ? p->own : asked;
	bool few = plan_is_few(p);
	p->rest = few ? plan_rest(p->own, rest) : p->dtype;
	const struct plan_layer *quantizer = few ? quantizer_find(p) : NULL;
	if (quantizer)
		return error_set(err, "layer %s: the model is quantized already, so its products are not "
			"converted to %s: leave out the type", text_clean(&p->arena, quantizer->name),
			dtype_name(asked));
	if (types_replace(p, p, NULL) || p->own_types || !p->layer_count)
		return 0;
	if (!own && !other)
		return error_set(err, "no layer runs in a floating-point type: there is nothing to convert "
			"to %s", dtype_name(asked));
	return few ? error_set(err, "no Conv, ConvTranspose, MatMul or Gemm with constant weights runs in "
		"a floating-point type: leave out the type %s", dtype_name(asked)) : 0;
}
