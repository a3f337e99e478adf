/* Bytes are messages, one a line. A message that parses is written as a line that parses again and is written
 * the same way. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "wire/wire.h"

#include <string.h>

static void check_line(const char *line, size_t n)
{
	struct wire_message m, again;
	struct error err = ERROR_NONE;
	if (wire_parse(line, n, &m, &err)) {
		fuzz_check_line(err.text);
		return;
	}
	char *text = wire_format(&m);
	size_t length = strlen(text);
	FUZZ_CHECK(length > 1 && memchr(text, '\n', length) == text + length - 1);
	/* a line at the limit may be longer than that in the program's own spelling */
	if (length <= WIRE_LINE_MAX) {
		FUZZ_CHECK(wire_parse(text, length, &again, &err) == 0);
		char *same = wire_format(&again);
		FUZZ_CHECK(strcmp(text, same) == 0);
		free(same);
		wire_free(&again);
	}
	free(text);
	wire_free(&m);
}

static void check_hello(const char *line)
{
	struct arena a = { 0 };
	struct device d;
	struct error err = ERROR_NONE;
	if (wire_parse_hello(line, &a, &d, &err) < 0)
		fuzz_check_line(err.text);
	arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	for (size_t at = 0; at < n;) {
		const uint8_t *end = memchr(bytes + at, '\n', n - at);
		size_t length = end ? (size_t)(end - bytes) - at : n - at;
		struct arena a = { 0 };
		const char *line = arena_strndup(&a, (const char *)bytes + at, length);
		check_line(line, length);
		check_hello(line);
		arena_free(&a);
		at += length + 1;
	}
	return 0;
}
