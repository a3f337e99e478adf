/* The folder of compiled plans: damaged files, foreign files, a full disk, the limit, two processes. */
#include "config.h"

#include "tests/unit/tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runner/cudnn/plan_cache.h"

static char root[] = "/tmp/t_plan_cache.XXXXXX";
static struct error err;

static struct plan_cache opened(const char *name, const char *mb)
{
	struct plan_cache c;
	char folder[256];
	snprintf(folder, sizeof(folder), "%s/%s", root, name);
	setenv("BENANZA_PLAN_CACHE", folder, 1);
	setenv("BENANZA_PLAN_CACHE_MB", mb, 1);
	plan_cache_open(&c);
	return c;
}

/* True if the key's plan is this text. */
static bool has(const struct plan_cache *c, const char *key, const char *text)
{
	size_t size = 0;
	char *plan = plan_cache_load(c, key, &size);
	bool same = plan && size == strlen(text) && memcmp(plan, text, size) == 0;
	free(plan);
	return same;
}

/* Counts the files of the folder, drafts included; sets the path of one of them. */
static int files(const struct plan_cache *c, char *path, size_t size)
{
	DIR *d = opendir(c->folder);
	int n = 0;
	for (struct dirent *e; d && (e = readdir(d));) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, size, "%.400s/%.100s", c->folder, e->d_name);
		n++;
	}
	if (d)
		closedir(d);
	return n;
}

static void test_kept(void)
{
	struct plan_cache c = opened("a/b", "10");
	is_str(c.folder + strlen(root), "/a/b", "the folder that was named");
	is_int(c.limit_bytes, 10 << 20, "its limit");
	ok(!has(&c, "key", "plan"), "nothing at first");
	is_int(plan_cache_store(&c, "key", "plan", 4, &err), 0, "stored: %s", err.text);
	ok(has(&c, "key", "plan"), "and there");
	ok(!has(&c, "key2", "plan"), "not for another key");
	is_int(plan_cache_store(&c, "key", "a\nplan\n", 7, &err), 0, "replaced");
	ok(has(&c, "key", "a\nplan\n"), "by this");
	plan_cache_store(&c, "two\nlines", "", 0, &err);
	ok(has(&c, "two\nlines", ""), "any key, an empty plan");
	setenv("BENANZA_PLAN_CACHE", "none", 1);
	plan_cache_open(&c);
	is_str(c.folder, "", "none");
	ok(plan_cache_store(&c, "key", "plan", 4, &err) == 0 && !has(&c, "key", "plan"), "keeps nothing");
	unsetenv("BENANZA_PLAN_CACHE");
	setenv("XDG_CACHE_HOME", "/x", 1);
	setenv("BENANZA_PLAN_CACHE_MB", "many", 1);
	plan_cache_open(&c);
	is_str(c.folder, "/x/benanza/plans", "the user's cache");
	is_int(c.limit_bytes, (int64_t)PLAN_CACHE_MB << 20, "what is no number is no limit");
	setenv("XDG_CACHE_HOME", "relative", 1);
	setenv("HOME", "/h", 1);
	plan_cache_open(&c);
	is_str(c.folder, "/h/.cache/benanza/plans", "or what stands for it");
}

/* Every single changed, missing or added byte is seen. */
static void test_damaged(void)
{
	struct plan_cache c = opened("damaged", "10");
	char path[600], whole[256];
	plan_cache_store(&c, "key", "a plan", 6, &err);
	is_int(files(&c, path, sizeof(path)), 1, "one file, no draft");
	int fd = open(path, O_RDWR);
	ssize_t size = read(fd, whole, sizeof(whole));
	int seen = 0;
	for (ssize_t i = 0; i < size; i++) {
		char other = (char)(whole[i] ^ 1);
		bool changed = pwrite(fd, &other, 1, i) == 1 && !has(&c, "key", "a plan");
		seen += changed && pwrite(fd, whole + i, 1, i) == 1 && has(&c, "key", "a plan");
	}
	is_int(seen, size, "a changed byte");
	for (ssize_t i = size - 1; i >= 0; i--)
		seen -= ftruncate(fd, i) == 0 && !has(&c, "key", "a plan");
	is_int(seen, 0, "missing ones");
	ok(pwrite(fd, whole, (size_t)size, 0) == size && has(&c, "key", "a plan") &&
			pwrite(fd, "x", 1, size) == 1 && !has(&c, "key", "a plan"), "one too many");
	is_int(plan_cache_store(&c, "key", "a plan", 6, &err), 0, "a damaged file");
	ok(has(&c, "key", "a plan"), "is replaced");
	close(fd);
}

static void test_foreign(void)
{
	struct plan_cache c = opened("foreign", "10");
	char path[600], other[700];
	plan_cache_store(&c, "key", "a plan", 6, &err);
	files(&c, path, sizeof(path));
	chmod(path, 0666);
	ok(!has(&c, "key", "a plan"), "a file that others can write is not read");
	chmod(path, 0600);
	snprintf(other, sizeof(other), "%s/elsewhere", root);
	ok(rename(path, other) == 0 && symlink(other, path) == 0 && !has(&c, "key", "a plan"),
		"nor one behind a link");
	unlink(path);
	ok(mkdir(path, 0700) == 0 && !has(&c, "key", "a plan"), "nor a folder");
	is_int(plan_cache_store(&c, "key", "a plan", 6, &err), -1, "which cannot be replaced");
	ok(*err.text && files(&c, path, sizeof(path)) == 1, "and leaves no draft: %s", err.text);
	rmdir(path);
	ok(mkfifo(path, 0600) == 0 && !has(&c, "key", "a plan"), "nor a pipe, without waiting for it");
	chmod(c.folder, 0777);
	is_int(plan_cache_store(&c, "other", "a plan", 6, &err), -1, "a folder that others can write");
	ok(strstr(err.text, "others can write to "), "is not used: %s", err.text);
}

static void test_full(void)
{
	struct plan_cache c = opened("full", "10");
	struct rlimit before, most = { .rlim_cur = 4096 };
	char path[600], *plan = calloc(1, 100000);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	most.rlim_max = before.rlim_max;
	setrlimit(RLIMIT_FSIZE, &most);
	is_int(plan_cache_store(&c, "key", plan, 100000, &err), -1, "a full disk: %s", err.text);
	is_int(files(&c, path, sizeof(path)), 0, "nothing is left of it");
	setrlimit(RLIMIT_FSIZE, &before);
	is_int(plan_cache_store(&c, "key", plan, 100000, &err), 0, "there is room again");
	free(plan);
}

static void pause_ms(int ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000L }, NULL);
}

static void test_limit(void)
{
	struct plan_cache c = opened("limit", "1");
	enum { SIZE = 300000 };
	char *plan = calloc(1, SIZE + 1), key[16], path[600];
	size_t size;
	memset(plan, 'x', SIZE);
	for (int i = 0; i < 3; i++) {
		snprintf(key, sizeof(key), "key %d", i);
		plan_cache_store(&c, key, plan, SIZE, &err);
		pause_ms(10); /* dates of files are as coarse as the system's clock */
	}
	free(plan_cache_load(&c, "key 0", &size));
	pause_ms(10);
	plan_cache_store(&c, "key 3", plan, SIZE, &err);
	ok(has(&c, "key 0", plan), "what was used lately is kept");
	ok(!has(&c, "key 1", plan), "what was not is removed");
	ok(has(&c, "key 2", plan) && has(&c, "key 3", plan), "as far as necessary");
	is_int(files(&c, path, sizeof(path)), 3, "three fit");
	char *huge = calloc(1, 2 << 20);
	is_int(plan_cache_store(&c, "huge", huge, 2 << 20, &err), 0, "what can never fit");
	is_int(files(&c, path, sizeof(path)), 3, "removes nothing");
	free(huge);
	free(plan);
}

/* Two processes store, load and evict the same keys: what is loaded is always whole. */
static void test_two(void)
{
	struct plan_cache c = opened("two", "1");
	enum { SIZE = 120000, KEYS = 12, TURNS = 60 };
	char *plan = calloc(1, SIZE + 1), path[600];
	pid_t child = fork();
	bool wrong = false;
	int found = 0;
	for (int i = 0; i < TURNS; i++) {
		char key[16];
		size_t size = 0;
		memset(plan, 'a' + i % KEYS, SIZE);
		snprintf(key, sizeof(key), "key %d", i % KEYS);
		wrong |= plan_cache_store(&c, key, plan, SIZE, &err) != 0;
		char *back = plan_cache_load(&c, key, &size);
		wrong |= back && (size != SIZE || memcmp(back, plan, SIZE) != 0);
		found += back != NULL;
		free(back);
	}
	if (child == 0)
		_exit(wrong || !found);
	int status = 1;
	waitpid(child, &status, 0);
	ok(!wrong && found, "one of two processes: %d found, %s", found, err.text);
	is_int(status, 0, "the other one");
	int n = files(&c, path, sizeof(path));
	ok(n > 0 && n <= 8, "%d files remain, no draft", n);
	free(plan);
}

int main(void)
{
	char command[64];
	if (!mkdtemp(root))
		return 1;
	test_kept();
	test_damaged();
	test_foreign();
	test_full();
	test_limit();
	test_two();
	snprintf(command, sizeof(command), "rm -r %s", root);
	is_int(system(command), 0, "removed");
	return done_testing();
}
