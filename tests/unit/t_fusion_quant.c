/* What an integer layer takes in is neither fused nor counted again. */
#include "config.h"

#include "analyze/analyze.h"
#include "make_plan.h"
#include "quant_net.h"
#include "tap.h"

#define SOURCE "n1c8h6w6k16r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"
#define INNER "n1c16h6w6k16r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"

/* x -> DQ -> Conv -> Relu -> Q -> DQ -> Conv -> Relu -> y: the first Relu is part of its convolution, the second a layer. */
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

int main(void)
{
	struct error err = ERROR_NONE;
	struct plan_options options = { .dtype = DTYPE_F32 };
	struct net *n = two_convolutions();
	struct plan *p = plan_build(net_model(n), &options, &err);
	struct fusion *f = fusion_find(p);
	struct arena a = { 0 };
	is_int(f->group_count, 1, "one group");
	const struct fusion_group *g = &f->groups[0];
	is_str(g->text, "conv:u8,s8.c,f32/s32:" INNER "+scale:f32.c+relu", "... of the convolution whose values leave");
	is_int(g->layer_count, 2, "... and the activation behind it");
	for (int i = 0; i < p->layer_count; i++)
		ok(p->layers[i].absorbed_by < 0 || f->cluster_of[i] < 0, "layer %d is taken in or grouped, not both", i);

	struct results *r = results_new();
	measure(r, "conv:u8,s8.c,u8/s32:" SOURCE "+scale:f32.c+relu", 100);
	measure(r, "conv:u8,s8.c,f32/s32:" INNER "+scale:f32.c", 200);
	measure(r, "eltwise:f32,f32:relu:1x16x6x6", 50);
	measure(r, g->text, 210);
	struct scenario s = scenario_default();
	struct analysis *apart = analyze(&a, p, f, r, NULL, &s);
	near(apart->bound_ns, 350, 1e-9, "three layers cost");
	ok(apart->complete, "nothing is missing");
	is_int(apart->coverage.free, p->layer_count - 3, "all others are free");
	s.fusion = true;
	near(analyze(&a, p, f, r, NULL, &s)->bound_ns, 310, 1e-9, "fused, two");
	s.parallel = true;
	near(analyze(&a, p, f, r, NULL, &s)->bound_ns, 310, 1e-9, "the longest path goes through what is taken in");
	results_free(r);
	arena_free(&a);
	fusion_free(f);
	plan_free(p);
	net_free(n);
	return done_testing();
}
