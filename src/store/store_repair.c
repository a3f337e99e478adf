/* `db repair`: removes the rows that `db check` names. */
#include "config.h"

#include "store/store_private.h"

#include <stdlib.h>
#include <string.h>

#define LINES_MOST 100 /* of a table: a damaged file could have millions */
#define PASSES_MOST 8 /* what a removed row referred to may be an orphan in the next pass */

struct named {
	const char *table;
	int64_t id;
};

static const char *const tables[] = { "result", "problem", "algorithm", "note", "attributes", "finished",
	"execution", "execution_layer", "attributes_json", "model_dims" };
#define TABLES (sizeof(tables) / sizeof(*tables))

struct repair {
	int count, capacity;
	struct named *rows;
	struct str *done;   /* a line a row */
	int listed[TABLES]; /* rows; lines are at most LINES_MOST */
};

static void note(void *context, const char *table, int64_t id, struct text why)
{
	struct repair *r = context;
	for (size_t i = 0; table && i < TABLES; i++)
		if (strcmp(table, tables[i]) == 0) {
			VEC_GROW(r->rows, r->count, r->capacity);
			r->rows[r->count++] = (struct named){ tables[i], id };
			if (r->listed[i]++ >= LINES_MOST)
				continue;
			str_puts(r->done, strcmp(table, "attributes_json") ? "removed  " : "emptied  ");
			str_add_clean(r->done, why);
			str_puts(r->done, "\n");
		}
}

/* What is removed for a row of a table. A problem that has lost a result is not complete any more, so that
 * bench measures it again. A table without ids loses every row that refers to a missing one. */
static const struct {
	const char *table, *sql;
} removals[] = {
	{ "result", "DELETE FROM finished WHERE (identity, problem) IN "
		"(SELECT identity, problem FROM result WHERE id = ?1)" },
	{ "result", "DELETE FROM result WHERE id = ?1" },
	{ "problem", "DELETE FROM finished WHERE problem = ?1" },
	{ "problem", "DELETE FROM result WHERE problem = ?1" },
	{ "problem", "DELETE FROM problem WHERE id = ?1" },
	{ "algorithm", "DELETE FROM algorithm WHERE id = ?1" },
	{ "note", "DELETE FROM note WHERE id = ?1" },
	{ "attributes", "DELETE FROM result WHERE attributes = ?1" },
	{ "attributes", "DELETE FROM attributes WHERE id = ?1" },
	{ "attributes_json", "UPDATE attributes SET json = '{}' WHERE id = ?1" },
	{ "model_dims", "DELETE FROM model_dims WHERE rowid = ?1" },
	{ "finished", "DELETE FROM finished WHERE identity NOT IN (SELECT id FROM identity) "
		"OR problem NOT IN (SELECT id FROM problem)" },
	{ "execution", "DELETE FROM execution_layer WHERE execution = ?1" },
	{ "execution", "DELETE FROM execution WHERE id = ?1" },
	{ "execution_layer", "DELETE FROM execution_layer WHERE execution NOT IN "
		"(SELECT id FROM execution)" },
};

#define REMOVALS (sizeof(removals) / sizeof(*removals))

static int remove_rows(struct store *s, const struct repair *r, struct error *err)
{
	int removed = 0, rc = SQLITE_OK;
	for (size_t k = 0; k < REMOVALS && rc == SQLITE_OK; k++) {
		sqlite3_stmt *q = NULL;
		for (int i = 0; i < r->count && rc == SQLITE_OK; i++) {
			if (strcmp(r->rows[i].table, removals[k].table) != 0)
				continue;
			rc = q ? SQLITE_OK : sqlite3_prepare_v2(s->db, removals[k].sql, -1, &q, NULL);
			if (rc == SQLITE_OK && sqlite3_bind_parameter_count(q))
				sqlite3_bind_int64(q, 1, r->rows[i].id);
			rc = rc == SQLITE_OK && sqlite3_step(q) != SQLITE_DONE ? sqlite3_reset(q) : rc;
			if (rc == SQLITE_OK)
				removed += sqlite3_changes(s->db);
			sqlite3_reset(q);
		}
		sqlite3_finalize(q);
	}
	return rc == SQLITE_OK ? removed : store_error(s, rc, "remove rows", err);
}

/* Drops the triggers that forbid to delete, or makes them again: with the SQL of this program, since the
 * file's may be anything. */
static int guards_set(struct store *s, bool on, struct error *err)
{
	static const char *const names[] = { "result_no_delete", "execution_no_delete",
		"execution_layer_no_delete" };
	int rc = SQLITE_OK;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && rc == SQLITE_OK; i++) {
		char *sql = on ? migrate_trigger(names[i]) :
			sqlite3_mprintf("DROP TRIGGER IF EXISTS %s", names[i]);
		rc = sql ? sqlite3_exec(s->db, sql, NULL, NULL, NULL) : SQLITE_ERROR;
		sqlite3_free(sql);
	}
	return rc == SQLITE_OK ? 0 : store_error(s, rc, "change it", err);
}

/* A deletion would run the triggers of another program. */
static int triggers_check(struct store *s, struct error *err)
{
	sqlite3_stmt *q = NULL;
	static const char sql[] = "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name NOT IN ("
		"'result_no_update', 'result_no_delete', 'execution_no_update', 'execution_no_delete', "
		"'execution_layer_no_update', 'execution_layer_no_delete')";
	int rc = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL);
	bool other = rc == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW;
	struct arena a = { 0 };
	int bad = rc != SQLITE_OK ? store_error(s, rc, "read its schema", err) : !other ? 0 :
		error_set(err, "%s has a trigger of another program, %.40s: remove it, then repair again",
			s->path, text_clean(&a, text_of(store_column_text(q, 0, ""))));
	arena_free(&a);
	sqlite3_finalize(q);
	return bad;
}

int store_repair(struct store *s, int *removed, struct str *done, struct str *left, struct error *err)
{
	int found = -1, now = 1;
	struct repair r = { .done = done };
	bool open = false; /* results can be deleted */
	*removed = 0;
	if (triggers_check(s, err) || store_begin(s, err))
		return -1;
	for (int pass = 0; now > 0 && pass < PASSES_MOST; pass++) {
		size_t said = done->n;
		r.count = 0;
		str_clear(left);
		found = store_check_rows(s, left, note, &r, err);
		if (found > 0 && r.count && !open) {
			open = guards_set(s, false, err) == 0;
			now = open ? now : -1;
		}
		now = now < 0 || found < 0 ? -1 : found > 0 ? remove_rows(s, &r, err) : 0;
		*removed += now > 0 ? now : 0;
		if (now <= 0 && done->n > said)
			done->p[done->n = said] = '\0';
	}
	free(r.rows);
	for (size_t i = 0; i < TABLES; i++)
		if (r.listed[i] > LINES_MOST)
			str_addf(done, "... and %d more of %s\n", r.listed[i] - LINES_MOST, tables[i]);
	bool good = found >= 0 && now >= 0 && (!open || guards_set(s, true, err) == 0);
	return store_end(s, good, err) ? -1 : found;
}
