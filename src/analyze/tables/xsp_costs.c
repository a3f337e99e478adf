/* Fills the tables of costs that only the bound has: by type, scope, class and limit, the distribution, and
 * what each what-if gains in each layer. */
#include "config.h"

#include "analyze/bound/limit.h"
#include "analyze/tables/xsp_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define SCOPES_LEAST                                                                                         \
	4 /* by-scope takes the first depth with at least 4 scopes, none of more than half of the            \
	     layers */
#define DEPTH_MOST 8

static double share(double part, double whole)
{
	return whole > 0 ? part / whole : NAN;
}

/* ---- sums over layers that have a word in common ---- */

struct cost_sum {
	const char *name;
	int layers, without, fused; /* of these, without a cost; in the kernel of another layer */
	double ns, preferred_ns, limit_ns[LIMIT_COUNT];
	bool estimated;
};

static int by_cost(const void *a, const void *b)
{
	const struct cost_sum *x = a, *y = b;
	return x->ns != y->ns ? (x->ns < y->ns ? 1 : -1) : strcmp(x->name, y->name);
}

static void add_layer(struct cost_sum *to, const struct xsp_levels *l, const struct xsp_layer *x)
{
	const struct analysis *a = l->in->bound;
	const struct layer_cost *c = &a->layers[x->index];
	to->layers++;
	to->without += isnan(x->ns);
	to->fused += c->origin == ORIGIN_FUSED;
	to->estimated |= x->estimated;
	if (isnan(x->ns))
		return;
	to->ns += x->ns;
	to->preferred_ns += c->preferred_ns;
	if (l->in->peaks && x->ns > 0)
		to->limit_ns[limit_of_layer(a, l->in->plan, l->in->peaks, x->index).by] += x->ns;
}

/* Returns what limits most of the cost; "fused" or "free" if there is no cost; "" if unknown. */
static const char *limit_most(const struct cost_sum *x)
{
	int most = LIMIT_UNKNOWN;
	if (x->ns == 0 && !x->without)
		return x->fused ? "fused" : "free";
	for (int by = 1; by < LIMIT_COUNT; by++)
		if (x->limit_ns[by] > x->limit_ns[most])
			most = by;
	const char *name = limit_name((enum limit_by)most);
	return name ? name : "";
}

/* Adds a row for each of the layers' words, the highest cost first. */
static void fill_sums(struct xsp_table *t, struct xsp_levels *l, const char *const *words)
{
	struct hash seen = { 0 };
	struct cost_sum *sums = ARENA_ARRAY(t->arena, struct cost_sum, l->layer_count + 1);
	int count = 0, without = 0, fused = 0;
	double all = 0;
	for (int i = 0; i < l->layer_count; i++) {
		int64_t *at = hash_at(&seen, text_of(words[i]));
		if (*at < 0) {
			*at = count;
			sums[count++] = (struct cost_sum){ .name = words[i] };
		}
		add_layer(&sums[*at], l, &l->layers[i]);
		all += isnan(l->layers[i].ns) ? 0 : l->layers[i].ns;
		without += isnan(l->layers[i].ns);
	}
	hash_free(&seen);
	qsort(sums, (size_t)count, sizeof(*sums), by_cost);
	for (int i = 0; i < count; i++) {
		const struct cost_sum *x = &sums[i];
		bool none = x->without == x->layers;
		xsp_row(t);
		xsp_text(t, x->name);
		xsp_number(t, x->layers);
		xsp_estimate(t, none ? NAN : x->ns, x->estimated);
		xsp_estimate(t, none ? NAN : share(x->ns, all), x->estimated);
		xsp_number(t, none ? NAN : x->preferred_ns);
		xsp_text(t, limit_most(x));
	}
	for (int i = 0; i < count; i++)
		fused += sums[i].fused;
	if (without)
		t->note =
			arena_printf(t->arena, "%d layer%s without a cost", without, without == 1 ? "" : "s");
	if (fused)
		t->note = arena_printf(t->arena,
			"%s%s%d fused into the kernel of another layer, whose row has the cost", t->note,
			*t->note ? "; " : "", fused);
}

XSP_FILL(by_type)
{
	const char **words = ARENA_ARRAY(t->arena, const char *, l->layer_count + 1);
	for (int i = 0; i < l->layer_count; i++)
		words[i] = l->layers[i].type;
	fill_sums(t, l, words);
}

XSP_FILL(by_class)
{
	const char **words = ARENA_ARRAY(t->arena, const char *, l->layer_count + 1);
	for (int i = 0; i < l->layer_count; i++)
		words[i] = op_class_name(l->in->plan->layers[l->layers[i].index].class);
	fill_sums(t, l, words);
}

/* Layers without a cost, and those that cost nothing, are limited by nothing that is known. The note has the
 * reason for the costliest of the others. */
XSP_FILL(by_limit)
{
	const struct xsp_input *in = l->in;
	double most = 0;
	char why[LIMIT_WHY_SIZE] = "";
	const char **words = ARENA_ARRAY(t->arena, const char *, l->layer_count + 1);
	for (int i = 0; i < l->layer_count; i++) {
		const struct xsp_layer *x = &l->layers[i];
		struct limit limit = { .by = LIMIT_UNKNOWN };
		if (in->peaks && x->ns > 0)
			limit = limit_of_layer(in->bound, in->plan, in->peaks, x->index);
		words[i] = limit.by != LIMIT_UNKNOWN ? limit_name(limit.by)
			: x->ns == 0 ? "nothing" : "unknown";
		if (limit.by == LIMIT_UNKNOWN && x->ns > most) {
			most = x->ns;
			memcpy(why, limit.why, sizeof(why));
		}
	}
	fill_sums(t, l, words);
	if (why[0])
		t->note = arena_printf(t->arena, "%s%slimit unknown; of the costliest layer because %s",
			t->note, *t->note ? "; " : "", why);
}

/* The first `depth` parts of a layer's name without its last part, which is the layer itself. Parts are
 * separated by slashes, in names without any by dots. */
static const char *scope_of(struct arena *a, const char *name, int depth)
{
	char mark = strchr(name, '/') ? '/' : '.';
	const char *begin = *name == mark ? name + 1 : name, *end = strrchr(begin, mark), *p = begin;
	for (int i = 0; end && i < depth; i++) {
		const char *next = i ? strchr(p + 1, mark) : strchr(p, mark);
		p = next && next < end ? next : end;
	}
	return end ? arena_strndup(a, begin, (size_t)(p - begin)) : "";
}

/* Fills the layers' scopes. Returns true if there are enough, and none has more than half of the layers. */
static bool scopes_at(struct xsp_table *t, struct xsp_levels *l, int depth, const char **words)
{
	struct hash seen = { 0 };
	int count = 0, most = 0;
	for (int i = 0; i < l->layer_count; i++) {
		words[i] = scope_of(t->arena, l->layers[i].name, depth);
		int64_t *at = hash_at(&seen, text_of(words[i]));
		count += *at < 0;
		*at = *at < 0 ? 1 : *at + 1;
		most = *at > most ? (int)*at : most;
	}
	hash_free(&seen);
	return count >= SCOPES_LEAST && 2 * most <= l->layer_count;
}

XSP_FILL(by_scope)
{
	const char **words = ARENA_ARRAY(t->arena, const char *, l->layer_count + 1);
	for (int depth = 1; depth <= DEPTH_MOST; depth++)
		if (scopes_at(t, l, depth, words))
			break;
	fill_sums(t, l, words);
}

/* ---- distribution ---- */

static int falling(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x < y) - (x > y);
}

XSP_FILL(distribution)
{
	static const double parts[] = { 0.5, 0.8, 0.9, 0.95, 0.99, 1 };
	double *ns = ARENA_ARRAY(t->arena, double, l->layer_count + 1), all = 0, sum = 0;
	int count = 0, taken = 0;
	bool estimated = false;
	for (int i = 0; i < l->layer_count; i++)
		if (l->layers[i].ns > 0) {
			ns[count++] = l->layers[i].ns;
			all += l->layers[i].ns;
			estimated |= l->layers[i].estimated;
		}
	qsort(ns, (size_t)count, sizeof(*ns), falling);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		while (taken < count && sum < parts[i] * all * (1 - 1e-12))
			sum += ns[taken++];
		xsp_row(t);
		xsp_estimate(t, parts[i], estimated);
		xsp_number(t, taken);
		xsp_number(t, share(taken, count));
		xsp_estimate(t, taken ? ns[taken - 1] : NAN, estimated);
		xsp_estimate(t, sum, estimated);
	}
	t->note = arena_printf(t->arena, "%d layers with a cost", count);
}

/* ---- gains ---- */

/* What layers save between two analyses; a group's saving is at its first layer in either. */
static void add_gains(double *gain, const struct analysis *off, const struct analysis *on)
{
	for (int i = 0; i < off->layer_count; i++)
		gain[i] = off->layers[i].ns - on->layers[i].ns;
	for (int i = 0; i < off->layer_count; i++) {
		const struct fusion_group *g =
			on->layers[i].group ? on->layers[i].group : off->layers[i].group;
		if (!g || g->layers[0] == i)
			continue;
		gain[g->layers[0]] += gain[i];
		gain[i] = 0;
	}
}

/* The layers' gains by a what-if. */
static double *gains_of(struct xsp_table *t, const struct xsp_levels *l, const struct what_if *row)
{
	const struct analysis *here = l->in->bound;
	struct scenario flipped = here->scenario;
	bool on = row->get(&flipped) != 0;
	row->set(&flipped, on ? 0 : 1);
	const struct analysis *other = analyze(t->arena, l->in->ground, &flipped);
	double *gain = ARENA_ARRAY(t->arena, double, here->layer_count + 1);
	add_gains(gain, on ? other : here, on ? here : other);
	return gain;
}

/* True for the column "gain_fusion_ns" of the what-if fusion. */
static bool names_what_if(const struct xsp_column *c, const struct what_if *row)
{
	const char *name = c->name + strlen("gain_");
	return !strncmp(name, row->name, strlen(row->name)) && !strcmp(name + strlen(row->name), "_ns");
}

XSP_FILL(gains)
{
	const struct xsp_analysis *x = t->analysis;
	const double *gains[XSP_GAINS_MAX] = { NULL };
	int first = XSP_GAINS_FIRST, count = 0;
	const struct what_if_effect *effects = NULL;
	if (l->in->ground)
		effects = analyze_what_ifs(t->arena, l->in->ground, &l->in->bound->scenario, &count);
	for (int k = first; k < x->column_count; k++)
		for (int i = 0; i < count; i++)
			if (names_what_if(&x->columns[k], effects[i].row) && !isnan(effects[i].saves_ns))
				gains[k - first] = gains_of(t, l, effects[i].row);
	for (int i = 0; i < l->layer_count; i++) {
		const struct xsp_layer *layer = &l->layers[i];
		const struct layer_cost *c = &l->in->bound->layers[layer->index];
		xsp_row(t);
		xsp_number(t, layer->index);
		xsp_text(t, layer->name);
		xsp_estimate(t, layer->ns, layer->estimated);
		xsp_number(t, c->preferred_ns);
		for (int k = first; k < x->column_count; k++)
			xsp_estimate(
				t, gains[k - first] ? gains[k - first][layer->index] : NAN, layer->estimated);
	}
	t->note = "gain: cost with the what-if off minus cost with it on; a group shows it at its first "
		"layer; -: not available, or not all measured";
}
