/* Values, and the walk that gives them types, shapes and, where known, contents. */
#include "config.h"

#include "plan/plan_private.h"

#include <string.h>

/* Contents beyond this many elements in all are forgotten, so that a hostile model cannot fill memory with
 * them; short ones, which shapes are made of, are always kept. */
#define ELEMENTS_BUDGET (4 << 20)
#define ELEMENTS_SHORT 16

static const struct elements *elements_keep(struct builder *b, const struct elements *e)
{
	if (!e || e->count <= ELEMENTS_SHORT)
		return e;
	b->top->elements += e->count;
	return b->top->elements > ELEMENTS_BUDGET ? NULL : e;
}

/* ---- values */

static void value_of_initializer(struct builder *b, struct plan_value *v, const struct tensor *t)
{
	v->dtype = t->dtype;
	v->shape = shape_known(&b->p->arena, t->rank, t->dims);
	v->constant = true;
	if (t->elements <= ELEMENTS_SHORT || b->top->elements < ELEMENTS_BUDGET)
		v->elements = elements_keep(b, op_elements_of_tensor(&b->p->arena, t));
}

/* A declared shape with bindings in force. */
static struct shape declared_shape(struct builder *b, const struct value *v)
{
	if (v->shape.rank < 0)
		return SHAPE_UNKNOWN;
	struct shape s = shape_make(&b->p->arena, v->shape.rank);
	for (int i = 0; i < s.rank; i++)
		s.dims[i] = bind_dim(b, v->shape.dims[i]);
	return s;
}

static void value_init(struct builder *b, const struct value *from, struct plan_value *v)
{
	*v = (struct plan_value){
		.name = from->name,
		.producer = from->producer,
		.kind = from->kind,
		.is_input = from->is_input,
		.is_output = from->is_output,
		.shape = SHAPE_UNKNOWN,
	};
	if (from->initializer) {
		value_of_initializer(b, v, from->initializer);
	} else if (from->outer >= 0 && b->up) {
		const struct plan_value *outer = &b->up->p->values[from->outer];
		v->dtype = outer->dtype;
		v->shape = outer->shape;
		v->constant = outer->constant;
		v->kind = outer->kind;
		v->length = outer->length;
		v->items = outer->items;
		v->elements = outer->elements;
	} else if (from->producer < 0) {
		v->dtype = from->dtype;
		v->shape = b->up ? declared_shape(b, from) : bind_input(b, from);
	}
}

/* ---- calls */

static struct op_value call_value(const struct plan_value *values, int i)
{
	if (i < 0)
		return (struct op_value){ .shape = SHAPE_UNKNOWN };
	const struct plan_value *v = &values[i];
	return (struct op_value){
		.present = true,
		.dtype = v->dtype,
		.shape = v->shape,
		.elements = v->elements,
		.constant = v->constant,
		.kind = v->kind,
		.length = v->length,
		.items = v->items,
	};
}

static void room_for(struct op_value **values, int *capacity, int count)
{
	if (count <= *capacity && *values)
		return;
	*capacity = count > 16 ? count : 16;
	*values = base_realloc(*values, (size_t)*capacity * sizeof(**values));
}

void infer_call(struct builder *b, int i, struct op_call *c)
{
	const struct node *n = &b->g->nodes[i];
	room_for(&b->inputs, &b->input_capacity, n->input_count);
	room_for(&b->outputs, &b->output_capacity, n->output_count);
	for (int j = 0; j < n->input_count; j++)
		b->inputs[j] = call_value(b->p->values, n->inputs[j]);
	for (int j = 0; j < n->output_count; j++)
		b->outputs[j] = call_value(b->p->values, n->outputs[j]);
	*c = (struct op_call){
		.op = b->p->layers[i].op,
		.node = n,
		.opset = n->opset,
		.input_count = n->input_count,
		.output_count = n->output_count,
		.inputs = b->inputs,
		.outputs = b->outputs,
		.arena = &b->p->arena,
	};
}

/* ---- what the file declares beside what was inferred */

static void declared_contradicts(struct builder *b, const struct plan_value *v, struct shape declared)
{
	struct arena *a = &b->p->arena;
	if (bind_is_stale(b))
		return;
	plan_warn(b, "value %s: the file declares shape %s, its operators give %s", text_clean(a, v->name),
		shape_text(a, declared), shape_text(a, v->shape));
}

static void declared_merge(struct builder *b, const struct value *from, struct plan_value *v)
{
	if (v->dtype == DTYPE_UNKNOWN)
		v->dtype = from->dtype;
	if (from->shape.rank < 0)
		return;
	/* Numbers of another batch or input size say nothing about this plan; the rank does. */
	bool stale = bind_is_stale(b), contradicts = v->shape.rank >= 0 && v->shape.rank != from->shape.rank;
	struct shape declared = declared_shape(b, from);
	if (v->shape.rank < 0) {
		v->shape = declared;
		for (int i = 0; stale && i < declared.rank; i++)
			declared.dims[i] = dim_unknown();
		return;
	}
	for (int i = 0; !contradicts && i < declared.rank; i++) {
		contradicts = dim_differs(v->shape.dims[i], declared.dims[i]);
		if (v->shape.dims[i].kind == DIM_UNKNOWN && declared.dims[i].kind != DIM_UNKNOWN && !stale) {
			struct shape copy = shape_make(&b->p->arena, declared.rank);
			memcpy(copy.dims, v->shape.dims, (size_t)declared.rank * sizeof(*copy.dims));
			copy.dims[i] = declared.dims[i];
			v->shape = copy;
		}
	}
	if (contradicts)
		declared_contradicts(b, v, declared);
}

static void outputs_store(struct builder *b, const struct node *n, const struct op_call *c)
{
	for (int j = 0; j < n->output_count; j++) {
		if (n->outputs[j] < 0)
			continue;
		struct plan_value *v = &b->p->values[n->outputs[j]];
		const struct value *declared = &b->g->values[n->outputs[j]];
		v->dtype = c->outputs[j].dtype;
		v->shape = c->outputs[j].shape;
		v->constant = c->outputs[j].constant;
		v->elements = elements_keep(b, c->outputs[j].elements);
		/* A rule knows better; one that does not know the operator says "tensor". */
		v->kind = c->outputs[j].kind != VALUE_TENSOR ? c->outputs[j].kind : declared->kind;
		v->length = c->outputs[j].length;
		v->items = c->outputs[j].items;
		declared_merge(b, declared, v);
	}
}

/* ---- the batch baked into a Reshape */

static bool node_is(const struct node *n, const char *op)
{
	return n->domain.n == 0 && text_is(n->op, op);
}

/* The target that a Reshape has as plain numbers in the file: a first dimension that is neither copied (0)
 * nor computed (-1). 0: no such thing. */
static int64_t reshape_first(struct builder *b, const struct node *n, struct shape *target)
{
	if (!node_is(n, "Reshape"))
		return 0;
	const struct attribute *old = node_attribute(n, "shape");
	if (n->input_count > 1 && n->inputs[1] >= 0) {
		const struct plan_value *v = &b->p->values[n->inputs[1]];
		bool literal = v->producer < 0 || node_is(&b->g->nodes[v->producer], "Constant");
		if (!v->constant || !literal || !v->elements || !v->elements->i)
			return 0;
		*target = (struct shape){ v->elements->count, v->elements->i };
	} else if (old && old->kind == ATTRIBUTE_INTS && old->count <= PROBLEM_RANK) {
		*target = shape_known(&b->p->arena, (int)old->count, old->ints);
	} else {
		return 0;
	}
	return target->rank > 0 && target->dims[0].value > 0 ? target->dims[0].value : 0;
}

/* An error when node i is a Reshape that fits only the model's own batch. failed: its rule has just refused.
 */
static int reshape_check(struct builder *b, int i, bool failed, struct error *err)
{
	const struct node *n = &b->g->nodes[i];
	const struct plan_batch *own = &b->top->symbols.batch;
	struct shape target = SHAPE_UNKNOWN;
	int64_t batch = b->top->p->batch, first = 0;
	if (batch > 0 && n->input_count > 0 && n->inputs[0] >= 0)
		first = reshape_first(b, n, &target);
	if (!first || first == batch)
		return 0;
	const struct plan_value *x = &b->p->values[n->inputs[0]];
	bool carries = !x->constant && x->shape.rank > 0 && x->shape.dims[0].kind == DIM_KNOWN &&
		       x->shape.dims[0].value == batch;
	/* Fits, but folds the batch into other dimensions: only of a batch that replaced a number is it sure.
	 */
	bool folds = carries && bind_is_stale(b) && first == own->was;
	if (!failed && !folds)
		return 0;
	return error_set(err,
		"layer %s: this Reshape bakes batch %lld into its target %s, so the model cannot run at "
		"batch %lld",
		text_clean(&b->p->arena, b->p->layers[i].name), (long long)first,
		shape_text(&b->p->arena, target), (long long)batch);
}

/* ---- bodies */

static void capture_add(struct builder *b, int value)
{
	VEC_GROW(b->captures, b->capture_count, b->capture_capacity);
	b->captures[b->capture_count++] = value;
}

/* If: what both branches agree on. */
static void branches_join(
	struct plan_layer *l, const struct node *n, struct op_call *c, const struct graph **bodies)
{
	if (!node_is(n, "If") || l->body_count != 2)
		return;
	for (int j = 0; j < n->output_count; j++) {
		if (j >= bodies[0]->output_count || j >= bodies[1]->output_count)
			return;
		const struct plan_value *x = &l->bodies[0].values[bodies[0]->outputs[j]];
		const struct plan_value *y = &l->bodies[1].values[bodies[1]->outputs[j]];
		struct op_value *out = &c->outputs[j];
		if (out->dtype == DTYPE_UNKNOWN && x->dtype == y->dtype)
			out->dtype = x->dtype;
		if (out->shape.rank >= 0 || x->shape.rank < 0 || x->shape.rank != y->shape.rank)
			continue;
		out->shape = shape_make(c->arena, x->shape.rank);
		for (int k = 0; k < x->shape.rank; k++) {
			if (dim_same(x->shape.dims[k], y->shape.dims[k]))
				out->shape.dims[k] = x->shape.dims[k];
		}
	}
}

static int body_build(struct builder *b, const struct graph *g, struct plan *body, struct error *err)
{
	struct builder inner = {
		.p = body, .m = b->m, .g = g, .o = b->o, .up = b, .top = b->top, .depth = b->depth + 1
	};
	body->model = b->m;
	body->dtype = b->p->dtype;
	body->batch = b->top->p->batch;
	for (int i = 0; i < g->value_count; i++) {
		if (g->values[i].outer >= 0)
			capture_add(b, g->values[i].outer);
	}
	return plan_graph(&inner, err);
}

/* Plans of the node's subgraphs, and their graphs in the same order. */
static int bodies_build(struct builder *b, int i, const struct graph **graphs, struct error *err)
{
	const struct node *n = &b->g->nodes[i];
	struct plan_layer *l = &b->p->layers[i];
	int count = 0;
	for (int j = 0; j < n->attribute_count; j++)
		count += n->attributes[j].graph != NULL;
	if (!count)
		return 0;
	b->top->body_layers++;
	if (b->depth >= PLAN_DEPTH) {
		plan_warn(b, "layer %s: subgraphs nested deeper than %d are left out",
			text_clean(&b->p->arena, l->name), PLAN_DEPTH);
		return 0;
	}
	l->bodies = ARENA_ARRAY(&b->p->arena, struct plan, count);
	for (int j = 0; j < n->attribute_count; j++) {
		const struct graph *g = n->attributes[j].graph;
		if (!g)
			continue;
		if (l->body_count < 2)
			graphs[l->body_count] = g;
		l->body_count++; /* before it is built: it is freed even if half done */
		if (body_build(b, g, &l->bodies[l->body_count - 1], err))
			return -1;
	}
	return 0;
}

/* ---- the walk */

static void layer_init(struct builder *b, int i)
{
	const struct node *n = &b->g->nodes[i];
	struct plan_layer *l = &b->p->layers[i];
	*l = (struct plan_layer){
		.index = i,
		.node = n,
		.op = op_find(n->domain, n->op, n->opset),
		.name = node_label(&b->p->arena, n, i),
		.input_count = n->input_count,
		.output_count = n->output_count,
		.inputs = n->inputs,
		.outputs = n->outputs,
		.problem = -1,
		.absorbed_by = -1,
	};
}

/* A rule refused. In the main graph the model contradicts itself; a body may never run, so there it is a
 * warning. */
static int infer_refused(struct builder *b, int i, struct op_call *c, struct error *err)
{
	char *name = text_clean(&b->p->arena, b->p->layers[i].name);
	if (reshape_check(b, i, true, err))
		return -1;
	if (b->up) {
		plan_warn(b, "in a subgraph, layer %s: %s", name, err->text);
		/* No rule may see such a call again. */
		b->p->layers[i].op = NULL;
		b->p->layers[i].why = arena_printf(&b->p->arena, "%s", err->text);
		for (int j = 0; j < c->output_count; j++)
			c->outputs[j] = (struct op_value){
				.present = c->outputs[j].present, .shape = SHAPE_UNKNOWN
			};
		return 0;
	}
	error_context(err, "layer %s", name);
	const struct plan_batch *batch = &b->symbols.batch;
	if (batch->is > 0 && batch->was > 0)
		error_context(err, "batch %lld in place of the model's %lld does not go through",
			(long long)batch->is, (long long)batch->was);
	return -1;
}

static int infer_node(struct builder *b, int i, struct error *err)
{
	const struct node *n = &b->g->nodes[i];
	const struct graph *bodies[2] = { NULL, NULL };
	struct error why = ERROR_NONE;
	struct op_call c;
	layer_init(b, i);
	b->capture_first[i] = b->capture_count;
	if (bodies_build(b, i, bodies, err))
		return -1;
	infer_call(b, i, &c);
	int refused = op_infer(&c, &why);
	if (refused) {
		if (infer_refused(b, i, &c, &why)) {
			*err = why;
			return -1;
		}
	} else if (reshape_check(b, i, false, err)) {
		return -1;
	}
	branches_join(&b->p->layers[i], n, &c, bodies);
	outputs_store(b, n, &c);
	return 0;
}

/* Every f32 tensor becomes one of the plan's type. */
static void types_replace(struct plan *p)
{
	for (int i = 0; p->dtype != DTYPE_F32 && i < p->value_count; i++) {
		if (p->values[i].dtype == DTYPE_F32)
			p->values[i].dtype = p->dtype;
	}
}

int infer_graph(struct builder *b, struct error *err)
{
	struct plan *p = b->p;
	p->value_count = b->g->value_count;
	p->values = ARENA_ARRAY(&p->arena, struct plan_value, p->value_count);
	p->layers = ARENA_ARRAY(&p->arena, struct plan_layer, b->g->node_count);
	b->capture_first = ARENA_ARRAY(&p->arena, int, b->g->node_count + 1);
	for (int i = 0; i < p->value_count; i++)
		value_init(b, &b->g->values[i], &p->values[i]);
	for (int i = 0; i < b->g->node_count; i++) {
		p->layer_count = i + 1;
		if (infer_node(b, i, err))
			return -1;
	}
	b->capture_first[b->g->node_count] = b->capture_count;
	types_replace(p);
	return 0;
}
