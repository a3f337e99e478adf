/* Graphs and their values: names become indexes, and a subgraph sees the values of the graphs around it. */
#include "config.h"

#include "model/load.h"

#include "model/tensor.h"

#include <string.h>

#define NAMES_AHEAD 16 /* nodes */

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
		int v = scope_define(l, s, s->frame, name, &taken);
		if (v < 0)
			return error_set(l->err, "two graph inputs are named \"%s\"", load_shown(l, name));
		if (load_spend(l, s, s->frame, 0, name.n) != 0)
			return -1;
		s->values[v].is_input = true;
		load_type(l, p->input[i]->type, &s->values[v]);
	}
	return 0;
}

static bool tensor_alike(const struct tensor *a, const struct tensor *b)
{
	return a->dtype == b->dtype && a->rank == b->rank &&
	       (a->rank == 0 || memcmp(a->dims, b->dims, (size_t)a->rank * sizeof(*a->dims)) == 0);
}

static int load_initializer(struct loader *l, struct scope *s, struct tensor *t)
{
	struct text name = t->name;
	int taken = -1;
	if (name.n == 0) {
		load_warn(l, "an initializer without a name is ignored");
		return 0;
	}
	int v = scope_define(l, s, s->frame, name, &taken);
	struct value *value = &s->values[v < 0 ? taken : v];
	if (value->initializer && !tensor_alike(value->initializer, t))
		return error_set(l->err, "two initializers of different types are named \"%s\"",
			load_shown(l, name));
	if (value->initializer)
		load_warn(l, "two initializers are named \"%s\"; the last one is used", load_shown(l, name));
	/* Early versions of the format list initializers as inputs, too. They count as constants. */
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
	for (size_t i = 0; i < p->n_initializer; i++, tensors++) {
		arena_clear(&l->tensor);
		if (load_spend(l, s, s->frame, 0, p->initializer[i].len) != 0)
			return -1;
		const Onnx__TensorProto *t = skim_initializer(&l->tensor, p->initializer[i], l->err);
		if (!t)
			return error_context(l->err, "initializer %zu", i);
		if (load_tensor(l, t, tensors) != 0 || load_initializer(l, s, tensors) != 0)
			return -1;
	}
	for (size_t i = 0; i < p->n_sparse_initializer; i++, tensors++)
		if (load_sparse_tensor(l, p->sparse_initializer[i], tensors) != 0 ||
			load_spend(l, s, s->frame, 0, tensors->name.n) != 0 ||
			load_initializer(l, s, tensors) != 0)
			return -1;
	return 0;
}

/* ---- nodes ---- */

static int wrong_output(struct loader *l, struct scope *s, int index, struct text name, int taken)
{
	const struct value *other = taken < 0 ? NULL : &s->values[taken];
	const char *shown = load_shown(l, name);
	if (!other || other->producer < 0)
		return error_set(l->err, "node \"%s\" writes \"%s\", which is %s",
			shown_node(l, s->graph, index), shown,
			!other			     ? "an input of the function"
				: other->initializer ? "an initializer"
						     : "a graph input");
	if (other->producer == index)
		return error_set(l->err, "node \"%s\" writes \"%s\" twice",
			shown_node(l, s->graph, index), shown);
	return error_set(l->err, "nodes \"%s\" and \"%s\" both write \"%s\"",
		shown_node(l, s->graph, other->producer), shown_node(l, s->graph, index), shown);
}

static bool is_constant(const struct node *n)
{
	return n->domain.n == 0 && text_is(n->op, "Constant");
}

/* Two Constants with the same output: the last one is used, as runtimes do. Returns the value, or -1 for
 * other conflicts. */
static int constant_again(struct loader *l, struct scope *s, int index, struct text name, int taken)
{
	int other = taken < 0 ? -1 : s->values[taken].producer;
	if (other < 0 || other == index || !is_constant(&s->graph->nodes[other]) ||
		!is_constant(&s->graph->nodes[index]))
		return -1;
	s->graph->nodes[other].outputs[0] = -1;
	load_warn(l, "nodes \"%s\" and \"%s\" are Constants and both write \"%s\"; the last one is used",
		shown_node(l, s->graph, other), shown_node(l, s->graph, index), load_shown(l, name));
	return taken;
}

static int load_node_outputs(struct loader *l, struct scope *s, int index)
{
	const struct item *item = &s->items[index];
	struct node *node = &s->graph->nodes[index];
	int taken;
	node->output_count = (int)item->p->n_output;
	node->outputs = ARENA_ARRAY(l->arena, int, node->output_count);
	for (int i = 0; i < node->output_count; i++) {
		struct text name = load_view(item->p->output[i]);
		node->outputs[i] = -1;
		if (name.n == 0)
			continue;
		int v = scope_define(l, s, item->frame, name, &taken);
		if (v < 0 && i == 0)
			v = constant_again(l, s, index, name, taken);
		if (v < 0)
			return wrong_output(l, s, index, name, taken);
		s->values[v].producer = index;
		node->outputs[i] = v;
		if (load_spend(l, s, item->frame, 0, s->values[v].name.n) != 0)
			return -1;
	}
	return 0;
}

/* Begins to fetch what a node some steps after this one writes, or reads. */
static void names_fetch(const struct scope *s, int index, bool writes)
{
	if (index >= s->item_count - NAMES_AHEAD)
		return;
	const Onnx__NodeProto *p = s->items[index + NAMES_AHEAD].p;
	for (size_t i = 0; i < (writes ? p->n_output : p->n_input); i++)
		hash_fetch(&s->names, load_view(writes ? p->output[i] : p->input[i]));
}

static struct text item_name(struct loader *l, const struct item *item)
{
	if (!item->frame)
		return load_text(l, item->p->name);
	return load_path(l, item->frame, load_label(&l->scratch, item->p, item->index));
}

/* Loads texts of the nodes and defines their outputs; inputs may refer to later nodes and come next. */
static int load_nodes(struct loader *l, struct scope *s)
{
	struct graph *g = s->graph;
	g->node_count = s->item_count;
	g->nodes = ARENA_ARRAY(l->arena, struct node, g->node_count);
	for (int i = 0; i < g->node_count; i++) {
		struct node *node = &g->nodes[i];
		const struct item *item = &s->items[i];
		names_fetch(s, i, true);
		node->name = item_name(l, item);
		node->op = load_text(l, item->p->op_type);
		node->domain = load_copy(l, load_domain(item->p->domain));
		if (node->op.n == 0)
			return error_set(l->err, "node \"%s\" has no operator type", shown_node(l, g, i));
		node->opset = load_opset_of(l, item->frame, node->domain);
		if (load_spend(l, s, item->frame, 0, node->name.n) != 0 || load_node_outputs(l, s, i) != 0)
			return -1;
	}
	return 0;
}

static int load_node_inputs(struct loader *l, struct scope *s, int index)
{
	const struct item *item = &s->items[index];
	struct node *node = &s->graph->nodes[index];
	node->input_count = (int)item->p->n_input;
	node->inputs = ARENA_ARRAY(l->arena, int, node->input_count);
	for (int i = 0; i < node->input_count; i++) {
		struct text name = load_view(item->p->input[i]);
		int v = name.n ? scope_read(l, s, item->frame, name) : SCOPE_OMITTED;
		node->inputs[i] = v < 0 ? -1 : v;
		if (v < 0 && v != SCOPE_OMITTED)
			return error_set(l->err, "node \"%s\" reads \"%s\", which the %s does not define",
				shown_node(l, s->graph, index), load_shown(l, name),
				item->frame ? "function" : "model");
	}
	return 0;
}

static int load_reads(struct loader *l, struct scope *s)
{
	for (int i = 0; i < s->graph->node_count; i++) {
		names_fetch(s, i, false);
		if (load_node_inputs(l, s, i) != 0)
			return -1;
		if (load_attributes(l, s, &s->items[i], &s->graph->nodes[i]) != 0)
			return error_context(l->err, "node \"%s\"", shown_node(l, s->graph, i));
	}
	return 0;
}

/* ---- declared types, outputs ---- */

/* Symbols are local to a function: the same name may be a different number in each call, so they become
 * unknown. */
static void forget_symbols(struct shape *shape)
{
	for (int i = 0; i < shape->rank; i++)
		if (shape->dims[i].kind != DIM_KNOWN)
			shape->dims[i] = dim_unknown();
}

/* Declared types are in outputs and in value_info; either may have what the other omits. Merges them. */
static void load_declared(struct loader *l, struct scope *s, const struct frame *f,
	Onnx__ValueInfoProto *const *infos, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int v = scope_own(l, s, f, load_view(infos[i]->name));
		if (v < 0 || s->values[v].initializer || s->values[v].kind != VALUE_TENSOR)
			continue;
		struct value *value = &s->values[v];
		struct value told = { .name = value->name, .shape = SHAPE_UNKNOWN };
		load_type(l, infos[i]->type, &told);
		if (f)
			forget_symbols(&told.shape);
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
		int v = name.n ? scope_read(l, s, s->frame, name) : -1;
		if (v < 0)
			return error_set(
				l->err, "no node computes graph output \"%s\"", load_shown(l, name));
		s->values[v].is_output = true;
		g->outputs[g->output_count++] = v;
	}
	return 0;
}

static void scope_finish(struct loader *l, struct scope *s)
{
	struct graph *g = s->graph;
	g->value_count = s->count;
	g->values = s->values;
	for (int v = 0; v < g->value_count; v++)
		g->input_count += g->values[v].is_input;
	g->inputs = ARENA_ARRAY(l->arena, int, g->input_count);
	/* Inputs were defined first, so they are in the file's order. */
	for (int v = 0, i = 0; v < g->value_count; v++)
		if (g->values[v].is_input)
			g->inputs[i++] = v;
}

/* Names that the graph defines, at most. */
static size_t defined_names(const struct scope *s, const Onnx__GraphProto *p)
{
	size_t n = p->n_input + p->n_initializer + p->n_sparse_initializer;
	for (int i = 0; i < s->item_count; i++)
		n += s->items[i].p->n_output;
	return n;
}

/* All names, also those of nodes and of what they read. */
static size_t names_of(const struct scope *s, const Onnx__GraphProto *p, size_t defined)
{
	size_t n = defined + p->n_output + (size_t)s->item_count;
	for (int i = 0; i < s->item_count; i++)
		n += s->items[i].p->n_input;
	for (const struct frame *f = s->calls; f; f = f->next)
		n += f->function->p->n_value_info;
	return n;
}

/* Collects the graph's nodes in s->items, within limits. */
static int load_items(struct loader *l, struct scope *s, const Onnx__GraphProto *p)
{
	if (s->depth + (s->frame ? s->frame->depth : 0) > LOAD_DEPTH_MOST)
		return error_set(l->err, "calls and subgraphs are nested more than %d deep", LOAD_DEPTH_MOST);
	if (p->n_node) {
		s->item_capacity = (int)p->n_node;
		s->items = base_malloc(p->n_node * sizeof(*s->items));
	}
	if (load_expand(l, s, p->node, p->n_node, s->frame) != 0)
		return -1;
	size_t defined = defined_names(s, p);
	l->name_count += names_of(s, p, defined);
	if (l->name_count > LOAD_NAMES_MOST)
		return error_set(l->err, "more than %d names; " SKIM_FIX, LOAD_NAMES_MOST);
	scope_reserve(l, s, defined);
	return 0;
}

/* Names of nodes need not be unique for ONNX, but ONNX Runtime refuses two of one name in a graph. */
static void warn_named_twice(struct loader *l, const struct graph *g)
{
	struct hash names = { 0 };
	int count = 0;
	struct text first = TEXT("");
	for (int i = 0; i < g->node_count; i++) {
		int64_t *at = g->nodes[i].name.n ? hash_at(&names, g->nodes[i].name) : NULL;
		if (at && *at >= 0 && count++ == 0)
			first = g->nodes[i].name;
		if (at)
			*at = i;
	}
	if (count)
		load_warn(l, "%d node%s the name of another one (\"%s\"%s); ONNX Runtime refuses the model",
			count, count == 1 ? " has" : "s have", load_shown(l, first), count > 1 ? " ..." : "");
	hash_free(&names);
}

static void warn_hidden(struct loader *l, const struct scope *s)
{
	bool one = s->hidden_count == 1;
	load_warn(l,
		"%d name%s (\"%s\"%s) of the subgraph \"%s\" %s also defined outside it; "
		"its own %s used in it",
		s->hidden_count, one ? "" : "s", load_shown(l, s->hidden), one ? "" : " ...",
		load_shown(l, s->graph->name), one ? "is" : "are", one ? "is" : "are");
}

/* Some exporters write 0 for "unknown". A first dimension of 0, of at least three, stands for that, and so do
 * the others with it; elsewhere a cache may be empty. */
static void find_zeros(struct scope *s)
{
	for (int v = 0; v < s->count && !s->parent; v++) {
		struct shape *shape = &s->values[v].shape;
		int zeros = 0;
		for (int i = 0; s->values[v].is_input && i < shape->rank; i++)
			zeros += shape->dims[i].kind == DIM_KNOWN && shape->dims[i].value == 0;
		if (!zeros || shape->rank < 2)
			continue;
		bool first = shape->rank > 2 && shape->dims[0].kind == DIM_KNOWN && shape->dims[0].value == 0;
		for (int i = 0; first && i < shape->rank; i++)
			if (shape->dims[i].kind == DIM_KNOWN && shape->dims[i].value == 0)
				shape->dims[i] = dim_unknown();
		s->values[v].zeros = true;
	}
}

static int load_into(struct loader *l, const Onnx__GraphProto *p, struct scope *s)
{
	if (load_items(l, s, p) != 0 || load_inputs(l, s, p) != 0 || load_initializers(l, s, p) != 0 ||
		load_nodes(l, s) != 0)
		return -1;
	find_zeros(s);
	load_declared(l, s, s->frame, p->output, p->n_output);
	load_declared(l, s, s->frame, p->value_info, p->n_value_info);
	for (const struct frame *f = s->calls; f; f = f->next)
		load_declared(l, s, f, f->function->p->value_info, f->function->p->n_value_info);
	if (load_reads(l, s) != 0 || load_outputs(l, s, p) != 0)
		return -1;
	if (s->hidden_count)
		warn_hidden(l, s);
	warn_named_twice(l, s->graph);
	scope_finish(l, s);
	return load_sort(l, s->graph);
}

struct graph *load_graph(
	struct loader *l, const Onnx__GraphProto *p, struct scope *parent, const struct frame *f)
{
	struct graph *g = ARENA_NEW(l->arena, struct graph);
	struct scope s = { .parent = parent, .graph = g, .frame = f, .depth = parent ? parent->depth + 1 : 0,
		.inlined = parent && (parent->inlined || parent->at) };
	g->name = load_text(l, p->name);
	g->parent = parent ? parent->graph : NULL;
	int rc = load_into(l, p, &s);
	scope_free(&s);
	return rc == 0 ? g : NULL;
}
