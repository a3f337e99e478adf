#include "config.h"

#include "fake_cudnn_graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runner/verify/fill.h"

/* While a graph runs, tensors are dense doubles, found by unique id. */

#define TENSORS 256
#define RANK 8

struct value {
	const struct fake_node *tensor;
	int rank;
	int64_t dim[RANK], count;
	double *v;
};

struct run {
	const struct fake_node *pack;
	int count;
	struct value value[TENSORS];
	bool bad;
};

static bool fail(struct run *r, const char *why)
{
	r->bad = true;
	snprintf(fake_cudnn_graph.why, sizeof(fake_cudnn_graph.why),
		"Warning: CUDNN_STATUS_BAD_PARAM; Reason: %s", why);
	return false;
}

static enum dtype dtype_of(const struct fake_node *tensor)
{
	switch (*(const cudnnDataType_t *)fake_values(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE)) {
	case CUDNN_DATA_FLOAT: return DTYPE_F32;
	case CUDNN_DATA_HALF: return DTYPE_F16;
	case CUDNN_DATA_BFLOAT16: return DTYPE_BF16;
	case CUDNN_DATA_INT8: return DTYPE_S8;
	case CUDNN_DATA_UINT8: return DTYPE_U8;
	case CUDNN_DATA_INT32: return DTYPE_S32;
	case CUDNN_DATA_BOOLEAN: return DTYPE_BOOL;
	case CUDNN_DATA_FP8_E4M3: return DTYPE_F8E4M3;
	case CUDNN_DATA_FP8_E5M2: return DTYPE_F8E5M2;
	default: abort();
	}
}

static bool flag(const struct fake_node *tensor, cudnnBackendAttributeName_t name)
{
	const struct fake_attribute *a = fake_attribute(tensor, name);
	return a && *(const bool *)a->bytes;
}

static void *address_of(struct run *r, int64_t uid)
{
	const struct fake_attribute *ids = fake_attribute(r->pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
	for (int64_t i = 0; i < ids->count; i++)
		if (((const int64_t *)ids->bytes)[i] == uid)
			return ((void *const *)fake_values(
				r->pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS))[i];
	return NULL;
}

static void unravel(const struct value *t, int64_t index, int64_t *at)
{
	for (int i = t->rank - 1; i >= 0; i--) {
		at[i] = index % t->dim[i];
		index /= t->dim[i];
	}
}

/* Returns the index of the element of t at these coordinates; sizes of 1 broadcast. */
static double *seen(const struct value *t, const int64_t *at)
{
	int64_t index = 0;
	for (int i = 0; i < t->rank; i++)
		index = index * t->dim[i] + (t->dim[i] == 1 ? 0 : at[i]);
	return &t->v[index];
}

static char *place(const struct value *t, char *base, int64_t index)
{
	int64_t at[RANK], offset = 0;
	unravel(t, index, at);
	for (int i = 0; i < t->rank; i++)
		offset += at[i] * fake_int64(t->tensor, CUDNN_ATTR_TENSOR_STRIDES, i);
	return base + offset * (dtype_bits(dtype_of(t->tensor)) / 8);
}

/* Returns the values of a tensor; loads those in memory at first use (those of an output are then
 * overwritten). */
static struct value *value_of(struct run *r, const struct fake_node *tensor)
{
	int64_t uid = fake_int64(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, 0);
	for (int i = 0; i < r->count; i++)
		if (r->value[i].tensor == tensor)
			return &r->value[i];
	if (r->count == TENSORS)
		abort();
	struct value *t = &r->value[r->count++];
	t->tensor = tensor;
	t->rank = (int)fake_attribute(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS)->count;
	t->count = 1;
	for (int i = 0; i < t->rank; i++)
		t->count *= t->dim[i] = fake_int64(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, i);
	t->v = base_calloc((size_t)t->count, sizeof(double));
	if (flag(tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL))
		return t;
	char *base = address_of(r, uid);
	if (!base) {
		fail(r, "a tensor without an address");
		return t;
	}
	if (dtype_of(tensor) == DTYPE_BOOL) { /* cuDNN packs eight into a byte; ours have a byte each */
		fail(r, "booleans in memory");
		return t;
	}
	for (int64_t i = 0; i < t->count; i++)
		t->v[i] = fill_decode(place(t, base, i), dtype_of(tensor));
	return t;
}

static struct value *operand(struct run *r, const struct fake_node *op, cudnnBackendAttributeName_t name)
{
	return value_of(r, fake_link(op, name));
}

static void store(struct run *r, struct value *t)
{
	if (flag(t->tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL))
		return;
	char *base = address_of(r, fake_int64(t->tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, 0));
	for (int64_t i = 0; base && i < t->count; i++)
		fill_encode(t->v[i], dtype_of(t->tensor), place(t, base, i));
}

/* ---- pointwise ---- */

static double parameter(const struct fake_node *how, cudnnBackendAttributeName_t name, double otherwise)
{
	const struct fake_attribute *a = fake_attribute(how, name);
	return a ? *(const double *)a->bytes : otherwise;
}

static double relu(const struct fake_node *how, double x)
{
	double lower = parameter(how, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, 0);
	double upper = parameter(how, CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, INFINITY);
	double slope = parameter(how, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, 0);
	return x > lower ? fmin(x, upper) : lower + slope * (x - lower);
}

static double pointwise(const struct fake_node *how, double x, double b, double t, const int64_t *at)
{
	switch (*(const cudnnPointwiseMode_t *)fake_values(how, CUDNN_ATTR_POINTWISE_MODE)) {
	case CUDNN_POINTWISE_ADD: return x + b;
	case CUDNN_POINTWISE_SUB: return x - b;
	case CUDNN_POINTWISE_MUL: return x * b;
	case CUDNN_POINTWISE_DIV: return x / b;
	case CUDNN_POINTWISE_MAX: return fmax(x, b);
	case CUDNN_POINTWISE_MIN: return fmin(x, b);
	case CUDNN_POINTWISE_POW: return pow(x, b);
	case CUDNN_POINTWISE_ABS: return fabs(x);
	case CUDNN_POINTWISE_EXP: return exp(x);
	case CUDNN_POINTWISE_LOG: return log(x);
	case CUDNN_POINTWISE_SQRT: return sqrt(x);
	case CUDNN_POINTWISE_RSQRT: return 1 / sqrt(x);
	case CUDNN_POINTWISE_IDENTITY: return x;
	case CUDNN_POINTWISE_RELU_FWD: return relu(how, x);
	case CUDNN_POINTWISE_TANH_FWD: return tanh(x);
	case CUDNN_POINTWISE_SIGMOID_FWD: return 1 / (1 + exp(-x));
	case CUDNN_POINTWISE_ELU_FWD:
		return x > 0 ? x : parameter(how, CUDNN_ATTR_POINTWISE_ELU_ALPHA, 1) * expm1(x);
	case CUDNN_POINTWISE_GELU_FWD: return x / 2 * (1 + erf(x / sqrt(2)));
	case CUDNN_POINTWISE_GELU_APPROX_TANH_FWD:
		return x / 2 * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
	case CUDNN_POINTWISE_SOFTPLUS_FWD: {
		double beta = parameter(how, CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA, 1);
		return log1p(exp(beta * x)) / beta;
	}
	case CUDNN_POINTWISE_SWISH_FWD:
		return x / (1 + exp(-parameter(how, CUDNN_ATTR_POINTWISE_SWISH_BETA, 1) * x));
	case CUDNN_POINTWISE_CMP_EQ: return x == b;
	case CUDNN_POINTWISE_CMP_GT: return x > b;
	case CUDNN_POINTWISE_CMP_GE: return x >= b;
	case CUDNN_POINTWISE_CMP_LT: return x < b;
	case CUDNN_POINTWISE_CMP_LE: return x <= b;
	case CUDNN_POINTWISE_GEN_INDEX: return (double)at[fake_int64(how, CUDNN_ATTR_POINTWISE_AXIS, 0)];
	case CUDNN_POINTWISE_BINARY_SELECT: return t != 0 ? x : b;
	default: abort();
	}
}

static bool broadcasts(const struct value *from, const struct value *to)
{
	bool good = from->rank == to->rank;
	for (int i = 0; good && i < to->rank; i++)
		good = from->dim[i] == to->dim[i] || from->dim[i] == 1;
	return good;
}

static bool pointwise_run(struct run *r, const struct fake_node *op)
{
	const struct fake_node *how = fake_link(op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
	struct value *x = operand(r, op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC), *b = NULL, *t = NULL;
	struct value *y = operand(r, op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
	if (fake_attribute(op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC))
		b = operand(r, op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
	if (fake_attribute(op, CUDNN_ATTR_OPERATION_POINTWISE_TDESC))
		t = operand(r, op, CUDNN_ATTR_OPERATION_POINTWISE_TDESC);
	if (!broadcasts(x, y) || (b && !broadcasts(b, y)) || (t && !broadcasts(t, y)))
		return fail(r, "pointwise shapes");
	for (int64_t i = 0; i < y->count; i++) {
		int64_t at[RANK];
		unravel(y, i, at);
		y->v[i] = pointwise(how, *seen(x, at), b ? *seen(b, at) : 0, t ? *seen(t, at) : 0, at);
	}
	store(r, y);
	return true;
}

/* ---- windows ---- */

struct window {
	int dims;
	int64_t size[3], pre[3], post[3], stride[3], dilation[3];
};

static struct window conv_window(const struct fake_node *how, const struct value *w)
{
	struct window k = { .dims = (int)fake_int64(how, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 0) };
	for (int i = 0; i < k.dims; i++) {
		k.size[i] = w->dim[2 + i];
		k.pre[i] = fake_int64(how, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, i);
		k.post[i] = fake_int64(how, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, i);
		k.stride[i] = fake_int64(how, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, i);
		k.dilation[i] = fake_int64(how, CUDNN_ATTR_CONVOLUTION_DILATIONS, i);
	}
	return k;
}

static int64_t whole(const struct fake_node *how, cudnnBackendAttributeName_t name, int i)
{
	const cudnnFraction_t *f = fake_values(how, name);
	if (f[i].denominator != 1)
		abort();
	return f[i].numerator;
}

static struct window pool_window(const struct fake_node *how)
{
	struct window k = { .dims = (int)fake_int64(how, CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS, 0) };
	for (int i = 0; i < k.dims; i++) {
		k.size[i] = whole(how, CUDNN_ATTR_RESAMPLE_WINDOW_DIMS, i);
		k.pre[i] = whole(how, CUDNN_ATTR_RESAMPLE_PRE_PADDINGS, i);
		k.post[i] = whole(how, CUDNN_ATTR_RESAMPLE_POST_PADDINGS, i);
		k.stride[i] = whole(how, CUDNN_ATTR_RESAMPLE_STRIDES, i);
		k.dilation[i] = 1;
	}
	return k;
}

static bool window_fits(const struct window *k, const struct value *x, const struct value *y)
{
	bool good = x->rank == k->dims + 2 && y->rank == k->dims + 2 && x->dim[0] == y->dim[0];
	for (int i = 0; good && i < k->dims; i++) {
		int64_t left =
			x->dim[2 + i] + k->pre[i] + k->post[i] - ((k->size[i] - 1) * k->dilation[i] + 1);
		good = left >= 0 && left / k->stride[i] + 1 == y->dim[2 + i];
	}
	return good;
}

static int64_t taps_of(const struct window *k)
{
	int64_t n = 1;
	for (int i = 0; i < k->dims; i++)
		n *= k->size[i];
	return n;
}

/* Sets at[2...] to the input coordinates for output coordinates and a tap, and w to the tap's coordinates.
 * Returns false in the padding. */
static bool tap_at(const struct window *k, const struct value *x, const int64_t *out, int64_t tap,
	int64_t *at, int64_t *w)
{
	bool inside = true;
	for (int i = k->dims - 1; i >= 0; i--) {
		w[i] = tap % k->size[i];
		tap /= k->size[i];
		at[2 + i] = out[2 + i] * k->stride[i] - k->pre[i] + w[i] * k->dilation[i];
		inside = inside && at[2 + i] >= 0 && at[2 + i] < x->dim[2 + i];
	}
	return inside;
}

/* Computes y from x, or backwards x from y, over the same pairs of elements. */
static bool conv_run(struct run *r, const struct fake_node *op, bool backwards)
{
	const struct fake_node *how = fake_link(op,
		backwards ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC
			  : CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC);
	struct value *x = operand(r, op, backwards ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX :
		CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X);
	struct value *w = operand(r, op, backwards ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W :
		CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W);
	struct value *y = operand(r, op, backwards ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY :
		CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y);
	struct value *to = backwards ? x : y;
	struct window k = conv_window(how, w);
	int64_t groups = w->dim[1] ? x->dim[1] / w->dim[1] : 0, per_group = groups ? y->dim[1] / groups : 0;
	if (!window_fits(&k, x, y) || w->dim[0] != y->dim[1] || groups * w->dim[1] != x->dim[1] ||
		per_group * groups != y->dim[1])
		return fail(r, "convolution shapes");
	memset(to->v, 0, (size_t)to->count * sizeof(double));
	for (int64_t i = 0; i < y->count; i++)
		for (int64_t tap = 0; tap < taps_of(&k); tap++) {
			int64_t out[RANK], at[RANK], wat[RANK];
			unravel(y, i, out);
			at[0] = out[0];
			wat[0] = out[1];
			if (!tap_at(&k, x, out, tap, at, wat + 2))
				continue;
			for (wat[1] = 0; wat[1] < w->dim[1]; wat[1]++) {
				at[1] = out[1] / per_group * w->dim[1] + wat[1];
				*(backwards ? seen(x, at) : &y->v[i]) +=
					*(backwards ? &y->v[i] : seen(x, at)) * *seen(w, wat);
			}
		}
	store(r, to);
	return true;
}

static bool pool_run(struct run *r, const struct fake_node *op)
{
	const struct fake_node *how = fake_link(op, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC);
	cudnnResampleMode_t mode = *(const cudnnResampleMode_t *)fake_values(how, CUDNN_ATTR_RESAMPLE_MODE);
	struct value *x = operand(r, op, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC);
	struct value *y = operand(r, op, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC);
	struct window k = pool_window(how);
	if (!window_fits(&k, x, y))
		return fail(r, "pooling shapes");
	for (int64_t i = 0; i < y->count; i++) {
		int64_t out[RANK], at[RANK], tap_place[RANK], inside = 0;
		double sum = 0, most = -INFINITY;
		unravel(y, i, out);
		at[0] = out[0];
		at[1] = out[1];
		for (int64_t tap = 0; tap < taps_of(&k); tap++)
			if (tap_at(&k, x, out, tap, at, tap_place)) {
				sum += *seen(x, at);
				most = fmax(most, *seen(x, at));
				inside++;
			}
		y->v[i] = mode == CUDNN_RESAMPLE_MAXPOOL		 ? most
			: mode == CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING ? sum / (double)inside
									 : sum / (double)taps_of(&k);
	}
	store(r, y);
	return true;
}

/* ---- matmuls, reductions, normalizations ---- */

/* Batches broadcast; for attention also one head over a group of heads. */
static double *batch_seen(
	const struct value *t, const struct value *y, const int64_t *at, int64_t row, int64_t column)
{
	int64_t to[RANK];
	for (int i = 0; i < t->rank - 2; i++)
		to[i] = at[i] * t->dim[i] / y->dim[i];
	to[t->rank - 2] = row;
	to[t->rank - 1] = column;
	return seen(t, to);
}

static bool matmul_run(struct run *r, const struct fake_node *op)
{
	struct value *a = operand(r, op, CUDNN_ATTR_OPERATION_MATMUL_ADESC);
	struct value *b = operand(r, op, CUDNN_ATTR_OPERATION_MATMUL_BDESC);
	struct value *c = operand(r, op, CUDNN_ATTR_OPERATION_MATMUL_CDESC);
	int n = c->rank;
	if (a->rank != n || b->rank != n || a->dim[n - 1] != b->dim[n - 2] ||
		a->dim[n - 2] != c->dim[n - 2] || b->dim[n - 1] != c->dim[n - 1])
		return fail(r, "matmul shapes");
	for (int64_t i = 0; i < c->count; i++) {
		int64_t at[RANK];
		double sum = 0;
		unravel(c, i, at);
		for (int64_t k = 0; k < a->dim[n - 1]; k++)
			sum += *batch_seen(a, c, at, at[n - 2], k) * *batch_seen(b, c, at, k, at[n - 1]);
		c->v[i] = sum;
	}
	store(r, c);
	return true;
}

static bool reduction_run(struct run *r, const struct fake_node *op)
{
	const struct fake_node *how = fake_link(op, CUDNN_ATTR_OPERATION_REDUCTION_DESC);
	cudnnReduceTensorOp_t mode =
		*(const cudnnReduceTensorOp_t *)fake_values(how, CUDNN_ATTR_REDUCTION_OPERATOR);
	struct value *x = operand(r, op, CUDNN_ATTR_OPERATION_REDUCTION_XDESC);
	struct value *y = operand(r, op, CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
	if (!broadcasts(y, x))
		return fail(r, "reduction shapes");
	for (int64_t i = 0; i < y->count; i++)
		y->v[i] = mode == CUDNN_REDUCE_TENSOR_MAX ? -INFINITY
			: mode == CUDNN_REDUCE_TENSOR_MIN ? INFINITY
							  : mode == CUDNN_REDUCE_TENSOR_MUL;
	for (int64_t i = 0; i < x->count; i++) {
		int64_t at[RANK];
		unravel(x, i, at);
		double *to = seen(y, at), v = x->v[i];
		*to = mode == CUDNN_REDUCE_TENSOR_MAX	  ? fmax(*to, v)
			: mode == CUDNN_REDUCE_TENSOR_MIN ? fmin(*to, v)
			: mode == CUDNN_REDUCE_TENSOR_MUL
			? *to * v
			: *to + (mode == CUDNN_REDUCE_TENSOR_NORM2 ? v * v : v);
	}
	for (int64_t i = 0; mode == CUDNN_REDUCE_TENSOR_NORM2 && i < y->count; i++)
		y->v[i] = sqrt(y->v[i]);
	store(r, y);
	return true;
}

/* True if the mean is taken over dimension i. Layer and RMS: dimensions of the scale. Instance: space. */
static bool is_normalized(cudnnBackendNormMode_t mode, const struct value *scale, int i)
{
	return mode == CUDNN_INSTANCE_NORM ? i >= 2 : scale->dim[i] != 1;
}

static bool norm_run(struct run *r, const struct fake_node *op)
{
	cudnnBackendNormMode_t mode =
		*(const cudnnBackendNormMode_t *)fake_values(op, CUDNN_ATTR_OPERATION_NORM_FWD_MODE);
	struct value *x = operand(r, op, CUDNN_ATTR_OPERATION_NORM_FWD_XDESC), *bias = NULL;
	struct value *scale = operand(r, op, CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC);
	struct value *y = operand(r, op, CUDNN_ATTR_OPERATION_NORM_FWD_YDESC);
	double epsilon = operand(r, op, CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC)->v[0];
	if (mode != CUDNN_RMS_NORM)
		bias = operand(r, op, CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC);
	if (!broadcasts(x, y) || !broadcasts(scale, x))
		return fail(r, "norm shapes");
	for (int64_t i = 0; i < y->count; i++) {
		int64_t at[RANK], other[RANK];
		double sum = 0, squares = 0, n = 0;
		unravel(y, i, at);
		for (int64_t j = 0; j < x->count; j++) {
			bool same = true;
			unravel(x, j, other);
			for (int d = 0; d < x->rank; d++)
				same = same && (is_normalized(mode, scale, d) || other[d] == at[d]);
			if (!same)
				continue;
			sum += x->v[j];
			squares += x->v[j] * x->v[j];
			n++;
		}
		double mean = mode == CUDNN_RMS_NORM ? 0 : sum / n, variance = squares / n - mean * mean;
		y->v[i] = (x->v[i] - mean) / sqrt(variance + epsilon) * *seen(scale, at) +
			(bias ? *seen(bias, at) : 0);
	}
	store(r, y);
	return true;
}

static bool concat_run(struct run *r, const struct fake_node *op)
{
	const struct fake_attribute *in = fake_attribute(op, CUDNN_ATTR_OPERATION_CONCAT_INPUT_DESCS);
	int64_t axis = fake_int64(op, CUDNN_ATTR_OPERATION_CONCAT_AXIS, 0), begin = 0;
	struct value *y = operand(r, op, CUDNN_ATTR_OPERATION_CONCAT_OUTPUT_DESC);
	for (int64_t s = 0; s < in->count; s++) {
		struct value *x = value_of(r, ((struct fake_node *const *)in->bytes)[s]);
		for (int64_t i = 0; i < x->count; i++) {
			int64_t at[RANK];
			unravel(x, i, at);
			at[axis] += begin;
			*seen(y, at) = x->v[i];
		}
		begin += x->dim[axis];
	}
	if (begin != y->dim[axis])
		return fail(r, "concat shapes");
	store(r, y);
	return true;
}

static bool sdpa_run(struct run *r, const struct fake_node *op)
{
	struct value *q = operand(r, op, CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC),
		     *k = operand(r, op, CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC);
	struct value *v = operand(r, op, CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC),
		     *o = operand(r, op, CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC);
	double scale = operand(r, op, CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC)->v[0];
	for (int64_t i = 0; i < o->count; i++) {
		int64_t at[RANK];
		double sum = 0, total = 0;
		unravel(o, i, at);
		for (int64_t key = 0; key < k->dim[2]; key++) {
			double score = 0;
			for (int64_t d = 0; d < q->dim[3]; d++)
				score += *batch_seen(q, o, at, at[2], d) * *batch_seen(k, o, at, key, d);
			total += exp(score * scale);
			sum += exp(score * scale) * *batch_seen(v, o, at, key, at[3]);
		}
		o->v[i] = sum / total;
	}
	store(r, o);
	return true;
}

static bool operation_run(struct run *r, const struct fake_node *op)
{
	switch (op->kind) {
	case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: return pointwise_run(r, op);
	case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR: return conv_run(r, op, false);
	case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR: return conv_run(r, op, true);
	case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR: return matmul_run(r, op);
	case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR: return reduction_run(r, op);
	case CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR: return pool_run(r, op);
	case CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR: return norm_run(r, op);
	case CUDNN_BACKEND_OPERATION_CONCAT_DESCRIPTOR: return concat_run(r, op);
	case CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR: return sdpa_run(r, op);
	default: abort();
	}
}

bool fake_graph_execute(const struct fake_node *graph, const struct fake_node *pack)
{
	struct run *r = base_calloc(1, sizeof(*r));
	const struct fake_attribute *ops = fake_attribute(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS);
	r->pack = pack;
	for (int64_t i = 0; i < ops->count && !r->bad; i++)
		operation_run(r, ((struct fake_node *const *)ops->bytes)[i]);
	bool good = !r->bad;
	for (int i = 0; i < r->count; i++)
		free(r->value[i].v);
	free(r);
	return good;
}
