/* Writes nodes of a graph as a model of their own. Names that are taken get a number. */
#include "config.h"

#include "model/write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/load.h"
#include "model/tensor.h"
#include "model/write_private.h"

#define PRODUCER "benanza"

static void messages_add(struct messages *m, void *item)
{
	VEC_GROW(m->items, m->count, m->capacity);
	m->items[m->count++] = item;
}

static void written_free(struct written *g)
{
	struct messages *all[] = { &g->nodes, &g->initializers, &g->inputs, &g->outputs, &g->infos };
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		free(all[i]->items);
}

/* --- names --- */

/* A name that is taken gets a number: "x_2". */
struct text write_name(struct writer *w, struct text name)
{
	struct text base = text_of(name.n ? text_clean(&w->arena, name) : "value"), unique = base;
	for (int i = 2; hash_find(&w->names, unique) >= 0; i++)
		unique = text_of(arena_printf(&w->arena, "%.*s_%d", (int)base.n, base.p, i));
	int64_t *uses = hash_at(&w->names, unique);
	*uses = 1;
	return unique;
}

/* The value's name in the file; "" for an omitted one. A captured value has that of the graph around. */
static struct text value_name(struct writer *w, const struct written *g, int value)
{
	if (value < 0)
		return TEXT("");
	if (!g->names[value].p) {
		const struct value *v = &g->graph->values[value];
		g->names[value] = v->outer >= 0 && g->parent ? value_name(w, g->parent, v->outer)
							     : write_name(w, v->name);
	}
	return g->names[value];
}

static ProtobufCBinaryData *value_names(
	struct writer *w, const struct written *g, const int *values, int count)
{
	ProtobufCBinaryData *all = ARENA_ARRAY(&w->arena, ProtobufCBinaryData, count);
	for (int i = 0; i < count; i++)
		all[i] = write_bytes(value_name(w, g, values[i]));
	return all;
}

/* --- declarations --- */

static int add_declaration(
	struct writer *w, struct messages *to, struct text name, const struct write_value *v)
{
	Onnx__ValueInfoProto *p = ARENA_NEW(&w->arena, Onnx__ValueInfoProto);
	onnx__value_info_proto__init(p);
	p->has_name = true;
	p->name = write_bytes(name);
	p->type = write_type(w, v->kind, v->dtype, v->shape);
	if (!p->type)
		return error_set(
			w->err, "the type of \"%.*s\" is unknown, or cannot be written", (int)name.n, name.p);
	messages_add(to, p);
	return 0;
}

/* --- operator sets --- */

static int need_opset(struct writer *w, struct text domain, int64_t version)
{
	for (size_t i = 0; i < w->opsets.count; i++) {
		const Onnx__OperatorSetIdProto *p = w->opsets.items[i];
		if (!text_equal(load_view(p->domain), domain))
			continue;
		return p->version == version ? 0
					     : error_set(w->err,
						       "the nodes use versions %" PRId64 " and %" PRId64
						       " of the operator set \"%s\"; write them one by one",
						       (int64_t)p->version, version,
						       domain.n ? text_clean(&w->arena, domain) : "ai.onnx");
	}
	Onnx__OperatorSetIdProto *p = ARENA_NEW(&w->arena, Onnx__OperatorSetIdProto);
	onnx__operator_set_id_proto__init(p);
	p->has_domain = p->has_version = true;
	p->domain = write_bytes(domain);
	p->version = version;
	messages_add(&w->opsets, p);
	if (domain.n == 0)
		w->opset = version;
	return 0;
}

/* Of the node and of those in its bodies. */
static int need_opsets(struct writer *w, const struct node *n)
{
	if (need_opset(w, n->domain, n->opset))
		return -1;
	for (int a = 0; a < n->attribute_count; a++)
		for (int i = 0;
			n->attributes[a].kind == ATTRIBUTE_GRAPH && i < n->attributes[a].graph->node_count;
			i++)
			if (need_opsets(w, &n->attributes[a].graph->nodes[i]))
				return -1;
	return 0;
}

/* --- nodes --- */

static Onnx__GraphProto *write_body(struct writer *w, const struct written *parent, const struct graph *g);

static void write_list(struct writer *w, const struct attribute *a, Onnx__AttributeProto *p)
{
	p->n_ints = a->kind == ATTRIBUTE_INTS ? a->count : 0;
	p->ints = a->ints;
	p->n_floats = a->kind == ATTRIBUTE_FLOATS ? a->count : 0;
	p->floats = a->floats;
	p->n_strings = a->kind == ATTRIBUTE_STRINGS ? a->count : 0;
	p->strings = ARENA_ARRAY(&w->arena, ProtobufCBinaryData, p->n_strings);
	for (size_t i = 0; i < p->n_strings; i++)
		p->strings[i] = write_bytes(a->strings[i]);
}

static Onnx__AttributeProto *write_attribute(
	struct writer *w, const struct written *g, const struct attribute *a)
{
	static const int codes[] = { [ATTRIBUTE_FLOAT] = 1,
		[ATTRIBUTE_INT] = 2,
		[ATTRIBUTE_STRING] = 3,
		[ATTRIBUTE_TENSOR] = 4,
		[ATTRIBUTE_GRAPH] = 5,
		[ATTRIBUTE_FLOATS] = 6,
		[ATTRIBUTE_INTS] = 7,
		[ATTRIBUTE_STRINGS] = 8,
		[ATTRIBUTE_TYPE] = 13,
		[ATTRIBUTE_OTHER] = 0 };
	Onnx__AttributeProto *p = ARENA_NEW(&w->arena, Onnx__AttributeProto);
	const char *shown = text_clean(&w->arena, a->name);
	onnx__attribute_proto__init(p);
	p->has_name = p->has_type = true;
	p->name = write_bytes(a->name);
	p->type = codes[a->kind];
	p->has_i = a->kind == ATTRIBUTE_INT;
	p->i = a->i;
	p->has_f = a->kind == ATTRIBUTE_FLOAT;
	p->f = a->f;
	p->has_s = a->kind == ATTRIBUTE_STRING;
	p->s = write_bytes(a->s);
	write_list(w, a, p);
	if (p->type == 0 || text_is(a->name, "sparse_value")) {
		error_set(w->err,
			"the attribute \"%s\" is too long, sparse or of an unknown kind, and cannot be "
			"written",
			shown);
		return NULL;
	}
	if (a->kind == ATTRIBUTE_TENSOR && !(p->t = write_tensor(w, a->tensor->name, a->tensor)))
		return NULL;
	if (a->kind == ATTRIBUTE_GRAPH && !(p->g = write_body(w, g, a->graph)))
		return NULL;
	if (a->kind == ATTRIBUTE_TYPE &&
		!(p->tp = write_type(w, a->type->kind, a->type->dtype, a->type->shape))) {
		error_set(w->err, "the attribute \"%s\" is a type that cannot be written", shown);
		return NULL;
	}
	return p;
}

static int write_node(struct writer *w, struct written *g, int index)
{
	const struct node *n = &g->graph->nodes[index];
	Onnx__NodeProto *p = ARENA_NEW(&w->arena, Onnx__NodeProto);
	struct text label = node_label(&w->arena, n, index);
	onnx__node_proto__init(p);
	p->has_op_type = p->has_name = true;
	p->has_domain = n->domain.n > 0;
	p->op_type = write_bytes(n->op);
	p->name = write_bytes(text_of(text_clean(&w->arena, label)));
	p->domain = write_bytes(n->domain);
	p->n_input = (size_t)n->input_count;
	p->input = value_names(w, g, n->inputs, n->input_count);
	p->n_output = (size_t)n->output_count;
	p->output = value_names(w, g, n->outputs, n->output_count);
	p->attribute = ARENA_ARRAY(&w->arena, Onnx__AttributeProto *, n->attribute_count);
	for (int i = 0; i < n->attribute_count; i++)
		if (!(p->attribute[p->n_attribute++] = write_attribute(w, g, &n->attributes[i])))
			return error_context(w->err, "%s", text_clean(&w->arena, label));
	messages_add(&g->nodes, p);
	return 0;
}

/* --- graphs --- */

static Onnx__GraphProto *written_graph(struct writer *w, const struct written *g, struct text name)
{
	Onnx__GraphProto *p = ARENA_NEW(&w->arena, Onnx__GraphProto);
	onnx__graph_proto__init(p);
	p->has_name = true;
	p->name = write_bytes(text_of(name.n ? text_clean(&w->arena, name) : "graph"));
	p->n_node = g->nodes.count;
	p->n_input = g->inputs.count;
	p->n_output = g->outputs.count;
	p->n_value_info = g->infos.count;
	p->n_initializer = g->initializers.count;
	void ***const lists[] = { (void ***)&p->node, (void ***)&p->input, (void ***)&p->output,
		(void ***)&p->value_info };
	const struct messages *const from[] = { &g->nodes, &g->inputs, &g->outputs, &g->infos };
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		*lists[i] = ARENA_ARRAY(&w->arena, void *, from[i]->count);
		memcpy(*lists[i], from[i]->items ? from[i]->items : *lists[i],
			from[i]->count * sizeof(void *));
	}
	p->initializer = ARENA_ARRAY(&w->arena, ProtobufCBinaryData, p->n_initializer);
	for (size_t i = 0; i < p->n_initializer; i++)
		p->initializer[i] = *(ProtobufCBinaryData *)g->initializers.items[i];
	return p;
}

static int body_fill(struct writer *w, struct written *b)
{
	const struct graph *g = b->graph;
	for (int i = 0; i < g->input_count + g->output_count; i++) {
		bool is_input = i < g->input_count;
		int value = is_input ? g->inputs[i] : g->outputs[i - g->input_count];
		const struct value *v = &g->values[value];
		const struct write_value declared = { v->kind, v->dtype, v->shape, false, NULL };
		struct text name = value_name(w, b, value);
		/* the operator implies the types of a body's inputs and outputs, so a file need not declare
		 * them */
		if (v->dtype == DTYPE_UNKNOWN) {
			Onnx__ValueInfoProto *p = ARENA_NEW(&w->arena, Onnx__ValueInfoProto);
			onnx__value_info_proto__init(p);
			p->has_name = true;
			p->name = write_bytes(name);
			messages_add(is_input ? &b->inputs : &b->outputs, p);
		} else if (add_declaration(w, is_input ? &b->inputs : &b->outputs, name, &declared)) {
			return -1;
		}
	}
	for (int i = 0; i < g->value_count; i++) {
		const struct tensor *t = g->values[i].outer < 0 ? g->values[i].initializer : NULL;
		if (t && (t->data ? write_initializer(w, b, value_name(w, b, i), t)
				  : write_weight(w, b, value_name(w, b, i), t->dtype, t->rank, t->dims)))
			return -1;
	}
	for (int i = 0; i < g->node_count; i++)
		if (write_node(w, b, i))
			return -1;
	return 0;
}

/* The body of a node, with the types that the file declares. Recursion: the loader limits the depth. */
static Onnx__GraphProto *write_body(struct writer *w, const struct written *parent, const struct graph *g)
{
	struct written body = {
		.parent = parent, .graph = g, .names = ARENA_ARRAY(&w->arena, struct text, g->value_count)
	};
	Onnx__GraphProto *p = body_fill(w, &body) ? NULL : written_graph(w, &body, g->name);
	written_free(&body);
	return p;
}

/* What the nodes that are written do with a value. */
struct use {
	bool made, given;     /* computed by one of them; or already an input or a constant */
	bool inside, outside; /* read by one of them; by another node, or an output of the model */
};

static void use_node(const struct node *n, struct use *uses, bool inside);

/* Marks the values of the outer graph that a body reads. */
static void use_captured(const struct graph *body, struct use *uses, bool inside)
{
	for (int i = 0; i < body->value_count; i++)
		if (body->values[i].outer >= 0)
			*(inside ? &uses[body->values[i].outer].inside
				 : &uses[body->values[i].outer].outside) = true;
}

static void use_node(const struct node *n, struct use *uses, bool inside)
{
	for (int i = 0; i < n->input_count; i++)
		if (n->inputs[i] >= 0)
			*(inside ? &uses[n->inputs[i]].inside : &uses[n->inputs[i]].outside) = true;
	for (int i = 0; i < n->attribute_count; i++)
		if (n->attributes[i].kind == ATTRIBUTE_GRAPH)
			use_captured(n->attributes[i].graph, uses, inside);
}

static struct use *uses_find(struct writer *w, const struct graph *g)
{
	struct use *uses = ARENA_ARRAY(&w->arena, struct use, g->value_count);
	for (int i = 0, at = 0; i < g->node_count; i++) {
		bool inside = at < w->r->node_count && w->r->nodes[at] == i;
		at += inside;
		use_node(&g->nodes[i], uses, inside);
		for (int k = 0; inside && k < g->nodes[i].output_count; k++)
			if (g->nodes[i].outputs[k] >= 0)
				uses[g->nodes[i].outputs[k]].made = true;
	}
	for (int i = 0; i < g->output_count; i++)
		uses[g->outputs[i]].outside = true;
	return uses;
}

/* Adds a value that the nodes read but do not compute. Texts have no weights: they become inputs. */
static int add_source(struct writer *w, struct written *g, int value)
{
	const struct write_value *v = &w->r->values[value];
	struct text name = value_name(w, g, value);
	if (v->contents)
		return write_initializer(w, g, name, v->contents);
	if (!v->constant || v->kind != VALUE_TENSOR || !shape_is_known(v->shape) || dtype_bits(v->dtype) == 0)
		return add_declaration(w, &g->inputs, name, v);
	int64_t *dims = ARENA_ARRAY(&w->arena, int64_t, v->shape.rank);
	for (int i = 0; i < v->shape.rank; i++)
		dims[i] = v->shape.dims[i].value;
	return write_weight(w, g, name, v->dtype, v->shape.rank, dims);
}

static int add_result(struct writer *w, struct written *g, int value, const struct use *u)
{
	const struct write_value *v = &w->r->values[value];
	bool is_output = u->outside || !u->inside;
	if (!is_output && !write_type(w, v->kind, v->dtype, v->shape))
		return 0; /* value_info is optional */
	return add_declaration(w, is_output ? &g->outputs : &g->infos, value_name(w, g, value), v);
}

static int main_fill(struct writer *w, struct written *g)
{
	const struct use *uses = uses_find(w, g->graph);
	for (int i = 0; i < w->r->node_count; i++)
		if (need_opsets(w, &g->graph->nodes[w->r->nodes[i]]))
			return -1;
	int64_t plain = model_opset(w->r->model, TEXT(""));
	if (w->opset == 0 && plain > 0 && need_opset(w, TEXT(""), plain))
		return -1;
	for (int i = 0; i < g->graph->value_count; i++)
		if (uses[i].inside && !uses[i].made && add_source(w, g, i))
			return -1;
	for (int i = 0; i < g->graph->value_count; i++)
		if (uses[i].made && add_result(w, g, i, &uses[i]))
			return -1;
	for (int i = 0; i < w->r->node_count; i++)
		if (write_node(w, g, w->r->nodes[i]))
			return -1;
	return 0;
}

static void write_model(struct writer *w, const struct written *g, struct str *out)
{
	Onnx__ModelProto p = ONNX__MODEL_PROTO__INIT;
	int64_t needed = load_ir_of_opset(w->opset), ir = w->r->model->ir_version;
	p.has_ir_version = p.has_producer_name = p.has_producer_version = true;
	p.ir_version = ir > needed ? ir : needed;
	p.producer_name = write_bytes(TEXT(PRODUCER));
	p.producer_version = write_bytes(TEXT(PACKAGE_VERSION));
	p.n_opset_import = w->opsets.count;
	p.opset_import = (Onnx__OperatorSetIdProto **)w->opsets.items;
	p.graph = written_graph(w, g, g->graph->name);
	size_t n = onnx__model_proto__get_packed_size(&p);
	unsigned char *bytes = base_malloc(n);
	onnx__model_proto__pack(&p, bytes);
	str_add(out, (const char *)bytes, n);
	free(bytes);
}

int model_write(const struct write_request *r, struct str *out, struct error *err)
{
	struct writer w = { .r = r, .random = r->seed, .err = err };
	struct written g = { .graph = r->graph,
		.names = ARENA_ARRAY(&w.arena, struct text, r->graph->value_count) };
	int bad = main_fill(&w, &g);
	if (!bad)
		write_model(&w, &g, out);
	written_free(&g);
	free(w.opsets.items);
	hash_free(&w.names);
	arena_free(&w.arena);
	return bad;
}
