/* Tries each folder until a library has all required symbols, and keeps the error that helps most. */
#include "config.h"

#include "runner/gpu/cuda_library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "runner/gpu/cuda_folders.h"

/* The most useful error message of the loader: one about an existing file, else the first. */
struct attempt {
	char message[512];
	bool file_exists;
};

static void *open_one(const char *path, bool file_exists, struct attempt *a)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const char *message = handle ? NULL : dlerror();
	if (message && (!*a->message || (file_exists && !a->file_exists))) {
		snprintf(a->message, sizeof(a->message), "%s", message);
		a->file_exists = file_exists;
	}
	return handle;
}

static void *open_in(const char *folder, const char *name, struct attempt *a)
{
	char path[1024];
	int n = snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (n < 0 || (size_t)n >= sizeof(path) || access(path, F_OK))
		return NULL;
	return open_one(path, true, a);
}

static void *open_any(const char *const *names, struct attempt *a)
{
	void *handle = NULL;
	for (int i = 0; names[i] && !handle; i++)
		handle = open_one(names[i], false, a);
	if (handle)
		return handle;
	struct cuda_folders *folders = base_malloc(sizeof(*folders));
	cuda_folders_find(folders);
	for (int i = 0; names[i] && !handle; i++)
		for (int j = 0; j < folders->count && !handle; j++)
			handle = open_in(folders->path[j], names[i], a);
	free(folders);
	return handle;
}

/* Sets all symbols, or none if a required one is missing. */
static int symbols_fill(void *handle, const char *library, const struct cuda_library_symbol *symbols,
	int count, const char *fix, struct error *err)
{
	for (int i = 0; i < count; i++) {
		*symbols[i].to = dlsym(handle, symbols[i].name);
		if (*symbols[i].to || symbols[i].optional)
			continue;
		for (int j = 0; j <= i; j++)
			*symbols[j].to = NULL;
		return error_set(err, "%s has no %s: its version does not fit this program; %s", library,
			symbols[i].name, fix);
	}
	return 0;
}

void *cuda_library_open(const char *const *names, const struct cuda_library_symbol *symbols, int count,
	const char *fix, struct error *err)
{
	struct attempt a = { .message = "" };
	void *handle = open_any(names, &a);
	if (!handle) {
		/* most loader messages contain the name */
		bool named = strstr(a.message, names[0]) != NULL;
		error_set(err, "%s%s%s; %s", named ? "" : names[0], named ? "" : ": ",
			*a.message ? a.message : "cannot be loaded", fix);
		return NULL;
	}
	if (symbols_fill(handle, names[0], symbols, count, fix, err)) {
		dlclose(handle);
		return NULL;
	}
	return handle;
}
