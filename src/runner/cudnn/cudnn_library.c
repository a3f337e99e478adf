/* Opens cuDNN, checks its version, and keeps a handle for each thread. */
#include "config.h"

#include "runner/cudnn/cudnn_library.h"

#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runner/gpu/cuda_compiler.h"
#include "runner/gpu/cuda_context.h"
#include "runner/gpu/cuda_folders.h"

#define DEVICELESS_VERSION 90800 /* first version that plans for a described device */
#define REASON_SIZE 65536

static struct {
	bool tried;
	const struct cudnn_api *api; /* NULL if it cannot be used, for the reason in `why` */
	struct error why;
	int version;
} library;

/* Threads must not share a handle while both use it. A thread keeps its own until the process ends: by then
 * the CUDA runtime may be gone already. */
static _Thread_local struct {
	cudnnHandle_t handle;
	cudaStream_t stream; /* of the handle */
} own;

static struct cudnn_api functions;

int cudnn_version_check(int version, bool planning, struct error *err)
{
	int major = version / 10000, minor = version / 100 % 100;
	/* up to 8.9 the version was major * 1000 + minor * 100 + patch */
	if (version < 10000)
		return error_set(err, "cuDNN %d.%d is installed, this runner needs cuDNN %d; "
			"install it", version / 1000,
			version / 100 % 10, CUDNN_MAJOR);
	if (major != CUDNN_MAJOR)
		return error_set(err, "cuDNN %d.%d is installed, this runner needs cuDNN %d; "
			"install it", major, minor,
			CUDNN_MAJOR);
	if (planning && version < DEVICELESS_VERSION)
		return error_set(err, "cuDNN %d.%d cannot plan without a GPU; install 9.8 or newer", major,
			minor);
	return 0;
}

/* When planning, only run-time compiled engines need a driver: cuDNN lists them only if libcuda.so.1 is
 * loaded. Without a driver the toolkit's stub library is enough; cuDNN finds it by its soname. */
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
	/* cuDNN loads and unloads the run-time compiler (100 MB) for every engine that it considers; keeping
	 * it loaded makes listing much faster. The backend's probe reports a missing one. */
	cuda_compiler(NULL);
	if (!cuda_library_open(names, symbols, (int)(sizeof(symbols) / sizeof(symbols[0])),
		"install cuDNN 9 for this CUDA version, or add its folder to LD_LIBRARY_PATH", err))
		return -1;
	library.version = (int)functions.cudnnGetVersion();
	return cudnn_version_check(library.version, cuda_context()->planning, err);
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

/* One at a time: cuDNN's guide asks that the first handle exists before several threads create theirs. */
static int handle_create(const struct cudnn_api *api, cudnnHandle_t *h, struct error *err)
{
	static pthread_mutex_t creating = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&creating);
	cudnnStatus_t status = api->cudnnCreate(h);
	pthread_mutex_unlock(&creating);
	return cudnn_error(status, "cudnnCreate", err);
}

cudnnHandle_t cudnn_handle_on(cudaStream_t stream, struct error *err)
{
	const struct cudnn_api *api = cudnn_library(err);
	assert(!cuda_context()->planning);
	if (!api || (own.handle && own.stream == stream))
		return api ? own.handle : NULL;
	cudnnHandle_t h = own.handle;
	if (!h && handle_create(api, &h, err))
		return NULL;
	own.handle = h;
	if (cudnn_error(api->cudnnSetStream(h, stream), "cudnnSetStream", err))
		return NULL;
	own.stream = stream;
	return h;
}

cudnnHandle_t cudnn_handle(struct error *err)
{
	return cudnn_handle_on(cuda_context()->stream, err);
}

#define CAUSES 3      /* maximum causes in a line */
#define CAUSE_SIZE 240

struct cause {
	const char *status, *reason; /* status: without its prefix; NULL if the line has none */
	int status_size, reason_size;
};

static struct cause cause_read(const char *line, int size)
{
	static const char prefix[] = "CUDNN_STATUS_", mark[] = "Reason: ";
	struct cause c = { 0 };
	const char *status = memmem(line, (size_t)size, prefix, sizeof(prefix) - 1);
	const char *reason = memmem(line, (size_t)size, mark, sizeof(mark) - 1);
	if (!reason)
		return c;
	c.reason = reason + sizeof(mark) - 1;
	c.reason_size = (int)(line + size - c.reason);
	if (c.reason_size > CAUSE_SIZE)
		c.reason_size = CAUSE_SIZE;
	if (status && status < reason) {
		c.status = status + sizeof(prefix) - 1;
		c.status_size = (int)strcspn(c.status, ";:\n");
	}
	return c;
}

/* True for the cause of an engine for other GPUs, or of one that is only a placeholder in this version. */
static bool is_other_gpu(const struct cause *c)
{
	static const char name[] = "NOT_SUPPORTED_ARCH_MISMATCH", reserved[] = "PLACE_HOLDER_ENGINE";
	return (c->status_size == (int)sizeof(name) - 1 && memcmp(c->status, name, sizeof(name) - 1) == 0) ||
		memmem(c->reason, (size_t)c->reason_size, reserved, sizeof(reserved) - 1);
}

static bool cause_is_known(const struct cause *known, int count, const struct cause *c)
{
	for (int i = 0; i < count; i++)
		if (known[i].reason_size == c->reason_size &&
			memcmp(known[i].reason, c->reason, (size_t)c->reason_size) == 0)
			return true;
	return false;
}

/* Collects the first cause of every block without duplicates: of engines for other GPUs, or of all others. */
static int causes_read(const char *raw, bool other_gpus, struct cause *cause)
{
	int count = 0;
	bool first = true;
	for (const char *line = raw; *line && count < CAUSES;) {
		int size = (int)strcspn(line, "\n");
		struct cause c = cause_read(line, size);
		if (!c.reason)
			first = first || size == 0 || *line == '{';
		else if (first) {
			first = false;
			if (is_other_gpu(&c) == other_gpus && !cause_is_known(cause, count, &c))
				cause[count++] = c;
		}
		line += size + (line[size] == '\n');
	}
	return count;
}

void cudnn_reason(const char *raw, char *text, size_t size)
{
	struct cause cause[CAUSES];
	int count = causes_read(raw, false, cause);
	size_t n = 0;
	if (count == 0)
		count = causes_read(raw, true, cause);
	text[0] = '\0';
	for (int i = 0; i < count && n < size; i++) {
		const struct cause *c = &cause[i];
		n += (size_t)snprintf(text + n, size - n, "%s%.*s%s%.*s", i ? "; or " : "", c->status_size,
			c->status ? c->status : "", c->status ? ": " : "", c->reason_size, c->reason);
	}
}

static void reason_take(char *text, size_t size)
{
	char *raw = base_calloc(1, REASON_SIZE);
	functions.cudnnGetLastErrorString(raw, REASON_SIZE - 1);
	cudnn_reason(raw, text, size);
	free(raw);
}

int cudnn_error(cudnnStatus_t status, const char *call, struct error *err)
{
	char reason[ERROR_TEXT_SIZE];
	if (status == CUDNN_STATUS_SUCCESS)
		return 0;
	reason_take(reason, sizeof(reason));
	int failed = error_set(
		err, "%s: %s%s%s", call, functions.cudnnGetErrorString(status), *reason ? ": " : "", reason);
	return CUDNN_STATUS_CATEGORY((int)status) == CUDNN_STATUS_NOT_SUPPORTED ? STATUS_UNSUPPORTED :
		cudnn_error_is_memory(status) ? STATUS_NO_MEMORY : failed;
}

int cudnn_error_reason(const char *what, struct error *err)
{
	char reason[ERROR_TEXT_SIZE];
	reason_take(reason, sizeof(reason));
	return error_set(err, *reason ? "%s: %s" : "%s, reason unknown", what, reason);
}

void cudnn_error_forget(void)
{
	char one[2];
	functions.cudnnGetLastErrorString(one, sizeof(one));
}

bool cudnn_error_is_memory(cudnnStatus_t status)
{
	return status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED ||
		status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
}
