/* Reads what an output file already has. A line that a crash cut off is removed, nothing else. */
#include "config.h"

#include "runner/protocol/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int64_t states_bits(const bool *caches, const bool *launches)
{
	int64_t bits = 0;
	for (int c = 0; c < CACHE_COUNT; c++)
		for (int l = 0; l < LAUNCH_COUNT; l++)
			bits |= caches[c] && launches[l] ? (int64_t)1 << (c * LAUNCH_COUNT + l) : 0;
	return bits;
}

/* Returns the entry of a problem; a new one is -1. */
static int64_t *entry(struct batch *b, struct hash *h, const char *problem)
{
	struct text key = text_of(problem);
	if (hash_find(h, key) < 0) /* the map does not copy its keys */
		key = text_of(arena_strndup(&b->arena, key.p, key.n));
	return hash_at(h, key);
}

void batch_add(struct batch *b, const struct wire_message *done)
{
	bool cancelled = done->status == STATUS_FAILED && strcmp(done->what, "cancelled") == 0;
	if (!b->is_file || done->type != WIRE_DONE || !done->problem || !*done->problem || cancelled)
		return;
	if (done->retry) {
		int64_t *times = entry(b, &b->lost, done->problem);
		*times = *times < 0 ? 1 : *times + 1;
		return;
	}
	int64_t bits = states_bits(done->caches, done->launches);
	for (int all = 0; all <= done->all; all++) {
		int64_t *held = entry(b, &b->answered[all], done->problem);
		*held = (*held < 0 ? 0 : *held) | (bits ? bits : BATCH_LISTED);
	}
}

int64_t batch_losses(const struct batch *b, const char *problem)
{
	int64_t times = hash_find(&b->lost, text_of(problem));
	return times < 0 ? 0 : times;
}

bool batch_answers(const struct batch *b, const struct wire_message *job, bool measures)
{
	int64_t held = hash_find(&b->answered[job->all], text_of(job->problem));
	int64_t asked = measures ? states_bits(job->caches, job->launches) : BATCH_LISTED;
	return held >= 0 && !(asked & ~held);
}

bool batch_skips(struct batch *b, const struct wire_message *job, bool measures)
{
	bool skips = batch_answers(b, job, measures);
	b->skipped += skips;
	return skips;
}

/* Reads one complete line; the first is a hello. */
static int line_take(struct batch *b, const char *line, size_t n, const struct device *d, struct error *err)
{
	struct arena scratch = { 0 };
	struct device theirs;
	struct wire_message m;
	int bad = 0, hello = wire_parse_hello(line, &scratch, &theirs, err);
	if (hello < 0) {
		bad = -1;
	} else if (hello > 0) {
		b->has_hello = true;
		if (strcmp(theirs.model, d->model) != 0 || strcmp(theirs.stack, d->stack) != 0)
			bad = error_set(err,
				"the output has results of %s (%s): write those of %s (%s) to another file",
				theirs.model, theirs.stack, d->model, d->stack);
	} else if (!b->has_hello) {
		bad = error_set(err, "the output is not a runner's results: write to another file");
	} else if (wire_parse(line, n, &m, NULL) == 0) {
		batch_add(b, &m);
		wire_free(&m);
	}
	arena_free(&scratch);
	return bad;
}

/* Reads all complete lines; *whole: offset behind the last one. */
static int lines_take(struct batch *b, FILE *f, const struct device *d, off_t *whole, struct error *err)
{
	char *line = NULL;
	size_t size = 0;
	int bad = 0;
	*whole = 0;
	for (ssize_t n; !bad && (n = getline(&line, &size, f)) > 0 && line[n - 1] == '\n';) {
		*whole += n;
		line[--n] = '\0';
		bad = line_take(b, line, (size_t)n, d, err);
	}
	free(line);
	return bad;
}

/* True if the file, which has no complete line, is the beginning of a hello: only that may be cut off. */
static bool is_begun_hello(FILE *f)
{
	static const char begin[] = WIRE_HELLO_BEGIN;
	char there[sizeof(begin)];
	rewind(f);
	size_t n = fread(there, 1, sizeof(begin) - 1, f);
	return memcmp(there, begin, n) == 0;
}

/* Opens the output for reading, since its descriptor may be write-only. */
static FILE *reader_open(int out)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", out);
	return fopen(path, "re");
}

int batch_open(struct batch *b, int out, const struct device *d, struct error *err)
{
	struct stat s;
	off_t whole;
	*b = (struct batch){ 0 };
	if (fstat(out, &s) || !S_ISREG(s.st_mode))
		return 0;
	b->is_file = true;
	if (flock(out, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return error_set(
			err, "another process writes to the output: wait for it, or write to another file");
	if (s.st_size == 0)
		return 0;
	FILE *f = reader_open(out);
	if (!f)
		return error_set(err, "cannot read the output file: %s", strerror(errno));
	int bad = lines_take(b, f, d, &whole, err);
	if (!bad && !b->has_hello && !is_begun_hello(f))
		bad = error_set(err, "the output is not a runner's results: write to another file");
	fclose(f);
	if (bad)
		return -1;
	if (whole < s.st_size && ftruncate(out, whole))
		return error_set(
			err, "cannot cut off the incomplete last line of the output: %s", strerror(errno));
	if (lseek(out, 0, SEEK_END) < 0)
		return error_set(err, "cannot seek to the end of the output: %s", strerror(errno));
	return 0;
}

void batch_close(struct batch *b)
{
	hash_free(&b->answered[0]);
	hash_free(&b->answered[1]);
	hash_free(&b->lost);
	arena_free(&b->arena);
	*b = (struct batch){ 0 };
}
