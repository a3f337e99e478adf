/* SQL on a database, behind the store's back. */
#ifndef STORE_SQL_H
#define STORE_SQL_H

#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>

__attribute__((unused)) static void plant(const char *path, const char *sql)
{
	sqlite3 *db;
	char *why = NULL;
	if (sqlite3_open(path, &db) || sqlite3_exec(db, sql, NULL, NULL, &why))
		printf("# plant: %s\n", why ? why : sqlite3_errmsg(db));
	sqlite3_free(why);
	sqlite3_close(db);
}

__attribute__((unused)) static int64_t ask(const char *path, const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *q = NULL;
	int64_t value = -999;
	if (!sqlite3_open(path, &db) && !sqlite3_prepare_v2(db, sql, -1, &q, NULL) &&
		sqlite3_step(q) == SQLITE_ROW)
		value = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	sqlite3_close(db);
	return value;
}

#endif
