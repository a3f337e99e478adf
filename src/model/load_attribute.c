/* Attributes of nodes: their kinds, those of function calls resolved, tensors and subgraphs in them. */
#include "config.h"

#include "model/load.h"

#include <string.h>

/* AttributeProto.AttributeType, and the number of the field with the value. */
struct attribute_row {
	int32_t type;
	unsigned field;
	enum attribute_kind kind;
};

static const struct attribute_row attribute_table[] = {
	{ 1, 2, ATTRIBUTE_FLOAT },
	{ 2, 3, ATTRIBUTE_INT },
	{ 3, 4, ATTRIBUTE_STRING },
	{ 4, 5, ATTRIBUTE_TENSOR },
	{ 11, 22, ATTRIBUTE_TENSOR },
	{ 5, 6, ATTRIBUTE_GRAPH },
	{ 13, 14, ATTRIBUTE_TYPE },
	{ 6, 7, ATTRIBUTE_FLOATS },
	{ 7, 8, ATTRIBUTE_INTS },
	{ 8, 9, ATTRIBUTE_STRINGS },
};

/* Early versions of the format have no type; it then follows from the field that is present. */
static int32_t attribute_type(const Onnx__AttributeProto *p)
{
	if (p->type != 0)
		return p->type;
	const struct {
		bool there;
		int32_t type;
	} fields[] = { { p->has_f, 1 }, { p->has_i, 2 }, { p->has_s, 3 }, { p->t, 4 }, { p->g, 5 },
		{ p->n_floats, 6 }, { p->n_ints, 7 }, { p->n_strings, 8 }, { p->sparse_tensor, 11 },
		{ p->tp, 13 } };
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].there)
			return fields[i].type;
	return 0;
}

static int load_attribute_tensor(struct loader *l, const Onnx__AttributeProto *p, struct attribute *a)
{
	if (!p->t && !p->sparse_tensor)
		return error_set(l->err, "attribute \"%s\" has no tensor", load_shown(l, a->name));
	a->tensor = ARENA_NEW(l->arena, struct tensor);
	return p->t ? load_tensor(l, p->t, a->tensor) : load_sparse_tensor(l, p->sparse_tensor, a->tensor);
}

static int load_attribute_graph(struct loader *l, struct scope *s, const struct frame *f,
	const Onnx__AttributeProto *p, struct attribute *a)
{
	if (!p->g)
		return error_set(l->err, "attribute \"%s\" has no graph", load_shown(l, a->name));
	a->graph = load_graph(l, p->g, s, f);
	return a->graph ? 0 : -1;
}

static void load_attribute_type(struct loader *l, const Onnx__AttributeProto *p, struct attribute *a)
{
	struct value *type = ARENA_NEW(l->arena, struct value);
	*type = (struct value){ .name = a->name, .producer = -1, .outer = -1, .shape = SHAPE_UNKNOWN };
	load_type(l, p->tp, type);
	a->type = type;
}

static void load_attribute_list(struct loader *l, const Onnx__AttributeProto *p, struct attribute *a)
{
	switch (a->kind) {
	case ATTRIBUTE_FLOATS:
		a->count = p->n_floats;
		a->floats = ARENA_ARRAY(l->arena, float, a->count);
		if (a->count)
			memcpy(a->floats, p->floats, a->count * sizeof(*a->floats));
		break;
	case ATTRIBUTE_INTS:
		a->count = p->n_ints;
		a->ints = ARENA_ARRAY(l->arena, int64_t, a->count);
		if (a->count)
			memcpy(a->ints, p->ints, a->count * sizeof(*a->ints));
		break;
	default:
		a->count = p->n_strings;
		a->strings = ARENA_ARRAY(l->arena, struct text, a->count);
		for (size_t i = 0; i < a->count; i++)
			a->strings[i] = load_text(l, p->strings[i]);
	}
}

/* p is the resolved attribute, as written in call f; a already has its name. */
static int load_attribute(struct loader *l, struct scope *s, const struct frame *f,
	const Onnx__AttributeProto *p, struct attribute *a)
{
	const struct attribute_row *row = NULL;
	int32_t type = attribute_type(p);
	for (size_t i = 0; i < sizeof(attribute_table) / sizeof(attribute_table[0]); i++)
		if (attribute_table[i].type == type)
			row = &attribute_table[i];
	a->kind = ATTRIBUTE_OTHER;
	if (p->ref_attr_name.len)
		load_warn(l,
			"attribute \"%s\" refers to attribute \"%s\" of a function, but is not in a function",
			load_shown(l, a->name), load_shown(l, load_view(p->ref_attr_name)));
	/* attributes that are too long, or that refer to a function's attribute, stay ATTRIBUTE_OTHER */
	if (!row || p->ref_attr_name.len || load_skipped_bytes(p->skipped, p->n_skipped, row->field))
		return 0;
	a->kind = row->kind;
	switch (row->kind) {
	case ATTRIBUTE_INT:
		a->i = p->i;
		return 0;
	case ATTRIBUTE_FLOAT:
		a->f = p->f;
		return 0;
	case ATTRIBUTE_STRING:
		a->s = load_text(l, p->s);
		return 0;
	case ATTRIBUTE_TENSOR:
		return load_attribute_tensor(l, p, a);
	case ATTRIBUTE_GRAPH:
		return load_attribute_graph(l, s, f, p, a);
	case ATTRIBUTE_TYPE:
		load_attribute_type(l, p, a);
		return 0;
	default:
		load_attribute_list(l, p, a);
		return 0;
	}
}

int load_attributes(struct loader *l, struct scope *s, const struct item *item, struct node *node)
{
	const Onnx__NodeProto *p = item->p;
	if (load_spend(l, s, item->frame, 0, p->n_attribute * sizeof(*node->attributes)) != 0)
		return -1;
	node->attributes = ARENA_ARRAY(l->arena, struct attribute, p->n_attribute);
	s->at = item->frame;
	for (size_t i = 0; i < p->n_attribute; i++) {
		const struct frame *f = item->frame;
		const Onnx__AttributeProto *meant = load_attribute_meant(l, p->attribute[i], &f);
		if (l->compared > LOAD_COMPARED_MOST)
			return error_set(l->err,
				"the attributes of the model's local functions have too many references to"
				" one another; export the model with its functions inlined");
		if (!meant)
			continue;
		struct attribute *a = &node->attributes[node->attribute_count++];
		size_t before = l->arena->total;
		a->name = load_text(l, p->attribute[i]->name);
		if (load_attribute(l, s, f, meant, a) != 0)
			return -1;
		/* nodes of bodies are counted one by one */
		if (a->kind != ATTRIBUTE_GRAPH &&
			load_spend(l, s, item->frame, 0, l->arena->total - before) != 0)
			return -1;
	}
	return 0;
}
