/* A matrix multiplication with few rows, C[m,n] = A[m,k] B[k,n] in f32 or bf16 with sums in f32, whose B was
 * packed beforehand, and its epilogues. With few rows memory limits it: B is read once, in the order in which
 * it is stored.
 *
 * Packed B: panels of GEMM_LANES columns; of each panel lines of 64 bytes, one for a row of B in f32, one for
 * two rows in bf16 (pairs of values of one column). Beyond column n and row k there are zeros. A thread
 * multiplies groups of panels at the same time, so that several streams are read: a processor fetches ahead
 * only within a page. Rows that do not fit its registers are multiplied in passes over a part of the group
 * that fits the first cache, while the next part is fetched.
 *
 * B may be integers of 2, 4 or 8 bits with a scale, and perhaps a zero point, for each block of rows of a
 * column (MatMulNBits of com.microsoft, blocks of DequantizeLinear): B = (q - zero) * scale. A line then has
 * 32 bits of each column, which are 16, 8 or 4 rows; a block begins with a new line. In front of it
 * are lines of its scales, in the type of A, and of zero points, packed alike, if they were not before.
 * So a panel is one stream. A block's sum is that of
 * a q, minus zero times the sum of a, times scale: f32 throughout, and q is exact. The bits are not shifted
 * down: those of row i count 2^(bits i), by which A was divided before. */
#ifndef RUNNER_GEMM_PACKED_H
#define RUNNER_GEMM_PACKED_H

#include <stddef.h>

#include "problem/problem.h"

#define GEMM_LANES 16      /* columns of a panel: 64 bytes of f32, a cache line */
#define GEMM_PACKED_ROWS 32 /* with more rows oneDNN is as fast: measured at 24 to 128 by bench_rows.py */

struct gemm_packed;
/* The kernel for one instruction set: "avx512_bf16", "avx512", "avx2" or "base", what the compiler
 * targets. */
struct gemm_isa {
	const char *name;
	void (*share)(const struct gemm_packed *g, int i, int count);
};
/* The widest instruction set that the processor and ONEDNN_MAX_CPU_ISA, or DNNL_MAX_CPU_ISA, permit; one for
 * products of bf16 only if `narrow`. */
const struct gemm_isa *gemm_isa(bool narrow);

struct gemm_packed {
	const struct gemm_isa *isa;
	int64_t m, n, k;      /* m: at most GEMM_PACKED_ROWS, of any number if B is integers */
	bool narrow;          /* all operands are bf16, else f32 */
	int bits;             /* of B's integers; 0: B has the type of the others */
	int64_t block;        /* rows of a column that share a scale; */
	bool zero_points;     /* each block has one, */
	float zero;           /* or all have this one */
	void *scratch;        /* of integers: gemm_packed_scratch bytes for each share */
	const void *a;        /* m x k, row-major */
	const void *b;        /* packed, aligned to 64 bytes */
	void *c;              /* m x n, row-major */
	int epilogue_count;   /* bias: n values; eltwise; binary: m x n values (line_computes) */
	const struct epilogue *epilogue;
	const void *operand[PROBLEM_EPILOGUES]; /* NULL: it has none */
};

/* True if the kernel computes the epilogue, whose operand has the type of the others. */
bool gemm_packed_takes(const struct epilogue *e, enum dtype type);
/* Bytes of a packed B, whose sizes and type `g` says, and of the memory that a share works in. */
size_t gemm_packed_bytes(const struct gemm_packed *g);
size_t gemm_packed_scratch(const struct gemm_packed *g);
/* Writes value number `at` (row * n + column) of B; of integers the one stored, from 0 to 2^bits - 1. All
 * bytes must be set to 0 before. */
void gemm_packed_put(const struct gemm_packed *g, void *packed, int64_t at, double value);
/* The same for the scale and the zero point of a block; at: block * n + column. */
void gemm_packed_put_scale(const struct gemm_packed *g, void *packed, int64_t at, double value);
void gemm_packed_put_zero(const struct gemm_packed *g, void *packed, int64_t at, double value);

/* Computes the panels of share i of count; `g` is a struct gemm_packed. Shares write different values. */
void gemm_packed_share(void *g, int i, int count);

#endif
