/* NVRTC, the compiler at run time of this CUDA version: for generated kernels and for many engines of cuDNN.
 * Opened at run time; needs no device. */
#ifndef RUNNER_CUDA_COMPILER_H
#define RUNNER_CUDA_COMPILER_H

#include "base/error.h"
#include "base/str.h"

struct cuda_compiler {
	char version[32];     /* "13.0" */
	const void *function; /* one of the library's */
};

/* Loads the compiler and its built-in functions once, for all threads, and keeps them: libraries that load it
 * by name then find it wherever it lies. Returns NULL and sets err, with the fix, if it cannot be used. */
const struct cuda_compiler *cuda_compiler(struct error *err);

/* Compiles the text for sm (90: compute capability 9.0) and appends machine code, or PTX of the newest
 * capability that the library knows if it is older than this one, to `code`. -1: err has the log's first
 * line. */
int cuda_compile(const char *text, int sm, struct str *code, struct error *err);

#endif
