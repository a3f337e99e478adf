/* db merge: adds the contents of other databases to this one, row by row through the same checks as reading
 * and importing. ATTACH with INSERT ... SELECT would be about three times as fast (0.9 s instead of 2.9 s for
 * 200,000 results), but it would hold the write lock all the time, which stops a bench that stores results
 * meanwhile; would need the checks of texts and statistics as SQL functions; and would attach an untrusted
 * schema to a connection that writes. */
#include "config.h"

#include "commands/db_batch.h"
#include "commands/interrupt.h"
#include "commands/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "problem/problem.h"
#include "store/executions.h"

/* State of a problem's text in the other file. */
enum mark {
	MARK_NONE,  /* not a valid problem: not added, because no plan could ever use it */
	MARK_PART,  /* some of its results were left out */
	MARK_WHOLE  /* all its results were added */
};

struct merge {
	struct db_batch batch;
	const char *path;     /* of the other file */
	int64_t device;       /* number here of the other file's current device */
	struct arena arena;
	struct hash problems; /* of the current device: text -> enum mark */
	int files;
};

static bool is_problem(const char *text)
{
	struct problem *p = base_calloc(1, sizeof(*p));
	char again[PROBLEM_TEXT_SIZE];
	bool is = strlen(text) < sizeof(again) && problem_parse(text_of(text), p, NULL) == 0 &&
		  problem_format(p, again, NULL) == 0 && strcmp(text, again) == 0;
	free(p);
	return is;
}

static int64_t *problem_mark(struct merge *m, const char *problem)
{
	if (hash_find(&m->problems, text_of(problem)) < 0)
		problem = arena_strndup(&m->arena, problem, strlen(problem));
	int64_t *mark = hash_at(&m->problems, text_of(problem));
	if (*mark < 0)
		*mark = is_problem(problem) ? MARK_WHOLE : MARK_NONE;
	return mark;
}

static void leave_out(struct merge *m, const char *problem, const char *why)
{
	struct error line = ERROR_NONE;
	int64_t *mark = problem_mark(m, problem);
	error_set(&line, "%s: %.200s: %s", m->path, problem, why);
	db_batch_leave_out(&m->batch, line.text);
	*mark = *mark == MARK_WHOLE ? MARK_PART : *mark;
}

static int merge_device(void *context, const struct device *d, struct store_seen seen, struct error *err)
{
	struct merge *m = context;
	int64_t now = m->batch.began_s;
	seen.last = seen.last > now ? now : seen.last;
	seen.first = seen.first > seen.last ? seen.last : seen.first;
	m->device = db_batch_ready(&m->batch, err) ? -1 : store_device_seen(m->batch.store, d, seen, err);
	return m->device < 0 ? -1 : 0;
}

static int merge_result(void *context, const struct result *r, struct error *err)
{
	struct merge *m = context;
	if (interrupted)
		return 1;
	if (*problem_mark(m, r->problem) != MARK_NONE)
		return db_batch_result(&m->batch, m->device, r, err);
	leave_out(m, r->problem, "not a valid problem");
	return 0;
}

static void merge_unusable(void *context, int64_t row, const char *problem, const char *fault)
{
	struct error why = ERROR_NONE;
	error_set(&why, "result %" PRId64 " %s", row, fault);
	leave_out(context, problem, why.text);
}

/* Marks a problem as finished if all its results were added. */
static int merge_finished(void *context, const char *problem, struct error *err)
{
	struct merge *m = context;
	if (interrupted)
		return 1;
	if (hash_find(&m->problems, text_of(problem)) != MARK_WHOLE)
		return 0;
	int added = db_batch_ready(&m->batch, err) ? -1 :
		store_finish_once(m->batch.store, m->device, problem, err);
	m->batch.now.finished += added > 0;
	return added < 0 ? -1 : 0;
}

static int merge_dims(void *context, const char *model_key, const char *json, int64_t at, struct error *err)
{
	struct merge *m = context;
	int64_t now = m->batch.began_s;
	if (interrupted)
		return 1;
	int added = db_batch_ready(&m->batch, err)
			    ? -1
			    : store_dims_merge(m->batch.store, model_key, json, at > now ? now : at, err);
	m->batch.now.dims += added > 0;
	return added < 0 ? -1 : 0;
}

static int merge_execution(void *context, const struct execution *e, struct error *err)
{
	struct merge *m = context;
	return interrupted ? 1 : db_batch_execution(&m->batch, e, err);
}

static void merge_execution_unusable(void *context, int64_t id, const char *fault)
{
	struct merge *m = context;
	struct error line = ERROR_NONE;
	error_set(&line, "%s: execution %" PRId64 " %s", m->path, id, fault);
	db_batch_leave_out(&m->batch, line.text);
}

/* Returns 0; -1: error; 1: interrupted. */
static int merge_all(struct merge *m, struct store *from, struct error *err)
{
	const struct store_walker walker = { m, merge_device, merge_result, merge_finished, merge_unusable };
	struct arena a = { 0 };
	struct device *devices;
	int64_t *ids;
	int count = 0, status = store_devices(from, &a, &devices, &ids, &count, err);
	for (int i = 0; i < count && !status; i++) {
		status = store_walk(from, ids[i], &walker, err);
		hash_free(&m->problems);
		arena_free(&m->arena);
	}
	if (!status)
		status = store_dims_walk(from, merge_dims, m, err);
	const struct executions_walker executions = { .context = m, .visit = merge_execution,
		.unusable = merge_execution_unusable };
	if (!status)
		status = store_executions_walk(from, &(struct executions_wanted){ .oldest_first = true },
			&executions, err);
	arena_free(&a);
	return status;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat one, other;
	return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
		one.st_ino == other.st_ino;
}

static int merge_file(struct merge *m, const char *path, struct error *err)
{
	if (is_same_file(path, store_path(m->batch.store)))
		return error_set(err, "%s is the database itself; give another file", path);
	struct error why = ERROR_NONE;
	struct store *from = store_open(path, true, &why);
	if (!from) { /* the file is no option, and bench does not fill it */
		static const char with[] = " with --db";
		char *option = strstr(why.text, with), *rest = option ? option + sizeof(with) - 1 : NULL;
		if (option)
			memmove(option, rest, strlen(rest) + 1);
		return error_set(err, "%s", why.text);
	}
	m->path = path;
	int status = merge_all(m, from, err);
	store_close(from);
	/* results before a read error are kept */
	struct error keeping = ERROR_NONE;
	if (db_batch_commit(&m->batch, &keeping)) {
		if (status >= 0)
			*err = keeping;
		return -1;
	}
	m->files += status == 0;
	return status < 0 ? -1 : 0;
}

static void merge_print(const struct merge *m)
{
	const struct db_counts *c = &m->batch.kept;
	if (m->batch.options->json) {
		report_json_line(
			json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:I, s:I}", "files", m->files,
				"results", (json_int_t)c->results, "added", (json_int_t)c->added, "already",
				(json_int_t)(c->results - c->added), "finished", (json_int_t)c->finished,
				"dims", (json_int_t)c->dims, "left_out", (json_int_t)m->batch.left_out,
				"interrupted", interrupted != 0, "executions", (json_int_t)c->executions,
				"executions_added", (json_int_t)c->executions_added),
			stdout);
		return;
	}
	if (m->batch.options->quiet)
		return;
	printf("%" PRId64 " results: %" PRId64 " added, %" PRId64 " known already; %" PRId64 " more problems "
		"complete",
		c->results, c->added, c->results - c->added, c->finished);
	if (c->dims)
		printf("; dimensions of %" PRId64 " models", c->dims);
	db_batch_print_executions(&m->batch);
	if (m->batch.left_out)
		printf("; %" PRId64 " results left out", m->batch.left_out);
	puts(interrupted ? "; interrupted, added results are kept" : "");
}

int db_merge(struct store *s, struct options *o, struct error *err)
{
	struct merge m = { .path = "" };
	int bad = 0;
	db_batch_start(&m.batch, s, o);
	for (int i = 0; i < o->argc && !bad && !interrupted; i++)
		bad = merge_file(&m, o->argv[i], err);
	bad = db_batch_end(&m.batch, bad, err);
	if (!bad || m.batch.kept.results || m.batch.kept.executions)
		merge_print(&m);
	return bad ? EXIT_BAD : m.batch.left_out || interrupted ? EXIT_GAPS : EXIT_DONE;
}
