/* What an integer layer takes in is neither fused nor counted again. */
#include "config.h"

#include "analyze/analyze.h"
#include "fusion_help.h"
#include "make_plan.h"
#include "quant_net.h"
#include "tap.h"

#define SOURCE "n1c8h6w6k16r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"
#define INNER "n1c16h6w6k16r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"

/* x -> DQ -> Conv -> Relu -> Q -> DQ -> Conv -> Relu -> y: the first Relu is part of its convolution, the
 * second a layer. */
static struct net *two_convolutions(void)
{
	struct net *n = quant_begin(13);
	net_input(n, "x", DTYPE_U8, "1,8,6,6");
	quant_dq(n, "x", "xf");
	quant_weights(n, "w", "16,8,3,3", "16", 0);
	quant_weights(n, "v", "16,16,3,3", "16", 0);
	net_node(n, "Conv", "xf,w", "c", "pads=1,1,1,1");
	net_node(n, "Relu", "c", "r", NULL);
	quant_q(n, "r", "q");
	quant_dq(n, "q", "qf");
	net_node(n, "Conv", "qf,v", "d", "pads=1,1,1,1");
	net_node(n, "Relu", "d", "y", NULL);
	net_output(n, "y", NULL);
	return n;
}

/* ---- nets at random: all tensors of one shape, values or bytes */

#define VALUES 40

struct random {
	uint32_t state;
	struct net *n;
	int count;
	bool is_byte[VALUES];
	char name[VALUES][16];
};

static uint32_t pick(struct random *r, uint32_t below)
{
	r->state = r->state * 1664525u + 1013904223u;
	return (r->state >> 8) % below;
}

/* A value of that kind, most often the newest; there is always one. */
static const char *some(struct random *r, bool byte)
{
	int i = pick(r, 8) ? r->count - 1 : (int)pick(r, (uint32_t)r->count);
	while (r->is_byte[i] != byte)
		i = i ? i - 1 : r->count - 1;
	return r->name[i];
}

static char *new_value(struct random *r, bool byte)
{
	snprintf(r->name[r->count], sizeof(r->name[0]), "v%d", r->count);
	r->is_byte[r->count] = byte;
	return r->name[r->count++];
}

/* A value to compute with, as often as not dequantized for it. */
static const char *operand(struct random *r)
{
	if (pick(r, 2))
		return some(r, false);
	const char *byte = some(r, true), *value = new_value(r, false);
	quant_dq(r->n, byte, value);
	return value;
}

static void add_layers(struct random *r)
{
	static const char *const ops[] = { "Conv", "Conv", "Conv", "Add", "Add", "Mul", "Relu", "Relu",
		"Sigmoid", "MaxPool", "Dropout", "Softmax", "Identity", "Tanh" };
	const char *op = ops[pick(r, sizeof(ops) / sizeof(ops[0]))], *first = operand(r);
	bool conv = op == ops[0], pair = strcmp(op, "Add") == 0 || strcmp(op, "Mul") == 0;
	const char *second = conv ? "w" : pair ? operand(r) : "";
	char inputs[64];
	snprintf(inputs, sizeof(inputs), "%s%s%s", first, conv || pair ? "," : "", second);
	const char *out = new_value(r, false);
	net_node(r->n, op, inputs, out, conv ? "pads=1,1,1,1" :
		strcmp(op, "MaxPool") == 0 ? "kernel_shape=3,3 pads=1,1,1,1" : NULL);
	if (pick(r, 2))
		quant_q(r->n, out, new_value(r, true));
}

static struct net *random_net(uint32_t seed)
{
	struct random r = { .state = seed,
		.n = quant_begin(13),
		.count = 2,
		.is_byte = { true, false },
		.name = { "x", "y" } };
	net_input(r.n, "x", DTYPE_U8, "1,8,6,6");
	net_input(r.n, "y", DTYPE_F32, "1,8,6,6");
	quant_weights(r.n, "w", "8,8,3,3", "8", 0);
	while (r.count < VALUES - 4)
		add_layers(&r);
	for (int i = 0; i < 3; i++)
		net_output(
			r.n, r.name[i ? 2 + pick(&r, (uint32_t)r.count - 2) : (uint32_t)r.count - 1], NULL);
	return r.n;
}

/* What was taken in is free and part of a layer that is not, in a group only with that, and the sum counts
 * the others once. */
static bool holds(const struct plan *p, const struct fusion *f)
{
	struct results *r = results_new();
	struct arena a = { 0 };
	struct scenario s = scenario_default();
	int running = 0;
	bool good = !isnan(p->peak_live_bytes);
	for (int i = 0; i < p->layer_count; i++) {
		const struct plan_layer *l = &p->layers[i];
		const struct plan_layer *core = l->absorbed_by >= 0 ? &p->layers[l->absorbed_by] : NULL;
		running += l->problem >= 0;
		good &= !core ||
			(core->quantized && core->absorbed_by < 0 && l->class == CLASS_FREE &&
				l->problem < 0 && l->flops == 0 && !l->quantized &&
				(f->cluster_of[i] < 0 || f->cluster_of[i] == f->cluster_of[core->index]));
		good &= l->class == CLASS_FREE || l->problem >= 0;
	}
	for (int i = 0; i < plan_problem_total(p); i++)
		measure(r, p->problems[i].text, 1);
	struct analysis *sum = analyze(&a, GROUND(p, f, r, NULL), &s);
	good &= sum->complete && sum->total_ns == running;
	s.fusion = true;
	s.parallel = PARALLEL_RESOURCES;
	s.layouts = LAYOUTS_NXC;
	analyze(&a, GROUND(p, f, r, NULL), &s);
	results_free(r);
	arena_free(&a);
	return good;
}

static void test_random(void)
{
	struct plan_options options = { .dtype = DTYPE_F32 };
	int taken = 0;
	for (uint32_t seed = 1; seed <= 300; seed++) {
		struct error err = ERROR_NONE;
		struct net *n = random_net(seed);
		struct plan *p = plan_build(net_model(n), &options, &err);
		struct fusion *f = fusion_find(p);
		if (!holds(p, f))
			ok(false, "net %u", seed);
		for (int i = 0; i < p->layer_count; i++)
			taken += p->layers[i].absorbed_by >= 0;
		fusion_free(f);
		plan_free(p);
		net_free(n);
	}
	ok(taken > 1000, "300 nets at random: %d layers are part of others", taken);
}

/* Raw sums with their Cast, scale and bias, then an activation: the problem has the former, a group all of
 * it. */
static void test_dynamic(void)
{
	struct error err = ERROR_NONE;
	struct plan_options options = { .dtype = DTYPE_F32 };
	struct net *n = quant_begin(13);
	net_input(n, "x", DTYPE_F32, "1,8,6,6");
	net_tensor(n, "w", DTYPE_S8, "16,8,3,3");
	net_tensor(n, "ws", DTYPE_F32, "1,16,1,1");
	net_weight(n, "b", "1,16,1,1");
	net_node(n, "DynamicQuantizeLinear", "x", "xq,xs,xz", NULL);
	net_node(n, "Mul", "xs,ws", "scales", NULL);
	net_node(n, "ConvInteger", "xq,w,xz", "sums", "pads=1,1,1,1");
	net_node(n, "Cast", "sums", "cast", "to=1");
	net_node(n, "Mul", "scales,cast", "scaled", NULL);
	net_node(n, "Add", "b,scaled", "added", NULL);
	net_node(n, "Relu", "added", "y", NULL);
	net_output(n, "y", NULL);
	struct plan *p = plan_build(net_model(n), &options, &err);
	struct fusion *f = fusion_find(p);
	is_int(f->group_count, 1, "one group");
	is_str(f->groups[0].text, "conv:u8,s8.c,f32/s32:" SOURCE "+scale:f32.c+bias:f32.c+relu",
		"... with its activation");
	is_int(f->groups[0].layer_count, 5, "... from the sums on");
	fusion_free(f);
	plan_free(p);
	net_free(n);
}

/* A batch normalization that training left behind integer sums goes into their scale and a bias. */
static void test_normalized(void)
{
	struct error err = ERROR_NONE;
	struct plan_options options = { .dtype = DTYPE_F32 };
	struct net *n = quant_begin(13);
	net_input(n, "x", DTYPE_U8, "1,8,6,6");
	quant_weights(n, "w", "16,8,3,3", "16", 0);
	quant_dq(n, "x", "xf");
	net_node(n, "Conv", "xf,w", "c", "pads=1,1,1,1");
	for (int i = 0; i < 4; i++)
		net_weight(n, (const char *const[]){ "scale", "shift", "mean", "variance" }[i], "16");
	net_node(n, "BatchNormalization", "c,scale,shift,mean,variance", "b", NULL);
	net_node(n, "Relu", "b", "y", NULL);
	net_output(n, "y", NULL);
	struct plan *p = plan_build(net_model(n), &options, &err);
	struct fusion *f = fusion_find(p);
	is_int(f->group_count, 2, "with and without the activation");
	is_str(f->group_count ? f->groups[f->group_count - 1].text : "",
		"conv:u8,s8.c,f32/s32:" SOURCE "+scale:f32.c+bias:f32.c+relu", "a normalization behind sums");
	fusion_free(f);
	plan_free(p);
	net_free(n);
}

/* As quantizers write a residual: one that is added, one that is wanted elsewhere too, and one with more than
 * a relu. */
static void test_residual(void)
{
	static const char *const names[3][7] = { { "c0", "q0", "d0", "a0", "r0", "y0", "z0" },
		{ "c1", "q1", "d1", "a1", "r1", "y1", "z1" }, { "c2", "q2", "d2", "a2", "r2", "y2", "z2" } };
	struct error err = ERROR_NONE;
	struct plan_options options = { .dtype = DTYPE_F32 };
	struct net *n = quant_begin(13);
	net_input(n, "x", DTYPE_U8, "1,16,6,6");
	quant_weights(n, "w", "16,16,3,3", "16", 0);
	quant_dq(n, "x", "x0");
	const char *from = "x0";
	for (int i = 0; i < 3; i++) {
		const char *const *v = names[i];
		char inputs[64];
		snprintf(inputs, sizeof(inputs), "%s,w", from);
		net_node(n, "Conv", inputs, v[0], "pads=1,1,1,1");
		quant_q(n, v[0], v[1]);
		quant_dq(n, v[1], v[2]);
		snprintf(inputs, sizeof(inputs), "%s,%s", v[2], from);
		net_node(n, "Add", inputs, v[3], NULL);
		net_node(n, i == 2 ? "Tanh" : "Relu", v[3], v[4], NULL);
		quant_q(n, v[4], v[5]);
		quant_dq(n, v[5], v[6]);
		from = v[6];
	}
	net_output(n, "z2", NULL);
	net_output(n, "q1", NULL);
	struct plan *p = plan_build(net_model(n), &options, &err);
	struct fusion *f = fusion_find(p);
	is_int(f->group_count, 1, "one group");
	const struct fusion_group *g = f->group_count ? f->groups : NULL;
	is_str(g ? g->text : "", "conv:u8,s8.c,u8/s32:" INNER "+scale:f32.c+add:u8+relu",
		"... adds before it rounds");
	is_str(g ? g->pattern : "", "Conv+Add+Relu", "... by name");
	is_int(g ? g->layer_count : 0, 6, "... and has what stands between");
	fusion_free(f);
	plan_free(p);
	net_free(n);
}

/* In a plan of few bits a fused product writes the few bits that the next product reads, takes a residual of
 * few bits, and products of one value are joined with their scales. */
static void test_few(void)
{
	struct net *n = net_begin(17);
	net_input(n, "x", DTYPE_F32, "4,8");
	net_weight(n, "w", "8,8");
	net_weight(n, "b", "8");
	net_node(n, "Relu", "x", "v", NULL);
	net_node(n, "MatMul", "v,w", "p", NULL);
	net_node(n, "Add", "p,b", "q", NULL);
	net_node(n, "Relu", "q", "r", NULL);
	net_node(n, "MatMul", "r,w", "s", NULL);
	net_node(n, "Add", "s,r", "t", NULL);
	net_node(n, "MatMul", "v,w", "u", NULL);
	net_node(n, "Add", "u,t", "y", NULL);
	net_output(n, "y", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_S8, .rest = DTYPE_F16 });
	struct fusion *f = p ? fusion_find(p) : NULL;
	if (!ok(f != NULL, "a plan in s8"))
		return;
	is_group(f, 1, 1, "MatMul+Bias+Relu", 3,
		"matmul:s8,s8.c,s8/s32:ba1bb1m4n8k8:ta0tb0+scale:f32.c+bias:f32.c+relu");
	is_group(f, 4, 0, "MatMul+Add", 2, "matmul:s8,s8.c,f16/s32:ba1bb1m4n8k8:ta0tb0+scale:f32.c+add:s8");
	bool joined = false;
	for (int i = 0; i < f->group_count; i++)
		joined |= strcmp(f->groups[i].text,
			"matmul:s8,s8.c,f16/s32:ba1bb1m4n16k8:ta0tb0+scale:f32.c+bias:f32.c") == 0;
	ok(joined, "both products of v are one");
	fusion_free(f);
	plan_free(p);
	net_free(n);
}

int main(void)
{
	test_few();
	test_normalized();
	test_residual();
	test_random();
	test_dynamic();
	struct error err = ERROR_NONE;
	struct plan_options options = { .dtype = DTYPE_F32 };
	struct net *n = two_convolutions();
	struct plan *p = plan_build(net_model(n), &options, &err);
	struct fusion *f = fusion_find(p);
	struct arena a = { 0 };
	is_int(f->group_count, 1, "one group");
	const struct fusion_group *g = &f->groups[0];
	is_str(g->text, "conv:u8,s8.c,f32/s32:" INNER "+scale:f32.c+relu",
		"... of the convolution whose values leave");
	is_int(g->layer_count, 2, "... and the activation behind it");
	for (int i = 0; i < p->layer_count; i++)
		ok(p->layers[i].absorbed_by < 0 || f->cluster_of[i] < 0,
			"layer %d is taken in or grouped, not both", i);

	struct results *r = results_new();
	measure(r, "conv:u8,s8.c,u8/s32:" SOURCE "+scale:f32.c+relu", 100);
	measure(r, "conv:u8,s8.c,f32/s32:" INNER "+scale:f32.c", 200);
	measure(r, "eltwise:f32,f32:relu:1x16x6x6", 50);
	measure(r, g->text, 210);
	struct scenario s = scenario_default();
	struct analysis *apart = analyze(&a, GROUND(p, f, r, NULL), &s);
	near(apart->total_ns, 350, 1e-9, "three layers cost");
	ok(apart->complete, "nothing is missing");
	is_int(apart->coverage.free, p->layer_count - 3, "all others are free");
	s.fusion = true;
	near(analyze(&a, GROUND(p, f, r, NULL), &s)->total_ns, 310, 1e-9, "fused, two");
	s.parallel = true;
	near(analyze(&a, GROUND(p, f, r, NULL), &s)->total_ns, 310, 1e-9,
		"the longest path goes through what is taken in");
	results_free(r);
	arena_free(&a);
	fusion_free(f);
	plan_free(p);
	net_free(n);
	return done_testing();
}
