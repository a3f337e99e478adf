/* A group is one way to ask cuBLASLt's heuristics for a matmul: compute type, scale type, and allowed
 * hardware units. */
#ifndef RUNNER_CUBLASLT_GROUP_H
#define RUNNER_CUBLASLT_GROUP_H

#include "runner/cublaslt/cublaslt_case.h"
#include "runner/gpu/cuda_work.h"

struct cublaslt_group {
	enum dtype in, out;          /* of a and the destination; DTYPE_UNKNOWN: any */
	cublasComputeType_t compute;
	cudaDataType scale;          /* type of alpha and beta */
	const char *math;            /* the requested math mode; an algorithm's actual one may be stricter */
	uint64_t units;              /* CUBLASLT_MATMUL_PREF_IMPL_MASK */
	bool fast;                   /* CUBLASLT_MATMUL_DESC_FAST_ACCUM */
};

/* Lists at most `most` groups for the types of a case, in the order to ask them. Returns their number; -1
 * and sets err if cuBLASLt has no matmul of these types. */
int cublaslt_groups(
	const struct cublaslt_case *c, const struct cublaslt_group **to, int most, struct error *err);

/* Returns the actual math mode of an algorithm of this group, from its numerical flags: "strict", "tf32",
 * "fast_f16", "fast_bf16", "emulated_bf16x9", "f16_accumulate", "fast_accumulate". */
const char *cublaslt_group_math(const struct cublaslt_group *g, const struct problem *p, uint64_t flags);

/* Descriptors of a case in a group. All are NULL after close. */
struct cublaslt_desc {
	cublasLtMatmulDesc_t operation;
	cublasLtMatrixLayout_t a, b, c, d;
};
int cublaslt_desc_open(struct cublaslt_desc *desc, const struct cublaslt_case *c,
	const struct cublaslt_group *g, struct error *err);
/* Sets the addresses of the scales of 8-bit floats on the device, those of A, B and D, where there are any;
 * NULL: stays as it is. */
int cublaslt_desc_scale(struct cublaslt_desc *desc, const struct cublaslt_case *c,
	const float *const scales[CUDA_SCALES], struct error *err);
bool cublaslt_is_float8(cudaDataType t);
void cublaslt_desc_close(struct cublaslt_desc *desc);

/* 1 or 0 in the group's scale type. */
union cublaslt_scalar {
	float f32;
	double f64;
	int32_t s32;
	uint16_t f16;
};
union cublaslt_scalar cublaslt_scalar(const struct cublaslt_group *g, bool one);

#endif
