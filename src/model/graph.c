/* Look-ups in a loaded model. Attributes are searched one after the other: nodes have few. */
#include "config.h"

#include "model/graph.h"

#include <stdlib.h>
#include <string.h>

void model_free(struct model *m)
{
	if (!m)
		return;
	arena_free(&m->arena);
	free(m);
}

int64_t model_opset(const struct model *m, struct text domain)
{
	if (text_is(domain, "ai.onnx"))
		domain = TEXT("");
	for (int i = 0; i < m->opset_count; i++)
		if (text_equal(m->opsets[i].domain, domain))
			return m->opsets[i].version;
	return 0;
}

const struct attribute *node_attribute(const struct node *n, const char *name)
{
	for (int i = 0; i < n->attribute_count; i++)
		if (text_is(n->attributes[i].name, name))
			return &n->attributes[i];
	return NULL;
}

const struct tensor *graph_tensor(const struct graph *g, const struct value *v)
{
	const struct node *n = v->initializer || v->producer < 0 ? NULL : &g->nodes[v->producer];
	const struct attribute *a =
		n && text_is(n->op, "Constant") && !n->domain.n ? node_attribute(n, "value") : NULL;
	return v->initializer ? v->initializer : a && a->kind == ATTRIBUTE_TENSOR ? a->tensor : NULL;
}

static const struct attribute *attribute_of_kind(
	const struct node *n, const char *name, enum attribute_kind kind)
{
	const struct attribute *a = node_attribute(n, name);
	return a && a->kind == kind ? a : NULL;
}

int64_t node_int(const struct node *n, const char *name, int64_t otherwise)
{
	const struct attribute *a = attribute_of_kind(n, name, ATTRIBUTE_INT);
	return a ? a->i : otherwise;
}

float node_float(const struct node *n, const char *name, float otherwise)
{
	const struct attribute *a = attribute_of_kind(n, name, ATTRIBUTE_FLOAT);
	return a ? a->f : otherwise;
}

struct text node_string(const struct node *n, const char *name, const char *otherwise)
{
	const struct attribute *a = attribute_of_kind(n, name, ATTRIBUTE_STRING);
	return a ? a->s : text_of(otherwise);
}

struct text node_label(struct arena *a, const struct node *n, int index)
{
	if (n->name.n)
		return n->name;
	struct str label = { 0 };
	str_add(&label, n->op.p, n->op.n);
	str_puts(&label, "_");
	str_add_int(&label, index);
	struct text t = { arena_strndup(a, label.p, label.n), label.n };
	str_free(&label);
	return t;
}

const char *model_external_path(const struct model *m, int i, struct arena *a)
{
	const char *slash = strrchr(m->path, '/');
	int folder = slash ? (int)(slash - m->path) + 1 : 0;
	return arena_printf(a, "%.*s%.*s", folder, m->path, (int)m->externals[i].n, m->externals[i].p);
}
