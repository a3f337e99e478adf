/* The families of our kernels: one problem's algorithms and their execution. */
#ifndef RUNNER_CUDA_OWN_PRIVATE_H
#define RUNNER_CUDA_OWN_PRIVATE_H

#include "runner/own/cuda_own.h"

struct cuda_family {
	/* Plans o->problem and lists the kinds that can compute it; -1: none can, err says why. */
	int (*offer)(struct cuda_own *o, struct error *err);
	/* Enqueues one execution of a listed kind. */
	cudaError_t (*enqueue)(
		const struct cuda_own *o, int kind, const struct cuda_pointers *at, cudaStream_t s);
	const char *call;   /* name of the operation, for error messages */
};
extern const struct cuda_family cuda_family_topk, cuda_family_argreduce, cuda_family_scan, cuda_family_reduce,
	cuda_family_pool, cuda_family_softmax, cuda_family_norm, cuda_family_few,
	cuda_family_eight;

/* Lists an algorithm without workspace; the caller may change it. */
struct algorithm *cuda_own_add(struct cuda_own *o, int kind, const char *api, const char *name);
/* True if all operands are row-major and dense. */
bool cuda_own_is_dense(const struct problem *p);

#endif
