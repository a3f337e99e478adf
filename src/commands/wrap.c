#include "config.h"

#include "commands/report.h"

#include <string.h>

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
