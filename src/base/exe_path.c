/* The executable is found by /proc/self/exe. */
#include "config.h"

#include "base/exe_path.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *exe_path(struct arena *a, const char *file, int mode)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[n > 0 ? n : 0] = '\0';
	char *slash = strrchr(self, '/');
	if (!slash)
		return NULL;
	const char *path = arena_printf(a, "%.*s/%s", (int)(slash - self), self, file);
	return access(path, mode) == 0 ? path : NULL;
}

const char *exe_data_path(struct arena *a, const char *file)
{
	const char *set = getenv("BENANZA_DATA");
	const char *path = arena_printf(a, "%s/%s", set ? set : "", file);
	if (set && *set)
		return access(path, R_OK) == 0 ? path : NULL;
	path = exe_path(a, arena_printf(a, "../data/%s", file), R_OK);
	if (!path)
		path = exe_path(a, arena_printf(a, "../share/benanza/%s", file), R_OK);
	if (!path)
		path = exe_path(a, arena_printf(a, EXE_SOURCE "/data/%s", file), R_OK);
	if (path)
		return path;
	path = arena_printf(a, "%s/%s", BENANZA_DATADIR, file);
	return access(path, R_OK) == 0 ? path : NULL;
}
