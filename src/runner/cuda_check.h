/* One execution of an algorithm looked at closely: outputs against the plain C reference, guard bytes, what was not written. */
#ifndef RUNNER_CUDA_CHECK_H
#define RUNNER_CUDA_CHECK_H

#include "runner/cuda_buffers.h"

struct cuda_check {
	struct cuda_buffers *buffers;
	struct cuda_space *space;      /* NULL: no workspace */
	double workspace_bytes;
	double epsilon, gain;          /* of struct cuda_plan */
};

/* Before the execution (on the first copy of everything): fills the destination with what no kernel writes, and puts guards
 * about the workspace. */
int cuda_check_begin(const struct cuda_check *c, struct error *err);
/* After it, the stream waited for: as check of struct backend. */
int cuda_check_end(const struct cuda_check *c, double *worst, struct error *err);

/* Frees what is kept between checks. */
void cuda_check_close(void);

#endif
