/* Writes layers of a model as models of their own, reads them again and compares their problems. Not a test
 *itself: tests/ort/write_onnx.py starts it and gives the files to onnx and ONNX Runtime.
 *
 *	write_layers MODEL DIRECTORY [filled|random] [WINDOW]
 *
 * Each distinct layer, one that has no problem once for its operator; with WINDOW, runs of that number of
 *layers instead (0: the whole model). Prints a line for each file: its name, "ok" or what is wrong, and the
 *layer. */
#include "config.h"

#include "config/config.h"
#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct error err;

static struct plan *open_plan(const char *path, bool with_dims, struct model **m)
{
	struct arena a = { 0 };
	struct plan_options o = { 0 }; /* the model's own types */
	struct dim_binding *dims;
	*m = model_load(path, &err);
	if (!*m || (with_dims && config_sidecar(path, &a, &dims, &o.binding_count, &err)))
		return NULL;
	o.bindings = with_dims ? dims : NULL;
	struct plan *p = plan_build(*m, &o, &err);
	arena_free(&a);
	return p;
}

static int write_file(const char *path, const struct str *bytes)
{
	FILE *f = fopen(path, "wb");
	bool good = f && fwrite(bytes->p, 1, bytes->n, f) == bytes->n;
	return (f && fclose(f)) || !good ? error_set(&err, "%s cannot be written", path) : 0;
}

/* "ok" if the layers of the file are those of the model, with the same problems. Layers that fill constants
 * come first. */
static const char *compare(const struct plan *p, const int *layers, int count, const char *path)
{
	static char why[1024];
	struct model *m;
	struct plan *q = open_plan(path, false, &m);
	snprintf(why, sizeof(why), "%s", q ? "ok" : err.text);
	int first = q ? q->layer_count - count : 0;
	if (first < 0)
		snprintf(why, sizeof(why), "has only %d layers", q->layer_count);
	for (int i = 0; q && first >= 0 && i < count; i++) {
		const struct plan_layer *a = &p->layers[layers[i]], *b = &q->layers[first + i];
		const struct plan_problem *x = plan_layer_problem(p, a), *y = plan_layer_problem(q, b);
		bool changed = a->quantized || a->absorbed_by >= 0; /* these depend on their neighbours */
		if (!text_equal(a->node->op, b->node->op))
			snprintf(
				why, sizeof(why), "layer %d is a %.*s", i, (int)b->node->op.n, b->node->op.p);
		else if (!changed && (x || y) && (!x || !y || strcmp(x->text, y->text) != 0))
			snprintf(why, sizeof(why), "problem %s instead of %s", y ? y->text : "(none)",
				x ? x->text : "(none)");
		else if (!changed && a->class != b->class)
			snprintf(why, sizeof(why), "class %d instead of %d", b->class, a->class);
	}
	plan_free(q);
	model_free(m);
	return why;
}

static int write_layers(
	const struct plan *p, const int *layers, int count, const char *path, enum write_weights weights)
{
	struct str bytes = { 0 }, again = { 0 };
	const struct plan_layer *l = &p->layers[layers[0]];
	int bad = plan_write(p, layers, count, weights, 7, &bytes, &err) ||
		  plan_write(p, layers, count, weights, 7, &again, &err);
	if (!bad && (bytes.n != again.n || memcmp(bytes.p, again.p, bytes.n) != 0))
		bad = error_set(&err, "two writes differ");
	if (!bad)
		bad = write_file(path, &bytes);
	const char *how = bad ? err.text : compare(p, layers, count, path);
	const struct plan_problem *problem = plan_layer_problem(p, l);
	printf("%s\t%s\t%.*s %.*s %s\n", path, how, (int)l->node->op.n, l->node->op.p, (int)l->name.n,
		l->name.p, problem ? problem->text : "-");
	str_free(&bytes);
	str_free(&again);
	return bad || strcmp(how, "ok") != 0;
}

/* True for the first layer with its problem; for one without a problem, the first of its operator. */
static bool is_first(const struct plan *p, int layer)
{
	const struct plan_layer *l = &p->layers[layer];
	if (l->problem >= 0)
		return p->problems[l->problem].first_layer == layer;
	for (int i = 0; i < layer; i++)
		if (p->layers[i].problem < 0 && text_equal(p->layers[i].node->op, l->node->op))
			return false;
	return true;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	struct model *m;
	struct plan *p = open_plan(argv[1], true, &m);
	if (!p) {
		fprintf(stderr, "%s\n", err.text);
		return 2;
	}
	enum write_weights weights = argc > 3 && strcmp(argv[3], "random") == 0 ? WRITE_RANDOM : WRITE_FILLED;
	int window = argc > 4 ? atoi(argv[4]) : 1, bad = 0;
	window = window > 0 ? window : p->layer_count;
	int *layers = calloc((size_t)window, sizeof(*layers));
	for (int first = 0; first + window <= p->layer_count; first += window) {
		char path[4096];
		if (window == 1 && !is_first(p, first))
			continue;
		for (int i = 0; i < window; i++)
			layers[i] = first + i;
		snprintf(path, sizeof(path), "%s/%04d.onnx", argv[2], first);
		bad += write_layers(p, layers, window, path, weights);
	}
	free(layers);
	plan_free(p);
	model_free(m);
	return bad ? 1 : 0;
}
