/* What each what-if would change: the total with one choice replaced. A what-if without effect on
 * any result or layer is left out before anything is computed. */
#include "config.h"

#include "analyze/bound/bound_private.h"

#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* True if the roofline of some problem can use matrix units: their peak for its type is known (for f32 that
 * of tf32). */
static bool estimates_differ(const struct study *st, bool f32_alone)
{
	for (int i = 0; i < st->distinct_count; i++) {
		const char *text = study_text(st, i);
		if (!st->wanted[i] || !matrix_possible(text, false))
			continue;
		const char *type = strchr(text, ':') + 1;
		enum dtype own = dtype_parse((struct text){ type, strcspn(type, ".@,") });
		bool is_f32 = own == DTYPE_F32;
		if (own != DTYPE_UNKNOWN && (is_f32 || !f32_alone) &&
			!isnan(st->on.peaks->matrix_flops[is_f32 ? DTYPE_TF32 : own]))
			return true;
	}
	return false;
}

/* True if the what-if matrix can have an effect: a result uses matrix units, or a problem that is not
 * measured yet could, on a device that has them. */
static bool matrix_available(const struct study *st, bool offered)
{
	bool device = !st->device || st->device->has_matrix;
	if (st->on.estimate && st->on.peaks)
		return estimates_differ(st, false);
	for (int i = 0; device && !offered && i < st->distinct_count; i++) {
		const struct found *f = &st->found[i];
		bool open = st->wanted[i] && !found_answered(f, LAUNCH_AMORTIZED, st->cache) &&
			!found_answered(f, LAUNCH_ISOLATED, st->cache);
		if (open && matrix_possible(study_text(st, i), true))
			return true;
	}
	return offered;
}

/* True if the what-if math can have an effect: a result has relaxed math. Libraries list strict and relaxed
 * algorithms together, so measured results are enough to decide. */
static bool math_available(const struct study *st, bool offered)
{
	return st->on.estimate && st->on.peaks ? estimates_differ(st, true) : offered;
}

/* True if any result exists; estimates have one algorithm. */
static bool algorithm_available(const struct study *st, bool offered)
{
	(void)offered;
	for (int i = 0; i < st->distinct_count; i++)
		if (st->found[i].count)
			return true;
	return !st->on.estimate;
}

/* ... or launches can be estimated: the device is a described GPU. */
static bool launch_available(const struct study *st, bool offered)
{
	return algorithm_available(st, offered) || (st->on.peaks && st->on.peaks->sm);
}

static bool layout_available(const struct study *st, bool offered)
{
	(void)offered;
	return st->plan->nxc;
}

/* Layers that have an algorithm of the named libraries; 0 shows a misspelt name. */
static int libraries_layers(const struct study *st, const struct scenario *s, const struct solution *x)
{
	const struct total *t = solution_total(x, s);
	int count = 0;
	for (int i = 0; i < st->plan->layer_count; i++) {
		const struct price *price = t->price[st->layer_node[i]];
		count += price && price->result;
	}
	return count;
}

static int algorithm_layers(const struct study *st, const struct scenario *s, const struct solution *x)
{
	const struct total *t = solution_total(x, s);
	int count = 0;
	if (!s->algorithm[0])
		return -1;
	for (int i = 0; i < st->plan->layer_count; i++) {
		const struct price *price = t->price[st->layer_node[i]];
		count += price && price->result &&
			algorithm_is_named(s->algorithm, &price->result->algorithm);
	}
	return count;
}

static bool pad_available(const struct study *st, bool offered)
{
	(void)offered;
	for (int i = 0; i < st->plan->problem_count; i++)
		if (st->wanted[i] && plan_padded_index(st->plan, i) >= 0)
			return true;
	return false;
}

static int pad_layers(const struct study *st, const struct scenario *s, const struct solution *x)
{
	const struct total *t = solution_total(x, s);
	int count = 0;
	for (int i = 0; i < st->plan->layer_count; i++) {
		const struct price *price = t->price[st->layer_node[i]];
		count += price && price->padded;
	}
	return count;
}

static bool fold_available(const struct study *st, bool offered)
{
	(void)offered;
	return st->plan->fold_count > 0;
}

static int fold_layers(const struct study *st, const struct scenario *s, const struct solution *x)
{
	int count = 0;
	(void)s;
	for (int i = 0; x->folds && i < st->plan->layer_count; i++)
		count += x->folds[i];
	return count;
}

static int assume_layers(const struct study *st, const struct scenario *s, const struct solution *x)
{
	(void)s;
	(void)x;
	return study_assumed(st);
}

static bool assume_available(const struct study *st, bool offered)
{
	(void)offered;
	return study_assumed(st) > 0;
}

static bool fusion_available(const struct study *st, bool offered)
{
	(void)offered;
	return st->groups > 0;
}

/* What-ifs whose availability depends on the model, or that apply to layers that can be counted. */
static const struct use_of {
	const char *what_if;
	bool (*available)(const struct study *st, bool offered); /* offered: by results; NULL: then it is */
	int (*layers)(const struct study *st, const struct scenario *s, const struct solution *x);
} uses[] = {
	{ "fusion", fusion_available, NULL },
	{ "matrix", matrix_available, NULL },
	{ "algorithm", algorithm_available, algorithm_layers },
	{ "launch", launch_available, NULL },
	{ "math", math_available, NULL },
	{ "layout", layout_available, NULL },
	{ "libraries", NULL, libraries_layers },
	{ "pad", pad_available, pad_layers },
	{ "fold", fold_available, fold_layers },
	{ "assume", assume_available, assume_layers },
};

static struct use_of use_of(const struct what_if *row)
{
	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
		if (strcmp(uses[i].what_if, row->name) == 0)
			return uses[i];
	return (struct use_of){ .what_if = row->name };
}

bool what_if_available(const struct study *st, int row)
{
	int count;
	const struct what_if *w = &what_if_table(&count)[row];
	bool (*available)(const struct study *st, bool offered) = use_of(w).available;
	bool offered = st->marks.offered >> row & 1;
	return available ? available(st, offered) : offered || !(w->bars || w->differs);
}

bool what_if_is_counted(int row)
{
	int count;
	return use_of(&what_if_table(&count)[row]).layers != NULL;
}

int what_if_layers(const struct study *st, int row, const struct scenario *s, const struct solution *x)
{
	int count;
	int (*layers)(const struct study *st, const struct scenario *s, const struct solution *x) =
		use_of(&what_if_table(&count)[row]).layers;
	return layers ? layers(st, s, x) : -1;
}

/* ---- sides: what an effect compares */

/* The total of one scenario, and which problems and layers it lacks, as bits. */
struct side {
	struct scenario of;
	bool apart;             /* it has conversions of its own: distinct problems from `common` on are not
				   those of other studies */
	double total_ns, bound_ns;
	bool complete, estimated, border_complete;
	int distinct_count, common;
	const char *const *extra; /* texts of the distinct problems from `common` on, in the study */
	uint64_t *lacking, *untried, *refused, *noisy; /* per distinct problem */
	int layers[WHAT_IFS_MAX]; /* per row of the table: what_if_effect.layers */
	uint64_t *gaps;         /* per layer: no cost; NULL: none */
	int beside_count;       /* problems side by side that are not measured */
	uint64_t *beside;       /* hashes of their texts, ascending */
	bool unlike;            /* branches side by side have no estimate */
};

struct sides {
	struct arena arena;
	struct side **items;
	int count, capacity;
};

#define SIDES_BYTES_MAX ((size_t)32 << 20)

static uint64_t *bits_new(struct arena *a, int count)
{
	return ARENA_ARRAY(a, uint64_t, count / 64 + 1);
}

static void bit_set(uint64_t *bits, int i)
{
	bits[i / 64] |= (uint64_t)1 << i % 64;
}

static uint64_t *bits_of(struct arena *a, const bool *flags, int count)
{
	uint64_t *bits = bits_new(a, count);
	for (int i = 0; i < count; i++)
		bits[i / 64] |= (uint64_t)flags[i] << i % 64;
	return bits;
}

/* Bit i, 0 beyond the end. */
static bool bit_at(const uint64_t *bits, int count, int i)
{
	return i < count && (bits[i / 64] >> i % 64 & 1);
}

/* The number of problems that one or both sides have (differ: exactly one). Below `common` the numbers are
 * those of both sides. */
static int bits_count(const uint64_t *x, int x_count, const uint64_t *y, int y_count, int common, bool differ)
{
	int n = 0, shorter = x_count < y_count ? x_count : y_count,
	    words = (shorter < common ? shorter : common) / 64;
	for (int i = 0; i < words; i++)
		n += __builtin_popcountll(differ ? x[i] ^ y[i] : x[i] | y[i]);
	for (int i = words * 64; i < common; i++)
		n += differ ? bit_at(x, x_count, i) != bit_at(y, y_count, i)
			    : bit_at(x, x_count, i) || bit_at(y, y_count, i);
	for (int i = common; !differ && (i < x_count || i < y_count); i++)
		n += bit_at(x, x_count, i) + bit_at(y, y_count, i);
	return n;
}

/* The number of conversions that are marked on both sides: studies of one layout number them differently if
 * only one of them has groups. */
static int bits_shared(const struct side *x, const uint64_t *in_x, const struct side *y, const uint64_t *in_y)
{
	struct hash marked = { 0 };
	int n = 0;
	for (int i = x->common; i < x->distinct_count; i++)
		if (bit_at(in_x, x->distinct_count, i))
			*hash_at(&marked, text_of(x->extra[i - x->common])) = 1;
	for (int i = y->common; marked.count && i < y->distinct_count; i++)
		n += bit_at(in_y, y->distinct_count, i) &&
			hash_find(&marked, text_of(y->extra[i - y->common])) == 1;
	hash_free(&marked);
	return n;
}

/* Marks the problems in a total whose measurement is noisy. */
static uint64_t *noisy_of(struct arena *a, const struct study *st, const struct total *t)
{
	uint64_t *noisy = bits_new(a, st->distinct_count);
	for (int node = 0; t->noisy && node < st->node_count; node++)
		if (t->ran[node] >= 0 && t->price[node] && t->price[node]->noisy)
			bit_set(noisy, t->ran[node]);
	return noisy;
}

static uint64_t *gaps_of(struct arena *a, const struct study *st, const struct solution *x, const int *chosen)
{
	uint64_t *gaps = bits_new(a, st->plan->layer_count);
	for (int i = 0; i < st->plan->layer_count; i++)
		if (chosen[i] < 0 && isnan(x->cost[st->layer_node[i]]))
			bit_set(gaps, i);
	return gaps;
}

/* Fills the number of layers to which each what-if applies. */
static void side_count(
	struct side *side, const struct study *st, const struct scenario *s, const struct solution *x)
{
	int count;
	const struct what_if *rows = what_if_table(&count);
	for (int i = 0; i < count; i++)
		side->layers[i] = rows[i].get(s) ? what_if_layers(st, i, s, x) : -1;
}

int side_layers(const struct side *side, int row)
{
	return side->layers[row];
}

static int hash_compare(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
	return (a > b) - (a < b);
}

static void side_besides(struct side *side, struct arena *a, const struct besides *b)
{
	side->beside_count = b->lacking_count;
	side->beside = ARENA_ARRAY(a, uint64_t, b->lacking_count);
	for (int i = 0; i < b->lacking_count; i++)
		side->beside[i] = hash_bytes(b->lacking[i], strlen(b->lacking[i]));
	if (b->lacking_count)
		qsort(side->beside, (size_t)b->lacking_count, sizeof(uint64_t), hash_compare);
}

/* The number of problems side by side that one or both sides lack. */
static int besides_count(const struct side *x, const struct side *y)
{
	int count = x->beside_count + y->beside_count;
	for (int i = 0, k = 0; i < x->beside_count && k < y->beside_count;) {
		int order = hash_compare(&x->beside[i], &y->beside[k]);
		count -= order == 0;
		i += order <= 0;
		k += order >= 0;
	}
	return count;
}

const struct side *side_add(struct sides *sides, const struct study *st, const struct scenario *s,
	const struct solution *x)
{
	struct arena *a = &sides->arena;
	const struct total *t = solution_total(x, s);
	struct side *side = ARENA_NEW(a, struct side);
	*side = (struct side){ .of = *s, .apart = st->layouts != NULL,
		.total_ns = t->ns, .bound_ns = t->floor_ns, .complete = t->complete,
		.estimated = t->estimated,
		.border_complete = x->border_complete,
		.distinct_count = st->distinct_count, .common = st->common_count,
		.extra = st->extra,
		.lacking = bits_of(a, x->lacking, st->distinct_count),
		.untried = bits_of(a, x->untried, st->distinct_count),
		.refused = bits_of(a, x->refused, st->distinct_count),
		.noisy = noisy_of(a, st, t),
	};
	side_count(side, st, s, x);
	if (x->besides && s->parallel == PARALLEL_MEASURED)
		side_besides(side, a, x->besides);
	side->unlike = s->parallel == PARALLEL_MEASURED && st->on.estimate && x->besides->count > 0;
	if (!side->complete)
		side->gaps = gaps_of(a, st, x, t->chosen);
	VEC_GROW(sides->items, sides->count, sides->capacity);
	return sides->items[sides->count++] = side;
}

const struct side *side_find(const struct sides *sides, const struct scenario *s)
{
	for (int i = sides->count - 1; i >= 0; i--)
		if (scenario_equal(&sides->items[i]->of, s))
			return sides->items[i];
	return NULL;
}

struct sides *sides_new(void)
{
	return base_calloc(1, sizeof(struct sides));
}

void sides_forget(struct sides *sides)
{
	arena_free(&sides->arena);
	sides->count = 0;
}

void sides_trim(struct sides *sides)
{
	if (sides->arena.total > SIDES_BYTES_MAX)
		sides_forget(sides);
}

void sides_free(struct sides *sides)
{
	sides_forget(sides);
	free(sides->items);
	free(sides);
}

/* True if the two sides lack the costs of different layers. Their totals then cover different parts of the
 * model, and the difference is not a saving. */
static bool gaps_differ(const struct side *x, const struct side *y, int layers)
{
	if (x->complete && y->complete && x->border_complete && y->border_complete)
		return false;
	for (int i = 0; i < layers; i++)
		if ((x->gaps && bit_at(x->gaps, layers, i)) != (y->gaps && bit_at(y->gaps, layers, i)))
			return true;
	bool apart = x->of.layouts != y->of.layouts || x->apart || y->apart;
	return x->border_complete != y->border_complete || (apart && !x->border_complete);
}

/* True if quick measurements say what the difference is: they have one algorithm, so a what-if that allows
 * others needs the full ones. */
static bool rough_says(const struct side *here, const struct side *other, int common)
{
	struct scenario same = here->of;
	same.parallel = other->of.parallel;
	same.fusion = other->of.fusion;
	same.layouts = other->of.layouts;
	same.pad = other->of.pad;
	same.fold = other->of.fold;
	same.assume = other->of.assume;
	return scenario_equal(&same, &other->of) &&
		!bits_count(here->untried, here->distinct_count, other->untried, other->distinct_count,
			common, false);
}

/* The difference of two totals. Sums of the same costs in another order differ by rounding. */
static double difference(double less, double more)
{
	double ns = more - less;
	return fabs(ns) <= 1e-11 * fmax(less, more) ? 0 : ns; /* NaN stays */
}

void effect_fill(
	struct what_if_effect *effect, const struct side *here, const struct side *other, int layers)
{
	bool same = here->of.layouts == other->of.layouts && !here->of.fusion == !other->of.fusion,
	     fewer = here->common < other->common;
	int least = fewer ? here->common : other->common, most = fewer ? other->common : here->common;
	int common = same ? here->distinct_count : least; /* of one study all numbers are the same */
	effect->unmeasured_problems = bits_count(here->lacking, here->distinct_count, other->lacking,
		other->distinct_count, common, false);
	effect->noisy_problems = bits_count(here->noisy, here->distinct_count, other->noisy,
		other->distinct_count, common, false);
	if (!same && here->of.layouts == other->of.layouts) {
		effect->unmeasured_problems -= bits_shared(here, here->lacking, other, other->lacking);
		effect->noisy_problems -= bits_shared(here, here->noisy, other, other->noisy);
	}
	effect->unavailable_problems =
		bits_count(here->refused, here->common, other->refused, other->common, most, true);
	effect->total_ns = other->total_ns;
	effect->bound_ns = other->bound_ns;
	effect->bound_complete = other->complete;
	effect->complete = here->complete && other->complete;
	effect->estimated = here->estimated || other->estimated;
	effect->rough = effect->unmeasured_problems && rough_says(here, other, common);
	effect->unmeasured_problems += besides_count(here, other);
	effect->rough = effect->rough && !besides_count(here, other);
	if ((!effect->unmeasured_problems || effect->rough) && here->unlike == other->unlike &&
		!gaps_differ(here, other, layers))
		effect->saves_ns = effect->on ? difference(here->total_ns, other->total_ns) :
						difference(other->total_ns, here->total_ns);
}
