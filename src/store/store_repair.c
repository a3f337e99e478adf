/* `db repair`: removes the rows that `db check` names. */
#include "config.h"

#include "store/store_private.h"

#include <stdlib.h>
#include <string.h>

#define PASSES_MOST 8 /* what a removed row referred to may be an orphan in the next pass */

struct named {
	const char *table;
	int64_t id;
};

struct repair {
	int count, capacity;
	struct named *rows;
};

static void note(void *context, const char *table, int64_t id)
{
	static const char *const tables[] = { "result", "problem", "algorithm", "note", "attributes",
		"finished", "execution", "execution_layer" };
	struct repair *r = context;
	for (size_t i = 0; table && i < sizeof(tables) / sizeof(*tables); i++)
		if (strcmp(table, tables[i]) == 0) {
			VEC_GROW(r->rows, r->count, r->capacity);
			r->rows[r->count++] = (struct named){ tables[i], id };
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

/* Drops the triggers that forbid changes and returns their SQL, malloc'd; NULL on errors. */
static char *triggers_drop(struct store *s, struct error *err)
{
	struct str all = { 0 }, drop = { 0 };
	sqlite3_stmt *q = NULL;
	static const char sql[] = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'";
	int rc = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL);
	str_puts(&all, "");
	str_puts(&drop, "");
	while (rc == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW) {
		char *name = sqlite3_mprintf("DROP TRIGGER \"%w\";", store_column_text(q, 0, ""));
		str_puts(&drop, name);
		str_addf(&all, "%s;\n", store_column_text(q, 1, ""));
		sqlite3_free(name);
	}
	sqlite3_finalize(q);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(s->db, drop.p, NULL, NULL, NULL);
	str_free(&drop);
	if (rc == SQLITE_OK)
		return all.p;
	str_free(&all);
	store_error(s, rc, "change it", err);
	return NULL;
}

int store_repair(struct store *s, int *removed, struct str *left, struct error *err)
{
	int found = -1, now = 1;
	*removed = 0;
	if (store_begin(s, err))
		return -1;
	char *triggers = triggers_drop(s, err);
	for (int pass = 0; triggers && now > 0 && pass < PASSES_MOST; pass++) {
		struct repair r = { 0 };
		str_clear(left);
		found = store_check_rows(s, left, note, &r, err);
		now = found > 0 ? remove_rows(s, &r, err) : found;
		*removed += now > 0 ? now : 0;
		free(r.rows);
	}
	bool good = triggers && found >= 0 && now >= 0;
	if (good && sqlite3_exec(s->db, triggers, NULL, NULL, NULL) != SQLITE_OK) {
		store_error(s, sqlite3_errcode(s->db), "change it", err);
		good = false;
	}
	free(triggers);
	return store_end(s, good, err) ? -1 : found;
}
