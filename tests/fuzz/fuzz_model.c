/* Bytes are a model: skimmed and loaded, as a file and as a stream, which have to agree. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include <string.h>

static void check_text(struct text t)
{
	struct arena a = { 0 };
	const char *clean = text_clean(&a, t);
	FUZZ_CHECK(strcmp(text_clean(&a, text_of(clean)), clean) == 0);
	arena_free(&a);
}

static void check_index(const int *indexes, int count, int below)
{
	for (int i = 0; i < count; i++)
		FUZZ_CHECK(indexes[i] >= -1 && indexes[i] < below);
}

static void check_graph(const struct graph *g)
{
	check_text(g->name);
	check_index(g->inputs, g->input_count, g->value_count);
	check_index(g->outputs, g->output_count, g->value_count);
	for (int i = 0; i < g->value_count; i++) {
		check_text(g->values[i].name);
		FUZZ_CHECK(g->values[i].producer < g->node_count);
		FUZZ_CHECK(g->values[i].outer < 0 || (g->parent != NULL));
	}
	for (int i = 0; i < g->node_count; i++) {
		const struct node *n = &g->nodes[i];
		check_index(n->inputs, n->input_count, g->value_count);
		check_index(n->outputs, n->output_count, g->value_count);
		for (int j = 0; j < n->input_count; j++)
			FUZZ_CHECK(n->inputs[j] < 0 || g->values[n->inputs[j]].producer < i);
		for (int j = 0; j < n->attribute_count; j++)
			if (n->attributes[j].graph)
				check_graph(n->attributes[j].graph);
	}
}

static struct model *load(const char *path)
{
	struct error err = ERROR_NONE;
	struct model *m = model_load(path, &err);
	if (!m) {
		fuzz_check_line(err.text);
		return NULL;
	}
	for (int i = 0; i < m->warning_count; i++)
		fuzz_check_line(m->warnings[i]);
	check_graph(m->graph);
	return m;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct model *file = load(fuzz_file(bytes, n));
	if (fuzz_stdin(bytes, n)) {
		struct model *stream = load("-");
		FUZZ_CHECK(!file == !stream);
		FUZZ_CHECK(!file || file->graph->node_count == stream->graph->node_count);
		FUZZ_CHECK(!file || file->graph->value_count == stream->graph->value_count);
		model_free(stream);
	}
	model_free(file);
	return 0;
}
