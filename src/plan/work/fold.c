/* The what-if fold: layers that graph optimizers remove before a model runs, and that plans still price: they
 * return an input unchanged, undo the layer before them, compute what another layer computes, or are read by
 * nobody. Layers that a plan never prices (constant inputs, a Reshape) have their reason here too.
 * Linear in the number of layers and their inputs. */
#include "config.h"

#include "plan/plan_private.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

struct folder {
	struct plan *p;
	int *stands_for;       /* per value: the value that has its contents; itself: no other is known */
	bool *needed;          /* per value: read by a layer that is not folded, or a model output */
	struct hash constants; /* contents of small constants -> value */
	int *reader;           /* per value that others stand for: the first plain layer whose first input
				  it is, NOBODY, or SEVERAL, which are in `layers`; one more for layers
				  without a first input */
	struct hash layers;    /* what a layer computes -> layer */
	struct arena keys;
};

#define CONTENTS_MAX 16 /* elements of constants that are compared */
enum { NOBODY = -1, SEVERAL = -2 };

/* ---- layers that cost nothing in every scenario */

static bool all_constant(const struct plan *p, const int *values, int count)
{
	for (int i = 0; i < count; i++)
		if (values[i] >= 0 && !p->values[values[i]].constant)
			return false;
	return true;
}

static bool is_empty(const struct plan *p, const struct plan_layer *l)
{
	for (int i = 0; i < l->output_count; i++)
		if (l->outputs[i] >= 0 && shape_count(p->values[l->outputs[i]].shape) == 0)
			return true;
	return false;
}

static enum plan_fold free_fold(const struct plan *p, const struct plan_layer *l)
{
	if (l->absorbed_by >= 0)
		return FOLD_NONE; /* another kernel does its work */
	if (all_constant(p, l->outputs, l->output_count))
		return all_constant(p, l->inputs, l->input_count) && !l->capture_count ? FOLD_CONSTANT :
			FOLD_KNOWN;
	return is_empty(p, l) ? FOLD_EMPTY : FOLD_PASSES;
}

/* ---- layers that the what-if folds */

/* True for a layer whose outputs depend on its inputs and attributes only, and that runs as one kernel. */
static bool is_plain(const struct plan_layer *l)
{
	if (plan_layer_has(l, OP_RANDOM) && l->class != CLASS_FREE)
		return false;
	return plan_layer_is_onnx(l) && l->class != CLASS_HOST && l->class != CLASS_UNKNOWN &&
		!l->body_count && !l->quantized && l->absorbed_by < 0 && l->output_count > 0;
}

static bool is_full_of(const struct plan *p, int value, double number)
{
	const struct plan_value *v = value >= 0 ? &p->values[value] : NULL;
	const struct elements *e = v && v->constant ? v->elements : NULL;
	for (int i = 0; e && i < e->count; i++)
		if (e->i ? e->i[i].kind != DIM_KNOWN || (double)e->i[i].value != number : e->f[i] != number)
			return false; /* NaN, unknown, is not a number */
	return e && e->count > 0;
}

/* True if the layer's only output has the type and shape of the value. */
static bool is_like_output(const struct plan *p, const struct plan_layer *l, int value)
{
	const struct plan_value *from = value >= 0 ? &p->values[value] : NULL;
	const struct plan_value *to = l->output_count == 1 && l->outputs[0] >= 0 ?
		&p->values[l->outputs[0]] : NULL;
	return from && to && from->kind == VALUE_TENSOR && to->kind == VALUE_TENSOR &&
		from->dtype == to->dtype && shape_is_known(from->shape) && shape_same(from->shape, to->shape);
}

/* The input that the layer returns unchanged, or -1. */
static int unchanged_input(const struct plan *p, const struct plan_layer *l)
{
	static const struct {
		const char *op;
		int constant, kept; /* inputs; the kept one is returned if all elements of the other are: */
		double number;
	} rows[] = { { "Add", 1, 0, 0 }, { "Add", 0, 1, 0 }, { "Sub", 1, 0, 0 }, { "Mul", 1, 0, 1 },
		{ "Mul", 0, 1, 1 }, { "Div", 1, 0, 1 }, { "Pow", 1, 0, 1 }, { "And", 1, 0, 1 },
		{ "And", 0, 1, 1 }, { "Or", 1, 0, 0 }, { "Or", 0, 1, 0 }, { "Xor", 1, 0, 0 },
		{ "Xor", 0, 1, 0 }, { "BitShift", 1, 0, 0 }, { "Where", 0, 1, 1 }, { "Where", 0, 2, 0 } };
	bool filled = false;
	for (int i = 0; i < l->input_count; i++)
		filled |= l->inputs[i] >= 0 && p->values[l->inputs[i]].constant;
	for (size_t i = 0; filled && i < sizeof(rows) / sizeof(rows[0]); i++) {
		int most = rows[i].constant > rows[i].kept ? rows[i].constant : rows[i].kept;
		if (plan_layer_is(l, rows[i].op) && l->input_count > most &&
			is_full_of(p, l->inputs[rows[i].constant], rows[i].number) &&
			is_like_output(p, l, l->inputs[rows[i].kept]))
			return l->inputs[rows[i].kept];
	}
	return -1;
}

/* True if every value of type `from` is one of type `to`. */
static bool is_wider(enum dtype from, enum dtype to)
{
	static const enum dtype floats[][3] = { { DTYPE_F16, DTYPE_F32, DTYPE_F64 },
		{ DTYPE_BF16, DTYPE_F32, DTYPE_F64 }, { DTYPE_F32, DTYPE_F64, DTYPE_F64 },
		{ DTYPE_S32, DTYPE_S64, DTYPE_F64 }, { DTYPE_S8, DTYPE_S32, DTYPE_F32 },
		{ DTYPE_U8, DTYPE_S32, DTYPE_F32 }, { DTYPE_BOOL, DTYPE_F32, DTYPE_S64 } };
	for (size_t i = 0; i < sizeof(floats) / sizeof(floats[0]); i++)
		if (from == floats[i][0] && (to == floats[i][1] || to == floats[i][2]))
			return true;
	return false;
}

static bool perms_cancel(const struct plan_layer *first, const struct plan_layer *second, int rank)
{
	const struct attribute *one = node_attribute(first->node, "perm"),
			       *two = node_attribute(second->node, "perm");
	if ((one && (one->kind != ATTRIBUTE_INTS || one->count != (size_t)rank)) ||
		(two && (two->kind != ATTRIBUTE_INTS || two->count != (size_t)rank)))
		return false;
	for (int i = 0; i < rank; i++) {
		int64_t at = two ? two->ints[i] : rank - 1 - i;
		if (at < 0 || at >= rank || (one ? one->ints[at] : rank - 1 - at) != i)
			return false;
	}
	return true;
}

/* The value before a Transpose or Cast that this layer undoes, or -1; *of: that layer. */
static int undone_input(const struct plan *p, const struct plan_layer *l, int *of)
{
	bool transposes = plan_layer_is(l, "Transpose");
	if ((!transposes && !plan_layer_is(l, "Cast")) || l->input_count < 1 || l->inputs[0] < 0)
		return -1;
	const struct plan_value *middle = &p->values[l->inputs[0]], *from;
	const struct plan_layer *before =
		middle->producer >= 0 && !middle->constant ? &p->layers[middle->producer] : NULL;
	if (!before || !plan_layer_is(before, l->op->name) || !is_plain(before) || before->input_count < 1 ||
		!is_like_output(p, l, before->inputs[0]))
		return -1;
	from = &p->values[before->inputs[0]];
	*of = middle->producer;
	bool undone = transposes ? perms_cancel(before, l, from->shape.rank)
				 : is_wider(from->dtype, middle->dtype);
	return undone ? before->inputs[0] : -1;
}

/* ---- layers that compute the same */

static void key_number(struct str *key, int64_t number)
{
	str_add(key, (const char *)&number, sizeof(number));
}

static void key_bytes(struct str *key, const void *bytes, size_t n)
{
	key_number(key, (int64_t)n);
	if (n)
		str_add(key, bytes, n);
}

/* False: the attribute cannot be compared. */
static bool key_attribute(struct str *key, const struct attribute *a)
{
	key_bytes(key, a->name.p, a->name.n);
	key_number(key, a->kind);
	switch (a->kind) {
	case ATTRIBUTE_INT: key_number(key, a->i); return true;
	case ATTRIBUTE_FLOAT: key_bytes(key, &a->f, sizeof(a->f)); return true;
	case ATTRIBUTE_STRING: key_bytes(key, a->s.p, a->s.n); return true;
	case ATTRIBUTE_INTS: key_bytes(key, a->ints, a->count * sizeof(*a->ints)); return true;
	case ATTRIBUTE_FLOATS: key_bytes(key, a->floats, a->count * sizeof(*a->floats)); return true;
	case ATTRIBUTE_NONE:
	case ATTRIBUTE_TENSOR:
	case ATTRIBUTE_GRAPH:
	case ATTRIBUTE_STRINGS:
	case ATTRIBUTE_TYPE:
	case ATTRIBUTE_OTHER: break;
	}
	return false;
}

/* What the layer computes, as bytes; false: it cannot be compared with others. */
static bool key_layer(const struct folder *f, const struct plan_layer *l, struct str *key)
{
	str_clear(key);
	str_puts(key, l->op->name);
	key_number(key, l->node->opset);
	key_number(key, l->output_count);
	for (int i = 0; i < l->output_count; i++)
		key_number(key, l->outputs[i] < 0 ? -1 : (int64_t)f->p->values[l->outputs[i]].dtype);
	for (int i = 0; i < l->input_count; i++)
		key_number(key, l->inputs[i] < 0 ? -1 : f->stands_for[l->inputs[i]]);
	for (int i = 0; i < l->node->attribute_count; i++)
		if (!key_attribute(key, &l->node->attributes[i]))
			return false;
	return true;
}

static int64_t *entry(struct folder *f, struct hash *h, const struct str *key)
{
	if (hash_find(h, (struct text){ key->p, key->n }) >= 0)
		return hash_at(h, (struct text){ key->p, key->n });
	return hash_at(h, (struct text){ arena_strndup(&f->keys, key->p, key->n), key->n });
}

/* The first constant with the same type, shape and contents. Only small ones with known contents are
 * compared: weights are left in the file. */
static int first_constant(struct folder *f, int value, struct str *key)
{
	const struct plan_value *v = &f->p->values[value];
	const struct elements *e = v->elements;
	if (!v->constant || !e || e->count > CONTENTS_MAX || !shape_is_known(v->shape))
		return value;
	str_clear(key);
	key_number(key, v->dtype);
	for (int i = 0; i < v->shape.rank; i++)
		key_number(key, v->shape.dims[i].value);
	key_number(key, -1);
	for (int i = 0; i < e->count; i++) {
		if (e->i ? e->i[i].kind != DIM_KNOWN : e->f[i] != e->f[i])
			return value;
		key_bytes(key, e->i ? (const void *)&e->i[i].value : (const void *)&e->f[i], 8);
	}
	int64_t *known = entry(f, &f->constants, key);
	*known = *known < 0 ? value : *known;
	return (int)*known;
}

/* The first layer that computes the same; the layer itself if it is the first. */
static int first_layer(struct folder *f, const struct plan_layer *l, struct str *key)
{
	if (!key_layer(f, l, key))
		return l->index;
	int64_t *known = entry(f, &f->layers, key);
	*known = *known < 0 ? l->index : *known;
	return (int)*known;
}

/* An earlier plain layer that computes the same as this one, or -1. Layers that compute the same have the
 * same first input, so a layer is only compared once its first input has another reader, as few have. */
static int same_layer(struct folder *f, const struct plan_layer *l, struct str *key)
{
	bool reads = l->input_count > 0 && l->inputs[0] >= 0;
	int *reader = &f->reader[reads ? f->stands_for[l->inputs[0]] : f->p->value_count];
	if (*reader == NOBODY) {
		*reader = l->index;
		return -1;
	}
	if (*reader != SEVERAL)
		first_layer(f, &f->p->layers[*reader], key);
	*reader = SEVERAL;
	int first = first_layer(f, l, key);
	return first == l->index ? -1 : first;
}

/* ---- the search */

static bool has_output(const struct plan *p, const struct plan_layer *l)
{
	for (int i = 0; i < l->output_count; i++)
		if (l->outputs[i] >= 0 && p->values[l->outputs[i]].is_output)
			return true;
	return false;
}

/* A model output keeps its name: a layer that makes one is folded only if the layer before it can make it. */
static bool may_return(const struct plan *p, const struct plan_layer *l, int value)
{
	const struct plan_value *v = &p->values[value];
	return !has_output(p, l) || (v->producer >= 0 && !v->constant && !v->is_output);
}

static void put(struct folder *f, struct plan_layer *l, enum plan_fold fold, int of, int value)
{
	l->fold = fold;
	l->fold_of = of;
	l->fold_value = value;
	f->p->fold_count++;
}

static void find_fold(struct folder *f, struct plan_layer *l, struct str *key)
{
	struct plan *p = f->p;
	bool plain = is_plain(l), runs = l->class != CLASS_FREE;
	int of = -1, value = plain && runs ? unchanged_input(p, l) : -1;
	for (int i = 0; i < l->input_count; i++)
		if (l->inputs[i] >= 0 && p->values[l->inputs[i]].producer < 0)
			f->stands_for[l->inputs[i]] = first_constant(f, l->inputs[i], key);
	if (value >= 0 && may_return(p, l, value)) {
		put(f, l, FOLD_UNCHANGED, -1, value);
		f->stands_for[l->outputs[0]] = f->stands_for[value];
		return;
	}
	value = plain && runs ? undone_input(p, l, &of) : -1;
	if (value >= 0 && may_return(p, l, value)) {
		put(f, l, FOLD_UNDOES, of, value);
		f->stands_for[l->outputs[0]] = f->stands_for[value];
		return;
	}
	of = plain ? same_layer(f, l, key) : -1;
	if (of >= 0 && !has_output(p, l)) {
		if (runs)
			put(f, l, FOLD_SAME, of, -1);
		for (int i = 0; i < l->output_count; i++)
			if (l->outputs[i] >= 0 && p->layers[of].outputs[i] >= 0)
				f->stands_for[l->outputs[i]] = f->stands_for[p->layers[of].outputs[i]];
	}
	for (int i = 0; i < l->output_count; i++)
		if (l->outputs[i] >= 0 && p->values[l->outputs[i]].constant)
			f->stands_for[l->outputs[i]] = first_constant(f, l->outputs[i], key);
}

static void need(struct folder *f, int value)
{
	if (value >= 0)
		f->needed[value] = true;
}

/* From the last layer on: marks what is read, and folds layers whose results are not. */
static void find_unread(struct folder *f, struct plan_layer *l)
{
	struct plan *p = f->p;
	bool read = false, keeps = l->body_count || l->quantized || l->absorbed_by >= 0;
	for (int i = 0; i < l->output_count; i++)
		read |= l->outputs[i] >= 0 &&
			(f->needed[l->outputs[i]] || p->values[l->outputs[i]].is_output);
	if (l->fold == FOLD_CONSTANT || l->fold == FOLD_KNOWN) /* it reads nothing at run time */
		return;
	if (!read && !keeps) {
		if (l->class != CLASS_FREE && l->class != CLASS_UNKNOWN && !plan_layer_folds(l))
			put(f, l, FOLD_UNREAD, -1, -1);
		return;
	}
	if (l->fold == FOLD_SAME) {
		for (int i = 0; i < l->output_count; i++)
			need(f, p->layers[l->fold_of].outputs[i]);
		return;
	}
	if (plan_layer_folds(l)) {
		need(f, l->fold_value);
		return;
	}
	for (int i = 0; i < l->input_count; i++)
		need(f, l->inputs[i]);
	for (int i = 0; i < l->capture_count; i++)
		need(f, l->captures[i]);
}

static void free_folds(struct plan *p)
{
	for (int i = 0; i < p->layer_count; i++) {
		struct plan_layer *l = &p->layers[i];
		l->fold_of = l->fold_value = -1;
		if (l->class == CLASS_FREE)
			l->fold = free_fold(p, l);
		for (int k = 0; k < l->body_count; k++)
			free_folds(&l->bodies[k]);
	}
}

void plan_find_folds(struct plan *p)
{
	struct folder f = { .p = p,
		.stands_for = base_malloc(((size_t)p->value_count + 1) * sizeof(int)),
		.reader = base_malloc(((size_t)p->value_count + 1) * sizeof(int)),
		.needed = base_calloc((size_t)p->value_count + 1, sizeof(bool)) };
	struct str key = { 0 };
	free_folds(p);
	for (int i = 0; i <= p->value_count; i++) {
		f.stands_for[i] = i;
		f.reader[i] = NOBODY;
	}
	for (int i = 0; i < p->layer_count; i++)
		find_fold(&f, &p->layers[i], &key);
	for (int i = p->layer_count - 1; i >= 0; i--)
		find_unread(&f, &p->layers[i]);
	dag_folded_deaths(p);
	str_free(&key);
	hash_free(&f.constants);
	hash_free(&f.layers);
	arena_free(&f.keys);
	free(f.stands_for);
	free(f.reader);
	free(f.needed);
}

bool plan_layer_is_folded(const struct plan *p, const struct plan_layer *l)
{
	if (l->class != CLASS_FREE || l->output_count == 0)
		return false;
	for (int i = 0; i < l->output_count; i++) {
		const struct plan_value *v = l->outputs[i] >= 0 ? &p->values[l->outputs[i]] : NULL;
		if (v && (v->is_output || (!v->constant && !v->elements)))
			return false;
	}
	return true;
}

int plan_fold_target(const struct plan *p, const struct plan_layer *l)
{
	const struct plan_value *v = l->fold_value >= 0 ? &p->values[l->fold_value] : NULL;
	return l->fold == FOLD_SAME ? l->fold_of : v && !v->constant ? v->producer : -1;
}

const char *plan_fold_text(const struct plan *p, const struct plan_layer *l, struct arena *a)
{
	static const char *const texts[] = { [FOLD_CONSTANT] = "folded: constant inputs",
		[FOLD_KNOWN] = "folded: known from shapes", [FOLD_EMPTY] = "no elements",
		[FOLD_PASSES] = "no kernel: passes its data on",
		[FOLD_UNCHANGED] = "returns its input unchanged",
		[FOLD_UNREAD] = "nothing reads its result" };
	if (l->fold == FOLD_UNDOES || l->fold == FOLD_SAME)
		return arena_printf(a, "%s %s", l->fold == FOLD_SAME ? "computes the same as" : "undoes",
			text_clean(a, p->layers[l->fold_of].name));
	return texts[l->fold];
}
