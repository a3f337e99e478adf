/* db import: files of results (drive/records.h) into the database. */
#include "config.h"

#include "commands/db.h"
#include "commands/interrupt.h"
#include "commands/report.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "drive/records.h"

#define BATCH 2000      /* results in one transaction */
#define FAULTS_SAID 10  /* of one import, then only counted */
#define PROGRESS_MS 500
#define FUTURE_S 86400   /* clocks may differ a little */

struct import {
	struct store *store;
	const struct options *options;
	int64_t device;       /* of the file's last hello */
	int64_t results, added, finished, faults, in_batch;
	int64_t kept_results, kept_added, kept_finished; /* of these, what is committed */
	int64_t now_s, future; /* results dated in the future */
	int devices, files;
	int64_t drawn_ms;
	bool bar;
};

static void progress_draw(struct import *im, bool last)
{
	int64_t now = clock_ms();
	if (!im->bar || (!last && now - im->drawn_ms < PROGRESS_MS))
		return;
	im->drawn_ms = now;
	fputs("\r\x1b[K", stderr);
	if (!last)
		fprintf(stderr, "%lld results", (long long)im->results);
	fflush(stderr);
}

/* Results of the present batch are kept from here on. */
static int import_commit(struct import *im, struct error *err)
{
	if (!im->in_batch)
		return 0;
	im->in_batch = 0;
	if (store_batch_end(im->store, err))
		return -1;
	im->kept_results = im->results;
	im->kept_added = im->added;
	im->kept_finished = im->finished;
	return 0;
}

/* Before each addition: a batch that is full makes room for the next. */
static int import_ready(struct import *im, struct error *err)
{
	if (im->in_batch >= BATCH && import_commit(im, err))
		return -1;
	if (im->in_batch++)
		return 0;
	progress_draw(im, false);
	return store_batch_begin(im->store, err);
}

static bool is_answer(enum status s)
{
	return s == STATUS_OK || s == STATUS_UNSUPPORTED || s == STATUS_MISTRUSTED;
}

static int import_item(struct import *im, const struct records_item *item, struct error *err)
{
	int added;
	switch (item->kind) {
	case RECORDS_DEVICE:
		if (import_ready(im, err))
			return -1;
		im->device = store_device(im->store, item->device, err);
		im->devices++;
		return im->device < 0 ? -1 : 0;
	case RECORDS_RESULT:
		if (import_ready(im, err) || (added = store_add_once(im->store, im->device, &item->result, err)) < 0)
			return -1;
		im->results++;
		im->added += added;
		im->future += item->result.measured_at > im->now_s + FUTURE_S;
		return 0;
	case RECORDS_DONE:
		if (!is_answer(item->status))
			return 0;
		if (import_ready(im, err) || store_finish(im->store, im->device, item->problem, err))
			return -1;
		im->finished++;
		return 0;
	case RECORDS_FAULT:
		if (im->faults++ < FAULTS_SAID) {
			progress_draw(im, true);
			fprintf(stderr, "benanza: left out: %s\n", item->fault);
		}
		return 0;
	}
	return 0;
}

static int import_file(struct import *im, const char *path, struct error *err)
{
	struct records *r = records_open(path, err);
	struct records_item item;
	int got = -1, bad = r ? 0 : -1;
	im->device = -1;
	while (r && !bad && !interrupted && (got = records_next(r, &item, err)) == 1) {
		bad = import_item(im, &item, err);
		if (!bad && records_may_wait(r)) /* others may write meanwhile */
			bad = import_commit(im, err);
	}
	if (interrupted && !bad) { /* it may have been waiting */
		got = 1;
		err->text[0] = '\0';
	}
	if (r && !bad && got == 0 && im->device < 0)
		bad = error_set(err, "%s: holds no results of a runner (no hello)", path);
	if (r && records_is_torn(r) && !im->options->quiet)
		fprintf(stderr, "benanza: %s breaks off in the middle of a line; what is before it was taken\n", path);
	records_close(r);
	/* what a file held before it could not be read on is kept; a store that failed has undone its batch */
	struct error keeping = ERROR_NONE;
	if (!(bad && got == 1) && import_commit(im, &keeping)) {
		*err = keeping;
		return -1;
	}
	im->files++;
	return bad || got < 0 ? -1 : 0;
}

static void import_print(const struct import *im)
{
	if (im->options->json) {
		report_json_line(json_pack("{s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:b}", "files", im->files, "hellos", im->devices,
			"results", (json_int_t)im->kept_results, "added", (json_int_t)im->kept_added, "already",
			(json_int_t)(im->kept_results - im->kept_added), "finished", (json_int_t)im->kept_finished, "left_out",
			(json_int_t)im->faults, "interrupted", interrupted != 0), stdout);
		return;
	}
	if (im->faults > FAULTS_SAID)
		fprintf(stderr, "benanza: ... and %lld more lines\n", (long long)im->faults - FAULTS_SAID);
	if (im->options->quiet)
		return;
	if (im->future)
		fprintf(stderr, "benanza: %lld results are dated in the future and stand until then; the clock there is wrong\n",
			(long long)im->future);
	printf("%lld results: %lld added, %lld known already; %lld problems measured to the end", (long long)im->kept_results,
		(long long)im->kept_added, (long long)(im->kept_results - im->kept_added), (long long)im->kept_finished);
	if (im->faults)
		printf("; %lld lines left out", (long long)im->faults);
	puts(interrupted ? "; interrupted, what was added is kept" : "");
}

int db_import(struct store *s, struct options *o, struct error *err)
{
	struct import im = { .store = s, .options = o, .now_s = (int64_t)time(NULL), .bar = isatty(STDERR_FILENO) && !o->quiet };
	interrupt_watch();
	int bad = 0;
	for (int i = 1; i < o->argc && !bad && !interrupted; i++)
		bad = import_file(&im, o->argv[i], err);
	progress_draw(&im, true);
	if (!bad || im.kept_results)
		import_print(&im);
	return bad ? EXIT_BAD : im.faults || interrupted ? EXIT_GAPS : EXIT_DONE;
}
