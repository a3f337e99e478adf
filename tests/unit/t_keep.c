/* Results that the file cannot take at the moment: they wait, in order, and get there once. */
#include "config.h"

#include "store/store_private.h"

#include <errno.h>
#include <sys/wait.h>

#include "store_open.h"

static sqlite3 *other_open(const char *name)
{
	sqlite3 *db = NULL;
	if (sqlite3_open(scratch_path(name), &db))
		printf("# %s\n", sqlite3_errmsg(db));
	return db;
}

static int64_t ask(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *q = NULL;
	int64_t value = -999;
	if (!sqlite3_prepare_v2(db, sql, -1, &q, NULL) && sqlite3_step(q) == SQLITE_ROW)
		value = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	return value;
}

static void sound(struct store *s, const char *what)
{
	struct str out = { 0 };
	is_int(store_check(s, &out, &err), 0, "%s: sound", what);
	if (out.n)
		printf("# %s\n", out.p);
	str_free(&out);
}

/* Another connection has the file locked: as another program would, but of the own process, so that nobody
 * can be named. */
static void test_locked(const char *how)
{
	struct store *s = open_new("locked.db");
	sqlite3 *other = other_open("locked.db");
	struct result one = help_result(RELU, "a", 10);
	is_int(store_keep(s, &help_device, &one, &err), 0, "%s: kept at once", how);
	is_int(sqlite3_exec(other, how, NULL, NULL, NULL), 0, "%s: locked", how);
	char name[16] = "b";
	one.algorithm.name = name;
	is_int(store_keep(s, &help_device, &one, &err), 1, "%s: waits", how);
	has(err.text, "keeps it locked", "the error has the reason");
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "c%d", i); /* what waits is a copy */
		one.measured_at++;
		if (store_keep(s, &help_device, &one, &err) != 1)
			ok(false, "result %d waits", i);
	}
	is_int(store_keep_finish(s, &help_device, RELU, &err), 1,
		"a finished problem is queued behind the results");
	is_int(store_waiting(s).results, 1001, "only results are counted");
	is_int(store_keep_retry(s, true), 1001, "the file is still locked");
	has(store_waiting(s).why, "keeps it locked", "the reason is the same");
	is_int(ask(other, "SELECT count(*) FROM result"), 1, "nothing was added");
	is_int(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), 0, "the lock is released");
	is_int(store_keep_retry(s, false), 1001, "no retry before its time");
	is_int(store_keep_retry(s, true), 0, "all results are written");
	is_int(store_keep_retry(s, true), 0, "nothing is queued");
	is_int(ask(other, "SELECT count(*) FROM result"), 1002, "each once");
	is_int(ask(other,
		       "SELECT count(*) FROM (SELECT r.id, a.name, lag(r.measured_at) OVER (ORDER BY r.id) "
		       "AS before, measured_at"
		       " FROM result r JOIN algorithm a ON a.id = r.algorithm) WHERE before > measured_at"),
		0, "in order");
	is_int(ask(other, "SELECT count(*) FROM algorithm WHERE name IN ('a', 'b', 'c0', 'c999')"), 4,
		"as they were");
	is_int(ask(other, "SELECT count(*) FROM finished"), 1, "and the end");
	is_int(store_waiting(s).lost, 0, "nothing is lost");
	is_int(store_keep(s, &help_device, &one, &err), 0, "and at once again");
	sqlite3_close(other);
	sound(s, how);
	store_close(s);
}

static void test_new_device(void)
{
	struct store *s = open_new("device.db");
	sqlite3 *other = other_open("device.db");
	struct device two = help_device;
	struct result one = help_result(RELU, "a", 10);
	two.model = "Another CPU";
	sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	is_int(store_keep(s, &help_device, &one, &err), 1, "a result of a new device is queued");
	is_int(store_keep(s, &two, &one, &err), 1, "a result of a second new device is queued");
	sqlite3_exec(other, "COMMIT", NULL, NULL, NULL);
	is_int(store_keep_retry(s, true), 0, "both are kept");
	is_int(ask(other, "SELECT count(*) FROM result r JOIN identity i ON i.id = r.identity GROUP BY i.id"),
		1, "each its own");
	is_int(ask(other, "SELECT count(*) FROM identity"), 2, "device");
	sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	store_keep(s, &help_device, &one, &err);
	store_close(s);
	ok(true, "store_close drops queued results");
	sqlite3_close(other);
}

/* One that is refused does not hold up what waits behind it. */
static void test_refused(void)
{
	struct store *s = open_new("refused.db");
	sqlite3 *other = other_open("refused.db");
	struct result one = help_result(RELU, "a", 10), none = help_result("", "a", 10);
	is_int(store_keep(s, &help_device, &none, &err), -1, "an invalid result is refused at once");
	is_int(store_waiting(s).results, 0, "it is not queued");
	is_int(store_waiting(s).lost, 1, "it is counted as lost");
	has(store_waiting(s).why, "empty or too long", "with its reason");
	sqlite3_exec(other,
		"CREATE TRIGGER refuse BEFORE INSERT ON result WHEN new.median_ns = 66"
		" BEGIN SELECT RAISE(ABORT, 'not today'); END; BEGIN IMMEDIATE",
		NULL, NULL, NULL);
	store_keep(s, &help_device, &one, &err);
	one.stats = help_result(RELU, "a", 66).stats;
	is_int(store_keep(s, &help_device, &one, &err), 1, "a result that a trigger refuses is queued");
	one.stats = help_result(RELU, "a", 10.5).stats;
	store_keep(s, &help_device, &one, &err);
	sqlite3_exec(other, "COMMIT", NULL, NULL, NULL);
	is_int(store_keep_retry(s, true), 0, "the queue is empty after a retry");
	is_int(store_waiting(s).lost, 2, "the refused result is lost");
	has(store_waiting(s).why, "not today", "the reason is reported");
	is_int(ask(other, "SELECT count(*) FROM result"), 2, "the other results are written");
	sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	store_keep(s, &help_device, &one, &err);
	store_keep(s, &help_device, &one, &err);
	unlink(scratch_path("refused.db"));
	is_int(store_keep_retry(s, true), 0, "the file was removed: the queue is dropped");
	is_int(store_waiting(s).lost, 4, "its results are lost");
	has(store_waiting(s).why, "removed or replaced", "the reason is reported");
	ok(store_is_gone(s), "store_is_gone");
	is_int(store_keep(s, &help_device, &one, &err), -1, "later results are refused");
	is_int(store_keep_finish(s, &help_device, RELU, &err), -1, "so are finished problems");
	is_int(store_waiting(s).lost, 5, "which are not counted as results");
	sqlite3_close(other);
	store_close(s);
}

/* --- a disk that is full --- */

static int disk_error; /* 0: none */
static sqlite3_syscall_ptr usual_write;

static ssize_t disk_write(int fd, const void *bytes, size_t n, off_t at)
{
	if (!disk_error)
		return ((ssize_t (*)(int, const void *, size_t, off_t))usual_write)(fd, bytes, n, at);
	errno = disk_error;
	return -1;
}

static const char *disk_prepare(sqlite3_vfs *vfs)
{
	static const char *const names[] = { "pwrite64", "pwrite" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		usual_write = vfs->xGetSystemCall(vfs, names[i]);
		if (usual_write && !vfs->xSetSystemCall(vfs, names[i], (sqlite3_syscall_ptr)disk_write))
			return names[i];
	}
	return NULL;
}

static void test_full(int error, const char *words, const char *mode)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
	const char *call = vfs->iVersion >= 3 ? disk_prepare(vfs) : NULL;
	if (!call) {
		ok(true, "# SKIP this SQLite's writes cannot be made to fail");
		return;
	}
	struct store *s = open_new("full.db");
	struct result one = help_result(RELU, "a", 10);
	char sql[64], why[3000];
	snprintf(sql, sizeof(sql), "PRAGMA journal_mode = %s", mode);
	sqlite3_exec(s->db, sql, NULL, NULL, NULL);
	s->wal = strcmp(mode, "WAL") == 0;
	memset(why, 'w', sizeof(why) - 1);
	why[sizeof(why) - 1] = '\0';
	one.why = why; /* more than fits into the pages that are there */
	is_int(store_keep(s, &help_device, &one, &err), 0, "%s, %s: room", words, mode);
	disk_error = error;
	for (int i = 0; i < 20; i++) {
		one.measured_at++;
		if (store_keep(s, &help_device, &one, &err) != 1)
			ok(false, "result %d waits", i);
	}
	has(err.text, words, "the error has the reason");
	store_keep_finish(s, &help_device, RELU, &err);
	is_int(store_keep_retry(s, true), 20, "the disk is still full");
	is_int(store_add(s, 1, &one, &err), -1, "a plain addition fails");
	has(err.text, words, "store_waiting has the reason");
	struct results *r = results_new();
	int count = 0;
	is_int(store_load(s, 1, r, &err), 0, "what was kept can be read");
	results_of(r, RELU, &count);
	is_int(count, 1, "all of it");
	results_free(r);
	disk_error = 0;
	is_int(store_keep_retry(s, true), 0, "space freed: all are kept");
	sound(s, words);
	is_int(ask(s->db, "SELECT count(*) FROM result"), 21, "each once");
	is_int(ask(s->db, "SELECT count(*) FROM finished"), 1, "and the end");
	store_close(s);
	vfs->xSetSystemCall(vfs, call, NULL);
	sqlite3 *db = other_open("full.db");
	is_int(ask(db, "SELECT count(*) FROM result"), 21, "another sees them");
	sqlite3_close(db);
}

static int asked;

static bool ask_twice(void *context, int64_t waited_ms)
{
	*(int64_t *)context = waited_ms;
	return ++asked < 2;
}

static void test_patience(void)
{
	struct store *s = open_new("patience.db");
	sqlite3 *other = other_open("patience.db");
	int64_t waited = -1, id = store_device(s, &help_device, &err);
	struct result one = help_result(RELU, "a", 10);
	sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	store_set_patience(s, 100000, ask_twice, &waited);
	is_int(store_add(s, id, &one, &err), -1, "who asks may end the wait");
	is_int(asked, 2, "and is asked again and again");
	ok(waited >= 0 && waited < 50000, "with the time that has gone");
	store_set_patience(s, 0, NULL, NULL);
	is_int(store_add(s, id, &one, &err), -1, "no patience, no wait");
	has(err.text, "retry when", "the fix");
	is_str(store_lock_holder(s), "", "the own process is nobody that could be named");
	sqlite3_close(other);
	store_close(s);
}

/* Another process, which says so by a byte and ends by one. */
static void test_holder(void)
{
	struct store *s = open_new("holder.db");
	int64_t id = store_device(s, &help_device, &err);
	struct result one = help_result(RELU, "a", 10);
	int up[2], down[2];
	char byte = 0;
	if (pipe(up) || pipe(down))
		return;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		sqlite3 *db = other_open("holder.db");
		if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) || write(up[1], "+", 1) != 1 ||
			read(down[0], &byte, 1) != 1)
			_exit(1);
		_exit(0);
	}
	store_set_patience(s, 0, NULL, NULL);
	char name[32];
	snprintf(name, sizeof(name), "process %d", (int)child);
	is_int(read(up[0], &byte, 1), 1, "another process has it locked");
	is_int(store_add(s, id, &one, &err), -1, "which is noticed");
	if (access("/proc/locks", R_OK) == 0 && *store_lock_holder(s))
		has(err.text, name, "and named");
	else
		ok(true, "# SKIP this system does not tell who has a lock");
	is_int(write(down[1], "-", 1), 1, "it ends");
	int status;
	waitpid(child, &status, 0);
	is_int(status, 0, "well");
	is_int(store_add(s, id, &one, &err), 0, "and leaves the file free");
	store_close(s);
}

int main(void)
{
	scratch_make();
	test_locked("BEGIN IMMEDIATE");
	test_locked("BEGIN EXCLUSIVE");
	test_new_device();
	test_refused();
	test_full(ENOSPC, "no space left", "WAL");
	test_full(ENOSPC, "no space left", "DELETE");
	test_full(EDQUOT, "no space left (Disk quota exceeded)", "WAL");
	test_full(EDQUOT, "no space left (Disk quota exceeded)", "DELETE");
	test_full(EIO, "Input/output error", "WAL");
	test_patience();
	test_holder();
	scratch_remove();
	return done_testing();
}
