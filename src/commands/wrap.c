#include "config.h"

#include "commands/report.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void report_line(FILE *out, const char *fmt, ...)
{
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	char *line = base_calloc((size_t)(n > 0 ? n : 0) + 1, 1);
	vsnprintf(line, (size_t)(n > 0 ? n : 0) + 1, fmt, again);
	va_end(again);
	va_end(ap);
	while (n > 0 && line[n - 1] == ' ')
		n--;
	fprintf(out, "%.*s\n", n > 0 ? n : 0, line);
	free(line);
}

void report_wrapped(const char *text, int indent, int width, FILE *out)
{
	int at = indent;
	while (*text) {
		int n = (int)strcspn(text, " ");
		if (at > indent && at + 1 + n > width) {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
		}
		at += fprintf(out, "%s%.*s", at > indent ? " " : "", n, text);
		text += n + strspn(text + n, " ");
	}
	fputc('\n', out);
}
