/* LSTM, GRU and plain recurrent layers with cudnnRNNForward.
 *
 * Weights: cuDNN defines the layout of its weight space and reports the address of each matrix and bias. Ours
 * is one blob (check.h): the matrices per direction, input before recurrent, gates in cuDNN's order; then all
 * biases in the same order. The plan compares every address and refuses the problem if one differs. So the
 * blob can be used as the weight space, and the check is exact.
 *
 * Output: cuDNN writes both directions side by side, t n (d h); ours is t d n h. With one direction or one
 * sequence both are the same. Otherwise the output goes to the workspace and cudnnTransformTensor transposes
 * it, as in frameworks. */
#include "config.h"

#include "runner/cudnn_legacy/cudnn_legacy.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"

enum { SLOT_STATE, SLOT_MATRIX, SLOT_BIAS, SLOT_SIDE_BY_SIDE, SLOT_DESTINATION };

#define ALIGNMENT 256

static cudnnRNNMode_t mode_of(const struct problem *p)
{
	return p->mode == MODE_LSTM ? CUDNN_LSTM : p->mode == MODE_GRU ? CUDNN_GRU :
		p->mode == MODE_RNN_RELU ? CUDNN_RNN_RELU : CUDNN_RNN_TANH;
}

/* ---- weights ---- */

static int64_t matrices_elements(const struct problem *p)
{
	return mode_gates(p->mode) * p->hidden_size * (p->input_size + p->hidden_size);
}

/* Sets the offsets, in elements of the blob, of a matrix and its bias. linear: index over input gates, then
 * recurrent ones. */
static void blob_offsets(const struct problem *p, int direction, int linear, int64_t *matrix, int64_t *bias)
{
	int gates = mode_gates(p->mode), gate = linear % gates;
	bool recurrent = linear >= gates;
	*matrix = direction * matrices_elements(p) +
		(recurrent ? gates * p->hidden_size * p->input_size : 0) +
		gate * p->hidden_size * (recurrent ? p->hidden_size : p->input_size);
	*bias = p->directions * matrices_elements(p) + (direction * 2 * gates + linear) * p->hidden_size;
}

static int weights_check(struct cudnn_legacy *l, size_t space, struct error *err)
{
	const struct problem *p = &l->problem;
	int64_t size = dtype_bits(p->operand[1].dtype) / 8;
	/* cuDNN only computes addresses from it: nothing is read or written there */
	char *base = (char *)(uintptr_t)0x10000;
	int64_t blob =
		p->directions * (matrices_elements(p) + 2 * mode_gates(p->mode) * p->hidden_size) * size;
	if ((int64_t)space != blob)
		return error_set(err, "cuDNN needs %lld bytes for these weights, the problem has %lld",
			(long long)space, (long long)blob);
	CUDNN_CALL(l, cudnnCreateTensorDescriptor, &l->tensor[SLOT_MATRIX]);
	CUDNN_CALL(l, cudnnCreateTensorDescriptor, &l->tensor[SLOT_BIAS]);
	for (int d = 0; d < p->directions; d++)
		for (int i = 0; i < 2 * mode_gates(p->mode); i++) {
			void *matrix = NULL, *bias = NULL;
			int64_t matrix_at, bias_at;
			blob_offsets(p, d, i, &matrix_at, &bias_at);
			CUDNN_CALL(l, cudnnGetRNNWeightParams, l->handle, l->rnn, d, space, base, i,
				l->tensor[SLOT_MATRIX], &matrix, l->tensor[SLOT_BIAS], &bias);
			if (matrix != base + matrix_at * size || bias != base + bias_at * size)
				return error_set(err, "cuDNN's order of these weights is not the problem's");
		}
	return 0;
}

/* ---- plan ---- */

static int data_open(struct cudnn_legacy *l, int i, int64_t vector, struct error *err)
{
	const struct problem *p = &l->problem;
	cudnnDataType_t type;
	int steps, batch, size, bad;
	double padding = 0;
	if (cudnn_legacy_type(p->operand[0].dtype, &type, err) || cudnn_legacy_int(p->steps, &steps, err) ||
		cudnn_legacy_int(p->n, &batch, err) || cudnn_legacy_int(vector, &size, err))
		return -1;
	CUDNN_CALL(l, cudnnCreateRNNDataDescriptor, &l->data[i]);
	int *lengths = base_calloc((size_t)batch, sizeof(*lengths));
	for (int j = 0; j < batch; j++)
		lengths[j] = steps;
	/* sequences of equal length are already packed; every algorithm takes packed data */
	bad = cudnn_error(
		l->api->cudnnSetRNNDataDescriptor(l->data[i], type, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED,
			steps, batch, size, lengths, &padding),
		"cudnnSetRNNDataDescriptor", err);
	free(lengths);
	return bad;
}

static int rnn_open(struct cudnn_legacy *l, struct error *err)
{
	const struct problem *p = &l->problem;
	cudnnDataType_t type;
	int32_t input, hidden;
	if (cudnn_legacy_type(p->operand[0].dtype, &type, err) ||
		cudnn_legacy_int(p->input_size, &input, err) ||
		cudnn_legacy_int(p->hidden_size, &hidden, err))
		return -1;
	CUDNN_CALL(l, cudnnCreateDropoutDescriptor, &l->dropout);
	/* dropout 0: needs no states */
	CUDNN_CALL(l, cudnnSetDropoutDescriptor, l->dropout, l->handle, 0, NULL, 0, 0);
	CUDNN_CALL(l, cudnnCreateRNNDescriptor, &l->rnn);
	CUDNN_CALL(l, cudnnSetRNNDescriptor_v8, l->rnn, (cudnnRNNAlgo_t)l->algorithm, mode_of(p),
		CUDNN_RNN_DOUBLE_BIAS, p->directions == 2 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL,
		CUDNN_LINEAR_INPUT, type, cudnn_legacy_compute(p->operand[0].dtype), l->type, input, hidden,
		hidden, 1, l->dropout, CUDNN_RNN_PADDED_IO_DISABLED);
	return 0;
}

/* True if cuDNN's output layout equals the problem's. */
static bool output_matches(const struct problem *p)
{
	return p->directions == 1 || p->n == 1;
}

static int output_open(struct cudnn_legacy *l, struct error *err)
{
	const struct problem *p = &l->problem;
	int64_t d = p->directions, n = p->n, h = p->hidden_size;
	struct cuda_layout destination = cuda_operand_layout(p, 2, 0), written = destination;
	if (output_matches(p))
		return 0;
	written.stride[0] = n * d * h;
	written.stride[1] = h;
	written.stride[2] = d * h;
	written.stride[3] = 1;
	l->extra = (size_t)dtype_bytes(written.dtype, (double)p->steps * (double)written.stride[0]);
	l->workspace = (l->workspace + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	return cudnn_legacy_tensor(l, SLOT_SIDE_BY_SIDE, &written, err) ||
		cudnn_legacy_tensor(l, SLOT_DESTINATION, &destination, err) ? -1 : 0;
}

static int rnn_plan(struct cudnn_legacy *l, const struct cudnn_legacy_offer *o, struct error *err)
{
	const struct problem *p = &l->problem;
	struct cuda_layout state = { .dtype = p->operand[0].dtype,
		.shape = { 3, { p->directions, p->n, p->hidden_size } },
		.stride = { p->n * p->hidden_size, p->hidden_size, 1 } };
	cudnnDataType_t type;
	size_t space, reserve;
	(void)o;
	if (rnn_open(l, err) || data_open(l, 0, p->input_size, err) ||
		data_open(l, 1, p->directions * p->hidden_size, err) ||
		cudnn_legacy_type(state.dtype, &type, err))
		return -1;
	int dim[3], stride[3];
	for (int i = 0; i < 3; i++)
		if (cudnn_legacy_int(state.shape.dim[i], &dim[i], err) ||
			cudnn_legacy_int(state.stride[i], &stride[i], err))
			return -1;
	CUDNN_CALL(l, cudnnCreateTensorDescriptor, &l->tensor[SLOT_STATE]);
	CUDNN_CALL(l, cudnnSetTensorNdDescriptor, l->tensor[SLOT_STATE], type, 3, dim, stride);
	CUDNN_CALL(l, cudnnGetRNNWeightSpaceSize, l->handle, l->rnn, &space);
	if (weights_check(l, space, err))
		return -1;
	CUDNN_CALL(l, cudnnGetRNNTempSpaceSizes, l->handle, l->rnn, CUDNN_FWD_MODE_INFERENCE, l->data[0],
		&l->workspace, &reserve);
	return output_open(l, err);
}

static int rnn_enqueue(
	struct cudnn_legacy *l, const struct cuda_pointers *at, cudaStream_t stream, struct error *err)
{
	const struct problem *p = &l->problem;
	bool direct = output_matches(p);
	void *y = direct ? at->destination : (char *)at->workspace + l->workspace;
	size_t space =
		(size_t)(p->directions * (matrices_elements(p) + 2 * mode_gates(p->mode) * p->hidden_size) *
			(dtype_bits(p->operand[1].dtype) / 8));
	(void)stream;
	/* NULL: states start as zeros and are not returned; sequence lengths on the device are not needed
	 * since cuDNN 8.9.1 */
	CUDNN_CALL(l, cudnnRNNForward, l->handle, l->rnn, CUDNN_FWD_MODE_INFERENCE, NULL, l->data[0],
		at->source[0], l->data[1], y, l->tensor[SLOT_STATE], NULL, NULL, l->tensor[SLOT_STATE], NULL,
		NULL, space, at->weights, l->workspace, at->workspace, 0, NULL);
	if (!direct)
		CUDNN_CALL(l, cudnnTransformTensor, l->handle, &l->one, l->tensor[SLOT_SIDE_BY_SIDE], y,
			&l->zero, l->tensor[SLOT_DESTINATION], at->destination);
	return 0;
}

static const struct cudnn_legacy_way rnn_way = { rnn_plan, rnn_enqueue };

/* ---- candidates ---- */

static bool is_plain(const struct problem *p, int operand)
{
	return p->operand[operand].layout == LAYOUT_ANY || p->operand[operand].layout == LAYOUT_NCX;
}

int cudnn_legacy_rnn_offer(struct cudnn_legacy_offers *o, struct error *err)
{
	static const struct {
		cudnnRNNAlgo_t algorithm;
		const char *name;
	} algorithms[] = {
		{ CUDNN_RNN_ALGO_STANDARD, "standard" }, { CUDNN_RNN_ALGO_PERSIST_STATIC, "persist_static" },
		{ CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H, "persist_static_small_h" },
	};
	static const struct {
		enum dtype in;
		cudnnMathType_t type;
		const char *math, *suffix;
		int sm;
		enum matrix matrix;
	} maths[] = {
		{ DTYPE_F32, CUDNN_FMA_MATH, "strict", "", 0, MATRIX_NO },
		{ DTYPE_F32, CUDNN_DEFAULT_MATH, "tf32", "", 80, MATRIX_UNKNOWN },
		{ DTYPE_F32, CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION, "fast_f16", "", 70, MATRIX_UNKNOWN },
		{ DTYPE_F16, CUDNN_TENSOR_OP_MATH, "strict", "", 70, MATRIX_UNKNOWN },
		{ DTYPE_F16, CUDNN_DEFAULT_MATH, "strict", ":default", 0, MATRIX_UNKNOWN },
		{ DTYPE_BF16, CUDNN_TENSOR_OP_MATH, "strict", "", 80, MATRIX_UNKNOWN },
		{ DTYPE_F64, CUDNN_DEFAULT_MATH, "strict", "", 0, MATRIX_NO },
	};
	const struct problem *p = &o->problem;
	if (cudnn_legacy_refuse_epilogues(p, err))
		return -1;
	if (!is_plain(p, 0) || !is_plain(p, 1) || !is_plain(p, 2))
		return error_set(err, "cudnnRNNForward needs dense operands");
	if (p->operand[0].dtype != p->operand[1].dtype || p->operand[0].dtype != p->operand[2].dtype)
		return error_set(err, "cudnnRNNForward needs operands of equal type");
	for (size_t i = 0; i < sizeof(maths) / sizeof(maths[0]); i++)
		for (size_t j = 0; j < sizeof(algorithms) / sizeof(algorithms[0]); j++) {
			char name[64];
			if (maths[i].in != p->operand[0].dtype || cuda_context()->sm < maths[i].sm)
				continue;
			snprintf(name, sizeof(name), "%s%s", algorithms[j].name, maths[i].suffix);
			struct cudnn_legacy_offer *one =
				cudnn_legacy_add(o, &rnn_way, name, algorithms[j].algorithm);
			one->type = maths[i].type;
			one->math = maths[i].math;
			one->matrix = maths[i].matrix;
			if (!output_matches(p))
				snprintf(one->notes, sizeof(one->notes), "output_transposed");
		}
	return o->count ? 0 : error_set(err, "cudnnRNNForward does not support %s on this GPU",
		dtype_name(p->operand[0].dtype));
}
