/* SHA-256 of the model's files, each read once per session. */
#include "config.h"

#include "session/session_agent.h"
#include "session/session_private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define STEP_BYTES (1 << 21) /* about 7 ms */

struct session_digest {
	const char *path;
	int64_t size, changed_ns;
	char digest[DIGEST_SIZE];
};

static int64_t date_of(const struct stat *st)
{
	return st->st_mtim.tv_sec * INT64_C(1000000000) + st->st_mtim.tv_nsec;
}

static const struct session_digest *find(const struct session *s, const char *path)
{
	struct stat st;
	bool exists = stat(path, &st) == 0;
	for (int i = 0; i < s->digest_count && exists; i++) {
		const struct session_digest *d = &s->digests[i];
		if (strcmp(d->path, path) == 0 && d->size == st.st_size && d->changed_ns == date_of(&st))
			return d;
	}
	return NULL;
}

void session_file_note(struct session_subject *u, const char *path)
{
	struct stat st;
	bool known = stat(path, &st) == 0 && S_ISREG(st.st_mode);
	u->model_bytes = known ? st.st_size : 0;
	u->model_date_ns = known ? date_of(&st) : 0;
}

/* Returns true if it is the model's file, with another size or date than when it was loaded. */
static bool is_replaced(const struct session *s, const char *path)
{
	const struct session_subject *u = s->subject;
	struct stat st;
	return u->model_date_ns && strcmp(path, u->model->path) == 0 && stat(path, &st) == 0 &&
		(u->model_bytes != st.st_size || u->model_date_ns != date_of(&st));
}

static void reading_drop(struct session *s)
{
	digest_close(s->digest_reading);
	s->digest_reading = NULL;
}

void session_digests_free(struct session *s)
{
	reading_drop(s);
	arena_free(&s->digest_arena);
	free(s->digests);
	s->digests = NULL;
	s->digest_count = s->digest_capacity = 0;
}

/* Keeps the digest, with the date of the file before it was read. */
static void keep(struct session *s, const struct digest *read)
{
	VEC_GROW(s->digests, s->digest_count, s->digest_capacity);
	struct session_digest *d = &s->digests[s->digest_count++];
	*d = (struct session_digest){ .path = arena_printf(&s->digest_arena, "%s", digest_path(read)),
		.size = digest_bytes(read), .changed_ns = digest_date_ns(read) };
	memcpy(d->digest, digest_text(read), DIGEST_SIZE);
}

static int step(struct session *s, const char *path, int64_t most, struct error *err)
{
	if (is_replaced(s, path))
		return error_set(err, "%s: the file changed after it was opened; open it again", path);
	if (find(s, path))
		return 0;
	if (s->digest_reading && strcmp(digest_path(s->digest_reading), path) != 0)
		reading_drop(s);
	if (!s->digest_reading && !(s->digest_reading = digest_open(path, err)))
		return -1;
	int more = digest_step(s->digest_reading, most, s->options.stop, err);
	if (!more)
		keep(s, s->digest_reading);
	if (more <= 0)
		reading_drop(s);
	return more;
}

int session_digest_step(struct session *s, const char *path, struct error *err)
{
	return step(s, path, STEP_BYTES, err);
}

int session_digest(struct session *s, const char *path, char digest[DIGEST_SIZE], int64_t *bytes,
	struct error *err)
{
	int more = 1;
	while (more > 0)
		more = step(s, path, INT64_MAX / 2, err);
	const struct session_digest *d = more ? NULL : find(s, path);
	if (!d)
		return more ? -1 : error_set(err, "%s: the file changed while it was read", path);
	memcpy(digest, d->digest, DIGEST_SIZE);
	*bytes = d->size;
	return 0;
}
