/* Files of results: what a runner writes as a batch (docs/wire.md), one JSON object a line, plain or gzipped. zlib's only
 * home. Nothing in them is believed blindly: what cannot be a result is handed over as a fault with its place. */
#ifndef DRIVE_RECORDS_H
#define DRIVE_RECORDS_H

#include <signal.h>

#include "wire/wire.h"

#define RECORDS_SILENCE_MAX (64 << 20) /* bytes without a message: more are not read */

enum records_kind {
	RECORDS_DEVICE, /* a hello: what follows is of item.device */
	RECORDS_RESULT, /* item.result */
	RECORDS_DONE,   /* measuring of item.problem has come to its end, item.status, and results of it came before */
	RECORDS_FAULT   /* a line that means nothing; item.fault says where and why, "FILE:12: not JSON: ..." */
};

/* Strings are borrowed until the next call, those of the device until the next RECORDS_DEVICE. Memory does not grow with
 * the file. */
struct records_item {
	enum records_kind kind;
	int64_t line;                /* from 1 on */
	const struct device *device; /* of the last hello; NULL: none yet, only with a fault */
	struct result result;
	const char *problem;
	enum status status;
	const char *fault;
};

struct records;

/* Opens a file, "-" = standard input. */
struct records *records_open(const char *path, struct error *err);
void records_close(struct records *r);
/* Only results and ends of problems that `want` says yes to are read on with; the others cost next to nothing. */
void records_want(struct records *r, bool (*want)(const void *context, struct text problem), const void *context);
/* records_next returns -1 soon after *stop (a signal handler's flag) is set. */
void records_set_stop(struct records *r, const volatile sig_atomic_t *stop);
/* The next item: 1; 0: the end; -1: it cannot be read on (err names file and line): no file that can be read, damaged
 * compressed data, a hello of another protocol, RECORDS_SILENCE_MAX bytes without a message. Skipped without a word:
 * lines before the first hello and between messages that are no JSON objects (login banners, what a batch system
 * prints), heartbeats, logs, and a line that was torn when a run was killed: the last one, or one right before another
 * hello. */
int records_next(struct records *r, struct records_item *item, struct error *err);
/* The next call may have to wait for who writes: true between lines of what is no plain file. */
bool records_may_wait(const struct records *r);
/* After the end: it broke off in the middle of a line, or of the compressed data. */
bool records_is_torn(const struct records *r);

#endif
