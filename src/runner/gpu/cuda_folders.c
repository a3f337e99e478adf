/* Looks for libraries in the installation around a program, and in Python environments and their wheels. */
#include "config.h"

#include "runner/gpu/cuda_folders.h"

#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_folder(const char *path)
{
	struct stat s;
	return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* Formats a path. Returns false if it is too long. */
__attribute__((format(printf, 2, 3))) static bool path_make(char path[CUDA_FOLDER_SIZE], const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(path, CUDA_FOLDER_SIZE, fmt, ap);
	va_end(ap);
	return n > 0 && n < CUDA_FOLDER_SIZE;
}

static void add(struct cuda_folders *f, const char *path)
{
	if (f->count == CUDA_FOLDERS_MOST || !is_folder(path))
		return;
	for (int i = 0; i < f->count; i++)
		if (strcmp(f->path[i], path) == 0)
			return;
	snprintf(f->path[f->count++], CUDA_FOLDER_SIZE, "%s", path);
}

static void add_under(struct cuda_folders *f, const char *folder, const char *under)
{
	char path[CUDA_FOLDER_SIZE];
	if (folder && *folder && path_make(path, "%s%s", folder, under))
		add(f, path);
}

/* Removes the last part of a path. Returns false if none is left. */
static bool parent(char *path)
{
	char *slash = strrchr(path, '/');
	if (!slash || slash == path)
		return false;
	*slash = '\0';
	return true;
}

/* --- Python --- */

static int is_visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

/* Adds nvidia/NAME/lib of a site-packages folder, by name. */
static void wheels_add(struct cuda_folders *f, const char *site)
{
	char path[CUDA_FOLDER_SIZE];
	struct dirent **names;
	if (!path_make(path, "%s/nvidia", site))
		return;
	int count = scandir(path, &names, is_visible, alphasort);
	for (int i = 0; i < count; i++) {
		if (path_make(path, "%s/nvidia/%s/lib", site, names[i]->d_name))
			add(f, path);
		free(names[i]);
	}
	if (count >= 0)
		free(names);
}

static int is_python(const struct dirent *e)
{
	return strncmp(e->d_name, "python3", 7) == 0;
}

/* Adds the wheels below PREFIX/lib/python3.N and lib64: only those of `version` ("python3.11"), or of all
 * versions if it is "". Debian's folder python3 is of all. */
static void prefix_add(struct cuda_folders *f, const char *prefix, const char *version)
{
	static const char *const libs[] = { "lib", "lib64" }, *const sites[] = { "site", "dist" };
	char path[CUDA_FOLDER_SIZE];
	for (int l = 0; l < 2; l++) {
		struct dirent **names;
		if (!path_make(path, "%s/%s", prefix, libs[l]))
			return;
		int count = scandir(path, &names, is_python, alphasort);
		for (int i = 0; i < count; i++) {
			const char *name = names[i]->d_name;
			bool fits = !*version || strcmp(name, "python3") == 0 || strcmp(name, version) == 0;
			for (int s = 0; s < 2 && fits; s++)
				if (path_make(path, "%s/%s/%s/%s-packages", prefix, libs[l], name, sites[s]))
					wheels_add(f, path);
			free(names[i]);
		}
		if (count >= 0)
			free(names);
	}
}

/* Adds the wheels of an installation, given its program, and the user's. */
static void installation_add(struct cuda_folders *f, const char *program)
{
	char real[PATH_MAX], path[CUDA_FOLDER_SIZE], version[32] = "";
	if (!realpath(program, real))
		return;
	const char *name = strrchr(real, '/') + 1;
	if (strncmp(name, "python3.", 8) == 0)
		snprintf(version, sizeof(version), "python3.%.*s", (int)strspn(name + 8, "0123456789"),
			name + 8);
	if (!parent(real) || !parent(real))
		return;
	const char *base = getenv("PYTHONUSERBASE"), *home = getenv("HOME");
	if (base && *base)
		prefix_add(f, base, version);
	else if (home && path_make(path, "%s/.local", home))
		prefix_add(f, path, version);
	if (strcmp(real, "/usr") == 0) /* what pip installs beside Debian's packages */
		prefix_add(f, "/usr/local", version);
	prefix_add(f, real, version);
}

/* Reads a value of pyvenv.cfg, lines "key = value". Returns false if the key is missing. */
static bool setting_read(const char *path, const char *key, char *value, int size)
{
	char line[1024];
	size_t n = strlen(key);
	bool found = false;
	FILE *file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file)) {
		const char *at = line + strspn(line, " \t");
		if (strncmp(at, key, n) != 0)
			continue;
		at += n + strspn(at + n, " \t");
		if (*at++ != '=')
			continue;
		at += strspn(at, " \t");
		snprintf(value, (size_t)size, "%.*s", (int)strcspn(at, "\r\n"), at);
		found = true;
	}
	if (file)
		fclose(file);
	return found;
}

/* Replaces the path of a shim of pyenv, a script that chooses a version, by the chosen one's program. The
 * choice: $PYENV_VERSION, else the file `version` beside the shims. */
static void shim_resolve(char program[CUDA_FOLDER_SIZE])
{
	char root[CUDA_FOLDER_SIZE], path[CUDA_FOLDER_SIZE], version[64] = "";
	const char *chosen = getenv("PYENV_VERSION");
	snprintf(root, sizeof(root), "%s", program);
	if (!parent(root) || strcmp(strrchr(root, '/'), "/shims") != 0 || !parent(root))
		return;
	FILE *file = !chosen && path_make(path, "%s/version", root) ? fopen(path, "re") : NULL;
	if (file && !fgets(version, sizeof(version), file))
		version[0] = '\0';
	if (file)
		fclose(file);
	version[strcspn(version, " \r\n")] = '\0';
	if (path_make(path, "%s/versions/%s/bin/python3", root, chosen ? chosen : version) &&
		access(path, X_OK) == 0)
		snprintf(program, CUDA_FOLDER_SIZE, "%s", path);
}

/* Adds the wheels of a Python program: of its virtual environment, if it is in one, and of the installation,
 * if the environment includes that. */
static void python_add(struct cuda_folders *f, const char *program)
{
	char prefix[CUDA_FOLDER_SIZE], settings[CUDA_FOLDER_SIZE], value[CUDA_FOLDER_SIZE] = "";
	if (!path_make(prefix, "%s", program) || !parent(prefix) || !parent(prefix))
		return;
	if (!path_make(settings, "%s/pyvenv.cfg", prefix) || access(settings, R_OK)) {
		installation_add(f, program);
		return;
	}
	prefix_add(f, prefix, "");
	if (setting_read(settings, "include-system-site-packages", value, sizeof(value)) &&
		strcmp(value, "true") == 0 && setting_read(settings, "home", value, sizeof(value)) &&
		path_make(prefix, "%s/python3", value))
		installation_add(f, prefix);
}

/* --- lists in variables --- */

/* Calls take for each absolute path of a list that is separated by ':', until it returns true. */
static void parts_of(struct cuda_folders *f, const char *list, bool (*take)(struct cuda_folders *, char *))
{
	char part[CUDA_FOLDER_SIZE];
	for (const char *at = list; at && *at;) {
		size_t n = strcspn(at, ":");
		if (*at == '/' && n < sizeof(part)) {
			snprintf(part, sizeof(part), "%.*s", (int)n, at);
			if (take(f, part))
				return;
		}
		at += n + (at[n] == ':');
	}
}

static bool program_take(struct cuda_folders *f, char *folder)
{
	char program[CUDA_FOLDER_SIZE];
	if (!path_make(program, "%s/python3", folder) || access(program, X_OK) || is_folder(program))
		return false;
	shim_resolve(program);
	python_add(f, program);
	return true;
}

/* Of a folder SITE/nvidia/NAME/lib: adds the wheels of SITE. */
static bool neighbour_take(struct cuda_folders *f, char *folder)
{
	size_t n = strlen(folder);
	while (n > 1 && folder[n - 1] == '/')
		folder[--n] = '\0';
	const char *name = strrchr(folder, '/');
	if (!name || strcmp(name, "/lib") != 0 || !parent(folder) || !parent(folder))
		return false;
	name = strrchr(folder, '/');
	if (name && strcmp(name, "/nvidia") == 0 && parent(folder))
		wheels_add(f, folder);
	return false;
}

void cuda_folders_find(struct cuda_folders *f)
{
	f->count = 0;
	add_under(f, BENANZA_CUDA_LIBDIR, "");
	add_under(f, getenv("CUDA_HOME"), "/lib64");
	add_under(f, getenv("CUDA_PATH"), "/lib64");
	parts_of(f, getenv("LD_LIBRARY_PATH"), neighbour_take);
	parts_of(f, getenv("PATH"), program_take);
}
