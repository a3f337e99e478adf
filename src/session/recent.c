/* Reads and writes the file of a model's state. Files are untrusted: small, regular, and checked key by
 * key. */
#include "config.h"

#include "session/recent.h"

#include "base/folder.h"
#include "base/output.h"
#include "config/config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_READ_MOST 4096 /* of the directory */
#define SUFFIX ".json"

static bool is_key(const char *key)
{
	return strspn(key, "0123456789abcdef") == DIGEST_SIZE - 1 && !key[DIGEST_SIZE - 1];
}

static const char *file_of(struct arena *a, const char *key)
{
	const char *folder = config_state_path(a, "models");
	return folder && is_key(key) ? arena_printf(a, "%s/%s" SUFFIX, folder, key) : NULL;
}

/* Reads a small regular file. NULL: none, or (err) it is not one. */
static char *read_small(struct arena *a, const char *path, size_t *n, struct error *err)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0) {
		if (errno != ENOENT)
			error_set(err, "the last state is ignored, %s: %s", strerror(errno), path);
		return NULL;
	}
	char *text = NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > RECENT_BYTES_MOST)
		error_set(err, "the last state is ignored, because it is not a file of at most %d bytes: %s",
			RECENT_BYTES_MOST, path);
	else {
		text = arena_alloc(a, RECENT_BYTES_MOST + 1);
		ssize_t got = read(fd, text, RECENT_BYTES_MOST + 1);
		*n = got > 0 ? (size_t)got : 0;
	}
	close(fd);
	return text;
}

static json_t *read_state(struct arena *a, const char *path, struct error *err)
{
	size_t n = 0;
	char *text = read_small(a, path, &n, err);
	json_t *state = text && n <= RECENT_BYTES_MOST ?
		json_load_clean((struct text){ text, n }, NULL, NULL) : NULL;
	if (!text || (json_is_object(state) && json_int_at(state, "version", 0) == 1))
		return state;
	json_decref(state);
	error_set(err, "the last state is ignored, because it is damaged or of another version: %s", path);
	return NULL;
}

json_t *recent_load(const char *key, struct error *err)
{
	struct arena a = { 0 };
	const char *path = file_of(&a, key);
	*err = (struct error)ERROR_NONE;
	json_t *state = path ? read_state(&a, path, err) : NULL;
	arena_free(&a);
	return state;
}

struct kept {
	const char *path;
	int64_t date_ns;
};

static int kept_compare(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;
	return x->date_ns > y->date_ns ? -1 : x->date_ns < y->date_ns ? 1 : strcmp(x->path, y->path);
}

/* The files of states, newest first. */
static int kept_list(struct arena *a, struct kept **list)
{
	const char *folder = config_state_path(a, "models");
	DIR *d = folder ? opendir(folder) : NULL;
	int count = 0;
	*list = ARENA_ARRAY(a, struct kept, FILES_READ_MOST);
	for (struct dirent *e; d && count < FILES_READ_MOST && (e = readdir(d));) {
		struct stat st;
		char key[DIGEST_SIZE];
		snprintf(key, sizeof(key), "%.*s", DIGEST_SIZE - 1, e->d_name);
		const char *path = file_of(a, key);
		if (!path || strcmp(e->d_name + DIGEST_SIZE - 1, SUFFIX) != 0 || lstat(path, &st) ||
			!S_ISREG(st.st_mode))
			continue;
		(*list)[count++] = (struct kept){ path,
			st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec };
	}
	if (d)
		closedir(d);
	qsort(*list, (size_t)count, sizeof(**list), kept_compare);
	return count;
}

static void prune(struct arena *a)
{
	struct kept *list;
	int count = kept_list(a, &list);
	for (int i = RECENT_MOST; i < count; i++)
		unlink(list[i].path);
}

int recent_save(const char *key, const json_t *state, struct error *err)
{
	struct arena a = { 0 };
	const char *path = file_of(&a, key);
	char *text = path ? json_dumps(state, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	size_t n = text ? strlen(text) : 0;
	int bad = !path ? error_set(err, "no home directory: the state is not stored") :
		n > RECENT_BYTES_MOST || !n ? error_set(err, "the state is too large") : 0;
	if (!bad) {
		const struct output_rules rules = { .files_only = true, .mode = 0600 };
		folder_make(path);
		bad = output_put(path, &rules, text, n, err) ? error_context(err, "%s", path) : 0;
		if (!bad)
			prune(&a);
	}
	free(text);
	arena_free(&a);
	return bad ? -1 : 0;
}

int recent_list(struct arena *a, struct recent **list)
{
	struct arena scratch = { 0 };
	struct kept *files;
	int file_count = kept_list(&scratch, &files), count = 0;
	*list = ARENA_ARRAY(a, struct recent, RECENT_MOST);
	for (int i = 0; i < file_count && count < RECENT_MOST; i++) {
		struct error err;
		struct stat st;
		json_t *state = read_state(&scratch, files[i].path, &err);
		const char *path = json_string_at(state, "path", "");
		if (path[0] == '/' && stat(path, &st) == 0 && S_ISREG(st.st_mode))
			(*list)[count++] = (struct recent){ arena_strndup(a, path, strlen(path)),
				files[i].date_ns };
		json_decref(state);
	}
	arena_free(&scratch);
	return count;
}
