#include "config.h"

#include "tap.h"
#define has(text, part) ok(strstr(text, part) != NULL, "says %s: %s", part, text)

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/output.h"

static char folder[] = "output-test-XXXXXX";
static struct error err;

static const char *at(const char *name)
{
	static char paths[4][128];
	static int next;
	char *path = paths[next++ % 4];
	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static const char *contents(const char *path)
{
	static char text[64];
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	text[n] = '\0';
	if (f)
		fclose(f);
	return f ? text : "(none)";
}

static int put(const char *path, const struct output_rules *rules, const char *text)
{
	err.text[0] = '\0';
	return output_put(path, rules, text, strlen(text), &err);
}

/* The files of the folder. */
static int files(void)
{
	char command[128];
	int n = -1;
	snprintf(command, sizeof(command), "ls -A %s | wc -l", folder);
	FILE *f = popen(command, "r");
	if (f && fscanf(f, "%d", &n) != 1)
		n = -1;
	if (f)
		pclose(f);
	return n;
}

static void test_new(void)
{
	const struct output_rules rules = { .refusal = "do this" }, private = { .mode = 0600 };
	struct stat st;
	umask(022);
	is_int(put(at("a"), &rules, "one"), 0, "a new file");
	is_str(contents(at("a")), "one", "its contents");
	ok(stat(at("a"), &st) == 0 && (st.st_mode & 0777) == 0644, "readable");
	is_int(put(at("a"), &rules, "two"), -1, "an existing one");
	is_str(err.text, "the file exists; do this", "is refused");
	is_str(contents(at("a")), "one", "and kept");
	is_int(put(at("p"), &private, "x"), 0, "a private file");
	ok(stat(at("p"), &st) == 0 && (st.st_mode & 0777) == 0600, "is private");
	is_int(put(at("none/a"), &rules, "x"), -1, "no such folder");
	is_int(put(folder, &rules, "x"), -1, "a folder: %s", err.text);
	is_int(files(), 2, "nothing else is left");
}

static void test_replace(void)
{
	const struct output_rules rules = { 0 };
	struct stat st;
	chmod(at("a"), 0640);
	is_int(symlink("a", at("link")), 0, "a link");
	is_int(put(at("link"), &rules, "three"), 0, "is written through");
	is_str(contents(at("a")), "three", "to its file");
	ok(lstat(at("link"), &st) == 0 && S_ISLNK(st.st_mode), "and stays a link");
	ok(stat(at("a"), &st) == 0 && (st.st_mode & 0777) == 0640, "the file keeps its mode");
	is_int(symlink("nothing", at("loose")), 0, "a link to nothing");
	is_int(put(at("loose"), &rules, "x"), -1, "is refused: %s", err.text);
	chmod(at("a"), 0444);
	is_int(put(at("a"), &rules, "x"), geteuid() ? -1 : 0, "a file that cannot be written");
	chmod(at("a"), 0640);
	is_int(put(at("a"), &rules, "three"), 0, "one that can");
}

/* "./FOLDER" and the end. */
static const char *path_from_here(const char *end)
{
	static char path[128];
	snprintf(path, sizeof(path), "./%s%s", folder, end);
	return path;
}

static void test_reads(void)
{
	const char *reads[] = { "no/such/file", at("a"), NULL };
	const struct output_rules rules = { .reads = reads };
	is_int(link(at("a"), at("hard")), 0, "a hard link");
	is_int(put(at("a"), &rules, "x"), -1, "a file that is read");
	has(err.text, "is an input of this command");
	is_int(put(at("link"), &rules, "x"), -1, "a link to it");
	is_int(put(at("hard"), &rules, "x"), -1, "another name of it");
	is_str(contents(at("a")), "three", "it is kept");
	is_int(put(at("b"), &rules, "x"), 0, "another file");
	reads[0] = at("later.db");
	is_int(put(path_from_here("/./later.db"), &rules, "x"), -1, "the place of a file that will be read");
	has(err.text, "is read here");
	is_str(contents(at("later.db")), "(none)", "is kept free");
}

/* A file that has two names keeps both; a name as long as a file can have it. */
static void test_names(void)
{
	const struct output_rules rules = { 0 };
	struct stat st;
	char path[512];
	int before = files();
	is_int(put(at("h1"), &rules, "old contents"), 0, "a file");
	is_int(link(at("h1"), at("h2")), 0, "with a second name");
	is_int(put(at("h1"), &rules, "new"), 0, "is replaced");
	is_str(contents(at("h2")), "new", "under both names");
	ok(stat(at("h1"), &st) == 0 && st.st_nlink == 2, "which name one file");
	struct output *out = output_open(at("h1"), &rules, &err);
	fputs("whole", output_stream(out));
	ok(unlink(at("h1")) == 0 && symlink("/dev/full", at("h1")) == 0, "a disk that is full meanwhile");
	is_int(output_close(out, &err), -1, "cannot be written");
	const char *part = strstr(err.text, "the new contents are in ");
	is_str(part ? contents(part + 24) : "", "whole", "the only whole copy stays: %s", err.text);
	ok(part && unlink(part + 24) == 0 && unlink(at("h1")) == 0, "as long as it is needed");
	for (int n = 220; n <= 255; n++) {
		snprintf(path, sizeof(path), "%s/%0*d", folder, n, 7);
		if (put(path, &rules, "long") || put(path, &rules, "longer") ||
			strcmp(contents(path), "longer"))
			ok(false, "a name of %d bytes: %s", n, err.text);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/%0*d", folder, 256, 7);
	is_int(put(path, &rules, "x"), -1, "a name of 256 bytes");
	has(err.text, "File name too long");
	is_int(files(), before + 1, "nothing else is left");
}

static void test_appeared(void)
{
	const struct output_rules rules = { .refusal = "do this" };
	struct output *out = output_open(at("late"), &rules, &err);
	ok(out != NULL, "a file is begun");
	is_str(contents(at("late")), "(none)", "and not seen before it is complete");
	fputs("mine", output_stream(out));
	is_int(put(at("late"), &rules, "other"), 0, "another program makes one meanwhile");
	is_int(output_close(out, &err), -1, "it is not replaced: %s", err.text);
	is_str(contents(at("late")), "other", "and kept");
	int before = files();
	out = output_open(at("dropped"), &rules, &err);
	output_drop(out);
	is_int(files(), before, "nothing is left of a dropped one");
	out = output_open(at("abandoned"), &rules, &err);
	is_int(files(), before + 1, "one that is being written");
	output_abandon();
	is_int(files(), before, "is removed before a signal ends the program");
	output_drop(out);
	output_abandon();
}

static void test_direct(void)
{
	const struct output_rules rules = { .refusal = "do this" }, plain = { .files_only = true };
	char got[8] = "";
	is_int(mkfifo(at("pipe"), 0600), 0, "a pipe");
	int fd = open(at("pipe"), O_RDONLY | O_NONBLOCK);
	is_int(put(at("pipe"), &rules, "piped"), 0, "is written");
	is_int(read(fd, got, sizeof(got)), 5, "directly");
	is_str(got, "piped", "as it is");
	is_int(put(at("pipe"), &plain, "x"), -1, "unless only files are allowed");
	is_int(put("/dev/stdout", &plain, "x"), -1, "nor the standard output");
	is_int(put("/dev/null", &rules, "x"), 0, "a device");
	is_int(put("/dev/full", &rules, "x"), -1, "that is full");
	has(err.text, "cannot write: No space left");
	is_int(put("/dev/stdout", &rules, "# on the standard output\n"), 0, "the standard output");
	is_int(put("-", &rules, "# there, too\n"), 0, "the standard output as -");
	is_int(put("-", &plain, "x"), -1, "unless only files are allowed");
	is_int(access("-", F_OK), -1, "no file is made of it");
	ok(output_is_stdout("-") && output_is_stdout("/dev/stdout") && !output_is_stdout("/dev/null"),
		"is known");
	close(fd);
}

static void test_full(void)
{
	const struct output_rules rules = { 0 };
	struct rlimit before, most = { .rlim_cur = 4096 };
	char *bytes = calloc(1, 100000);
	int count = files();
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	most.rlim_max = before.rlim_max;
	setrlimit(RLIMIT_FSIZE, &most);
	is_int(output_put(at("a"), &rules, bytes, 100000, &err), -1, "a full disk: %s", err.text);
	is_int(output_put(at("new"), &rules, bytes, 100000, &err), -1, "for a new file");
	setrlimit(RLIMIT_FSIZE, &before);
	is_str(contents(at("a")), "three", "the old file is kept");
	is_int(files(), count, "and nothing else");
	free(bytes);
}

static void test_folder(void)
{
	struct stat st;
	folder_make(at("x/y/z"));
	ok(stat(at("x/y"), &st) == 0 && (st.st_mode & 0777) == 0700, "folders are private");
	is_int(symlink("../a", at("x/out")), 0, "a link out of a folder");
	is_int(symlink("../x/y", at("x/in")), 0, "one that stays");
	ok(!folder_holds(at("x/m"), at("x/out")), "leads out");
	ok(folder_holds(at("x/m"), at("x/in")), "does not");
	ok(!folder_holds(at("x/m"), at("a")), "nor is a file outside held");
	ok(folder_holds(at("x/m"), at("x/none")), "one that is not there has its own error");
	is_int(mkdir(at("xy"), 0700), 0, "a folder whose name begins the same");
	ok(!folder_holds(at("x/m"), at("xy")), "is another one");
	ok(folder_holds("/m", "/etc"), "the root");
	ok(folder_holds("m", at("a")), "no folder");
}

int main(void)
{
	if (!mkdtemp(folder))
		return 1;
	test_new();
	test_replace();
	test_reads();
	test_names();
	test_appeared();
	test_direct();
	test_full();
	test_folder();
	char command[128];
	snprintf(command, sizeof(command), "rm -r %s", folder);
	is_int(system(command), 0, "removed");
	return done_testing();
}
