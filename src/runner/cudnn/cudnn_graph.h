/* Translates a problem into a cuDNN operation graph: tensors with their role in struct cuda_pointers,
 * operations, and the finalized graph. There is a builder per kernel, sometimes two variants; this header has
 * what the builders share. */
#ifndef RUNNER_CUDNN_GRAPH_H
#define RUNNER_CUDNN_GRAPH_H

#include "problem/problem.h"
#include "runner/gpu/cuda_work.h"
#include "runner/cudnn/cudnn_desc.h"

#define CUDNN_BINDINGS (PROBLEM_SHAPES + 32) /* maximum tensors of a graph that have an address */
#define CUDNN_OPERATIONS 48
#define CUDNN_RANK 8

/* Source of a tensor's address. */
enum cudnn_role {
	CUDNN_SOURCE, CUDNN_WEIGHTS, CUDNN_EPILOGUE, CUDNN_SCALE, CUDNN_SHIFT, CUDNN_MEAN, CUDNN_VARIANCE,
	CUDNN_DESTINATION,
	CUDNN_VALUE       /* a scalar in host memory, held by the binding */
};

struct cudnn_binding {
	int64_t uid;
	enum cudnn_role role;
	int index;        /* number of the source or epilogue */
	union {
		float f32;
		int32_t s32;
		int64_t s64;
	} value;          /* CUDNN_VALUE */
};

struct cudnn_graph {
	struct cudnn_bag bag;
	const struct problem *p;         /* borrowed */
	int64_t uid;                     /* last unique id assigned */
	int binding_count;
	struct cudnn_binding binding[CUDNN_BINDINGS];
	int operation_count;
	cudnnBackendDescriptor_t operation[CUDNN_OPERATIONS];
	cudnnBackendDescriptor_t graph;
	double epsilon;                  /* of a normalization */
	double factor;                   /* of struct cuda_plan */
	bool in_steps;                   /* clip is relu and min instead of one relu with an upper bound */
};

/* A tensor of a graph with the shape passed to cuDNN, from which similar tensors can be made. */
struct cudnn_tensor {
	cudnnBackendDescriptor_t d;
	enum dtype dtype;
	int rank;
	int64_t dim[CUDNN_RANK], stride[CUDNN_RANK];
};

/* Builds the graph of a problem with builder number `variant` of its kernel, from 0. Returns 1 if the graph
 * was built, 0 if there is no such variant, -1 on failure; err has cuDNN's reason if cuDNN refused. *tag:
 * prefix of the variant's algorithm names, "" for the first. The graph needs cudnn_graph_free in all
 * cases. */
int cudnn_graph_build(
	struct cudnn_graph *g, const struct problem *p, int variant, const char **tag, struct error *err);
void cudnn_graph_free(struct cudnn_graph *g);

/* --- for builders; these functions do nothing once the graph's bag has failed --- */

/* Converts a type. Returns false and fails the graph if cuDNN has no such type. */
bool cudnn_data_type(struct cudnn_graph *g, enum dtype t, cudnnDataType_t *type);

/* True if shapes and strides are equal; strides of dimensions of size 1 do not count. */
bool cudnn_layouts_equal(const struct cuda_layout *a, const struct cuda_layout *b);

/* Makes a tensor in memory, bound to a role. */
struct cudnn_tensor cudnn_tensor_bound(
	struct cudnn_graph *g, const struct cudnn_tensor *like, enum cudnn_role role, int index);
/* Makes a virtual tensor: an intermediate result that is not stored. */
struct cudnn_tensor cudnn_tensor_virtual(
	struct cudnn_graph *g, const struct cudnn_tensor *like, enum dtype dtype);
/* Makes a scalar with all sizes 1: f32, or s32 for index computations. */
struct cudnn_tensor cudnn_tensor_value(struct cudnn_graph *g, int rank, float value);
struct cudnn_tensor cudnn_tensor_index_value(struct cudnn_graph *g, int rank, int32_t value);

/* Shapes (tensors without descriptor). cudnn_shape_of: a layout with leading sizes of 1 up to the given rank;
 * cuDNN needs at least 3. */
typedef struct cudnn_tensor cudnn_shape(const struct cuda_layout *l, int rank);
cudnn_shape cudnn_shape_of;
/* n c (d) h w: a single spatial dimension becomes two. */
cudnn_shape cudnn_shape_spatial;
/* Dense, row-major. */
struct cudnn_tensor cudnn_shape_dense(int rank, const int64_t *dim, enum dtype dtype);
/* Dense vector along `axis` that broadcasts to `like`, as a bias does. */
struct cudnn_tensor cudnn_shape_along(const struct cudnn_tensor *like, int axis, enum dtype dtype);

/* Finalizes an operation and adds it to the graph. */
void cudnn_operation_add(struct cudnn_graph *g, cudnnBackendDescriptor_t operation, const char *name);

/* --- pointwise operations and chains of them --- */

struct cudnn_pointwise {
	cudnnPointwiseMode_t mode;
	enum dtype math;                  /* 0: f32 */
	float lower, upper, slope;        /* of relu, each if has_... is set */
	bool has_lower, has_upper, has_slope;
	float alpha;                      /* elu, swish, softplus */
	int axis;                         /* gen_index */
};
/* Adds y = mode(x), mode(x, b), or a selection by t; b and t may be NULL. */
void cudnn_pointwise(struct cudnn_graph *g, const struct cudnn_pointwise *how, const struct cudnn_tensor *x,
	const struct cudnn_tensor *b, const struct cudnn_tensor *t, const struct cudnn_tensor *y);

/* Adds a reduction over the dimensions in which y has size 1. */
void cudnn_reduction(struct cudnn_graph *g, cudnnReduceTensorOp_t how, const struct cudnn_tensor *x,
	const struct cudnn_tensor *y);
/* Adds y = x w; batch dimensions broadcast. */
void cudnn_matmul(struct cudnn_graph *g, enum dtype accumulator, const struct cudnn_tensor *x,
	const struct cudnn_tensor *w, const struct cudnn_tensor *y);

/* One operation of a chain; `second` is its second operand: none, a constant, a tensor, or the kept input of
 * an earlier step. */
struct cudnn_step {
	struct cudnn_pointwise how;
	enum { CUDNN_STEP_UNARY, CUDNN_STEP_VALUE, CUDNN_STEP_TENSOR, CUDNN_STEP_KEPT } second;
	bool keeps;                       /* its input is the operand of a later CUDNN_STEP_KEPT */
	float value;                      /* CUDNN_STEP_VALUE */
	enum cudnn_role role;             /* CUDNN_STEP_TENSOR */
	int index;
	struct cudnn_tensor tensor;
};
struct cudnn_chain {
	int count;
	struct cudnn_step step[CUDNN_OPERATIONS];
};
/* Adds the operations of an eltwise mode. Returns -1 and fails the bag if cuDNN cannot express it. */
int cudnn_chain_mode(struct cudnn_graph *g, struct cudnn_chain *c, enum mode m, float alpha, float beta);
/* Adds the problem's epilogues. `channel`: index of the destination's channel dimension. A residual with the
 * destination's layout gets the destination's shape, any other is shaped by `shape`, or refused if `shape` is
 * NULL. */
void cudnn_chain_epilogues(struct cudnn_graph *g, struct cudnn_chain *c,
	const struct cudnn_tensor *destination, int channel, cudnn_shape *shape);
void cudnn_chain_operand(struct cudnn_chain *c, cudnnPointwiseMode_t mode, enum cudnn_role role, int index,
	const struct cudnn_tensor *shape);
cudnnPointwiseMode_t cudnn_binary_mode(enum mode m);
/* Adds a chain's operations, from x to the destination, to the graph. An empty chain adds nothing. */
void cudnn_chain_add(struct cudnn_graph *g, const struct cudnn_chain *c, const struct cudnn_tensor *x,
	const struct cudnn_tensor *destination);
/* Returns the tensor that the operation before the chain must write: the destination if the chain is empty,
 * else a virtual tensor. */
struct cudnn_tensor cudnn_chain_input(struct cudnn_graph *g, const struct cudnn_chain *c,
	const struct cudnn_tensor *destination, enum dtype dtype);

/* --- builders --- */

struct cudnn_builder {
	enum kernel kernel;
	const char *tag;
	void (*build)(struct cudnn_graph *g);
};
/* Each adds the tensors and operations of its kernel, with the problem's epilogues; what cuDNN cannot do
 * fails the graph's bag, with the reason. */
void cudnn_build_conv(struct cudnn_graph *g);
void cudnn_build_conv_steps(struct cudnn_graph *g); /* a clip from 0 as a relu and a minimum */
void cudnn_build_deconv(struct cudnn_graph *g); /* as the data gradient of a convolution */
void cudnn_build_matmul(struct cudnn_graph *g); /* transposed operands by strides */
void cudnn_build_pool(struct cudnn_graph *g);
void cudnn_build_resample(struct cudnn_graph *g); /* nearest and linear; cubic is refused */
void cudnn_build_batchnorm(struct cudnn_graph *g); /* at inference, as pointwise operations */
void cudnn_build_norm(struct cudnn_graph *g); /* layer, RMS and instance norm, as one operation */
void cudnn_build_eltwise(struct cudnn_graph *g);
void cudnn_build_binary(struct cudnn_graph *g); /* one pointwise operation */
void cudnn_build_select(struct cudnn_graph *g); /* one pointwise operation with three operands */
void cudnn_build_identity(struct cudnn_graph *g); /* cast and transpose */
void cudnn_build_reduce(struct cudnn_graph *g); /* a mean is scaled, then added */
void cudnn_build_concat(struct cudnn_graph *g);
void cudnn_build_sdpa(struct cudnn_graph *g); /* cuDNN's own operation for attention */
void cudnn_build_attention(struct cudnn_graph *g); /* two matmuls and a softmax in one graph */

#endif
