/* The roofline model (Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009): time >= max(operations /
 * peak FLOP/s, bytes / bandwidth). Bytes are compulsory traffic: each operand once, at the bandwidth of the
 * cache level that holds all of them; rotated constants come from memory. Unknown peaks give NaN, never 0. */
#include "config.h"

#include "analyze/roof/roof.h"

#include "problem/beside.h"

#include <math.h>
#include <string.h>

/* The unit that runs the operations, of those allowed (plain, matrix). Peak 0: operations do not count. */
static struct unit unit_for(const struct problem *p, const struct peaks *k, bool plain, bool matrix,
	enum dtype matrix_type)
{
	enum dtype own = p->operand[0].dtype;
	struct unit unit = { own, false, plain ? k->flops[own] : NAN, 1 };
	if (kernel_row(p->kernel)->product) {
		bool better = matrix && (isnan(unit.peak) || k->matrix_flops[matrix_type] > unit.peak);
		return better ? (struct unit){ matrix_type, true, k->matrix_flops[matrix_type], 1 } : unit;
	}
	if (isnan(unit.peak))
		unit = (struct unit){ DTYPE_F32, false, k->flops[DTYPE_F32], 1 };
	unit.peak = isnan(unit.peak) ? 0 : unit.peak;
	return unit;
}

/* Time of the operations; 0 if the peak is 0: kernels other than matmul-like ones are limited by bytes. */
static double ops_ns(const struct problem *p, const struct unit *unit)
{
	double flops = unit->share * problem_flops(p);
	return flops > 0 && (unit->peak > 0 || isnan(unit->peak)) ? flops / unit->peak * 1e9 : 0;
}

/* The same without what a direct algorithm need not compute: products with padding. */
static double needed_ns(const struct problem *p, const struct unit *unit)
{
	const struct kernel_row *row = kernel_row(p->kernel);
	return ops_ns(p, unit) * (row->share_computed && unit->share >= 1 ? row->share_computed(p) : 1);
}

static double constant_bytes(const struct problem *p)
{
	/* of a gather's table only the selected rows are read */
	return fmin(problem_constant_bytes(p), problem_bytes(p));
}

double roofline_constants_ns(const struct problem *p, const struct peaks *k)
{
	return p && k ? constant_bytes(p) / k->bandwidth_bytes_s * 1e9 : NAN;
}

/* Index of the cache level that holds the bytes; level_count: memory. guess: skip levels of unknown
 * bandwidth. -1: no cache is known, but one may hold them. */
static int level_for(const struct peaks *k, double bytes, bool guess)
{
	int at = 0;
	while (at < k->level_count && (bytes > k->level[at].bytes ||
		(guess && isnan(k->level[at].bandwidth_bytes_s))))
		at++;
	return k->level_count || guess ? at : -1;
}

/* True if what rotates in this state comes from memory: a reuse distance beyond twice the last cache. At
 * shorter ones it may be in a cache, as in state warm. */
static bool is_far(const struct peaks *k, enum cache c)
{
	double held = k->level_count ? k->level[k->level_count - 1].bytes : 0;
	double nearest = cache_is_distance(c) ? cache_distance(c) / 2 : cache_distance(c); /* interpolated */
	return nearest > 2 * held;
}

/* Bytes that come from memory: in state cold all, in state warm none, else constants, if they are far. */
static double slow_bytes(const struct problem *p, const struct peaks *k, enum cache c)
{
	return cache_plain(c) == CACHE_COLD ? problem_bytes(p) : is_far(k, c) ? constant_bytes(p) : 0;
}

/* Time of the compulsory bytes at the bandwidth of their level. Without guess, bytes that may be in a cache
 * of unknown bandwidth do not count. */
static double bytes_ns(const struct problem *p, const struct peaks *k, enum cache c, bool guess)
{
	double slow = slow_bytes(p, k, c), fast = problem_bytes(p) - slow;
	int at = level_for(k, fast, guess);
	if (cache_plain(c) == CACHE_COLD || at == k->level_count)
		return problem_bytes(p) / k->bandwidth_bytes_s * 1e9;
	double ns = slow > 0 ? slow / k->bandwidth_bytes_s * 1e9 : 0;
	return at < 0 || isnan(k->level[at].bandwidth_bytes_s) ? ns :
		fmax(ns, fast / k->level[at].bandwidth_bytes_s * 1e9);
}

static double roof(double ops, double bytes)
{
	return isnan(ops) || isnan(bytes) ? NAN : fmax(ops, bytes);
}

static struct unit scenario_unit(const struct problem *p, const struct peaks *k, const struct scenario *s)
{
	enum dtype type = p->operand[0].dtype;
	bool is_f32 = type == DTYPE_F32, matrix = s->matrix && (!is_f32 || s->relaxed);
	return unit_for(p, k, true, matrix, is_f32 ? DTYPE_TF32 : type);
}

double scenario_roofline(const struct problem *p, const struct peaks *k, const struct scenario *s,
	enum cache c)
{
	struct unit unit = scenario_unit(p, k, s);
	return roof(ops_ns(p, &unit), bytes_ns(p, k, c, true));
}

double roofline_ns(const struct problem *p, const struct peaks *k, const struct scenario *s)
{
	return scenario_roofline(p, k, s, CACHE_NET);
}

bool roofline_counts_its_own(const struct algorithm *a)
{
	static const char *const words[] = { "winograd", "Winograd", "WINOGRAD", "fft", "FFT", "wino" };
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if ((a->notes && strstr(a->notes, words[i])) || (a->name && strstr(a->name, words[i])))
			return true;
	return false;
}

/* m and r of "wino_4x3" in an algorithm's name: Winograd's F(m x m, r x r). False: the name has none. */
static bool tile_of(const struct algorithm *a, int64_t *m, int64_t *r)
{
	const char *at = a->name ? strstr(a->name, "wino_") : NULL;
	if (!at || at[5] < '2' || at[5] > '6' || at[6] != 'x' || at[7] < '2' || at[7] > '7')
		return false;
	*m = at[5] - '0';
	*r = at[7] - '0';
	return at[8] < '0' || at[8] > '9';
}

/* The multiplications that such an algorithm does, as a share of those that the problem counts: of
 * Winograd's, if its name has the tile ("wino_4x3": 36 for 144 where the output is whole tiles), without its
 * transforms. NaN: unknown. */
static double roofline_own_share(const struct problem *p, const struct algorithm *a)
{
	int64_t m, r;
	if (p->kernel != KERNEL_CONV || p->spatial != 2 || !tile_of(a, &m, &r))
		return NAN;
	double share = 1;
	for (int i = 1; i < 3; i++) {
		int64_t out = problem_out_size(p, i);
		if (p->kernel_size[i] != r || p->stride[i] != 1 || p->dilation[i] != 1 || out < 1)
			return NAN;
		share *= (double)((out + m - 1) / m * (m + r - 1)) / (double)(out * r);
	}
	return share;
}

/* The type to which an algorithm's math rounds operands; DTYPE_UNKNOWN: no peak applies. */
enum dtype roofline_math_type(const struct result *r, enum dtype own)
{
	static const struct {
		const char *math;
		enum dtype type;
	} rows[] = { { "tf32", DTYPE_TF32 }, { "fast_tf32", DTYPE_TF32 }, { "fast_f16", DTYPE_F16 },
		{ "fast_bf16", DTYPE_BF16 } };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (r->algorithm.math && strcmp(r->algorithm.math, rows[i].math) == 0)
			return rows[i].type;
	return is_strict(r) ? own : DTYPE_UNKNOWN;
}

/* The unit that the algorithm runs on, and its share of the operations; peak 0: they do not count. */
static struct unit result_unit(const struct problem *p, const struct peaks *k, const struct result *r)
{
	enum dtype type = roofline_math_type(r, p->operand[0].dtype);
	bool matrix = r->algorithm.matrix == MATRIX_YES, plain = r->algorithm.matrix == MATRIX_NO;
	bool known = (matrix || plain) && type != DTYPE_UNKNOWN, product = kernel_row(p->kernel)->product;
	double share = product && roofline_counts_its_own(&r->algorithm) ?
		roofline_own_share(p, &r->algorithm) : 1;
	struct unit unit = unit_for(p, k, plain, matrix, type);
	unit.share = share;
	return product && (!known || isnan(share)) ? (struct unit){ type, matrix, 0, 1 } : unit;
}

double roofline_of_result(const struct problem *p, const struct peaks *k, const struct result *r)
{
	struct unit unit = result_unit(p, k, r);
	return roof(ops_ns(p, &unit), bytes_ns(p, k, r->cache, false));
}

/* Fills the byte part of r: the time and the level that limits it. */
static void parts_bytes(struct roof_parts *r, const struct problem *p, const struct peaks *k, enum cache c)
{
	double slow = slow_bytes(p, k, c), fast = problem_bytes(p) - slow;
	int holds = level_for(k, fast, false), at = level_for(k, fast, true);
	bool from_memory = slow > 0 || at == k->level_count;
	r->bytes_ns = from_memory && isnan(k->bandwidth_bytes_s) ? NAN : bytes_ns(p, k, c, true);
	if (at < k->level_count && slow > 0 && !isnan(k->bandwidth_bytes_s) &&
		slow / k->bandwidth_bytes_s >= fast / k->level[at].bandwidth_bytes_s)
		at = k->level_count; /* the constants, which come from memory, take longer */
	r->level = at < k->level_count ? k->level[at].level : 0;
	r->bytes_per_s = at < k->level_count ? k->level[at].bandwidth_bytes_s : k->bandwidth_bytes_s;
	if (holds >= 0 && holds < k->level_count && isnan(k->level[holds].bandwidth_bytes_s) &&
		cache_plain(c) != CACHE_COLD)
		r->unknown_level = k->level[holds].level;
}

struct roof_parts roofline_parts(const struct problem *p, const struct peaks *k, const struct scenario *s,
	enum cache c, const struct result *of)
{
	struct roof_parts r = { .unit = of ? result_unit(p, k, of) : scenario_unit(p, k, s) };
	bool fewer = of && kernel_row(p->kernel)->product && roofline_counts_its_own(&of->algorithm);
	r.ops_ns = ops_ns(p, &r.unit);
	r.unit_unknown = of && kernel_row(p->kernel)->product &&
		(of->algorithm.matrix == MATRIX_UNKNOWN ||
			roofline_math_type(of, p->operand[0].dtype) == DTYPE_UNKNOWN);
	r.is_own = fewer && !r.unit_unknown && !isnan(roofline_own_share(p, &of->algorithm));
	r.counts_its_own = fewer && !r.is_own;
	parts_bytes(&r, p, k, c);
	return r;
}

/* ---- the shortest possible time of a measurement */

static double bytes_least(const struct problem *p)
{
	const struct kernel_row *row = kernel_row(p->kernel);
	double share = row->share_read ? row->share_read(p) : 1;
	return problem_bytes(p) - (share < 1 ?
		(1 - share) * dtype_bytes(p->operand[0].dtype, problem_operand_traffic(p, 0)) : 0);
}

/* Constants rotate through twice the last-level cache, so half of them may still be in it. */
#define ROTATED_SHARE 0.5

/* What a problem needs of each level, memory last, and of a unit, RESOURCE_*; -1: none. */
struct least {
	double level_ns[PEAK_LEVELS + 1];
	int unit;
	double ops_ns;
};

/* Each level must at least transfer the bytes that the nearer levels cannot hold. */
static void passing_ns(const struct problem *p, const struct peaks *k, enum cache c, struct least *least)
{
	double bytes = bytes_least(p), slow = ROTATED_SHARE * fmin(slow_bytes(p, k, c), bytes);
	double fast = bytes - slow, held = 0;
	if (!k->level_count)
		return;
	for (int i = 0; i < k->level_count; i++) {
		double rate = k->level[i].bandwidth_bytes_s;
		least->level_ns[i] = isnan(rate) ? 0 : fmax(0, fast - held) / rate * 1e9;
		held = k->level[i].bytes;
	}
	least->level_ns[PEAK_LEVELS] = (slow + fmax(0, fast - held)) / k->bandwidth_bytes_s * 1e9;
}

static struct least least_of(const struct problem *p, const struct peaks *k, const struct result *r)
{
	const struct kernel_row *row = kernel_row(p->kernel);
	struct unit unit = row->product ? result_unit(p, k, r) : (struct unit){ .share = 1 };
	struct least least = { .unit = -1 };
	passing_ns(p, k, r->cache, &least);
	if (unit.peak > 0) {
		least.unit = (unit.matrix ? RESOURCE_MATRIX : RESOURCE_PLAIN) + (int)unit.type;
		least.ops_ns = needed_ns(p, &unit);
	}
	return least;
}

static double least_ns(const struct least *least)
{
	double ns = least->ops_ns;
	for (int i = 0; i <= PEAK_LEVELS; i++)
		ns = fmax(ns, least->level_ns[i]);
	return ns;
}

/* The least time of branches side by side: that of the longest branch, or what a level of memory or a unit
 * needs for all of them, whichever is more. A matmul whose algorithm is unknown needs no unit. */
static double beside_least_ns(const struct problem *p, const struct peaks *k, const struct result *r)
{
	struct beside b;
	struct least sum = { .unit = -1 };
	double units[RESOURCE_COUNT] = { 0 }, ns = 0;
	const char *lines = r->kernels ? r->kernels : "";
	if (beside_split(text_of(p->branches), &b, NULL))
		return 0;
	for (int i = 0; i < b.branch_count; i++) {
		double branch = 0;
		for (int n = b.first[i]; n < b.first[i + 1]; n++) {
			struct problem part;
			struct beside_ran ran;
			bool known = beside_ran_next(&lines, &ran);
			if (problem_parse(b.part[n], &part, NULL))
				return 0;
			struct result own = *r;
			own.algorithm.name = own.algorithm.notes = r->kernels; /* all that ran */
			struct least one = least_of(&part, k, &own);
			if (!known)
				one.ops_ns = 0;
			for (int l = 0; l <= PEAK_LEVELS; l++)
				sum.level_ns[l] += one.level_ns[l];
			if (one.unit >= 0)
				units[one.unit] += one.ops_ns;
			branch += least_ns(&one);
		}
		ns = fmax(ns, branch);
	}
	for (int i = 0; i < RESOURCE_COUNT; i++)
		ns = fmax(ns, units[i]);
	return fmax(ns, least_ns(&sum));
}

/* The least time in which the result's work can be done. Counts only work that must be done: operations of
 * matmuls and convolutions, except on padding; bytes that exceed what the caches can hold; and half of the
 * rotated constants. Of branches side by side: the longest branch, or what memory, a cache or a unit needs
 * for all of them. */
static double roofline_least(const struct problem *p, const struct peaks *k, const struct result *r)
{
	struct least one;
	if (kernel_row(p->kernel)->branches)
		return beside_least_ns(p, k, r);
	one = least_of(p, k, r);
	return least_ns(&one);
}

bool roofline_mistrusts(const struct problem *p, const struct peaks *k, const struct result *r)
{
	return r->status == STATUS_OK && stats_cost(&r->stats) < ROOFLINE_TRUST * roofline_least(p, k, r);
}

struct roof roofline_check(const struct problem *p, const struct peaks *k, const struct result *r)
{
	bool known = p && k;
	return (struct roof){ .known = true, .of = r, .ns = known ? roofline_of_result(p, k, r) : NAN,
		.mistrusted = known && roofline_mistrusts(p, k, r) };
}

/* The types of option -t, other than `but`, whose peak on the scenario's units is known: "f32, f16 and bf16
 * have"; NULL: none. */
static const char *types_with_peak(struct arena *a, const struct peaks *k, const struct scenario *s,
	enum dtype but)
{
	const char *text = "", *last = NULL;
	for (enum dtype t = 0; t < DTYPE_COUNT; t++) {
		enum dtype matrix = t == DTYPE_F32 ? DTYPE_TF32 : t;
		bool known = !isnan(k->flops[t]) ||
			(s->matrix && (t != DTYPE_F32 || s->relaxed) && !isnan(k->matrix_flops[matrix]));
		if (t == but || !known || !dtype_is_asked(t) || t == DTYPE_TF32)
			continue;
		if (last)
			text = arena_printf(a, "%s%s%s", text, *text ? ", " : "", last);
		last = dtype_name(t);
	}
	return !last ? NULL : *text ? arena_printf(a, "%s and %s have", text, last) :
		arena_printf(a, "%s has", last);
}

const char *roofline_why(
	struct arena *a, const struct problem *p, const struct peaks *k, const struct scenario *s)
{
	enum dtype own = p->operand[0].dtype, matrix = own == DTYPE_F32 ? DTYPE_TF32 : own;
	const char *name = dtype_name(own), *math = own == DTYPE_F32 && !s->relaxed ? ",math" : "";
	bool barred = !s->matrix || *math;
	if (kernel_row(p->kernel)->product && barred && !isnan(k->matrix_flops[matrix]))
		return arena_printf(a, "%s peak only on matrix units: add -w %s%s", name,
			s->matrix ? "" : "matrix", s->matrix ? math + 1 : math);
	const char *types = dtype_is_asked(own) ? types_with_peak(a, k, s, own) : NULL;
	return arena_printf(a, "no %s peak of the device is known: %s%s", name,
		types ? types : "assume a cost", types ? " one (-t)" : " (--assume)");
}

/* ---- use of each resource ---- */

/* The unit that runs the operations; peak 0: unknown, or operations do not count. */
static struct unit unit_of(const struct problem *p, const struct peaks *k, const struct scenario *s,
	const struct result *r)
{
	enum dtype own = p->operand[0].dtype, type = own == DTYPE_F32 ? DTYPE_TF32 : own;
	if (!kernel_row(p->kernel)->product)
		return (struct unit){ .share = 1 };
	if (r)
		return result_unit(p, k, r);
	bool matrix = s->matrix && (own != DTYPE_F32 || s->relaxed) && !isnan(k->matrix_flops[type]);
	return matrix ? (struct unit){ type, true, k->matrix_flops[type], 1 } :
		(struct unit){ own, false, k->flops[own], 1 };
}

const char *resource_name(struct arena *a, const struct peaks *k, int resource)
{
	if (resource == RESOURCE_MEMORY)
		return "memory";
	if (resource < RESOURCE_PLAIN)
		return arena_printf(a, "the L%d cache", k->level[resource - RESOURCE_CACHE].level);
	bool matrix = resource >= RESOURCE_MATRIX;
	return arena_printf(a, "%s %sunits",
		dtype_name((enum dtype)(resource - (matrix ? RESOURCE_MATRIX : RESOURCE_PLAIN))),
		matrix ? "matrix " : "");
}

double resource_spread(const struct peaks *k, int resource)
{
	return resource == RESOURCE_MEMORY ? k->bandwidth_spread
		: resource < RESOURCE_PLAIN ? k->level_spread[resource - RESOURCE_CACHE]
		: resource < RESOURCE_MATRIX ? k->flops_spread[resource - RESOURCE_PLAIN]
		: k->matrix_spread[resource - RESOURCE_MATRIX];
}

/* At most what a resource moves in `ns` at its peak: it is busy for no longer than the kernel runs. */
static double within(double bytes, double per_s, double ns)
{
	return bytes / per_s * 1e9 > ns ? ns * per_s / 1e9 : bytes; /* false: one of them is unknown */
}

struct use roofline_use(const struct problem *p, const struct peaks *k, const struct scenario *units,
	enum cache c, const struct result *r, double ns, bool fewer)
{
	struct use use = { .known = true, .unit = -1, .level = -1 };
	double slow = slow_bytes(p, k, c), fast = problem_bytes(p) - slow;
	int at = level_for(k, fast, r == NULL);
	struct unit unit = unit_of(p, k, units, r);
	if (!fewer && unit.peak > 0) { /* NaN: unknown, which bounds nothing */
		use.unit = (unit.matrix ? RESOURCE_MATRIX : RESOURCE_PLAIN) + (int)unit.type;
		use.ops_ns = fmin(r ? needed_ns(p, &unit) : ops_ns(p, &unit), ns);
	}
	use.memory_bytes = within(slow + (at == k->level_count ? fast : 0), k->bandwidth_bytes_s, ns);
	if (at >= 0 && at < k->level_count && !isnan(k->level[at].bandwidth_bytes_s)) {
		use.level = at;
		use.fast_bytes = within(fast, k->level[at].bandwidth_bytes_s, ns);
	}
	return use;
}
