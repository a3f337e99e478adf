/* Decompresses, splits and validates lines. A result counts only after a hello, which identifies its
 * device. */
#include "config.h"

#include "drive/records.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/hash.h"
#include "base/log.h"
#include "drive/gather.h"
#include "store/store.h"

#define CHUNK (1 << 16)
#define PROBLEMS_MAX 10000 /* problem texts in the cache of valid ones */

struct records {
	gzFile file;
	char *path;
	char *chunk;
	size_t chunk_at, chunk_n;
	struct str line;
	int64_t line_number;
	bool line_is_whole;     /* it ends with a newline */
	bool line_is_long;      /* it is longer than WIRE_LINE_MAX; the rest was dropped */
	bool again;             /* the present line was read but not handled yet */
	bool torn;              /* the file ended within a line or the compressed data */
	bool is_file;           /* a regular file: reading does not block */
	struct str fault;       /* of fault_line, held back: see records_next */
	int64_t fault_line;     /* 0: none */
	struct arena arena;     /* of the last hello */
	struct device *device;  /* NULL before the first hello */
	struct wire_message message;
	struct gather gather;   /* the current execution */
	int64_t gather_line;    /* number of its first line; 0 without an execution */
	int64_t job;            /* id of the last result; its problem is in job_problem */
	struct str job_problem;
	bool (*want)(const void *context, struct text problem); /* NULL: all */
	const void *want_context;
	int64_t silence;        /* bytes since the last message */
	const volatile sig_atomic_t *stop;
	struct hash problems;   /* cache of valid problem texts */
	struct arena texts;     /* their bytes */
};

struct records *records_open(const char *path, struct error *err)
{
	bool standard = strcmp(path, "-") == 0;
	struct stat st;
	errno = 0;
	int fd = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	gzFile file = fd < 0 ? NULL : gzdopen(fd, "rb");
	if (!file) {
		if (fd >= 0)
			close(fd);
		error_set(err, "%s: cannot be read: %s", standard ? "standard input" : path,
			errno ? strerror(errno) : "out of memory");
		return NULL;
	}
	struct records *r = base_calloc(1, sizeof(*r));
	r->file = file;
	r->path = base_strdup(standard ? "standard input" : path);
	r->chunk = base_malloc(CHUNK);
	r->is_file = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	gzbuffer(file, CHUNK);
	return r;
}

void records_close(struct records *r)
{
	if (!r)
		return;
	gzclose(r->file);
	wire_free(&r->message);
	gather_clear(&r->gather);
	str_free(&r->line);
	str_free(&r->fault);
	str_free(&r->job_problem);
	hash_free(&r->problems);
	arena_free(&r->texts);
	arena_free(&r->arena);
	free(r->chunk);
	free(r->path);
	free(r);
}

bool records_is_truncated(const struct records *r)
{
	return r->torn;
}

bool records_had_execution(const struct records *r)
{
	return r->gather_line > 0;
}

void records_set_filter(struct records *r, bool (*want)(const void *context, struct text problem),
	const void *context)
{
	r->want = want;
	r->want_context = context;
}

void records_set_stop(struct records *r, const volatile sig_atomic_t *stop)
{
	r->stop = stop;
}

/* True if the filter rejects the line's problem. Searches for the key instead of parsing: problem texts need
 * no escapes in JSON. */
static bool records_is_unwanted(const struct records *r)
{
	static const char key[] = "\"problem\":\"";
	const char *at = r->want && !r->line_is_long ? strstr(r->line.p, key) : NULL;
	if (!at)
		return false;
	at += sizeof(key) - 1;
	return !r->want(r->want_context, (struct text){ at, strcspn(at, "\"") });
}

bool records_may_wait(const struct records *r)
{
	return !r->is_file && !r->again && !memchr(r->chunk + r->chunk_at, '\n', r->chunk_n - r->chunk_at);
}

/* Reads the next chunk. Returns 1; 0 at the end, also if the compressed data is truncated; -1 on errors. */
static int records_fill(struct records *r, struct error *err)
{
	int code = Z_OK;
	if (r->stop && *r->stop)
		return error_set(err, "%s: interrupted", r->path);
	if (r->silence > RECORDS_SILENCE_MAX)
		return error_set(err,
			"%s:%" PRId64
			": no runner message in %d MiB; give a file written by a runner or by `db export`",
			r->path, r->line_number + 1, RECORDS_SILENCE_MAX >> 20);
	int got = gzread(r->file, r->chunk, CHUNK);
	const char *why = gzerror(r->file, &code);
	if (got < 0 || (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR))
		return error_set(err, "%s:%" PRId64 ": cannot be read: %s", r->path, r->line_number + 1,
			code == Z_ERRNO		       ? strerror(errno)
				: code == Z_DATA_ERROR ? "the compressed data is damaged"
						       : why);
	r->torn |= code == Z_BUF_ERROR;
	r->chunk_at = 0;
	r->chunk_n = (size_t)got;
	r->silence += got;
	return got > 0;
}

/* Reads a line into r->line. Returns 1; 0 at the end; -1 on errors. */
static int records_line(struct records *r, struct error *err)
{
	str_clear(&r->line);
	r->line_is_whole = r->line_is_long = false;
	while (!r->line_is_whole) {
		if (r->chunk_at == r->chunk_n) {
			int got = records_fill(r, err);
			if (got < 0)
				return -1;
			if (!got)
				break;
		}
		const char *from = r->chunk + r->chunk_at,
			*end = memchr(from, '\n', r->chunk_n - r->chunk_at);
		size_t n = end ? (size_t)(end - from) : r->chunk_n - r->chunk_at;
		r->line_is_long |= r->line.n + n > WIRE_LINE_MAX;
		if (!r->line_is_long)
			str_add(&r->line, from, n);
		r->chunk_at += n + (end != NULL);
		r->line_is_whole = end != NULL;
	}
	if (!r->line_is_whole && !r->line.n && !r->line_is_long)
		return 0;
	r->line_number++;
	return 1;
}

static bool records_is_object(const struct str *line)
{
	size_t blank = line->n ? strspn(line->p, " \t") : 0;
	return line->n > blank && line->p[blank] == '{';
}

/* Returns 1 if the line is a hello, and sets r->device; 0 if not; -1 if the hello cannot be used. */
static int records_hello(struct records *r, struct error *err)
{
	struct device d;
	struct arena fresh = { 0 };
	size_t at;
	if (r->line_is_long || !r->line.n || !memmem(r->line.p, r->line.n, WIRE_MAGIC,
		sizeof(WIRE_MAGIC) - 1))
		return 0;
	int is = wire_find_hello((struct text){ r->line.p, r->line.n }, &fresh, &d, &at, err);
	if (is != 1) {
		arena_free(&fresh);
		return is ? error_context(err, "%s:%" PRId64, r->path, r->line_number) : 0;
	}
	arena_free(&r->arena);
	r->arena = fresh;
	r->device = ARENA_NEW(&r->arena, struct device);
	*r->device = d;
	r->job = 0;
	r->silence = 0;
	return 1;
}

static int records_fault(struct records *r, int64_t line, const char *why, struct records_item *item)
{
	char *kept = base_strdup(why); /* may be r->fault itself */
	struct error clean = ERROR_NONE;
	error_set(&clean, "%s:%" PRId64 ": %s", r->path, line, kept);
	free(kept);
	str_clear(&r->fault);
	str_addf(&r->fault, "%s", clean.text);
	r->fault_line = 0;
	*item = (struct records_item){
		.kind = RECORDS_FAULT, .line = line, .device = r->device, .fault = r->fault.p
	};
	return 1;
}

/* True if the problem text is valid. Valid texts are cached, since many lines have the same one. */
static bool records_knows_problem(struct records *r, const char *text, struct error *err)
{
	int64_t known = hash_find(&r->problems, text_of(text));
	if (known == 1)
		return true;
	struct problem *p = base_calloc(1, sizeof(*p));
	bool good = problem_parse(text_of(text), p, err) == 0;
	free(p);
	if (good && r->problems.count >= PROBLEMS_MAX) {
		hash_free(&r->problems);
		arena_free(&r->texts);
	}
	if (good)
		*hash_at(&r->problems, text_of(arena_strndup(&r->texts, text, strlen(text)))) = 1;
	return good;
}

static int records_result(struct records *r, struct records_item *item)
{
	struct error err = ERROR_NONE;
	struct result *one = &r->message.result;
	if (!r->device)
		return records_fault(
			r, r->line_number, "a result before the first hello: its device is unknown", item);
	if (!wire_is_problem(&r->message)) {
		error_set(&err, "a result of a job of the kind \"%s\", which this version cannot store",
			r->message.kind);
		return records_fault(r, r->line_number, err.text, item);
	}
	if (!records_knows_problem(r, one->problem, &err))
		return records_fault(r, r->line_number, err.text, item);
	if (one->status == STATUS_OK && !(one->stats.median > 0 && isfinite(one->stats.median))) {
		one->status = STATUS_MISTRUSTED;
		one->why = "a time of zero";
	}
	const char *wrong = store_result_fault(one);
	if (wrong) {
		error_set(&err, "a result that %s", wrong);
		return records_fault(r, r->line_number, err.text, item);
	}
	if (!one->runner_version || !one->runner_version[0])
		one->runner_version = r->device->version;
	r->job = r->message.id;
	str_clear(&r->job_problem);
	str_add(&r->job_problem, one->problem, strlen(one->problem));
	*item = (struct records_item){
		.kind = RECORDS_RESULT, .line = r->line_number, .device = r->device, .result = *one
	};
	return 1;
}

/* Handles a message of an execution. Returns 1 at its end or for a fault, else 0. */
static int records_execution(struct records *r, struct records_item *item)
{
	struct error err = ERROR_NONE;
	const char *fault;
	if (r->message.type != WIRE_DONE) {
		r->gather_line = r->message.type == WIRE_EXECUTION ? r->line_number : r->gather_line;
		if (gather_take(&r->gather, &r->message, &err) == 0)
			return 0;
		gather_clear(&r->gather);
		return records_fault(r, r->line_number, err.text, item);
	}
	fault = gather_end(&r->gather);
	if (fault) {
		error_set(&err, "an execution: %s", fault);
		return records_fault(r, r->gather_line, err.text, item);
	}
	*item = (struct records_item){ .kind = RECORDS_EXECUTION, .line = r->gather_line, .device = r->device,
		.execution = &r->gather.execution };
	return 1;
}

/* Drops an execution that the end of the file or another hello cuts off. Returns true if there was one. */
static bool records_cut_off(struct records *r)
{
	bool open = r->gather.open;
	if (open)
		gather_clear(&r->gather);
	return open;
}

/* Handles the message in r->line. Returns 1 if it is an item, else 0; an invalid line is held back as a
 * fault. */
static int records_message(struct records *r, struct records_item *item)
{
	struct error err = ERROR_NONE;
	wire_free(&r->message);
	if (r->line_is_long || wire_parse(r->line.p, r->line.n, &r->message, &err)) {
		if (!r->device)
			return 0;
		if (r->line_is_long)
			error_set(&err, "a line longer than %d bytes", WIRE_LINE_MAX);
		r->fault_line = r->line_number;
		str_clear(&r->fault);
		str_addf(&r->fault, "%s", err.text);
		return 0;
	}
	r->silence = 0;
	if (r->message.type == WIRE_RESULT)
		return records_result(r, item);
	if (r->message.type == WIRE_EXECUTION || r->message.type == WIRE_ROW ||
		(r->message.type == WIRE_DONE && r->gather.open && r->message.id == r->gather.id))
		return records_execution(r, item);
	if (r->message.type != WIRE_DONE || !r->device || !r->job || r->message.id != r->job)
		return 0;
	*item = (struct records_item){ .kind = RECORDS_DONE, .line = r->line_number, .device = r->device,
		.problem = r->job_problem.p, .status = r->message.status };
	return 1;
}

/* A run that is killed leaves an incomplete line: the last one of the file, or one before the hello of the
 * next run. Only the following line shows whether an invalid line is such a one. So its fault is held back: a
 * hello or the end of a truncated file discards it, any other line reports it first. */
int records_next(struct records *r, struct records_item *item, struct error *err)
{
	for (;;) {
		int got = r->again ? 1 : records_line(r, err);
		r->again = false;
		if (got < 0)
			return -1;
		if (!got && records_cut_off(r))
			r->torn = true;
		if (!got) { /* a fault in a last line without a newline is due to the truncation */
			if (!r->fault_line || !r->torn)
				return r->fault_line ? records_fault(r, r->fault_line, r->fault.p, item) : 0;
			r->fault_line = 0;
			return 0;
		}
		int hello = records_hello(r, err);
		if (hello < 0)
			return -1;
		if (hello) {
			if (records_cut_off(r))
				log_line("%s:%" PRId64 ": an incomplete execution is left out", r->path,
					r->line_number);
			r->fault_line = 0; /* the line before was incomplete */
			*item = (struct records_item){
				.kind = RECORDS_DEVICE, .line = r->line_number, .device = r->device
			};
			return 1;
		}
		if (r->fault_line) {
			r->again = true;
			return records_fault(r, r->fault_line, r->fault.p, item);
		}
		if (!r->line_is_long && !records_is_object(&r->line))
			continue;
		if (records_is_unwanted(r)) {
			r->silence = 0;
			continue;
		}
		if (records_message(r, item))
			return 1;
		r->torn |= r->fault_line && !r->line_is_whole;
	}
}
