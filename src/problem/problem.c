#include "config.h"

#include "problem/problem_private.h"

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

int mode_gates(enum mode m)
{
	return m == MODE_LSTM ? 4 : m == MODE_GRU ? 3 : 1;
}

bool kernel_is_quantizer(enum kernel k)
{
	return k == KERNEL_QUANTIZE || k == KERNEL_DEQUANTIZE;
}

bool mode_is_by_block(enum mode m)
{
	return m == MODE_QUANTIZE_BLOCK || m == MODE_DEQUANTIZE_BLOCK;
}

bool mode_is_by_axis(enum mode m)
{
	return m == MODE_QUANTIZE_AXIS || m == MODE_DEQUANTIZE_AXIS || mode_is_by_block(m);
}

static int64_t padded_size(int64_t in, int64_t pads, int64_t kernel, int64_t stride, int64_t dilation)
{
	int64_t left = in + pads - ((kernel - 1) * dilation + 1);
	return left < 0 ? 0 : left / stride + 1;
}

int64_t problem_out_size(const struct problem *p, int i)
{
	int64_t pads = p->pad_begin[i] + p->pad_end[i];
	if (p->kernel == KERNEL_DECONV)
		return (p->in[i] - 1) * p->stride[i] - pads + (p->kernel_size[i] - 1) * p->dilation[i] + 1 + p->out_pad[i];
	return padded_size(p->in[i], pads, p->kernel_size[i], p->stride[i], p->dilation[i]);
}

static struct problem_shape spatial_shape(const struct problem *p, int64_t first, int64_t second, bool out)
{
	struct problem_shape s = { .rank = 2 + p->spatial, .dim = { first, second } };
	for (int i = 3 - p->spatial, at = 2; i < 3; i++, at++)
		s.dim[at] = !out ? p->in[i] : p->kernel == KERNEL_RESAMPLE ? p->out[i] :
			problem_out_size(p, i);
	return s;
}

static struct problem_shape conv_shape(const struct problem *p, int i)
{
	if (i == 0)
		return spatial_shape(p, p->n, p->c, false);
	if (i == 2)
		return spatial_shape(p, p->n, p->k, true);
	int64_t g = p->g ? p->g : 1;
	bool turned = p->kernel == KERNEL_DECONV;
	struct problem_shape s = { .rank = 2 + p->spatial,
		.dim = { turned ? p->c : p->k, turned ? p->k / g : p->c / g } };
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

/* Shape to which the first `count` shapes broadcast. */
static struct problem_shape broadcast_shape(const struct problem *p, int count)
{
	struct problem_shape s = p->shape[0];
	for (int j = 1; j < count; j++) {
		const struct problem_shape a = s, *b = &p->shape[j];
		s.rank = a.rank > b->rank ? a.rank : b->rank;
		for (int i = 1; i <= s.rank; i++) {
			int64_t x = i <= a.rank ? a.dim[a.rank - i] : 1,
				y = i <= b->rank ? b->dim[b->rank - i] : 1;
			s.dim[s.rank - i] = broadcast_dim(x, y);
		}
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

/* Shape of the source with the indices' dimensions in place of the axis. */
static struct problem_shape gather_destination(const struct problem *p)
{
	const struct problem_shape *from = &p->shape[0], *indices = &p->shape[1];
	struct problem_shape s = { .rank = 0 };
	for (int i = 0; i < p->axis; i++)
		s.dim[s.rank++] = from->dim[i];
	for (int i = 0; i < indices->rank && s.rank < PROBLEM_RANK; i++)
		s.dim[s.rank++] = indices->dim[i];
	for (int i = p->axis + 1; i < from->rank && s.rank < PROBLEM_RANK; i++)
		s.dim[s.rank++] = from->dim[i];
	return s;
}

/* Shape of the source with another size along the axis. */
static struct problem_shape axis_destination(const struct problem *p, int64_t size)
{
	struct problem_shape s = p->shape[0];
	s.dim[p->axis] = size;
	return s;
}

static struct problem_shape attention_shape(const struct problem *p, int i)
{
	bool query = i == 0 || i == 3;
	return (struct problem_shape){ .rank = 4,
		.dim = { p->n, query ? p->heads : p->kv_heads, query ? p->query_length : p->key_length,
			i < 2 ? p->head_size : p->value_size } };
}

static struct problem_shape rnn_shape(const struct problem *p, int i)
{
	int64_t blob = p->directions * mode_gates(p->mode) * p->hidden_size * (p->input_size + p->hidden_size + 2);
	if (i == 0)
		return (struct problem_shape){ .rank = 3, .dim = { p->steps, p->n, p->input_size } };
	if (i == 1)
		return (struct problem_shape){ .rank = 1, .dim = { blob } };
	return (struct problem_shape){ .rank = 4, .dim = { p->steps, p->directions, p->n, p->hidden_size } };
}

/* Shape of operand i, for kernels that only have shapes. */
static struct problem_shape plain_shape(const struct problem *p, int i)
{
	bool last = i == problem_operand_count(p) - 1;
	switch (p->kernel) {
	case KERNEL_BINARY:
		return last ? broadcast_shape(p, 2) : p->shape[i];
	case KERNEL_SELECT:
		return last ? broadcast_shape(p, 3) : p->shape[i];
	case KERNEL_REDUCE:
		return p->shape[i];
	case KERNEL_CONCAT:
		return last ? concat_destination(p) : p->shape[0];
	case KERNEL_TRANSPOSE:
		return last ? transpose_destination(p) : p->shape[0];
	case KERNEL_GATHER:
		return last ? gather_destination(p) : p->shape[i];
	case KERNEL_TOPK:
		return last ? axis_destination(p, p->size) : p->shape[0];
	case KERNEL_ARGREDUCE:
		return last ? axis_destination(p, 1) : p->shape[0];
	default:
		return p->shape[0];
	}
}

struct problem_shape problem_operand_shape(const struct problem *p, int i)
{
	switch (p->kernel) {
	case KERNEL_CONV:
	case KERNEL_DECONV:
		return conv_shape(p, i);
	case KERNEL_MATMUL:
		return matmul_shape(p, i);
	case KERNEL_ATTENTION:
		return attention_shape(p, i);
	case KERNEL_RNN:
		return rnn_shape(p, i);
	case KERNEL_POOL:
	case KERNEL_RESAMPLE:
		return spatial_shape(p, p->n, p->c, i == 1);
	case KERNEL_COPY:
		return (struct problem_shape){ .rank = 1, .dim = { p->size } };
	default:
		return plain_shape(p, i);
	}
}

struct problem_shape problem_scale_shape(const struct problem *p)
{
	struct problem_shape s = { .rank = 0 };
	if (mode_is_by_block(p->mode)) {
		s = p->shape[0];
		s.dim[p->axis] = (s.dim[p->axis] - 1) / p->size + 1;
	} else if (mode_is_by_axis(p->mode)) {
		s = (struct problem_shape){ .rank = 1, .dim = { p->shape[0].dim[p->axis] } };
	}
	return s;
}

int problem_operand_count(const struct problem *p)
{
	switch (p->kernel) {
	case KERNEL_ATTENTION:
	case KERNEL_SELECT:
		return 4;
	case KERNEL_CONV:
	case KERNEL_DECONV:
	case KERNEL_MATMUL:
	case KERNEL_BINARY:
	case KERNEL_RNN:
	case KERNEL_GATHER:
		return 3;
	default:
		return 2;
	}
}

/* Kernels whose operands are tensors with channels, where the order of dimensions is a choice. */
static bool kernel_is_image_like(enum kernel k)
{
	static const bool is[KERNEL_COUNT] = { [KERNEL_CONV] = true, [KERNEL_DECONV] = true, [KERNEL_POOL] = true,
		[KERNEL_BATCHNORM] = true, [KERNEL_LRN] = true, [KERNEL_RESAMPLE] = true, [KERNEL_INSTANCENORM] = true,
		[KERNEL_ELTWISE] = true, [KERNEL_BINARY] = true, [KERNEL_CONCAT] = true, [KERNEL_CAST] = true,
		[KERNEL_QUANTIZE] = true, [KERNEL_DEQUANTIZE] = true };
	return is[k];
}

static bool operand_set_layout(struct operand *o, enum layout l)
{
	bool changes = o->layout != LAYOUT_STRIDES && o->layout != l;
	if (changes)
		o->layout = l;
	return changes;
}

bool problem_set_layout(struct problem *p, enum layout l)
{
	int last = problem_operand_count(p) - 1;
	int rank = kernel_is_image_like(p->kernel) ? problem_operand_shape(p, last).rank : 0;
	bool changed = false;
	if (rank < 3 || rank > 5)
		return false;
	for (int i = 0; i <= last; i++)
		if (problem_operand_shape(p, i).rank == rank)
			changed |= operand_set_layout(&p->operand[i], l);
	for (int i = 0; i < p->epilogue_count; i++)
		if (p->epilogue[i].kind == EPILOGUE_BINARY)
			changed |= operand_set_layout(&p->epilogue[i].operand, l);
	return changed;
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
