/* Infers types, shapes and known contents of all values, node by node. Data propagation: a rule also computes
 * the elements of a small integer or float output if it can (a Shape, then Gather, Concat, Reshape), so that
 * shapes computed by the model are known without running it. Elements may be symbolic. The idea is that of
 * onnx.shape_inference with data_prop. */
#include "config.h"

#include "plan/plan_private.h"

#include <string.h>

/* When this many elements are kept, the contents of further large values are dropped, so that a hostile model
 * cannot fill the memory. Short contents, which shapes are made of, are always kept. */
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

/* A declared shape with the bindings applied. */
static struct shape declared_shape(struct builder *b, const struct value *v)
{
	if (v->shape.rank < 0)
		return SHAPE_UNKNOWN;
	struct shape s = shape_make(&b->p->arena, v->shape.rank);
	for (int i = 0; i < s.rank; i++)
		s.dims[i] = bind_dim(b, v->shape.dims[i]);
	return s;
}

/* Warns of an input whose shape is unknown or empty because it declares a dimension of 0. */
static void warn_zeros(struct builder *b, const struct value *from, const struct plan_value *v)
{
	bool empty = false, unknown = false;
	for (int i = 0; i < v->shape.rank; i++) {
		empty |= v->shape.dims[i].kind == DIM_KNOWN && v->shape.dims[i].value == 0;
		unknown |= v->shape.dims[i].kind == DIM_UNKNOWN;
	}
	const char *name = text_clean(&b->p->arena, from->name);
	if (from->zeros && (empty || unknown))
		plan_warn(b, "input \"%s\" declares a dimension of 0%s --input %s=SHAPE%s", name,
			unknown ? "; it is treated as unknown: give" : "; if it is not empty, give", name,
			unknown && v->shape.dims[0].kind == DIM_UNKNOWN ? " (-b sets the first)" : "");
}

static void value_init(struct builder *b, const struct value *from, struct plan_value *v)
{
	*v = (struct plan_value){
		.name = from->name,
		.producer = from->producer,
		.outer = b->up ? from->outer : -1,
		.kind = from->kind,
		.is_input = from->is_input,
		.is_output = from->is_output,
		.shape = SHAPE_UNKNOWN,
		.held = plan_held(&b->p->arena, dim_unknown(), NULL),
	};
	if (from->initializer) {
		value_of_initializer(b, v, from->initializer);
	} else if (from->outer >= 0 && b->up) {
		const struct plan_value *outer = &b->up->p->values[from->outer];
		v->dtype = outer->dtype;
		v->shape = outer->shape;
		v->constant = outer->constant;
		v->given = outer->given;
		v->kind = outer->kind;
		v->held = outer->held;
		v->elements = outer->elements;
	} else if (from->producer < 0) {
		v->dtype = from->dtype;
		v->shape = b->up ? declared_shape(b, from) : bind_input(b, from);
		if (!b->up)
			warn_zeros(b, from, v);
		v->elements = b->up ? NULL : given_elements(b, from, v->shape);
		v->given = v->elements != NULL;
	}
}

/* ---- calls */

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
		b->inputs[j] = plan_op_value(b->p, n->inputs[j]);
	for (int j = 0; j < n->output_count; j++)
		b->outputs[j] = plan_op_value(b->p, n->outputs[j]);
	*c = (struct op_call){
		.op = b->p->layers[i].op,
		.node = n,
		.opset = n->opset,
		.input_count = op_inputs_known(b->p->layers[i].op, n->input_count),
		.output_count = n->output_count,
		.inputs = b->inputs,
		.outputs = b->outputs,
		.arena = &b->p->arena,
	};
}

/* ---- the shapes that the file declares, compared with the inferred ones */

static void declared_contradicts(struct builder *b, const struct plan_value *v, struct shape declared)
{
	struct arena *a = &b->p->arena;
	struct guess *guess = b->top->guess;
	if (bind_is_stale(b))
		return;
	const char *text = arena_printf(a, "value %s: the file declares shape %s, its operators give %s",
		text_clean(a, v->name), shape_text(a, declared), shape_text(a, v->shape));
	for (int i = 0; guess->made && !b->top->quiet && i < v->shape.rank && i < declared.rank; i++) {
		struct dim made = v->shape.dims[i], said = declared.dims[i];
		if (made.kind != DIM_KNOWN || made.value != guess->batch || said.kind != DIM_KNOWN ||
			said.value <= guess->batch)
			continue;
		guess->declared = said.value;
		guess->contradiction = text;
	}
	plan_warn(b, "%s", text);
}

/* True if the declared dimension is more precise than the inferred one: a number is unless it exceeds the
 * upper bound; an unbound symbol is not if there is an upper bound. */
static bool declared_tells(struct dim inferred, struct dim declared)
{
	return inferred.kind == DIM_UNKNOWN && !dim_differs(inferred, declared) &&
	       (declared.kind == DIM_KNOWN || (declared.kind == DIM_SYMBOLIC && inferred.upper < 0));
}

/* Warns of a declared type that is not the inferred one, once: not in a plan with another float type. */
static void declared_type_check(struct builder *b, const struct value *from, const struct plan_value *v)
{
	if (from->dtype == DTYPE_UNKNOWN || v->dtype == DTYPE_UNKNOWN || from->dtype == v->dtype ||
		b->o->dtype > DTYPE_F32)
		return;
	plan_warn(b,
		"%s %s: the file declares type %s, its operators give %s; ONNX Runtime refuses the model",
		v->is_output && !b->up ? "output" : "value", text_clean(&b->p->arena, v->name),
		dtype_name(from->dtype), dtype_name(v->dtype));
}

static void declared_merge(struct builder *b, const struct value *from, struct plan_value *v)
{
	declared_type_check(b, from, v);
	if (v->dtype == DTYPE_UNKNOWN)
		v->dtype = from->dtype;
	if (from->shape.rank < 0)
		return;
	/* After -b or --input replaced a fixed size, declared sizes are out of date; the rank is not. */
	bool stale = bind_is_stale(b), contradicts = v->shape.rank >= 0 && v->shape.rank != from->shape.rank;
	struct shape declared = declared_shape(b, from);
	if (v->shape.rank < 0) {
		v->shape = declared;
		for (int i = 0; stale && i < declared.rank; i++)
			declared.dims[i] = dim_unknown();
		return;
	}
	bool believed = false;
	struct shape made = v->shape;
	for (int i = 0; !contradicts && i < declared.rank; i++) {
		contradicts = dim_differs(v->shape.dims[i], declared.dims[i]);
		if (declared_tells(v->shape.dims[i], declared.dims[i]) && !stale) {
			believed |= v->shape.dims[i].upper > 0;
			struct shape copy = shape_make(&b->p->arena, declared.rank);
			memcpy(copy.dims, v->shape.dims, (size_t)declared.rank * sizeof(*copy.dims));
			copy.dims[i] = declared.dims[i];
			v->shape = copy;
		}
	}
	if (contradicts)
		declared_contradicts(b, v, declared);
	else if (believed)
		plan_warn(b, "value %s: its shape %s depends on data; benanza uses the file's shape %s",
			text_clean(&b->p->arena, v->name), shape_text(&b->p->arena, made),
			shape_text(&b->p->arena, declared));
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
		v->given = c->outputs[j].given;
		v->elements = elements_keep(b, c->outputs[j].elements);
		/* an inferred kind wins; without a rule it is "tensor", so that the declared one is used */
		v->kind = c->outputs[j].kind != VALUE_TENSOR ? c->outputs[j].kind : declared->kind;
		v->held = plan_held(&b->p->arena, c->outputs[j].length, c->outputs[j].items);
		/* a declared type of a sequence's tensors may be true of only some of them */
		if (c->outputs[j].kind == VALUE_TENSOR)
			declared_merge(b, declared, v);
	}
}

/* ---- the batch baked into a Reshape */

static bool node_is(const struct node *n, const char *op)
{
	return n->domain.n == 0 && text_is(n->op, op);
}

/* The constant target of a Reshape, if its first dimension is a number and neither copied (0) nor computed
 * (-1); returns that dimension. 0: no such target. */
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

/* An error if node i is a Reshape whose target contains the model's own batch, but another is bound. failed:
 * its rule has just reported an error. */
static int reshape_check(struct builder *b, int i, bool failed, struct error *err)
{
	const struct node *n = &b->g->nodes[i];
	const struct plan_batch *own = &b->top->symbols.batch;
	struct shape target = SHAPE_UNKNOWN;
	int64_t batch = b->top->p->batch, first = 0;
	if (batch > 0 && n->input_count > 0 && n->inputs[0] >= 0)
		first = reshape_first(b, n, &target);
	if (!first || first == batch || batch == own->was) /* of the file: the batch is not to blame */
		return 0;
	const struct plan_value *x = &b->p->values[n->inputs[0]];
	bool carries = !x->constant && x->shape.rank > 0 && x->shape.dims[0].kind == DIM_KNOWN &&
		       x->shape.dims[0].value == batch;
	/* A target that fits may fold the batch into other dimensions. That is certain only if the batch
	 * replaced a number of the model. */
	bool folds = carries && bind_is_stale(b) && first == own->was;
	if (!failed && !folds)
		return 0;
	return error_set(err,
		"layer %s: this Reshape bakes batch %lld into its target %s, so the model cannot run at "
		"batch %lld",
		text_clean(&b->p->arena, b->p->layers[i].name), (long long)first,
		shape_text(&b->p->arena, target), (long long)batch);
}

/* ---- the walk */

static void layer_init(struct builder *b, int i)
{
	const struct node *n = &b->g->nodes[i];
	struct plan_layer *l = &b->p->layers[i];
	const struct op *own = op_own_find(b->o->operators, n->domain, n->op);
	*l = (struct plan_layer){
		.index = i,
		.node = n,
		.op = own ? own : op_find(n->domain, n->op, n->opset),
		.name = node_label(&b->p->arena, n, i),
		.input_count = n->input_count,
		.output_count = n->output_count,
		.inputs = n->inputs,
		.outputs = n->outputs,
		.problem = -1,
		.absorbed_by = -1,
	};
}

#define BOUND_SHOWN 6
#define BOUND_NAME 40 /* bytes shown of a name */

/* Notes that an error names the value of a symbol. */
static void bound_name(const struct plan_options *o, const struct plan_symbol *s)
{
	for (int i = 0; o->named && i < o->binding_count; i++)
		o->named[i] |= !s->by_shape && !s->by_batch && text_equal(o->bindings[i].name, s->name);
}

/* Adds the given sizes to the error: one of them may cause the contradiction. */
static void bound_context(const struct plan_symbols *symbols, const struct plan_options *o, struct error *err)
{
	struct str list = { 0 };
	int count = 0, others = 0;
	for (int i = 0; i < symbols->count; i++) {
		const struct plan_symbol *s = &symbols->at[i];
		struct text name = { s->name.p, s->name.n < BOUND_NAME ? s->name.n : BOUND_NAME };
		if (!s->bound || s->derived || s->guessed || count++ >= BOUND_SHOWN)
			continue;
		others += !s->batch;
		bound_name(o, s);
		str_puts(&list, count > 1 ? ", " : "");
		str_add_clean(&list, name);
		str_addf(&list, "%s=%lld", name.n < s->name.n ? "..." : "", (long long)s->value);
	}
	if (others)
		error_context(err, "with %.*s%s", (int)list.n, list.p, count > BOUND_SHOWN ? " ..." : "");
	else if (o->named)
		memset(o->named, false, (size_t)o->binding_count);
	str_free(&list);
}

static void guess_number(struct guess *guess, int64_t number)
{
	bool fits = number > 1 && number <= INT32_MAX && guess->number_count < GUESS_NUMBERS;
	for (int i = 0; i < guess->number_count; i++)
		fits &= guess->numbers[i] != number;
	if (fits)
		guess->numbers[guess->number_count++] = number;
}

/* Numbers that a layer has, and their sum: parts of a Split. */
static void guess_list(struct guess *guess, size_t count, const int64_t *numbers)
{
	int64_t sum = 0;
	for (size_t i = 0; i < count && i < GUESS_NUMBERS; i++)
		if (numbers[i] > 0 && numbers[i] <= INT32_MAX)
			sum += numbers[i];
	guess_number(guess, count > 1 && count <= GUESS_NUMBERS ? sum : 0);
	for (size_t i = 0; i < count && i < GUESS_NUMBERS; i++)
		guess_number(guess, numbers[i]);
}

/* Collects the numbers of a layer that refused: the target of a Reshape, attributes, contents and dimensions
 * of its inputs. */
static void guess_numbers(struct builder *b, int i, const struct op_call *c)
{
	struct guess *guess = b->top->guess;
	struct shape target;
	guess_number(guess, reshape_first(b, &b->g->nodes[i], &target));
	for (int j = 0; j < c->input_count; j++) {
		const struct elements *e = c->inputs[j].elements;
		int64_t numbers[GUESS_NUMBERS];
		int count = e && e->i ? e->count < GUESS_NUMBERS ? e->count : GUESS_NUMBERS : 0;
		for (int k = 0; k < count; k++)
			numbers[k] = e->i[k].kind == DIM_KNOWN ? e->i[k].value : 0;
		guess_list(guess, (size_t)count, numbers);
	}
	for (int j = 0; j < c->node->attribute_count; j++)
		if (c->node->attributes[j].kind == ATTRIBUTE_INTS)
			guess_list(guess, c->node->attributes[j].count, c->node->attributes[j].ints);
	for (int j = 0; j < c->input_count; j++)
		for (int k = 0; k < c->inputs[j].shape.rank; k++)
			if (c->inputs[j].shape.dims[k].kind == DIM_KNOWN)
				guess_number(guess, c->inputs[j].shape.dims[k].value);
}

/* A rule reported an error. In the main graph the model is contradictory, which is an error of the plan. A
 * body may never run, so there it is a warning. */
static int infer_refused(struct builder *b, int i, struct op_call *c, struct error *err)
{
	char *name = text_clean(&b->p->arena, b->p->layers[i].name);
	guess_numbers(b, i, c);
	b->top->guess->refused = true;
	if (reshape_check(b, i, true, err))
		return -1;
	if (b->up) {
		plan_warn(b, "in a subgraph, layer %s: %s", name, err->text);
		/* keeps every later rule from seeing this call */
		b->p->layers[i].op = NULL;
		b->p->layers[i].why = arena_printf(&b->p->arena, "%s", err->text);
		for (int j = 0; j < c->output_count; j++)
			c->outputs[j] = (struct op_value){ .present = c->outputs[j].present,
				.shape = SHAPE_UNKNOWN,
				.length = dim_unknown() };
		return 0;
	}
	error_context(err, "layer %s", name);
	const struct plan_batch *batch = &b->symbols.batch;
	if (batch->is > 0 && batch->was > 0)
		error_context(err, "the model is contradictory at batch %lld (its own is %lld)",
			(long long)batch->is, (long long)batch->was);
	bound_context(&b->symbols, b->o, err);
	return -1;
}

static int infer_node(struct builder *b, int i, struct error *err)
{
	const struct node *n = &b->g->nodes[i];
	struct error why = ERROR_NONE;
	struct op_call c;
	layer_init(b, i);
	infer_call(b, i, &c);
	int refused = op_infer(&c, &why);
	if (refused) {
		if (infer_refused(b, i, &c, &why))
			return error_set(err, "%s", why.text);
	} else if (reshape_check(b, i, false, err)) {
		return -1;
	}
	if (control_infer(b, i, &c, err))
		return -1;
	outputs_store(b, n, &c);
	return 0;
}

/* Sets the inputs of a body. Its declarations fill in what is unknown. */
static void inputs_store(struct builder *b)
{
	for (int i = 0; b->given && i < b->g->input_count; i++) {
		struct plan_value *v = &b->p->values[b->g->inputs[i]];
		const struct op_value *given = &b->given[i];
		if (!given->present)
			continue;
		v->dtype = given->dtype;
		v->shape = given->shape;
		v->elements = given->elements;
		v->given = given->given;
		v->constant = false;
		v->kind = given->kind;
		v->held = plan_held(&b->p->arena, given->length, given->items);
		if (v->kind == VALUE_TENSOR)
			declared_merge(b, &b->g->values[b->g->inputs[i]], v);
	}
}

int infer_graph(struct builder *b, struct error *err)
{
	struct plan *p = b->p;
	p->value_count = b->g->value_count;
	p->layers = ARENA_ARRAY(&p->arena, struct plan_layer, b->g->node_count);
	p->values = ARENA_ARRAY(&p->arena, struct plan_value, p->value_count);
	for (int i = 0; i < p->value_count; i++)
		value_init(b, &b->g->values[i], &p->values[i]);
	inputs_store(b);
	for (int i = 0; i < b->g->node_count; i++) {
		p->layer_count = i + 1;
		if (infer_node(b, i, err))
			return -1;
	}
	return 0;
}
