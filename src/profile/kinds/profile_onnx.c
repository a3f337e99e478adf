/* Reads the optimized model that a profile was made with: names, inputs and outputs of its rows. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "model/graph.h"
#include "profile/read/reader.h"

#define DEPTH_MOST 64 /* of bodies in bodies */

/* Nodes of one name and operator, in the order of the file. */
struct chain {
	int next, last;
};

struct listed {
	const struct graph *graph;
	const struct node *node;
	int next; /* of the same name and operator; -1 */
};

struct optimized {
	struct arena a; /* keys */
	struct listed *nodes;
	struct chain *chains;
	int node_count, node_capacity, chain_count, chain_capacity;
	struct hash keys; /* name and operator -> chain */
	struct str key;
};

/* Fields of ModelProto: a varint first (ir_version), then known fields up to the graph, field 7. */
static bool is_onnx(const struct profile_head *h)
{
	const unsigned char *p = (const unsigned char *)h->bytes, *end = p + h->n;
	if (h->n < 4 || *p != 0x08)
		return false;
	while (p < end) {
		unsigned tag = *p++, field = tag >> 3, wire = tag & 7;
		uint64_t value = 0;
		for (int shift = 0; p < end && shift < 63; shift += 7) {
			value |= (uint64_t)(*p & 0x7f) << shift;
			if (!(*p++ & 0x80))
				break;
		}
		if (field == 7 && wire == 2)
			return true;
		if (tag & 0x80 || field == 0 || field > 14 || (wire != 0 && wire != 2))
			return false;
		if (wire == 2 && value > (uint64_t)(end - p))
			return false;
		p += wire == 2 ? value : 0;
	}
	return false;
}

static struct text key_of(struct optimized *o, struct text name, struct text op)
{
	str_clear(&o->key);
	str_add_clean(&o->key, name);
	str_puts(&o->key, "\n");
	str_add_clean(&o->key, op);
	return (struct text){ o->key.p, o->key.n };
}

static void list(struct optimized *o, const struct graph *g, int depth)
{
	for (int i = 0; i < g->node_count; i++) {
		const struct node *n = &g->nodes[i];
		struct text key = key_of(o, n->name, n->op);
		VEC_GROW(o->nodes, o->node_count, o->node_capacity);
		o->nodes[o->node_count] = (struct listed){ g, n, -1 };
		int64_t chain = hash_find(&o->keys, key);
		if (chain < 0) {
			key.p = arena_strndup(&o->a, key.p, key.n);
			VEC_GROW(o->chains, o->chain_count, o->chain_capacity);
			o->chains[o->chain_count] = (struct chain){ o->node_count, o->node_count };
			*hash_at(&o->keys, key) = o->chain_count++;
		} else {
			o->nodes[o->chains[chain].last].next = o->node_count;
			o->chains[chain].last = o->node_count;
		}
		o->node_count++;
		for (int j = 0; j < n->attribute_count && depth < DEPTH_MOST; j++)
			if (n->attributes[j].graph)
				list(o, n->attributes[j].graph, depth + 1);
	}
}

/* Returns true for "Conv_12", ONNX Runtime's name for a Conv without a name. */
static bool is_given_name(const char *name, const char *op)
{
	size_t n = strlen(op);
	if (strncmp(name, op, n) || name[n] != '_' || !name[n + 1])
		return false;
	return strspn(name + n + 1, "0123456789:") == strlen(name + n + 1);
}

/* Returns the node of a row by name and operator. Several nodes with one name, or without a name, are taken
 * in order of execution, which both files have; the last can be taken again. */
static const struct listed *node_of(struct optimized *o, const struct execution_row *r)
{
	int64_t chain = hash_find(&o->keys, key_of(o, text_of(r->name), text_of(r->op)));
	if (chain < 0 && is_given_name(r->name, r->op))
		chain = hash_find(&o->keys, key_of(o, TEXT(""), text_of(r->op)));
	if (chain < 0)
		return NULL;
	const struct listed *found = &o->nodes[o->chains[chain].next];
	if (found->next >= 0)
		o->chains[chain].next = found->next;
	return found;
}

/* Returns the names of values, separated by newlines, without constants. */
static const char *names_of(struct arena *a, const struct graph *g, const int *values, int count)
{
	struct str s = { 0 };
	for (int i = 0; i < count; i++) {
		const struct value *v = values[i] < 0 ? NULL : &g->values[values[i]];
		if (!v || v->initializer || !v->name.n)
			continue;
		if (s.n)
			str_puts(&s, "\n");
		str_add_clean(&s, v->name);
	}
	const char *names = s.n ? arena_strndup(a, s.p, s.n) : "";
	str_free(&s);
	return names;
}

static int read_onnx(struct arena *a, const char *path, const struct profile_options *options,
	struct execution *e, struct error *err)
{
	struct model *m = model_load(path, err);
	struct optimized o = { 0 };
	(void)options;
	if (!m)
		return -1;
	list(&o, m->graph, 0);
	int found = 0, layers = 0;
	for (int i = 0; i < e->row_count; i++) {
		struct execution_row *r = &e->rows[i];
		const struct listed *n = r->level == LEVEL_LAYER ? node_of(&o, r) : NULL;
		layers += r->level == LEVEL_LAYER;
		if (!n)
			continue;
		found++;
		r->inputs = names_of(a, n->graph, n->node->inputs, n->node->input_count);
		r->outputs = names_of(a, n->graph, n->node->outputs, n->node->output_count);
	}
	e->model = text_clean(a, m->graph->name);
	if (found < layers)
		profile_add_gap(
			a, e, arena_printf(a, "%d of %d nodes are not in %s", layers - found, layers, path));
	free(o.nodes);
	free(o.chains);
	hash_free(&o.keys);
	str_free(&o.key);
	arena_free(&o.a);
	model_free(m);
	if (found == 0)
		return error_set(err,
			"%s: has no node of the profile; give the model that the framework saved when "
			"it wrote the profile",
			path);
	return 0;
}

const struct profile_reader profile_onnx = {
	.kind = PROFILE_ONNX, .is = is_onnx, .read = read_onnx, .completes = 1u << PROFILE_ONNXRUNTIME
};
