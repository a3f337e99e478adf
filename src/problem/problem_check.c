/* What numbers a problem may hold: everything a runner allocates or loops over passes here first. */
#include "config.h"

#include "problem/problem_private.h"

#include <math.h>

static int check_positive(const int64_t *v, int from, int to, const char *what, struct error *err)
{
	for (int i = from; i < to; i++)
		if (v[i] < 1 || v[i] > PROBLEM_NUMBER_MAX)
			return error_set(err, "problem: %s must be 1 or more, not %lld", what, (long long)v[i]);
	return 0;
}

static int check_window(const struct problem *p, struct error *err)
{
	int from = 3 - p->spatial;
	if (p->kernel == KERNEL_RESAMPLE)
		return check_positive(p->out, from, 3, "output size", err);
	if (check_positive(p->kernel_size, from, 3, "kernel size", err) ||
		check_positive(p->stride, from, 3, "stride", err) ||
		check_positive(p->dilation, from, 3, "dilation", err))
		return -1;
	for (int i = from; i < 3; i++) {
		if (p->pad_begin[i] < 0 || p->pad_end[i] < 0 || p->pad_begin[i] > PROBLEM_NUMBER_MAX ||
			p->pad_end[i] > PROBLEM_NUMBER_MAX)
			return error_set(err, "problem: a pad is out of range");
		if (p->kernel_size[i] > (1 << 24) || p->dilation[i] > (1 << 24))
			return error_set(err, "problem: kernel size or dilation is absurd");
		if (problem_out_size(p, i) < 1)
			return error_set(err, "problem: the kernel is larger than the padded input");
	}
	return 0;
}

static int check_space(const struct problem *p, struct error *err)
{
	if (p->spatial < 1 || p->spatial > 3)
		return error_set(err, "problem: %d spatial dimensions", p->spatial);
	int64_t sizes[2] = { p->n, p->c };
	if (check_positive(sizes, 0, 2, "batch and channels", err) ||
		check_positive(p->in, 3 - p->spatial, 3, "input size", err) || check_window(p, err))
		return -1;
	if (p->kernel != KERNEL_CONV)
		return 0;
	int64_t channels[2] = { p->k, p->g };
	if (check_positive(channels, 0, 2, "output channels and groups", err))
		return -1;
	return p->c % p->g || p->k % p->g ? error_set(err, "problem: channels are no multiple of the groups") : 0;
}

static int check_shape(const struct problem_shape *s, struct error *err)
{
	if (s->rank < 0 || s->rank > PROBLEM_RANK)
		return error_set(err, "problem: a shape of rank %d", s->rank);
	return check_positive(s->dim, 0, s->rank, "a dimension", err);
}

static int check_matmul(const struct problem *p, struct error *err)
{
	int64_t sizes[3] = { p->m, p->mn, p->mk };
	const struct problem_shape *a = &p->batch_a, *b = &p->batch_b;
	if (check_positive(sizes, 0, 3, "m, n and k", err) || check_shape(a, err) || check_shape(b, err))
		return -1;
	if (a->rank != b->rank || a->rank < 1 || a->rank > PROBLEM_RANK - 2)
		return error_set(err, "problem: batch dimensions of ranks %d and %d", a->rank, b->rank);
	for (int i = 0; i < a->rank; i++)
		if (a->dim[i] != b->dim[i] && a->dim[i] != 1 && b->dim[i] != 1)
			return error_set(err, "problem: batch dimensions do not broadcast");
	return 0;
}

static int check_binary(const struct problem *p, struct error *err)
{
	const struct problem_shape *a = &p->shape[0], *b = &p->shape[1];
	for (int i = 1; i <= a->rank && i <= b->rank; i++) {
		int64_t x = a->dim[a->rank - i], y = b->dim[b->rank - i];
		if (x != y && x != 1 && y != 1)
			return error_set(err, "problem: the shapes do not broadcast");
	}
	return 0;
}

static int check_reduce(const struct problem *p, struct error *err)
{
	const struct problem_shape *a = &p->shape[0], *b = &p->shape[1];
	if (a->rank != b->rank)
		return error_set(err, "problem: source and destination of a reduction need one rank");
	for (int i = 0; i < a->rank; i++)
		if (b->dim[i] != a->dim[i] && b->dim[i] != 1)
			return error_set(err, "problem: a reduced dimension must become 1");
	return 0;
}

static int check_concat(const struct problem *p, struct error *err)
{
	for (int i = 1; i < p->shape_count; i++) {
		if (p->shape[i].rank != p->shape[0].rank)
			return error_set(err, "problem: concatenated shapes need one rank");
		for (int j = 0; j < p->shape[0].rank; j++)
			if (j != p->axis && p->shape[i].dim[j] != p->shape[0].dim[j])
				return error_set(err, "problem: concatenated shapes differ off the axis");
	}
	return 0;
}

static int check_perm(const struct problem *p, struct error *err)
{
	bool seen[PROBLEM_RANK] = { false };
	for (int i = 0; i < p->shape[0].rank; i++) {
		int at = p->perm[i];
		if (at < 0 || at >= p->shape[0].rank || seen[at])
			return error_set(err, "problem: not a permutation");
		seen[at] = true;
	}
	return 0;
}

static int check_shapes(const struct problem *p, struct error *err)
{
	int least = p->kernel == KERNEL_BINARY || p->kernel == KERNEL_REDUCE ? 2 : 1;
	if (p->shape_count < least || p->shape_count > PROBLEM_SHAPES)
		return error_set(err, "problem: %d shapes", p->shape_count);
	for (int i = 0; i < p->shape_count; i++)
		if (check_shape(&p->shape[i], err))
			return -1;
	bool has_axis = p->kernel == KERNEL_SOFTMAX || p->kernel == KERNEL_CONCAT || p->kernel == KERNEL_LAYERNORM;
	if (has_axis && (p->axis < 0 || p->axis >= p->shape[0].rank))
		return error_set(err, "problem: axis %d of a tensor of rank %d", p->axis, p->shape[0].rank);
	if ((p->kernel == KERNEL_BATCHNORM || p->kernel == KERNEL_LRN) && p->shape[0].rank < 2)
		return error_set(err, "problem: no channel dimension");
	if (p->kernel == KERNEL_LRN && (p->size < 1 || p->size > PROBLEM_NUMBER_MAX))
		return error_set(err, "problem: window %lld", (long long)p->size);
	return p->kernel == KERNEL_BINARY ? check_binary(p, err) :
		p->kernel == KERNEL_REDUCE ? check_reduce(p, err) :
		p->kernel == KERNEL_CONCAT ? check_concat(p, err) :
		p->kernel == KERNEL_TRANSPOSE ? check_perm(p, err) : 0;
}

/* No operand may be so large that bytes overflow, nor NaN appear. */
static int check_volume(const struct problem *p, struct error *err)
{
	double bytes = problem_bytes(p);
	if (!(bytes < 1e15))
		return error_set(err, "problem: more than 1e15 bytes, or a type without a size");
	return 0;
}

int problem_check(const struct problem *p, struct error *err)
{
	if ((unsigned)p->kernel >= KERNEL_COUNT || (unsigned)p->mode >= MODE_COUNT)
		return error_set(err, "problem: no such kernel or mode");
	if (kernel_has_mode(p->kernel) && mode_parse(p->kernel, text_of(mode_name(p->mode))) != p->mode)
		return error_set(err, "problem: %s has no mode %s", kernel_name(p->kernel), mode_name(p->mode));
	if (kernel_has_accumulator(p->kernel) && p->accumulator == DTYPE_UNKNOWN)
		return error_set(err, "problem: no accumulator type");
	for (int i = 0; i < problem_operand_count(p); i++)
		if (p->operand[i].dtype == DTYPE_UNKNOWN)
			return error_set(err, "problem: operand %d has no type", i);
	if (p->epilogue_count < 0 || p->epilogue_count > PROBLEM_EPILOGUES)
		return error_set(err, "problem: %d epilogues, at most %d", p->epilogue_count, PROBLEM_EPILOGUES);
	if (!isfinite(p->alpha) || !isfinite(p->beta))
		return error_set(err, "problem: a parameter is not finite");
	int bad = p->kernel == KERNEL_CONV || p->kernel == KERNEL_POOL || p->kernel == KERNEL_RESAMPLE ?
			check_space(p, err) :
		p->kernel == KERNEL_MATMUL ? check_matmul(p, err) :
		p->kernel == KERNEL_COPY ? check_positive(&p->size, 0, 1, "bytes", err) : check_shapes(p, err);
	return bad ? -1 : check_volume(p, err);
}
