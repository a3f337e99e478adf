#include "config.h"

#include "model_help.h"

/* Operators that a model defines itself: their calls are replaced by what stands in them. */

/* A model of operator set 17 with the functions already written in `functions`; both are emptied. */
static struct model *load(struct str *graph, struct str *functions)
{
	struct str m = put_model(graph, 10, 17);
	if (functions->n)
		str_add(&m, functions->p, functions->n);
	str_free(functions);
	return load_bytes(&m);
}

static void refused(struct str *graph, struct str *functions, const char *part, const char *name)
{
	is_refused(load(graph, functions), part, name);
}

/* Texts of a list "a,b,,c" in a repeated field. */
static void put_list(struct str *to, unsigned field, const char *list)
{
	for (const char *p = list; *list; p += *p == ',') {
		size_t n = strcspn(p, ",");
		put_bytes(to, field, p, n);
		p += n;
		if (!*p)
			break;
	}
}

/* A node with lists of names, an operator "domain:op", and attributes already written. */
static void put_call(struct str *to, unsigned field, const char *name, const char *op, const char *inputs,
	const char *outputs, struct str *attributes)
{
	struct str n = { 0 };
	const char *colon = strchr(op, ':');
	put_list(&n, 1, inputs);
	put_list(&n, 2, outputs);
	if (*name)
		put_text(&n, 3, name);
	put_text(&n, 4, colon ? colon + 1 : op);
	if (colon)
		put_bytes(&n, 7, op, (size_t)(colon - op));
	if (attributes && attributes->n)
		str_add(&n, attributes->p, attributes->n);
	if (attributes)
		str_free(attributes);
	put_message(to, field, &n);
}

#define BODY(f, name, op, inputs, outputs, attributes) put_call(f, 7, name, op, inputs, outputs, attributes)
#define MAIN(g, name, op, inputs, outputs, attributes) put_call(g, 1, name, op, inputs, outputs, attributes)

/* Closes the function whose nodes are in `body`, and adds it to `functions`. */
static void put_function(struct str *functions, struct str *body, const char *domain, const char *name,
	const char *in, const char *out)
{
	put_text(body, 1, name);
	put_text(body, 10, domain);
	put_list(body, 4, in);
	put_list(body, 5, out);
	put_message(functions, 25, body);
}

static void put_int_attribute(struct str *to, unsigned field, const char *name, int64_t value)
{
	struct str a = { 0 };
	put_text(&a, 1, name);
	put_int(&a, 3, value);
	put_int(&a, 20, 2);
	put_message(to, field, &a);
}

static void put_reference(struct str *to, const char *name, const char *meant, int type)
{
	struct str a = { 0 };
	put_text(&a, 1, name);
	put_text(&a, 21, meant);
	put_int(&a, 20, type);
	put_message(to, 5, &a);
}

/* Are input and output of the node called so the values called so? "" for an omitted one. */
static bool joins(const struct graph *g, const char *name, int input, const char *from, const char *to)
{
	const struct node *n = node_at(g, name);
	if (!n || input >= n->input_count || n->output_count < 1)
		return false;
	int in = n->inputs[input], out = n->outputs[0];
	return (*from ? in >= 0 && text_is(g->values[in].name, from) : in == -1) && out >= 0 &&
	       text_is(g->values[out].name, to) && &g->nodes[g->values[out].producer] == n;
}

/* ---- calls in place ---- */

static void put_gelu(struct str *functions)
{
	struct str f = { 0 };
	BODY(&f, "half", "Mul", "x,scale", "h", NULL);
	BODY(&f, "", "Erf", "h", "e", NULL);
	BODY(&f, "last", "Mul", "e,x", "y", NULL);
	put_import(&f, "", 15, 9);
	put_function(functions, &f, "local", "Gelu", "x,scale", "y");
}

static void test_calls(void)
{
	struct str g = { 0 }, functions = { 0 };
	put_gelu(&functions);
	put_value(&g, 11, "a", FLOAT, "2,3");
	MAIN(&g, "first", "local:Gelu", "a,", "b", NULL);
	MAIN(&g, "", "local:Gelu", "b,a", "c", NULL);
	MAIN(&g, "end", "Relu", "c", "d", NULL);
	put_value(&g, 12, "d", FLOAT, NULL);
	struct model *m = load(&g, &functions);
	if (!ok(m != NULL, "two calls: loaded (%s)", err.text))
		return;
	const struct graph *x = m->graph;
	is_int(x->node_count, 7, "their nodes are in place");
	is_int(m->warning_count, 0, "without a warning (%s)", m->warning_count ? m->warnings[0] : "");
	ok(joins(x, "first/half", 0, "a", "first/h"),
		"an input is what the call gives, a result has the call's name");
	ok(joins(x, "first/half", 1, "", "first/h"), "an input that the call leaves out is left out");
	ok(joins(x, "first/Erf_1", 0, "first/h", "first/e"), "a node without a name gets its label");
	ok(joins(x, "first/last", 1, "a", "b"), "the output is what the call makes");
	ok(joins(x, "Gelu_1/half", 0, "b", "Gelu_1/h") && joins(x, "Gelu_1/half", 1, "a", "Gelu_1/h"),
		"the second, without a name");
	ok(node_at(x, "first/half")->opset == 15 && node_at(x, "end")->opset == 17,
		"a function's nodes are of its own operator set");
	ok(joins(x, "end", 0, "c", "d"), "and the model goes on");
	model_free(m);
}

static void test_nested(void)
{
	struct str g = { 0 }, functions = { 0 }, f = { 0 };
	put_gelu(&functions);
	BODY(&f, "act", "local:Gelu", "p,", "q", NULL);
	BODY(&f, "act", "local:Gelu", "q,q", "r", NULL);
	put_function(&functions, &f, "other", "Twice", "p", "r");
	put_value(&g, 11, "x", FLOAT, "2,3");
	MAIN(&g, "t", "other:Twice", "x", "y", NULL);
	MAIN(&g, "t", "other:Twice", "y", "z", NULL);
	put_value(&g, 12, "z", FLOAT, NULL);
	struct model *m = load(&g, &functions);
	if (!ok(m != NULL, "calls within calls: loaded (%s)", err.text))
		return;
	const struct graph *x2 = m->graph;
	is_int(x2->node_count, 12, "all their nodes");
	ok(joins(x2, "t/act/half", 0, "x", "t/act/h") && joins(x2, "t/act/last", 1, "x", "t/q"),
		"names add up");
	ok(joins(x2, "t/act_2/half", 1, "t/q", "t/act_2/h") && joins(x2, "t/act_2/last", 0, "t/act_2/e", "y"),
		"a second call of one name gets a number");
	ok(joins(x2, "t_2/act/half", 0, "y", "t_2/act/h") && joins(x2, "t_2/act_2/last", 1, "t_2/q", "z"),
		"anywhere");
	model_free(m);
}

/* Names in a function and those outside of it are told apart, whatever they are. */
static void test_names_apart(void)
{
	struct str g = { 0 }, functions = { 0 }, f = { 0 };
	BODY(&f, "n", "Relu", "x", "t", NULL);
	BODY(&f, "m", "Relu", "t", "y", NULL);
	put_function(&functions, &f, "local", "F", "x", "y");
	put_value(&g, 11, "x", FLOAT, "1");
	put_value(&g, 11, "t", FLOAT, "2");
	MAIN(&g, "c", "local:F", "t", "x2", NULL);
	MAIN(&g, "d", "Relu", "x", "c/t", NULL);
	MAIN(&g, "e", "Add", "c/t,x2", "y", NULL);
	put_value(&g, 12, "y", FLOAT, NULL);
	struct model *m = load(&g, &functions);
	if (!ok(m != NULL, "equal names within and outside: loaded (%s)", err.text))
		return;
	const struct graph *x = m->graph;
	ok(joins(x, "c/n", 0, "t", "c/t") && joins(x, "c/m", 0, "c/t", "x2"), "each in its place");
	const struct node *e = node_at(x, "e");
	ok(e && x->values[e->inputs[0]].producer == node_at(x, "d") - x->nodes,
		"a name that looks like an inner one");
	model_free(m);
	BODY(&f, "n", "Relu", "a", "y", NULL);
	put_function(&functions, &f, "local", "F", "x", "y");
	put_value(&g, 11, "a", FLOAT, "1");
	MAIN(&g, "c", "local:F", "a", "b", NULL);
	refused(&g, &functions, "node \"c/n\" reads \"a\", which the function does not define",
		"a name of the model read within a function");
}

/* ---- attributes ---- */

static void test_attributes(void)
{
	struct str g = { 0 }, functions = { 0 }, f = { 0 }, a = { 0 };
	put_reference(&a, "axis", "where", 2);
	put_reference(&a, "keepdims", "keep", 2);
	put_reference(&a, "gone", "nowhere", 2);
	put_int_attribute(&a, 5, "plain", 4);
	BODY(&f, "n", "ReduceX", "x", "y", &a);
	put_int_attribute(&f, 11, "keep", 7);
	put_text(&f, 6, "where");
	put_function(&functions, &f, "local", "Inner", "x", "y");
	put_reference(&a, "where", "outer_where", 2);
	BODY(&f, "i", "local:Inner", "x", "y", &a);
	put_function(&functions, &f, "local", "Outer", "x", "y");
	put_value(&g, 11, "x", FLOAT, "1");
	put_int_attribute(&a, 5, "outer_where", -3);
	put_int_attribute(&a, 5, "keep", 9);
	MAIN(&g, "o", "local:Outer", "x", "y", &a);
	put_int_attribute(&a, 5, "keep", 8);
	MAIN(&g, "p", "local:Inner", "y", "z", &a);
	struct model *m = load(&g, &functions);
	if (!ok(m != NULL, "references: loaded (%s)", err.text))
		return;
	const struct node *n = node_at(m->graph, "o/i/n"), *p = node_at(m->graph, "p/n");
	ok(n && node_int(n, "axis", 0) == -3, "through two calls");
	ok(n && node_int(n, "keepdims", 0) == 7, "the default of the function");
	ok(n && node_int(n, "plain", 0) == 4 && n->attribute_count == 3 && !node_attribute(n, "gone"),
		"what nobody gives is not there");
	ok(p && node_int(p, "keepdims", 0) == 8 && !node_attribute(p, "axis"),
		"given instead of the default");
	model_free(m);
}

/* A default that refers to itself is no value. */
static void test_endless_reference(void)
{
	struct str g = { 0 }, functions = { 0 }, f = { 0 }, a = { 0 }, d = { 0 };
	put_reference(&a, "axis", "loop", 2);
	BODY(&f, "n", "Op", "x", "y", &a);
	put_text(&d, 1, "loop");
	put_text(&d, 21, "loop");
	put_int(&d, 20, 2);
	put_message(&f, 11, &d);
	put_function(&functions, &f, "local", "F", "x", "y");
	put_value(&g, 11, "x", FLOAT, "1");
	MAIN(&g, "c", "local:F", "x", "y", NULL);
	struct model *m = load(&g, &functions);
	const struct attribute *axis = m ? node_attribute(node_at(m->graph, "c/n"), "axis") : NULL;
	ok(axis && axis->kind == ATTRIBUTE_OTHER, "a default that refers to itself is no value (%s)",
		err.text);
	model_free(m);
}

/* ---- bodies ---- */

static void test_bodies(void)
{
	struct str g = { 0 }, functions = { 0 }, f = { 0 }, body = { 0 }, a = { 0 };
	put_gelu(&functions);
	/* The body reads an input, an inner value and the output of the function, and calls a function. */
	put_call(&body, 1, "b", "Sum", "x,t,own", "s", NULL);
	put_call(&body, 1, "own", "Relu", "t", "own", NULL);
	put_call(&body, 1, "g", "local:Gelu", "s,x", "r", NULL);
	put_value(&body, 12, "r", FLOAT, NULL);
	put_body(&a, "then_branch", &body);
	BODY(&f, "t", "Relu", "x", "t", NULL);
	BODY(&f, "if", "If", "c", "y", &a);
	put_function(&functions, &f, "local", "F", "c,x", "y");
	put_value(&g, 11, "c", 9, "");
	put_value(&g, 11, "data", FLOAT, "4");
	put_tensor(&g, 5, "own", FLOAT, "1", "\0\0\0\0", 4);
	MAIN(&g, "call", "local:F", "c,data", "out", NULL);
	struct model *m = load(&g, &functions);
	if (!ok(m != NULL, "a body within a function: loaded (%s)", err.text))
		return;
	const struct node *branch = node_at(m->graph, "call/if");
	const struct graph *b = branch ? branch->attributes[0].graph : NULL;
	ok(b && b->node_count == 5 && m->warning_count == 1 && warned(m, "execution order"),
		"its nodes, sorted");
	int data = b ? value_at(b, "data") : -1, t = b ? value_at(b, "call/t") : -1,
	    own = b ? value_at(b, "call/own") : -1;
	ok(data >= 0 && b->values[data].outer == value_at(m->graph, "data"),
		"the input is what the call gives");
	ok(t >= 0 && b->values[t].outer == value_at(m->graph, "call/t"), "a value of the function around it");
	ok(own >= 0 && b->values[own].outer == -1 && b->values[own].producer >= 0, "its own is its own");
	ok(b && joins(b, "call/g/half", 0, "call/s", "call/g/h") &&
			joins(b, "call/g/half", 1, "data", "call/g/h") &&
			joins(b, "call/g/last", 1, "call/s", "call/r"),
		"a call within it");
	model_free(m);
}

/* A body given to a call as an attribute is written where the call stands. */
static void test_given_body(void)
{
	struct str g = { 0 }, functions = { 0 }, f = { 0 }, body = { 0 }, a = { 0 };
	put_reference(&a, "body", "given", 5);
	BODY(&f, "t", "Relu", "x", "t", NULL);
	BODY(&f, "loop", "Loop", "t", "y", &a);
	put_function(&functions, &f, "local", "F", "x", "y");
	put_call(&body, 1, "inner", "Add", "x,t", "z", NULL);
	put_value(&body, 12, "z", FLOAT, NULL);
	put_body(&a, "given", &body);
	put_value(&g, 11, "x", FLOAT, "1");
	put_value(&g, 11, "t", FLOAT, "2");
	put_value(&g, 11, "q", FLOAT, "3");
	MAIN(&g, "c", "local:F", "q", "y", &a);
	struct model *m = load(&g, &functions);
	const struct node *loop = m ? node_at(m->graph, "c/loop") : NULL;
	const struct graph *b = loop && loop->attribute_count ? loop->attributes[0].graph : NULL;
	ok(b && joins(b, "inner", 0, "x", "z") && joins(b, "inner", 1, "t", "z") &&
			b->values[value_at(b, "t")].outer == value_at(m->graph, "t"),
		"a body given as an attribute reads what stands around the call (%s)", err.text);
	model_free(m);
}

/* An input of the function that a body's own value is called like: within, the body's own. */
static void test_hidden_formal(void)
{
	struct str g = { 0 }, functions = { 0 }, f = { 0 }, body = { 0 }, a = { 0 };
	put_call(&body, 1, "b", "Op", "y0", "x", NULL);
	put_call(&body, 1, "d", "Add", "x,w", "r", NULL);
	put_value(&body, 12, "r", FLOAT, NULL);
	put_body(&a, "then_branch", &body);
	BODY(&f, "if", "If", "x", "y", &a);
	put_function(&functions, &f, "local", "F", "x,w,y0", "y");
	put_value(&g, 11, "v", FLOAT, "1");
	MAIN(&g, "c", "local:F", "v,v,v", "y", NULL);
	struct model *m = load(&g, &functions);
	const struct node *branch = m ? node_at(m->graph, "c/if") : NULL;
	const struct graph *b = branch ? branch->attributes[0].graph : NULL;
	ok(b && joins(b, "c/d", 0, "c/x", "c/r") && joins(b, "c/d", 1, "v", "c/r"), "the body's own (%s)",
		err.text);
	ok(m && warned(m, "1 name (\"x\") of the subgraph"), "with a warning");
	model_free(m);
}

/* ---- outputs ---- */

static void test_outputs(void)
{
	struct str g = { 0 }, functions = { 0 }, f = { 0 };
	BODY(&f, "n", "Op", "x", "y,z", NULL);
	put_function(&functions, &f, "local", "F", "x,w", "y,z,w");
	put_value(&g, 11, "a", FLOAT, "1");
	MAIN(&g, "c", "local:F", "a,a", ",k,l", NULL);
	put_value(&g, 12, "k", FLOAT, NULL);
	put_value(&g, 12, "l", FLOAT, NULL);
	struct model *m = load(&g, &functions);
	const struct node *n = m ? node_at(m->graph, "c/n") : NULL;
	ok(n && text_is(m->graph->values[n->outputs[0]].name, "c/y") &&
			text_is(m->graph->values[n->outputs[1]].name, "k"),
		"an output that the call does not take is a value like others (%s)", err.text);
	ok(m && joins(m->graph, "c/w", 0, "a", "l") && text_is(node_at(m->graph, "c/w")->op, "Identity"),
		"an input handed on as an output");
	model_free(m);
	BODY(&f, "n", "Op", "x", "y", NULL);
	put_function(&functions, &f, "local", "F", "x", "y,z");
	put_value(&g, 11, "a", FLOAT, "1");
	MAIN(&g, "c", "local:F", "a", "b,d", NULL);
	refused(&g, &functions, "function \"F\" does not compute its output \"z\"",
		"an output that nothing makes");
}

static void test_types(void)
{
	struct str g = { 0 }, functions = { 0 }, f = { 0 };
	BODY(&f, "n", "Op", "x", "t", NULL);
	BODY(&f, "m", "Op", "t", "y", NULL);
	put_value(&f, 12, "t", INT64, "N,3");
	put_value(&f, 12, "y", FLOAT, "5");
	put_value(&f, 12, "x", FLOAT, "77");
	put_function(&functions, &f, "local", "F", "x", "y");
	put_value(&g, 11, "a", FLOAT, "N");
	MAIN(&g, "c", "local:F", "a", "b", NULL);
	struct model *m = load(&g, &functions);
	const struct graph *x = m ? m->graph : NULL;
	const struct value *t = x ? &x->values[value_at(x, "c/t")] : NULL;
	ok(t && t->dtype == DTYPE_S64 && t->shape.rank == 2 && t->shape.dims[1].value == 3,
		"a type within (%s)", err.text);
	ok(t && t->shape.dims[0].kind == DIM_UNKNOWN, "a symbol within a function is not the model's");
	ok(x && x->values[value_at(x, "b")].shape.rank == 1, "of an output");
	ok(x && x->values[value_at(x, "a")].shape.dims[0].kind == DIM_SYMBOLIC,
		"what the call gives keeps its own");
	model_free(m);
}

/* ---- which function ---- */

static void test_overloads(void)
{
	struct str g = { 0 }, functions = { 0 }, f = { 0 }, n = { 0 };
	BODY(&f, "n", "One", "x", "y", NULL);
	put_text(&f, 13, "one");
	put_function(&functions, &f, "local", "F", "x", "y");
	BODY(&f, "n", "Two", "x", "y", NULL);
	put_text(&f, 13, "two");
	put_function(&functions, &f, "local", "F", "x", "y");
	BODY(&f, "n", "Other", "x", "y", NULL);
	put_function(&functions, &f, "ai.onnx", "Relu", "x", "y");
	put_value(&g, 11, "x", FLOAT, "1");
	put_text(&n, 8, "two");
	put_list(&n, 1, "x");
	put_list(&n, 2, "y");
	put_text(&n, 3, "c");
	put_text(&n, 4, "F");
	put_text(&n, 7, "local");
	put_message(&g, 1, &n);
	MAIN(&g, "d", "local:F", "y", "z", NULL);
	MAIN(&g, "e", "Relu", "z", "w", NULL);
	struct model *m = load(&g, &functions);
	ok(m && node_at(m->graph, "c/n") && text_is(node_at(m->graph, "c/n")->op, "Two"), "an overload (%s)",
		err.text);
	ok(m && node_at(m->graph, "d") && text_is(node_at(m->graph, "d")->op, "F"),
		"another is an operator like others");
	ok(m && node_at(m->graph, "e/n"),
		"an operator of the standard, defined by the model, is the model's");
	ok(m && warned(m, "operator set of \"local\" is not given, 1 is assumed"),
		"a domain that nobody imports");
	model_free(m);
	BODY(&f, "n", "One", "x", "y", NULL);
	put_function(&functions, &f, "local", "F", "x", "y");
	BODY(&f, "n", "Two", "x", "y", NULL);
	put_function(&functions, &f, "local", "F", "x", "y");
	put_value(&g, 11, "x", FLOAT, "1");
	MAIN(&g, "c", "local:F", "x", "y", NULL);
	m = load(&g, &functions);
	ok(m && text_is(node_at(m->graph, "c/n")->op, "Two") && warned(m, "\"F\" is defined twice"),
		"defined twice");
	model_free(m);
}

/* ---- what cannot be ---- */

static void test_wrong(void)
{
	struct str g = { 0 }, functions = { 0 }, f = { 0 };
	BODY(&f, "again", "local:G", "x", "y", NULL);
	put_function(&functions, &f, "local", "F", "x", "y");
	BODY(&f, "back", "local:F", "x", "y", NULL);
	put_function(&functions, &f, "local", "G", "x", "y");
	put_value(&g, 11, "x", FLOAT, "1");
	MAIN(&g, "c", "local:F", "x", "y", NULL);
	refused(&g, &functions, "function \"F\" calls itself", "functions that call each other");
	put_gelu(&functions);
	put_value(&g, 11, "x", FLOAT, "1");
	MAIN(&g, "c", "local:Gelu", "x,x,x", "y", NULL);
	refused(&g, &functions, "node \"c\": function \"Gelu\" has 2 inputs, but a call passes more",
		"too many inputs");
	put_gelu(&functions);
	put_value(&g, 11, "x", FLOAT, "1");
	MAIN(&g, "c", "local:Gelu", "x,x,", "y,z", NULL);
	refused(&g, &functions, "has 1 output, but a call uses more", "too many outputs");
	BODY(&f, "n", "Op", "x", "x", NULL);
	put_function(&functions, &f, "local", "F", "x", "y");
	put_value(&g, 11, "x", FLOAT, "1");
	MAIN(&g, "c", "local:F", "x", "", NULL);
	refused(&g, &functions, "node \"c/n\" writes \"x\", which is an input of the function",
		"an input that is written");
	BODY(&f, "n", "Op", "x", "y", NULL);
	BODY(&f, "m", "Op", "x", "y", NULL);
	put_function(&functions, &f, "local", "F", "x", "y");
	put_value(&g, 11, "x", FLOAT, "1");
	MAIN(&g, "c", "local:F", "x", "q", NULL);
	refused(&g, &functions, "nodes \"c/n\" and \"c/m\" both write \"y\"", "two producers within");
	put_function(&functions, &f, "local", "F", "x,x", "y");
	MAIN(&g, "c", "Op", "", "y", NULL);
	refused(&g, &functions, "function \"F\" names \"x\" twice", "an input named twice");
}

/* f0 calls f1 ten times, f1 calls f2 ten times ... */
static void put_bomb(struct str *functions, int levels, int fan, const char *name)
{
	struct str f = { 0 };
	for (int level = 0; level < levels; level++) {
		char self[64], next[64];
		snprintf(self, sizeof(self), "F%d", level);
		snprintf(next, sizeof(next), "local:F%d", level + 1);
		for (int i = 0; i < fan; i++)
			BODY(&f, name, level + 1 == levels ? "Relu" : next, "x", i == 0 ? "y" : "", NULL);
		put_function(functions, &f, "local", self, "x", "y");
	}
}

static void test_bombs(void)
{
	struct str g = { 0 }, functions = { 0 };
	put_bomb(&functions, 9, 10, "");
	put_value(&g, 11, "x", FLOAT, "1");
	MAIN(&g, "c", "local:F0", "x", "y", NULL);
	refused(&g, &functions, "expand to more than 250000 nodes", "functions that grow to a billion nodes");
	char name[50001];
	memset(name, 'n', 50000);
	name[50000] = '\0';
	put_bomb(&functions, 5, 10, name);
	put_value(&g, 11, "x", FLOAT, "1");
	MAIN(&g, "c", "local:F0", "x", "y", NULL);
	refused(&g, &functions, "expand to more than 256 MiB", "long names that grow");
	put_bomb(&functions, 70, 1, "n");
	put_value(&g, 11, "x", FLOAT, "1");
	MAIN(&g, "c", "local:F0", "x", "y", NULL);
	refused(&g, &functions, "nested more than 64 deep", "calls seventy deep");
	put_bomb(&functions, 60, 1, "n");
	put_value(&g, 11, "x", FLOAT, "1");
	MAIN(&g, "c", "local:F0", "x", "y", NULL);
	struct model *m = load(&g, &functions);
	ok(m && m->graph->node_count == 1 && m->graph->nodes[0].outputs[0] == value_at(m->graph, "y"),
		"sixty deep is fine (%s)", err.text);
	model_free(m);
}

/* A body given to f0, which gives it to f1 ten times ... until it is used: a body of the model itself that
 * grows. */
static void body_bomb(struct str *body, const char *part, const char *name)
{
	struct str g = { 0 }, functions = { 0 }, f = { 0 }, a = { 0 };
	enum { LEVELS = 5, FAN = 10 };
	for (int level = 0; level < LEVELS; level++) {
		char self[64], next[64];
		snprintf(self, sizeof(self), "F%d", level);
		snprintf(next, sizeof(next), "local:F%d", level + 1);
		for (int i = 0; i < FAN; i++) {
			put_reference(&a, "body", "body", 5);
			BODY(&f, "", level + 1 == LEVELS ? "Loop" : next, "x", i == 0 ? "y" : "", &a);
		}
		put_function(&functions, &f, "local", self, "x", "y");
	}
	put_value(body, 12, "x", FLOAT, NULL);
	put_body(&a, "body", body);
	put_value(&g, 11, "x", FLOAT, "1");
	MAIN(&g, "c", "local:F0", "x", "y", &a);
	refused(&g, &functions, part, name);
}

static void test_body_bombs(void)
{
	struct str body = { 0 };
	for (int i = 0; i < 100; i++)
		put_call(&body, 1, "", "Relu", "x", "", NULL);
	body_bomb(&body, "expand to more than 250000 nodes", "a body that grows to ten million nodes");
	char *zeros = base_calloc(1, 4096), weight[16];
	for (int i = 0; i < 20; i++) {
		snprintf(weight, sizeof(weight), "w%d", i);
		put_tensor(&body, 5, weight, FLOAT, "1024", zeros, 4096);
	}
	free(zeros);
	put_call(&body, 1, "", "Relu", "x", "", NULL);
	body_bomb(&body, "expand to more than 256 MiB", "a body whose weights grow to 8 GB");
	char name[50001];
	memset(name, 'n', 50000);
	name[50000] = '\0';
	put_value(&body, 11, name, FLOAT, NULL);
	put_call(&body, 1, "", "Relu", "x", "", NULL);
	body_bomb(&body, "expand to more than 256 MiB", "a body whose inputs' names grow to 5 GB");
}

/* ---- order ---- */

static void test_order(void)
{
	struct str g = { 0 }, functions = { 0 }, f = { 0 };
	BODY(&f, "late", "Op", "t", "y", NULL);
	BODY(&f, "early", "Op", "x", "t", NULL);
	put_function(&functions, &f, "local", "F", "x", "y");
	put_value(&g, 11, "x", FLOAT, "1");
	MAIN(&g, "c", "local:F", "b", "d", NULL);
	MAIN(&g, "n", "Op", "x", "b", NULL);
	struct model *m = load(&g, &functions);
	ok(m && text_is(m->graph->nodes[0].name, "n") && text_is(m->graph->nodes[1].name, "c/early") &&
			text_is(m->graph->nodes[2].name, "c/late") && warned(m, "\"c/late\" precedes"),
		"sorted within and outside (%s)", err.text);
	model_free(m);
	BODY(&f, "a", "Op", "t", "y", NULL);
	BODY(&f, "b", "Op", "y", "t", NULL);
	put_function(&functions, &f, "local", "F", "x", "y");
	put_value(&g, 11, "x", FLOAT, "1");
	MAIN(&g, "c", "local:F", "x", "d", NULL);
	refused(&g, &functions, "cycle", "a cycle within");
}

/* ---- damage ---- */

static struct str damage_model(void)
{
	struct str g = { 0 }, functions = { 0 }, f = { 0 }, body = { 0 }, a = { 0 };
	put_gelu(&functions);
	put_call(&body, 1, "g", "local:Gelu", "x,t", "r", NULL);
	put_value(&body, 12, "r", FLOAT, NULL);
	put_body(&a, "then_branch", &body);
	put_reference(&a, "axis", "where", 2);
	BODY(&f, "t", "Relu", "x", "t", NULL);
	BODY(&f, "if", "If", "c", "y", &a);
	put_int_attribute(&f, 11, "where", 3);
	put_value(&f, 12, "t", FLOAT, "N,2");
	put_function(&functions, &f, "local", "F", "c,x", "y,x");
	put_value(&g, 11, "c", 9, "");
	put_value(&g, 11, "v", FLOAT, "4");
	MAIN(&g, "call", "local:F", "c,v", "o,p", NULL);
	put_value(&g, 12, "o", FLOAT, NULL);
	struct str m = put_model(&g, 10, 17);
	str_add(&m, functions.p, functions.n);
	str_free(&functions);
	return m;
}

static bool survives(const struct str *m, size_t n)
{
	err.text[0] = '\0';
	if (!scratch_write(m->p, n))
		return false;
	struct model *model = model_load(scratch_file, &err);
	bool good = model || strstr(err.text, scratch_file) == err.text;
	for (int i = 0; model && i < model->graph->node_count; i++) {
		const struct node *node = &model->graph->nodes[i];
		good &= node->opset > 0;
		for (int k = 0; k < node->input_count; k++)
			good &= node->inputs[k] < 0 || model->graph->values[node->inputs[k]].producer < i;
	}
	model_free(model);
	return good;
}

static void test_damage(void)
{
	struct str m = damage_model();
	int bad = 0, loaded = 0;
	enum { ROUNDS = 4000 };
	ok(survives(&m, m.n) && !err.text[0], "a model with functions (%s)", err.text);
	for (size_t n = 0; n <= m.n; n++)
		bad += !survives(&m, n);
	is_int(bad, 0, "cut at each of %zu bytes: an error or a model", m.n);
	uint64_t seed = 4;
	for (int i = 0; i < ROUNDS; i++) {
		size_t at[3];
		for (int k = 0; k < 3; k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			at[k] = (seed >> 33) % m.n;
			m.p[at[k]] = (char)(m.p[at[k]] ^ 1 << at[k] % 8);
		}
		bad += !survives(&m, m.n);
		loaded += !err.text[0];
		for (int k = 2; k >= 0; k--)
			m.p[at[k]] = (char)(m.p[at[k]] ^ 1 << at[k] % 8);
	}
	is_int(bad, 0, "%d rounds of flipped bits: an error or a model", ROUNDS);
	ok(loaded > ROUNDS / 50 && loaded < ROUNDS, "some load (%d), some do not", loaded);
	str_free(&m);
}

int main(void)
{
	if (!scratch_open())
		skip_all("no directory for temporary files");
	test_calls();
	test_nested();
	test_names_apart();
	test_attributes();
	test_endless_reference();
	test_bodies();
	test_given_body();
	test_hidden_formal();
	test_outputs();
	test_types();
	test_overloads();
	test_wrong();
	test_bombs();
	test_body_bombs();
	test_order();
	test_damage();
	scratch_close();
	return done_testing();
}
