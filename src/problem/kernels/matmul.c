/* Matrix multiplication, batched: matmul. */
#include "config.h"

#include "problem/problem_private.h"
#include "problem/problem_segments.h"

static void sizes_write(const struct problem *p, struct str *out)
{
	str_add(out, "ba", 2);
	shape_write(&p->batch_a, out);
	str_add(out, "bb", 2);
	shape_write(&p->batch_b, out);
	number_write("m", p->m, out);
	number_write("n", p->mn, out);
	number_write("k", p->mk, out);
}

static int sizes_read(struct cursor *c, struct problem *p)
{
	if (!cursor_skip(c, "ba"))
		return cursor_fail(c, "ba");
	if (shape_read(c, &p->batch_a))
		return -1;
	if (!cursor_skip(c, "bb"))
		return cursor_fail(c, "bb");
	return shape_read(c, &p->batch_b) || cursor_field(c, "m", &p->m) || cursor_field(c, "n", &p->mn) ||
		cursor_field(c, "k", &p->mk);
}

static void transposed_write(const struct problem *p, struct str *out)
{
	number_write("ta", p->transpose_a, out);
	number_write("tb", p->transpose_b, out);
}

static int transposed_read(struct cursor *c, struct problem *p)
{
	return cursor_flag(c, "ta", &p->transpose_a) || cursor_flag(c, "tb", &p->transpose_b) ? -1 : 0;
}

static bool has_blocks(const struct problem *p)
{
	return p->size != 0;
}

static void blocks_write(const struct problem *p, struct str *out)
{
	number_write("b", p->size, out);
	number_write("z", p->zero_points, out);
}

static int blocks_read(struct cursor *c, struct problem *p)
{
	return cursor_field(c, "b", &p->size) || cursor_flag(c, "z", &p->zero_points) ? -1 : 0;
}

static const struct segment seg_sizes = { "sizes", sizes_write, sizes_read };
static const struct segment seg_transposed = { "transposition", transposed_write, transposed_read };

static const struct segment seg_blocks = { "blocks", blocks_write, blocks_read };

/* Only floats are multiplied by weights of few bits that have scales. */
static int blocks_check(const struct problem *p, struct error *err)
{
	enum dtype b = p->operand[1].dtype;
	if (!p->size && !p->zero_points)
		return 0;
	if (p->size < 1 || p->size > p->mk)
		return error_set(err, "problem: blocks of %lld terms of %lld", (long long)p->size,
			(long long)p->mk);
	if (!dtype_is_float(p->operand[0].dtype) || dtype_bits(b) > 8 || b == DTYPE_BOOL)
		return error_set(err, "problem: %s by %s has no scales in blocks",
			dtype_name(p->operand[0].dtype), dtype_name(b));
	return 0;
}

static int check(const struct problem *p, struct error *err)
{
	int64_t sizes[3] = { p->m, p->mn, p->mk };
	const struct problem_shape *a = &p->batch_a, *b = &p->batch_b;
	if (problem_check_positive(sizes, 0, 3, "m, n and k", err) || problem_check_shape(a, err) ||
		problem_check_shape(b, err))
		return -1;
	if (a->rank != b->rank || a->rank < 1 || a->rank > PROBLEM_RANK - 2)
		return error_set(err, "problem: batch dimensions of ranks %d and %d", a->rank, b->rank);
	for (int i = 0; i < a->rank; i++)
		if (a->dim[i] != b->dim[i] && a->dim[i] != 1 && b->dim[i] != 1)
			return error_set(err, "problem: batch dimensions do not broadcast");
	return blocks_check(p, err);
}

static struct problem_shape shape_of(const struct problem *p, int i)
{
	struct problem_shape s = i == 1 ? p->batch_b : p->batch_a;
	for (int j = 0; i == 2 && j < s.rank; j++)
		if (s.dim[j] == 1)
			s.dim[j] = p->batch_b.dim[j];
	s.dim[s.rank] = i == 1 ? p->mk : p->m;
	s.dim[s.rank + 1] = i == 0 ? p->mk : p->mn;
	s.rank += 2;
	return s;
}

static double flops(const struct problem *p)
{
	return 2 * problem_operand_volume(p, 2) * (double)p->mk;
}

int64_t problem_weight_blocks(const struct problem *p)
{
	return p->kernel == KERNEL_MATMUL && p->size ? (p->mk - 1) / p->size + 1 : 0;
}

double problem_weight_scale_bytes(const struct problem *p)
{
	if (!problem_weight_blocks(p))
		return 0;
	double count = problem_shape_volume(&p->batch_b) * (double)p->mn * (double)problem_weight_blocks(p);
	return dtype_bytes(p->operand[0].dtype, count) +
		(p->zero_points ? dtype_bytes(p->operand[1].dtype, count) : 0);
}

static double sum_terms(const struct problem *p)
{
	return (double)p->mk;
}

static int64_t output_channels(const struct problem *p)
{
	return p->mn;
}

const struct kernel_row kernel_matmul = {
	.operands = 3,
	.names = { "a", "b", "dst" },
	.accumulator = true,
	.segments = SEGMENTS(&seg_sizes, &seg_transposed, &seg_blocks),
	.has_last = has_blocks,
	.check = check,
	.shape = shape_of,
	.flops = flops,
	.other_bytes = problem_weight_scale_bytes,
	.output_channels = output_channels,
	.product = true,
	.takes_epilogues = true,
	.eta_factor = { 1.9, 0.9 },
	.weights = true,
	.channels_last = true,
	.sum_terms = sum_terms,
	.estimated_as = ESTIMATED_AS_MATMUL,
	.estimated_from_own = true,
	.leading_dimension = true,
};
