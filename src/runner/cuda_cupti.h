/* Names of the kernels that really run, by the activity records of CUPTI, which is optional. Tracing is on only between
 * begin and end, because it slows launches down. */
#ifndef RUNNER_CUDA_CUPTI_H
#define RUNNER_CUDA_CUPTI_H

#include "base/error.h"
#include "base/str.h"

/* -1: there is no CUPTI, or it does not trace here; err says why. */
int cuda_cupti_begin(struct error *err);
/* The stream has been waited for. Adds the names, one a line in the order of their starts, to `names`. */
void cuda_cupti_end(struct str *names);
/* A kernel's name for people: demangled where the system can, without "void" and the list of arguments, cut to a length
 * that fits a line of a report. */
void cuda_cupti_name(const char *raw, char *name, int size);

#endif
