/* What is kept of models between runs: bounded in number and size, damaged and hostile files ignored. */
#include "config.h"

#include "session/recent.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store_help.h"

static char *key_of(int i)
{
	static char key[DIGEST_SIZE];
	snprintf(key, sizeof(key), "%064x", (unsigned)i + 1);
	return key;
}

static char *file_of(int i)
{
	static char path[512];
	snprintf(path, sizeof(path), "%s/benanza/models/%s.json", scratch, key_of(i));
	return path;
}

static int save(int i, const char *model)
{
	struct error err = ERROR_NONE;
	json_t *state = json_pack("{s:i, s:s}", "version", 1, "path", model);
	int bad = recent_save(key_of(i), state, &err);
	json_decref(state);
	struct timespec when[2] = { { .tv_sec = 1000 + i }, { .tv_sec = 1000 + i } };
	utimensat(AT_FDCWD, file_of(i), when, 0);
	return bad;
}

static void ignored(int i, const char *name)
{
	struct error err = ERROR_NONE;
	json_t *state = recent_load(key_of(i), &err);
	ok(!state, "%s: ignored", name);
	has(err.text, "the last state is ignored, ", "with a note");
	json_decref(state);
}

static void test_hostile(void)
{
	static const char *const texts[][2] = { { "damaged", "{\"version\":1,\"path\":\"/x" },
		{ "not an object", "[1]" }, { "another version", "{\"version\":2}" }, { "empty", "" },
		{ "no JSON", "\x01\xff\x00" } };
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		file_write(file_of(0), texts[i][1], strlen(texts[i][1]));
		ignored(0, texts[i][0]);
	}
	char *large = malloc(RECENT_BYTES_MOST + 1);
	memset(large, ' ', RECENT_BYTES_MOST + 1);
	file_write(file_of(0), large, RECENT_BYTES_MOST + 1);
	free(large);
	ignored(0, "too large");
	unlink(file_of(0));
	is_int(symlink("/etc/passwd", file_of(0)), 0, "a link");
	ignored(0, "a link");
	unlink(file_of(0));
	mkfifo(file_of(0), 0600);
	ignored(0, "a pipe, which does not block");
	unlink(file_of(0));
	struct error err = ERROR_NONE;
	ok(!recent_load("../../x", &err) && !err.text[0], "a key is no path");
}

int main(void)
{
	scratch_make();
	setenv("XDG_STATE_HOME", scratch, 1);
	struct error err = ERROR_NONE;
	struct arena a = { 0 };
	struct recent *list;
	ok(!recent_load(key_of(0), &err) && !err.text[0], "nothing is kept at first");
	is_int(recent_list(&a, &list), 0, "no models");
	file_write(scratch_path("one.onnx"), "1", 1);
	file_write(scratch_path("two.onnx"), "2", 1);
	is_int(save(0, scratch_path("one.onnx")), 0, "saved");
	is_int(save(1, scratch_path("two.onnx")), 0, "saved");
	is_int(save(2, scratch_path("gone.onnx")), 0, "saved");
	struct stat st;
	ok(stat(file_of(0), &st) == 0 && (st.st_mode & 0777) == 0600, "nobody else reads it");
	json_t *state = recent_load(key_of(0), &err);
	is_str(json_string_at(state, "path", ""), scratch_path("one.onnx"), "loaded");
	json_decref(state);
	is_int(recent_list(&a, &list), 2, "models whose files exist");
	is_str(list[0].path, scratch_path("two.onnx"), "the newest first");
	test_hostile();
	for (int i = 0; i < RECENT_MOST + 5; i++)
		save(i, scratch_path("one.onnx"));
	save(0, scratch_path("one.onnx"));
	int files = 0;
	for (int i = 0; i < RECENT_MOST + 5; i++)
		files += access(file_of(i), F_OK) == 0;
	is_int(files, RECENT_MOST, "no more than the newest are kept");
	ok(access(file_of(1), F_OK) != 0, "the oldest are removed");
	state = json_pack("{s:i, s:o}", "version", 1, "names", json_array());
	for (int i = 0; i < RECENT_BYTES_MOST; i++)
		json_array_append_new(json_object_get(state, "names"), json_integer(1));
	is_int(recent_save(key_of(3), state, &err), -1, "no large file is written");
	has(err.text, "too large", "it says so");
	json_decref(state);
	setenv("XDG_STATE_HOME", "/proc/none", 1);
	is_int(save(0, "/x"), -1, "a directory that cannot be made");
	arena_free(&a);
	scratch_remove();
	return done_testing();
}
