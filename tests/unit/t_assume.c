#include "config.h"

#include "analyze/analyze.h"
#include "make_plan.h"
#include "net.h"
#include "tap.h"

/* Assumed costs: their text, the layers that they select, and what they do to the bound. */

#define IMAGE "1x64x56x56"
#define RELU "eltwise:f32,f32:relu:" IMAGE
#define TANH "eltwise:f32,f32:tanh:" IMAGE
#define ADD "binary:f32,f32,f32:add:" IMAGE ":" IMAGE

static void cost_is(const char *word, const char *want)
{
	struct assumption cost = { 0 };
	struct error err = ERROR_NONE;
	char buf[ASSUMED_TEXT_SIZE];
	is_int(assumed_parse(text_of(word), &cost, &err), 0, "'%s' is a cost", word);
	is_str(assumed_text(buf, &cost), want, "... %s", want);
}

static void cost_refused(const char *word)
{
	struct assumption cost = { 0 };
	struct error err = ERROR_NONE;
	is_int(assumed_parse(text_of(word), &cost, &err), -1, "'%s' is no cost", word);
	ok(strstr(err.text, "12us") && !strchr(err.text, '\x1b') && cost.kind == ASSUME_NOTHING, "... %s",
		err.text);
}

static void costs(void)
{
	static const char *const bad[] = { "", "5", "-1us", "0x", "-2x", "1us2", "inf us", "nan", "x", "us",
		"1 2us", "1.2.3us", "1e3", "0x10us", "\x1b[2Jus",
		"99999999999999999999999999999999999999999999us" };
	cost_is("12us", "12us");
	cost_is("12 us", "12us");
	cost_is("1.5ms", "1500us");
	cost_is("0.25s", "250000us");
	cost_is("800ns", "0.8us");
	cost_is("3\u00b5s", "3us");
	cost_is("0", "0");
	cost_is("0us", "0");
	cost_is("2x", "2x");
	cost_is("0.5x", "0.5x");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		cost_refused(bad[i]);
}

struct world {
	struct maker *m;
	struct plan *plan;
	struct results *results;
	int numbers[8];
	struct assumption assumed[8];
	struct arena arena;
};

static void name(struct world *w, int layer, const char *text)
{
	w->plan->layers[layer].name = text_of(text);
}

/* relu "a/one" -> tanh "a/two" and Reshape "free" and relu "7" -> add "sum"; numbers from 1. */
static void world_open(struct world *w)
{
	struct maker *m = make_begin();
	*w = (struct world){ .m = m, .results = results_new() };
	int x = make_layer(m, "Relu", RELU, IMAGE, make_input(m, IMAGE), -1);
	int y = make_layer(m, "Tanh", TANH, IMAGE, x, -1);
	int z = make_layer(m, "Relu", RELU, IMAGE, make_layer(m, "Reshape", NULL, IMAGE, x, -1), -1);
	z = make_layer(m, "Add", ADD, IMAGE, y, z);
	z = make_layer(m, "Strange", NULL, IMAGE, z, -1);
	m->plan.values[z].is_output = true;
	w->plan = make_finish(m);
	static const char *const names[] = { "a/one", "a/two", "free", "7", "sum", "sum" };
	for (int i = 0; i < 6; i++) {
		name(w, i, names[i]);
		w->numbers[i] = i + 1;
	}
	measure(w->results, RELU, 10);
	measure(w->results, TANH, 20);
	measure(w->results, ADD, 40);
}

static void world_close(struct world *w)
{
	arena_free(&w->arena);
	results_free(w->results);
	make_end(w->m);
}

static int give(struct world *w, const char *text, struct error *err)
{
	struct assume_item item;
	return assume_parse(text, &item, err) ? -1 :
		assume_apply(w->plan, w->numbers, &item, w->assumed, err);
}

static void selects(struct world *w, const char *text, unsigned want)
{
	struct error err = ERROR_NONE;
	unsigned bits = 0;
	memset(w->assumed, 0, sizeof(w->assumed));
	int count = give(w, text, &err);
	for (int i = 0; i < 6; i++)
		bits |= (unsigned)(w->assumed[i].kind != ASSUME_NOTHING) << i;
	ok(bits == want && count == __builtin_popcount(want), "%s selects %x: %x %s", text, want, bits,
		err.text);
}

static void refuses(struct world *w, const char *text, const char *says)
{
	struct error err = ERROR_NONE;
	memset(w->assumed, 0, sizeof(w->assumed));
	is_int(give(w, text, &err), -1, "%s selects nothing", text);
	ok(strstr(err.text, says) != NULL, "... %s", err.text);
	for (int i = 0; i < 6; i++)
		if (w->assumed[i].kind != ASSUME_NOTHING)
			ok(false, "... and layer %d is untouched", i);
}

static void layers(void)
{
	struct world w;
	world_open(&w);
	selects(&w, "a/one=0", 1);
	selects(&w, "2=1us", 2);
	selects(&w, "#2=1us", 2);
	selects(&w, "a/*=2x", 3);
	selects(&w, "*=2x", 0x3b); /* the Reshape needs no time */
	selects(&w, "free=1us", 4);
	selects(&w, "op=Relu=2x", 9);
	selects(&w, RELU "=2x", 9);
	selects(&w, "7=1us", 8);
	name(&w, 1, "x=y");
	selects(&w, "x=y=1us", 2);
	name(&w, 1, "a[0]");
	selects(&w, "a[0]=1us", 2);
	refuses(&w, "sum=0", "2 layers are named 'sum'; give a number (#5, #6)");
	refuses(&w, "9=0", "benanza layers");
	refuses(&w, "0=0", "benanza layers");
	refuses(&w, "a/onf=0", "did you mean 'a/one'?");
	refuses(&w, "Relu=0", "op=Relu");
	refuses(&w, "ON=0", "did you mean 'a/one'?");
	refuses(&w, "zzz*=0", "no layer is named 'zzz*'");
	name(&w, 3, "2");
	refuses(&w, "2=0", "give #2 or #4");
	selects(&w, "#2=0", 2);
	name(&w, 0, "\x1b[2Jred");
	refuses(&w, "\x1b[2Jre=0", "?[2Jred");
	name(&w, 0, "a\0b");
	w.plan->layers[0].name.n = 3;
	selects(&w, "a*=0", 2);
	world_close(&w);
}

static struct analysis *look(struct world *w, const char *what_ifs)
{
	struct scenario s = scenario_default();
	struct ground g = *GROUND(w->plan, NULL, w->results, NULL);
	g.assumed = w->assumed;
	scenario_parse(&s, what_ifs, NULL);
	return analyze(&w->arena, &g, &s);
}

static void bounds(void)
{
	struct world w;
	struct error err = ERROR_NONE;
	world_open(&w);
	struct analysis *a = look(&w, "assume");
	ok(!a->complete && a->total_ns == 80, "nothing is assumed: a layer is missing");
	give(&w, "#6=5ns", &err);
	a = look(&w, "assume");
	ok(a->complete && a->total_ns == 85, "an unknown operator with a cost");
	is_int(a->layers[5].origin, ORIGIN_ASSUMED, "... is assumed");
	ok(a->layers[5].lo == 5 && a->layers[5].hi == 5 && a->coverage.assumed == 1, "... as given");
	ok(!look(&w, "")->complete, "... only with the what-if");
	give(&w, "op=Relu=2x", &err);
	a = look(&w, "assume");
	ok(a->total_ns == 75 && a->layers[0].ns == 5 && a->layers[3].ns == 5, "twice as fast");
	near(a->layers[0].lo, 5 * 0.99, 1e-12, "... with half of its interval");
	is_int(a->without_interval, 0, "every layer has an interval");
	give(&w, "a/two=0", &err);
	give(&w, "free=3ns", &err);
	a = look(&w, "assume");
	ok(a->total_ns == 5 + 0 + 3 + 5 + 40 + 5, "one without a cost, and a reshape that has one");
	a = look(&w, "assume,parallel=path");
	ok(a->total_ns == 5 + 3 + 5 + 40 + 5, "the longest path turns to the other branch");
	a = look(&w, "assume,layout=priced");
	ok(a->total_ns == 58, "the same with layouts: %g", a->total_ns);
	is_int(a->unmeasured_problems, 0, "nothing is left to measure");
	world_close(&w);
}

/* The time is not measured, so it is not asked for. */
static void unmeasured(void)
{
	struct world w;
	struct error err = ERROR_NONE;
	world_open(&w);
	results_free(w.results);
	w.results = results_new();
	is_int(look(&w, "assume")->unmeasured_problems, 3, "three problems");
	give(&w, "a/two=1us", &err);
	is_int(look(&w, "assume")->unmeasured_problems, 2, "one of them is assumed");
	give(&w, "#5=2x", &err);
	struct analysis *a = look(&w, "assume");
	is_int(a->unmeasured_problems, 2, "half of an unknown time is unknown");
	ok(a->layers[4].origin == ORIGIN_MISSING && isnan(a->layers[4].ns), "... and never 0");
	give(&w, "a/one=1us", &err);
	is_int(look(&w, "assume")->unmeasured_problems, 2, "another layer needs the same problem");
	int count;
	struct scenario s = { .assume = true };
	struct ground g = *GROUND(w.plan, NULL, w.results, NULL);
	g.assumed = w.assumed;
	struct what_if_effect *e = analyze_what_ifs(&w.arena, &g, &s, &count);
	for (int i = 0; i < count; i++)
		if (strcmp(e[i].row->name, "assume") == 0)
			ok(e[i].available && e[i].on && isnan(e[i].saves_ns), "what it saves is unknown");
	g.assumed = NULL;
	e = analyze_what_ifs(&w.arena, &g, &s, &count);
	for (int i = 0; i < count; i++)
		if (strcmp(e[i].row->name, "assume") == 0)
			ok(!e[i].available, "without assumptions it is not available");
	world_close(&w);
}

/* A loop's cost replaces that of all its rounds, measured or not. */
static void loops(void)
{
	static const struct {
		const char *given;
		bool measured;
		double ns; /* NAN: unknown */
		enum origin origin;
	} row[] = {
		{ NULL, true, 30, ORIGIN_MEASURED },
		{ "1=7us", true, 7000, ORIGIN_ASSUMED },
		{ "op=Loop=2x", true, 15, ORIGIN_ASSUMED },
		{ "1=0", true, 0, ORIGIN_ASSUMED },
		{ "1=7us", false, 7000, ORIGIN_ASSUMED },
		{ "1=2x", false, NAN, ORIGIN_MISSING },
	};
	struct net *n = net_begin(17), *body;
	net_ints(n, "trips", "3");
	net_input(n, "x", DTYPE_F32, "8,16");
	body = net_body(n);
	net_input(body, "i", DTYPE_S64, "");
	net_input(body, "go", DTYPE_BOOL, "");
	net_input(body, "v", DTYPE_UNKNOWN, NULL);
	net_node(body, "Relu", "v", "next", NULL);
	net_output(body, "go", NULL);
	net_output(body, "next", NULL);
	net_node_body(net_node(n, "Loop", "trips,,x", "y", NULL), "body", body);
	net_output(n, "y", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	int numbers[] = { 1 };
	is_int(p->layer_count, 1, "a model of one loop");
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct arena a = { 0 };
		struct assumption assumed[1] = { 0 };
		struct assume_item item;
		struct error err = ERROR_NONE;
		struct results *results = results_new();
		if (row[i].measured)
			measure(results, "eltwise:f32,f32:relu:8x16", 10);
		ok(!row[i].given || (assume_parse(row[i].given, &item, &err) == 0 &&
			assume_apply(p, numbers, &item, assumed, &err) == 1), "a loop with %s %s",
			row[i].given ? row[i].given : "no assumption", err.text);
		struct scenario s = scenario_default();
		s.assume = true;
		struct ground g = *GROUND(p, NULL, results, NULL);
		g.assumed = assumed;
		struct analysis *x = analyze(&a, &g, &s);
		double ns = x->layers[0].ns;
		ok(isnan(row[i].ns) ? isnan(ns) || x->layers[0].at_least : ns == row[i].ns, "... takes %g",
			ns);
		ok(x->complete == !isnan(row[i].ns), "... and the total is %scomplete",
			isnan(row[i].ns) ? "in" : "");
		if (x->complete)
			near(x->total_ns, row[i].ns, 1e-9, "... which is that");
		is_int(x->layers[0].origin, row[i].origin, "... from");
		results_free(results);
		arena_free(&a);
	}
	plan_free(p);
	net_free(body);
	net_free(n);
}

int main(void)
{
	costs();
	layers();
	bounds();
	unmeasured();
	loops();
	return done_testing();
}
