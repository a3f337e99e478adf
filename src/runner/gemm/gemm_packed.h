/* A matrix multiplication with few rows, C[m,n] = A[m,k] B[k,n] + bias[n] in f32, whose B was packed
 * beforehand. With few rows memory limits it: B is read once, in the order in which it is stored.
 *
 * Packed B: panels of GEMM_LANES columns; of each panel k rows of GEMM_LANES values, 0 beyond column n. A
 * thread multiplies whole panels, in blocks of rows that fit its vector registers. */
#ifndef RUNNER_GEMM_PACKED_H
#define RUNNER_GEMM_PACKED_H

#include <stddef.h>
#include <stdint.h>

#define GEMM_LANES 16      /* columns of a panel: 64 bytes, a cache line */
#define GEMM_PACKED_ROWS 64 /* with more rows a matrix multiplication is no longer limited by memory */

struct gemm_packed;
/* The kernel for one instruction set: "avx512", "avx2" or "base", what the compiler targets. */
struct gemm_isa {
	const char *name;
	void (*share)(const struct gemm_packed *g, int i, int count);
};
/* The widest instruction set that both the processor and ONEDNN_MAX_CPU_ISA, or DNNL_MAX_CPU_ISA, permit. */
const struct gemm_isa *gemm_isa(void);

struct gemm_packed {
	const struct gemm_isa *isa;
	int64_t m, n, k;
	const float *a;       /* m x k, row-major */
	const float *b;       /* packed, aligned to 64 bytes */
	const float *bias;    /* n values, or NULL */
	float *c;             /* m x n, row-major */
};

/* Bytes of a packed B. */
size_t gemm_packed_bytes(int64_t n, int64_t k);
/* Writes value number `at` (row * n + column) of B. The rest of a last panel must be set to 0 before. */
void gemm_packed_put(float *packed, int64_t n, int64_t k, int64_t at, float value);

/* Computes the panels of share i of count; `g` is a struct gemm_packed. Shares write different values. */
void gemm_packed_share(void *g, int i, int count);

#endif
