#include "config.h"

#include "plan/plan.h"

#include <unistd.h>

#include "model/write.h"
#include "net.h"
#include "tap.h"

static void is_shape(const struct plan *p, const char *name, const char *want)
{
	struct arena a = { 0 };
	const struct plan_value *v = net_planned(p, name);
	is_str(v ? shape_text(&a, v->shape) : "no such value", want, "shape of %s", name);
	arena_free(&a);
}

static const char *problem_of(const struct plan *p, int layer)
{
	const struct plan_problem *q = plan_layer_problem(p, &p->layers[layer]);
	return q ? q->text : p->layers[layer].why ? p->layers[layer].why : "-";
}

static bool warned(const struct plan *p, const char *part)
{
	for (int i = 0; i < p->warning_count; i++)
		if (strstr(p->warnings[i], part))
			return true;
	for (int i = 0; i < p->warning_count; i++)
		printf("# warning: %s\n", p->warnings[i]);
	return false;
}

static void ints_are(const int *got, int count, const char *want, const char *name)
{
	char text[256] = "";
	for (int i = 0; i < count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%d", i ? " " : "", got[i]);
	is_str(text, want, "%s", name);
}

/* A residual block: Conv 0, BatchNormalization 1, Relu 2, Conv 3, Add 4, Relu 5, pool 6, Flatten 7, Gemm 8.
 */
static struct net *residual(const char *dims)
{
	struct net *n = net_begin(17);
	net_input(n, "x", DTYPE_F32, dims);
	net_weight(n, "w", "8,8,3,3");
	net_weight(n, "b", "8");
	net_weight(n, "fc", "8,10");
	net_weight(n, "fcb", "10");
	net_node(n, "Conv", "x,w,b", "c1", "pads=1,1,1,1");
	net_node(n, "BatchNormalization", "c1,b,b,b,b", "n1", NULL);
	net_node(n, "Relu", "n1", "r1", NULL);
	net_node(n, "Conv", "r1,w,b", "c2", "pads=1,1,1,1");
	net_node(n, "Add", "c2,x", "s", NULL);
	net_node(n, "Relu", "s", "r2", NULL);
	net_node(n, "GlobalAveragePool", "r2", "g", NULL);
	net_node(n, "Flatten", "g", "f", NULL);
	net_node(n, "Gemm", "f,fc,fcb", "y", NULL);
	net_output(n, "y", NULL);
	return n;
}

static bool overwrites(const struct plan *p, int layer, bool folded)
{
	return plan_overwrites(p, &layer, 1, folded);
}

/* A layer that folds leaves its readers the memory of its input. */
static void test_overwrites_folded(void)
{
	struct net *n = net_begin(17);
	net_input(n, "x", DTYPE_S64, "1,8,14,14");
	net_ints(n, "one", "1");
	net_node(n, "Neg", "x", "a", NULL);
	net_node(n, "Mul", "a,one", "b", NULL);
	net_node(n, "Relu", "b", "c", NULL);
	net_node(n, "Abs", "a", "d", NULL);
	net_node(n, "Neg", "x", "e", NULL); /* the same as a */
	net_node(n, "Add", "c,d", "f", NULL);
	net_node(n, "Sign", "e", "g", NULL);
	net_node(n, "Mul", "x,one", "h", NULL);
	net_node(n, "Abs", "h", "i", NULL);
	net_output(n, "f", NULL);
	net_output(n, "g", NULL);
	net_output(n, "i", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	is_int(p->fold_count, 3, "two products with 1 and a repeated layer fold");
	ok(overwrites(p, 2, false) && !overwrites(p, 2, true), "the reader of a product, or of its input");
	ok(overwrites(p, 3, false) && !overwrites(p, 3, true), "the same is read later");
	ok(overwrites(p, 5, true), "a sum of what does not fold");
	ok(overwrites(p, 6, false) && overwrites(p, 6, true), "the last reader of both that are the same");
	ok(overwrites(p, 8, false) && !overwrites(p, 8, true), "a model input is not written over");
	plan_free(p);
	net_free(n);
}

/* What the layers of one kernel read may be overwritten if none outside them reads it later. */
static void test_overwrites(void)
{
	struct net *n = net_begin(17);
	net_input(n, "x", DTYPE_F32, "1,8,14,14");
	net_weight(n, "w", "8,8,3,3");
	net_node(n, "Conv", "x,w", "c", "pads=1,1,1,1");
	net_node(n, "Sigmoid", "c", "s", NULL);
	net_node(n, "Relu", "c", "r", NULL);
	net_node(n, "Mul", "c,s", "m", NULL);
	net_node(n, "Sigmoid", "m", "s2", NULL);
	net_node(n, "Mul", "m,s2", "m2", NULL);
	net_node(n, "Add", "m,r", "y", NULL);
	net_output(n, "y", NULL);
	net_output(n, "m2", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	ok(!overwrites(p, 1, false), "a sigmoid whose input is read again may not overwrite it");
	ok(plan_overwrites(p, (int[]){ 1, 3 }, 2, false), "sigmoid and product in one kernel: they may");
	ok(overwrites(p, 3, false), "the product alone, which reads it last, may");
	ok(!overwrites(p, 2, false), "a layer between them may not");
	ok(!plan_overwrites(p, (int[]){ 4, 5 }, 2, false),
		"a kernel whose input a layer after it reads may not");
	ok(overwrites(p, 6, false), "... which may");
	plan_free(p);
	net_free(n);
}

/* An element lies in the memory of its sequence, a branch's result perhaps in that of a captured value. */
static void test_overwrites_shared(void)
{
	struct net *n = net_begin(17), *then = net_body(n), *other = net_body(n);
	net_input(n, "x", DTYPE_F32, "8,14");
	net_input(n, "flag", DTYPE_BOOL, "");
	net_ints(n, "first", "0");
	net_node(n, "Relu", "x", "a", NULL);
	net_node(n, "Tanh", "x", "k", NULL);
	net_node(n, "SequenceConstruct", "a,k", "q", NULL);
	net_node(n, "SequenceAt", "q,first", "e", NULL);
	net_node(n, "Sigmoid", "e", "c", NULL);
	net_node(n, "Add", "c,k", "s", NULL);
	net_node(then, "Identity", "s", "t", NULL);
	net_output(then, "t", NULL);
	net_node(other, "Tanh", "s", "o", NULL);
	net_output(other, "o", NULL);
	struct node *node = net_node(n, "If", "flag", "b", NULL);
	net_node_body(node, "then_branch", then);
	net_node_body(node, "else_branch", other);
	net_node(n, "Sigmoid", "b", "y", NULL);
	net_output(n, "y", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	if (!ok(p != NULL, "a sequence and branches: %s", net_error.text))
		return;
	is_int(net_planned(p, "e")->dies_in, -1, "an element of a sequence may not be overwritten");
	ok(!overwrites(p, 4, false), "... by the layer that reads it");
	ok(!overwrites(p, 1, false) && net_planned(p, "k")->dies_in == -1, "nor what is put in");
	is_int(net_planned(p, "c")->dies_in, 5, "a tensor outside of it may");
	is_int(net_planned(p, "b")->dies_in, -1, "nor the result of a branch");
	ok(!overwrites(p, 7, false), "... by the layer that reads it");
	plan_free(p);
	net_free(then);
	net_free(other);
	net_free(n);
}

static void test_residual(void)
{
	struct net *n = residual("1,8,14,14");
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	if (!ok(p != NULL, "a residual block"))
		return;
	is_shape(p, "s", "1x8x14x14");
	is_shape(p, "y", "1x10");
	is_int(p->layer_count, 9, "layers");
	is_int(p->problem_count, 6, "distinct problems: two convolutions and two relus are one each");
	is_int(p->layers[0].problem, p->layers[3].problem, "equal layers share a problem");
	is_int(p->problems[p->layers[0].problem].use_count, 2, "... used twice");
	is_int(p->problems[p->layers[0].problem].first_layer, 0, "... first by layer 0");
	is_str(problem_of(p, 0),
		"conv:f32,f32.c,f32/f32:n1c8h14w14k8r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+bias:f32.c",
		"the convolution's problem");
	is_int(p->layers[7].class, CLASS_FREE, "Flatten is free");
	is_int(p->layers[7].problem, -1, "and has no problem");
	ints_are(p->layers[4].preds, p->layers[4].pred_count, "3", "Add waits for the second convolution");
	ints_are(p->layers[8].preds, p->layers[8].pred_count, "7", "a free layer still orders");
	ints_are(p->layers[2].succs, p->layers[2].succ_count, "3", "Relu is followed by a convolution");
	ints_are(net_planned(p, "x")->consumers, net_planned(p, "x")->consumer_count, "0 4",
		"x is read twice");
	is_int(net_planned(p, "y")->consumer_count, 0, "an output nobody reads");
	double conv = 2.0 * 8 * 14 * 14 * 8 * 9 + 8 * 14 * 14;
	near(p->flops, 2 * conv + 2 * 1568 + 3 * 1568 + 1568 + 2 * 80 + 10, 1e-12, "FLOPs are summed");
	near(p->weight_bytes, 4.0 * (576 + 8 + 80 + 10), 1e-12, "weights count once");
	/* x, r1 or c2 ... : Add reads c2 and x while it writes s */
	near(p->peak_live_bytes, 3 * 4.0 * 1568, 1e-12, "most bytes alive: at the addition");
	is_int(p->unknown_shapes, 0, "no unknown shapes");
	static const bool over[] = { false, true, true, true, true, true, false, false, false };
	for (int i = 0; i < 9; i++)
		is_int(plan_overwrites(p, &i, 1, false), over[i], "%s of layer %d may write over an input",
			p->layers[i].op->name, i);
	is_int(p->batch, 1, "the batch in force");
	is_int(p->border_count, 0, "no casts in f32");
	is_int(p->warning_count, 0, "no warnings");
	plan_free(p);
	net_free(n);
}

static void test_dtype(void)
{
	struct net *n = residual("1,8,14,14");
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_BF16 });
	if (!ok(p != NULL, "in bf16"))
		return;
	is_str(problem_of(p, 0),
		"conv:bf16,bf16.c,bf16/f32:n1c8h14w14k8r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+bias:bf16.c",
		"every f32 becomes bf16");
	if (is_int(p->border_count, 2, "a cast at the input and one at the output")) {
		is_str(p->problems[p->borders[0].problem].text, "cast:f32,bf16:1x8x14x14", "input's cast");
		is_str(p->problems[p->borders[1].problem].text, "cast:bf16,f32:1x10", "output's cast");
		ok(p->borders[0].is_input && !p->borders[1].is_input &&
				p->problems[p->borders[0].problem].border,
			"they know what they are");
	}
	near(p->weight_bytes, 2.0 * (576 + 8 + 80 + 10), 1e-12, "weights are stored in the new type");
	plan_free(p);
	net_free(n);
}

/* Casts of a model in f16, as text. */
static const char *borders_of(struct net *n, char *to, size_t size)
{
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F16 });
	size_t at = 0;
	to[0] = '\0';
	for (int i = 0; p && i < p->border_count; i++)
		at += (size_t)snprintf(to + at, size - at, "%s%s", i ? " " : "",
			p->borders[i].problem < 0 ? "?" : p->problems[p->borders[i].problem].text);
	plan_free(p);
	net_free(n);
	return to;
}

/* x -> Cast -> MatMul with weights of that type -> Cast -> MatMul in f32, if there is one -> y */
static struct net *products(enum dtype in, enum dtype first, bool second)
{
	struct net *n = net_begin(17);
	char to[16];
	snprintf(to, sizeof(to), "to=%d", first == DTYPE_F16 ? 10 : first == DTYPE_BF16 ? 16 : 11);
	net_input(n, "x", in, "4,8");
	net_tensor(n, "w", first, "8,8");
	net_node(n, "Cast", "x", "cast", to);
	net_node(n, "MatMul", "cast,w", "product", NULL);
	if (second) {
		net_weight(n, "v", "8,8");
		net_node(n, "Cast", "product", "back", "to=1");
		net_node(n, "MatMul", "back,v", "y", NULL);
	}
	net_output(n, second ? "y" : "product", NULL);
	return n;
}

static void is_plan(struct net *n, enum dtype dtype, const char *type, const char *problem, const char *casts)
{
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = dtype });
	char text[256] = "";
	for (int i = 0; p && i < p->border_count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
			p->problems[p->borders[i].problem].text);
	is_str(p ? plan_type_name(p) : net_error.text, type, "%s for -t %s", type, dtype_name(dtype));
	is_str(p ? problem_of(p, 1) : "", problem, "its product");
	is_str(text, casts, "its casts at the borders");
	plan_free(p);
}

/* The model's own type, and others in its place. */
static void test_own_types(void)
{
	struct net *n = products(DTYPE_F32, DTYPE_F16, false);
	const char *f16 = "matmul:f16,f16.c,f16/f32:ba1bb1m4n8k8:ta0tb0";
	const char *f32 = "matmul:f32,f32.c,f32/f32:ba1bb1m4n8k8:ta0tb0";
	const char *f64 = "matmul:f64,f64.c,f64/f64:ba1bb1m4n8k8:ta0tb0";
	const char *bf16 = "matmul:bf16,bf16.c,bf16/f32:ba1bb1m4n8k8:ta0tb0";
	is_plan(n, DTYPE_UNKNOWN, "f16", f16, "");
	is_plan(n, DTYPE_F16, "f16", f16, "");
	is_plan(n, DTYPE_F32, "f32", f32, "cast:f32,f16:4x8");
	is_plan(n, DTYPE_BF16, "bf16", bf16, "cast:f32,bf16:4x8 cast:bf16,f16:4x8");
	net_free(n);
	n = products(DTYPE_F64, DTYPE_F64, false);
	is_plan(n, DTYPE_UNKNOWN, "f64", f64, "");
	is_plan(n, DTYPE_F32, "f32", f32, "cast:f64,f32:4x8 cast:f32,f64:4x8");
	net_free(n);
	n = residual("1,8,14,14");
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_TF32 });
	ok(p && !p->border_count, "TF32 is f32 in memory: no casts");
	plan_free(p);
	net_free(n);
	n = products(DTYPE_BF16, DTYPE_BF16, false);
	is_plan(n, DTYPE_UNKNOWN, "bf16", bf16, "");
	is_plan(n, DTYPE_F64, "f64", f64, "cast:bf16,f64:4x8 cast:f64,bf16:4x8");
	net_free(n);
	n = products(DTYPE_F32, DTYPE_F16, true);
	is_plan(n, DTYPE_UNKNOWN, "mixed", f16, "");
	is_plan(n, DTYPE_F32, "f32", f32, "");
	is_plan(n, DTYPE_F16, "f16", f16, "cast:f32,f16:4x8 cast:f16,f32:4x8");
	net_free(n);
	n = net_begin(17);
	net_input(n, "x", DTYPE_S32, "4");
	net_node(n, "Abs", "x", "y", NULL);
	net_output(n, "y", NULL);
	ok(!net_plan(n, (struct plan_options){ .dtype = DTYPE_BF16 }),
		"a model of integers is not converted");
	net_free(n);
}

/* An input without elements needs no cast, and a state that the model is given and returns neither. */
static void test_dtype_without_casts(void)
{
	char text[256];
	struct net *n = net_begin(17);
	net_input(n, "none", DTYPE_F32, "1,0,8");
	net_input(n, "x", DTYPE_F32, "1,4,8");
	net_node(n, "Concat", "none,x", "all", "axis=1");
	net_node(n, "Relu", "all", "y", NULL);
	net_output(n, "y", NULL);
	is_str(borders_of(n, text, sizeof(text)), "cast:f32,f16:1x4x8 cast:f16,f32:1x4x8", "an empty input");

	for (int read = 0; read < 2; read++) {
		n = net_begin(17);
		net_input(n, "past", DTYPE_F32, "1,2,7,8");
		net_input(n, "x", DTYPE_F32, "1,2,1,8");
		net_node(n, "Relu", "x", "key", NULL);
		net_node(n, "Concat", "past,key", "present", "axis=2");
		net_node(n, "Relu", "present", "y", NULL);
		net_output(n, "y", NULL);
		net_output(n, "present", NULL);
		if (read)
			net_node(n, "Relu", "past", "other", NULL);
		is_str(borders_of(n, text, sizeof(text)), read
				? "cast:f32,f16:1x2x7x8 cast:f32,f16:1x2x1x8 cast:f16,f32:1x2x8x8 "
				  "cast:f16,f32:1x2x8x8"
				: "cast:f32,f16:1x2x1x8 cast:f16,f32:1x2x8x8",
			read ? "something else reads the input" : "a cache that is extended and returned");
	}

	n = net_begin(17);
	net_input(n, "x", DTYPE_F32, "5,1,8");
	net_input(n, "h", DTYPE_F32, "1,1,16");
	net_weight(n, "w", "1,48,8");
	net_weight(n, "r", "1,48,16");
	net_node(n, "GRU", "x,w,r,,,h", "y,last", "hidden_size=16");
	net_output(n, "y", NULL);
	net_output(n, "last", NULL);
	is_str(borders_of(n, text, sizeof(text)), "cast:f32,f16:5x1x8 cast:f16,f32:5x1x1x16",
		"the state of a recurrent layer");
}

/* Symbols that exporters make up are a batch in front of a picture, not in front of a list alone. */
static void test_made_up_names(void)
{
	static const char *const names[] = { "s6", "unk__749", "DynamicDimension.0",
		"p2o.DynamicDimension.0" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char dims[64];
		struct net *n = net_begin(17);
		snprintf(dims, sizeof(dims), "%s,8", names[i]);
		net_input(n, "x", DTYPE_F32, dims);
		net_input(n, "list", DTYPE_F32, "s77");
		net_node(n, "Relu", "x", "y", NULL);
		net_node(n, "Relu", "list", "z", NULL);
		net_output(n, "y", NULL);
		net_output(n, "z", NULL);
		struct plan *p = net_plan(n, (struct plan_options){ 0 });
		if (ok(p != NULL, "%s", names[i])) {
			is_shape(p, "y", "1x8");
			is_shape(p, "z", "s77");
		}
		plan_free(p);
		net_free(n);
	}
}

/* A shape that an input's contents give. */
static void test_given_values(void)
{
	const double three = 3, half = 0.5, pair[] = { 2, 5 };
	struct net *n = net_begin(17);
	struct plan_input_value given = { TEXT("size"), 1, &three };
	net_input(n, "x", DTYPE_F32, "1");
	net_input(n, "size", DTYPE_S64, "2");
	net_node(n, "Expand", "x,size", "y", NULL);
	net_output(n, "y", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	is_shape(p, "y", "?x?");
	plan_free(p);
	p = net_plan(n, (struct plan_options){ .value_count = 1, .values = &given });
	is_shape(p, "y", "3x3");
	plan_free(p);
	given = (struct plan_input_value){ TEXT("size"), 2, pair };
	p = net_plan(n, (struct plan_options){ .value_count = 1, .values = &given });
	is_shape(p, "y", "2x5");
	ok(!p->idle_value, "it has an effect");
	plan_free(p);
	const struct plan_input_value both[] = { given, { TEXT("x"), 1, &three } };
	p = net_plan(n, (struct plan_options){ .value_count = 2, .values = both });
	is_shape(p, "y", "2x5");
	is_str(p->idle_value, "x", "the values of x have none");
	plan_free(p);
	const struct plan_input_value wrong[] = {
		{ TEXT("sizes"), 1, &three }, { TEXT("size"), 1, &half }, { TEXT("x"), 2, pair },
	};
	static const char *const why[] = { "no input sizes", "size: 0.5 is not a value of type s64",
		"x is 1: give 1 value or 1, not 2" };
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct plan_options o = { .value_count = 1, .values = &wrong[i] };
		ok(!plan_build(net_model(n), &o, &net_error) && strstr(net_error.text, why[i]), "%s",
			net_error.text);
	}
	net_free(n);
}

/* Values need the shape of their input: the error has the option that gives it. */
static void test_given_values_shape(void)
{
	const double three = 3;
	struct net *n = net_begin(17);
	net_input(n, "first", DTYPE_F32, "1,2");
	net_input(n, "open", DTYPE_S64, "?");
	net_input(n, "named", DTYPE_S64, "count");
	net_input(n, "empty", DTYPE_S64, "0");
	net_node(n, "Relu", "first", "y", NULL);
	net_output(n, "y", NULL);
	static const struct {
		const char *input, *says;
	} rows[] = {
		{ "open", "give --input open=SHAPE too" },
		{ "named", "give --dim count=VALUE too" },
		{ "empty", "it has no elements" },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct plan_input_value given = { text_of(rows[i].input), 1, &three };
		ok(!net_plan(n, (struct plan_options){ .value_count = 1, .values = &given }) &&
				strstr(net_error.text, rows[i].says),
			"%s", net_error.text);
	}
	net_free(n);
}

/* Contents decide shapes; the layers still run. */
static void test_given_values_cost(void)
{
	const double seven = 7;
	struct net *n = net_begin(17);
	struct plan_input_value given[] = { { TEXT("ids"), 1, &seven }, { TEXT("mask"), 1, &seven } };
	net_input(n, "ids", DTYPE_S64, "1,8");
	net_input(n, "mask", DTYPE_F32, "1,8,1");
	net_weight(n, "table", "100,16");
	net_weight(n, "w", "16,32");
	net_node(n, "Gather", "table,ids", "e", NULL);
	net_node(n, "Relu", "mask", "r", NULL);
	net_node(n, "Mul", "e,r", "m", NULL);
	net_node(n, "MatMul", "m,w", "y", NULL);
	net_node(n, "Shape", "ids", "s", NULL);
	net_node(n, "Cast", "s", "f", "to=1");
	net_output(n, "y", NULL);
	struct plan *without = net_plan(n, (struct plan_options){ 0 });
	struct plan *with = net_plan(n, (struct plan_options){ .value_count = 2, .values = given });
	ok(with->flops == without->flops && with->flops > 8000, "FLOPs %g as without values", with->flops);
	ok(with->bytes == without->bytes, "bytes %g as without values", with->bytes);
	is_int(with->problem_count, without->problem_count, "the same problems");
	for (int i = 0; i < with->layer_count; i++)
		is_str(op_class_name(with->layers[i].class), op_class_name(without->layers[i].class),
			"layer %d", i);
	plan_free(with);
	plan_free(without);
	net_free(n);
}

/* The options that would tell what is not known: all at once, and no others. */
static void test_needs(void)
{
	struct arena a = { 0 };
	struct net *n = net_begin(17);
	net_input(n, "x", DTYPE_F32, "batch,seq,8");
	net_input(n, "odd name", DTYPE_F32, "batch,odd past,8");
	net_input(n, "any", DTYPE_F32, "3,?,8");
	net_input(n, "it's", DTYPE_F32, "?");
	net_input(n, "ids", DTYPE_S64, "batch,seq");
	net_input(n, "repeats", DTYPE_S64, "3");
	net_input(n, "scale", DTYPE_F32, "");
	net_input(n, "sizes", DTYPE_S64, "2");
	net_node(n, "Neg", "ids", "other", NULL);
	net_node(n, "Cast", "scale", "whole", "to=7");
	net_node(n, "Mul", "repeats,whole", "times", NULL);
	net_node(n, "Shape", "ids", "s", NULL);
	net_node(n, "Tile", "x,times", "y", NULL);
	net_node(n, "Relu", "y", "z", NULL);
	net_node(n, "Relu", "any", "v", NULL);
	net_node(n, "Reshape", "v,sizes", "w", NULL);
	net_output(n, "z", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	is_str(plan_needs_line(p, &a),
		"--dim seq=VALUE --dim 'odd past=VALUE' --input any=3xNx8 --input 'it'\\''s=N' --value "
		"repeats=VALUE,... --value scale=VALUE "
		"--value sizes=VALUE,...",
		"all");
	plan_free(p);
	const double two = 2, sizes[] = { 12, 10 };
	struct plan_input_value values[] = { { TEXT("repeats"), 1, &two }, { TEXT("scale"), 1, &two },
		{ TEXT("sizes"), 2, sizes } };
	struct dim_binding dims[] = { { TEXT("seq"), 4 }, { TEXT("odd past"), 4 } };
	struct plan_input_shape shapes[] = { { TEXT("any"), 3, { 3, 5, 8 } }, { TEXT("it's"), 1, { 2 } } };
	p = net_plan(n,
		(struct plan_options){ .value_count = 3,
			.values = values,
			.binding_count = 2,
			.bindings = dims,
			.shape_count = 2,
			.shapes = shapes });
	ok(p && !plan_needs_line(p, &a), "nothing is missing when all are given");
	is_shape(p, "z", "4x16x32");
	plan_free(p);
	net_free(n);
	arena_free(&a);
}

/* One value for a tensor whose contents are not followed. */
static void test_given_many(void)
{
	const double one = 1;
	struct net *n = net_begin(17);
	struct plan_input_value given = { TEXT("x"), 1, &one };
	net_input(n, "x", DTYPE_F32, "s,100");
	net_node(n, "Relu", "x", "y", NULL);
	net_output(n, "y", NULL);
	struct dim_binding s = { TEXT("s"), 20 };
	struct plan *p = net_plan(n,
		(struct plan_options){
			.value_count = 1, .values = &given, .binding_count = 1, .bindings = &s });
	ok(p && warned(p, "x is 20x100: benanza uses the contents of at most 1024 elements"), "accepted");
	ok(p && p->idle_value && warned(p, "--value x has no effect"), "and has no effect, which is said");
	plan_free(p);
	struct plan_options o = { .value_count = 1, .values = &given };
	ok(!plan_build(net_model(n), &o, &net_error) && strstr(net_error.text, "give --dim s=VALUE too"),
		"%s", net_error.text);
	net_free(n);
}

/* An end far out stands for "to the end": no upper bound follows. */
static void test_sentinel_bounds(void)
{
	struct net *n = net_begin(17);
	net_input(n, "x", DTYPE_F32, "1,1");
	net_input(n, "m", DTYPE_S64, "2");
	net_ints(n, "one", "1");
	net_ints(n, "far", "9223372036854775807");
	net_ints(n, "near", "70000");
	net_ints(n, "zero", "0");
	net_ints(n, "four", "4");
	net_node(n, "Expand", "x,m", "e", NULL);
	net_node(n, "Slice", "e,one,far,zero,four", "all", NULL);
	net_node(n, "Slice", "e,one,near,zero,four", "some", NULL);
	net_node(n, "Relu", "all", "y", NULL);
	net_node(n, "Relu", "some", "z", NULL);
	net_output(n, "y", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	is_shape(p, "all", "?x?");
	is_shape(p, "some", "?<=17500x?");
	plan_free(p);
	net_free(n);
}

/* More work than a machine does in a year is no estimate. */
static void test_absurd_bounds(void)
{
	struct net *n = net_begin(17);
	net_input(n, "x", DTYPE_F32, "100000,10000,1000");
	net_weight(n, "w", "3,100000000");
	net_node(n, "NonZero", "x", "at", NULL);
	net_node(n, "Transpose", "at", "t", "perm=1,0");
	net_node(n, "Cast", "t", "f", "to=1");
	net_node(n, "MatMul", "f,w", "y", NULL);
	net_output(n, "y", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	is_shape(p, "t", "?<=1000000000000x3");
	ok(!isnan(p->layers[2].bytes) && p->layers[2].upto, "a bound within reach is an estimate");
	ok(isnan(p->layers[3].bytes) && isnan(p->layers[3].flops), "a bound out of reach is not");
	ok(strstr(problem_of(p, 3), "would exceed a year") != NULL, "%s", problem_of(p, 3));
	plan_free(p);
	net_free(n);
}

/* The tighter of what the file declares and what the operator implies; a contradiction is reported. */
static void test_declared_bounds(void)
{
	static const struct {
		const char *declared, *shape, *warning;
	} rows[] = {
		{ "2,10", "2x10", "its shape 2x?<=16 depends on data; benanza uses the file's shape 2x10" },
		{ "2,nonzero", "2x?<=16", NULL },
		{ "2,17", "2x?<=16", "value at: the file declares shape 2x17" },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct net *n = net_begin(17);
		net_input(n, "x", DTYPE_F32, "4,4");
		net_node(n, "NonZero", "x", "at", NULL);
		net_node(n, "Neg", "at", "y", NULL);
		net_declare(n, "at", DTYPE_S64, rows[i].declared);
		net_output(n, "y", NULL);
		struct plan *p = net_plan(n, (struct plan_options){ 0 });
		is_shape(p, "at", rows[i].shape);
		ok(rows[i].warning ? warned(p, rows[i].warning) : p->warning_count == 0, "declared %s",
			rows[i].declared);
		plan_free(p);
		net_free(n);
	}
}

static void test_batch(void)
{
	struct net *n = residual("1,8,14,14");
	struct plan *p = net_plan(n, (struct plan_options){ .batch = 4 });
	if (ok(p != NULL, "batch 4 in place of a number")) {
		is_shape(p, "y", "4x10");
		is_int(p->batch, 4, "in force");
		ok(p->binding_count == 1 && text_is(p->bindings[0].name, "batch") &&
				p->bindings[0].value == 4,
			"among the bindings");
	}
	plan_free(p);
	net_free(n);

	n = residual("N,8,h,14");
	p = net_plan(n, (struct plan_options){ 0 });
	if (ok(p != NULL, "symbols")) {
		is_shape(p, "s", "1x8xhx14");
		is_shape(p, "y", "1x10");
		is_str(problem_of(p, 0), "h is not bound: give --dim h=VALUE",
			"an unbound symbol says what to do");
		ok(p->unbound_count == 1 && text_is(p->unbound[0], "h"), "unbound: h; N is the batch, 1");
		ok(isnan(p->layers[0].flops), "FLOPs are not known, not 0");
		is_int(p->unknown_flops_layers, 7, "of all layers that depend on it");
		is_int(p->unknown_shapes, 0, "a symbol is no unknown dimension");
		ok(isnan(p->peak_live_bytes), "nor are live bytes");
	}
	plan_free(p);
	struct dim_binding h = { TEXT("h"), 14 }, batch = { TEXT("batch"), 2 }, wrong = { TEXT("hh"), 2 };
	p = net_plan(n, (struct plan_options){ .batch = 8, .binding_count = 1, .bindings = &h });
	if (ok(p != NULL, "bound"))
		is_shape(p, "s", "8x8x14x14");
	plan_free(p);
	p = net_plan(n, (struct plan_options){ .binding_count = 1, .bindings = &batch });
	if (ok(p != NULL, "a binding called batch"))
		is_shape(p, "s", "2x8xhx14");
	plan_free(p);
	p = net_plan(n, (struct plan_options){ .binding_count = 1, .bindings = &wrong });
	ok(!p && strstr(net_error.text, "no dimension hh") && strstr(net_error.text, "N, h"),
		"an unknown name is an error");
	for (int value = -1; value <= 0; value++) {
		struct dim_binding none = { TEXT("h"), value };
		p = net_plan(n, (struct plan_options){ .binding_count = 1, .bindings = &none });
		ok(!p && strstr(net_error.text, "h"), "a size of %d is an error", value);
	}
	struct plan_input_shape shape = { TEXT("x"), 4, { 2, 8, 28, 14 } };
	p = net_plan(n, (struct plan_options){ .shape_count = 1, .shapes = &shape });
	if (ok(p != NULL, "--input"))
		is_shape(p, "s", "2x8x28x14");
	plan_free(p);
	shape.rank = 3;
	ok(!net_plan(n, (struct plan_options){ .shape_count = 1, .shapes = &shape }),
		"--input of another rank");
	shape = (struct plan_input_shape){ TEXT("z"), 1, { 1 } };
	ok(!net_plan(n, (struct plan_options){ .shape_count = 1, .shapes = &shape }), "--input of no input");
	net_free(n);
}

/* Where the value of a batch comes from. */
static void test_sources(void)
{
	static const struct plan_input_shape shape = { TEXT("x"), 2, { 5, 8 } };
	static const struct dim_binding named = { TEXT("batch"), 6 };
	static const struct {
		const char *dims;
		int batch, shapes, bindings;
		enum plan_dim_source source;
		int value;
	} rows[] = {
		{ "batch,8", 0, 0, 0, PLAN_DIM_ASSUMED, 1 },
		{ "batch,8", 4, 0, 0, PLAN_DIM_BATCH, 4 },
		{ "batch,8", 0, 0, 1, PLAN_DIM_BINDING, 6 },
		{ "batch,8", 0, 1, 0, PLAN_DIM_SHAPE, 5 },
		{ "3,8", 0, 0, 0, PLAN_DIM_FIXED, 3 },
		{ "3,8", 4, 0, 0, PLAN_DIM_BATCH, 4 },
		{ "3,8", 0, 0, 1, PLAN_DIM_BINDING, 6 },
		{ "3,8", 0, 1, 0, PLAN_DIM_SHAPE, 5 },
		{ "?,8", 0, 0, 0, PLAN_DIM_ASSUMED, 1 },
		{ "?,8", 4, 0, 0, PLAN_DIM_BATCH, 4 },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct net *n = net_begin(17);
		net_input(n, "x", DTYPE_F32, rows[i].dims);
		net_node(n, "Relu", "x", "y", NULL);
		net_output(n, "y", NULL);
		struct plan *p = net_plan(n,
			(struct plan_options){ .batch = rows[i].batch,
				.shape_count = rows[i].shapes,
				.shapes = &shape,
				.binding_count = rows[i].bindings,
				.bindings = &named });
		if (ok(p && p->binding_count == 1, "%s: one dimension is bound", rows[i].dims)) {
			is_int(p->bindings[0].value, rows[i].value, "row %zu: its value", i);
			is_int(p->binding_sources[0], rows[i].source, "row %zu: its source", i);
		}
		plan_free(p);
		net_free(n);
	}
	/* a batch that only the second input names: the first one's number stays */
	struct net *n = net_begin(17);
	net_input(n, "x", DTYPE_F32, "3,8");
	net_input(n, "z", DTYPE_F32, "batch,8");
	net_node(n, "Relu", "z", "y", NULL);
	net_output(n, "y", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ .batch = 4 });
	is_shape(p, "x", "3x8");
	is_shape(p, "y", "4x8");
	plan_free(p);
	net_free(n);
}

/* Which inputs follow the batch of a first input without symbols: those that begin with the same number or
 * with an unknown one, but no vectors. */
static void test_batch_followers(void)
{
	static const struct {
		const char *first, *wanted[6];
	} rows[] = {
		{ "2,8", { "4x8", "4x8", "3x8", "4x8", "2", "1x8" } },
		{ "?,8", { "4x8", "2x8", "3x8", "4x8", "2", "1x8" } },
	};
	static const char *const dims[] = { NULL, "2,8", "3,8", "?,8", "2", "1,8" };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct net *n = net_begin(17);
		char name[8];
		for (int k = 0; k < 6; k++) {
			snprintf(name, sizeof(name), "x%d", k);
			net_input(n, name, DTYPE_F32, k ? dims[k] : rows[i].first);
		}
		net_node(n, "Relu", "x0", "y", NULL);
		net_output(n, "y", NULL);
		struct plan *p = net_plan(n, (struct plan_options){ .batch = 4 });
		for (int k = 0; p && k < 6; k++) {
			snprintf(name, sizeof(name), "x%d", k);
			is_shape(p, name, rows[i].wanted[k]);
		}
		plan_free(p);
		net_free(n);
	}
}

/* Names of batches, and names that only look like one. */
static void test_batch_names(void)
{
	static const char *const batches[] = { "batch", "Batch", "batch_size", "BatchSize", "batch-size",
		"text_batch_size", "batch_1", "Nbatch", "input_dynamic_axes_1", "N", "bs", "unk__5" };
	static const char *const others[] = { "batch_size_plus_1", "batch*sequence", "batch_beams", "batches",
		"M", "input_dynamic_axes_2" };
	for (size_t i = 0; i < sizeof(batches) / sizeof(batches[0]); i++) {
		struct net *n = residual(NULL);
		char dims[64];
		snprintf(dims, sizeof(dims), "%s,8,14,14", batches[i]);
		net_declare(n, "x", DTYPE_F32, dims);
		struct plan *p = net_plan(n, (struct plan_options){ 0 });
		is_shape(p, "x", "1x8x14x14");
		plan_free(p);
		net_free(n);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct net *n = residual("batch,8,14,14");
		char dims[64];
		snprintf(dims, sizeof(dims), "%s,2", others[i]);
		net_input(n, "z", DTYPE_F32, dims);
		struct plan *p = net_plan(n, (struct plan_options){ .batch = 4 });
		ok(p && p->unbound_count == 1 && text_is(p->unbound[0], others[i]), "%s is not a batch",
			others[i]);
		plan_free(p);
		net_free(n);
	}
}

/* N of a weight and a bias beside a first input that it does not lead; a product of symbols is computed. */
static void test_batch_other(void)
{
	struct net *n = net_begin(17);
	net_input(n, "a", DTYPE_F32, "M,K");
	net_input(n, "b", DTYPE_F32, "N,K");
	net_input(n, "c", DTYPE_F32, "N");
	net_node(n, "Gemm", "a,b,c", "y", "transB=1");
	net_output(n, "y", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ .batch = 4 });
	is_shape(p, "y", "4xN");
	plan_free(p);
	net_free(n);
	n = net_begin(17);
	net_input(n, "ids", DTYPE_S64, "batch_size,sequence_length");
	net_input(n, "flat", DTYPE_F32, "batch_size*sequence_length,16");
	net_node(n, "Neg", "flat", "y", NULL);
	net_output(n, "y", NULL);
	struct dim_binding five = { TEXT("sequence_length"), 5 };
	p = net_plan(n, (struct plan_options){ .batch = 4, .binding_count = 1, .bindings = &five });
	is_shape(p, "y", "20x16");
	plan_free(p);
	net_free(n);
}

/* Two inputs of one batch, a third one that has nothing to do with it, and an expression of symbols. */
static void test_symbols(void)
{
	struct net *n = net_begin(17);
	net_input(n, "ids", DTYPE_S64, "batch_size,seq");
	net_input(n, "mask", DTYPE_F32, "batch_size,past + seq");
	net_input(n, "past", DTYPE_F32, "2,past,4");
	net_node(n, "Neg", "mask", "y", NULL);
	net_output(n, "y", NULL);
	struct dim_binding b[] = { { TEXT("past"), 5 }, { TEXT("seq"), 3 } };
	struct plan *p = net_plan(n, (struct plan_options){ .batch = 4 });
	if (ok(p != NULL, "an expression of symbols")) {
		is_shape(p, "y", "4x(past+seq)");
		is_shape(p, "past", "2xpastx4");
		is_int(p->unbound_count, 2, "it need not be bound");
	}
	plan_free(p);
	p = net_plan(n, (struct plan_options){ .binding_count = 2, .bindings = b });
	if (ok(p != NULL, "an expression of bound symbols"))
		is_shape(p, "y", "1x8");
	plan_free(p);
	net_free(n);
}

static struct net *baked(const char *target, const char *dims)
{
	struct net *n = net_begin(17);
	net_input(n, "x", DTYPE_F32, dims);
	net_ints(n, "target", target);
	net_node(n, "Relu", "x", "r", NULL);
	net_node(n, "Reshape", "r,target", "y", NULL)->name = TEXT("flat\033ten");
	net_output(n, "y", NULL);
	return n;
}

static void test_baked(void)
{
	struct net *n = baked("1,64", "1,4,4,4");
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	ok(p != NULL, "a baked batch is fine at that batch");
	plan_free(p);
	p = net_plan(n, (struct plan_options){ .batch = 8 });
	ok(!p && strstr(net_error.text, "flat?ten") && strstr(net_error.text, "bakes batch 1") &&
			strstr(net_error.text, "1x64"),
		"at another the Reshape is named");
	plan_free(p);
	net_free(n);
	n = baked("1,-1", "1,4,4,4");
	p = net_plan(n, (struct plan_options){ .batch = 8 });
	ok(!p && strstr(net_error.text, "bakes batch 1"), "also where the sizes would fit");
	plan_free(p);
	net_free(n);
	n = baked("-1,64", "1,4,4,4");
	p = net_plan(n, (struct plan_options){ .batch = 8 });
	if (ok(p != NULL, "a computed dimension is not a batch"))
		is_shape(p, "y", "8x64");
	plan_free(p);
	net_free(n);
	n = baked("1,64", "N,4,4,4");
	p = net_plan(n, (struct plan_options){ .batch = 8 });
	ok(!p && strstr(net_error.text, "bakes batch 1"), "a symbolic batch may be baked too");
	plan_free(p);
	net_free(n);
}

/* Shape -> Gather -> Unsqueeze -> Concat -> Reshape as exporters write it: known, free, and no edges. */
static void test_propagation(void)
{
	struct net *n = net_begin(17);
	net_input(n, "x", DTYPE_F32, "batch,seq,12");
	net_ints(n, "zero", "0");
	net_ints(n, "heads", "3,-1");
	net_weight(n, "w", "12,12");
	net_ints(n, "perm_shape", "12,12");
	net_node(n, "ConstantOfShape", "perm_shape", "filled", NULL);
	net_node(n, "Transpose", "filled", "wt", "perm=1,0");
	net_node(n, "MatMul", "x,wt", "m", NULL);
	net_node(n, "Shape", "x", "shape", NULL);
	net_node(n, "Slice", "shape,zero,two", "head", NULL);
	net_node(n, "Concat", "head,heads", "target", "axis=0");
	net_node(n, "Reshape", "m,target", "y", NULL);
	net_ints(n, "two", "2");
	net_output(n, "y", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	if (ok(p != NULL, "shape arithmetic")) {
		is_shape(p, "y", "1xseqx3x4");
		ok(net_planned(p, "wt")->constant, "a transposed weight is a weight");
		is_int(p->layers[1].class, CLASS_FREE, "and its Transpose free");
		for (int i = 3; i <= 6; i++)
			is_int(p->layers[i].class, CLASS_FREE, "layer %d is free", i);
	}
	plan_free(p);
	struct dim_binding b = { TEXT("seq"), 7 };
	p = net_plan(n, (struct plan_options){ .binding_count = 1, .bindings = &b });
	if (ok(p != NULL, "with everything bound")) {
		is_shape(p, "y", "1x7x3x4");
		is_str(problem_of(p, 2), "matmul:f32,f32.c,f32/f32:ba1bb1m7n12k12:ta0tb0",
			"rows are collapsed");
		ints_are(p->layers[2].preds, p->layers[2].pred_count, "", "folded weights are no edges");
		ints_are(p->layers[6].preds, p->layers[6].pred_count, "2", "nor is the shape of a Reshape");
		ints_are(net_planned(p, "x")->consumers, net_planned(p, "x")->consumer_count, "2",
			"Shape reads no data");
		near(p->weight_bytes, 4 * 144.0, 1e-12, "folded weights are weights");
	}
	plan_free(p);
	net_free(n);
}

/* A size that depends on data: its bound goes on, and costs and problems are those of the bound. */
static void test_bounds(void)
{
	struct net *n = net_begin(17);
	net_input(n, "x", DTYPE_F32, "100");
	net_input(n, "boxes", DTYPE_F32, "100,4");
	net_weight(n, "w", "4,8");
	net_node(n, "NonZero", "x", "found", NULL);
	net_node(n, "Gather", "boxes,found", "picked", NULL);
	net_node(n, "MatMul", "picked,w", "y", NULL);
	net_node(n, "Relu", "x", "z", NULL);
	net_output(n, "y", NULL);
	net_output(n, "z", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	if (ok(p != NULL, "a size that depends on data")) {
		is_shape(p, "found", "1x?<=100");
		is_shape(p, "y", "1x?<=100x8");
		const struct plan_layer *l = &p->layers[2];
		ok(l->upto && l->proxy && p->upto && !p->layers[3].upto, "is marked");
		near(l->flops, 6400, 1e-12, "FLOPs at most");
		is_str(problem_of(p, 2), "matmul:f32,f32.c,f32/f32:ba1bb1m100n8k4:ta0tb0",
			"measured at its bound");
		is_int(p->unknown_flops_layers, 0, "no FLOPs are unknown");
	}
	plan_free(p);
	net_free(n);
}

/* What declared names of dimensions say of what no rule knows. */
static void test_expressions(void)
{
	static const char *const names[][3] = {
		{ "(h - 1)//2 + 1", "floor((h+1)/2)", "4" },
		{ "floor(w/2 - 1/2)", "(floor((w+1)/2)-1)", "4" },
		{ "ceiling(h/3)", "floor((h+2)/3)", "3" },
		{ "Max(1, h - w)", "max(h-w,1)", "1" },
		{ "min(h,w,5)", "min(min(h,w),5)", "5" },
		{ "2*(h + w)/2", "(h+w)", "17" },
		{ "FloorDiv(h*w, 4)", "floor(h*w/4)", "17" },
		{ "-h + 2*h*w/w", "h", "7" },
		{ "h/2", "h/2", "h/2" },
		{ "floor(h/2", "floor(h/2", "floor(h/2" },
		{ "h(w)", "h(w)", "h(w)" },
		{ "h//0", "h//0", "h//0" },
		{ "((((((((((((((((((h))))))))))))))))))", "((((((((((((((((((h))))))))))))))))))",
			"((((((((((((((((((h))))))))))))))))))" },
	};
	struct dim_binding bound[] = { { TEXT("h"), 7 }, { TEXT("w"), 10 } };
	struct net *n = net_begin(17);
	net_input(n, "x", DTYPE_F32, "h,w");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *name = arena_printf(&n->m.arena, "y%zu", i);
		net_node(n, "Frobnicate", "x", name, NULL)->domain = TEXT("my");
		net_output(n, name, NULL);
	}
	/* Names with commas cannot be told in a list of dimensions. */
	for (int i = 0; i < n->g.value_count; i++) {
		struct value *v = &n->g.values[i];
		int64_t k;
		if (v->name.p[0] != 'y' || !text_to_int64((struct text){ v->name.p + 1, v->name.n - 1 }, &k))
			continue;
		v->shape = shape_make(&n->m.arena, 1);
		v->shape.dims[0] = dim_symbol(&n->m.arena, text_of(names[k][0]));
	}
	for (int with = 0; with < 2; with++) {
		struct plan *p =
			net_plan(n, (struct plan_options){ .binding_count = 2 * with, .bindings = bound });
		for (size_t i = 0; p && i < sizeof(names) / sizeof(names[0]); i++)
			is_shape(p, arena_printf(&n->m.arena, "y%zu", i), names[i][1 + with]);
		ok(p != NULL, "names that are expressions, and names that are not");
		plan_free(p);
	}
	net_free(n);
}

static void test_unknown(void)
{
	struct net *n = net_begin(17);
	net_input(n, "x", DTYPE_F32, "1,4,8,8");
	net_weight(n, "w", "4,4,1,1");
	net_node(n, "Conv", "x,w", "a", NULL);
	net_node(n, "Frobnicate", "a", "b,c", NULL)->domain = TEXT("my");
	net_node(n, "Conv", "b,w", "y", NULL);
	net_node(n, "Frobnicate", "y", "z", NULL)->domain = TEXT("my");
	net_declare(n, "b", DTYPE_F32, "1,4,6,6");
	net_output(n, "y", "1,4,5,6");
	net_output(n, "c", NULL);
	net_output(n, "z", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	if (ok(p != NULL, "an unknown operator in the middle")) {
		is_int(p->layers[1].class, CLASS_UNKNOWN, "its class");
		is_str(problem_of(p, 1), "operator Frobnicate is not known", "and why it has no problem");
		is_shape(p, "y", "1x4x6x6");
		is_shape(p, "c", "?");
		is_int(p->unknown_shapes, 2, "two outputs are unknown");
		is_int(p->unknown_flops_layers, 2, "so is their work");
		ok(p->problem_count == 2 && !isnan(p->flops), "the rest is known");
		ok(warned(p, "my.Frobnicate") && warned(p, "2 layers without cost"),
			"one warning for the operator");
		ok(warned(p, "value y: the file declares shape 1x4x5x6, its operators give 1x4x6x6"),
			"a contradiction warns");
		ints_are(p->layers[2].preds, p->layers[2].pred_count, "1", "edges go on through it");
	}
	plan_free(p);
	p = net_plan(n, (struct plan_options){ .batch = 2 });
	if (ok(p != NULL, "at another batch")) {
		is_shape(p, "a", "2x4x8x8");
		is_shape(p, "b", "?x?x?x?");
		ok(!warned(p, "declares shape"), "declared numbers are not held against it");
	}
	plan_free(p);
	net_free(n);
}

/* Exporters leave a recurrent layer's states out where the last is all they want. */
static void test_last_state(void)
{
	struct net *n = net_begin(14);
	net_input(n, "x", DTYPE_F32, "7,2,8");
	net_weight(n, "w", "1,64,8");
	net_weight(n, "r", "1,64,16");
	net_node(n, "LSTM", "x,w,r", ",last", NULL);
	net_output(n, "last", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	is_str(problem_of(p, 0), "rnn:f32,f32.c,f32:lstm:t7n2i8h16d1",
		"a recurrent layer whose states nobody reads");
	plan_free(p);
	net_free(n);
}

/* A layer whose dimension could not be computed names a symbol that it depends on, not the model's first. */
static void test_needed_symbol(void)
{
	struct net *n = net_begin(17);
	net_input(n, "x", DTYPE_F32, "1,a");
	net_input(n, "y", DTYPE_F32, "1,b,b");
	net_node(n, "Relu", "x", "r", NULL);
	net_node(n, "NonZero", "y", "at", NULL);
	net_node(n, "Cast", "at", "f", "to=1");
	net_node(n, "Softmax", "f", "q", "axis=0");
	net_output(n, "r", NULL);
	net_output(n, "q", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	is_str(problem_of(p, 0), "a is not bound: give --dim a=VALUE", "its own symbol");
	is_str(problem_of(p, 3), "b is not bound: give --dim b=VALUE",
		"the symbol behind an unknown dimension");
	plan_free(p);
	net_free(n);
}

static void test_declared_types(void)
{
	struct net *n = net_begin(17);
	net_input(n, "x", DTYPE_F32, "1,4");
	net_node(n, "Relu", "x", "w", NULL);
	net_node(n, "Neg", "w", "y", NULL);
	net_declare(n, "w", DTYPE_BF16, "1,4");
	net_declare(n, "y", DTYPE_F16, "1,4");
	net_output(n, "y", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	is_int(p->warning_count, 2, "two wrong types, two warnings");
	ok(warned(p,
		   "output y: the file declares type f16, its operators give f32; ONNX Runtime refuses the "
		   "model"),
		"of an output");
	ok(warned(p, "value w: the file declares type bf16, its operators give f32"), "of a value");
	plan_free(p);
	p = net_plan(n, (struct plan_options){ .dtype = DTYPE_BF16 });
	is_int(p->warning_count, 0, "a plan with another float type has other types");
	plan_free(p);
	net_free(n);
}

static void test_contradiction(void)
{
	struct net *n = net_begin(17);
	net_input(n, "x", DTYPE_F32, "1,3,8,8");
	net_weight(n, "w", "4,4,1,1");
	net_node(n, "Conv", "x,w", "y", NULL);
	net_output(n, "y", NULL);
	ok(!net_plan(n, (struct plan_options){ 0 }) &&
			strstr(net_error.text, "layer Conv_0") == net_error.text,
		"a contradiction names its layer");
	net_free(n);
	n = net_begin(17);
	net_input(n, "x", DTYPE_F32, "batch,s,8");
	net_input(n, "y", DTYPE_F32, "batch,t,8");
	net_node(n, "Add", "x,y", "z", NULL);
	net_output(n, "z", NULL);
	struct dim_binding bound[] = { { TEXT("s"), 2 }, { TEXT("t"), 3 } };
	ok(!net_plan(n, (struct plan_options){ .binding_count = 2, .bindings = bound }) &&
			strstr(net_error.text, "with s=2, t=3: layer Add_0: ") == net_error.text,
		"and the given sizes");
	net_free(n);
	n = net_begin(17);
	net_input(n, "x", DTYPE_F32, "batch,4");
	net_ints(n, "k", "9");
	net_node(n, "TopK", "x,k", "v,i", "axis=1");
	net_output(n, "v", NULL);
	ok(!net_plan(n, (struct plan_options){ 0 }) &&
			strstr(net_error.text, "layer TopK_0") == net_error.text,
		"the default batch is not blamed");
	net_free(n);
	n = net_begin(17);
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_F16 });
	ok(p && p->layer_count == 0 && p->peak_live_bytes == 0 && p->batch == 0, "an empty graph is a plan");
	plan_free(p);
	ok(!net_plan(n, (struct plan_options){ .batch = 2 }), "but has no batch");
	net_free(n);
}

/* A batch of 1 that nobody gave never refuses: the file's own number is taken, or none. */
static void test_guess(void)
{
	struct net *n = net_begin(17);
	net_input(n, "x", DTYPE_F32, "batch,6");
	net_ints(n, "target", "4,-1");
	net_node(n, "Reshape", "x,target", "y", NULL);
	net_output(n, "y", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	is_shape(p, "y", "4x6");
	ok(p && p->batch == 4 && p->binding_sources[0] == PLAN_DIM_FIXED, "the batch of the Reshape");
	ok(warned(p, "the batch is 4: the default of 1 does not fit: layer Reshape_0: "), "... is said");
	plan_free(p);
	ok(!net_plan(n, (struct plan_options){ .batch = 1 }) && strstr(net_error.text, "bakes batch 4"),
		"a given batch of 1 is refused");
	net_free(n);
	n = net_begin(17);
	net_input(n, "x", DTYPE_F32, "N,4");
	net_ints(n, "k", "3");
	net_node(n, "TopK", "x,k", "v,i", "axis=0");
	net_node(n, "Relu", "v", "y", NULL);
	net_output(n, "y", NULL);
	p = net_plan(n, (struct plan_options){ 0 });
	is_shape(p, "y", "3x4");
	ok(p && p->batch == 0 && p->unbound_count == 1, "several batches fit: none is taken");
	ok(warned(p, "the batch is not set: the default of 1 does not fit: layer TopK_0: "),
		"... is said");
	plan_free(p);
	net_free(n);
	n = net_begin(17);
	net_input(n, "x", DTYPE_F32, "N,4");
	net_node(n, "Relu", "x", "y", NULL);
	net_output(n, "y", "3,4");
	p = net_plan(n, (struct plan_options){ 0 });
	is_shape(p, "y", "3x4");
	ok(warned(p, "the batch is 3: the default of 1 does not fit: value y: the file declares"),
		"the declared batch");
	plan_free(p);
	p = net_plan(n, (struct plan_options){ .batch = 2 });
	is_shape(p, "y", "2x4");
	ok(warned(p, "value y: the file declares shape 3x4, its operators give 2x4"), "not a given one");
	plan_free(p);
	net_free(n);
	n = net_begin(17);
	net_input(n, "x", DTYPE_F32, "?,4");
	net_input(n, "z", DTYPE_F32, "?,4");
	net_node(n, "Add", "x,z", "y", NULL);
	net_output(n, "y", NULL);
	struct plan_input_shape given = { TEXT("x"), 2, { 5, 4 } };
	p = net_plan(n, (struct plan_options){ .shape_count = 1, .shapes = &given });
	is_shape(p, "z", "5x4");
	plan_free(p);
	net_free(n);
}

/* A newer version of an operator may have more inputs: that is said once, and they are left out. */
static void test_more_inputs(void)
{
	struct net *n = net_begin(17);
	net_input(n, "x", DTYPE_F32, "2,4");
	net_input(n, "more", DTYPE_F32, "3");
	net_node(n, "Relu", "x,more", "y", NULL);
	net_node(n, "Relu", "y,more", "z", NULL);
	net_output(n, "z", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	is_shape(p, "z", "2x4");
	ok(p && p->warning_count == 1 &&
			warned(p, "layer Relu_0: Relu: 1 more input than the 1 known, ignored"),
		"one warning");
	is_int(p ? (int)p->layers[0].bytes : -1, 64, "the bytes of what is known");
	plan_free(p);
	net_free(n);
}

/* Returns the model in these bytes, or NULL after a failed check. */
static struct model *model_of(const struct str *bytes)
{
	char path[] = "/tmp/benanza-test.XXXXXX";
	int fd = mkstemp(path);
	ok(fd >= 0 && write(fd, bytes->p, bytes->n) == (ssize_t)bytes->n, "a file");
	close(fd);
	struct model *m = model_load(path, &net_error);
	ok(m != NULL, "it is a model %s", net_error.text);
	remove(path);
	return m;
}

/* Layers of a plan as a model of their own: its inputs have the plan's shapes, and constants their contents.
 */
static void test_write(void)
{
	struct net *n = net_begin(17);
	struct arena a = { 0 };
	struct str out = { 0 };
	net_input(n, "x", DTYPE_F32, "batch,6");
	net_weight(n, "w", "6,4");
	net_ints(n, "target", "2,-1");
	net_node(n, "Relu", "x", "r", NULL);
	net_node(n, "MatMul", "r,w", "m", NULL);
	net_node(n, "Reshape", "m,target", "y", NULL);
	net_output(n, "y", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ .batch = 3 });
	const int last[] = { 1, 2 };
	is_int(p ? plan_write(p, last, 2, WRITE_FILLED, 1, &out, &net_error) : -1, 0, "two layers: %s",
		net_error.text);
	plan_free(p);
	struct model *m = model_of(&out);
	if (m) {
		is_int(m->graph->input_count, 1, "one input");
		const struct value *r = &m->graph->values[m->graph->inputs[0]];
		ok(text_is(r->name, "r"), "what the first layer reads");
		is_str(shape_text(&a, r->shape), "3x6", "with the batch of the plan");
		struct plan *again = plan_build(m, &(struct plan_options){ 0 }, &net_error);
		is_shape(again, "y", "2x6");
		plan_free(again);
	}
	model_free(m);
	str_clear(&out);
	p = net_plan(n, (struct plan_options){ .dtype = DTYPE_BF16 });
	ok(p && plan_write(p, last, 2, WRITE_FILLED, 1, &out, &net_error) == -1 &&
			strstr(net_error.text, "not in bf16"),
		"a plan in another type is refused: %s", net_error.text);
	plan_free(p);
	str_free(&out);
	arena_free(&a);
	net_free(n);
}

/* A constant that the plan computed is written with its contents. */
static void test_write_computed(void)
{
	struct net *n = net_begin(17);
	struct str out = { 0 };
	net_input(n, "x", DTYPE_F32, "batch,6");
	net_input(n, "like", DTYPE_F32, "2,9");
	net_node(n, "Shape", "like", "s", NULL);
	net_node(n, "Reshape", "x,s", "y", NULL);
	net_output(n, "y", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ .batch = 3 });
	const int last = 1;
	is_int(p ? plan_write(p, &last, 1, WRITE_FILLED, 1, &out, &net_error) : -1, 0, "a Reshape: %s",
		net_error.text);
	plan_free(p);
	struct model *m = model_of(&out);
	if (m) {
		is_int(m->graph->input_count, 1, "the shape is no input");
		struct plan *again = plan_build(m, &(struct plan_options){ 0 }, &net_error);
		is_shape(again, "y", "2x9");
		plan_free(again);
	}
	model_free(m);
	str_free(&out);
	net_free(n);
}

/* Symbols of inner values and expressions need no binding: only those of inputs do. */
static void test_unbound(void)
{
	struct net *n = net_begin(17);
	net_input(n, "x", DTYPE_F32, "batch,seq,8");
	net_input(n, "z", DTYPE_F32, "batch,seq+1,8");
	net_node(n, "Relu", "x", "r", NULL);
	net_node(n, "NonZero", "r", "i", NULL);
	net_declare(n, "i", DTYPE_S64, "3,found");
	net_output(n, "i", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	ok(p && p->unbound_count == 1 && text_is(p->unbound[0], "seq"), "only seq has no value");
	plan_free(p);
	net_free(n);
}

/* Twins with channels last: of convolutions and what reads planes, not of matrices or what has no order. */
static void test_twins(void)
{
	static const struct {
		const char *text, *twin;
	} rows[] = {
		{ "conv:f32,f32.c,f32/f32:n1c8h7w7k8r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1",
			"conv:f32@nxc,f32.c@nxc,f32@nxc/f32:n1c8h7w7k8r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1" },
		{ "pool:f32,f32:max:n1c8h8w8r2s2:ph0pw0qh0qw0:sh2sw2:dh1dw1",
			"pool:f32@nxc,f32@nxc:max:n1c8h8w8r2s2:ph0pw0qh0qw0:sh2sw2:dh1dw1" },
		{ "reduce:f32,f32:mean:1x8x7x7:1x8x1x1", "reduce:f32@nxc,f32:mean:1x8x7x7:1x8x1x1" },
		/* one index in, or one index out */
		{ "resample:f32,f32:nearest:n1c8h1w1:oh7ow7",
			"resample:f32@nxc,f32@nxc:nearest:n1c8h1w1:oh7ow7" },
		{ "pool:f32,f32:max:n1c8h7w7r7s7:ph0pw0qh0qw0:sh1sw1:dh1dw1",
			"pool:f32@nxc,f32@nxc:max:n1c8h7w7r7s7:ph0pw0qh0qw0:sh1sw1:dh1dw1" },
		{ "eltwise:f32,f32:relu:1x8x7x7", NULL },
		{ "binary:f32,f32,f32:add:1x8x7x7:1x8x7x7", NULL },
		{ "conv:f32,f32.c,f32/f32:n1c8h1w1k8r1s1:ph0pw0qh0qw0:sh1sw1:dh1dw1:g1", NULL },
		{ "softmax:f32,f32:soft:1x8x7x7:ax3", NULL },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct problem p, twin;
		struct error err = ERROR_NONE;
		char text[PROBLEM_TEXT_SIZE] = "";
		ok(problem_parse(text_of(rows[i].text), &p, &err) == 0, "%s %s", rows[i].text, err.text);
		bool has = plan_twin(&p, &twin);
		is_int(has, rows[i].twin != NULL, "has a twin");
		if (has && problem_format(&twin, text, &err) == 0)
			is_str(text, rows[i].twin, "the twin");
	}
}

/* If with bodies that capture values: each body is a plan, each capture an edge. */
static void test_bodies(void)
{
	struct net *n = net_begin(17), *bodies[2];
	net_input(n, "x", DTYPE_F32, "1,8");
	net_input(n, "flag", DTYPE_BOOL, "");
	net_weight(n, "w", "8,4");
	net_node(n, "Relu", "x", "r", NULL);
	struct node *branch = net_node(n, "If", "flag", "y", NULL);
	for (int i = 0; i < 2; i++) {
		bodies[i] = net_body(n);
		net_node(bodies[i], "MatMul", "r,w", "inner", NULL);
		net_output(bodies[i], "inner", NULL);
		net_node_body(branch, i ? "else_branch" : "then_branch", bodies[i]);
	}
	net_node(n, "Neg", "y", "z", NULL);
	net_output(n, "z", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ .dtype = DTYPE_BF16 });
	if (ok(p != NULL, "a graph with subgraphs")) {
		const struct plan_layer *l = &p->layers[1];
		is_int(l->body_count, 2, "two bodies");
		ints_are(l->preds, l->pred_count, "0", "what they capture is an edge");
		is_int(net_planned(p, "r")->consumer_count, 1, "and a reader");
		is_shape(&l->bodies[1], "inner", "1x4");
		is_str(problem_of(&l->bodies[0], 0), "matmul:bf16,bf16.c,bf16/f32:ba1bb1m1n4k8:ta0tb0",
			"priced by itself");
		is_shape(p, "z", "1x4");
		ok(l->at_least && l->flops == 64 && p->flops == l->flops + 8 + 4, "and part of the totals");
		is_str(l->why, "the condition is not known: the cheaper branch is counted",
			"with the reason");
		is_int(p->problem_count, 5, "in the list of the whole plan");
		is_int(p->border_count, 2, "casts of x and z");
	}
	plan_free(p);
	net_free(bodies[0]);
	net_free(bodies[1]);
	net_free(n);
}

/* A body that contradicts itself may never run: a warning, and no rule meets the call again. */
static void test_bad_body(void)
{
	struct net *n = net_begin(17), *body = net_body(n);
	net_input(n, "x", DTYPE_F32, "1,8");
	net_input(n, "flag", DTYPE_BOOL, "");
	net_input(n, "image", DTYPE_F32, "1,1,4,4");
	struct node *branch = net_node(n, "If", "flag", "y", NULL);
	net_node(body, "MatMul", "x,x", "inner", NULL);
	net_node(body, "Add", "x", "half", NULL);
	net_node(body, "MaxPool", "image", ",places", "kernel_shape=2,2");
	net_node(body, "Relu", "x", "", NULL);
	net_output(body, "inner", NULL);
	net_node_body(branch, "then_branch", body);
	net_output(n, "y", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	if (ok(p != NULL, "a body that contradicts itself")) {
		const struct plan *inner = &p->layers[0].bodies[0];
		ok(warned(p, "in a subgraph, layer MatMul_0: MatMul: shapes 1x8 and 1x8 do not multiply"),
			"is a warning");
		ok(strstr(problem_of(inner, 0), "do not multiply") && isnan(inner->layers[0].flops),
			"without a cost");
		ok(strstr(problem_of(inner, 1), "input 1 is missing") != NULL, "nor has one without inputs");
		is_str(problem_of(inner, 2), "its first output is left out",
			"nor one without its first output");
		is_int(inner->layers[3].class, CLASS_FREE, "a layer whose result nobody uses is free");
		ok(!warned(p, "is not known: 2"), "their operators are known");
	}
	plan_free(p);
	net_free(body);
	net_free(n);
}

static void test_many(int count, bool wide)
{
	struct net *n = net_begin(17);
	net_input(n, "v0", DTYPE_F32, "1,16");
	for (int i = 0; i < count; i++) {
		char in[64], out[64];
		snprintf(in, sizeof(in), wide ? "v0" : "v%d", i);
		snprintf(out, sizeof(out), "v%d", i + 1);
		net_node(n, i % 2 ? "Relu" : "Sigmoid", in, out, NULL);
	}
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	if (ok(p != NULL, "%d layers, %s", count, wide ? "wide" : "deep")) {
		is_int(p->problem_count, 2, "two problems");
		is_int(p->layers[count - 1].pred_count, wide ? 0 : 1, "edges");
		is_int(net_planned(p, "v0")->consumer_count, wide ? count : 1, "readers");
		ok(p->arena.total < (size_t)count * 2000 + 20000, "%zu bytes: linear", p->arena.total);
	}
	plan_free(p);
	net_free(n);
}

/* Many symbols, each a batch; many warnings; many contents. */
static void test_hostile(void)
{
	struct net *n = net_begin(17);
	for (int i = 0; i < 3000; i++) {
		char name[64], out[64], dims[64];
		snprintf(name, sizeof(name), "x%d", i);
		snprintf(out, sizeof(out), "y%d", i);
		snprintf(dims, sizeof(dims), "batch%d,4", i);
		net_input(n, name, DTYPE_F32, dims);
		net_node(n, "Relu", name, out, NULL);
		net_declare(n, out, DTYPE_F32, "1,5");
	}
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	if (ok(p != NULL, "thousands of symbols and contradictions")) {
		is_int(p->binding_count, 3000, "all are batches");
		is_int(p->problem_count, 1, "all layers alike");
		is_int(p->warning_count, 51, "warnings are capped");
		is_str(p->warnings[50], "and 2950 more warnings", "and counted");
	}
	plan_free(p);
	net_free(n);
}

/* The bundled models at their default sizes: nothing unknown, nothing without a problem, and the work that is
 * published for them (multiply-adds counted 2). */
static void test_bundled(void)
{
	static const struct {
		const char *name;
		double gflops, tolerance;
	} models[] = {
		{ "resnet50", 8.2, 0.01 },
		{ "mobilenet_v2", 0.61, 0.03 },
		{ "googlenet", 3.2, 0.05 },
		{ "bert_base", 22.4, 0.01 },
		{ "gpt2_small", 0.25, 0.03 },
		{ "yolov8n", 8.7, 0.03 },
	};
	struct dim_binding sizes[] = { { TEXT("sequence"), 128 }, { TEXT("past_sequence"), 128 },
		{ TEXT("total_sequence"), 129 } };
	const char *srcdir = getenv("srcdir");
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		char path[1024];
		bool bert = strcmp(models[i].name, "bert_base") == 0,
		     gpt = strcmp(models[i].name, "gpt2_small") == 0;
		snprintf(path, sizeof(path), "%s/data/models/%s.onnx", srcdir ? srcdir : ".", models[i].name);
		struct model *m = model_load(path, &net_error);
		sizes[0].value = gpt ? 1 : 128;
		struct plan_options o = { .bindings = sizes, .binding_count = gpt ? 3 : bert };
		struct plan *p = m ? plan_build(m, &o, &net_error) : NULL;
		if (ok(p != NULL, "%s", models[i].name)) {
			int without = 0;
			for (int j = 0; j < p->layer_count; j++)
				without += p->layers[j].class != CLASS_FREE && p->layers[j].problem < 0;
			is_int(p->unknown_shapes + p->unbound_count, 0, "%s: every shape is known",
				models[i].name);
			is_int(without, 0, "%s: every layer that is not free has a problem", models[i].name);
			near(p->flops / 1e9, models[i].gflops, models[i].tolerance, "%s: GFLOPs",
				models[i].name);
			is_int(p->warning_count, 0, "%s: no warnings", models[i].name);
		} else {
			printf("# %s\n", net_error.text);
		}
		plan_free(p);
		model_free(m);
	}
}

/* An attribute that could not be read is not one that is absent. */
static void test_unread_attribute(void)
{
	struct net *n = net_begin(17);
	struct plan_options o = { .dtype = DTYPE_F32 };
	net_input(n, "x", DTYPE_F32, "2,3,4");
	struct node *turn = net_node(n, "Transpose", "x", "y", "perm=0,2,1");
	turn->attributes[0].kind = ATTRIBUTE_OTHER;
	net_output(n, "y", NULL);
	struct plan *p = plan_build(net_model(n), &o, &net_error);
	if (ok(p != NULL, "a list that cannot be read (%s)", net_error.text)) {
		const struct plan_layer *l = &p->layers[0];
		is_int(p->values[l->outputs[0]].shape.rank, -1, "the shape is not known");
		ok(isnan(l->bytes), "nor what it costs");
		is_str(l->why ? l->why : "", "attribute perm is too long, or not of its kind", "and why");
	}
	plan_free(p);
	net_free(n);
}

int main(void)
{
	test_unread_attribute();
	test_residual();
	test_overwrites();
	test_overwrites_folded();
	test_overwrites_shared();
	test_dtype();
	test_own_types();
	test_dtype_without_casts();
	test_made_up_names();
	test_given_values();
	test_given_values_shape();
	test_given_values_cost();
	test_given_many();
	test_needs();
	test_sentinel_bounds();
	test_absurd_bounds();
	test_declared_bounds();
	test_batch();
	test_sources();
	test_batch_followers();
	test_batch_names();
	test_batch_other();
	test_symbols();
	test_baked();
	test_propagation();
	test_bounds();
	test_expressions();
	test_unknown();
	test_last_state();
	test_needed_symbol();
	test_declared_types();
	test_contradiction();
	test_guess();
	test_more_inputs();
	test_write();
	test_write_computed();
	test_unbound();
	test_twins();
	test_bodies();
	test_bad_body();
	test_many(1000, false);
	test_many(100000, false);
	test_many(20000, true);
	test_hostile();
	test_bundled();
	return done_testing();
}
