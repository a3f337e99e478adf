/* Vendor libraries opened at run time, so that the runner starts, and says what is missing, where they are absent. */
#ifndef RUNNER_CUDA_LIBRARY_H
#define RUNNER_CUDA_LIBRARY_H

#include <stdbool.h>

#include "base/error.h"

struct cuda_library_symbol {
	const char *name;
	void **to;
	bool optional;     /* newer versions only: stays NULL */
};

/* Opens the first of the names (NULL-terminated) that loads: by the loader's own search, then in the toolkit's folder that
 * configure found, $CUDA_HOME/lib64 and $CUDA_PATH/lib64. Fills the symbols. NULL: err names the library, what the loader
 * said, and what to install or set; or the symbol that this version lacks. The handle is never closed. */
void *cuda_library_open(const char *const *names, const struct cuda_library_symbol *symbols, int count,
	const char *cure, struct error *err);

/* A struct of function pointers from a list of names: types come from the vendor's header.
 *   #define NVML_FUNCTIONS(_) _(nvmlInit_v2) ...
 *   struct nvml_api { NVML_FUNCTIONS(CUDA_LIBRARY_MEMBER) }; */
#define CUDA_LIBRARY_MEMBER(name) __typeof__(name) *name;

#endif
