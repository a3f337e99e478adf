/* Small models as text, for tests: ONNX's textual form of a graph (onnx.parser), read into what net.h makes.
 *
 *   agraph <opset 13> (float[N,3,8,8] x, bool flag) => (y)
 *   <float[4,3,3,3] w = {}, int64[2] shape = {1,-1}, float[1,4] declared>
 *   {
 *       c = Conv <pads = [1,1,1,1]> (x, w)
 *       [its name] , last = my.Odd <mode = "a", then_branch = g () => (t) { t = Relu(c) }> (c, , shape)
 *   }
 *
 * Differences: `= {}` is a constant of which only the shape is known; a type may be left out (unknown), and
 * so may a result's name; "quoted names" may have any character; \e in a node's name is ESC; an
 * attribute `?` cannot be read. */
#ifndef NET_TEXT_H
#define NET_TEXT_H

#include "net.h"

#include "base/str.h"

#include <ctype.h>
#include <setjmp.h>

struct net_reader {
	const char *p;
	jmp_buf wrong;
	const char *expected;
};

NET_OK void net_wrong(struct net_reader *r, const char *expected)
{
	r->expected = expected;
	longjmp(r->wrong, 1);
}

NET_OK bool net_at(struct net_reader *r, const char *word)
{
	r->p += strspn(r->p, " \t\n");
	return strncmp(r->p, word, strlen(word)) == 0;
}

NET_OK bool net_take(struct net_reader *r, const char *word)
{
	bool found = net_at(r, word);
	r->p += found ? strlen(word) : 0;
	return found;
}

NET_OK void net_need(struct net_reader *r, const char *word)
{
	if (!net_take(r, word))
		net_wrong(r, word);
}

NET_OK bool net_is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '/' || c == '-' || c == '+';
}

/* A name, or "" where none stands. */
NET_OK void net_name(struct net_reader *r, char name[128])
{
	size_t n = 0;
	if (net_take(r, "\"")) {
		n = strcspn(r->p, "\"\n");
		snprintf(name, 128, "%.*s", (int)n, r->p);
		r->p += n;
		net_need(r, "\"");
		return;
	}
	while (net_is_letter(r->p[n]))
		n++;
	snprintf(name, 128, "%.*s", (int)n, r->p);
	r->p += n;
}

/* The rest up to one of the characters, without blanks around it. */
NET_OK void net_raw(struct net_reader *r, const char *until, char *to, size_t size)
{
	r->p += strspn(r->p, " \t\n");
	size_t n = strcspn(r->p, until);
	snprintf(to, size, "%.*s", (int)n, r->p);
	r->p += n;
	for (n = strlen(to); n && isspace((unsigned char)to[n - 1]);)
		to[--n] = '\0';
}

/* "float[1,N] x", "float x" (a scalar), "float[] x" (of unknown rank) or "x". Returns false before a value
 * without a type. */
NET_OK bool net_typed(struct net_reader *r, enum dtype *type, char dims[512], bool *ranked, char name[128])
{
	net_name(r, name);
	*type = dtype_parse_usual(text_of(name));
	*dims = '\0';
	*ranked = *type != DTYPE_UNKNOWN;
	if (!*ranked)
		return false;
	if (*r->p == '[') {
		r->p++;
		net_raw(r, "]", dims, 512);
		*ranked = *dims;
		net_need(r, "]");
	}
	net_name(r, name);
	return true;
}

NET_OK void net_contents(struct net_reader *r, struct net *n, struct tensor *t)
{
	net_need(r, "{");
	if (net_take(r, "}"))
		return;
	char *data = arena_calloc(&n->m.arena, (size_t)t->elements + 1, 8);
	int bits = dtype_bits(t->dtype), count = 0;
	do {
		char word[64], *to = data + (size_t)count++ * (size_t)bits / 8;
		net_raw(r, ",}", word, sizeof(word));
		int64_t i = strtoll(word, NULL, 10);
		double d = strtod(word, NULL);
		float f = (float)d;
		if (count > t->elements)
			net_wrong(r, "fewer numbers");
		memcpy(to, &i, (size_t)bits / 8);
		if (dtype_is_float(t->dtype))
			memcpy(to, t->dtype == DTYPE_F32 ? (void *)&f : (void *)&d, (size_t)bits / 8);
	} while (net_take(r, ","));
	net_need(r, "}");
	if (count != t->elements)
		net_wrong(r, "more numbers");
	t->data = data;
	t->data_bytes = (size_t)t->elements * (size_t)bits / 8;
}

/* Makes a value that an enclosing graph has known in this one. */
NET_OK void net_capture(struct net *n, const char *name)
{
	struct net *from = n->parent;
	while (from && hash_find(&from->names, text_of(name)) < 0)
		from = from->parent;
	if (from && hash_find(&n->names, text_of(name)) < 0) {
		if (from != n->parent)
			net_capture(n->parent, name);
		net_value(n, name);
	}
}

/* Values between `open` and `close`: inputs, outputs, or constants and declared values. */
enum net_list { NET_INPUTS, NET_OUTPUTS, NET_VALUES };

NET_OK void net_list(struct net_reader *r, struct net *n, enum net_list list, const char *close)
{
	while (!net_take(r, close)) {
		char name[128], dims[512];
		enum dtype type;
		bool ranked, typed = net_typed(r, &type, dims, &ranked, name);
		const char *shape = ranked ? dims : NULL;
		if (list == NET_INPUTS)
			net_input(n, name, type, shape);
		if (list == NET_OUTPUTS)
			net_capture(n, name), net_output(n, name, NULL);
		if (list == NET_VALUES && net_take(r, "="))
			net_contents(r, n, net_tensor(n, name, type, shape));
		else if (list != NET_INPUTS && typed)
			net_declare(n, name, type, shape);
		if (!net_take(r, ",") && !net_at(r, close))
			net_wrong(r, close);
	}
}

NET_OK struct net *net_graph(struct net_reader *r, struct net *parent);

NET_OK void net_numbers(struct net_reader *r, struct net *n, struct attribute *a)
{
	char word[128];
	a->ints = ARENA_ARRAY(&n->m.arena, int64_t, 64);
	a->floats = ARENA_ARRAY(&n->m.arena, float, 64);
	a->kind = ATTRIBUTE_INTS;
	while (!net_take(r, "]")) {
		net_raw(r, ",]", word, sizeof(word));
		a->kind = strchr(word, '.') ? ATTRIBUTE_FLOATS : a->kind;
		a->ints[a->count] = strtoll(word, NULL, 10);
		a->floats[a->count++] = strtof(word, NULL);
		net_take(r, ",");
	}
}

NET_OK void net_attribute_read(struct net_reader *r, struct net *n, struct attribute *a)
{
	char word[128];
	net_name(r, word);
	a->name = text_of(net_copy(n, word));
	net_need(r, "=");
	if (net_take(r, "[")) {
		net_numbers(r, n, a);
	} else if (net_at(r, "\"")) {
		net_name(r, word);
		a->kind = ATTRIBUTE_STRING;
		a->s = text_of(net_copy(n, word));
	} else if (net_at(r, "?")) { /* cannot be read */
		r->p++;
		a->kind = ATTRIBUTE_OTHER;
	} else if (isalpha((unsigned char)*r->p)) {
		a->kind = ATTRIBUTE_GRAPH;
		a->graph = &net_graph(r, n)->g;
	} else {
		net_name(r, word);
		a->kind = strchr(word, '.') ? ATTRIBUTE_FLOAT : ATTRIBUTE_INT;
		a->i = strtoll(word, NULL, 10);
		a->f = strtof(word, NULL);
	}
}

/* "y, z = domain.Op <attributes> (a, , b)" */
NET_OK void net_node_read(struct net_reader *r, struct net *n)
{
	struct str outputs = { 0 }, inputs = { 0 };
	char name[128], op[128];
	struct attribute list[20] = { 0 };
	int count = 0, behind = 0;
	char label[128] = "";
	if (net_take(r, "[")) {
		net_raw(r, "]", label, sizeof(label));
		net_need(r, "]");
	}
	for (int first = 1; first || net_take(r, ","); first = 0) {
		net_name(r, name);
		str_addf(&outputs, "%s%s", first ? "" : ",", name);
	}
	net_need(r, "=");
	net_name(r, op);
	if (net_take(r, "<")) {
		while (!net_take(r, ">")) {
			if (count == 20)
				net_wrong(r, "fewer attributes");
			net_attribute_read(r, n, &list[count++]);
			net_take(r, ",");
		}
	}
	net_need(r, "(");
	for (; !net_take(r, ")"); behind = 1) {
		if (behind)
			net_need(r, ",");
		net_name(r, name);
		net_capture(n, name);
		str_addf(&inputs, "%s%s", behind ? "," : "", name);
	}
	char *dot = strrchr(op, '.');
	struct node *node = net_node(n, dot ? dot + 1 : op, behind ? inputs.p : NULL, outputs.p, NULL);
	str_free(&inputs);
	str_free(&outputs);
	node->domain = dot ? (struct text){ net_copy(n, op), (size_t)(dot - op) } : node->domain;
	for (char *escape; (escape = strstr(label, "\\e"));)
		memmove(escape + 1, escape + 2, strlen(escape + 1)), *escape = '\033';
	node->name = text_of(net_copy(n, label));
	node->attributes = ARENA_ARRAY(&n->m.arena, struct attribute, 20);
	memcpy(node->attributes, list, sizeof(list));
	node->attribute_count = count;
}

/* "name <opset 17> (inputs) => (outputs) <values> { nodes }" */
NET_OK struct net *net_graph(struct net_reader *r, struct net *parent)
{
	char name[128];
	struct net *n = parent ? net_body(parent) : net_begin(17);
	if (parent) {
		n->next = parent->bodies;
		parent->bodies = n;
	}
	net_name(r, name);
	if (net_take(r, "<opset"))
		n->opset.version = strtoll(r->p, (char **)&r->p, 10), net_need(r, ">");
	net_need(r, "(");
	net_list(r, n, NET_INPUTS, ")");
	net_need(r, "=>");
	net_need(r, "(");
	const char *outputs = r->p;
	r->p += strcspn(r->p, ")");
	net_need(r, ")");
	if (net_take(r, "<"))
		net_list(r, n, NET_VALUES, ">");
	net_need(r, "{");
	while (!net_take(r, "}"))
		net_node_read(r, n);
	const char *end = r->p;
	r->p = outputs;
	net_list(r, n, NET_OUTPUTS, ")");
	r->p = end;
	return n;
}

/* Returns the model at the beginning of the text, and in `end` what follows it; or NULL, with what was
 * expected in `expected` and the place in `end`. Freed by net_free, with its subgraphs. */
NET_OK struct net *net_text(const char *text, const char **end, const char **expected)
{
	struct net_reader r = { .p = text };
	struct net *volatile n = NULL;
	if (setjmp(r.wrong) == 0)
		n = net_graph(&r, NULL);
	else
		*expected = r.expected;
	*end = r.p;
	return n;
}

#endif
