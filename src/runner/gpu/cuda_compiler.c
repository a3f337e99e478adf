#include "config.h"

#include "runner/gpu/cuda_compiler.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/gpu/cuda_context.h"
#include "runner/gpu/cuda_library.h"

static int (*version_get)(int *major, int *minor);

/* The compiler loads its built-in functions by name and has no path to them (RUNPATH): those that lie beside
 * it are loaded first. */
static void builtins_hold(int major, int minor)
{
	Dl_info info;
	char path[PATH_MAX + 64];
	char *real = dladdr((const void *)version_get, &info) && info.dli_fname
		? realpath(info.dli_fname, NULL) : NULL;
	char *slash = real ? strrchr(real, '/') : NULL;
	if (slash) {
		*slash = '\0';
		snprintf(path, sizeof(path), "%s/libnvrtc-builtins.so.%d.%d", real, major, minor);
		dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	free(real);
}

const void *cuda_compiler(const char **version, struct error *err)
{
	static const char *const names[] = { "libnvrtc.so." CUDA_MAJOR, NULL };
	static const struct cuda_library_symbol symbols[] = {
		{ "nvrtcVersion", (void **)(void *)&version_get, false } };
	static struct {
		bool tried;
		struct error why;
		char version[32];
	} known;
	int major = 0, minor = 0;
	if (!known.tried && cuda_library_open(names, symbols, 1, "install NVRTC for this CUDA version "
		"(cuDNN's engines that are compiled at run time need it)", &known.why) &&
		version_get(&major, &minor) == 0) {
		snprintf(known.version, sizeof(known.version), "%d.%d", major, minor);
		builtins_hold(major, minor);
	}
	known.tried = true;
	*version = known.version;
	if (!version_get)
		error_set(err, "%s", known.why.text);
	return (const void *)version_get;
}
