#include "config.h"

#include "fake_cudnn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#define SET(d) ((struct fake_desc *)(void *)(d))

/* Members of an rnn: mode; dim: input, hidden, directions. Of rnn data: dim: steps, batch, vector. */
cudnnStatus_t cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t d, cudnnRNNAlgo_t algorithm, cudnnRNNMode_t mode,
	cudnnRNNBiasMode_t bias, cudnnDirectionMode_t direction, cudnnRNNInputMode_t input_mode,
	cudnnDataType_t type, cudnnDataType_t compute, cudnnMathType_t math, int32_t input, int32_t hidden,
	int32_t projection, int32_t layers, cudnnDropoutDescriptor_t dropout, uint32_t flags)
{
	if (bias != CUDNN_RNN_DOUBLE_BIAS || input_mode != CUDNN_LINEAR_INPUT || projection != hidden ||
		layers != 1 || fake_is(dropout, FAKE_DROPOUT)->a != 0 ||
		flags != CUDNN_RNN_PADDED_IO_DISABLED)
		return CUDNN_STATUS_BAD_PARAM;
	if (algorithm == CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H && hidden > 4)
		return CUDNN_STATUS_NOT_SUPPORTED;
	SET(d)->type = type;
	SET(d)->compute = compute;
	SET(d)->groups = (int)algorithm;
	SET(d)->math = (int)math;
	SET(d)->mode = (int)mode;
	SET(d)->dim[0] = input;
	SET(d)->dim[1] = hidden;
	SET(d)->dim[2] = direction == CUDNN_BIDIRECTIONAL ? 2 : 1;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t d, cudnnDataType_t type,
	cudnnRNNDataLayout_t layout, int steps, int batch, int vector, const int *lengths, void *padding)
{
	(void)padding;
	for (int i = 0; i < batch; i++)
		if (lengths[i] != steps)
			return CUDNN_STATUS_BAD_PARAM;
	SET(d)->type = type;
	SET(d)->dim[0] = steps;
	SET(d)->dim[1] = batch;
	SET(d)->dim[2] = vector;
	return layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED ? CUDNN_STATUS_SUCCESS
								: CUDNN_STATUS_NOT_SUPPORTED;
}

struct cell {
	const struct fake_desc *d;
	int gates, input, hidden;
	const void *space;
};

static struct cell cell_of(const struct fake_desc *d, const void *space)
{
	return (struct cell){ d, d->mode == CUDNN_LSTM ? 4 : 3, d->dim[0], d->dim[1], space };
}

static int64_t half(const struct cell *c)
{
	return (int64_t)c->gates * c->hidden;
}

static int64_t matrix_place(const struct cell *c, int direction, int linear)
{
	int64_t whole = half(c) * (c->input + c->hidden);
	if (linear < c->gates)
		return direction * whole + (int64_t)linear * c->hidden * c->input;
	return direction * whole + half(c) * c->input + (int64_t)(linear - c->gates) * c->hidden * c->hidden;
}

static int64_t bias_place(const struct cell *c, int direction, int linear)
{
	return c->d->dim[2] * half(c) * (c->input + c->hidden) + direction * 2 * half(c) +
		(int64_t)linear * c->hidden;
}

static int64_t bytes_of(cudnnDataType_t t)
{
	return t == CUDNN_DATA_DOUBLE ? 8 : t == CUDNN_DATA_FLOAT ? 4 : 2;
}

cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t h, cudnnRNNDescriptor_t d, size_t *bytes)
{
	struct cell c = cell_of(fake_is(d, FAKE_RNN), NULL);
	(void)h;
	*bytes = (size_t)(bias_place(&c, c.d->dim[2], 0) * bytes_of(c.d->type));
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t h, cudnnRNNDescriptor_t d, int32_t layer, size_t bytes,
	const void *space, int32_t linear, cudnnTensorDescriptor_t matrix_desc, void **matrix,
	cudnnTensorDescriptor_t bias_desc, void **bias)
{
	struct cell c = cell_of(fake_is(d, FAKE_RNN), space);
	char *base = (char *)(uintptr_t)space;
	(void)h;
	(void)bytes;
	fake_is(matrix_desc, FAKE_TENSOR);
	fake_is(bias_desc, FAKE_TENSOR);
	*matrix = base + matrix_place(&c, layer, linear) * bytes_of(c.d->type);
	*bias = base +
		bias_place(&c, layer, fake_cudnn.other_weights ? linear ^ 1 : linear) * bytes_of(c.d->type);
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t h, cudnnRNNDescriptor_t d, cudnnForwardMode_t mode,
	cudnnRNNDataDescriptor_t x, size_t *bytes, size_t *reserve)
{
	(void)h;
	(void)d;
	(void)x;
	*bytes = 1000;
	*reserve = 0;
	return mode == CUDNN_FWD_MODE_INFERENCE ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

/* Returns (matrix v + bias)[row] of one linear layer. */
static double linear_of(const struct cell *c, int direction, int linear, int row, const double *v)
{
	int width = linear < c->gates ? c->input : c->hidden;
	double sum = fake_load(c->space, c->d->type, bias_place(c, direction, linear) + row);
	for (int i = 0; i < width; i++)
		sum += v[i] *
			fake_load(c->space, c->d->type,
				matrix_place(c, direction, linear) + (int64_t)row * width + i);
	return sum;
}

static double sigmoid(double v)
{
	return 1 / (1 + exp(-v));
}

/* Computes one step of one sequence: updates h and the state from x. */
static void step(const struct cell *c, int direction, const double *x, double *h, double *state, double *next)
{
	for (int i = 0; i < c->hidden; i++) {
		double in[4], back[4];
		for (int g = 0; g < c->gates; g++) {
			in[g] = linear_of(c, direction, g, i, x);
			back[g] = linear_of(c, direction, c->gates + g, i, h);
		}
		if (c->gates == 4) {
			state[i] = sigmoid(in[1] + back[1]) * state[i] +
				sigmoid(in[0] + back[0]) * tanh(in[2] + back[2]);
			next[i] = sigmoid(in[3] + back[3]) * tanh(state[i]);
		} else {
			double z = sigmoid(in[1] + back[1]);
			next[i] = (1 - z) * tanh(in[2] + sigmoid(in[0] + back[0]) * back[2]) + z * h[i];
		}
	}
	memcpy(h, next, (size_t)c->hidden * sizeof(*h));
}

cudnnStatus_t cudnnRNNForward(cudnnHandle_t handle, cudnnRNNDescriptor_t d, cudnnForwardMode_t mode,
	const int32_t *lengths, cudnnRNNDataDescriptor_t x_desc, const void *x,
	cudnnRNNDataDescriptor_t y_desc, void *y, cudnnTensorDescriptor_t h_desc, const void *hx, void *hy,
	cudnnTensorDescriptor_t c_desc, const void *cx, void *cy, size_t space_bytes, const void *space,
	size_t bytes, void *work, size_t reserve_bytes, void *reserve)
{
	const struct fake_desc *xd = fake_is(x_desc, FAKE_RNN_DATA), *yd = fake_is(y_desc, FAKE_RNN_DATA);
	const struct fake_desc *hd = fake_is(h_desc, FAKE_TENSOR);
	struct cell c = cell_of(fake_is(d, FAKE_RNN), space);
	int directions = c.d->dim[2], steps = xd->dim[0], batch = xd->dim[1];
	size_t want;
	cudnnGetRNNWeightSpaceSize(handle, d, &want);
	if (!handle || mode != CUDNN_FWD_MODE_INFERENCE || lengths || hx || hy || cx || cy || reserve ||
		reserve_bytes || space_bytes != want || bytes < 1000 || !work || hd->rank != 3 ||
		hd->dim[0] != directions || hd->dim[1] != batch || hd->dim[2] != c.hidden ||
		fake_is(c_desc, FAKE_TENSOR)->dim[2] != c.hidden || xd->dim[2] != c.input ||
		yd->dim[2] != directions * c.hidden || memcmp(xd->dim, yd->dim, 2 * sizeof(int)) != 0)
		return CUDNN_STATUS_BAD_PARAM;
	double *v = base_calloc((size_t)(c.input + 3 * c.hidden), sizeof(*v));
	double *h = v + c.input, *state = h + c.hidden, *next = state + c.hidden;
	for (int n = 0; n < batch; n++)
		for (int direction = 0; direction < directions; direction++) {
			memset(h, 0, 2 * (size_t)c.hidden * sizeof(*h));
			for (int i = 0; i < steps; i++) {
				int t = direction ? steps - 1 - i : i;
				for (int j = 0; j < c.input; j++)
					v[j] = fake_load(x, xd->type, ((int64_t)t * batch + n) * c.input + j);
				step(&c, direction, v, h, state, next);
				for (int j = 0; j < c.hidden; j++)
					fake_store(y, yd->type,
						(((int64_t)t * batch + n) * directions + direction) *
								c.hidden +
							j,
						h[j]);
			}
		}
	free(v);
	fake_cudnn.algorithm = c.d->groups;
	fake_cudnn.math = c.d->math;
	fake_done(__func__, yd);
	return CUDNN_STATUS_SUCCESS;
}
