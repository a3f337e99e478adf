/* Names of the executed kernels, from the activity records of CUPTI, which is optional. CUPTI is
 * attached only between begin and end, because it slows launches down. */
#ifndef RUNNER_CUDA_CUPTI_H
#define RUNNER_CUDA_CUPTI_H

#include "base/error.h"
#include "base/str.h"

/* Starts tracing. Returns -1 and sets err if CUPTI is missing or cannot trace here. */
int cuda_cupti_begin(struct error *err);
/* Stops tracing; the stream must be idle. Adds the kernel names to `names`, one per line, in order of their
 * starts. */
void cuda_cupti_end(struct str *names);
/* Makes a kernel's name readable: demangled if libstdc++ is installed, without "void" and the argument list,
 * shortened to `size`, without control characters. */
void cuda_cupti_name(const char *raw, char *name, int size);

#endif
