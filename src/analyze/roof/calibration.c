/* Finds the row of the table for the kind, library and unit of a kernel, or the nearest one, and applies
 * it. */
#include "config.h"

#include "analyze/roof/calibration.h"

#include <math.h>
#include <string.h>

#include "analyze/roof/roof.h"

#define FEW_CHANNELS 8
#define NEAREST_SPREAD 1.5 /* how much wider the spread for another kind is: tools/make_calibration.py */
#define SM_NEW 75          /* first compute capability of the devices whose profiles are by TensorRT */
#define TILE (64 * 64)
#define WINOGRAD_MOST 4    /* how many times fewer multiplications F(4x4, 3x3) does */

const struct calibration_row *calibration_rows(int *count)
{
	static const struct calibration_row rows[] = {
#define CALIBRATION_ROW(library, kind, ...) { CALIBRATION_##library, CALIBRATION_##kind, __VA_ARGS__ },
#define CALIBRATION_GENERATION(...)
#include "analyze/roof/calibration_table.h"
#undef CALIBRATION_ROW
#undef CALIBRATION_GENERATION
	};
	*count = sizeof(rows) / sizeof(rows[0]);
	return rows;
}

const struct calibration_generation *calibration_generation(int sm)
{
	static const struct calibration_generation rows[] = {
#define CALIBRATION_ROW(...)
#define CALIBRATION_GENERATION(...) { __VA_ARGS__ },
#include "analyze/roof/calibration_table.h"
#undef CALIBRATION_ROW
#undef CALIBRATION_GENERATION
	};
	const struct calibration_generation *found = rows;
	for (size_t i = 1; i < sizeof(rows) / sizeof(rows[0]); i++)
		found = rows[i].sm <= sm ? &rows[i] : found;
	return found;
}

const char *calibration_kind_name(enum calibration_kind k)
{
	static const char *const names[CALIBRATION_KIND_COUNT] = { "memory-bound kernel", "convolution",
		"convolution of few channels", "depthwise convolution", "3x3 convolution", "matrix product",
		"normalization" };
	return names[k];
}

const char *calibration_library_name(enum calibration_library l)
{
	return l == CALIBRATION_OLD ? "cuDNN 7.6" : "new kernels";
}

/* True for a convolution that Winograd's algorithm computes: 3x3, no stride, dense, one group. */
static bool is_winograd(const struct problem *p)
{
	bool fits = p->spatial == 2 && p->g == 1;
	for (int i = 3 - p->spatial; i < 3; i++)
		fits &= p->kernel_size[i] == 3 && p->stride[i] == 1 && p->dilation[i] == 1;
	return fits;
}

static enum calibration_kind conv_kind(const struct problem *p, bool matrix)
{
	if (p->g > 1 && p->c == p->g)
		return CALIBRATION_CONV_GROUP;
	if (matrix)
		return p->c / p->g < FEW_CHANNELS ? CALIBRATION_CONV_FEW : CALIBRATION_CONV;
	return dtype_is_float(p->operand[0].dtype) && is_winograd(p) ? CALIBRATION_CONV_WINOGRAD :
		CALIBRATION_CONV;
}

static enum calibration_kind kind_of(const struct problem *p, bool matrix)
{
	static const enum calibration_kind kinds[] = { [ESTIMATED_AS_BYTES] = CALIBRATION_MEMORY,
		[ESTIMATED_AS_CONV] = CALIBRATION_CONV,
		[ESTIMATED_AS_MATMUL] = CALIBRATION_MATMUL,
		[ESTIMATED_AS_NORM] = CALIBRATION_NORM };
	enum calibration_kind kind = kinds[kernel_row(p->kernel)->estimated_as];
	return kind == CALIBRATION_CONV ? conv_kind(p, matrix) : kind;
}

/* The row of a kind. Kinds whose kernels run on either unit have one row. */
static const struct calibration_row *row_of(
	enum calibration_kind kind, enum calibration_library library, bool matrix)
{
	bool has_unit = kind != CALIBRATION_CONV_GROUP && kind != CALIBRATION_MEMORY &&
		kind != CALIBRATION_NORM;
	int count;
	const struct calibration_row *rows = calibration_rows(&count);
	for (int i = 0; i < count; i++)
		if (rows[i].library == library && rows[i].kind == kind &&
			(rows[i].matrix == matrix || !has_unit))
			return &rows[i];
	return NULL;
}

/* Shares of the peaks: the row's, or with new libraries the generation's. */
static double share_bytes(const struct calibration_row *row, const struct peaks *k)
{
	bool is_new = row->library == CALIBRATION_NEW;
	return is_new ? calibration_generation(k->sm)->share_bytes : row->share_bytes;
}

static double share_flops(const struct calibration_row *row, const struct peaks *k)
{
	bool product = row->kind == CALIBRATION_MATMUL && row->matrix;
	return row->library == CALIBRATION_NEW && product ? calibration_generation(k->sm)->share_products :
		row->share_flops;
}

/* The time that the clock makes of a fixed time. */
static double at_clock(double ns, const struct peaks *k)
{
	return ns / k->clock_share * (isnan(k->clock_mhz) ? 1 : CALIBRATION_MHZ / k->clock_mhz);
}

/* The products in each sum of a convolution or matrix product; 0 of another kernel. */
static double sum_length(const struct problem *p)
{
	if (p->kernel == KERNEL_MATMUL)
		return (double)p->mk;
	double length = p->kernel == KERNEL_CONV && p->g > 0 ? (double)(p->c / p->g) : 0;
	for (int i = 3 - p->spatial; p->kernel == KERNEL_CONV && i < 3; i++)
		length *= (double)p->kernel_size[i];
	return length;
}

/* Fills the parts of an estimate at the vendor's peaks. */
static void peak_parts(struct estimate *e, const struct problem *p, const struct peaks *k,
	const struct roof_parts *parts, double reuse_bytes)
{
	const struct peak_level *l2 = k->level_count ? &k->level[k->level_count - 1] : NULL;
	double all = problem_bytes(p), constant = fmin(problem_constant_bytes(p), all);
	double again = l2 && reuse_bytes <= l2->bytes ? 0 : constant, rest = all - again;
	bool held = l2 && rest <= l2->bytes;
	e->peak_ops_ns = parts->ops_ns;
	e->tile_ns = k->multiprocessors && parts->unit.peak > 0 ?
		2 * TILE * sum_length(p) * k->multiprocessors / parts->unit.peak * 1e9 : 0;
	e->memory_ns = (again + (held ? 0 : rest)) / k->bandwidth_bytes_s * 1e9;
	e->cache_ns = held ? rest / l2->bandwidth_bytes_s * 1e9 : 0;
}

struct estimate estimate_of(
	const struct problem *p, const struct peaks *k, const struct scenario *s, double reuse_bytes)
{
	bool own = kernel_row(p->kernel)->estimated_from_own;
	struct roof_parts parts = roofline_parts(p, k, s, CACHE_NET, NULL);
	struct estimate e = { .ns = roofline_ns(p, k, s), .lo = NAN, .hi = NAN, .matrix = s->matrix,
		.relaxed = s->relaxed };
	e.floor_ns = e.ns;
	if (!k->sm || isnan(e.ns))
		return e;
	enum calibration_library library = k->sm < SM_NEW && !s->amortized ? CALIBRATION_OLD :
		CALIBRATION_NEW;
	e.row = row_of(kind_of(p, parts.unit.matrix), library, parts.unit.matrix);
	peak_parts(&e, p, k, &parts, reuse_bytes);
	double share = share_flops(e.row, k), launch = s->amortized ? 0 : e.row->launch_ns;
	e.ops_ns = (e.peak_ops_ns + e.row->tiles * e.tile_ns) / share / k->clock_share;
	e.bytes_ns = e.memory_ns / share_bytes(e.row, k) / k->bandwidth_share +
		e.cache_ns / CALIBRATION_CACHE_SHARE / k->clock_share;
	e.nearest = !own || !e.row->points;
	e.other_launch = s->amortized == (library == CALIBRATION_OLD);
	double spread = (e.other_launch && e.row->points) || !own ? NEAREST_SPREAD : 1;
	e.overhead_ns = at_clock(e.row->fixed_ns, k) + launch;
	e.ns = e.overhead_ns + fmax(e.ops_ns, e.bytes_ns);
	e.lo = e.ns * e.row->low / spread;
	e.hi = e.ns * e.row->high * spread;
	bool fewer = e.row->kind == CALIBRATION_CONV_WINOGRAD;
	double moved = k->level_count ? fmax(e.memory_ns, e.cache_ns) : 0; /* else it may be in a cache */
	double work = fmax(e.peak_ops_ns / (fewer ? WINOGRAD_MOST : 1), moved);
	double fixed = isnan(k->clock_mhz) ? 0 : CALIBRATION_FLOOR * at_clock(e.row->fixed_ns, k);
	e.floor_ns = fmin(e.ns, fixed + launch * e.row->low + work);
	e.lo = fmax(e.lo, e.floor_ns);
	return e;
}

struct estimate estimate_least(
	const struct problem *p, const struct peaks *k, const struct scenario *s, double reuse_bytes)
{
	struct estimate least = { .ns = NAN, .lo = NAN, .hi = NAN, .floor_ns = NAN };
	struct scenario units = *s;
	for (int i = 0; i < 4; i++) {
		units.matrix = i & 1;
		units.relaxed = i & 2;
		if ((units.matrix && !s->matrix) || (units.relaxed && !s->relaxed))
			continue;
		struct estimate one = estimate_of(p, k, &units, reuse_bytes);
		double floor = fmin(one.floor_ns, least.floor_ns); /* fmin ignores a NaN */
		if (isnan(least.ns) || one.ns < least.ns)
			least = one;
		least.floor_ns = floor;
	}
	return least;
}
