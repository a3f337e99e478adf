/* Loop and Scan. A body is inferred for any iteration by a fixed point, as in abstract interpretation (Cousot
 * and Cousot, POPL 1977): start with the initial values of the loop-carried variables, infer the body, join
 * its results with the values before, repeat until nothing changes; variables that keep changing are widened
 * to unknown. A Loop of few iterations is also unrolled, each with its own values, because exporters compute
 * shapes in such loops. */
#include "config.h"

#include "plan/plan_private.h"

#include <math.h>
#include <string.h>

#define ROUNDS_JOINED 4    /* after these iterations variables that still change are widened to unknown */
#define ROUNDS_MOST 8      /* after these all variables are */
#define UNROLL_ROUNDS 64   /* most iterations that are unrolled */
#define UNROLL_ELEMENTS 64 /* outputs with more elements are not worth unrolling */
#define UNROLL_LAYERS 4096 /* most layers of iterations that are listed separately, in the whole model */

/* Inputs and outputs of the body. `carried` variables return from out[out_first] on to in[in_first] on. */
struct rounds {
	struct loop *l;
	struct op_value *in, *out;
	int in_first, out_first, carried;
};

static void rounds_init(struct rounds *r, struct loop *l, int in_first, int out_first, int carried)
{
	struct arena *a = &l->b->p->arena;
	*r = (struct rounds){ .l = l, .in_first = in_first, .out_first = out_first, .carried = carried };
	r->in = ARENA_ARRAY(a, struct op_value, l->g->input_count);
	r->out = ARENA_ARRAY(a, struct op_value, l->g->output_count);
}

static int round_try(struct rounds *r)
{
	return control_try(r->l->b, r->l->g, r->in, r->out, r->l->err);
}

/* Widens a value: only its type and kind remain known. */
static void value_forget(struct op_value *v)
{
	*v = (struct op_value){ .present = true, .dtype = v->dtype, .kind = v->kind, .shape = SHAPE_UNKNOWN,
		.length = dim_unknown() };
}

/* One step of the fixed point: replaces each carried value with the join of itself and the body's result,
 * which keeps what holds for both. From iteration ROUNDS_JOINED on, a value that still changes is widened
 * to unknown, so that the sequence ends (Cousot and Cousot, 1977). False if nothing changed. */
static bool round_widen(struct rounds *r, int round)
{
	bool changed = false;
	for (int i = 0; i < r->carried; i++) {
		struct op_value *v = &r->in[r->in_first + i], *from = &r->out[r->out_first + i];
		if (v->dtype == DTYPE_UNKNOWN)
			v->dtype = from->dtype; /* its type is fixed */
		struct op_value both = op_value_join(&r->l->b->p->arena, v, from, false);
		if (op_value_same(v, &both))
			continue;
		changed = true;
		*v = both;
		if (round >= ROUNDS_JOINED)
			value_forget(v);
	}
	return changed;
}

/* Finds what holds for the carried variables before every iteration (the fixed point, in r->in): infers
 * the body and joins until nothing changes, at most ROUNDS_MOST times or as long as the effort for bodies
 * lasts; after that all are unknown. Cost: one inference of the body per iteration. */
static int rounds_widen(struct rounds *r)
{
	for (int round = 0;; round++) {
		if (round == ROUNDS_MOST || (r->carried && !control_may_try(r->l->b))) {
			for (int i = 0; i < r->carried; i++)
				value_forget(&r->in[r->in_first + i]);
			return 0;
		}
		if (!r->carried)
			return 0;
		if (round_try(r))
			return -1;
		if (!round_widen(r, round))
			return 0;
	}
}

/* Infers the body with these inputs as it is listed, and sets r->out to what holds after any iteration. */
static int rounds_settle(struct rounds *r)
{
	if (control_body(r->l->b, r->l->g, r->in, r->l->body, r->l->err))
		return -1;
	for (int i = 0; i < r->l->g->output_count; i++)
		r->out[i] = plan_op_value(r->l->body, r->l->g->outputs[i]);
	return 0;
}

static double times_of(struct dim trips)
{
	return trips.kind == DIM_KNOWN ? (double)trips.value : NAN;
}

/* A scan output: the body's output stacked `trips` times along a new axis. */
static void stack_output(struct loop *l, struct op_value *out, const struct op_value *item,
	struct dim trips, int axis)
{
	out->dtype = item->dtype;
	out->kind = VALUE_TENSOR;
	out->shape = SHAPE_UNKNOWN;
	if (item->shape.rank < 0)
		return;
	int rank = item->shape.rank + 1;
	axis = axis < 0 ? axis + rank : axis;
	out->shape = shape_make(&l->b->p->arena, rank);
	for (int i = 0, from = 0; i < rank; i++)
		out->shape.dims[i] = i == axis ? trips : item->shape.dims[from++];
}

/* ---- Loop */

struct trips {
	struct dim limit;    /* input M, at least 0; unknown without an upper bound if unlimited */
	bool unlimited;      /* M is omitted or INT32_MAX or more */
	int condition;       /* before the first iteration: 1 true, 0 false, -1 unknown */
	struct dim count;    /* number of iterations */
};

static struct dim single(const struct op_call *c, int i)
{
	const struct elements *e = i < c->input_count && c->inputs[i].present ? c->inputs[i].elements : NULL;
	return e && e->i && e->count == 1 ? e->i[0] : dim_unknown();
}

static bool is_true(const struct op_value *v)
{
	const struct elements *e = v->elements;
	return e && e->i && e->count == 1 && e->i[0].kind == DIM_KNOWN && e->i[0].value != 0;
}

static bool is_false(const struct op_value *v)
{
	const struct elements *e = v->elements;
	return e && e->i && e->count == 1 && e->i[0].kind == DIM_KNOWN && e->i[0].value == 0;
}

/* Reads the inputs M and cond of Loop (ONNX operator specification): an omitted M means no limit, an
 * omitted cond true, a negative M no iteration. Unknown contents give an unknown limit, or condition -1. */
static struct trips trips_of(const struct op_call *c)
{
	struct trips t = { .limit = single(c, 0), .count = dim_unknown() };
	struct dim condition = single(c, 1);
	t.unlimited = c->input_count < 1 || !c->inputs[0].present;
	t.condition = c->input_count < 2 || !c->inputs[1].present ? 1 :
		      condition.kind == DIM_KNOWN ? condition.value != 0 : -1;
	if (t.limit.kind == DIM_KNOWN && t.limit.value < 0)
		t.limit = dim_known(0);
	/* Exporters write a loop without a limit this way. */
	if (t.limit.kind == DIM_KNOWN && t.limit.value >= INT32_MAX) {
		t.limit = dim_unknown();
		t.unlimited = true;
	}
	return t;
}

/* Number of iterations, from what holds for every one: 0 if it never starts; M if the condition stays
 * true; 1 if it is false after any iteration. Otherwise unknown, with M as its upper bound if there is
 * one. */
static void trips_count(struct trips *t, const struct op_value *condition_after)
{
	bool none = t->condition == 0 || (t->limit.kind == DIM_KNOWN && t->limit.value == 0);
	t->count = dim_unknown_upto(t->unlimited ? -1 : t->limit.upper);
	if (none)
		t->count = dim_known(0);
	else if (t->condition == 1 && is_true(condition_after) && !t->unlimited)
		t->count = t->limit;
	else if (t->condition == 1 && is_false(condition_after) &&
		(t->unlimited || t->limit.kind == DIM_KNOWN))
		t->count = dim_known(1);
}

/* The iteration number or condition as the body's input: a scalar, or of rank 1 if declared so. */
static struct op_value body_scalar(struct loop *l, int input, enum dtype t, struct dim content)
{
	int rank = l->g->values[l->g->inputs[input]].shape.rank == 1;
	struct op_value v = { .present = true, .dtype = t, .shape = shape_make(&l->b->p->arena, rank) };
	struct elements *e = ARENA_NEW(&l->b->p->arena, struct elements);
	if (rank)
		v.shape.dims[0] = dim_known(1);
	*e = (struct elements){ .count = 1, .i = ARENA_NEW(&l->b->p->arena, struct dim) };
	e->i[0] = content;
	v.elements = e;
	return v;
}

static void loop_given(struct rounds *r, struct dim number)
{
	r->in[0] = body_scalar(r->l, 0, DTYPE_S64, number);
	r->in[1] = body_scalar(r->l, 1, DTYPE_BOOL, dim_known(1));
}

static void loop_start(struct rounds *r)
{
	for (int i = 0; i < r->carried; i++) {
		r->in[2 + i] = r->l->c->inputs[2 + i];
		r->in[2 + i].constant = false;
	}
}

/* Sets the layer's outputs: the final values at[] of the carried variables, and the stacked scan outputs. */
static void loop_outputs(struct rounds *r, const struct op_value *at, const struct op_value *scans,
	struct dim trips)
{
	struct op_call *c = r->l->c;
	for (int i = 0; i < r->carried && i < c->output_count; i++)
		control_output(&c->outputs[i], &at[i]);
	for (int i = r->carried; i < c->output_count; i++)
		stack_output(r->l, &c->outputs[i], &scans[i - r->carried], trips, 0);
}

/* Final values of the carried variables: the initial ones if the loop never runs, the body's results if
 * it surely runs, and else r->in, which was joined with both and so holds for either. */
static void loop_widened(struct rounds *r, struct dim trips)
{
	bool never = trips.kind == DIM_KNOWN && trips.value == 0, surely = trips.kind == DIM_KNOWN && !never;
	const struct op_value *end = surely ? &r->out[1] : &r->in[2];
	loop_outputs(r, never ? &r->l->c->inputs[2] : end, &r->out[1 + r->carried], trips);
}

/* ---- unrolling */

/* True if unrolling may add to what is known of an output: an unknown shape, unknown contents of at most
 * UNROLL_ELEMENTS elements, or a sequence with unknown items. It avoids UNROLL_ROUNDS inferences of the
 * body that could not change a result. */
static bool loop_is_open(const struct loop *l)
{
	for (int i = 0; i < l->c->output_count; i++) {
		const struct op_value *v = &l->c->outputs[i];
		if (!v->present)
			continue;
		bool few = shape_count(v->shape) <= UNROLL_ELEMENTS;
		if (v->kind != VALUE_TENSOR ? !v->items : !shape_is_known(v->shape) ||
			(few && v->dtype != DTYPE_STRING && !op_elements_concrete(v->elements)))
			return true;
	}
	return false;
}

/* The parts of the scan outputs collected so far. */
struct stacks {
	int count;
	struct op_value *item;           /* what all items so far have in common */
	const struct elements **parts;   /* UNROLL_ROUNDS for each scan output */
};

static void stacks_push(struct rounds *r, struct stacks *s, int round)
{
	for (int i = 0; i < s->count; i++) {
		const struct op_value *v = &r->out[1 + r->carried + i];
		s->item[i] = round ? op_value_join(&r->l->b->p->arena, &s->item[i], v, false) : *v;
		s->parts[i * UNROLL_ROUNDS + round] = v->elements;
	}
}

/* Contents of a scan output: the contents of all iterations in order, since the new axis is the first.
 * NULL if one is unknown, if they differ in size or kind, or above OP_ELEMENTS_MAX elements. Linear in
 * the elements. */
static const struct elements *stacked(struct arena *a, const struct elements *const *parts, int rounds)
{
	int each = rounds && parts[0] ? parts[0]->count : -1;
	if (each < 1 || each * rounds > OP_ELEMENTS_MAX)
		return NULL;
	struct elements *e = ARENA_NEW(a, struct elements);
	e->count = each * rounds;
	if (parts[0]->f)
		e->f = ARENA_ARRAY(a, double, e->count);
	else
		e->i = ARENA_ARRAY(a, struct dim, e->count);
	for (int k = 0; k < rounds; k++) {
		if (!parts[k] || parts[k]->count != each || !parts[k]->f != !e->f)
			return NULL;
		if (e->f)
			memcpy(e->f + k * each, parts[k]->f, (size_t)each * sizeof(*e->f));
		else
			memcpy(e->i + k * each, parts[k]->i, (size_t)each * sizeof(*e->i));
	}
	return e;
}

/* True if an iteration with known inputs has more known outputs than `any` iteration. */
static bool round_tells(struct rounds *r, const struct op_value *any)
{
	for (int i = 0; i < r->l->g->output_count; i++)
		if (!op_value_same(&r->out[i], &any[i]))
			return true;
	return false;
}

static void unrolled(struct rounds *r, struct stacks *s, int rounds)
{
	struct op_call *c = r->l->c;
	loop_outputs(r, &r->in[2], s->item, dim_known(rounds));
	for (int i = r->carried; i < c->output_count; i++)
		c->outputs[i].elements =
			stacked(&r->l->b->p->arena, s->parts + (i - r->carried) * UNROLL_ROUNDS, rounds);
	r->l->body->times = rounds;
}

static bool body_is_known(const struct plan *p)
{
	for (int i = 0; i < p->value_count; i++) {
		const struct plan_value *v = &p->values[i];
		if (v->producer >= 0 && v->kind == VALUE_TENSOR && !shape_is_known(v->shape))
			return false;
	}
	return true;
}

/* Lists iterations with different shapes separately, each with its own cost: infers the body once more
 * for each from the saved inputs. Skipped if all shapes are known for any iteration (one body with a
 * factor is enough), in trials, and beyond UNROLL_LAYERS layers in the whole model. */
static int rounds_keep(struct rounds *r, struct op_value *const *in, int rounds)
{
	struct loop *l = r->l;
	struct arena *a = &l->b->p->arena;
	struct text role = l->body->role;
	int64_t layers = l->b->top->kept + (int64_t)rounds * l->g->node_count;
	if (!l->layer || l->b->top->quiet || layers > UNROLL_LAYERS || !control_may_try(l->b) ||
		body_is_known(l->body))
		return 0;
	l->b->top->kept = layers;
	l->layer->bodies = ARENA_ARRAY(a, struct plan, rounds);
	l->layer->body_count = 0;
	for (int k = 0; k < rounds; k++) {
		struct plan *body = &l->layer->bodies[l->layer->body_count++];
		body->role = text_of(arena_printf(a, "%.*s, round %d", (int)role.n, role.p, k));
		body->times = 1;
		if (control_body(l->b, l->g, in[k], body, l->err))
			return -1;
	}
	return 0;
}

/* Symbolic execution: infers iteration after iteration from the initial values, as long as the condition
 * after each is known. Stops without a change if the first iteration gives nothing more than `any`, if a
 * condition is unknown, or after UNROLL_ROUNDS. Outputs change only if the last iteration is found. */
static int loop_unroll(struct rounds *r, const struct trips *t, const struct op_value *any)
{
	struct loop *l = r->l;
	struct arena *a = &l->b->p->arena;
	struct stacks s = { .count = l->g->output_count - 1 - r->carried };
	s.item = ARENA_ARRAY(a, struct op_value, s.count);
	s.parts = ARENA_ARRAY(a, const struct elements *, s.count * UNROLL_ROUNDS);
	struct op_value *in[UNROLL_ROUNDS];
	loop_start(r);
	for (int round = 0; round < UNROLL_ROUNDS; round++) {
		loop_given(r, dim_known(round));
		in[round] = ARENA_ARRAY(a, struct op_value, l->g->input_count);
		memcpy(in[round], r->in, (size_t)l->g->input_count * sizeof(*r->in));
		l->b->top->unrolling++;
		int bad = !control_may_try(l->b) ? 1 : round_try(r);
		l->b->top->unrolling--;
		if (bad)
			return bad < 0 ? -1 : 0;
		bool last = is_false(&r->out[0]) || (!t->unlimited && round + 1 == t->limit.value);
		if ((!last && !is_true(&r->out[0])) || (round == 0 && !round_tells(r, any)))
			return 0;
		stacks_push(r, &s, round);
		memcpy(&r->in[2], &r->out[1], (size_t)r->carried * sizeof(*r->in));
		if (last) {
			unrolled(r, &s, round + 1);
			return rounds_keep(r, in, round + 1);
		}
	}
	return 0;
}

/* Loop: the fixed point gives the shapes for any number of iterations; the body's condition gives the
 * number. Few iterations with open outputs are also unrolled. Cost: at most ROUNDS_MOST + 1 inferences of
 * the body, UNROLL_ROUNDS more if unrolled, and as many again if they are listed. */
int control_loop(struct loop *l)
{
	struct trips t = trips_of(l->c);
	struct rounds r;
	int carried = l->c->input_count > 2 ? l->c->input_count - 2 : 0;
	bool fits = l->g->input_count == carried + 2 && l->g->output_count > carried &&
		    l->c->output_count < l->g->output_count;
	if (!fits)
		return control_body(l->b, l->g, NULL, l->body, l->err);
	rounds_init(&r, l, 2, 1, carried);
	loop_given(&r, dim_unknown_upto(!t.unlimited && t.limit.upper > 0 ? t.limit.upper - 1 : -1));
	loop_start(&r);
	if (rounds_widen(&r) || rounds_settle(&r))
		return -1;
	trips_count(&t, &r.out[0]);
	loop_widened(&r, t.count);
	l->body->times = times_of(t.count);
	bool few = t.unlimited || (t.limit.kind == DIM_KNOWN && t.limit.value <= UNROLL_ROUNDS);
	if (t.condition != 1 || !few || (t.count.kind == DIM_KNOWN &&
		(t.count.value == 0 || !loop_is_open(l))))
		return 0;
	struct op_value *any = ARENA_ARRAY(&l->b->p->arena, struct op_value, l->g->output_count);
	memcpy(any, r.out, (size_t)l->g->output_count * sizeof(*any));
	return loop_unroll(&r, &t, any);
}

/* ---- Scan */

struct scan {
	int states, scans;   /* counts; the layer's input `first` is the first state */
	int first, batch;    /* 1 in opset 8, where input 0 has lengths and every value a batch dimension;
			        else 0 */
	struct dim length, copies; /* sequence length; batch size, 1 without a batch */
};

static int64_t list_at(const struct op_call *c, const char *name, int i)
{
	const struct attribute *a = node_attribute(c->node, name);
	if (a && a->kind == ATTRIBUTE_INT && i == 0)
		return a->i;
	return a && a->kind == ATTRIBUTE_INTS && (size_t)i < a->count ? a->ints[i] : 0;
}

/* Merges two descriptions of one dimension: keeps the better known. */
static void dim_take(struct dim *have, struct dim d)
{
	if (have->kind == DIM_UNKNOWN || (have->kind == DIM_SYMBOLIC && d.kind == DIM_KNOWN))
		*have = d.kind == DIM_UNKNOWN && d.upper < 0 ? *have : d;
}

/* The value for one iteration: a scanned input without dimension `axis`, in opset 8 also without the
 * batch dimension in front; contents unknown. The removed dimensions are merged into s->length and
 * s->copies, so that any known input determines the length for all. */
static struct op_value scan_item(struct loop *l, struct scan *s, const struct op_value *v, int axis,
	bool is_state)
{
	struct op_value item = { .present = true, .dtype = v->dtype, .kind = v->kind, .shape = SHAPE_UNKNOWN,
		.length = dim_unknown() };
	int rank = v->shape.rank, drop = s->batch + !is_state;
	if (is_state && !s->batch) {
		item = *v;
		item.constant = false;
		return item;
	}
	axis = axis < 0 ? axis + rank : axis;
	if (rank < drop || (!is_state && (axis < s->batch || axis >= rank)))
		return item;
	item.shape = shape_make(&l->b->p->arena, rank - drop);
	for (int i = 0, to = 0; i < rank; i++) {
		if (i == 0 && s->batch)
			dim_take(&s->copies, v->shape.dims[i]);
		else if (!is_state && i == axis)
			dim_take(&s->length, v->shape.dims[i]);
		else
			item.shape.dims[to++] = v->shape.dims[i];
	}
	return item;
}

static void scan_given(struct rounds *r, struct scan *s)
{
	struct loop *l = r->l;
	for (int i = 0; i < s->states + s->scans; i++) {
		bool is_state = i < s->states;
		int axis = s->batch ? 1 : (int)list_at(l->c, "scan_input_axes", i - s->states);
		const struct op_value *v = &l->c->inputs[s->first + i];
		if (!v->present || axis < -64 || axis > 64)
			r->in[i] = (struct op_value){ .shape = SHAPE_UNKNOWN };
		else
			r->in[i] = scan_item(l, s, v, axis, is_state);
	}
}

static struct op_value batched(struct loop *l, const struct op_value *v, struct dim batch)
{
	struct op_value all = *v;
	all.elements = NULL;
	stack_output(l, &all, v, batch, 0);
	return all;
}

static void scan_outputs(struct rounds *r, const struct scan *s)
{
	struct loop *l = r->l;
	bool none = s->length.kind == DIM_KNOWN && s->length.value == 0;
	bool surely = s->length.kind == DIM_KNOWN && !none;
	for (int i = 0; i < l->c->output_count; i++) {
		struct op_value *out = &l->c->outputs[i];
		bool is_state = i < s->states;
		struct op_value v = !is_state || surely ? r->out[i] : r->in[i];
		if (!is_state) {
			int64_t axis = s->batch ? 0 : list_at(l->c, "scan_output_axes", i - s->states);
			struct op_value item = v;
			int rank = item.shape.rank + 1;
			if (axis < -rank || axis >= rank)
				item.shape = SHAPE_UNKNOWN;
			v = (struct op_value){ .shape = SHAPE_UNKNOWN };
			stack_output(l, &v, &item, s->length, (int)axis);
		}
		if (s->batch)
			v = batched(l, &v, s->copies);
		v.constant = false;
		control_output(out, &v);
	}
}

/* Scan: the same fixed point over the state variables; scanned inputs are read one slice per iteration,
 * so the number of iterations is their common dimension. It is never unrolled: the body sees only slices
 * of unknown contents. The body runs length times, in opset 8 times the batch size. */
int control_scan(struct loop *l)
{
	struct rounds r;
	struct scan s = { .length = dim_unknown(), .copies = dim_unknown() };
	int64_t scans = node_int(l->c->node, "num_scan_inputs", 0);
	s.batch = s.first = l->c->opset == 8;
	int inputs = l->c->input_count - s.first;
	bool fits = scans >= 1 && scans <= inputs && l->g->input_count == inputs &&
		    l->g->output_count >= l->c->output_count && l->g->output_count >= inputs - (int)scans;
	if (!fits)
		return control_body(l->b, l->g, NULL, l->body, l->err);
	s.scans = (int)scans;
	s.states = inputs - s.scans;
	rounds_init(&r, l, 0, 0, s.states);
	scan_given(&r, &s);
	if (rounds_widen(&r) || rounds_settle(&r))
		return -1;
	scan_outputs(&r, &s);
	l->body->times = times_of(s.length) * (s.batch ? times_of(s.copies) : 1);
	return 0;
}
