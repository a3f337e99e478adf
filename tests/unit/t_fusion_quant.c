/* What an integer layer takes in is neither fused nor counted again. */
#include "config.h"

#include "analyze/analyze.h"
#include "make_plan.h"
#include "net_text.h"
#include "tap.h"

#define SOURCE "n1c8h6w6k16r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"
#define INNER "n1c16h6w6k16r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"

static struct net *net_of(const char *text)
{
	const char *end, *expected;
	return net_text(text, &end, &expected);
}

/* to = DequantizeLinear(from), or QuantizeLinear */
static void convert(struct net *n, const char *op, const char *from, const char *to)
{
	char names[64];
	snprintf(names, sizeof(names), "%s,s,z", from);
	net_node(n, op, names, to, NULL);
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
	convert(r->n, "DequantizeLinear", byte, value);
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
		convert(r->n, "QuantizeLinear", out, new_value(r, true));
}

static struct net *random_net(uint32_t seed)
{
	struct random r = { .state = seed,
		.n = net_of("agraph <opset 13> (uint8[1,8,6,6] x, float[1,8,6,6] y) => ()"
			    "<float s = {}, uint8 z = {}, int8[8,8,3,3] w_q = {}, float[8] w_s = {}>"
			    "{ w = DequantizeLinear <axis = 0> (w_q, w_s, ) }"),
		.count = 2,
		.is_byte = { true, false },
		.name = { "x", "y" } };
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

/* x -> DQ -> Conv -> Relu -> Q -> DQ -> Conv -> Relu -> y: the first Relu is part of its convolution, the
 * second a layer. */
static void test_costs(void)
{
	struct net *n = net_of("agraph <opset 13> (uint8[1,8,6,6] x) => (y)"
			       "<float s = {}, uint8 z = {}, int8[16,8,3,3] w_q = {}, float[16] w_s = {},"
			       " int8[16,16,3,3] v_q = {}, float[16] v_s = {}> {"
			       "xf = DequantizeLinear (x, s, z)  w = DequantizeLinear <axis = 0> (w_q, w_s, )"
			       "v = DequantizeLinear <axis = 0> (v_q, v_s, )"
			       "c = Conv <pads = [1,1,1,1]> (xf, w)  r = Relu (c)"
			       "q = QuantizeLinear (r, s, z)"
			       "qf = DequantizeLinear (q, s, z)  d = Conv <pads = [1,1,1,1]> (qf, v)"
			       "y = Relu (d) }");
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F32 });
	struct fusion *f = fusion_find(p);
	struct arena a = { 0 };
	for (int i = 0; i < p->layer_count; i++)
		ok(p->layers[i].absorbed_by < 0 || f->cluster_of[i] < 0,
			"layer %d is taken in or grouped, not both", i);

	struct results *r = results_new();
	measure(r, "conv:u8,s8.c,u8/s32:" SOURCE "+scale:f32.c+relu", 100);
	measure(r, "conv:u8,s8.c,f32/s32:" INNER "+scale:f32.c", 200);
	measure(r, "eltwise:f32,f32:relu:1x16x6x6", 50);
	measure(r, "conv:u8,s8.c,f32/s32:" INNER "+scale:f32.c+relu", 210);
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
}

int main(void)
{
	test_costs();
	test_random();
	return done_testing();
}
