#include "config.h"

#include "model/load.h"

#include "model/tensor.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PARTS_MOST 32

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

/* What is suspicious about a tensor's location, or NULL. */
static const char *odd_location(struct loader *l, struct text path)
{
	if (path.n == 0)
		return "in a file without a name";
	if (memchr(path.p, '\0', path.n))
		return "in a file with an invalid name";
	if (is_absolute(path) || climbs_out(path))
		return "outside the model's folder";
	return is_link(l, path) ? "behind a symbolic link" : NULL;
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

void load_external(struct loader *l, const Onnx__TensorProto *p, const struct tensor *t)
{
	struct text location = entry_of(p, "location");
	int64_t offset = 0, length;
	bool seen = hash_find(&l->locations, location) >= 0;
	const char *odd = seen ? NULL : odd_location(l, location);
	if (!seen)
		remember(l, location);
	if (odd)
		load_warn(l, "external constant \"%s\" is %s (\"%s\"); other programs may refuse it",
			load_shown(l, t->name), odd, load_shown(l, location));
	entry_number(l, p, t, "offset", &offset);
	int64_t bytes = tensor_bytes(t->dtype, t->elements);
	if (entry_number(l, p, t, "length", &length) && bytes >= 0 && length != bytes)
		load_warn(l,
			"external constant \"%s\": %" PRId64 " bytes are given, but its shape needs %" PRId64,
			load_shown(l, t->name), length, bytes);
}
