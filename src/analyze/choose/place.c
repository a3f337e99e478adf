/* The cheapest assignment of layouts, algorithms and groups, by dynamic programming over the layers in
 * execution order. A state has, for each value that a later layer reads, the layout in which it was produced
 * and those to which it was converted, or the group inside which it is. A conversion is paid once, by the
 * first layer that needs it, and starts from the produced layout. At most STATES_MAX states are kept after
 * each layer; as long as no more are needed, the result is exact, otherwise it is an upper value. */
#include "config.h"

#include "analyze/choose/place_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STATES_MAX 1024

#define HASHED_FROM 8 /* fewer states are compared one by one */

struct states {
	int count, capacity, width, key_room;
	bool hashed;
	uint16_t *keys;
	struct rank *rank;
	int *parent, *choice;
};

static struct rank rank_sum(struct rank x, struct rank y)
{
	return (struct rank){ x.missing + y.missing, x.estimated + y.estimated, x.cost + y.cost };
}

/* As in choose.c: fewest gaps, then fewest estimates, then lowest cost. */
static bool rank_less(const struct rank *x, const struct rank *y)
{
	if (x->missing != y->missing)
		return x->missing < y->missing;
	return x->estimated != y->estimated ? x->estimated < y->estimated : x->cost < y->cost;
}

/* ---- one step */

/* True if the group has the layer. */
static bool group_holds(const struct placer *g, int group, int layer)
{
	const struct fusion_group *f = &g->st->fusion->groups[group];
	for (int i = 0; i < f->layer_count; i++)
		if (f->layers[i] == layer)
			return true;
	return false;
}

static bool is_last(const struct placer *g, const struct choice *c, int layer)
{
	const struct fusion_group *f = c->group >= 0 ? &g->st->fusion->groups[c->group] : NULL;
	return !f || f->layers[f->layer_count - 1] == layer;
}

/* The layout in which a layer reads a value from outside its group. */
static int layout_read(const struct placer *g, const struct plan_layer *l, int value, const struct choice *c)
{
	const struct plan *p = g->st->plan;
	const struct fusion_group *f = c->group >= 0 ? &g->st->fusion->groups[c->group] : NULL;
	enum kernel_layout role = g->st->layouts->role[l->index];
	if (f && f->layers[0] != l->index) /* a residual lies as the result */
		return c->way->out;
	if (role == KERNEL_LAYOUT_IMAGE || role == KERNEL_LAYOUT_SOURCE)
		return l->inputs[0] == value ? c->way->in : IMAGE_NCX;
	if (l->output_count < 1 || l->outputs[0] < 0)
		return IMAGE_NCX;
	for (int i = 0; i < l->input_count; i++)
		if (l->inputs[i] == value)
			return p->values[value].shape.rank == p->values[l->outputs[0]].shape.rank ?
				c->way->in : IMAGE_NCX;
	return IMAGE_NCX; /* a subgraph captures it */
}

static struct rank conversion_rank(const struct placer *g, int value, int from, int to)
{
	int at = g->st->layouts->of_value[value];
	int distinct = at < 0 ? CONVERSION_FREE : g->st->layouts->values[at].distinct[from][to];
	if (distinct == CONVERSION_FREE)
		return (struct rank){ 0 };
	if (distinct == CONVERSION_UNKNOWN)
		return (struct rank){ .missing = 1 };
	return rank_of(solution_at(g->out, distinct), 1);
}

/* Makes a value available in a layout. Returns the new state, adds its price; -1: it is inside a group. */
static int provide(const struct placer *g, int value, int state, int layout, struct rank *rank)
{
	if (state >= INSIDE)
		return -1;
	if (g->st->layouts->of_value[value] < 0 || (state >> layout & 1))
		return state;
	*rank = rank_sum(*rank, conversion_rank(g, value, state >> 4, layout));
	return state | 1 << layout;
}

static int produced(const struct placer *g, const struct plan_layer *l, int output, const struct choice *c,
	struct rank *rank)
{
	const struct plan_value *v = &g->st->plan->values[l->outputs[output]];
	bool image = g->st->layouts->role[l->index] == KERNEL_LAYOUT_IMAGE;
	if (!is_last(g, c, l->index))
		return c->inside;
	int out = g->st->layouts->of_value[l->outputs[output]] < 0 || (image && output) ? IMAGE_NCX :
		c->way->out, state = out << 4 | 1 << out;
	return v->is_output ? provide(g, l->outputs[output], state, IMAGE_NCX, rank) : state;
}

/* What a layer reads and makes, as places in the old and new keys. */
struct reads {
	int count, *values;     /* tracked values that it reads */
	int kept, *from;        /* new key: old places of the values that stay */
	int made, *outputs;     /* ... then these outputs */
};

/* The states after a layer from one before it and a choice: fills `key` (old width, then outputs). */
static bool step_state(const struct placer *g, const struct plan_layer *l, const struct reads *r,
	const struct choice *c, uint16_t *key, int width, struct rank *rank)
{
	*rank = rank_sum(*rank, c->rank);
	for (int i = 0; i < r->count; i++) {
		int value = r->values[i], at = g->slot[value], producer = g->st->plan->values[value].producer;
		if (c->group >= 0 && producer >= 0 && group_holds(g, c->group, producer)) {
			if (key[at] != c->inside)
				return false;
			continue;
		}
		int state = provide(g, value, key[at], layout_read(g, l, value, c), rank);
		if (state < 0)
			return false;
		key[at] = (uint16_t)state;
	}
	/* an output that is not kept may still be converted: the model's output */
	for (int i = 0, made = 0; i < l->output_count; i++) {
		if (l->outputs[i] < 0)
			continue;
		int state = produced(g, l, i, c, rank);
		if (made < r->made && r->outputs[made] == l->outputs[i])
			key[width + made++] = (uint16_t)state;
	}
	return true;
}

static uint32_t key_hash(const uint16_t *key, int width)
{
	uint32_t h = 2166136261u;
	for (int i = 0; i < width; i++)
		h = (h ^ key[i]) * 16777619u;
	return h ^ h >> 15;
}

/* Makes the table, of `size` places, and puts the states in it. */
static void table_make(struct placer *g, const struct states *x, int size)
{
	if (size > g->table_room) {
		g->table = base_realloc(g->table, (size_t)size * sizeof(int));
		g->table_room = size;
	}
	g->table_size = size;
	memset(g->table, -1, (size_t)size * sizeof(int));
	for (int i = 0; i < x->count; i++) {
		uint32_t at = key_hash(x->keys + (size_t)i * x->width, x->width) & (size - 1);
		while (g->table[at] >= 0)
			at = (at + 1) & (size - 1);
		g->table[at] = i;
	}
}

/* The state of this key, or -1; *place: where it is, or would be, in the table. */
static int state_find(const struct placer *g, const struct states *x, const uint16_t *key, uint32_t *place)
{
	size_t size = (size_t)x->width * sizeof(*key);
	if (!size)
		return x->count - 1;
	for (int i = 0; !x->hashed && i < x->count; i++)
		if (memcmp(x->keys + (size_t)i * x->width, key, size) == 0)
			return i;
	if (!x->hashed)
		return -1;
	uint32_t at = key_hash(key, x->width) & (g->table_size - 1);
	while (g->table[at] >= 0 && memcmp(x->keys + (size_t)g->table[at] * x->width, key, size) != 0)
		at = (at + 1) & (g->table_size - 1);
	*place = at;
	return g->table[at];
}

static int state_new(struct placer *g, struct states *x, const uint16_t *key, uint32_t place)
{
	if (x->count == x->capacity) {
		x->capacity = 2 * x->capacity + 16;
		x->rank = base_realloc(x->rank, (size_t)x->capacity * sizeof(*x->rank));
		x->parent = base_realloc(x->parent, (size_t)x->capacity * sizeof(int));
		x->choice = base_realloc(x->choice, (size_t)x->capacity * sizeof(int));
	}
	int i = x->count++;
	if (x->count * x->width > x->key_room) {
		x->key_room = 2 * x->count * x->width + 64;
		x->keys = base_realloc(x->keys, (size_t)x->key_room * sizeof(*key));
	}
	if (x->width)
		memcpy(x->keys + (size_t)i * x->width, key, (size_t)x->width * sizeof(*key));
	if (x->hashed)
		g->table[place] = i;
	return i;
}

static void state_add(struct placer *g, struct states *x, const uint16_t *key, const struct rank *rank,
	int parent, int choice)
{
	uint32_t place = 0;
	if (!x->hashed && x->width && x->count == HASHED_FROM) {
		table_make(g, x, 8 * HASHED_FROM);
		x->hashed = true;
	} else if (x->hashed && 2 * x->count >= g->table_size) {
		table_make(g, x, 2 * g->table_size);
	}
	int i = state_find(g, x, key, &place);
	if (i >= 0 && !rank_less(rank, &x->rank[i]))
		return;
	if (i < 0)
		i = state_new(g, x, key, place);
	x->rank[i] = *rank;
	x->parent[i] = parent;
	x->choice[i] = choice;
}

/* Empties it for keys of another width; its arrays stay. */
static void states_clear(struct states *x, int width)
{
	x->count = 0;
	x->width = width;
	x->hashed = false;
}

static void states_free(struct states *x)
{
	free(x->keys);
	free(x->rank);
	free(x->parent);
	free(x->choice);
	*x = (struct states){ 0 };
}

static int rank_compare(const void *a, const void *b, void *ranks)
{
	const struct rank *r = ranks;
	int x = *(const int *)a, y = *(const int *)b;
	return rank_less(&r[x], &r[y]) ? -1 : rank_less(&r[y], &r[x]) ? 1 : x - y;
}

/* Keeps the STATES_MAX best states. */
static void prune(struct placer *g, struct states *x)
{
	if (x->count <= STATES_MAX)
		return;
	g->exact = false;
	int *order = base_malloc((size_t)x->count * sizeof(*order));
	for (int i = 0; i < x->count; i++)
		order[i] = i;
	qsort_r(order, (size_t)x->count, sizeof(*order), rank_compare, x->rank);
	struct states kept = { .width = x->width };
	for (int i = 0; i < STATES_MAX; i++)
		state_add(g, &kept, x->keys + (size_t)order[i] * x->width, &x->rank[order[i]],
			x->parent[order[i]], x->choice[order[i]]);
	states_free(x);
	*x = kept;
	free(order);
}

/* ---- the values that the key has */

static bool has_later_reader(const struct placer *g, int value, int layer)
{
	return g->st->layouts->last_reader[value] > layer;
}

static void add_once(int *list, int *count, int item)
{
	for (int i = 0; i < *count; i++)
		if (list[i] == item)
			return;
	list[(*count)++] = item;
}

static struct reads reads_of(const struct placer *g, const struct plan_layer *l)
{
	struct reads r = { .values = g->read, .from = g->kept, .outputs = g->written };
	for (int i = 0; i < l->input_count + l->capture_count; i++) {
		int v = i < l->input_count ? l->inputs[i] : l->captures[i - l->input_count];
		if (v >= 0 && g->slot[v] >= 0 && plan_reads_data(l, &g->st->plan->values[v]))
			add_once(r.values, &r.count, v);
	}
	for (int i = 0; i < g->live_count; i++)
		if (has_later_reader(g, g->live[i], l->index))
			r.from[r.kept++] = i;
	for (int i = 0; i < l->output_count; i++)
		if (l->outputs[i] >= 0 && g->tracked[l->outputs[i]] &&
			has_later_reader(g, l->outputs[i], l->index))
			r.outputs[r.made++] = l->outputs[i];
	return r;
}

static void live_update(struct placer *g, const struct reads *r)
{
	for (int i = 0; i < g->live_count; i++)
		g->slot[g->live[i]] = -1;
	for (int i = 0; i < r->kept; i++)
		g->live[i] = g->live[r->from[i]];
	for (int i = 0; i < r->made; i++)
		g->live[r->kept + i] = r->outputs[i];
	g->live_count = r->kept + r->made;
	for (int i = 0; i < g->live_count; i++)
		g->slot[g->live[i]] = i;
}

/* Room for the keys of a step. */
static void key_reserve(struct placer *g, int width)
{
	if (width < g->key_room)
		return;
	g->key_room = 2 * width + 16;
	g->key = base_realloc(g->key, (size_t)g->key_room * sizeof(*g->key));
	g->made = base_realloc(g->made, (size_t)g->key_room * sizeof(*g->made));
}

/* Fills the states after a layer from those before it. */
static void step(struct placer *g, int layer, const struct ways *group_ways, const struct states *now,
	struct states *next)
{
	const struct plan_layer *l = &g->st->plan->layers[layer];
	struct layer_step *t = &g->steps[layer];
	struct reads r = reads_of(g, l);
	int choices = list_choices(g, layer, group_ways, &t->choices);
	states_clear(next, r.kept + r.made);
	key_reserve(g, now->width + r.made);
	uint16_t *key = g->key, *made = g->made;
	for (int i = 0; i < now->count; i++)
		for (int c = 0; c < choices; c++) {
			struct rank rank = now->rank[i];
			if (now->width)
				memcpy(key, now->keys + (size_t)i * now->width, now->width * sizeof(*key));
			if (!step_state(g, l, &r, &t->choices[c], key, now->width, &rank))
				continue;
			for (int k = 0; k < r.kept; k++)
				made[k] = key[r.from[k]];
			for (int k = 0; k < r.made; k++)
				made[r.kept + k] = key[now->width + k];
			state_add(g, next, made, &rank, i, c);
		}
	prune(g, next);
	t->parent = ARENA_ARRAY(g->a, int, next->count);
	t->choice = ARENA_ARRAY(g->a, int, next->count);
	memcpy(t->parent, next->parent, (size_t)next->count * sizeof(int));
	memcpy(t->choice, next->choice, (size_t)next->count * sizeof(int));
	live_update(g, &r);
}

/* ---- the result */

/* Records a conversion that the chosen assignment needs. */
static void use_conversion(struct placer *g, int value, int from, int to)
{
	int at = g->st->layouts->of_value[value];
	const struct layout_value *v = at < 0 ? NULL : &g->st->layouts->values[at];
	if (!v || v->distinct[from][to] == CONVERSION_FREE || v->conversion[to] < 0)
		return;
	int node = g->st->conversion_node[v->conversion[to]], distinct = v->distinct[from][to];
	struct placed *x = &g->out->placed[node];
	*x = (struct placed){ .used = true, .problem = distinct,
		.price = { .ns = NAN, .known = true, PRICE_UNMEASURED } };
	if (distinct >= 0)
		x->price = *solution_at(g->out, distinct);
	g->out->cost[node] = x->price.ns;
	g->out->estimated[node] = x->price.estimated;
}

/* Marks that a layer reads a conversion of the value. */
static void note_read(struct placer *g, int layer, int value, int to)
{
	int at = g->st->layouts->of_value[value];
	int conversion = at < 0 ? -1 : g->st->layouts->values[at].conversion[to];
	int node = conversion < 0 ? -1 : g->st->conversion_node[conversion];
	for (int e = g->out->first[g->st->layer_node[layer]];
		node >= 0 && e < g->out->first[g->st->layer_node[layer] + 1]; e++)
		if (g->out->edges[e] == ~node)
			g->out->edges[e] = node;
}

/* Copies the study's edges; those from conversions are complemented until note_read finds them used. */
static void edges_copy(struct placer *g)
{
	const struct study *st = g->st;
	int count = st->first[st->node_count];
	g->out->first = ARENA_ARRAY(g->a, int, st->node_count + 1);
	g->out->edges = ARENA_ARRAY(g->a, int, count);
	memcpy(g->out->first, st->first, (size_t)(st->node_count + 1) * sizeof(int));
	if (count)
		memcpy(g->out->edges, st->edges, (size_t)count * sizeof(int));
	bool *conversion = ARENA_ARRAY(g->a, bool, st->node_count);
	for (int i = 0; i < st->conversion_count; i++)
		conversion[st->conversion_node[i]] = true;
	for (int i = 0; i < st->plan->layer_count; i++) {
		int node = st->layer_node[i];
		for (int e = st->first[node]; e < st->first[node + 1]; e++)
			if (conversion[st->edges[e]])
				g->out->edges[e] = ~st->edges[e];
	}
}

static void edges_compact(struct placer *g)
{
	int count = 0, from = 0;
	for (int i = 0; i < g->st->node_count; i++) {
		int end = g->out->first[i + 1];
		g->out->first[i] = count;
		for (int e = from; e < end; e++)
			if (g->out->edges[e] >= 0)
				g->out->edges[count++] = g->out->edges[e];
		from = end;
	}
	g->out->first[g->st->node_count] = count;
}

static void put_layer(struct placer *g, int layer, const struct choice *c)
{
	int node = g->st->layer_node[layer];
	bool joined = g->joined && g->joined[layer] >= 0;
	g->out->sum.chosen[layer] = joined ? g->joined[layer] : c->group;
	if (!is_last(g, c, layer))
		return;
	if (c->way->problem >= 0)
		g->out->placed[node] = (struct placed){ true, c->way->problem, c->way->price };
	if (c->group < 0 && !joined && !g->st->layer_free[layer] && c->way->problem >= 0) {
		g->out->cost[node] = c->way->price.ns;
		g->out->estimated[node] = c->way->price.estimated;
	}
	g->out->sum.cost[node] = isnan(c->way->price.ns) ? 0 : c->way->price.ns;
}

/* Repeats the chosen assignment from the first layer on, to find its conversions. */
static void replay(struct placer *g, const int *chosen)
{
	const struct plan *p = g->st->plan;
	int *state = ARENA_ARRAY(g->a, int, p->value_count);
	for (int i = 0; i < p->value_count; i++)
		state[i] = IMAGE_NCX << 4 | 1 << IMAGE_NCX;
	for (int i = 0; i < p->layer_count; i++) {
		const struct plan_layer *l = &p->layers[i];
		const struct choice *c = &g->steps[i].choices[chosen[i]];
		put_layer(g, i, c);
		for (int k = 0; k < l->input_count + l->capture_count; k++) {
			int v = k < l->input_count ? l->inputs[k] : l->captures[k - l->input_count];
			if (v < 0 || !plan_reads_data(l, &p->values[v]) || state[v] >= INSIDE)
				continue;
			int want = layout_read(g, l, v, c), from = state[v] >> 4;
			if (g->st->layouts->of_value[v] < 0 || want == from)
				continue;
			if (!(state[v] >> want & 1))
				use_conversion(g, v, from, want);
			state[v] |= 1 << want;
			note_read(g, i, v, want);
		}
		for (int k = 0; k < l->output_count; k++) {
			struct rank ignored = { 0 };
			int v = l->outputs[k];
			if (v < 0)
				continue;
			state[v] = produced(g, l, k, c, &ignored);
			if (state[v] < INSIDE && state[v] >> 4 != IMAGE_NCX && (state[v] & 1 << IMAGE_NCX))
				use_conversion(g, v, state[v] >> 4, IMAGE_NCX);
		}
	}
}

static void start(struct placer *g, struct states *x)
{
	const struct plan *p = g->st->plan;
	for (int i = 0; i < p->value_count; i++) {
		g->slot[i] = -1;
		g->tracked[i] |= g->st->layouts->of_value[i] >= 0;
		if (p->values[i].producer < 0 && g->tracked[i] && has_later_reader(g, i, -1)) {
			g->slot[i] = g->live_count;
			g->live[g->live_count++] = i;
		}
	}
	uint16_t *key = base_malloc(((size_t)g->live_count + 1) * sizeof(*key));
	for (int i = 0; i < g->live_count; i++)
		key[i] = IMAGE_NCX << 4 | 1 << IMAGE_NCX;
	states_clear(x, g->live_count);
	state_add(g, x, key, &(struct rank){ 0 }, -1, -1);
	free(key);
}

static uint32_t layouts_seen(const struct study *st)
{
	uint32_t seen = 1u << IMAGE_NCX;
	for (int i = 0; i < st->layouts->count; i++)
		seen |= st->layouts->values[i].made | st->layouts->values[i].wanted;
	return seen;
}

static void place_all(struct placer *g)
{
	const struct plan *p = g->st->plan;
	struct states both[2] = { 0 };
	const struct ways *group_ways = list_groups(g);
	start(g, &both[0]);
	for (int i = 0; i < p->layer_count; i++)
		step(g, i, group_ways, &both[i % 2], &both[1 - i % 2]);
	const struct states *now = &both[p->layer_count % 2];
	int *chosen = ARENA_ARRAY(g->a, int, p->layer_count), at = 0;
	for (int i = 1; i < now->count; i++)
		at = rank_less(&now->rank[i], &now->rank[at]) ? i : at;
	for (int i = p->layer_count - 1; i >= 0; i--) {
		chosen[i] = g->steps[i].choice[at];
		at = g->steps[i].parent[at];
	}
	states_free(&both[0]);
	states_free(&both[1]);
	replay(g, chosen);
}

/* True if a layer that competes with joins has a choice of layouts. The choice of joins does not see it. */
static bool joins_have_layouts(const struct study *st, const struct solution *out)
{
	const struct plan *p = st->plan;
	for (int i = 0; i < st->groups; i++) {
		const struct fusion_group *g = &st->fusion->groups[i];
		bool may = g->join && !isnan(solution_join(st, out, i).ns);
		for (int k = 0; may && k < g->layer_count; k++) {
			int cluster = st->fusion->cluster_of[g->layers[k]];
			const struct fusion_cluster *c = cluster < 0 ? NULL : &st->fusion->clusters[cluster];
			for (int n = 0; n < (c ? c->layer_count : 1); n++) {
				const struct plan_layer *l = &p->layers[c ? c->layers[n] : g->layers[k]];
				for (int v = 0; v < l->input_count; v++)
					if (l->inputs[v] >= 0 && st->layouts->of_value[l->inputs[v]] >= 0)
						return true;
			}
		}
	}
	return false;
}

void solve_layouts(const struct study *st, const struct scenario *s, struct arena *a, struct solution *out)
{
	const struct plan *p = st->plan;
	struct placer g = { .st = st, .s = s, .a = a, .out = out, .seen = layouts_seen(st), .exact = true,
		.ways = ARENA_ARRAY(a, struct ways, st->distinct_count),
		.alone = ARENA_ARRAY(a, struct alone, plan_problem_total(p)),
		.tracked = ARENA_ARRAY(a, bool, p->value_count),
		.slot = ARENA_ARRAY(a, int, p->value_count),
		.live = ARENA_ARRAY(a, int, p->value_count),
		.read = ARENA_ARRAY(a, int, p->value_count),
		.kept = ARENA_ARRAY(a, int, p->value_count),
		.written = ARENA_ARRAY(a, int, p->value_count),
		.steps = ARENA_ARRAY(a, struct layer_step, p->layer_count) };
	out->placed = ARENA_ARRAY(a, struct placed, st->node_count);
	for (int i = 0; i < st->node_count; i++)
		out->placed[i].problem = -1;
	edges_copy(&g);
	for (int i = 0; i < st->conversion_count; i++) {
		out->cost[st->conversion_node[i]] = 0;
		out->estimated[st->conversion_node[i]] = false;
	}
	g.joined = solve_joins(st, a, out, NULL);
	g.exact = !joins_have_layouts(st, out);
	place_all(&g);
	edges_compact(&g);
	for (int i = 0; i < st->node_count; i++)
		if (st->node_layer[i] < 0)
			out->sum.cost[i] = isnan(out->cost[i]) ? 0 : out->cost[i];
	out->parallel.chosen = out->sum.chosen;
	out->parallel.cost = out->sum.cost;
	/* an assignment around a conversion without a price is not surely the best */
	for (int i = st->common_count; i < st->distinct_count; i++)
		g.exact &= !isnan(solution_at(out, i)->ns);
	out->layouts_exact = g.exact;
	free(g.table);
	free(g.key);
	free(g.made);
}
