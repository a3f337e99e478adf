#include "config.h"

#include "runner/cuda_library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef BENANZA_CUDA_LIBDIR
#define BENANZA_CUDA_LIBDIR ""
#endif

/* What the loader said of the attempt that tells most: of a file that is there rather than of one that is not. */
struct attempt {
	char said[512];
	bool was_there;
};

static void *open_one(const char *path, bool is_there, struct attempt *a)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const char *said = handle ? NULL : dlerror();
	if (said && (!*a->said || (is_there && !a->was_there))) {
		snprintf(a->said, sizeof(a->said), "%s", said);
		a->was_there = is_there;
	}
	return handle;
}

static void *open_in(const char *folder, const char *under, const char *name, struct attempt *a)
{
	char path[1024];
	if (!folder || !*folder)
		return NULL;
	int n = snprintf(path, sizeof(path), "%s%s/%s", folder, under, name);
	if (n < 0 || (size_t)n >= sizeof(path) || access(path, F_OK))
		return NULL;
	return open_one(path, true, a);
}

static void *open_any(const char *const *names, struct attempt *a)
{
	void *handle = NULL;
	for (int i = 0; names[i] && !handle; i++)
		handle = open_one(names[i], false, a);
	for (int i = 0; names[i] && !handle; i++) {
		handle = open_in(BENANZA_CUDA_LIBDIR, "", names[i], a);
		if (!handle)
			handle = open_in(getenv("CUDA_HOME"), "/lib64", names[i], a);
		if (!handle)
			handle = open_in(getenv("CUDA_PATH"), "/lib64", names[i], a);
	}
	return handle;
}

/* All or nothing: a half-filled table would be called through. */
static int symbols_fill(void *handle, const char *library, const struct cuda_library_symbol *symbols, int count,
	const char *cure, struct error *err)
{
	for (int i = 0; i < count; i++) {
		*symbols[i].to = dlsym(handle, symbols[i].name);
		if (*symbols[i].to || symbols[i].optional)
			continue;
		for (int j = 0; j <= i; j++)
			*symbols[j].to = NULL;
		return error_set(err, "%s has no %s: another version than this program was made for; %s", library,
			symbols[i].name, cure);
	}
	return 0;
}

void *cuda_library_open(const char *const *names, const struct cuda_library_symbol *symbols, int count,
	const char *cure, struct error *err)
{
	struct attempt a = { .said = "" };
	void *handle = open_any(names, &a);
	if (!handle) {
		/* the loader begins with the name that it looked for, mostly */
		bool named = strstr(a.said, names[0]) != NULL;
		error_set(err, "%s%s%s; %s", named ? "" : names[0], named ? "" : ": ",
			*a.said ? a.said : "cannot be loaded", cure);
		return NULL;
	}
	if (symbols_fill(handle, names[0], symbols, count, cure, err)) {
		dlclose(handle);
		return NULL;
	}
	return handle;
}
