#include "config.h"

#include "model/load.h"

#include "model/tensor.h"

#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

/* A new value of s, or -1 when the name is taken (then *taken is whose it is). */
static int scope_add(struct loader *l, struct scope *s, struct text name, int *taken)
{
	int64_t *place = hash_at(&s->names, name);
	if (*place >= 0) {
		*taken = (int)*place;
		return -1;
	}
	VEC_GROW(s->values, s->count, s->capacity);
	struct value *v = &s->values[s->count];
	*v = (struct value){ .producer = -1, .outer = -1, .shape = SHAPE_UNKNOWN };
	/* The hash keeps pointing at the name it was given, which lives as long as the skim. */
	v->name = (struct text){ arena_strndup(l->arena, name.p, name.n), name.n };
	*place = s->count;
	return s->count++;
}

/* The value called `name` in s, or -1. A name of an outer graph becomes a value of each graph in between. */
static int scope_find(struct loader *l, struct scope *s, struct text name)
{
	int64_t found = hash_find(&s->names, name);
	if (found >= 0 || !s->parent)
		return (int)found;
	int outer = scope_find(l, s->parent, name), taken;
	if (outer < 0)
		return -1;
	int v = scope_add(l, s, name, &taken);
	struct value *captured = &s->values[v];
	const struct value *origin = &s->parent->values[outer];
	captured->outer = outer;
	captured->initializer = origin->initializer;
	captured->dtype = origin->dtype;
	captured->shape = origin->shape;
	captured->kind = origin->kind;
	return v;
}

static void scope_free(struct scope *s)
{
	hash_free(&s->names);
	free(s->values);
}

static const char *shown_node(struct loader *l, const struct graph *g, int index)
{
	return load_shown(l, node_label(&l->scratch, &g->nodes[index], index));
}

/* ---- inputs and constants ---- */

static int load_inputs(struct loader *l, struct scope *s, const Onnx__GraphProto *p)
{
	int taken;
	for (size_t i = 0; i < p->n_input; i++) {
		struct text name = load_view(p->input[i]->name);
		if (name.n == 0)
			return error_set(l->err, "graph input %zu has no name", i);
		int v = scope_add(l, s, name, &taken);
		if (v < 0)
			return error_set(l->err, "two graph inputs are called \"%s\"", load_shown(l, name));
		s->values[v].is_input = true;
		load_type(l, p->input[i]->type, &s->values[v]);
	}
	return 0;
}

static int load_initializer(struct loader *l, struct scope *s, struct tensor *t, struct text name)
{
	int taken = -1;
	if (name.n == 0) {
		load_warn(l, "an initializer without a name is ignored");
		return 0;
	}
	int v = scope_add(l, s, name, &taken);
	struct value *value = &s->values[v < 0 ? taken : v];
	if (value->initializer)
		return error_set(l->err, "two initializers are called \"%s\"", load_shown(l, name));
	/* Listed as an input too, as early versions of the format wanted: a default that nobody overrides. */
	value->is_input = false;
	value->kind = VALUE_TENSOR;
	value->initializer = t;
	value->dtype = t->dtype;
	value->shape = tensor_shape(l->arena, t);
	return 0;
}

static int load_initializers(struct loader *l, struct scope *s, const Onnx__GraphProto *p)
{
	struct tensor *tensors =
		ARENA_ARRAY(l->arena, struct tensor, p->n_initializer + p->n_sparse_initializer);
	for (size_t i = 0; i < p->n_initializer; i++, tensors++)
		if (load_tensor(l, p->initializer[i], tensors) != 0 ||
			load_initializer(l, s, tensors, load_view(p->initializer[i]->name)) != 0)
			return -1;
	for (size_t i = 0; i < p->n_sparse_initializer; i++, tensors++)
		if (load_sparse_tensor(l, p->sparse_initializer[i], tensors) != 0 ||
			load_initializer(l, s, tensors, tensors->name) != 0)
			return -1;
	return 0;
}

/* ---- nodes ---- */

static int load_node_outputs(struct loader *l, struct scope *s, const Onnx__NodeProto *p, int index)
{
	struct node *node = &s->graph->nodes[index];
	int taken;
	node->output_count = (int)p->n_output;
	node->outputs = ARENA_ARRAY(l->arena, int, p->n_output);
	for (size_t i = 0; i < p->n_output; i++) {
		struct text name = load_view(p->output[i]);
		node->outputs[i] = -1;
		if (name.n == 0)
			continue;
		int v = scope_add(l, s, name, &taken);
		if (v >= 0) {
			s->values[v].producer = index;
			node->outputs[i] = v;
			continue;
		}
		const struct value *other = &s->values[taken];
		if (other->producer < 0)
			return error_set(l->err, "node \"%s\" writes \"%s\", which is %s",
				shown_node(l, s->graph, index), load_shown(l, name),
				other->initializer ? "an initializer" : "a graph input");
		return error_set(l->err, "nodes \"%s\" and \"%s\" both write \"%s\"",
			shown_node(l, s->graph, other->producer), shown_node(l, s->graph, index),
			load_shown(l, name));
	}
	return 0;
}

/* Everything of the nodes that does not need other names: texts, and the names of their results. */
static int load_nodes(struct loader *l, struct scope *s, const Onnx__GraphProto *p)
{
	struct graph *g = s->graph;
	g->node_count = (int)p->n_node;
	g->nodes = ARENA_ARRAY(l->arena, struct node, p->n_node);
	for (int i = 0; i < g->node_count; i++) {
		struct node *node = &g->nodes[i];
		node->name = load_text(l, p->node[i]->name);
		node->op = load_text(l, p->node[i]->op_type);
		node->domain = load_text(l, p->node[i]->domain);
		if (text_is(node->domain, "ai.onnx"))
			node->domain = TEXT("");
		if (node->op.n == 0)
			return error_set(l->err, "node \"%s\" names no operator", shown_node(l, g, i));
		if (load_node_outputs(l, s, p->node[i], i) != 0)
			return -1;
	}
	return 0;
}

static int load_node_inputs(struct loader *l, struct scope *s, const Onnx__NodeProto *p, int index)
{
	struct node *node = &s->graph->nodes[index];
	node->input_count = (int)p->n_input;
	node->inputs = ARENA_ARRAY(l->arena, int, p->n_input);
	for (size_t i = 0; i < p->n_input; i++) {
		struct text name = load_view(p->input[i]);
		node->inputs[i] = name.n ? scope_find(l, s, name) : -1;
		if (name.n && node->inputs[i] < 0)
			return error_set(l->err, "node \"%s\" reads \"%s\", which nothing in the model makes",
				shown_node(l, s->graph, index), load_shown(l, name));
	}
	return 0;
}

static int load_reads(struct loader *l, struct scope *s, const Onnx__GraphProto *p)
{
	for (int i = 0; i < s->graph->node_count; i++) {
		if (load_node_inputs(l, s, p->node[i], i) != 0)
			return -1;
		if (load_attributes(l, s, p->node[i], &s->graph->nodes[i]) != 0)
			return error_context(l->err, "node \"%s\"", shown_node(l, s->graph, i));
	}
	return 0;
}

/* ---- declared types, outputs ---- */

/* Types stand on outputs and in value_info; each may tell what the other leaves out. The known is kept. */
static void load_declared(struct loader *l, struct scope *s, Onnx__ValueInfoProto *const *infos, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t v = hash_find(&s->names, load_view(infos[i]->name));
		if (v < 0 || s->values[v].initializer || s->values[v].kind != VALUE_TENSOR)
			continue;
		struct value *value = &s->values[v];
		struct value told = { .name = value->name, .shape = SHAPE_UNKNOWN };
		load_type(l, infos[i]->type, &told);
		value->kind = told.kind;
		if (value->dtype == DTYPE_UNKNOWN)
			value->dtype = told.dtype;
		if (value->shape.rank < 0)
			value->shape = told.shape;
	}
}

static int load_outputs(struct loader *l, struct scope *s, const Onnx__GraphProto *p)
{
	struct graph *g = s->graph;
	g->outputs = ARENA_ARRAY(l->arena, int, p->n_output);
	for (size_t i = 0; i < p->n_output; i++) {
		struct text name = load_view(p->output[i]->name);
		int v = name.n ? scope_find(l, s, name) : -1;
		if (v < 0)
			return error_set(
				l->err, "graph output \"%s\" is made by no node", load_shown(l, name));
		s->values[v].is_output = true;
		g->outputs[g->output_count++] = v;
	}
	return 0;
}

static void scope_finish(struct loader *l, struct scope *s)
{
	struct graph *g = s->graph;
	g->value_count = s->count;
	g->values = ARENA_ARRAY(l->arena, struct value, s->count);
	if (s->count)
		memcpy(g->values, s->values, (size_t)s->count * sizeof(*g->values));
	for (int v = 0; v < g->value_count; v++)
		g->input_count += g->values[v].is_input;
	g->inputs = ARENA_ARRAY(l->arena, int, g->input_count);
	/* Inputs were the first names to be added: their order is the file's. */
	for (int v = 0, i = 0; v < g->value_count; v++)
		if (g->values[v].is_input)
			g->inputs[i++] = v;
}

static size_t names_of(const Onnx__GraphProto *p)
{
	size_t n = p->n_input + p->n_initializer + p->n_sparse_initializer + p->n_output + p->n_node;
	for (size_t i = 0; i < p->n_node; i++)
		n += p->node[i]->n_input + p->node[i]->n_output;
	return n;
}

static int load_into(struct loader *l, const Onnx__GraphProto *p, struct scope *s)
{
	l->name_count += names_of(p);
	if (l->name_count > LOAD_NAMES_MOST)
		return error_set(
			l->err, "more than %d names; this is beyond what can be opened", LOAD_NAMES_MOST);
	if (load_inputs(l, s, p) != 0 || load_initializers(l, s, p) != 0 || load_nodes(l, s, p) != 0)
		return -1;
	load_declared(l, s, p->output, p->n_output);
	load_declared(l, s, p->value_info, p->n_value_info);
	if (load_reads(l, s, p) != 0 || load_outputs(l, s, p) != 0)
		return -1;
	scope_finish(l, s);
	return load_sort(l, s->graph);
}

struct graph *load_graph(struct loader *l, const Onnx__GraphProto *p, struct scope *parent)
{
	struct graph *g = ARENA_NEW(l->arena, struct graph);
	struct scope s = { .parent = parent, .graph = g };
	g->name = load_text(l, p->name);
	g->parent = parent ? parent->graph : NULL;
	int rc = load_into(l, p, &s);
	scope_free(&s);
	return rc == 0 ? g : NULL;
}
