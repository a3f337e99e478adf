/* Lanes of the parallel schedule, in which one layer runs at a time. */
#include "config.h"

#include "analyze/bound/analyzer.h"

#include <math.h>
#include <stdlib.h>

/* A heap of lanes, the least key first: until when they are busy, or their numbers. */
struct lane_heap {
	struct lane_key {
		double key;
		int lane;
	} *list;
	int count, capacity;
};

static void heap_add(struct lane_heap *h, double key, int lane)
{
	VEC_GROW(h->list, h->count, h->capacity);
	int i = h->count++;
	for (; i > 0 && h->list[(i - 1) / 2].key > key; i = (i - 1) / 2)
		h->list[i] = h->list[(i - 1) / 2];
	h->list[i] = (struct lane_key){ key, lane };
}

static int heap_take(struct lane_heap *h)
{
	int lane = h->list[0].lane, i = 0;
	struct lane_key last = h->list[--h->count];
	for (int next; (next = 2 * i + 1) < h->count; i = next) {
		next += next + 1 < h->count && h->list[next + 1].key < h->list[next].key;
		if (h->list[next].key >= last.key)
			break;
		h->list[i] = h->list[next];
	}
	h->list[i] = last;
	return lane;
}

struct lanes {
	const struct analysis *a;
	int *order, count;   /* layers that take time, by start, critical ones first */
	int *before, *heir;  /* per layer: the one it waited for, the one that continues its lane; or -1 */
	double *until;       /* per layer: the end of its row of heirs */
	int root;            /* the first layer of the critical row; -1: none */
};

static bool takes_time(const struct layer_cost *c)
{
	return c->ns > 0 && !isnan(c->start_ns);
}

static int by_start(const void *x, const void *y, void *layers)
{
	int i = *(const int *)x, k = *(const int *)y;
	const struct layer_cost *all = layers, *a = &all[i], *b = &all[k];
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->critical != b->critical ? (a->critical ? -1 : 1) : i - k;
}

/* The one that ends last; of those that end together a critical one. */
static int later(const struct lanes *l, int i, int k)
{
	if (i < 0 || k < 0)
		return i < 0 ? k : i;
	const struct layer_cost *x = &l->a->layers[i], *y = &l->a->layers[k];
	double a = x->start_ns + x->ns, b = y->start_ns + y->ns;
	return a != b ? (a > b ? i : k) : y->critical && !x->critical ? k : i;
}

/* Whom each layer waited for, behind those that take no time: a group for the inputs of all its layers. */
static void lanes_link(struct lanes *l, const struct plan *p)
{
	int *last = base_malloc(((size_t)p->layer_count + 1) * sizeof(int)); /* who took time by then */
	for (int i = 0; i < p->layer_count; i++) {
		const struct layer_cost *c = &l->a->layers[i];
		int anchor = c->origin == ORIGIN_FUSED && c->group ? c->group->layers[0] : i, before = -1;
		bool own = takes_time(&l->a->layers[anchor]);
		for (int k = 0; k < p->layers[i].pred_count; k++) {
			int of = last[p->layers[i].preds[k]];
			if (of >= 0 && (!own || l->a->layers[of].start_ns < l->a->layers[anchor].start_ns))
				before = later(l, before, of);
		}
		if (own)
			l->before[anchor] = later(l, l->before[anchor], before);
		last[i] = own ? anchor : before;
	}
	free(last);
}

/* The one with the least slack. */
static void heirs_choose(struct lanes *l)
{
	for (int i = 0; i < l->count; i++) {
		int layer = l->order[i], before = l->before[layer], now = before < 0 ? -1 : l->heir[before];
		const struct layer_cost *all = l->a->layers;
		if (before >= 0 && (now < 0 || all[layer].slack_ns < all[now].slack_ns))
			l->heir[before] = layer;
	}
}

/* Makes one row of the critical layers, from the last one back to those that each waited for: of equally long
 * paths the others branch off it. */
static void critical_row(struct lanes *l)
{
	int layer = -1;
	for (int i = 0; i < l->count; i++)
		if (l->a->layers[l->order[i]].critical)
			layer = later(l, layer, l->order[i]);
	for (l->root = layer; layer >= 0 && l->before[layer] >= 0; layer = l->root) {
		l->root = l->before[layer];
		l->heir[l->root] = layer;
	}
}

/* The critical row takes lane 0. Another row of heirs takes the first lane that is idle when it begins; sums
 * differ by rounding errors. */
static int rows_place(const struct lanes *l, int *lane)
{
	struct lane_heap busy = { .list = NULL }, idle = { .list = NULL };
	int lanes = l->root >= 0;
	for (int i = l->count - 1; i >= 0; i--) {
		int layer = l->order[i], heir = l->heir[layer];
		const struct layer_cost *c = &l->a->layers[layer];
		l->until[layer] = heir >= 0 ? l->until[heir] : c->start_ns + c->ns;
	}
	for (int i = 0; i < l->count; i++) {
		int layer = l->order[i], before = l->before[layer];
		double start = l->a->layers[layer].start_ns;
		if (before >= 0 && l->heir[before] == layer) {
			lane[layer] = lane[before];
			continue;
		}
		while (busy.count && busy.list[0].key <= start + 1e-9 * fmax(start, 1)) {
			int free_lane = heap_take(&busy);
			heap_add(&idle, free_lane, free_lane);
		}
		lane[layer] = layer == l->root ? 0 : idle.count ? heap_take(&idle) : lanes++;
		heap_add(&busy, l->until[layer], lane[layer]);
	}
	free(busy.list);
	free(idle.list);
	return lanes;
}

int schedule_lanes(const struct plan *p, const struct analysis *a, int *lane)
{
	size_t n = (size_t)p->layer_count + 1;
	struct lanes l = { .a = a, .order = base_malloc(n * sizeof(int)),
		.before = base_malloc(n * sizeof(int)), .heir = base_malloc(n * sizeof(int)),
		.until = base_malloc(n * sizeof(double)) };
	for (int i = 0; i < p->layer_count; i++) {
		lane[i] = l.before[i] = l.heir[i] = -1;
		if (takes_time(&a->layers[i]))
			l.order[l.count++] = i;
	}
	if (l.count)
		qsort_r(l.order, (size_t)l.count, sizeof(int), by_start, (void *)a->layers);
	lanes_link(&l, p);
	heirs_choose(&l);
	critical_row(&l);
	int lanes = rows_place(&l, lane);
	free(l.order);
	free(l.before);
	free(l.heir);
	free(l.until);
	return lanes;
}
