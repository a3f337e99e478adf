/* A product with a u8 source by a library that only multiplies s8 by s8: each execution first subtracts 128
 * from the source, timed, into the workspace. Each sum is then too small by 128 times the sum of its
 * channel's weights, which are constant: that is added back as a part of the bias, computed once, untimed.
 * The result is exact as far as the bias is. */
#ifndef RUNNER_CUDA_SIGNED_H
#define RUNNER_CUDA_SIGNED_H

#include "runner/gpu/cuda_kept.h"
#include "runner/gpu/cuda_work.h"
#include "runner/kernels/cuda_kernels.h"

struct cuda_signed {
	struct problem inner;       /* what the library computes: s8 source and weights, no padding */
	struct cuda_shift shift;
	struct cuda_shift_sum sum;
	int bias;                   /* the epilogue of `inner` with the corrected bias */
	bool added;                 /* the problem itself has no bias there */
	bool weights_as_s8;         /* its weights are u8 (docs/problem.md: wei_as_s8) */
};

/* Translates a conv (all operands channels last) or matmul with a u8 source. Returns -1 and sets err if the
 * weights are not constant, or the source is not dense. Pure. */
int cuda_signed_make(const struct problem *p, struct cuda_signed *c, struct error *err);
/* Returns the bytes of the converted source. Pure. */
double cuda_signed_bytes(const struct cuda_signed *c);

/* Computes the corrected bias for these addresses unless it is among `sums`: for cuda_plan.ready. */
int cuda_signed_ready(const struct cuda_signed *c, struct cuda_kept *sums,
	const struct cuda_pointers *at, struct error *err);
/* Returns the addresses of `inner`, whose source is in `room`; only after cuda_signed_ready. */
struct cuda_pointers cuda_signed_pointers(const struct cuda_signed *c, const struct cuda_kept *sums,
	const struct cuda_pointers *at, void *room);
/* Enqueues the conversion of the source into `room` (cuda_signed_bytes) and sets the addresses of `inner`. */
int cuda_signed_enqueue(const struct cuda_signed *c, struct cuda_kept *sums,
	const struct cuda_pointers *at, void *room, struct cuda_pointers *inner, cudaStream_t stream,
	struct error *err);

#endif
