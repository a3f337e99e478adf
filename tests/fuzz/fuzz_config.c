/* Bytes are a configuration: read whole, printed, and read again; read as the sidecar of a model; and as what
 * the command line sets. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "config/config.h"
#include "config/config_private.h"

#include <stdlib.h>
#include <string.h>

/* Behind the first line, which names the file. */
static const char *body(const struct str *printed)
{
	const char *end = strchr(printed->p, '\n');
	FUZZ_CHECK(end);
	return end;
}

/* No scenarios that were saved. */
__attribute__((constructor)) static void no_home(void)
{
	setenv("XDG_DATA_HOME", "/nonexistent", 1);
}

static void check_whole(const uint8_t *bytes, size_t n)
{
	struct config c, again;
	struct error err = ERROR_NONE;
	if (config_load(&c, fuzz_file(bytes, n), &err)) {
		fuzz_check_line(err.text);
		return;
	}
	struct str once = { 0 }, twice = { 0 };
	config_print(&c, &once);
	if (config_load(&again, fuzz_file((const uint8_t *)once.p, once.n), &err)) {
		fprintf(stderr, "%s\n%s\n", err.text, once.p);
		abort();
	}
	config_print(&again, &twice);
	FUZZ_CHECK(strcmp(body(&once), body(&twice)) == 0);
	str_free(&once);
	str_free(&twice);
	config_free(&again);
	config_free(&c);
}

static void check_sidecar(const uint8_t *bytes, size_t n)
{
	struct config c = { 0 };
	struct error err = ERROR_NONE;
	if (config_read_yaml(&c, fuzz_file(bytes, n), "dims", &err))
		fuzz_check_line(err.text);
	config_free(&c);
}

static void check_set(const uint8_t *bytes, size_t n)
{
	struct config c = { 0 };
	struct arena a = { 0 };
	char *key = arena_strndup(&a, (const char *)bytes, n), *value = strchr(key, ':');
	if (value) {
		struct error err = ERROR_NONE;
		*value++ = '\0';
		if (config_set(&c, key, value, &err))
			fuzz_check_line(err.text);
	}
	config_free(&c);
	arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	unsetenv("BENANZA_DB");
	check_whole(bytes, n);
	check_sidecar(bytes, n);
	check_set(bytes, n);
	return 0;
}
