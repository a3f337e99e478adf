#include "config.h"

#include "analyze/calibration.h"

#include <math.h>
#include <string.h>

#include "analyze/analyze_private.h"

#define FEW_CHANNELS 8
#define NEAREST_SPREAD 1.5 /* how much wider the spread for another kind is: tools/make_calibration.py */
#define SM_NEW 75          /* first compute capability of the devices whose profiles are by TensorRT */

const struct calibration_row *calibration_rows(int *count)
{
	static const struct calibration_row rows[] = {
#include "analyze/calibration_table.h"
	};
	*count = sizeof(rows) / sizeof(rows[0]);
	return rows;
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
	return l == CALIBRATION_OLD ? "cuDNN 7.6" : "TensorRT 8";
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
static const struct calibration_row *row_of(enum calibration_kind kind, int sm, bool matrix)
{
	bool has_unit = kind != CALIBRATION_CONV_GROUP && kind != CALIBRATION_MEMORY &&
		kind != CALIBRATION_NORM;
	enum calibration_library library = sm < SM_NEW ? CALIBRATION_OLD : CALIBRATION_NEW;
	int count;
	const struct calibration_row *rows = calibration_rows(&count);
	for (int i = 0; i < count; i++)
		if (rows[i].library == library && rows[i].kind == kind &&
			(rows[i].matrix == matrix || !has_unit))
			return &rows[i];
	return NULL;
}

/* Time of the bytes. Those that fused operations add are moved like those of memory-bound kernels if these
 * reach more, so that a fused kernel never takes longer than its parts. */
static double bytes_ns(const struct problem *p, const struct peaks *k, const struct scenario *s,
	const struct calibration_row *row, double all_ns)
{
	const struct calibration_row *memory = row_of(CALIBRATION_MEMORY, k->sm, false);
	struct problem bare;
	problem_copy(&bare, p);
	bare.epilogue_count = 0;
	double own = fmin(all_ns, roofline_parts(&bare, k, s, CACHE_NET, NULL).bytes_ns);
	return own / row->share_bytes + (all_ns - own) / fmax(row->share_bytes, memory->share_bytes);
}

struct estimate estimate_of(const struct problem *p, const struct peaks *k, const struct scenario *s)
{
	bool own = kernel_row(p->kernel)->estimated_from_own;
	struct roof_parts parts = roofline_parts(p, k, s, CACHE_NET, NULL);
	struct estimate e = { .ns = roofline_ns(p, k, s), .lo = NAN, .hi = NAN, .matrix = s->matrix,
		.relaxed = s->relaxed };
	if (!k->sm || isnan(e.ns))
		return e;
	e.row = row_of(kind_of(p, parts.unit.matrix), k->sm, parts.unit.matrix);
	double ops = parts.ops_ns / e.row->share_flops / k->clock_share,
		bytes = bytes_ns(p, k, s, e.row, parts.bytes_ns) / k->bandwidth_share,
		spread = own ? 1 : NEAREST_SPREAD;
	e.nearest = !own || !e.row->points;
	e.other_launch = s->amortized == (e.row->library == CALIBRATION_OLD);
	spread = e.other_launch && e.row->points ? NEAREST_SPREAD : spread;
	e.overhead_ns = e.row->fixed_ns / k->clock_share + (s->amortized ? 0 : e.row->launch_ns);
	e.ns = e.overhead_ns + fmax(ops, bytes);
	e.lo = e.ns * e.row->low / spread;
	e.hi = e.ns * e.row->high * spread;
	return e;
}
