#include "config.h"

#include "fake_nvrtc.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/str.h"
#include "fake_cudart.h"
#include "runner/nvrtc/nvrtc_source.h"
#include "tests/cuda_on_cpu/pointwise_prelude.h"

struct fake_nvrtc fake_nvrtc;
static pthread_t here;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

/* --- NVRTC --- */

struct program {
	char *text;
	struct str code; /* a shared object, behind its size */
	const char *log;
};

int nvrtcVersion(int *major, int *minor);
int nvrtcVersion(int *major, int *minor)
{
	*major = 13;
	*minor = 7;
	return 0;
}

const char *nvrtcGetErrorString(int code);
const char *nvrtcGetErrorString(int code)
{
	return code == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_INVALID_INPUT";
}

int nvrtcGetNumSupportedArchs(int *count);
int nvrtcGetNumSupportedArchs(int *count)
{
	*count = fake_nvrtc.arch_count;
	return 0;
}

int nvrtcGetSupportedArchs(int *to);
int nvrtcGetSupportedArchs(int *to)
{
	memcpy(to, fake_nvrtc.archs, (size_t)fake_nvrtc.arch_count * sizeof(*to));
	return 0;
}

int nvrtcCreateProgram(struct program **to, const char *text, const char *name, int headers,
	const char *const *header_texts, const char *const *header_names);
int nvrtcCreateProgram(struct program **to, const char *text, const char *name, int headers,
	const char *const *header_texts, const char *const *header_names)
{
	struct program *p = base_calloc(1, sizeof(*p));
	(void)header_texts;
	(void)header_names;
	p->text = base_strdup(text);
	p->log = "";
	*to = p;
	__atomic_add_fetch(&fake_nvrtc.programs_alive, 1, __ATOMIC_RELAXED);
	return headers || !name;
}

int nvrtcDestroyProgram(struct program **p);
int nvrtcDestroyProgram(struct program **p)
{
	free((*p)->text);
	str_free(&(*p)->code);
	free(*p);
	__atomic_add_fetch(&fake_nvrtc.programs_alive, -1, __ATOMIC_RELAXED);
	return 0;
}

/* Writes the program for a CPU. */
static bool source_write(const char *path, const char *kernel)
{
	FILE *f = fopen(path, "w");
	if (!f)
		return false;
	fprintf(f, "%s%s\nextern \"C\" void run(const void *const *p)\n"
		"{ pointwise(p[0], p[1], p[2], p[3], p[4], p[5], (void *)p[6]); }\n", pointwise_prelude,
		kernel);
	return fclose(f) == 0;
}

static bool file_read(const char *path, struct str *to)
{
	char bytes[65536];
	size_t n;
	uint64_t size;
	FILE *f = fopen(path, "r");
	if (!f)
		return false;
	str_add(to, (const char *)&size, sizeof(size));
	while ((n = fread(bytes, 1, sizeof(bytes), f)) > 0)
		str_add(to, bytes, n);
	size = to->n - sizeof(size);
	memcpy(to->p, &size, sizeof(size));
	fclose(f);
	return size > 0;
}

static bool text_compile(const char *kernel, struct str *code)
{
	char folder[] = "/tmp/fake_nvrtcXXXXXX", source[64], library[64], command[1024];
	const char *compiler = getenv("CXX"), *root = getenv("BENANZA_SRC");
	if (!mkdtemp(folder))
		return false;
	snprintf(source, sizeof(source), "%s/one.cpp", folder);
	snprintf(library, sizeof(library), "%s/one.so", folder);
	snprintf(command, sizeof(command), "%s -std=c++17 -O1 -w -fPIC -shared -ffp-contract=off "
		"-fno-strict-aliasing -I%s/src -o %s %s", compiler && *compiler ? compiler : CXX_USED,
		root ? root : SOURCES, library, source);
	bool good = source_write(source, kernel) && system(command) == 0 && file_read(library, code);
	unlink(source);
	unlink(library);
	rmdir(folder);
	return good;
}

int nvrtcCompileProgram(struct program *p, int count, const char *const *options);
int nvrtcCompileProgram(struct program *p, int count, const char *const *options)
{
	size_t before = strlen(nvrtc_prelude);
	fake_nvrtc.compiled++;
	fake_nvrtc.compiled_here += pthread_equal(pthread_self(), here) != 0;
	pthread_mutex_lock(&one_at_a_time);
	fake_nvrtc.compiled_locked += fake_nvrtc.locked && fake_nvrtc.locked();
	fake_nvrtc.option_count = count;
	for (int i = 0; i < count && i < 4; i++)
		snprintf(fake_nvrtc.options[i], sizeof(fake_nvrtc.options[i]), "%s", options[i]);
	pthread_mutex_unlock(&one_at_a_time);
	p->log = fake_nvrtc.compiler_error ? fake_nvrtc.compiler_error : "";
	if (*p->log || strncmp(p->text, nvrtc_prelude, before) != 0)
		return 6;
	return text_compile(p->text + before, &p->code) ? 0 : 6;
}

int nvrtcGetProgramLogSize(struct program *p, size_t *n);
int nvrtcGetProgramLogSize(struct program *p, size_t *n)
{
	*n = strlen(p->log) + 1;
	return 0;
}

int nvrtcGetProgramLog(struct program *p, char *to);
int nvrtcGetProgramLog(struct program *p, char *to)
{
	memcpy(to, p->log, strlen(p->log) + 1);
	return 0;
}

int nvrtcGetCUBINSize(struct program *p, size_t *n);
int nvrtcGetCUBINSize(struct program *p, size_t *n)
{
	*n = p->code.n;
	return 0;
}

int nvrtcGetCUBIN(struct program *p, char *to);
int nvrtcGetCUBIN(struct program *p, char *to)
{
	memcpy(to, p->code.p, p->code.n);
	return 0;
}

/* Here as the machine code; in truth a text that the driver compiles. */
int nvrtcGetPTXSize(struct program *p, size_t *n);
int nvrtcGetPTXSize(struct program *p, size_t *n)
{
	return nvrtcGetCUBINSize(p, n);
}

int nvrtcGetPTX(struct program *p, char *to);
int nvrtcGetPTX(struct program *p, char *to)
{
	return nvrtcGetCUBIN(p, to);
}

/* --- the runtime's libraries of code --- */

typedef void run_function(const void *const *addresses);
struct entry_point {
	run_function *run;
	long long *thread, *threads;
};
struct library {
	void *handle;
	struct entry_point kernel;
};

cudaError_t cudaLibraryLoadData(cudaLibrary_t *to, const void *code, enum cudaJitOption *options,
	void **values, unsigned count, enum cudaLibraryOption *more, void **more_values, unsigned more_count)
{
	char path[] = "/tmp/fake_libraryXXXXXX";
	uint64_t size;
	(void)options;
	(void)values;
	(void)more;
	(void)more_values;
	if (fake_nvrtc.load_error || count || more_count)
		return fake_nvrtc.load_error ? fake_nvrtc.load_error : cudaErrorInvalidValue;
	memcpy(&size, code, sizeof(size));
	int f = mkstemp(path);
	bool good = f >= 0 && write(f, (const char *)code + sizeof(size), (size_t)size) == (ssize_t)size;
	struct library *l = base_calloc(1, sizeof(*l));
	l->handle = good ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	close(f);
	unlink(path);
	if (!l->handle) {
		free(l);
		return cudaErrorInvalidKernelImage;
	}
	fake_nvrtc.loaded++;
	*to = (cudaLibrary_t)(void *)l;
	return cudaSuccess;
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *to, cudaLibrary_t library, const char *name)
{
	struct library *l = (void *)library;
	if (fake_nvrtc.kernel_error || strcmp(name, "pointwise") != 0)
		return fake_nvrtc.kernel_error ? fake_nvrtc.kernel_error : cudaErrorSymbolNotFound;
	*(void **)(void *)&l->kernel.run = dlsym(l->handle, "run");
	l->kernel.thread = dlsym(l->handle, "thread");
	l->kernel.threads = dlsym(l->handle, "threads");
	*to = (cudaKernel_t)(void *)&l->kernel;
	return l->kernel.run && l->kernel.thread && l->kernel.threads ? cudaSuccess : cudaErrorSymbolNotFound;
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
	struct library *l = (void *)library;
	dlclose(l->handle);
	free(l);
	fake_nvrtc.unloaded++;
	return cudaSuccess;
}

/* --- the driver's launch --- */

struct launched {
	struct entry_point *kernel;
	const void *address[NVRTC_INPUTS + 1];
	long long threads;
};

static void launched_run(void *arguments)
{
	const struct launched *l = arguments;
	*l->kernel->threads = l->threads;
	for (long long i = 0; i < l->threads; i++) {
		*l->kernel->thread = i;
		l->kernel->run(l->address);
	}
}

static int launch(void *kernel, unsigned blocks, unsigned y, unsigned z, unsigned threads, unsigned thread_y,
	unsigned thread_z, unsigned shared, void *stream, void **arguments, void **extra)
{
	struct launched l = { .kernel = kernel, .threads = (long long)blocks * threads };
	fake_nvrtc.launches++;
	fake_nvrtc.blocks = blocks;
	fake_nvrtc.threads = threads;
	if (fake_nvrtc.launch_error)
		return fake_nvrtc.launch_error;
	if (!kernel || !stream || !blocks || y != 1 || z != 1 || thread_y != 1 || thread_z != 1 || shared ||
		extra)
		return 1;
	for (int i = 0; i <= NVRTC_INPUTS; i++)
		memcpy(&l.address[i], arguments[i], sizeof(l.address[i]));
	return (int)fake_launch(
		launched_run, &l, sizeof(l), FAKE_NVRTC_LAUNCH_NS, "pointwise", (cudaStream_t)stream);
}

void fake_nvrtc_reset(void)
{
	fake_nvrtc = (struct fake_nvrtc){ .archs = { 75, 80, 90 }, .arch_count = 3 };
	here = pthread_self();
	fake.has_nvrtc = true;
	fake.driver_launch = (void (*)(void))launch;
}
