/* Graphs inside nodes: If and SequenceMap, whose outputs follow from their branches and bodies. Loop and Scan
 * are in control_loop.c. */
#include "config.h"

#include "plan/plan_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Limits the time for hostile or deeply nested models: nested loops multiply the trials of inner bodies.
 * Effort is counted in nodes inferred, separately for fixed points and for unrolling, so that expensive
 * unrolling leaves the fixed points their share. */
bool control_may_try(const struct builder *b)
{
	return b->top->unrolling ? b->top->unroll_effort < UNROLL_EFFORT : b->top->effort < BODY_EFFORT;
}

/* The cost of inferring a body once, in nodes. Values and inputs count less than nodes, but a body may have
 * very many. */
static int64_t effort_of(const struct graph *g)
{
	int64_t small = g->value_count;
	for (int i = 0; i < g->node_count; i++)
		small += g->nodes[i].input_count + g->nodes[i].attribute_count;
	return 1 + g->node_count + small / EFFORT_SMALL;
}

int control_body(struct builder *b, const struct graph *g, const struct op_value *given, struct plan *body,
	struct error *err)
{
	struct builder inner = { .p = body, .m = b->m, .g = g, .o = b->o, .up = b, .top = b->top,
		.depth = b->depth + 1, .given = given };
	body->model = b->m;
	body->graph = g;
	body->batch = b->top->p->batch;
	*(b->top->unrolling ? &b->top->unroll_effort : &b->top->effort) += effort_of(g);
	/* The body borrows the arena of the graph around it: its outputs point into it, and there are many
	 * trials. */
	body->arena = b->p->arena;
	b->p->arena = (struct arena){ 0 };
	int bad = infer_graph(&inner, err);
	arena_adopt(&body->arena, &b->p->arena);
	b->p->arena = body->arena;
	body->arena = (struct arena){ 0 };
	free(inner.inputs);
	free(inner.outputs);
	return bad;
}

/* Infers the body with these inputs in a plan that is discarded, without warnings, and returns its
 * outputs. The outputs stay valid because the body uses the outer graph's arena. Cost: one inference of
 * the body, counted as effort. */
int control_try(struct builder *b, const struct graph *g, const struct op_value *given, struct op_value *out,
	struct error *err)
{
	struct plan trial = { .model = b->m };
	int64_t elements = b->top->elements;
	b->top->quiet++;
	int bad = control_body(b, g, given, &trial, err);
	b->top->quiet--;
	for (int i = 0; !bad && i < g->output_count; i++)
		out[i] = plan_op_value(&trial, g->outputs[i]);
	/* a trial does not use up the budget of kept contents */
	b->top->elements = elements;
	return bad;
}

void control_output(struct op_value *out, const struct op_value *from)
{
	bool present = out->present;
	*out = *from;
	out->present = present;
}

/* ---- If */

/* 1 true, 0 false, -1 unknown. */
static int condition_of(const struct op_value *v)
{
	const struct elements *e = v->elements;
	return e && e->i && e->count == 1 && e->i[0].kind == DIM_KNOWN ? e->i[0].value != 0 : -1;
}

/* Outputs of If: those of the branch that runs if the condition is known, else the join of both branches:
 * what holds for either. times is 1 or 0 for a known condition and NaN otherwise. Fewer outputs than the
 * node's: they stay unknown. */
static void control_if(struct builder *b, struct op_call *c, int taken, struct plan *yes, struct plan *no)
{
	yes->times = taken < 0 ? NAN : taken;
	no->times = taken < 0 ? NAN : !taken;
	if (yes->graph->output_count < c->output_count || no->graph->output_count < c->output_count)
		return;
	for (int j = 0; j < c->output_count; j++) {
		struct op_value x = plan_op_value(yes, yes->graph->outputs[j]);
		struct op_value y = plan_op_value(no, no->graph->outputs[j]);
		struct op_value both = taken < 0 ? op_value_join(&b->p->arena, &x, &y, true) : taken ? x : y;
		if (taken < 0)
			both.constant = false; /* both are constants, but which one is selected is not */
		control_output(&c->outputs[j], &both);
	}
}

/* ---- SequenceMap */

static bool is_sequence(const struct op_value *v)
{
	return v->kind == VALUE_SEQUENCE || v->kind == VALUE_MAPS;
}

/* The inputs as the body sees them: of a sequence item `at` if it is known; at -1: what all items have in
 * common. */
static void map_given(const struct op_call *c, int at, struct op_value *given)
{
	for (int i = 0; i < c->input_count; i++) {
		const struct op_value *v = &c->inputs[i];
		given[i] = *v;
		if (!is_sequence(v))
			continue;
		if (at >= 0 && v->items && v->length.kind == DIM_KNOWN && at < v->length.value)
			given[i] = v->items[at];
		else
			given[i] = (struct op_value){ .present = true, .dtype = v->dtype, .shape = v->shape,
				.kind = v->kind == VALUE_MAPS ? VALUE_MAP : VALUE_TENSOR };
	}
}

/* Infers the body for each item separately, if the items are known, and keeps the results as items of the
 * output sequences; their type and shape are the join of all. One inference per item; stops without a
 * result when the effort is used up. */
static int map_items(struct loop *l, struct op_value *given, int count)
{
	struct arena *a = &l->b->p->arena;
	int outputs = l->c->output_count;
	struct op_value *made = ARENA_ARRAY(a, struct op_value, l->g->output_count);
	struct op_value **items = ARENA_ARRAY(a, struct op_value *, outputs);
	for (int j = 0; j < outputs; j++)
		items[j] = ARENA_ARRAY(a, struct op_value, count);
	for (int at = 0; at < count; at++) {
		if (!control_may_try(l->b))
			return 0;
		map_given(l->c, at, given);
		if (control_try(l->b, l->g, given, made, l->err))
			return -1;
		for (int j = 0; j < outputs; j++)
			items[j][at] = made[j];
	}
	for (int j = 0; j < outputs; j++) {
		struct op_value common = items[j][0];
		for (int at = 1; at < count; at++)
			common = op_value_join(a, &common, &items[j][at], true);
		l->c->outputs[j].dtype = common.dtype;
		l->c->outputs[j].shape = common.shape;
		l->c->outputs[j].items = items[j];
	}
	return 0;
}

static int control_sequence_map(struct loop *l)
{
	struct op_call *c = l->c;
	const struct op_value *first = &c->inputs[0];
	bool fits = l->g->input_count == c->input_count && l->g->output_count >= c->output_count &&
		is_sequence(first);
	struct op_value *given = ARENA_ARRAY(&l->b->p->arena, struct op_value, c->input_count);
	map_given(c, -1, given);
	if (control_body(l->b, l->g, fits ? given : NULL, l->body, l->err))
		return -1;
	l->body->times = fits && first->length.kind == DIM_KNOWN ? (double)first->length.value : NAN;
	for (int j = 0; fits && j < c->output_count; j++) {
		struct op_value item = plan_op_value(l->body, l->g->outputs[j]);
		c->outputs[j].kind = VALUE_SEQUENCE;
		c->outputs[j].dtype = item.dtype;
		c->outputs[j].shape = item.shape;
		c->outputs[j].length = first->length;
	}
	if (fits && first->items && first->length.kind == DIM_KNOWN && first->length.value > 0)
		return map_items(l, given, (int)first->length.value);
	return 0;
}

/* ---- all of these operators */

/* Collects the values of this graph that are read by bodies that run, or by bodies in them: each graph
 * lists the outer values that it or its inner graphs read, so one pass over the direct bodies is enough.
 * They are edges of the dependency graph like inputs. */
static void captures_find(struct builder *b, struct plan_layer *l)
{
	int most = 0;
	for (int j = 0; j < l->body_count; j++)
		for (int i = 0; l->bodies[j].times != 0 && i < l->bodies[j].graph->value_count; i++)
			most += l->bodies[j].graph->values[i].outer >= 0;
	l->captures = ARENA_ARRAY(&b->p->arena, int, most);
	for (int j = 0; j < l->body_count; j++) {
		const struct graph *g = l->bodies[j].graph;
		for (int i = 0; l->bodies[j].times != 0 && i < g->value_count; i++)
			if (g->values[i].outer >= 0)
				l->captures[l->capture_count++] = g->values[i].outer;
	}
}

static struct plan *body_of(struct plan_layer *l, const char *role)
{
	for (int i = 0; i < l->body_count; i++) {
		if (text_is(l->bodies[i].role, role))
			return &l->bodies[i];
	}
	return NULL;
}

/* The function that infers an operator that runs one body repeatedly, or NULL. */
static int (*loop_of(const struct plan_layer *l))(struct loop *)
{
	static const struct {
		const char *op;
		int (*infer)(struct loop *);
	} rows[] = { { "Loop", control_loop }, { "Scan", control_scan },
		{ "SequenceMap", control_sequence_map } };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (plan_layer_is(l, rows[i].op))
			return rows[i].infer;
	return NULL;
}

/* Creates empty plans for the node's graphs, and finds the values that they read. */
static void bodies_init(struct builder *b, struct plan_layer *l, int count)
{
	const struct node *n = l->node;
	l->bodies = ARENA_ARRAY(&b->p->arena, struct plan, count);
	for (int j = 0; j < n->attribute_count; j++) {
		if (!n->attributes[j].graph)
			continue;
		struct plan *body = &l->bodies[l->body_count++];
		body->graph = n->attributes[j].graph;
		body->role = n->attributes[j].name;
		body->times = NAN;
	}
}

/* Infers each body once: loops by their own function, branches of If plainly. A branch that a known
 * condition excludes is inferred too, because it is listed, but without warnings: it may be wrong for
 * these shapes. */
static int bodies_infer(struct builder *b, struct plan_layer *l, struct op_call *c, struct error *err)
{
	int (*loop)(struct loop *) = loop_of(l);
	struct plan *body = body_of(l, "body"), *yes = body_of(l, "then_branch"),
		*no = body_of(l, "else_branch");
	bool is_if = plan_layer_is(l, "If") && yes && no;
	int taken = is_if ? condition_of(&c->inputs[0]) : -1;
	for (int i = 0, count = l->body_count; i < count; i++) {
		struct loop one = { .b = b,
			.c = c,
			.g = l->bodies[i].graph,
			.body = &l->bodies[i],
			.err = err,
			.layer = l->body_count == 1 ? l : NULL };
		bool is_loop = loop && one.body == body, left = taken >= 0 && one.body == (taken ? no : yes);
		b->top->quiet += left; /* errors in a branch that never runs are ignored */
		int bad = is_loop ? loop(&one) : control_body(b, one.g, NULL, one.body, err);
		b->top->quiet -= left;
		if (bad)
			return -1;
	}
	if (is_if)
		control_if(b, c, taken, yes, no);
	return 0;
}

int control_infer(struct builder *b, int i, struct op_call *c, struct error *err)
{
	struct plan_layer *l = &b->p->layers[i];
	int count = 0;
	for (int j = 0; j < l->node->attribute_count; j++)
		count += l->node->attributes[j].graph != NULL;
	if (!count)
		return 0;
	if (b->depth >= PLAN_DEPTH) {
		plan_warn(b, "layer %s: subgraphs nested deeper than %d are ignored",
			text_clean(&b->p->arena, l->name), PLAN_DEPTH);
		return 0;
	}
	bodies_init(b, l, count);
	if (bodies_infer(b, l, c, err))
		return -1;
	captures_find(b, l);
	for (int j = 0; j < c->output_count; j++) {
		struct op_value *v = &c->outputs[j];
		if (v->elements && v->kind == VALUE_TENSOR && !v->constant && !v->given)
			v->constant = op_elements_concrete(v->elements);
	}
	return 0;
}
