#include "config.h"

#include "tests/unit/ops_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- values */

static struct dim dim_read_product(struct arena *a, const char *p, size_t n)
{
	struct dim product = dim_known(1);
	while (n > 0) {
		size_t m = 0;
		while (m < n && p[m] != '*')
			m++;
		struct text word = { p, m };
		int64_t value;
		product = dim_mul(
			a, product, text_to_int64(word, &value) ? dim_known(value) : dim_symbol(a, word));
		p += m < n ? m + 1 : m;
		n -= m < n ? m + 1 : m;
	}
	return product;
}

/* "12", "-1", "?", "?<=8", "batch", "12*batch+past-1" */
static struct dim dim_read(struct arena *a, const char *p, size_t n)
{
	int64_t value;
	if (text_to_int64((struct text){ p, n }, &value))
		return dim_known(value);
	if (n >= 1 && p[0] == '?')
		return n > 3 && text_to_int64((struct text){ p + 3, n - 3 }, &value) ? dim_unknown_upto(value)
										     : dim_unknown();
	struct dim sum = dim_known(0);
	bool minus = false;
	while (n > 0) {
		size_t m = 0;
		while (m < n && p[m] != '+' && p[m] != '-')
			m++;
		struct dim term = dim_read_product(a, p, m);
		sum = minus ? dim_sub(a, sum, term) : dim_add(a, sum, term);
		minus = m < n && p[m] == '-';
		p += m < n ? m + 1 : m;
		n -= m < n ? m + 1 : m;
	}
	return sum;
}

/* Items between open and close, comma-separated. Returns behind close, or NULL. */
static const char *list_read(
	const char *p, char open, char close, const char *items[], size_t lengths[], int max, int *count)
{
	*count = 0;
	if (*p++ != open)
		return NULL;
	while (*p && *p != close) {
		size_t n = strcspn(p, open == '[' ? ",]" : ",}");
		if (*count == max)
			return NULL;
		items[*count] = p;
		lengths[(*count)++] = n;
		p += n + (p[n] == ',');
	}
	return *p == close ? p + 1 : NULL;
}

static void elements_fill(
	struct arena *a, struct elements *e, const char *const items[], const size_t lengths[])
{
	for (int i = 0; i < e->count; i++) {
		if (e->i)
			e->i[i] = dim_read(a, items[i], lengths[i]);
		else
			e->f[i] = items[i][0] == '?' ? (double)NAN : strtod(items[i], NULL);
	}
}

static const struct {
	const char *prefix;
	enum value_kind kind;
} kinds[] = { { "seq:", VALUE_SEQUENCE }, { "opt:", VALUE_OPTIONAL }, { "optseq:", VALUE_OPTIONAL_SEQUENCE },
	{ "map:", VALUE_MAP }, { "maps:", VALUE_MAPS } };

static const char *tensor_read(struct arena *a, const char *p, struct op_value *v);

/* Reads one value; returns behind it or NULL. */
static const char *value_read(struct arena *a, const char *p, struct op_value *v)
{
	enum value_kind kind = VALUE_TENSOR;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t n = strlen(kinds[i].prefix);
		if (strncmp(p, kinds[i].prefix, n) == 0) {
			kind = kinds[i].kind;
			p += n;
			break;
		}
	}
	p = tensor_read(a, p, v);
	v->kind = kind;
	if (!p || *p != '*')
		return p;
	size_t n = strcspn(++p, " ");
	v->length = dim_read(a, p, n);
	return p + n;
}

static const char *tensor_read(struct arena *a, const char *p, struct op_value *v)
{
	static const char *items[OP_ELEMENTS_MAX];
	static size_t lengths[OP_ELEMENTS_MAX];
	int count;
	memset(v, 0, sizeof(*v));
	v->shape = SHAPE_UNKNOWN;
	v->length = dim_unknown();
	if (*p == '-')
		return p + 1;
	v->present = true;
	size_t n = strcspn(p, ".[ *");
	v->dtype = *p == '?' ? DTYPE_UNKNOWN : dtype_parse((struct text){ p, n });
	if (v->dtype == DTYPE_UNKNOWN && *p != '?')
		return NULL;
	p += n;
	if (strncmp(p, ".c", 2) == 0) {
		v->constant = true;
		p += 2;
	}
	if (*p != '[')
		return p;
	p = list_read(p, '[', ']', items, lengths, 80, &count);
	if (!p)
		return NULL;
	v->shape = shape_make(a, count);
	for (int i = 0; i < count; i++)
		v->shape.dims[i] = dim_read(a, items[i], lengths[i]);
	if (*p != '=')
		return p;
	p = list_read(p + 1, '{', '}', items, lengths, OP_ELEMENTS_MAX, &count);
	if (!p)
		return NULL;
	struct elements *e = ARENA_NEW(a, struct elements);
	e->count = count;
	if (dtype_is_float(v->dtype))
		e->f = ARENA_ARRAY(a, double, count);
	else
		e->i = ARENA_ARRAY(a, struct dim, count);
	elements_fill(a, e, items, lengths);
	v->elements = e;
	return p;
}

static int values_read(struct arena *a, char *line, struct op_value *values, int max)
{
	int count = 0;
	for (const char *p = line; *p;) {
		if (*p == ' ') {
			p++;
			continue;
		}
		if (count == max)
			return -1;
		p = value_read(a, p, &values[count++]);
		if (!p || (*p && *p != ' '))
			return -1;
	}
	return count;
}

/* ---- attributes */

static void *tensor_data(struct arena *a, const struct op_value *v, size_t *bytes)
{
	size_t size = (size_t)dtype_bits(v->dtype) / 8;
	char *data = arena_calloc(a, (size_t)v->elements->count + 1, 8);
	for (int i = 0; i < v->elements->count; i++) {
		char *to = data + (size_t)i * size;
		if (v->dtype == DTYPE_F32) {
			float f = (float)v->elements->f[i];
			memcpy(to, &f, 4);
		} else if (v->dtype == DTYPE_F64) {
			memcpy(to, &v->elements->f[i], 8);
		} else if (v->elements->i) {
			memcpy(to, &v->elements->i[i].value, size); /* little-endian as the file has it */
		}
	}
	*bytes = size * (size_t)v->elements->count;
	return data;
}

static const char *attribute_read_tensor(struct arena *a, const char *p, struct attribute *out)
{
	struct op_value v;
	p = value_read(a, p, &v);
	if (!p || !v.elements)
		return NULL;
	struct tensor *t = ARENA_NEW(a, struct tensor);
	t->dtype = v.dtype;
	t->rank = v.shape.rank;
	t->dims = ARENA_ARRAY(a, int64_t, t->rank);
	for (int i = 0; i < t->rank; i++)
		t->dims[i] = v.shape.dims[i].value;
	t->elements = v.elements->count;
	t->data = tensor_data(a, &v, &t->data_bytes);
	out->kind = ATTRIBUTE_TENSOR;
	out->tensor = t;
	return p;
}

static const char *attribute_read_list(struct arena *a, const char *p, struct attribute *out)
{
	const char *items[80];
	size_t lengths[80];
	int count;
	const char *end = list_read(p, '[', ']', items, lengths, 80, &count);
	if (!end)
		return NULL;
	bool floats = memchr(p, '.', (size_t)(end - p)) != NULL, strings = count && *items[0] == '"';
	out->kind = strings ? ATTRIBUTE_STRINGS : floats ? ATTRIBUTE_FLOATS : ATTRIBUTE_INTS;
	out->count = (size_t)count;
	out->ints = ARENA_ARRAY(a, int64_t, count);
	out->floats = ARENA_ARRAY(a, float, count);
	out->strings = ARENA_ARRAY(a, struct text, count);
	for (int i = 0; i < count; i++) {
		if (strings)
			out->strings[i] = (struct text){ items[i] + 1, lengths[i] > 1 ? lengths[i] - 2 : 0 };
		out->ints[i] = strtoll(items[i], NULL, 10);
		out->floats[i] = strtof(items[i], NULL);
	}
	return end;
}

static const char *attribute_read(struct arena *a, const char *p, struct attribute *out)
{
	size_t n = strcspn(p, "= ");
	if (p[n] != '=')
		return NULL;
	out->name = (struct text){ p, n };
	p += n + 1;
	n = strcspn(p, " ");
	if (*p == '"') {
		size_t quoted = strcspn(p + 1, "\"");
		out->kind = ATTRIBUTE_STRING;
		out->s = (struct text){ p + 1, quoted };
		return p[1 + quoted] ? p + quoted + 2 : NULL;
	}
	if (*p == '[')
		return attribute_read_list(a, p, out);
	if (*p >= 'a' && *p <= 'z')
		return attribute_read_tensor(a, p, out);
	out->kind = memchr(p, '.', n) ? ATTRIBUTE_FLOAT : ATTRIBUTE_INT;
	out->f = strtof(p, NULL);
	out->i = strtoll(p, NULL, 10);
	return p + n;
}

static int attributes_read(struct arena *a, const char *p, struct node *node)
{
	node->attributes = ARENA_ARRAY(a, struct attribute, 20);
	while (*p) {
		if (*p == ' ') {
			p++;
			continue;
		}
		if (node->attribute_count == 20)
			return -1;
		p = attribute_read(a, p, &node->attributes[node->attribute_count++]);
		if (!p || (*p && *p != ' '))
			return -1;
	}
	return 0;
}

/* ---- cases */

static int outputs_count(const char *p)
{
	int count = 0;
	for (bool in_word = false; *p; p++) {
		count += *p != ' ' && !in_word;
		in_word = *p != ' ';
	}
	return count;
}

static char *case_fill(struct arena *a, struct ops_case *out)
{
	struct node *node = ARENA_NEW(a, struct node);
	struct op_call *c = &out->call;
	char *name = out->lines[0], *space = strchr(name, ' ');
	if (!space)
		return arena_printf(a, "op needs a name and an opset");
	char *slash = memchr(name, '/', (size_t)(space - name));
	node->domain = slash ? (struct text){ name, (size_t)(slash - name) } : text_of("");
	node->op = slash ? (struct text){ slash + 1, (size_t)(space - slash - 1) }
			 : (struct text){ name, (size_t)(space - name) };
	memset(c, 0, sizeof(*c));
	char *behind;
	c->opset = strtoll(space, &behind, 10);
	long asked = strtol(behind, NULL, 10);
	c->op = op_find(node->domain, node->op, c->opset);
	c->node = node;
	c->arena = a;
	struct op_value *inputs = ARENA_ARRAY(a, struct op_value, 100);
	c->input_count = values_read(a, out->lines[1], inputs, 100);
	c->inputs = inputs;
	if (c->input_count < 0)
		return arena_printf(a, "bad inputs");
	if (attributes_read(a, out->lines[2], node))
		return arena_printf(a, "bad attributes");
	bool wrong = strncmp(out->lines[3], "error ", 6) == 0;
	c->output_count = !wrong ? outputs_count(out->lines[3]) : asked > 0 && asked < 100 ? (int)asked : 1;
	c->outputs = ARENA_ARRAY(a, struct op_value, c->output_count);
	const char *p = out->lines[3];
	for (int i = 0; i < c->output_count; i++) {
		p += strspn(p, " ");
		c->outputs[i].present = wrong || *p != '-';
		p += strcspn(p, " ");
	}
	return NULL;
}

bool ops_case_read(struct arena *a, FILE *f, const char *file, int *line, struct ops_case *out, char **bad)
{
	static const char *const keywords[6] = { "op", "in", "attr", "out", "cost", "problem" };
	static char buf[16384];
	int at = 0;
	*bad = NULL;
	while (at < 6 && fgets(buf, sizeof(buf), f)) {
		(*line)++;
		buf[strcspn(buf, "\n")] = '\0';
		if (at == 0 && (buf[0] == '\0' || buf[0] == '#'))
			continue;
		if (at == 0) {
			out->file = file;
			out->line = *line;
		}
		size_t n = strlen(keywords[at]);
		bool is_error = at == 3 && strncmp(buf, "error ", 6) == 0;
		if (!is_error && (strncmp(buf, keywords[at], n) != 0 || (buf[n] != ' ' && buf[n] != '\0'))) {
			*bad = arena_printf(
				a, "%s:%d: a line \"%s ...\" is expected", file, *line, keywords[at]);
			return false;
		}
		const char *rest = is_error ? buf : buf + n + (buf[n] == ' ');
		out->lines[at++] = arena_strndup(a, rest, strlen(rest));
	}
	if (at == 0)
		return false;
	char *wrong = at < 6 ? arena_printf(a, "ends within a case") : case_fill(a, out);
	if (wrong)
		*bad = arena_printf(a, "%s:%d: %s", file, *line, wrong);
	return !wrong;
}

/* ---- writing */

static void dim_write(struct str *s, struct dim d)
{
	if (d.kind == DIM_KNOWN)
		str_addf(s, "%lld", (long long)d.value);
	else if (d.kind == DIM_SYMBOLIC)
		str_add(s, dim_expression(d).p, dim_expression(d).n);
	else if (d.upper >= 0)
		str_addf(s, "?<=%lld", (long long)d.upper);
	else
		str_addf(s, "?");
}

char *ops_value_text(struct arena *a, const struct op_value *v)
{
	struct str s = { 0 };
	if (!v->present) {
		str_addf(&s, "-");
	} else {
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			str_addf(&s, "%s", v->kind == kinds[i].kind ? kinds[i].prefix : "");
		str_addf(&s, "%s%s", dtype_name(v->dtype), v->constant ? ".c" : "");
		for (int i = 0; i < v->shape.rank; i++) {
			str_addf(&s, i ? "," : "[");
			dim_write(&s, v->shape.dims[i]);
		}
		str_addf(&s, v->shape.rank < 0 ? "" : v->shape.rank == 0 ? "[]" : "]");
	}
	for (int i = 0; v->elements && i < v->elements->count; i++) {
		str_addf(&s, i ? "," : "={");
		if (v->elements->i)
			dim_write(&s, v->elements->i[i]);
		else if (isnan(v->elements->f[i]))
			str_addf(&s, "?");
		else
			str_addf(&s, "%.9g", v->elements->f[i]);
	}
	str_addf(&s, !v->elements ? "" : v->elements->count == 0 ? "={}" : "}");
	if (v->kind != VALUE_TENSOR && v->length.kind != DIM_UNKNOWN) {
		str_addf(&s, "*");
		dim_write(&s, v->length);
	}
	char *text = arena_strndup(a, s.p, s.n);
	str_free(&s);
	return text;
}
