/* Opens vendor libraries at run time, so that the runner starts without them and can report which one is
 * missing. */
#ifndef RUNNER_CUDA_LIBRARY_H
#define RUNNER_CUDA_LIBRARY_H

#include <stdbool.h>

#include "base/error.h"

struct cuda_library_symbol {
	const char *name;
	void **to;
	bool optional;     /* missing in older versions: stays NULL then */
};

/* Opens the first of the names (NULL-terminated) that loads: by the loader's own search, then in the
 * toolkit's folder found by configure, $CUDA_HOME/lib64 and $CUDA_PATH/lib64. Sets the symbols. Returns NULL
 * if none loads (err: library, the loader's message, `fix`) or if a required symbol is missing (err names
 * it). The handle is never closed. */
void *cuda_library_open(const char *const *names, const struct cuda_library_symbol *symbols, int count,
	const char *fix, struct error *err);

/* Declares a struct of function pointers from a list of names; the types come from the vendor's header.
 *   #define NVML_FUNCTIONS(_) _(nvmlInit_v2) ...
 *   struct nvml_api { NVML_FUNCTIONS(CUDA_LIBRARY_MEMBER) }; */
#define CUDA_LIBRARY_MEMBER(name) __typeof__(name) *name;

#endif
