/* Lines of reports: the width of the output, what is cut or goes on below. */
#include "config.h"

#include "base/str.h"
#include "table/lines.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_LEAST 80  /* of tables; the bound's go down to WIDTH_NARROW */
#define WIDTH_NARROW 40
#define WIDTH_MOST 400
#define PATH_LEAST 20 /* columns that a path keeps in a line, whatever else is in it */

const char *report_device(struct arena *a, const char *model, const char *stack)
{
	const char *name = model && *model ? text_clean(a, text_of(model)) : "no device";
	return stack && *stack ? arena_printf(a, "%s, %s", name, text_clean(a, text_of(stack))) : name;
}

int report_columns(FILE *out)
{
	struct winsize size = { 0 };
	int64_t columns = 0;
	bool terminal = isatty(fileno(out));
	if (terminal && ioctl(fileno(out), TIOCGWINSZ, &size) == 0)
		columns = size.ws_col;
	else if (!getenv("COLUMNS") || !text_to_int64(text_of(getenv("COLUMNS")), &columns))
		columns = terminal ? 0 : WIDTH_PIPE;
	if (columns >= WIDTH_PIPE)
		return WIDTH_PIPE;
	if (terminal && columns <= 0)
		return WIDTH_LEAST;
	return columns < WIDTH_NARROW ? WIDTH_NARROW : columns > WIDTH_MOST ? WIDTH_MOST : (int)columns;
}

int report_width(FILE *out)
{
	int columns = report_columns(out);
	return columns > WIDTH_LEAST ? columns : WIDTH_LEAST;
}

int report_most(FILE *out)
{
	return isatty(fileno(out)) ? report_columns(out) : INT_MAX;
}

void report_path_line(FILE *out, int most, const char *before, const char *path, const char *after)
{
	struct arena a = { 0 };
	int others = text_columns(before) + text_columns(after);
	int room = most - others > PATH_LEAST ? most - others : PATH_LEAST;
	fprintf(out, "%s%s%s\n", before, text_cut_path(&a, text_clean(&a, text_of(path)), room, ".."), after);
	arena_free(&a);
}

/* Prints words in lines of at most `width` columns, from column `at` on; the next lines begin at column
 * `indent`. Blanks between words stay, except where a line ends. */
static void wrap(const char *text, int at, int indent, int width, FILE *out)
{
	bool begun = false;
	while (*text) {
		int blanks = (int)strspn(text, " "), columns = 0;
		const char *word = text + blanks, *end = word;
		while (*end && *end != ' ')
			columns += text_code_columns(text_decode(&end));
		if (begun && at + blanks + columns > width) {
			fprintf(out, "\n%*s", indent, "");
			text = word;
			at = indent;
			blanks = 0;
		}
		fprintf(out, "%.*s", (int)(end - text), text);
		at += blanks + columns;
		text = end;
		begun = true;
	}
	fputc('\n', out);
}

void report_wrapped(const char *text, int indent, int width, FILE *out)
{
	wrap(text, indent, indent, width, out);
}

void report_device_line(FILE *out, int indent, const char *model, const char *stack)
{
	struct arena a = { 0 };
	fprintf(out, "%*s", indent, "");
	report_wrapped(report_device(&a, model, stack), indent, report_most(out), out);
	arena_free(&a);
}

void report_fit_open(struct report_fit *f, FILE *out)
{
	*f = (struct report_fit){ .to = out, .width = report_columns(out), .most = report_most(out) };
	FILE *memory = f->most < INT_MAX ? open_memstream(&f->text, &f->size) : NULL;
	if (!memory)
		return;
	f->out = out;
	f->to = memory;
}

void report_fit_part(struct report_fit *f, int indent)
{
	if (!f->out || fflush(f->to))
		return;
	for (char *line = f->text + f->done, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		if (text_columns(line) > f->width)
			wrap(line, 0, indent, f->width, f->out);
		else
			fprintf(f->out, "%s\n", line);
	}
	f->done = f->size;
}

void report_fit_close(struct report_fit *f)
{
	if (f->out)
		fclose(f->to);
	free(f->text);
}
