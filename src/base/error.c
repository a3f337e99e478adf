/* Formats and cleans error texts. */
#include "config.h"

#include "base/error.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

/* Error texts quote names from untrusted files and are printed on a terminal. Truncation may have cut a UTF-8
 * character. */
static void error_clean(char *text)
{
	text_clean_to(text, text_of(text));
}

int error_set(struct error *err, const char *fmt, ...)
{
	if (!err)
		return -1;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	error_clean(err->text);
	return -1;
}

int error_context(struct error *err, const char *fmt, ...)
{
	if (!err)
		return -1;
	char before[ERROR_TEXT_SIZE];
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(before, sizeof(before), fmt, ap);
	va_end(ap);
	size_t used = n < 0 ? 0 : (size_t)n < sizeof(before) ? (size_t)n : sizeof(before) - 1;
	size_t room = sizeof(err->text) - 1;
	if (used + 2 > room)
		used = room - 2;
	size_t rest = strlen(err->text);
	if (rest > room - used - 2)
		rest = room - used - 2;
	memmove(err->text + used + 2, err->text, rest);
	memcpy(err->text, before, used);
	memcpy(err->text + used, ": ", 2);
	err->text[used + 2 + rest] = '\0';
	error_clean(err->text);
	return -1;
}
