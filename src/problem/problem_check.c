/* Range checks of a problem: they guarantee that everything a runner allocates or loops over is bounded. */
#include "config.h"

#include "problem/problem_private.h"

#include <math.h>

static int check_positive(const int64_t *v, int from, int to, const char *what, struct error *err)
{
	for (int i = from; i < to; i++)
		if (v[i] < 1 || v[i] > PROBLEM_NUMBER_MAX)
			return error_set(err, "problem: %s must be 1 or more, not %lld", what,
				(long long)v[i]);
	return 0;
}

/* Checks a deconvolution along axis i: its output size is at least 1 and does not overflow. */
static int check_turned(const struct problem *p, int i, struct error *err)
{
	if (p->in[i] > INT32_MAX || p->stride[i] > (1 << 24))
		return error_set(err, "problem: input size or stride is too large");
	int64_t most = p->stride[i] > p->dilation[i] ? p->stride[i] : p->dilation[i];
	if (p->out_pad[i] < 0 || p->out_pad[i] >= most)
		return error_set(err, "problem: an output pad must be less than stride or dilation");
	return problem_out_size(p, i) < 1 ? error_set(err, "problem: the pads leave no output") : 0;
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
			return error_set(err, "problem: kernel size or dilation is too large");
		if (p->kernel == KERNEL_DECONV ? check_turned(p, i, err) : problem_out_size(p, i) < 1)
			return p->kernel == KERNEL_DECONV ? -1 :
				error_set(err, "problem: the kernel is larger than the padded input");
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
	if (p->kernel != KERNEL_CONV && p->kernel != KERNEL_DECONV)
		return 0;
	int64_t channels[2] = { p->k, p->g };
	if (check_positive(channels, 0, 2, "output channels and groups", err))
		return -1;
	return p->c % p->g || p->k % p->g ? error_set(err,
		"problem: channels are not a multiple of the groups") : 0;
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

/* Checks that the first `count` shapes broadcast, pair by pair. */
static int check_broadcast(const struct problem *p, int count, struct error *err)
{
	for (int j = 0; j < count * count; j++) {
		const struct problem_shape *a = &p->shape[j / count], *b = &p->shape[j % count];
		for (int i = 1; i <= a->rank && i <= b->rank; i++) {
			int64_t x = a->dim[a->rank - i], y = b->dim[b->rank - i];
			if (x != y && x != 1 && y != 1)
				return error_set(err, "problem: the shapes do not broadcast");
		}
	}
	return 0;
}

static int check_gather(const struct problem *p, struct error *err)
{
	if (p->shape[0].rank - 1 + p->shape[1].rank > PROBLEM_RANK)
		return error_set(err, "problem: the result of gather has more than %d dimensions",
			PROBLEM_RANK);
	if (dtype_is_float(p->operand[1].dtype))
		return error_set(err, "problem: indices of type %s", dtype_name(p->operand[1].dtype));
	return 0;
}

static int check_topk(const struct problem *p, struct error *err)
{
	if (p->size < 1 || p->size > p->shape[0].dim[p->axis])
		return error_set(err, "problem: k is %lld of %lld", (long long)p->size,
			(long long)p->shape[0].dim[p->axis]);
	return 0;
}

static int check_attention(const struct problem *p, struct error *err)
{
	int64_t sizes[7] = { p->n, p->heads, p->kv_heads, p->query_length, p->key_length, p->head_size,
		p->value_size };
	if (check_positive(sizes, 0, 7, "a size", err))
		return -1;
	if (p->heads % p->kv_heads)
		return error_set(err, "problem: heads are not a multiple of the key and value heads");
	if (p->mode == MODE_CAUSAL && p->query_length > p->key_length)
		return error_set(err, "problem: causal attention needs as many keys as queries");
	return 0;
}

static int check_rnn(const struct problem *p, struct error *err)
{
	int64_t sizes[5] = { p->steps, p->n, p->input_size, p->hidden_size, p->directions };
	if (check_positive(sizes, 0, 5, "a size", err))
		return -1;
	if (p->directions > 2 || p->input_size > 1 << 24 || p->hidden_size > 1 << 24)
		return error_set(err, "problem: directions, input or hidden size are out of range");
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

/* Number of shapes in the kernel's text; for concat the minimum. */
static int shapes_least(enum kernel k)
{
	return k == KERNEL_SELECT ? 3 : k == KERNEL_BINARY || k == KERNEL_REDUCE || k == KERNEL_GATHER ? 2 : 1;
}

static bool has_axis(const struct problem *p)
{
	enum kernel k = p->kernel;
	return mode_is_by_axis(p->mode) || k == KERNEL_SOFTMAX || k == KERNEL_CONCAT || k == KERNEL_LAYERNORM || k == KERNEL_RMSNORM ||
		k == KERNEL_GATHER || k == KERNEL_TOPK || k == KERNEL_ARGREDUCE || k == KERNEL_SCAN;
}

static bool kernel_has_channels(enum kernel k)
{
	return k == KERNEL_BATCHNORM || k == KERNEL_LRN || k == KERNEL_INSTANCENORM;
}

/* The unquantized operand is floating-point or s32; the quantized one is an integer or a float of at most
 * 8 bits. */
static int check_quantizer(const struct problem *p, struct error *err)
{
	bool packs = p->kernel == KERNEL_QUANTIZE;
	enum dtype wide = p->operand[!packs].dtype, narrow = p->operand[packs].dtype;
	if (!dtype_is_float(wide) && !(packs && wide == DTYPE_S32))
		return error_set(err, "problem: values of type %s cannot be quantized", dtype_name(wide));
	if (dtype_bits(narrow) > 32 || narrow == DTYPE_BOOL ||
		(dtype_is_float(narrow) && dtype_bits(narrow) > 8))
		return error_set(err, "problem: a quantized value cannot have type %s", dtype_name(narrow));
	if (mode_is_by_block(p->mode) && (p->size < 1 || p->size > PROBLEM_NUMBER_MAX))
		return error_set(err, "problem: blocks of %lld elements", (long long)p->size);
	return 0;
}

/* Checks the shapes of one kernel against each other. */
static int check_together(const struct problem *p, struct error *err)
{
	switch (p->kernel) {
	case KERNEL_BINARY:
		return check_broadcast(p, 2, err);
	case KERNEL_SELECT:
		return check_broadcast(p, 3, err);
	case KERNEL_REDUCE:
		return check_reduce(p, err);
	case KERNEL_CONCAT:
		return check_concat(p, err);
	case KERNEL_TRANSPOSE:
		return check_perm(p, err);
	case KERNEL_GATHER:
		return check_gather(p, err);
	case KERNEL_TOPK:
		return check_topk(p, err);
	case KERNEL_QUANTIZE:
	case KERNEL_DEQUANTIZE:
		return check_quantizer(p, err);
	case KERNEL_DROPOUT:
		return p->alpha >= 0 && p->alpha < 1 ? 0 :
			error_set(err, "problem: a ratio must be from 0 to below 1");
	default:
		return 0;
	}
}

static int check_shapes(const struct problem *p, struct error *err)
{
	if (p->shape_count < shapes_least(p->kernel) || p->shape_count > PROBLEM_SHAPES)
		return error_set(err, "problem: %d shapes", p->shape_count);
	for (int i = 0; i < p->shape_count; i++)
		if (check_shape(&p->shape[i], err))
			return -1;
	if (has_axis(p) && (p->axis < 0 || p->axis >= p->shape[0].rank))
		return error_set(err, "problem: axis %d of a tensor of rank %d", p->axis, p->shape[0].rank);
	if (kernel_has_channels(p->kernel) && p->shape[0].rank < 2)
		return error_set(err, "problem: no channel dimension");
	if (p->kernel == KERNEL_LRN && (p->size < 1 || p->size > PROBLEM_NUMBER_MAX))
		return error_set(err, "problem: window %lld", (long long)p->size);
	return check_together(p, err);
}

/* Checks the numbers after operands and mode, by kernel. */
static int check_numbers(const struct problem *p, struct error *err)
{
	switch (p->kernel) {
	case KERNEL_CONV:
	case KERNEL_DECONV:
	case KERNEL_POOL:
	case KERNEL_RESAMPLE:
		return check_space(p, err);
	case KERNEL_MATMUL:
		return check_matmul(p, err);
	case KERNEL_COPY:
		return check_positive(&p->size, 0, 1, "bytes", err);
	case KERNEL_ATTENTION:
		return check_attention(p, err);
	case KERNEL_RNN:
		return check_rnn(p, err);
	default:
		return check_shapes(p, err);
	}
}

/* Limits the size of operands, so that byte counts neither overflow nor become NaN. */
static int check_volume(const struct problem *p, struct error *err)
{
	double bytes = problem_bytes(p);
	if (!(bytes < 1e15))
		return error_set(err, "problem: more than 1e15 bytes, or a type without a size");
	return 0;
}

/* A scale epilogue converts integer sums to f32: one f32 factor per channel, before all other epilogues,
 * with an s32 accumulator and a destination that is not s32. */
static int check_epilogues(const struct problem *p, struct error *err)
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
		if (p->kernel == KERNEL_ATTENTION || p->accumulator != DTYPE_S32 ||
			p->operand[problem_operand_count(p) - 1].dtype == DTYPE_S32)
			return error_set(err,
				"problem: scale needs s32 sums and a destination that is not s32");
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
	if (kernel_has_mode(p->kernel) && mode_parse(p->kernel, text_of(mode_name(p->mode))) != p->mode)
		return error_set(err, "problem: %s has no mode %s", kernel_name(p->kernel),
			mode_name(p->mode));
	if (kernel_has_accumulator(p->kernel) && p->accumulator == DTYPE_UNKNOWN)
		return error_set(err, "problem: no accumulator type");
	for (int i = 0; i < problem_operand_count(p); i++)
		if (p->operand[i].dtype == DTYPE_UNKNOWN)
			return error_set(err, "problem: operand %d has no type", i);
	if (check_epilogues(p, err))
		return -1;
	if (!isfinite(p->alpha) || !isfinite(p->beta))
		return error_set(err, "problem: a parameter is not finite");
	return check_numbers(p, err) ? -1 : check_volume(p, err);
}
