/* Classes, costs, and one problem for all layers with equal measurements. */
#include "config.h"

#include "plan/plan_private.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct dedup {
	struct builder *b;   /* of the main graph */
	struct hash texts;
	struct hash digests; /* of the problems so far: formatting a text is mostly unnecessary */
	struct hash warned;   /* reasons already warned of */
	struct op_types_met types;
	struct plan_problem *problems;
	struct arena arena;
	int64_t **words;     /* per problem: the number of its words, then these */
	int count, capacity, words_capacity;
	int layer;           /* the layer of the main graph being priced, including its bodies */
};

/* What tells problems apart, as words: no padding, nothing of arrays beyond their ends. */
#define WORDS_MAX (sizeof(struct problem) / sizeof(int64_t))

static int64_t *put_pair(int64_t *w, int low, int high)
{
	*w = (int64_t)((uint64_t)(uint32_t)high << 32 | (uint32_t)low);
	return w + 1;
}

static int64_t *put_shape(int64_t *w, const struct problem_shape *s)
{
	*w++ = s->rank;
	for (int i = 0; i < s->rank; i++)
		*w++ = s->dim[i];
	return w;
}

static int64_t *put_operand(int64_t *w, const struct operand *o)
{
	w = put_pair(w, (int)o->dtype, o->constant);
	w = put_pair(w, (int)o->layout, o->stride_rank);
	for (int i = 0; i < o->stride_rank; i++)
		*w++ = o->stride[i];
	return w;
}

/* The words of a problem; returns their number. */
static int problem_words(const struct problem *p, int64_t words[WORDS_MAX])
{
	int64_t *w = words;
	const size_t numbers = offsetof(struct problem, batch_a) - offsetof(struct problem, n);
	w = put_pair(w, (int)p->kernel, (int)p->mode);
	memcpy(w, &p->alpha, 2 * sizeof(p->alpha)); /* and beta */
	w = put_pair(w + 1, (int)p->accumulator, p->spatial);
	for (int i = 0; i < PROBLEM_OPERANDS; i++)
		w = put_operand(w, &p->operand[i]);
	memcpy(w, &p->n, numbers); /* up to mk */
	w = put_shape(w + numbers / sizeof(*w), &p->batch_a);
	w = put_shape(w, &p->batch_b);
	w = put_pair(w, p->transpose_a | p->transpose_b << 1 | p->zero_points << 2, p->axis);
	_Static_assert(sizeof(p->perm) % sizeof(*w) == 0, "whole words");
	memcpy(w, p->perm, sizeof(p->perm));
	w += sizeof(p->perm) / (sizeof(*w));
	*w++ = p->size;
	w = put_pair(w, p->epilogue_count, p->shape_count);
	for (int i = 0; i < p->epilogue_count; i++) {
		w = put_pair(w, (int)p->epilogue[i].kind, (int)p->epilogue[i].mode);
		memcpy(w, &p->epilogue[i].alpha, 2 * sizeof(p->alpha)); /* and beta */
		w = put_operand(w + 1, &p->epilogue[i].operand);
	}
	for (int i = 0; i < p->shape_count; i++)
		w = put_shape(w, &p->shape[i]);
	return (int)(w - words);
}

/* Multiplicative hash (Knuth, The Art of Computer Programming, volume 3, 6.4; the factor is 2^64 divided
 * by the golden ratio). A collision costs one formatted text, never a wrong result. */
static uint64_t words_digest(const int64_t *words, int count)
{
	uint64_t h = (uint64_t)count;
	for (int i = 0; i < count; i++)
		h = (h ^ (uint64_t)words[i]) * 0x9e3779b97f4a7c15u + (h >> 29);
	return h;
}

/* Index of an earlier problem with the same words, or -1. Equal words mean equal texts, and formatting is
 * most of the work. */
static int problem_met(struct dedup *d, const int64_t *words, int count, uint64_t digest)
{
	int64_t found = hash_find(&d->digests, (struct text){ (const char *)&digest, sizeof(digest) });
	const int64_t *kept = found >= 0 ? d->words[found] : NULL;
	return kept && kept[0] == count && memcmp(kept + 1, words, (size_t)count * sizeof(*words)) == 0
		? (int)found
		: -1;
}

static void words_keep(struct dedup *d, const char *text, const int64_t *words, int count, uint64_t digest)
{
	int64_t *kept = ARENA_ARRAY(&d->arena, int64_t, count + 2);
	kept[0] = count;
	memcpy(kept + 1, words, (size_t)count * sizeof(*words));
	memcpy(kept + 1 + count, &digest, sizeof(digest)); /* the key */
	VEC_GROW(d->words, d->count, d->words_capacity);
	d->words[d->count] = kept;
	*hash_at(&d->texts, text_of(text)) = d->count;
	*hash_at(&d->digests, (struct text){ (const char *)(kept + 1 + count), sizeof(digest) }) = d->count;
}

/* Index of the problem, added if it is new; -1 with the reason in err. Two levels of hashing: equal words
 * by digest (nearly all repetitions, no text), then equal texts, which are the identity of a problem in
 * the database. Expected constant time, plus formatting for each problem with new words. */
static int problem_add(
	struct dedup *d, const struct problem *problem, int layer, bool border, struct error *err)
{
	char text[PROBLEM_TEXT_SIZE];
	int64_t words[WORDS_MAX];
	int count = problem_words(problem, words);
	uint64_t digest = words_digest(words, count);
	int met = problem_met(d, words, count, digest);
	if (met >= 0) {
		d->problems[met].use_count++;
		return met;
	}
	if (problem_format(problem, text, err))
		return -1;
	int64_t found = hash_find(&d->texts, text_of(text));
	if (found >= 0) {
		d->problems[found].use_count++;
		return (int)found;
	}
	char *kept = arena_strndup(&d->b->p->arena, text, strlen(text));
	VEC_GROW(d->problems, d->count, d->capacity);
	d->problems[d->count] = (struct plan_problem){
		.text = kept,
		.problem = problem_keep(&d->b->p->arena, problem),
		.first_layer = layer,
		.use_count = 1,
		.border = border,
	};
	words_keep(d, kept, words, count, digest);
	return d->count++;
}

/* The first unbound symbol in the value's shape or contents, or the empty text. */
static struct text own_symbol(const struct plan_value *v)
{
	for (int j = 0; j < v->shape.rank; j++)
		if (v->shape.dims[j].kind == DIM_SYMBOLIC)
			return dim_first_symbol(v->shape.dims[j]);
	for (int j = 0; v->elements && v->elements->i && j < v->elements->count; j++)
		if (v->elements->i[j].kind == DIM_SYMBOLIC)
			return dim_first_symbol(v->elements->i[j]);
	return TEXT("");
}

static bool shape_has_unknown(struct shape s);

/* True if something about the value is unknown that may follow from the inputs of its layer: its shape, or
 * contents that may be sizes. */
static bool value_is_open(const struct plan_value *v)
{
	return !v->constant &&
		(shape_has_unknown(v->shape) ||
			(!v->elements && !dtype_is_float(v->dtype) && v->shape.rank <= 1));
}

/* Per value: the unbound symbol that it depends on, or the empty text; made when first needed. In execution
 * order, each open value takes that of the first input of its layer that has one. */
static const struct text *symbols_needed(struct builder *b)
{
	struct plan *p = b->p;
	if (b->needed)
		return b->needed;
	struct text *needed = b->needed = ARENA_ARRAY(&p->arena, struct text, p->value_count);
	for (int i = 0; i < p->value_count; i++) {
		int outer = b->up ? p->values[i].outer : -1;
		needed[i] = outer >= 0 ? symbols_needed(b->up)[outer] : own_symbol(&p->values[i]);
	}
	for (int i = 0; i < p->layer_count; i++) {
		const struct plan_layer *l = &p->layers[i];
		struct text from = TEXT("");
		for (int j = 0; j < l->input_count && !from.n; j++)
			if (l->inputs[j] >= 0)
				from = needed[l->inputs[j]];
		if (!from.n && l->body_count && b->top->p->unbound_count)
			from = b->top->p->unbound[0]; /* values that its bodies capture are not followed */
		for (int j = 0; j < l->output_count; j++)
			if (l->outputs[j] >= 0 && !needed[l->outputs[j]].n &&
				value_is_open(&p->values[l->outputs[j]]))
				needed[l->outputs[j]] = from;
	}
	return needed;
}

/* Returns the unbound symbol that makes the call's shapes unknown, or an empty text. If a dimension could not
 * be computed, it returns a symbol that the layer's inputs depend on. */
static struct text call_symbol(struct builder *b, const struct plan_layer *l, const struct op_call *c)
{
	bool unknown = false;
	/* with an unknown input a symbol of an output is only what the file declares: it would not help */
	for (int i = 0; i < c->input_count + (unknown ? 0 : c->output_count); i++) {
		const struct op_value *v =
			i < c->input_count ? &c->inputs[i] : &c->outputs[i - c->input_count];
		for (int j = 0; v->present && j < v->shape.rank; j++) {
			if (v->shape.dims[j].kind == DIM_SYMBOLIC)
				return dim_first_symbol(v->shape.dims[j]);
			unknown |= v->shape.dims[j].kind == DIM_UNKNOWN;
		}
		unknown |= v->present && v->shape.rank < 0;
	}
	for (int i = 0; i < l->input_count && unknown && b->top->p->unbound_count; i++)
		if (l->inputs[i] >= 0 && symbols_needed(b)[l->inputs[i]].n)
			return symbols_needed(b)[l->inputs[i]];
	return TEXT("");
}

/* Why a layer has no problem. A reason that the user can remove comes first. */
static const char *call_why(
	struct builder *b, const struct plan_layer *l, const struct op_call *c, const char *why)
{
	struct arena *a = &b->p->arena;
	struct text symbol = call_symbol(b, l, c);
	if (!c->op)
		return arena_printf(a, "operator %s is not known", text_clean(a, c->node->op));
	if (symbol.n) {
		char *name = text_clean(a, symbol);
		return arena_printf(a, "%s is not bound: give --dim %s=VALUE", name, name);
	}
	return why ? why : "no reason known";
}

static void bodies_price(struct dedup *d, struct builder *b, const struct op_call *c, struct plan_layer *l);

/* Warns of a call, once per operator and reason; why NULL: nothing is wrong. */
static void warn_once(struct dedup *d, struct builder *b, int i, const char *why, const char *so)
{
	int64_t *seen = why ? hash_at(&d->warned, text_of(why)) : NULL;
	if (seen && *seen < 0) {
		*seen = 1;
		plan_warn(b, "layer %s: %s%s", text_clean(&b->p->arena, b->p->layers[i].name), why, so);
	}
}

/* Warns of a type that ONNX does not allow, once per operator and reason. A plan with another float type is
 * not checked: its types are not the model's. */
static void mistyped_warn(struct dedup *d, struct builder *b, int i, const struct op_call *c)
{
	const char *why =
		b->top->p->own_types && !b->top->quiet ? op_call_mistyped(c, &d->types) : NULL;
	warn_once(d, b, i, why, "; ONNX Runtime refuses the model");
	warn_once(d, b, i, b->top->quiet ? NULL : op_call_ambiguous(c), "; ONNX Runtime refuses the model");
}

/* Class, cost and problem of one layer. The order matters: absorbed layers are free; types of quantized
 * data replace the float ones before class and cost are computed; bodies are priced before the class is
 * final, because If and Loop take it from them. A layer without a problem gets the reason. */
static void layer_price(struct dedup *d, struct builder *b, int i)
{
	struct plan *p = b->p;
	struct plan_layer *l = &p->layers[i];
	struct op_call c;
	struct op_cost cost;
	struct op_problem out;
	struct error err = ERROR_NONE;
	const struct quant *quant = b->quants ? b->quants[i] : NULL;
	if (l->absorbed_by >= 0) {
		l->class = CLASS_FREE; /* costs nothing, as layers begin */
		return;
	}
	infer_call(b, i, &c);
	mistyped_warn(d, b, i, &c);
	bool few = types_call(b, l);
	warn_once(d, b, i, b->top->quiet ? NULL : op_call_surplus(&c), "");
	if (quant)
		quant_call(b, quant, &c);
	l->quantized = quant != NULL;
	l->class = op_call_class(&c);
	op_call_cost(&c, &cost);
	if (quant && l->class != CLASS_FREE)
		quant_cost(b, quant, &c, &cost);
	l->flops = cost.flops;
	l->bytes = cost.bytes;
	l->upto = cost.upto;
	if (l->body_count)
		bodies_price(d, b, &c, l);
	if (l->class == CLASS_FREE || l->class == CLASS_HOST) {
		l->why = l->why ? l->why : op_call_unread(&c);
		if (!l->why && l->class == CLASS_HOST && !l->body_count) {
			op_call_problem(&c, &out);
			l->why = out.why;
		}
		return;
	}
	if (p->times == 0 && b->up) {
		l->why = "it never runs";
		return;
	}
	op_call_problem(&c, &out);
	if (quant)
		quant_problem(b, quant, &c, &out);
	else if (few && out.known)
		op_problem_requantize(&out.problem, c.outputs[0].dtype, false);
	if (!out.known) {
		l->why = l->why ? l->why : call_why(b, l, &c, out.why);
		return;
	}
	l->problem = l->problem_nxc = problem_add(d, &out.problem, d->layer, false, &err);
	l->proxy = l->problem >= 0 && out.proxy;
	l->upto |= l->problem >= 0 && out.upto;
	if (l->problem < 0)
		l->why = arena_printf(&p->arena, "%s", err.text);
}

/* ---- totals */

static bool shape_has_unknown(struct shape s)
{
	for (int i = 0; i < s.rank; i++) {
		if (s.dims[i].kind == DIM_UNKNOWN)
			return true;
	}
	return s.rank < 0;
}

static void totals_add(struct plan *p, const struct plan_layer *l)
{
	if (isnan(l->flops))
		p->unknown_flops_layers++;
	else
		p->flops += l->flops;
	if (isnan(l->bytes))
		p->unknown_bytes_layers++;
	else
		p->bytes += l->bytes;
	p->upto |= l->upto;
	p->at_least |= l->at_least;
	for (int j = 0; j < l->output_count; j++) {
		const struct plan_value *v = l->outputs[j] >= 0 ? &p->values[l->outputs[j]] : NULL;
		p->unknown_shapes += v && v->kind == VALUE_TENSOR && shape_has_unknown(v->shape);
	}
}

/* ---- bodies */

static void graph_price(struct dedup *d, struct builder *b)
{
	quant_find(b);
	for (int i = 0; i < b->p->layer_count; i++) {
		if (!b->up)
			d->layer = i;
		layer_price(d, b, i);
		totals_add(b->p, &b->p->layers[i]);
	}
}

static bool plan_is_free(const struct plan *p)
{
	for (int i = 0; i < p->layer_count; i++) {
		if (p->layers[i].class != CLASS_FREE)
			return false;
	}
	return true;
}

/* Sum of a graph's costs; NaN if one layer's is unknown. */
static struct op_cost plan_cost(const struct plan *p)
{
	struct op_cost cost = { 0 };
	for (int i = 0; i < p->layer_count; i++) {
		cost.flops += p->layers[i].flops;
		cost.bytes += p->layers[i].bytes;
	}
	return cost;
}

/* times * cost, where 0 times NaN is 0. */
static double repeated(double times, double cost)
{
	return times == 0 ? 0 : times * cost;
}

/* Cost of a branch when it is unknown which one runs: the lower of both, so that totals stay lower bounds
 * (at_least). NaN if one is unknown, because fmin ignores NaN. */
static struct op_cost cheaper(struct op_cost x, struct op_cost y)
{
	struct op_cost least = { .flops = fmin(x.flops, y.flops), .bytes = fmin(x.bytes, y.bytes) };
	if (isnan(x.flops) || isnan(y.flops)) /* fmin ignores NaN */
		least.flops = NAN;
	if (isnan(x.bytes) || isnan(y.bytes))
		least.bytes = NAN;
	return least;
}

/* Returns the reason of the first layer without a known cost in a body that runs; NULL if all costs are
 * known. */
static const char *inner_why(struct arena *a, const struct plan_layer *l)
{
	for (int i = 0; i < l->body_count; i++)
		for (int k = 0; l->bodies[i].times != 0 && k < l->bodies[i].layer_count; k++) {
			const struct plan_layer *inner = &l->bodies[i].layers[k];
			if (isnan(inner->flops) || isnan(inner->bytes))
				return arena_printf(a, "%s in it: %s", text_clean(a, inner->name),
					inner->why ? inner->why : "its cost is not known");
		}
	return NULL;
}

/* Cost of a layer with bodies: sum over the bodies of times * cost, where 0 times NaN is 0. Two branches
 * with an unknown condition: the cheaper one is counted. A single body with an unknown number of runs
 * leaves NaN. Free if all bodies that run are. */
static void control_price(struct builder *b, const struct op_call *c, struct plan_layer *l)
{
	struct op_cost sum = { 0 }, one;
	bool is_free = true;
	for (int i = 0; i < l->body_count; i++) {
		const struct plan *body = &l->bodies[i];
		is_free &= body->times == 0 || plan_is_free(body);
		l->upto |= body->times != 0 && body->upto;
		l->at_least |= body->times != 0 && body->at_least;
		one = plan_cost(body);
		sum.flops += repeated(body->times, one.flops);
		sum.bytes += repeated(body->times, one.bytes);
	}
	if (is_free) {
		l->class = CLASS_FREE;
		sum = (struct op_cost){ 0 };
	} else if (l->body_count == 2 && isnan(l->bodies[0].times) && isnan(l->bodies[1].times)) {
		sum = cheaper(plan_cost(&l->bodies[0]), plan_cost(&l->bodies[1]));
		l->at_least = true;
		l->why = "the condition is not known: the cheaper branch is counted";
	} else if (l->body_count == 1 && isnan(l->bodies[0].times)) {
		l->why = call_why(b, l, c, "how often it runs is not known");
	}
	l->flops = sum.flops;
	l->bytes = sum.bytes;
	if (!l->why && (isnan(l->flops) || isnan(l->bytes)))
		l->why = inner_why(&b->p->arena, l);
}

/* Prices the layers of bodies. Their problems are in the list of the whole plan, unless they never run or the
 * result is folded. */
static void bodies_price(struct dedup *d, struct builder *b, const struct op_call *c, struct plan_layer *l)
{
	for (int i = 0; i < l->body_count; i++) {
		struct plan *body = &l->bodies[i];
		struct builder inner = {
			.p = body, .m = b->m, .g = body->graph, .o = b->o, .up = b, .top = b->top
		};
		if (l->class == CLASS_FREE || (b->up && b->p->times == 0))
			body->times = 0;
		graph_price(d, &inner);
		free(inner.inputs);
		free(inner.outputs);
	}
	if (l->class == CLASS_HOST)
		control_price(b, c, l);
}

/* Lets bodies share the plan's list of problems. */
static void problems_share(struct plan *p, const struct plan *top)
{
	for (int i = 0; i < p->layer_count; i++)
		for (int j = 0; j < p->layers[i].body_count; j++) {
			struct plan *body = &p->layers[i].bodies[j];
			body->problems = top->problems;
			body->problem_count = top->problem_count;
			problems_share(body, top);
		}
}

/* ---- casts at model inputs and outputs */

static enum dtype type_in_memory(enum dtype t)
{
	return t == DTYPE_TF32 ? DTYPE_F32 : t;
}

/* own: the type of the value in the file. */
static int border_problem(struct dedup *d, const struct plan_value *v, enum dtype own, bool is_input)
{
	struct problem cast = { .kernel = KERNEL_CAST, .shape_count = 1 };
	struct error err;
	cast.operand[is_input ? 0 : 1].dtype = own;
	cast.operand[is_input ? 1 : 0].dtype = type_in_memory(v->dtype);
	if (!shape_is_known(v->shape))
		return -1;
	/* As a vector if the tensor has too many dimensions: the work is the same. */
	bool row = v->shape.rank == 0 || v->shape.rank > PROBLEM_RANK;
	double count = shape_count(v->shape);
	if (!(count >= 1 && count < 0x1p48))
		return -1;
	cast.shape[0].rank = row ? 1 : v->shape.rank;
	cast.shape[0].dim[0] = (int64_t)count;
	for (int i = 0; !row && i < v->shape.rank; i++)
		cast.shape[0].dim[i] = v->shape.dims[i].value;
	return problem_add(d, &cast, is_input ? 0 : v->producer, true, &err);
}

/* For each value: the layers that read it, or whose bodies do; an input that some read must be cast.
 * `computed`: only layers whose result is not known before run time, as a shape is. One pass over all inputs
 * and captures: O(layers + edges). */
static int *readers_of(const struct plan *p, bool computed)
{
	int *readers = base_calloc((size_t)p->value_count, sizeof(*readers));
	for (int i = 0; i < p->layer_count; i++) {
		const struct plan_layer *l = &p->layers[i];
		if (computed && l->output_count && l->outputs[0] >= 0 && p->values[l->outputs[0]].constant)
			continue;
		for (int j = 0; j < l->input_count; j++) {
			if (l->inputs[j] >= 0)
				readers[l->inputs[j]]++;
		}
		for (int j = 0; j < l->capture_count; j++)
			readers[l->captures[j]]++;
	}
	return readers;
}

/* True if the value has no elements, such as the cache before the first token. */
static bool is_empty(const struct plan_value *v)
{
	return shape_is_known(v->shape) && shape_count(v->shape) < 1;
}

/* True if the shapes are equal, but for at most one axis along which b may be longer. */
static bool is_grown(struct shape a, struct shape b)
{
	int longer = 0;
	if (!shape_is_known(a) || !shape_is_known(b) || a.rank != b.rank || !a.rank)
		return false;
	for (int i = 0; i < a.rank; i++) {
		if (a.dims[i].value > b.dims[i].value)
			return false;
		longer += a.dims[i].value < b.dims[i].value;
	}
	return longer <= 1;
}

/* Marks the inputs and outputs that are one state: a layer extends a cache by a Concat, or returns a state
 * that it was given beside its result, and nothing else reads the old one. The caller hands it back as it is,
 * so it needs no cast. */
static bool *states_find(const struct dedup *d)
{
	const struct plan *p = d->b->p;
	bool *state = base_calloc((size_t)p->value_count, sizeof(*state));
	int *readers = readers_of(p, true);
	for (int i = 0; i < d->b->g->output_count; i++) {
		int out = d->b->g->outputs[i];
		const struct plan_layer *l =
			p->values[out].producer >= 0 ? &p->layers[p->values[out].producer] : NULL;
		bool beside = l && (plan_layer_is(l, "Concat") || l->outputs[0] != out);
		for (int k = 0; beside && !state[out] && k < l->input_count; k++) {
			int in = l->inputs[k];
			bool own = in >= 0 && p->values[in].is_input && readers[in] == 1;
			if (own && !state[in] && is_grown(p->values[in].shape, p->values[out].shape))
				state[in] = state[out] = true;
		}
	}
	free(readers);
	return state;
}

static void borders_find(struct dedup *d)
{
	struct plan *p = d->b->p;
	if (p->own_types)
		return;
	int *readers = readers_of(p, false);
	bool *state = states_find(d);
	p->borders = ARENA_ARRAY(&p->arena, struct plan_border, d->b->g->input_count + d->b->g->output_count);
	for (int i = 0; i < d->b->g->input_count + d->b->g->output_count; i++) {
		bool is_input = i < d->b->g->input_count;
		int value = is_input ? d->b->g->inputs[i] : d->b->g->outputs[i - d->b->g->input_count];
		enum dtype declared = d->b->g->values[value].dtype, own = declared ? declared : p->own;
		const struct plan_value *v = &p->values[value];
		bool replaced = (v->few || v->dtype == p->rest) &&
			own != type_in_memory(v->dtype) && v->kind == VALUE_TENSOR && !v->constant &&
			!is_empty(v) && !state[value];
		if (replaced && (is_input ? readers[value] > 0 : v->producer >= 0))
			p->borders[p->border_count++] =
				(struct plan_border){ value, is_input, border_problem(d, v, own, is_input) };
	}
	free(readers);
	free(state);
}

/* ---- operators that are not in the table: one warning per operator */

struct strangers {
	struct arena arena;
	struct hash seen;
	struct {
		const struct node *first;
		int uses;
	} *kinds;
	int count, capacity;
};

static void stranger_add(struct strangers *s, const struct node *n)
{
	char *key = arena_alloc(&s->arena, n->domain.n + n->op.n + 1);
	if (n->domain.n)
		memcpy(key, n->domain.p, n->domain.n);
	if (n->op.n)
		memcpy(key + n->domain.n + 1, n->op.p, n->op.n);
	int64_t *at = hash_at(&s->seen, (struct text){ key, n->domain.n + n->op.n + 1 });
	if (*at < 0) {
		VEC_GROW(s->kinds, s->count, s->capacity);
		s->kinds[s->count].first = n;
		s->kinds[s->count].uses = 0;
		*at = s->count++;
	}
	s->kinds[*at].uses++;
}

static void strangers_find(struct strangers *s, const struct plan *p)
{
	for (int i = 0; i < p->layer_count; i++) {
		const struct plan_layer *l = &p->layers[i];
		/* Rows that exist but refused the node have been reported already. */
		if (!l->op && !op_find(l->node->domain, l->node->op, l->node->opset))
			stranger_add(s, l->node);
		for (int j = 0; j < l->body_count; j++) {
			if (l->bodies[j].times != 0)
				strangers_find(s, &l->bodies[j]);
		}
	}
}

static void unknown_operators(struct builder *b)
{
	struct strangers s = { 0 };
	strangers_find(&s, b->p);
	for (int i = 0; i < s.count; i++) {
		const struct node *n = s.kinds[i].first;
		plan_warn(b,
			"operator %s%s%s of opset %lld is not known: %d layer%s without cost; `operators` of "
			"benanza.yaml(5) describes it",
			text_clean(&s.arena, n->domain), n->domain.n ? "." : "", text_clean(&s.arena, n->op),
			(long long)n->opset, s.kinds[i].uses, s.kinds[i].uses == 1 ? "" : "s");
	}
	free(s.kinds);
	hash_free(&s.seen);
	arena_free(&s.arena);
}

void dedup_layers(struct builder *b)
{
	struct plan *p = b->p;
	struct dedup d = { .b = b };
	graph_price(&d, b);
	borders_find(&d);
	p->problem_count = d.count;
	p->problems = ARENA_ARRAY(&p->arena, struct plan_problem, d.count);
	if (d.count)
		memcpy(p->problems, d.problems, (size_t)d.count * sizeof(*d.problems));
	problems_share(p, p);
	free(d.problems);
	free(d.words);
	arena_free(&d.arena);
	hash_free(&d.texts);
	hash_free(&d.digests);
	hash_free(&d.warned);
	unknown_operators(b);
}
