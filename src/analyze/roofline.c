#include "config.h"

#include "analyze/analyze_private.h"

#include <math.h>
#include <string.h>

static bool is_matrix_kernel(enum kernel k)
{
	return k == KERNEL_CONV || k == KERNEL_DECONV || k == KERNEL_MATMUL || k == KERNEL_ATTENTION || k == KERNEL_RNN;
}

/* The greater of two peaks, of which either may be unknown. */
static double greater(double a, double b)
{
	return isnan(a) || b > a ? b : a;
}

/* Of the type that the operations are done in. */
static double unit_peak(const struct problem *p, const struct peaks *k, bool plain, bool matrix, enum dtype matrix_type)
{
	enum dtype type = p->operand[0].dtype;
	double peak = plain ? k->flops[type] : NAN;
	if (is_matrix_kernel(p->kernel))
		return matrix ? greater(peak, k->matrix_flops[matrix_type]) : peak;
	peak = isnan(peak) ? k->flops[DTYPE_F32] : peak;
	return isnan(peak) ? 0 : peak;
}

/* Peak 0: no claim about operations. What other kernels than products do to an element takes less than its bytes. */
static double ops_ns(const struct problem *p, double peak)
{
	double flops = problem_flops(p);
	return flops > 0 && (peak > 0 || isnan(peak)) ? flops / peak * 1e9 : 0;
}

static double constant_bytes(const struct problem *p)
{
	return fmin(problem_constant_bytes(p), problem_bytes(p)); /* of a gather's table only what is taken is read */
}

/* Compulsory bytes by the bandwidth of the level they are in. `guess`: by memory's where the cache's is not known;
 * else what the cache may hold does not count. */
static double bytes_ns(const struct problem *p, const struct peaks *k, enum cache c, bool guess)
{
	double slow = c == CACHE_WARM ? 0 : constant_bytes(p), fast = problem_bytes(p) - slow;
	bool fits = isnan(k->cache_bytes) ? !guess : fast <= k->cache_bytes / 2;
	if (c == CACHE_COLD || !fits || (guess && isnan(k->cache_bandwidth_bytes_s)))
		return problem_bytes(p) / k->bandwidth_bytes_s * 1e9;
	double ns = slow > 0 ? slow / k->bandwidth_bytes_s * 1e9 : 0;
	return isnan(k->cache_bandwidth_bytes_s) ? ns : fmax(ns, fast / k->cache_bandwidth_bytes_s * 1e9);
}

static double roof(double ops, double bytes)
{
	return isnan(ops) || isnan(bytes) ? NAN : fmax(ops, bytes);
}

static double scenario_roofline(const struct problem *p, const struct peaks *k, const struct scenario *s, enum cache c)
{
	enum dtype type = p->operand[0].dtype;
	bool is_f32 = type == DTYPE_F32, matrix = s->matrix && (!is_f32 || s->relaxed);
	double peak = unit_peak(p, k, true, matrix, is_f32 ? DTYPE_TF32 : type);
	return roof(ops_ns(p, peak), bytes_ns(p, k, c, true));
}

double roofline_ns(const struct problem *p, const struct peaks *k, const struct scenario *s)
{
	return scenario_roofline(p, k, s, CACHE_NET);
}

static bool counts_its_own(const struct algorithm *a)
{
	static const char *const words[] = { "winograd", "Winograd", "WINOGRAD", "fft", "FFT", "wino" };
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if ((a->notes && strstr(a->notes, words[i])) || (a->name && strstr(a->name, words[i])))
			return true;
	return false;
}

/* The type that an algorithm's math rounds operands to; DTYPE_UNKNOWN: no figure fits it. */
static enum dtype math_type(const struct result *r, enum dtype own)
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

double roofline_of_result(const struct problem *p, const struct peaks *k, const struct result *r)
{
	enum dtype type = math_type(r, p->operand[0].dtype);
	bool matrix = r->algorithm.matrix == MATRIX_YES, plain = r->algorithm.matrix == MATRIX_NO;
	double peak = unit_peak(p, k, plain, matrix, type);
	if (is_matrix_kernel(p->kernel) && (!(matrix || plain) || type == DTYPE_UNKNOWN || counts_its_own(&r->algorithm)))
		peak = 0;
	return roof(ops_ns(p, peak), bytes_ns(p, k, r->cache, false));
}

double roofline_of_text(const char *text, const struct peaks *k, const struct scenario *s, const struct result *r,
	enum cache c)
{
	struct problem p;
	if (problem_parse(text_of(text), &p, NULL))
		return NAN;
	return r ? roofline_of_result(&p, k, r) : scenario_roofline(&p, k, s, c);
}

/* ---- peaks that were measured */

#define SQUARE(types, n) "matmul:" types ":ba1bb1m" n "n" n "k" n ":ta0tb0"
#define SQUARES(n) SQUARE("f32,f32.c,f32/f32", n), SQUARE("f16,f16.c,f16/f32", n), SQUARE("bf16,bf16.c,bf16/f32", n), \
	SQUARE("s8,s8.c,s32/s32", n), SQUARE("f8e4m3,f8e4m3.c,bf16/f32", n), SQUARE("f64,f64.c,f64/f64", n)
#define COPY_CACHED "copy:u8,u8:b4194304"
#define COPY_FAR "copy:u8,u8:b1073741824"

static const char *const small_problems[] = { COPY_FAR, COPY_CACHED, SQUARES("2048") };
static const char *const large_problems[] = { COPY_FAR, COPY_CACHED, SQUARES("8192") };
#define PEAK_PROBLEMS ((int)(sizeof(small_problems) / sizeof(small_problems[0])))

const char *const *peaks_problems(bool large, int *count)
{
	*count = PEAK_PROBLEMS;
	return large ? large_problems : small_problems;
}

static void take(double *peak, double work, double ns)
{
	if (ns > 0 && isfinite(ns))
		*peak = greater(*peak, work / ns * 1e9);
}

static void take_square(struct peaks *k, const struct problem *p, const struct result *r)
{
	enum dtype own = p->operand[0].dtype, type = math_type(r, own);
	double flops = problem_flops(p), ns = r->stats.median;
	if (r->algorithm.matrix == MATRIX_YES && (type == own || type == DTYPE_TF32))
		take(&k->matrix_flops[type], flops, ns);
	else if (r->algorithm.matrix == MATRIX_NO && type == own && !counts_its_own(&r->algorithm))
		take(&k->flops[own], flops, ns);
}

struct peaks peaks_from_results(const struct results *r, double llc_bytes)
{
	struct peaks k = peaks_unknown();
	k.cache_bytes = llc_bytes;
	for (int i = 0; i < 2 * PEAK_PROBLEMS; i++) {
		const char *text = i < PEAK_PROBLEMS ? small_problems[i] : large_problems[i - PEAK_PROBLEMS];
		struct problem p;
		int count;
		const struct result *const *found = results_of(r, text, &count);
		if (!count || problem_parse(text_of(text), &p, NULL))
			continue;
		for (int j = 0; j < count; j++) {
			if (found[j]->status != STATUS_OK || found[j]->launch != LAUNCH_AMORTIZED)
				continue;
			if (p.kernel == KERNEL_MATMUL)
				take_square(&k, &p, found[j]);
			else
				take(strcmp(text, COPY_FAR) == 0 ? &k.bandwidth_bytes_s : &k.cache_bandwidth_bytes_s,
					problem_bytes(&p), found[j]->stats.median);
		}
	}
	/* a cache that holds no two copies was not measured by the small one */
	if (!(k.cache_bytes >= 2 * 2 * 4194304.0))
		k.cache_bandwidth_bytes_s = NAN;
	return k;
}
