/* The channels-last side of a plan: which values are stored so, which problem each layer then has, and which
 * values are converted because a layer reads them in the other layout. */
#include "config.h"

#include "plan/plan.h"

#include "base/hash.h"
#include "problem/kernel.h"

#include <stdlib.h>
#include <string.h>

struct finder {
	struct plan *p;
	struct hash texts;
	struct plan_problem *added;
	int added_count, added_capacity;
	int *twin_of;   /* per problem: index of its twin, -2 = not computed yet */
	bool *active;   /* per layer: it works on values that are stored channels last */
};

/* ---- kinds of values and layers */

static bool is_image(const struct shape *s)
{
	return s->rank >= 3 && s->rank <= 5 && shape_is_known(*s);
}

/* True if there is more than one channel and more than one spatial position; else both layouts are the same
 * bytes. */
static bool layout_matters(const struct shape *s)
{
	if (!is_image(s) || s->dims[1].value < 2)
		return false;
	for (int i = 2; i < s->rank; i++)
		if (s->dims[i].value > 1)
			return true;
	return false;
}

static bool shape_matters(const struct problem_shape *s)
{
	bool space = false;
	for (int i = 2; i < s->rank; i++)
		space |= s->dim[i] > 1;
	return space && s->dim[1] > 1;
}

static const struct shape *value_shape(const struct plan *p, int value)
{
	return &p->values[value].shape;
}

static int source_rank(const struct problem_kept *kept)
{
	struct problem p;
	problem_restore(kept, &p);
	return p.shape[0].rank;
}

enum kernel_layout plan_layer_layout(const struct plan *p, const struct plan_layer *l)
{
	bool whole = l->input_count > 0 && l->inputs[0] >= 0 && l->output_count > 0 && l->outputs[0] >= 0;
	if (!whole || l->body_count || l->class == CLASS_HOST)
		return KERNEL_LAYOUT_ORDER;
	const struct shape *in = value_shape(p, l->inputs[0]), *out = value_shape(p, l->outputs[0]);
	if (l->class == CLASS_FREE) /* passes its input on: Identity, Dropout, a Reshape to the same shape */
		return shape_same(*in, *out) ? KERNEL_LAYOUT_PASS : KERNEL_LAYOUT_ORDER;
	if (l->problem < 0)
		return KERNEL_LAYOUT_ORDER;
	const struct problem_kept *q = p->problems[l->problem].problem;
	const struct kernel_row *row = kernel_row(q->kernel);
	/* a quantized layer is a proxy only for the factor between its scales */
	if (q->kernel == KERNEL_COPY || (l->proxy && !l->quantized))
		return plan_layer_has(l, OP_ANY_LAYOUT) ? KERNEL_LAYOUT_PASS : KERNEL_LAYOUT_ORDER;
	if (row->layout == KERNEL_LAYOUT_IMAGE && (!is_image(in) || !is_image(out)))
		return KERNEL_LAYOUT_ORDER;
	/* the result must be the same bytes in both layouts, and the problem must have its dimensions */
	if (row->layout == KERNEL_LAYOUT_SOURCE && (layout_matters(out) || source_rank(q) != in->rank))
		return KERNEL_LAYOUT_ORDER;
	/* a problem that cannot have another layout has no twin: each input must be shaped like the output */
	for (int i = 0; row->layout == KERNEL_LAYOUT_PASS && !row->image_like && i < l->input_count; i++)
		if (l->inputs[i] >= 0 && !(shape_same(*value_shape(p, l->inputs[i]), *out) ||
			shape_count(*value_shape(p, l->inputs[i])) <= 1))
			return KERNEL_LAYOUT_ORDER;
	return row->layout;
}

/* ---- forward propagation of the layout */

/* True if a run-time input keeps a layer from working channels last: it has fewer dimensions, but more than
 * one of them is larger than 1, so neither layout fits it. */
static bool input_resists(const struct plan *p, const struct plan_layer *l, int input)
{
	const struct shape *s = value_shape(p, input), *out = value_shape(p, l->outputs[0]);
	int wide = 0;
	if (p->values[input].constant || s->rank == out->rank)
		return false;
	if (!shape_is_known(*s))
		return true;
	for (int i = 0; i < s->rank; i++)
		wide += s->dims[i].value > 1;
	return s->rank >= 3 && wide > 1;
}

static bool pass_is_active(const struct plan *p, const struct plan_layer *l, enum kernel_layout role)
{
	bool any = false;
	for (int i = 0; i < l->input_count; i++) {
		int v = l->inputs[i];
		if (v < 0 || p->values[v].kind != VALUE_TENSOR)
			continue;
		any |= p->values[v].nxc;
		if (role != KERNEL_LAYOUT_SOURCE && input_resists(p, l, v))
			return false;
	}
	return any;
}

/* Marks active layers and the values that they store channels last. Layers are in execution order, so one
 * pass is enough. */
static void flood(struct finder *f)
{
	struct plan *p = f->p;
	bool images = false; /* seen so far */
	for (int i = 0; i < p->layer_count; i++) {
		const struct plan_layer *l = &p->layers[i];
		enum kernel_layout role = plan_layer_layout(p, l);
		images |= role == KERNEL_LAYOUT_IMAGE;
		f->active[i] = role == KERNEL_LAYOUT_IMAGE ||
			(images && role != KERNEL_LAYOUT_ORDER && pass_is_active(p, l, role));
		int outputs = role == KERNEL_LAYOUT_IMAGE ? 1 : l->output_count;
		for (int k = 0; f->active[i] && k < outputs; k++) {
			int v = l->outputs[k];
			if (v >= 0 && !p->values[v].constant)
				p->values[v].nxc = layout_matters(&p->values[v].shape);
		}
	}
}

/* ---- problems */

static int problem_add(struct finder *f, const struct problem *problem, int layer)
{
	char text[PROBLEM_TEXT_SIZE];
	struct plan *p = f->p;
	if (problem_format(problem, text, NULL))
		return -1;
	int64_t found = hash_find(&f->texts, text_of(text));
	if (found >= 0) {
		if (found >= p->problem_count)
			f->added[found - p->problem_count].use_count++;
		return (int)found;
	}
	char *kept = arena_strndup(&p->arena, text, strlen(text));
	VEC_GROW(f->added, f->added_count, f->added_capacity);
	f->added[f->added_count] = (struct plan_problem){
		.text = kept, .problem = problem_keep(&p->arena, problem), .first_layer = layer,
		.use_count = 1 };
	int index = p->problem_count + f->added_count++;
	*hash_at(&f->texts, text_of(kept)) = index;
	return index;
}

bool plan_twin(const struct problem *p, struct problem *twin)
{
	const struct kernel_row *row = kernel_row(p->kernel);
	if (problem_operand_count(p) < 1)
		return false;
	struct problem_shape in = problem_operand_shape(p, 0),
		out = problem_operand_shape(p, problem_operand_count(p) - 1);
	if (!shape_matters(&in) && !shape_matters(&out))
		return false;
	if (row->any_order && row->any_order(p))
		return false;
	problem_copy(twin, p);
	if (row->layout == KERNEL_LAYOUT_SOURCE && in.rank >= 3 && in.rank <= 5) {
		twin->operand[0].layout = LAYOUT_NXC;
		return true;
	}
	return problem_set_layout(twin, LAYOUT_NXC);
}

static int twin_index(struct finder *f, int problem, int layer)
{
	struct problem twin;
	if (problem < 0)
		return -1;
	if (f->twin_of[problem] == -2) {
		struct problem own;
		problem_restore(f->p->problems[problem].problem, &own);
		bool differs = plan_twin(&own, &twin);
		f->twin_of[problem] = differs ? problem_add(f, &twin, layer) : problem;
	} else if (f->twin_of[problem] >= f->p->problem_count) {
		f->added[f->twin_of[problem] - f->p->problem_count].use_count++;
	}
	return f->twin_of[problem];
}

/* The dimensions of an image in memory: channels of one layout as (outer, block), before or behind space. */
static int block_of(enum image_layout l)
{
	return l == IMAGE_BLOCK8 ? 8 : l == IMAGE_BLOCK16 ? 16 : 0;
}

/* Adds a dimension that is at place `at` of the result, unless it is 1. */
static void size_add(struct problem *t, int64_t size, int at, int *places)
{
	if (size < 2)
		return;
	places[t->shape[0].rank] = at;
	t->shape[0].dim[t->shape[0].rank++] = size;
}

static void dims_add(struct problem *t, int *places, const int64_t *dims, const int *at, int count)
{
	for (int i = 0; i < count; i++)
		size_add(t, dims[i], at[i], places);
	for (int to = 0, k = 0; to < count; to++)
		for (int i = 0; i < t->shape[0].rank; i++)
			if (places[i] == to)
				t->perm[k++] = i;
}

bool plan_reorder(const struct plan_value *v, enum image_layout from, enum image_layout to, struct problem *t)
{
	const struct shape *s = &v->shape;
	int64_t n = s->dims[0].value, channels = s->dims[1].value, space = 1;
	int places[PROBLEM_RANK], block = block_of(from) > block_of(to) ? block_of(from) : block_of(to);
	for (int i = 2; i < s->rank; i++)
		if (__builtin_mul_overflow(space, s->dims[i].value, &space))
			return false;
	int64_t outer = block ? (channels + block - 1) / block : 1, inner = block ? block : channels;
	if (__builtin_mul_overflow(n, outer, &outer))
		return false;
	*t = (struct problem){ .kernel = KERNEL_TRANSPOSE, .shape_count = 1 };
	t->operand[0].dtype = t->operand[1].dtype = v->dtype;
	if (block_of(from) && block_of(to)) /* outer x 2 x space x 8 and outer x space x 2 x 8 */
		dims_add(t, places, (int64_t[]){ outer, from == IMAGE_BLOCK8 ? 2 : space,
			from == IMAGE_BLOCK8 ? space : 2, 8 }, (int[]){ 0, 2, 1, 3 }, 4);
	else if (!block || from == IMAGE_NCX || to == IMAGE_NCX) /* outer x block x space */
		dims_add(t, places, (int64_t[]){ block ? outer : n, from == IMAGE_NCX ? inner : space,
			from == IMAGE_NCX ? space : inner }, (int[]){ 0, 2, 1 }, 3);
	else /* n x space x outer x block */
		dims_add(t, places, (int64_t[]){ n, from == IMAGE_NXC ? space : outer / n,
			from == IMAGE_NXC ? outer / n : space, block }, (int[]){ 0, 2, 1, 3 }, 4);
	return true;
}

static int conversion_problem(struct finder *f, const struct plan_value *v, bool to_nxc)
{
	struct problem t;
	if (!plan_reorder(v, to_nxc ? IMAGE_NCX : IMAGE_NXC, to_nxc ? IMAGE_NXC : IMAGE_NCX, &t))
		return -1;
	return problem_add(f, &t, v->producer < 0 ? 0 : v->producer);
}

/* ---- conversions */

bool plan_reads_data(const struct plan_layer *l, const struct plan_value *v)
{
	if (l->class != CLASS_FREE)
		return true;
	if (v->producer < 0)
		return !text_is(l->node->op, "Shape") && !text_is(l->node->op, "Size");
	for (int i = 0; i < l->pred_count; i++)
		if (l->preds[i] == v->producer)
			return true;
	return false;
}

/* True if the layer reads the value channels last. An active layer that reads it otherwise than as its image
 * (a dynamic weight, a capture of a subgraph) needs ONNX order. */
static bool wants_nxc(const struct finder *f, const struct plan_layer *l, int value)
{
	const struct plan *p = f->p;
	if (!f->active[l->index])
		return false;
	enum kernel_layout role = plan_layer_layout(p, l);
	if (role == KERNEL_LAYOUT_IMAGE)
		return l->inputs[0] == value;
	int rank = value_shape(p, value)->rank;
	for (int i = 0; i < l->input_count; i++)
		if (l->inputs[i] == value)
			return role == KERNEL_LAYOUT_SOURCE ? i == 0
							    : rank == value_shape(p, l->outputs[0])->rank;
	return false;
}

bool plan_value_has_layout(const struct plan_value *v)
{
	return !v->constant && v->kind == VALUE_TENSOR && layout_matters(&v->shape);
}

static void convert(struct finder *f, int value, int *room)
{
	struct plan *p = f->p;
	const struct plan_value *v = &p->values[value];
	struct plan_conversion c = { .value = value, .to_nxc = !v->nxc };
	if (!plan_value_has_layout(v))
		return;
	for (int i = 0; i < v->consumer_count; i++) {
		const struct plan_layer *l = &p->layers[v->consumers[i]];
		if (plan_reads_data(l, v) && wants_nxc(f, l, value) != v->nxc)
			room[c.consumer_count++] = v->consumers[i];
	}
	if (!c.consumer_count && !(v->is_output && v->nxc))
		return;
	c.consumers = ARENA_ARRAY(&p->arena, int, c.consumer_count);
	if (c.consumer_count)
		memcpy(c.consumers, room, (size_t)c.consumer_count * sizeof(int));
	c.problem = conversion_problem(f, v, c.to_nxc);
	p->conversions[p->conversion_count++] = c;
}

static int conversion_compare(const void *x, const void *y, void *plan)
{
	const struct plan *p = plan;
	const struct plan_conversion *a = x, *b = y;
	int pa = p->values[a->value].producer, pb = p->values[b->value].producer;
	return pa != pb ? (pa < pb ? -1 : 1) : (a->value > b->value) - (a->value < b->value);
}

static void conversions_find(struct finder *f)
{
	struct plan *p = f->p;
	int *room = base_malloc(((size_t)p->layer_count + 1) * sizeof(int));
	p->conversions = ARENA_ARRAY(&p->arena, struct plan_conversion, p->value_count);
	for (int i = 0; i < p->value_count; i++)
		convert(f, i, room);
	if (p->conversion_count)
		qsort_r(p->conversions, (size_t)p->conversion_count, sizeof(*p->conversions),
			conversion_compare, p);
	free(room);
}

static void problems_append(struct finder *f)
{
	struct plan *p = f->p;
	int total = p->problem_count + f->added_count;
	struct plan_problem *all = ARENA_ARRAY(&p->arena, struct plan_problem, total);
	if (p->problem_count)
		memcpy(all, p->problems, (size_t)p->problem_count * sizeof(*all));
	memcpy(all + p->problem_count, f->added, (size_t)f->added_count * sizeof(*all));
	p->problems = all;
	p->nxc_problem_count = f->added_count;
}

void plan_layout(struct plan *p)
{
	struct finder f = { .p = p };
	f.active = base_calloc((size_t)p->layer_count + 1, sizeof(bool));
	f.twin_of = base_malloc(((size_t)p->problem_count + 1) * sizeof(int));
	for (int i = 0; i < p->problem_count; i++) {
		f.twin_of[i] = -2;
		*hash_at(&f.texts, text_of(p->problems[i].text)) = i;
	}
	flood(&f);
	for (int i = 0; i < p->layer_count; i++) {
		struct plan_layer *l = &p->layers[i];
		l->problem_nxc = f.active[i] ? twin_index(&f, l->problem, i) : l->problem;
		p->nxc |= l->problem_nxc != l->problem;
	}
	if (p->nxc)
		conversions_find(&f);
	if (p->nxc && f.added_count)
		problems_append(&f);
	free(f.added);
	free(f.active);
	free(f.twin_of);
	hash_free(&f.texts);
}
