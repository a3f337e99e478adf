#include "config.h"

#include "problem/problem.h"

#include <math.h>

static const char *const kernel_names[KERNEL_COUNT] = {
#define KERNEL_NAME(id, name) [KERNEL_##id] = name,
	KERNEL_LIST(KERNEL_NAME)
#undef KERNEL_NAME
};

static const struct {
	const char *name;
	enum kernel kernel;
	int parameters;
} mode_rows[MODE_COUNT] = {
	[MODE_NONE] = { "none", KERNEL_COUNT, 0 },
#define MODE_ROW(id, name, kernel, parameters) [MODE_##id] = { name, KERNEL_##kernel, parameters },
	MODE_LIST(MODE_ROW)
#undef MODE_ROW
};

const char *kernel_name(enum kernel k)
{
	return kernel_names[k];
}

const char *mode_name(enum mode m)
{
	return mode_rows[m].name;
}

enum mode mode_parse(enum kernel k, struct text name)
{
	for (int m = MODE_NONE + 1; m < MODE_COUNT; m++)
		if (mode_rows[m].kernel == k && text_is(name, mode_rows[m].name))
			return (enum mode)m;
	return MODE_NONE;
}

int mode_parameters(enum mode m)
{
	return mode_rows[m].parameters;
}

static int64_t padded_size(int64_t in, int64_t pads, int64_t kernel, int64_t stride, int64_t dilation)
{
	int64_t left = in + pads - ((kernel - 1) * dilation + 1);
	return left < 0 ? 0 : left / stride + 1;
}

int64_t problem_out_size(const struct problem *p, int i)
{
	return padded_size(p->in[i], p->pad_begin[i] + p->pad_end[i], p->kernel_size[i], p->stride[i], p->dilation[i]);
}

static struct problem_shape spatial_shape(const struct problem *p, int64_t first, int64_t second, bool out)
{
	struct problem_shape s = { .rank = 2 + p->spatial, .dim = { first, second } };
	for (int i = 3 - p->spatial, at = 2; i < 3; i++, at++)
		s.dim[at] = !out ? p->in[i] : p->kernel == KERNEL_RESAMPLE ? p->out[i] : problem_out_size(p, i);
	return s;
}

static struct problem_shape conv_shape(const struct problem *p, int i)
{
	if (i == 0)
		return spatial_shape(p, p->n, p->c, false);
	if (i == 2)
		return spatial_shape(p, p->n, p->k, true);
	struct problem_shape s = { .rank = 2 + p->spatial, .dim = { p->k, p->g ? p->c / p->g : p->c } };
	for (int j = 3 - p->spatial, at = 2; j < 3; j++, at++)
		s.dim[at] = p->kernel_size[j];
	return s;
}

static int64_t broadcast_dim(int64_t a, int64_t b)
{
	return a == 1 ? b : a;
}

static struct problem_shape matmul_shape(const struct problem *p, int i)
{
	struct problem_shape s = i == 1 ? p->batch_b : p->batch_a;
	if (i == 2)
		for (int j = 0; j < s.rank; j++)
			s.dim[j] = broadcast_dim(p->batch_a.dim[j], p->batch_b.dim[j]);
	s.dim[s.rank] = i == 1 ? p->mk : p->m;
	s.dim[s.rank + 1] = i == 0 ? p->mk : p->mn;
	s.rank += 2;
	return s;
}

static struct problem_shape binary_destination(const struct problem *p)
{
	const struct problem_shape *a = &p->shape[0], *b = &p->shape[1];
	struct problem_shape s = { .rank = a->rank > b->rank ? a->rank : b->rank };
	for (int i = 1; i <= s.rank; i++) {
		int64_t x = i <= a->rank ? a->dim[a->rank - i] : 1, y = i <= b->rank ? b->dim[b->rank - i] : 1;
		s.dim[s.rank - i] = broadcast_dim(x, y);
	}
	return s;
}

static struct problem_shape concat_destination(const struct problem *p)
{
	struct problem_shape s = p->shape[0];
	for (int i = 1; i < p->shape_count; i++)
		s.dim[p->axis] += p->shape[i].dim[p->axis];
	return s;
}

static struct problem_shape transpose_destination(const struct problem *p)
{
	struct problem_shape s = p->shape[0];
	for (int i = 0; i < s.rank; i++)
		s.dim[i] = p->shape[0].dim[p->perm[i]];
	return s;
}

struct problem_shape problem_operand_shape(const struct problem *p, int i)
{
	bool last = i == problem_operand_count(p) - 1;
	switch (p->kernel) {
	case KERNEL_CONV:
		return conv_shape(p, i);
	case KERNEL_MATMUL:
		return matmul_shape(p, i);
	case KERNEL_POOL:
	case KERNEL_RESAMPLE:
		return spatial_shape(p, p->n, p->c, last);
	case KERNEL_BINARY:
		return last ? binary_destination(p) : p->shape[i];
	case KERNEL_REDUCE:
		return p->shape[i];
	case KERNEL_CONCAT:
		return last ? concat_destination(p) : p->shape[0];
	case KERNEL_TRANSPOSE:
		return last ? transpose_destination(p) : p->shape[0];
	case KERNEL_COPY:
		return (struct problem_shape){ .rank = 1, .dim = { p->size } };
	default:
		return p->shape[0];
	}
}

int problem_operand_count(const struct problem *p)
{
	return p->kernel == KERNEL_CONV || p->kernel == KERNEL_MATMUL || p->kernel == KERNEL_BINARY ? 3 : 2;
}

bool problem_has_constant(const struct problem *p)
{
	for (int i = 0; i < problem_operand_count(p); i++)
		if (p->operand[i].constant)
			return true;
	for (int i = 0; i < p->epilogue_count; i++)
		if (p->epilogue[i].kind != EPILOGUE_ELTWISE && p->epilogue[i].operand.constant)
			return true;
	return false;
}

static double shape_volume(const struct problem_shape *s)
{
	double volume = 1;
	for (int i = 0; i < s->rank; i++)
		volume *= (double)s->dim[i];
	return volume;
}

static double operand_volume(const struct problem *p, int i)
{
	struct problem_shape s = problem_operand_shape(p, i);
	if (p->kernel != KERNEL_CONCAT || i != 0)
		return shape_volume(&s);
	double sum = 0;
	for (int j = 0; j < p->shape_count; j++)
		sum += shape_volume(&p->shape[j]);
	return sum;
}

static double kernel_volume(const struct problem *p)
{
	double volume = 1;
	for (int i = 3 - p->spatial; i < 3; i++)
		volume *= (double)p->kernel_size[i];
	return volume;
}

/* Operations of an element of the kernel's driving tensor. Normalizations count what the formula has: batchnorm a
 * multiply-add; layernorm mean, variance (2), scale (2), shift ... 7; softmax max, subtract, exp, sum, divide 5;
 * lrn a square and an add for each channel in the window, then 3. */
static double ops_per_element(const struct problem *p)
{
	switch (p->kernel) {
	case KERNEL_BATCHNORM:
		return 2;
	case KERNEL_LAYERNORM:
		return 7;
	case KERNEL_SOFTMAX:
		return 5;
	case KERNEL_LRN:
		return 2 * (double)p->size + 3;
	case KERNEL_ELTWISE:
	case KERNEL_BINARY:
	case KERNEL_REDUCE:
		return 1;
	default:
		return 0;
	}
}

static double core_flops(const struct problem *p)
{
	int last = problem_operand_count(p) - 1;
	switch (p->kernel) {
	case KERNEL_CONV:
		return 2 * operand_volume(p, 2) * (double)(p->c / p->g) * kernel_volume(p);
	case KERNEL_MATMUL:
		return 2 * operand_volume(p, 2) * (double)p->mk;
	case KERNEL_POOL:
		return operand_volume(p, 1) * kernel_volume(p);
	case KERNEL_RESAMPLE: /* a multiply-add for each of the 2^spatial neighbours */
		return p->mode == MODE_NEAREST ? 0 : 2 * operand_volume(p, 1) * exp2(p->spatial);
	case KERNEL_BINARY:
		return operand_volume(p, last);
	default:
		return operand_volume(p, 0) * ops_per_element(p);
	}
}

double problem_flops(const struct problem *p)
{
	double out = operand_volume(p, problem_operand_count(p) - 1);
	return core_flops(p) + out * p->epilogue_count;
}

/* Elements of an epilogue's own operand. */
static double epilogue_volume(const struct problem *p, const struct epilogue *e)
{
	if (e->kind == EPILOGUE_ELTWISE)
		return 0;
	if (e->kind == EPILOGUE_BIAS)
		return (double)(p->kernel == KERNEL_CONV ? p->k : p->mn);
	return operand_volume(p, problem_operand_count(p) - 1);
}

static double epilogues_bytes(const struct problem *p, bool only_constant)
{
	double bytes = 0;
	for (int i = 0; i < p->epilogue_count; i++) {
		const struct epilogue *e = &p->epilogue[i];
		if (e->kind != EPILOGUE_ELTWISE && (e->operand.constant || !only_constant))
			bytes += dtype_bytes(e->operand.dtype, epilogue_volume(p, e));
	}
	return bytes;
}

double problem_bytes(const struct problem *p)
{
	double bytes = epilogues_bytes(p, false);
	for (int i = 0; i < problem_operand_count(p); i++)
		bytes += dtype_bytes(p->operand[i].dtype, operand_volume(p, i));
	return bytes;
}

double problem_constant_bytes(const struct problem *p)
{
	double bytes = epilogues_bytes(p, true);
	for (int i = 0; i < problem_operand_count(p); i++)
		if (p->operand[i].constant)
			bytes += dtype_bytes(p->operand[i].dtype, operand_volume(p, i));
	return bytes;
}
