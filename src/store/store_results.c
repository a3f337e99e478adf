/* Writes results to the file and reads them. */
#include "config.h"

#include "store/store_private.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/log.h"

/* Returns the id of a text's row, adding it if it is new; 0 if the text is empty, -1 on errors. */
static int64_t store_note(struct store *s, const char *text, struct error *err)
{
	return text && text[0] ? store_id_of(s, STATEMENT_NOTE_FIND, STATEMENT_NOTE_ADD, &text, 1, err) : 0;
}

/* Binds the first 25 columns of a result. ids: identity, attributes, problem, algorithm. */
static void store_bind_result(sqlite3_stmt *q, const int64_t *ids, const struct result *r)
{
	const struct sample_stats *t = &r->stats;
	bool measured = r->status == STATUS_OK; /* otherwise the statistics have no meaning */
	const double numbers[] = { t->min, t->q1, t->median, t->q3, t->mean, t->stdev, t->lo, t->hi };
	for (int i = 0; i < 4; i++)
		sqlite3_bind_int64(q, 1 + i, ids[i]);
	store_bind_text(q, 5, status_name(r->status));
	store_bind_text(q, 6, cache_name(r->cache));
	store_bind_text(q, 7, launch_name(r->launch));
	sqlite3_bind_int(q, 8, r->algorithm.rank);
	store_bind_text(q, 9, matrix_name(r->algorithm.matrix));
	store_bind_number(q, 10, r->algorithm.workspace_bytes);
	sqlite3_bind_int64(q, 11, measured ? t->n : 0);
	sqlite3_bind_int64(q, 12, t->discarded);
	sqlite3_bind_int64(q, 13, measured ? t->executions : 0);
	for (int i = 0; i < 8; i++)
		store_bind_number(q, 14 + i, measured ? numbers[i] : NAN);
	store_bind_text(q, 22, stop_name(t->stop));
	store_bind_text(q, 23, r->why);
	store_bind_text(q, 24, r->runner_version);
	sqlite3_bind_int64(q, 25, r->measured_at);
}

static int store_add_row(struct store *s, const int64_t *ids, const struct result *r, struct error *err)
{
	int64_t notes[2];
	const char *const texts[2] = { r->algorithm.notes, r->kernels };
	for (int i = 0; i < 2; i++)
		if ((notes[i] = store_note(s, texts[i], err)) < 0)
			return -1;
	sqlite3_stmt *q = store_statement(s, STATEMENT_RESULT_ADD, err);
	if (!q)
		return -1;
	store_bind_result(q, ids, r);
	for (int i = 0; i < 2; i++)
		if (notes[i])
			sqlite3_bind_int64(q, 26 + i, notes[i]);
	/* 0 means unknown for these */
	store_bind_number(q, 28, r->enqueue_ns > 0 ? r->enqueue_ns : NAN);
	store_bind_number(q, 29, r->clock_mhz > 0 ? r->clock_mhz : NAN);
	const double cost[] = { r->stats.p10, r->stats.p10_lo, r->stats.p10_hi, r->stats.spent };
	bool measured = r->status == STATUS_OK;
	for (int i = 0; i < 4; i++)
		store_bind_number(q, 30 + i, measured && cost[i] > 0 ? cost[i] : NAN);
	if (measured && r->sketch && *r->sketch)
		store_bind_text(q, 34, r->sketch);
	return store_step_id(s, q, err) > 0 ? 0 : -1;
}

/* Returns 1 if the row exists, 0 if not, -1 on errors. */
static int store_has_row(struct store *s, const int64_t *ids, const struct result *r, struct error *err)
{
	sqlite3_stmt *q = store_statement(s, STATEMENT_RESULT_SAME, err);
	if (!q)
		return -1;
	store_bind_result(q, ids, r);
	int64_t id = store_step_id(s, q, err);
	return id < 0 ? -1 : id > 0;
}

/* once: does not add a row that exists. Returns 1 if the row was added, 0 if it existed, -1 on errors. */
static int store_add_how(struct store *s, int64_t device, const struct result *r, bool once,
	struct error *err)
{
	if (!r->problem || !r->problem[0] || strlen(r->problem) >= PROBLEM_TEXT_SIZE)
		return error_set(err, "%s: the problem text of a result is empty or too long", s->path);
	const char *fault = store_result_fault(r);
	if (fault)
		return error_set(
			err, "%s: a result of %.80s %s: it is not added", s->path, r->problem, fault);
	if (store_begin(s, err))
		return -1;
	const char *const algorithm[] = { r->algorithm.api, r->algorithm.name, r->algorithm.layouts,
		r->algorithm.math };
	int64_t ids[4] = { device, store_attributes_of(s, device, err), -1, -1 };
	if (ids[1] > 0)
		ids[2] = store_id_of(s, STATEMENT_PROBLEM_FIND, STATEMENT_PROBLEM_ADD, &r->problem, 1, err);
	if (ids[2] > 0)
		ids[3] = store_id_of(s, STATEMENT_ALGORITHM_FIND, STATEMENT_ALGORITHM_ADD, algorithm, 4, err);
	int there = ids[3] <= 0 ? -1 : once ? store_has_row(s, ids, r, err) : 0;
	bool good = there == 1 || (there == 0 && store_add_row(s, ids, r, err) == 0);
	return store_end(s, good, err) ? -1 : !there;
}

int store_add(struct store *s, int64_t device, const struct result *r, struct error *err)
{
	return store_add_how(s, device, r, false, err) < 0 ? -1 : 0;
}

int store_add_once(struct store *s, int64_t device, const struct result *r, struct error *err)
{
	return store_add_how(s, device, r, true, err);
}

/* Another program or an older version may have stored control characters: they are cleaned on reading, as
 * wire_parse cleans on arrival. */
static void store_clean_texts(struct store *s, struct result *r)
{
	const char **texts[] = { &r->problem, &r->algorithm.api, &r->algorithm.name, &r->algorithm.layouts,
		&r->algorithm.math, &r->algorithm.notes, &r->why, &r->runner_version, &r->sketch };
	arena_clear(&s->row);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (*texts[i] && !text_is_clean(text_of(*texts[i])))
			*texts[i] = text_clean(&s->row, text_of(*texts[i]));
	if (!text_is_clean(text_of(r->kernels))) {
		char *lines = arena_alloc(&s->row, strlen(r->kernels) + 1);
		text_clean_lines_to(lines, text_of(r->kernels));
		r->kernels = lines;
	}
}

/* Reads a result from a row; its strings are valid until the next step. Returns what is wrong with it, or
 * NULL. */
static const char *store_result_from_row(struct store *s, sqlite3_stmt *q, struct result *r)
{
	int status = status_parse(store_column_text(q, 6, "")),
	    cache = cache_parse(store_column_text(q, 7, ""));
	int launch = launch_parse(store_column_text(q, 8, "")),
	    matrix = matrix_parse(store_column_text(q, 10, ""));
	int stop = stop_parse(store_column_text(q, 23, ""));
	*r = (struct result){
		.problem = store_column_text(q, 1, NULL),
		.algorithm = { .api = store_column_text(q, 2, ""),
			.name = store_column_text(q, 3, NULL),
			.layouts = store_column_text(q, 4, ""),
			.math = store_column_text(q, 5, ""),
			.rank = sqlite3_column_int(q, 9),
			.matrix = matrix < 0 ? MATRIX_UNKNOWN : (enum matrix)matrix,
			.workspace_bytes = store_column_number(q, 11),
			.notes = store_column_text(q, 27, "") },
		.stats = { .n = sqlite3_column_int64(q, 12),
			.discarded = sqlite3_column_int64(q, 13),
			.executions = sqlite3_column_int64(q, 14),
			.min = store_column_number(q, 15),
			.q1 = store_column_number(q, 16),
			.median = store_column_number(q, 17),
			.q3 = store_column_number(q, 18),
			.mean = store_column_number(q, 19),
			.stdev = store_column_number(q, 20),
			.lo = store_column_number(q, 21),
			.hi = store_column_number(q, 22),
			.p10 = store_column_number(q, 31),
			.p10_lo = store_column_number(q, 32),
			.p10_hi = store_column_number(q, 33),
			.spent = store_column_number(q, 34),
			.stop = stop < 0 ? STOP_NONE : (enum stop)stop },
		.why = store_column_text(q, 24, ""),
		.runner_version = store_column_text(q, 25, ""),
		.measured_at = sqlite3_column_int64(q, 26),
		.kernels = store_column_text(q, 28, ""),
		.enqueue_ns = store_column_number(q, 29),
		.clock_mhz = store_column_number(q, 30),
		.sketch = store_column_text(q, 35, ""),
		.rotated_bytes = NAN,
	};
	if (!r->problem || !r->algorithm.name || status < 0 || cache < 0 || launch < 0)
		return "has an invalid text or an unknown status, cache or launch";
	store_clean_texts(s, r);
	r->status = (enum status)status;
	r->cache = (enum cache)cache;
	r->launch = (enum launch)launch;
	return store_result_fault(r);
}

static int store_load_results(
	struct store *s, int64_t device, int64_t *cursor, struct results *r, struct error *err)
{
	sqlite3_stmt *q = store_statement(s, STATEMENT_RESULT_LOAD, err);
	if (!q)
		return -1;
	sqlite3_bind_int64(q, 1, device);
	sqlite3_bind_int64(q, 2, *cursor);
	int rc;
	while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
		struct result one;
		*cursor = sqlite3_column_int64(q, 0);
		const char *fault = store_result_from_row(s, q, &one);
		if (fault)
			log_line("%s: result %lld %s: it is ignored", s->path, (long long)*cursor, fault);
		else
			results_add(r, &one);
	}
	sqlite3_reset(q);
	return rc == SQLITE_DONE ? 0 : store_error(s, rc, "read results", err);
}

static int store_load_finished(
	struct store *s, int64_t device, int64_t since, struct results *r, struct error *err)
{
	sqlite3_stmt *q = store_statement(s, STATEMENT_FINISHED_LOAD, err);
	if (!q)
		return -1;
	sqlite3_bind_int64(q, 1, device);
	sqlite3_bind_int64(q, 2, since);
	int rc;
	while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
		const char *problem = store_column_text(q, 0, NULL);
		if (problem)
			results_finish(r, problem);
	}
	sqlite3_reset(q);
	return rc == SQLITE_DONE ? 0 : store_error(s, rc, "read finished problems", err);
}

int store_load_since(struct store *s, int64_t device, int64_t *cursor, struct results *r, struct error *err)
{
	int64_t since = *cursor;
	/* one transaction, so that the results of all finished problems are visible */
	if (store_run(s, STATEMENT_BEGIN_READ, err))
		return -1;
	int rc = store_load_results(s, device, cursor, r, err);
	if (!rc)
		rc = store_load_finished(s, device, since, r, err);
	store_run(s, STATEMENT_COMMIT, NULL);
	return rc;
}

/* Returns 1 if the row was written, 0 if not, -1 on errors. */
static int store_finish_how(
	struct store *s, enum store_statement how, int64_t device, const char *problem, struct error *err)
{
	if (store_begin(s, err))
		return -1;
	int64_t id = store_id_of(s, STATEMENT_PROBLEM_FIND, STATEMENT_PROBLEM_ADD, &problem, 1, err);
	sqlite3_stmt *q = id > 0 ? store_statement(s, how, err) : NULL;
	if (q) {
		sqlite3_bind_int64(q, 1, device);
		sqlite3_bind_int64(q, 2, id);
		sqlite3_bind_int64(q, 3, (int64_t)time(NULL));
	}
	bool good = q && store_step_id(s, q, err) >= 0;
	int written = good && sqlite3_changes(s->db) > 0;
	return store_end(s, good, err) ? -1 : written;
}

int store_finish(struct store *s, int64_t device, const char *problem, struct error *err)
{
	return store_finish_how(s, STATEMENT_FINISH, device, problem, err) < 0 ? -1 : 0;
}

int store_finish_once(struct store *s, int64_t device, const char *problem, struct error *err)
{
	return store_finish_how(s, STATEMENT_FINISH_ONCE, device, problem, err);
}

int store_load(struct store *s, int64_t device, struct results *r, struct error *err)
{
	int64_t cursor = 0;
	return store_load_since(s, device, &cursor, r, err);
}

/* Calls w->device with the device of an attributes row. */
static int store_walk_device(struct store *s, int64_t attributes, const struct store_walker *w,
	struct error *err)
{
	struct arena a = { 0 };
	struct device d;
	sqlite3_stmt *q = store_prepare(s,
		"SELECT i.id, i.model, i.stack, t.name, t.runner, t.version, t.host, t.json, t.threads, "
		"t.llc_bytes,"
		" t.has_matrix, t.first_seen, t.last_seen FROM attributes t JOIN identity i ON i.id = "
		"t.identity WHERE t.id = ?1",
		NULL, 0, err);
	if (!q)
		return -1;
	sqlite3_bind_int64(q, 1, attributes);
	int rc = sqlite3_step(q), status = 0;
	if (rc == SQLITE_ROW) {
		store_device_from_row(q, &a, &d);
		struct store_seen seen = { sqlite3_column_int64(q, 11), sqlite3_column_int64(q, 12) };
		status = w->device(w->context, &d, seen, err);
	} else {
		status = rc == SQLITE_DONE ? error_set(err, "%s: damaged: see `benanza db check`", s->path)
					   : store_error(s, rc, "read devices", err);
	}
	sqlite3_finalize(q);
	arena_free(&a);
	return status;
}

static int store_walk_results(struct store *s, int64_t device, const struct store_walker *w,
	struct error *err)
{
	sqlite3_stmt *q = store_statement(s, STATEMENT_RESULT_WALK, err);
	if (!q)
		return -1;
	sqlite3_bind_int64(q, 1, device);
	int64_t attributes = -1;
	int rc = SQLITE_DONE, status = 0;
	while (!status && (rc = sqlite3_step(q)) == SQLITE_ROW) {
		struct result one;
		int64_t row = sqlite3_column_int64(q, 0);
		const char *fault = store_result_from_row(s, q, &one);
		if (fault) {
			log_line("%s: result %lld %s: it is ignored", s->path, (long long)row, fault);
			if (w->unusable)
				w->unusable(w->context, row, one.problem ? one.problem : "", fault);
			continue;
		}
		if (sqlite3_column_int64(q, 36) != attributes) {
			attributes = sqlite3_column_int64(q, 36);
			status = store_walk_device(s, attributes, w, err);
		}
		if (!status)
			status = w->result(w->context, &one, err);
	}
	sqlite3_reset(q);
	return status || rc == SQLITE_DONE ? status : store_error(s, rc, "read results", err);
}

static int store_walk_finished(struct store *s, int64_t device, const struct store_walker *w,
	struct error *err)
{
	sqlite3_stmt *q = w->finished ? store_statement(s, STATEMENT_FINISHED_LOAD, err) : NULL;
	if (!q)
		return w->finished ? -1 : 0;
	sqlite3_bind_int64(q, 1, device);
	sqlite3_bind_int64(q, 2, 0);
	int rc = SQLITE_DONE, status = 0;
	while (!status && (rc = sqlite3_step(q)) == SQLITE_ROW) {
		const char *problem = store_column_text(q, 0, NULL);
		if (problem)
			status = w->finished(w->context, problem, err);
	}
	sqlite3_reset(q);
	return status || rc == SQLITE_DONE ? status : store_error(s, rc, "read finished problems", err);
}

int store_walk(struct store *s, int64_t device, const struct store_walker *w, struct error *err)
{
	if (store_run(s, STATEMENT_BEGIN_READ, err)) /* a snapshot */
		return -1;
	int status = store_walk_results(s, device, w, err);
	if (!status)
		status = store_walk_finished(s, device, w, err);
	store_run(s, STATEMENT_COMMIT, NULL);
	return status;
}
