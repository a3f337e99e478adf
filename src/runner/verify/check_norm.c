/* References of softmax and normalizations. */
#include "config.h"

#include "runner/verify/check_private.h"

static struct check_sum check_softmax(const struct problem *p, struct check_inputs *in, int64_t index)
{
	struct check_line l = check_line_of(&p->shape[0], p->axis, index);
	double most = -INFINITY, total = 0, x = check_source(in, index);
	for (int64_t i = 0; i < l.size; i++)
		most = fmax(most, check_source(in, l.begin + i * l.step));
	for (int64_t i = 0; i < l.size; i++)
		total += exp(check_source(in, l.begin + i * l.step) - most);
	if (p->mode == MODE_LOGSOFTMAX)
		return check_moved(x - most - log(total));
	/* 8-bit destinations are in units of 1/256, signed ones from -128 on */
	enum dtype to = p->operand[1].dtype;
	double by = to == DTYPE_U8 || to == DTYPE_S8 ? 256 : 1, least = to == DTYPE_S8 ? -128 : 0;
	struct check_sum s = check_moved(exp(x - most) / total * by);
	s.scale *= check_positive_slack(l.size, 65536);
	s.value += least;
	return s;
}

/* Mean and variance of `size` adjacent source elements. */
static void moments(
	const struct check_inputs *in, int64_t begin, int64_t size, double *mean, double *variance)
{
	*mean = *variance = 0;
	for (int64_t i = 0; i < size; i++)
		*mean += check_source(in, begin + i);
	*mean /= (double)size;
	for (int64_t i = 0; i < size; i++) {
		double off = check_source(in, begin + i) - *mean;
		*variance += off * off;
	}
	*variance /= (double)size;
}

/* (x - mean) * by * scale + shift; the error scale includes the cancellation in x - mean. */
static struct check_sum normalized(
	const struct check_inputs *in, double x, double mean, double by, int64_t place)
{
	struct check_sum s = { 0 };
	double scale = check_at(in, CHECK_SCALE, 0, place);
	check_add(&s, (x - mean) * by * scale);
	check_add(&s, check_at(in, CHECK_SHIFT, 0, place));
	s.scale += fabs(mean * by * scale);
	return s;
}

static struct check_sum check_layernorm(const struct problem *p, struct check_inputs *in, int64_t index)
{
	int64_t size = check_volume(&p->shape[0], p->axis, p->shape[0].rank);
	double mean, variance;
	moments(in, index / size * size, size, &mean, &variance);
	return normalized(in, check_source(in, index), mean, 1 / sqrt(variance + in->epsilon), index % size);
}

static struct check_sum check_instancenorm(const struct problem *p, struct check_inputs *in, int64_t index)
{
	int64_t inner, c = check_channel(&p->shape[0], index, &inner);
	double mean, variance;
	moments(in, index / inner * inner, inner, &mean, &variance);
	return normalized(in, check_source(in, index), mean, 1 / sqrt(variance + in->epsilon), c);
}

static struct check_sum check_groupnorm(const struct problem *p, struct check_inputs *in, int64_t index)
{
	int64_t inner, c = check_channel(&p->shape[0], index, &inner),
		       size = p->shape[0].dim[1] / p->g * inner;
	double mean, variance;
	moments(in, index / size * size, size, &mean, &variance);
	return normalized(in, check_source(in, index), mean, 1 / sqrt(variance + in->epsilon), c);
}

static struct check_sum check_rmsnorm(const struct problem *p, struct check_inputs *in, int64_t index)
{
	int64_t size = check_volume(&p->shape[0], p->axis, p->shape[0].rank), begin = index / size * size;
	double squares = 0;
	for (int64_t i = 0; i < size; i++) {
		double x = check_source(in, begin + i);
		squares += x * x;
	}
	double by = 1 / sqrt(squares / (double)size + in->epsilon);
	return check_moved(check_source(in, index) * by * check_at(in, CHECK_SCALE, 0, index % size));
}

static struct check_sum check_batchnorm(const struct problem *p, struct check_inputs *in, int64_t index)
{
	int64_t inner, c = check_channel(&p->shape[0], index, &inner);
	double by = check_at(in, CHECK_SCALE, 0, c) / sqrt(check_at(in, CHECK_VARIANCE, 0, c) + in->epsilon);
	struct check_sum s = { 0 };
	check_add(&s, check_source(in, index) * by);
	check_add(&s, -check_at(in, CHECK_MEAN, 0, c) * by);
	check_add(&s, check_at(in, CHECK_SHIFT, 0, c));
	return s;
}

static struct check_sum check_lrn(const struct problem *p, struct check_inputs *in, int64_t index)
{
	int64_t inner, c = check_channel(&p->shape[0], index, &inner), channels = p->shape[0].dim[1];
	double squares = 0;
	for (int64_t i = c - (p->size - 1) / 2; i <= c + p->size / 2; i++) {
		double x = i >= 0 && i < channels ? check_source(in, index + (i - c) * inner) : 0;
		squares += x * x;
	}
	return check_moved(check_source(in, index) / pow(1 + p->alpha * squares / (double)p->size, p->beta));
}

struct reduction {
	double most, least, product, squares;
	struct check_sum sum;
};

static void reduction_add(struct reduction *r, double v)
{
	check_add(&r->sum, v);
	r->most = fmax(r->most, v);
	r->least = fmin(r->least, v);
	r->product *= v;
	r->squares += v * v;
}

static struct check_sum check_reduce(const struct problem *p, struct check_inputs *in, int64_t index)
{
	struct reduction r = { .most = -INFINITY, .least = INFINITY, .product = 1 };
	struct problem_shape window = p->shape[0];
	int64_t at[PROBLEM_RANK], begin[PROBLEM_RANK];
	check_unravel(&p->shape[1], index, begin);
	for (int i = 0; i < window.rank; i++)
		window.dim[i] = p->shape[1].dim[i] == 1 ? p->shape[0].dim[i] : 1;
	int64_t count = check_volume(&window, 0, window.rank);
	for (int64_t i = 0; i < count; i++) {
		check_unravel(&window, i, at);
		for (int j = 0; j < window.rank; j++)
			at[j] += p->shape[1].dim[j] == 1 ? 0 : begin[j];
		reduction_add(&r, check_source(in, check_ravel(&p->shape[0], at)));
	}
	switch (p->mode) {
	case MODE_REDUCE_SUM: return r.sum;
	case MODE_REDUCE_MEAN:
		return (struct check_sum){ r.sum.value / (double)count, r.sum.scale / (double)count };
	case MODE_REDUCE_MAX: return check_moved(r.most);
	case MODE_REDUCE_MIN: return check_moved(r.least);
	case MODE_REDUCE_MUL: return check_moved(r.product);
	default:
		r.sum = check_moved(sqrt(r.squares));
		r.sum.scale *= check_positive_slack(count, 4096);
		return r.sum;
	}
}

static double line_terms(const struct problem *p, double outputs)
{
	(void)outputs;
	return 2 * (double)p->shape[0].dim[p->axis];
}

static double from_axis_terms(const struct problem *p, double outputs)
{
	(void)outputs;
	return check_row_terms(p, p->axis);
}

static double space_terms(const struct problem *p, double outputs)
{
	(void)outputs;
	return check_row_terms(p, 2);
}

static double group_terms(const struct problem *p, double outputs)
{
	(void)outputs;
	return check_row_terms(p, 1) / (double)p->g;
}

static double reduce_terms(const struct problem *p, double outputs)
{
	return check_row_terms(p, 0) / 2 / outputs;
}

static const struct check_row rows[] = {
	{ .kernel = KERNEL_SOFTMAX, .reference = check_softmax, .terms = line_terms },
	{ .kernel = KERNEL_LAYERNORM, .reference = check_layernorm, .terms = from_axis_terms },
	{ .kernel = KERNEL_INSTANCENORM, .reference = check_instancenorm, .terms = space_terms },
	{ .kernel = KERNEL_GROUPNORM, .reference = check_groupnorm, .terms = group_terms },
	{ .kernel = KERNEL_RMSNORM, .reference = check_rmsnorm, .terms = from_axis_terms },
	{ .kernel = KERNEL_BATCHNORM, .reference = check_batchnorm },
	{ .kernel = KERNEL_LRN, .reference = check_lrn },
	{ .kernel = KERNEL_REDUCE, .reference = check_reduce, .terms = reduce_terms },
};
const struct check_rows check_norm_rows = CHECK_ROWS(rows);
