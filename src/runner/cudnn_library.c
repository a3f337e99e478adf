#include "config.h"

#include "runner/cudnn_library.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "runner/cuda_context.h"

#ifndef BENANZA_CUDA_LIBDIR
#define BENANZA_CUDA_LIBDIR ""
#endif

#define DEVICELESS_VERSION 90800 /* the first that plans for a described device */
#define REASON_SIZE 2048

static struct {
	bool tried;
	const struct cudnn_api *api; /* NULL: not to be had, `why` tells */
	struct error why;
	int version;
	cudnnHandle_t handle;
} library;

static struct cudnn_api functions;

static int version_check(int version, bool planning, struct error *err)
{
	int major = version / 10000, minor = version / 100 % 100;
	/* up to 8.9 the number was major * 1000 + minor * 100 + patch */
	if (version < 10000)
		return error_set(err, "cuDNN %d.%d is installed, this runner needs cuDNN %d", version / 1000, version / 100 % 10,
			CUDNN_MAJOR);
	if (major != CUDNN_MAJOR)
		return error_set(err, "cuDNN %d.%d is installed, this runner needs cuDNN %d", major, minor, CUDNN_MAJOR);
	if (planning && version < DEVICELESS_VERSION)
		return error_set(err, "cuDNN %d.%d cannot plan without a device; install 9.8 or newer", major, minor);
	return 0;
}

/* Planning needs no driver but for engines that compile at run time: those look for one before they say what they can.
 * Where none is installed the toolkit's stand-in, made for linking, is enough for that. cuDNN finds it by its own name. */
static void driver_open(void)
{
	if (!dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL))
		dlopen(BENANZA_CUDA_LIBDIR "/stubs/libcuda.so", RTLD_NOW | RTLD_LOCAL);
}

static int library_open(struct error *err)
{
	static const char *const names[] = { "libcudnn.so.9", "libcudnn.so", NULL };
#define SYMBOL(name) { #name, (void **)(void *)&functions.name, false },
	static const struct cuda_library_symbol symbols[] = { CUDNN_GRAPH_FUNCTIONS(SYMBOL)
		CUDNN_LEGACY_FUNCTIONS(SYMBOL) };
#undef SYMBOL
	if (cuda_context()->planning)
		driver_open();
	if (!cuda_library_open(names, symbols, (int)(sizeof(symbols) / sizeof(symbols[0])),
		"install cuDNN 9 for this CUDA version, or name its folder in LD_LIBRARY_PATH", err))
		return -1;
	library.version = (int)functions.cudnnGetVersion();
	return version_check(library.version, cuda_context()->planning, err);
}

const struct cudnn_api *cudnn_library(struct error *err)
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

int cudnn_version(void)
{
	return library.api ? library.version : 0;
}

cudnnHandle_t cudnn_handle(struct error *err)
{
	const struct cudnn_api *api = cudnn_library(err);
	assert(!cuda_context()->planning);
	if (!api || library.handle)
		return api ? library.handle : NULL;
	cudnnHandle_t h = NULL;
	if (cudnn_error(api->cudnnCreate(&h), "cudnnCreate", err))
		return NULL;
	if (cudnn_error(api->cudnnSetStream(h, cuda_context()->stream), "cudnnSetStream", err)) {
		api->cudnnDestroy(h);
		return NULL;
	}
	return library.handle = h;
}

/* The library's reasons run over lines and end in the source place that noticed: one line is kept. */
static void reason_flatten(char *s)
{
	char *to = s;
	for (const char *from = s; *from; from++) {
		char c = *from == '\n' || *from == '\t' || *from == '\r' ? ' ' : *from;
		if (c == ' ' && (to == s || to[-1] == ' '))
			continue;
		*to++ = c;
	}
	while (to > s && to[-1] == ' ')
		to--;
	*to = '\0';
}

int cudnn_error(cudnnStatus_t status, const char *call, struct error *err)
{
	if (status == CUDNN_STATUS_SUCCESS)
		return 0;
	char reason[REASON_SIZE] = "";
	functions.cudnnGetLastErrorString(reason, sizeof(reason) - 1);
	reason_flatten(reason);
	return error_set(err, "%s: %s%s%s", call, functions.cudnnGetErrorString(status), reason[0] ? ": " : "", reason);
}

bool cudnn_error_is_memory(cudnnStatus_t status)
{
	return status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED ||
		status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
}
