/* Tables as CSV: numbers with ten digits, unknown ones empty. */
#include "config.h"

#include "table/print.h"

#include <math.h>
#include <string.h>

void csv_field(FILE *out, const char *text, char after)
{
	bool formula = text[0] && strchr("=+-@", text[0]) &&
		!(text[0] == '-' && strspn(text + 1, "0123456789.") == strlen(text + 1));
	/* some spreadsheets split at ; or a tab, and would find a formula behind it */
	if (!formula && !strpbrk(text, ",;=|\t'\"\r\n")) {
		fputs(text, out);
	} else {
		fputc('"', out);
		if (formula)
			fputc('\'', out);
		for (; *text; text++) {
			if (*text == '"')
				fputc('"', out);
			fputc(*text, out);
		}
		fputc('"', out);
	}
	fputc(after, out);
}

/* Whole numbers, which most are, without the slower conversion of fractions. */
static void number_print(const struct table_column *c, double x, FILE *out)
{
	bool whole = c->in & IN_WHOLE || c->unit == TABLE_INDEX;
	if (fabs(x) < (whole ? 0x1p53 : 1e10) && x == trunc(x) && !(c->in & IN_TENTH) && !signbit(x))
		fprintf(out, "%lld", (long long)x);
	else
		fprintf(out, whole ? "%.0f" : c->in & IN_TENTH ? "%.1f" : "%.10g", x);
}

static void cell_print(const struct table_column *c, const struct table_cell *x, char after, FILE *out)
{
	if (table_is_text(c)) {
		csv_field(out, x->text ? x->text : "", after);
		return;
	}
	if (c->unit == TABLE_BOOL && !isnan(x->number))
		fputs(x->number > 0 ? "true" : "false", out);
	else if (!isnan(x->number))
		number_print(c, x->number, out);
	fputc(after, out);
}

static int last_column(const struct table *t)
{
	int last = t->column_count - 1;
	while (last > 0 && !(t->columns[last].in & IN_CSV))
		last--;
	return last;
}

static void header_print(const struct table *t, FILE *out)
{
	for (int k = 0, last = last_column(t); k <= last; k++) {
		bool inner = t->columns[k].in & IN_JSON; /* else a dot is part of a name */
		const char *id = t->columns[k].id, *dot = inner ? strrchr(id, '.') : NULL;
		if (t->columns[k].in & IN_CSV)
			csv_field(out, dot ? dot + 1 : id, k < last ? ',' : '\n');
	}
}

static void row_print(const struct table *t, int row, FILE *out)
{
	for (int k = 0, last = last_column(t); k <= last; k++)
		if (t->columns[k].in & IN_CSV)
			cell_print(&t->columns[k], table_cell(t, row, k), k < last ? ',' : '\n', out);
}

void table_print_csv(const struct table *t, bool header, FILE *out)
{
	if (header)
		header_print(t, out);
	for (int i = 0; i < t->row_count; i++)
		if (!(t->rows[i].flags & ROW_LINE))
			row_print(t, i, out);
}

void table_stream_csv(struct table *t, bool header, FILE *out)
{
	t->csv = out;
	if (header)
		header_print(t, out);
}

void table_stream_row(struct table *t)
{
	for (int i = 0; i < t->row_count; i++)
		if (!(t->rows[i].flags & ROW_LINE))
			row_print(t, i, t->csv);
	table_clear(t);
}
