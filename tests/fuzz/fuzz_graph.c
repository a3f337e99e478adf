/* Bytes are a program that builds a model: values, constants, nodes of operators that are in the table,
 * bodies. The model is written as a file, loaded and planned, so that rules meet each other's results.
 * Operators and attributes are picked by a hash of their names: new ones leave what old inputs mean mostly
 * alone. */
#include "config.h"

#include "tests/fuzz/fuzz.h"
#include "tests/unit/onnx_bytes.h"

#include "tests/fuzz/fuzz_attributes.h"

#include <math.h>

#define VALUES_MOST 200
#define NODES_MOST 40
#define DEPTH_MOST 3

struct program {
	const uint8_t *p;
	size_t n;
	int opset;
	int value_count; /* names v0, v1 ... of the whole model; a body sees those of the graphs around it */
	int node_count;
};

/* The end reads as zeros. */
static unsigned next(struct program *g)
{
	if (g->n == 0)
		return 0;
	g->n--;
	return *g->p++;
}

static int64_t next_number(struct program *g)
{
	static const int64_t numbers[] = { 0, 1, 2, 3, 4, 5, 7, 8, 16, 64, 224, 1000, 1024, 1025, 65536,
		1 << 30, INT32_MAX, (int64_t)INT32_MAX + 1, (int64_t)1 << 40, (int64_t)1 << 62, INT64_MAX,
		INT64_MIN, INT32_MIN, -1, -2, -3, -4, -8, -1000 };
	unsigned byte = next(g);
	return byte < 200 ? numbers[byte % (sizeof(numbers) / sizeof(numbers[0]))] : (int64_t)byte - 200;
}

static float next_float(struct program *g)
{
	static const float numbers[] = { 0, 1, -1, 0.5f, 2, 1e-5f, 1e38f, -1e38f, 3.99f };
	unsigned byte = next(g), i = byte % 12;
	return i < 9 ? numbers[i] : i == 9 ? (float)NAN : i == 10 ? (float)INFINITY : (float)byte;
}

/* Not hash_bytes, whose seed is another in every process: a file found would then mean another model. */
static uint16_t short_hash(const char *name)
{
	uint32_t h = 0x811c9dc5u;
	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x01000193u;
	return (uint16_t)(h ^ h >> 16);
}

#define ROWS_MOST 2000

/* The hashes of the rows' names, made once. */
static const uint16_t *row_hashes(void)
{
	static uint16_t hashes[ROWS_MOST];
	static bool made;
	FUZZ_CHECK(op_row_count() <= ROWS_MOST);
	for (size_t i = 0; !made && i < op_row_count(); i++)
		hashes[i] = short_hash(op_row(i)->name);
	made = true;
	return hashes;
}

static bool row_holds(const struct op *row, int opset)
{
	return row->domain[0] || (row->since <= opset && (row->until == 0 || row->until >= opset));
}

/* The row that is in force whose name hashes to `hash` or next above. */
static const struct op *row_pick(unsigned hash, int opset)
{
	const uint16_t *hashes = row_hashes();
	unsigned best = 0, distance = UINT32_MAX;
	for (size_t i = 0; i < op_row_count(); i++) {
		unsigned d = (uint16_t)(hashes[i] - hash);
		if (d < distance && row_holds(op_row(i), opset)) {
			best = (unsigned)i;
			distance = d;
		}
	}
	return op_row(best);
}

static void put_value_name(struct str *s, unsigned field, int value)
{
	char name[16];
	snprintf(name, sizeof(name), "v%d", value);
	put_text(s, field, name);
}

/* ---- values */

static int next_type(struct program *g)
{
	static const int often[] = { 1, 1, 1, 7, 7, 10, 6, 9, 2, 3 };
	unsigned byte = next(g);
	return byte < 200 ? often[byte % 10] : (int)(byte - 200) % 30;
}

static void put_dim(struct program *g, struct str *shape)
{
	static const char *const symbols[] = { "batch", "N", "seq", "past+seq", "2*batch", "" };
	struct str dim = { 0 };
	unsigned byte = next(g);
	if (byte < 40)
		put_text(&dim, 2, symbols[byte % 6]);
	else if (byte < 200)
		put_int(&dim, 1, byte % 10);
	else if (byte < 240)
		put_int(&dim, 1, next_number(g));
	put_message(shape, 1, &dim);
}

/* field 11 input, 12 output, 13 info; a value of a graph, with a type, perhaps of a sequence or an optional.
 */
static void put_declared(struct program *g, struct str *graph, unsigned field, int v)
{
	struct str value = { 0 }, type = { 0 }, tensor = { 0 }, shape = { 0 };
	put_value_name(&value, 1, v);
	put_int(&tensor, 1, next_type(g));
	unsigned rank = next(g);
	for (unsigned i = 0; i < rank % 8; i++)
		put_dim(g, &shape);
	if (rank < 240)
		put_message(&tensor, 2, &shape);
	str_free(&shape);
	put_message(&type, 1, &tensor);
	for (unsigned wrap = rank / 8; wrap % 8 == 7; wrap /= 8) {
		struct str outer = { 0 };
		put_message(&outer, 1, &type);
		put_message(&type, wrap > 8 ? 4 : 9, &outer);
	}
	put_message(&value, 2, &type);
	put_message(graph, field, &value);
}

/* A tensor of a few elements, whose content may be missing or of another size. */
static void put_constant(struct program *g, struct str *to, unsigned field, int v)
{
	struct str t = { 0 };
	unsigned how = next(g), rank = how % 5;
	int type = how & 0x40 ? 7 : next_type(g);
	int64_t elements = 1;
	for (unsigned i = 0; i < rank; i++) {
		int64_t dim = how & 0x20 ? next_number(g) : next(g) % 6;
		put_int(&t, 1, dim);
		elements *= dim >= 0 && dim < 100 ? dim : 1;
	}
	put_int(&t, 2, type);
	if (v >= 0)
		put_value_name(&t, 8, v);
	if (how < 0xf0 && elements <= 256) {
		struct str data = { 0 };
		for (int64_t i = 0; i < elements; i++) {
			if (type == 7)
				put_varint(&data, (uint64_t)next_number(g));
			else if (type == 1) {
				float f = next_float(g);
				str_add(&data, (const char *)&f, sizeof(f));
			} else
				put_varint(&data, next(g));
		}
		put_bytes(&t, type == 7 ? 7 : type == 1 ? 4 : 5, data.p ? data.p : "", data.n);
		str_free(&data);
	}
	put_message(to, field, &t);
}

/* ---- nodes */

static void put_graph(struct program *g, struct str *to, int depth);

#define KIND_GRAPH 8 /* where `types` has it */

static void put_attribute_value(struct program *g, struct str *a, unsigned kind, int depth)
{
	static const unsigned types[] = { 2, 2, 7, 7, 1, 3, 6, 4, 5, 8 };
	struct str body = { 0 };
	unsigned type = types[kind % 10], count = next(g) % 7;
	if (type == 5 && depth >= DEPTH_MOST)
		type = 2;
	put_int(a, 20, type);
	if (type == 1)
		put_float(a, 2, next_float(g));
	else if (type == 2)
		put_int(a, 3, next_number(g));
	else if (type == 3)
		put_text(a, 4, fuzz_strings[next(g) % FUZZ_COUNT(fuzz_strings)]);
	else if (type == 4)
		put_constant(g, a, 5, -1);
	else if (type == 5) {
		put_graph(g, &body, depth + 1);
		put_message(a, 6, &body);
	}
	for (unsigned i = 0; i < count && type >= 6; i++) {
		if (type == 6)
			put_float(a, 7, next_float(g));
		else if (type == 7)
			put_int(a, 8, next_number(g));
		else
			put_text(a, 9, fuzz_strings[next(g) % FUZZ_COUNT(fuzz_strings)]);
	}
}

/* Names that the operator's rules ask for, seldom another one. */
static const char *attribute_pick(const char *op, unsigned hash)
{
	const char *best = NULL;
	unsigned distance = UINT32_MAX;
	for (size_t i = 0; i < FUZZ_COUNT(fuzz_attributes); i++) {
		if (hash < 0xf000 && strcmp(fuzz_attributes[i][0], op) != 0)
			continue;
		unsigned d = (uint16_t)(short_hash(fuzz_attributes[i][1]) - hash);
		if (d < distance) {
			best = fuzz_attributes[i][1];
			distance = d;
		}
	}
	return best ? best : "axis";
}

static bool is_body(const char *name)
{
	return strstr(name, "_branch") || strcmp(name, "body") == 0;
}

static void put_one_node(struct program *g, struct str *graph, int depth)
{
	struct str node = { 0 };
	unsigned which = next(g) << 8;
	const struct op *row = row_pick(which | next(g), g->opset);
	unsigned counts = next(g), inputs = counts % 8, outputs = 1 + counts / 8 % 4,
		 attributes = counts / 32;
	for (unsigned i = 0; i < inputs; i++) {
		unsigned byte = next(g);
		if (byte == 255 || g->value_count == 0)
			put_text(&node, 1, "");
		else
			put_value_name(&node, 1, g->value_count - 1 - (int)byte % g->value_count);
	}
	for (unsigned i = 0; i < attributes; i++) {
		struct str a = { 0 };
		unsigned hash = next(g) << 8, kind;
		const char *name = attribute_pick(row->name, hash | next(g));
		kind = next(g);
		put_text(&a, 1, name);
		put_attribute_value(g, &a, is_body(name) ? KIND_GRAPH : kind, depth);
		put_message(&node, 5, &a);
	}
	/* Only now, so that bodies do not see them. */
	for (unsigned i = 0; i < outputs; i++)
		put_value_name(&node, 2, g->value_count++);
	put_text(&node, 4, row->name);
	if (row->domain[0])
		put_text(&node, 7, row->domain);
	put_message(graph, 1, &node);
}

static void put_graph(struct program *g, struct str *to, int depth)
{
	int outside = g->value_count;
	for (bool open = true; open && g->n > 0 && g->value_count < VALUES_MOST;) {
		unsigned what = next(g) % 16;
		if (what < 3)
			put_declared(g, to, 11, g->value_count++);
		else if (what < 6)
			put_constant(g, to, 5, g->value_count++);
		else if (what < 7 && g->value_count > outside)
			put_declared(g, to, 13, g->value_count - 1);
		else if (what < 8 && depth > 0)
			open = false;
		else if (g->node_count++ < NODES_MOST)
			put_one_node(g, to, depth);
	}
	for (unsigned i = 0; i < 1 + next(g) % 3 && g->value_count - 1 - (int)i >= outside; i++)
		put_declared(g, to, 12, g->value_count - 1 - (int)i);
	if (depth > 0)
		g->value_count = g->value_count > outside ? g->value_count : outside;
}

static struct str build(const uint8_t *bytes, size_t n)
{
	struct program g = { .p = bytes, .n = n };
	struct str graph = { 0 };
	g.opset = 1 + (int)next(&g) % 28;
	put_text(&graph, 2, "fuzz");
	put_graph(&g, &graph, 0);
	struct str m = put_model(&graph, 8, g.opset);
	for (size_t i = 0; i < op_row_count(); i++) {
		const char *domain = op_row(i)->domain;
		if (!domain[0] || (i > 0 && strcmp(domain, op_row(i - 1)->domain) == 0))
			continue;
		struct str set = { 0 };
		put_text(&set, 1, domain);
		put_int(&set, 2, op_row(i)->since);
		put_message(&m, 8, &set);
	}
	return m;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct error err = ERROR_NONE;
	struct str file = build(bytes, n);
	const char *save = getenv("FUZZ_SAVE"); /* writes the model there, to be looked at */
	FILE *f = save ? fopen(save, "wb") : NULL;
	if (f) {
		fwrite(file.p, 1, file.n, f);
		fclose(f);
	}
	struct model *m = model_load(fuzz_file((const uint8_t *)file.p, file.n), &err);
	if (m)
		fuzz_plan(m);
	else
		fuzz_check_line(err.text);
	model_free(m);
	str_free(&file);
	return 0;
}
