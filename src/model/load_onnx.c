/* Loads a model: skim, unpack, check, functions, graph. */
#include "config.h"

#include "model/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void load_finish_opsets(struct loader *l)
{
	struct model *m = l->m;
	m->opset_count = l->opsets.count;
	m->opsets = ARENA_ARRAY(l->arena, struct opset, m->opset_count);
	for (int i = 0; i < m->opset_count; i++) {
		m->opsets[i].domain = load_copy(l, l->opsets.items[i].domain);
		m->opsets[i].version = l->opsets.items[i].version;
	}
}

static void load_finish_warnings(struct loader *l)
{
	int kept = l->warning_count < LOAD_WARNINGS ? l->warning_count : LOAD_WARNINGS;
	l->m->warnings = ARENA_ARRAY(l->arena, char *, kept + 1);
	memcpy(l->m->warnings, l->warnings, (size_t)kept * sizeof(*l->warnings));
	l->m->warning_count = kept;
	if (l->warning_count > kept)
		l->m->warnings[l->m->warning_count++] =
			arena_printf(l->arena, "... and %d more", l->warning_count - kept);
}

static int load_model(struct loader *l, const struct skim *s)
{
	const Onnx__ModelProto *p = s->model;
	struct model *m = l->m;
	m->file_bytes = (int64_t)s->file_bytes;
	m->producer = load_text(l, p->producer_name);
	m->producer_version = load_text(l, p->producer_version);
	m->doc = load_text(l, p->doc_string);
	load_ir_version(l, p->ir_version);
	if (load_opsets(l, &l->opsets, p->opset_import, p->n_opset_import) != 0 || load_functions(l, p) != 0)
		return -1;
	m->graph = load_graph(l, p->graph, NULL, NULL);
	if (!m->graph)
		return -1;
	if (m->graph->node_count == 0)
		load_warn(l, "the model has no nodes: its outputs are inputs or constants");
	load_finish_opsets(l);
	load_finish_warnings(l);
	return 0;
}

static void load_free(struct loader *l)
{
	load_functions_free(l);
	load_external_close(l);
	hash_free(&l->locations);
	opset_list_free(&l->opsets);
	str_free(&l->key);
	arena_free(&l->scratch);
	arena_free(&l->tensor);
}

struct model *model_load(const char *path, struct error *err)
{
	return model_load_over(path, NULL, NULL, err);
}

struct model *model_load_over(const char *path, model_operators *known, const void *with, struct error *err)
{
	struct skim s;
	if (skim_open(&s, path, err) != 0)
		return NULL;
	struct model *m = base_calloc(1, sizeof(*m));
	struct loader l = { .m = m, .known = known, .known_with = with, .arena = &m->arena, .err = err };
	m->path = arena_strndup(&m->arena, path, strlen(path));
	int rc = load_model(&l, &s);
	load_free(&l);
	skim_close(&s);
	if (rc != 0) {
		error_context(err, "%s", strcmp(path, "-") == 0 ? "standard input" : path);
		model_free(m);
		return NULL;
	}
	return m;
}
