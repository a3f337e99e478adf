/* Plans in a type of at most 8 bits: products with weights run in it, all other layers in a wider type. */
#include "config.h"

#include "plan/plan.h"

#include "net.h"
#include "tap.h"

#define WINDOW "r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"

static struct plan *plan_of(struct net *n, enum dtype dtype, enum dtype rest)
{
	return net_plan(n, (struct plan_options){ .dtype = dtype, .rest = rest });
}

/* The problem of the layer that makes the value. */
static void is_problem(const struct plan *p, const char *output, const char *want)
{
	const struct plan_value *v = p ? net_planned(p, output) : NULL;
	const struct plan_layer *l = v && v->producer >= 0 ? &p->layers[v->producer] : NULL;
	const struct plan_problem *q = l ? plan_layer_problem(p, l) : NULL;
	is_str(q ? q->text : l && l->why ? l->why : "-", want, "%s", output);
}

static void are_borders(const struct plan *p, const char *want)
{
	char text[256] = "";
	for (int i = 0; p && i < p->border_count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
			p->borders[i].problem < 0 ? "?" : p->problems[p->borders[i].problem].text);
	is_str(text, want, "casts at the borders");
}

static bool has_type(const struct plan *p, const char *value, enum dtype t)
{
	return net_planned(p, value) && net_planned(p, value)->dtype == t;
}

/* x -> Conv -> Relu -> MaxPool -> Conv -> Add of the MaxPool's result -> GlobalAveragePool -> Gemm */
static struct net *pictures(void)
{
	struct net *n = net_begin(17);
	net_input(n, "x", DTYPE_F32, "1,8,8,8");
	net_weight(n, "w", "8,8,3,3");
	net_weight(n, "b", "8");
	net_weight(n, "fc", "8,10");
	net_weight(n, "fcb", "10");
	net_node(n, "Conv", "x,w,b", "c1", "pads=1,1,1,1");
	net_node(n, "Relu", "c1", "r1", NULL);
	net_node(n, "MaxPool", "r1", "m", "kernel_shape=2,2 strides=2,2");
	net_node(n, "Conv", "m,w,b", "c2", "pads=1,1,1,1");
	net_node(n, "Add", "c2,m", "s", NULL);
	net_node(n, "GlobalAveragePool", "s", "g", NULL);
	net_node(n, "Flatten", "g", "f", NULL);
	net_node(n, "Gemm", "f,fc,fcb", "y", NULL);
	net_output(n, "y", NULL);
	return n;
}

static void test_pictures(void)
{
	struct net *n = pictures();
	struct plan *p = plan_of(n, DTYPE_S8, DTYPE_F16);
	char types[PLAN_TYPES_SIZE];
	if (!ok(p != NULL, "s8 in a model in f32"))
		return;
	is_str(plan_types_text(p, types), "s8, rest f16", "types");
	ok(plan_is_few(p) && plan_wide(p, net_planned(p, "m")) == DTYPE_F16, "s8 is read as f16");
	is_problem(p, "c1", "conv:s8,s8.c,f16/s32:n1c8h8w8k8" WINDOW "+scale:f32.c+bias:f32.c");
	is_problem(p, "r1", "eltwise:f16,f16:relu:1x8x8x8");
	is_problem(p, "m", "pool:s8,s8:max:n1c8h8w8r2s2:ph0pw0qh0qw0:sh2sw2:dh1dw1");
	is_problem(p, "s", "binary:f16,f16,f16:add:1x8x4x4:1x8x4x4");
	is_problem(p, "y", "matmul:s8,s8.c,f16/s32:ba1bb1m1n10k8:ta0tb0+scale:f32.c+bias:f32.c");
	ok(has_type(p, "r1", DTYPE_S8) && has_type(p, "m", DTYPE_S8) && has_type(p, "f", DTYPE_S8) &&
		has_type(p, "g", DTYPE_S8), "s8: what products read, also through layers that move data");
	ok(has_type(p, "c1", DTYPE_F16) && has_type(p, "c2", DTYPE_F16) && has_type(p, "s", DTYPE_F16) &&
		has_type(p, "b", DTYPE_F16), "the rest in f16");
	ok(has_type(p, "w", DTYPE_S8) && p->weight_bytes == 8 * 8 * 9 + 80 + 2 * (8 + 10),
		"weights of products are stored in s8");
	are_borders(p, "cast:f32,s8:1x8x8x8 cast:f16,f32:1x10");
	plan_free(p);
	p = plan_of(n, DTYPE_S8, DTYPE_UNKNOWN);
	is_str(p ? plan_types_text(p, types) : "", "s8, rest f32", "without a rest: the model's own type");
	is_problem(p, "r1", "eltwise:f32,f32:relu:1x8x8x8");
	are_borders(p, "cast:f32,s8:1x8x8x8");
	plan_free(p);
	p = plan_of(n, DTYPE_F8E4M3, DTYPE_F16);
	is_problem(p, "c2", "conv:f8e4m3,f8e4m3.c,f16/f32:n1c8h4w4k8" WINDOW "+bias:f16.c");
	plan_free(p);
	net_free(n);
}

/* A table that is both looked up and multiplied, and a product of two tensors. */
static void test_texts(void)
{
	struct net *n = net_begin(17);
	net_input(n, "ids", DTYPE_S64, "1,4");
	net_weight(n, "table", "100,8");
	net_weight(n, "turned", "8,100");
	net_weight(n, "w", "8,8");
	net_node(n, "Gather", "table,ids", "e", NULL);
	net_node(n, "Sqrt", "e", "l", NULL);
	net_node(n, "MatMul", "l,w", "q", NULL);
	net_node(n, "Transpose", "q", "t", "perm=0,2,1");
	net_node(n, "MatMul", "q,t", "scores", NULL);
	net_node(n, "Softmax", "scores", "p", NULL);
	net_node(n, "MatMul", "p,q", "o", NULL);
	net_node(n, "Transpose", "o", "u", "perm=0,2,1");
	net_node(n, "Transpose", "u", "v", "perm=0,2,1");
	net_node(n, "MatMul", "v,w", "z", NULL);
	net_node(n, "Gather", "w,ids", "rows", NULL);
	net_output(n, "z", NULL);
	net_output(n, "rows", NULL);
	struct plan *p = plan_of(n, DTYPE_S8, DTYPE_F16);
	is_problem(p, "q", "matmul:s8,s8.c,f16/s32:ba1bb1m4n8k8:ta0tb0+scale:f32.c");
	is_problem(p, "scores", "matmul:f16,f16,f16/f32:ba1bb1m4n4k8:ta0tb0");
	is_problem(p, "p", "softmax:f16,f16:soft:1x4x4:ax2");
	is_problem(p, "o", "matmul:f16,f16,f16/f32:ba1bb1m4n8k4:ta0tb0");
	is_problem(p, "v", "transpose:s8,s8:8x4:perm1x0");
	is_problem(p, "rows", "gather:f16.c,s64,f16:8x8:ax0:1x4");
	ok(p && has_type(p, "w", DTYPE_F16), "a constant that is read in both types has the wider one");
	plan_free(p);
	net_free(n);
}

/* Products in the branches of an If: what a branch shares with the model around it keeps the wider type. */
static void test_bodies(void)
{
	struct net *n = net_begin(17), *bodies[2];
	net_input(n, "x", DTYPE_F32, "1,8");
	net_input(n, "flag", DTYPE_BOOL, "");
	net_weight(n, "w", "8,8");
	net_node(n, "MatMul", "x,w", "r", NULL);
	struct node *branch = net_node(n, "If", "flag", "y", NULL);
	for (int i = 0; i < 2; i++) {
		bodies[i] = net_body(n);
		net_node(bodies[i], "Relu", "r", "a", NULL);
		net_node(bodies[i], "MatMul", "a,w", "b", NULL);
		net_output(bodies[i], "b", NULL);
		net_node_body(branch, i ? "else_branch" : "then_branch", bodies[i]);
	}
	net_output(n, "y", NULL);
	struct plan *p = plan_of(n, DTYPE_S8, DTYPE_UNKNOWN);
	if (ok(p != NULL, "a model with branches")) {
		const struct plan *body = &p->layers[1].bodies[0];
		is_problem(body, "a", "eltwise:f32,f32:relu:1x8");
		is_problem(body, "b", "matmul:s8,s8.c,f32/s32:ba1bb1m1n8k8:ta0tb0+scale:f32.c");
		ok(has_type(body, "r", DTYPE_F32) && has_type(p, "y", DTYPE_F32), "borders of bodies in f32");
	}
	plan_free(p);
	net_free(bodies[0]);
	net_free(bodies[1]);
	net_free(n);
}

static void is_refused(struct net *n, enum dtype t, const char *want)
{
	struct plan *p = plan_of(n, t, DTYPE_F16);
	is_str(p ? "taken" : net_error.text, want, "%s refused", dtype_name(t));
	plan_free(p);
	net_free(n);
}

static void test_refused(void)
{
	struct net *n = net_begin(17);
	net_input(n, "x", DTYPE_F32, "1,8");
	net_node(n, "Relu", "x", "y", NULL);
	net_output(n, "y", NULL);
	is_refused(n, DTYPE_S8, "no Conv, ConvTranspose, MatMul or Gemm with constant weights runs in a "
		"floating-point type: leave out the type s8");
	n = net_begin(17);
	net_input(n, "x", DTYPE_F32, "1,8");
	net_weight(n, "s", "");
	net_tensor(n, "z", DTYPE_S8, "");
	net_weight(n, "w", "8,8");
	net_node(n, "QuantizeLinear", "x,s,z", "q", NULL);
	net_node(n, "DequantizeLinear", "q,s,z", "d", NULL);
	net_node(n, "MatMul", "d,w", "y", NULL);
	net_output(n, "y", NULL);
	is_refused(n, DTYPE_F8E4M3, "layer QuantizeLinear_0: the model is quantized already, so its products "
		"are not converted to f8e4m3: leave out the type");
}

/* Values of a model that are of 8 bits by themselves are not the plan's. */
static void test_own_bytes(void)
{
	struct net *n = net_begin(17);
	net_input(n, "x", DTYPE_S8, "4,8");
	net_weight(n, "w", "8,8");
	net_node(n, "Max", "x,x", "a", NULL);
	net_node(n, "Cast", "a", "b", "to=1");
	net_node(n, "MatMul", "b,w", "c", NULL);
	net_node(n, "Cast", "c", "y", "to=3");
	net_output(n, "y", NULL);
	struct plan *p = plan_of(n, DTYPE_S8, DTYPE_F16);
	is_problem(p, "a", "copy:u8,u8:b48");
	is_problem(p, "b", "cast:s8,f16:4x8");
	is_problem(p, "c", "matmul:s8,s8.c,f16/s32:ba1bb1m4n8k8:ta0tb0+scale:f32.c");
	is_problem(p, "y", "cast:f16,s8:4x8");
	are_borders(p, "");
	plan_free(p);
	net_free(n);
	n = net_begin(17);
	net_input(n, "x", DTYPE_BF16, "4,8");
	net_tensor(n, "w", DTYPE_BF16, "8,8");
	net_node(n, "MatMul", "x,w", "y", NULL);
	net_output(n, "y", NULL);
	p = plan_of(n, DTYPE_S8, DTYPE_F16);
	is_problem(p, "y", "matmul:s8,s8.c,bf16/s32:ba1bb1m4n8k8:ta0tb0+scale:f32.c");
	plan_free(p);
	net_free(n);
}

int main(void)
{
	test_own_bytes();
	test_pictures();
	test_texts();
	test_bodies();
	test_refused();
	return done_testing();
}
