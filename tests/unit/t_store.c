#include "config.h"

#include "store/store_private.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <sys/wait.h>

#include "schema_1.h"
#include "store_open.h"
#include "store_sql.h"

static void same_result(const struct result *got, const struct result *want)
{
	is_str(got->problem, want->problem, "problem");
	is_str(got->algorithm.api, want->algorithm.api, "api");
	is_str(got->algorithm.name, want->algorithm.name, "name");
	is_str(got->algorithm.layouts, want->algorithm.layouts, "layouts");
	is_str(got->algorithm.math, want->algorithm.math, "math");
	is_int(got->algorithm.rank, want->algorithm.rank, "rank");
	is_int(got->algorithm.matrix, want->algorithm.matrix, "matrix");
	near(got->algorithm.workspace_bytes, want->algorithm.workspace_bytes, 0, "workspace");
	is_int(got->status, want->status, "status");
	is_int(got->cache, want->cache, "cache");
	is_int(got->launch, want->launch, "launch");
	const struct sample_stats *g = &got->stats, *w = &want->stats;
	is_int(g->n, w->n, "n");
	is_int(g->discarded, w->discarded, "discarded");
	is_int(g->executions, w->executions, "executions");
	const double gs[] = { g->min, g->q1, g->median, g->q3, g->mean, g->stdev, g->lo, g->hi };
	const double ws[] = { w->min, w->q1, w->median, w->q3, w->mean, w->stdev, w->lo, w->hi };
	for (int i = 0; i < 8; i++)
		near(gs[i], ws[i], 0, "statistic %d, to the last bit", i);
	is_int(g->stop, w->stop, "stop");
	is_str(got->why, want->why, "why");
	is_str(got->runner_version, want->runner_version, "runner version");
	is_int(got->measured_at, want->measured_at, "date");
}

static void test_round_trip(void)
{
	struct error none = ERROR_NONE;
	struct store *s = store_open(scratch_path("deep/er/new.db"), false, &none);
	ok(s != NULL, "missing directories are created");
	int64_t id = store_device(s, &help_device, &err);
	ok(id > 0, "a device has an id");
	struct result good = help_result(RELU, "jit:avx512_core", 12345.678901234567);
	good.stats.hi = NAN;
	good.algorithm.workspace_bytes = NAN;
	struct result bad = { .problem = TANH,
		.algorithm = { .name = "" },
		.status = STATUS_CRASHED,
		.why = "killed by signal 11",
		.measured_at = 1700000001,
		.stats = { .median = 5, .n = 3 } };
	is_int(store_add(s, id, &good, &err), 0, "a result is added");
	is_int(store_add(s, id, &bad, &err), 0, "a failure is added");
	store_close(s);

	s = store_open(scratch_path("deep/er/new.db"), false, &err);
	struct results *r = results_new();
	int count = 0;
	is_int(store_load(s, id, r, &err), 0, "loaded after reopening");
	is_int(results_problem_count(r), 2, "two problems");
	const struct result *const *all = results_of(r, RELU, &count);
	is_int(count, 1, "a result with status ok");
	same_result(all[0], &good);
	all = results_of(r, TANH, &count);
	is_int(all[0]->status, STATUS_CRASHED, "the failure's status");
	is_str(all[0]->why, "killed by signal 11", "the failure's reason");
	ok(isnan(all[0]->stats.median) && all[0]->stats.n == 0,
		"a failure has no statistics, whatever it came with");
	is_int(store_load(s, id + 1, r, &err), 0, "another identity has no results");
	is_int(results_problem_count(r), 2, "loading it adds nothing");
	is_int(store_add(s, 77, &good, &err), -1, "a result of an unknown device is refused");
	has(err.text, "77", "the error has the device");
	good.problem = "";
	is_int(store_add(s, id, &good, &err), -1, "a result without a problem is refused");
	struct str out = { 0 };
	is_int(store_check(s, &out, &err), 0, "refused results leave no rows behind");
	printf("# %s\n", out.n ? out.p : "-");
	is_int(ask(scratch_path("deep/er/new.db"), "SELECT hi_ns IS NULL AND lo_ns IS NOT NULL FROM result"),
		1, "unknown numbers are NULL");
	str_free(&out);
	results_free(r);
	store_close(s);
}

static void test_devices(void)
{
	struct store *s = open_new("devices.db");
	struct device d = help_device;
	int64_t a = store_device(s, &d, &err);
	is_int(store_device(s, &d, &err), a, "the same device has the same id");
	d.version = "0.2.0";
	d.llc_bytes = NAN;
	is_int(store_device(s, &d, &err), a, "attributes are not part of the identity");
	is_int(store_device(s, &d, &err), a, "changed attributes seen twice");
	is_int(ask(scratch_path("devices.db"), "SELECT count(*) FROM attributes"), 2,
		"but a row of their own, once");
	struct result one = help_result(RELU, "a", 5);
	store_add(s, a, &one, &err);
	is_int(ask(scratch_path("devices.db"), "SELECT attributes FROM result"), 2,
		"which results then carry");
	d.stack = "oneDNN 3.0, 2 threads";
	int64_t b = store_device(s, &d, &err);
	ok(b > 0 && b != a, "another stack is another identity");
	struct arena arena = { 0 };
	struct device *list;
	int64_t *ids;
	int count;
	is_int(store_devices(s, &arena, &list, &ids, &count, &err), 0, "devices are listed");
	is_int(count, 1, "a device without results is not listed");
	store_add(s, b, &one, &err);
	is_int(store_devices(s, &arena, &list, &ids, &count, &err), 0, "listed again");
	is_int(count, 2, "two devices");
	ok(ids[0] == a && ids[1] == b, "with their ids");
	is_str(list[0].version, "0.2.0", "the newest attributes are listed");
	ok(isnan(list[0].llc_bytes) && list[0].has_matrix && list[0].threads == 2, "numbers too");
	is_str(list[1].stack, "oneDNN 3.0, 2 threads", "and the stack");
	is_str(list[0].model, help_device.model, "the model");
	is_str(list[0].name, help_device.name, "the name");
	is_str(list[0].runner, help_device.runner, "the runner");
	is_str(list[0].host, help_device.host, "the host");
	is_str(list[0].attributes, help_device.attributes, "the attributes as JSON");
	arena_free(&arena);
	store_close(s);
	s = store_open(scratch_path("devices.db"), true, &err);
	is_int(store_device_find(s, &help_device, &err), a, "a reader finds the device");
	d.model = "Other";
	is_int(store_device_find(s, &d, &err), 0, "an unknown device is not an error");
	is_int(store_device(s, &d, &err), -1, "a reader adds no device");
	is_int(store_add(s, a, &one, &err), -1, "a reader adds no result");
	has(err.text, "reading only", "the error has the reason");
	store_close(s);
}

/* The dates of imported attributes: the earliest first and the latest last date of all imports. */
static void test_seen(void)
{
	struct store *s = open_new("seen.db");
	const char *path = scratch_path("seen.db");
	static const struct {
		struct store_seen given, want;
	} steps[] = {
		{ { 100, 200 }, { 100, 200 } },
		{ { 150, 160 }, { 100, 200 } }, /* within */
		{ { 50, 160 }, { 50, 200 } },
		{ { 60, 300 }, { 50, 300 } },
	};
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		ok(store_device_seen(s, &help_device, steps[i].given, &err) > 0, "import %zu", i);
		is_int(ask(path, "SELECT first_seen FROM attributes"), steps[i].want.first, "first date");
		is_int(ask(path, "SELECT last_seen FROM attributes"), steps[i].want.last, "last date");
	}
	is_int(ask(path, "SELECT count(*) FROM attributes"), 1, "one row");
	store_close(s);
}

static void test_two_handles(void)
{
	struct store *a = open_new("two.db"), *b = store_open(scratch_path("two.db"), false, &err);
	struct results *r = results_new();
	struct result one = help_result(RELU, "a", 10);
	int64_t id = store_device(a, &help_device, &err), cursor = 0;
	is_int(store_device(b, &help_device, &err), id, "both handles have the same device");
	is_int(store_add(a, id, &one, &err), 0, "the first handle adds a result");
	is_int(store_load_since(b, id, &cursor, r, &err), 0, "the second loads");
	is_int(results_problem_count(r), 1, "it has the result");
	uint64_t version = results_version(r);
	is_int(store_load_since(b, id, &cursor, r, &err), 0, "it loads again");
	ok(results_version(r) == version, "there is nothing new");
	one.problem = TANH;
	is_int(store_add(b, id, &one, &err), 0, "the second handle adds a result");
	one = help_result(TANH, "a", 11);
	is_int(store_add(a, id, &one, &err), 0, "the first adds an equal key");
	is_int(store_load_since(b, id, &cursor, r, &err), 0, "the second loads");
	int count;
	const struct result *const *all = results_of(r, TANH, &count);
	ok(count == 1 && all[0]->stats.median == 11, "the newest result is current");
	is_int(ask(scratch_path("two.db"), "SELECT count(*) FROM result"), 3, "the older result is kept");
	ok(!results_is_finished(r, TANH), "not finished yet");
	is_int(store_finish(a, id, TANH, &err), 0, "the first marks it as finished");
	is_int(store_load_since(b, id, &cursor, r, &err), 0, "the second loads");
	ok(results_is_finished(r, TANH) && !results_is_finished(r, RELU), "it is finished");
	is_int(store_add(b, id, &one, &err), 0, "the second measures it again");
	is_int(store_finish(b, id, TANH, &err), 0, "and marks it as finished");
	is_int(store_load_since(a, id, &cursor, r, &err), 0, "the mark is loaded");
	is_int(store_finish(a, 99, TANH, &err), -1, "an unknown device has no marks");
	is_int(ask(scratch_path("two.db"), "SELECT count(*) FROM finished"), 1, "one mark per problem");
	results_free(r);
	store_close(a);
	store_close(b);
}

/* Eight processes make and fill one new file at once. */
static void test_many_processes(void)
{
	const char *path = scratch_path("many.db");
	for (int i = 0; i < 8; i++)
		if (fork() == 0) {
			struct error e = ERROR_NONE;
			struct store *s = store_open(path, false, &e);
			int64_t id = s ? store_device(s, &help_device, &e) : -1;
			int bad = id < 0;
			for (int n = 0; n < 20 && !bad; n++) {
				struct result one = help_result(RELU, "a", 10 + i + n);
				bad = store_add(s, id, &one, &e);
			}
			if (bad)
				printf("# %s\n", e.text);
			fflush(stdout);
			_exit(bad ? 1 : 0);
		}
	int status, bad = 0;
	while (wait(&status) > 0)
		bad += status != 0;
	is_int(bad, 0, "eight processes open one new file");
	is_int(ask(path, "SELECT count(*) FROM result"), 160, "all their results are there");
	is_int(ask(path, "SELECT count(*) FROM identity"), 1, "all of one device");
}

static void refuse(const char *name, bool read_only, const char *part, const char *what)
{
	const char *path = scratch_path(name);
	size_t before_n, after_n;
	struct stat st;
	bool file = stat(path, &st) == 0 && S_ISREG(st.st_mode);
	char *before = file ? file_read(path, &before_n) : NULL;
	err.text[0] = '\0';
	struct store *s = store_open(path, read_only, &err);
	ok(!s, "%s: refused", what);
	has(err.text, part, what);
	has(err.text, path, "the error names the file");
	if (before) {
		char *after = file_read(path, &after_n);
		ok(after && after_n == before_n && memcmp(before, after, after_n) == 0,
			"the file is unchanged");
		free(after);
	}
	free(before);
	store_close(s);
}

static void test_refused(void)
{
	mkdir(scratch_path("dir"), 0755);
	refuse("dir", false, "a directory", "a directory");
	refuse("dir/", false, "a directory", "a directory with a slash");
	file_text(scratch_path("text.db"), "this is no database, it only sits where one was expected\n");
	refuse("text.db", false, "not a database", "a text file");
	refuse("text.db", true, "not a database", "a text file, reading");
	refuse("text.db/x.db", false, "Not a directory", "a file in place of a directory");
	refuse("text.db/sub/x.db", false, "cannot create the directory",
		"a directory that cannot be created");
	refuse("absent.db", true, "No such file", "an absent file, reading");
	file_text(scratch_path("empty.db"), "");
	refuse("empty.db", true, "an empty file", "an empty file, reading");
	enum store_fault fault = STORE_FAULT_OTHER;
	ok(!store_open_or(scratch_path("empty.db"), true, &fault, &err) && fault == STORE_FAULT_EMPTY,
		"which is told from other errors");
	ok(!store_open_or(scratch_path("text.db"), false, &fault, &err) && fault == STORE_FAULT_OTHER,
		"another error");
	ok(!store_open_or("/proc/x.db", false, &fault, &err) && fault == STORE_FAULT_UNWRITABLE,
		"a place where nothing can be written");
	mkfifo(scratch_path("fifo"), 0600);
	refuse("fifo", false, "not a regular file", "a pipe");
	plant(scratch_path("foreign.db"), "CREATE TABLE t (x); INSERT INTO t VALUES (1)");
	refuse("foreign.db", false, "another program", "an SQLite file without an application id");
	plant(scratch_path("foreign2.db"), "PRAGMA application_id = 252006673; CREATE TABLE t (x)");
	refuse("foreign2.db", false, "another program", "an SQLite file with another application id");
	store_close(open_new("newer.db"));
	plant(scratch_path("newer.db"), "PRAGMA user_version = 99");
	refuse("newer.db", false, "version 99 is newer", "a newer version");
	refuse("newer.db", true, "version 99 is newer", "a newer version, reading");
	plant(scratch_path("newer.db"), "PRAGMA user_version = -3");
	refuse("newer.db", false, "version -3", "a version below zero");
	store_close(open_new("lacks.db"));
	plant(scratch_path("lacks.db"), "PRAGMA foreign_keys = OFF; DROP TABLE algorithm");
	refuse("lacks.db", false, "damaged (no such table", "a file that lacks a table");
	store_close(open_new("view.db"));
	plant(scratch_path("view.db"), "CREATE VIEW mine AS SELECT * FROM result");
	struct store *viewed = store_open(scratch_path("view.db"), true, &err);
	ok(viewed != NULL, "a view that the user added is ignored");
	store_close(viewed);
	plant(scratch_path("view.db"),
		"DROP TABLE note; CREATE VIEW note AS WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + "
		"1 FROM c)"
		" SELECT x AS id, 'endless' AS text FROM c");
	refuse("view.db", false, "damaged (a view replaces a table)", "a view with endless rows");
	refuse("view.db", true, "damaged (a view replaces a table)", "a view with endless rows, reading");
	plant(scratch_path("view.db"), "DROP VIEW note; CREATE VIRTUAL TABLE NOTE USING fts5 (text)");
	refuse("view.db", true, "damaged (", "a virtual table");
	is_int(store_open("", false, &err) == NULL, 1, "an empty path");
	is_int(store_open(NULL, false, &err) == NULL, 1, "no path");
	struct store *s = open_new("empty.db");
	ok(s != NULL, "an empty file is filled when it may be");
	store_close(s);
	if (chdir(scratch) == 0) {
		s = store_open(":memory:", false, &err);
		ok(s && access(scratch_path(":memory:"), F_OK) == 0,
			"a name that SQLite would take for memory is a file");
		store_close(s);
		s = store_open("file:x?mode=memory", false, &err);
		ok(s && access(scratch_path("file:x?mode=memory"), F_OK) == 0,
			"and one that it would take for a URI");
		store_close(s);
	}
}

/* Damage of many kinds: opening or using gives an error, never a crash nor a wrong row. */
static void test_corrupt(void)
{
	struct store *s = open_new("whole.db");
	int64_t id = store_device(s, &help_device, &err);
	for (int i = 0; i < 200; i++) {
		char name[32];
		snprintf(name, sizeof(name), "algorithm%d", i);
		struct result one = help_result(RELU, name, 10 + i);
		store_add(s, id, &one, &err);
	}
	store_close(s);
	size_t n;
	char *bytes = file_read(scratch_path("whole.db"), &n);
	ok(n > 20000, "a file of some size");
	int noticed = 0, wrong = 0;
	for (size_t at = 0; at < n; at += 997) {
		char *copy = malloc(n);
		memcpy(copy, bytes, n);
		for (size_t i = at; i < n && i < at + 64; i++)
			copy[i] = (char)(copy[i] ^ 0xa5);
		file_write(scratch_path("bent.db"), copy, n);
		free(copy);
		struct results *r = results_new();
		struct str out = { 0 };
		err.text[0] = '\0';
		s = store_open(scratch_path("bent.db"), false, &err);
		if (!s || store_load(s, id, r, &err) || store_check(s, &out, &err) != 0)
			noticed++;
		if (!s && !err.text[0])
			wrong++;
		str_free(&out);
		results_free(r);
		store_close(s);
		unlink(scratch_path("bent.db-wal"));
		unlink(scratch_path("bent.db-shm"));
	}
	printf("# %d of %zu damages noticed\n", noticed, n / 997 + 1);
	ok(noticed > 5, "damage is detected");
	is_int(wrong, 0, "every damage is reported");
	file_write(scratch_path("short.db"), bytes, n / 2);
	s = store_open(scratch_path("short.db"), false, &err);
	struct results *r = results_new();
	struct str out = { 0 };
	ok(!s || store_load(s, id, r, &err) || store_check(s, &out, &err) != 0,
		"a file cut in half is noticed");
	str_free(&out);
	results_free(r);
	store_close(s);
	free(bytes);
}

/* The file and its log as a process leaves them that is killed. */
static void copy_open(const char *from, const char *to)
{
	static const char *const ends[] = { "", "-wal" };
	for (int i = 0; i < 2; i++) {
		char source[64], copy[64];
		size_t n;
		snprintf(source, sizeof(source), "%s%s", from, ends[i]);
		snprintf(copy, sizeof(copy), "%s%s", to, ends[i]);
		char *bytes = file_read(scratch_path(source), &n);
		ok(bytes && n > 0, "%s has something in it", source);
		file_write(scratch_path(copy), bytes, n);
		free(bytes);
	}
}

/* What a person without rights meets; as root the child gives them up first. */
static void test_permissions(void)
{
	store_close(open_new("sealed.db"));
	mkdir(scratch_path("sealed"), 0755);
	store_close(open_new("sealed/inside.db"));
	struct store *s = open_new("sealed/inside.db");
	int64_t id = store_device(s, &help_device, &err);
	struct result one = help_result(RELU, "a", 10);
	store_add(s, id, &one, &err);
	copy_open("sealed/inside.db", "sealed/left.db");
	store_close(s);
	chmod(scratch_path("sealed/inside.db"), 0444);
	chmod(scratch_path("sealed/left.db"), 0644); /* whatever the umask is */
	chmod(scratch_path("sealed/left.db-wal"), 0644);
	chmod(scratch_path("sealed"), 0555);
	store_close(open_new("secret.db"));
	chmod(scratch_path("secret.db"), 0000);
	chmod(scratch_path("sealed.db"), 0444);
	int pipes[2];
	if (pipe(pipes))
		return;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		if (geteuid() == 0 && (setgroups(0, NULL) || setgid(65534) || setuid(65534)))
			_exit(2);
		static const struct {
			const char *name;
			bool read_only;
		} tries[] = { { "secret.db", true }, { "sealed.db", false }, { "sealed/new.db", false },
			{ "sealed/sub/new.db", false }, { "sealed/inside.db", true },
			{ "sealed/left.db", true }, { "sealed/left.db", false } };
		for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
			struct error e = ERROR_NONE;
			struct store *t = store_open(scratch_path(tries[i].name), tries[i].read_only, &e);
			struct results *r = results_new();
			if (t && !e.text[0] && store_load(t, id, r, &e) == 0)
				snprintf(e.text, sizeof(e.text), "opened with %d", results_problem_count(r));
			dprintf(pipes[1], "%s\n", e.text);
			results_free(r);
			store_close(t);
		}
		_exit(0);
	}
	close(pipes[1]);
	FILE *f = fdopen(pipes[0], "r");
	char line[7][ERROR_TEXT_SIZE + 2] = { { 0 } };
	for (int i = 0; i < 7; i++)
		if (!fgets(line[i], sizeof(line[i]), f))
			break;
	fclose(f);
	int status;
	waitpid(child, &status, 0);
	is_int(status, 0, "the child without permissions succeeded");
	has(line[0], "give read permission", "an unreadable file");
	has(line[1], "give write permission", "a read-only file");
	has(line[2], "cannot create a file in", "a new file in a directory without write permission");
	has(line[3], "cannot create the directory",
		"a new directory in a directory without write permission");
	has(line[4], "opened with 1",
		"a file in a directory without write permission is read without warnings");
	has(line[5], "left.db-wal contains results",
		"a file with a log in a directory without write permission");
	has(line[6], "copy both files to a writable directory", "the error has the fix, also for writing");
	chmod(scratch_path("sealed"), 0755);
}

static void test_underneath(void)
{
	struct result one = help_result(RELU, "a", 10);
	struct store *s = open_new("gone.db");
	int64_t id = store_device(s, &help_device, &err);
	is_int(store_add(s, id, &one, &err), 0, "added");
	ok(!store_is_gone(s), "the file is there");
	unlink(scratch_path("gone.db"));
	is_int(store_add(s, id, &one, &err), -1, "a removed file is detected");
	has(err.text, "removed or replaced", "the error has the reason");
	ok(store_is_gone(s), "store_is_gone");
	store_close(s);

	s = open_new("swap.db");
	id = store_device(s, &help_device, &err);
	struct store *other = open_new("swap2.db");
	store_device(other, &help_device, &err);
	store_close(other);
	rename(scratch_path("swap2.db"), scratch_path("swap.db"));
	is_int(store_add(s, id, &one, &err), -1, "a replaced file is detected");
	store_close(s);
	is_int(ask(scratch_path("swap.db"), "SELECT count(*) FROM identity"), 1, "the new file is intact");

	s = open_new("log.db");
	id = store_device(s, &help_device, &err);
	is_int(store_add(s, id, &one, &err), 0, "added to the write-ahead log");
	unlink(scratch_path("log.db-wal"));
	is_int(store_add(s, id, &one, &err), -1, "a removed write-ahead log is detected");
	has(err.text, "-wal was removed", "the error has the reason");
	store_close(s);
}

static void test_migration(void)
{
	static const struct migrate_step steps[] = {
		{ 0, 1, "CREATE TABLE a (x); INSERT INTO a VALUES (41)" },
		{ 1, 2, "ALTER TABLE a ADD COLUMN y; UPDATE a SET y = x + 1" },
		{ 2, 3, "CREATE TABLE b (z); INSERT INTO b SELECT y FROM a; SELECT nonsense FROM a" },
	};
	sqlite3 *db;
	sqlite3_open(scratch_path("steps.db"), &db);
	is_int(migrate_run(db, steps, 3, 1, &err), 0, "an empty file gets version 1");
	is_int(migrate_run(db, steps, 3, 1, &err), 1, "nothing to migrate");
	is_int(migrate_run(db, steps, 3, 2, &err), 1, "from 1 to 2");
	is_int(ask(scratch_path("steps.db"), "SELECT y FROM a"), 42, "the data is kept");
	is_int(migrate_run(db, steps, 3, 3, &err), -1, "a step that fails");
	has(err.text, "from version 2 to 3", "the error has the versions");
	is_int(ask(scratch_path("steps.db"), "SELECT count(*) FROM sqlite_schema"), 1,
		"the step is rolled back");
	is_int(ask(scratch_path("steps.db"), "PRAGMA user_version"), 2, "the version is rolled back");
	is_int(migrate_run(db, steps, 3, 1, &err), -1, "a newer version is refused");
	is_int(migrate_run(db, steps, 1, 9, &err), -1, "a missing step is an error");
	has(err.text, "no migration from schema version 2", "the error has the version");
	sqlite3_close(db);
	is_int(ask(scratch_path("steps.db"), "PRAGMA application_id"), STORE_APPLICATION_ID,
		"the mark is set");
	/* a file that bears our mark but was left at version 0 before its tables were made */
	plant(scratch_path("zero.db"), "PRAGMA application_id = 1112431169; PRAGMA user_version = 0");
	struct store *s = store_open(scratch_path("zero.db"), false, &err);
	ok(s != NULL, "a benanza file of version 0 is migrated");
	ok(s && store_device(s, &help_device, &err) > 0, "it can be used");
	store_close(s);
	is_int(ask(scratch_path("zero.db"), "PRAGMA user_version"), STORE_VERSION, "the version is set");
}

/* What a file's tables look like: every column with its type and what it may hold, every index, trigger and
 * reference. */
static char *shape_of(const char *path)
{
	static const char sql[] =
		"SELECT m.name || ' ' || c.name || ' ' || c.type || ' ' || c.\"notnull\" || ' ' || c.pk FROM "
		"sqlite_schema m,"
		" pragma_table_info(m.name) c WHERE m.type = 'table' UNION ALL"
		" SELECT m.name || ' ' || i.name || ' ' || c.name || ' ' || c.seqno || ' ' || i.\"unique\" "
		"FROM sqlite_schema m,"
		" pragma_index_list(m.name) i, pragma_index_info(i.name) c WHERE m.type = 'table' UNION ALL"
		" SELECT m.name || ' ' || f.\"from\" || ' ' || f.\"table\" FROM sqlite_schema m, "
		"pragma_foreign_key_list(m.name) f"
		" WHERE m.type = 'table' UNION ALL SELECT sql FROM sqlite_schema WHERE type = 'trigger' "
		"ORDER BY 1";
	struct str out = { 0 };
	sqlite3 *db;
	sqlite3_stmt *q = NULL;
	sqlite3_open(path, &db);
	sqlite3_prepare_v2(db, sql, -1, &q, NULL);
	while (sqlite3_step(q) == SQLITE_ROW)
		str_addf(&out, "%s\n", (const char *)sqlite3_column_text(q, 0));
	sqlite3_finalize(q);
	sqlite3_close(db);
	return out.p ? out.p : base_strdup("");
}

/* A file that the first version made, with a measurement and a failure. */
static void plant_version_1(const char *path)
{
	unlink(path);
	plant(path, schema_1);
	plant(path,
		"INSERT INTO identity VALUES (1, 'Example CPU', 'oneDNN 2.6.3, 2 threads bound, strict');"
		"INSERT INTO attributes VALUES (1, 1, 'cpu', 'benanza-runner-cpu', '0.1.0', 'here', '{}', 2, "
		"1e8, 1, 1, 2);"
		"INSERT INTO problem VALUES (1, '" RELU "'), (2, '" TANH "');"
		"INSERT INTO algorithm VALUES (1, 'oneDNN', 'jit', 'src=nChw16c', 'strict'), (2, '', '', '', "
		"'');"
		"INSERT INTO result VALUES (1, 1, 1, 1, 1, 'ok', 'net', 'amortized', 0, 'no', 0, 12, 0, 8, "
		"9, 9.5, 10, 11, 10, 1,"
		" 9.9, 10.1, 'converged', '', '0.1.0', 1700000000), (2, 1, 1, 2, 2, 'failed', 'net', "
		"'amortized', 0, 'unknown',"
		" NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'none', 'it broke', "
		"'0.1.0', 1700000001);"
		"INSERT INTO finished VALUES (1, 1, 1, 1700000000);"
		"INSERT INTO model_dims VALUES ('/m.onnx', '{\"batch\":8}', 1);"
		"PRAGMA application_id = 1112431169; PRAGMA user_version = 1; PRAGMA journal_mode = WAL");
}

static void check_version_1(struct store *s, const char *who)
{
	struct results *r = results_new();
	int count = 0;
	is_int(s ? store_load(s, 1, r, &err) : -1, 0, "%s: what a version 1 file holds is read", who);
	const struct result *const *all = results_of(r, RELU, &count);
	ok(count == 1 && all[0]->stats.median == 10 && strcmp(all[0]->algorithm.name, "jit") == 0,
		"%s: the time", who);
	ok(count == 1 && !all[0]->kernels[0] && !all[0]->algorithm.notes[0] && isnan(all[0]->enqueue_ns) &&
			isnan(all[0]->clock_mhz),
		"%s: what was not recorded then is unknown", who);
	all = results_of(r, TANH, &count);
	ok(count == 1 && strcmp(all[0]->why, "it broke") == 0, "%s: the failure", who);
	ok(results_is_finished(r, RELU) && !results_is_finished(r, TANH), "%s: what was finished", who);
	struct str out = { 0 };
	is_int(s ? store_check(s, &out, &err) : -1, 0, "%s: it is sound", who);
	printf("# %s\n", out.n ? out.p : "-");
	str_free(&out);
	results_free(r);
}

/* A check of a version 1 file that is only read finds every fault that such a file can have. */
static void test_version_1_faults(void)
{
	const char *path = scratch_path("one_bad.db");
	plant_version_1(path);
	plant(path,
		"INSERT INTO problem VALUES (3, 'conv:nonsense'), (4, 'eltwise:f32,f32:relu:4');"
		"INSERT INTO result SELECT 3, identity, attributes, 4, algorithm, status, cache, launch, "
		"rank, matrix, -5, n, discarded, executions, min_ns, q1_ns, median_ns, q3_ns, mean_ns, "
		"stdev_ns, lo_ns, hi_ns, stop, why, runner_version, measured_at FROM result WHERE id = 1");
	struct store *s = store_open(path, true, &err);
	struct str out = { 0 };
	is_int(s ? store_check(s, &out, &err) : -1, 3, "three faults in a file of version 1");
	has(out.n ? out.p : "", "result 3: has a workspace size out of range", "a number out of range");
	has(out.n ? out.p : "", "problem 3: problem text: ", "a problem that cannot be read");
	has(out.n ? out.p : "", "problem 3: no result refers to it", "a problem without results");
	printf("# %s\n", out.n ? out.p : err.text);
	str_free(&out);
	store_close(s);
}

static void test_version_1(void)
{
	const char *path = scratch_path("one.db");
	plant_version_1(path);
	struct store *s = store_open(path, true, &err);
	check_version_1(s, "reader");
	store_close(s);
	is_int(ask(path, "PRAGMA user_version"), 1, "a reader does not change the file");
	s = store_open(path, false, &err);
	check_version_1(s, "writer");
	is_int(ask(path, "PRAGMA user_version"), STORE_VERSION, "a writer migrates the file");
	struct arena a = { 0 };
	is_str(s ? store_dims_get(s, &a, "/m.onnx") : NULL, "{\"batch\":8}", "dimensions are kept");
	arena_free(&a);
	struct result one = help_result(RELU, "cudnn:engine 3", 12);
	one.kernels = "kernel_a\nkernel_b";
	is_int(s ? store_add(s, 1, &one, &err) : -1, 0, "new columns can be written");
	is_int(ask(path, "SELECT count(*) FROM result WHERE kernels = (SELECT id FROM note)"), 1,
		"the result is in the same file");
	store_close(s);
	store_close(open_new("fresh.db"));
	char *old = shape_of(path), *fresh = shape_of(scratch_path("fresh.db"));
	is_str(old, fresh, "a migrated schema equals a new one");
	ok(strstr(fresh, "result_key") != NULL, "its indexes are known");
	free(old);
	free(fresh);
}

static void test_notes(void)
{
	struct store *s = open_new("notes.db");
	const char *path = scratch_path("notes.db");
	int64_t id = store_device(s, &help_device, &err);
	struct result one = help_result(RELU, "a", 10);
	one.algorithm.notes = "tensor_core down_convert";
	one.kernels = "implicit_convolve_sgemm\nreduce";
	one.enqueue_ns = 2345.5;
	one.clock_mhz = 1980;
	store_add(s, id, &one, &err);
	one.cache = CACHE_WARM;
	store_add(s, id, &one, &err);
	one.launch = LAUNCH_ISOLATED;
	one.kernels = NULL;
	one.enqueue_ns = NAN;
	one.clock_mhz = 0;
	store_add(s, id, &one, &err);
	is_int(ask(path, "SELECT count(*) FROM note"), 2, "equal texts are kept once");
	struct results *r = results_new();
	int count;
	store_load(s, id, r, &err);
	const struct result *const *all = results_of(r, RELU, &count);
	is_int(count, 3, "three states");
	is_str(all[0]->algorithm.notes, "tensor_core down_convert", "notes");
	is_str(all[0]->kernels, "implicit_convolve_sgemm\nreduce", "kernels");
	near(all[0]->enqueue_ns, 2345.5, 0, "enqueue_ns");
	near(all[0]->clock_mhz, 1980, 0, "clock_mhz");
	ok(!all[2]->kernels[0] && isnan(all[2]->enqueue_ns) && isnan(all[2]->clock_mhz),
		"unknown numbers stay unknown");
	results_free(r);
	plant(path, "INSERT INTO note (text) VALUES ('nobody''s')");
	struct str out = { 0 };
	is_int(store_check(s, &out, &err), 1, "an unused note is a finding");
	has(out.p, "note 3: no result refers to it", "the finding names it");
	str_free(&out);
	store_close(s);
}

static void test_once_and_batches(void)
{
	struct store *s = open_new("batch.db"), *other = store_open(scratch_path("batch.db"), true, &err);
	const char *path = scratch_path("batch.db");
	struct result one = help_result(RELU, "a", 10);
	is_int(store_batch_begin(s, &err), 0, "a batch begins");
	int64_t id = store_device(s, &help_device, &err);
	is_int(store_add_once(s, id, &one, &err), 1, "a row is added");
	is_int(store_add_once(s, id, &one, &err), 0, "an equal row is not added again");
	one.stats.median *= 1 + 4e-12;
	one.stats.mean *= 1 - 4e-12;
	is_int(store_add_once(s, id, &one, &err), 0, "nor is one whose numbers were cut to 12 digits");
	one.stats.median *= 1.0001;
	is_int(store_add_once(s, id, &one, &err), 1, "another median is another row");
	one.stats.mean += 0.5;
	is_int(store_add_once(s, id, &one, &err), 1, "another mean too: a coarse clock has equal medians");
	one.measured_at++;
	is_int(store_add_once(s, id, &one, &err), 1, "another date");
	one.cache = CACHE_COLD;
	is_int(store_add_once(s, id, &one, &err), 1, "another state");
	one.algorithm.math = "tf32";
	is_int(store_add_once(s, id, &one, &err), 1, "another math");
	struct result bad = { .problem = RELU,
		.status = STATUS_NO_MEMORY,
		.algorithm = { .name = "b" },
		.why = "12 GB",
		.stats = { .median = NAN },
		.measured_at = 5 };
	is_int(store_add_once(s, id, &bad, &err), 1, "a failure");
	is_int(store_add_once(s, id, &bad, &err), 0, "an equal failure is not added again");
	is_int(store_finish(s, id, RELU, &err), 0, "finished");
	is_int(store_finish_once(s, id, RELU, &err), 0, "it was finished already");
	is_int(store_finish_once(s, id, TANH, &err), 1, "another problem was not finished");
	is_int(store_finish_once(s, id, TANH, &err), 0, "now it is finished");
	struct results *r = results_new();
	store_load(other, id, r, &err);
	is_int(results_problem_count(r), 0, "other handles do not see an open batch");
	is_int(store_batch_end(s, &err), 0, "the batch ends");
	store_load(other, id, r, &err);
	is_int(results_problem_count(r), 1, "the rows are there");
	is_int(ask(path, "SELECT count(*) FROM result"), 7, "seven rows");
	is_int(store_batch_end(s, &err), 0, "store_batch_end without a batch does nothing");
	is_int(store_add_once(s, id, &bad, &err), 0, "store_add_once without a batch");
	store_batch_begin(s, &err);
	one.problem = TANH;
	store_add_once(s, id, &one, &err);
	is_int(store_add_once(s, 77, &one, &err), -1, "an addition that fails");
	has(err.text, "77", "the error has the reason");
	is_int(ask(path, "SELECT count(*) FROM result"), 7, "the batch is rolled back and ended");
	is_int(store_add(s, id, &one, &err), 0, "additions work afterwards");
	is_int(ask(path, "SELECT count(*) FROM result"), 8, "each in its own transaction");
	store_batch_begin(s, &err);
	one.problem = RELU;
	one.measured_at = 9;
	store_add_once(s, id, &one, &err);
	store_close(s);
	is_int(ask(path, "SELECT count(*) FROM result"), 8, "a batch that was not ended is rolled back");
	results_free(r);
	store_close(other);
}

struct walk_log {
	struct str text;
	int stop_at;
};

static int walk_device(void *context, const struct device *d, struct store_seen seen, struct error *e)
{
	(void)seen, (void)e;
	str_addf(&((struct walk_log *)context)->text, "[%s %s]", d->model, d->version);
	return 0;
}

static int walk_result(void *context, const struct result *r, struct error *e)
{
	struct walk_log *log = context;
	str_addf(&log->text, " %s=%g",
		r->problem == NULL		     ? "?"
			: strstr(r->problem, "tanh") ? "tanh"
						     : "relu",
		r->stats.median);
	return --log->stop_at == 0 ? error_set(e, "enough") : 0;
}

static int walk_finished(void *context, const char *problem, struct error *e)
{
	struct walk_log *log = context;
	str_addf(&log->text, " %s", strstr(problem, "tanh") ? "TANH" : "RELU");
	return --log->stop_at == 0 ? error_set(e, "enough") : 0;
}

/* Finished problems come after the results; their callback can end the walk too. */
static void test_walk_finished(void)
{
	struct store *s = open_new("walked.db");
	int64_t id = store_device(s, &help_device, &err);
	struct result one = help_result(RELU, "a", 1);
	store_add(s, id, &one, &err);
	store_finish(s, id, RELU, &err);
	store_finish(s, id, TANH, &err);
	struct walk_log log = { .stop_at = -1 };
	struct store_walker w = { .context = &log, .device = walk_device, .result = walk_result,
		.finished = walk_finished };
	is_int(store_walk(s, id, &w, &err), 0, "a walk with finished problems");
	is_str(log.text.p, "[Example CPU 0.1.0] relu=1 RELU TANH", "after the results");
	str_clear(&log.text);
	log.stop_at = 2;
	is_int(store_walk(s, id, &w, &err), -1, "a finished problem can end the walk");
	is_str(err.text, "enough", "with its error");
	is_str(log.text.p, "[Example CPU 0.1.0] relu=1 RELU", "at once");
	is_int(store_add(s, id, &one, &err), 0, "the store can be written afterwards");
	str_free(&log.text);
	store_close(s);
}

static void test_walk(void)
{
	struct store *s = open_new("walk.db");
	struct device d = help_device;
	int64_t id = store_device(s, &d, &err);
	struct result one = help_result(RELU, "a", 1);
	store_add(s, id, &one, &err);
	one = help_result(TANH, "a", 2);
	store_add(s, id, &one, &err);
	one = help_result(RELU, "a", 3);
	store_add(s, id, &one, &err);
	d.version = "0.2.0";
	store_device(s, &d, &err);
	one = help_result(RELU, "a", 4);
	store_add(s, id, &one, &err);
	struct walk_log log = { .stop_at = -1 };
	struct store_walker w = { .context = &log, .device = walk_device, .result = walk_result };
	is_int(store_walk(s, id, &w, &err), 0, "store_walk returns 0");
	is_str(log.text.p, "[Example CPU 0.1.0] relu=1 relu=3 tanh=2[Example CPU 0.2.0] relu=4",
		"by attributes, problem and age, the replaced ones too");
	str_clear(&log.text);
	log.stop_at = 2;
	is_int(store_walk(s, id, &w, &err), -1, "a callback can end the walk");
	is_str(err.text, "enough", "with its error");
	is_str(log.text.p, "[Example CPU 0.1.0] relu=1 relu=3", "the walk ends at once");
	str_clear(&log.text);
	is_int(store_walk(s, 99, &w, &err), 0, "an unknown device");
	is_str(log.text.p ? log.text.p : "", "", "has no results");
	is_int(store_add(s, id, &one, &err), 0, "the store can be written afterwards");
	str_free(&log.text);
	store_close(s);
	plant_version_1(scratch_path("walk1.db"));
	s = store_open(scratch_path("walk1.db"), true, &err);
	log = (struct walk_log){ .stop_at = -1 };
	is_int(s ? store_walk(s, 1, &w, &err) : -1, 0, "a version 1 file");
	is_str(log.text.p, "[Example CPU 0.1.0] relu=10 tanh=nan", "store_walk reads it");
	str_free(&log.text);
	store_close(s);
}

static void test_check(void)
{
	static const struct {
		const char *sql, *finding;
	} faults[] = {
		{ "UPDATE problem SET text = 'conv:nonsense'", "problem 1: " },
		{ "UPDATE problem SET text = 'eltwise:f32,f32:relu:01x64x56x56'", "problem 1: " },
		{ "UPDATE result SET problem = 55", "result 1: refers to a missing row of problem" },
		{ "INSERT INTO algorithm (api, name, layouts, math) VALUES ('a', 'b', 'c', 'd')",
			"algorithm 2: no result" },
		{ "UPDATE result SET median_ns = NULL", "result 1: has the status ok but no time" },
		{ "UPDATE result SET n = 0", "result 1: has the status ok but no sample" },
		{ "UPDATE result SET q1_ns = 900", "result 1: has quartiles out of order" },
		{ "UPDATE result SET hi_ns = 9", "result 1: has a median outside its interval" },
		{ "UPDATE result SET lo_ns = 11", "result 1: has a median outside its interval" },
		{ "UPDATE result SET lo_ns = 12, hi_ns = 8", "result 1: has a median outside its interval" },
		{ "UPDATE result SET min_ns = -1", "result 1: has a negative statistic" },
		{ "UPDATE result SET min_ns = 11, q1_ns = NULL", "result 1: has quartiles out of order" },
		{ "UPDATE result SET q3_ns = 9", "result 1: has quartiles out of order" },
		{ "UPDATE result SET mean_ns = 8", "result 1: has a mean below" },
		{ "UPDATE result SET min_ns = 0, q1_ns = 0, lo_ns = 0, median_ns = 1e-300",
			"result 1: has a time below 0.01 ns" },
		{ "UPDATE result SET min_ns = 0, q1_ns = 0, lo_ns = 0, median_ns = 0.0099",
			"result 1: has a time below 0.01 ns" },
		{ "UPDATE result SET q3_ns = 1e300, hi_ns = 1e300, median_ns = 1e16",
			"result 1: has a time above 1e15 ns" },
		{ "UPDATE result SET hi_ns = 1e300", "result 1: has a time above 1e15 ns" },
		{ "UPDATE result SET stdev_ns = 9e999", "result 1: has a time above 1e15 ns" },
		{ "UPDATE result SET n = 9000000000000000000", "result 1: has a sample or execution count" },
		{ "UPDATE result SET discarded = -1", "result 1: has a sample or execution count" },
		{ "UPDATE result SET executions = 0", "result 1: has a sample or execution count" },
		{ "UPDATE result SET workspace_bytes = -1", "result 1: has a workspace size" },
		{ "UPDATE result SET enqueue_ns = -5", "result 1: has an enqueue time" },
		{ "UPDATE result SET enqueue_ns = 1e300", "result 1: has an enqueue time" },
		{ "UPDATE result SET clock_mhz = 1e300", "result 1: has a clock rate" },
		{ "UPDATE result SET clock_mhz = -1", "result 1: has a clock rate" },
		{ "UPDATE result SET measured_at = -1", "result 1: has a date" },
		{ "UPDATE result SET measured_at = 9000000000000000000", "result 1: has a date" },
		{ "UPDATE result SET status = 'great'", "result 1: has an unknown status" },
		{ "UPDATE result SET status = 'failed'", "result 1: has a time though" },
		{ "UPDATE algorithm SET name = ''", "result 1: has the status ok but no algorithm" },
		{ "INSERT INTO identity (model, stack) VALUES ('m', 's'); UPDATE result SET identity = 2",
			"result 1: has the attributes of another device" },
		{ "UPDATE attributes SET json = '{'", "attributes 1: its properties are no JSON object" },
		{ "INSERT INTO model_dims VALUES ('m', '[1]', 1)",
			"model_dims 1: its dimensions are no JSON object" },
		{ "CREATE VIEW v AS SELECT 1", "view v: of another program; drop it" },
		{ "CREATE TRIGGER t AFTER INSERT ON problem BEGIN SELECT 1; END",
			"trigger t: of another program; drop it" },
		{ "CREATE TABLE odd (n INTEGER); INSERT INTO odd VALUES (NULL); PRAGMA writable_schema = 1; "
		  "UPDATE sqlite_schema SET sql = 'CREATE TABLE odd (n INTEGER NOT NULL)' WHERE name = 'odd'",
			"file: NULL value in odd.n" },
	};
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct store *s = open_new("faulty.db");
		struct result one = help_result(RELU, "a", 10);
		store_add(s, store_device(s, &help_device, &err), &one, &err);
		store_close(s);
		plant(scratch_path("faulty.db"), "DROP TRIGGER result_no_update");
		plant(scratch_path("faulty.db"), faults[i].sql);
		s = store_open(scratch_path("faulty.db"), true, &err);
		struct str out = { 0 };
		ok(store_check(s, &out, &err) >= 1, "found: %s", faults[i].sql);
		has(out.p, faults[i].finding, "the finding names it");
		struct results *r = results_new();
		int count;
		store_load(s, 1, r, &err);
		const struct result *const *all = results_of(r, RELU, &count);
		ok(strncmp(faults[i].finding, "result 1: ", 10) != 0 || count == 0 ||
				all[0]->status != STATUS_OK,
			"and no measurement");
		results_free(r);
		str_free(&out);
		store_close(s);
	}
}

/* Numbers at the limits are no findings, and load. */
static void test_check_limits(void)
{
	static const char *const sound[] = {
		"n = 1",
		"executions = 1",
		"discarded = 0",
		"min_ns = 0, q1_ns = 0",
		"min_ns = 10, q1_ns = 10, median_ns = 10, q3_ns = 10, mean_ns = 10, lo_ns = 10, hi_ns = 10",
		"min_ns = 0, q1_ns = 0, lo_ns = 0, median_ns = 0.01",
		"q3_ns = 1e15, hi_ns = 1e15, mean_ns = 1e15, median_ns = 1e15",
		"n = 1000000000000",
		"workspace_bytes = 0",
		"workspace_bytes = 1e18",
		"enqueue_ns = 1e15",
		"clock_mhz = 1e6",
		"measured_at = 0",
		"measured_at = 253402300799",
		"min_ns = NULL, q1_ns = NULL, q3_ns = NULL, mean_ns = NULL, stdev_ns = NULL, lo_ns = NULL, "
		"hi_ns = NULL",
	};
	for (size_t i = 0; i < sizeof(sound) / sizeof(sound[0]); i++) {
		char sql[300];
		struct store *s = open_new("limits.db");
		struct result one = help_result(RELU, "a", 10);
		store_add(s, store_device(s, &help_device, &err), &one, &err);
		store_close(s);
		snprintf(sql, sizeof(sql), "DROP TRIGGER result_no_update; UPDATE result SET %s", sound[i]);
		plant(scratch_path("limits.db"), sql);
		s = store_open(scratch_path("limits.db"), true, &err);
		struct str out = { 0 };
		is_int(store_check(s, &out, &err), 0, "sound: %s", sound[i]);
		if (out.n)
			printf("# %s\n", out.p);
		struct results *r = results_new();
		int count = 0;
		store_load(s, 1, r, &err);
		results_of(r, RELU, &count);
		is_int(count, 1, "and loaded");
		results_free(r);
		str_free(&out);
		store_close(s);
	}
}

/* At most 100 findings of a kind are printed; all are counted. */
static void test_check_many(void)
{
	struct store *s = open_new("many.db");
	store_close(s);
	static const int counts[] = { 100, 101, 250 };
	for (int i = 0; i < 3; i++) {
		char sql[300];
		snprintf(sql, sizeof(sql),
			"DELETE FROM problem; WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c "
			"WHERE x < %d) "
			"INSERT INTO problem (text) SELECT 'eltwise:f32,f32:relu:' || x FROM c",
			counts[i]);
		plant(scratch_path("many.db"), sql);
		s = store_open(scratch_path("many.db"), true, &err);
		struct str out = { 0 };
		int lines = 0;
		is_int(store_check(s, &out, &err), counts[i], "%d problems without a result", counts[i]);
		for (const char *at = out.p; at && (at = strstr(at, ": no result refers to it\n")); at++)
			lines++;
		is_int(lines, 100, "100 lines");
		char more[64];
		snprintf(more, sizeof(more), "... and %d more of this kind\n", counts[i] - 100);
		if (counts[i] > 100)
			has(out.p, more, "the number of the others");
		else
			ok(!strstr(out.p, "more of this kind"), "no others");
		str_free(&out);
		store_close(s);
	}
}

static void test_unusable_rows(void)
{
	struct store *s = open_new("rows.db");
	struct result one = help_result(RELU, "a", 10);
	int64_t id = store_device(s, &help_device, &err);
	for (int i = 0; i < 5; i++)
		store_add(s, id, &one, &err);
	store_close(s);
	plant(scratch_path("rows.db"),
		"DROP TRIGGER result_no_update;"
		"UPDATE result SET median_ns = NULL WHERE id = 1; UPDATE result SET status = 'great' WHERE "
		"id = 2;"
		"UPDATE result SET median_ns = -4 WHERE id = 3; UPDATE result SET cache = '' WHERE id = 4;"
		"UPDATE result SET min_ns = 7 WHERE id = 5");
	s = store_open(scratch_path("rows.db"), true, &err);
	struct results *r = results_new();
	int count;
	is_int(store_load(s, id, r, &err), 0, "rows that mean nothing do not stop the others");
	const struct result *const *all = results_of(r, RELU, &count);
	ok(count == 1 && all[0]->stats.min == 7 && results_version(r) == 1, "and only the good one counts");
	results_free(r);
	store_close(s);
	plant(scratch_path("rows.db"), "UPDATE result SET why = 'x' WHERE id = 5");
	s = open_new("append.db");
	id = store_device(s, &help_device, &err);
	store_add(s, id, &one, &err);
	store_close(s);
	sqlite3 *db;
	sqlite3_open(scratch_path("append.db"), &db);
	ok(sqlite3_exec(db, "UPDATE result SET why = 'x'", NULL, NULL, NULL) != SQLITE_OK,
		"a result cannot be changed");
	ok(sqlite3_exec(db, "DELETE FROM result", NULL, NULL, NULL) != SQLITE_OK, "nor deleted");
	sqlite3_close(db);
}

/* What another program wrote: text comes out clean, and what was clean comes out as it is. */
static void test_clean(void)
{
	struct store *s = open_new("clean.db");
	struct result one = help_result(RELU, "caf\xc3\xa9", 10);
	one.kernels = "first\nsecond";
	int64_t id = store_device(s, &help_device, &err);
	store_add(s, id, &one, &err);
	one.algorithm.name = "b";
	store_add(s, id, &one, &err);
	store_close(s);
	plant(scratch_path("clean.db"),
		"DROP TRIGGER result_no_update; UPDATE algorithm SET name = 'x' || char(27) || '[31m', api = "
		"char(155),"
		" layouts = char(10), math = char(8238) WHERE name = 'b'; UPDATE result SET why = char(27) "
		"|| '[2J', runner_version = char(7) WHERE id = 2;"
		" INSERT INTO note VALUES (50, char(27) || 'a' || char(10) || 'b'); UPDATE result SET notes "
		"= 50, kernels = 50 WHERE id = 2;"
		" UPDATE identity SET model = model || char(13); UPDATE attributes SET host = char(127), "
		"json = '{\"isa\":\"\\u001b[31m\"}'");
	s = store_open(scratch_path("clean.db"), true, &err);
	struct results *r = results_new();
	struct arena a = { 0 };
	int count;
	store_load(s, id, r, &err);
	const struct result *const *all = results_of(r, RELU, &count);
	is_int(count, 2, "two results");
	is_str(all[0]->algorithm.name, "caf\xc3\xa9", "a clean name stays");
	is_str(all[0]->kernels, "first\nsecond", "clean lines too");
	const struct algorithm *g = &all[1]->algorithm;
	ok(strcmp(g->name, "x?[31m") == 0 && strcmp(g->api, "?") == 0 && strcmp(g->layouts, "?") == 0 &&
			strcmp(g->math, "?") == 0 && strcmp(g->notes, "?a?b") == 0,
		"an algorithm's texts are cleaned");
	ok(strcmp(all[1]->why, "?[2J") == 0 && strcmp(all[1]->runner_version, "?") == 0 &&
			strcmp(all[1]->kernels, "?a\nb") == 0,
		"and the result's");
	struct device *list;
	int64_t *ids;
	is_int(store_devices(s, &a, &list, &ids, &count, &err), 0, "devices");
	is_str(list[0].model, "Example CPU?", "the model is cleaned");
	is_str(list[0].stack, help_device.stack, "a clean stack stays");
	is_str(list[0].host, "?", "the host is cleaned");
	is_str(list[0].attributes, "{\"isa\":\"?[31m\"}", "escapes in attributes too");
	struct str out = { 0 };
	plant(scratch_path("clean.db"),
		"INSERT INTO problem (text) VALUES (char(27) || char(10) || 'forged');"
		"CREATE TABLE \"a\x1b[31m\nforged\" (x REFERENCES problem (id)); INSERT INTO "
		"\"a\x1b[31m\nforged\" VALUES (99)");
	ok(store_check(s, &out, &err) > 0 && !strchr(out.p, 27), "what check finds is clean");
	has(out.p, "a?[31m?forged 1: refers to a missing row of problem\n", "names of tables too");
	has(out.p, "problem 2: no result refers to it\nproblem 2: ", "one line a finding");
	ok(!strstr(out.p, "\nforged"), "whatever it quotes");
	str_free(&out);
	arena_free(&a);
	results_free(r);
	store_close(s);
}

/* The date of "m" is today's. */
static int visit_dims(void *context, const char *model_key, const char *json, int64_t at, struct error *e)
{
	(void)e;
	str_addf(context, "%s %s", model_key, json);
	if (strcmp(model_key, "m") != 0)
		str_addf(context, " %d", (int)at);
	str_puts(context, ";");
	return 0;
}

static int stop_dims(void *context, const char *model_key, const char *json, int64_t at, struct error *e)
{
	(void)json;
	(void)at;
	(void)e;
	str_addf(context, "%s;", model_key);
	return 7;
}

static void test_info_and_dims(void)
{
	struct store *s = open_new("info.db");
	struct arena a = { 0 };
	struct result one = help_result(RELU, "a", 10);
	store_add(s, store_device(s, &help_device, &err), &one, &err);
	is_str(store_path(s), scratch_path("info.db"), "path");
	json_t *info = store_info(s, &err);
	is_int(json_int_at(info, "schema_version", -1), STORE_VERSION, "schema_version");
	is_str(json_string_at(info, "journal_mode", ""), "wal", "journal_mode");
	is_int(json_int_at(info, "problems", -1), 1, "problems");
	is_int(json_int_at(info, "results", -1), 1, "results");
	ok(json_int_at(info, "file_bytes", -1) > 4096, "file_bytes");
	json_t *device = json_array_get(json_object_get(info, "devices"), 0);
	is_str(json_string_at(device, "model", ""), "Example CPU", "model");
	is_str(json_string_at(device, "last", ""), "2023-11-14T22:13:20Z", "last");
	is_int(json_int_at(device, "results", -1), 1, "results of the device");
	json_decref(info);
	ok(!store_dims_get(s, &a, "m"), "no dimensions yet");
	is_int(store_dims_put(s, "m", "{\"batch\":1}", &err), 0, "put");
	is_int(store_dims_put(s, "m", "{\"batch\":8}", &err), 0, "put again");
	is_str(store_dims_get(s, &a, "m"), "{\"batch\":8}", "got");
	ok(!store_dims_get(s, &a, "n"), "another model has none");
	is_int(store_dims_merge(s, "old", "{\"batch\":2}", 100, &err), 1, "merged: a new model");
	is_int(store_dims_merge(s, "old", "{\"batch\":3}", 99, &err), 0, "an older entry does not win");
	is_int(store_dims_merge(s, "old", "{\"batch\":4}", 101, &err), 1, "a newer one does");
	struct str seen = { 0 };
	is_int(store_dims_walk(s, visit_dims, &seen, &err), 0, "all models are visited");
	is_str(seen.p, "m {\"batch\":8};old {\"batch\":4} 101;", "by name");
	str_clear(&seen);
	is_int(store_dims_walk(s, stop_dims, &seen, &err), 7, "a visit ends the walk with its value");
	is_str(seen.p, "m;", "at once");
	str_free(&seen);
	arena_free(&a);
	store_close(s);
}

static void test_without_wal(void)
{
	sqlite3_vfs *usual = sqlite3_vfs_find(NULL), *dotfile = sqlite3_vfs_find("unix-dotfile");
	if (!dotfile) {
		ok(true, "# SKIP this SQLite has no file system layer without shared memory");
		return;
	}
	sqlite3_vfs_register(dotfile, 1); /* no shared memory, so no write-ahead log */
	struct store *s = open_new("plain.db");
	struct result one = help_result(RELU, "a", 10);
	int64_t id = store_device(s, &help_device, &err);
	is_int(store_add(s, id, &one, &err), 0, "added without a write-ahead log");
	json_t *info = store_info(s, &err);
	is_str(json_string_at(info, "journal_mode", ""), "delete", "journal_mode");
	json_decref(info);
	unlink(scratch_path("plain.db"));
	is_int(store_add(s, id, &one, &err), -1, "a removed file is noticed here too");
	store_close(s);
	sqlite3_vfs_register(usual, 1);
}

/* The child adds results for ever and writes a byte for each once it is acknowledged; the parent kills it
 * after some bytes, at whatever point it then is. */
static void test_kill(void)
{
	static const int acks[] = { 1, 2, 3, 17, 50, 171, 400, 1200 };
	const char *path = scratch_path("kill.db");
	int64_t acknowledged = 0, uncertain = 0;
	for (size_t i = 0; i < sizeof(acks) / sizeof(acks[0]); i++) {
		int pipes[2];
		if (pipe(pipes))
			return;
		fflush(stdout);
		pid_t child = fork();
		if (child == 0) {
			struct error e = ERROR_NONE;
			struct store *s = store_open(path, false, &e);
			int64_t id = s ? store_device(s, &help_device, &e) : -1;
			struct result one = help_result(RELU, "a", 10);
			for (;;)
				if (id < 0 || store_add(s, id, &one, &e) || write(pipes[1], "+", 1) != 1)
					_exit(1);
		}
		close(pipes[1]);
		char byte;
		for (int n = 0; n < acks[i] && read(pipes[0], &byte, 1) == 1; n++)
			acknowledged++;
		kill(child, SIGKILL);
		while (read(pipes[0], &byte, 1) == 1)
			acknowledged++;
		close(pipes[0]);
		int status;
		waitpid(child, &status, 0);
		ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "killed after %d", acks[i]);
		uncertain++; /* at most one commit may have gone through unacknowledged */
		int64_t kept = ask(path, "SELECT count(*) FROM result");
		ok(kept >= acknowledged && kept <= acknowledged + uncertain, "%lld acknowledged, %lld kept",
			(long long)acknowledged, (long long)kept);
	}
	struct store *s = store_open(path, false, &err);
	struct str out = { 0 };
	is_int(s ? store_check(s, &out, &err) : -1, 0, "and the file is whole");
	str_free(&out);
	store_close(s);
}

int main(void)
{
	scratch_make();
	test_round_trip();
	test_devices();
	test_seen();
	test_two_handles();
	test_many_processes();
	test_refused();
	test_corrupt();
	test_permissions();
	test_underneath();
	test_migration();
	test_version_1();
	test_version_1_faults();
	test_notes();
	test_once_and_batches();
	test_walk();
	test_walk_finished();
	test_check();
	test_check_limits();
	test_check_many();
	test_unusable_rows();
	test_clean();
	test_info_and_dims();
	test_without_wal();
	test_kill();
	scratch_remove();
	return done_testing();
}
