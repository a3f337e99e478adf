/* Scaled dot-product attention: attention. */
#include "config.h"

#include "problem/problem_private.h"
#include "problem/problem_segments.h"

static const struct segment_field fields[] = { SEGMENT_FIELD("n", n), SEGMENT_FIELD("hq", heads),
	SEGMENT_FIELD("hk", kv_heads), SEGMENT_FIELD("lq", query_length), SEGMENT_FIELD("lk", key_length),
	SEGMENT_FIELD("d", head_size), SEGMENT_FIELD("e", value_size), { 0 } };

static void sizes_write(const struct problem *p, struct str *out)
{
	fields_write(fields, p, out);
}

static int sizes_read(struct cursor *c, struct problem *p)
{
	return fields_read(fields, c, p);
}

static const struct segment seg_sizes = { "sizes", sizes_write, sizes_read };

static const struct segment *const *segments(enum mode m)
{
	static const struct segment *const plain[] = { &seg_sizes, NULL };
	static const struct segment *const masked[] = { &seg_sizes, &segment_shape, NULL };
	return m == MODE_MASKED ? masked : plain;
}

const struct problem_shape *problem_mask(const struct problem *p)
{
	return p->kernel == KERNEL_ATTENTION && p->mode == MODE_MASKED ? &p->shape[0] : NULL;
}

/* The mask has the dimensions of the scores, or 1 where it is the same for all. */
static int check_mask(const struct problem *p, struct error *err)
{
	const int64_t scores[] = { p->n, p->heads, p->query_length, p->key_length };
	const struct problem_shape *mask = &p->shape[0];
	bool fits = p->shape_count == 1 && mask->rank == 4;
	for (int i = 0; fits && i < 4; i++)
		fits = mask->dim[i] == 1 || mask->dim[i] == scores[i];
	return fits ? 0 : error_set(err, "problem: the mask does not fit the scores");
}

static int check(const struct problem *p, struct error *err)
{
	int64_t sizes[7] = { p->n, p->heads, p->kv_heads, p->query_length, p->key_length, p->head_size,
		p->value_size };
	if (problem_check_positive(sizes, 0, 7, "a size", err))
		return -1;
	if (p->heads % p->kv_heads)
		return error_set(err, "problem: heads are not a multiple of the key and value heads");
	if (p->mode == MODE_CAUSAL && p->query_length > p->key_length)
		return error_set(err, "problem: causal attention needs as many keys as queries");
	return problem_mask(p) ? check_mask(p, err) : 0;
}

static struct problem_shape shape_of(const struct problem *p, int i)
{
	bool query = i == 0 || i == 3;
	return (struct problem_shape){ .rank = 4,
		.dim = { p->n, query ? p->heads : p->kv_heads, query ? p->query_length : p->key_length,
			i < 2 ? p->head_size : p->value_size } };
}

/* Number of scores to compute: all, or for causal attention the keys up to each query's position from the
 * end. */
static double scores(const struct problem *p)
{
	double q = (double)p->query_length, k = (double)p->key_length;
	double pairs = p->mode == MODE_CAUSAL ? q * k - q * (q - 1) / 2 : q * k;
	return (double)p->n * (double)p->heads * pairs;
}

static double flops(const struct problem *p)
{
	double other = problem_mask(p) ? 6 : 5; /* the softmax, and the sum with the mask */
	return scores(p) * (2 * (double)p->head_size + 2 * (double)p->value_size + other);
}

static double mask_bytes(const struct problem *p)
{
	const struct problem_shape *mask = problem_mask(p);
	return mask ? dtype_bytes(p->operand[0].dtype, problem_shape_volume(mask)) : 0;
}

const struct kernel_row kernel_attention = {
	.operands = 4,
	.names = { "q", "k", "v", "dst" },
	.accumulator = true,
	.mode = true,
	.segments_by_mode = segments,
	.check = check,
	.shape = shape_of,
	.flops = flops,
	.other_bytes = mask_bytes,
	.product = true,
	.transcendental = true,
	.estimated_as = ESTIMATED_AS_MATMUL,
	.leading_dimension = true,
};
