/* A point of a sweep from an analysis, the best point, and the batches at which an algorithm or a limit
 * changes. */
#include "config.h"

#include "analyze/tables/sweep.h"
#include "analyze/real/trust.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* True if the text contains `word`, a word in lower case. */
static bool has_word(struct text t, const char *word)
{
	size_t n = strlen(word);
	for (size_t i = 0; i + n <= t.n; i++)
		if (strncmp(t.p + i, word, n) == 0)
			return true;
	return false;
}

/* Elements of the model's token ids: its first input of integers with two dimensions that is named so
 * (input_ids, decoder_input_ids, tokens). NaN: it has none. */
static double token_count(const struct plan *p)
{
	for (int i = 0; i < p->value_count; i++) {
		const struct plan_value *v = &p->values[i];
		bool integer = v->dtype == DTYPE_S64 || v->dtype == DTYPE_S32;
		if (v->is_input && integer && v->shape.rank == 2 &&
			(has_word(v->name, "input_ids") || has_word(v->name, "token")) &&
			!has_word(v->name, "token_type"))
			return shape_count(v->shape);
	}
	return NAN;
}

/* Sets what limits the largest share of the cost. */
static void limit_set(struct sweep_point *s, const struct ground *g, const struct analysis *a)
{
	struct limit_totals t = { .known_ns = 0 };
	if (g->peaks)
		t = limit_totals_of(a, g->plan, g->peaks);
	for (int by = LIMIT_UNKNOWN + 1; by < LIMIT_COUNT; by++)
		if (t.ns[by] > 0 && (s->by == LIMIT_UNKNOWN || t.ns[by] > t.ns[s->by]))
			s->by = (enum limit_by)by;
	s->by_share = t.known_ns > 0 ? t.ns[s->by] / t.known_ns : NAN;
}

bool sweep_is_noisy(const struct sweep_point *p)
{
	return p->noisy_share >= SWEEP_LEAST_GAIN; /* false: NaN */
}

const char *sweep_mark(const struct sweep_point *p)
{
	return isnan(p->total_ns) ? "" : !p->complete ? ">=" : p->estimated ? "~" : "";
}

const char *sweep_rate_mark(const struct sweep_point *p)
{
	const char *mark = sweep_mark(p);
	return *mark == '>' ? "<=" : mark;
}

const char *sweep_memory_mark(const struct sweep_point *p)
{
	return p->memory_at_least && !isnan(p->memory_bytes) ? ">=" : "";
}

struct sweep_point sweep_point_of(const struct ground *g, const struct analysis *a)
{
	const struct plan *p = g->plan;
	struct sweep_point s = { .batch = p->batch,
		.total_ns = a->total_ns,
		.lo_ns = a->lo_ns,
		.hi_ns = a->hi_ns,
		.bound_ns = a->bound_ns,
		.guess = a->estimated,
		.matrix = a->scenario.matrix,
		.complete = a->complete && !isnan(a->total_ns),
		.estimated = a->estimated || a->rough };
	double second = a->total_ns > 0 ? a->total_ns / 1e9 : NAN;
	s.items_per_s = (double)(p->batch > 0 ? p->batch : 1) / second;
	s.tokens_per_s = token_count(p) / second;
	s.flops_per_s = p->unknown_flops_layers ? NAN : p->flops / second;
	s.noisy_share = trust_of(p, a, NULL, false).share[TRUST_NOISY];
	struct memory_need memory = memory_of(p, a);
	s.memory_bytes = memory.peak;
	s.memory_at_least = memory.unknown > 0;
	limit_set(&s, g, a);
	return s;
}

void sweep_best(struct sweep_point *points, int count)
{
	int best = 0, compared = count > 0 && points[0].complete;
	for (int i = 1; i < count && compared == i && points[i].complete; i++, compared++) {
		double factor = (double)points[i].batch / (double)points[i - 1].batch;
		double gain = points[i].items_per_s / points[i - 1].items_per_s;
		if (best == i - 1 && factor > 1 && pow(gain, 1 / log2(factor)) > 1 + SWEEP_LEAST_GAIN)
			best = i;
	}
	for (int i = 0; i < count; i++) {
		points[i].best = compared > 1 && i == best;
		points[i].growing = points[i].best && i == count - 1;
	}
}

/* Length of an algorithm's name without what follows the first colon: instruction set, threads. */
static size_t name_length(const char *name)
{
	return strcspn(name, ":");
}

static bool same_algorithm(const struct algorithm *a, const struct algorithm *b)
{
	size_t n = name_length(a->name);
	return strcmp(a->api, b->api) == 0 && n == name_length(b->name) && strncmp(a->name, b->name, n) == 0;
}

int sweep_crossovers(const struct sweep_algorithms *a, const struct sweep_algorithms *b)
{
	int count = 0, compared = 0;
	for (int i = 0; i < a->count && a->count == b->count; i++) {
		const struct algorithm *x = a->layers[i], *y = b->layers[i];
		compared += x && y;
		count += x && y && !same_algorithm(x, y);
	}
	return compared ? count : -1;
}

const char *diff_verdict_name(enum diff_verdict v)
{
	static const char *const names[] = { "unknown", "same", "unclear", "faster", "slower" };
	return names[v];
}

enum diff_verdict diff_verdict_of(struct span a, struct span b)
{
	if (isnan(a.ns) || isnan(b.ns))
		return DIFF_UNKNOWN;
	if (a.ns == b.ns)
		return DIFF_SAME;
	if (b.lo > a.hi) /* false if one is unknown */
		return DIFF_SLOWER;
	return b.hi < a.lo ? DIFF_FASTER : DIFF_UNCLEAR;
}

struct span sweep_span(const struct sweep_point *p, double items)
{
	return (struct span){ p->total_ns / items, p->lo_ns / items, p->hi_ns / items };
}

struct sweep_change sweep_change_of(const struct sweep_point *a, const struct sweep_point *b, bool per_item)
{
	if (!a->complete || !b->complete)
		return (struct sweep_change){ NAN, NAN, DIFF_UNKNOWN };
	struct span one = sweep_span(a, per_item ? (double)a->batch : 1),
		    two = sweep_span(b, per_item ? (double)b->batch : 1);
	return (struct sweep_change){ two.ns - one.ns, two.ns / one.ns, diff_verdict_of(one, two) };
}

#define SKEW 1.25 /* sides that differ by less are one number */

char *sweep_interval(char *buf, const struct sweep_point *p)
{
	double below = 1 - p->lo_ns / p->total_ns, above = p->hi_ns / p->total_ns - 1;
	double half = (below + above) / 2;
	bool skewed = half >= 0.1 && fmax(below, above) > SKEW * fmin(below, above);
	buf[0] = '\0';
	if (skewed)
		snprintf(buf, STR_QUANTITY, "-%.0f%% +%.0f%%", 100 * below, 100 * above);
	else if (!isnan(half))
		snprintf(buf, STR_QUANTITY, "%.*f%%", half < 0.0995 ? 1 : 0, 100 * half);
	return buf;
}

struct sweep_algorithms sweep_algorithms_of(const struct analysis *a, struct arena *to)
{
	struct sweep_algorithms all = { .count = a->layer_count };
	all.layers = ARENA_ARRAY(to, const struct algorithm *, a->layer_count);
	for (int i = 0; i < a->layer_count; i++) {
		const struct result *r = a->layers[i].result;
		struct algorithm *copy = r ? ARENA_ARRAY(to, struct algorithm, 1) : NULL;
		if (copy)
			*copy = (struct algorithm){ .api = arena_strndup(
							    to, r->algorithm.api, strlen(r->algorithm.api)),
				.name = arena_strndup(to, r->algorithm.name, strlen(r->algorithm.name)) };
		all.layers[i] = copy;
	}
	return all;
}
