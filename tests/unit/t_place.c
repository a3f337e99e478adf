/* A database on a network file system. statfs and fcntl are this file's own: they say what such a file system
 * would. */
#include "config.h"

#include "store/store_private.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "store_help.h"

#define RELU "eltwise:f32,f32:relu:1x64x56x56"

static struct error err;
static long place_type;    /* 0: as it is */
static int lock_error;     /* of the next locks; -1: they never answer */

int statfs(const char *path, struct statfs *fs)
{
	long rc = syscall(SYS_statfs, path, fs);
	if (rc == 0 && place_type)
		fs->f_type = place_type;
	return (int)rc;
}

int fcntl(int fd, int command, ...)
{
	va_list arguments;
	va_start(arguments, command);
	void *argument = va_arg(arguments, void *);
	va_end(arguments);
	if (command == F_SETLK && lock_error < 0)
		for (;;)
			pause();
	if (command == F_SETLK && lock_error) {
		errno = lock_error;
		return -1;
	}
	return (int)syscall(SYS_fcntl, fd, command, argument);
}

static struct store *open_at(const char *name, bool read_only)
{
	err.text[0] = '\0';
	return store_open(scratch_path(name), read_only, &err);
}

static void fill(const char *name, int n)
{
	struct store *s = open_at(name, false);
	struct result one = help_result(RELU, "a", 10);
	int64_t id = s ? store_device(s, &help_device, &err) : -1;
	for (int i = 0; i < n; i++) {
		one.measured_at++;
		if (id < 0 || store_add(s, id, &one, &err))
			printf("# %s\n", err.text);
	}
	store_close(s);
}

static void is_mode(struct store *s, const char *mode, const char *reason)
{
	json_t *info = s ? store_info(s, &err) : NULL;
	is_str(json_string_at(info, "journal_mode", "?"), mode, "journal mode %s", mode);
	if (reason)
		has(json_string_at(info, "journal_reason", ""), reason, "and why");
	else
		ok(json_is_null(json_object_get(info, "journal_reason")), "and nothing to explain");
	json_decref(info);
}

static int count_of(struct store *s)
{
	sqlite3_stmt *q = NULL;
	int n = -1;
	if (s && !sqlite3_prepare_v2(s->db, "SELECT count(*) FROM result", -1, &q, NULL) &&
		sqlite3_step(q) == SQLITE_ROW)
		n = sqlite3_column_int(q, 0);
	sqlite3_finalize(q);
	return n;
}

static void test_kinds(void)
{
	static const struct {
		long type;
		const char *name;
	} kinds[] = { { 0x6969, "NFS" }, { (long)0xff534d42, "CIFS" }, { (int32_t)0xff534d42, "CIFS" },
		{ 0x65735546, "FUSE" }, { 0x0bd00bd0, "Lustre" }, { 0xef53, NULL }, { 0x01021994, NULL } };
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		place_type = kinds[i].type;
		const char *name = store_network(scratch);
		if (kinds[i].name)
			has(name, kinds[i].name, kinds[i].name);
		else
			ok(!name, "%lx is not a network file system", kinds[i].type);
	}
	ok(!store_network(scratch_path("none")), "a missing file is not on a network file system");
	place_type = 0;
}

static void test_new(void)
{
	place_type = 0x6969;
	struct store *s = open_at("new.db", false);
	ok(s != NULL, "a new file on NFS");
	is_mode(s, "delete", "network file system (NFS)");
	is_int(access(scratch_path("new.db-wal"), F_OK) && access(scratch_path("new.db-shm"), F_OK), 1,
		"it has no write-ahead log and no shared memory");
	store_close(s);
	fill("new.db", 3);
	s = open_at("new.db", true);
	is_int(count_of(s), 3, "a reader finds the results");
	is_mode(s, "delete", "network file system (NFS)");
	struct store *other = open_at("new.db", false);
	ok(other != NULL, "two processes can have it open");
	int64_t id = store_device(other, &help_device, &err);
	struct result one = help_result(RELU, "b", 10);
	is_int(store_add(other, id, &one, &err), 0, "one adds a result");
	is_int(count_of(s), 4, "the other reads it");
	store_close(other);
	store_close(s);
	place_type = 0;
	s = open_at("new.db", false);
	is_mode(s, "wal", NULL);
	is_int(count_of(s), 4, "on a local disk it has a write-ahead log again");
	store_close(s);
}

/* A database created in WAL mode on a local disk, then moved to a network file system. */
static void test_switch(void)
{
	fill("moved.db", 5);
	place_type = 0x6969;
	struct store *s = open_at("moved.db", false);
	ok(s != NULL, "a file in WAL mode is opened");
	is_mode(s, "delete", "NFS");
	is_int(count_of(s), 5, "all results are there");
	store_close(s);

	place_type = 0;
	fill("moved.db", 2);
	place_type = 0x6969;
	s = open_at("moved.db", true);
	ok(s != NULL, "a file in WAL mode is opened for reading");
	is_int(count_of(s), 7, "all results are there");
	is_mode(s, "delete", "NFS");
	store_close(s);

	place_type = 0;
	struct store *local = open_at("moved.db", false);
	is_mode(local, "wal", NULL);
	int64_t id = store_device(local, &help_device, &err);
	struct result one = help_result(RELU, "c", 10);
	is_int(store_add(local, id, &one, &err), 0, "another process has it open in WAL mode");
	place_type = 0x6969;
	ok(!open_at("moved.db", false), "it cannot be opened");
	has(err.text, "another program has it open", "the error has the reason");
	ok(!open_at("moved.db", true), "it cannot be opened for reading");
	has(err.text, "another program has it open", "the error has the reason");
	is_int(store_add(local, id, &one, &err), 0, "the other process can still add results");
	store_close(local);
	s = open_at("moved.db", true);
	is_int(count_of(s), 9, "all results are there afterwards");
	store_close(s);
	place_type = 0;
}

/* A write-ahead log left by a process that was killed. */
static void test_left(void)
{
	const char *path = scratch_path("left.db");
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		struct store *s = store_open(path, false, &err);
		int64_t id = store_device(s, &help_device, &err);
		struct result one = help_result(RELU, "a", 10);
		_exit(store_add(s, id, &one, &err) ? 1 : 0); /* nothing is closed */
	}
	int status;
	waitpid(child, &status, 0);
	is_int(status, 0, "the process ended without closing the file");
	is_int(access(scratch_path("left.db-wal"), F_OK), 0, "its write-ahead log is there");
	place_type = 0x6969;
	struct store *s = open_at("left.db", true);
	is_int(count_of(s), 1, "the result in the log is read");
	store_close(s);
	is_int(access(scratch_path("left.db-wal"), F_OK), -1, "the log was removed");
	place_type = 0;
}

static void test_foreign(void)
{
	sqlite3 *db;
	size_t before, after;
	if (sqlite3_open(scratch_path("foreign.db"), &db) == SQLITE_OK)
		sqlite3_exec(db, "PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1)",
			NULL, NULL, NULL);
	sqlite3_close(db);
	char *was = file_read(scratch_path("foreign.db"), &before);
	place_type = 0x6969;
	ok(!open_at("foreign.db", false), "a database of another program is refused");
	has(err.text, "another program", "the error has the reason");
	char *is = file_read(scratch_path("foreign.db"), &after);
	ok(before == after && memcmp(was, is, before) == 0, "the file is unchanged");
	free(was);
	free(is);
	place_type = 0;
}

static void test_locks(void)
{
	fill("locks.db", 1);
	lock_error = ENOLCK;
	struct store *s = open_at("locks.db", false);
	ok(s != NULL, "locks are not probed on a local disk");
	store_close(s);
	place_type = 0x6969;
	ok(!open_at("locks.db", false), "not opened without locks");
	has(err.text, "does not support locks (No locks available)", "the error has the reason");
	has(err.text, "NFS", "the error has the file system");
	has(err.text, "local disk", "the error has the fix");
	ok(!open_at("locks.db", true), "not opened for reading without locks");
	lock_error = EAGAIN;
	s = open_at("locks.db", false);
	ok(s != NULL, "a lock of another process is not an error");
	lock_error = -1;
	err.text[0] = '\0';
	is_int(place_probe_locks(s, 1, &err), -1, "a lock service that does not reply");
	has(err.text, "does not reply to a lock request", "the error has the reason");
	lock_error = 0;
	is_int(place_probe_locks(s, 100000, &err), 0, "working locks are accepted");
	store_close(s);
	place_type = 0;
}

int main(void)
{
	scratch_make();
	test_kinds();
	test_new();
	test_switch();
	test_left();
	test_foreign();
	test_locks();
	scratch_remove();
	return done_testing();
}
