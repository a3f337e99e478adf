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
LIFE(PoolingDescriptor, FAKE_POOLING)
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
