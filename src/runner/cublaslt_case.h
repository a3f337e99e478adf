/* A matmul problem as cuBLASLt sees it: the product of two column-major matrices.
 *
 * Our matrices are row-major and cuBLASLt's own order is column-major, so the operands change places: what is computed is
 * D' = B' A', whose memory is that of D = A B. (CUBLASLT_ORDER_ROW would say it without the exchange, but cuBLASLt adds a
 * bias along the rows of its D: only with the exchange are those our n columns, one value each.) */
#ifndef RUNNER_CUBLASLT_CASE_H
#define RUNNER_CUBLASLT_CASE_H

#include <library_types.h>

#include "problem/problem.h"
#include "runner/cublaslt_library.h"

struct cublaslt_matrix {
	cudaDataType type;
	int64_t rows, cols, ld;     /* as stored: column-major */
	bool transposed;
	int64_t batch;              /* elements from one of the batch to the next; 0: the same for all */
	int64_t loop[PROBLEM_RANK]; /* the same for each loop */
};

struct cublaslt_case {
	struct problem problem;
	int64_t m, n, k;               /* cuBLASLt's: our n, m, k */
	struct cublaslt_matrix a, b, c, d; /* our b, a, residual, destination */
	int64_t batch;                 /* 1: none */
	int loop_count;                /* batch dimensions that no single stride can say: one call for each */
	int64_t loop[PROBLEM_RANK];
	int64_t folded;                /* batch that became further columns of B and D; 1: none */
	int64_t calls;                 /* product of the loops */
	int scale, bias, residual;     /* numbers of the epilogues; -1: none. A scale is a vector of alphas, one a row of D */
	cublasLtEpilogue_t epilogue;
	cudaDataType bias_type;
};

/* -1: this cannot be said to cuBLASLt, err says why in one line. */
int cublaslt_case_make(const struct problem *p, struct cublaslt_case *c, struct error *err);

/* Elements to add to an operand's address for call number i. */
int64_t cublaslt_case_offset(const struct cublaslt_case *c, const struct cublaslt_matrix *m, int64_t i);

/* What every call's address of this operand is a multiple of, at most 256: addresses of operands are multiples of 256. */
uint32_t cublaslt_case_alignment(const struct cublaslt_case *c, const struct cublaslt_matrix *m);

/* -1: cuBLASLt has no such type. */
int cublaslt_type(enum dtype t, cudaDataType *to);

#endif
