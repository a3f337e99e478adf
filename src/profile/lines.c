#include "config.h"

#include "profile/lines.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK (64 << 10)

struct lines {
	struct stream *stream;
	struct str line;
	char chunk[CHUNK];
	size_t at, n;
	bool cut;
};

struct lines *lines_open(const char *path, const struct profile_options *options, struct error *err)
{
	struct stream *stream = stream_open(path, options, err);
	if (!stream)
		return NULL;
	struct lines *l = base_calloc(1, sizeof(*l));
	l->stream = stream;
	return l;
}

void lines_close(struct lines *l)
{
	if (!l)
		return;
	stream_close(l->stream);
	str_free(&l->line);
	free(l);
}

/* Appends the part of the line that is in the chunk. Returns true if the line is complete. */
static bool take(struct lines *l)
{
	const char *from = l->chunk + l->at;
	const char *end = memchr(from, '\n', l->n - l->at);
	size_t n = end ? (size_t)(end - from) : l->n - l->at;
	size_t room = l->line.n < LINES_BYTES_MOST ? LINES_BYTES_MOST - l->line.n : 0;
	str_add(&l->line, from, n < room ? n : room);
	l->at += n + (end != NULL);
	return end != NULL;
}

int lines_next(struct lines *l, struct text *line, struct error *err)
{
	str_clear(&l->line);
	while (l->at == l->n || !take(l)) {
		if (l->at < l->n)
			continue;
		int64_t got = stream_read(l->stream, l->chunk, CHUNK, err);
		l->at = 0;
		l->n = got > 0 ? (size_t)got : 0;
		if (got <= 0) {
			l->cut = l->line.n > 0 || stream_is_cut(l->stream);
			return got < 0 ? -1 : 0;
		}
	}
	*line = (struct text){ l->line.n ? l->line.p : "", l->line.n };
	if (line->n && line->p[line->n - 1] == '\r')
		line->n--;
	return 1;
}

bool lines_is_cut(const struct lines *l)
{
	return l->cut;
}
