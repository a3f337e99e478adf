/* Makes the SQL of both tables from the tables of fields, whose keys are the columns. */
#include "config.h"

#include "store/executions.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "problem/execution_field.h"
#include "store/store_private.h"

/* The columns of a file of this schema version; NULL for those that it does not have. */
static void add_columns(struct str *sql, const struct store *s, const struct execution_field *f, int count)
{
	for (int i = 0; i < count; i++)
		str_addf(sql, "%s%s", i ? ", " : "", s->version < f[i].schema ? "NULL" : f[i].key);
}

/* "INSERT INTO table (first, key, key ...) VALUES (?1, ?2 ...)"; `first`: columns before those of the
 * fields. */
static sqlite3_stmt *prepare_insert(struct store *s, const char *table, const char *first, int firsts,
	const struct execution_field *f, int count, struct error *err)
{
	struct str sql = { 0 };
	str_addf(&sql, "INSERT INTO %s (%s", table, first);
	add_columns(&sql, s, f, count);
	str_puts(&sql, ") VALUES (");
	for (int i = 1; i <= firsts + count; i++)
		str_addf(&sql, "%s?%d", i > 1 ? ", " : "", i);
	str_puts(&sql, ")");
	sqlite3_stmt *q = store_prepare(s, sql.p, NULL, 0, err);
	str_free(&sql);
	return q;
}

static void bind_field(sqlite3_stmt *q, int column, const struct execution_field *f, const void *at)
{
	int64_t number = 0;
	switch (f->type) {
	case FIELD_TEXT:
	case FIELD_LONG:
	case FIELD_NAMES:
	case FIELD_OBJECT:
		store_bind_text(q, column, *(const char *const *)at);
		return;
	case FIELD_WORD:
		store_bind_text(q, column, f->name(*(const int *)at));
		return;
	case FIELD_NUMBER:
		store_bind_number(q, column, *(const double *)at);
		return;
	case FIELD_INT:
		number = *(const int *)at;
		break;
	case FIELD_INT64:
		number = *(const int64_t *)at;
		break;
	case FIELD_FLAG:
		sqlite3_bind_int(q, column, *(const bool *)at);
		return;
	}
	if (number == f->unknown)
		sqlite3_bind_null(q, column);
	else
		sqlite3_bind_int64(q, column, number);
}

static void bind_fields(
	sqlite3_stmt *q, int first, const void *of, const struct execution_field *f, int count)
{
	for (int i = 0; i < count; i++)
		bind_field(q, first + i, &f[i], (const char *)of + f[i].offset);
}

static int check(const struct store *s, const struct execution *e, struct error *err)
{
	const char *fault = execution_fault(e);
	if (fault)
		return error_set(err, "%s: an execution %s", s->path, fault);
	if (e->row_count > EXECUTION_ROWS_MAX)
		return error_set(err, "%s: an execution has more than %d rows", s->path, EXECUTION_ROWS_MAX);
	for (int i = 0; i < e->row_count; i++)
		if ((fault = execution_row_fault(&e->rows[i], i)))
			return error_set(err, "%s: row %d of an execution (%.200s) %s", s->path, i,
				e->rows[i].name, fault);
	return 0;
}

static int add_rows(struct store *s, int64_t id, const struct execution *e, struct error *err)
{
	int count;
	const struct execution_field *f = execution_row_fields(&count);
	sqlite3_stmt *q = prepare_insert(s, "execution_layer", "execution, position, ", 2, f, count, err);
	int bad = q ? 0 : -1;
	for (int i = 0; i < e->row_count && !bad; i++) {
		sqlite3_bind_int64(q, 1, id);
		sqlite3_bind_int(q, 2, i);
		bind_fields(q, 3, &e->rows[i], f, count);
		bad = store_step_id(s, q, err) < 0 ? -1 : 0;
	}
	sqlite3_finalize(q);
	return bad;
}

/* The fields that two copies of an execution share. The order of the keys in `settings` is not kept by an
 * export; load_ns and first_ns tell runs of other settings apart. */
static const char *const same_keys[] = { "source", "framework", "version", "provider", "device", "host",
	"threads", "dtype", "math", "model_hash", "inputs", "batch", "requests", "status", "why", "load_ns",
	"first_ns", "median_ns", "measured_at" };

/* Returns the id of an equal execution, 0 without one, -1 on errors. */
static int64_t find_same(struct store *s, const struct execution *e, struct error *err)
{
	const int keys = sizeof(same_keys) / sizeof(same_keys[0]);
	struct str sql = { 0 };
	int count;
	const struct execution_field *f = execution_fields(&count);
	str_puts(&sql, "SELECT id FROM execution WHERE ");
	for (int i = 0; i < keys; i++)
		str_addf(&sql, "%1$s" STORE_SAME("%2$s", "?%3$d"), i ? " AND " : "", same_keys[i], i + 1);
	sqlite3_stmt *q = store_prepare(s, sql.p, NULL, 0, err);
	str_free(&sql);
	if (!q)
		return -1;
	for (int i = 0; i < keys; i++)
		for (int k = 0; k < count; k++)
			if (strcmp(f[k].key, same_keys[i]) == 0)
				bind_field(q, i + 1, &f[k], (const char *)e + f[k].offset);
	int64_t id = store_step_id(s, q, err);
	sqlite3_finalize(q);
	return id;
}

static int64_t add_execution(struct store *s, const struct execution *e, struct error *err)
{
	int count;
	const struct execution_field *f = execution_fields(&count);
	sqlite3_stmt *q = prepare_insert(s, "execution", "", 0, f, count, err);
	if (!q)
		return -1;
	bind_fields(q, 1, e, f, count);
	int64_t id = store_step_id(s, q, err);
	sqlite3_finalize(q);
	return id > 0 && add_rows(s, id, e, err) == 0 ? id : -1;
}

static int add_how(struct store *s, const struct execution *e, bool once, struct error *err)
{
	if (check(s, e, err) || store_begin(s, err))
		return -1;
	int64_t there = once ? find_same(s, e, err) : 0;
	bool good = there > 0 || (there == 0 && add_execution(s, e, err) > 0);
	return store_end(s, good, err) ? -1 : !there;
}

int store_execution_add(struct store *s, const struct execution *e, struct error *err)
{
	return add_how(s, e, false, err) < 0 ? -1 : 0;
}

int store_execution_add_once(struct store *s, const struct execution *e, struct error *err)
{
	return add_how(s, e, true, err);
}

/* --- reading --- */

static const char *clean_names(struct arena *a, const char *names)
{
	char *out = arena_alloc(a, strlen(names) + 1);
	text_clean_lines_to(out, text_of(names));
	return out;
}

/* Returns what is wrong with the column, or NULL. */
static const char *read_field(sqlite3_stmt *q, int column, const struct execution_field *f, struct arena *a,
	void *at)
{
	bool is_null = sqlite3_column_type(q, column) == SQLITE_NULL;
	int64_t number = is_null ? f->unknown : sqlite3_column_int64(q, column);
	const char *text = store_column_text(q, column, "");
	int word;
	switch (f->type) {
	case FIELD_TEXT:
	case FIELD_LONG:
		*(const char **)at = text_clean(a, text_of(text));
		return NULL;
	case FIELD_NAMES:
		*(const char **)at = clean_names(a, text);
		return NULL;
	case FIELD_OBJECT:
		*(const char **)at = *text ? json_clean_object(a, text) : "";
		return NULL;
	case FIELD_NUMBER:
		*(double *)at = store_column_number(q, column);
		return NULL;
	case FIELD_FLAG:
		*(bool *)at = number == 1;
		return NULL;
	case FIELD_WORD:
		word = f->parse(text);
		*(int *)at = word < 0 ? 0 : word;
		return word < 0 ? "has an unknown status, stop or level" : NULL;
	case FIELD_INT:
	case FIELD_INT64:
		if (number < f->unknown || (f->type == FIELD_INT && number > INT32_MAX))
			return "has an integer out of range";
		if (f->type == FIELD_INT)
			*(int *)at = (int)number;
		else
			*(int64_t *)at = number;
		return NULL;
	}
	return NULL;
}

static const char *read_fields(sqlite3_stmt *q, int first, const struct execution_field *f, int count,
	struct arena *a, void *of)
{
	const char *fault = NULL;
	for (int i = 0; i < count && !fault; i++)
		fault = read_field(q, first + i, &f[i], a, (char *)of + f[i].offset);
	return fault;
}

struct reading {
	struct store *s;
	const struct executions_wanted *wanted;
	sqlite3_stmt *all, *rows;
};

static sqlite3_stmt *prepare_all(struct store *s, const struct executions_wanted *w, struct error *err)
{
	const char *const keys[] = { "model_hash", "device", "framework" };
	const char *const values[] = { w->model_hash, w->device, w->framework };
	const char *texts[3];
	struct str sql = { 0 };
	int count, given = 0;
	const struct execution_field *f = execution_fields(&count);
	str_puts(&sql, "SELECT id, ");
	add_columns(&sql, s, f, count);
	str_puts(&sql, " FROM execution");
	for (int i = 0; i < 3; i++)
		if (values[i]) {
			texts[given++] = values[i];
			str_addf(&sql, " %s %s = ?%d", given > 1 ? "AND" : "WHERE", keys[i], given);
		}
	str_puts(&sql, w->oldest_first ? " ORDER BY id" : " ORDER BY measured_at DESC, id DESC");
	if (w->most > 0)
		str_addf(&sql, " LIMIT %d", w->most);
	sqlite3_stmt *q = store_prepare(s, sql.p, texts, given, err);
	str_free(&sql);
	return q;
}

static sqlite3_stmt *prepare_rows(struct store *s, struct error *err)
{
	struct str sql = { 0 };
	int count;
	const struct execution_field *f = execution_row_fields(&count);
	str_puts(&sql, "SELECT position, ");
	add_columns(&sql, s, f, count);
	str_addf(&sql, " FROM execution_layer WHERE execution = ?1 ORDER BY position LIMIT %d",
		EXECUTION_ROWS_MAX + 1);
	sqlite3_stmt *q = store_prepare(s, sql.p, NULL, 0, err);
	str_free(&sql);
	return q;
}

/* Reads the rows of e. Sets *fault to the reason if a row is invalid. */
static int read_rows(struct reading *r, int64_t id, struct arena *a, struct execution *e, const char **fault,
	struct error *err)
{
	int count, capacity = 0, rc = SQLITE_DONE;
	const struct execution_field *f = execution_row_fields(&count);
	sqlite3_reset(r->rows);
	sqlite3_bind_int64(r->rows, 1, id);
	while (!*fault && (rc = sqlite3_step(r->rows)) == SQLITE_ROW) {
		int index = e->row_count;
		struct execution_row *row = execution_add(a, e, &capacity);
		if (sqlite3_column_int64(r->rows, 0) != index || index >= EXECUTION_ROWS_MAX)
			*fault = "has rows that are missing or too many";
		if (!*fault)
			*fault = read_fields(r->rows, 1, f, count, a, row);
		if (!*fault)
			*fault = execution_row_fault(row, index);
	}
	sqlite3_reset(r->rows);
	return *fault || rc == SQLITE_DONE ? 0 : store_error(r->s, rc, "read executions", err);
}

/* Reads the current row of r->all. Sets *fault to the reason if it is invalid, *wanted to false if w does not
 * want it. */
static int read_one(struct reading *r, const struct executions_walker *w, struct arena *a,
	struct execution *e, const char **fault, bool *wanted, struct error *err)
{
	int count;
	const struct execution_field *f = execution_fields(&count);
	*e = execution_new();
	*fault = read_fields(r->all, 1, f, count, a, e);
	if (!*fault)
		*fault = execution_fault(e);
	*wanted = !*fault && (!w->wants || w->wants(w->context, e));
	if (!*wanted || r->wanted->without_rows)
		return 0;
	return read_rows(r, sqlite3_column_int64(r->all, 0), a, e, fault, err);
}

int store_executions_walk(struct store *s, const struct executions_wanted *wanted,
	const struct executions_walker *w, struct error *err)
{
	if (s->version < 3)
		return 0;
	struct reading r = { .s = s, .wanted = wanted };
	r.all = prepare_all(s, wanted, err);
	r.rows = r.all ? prepare_rows(s, err) : NULL;
	int status = r.rows ? 0 : -1, rc = SQLITE_DONE;
	while (!status && (rc = sqlite3_step(r.all)) == SQLITE_ROW) {
		struct arena a = { 0 };
		struct execution e;
		const char *fault = NULL;
		bool want = false;
		int64_t id = sqlite3_column_int64(r.all, 0);
		status = read_one(&r, w, &a, &e, &fault, &want, err);
		if (!status && want && !fault)
			status = w->visit(w->context, &e, err);
		if (fault)
			log_line("%s: execution %" PRId64 " %s: it is ignored", s->path, id, fault);
		if (fault && w->unusable)
			w->unusable(w->context, id, fault);
		arena_free(&a);
	}
	sqlite3_finalize(r.all);
	sqlite3_finalize(r.rows);
	return status || rc == SQLITE_DONE ? status : store_error(s, rc, "read executions", err);
}

struct loading {
	struct arena *arena;
	struct execution *list;
	int count, capacity;
};

static int load_one(void *context, const struct execution *e, struct error *err)
{
	struct loading *l = context;
	(void)err;
	VEC_GROW(l->list, l->count, l->capacity);
	l->list[l->count++] = execution_copy(l->arena, e);
	return 0;
}

int store_executions_load(struct store *s, const struct executions_wanted *wanted, struct arena *a,
	struct execution **list, int *count, struct error *err)
{
	struct loading l = { .arena = a };
	const struct executions_walker w = { .context = &l, .visit = load_one };
	int bad = store_executions_walk(s, wanted, &w, err);
	*count = bad ? 0 : l.count;
	*list = ARENA_ARRAY(a, struct execution, l.count + 1);
	for (int i = 0; i < *count; i++)
		(*list)[i] = l.list[i];
	free(l.list);
	return bad;
}
