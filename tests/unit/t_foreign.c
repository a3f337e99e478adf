/* SQLite files of other programs: what an export of a profiler looks like is read, and what a hostile file
 * tries is not. */
#include "config.h"

#include "store/store_foreign.h"
#include "store/store_private.h"
#include "store_help.h"

static struct error err;

/* Makes a file with other SQLite settings than those under test. */
static const char *make(const char *name, const char *sql)
{
	const char *path = scratch_path(name);
	char *why = NULL;
	sqlite3 *db;
	unlink(path);
	sqlite3_open(path, &db);
	if (sqlite3_exec(db, sql, NULL, NULL, &why))
		printf("# %s\n", why);
	sqlite3_free(why);
	sqlite3_close(db);
	return path;
}

static struct foreign *open_file(const char *path, const struct foreign_limits *limits)
{
	err.text[0] = '\0';
	struct foreign *f = foreign_open(path, limits, &err);
	if (!f)
		printf("# %s\n", err.text);
	return f;
}

/* Rows of a query; -1: it cannot be prepared, -2: it fails at a row. */
static int rows(struct foreign *f, const char *sql)
{
	err.text[0] = '\0';
	struct foreign_query *q = foreign_query(f, sql, NULL, 0, &err);
	int n = 0, got = q ? 1 : 0;
	while (q && (got = foreign_next(q, &err)) == 1)
		n++;
	foreign_query_free(q);
	return !q ? -1 : got < 0 ? -2 : n;
}

static void refused(struct foreign *f, const char *sql, const char *why)
{
	ok(rows(f, sql) < 0, "refused: %s", sql);
	has(err.text, why, why);
}

static void test_read(void)
{
	const char *path =
		make("kernels.sqlite", "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);"
				       "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, "
				       "demangledName INTEGER, share REAL, raw);"
				       "INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'conv');"
				       "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 30, 1, 0.5, "
				       "x'00ff'), (40, 45, 2, NULL, 'a' || char(0) || 'b');");
	struct foreign *f = open_file(path, NULL);
	ok(f != NULL, "an export opens");
	ok(foreign_has(f, "StringIds", NULL) && foreign_has(f, "StringIds", "value"),
		"a table and its column");
	ok(!foreign_has(f, "StringIds", "end") && !foreign_has(f, "NVTX_EVENTS", NULL), "others are absent");
	const struct foreign_value least[] = { { .type = FOREIGN_INT, .i = 4 },
		{ .type = FOREIGN_TEXT, .t = TEXT("%") } };
	struct foreign_query *q = foreign_query(f,
		"SELECT k.end - k.start, s.value, k.share, k.raw FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN "
		"StringIds s"
		" ON s.id = k.demangledName WHERE k.end - k.start > ? AND s.value LIKE ? ORDER BY k.start",
		least, 2, &err);
	ok(q && foreign_next(q, &err) == 1, "a row");
	struct foreign_value v = foreign_column(q, 0);
	ok(v.type == FOREIGN_INT && v.i == 20, "an integer");
	v = foreign_column(q, 1);
	ok(v.type == FOREIGN_TEXT && text_is(v.t, "gemm"), "a text");
	v = foreign_column(q, 2);
	ok(v.type == FOREIGN_REAL && v.r == 0.5, "a real");
	v = foreign_column(q, 3);
	ok(v.type == FOREIGN_BLOB && v.t.n == 2 && (unsigned char)v.t.p[1] == 0xff, "a blob");
	ok(foreign_column(q, 4).type == FOREIGN_NULL && foreign_column(q, -1).type == FOREIGN_NULL,
		"no such column");
	ok(foreign_next(q, &err) == 1 && foreign_column(q, 2).type == FOREIGN_NULL, "a null");
	v = foreign_column(q, 3);
	ok(v.type == FOREIGN_TEXT && v.t.n == 3 && v.t.p[2] == 'b', "a text with a NUL");
	is_int(foreign_next(q, &err), 0, "the end");
	foreign_query_free(q);
	ok(!foreign_query(f, "SELECT ?", NULL, 0, &err), "a value too few");
	has(err.text, "0 values for a statement with 1", "the reason");
	refused(f, "SELECT 1; SELECT 2", "not a single reading statement");
	refused(f, "", "not a single reading statement");
	refused(f, "SELECT * FROM absent", "no such table: absent");
	refused(f, "INSERT INTO StringIds VALUES (3, 'x')", "not authorized");
	refused(f, "DELETE FROM StringIds", "not authorized");
	refused(f, "CREATE TEMP TABLE t (a)", "not authorized");
	refused(f, "ATTACH '/tmp/x' AS x", "not authorized");
	refused(f, "PRAGMA writable_schema = ON", "not authorized");
	refused(f, "VACUUM INTO '/tmp/x'", "not a single reading statement");
	refused(f, "SELECT load_extension('/tmp/x')", "");
	refused(f, "SELECT * FROM pragma_table_list", "");
	foreign_close(f);
	struct stat st;
	ok(stat(scratch_path("kernels.sqlite-wal"), &st) && stat(scratch_path("kernels.sqlite-journal"), &st),
		"no file is made beside it");
	foreign_close(open_file(path, NULL));
	char doubled[600];
	snprintf(doubled, sizeof(doubled), "//%s", path);
	f = open_file(doubled, NULL);
	ok(f != NULL, "a path with slashes in front");
	foreign_close(f);
	f = open_file(make("a?mode=rw#%41.sqlite", "CREATE TABLE t (a)"), NULL);
	ok(f && foreign_has(f, "t", NULL), "a name with the characters of a URI");
	foreign_close(f);
}

/* Views, triggers, virtual tables and expressions of the schema. */
static void test_hostile(void)
{
	struct foreign *f = open_file(
		make("hostile.sqlite", "CREATE TABLE t (a, b AS (a + 1), c AS (upper(a)));"
				       "INSERT INTO t VALUES (1);"
				       "CREATE VIEW kernels AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
				       "SELECT i + 1 FROM n) SELECT i FROM n;"
				       "CREATE VIEW one AS SELECT a FROM t;"
				       "CREATE TRIGGER g INSTEAD OF INSERT ON one BEGIN DELETE FROM t; END;"
				       "CREATE VIRTUAL TABLE words USING fts5(x);"),
		NULL);
	ok(f != NULL, "a file with views and triggers opens");
	is_int(rows(f, "WITH RECURSIVE n(i) AS (SELECT a FROM t UNION ALL SELECT i + 1 FROM n WHERE i < 5) "
		       "SELECT * FROM n"),
		5, "a query may have tables of its own");
	is_int(rows(f, "SELECT a, b FROM t"), 1, "its tables are read");
	refused(f, "SELECT * FROM kernels", "cannot be read");
	refused(f, "SELECT * FROM one", "access to view \"one\" prohibited");
	refused(f, "INSERT INTO one VALUES (1)", "");
	refused(f, "SELECT * FROM words", "");
	ok(!foreign_has(f, "kernels", NULL), "a view is not a table");
	foreign_close(f);
}

static void test_limits(void)
{
	const char *path =
		make("large.sqlite", "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(100000)), ('x');"
				     "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i "
				     "< 3000) INSERT INTO t SELECT i FROM n;");
	static volatile sig_atomic_t stop = 0;
	struct foreign *f = open_file(
		path, &(struct foreign_limits){ .query_ms = 50, .cell_bytes = 50000, .stop = &stop });
	refused(f, "SELECT a FROM t", "a value has more than 50000 bytes");
	is_int(rows(f, "SELECT a FROM t WHERE typeof(a) = 'integer'"), 3000, "other rows are read");
	refused(f, "SELECT count(*) FROM t x, t y, t z, t w", "a query takes longer than 0.05 s");
	stop = 1;
	refused(f, "SELECT count(*) FROM t x, t y, t z", "interrupted");
	stop = 0;
	is_int(rows(f, "SELECT 1"), 1, "another query is not late");
	foreign_close(f);
	ok(!open_file(path, &(struct foreign_limits){ .file_bytes = 5000 }), "a file that is too large");
	has(err.text, "larger than 5000 bytes", "the reason");
}

static void test_files(void)
{
	ok(!open_file(scratch_path("none"), NULL), "no file");
	has(err.text, "No such file", "the reason");
	ok(!open_file(scratch, NULL), "a directory");
	has(err.text, "a directory, not a file", "the reason");
	ok(!open_file("/dev/zero", NULL), "a device");
	file_text(scratch_path("text"),
		"this is no database, but a text that is longer than the header of one: one hundred bytes");
	ok(!open_file(scratch_path("text"), NULL), "a text");
	has(err.text, "not an SQLite database", "the reason");
	file_text(scratch_path("empty"), "");
	ok(!open_file(scratch_path("empty"), NULL), "an empty file");
	const char *path = make("cut.sqlite", "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(100000));");
	ok(truncate(path, 20000) == 0, "a file that is cut");
	struct foreign *f = open_file(path, NULL);
	ok(!f || rows(f, "SELECT a FROM t") == -2, "is an error");
	has(err.text, "damaged", "the reason");
	foreign_close(f);
	path = make("busy.sqlite", "CREATE TABLE t (a)");
	file_text(scratch_path("busy.sqlite-wal"), "x");
	ok(!open_file(path, NULL), "a file that is being written");
	has(err.text, "another program still writes it", "the reason");
}

/* Random bytes in a sound file: an error or rows, never a crash. */
static void test_damaged(void)
{
	const char *path =
		make("damaged.sqlite", "CREATE TABLE t (a, b); CREATE INDEX i ON t (b);"
				       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE "
				       "i < 200) INSERT INTO t SELECT i, 'name ' || i FROM n;");
	static unsigned char bytes[1 << 16];
	FILE *file = fopen(path, "rb");
	size_t n = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
	if (file)
		fclose(file);
	uint32_t seed = 5;
	int read = 0, failed = 0;
	for (int round = 0; round < 300 && n; round++) {
		unsigned char copy[sizeof(bytes)];
		memcpy(copy, bytes, n);
		for (int i = 0; i < 8; i++) {
			seed = seed * 1664525 + 1013904223;
			copy[(seed >> 8) % (round % 2 ? n : 512)] = (unsigned char)seed;
		}
		file_write(scratch_path("damaged.sqlite"), (const char *)copy, n);
		struct foreign *f = foreign_open(
			scratch_path("damaged.sqlite"), &(struct foreign_limits){ .query_ms = 2000 }, &err);
		int got = f ? rows(f, "SELECT a, b FROM t ORDER BY b") : -1;
		read += got >= 0;
		failed += got < 0;
		foreign_close(f);
	}
	ok(read > 10 && failed > 10, "damaged files: %d are read, %d are errors", read, failed);
}

/* Columns that are computed when they are read: by whatever expression. */
static void test_computed(void)
{
	const char *path = make("computed.sqlite", "CREATE TABLE t (a INTEGER, b INTEGER AS (a + 1), "
		"c INTEGER GENERATED ALWAYS AS (a || 'x') VIRTUAL, d TEXT); INSERT INTO t (a) VALUES (1);");
	struct foreign *f = open_file(path, NULL);
	ok(f && foreign_has(f, "t", NULL), "a table with computed columns");
	ok(foreign_has(f, "t", "a") && foreign_has(f, "T", "D"), "its own columns");
	ok(!foreign_has(f, "t", "b") && !foreign_has(f, "t", "C"), "the others are not");
	is_int(rows(f, "SELECT a FROM t"), 1, "the rest is read");
	foreign_close(f);
}

int main(void)
{
	scratch_make();
	test_read();
	test_hostile();
	test_limits();
	test_files();
	test_damaged();
	test_computed();
	scratch_remove();
	return done_testing();
}
