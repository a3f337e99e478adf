/* A file is written beside its path and renamed when it is complete. Pipes, devices and files with several
 * names are written directly. */
#include "config.h"

#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"

#define PART_END 28 /* bytes of ".NUMBER.part" at most */

struct output {
	FILE *stream;
	char *target; /* the file's real path */
	char *part;   /* written instead until the file is complete; NULL: written directly */
	bool replace;
	bool linked;  /* the file has other names, which keep naming the same file */
	bool kept;    /* the part is the only whole copy */
};

static char *volatile unfinished; /* the part that was opened last; NULL: none */

static int cannot(struct error *err, int why)
{
	return error_set(err, "cannot write: %s", why ? strerror(why) : "unknown error");
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool output_is_stdout(const char *path)
{
	struct stat file, out;
	return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/fd/1") == 0 ||
		strcmp(path, "/proc/self/fd/1") == 0 ||
		(stat(path, &file) == 0 && fstat(STDOUT_FILENO, &out) == 0 && is_same(&file, &out) &&
			!S_ISREG(file.st_mode));
}

/* The descriptor that the path names, -1: none. It may be redirected to a file, which is appended to. */
static int descriptor_of(const char *path)
{
	static const struct {
		const char *path;
		int fd;
	} names[] = { { "-", 1 }, { "/dev/stdout", 1 }, { "/dev/stderr", 2 }, { "/dev/fd/", -1 },
		{ "/proc/self/fd/", -1 } };
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t n = strlen(names[i].path);
		const char *rest = path + n;
		if (strncmp(path, names[i].path, n) != 0)
			continue;
		if (names[i].fd >= 0 && !*rest)
			return names[i].fd;
		bool number = *rest && strlen(rest) < 6 && strspn(rest, "0123456789") == strlen(rest);
		if (names[i].fd < 0 && number)
			return atoi(rest);
	}
	return -1;
}

/* Returns true if both paths name the same place, at which no file is yet. */
static bool is_same_place(const char *a, const char *b)
{
	const char *name_a = strrchr(a, '/'), *name_b = strrchr(b, '/');
	struct stat in_a, in_b;
	size_t n_a = name_a ? (size_t)(name_a + 1 - a) : 0, n_b = name_b ? (size_t)(name_b + 1 - b) : 0;
	if (strcmp(a + n_a, b + n_b) != 0)
		return false;
	char *folder_a = base_strdup(n_a ? a : "."), *folder_b = base_strdup(n_b ? b : ".");
	folder_a[n_a ? n_a : 1] = folder_b[n_b ? n_b : 1] = '\0';
	bool same = stat(folder_a, &in_a) == 0 && stat(folder_b, &in_b) == 0 && is_same(&in_a, &in_b);
	free(folder_a);
	free(folder_b);
	return same;
}

static bool is_read(const struct output_rules *rules, const struct stat *file)
{
	struct stat st;
	for (const char *const *p = rules->reads; p && *p; p++)
		if (stat(*p, &st) == 0 && is_same(&st, file))
			return true;
	return false;
}

/* Checks what is at the path. Returns 1: an existing file, 0: none, -1: an error. */
static int path_check(const char *path, const struct output_rules *rules, struct stat *st, struct error *err)
{
	if (!*path)
		return error_set(err, "the name of the file is empty");
	if (stat(path, st)) {
		if (errno != ENOENT)
			return cannot(err, errno);
		for (const char *const *p = rules->reads; p && *p; p++)
			if (is_same_place(*p, path))
				return error_set(err, "is read here, so it is never written; "
					"give another name");
		return lstat(path, st) ? 0 : error_set(err, "a link to a missing file; remove it");
	}
	if (S_ISDIR(st->st_mode))
		return error_set(err, "a folder; give the name of a file");
	if (!S_ISREG(st->st_mode))
		return rules->files_only ? error_set(err, "not a file that can be replaced") : 1;
	if (is_read(rules, st))
		return error_set(err, "is an input of this command and is never replaced; give another name");
	if (rules->refusal)
		return error_set(err, "the file exists; %s", rules->refusal);
	return access(path, W_OK) ? cannot(err, errno) : 1;
}

/* Opens the file beside the path. Returns its descriptor or -1. */
static int part_open(struct output *out, const char *path, const struct output_rules *rules,
	const struct stat *old, struct error *err)
{
	char *real = old ? realpath(path, NULL) : NULL;
	size_t n;
	out->target = real ? real : base_strdup(path);
	const char *name = strrchr(out->target, '/');
	name = name ? name + 1 : out->target;
	n = strlen(out->target) + 32;
	out->part = base_calloc(n, 1);
	/* a name has at most NAME_MAX bytes */
	int kept = (int)(name - out->target) + (int)strnlen(name, NAME_MAX - PART_END);
	snprintf(out->part, n, "%.*s.%ld.part", kept, out->target, (long)getpid());
	unlink(out->part); /* of an earlier program with this number */
	int fd = open(out->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		(mode_t)(rules->mode ? rules->mode : 0666));
	if (fd < 0) {
		cannot(err, errno);
		free(out->part);
		out->part = NULL;
	} else if (old && fchmod(fd, old->st_mode & 0777)) {
		cannot(err, errno);
		close(fd);
		return -1;
	}
	unfinished = out->part;
	return fd;
}

struct output *output_open(const char *path, const struct output_rules *rules, struct error *err)
{
	struct stat st;
	int fd = descriptor_of(path), there = 0;
	bool direct = fd >= 0;
	if (direct && rules->files_only)
		return error_set(err, "not a file that can be replaced"), NULL;
	if (!direct && (there = path_check(path, rules, &st, err)) < 0)
		return NULL;
	struct output *out = base_calloc(1, sizeof(*out));
	out->replace = there && S_ISREG(st.st_mode);
	out->linked = out->replace && st.st_nlink > 1;
	if (direct || (there && !out->replace)) {
		fflush(NULL); /* what was printed to the same stream comes first */
		fd = direct ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		if (fd < 0)
			cannot(err, errno);
	} else
		fd = part_open(out, path, rules, there ? &st : NULL, err);
	out->stream = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (out->stream)
		return out;
	output_drop(out);
	return NULL;
}

FILE *output_stream(const struct output *out)
{
	return out->stream;
}

void output_drop(struct output *out)
{
	if (!out)
		return;
	if (out->stream)
		fclose(out->stream);
	if (out->part && !out->kept)
		unlink(out->part);
	unfinished = NULL;
	free(out->part);
	free(out->target);
	free(out);
}

void output_abandon(void)
{
	if (unfinished)
		unlink(unfinished);
}

/* Copies the part into the file, which keeps its other names. Returns 0 or an errno. From its begin on the
 * part is the only whole copy: it stays unless all was copied. */
static int part_copy(struct output *out)
{
	char bytes[1 << 14];
	unfinished = NULL;
	FILE *from = fopen(out->part, "rbe"), *to = from ? fopen(out->target, "wbe") : NULL;
	int why = to ? 0 : errno;
	bool begun = to;
	for (size_t n; to && !why && (n = fread(bytes, 1, sizeof(bytes), from)) > 0;)
		why = fwrite(bytes, 1, n, to) == n ? 0 : errno;
	why = why || !from || !ferror(from) ? why : EIO;
	if (to && fclose(to) && !why)
		why = errno;
	if (from)
		fclose(from);
	out->kept = why && begun;
	return why ? why : unlink(out->part) ? errno : 0;
}

/* Gives the part its name. A file that was made there meanwhile is not replaced. Returns 0 or an errno. */
static int part_rename(struct output *out)
{
	if (out->linked)
		return part_copy(out);
	if (out->replace)
		return rename(out->part, out->target) ? errno : 0;
	if (renameat2(AT_FDCWD, out->part, AT_FDCWD, out->target, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	/* the file system cannot rename without replacing */
	return link(out->part, out->target) || unlink(out->part) ? errno : 0;
}

int output_close(struct output *out, struct error *err)
{
	errno = 0;
	bool bad = fflush(out->stream) || ferror(out->stream);
	int why = errno;
	if (fclose(out->stream) && !bad) {
		bad = true;
		why = errno;
	}
	out->stream = NULL;
	if (!bad && out->part) {
		why = part_rename(out);
		bad = why != 0;
		if (!bad) {
			unfinished = NULL;
			free(out->part);
			out->part = NULL;
		}
	}
	if (bad && out->kept)
		error_set(err, "cannot write: %s; the new contents are in %s", strerror(why), out->part);
	else if (bad)
		cannot(err, why);
	output_drop(out);
	return bad ? -1 : 0;
}

int output_put(const char *path, const struct output_rules *rules, const void *bytes, size_t n,
	struct error *err)
{
	struct output *out = output_open(path, rules, err);
	if (!out)
		return -1;
	if (n && fwrite(bytes, 1, n, out->stream) != n) {
		cannot(err, errno);
		output_drop(out);
		return -1;
	}
	return output_close(out, err);
}
