/* References of data movement and of indexes. */
#include "config.h"

#include <stdlib.h>

#include "runner/verify/check_private.h"

static struct check_sum check_concat(const struct problem *p, struct check_inputs *in, int64_t index)
{
	struct problem_shape dst = problem_operand_shape(p, 1);
	int64_t at[PROBLEM_RANK];
	int i = 0;
	check_unravel(&dst, index, at);
	for (; at[p->axis] >= p->shape[i].dim[p->axis]; i++)
		at[p->axis] -= p->shape[i].dim[p->axis];
	return check_moved(check_at(in, CHECK_SOURCE, i, check_ravel(&p->shape[i], at)));
}

static struct check_sum check_transpose(const struct problem *p, struct check_inputs *in, int64_t index)
{
	struct problem_shape dst = problem_operand_shape(p, 1);
	int64_t at[PROBLEM_RANK], from[PROBLEM_RANK];
	check_unravel(&dst, index, at);
	for (int i = 0; i < dst.rank; i++)
		from[p->perm[i]] = at[i];
	return check_moved(check_source(in, check_ravel(&p->shape[0], from)));
}

/* ONNX Gather: dimension `axis` of the source is replaced by those of the indices; negative indices count
 * from the end. */
static struct check_sum check_gather(const struct problem *p, struct check_inputs *in, int64_t index)
{
	int64_t inner = check_volume(&p->shape[0], p->axis + 1, p->shape[0].rank),
		size = p->shape[0].dim[p->axis];
	int64_t count = check_volume(&p->shape[1], 0, p->shape[1].rank);
	int64_t outer = index / inner / count,
		place = (int64_t)check_at(in, CHECK_SOURCE, 1, index / inner % count);
	place += place < 0 ? size : 0;
	if (place < 0 || place >= size)
		return (struct check_sum){ NAN, NAN };
	return check_moved(check_source(in, (outer * size + place) * inner + index % inner));
}

static struct check_sum check_select(const struct problem *p, struct check_inputs *in, int64_t index)
{
	struct problem_shape dst = problem_operand_shape(p, 3);
	int64_t at[PROBLEM_RANK];
	check_unravel(&dst, index, at);
	bool first = check_source(in, check_ravel_broadcast(&p->shape[0], at, dst.rank)) != 0;
	int from = first ? 1 : 2;
	return check_moved(
		check_at(in, CHECK_SOURCE, from, check_ravel_broadcast(&p->shape[from], at, dst.rank)));
}

static int compare_down(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x < y) - (x > y);
}

/* Line of the source from which output `index` of an argreduce or topk is taken. */
static struct check_line source_line(const struct problem *p, int64_t index)
{
	struct problem_shape dst = problem_operand_shape(p, 1);
	int64_t inner = check_volume(&p->shape[0], p->axis + 1, p->shape[0].rank),
		size = p->shape[0].dim[p->axis];
	int64_t kept = p->kernel == KERNEL_TOPK ? dst.dim[p->axis] : 1;
	return check_line_of(&p->shape[0], p->axis, index / inner / kept * size * inner + index % inner);
}

static struct check_sum check_topk(const struct problem *p, struct check_inputs *in, int64_t index)
{
	struct problem_shape dst = problem_operand_shape(p, 1);
	int64_t place = check_line_of(&dst, p->axis, index).place;
	struct check_line l = source_line(p, index);
	double *v = base_malloc((size_t)l.size * sizeof(*v));
	for (int64_t i = 0; i < l.size; i++)
		v[i] = check_source(in, l.begin + i * l.step);
	qsort(v, (size_t)l.size, sizeof(*v), compare_down);
	double value = v[p->mode == MODE_SMALLEST ? l.size - 1 - place : place];
	free(v);
	return check_moved(value);
}

static struct check_sum check_argreduce(const struct problem *p, struct check_inputs *in, int64_t index)
{
	struct check_line l = source_line(p, index);
	double best = check_source(in, l.begin);
	int64_t place = 0;
	for (int64_t i = 1; i < l.size; i++) {
		double x = check_source(in, l.begin + i * l.step);
		if (p->mode == MODE_ARGMIN ? x < best : x > best) {
			best = x;
			place = i;
		}
	}
	return check_moved((double)place);
}

static struct check_sum check_scan(const struct problem *p, struct check_inputs *in, int64_t index)
{
	struct check_line l = check_line_of(&p->shape[0], p->axis, index);
	struct check_sum s = { 0 };
	for (int64_t i = 0; i <= l.place; i++)
		check_add(&s, check_source(in, l.begin + i * l.step));
	return s;
}

/* True if the source's value at position `got` of its line equals `want`. */
static bool accepts_place(
	const struct problem *p, struct check_inputs *in, int64_t index, double got, double want)
{
	struct check_line l = source_line(p, index);
	if (!(got >= 0 && got < (double)l.size) || got != floor(got))
		return false;
	return check_source(in, l.begin + (int64_t)got * l.step) == want;
}

static bool topk_accepts(const struct problem *p, struct check_inputs *in, int64_t index, double got,
	double slack, bool *known)
{
	(void)slack;
	(void)known;
	return accepts_place(p, in, index, got, check_topk(p, in, index).value);
}

static bool argreduce_accepts(const struct problem *p, struct check_inputs *in, int64_t index, double got,
	double slack, bool *known)
{
	(void)slack;
	(void)known;
	struct check_line l = source_line(p, index);
	int64_t place = (int64_t)check_argreduce(p, in, index).value;
	return accepts_place(p, in, index, got, check_source(in, l.begin + place * l.step));
}

static double line_terms(const struct problem *p, double outputs)
{
	(void)outputs;
	return 2 * (double)p->shape[0].dim[p->axis];
}

static const struct check_row rows[] = {
	{ .kernel = KERNEL_CONCAT, .reference = check_concat },
	{ .kernel = KERNEL_TRANSPOSE, .reference = check_transpose },
	{ .kernel = KERNEL_GATHER, .reference = check_gather },
	{ .kernel = KERNEL_SELECT, .reference = check_select },
	{ .kernel = KERNEL_TOPK, .reference = check_topk, .accepts = topk_accepts, .terms = line_terms },
	{ .kernel = KERNEL_ARGREDUCE,
		.reference = check_argreduce,
		.accepts = argreduce_accepts,
		.terms = line_terms },
	{ .kernel = KERNEL_SCAN, .reference = check_scan, .terms = line_terms },
};
const struct check_rows check_move_rows = CHECK_ROWS(rows);
