/* Joins rows that share layers to groups by union-find, and computes what each costs in the scenario of
 * the bound. */
#include "config.h"

#include "analyze/bound/bound_private.h"
#include "analyze/real/reality_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- which rows and layers belong together ---- */

static int find_root(int *parent, int i)
{
	while (parent[i] != i)
		i = parent[i] = parent[parent[i]];
	return i;
}

bool *rows_traced(struct arena *a, const struct execution *e)
{
	enum execution_level top = LEVEL_KERNEL;
	bool *traced = ARENA_ARRAY(a, bool, e->row_count + 1);
	for (int i = 0; i < e->row_count; i++)
		top = e->rows[i].level == LEVEL_LAYER ? LEVEL_LAYER : top;
	for (int i = 0; i < e->row_count; i++) {
		const struct execution_row *r = &e->rows[i];
		traced[i] = r->level == top && (r->parent < 0 || e->rows[r->parent].level != top);
	}
	return traced;
}

/* Returns the resolution of a source's row times in ns. ONNX Runtime and most frameworks of agents round
 * start and end of a row to microseconds. */
static double clock_step_ns(const struct execution *e)
{
	static const struct { const char *source; double ns; } steps[] = { { "agent", 1000 },
		{ "onnxruntime", 500 } };
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (!strcmp(e->source, steps[i].source))
			return steps[i].ns;
	return 0;
}

static void add_row(struct reality_group *g, const struct reality *y, int row)
{
	const struct execution *e = y->execution;
	const struct execution_row *r = &e->rows[row];
	bool first = g->row_count == 0;
	g->rows[g->row_count++] = row;
	if (first || r->ns > e->rows[g->longest].ns || isnan(e->rows[g->longest].ns)) {
		g->longest = row;
		g->kernel = *r->kernel ? r->kernel : *r->op ? r->op : r->name;
		g->provider = r->provider;
	}
	if (isnan(r->ns))
		return;
	g->real_ns += row_corrected(y, row, r->ns);
	g->real_lo += fmax(0, row_corrected(y, row, r->lo_ns) - clock_step_ns(e));
	g->real_hi += row_corrected(y, row, r->hi_ns) + clock_step_ns(e);
	if (isnan(r->lo_ns) || isnan(r->hi_ns))
		g->real_lo = g->real_hi = NAN;
}

struct reality_group *group_of_layer(const struct reality *y, int layer)
{
	int row = y->match->row_of_layer[layer];
	return row >= 0 && y->group_of_row[row] >= 0 ? &y->groups[y->group_of_row[row]] : NULL;
}

static void groups_list_layers(struct arena *a, struct reality *y)
{
	for (int i = 0; i < y->match->layer_count; i++) {
		struct reality_group *g = group_of_layer(y, i);
		if (g)
			g->layer_count++;
	}
	for (int i = 0; i < y->group_count; i++) {
		y->groups[i].layers = ARENA_ARRAY(a, int, y->groups[i].layer_count + 1);
		y->groups[i].layer_count = 0;
	}
	for (int i = 0; i < y->match->layer_count; i++) {
		struct reality_group *g = group_of_layer(y, i);
		if (g)
			g->layers[g->layer_count++] = i;
	}
}

void groups_find(struct arena *a, struct reality *y, const bool *traced)
{
	const struct match *m = y->match;
	struct arena scratch = { 0 };
	int *parent = ARENA_ARRAY(&scratch, int, m->row_count + 1),
	    *size = ARENA_ARRAY(&scratch, int, m->row_count + 1);
	for (int i = 0; i < m->row_count; i++)
		parent[i] = i;
	for (int i = 0; i < m->row_count; i++)
		for (int k = 0; k < m->rows[i].layer_count && traced[i]; k++) {
			int first = m->row_of_layer[m->rows[i].layers[k]];
			if (first >= 0 && traced[first])
				parent[find_root(parent, i)] = find_root(parent, first);
		}
	y->group_of_row = ARENA_ARRAY(a, int, m->row_count + 1);
	y->gap_of_row = ARENA_ARRAY(a, int, m->row_count + 1);
	for (int i = 0; i < m->row_count; i++) {
		y->group_of_row[i] = y->gap_of_row[i] = -1;
		if (traced[i] && m->rows[i].layer_count)
			size[find_root(parent, i)]++;
	}
	y->groups = ARENA_ARRAY(a, struct reality_group, m->row_count + 1);
	int *index = ARENA_ARRAY(&scratch, int, m->row_count + 1);
	for (int i = 0; i < m->row_count; i++) {
		int root = find_root(parent, i);
		if (!traced[i] || !m->rows[i].layer_count)
			continue;
		if (!index[root]) {
			index[root] = ++y->group_count;
			struct reality_group *g = &y->groups[y->group_count - 1];
			g->rows = ARENA_ARRAY(a, int, size[root]);
			g->kernel = g->provider = "";
		}
		y->group_of_row[i] = index[root] - 1;
		add_row(&y->groups[index[root] - 1], y, i);
	}
	groups_list_layers(a, y);
	arena_free(&scratch);
}

/* ---- what a group costs in the bound's scenario ---- */

struct candidate {
	const struct fusion_group *group;
	struct price price;
	double saves;
};

static int by_saving(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;
	return a->saves != b->saves ? (a->saves < b->saves ? 1 : -1)
				    : a->group->layers[0] - b->group->layers[0];
}

static double sum_of(const struct analysis *alone, const int *layers, int count)
{
	double sum = 0;
	for (int i = 0; i < count; i++)
		sum += alone->layers[layers[i]].ns;
	return sum;
}

/* Finds the fusion groups inside a group of layers (marked in `inside`) that save time. */
static int candidates_of(struct arena *a, const struct pricing *on, const struct reality_group *g,
	const bool *inside, struct candidate **list)
{
	const struct fusion *f = on->study->fusion;
	int count = 0, capacity = 0;
	*list = NULL;
	for (int i = 0; i < g->layer_count && f && g->layer_count > 1; i++)
		for (int k = f->first_group[g->layers[i]];
			k >= 0 && k < f->group_count && f->groups[k].layers[0] == g->layers[i]; k++) {
			const struct fusion_group *one = &f->groups[k];
			bool within = study_group_distinct(on->study, one) >= 0 && fusion_copy(one) < 0;
			for (int n = 0; n < one->layer_count && within; n++)
				within = inside[one->layers[n]];
			if (!within)
				continue;
			struct price price = study_price(on->study, on->scenario,
				study_group_distinct(on->study, one), on->scenario->best);
			double saves = sum_of(on->alone, one->layers, one->layer_count) - price.ns;
			if (isnan(price.ns) || !(saves > 0))
				continue;
			if (count == capacity) {
				struct candidate *more =
					ARENA_ARRAY(a, struct candidate, capacity = 2 * capacity + 8);
				if (count)
					memcpy(more, *list, sizeof(*more) * (size_t)count);
				*list = more;
			}
			(*list)[count++] = (struct candidate){ one, price, saves };
		}
	return count;
}

void dates_add(struct dates *d, const struct result *r)
{
	int64_t at = r && r->measured_at > 0 ? r->measured_at : 1; /* an unknown date is before all others */
	if (!r)
		return;
	d->first = !d->first || at < d->first ? at : d->first;
	d->last = at > d->last ? at : d->last;
}

static void add_cost(struct reality_group *g, double ns, double lo, double hi, bool estimated)
{
	g->cost_ns += ns;
	g->cost_lo += isnan(lo) ? ns : lo;
	g->cost_hi += isnan(hi) ? ns : hi;
	g->estimated |= estimated;
	g->single |= isnan(lo) || isnan(hi);
}

/* Sums the costs of the group's layers, fused where the fused problem is measured and saves time; the largest
 * saving is taken first. Longer chains contain shorter ones, so this is optimal unless two chains share a
 * layer. */
void group_cost(struct reality_group *g, const struct pricing *on, bool *inside)
{
	struct arena scratch = { 0 };
	struct candidate *list;
	double dearest = 0;
	g->cost_ns = g->cost_lo = g->cost_hi = 0; /* the groups may be those of an earlier bound */
	g->estimated = g->single = g->in_turn = false;
	g->dates = (struct dates){ 0 };
	g->better = NULL;
	for (int i = 0; i < g->layer_count; i++)
		inside[g->layers[i]] = true;
	int count = candidates_of(&scratch, on, g, inside, &list);
	if (count)
		qsort(list, (size_t)count, sizeof(*list), by_saving);
	for (int i = 0; i < count; i++) {
		const struct fusion_group *one = list[i].group;
		bool free = true;
		for (int k = 0; k < one->layer_count; k++)
			free &= inside[one->layers[k]];
		if (!free)
			continue;
		for (int k = 0; k < one->layer_count; k++)
			inside[one->layers[k]] = false;
		const struct result *r = list[i].price.result;
		struct interval v = interval_at_times(list[i].price.lo, list[i].price.hi, r);
		add_cost(g, list[i].price.ns, v.lo, v.hi, list[i].price.estimated || list[i].price.rough);
		dates_add(&g->dates, r);
		g->better = list[i].price.ns > dearest ? r : g->better;
		dearest = fmax(dearest, list[i].price.ns);
	}
	for (int i = 0; i < g->layer_count; i++) {
		const struct layer_cost *c = &on->alone->layers[g->layers[i]];
		if (!inside[g->layers[i]])
			continue;
		inside[g->layers[i]] = false;
		struct interval v = interval_at_times(c->lo, c->hi, c->result);
		add_cost(g, c->ns, v.lo, v.hi, cost_is_guess(c));
		dates_add(&g->dates, c->result);
		g->better = c->ns > dearest ? c->result : g->better;
		dearest = c->ns > dearest ? c->ns : dearest;
	}
	arena_free(&scratch);
}
