/* db import --as google-benchmark: files of benchmarks (profile/bench/benchmarks.h) become results of
 * devices. */
#include "config.h"

#include "commands/db_google.h"

#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "commands/db_batch.h"
#include "commands/interrupt.h"
#include "commands/report.h"
#include "profile/bench/benchmarks.h"

#define FORMAT "google-benchmark"

const struct option_row db_format_rows[] = { { "as", 0, "FORMAT", OWN_TEXT(db_format, as),
						     "the format of the file: " FORMAT " (benanza(1))" },
	{ 0 } };

int db_format_is_google(const struct options *o, struct error *err)
{
	const struct db_format *format = o->own;
	if (!format->as)
		return 0;
	return strcmp(format->as, FORMAT) == 0
		? 1
		: error_set(err, "--as: unknown format '%s'; use %s", format->as, FORMAT);
}

struct import {
	struct db_batch batch;
	int64_t entries, results;
	int devices, files;
	json_t *reasons; /* { text: { count, example } } */
};

static int add_results(struct import *im, const struct benchmarks *b, const int64_t *ids, struct error *err)
{
	struct hash done = { 0 };
	struct arena a = { 0 };
	int bad = 0;
	for (int64_t i = 0; i < b->result_count && !bad && !interrupted; i++) {
		const struct benchmarks_result *one = &b->results[i];
		bad = db_batch_result(&im->batch, ids[one->device], &one->result, err);
		const char *key = arena_printf(&a, "%d %s", one->device, one->result.problem);
		if (bad || !one->finished || hash_find(&done, text_of(key)) >= 0)
			continue;
		*hash_at(&done, text_of(key)) = 1;
		bad = db_batch_ready(&im->batch, err);
		if (!bad &&
			store_finish_once(im->batch.store, ids[one->device], one->result.problem, err) < 0)
			bad = -1;
		im->batch.now.finished += !bad;
	}
	hash_free(&done);
	arena_free(&a);
	return bad;
}

static int add_devices(struct import *im, const struct benchmarks *b, int64_t *ids, struct error *err)
{
	for (int i = 0; i < b->device_count; i++) {
		if (db_batch_ready(&im->batch, err))
			return -1;
		ids[i] = store_device(im->batch.store, &b->devices[i], err);
		if (ids[i] < 0)
			return -1;
	}
	return 0;
}

static void add_reasons(struct import *im, const struct benchmarks *b)
{
	for (int i = 0; i < b->reason_count; i++) {
		const struct benchmarks_reason *r = &b->reasons[i];
		json_t *known = json_object_get(im->reasons, r->text);
		json_int_t count = known ? json_int_at(known, "count", 0) : 0;
		if (!known) {
			known = json_pack("{s:o}", "example", json_text(text_of(r->example)));
			json_object_set_new(im->reasons, r->text, known);
		}
		json_object_set_new(known, "count", json_integer(count + r->count));
		im->batch.left_out += r->count;
	}
}

static int import_file(struct import *im, const char *path, struct error *err)
{
	struct benchmarks b;
	const struct profile_options options = { .stop = &interrupted };
	int bad = benchmarks_read(path, &options, &b, err);
	int64_t *ids = bad ? NULL : ARENA_ARRAY(&b.arena, int64_t, b.device_count + 1);
	if (!bad)
		bad = add_devices(im, &b, ids, err) || add_results(im, &b, ids, err) ? -1 : 0;
	if (!bad)
		bad = db_batch_commit(&im->batch, err);
	add_reasons(im, &b);
	im->entries += b.entries;
	im->results += b.result_count;
	im->devices += b.device_count;
	im->files += !bad;
	if (!bad && *b.gap && !im->batch.options->quiet) {
		struct error line = ERROR_NONE; /* cleans the name */
		error_set(&line, "%s: %s; the rest was imported", path, b.gap);
		fprintf(stderr, "benanza: %s\n", line.text);
	}
	im->batch.left_out += !bad && *b.gap;
	benchmarks_free(&b);
	if (interrupted)
		err->text[0] = '\0';
	return interrupted ? 0 : bad;
}

static void print_json(struct import *im)
{
	const struct db_counts *c = &im->batch.kept;
	json_t *reasons = json_array();
	const char *text;
	json_t *one;
	json_object_foreach(im->reasons, text, one) json_array_append_new(reasons,
		json_pack("{s:s, s:O, s:O}", "text", text, "count", json_object_get(one, "count"), "example",
			json_object_get(one, "example")));
	report_json_line(
		json_pack("{s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:b}", "files", im->files, "devices",
			im->devices, "benchmarks", (json_int_t)im->entries, "results", (json_int_t)c->results,
			"added", (json_int_t)c->added, "already", (json_int_t)(c->results - c->added),
			"finished", (json_int_t)c->finished, "left_out", (json_int_t)im->batch.left_out,
			"reasons", reasons, "interrupted", interrupted != 0),
		stdout);
}

static void print_text(struct import *im)
{
	const struct db_counts *c = &im->batch.kept;
	const char *text;
	json_t *one;
	if (im->batch.options->quiet)
		return;
	printf("%" PRId64 " benchmarks of %d devices: %" PRId64 " results, %" PRId64 " added, %" PRId64
	       " known already; %" PRId64 " problems complete",
		im->entries, im->devices, c->results, c->added, c->results - c->added, c->finished);
	puts(interrupted ? "; interrupted, added results are kept" : "");
	json_object_foreach(im->reasons, text, one) printf("left out: %lld: %s, such as %s\n",
		(long long)json_int_at(one, "count", 0), text, json_string_at(one, "example", ""));
}

int db_google_import(struct store *s, struct options *o, struct error *err)
{
	struct import im = { .reasons = json_object() };
	int bad = 0;
	db_batch_start(&im.batch, s, o);
	for (int i = 0; i < o->argc && !bad && !interrupted; i++)
		bad = import_file(&im, o->argv[i], err);
	int64_t left_out = im.batch.left_out;
	im.batch.left_out = 0; /* printed with their reasons */
	bad = db_batch_end(&im.batch, bad, err);
	im.batch.left_out = left_out;
	if (!bad || im.batch.kept.results)
		o->json ? print_json(&im) : print_text(&im);
	json_decref(im.reasons);
	return bad ? EXIT_BAD : left_out || interrupted ? EXIT_GAPS : EXIT_DONE;
}
