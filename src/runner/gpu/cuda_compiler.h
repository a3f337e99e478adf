/* NVRTC, the compiler at run time: cuDNN needs it for many of its engines. */
#ifndef RUNNER_CUDA_COMPILER_H
#define RUNNER_CUDA_COMPILER_H

#include "base/error.h"
#include "base/json.h"

/* Loads the compiler and its built-in functions, and keeps them: libraries that load it by name then find it
 * wherever it lies. Returns a function of it (nvrtcVersion), with the version as text; NULL and sets err
 * (with the fix) if it is missing. The first answer is remembered. */
const void *cuda_compiler(const char **version, struct error *err);

#endif
