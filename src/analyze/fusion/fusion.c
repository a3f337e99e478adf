/* Finds fusion candidates. From each anchor a chain follows values that have a single reader, or whose
 * readers all belong to one activation (activation.c). Every prefix that a library's fused kernel can run
 * becomes a group. First the chains of convolutions, matmuls and attention, then those of activations that
 * the model writes as several layers, also behind a matmul, and of the remaining pointwise layers; last the
 * matmuls that can be joined. */
#include "config.h"

#include "analyze/fusion/fusion_private.h"
#include "base/hash.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define TWIN_NEW (-2)
#define ROOM 4096 /* more than FUSION_LAYERS_MAX */

/* A distinct problem: the plan's first, then those of groups only. */
struct distinct {
	const char *text;
	bool is_nxc; /* used only with the what-if layout on */
	int twin;    /* index of the same problem in that layout; -1: not expressible; TWIN_NEW: not computed
			yet */
};

/* The epilogue that extends one distinct problem to another: a hash key that avoids formatting most texts. */
struct step {
	int32_t before, kind, mode, dtype, layout, constant;
	float alpha, beta;
};

struct finder {
	const struct plan *plan;
	struct fusion *fusion;
	struct hash texts, steps, patterns;
	int *room, room_left; /* for the layers of groups, in blocks of ROOM */
	struct arena scratch; /* keys of steps */
	int group_capacity, own, distinct_count, distinct_capacity;
	struct fusion_group *groups; /* malloc'd; moved to the fusion at the end */
	int miss_capacity;
	struct fusion_miss *misses;
	struct distinct *distinct;
	int *unit;         /* per layer: first layer of its unit, -1 in no group yet */
	bool *converted;   /* per value: the graph has a layout conversion of it */
	bool *dense;       /* per layer: it is in a group that reads no part of wider rows */
};

static void distinct_add(struct finder *f, const char *text, bool nxc)
{
	*hash_at(&f->texts, text_of(text)) = f->distinct_count;
	VEC_GROW(f->distinct, f->distinct_count, f->distinct_capacity);
	f->distinct[f->distinct_count++] = (struct distinct){ .text = text, .is_nxc = nxc, .twin = TWIN_NEW };
}

/* Index of the distinct problem q; -1: the problem grammar cannot express it. */
static int distinct_of_problem(struct finder *f, const struct problem *q, bool nxc)
{
	char text[PROBLEM_TEXT_SIZE];
	if (problem_format(q, text, NULL) < 0)
		return -1;
	int64_t known = hash_find(&f->texts, text_of(text));
	if (known < 0) {
		known = f->distinct_count;
		distinct_add(f, arena_strndup(&f->fusion->arena, text, strlen(text)), nxc);
	}
	f->distinct[known].is_nxc &= nxc;
	return (int)known;
}

/* The same for a chain. before: its distinct problem (-1: unknown) when it had `epilogues` epilogues; a step
 * adds at most one. */
static int distinct_of_chain(struct finder *f, const struct chain *c, int before, int epilogues)
{
	const struct problem *q = &c->problem;
	if (before < 0 || plan_is_few(f->plan)) /* a step of few bits also changes the type of the result */
		return distinct_of_problem(f, q, false);
	if (q->epilogue_count == epilogues)
		return before;
	const struct epilogue *e = &q->epilogue[epilogues];
	assert(q->epilogue_count == epilogues + 1 && e->operand.layout != LAYOUT_STRIDES);
	struct step step = { before, (int32_t)e->kind, (int32_t)e->mode, (int32_t)e->operand.dtype,
		(int32_t)e->operand.layout, e->operand.constant, e->alpha, e->beta };
	int64_t met = hash_find(&f->steps, (struct text){ (const char *)&step, sizeof(step) });
	if (met >= 0)
		return (int)met;
	int distinct = distinct_of_problem(f, q, false);
	char *key = arena_strndup(&f->scratch, (const char *)&step, sizeof(step));
	*hash_at(&f->steps, (struct text){ key, sizeof(step) }) = distinct;
	return distinct;
}

/* Twin of distinct problem i, which is q. */
static int distinct_twin(struct finder *f, int i, const struct problem *q)
{
	struct problem twin;
	if (f->distinct[i].twin == TWIN_NEW) {
		int there = plan_twin(q, &twin) ? distinct_of_problem(f, &twin, true) : i;
		f->distinct[i].twin = there;
	}
	return f->distinct[i].twin;
}

/* The distinct problem of the group, q, with the what-if layout on; -1: a conversion inside the group
 * prevents it. */
static int group_twin(struct finder *f, const struct fusion_group *g, const struct problem *q)
{
	const struct plan *p = f->plan;
	bool nxc = false;
	for (int i = 0; p->nxc && i < g->layer_count; i++) {
		const struct plan_layer *l = &p->layers[g->layers[i]];
		bool inner = i < g->layer_count - 1;
		nxc |= l->problem_nxc != l->problem || p->values[l->outputs[0]].nxc;
		if (inner && f->converted[l->outputs[0]])
			return -1;
	}
	return nxc ? distinct_twin(f, g->distinct, q) : g->distinct;
}

/* The chain's pattern, interned: a model has few patterns, but possibly millions of groups. */
static const char *pattern_keep(struct finder *f, const struct chain *c)
{
	struct text key = { c->pattern.p, c->pattern.n };
	int64_t found = hash_find(&f->patterns, key);
	if (found >= 0)
		return (const char *)(intptr_t)found;
	key.p = arena_strndup(&f->fusion->arena, key.p, key.n);
	*hash_at(&f->patterns, key) = (intptr_t)key.p;
	return key.p;
}

/* Adds the chain as a group with its distinct problem; -1: it cannot be measured and is not a candidate. */
static void add_group(struct finder *f, const struct chain *c, int distinct)
{
	if (distinct < 0)
		return;
	struct fusion *out = f->fusion;
	VEC_GROW(f->groups, out->group_count, f->group_capacity);
	struct fusion_group *g = &f->groups[out->group_count++];
	*g = (struct fusion_group){
		.layer_count = c->layer_count,
		.layers = (int *)c->layers, /* until chain_keep */
		.residual = c->residual,
		.pattern = pattern_keep(f, c),
		.level = c->level,
		.distinct = distinct,
		.proxy = c->proxy,
	};
	g->distinct_nxc = group_twin(f, g, &c->problem);
	for (int i = 0; i < c->layer_count; i++) {
		f->unit[c->layers[i]] = c->unit[i];
		f->dense[c->layers[i]] |= !kernel_row(c->problem.kernel)->leading_dimension;
	}
}

/* True if all layers of the chain are in the same units as in other groups. */
static bool units_agree(const struct finder *f, const struct chain *c)
{
	for (int i = 0; i < c->layer_count; i++)
		if (f->unit[c->layers[i]] >= 0 && f->unit[c->layers[i]] != c->unit[i])
			return false;
	return true;
}

/* Copies the layers of the groups from `first`, which are prefixes of one chain: one array, as long as the
 * longest. */
static void chain_keep(struct finder *f, int first)
{
	struct fusion *out = f->fusion;
	if (out->group_count == first)
		return;
	const struct fusion_group *longest = &f->groups[out->group_count - 1];
	if (f->room_left < longest->layer_count) {
		f->room_left = ROOM;
		f->room = ARENA_ARRAY(&out->arena, int, ROOM);
	}
	int *layers = f->room;
	f->room += longest->layer_count;
	f->room_left -= longest->layer_count;
	memcpy(layers, longest->layers, (size_t)longest->layer_count * sizeof(int));
	for (int i = first; i < out->group_count; i++)
		f->groups[i].layers = layers;
}

/* Adds all groups of a chain by extending it step by step. is_group: the chain is already a group. distinct:
 * its distinct problem, -1: unknown. */
static void follow(struct finder *f, struct chain *c, int distinct, bool is_group)
{
	int first = f->fusion->group_count, epilogues = c->problem.epilogue_count;
	for (bool more = is_group || chain_step(c); more && units_agree(f, c); more = chain_step(c)) {
		distinct = distinct_of_chain(f, c, distinct, epilogues);
		epilogues = c->problem.epilogue_count;
		add_group(f, c, distinct);
	}
	chain_keep(f, first);
}

/* A layer at which a pattern ends before it is complete. */
static void add_miss(struct finder *f, int layer, const char *pattern, const char *why)
{
	struct fusion *out = f->fusion;
	VEC_GROW(f->misses, out->miss_count, f->miss_capacity);
	f->misses[out->miss_count++] = (struct fusion_miss){ layer, pattern, why };
}

/* The patterns that say why they do not match. */
static const struct {
	const char *name;
	bool (*match)(struct chain *c, const struct plan *p, const struct plan_layer *l, const char **why);
} patterns[] = { { "Attention", chain_attention }, { "Rotary", chain_rotary } };

static void find_pattern(struct finder *f, const struct plan_layer *l, int pattern)
{
	struct chain c;
	const char *why;
	int first = f->fusion->group_count;
	bool match = patterns[pattern].match(&c, f->plan, l, &why);
	if (match && !units_agree(f, &c)) {
		match = false;
		why = "one of its layers belongs to another group";
	}
	int distinct = match ? distinct_of_problem(f, &c.problem, false) : -1;
	if (match && distinct < 0)
		why = "no problem text can express it";
	add_group(f, &c, distinct);
	chain_keep(f, first);
	if (why)
		add_miss(f, l->index, patterns[pattern].name, why);
	str_free(&c.pattern);
}

static void find_products(struct finder *f, const struct plan_layer *l)
{
	struct chain c;
	bool starts = chain_start(&c, f->plan, l);
	if (starts)
		follow(f, &c, l->problem, false);
	str_free(&c.pattern);
	int first = f->fusion->group_count;
	if (!starts && chain_bytes(&c, f->plan, l) && units_agree(f, &c))
		add_group(f, &c, distinct_of_problem(f, &c.problem, false));
	chain_keep(f, first);
	str_free(&c.pattern);
	for (int i = 0; i < (int)(sizeof(patterns) / sizeof(patterns[0])); i++)
		find_pattern(f, l, i);
	first = f->fusion->group_count;
	if (chain_norm(&c, f->plan, l) && units_agree(f, &c))
		add_group(f, &c, distinct_of_problem(f, &c.problem, false));
	chain_keep(f, first);
	str_free(&c.pattern);
	if (chain_transposed(&c, f->plan, l) && units_agree(f, &c))
		follow(f, &c, -1, true);
	str_free(&c.pattern);
	if (chain_padded(&c, f->plan, l) && units_agree(f, &c))
		follow(f, &c, -1, true);
	str_free(&c.pattern);
}

/* ---- joins */

/* The distinct problem that copies that many bytes; -1: too many. */
static int distinct_of_copy(struct finder *f, double bytes)
{
	struct problem q = { .kernel = KERNEL_COPY };
	q.operand[0].dtype = q.operand[1].dtype = DTYPE_U8;
	q.size = bytes < 1e15 ? (int64_t)bytes : 0;
	return distinct_of_problem(f, &q, false);
}

/* Adds a set of the members as a group. Its layers stay what they are in other groups. */
static void add_join(struct finder *f, const struct join *j, unsigned members)
{
	struct chain c;
	double bytes;
	bool made = join_make(j, members, &c, &bytes);
	for (int i = 0; made && i < c.layer_count; i++)
		made = f->unit[c.layers[i]] < 0 || f->unit[c.layers[i]] == c.layers[i];
	int distinct = made ? distinct_of_problem(f, &c.problem, false) : -1;
	int copy = bytes > 0 && distinct >= 0 ? distinct_of_copy(f, bytes) : -1;
	if (distinct >= 0 && (copy >= 0 || !(bytes > 0))) {
		struct fusion *out = f->fusion;
		VEC_GROW(f->groups, out->group_count, f->group_capacity);
		struct fusion_group *g = &f->groups[out->group_count++];
		*g = (struct fusion_group){ .layer_count = c.layer_count, .residual = -1,
			.layers = ARENA_ARRAY(&out->arena, int, c.layer_count),
			.pattern = pattern_keep(f, &c), .level = c.level, .distinct = distinct,
			.distinct_nxc = distinct, .join = ARENA_NEW(&out->arena, struct fusion_join) };
		g->join->copy = copy;
		g->join->members = ARENA_ARRAY(&out->arena, int, j->count);
		memcpy(g->layers, c.layers, (size_t)c.layer_count * sizeof(int));
		for (int i = 0; i < j->count; i++)
			if (members >> i & 1)
				g->join->members[g->join->member_count++] = j->parts[i].layers[0];
	}
	str_free(&c.pattern);
}

static void find_joins(struct finder *f)
{
	struct join *j = base_calloc(1, sizeof(*j));
	j->dense = f->dense;
	for (int i = 0; i < f->plan->value_count; i++) {
		for (j->next = 0; join_find(j, f->plan, i); join_free(j)) {
			for (unsigned set = join_next(j, 0); set; set = join_next(j, set))
				add_join(f, j, set);
			if (j->why)
				add_miss(f, j->parts[0].layers[0], "joined matmuls", j->why);
		}
		join_free(j);
	}
	free(j);
}

/* Starts a chain with an activation (region) whose first layer is l. */
static bool start_region(struct chain *c, const struct finder *f, const struct plan_layer *l)
{
	const struct plan *p = f->plan;
	struct region r;
	for (int i = 0; i < l->input_count; i++) {
		int v = l->inputs[i];
		if (v < 0 || p->values[v].constant || p->values[v].consumer_count < 2)
			continue;
		if (region_match(p, v, &r) && r.layers[0] == l->index && chain_start_region(c, p, v, &r)) {
			if (units_agree(f, c))
				return true;
			str_free(&c->pattern);
		}
	}
	return false;
}

static void find_pointwise(struct finder *f, const struct plan_layer *l, const bool *taken)
{
	struct chain c;
	int unit = f->unit[l->index];
	bool inside = unit >= 0 && unit != l->index && unit != (l->index | FUSION_REGION);
	if (inside || l->class == CLASS_FREE || l->input_count < 1)
		return;
	if (start_region(&c, f, l)) {
		follow(f, &c, -1, true);
		str_free(&c.pattern);
	} else if (l->problem >= 0 && (!taken[l->index] || chain_is_gate(f->plan, l))) {
		if (!kernel_row(f->plan->problems[l->problem].problem->kernel)->pointwise)
			return;
		if (chain_start_pointwise(&c, f->plan, l) && units_agree(f, &c))
			follow(f, &c, l->problem, false);
		str_free(&c.pattern);
	}
}

/* In-place permutation by cycles: element i becomes the old element order[i]. Overwrites order. */
static void groups_permute(struct fusion_group *groups, int *order, int count)
{
	for (int i = 0; i < count; i++) {
		struct fusion_group first = groups[i];
		int at = i;
		while (order[at] != i) {
			int from = order[at];
			groups[at] = groups[from];
			order[at] = at;
			at = from;
		}
		groups[at] = first;
		order[at] = at;
	}
}

/* Sorts the groups by anchor (counting sort), then by length (insertion sort: few, nearly sorted). */
static void settle_groups(struct finder *f)
{
	struct fusion *out = f->fusion;
	int layers = f->plan->layer_count, *end = base_calloc((size_t)layers + 1, sizeof(int));
	int *order = base_malloc(((size_t)out->group_count + 1) * sizeof(int));
	for (int i = 0; i < out->group_count; i++)
		end[f->groups[i].layers[0] + 1]++;
	for (int i = 0; i < layers; i++)
		end[i + 1] += end[i];
	for (int i = 0; i < out->group_count; i++) {
		struct fusion_group *g = &f->groups[i];
		int anchor = g->layers[0], at = end[anchor]++;
		if (out->first_group[anchor] < 0)
			out->first_group[anchor] = at;
		for (; at > out->first_group[anchor] &&
			f->groups[order[at - 1]].layer_count > g->layer_count; at--)
			order[at] = order[at - 1];
		g->text = f->distinct[g->distinct].text;
		g->text_nxc = g->distinct_nxc < 0 ? NULL : f->distinct[g->distinct_nxc].text;
		if (fusion_copy(g) >= 0)
			g->join->copy_text = f->distinct[g->join->copy].text;
		order[at] = i;
	}
	groups_permute(f->groups, order, out->group_count);
	out->groups = base_realloc(f->groups, ((size_t)out->group_count + 1) * sizeof(*out->groups));
	free(order);
	free(end);
}

static int miss_compare(const void *x, const void *y)
{
	const struct fusion_miss *a = x, *b = y;
	return a->layer != b->layer ? a->layer - b->layer : strcmp(a->pattern, b->pattern);
}

static void settle(struct finder *f)
{
	struct fusion *out = f->fusion;
	settle_groups(f);
	if (out->miss_count)
		qsort(f->misses, (size_t)out->miss_count, sizeof(*f->misses), miss_compare);
	out->misses = ARENA_ARRAY(&out->arena, struct fusion_miss, out->miss_count);
	if (out->miss_count)
		memcpy(out->misses, f->misses, (size_t)out->miss_count * sizeof(*out->misses));
	out->text_count = f->distinct_count - f->own;
	out->texts = ARENA_ARRAY(&out->arena, const char *, out->text_count);
	out->text_is_nxc = ARENA_ARRAY(&out->arena, bool, out->text_count);
	for (int i = 0; i < out->text_count; i++) {
		out->texts[i] = f->distinct[f->own + i].text;
		out->text_is_nxc[i] = f->distinct[f->own + i].is_nxc;
	}
}

static void find_groups(struct finder *f)
{
	const struct plan *p = f->plan;
	bool *taken = base_calloc((size_t)p->layer_count + 1, sizeof(bool));
	for (int i = 0; i < p->layer_count; i++) {
		f->fusion->first_group[i] = -1;
		find_products(f, &p->layers[i]);
	}
	for (int i = 0; i < p->layer_count; i++)
		taken[i] = f->unit[i] >= 0;
	for (int i = 0; i < p->layer_count; i++)
		find_pointwise(f, &p->layers[i], taken);
	free(taken);
	find_joins(f);
}

struct fusion *fusion_find(const struct plan *p)
{
	struct fusion *out = base_calloc(1, sizeof(*out));
	struct finder f = { .plan = p, .fusion = out };
	f.unit = base_malloc(((size_t)p->layer_count + 1) * sizeof(int));
	f.converted = base_calloc((size_t)p->value_count + 1, sizeof(bool));
	f.dense = base_calloc((size_t)p->layer_count + 1, sizeof(bool));
	out->first_group = ARENA_ARRAY(&out->arena, int, p->layer_count);
	for (int i = 0; i < p->layer_count; i++)
		f.unit[i] = -1;
	f.own = plan_problem_total(p);
	for (int i = 0; i < f.own; i++)
		distinct_add(&f, p->problems[i].text, false);
	for (int i = 0; i < p->conversion_count; i++)
		f.converted[p->conversions[i].value] = true;
	find_groups(&f);
	settle(&f);
	fusion_cluster(out, p, f.unit);
	fusion_contests(out, p);
	free(f.distinct);
	free(f.misses);
	free(f.unit);
	free(f.converted);
	free(f.dense);
	hash_free(&f.texts);
	hash_free(&f.steps);
	hash_free(&f.patterns);
	arena_free(&f.scratch);
	return out;
}

void fusion_free(struct fusion *f)
{
	if (!f)
		return;
	struct arena arena = f->arena;
	arena_free(&arena);
	free(f->groups);
	free(f);
}
