#include "config.h"

#include "runner/verify/check_private.h"

/* Coordinates of a row-major index, and the reverse. */
void check_unravel(const struct problem_shape *s, int64_t index, int64_t *at)
{
	for (int i = s->rank - 1; i >= 0; i--) {
		at[i] = index % s->dim[i];
		index /= s->dim[i];
	}
}

int64_t check_ravel(const struct problem_shape *s, const int64_t *at)
{
	int64_t index = 0;
	for (int i = 0; i < s->rank; i++)
		index = index * s->dim[i] + at[i];
	return index;
}

/* Index in a shape of lower or equal rank that is broadcast to coordinates `at`. */
int64_t check_ravel_broadcast(const struct problem_shape *s, const int64_t *at, int rank)
{
	int64_t index = 0;
	for (int i = 0; i < s->rank; i++)
		index = index * s->dim[i] + (s->dim[i] == 1 ? 0 : at[rank - s->rank + i]);
	return index;
}

int64_t check_channel(const struct problem_shape *s, int64_t index, int64_t *inner)
{
	*inner = 1;
	for (int i = 2; i < s->rank; i++)
		*inner *= s->dim[i];
	return index / *inner % s->dim[1];
}

/* Coordinates of a spatial tensor as n, c and d h w; missing spatial dimensions are 0. */
void check_space_unravel(const struct problem_shape *s, int64_t index, int64_t *nc, int64_t *dhw)
{
	int64_t at[PROBLEM_RANK] = { 0 };
	check_unravel(s, index, at);
	nc[0] = at[0];
	nc[1] = at[1];
	for (int i = 0; i < 3; i++)
		dhw[i] = i < 5 - s->rank ? 0 : at[i - 3 + s->rank];
}

int64_t check_extent(const struct problem *p, const int64_t *v, int i)
{
	return i < 3 - p->spatial ? 1 : v[i];
}

int64_t check_space_index(const struct problem *p, int64_t plane, const int64_t *dhw)
{
	for (int i = 0; i < 3; i++)
		plane = plane * check_extent(p, p->in, i) + dhw[i];
	return plane;
}

double check_eltwise(enum mode m, double a, double b, double x)
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

double check_binary(enum mode m, double x, double y)
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

int64_t check_volume(const struct problem_shape *s, int from, int until)
{
	int64_t volume = 1;
	for (int i = from; i < until; i++)
		volume *= s->dim[i];
	return volume;
}

struct check_line check_line_of(const struct problem_shape *s, int axis, int64_t index)
{
	int64_t step = check_volume(s, axis + 1, s->rank), size = s->dim[axis];
	return (struct check_line){ .begin = index / (step * size) * step * size + index % step, .step = step, .size = size,
		.place = index / step % size };
}

static struct check_sum plain_eltwise(const struct problem *p, struct check_inputs *in, int64_t index)
{
	double x = check_source(in, index), value = check_eltwise(p->mode, p->alpha, p->beta, x);
	return (struct check_sum){ value, fabs(value) + fabs(x) };
}

static struct check_sum plain_binary(const struct problem *p, struct check_inputs *in, int64_t index)
{
	struct problem_shape dst = problem_operand_shape(p, 2);
	int64_t at[PROBLEM_RANK];
	check_unravel(&dst, index, at);
	double x = check_source(in, check_ravel_broadcast(&p->shape[0], at, dst.rank));
	double y = check_at(in, CHECK_SOURCE, 1, check_ravel_broadcast(&p->shape[1], at, dst.rank));
	double value = check_binary(p->mode, x, y);
	return (struct check_sum){ value, fabs(value) + fabs(x) + fabs(y) };
}

static struct check_sum plain_copy(const struct problem *p, struct check_inputs *in, int64_t index)
{
	(void)p;
	return check_moved(check_source(in, index));
}

/* A cast to bool gives true for every value but 0. */
static struct check_sum plain_cast(const struct problem *p, struct check_inputs *in, int64_t index)
{
	double x = check_source(in, index);
	return check_moved(p->operand[1].dtype == DTYPE_BOOL ? x != 0 : x);
}

static check_reference *const references[KERNEL_COUNT] = {
	[KERNEL_CONV] = check_conv,
	[KERNEL_MATMUL] = check_matmul,
	[KERNEL_POOL] = check_pool,
	[KERNEL_BATCHNORM] = check_batchnorm,
	[KERNEL_LAYERNORM] = check_layernorm,
	[KERNEL_SOFTMAX] = check_softmax,
	[KERNEL_ELTWISE] = plain_eltwise,
	[KERNEL_BINARY] = plain_binary,
	[KERNEL_REDUCE] = check_reduce,
	[KERNEL_CONCAT] = check_concat,
	[KERNEL_TRANSPOSE] = check_transpose,
	[KERNEL_RESAMPLE] = check_resample,
	[KERNEL_LRN] = check_lrn,
	[KERNEL_CAST] = plain_cast,
	[KERNEL_COPY] = plain_copy,
	[KERNEL_DECONV] = check_deconv,
	[KERNEL_INSTANCENORM] = check_instancenorm,
	[KERNEL_RMSNORM] = check_rmsnorm,
	[KERNEL_ATTENTION] = check_attention,
	[KERNEL_RNN] = check_rnn,
	[KERNEL_GATHER] = check_gather,
	[KERNEL_SELECT] = check_select,
	[KERNEL_TOPK] = check_topk,
	[KERNEL_ARGREDUCE] = check_argreduce,
	[KERNEL_SCAN] = check_scan,
	[KERNEL_QUANTIZE] = check_quantize,
	[KERNEL_DEQUANTIZE] = check_dequantize,
};

#define NEAR 1e-5 /* relative to the sum of terms: typical error of x */

static bool is_line(const struct epilogue *e)
{
	return e->mode == MODE_LINEAR_MAP || e->mode == MODE_HARD_SIGMOID;
}

/* Factor by which a function amplifies an error in x, from its values on both sides of x; at least 1, for
 * its own rounding. */
static double slope(const struct epilogue *e, double x, double scale)
{
	double y = check_eltwise(e->mode, e->alpha, e->beta, x), by = fmax(NEAR * scale, 1e-30), most = 1;
	if (e->mode == MODE_LINEAR_MAP)
		return fabs((double)e->alpha);
	for (int side = -1; side <= 1; side += 2)
		most = fmax(most, fabs(check_eltwise(e->mode, e->alpha, e->beta, x + side * by) - y) / by);
	return isfinite(most) ? most : 1;
}

bool check_output(const struct problem *p, struct check_inputs *in, int64_t index, double *value, double *scale)
{
	if (!references[p->kernel])
		return false;
	struct check_sum s = references[p->kernel](p, in, index);
	struct problem_shape dst = problem_operand_shape(p, problem_operand_count(p) - 1);
	int64_t inner;
	for (int i = 0; i < p->epilogue_count; i++) {
		const struct epilogue *e = &p->epilogue[i];
		if (e->kind == EPILOGUE_ELTWISE) {
			double y = check_eltwise(e->mode, e->alpha, e->beta, s.value); /* rounded as well */
			s.scale = s.scale * slope(e, s.value, s.scale) + fmax(fabs(y), fabs((double)e->beta) * is_line(e));
			s.value = y;
			continue;
		}
		int64_t at = e->kind == EPILOGUE_BINARY ? index :
			p->kernel == KERNEL_MATMUL ? index % p->mn : check_channel(&dst, index, &inner);
		double y = check_at(in, CHECK_EPILOGUE, i, at);
		enum mode mode = e->kind == EPILOGUE_BIAS ? MODE_ADD : e->kind == EPILOGUE_SCALE ? MODE_MUL : e->mode;
		s.value = check_binary(mode, s.value, y);
		s.scale = mode == MODE_MUL ? s.scale * fabs(y) : mode == MODE_DIV ? s.scale / fabs(y) : s.scale + fabs(y);
	}
	*value = s.value;
	*scale = s.scale;
	return true;
}
