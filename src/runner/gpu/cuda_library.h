/* Opens vendor libraries at run time, so that the runner starts without them and can report which one is
 * missing. */
#ifndef RUNNER_CUDA_LIBRARY_H
#define RUNNER_CUDA_LIBRARY_H

#include <stdbool.h>

#include "base/error.h"
#include "base/json.h"

struct cuda_library_symbol {
	const char *name;
	void **to;
	bool optional;     /* missing in older versions: stays NULL then */
};

/* Opens the first of the names (NULL-terminated) that loads: by the loader's own search (LD_LIBRARY_PATH,
 * ldconfig's cache), then in the folders of cuda_folders_find. Sets the symbols. Returns NULL if none loads
 * (err: library, the loader's message, `fix`) or if a required symbol is missing (err names
 * it). The handle is never closed. */
void *cuda_library_open(const char *const *names, const struct cuda_library_symbol *symbols, int count,
	const char *fix, struct error *err);

/* Adds to the list "libraries" of the attributes (docs/wire.md) that a library is present: its version, and
 * the path of the file that has the symbol (any of its functions); or that it is missing. `why` is an error's
 * text "reason; fix"; the folders that were searched are added. */
void cuda_library_present(json_t *attributes, const char *name, const char *version, const void *symbol);
void cuda_library_missing(json_t *attributes, const char *name, const char *why);

/* Declares a struct of function pointers from a list of names; the types come from the vendor's header.
 *   #define NVML_FUNCTIONS(_) _(nvmlInit_v2) ...
 *   struct nvml_api { NVML_FUNCTIONS(CUDA_LIBRARY_MEMBER) }; */
#define CUDA_LIBRARY_MEMBER(name) __typeof__(name) *name;

#endif
