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

#define LABEL 14 /* columns of a label and the blanks after it */

/* A line of a report that is too wide: a row of a table is cut; other text goes on below its beginning. */
static void line_fit(struct arena *a, char *line, int width, FILE *out)
{
	size_t blanks = strspn(line, " ");
	bool labelled = !blanks && strlen(line) > LABEL && line[LABEL - 1] == ' ' && line[LABEL] != ' ';
	bool row = strncmp(line, "layer ", 6) == 0 || (blanks < 5 && strspn(line + blanks, "0123456789"));
	int indent = labelled ? LABEL : (int)blanks + (blanks < 7 ? 2 : 0);
	size_t begin = labelled ? LABEL : blanks;
	if (row) {
		report_line(out, "%s", text_cut(a, line, width, false));
		return;
	}
	fprintf(out, "%.*s", (int)begin, line);
	report_wrapped(line + begin, indent, width, out);
}

void report_fitted(char *text, int width, FILE *out)
{
	struct arena a = { 0 };
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		if (text_columns(line) > width)
			line_fit(&a, line, width, out);
		else
			fprintf(out, "%s\n", line);
	}
	arena_free(&a);
}
