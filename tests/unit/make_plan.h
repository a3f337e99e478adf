/* Plans and results made by hand, for tests of what reads them. Values and layers are given in execution
 * order; make_finish derives readers, producers and edges. Shapes are written "1x64x56x56", "" is a scalar.
 */
#ifndef MAKE_PLAN_H
#define MAKE_PLAN_H

#include "plan/plan.h"
#include "store/results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAKE_INPUTS 6

/* The inputs of an analysis without peaks (analyze/analyze.h). */
#define GROUND(p, f, r, d) (&(struct ground){ .plan = (p), .fusion = (f), .results = (r), .device = (d) })

struct maker {
	struct plan plan;
	int value_capacity, layer_capacity, problem_capacity, border_capacity;
	enum dtype dtype;
	struct plan_problem *problems; /* as grown; the plan's may be a longer copy */
};

/* Adds a result of a problem that was measured to its end. */
__attribute__((unused)) static void results_put(struct results *r, const struct result *one)
{
	results_add(r, one);
	results_finish(r, one->problem);
}

__attribute__((unused)) static struct maker *make_begin(void)
{
	struct maker *m = base_calloc(1, sizeof(*m));
	m->plan.dtype = m->dtype = DTYPE_F32;
	m->plan.weight_bytes = m->plan.peak_live_bytes = 1e12;
	return m;
}

__attribute__((unused)) static struct shape make_shape(struct maker *m, const char *text)
{
	int64_t dims[PROBLEM_RANK];
	int rank = 0;
	for (char *end; *text; text = *end ? end + 1 : end)
		dims[rank++] = strtoll(text, &end, 10);
	return shape_known(&m->plan.arena, rank, dims);
}

__attribute__((unused)) static int make_value(struct maker *m, const char *shape)
{
	VEC_GROW(m->plan.values, m->plan.value_count, m->value_capacity);
	m->plan.values[m->plan.value_count] = (struct plan_value){
		.dtype = m->dtype,
		.shape = make_shape(m, shape),
		.producer = -1,
		.outer = -1,
		.dies_in = -1,
		.held = plan_held(&m->plan.arena, dim_unknown(), NULL),
	};
	return m->plan.value_count++;
}

__attribute__((unused)) static int make_input(struct maker *m, const char *shape)
{
	int v = make_value(m, shape);
	m->plan.values[v].is_input = true;
	return v;
}

/* A weight; make_scalar: one whose contents are known. */
__attribute__((unused)) static int make_constant(struct maker *m, const char *shape)
{
	int v = make_value(m, shape);
	m->plan.values[v].constant = true;
	return v;
}

__attribute__((unused)) static int make_scalar(struct maker *m, double content)
{
	int v = make_constant(m, "");
	struct elements *e = ARENA_NEW(&m->plan.arena, struct elements);
	e->count = 1;
	e->f = ARENA_NEW(&m->plan.arena, double);
	e->f[0] = content;
	m->plan.values[v].elements = e;
	return v;
}

__attribute__((unused)) static int make_problem(struct maker *m, const char *text)
{
	for (int i = 0; i < m->plan.problem_count; i++)
		if (strcmp(m->plan.problems[i].text, text) == 0)
			return i;
	VEC_GROW(m->plan.problems, m->plan.problem_count, m->problem_capacity);
	struct plan_problem *p = &m->plan.problems[m->plan.problem_count];
	*p = (struct plan_problem){ .text = arena_strndup(&m->plan.arena, text, strlen(text)) };
	struct error err = ERROR_NONE;
	struct problem parsed = { 0 };
	if (strchr(text, ':') && problem_parse(text_of(text), &parsed, &err) < 0) {
		printf("Bail out! %s: %s\n", text, err.text);
		exit(1);
	}
	p->problem = problem_keep(&m->plan.arena, &parsed);
	return m->plan.problem_count++;
}

/* A layer of `count` inputs and one output of the given shape; problem NULL: none. Returns the output value.
 * A text without ':' serves where only its name matters. */
__attribute__((unused)) static int make_layer_n(struct maker *m, const char *op, const char *problem,
	const char *shape, int count, const int *inputs)
{
	static const char *const free_ops[] = { "Reshape", "Identity", "Dropout", "Shape", "Unsqueeze" };
	struct arena *a = &m->plan.arena;
	VEC_GROW(m->plan.layers, m->plan.layer_count, m->layer_capacity);
	struct plan_layer *l = &m->plan.layers[m->plan.layer_count];
	struct node *n = ARENA_NEW(a, struct node);
	n->op = text_of(arena_strndup(a, op, strlen(op)));
	*l = (struct plan_layer){ .index = m->plan.layer_count, .node = n, .op = op_find(TEXT(""), n->op, 17),
		.name = n->op, .class = CLASS_MEMORY,
		.input_count = count, .output_count = 1, .flops = 1, .problem = -1, .absorbed_by = -1 };
	for (size_t i = 0; i < sizeof(free_ops) / sizeof(free_ops[0]); i++)
		if (strcmp(op, free_ops[i]) == 0)
			l->class = CLASS_FREE;
	l->inputs = ARENA_ARRAY(a, int, count);
	memcpy(l->inputs, inputs, (size_t)count * sizeof(int));
	l->outputs = ARENA_NEW(a, int);
	int out = l->outputs[0] = make_value(m, shape);
	m->plan.values[out].producer = m->plan.layer_count;
	if (problem)
		l->problem = make_problem(m, problem);
	m->plan.layer_count++;
	return out;
}

__attribute__((unused)) static int make_layer(struct maker *m, const char *op, const char *problem,
	const char *shape, int a, int b)
{
	int inputs[2] = { a, b };
	return make_layer_n(m, op, problem, shape, b < 0 ? 1 : 2, inputs);
}

/* A convolution whose problem no other layer has: its number of channels is that of the layers. */
__attribute__((unused)) static int make_conv(struct maker *m, const char *shape, int x)
{
	char text[128];
	snprintf(text, sizeof(text),
		"conv:f32,f32.c,f32/f32:n1c%dh56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1",
		m->plan.layer_count + 1);
	return make_layer(m, "Conv", text, shape, x, make_constant(m, "64x64x3x3"));
}

/* A batch normalization of a value of that shape with constant parameters. */
__attribute__((unused)) static int make_batchnorm(struct maker *m, const char *shape, int channels, int x)
{
	char vector[24], problem[96];
	snprintf(vector, sizeof(vector), "%d", channels);
	int inputs[5] = { x };
	for (int i = 1; i < 5; i++)
		inputs[i] = make_constant(m, vector);
	snprintf(problem, sizeof(problem), "batchnorm:f32,f32:%s", shape);
	return make_layer_n(m, "BatchNormalization", problem, shape, 5, inputs);
}

__attribute__((unused)) static void make_border(
	struct maker *m, int value, bool is_input, const char *problem)
{
	VEC_GROW(m->plan.borders, m->plan.border_count, m->border_capacity);
	m->plan.borders[m->plan.border_count++] = (struct plan_border){
		.value = value, .is_input = is_input, .problem = make_problem(m, problem),
	};
}

static void make_add_once(int **list, int *count, struct arena *a, int room, int item)
{
	if (!*list)
		*list = ARENA_ARRAY(a, int, room);
	for (int i = 0; i < *count; i++)
		if ((*list)[i] == item)
			return;
	(*list)[(*count)++] = item;
}

static int make_compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void make_read(struct maker *m, struct plan_layer *l, int value, int room)
{
	struct plan_value *v = &m->plan.values[value];
	/* Shape(x) needs no data; constants carry none at run time */
	bool data = !v->constant && !text_is(l->node->op, "Shape");
	make_add_once(&v->consumers, &v->consumer_count, &m->plan.arena, room, l->index);
	if (!data || v->producer < 0)
		return;
	struct plan_layer *from = &m->plan.layers[v->producer];
	make_add_once(&l->preds, &l->pred_count, &m->plan.arena, l->input_count, v->producer);
	make_add_once(&from->succs, &from->succ_count, &m->plan.arena, room, l->index);
}

__attribute__((unused)) static struct plan *make_finish(struct maker *m)
{
	int *reads = base_calloc((size_t)m->plan.value_count, sizeof(int));
	for (int i = 0; i < m->plan.layer_count; i++)
		for (int k = 0; k < m->plan.layers[i].input_count; k++)
			reads[m->plan.layers[i].inputs[k]]++;
	for (int i = 0; i < m->plan.layer_count; i++) {
		struct plan_layer *l = &m->plan.layers[i];
		for (int k = 0; k < l->input_count; k++)
			make_read(m, l, l->inputs[k], reads[l->inputs[k]]);
		if (l->pred_count)
			qsort(l->preds, (size_t)l->pred_count, sizeof(int), make_compare);
	}
	free(reads);
	m->problems = m->plan.problems;
	plan_layout(&m->plan);
	return &m->plan;
}

__attribute__((unused)) static void make_end(struct maker *m)
{
	free(m->plan.values);
	free(m->plan.layers);
	free(m->problems);
	free(m->plan.borders);
	arena_free(&m->plan.arena);
	free(m);
}

/* A result with everything but the given fields at rest: algorithm "a", rank 0, net, amortized, +-1 %. */
__attribute__((unused)) static struct result make_result(const char *problem, double ns)
{
	return (struct result){
		.problem = problem,
		.algorithm = { .api = "test",
			.name = "a",
			.layouts = "",
			.math = "strict",
			.matrix = MATRIX_NO },
		.status = STATUS_OK,
		.cache = CACHE_NET,
		.launch = LAUNCH_AMORTIZED,
		.stats = { .n = 10, .median = ns, .lo = ns * 0.99, .hi = ns * 1.01, .stop = STOP_CONVERGED },
		.why = "",
		.runner_version = "test",
	};
}

__attribute__((unused)) static void measure(struct results *r, const char *problem, double ns)
{
	struct result one = make_result(problem, ns);
	results_put(r, &one);
}

__attribute__((unused)) static void measure_algorithm(
	struct results *r, const char *problem, const char *name, int rank, enum matrix matrix, double ns)
{
	struct result one = make_result(problem, ns);
	one.algorithm.name = name;
	one.algorithm.rank = rank;
	one.algorithm.matrix = matrix;
	results_put(r, &one);
}

#endif
