/* Chooses the reader of a file of benchmarks by its first byte. */
#include "config.h"

#include "profile/bench/benchmarks.h"

#include <stdlib.h>
#include <string.h>

#include "profile/bench/benchmarks_gather.h"
#include "profile/read/stream.h"

/* The first byte that is no blank. */
static int first_byte(const char *path, struct error *err)
{
	char bytes[64];
	struct stream *s = stream_open(path, NULL, err);
	int64_t n = s ? stream_read(s, bytes, sizeof(bytes), err) : -1;
	stream_close(s);
	for (int64_t i = 0; i < n; i++)
		if (!memchr(" \t\r\n", bytes[i], 4))
			return (unsigned char)bytes[i];
	return n < 0 ? -1 : 0;
}

int benchmarks_read(
	const char *path, const struct profile_options *options, struct benchmarks *b, struct error *err)
{
	*b = (struct benchmarks){ .gap = "" };
	switch (first_byte(path, err)) {
	case -1:
		return -1;
	case '{':
		return benchmarks_read_json(path, options, b, err);
	case 's':
		return benchmarks_read_csv(path, options, b, err);
	default:
		return error_set(
			err, "%s: neither JSON of Google Benchmark nor a table of its results", path);
	}
}

void benchmarks_free(struct benchmarks *b)
{
	free(b->devices);
	free(b->results);
	free(b->reasons);
	arena_free(&b->arena);
	*b = (struct benchmarks){ .gap = "" };
}
