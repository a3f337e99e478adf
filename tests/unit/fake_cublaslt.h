/* A fake of libcublasLt on host memory: computes the column-major matmul that its descriptors say. */
#ifndef FAKE_CUBLASLT_H
#define FAKE_CUBLASLT_H

#include <cublasLt.h>
#include <stdbool.h>

extern struct fake_cublaslt {
	int created, destroyed;     /* descriptors, layouts, preferences */
	int handles, asked, calls;  /* cublasLtCreate, heuristics, matmuls */
	uint64_t workspace_most;    /* of the last preference */
	uint32_t align[4];
	bool fast, had_bias, had_c; /* of the last matmul */
	float scale[3];             /* by which it multiplied A, B and D; 0: it had none */
	int checked;                /* algorithms that were checked */
	bool no_handle, no_algorithm, no_out_of_place;
	bool transposed_only;       /* s8 too has only algorithms for a transposed A and a not transposed B */
	cublasStatus_t matmul_status;   /* of the next matmuls; 0: success */
	int32_t batch;
	uint64_t rows, cols;        /* of the last D */
} fake_cublaslt;

#endif
