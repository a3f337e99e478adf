/* oneDNN's API as the backend uses it. This header and onednn_compat.c contain all differences between its
 * major versions 2 (operation descriptors, iterators, memory descriptors as values) and 3 (primitive
 * descriptors created directly, opaque). Tested with 2.6. */
#ifndef RUNNER_ONEDNN_COMPAT_H
#define RUNNER_ONEDNN_COMPAT_H

#include <dnnl.h>
#include <dnnl_debug.h>
#include <stdbool.h>
#include <stdint.h>

#include "problem/problem.h"

#define ONEDNN_RANK 12

#if DNNL_VERSION_MAJOR >= 3
typedef const_dnnl_memory_desc_t onednn_md;
#else
typedef const dnnl_memory_desc_t *onednn_md;
#endif

/* Return memory descriptors, to be freed with onednn_md_free (NULL is allowed), or NULL if not possible. */
onednn_md onednn_md_strides(int rank, const int64_t *dims, dnnl_data_type_t type, const int64_t *strides);
onednn_md onednn_md_tag(int rank, const int64_t *dims, dnnl_data_type_t type, dnnl_format_tag_t tag);
void onednn_md_free(onednn_md md);
size_t onednn_md_bytes(onednn_md md);

enum onednn_format { ONEDNN_FORMAT_NONE, ONEDNN_FORMAT_ANY, ONEDNN_FORMAT_BLOCKED, ONEDNN_FORMAT_OPAQUE };

/* Contents of a memory descriptor; strides in elements, in the order of the dimensions. */
struct onednn_md_info {
	enum onednn_format format;
	int rank;
	int64_t dims[ONEDNN_RANK], strides[ONEDNN_RANK];
	int blocks;                       /* inner blocks, outermost first */
	int64_t block_size[ONEDNN_RANK];
	int block_dim[ONEDNN_RANK];
};
void onednn_md_describe(onednn_md md, struct onednn_md_info *info);

/* An operation, for which implementations are listed. Fields that its kind does not have are zero.
 * KERNEL_TRANSPOSE, KERNEL_CAST, KERNEL_QUANTIZE and KERNEL_DEQUANTIZE are reorders from src to dst;
 * KERNEL_COPY does not occur. */
struct onednn_op {
	enum kernel kind;
	dnnl_alg_kind_t algorithm;
	onednn_md src, src1, bias, dst;   /* src1: weights, or the second source of a binary; borrowed */
	onednn_md src2;                   /* rnn: recurrent weights */
	enum mode mode;                   /* rnn */
	bool both_directions;             /* rnn: outputs interleaved in the destination */
	onednn_md stat;                   /* layer normalization: mean and variance */
	int source_count;                 /* concat */
	onednn_md source[PROBLEM_SHAPES];
	dnnl_dims_t stride, dilation, pad_begin, pad_end, window; /* dilation: 0 = dense */
	int axis;
	int64_t size;                     /* lrn: channels summed */
	float alpha, beta, k;             /* eltwise; lrn; p of a norm is alpha */
	float epsilon;
	unsigned flags;                   /* normalization flags */
};

/* Lists the primitive descriptors of all implementations, in the library's order of preference, at most
 * `max`. Returns their number (the caller destroys each); if 0, *status has the reason. */
int onednn_implementations(dnnl_engine_t engine, const struct onednn_op *op, dnnl_primitive_attr_t attr,
	dnnl_primitive_desc_t *pd, int max, dnnl_status_t *status);

/* Factors of an operation: one for all elements if both masks are 0, else one per index along a dimension. */
struct onednn_factors {
	int arg;              /* argument that is scaled */
	bool divides;         /* true for the destination, which is divided */
	int mask;             /* bits: dimensions of the argument that have factors */
	int destination_mask; /* bits: the same dimensions in the destination */
	int64_t count;
	const float *values;
};
/* True if factors and zero points are arguments of an execution (DNNL_ARG_ATTR_SCALES | arg, f32;
 * DNNL_ARG_ATTR_ZERO_POINTS | arg, s32). Otherwise the attributes hold their values, and a bias is scaled
 * as well. */
#define ONEDNN_FACTORS_ARE_ARGUMENTS (DNNL_VERSION_MAJOR >= 3)
#if DNNL_VERSION_MAJOR < 3
#define DNNL_ARG_ATTR_SCALES 0
#endif
dnnl_status_t onednn_attr_factors(dnnl_primitive_attr_t attr, const struct onednn_factors *f);
/* One zero point for the whole argument. */
dnnl_status_t onednn_attr_zero_point(dnnl_primitive_attr_t attr, int arg, int32_t zero_point);

/* Append a post-operation; its scale is 1. */
dnnl_status_t onednn_post_eltwise(dnnl_post_ops_t post, dnnl_alg_kind_t algorithm, float alpha, float beta);
dnnl_status_t onednn_post_binary(dnnl_post_ops_t post, dnnl_alg_kind_t algorithm, onednn_md md);

/* Returns a memory object for the caller's buffer, or NULL. */
dnnl_memory_t onednn_memory(onednn_md md, dnnl_engine_t engine, void *bytes);
/* Returns the descriptor of an execution argument, borrowed from pd. */
onednn_md onednn_argument(const_dnnl_primitive_desc_t pd, int arg);
/* Copies between layouts and types, untimed. */
dnnl_status_t onednn_reorder(
	dnnl_engine_t engine, dnnl_stream_t stream, onednn_md from_md, void *from, onednn_md to_md, void *to);

#endif
