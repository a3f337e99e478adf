/* Opens cuBLASLt and keeps a handle for each thread. */
#include "config.h"

#include "runner/cublaslt/cublaslt_library.h"

#include <assert.h>

#include "runner/gpu/cuda_context.h"

static struct {
	bool tried;
	const struct cublaslt_api *api; /* NULL if it cannot be used, for the reason in `why` */
	struct error why;
} library;

/* One per thread, so that the first use needs no lock. Kept until the process ends. */
static _Thread_local cublasLtHandle_t own;

static struct cublaslt_api functions;

/* "libcublasLt.so.13" if built with headers 13.x: structures and enumerators are stable within a major
 * version. */
#define TEXT_OF(x) #x
#define NAME_OF(major) "libcublasLt.so." TEXT_OF(major)

static int library_open(struct error *err)
{
	static const char *const names[] = { NAME_OF(CUBLAS_VER_MAJOR), "libcublasLt.so", NULL };
#define SYMBOL(name) { #name, (void **)(void *)&functions.name, false },
	static const struct cuda_library_symbol symbols[] = { CUBLASLT_FUNCTIONS(SYMBOL) };
#undef SYMBOL
	if (!cuda_library_open(names, symbols, (int)(sizeof(symbols) / sizeof(symbols[0])),
		"install cuBLAS for this CUDA version, or add its folder to LD_LIBRARY_PATH", err))
		return -1;
	size_t version = functions.cublasLtGetVersion();
	if (version / 10000 != CUBLAS_VER_MAJOR)
		return error_set(err, "cuBLASLt %zu.%zu is installed, this runner needs %d.x; install it",
			version / 10000, version / 100 % 100, CUBLAS_VER_MAJOR);
	return 0;
}

const struct cublaslt_api *cublaslt_library(struct error *err)
{
	if (!library.tried) {
		library.tried = true;
		if (library_open(&library.why) == 0)
			library.api = &functions;
	}
	if (!library.api)
		error_set(err, "%s", library.why.text);
	return library.api;
}

cublasLtHandle_t cublaslt_handle(struct error *err)
{
	const struct cublaslt_api *api = cublaslt_library(err);
	assert(!cuda_context()->planning);
	if (!api || own)
		return api ? own : NULL;
	cublasLtHandle_t h = NULL;
	if (cublaslt_error(api->cublasLtCreate(&h), "cublasLtCreate", err))
		return NULL;
	return own = h;
}

int cublaslt_error(cublasStatus_t status, const char *call, struct error *err)
{
	if (status == CUBLAS_STATUS_SUCCESS)
		return 0;
	int failed = error_set(err, "%s: %s", call, functions.cublasLtGetStatusName(status));
	return status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_ARCH_MISMATCH
		? STATUS_UNSUPPORTED
		: status == CUBLAS_STATUS_ALLOC_FAILED ? STATUS_NO_MEMORY : failed;
}
