/* The writer of ONNX models, on graphs made by hand: weights, names, and what it refuses.
 * tests/ort/write_onnx.py has real models. */
#include "config.h"

#include "model/tensor.h"
#include "model/write.h"
#include "store_help.h"

static struct error err;
static struct arena arena;

/* One node y = Op(x, w): x and y are activations of 2x3, w a constant of 1000x3. */
static struct node node;
static struct value values[3];
static struct graph graph;
static struct opset opset = { .version = 21 };
static struct model model;
static struct write_value types[3];
static struct write_request request;

static void make(void)
{
	static int inputs[] = { 0, 1 }, outputs[] = { 2 }, nodes[] = { 0 }, ends[] = { 2 };
	static const char *const names[] = { "x", "x\n", "x?" }; /* the last two are the same when cleaned */
	node = (struct node){ .name = TEXT("n"),
		.op = TEXT("Op"),
		.domain = TEXT("own"),
		.opset = 3,
		.input_count = 2,
		.inputs = inputs,
		.output_count = 1,
		.outputs = outputs };
	for (int i = 0; i < 3; i++)
		values[i] =
			(struct value){ .name = text_of(names[i]), .producer = i == 2 ? 0 : -1, .outer = -1 };
	graph = (struct graph){ .name = TEXT("g"),
		.node_count = 1,
		.nodes = &node,
		.value_count = 3,
		.values = values,
		.input_count = 1,
		.inputs = inputs,
		.output_count = 1,
		.outputs = ends };
	model = (struct model){
		.path = "m.onnx", .ir_version = 3, .opset_count = 1, .opsets = &opset, .graph = &graph
	};
	for (int i = 0; i < 3; i++)
		types[i] = (struct write_value){ .dtype = DTYPE_F32,
			.shape = shape_known(
				&arena, 2, i == 1 ? (const int64_t[]){ 1000, 3 } : (const int64_t[]){ 2, 3 }),
			.constant = i == 1 };
	request = (struct write_request){
		.model = &model, .graph = &graph, .node_count = 1, .nodes = nodes, .values = types
	};
	err.text[0] = '\0';
}

/* The model read again; NULL if it cannot be written or read. */
static struct model *again(size_t *bytes)
{
	struct str out = { 0 };
	if (model_write(&request, &out, &err))
		return NULL;
	file_write(scratch_path("w.onnx"), out.p, out.n);
	if (bytes)
		*bytes = out.n;
	str_free(&out);
	return model_load(scratch_path("w.onnx"), &err);
}

static const struct tensor *constant(const struct model *m, const char *name)
{
	for (int i = 0; i < m->graph->value_count; i++)
		if (text_is(m->graph->values[i].name, name))
			return m->graph->values[i].initializer;
	return NULL;
}

static void test_filled(void)
{
	size_t bytes;
	make();
	struct model *m = again(&bytes);
	ok(m && bytes < 400, "weights by ConstantOfShape: %zu bytes", m ? bytes : 0);
	if (!m)
		return;
	ok(m->graph->node_count == 2 && text_is(m->graph->nodes[0].op, "ConstantOfShape"), "two nodes");
	ok(text_is(m->graph->nodes[1].op, "Op") && text_is(m->graph->nodes[1].domain, "own") &&
			m->graph->nodes[1].opset == 3,
		"the node has its operator set");
	ok(m->ir_version == 10 && model_opset(m, TEXT("")) == 21,
		"the version of the format that came with the operators");
	ok(m->graph->input_count == 1 && m->graph->output_count == 1, "one input, one output");
	ok(constant(m, "x?_shape") && !m->warning_count, "names are cleaned and unique");
	ok(text_is(m->graph->values[m->graph->outputs[0]].name, "x?_2"),
		"a name that is taken gets a number");
	model_free(m);
	opset.version = 8;
	m = again(&bytes);
	ok(m && m->graph->node_count == 1 && bytes > 12000,
		"before version 9 of ai.onnx the weights are initializers");
	model_free(m);
	opset.version = 21;
}

/* The declared types of model inputs and outputs: data type, and a size, a symbol or nothing for each
 * dimension. */
static void test_types(void)
{
	make();
	struct shape some = shape_make(&arena, 3);
	some.dims[0] = dim_symbol(&arena, TEXT("batch"));
	some.dims[1] = dim_known(7);
	types[0] = (struct write_value){ .dtype = DTYPE_F16, .shape = some };
	types[2] = (struct write_value){ .dtype = DTYPE_S64, .shape = SHAPE_UNKNOWN };
	struct model *m = again(NULL);
	if (!ok(m != NULL, "symbols and unknown ranks are written"))
		return;
	const struct value *x = &m->graph->values[m->graph->inputs[0]];
	const struct value *y = &m->graph->values[m->graph->outputs[0]];
	is_int(x->dtype, DTYPE_F16, "the type of the input");
	is_str(shape_text(&arena, x->shape), "batchx7x?", "its symbol, size and unknown dimension");
	is_int(y->dtype, DTYPE_S64, "the type of the output");
	is_int(y->shape.rank, -1, "its rank is unknown");
	model_free(m);
	make();
	types[0].shape = shape_make(&arena, 0);
	m = again(NULL);
	ok(m && m->graph->values[m->graph->inputs[0]].shape.rank == 0, "a scalar is no unknown rank");
	model_free(m);
}

static void test_random(void)
{
	make();
	types[1].shape = shape_known(&arena, 2, (const int64_t[]){ 100, 3 });
	request.weights = WRITE_RANDOM;
	static const enum dtype floats[] = { DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_F64, DTYPE_F8E4M3,
		DTYPE_F8E5M2, DTYPE_F8E4M3FNUZ, DTYPE_F8E5M2FNUZ, DTYPE_F8E8M0 };
	for (size_t i = 0; i < sizeof(floats) / sizeof(floats[0]); i++) {
		types[1].dtype = floats[i];
		struct model *m = again(NULL);
		const struct tensor *t = m ? constant(m, "x?") : NULL;
		double least = 9, most = 0;
		for (int k = 0; t && k < 300; k++) {
			least = fmin(least, tensor_double(t, k));
			most = fmax(most, tensor_double(t, k));
		}
		ok(t && least >= 0.03 && least < 0.3 && most <= 1 && most > 0.6, "%s: %g to %g",
			dtype_name(floats[i]), least, most);
		model_free(m);
	}
	static const enum dtype integers[] = { DTYPE_S64, DTYPE_S32, DTYPE_S8, DTYPE_U8, DTYPE_S4,
		DTYPE_BOOL };
	for (size_t i = 0; i < sizeof(integers) / sizeof(integers[0]); i++) {
		types[1].dtype = integers[i];
		struct model *m = again(NULL);
		const struct tensor *t = m ? constant(m, "x?") : NULL;
		int64_t others = 0, one;
		for (int k = 0; t && k < 300; k++)
			others += tensor_int(t, k, &one) && one != 0;
		ok(t && (dtype_bits(integers[i]) > 8 ? others == 0 : others > 100), "%s: %d are not 0",
			dtype_name(integers[i]), (int)others);
		model_free(m);
	}
	struct str a = { 0 }, b = { 0 }, c = { 0 };
	types[1].dtype = DTYPE_F32;
	model_write(&request, &a, &err);
	model_write(&request, &b, &err);
	request.seed = 1;
	model_write(&request, &c, &err);
	ok(a.n == b.n && memcmp(a.p, b.p, a.n) == 0, "the same seed, the same bytes");
	ok(a.n == c.n && memcmp(a.p, c.p, a.n) != 0, "another seed, other bytes");
	str_free(&a);
	str_free(&b);
	str_free(&c);
	types[1].dtype = DTYPE_STRING;
	struct model *m = again(NULL);
	ok(m && m->graph->input_count == 2, "texts have no weights: they are an input");
	model_free(m);
}

static void refused(const char *why)
{
	struct str out = { 0 };
	str_puts(&out, "kept");
	is_int(model_write(&request, &out, &err), -1, "refused");
	has(err.text, why, why);
	is_str(out.p, "kept", "nothing is added");
	str_free(&out);
}

static void test_refused(void)
{
	struct attribute a = { .name = TEXT("long"), .kind = ATTRIBUTE_OTHER };
	make();
	node.attribute_count = 1;
	node.attributes = &a;
	refused("n: the attribute \"long\" is too long, sparse or of an unknown kind, and cannot be written");
	make();
	types[2].dtype = DTYPE_UNKNOWN;
	refused("the type of \"x?_2\" is unknown, or cannot be written");
	make();
	types[0].kind = VALUE_MAP;
	refused("the type of \"x\" is unknown, or cannot be written");
	make();
	request.weights = WRITE_RANDOM;
	types[1].shape = shape_known(&arena, 2, (const int64_t[]){ 1 << 20, 1 << 10 });
	refused("more than 2000 MiB of constants");
	make();
	node.domain = (struct text){ 0 };
	node.opset = 13;
	struct node two[] = { node, node };
	two[1].opset = 14;
	int other = 0, both[] = { 0, 1 };
	two[1].outputs = &other;
	graph.nodes = two;
	graph.node_count = request.node_count = 2;
	request.nodes = both;
	refused("the nodes use versions 13 and 14 of the operator set \"ai.onnx\"; write them one by one");
}

int main(void)
{
	scratch_make();
	test_filled();
	test_types();
	test_random();
	test_refused();
	scratch_remove();
	arena_free(&arena);
	return done_testing();
}
