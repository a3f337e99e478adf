#include "config.h"

#include "random_help.h"
#include "world.h"

/* Layouts for each layer: exact totals of small graphs, and random graphs against all assignments of layouts,
 * algorithms and groups tried one by one. */

#define IMAGE "1x64x56x56"
#define CONV(c) "conv:f32,f32.c,f32/f32:n1c" c "h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"
#define CONV_8(c) "conv:u8,s8.c,u8/s32:n1c" c "h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"
#define RELU "eltwise:f32,f32:relu:" IMAGE
#define ADD "binary:f32,f32,f32:add:" IMAGE ":" IMAGE
#define SOFTMAX "softmax:f32,f32:soft:" IMAGE ":ax3"
#define TO_NXC "transpose:f32,f32:64x3136:perm1x0"
#define TO_NCX "transpose:f32,f32:3136x64:perm1x0"

enum { NCX, NXC, B8, B16, LAYOUTS };
static const char *const tags[LAYOUTS] = { "nchw", "nhwc", "nChw8c", "nChw16c" };
/* the transpose of a value's bytes from one layout to another, by hand */
static const char *const conversions[LAYOUTS][LAYOUTS] = {
	{ NULL, TO_NXC, "transpose:f32,f32:8x8x3136:perm0x2x1", "transpose:f32,f32:4x16x3136:perm0x2x1" },
	{ TO_NCX, NULL, "transpose:f32,f32:3136x8x8:perm1x0x2", "transpose:f32,f32:3136x4x16:perm1x0x2" },
	{ "transpose:f32,f32:8x3136x8:perm0x2x1", "transpose:f32,f32:8x3136x8:perm1x0x2", NULL,
		"transpose:f32,f32:4x2x3136x8:perm0x2x1x3" },
	{ "transpose:f32,f32:4x3136x16:perm0x2x1", "transpose:f32,f32:4x3136x16:perm1x0x2",
		"transpose:f32,f32:4x3136x2x8:perm0x2x1x3", NULL },
};

static const struct device device = { .name = "cuda:0", .llc_bytes = 32e6, .has_matrix = true };

static void measure_in(struct results *r, const char *problem, int in, int out, double ns)
{
	char layouts[64], name[16];
	struct result one = make_result(problem, ns);
	snprintf(layouts, sizeof(layouts), "src=%s wei=any dst=%s", tags[in], tags[out]);
	snprintf(name, sizeof(name), "a%d", in * LAYOUTS + out);
	one.algorithm.layouts = layouts;
	one.algorithm.name = name;
	results_put(r, &one);
}

static int conv(struct maker *m, const char *problem, int x)
{
	return make_layer(m, "Conv", problem, IMAGE, x, make_constant(m, "64x64x3x3"));
}

/* x -> conv a -> relu -> conv b -> softmax, and x -> softmax */
static struct maker *two_convs(void)
{
	struct maker *m = make_begin();
	int x = make_input(m, IMAGE);
	int a = make_layer(m, "Relu", RELU, IMAGE, conv(m, CONV("64"), x), -1);
	int b = conv(m, CONV("63"), a);
	int y = make_layer(m, "Softmax", SOFTMAX, IMAGE, b, -1);
	m->plan.values[y].is_output = true;
	return m;
}

/* The channels-last form of a problem may use an algorithm in place only where its layer may. */
static void twins_in_place(void)
{
	struct world w;
	struct maker *m = two_convs();
	w = (struct world){ .m = m, .plan = make_finish(m), .results = results_new() };
	w.fusion = fusion_find(w.plan);
	const struct plan_layer *second = &w.plan->layers[2];
	const char *twin = w.plan->problems[second->problem_nxc].text;
	ok(second->problem_nxc != second->problem, "a convolution has a channels-last form");
	measure(w.results, RELU, 5);
	measure(w.results, SOFTMAX, 7);
	measure(w.results, TO_NXC, 1);
	measure(w.results, TO_NCX, 1);
	measure_in(w.results, CONV("64"), NCX, NCX, 100);
	measure_in(w.results, CONV("63"), NCX, NCX, 120);
	struct result one = make_result(twin, 4);
	one.algorithm.notes = "in_place";
	results_put(w.results, &one);
	near(look(&w, "layout=priced")->total_ns, 100 + 5 + 120 + 7, 0, "priced: its input is read again");
	w.plan->values[second->inputs[0]].dies_in = 2;
	near(look(&w, "layout=priced")->total_ns, 100 + 5 + 1 + 4 + 1 + 7, 0, "... it may be overwritten");
	world_close(&w);
}

static void only_channels_last(void)
{
	struct world w;
	world_open_on(&w, two_convs(), &device);
	measure(w.results, RELU, 5);
	measure(w.results, SOFTMAX, 7);
	measure_in(w.results, CONV("64"), NCX, NCX, 100);
	measure_in(w.results, CONV("64"), NXC, NXC, 90);
	measure_in(w.results, CONV("63"), NCX, NCX, 120);
	measure_in(w.results, CONV("63"), NXC, NXC, 80);
	struct analysis *a = look(&w, "");
	near(a->total_ns, 90 + 5 + 80 + 7, 0, "layers that can run in ONNX order: no conversion counts");
	is_int(a->conversions, 0, "... and there is none");
	world_close(&w);

	world_open_on(&w, two_convs(), &device);
	measure(w.results, RELU, 5);
	measure(w.results, SOFTMAX, 7);
	measure_in(w.results, CONV("64"), NXC, NXC, 100);
	measure_in(w.results, CONV("63"), NXC, NXC, 80);
	a = look(&w, "");
	ok(!a->complete && a->unmeasured_problems == 2, "convolutions that only run channels last: two "
		"conversions are to be measured");
	near(a->total_ns, 100 + 5 + 80 + 7, 0, "... and the total is at least the layers");
	ok(!a->layouts_exact, "... and not exact");
	measure(w.results, TO_NXC, 20);
	measure(w.results, TO_NCX, 30);
	a = look(&w, "");
	near(a->total_ns, 100 + 5 + 80 + 7 + 20 + 30, 0, "conversions before the first and after the last");
	ok(a->complete && a->conversions == 2 && a->border_ns == 50, "... two, at the borders");
	near(a->path_ns, a->sequential_ns, 0, "a chain: the longest path has them too");
	ok(a->layouts_exact, "the assignment is exact");
	measure_in(w.results, CONV("63"), NCX, NCX, 85);
	near(look(&w, "")->total_ns, 100 + 5 + 80 + 7 + 20 + 30, 0, "the second one can do either: its best, "
		"after one conversion");
	struct result f = make_result(CONV("64"), NAN);
	f.status = STATUS_UNSUPPORTED;
	f.algorithm.name = "other";
	results_put(w.results, &f);
	is_int(look(&w, "")->conversions, 2, "what is unsupported is no way to run it");
	world_close(&w);
}

static void once_a_tensor(void)
{
	struct maker *m = make_begin();
	int x = make_input(m, IMAGE);
	int a = conv(m, CONV("64"), x), b = conv(m, CONV("63"), x);
	int s = make_layer(m, "Softmax", SOFTMAX, IMAGE, x, -1);
	int y = make_layer(m, "Add", ADD, IMAGE, make_layer(m, "Add", ADD, IMAGE, a, b), s);
	m->plan.values[y].is_output = true;
	struct world w;
	world_open_on(&w, m, &device);
	measure(w.results, ADD, 10);
	measure(w.results, SOFTMAX, 7);
	measure_in(w.results, CONV("64"), NXC, NXC, 100);
	measure_in(w.results, CONV("63"), NXC, NXC, 80);
	measure(w.results, TO_NXC, 20);
	measure(w.results, TO_NCX, 30);
	struct analysis *r = look(&w, "");
	near(r->total_ns, 100 + 80 + 7 + 20 + 20 + 30, 0,
		"one conversion of the input for two readers, one after the first sum");
	near(r->path_ns, 20 + 100 + 10 + 30 + 10, 0, "the reader in ONNX order does not wait for it");
	near(look(&w, "layout=priced")->total_ns, r->total_ns, 0, "priced: the same");
	measure_in(w.results, CONV("64"), NCX, NCX, 104);
	near(look(&w, "")->total_ns, r->total_ns, 0, "free: its best algorithm");
	near(look(&w, "layout=priced")->total_ns, 100 + 80 + 7 + 20 + 20 + 30, 0, "priced: still the best");
	measure_in(w.results, CONV("63"), NCX, NCX, 84);
	near(look(&w, "")->total_ns, 100 + 80 + 7 + 20, 0, "free: no conversion any more");
	near(look(&w, "layout=priced")->total_ns, 104 + 84 + 7 + 20, 0,
		"priced: slower algorithms spare the conversions");
	world_close(&w);
}

/* A described GPU has no convolution of 8 bits in ONNX order. */
static void described(void)
{
	struct maker *m = make_begin();
	m->dtype = DTYPE_U8;
	int y = conv(m, CONV_8("64"), make_input(m, IMAGE));
	m->plan.values[y].is_output = true;
	struct world w;
	world_open_on(&w, m, &device);
	struct peaks k = peaks_unknown();
	k.bandwidth_bytes_s = 1e12;
	k.matrix_flops[DTYPE_U8] = k.matrix_flops[DTYPE_S8] = 1e15;
	k.sm = 90;
	k.clock_share = k.bandwidth_share = 1;
	struct ground g = { .plan = w.plan, .fusion = w.fusion, .results = w.results, .device = &device,
		.peaks = &k, .estimate = true };
	struct scenario s = scenario("matrix");
	struct analysis *a = analyze(&w.arena, &g, &s);
	is_int(a->conversions, 2, "8 bits on a described GPU: converted before and after");
	ok(a->complete && a->estimated && a->border_estimated && a->border_ns > 0, "... estimated");
	near(a->total_ns, a->layers[0].ns + a->border_ns, 1e-9, "... and part of the bound");
	world_close(&w);
}

/* ---- against all assignments */

#define LAYERS 7

struct way {
	int in, out;
	double ns;
};

struct trial {
	struct world w;
	int seen;               /* layouts, as bits */
	int way_count[LAYERS];
	struct way ways[LAYERS][LAYOUTS * 3];
	int *group_ways;        /* per group: number */
	struct way (*of_group)[2];
	double price[LAYOUTS][LAYOUTS];
	int group[LAYERS];      /* the choice: -1 alone */
	struct way way[LAYERS];
	double best;
};

static const char *conv_names[LAYERS] = { CONV("64"), CONV("63"), CONV("62"), CONV("61"), CONV("60"),
	CONV("59"), CONV("58") };

static void grow(struct trial *t, int *values, int *count)
{
	struct maker *m = t->w.m;
	int layer = m->plan.layer_count;
	int x = values[*count - 1 - below(*count < 3 ? *count : 3)], y = values[below(*count)];
	switch (below(6)) {
	case 0: values[*count] = make_layer(m, "Softmax", SOFTMAX, IMAGE, x, -1); break;
	case 1: values[*count] = make_layer(m, "Relu", RELU, IMAGE, x, -1); break;
	case 2: values[*count] = make_layer(m, "Add", ADD, IMAGE, x, y); break;
	default: values[*count] = conv(m, conv_names[layer], x); break;
	}
	m->plan.values[values[*count]].is_output = below(6) == 0;
	++*count;
}

/* Measures a problem in a few random pairs of layouts. */
static int measure_ways(struct trial *t, const char *text, struct way *ways, int most)
{
	int count = 0;
	for (int i = 0; i < most; i++) {
		struct way one = { below(LAYOUTS), below(LAYOUTS), 40 + below(60) };
		one.out = below(3) ? one.in : one.out;
		for (int k = 0; k < count; k++)
			if (ways[k].in == one.in && ways[k].out == one.out)
				one.ns = NAN;
		if (isnan(one.ns))
			continue;
		measure_in(t->w.results, text, one.in, one.out, one.ns);
		t->seen |= 1 << one.in | 1 << one.out;
		ways[count++] = one;
	}
	return count;
}

static void trial_open(struct trial *t)
{
	int values[LAYERS + 1], count = 0;
	struct maker *m = make_begin();
	*t = (struct trial){ .w.m = m, .seen = 1, .best = INFINITY };
	values[count++] = make_input(m, IMAGE);
	while (m->plan.layer_count < LAYERS)
		grow(t, values, &count);
	m->plan.values[values[count - 1]].is_output = true;
	world_open_on(&t->w, m, &device);
	measure(t->w.results, RELU, 15);
	measure(t->w.results, ADD, 25);
	measure(t->w.results, SOFTMAX, 35);
	for (int i = 0; i < LAYOUTS; i++)
		for (int k = 0; k < LAYOUTS; k++)
			if (i != k)
				measure(t->w.results, conversions[i][k], t->price[i][k] = 3 + below(25));
	for (int i = 0; i < LAYERS; i++)
		if (t->w.plan->problems[t->w.plan->layers[i].problem].problem->kernel == KERNEL_CONV)
			t->way_count[i] = measure_ways(t, conv_names[i], t->ways[i], 3);
	const struct fusion *f = t->w.fusion;
	t->group_ways = base_calloc((size_t)f->group_count + 1, sizeof(int));
	t->of_group = base_calloc((size_t)f->group_count + 1, sizeof(*t->of_group));
	for (int i = 0; i < f->group_count; i++) {
		for (int k = 0; k < i; k++) /* groups of the same problem */
			if (strcmp(f->groups[k].text, f->groups[i].text) == 0 && !t->group_ways[i]) {
				t->group_ways[i] = t->group_ways[k];
				memcpy(t->of_group[i], t->of_group[k], sizeof(t->of_group[i]));
			}
		if (!t->group_ways[i] && f->groups[i].distinct >= plan_problem_total(t->w.plan))
			t->group_ways[i] = measure_ways(t, f->groups[i].text, t->of_group[i], 2);
	}
	for (int i = 0; i < LAYERS; i++) {
		const struct plan_layer *l = &t->w.plan->layers[i];
		bool softmax = plan_layer_is(l, "Softmax");
		for (int k = 0; k < LAYOUTS && !t->way_count[i]; k++)
			if (!plan_layer_is(l, "Conv") && (softmax ? k == NCX : t->seen >> k & 1))
				t->ways[i][t->way_count[i]++] = (struct way){ k, k, softmax ? 35 :
					plan_layer_is(l, "Relu") ? 15 : 25 };
		if (!softmax && !plan_layer_is(l, "Conv"))
			for (int k = NXC; k < LAYOUTS; k++)
				if (t->seen >> k & 1)
					t->ways[i][t->way_count[i]++] =
						(struct way){ k, k, t->ways[i][0].ns };
	}
}

static void trial_close(struct trial *t)
{
	free(t->group_ways);
	free(t->of_group);
	world_close(&t->w);
}

static double total(const struct trial *t)
{
	const struct plan *p = t->w.plan;
	const struct fusion *f = t->w.fusion;
	double sum = 0;
	for (int i = 0; i < LAYERS; i++) {
		const struct fusion_group *g = t->group[i] >= 0 ? &f->groups[t->group[i]] : NULL;
		sum += !g || g->layers[g->layer_count - 1] == i ? t->way[i].ns : 0;
	}
	for (int v = 0; v < p->value_count; v++) {
		const struct plan_value *x = &p->values[v];
		int made = x->producer < 0 ? NCX : t->way[x->producer].out;
		int need = x->is_output ? 1 << NCX : 0;
		for (int i = 0; !x->constant && i < x->consumer_count; i++) {
			int reader = x->consumers[i], group = t->group[reader];
			if (group >= 0 && x->producer >= 0 && t->group[x->producer] == group)
				continue;
			need |= 1 << (group >= 0 && f->groups[group].layers[0] != reader ?
				t->way[reader].out : t->way[reader].in);
		}
		for (int k = 0; !x->constant && k < LAYOUTS; k++)
			sum += k != made && (need >> k & 1) ? t->price[made][k] : 0;
	}
	return sum;
}

static void try_all(struct trial *t, int layer, bool fusion)
{
	const struct fusion *f = t->w.fusion;
	if (layer == LAYERS) {
		t->best = fmin(t->best, total(t));
		return;
	}
	if (t->group[layer] >= 0) {
		try_all(t, layer + 1, fusion);
		return;
	}
	for (int i = 0; i < t->way_count[layer]; i++) {
		t->way[layer] = t->ways[layer][i];
		try_all(t, layer + 1, fusion);
	}
	for (int g = f->first_group[layer]; fusion && g >= 0 && g < f->group_count &&
		f->groups[g].layers[0] == layer; g++) {
		bool open = true;
		for (int k = 0; k < f->groups[g].layer_count; k++)
			open &= t->group[f->groups[g].layers[k]] < 0;
		for (int i = 0; open && i < t->group_ways[g]; i++) {
			for (int k = 0; k < f->groups[g].layer_count; k++) {
				t->group[f->groups[g].layers[k]] = g;
				t->way[f->groups[g].layers[k]] = t->of_group[g][i];
			}
			try_all(t, layer + 1, fusion);
			for (int k = 0; k < f->groups[g].layer_count; k++)
				t->group[f->groups[g].layers[k]] = -1;
		}
	}
}

static void random_graphs(void)
{
	int good = 0, converted = 0, fused = 0, trials = 300, ordered = 0;
	for (int i = 0; i < trials; i++) {
		struct trial t;
		trial_open(&t);
		for (int k = 0; k < LAYERS; k++)
			t.group[k] = -1;
		try_all(&t, 0, false);
		double alone = t.best;
		try_all(&t, 0, true);
		struct analysis *a = look(&t.w, "layout=priced"), *b = look(&t.w, "layout=priced,fusion");
		bool right = a->sequential_ns == alone && b->sequential_ns == t.best && a->complete &&
			b->complete && a->layouts_exact && b->layouts_exact;
		if (!right)
			printf("# graph %d: %g for %g, fused %g for %g\n", i, a->sequential_ns, alone,
				b->sequential_ns, t.best);
		good += right;
		converted += a->conversions > 0;
		fused += t.best < alone;
		struct analysis *open = look(&t.w, "");
		ordered += (open->conversions || open->sequential_ns <= alone) &&
			b->path_ns <= b->sequential_ns && a->path_ns <= a->sequential_ns;
		trial_close(&t);
	}
	is_int(good, trials, "random graphs: the best of all assignments, with and without fusion");
	is_int(ordered, trials, "... free layouts are no slower, the path no longer than the sum");
	ok(converted > trials / 4 && fused > trials / 8, "... with conversions in %d and groups in %d",
		converted, fused);
}

/* More values at a time than states are kept for: the result is an assignment, perhaps not the best. */
static void wide_graph(void)
{
	struct maker *m = make_begin();
	char texts[24][128];
	int values[24], sum = -1, x = make_input(m, IMAGE);
	struct world w;
	for (int i = 0; i < 24; i++) {
		snprintf(texts[i], sizeof(texts[i]),
			"conv:f32,f32.c,f32/f32:n1c%dh56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1", i + 1);
		values[i] = conv(m, texts[i], x);
	}
	for (int i = 0; i < 24; i++)
		sum = sum < 0 ? values[i] : make_layer(m, "Add", ADD, IMAGE, values[i], sum);
	m->plan.values[sum].is_output = true;
	world_open_on(&w, m, &device);
	double least = 23 * 10;
	for (int i = 0; i < 24; i++) {
		measure_in(w.results, texts[i], NCX, NXC, 50 + below(30));
		measure_in(w.results, texts[i], NCX, NCX, 50 + below(30));
		measure_in(w.results, texts[i], NCX, B16, 50 + below(30));
		least += 50;
	}
	for (int i = 0; i < LAYOUTS; i++)
		for (int k = 0; k < LAYOUTS; k++)
			if (i != k)
				measure(w.results, conversions[i][k], 5);
	measure(w.results, ADD, 10);
	struct analysis *a = look(&w, "layout=priced");
	ok(a->complete && !a->layouts_exact, "24 values at a time: said not to be exact");
	ok(a->total_ns >= look(&w, "")->total_ns && a->total_ns >= least && a->total_ns < 24 * 80 + 230,
		"... but an assignment, and not a bad one");
	world_close(&w);
}

int main(void)
{
	twins_in_place();
	only_channels_last();
	once_a_tensor();
	described();
	random_graphs();
	wide_graph();
	return done_testing();
}
