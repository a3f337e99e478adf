/* What all candidates of the legacy API share: their descriptors, types and layouts. */
#include "config.h"

#include "runner/cudnn_legacy/cudnn_legacy.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define RANK_LEAST 4
#define RANK_MOST 5  /* maximum rank of the element-wise functions */

/* ---- opening and closing a candidate ---- */

static union cudnn_legacy_scalar scalar(const struct problem *p, double value)
{
	union cudnn_legacy_scalar s = { .f64 = 0 };
	if (p->operand[0].dtype == DTYPE_F64)
		s.f64 = value;
	else
		s.f32 = (float)value;
	return s;
}

int cudnn_legacy_open(struct cudnn_legacy *l, const struct problem *p, const struct cudnn_legacy_offer *o,
	struct error *err)
{
	*l = (struct cudnn_legacy){ .problem = *p, .way = o->way, .algorithm = o->algorithm,
		.type = o->type };
	l->api = cudnn_library(err);
	l->handle = l->api ? cudnn_handle(err) : NULL;
	if (!l->handle)
		return -1;
	l->one = scalar(p, 1);
	l->zero = scalar(p, 0);
	int bad = l->way ? l->way->plan(l, o, err) : 0;
	if (bad) {
		cudnn_legacy_close(l);
		return bad;
	}
	l->workspace_bytes = (double)l->workspace + (double)l->extra;
	return 0;
}

void cudnn_legacy_close(struct cudnn_legacy *l)
{
	for (int i = 0; i < CUDNN_LEGACY_TENSORS; i++)
		if (l->tensor[i])
			l->api->cudnnDestroyTensorDescriptor(l->tensor[i]);
	if (l->pooling)
		l->api->cudnnDestroyPoolingDescriptor(l->pooling);
	if (l->reduce)
		l->api->cudnnDestroyReduceTensorDescriptor(l->reduce);
	if (l->lrn)
		l->api->cudnnDestroyLRNDescriptor(l->lrn);
	for (int i = 0; i < 2; i++)
		if (l->data[i])
			l->api->cudnnDestroyRNNDataDescriptor(l->data[i]);
	if (l->rnn)
		l->api->cudnnDestroyRNNDescriptor(l->rnn);
	if (l->dropout)
		l->api->cudnnDestroyDropoutDescriptor(l->dropout);
	if (l->states)
		cudaFree(l->states);
	memset(l, 0, sizeof(*l));
}

struct cudnn_legacy_offer *cudnn_legacy_add(struct cudnn_legacy_offers *o, const struct cudnn_legacy_way *way,
	const char *name, int algorithm)
{
	assert(o->count < CUDNN_LEGACY_OFFERS);
	struct cudnn_legacy_offer *one = &o->offer[o->count++];
	*one = (struct cudnn_legacy_offer){ .way = way,
		.math = "strict",
		.matrix = MATRIX_NO,
		.algorithm = algorithm,
		.type = CUDNN_DEFAULT_MATH };
	snprintf(one->name, sizeof(one->name), "%s", name);
	return one;
}

int cudnn_legacy_refuse_epilogues(const struct problem *p, struct error *err)
{
	return p->epilogue_count ? error_set(err, "cuDNN's legacy API does not fuse epilogues with %s",
		kernel_name(p->kernel)) : 0;
}

/* ---- types ---- */

int cudnn_legacy_type(enum dtype t, cudnnDataType_t *to, struct error *err)
{
	static const struct {
		enum dtype dtype;
		cudnnDataType_t type;
	} rows[] = {
		{ DTYPE_F32, CUDNN_DATA_FLOAT },
		{ DTYPE_F16, CUDNN_DATA_HALF },
		{ DTYPE_BF16, CUDNN_DATA_BFLOAT16 },
		{ DTYPE_F64, CUDNN_DATA_DOUBLE },
		{ DTYPE_S8, CUDNN_DATA_INT8 },
		{ DTYPE_U8, CUDNN_DATA_UINT8 },
		{ DTYPE_S32, CUDNN_DATA_INT32 },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].dtype == t) {
			*to = rows[i].type;
			return 0;
		}
	return error_set(err, "cuDNN's legacy API has no type %s", dtype_name(t));
}

cudnnDataType_t cudnn_legacy_compute(enum dtype t)
{
	return t == DTYPE_F64			 ? CUDNN_DATA_DOUBLE
		: t == DTYPE_S8 || t == DTYPE_U8 ? CUDNN_DATA_INT32
						 : CUDNN_DATA_FLOAT;
}

int cudnn_legacy_int(int64_t value, int *to, struct error *err)
{
	*to = (int)value;
	return value > INT_MAX || value < 0 ? error_set(err, "%lld is out of range for cuDNN's legacy API",
		(long long)value) : 0;
}

/* ---- layouts ---- */

/* Inserts a dimension of size 1 before index `at`. */
static void layout_insert(struct cuda_layout *l, int at)
{
	int64_t stride = at < l->shape.rank ? l->shape.dim[at] * l->stride[at] : 1;
	for (int i = l->shape.rank; i > at; i--) {
		l->shape.dim[i] = l->shape.dim[i - 1];
		l->stride[i] = l->stride[i - 1];
	}
	l->shape.dim[at] = 1;
	l->stride[at] = stride;
	l->shape.rank++;
}

static struct cuda_layout lift(const struct cuda_layout *layout)
{
	struct cuda_layout l = *layout;
	if (l.shape.rank == 1)
		layout_insert(&l, 0);
	while (l.shape.rank < RANK_LEAST)
		layout_insert(&l, l.shape.rank < 2 ? 0 : 2);
	return l;
}

static int tensor_set(struct cudnn_legacy *l, int slot, const struct cuda_layout *layout, struct error *err)
{
	int dim[PROBLEM_RANK], stride[PROBLEM_RANK];
	cudnnDataType_t type = CUDNN_DATA_FLOAT;
	if (cudnn_legacy_type(layout->dtype, &type, err))
		return -1;
	for (int i = 0; i < layout->shape.rank; i++)
		if (cudnn_legacy_int(layout->shape.dim[i], &dim[i], err) ||
			cudnn_legacy_int(layout->stride[i], &stride[i], err))
			return -1;
	assert(slot < CUDNN_LEGACY_TENSORS && !l->tensor[slot]);
	CUDNN_CALL(l, cudnnCreateTensorDescriptor, &l->tensor[slot]);
	CUDNN_CALL(l, cudnnSetTensorNdDescriptor, l->tensor[slot], type, layout->shape.rank, dim, stride);
	return 0;
}

int cudnn_legacy_tensor(struct cudnn_legacy *l, int slot, const struct cuda_layout *layout, struct error *err)
{
	struct cuda_layout lifted = lift(layout);
	return tensor_set(l, slot, &lifted, err);
}

/* Merges dimension i + 1 into i if they are contiguous in all layouts. A broadcast size of 1 merges only with
 * another one. Returns false if they cannot be merged. */
static bool layouts_join(struct cuda_layout *l, int count, int i)
{
	for (int j = 0; j < count; j++) {
		bool one = l[j].shape.dim[i] == 1, next = l[j].shape.dim[i + 1] == 1;
		bool other_one = l[0].shape.dim[i] == 1, other_next = l[0].shape.dim[i + 1] == 1;
		if (one && next)
			continue;
		if ((one && !other_one) || (next && !other_next) || (!one && !next &&
			l[j].stride[i] != l[j].stride[i + 1] * l[j].shape.dim[i + 1]))
			return false;
	}
	for (int j = 0; j < count; j++) {
		if (l[j].shape.dim[i + 1] != 1 || l[j].shape.dim[i] == 1)
			l[j].stride[i] = l[j].stride[i + 1];
		l[j].shape.dim[i] *= l[j].shape.dim[i + 1];
		l[j].shape.rank--;
		for (int k = i + 1; k < l[j].shape.rank; k++) {
			l[j].shape.dim[k] = l[j].shape.dim[k + 1];
			l[j].stride[k] = l[j].stride[k + 1];
		}
	}
	return true;
}

int cudnn_legacy_tensors(struct cudnn_legacy *l, int slot, const struct cuda_layout *const *layouts,
	int count, struct error *err)
{
	struct cuda_layout all[CUDNN_LEGACY_TENSORS] = { 0 };
	int rank = 0;
	assert(count > 0 && count <= CUDNN_LEGACY_TENSORS);
	for (int i = 0; i < count; i++)
		rank = layouts[i]->shape.rank > rank ? layouts[i]->shape.rank : rank;
	for (int i = 0; i < count; i++) {
		all[i] = *layouts[i];
		while (all[i].shape.rank < rank)
			layout_insert(&all[i], 0);
		all[i] = lift(&all[i]);
	}
	for (int i = rank - 2; i >= 0 && all[0].shape.rank > RANK_MOST; i--)
		layouts_join(all, count, i);
	if (all[0].shape.rank > RANK_MOST)
		return error_set(err, "%d dimensions cannot be merged to the %d of cuDNN's legacy API",
			rank, RANK_MOST);
	for (int i = 0; i < count; i++)
		if (tensor_set(l, slot + i, &all[i], err))
			return -1;
	return 0;
}
