/* How far a total can be trusted: the shares, the verdict of each threshold, the line and its next step. */
#include "config.h"

#include "analyze/real/trust.h"
#include "tap.h"

#include <limits.h>
#include <math.h>

#define LAYERS 4

/* A model of four layers of 100 ns each; the interval is 1% on each side. */
struct made {
	struct result noisy;
	struct plan_layer planned[LAYERS];
	struct plan plan;
	struct layer_cost layers[LAYERS];
	struct analysis a;
	struct contradicted c;
	bool measurable;
};

static void make(struct made *m)
{
	*m = (struct made){ .noisy = { .stats = { .stop = STOP_DISTURBED } }, .measurable = true };
	m->plan = (struct plan){ .layer_count = LAYERS, .layers = m->planned };
	for (int i = 0; i < LAYERS; i++)
		m->layers[i] = (struct layer_cost){ .ns = 100, .origin = ORIGIN_MEASURED, .critical = true };
	m->a = (struct analysis){ .layer_count = LAYERS, .layers = m->layers, .total_ns = 400, .lo_ns = 396,
		.hi_ns = 404, .complete = true };
	m->c = (struct contradicted){ .known = true };
}

/* Sets the layers' costs. */
static void costs(struct made *m, double a, double b, double c, double d)
{
	const double ns[LAYERS] = { a, b, c, d };
	m->a.total_ns = 0;
	for (int i = 0; i < LAYERS; i++) {
		m->layers[i].ns = ns[i];
		m->a.total_ns += isnan(ns[i]) ? 0 : ns[i];
	}
	m->a.lo_ns = 0.99 * m->a.total_ns;
	m->a.hi_ns = 1.01 * m->a.total_ns;
}

static struct trust trust(const struct made *m)
{
	return trust_of(&m->plan, &m->a, &m->c, m->measurable);
}

static void says_in(const struct made *m, int columns, const char *text, const char *what)
{
	struct trust t = trust(m);
	struct str line = { 0 };
	trust_describe(&t, columns, trust_commands, &line);
	is_str(line.p, text, "%s", what);
	str_free(&line);
}

/* The line in a report: 66 columns. */
static void says(const struct made *m, const char *text, const char *what)
{
	says_in(m, 66, text, what);
}

static void verdict(const struct made *m, enum trust_verdict v, const char *what)
{
	struct trust t = trust(m);
	is_str(trust_verdict_name(t.verdict), trust_verdict_name(v), "%s", what);
}

static void next(const struct made *m, enum trust_next n, const char *what)
{
	struct trust t = trust(m);
	is_int(trust_next(&t), n, "%s", what);
}

static void shares(void)
{
	struct made m;
	struct layer_cost inner = { .ns = 50, .origin = ORIGIN_MEASURED }, *bodies[] = { &inner };
	struct plan body = { .layer_count = 1, .layers = (struct plan_layer[]){ { 0 } } };
	make(&m);
	m.layers[0].result = &m.noisy;
	m.layers[0].noisy = true;
	m.layers[1] = (struct layer_cost){ .ns = 100, .origin = ORIGIN_PROXY, .mistrusted = true,
		.result = &m.noisy, .noisy = true };
	m.layers[2].origin = ORIGIN_ESTIMATED;
	struct trust t = trust(&m);
	near(t.share[TRUST_NOISY], 0.25, 1e-9, "a noisy layer is a quarter of the total");
	near(t.share[TRUST_SUSPECT], 0.25, 1e-9, "a suspect one, which is not counted as noisy or proxy");
	near(t.share[TRUST_ESTIMATED], 0.25, 1e-9, "an estimated one");
	near(t.share[TRUST_MEASURED], 0.25, 1e-9, "and a measured one");
	near(t.uncertainty, 0.01, 1e-9, "half the interval / total");

	m.a.total_ns = 500;
	t = trust(&m);
	near(t.share[TRUST_MEASURED], 0.4, 1e-9, "casts count as measured");
	m.a.border_estimated = true;
	t = trust(&m);
	near(t.share[TRUST_ESTIMATED], 0.4, 1e-9, "or as estimated");

	make(&m);
	m.layers[3].origin = ORIGIN_PROXY;
	m.layers[1].critical = m.layers[2].critical = false;
	m.a.scenario.parallel = true;
	m.a.total_ns = 200;
	t = trust(&m);
	near(t.share[TRUST_PROXY], 0.5, 1e-9, "parallel: half of the longest path");
	m.layers[1].critical = true; /* as long as layer 0 */
	t = trust(&m);
	near(t.share[TRUST_MEASURED] + t.share[TRUST_PROXY], 1, 1e-9, "two equal paths: shares add up to 1");

	make(&m);
	m.planned[0] = (struct plan_layer){ .body_count = 1, .bodies = &body };
	m.layers[0].bodies = bodies;
	t = trust(&m);
	ok(t.share[TRUST_NOISY] == 0, "a loop over a quiet measurement");
	inner.result = &m.noisy;
	inner.noisy = true;
	t = trust(&m);
	near(t.share[TRUST_NOISY], 0.25, 1e-9, "over a noisy one");

	make(&m);
	m.layers[0].origin = ORIGIN_ASSUMED;
	costs(&m, 300, 100, 0, 0);
	t = trust(&m);
	near(t.share[TRUST_ASSUMED], 0.75, 1e-9, "a given cost");
	m.a.total_ns = NAN;
	t = trust(&m);
	ok(isnan(t.share[TRUST_MEASURED]) && isnan(t.uncertainty), "no total: no share");
}

/* The shares of a part on both sides of its thresholds, as costs of layer 0 among 1000 ns. */
static void threshold(struct made *m, double fair, double bad, enum trust_verdict v, const char *what)
{
	const double at[] = { fair - 1, fair, bad - 1, bad };
	const enum trust_verdict want[] = { TRUST_GOOD, TRUST_FAIR, TRUST_FAIR, v };
	for (int i = 0; i < 4; i++) {
		char text[64];
		snprintf(text, sizeof(text), "%s: %g of 1000 ns", what, at[i]);
		costs(m, at[i], 1000 - at[i], 0, 0);
		verdict(m, want[i], text);
	}
}

static void verdicts(void)
{
	struct made m;
	make(&m);
	verdict(&m, TRUST_GOOD, "all measured");
	m.layers[0].mistrusted = true;
	threshold(&m, 10, 100, TRUST_LOW, "suspect");
	make(&m);
	m.layers[0].result = &m.noisy;
	m.layers[0].noisy = true;
	threshold(&m, 50, 300, TRUST_LOW, "noisy");
	make(&m);
	m.layers[0].origin = ORIGIN_ESTIMATED;
	threshold(&m, 50, 500, TRUST_ESTIMATE, "estimated");
	m.a.hi_ns = 9000;
	verdict(&m, TRUST_ESTIMATE, "the spread of an estimate is no wide interval");
	make(&m);
	m.layers[0].origin = ORIGIN_PROXY;
	threshold(&m, 100, 500, TRUST_LOW, "by proxy");
	make(&m);
	m.layers[0].origin = ORIGIN_ASSUMED;
	threshold(&m, 100, 500, TRUST_LOW, "given");

	make(&m);
	const double wide[] = { 0.04, 0.06, 0.19, 0.21 };
	const enum trust_verdict want[] = { TRUST_GOOD, TRUST_FAIR, TRUST_FAIR, TRUST_LOW };
	for (int i = 0; i < 4; i++) {
		m.a.lo_ns = 400 * (1 - wide[i]);
		m.a.hi_ns = 400 * (1 + wide[i]);
		verdict(&m, want[i], "an interval");
	}
	m.a.lo_ns = m.a.hi_ns = NAN;
	verdict(&m, TRUST_GOOD, "without an interval");

	make(&m);
	m.c = (struct contradicted){ .known = true, .executions = 1, .able = 1, .layers = 1, .ns = 0.5 };
	verdict(&m, TRUST_FAIR, "one layer is contradicted");
	m.c.ns = 20;
	verdict(&m, TRUST_LOW, "by 5% of the total");
	m.c = (struct contradicted){ .known = true, .executions = 1, .able = 1, .whole = 1, .ns = 1 };
	verdict(&m, TRUST_LOW, "the whole is contradicted");

	make(&m);
	m.layers[3].origin = ORIGIN_UNSUPPORTED;
	m.layers[3].ns = NAN;
	m.a.complete = false;
	m.c.whole = 1;
	verdict(&m, TRUST_PARTIAL, "a missing layer counts first");
	m.a.total_ns = NAN;
	verdict(&m, TRUST_UNKNOWN, "no total");
}

/* A cost that another measurement contradicts is noisy, although its own samples were not disturbed. */
static void contradicted_costs(void)
{
	struct made m;
	make(&m);
	m.layers[0].noisy = m.layers[0].disputed = true;
	struct trust t = trust(&m);
	near(t.share[TRUST_NOISY], 0.25, 1e-9, "a disputed layer counts as noisy");
}

static void good_lines(void)
{
	struct made m;
	make(&m);
	says(&m, "good: all measured; no real run yet (compare --run ort)", "a quiet machine");
	next(&m, TRUST_NEXT_RUN, "then a real run");
	m.measurable = false;
	says(&m, "good: all measured; no real run yet", "on a device without a runner");
	next(&m, TRUST_NEXT_NONE, "nothing to do there");
	m.c.executions = 2;
	says(&m, "good: all measured; no comparable real run", "executions that prove nothing");
	m.c.able = 1;
	says(&m, "good: all measured; no real run contradicts it", "one of them could contradict it");
	next(&m, TRUST_NEXT_NONE, "nothing is left to do");
	m.c.unclear = 1;
	says(&m, "good: all measured; a real run is faster, within the intervals",
		"one is faster, but not by more than the intervals");
	next(&m, TRUST_NEXT_COMPARE, "that is to be measured in turn");
	m.c.unclear = 0;
	m.c.known = false;
	says(&m, "good: all measured", "executions that were not looked for");
	m.layers[0].result = &m.noisy;
	m.layers[0].noisy = true;
	costs(&m, 2, 98, 0, 0);
	m.c = (struct contradicted){ .known = true };
	m.measurable = true;
	says(&m, "good: 98% measured, 2% noisy; no real run yet (compare --run ort)", "a little noise");
	costs(&m, 1, 299, 0, 0);
	m.c.known = false;
	says(&m, "good: all measured", "a third of a percent is not named");
	make(&m);
	costs(&m, 0, 0, 0, 0);
	m.c.known = false;
	says(&m, "good: no layer needs time", "a model of reshapes");
}

static void bad_lines(void)
{
	struct made m;
	make(&m);
	m.layers[0].result = &m.noisy;
	m.layers[0].noisy = true;
	costs(&m, 12, 88, 0, 0);
	says(&m, "fair: 12% noisy (bench --shaky); 88% measured; no real run yet", "noise");
	next(&m, TRUST_NEXT_SHAKY, "measure it again");
	costs(&m, 31, 69, 0, 0);
	m.c = (struct contradicted){ .known = true, .executions = 1, .able = 1, .layers = 4, .ns = 10,
		.by = "onnxruntime" };
	says(&m, "low: onnxruntime ran 4 layers 10 ns faster (compare); 31% noisy",
		"contradicted, then noise");
	next(&m, TRUST_NEXT_COMPARE, "see which layers");
	m.c.ns = 0.5;
	says(&m, "low: 31% noisy (bench --shaky); 4 contradicted; 69% measured",
		"the worse finding first, the other one in few words");
	m.c.by = NULL;
	m.c.able = 2;
	m.c.layers = 1;
	m.c.ns = 8;
	m.layers[0].result = NULL;
	m.layers[0].noisy = false;
	says(&m, "low: frameworks ran 1 layer 8 ns faster (compare); all measured",
		"several frameworks");
	m.c.whole = 1;
	says(&m, "low: frameworks ran the whole model 8 ns faster (compare)", "the whole");
	m.c.able = 1;
	says(&m, "low: an execution ran the whole model 8 ns faster (compare)", "one without a framework");
	m.measurable = false;
	next(&m, TRUST_NEXT_COMPARE, "also on a device without a runner");
	make(&m);
	m.a.hi_ns = 4000;
	says(&m, "low: between 396 ns and 4.00 us (bench --again); all measured", "a wide interval");
	m.a.load_ns = 4;
	says(&m, "low: between 396 ns and 4.00 us (bench --again); all measured", "by other things");
	struct made busy = m;
	busy.a.lo_ns = 300;
	busy.a.hi_ns = 404;
	busy.a.load_ns = 96;
	says(&busy, "fair: between 300 ns and 404 ns: measure at a quieter moment", "if it is");
	next(&busy, TRUST_NEXT_RUN, "... to measure again at once does not help");
	busy.measurable = false;
	says(&busy, "fair: between 300 ns and 404 ns; all measured; no real run yet", "a recorded device");
	next(&m, TRUST_NEXT_AGAIN, "measure it again");
	make(&m);
	m.layers[0].mistrusted = true;
	says(&m, "low: 25% suspect (bench --again); 75% measured; no real run yet", "suspect results");
	m.measurable = false;
	says(&m, "low: 25% suspect; 75% measured; no real run yet", "of a recorded device");
	make(&m);
	m.layers[0].origin = ORIGIN_PROXY;
	m.layers[1].origin = ORIGIN_ASSUMED;
	says(&m, "fair: 25% by proxy; 25% given; 50% measured; no real run yet", "stand-ins");
}

static void partial_lines(void)
{
	struct made m;
	make(&m);
	m.layers[0].origin = m.layers[1].origin = ORIGIN_MISSING;
	m.layers[2].origin = ORIGIN_UNSUPPORTED;
	costs(&m, NAN, NAN, NAN, 100);
	m.a.complete = false;
	says(&m, "partial: 2 layers not measured, 1 unsupported (bench)", "missing layers");
	next(&m, TRUST_NEXT_BENCH, "measure them");
	m.c = (struct contradicted){ .known = true, .executions = 1, .able = 1, .layers = 1, .ns = 9 };
	says(&m, "partial: 2 layers not measured, 1 unsupported (bench)",
		"a line without room for the contradiction");
	m.c.known = false;
	m.c.layers = 0;
	m.layers[3].result = &m.noisy;
	m.layers[3].noisy = true;
	m.layers[2].origin = ORIGIN_MISSING;
	says(&m, "partial: 3 layers not measured (bench); rest 100% noisy", "noise: no second step");
	m.layers[2] = (struct layer_cost){ .ns = 100, .origin = ORIGIN_MEASURED };
	m.a.total_ns = 200;
	m.c.known = false;
	says_in(&m, 80, "partial: 2 layers not measured (bench); rest 50% noisy; 50% measured",
		"of the rest");
	m.layers[2] = (struct layer_cost){ .ns = NAN, .origin = ORIGIN_MISSING };
	m.a.total_ns = 100;
	m.layers[3].origin = ORIGIN_ESTIMATED;
	m.a.lo_ns = NAN;
	says(&m, "partial: 3 layers not measured (bench); rest all estimated", "estimates");
	m.layers[3] = (struct layer_cost){ .origin = ORIGIN_MEASURED };
	m.c = (struct contradicted){ .known = true, .executions = 1, .able = 1, .layers = 1, .ns = 9 };
	m.layers[2].origin = ORIGIN_UNSUPPORTED;
	m.layers[0].origin = m.layers[1].origin = ORIGIN_MEASURED;
	costs(&m, 100, 100, NAN, 100);
	m.c.by = "o";
	says(&m, "partial: 1 layer unsupported; o ran 1 layer 9 ns faster (compare)",
		"... with room");
	next(&m, TRUST_NEXT_COMPARE, "what is unsupported cannot be measured");
	m.measurable = false;
	m.c = (struct contradicted){ 0 };
	m.layers[2].origin = ORIGIN_MISSING;
	says(&m, "partial: 1 layer without a time; rest all measured", "of a recorded device");
	m.layers[2].why = "u8 peak only on matrix units: add -w matrix";
	says(&m, "partial: 1 layer without a time (-w matrix); rest all measured", "with what gives it one");
	struct trust counted = trust(&m);
	struct str line = { 0 };
	counted.counted = true;
	trust_describe(&counted, 100, trust_commands, &line);
	is_str(line.p, "partial: layers are missing (-w matrix); rest all measured", "counted beside it");
	str_free(&line);
	m.layers[2] = (struct layer_cost){ .ns = 100, .origin = ORIGIN_MEASURED, .at_least = true };
	says(&m, "partial: 1 layer with an unknown loop or branch; rest all measured", "a loop");
	m.layers[2].at_least = false;
	m.measurable = true;
	says(&m, "partial: casts or conversions not measured (bench)", "neither: casts");
	m.a.border_ns = NAN;
	next(&m, TRUST_NEXT_BENCH, "measure them");
	m.a.complete = true;
	m.a.total_ns = NAN;
	says(&m, "unknown: nothing is measured (bench)", "no total");
	next(&m, TRUST_NEXT_BENCH, "measure it");
	m.layers[0].origin = ORIGIN_UNSUPPORTED;
	says(&m, "unknown: nothing can be measured", "all unsupported");
}

static void estimate_lines(void)
{
	struct made m;
	make(&m);
	m.measurable = false;
	for (int i = 0; i < LAYERS; i++)
		m.layers[i].origin = ORIGIN_ESTIMATED;
	m.a.lo_ns = m.a.hi_ns = NAN;
	says(&m, "estimate: nothing measured, peaks of the device; spread unknown", "a described device");
	m.a.lo_ns = 300;
	m.a.hi_ns = 1000;
	says(&m, "estimate: nothing measured; likely 300 ns to 1.00 us", "with a spread");
	next(&m, TRUST_NEXT_NONE, "nothing can be done");
	says_in(&m, 200, "estimate: nothing measured; likely 300 ns to 1.00 us",
		"without executions: not a word");
	m.c.executions = 1;
	says_in(&m, 200, "estimate: nothing measured; likely 300 ns to 1.00 us; see the real run (compare)",
		"with one");
	says(&m, "estimate: nothing measured; likely 300 ns to 1.00 us", "a step that does not fit");
	next(&m, TRUST_NEXT_COMPARE, "... which is known");
	m.layers[0].origin = m.layers[1].origin = ORIGIN_MEASURED;
	m.c.executions = 0;
	says(&m, "estimate: 50% estimated; likely 300 ns to 1.00 us; 50% measured", "one half");
}

/* An execution of `framework` with a group of two layers, of which it takes less_ns less than the bound. */
static struct reality ran(struct execution *e, const char *framework, struct reality_group *g, int *layers,
	double less_ns)
{
	*e = execution_new();
	e->framework = framework;
	*g = (struct reality_group){ .layer_count = 2, .layers = layers, .cost_ns = 200,
		.real_ns = 200 - less_ns, .kind = less_ns > 0 ? GAP_FASTER : GAP_ALGORITHM };
	return (struct reality){ .execution = e, .group_count = 1, .groups = g, .bound_ns = 400,
		.measured_ns = 500 };
}

static void executions(void)
{
	struct execution e[3];
	struct reality_group g[3];
	int a[] = { 0, 1 }, b[] = { 1, 2 };
	struct reality y[] = { ran(&e[0], "x", &g[0], a, 20), ran(&e[1], "x", &g[1], b, 60),
		ran(&e[2], "z", &g[2], b, -10) };
	const struct reality *list[] = { &y[0], &y[1], &y[2] }, *first[LAYERS];
	struct contradicted c = contradicted_of(list, 0, LAYERS, first);
	ok(c.known && !c.executions && !c.layers && c.ns == 0 && !c.by && !first[0], "no execution");
	c = contradicted_of(&list[2], 1, LAYERS, NULL);
	ok(c.executions == 1 && c.able == 1 && !c.layers && c.ns == 0 && !c.by, "one that is slower");
	c = contradicted_of(list, 3, LAYERS, first);
	ok(c.executions == 3 && c.able == 3, "three");
	is_int(c.layers, 3, "two of them are faster in three layers");
	near(c.ns, 10 + 30 + 30, 1e-9, "each layer in its fastest execution");
	is_str(c.by, "x", "both of one framework");
	ok(first[0] == &y[0] && first[1] == &y[0] && first[2] == &y[1] && !first[3],
		"the first at each layer");
	is_int(c.not_again, 3, "not measured again");
	g[1].in_turn = true;
	is_int(contradicted_of(list, 3, LAYERS, NULL).not_again, 1, "one of them measured two again");
	g[0].in_turn = true;
	g[1].in_turn = false;
	is_int(contradicted_of(list, 3, LAYERS, NULL).not_again, 1, "the other one does not undo it");
	e[1].framework = "v";
	ok(!contradicted_of(list, 3, LAYERS, NULL).by, "of two frameworks");
	y[1].not_comparable = "4 threads against 2";
	c = contradicted_of(list, 3, LAYERS, NULL);
	ok(c.able == 2 && c.layers == 2, "one that is not comparable");
	is_str(c.by, "x", "which is not named either");
	y[2].contradicted = true;
	y[2].measured_ns = 390;
	c = contradicted_of(list, 3, LAYERS, NULL);
	ok(c.whole == 1 && fabs(c.ns - 20) < 1e-9 && !c.by, "a faster whole, by less than the layers");
	y[2].measured_ns = 350;
	near(contradicted_of(list, 3, LAYERS, NULL).ns, 50, 1e-9, "by more");
	g[0].doubt = DOUBT_TURN;
	c = contradicted_of(list, 3, LAYERS, NULL);
	ok(c.layers == 0 && c.whole == 1, "what was not confirmed does not count");
	y[0].bound_estimated = true;
	is_int(contradicted_of(list, 3, LAYERS, NULL).able, 1, "nothing contradicts an estimate");
}

/* No line is longer than its columns, whatever the columns. */
static void widths(void)
{
	struct made m;
	bool fits = true, word = true;
	make(&m);
	m.layers[0].result = &m.noisy;
	m.layers[0].noisy = true;
	m.layers[1].mistrusted = true;
	m.layers[2].origin = ORIGIN_PROXY;
	m.c = (struct contradicted){ .known = true, .executions = 1, .able = 1, .layers = 2, .ns = 9,
		.by = "onnxruntime" };
	for (int columns = 8; columns < 120; columns++) {
		struct trust t = trust(&m);
		struct str line = { 0 };
		trust_describe(&t, columns, columns % 2 ? NULL : trust_commands, &line);
		fits &= text_columns(line.p) <= columns;
		word &= strncmp(line.p, "low", 3) == 0;
		str_free(&line);
	}
	ok(fits, "every line fits");
	ok(word, "and has its verdict");
	struct trust t = trust(&m);
	struct str line = { 0 };
	str_puts(&line, "trust ");
	trust_describe(&t, INT_MAX, trust_commands, &line);
	is_str(line.p, "trust low: 25% suspect (bench --again); onnxruntime ran 2 layers 9 ns faster; 25% "
		"noisy; 25% by proxy; 25% measured", "all findings, after what the buffer had");
	str_free(&line);
}

/* Layers 1 and 2 run side by side in 120 of 200 ns. */
static void side_by_side(void)
{
	struct made m;
	static const int layers[] = { 1, 2 }, branch[] = { 0, 1 };
	struct result disturbed = { .stats = { .stop = STOP_DISTURBED } };
	struct beside_cost set = { .layers = layers, .branch = branch, .layer_count = 2, .branch_count = 2,
		.alone_ns = 200, .ns = 120, .used = true };
	make(&m);
	m.a.besides = &set;
	m.a.beside_count = 1;
	m.a.total_ns = 320;
	m.layers[1].mistrusted = true; /* alone */
	ok(trust(&m).share[TRUST_SUSPECT] == 0 && fabs(trust(&m).share[TRUST_MEASURED] - 1) < 1e-9,
		"side by side counts what was measured side by side");
	set.mistrusted = true;
	ok(fabs(trust(&m).share[TRUST_SUSPECT] - 120. / 320) < 1e-9, "a set may be suspect");
	set.mistrusted = false;
	set.result = &disturbed;
	ok(fabs(trust(&m).share[TRUST_NOISY] - 120. / 320) < 1e-9, "or noisy");
	set.used = false;
	m.a.total_ns = 400;
	ok(fabs(trust(&m).share[TRUST_SUSPECT] - 0.25) < 1e-9, "one that is not in use does not count");
}

int main(void)
{
	side_by_side();
	shares();
	verdicts();
	contradicted_costs();
	good_lines();
	bad_lines();
	partial_lines();
	estimate_lines();
	executions();
	widths();
	return done_testing();
}
