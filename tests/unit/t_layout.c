#include "config.h"

#include "make_plan.h"
#include "tap.h"

#include <unistd.h>

/* The channels-last side of plans: who lies so, which problems that makes, and where a conversion stands. */

#define IMAGE "1x64x56x56"
#define CONV "conv:f32,f32.c,f32/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"
#define CONV_NXC "conv:f32@nxc,f32.c@nxc,f32@nxc/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"
#define RELU "eltwise:f32,f32:relu:" IMAGE
#define ADD "binary:f32,f32,f32:add:" IMAGE ":" IMAGE
#define SOFTMAX "softmax:f32,f32:soft:" IMAGE ":ax3"
#define POOL "pool:f32,f32:avg_include:n1c64h56w56r56s56:ph0pw0qh0qw0:sh1sw1:dh1dw1"
#define TO_NXC "transpose:f32,f32:64x3136:perm1x0"
#define TO_NCX "transpose:f32,f32:3136x64:perm1x0"

static int conv(struct maker *m, int x)
{
	return make_layer(m, "Conv", CONV, IMAGE, x, make_constant(m, "64x64x3x3"));
}

static const char *twin_text(const struct plan *p, int layer)
{
	int index = p->layers[layer].problem_nxc;
	return index < 0 ? "none" : p->problems[index].text;
}

static void is_conversion(const struct plan *p, int i, int value, const char *text, int consumers)
{
	const struct plan_conversion *c = &p->conversions[i];
	if (!ok(i < p->conversion_count, "conversion %d is there", i))
		return;
	is_int(c->value, value, "... of value %d", value);
	is_str(c->problem < 0 ? "none" : p->problems[c->problem].text, text, "... as %s", text);
	is_int(c->consumer_count, consumers, "... for %d readers", consumers);
}

/* input -> conv -> relu -> add(relu, conv) -> global pool -> reshape -> gemm */
static void network(void)
{
	struct maker *m = make_begin();
	int x = make_input(m, IMAGE), a = conv(m, x), r = make_layer(m, "Relu", RELU, IMAGE, a, -1);
	int s = make_layer(m, "Add", ADD, IMAGE, r, a);
	int g = make_layer(m, "GlobalAveragePool", POOL, "1x64x1x1", s, -1);
	int f = make_layer(m, "Reshape", NULL, "1x64", g, make_constant(m, "2"));
	int y = make_layer(m, "MatMul", "matmul:f32,f32.c,f32/f32:ba1bb1m1n10k64:ta0tb0", "1x10", f,
		make_constant(m, "64x10"));
	m->plan.values[y].is_output = true;
	struct plan *p = make_finish(m);
	ok(p->nxc, "there is a channels-last side");
	is_str(twin_text(p, 0), CONV_NXC, "the convolution has a twin");
	is_str(twin_text(p, 1), RELU, "element by element is the same work");
	is_str(twin_text(p, 2), ADD, "so is a sum of equal shapes");
	ok(strstr(twin_text(p, 3), "pool:f32@nxc,f32@nxc:") != NULL, "the pooling has a twin");
	is_int(p->layers[4].problem_nxc, -1, "what is free stays free");
	is_int(p->layers[5].problem_nxc, p->layers[5].problem, "the matrix product is itself");
	is_int(p->conversion_count, 1, "one conversion: none where a channel is one place");
	is_conversion(p, 0, x, TO_NXC, 1);
	ok(p->problem_count == 5 && p->nxc_problem_count == 3,
		"two twins and a transpose behind the plan's own");
	ok(p->values[s].nxc && !p->values[x].nxc && !p->values[g].nxc && !p->values[y].nxc,
		"who lies channels last");
	make_end(m);
}

/* Both ways, once a value however many readers, and at the model's output. */
static void borders(void)
{
	struct maker *m = make_begin();
	int x = make_input(m, IMAGE), a = conv(m, x), b = conv(m, x);
	make_layer(m, "Softmax", SOFTMAX, IMAGE, a, -1);
	int t = make_layer(m, "Softmax", SOFTMAX, IMAGE, a, -1);
	int c = conv(m, t), s = make_layer(m, "Add", ADD, IMAGE, b, t);
	make_layer(m, "Shape", NULL, "4", b, -1);
	m->plan.values[s].is_output = true;
	struct plan *p = make_finish(m);
	is_int(p->conversion_count, 4, "four values are wanted both ways");
	is_conversion(p, 0, x, TO_NXC, 2);
	is_conversion(p, 1, a, TO_NCX, 2);
	is_conversion(p, 2, t, TO_NXC, 2);
	is_conversion(p, 3, s, TO_NCX, 0);
	ok(!p->values[t].nxc && p->values[c].nxc, "a softmax needs ONNX order");
	make_end(m);
}

static void broadcasts(void)
{
	struct maker *m = make_begin();
	int a = conv(m, make_input(m, IMAGE));
	int g = make_layer(m, "GlobalAveragePool", POOL, "1x64x1x1", a, -1);
	int s = make_layer(m, "Mul", "binary:f32,f32,f32:mul:" IMAGE ":1x64x1x1", IMAGE, a, g);
	s = make_layer(m, "Concat", "concat:f32,f32:" IMAGE "," IMAGE ":ax1", "1x128x56x56", s, a);
	int k = make_constant(m, "1x64x1x1");
	make_layer(m, "Mul", "binary:f32,f32.c,f32:mul:1x64x1x1:1x64x1x1", "1x64x1x1", g, k);
	int plane = make_input(m, "64x56x56");
	make_layer(m, "Add", "binary:f32,f32,f32:add:" IMAGE ":64x56x56", IMAGE, a, plane);
	struct plan *p = make_finish(m);
	is_str(twin_text(p, 2), "binary:f32@nxc,f32@nxc,f32@nxc:mul:" IMAGE ":1x64x1x1",
		"a broadcast has a twin");
	is_str(twin_text(p, 3), "concat:f32@nxc,f32@nxc:" IMAGE "," IMAGE ":ax1", "so has a concat");
	is_int(p->layers[4].problem_nxc, p->layers[4].problem, "one place has none");
	is_int(p->layers[5].problem_nxc, p->layers[5].problem, "what cannot be taken so stays in ONNX order");
	is_int(p->conversion_count, 2, "... and its image is converted");
	is_conversion(p, 1, a, TO_NCX, 1);
	(void)s;
	make_end(m);
}

/* What no convolution feeds stays in ONNX order, up to the first one. */
static void before(void)
{
	struct maker *m = make_begin();
	int x = make_input(m, IMAGE), y = make_input(m, IMAGE);
	int r = make_layer(m, "Relu", RELU, IMAGE, x, -1), s = make_layer(m, "Add", ADD, IMAGE, r, y);
	int c = conv(m, s), t = make_layer(m, "Add", ADD, IMAGE, c, r);
	struct plan *p = make_finish(m);
	ok(!p->values[r].nxc && !p->values[s].nxc, "before the convolution: ONNX order");
	ok(p->values[c].nxc && p->values[t].nxc, "behind it: channels last");
	is_int(p->conversion_count, 2, "two values are converted");
	is_conversion(p, 0, r, TO_NXC, 1);
	is_conversion(p, 1, s, TO_NXC, 1);
	make_end(m);
}

/* Which inputs of fewer dimensions keep a sum from working channels last: those with two dimensions above 1.
 */
static void lower_ranks(void)
{
	static const struct {
		const char *shape;
		bool nxc;
	} rows[] = { { "64x56x56", false }, { "1x56x56", false }, { "64x1x56", false }, { "64x1x1", true },
		{ "1x1x1", true } };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct maker *m = make_begin();
		char problem[100];
		int a = conv(m, make_input(m, IMAGE)), x = make_input(m, rows[i].shape);
		snprintf(problem, sizeof(problem), "binary:f32,f32,f32:add:" IMAGE ":%s", rows[i].shape);
		int s = make_layer(m, "Add", problem, IMAGE, a, x);
		struct plan *p = make_finish(m);
		is_int(p->values[s].nxc, rows[i].nxc, "a sum with %s is channels last", rows[i].shape);
		make_end(m);
	}
}

/* Splits work in either layout, a Reshape to the same shape hands on, another does not. */
static void movers(void)
{
	struct maker *m = make_begin();
	int a = conv(m, make_input(m, IMAGE));
	int s = make_layer(m, "Split", "copy:u8,u8:b401408", "1x32x56x56", a, -1);
	int r = make_layer(m, "Reshape", NULL, "1x32x56x56", s, make_constant(m, "4"));
	int q = make_layer(m, "Reshape", NULL, "1x32x3136", r, make_constant(m, "3"));
	struct plan *p = make_finish(m);
	ok(p->values[s].nxc && p->values[r].nxc && !p->values[q].nxc, "as far as the shape stays");
	is_int(p->conversion_count, 2, "a conversion in front of the other reshape");
	is_conversion(p, 1, r, "transpose:f32,f32:3136x32:perm1x0", 1);
	make_end(m);
}

/* Where(c, a, b) of one shape is element by element; one that broadcasts needs ONNX order. */
static void choices(void)
{
	struct maker *m = make_begin();
	int a = conv(m, make_input(m, IMAGE));
	int three[3] = { make_input(m, IMAGE), a, make_scalar(m, 0) };
	int s = make_layer_n(m, "Where", "select:bool,f32,f32,f32:" IMAGE ":" IMAGE ":1", IMAGE, 3, three);
	three[0] = make_input(m, "1x1x56x56");
	int t = make_layer_n(m, "Where", "select:bool,f32,f32,f32:1x1x56x56:" IMAGE ":1", IMAGE, 3, three);
	struct plan *p = make_finish(m);
	ok(p->values[s].nxc && !p->values[t].nxc, "a choice element by element lies as its image");
	is_int(p->layers[1].problem_nxc, p->layers[1].problem, "... and is the same work");
	is_int(p->conversion_count, 3, "image, condition, and the other choice's image");
	make_end(m);
}

static void nothing(void)
{
	struct maker *m = make_begin();
	make_layer(m, "Relu", RELU, IMAGE, make_input(m, IMAGE), -1);
	struct plan *p = make_finish(m);
	ok(!p->nxc && !p->conversion_count && !p->nxc_problem_count,
		"without convolutions there is no other side");
	make_end(m);
	m = make_begin();
	int x = make_input(m, "1x8x1x1");
	make_layer(m, "Conv", "conv:f32,f32.c,f32/f32:n1c8h1w1k8r1s1:ph0pw0qh0qw0:sh1sw1:dh1dw1:g1",
		"1x8x1x1", x, make_constant(m, "8x8x1x1"));
	ok(!make_finish(m)->nxc, "nor where one place has all channels");
	make_end(m);
}

static void batches(void)
{
	struct maker *m = make_begin();
	int x = make_input(m, "8x3x4x5x6");
	make_layer(m, "Relu", "eltwise:f32,f32:relu:8x3x4x5x6", "8x3x4x5x6",
		make_layer(m, "MaxPool",
			"pool:f32,f32:max:n8c3d4h5w6t1r1s1:pd0ph0pw0qd0qh0qw0:sd1sh1sw1:dd1dh1dw1",
			"8x3x4x5x6", x, -1),
		-1);
	struct plan *p = make_finish(m);
	is_conversion(p, 0, x, "transpose:f32,f32:8x3x120:perm0x2x1", 1);
	make_end(m);
}

static const struct {
	const char *name;
	int batch, conversions, twins; /* twins: layers that have one */
} models[] = {
	{ "resnet50", 0, 1, 108 },
	{ "resnet50", 8, 1, 108 },
	{ "mobilenet_v2", 0, 1, 105 },
	{ "googlenet", 0, 1, 82 },
	/* the image; three heads to their Reshapes; the sum of distances, a convolution behind a softmax */
	{ "yolov8n", 0, 5, 85 },
	{ "bert_base", 0, 0, 0 },
	{ "gpt2_small", 0, 0, 0 },
};

static void check_model(const char *name, int batch, int conversions, int twins)
{
	char path[1024];
	struct error err = ERROR_NONE;
	struct dim_binding dims[] = { { TEXT("batch"), 1 }, { TEXT("sequence"), 128 },
		{ TEXT("past_sequence"), 8 }, { TEXT("total_sequence"), 136 } };
	struct plan_options options = { .dtype = DTYPE_F16, .bindings = dims, .batch = batch };
	options.binding_count = strcmp(name, "bert_base") == 0 ? 2 : strcmp(name, "gpt2_small") == 0 ? 4 : 0;
	snprintf(path, sizeof(path), "%s/data/models/%s.onnx", getenv("abs_srcdir"), name);
	struct model *m = model_load(path, &err);
	struct plan *p = m ? plan_build(m, &options, &err) : NULL;
	if (!ok(p != NULL, "%s loads %s", name, err.text)) {
		model_free(m);
		return;
	}
	int have = 0;
	bool sound = true;
	for (int i = 0; i < p->layer_count; i++)
		have += p->layers[i].problem_nxc != p->layers[i].problem;
	for (int i = p->problem_count; i < p->problem_count + p->nxc_problem_count; i++) {
		struct problem back;
		char again[PROBLEM_TEXT_SIZE];
		const char *text = p->problems[i].text;
		sound &= problem_parse(text_of(text), &back, NULL) == 0 &&
			problem_format(&back, again, NULL) == 0 && strcmp(text, again) == 0 &&
			(strstr(text, "@nxc") || strncmp(text, "transpose", 9) == 0);
	}
	is_int(p->conversion_count, conversions, "%s: conversions", name);
	is_int(have, twins, "%s: layers with a twin", name);
	ok(sound, "%s: %d problems of that side read back", name, p->nxc_problem_count);
	plan_free(p);
	model_free(m);
}

int main(void)
{
	network();
	borders();
	before();
	lower_ranks();
	broadcasts();
	movers();
	choices();
	nothing();
	batches();
	for (size_t i = 0; getenv("abs_srcdir") && i < sizeof(models) / sizeof(models[0]); i++)
		check_model(models[i].name, models[i].batch, models[i].conversions, models[i].twins);
	return done_testing();
}
