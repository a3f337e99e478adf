/* What the tests of the loader share: a model from bytes, and looking things up in it. */
#ifndef MODEL_HELP_H
#define MODEL_HELP_H

#include "model/graph.h"

#include "onnx_bytes.h"
#include "tap.h"

/* ONNX element types */
enum { FLOAT = 1, INT64 = 7, BOOL = 9 };

static struct error err;

/* Loads these bytes from a file; empties them. */
UNUSED_OK struct model *load_bytes(struct str *m)
{
	err.text[0] = '\0';
	struct model *model = scratch_write(m->p, m->n) ? model_load(scratch_file, &err) : NULL;
	str_free(m);
	return model;
}

/* IR 10, operator set 17; empties the graph. */
UNUSED_OK struct model *load_graph_bytes(struct str *graph)
{
	struct str m = put_model(graph, 10, 17);
	return load_bytes(&m);
}

/* No model came of it, and the error names the file and says this? Gives the model back. */
UNUSED_OK void is_refused(struct model *m, const char *part, const char *name)
{
	if (!ok(!m && strstr(err.text, part) && strstr(err.text, scratch_file) == err.text, "%s: refused",
		    name))
		printf("# said: %s\n", err.text);
	model_free(m);
}

UNUSED_OK bool warned(const struct model *m, const char *part)
{
	for (int i = 0; i < m->warning_count; i++)
		if (strstr(m->warnings[i], part))
			return true;
	return false;
}

UNUSED_OK int value_at(const struct graph *g, const char *name)
{
	for (int i = 0; i < g->value_count; i++)
		if (text_is(g->values[i].name, name))
			return i;
	return -1;
}

UNUSED_OK const struct node *node_at(const struct graph *g, const char *name)
{
	for (int i = 0; i < g->node_count; i++)
		if (text_is(g->nodes[i].name, name))
			return &g->nodes[i];
	return NULL;
}

/* An AttributeProto with what is in `content`, which it empties; type 0: none is given. */
UNUSED_OK void put_attribute(struct str *to, const char *name, int type, struct str *content)
{
	struct str a = { 0 };
	put_text(&a, 1, name);
	if (content->n)
		str_add(&a, content->p, content->n);
	str_free(content);
	if (type)
		put_int(&a, 20, type);
	put_message(to, 5, &a);
}

/* A body as an attribute; empties it. */
UNUSED_OK void put_body(struct str *to, const char *name, struct str *graph)
{
	struct str content = { 0 };
	put_message(&content, 6, graph);
	put_attribute(to, name, 5, &content);
}

/* An operator set that a model (field 8) or a function (9) imports. */
UNUSED_OK void put_import(struct str *to, const char *domain, int64_t version, unsigned field)
{
	struct str set = { 0 };
	put_text(&set, 1, domain);
	put_int(&set, 2, version);
	put_message(to, field, &set);
}

#endif
