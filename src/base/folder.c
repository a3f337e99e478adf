/* Makes folders, and says whether a path leads out of a folder through links. */
#include "config.h"

#include "base/folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"

void folder_make(const char *path)
{
	char *part = base_strdup(path);
	for (char *p = *part ? part + 1 : part; *p; p++)
		if (*p == '/') {
			*p = '\0';
			mkdir(part, 0700);
			*p = '/';
		}
	free(part);
}

bool folder_holds(const char *file, const char *path)
{
	char *real = realpath(path, NULL);
	if (!real)
		return errno == ENOENT;
	const char *slash = strrchr(file, '/');
	char *named = base_strdup(slash ? file : "."), *folder;
	if (slash)
		named[slash == file ? 1 : slash - file] = '\0';
	folder = realpath(named, NULL);
	size_t n = folder ? strlen(folder) : 0;
	bool root = n == 1, holds = folder && strncmp(real, folder, n) == 0 && (root || real[n] == '/');
	free(folder);
	free(named);
	free(real);
	return holds;
}
