/* Range checks of a problem: they guarantee that everything a runner allocates or loops over is bounded. */
#include "config.h"

#include "problem/problem_private.h"

#include <math.h>

int problem_check_positive(const int64_t *v, int from, int to, const char *what, struct error *err)
{
	for (int i = from; i < to; i++)
		if (v[i] < 1 || v[i] > PROBLEM_NUMBER_MAX)
			return error_set(err, "problem: %s must be 1 or more, not %lld", what,
				(long long)v[i]);
	return 0;
}

int problem_check_shape(const struct problem_shape *s, struct error *err)
{
	if (s->rank < 0 || s->rank > PROBLEM_RANK)
		return error_set(err, "problem: a shape of rank %d", s->rank);
	return problem_check_positive(s->dim, 0, s->rank, "a dimension", err);
}

int problem_check_axis(const struct problem *p, struct error *err)
{
	if (p->axis < 0 || p->axis >= p->shape[0].rank)
		return error_set(err, "problem: axis %d of a tensor of rank %d", p->axis, p->shape[0].rank);
	return 0;
}

static int check_shapes(const struct problem *p, const struct kernel_row *row, struct error *err)
{
	if (p->shape_count < row->shapes || p->shape_count > PROBLEM_SHAPES)
		return error_set(err, "problem: %d shapes", p->shape_count);
	for (int i = 0; i < p->shape_count; i++)
		if (problem_check_shape(&p->shape[i], err))
			return -1;
	if (row->axis && problem_check_axis(p, err))
		return -1;
	if (row->channels && p->shape[0].rank < 2)
		return error_set(err, "problem: no channel dimension");
	return 0;
}

/* Checks the numbers after operands and mode. */
static int check_numbers(const struct problem *p, const struct kernel_row *row, struct error *err)
{
	if (row->shapes && check_shapes(p, row, err))
		return -1;
	return row->check ? row->check(p, err) : 0;
}

/* Limits the size of operands, so that byte counts neither overflow nor become NaN. */
static int check_volume(const struct problem *p, struct error *err)
{
	double bytes = problem_bytes(p);
	if (!(bytes < 1e15))
		return error_set(err, "problem: more than 1e15 bytes, or a type without a size");
	return 0;
}

/* True if a scale epilogue may follow: sums that become values of another type than theirs, or sums of 8-bit
 * floats, whose weights may have a scale per channel. */
static bool takes_scale(const struct problem *p, const struct kernel_row *row)
{
	if (!row->output_channels)
		return false;
	if (p->accumulator == DTYPE_S32)
		return p->operand[row->operands - 1].dtype != DTYPE_S32;
	return p->accumulator == DTYPE_F32 && dtype_is_float8(p->operand[0].dtype) &&
		dtype_is_float8(p->operand[1].dtype);
}

/* A scale epilogue has one f32 factor per channel, before all other epilogues. */
static int check_epilogues(const struct problem *p, const struct kernel_row *row, struct error *err)
{
	if (p->epilogue_count < 0 || p->epilogue_count > PROBLEM_EPILOGUES)
		return error_set(err, "problem: %d epilogues, at most %d", p->epilogue_count,
			PROBLEM_EPILOGUES);
	for (int i = 0; i < p->epilogue_count; i++) {
		if (!isfinite(p->epilogue[i].alpha) || !isfinite(p->epilogue[i].beta))
			return error_set(err, "problem: a parameter of epilogue %d is not finite", i);
		if (p->epilogue[i].kind != EPILOGUE_SCALE)
			continue;
		if (i > 0)
			return error_set(err, "problem: scale must be the first epilogue");
		if (!takes_scale(p, row))
			return error_set(err, "problem: scale needs s32 sums and a destination that is not "
				"s32, or sources of 8-bit floats");
		if (p->epilogue[i].operand.dtype != DTYPE_F32)
			return error_set(err, "problem: scale must have type f32, not %s",
				dtype_name(p->epilogue[i].operand.dtype));
	}
	return 0;
}

int problem_check(const struct problem *p, struct error *err)
{
	if ((unsigned)p->kernel >= KERNEL_COUNT || (unsigned)p->mode >= MODE_COUNT)
		return error_set(err, "problem: no such kernel or mode");
	const struct kernel_row *row = kernel_row(p->kernel);
	if (row->mode && mode_parse(p->kernel, text_of(mode_name(p->mode))) != p->mode)
		return error_set(
			err, "problem: %s has no mode %s", kernel_name(p->kernel), mode_name(p->mode));
	if (row->accumulator && p->accumulator == DTYPE_UNKNOWN)
		return error_set(err, "problem: no accumulator type");
	for (int i = 0; i < row->operands; i++)
		if (p->operand[i].dtype == DTYPE_UNKNOWN)
			return error_set(err, "problem: operand %d has no type", i);
	if (check_epilogues(p, row, err))
		return -1;
	if (!isfinite(p->alpha) || !isfinite(p->beta))
		return error_set(err, "problem: a parameter is not finite");
	return check_numbers(p, row, err) ? -1 : check_volume(p, err);
}
