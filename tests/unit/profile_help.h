/* What the tests of profiles share: files in a scratch directory, reading them, rows by name. */
#ifndef PROFILE_HELP_H
#define PROFILE_HELP_H

#include <stdlib.h>
#include <sys/mman.h>
#include <zlib.h>

#include "profile/profile.h"

#include "onnx_bytes.h"
#include "tap.h"

static struct error err;
static struct arena profiles; /* of the executions read */

/* Writes a file in the scratch directory. The path is in `profiles`. */
UNUSED_OK const char *file_of(const char *name, const void *bytes, size_t n)
{
	const char *path = arena_printf(&profiles, "%s/%s", scratch_dir, name);
	FILE *f = fopen(path, "wb");
	if (!f || fwrite(bytes, 1, n, f) != n || fclose(f))
		printf("# cannot write %s\n", path);
	return path;
}

UNUSED_OK const char *file_of_text(const char *name, const char *text)
{
	return file_of(name, text, strlen(text));
}

UNUSED_OK const char *file_of_gzip(const char *name, const char *text)
{
	const char *path = arena_printf(&profiles, "%s/%s", scratch_dir, name);
	gzFile f = gzopen(path, "wb");
	gzwrite(f, text, (unsigned)strlen(text));
	gzclose(f);
	return path;
}

/* A file in memory, until the next call: thousands of them on a disk would take a minute. */
UNUSED_OK const char *memory_file(const char *bytes, size_t n)
{
	static char path[64];
	static int fd = -1;
	if (fd < 0)
		fd = memfd_create("profile", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (ftruncate(fd, 0) || pwrite(fd, bytes, n, 0) != (ssize_t)n)
		printf("# cannot write %s\n", path);
	return path;
}

/* Reads up to three files (NULL: fewer) that give one execution; NULL otherwise. */
UNUSED_OK struct execution *read_files(const char *first, const char *second, const char *third)
{
	const char *paths[] = { first, second, third };
	struct execution *all = NULL;
	err.text[0] = '\0';
	int n = profile_read(&profiles, paths, third ? 3 : second ? 2 : 1, NULL, &all, &err);
	if (n < 0)
		printf("# %s\n", err.text);
	return n == 1 ? all : NULL;
}

/* Returns the first row with the name; a row of unknown numbers without one. */
UNUSED_OK const struct execution_row *row_named(const struct execution *e, const char *name)
{
	static struct execution_row none;
	none = execution_row_new();
	for (int i = 0; e && i < e->row_count; i++)
		if (!strcmp(e->rows[i].name, name))
			return &e->rows[i];
	printf("# no row %s\n", name);
	return &none;
}

/* True if the files are refused with one line that begins with the path and has the part. */
UNUSED_OK bool is_refused(const char *path, const char *part)
{
	struct execution *all;
	err.text[0] = '\0';
	int n = profile_read(&profiles, &path, 1, NULL, &all, &err);
	bool good = n == -1 && strstr(err.text, path) == err.text && strstr(err.text, part) &&
		!strchr(err.text, '\n');
	if (!good)
		printf("# %d: %s\n", n, err.text);
	return good;
}

/* Removes the scratch directory and frees `profiles`. */
UNUSED_OK void files_remove(void)
{
	struct str command = { 0 };
	str_addf(&command, "rm -rf '%s'", scratch_dir);
	if (system(command.p))
		printf("# %s stays\n", scratch_dir);
	str_free(&command);
	arena_free(&profiles);
}

#endif
