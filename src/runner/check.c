#include "config.h"

#include "runner/check.h"

#include <math.h>

struct sum {
	double value, scale;
};

static void sum_add(struct sum *s, double term)
{
	s->value += term;
	s->scale += fabs(term);
}

/* Coordinates of a row-major index, and back. */
static void unravel(const struct problem_shape *s, int64_t index, int64_t *at)
{
	for (int i = s->rank - 1; i >= 0; i--) {
		at[i] = index % s->dim[i];
		index /= s->dim[i];
	}
}

static int64_t ravel(const struct problem_shape *s, const int64_t *at)
{
	int64_t index = 0;
	for (int i = 0; i < s->rank; i++)
		index = index * s->dim[i] + at[i];
	return index;
}

/* The index in a shape of lower or equal rank that broadcasts to where `at` points. */
static int64_t ravel_broadcast(const struct problem_shape *s, const int64_t *at, int rank)
{
	int64_t index = 0;
	for (int i = 0; i < s->rank; i++)
		index = index * s->dim[i] + (s->dim[i] == 1 ? 0 : at[rank - s->rank + i]);
	return index;
}

static double eltwise(enum mode m, double a, double b, double x)
{
	switch (m) {
	case MODE_RELU: return x > 0 ? x : 0;
	case MODE_LEAKY_RELU: return x > 0 ? x : a * x;
	case MODE_CLIP: return fmin(fmax(x, a), b);
	case MODE_SIGMOID: return 1 / (1 + exp(-x));
	case MODE_TANH: return tanh(x);
	case MODE_GELU_ERF: return x / 2 * (1 + erf(x / sqrt(2)));
	case MODE_GELU_TANH: return x / 2 * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
	case MODE_SWISH: return x / (1 + exp(-a * x));
	case MODE_HARD_SIGMOID: return fmin(fmax(a * x + b, 0), 1);
	case MODE_HARD_SWISH: return x * fmin(fmax(x / 6 + 0.5, 0), 1);
	case MODE_ELU: return x > 0 ? x : a * expm1(x);
	case MODE_SOFTPLUS: return log1p(exp(x));
	case MODE_MISH: return x * tanh(log1p(exp(x)));
	case MODE_EXP: return exp(x);
	case MODE_LOG: return log(x);
	case MODE_SQRT: return sqrt(x);
	case MODE_ABS: return fabs(x);
	case MODE_SQUARE: return x * x;
	case MODE_POW: return a * pow(x, b);
	case MODE_ROUND: return nearbyint(x);
	case MODE_LINEAR_MAP: return a * x + b;
	default: return NAN;
	}
}

static double binary(enum mode m, double x, double y)
{
	switch (m) {
	case MODE_ADD: return x + y;
	case MODE_SUB: return x - y;
	case MODE_MUL: return x * y;
	case MODE_DIV: return x / y;
	case MODE_MAXIMUM: return fmax(x, y);
	case MODE_MINIMUM: return fmin(x, y);
	case MODE_GREATER: return x > y;
	case MODE_GREATER_EQ: return x >= y;
	case MODE_LESS: return x < y;
	case MODE_LESS_EQ: return x <= y;
	case MODE_EQUAL: return x == y;
	default: return NAN;
	}
}

/* Coordinates of a spatial tensor as n, c and d h w; missing spatial dimensions are 0. */
static void space_unravel(const struct problem_shape *s, int64_t index, int64_t *nc, int64_t *dhw)
{
	int64_t at[PROBLEM_RANK];
	unravel(s, index, at);
	nc[0] = at[0];
	nc[1] = at[1];
	for (int i = 0; i < 3; i++)
		dhw[i] = i < 5 - s->rank ? 0 : at[i - 3 + s->rank];
}

static int64_t extent(const struct problem *p, const int64_t *v, int i)
{
	return i < 3 - p->spatial ? 1 : v[i];
}

static int64_t space_index(const struct problem *p, int64_t plane, const int64_t *dhw)
{
	for (int i = 0; i < 3; i++)
		plane = plane * extent(p, p->in, i) + dhw[i];
	return plane;
}

/* Where tap number `tap` of the window lies in the source; false: in the padding. */
static bool window_tap(const struct problem *p, const int64_t *out, int64_t tap, int64_t *at)
{
	bool inside = true;
	for (int i = 2; i >= 0; i--) {
		int64_t size = extent(p, p->kernel_size, i), k = tap % size;
		tap /= size;
		at[i] = i < 3 - p->spatial ? 0 : out[i] * p->stride[i] - p->pad_begin[i] + k * p->dilation[i];
		inside = inside && at[i] >= 0 && at[i] < extent(p, p->in, i);
	}
	return inside;
}

static int64_t window_taps(const struct problem *p)
{
	return extent(p, p->kernel_size, 0) * extent(p, p->kernel_size, 1) * extent(p, p->kernel_size, 2);
}

static struct sum conv(const struct problem *p, const struct check_inputs *in, int64_t index)
{
	struct problem_shape dst = problem_operand_shape(p, 2);
	int64_t nk[2], out[3], at[3], depth = p->c / p->g, taps = window_taps(p);
	struct sum s = { 0 };
	space_unravel(&dst, index, nk, out);
	int64_t first = nk[1] / (p->k / p->g) * depth;
	for (int64_t c = 0; c < depth; c++)
		for (int64_t tap = 0; tap < taps; tap++)
			if (window_tap(p, out, tap, at))
				sum_add(&s, (double)in->source[0][space_index(p, nk[0] * p->c + first + c, at)] *
					in->weights[(nk[1] * depth + c) * taps + tap]);
	return s;
}

static struct sum pool(const struct problem *p, const struct check_inputs *in, int64_t index)
{
	struct problem_shape dst = problem_operand_shape(p, 1);
	int64_t nc[2], out[3], at[3], taps = window_taps(p), inside = 0;
	struct sum s = { 0 };
	double most = -INFINITY;
	space_unravel(&dst, index, nc, out);
	for (int64_t tap = 0; tap < taps; tap++) {
		if (!window_tap(p, out, tap, at))
			continue;
		double x = in->source[0][space_index(p, nc[0] * p->c + nc[1], at)];
		sum_add(&s, x);
		most = fmax(most, x);
		inside++;
	}
	if (p->mode == MODE_MAX)
		return (struct sum){ most, fabs(most) };
	double by = p->mode == MODE_AVG_INCLUDE ? (double)taps : (double)inside;
	return (struct sum){ s.value / by, s.scale / by };
}

static struct sum matmul(const struct problem *p, const struct check_inputs *in, int64_t index)
{
	struct problem_shape dst = problem_operand_shape(p, 2);
	int64_t at[PROBLEM_RANK];
	struct sum s = { 0 };
	unravel(&dst, index, at);
	int rank = dst.rank - 2;
	int64_t a = ravel_broadcast(&p->batch_a, at, rank) * p->m + at[rank];
	int64_t b = ravel_broadcast(&p->batch_b, at, rank) * p->mk;
	for (int64_t k = 0; k < p->mk; k++)
		sum_add(&s, (double)in->source[0][a * p->mk + k] * in->weights[(b + k) * p->mn + at[rank + 1]]);
	return s;
}

/* Positions of one line along the dimensions from axis to the last one before `until`. */
static struct sum softmax(const struct problem *p, const float *x, int64_t index)
{
	int64_t inner = 1, size = p->shape[0].dim[p->axis];
	for (int i = p->axis + 1; i < p->shape[0].rank; i++)
		inner *= p->shape[0].dim[i];
	int64_t begin = index / (inner * size) * inner * size + index % inner;
	double most = -INFINITY, total = 0;
	for (int64_t i = 0; i < size; i++)
		most = fmax(most, x[begin + i * inner]);
	for (int64_t i = 0; i < size; i++)
		total += exp(x[begin + i * inner] - most);
	double value = p->mode == MODE_LOGSOFTMAX ? x[index] - most - log(total) : exp(x[index] - most) / total;
	return (struct sum){ value, fabs(value) };
}

static struct sum layernorm(const struct problem *p, const struct check_inputs *in, int64_t index)
{
	int64_t size = 1;
	for (int i = p->axis; i < p->shape[0].rank; i++)
		size *= p->shape[0].dim[i];
	const float *x = in->source[0] + index / size * size;
	double mean = 0, variance = 0;
	for (int64_t i = 0; i < size; i++)
		mean += x[i];
	mean /= (double)size;
	for (int64_t i = 0; i < size; i++)
		variance += (x[i] - mean) * (x[i] - mean);
	variance /= (double)size;
	double at = (x[index % size] - mean) / sqrt(variance + in->epsilon) * in->scale[index % size];
	struct sum s = { 0 };
	sum_add(&s, at);
	sum_add(&s, in->shift[index % size]);
	s.scale += fabs(mean) / sqrt(variance + in->epsilon);
	return s;
}

static int64_t channel_of(const struct problem_shape *s, int64_t index, int64_t *inner)
{
	*inner = 1;
	for (int i = 2; i < s->rank; i++)
		*inner *= s->dim[i];
	return index / *inner % s->dim[1];
}

static struct sum batchnorm(const struct problem *p, const struct check_inputs *in, int64_t index)
{
	int64_t inner, c = channel_of(&p->shape[0], index, &inner);
	double by = in->scale[c] / sqrt(in->variance[c] + in->epsilon);
	struct sum s = { 0 };
	sum_add(&s, in->source[0][index] * by);
	sum_add(&s, -in->mean[c] * by);
	sum_add(&s, in->shift[c]);
	return s;
}

static struct sum lrn(const struct problem *p, const float *x, int64_t index)
{
	int64_t inner, c = channel_of(&p->shape[0], index, &inner), channels = p->shape[0].dim[1];
	double squares = 0;
	for (int64_t i = c - (p->size - 1) / 2; i <= c + p->size / 2; i++)
		if (i >= 0 && i < channels)
			squares += (double)x[index + (i - c) * inner] * x[index + (i - c) * inner];
	double value = x[index] / pow(1 + p->alpha * squares / (double)p->size, p->beta);
	return (struct sum){ value, fabs(value) };
}

static struct sum reduce(const struct problem *p, const float *x, int64_t index)
{
	int64_t at[PROBLEM_RANK], begin[PROBLEM_RANK], count = 1;
	double most = -INFINITY, least = INFINITY, product = 1, squares = 0;
	struct sum s = { 0 };
	unravel(&p->shape[1], index, begin);
	struct problem_shape window = p->shape[0];
	for (int i = 0; i < window.rank; i++) {
		window.dim[i] = p->shape[1].dim[i] == 1 ? p->shape[0].dim[i] : 1;
		count *= window.dim[i];
	}
	for (int64_t i = 0; i < count; i++) {
		unravel(&window, i, at);
		for (int j = 0; j < window.rank; j++)
			at[j] += p->shape[1].dim[j] == 1 ? 0 : begin[j];
		double v = x[ravel(&p->shape[0], at)];
		sum_add(&s, v);
		most = fmax(most, v);
		least = fmin(least, v);
		product *= v;
		squares += v * v;
	}
	switch (p->mode) {
	case MODE_REDUCE_SUM: return s;
	case MODE_REDUCE_MEAN: return (struct sum){ s.value / (double)count, s.scale / (double)count };
	case MODE_REDUCE_MAX: return (struct sum){ most, fabs(most) };
	case MODE_REDUCE_MIN: return (struct sum){ least, fabs(least) };
	case MODE_REDUCE_MUL: return (struct sum){ product, fabs(product) };
	default: return (struct sum){ sqrt(squares), sqrt(squares) };
	}
}

static struct sum concat(const struct problem *p, const struct check_inputs *in, int64_t index)
{
	struct problem_shape dst = problem_operand_shape(p, 1);
	int64_t at[PROBLEM_RANK];
	int i = 0;
	unravel(&dst, index, at);
	for (; at[p->axis] >= p->shape[i].dim[p->axis]; i++)
		at[p->axis] -= p->shape[i].dim[p->axis];
	double x = in->source[i][ravel(&p->shape[i], at)];
	return (struct sum){ x, fabs(x) };
}

static struct sum transpose(const struct problem *p, const float *x, int64_t index)
{
	struct problem_shape dst = problem_operand_shape(p, 1);
	int64_t at[PROBLEM_RANK], from[PROBLEM_RANK];
	unravel(&dst, index, at);
	for (int i = 0; i < dst.rank; i++)
		from[p->perm[i]] = at[i];
	double v = x[ravel(&p->shape[0], from)];
	return (struct sum){ v, fabs(v) };
}

/* Half-pixel coordinates; the nearest one rounds halves down. */
static struct sum resample(const struct problem *p, const float *x, int64_t index)
{
	struct problem_shape dst = problem_operand_shape(p, 1);
	int64_t nc[2], out[3], at[3];
	double low[3];
	struct sum s = { 0 };
	space_unravel(&dst, index, nc, out);
	for (int i = 0; i < 3; i++)
		low[i] = i < 3 - p->spatial ? 0 : ((double)out[i] + 0.5) * (double)p->in[i] / (double)p->out[i] - 0.5;
	for (int corner = 0; corner < 8; corner++) {
		double weight = 1;
		for (int i = 0; i < 3; i++) {
			int64_t up = corner >> i & 1, last = extent(p, p->in, i) - 1;
			double rest = low[i] - floor(low[i]);
			if (p->mode == MODE_NEAREST)
				weight *= up ? 0 : 1;
			else
				weight *= up ? rest : 1 - rest;
			at[i] = p->mode == MODE_NEAREST ? (int64_t)ceil(low[i] - 0.5) : (int64_t)floor(low[i]) + up;
			at[i] = at[i] < 0 ? 0 : at[i] > last ? last : at[i];
		}
		if (weight > 0)
			sum_add(&s, weight * x[space_index(p, nc[0] * p->c + nc[1], at)]);
	}
	return s;
}

static struct sum plain_eltwise(const struct problem *p, double x)
{
	double value = eltwise(p->mode, p->alpha, p->beta, x);
	return (struct sum){ value, fabs(value) + fabs(x) };
}

static struct sum plain_binary(const struct problem *p, const struct check_inputs *in, int64_t index)
{
	struct problem_shape dst = problem_operand_shape(p, 2);
	int64_t at[PROBLEM_RANK];
	unravel(&dst, index, at);
	double x = in->source[0][ravel_broadcast(&p->shape[0], at, dst.rank)];
	double y = in->source[1][ravel_broadcast(&p->shape[1], at, dst.rank)];
	double value = binary(p->mode, x, y);
	return (struct sum){ value, fabs(value) + fabs(x) + fabs(y) };
}

static bool kernel_output(const struct problem *p, const struct check_inputs *in, int64_t index, struct sum *s)
{
	const float *x = in->source[0];
	switch (p->kernel) {
	case KERNEL_CONV: *s = conv(p, in, index); return true;
	case KERNEL_MATMUL: *s = matmul(p, in, index); return true;
	case KERNEL_POOL: *s = pool(p, in, index); return true;
	case KERNEL_BATCHNORM: *s = batchnorm(p, in, index); return true;
	case KERNEL_LAYERNORM: *s = layernorm(p, in, index); return true;
	case KERNEL_SOFTMAX: *s = softmax(p, x, index); return true;
	case KERNEL_ELTWISE: *s = plain_eltwise(p, x[index]); return true;
	case KERNEL_BINARY: *s = plain_binary(p, in, index); return true;
	case KERNEL_REDUCE: *s = reduce(p, x, index); return true;
	case KERNEL_CONCAT: *s = concat(p, in, index); return true;
	case KERNEL_TRANSPOSE: *s = transpose(p, x, index); return true;
	case KERNEL_RESAMPLE: *s = resample(p, x, index); return p->mode != MODE_CUBIC;
	case KERNEL_LRN: *s = lrn(p, x, index); return true;
	case KERNEL_CAST: *s = (struct sum){ x[index], fabs(x[index]) }; return true;
	default: return false;
	}
}

bool check_output(const struct problem *p, const struct check_inputs *in, int64_t index, double *value, double *scale)
{
	struct sum s;
	if (!kernel_output(p, in, index, &s))
		return false;
	struct problem_shape dst = problem_operand_shape(p, problem_operand_count(p) - 1);
	int64_t inner;
	for (int i = 0; i < p->epilogue_count; i++) {
		const struct epilogue *e = &p->epilogue[i];
		if (e->kind == EPILOGUE_ELTWISE) {
			s.value = eltwise(e->mode, e->alpha, e->beta, s.value);
			continue;
		}
		int64_t at = e->kind == EPILOGUE_BINARY ? index :
			p->kernel == KERNEL_MATMUL ? index % p->mn : channel_of(&dst, index, &inner);
		double y = in->epilogue[i][at];
		s.value = e->kind == EPILOGUE_BIAS ? s.value + y : binary(e->mode, s.value, y);
		s.scale = (e->mode == MODE_MUL ? s.scale * fabs(y) : s.scale) + fabs(y);
	}
	*value = s.value;
	*scale = s.scale;
	return true;
}
