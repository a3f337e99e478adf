/* Two executions beside each other: groups that share layers are joined by union-find until both have the
 * same ones. */
#include "config.h"

#include "analyze/real/reality_private.h"

#include <math.h>
#include <stdlib.h>

static int root_of(int *parent, int i)
{
	while (parent[i] != i)
		i = parent[i] = parent[parent[i]];
	return i;
}

static void join_groups(int *parent, const struct reality *y)
{
	for (int i = 0; i < y->group_count; i++)
		for (int k = 1; k < y->groups[i].layer_count; k++)
			parent[root_of(parent, y->groups[i].layers[k])] =
				root_of(parent, y->groups[i].layers[0]);
}

/* Adds the times of one execution's groups to the common groups that contain them. */
static void add_times(
	const struct reality *y, const int *index, int *parent, struct against_group *groups, bool b)
{
	for (int i = 0; i < y->group_count; i++) {
		const struct reality_group *g = &y->groups[i];
		if (!g->layer_count)
			continue;
		struct against_group *to = &groups[index[root_of(parent, g->layers[0])]];
		double *ns = b ? &to->b_ns : &to->a_ns, *lo = b ? &to->b_lo : &to->a_lo;
		double *hi = b ? &to->b_hi : &to->a_hi;
		const char **kernel = b ? &to->b_kernel : &to->a_kernel;
		if (isnan(*ns)) {
			*ns = *lo = *hi = 0;
			*kernel = g->kernel;
		}
		*ns += g->real_ns;
		*lo += g->real_lo;
		*hi += g->real_hi;
	}
}

static bool apart(double a_lo, double a_hi, double b_lo, double b_hi)
{
	return a_hi < b_lo || b_hi < a_lo;
}

static double difference(const struct against_group *g)
{
	return isnan(g->a_ns) || isnan(g->b_ns) ? -1 : fabs(g->b_ns - g->a_ns);
}

static int by_difference(const void *x, const void *y)
{
	const struct against_group *a = x, *b = y;
	double p = difference(a), q = difference(b);
	return p != q ? (p < q ? 1 : -1) : a->layers[0] - b->layers[0];
}

static double other_ns(const struct reality *y)
{
	return y->match->added_ns + y->match->unmatched_ns;
}

struct against *reality_against(struct arena *a, const struct reality *x, const struct reality *y)
{
	struct against *out = ARENA_NEW(a, struct against);
	struct arena scratch = { 0 };
	int layers = x->match->layer_count;
	int *parent = ARENA_ARRAY(&scratch, int, layers + 1), *index = ARENA_ARRAY(&scratch, int, layers + 1);
	int *size = ARENA_ARRAY(&scratch, int, layers + 1);
	for (int i = 0; i < layers; i++)
		parent[i] = i;
	join_groups(parent, x);
	join_groups(parent, y);
	out->groups = ARENA_ARRAY(a, struct against_group, layers + 1);
	for (int i = 0; i < layers; i++)
		size[root_of(parent, i)] += x->match->row_of_layer[i] >= 0 || y->match->row_of_layer[i] >= 0;
	for (int i = 0; i < layers; i++) {
		int root = root_of(parent, i);
		if (x->match->row_of_layer[i] < 0 && y->match->row_of_layer[i] < 0)
			continue;
		struct against_group *g = &out->groups[out->group_count];
		if (!index[root]) {
			index[root] = ++out->group_count;
			*g = (struct against_group){ .layers = ARENA_ARRAY(a, int, size[root]),
				.a_ns = NAN,
				.a_lo = NAN,
				.a_hi = NAN,
				.b_ns = NAN,
				.b_lo = NAN,
				.b_hi = NAN,
				.a_kernel = "",
				.b_kernel = "" };
		}
		g = &out->groups[index[root] - 1];
		g->layers[g->layer_count++] = i;
	}
	for (int i = 0; i < layers; i++)
		index[i]--;
	add_times(x, index, parent, out->groups, false);
	add_times(y, index, parent, out->groups, true);
	for (int i = 0; i < out->group_count; i++) {
		struct against_group *g = &out->groups[i];
		g->significant = apart(g->a_lo, g->a_hi, g->b_lo, g->b_hi);
	}
	if (out->group_count)
		qsort(out->groups, (size_t)out->group_count, sizeof(*out->groups), by_difference);
	out->a_ns = x->measured_ns;
	out->a_lo = x->lo;
	out->a_hi = x->hi;
	out->b_ns = y->measured_ns;
	out->b_lo = y->lo;
	out->b_hi = y->hi;
	out->significant = apart(x->lo, x->hi, y->lo, y->hi);
	out->a_other_ns = other_ns(x);
	out->b_other_ns = other_ns(y);
	arena_free(&scratch);
	return out;
}
