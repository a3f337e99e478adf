/* Our own CUDA kernels, as C sees them: they only enqueue. Addresses are device addresses, strides count elements. Used
 * for movers and what no library offers, and to fill and sample operands. */
#ifndef RUNNER_CUDA_KERNELS_H
#define RUNNER_CUDA_KERNELS_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "problem/problem.h"
#include "runner/fill.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cuda_strided {     /* a tensor in memory */
	void *data;
	enum dtype dtype;
	int rank;
	int64_t dim[PROBLEM_RANK], stride[PROBLEM_RANK];
};

/* Fills by fill_value(seed, logical index). */
cudaError_t cuda_fill(const struct cuda_strided *t, uint64_t seed, enum fill_kind kind, int64_t limit, cudaStream_t s);
/* Occupies the stream for about `ns` and writes what the SM clock and the global timer counted meanwhile to counts[0],
 * counts[1] (device memory). */
cudaError_t cuda_clock_count(uint64_t *counts, double ns, cudaStream_t s);
/* Waits on the device until *flag (pinned host memory) is not 0; gives up after about a second. */
cudaError_t cuda_block(const volatile int *flag, cudaStream_t s);

#ifdef __cplusplus
}
#endif
#endif
