/* References of convolutions, poolings, resampling and products. */
#include "config.h"

#include "runner/verify/check_private.h"

#define COORDINATE_ROUNDING 0.12 /* 2^-23 of a coordinate, in units of f32's tolerance */
#define TIE 1e-4

/* Source coordinates of tap `tap` of the window; false: in the padding. */
static bool window_tap(const struct problem *p, const int64_t *out, int64_t tap, int64_t *at)
{
	bool inside = true;
	for (int i = 2; i >= 0; i--) {
		int64_t size = check_extent(p, p->kernel_size, i), k = tap % size;
		tap /= size;
		at[i] = i < 3 - p->spatial ? 0 : out[i] * p->stride[i] - p->pad_begin[i] + k * p->dilation[i];
		inside = inside && at[i] >= 0 && at[i] < check_extent(p, p->in, i);
	}
	return inside;
}

static int64_t window_taps(const struct problem *p)
{
	return check_extent(p, p->kernel_size, 0) * check_extent(p, p->kernel_size, 1) *
		check_extent(p, p->kernel_size, 2);
}

static struct check_sum check_conv(const struct problem *p, struct check_inputs *in, int64_t index)
{
	struct problem_shape dst = problem_operand_shape(p, 2);
	int64_t nk[2], out[3], at[3], depth = p->c / p->g, taps = window_taps(p);
	struct check_sum s = { 0 };
	check_space_unravel(&dst, index, nk, out);
	int64_t first = nk[1] / (p->k / p->g) * depth;
	for (int64_t c = 0; c < depth; c++)
		for (int64_t tap = 0; tap < taps; tap++)
			if (window_tap(p, out, tap, at))
				check_add(&s,
					check_source(in, check_space_index(p, nk[0] * p->c + first + c, at)) *
						check_at(in, CHECK_WEIGHTS, 0,
							(nk[1] * depth + c) * taps + tap));
	return s;
}

/* Coordinates of the source element that tap `tap` adds to `out`; false: none. */
static bool spread_tap(const struct problem *p, const int64_t *out, int64_t tap, int64_t *at)
{
	bool hit = true;
	for (int i = 2; i >= 0; i--) {
		int64_t size = check_extent(p, p->kernel_size, i), k = tap % size;
		tap /= size;
		at[i] = 0;
		if (i < 3 - p->spatial)
			continue;
		int64_t from = out[i] + p->pad_begin[i] - k * p->dilation[i];
		at[i] = from / p->stride[i];
		hit = hit && from >= 0 && from % p->stride[i] == 0 && at[i] < p->in[i];
	}
	return hit;
}

/* Deconvolution; weights are c, k/g, taps: source channel c contributes to all output channels of its
 * group. */
static struct check_sum check_deconv(const struct problem *p, struct check_inputs *in, int64_t index)
{
	struct problem_shape dst = problem_operand_shape(p, 2);
	int64_t nk[2], out[3], at[3], depth = p->c / p->g, width = p->k / p->g, taps = window_taps(p);
	struct check_sum s = { 0 };
	check_space_unravel(&dst, index, nk, out);
	int64_t first = nk[1] / width * depth, k = nk[1] % width;
	for (int64_t c = first; c < first + depth; c++)
		for (int64_t tap = 0; tap < taps; tap++)
			if (spread_tap(p, out, tap, at))
				check_add(&s, check_source(in, check_space_index(p, nk[0] * p->c + c, at)) *
					check_at(in, CHECK_WEIGHTS, 0, (c * width + k) * taps + tap));
	return s;
}

static struct check_sum check_pool(const struct problem *p, struct check_inputs *in, int64_t index)
{
	struct problem_shape dst = problem_operand_shape(p, 1);
	int64_t nc[2], out[3], at[3], taps = window_taps(p), inside = 0;
	struct check_sum s = { 0 };
	double most = -INFINITY;
	check_space_unravel(&dst, index, nc, out);
	for (int64_t tap = 0; tap < taps; tap++) {
		if (!window_tap(p, out, tap, at))
			continue;
		double x = check_source(in, check_space_index(p, nc[0] * p->c + nc[1], at));
		check_add(&s, x);
		most = fmax(most, x);
		inside++;
	}
	if (p->mode == MODE_MAX)
		return check_moved(most);
	double by = p->mode == MODE_AVG_INCLUDE ? (double)taps : (double)inside;
	return (struct check_sum){ s.value / by, s.scale / by };
}

/* (q - zero point) * scale, of weights in blocks. */
static double matmul_weight(const struct problem *p, struct check_inputs *in, int64_t batch, int64_t k,
	int64_t column)
{
	double w = check_at(in, CHECK_WEIGHTS, 0, (batch * p->mk + k) * p->mn + column);
	if (!p->size)
		return w;
	int64_t block = (batch * problem_weight_blocks(p) + k / p->size) * p->mn + column;
	return (w - check_at(in, CHECK_SHIFT, 0, block)) * check_at(in, CHECK_SCALE, 0, block);
}

static struct check_sum check_matmul(const struct problem *p, struct check_inputs *in, int64_t index)
{
	struct problem_shape dst = problem_operand_shape(p, 2);
	int64_t at[PROBLEM_RANK];
	struct check_sum s = { 0 };
	check_unravel(&dst, index, at);
	int rank = dst.rank - 2;
	int64_t a = check_ravel_broadcast(&p->batch_a, at, rank) * p->m + at[rank];
	int64_t batch = check_ravel_broadcast(&p->batch_b, at, rank), column = at[rank + 1];
	for (int64_t k = 0; k < p->mk; k++)
		check_add(&s, check_source(in, a * p->mk + k) * matmul_weight(p, in, batch, k, column));
	return s;
}

/* Cubic convolution (Keys, 1981) with a = -0.75, ONNX's default. */
static double cubic_weight(double distance)
{
	double a = -0.75, d = fabs(distance);
	if (d <= 1)
		return ((a + 2) * d - (a + 3)) * d * d + 1;
	return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/* Source coordinate of an output along an axis (half-pixel coordinates). */
static double resample_coordinate(const struct problem *p, int i, int64_t out)
{
	return i < 3 - p->spatial ? 0 : ((double)out + 0.5) * (double)p->in[i] / (double)p->out[i] - 0.5;
}

/* Position and weight of tap `tap` along one axis, for source coordinate x. */
static double resample_tap(enum mode m, double x, int tap, int64_t *at)
{
	double low = floor(x);
	if (m == MODE_NEAREST) {
		*at = (int64_t)ceil(x - 0.5);
		return tap == 0;
	}
	*at = (int64_t)low + tap - (m == MODE_CUBIC);
	if (m == MODE_CUBIC)
		return cubic_weight(x - (double)*at);
	return tap > 1 ? 0 : tap ? x - low : 1 - (x - low);
}

static struct check_sum check_resample(const struct problem *p, struct check_inputs *in, int64_t index)
{
	struct problem_shape dst = problem_operand_shape(p, 1);
	int64_t nc[2], out[3], at[3];
	double x[3];
	struct check_sum s = { 0 };
	check_space_unravel(&dst, index, nc, out);
	for (int i = 0; i < 3; i++)
		x[i] = resample_coordinate(p, i, out[i]);
	/* weights are fractions of coordinates, which libraries round to f32 */
	double rounded = p->operand[0].dtype == DTYPE_F32
		? (fabs(x[0]) + fabs(x[1]) + fabs(x[2])) * COORDINATE_ROUNDING
		: 0;
	for (int corner = 0; corner < 64; corner++) {
		double weight = 1;
		for (int i = 0; i < 3; i++) {
			int64_t last = check_extent(p, p->in, i) - 1;
			if (i < 3 - p->spatial) { /* not a dimension of this problem */
				weight *= (corner >> 2 * i & 3) == 0;
				at[i] = 0;
				continue;
			}
			weight *= resample_tap(p->mode, x[i], corner >> 2 * i & 3, &at[i]);
			at[i] = at[i] < 0 ? 0 : at[i] > last ? last : at[i];
		}
		if (weight == 0)
			continue;
		double from = check_source(in, check_space_index(p, nc[0] * p->c + nc[1], at));
		check_add(&s, weight * from);
		/* weights are differences of numbers near 1: small ones have a large relative error */
		s.scale += p->mode == MODE_NEAREST ? 0 : fabs(from) * (0.125 + rounded);
	}
	return s;
}

bool check_is_nearest(
	const struct problem *p, struct check_inputs *in, int64_t index, double got, double slack)
{
	struct problem_shape dst = problem_operand_shape(p, 1);
	int64_t nc[2], out[3], low[3], high[3];
	check_space_unravel(&dst, index, nc, out);
	for (int i = 0; i < 3; i++) {
		double x = resample_coordinate(p, i, out[i]), last = (double)check_extent(p, p->in, i) - 1;
		low[i] = (int64_t)fmin(fmax(ceil(x - 0.5 - TIE), 0), last);
		high[i] = (int64_t)fmin(fmax(floor(x + 0.5 + TIE), 0), last);
	}
	for (int corner = 0; corner < 8; corner++) {
		const int64_t at[] = { corner & 4 ? high[0] : low[0], corner & 2 ? high[1] : low[1],
			corner & 1 ? high[2] : low[2] };
		double from = check_source(in, check_space_index(p, nc[0] * p->c + nc[1], at));
		if (fabs(got - from) <= slack * fabs(from))
			return true;
	}
	return false;
}

static const struct check_row rows[] = {
	{ .kernel = KERNEL_CONV, .reference = check_conv },
	{ .kernel = KERNEL_DECONV, .reference = check_deconv },
	{ .kernel = KERNEL_POOL, .reference = check_pool },
	{ .kernel = KERNEL_MATMUL, .reference = check_matmul },
	{ .kernel = KERNEL_RESAMPLE, .reference = check_resample },
};
const struct check_rows check_space_rows = CHECK_ROWS(rows);
