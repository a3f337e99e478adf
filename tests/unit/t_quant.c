/* Quantized models: tests/plan/quant.case. All layers of all these models are also in
 * tests/plan/quantized.txt; `t_quant print 2>FILE` writes it, for review after a change that was meant. */
#include "config.h"

#include "plan/plan.h"

#include "plan_cases.h"
#include "recorded.h"

static struct str lines; /* of all models */

static void record(const struct plan *p)
{
	str_addf(&lines, "%.9g flops, %.9g bytes, weights %.9g, live %.9g\n", p->flops, p->bytes,
		p->weight_bytes, p->peak_live_bytes);
	for (int i = 0; i < p->layer_count && p->layer_count <= 40; i++) {
		const struct plan_layer *l = &p->layers[i];
		const struct plan_problem *q = plan_layer_problem(p, l);
		str_addf(&lines, "\t%d %.*s: class %d, of %d, %.9g flops, %.9g bytes, %s%s%s; %s\n", i,
			(int)l->name.n, l->name.p, (int)l->class, l->absorbed_by, l->flops, l->bytes,
			q ? q->text : "-", l->proxy ? ", proxy" : "", l->quantized ? ", quantized" : "",
			l->why ? l->why : "");
	}
}

/* Thousands of products of one moved tensor: each asks whether the others want values, and none asks all of
 * them again. */
static void test_moved_to_many(void)
{
	const char *end, *expected;
	struct net *n = net_text("agraph <opset 13> (uint8[64,4] x) => () <float s = {}, uint8 z = {}> {"
				 "xf = DequantizeLinear(x, s, z) xt = Transpose(xf) }", &end, &expected);
	for (int i = 0; i < 10000; i++) {
		char w[16], bytes[32], scales[32], y[16], inputs[80];
		snprintf(w, sizeof(w), "w%d", i);
		snprintf(bytes, sizeof(bytes), "%s_q", w);
		snprintf(scales, sizeof(scales), "%s_s", w);
		snprintf(y, sizeof(y), "y%d", i);
		net_tensor(n, bytes, DTYPE_S8, "64,16");
		net_tensor(n, scales, DTYPE_F32, "16");
		snprintf(inputs, sizeof(inputs), "%s,%s,", bytes, scales);
		net_node(n, "DequantizeLinear", inputs, w, "axis=1");
		snprintf(inputs, sizeof(inputs), "xt,%s", w);
		net_node(n, "MatMul", inputs, y, NULL);
		net_output(n, y, NULL);
	}
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F32 });
	case_is(p, "problem xt", "transpose:u8,u8:64x4:perm1x0");
	case_is(p, "problem y9999", "matmul:u8,s8.c,f32/s32:ba1bb1m4n16k64:ta0tb0+scale:f32.c");
	case_is(p, "absorbs xt", "xf");
	case_is(p, "absorbs y9999", "w9999");
	record(p);
	plan_free(p);
	net_free(n);
}

int main(int argc, char **argv)
{
	cases_run("tests/plan/quant.case", record);
	test_moved_to_many();
	if (argc > 1 && strcmp(argv[1], "print") == 0)
		fputs(lines.p, stderr);
	recorded_lines(lines.p, "tests/plan/quantized.txt", 100);
	str_free(&lines);
	return done_testing();
}
