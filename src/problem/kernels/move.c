/* Movement of data: copy, concat, transpose, gather. */
#include "config.h"

#include "problem/problem_private.h"
#include "problem/problem_segments.h"

/* ---- copy: `size` bytes */

static void bytes_write(const struct problem *p, struct str *out)
{
	number_write("b", p->size, out);
}

static int bytes_read(struct cursor *c, struct problem *p)
{
	return cursor_field(c, "b", &p->size);
}

static const struct segment seg_bytes = { "bytes", bytes_write, bytes_read };

static int copy_check(const struct problem *p, struct error *err)
{
	return problem_check_positive(&p->size, 0, 1, "bytes", err);
}

static struct problem_shape copy_shape(const struct problem *p, int i)
{
	(void)i;
	return (struct problem_shape){ .rank = 1, .dim = { p->size } };
}

const struct kernel_row kernel_copy = {
	.operands = 2,
	.names = { "src", "dst" },
	.segments = SEGMENTS(&seg_bytes),
	.check = copy_check,
	.shape = copy_shape,
	.eta_factor = { 1.8, 1.8 },
	.estimated_from_own = true,
	.leading_dimension = true,
};

/* ---- concat: its inputs share one operand */

static void shapes_write(const struct problem *p, struct str *out)
{
	for (int i = 0; i < p->shape_count; i++) {
		if (i)
			str_add(out, ",", 1);
		shape_write(&p->shape[i], out);
	}
}

static int shapes_read(struct cursor *c, struct problem *p)
{
	do {
		if (p->shape_count == PROBLEM_SHAPES)
			return cursor_fail(c, "fewer shapes");
		if (shape_read(c, &p->shape[p->shape_count++]))
			return -1;
	} while (cursor_skip(c, ","));
	return 0;
}

static const struct segment seg_shapes = { "shapes", shapes_write, shapes_read };

static int concat_check(const struct problem *p, struct error *err)
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

static struct problem_shape concat_shape(const struct problem *p, int i)
{
	struct problem_shape s = p->shape[0];
	for (int j = 1; i == 1 && j < p->shape_count; j++)
		s.dim[p->axis] += p->shape[j].dim[p->axis];
	return s;
}

static double concat_volume(const struct problem *p, int i)
{
	struct problem_shape s = concat_shape(p, i);
	if (i == 1)
		return problem_shape_volume(&s);
	double sum = 0;
	for (int j = 0; j < p->shape_count; j++)
		sum += problem_shape_volume(&p->shape[j]);
	return sum;
}

const struct kernel_row kernel_concat = {
	.operands = 2,
	.names = { "src", "dst" },
	.segments = SEGMENTS(&seg_shapes, &segment_axis),
	.shapes = 1,
	.axis = true,
	.check = concat_check,
	.shape = concat_shape,
	.volume = concat_volume,
	.image_like = true,
	.layout = KERNEL_LAYOUT_PASS,
	.source_list = true,
	.leading_dimension = true,
};

/* ---- transpose */

static void perm_write(const struct problem *p, struct str *out)
{
	struct problem_shape s = { .rank = p->shape[0].rank };
	for (int i = 0; i < s.rank; i++)
		s.dim[i] = p->perm[i];
	str_add(out, "perm", 4);
	shape_write(&s, out);
}

static int perm_read(struct cursor *c, struct problem *p)
{
	struct problem_shape s;
	if (!cursor_skip(c, "perm"))
		return cursor_fail(c, "perm");
	if (shape_read(c, &s))
		return -1;
	for (int i = 0; i < s.rank; i++)
		p->perm[i] = s.dim[i] < PROBLEM_RANK ? (int)s.dim[i] : PROBLEM_RANK;
	return 0;
}

static const struct segment seg_perm = { "permutation", perm_write, perm_read };

static int transpose_check(const struct problem *p, struct error *err)
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

static struct problem_shape transpose_shape(const struct problem *p, int i)
{
	struct problem_shape s = p->shape[0];
	for (int j = 0; i == 1 && j < s.rank; j++)
		s.dim[j] = p->shape[0].dim[p->perm[j]];
	return s;
}

const struct kernel_row kernel_transpose = {
	.operands = 2,
	.names = { "src", "dst" },
	.segments = SEGMENTS(&segment_shape, &seg_perm),
	.shapes = 1,
	.check = transpose_check,
	.shape = transpose_shape,
	.estimated_from_own = true,
	.leading_dimension = true,
};

/* ---- gather: only what it takes of the source counts as read */

static int gather_check(const struct problem *p, struct error *err)
{
	if (p->shape[0].rank - 1 + p->shape[1].rank > PROBLEM_RANK)
		return error_set(
			err, "problem: the result of gather has more than %d dimensions", PROBLEM_RANK);
	if (dtype_is_float(p->operand[1].dtype))
		return error_set(err, "problem: indices of type %s", dtype_name(p->operand[1].dtype));
	return 0;
}

/* The destination has the indices' dimensions in place of the axis. */
static struct problem_shape gather_shape(const struct problem *p, int i)
{
	const struct problem_shape *from = &p->shape[0], *indices = &p->shape[1];
	struct problem_shape s = { .rank = 0 };
	if (i < 2)
		return p->shape[i];
	for (int d = 0; d < p->axis; d++)
		s.dim[s.rank++] = from->dim[d];
	for (int d = 0; d < indices->rank && s.rank < PROBLEM_RANK; d++)
		s.dim[s.rank++] = indices->dim[d];
	for (int d = p->axis + 1; d < from->rank && s.rank < PROBLEM_RANK; d++)
		s.dim[s.rank++] = from->dim[d];
	return s;
}

static double gather_traffic(const struct problem *p, int i)
{
	return problem_operand_volume(p, i == 0 ? 2 : i);
}

/* It may take one row repeatedly. */
static double gather_share_read(const struct problem *p)
{
	(void)p;
	return 0;
}

const struct kernel_row kernel_gather = {
	.operands = 3,
	.names = { "src", "index", "dst" },
	.segments = SEGMENTS(&segment_shape, &segment_axis, &segment_shape1),
	.shapes = 2,
	.axis = true,
	.check = gather_check,
	.shape = gather_shape,
	.traffic = gather_traffic,
	.share_read = gather_share_read,
	.index_operand = 1,
};
