/* Digests of files. The expected ones are examples of FIPS 180-4. */
#include "config.h"

#include <sys/stat.h>

#include "base/arena.h"
#include "base/digest.h"

#include "store_help.h"

static void check(const char *name, const char *text, size_t n, const char *want)
{
	char digest[DIGEST_SIZE];
	int64_t bytes;
	struct error err = ERROR_NONE;
	file_write(scratch_path("file"), text, n);
	is_int(digest_file(scratch_path("file"), NULL, digest, &bytes, &err), 0, "%s: %s", name, err.text);
	is_str(digest, want, "its digest");
	is_int(bytes, (int64_t)n, "its size");
}

/* The key of a file: size, first and last MiB. */
static void test_ends(void)
{
	enum { BIG = 3 << 20 };
	char keys[4][DIGEST_SIZE], *big = calloc(BIG, 1);
	struct error err = ERROR_NONE;
	static const int changed[] = { -1, BIG - 1, 0, BIG / 2 };
	for (int i = 0; i < 4; i++) {
		memset(big, 0, BIG);
		if (changed[i] >= 0)
			big[changed[i]] = 1;
		file_write(scratch_path("big"), big, BIG);
		is_int(digest_ends(scratch_path("big"), keys[i], &err), 0, "a key: %s", err.text);
	}
	ok(strcmp(keys[0], keys[1]) != 0 && strcmp(keys[0], keys[2]) != 0, "its ends make a difference");
	is_str(keys[3], keys[0], "its middle is not read");
	file_write(scratch_path("big"), big, BIG / 2);
	digest_ends(scratch_path("big"), keys[1], &err);
	ok(strcmp(keys[0], keys[1]) != 0, "nor is another size the same");
	is_int(digest_ends(scratch_path("none"), keys[0], &err), -1, "a missing file");
	has(err.text, "none: cannot be read", "is named");
	free(big);
}

int main(void)
{
	scratch_make();
	check("abc", "abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	check("an empty file", "", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	char *million = malloc(1000000);
	memset(million, 'a', 1000000);
	check("a million times a", million, 1000000,
		"cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	free(million);
	test_ends();
	char digest[DIGEST_SIZE];
	int64_t bytes;
	struct error err = ERROR_NONE;
	is_int(digest_file(scratch_path("none"), NULL, digest, &bytes, &err), -1, "a missing file");
	has(err.text, "none: cannot be read: No such file", "is named");
	is_int(digest_file(scratch, NULL, digest, &bytes, &err), -1, "a directory");
	has(err.text, "not a regular file", "is refused");
	mkfifo(scratch_path("pipe"), 0600);
	is_int(digest_file(scratch_path("pipe"), NULL, digest, &bytes, &err), -1, "a pipe does not block");
	struct digest *d = digest_open(scratch_path("file"), &err);
	is_int(digest_step(d, 1, NULL, &err), 1, "a step of a block");
	is_int(digest_bytes(d), 1 << 18, "does not read the whole file");
	while (digest_step(d, 1, NULL, &err) > 0)
		;
	is_str(digest_text(d), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
		"all steps");
	digest_close(d);
	sig_atomic_t stop = 1;
	is_int(digest_file(scratch_path("file"), &stop, digest, &bytes, &err), -1, "an interrupt ends it");
	scratch_remove();
	return done_testing();
}
