/* Terms of searches and filters: what they accept, which rows they match, and errors while they are typed. */
#include "config.h"

#include "ui_help.h"

/* Rows that a filter leaves. */
static int rows(const char *filter)
{
	type("&");
	type(filter);
	type("\r");
	return app_pane(&app)->shown_count;
}

static void clear(void)
{
	app_key(&app, KEY_CODE_ESC);
	app_draw(&app);
}

static int count(const char *word)
{
	int n = rows(word);
	clear();
	return n;
}

/* Layers that the analysis says cost more, by the numbers themselves. */
static int costing(double least)
{
	int n = 0;
	for (int i = 0; i < app.listed_count; i++)
		n += app_cost_all(&app, app.listed[i]) > least;
	return n;
}

static void test_numbers(void)
{
	begin(&(struct fixture_options){ .queue = true, .busy = true });
	int all = app.listed_count, more = costing(1e6), known = costing(-1);
	ok(more > 0 && more < known && known < all, "some cost more than 1 ms, some are unknown");
	is_int(count("cost>1ms"), more, "cost>1ms");
	is_int(count("cost>1000us"), more, "in another unit");
	is_int(count("cost<=1ms"), known - more, "an unknown cost matches neither");
	is_int(count("!cost>1ms"), known - more, "nor the negation");
	is_int(count("cost>1ms cost<2.9ms"), more - costing(2.9e6), "both must hold");
	ok(count("share>10%") > 0 && count("share>10%") < known, "share");
	is_int(count("flops>1T"), 0, "flops");
	end();
}

static void test_words(void)
{
	begin(&(struct fixture_options){ .queue = true, .busy = true });
	int all = app.listed_count, convs = count("op=Conv"), ok_count = count("state:ok");
	ok(convs > 0 && convs < all, "op=Conv");
	is_int(count("op=conv"), convs, "whatever the case");
	is_int(count("!op=Conv"), all - convs, "negated");
	is_int(count("op=Con"), 0, "= is the whole word");
	is_int(count("op:Con"), convs, ": a part");
	is_int(count("class:compute op=Conv"), convs, "class");
	ok(count("scope:layer1.1") > 0 && count("scope:layer1.1") < count("name:layer1"), "inside a scope");
	is_int(count("scope:layer1.1"), count("scope=layer1/layer1.1") + count("scope=layer1.1"),
		"= the first parts of a name");
	is_int(count("scope:layer"), 0, "a whole part");
	is_int(count("state:ok") + count("!state:ok"), all, "each row has a state");
	ok(ok_count > 0 && ok_count < all, "state:ok");
	is_int(count("state:missing"), count("state=-"), "a stored name is its word");
	is_int(count("name:layer1.0 relu"), 2, "a term and a word");
	is_int(count("relu layer1.0"), 2, "two words, in any order");
	is_int(count("\"relu layer1.0\""), 0, "in quotes they are one");
	is_int(count("layer1.0 !relu"), count("layer1.0") - 2, "a word negated");
	ok(count("algo:brgconv") > 0 && count("algo:brgconv") <= all && count("algo:nosuch") == 0, "algo");
	is_int(count("eltwise:f32"), count("problem:eltwise:f32"), "an unknown key before : is text");
	is_int(count("onnx::") + count("input:0") + count("\"foo:bar\""), 0, "and names with colons are");
	is_int(count("is:unmeasured") + count("!is:unmeasured"), all, "is:");
	end();
	begin(&(struct fixture_options){ .measured = true, .disturbed = true });
	ok(count("state:noisy") > 5 && count("state:noisy") == count("state=disturbed") &&
			count("state:noisy") == count("state:Shaky"),
		"noisy by all of its names");
	is_int(count("is:critical"), 0, "nothing is critical without the critical path");
	end();
	begin(&(struct fixture_options){ .measured = true, .chain = 7 });
	type("p");
	is_int(count("is:critical"), app.listed_count, "all of a chain is critical");
	end();
}

static void test_errors(void)
{
	static const char *const bad[][2] = {
		{ "cost>1", "is not a number with a unit: cost>1ms" },
		{ "cost>", "cost needs a value: cost>1ms" },
		{ "cost:1ms", "cost takes <, <=, > or >=: cost>1ms" },
		{ "op<Conv", "op takes : or =: op=Conv" },
		{ "state:wobbly", "unknown term state:wobbly; use ok, noisy" },
		{ "class:heavy", "unknown term class:heavy; use unknown, compute" },
		{ "stat:noisy", "did you mean state, as in state:noisy?" },
		{ "costs>1ms", "did you mean cost" },
		{ "foo:bar", "no term \"foo\"; \"foo:bar\" in quotes is text" },
		{ "oper=Conv", "did you mean op" },
		{ "price>1ms", "no term \"price\"" },
		{ "share>1.2.3%", "is not a number" },
	};
	begin(&(struct fixture_options){ .measured = true });
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		type("&relu ");
		int before = app_pane(&app)->shown_count;
		type(bad[i][0]);
		ok(sees(bad[i][1]), "%s: said while it is typed", bad[i][0]);
		is_int(app_pane(&app)->shown_count, before, "and the rows stay");
		type("\r");
		ok(app.stage->prompt.use == &prompt_filter && sees(bad[i][1]), "Enter does not take it");
		clear();
		clear();
	}
	type("/cost>1q");
	ok(sees("is not a number"), "a search too");
	clear();
	type("/op=Add\r");
	is_str(app_clean(&app, app_layer(&app, app.layer)->node->op), "Add", "a search by a term");
	type("n");
	is_str(app_clean(&app, app_layer(&app, app.layer)->name), "layer1.1.add", "n follows it");
	type("?/share>1%\r");
	ok(sees("share>1%") && sees("its share of the sequential total"),
		"in the help a term is text, and is explained");
	end();
}

static void test_problems(void)
{
	begin(&(struct fixture_options){ .queue = true, .busy = true });
	type("4");
	int all = app_pane(&app)->shown_count;
	ok(count("op=Conv") > 0 && count("op=Conv") < all, "problems: op");
	ok(count("cost>1ms") > 0 && count("cost>1ms") < all, "problems: cost");
	ok(count("state:ok") > 0 && count("state:ok") < all, "problems: state");
	ok(count("algo:brgconv") > 0, "problems: algo");
	end();
}

int main(void)
{
	test_numbers();
	test_words();
	test_errors();
	test_problems();
	return done_testing();
}
