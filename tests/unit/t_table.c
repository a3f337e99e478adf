/* A table as text, CSV, JSON and HTML: what is cut and where, marks, unknown cells, hidden rows. */
#include "config.h"

#include "table/print.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

static char *printed;
static size_t size;
static FILE *out;

static FILE *open_out(void)
{
	free(printed);
	printed = NULL;
	return out = open_memstream(&printed, &size);
}

static const char *closed(void)
{
	fclose(out);
	return printed;
}

static const char *as_text(const struct table *t, int most)
{
	table_print_text(t, most, open_out());
	return closed();
}

static const char *as_csv(const struct table *t)
{
	table_print_csv(t, true, open_out());
	return closed();
}

static const char *as_json(const struct table *t)
{
	table_print_json(t, open_out());
	return closed();
}

static const char *as_html(const struct table *t)
{
	table_print_html(t, open_out());
	return closed();
}

static const struct table_column columns[] = {
	{ "name", "name", TABLE_NAME, IN_ALL },
	{ "of.batch", "batch", TABLE_INDEX, IN_ALL },
	{ "none_ns", "never", TABLE_NS, IN_ALL },
	{ "bound_ns", "bound", TABLE_NS, IN_ALL },
	{ "interval_ns", "", TABLE_INTERVAL, IN_JSON },
	{ "best", "", TABLE_BOOL, IN_ALL },
	{ "why", "", TABLE_TEXT, IN_JSON | IN_OPTIONAL },
	{ "bar", "", TABLE_BAR, IN_TEXT },
};

static void row_fill(struct table *t, const char *name, double batch, double ns, bool best)
{
	table_text(t, name);
	table_number(t, batch, "");
	table_skip(t, 1);
	table_number(t, ns, best ? "~" : "");
	table_interval(t, ns / 2, 2 * ns);
	table_number(t, best, "");
	table_text(t, best ? "because" : NULL);
	table_number(t, ns, "");
}

static struct table filled(void)
{
	struct table t = { .ascii = true, .bar_end = 40 };
	TABLE_COLUMNS(&t, columns);
	table_row(&t, 0, 0);
	row_fill(&t, "/first/conv", 1, 1000, true);
	table_line(&t, 1, "a line");
	table_row(&t, ROW_GROUP, 1);
	row_fill(&t, "=x,<y>", NAN, 500, false);
	table_row(&t, ROW_HIDDEN | ROW_BRIEF, 0);
	row_fill(&t, "hidden", 3, NAN, false);
	table_note(&t, "note %d", 1);
	return t;
}

static void test_text(const struct table *t)
{
	is_str(as_text(t, INT_MAX),
		"name         batch     bound\n"
		"/first/conv      1  ~1.00 us  *  #######\n"
		"  a line\n"
		"\n"
		"  =x,<y>         -    500 ns     ####\n"
		"note 1\n",
		"columns as wide as their cells; one without a value is left out");
	is_str(as_text(t, 30),
		"name        batch     bound\n"
		"/fi../conv      1  ~1.00 us  *\n"
		"  a line\n"
		"\n"
		"  =x,<y>        -    500 ns\n"
		"note 1\n",
		"a narrow line: the name loses its middle");
	is_str(as_text(t, 26),
		"name         batch\n"
		"       bound\n"
		"/first/conv      1\n"
		"    ~1.00 us  *\n"
		"  a line\n"
		"\n"
		"  =x,<y>         -\n"
		"      500 ns\n"
		"note 1\n",
		"a narrower one: columns go on below, nothing is cut");
}

static void test_data(const struct table *t)
{
	is_str(as_csv(t),
		"name,batch,none_ns,bound_ns,best\n"
		"/first/conv,1,,1000,true\n"
		"\"'=x,<y>\",,,500,false\n"
		"hidden,3,,,false\n",
		"CSV has all rows and no lines of text");
	is_str(as_json(t),
		"{\"name\":\"/first/conv\",\"of\":{\"batch\":1},\"none_ns\":null,\"bound_ns\":1000,"
		"\"interval_ns\":[500,2000],\"best\":true,\"why\":\"because\"}\n"
		"{\"name\":\"=x,<y>\",\"of\":{\"batch\":null},\"none_ns\":null,\"bound_ns\":500,"
		"\"interval_ns\":[250,1000],\"best\":false}\n"
		"{\"name\":\"hidden\",\"of\":{\"batch\":3},\"best\":false}\n",
		"JSON: nested and optional keys; a brief row has known ones");
}

static void test_html(const struct table *t)
{
	const char *page = as_html(t);
	ok(strstr(page, "<th class=\"n\">bound</th>") != NULL, "HTML: a number stands at the right");
	ok(strstr(page, "data-v=\"1000\">~1.00 us</td>") != NULL, "it is sorted by its value");
	ok(strstr(page, "=x,&lt;y&gt;") != NULL && !strstr(page, "<y>"), "texts are escaped");
	ok(!strstr(page, "hidden") && strstr(page, "note 1"), "hidden rows and notes as in text");
}

/* What only CSV has is named by a model; a dot belongs to its name. */
static void test_names(void)
{
	static const struct table_column dims[] = {
		{ "seq.len", "seq.len", TABLE_INDEX, IN_SHOWN | IN_CSV },
		{ "scenario.batch", "batch", TABLE_INDEX, IN_ALL },
		{ "text", "text", TABLE_TEXT, IN_ALL },
		{ "last", "last", TABLE_INDEX, IN_ALL },
	};
	char wide[200];
	struct table t = { 0 };
	memset(wide, 'x', sizeof(wide) - 1);
	wide[sizeof(wide) - 1] = '\0';
	TABLE_COLUMNS(&t, dims);
	for (int i = 0; i < 2; i++) {
		table_row(&t, 0, 0);
		table_number(&t, 123456789012.0, "");
		table_number(&t, 1, "");
		table_text(&t, i ? wide : "short");
		table_number(&t, 2, "");
	}
	ok(strncmp(as_csv(&t), "seq.len,batch,text,last\n123456789012,1,short,2\n", 47) == 0,
		"CSV: names with dots, integers with all digits");
	const char *text = as_text(&t, INT_MAX);
	ok(strcspn(strchr(text, '\n') + 1, "\n") < 60 && strstr(text, wide),
		"in a pipe a very long text is whole and widens its own row only");
	table_free(&t);
}

static void test_stream(void)
{
	struct table t = { 0 };
	TABLE_COLUMNS(&t, columns);
	table_stream_csv(&t, false, open_out());
	for (int i = 0; i < 3; i++) {
		table_row(&t, 0, 0);
		table_number(&t, i, "");
	}
	is_int(t.row_count, 1, "a row at a time is kept");
	table_stream_row(&t);
	is_str(closed(), ",,,,\n,,,,\n,,,,\n", "and each is printed once");
	table_free(&t);
}

int main(void)
{
	struct table t = filled();
	test_text(&t);
	test_data(&t);
	test_html(&t);
	table_free(&t);
	test_names();
	test_stream();
	t.empty = "run bench";
	is_str(as_text(&t, 80), "run bench\n", "instead of rows: what to do");
	free(printed);
	return done_testing();
}
