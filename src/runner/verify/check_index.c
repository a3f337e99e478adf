/* Indexes of elements for the checks of outputs. */
#include "config.h"

#include "runner/verify/check_private.h"
#include "runner/verify/fill.h"

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
	return (struct check_line){ .begin = index / (step * size) * step * size + index % step,
		.step = step,
		.size = size,
		.place = index / step % size };
}

double check_row_terms(const struct problem *p, int from)
{
	double terms = 2;
	for (int i = from; i < p->shape[0].rank; i++)
		terms *= (double)p->shape[0].dim[i];
	return terms;
}

#define SAMPLE_SEED 500
/* One index from each of `count` equal parts of `total`, random with seed i, as a constant step would
 * select the same few columns of every row. Includes the first and the last, where libraries handle
 * remainders. */
int64_t check_spread(int64_t total, int64_t count, int64_t i)
{
	if (count >= total)
		return i % total;
	double part = (double)total / (double)count;
	int64_t begin = (int64_t)((double)i * part), end = (int64_t)((double)(i + 1) * part);
	if (i == 0 || i == count - 1 || end <= begin)
		return i == 0 ? 0 : i == count - 1 ? total - 1 : begin;
	return begin + (int64_t)fill_value(SAMPLE_SEED, i, FILL_INDEX, end - begin, DTYPE_S64);
}
