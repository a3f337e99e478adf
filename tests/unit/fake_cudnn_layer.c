#include "config.h"

#include "fake_cudnn.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"

#define SET(d) ((struct fake_desc *)(void *)(d))

/* ---- the library, and the part of the CUDA runtime in use ---- */

size_t cudnnGetVersion(void)
{
	return 91900;
}

const char *cudnnGetErrorString(cudnnStatus_t s)
{
	return s == CUDNN_STATUS_NOT_SUPPORTED ? "CUDNN_STATUS_NOT_SUPPORTED" : "CUDNN_STATUS_BAD_PARAM";
}

void cudnnGetLastErrorString(char *text, size_t size)
{
	strncpy(text, "the stand-in says so", size);
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *h)
{
	int creating = __atomic_add_fetch(&fake_cudnn.creating, 1, __ATOMIC_SEQ_CST);
	if (creating > 1)
		__atomic_store_n(&fake_cudnn.created_at_once, true, __ATOMIC_SEQ_CST);
	nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	__atomic_add_fetch(&fake_cudnn.handles, 1, __ATOMIC_SEQ_CST);
	__atomic_sub_fetch(&fake_cudnn.creating, 1, __ATOMIC_SEQ_CST);
	*h = (cudnnHandle_t)(void *)&fake_cudnn;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t h)
{
	(void)h;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t h, cudaStream_t stream)
{
	fake_cudnn.stream = stream;
	return h && stream ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t cudnnGraphVersionCheck(void)
{
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnOpsVersionCheck(void)
{
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCnnVersionCheck(void)
{
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnAdvVersionCheck(void)
{
	return CUDNN_STATUS_SUCCESS;
}

/* Functions of the graph API; never called by these tests. */
cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t *d)
{
	(void)type;
	(void)d;
	abort();
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t d)
{
	(void)d;
	abort();
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t d)
{
	(void)d;
	abort();
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
	cudnnBackendAttributeType_t type, int64_t count, const void *values)
{
	(void)d;
	(void)name;
	(void)type;
	(void)count;
	(void)values;
	abort();
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const d, cudnnBackendAttributeName_t name,
	cudnnBackendAttributeType_t type, int64_t asked, int64_t *count, void *values)
{
	(void)d;
	(void)name;
	(void)type;
	(void)asked;
	(void)count;
	(void)values;
	abort();
}

cudnnStatus_t cudnnBackendExecute(
	cudnnHandle_t h, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack)
{
	(void)h;
	(void)plan;
	(void)pack;
	abort();
}

cudaError_t cudaMalloc(void **p, size_t bytes)
{
	if (fake_cudnn.no_memory)
		return cudaErrorMemoryAllocation;
	*p = base_malloc(bytes);
	fake_cudnn.allocated++;
	return cudaSuccess;
}

cudaError_t cudaFree(void *p)
{
	free(p);
	fake_cudnn.allocated--;
	return cudaSuccess;
}

/* ---- element-wise ---- */

static bool same_shape(const struct fake_desc *a, const struct fake_desc *b)
{
	return a->rank == b->rank && memcmp(a->dim, b->dim, (size_t)a->rank * sizeof(int)) == 0;
}

static bool broadcasts(const struct fake_desc *small, const struct fake_desc *whole)
{
	bool good = small->rank == whole->rank && whole->rank >= 4 && whole->rank <= 5;
	for (int i = 0; good && i < whole->rank; i++)
		good = small->dim[i] == 1 || small->dim[i] == whole->dim[i];
	return good;
}

/* c = alpha * a + beta * c */
static cudnnStatus_t blend(const char *function, const struct fake_desc *ad, const void *a, double alpha,
	const struct fake_desc *cd, void *c, double beta)
{
	int at[8];
	if (!broadcasts(ad, cd) || ad->type != cd->type)
		return CUDNN_STATUS_BAD_PARAM;
	for (int64_t i = 0; i < fake_volume(cd); i++) {
		fake_at(cd, i, at);
		int64_t to = fake_place(cd, at);
		double old = beta != 0 ? beta * fake_load(c, cd->type, to) : 0;
		fake_store(c, cd->type, to, alpha * fake_load(a, ad->type, fake_place(ad, at)) + old);
	}
	fake_done(function, cd);
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnTransformTensor(cudnnHandle_t h, const void *alpha, const cudnnTensorDescriptor_t x_desc,
	const void *x, const void *beta, const cudnnTensorDescriptor_t y_desc, void *y)
{
	const struct fake_desc *xd = fake_is(x_desc, FAKE_TENSOR), *yd = fake_is(y_desc, FAKE_TENSOR);
	(void)h;
	if (!same_shape(xd, yd))
		return CUDNN_STATUS_BAD_PARAM;
	return blend(__func__, xd, x, fake_scalar(alpha, xd->type), yd, y, fake_scalar(beta, xd->type));
}

/* ---- layers ---- */

cudnnStatus_t cudnnSetPoolingNdDescriptor(cudnnPoolingDescriptor_t d, const cudnnPoolingMode_t mode,
	const cudnnNanPropagation_t nan, int rank, const int *window, const int *pad, const int *stride)
{
	(void)nan;
	SET(d)->mode = (int)mode;
	SET(d)->rank = rank;
	for (int i = 0; i < rank; i++) {
		SET(d)->dim[i] = window[i];
		SET(d)->pad[i] = pad[i];
		SET(d)->stride[i] = stride[i];
	}
	return CUDNN_STATUS_SUCCESS;
}

static double pooled(const struct fake_desc *d, const struct fake_desc *xd, const void *x, const int *y_at)
{
	int count = 0, all = 1, x_at[8] = { y_at[0], y_at[1] };
	double sum = 0, most = -INFINITY;
	for (int i = 0; i < d->rank; i++)
		all *= d->dim[i];
	for (int tap = 0; tap < all; tap++) {
		bool inside = true;
		for (int i = d->rank - 1, rest = tap; i >= 0; rest /= d->dim[i], i--) {
			x_at[2 + i] = y_at[2 + i] * d->stride[i] - d->pad[i] + rest % d->dim[i];
			inside = inside && x_at[2 + i] >= 0 && x_at[2 + i] < xd->dim[2 + i];
		}
		if (!inside)
			continue;
		double v = fake_load(x, xd->type, fake_place(xd, x_at));
		sum += v;
		most = fmax(most, v);
		count++;
	}
	if (d->mode == CUDNN_POOLING_MAX || d->mode == CUDNN_POOLING_MAX_DETERMINISTIC)
		return most;
	return sum / (d->mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING ? all : count);
}

cudnnStatus_t cudnnPoolingForward(cudnnHandle_t h, const cudnnPoolingDescriptor_t d, const void *alpha,
	const cudnnTensorDescriptor_t x_desc, const void *x, const void *beta,
	const cudnnTensorDescriptor_t y_desc, void *y)
{
	const struct fake_desc *xd = fake_is(x_desc, FAKE_TENSOR), *yd = fake_is(y_desc, FAKE_TENSOR);
	const struct fake_desc *pd = fake_is(d, FAKE_POOLING);
	bool good = h && xd->rank == yd->rank && pd->rank == xd->rank - 2 &&
		fake_scalar(beta, xd->type) == 0 && fake_scalar(alpha, xd->type) == 1;
	int at[8];
	for (int i = 0; good && i < pd->rank; i++)
		good = yd->dim[2 + i] == 1 + (xd->dim[2 + i] + 2 * pd->pad[i] - pd->dim[i]) / pd->stride[i];
	for (int64_t i = 0; good && i < fake_volume(yd); i++) {
		fake_at(yd, i, at);
		fake_store(y, yd->type, fake_place(yd, at), pooled(pd, xd, x, at));
	}
	fake_done(__func__, yd);
	return good ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t cudnnSoftmaxForward(cudnnHandle_t h, cudnnSoftmaxAlgorithm_t algorithm, cudnnSoftmaxMode_t mode,
	const void *alpha, const cudnnTensorDescriptor_t x_desc, const void *x, const void *beta,
	const cudnnTensorDescriptor_t y_desc, void *y)
{
	const struct fake_desc *xd = fake_is(x_desc, FAKE_TENSOR), *yd = fake_is(y_desc, FAKE_TENSOR);
	int at[8], from[8];
	if (!h || !same_shape(xd, yd) || xd->rank != 4 || fake_scalar(alpha, xd->type) != 1 ||
		fake_scalar(beta, xd->type) != 0)
		return CUDNN_STATUS_BAD_PARAM;
	for (int64_t i = 0; i < fake_volume(yd); i++) {
		double sum = 0;
		fake_at(yd, i, at);
		memcpy(from, at, sizeof(at));
		for (from[1] = 0; from[1] < xd->dim[1]; from[1]++)
			if (mode == CUDNN_SOFTMAX_MODE_CHANNEL)
				sum += exp(fake_load(x, xd->type, fake_place(xd, from)));
			else
				for (from[2] = 0; from[2] < xd->dim[2]; from[2]++)
					for (from[3] = 0; from[3] < xd->dim[3]; from[3]++)
						sum += exp(fake_load(x, xd->type, fake_place(xd, from)));
		double v = fake_load(x, xd->type, fake_place(xd, at));
		fake_store(y, yd->type, fake_place(yd, at),
			algorithm == CUDNN_SOFTMAX_LOG ? v - log(sum) : exp(v) / sum);
	}
	fake_done(__func__, yd);
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBatchNormalizationForwardInference(cudnnHandle_t h, cudnnBatchNormMode_t mode,
	const void *alpha, const void *beta, const cudnnTensorDescriptor_t x_desc, const void *x,
	const cudnnTensorDescriptor_t y_desc, void *y, const cudnnTensorDescriptor_t one, const void *scale,
	const void *shift, const void *mean, const void *variance, double epsilon)
{
	const struct fake_desc *xd = fake_is(x_desc, FAKE_TENSOR), *yd = fake_is(y_desc, FAKE_TENSOR);
	const struct fake_desc *od = fake_is(one, FAKE_TENSOR);
	int at[8];
	if (!h || mode == CUDNN_BATCHNORM_PER_ACTIVATION || !same_shape(xd, yd) ||
		od->type != CUDNN_DATA_FLOAT || fake_volume(od) != xd->dim[1] || od->dim[1] != xd->dim[1] ||
		od->rank != xd->rank || epsilon <= 0 || fake_scalar(alpha, xd->type) != 1 ||
		fake_scalar(beta, xd->type) != 0)
		return CUDNN_STATUS_BAD_PARAM;
	for (int64_t i = 0; i < fake_volume(yd); i++) {
		fake_at(yd, i, at);
		int64_t c = fake_place(od, at);
		double v = fake_load(x, xd->type, fake_place(xd, at)) - ((const float *)mean)[c];
		fake_store(y, yd->type, fake_place(yd, at), v / sqrt(((const float *)variance)[c] + epsilon) *
			((const float *)scale)[c] + ((const float *)shift)[c]);
	}
	fake_done(__func__, yd);
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetLRNDescriptor(cudnnLRNDescriptor_t d, unsigned n, double alpha, double beta, double k)
{
	SET(d)->rank = (int)n;
	SET(d)->a = alpha;
	SET(d)->b = beta;
	SET(d)->k = k;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnLRNCrossChannelForward(cudnnHandle_t h, cudnnLRNDescriptor_t d, cudnnLRNMode_t mode,
	const void *alpha, const cudnnTensorDescriptor_t x_desc, const void *x, const void *beta,
	const cudnnTensorDescriptor_t y_desc, void *y)
{
	const struct fake_desc *xd = fake_is(x_desc, FAKE_TENSOR), *yd = fake_is(y_desc, FAKE_TENSOR);
	int at[8], from[8], n = SET(d)->rank, behind = (n - 1) / 2;
	if (!h || mode != CUDNN_LRN_CROSS_CHANNEL_DIM1 || !same_shape(xd, yd) ||
		fake_scalar(alpha, xd->type) != 1 || fake_scalar(beta, xd->type) != 0)
		return CUDNN_STATUS_BAD_PARAM;
	if (fake_cudnn.forward_status != CUDNN_STATUS_SUCCESS)
		return fake_cudnn.forward_status;
	for (int64_t i = 0; i < fake_volume(yd); i++) {
		double squares = 0;
		fake_at(yd, i, at);
		memcpy(from, at, sizeof(at));
		for (int j = 0; j < n; j++) {
			from[1] = at[1] - behind + j;
			double v = from[1] < 0 || from[1] >= xd->dim[1]
				? 0
				: fake_load(x, xd->type, fake_place(xd, from));
			squares += v * v;
		}
		fake_store(y, yd->type, fake_place(yd, at), fake_load(x, xd->type, fake_place(xd, at)) *
			pow(SET(d)->k + SET(d)->a * squares / n, -SET(d)->b));
	}
	fake_done(__func__, yd);
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetReduceTensorDescriptor(cudnnReduceTensorDescriptor_t d, cudnnReduceTensorOp_t op,
	cudnnDataType_t compute, cudnnNanPropagation_t nan, cudnnReduceTensorIndices_t indices,
	cudnnIndicesType_t type)
{
	(void)nan;
	(void)type;
	SET(d)->mode = (int)op;
	SET(d)->compute = compute;
	return indices == CUDNN_REDUCE_TENSOR_NO_INDICES ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t cudnnGetReductionWorkspaceSize(cudnnHandle_t h, const cudnnReduceTensorDescriptor_t d,
	const cudnnTensorDescriptor_t a, const cudnnTensorDescriptor_t c, size_t *bytes)
{
	(void)h;
	(void)d;
	(void)a;
	(void)c;
	*bytes = 300;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnReduceTensor(cudnnHandle_t h, const cudnnReduceTensorDescriptor_t d, void *indices,
	size_t index_bytes, void *space, size_t bytes, const void *alpha,
	const cudnnTensorDescriptor_t a_desc, const void *a, const void *beta,
	const cudnnTensorDescriptor_t c_desc, void *c)
{
	const struct fake_desc *ad = fake_is(a_desc, FAKE_TENSOR), *cd = fake_is(c_desc, FAKE_TENSOR);
	int to[8], from[8], mode = SET(d)->mode;
	if (!h || indices || index_bytes || !space || bytes < 300 || !broadcasts(cd, ad) ||
		fake_scalar(alpha, ad->type) != 1 || fake_scalar(beta, ad->type) != 0)
		return CUDNN_STATUS_BAD_PARAM;
	for (int64_t i = 0; i < fake_volume(cd); i++) {
		double sum = 0, product = 1, most = -INFINITY, least = INFINITY, squares = 0;
		int64_t count = 0;
		fake_at(cd, i, to);
		for (int64_t j = 0; j < fake_volume(ad); j++) {
			fake_at(ad, j, from);
			if (fake_place(cd, from) != fake_place(cd, to))
				continue;
			double v = fake_load(a, ad->type, fake_place(ad, from));
			sum += v;
			product *= v;
			squares += v * v;
			most = fmax(most, v);
			least = fmin(least, v);
			count++;
		}
		fake_store(c, cd->type, fake_place(cd, to),
			mode == CUDNN_REDUCE_TENSOR_ADD		  ? sum
				: mode == CUDNN_REDUCE_TENSOR_AVG ? sum / (double)count
				: mode == CUDNN_REDUCE_TENSOR_MAX ? most
				: mode == CUDNN_REDUCE_TENSOR_MIN ? least
				: mode == CUDNN_REDUCE_TENSOR_MUL ? product
								  : sqrt(squares));
	}
	fake_done(__func__, cd);
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDropoutGetStatesSize(cudnnHandle_t h, size_t *bytes)
{
	(void)h;
	*bytes = 64;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDropoutGetReserveSpaceSize(cudnnTensorDescriptor_t x, size_t *bytes)
{
	*bytes = (size_t)fake_volume(fake_is(x, FAKE_TENSOR));
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t d, cudnnHandle_t h, float ratio,
	void *states, size_t bytes, unsigned long long seed)
{
	(void)h;
	(void)seed;
	SET(d)->a = ratio;
	return ratio > 0 && (!states || bytes < 64) ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDropoutForward(cudnnHandle_t h, const cudnnDropoutDescriptor_t d,
	const cudnnTensorDescriptor_t x_desc, const void *x, const cudnnTensorDescriptor_t y_desc, void *y,
	void *reserve, size_t bytes)
{
	const struct fake_desc *xd = fake_is(x_desc, FAKE_TENSOR), *yd = fake_is(y_desc, FAKE_TENSOR);
	int at[8];
	if (!h || !same_shape(xd, yd) || !reserve || bytes < (size_t)fake_volume(xd))
		return CUDNN_STATUS_BAD_PARAM;
	for (int64_t i = 0; i < fake_volume(yd); i++) {
		fake_at(yd, i, at);
		bool kept = i % 3 != 0;
		((char *)reserve)[i] = kept;
		fake_store(y, yd->type, fake_place(yd, at),
			kept ? fake_load(x, xd->type, fake_place(xd, at)) / (1 - SET(d)->a) : 0);
	}
	fake_done(__func__, yd);
	return CUDNN_STATUS_SUCCESS;
}
