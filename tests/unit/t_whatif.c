#include "config.h"

#include "analyze/scenario/scenario.h"
#include "tap.h"

static const char *text(const struct scenario *s)
{
	static char buf[SCENARIO_TEXT_SIZE];
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
	parses("workspace=64M", "algorithm,launch,workspace=64M");
	parses("workspace=1GiB", "algorithm,launch,workspace=1G");
	parses("workspace=1000", "algorithm,launch,workspace=1000");
	parses("workspace=0", "algorithm,launch,workspace");
	parses("workspace", "algorithm,launch,workspace");
	parses("workspace=2K,workspace=unlimited", "algorithm,launch");
	parses("workspace=2K,workspace=off", "algorithm,launch");
	parses("algorithm=jit:avx512*", "algorithm=jit:avx512*,launch");
	parses("algorithm=memcp[y],algorithm=best", "algorithm,launch");
	parses("algorithm=engine41,algorithm=preferred", "launch");
	parses("libraries=onednn+plain", "algorithm,launch,libraries=onednn+plain");
	parses("libraries=oneDNN,libraries=all", "algorithm,launch");
	parses("deterministic,cache=cold", "algorithm,launch,deterministic,cache=cold");
	parses("cache,cache=auto,assume", "algorithm,launch,assume");
	refuses("workspace=much", "BYTES (512M), 0 or unlimited");
	refuses("workspace=-1", "BYTES");
	refuses("workspace=1X", "BYTES");
	refuses("workspace=", "BYTES");
	refuses("workspace=1 M", "BYTES");
	refuses("algorithm=bset", "NAME (jit*), best or preferred");
	refuses("algorithm=a\"b", "NAME");
	refuses("algorithm=\x1b[2J", "?[2J");
	refuses("libraries", "NAMES (onednn+plain) or all");
	refuses("libraries=", "NAMES (onednn+plain) or all");
	refuses("libraries=a++b", "NAMES");
	refuses("libraries=+b", "NAMES");
	refuses("libraries=123456789012345678901234567890123456789012345678901234567890123456", "NAMES");
	refuses("cache=hot", "cold, net, warm or auto");
	refuses("parallel=all", "path, resources or off");
	refuses("math=tf32", "relaxed or strict");
	refuses("layout=blocked", "nhwc or nchw");
	refuses("fusion,", "parallel");
	refuses(",fusion", "parallel");
	refuses("fusion,matrix=maybe", "on or off");
	refuses("algorithm=isolated", "best or preferred");
	refuses("launch=", "amortized or isolated");
	refuses("=on", "unknown what-if");
	refuses("fusoin", "did you mean fusion?");
	refuses("fuse", "did you mean fusion?");
	refuses("determ=on", "did you mean deterministic?");
	refuses("\x1b[2Jfusion", "?[2J");

	static const struct {
		const char *name;
		enum what_if_show show;
	} shown[] = { { "parallel", SHOW_ALWAYS }, { "fusion", SHOW_ALWAYS }, { "matrix", SHOW_ALWAYS },
		{ "algorithm", SHOW_ALWAYS }, { "launch", SHOW_ALWAYS }, { "math", SHOW_KNOWN },
		{ "layout", SHOW_KNOWN }, { "workspace", SHOW_ON }, { "deterministic", SHOW_ON },
		{ "libraries", SHOW_ON }, { "cache", SHOW_ON }, { "pages", SHOW_ON }, { "pad", SHOW_ON },
		{ "fold", SHOW_ON }, { "assume", SHOW_ON } };
	int count, shown_count = 0;
	const struct what_if *table = what_if_table(&count);
	struct str names = { 0 };
	for (int i = 0; i < count; i++)
		str_addf(&names, "%s%s", i ? ", " : "use ", table[i].name);
	refuses("melting", names.p);
	str_free(&names);
	for (int i = 0; i < count; i++) {
		struct scenario all = { 0 }, before = { 0 };
		if (what_if_choices(&table[i]) > 1)
			table[i].set(&all, true);
		else
			ok(table[i].take(&all, TEXT("x1")) == 0, "%s takes a value", table[i].name);
		ok(table[i].get(&all) && memcmp(&all, &before, sizeof(all)) != 0, "%s sets what it gets",
			table[i].name);
		table[i].set(&all, false);
		ok(memcmp(&all, &before, sizeof(all)) == 0, "%s sets nothing else", table[i].name);
		for (size_t k = 0; k < sizeof(shown) / sizeof(*shown); k++)
			if (!strcmp(shown[k].name, table[i].name)) {
				is_int(table[i].show, shown[k].show, "where %s is shown", table[i].name);
				shown_count++;
			}
		for (int k = 0; k < i; k++)
			ok(table[i].key != table[k].key, "keys of %s and %s differ", table[i].name,
				table[k].name);
	}
	is_int(shown_count, sizeof(shown) / sizeof(*shown), "every row of before is there");

	for (int i = 0; i < count; i++) {
		struct scenario value = { 0 }, again = { 0 };
		char word[WHAT_IF_WORD_SIZE], item[SCENARIO_TEXT_SIZE];
		int room = what_if_choices(&table[i]);
		ok(room > 1 || table[i].value, "%s has a choice beside off", table[i].name);
		if (!table[i].value)
			continue;
		ok(table[i].take(&value, TEXT("7")) == 0 && table[i].get(&value) == room,
			"the free value of %s is the choice after those with words", table[i].name);
		is_str(what_if_word(&table[i], &value, word, sizeof(word)), "7", "... as it was given");
		scenario_text(&value, item, sizeof(item));
		ok(scenario_parse(&again, item, NULL) == 0 && memcmp(&value, &again, sizeof(again)) == 0,
			"... and %s reads back", item);
	}

	static const struct {
		const char *name, *on, *tried;
	} tried[] = { { "cache", "", "cache=warm" }, { "cache", "cache=cold", "" },
		{ "workspace", "", "workspace=0" }, { "workspace", "workspace=64M", "" },
		{ "pad", "", "pad=on (multiples of 8)" }, { "pad", "pad", "multiples of 8" },
		{ "matrix", "", "" }, { "libraries", "", "" }, { "parallel", "", "parallel=resources" } };
	for (size_t i = 0; i < sizeof(tried) / sizeof(tried[0]); i++) {
		struct scenario one = { 0 };
		char word[WHAT_IF_WORD_SIZE];
		scenario_parse(&one, tried[i].on, NULL);
		is_str(what_if_tried(what_if_named(text_of(tried[i].name)), &one, word, sizeof(word)),
			tried[i].tried, "what is tried for %s, now '%s'", tried[i].name, tried[i].on);
	}

	char small[10];
	scenario_parse(&s, "parallel,fusion", NULL);
	is_str(scenario_text(&s, small, sizeof(small)), "parallel", "a short buffer holds whole names");
	return done_testing();
}
