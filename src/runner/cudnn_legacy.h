/* cuDNN's legacy API: one function a layer, the Table II of the Benanza paper. Shared by its files. A kernel's offer function
 * names the candidates; each candidate's way can plan it (descriptors, workspace) and enqueue it. What does not plan is not
 * offered. */
#ifndef RUNNER_CUDNN_LEGACY_H
#define RUNNER_CUDNN_LEGACY_H

#include "runner/cuda_work.h"
#include "runner/cudnn_library.h"

#define CUDNN_LEGACY_OFFERS 64
#define CUDNN_LEGACY_TENSORS 6

struct cudnn_legacy;
struct cudnn_legacy_way;

struct cudnn_legacy_offer {
	const struct cudnn_legacy_way *way;
	char name[64], notes[96];
	const char *math;
	enum matrix matrix;
	int algorithm;             /* the library's number for it */
	cudnnMathType_t type;      /* conv, deconv, rnn */
	double workspace_bytes;
};

struct cudnn_legacy_offers {
	struct problem problem;
	int count;
	struct cudnn_legacy_offer offer[CUDNN_LEGACY_OFFERS];
};

#define CUDNN_LEGACY_NO_MEMORY (-2)

struct cudnn_legacy_way {
	/* Makes the descriptors, sets workspace, epsilon, gain. What is made is freed by cudnn_legacy_close. -1: err says
	 * why; CUDNN_LEGACY_NO_MEMORY: less memory would have helped. */
	int (*plan)(struct cudnn_legacy *l, const struct cudnn_legacy_offer *o, struct error *err);
	int (*enqueue)(struct cudnn_legacy *l, const struct cuda_pointers *at, cudaStream_t stream, struct error *err);
};

union cudnn_legacy_scalar { /* alpha and beta: double for f64, else float */
	float f32;
	double f64;
};

/* One candidate with its descriptors. Slots of `tensor` are the way's own business. */
struct cudnn_legacy {
	const struct cudnn_api *api;
	cudnnHandle_t handle;
	struct problem problem;
	const struct cudnn_legacy_way *way;
	int algorithm;
	cudnnMathType_t type;
	cudnnTensorDescriptor_t tensor[CUDNN_LEGACY_TENSORS];
	cudnnFilterDescriptor_t filter;
	cudnnConvolutionDescriptor_t conv;
	cudnnActivationDescriptor_t activation;
	cudnnPoolingDescriptor_t pooling;
	cudnnOpTensorDescriptor_t op;
	cudnnReduceTensorDescriptor_t reduce;
	cudnnLRNDescriptor_t lrn;
	cudnnDropoutDescriptor_t dropout;
	cudnnRNNDescriptor_t rnn;
	cudnnRNNDataDescriptor_t data[2];
	union cudnn_legacy_scalar one, zero, factor, other;
	void *states;              /* device memory of a dropout */
	int operand[2];            /* binary: which of ours is the library's A, B */
	int bias, residual;        /* conv: numbers of the epilogues; -1: none */
	size_t workspace;          /* what the library asks for */
	size_t extra;              /* and what is ours, behind it */
	double workspace_bytes;    /* both */
	double epsilon, gain;
};

/* A call of the library in an int function with l and err: returns -1 on an error, which names the function. */
#define CUDNN_CALL(l, function, ...)                                                              \
	do {                                                                                      \
		if (cudnn_error((l)->api->function(__VA_ARGS__), #function, err))                 \
			return -1;                                                                \
	} while (0)

/* cudnn_legacy_desc.c. open plans a candidate; what it returns is its way's. After an error there is nothing to close, but
 * for candidates without a way. */
int cudnn_legacy_open(struct cudnn_legacy *l, const struct problem *p, const struct cudnn_legacy_offer *o,
	struct error *err);
void cudnn_legacy_close(struct cudnn_legacy *l);
struct cudnn_legacy_offer *cudnn_legacy_add(struct cudnn_legacy_offers *o, const struct cudnn_legacy_way *way,
	const char *name, int algorithm);
/* -1: the legacy API has no such type. */
int cudnn_legacy_type(enum dtype t, cudnnDataType_t *to, struct error *err);
/* The type that is computed in: f64 for f64, s32 for whole products, else f32. */
cudnnDataType_t cudnn_legacy_compute(enum dtype t);
union cudnn_legacy_scalar cudnn_legacy_scalar(const struct problem *p, double value);
/* tensor[slot] from a layout; what has less than 4 dimensions gets more: n c 1 w, n c 1 1, 1 c 1 1. */
int cudnn_legacy_tensor(struct cudnn_legacy *l, int slot, const struct cuda_layout *layout, struct error *err);
struct cuda_layout cudnn_legacy_lift(const struct cuda_layout *layout);
/* tensor[slot + i] for several layouts of an element-by-element operation: shapes are aligned at their ends (sizes of 1 are
 * broadcast), dimensions joined where there are more than cuDNN takes. */
int cudnn_legacy_tensors(struct cudnn_legacy *l, int slot, const struct cuda_layout *const *layouts, int count,
	struct error *err);
/* How the legacy API wants filters: dense, NCHW or NHWC. */
int cudnn_legacy_format(const struct cuda_layout *layout, cudnnTensorFormat_t *format, struct error *err);
/* -1: has epilogues, which this function of the API does not fuse. */
int cudnn_legacy_alone(const struct problem *p, struct error *err);
bool cudnn_legacy_same(const struct cuda_layout *a, const struct cuda_layout *b);
int cudnn_legacy_int(int64_t value, int *to, struct error *err);

/* Candidates of one kernel each. -1: not to be said in this API, err says why. */
int cudnn_legacy_conv_offer(struct cudnn_legacy_offers *o, struct error *err);
int cudnn_legacy_deconv_offer(struct cudnn_legacy_offers *o, struct error *err);
int cudnn_legacy_pool_offer(struct cudnn_legacy_offers *o, struct error *err);
int cudnn_legacy_eltwise_offer(struct cudnn_legacy_offers *o, struct error *err);
int cudnn_legacy_binary_offer(struct cudnn_legacy_offers *o, struct error *err);
int cudnn_legacy_softmax_offer(struct cudnn_legacy_offers *o, struct error *err);
int cudnn_legacy_batchnorm_offer(struct cudnn_legacy_offers *o, struct error *err);
int cudnn_legacy_lrn_offer(struct cudnn_legacy_offers *o, struct error *err);
int cudnn_legacy_reduce_offer(struct cudnn_legacy_offers *o, struct error *err);
int cudnn_legacy_transpose_offer(struct cudnn_legacy_offers *o, struct error *err);
int cudnn_legacy_dropout_offer(struct cudnn_legacy_offers *o, struct error *err);
int cudnn_legacy_rnn_offer(struct cudnn_legacy_offers *o, struct error *err);

#endif
