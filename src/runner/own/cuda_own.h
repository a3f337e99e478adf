/* Algorithms of our own kernels, CUB and the CUDA runtime's copies: data movement and problems that no
 * library covers. */
#ifndef RUNNER_CUDA_OWN_H
#define RUNNER_CUDA_OWN_H

#include "runner/kernels/cuda_kernels.h"
#include "runner/gpu/cuda_kept.h"
#include "runner/gpu/cuda_work.h"

#define CUDA_OWN_ALGORITHMS 8

/* The algorithms' strings point into this struct: a copy can be used to enqueue, not to list algorithms. */
struct cuda_own {
	struct problem problem;
	int count;
	struct algorithm algorithm[CUDA_OWN_ALGORITHMS];
	int kind[CUDA_OWN_ALGORITHMS];          /* selects the kernel; meaning depends on the kernel family */
	char name[CUDA_OWN_ALGORITHMS][48], layouts[96];
	int move_count;                         /* concat: one per source, else 1 */
	struct cuda_move move[PROBLEM_SHAPES];
	int64_t move_offset[PROBLEM_SHAPES];    /* bytes from the beginning of the destination */
	struct cuda_gather gather;
	struct cuda_select select;
	struct cuda_resample resample;
	struct cuda_line line;
	struct cuda_quantize quantize;
	struct cuda_norm norm;
	struct cuda_eight eight;
	struct cuda_few few;                    /* its addresses of scales and zero points: scale, shift */
};

/* Lists the algorithms for o->problem in *o. Returns -1 and sets err if it finds none. */
int cuda_own_offer(struct cuda_own *o, struct error *err);
/* Enqueues one execution of a listed kind. *call: name of the operation, for error messages. */
cudaError_t cuda_own_enqueue(const struct cuda_own *o, int kind, const struct cuda_pointers *at,
	cudaStream_t s, const char **call);

/* Scales and zero points of weights of 4 bits, which are not operands of a problem: makes those of a buffer
 * set unless they exist, untimed; adds their addresses to those of the set. Only if few.terms is not 0. */
int cuda_own_scales_ready(const struct cuda_own *o, struct cuda_kept *kept, const struct cuda_pointers *at,
	struct error *err);
void cuda_own_scales_add(const struct cuda_own *o, const struct cuda_kept *kept, struct cuda_pointers *at);

#endif
