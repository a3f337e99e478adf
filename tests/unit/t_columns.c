/* Further columns of the layers view: chosen by key and configuration, by room, sorted, with right
 * figures. */
#include "config.h"

#include "config/config.h"
#include "config/option_table.h"
#include "session/session_private.h"
#include "ui/views/columns.h"

#include "ui_help.h"

#include <math.h>

static int find(const char *name)
{
	int i = 0;
	while (i < column_count() && strcmp(column_name(i), name) != 0)
		i++;
	return i;
}

static void test_key(void)
{
	begin_at(&(struct fixture_options){ .measured = true }, 100, 30);
	type("|");
	ok(sees("bound") && sees("peak") && sees("preferred") && sees("further columns: bound,peak"),
		"| shows the first set");
	type("|");
	ok(sees("flops") && sees("bytes") && sees("algo") && sees("236 M"), "then the work");
	type("||");
	ok(!sees("bytes") && sees("further columns: none"), "then savings, and none");
	type("|");
	ok(sees("as many as fit"), "and as at first");
	end();
	begin_at(&(struct fixture_options){ .measured = true }, 40, 30);
	type("||j");
	ok(sees("conv1") && sees("2.97 ms ") && sees(" ok") && !sees("MiB"),
		"a narrow screen has no room");
	end();
}

static void test_room(void)
{
	begin_at(&(struct fixture_options){ .measured = true }, 80, 30);
	ok(!sees("algo") && !sees("flops"), "80 columns are full");
	end();
	begin_at(&(struct fixture_options){ .measured = true, .chain = 7 }, 200, 30);
	ok(sees("algo") && sees("flops"), "a wide screen has more columns by itself");
	ok(sees("chain.6"), "and whole names");
	end();
}

static void test_gain(void)
{
	begin_at(&(struct fixture_options){ .measured = true }, 120, 30);
	struct columns_chosen c = { 0 };
	enum style style;
	int fusion = find("fusion"), algorithm = find("algorithm");
	char conv[32];
	snprintf(conv, sizeof(conv), "%s", column_text(&app, &c, fusion, 1, &style));
	ok(conv[0] == '-' && conv[1] > '0' && strstr(conv, "ms"), "what fusion saves on conv1: %s", conv);
	double before = session->analysis->sequential_ns, sum = 0;
	for (int i = 0; i < c.gains[fusion].count; i++)
		sum += isnan(c.gains[fusion].ns[i]) ? 0 : c.gains[fusion].ns[i];
	type("f");
	double after = session->analysis->sequential_ns;
	ok(before > after && fabs(sum - (before - after)) < 1, "all layers save what the total does: %g %g",
		sum, before - after);
	is_str(column_text(&app, &c, fusion, 1, &style), conv, "also while it is on");
	type("f");
	const char *best = column_text(&app, &c, algorithm, 1, &style);
	is_str(best, column_text(&app, &c, find("preferred"), 1, &style), "best against preferred: %s", best);
	is_str(column_text(&app, &c, find("matrix"), 1, &style), "-", "n/a saves nothing that is known");
	columns_free(&c);
	end();
}

static void test_sort(void)
{
	begin_at(&(struct fixture_options){ .measured = true }, 120, 30);
	type("|||");
	for (int i = 0; i < 12 && !sees("sorted by fusion"); i++)
		type("s");
	ok(sees("sorted by fusion"), "sorted by a further column");
	ok(strstr(app_layer(&app, app.listed[app_pane(&app)->shown[0]])->name.p, "conv"),
		"a convolution saves most");
	type("|");
	ok(sees("layer by fusion"), "a column that is hidden is named");
	type("s");
	ok(!sees("sorted by fusion"), "and the next order follows");
	end();
}

static void test_config(void)
{
	struct config config = { .columns = "algo bytes", .path = "c.yaml" };
	struct error err = ERROR_NONE;
	begin_at(&(struct fixture_options){ .measured = true }, 100, 30);
	const struct config *own = session->seat->config;
	session->seat->config = &config;
	type("jk");
	ok(sees("algo") && sees("bytes") && !sees("flops"), "the configuration's columns");
	session->seat->config = own;
	is_int(columns_check(&config, &err), 0, "which are checked");
	config.columns = "bound,speed";
	config.lines[option_row(option_find(TEXT("columns")))] = 3;
	ok(columns_check(&config, &err) &&
			strstr(err.text, "c.yaml:3: columns: unknown column \"speed\""),
		"%s", err.text);
	config.columns = "flops algo,flops";
	ok(columns_check(&config, &err) && strstr(err.text, "columns: flops is given twice"), "%s", err.text);
	end();
}

int main(void)
{
	test_key();
	test_room();
	test_gain();
	test_sort();
	test_config();
	return done_testing();
}
