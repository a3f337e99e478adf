/* Collects the records that CUPTI delivers, orders them by start, and demangles names. */
#include "config.h"

#include "runner/gpu/cuda_cupti.h"

#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "runner/gpu/cuda_context.h"
#include "runner/gpu/cuda_library.h"

#define BUFFER_BYTES 65536
#define MOST_KERNELS 4096
#define NAME_SIZE 400

#define CUPTI_FUNCTIONS(_) _(cuptiActivityRegisterCallbacks) _(cuptiActivityEnable) _(cuptiActivityDisable) \
	_(cuptiActivityFlushAll) _(cuptiActivityGetNextRecord) _(cuptiGetResultString) _(cuptiFinalize)
static struct { CUPTI_FUNCTIONS(CUDA_LIBRARY_MEMBER) } api;

static const struct cuda_library_symbol symbols[] = {
#define CUPTI_SYMBOL(name) { #name, (void **)&api.name, false },
	CUPTI_FUNCTIONS(CUPTI_SYMBOL)
};

struct record {
	uint64_t start;
	char *name;
};

/* Guards the records: CUPTI may call back on its own thread. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct record *records;
static int record_count, record_capacity;

static void CUPTIAPI buffer_requested(uint8_t **buffer, size_t *size, size_t *most)
{
	*buffer = aligned_alloc(ACTIVITY_RECORD_ALIGNMENT, BUFFER_BYTES);
	*size = *buffer ? BUFFER_BYTES : 0;
	*most = 0;
}

static void CUPTIAPI buffer_completed(
	CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	CUpti_Activity *a = NULL;
	(void)context;
	(void)stream;
	(void)size;
	pthread_mutex_lock(&lock);
	while (buffer && valid && api.cuptiActivityGetNextRecord(buffer, valid, &a) == CUPTI_SUCCESS) {
		if (a->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || record_count >= MOST_KERNELS)
			continue;
		const CUDA_CUPTI_KERNEL *k = (const void *)a;
		VEC_GROW(records, record_count, record_capacity);
		records[record_count++] = (struct record){ k->start, base_strdup(k->name ? k->name : "?") };
	}
	pthread_mutex_unlock(&lock);
	free(buffer);
}

static void records_clear(void)
{
	for (int i = 0; i < record_count; i++)
		free(records[i].name);
	free(records);
	records = NULL;
	record_count = record_capacity = 0;
}

static const char *reason(CUptiResult c)
{
	const char *text = NULL;
	return api.cuptiGetResultString(c, &text) == CUPTI_SUCCESS && text ? text : "unknown reason";
}

/* Detaches CUPTI: attached, it slows every launch of the process down. The next begin attaches it again. Logs
 * once that it cannot. */
static void detach(void)
{
	static bool logged;
	CUptiResult c = api.cuptiFinalize();
	if (c != CUPTI_SUCCESS && !logged)
		log_line("CUPTI cannot be detached (%s): launches in this process may be slower from now on",
			reason(c));
	logged = logged || c != CUPTI_SUCCESS;
}

int cuda_cupti_begin(struct error *err)
{
	static const char *const names[] = { "libcupti.so." CUDA_MAJOR, "libcupti.so", NULL };
	static enum { UNTRIED, OPEN, MISSING } state;
	static struct error why;
	if (state == UNTRIED)
		state = cuda_library_open(names, symbols, (int)(sizeof(symbols) / sizeof(symbols[0])),
			"kernel names are unknown without it; it is part of the CUDA toolkit", &why)
			? OPEN : MISSING;
	if (state == MISSING)
		return error_set(err, "%s", why.text);
	records_clear();
	CUptiResult c = api.cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed);
	if (c != CUPTI_SUCCESS) {
		error_set(err, "CUPTI accepts no callbacks (%s)", reason(c));
		detach();
		return -1;
	}
	c = api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	if (c != CUPTI_SUCCESS) {
		error_set(err, "CUPTI cannot trace kernels (%s)", reason(c));
		detach();
		return -1;
	}
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct record *x = a, *y = b;
	return (x->start > y->start) - (x->start < y->start);
}

void cuda_cupti_end(struct str *names)
{
	char name[NAME_SIZE];
	api.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	api.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	detach();
	pthread_mutex_lock(&lock);
	if (record_count)
		qsort(records, (size_t)record_count, sizeof(*records), by_start);
	for (int i = 0; i < record_count; i++) {
		cuda_cupti_name(records[i].name, name, sizeof(name));
		str_addf(names, "%s%s", names->n ? "\n" : "", name);
	}
	records_clear();
	pthread_mutex_unlock(&lock);
}

/* --- names --- */

/* Demangles a name with libstdc++, if it is installed; the caller frees the result. Returns NULL if it
 * cannot. */
static char *demangle(const char *raw)
{
	static char *(*demangler)(const char *, char *, size_t *, int *);
	static bool tried;
	int status = -1;
	if (!tried) {
		void *handle = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
		void *found = handle ? dlsym(handle, "__cxa_demangle") : NULL;
		memcpy(&demangler, &found, sizeof(found));
		tried = true;
	}
	return demangler && strncmp(raw, "_Z", 2) == 0 ? demangler(raw, NULL, NULL, &status) : NULL;
}

/* Returns the length without the argument list, up to the match of the last parenthesis: "f<(int)3>(float*,
 * int)". */
static size_t without_arguments(const char *name)
{
	size_t n = strlen(name), at = n;
	int depth = 0;
	if (n == 0 || name[n - 1] != ')')
		return n;
	do {
		at--;
		depth += name[at] == ')' ? 1 : name[at] == '(' ? -1 : 0;
	} while (at > 0 && depth > 0);
	return at > 0 && depth == 0 ? at : n;
}

void cuda_cupti_name(const char *raw, char *name, int size)
{
	char *demangled = demangle(raw);
	const char *from = demangled ? demangled : raw;
	from += strncmp(from, "void ", 5) == 0 ? 5 : 0;
	size_t n = demangled ? without_arguments(from) : strlen(from);
	bool cut = n > (size_t)size - 1;
	snprintf(name, (size_t)size, "%.*s", (int)(cut ? (size_t)size - 1 : n), from);
	if (cut && size > 4)
		memcpy(name + size - 4, "...", 4);
	for (char *at = name; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	free(demangled);
}
