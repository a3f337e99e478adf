/* NVRTC, opened at run time: compiles CUDA C++ for one compute capability; needs no device. */
#ifndef RUNNER_NVRTC_LIBRARY_H
#define RUNNER_NVRTC_LIBRARY_H

#include "base/error.h"
#include "base/str.h"

/* Opens the library once, for all threads. Returns -1 and sets err, with the fix, if it cannot be used; else
 * sets the version, which may be NULL. */
int nvrtc_library(int *major, int *minor, struct error *err);
/* Compiles the text for sm (90: compute capability 9.0) and appends machine code, or PTX of the newest
 * capability that the library knows if it is older than this one, to `code`. -1: err has the log's first
 * line. */
int nvrtc_compile(const char *text, int sm, struct str *code, struct error *err);

#endif
