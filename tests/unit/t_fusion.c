#include "config.h"

#include "analyze/analyze.h"
#include "fusion_help.h"
#include "make_plan.h"
#include "tap.h"

#include <limits.h>

#define CONV "conv:f32,f32.c,f32/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"
#define IMAGE "1x64x56x56"
#define MATMUL "matmul:f32,f32.c,f32/f32:ba1bb1m128n3072k768:ta0tb0"
#define ROWS "1x128x3072"
#define RELU "eltwise:f32,f32:relu:" IMAGE

static int groups_of(const struct fusion *f, int anchor)
{
	int n = 0;
	while (group_at(f, anchor, n))
		n++;
	return n;
}

static int conv(struct maker *m, int x)
{
	return make_layer(m, "Conv", CONV, IMAGE, x, make_constant(m, "64x64x3x3"));
}

static int relu(struct maker *m, int x)
{
	return make_layer(m, "Relu", RELU, IMAGE, x, -1);
}

static int add(struct maker *m, int a, int b)
{
	return make_layer(m, "Add", "binary:f32,f32,f32:add:" IMAGE ":" IMAGE, IMAGE, a, b);
}

static int matmul(struct maker *m)
{
	return make_layer(
		m, "MatMul", MATMUL, ROWS, make_input(m, "1x128x768"), make_constant(m, "768x3072"));
}

static int bias(struct maker *m, int x)
{
	return make_layer(
		m, "Add", "binary:f32,f32,f32:add:" ROWS ":1x1x3072", ROWS, make_constant(m, "3072"), x);
}

static int rows(struct maker *m, const char *op, int a, int b)
{
	return make_layer(m, op, NULL, ROWS, a, b);
}

/* Without those that only the layout what-if wants. */
static int new_texts(const struct fusion *f)
{
	int count = 0;
	for (int i = 0; i < f->text_count; i++)
		count += !f->text_is_nxc[i];
	return count;
}

static void conv_chain(void)
{
	struct maker *m = make_begin();
	int x = make_input(m, IMAGE);
	int y = add(m, make_batchnorm(m, IMAGE, 64, conv(m, x)), x);
	y = conv(m, relu(m, y));
	m->plan.values[y].is_output = true;
	struct fusion *f = fusion_find(make_finish(m));
	is_int(groups_of(f, 0), 3, "every prefix of Conv+BatchNorm+Add+Relu is a group");
	is_group(f, 0, 0, "Conv+BatchNorm", 2, CONV "+bias:f32.c");
	is_group(f, 0, 1, "Conv+BatchNorm+Add", 3, CONV "+bias:f32.c+add:f32");
	is_group(f, 0, 2, "Conv+BatchNorm+Add+Relu", 4, CONV "+bias:f32.c+add:f32+relu");
	is_int(group_at(f, 0, 1)->residual, -1, "the residual comes from the model's input");
	is_int(f->first_group[4], -1, "a convolution before the output has nothing to take along");
	is_int(f->cluster_count, 1, "one cluster");
	is_int(new_texts(f), 3, "three problems that the plan does not have");
	fusion_free(f);
	make_end(m);
}

static void texts_are_shared(void)
{
	struct maker *m = make_begin();
	int x = make_input(m, IMAGE);
	int w = make_constant(m, "64x64x3x3"), b = make_constant(m, "64");
	int y = make_layer_n(m, "Conv", CONV "+bias:f32.c", IMAGE, 3, (int[]){ x, w, b });
	y = relu(m, make_batchnorm(m, IMAGE, 64, y));
	y = relu(m, make_batchnorm(m, IMAGE, 64, conv(m, y)));
	struct fusion *f = fusion_find(make_finish(m));
	is_group(f, 0, 0, "Conv+BatchNorm", 2, CONV "+bias:f32.c");
	is_int(group_at(f, 0, 0)->distinct, 0, "a batch norm behind a bias costs the convolution alone");
	is_int(group_at(f, 0, 1)->distinct, group_at(f, 3, 1)->distinct, "equal problems are one");
	ok(group_at(f, 0, 1)->text == group_at(f, 3, 1)->text, "... and one text");
	is_int(new_texts(f), 1, "only conv+bias+relu is new");
	fusion_free(f);
	make_end(m);
	/* the same where another problem is the plan's first */
	m = make_begin();
	x = relu(m, make_input(m, IMAGE));
	w = make_constant(m, "64x64x3x3");
	b = make_constant(m, "64");
	make_batchnorm(
		m, IMAGE, 64, make_layer_n(m, "Conv", CONV "+bias:f32.c", IMAGE, 3, (int[]){ x, w, b }));
	f = fusion_find(make_finish(m));
	is_group(f, 1, 0, "Conv+BatchNorm", 2, CONV "+bias:f32.c");
	is_int(group_at(f, 1, 0)->distinct, 1, "it is the convolution's problem");
	fusion_free(f);
	make_end(m);
}

/* Which element-wise functions a convolution takes as epilogues, with their parameters. */
static void activations(void)
{
	static const struct {
		const char *function;
		bool taken;
	} rows[] = { { "relu", true }, { "leaky_relu,0.1", true }, { "clip,0,6", true }, { "sigmoid", true },
		{ "tanh", true }, { "gelu_erf", true }, { "gelu_tanh", true }, { "swish,1", true },
		{ "hard_sigmoid,0.2,0.5", true }, { "hard_swish", true }, { "elu,1", true },
		{ "softplus", true }, { "mish", true }, { "exp", false }, { "sqrt", false }, { "abs", false },
		{ "round", false }, { "square", false }, { "logarithm", false } };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct maker *m = make_begin();
		char problem[64], fused[160];
		snprintf(problem, sizeof(problem), "eltwise:f32,f32:%s:" IMAGE, rows[i].function);
		snprintf(fused, sizeof(fused), CONV "+%s", rows[i].function);
		make_layer(m, "Relu", problem, IMAGE, conv(m, make_input(m, IMAGE)), -1);
		struct fusion *f = fusion_find(make_finish(m));
		is_int(groups_of(f, 0), rows[i].taken, "%s is taken", rows[i].function);
		if (rows[i].taken && group_at(f, 0, 0))
			is_str(group_at(f, 0, 0)->text, fused, "as an epilogue");
		fusion_free(f);
		make_end(m);
	}
}

/* Conv whose value is changed by `spoil` before or after: how many groups remain. */
static int groups_when(void (*spoil)(struct maker *m, int conv_value))
{
	struct maker *m = make_begin();
	int y = conv(m, make_input(m, IMAGE));
	spoil(m, y);
	struct fusion *f = fusion_find(make_finish(m));
	int n = groups_of(f, 0);
	fusion_free(f);
	make_end(m);
	return n;
}

static void plain_relu(struct maker *m, int y)
{
	relu(m, y);
}

static void second_reader(struct maker *m, int y)
{
	relu(m, y);
	conv(m, y);
}

static void shape_reader(struct maker *m, int y)
{
	relu(m, y);
	make_layer(m, "Shape", NULL, "4", y, -1);
}

static void graph_output(struct maker *m, int y)
{
	m->plan.values[y].is_output = true;
	relu(m, y);
}

static void added_to_itself(struct maker *m, int y)
{
	add(m, y, y);
}

static void wide_residual(struct maker *m, int y)
{
	make_layer(m, "Add", NULL, "4x64x56x56", y, make_input(m, "4x64x56x56"));
}

static void narrow_residual(struct maker *m, int y)
{
	make_layer(m, "Add", NULL, IMAGE, y, make_input(m, "1x64x1x1"));
}

static void vector_along_width(struct maker *m, int y)
{
	make_layer(m, "Add", NULL, IMAGE, y, make_constant(m, "56"));
}

static void vector_of_channels(struct maker *m, int y)
{
	make_layer(m, "Add", NULL, IMAGE, make_constant(m, "64x1x1"), y);
}

static void factor_of_channels(struct maker *m, int y)
{
	make_layer(m, "Mul", NULL, IMAGE, make_constant(m, "64x1x1"), y);
}

static void divisor_of_channels(struct maker *m, int y)
{
	make_layer(m, "Div", NULL, IMAGE, y, make_constant(m, "64x1x1"));
}

static void divided_constant(struct maker *m, int y)
{
	make_layer(m, "Div", NULL, IMAGE, make_constant(m, "64x1x1"), y);
}

static void factor_along_width(struct maker *m, int y)
{
	make_layer(m, "Mul", NULL, IMAGE, y, make_constant(m, "56"));
}

static void computed_factor(struct maker *m, int y)
{
	make_layer(m, "Mul", NULL, IMAGE, y, make_input(m, "64x1x1"));
}

static void trained_batchnorm(struct maker *m, int y)
{
	int inputs[5] = { y, make_constant(m, "64"), make_constant(m, "64"), make_constant(m, "64"),
		make_input(m, "64") };
	make_layer_n(m, "BatchNormalization", NULL, IMAGE, 5, inputs);
}

static void through_dropout(struct maker *m, int y)
{
	relu(m, make_layer(m, "Dropout", NULL, IMAGE, y, -1));
}

static void through_reshape(struct maker *m, int y)
{
	make_layer(m, "Relu", "eltwise:f32,f32:relu:1x64x3136", "1x64x3136",
		make_layer(m, "Reshape", NULL, "1x64x3136", y, make_constant(m, "3")), -1);
}

static void batchnorm_after_relu(struct maker *m, int y)
{
	make_batchnorm(m, IMAGE, 64, relu(m, y));
}

static void two_residuals(struct maker *m, int y)
{
	add(m, add(m, y, make_input(m, IMAGE)), make_input(m, IMAGE));
}

static void many_layers(struct maker *m, int y)
{
	for (int i = 0; i < 100; i++)
		y = make_batchnorm(m, IMAGE, 64, y);
}

static void other_domain(struct maker *m, int y)
{
	relu(m, y);
	struct plan_layer *l = &m->plan.layers[m->plan.layer_count - 1];
	struct node *n = (struct node *)l->node;
	n->domain = TEXT("com.example");
	l->op = op_find(n->domain, n->op, 17);
}

static void what_blocks(void)
{
	is_int(groups_when(plain_relu), 1, "Conv, Relu: a group");
	is_int(groups_when(second_reader), 0, "a second reader blocks it");
	is_int(groups_when(shape_reader), 1, "Shape, which needs no data, does not");
	is_int(groups_when(graph_output), 0, "a value that is an output of the model blocks it");
	is_int(groups_when(added_to_itself), 0, "x + x is no residual");
	is_int(groups_when(wide_residual), 0, "a sum that widens the value is no residual");
	is_int(groups_when(narrow_residual), 0, "nor is a broadcast one");
	is_int(groups_when(vector_along_width), 0, "a constant along another axis is no bias");
	is_int(groups_when(vector_of_channels), 1, "one along the channels is");
	is_int(groups_when(factor_of_channels), 1, "a constant factor per channel folds into the weights");
	is_int(groups_when(divisor_of_channels), 1, "so does a divisor");
	is_int(groups_when(divided_constant), 0, "a constant that is divided does not");
	is_int(groups_when(factor_along_width), 0, "nor does a factor along another axis");
	is_int(groups_when(computed_factor), 0, "nor one that is computed");
	is_int(groups_when(trained_batchnorm), 0, "batch norm with a computed variance does not fold");
	is_int(groups_when(through_dropout), 1, "Dropout passes the value on");
	is_int(groups_when(through_reshape), 0, "a reshape behind a convolution does not");
	is_int(groups_when(batchnorm_after_relu), 1, "batch norm behind an activation does not fold");
	is_int(groups_when(two_residuals), 1, "one residual to a kernel");
	is_int(groups_when(many_layers), 23, "a chain has an end");
	is_int(groups_when(other_domain), 0, "a Relu of another domain is not known");
}

static void diamond(void)
{
	/* conv 0 and conv 1 -> Add 2 -> Relu 3: either may take the sum along */
	struct maker *m = make_begin();
	int x = make_input(m, IMAGE);
	int a = conv(m, x), b = conv(m, x);
	relu(m, add(m, a, b));
	struct fusion *f = fusion_find(make_finish(m));
	is_int(groups_of(f, 0), 2, "the first convolution may take Add and Relu along");
	is_int(groups_of(f, 1), 2, "so may the second");
	is_int(group_at(f, 0, 0)->residual, 1, "the first then waits for the second");
	is_int(group_at(f, 1, 0)->residual, 0, "and the second for the first");
	is_int(f->cluster_count, 1, "they are decided together");
	const struct fusion_cluster *c = &f->clusters[0];
	ok(c->anchor_count == 2 && c->layer_count == 4 && c->unit_count == 4 &&
			c->units[2].child_count == 2 && c->units[3].child_count == 1,
		"... over four layers, a tree in which Add has two children");
	fusion_free(f);
	make_end(m);
}

static void silu(void)
{
	struct maker *m = make_begin();
	int y = conv(m, make_input(m, IMAGE));
	int s = make_layer(m, "Sigmoid", "eltwise:f32,f32:sigmoid:" IMAGE, IMAGE, y, -1);
	y = make_layer(m, "Mul", NULL, IMAGE, y, s);
	add(m, y, make_input(m, IMAGE));
	struct fusion *f = fusion_find(make_finish(m));
	is_group(f, 0, 0, "Conv+SiLU", 3, CONV "+swish,1");
	is_group(f, 0, 1, "Conv+SiLU+Add", 4, CONV "+swish,1+add:f32");
	fusion_free(f);
	make_end(m);

	m = make_begin(); /* the sigmoid is read once more: it must be computed anyway */
	y = conv(m, make_input(m, IMAGE));
	s = make_layer(m, "Sigmoid", "eltwise:f32,f32:sigmoid:" IMAGE, IMAGE, y, -1);
	make_layer(m, "Mul", NULL, IMAGE, y, s);
	conv(m, s);
	f = fusion_find(make_finish(m));
	is_int(groups_of(f, 0), 0, "a sigmoid read elsewhere keeps the SiLU apart");
	fusion_free(f);
	make_end(m);
}

/* x/sqrt2, Erf, +1, times x, times 1/2, in three spellings. */
static int gelu_erf(struct maker *m, int x, int spelling)
{
	int half = spelling == 1 ? rows(m, "Mul", make_scalar(m, 0.5), x) : x;
	int e = spelling == 2 ? rows(m, "Mul", x, make_scalar(m, (double)0.70710678f)) :
				rows(m, "Div", x, make_scalar(m, (double)1.41421354f));
	e = rows(m, "Erf", e, -1);
	e = rows(m, "Add", e, make_scalar(m, 1));
	e = rows(m, "Mul", half, e);
	return spelling == 1 ? e : rows(m, "Mul", e, make_scalar(m, 0.5));
}

static int gelu_tanh(struct maker *m, int x, double cubic)
{
	int half = rows(m, "Mul", x, make_scalar(m, 0.5));
	int t = rows(m, "Mul", rows(m, "Pow", x, make_scalar(m, 3)), make_scalar(m, cubic));
	t = rows(m, "Mul", rows(m, "Add", x, t), make_scalar(m, (double)0.7978846f));
	t = make_layer(m, "Tanh", "eltwise:f32,f32:tanh:" ROWS, ROWS, t, -1);
	return rows(m, "Mul", half, rows(m, "Add", t, make_scalar(m, 1)));
}

static void gelu(void)
{
	for (int spelling = 0; spelling < 3; spelling++) {
		struct maker *m = make_begin();
		gelu_erf(m, bias(m, matmul(m)), spelling);
		struct fusion *f = fusion_find(make_finish(m));
		is_group(f, 0, 0, "MatMul+Bias", 2, MATMUL "+bias:f32.c");
		is_group(f, 0, 1, "MatMul+Bias+Gelu", 7, MATMUL "+bias:f32.c+gelu_erf");
		fusion_free(f);
		make_end(m);
	}
	struct maker *m = make_begin();
	gelu_tanh(m, bias(m, matmul(m)), (double)0.044715f);
	struct fusion *f = fusion_find(make_finish(m));
	is_group(f, 0, 1, "MatMul+Bias+Gelu(tanh)", 10, MATMUL "+bias:f32.c+gelu_tanh");
	is_group(f, 2, 0, "Gelu(tanh)", 8, "eltwise:f32,f32:gelu_tanh:" ROWS);
	is_int(groups_of(f, 2), 1, "... the activation may also be one kernel by itself");
	fusion_free(f);
	make_end(m);

	m = make_begin();
	gelu_tanh(m, bias(m, matmul(m)), 0.06);
	f = fusion_find(make_finish(m));
	is_int(groups_of(f, 0), 1, "another constant is another function");
	fusion_free(f);
	make_end(m);

	m = make_begin();
	int x = bias(m, matmul(m));
	m->plan.values[gelu_erf(m, x, 0) - 1].is_output = false;
	m->plan.values[m->plan.layers[3].outputs[0]].is_output = true;
	f = fusion_find(make_finish(m));
	is_int(groups_of(f, 0), 1, "an inner value that is an output keeps the GELU apart");
	fusion_free(f);
	make_end(m);
}

static void gemm_reshape(void)
{
	static const char gemm[] = "matmul:f32,f32.c,f32/f32:ba1bb1m128n3072k768:ta0tb0+bias:f32.c";
	for (int keep = 0; keep < 2; keep++) {
		struct maker *m = make_begin();
		int inputs[3] = { make_input(m, "128x768"), make_constant(m, "768x3072"),
			make_constant(m, "3072") };
		int y = make_layer_n(m, "Gemm", gemm, "128x3072", 3, inputs);
		y = make_layer(m, "Reshape", NULL, keep ? ROWS : "1x3072x128", y, make_constant(m, "3"));
		make_layer(m, "Relu", "eltwise:f32,f32:relu:" ROWS, keep ? ROWS : "1x3072x128", y, -1);
		struct fusion *f = fusion_find(make_finish(m));
		is_int(groups_of(f, 0), keep, "a reshape is passed where rows stay rows: %s",
			keep ? "yes" : "no");
		if (keep)
			is_group(f, 0, 0, "Gemm+Relu", 3,
				"matmul:f32,f32.c,f32/f32:ba1bb1m128n3072k768:ta0tb0+bias:f32.c+relu");
		fusion_free(f);
		make_end(m);
	}
}

#define SMALL(flags) "matmul:f32,f32,f32/f32:ba1bb1m7n9k5:" flags
static const char turn[] = "transpose:f32,f32:5x7:perm1x0", turn_b[] = "transpose:f32,f32:9x5:perm1x0";

/* A product whose operands are transposed as the flags say. third: 0, it has two; 1, a constant; 2, its
 * first one. */
static struct maker *product(const char *op, const char *problem, bool a, bool b, int third)
{
	struct maker *m = make_begin();
	int in[3] = { make_input(m, a ? "5x7" : "7x5"), make_input(m, b ? "9x5" : "5x9"), -1 };
	in[0] = a ? make_layer(m, "Transpose", turn, "7x5", in[0], -1) : in[0];
	in[1] = b ? make_layer(m, "Transpose", turn_b, "5x9", in[1], -1) : in[1];
	in[2] = third == 1 ? make_constant(m, "9") : in[0];
	make_layer_n(m, op, problem, "7x9", third ? 3 : 2, in);
	return m;
}

static void transposed(void)
{
	static const char gemm[] = SMALL("ta1tb0") "+bias:f32.c";
	static const struct {
		const char *op, *problem;
		bool a, b;
		int third, count; /* of layers in the group, 0: none */
		const char *pattern, *text;
	} cases[] = {
		{ "MatMul", SMALL("ta0tb0"), true, false, 0, 2, "Transpose+MatMul", SMALL("ta1tb0") },
		{ "MatMul", SMALL("ta0tb0"), false, true, 0, 2, "Transpose+MatMul", SMALL("ta0tb1") },
		{ "MatMul", SMALL("ta0tb0"), true, true, 0, 3, "Transpose+Transpose+MatMul",
			SMALL("ta1tb1") },
		{ "Gemm", SMALL("ta0tb0") "+bias:f32.c", true, false, 1, 2, "Transpose+Gemm", gemm },
		{ "Gemm", SMALL("ta1tb1") "+bias:f32.c", false, true, 1, 2, "Transpose+Gemm", gemm },
		{ "Gemm", SMALL("ta0tb0") "+add:f32", true, false, 2, 0, "", "" },
		{ "MatMul", SMALL("ta0tb0"), false, false, 0, 0, "", "" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct maker *m = product(
			cases[i].op, cases[i].problem, cases[i].a, cases[i].b, cases[i].third);
		struct fusion *f = fusion_find(make_finish(m));
		if (cases[i].count)
			is_group(f, 0, 0, cases[i].pattern, cases[i].count, cases[i].text);
		else
			is_int(f->group_count, 0, "%s: no group", cases[i].problem);
		fusion_free(f);
		make_end(m);
	}
}

static void types_follow(void)
{
	static const char conv16[] =
		"conv:bf16,bf16.c,bf16/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1";
	struct maker *m = make_begin();
	m->dtype = DTYPE_BF16;
	int x = make_input(m, IMAGE);
	int y = make_layer(m, "Conv", conv16, IMAGE, x, make_constant(m, "64x64x3x3"));
	add(m, make_batchnorm(m, IMAGE, 64, y), x);
	struct fusion *f = fusion_find(make_finish(m));
	is_group(f, 0, 1, "Conv+BatchNorm+Add", 3,
		"conv:bf16,bf16.c,bf16/"
		"f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+bias:bf16.c+add:bf16");
	fusion_free(f);
	make_end(m);
}

static void hostile_fan_out(void)
{
	struct maker *m = make_begin();
	int x = make_input(m, IMAGE), y = conv(m, x);
	for (int i = 0; i < 3000; i++)
		relu(m, y);
	struct fusion *f = fusion_find(make_finish(m));
	is_int(f->group_count, 0, "a value read three thousand times fuses nowhere");
	fusion_free(f);
	make_end(m);
	m = make_begin();
	f = fusion_find(make_finish(m));
	is_int(f->group_count, 0, "an empty plan has no groups");
	fusion_free(f);
	fusion_free(NULL);
	make_end(m);
}

int main(void)
{
	conv_chain();
	activations();
	texts_are_shared();
	what_blocks();
	diamond();
	silu();
	gelu();
	gemm_reshape();
	transposed();
	types_follow();
	hostile_fan_out();
	return done_testing();
}
