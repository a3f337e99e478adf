/* A problem in terms of cuBLASLt: a matmul of two column-major matrices. Besides matmuls these are sums, as
 * products with ones (runner/measure/ones.h).
 *
 * Our matrices are row-major, cuBLASLt's are column-major. So the operands are swapped: cuBLASLt computes
 * D' = B' A', which has the same memory layout as our D = A B. CUBLASLT_ORDER_ROW would avoid the swap, but
 * cuBLASLt's bias has one value per row of its D, and only with the swap these rows are our n columns. */
#ifndef RUNNER_CUBLASLT_CASE_H
#define RUNNER_CUBLASLT_CASE_H

#include <library_types.h>

#include "problem/problem.h"
#include "runner/cublaslt/cublaslt_library.h"

struct cublaslt_matrix {
	cudaDataType type;
	int64_t rows, cols, ld;     /* as stored: column-major */
	bool transposed;
	int64_t batch;              /* stride between matrices of the batch, elements; 0 broadcasts */
	int64_t loop[PROBLEM_RANK]; /* stride per loop, elements; 0 broadcasts */
};

/* Ones as one factor of the product: a vector of `rows`, or for running sums a triangle of rows x rows. */
struct cublaslt_ones {
	int64_t rows;   /* 0: the problem is a matmul */
	bool is_a;      /* they are A, and the source is B */
	bool running;
	bool left;      /* of the source in row-major order: its columns are summed */
	float factor;   /* alpha */
};

struct cublaslt_case {
	struct problem problem;        /* with the layout chosen for constant weights of 8 bits: by column */
	int64_t m, n, k;               /* cuBLASLt's: our n, m, k */
	struct cublaslt_matrix a, b, c, d; /* our b, a, residual, destination */
	int64_t batch;                 /* matrices per call */
	int loop_count;                /* further batch dimensions, iterated with one call per index */
	int64_t loop[PROBLEM_RANK];
	int64_t folded;                /* batch size folded into the columns of B and D; 1 if none */
	int64_t calls;                 /* product of the loop sizes */
	int scale;                     /* index of the epilogue with alphas, one per row of D; -1 if absent */
	bool outer;                    /* ... which are scales of A's rows, of 8-bit floats, instead */
	int bias, residual;            /* indices of the epilogues, -1 if absent */
	cublasLtEpilogue_t epilogue;
	cudaDataType bias_type;
	struct cublaslt_ones ones;
};

/* Translates a problem. Returns -1 and sets err if cuBLASLt cannot express it. */
int cublaslt_case_make(const struct problem *p, struct cublaslt_case *c, struct error *err);
/* The same for a sum, as a product with ones. Called by cublaslt_case_make with c set to a case of one call
 * and the epilogues read. */
int cublaslt_ones_make(struct cublaslt_case *c, struct error *err);

/* Returns the values of the ones, column-major and in the source's type, to be freed by the caller; *bytes:
 * their size. */
void *cublaslt_ones_values(const struct cublaslt_case *c, size_t *bytes);

/* Returns the bytes to add to an operand's address for call number i. */
int64_t cublaslt_case_offset(const struct cublaslt_case *c, const struct cublaslt_matrix *m, int64_t i);

/* Returns the alignment of this operand's address over all calls, in bytes; at most 256, the alignment of
 * operands. */
uint32_t cublaslt_case_alignment(const struct cublaslt_case *c, const struct cublaslt_matrix *m);

/* Converts a type. Returns -1 if cuBLASLt does not have it. */
int cublaslt_type(enum dtype t, cudaDataType *to);

#endif
