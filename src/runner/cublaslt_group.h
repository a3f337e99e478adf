/* The ways in which cuBLASLt may compute one product: compute type, scale type, which units; each asked for on its own. */
#ifndef RUNNER_CUBLASLT_GROUP_H
#define RUNNER_CUBLASLT_GROUP_H

#include "runner/cublaslt_case.h"

struct cublaslt_group {
	enum dtype in, out;          /* DTYPE_UNKNOWN: any */
	cublasComputeType_t compute;
	cudaDataType scale;          /* of alpha and beta */
	const char *math;            /* as asked for; what an algorithm really does may be stricter */
	uint64_t units;              /* CUBLASLT_MATMUL_PREF_IMPL_MASK */
	bool fast;                   /* CUBLASLT_MATMUL_DESC_FAST_ACCUM */
};

/* Groups for the types of a problem, in the order they are asked for. Returns how many; at most `most`. -1: cuBLASLt knows no
 * product of these types. */
int cublaslt_groups(const struct problem *p, const struct cublaslt_group **to, int most, struct error *err);

/* What the math of an algorithm of this group is called, by what it says of its numerics: "strict", "tf32", "fast_f16",
 * "fast_bf16", "emulated_bf16x9", "f16_accumulate", "fast_accumulate". */
const char *cublaslt_group_math(const struct cublaslt_group *g, const struct problem *p, uint64_t flags);

/* Descriptors of a case under a group. All NULL after close. */
struct cublaslt_desc {
	cublasLtMatmulDesc_t operation;
	cublasLtMatrixLayout_t a, b, c, d;
};
int cublaslt_desc_open(struct cublaslt_desc *desc, const struct cublaslt_case *c, const struct cublaslt_group *g,
	struct error *err);
void cublaslt_desc_close(struct cublaslt_desc *desc);

/* 1 and 0 in the group's scale type. */
union cublaslt_scalar {
	float f32;
	double f64;
	int32_t s32;
	uint16_t f16;
};
union cublaslt_scalar cublaslt_scalar(const struct cublaslt_group *g, bool one);

#endif
