#include "config.h"

#include "analyze/scenario.h"
#include "tap.h"

static const char *text(const struct scenario *s)
{
	static char buf[128];
	return scenario_text(s, buf, sizeof(buf));
}

static void refuses(const char *list, const char *says)
{
	struct scenario s = scenario_default(), before = s;
	struct error err = ERROR_NONE;
	is_int(scenario_parse(&s, list, &err), -1, "'%s' is refused", list);
	ok(strstr(err.text, says) != NULL, "... and told why: %s", err.text);
	ok(memcmp(&s, &before, sizeof(s)) == 0, "... and nothing was switched");
}

static void parses(const char *list, const char *want)
{
	struct scenario s = scenario_default();
	struct error err = ERROR_NONE;
	is_int(scenario_parse(&s, list, &err), 0, "'%s' is taken", list);
	is_str(text(&s), want, "... and means %s", want);
}

int main(void)
{
	struct scenario s = scenario_default();
	ok(s.best && s.amortized && !s.parallel && !s.fusion && !s.matrix && !s.relaxed && !s.layouts,
		"the defaults");
	parses("", "algorithm,launch");
	parses("  ", "algorithm,launch");
	parses("fusion", "fusion,algorithm,launch");
	parses("fusion,matrix=on,parallel", "parallel,fusion,matrix,algorithm,launch");
	parses(" fusion , algorithm = preferred ", "fusion,launch");
	parses("algorithm=off,launch=off", "");
	parses("launch=isolated,launch=amortized", "algorithm,launch");
	parses("algorithm=best,launch=isolated", "algorithm");
	parses("math=relaxed,layout=nhwc", "algorithm,launch,math,layout");
	parses("math,layout,math=strict,layout=nchw", "algorithm,launch");
	parses("parallel=path", "parallel=path,algorithm,launch");
	parses("parallel=path,parallel=resources", "parallel,algorithm,launch");
	parses("parallel,parallel=off", "algorithm,launch");
	refuses("parallel=all", "path, resources or off");
	refuses("fusoin", "parallel, fusion, matrix, algorithm, launch, math, layout");
	refuses("math=tf32", "relaxed or strict");
	refuses("layout=blocked", "nhwc or nchw");
	refuses("fusion,", "parallel");
	refuses(",fusion", "parallel");
	refuses("fusion,matrix=maybe", "on or off");
	refuses("algorithm=isolated", "best or preferred");
	refuses("launch=", "amortized or isolated");
	refuses("=on", "unknown what-if");
	refuses("\x1b[2Jfusion", "?[2J");

	int count;
	const struct what_if *table = what_if_table(&count);
	is_int(count, 7, "seven toggles");
	for (int i = 0; i < count; i++) {
		struct scenario all = { 0 }, before = { 0 };
		table[i].set(&all, true);
		ok(table[i].get(&all) && memcmp(&all, &before, sizeof(all)) != 0, "%s sets what it gets",
			table[i].name);
		table[i].set(&all, false);
		ok(memcmp(&all, &before, sizeof(all)) == 0, "%s sets nothing else", table[i].name);
		bool quiet = strcmp(table[i].name, "math") == 0 || strcmp(table[i].name, "layout") == 0;
		is_int(table[i].quiet, quiet, "only math and layout may be left out of the status line: %s",
			table[i].name);
		for (int k = 0; k < i; k++)
			ok(table[i].key != table[k].key, "keys of %s and %s differ", table[i].name,
				table[k].name);
	}

	char small[10];
	scenario_parse(&s, "parallel,fusion", NULL);
	is_str(scenario_text(&s, small, sizeof(small)), "parallel", "a short buffer holds whole names");
	return done_testing();
}
