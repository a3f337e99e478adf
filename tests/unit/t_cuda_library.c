#include "config.h"

#include "runner/gpu/cuda_library.h"

#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner/gpu/cuda_folders.h"
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

/* --- Python's folders --- */

static char top[] = "/tmp/t_cuda_library.XXXXXX";
static struct cuda_folders folders;

__attribute__((format(printf, 1, 2))) static void shell(const char *fmt, ...)
{
	char command[2048], line[2200];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	snprintf(line, sizeof(line), "cd %s && %s", top, command);
	if (system(line) != 0)
		printf("# fails: %s\n", line);
}

static void variable(const char *name, const char *under)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", top, under);
	setenv(name, path, 1);
}

static bool finds(const char *under)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", top, under);
	for (int i = 0; i < folders.count; i++)
		if (strcmp(folders.path[i], path) == 0)
			return true;
	return false;
}

#define SITE "/lib/python3.9/site-packages/nvidia/"

/* An installation with wheels of two versions of Python, two environments, a user's folder, pyenv's shims. */
static void tree_make(void)
{
	shell("mkdir -p base/bin user v1/bin v2/bin pyenv/shims pyenv/versions/3.9/bin no");
	for (int i = 8; i <= 9; i++)
		shell("mkdir -p base/lib/python3.%d/site-packages/nvidia/cublas/lib", i);
	shell("mkdir -p user" SITE "cudnn/lib v1" SITE "cudnn/lib "
		"v2/lib64/python3.9/site-packages/nvidia/cu13/lib "
		"pyenv/versions/3.9" SITE "cu13/lib");
	shell("mkdir -p free/nvidia/cudnn/lib free/nvidia/cu13/lib free/nvidia/cudnn/include");
	shell("touch base/bin/python3.9 pyenv/shims/python3 pyenv/versions/3.9/bin/python3.9");
	shell("chmod +x base/bin/python3.9 pyenv/shims/python3 pyenv/versions/3.9/bin/python3.9");
	shell("ln -s python3.9 base/bin/python3; ln -s python3.9 pyenv/versions/3.9/bin/python3");
	shell("ln -s ../../base/bin/python3 v1/bin/python3; ln -s ../../base/bin/python3 v2/bin/python3");
	shell("echo 3.9 > pyenv/version");
	shell("printf 'home = %s/base/bin\\ninclude-system-site-packages = false\\n' > v1/pyvenv.cfg", top);
	shell("printf 'home = %s/base/bin\\ninclude-system-site-packages=true\\n' > v2/pyvenv.cfg", top);
}

static void test_folders(void)
{
	variable("PYTHONUSERBASE", "user");
	unsetenv("LD_LIBRARY_PATH");
	variable("PATH", "base/bin");
	cuda_folders_find(&folders);
	ok(finds("base" SITE "cublas/lib") && finds("user" SITE "cudnn/lib"),
		"an installation and the user's");
	ok(!finds("base/lib/python3.8/site-packages/nvidia/cublas/lib"), "of this version of Python");
	variable("PATH", "v1/bin");
	cuda_folders_find(&folders);
	ok(finds("v1" SITE "cudnn/lib"), "a virtual environment");
	ok(!finds("base" SITE "cublas/lib") && !finds("user" SITE "cudnn/lib"), "by itself");
	variable("PATH", "v2/bin");
	cuda_folders_find(&folders);
	ok(finds("v2/lib64/python3.9/site-packages/nvidia/cu13/lib"), "another one");
	ok(finds("base" SITE "cublas/lib") && finds("user" SITE "cudnn/lib"), "that includes the system's");
	variable("PATH", "pyenv/shims");
	cuda_folders_find(&folders);
	ok(finds("pyenv/versions/3.9" SITE "cu13/lib"), "what pyenv has chosen");
	setenv("PYENV_VERSION", "3.7", 1);
	cuda_folders_find(&folders);
	ok(!finds("pyenv/versions/3.9" SITE "cu13/lib"), "another choice");
	unsetenv("PYENV_VERSION");
	variable("PATH", "no");
	variable("LD_LIBRARY_PATH", "free/nvidia/cudnn/lib/:relative/nvidia/x/lib::/");
	cuda_folders_find(&folders);
	ok(finds("free/nvidia/cu13/lib"), "beside a folder of LD_LIBRARY_PATH");
	int before = folders.count;
	unsetenv("LD_LIBRARY_PATH");
	cuda_folders_find(&folders);
	is_int(before - folders.count, 2, "each once, and nothing without it");
	unsetenv("PATH");
	cuda_folders_find(&folders);
	ok(!finds("base" SITE "cublas/lib"), "no PATH, no Python");
}

/* A library that only a wheel has. */
static void test_wheel(void)
{
	static const char *const names[] = { "libwheel-of-benanza.so.1", NULL };
	const struct cuda_library_symbol symbols[] = { { "cos", (void **)&found_cos, false } };
	struct error err = ERROR_NONE;
	Dl_info libm;
	double (*function)(double) = cos;
	void *address;
	memcpy(&address, &function, sizeof(address));
	if (!ok(dladdr(address, &libm) && strstr(libm.dli_fname, "libm"), "a library to copy"))
		return;
	variable("PATH", "v1/bin");
	ok(!cuda_library_open(names, symbols, 1, "install it", &err), "not there: %s", err.text);
	json_t *attributes = json_object();
	cuda_library_missing(attributes, "Wheel", err.text);
	setenv("PATH", "/usr/bin:/bin", 1);
	shell("cp %s v1" SITE "cudnn/lib/%s", libm.dli_fname, names[0]);
	variable("PATH", "v1/bin");
	ok(cuda_library_open(names, symbols, 1, "install it", &err) != NULL,
		"there, without LD_LIBRARY_PATH");
	memcpy(&address, &found_cos, sizeof(address));
	cuda_library_present(attributes, "Wheel", "1.2", address);
	const json_t *list = json_object_get(attributes, "libraries"), *missing = json_array_get(list, 0),
		     *present = json_array_get(list, 1);
	ok(json_is_false(json_object_get(missing, "present")) &&
			json_is_true(json_object_get(present, "present")),
		"listed as missing and as present");
	is_str(json_string_at(missing, "fix", ""), "install it", "the fix");
	const char *why = json_string_at(missing, "why", ""), *path = json_string_at(present, "path", "");
	ok(strstr(why, names[0]) && !strchr(why, ';'), "the reason: %s", why);
	bool tried = false;
	size_t i;
	const json_t *one;
	json_array_foreach(json_object_get(missing, "tried"), i, one)
		tried |= strstr(json_string_value(one), "v1" SITE "cudnn/lib") != NULL;
	ok(tried, "what was tried");
	is_str(json_string_at(present, "version", ""), "1.2", "the version");
	ok(strstr(path, "v1" SITE "cudnn/lib/libwheel-of-benanza.so.1") != NULL, "the path: %s", path);
	json_decref(attributes);
}

int main(void)
{
	test_found();
	test_missing();
	test_symbol();
	test_broken("CUDA_HOME");
	test_broken("CUDA_PATH");
	if (ok(mkdtemp(top) != NULL, "a folder")) {
		tree_make();
		test_folders();
		test_wheel();
		setenv("PATH", "/usr/bin:/bin", 1);
		shell("rm -rf %s", top);
	}
	return done_testing();
}
