/* db import: adds files of results (drive/records.h) to the database. */
#include "config.h"

#include "commands/db_batch.h"
#include "commands/db_google.h"
#include "commands/interrupt.h"
#include "commands/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "drive/records.h"

struct import {
	struct db_batch batch;
	int64_t device;      /* of the file's last hello */
	int devices, files;
};

static bool is_answer(enum status s)
{
	return s == STATUS_OK || s == STATUS_UNSUPPORTED || s == STATUS_MISTRUSTED;
}

static int import_item(struct import *im, const struct records_item *item, struct error *err)
{
	struct db_batch *b = &im->batch;
	switch (item->kind) {
	case RECORDS_DEVICE:
		im->device = db_batch_ready(b, err) ? -1 : store_device(b->store, item->device, err);
		im->devices++;
		return im->device < 0 ? -1 : 0;
	case RECORDS_RESULT:
		return db_batch_result(b, im->device, &item->result, err);
	case RECORDS_DONE:
		if (!is_answer(item->status))
			return 0;
		if (db_batch_ready(b, err) || store_finish(b->store, im->device, item->problem, err))
			return -1;
		b->now.finished++;
		return 0;
	case RECORDS_EXECUTION:
		return db_batch_execution(b, item->execution, err);
	case RECORDS_FAULT:
		db_batch_leave_out(b, item->fault);
		return 0;
	}
	return 0;
}

static int import_file(struct import *im, const char *path, struct error *err)
{
	pipe_wait(im->batch.options->quiet, path);
	struct records *r = records_open(path, err);
	pipe_waited();
	struct records_item item;
	int got = -1, bad = r ? 0 : -1;
	im->device = -1;
	if (r)
		records_set_stop(r, &interrupted);
	while (r && !bad && !interrupted && (got = records_next(r, &item, err)) == 1) {
		bad = import_item(im, &item, err);
		if (!bad && records_may_wait(r)) /* releases the lock while it waits for input */
			bad = db_batch_commit(&im->batch, err);
	}
	if (interrupted && (!r || !bad)) { /* possibly while waiting for input */
		got = 1;
		bad = 0;
		err->text[0] = '\0';
	}
	if (r && !bad && got == 0 && im->device < 0 && !records_had_execution(r))
		bad = error_set(err, "%s: not results of a runner (no hello)", path);
	if (r && records_is_truncated(r) && !im->batch.options->quiet) {
		struct error line = ERROR_NONE; /* error_set cleans the file name */
		error_set(&line,
			"%s ends in the middle of a line or an execution; the lines before it were imported",
			path);
		fprintf(stderr, "benanza: %s\n", line.text);
	}
	records_close(r);
	/* results before a read error are kept */
	struct error keeping = ERROR_NONE;
	if (db_batch_commit(&im->batch, &keeping)) {
		*err = keeping;
		return -1;
	}
	im->files++;
	return bad || got < 0 ? -1 : 0;
}

static void import_print(const struct import *im)
{
	const struct db_counts *c = &im->batch.kept;
	if (im->batch.options->json) {
		report_json_line(
			json_pack("{s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:b, s:I, s:I}", "files", im->files,
				"hellos", im->devices, "results", (json_int_t)c->results, "added",
				(json_int_t)c->added, "already", (json_int_t)(c->results - c->added),
				"finished", (json_int_t)c->finished, "left_out",
				(json_int_t)im->batch.left_out, "interrupted", interrupted != 0, "executions",
				(json_int_t)c->executions, "executions_added",
				(json_int_t)c->executions_added),
			stdout);
		return;
	}
	if (im->batch.options->quiet)
		return;
	printf("%" PRId64 " results: %" PRId64 " added, %" PRId64 " known already; "
		"%" PRId64 " problems complete",
		c->results, c->added, c->results - c->added, c->finished);
	db_batch_print_executions(&im->batch);
	if (im->batch.left_out)
		printf("; %" PRId64 " lines left out", im->batch.left_out);
	puts(interrupted ? "; interrupted, added results are kept" : "");
}

int db_import(struct store *s, struct options *o, struct error *err)
{
	struct import im = { .device = -1 };
	int bad = 0, google = db_format_is_google(o, err);
	if (google)
		return google < 0 ? EXIT_BAD : db_google_import(s, o, err);
	db_batch_start(&im.batch, s, o);
	for (int i = 0; i < o->argc && !bad && !interrupted; i++)
		bad = import_file(&im, o->argv[i], err);
	bad = db_batch_end(&im.batch, bad, err);
	if (!bad || im.batch.kept.results || im.batch.kept.executions)
		import_print(&im);
	return bad ? EXIT_BAD : im.batch.left_out || interrupted ? EXIT_GAPS : EXIT_DONE;
}
