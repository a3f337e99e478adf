/* Bounds of layers that cost what their bodies cost, by made-up results. */
#include "config.h"

#include "analyze/analyze.h"
#include "make_plan.h"
#include "net.h"
#include "tap.h"

#include <math.h>

#define PRODUCT "matmul:f32,f32.c,f32/f32:ba1bb1m8n16k16:ta0tb0"
#define RELU "eltwise:f32,f32:relu:8x16"
#define TANH "eltwise:f32,f32:tanh:8x16"

struct world {
	struct net *n, *body, *yes, *no;
	struct plan *p;
	struct results *results;
	struct arena arena;
};

/* Relu; then a Loop of a product and a Relu; then Tanh or a product. */
static void world_open(struct world *w, const char *trips)
{
	struct plan_options o = { 0 };
	struct error err = ERROR_NONE;
	*w = (struct world){ .n = net_begin(17), .results = results_new() };
	net_input(w->n, "x", DTYPE_F32, "8,16");
	net_input(w->n, "flag", DTYPE_BOOL, "");
	net_weight(w->n, "w", "16,16");
	if (trips)
		net_ints(w->n, "trips", trips);
	else
		net_input(w->n, "trips", DTYPE_S64, "");
	net_node(w->n, "Relu", "x", "r", NULL);
	w->body = net_body(w->n);
	net_input(w->body, "i", DTYPE_S64, "");
	net_input(w->body, "go", DTYPE_BOOL, "");
	net_input(w->body, "v", DTYPE_F32, NULL);
	net_node(w->body, "MatMul", "v,w", "m", NULL);
	net_node(w->body, "Relu", "m", "next", NULL);
	net_output(w->body, "go", NULL);
	net_output(w->body, "next", NULL);
	net_node_body(net_node(w->n, "Loop", "trips,,r", "y", NULL), "body", w->body);
	w->yes = net_body(w->n);
	net_node(w->yes, "Tanh", "y", "a", NULL);
	net_output(w->yes, "a", NULL);
	w->no = net_body(w->n);
	net_node(w->no, "MatMul", "y,w", "b", NULL);
	net_output(w->no, "b", NULL);
	struct node *choice = net_node(w->n, "If", "flag", "z", NULL);
	net_node_body(choice, "then_branch", w->yes);
	net_node_body(choice, "else_branch", w->no);
	net_output(w->n, "z", NULL);
	w->p = plan_build(net_model(w->n), &o, &err);
	if (!ok(w->p != NULL, "a model of a loop and a choice"))
		printf("Bail out! %s\n", err.text);
}

static void world_close(struct world *w)
{
	arena_free(&w->arena);
	results_free(w->results);
	plan_free(w->p);
	net_free(w->body);
	net_free(w->yes);
	net_free(w->no);
	net_free(w->n);
}

static struct analysis *look(struct world *w, const char *toggles)
{
	static const struct device device = { .name = "cpu", .llc_bytes = 0 };
	struct scenario s = scenario_default();
	struct error err = ERROR_NONE;
	if (scenario_parse(&s, toggles, &err) < 0)
		ok(false, "%s", err.text);
	return analyze(&w->arena, GROUND(w->p, NULL, w->results, &device), &s);
}

static void is_ns(double got, double want, const char *name)
{
	if (!ok(fabs(got - want) < 1e-6 || (isnan(got) && isnan(want)), "%s", name))
		printf("# got %.17g want %.17g\n", got, want);
}

static void test_problems(void)
{
	struct world w;
	int count;
	world_open(&w, "10");
	const char **texts = analyze_problems_in(&w.arena, w.p, NULL, false, 0, &count);
	is_int(count, 3, "three problems to measure");
	is_str(texts[0], RELU, "in order of their first use");
	is_str(texts[1], PRODUCT, "those of bodies too");
	is_str(texts[2], TANH, "and of branches");
	is_int(w.p->problems[0].use_count, 2, "counted wherever they are");
	struct analysis *a = look(&w, "");
	ok(isnan(a->total_ns) && !a->complete, "nothing is measured");
	is_int(a->unmeasured_problems, 3, "three are wanted");
	is_int(a->coverage.missing, 3, "each layer counts once");
	world_close(&w);
}

static void test_costs(void)
{
	struct world w;
	world_open(&w, "10");
	measure(w.results, RELU, 5);
	measure(w.results, PRODUCT, 100);
	struct analysis *a = look(&w, "");
	is_ns(a->layers[1].ns, 1050, "a loop costs its rounds");
	is_int(a->layers[1].origin, ORIGIN_MEASURED, "and is measured when all in it is");
	is_ns(a->layers[1].lo, 1050 * 0.99, "interval and all");
	is_ns(a->layers[1].bodies[0][0].ns, 100, "its layers are listed once");
	is_int(a->layers[2].origin, ORIGIN_MISSING, "a choice with an unmeasured branch is not measured");
	is_ns(a->total_ns, 1055, "and not in the total");
	measure(w.results, TANH, 7);
	a = look(&w, "");
	is_ns(a->layers[2].ns, 7, "a choice costs at least its cheaper branch");
	ok(a->layers[2].at_least && a->layers[2].why && !a->complete, "and is said to be more, perhaps");
	is_ns(a->total_ns, 5 + 1050 + 7, "the total");
	is_ns(a->parallel_ns, 5 + 1050 + 7, "and the path");
	is_int(a->coverage.measured, 3, "all is measured");
	is_int(a->without_interval, 0, "with intervals");
	is_ns(a->hi_ns, 1062 * 1.01 + sqrt(10.5 * 10.5 + 0.05 * 0.05 + 0.07 * 0.07), "that add up");
	world_close(&w);
}

static void test_unknown(void)
{
	struct world w;
	world_open(&w, NULL);
	measure(w.results, RELU, 5);
	measure(w.results, PRODUCT, 100);
	measure(w.results, TANH, 7);
	struct analysis *a = look(&w, "");
	is_ns(a->layers[1].ns, 105, "of an unknown number of rounds one");
	ok(a->layers[1].at_least && !a->complete, "so it is at least that");
	is_ns(a->total_ns, 5 + 105 + 7, "in the total");
	world_close(&w);
	world_open(&w, "0");
	a = look(&w, "");
	is_int(a->layers[1].origin, ORIGIN_FREE, "no round is free");
	world_close(&w);
}

int main(void)
{
	test_problems();
	test_costs();
	test_unknown();
	return done_testing();
}
