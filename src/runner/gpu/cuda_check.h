/* Checks one execution of an algorithm: outputs against plain C reference values, unwritten outputs, guard
 * bytes, and whether the inputs are unchanged. */
#ifndef RUNNER_CUDA_CHECK_H
#define RUNNER_CUDA_CHECK_H

#include "runner/gpu/cuda_buffers.h"

struct cuda_check {
	struct cuda_buffers *buffers;
	struct cuda_space *space;      /* NULL if the algorithm needs no workspace */
	double workspace_bytes;
	double epsilon, gain, factor;  /* of struct cuda_plan */
};

/* Call before the execution, which must use the first copy of all operands: enqueues the poisoning of the
 * outputs and the guard bytes around the workspace. */
int cuda_check_begin(const struct cuda_check *c, struct error *err);
/* Call after the execution, with an idle stream. Results as check() of struct backend. If *worst
 * is INFINITY, all inputs and guards are written again. */
int cuda_check_end(const struct cuda_check *c, double *worst, struct error *err);

/* Frees the pinned memory that is kept between checks. */
void cuda_check_close(void);

#endif
