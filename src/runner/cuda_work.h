/* One prepared algorithm on the GPU, whatever library it is of: its operands in device memory, how it is timed, checked and
 * released. A backend of ours only says what it offers (algorithms) and how one execution is enqueued (struct cuda_plan);
 * everything else is here, once. */
#ifndef RUNNER_CUDA_WORK_H
#define RUNNER_CUDA_WORK_H

#include "runner/backend.h"
#include "runner/cuda_context.h"

#define CUDA_SOURCES PROBLEM_SHAPES

/* Device addresses for one execution, in the problem's order. Layouts and types are what cuda_operand_layout says. */
struct cuda_pointers {
	const void *source[CUDA_SOURCES]; /* conv, deconv, rnn: [0]; matmul: a; binary: a, b; concat: all; attention: q, k,
					     v; select: condition, a, b; gather: source, indices */
	const void *weights;              /* conv, deconv, rnn; matmul: b */
	const void *epilogue[PROBLEM_EPILOGUES];
	const void *scale, *shift, *mean, *variance; /* normalizations: f32, one a channel (layernorm, rmsnorm: one a
							normalized element) */
	void *destination;
	void *indices;                    /* topk: s64, shaped like the destination */
	void *workspace;                  /* 256-byte aligned */
};

/* How one operand lies in memory: strides in elements for the logical shape. `any` is taken as ncx. */
struct cuda_layout {
	enum dtype dtype;
	struct problem_shape shape;
	int64_t stride[PROBLEM_RANK];
};
/* Operand i of the problem (concat: operand 0 is source number `source`); and the operand of epilogue e. */
struct cuda_layout cuda_operand_layout(const struct problem *p, int i, int source);
struct cuda_layout cuda_epilogue_layout(const struct problem *p, int e);
/* "ncx", "nxc" or "strided": for the `layouts` of an algorithm. */
const char *cuda_layout_name(const struct problem *p, int i);

/* What a backend's plan() fills. enqueue must only enqueue (it is captured into CUDA graphs) and must not allocate. */
struct cuda_plan {
	void *state;
	double workspace_bytes;
	int (*enqueue)(void *state, const struct cuda_pointers *at, cudaStream_t stream, struct error *err);
	/* Makes what an execution at these addresses wants made once; never timed. NULL: nothing. */
	int (*ready)(void *state, const struct cuda_pointers *at, struct error *err);
	void (*free)(void *state);
	double epsilon;             /* normalizations */
	double gain;                /* error allowance relative to the type's own: 1, Winograd and FFT more; 0 = 1 */
};

/* backend.detail of the CUDA backends. -1: *status and err say why. */
struct cuda_backend {
	int (*plan)(const struct backend_list *list, int index, struct cuda_plan *plan, enum status *status,
		struct error *err);
	const struct problem *(*problem)(const struct backend_list *list);
};

/* prepare, run, check, rotated_bytes, release, kernels, enqueue_ns, clock_mhz of struct backend. */
void *cuda_work_prepare(const struct backend_list *list, int index, const struct backend_limits *limits,
	enum status *status, struct error *err);
int cuda_work_run(void *work, enum cache cache, int64_t times, double *elapsed_ns, struct error *err);
int cuda_work_check(void *work, double *worst, struct error *err);
double cuda_work_rotated_bytes(const void *work);
void cuda_work_release(void *work);
const char *cuda_work_kernels(void *work);
double cuda_work_enqueue_ns(const void *work);
double cuda_work_clock_mhz(const void *work);
#define CUDA_WORK_SLOTS .prepare = cuda_work_prepare, .run = cuda_work_run, .check = cuda_work_check, \
	.rotated_bytes = cuda_work_rotated_bytes, .release = cuda_work_release, .kernels = cuda_work_kernels, \
	.enqueue_ns = cuda_work_enqueue_ns, .clock_mhz = cuda_work_clock_mhz

extern const struct backend backend_cudnn, backend_cudnn_legacy, backend_cublaslt, backend_cuda;

#endif
