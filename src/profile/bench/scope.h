/* Benchmarks of SCOPE and dlperf as problems: one call of a cuDNN or cuBLAS function each. Nothing is
 * guessed: what a problem cannot say exactly is refused. Private to the room. */
#ifndef PROFILE_BENCH_SCOPE_H
#define PROFILE_BENCH_SCOPE_H

#include "base/arena.h"
#include "problem/result.h"

/* The order of the tensors in memory. A file says it only for benchmarks that ran, if at all. */
enum scope_order { SCOPE_ORDER_UNKNOWN = -1, SCOPE_NCHW, SCOPE_NHWC, SCOPE_ORDER_COUNT };

#define SCOPE_INPUTS 8

/* A benchmark as its file states it. Absent numbers are NaN, absent texts "". Pairs are height, width. */
struct scope_benchmark {
	struct text api;   /* "CUDNN_CONV_FWD" */
	struct text dtype; /* "FLOAT32" */
	struct text modes; /* cuDNN's enumerators: algorithm, activation ..., in any separators */
	double input[SCOPE_INPUTS];
	double filters, window[2], pad[2], stride[2], dilation[2], group;
	double advised; /* number of the algorithm that cuDNN's heuristic chose; below 0: none */
	double workspace_bytes, math_type;
	enum scope_order order;
	bool before_tf32; /* the library or the GPU is older than TF32 */
};

/* Sets the problem and the algorithm of *r; their texts are in the arena or constant. Returns NULL, or why
 * the benchmark has no problem: a constant text. */
const char *scope_map(struct arena *a, const struct scope_benchmark *b, struct result *r);
/* Divides a benchmark's name, "LAYER_CUDNN_CONV_FWD_0_FLOAT32__BatchSize_1__1234<...>/input[0]:1/...".
 * Returns false for the name of another program. *arguments: what follows the first slash. */
bool scope_name(struct text name, struct scope_benchmark *b, struct text *arguments);
/* True if arithmetic of this type is done in tensor cores where they are allowed. */
bool scope_is_half(const struct scope_benchmark *b);

#endif
