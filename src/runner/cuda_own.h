/* What our own kernels, CUB and the CUDA runtime's copies offer for a problem: movers, and what no library computes. */
#ifndef RUNNER_CUDA_OWN_H
#define RUNNER_CUDA_OWN_H

#include "runner/cuda_kernels.h"
#include "runner/cuda_work.h"

#define CUDA_OWN_ALGORITHMS 8
#define CUDA_OWN_SM 75 /* the oldest GPU that this toolkit makes machine code for */

/* Plain values but for the algorithms' strings, which point into it: a copy may be enqueued, not listed. */
struct cuda_own {
	struct problem problem;
	int count;
	struct algorithm algorithm[CUDA_OWN_ALGORITHMS];
	int kind[CUDA_OWN_ALGORITHMS];          /* the family's own way of doing it */
	char name[CUDA_OWN_ALGORITHMS][48], layouts[96];
	int move_count;                         /* concat: one a source, else 1 */
	struct cuda_move move[PROBLEM_SHAPES];
	int64_t move_offset[PROBLEM_SHAPES];    /* bytes from the destination's beginning */
	struct cuda_gather gather;
	struct cuda_select select;
	struct cuda_resample resample;
	struct cuda_line line;
	struct cuda_quantize quantize;
};

/* Fills the offers for the problem in *o. -1: not ours, or not so; err says why. */
int cuda_own_offer(struct cuda_own *o, struct error *err);
/* One execution by a kind of those offered. *call: what failed. */
cudaError_t cuda_own_enqueue(const struct cuda_own *o, int kind, const struct cuda_pointers *at, cudaStream_t s,
	const char **call);

#endif
