/* Layouts in which layers can work, by the layouts of their measured algorithms, and the conversions that may
 * stand between them. layout=priced: all of these. Otherwise only if some layers have no algorithm that is
 * not channels last; of the other layers the library's choice then counts as ONNX order. */
#include "config.h"

#include "analyze/study/price.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* The layout that an operand has in an algorithm's `layouts` ("nhwc", "nxc", "nChw16c"); -1: another one. */
static int layout_named(struct text t)
{
	if (t.n < 2 || t.p[0] != 'n')
		return t.n && t.p[0] == 'a' ? IMAGE_NCX : -1; /* abc: a tensor without channels */
	if (t.p[1] == 'C')
		return t.p[t.n - 1] != 'c' ? -1 : t.n > 3 && memcmp(t.p + t.n - 3, "16c", 3) == 0 ?
			IMAGE_BLOCK16 : t.p[t.n - 2] == '8' ? IMAGE_BLOCK8 : -1;
	return t.p[1] == 'c' ? IMAGE_NCX : t.p[t.n - 1] == 'c' ? IMAGE_NXC : -1;
}

int layout_pair_of(const struct result *r)
{
	int in = -1, out = -1;
	bool sources = false;
	for (const char *at = r->algorithm.layouts ? r->algorithm.layouts : ""; *(at += strspn(at, " "));) {
		size_t n = strcspn(at, " "), name = strcspn(at, "= ");
		struct text word = { at, name };
		int layout = name < n ? layout_named((struct text){ at + name + 1, n - name - 1 }) : -1;
		if (text_is(word, "dst")) {
			out = layout;
		} else if (!text_is(word, "wei")) {
			if (sources && layout != in)
				return -1;
			in = layout;
			sources = true;
		}
		at += n;
	}
	if (!sources && out < 0)
		return layout_pair(IMAGE_NCX, IMAGE_NCX);
	in = sources ? in : out;
	out = out < 0 ? in : out;
	return in < 0 || out < 0 ? -1 : layout_pair(in, out);
}

static bool has_open_layout(const struct study *st, int distinct)
{
	const struct problem *p = study_problem(st, distinct);
	return p && kernel_row(p->kernel)->image_like && p->operand[0].layout == LAYOUT_ANY;
}

uint32_t layout_pairs(const struct study *st, int distinct)
{
	const struct found *f = &st->found[distinct];
	uint32_t pairs = 0;
	if (!has_open_layout(st, distinct))
		return 1u << layout_pair(IMAGE_NCX, IMAGE_NCX);
	for (int i = 0; i < f->count; i++) {
		int pair = f->results[i]->status == STATUS_OK ? layout_pair_of(f->results[i]) : -1;
		pairs |= pair >= 0 ? 1u << pair : 0;
	}
	return pairs ? pairs : 1u << layout_pair(IMAGE_NCX, IMAGE_NCX);
}

/* True if a convolution of a described GPU has only channels-last algorithms: of 8 bits, cuDNN has none in
 * ONNX order but for raw sums. */
static bool estimated_nxc(const struct study *st, const struct problem *p)
{
	enum dtype t = p->operand[0].dtype;
	bool raw = p->operand[2].dtype == DTYPE_S32 && !p->epilogue_count;
	return st->on.estimate && st->on.peaks && st->on.peaks->sm && p->kernel == KERNEL_CONV &&
		dtype_bytes(t, 1) == 1 && !raw;
}

bool layout_is_forced(const struct study *st, int distinct)
{
	const struct found *f = &st->found[distinct];
	bool any = false;
	for (int i = 0; i < f->count; i++) {
		const struct result *r = f->results[i];
		if (r->status != STATUS_OK)
			continue;
		int pair = layout_pair_of(r);
		if (pair < 0 || pair / IMAGE_LAYOUTS != IMAGE_NXC)
			return false;
		any = true;
	}
	return has_open_layout(st, distinct) &&
		(any || (!f->count && estimated_nxc(st, study_problem(st, distinct))));
}

/* ---- values whose layout is a choice */

static uint32_t ins_of(uint32_t pairs)
{
	uint32_t ins = 0;
	for (int i = 0; i < IMAGE_LAYOUTS; i++)
		ins |= (pairs >> (i * IMAGE_LAYOUTS) & 15) ? 1u << i : 0;
	return ins;
}

static uint32_t outs_of(uint32_t pairs)
{
	uint32_t outs = 0;
	for (int i = 0; i < IMAGE_LAYOUTS; i++)
		outs |= pairs >> (i * IMAGE_LAYOUTS) & 15;
	return outs;
}

/* True if a layer can have any layout, the same for sources and destination, at equal cost. */
static bool layout_passes(const struct plan *p, const struct plan_layer *l, enum kernel_layout role)
{
	struct problem own, twin;
	if (role != KERNEL_LAYOUT_PASS)
		return false;
	if (l->class == CLASS_FREE || l->problem < 0)
		return l->class == CLASS_FREE;
	problem_restore(p->problems[l->problem].problem, &own);
	return !plan_twin(&own, &twin);
}

/* The pairs of a problem; priced off: the library's choice is ONNX order, unless all are channels last. */
static uint32_t pairs_in(const struct study *st, bool priced, int distinct)
{
	uint32_t pairs = layout_pairs(st, distinct), both = 0;
	if (priced)
		return pairs;
	if (!st->found[distinct].count && layout_is_forced(st, distinct))
		return 1u << layout_pair(IMAGE_NXC, IMAGE_NXC);
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 2; k++)
			both |= pairs & 1u << layout_pair(i, k);
	return layout_is_forced(st, distinct) ? both : both | 1u << layout_pair(IMAGE_NCX, IMAGE_NCX);
}

static uint32_t layer_pairs(const struct study *st, bool priced, const struct plan_layer *l, uint32_t seen)
{
	uint32_t pairs = 0;
	if (st->layouts->passes[l->index]) {
		for (int i = 0; i < IMAGE_LAYOUTS; i++)
			pairs |= seen >> i & 1 ? 1u << layout_pair(i, i) : 0;
		return pairs;
	}
	if (l->class == CLASS_FREE || l->problem < 0)
		return 1u << layout_pair(IMAGE_NCX, IMAGE_NCX);
	pairs = pairs_in(st, priced, l->problem);
	return !st->plan->nxc || l->problem_nxc == l->problem ? pairs :
		pairs | 1u << layout_pair(IMAGE_NXC, IMAGE_NXC);
}

struct masks {
	uint32_t *in, *out; /* per layer */
};

/* A group's layouts count for its layers. */
static void group_masks(const struct study *st, bool priced, struct masks *m)
{
	for (int i = 0; i < st->groups; i++) {
		const struct fusion_group *g = &st->fusion->groups[i];
		uint32_t pairs = g->distinct >= 0 ? pairs_in(st, priced, g->distinct) : 0;
		if (g->distinct_nxc >= 0 && g->distinct_nxc != g->distinct)
			pairs |= 1u << layout_pair(IMAGE_NXC, IMAGE_NXC);
		for (int k = 0; k < g->layer_count; k++)
			m->in[g->layers[k]] |= k ? outs_of(pairs) : ins_of(pairs);
		m->out[g->layers[g->layer_count - 1]] |= outs_of(pairs);
	}
}

static void layer_masks(const struct study *st, bool priced, struct masks *m)
{
	uint32_t seen = 1u << IMAGE_NCX;
	for (int pass = 0; pass < 2; pass++) /* first the layouts of layers that do not take any */
		for (int i = 0; i < st->plan->layer_count; i++) {
			const struct plan_layer *l = &st->plan->layers[i];
			if (!pass && st->layouts->passes[i])
				continue;
			uint32_t pairs = layer_pairs(st, priced, l, seen);
			m->in[i] = ins_of(pairs);
			m->out[i] = outs_of(pairs);
			seen |= pass ? 0 : m->in[i] | m->out[i];
		}
	group_masks(st, priced, m);
}

/* ---- conversions */

struct maker {
	struct study *st;
	struct hash texts;
	const char **extra;
	int count, capacity;
};

static bool is_same_bytes(const struct problem *t)
{
	for (int i = 0; i < t->shape[0].rank; i++)
		if (t->perm[i] != i)
			return false;
	return true;
}

static int conversion_distinct(struct maker *m, const struct plan_value *v, int from, int to)
{
	struct problem t;
	char text[PROBLEM_TEXT_SIZE];
	if (!plan_reorder(v, (enum image_layout)from, (enum image_layout)to, &t))
		return CONVERSION_UNKNOWN;
	if (is_same_bytes(&t))
		return CONVERSION_FREE;
	if (problem_format(&t, text, NULL))
		return CONVERSION_UNKNOWN;
	int64_t known = hash_find(&m->texts, text_of(text));
	if (known >= 0)
		return (int)known;
	VEC_GROW(m->extra, m->count, m->capacity);
	m->extra[m->count] = arena_strndup(&m->st->arena, text, strlen(text));
	int index = m->st->distinct_count + m->count;
	*hash_at(&m->texts, text_of(m->extra[m->count++])) = index;
	return index;
}

static int value_compare(const void *x, const void *y, void *plan)
{
	const struct plan *p = plan;
	const struct layout_value *a = x, *b = y;
	int pa = p->values[a->value].producer, pb = p->values[b->value].producer;
	return pa != pb ? (pa < pb ? -1 : 1) : (a->value > b->value) - (a->value < b->value);
}

static uint32_t wanted_in(const struct study *st, const struct masks *m, const struct plan_value *v)
{
	uint32_t wanted = v->is_output ? 1u << IMAGE_NCX : 0;
	for (int i = 0; i < v->consumer_count; i++)
		if (plan_reads_data(&st->plan->layers[v->consumers[i]], v))
			wanted |= m->in[v->consumers[i]] | 1u << IMAGE_NCX;
	return wanted;
}

/* Values that a layer makes or reads in another layout than ONNX order. */
static void find_values(struct study *st, struct layouts_of *l, const struct masks *m)
{
	const struct plan *p = st->plan;
	l->values = ARENA_ARRAY(&st->arena, struct layout_value, p->value_count);
	for (int i = 0; i < p->value_count; i++) {
		const struct plan_value *v = &p->values[i];
		uint32_t wanted = plan_value_has_layout(v) ? wanted_in(st, m, v) : 0;
		uint32_t made = 1u << IMAGE_NCX | (v->producer >= 0 ? m->out[v->producer] : 0);
		if (((wanted | made) & ~(1u << IMAGE_NCX)) && wanted)
			l->values[l->count++] = (struct layout_value){ .value = i, .made = made,
				.wanted = wanted };
	}
	if (l->count)
		qsort_r(l->values, (size_t)l->count, sizeof(*l->values), value_compare, (void *)p);
}

static void find_conversions(struct maker *m, struct layouts_of *l)
{
	struct study *st = m->st;
	const struct plan *p = st->plan;
	struct plan_conversion *all =
		ARENA_ARRAY(&st->arena, struct plan_conversion, l->count * IMAGE_LAYOUTS);
	st->conversions = all;
	l->of_conversion = ARENA_ARRAY(&st->arena, int, l->count * IMAGE_LAYOUTS);
	for (int i = 0; i < l->count; i++) {
		struct layout_value *v = &l->values[i];
		const struct plan_value *value = &p->values[v->value];
		l->of_value[v->value] = i;
		for (int to = 0; to < IMAGE_LAYOUTS; to++) {
			v->conversion[to] = -1;
			bool any = false;
			for (int from = 0; from < IMAGE_LAYOUTS; from++) {
				bool may = from != to && (v->made >> from & 1) && (v->wanted >> to & 1);
				v->distinct[from][to] = !may ? CONVERSION_UNKNOWN :
					conversion_distinct(m, value, from, to);
				any |= may && v->distinct[from][to] != CONVERSION_FREE;
			}
			if (!any)
				continue;
			v->conversion[to] = st->conversion_count;
			l->of_conversion[st->conversion_count] = i * IMAGE_LAYOUTS + to;
			all[st->conversion_count++] = (struct plan_conversion){
				.value = v->value, .to_nxc = to != IMAGE_NCX, .problem = -1,
				.consumer_count = value->consumer_count, .consumers = value->consumers };
		}
	}
}

static bool any_forced(const struct study *st)
{
	for (int i = 0; i < st->plan->layer_count; i++) {
		int problem = st->plan->layers[i].class == CLASS_FREE ? -1 : st->plan->layers[i].problem;
		if (problem >= 0 && layout_is_forced(st, problem))
			return true;
	}
	return false;
}

/* Problems that only the other layout uses. */
static void want_twins(struct study *st)
{
	for (int i = 0; i < st->plan->layer_count && st->plan->nxc; i++)
		if (st->plan->layers[i].class != CLASS_FREE && st->plan->layers[i].problem_nxc >= 0)
			study_want_of(st, st->plan->layers[i].problem_nxc, st->plan, &i, 1);
	for (int i = 0; i < st->groups; i++) {
		const struct fusion_group *g = &st->fusion->groups[i];
		study_want_of(st, g->distinct_nxc, st->plan, g->layers, g->layer_count);
	}
}

static int last_reader(const struct plan *p, const struct plan_value *v)
{
	int last = v->consumer_count - 1;
	while (last >= 0 && !plan_reads_data(&p->layers[v->consumers[last]], v))
		last--;
	return last < 0 ? -1 : v->consumers[last];
}

/* What no scenario changes. */
static void fill_fixed(struct study *st, struct layouts_of *l)
{
	const struct plan *p = st->plan;
	l->role = ARENA_ARRAY(&st->arena, enum kernel_layout, p->layer_count);
	l->passes = ARENA_ARRAY(&st->arena, bool, p->layer_count);
	l->last_reader = ARENA_ARRAY(&st->arena, int, p->value_count);
	for (int i = 0; i < p->layer_count; i++) {
		l->role[i] = plan_layer_layout(p, &p->layers[i]);
		l->passes[i] = layout_passes(p, &p->layers[i], l->role[i]);
	}
	for (int i = 0; i < p->value_count; i++)
		l->last_reader[i] = last_reader(p, &p->values[i]);
}

void layouts_open(struct study *st, bool priced)
{
	const struct plan *p = st->plan;
	if (!priced && !any_forced(st))
		return;
	struct layouts_of *l = st->layouts = ARENA_NEW(&st->arena, struct layouts_of);
	struct maker m = { .st = st };
	struct masks masks = { ARENA_ARRAY(&st->arena, uint32_t, p->layer_count),
		ARENA_ARRAY(&st->arena, uint32_t, p->layer_count) };
	l->priced = priced;
	fill_fixed(st, l);
	l->of_value = ARENA_ARRAY(&st->arena, int, p->value_count);
	for (int i = 0; i < p->value_count; i++)
		l->of_value[i] = -1;
	want_twins(st);
	layer_masks(st, priced, &masks);
	find_values(st, l, &masks);
	find_conversions(&m, l);
	study_extend(st, m.extra, m.count);
	hash_free(&m.texts);
	free(m.extra);
}
