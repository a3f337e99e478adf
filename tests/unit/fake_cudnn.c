#include "config.h"

#include "fake_cudnn.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runner/verify/fill.h"

struct fake_cudnn fake_cudnn;

/* ---- shared with the tests ---- */

static enum dtype dtype_of(cudnnDataType_t t)
{
	switch (t) {
	case CUDNN_DATA_FLOAT: return DTYPE_F32;
	case CUDNN_DATA_DOUBLE: return DTYPE_F64;
	case CUDNN_DATA_HALF: return DTYPE_F16;
	case CUDNN_DATA_BFLOAT16: return DTYPE_BF16;
	case CUDNN_DATA_INT8: return DTYPE_S8;
	case CUDNN_DATA_UINT8: return DTYPE_U8;
	case CUDNN_DATA_INT32: return DTYPE_S32;
	default: abort();
	}
}

double fake_load(const void *base, cudnnDataType_t type, int64_t at)
{
	enum dtype t = dtype_of(type);
	return fill_decode((const char *)base + at * (dtype_bits(t) / 8), t);
}

void fake_store(void *base, cudnnDataType_t type, int64_t at, double value)
{
	enum dtype t = dtype_of(type);
	fill_encode(value, t, (char *)base + at * (dtype_bits(t) / 8));
}

double fake_scalar(const void *p, cudnnDataType_t type)
{
	return type == CUDNN_DATA_DOUBLE ? *(const double *)p : *(const float *)p;
}

int64_t fake_volume(const struct fake_desc *d)
{
	int64_t n = 1;
	for (int i = 0; i < d->rank; i++)
		n *= d->dim[i];
	return n;
}

void fake_at(const struct fake_desc *d, int64_t i, int *at)
{
	for (int j = d->rank - 1; j >= 0; j--) {
		at[j] = (int)(i % d->dim[j]);
		i /= d->dim[j];
	}
}

int64_t fake_place(const struct fake_desc *t, const int *at)
{
	int64_t place = 0;
	for (int i = 0; i < t->rank; i++)
		place += t->dim[i] == 1 ? 0 : (int64_t)at[i] * t->stride[i];
	return place;
}

const struct fake_desc *fake_is(const void *d, int kind)
{
	const struct fake_desc *f = d;
	if (!f || f->kind != kind)
		abort();
	return f;
}

void fake_done(const char *function, const struct fake_desc *y)
{
	fake_cudnn.calls++;
	fake_cudnn.function = function;
	fake_cudnn.rank = y->rank;
	memcpy(fake_cudnn.dim, y->dim, sizeof(y->dim));
}

/* ---- descriptors ---- */

static void *made(int kind)
{
	struct fake_desc *d = base_calloc(1, sizeof(*d));
	d->kind = kind;
	fake_cudnn.created++;
	return d;
}

static cudnnStatus_t unmade(void *d, int kind)
{
	fake_is(d, kind);
	fake_cudnn.destroyed++;
	free(d);
	return CUDNN_STATUS_SUCCESS;
}

#define LIFE(name, kind)                                                \
	cudnnStatus_t cudnnCreate##name(cudnn##name##_t *d)             \
	{                                                               \
		*d = made(kind);                                        \
		return CUDNN_STATUS_SUCCESS;                            \
	}                                                               \
	cudnnStatus_t cudnnDestroy##name(cudnn##name##_t d)             \
	{                                                               \
		return unmade(d, kind);                                 \
	}
LIFE(TensorDescriptor, FAKE_TENSOR)
LIFE(FilterDescriptor, FAKE_FILTER)
LIFE(ConvolutionDescriptor, FAKE_CONV)
LIFE(ActivationDescriptor, FAKE_ACTIVATION)
LIFE(PoolingDescriptor, FAKE_POOLING)
LIFE(OpTensorDescriptor, FAKE_OP)
LIFE(LRNDescriptor, FAKE_LRN)
LIFE(ReduceTensorDescriptor, FAKE_REDUCE)
LIFE(DropoutDescriptor, FAKE_DROPOUT)
LIFE(RNNDescriptor, FAKE_RNN)
LIFE(RNNDataDescriptor, FAKE_RNN_DATA)

cudnnStatus_t cudnnSetTensorNdDescriptor(
	cudnnTensorDescriptor_t d, cudnnDataType_t type, int rank, const int *dim, const int *stride)
{
	struct fake_desc *f = (void *)d;
	fake_is(f, FAKE_TENSOR);
	if (rank < 3 || rank > CUDNN_DIM_MAX)
		return CUDNN_STATUS_BAD_PARAM;
	f->type = type;
	f->rank = rank;
	for (int i = 0; i < rank; i++) {
		if (dim[i] < 1 || stride[i] < 1)
			return CUDNN_STATUS_BAD_PARAM;
		f->dim[i] = dim[i];
		f->stride[i] = stride[i];
	}
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetFilterNdDescriptor(
	cudnnFilterDescriptor_t d, cudnnDataType_t type, cudnnTensorFormat_t format, int rank, const int *dim)
{
	struct fake_desc *f = (void *)d;
	fake_is(f, FAKE_FILTER);
	f->type = type;
	f->format = format;
	f->rank = rank;
	memcpy(f->dim, dim, (size_t)rank * sizeof(*dim));
	int64_t step = 1;
	if (format == CUDNN_TENSOR_NHWC) {
		f->stride[1] = 1;
		step = dim[1];
	}
	for (int i = rank - 1; i >= 0; i--) {
		if (format == CUDNN_TENSOR_NHWC && i == 1)
			continue;
		f->stride[i] = (int)step;
		step *= dim[i];
	}
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t d, int rank, const int *pad,
	const int *stride, const int *dilation, cudnnConvolutionMode_t mode, cudnnDataType_t compute)
{
	struct fake_desc *f = (void *)d;
	fake_is(f, FAKE_CONV);
	if (mode != CUDNN_CROSS_CORRELATION || rank < 2)
		return CUDNN_STATUS_BAD_PARAM;
	f->rank = rank;
	f->compute = compute;
	f->groups = 1;
	for (int i = 0; i < rank; i++) {
		f->pad[i] = pad[i];
		f->stride[i] = stride[i];
		f->dim[i] = dilation[i];
	}
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t d, cudnnMathType_t math)
{
	((struct fake_desc *)(void *)d)->math = (int)math;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t d, int groups)
{
	((struct fake_desc *)(void *)d)->groups = groups;
	return CUDNN_STATUS_SUCCESS;
}

/* ---- ranking ---- */

/* Ranks three algorithms, one of them as not supported. The reported math types may be laxer than requested,
 * as cuDNN's. */
static int ranking(
	const struct fake_desc *conv, int *algorithms, cudnnMathType_t *types, cudnnStatus_t *status)
{
	static const int order[] = { 1, 3, 0 };
	for (int i = 0; i < 3; i++) {
		algorithms[i] = order[i];
		status[i] = order[i] == 3 ? CUDNN_STATUS_NOT_SUPPORTED : CUDNN_STATUS_SUCCESS;
		types[i] = order[i] == 1 && conv->math != CUDNN_FMA_MATH ? (cudnnMathType_t)conv->math
									 : CUDNN_DEFAULT_MATH;
	}
	return 3;
}

#define RANK_FUNCTION(perf, algorithm_type)                                                                 \
	int algorithms[3], n = ranking(fake_is(conv, FAKE_CONV), algorithms, types, status);                \
	if (asked < n || fake_cudnn.no_ranking)                                                             \
		return CUDNN_STATUS_BAD_PARAM;                                                              \
	for (int i = 0; i < n; i++) {                                                                       \
		(perf)[i].algo = (algorithm_type)algorithms[i];                                             \
		(perf)[i].status = status[i];                                                               \
		(perf)[i].mathType = types[i];                                                              \
	}                                                                                                   \
	*count = n;                                                                                         \
	return CUDNN_STATUS_SUCCESS

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t h, const cudnnTensorDescriptor_t x,
	const cudnnFilterDescriptor_t w, const cudnnConvolutionDescriptor_t conv,
	const cudnnTensorDescriptor_t y, const int asked, int *count, cudnnConvolutionFwdAlgoPerf_t *found)
{
	cudnnMathType_t types[3];
	cudnnStatus_t status[3];
	(void)h;
	(void)x;
	(void)w;
	(void)y;
	RANK_FUNCTION(found, cudnnConvolutionFwdAlgo_t);
}

cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t h, const cudnnFilterDescriptor_t w,
	const cudnnTensorDescriptor_t dy, const cudnnConvolutionDescriptor_t conv,
	const cudnnTensorDescriptor_t dx, const int asked, int *count,
	cudnnConvolutionBwdDataAlgoPerf_t *found)
{
	cudnnMathType_t types[3];
	cudnnStatus_t status[3];
	(void)h;
	(void)w;
	(void)dy;
	(void)dx;
	RANK_FUNCTION(found, cudnnConvolutionBwdDataAlgo_t);
}

/* As in cuDNN: FFT only for strides of 1, direct never. */
static cudnnStatus_t workspace(const struct fake_desc *conv, int algorithm, size_t *bytes)
{
	if (algorithm == 3 || (algorithm == 4 && conv->stride[0] != 1))
		return CUDNN_STATUS_NOT_SUPPORTED;
	*bytes = (size_t)algorithm * 512;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t h, const cudnnTensorDescriptor_t x,
	const cudnnFilterDescriptor_t w, const cudnnConvolutionDescriptor_t conv,
	const cudnnTensorDescriptor_t y, cudnnConvolutionFwdAlgo_t algorithm, size_t *bytes)
{
	(void)h;
	(void)x;
	(void)w;
	(void)y;
	return workspace(fake_is(conv, FAKE_CONV), (int)algorithm, bytes);
}

cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(cudnnHandle_t h, const cudnnFilterDescriptor_t w,
	const cudnnTensorDescriptor_t dy, const cudnnConvolutionDescriptor_t conv,
	const cudnnTensorDescriptor_t dx, cudnnConvolutionBwdDataAlgo_t algorithm, size_t *bytes)
{
	(void)h;
	(void)w;
	(void)dy;
	(void)dx;
	return workspace(fake_is(conv, FAKE_CONV), (int)algorithm, bytes);
}

/* ---- convolution ---- */

/* Computes the coordinates in x of a tap for an output coordinate. Returns false in the padding. */
static bool meet(const struct fake_desc *conv, const struct fake_desc *w, const struct fake_desc *x,
	const int *y_at, int tap, int *x_at, int *w_at)
{
	bool inside = true;
	for (int i = conv->rank - 1; i >= 0; i--) {
		w_at[2 + i] = tap % w->dim[2 + i];
		tap /= w->dim[2 + i];
		x_at[2 + i] = y_at[2 + i] * conv->stride[i] - conv->pad[i] + w_at[2 + i] * conv->dim[i];
		inside = inside && x_at[2 + i] >= 0 && x_at[2 + i] < x->dim[2 + i];
	}
	return inside;
}

static int taps(const struct fake_desc *w)
{
	int n = 1;
	for (int i = 2; i < w->rank; i++)
		n *= w->dim[i];
	return n;
}

/* True if the shapes fit one convolution. */
static bool is_conv(const struct fake_desc *x, const struct fake_desc *w, const struct fake_desc *conv,
	const struct fake_desc *y)
{
	bool good = x->rank == y->rank && x->rank == w->rank && conv->rank == x->rank - 2 &&
		x->dim[0] == y->dim[0] && w->dim[1] * conv->groups == x->dim[1] && w->dim[0] == y->dim[1] &&
		w->dim[0] % conv->groups == 0;
	for (int i = 0; good && i < conv->rank; i++)
		good = y->dim[2 + i] ==
			1 +
				(x->dim[2 + i] + 2 * conv->pad[i] -
					((w->dim[2 + i] - 1) * conv->dim[i] + 1)) /
					conv->stride[i];
	return good;
}

static double convolve(const struct fake_desc *x, const void *x_data, const struct fake_desc *w,
	const void *w_data, const struct fake_desc *conv, const struct fake_desc *y, const int *y_at)
{
	int x_at[8] = { y_at[0] }, w_at[8] = { y_at[1] }, depth = w->dim[1],
	    first = y_at[1] / (y->dim[1] / conv->groups) * depth;
	double sum = 0;
	for (int c = 0; c < depth; c++)
		for (int tap = 0; tap < taps(w); tap++) {
			x_at[1] = first + c;
			w_at[1] = c;
			if (meet(conv, w, x, y_at, tap, x_at, w_at))
				sum += fake_load(x_data, x->type, fake_place(x, x_at)) *
					fake_load(w_data, w->type, fake_place(w, w_at));
		}
	return sum;
}

static bool noted(const struct fake_desc *conv, const struct fake_desc *w, int algorithm, const void *space,
	size_t bytes)
{
	size_t want;
	fake_cudnn.algorithm = algorithm;
	fake_cudnn.math = conv->math;
	fake_cudnn.filter = w->format;
	return workspace(conv, algorithm, &want) == CUDNN_STATUS_SUCCESS && bytes >= want && (!want || space);
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t h, const void *alpha,
	const cudnnTensorDescriptor_t x_desc, const void *x, const cudnnFilterDescriptor_t w_desc,
	const void *w, const cudnnConvolutionDescriptor_t conv_desc, cudnnConvolutionFwdAlgo_t algorithm,
	void *space, size_t bytes, const void *beta, const cudnnTensorDescriptor_t y_desc, void *y)
{
	const struct fake_desc *xd = fake_is(x_desc, FAKE_TENSOR), *wd = fake_is(w_desc, FAKE_FILTER);
	const struct fake_desc *yd = fake_is(y_desc, FAKE_TENSOR), *conv = fake_is(conv_desc, FAKE_CONV);
	int at[8];
	if (!h || !is_conv(xd, wd, conv, yd) || !noted(conv, wd, (int)algorithm, space, bytes) ||
		fake_scalar(beta, xd->type) != 0)
		return CUDNN_STATUS_BAD_PARAM;
	for (int64_t i = 0; i < fake_volume(yd); i++) {
		fake_at(yd, i, at);
		fake_store(y, yd->type, fake_place(yd, at),
			fake_scalar(alpha, xd->type) * convolve(xd, x, wd, w, conv, yd, at));
	}
	fake_done(__func__, yd);
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnConvolutionBiasActivationForward(cudnnHandle_t h, const void *alpha1,
	const cudnnTensorDescriptor_t x_desc, const void *x, const cudnnFilterDescriptor_t w_desc,
	const void *w, const cudnnConvolutionDescriptor_t conv_desc, cudnnConvolutionFwdAlgo_t algorithm,
	void *space, size_t bytes, const void *alpha2, const cudnnTensorDescriptor_t z_desc, const void *z,
	const cudnnTensorDescriptor_t bias_desc, const void *bias,
	const cudnnActivationDescriptor_t activation, const cudnnTensorDescriptor_t y_desc, void *y)
{
	const struct fake_desc *xd = fake_is(x_desc, FAKE_TENSOR), *wd = fake_is(w_desc, FAKE_FILTER);
	const struct fake_desc *yd = fake_is(y_desc, FAKE_TENSOR), *conv = fake_is(conv_desc, FAKE_CONV);
	const struct fake_desc *zd = fake_is(z_desc, FAKE_TENSOR), *bd = fake_is(bias_desc, FAKE_TENSOR);
	int at[8], relu = fake_is(activation, FAKE_ACTIVATION)->mode == CUDNN_ACTIVATION_RELU;
	double add = fake_scalar(alpha2, xd->type);
	if (!h || !is_conv(xd, wd, conv, yd) || !noted(conv, wd, (int)algorithm, space, bytes) ||
		bd->dim[0] != 1 || bd->dim[1] != yd->dim[1] || fake_volume(bd) != yd->dim[1] ||
		(add == 0 && z != y) || fake_volume(zd) != fake_volume(yd))
		return CUDNN_STATUS_BAD_PARAM;
	if (!relu && (int)algorithm > 1)
		return CUDNN_STATUS_NOT_SUPPORTED;
	fake_cudnn.residual = add;
	for (int64_t i = 0; i < fake_volume(yd); i++) {
		fake_at(yd, i, at);
		double v = fake_scalar(alpha1, xd->type) * convolve(xd, x, wd, w, conv, yd, at) +
			fake_load(bias, bd->type, fake_place(bd, at));
		if (add != 0)
			v += add * fake_load(z, zd->type, fake_place(zd, at));
		fake_store(y, yd->type, fake_place(yd, at), relu && v < 0 ? 0 : v);
	}
	fake_done(__func__, yd);
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t h, const void *alpha,
	const cudnnFilterDescriptor_t w_desc, const void *w, const cudnnTensorDescriptor_t dy_desc,
	const void *dy, const cudnnConvolutionDescriptor_t conv_desc, cudnnConvolutionBwdDataAlgo_t algorithm,
	void *space, size_t bytes, const void *beta, const cudnnTensorDescriptor_t dx_desc, void *dx)
{
	const struct fake_desc *xd = fake_is(dx_desc, FAKE_TENSOR), *wd = fake_is(w_desc, FAKE_FILTER);
	const struct fake_desc *yd = fake_is(dy_desc, FAKE_TENSOR), *conv = fake_is(conv_desc, FAKE_CONV);
	int y_at[8], x_at[8] = { 0 }, w_at[8] = { 0 };
	if (!h || !is_conv(xd, wd, conv, yd) || !noted(conv, wd, (int)algorithm, space, bytes) ||
		fake_scalar(beta, xd->type) != 0)
		return CUDNN_STATUS_BAD_PARAM;
	double *sums = base_calloc((size_t)fake_volume(xd), sizeof(*sums));
	for (int64_t i = 0; i < fake_volume(yd); i++) {
		fake_at(yd, i, y_at);
		double v = fake_load(dy, yd->type, fake_place(yd, y_at)) * fake_scalar(alpha, xd->type);
		for (int c = 0; c < wd->dim[1]; c++)
			for (int tap = 0; tap < taps(wd); tap++) {
				x_at[0] = y_at[0];
				x_at[1] = y_at[1] / (yd->dim[1] / conv->groups) * wd->dim[1] + c;
				w_at[0] = y_at[1];
				w_at[1] = c;
				if (!meet(conv, wd, xd, y_at, tap, x_at, w_at))
					continue;
				int64_t to = 0;
				for (int j = 0; j < xd->rank; j++)
					to = to * xd->dim[j] + x_at[j];
				sums[to] += v * fake_load(w, wd->type, fake_place(wd, w_at));
			}
	}
	for (int64_t i = 0; i < fake_volume(xd); i++) {
		fake_at(xd, i, x_at);
		fake_store(dx, xd->type, fake_place(xd, x_at), sums[i]);
	}
	free(sums);
	fake_done(__func__, xd);
	return CUDNN_STATUS_SUCCESS;
}
