#include "config.h"

#include "model/tensor.h"

#include "model_help.h"

#include <math.h>

static void refused(struct str *graph, const char *part, const char *name)
{
	is_refused(load_graph_bytes(graph), part, name);
}

/* ---- structure ---- */

static struct str small_graph(void)
{
	struct str g = { 0 };
	float w[4] = { 1, 2, 3, 4 };
	put_text(&g, 2, "small");
	put_value(&g, 11, "x", FLOAT, "batch,3,224,?");
	put_value(&g, 11, "w", FLOAT, "4");
	put_tensor(&g, 5, "w", FLOAT, "4", w, sizeof(w));
	put_node(&g, "first", "Add", "x", "w", "t", NULL);
	put_node(&g, "", "Relu", "t", "", "y", NULL);
	put_value(&g, 13, "t", FLOAT, "batch,3,224,224");
	put_value(&g, 13, "gone", FLOAT, "1");
	put_value(&g, 12, "y", FLOAT, NULL);
	return g;
}

static void test_structure(void)
{
	struct str graph = small_graph();
	struct model *m = load_graph_bytes(&graph);
	if (!ok(m != NULL, "small model: loaded (%s)", err.text))
		return;
	const struct graph *g = m->graph;
	ok(text_is(g->name, "small") && text_is(m->producer, "test") && m->ir_version == 10,
		"its name, producer, version");
	is_str(m->path, scratch_file, "its path");
	is_int(model_opset(m, TEXT("")), 17, "operator set");
	is_int(model_opset(m, TEXT("ai.onnx")), 17, "by its other name");
	is_int(model_opset(m, TEXT("com.microsoft")), 0, "one that is not imported");
	is_int(m->warning_count, 0, "no warnings");
	is_int(g->value_count, 4, "four values");
	is_int(g->input_count, 1, "an initializer that is listed as an input is no input");
	int x = value_at(g, "x"), w = value_at(g, "w"), t = value_at(g, "t"), y = value_at(g, "y");
	ok(g->inputs[0] == x && g->values[x].is_input && !g->values[w].is_input, "x is the input");
	ok(g->output_count == 1 && g->outputs[0] == y && g->values[y].is_output, "y is the output");
	ok(g->nodes[0].inputs[0] == x && g->nodes[0].inputs[1] == w && g->nodes[0].outputs[0] == t,
		"names are resolved");
	ok(g->values[t].producer == 0 && g->values[y].producer == 1 && g->values[x].producer == -1,
		"producers");
	ok(g->values[w].initializer && g->values[w].initializer->elements == 4 &&
			g->values[w].shape.rank == 1,
		"w");
	near(tensor_double(g->values[w].initializer, 2), 3, 0, "its third element");
	struct shape s = g->values[x].shape;
	ok(s.rank == 4 && s.dims[0].kind == DIM_SYMBOLIC && text_is(dim_expression(s.dims[0]), "batch"),
		"x: symbol");
	ok(s.dims[1].kind == DIM_KNOWN && s.dims[1].value == 3 && s.dims[3].kind == DIM_UNKNOWN,
		"x: number, unknown");
	ok(g->values[t].shape.rank == 4 && g->values[t].dtype == DTYPE_F32, "t: declared by value_info");
	ok(g->values[y].shape.rank == -1 && g->values[y].dtype == DTYPE_F32 &&
			g->values[y].kind == VALUE_TENSOR,
		"y: no shape");
	ok(text_is(node_label(&m->arena, &g->nodes[0], 0), "first"), "label: its name");
	ok(text_is(node_label(&m->arena, &g->nodes[1], 1), "Relu_1"), "label of a nameless node");
	model_free(m);
}

static struct str all_attributes(bool typed)
{
	struct str all = { 0 }, c = { 0 };
	put_int(&c, 3, -7);
	put_attribute(&all, "i", typed ? 2 : 0, &c);
	put_float(&c, 2, 0.5f);
	put_attribute(&all, "f", typed ? 1 : 0, &c);
	put_bytes(&c, 4, "SAME\0UPPER", 10);
	put_attribute(&all, "s", typed ? 3 : 0, &c);
	put_int(&c, 8, 1);
	put_int(&c, 8, -2);
	put_bytes(&c, 8, "\3\4", 2); /* packed, as some writers do */
	put_attribute(&all, "ints", typed ? 7 : 0, &c);
	put_float(&c, 7, 1.5f);
	put_float(&c, 7, 2.5f);
	put_attribute(&all, "floats", typed ? 6 : 0, &c);
	put_text(&c, 9, "a");
	put_text(&c, 9, "bc");
	put_attribute(&all, "strings", typed ? 8 : 0, &c);
	int64_t shape[2] = { 1, -1 };
	put_tensor(&c, 5, "", INT64, "2", shape, sizeof(shape));
	put_attribute(&all, "value", typed ? 4 : 0, &c);
	put_int(&c, 3, 5);
	put_text(&c, 21, "outer");
	put_attribute(&all, "reference", typed ? 2 : 0, &c);
	return all;
}

static void test_attributes(bool typed)
{
	struct str g = { 0 }, all = all_attributes(typed);
	put_node(&g, "n", "Op", "", "", "y", &all);
	struct model *m = load_graph_bytes(&g);
	if (!ok(m != NULL, "attributes%s: loaded (%s)", typed ? "" : " without types", err.text))
		return;
	const struct node *n = &m->graph->nodes[0];
	int64_t v = 0;
	is_int(node_int(n, "i", 1), -7, "int");
	is_int(node_int(n, "f", 1), 1, "a float is no int");
	is_int(node_int(n, "none", 9), 9, "absent");
	near((double)node_float(n, "f", 0), 0.5, 0, "float");
	ok(text_equal(node_string(n, "s", ""), TEXT("SAME\0UPPER")), "string with a NUL");
	ok(text_is(node_string(n, "none", "NOTSET"), "NOTSET"), "absent string");
	const struct attribute *a = node_attribute(n, "ints");
	ok(a && a->kind == ATTRIBUTE_INTS && a->count == 4 && a->ints[1] == -2 && a->ints[3] == 4, "ints");
	a = node_attribute(n, "floats");
	ok(a && a->kind == ATTRIBUTE_FLOATS && a->count == 2 && a->floats[1] > 2, "floats");
	a = node_attribute(n, "strings");
	ok(a && a->kind == ATTRIBUTE_STRINGS && a->count == 2 && text_is(a->strings[1], "bc"), "strings");
	a = node_attribute(n, "value");
	ok(a && a->kind == ATTRIBUTE_TENSOR && tensor_int(a->tensor, 1, &v) && v == -1, "tensor");
	a = node_attribute(n, "reference");
	ok(a && a->kind == ATTRIBUTE_OTHER &&
		warned(m, "\"reference\" refers to attribute \"outer\" of a function"),
		"a reference to a function's attribute is no value outside of functions");
	model_free(m);
}

/* Of lists over 64 KiB some megabytes are kept in all; what is not is not there, rather than there in
 * part. */
static void test_long_attribute(void)
{
	struct str g = { 0 }, all = { 0 }, tagged = { 0 }, packed = { 0 }, more = { 0 };
	size_t n = (size_t)6 << 20;
	char *ones = base_malloc(n);
	memset(ones, 1, n);
	for (int i = 0; i < 70000; i++)
		put_int(&tagged, 8, i);
	put_attribute(&all, "tagged", 7, &tagged);
	put_bytes(&packed, 8, ones, n);
	put_attribute(&all, "packed", 7, &packed);
	put_bytes(&more, 7, ones, n);
	put_attribute(&all, "more", 6, &more);
	put_node(&g, "n", "Op", "", "", "y", &all);
	free(ones);
	struct model *m = load_graph_bytes(&g);
	const struct node *node = m ? &m->graph->nodes[0] : NULL;
	const struct attribute *a = node ? node_attribute(node, "tagged") : NULL;
	ok(a && a->kind == ATTRIBUTE_INTS && a->count == 70000 && a->ints[69999] == 69999,
		"70000 numbers are read");
	a = node ? node_attribute(node, "packed") : NULL;
	ok(a && a->kind == ATTRIBUTE_INTS && a->count == n && a->ints[n - 1] == 1, "six million are, too");
	a = node ? node_attribute(node, "more") : NULL;
	ok(a && a->kind == ATTRIBUTE_OTHER && a->count == 0 && !a->floats,
		"six megabytes more are left in the file");
	model_free(m);
}

/* A type that a writer gives although the value is the default, which it leaves out. */
static void test_default_attribute(void)
{
	struct str g = { 0 }, all = { 0 }, none = { 0 };
	put_attribute(&all, "axis", 2, &none);
	put_node(&g, "n", "Op", "", "", "y", &all);
	struct model *m = load_graph_bytes(&g);
	ok(m && node_int(&m->graph->nodes[0], "axis", 9) == 0, "an int whose zero was left out");
	model_free(m);
}

static void test_not_tensors(void)
{
	struct str g = { 0 }, value = { 0 }, type = { 0 }, none = { 0 };
	put_text(&value, 1, "list");
	put_message(&type, 4, &none);
	put_message(&value, 2, &type);
	put_message(&g, 11, &value);
	put_value(&g, 11, "odd", FLOAT, "-5,0,?,-1");
	put_value(&g, 11, "newer", 99, "1");
	put_node(&g, "n", "Op", "list", "odd", "y", NULL);
	struct model *m = load_graph_bytes(&g);
	if (!ok(m != NULL, "sequences and odd types: loaded (%s)", err.text))
		return;
	ok(m->graph->values[0].kind == VALUE_SEQUENCE && m->graph->values[1].kind == VALUE_TENSOR,
		"a sequence is no tensor");
	struct shape s = m->graph->values[1].shape;
	ok(s.dims[0].kind == DIM_UNKNOWN && s.dims[1].kind == DIM_KNOWN && s.dims[3].kind == DIM_UNKNOWN,
		"negative dimensions are unknown, zero is known");
	ok(warned(m, "dimension of -5") && warned(m, "\"odd\""), "with a warning");
	ok(m->graph->values[2].dtype == DTYPE_UNKNOWN, "a type code from the future is unknown");
	model_free(m);
}

/* A type may stand in two places, in part in each. */
static void test_declared_twice(void)
{
	struct str g = { 0 };
	put_node(&g, "n", "Op", "", "", "y", NULL);
	put_value(&g, 12, "y", FLOAT, NULL);
	put_value(&g, 13, "y", INT64, "2,3");
	struct model *m = load_graph_bytes(&g);
	ok(m && m->graph->values[0].dtype == DTYPE_F32 && m->graph->values[0].shape.rank == 2,
		"the output's type and the shape of value_info");
	model_free(m);
}

static void test_omitted(void)
{
	struct str g = { 0 }, n = { 0 };
	put_value(&g, 11, "x", FLOAT, "1");
	put_text(&n, 1, "x");
	put_text(&n, 1, "");
	put_text(&n, 1, "x");
	put_text(&n, 2, "y");
	put_text(&n, 2, "");
	put_text(&n, 4, "Op");
	put_text(&n, 7, "ai.onnx");
	put_message(&g, 1, &n);
	struct model *m = load_graph_bytes(&g);
	if (!ok(m != NULL, "omitted inputs and outputs: loaded (%s)", err.text))
		return;
	const struct node *node = &m->graph->nodes[0];
	ok(node->input_count == 3 && node->inputs[1] == -1 && node->inputs[2] == 0, "an omitted input is -1");
	ok(node->output_count == 2 && node->outputs[1] == -1, "an omitted output is -1");
	ok(node->domain.n == 0, "ai.onnx is the plain domain");
	model_free(m);
}

/* ---- order ---- */

static void test_order(void)
{
	struct str g = { 0 };
	put_value(&g, 11, "x", FLOAT, "1");
	put_node(&g, "e", "Op", "c", "d", "e", NULL);
	put_node(&g, "a", "Op", "x", "", "a", NULL);
	put_node(&g, "b", "Op", "x", "", "b", NULL);
	put_node(&g, "d", "Op", "b", "", "d", NULL);
	put_node(&g, "c", "Op", "a", "", "c", NULL);
	struct model *m = load_graph_bytes(&g);
	if (!ok(m != NULL, "unsorted: loaded (%s)", err.text))
		return;
	int place[5] = { 0 };
	for (int i = 0; i < 5; i++)
		place[m->graph->nodes[i].name.p[0] - 'a'] = i;
	ok(place[0] < place[2] && place[1] < place[3] && place[2] < place[4] && place[3] < place[4],
		"sorted");
	ok(warned(m, "not in execution order") && warned(m, "\"e\""), "with a warning");
	bool consistent = true;
	for (int v = 1; v < m->graph->value_count; v++)
		consistent &= text_equal(
			m->graph->values[v].name, m->graph->nodes[m->graph->values[v].producer].name);
	ok(consistent, "producers follow");
	model_free(m);
	put_node(&g, "a", "Op", "c", "", "a", NULL);
	put_node(&g, "b", "Op", "a", "", "b", NULL);
	put_node(&g, "c", "Op", "b", "", "c", NULL);
	refused(&g, "cycle", "a cycle of three");
	put_node(&g, "self", "Op", "s", "", "s", NULL);
	refused(&g, "node \"self\" depends on its own output", "a node that reads itself");
}

/* A chain as long as this, backwards, must not take a stack as deep. */
static void test_long_chain(void)
{
	struct str g = { 0 };
	enum { LENGTH = 20000 };
	put_value(&g, 11, "t0", FLOAT, "1");
	for (int i = LENGTH; i > 0; i--) {
		char in[16], out[16];
		snprintf(in, sizeof(in), "t%d", i - 1);
		snprintf(out, sizeof(out), "t%d", i);
		put_node(&g, "", "Relu", in, "", out, NULL);
	}
	struct model *m = load_graph_bytes(&g);
	if (!ok(m != NULL, "a backward chain of %d nodes: loaded (%s)", LENGTH, err.text))
		return;
	bool sorted = true;
	for (int i = 1; i < LENGTH; i++)
		sorted &= m->graph->nodes[i].inputs[0] == m->graph->nodes[i - 1].outputs[0];
	ok(sorted, "and turned round");
	model_free(m);
}

/* Runtimes take the last of two Constants that write one name; a model without nodes is one. */
static void test_odd_graphs(void)
{
	struct str g = { 0 };
	put_node(&g, "n1", "Constant", "", "", "c", NULL);
	put_node(&g, "n2", "Constant", "", "", "c", NULL);
	put_node(&g, "n3", "Relu", "c", "", "y", NULL);
	put_value(&g, 12, "y", FLOAT, "1");
	struct model *m = load_graph_bytes(&g);
	if (ok(m != NULL, "two Constants that write one name (%s)", err.text)) {
		ok(warned(m, "\"n1\" and \"n2\" are Constants and both write \"c\"; the last one is used"),
			"a warning");
		const struct node *last =
			&m->graph->nodes[m->graph->values[m->graph->nodes[2].inputs[0]].producer];
		ok(text_is(last->name, "n2"), "the last is read");
	}
	model_free(m);
	put_value(&g, 11, "x", FLOAT, "1");
	put_value(&g, 12, "x", FLOAT, "1");
	m = load_graph_bytes(&g);
	ok(m != NULL && m->graph->node_count == 0, "a model without nodes (%s)", err.text);
	ok(m && warned(m, "no nodes"), "a warning");
	model_free(m);
}

static void test_wrong_names(void)
{
	struct str g = { 0 }, t = { 0 };
	put_node(&g, "n1", "Op", "x", "", "y", NULL);
	refused(&g, "node \"n1\" reads \"x\", which the model does not define", "dangling input");
	put_value(&g, 11, "x", FLOAT, "1");
	put_node(&g, "n1", "Op", "x", "", "y", NULL);
	put_node(&g, "n2", "Op", "x", "", "y", NULL);
	refused(&g, "nodes \"n1\" and \"n2\" both write \"y\"", "two producers");
	put_value(&g, 11, "x", FLOAT, "1");
	put_node(&g, "n1", "Op", "x", "", "x", NULL);
	refused(&g, "a graph input", "a node that writes an input");
	put_value(&g, 11, "x", FLOAT, "1");
	put_value(&g, 11, "x", FLOAT, "2");
	put_node(&g, "n1", "Op", "x", "", "y", NULL);
	refused(&g, "two graph inputs", "two inputs of one name");
	put_tensor(&g, 5, "w", FLOAT, "1", "\0\0\0\0", 4);
	put_tensor(&g, 5, "w", FLOAT, "1,1", "\0\0\0\0", 4);
	put_node(&g, "n1", "Op", "w", "", "y", NULL);
	refused(&g, "two initializers of different types", "two initializers of one name");
	put_value(&g, 11, "x", FLOAT, "1");
	put_node(&g, "n1", "Op", "x", "", "w", NULL);
	put_tensor(&g, 5, "w", FLOAT, "1", "\0\0\0\0", 4);
	refused(&g, "\"n1\" writes \"w\", which is an initializer", "a node that writes an initializer");
	put_bytes(&t, 4, "\1\2\3\4\5", 5);
	put_message(&g, 5, &t);
	put_node(&g, "n1", "Op", "", "", "y", NULL);
	refused(&g, "initializer 0: damaged: a list of the wrong length",
		"a packed list that stops within an element");
	put_node(&g, "n1", "Op", "", "", "y", NULL);
	put_value(&g, 12, "z", FLOAT, "1");
	refused(&g, "no node computes graph output \"z\"", "an output that nothing makes");
	put_node(&g, "n1", "", "", "", "y", NULL);
	refused(&g, "has no operator type", "a node without operator");
}

/* ---- bodies ---- */

/* node[If] { body { inner[If] { body { reads `name` } } } } */
static struct str nested_bodies(const char *name)
{
	struct str g = { 0 }, deep = { 0 }, middle = { 0 }, a = { 0 }, c = { 0 };
	put_node(&deep, "deepest", "Relu", name, "", "d", NULL);
	put_value(&deep, 12, "d", FLOAT, NULL);
	put_message(&c, 6, &deep);
	put_attribute(&a, "then_branch", 5, &c);
	put_node(&middle, "inner", "If", "late", "", "e", &a);
	put_value(&middle, 12, "e", FLOAT, NULL);
	put_message(&c, 6, &middle);
	put_attribute(&a, "then_branch", 5, &c);
	put_value(&g, 11, "x", FLOAT, "1,2");
	put_tensor(&g, 5, "w", FLOAT, "1", "\0\0\0\0", 4);
	put_node(&g, "outer", "If", "x", "", "y", &a);
	put_node(&g, "maker", "Op", "x", "", "late", NULL);
	put_value(&g, 12, "y", FLOAT, NULL);
	return g;
}

static void test_bodies(void)
{
	struct str g = nested_bodies("w");
	struct model *m = load_graph_bytes(&g);
	if (!ok(m != NULL, "bodies: loaded (%s)", err.text))
		return;
	ok(text_is(m->graph->nodes[0].name, "maker") && warned(m, "not in execution order"),
		"a node runs after what its body captures");
	const struct graph *middle = m->graph->nodes[1].attributes[0].graph;
	const struct graph *deep = middle->nodes[0].attributes[0].graph;
	ok(middle->parent == m->graph && deep->parent == middle, "parents");
	int w = value_at(deep, "w"), between = value_at(middle, "w"), late = value_at(middle, "late");
	ok(w >= 0 && between >= 0 && deep->values[w].outer == between,
		"captured through the body in between");
	is_int(middle->values[between].outer, value_at(m->graph, "w"), "from the main graph");
	ok(deep->values[w].initializer == m->graph->values[value_at(m->graph, "w")].initializer,
		"the same constant");
	ok(middle->values[late].outer == value_at(m->graph, "late") && !middle->values[late].is_input,
		"and a result");
	is_int(value_at(m->graph, "d"), -1, "names of a body stay in it");
	model_free(m);
	g = nested_bodies("nowhere");
	refused(&g, "node \"outer\": node \"inner\": node \"deepest\" reads \"nowhere\"",
		"dangling in a body");
	g = nested_bodies("y");
	refused(&g, "cycle", "a body that reads its own node's result");
}

/* ---- tensors ---- */

static struct model *load_tensor(struct str *t, const struct tensor **tensor)
{
	struct str g = { 0 };
	put_text(t, 8, "w");
	put_message(&g, 5, t);
	put_node(&g, "n", "Op", "w", "", "y", NULL);
	struct model *m = load_graph_bytes(&g);
	*tensor = m ? m->graph->values[0].initializer : NULL;
	return m;
}

struct element_case {
	int code;
	enum dtype dtype;
	unsigned field;	     /* typed: the field; 9: raw */
	const char *content; /* as it stands in a packed field, or raw */
	size_t n;
	int count;
	double first, last;
};

#define CASE(code, dtype, field, content, count, first, last) \
	{ code, DTYPE_##dtype, field, content, sizeof(content) - 1, count, first, last }

static void test_elements(void)
{
	static const struct element_case cases[] = {
		CASE(1, F32, 9, "\0\0\x80\x3f\0\0\x20\xc0", 2, 1, -2.5),
		CASE(1, F32, 4, "\0\0\x80\x3f\0\0\x20\xc0", 2, 1, -2.5),
		CASE(2, U8, 9, "\1\xff", 2, 1, 255),
		CASE(2, U8, 5, "\1\xff\1", 2, 1, 255),
		CASE(3, S8, 9, "\1\xff", 2, 1, -1),
		CASE(3, S8, 5, "\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 2, 1, -1),
		CASE(4, U16, 9, "\1\0\xff\xff", 2, 1, 65535),
		CASE(5, S16, 9, "\1\0\xfe\xff", 2, 1, -2),
		CASE(6, S32, 9, "\1\0\0\0\xfd\xff\xff\xff", 2, 1, -3),
		CASE(6, S32, 5, "\1\xfd\xff\xff\xff\xff\xff\xff\xff\xff\1", 2, 1, -3),
		CASE(7, S64, 9, "\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80", 2, 1, -0x1p63),
		CASE(7, S64, 7, "\1\xfc\xff\xff\xff\xff\xff\xff\xff\xff\1", 2, 1, -4),
		CASE(9, BOOL, 9, "\0\1", 2, 0, 1),
		CASE(9, BOOL, 5, "\0\1", 2, 0, 1),
		CASE(10, F16, 9, "\0\x3c\0\xc1", 2, 1, -2.5),
		CASE(10, F16, 5, "\x80\x78\x80\x82\3", 2, 1, -2.5),
		CASE(11, F64, 9, "\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\4\xc0", 2, 1, -2.5),
		CASE(11, F64, 10, "\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\4\xc0", 2, 1, -2.5),
		CASE(12, U32, 9, "\1\0\0\0\xff\xff\xff\xff", 2, 1, 4294967295.0),
		CASE(12, U32, 11, "\1\xff\xff\xff\xff\xf", 2, 1, 4294967295.0),
		CASE(13, U64, 9, "\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80", 2, 1, 0x1p63),
		CASE(16, BF16, 9, "\x80\x3f\x20\xc0", 2, 1, -2.5),
		CASE(17, F8E4M3, 9, "\x38\x7e", 2, 1, 448),
		CASE(17, F8E4M3, 5, "\x38\x7e", 2, 1, 448),
		CASE(18, F8E4M3FNUZ, 9, "\x40\x7f", 2, 1, 240),
		CASE(19, F8E5M2, 9, "\x3c\x7b", 2, 1, 57344),
		CASE(20, F8E5M2FNUZ, 9, "\x40\x7f", 2, 1, 57344),
		CASE(24, F8E8M0, 9, "\x7f\x8f", 2, 1, 65536),
		CASE(25, U2, 9, "\xb1\3", 5, 1, 3),
		CASE(26, S2, 9, "\xb1\3", 5, 1, -1),
		CASE(26, S2, 5, "\xb1\1\3", 5, 1, -1),
		CASE(27, F6E2M3, 9, "\xc8\xf7\0\xe0\xf", 6, 1, -7.5),
		CASE(27, F6E2M3, 5, "\x8\x1f\xf\0\x20\x3f", 6, 1, -7.5),
		CASE(28, F6E3M2, 5, "\xc\x3f\x1f", 3, 1, 28),
		CASE(21, U4, 9, "\x21\xf", 3, 1, 15),
		CASE(22, S4, 9, "\x21\xf", 3, 1, -1),
		CASE(22, S4, 5, "\x21\xf", 3, 1, -1),
		CASE(23, F4E2M1, 9, "\x72", 2, 1, 6),
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct element_case *c = &cases[i];
		const struct tensor *w;
		struct str t = { 0 };
		put_int(&t, 1, c->count);
		put_int(&t, 2, c->code);
		put_bytes(&t, c->field, c->content, c->n);
		struct model *m = load_tensor(&t, &w);
		if (!ok(m && w->dtype == c->dtype && w->data && m->warning_count == 0,
			    "%s in field %u: loaded (%s)", dtype_name(c->dtype), c->field,
			    m && m->warning_count ? m->warnings[0] : err.text)) {
			model_free(m);
			continue;
		}
		near(tensor_double(w, 0), c->first, 0, "first");
		near(tensor_double(w, c->count - 1), c->last, 0, "last");
		ok(isnan(tensor_double(w, c->count)) && isnan(tensor_double(w, -1)),
			"out of range is unknown");
		int64_t v;
		bool whole = c->last == floor(c->last) && c->last < 0x1p63;
		ok(tensor_int(w, c->count - 1, &v) == whole && (!whole || (double)v == c->last),
			"as an integer");
		is_int(tensor_dtype(tensor_onnx_code(c->dtype)), c->dtype, "the code and back");
		model_free(m);
	}
}

static void test_special_floats(void)
{
	static const unsigned char half[] = { 0, 0x7c, 1, 0x7c, 1, 0 };
	struct tensor t = { .dtype = DTYPE_F16, .elements = 3, .data = half, .data_bytes = 6 };
	ok(isinf(tensor_double(&t, 0)) && isnan(tensor_double(&t, 1)), "infinity and NaN in half precision");
	near(tensor_double(&t, 2), 0x1p-24, 0, "the least number above zero");
	int64_t v;
	ok(!tensor_int(&t, 0, &v) && !tensor_int(&t, 1, &v) && !tensor_int(&t, 2, &v), "none is an integer");
	static const unsigned char small[] = { 0x80, 0xff, 0, 1 };
	t = (struct tensor){ .dtype = DTYPE_F8E4M3FNUZ, .elements = 4, .data = small, .data_bytes = 4 };
	ok(isnan(tensor_double(&t, 0)) && tensor_double(&t, 1) == -240,
		"fnuz: minus zero is NaN, all ones a number");
	near(tensor_double(&t, 3), 0x1p-10, 0, "f8e4m3fnuz: the least number above zero");
	t.dtype = DTYPE_F8E5M2FNUZ;
	near(tensor_double(&t, 3), 0x1p-17, 0, "f8e5m2fnuz: the same");
	t.dtype = DTYPE_F8E8M0;
	ok(isnan(tensor_double(&t, 1)) && tensor_double(&t, 2) == 0x1p-127, "f8e8m0: NaN, and no zero");
}

static void test_counting(void)
{
	int64_t huge[] = { (int64_t)1 << 40, (int64_t)1 << 40, 0 }, negative[] = { 2, -1 };
	is_int(tensor_elements(0, NULL), 1, "a scalar has one element");
	is_int(tensor_elements(2, huge), -1, "too many to count");
	is_int(tensor_elements(3, huge), 0, "none, however large the rest");
	is_int(tensor_elements(2, negative), -1, "negative");
	is_int(tensor_bytes(DTYPE_S4, 3), 2, "two 4-bit elements in a byte");
	is_int(tensor_bytes(DTYPE_STRING, 3), -1, "texts have no size");
	is_int(tensor_dtype(-1), DTYPE_UNKNOWN, "code -1");
	is_int(tensor_dtype(INT64_MAX), DTYPE_UNKNOWN, "code 2^63 - 1");
	is_int(tensor_onnx_code(DTYPE_TF32), 0, "no ONNX type");
}

/* One tensor with these dims, type and raw bytes. */
static struct model *load_raw(const char *dims, int type, size_t n, bool external, const struct tensor **w)
{
	struct str t = { 0 };
	char copy[64], *zeros = base_calloc(n + 1, 1);
	snprintf(copy, sizeof(copy), "%s", dims);
	for (char *d = strtok(copy, ","); d; d = strtok(NULL, ","))
		put_int(&t, 1, atoll(d));
	put_int(&t, 2, type);
	if (n)
		put_bytes(&t, 9, zeros, n);
	if (external)
		put_int(&t, 14, 1);
	free(zeros);
	return load_tensor(&t, w);
}

/* What is found in a mask of these dims, `hide` where a query does not see the key and `show` elsewhere; one
 * more element (`stray`) has the other number. */
static enum triangle triangle_in(const char *dims, int queries, int keys, float show, float hide, int stray)
{
	struct str t = { 0 };
	char copy[64];
	int count = 1;
	snprintf(copy, sizeof(copy), "%s", dims);
	for (char *d = strtok(copy, ","); d; d = strtok(NULL, ",")) {
		put_int(&t, 1, atoll(d));
		count *= atoi(d);
	}
	float *mask = base_calloc((size_t)count, sizeof(*mask));
	for (int i = 0; i < count; i++)
		mask[i] = (i % keys <= i / keys % queries + keys - queries) != (i == stray) ? show : hide;
	put_int(&t, 2, FLOAT);
	put_bytes(&t, 9, mask, (size_t)count * sizeof(*mask));
	free(mask);
	const struct tensor *w;
	struct model *m = load_tensor(&t, &w);
	enum triangle found = m ? w->triangle : TRIANGLE_NONE;
	ok(m && (w->data != NULL) == (count <= 1024), "... %d elements are %s", count,
		count <= 1024 ? "kept" : "not kept");
	model_free(m);
	return found;
}

static void test_triangles(void)
{
	is_int(triangle_in("1,1,64,64", 64, 64, 0, -INFINITY, -1), TRIANGLE_ADDED, "a large mask, added");
	is_int(triangle_in("1,1,64,64", 64, 64, 0, -INFINITY, 64 * 63), TRIANGLE_NONE, "... but for one key");
	is_int(triangle_in("1,64,64", 64, 64, 1, 0, -1), TRIANGLE_SEEN, "ones where a key is seen");
	is_int(triangle_in("1,64,80", 64, 80, 0, 1, -1), TRIANGLE_HIDDEN, "... or hidden, behind past keys");
	is_int(triangle_in("1,1,8,8", 8, 8, 0, -1e9F, -1), TRIANGLE_ADDED, "a small mask");
	is_int(triangle_in("1,2,8,8", 8, 8, 0, -1e9F, -1), TRIANGLE_ADDED, "one for each head");
	is_int(triangle_in("1,80,64", 80, 64, 0, -1e9F, -1), TRIANGLE_NONE, "more queries than keys");
	is_int(triangle_in("64,64", 64, 64, 0, -1e9F, -1), TRIANGLE_NONE, "large weights are not read");
}

static void test_payload(void)
{
	const struct tensor *w;
	struct model *m = load_raw("1000", FLOAT, 4000, false, &w);
	ok(m && w->data && w->data_bytes == 4000, "4000 bytes are kept");
	model_free(m);
	m = load_raw("1000,1000", FLOAT, 4000000, false, &w);
	ok(m && !w->data && !w->external && w->elements == 1000000 && m->warning_count == 0, "4 MB are not");
	model_free(m);
	m = load_raw("1000,1000", FLOAT, 0, true, &w);
	ok(m && !w->data && w->external && warned(m, "in a file without a name"), "external, and nowhere");
	ok(m && m->external_count == 0, "no file of external data");
	model_free(m);
	m = load_raw("1000", FLOAT, 3999, false, &w);
	ok(m && !w->data && warned(m, "3999 bytes are given, but its shape needs 4000"),
		"too few bytes: a warning");
	model_free(m);
	m = load_raw("1000,1000", FLOAT, 3000000, false, &w);
	ok(m && !w->data && warned(m, "3000000 bytes"), "too few of many bytes: a warning");
	model_free(m);
	m = load_raw("3", FLOAT, 0, false, &w);
	ok(m && !w->data && warned(m, "has no data"), "none: a warning");
	model_free(m);
	m = load_raw("3,0", INT64, 0, false, &w);
	ok(m && w->data && w->elements == 0 && m->warning_count == 0, "an empty tensor is known");
	model_free(m);
	m = load_raw("1099511627776,1099511627776", FLOAT, 0, false, &w);
	ok(!m && strstr(err.text, "\"w\" has too many elements"), "overflowing dimensions: refused");
	m = load_raw(
		"1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", FLOAT, 4, false, &w);
	ok(m && w->rank == 30 && w->data, "30 dimensions");
	model_free(m);
	m = load_raw("4,-1", FLOAT, 4, false, &w);
	ok(!m && strstr(err.text, "negative dimension (-1)"), "a negative dimension: refused");
	m = load_raw("2", 29, 2, false, &w);
	ok(m && w->dtype == DTYPE_UNKNOWN && !w->data && warned(m, "code 29"),
		"an element type from the future");
	model_free(m);
}

static void test_ranks(void)
{
	struct str g = { 0 }, t = { 0 }, shape = { 0 }, dim = { 0 }, tensor = { 0 }, type = { 0 },
		   value = { 0 };
	for (int i = 0; i < 65; i++) {
		put_int(&t, 1, 1);
		put_message(&shape, 1, &dim);
	}
	const struct tensor *w;
	ok(!load_tensor(&t, &w) && strstr(err.text, "65 dimensions"), "a constant of 65 dimensions: refused");
	put_int(&tensor, 1, FLOAT);
	put_message(&tensor, 2, &shape);
	put_message(&type, 1, &tensor);
	put_text(&value, 1, "x");
	put_message(&value, 2, &type);
	put_message(&g, 11, &value);
	put_node(&g, "n", "Op", "x", "", "y", NULL);
	struct model *m = load_graph_bytes(&g);
	ok(m && m->graph->values[0].shape.rank == -1 && warned(m, "65 dimensions"),
		"an input of 65: unknown");
	model_free(m);
	/* A symbol that means "unknown", twice: the two must not be taken as equal. */
	put_text(&dim, 2, "-1");
	put_message(&shape, 1, &dim);
	put_text(&dim, 2, "?");
	put_message(&shape, 1, &dim);
	put_message(&tensor, 2, &shape);
	put_message(&type, 1, &tensor);
	put_text(&value, 1, "x");
	put_message(&value, 2, &type);
	put_message(&g, 11, &value);
	put_node(&g, "n", "Op", "x", "", "y", NULL);
	m = load_graph_bytes(&g);
	const struct dim *d = m ? m->graph->values[0].shape.dims : NULL;
	ok(d && d[0].kind == DIM_UNKNOWN && d[1].kind == DIM_UNKNOWN, "\"?\" and \"-1\" are no symbols");
	model_free(m);
}

static void test_sparse(void)
{
	struct str g = { 0 }, s = { 0 };
	put_tensor(&s, 1, "sp", FLOAT, "2", "\0\0\0\0\0\0\0\0", 8);
	put_tensor(&s, 2, "", INT64, "2", "\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 16);
	put_int(&s, 3, 100);
	put_int(&s, 3, 200);
	put_message(&g, 15, &s);
	put_node(&g, "n", "Op", "sp", "", "y", NULL);
	struct model *m = load_graph_bytes(&g);
	const struct value *v = m ? &m->graph->values[0] : NULL;
	ok(v && v->initializer && v->initializer->elements == 20000 && v->shape.rank == 2 &&
			!v->initializer->data,
		"a sparse initializer is a constant (%s)", err.text);
	model_free(m);
	put_message(&g, 15, &s);
	put_node(&g, "n", "Op", "", "", "y", NULL);
	refused(&g, "without values", "a sparse initializer without values");
}

/* ---- versions, warnings, names ---- */

static void test_versions(void)
{
	static const struct {
		int64_t ir, opset, want;
		const char *warning;
	} cases[] = { { 2, 0, 1, "1 is assumed" }, { 8, 0, 18, "18 is assumed" },
		{ 99, 0, 28, "newer than the newest known one" }, { 0, 0, 1, "not given" },
		{ 8, 900, 900, "operator set 900 is newer" }, { 8, -4, 18, "version -4" },
		{ INT64_MIN, 5, 5, "is missing" } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str g = small_graph(), bytes = put_model(&g, cases[i].ir, cases[i].opset);
		struct model *m = load_bytes(&bytes);
		ok(m && model_opset(m, TEXT("")) == cases[i].want && warned(m, cases[i].warning),
			"IR %lld, opset %lld (%s)", (long long)cases[i].ir, (long long)cases[i].opset,
			m && m->warning_count ? m->warnings[0] : err.text);
		model_free(m);
	}
}

static void test_opsets(void)
{
	struct str g = small_graph(), bytes = put_model(&g, 8, 12);
	put_import(&bytes, "com.microsoft", 1, 8);
	put_import(&bytes, "ai.onnx", 17, 8);
	put_import(&bytes, "com.microsoft", 1, 8);
	struct model *m = load_bytes(&bytes);
	ok(m && m->opset_count == 2 && model_opset(m, TEXT("")) == 17 && warned(m, "imported twice"),
		"of two versions the newer one");
	is_int(m ? model_opset(m, TEXT("com.microsoft")) : -1, 1, "other domains");
	model_free(m);
	put_node(&g, "n", "Gelu", "", "", "y", NULL);
	put_node(&g, "n", "Gelu", "", "", "z", NULL);
	bytes = put_model(&g, 8, 0);
	for (int i = 0; i < 1001; i++)
		put_import(&bytes, "d", i, 8);
	ok(!load_bytes(&bytes) && strstr(err.text, "1001 operator sets"),
		"more operator sets than there can be");
}

static void test_many_warnings(void)
{
	struct str g = { 0 };
	for (int i = 0; i < 500; i++) {
		char name[16];
		snprintf(name, sizeof(name), "x%d", i);
		put_value(&g, 11, name, FLOAT, "-3");
	}
	put_node(&g, "n", "Op", "x0", "", "y", NULL);
	struct model *m = load_graph_bytes(&g);
	ok(m && m->warning_count == 101, "warnings are capped");
	is_str(m ? m->warnings[100] : "", "... and 400 more", "and the rest counted");
	model_free(m);
}

static void test_names(void)
{
	struct str g = { 0 }, n = { 0 };
	put_bytes(&n, 1, "a\0b", 3);
	put_bytes(&n, 2, "a\0c", 3);
	put_text(&n, 4, "Op");
	put_message(&g, 1, &n);
	put_bytes(&n, 2, "a\0b", 3);
	put_text(&n, 4, "Op");
	put_message(&g, 1, &n);
	struct model *m = load_graph_bytes(&g);
	ok(m && m->graph->value_count == 2 && m->graph->nodes[1].inputs[0] == 1,
		"names are told apart behind a NUL");
	model_free(m);
	put_node(&g, "evil\x1b[2J\n\xc2\x9b name", "Op", "\x1b]0;x\x07", "", "y", NULL);
	m = load_graph_bytes(&g);
	bool clean = !m && err.text[0];
	for (const char *c = err.text; *c; c++)
		clean &= *c != '\x1b' && *c != '\n' && *c != '\x07' && *c != '\x9b';
	ok(clean && strstr(err.text, "evil?[2J?? name"), "escapes do not reach a message");
	char name[5001];
	memset(name, 'n', 5000);
	name[5000] = '\0';
	put_node(&g, name, "Op", "nothing", "", "y", NULL);
	ok(!load_graph_bytes(&g) && strstr(err.text, "nnn...") && strstr(err.text, "\"nothing\""),
		"a long name is cut in a message");
	put_value(&g, 11, "\x1b[31mred", FLOAT, "-3");
	put_node(&g, "n", "Op", "\x1b[31mred", "", "y", NULL);
	m = load_graph_bytes(&g);
	ok(m && warned(m, "?[31mred") && !strchr(m->warnings[0], '\x1b'), "nor a warning");
	ok(m && text_is(m->graph->values[0].name, "\x1b[31mred"), "but the name itself is kept");
	model_free(m);
}

/* ---- damage ---- */

static struct str damage_model(void)
{
	struct str g = nested_bodies("w"), all = all_attributes(true);
	put_node(&g, "attributes", "Op", "y", "w", "z", &all);
	put_value(&g, 13, "z", FLOAT, "batch,3,-1,?");
	put_tensor(&g, 5, "big", FLOAT, "1100", NULL, 0);
	return put_model(&g, 8, 17);
}

/* Loads m; whatever comes of it, it must hold together. */
static bool survives(const struct str *m, size_t n)
{
	err.text[0] = '\0';
	if (!scratch_write(m->p, n))
		return false;
	struct model *model = model_load(scratch_file, &err);
	if (!model)
		return strstr(err.text, scratch_file) == err.text &&
		       strlen(err.text) > strlen(scratch_file) + 5;
	const struct graph *g = model->graph;
	bool good = g && g->node_count > 0 && model->warning_count <= 101;
	for (int i = 0; good && i < g->node_count; i++) {
		for (int k = 0; k < g->nodes[i].input_count; k++) {
			int v = g->nodes[i].inputs[k];
			good &= v >= -1 && v < g->value_count && (v < 0 || g->values[v].producer < i);
		}
		for (int k = 0; k < g->nodes[i].output_count; k++)
			good &= g->nodes[i].outputs[k] < g->value_count;
	}
	model_free(model);
	return good;
}

static void test_truncation(void)
{
	struct str m = damage_model();
	int bad = 0;
	for (size_t n = 0; n <= m.n; n++)
		bad += !survives(&m, n);
	is_int(bad, 0, "cut at each of %zu bytes: an error or a model", m.n);
	ok(survives(&m, m.n) && !err.text[0], "uncut it loads (%s)", err.text);
	str_free(&m);
}

static void test_bit_flips(void)
{
	struct str m = damage_model();
	uint64_t seed = 20200518;
	int bad = 0, loaded = 0;
	enum { ROUNDS = 4000 };
	for (int i = 0; i < ROUNDS; i++) {
		char before[4];
		size_t at[4];
		for (int k = 0; k < 4; k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			at[k] = (seed >> 33) % m.n;
			before[k] = m.p[at[k]];
			if (k <= i % 4)
				m.p[at[k]] = (char)(m.p[at[k]] ^ 1 << (seed >> 60) % 8);
		}
		bad += !survives(&m, m.n);
		loaded += !err.text[0];
		for (int k = 3; k >= 0; k--)
			m.p[at[k]] = before[k];
	}
	is_int(bad, 0, "%d rounds of flipped bits: an error or a model", ROUNDS);
	ok(loaded > ROUNDS / 20 && loaded < ROUNDS, "some load (%d), some do not", loaded);
	str_free(&m);
}

int main(void)
{
	if (!scratch_open())
		skip_all("no directory for temporary files");
	test_structure();
	test_attributes(true);
	test_attributes(false);
	test_long_attribute();
	test_default_attribute();
	test_not_tensors();
	test_declared_twice();
	test_omitted();
	test_order();
	test_long_chain();
	test_odd_graphs();
	test_wrong_names();
	test_bodies();
	test_elements();
	test_special_floats();
	test_counting();
	test_payload();
	test_triangles();
	test_ranks();
	test_sparse();
	test_versions();
	test_opsets();
	test_many_warnings();
	test_names();
	test_truncation();
	test_bit_flips();
	scratch_close();
	return done_testing();
}
