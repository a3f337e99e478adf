#include "config.h"

#include "base/beside.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

const char *beside_program(struct arena *a, const char *file, int mode)
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
