#include "config.h"

#include "runner/gpu/cuda_library.h"

#include <stdlib.h>
#include <unistd.h>

#include "tap.h"

static double (*found_cos)(double);
static void *found_more;

static void test_found(void)
{
	static const char *const names[] = { "libnowhere-to-be-found.so.7", "libm.so.6", NULL };
	const struct cuda_library_symbol symbols[] = { { "cos", (void **)&found_cos, false },
		{ "benanza_of_a_later_version", &found_more, true } };
	struct error err = ERROR_NONE;
	ok(cuda_library_open(names, symbols, 2, "install it", &err) != NULL,
		"the first name that loads is taken");
	is_str(err.text, "", "and nothing is said");
	ok(found_cos && found_cos(0) == 1, "its symbols are filled");
	ok(!found_more, "an optional one may be missing");
}

static void test_missing(void)
{
	static const char *const names[] = { "libnowhere-to-be-found.so.7", "libnowhere.so", NULL };
	struct error err = ERROR_NONE;
	ok(!cuda_library_open(names, NULL, 0, "install it, or set LD_LIBRARY_PATH", &err), "no library");
	ok(strncmp(err.text, "libnowhere-to-be-found.so.7: ", 29) == 0, "the first name is said: %s",
		err.text);
	ok(strstr(err.text, "; install it, or set LD_LIBRARY_PATH"), "the cure is said");
	ok(!strchr(err.text, '\n'), "in one line");
}

static void test_symbol(void)
{
	static const char *const names[] = { "libm.so.6", NULL };
	void *none = &found_more;
	const struct cuda_library_symbol symbols[] = { { "cos", (void **)&found_cos, false },
		{ "benanza_of_a_later_version", &none, false } };
	struct error err = ERROR_NONE;
	ok(!cuda_library_open(names, symbols, 2, "install version 9", &err), "a symbol is missing");
	ok(strstr(err.text, "libm.so.6 has no benanza_of_a_later_version") != NULL, "named: %s", err.text);
	ok(strstr(err.text, "install version 9") != NULL, "with the cure");
	ok(!found_cos && !none, "no half-filled table");
}

/* A file in a toolkit's folder that is not a library: its error is more useful than that the loader's search
 * found nothing. */
static void test_broken(const char *variable)
{
	static const char *const names[] = { "libbroken-of-benanza.so.1", NULL };
	char home[] = "cuda_library_XXXXXX", path[256];
	struct error err = ERROR_NONE;
	if (!ok(mkdtemp(home) != NULL, "a folder"))
		return;
	char folder[64];
	snprintf(folder, sizeof(folder), "mkdir %s/lib64", home);
	ok(system(folder) == 0, "a toolkit's folder");
	snprintf(path, sizeof(path), "%s/lib64/%s", home, names[0]);
	FILE *f = fopen(path, "w");
	if (f) {
		fputs("no library at all, only some words that fill it\n", f);
		fclose(f);
	}
	setenv(variable, home, 1);
	ok(!cuda_library_open(names, NULL, 0, "install it", &err), "%s: a broken library", variable);
	ok(strstr(err.text, "/lib64/libbroken") != NULL && !strstr(err.text, "No such file"),
		"said of the file: %s", err.text);
	unsetenv(variable);
	unlink(path);
	path[strlen(home) + 6] = '\0';
	rmdir(path);
	rmdir(home);
}

int main(void)
{
	test_found();
	test_missing();
	test_symbol();
	test_broken("CUDA_HOME");
	test_broken("CUDA_PATH");
	return done_testing();
}
