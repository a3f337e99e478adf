/* Tables as HTML, and the script that sorts them in the page. The page's policy allows this script alone, by
 * its digest: a text of a model can never run. */
#include "config.h"

#include "table/print.h"

#include <math.h>
#include <string.h>

const char html_sort_script[] =
	"document.addEventListener(\"click\",function(e){var h=e.target.closest(\"thead th\");if(!h)return;\n"
	"var t=h.closest(\"table\"),i=h.cellIndex,d=h.getAttribute(\"aria-sort\")==\"ascending\"?-1:1;\n"
	"function key(r){var c=r.cells[i];return c.hasAttribute(\"data-v\")?"
	"+c.getAttribute(\"data-v\"):c.textContent}\n"
	"var r=Array.from(t.tBodies[0].rows);r.sort(function(a,b){var p=key(a),q=key(b);\n"
	"if(typeof p!=typeof q)return typeof p==\"number\"?-1:1;return p<q?-d:p>q?d:0});\n"
	"t.querySelectorAll(\"th\").forEach(function(o){o.removeAttribute(\"aria-sort\")});\n"
	"h.setAttribute(\"aria-sort\",d>0?\"ascending\":\"descending\");t.tBodies[0].append(...r)})";
/* of the script's bytes; tests/cli/exports.py compares it */
const char html_sort_source[] = "'sha256-OlhycY2/cfzZrffXJnQOPT/PT+CTmpdgtZIaFOYNUS4='";

void html_text(FILE *out, const char *clean)
{
	for (size_t n; *clean; clean += n + (clean[n] != '\0')) {
		n = strcspn(clean, "&<>\"");
		fwrite(clean, 1, n, out);
		switch (clean[n]) {
		case '&': fputs("&amp;", out); break;
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '"': fputs("&quot;", out); break;
		}
	}
}

void html_untrusted(FILE *out, struct text t)
{
	struct arena a = { 0 };
	html_text(out, text_clean(&a, t));
	arena_free(&a);
}

/* A name may be broken after its slashes. */
static void name_print(struct arena *a, const char *name, FILE *out)
{
	for (const char *slash; (slash = strchr(name, '/')); name = slash + 1) {
		html_text(out, arena_strndup(a, name, (size_t)(slash + 1 - name)));
		fputs("<wbr>", out);
	}
	html_text(out, name);
}

static double largest(const struct table *t, int column)
{
	double most = 0;
	for (int i = 0; i < t->row_count; i++)
		most = fmax(most, table_cell(t, i, column)->number);
	return most;
}

/* most: the largest number of the column, whose bar has the width of its cell. */
static void cell_print(
	struct arena *a, const struct table *t, int row, int column, double most, FILE *out)
{
	const struct table_column *c = &t->columns[column];
	const struct table_cell *x = table_cell(t, row, column);
	if (table_is_text(c)) {
		fputs(c->unit == TABLE_NAME ? "<td class=\"w\"" : "<td class=\"l\"", out);
		if (!isnan(x->number)) /* a text that stands for a number */
			fprintf(out, " data-v=\"%.7g\"", x->number);
		fputc('>', out);
		name_print(a, x->text ? x->text : "", out);
	} else {
		fputs("<td class=\"n\"", out);
		if (!isnan(x->number) && c->unit != TABLE_BAR)
			fprintf(out, " data-v=\"%.7g\"", x->number);
		fputc('>', out);
		if (c->unit == TABLE_BAR && x->number > 0)
			fprintf(out, "<span class=\"bar\" style=\"width:%.1f%%\"></span>",
				100 * x->number / most);
		else if (c->unit != TABLE_BAR)
			html_text(out, table_cell_text(a, c, x));
	}
	fputs("</td>", out);
}

/* A mark that no row has needs no column. */
static bool is_shown(const struct table *t, int column)
{
	return t->columns[column].in & IN_HTML &&
		(t->columns[column].unit != TABLE_BOOL || largest(t, column) > 0);
}

static void head_print(const struct table *t, const bool *shown, FILE *out)
{
	fputs("<div class=\"t\"><table><thead><tr>", out);
	for (int k = 0; k < t->column_count; k++)
		if (shown[k]) {
			fputs(table_is_text(&t->columns[k]) ? "<th>" : "<th class=\"n\">", out);
			html_text(out, t->columns[k].label);
			fputs("</th>", out);
		}
	fputs("</tr></thead><tbody>\n", out);
}

static void rows_print(const struct table *t, FILE *out)
{
	struct arena a = { 0 }, texts = { 0 };
	bool *shown = ARENA_ARRAY(&a, bool, t->column_count + 1);
	double *most = ARENA_ARRAY(&a, double, t->column_count + 1);
	for (int k = 0; k < t->column_count; k++) {
		shown[k] = is_shown(t, k);
		most[k] = t->columns[k].unit == TABLE_BAR ? largest(t, k) : NAN;
	}
	head_print(t, shown, out);
	for (int i = 0; i < t->row_count; i++) {
		if (t->rows[i].flags & (ROW_HIDDEN | ROW_LINE | ROW_CSV))
			continue;
		fputs("<tr>", out);
		for (int k = 0; k < t->column_count; k++)
			if (shown[k])
				cell_print(&texts, t, i, k, most[k], out);
		fputs("</tr>\n", out);
		arena_clear(&texts);
	}
	fputs("</tbody></table></div>\n", out);
	arena_free(&texts);
	arena_free(&a);
}

void table_print_html(const struct table *t, FILE *out)
{
	if (!t->empty)
		rows_print(t, out);
	if (t->empty || t->note_count) {
		fputs("<p>", out);
		html_text(out, t->empty ? t->empty : "");
		for (int i = 0; i < t->note_count; i++) {
			fputs(i || t->empty ? "<br>\n" : "", out);
			html_text(out, t->notes[i]);
		}
		fputs("</p>\n", out);
	}
}
