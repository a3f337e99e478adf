/* Operations and bytes of a problem. */
#include "config.h"

#include "problem/problem_private.h"

#include <math.h>

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

/* Operations of an element of the kernel's driving tensor. Normalizations count what the formula has:
 * batchnorm a multiply-add; layernorm and instancenorm mean, variance (2), scale (2), shift ... 7; rmsnorm
 * square, sum, two scalings 4; softmax max, subtract, exp, sum, divide 5; lrn a square and an add for each
 * channel in the window, then 3; dropout a comparison and a scaling; quantization the scale and the zero
 * point, dynamic quantization also two comparisons, for minimum and maximum. */
static double ops_per_element(const struct problem *p)
{
	switch (p->kernel) {
	case KERNEL_BATCHNORM:
		return 2;
	case KERNEL_LAYERNORM:
	case KERNEL_INSTANCENORM:
		return 7;
	case KERNEL_RMSNORM:
		return 4;
	case KERNEL_DROPOUT:
	case KERNEL_DEQUANTIZE:
		return 2;
	case KERNEL_QUANTIZE:
		return p->mode == MODE_QUANTIZE_DYNAMIC ? 4 : 2;
	case KERNEL_SOFTMAX:
		return 5;
	case KERNEL_LRN:
		return 2 * (double)p->size + 3;
	case KERNEL_ELTWISE:
	case KERNEL_BINARY:
	case KERNEL_REDUCE:
	case KERNEL_TOPK:
	case KERNEL_ARGREDUCE:
	case KERNEL_SCAN:
		return 1;
	default:
		return 0;
	}
}

/* Number of scores to compute: all, or for causal attention the keys up to each query's position from the
 * end. */
static double attention_scores(const struct problem *p)
{
	double q = (double)p->query_length, k = (double)p->key_length;
	double pairs = p->mode == MODE_CAUSAL ? q * k - q * (q - 1) / 2 : q * k;
	return (double)p->n * (double)p->heads * pairs;
}

/* Two matmuls; two biases per gate; then lstm: four activations, three operations of the cell, a tanh and
 * a multiplication; gru: three activations, the reset multiplication and four operations of the blend; a
 * plain rnn: its activation. */
static double rnn_flops(const struct problem *p)
{
	double gates = mode_gates(p->mode), width = (double)p->input_size + (double)p->hidden_size;
	double cell = p->mode == MODE_LSTM ? 9 : p->mode == MODE_GRU ? 8 : 1;
	return operand_volume(p, 2) * (gates * (2 * width + 2) + cell);
}

static double core_flops(const struct problem *p)
{
	int last = problem_operand_count(p) - 1;
	switch (p->kernel) {
	case KERNEL_CONV:
		return 2 * operand_volume(p, 2) * (double)(p->c / p->g) * kernel_volume(p);
	case KERNEL_DECONV: /* each source element times the kernel of each output channel of its group */
		return 2 * operand_volume(p, 0) * (double)(p->k / p->g) * kernel_volume(p);
	case KERNEL_ATTENTION:
		return attention_scores(p) * (2 * (double)p->head_size + 2 * (double)p->value_size + 5);
	case KERNEL_RNN:
		return rnn_flops(p);
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

/* Number of elements of an epilogue's operand. */
static double epilogue_volume(const struct problem *p, const struct epilogue *e)
{
	if (e->kind == EPILOGUE_ELTWISE)
		return 0;
	if (e->kind == EPILOGUE_BIAS || e->kind == EPILOGUE_SCALE)
		return (double)(p->kernel == KERNEL_MATMUL ? p->mn : p->k);
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

/* Number of elements of operand i that must be read or written: of a gather's source only the gathered
 * ones. */
static double operand_traffic(const struct problem *p, int i)
{
	return operand_volume(p, p->kernel == KERNEL_GATHER && i == 0 ? 2 : i);
}

double problem_bytes(const struct problem *p)
{
	double bytes = epilogues_bytes(p, false);
	for (int i = 0; i < problem_operand_count(p); i++)
		bytes += dtype_bytes(p->operand[i].dtype, operand_traffic(p, i));
	if (p->kernel == KERNEL_TOPK)
		bytes += dtype_bytes(DTYPE_S64, operand_volume(p, 1));
	if (kernel_is_quantizer(p->kernel)) {
		struct problem_shape scales = problem_scale_shape(p);
		bytes += dtype_bytes(DTYPE_F32, shape_volume(&scales));
	}
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
