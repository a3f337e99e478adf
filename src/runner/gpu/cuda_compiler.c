/* Opens NVRTC and compiles a text for the newest architecture that both know. */
#include "config.h"

#include "runner/gpu/cuda_compiler.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runner/gpu/cuda_context.h"
#include "runner/gpu/cuda_library.h"

/* --- the part of NVRTC's interface used here, from its reference --- */

typedef struct nvrtc_program *nvrtc_program;

static struct {
	int (*version)(int *, int *);
	const char *(*error_string)(int);
	int (*create)(
		nvrtc_program *, const char *, const char *, int, const char *const *, const char *const *);
	int (*destroy)(nvrtc_program *);
	int (*compile)(nvrtc_program, int, const char *const *);
	int (*log_size)(nvrtc_program, size_t *);
	int (*log)(nvrtc_program, char *);
	int (*cubin_size)(nvrtc_program, size_t *);
	int (*cubin)(nvrtc_program, char *);
	int (*ptx_size)(nvrtc_program, size_t *);
	int (*ptx)(nvrtc_program, char *);
	int (*arch_count)(int *);
	int (*archs)(int *);
} api;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct error why;
static struct cuda_compiler compiler; /* function: NULL if it cannot be used, for the reason in `why` */

/* The compiler loads its built-in functions by name and has no path to them (RUNPATH): those that lie beside
 * it are loaded first. */
static void builtins_hold(int major, int minor)
{
	Dl_info info;
	char path[PATH_MAX + 64];
	char *real = dladdr((const void *)api.version, &info) && info.dli_fname
		? realpath(info.dli_fname, NULL) : NULL;
	char *slash = real ? strrchr(real, '/') : NULL;
	if (slash) {
		*slash = '\0';
		snprintf(path, sizeof(path), "%s/libnvrtc-builtins.so.%d.%d", real, major, minor);
		dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	free(real);
}

static void library_open(void)
{
	static const char *const names[] = { "libnvrtc.so." CUDA_MAJOR, NULL };
	static const struct cuda_library_symbol symbols[] = {
		{ "nvrtcVersion", (void **)(void *)&api.version, false },
		{ "nvrtcGetErrorString", (void **)(void *)&api.error_string, false },
		{ "nvrtcCreateProgram", (void **)(void *)&api.create, false },
		{ "nvrtcDestroyProgram", (void **)(void *)&api.destroy, false },
		{ "nvrtcCompileProgram", (void **)(void *)&api.compile, false },
		{ "nvrtcGetProgramLogSize", (void **)(void *)&api.log_size, false },
		{ "nvrtcGetProgramLog", (void **)(void *)&api.log, false },
		{ "nvrtcGetCUBINSize", (void **)(void *)&api.cubin_size, false },
		{ "nvrtcGetCUBIN", (void **)(void *)&api.cubin, false },
		{ "nvrtcGetPTXSize", (void **)(void *)&api.ptx_size, false },
		{ "nvrtcGetPTX", (void **)(void *)&api.ptx, false },
		{ "nvrtcGetNumSupportedArchs", (void **)(void *)&api.arch_count, false },
		{ "nvrtcGetSupportedArchs", (void **)(void *)&api.archs, false },
	};
	int major = 0, minor = 0;
	if (!cuda_library_open(names, symbols, (int)(sizeof(symbols) / sizeof(symbols[0])),
		"install NVRTC of CUDA " CUDA_MAJOR " (package nvidia-cuda-nvrtc), or add its folder to "
		"LD_LIBRARY_PATH (generated kernels and cuDNN's engines that are compiled at run time "
		"need it)", &why))
		return;
	api.version(&major, &minor);
	builtins_hold(major, minor);
	snprintf(compiler.version, sizeof(compiler.version), "%d.%d", major, minor);
	compiler.function = (const void *)api.version;
}

const struct cuda_compiler *cuda_compiler(struct error *err)
{
	pthread_once(&once, library_open);
	if (compiler.function)
		return &compiler;
	error_set(err, "%s", why.text);
	return NULL;
}

/* Returns sm if the library makes code for it; else minus the newest capability below it, or 0. */
static int target_of(int sm)
{
	int count = 0, best = 0;
	if (api.arch_count(&count) || count < 1)
		return 0;
	int *known = base_calloc((size_t)count, sizeof(*known));
	for (int i = 0; api.archs(known) == 0 && i < count; i++)
		if (known[i] <= sm && known[i] > best)
			best = known[i];
	free(known);
	return best == sm ? sm : -best;
}

static int failed(nvrtc_program program, int code, struct error *err)
{
	size_t n = 0;
	if (!program || api.log_size(program, &n) || n < 2)
		return error_set(err, "NVRTC: %s", api.error_string(code));
	char *log = base_calloc(n + 1, 1);
	api.log(program, log);
	error_set(err, "NVRTC: %s: %.*s", api.error_string(code), (int)strcspn(log, "\n"), log);
	free(log);
	return -1;
}

static int code_take(nvrtc_program program, bool is_machine_code, struct str *code, struct error *err)
{
	size_t n = 0;
	int bad = is_machine_code ? api.cubin_size(program, &n) : api.ptx_size(program, &n);
	char *bytes = bad ? NULL : base_malloc(n + 1);
	if (!bad)
		bad = is_machine_code ? api.cubin(program, bytes) : api.ptx(program, bytes);
	if (!bad)
		str_add(code, bytes, n);
	free(bytes);
	return bad ? failed(NULL, bad, err) : 0;
}

int cuda_compile(const char *text, int sm, struct str *code, struct error *err)
{
	char arch[64];
	const char *const options[] = { arch, "--std=c++17" };
	nvrtc_program program = NULL;
	if (!cuda_compiler(err))
		return -1;
	int target = target_of(sm);
	if (!target)
		return error_set(err, "this NVRTC makes no code for compute capability %d.%d or before",
			sm / 10, sm % 10);
	snprintf(arch, sizeof(arch), "--gpu-architecture=%s_%d", target > 0 ? "sm" : "compute", abs(target));
	int bad = api.create(&program, text, "pointwise.cu", 0, NULL, NULL);
	if (!bad)
		bad = api.compile(program, 2, options);
	int result = bad ? failed(program, bad, err) : code_take(program, target > 0, code, err);
	if (program)
		api.destroy(&program);
	return result;
}
