/* References of pointwise kernels, and which outputs of a large problem are checked: some, spread evenly. */
#include "config.h"

#include "runner/verify/check_private.h"
#include "runner/verify/fill.h"

/* Coordinate of an element along one dimension. */
static int64_t check_along(const struct problem_shape *s, int axis, int64_t index)
{
	return index / check_volume(s, axis + 1, s->rank) % s->dim[axis];
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

/* Sum of the absolute values of the terms by which libraries compute y = f(x). ELU near 0 is the small
 * difference of exp(x) and 1, with the rounding errors of both; of other functions it is the value. */
static double eltwise_terms(enum mode m, double a, double x, double y)
{
	return m == MODE_ELU && x < 0 ? fabs(a) * (exp(x) + 1) : fabs(y);
}

static struct check_sum plain_eltwise(const struct problem *p, struct check_inputs *in, int64_t index)
{
	double x = check_source(in, index), value = check_eltwise(p->mode, p->alpha, p->beta, x);
	return (struct check_sum){ value, eltwise_terms(p->mode, p->alpha, x, value) + fabs(x) };
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

/* Conversions to integers: ONNX truncates, libraries round. */
static bool cast_accepts(const struct problem *p, struct check_inputs *in, int64_t index, double got,
	double slack, bool *known)
{
	(void)slack;
	if (dtype_is_float(p->operand[1].dtype))
		return *known = false;
	double x = check_source(in, index);
	if (p->operand[1].dtype == DTYPE_BOOL)
		return got == (x != 0);
	return got == trunc(x) || got == nearbyint(x);
}

static bool dropout_accepts(const struct problem *p, struct check_inputs *in, int64_t index, double got,
	double slack, bool *known)
{
	(void)known;
	double want = check_source(in, index) / (1 - p->alpha);
	return got == 0 || fabs(got - want) <= slack * fabs(want);
}

static const struct check_row plain_rows[] = {
	{ .kernel = KERNEL_ELTWISE, .reference = plain_eltwise },
	{ .kernel = KERNEL_BINARY, .reference = plain_binary },
	{ .kernel = KERNEL_COPY, .reference = plain_copy },
	{ .kernel = KERNEL_CAST, .reference = plain_cast, .accepts = cast_accepts },
	{ .kernel = KERNEL_DROPOUT, .accepts = dropout_accepts },
};
const struct check_rows check_plain_rows = CHECK_ROWS(plain_rows);

static const struct check_rows *const all_rows[] = { &check_space_rows, &check_norm_rows, &check_plain_rows,
	&check_move_rows, &check_sequence_rows, &check_integers_rows };

/* NULL: outputs of this kernel are not verified. */
static const struct check_row *row_of(enum kernel k)
{
	for (size_t i = 0; i < sizeof(all_rows) / sizeof(all_rows[0]); i++)
		for (int j = 0; j < all_rows[i]->count; j++)
			if (all_rows[i]->rows[j].kernel == k)
				return &all_rows[i]->rows[j];
	return NULL;
}

double check_terms(const struct problem *p, double outputs)
{
	const struct check_row *row = row_of(p->kernel);
	return row && row->terms ? row->terms(p, outputs) : fmax(problem_flops(p) / 2 / outputs, 1);
}

int64_t check_sample(const struct problem *p, int64_t total, int64_t count, int64_t i)
{
	const struct check_row *row = row_of(p->kernel);
	return row && row->sample ? row->sample(p, total, count, i) : check_spread(total, count, i);
}

bool check_accepts(const struct problem *p, struct check_inputs *in, int64_t index, double got, double slack,
	bool *known)
{
	const struct check_row *row = row_of(p->kernel);
	*known = row && row->accepts;
	return *known && row->accepts(p, in, index, got, slack, known);
}

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

bool check_output(
	const struct problem *p, struct check_inputs *in, int64_t index, double *value, double *scale)
{
	const struct check_row *row = row_of(p->kernel);
	if (!row || !row->reference)
		return false;
	struct check_sum s = row->reference(p, in, index);
	struct problem_shape dst = problem_operand_shape(p, problem_operand_count(p) - 1);
	for (int i = 0; i < p->epilogue_count; i++) {
		const struct epilogue *e = &p->epilogue[i];
		if (e->kind == EPILOGUE_ELTWISE) {
			double y = check_eltwise(e->mode, e->alpha, e->beta, s.value); /* rounded as well */
			s.scale = s.scale * slope(e, s.value, s.scale) +
				fmax(eltwise_terms(e->mode, e->alpha, s.value, y),
					fabs((double)e->beta) * is_line(e));
			s.value = y;
			continue;
		}
		int64_t at = e->kind == EPILOGUE_BINARY ? index :
			check_along(&dst, problem_channel_axis(p), index);
		double y = check_at(in, CHECK_EPILOGUE, i, at);
		enum mode mode = e->kind == EPILOGUE_BIAS ? MODE_ADD
			: e->kind == EPILOGUE_SCALE	  ? MODE_MUL
							  : e->mode;
		s.value = check_binary(mode, s.value, y);
		s.scale = mode == MODE_MUL ? s.scale * fabs(y)
			: mode == MODE_DIV ? s.scale / fabs(y)
					   : s.scale + fabs(y);
	}
	*value = s.value;
	*scale = s.scale;
	return true;
}
