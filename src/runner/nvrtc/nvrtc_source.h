/* A chain of pointwise operations as CUDA C++: the text of one kernel for one problem, with its sizes as
 * constants, and the text before it, which defines what the kernel's text uses. Needs no device and no
 * library. */
#ifndef RUNNER_NVRTC_SOURCE_H
#define RUNNER_NVRTC_SOURCE_H

#include "base/str.h"
#include "problem/problem.h"

#define NVRTC_INPUTS 6     /* sources of a binary, and epilogue operands */
#define NVRTC_NAME "pointwise"

struct nvrtc_input {
	bool is_epilogue;
	int number;        /* of the source, or of the epilogue */
};

/* The kernel has NVRTC_INPUTS addresses as arguments, then the destination's; unused ones are NULL. */
struct nvrtc_source {
	struct str text;   /* the caller frees it */
	int input_count;
	struct nvrtc_input input[NVRTC_INPUTS];
	int words;         /* elements that a thread handles at once */
	int64_t packs;     /* how often it does that, in all threads together */
};

/* Writes the kernel of an eltwise or binary problem with its epilogues. Returns -1 and sets err if a mode or
 * type has none. Floats of up to 32 bits are computed in f32, f64 and mixtures with wide integers in f64;
 * integers in 64 bits if every operation is exact on integers. Integer results saturate. */
int nvrtc_source_make(struct nvrtc_source *s, const struct problem *p, struct error *err);

/* Types, conversions, and the macros KERNEL (qualifiers), FIRST and STEP (the thread's first pack, and the
 * distance to its next one), for a GPU. */
extern const char nvrtc_prelude[];

#endif
