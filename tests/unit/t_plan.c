/* Plans: tests/plan/plan.case; and what cannot be told there: plans written as models, twins, many layers,
 * the bundled models. */
#include "config.h"

#include "plan/plan.h"

#include <unistd.h>

#include "model/write.h"
#include "plan_cases.h"
#include "tap.h"

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
		case_is(again, "shape y", "2x6");
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
		case_is(again, "shape y", "2x9");
		plan_free(again);
	}
	model_free(m);
	str_free(&out);
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

int main(void)
{
	cases_run("tests/plan/plan.case", NULL);
	test_write();
	test_write_computed();
	test_twins();
	test_many(1000, false);
	test_many(100000, false);
	test_many(20000, true);
	test_hostile();
	test_bundled();
	return done_testing();
}
