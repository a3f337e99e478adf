/* Reads small constants from files beside the model. Paths are hostile: none may leave the model's folder,
 * by ".." or by a link, and what is read in total has a limit. */
#include "config.h"

#include "model/load.h"

#include "model/tensor.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PARTS_MOST 32
/* Limit of what is read of external files; opening one counts as OPEN_COST bytes. */
#define EXTERNAL_MOST ((int64_t)64 << 20)
#define OPEN_COST 512

/* The entry with this key, or "". */
static struct text entry_of(const Onnx__TensorProto *p, const char *key)
{
	for (size_t i = 0; i < p->n_external_data; i++)
		if (text_is(load_view(p->external_data[i]->key), key))
			return load_view(p->external_data[i]->value);
	return TEXT("");
}

static bool is_absolute(struct text path)
{
	bool drive = path.n >= 2 && path.p[1] == ':';
	return path.p[0] == '/' || path.p[0] == '\\' || drive;
}

/* True if the path has a component "..", with "/" or "\" as separator. */
static bool climbs_out(struct text path)
{
	size_t begin = 0;
	for (size_t i = 0; i <= path.n; i++) {
		if (i < path.n && path.p[i] != '/' && path.p[i] != '\\')
			continue;
		if (i - begin == 2 && path.p[begin] == '.' && path.p[begin + 1] == '.')
			return true;
		begin = i + 1;
	}
	return false;
}

/* True if a component of the path, relative to the model's folder, is a symbolic link. Missing files are not.
 * */
static bool is_link(struct loader *l, struct text path)
{
	const char *model = l->m->path, *slash = strrchr(model, '/');
	char full[PATH_MAX];
	size_t folder = slash ? (size_t)(slash - model) + 1 : 0, parts = 0;
	struct stat st;
	if (strcmp(model, "-") == 0 || folder + path.n >= sizeof(full))
		return false;
	memcpy(full, model, folder);
	for (size_t i = 0; i <= path.n; i++) {
		if (i == path.n || (path.p[i] == '/' && i > 0)) {
			full[folder + i] = '\0';
			if (++parts > PARTS_MOST || lstat(full, &st) != 0)
				return false;
			if (S_ISLNK(st.st_mode))
				return true;
		}
		if (i < path.n)
			full[folder + i] = path.p[i];
	}
	return false;
}

/* What is wrong with a tensor's location, or NULL. */
static const char *odd_location(struct text path)
{
	if (path.n == 0)
		return "in a file without a name";
	if (memchr(path.p, '\0', path.n))
		return "in a file with an invalid name";
	return is_absolute(path) || climbs_out(path) ? "outside the model's folder" : NULL;
}

/* Reads an entry that must be an integer from 0; false if it is absent or invalid (with a warning). */
static bool entry_number(
	struct loader *l, const Onnx__TensorProto *p, const struct tensor *t, const char *key, int64_t *value)
{
	struct text given = entry_of(p, key);
	if (given.n == 0)
		return false;
	if (text_to_int64(given, value) && *value >= 0)
		return true;
	load_warn(l, "external constant \"%s\" has the invalid %s \"%s\"", load_shown(l, t->name), key,
		load_shown(l, given));
	return false;
}

/* Adds a file to the model's externals. */
static void remember(struct loader *l, struct text location)
{
	struct model *m = l->m;
	if (m->external_count == l->external_capacity) {
		l->external_capacity = m->external_count ? 2 * m->external_count : 8;
		struct text *more = ARENA_ARRAY(l->arena, struct text, l->external_capacity);
		for (int i = 0; i < m->external_count; i++)
			more[i] = m->externals[i];
		m->externals = more;
	}
	struct text kept = { arena_strndup(l->arena, location.p, location.n), location.n };
	m->externals[m->external_count] = kept;
	m->external_count += location.n > 0;
	*hash_at(&l->locations, kept) = 1;
}

/* ---- contents */

/* The location's real path, if that lies below the real path of the model's folder; else NULL with errno, 0
 * for a path out of the folder. To be freed. */
static char *path_below(struct loader *l, struct text location)
{
	const char *model = l->m->path, *slash = strrchr(model, '/');
	struct str path = { 0 };
	str_add(&path, model, slash ? (size_t)(slash - model) + 1 : 0);
	str_puts(&path, ".");
	char *folder = realpath(path.p, NULL), *real = NULL;
	size_t n = folder ? strlen(folder) : 0;
	n -= n > 0 && folder[n - 1] == '/';
	str_puts(&path, "/");
	str_add(&path, location.p, location.n);
	if (folder)
		real = realpath(path.p, NULL);
	if (real && (strncmp(real, folder, n) != 0 || real[n] != '/')) {
		free(real);
		real = NULL;
		errno = 0;
	}
	free(folder);
	str_free(&path);
	return real;
}

/* Opens a regular file, nothing else: neither a device nor a pipe is touched. */
static int open_regular(const char *path, struct stat *st)
{
	if (lstat(path, st) != 0)
		return -1;
	errno = 0;
	int fd = S_ISREG(st->st_mode) ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
	if (fd >= 0 && (fstat(fd, st) != 0 || !S_ISREG(st->st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

static const char *open_failed(struct loader *l, const char *shown, bool below)
{
	if (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG)
		return arena_printf(l->arena, "there is no file \"%s\" beside the model: put it there, "
			"or save small tensors in the model (onnx.save_model with size_threshold=1024)",
			shown);
	if (errno)
		return arena_printf(l->arena, "file \"%s\" cannot be read: %s", shown, strerror(errno));
	return arena_printf(l->arena, below ? "\"%s\" is not a regular file: export the model again" :
		"file \"%s\" is outside the model's folder: put a copy into it", shown);
}

/* Opens the file of a location, unless it is open; e->unread: why it cannot be read. */
static void external_open(struct loader *l, struct text location)
{
	struct external *e = &l->external;
	const char *shown = load_shown(l, location), *odd = odd_location(location);
	struct stat st = { 0 };
	if (e->location.p && text_equal(e->location, location))
		return;
	load_external_close(l);
	*e = (struct external){ .location = load_copy(l, location), .fd = -1 };
	l->external_read += OPEN_COST;
	if (strcmp(l->m->path, "-") == 0)
		e->unread = "the model is read from standard input: give its path";
	else if (odd)
		e->unread = arena_printf(l->arena, "it is %s (\"%s\"): export the model again", odd, shown);
	else {
		char *path = path_below(l, location);
		e->fd = path ? open_regular(path, &st) : -1;
		e->bytes = st.st_size;
		e->unread = e->fd < 0 ? open_failed(l, shown, path != NULL) : NULL;
		free(path);
	}
}

void load_external_close(struct loader *l)
{
	if (l->external.location.p && l->external.fd >= 0)
		close(l->external.fd);
	l->external = (struct external){ 0 };
}

/* Reads n bytes; false if the file cannot be read, or has changed since. */
static bool read_at(int fd, void *to, size_t n, off_t at)
{
	for (size_t done = 0; done < n;) {
		ssize_t got = pread(fd, (char *)to + done, n - done, at + (off_t)done);
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

/* Reads a payload of up to TENSOR_PAYLOAD_KEPT bytes, or sets t->unread. */
static void external_payload(struct loader *l, struct tensor *t, struct text location, int64_t offset,
	int64_t bytes)
{
	if (l->external_read > EXTERNAL_MOST) {
		t->unread = "the model has very many small tensors in other files: save them in the model";
		return;
	}
	external_open(l, location);
	struct external *e = &l->external;
	t->unread = e->unread;
	if (t->unread)
		return;
	if (bytes > e->bytes || offset > e->bytes - bytes) {
		t->unread = arena_printf(l->arena, "file \"%s\" has %" PRId64 " bytes, too few for "
			"%" PRId64 " at %" PRId64 ": download or export it again", load_shown(l, location),
			e->bytes, bytes, offset);
		return;
	}
	l->external_read += bytes;
	void *data = arena_alloc(l->arena, (size_t)bytes);
	if (read_at(e->fd, data, (size_t)bytes, (off_t)offset)) {
		t->data = data;
		t->data_bytes = (size_t)bytes;
	} else {
		t->unread = arena_printf(l->arena, "file \"%s\" cannot be read: download or export it again",
			load_shown(l, location));
	}
}

void load_external(struct loader *l, const Onnx__TensorProto *p, struct tensor *t)
{
	struct text location = entry_of(p, "location");
	int64_t offset = 0, length;
	bool seen = hash_find(&l->locations, location) >= 0;
	int64_t bytes = tensor_bytes(t->dtype, t->elements);
	bool small = bytes >= 0 && bytes <= TENSOR_PAYLOAD_KEPT;
	const char *odd = seen ? NULL : odd_location(location);
	if (!seen && !odd && is_link(l, location))
		odd = "behind a symbolic link";
	if (!seen)
		remember(l, location);
	if (odd)
		load_warn(l, "external constant \"%s\" is %s (\"%s\"); other programs may refuse it",
			load_shown(l, t->name), odd, load_shown(l, location));
	bool placed = entry_number(l, p, t, "offset", &offset) || entry_of(p, "offset").n == 0;
	if (entry_number(l, p, t, "length", &length) && bytes >= 0 && length != bytes) {
		placed = false;
		load_warn(l,
			"external constant \"%s\": %" PRId64 " bytes are given, but its shape needs %" PRId64,
			load_shown(l, t->name), length, bytes);
	}
	if (bytes == 0)
		t->data = "";
	else if (small && placed)
		external_payload(l, t, location, offset, bytes);
	else if (small)
		t->unread = "its offset or length is wrong: export the model again";
}
