/* Measured peaks: the problems, and the peaks from their results. */
#include "config.h"

#include "analyze/roof/roof.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Working sets are powers of two: two operands of a copy, the matrix of a read. */
#define SET_LEAST 8192.0
#define SET_MOST 2147483648.0
#define READ_LEAST 1048576.0     /* smaller ones measure only the call overhead */
/* The working set in memory of a CPU, and the sets of its read curve: by powers of two up to it. Larger ones
 * take seconds to set up. */
#define FAR_SET 134217728.0
#define CURVE_LEAST 4194304.0
#define CURVE_POINTS 4           /* fewer are of an earlier version, and no curve */
#define CURVE_KNEE 1.3           /* a set that is read so much faster than the largest one is cached */
#define READ_ROW 4096            /* elements of a row of the read's matrix */

static const char *copy_text(struct arena *a, double set)
{
	return arena_printf(a, "copy:u8,u8:b%.0f", set / 2);
}

static const char *read_text(struct arena *a, double set)
{
	return arena_printf(a, "matmul:f32,f32,f32/f32:ba1bb1m1n%.0fk%d:ta0tb0",
		set / 4 / READ_ROW, READ_ROW);
}

static const struct square_type {
	enum dtype type;
	const char *operands;
} square_types[] = {
	{ DTYPE_F32, "f32,f32.c,f32/f32" },
	{ DTYPE_F16, "f16,f16.c,f16/f32" },
	{ DTYPE_BF16, "bf16,bf16.c,bf16/f32" },
	{ DTYPE_S8, "s8,s8.c,s32/s32" },
	{ DTYPE_U8, "u8,s8.c,s32/s32" },
	{ DTYPE_F8E4M3, "f8e4m3,f8e4m3.c,bf16/f32" },
	{ DTYPE_F64, "f64,f64.c,f64/f64" },
};
#define SQUARE_TYPES ((int)(sizeof(square_types) / sizeof(square_types[0])))

/* For a few cores, more, many, a GPU: a few milliseconds each. */
static const int square_sizes[] = { 576, 1024, 2048, 8192 };
#define SQUARE_SIZES ((int)(sizeof(square_sizes) / sizeof(square_sizes[0])))
#define FEW_THREADS 4
#define MANY_THREADS 32

static const char *square_text(struct arena *a, int type, int size)
{
	int n = square_sizes[size];
	return arena_printf(a, "matmul:%s:ba1bb1m%dn%dk%d:ta0tb0", square_types[type].operands, n, n, n);
}

void peaks_note_type(bool types[DTYPE_COUNT], const char *problem)
{
	struct problem p;
	if (problem_parse(text_of(problem), &p, NULL) || !kernel_row(p.kernel)->product)
		return;
	enum dtype type = p.operand[0].dtype;
	types[type == DTYPE_F8E5M2 ? DTYPE_F8E4M3 : type] = true;
}

/* ---- the levels of a device ---- */

struct cache_level {
	int level;
	double own_bytes;  /* of one cache */
	double all_bytes;  /* of all caches that the threads use */
	bool is_private;   /* each core has its own */
};

struct caches {
	int count, threads;
	struct cache_level at[PEAK_LEVELS];
};

/* Adds a level; one that is not larger than the previous level is ignored. */
static void level_add(struct caches *c, int level, double bytes, double cores)
{
	double threads = c->threads > 0 ? c->threads : 1, held = bytes * ceil(threads / cores);
	double before = c->count ? c->at[c->count - 1].all_bytes : 0;
	if (c->count < PEAK_LEVELS && bytes > 0 && isfinite(held) && held > before)
		c->at[c->count++] = (struct cache_level){ level, bytes, held, c->threads > 0 && cores < 2 };
}

/* Caches of the first core from a runner's hello, nearest first, and the number of processors that share
 * each. If that is unknown, the last level is shared by all and the others are private. */
static void levels_read(struct caches *c, const json_t *list)
{
	size_t i, last = 0;
	const json_t *one;
	double siblings = 1;
	json_array_foreach(list, i, one)
		if (strcmp(json_string_at(one, "type", ""), "Instruction") != 0)
			last = i;
	json_array_foreach(list, i, one) {
		double shared = json_number_or_nan(json_object_get(one, "shared"));
		int level = (int)json_int_at(one, "level", 0);
		if (strcmp(json_string_at(one, "type", ""), "Instruction") == 0)
			continue;
		if (level == 1 && shared >= 1)
			siblings = shared;
		double cores = shared >= 1 ? shared / siblings : i == last && level > 1 ?
			fmax(c->threads, 2) : 1;
		level_add(c, level, json_number_or_nan(json_object_get(one, "bytes")),
			cores >= 1 ? cores : 1);
	}
}

static struct caches caches_of(const struct device *d)
{
	struct caches c = { .threads = d->threads };
	json_t *o = d->attributes ? json_loads(d->attributes, JSON_REJECT_DUPLICATES, NULL) : NULL;
	levels_read(&c, json_object_get(o, "caches"));
	json_decref(o);
	if (!c.count && d->llc_bytes > 0)
		level_add(&c, d->threads > 0 ? 3 : 2, d->llc_bytes, fmax(d->threads, 2));
	return c;
}

/* ---- the problems ---- */

struct texts {
	struct arena *arena;
	const char **list;
	int count;
};

#define TEXTS_MOST 64

static void text_add(struct texts *t, const char *text)
{
	assert(t->count < TEXTS_MOST);
	t->list[t->count++] = text;
}

static void set_add(struct texts *t, double set, bool shared)
{
	if (set < SET_LEAST || set > SET_MOST)
		return;
	text_add(t, copy_text(t->arena, set));
	if (shared && set >= READ_LEAST)
		text_add(t, read_text(t->arena, set));
}

const char **peaks_problems(struct arena *a, const struct device *d,
	const bool types[DTYPE_COUNT], int *count)
{
	struct texts t = { .arena = a, .list = ARENA_ARRAY(a, const char *, TEXTS_MOST) };
	struct caches c = caches_of(d);
	bool is_gpu = d->threads == 0;
	for (int i = 0; i < c.count; i++) {
		const struct cache_level *l = &c.at[i];
		double half = exp2(floor(log2(l->is_private ? l->own_bytes : l->all_bytes)) - 1);
		set_add(&t, is_gpu ? half : fmin(half, FAR_SET / 4), is_gpu && !l->is_private);
		if (is_gpu && !l->is_private)
			set_add(&t, 2 * half, true);
	}
	set_add(&t, is_gpu ? SET_MOST : FAR_SET, true);
	for (double set = CURVE_LEAST; !is_gpu && set < FAR_SET; set *= 2)
		text_add(&t, read_text(a, set));
	int size = is_gpu ? 3 : d->threads > MANY_THREADS ? 2 : d->threads > FEW_THREADS ? 1 : 0;
	for (int i = 0; i < SQUARE_TYPES; i++)
		if (types[square_types[i].type])
			text_add(&t, square_text(a, i, size));
	*count = t.count;
	return t.list;
}

const char **peaks_problems_of_all(struct arena *a, int *count)
{
	struct texts t = { .arena = a, .list = ARENA_ARRAY(a, const char *, TEXTS_MOST) };
	for (double set = SET_LEAST; set <= SET_MOST; set *= 2)
		set_add(&t, set, true);
	for (int i = 0; i < SQUARE_TYPES * SQUARE_SIZES; i++)
		text_add(&t, square_text(a, i / SQUARE_SIZES, i % SQUARE_SIZES));
	*count = t.count;
	return t.list;
}

/* ---- peaks from the results ---- */

/* Raises a peak, with its spread. */
static void take(double *peak, double *spread, double rate, double of_spread)
{
	if (!(rate > 0) || !isfinite(rate) || *peak >= rate)
		return;
	*peak = rate;
	*spread = of_spread;
}

/* The cost, which other work hardly raises; of results whose cost is a median the best sample. */
static double best_ns(const struct result *r)
{
	return !(r->stats.p10 > 0) && r->stats.min > 0 ? r->stats.min : stats_cost(&r->stats);
}

static double spread_from(const struct result *r, double ns)
{
	struct interval v = interval_of(r);
	return v.known && v.hi > ns ? v.hi / ns : 0;
}

/* The peak that a product's result may raise; NULL: none. */
static double *unit_of(struct peaks *k, const struct problem *p, const struct result *r, double **spread)
{
	enum dtype own = p->operand[0].dtype, type = roofline_math_type(r, own);
	bool matrix = r->algorithm.matrix == MATRIX_YES && (type == own || type == DTYPE_TF32),
	     plain = r->algorithm.matrix == MATRIX_NO && type == own;
	*spread = matrix ? &k->matrix_spread[type] : &k->flops_spread[own];
	if (roofline_counts_its_own(&r->algorithm))
		return NULL;
	return matrix ? &k->matrix_flops[type] : plain ? &k->flops[own] : NULL;
}

static void take_square(struct peaks *k, const struct problem *p, const struct result *r)
{
	double *spread, *peak = unit_of(k, p, r, &spread), ns = best_ns(r);
	if (peak)
		take(peak, spread, problem_flops(p) / ns * 1e9, spread_from(r, ns));
}

/* True for the C library's copy with one thread, by its name in the CPU runner. */
static bool is_of_one_thread(const struct result *r)
{
	return strcmp(r->algorithm.name, "memcpy") == 0;
}

static void take_level(struct peaks *k, int level, double rate, double spread, bool estimated)
{
	struct peak_level *l = &k->level[level];
	double before = l->bandwidth_bytes_s;
	take(&l->bandwidth_bytes_s, &k->level_spread[level], rate, spread);
	l->estimated = l->bandwidth_bytes_s > before || isnan(before) ? estimated : l->estimated;
}

static void take_stream(struct peaks *k, const struct caches *c, const struct problem *p,
	const struct result *r)
{
	double bytes = problem_bytes(p), ns = best_ns(r), rate = bytes / ns * 1e9;
	double spread = spread_from(r, ns);
	for (int i = 0; i < c->count; i++)
		if (c->at[i].is_private && is_of_one_thread(r) && bytes <= c->at[i].own_bytes) {
			take_level(k, i, rate * c->threads, spread, c->threads > 1);
			return;
		}
	for (int i = 0; i < c->count; i++)
		if (bytes <= c->at[i].all_bytes * 1.001) { /* a read's vectors are not counted in its size */
			take_level(k, i, rate, spread, false);
			return;
		}
	take(&k->bandwidth_bytes_s, &k->bandwidth_spread, rate, spread);
}

static void take_result(struct peaks *k, const struct caches *c, const struct problem *p,
	const struct result *r)
{
	if (r->status != STATUS_OK || r->launch != LAUNCH_AMORTIZED || cache_plain(r->cache) == CACHE_COLD)
		return;
	if (r->stats.stop == STOP_DISTURBED) /* a peak that is too low would make correct results suspect */
		return;
	if (p->kernel == KERNEL_MATMUL && p->m > 1)
		take_square(k, p, r);
	else
		take_stream(k, c, p, r);
}

/* A peak is an upper bound: a later, slower measurement does not lower it. A replaced result counts too,
 * unless the new one is suspect or from another version of the runner, or both differ too much: then the one
 * that stands was repeated, or both are measured once more. */
static bool still_counts(const struct result *old, const struct result *const *standing, int count)
{
	for (int i = 0; i < count; i++)
		if (results_same_key(standing[i], old))
			return standing[i]->status != STATUS_MISTRUSTED &&
				strcmp(standing[i]->runner_version, old->runner_version) == 0 &&
				!results_differ(standing[i], old);
	return false;
}

static bool is_in_full(const struct result *r)
{
	return r->status == STATUS_OK && r->stats.stop != STOP_DISTURBED && r->stats.stop != STOP_SHORTLIST;
}

/* Uses results of the shortlist pass only if some result was measured in full and is not noisy. */
static void take_all(struct peaks *k, const struct caches *c, const struct problem *p,
	const struct results *r, const char *text)
{
	int count, old_count;
	const struct result *const *standing = results_of(r, text, &count),
		*const *old = results_replaced(r, text, &old_count);
	bool in_full = false;
	for (int i = 0; i < count; i++) {
		in_full |= is_in_full(standing[i]);
		k->noisy |= standing[i]->stats.stop == STOP_DISTURBED;
	}
	for (int i = 0; i < old_count; i++)
		in_full |= is_in_full(old[i]) && still_counts(old[i], standing, count);
	for (int i = 0; i < count && in_full; i++)
		take_result(k, c, p, standing[i]);
	for (int i = 0; i < old_count && in_full; i++)
		if (still_counts(old[i], standing, count))
			take_result(k, c, p, old[i]);
}

/* Makes the peaks consistent: a nearer level is never slower than a farther one, and signed and unsigned
 * types share units. */
static void settle(struct peaks *k)
{
	struct peak_level beyond = { .bandwidth_bytes_s = k->bandwidth_bytes_s };
	double beyond_spread = k->bandwidth_spread;
	for (int i = k->level_count - 1; i >= 0; i--) {
		struct peak_level *own = &k->level[i];
		if (!isnan(own->bandwidth_bytes_s))
			take_level(k, i, beyond.bandwidth_bytes_s, beyond_spread, beyond.estimated);
		beyond_spread = isnan(own->bandwidth_bytes_s) ? beyond_spread : k->level_spread[i];
		beyond = isnan(own->bandwidth_bytes_s) ? beyond : *own;
	}
	for (int i = 0; i < 2; i++) {
		static const enum dtype like[][2] = { { DTYPE_S8, DTYPE_U8 }, { DTYPE_U8, DTYPE_S8 },
			{ DTYPE_F8E5M2, DTYPE_F8E4M3 } };
		double *flops = i ? k->matrix_flops : k->flops,
		       *spread = i ? k->matrix_spread : k->flops_spread;
		for (size_t n = 0; n < sizeof(like) / sizeof(like[0]); n++)
			take(&flops[like[n][0]], &spread[like[n][0]], flops[like[n][1]], spread[like[n][1]]);
	}
}

/* The rate at which a set is read: of the results that count. NaN: not measured. */
static double read_rate(struct arena *a, const struct results *r, double set)
{
	struct peaks k = peaks_unknown();
	struct caches none = { 0 };
	struct problem p;
	const char *text = read_text(a, set);
	if (problem_parse(text_of(text), &p, NULL) == 0)
		take_all(&k, &none, &p, r, text);
	return k.bandwidth_bytes_s;
}

/* Corrects the size of the last cache by the read curve: a virtual machine names the cache of a whole
 * processor. The cache ends at the largest set that is read CURVE_KNEE times faster than the largest
 * set of all; without a knee, before the first set. */
static void caches_learn(struct caches *c, struct arena *a, const struct results *r)
{
	double far = NAN, knee = NAN, least = NAN;
	int points = 0;
	for (double set = FAR_SET; set >= CURVE_LEAST; set /= 2) {
		double rate = read_rate(a, r, set);
		if (isnan(rate))
			continue;
		points++;
		far = isnan(far) ? rate : far;
		least = set;
		if (isnan(knee) && rate >= CURVE_KNEE * far)
			knee = set;
	}
	struct cache_level *last = c->count ? &c->at[c->count - 1] : NULL;
	double held = isnan(knee) ? least / 2 : knee;
	if (!last || points < CURVE_POINTS || last->is_private || held >= last->all_bytes)
		return;
	last->all_bytes = held;
	c->count -= c->count > 1 && held <= last[-1].all_bytes; /* nothing is left of it */
}

/* ---- what other problems reach */

#define SIBLING_SHARE 0.9 /* of a rate that raises a peak, which another problem of its kernel must reach */

/* The best rate of a problem on a unit, or from a cache. */
struct reached {
	enum kernel kernel;
	double *peak, *spread;
	double rate, rate_spread;
};

struct reached_all {
	struct reached *items;
	int count, capacity;
};

static bool may_raise(const struct result *r)
{
	const char *notes = r->algorithm.notes ? r->algorithm.notes : "";
	return r->status == STATUS_OK && r->launch == LAUNCH_AMORTIZED &&
		cache_plain(r->cache) != CACHE_COLD && r->stats.stop == STOP_CONVERGED &&
		!strstr(notes, "unchecked");
}

/* The cache whose bandwidth an elementwise result may raise, which reads and writes each element once: the
 * one that holds its operands. NULL: none. */
static double *cache_of(struct peaks *k, const struct problem *p, const struct result *r, double **spread)
{
	if (p->kernel != KERNEL_ELTWISE || algorithm_is_in_place(&r->algorithm))
		return NULL;
	for (int i = 0; i < k->level_count; i++)
		if (problem_bytes(p) <= k->level[i].bytes) {
			*spread = &k->level_spread[i];
			return &k->level[i].bandwidth_bytes_s;
		}
	return NULL;
}

/* Adds the best rate of a problem on each unit, or from a cache. */
static void reached_add(struct reached_all *all, struct peaks *k, const struct problem *p,
	const struct result *const *results, int count)
{
	const struct kernel_row *row = kernel_row(p->kernel);
	double flops = problem_flops(p) * (row->share_computed ? row->share_computed(p) : 1),
	       work = row->product ? flops : problem_bytes(p);
	int first = all->count;
	for (int i = 0; i < count; i++) {
		const struct result *r = results[i];
		double *spread, *peak = !may_raise(r) ? NULL :
			row->product ? unit_of(k, p, r, &spread) : cache_of(k, p, r, &spread);
		double ns = stats_cost(&r->stats), rate = work / ns * 1e9;
		int at = first;
		if (!peak || isnan(*peak) || !(rate > *peak * SIBLING_SHARE) || !isfinite(rate))
			continue;
		while (at < all->count && all->items[at].peak != peak)
			at++;
		if (at < all->count && all->items[at].rate >= rate)
			continue;
		if (at == all->count) {
			VEC_GROW(all->items, all->count, all->capacity);
			all->count++;
		}
		all->items[at] = (struct reached){ p->kernel, peak, spread, rate,
			spread_from(r, ns) };
	}
}

static int by_rate(const void *x, const void *y)
{
	const struct reached *a = x, *b = y;
	if (a->peak != b->peak)
		return a->peak < b->peak ? -1 : 1;
	if (a->kernel != b->kernel)
		return a->kernel < b->kernel ? -1 : 1;
	return a->rate > b->rate ? -1 : a->rate < b->rate;
}

/* Raises peaks that are known to the rates that another problem of the same kernel confirms. */
static void peaks_raise(struct peaks *k, const struct results *r)
{
	struct reached_all all = { 0 };
	const char *text;
	for (int i = 0; (text = results_problem(r, i)); i++) {
		struct problem p;
		int count;
		const struct result *const *results = results_of(r, text, &count);
		if (count && problem_parse(text_of(text), &p, NULL) == 0 &&
			(kernel_row(p.kernel)->product || p.kernel == KERNEL_ELTWISE))
			reached_add(&all, k, &p, results, count);
	}
	if (all.count)
		qsort(all.items, (size_t)all.count, sizeof(*all.items), by_rate);
	for (int i = 0; i + 1 < all.count; i++) {
		const struct reached *a = &all.items[i], *b = a + 1;
		if (a->peak == b->peak && a->kernel == b->kernel && b->rate >= SIBLING_SHARE * a->rate)
			take(a->peak, a->spread, a->rate, a->rate_spread);
	}
	free(all.items);
}

struct peaks peaks_from_results(const struct results *r, const struct device *d)
{
	struct peaks k = peaks_unknown();
	struct caches c = caches_of(d);
	struct arena a = { 0 };
	int texts;
	const char **text = peaks_problems_of_all(&a, &texts);
	caches_learn(&c, &a, r);
	k.level_count = c.count;
	for (int i = 0; i < c.count; i++)
		k.level[i] = (struct peak_level){ c.at[i].level, c.at[i].all_bytes, NAN, false };
	for (int i = 0; i < texts; i++) {
		struct problem p;
		int count;
		if (results_of(r, text[i], &count) && count && problem_parse(text_of(text[i]), &p, NULL) == 0)
			take_all(&k, &c, &p, r, text[i]);
	}
	peaks_raise(&k, r);
	settle(&k);
	arena_free(&a);
	return k;
}
