/* Steps from each version of the schema to the next, in a transaction that one process at a time enters. */
#include "config.h"

#include "store/store_private.h"

#include "store/schema_sql.h"

#include <string.h>

/* The history of the schema. A new file gets version 2 from data/schema.sql, then the steps of every file of
 * that version. For a new version, add a row that converts the version before. Rows between released versions
 * never change. */
static const struct migrate_step migrate_steps[] = {
	{ 0, 2, schema_sql },
	{ 1, 2,
		"CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;"
		"ALTER TABLE result ADD COLUMN notes INTEGER REFERENCES note (id);"
		"ALTER TABLE result ADD COLUMN kernels INTEGER REFERENCES note (id);"
		"ALTER TABLE result ADD COLUMN enqueue_ns REAL;"
		"ALTER TABLE result ADD COLUMN clock_mhz REAL;"
		"DROP INDEX result_problem;"
		"CREATE INDEX result_key ON result (problem, identity, algorithm, measured_at)" },
	{ 2, 3, schema_3_sql },
	{ 3, 4, schema_4_sql },
};

char *migrate_trigger(const char *name)
{
	char *begin = sqlite3_mprintf("CREATE TRIGGER %s ", name), *sql = NULL;
	for (size_t i = 0; begin && !sql && i < sizeof(migrate_steps) / sizeof(migrate_steps[0]); i++) {
		const char *from = strstr(migrate_steps[i].sql, begin);
		const char *to = from ? strstr(from, "END;") : NULL;
		sql = to ? sqlite3_mprintf("%.*s", (int)(to - from) + 4, from) : NULL;
	}
	sqlite3_free(begin);
	return sql;
}

static int migrate_error(sqlite3 *db, const char *doing, struct error *err)
{
	return error_set(err, "cannot %s: %s", doing, sqlite3_errmsg(db));
}

/* Reads an integer of the file header: user_version or application_id. */
static int migrate_number(sqlite3 *db, const char *pragma, int *value, struct error *err)
{
	sqlite3_stmt *q = NULL;
	int rc = sqlite3_prepare_v2(db, pragma, -1, &q, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(q);
	if (rc == SQLITE_ROW)
		*value = sqlite3_column_int(q, 0);
	sqlite3_finalize(q);
	return rc == SQLITE_ROW ? 0 : migrate_error(db, "read the schema version", err);
}

static int migrate_set_version(sqlite3 *db, int version, struct error *err)
{
	char sql[96];
	snprintf(sql, sizeof(sql), "PRAGMA application_id = %d; PRAGMA user_version = %d",
		STORE_APPLICATION_ID, version);
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK
		       ? 0
		       : migrate_error(db, "set the schema version", err);
}

/* Runs steps from `version` to `target`; of several steps from one version the last row counts. */
static int migrate_steps_from(
	sqlite3 *db, const struct migrate_step *steps, int count, int version, int target, struct error *err)
{
	while (version < target) {
		const struct migrate_step *step = NULL;
		for (int i = 0; i < count; i++)
			if (steps[i].from == version && steps[i].to <= target)
				step = &steps[i];
		if (!step)
			return error_set(err, "no migration from schema version %d to %d", version, target);
		char doing[64];
		snprintf(
			doing, sizeof(doing), "migrate the schema from version %d to %d", version, step->to);
		if (sqlite3_exec(db, step->sql, NULL, NULL, NULL) != SQLITE_OK)
			return migrate_error(db, doing, err);
		version = step->to;
	}
	return migrate_set_version(db, target, err);
}

int migrate_run(sqlite3 *db, const struct migrate_step *steps, int count, int target, struct error *err)
{
	int version = 0;
	if (migrate_number(db, "PRAGMA user_version", &version, err))
		return -1;
	if (version == target)
		return version;
	/* read the version again inside the transaction: another process may have migrated the file */
	if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
		return migrate_error(db, "lock the file to migrate its schema", err);
	int rc = migrate_number(db, "PRAGMA user_version", &version, err);
	if (!rc && (version < 0 || version > target))
		rc = error_set(err, "schema version %d is newer than this benanza supports (%d)", version,
			target);
	if (!rc && version < target)
		rc = migrate_steps_from(db, steps, count, version, target, err);
	if (!rc && sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
		rc = migrate_error(db, "commit the migration of the schema", err);
	if (rc && !sqlite3_get_autocommit(db))
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return rc ? -1 : version;
}

int migrate(sqlite3 *db, struct error *err)
{
	int count = (int)(sizeof(migrate_steps) / sizeof(migrate_steps[0]));
	return migrate_run(db, migrate_steps, count, STORE_VERSION, err);
}
