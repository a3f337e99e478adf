/* Reads files of results: a runner's batch output or `db export` (docs/wire.md), one JSON object per line,
 * plain or gzipped. The only file that uses zlib. Lines are validated; an invalid one is returned as a fault
 * with its line. */
#ifndef DRIVE_RECORDS_H
#define DRIVE_RECORDS_H

#include <signal.h>

#include "wire/wire.h"

#define RECORDS_SILENCE_MAX (64 << 20) /* bytes without a message after which reading fails */

enum records_kind {
	RECORDS_DEVICE, /* a hello: the following items are of item.device */
	RECORDS_RESULT, /* item.result */
	RECORDS_DONE,   /* the end of item.problem with item.status; results of it came before */
	RECORDS_FAULT,  /* an invalid line; item.fault: "FILE:12: not JSON: ..." */
	RECORDS_EXECUTION /* item.execution of a whole model, complete with its rows */
};

/* Strings are valid until the next call, those of the device until the next RECORDS_DEVICE. Memory use does
 * not depend on the size of the file. */
struct records_item {
	enum records_kind kind;
	int64_t line;                /* number, from 1 */
	const struct device *device; /* of the last hello; NULL only with a fault or an execution before the
				      first hello */
	struct result result;
	const char *problem;
	enum status status;
	const char *fault;
	const struct execution *execution;
};

struct records;

/* Opens a file; "-" is standard input. */
struct records *records_open(const char *path, struct error *err);
void records_close(struct records *r);
/* Skips results and ends of problems for which `want` returns false, without parsing them. */
void records_set_filter(
	struct records *r, bool (*want)(const void *context, struct text problem), const void *context);
/* records_next returns -1 soon after *stop (a signal handler's flag) is set. */
void records_set_stop(struct records *r, const volatile sig_atomic_t *stop);
/* Reads the next item. Returns 1; 0 at the end; -1 if reading must stop (err names the file and line): I/O
 * errors, damaged compressed data, a hello of another protocol, RECORDS_SILENCE_MAX bytes without a message.
 * Silently skips heartbeats, logs, lines that are not JSON objects (login banners, output of a batch system),
 * all lines before the first hello, and a line that is incomplete because a run was killed: the last one, or
 * one right before another hello. */
int records_next(struct records *r, struct records_item *item, struct error *err);
/* True if the next call may block: the input is not a regular file, and no complete line is buffered. */
bool records_may_wait(const struct records *r);
/* After the end: true if the file ended within a line, an execution, or the compressed data. */
bool records_is_truncated(const struct records *r);
/* Returns true if a message of an execution was read; executions need no hello. */
bool records_had_execution(const struct records *r);

#endif
