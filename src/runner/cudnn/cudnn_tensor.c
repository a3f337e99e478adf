/* Tensors and operations of a cuDNN graph, for all that build one. */
#include "config.h"

#include "runner/cudnn/cudnn_graph.h"

#include <assert.h>

/* Alignment promised to cuDNN. Operands are aligned to 256 bytes, but kernels that need more than 16 would
 * not be available to frameworks. */
#define ALIGNMENT 16

static const cudnnDataType_t data_types[DTYPE_COUNT] = {
	[DTYPE_F32] = CUDNN_DATA_FLOAT,
	[DTYPE_F16] = CUDNN_DATA_HALF,
	[DTYPE_BF16] = CUDNN_DATA_BFLOAT16,
	[DTYPE_F64] = CUDNN_DATA_DOUBLE,
	[DTYPE_TF32] = CUDNN_DATA_FLOAT,
	[DTYPE_S8] = CUDNN_DATA_INT8,
	[DTYPE_U8] = CUDNN_DATA_UINT8,
	[DTYPE_S32] = CUDNN_DATA_INT32,
	[DTYPE_U32] = CUDNN_DATA_UINT32,
	[DTYPE_S64] = CUDNN_DATA_INT64,
	[DTYPE_BOOL] = CUDNN_DATA_BOOLEAN,
	[DTYPE_S4] = CUDNN_DATA_INT4,
	[DTYPE_U4] = CUDNN_DATA_UINT4,
	[DTYPE_F8E4M3] = CUDNN_DATA_FP8_E4M3,
	[DTYPE_F8E5M2] = CUDNN_DATA_FP8_E5M2,
	[DTYPE_F4E2M1] = CUDNN_DATA_FP4_E2M1,
	[DTYPE_C64] = CUDNN_DATA_COMPLEX_FP32,
	[DTYPE_C128] = CUDNN_DATA_COMPLEX_FP64,
};

bool cudnn_data_type(struct cudnn_graph *g, enum dtype t, cudnnDataType_t *type)
{
	*type = data_types[t];
	if (*type != CUDNN_DATA_FLOAT || t == DTYPE_F32 || t == DTYPE_TF32)
		return true;
	cudnn_bag_refuse(&g->bag, "cuDNN has no type %s", dtype_name(t));
	return false;
}

static struct cudnn_tensor shape_copy(const struct cuda_layout *l, int front)
{
	struct cudnn_tensor t = { .dtype = l->dtype, .rank = l->shape.rank + front };
	assert(t.rank <= CUDNN_RANK);
	for (int i = 0; i < l->shape.rank; i++) {
		t.dim[front + i] = l->shape.dim[i];
		t.stride[front + i] = l->stride[i];
	}
	/* leading sizes of 1: their stride spans the whole tensor */
	for (int i = front - 1; i >= 0; i--) {
		t.dim[i] = 1;
		t.stride[i] = 1;
		for (int j = i + 1; j < t.rank; j++)
			if (t.dim[j] * t.stride[j] > t.stride[i])
				t.stride[i] = t.dim[j] * t.stride[j];
	}
	return t;
}

struct cudnn_tensor cudnn_shape_of(const struct cuda_layout *l, int rank)
{
	return shape_copy(l, l->shape.rank < rank ? rank - l->shape.rank : 0);
}

struct cudnn_tensor cudnn_shape_spatial(const struct cuda_layout *l, int rank)
{
	if (l->shape.rank != 3)
		return cudnn_shape_of(l, rank);
	struct cudnn_tensor t = shape_copy(l, 0);
	t.dim[3] = t.dim[2];
	t.stride[3] = t.stride[2];
	t.dim[2] = 1;
	t.stride[2] = t.dim[3] * t.stride[3];
	t.rank = 4;
	return t;
}

bool cudnn_layouts_equal(const struct cuda_layout *a, const struct cuda_layout *b)
{
	for (int i = 0; i < a->shape.rank; i++)
		if (a->shape.dim[i] != b->shape.dim[i] ||
			(a->shape.dim[i] != 1 && a->stride[i] != b->stride[i]))
			return false;
	return a->shape.rank == b->shape.rank;
}

struct cudnn_tensor cudnn_shape_dense(int rank, const int64_t *dim, enum dtype dtype)
{
	struct cudnn_tensor t = { .dtype = dtype, .rank = rank };
	int64_t stride = 1;
	for (int i = rank - 1; i >= 0; i--) {
		t.dim[i] = dim[i];
		t.stride[i] = stride;
		stride *= dim[i];
	}
	return t;
}

struct cudnn_tensor cudnn_shape_along(const struct cudnn_tensor *like, int axis, enum dtype dtype)
{
	struct cudnn_tensor t = { .dtype = dtype, .rank = like->rank };
	for (int i = 0; i < t.rank; i++) {
		t.dim[i] = i == axis ? like->dim[i] : 1;
		t.stride[i] = i == axis ? 1 : like->dim[axis];
	}
	return t;
}

static struct cudnn_tensor tensor_make(
	struct cudnn_graph *g, const struct cudnn_tensor *like, bool is_virtual, bool is_value)
{
	struct cudnn_tensor t = *like;
	cudnnDataType_t type;
	int64_t alignment = ALIGNMENT, uid = ++g->uid;
	if (!cudnn_data_type(g, like->dtype, &type))
		return t;
	/* cuDNN packs eight booleans into a byte in memory; ours have a byte each, 0 or 1 */
	if (like->dtype == DTYPE_BOOL && !is_virtual)
		type = CUDNN_DATA_INT8;
	t.d = CUDNN_NEW(&g->bag, TENSOR);
	CUDNN_PUT(&g->bag, t.d, TENSOR_DATA_TYPE, DATA_TYPE, type);
	CUDNN_PUT_ARRAY(&g->bag, t.d, TENSOR_DIMENSIONS, INT64, t.rank, t.dim);
	CUDNN_PUT_ARRAY(&g->bag, t.d, TENSOR_STRIDES, INT64, t.rank, t.stride);
	CUDNN_PUT(&g->bag, t.d, TENSOR_UNIQUE_ID, INT64, uid);
	CUDNN_PUT(&g->bag, t.d, TENSOR_BYTE_ALIGNMENT, INT64, alignment);
	if (is_virtual)
		CUDNN_PUT(&g->bag, t.d, TENSOR_IS_VIRTUAL, BOOLEAN, is_virtual);
	if (is_value)
		CUDNN_PUT(&g->bag, t.d, TENSOR_IS_BY_VALUE, BOOLEAN, is_value);
	cudnn_desc_finish(&g->bag, t.d, "tensor");
	return t;
}

static struct cudnn_binding *bind(struct cudnn_graph *g, enum cudnn_role role, int index)
{
	assert(g->binding_count < CUDNN_BINDINGS);
	struct cudnn_binding *b = &g->binding[g->binding_count++];
	*b = (struct cudnn_binding){ .uid = g->uid, .role = role, .index = index };
	return b;
}

struct cudnn_tensor cudnn_tensor_bound(
	struct cudnn_graph *g, const struct cudnn_tensor *like, enum cudnn_role role, int index)
{
	struct cudnn_tensor t = tensor_make(g, like, false, false);
	bind(g, role, index);
	return t;
}

struct cudnn_tensor cudnn_tensor_virtual(
	struct cudnn_graph *g, const struct cudnn_tensor *like, enum dtype dtype)
{
	struct cudnn_tensor t = *like;
	t.dtype = dtype;
	return tensor_make(g, &t, true, false);
}

static struct cudnn_tensor value_make(struct cudnn_graph *g, int rank, enum dtype dtype)
{
	static const int64_t ones[CUDNN_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	struct cudnn_tensor t = cudnn_shape_dense(rank, ones, dtype);
	return tensor_make(g, &t, false, true);
}

struct cudnn_tensor cudnn_tensor_value(struct cudnn_graph *g, int rank, float value)
{
	struct cudnn_tensor t = value_make(g, rank, DTYPE_F32);
	bind(g, CUDNN_VALUE, 0)->value.f32 = value;
	return t;
}

struct cudnn_tensor cudnn_tensor_index_value(struct cudnn_graph *g, int rank, int32_t value)
{
	struct cudnn_tensor t = value_make(g, rank, DTYPE_S32);
	bind(g, CUDNN_VALUE, 0)->value.s32 = value;
	return t;
}

void cudnn_operation_add(struct cudnn_graph *g, cudnnBackendDescriptor_t operation, const char *name)
{
	cudnn_desc_finish(&g->bag, operation, name);
	if (g->operation_count == CUDNN_OPERATIONS)
		cudnn_bag_refuse(&g->bag, "more than %d operations in one graph", CUDNN_OPERATIONS);
	if (!g->bag.bad)
		g->operation[g->operation_count++] = operation;
}
