/* One prepared algorithm on the GPU, of any library: its operands in device memory, its timing, check and
 * release. A CUDA backend only lists its algorithms and says how one execution is enqueued (struct
 * cuda_plan); everything else is shared here. */
#ifndef RUNNER_CUDA_WORK_H
#define RUNNER_CUDA_WORK_H

#include "runner/measure/backend.h"
#include "runner/gpu/cuda_context.h"

#define CUDA_SOURCES PROBLEM_SHAPES
#define CUDA_SCALES 3 /* of a product of 8-bit floats */

/* Device addresses for one execution, in the problem's order. Layouts and types: cuda_operand_layout. */
struct cuda_pointers {
	/* conv, deconv, rnn: [0]; matmul: a; binary: a, b; concat: all; attention: q, k, v,
	 * mask; select: condition, a, b; gather: source, indices */
	const void *source[CUDA_SOURCES];
	const void *weights;              /* conv, deconv, rnn; matmul: b */
	const void *epilogue[PROBLEM_EPILOGUES];
	/* normalizations: f32, one per channel (layernorm, rmsnorm: one per normalized element); scale: also
	 * of quantize and dequantize, shaped by problem_scale_shape */
	const void *scale, *shift, *mean, *variance;
	void *destination;
	void *indices;                    /* topk: s64, shaped like the destination */
	void *workspace;                  /* 256-byte aligned */
};

/* Memory layout of one operand: strides in elements for the logical shape. Layout `any` becomes ncx. */
struct cuda_layout {
	enum dtype dtype;
	struct problem_shape shape;
	int64_t stride[PROBLEM_RANK];
};
/* Returns the layout of operand i (of concat's operand 0: of source number `source`), or of epilogue e's
 * operand. */
struct cuda_layout cuda_operand_layout(const struct problem *p, int i, int source);
struct cuda_layout cuda_epilogue_layout(const struct problem *p, int e);
struct cuda_layout cuda_mask_layout(const struct problem *p); /* of the mask of an attention that has one */
bool cuda_is_float8(enum dtype t); /* f8e4m3 or f8e5m2, which NVIDIA's libraries have */
/* Sets the scales of a problem whose sources are 8-bit floats: those of both sources and of an 8-bit
 * destination, which is scaled behind the epilogues. Their values are not in the problem. They are powers of
 * two other than 1, so that the check proves that each is read. A tensor without a scale has 1. Returns the
 * factor between the destination and that of the problem; the sources' scales cancel each other. */
float cuda_float8_scales(const struct problem *p, float scale[CUDA_SCALES]);
/* Returns "ncx", "nxc" or "strided", for the `layouts` of an algorithm. */
const char *cuda_layout_name(const struct problem *p, int i);

/* Filled by a backend's plan(). enqueue is captured into CUDA graphs: it must not synchronize or allocate. It
 * returns as run() of struct backend: libraries that accept a problem may still refuse to execute it. */
struct cuda_plan {
	void *state;
	/* The problem with the layouts that the algorithm chose for operands whose layout was open, kept by
	 * `state`: constants are laid out so, untimed, and the others arrive and leave so. NULL: ONNX's
	 * order, as cuda_operand_layout says. */
	const struct problem *problem;
	double workspace_bytes;
	int (*enqueue)(void *state, const struct cuda_pointers *at, cudaStream_t stream, struct error *err);
	/* Does the host work that an execution at these addresses needs once; never timed. NULL if there is
	 * none. */
	int (*ready)(void *state, const struct cuda_pointers *at, struct error *err);
	void (*free)(void *state);
	double epsilon;             /* of a normalization */
	double gain;                /* factor on the tolerance: 1, more for Winograd and FFT; 0 means 1 */
	double factor;              /* on every output, a power of two: cuda_float8_scales; 0 means 1 */
};

/* backend.detail of the CUDA backends. plan returns -1 and sets *status and err on failure. */
struct cuda_backend {
	int (*plan)(const struct backend_list *list, int index, struct cuda_plan *plan, enum status *status,
		struct error *err);
	const struct problem *(*problem)(const struct backend_list *list);
};

/* The functions of struct backend that all CUDA backends share. */
void *cuda_work_prepare(const struct backend_list *list, int index, const struct backend_limits *limits,
	enum status *status, struct error *err);
int cuda_work_run(void *work, enum cache cache, int64_t times, double *elapsed_ns, struct error *err);
int cuda_work_amortized(void *work, enum cache cache, int64_t times, double *elapsed_ns, struct error *err);
int cuda_work_check(void *work, double *worst, struct error *err);
double cuda_work_rotated_bytes(const void *work, enum cache cache);
void cuda_work_release(void *work);
const char *cuda_work_kernels(void *work);
double cuda_work_enqueue_ns(const void *work);
double cuda_work_clock_mhz(const void *work);
int cuda_work_settle(void *work, struct error *err);
const char *cuda_work_remark(void *work);
#define CUDA_WORK_SLOTS                                                                                      \
	.prepare = cuda_work_prepare, .run = cuda_work_run, .amortized = cuda_work_amortized,                \
	.check = cuda_work_check,                                                                            \
	.rotated_bytes = cuda_work_rotated_bytes, .release = cuda_work_release,                              \
	.kernels = cuda_work_kernels, .enqueue_ns = cuda_work_enqueue_ns, .clock_mhz = cuda_work_clock_mhz, \
	.settle = cuda_work_settle, .remark = cuda_work_remark

/* For work that runs beside other work (cuda_beside.c): enqueues one execution in any stream, as run does;
 * does the host work that a buffer set needs once; the number of buffer sets of a cache state. */
int cuda_work_enqueue(void *work, enum cache cache, int64_t set, cudaStream_t stream, struct error *err);
int cuda_work_ready(void *work, enum cache cache, int64_t set, struct error *err);
int64_t cuda_work_sets(const void *work, enum cache cache);

extern const struct backend backend_cudnn, backend_cudnn_legacy, backend_cublaslt, backend_cuda,
	backend_nvrtc, backend_streams;

#endif
