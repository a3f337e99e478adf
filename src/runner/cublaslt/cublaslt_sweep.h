/* All algorithms of cuBLASLt for a matmul with the settings that they leave: what it can run beyond what its
 * heuristics return ("algorithms: all"). */
#ifndef RUNNER_CUBLASLT_SWEEP_H
#define RUNNER_CUBLASLT_SWEEP_H

#include "runner/cublaslt/cublaslt_group.h"

#define CUBLASLT_SWEEP_MOST 128   /* maximum algorithms of one group */
#define CUBLASLT_SWEEP_TRIES 8192 /* maximum settings of one algorithm that cuBLASLt is asked about */

/* Calls `visit` for the algorithms of a group (their numbers, tiles, stages, parts of k with their reduction,
 * swizzles and custom options; the cluster is left to cuBLASLt) that cuBLASLt accepts for the case, that need
 * at most `workspace` bytes and no larger alignment than that of the operands: all, or CUBLASLT_SWEEP_MOST,
 * divided among the numbers and spread over the settings (runner/measure/sweep.h). Does nothing if cuBLASLt
 * lists no algorithm. */
void cublaslt_sweep(cublasLtHandle_t handle, const struct cublaslt_case *c, const struct cublaslt_group *g,
	const struct cublaslt_desc *desc, size_t workspace,
	void (*visit)(void *user, const cublasLtMatmulHeuristicResult_t *result), void *user);

#endif
