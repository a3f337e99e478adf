/* The dots and ceilings of the roofline model: each distinct problem once, with its FLOPs, bytes and time;
 * and the peaks of memories and of the units that the dots may run on. */
#include "config.h"

#include "analyze/tables/charts.h"

#include "base/hash.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- dots ---- */

/* A graph: the model's own, or a body. Bodies are numbered after the layers of all graphs before them. */
struct dots_graph {
	const struct plan *plan;
	const struct layer_cost *costs; /* NULL: unknown */
	double times;                   /* runs of a body; NaN: unknown */
	int base;                       /* number of its first layer */
};

struct dots_walk {
	const struct analysis *a;
	const struct plan *p;
	const struct peaks *k;
	struct dots_graph *graphs;      /* those of a layer's bodies follow, breadth first */
	int count, capacity, layers;
	int64_t *of_plan;               /* numbers of dots: of the plan's problems by index (-1: none yet), */
	struct hash others;             /* of others by text */
};

static void graph_add(struct dots_walk *w, const struct plan *p, const struct layer_cost *costs, double times)
{
	VEC_GROW(w->graphs, w->count, w->capacity);
	w->graphs[w->count++] = (struct dots_graph){ p, costs, times, w->layers };
	w->layers += p->layer_count;
}

/* The plan's problem of a layer, or -1: the layout what-if does not apply in bodies. */
static int own_problem(const struct dots_walk *w, const struct dots_graph *g, int i)
{
	return plan_layer_problem_index(
		w->p, &g->plan->layers[i], !g->base && w->a->scenario.layouts == LAYOUTS_NXC);
}

/* The problem whose time is the layer's cost. */
static const char *problem_of(const struct dots_walk *w, const struct dots_graph *g, int i, int own)
{
	const struct layer_cost *c = &g->costs[i];
	if (!g->base)
		return limit_problem(w->a, w->p, i);
	return c->result ? c->result->problem : own >= 0 ? w->p->problems[own].text : NULL;
}

static void dot_add(struct dots *d, struct dots_walk *w, const struct dots_graph *g, int i)
{
	const struct layer_cost *c = &g->costs[i];
	int own = own_problem(w, g, i);
	const char *text = problem_of(w, g, i, own);
	const struct plan_problem *kept = own >= 0 ? &w->p->problems[own] : NULL;
	double total = isnan(g->times) ? c->ns : g->times * c->ns;
	struct problem p;
	if (c->bodies || c->origin == ORIGIN_FREE || c->origin == ORIGIN_FUSED)
		return;
	if (!(c->ns > 0) || !text) {
		d->unmeasured += !(c->ns > 0);
		d->idle += c->ns > 0;
		return;
	}
	bool is_own = kept && kept->problem && (kept->text == text || strcmp(kept->text, text) == 0);
	int64_t *at = is_own ? &w->of_plan[own] : hash_at(&w->others, text_of(text));
	if (*at >= 0) {
		d->list[*at].layers++;
		d->list[*at].total_ns += total;
		return;
	}
	*at = d->count;
	if (is_own)
		problem_restore(kept->problem, &p);
	bool known = is_own || problem_parse(text_of(text), &p, NULL) == 0;
	VEC_GROW(d->list, d->count, d->capacity);
	d->list[d->count++] = (struct dot){ .problem = text, .first = &g->plan->layers[i],
		.layer = g->base + i, .layers = 1, .flops = known ? problem_flops(&p) : NAN,
		.bytes = known ? problem_bytes(&p) : NAN, .ns = c->ns, .total_ns = total,
		.guess = cost_is_guess(c), .type = known ? p.operand[0].dtype : DTYPE_UNKNOWN,
		.result = c->result,
		.limit = limit_of_parsed(c, known ? &p : NULL, w->k, &w->a->scenario, w->a->cache) };
}

static void graph_walk(struct dots *d, struct dots_walk *w, int number)
{
	struct dots_graph g = w->graphs[number];
	for (int i = 0; i < g.plan->layer_count; i++) {
		const struct plan_layer *l = &g.plan->layers[i];
		if (g.costs && g.times != 0 && !plan_layer_is_folded(g.plan, l))
			dot_add(d, w, &g, i);
		for (int k = 0; k < l->body_count; k++) {
			const struct plan *body = &l->bodies[k];
			bool never = g.times == 0 || body->times == 0;
			graph_add(w, body, g.costs && g.costs[i].bodies ? g.costs[i].bodies[k] : NULL,
				never ? 0 : g.times * body->times);
		}
	}
}

static int by_cost(const void *x, const void *y)
{
	const struct dot *a = x, *b = y;
	return a->total_ns != b->total_ns ? (a->total_ns < b->total_ns ? 1 : -1) : a->layer - b->layer;
}

/* ---- ceilings ---- */

static void ceiling_add(struct dots *d, const char *name, double peak, bool is_rate, bool estimated)
{
	char number[STR_QUANTITY];
	struct ceiling c = { .peak = peak, .is_rate = is_rate };
	if (!(peak > 0) || d->ceiling_count == CEILINGS_MAX)
		return;
	snprintf(c.text, sizeof(c.text), "%s %s%s%s", name, estimated ? "~" : "", str_count(number, peak),
		is_rate ? "B/s" : "FLOP/s");
	for (int i = 0; i < d->ceiling_count; i++)
		if (strcmp(d->ceilings[i].text, c.text) == 0)
			return;
	d->ceilings[d->ceiling_count++] = c;
}

/* The units that the scenario allows for a type. */
static void ceilings_of_type(struct dots *d, const struct dots_walk *w, enum dtype type)
{
	const struct scenario *s = &w->a->scenario;
	enum dtype unit = type == DTYPE_F32 ? DTYPE_TF32 : type;
	char name[32];
	ceiling_add(d, dtype_name(type), w->k->flops[type], false, false);
	snprintf(name, sizeof(name), "%s matrix", dtype_name(unit));
	if (s->matrix && (type != DTYPE_F32 || s->relaxed))
		ceiling_add(d, name, w->k->matrix_flops[unit], false, false);
}

/* Units: those that limit a dot, then all that the types of the dots may use. */
static void ceilings_make(struct dots *d, const struct dots_walk *w)
{
	const struct peaks *k = w->k;
	bool types[DTYPE_COUNT] = { false };
	char name[16];
	ceiling_add(d, "memory", k->bandwidth_bytes_s, true, false);
	for (int i = 0; i < k->level_count; i++) {
		snprintf(name, sizeof(name), "L%d", k->level[i].level);
		ceiling_add(d, name, k->level[i].bandwidth_bytes_s, true, k->level[i].estimated);
	}
	for (int i = 0; i < d->count; i++) {
		const struct limit *l = &d->list[i].limit;
		if (!dot_has_position(&d->list[i])) {
			d->idle += d->list[i].layers;
			continue;
		}
		d->placed++;
		types[d->list[i].type] = true;
		if (l->by == LIMIT_COMPUTE)
			ceiling_add(d, l->peak, l->peak_per_s, false, false);
	}
	for (int t = 0; t < DTYPE_COUNT; t++)
		if (types[t])
			ceilings_of_type(d, w, (enum dtype)t);
}

double dots_highest(const struct dots *d, bool is_rate)
{
	double most = NAN;
	for (int i = 0; i < d->ceiling_count; i++)
		if (d->ceilings[i].is_rate == is_rate)
			most = fmax(most, d->ceilings[i].peak);
	return most;
}

struct dots dots_of(const struct analysis *a, const struct plan *p, const struct peaks *k)
{
	struct dots d = { .list = NULL };
	struct dots_walk w = { .a = a, .p = p, .k = k };
	size_t problems = (size_t)plan_problem_total(p);
	w.of_plan = base_malloc((problems + 1) * sizeof(*w.of_plan));
	memset(w.of_plan, -1, problems * sizeof(*w.of_plan));
	graph_add(&w, p, a->layers, 1);
	for (int i = 0; i < w.count; i++)
		graph_walk(&d, &w, i);
	ceilings_make(&d, &w); /* in the order of the layers */
	if (d.count)
		qsort(d.list, (size_t)d.count, sizeof(*d.list), by_cost);
	hash_free(&w.others);
	free(w.of_plan);
	free(w.graphs);
	return d;
}

void dots_free(struct dots *d)
{
	free(d->list);
	*d = (struct dots){ .list = NULL };
}
