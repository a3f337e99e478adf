/* cuDNN's legacy API: one function per layer, as in Table II of the Benanza paper. A kernel's offer function
 * lists candidates. Each candidate has a `way`, the pair of functions that plans it (descriptors, workspace)
 * and enqueues it. Candidates that cannot be planned are dropped. */
#ifndef RUNNER_CUDNN_LEGACY_H
#define RUNNER_CUDNN_LEGACY_H

#include "runner/gpu/cuda_work.h"
#include "runner/cudnn/cudnn_library.h"

#define CUDNN_LEGACY_OFFERS 64
#define CUDNN_LEGACY_TENSORS 6

struct cudnn_legacy;
struct cudnn_legacy_way;

struct cudnn_legacy_offer {
	const struct cudnn_legacy_way *way;
	char name[64], notes[96];
	const char *math;
	enum matrix matrix;
	int algorithm;             /* cuDNN's enumerator */
	cudnnMathType_t type;      /* math type of rnn */
	double workspace_bytes;
};

struct cudnn_legacy_offers {
	struct problem problem;
	int count;
	struct cudnn_legacy_offer offer[CUDNN_LEGACY_OFFERS];
};

struct cudnn_legacy_way {
	/* Makes the descriptors, which cudnn_legacy_close frees, and sets workspace and epsilon.
	 * Returns 0; else sets err and returns the status, or -1 for failed, as cudnn_error. */
	int (*plan)(struct cudnn_legacy *l, const struct cudnn_legacy_offer *o, struct error *err);
	/* As `enqueue` of struct cuda_plan. */
	int (*enqueue)(struct cudnn_legacy *l, const struct cuda_pointers *at, cudaStream_t stream,
		struct error *err);
};

union cudnn_legacy_scalar { /* alpha and beta: double for f64, else float */
	float f32;
	double f64;
};

/* One candidate with its descriptors. The meaning of a slot of `tensor` depends on the way. */
struct cudnn_legacy {
	const struct cudnn_api *api;
	cudnnHandle_t handle;
	struct problem problem;
	const struct cudnn_legacy_way *way;
	int algorithm;
	cudnnMathType_t type;
	cudnnTensorDescriptor_t tensor[CUDNN_LEGACY_TENSORS];
	cudnnPoolingDescriptor_t pooling;
	cudnnReduceTensorDescriptor_t reduce;
	cudnnLRNDescriptor_t lrn;
	cudnnDropoutDescriptor_t dropout;
	cudnnRNNDescriptor_t rnn;
	cudnnRNNDataDescriptor_t data[2];
	union cudnn_legacy_scalar one, zero;
	void *states;              /* dropout: device memory of the random generator */
	size_t workspace;          /* bytes that cuDNN needs */
	size_t extra;              /* bytes that we need, after cuDNN's */
	double workspace_bytes;    /* sum of both */
	double epsilon;
};

/* Calls cuDNN in an int function that has l and err: on an error, sets err and returns from that function
 * what cudnn_error returns. */
#define CUDNN_CALL(l, function, ...)                                                              \
	do {                                                                                      \
		int refused = cudnn_error((l)->api->function(__VA_ARGS__), #function, err);       \
		if (refused)                                                                      \
			return refused;                                                           \
	} while (0)

/* cudnn_legacy_desc.c. cudnn_legacy_open plans a candidate and returns the result of its plan function; 0
 * without a way. After an error there is nothing to close. */
int cudnn_legacy_open(struct cudnn_legacy *l, const struct problem *p, const struct cudnn_legacy_offer *o,
	struct error *err);
void cudnn_legacy_close(struct cudnn_legacy *l);
struct cudnn_legacy_offer *cudnn_legacy_add(struct cudnn_legacy_offers *o, const struct cudnn_legacy_way *way,
	const char *name, int algorithm);
/* Converts a type. Returns -1 and sets err if the legacy API does not have it. */
int cudnn_legacy_type(enum dtype t, cudnnDataType_t *to, struct error *err);
/* Returns the compute type: f64 for f64, s32 for 8-bit integers, else f32. */
cudnnDataType_t cudnn_legacy_compute(enum dtype t);
/* Makes tensor[slot] from a layout, lifted to at least 4 dimensions: n c 1 w, n c 1 1, 1 c 1 1. */
int cudnn_legacy_tensor(
	struct cudnn_legacy *l, int slot, const struct cuda_layout *layout, struct error *err);
/* Makes tensor[slot + i] for the layouts of an element-wise operation: shapes are aligned at their last
 * dimensions (sizes of 1 broadcast), and dimensions are joined if there are more than cuDNN takes. */
int cudnn_legacy_tensors(struct cudnn_legacy *l, int slot, const struct cuda_layout *const *layouts,
	int count, struct error *err);
/* Returns -1 and sets err if the problem has epilogues. */
int cudnn_legacy_refuse_epilogues(const struct problem *p, struct error *err);
/* Converts to int. Returns -1 and sets err if the value is negative or too large. */
int cudnn_legacy_int(int64_t value, int *to, struct error *err);

/* Add the candidates of one kernel each. Return -1 and set err if this API cannot express the problem. */
int cudnn_legacy_pool_offer(struct cudnn_legacy_offers *o, struct error *err);
int cudnn_legacy_softmax_offer(struct cudnn_legacy_offers *o, struct error *err);
int cudnn_legacy_batchnorm_offer(struct cudnn_legacy_offers *o, struct error *err);
int cudnn_legacy_lrn_offer(struct cudnn_legacy_offers *o, struct error *err);
int cudnn_legacy_reduce_offer(struct cudnn_legacy_offers *o, struct error *err);
int cudnn_legacy_dropout_offer(struct cudnn_legacy_offers *o, struct error *err);
int cudnn_legacy_rnn_offer(struct cudnn_legacy_offers *o, struct error *err);

#endif
