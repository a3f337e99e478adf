/* Small models made by hand, in memory, for tests of what reads struct model.
 *
 *   struct net *n = net_begin(17);
 *   net_input(n, "x", DTYPE_F32, "batch,3,8,8");
 *   net_weight(n, "w", "4,3,3,3");
 *   net_ints(n, "shape", "1,-1");                       an s64 constant with contents
 *   net_node(n, "Conv", "x,w", "y", "pads=1,1,1,1");    attributes: integers; one = INT, more = INTS; ""
 * omits an input net_output(n, "y", NULL); struct model *m = net_model(n);                     counts
 * settled; freed by net_free
 *   struct plan *p = net_plan(n, (struct plan_options){ 0 });   its plan; freed by plan_free
 */
#ifndef NET_H
#define NET_H

#include "base/hash.h"
#include "model/graph.h"
#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NET_OK __attribute__((unused)) static

struct net {
	struct model m;
	struct graph g;
	struct net *parent;
	struct net *bodies, *next; /* subgraphs that net_free frees */
	struct hash names;
	int node_capacity, value_capacity, input_capacity, output_capacity;
	struct opset opset;
};

NET_OK struct net *net_begin(int64_t opset)
{
	struct net *n = base_calloc(1, sizeof(*n));
	n->opset = (struct opset){ TEXT(""), opset };
	n->m.path = "test.onnx";
	n->m.opset_count = 1;
	n->m.opsets = &n->opset;
	n->m.graph = &n->g;
	return n;
}

/* A subgraph: captures names of `parent` that it does not make itself. Freed with net_free too. */
NET_OK struct net *net_body(struct net *parent)
{
	struct net *n = net_begin(parent->opset.version);
	n->parent = parent;
	n->g.parent = &parent->g;
	return n;
}

NET_OK char *net_copy(struct net *n, const char *s)
{
	return arena_strndup(&n->m.arena, s, strlen(s));
}

NET_OK int net_value(struct net *n, const char *name)
{
	int64_t found = hash_find(&n->names, text_of(name));
	if (found >= 0)
		return (int)found;
	struct text kept = text_of(net_copy(n, name));
	VEC_GROW(n->g.values, n->g.value_count, n->value_capacity);
	struct value *v = &n->g.values[n->g.value_count];
	*v = (struct value){
		.name = kept, .producer = -1, .outer = -1, .shape = SHAPE_UNKNOWN
	};
	int64_t outer = n->parent ? hash_find(&n->parent->names, text_of(name)) : -1;
	v->outer = (int)outer;
	*hash_at(&n->names, kept) = n->g.value_count;
	return n->g.value_count++;
}

/* Ends the first of a list of dimensions at its comma, which is in no parentheses. Returns the rest, or
 * NULL. */
NET_OK char *net_dim_end(char *dims)
{
	int depth = 0;
	for (; *dims && (*dims != ',' || depth > 0); dims++)
		depth += *dims == '(' ? 1 : *dims == ')' ? -1 : 0;
	if (!*dims)
		return NULL;
	*dims = '\0';
	return dims + 1;
}

/* dims as "1,batch,?", NULL: rank unknown, "": scalar. */
NET_OK void net_declare(struct net *n, const char *name, enum dtype t, const char *dims)
{
	int at = net_value(n, name);
	struct value *v = &n->g.values[at];
	struct dim list[64];
	int rank = 0;
	char copy[512];
	v->dtype = t;
	if (!dims)
		return;
	snprintf(copy, sizeof(copy), "%s", dims);
	for (char *rest, *d = *copy ? copy : NULL; d; d = rest) {
		rest = net_dim_end(d);
		int64_t size;
		bool number = text_to_int64(text_of(d), &size);
		list[rank++] = *d == '?' ? dim_unknown()
			       : number	 ? dim_known(size)
					 : dim_symbol(&n->m.arena, text_of(d));
	}
	v->shape = shape_make(&n->m.arena, rank);
	for (int i = 0; i < rank; i++)
		v->shape.dims[i] = list[i];
}

NET_OK void net_input(struct net *n, const char *name, enum dtype t, const char *dims)
{
	net_declare(n, name, t, dims);
	int at = net_value(n, name);
	n->g.values[at].is_input = true;
	VEC_GROW(n->g.inputs, n->g.input_count, n->input_capacity);
	n->g.inputs[n->g.input_count++] = at;
}

NET_OK void net_output(struct net *n, const char *name, const char *dims)
{
	int at = net_value(n, name);
	if (dims)
		net_declare(n, name, DTYPE_F32, dims);
	n->g.values[at].is_output = true;
	VEC_GROW(n->g.outputs, n->g.output_count, n->output_capacity);
	n->g.outputs[n->g.output_count++] = at;
}

NET_OK struct tensor *net_tensor(struct net *n, const char *name, enum dtype t, const char *dims)
{
	net_declare(n, name, t, dims);
	int at = net_value(n, name);
	struct value *v = &n->g.values[at];
	struct tensor *tensor = ARENA_NEW(&n->m.arena, struct tensor);
	*tensor = (struct tensor){ .name = v->name, .dtype = t, .rank = v->shape.rank, .elements = 1 };
	tensor->dims = ARENA_ARRAY(&n->m.arena, int64_t, tensor->rank);
	for (int i = 0; i < tensor->rank; i++)
		tensor->elements *= tensor->dims[i] = v->shape.dims[i].value;
	v->initializer = tensor;
	return tensor;
}

/* A constant without its payload. */
NET_OK void net_weight(struct net *n, const char *name, const char *dims)
{
	net_tensor(n, name, DTYPE_F32, dims);
}

NET_OK void net_ints(struct net *n, const char *name, const char *numbers)
{
	int64_t list[64];
	int count = 0;
	char copy[512], dims[16];
	snprintf(copy, sizeof(copy), "%s", numbers);
	for (char *d = strtok(copy, ","); d; d = strtok(NULL, ","))
		list[count++] = atoll(d);
	snprintf(dims, sizeof(dims), "%d", count);
	struct tensor *t = net_tensor(n, name, DTYPE_S64, dims);
	t->data_bytes = (size_t)count * sizeof(*list);
	t->data = memcpy(arena_alloc(&n->m.arena, t->data_bytes), list, t->data_bytes);
}

/* Comma-separated names to value indexes, "" = omitted. */
NET_OK int net_names(struct net *n, const char *names, int **out, bool outputs)
{
	int list[256], count = 0;
	for (const char *p = names; p;) {
		const char *comma = strchr(p, ',');
		size_t length = comma ? (size_t)(comma - p) : strlen(p);
		char name[128];
		snprintf(name, sizeof(name), "%.*s", (int)length, p);
		list[count++] = length ? net_value(n, name) : -1;
		p = comma ? comma + 1 : NULL;
	}
	*out = ARENA_ARRAY(&n->m.arena, int, count);
	memcpy(*out, list, (size_t)count * sizeof(int));
	for (int i = 0; outputs && i < count; i++)
		if (list[i] >= 0)
			n->g.values[list[i]].producer = n->g.node_count;
	return count;
}

NET_OK void net_attribute(struct net *n, struct attribute *a, const char *text)
{
	const char *eq = strchr(text, '=');
	a->name = (struct text){ text, (size_t)(eq - text) };
	a->ints = ARENA_ARRAY(&n->m.arena, int64_t, 64);
	char copy[256];
	snprintf(copy, sizeof(copy), "%s", eq + 1);
	for (char *save, *d = strtok_r(copy, ",", &save); d; d = strtok_r(NULL, ",", &save))
		a->ints[a->count++] = atoll(d);
	a->kind = a->count == 1 ? ATTRIBUTE_INT : ATTRIBUTE_INTS;
	a->i = a->ints[0];
}

/* Adds a node; its name is the operator's with the index ("Conv_0"). Attributes separated by spaces, NULL:
 * none. */
NET_OK struct node *net_node(
	struct net *n, const char *op, const char *inputs, const char *outputs, const char *attributes)
{
	struct node node = { .op = text_of(net_copy(n, op)), .opset = n->opset.version };
	node.input_count = inputs ? net_names(n, inputs, &node.inputs, false) : 0;
	node.output_count = net_names(n, outputs, &node.outputs, true);
	node.attributes = ARENA_ARRAY(&n->m.arena, struct attribute, 10);
	char *copy = net_copy(n, attributes ? attributes : "");
	for (char *save, *a = strtok_r(copy, " ", &save); a; a = strtok_r(NULL, " ", &save))
		net_attribute(n, &node.attributes[node.attribute_count++], a);
	VEC_GROW(n->g.nodes, n->g.node_count, n->node_capacity);
	n->g.nodes[n->g.node_count] = node;
	return &n->g.nodes[n->g.node_count++];
}

NET_OK void net_node_body(struct node *node, const char *attribute, struct net *body)
{
	node->attributes[node->attribute_count++] =
		(struct attribute){ .name = text_of(attribute), .kind = ATTRIBUTE_GRAPH, .graph = &body->g };
}

NET_OK struct model *net_model(struct net *n)
{
	return &n->m;
}

NET_OK void net_free(struct net *n)
{
	for (struct net *body = n->bodies, *next; body; body = next) {
		next = body->next;
		net_free(body);
	}
	arena_free(&n->m.arena);
	hash_free(&n->names);
	free(n->g.nodes);
	free(n->g.values);
	free(n->g.inputs);
	free(n->g.outputs);
	free(n);
}

NET_OK struct error net_error; /* of the last net_plan */

/* NULL: no plan came of it; net_error and the output say why. */
NET_OK struct plan *net_plan(struct net *n, struct plan_options o)
{
	net_error.text[0] = '\0';
	struct plan *p = plan_build(net_model(n), &o, &net_error);
	if (!p)
		printf("# %s\n", net_error.text);
	return p;
}

NET_OK const struct plan_value *net_planned(const struct plan *p, const char *name)
{
	for (int i = 0; i < p->value_count; i++)
		if (text_is(p->values[i].name, name))
			return &p->values[i];
	return NULL;
}

#endif
