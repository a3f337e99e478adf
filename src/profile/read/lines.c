/* Splits a stream into lines and takes the line out of what containers and journals wrap around it. */
#include "config.h"

#include "profile/read/lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"

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

/* Takes the line out of a log in JSON, of containers {"log":"LINE\n","stream":"stdout","time":"..."}, of
 * journald and of clouds. */
static void unwrap(struct str *line)
{
	static const char *const keys[] = { "log", "MESSAGE", "message", "textPayload" };
	const char *inside = NULL;
	if (line->n < 8 || memcmp(line->p, "{\"", 2) != 0)
		return;
	json_t *all = json_loadb(line->p, line->n, 0, NULL);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && !inside; i++)
		inside = json_string_value(json_object_get(all, keys[i]));
	if (inside) {
		str_clear(line);
		str_add(line, inside, strcspn(inside, "\r\n"));
	}
	json_decref(all);
}

/* Removes the sequences that colour text and clear the rest of a line (ESC [ numbers m or K), in place. */
static void plain(struct str *line)
{
	char *to = line->n ? memchr(line->p, '\033', line->n) : NULL;
	if (!to)
		return;
	for (const char *p = to, *end = line->p + line->n; p < end;) {
		size_t n = end - p > 1 && p[0] == '\033' && p[1] == '[' ? 2 : 0;
		while (n && p + n < end && memchr("0123456789;", p[n], 11))
			n++;
		if (n && p + n < end && (p[n] == 'm' || p[n] == 'K'))
			p += n + 1;
		else
			*to++ = *p++;
	}
	line->n = (size_t)(to - line->p);
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
	unwrap(&l->line);
	plain(&l->line);
	*line = (struct text){ l->line.n ? l->line.p : "", l->line.n };
	while (line->n && line->p[line->n - 1] == '\r') /* a terminal adds a second one */
		line->n--;
	return 1;
}

bool lines_is_cut(const struct lines *l)
{
	return l->cut;
}

/* Returns true if a quoted field ends: at a quotation mark before a separator or the end. Another mark is
 * text. */
static bool is_closed(const char *p, const char *end, char separator)
{
	for (; p < end; p++)
		if (*p == '"' && (p + 1 == end || p[1] == separator))
			return true;
		else if (*p == '"' && p[1] == '"')
			p++;
	return false;
}

/* Reads a field in quotation marks from behind the first one. Returns its end. */
static const char *unquote(
	struct arena *a, const char *p, const char *end, char separator, struct text *field)
{
	struct str s = { 0 };
	bool quoted = true;
	for (; p < end && (quoted || *p != separator); p++) {
		if (quoted && *p == '"' && (p + 1 == end || p[1] != '"')) {
			quoted = false;
			continue;
		}
		p += quoted && *p == '"';
		str_add(&s, p, 1);
	}
	*field = (struct text){ arena_strndup(a, s.n ? s.p : "", s.n), s.n };
	str_free(&s);
	return p;
}

int lines_fields(struct arena *a, struct text line, char separator, struct text *fields, int most)
{
	int count = 0;
	const char *p = line.p, *end = p + line.n;
	while (count < most) {
		const char *next = p < end ? memchr(p, separator, (size_t)(end - p)) : NULL;
		next = next ? next : end;
		fields[count] = (struct text){ p, (size_t)(next - p) };
		if (p < end && *p == '"' && is_closed(p + 1, end, separator))
			next = unquote(a, p + 1, end, separator, &fields[count]);
		count++;
		if (next >= end)
			break;
		p = next + 1;
	}
	return count;
}
