/* Quantized models: which layers become one integer layer, what that is measured as, and what it costs. All
 * layers of all small nets are also in tests/plan/quantized.txt; `t_quant print 2>FILE` writes it, for review
 * after a change that was meant. */
#include "config.h"

#include "plan/plan.h"

#include "quant_net.h"
#include "recorded.h"

#include "base/str.h"

#include <math.h>

#define SCALED (4 + 1) /* bytes of a scale and a zero point */
#define CONV "n1c8h6w6k16r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"

static const struct plan_layer *layer_of(const struct plan *p, const char *output)
{
	const struct plan_value *v = net_planned(p, output);
	return v && v->producer >= 0 ? &p->layers[v->producer] : NULL;
}

/* Returns the problem of the layer that makes the value, with "~" before a proxy, or why it has no problem.
 */
static void is_problem(const struct plan *p, const char *output, const char *want)
{
	const struct plan_layer *l = layer_of(p, output);
	const struct plan_problem *q = l ? plan_layer_problem(p, l) : NULL;
	char text[PROBLEM_TEXT_SIZE + 8];
	snprintf(text, sizeof(text), "%s%s", q && l->proxy ? "~" : "",
		q		      ? q->text
			: l && l->why ? l->why
				      : "-");
	is_str(text, want, "%s", output);
}

/* The layers that make these values are free and part of the one that makes `core`; "" = of none. */
static void are_part(const struct plan *p, const char *outputs, const char *core)
{
	char copy[256];
	const struct plan_layer *c = layer_of(p, core);
	snprintf(copy, sizeof(copy), "%s", outputs);
	for (char *o = strtok(copy, " "); o; o = strtok(NULL, " ")) {
		const struct plan_layer *l = layer_of(p, o);
		if (!l) {
			ok(false, "%s is there", o);
			continue;
		}
		is_int(l->absorbed_by, c ? c->index : -1, "%s is part of %s", o, *core ? core : "nothing");
		if (c)
			ok(l->class == CLASS_FREE && l->flops == 0 && l->bytes == 0 && l->problem < 0,
				"... and free");
	}
}

static struct str lines; /* of all nets */

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

static void finish(struct net *n, struct plan *p)
{
	record(p);
	plan_free(p);
	net_free(n);
}

/* x (u8) -> Conv -> Relu -> y (u8), weights by channel, a bias of s32. */
static struct net *conv_net(const char *dims)
{
	struct net *n = quant_begin(13);
	net_input(n, "x", DTYPE_U8, dims);
	quant_dq(n, "x", "xf");
	quant_weights(n, "w", "16,8,3,3", "16", 0);
	quant_bias(n, "b", "16");
	net_node(n, "Conv", "xf,w,b", "c", "pads=1,1,1,1");
	net_node(n, "Relu", "c", "r", NULL);
	quant_q(n, "r", "y");
	net_output(n, "y", NULL);
	return n;
}

static void test_conv(void)
{
	struct net *n = conv_net("1,8,6,6");
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F32 });
	is_problem(p, "c", "conv:u8,s8.c,u8/s32:" CONV "+scale:f32.c+bias:f32.c+relu");
	are_part(p, "xf w b r y", "c");
	is_problem(p, "y", "part of the quantized Conv_3");
	const struct plan_layer *c = layer_of(p, "c");
	double out = 16 * 36;
	ok(c->class == CLASS_COMPUTE && c->quantized, "the core computes");
	near(c->flops, out * (2 * 8 * 9 + 3), 0, "bias, scale and activation count with the sums");
	near(c->bytes, 8 * 36 + 16 * 8 * 9 + 4 * 16 + out + 4 * 16 + 2 * SCALED, 0,
		"bytes are those of bytes, and their scales");
	near(p->weight_bytes, 16 * 8 * 9 + 4 * 16 + 4 + 1, 0, "weights are stored as bytes");
	near(p->peak_live_bytes, 8 * 36 + out, 0, "values inside the layer lie nowhere");
	is_int(p->problem_count, 1, "one distinct problem");
	is_int(c->pred_count, 1, "edges stay");
	finish(n, p);

	n = conv_net("batch,8,h,w");
	p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F32 });
	are_part(p, "xf w b r y", "c");
	is_problem(p, "c", "h is not bound: give --dim h=VALUE");
	finish(n, p);
}

/* Nothing quantizes the result: it leaves as values, and what is behind stays a layer. */
static void test_open_end(enum dtype dtype, const char *conv, const char *relu)
{
	struct net *n = quant_begin(13);
	net_input(n, "x", DTYPE_U8, "1,8,6,6");
	quant_dq(n, "x", "xf");
	quant_weights(n, "w", "16,8,3,3", "16", 0);
	net_weight(n, "b", "16");
	net_node(n, "Conv", "xf,w,b", "c", "pads=1,1,1,1");
	net_node(n, "Relu", "c", "y", NULL);
	net_output(n, "y", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = dtype });
	is_problem(p, "c", conv);
	is_problem(p, "y", relu);
	are_part(p, "xf w", "c");
	are_part(p, "y", "");
	finish(n, p);
}

/* A value that others want, too, is still dequantized; so is one that is an output or that a subgraph
 * reads. */
static void test_shared(void)
{
	struct net *n = quant_begin(13);
	net_input(n, "x", DTYPE_U8, "1,8,6,6");
	quant_dq(n, "x", "xf");
	quant_weights(n, "w", "16,8,3,3", "16", 0);
	net_node(n, "Conv", "xf,w", "c1", "pads=1,1,1,1");
	net_node(n, "Conv", "xf,w", "c2", "pads=1,1,1,1");
	quant_q(n, "c1", "y1");
	quant_q(n, "c2", "y2");
	quant_dq(n, "y1", "z1");
	net_node(n, "ReduceMean", "z1", "m", NULL);
	net_node(n, "Add", "z1,z1", "a", NULL);
	quant_q(n, "a", "y3");
	quant_dq(n, "y2", "z2f");
	net_output(n, "z2f", NULL);
	net_node(n, "Sigmoid", "z2f", "g", NULL);
	quant_q(n, "g", "y4");
	net_output(n, "y3", NULL);
	net_output(n, "y4", NULL);
	net_output(n, "m", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F32 });
	are_part(p, "xf w", "c1");
	are_part(p, "y2", "c2");
	are_part(p, "y3", "a");
	are_part(p, "y4", "g");
	are_part(p, "z1 z2f", "");
	is_problem(p, "c2", "conv:u8,s8.c,u8/s32:" CONV "+scale:f32.c");
	is_problem(p, "z1", "dequantize:u8,f32:tensor:1x16x6x6");
	near(layer_of(p, "a")->bytes, 3 * 576 + 2 * SCALED, 0, "both operands and the result are bytes");
	finish(n, p);
}

static void test_residual(void)
{
	struct net *n = quant_begin(13);
	net_input(n, "x", DTYPE_U8, "1,8,6,6");
	net_input(n, "r", DTYPE_S8, "1,16,6,6");
	quant_dq(n, "x", "xf");
	quant_weights(n, "w", "16,8,3,3", "16", 0);
	quant_bias(n, "b", "16");
	net_node(n, "Conv", "xf,w,b", "c", "pads=1,1,1,1");
	net_node(n, "DequantizeLinear", "r,s,zw", "rf", NULL);
	net_node(n, "Add", "rf,c", "a", NULL);
	net_node(n, "Relu", "a", "o", NULL);
	quant_q(n, "o", "y");
	net_output(n, "y", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F32 });
	is_problem(p, "c", "conv:u8,s8.c,u8/s32:" CONV "+scale:f32.c+bias:f32.c+add:s8+relu");
	are_part(p, "xf w b rf a o y", "c");
	near(layer_of(p, "c")->bytes, 8 * 36 + 16 * 72 + 64 + 2 * 576 + 4 * 16 + 3 * SCALED, 0,
		"the residual's bytes are read");
	finish(n, p);
}

/* Layers without sums: the scales of both sides decide. */
static void test_others(void)
{
	struct net *n = quant_begin(13);
	net_input(n, "x", DTYPE_U8, "1,8,6,6");
	quant_dq(n, "x", "a1");
	net_node(n, "MaxPool", "a1", "pool", "kernel_shape=2,2 strides=2,2");
	quant_q(n, "pool", "q1");
	quant_dq(n, "x", "a2");
	net_node(n, "MaxPool", "a2", "other", "kernel_shape=2,2 strides=2,2");
	net_node(n, "QuantizeLinear", "other,s2,z2", "q2", NULL);
	quant_dq(n, "x", "a3");
	net_node(n, "Concat", "a3,a3", "joined", "axis=1");
	quant_q(n, "joined", "q3");
	quant_dq(n, "x", "a4");
	net_node(n, "GlobalAveragePool", "a4", "mean", NULL);
	net_node(n, "QuantizeLinear", "mean,s2,z2", "q4", NULL);
	quant_dq(n, "q4", "a5");
	net_node(n, "Flatten", "a5", "flat", NULL);
	quant_q(n, "flat", "q5");
	quant_dq(n, "x", "a6");
	net_node(n, "Sigmoid", "a6", "half", NULL);
	net_output(n, "half", NULL);
	for (int i = 1; i <= 5; i++)
		net_output(n, i == 1 ? "q1" : i == 2 ? "q2" : i == 3 ? "q3" : i == 4 ? "q4" : "q5", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F32 });
	is_problem(p, "pool", "pool:u8,u8:max:n1c8h6w6r2s2:ph0pw0qh0qw0:sh2sw2:dh1dw1");
	is_problem(p, "other", "pool:f32,f32:max:n1c8h6w6r2s2:ph0pw0qh0qw0:sh2sw2:dh1dw1");
	is_problem(p, "joined", "concat:u8,u8:1x8x6x6,1x8x6x6:ax1");
	is_problem(p, "mean", "~pool:u8,u8:avg_exclude:n1c8h6w6r6s6:ph0pw0qh0qw0:sh1sw1:dh1dw1");
	is_problem(p, "half", "eltwise:f32,f32:sigmoid:1x8x6x6");
	are_part(p, "a1 q1", "pool");
	are_part(p, "a2 q2 a6", "");
	are_part(p, "a3 q3", "joined");
	are_part(p, "a4 q4", "mean");
	are_part(p, "a5 q5", "flat");
	ok(layer_of(p, "flat")->class == CLASS_FREE, "a reshape of bytes is free");
	finish(n, p);
}

static void test_matmul(void)
{
	struct net *n = quant_begin(13);
	net_input(n, "x", DTYPE_U8, "4,32");
	quant_dq(n, "x", "xf");
	quant_weights(n, "w", "32,16", "16", 1);
	quant_weights(n, "v", "32,16", "32", 0);
	quant_weights(n, "g", "16,32", "16", 0);
	quant_bias(n, "b", "16");
	net_node(n, "MatMul", "xf,w", "by_column", NULL);
	quant_q(n, "by_column", "q1");
	net_node(n, "MatMul", "xf,v", "by_row", NULL);
	quant_q(n, "by_row", "q2");
	net_node(n, "Gemm", "xf,g,b", "gemm", "transB=1");
	quant_q(n, "gemm", "q3");
	quant_dq(n, "q1", "f1");
	quant_dq(n, "q3", "f3");
	net_node(n, "Transpose", "f3", "t", "perm=1,0");
	net_node(n, "MatMul", "f1,t", "scores", NULL);
	for (int i = 0; i < 3; i++)
		net_output(n, i == 0 ? "scores" : i == 1 ? "q2" : "q3", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F32 });
	is_problem(p, "by_column", "matmul:u8,s8.c,u8/s32:ba1bb1m4n16k32:ta0tb0+scale:f32.c");
	is_problem(p, "by_row", "matmul:f32,f32.c,f32/f32:ba1bb1m4n16k32:ta0tb0");
	is_problem(p, "gemm", "matmul:u8,s8.c,u8/s32:ba1bb1m4n16k32:ta0tb1+scale:f32.c+bias:f32.c");
	is_problem(p, "scores", "matmul:u8,u8,f32/s32:ba1bb1m4n4k16:ta0tb0+scale:f32.c");
	is_problem(p, "v", "folded before run time: the layers that read these weights take f32");
	is_problem(p, "t", "transpose:u8,u8:4x16:perm1x0");
	are_part(p, "f1", "scores");
	are_part(p, "f3", "t");
	are_part(p, "xf v q2", "");
	are_part(p, "w q1", "by_column");
	finish(n, p);
}

/* What onnxruntime.quantization.quantize_dynamic writes. */
static void test_dynamic(void)
{
	struct net *n = quant_begin(13);
	net_input(n, "x", DTYPE_F32, "1,4,32");
	net_tensor(n, "w", DTYPE_S8, "32,16");
	net_tensor(n, "ws", DTYPE_F32, "16");
	net_weight(n, "b", "16");
	net_node(n, "DynamicQuantizeLinear", "x", "xq,xs,xz", NULL);
	net_node(n, "Mul", "xs,ws", "scales", NULL);
	net_node(n, "MatMulInteger", "xq,w,xz,zw", "sums", NULL);
	net_node(n, "Cast", "sums", "cast", "to=1");
	net_node(n, "Mul", "cast,scales", "scaled", NULL);
	net_node(n, "Add", "b,scaled", "y", NULL);
	net_node(n, "MatMulInteger", "xq,w,xz,zw", "raw", NULL);
	net_output(n, "y", NULL);
	net_output(n, "raw", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F32 });
	is_problem(p, "xq", "quantize:f32,u8:dynamic:1x4x32");
	is_problem(p, "sums", "matmul:u8,s8.c,f32/s32:ba1bb1m4n16k32:ta0tb0+scale:f32.c+bias:f32.c");
	is_problem(p, "raw", "~matmul:u8,s8.c,s32/s32:ba1bb1m4n16k32:ta0tb0");
	are_part(p, "scales cast scaled y", "sums");
	are_part(p, "raw xq", "");
	near(layer_of(p, "sums")->flops, 64 * (2 * 32 + 2), 0, "scale and bias count with the sums");
	finish(n, p);
}

/* Movers in a row between two conversions of one scale, as between the heads of an attention; and a bias that
 * older quantizers add to the sums. */
static void test_rows(void)
{
	struct net *n = quant_begin(13);
	net_input(n, "x", DTYPE_U8, "1,4,8,16");
	net_ints(n, "shape", "0,0,-1");
	quant_dq(n, "x", "xf");
	net_node(n, "Transpose", "xf", "t", "perm=0,2,1,3");
	net_node(n, "Reshape", "t,shape", "r", NULL);
	quant_q(n, "r", "y");
	quant_dq(n, "x", "xg");
	net_node(n, "Transpose", "xg", "t2", "perm=0,2,1,3");
	net_node(n, "Identity", "t2", "r2", NULL);
	net_node(n, "QuantizeLinear", "r2,s2,z2", "y2", NULL);
	net_input(n, "bias", DTYPE_S32, "1,16,1,1");
	net_input(n, "u", DTYPE_U8, "1,8,6,6");
	net_tensor(n, "w", DTYPE_S8, "16,8,3,3");
	net_node(n, "ConvInteger", "u,w", "sums", "pads=1,1,1,1");
	net_node(n, "Add", "sums,bias", "more", NULL);
	net_node(n, "Cast", "more", "cast", "to=1");
	net_node(n, "Mul", "cast,s", "scaled", NULL);
	for (int i = 0; i < 3; i++)
		net_output(n, i == 0 ? "y" : i == 1 ? "y2" : "scaled", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F32 });
	is_problem(p, "t", "transpose:u8,u8:4x8x16:perm1x0x2");
	near(layer_of(p, "t")->bytes, 2 * 512 + 2 * SCALED, 0, "bytes are moved");
	are_part(p, "xf y", "t");
	are_part(p, "r xg t2 y2", "");
	is_problem(p, "t2", "transpose:f32,f32:4x8x16:perm1x0x2");
	is_problem(p, "sums", "conv:u8,s8.c,f32/s32:" CONV "+scale:f32.c+bias:f32.c");
	are_part(p, "more cast scaled", "sums");
	finish(n, p);
}

/* Linear layers whose weights are turned behind their conversion, two of them of the same weights; and
 * weights with a scale along what is summed. */
static void test_turned(void)
{
	struct net *n = quant_begin(13);
	net_input(n, "x", DTYPE_U8, "4,32");
	quant_dq(n, "x", "xf");
	quant_weights(n, "w", "16,32", "16", 0);
	net_node(n, "Transpose", "w", "wt", "perm=1,0");
	net_node(n, "MatMul", "xf,wt", "c", NULL);
	quant_q(n, "c", "y");
	net_node(n, "MatMul", "xf,wt", "d", NULL);
	quant_weights(n, "v", "16,32", "32", 1);
	net_node(n, "Transpose", "v", "vt", NULL);
	net_node(n, "MatMul", "xf,vt", "e", NULL);
	net_output(n, "y", NULL);
	net_output(n, "d", NULL);
	net_output(n, "e", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F32 });
	is_problem(p, "c", "matmul:u8,s8.c,u8/s32:ba1bb1m4n16k32:ta0tb0+scale:f32.c");
	is_problem(p, "d", "matmul:u8,s8.c,f32/s32:ba1bb1m4n16k32:ta0tb0+scale:f32.c");
	is_problem(p, "e", "matmul:f32,f32.c,f32/f32:ba1bb1m4n16k32:ta0tb0");
	are_part(p, "w wt y", "c");
	are_part(p, "v vt xf", "");
	near(layer_of(p, "c")->bytes, 4 * 32 + 32 * 16 + 4 * 16 + 4 * 16 + 2 * SCALED, 0,
		"turned weights are bytes, too");
	near(p->weight_bytes, 32 * 16 + 4 * 32 * 16 + 4 + 1, 0, "... and stored as such, once");
	finish(n, p);
}

/* Weights alone stay as they are in the file. */
static void test_weights_only(void)
{
	struct net *n = quant_begin(21);
	net_input(n, "x", DTYPE_F32, "4,64");
	net_tensor(n, "wq", DTYPE_U4, "64,16");
	net_tensor(n, "ws", DTYPE_F32, "2,16");
	net_tensor(n, "wz", DTYPE_U4, "2,16");
	net_node(n, "DequantizeLinear", "wq,ws,wz", "w", "axis=0 block_size=32");
	quant_weights(n, "v", "64,16", "16", 1);
	net_node(n, "MatMul", "x,w", "y", NULL);
	net_node(n, "MatMul", "x,v", "z8", NULL);
	net_tensor(n, "as", DTYPE_F32, "64,1");
	net_node(n, "DequantizeLinear", "wq,as", "across", "axis=1 block_size=16");
	net_node(n, "MatMul", "x,across", "z4", NULL);
	net_output(n, "y", NULL);
	net_output(n, "z8", NULL);
	net_output(n, "z4", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_BF16 });
	/* blocks of columns */
	is_problem(p, "z4", "~matmul:bf16,u4.c,bf16/f32:ba1bb1m4n16k64:ta0tb0:b16z0");
	is_problem(p, "y", "matmul:bf16,u4.c,bf16/f32:ba1bb1m4n16k64:ta0tb0:b32z1");
	is_problem(p, "z8", "matmul:bf16,s8.c,bf16/f32:ba1bb1m4n16k64:ta0tb0:b64z0");
	are_part(p, "w", "y");
	are_part(p, "v", "z8");
	near(layer_of(p, "y")->bytes, 2 * 4 * 64 + 64 * 16 / 2 + 2 * 2 * 16 + 2 * 16 / 2 + 2 * 4 * 16, 0,
		"two numbers a byte, scales and zero points");
	finish(n, p);
}

/* What stands between a conversion and a product of weights is done before run time: they stay as the file
 * has them. */
static void test_moved_weights(void)
{
	struct net *n = quant_begin(21);
	net_input(n, "x", DTYPE_F32, "4,64");
	net_input(n, "u", DTYPE_U8, "4,64");
	net_tensor(n, "wq", DTYPE_S4, "16,64");
	net_tensor(n, "ws", DTYPE_F32, "16,2");
	net_node(n, "DequantizeLinear", "wq,ws,", "w", "axis=1 block_size=32");
	net_node(n, "Transpose", "w", "wt", "perm=1,0");
	net_node(n, "MatMul", "x,wt", "y", NULL);
	net_node(n, "Gemm", "x,w", "y2", "transB=1");
	net_node(n, "Neg", "wt", "other", NULL);
	net_node(n, "MatMul", "x,other", "y3", NULL);

	net_ints(n, "dims", "2,8,64");
	net_ints(n, "flat", "16,64");
	quant_weights(n, "v", "16,64", "16", 0);
	quant_dq(n, "u", "uf");
	net_node(n, "Reshape", "v,dims", "v3", NULL);
	net_node(n, "Reshape", "v3,flat", "v2", NULL);
	net_node(n, "Transpose", "v2", "vt", NULL);
	net_node(n, "MatMul", "uf,vt", "split", NULL);
	quant_weights(n, "g", "16,64", "16", 0);
	net_node(n, "Identity", "g", "same", NULL);
	net_node(n, "Transpose", "same", "gt", "perm=-1,-2");
	net_node(n, "MatMul", "uf,gt", "kept", NULL);
	quant_q(n, "kept", "kq");
	const char *const outputs[] = { "y", "y2", "y3", "split", "kq" };
	for (int i = 0; i < 5; i++)
		net_output(n, outputs[i], NULL);
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F32 });
	is_problem(p, "y", "matmul:f32,s4.c,f32/f32:ba1bb1m4n16k64:ta0tb0:b32z0");
	is_problem(p, "y2", "matmul:f32,s4.c,f32/f32:ba1bb1m4n16k64:ta0tb1:b32z0");
	are_part(p, "wt w", "");
	is_problem(p, "w", "folded before run time: the layers that read these weights take f32");
	near(layer_of(p, "y")->bytes, 4 * (4 * 64 + 4 * 16) + 64 * 16 / 2 + 4 * 32, 0,
		"two numbers a byte, turned or not");
	is_problem(p, "split", "matmul:f32,f32.c,f32/f32:ba1bb1m4n16k64:ta0tb0");
	is_problem(p, "kept", "matmul:u8,s8.c,u8/s32:ba1bb1m4n16k64:ta0tb0+scale:f32.c");
	are_part(p, "g same gt kq", "kept");
	are_part(p, "uf", "");
	finish(n, p);
}

/* Weights of a rank that is not known have no axis, whatever the file says. */
static void test_rank_unknown(void)
{
	static const char *const axes[] = { "axis=-9223372036854775808", "axis=-1",
		"axis=9223372036854775807" };
	for (int i = 0; i < 3; i++) {
		struct net *n = quant_begin(13);
		net_input(n, "x", DTYPE_U8, "4,64");
		net_input(n, "w", DTYPE_S8, NULL);
		net_input(n, "ws", DTYPE_F32, NULL);
		quant_dq(n, "x", "xf");
		net_node(n, "DequantizeLinear", "w,ws,zw", "wf", axes[i]);
		net_node(n, "MatMul", "xf,wf", "y", NULL);
		net_output(n, "y", NULL);
		struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F32 });
		are_part(p, "xf wf", "");
		finish(n, p);
	}
}

/* Thousands of products of one moved tensor: each asks whether the others want values, and none asks all of
 * them again. */
static void test_moved_to_many(void)
{
	struct net *n = quant_begin(13);
	char weights[16], y[16], inputs[64];
	net_input(n, "x", DTYPE_U8, "64,4");
	quant_dq(n, "x", "xf");
	net_node(n, "Transpose", "xf", "xt", NULL);
	for (int i = 0; i < 10000; i++) {
		snprintf(weights, sizeof(weights), "w%d", i);
		snprintf(y, sizeof(y), "y%d", i);
		snprintf(inputs, sizeof(inputs), "xt,%s", weights);
		quant_weights(n, weights, "64,16", "16", 1);
		net_node(n, "MatMul", inputs, y, NULL);
		net_output(n, y, NULL);
	}
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F32 });
	is_problem(p, "xt", "transpose:u8,u8:64x4:perm1x0");
	is_problem(p, "y9999", "matmul:u8,s8.c,f32/s32:ba1bb1m4n16k64:ta0tb0+scale:f32.c");
	are_part(p, "xf", "xt");
	are_part(p, "w9999", "y9999");
	finish(n, p);
}

/* Between a conversion and products stands what only moves numbers: it moves bytes, unless somebody wants
 * values. */
static void test_moved_between(void)
{
	struct net *n = quant_begin(13);
	net_input(n, "x", DTYPE_U8, "1,8,6,6");
	quant_weights(n, "w", "16,8,3,3", "16", 0);
	quant_weights(n, "v", "16,8,1,1", "16", 0);
	quant_dq(n, "x", "x1");
	net_node(n, "MaxPool", "x1", "pool", "kernel_shape=2,2");
	net_node(n, "Conv", "pool,w", "c1", "pads=1,1,1,1");
	net_node(n, "Conv", "pool,v", "c2", NULL);
	quant_q(n, "c1", "y1");
	quant_dq(n, "x", "x2");
	net_node(n, "MaxPool", "x2", "shown", "kernel_shape=2,2");
	net_node(n, "Conv", "shown,w", "c3", "pads=1,1,1,1");
	quant_dq(n, "x", "x3");
	net_node(n, "MaxPool", "x3", "wanted", "kernel_shape=2,2");
	net_node(n, "Conv", "wanted,w", "c4", "pads=1,1,1,1");
	net_node(n, "Sigmoid", "wanted", "f", NULL);
	quant_dq(n, "x", "x4");
	net_node(n, "Resize", "x4,,two", "between", "mode=linear");
	net_node(n, "Conv", "between,w", "c5", "pads=1,1,1,1");
	const char *const outputs[] = { "y1", "c2", "shown", "c3", "c4", "f", "c5" };
	for (int i = 0; i < 7; i++)
		net_output(n, outputs[i], NULL);
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F32 });
	is_problem(p, "pool", "pool:u8,u8:max:n1c8h6w6r2s2:ph0pw0qh0qw0:sh1sw1:dh1dw1");
	is_problem(p, "c1", "conv:u8,s8.c,u8/s32:n1c8h5w5k16r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+scale:f32.c");
	is_problem(p, "c2", "conv:u8,s8.c,f32/s32:n1c8h5w5k16r1s1:ph0pw0qh0qw0:sh1sw1:dh1dw1:g1+scale:f32.c");
	are_part(p, "x1", "pool");
	near(layer_of(p, "pool")->bytes, 8 * 36 + 8 * 25, 0, "bytes are compared");
	near(layer_of(p, "c2")->bytes, 8 * 25 + 16 * 8 + 4 * 16 * 25 + 4 * 16 + SCALED, 0,
		"... and read by the product");
	are_part(p, "x2 x3 x4", "");
	const char *const floats = "conv:f32,f32.c,f32/f32:n1c8h5w5k16r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1";
	is_problem(p, "c3", floats);
	is_problem(p, "c4", floats);
	finish(n, p);
}

/* A bias that is a layer of its own, and wide numbers that are only moved. */
static void test_bias_behind(void)
{
	struct net *n = quant_begin(21);
	net_input(n, "x", DTYPE_U8, "1,4,32");
	net_input(n, "wide", DTYPE_U16, "4,32");
	net_tensor(n, "zh", DTYPE_U16, "");
	net_weight(n, "b", "16");
	net_weight(n, "rows", "4,1");
	quant_weights(n, "w", "32,16", "16", 1);
	quant_dq(n, "x", "xf");
	net_node(n, "MatMul", "xf,w", "m", NULL);
	net_node(n, "Add", "b,m", "a", NULL);
	net_node(n, "Relu", "a", "r", NULL);
	quant_q(n, "r", "y1");
	net_node(n, "MatMul", "xf,w", "m2", NULL);
	net_node(n, "Add", "m2,rows", "a2", NULL);
	quant_q(n, "a2", "y2");
	net_node(n, "DequantizeLinear", "wide,s,zh", "wf", NULL);
	net_node(n, "Transpose", "wf", "t", "perm=1,0");
	net_node(n, "QuantizeLinear", "t,s,zh", "y3", NULL);
	net_node(n, "DequantizeLinear", "wide,s,zh", "wg", NULL);
	net_node(n, "Sigmoid", "wg", "g", NULL);
	net_node(n, "QuantizeLinear", "g,s,zh", "y4", NULL);
	const char *const outputs[] = { "y1", "y2", "y3", "y4" };
	for (int i = 0; i < 4; i++)
		net_output(n, outputs[i], NULL);
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F32 });
	is_problem(p, "m", "matmul:u8,s8.c,u8/s32:ba1bb1m4n16k32:ta0tb0+scale:f32.c+bias:f32.c+relu");
	are_part(p, "w a r y1", "m");
	near(layer_of(p, "m")->flops, 64 * (2 * 32 + 3), 0, "scale, bias and activation count");
	near(layer_of(p, "m")->bytes, 4 * 32 + 32 * 16 + 64 + 4 * 16 + 4 * 16 + 2 * SCALED, 0,
		"the bias is read");
	is_problem(p, "m2", "matmul:u8,s8.c,f32/s32:ba1bb1m4n16k32:ta0tb0+scale:f32.c");
	are_part(p, "a2 y2 wg y4", "");
	are_part(p, "wf y3", "t");
	near(layer_of(p, "t")->bytes, 2 * 2 * 128 + 2 * (4 + 2), 0, "two bytes each are moved");
	is_problem(p, "g", "eltwise:f32,f32:sigmoid:4x32");
	finish(n, p);
}

/* A scale or zero point that a run decides stands where the problem has a constant. */
static void test_run_time_scales(void)
{
	struct net *n = quant_begin(13);
	net_input(n, "x", DTYPE_U8, "4,32");
	net_input(n, "rs", DTYPE_F32, "");
	net_input(n, "rz", DTYPE_U8, "");
	quant_weights(n, "w", "32,16", "16", 1);
	net_node(n, "DequantizeLinear", "x,rs,z", "xf", NULL);
	net_node(n, "MatMul", "xf,w", "scale", NULL);
	quant_q(n, "scale", "q1");
	net_node(n, "DequantizeLinear", "x,s,rz", "xg", NULL);
	net_node(n, "MatMul", "xg,w", "zero", NULL);
	quant_q(n, "zero", "q2");
	quant_dq(n, "x", "xh");
	net_node(n, "MatMul", "xh,w", "result", NULL);
	net_node(n, "QuantizeLinear", "result,rs,z", "q3", NULL);
	net_tensor(n, "wq", DTYPE_S8, "32,16");
	net_weight(n, "b", "16");
	net_node(n, "MatMulInteger", "x,wq,rz", "sums", NULL);
	net_node(n, "Cast", "sums", "cast", "to=1");
	net_node(n, "Mul", "cast,rs", "scaled", NULL);
	net_node(n, "MatMulInteger", "x,wq,rz", "biased", NULL);
	net_node(n, "Cast", "biased", "cast2", "to=1");
	net_node(n, "Mul", "cast2,rs", "scaled2", NULL);
	net_node(n, "Add", "scaled2,b", "y", NULL);
	const char *const outputs[] = { "q1", "q2", "q3", "scaled", "y" };
	for (int i = 0; i < 5; i++)
		net_output(n, outputs[i], NULL);
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F32 });
	const char *const one = "~matmul:u8,s8.c,u8/s32:ba1bb1m4n16k32:ta0tb0+scale:f32.c";
	is_problem(p, "scale", one);
	is_problem(p, "zero", one);
	is_problem(p, "result", one);
	is_problem(p, "sums", "~matmul:u8,s8.c,f32/s32:ba1bb1m4n16k32:ta0tb0+scale:f32.c");
	is_problem(p, "biased", "matmul:u8,s8.c,f32/s32:ba1bb1m4n16k32:ta0tb0+scale:f32.c+bias:f32.c");
	finish(n, p);
}

/* As exporters for GPUs write it: weights in values that are quantized in the file, a bias in values, an
 * upward convolution, and a choice between two tensors. */
static void test_other_exporters(void)
{
	struct net *n = quant_begin(17);
	net_input(n, "x", DTYPE_F32, "1,8,6,6");
	quant_q(n, "x", "xq");
	quant_dq(n, "xq", "xf");
	net_weight(n, "w", "8,4,2,2");
	net_weight(n, "b", "4");
	net_tensor(n, "ws", DTYPE_F32, "4");
	net_tensor(n, "wz", DTYPE_S8, "4");
	net_node(n, "QuantizeLinear", "w,ws,wz", "wq", "axis=1");
	net_node(n, "DequantizeLinear", "wq,ws,wz", "wf", "axis=1");
	net_node(n, "ConvTranspose", "xf,wf,b", "up", "strides=2,2");
	quant_q(n, "up", "q1");
	quant_dq(n, "q1", "f1");
	net_tensor(n, "other", DTYPE_U8, "");
	quant_dq(n, "other", "f2");
	net_input(n, "mask", DTYPE_BOOL, "12,12");
	net_node(n, "Where", "mask,f1,f2", "chosen", NULL);
	quant_q(n, "chosen", "y");
	net_output(n, "y", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F32 });
	is_problem(p, "xq", "quantize:f32,u8:tensor:1x8x6x6");
	is_problem(p, "up",
		"deconv:u8,s8.c,u8/"
		"s32:n1c8h6w6k4r2s2:ph0pw0qh0qw0:sh2sw2:dh1dw1:uh0uw0:g1+scale:f32.c+bias:f32.c");
	is_problem(p, "chosen", "~select:bool,u8,u8.c,u8:12x12:1x4x12x12:1");
	are_part(p, "xf wf q1", "up");
	are_part(p, "f1 f2 y", "chosen");
	ok(layer_of(p, "wq")->class == CLASS_FREE, "weights are quantized before run time");
	finish(n, p);
}

/* What looks like one scale, or like a known function, and is not. */
static void test_almost(void)
{
	struct net *n = quant_begin(13);
	net_input(n, "x", DTYPE_U8, "1,8,6,6");
	net_input(n, "least", DTYPE_F32, "");
	quant_dq(n, "x", "xf");
	net_node(n, "MaxPool", "xf", "most", "kernel_shape=2,2");
	net_node(n, "QuantizeLinear", "most,s,zw", "most_s8", NULL);
	net_node(n, "Concat", "xf,xf", "both", "axis=1");
	net_node(n, "QuantizeLinear", "both,s,zw", "both_s8", NULL);
	quant_weights(n, "w", "16,8,3,3", "16", 0);
	net_node(n, "Conv", "xf,w", "c", "pads=1,1,1,1");
	net_node(n, "Clip", "c,least", "clipped", NULL);
	quant_q(n, "clipped", "y");
	net_output(n, "most_s8", NULL);
	net_output(n, "both_s8", NULL);
	net_output(n, "y", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F32 });
	is_problem(p, "most", "pool:f32,f32:max:n1c8h6w6r2s2:ph0pw0qh0qw0:sh1sw1:dh1dw1");
	is_problem(p, "most_s8", "quantize:f32,s8:tensor:1x8x5x5");
	is_problem(p, "both", "~concat:s8,s8:1x8x6x6,1x8x6x6:ax1");
	is_problem(p, "c", "~conv:u8,s8.c,u8/s32:" CONV "+scale:f32.c+clip,-3.4028235e38,3.4028235e38");
	are_part(p, "clipped y", "c");
	finish(n, p);
}

/* Scales that fit no kernel for whole numbers, and sums that others want, too. */
static void test_misfits(void)
{
	struct net *n = quant_begin(13);
	net_input(n, "x", DTYPE_U8, "4,32");
	net_input(n, "wide", DTYPE_U16, "4,32");
	quant_dq(n, "x", "xf");
	quant_dq(n, "wide", "widef");
	quant_weights(n, "w", "32,16", "16", 1);
	net_tensor(n, "cq", DTYPE_S32, "4,16");
	net_node(n, "DequantizeLinear", "cq,s,", "cf", NULL);
	net_node(n, "Gemm", "xf,w,cf", "matrix_added", NULL);
	net_node(n, "MatMul", "widef,w", "of_16_bits", NULL);
	net_node(n, "MatMul", "xf,w", "open", NULL);
	quant_q(n, "open", "q");
	net_output(n, "open", NULL);
	net_output(n, "q", NULL);
	net_output(n, "of_16_bits", NULL);
	net_output(n, "matrix_added", NULL);
	net_tensor(n, "wi", DTYPE_S8, "32,16");
	net_node(n, "MatMulInteger", "x,wi", "sums", NULL);
	net_node(n, "Cast", "sums", "cast", "to=1");
	net_input(n, "rows", DTYPE_F32, "4,1");
	net_node(n, "Mul", "cast,rows", "by_row", NULL);
	net_output(n, "by_row", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F32 });
	is_problem(p, "matrix_added", "matmul:f32,s8.c,f32/f32:ba1bb1m4n16k32:ta0tb0:b32z0+add:f32.c");
	is_problem(p, "of_16_bits", "matmul:f32,s8.c,f32/f32:ba1bb1m4n16k32:ta0tb0:b32z0");
	is_problem(p, "open", "matmul:u8,s8.c,f32/s32:ba1bb1m4n16k32:ta0tb0+scale:f32.c");
	is_problem(p, "q", "quantize:f32,u8:tensor:4x16");
	is_problem(p, "sums", "matmul:u8,s8.c,s32/s32:ba1bb1m4n16k32:ta0tb0");
	are_part(p, "w", "matrix_added");
	are_part(p, "xf q cast by_row", "");
	finish(n, p);
}

static void test_small_floats(void)
{
	struct net *n = quant_begin(19);
	net_input(n, "x", DTYPE_F8E4M3, "4,32");
	net_tensor(n, "zf", DTYPE_F8E4M3, "");
	net_tensor(n, "wq", DTYPE_F8E4M3, "32,16");
	net_node(n, "DequantizeLinear", "x,s,zf", "xf", NULL);
	net_node(n, "DequantizeLinear", "wq,s,zf", "w", NULL);
	net_node(n, "MatMul", "xf,w", "c", NULL);
	net_node(n, "QuantizeLinear", "c,s,zf", "y", NULL);
	net_output(n, "y", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F32 });
	is_problem(p, "c", "matmul:f8e4m3,f8e4m3.c,f8e4m3/f32:ba1bb1m4n16k32:ta0tb0");
	are_part(p, "xf w y", "c");
	finish(n, p);
}

/* 8-bit floats whose weights have a scale per channel: a factor per channel. */
static void test_small_floats_by_channel(void)
{
	struct net *n = quant_begin(19);
	net_input(n, "x", DTYPE_F8E4M3, "4,32");
	net_tensor(n, "zf", DTYPE_F8E4M3, "");
	net_tensor(n, "wq", DTYPE_F8E4M3, "32,16");
	net_tensor(n, "ws", DTYPE_F32, "16");
	net_node(n, "DequantizeLinear", "x,s,zf", "xf", NULL);
	net_node(n, "DequantizeLinear", "wq,ws", "w", "axis=1");
	net_node(n, "MatMul", "xf,w", "c", NULL);
	net_node(n, "QuantizeLinear", "c,s,zf", "y", NULL);
	net_output(n, "y", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F32 });
	is_problem(p, "c", "matmul:f8e4m3,f8e4m3.c,f8e4m3/f32:ba1bb1m4n16k32:ta0tb0+scale:f32.c");
	are_part(p, "xf w y", "c");
	finish(n, p);
}

/* Functions between bytes: whatever the scales, one table. Comparisons are less where the scales are one. */
static void test_tables(void)
{
	struct net *n = quant_begin(13);
	net_input(n, "x", DTYPE_U8, "1,8,6,6");
	const char *const ops[] = { "Sigmoid", "LeakyRelu", "Softmax", "Relu" };
	const char *const results[] = { "f0", "f1", "f2", "f3" }, *const bytes[] = { "q0", "q1", "q2", "q3" };
	for (int i = 0; i < 4; i++) {
		char from[16], names[32];
		snprintf(from, sizeof(from), "x%d", i);
		snprintf(names, sizeof(names), "%s,s2,z2", results[i]);
		quant_dq(n, "x", from);
		net_node(n, ops[i], from, results[i], NULL);
		net_node(n, "QuantizeLinear", names, bytes[i], NULL);
		net_output(n, bytes[i], NULL);
	}
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F32 });
	is_problem(p, "f0", "eltwise:u8,u8:sigmoid:1x8x6x6");
	is_problem(p, "f1", "eltwise:u8,u8:leaky_relu,0.01:1x8x6x6");
	is_problem(p, "f2", "softmax:u8,u8:soft:1x8x6x6:ax3");
	is_problem(p, "f3", "~eltwise:u8,u8:relu:1x8x6x6");
	are_part(p, "q0", "f0");
	finish(n, p);
}

/* Where the largest of bytes is needs no values. */
static void test_index(void)
{
	struct net *n = quant_begin(13);
	net_input(n, "x", DTYPE_U8, "1,8,6,6");
	quant_dq(n, "x", "xf");
	net_node(n, "ArgMax", "xf", "y", "axis=1");
	net_output(n, "y", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F32 });
	is_problem(p, "y", "argreduce:u8,s64:argmax:1x8x6x6:ax1");
	are_part(p, "xf", "y");
	near(layer_of(p, "y")->bytes, 8 * 36 + 8 * 36 + SCALED, 0, "bytes are read");
	finish(n, p);
}

/* A subgraph's own layers are found, and what it reads from outside stays. */
static void test_body(void)
{
	struct net *n = quant_begin(13);
	net_input(n, "x", DTYPE_U8, "1,8");
	net_input(n, "cond", DTYPE_BOOL, "");
	quant_dq(n, "x", "xf");
	net_node(n, "Sigmoid", "xf", "g", NULL);
	quant_q(n, "g", "gq");
	struct net *body[2] = { net_body(n), net_body(n) };
	for (int i = 0; i < 2; i++) {
		net_node(body[i], "Relu", "xf", i ? "r1" : "r0", NULL);
		net_output(body[i], i ? "r1" : "r0", NULL);
	}
	struct node *branch = net_node(n, "If", "cond", "y", NULL);
	net_node_body(branch, "then_branch", body[0]);
	net_node_body(branch, "else_branch", body[1]);
	net_output(n, "y", NULL);
	net_output(n, "gq", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F32 });
	are_part(p, "xf", "");
	are_part(p, "gq", "g");
	plan_free(p);
	net_free(body[0]);
	net_free(body[1]);
	net_free(n);
}

int main(int argc, char **argv)
{
	test_conv();
	test_open_end(DTYPE_F32, "conv:u8,s8.c,f32/s32:" CONV "+scale:f32.c+bias:f32.c",
		"eltwise:f32,f32:relu:1x16x6x6");
	test_open_end(DTYPE_BF16, "conv:u8,s8.c,bf16/s32:" CONV "+scale:f32.c+bias:f32.c",
		"eltwise:bf16,bf16:relu:1x16x6x6");
	test_shared();
	test_residual();
	test_others();
	test_matmul();
	test_dynamic();
	test_rows();
	test_turned();
	test_weights_only();
	test_moved_weights();
	test_rank_unknown();
	test_moved_between();
	test_moved_to_many();
	test_bias_behind();
	test_run_time_scales();
	test_other_exporters();
	test_almost();
	test_misfits();
	test_small_floats();
	test_small_floats_by_channel();
	test_tables();
	test_index();
	test_body();
	if (argc > 1 && strcmp(argv[1], "print") == 0)
		fputs(lines.p, stderr);
	recorded_lines(lines.p, "tests/plan/quantized.txt", 100);
	str_free(&lines);
	return done_testing();
}
