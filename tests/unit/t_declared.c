#include "config.h"

#include "model/tensor.h"

#include "model_help.h"

#include <sys/stat.h>

/* What a model declares: types of all kinds, where its constants lie, names again in bodies, operator
 * sets. */

enum { STRINGS = 8 };

/* ---- types ---- */

/* TypeProtos, one written into the other; all but the outermost are emptied. */
static struct str tensor_type(unsigned field, int element, int64_t dim)
{
	struct str type = { 0 }, tensor = { 0 }, shape = { 0 }, d = { 0 };
	put_int(&d, 1, dim);
	put_message(&shape, 1, &d);
	put_int(&tensor, 1, element);
	put_message(&tensor, 2, &shape);
	put_message(&type, field, &tensor);
	return type;
}

/* field 4: a sequence of `inner`, 9: an optional one; 5: a map to it. */
static struct str type_of(unsigned field, struct str inner)
{
	struct str type = { 0 }, wrap = { 0 };
	if (field == 5)
		put_int(&wrap, 1, INT64);
	put_message(&wrap, field == 5 ? 2 : 1, &inner);
	put_message(&type, field, &wrap);
	return type;
}

static struct str tensor_of(int64_t dim)
{
	return tensor_type(1, FLOAT, dim);
}

static struct str empty_type(unsigned field)
{
	struct str type = { 0 }, none = { 0 };
	put_message(&type, field, &none);
	return type;
}

static void put_typed(struct str *graph, unsigned field, const char *name, struct str type)
{
	struct str value = { 0 };
	put_text(&value, 1, name);
	put_message(&value, 2, &type);
	put_message(graph, field, &value);
}

static void test_kinds(void)
{
	struct {
		struct str type;
		enum value_kind kind;
		enum dtype dtype;
		int64_t dim; /* -1: no shape */
		const char *name;
	} cases[] = {
		{ tensor_of(1), VALUE_TENSOR, DTYPE_F32, 1, "a tensor" },
		{ tensor_type(8, FLOAT, 2), VALUE_TENSOR, DTYPE_F32, 2, "a sparse tensor" },
		{ type_of(4, tensor_of(3)), VALUE_SEQUENCE, DTYPE_F32, 3, "a sequence of tensors" },
		{ type_of(9, tensor_of(4)), VALUE_OPTIONAL, DTYPE_F32, 4, "an optional tensor" },
		{ type_of(9, type_of(4, tensor_of(5))), VALUE_OPTIONAL_SEQUENCE, DTYPE_F32, 5,
			"an optional sequence" },
		{ type_of(5, tensor_of(6)), VALUE_MAP, DTYPE_F32, -1, "a map" },
		{ type_of(4, type_of(5, tensor_of(7))), VALUE_MAPS, DTYPE_F32, -1, "a sequence of maps" },
		{ type_of(4, type_of(4, tensor_of(8))), VALUE_OPAQUE, DTYPE_UNKNOWN, -1,
			"a sequence of sequences" },
		{ type_of(9, type_of(9, tensor_of(8))), VALUE_OPAQUE, DTYPE_UNKNOWN, -1,
			"an optional optional" },
		{ type_of(9, type_of(5, tensor_of(8))), VALUE_OPAQUE, DTYPE_UNKNOWN, -1, "an optional map" },
		{ type_of(4, type_of(9, tensor_of(8))), VALUE_OPAQUE, DTYPE_UNKNOWN, -1,
			"a sequence of optionals" },
		{ type_of(5, type_of(4, tensor_of(8))), VALUE_MAP, DTYPE_UNKNOWN, -1, "a map to sequences" },
		{ type_of(4, empty_type(7)), VALUE_OPAQUE, DTYPE_UNKNOWN, -1,
			"a sequence of something opaque" },
		{ empty_type(7), VALUE_OPAQUE, DTYPE_UNKNOWN, -1, "something opaque" },
		{ empty_type(4), VALUE_SEQUENCE, DTYPE_UNKNOWN, -1, "a sequence of nobody knows what" },
		{ empty_type(9), VALUE_OPTIONAL, DTYPE_UNKNOWN, -1, "an optional nobody knows what" },
		{ empty_type(5), VALUE_MAP, DTYPE_UNKNOWN, -1, "a map of nobody knows what" },
		{ empty_type(1), VALUE_TENSOR, DTYPE_UNKNOWN, -1, "a tensor of nobody knows what" },
		{ empty_type(99), VALUE_TENSOR, DTYPE_UNKNOWN, -1, "a kind from the future" },
	};
	enum { N = sizeof(cases) / sizeof(cases[0]) };
	struct str g = { 0 };
	for (int i = 0; i < N; i++) {
		char name[16];
		snprintf(name, sizeof(name), "x%d", i);
		put_typed(&g, 11, name, cases[i].type);
	}
	put_node(&g, "n", "Op", "x0", "", "y", NULL);
	put_typed(&g, 12, "y", type_of(9, type_of(4, tensor_of(9))));
	put_value(&g, 13, "y", INT64, "4");
	struct model *m = load_graph_bytes(&g);
	if (!ok(m && m->warning_count == 0, "types of all kinds: loaded (%s)", err.text))
		return;
	for (int i = 0; i < N; i++) {
		const struct value *v = &m->graph->values[i];
		bool shape = v->shape.rank == (cases[i].dim < 0 ? -1 : 1) &&
			     (cases[i].dim < 0 || v->shape.dims[0].value == cases[i].dim);
		ok(v->kind == cases[i].kind && v->dtype == cases[i].dtype && shape, "%s", cases[i].name);
	}
	const struct value *y = &m->graph->values[value_at(m->graph, "y")];
	ok(y->kind == VALUE_OPTIONAL_SEQUENCE && y->dtype == DTYPE_F32 && y->shape.dims[0].value == 9,
		"of two types for a result the first");
	model_free(m);
}

static void test_deep_type(void)
{
	struct str g = { 0 }, type = tensor_of(1);
	for (int i = 0; i < 20; i++)
		type = type_of(4, type);
	put_typed(&g, 11, "x", type);
	put_node(&g, "n", "Op", "x", "", "y", NULL);
	struct model *m = load_graph_bytes(&g);
	ok(m && m->graph->values[0].kind == VALUE_OPAQUE, "twenty sequences in each other (%s)", err.text);
	model_free(m);
	type = tensor_of(1);
	for (int i = 0; i < 200; i++)
		type = type_of(4, type);
	put_typed(&g, 11, "x", type);
	put_node(&g, "n", "Op", "x", "", "y", NULL);
	is_refused(load_graph_bytes(&g), "nested more than", "two hundred");
}

/* Types, graphs, texts and sparse constants as attributes. */
static void test_attributes(void)
{
	struct str g = { 0 }, all = { 0 }, c = { 0 }, type = type_of(9, tensor_of(3)), body = { 0 },
		   sparse = { 0 };
	put_message(&c, 14, &type);
	put_attribute(&all, "type", 13, &c);
	put_node(&body, "b", "Op", "nowhere", "", "z", NULL);
	put_message(&c, 11, &body);
	put_attribute(&all, "graphs", 10, &c);
	put_text(&c, 9, "a");
	put_text(&c, 9, "b");
	put_attribute(&all, "value_strings", 8, &c);
	put_tensor(&sparse, 1, "", FLOAT, "1", "\0\0\0\0", 4);
	put_int(&sparse, 3, 7);
	put_message(&c, 22, &sparse);
	put_attribute(&all, "sparse_value", 11, &c);
	put_attribute(&all, "no_type", 13, &c);
	type = tensor_of(4);
	put_message(&c, 14, &type);
	put_attribute(&all, "untold", 0, &c);
	put_node(&g, "n", "Op", "", "", "y", &all);
	struct model *m = load_graph_bytes(&g);
	if (!ok(m != NULL, "odd attributes: loaded (%s)", err.text))
		return;
	const struct node *n = &m->graph->nodes[0];
	const struct attribute *a = node_attribute(n, "type");
	ok(a->kind == ATTRIBUTE_TYPE && a->type->kind == VALUE_OPTIONAL && a->type->dtype == DTYPE_F32 &&
			a->type->shape.dims[0].value == 3,
		"a type");
	ok(node_attribute(n, "graphs")->kind == ATTRIBUTE_OTHER, "a list of graphs is not looked at");
	ok(node_attribute(n, "value_strings")->count == 2, "texts");
	a = node_attribute(n, "sparse_value");
	ok(a->kind == ATTRIBUTE_TENSOR && a->tensor->elements == 7 && !a->tensor->data, "a sparse constant");
	a = node_attribute(n, "no_type");
	ok(a->kind == ATTRIBUTE_TYPE && a->type->dtype == DTYPE_UNKNOWN && a->type->shape.rank == -1,
		"no type");
	a = node_attribute(n, "untold");
	ok(a->kind == ATTRIBUTE_TYPE && a->type->shape.dims[0].value == 4,
		"a type that is not said to be one");
	model_free(m);
}

static void test_strings(void)
{
	struct str g = { 0 }, t = { 0 };
	put_int(&t, 1, 2);
	put_int(&t, 2, STRINGS);
	put_text(&t, 6, "one");
	put_text(&t, 6, "\x1b[2Jtwo");
	put_text(&t, 8, "w");
	put_message(&g, 5, &t);
	put_node(&g, "n", "Op", "w", "", "y", NULL);
	struct model *m = load_graph_bytes(&g);
	ok(m && m->warning_count == 0 && m->graph->values[0].dtype == DTYPE_STRING &&
			m->graph->values[0].initializer->elements == 2 &&
			!m->graph->values[0].initializer->data,
		"texts as a constant (%s)", err.text);
	model_free(m);
}

/* ---- constants in other files ---- */

static void put_entry(struct str *tensor, const char *key, const char *value)
{
	struct str e = { 0 };
	put_text(&e, 1, key);
	put_text(&e, 2, value);
	put_message(tensor, 13, &e);
}

static void put_external(
	struct str *graph, const char *name, const char *location, const char *offset, const char *length)
{
	struct str t = { 0 };
	put_int(&t, 1, 10);
	put_int(&t, 2, FLOAT);
	put_int(&t, 14, 1);
	put_text(&t, 8, name);
	if (location)
		put_entry(&t, "location", location);
	if (offset)
		put_entry(&t, "offset", offset);
	if (length)
		put_entry(&t, "length", length);
	put_message(graph, 5, &t);
}

static void test_external(void)
{
	static const struct {
		const char *location, *offset, *length, *warning; /* NULL: none */
	} cases[] = {
		{ "weights.bin", NULL, NULL, NULL },
		{ "weights/a.bin", "4096", "40", NULL },
		{ "..weights..bin", "0", NULL, NULL },
		{ "not/there/..at/all", NULL, NULL, NULL },
		{ NULL, NULL, NULL, "is in a file without a name" },
		{ "/etc/passwd", NULL, NULL, "is outside the model's folder (\"/etc/passwd\")" },
		{ "C:\\weights", NULL, NULL, "outside the model's folder" },
		{ "\\\\host\\share", NULL, NULL, "outside the model's folder" },
		{ "../weights.bin", NULL, NULL, "outside the model's folder" },
		{ "a/../../b", NULL, NULL, "outside the model's folder" },
		{ "a\\..\\..\\b", NULL, NULL, "outside the model's folder" },
		{ "a/..", NULL, NULL, "outside the model's folder" },
		{ "\x1b]0;evil\x07/../x", NULL, NULL, "(\"?]0;evil?/../x\")" },
		{ "link.bin", NULL, NULL, "is behind a symbolic link (\"link.bin\")" },
		{ "link.bin/under", NULL, NULL, "is behind a symbolic link (\"link.bin/under\")" },
		{ "w", "-1", NULL, "has the invalid offset \"-1\"" },
		{ "w", "99999999999999999999", NULL, "has the invalid offset \"999" },
		{ "w", "ten", "40", "has the invalid offset \"ten\"" },
		{ "w", NULL, "39", "39 bytes are given, but its shape needs 40" },
		{ "w", NULL, "4e1", "has the invalid length \"4e1\"" },
	};
	char link[400];
	snprintf(link, sizeof(link), "%s/link.bin", scratch_dir);
	bool linked = symlink("/etc/passwd", link) == 0;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (!linked && cases[i].location && strstr(cases[i].location, "link"))
			continue;
		struct str g = { 0 };
		put_external(&g, "w", cases[i].location, cases[i].offset, cases[i].length);
		put_node(&g, "n", "Op", "w", "", "y", NULL);
		struct model *m = load_graph_bytes(&g);
		const struct tensor *w = m ? m->graph->values[0].initializer : NULL;
		ok(w && w->external && !w->data && w->elements == 10 &&
				m->warning_count == (cases[i].warning ? 1 : 0) &&
				(!cases[i].warning || (warned(m, cases[i].warning) && warned(m, "\"w\""))),
			"external in \"%s\" at %s, %s (%s)", cases[i].location ? cases[i].location : "",
			cases[i].offset ? cases[i].offset : "-", cases[i].length ? cases[i].length : "-",
			m && m->warning_count ? m->warnings[0] : err.text);
		model_free(m);
	}
	unlink(link);
	char *longest = base_calloc(20001, 1);
	struct str g = { 0 };
	memset(longest, 'x', 20000);
	put_external(&g, "w", longest, NULL, NULL);
	put_node(&g, "n", "Op", "w", "", "y", NULL);
	struct model *whole = load_graph_bytes(&g);
	ok(whole && whole->graph->values[0].initializer->external && whole->warning_count == 0,
		"a location longer than a path can be is no link");
	model_free(whole);
	free(longest);
	g = (struct str){ 0 };
	for (int i = 0; i < 300; i++) {
		char name[16];
		snprintf(name, sizeof(name), "w%d", i);
		put_external(&g, name, "../weights.bin", NULL, NULL);
	}
	put_node(&g, "n", "Op", "w0", "", "y", NULL);
	struct model *m = load_graph_bytes(&g);
	is_int(m ? m->warning_count : -1, 1, "one warning for a file, however much lies in it");
	model_free(m);
}

/* A first dimension of 0 stands for an unknown shape; a cache may be empty. */
static void test_zeros(void)
{
	struct str g = { 0 };
	put_value(&g, 11, "x", FLOAT, "0,3,0,8");
	put_value(&g, 11, "cache", FLOAT, "2,4,0,8");
	put_value(&g, 11, "none", FLOAT, "0");
	put_node(&g, "n", "Op", "x", "cache", "y", NULL);
	struct model *m = load_graph_bytes(&g);
	if (!ok(m != NULL, "inputs with dimensions of 0 (%s)", err.text))
		return;
	const struct value *v = m->graph->values;
	ok(v[0].shape.dims[0].kind == DIM_UNKNOWN && v[0].shape.dims[2].kind == DIM_UNKNOWN &&
			v[0].shape.dims[3].value == 8,
		"a first dimension of 0 and those with it are unknown");
	ok(v[1].shape.dims[2].kind == DIM_KNOWN && v[2].shape.dims[0].kind == DIM_KNOWN, "others stay");
	ok(v[0].zeros && v[1].zeros && !v[2].zeros && !m->warning_count, "the plan warns of both");
	model_free(m);
	put_node(&g, "same", "Op", "", "", "a", NULL);
	put_node(&g, "same", "Op", "a", "", "b", NULL);
	m = load_graph_bytes(&g);
	ok(m && warned(m, "1 node has the name of another one (\"same\"); ONNX Runtime refuses"),
		"two nodes of one name");
	model_free(m);
}

/* Writes n bytes to a file below the scratch directory. */
static void put_file(const char *name, const void *bytes, size_t n)
{
	char path[400];
	snprintf(path, sizeof(path), "%s/%s", scratch_dir, name);
	FILE *f = fopen(path, "wb");
	if (!ok(f && fwrite(bytes, 1, n, f) == n, "wrote %s", name))
		return;
	fclose(f);
}

/* What is read of three int64 at `offset` of `location`; NULL: nothing, and `why` is said. */
static void is_read(const char *location, const char *offset, const char *length, const char *why)
{
	struct str g = { 0 }, t = { 0 };
	put_int(&t, 1, 3);
	put_int(&t, 2, INT64);
	put_int(&t, 14, 1);
	put_text(&t, 8, "w");
	put_entry(&t, "location", location);
	if (offset)
		put_entry(&t, "offset", offset);
	if (length)
		put_entry(&t, "length", length);
	put_message(&g, 5, &t);
	put_node(&g, "n", "Op", "w", "", "y", NULL);
	struct model *m = load_graph_bytes(&g);
	const struct tensor *w = m ? m->graph->values[0].initializer : NULL;
	int64_t last;
	bool read = w && w->data && w->data_bytes == 24 && !w->unread && tensor_int(w, 2, &last) && last == 9;
	bool said = w && !w->data && w->unread && why && strstr(w->unread, why);
	ok(why ? said : read, "%s at %s: %s (%s)", location, offset ? offset : "-", why ? why : "read",
		w && w->unread ? w->unread : "-");
	model_free(m);
}

static void test_external_contents(void)
{
	static const int64_t numbers[] = { 5, 7, 9, 7, 8, 9, 1 };
	static const char *const links[][2] = { { "small.bin", "in.bin" }, { "/etc/passwd", "out.bin" },
		{ "/etc", "outer" }, { "/dev/zero", "device.bin" }, { "round.bin", "round.bin" } };
	char path[400];
	snprintf(path, sizeof(path), "%s/sub", scratch_dir);
	mkdir(path, 0700);
	put_file("small.bin", numbers, sizeof(numbers));
	put_file("sub/small.bin", numbers, sizeof(numbers));
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", scratch_dir, links[i][1]);
		ok(symlink(links[i][0], path) == 0, "a link to %s", links[i][0]);
	}
	snprintf(path, sizeof(path), "%s/pipe.bin", scratch_dir);
	ok(mkfifo(path, 0600) == 0, "a pipe");
	is_read("small.bin", NULL, NULL, NULL);
	is_read("small.bin", "24", "24", NULL);
	is_read("sub/small.bin", "0", "24", NULL);
	is_read("./sub/small.bin", "0", "24", NULL);
	is_read("in.bin", "0", "24", NULL);
	is_read("small.bin", "40", "24", "has 56 bytes, too few for 24 at 40: download");
	is_read("small.bin", "9223372036854775807", NULL, "too few for 24");
	is_read("small.bin", "-8", NULL, "its offset or length is wrong");
	is_read("small.bin", "0", "16", "its offset or length is wrong");
	is_read("none.bin", "0", "24", "there is no file \"none.bin\" beside the model: put it there");
	is_read("small.bin/x", "0", "24", "there is no file \"small.bin/x\"");
	is_read("sub", "0", "24", "\"sub\" is not a regular file");
	is_read("pipe.bin", "0", "24", "\"pipe.bin\" is not a regular file");
	is_read("sub/../small.bin", "0", "24", "outside the model's folder");
	is_read("/etc/passwd", "0", "24", "outside the model's folder");
	is_read("out.bin", "0", "24", "file \"out.bin\" is outside the model's folder: put a copy into it");
	is_read("outer/passwd", "0", "24", "file \"outer/passwd\" is outside");
	is_read("device.bin", "0", "24", "file \"device.bin\" is outside");
	is_read("round.bin", "0", "24", "cannot be read");
	static const char *const made[] = { "small.bin", "sub/small.bin", "sub", "pipe.bin" };
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]) + sizeof(links) / sizeof(links[0]); i++) {
		size_t other = i - sizeof(made) / sizeof(made[0]);
		snprintf(path, sizeof(path), "%s/%s", scratch_dir,
			i < sizeof(made) / sizeof(made[0]) ? made[i] : links[other][1]);
		remove(path);
	}
}

/* ---- initializers ---- */

static void test_initializers(void)
{
	struct str g = { 0 };
	int64_t two = 2, three = 3;
	put_tensor(&g, 5, "s", INT64, "1", &two, 8);
	put_tensor(&g, 5, "s", INT64, "1", &three, 8);
	put_value(&g, 11, "x", FLOAT, "1");
	put_node(&g, "n", "Op", "s", "x", "y", NULL);
	put_value(&g, 12, "s", INT64, "1");
	put_value(&g, 12, "x", FLOAT, NULL);
	put_value(&g, 12, "y", FLOAT, NULL);
	put_value(&g, 12, "y", FLOAT, NULL);
	struct model *m = load_graph_bytes(&g);
	int64_t v = 0;
	ok(m && m->warning_count == 1 &&
			warned(m, "two initializers are named \"s\"; the last one is used") &&
			tensor_int(m->graph->values[value_at(m->graph, "s")].initializer, 0, &v) && v == 3,
		"an initializer listed twice (%s)", err.text);
	ok(m && m->graph->output_count == 4 && m->graph->outputs[0] == value_at(m->graph, "s") &&
			m->graph->outputs[1] == value_at(m->graph, "x") &&
			m->graph->outputs[2] == m->graph->outputs[3],
		"outputs that are a constant, an input, and one twice");
	model_free(m);
}

/* ---- names again in bodies ---- */

static void test_hidden(void)
{
	struct str g = { 0 }, body = { 0 }, deep = { 0 }, a = { 0 };
	put_text(&deep, 2, "deepest");
	put_node(&deep, "d", "Relu", "x", "", "r", NULL);
	put_value(&deep, 12, "r", FLOAT, NULL);
	put_body(&a, "then_branch", &deep);
	put_text(&body, 2, "inner");
	put_value(&body, 11, "x", INT64, "7");
	put_tensor(&body, 5, "w", INT64, "2", NULL, 0);
	put_node(&body, "b", "Op", "x", "w", "t", NULL);
	put_node(&body, "c", "If", "t", "", "u", &a);
	put_value(&body, 12, "u", FLOAT, NULL);
	put_body(&a, "body", &body);
	put_value(&g, 11, "x", FLOAT, "1");
	put_value(&g, 11, "w", FLOAT, "1");
	put_node(&g, "maker", "Op", "x", "w", "t", NULL);
	put_node(&g, "loop", "Loop", "t", "", "y", &a);
	struct model *m = load_graph_bytes(&g);
	if (!ok(m != NULL, "names again in a body: loaded (%s)", err.text))
		return;
	const struct graph *inner = node_at(m->graph, "loop")->attributes[0].graph;
	const struct graph *deepest = node_at(inner, "c")->attributes[0].graph;
	ok(inner->values[value_at(inner, "x")].outer == -1 &&
			inner->values[value_at(inner, "x")].dtype == DTYPE_S64,
		"within, its own");
	ok(deepest->values[value_at(deepest, "x")].outer == value_at(inner, "x") &&
			deepest->values[value_at(deepest, "x")].dtype == DTYPE_S64,
		"and in a body within, that of the body around it");
	ok(warned(m, "3 names (\"x\" ...) of the subgraph \"inner\" are also defined outside it"),
		"with a warning");
	model_free(m);
}

static void test_body_order(void)
{
	struct str g = { 0 }, body = { 0 }, a = { 0 };
	put_node(&body, "second", "Op", "p", "", "q", NULL);
	put_node(&body, "first", "Op", "x", "", "p", NULL);
	put_value(&body, 12, "q", FLOAT, NULL);
	put_value(&body, 12, "x", FLOAT, NULL);
	put_body(&a, "then_branch", &body);
	put_value(&g, 11, "x", FLOAT, "1");
	put_node(&g, "if", "If", "x", "", "y", &a);
	struct model *m = load_graph_bytes(&g);
	const struct graph *b = m ? m->graph->nodes[0].attributes[0].graph : NULL;
	ok(b && text_is(b->nodes[0].name, "first") &&
		warned(m, "\"second\" precedes"), "a body is sorted (%s)",
		err.text);
	ok(b && b->values[b->outputs[1]].outer == value_at(m->graph, "x"),
		"its output may come from outside");
	model_free(m);
}

/* ---- operator sets ---- */

static void test_opsets(void)
{
	struct str g = { 0 }, body = { 0 }, a = { 0 }, n = { 0 };
	put_text(&n, 2, "z");
	put_text(&n, 3, "contrib");
	put_text(&n, 4, "FusedX");
	put_text(&n, 7, "com.microsoft");
	put_message(&body, 1, &n);
	put_value(&body, 12, "z", FLOAT, NULL);
	put_body(&a, "then_branch", &body);
	put_node(&g, "if", "If", "", "", "y", &a);
	put_text(&n, 3, "ml");
	put_text(&n, 4, "Scaler");
	put_text(&n, 7, "ai.onnx.ml");
	put_message(&g, 1, &n);
	put_text(&n, 3, "plain");
	put_text(&n, 4, "Relu");
	put_text(&n, 7, "ai.onnx");
	put_message(&g, 1, &n);
	struct str bytes = put_model(&g, 9, 0);
	struct model *m = load_bytes(&bytes);
	if (!ok(m != NULL, "no operator sets: loaded (%s)", err.text))
		return;
	const struct node *contrib = node_at(node_at(m->graph, "if")->attributes[0].graph, "contrib");
	ok(contrib->opset == 1 && node_at(m->graph, "ml")->opset == 5 &&
			node_at(m->graph, "plain")->opset == 20 && node_at(m->graph, "if")->opset == 20,
		"each is assumed");
	ok(m->warning_count == 3 && warned(m, "operator set of \"com.microsoft\" is not given, 1 is assumed"),
		"with one warning for each");
	is_int(model_opset(m, TEXT("com.microsoft")), 1, "and stands with the imported ones");
	model_free(m);
	for (int i = 0; i < 5000; i++) {
		char domain[16];
		snprintf(domain, sizeof(domain), "d%d", i);
		put_text(&n, 4, "Op");
		put_text(&n, 7, domain);
		put_message(&g, 1, &n);
	}
	m = load_graph_bytes(&g);
	ok(m && m->warning_count == 101 && m->opset_count <= 2000 && m->graph->nodes[4999].opset == 1,
		"five thousand domains (%s)", err.text);
	model_free(m);
}

int main(void)
{
	if (!scratch_open())
		skip_all("no directory for temporary files");
	test_kinds();
	test_deep_type();
	test_attributes();
	test_strings();
	test_external();
	test_external_contents();
	test_zeros();
	test_initializers();
	test_hidden();
	test_body_order();
	test_opsets();
	scratch_close();
	return done_testing();
}
