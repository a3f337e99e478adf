/* A problem as a cuDNN operation graph: tensors with their place in struct cuda_pointers, operations, and the finalized
 * graph. One builder a kernel (cudnn_builders); what the builders share is here. */
#ifndef RUNNER_CUDNN_GRAPH_H
#define RUNNER_CUDNN_GRAPH_H

#include "problem/problem.h"
#include "runner/cuda_work.h"
#include "runner/cudnn_desc.h"

#define CUDNN_BINDINGS (PROBLEM_SHAPES + 32) /* most tensors of a graph that have an address */
#define CUDNN_OPERATIONS 48
#define CUDNN_RANK 8

/* Where a tensor's address comes from. */
enum cudnn_role {
	CUDNN_SOURCE, CUDNN_WEIGHTS, CUDNN_EPILOGUE, CUDNN_SCALE, CUDNN_SHIFT, CUDNN_MEAN, CUDNN_VARIANCE,
	CUDNN_DESTINATION,
	CUDNN_VALUE       /* a scalar in host memory: the binding's own */
};

struct cudnn_binding {
	int64_t uid;
	enum cudnn_role role;
	int index;        /* CUDNN_SOURCE, CUDNN_EPILOGUE: which */
	union {
		float f32;
		int32_t s32;
		int64_t s64;
	} value;          /* CUDNN_VALUE */
};

struct cudnn_graph {
	struct cudnn_bag bag;
	const struct problem *p;         /* borrowed */
	int64_t uid;                     /* the last that was given */
	int binding_count;
	struct cudnn_binding binding[CUDNN_BINDINGS];
	int operation_count;
	cudnnBackendDescriptor_t operation[CUDNN_OPERATIONS];
	cudnnBackendDescriptor_t graph;
	double epsilon;                  /* of normalizations, as built in */
	bool in_steps;                   /* a clip is two operations, not one with two bounds */
};

/* A tensor of a graph: its shape as cuDNN was told, so that others can be made like it. */
struct cudnn_tensor {
	cudnnBackendDescriptor_t d;
	enum dtype dtype;
	int rank;
	int64_t dim[CUDNN_RANK], stride[CUDNN_RANK];
};

/* Builds the graph of a problem; `variant` counts the builders of its kernel from 0. 1: built. 0: there are no more
 * variants. -1: err says why not, in cuDNN's words where it refuses. `tag` becomes the variant's name for algorithm
 * names, "" for the plain one. In all cases the graph needs cudnn_graph_free. */
int cudnn_graph_build(struct cudnn_graph *g, const struct problem *p, int variant, const char **tag, struct error *err);
void cudnn_graph_free(struct cudnn_graph *g);

/* --- for builders; all do nothing once the graph's bag is bad --- */

/* false: cuDNN has no such type; the graph is refused. */
bool cudnn_data_type(struct cudnn_graph *g, enum dtype t, cudnnDataType_t *type);

bool cudnn_layouts_equal(const struct cuda_layout *a, const struct cuda_layout *b);

/* What memory holds, as a cuDNN tensor. */
struct cudnn_tensor cudnn_tensor_bound(struct cudnn_graph *g, const struct cudnn_tensor *like, enum cudnn_role role,
	int index);
/* A result that no memory holds; f32, s32 or bool. */
struct cudnn_tensor cudnn_tensor_virtual(struct cudnn_graph *g, const struct cudnn_tensor *like, enum dtype dtype);
struct cudnn_tensor cudnn_tensor_value(struct cudnn_graph *g, int rank, float value);
struct cudnn_tensor cudnn_tensor_index_value(struct cudnn_graph *g, int rank, int32_t value);

/* Shapes, without descriptors: a layout as cuDNN is told it, of at least this rank (ones are put in front); cuDNN wants
 * 3. */
typedef struct cudnn_tensor cudnn_shape(const struct cuda_layout *l, int rank);
cudnn_shape cudnn_shape_of;
/* n c (d) h w: one dimension of space becomes two. */
cudnn_shape cudnn_shape_spatial;
/* Dense, row-major. */
struct cudnn_tensor cudnn_shape_dense(int rank, const int64_t *dim, enum dtype dtype);
/* One value for each place along `axis`: what a bias is. */
struct cudnn_tensor cudnn_shape_along(const struct cudnn_tensor *like, int axis, enum dtype dtype);

/* A finalized operation joins the graph. */
void cudnn_operation_add(struct cudnn_graph *g, cudnnBackendDescriptor_t operation, const char *name);

/* --- pointwise operations and chains of them --- */

struct cudnn_pointwise {
	cudnnPointwiseMode_t mode;
	enum dtype math;                  /* 0: f32 */
	float lower, upper, slope;        /* relu; written where has_* */
	bool has_lower, has_upper, has_slope;
	float alpha;                      /* elu, swish, softplus */
	int axis;                         /* gen_index */
};
/* y = mode(x), mode(x, b), or with t a selection; b and t may be NULL. */
void cudnn_pointwise(struct cudnn_graph *g, const struct cudnn_pointwise *how, const struct cudnn_tensor *x,
	const struct cudnn_tensor *b, const struct cudnn_tensor *t, const struct cudnn_tensor *y);

/* Sums and the like over the dimensions that y has as 1. */
void cudnn_reduction(struct cudnn_graph *g, cudnnReduceTensorOp_t how, const struct cudnn_tensor *x,
	const struct cudnn_tensor *y);
/* c = a b, batches broadcast. */
void cudnn_matmul(struct cudnn_graph *g, enum dtype accumulator, const struct cudnn_tensor *x,
	const struct cudnn_tensor *w, const struct cudnn_tensor *y);

/* One operation of a chain. */
struct cudnn_step {
	struct cudnn_pointwise how;
	enum { CUDNN_STEP_UNARY, CUDNN_STEP_VALUE, CUDNN_STEP_TENSOR, CUDNN_STEP_KEPT } second;
	bool keeps;                       /* its input is what CUDNN_STEP_KEPT takes later */
	float value;                      /* CUDNN_STEP_VALUE */
	enum cudnn_role role;             /* CUDNN_STEP_TENSOR */
	int index;
	struct cudnn_tensor tensor;
};
struct cudnn_chain {
	int count;
	struct cudnn_step step[CUDNN_OPERATIONS];
};
/* Adds what an eltwise mode is. -1: cuDNN has no such operation (the bag is bad). */
int cudnn_chain_mode(struct cudnn_graph *g, struct cudnn_chain *c, enum mode m, float alpha, float beta);
/* Adds the problem's epilogues. The destination's channels lie along `channel`. A residual that lies in memory as the
 * destination does is shaped like it, another by `shape`; NULL: it is refused. */
void cudnn_chain_epilogues(struct cudnn_graph *g, struct cudnn_chain *c, const struct cudnn_tensor *destination,
	int channel, cudnn_shape *shape);
void cudnn_chain_operand(struct cudnn_chain *c, cudnnPointwiseMode_t mode, enum cudnn_role role, int index,
	const struct cudnn_tensor *shape);
cudnnPointwiseMode_t cudnn_binary_mode(enum mode m);
/* The operations of a chain from x to the destination. An empty chain adds nothing. */
void cudnn_chain_add(struct cudnn_graph *g, const struct cudnn_chain *c, const struct cudnn_tensor *x,
	const struct cudnn_tensor *destination);
/* What the operation before a chain writes: the destination itself where the chain is empty, else a virtual tensor. */
struct cudnn_tensor cudnn_chain_input(struct cudnn_graph *g, const struct cudnn_chain *c,
	const struct cudnn_tensor *destination, enum dtype dtype);

/* --- builders --- */

struct cudnn_builder {
	enum kernel kernel;
	const char *tag;
	void (*build)(struct cudnn_graph *g);
};
void cudnn_build_conv(struct cudnn_graph *g);
void cudnn_build_conv_steps(struct cudnn_graph *g);
void cudnn_build_deconv(struct cudnn_graph *g);
void cudnn_build_matmul(struct cudnn_graph *g);
void cudnn_build_pool(struct cudnn_graph *g);
void cudnn_build_resample(struct cudnn_graph *g);
void cudnn_build_batchnorm(struct cudnn_graph *g);
void cudnn_build_norm(struct cudnn_graph *g);
void cudnn_build_eltwise(struct cudnn_graph *g);
void cudnn_build_binary(struct cudnn_graph *g);
void cudnn_build_select(struct cudnn_graph *g);
void cudnn_build_identity(struct cudnn_graph *g);
void cudnn_build_reduce(struct cudnn_graph *g);
void cudnn_build_softmax(struct cudnn_graph *g);
void cudnn_build_concat(struct cudnn_graph *g);
void cudnn_build_sdpa(struct cudnn_graph *g);
void cudnn_build_attention(struct cudnn_graph *g);

#endif
