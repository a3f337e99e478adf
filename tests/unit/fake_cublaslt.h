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
	bool no_handle, no_algorithm, no_out_of_place;
	cublasStatus_t matmul_status;   /* of the next matmuls; 0: success */
	int32_t batch;
	uint64_t rows, cols;        /* of the last D */
} fake_cublaslt;

#endif
