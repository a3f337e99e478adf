/* Names of frameworks resolved to layers: by an index of names, after suffixes and prefixes that
 * frameworks add are removed. */
#include "config.h"

#include "profile/read/lines.h"
#include "profile/match/match_private.h"

#include <string.h>
#include <strings.h>

/* Suffixes that frameworks add to the name of a tensor or node when they change its layout or type. */
static const char *const endings[] = { "_nchwc", "_nhwc", "_reshaped", "_reordered", "_reorder", "_cast",
	"_fp16", "_f16", "_bf16", "_quantized", "_dequantized", "_output", "/WithoutBiases",
	"/WithoutTranspose", "/fq_input_0", "/fq_input_1", "/fq_output_0", "/Transpose", "/Reshape",
	"/Convert", "/FusedAdd", ":0", ".0", "__reorder" };

static struct text clean(struct arena *a, struct text t)
{
	return text_is_clean(t) ? t : text_of(text_clean(a, t));
}

void names_index(struct matcher *x)
{
	const struct plan *p = x->p;
	for (int i = 0; i < p->value_count; i++) {
		if (!p->values[i].name.n || p->values[i].constant)
			continue;
		int64_t *at = hash_at(&x->tensors, clean(x->a, p->values[i].name));
		*at = *at < 0 ? i : *at;
	}
	for (int i = 0; i < p->layer_count; i++) {
		int64_t *at = hash_at(&x->layers, clean(x->a, p->layers[i].name));
		*at = *at < 0 ? i : *at;
	}
}

#define ENDINGS_MOST 8 /* of one name; each is a look-up of what is left */

/* Removes one suffix, after `cut` others. Returns false if the name has none. */
static bool cut_ending(struct text *name, int *cut)
{
	if (++*cut > ENDINGS_MOST)
		return false;
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t n = strlen(endings[i]);
		if (name->n > n && !memcmp(name->p + name->n - n, endings[i], n)) {
			name->n -= n;
			return true;
		}
	}
	return false;
}

/* Prefix that ONNX Runtime gives a tensor which it converts to another type. */
static const char *const beginnings[] = { "InsertedPrecisionFreeCast_", "InsertedCast_" };

int name_tensor(const struct matcher *x, struct text name)
{
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		size_t n = strlen(beginnings[i]);
		if (name.n > n && !memcmp(name.p, beginnings[i], n))
			name = (struct text){ name.p + n, name.n - n };
	}
	int cut = 0;
	do {
		int64_t found = hash_find(&x->tensors, name);
		if (found >= 0)
			return (int)found;
	} while (cut_ending(&name, &cut));
	return -1;
}

/* PyTorch's exporters number nodes in topological order: if names differ, Conv_0 is node 0. */
static int layer_by_number(const struct matcher *x, struct text name)
{
	size_t digits = 0;
	int64_t index;
	while (digits < name.n && name.p[name.n - 1 - digits] >= '0' && name.p[name.n - 1 - digits] <= '9')
		digits++;
	size_t op = name.n - digits;
	if (!digits || op < 2 || name.p[op - 1] != '_' ||
		!text_to_int64((struct text){ name.p + op, digits }, &index) || index >= x->p->layer_count)
		return -1;
	return text_equal(x->p->layers[index].node->op, (struct text){ name.p, op - 1 }) ? (int)index : -1;
}

/* Returns the layer with this name, with or without suffixes, or -1. */
static int layer_by_name(const struct matcher *x, struct text name)
{
	int cut = 0;
	do {
		int64_t found = hash_find(&x->layers, name);
		if (found >= 0)
			return (int)found;
	} while (cut_ending(&name, &cut));
	return -1;
}

static int name_layer(const struct matcher *x, struct text name)
{
	int layer = layer_by_name(x, name);
	return layer >= 0 ? layer : layer_by_number(x, name);
}

int name_fusion(const struct matcher *x, struct text name)
{
	static const char word[] = "Fusion/";
	size_t n = sizeof(word) - 1, at = name.n;
	if (name.n <= n || memcmp(name.p + name.n - n, word, n))
		return -1;
	for (at--; at > 0 && name.p[at - 1] != '/'; at--)
		;
	return at > 1 ? (int)hash_find(&x->layers, (struct text){ name.p, at - 1 }) : -1;
}

bool name_next(const char **list, struct text *item)
{
	while (**list == '\n')
		(*list)++;
	item->p = *list;
	item->n = strcspn(*list, "\n");
	*list += item->n;
	return item->n > 0;
}

static bool starts(struct text t, const char *with)
{
	size_t n = strlen(with);
	return t.n >= n && !strncasecmp(t.p, with, n);
}

static bool ends_with(struct text t, char c)
{
	return t.n && t.p[t.n - 1] == c;
}

struct found {
	void (*call)(void *user, int layer);
	void *user;
	double confidence;
};

static void found_layer(struct found *f, int layer, double confidence)
{
	f->call(f->user, layer);
	f->confidence = f->confidence > 0 && f->confidence < confidence ? f->confidence : confidence;
}

/* Lists the layers of "{ForeignNode[first...last]}" from the first to the last in order of execution. */
static bool foreign_node(const struct matcher *x, struct text t, struct found *f)
{
	static const char open[] = "{ForeignNode[";
	if (!starts(t, open) || t.n < sizeof(open) + 2 || memcmp(t.p + t.n - 2, "]}", 2))
		return false;
	struct text in = { t.p + sizeof(open) - 1, t.n - sizeof(open) + 1 - 2 };
	for (size_t i = 0; i + 3 <= in.n; i++) {
		if (memcmp(in.p + i, "...", 3))
			continue;
		int first = name_layer(x, (struct text){ in.p, i });
		int last = name_layer(x, (struct text){ in.p + i + 3, in.n - i - 3 });
		int64_t from = hash_find(&x->tensors, (struct text){ in.p, i });
		first = first < 0 && from >= 0 ? x->p->values[from].producer : first;
		first = first < 0 && last >= 0 ? 0 : first; /* it starts at a weight or an input */
		for (int k = first; k >= 0 && k <= last; k++)
			if (x->m->row_of_layer[k] < 0 && x->reserved[k] < 0)
				found_layer(f, k, 0.7);
		return true;
	}
	return false;
}

static void list_names(const struct matcher *x, struct text t, int depth, struct found *f);

static void one_name(const struct matcher *x, struct text t, int depth, struct found *f)
{
	t = text_trim(t);
	if (!t.n || foreign_node(x, t, f))
		return;
	/* PWN(a, b): pointwise operators in one kernel */
	if (depth < 8 && ends_with(t, ')') && starts(t, "PWN(")) {
		list_names(x, (struct text){ t.p + 4, t.n - 5 }, depth + 1, f);
		return;
	}
	int layer = layer_by_name(x, t), number = layer < 0 ? layer_by_number(x, t) : -1;
	if (layer >= 0 || number >= 0)
		found_layer(f, layer >= 0 ? layer : number, layer >= 0 ? 0.9 : 0.8);
}

/* Returns the length of the separator at s: " + ", " || " or ", " in PWN(); 0 without one. */
static size_t separator(const char *s, size_t n, bool comma)
{
	return n >= 3 && !memcmp(s, " + ", 3) ? 3 :
		n >= 4 && !memcmp(s, " || ", 4) ? 4 :
		comma && n >= 2 && !memcmp(s, ", ", 2) ? 2 : 0;
}

static void list_names(const struct matcher *x, struct text t, int depth, struct found *f)
{
	size_t from = 0;
	int open = 0;
	for (size_t i = 0; i < t.n; i++) {
		open += t.p[i] == '(' || t.p[i] == '{';
		open -= t.p[i] == ')' || t.p[i] == '}';
		size_t n = open > 0 ? 0 : separator(t.p + i, t.n - i, depth > 0);
		if (!n)
			continue;
		one_name(x, (struct text){ t.p + from, i - from }, depth, f);
		from = i + n;
		i += n - 1;
	}
	one_name(x, (struct text){ t.p + from, t.n - from }, depth, f);
}

double name_layers(const struct matcher *x, struct text name, void (*call)(void *user, int layer), void *user)
{
	struct found f = { call, user, 0 };
	list_names(x, name, 0, &f);
	return f.confidence;
}

/* ONNX Runtime names a compiled subgraph by its provider: "CoreMLExecutionProvider_CoreML_1_0";
 * TensorRT's compiler Myelin names kernels "__myl_ConvRelu_myl0_1" or "/pool/Pool_myl0_5", after one of
 * several nodes. */
bool name_is_compiled(const struct execution_row *r)
{
	static const char *const begins[] = { "__myl_", "__mye", "TRTKernel_graph_", "DmlFusedNode_" };
	size_t n = strlen(r->provider);
	if (n && strstr(r->provider, "ExecutionProvider") && !strncmp(r->name, r->provider, n) &&
		r->name[n] == '_')
		return true;
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (starts(text_of(r->name), begins[i]) || starts(text_of(r->op), begins[i]))
			return true;
	const char *mark = strstr(r->name, "_myl");
	size_t digits = mark ? strspn(mark + 4, "0123456789") : 0;
	return digits && mark[4 + digits] == '_';
}

/* Names of nodes that only frameworks write: TensorRT's reformats and no-ops, ONNX Runtime's copies; with an
 * operator only those of nodes that have it, because ONNX Runtime also names others by the tensors. */
static const struct { const char *start; enum added added; const char *op;
} added_names[] = {
	{ "Reformatting CopyNode", ADDED_REORDER, NULL },
	{ "reshape_after_", ADDED_OTHER, NULL },
	{ "reshape_before_", ADDED_OTHER, NULL },
	{ "squeeze_after_", ADDED_OTHER, NULL },
	{ "unsqueeze_node_after_", ADDED_OTHER, NULL },
	{ "copied_squeeze_after_", ADDED_COPY, NULL },
	{ "ReorderInput", ADDED_REORDER, NULL },
	{ "ReorderOutput", ADDED_REORDER, NULL },
	{ "Memcpy", ADDED_COPY, NULL },
	{ "InsertedPrecisionFreeCast_", ADDED_CAST, "Cast" },
	{ "InsertedCast_", ADDED_CAST, "Cast" },
};

/* Parts of the names of operators that frameworks add. */
static const struct { const char *part; enum added added;
} added_ops[] = {
	{ "reorder", ADDED_REORDER },
	{ "reformat", ADDED_REORDER },
	{ "transpose", ADDED_REORDER },
	{ "permute", ADDED_REORDER },
	{ "memcpy", ADDED_COPY },
	{ "copy", ADDED_COPY },
	{ "noop", ADDED_COPY },
	{ "identity", ADDED_COPY },
	{ "contiguous", ADDED_COPY },
	{ "cast", ADDED_CAST },
	{ "convert", ADDED_CAST },
	{ "quantizelinear", ADDED_CAST },
	{ "pad", ADDED_PAD },
};

/* op "": unknown. */
static int added_by_name(struct text name, const char *op)
{
	for (size_t i = 0; i < sizeof(added_names) / sizeof(added_names[0]); i++)
		if (starts(name, added_names[i].start) &&
			(!*op || !added_names[i].op || !strcmp(op, added_names[i].op)))
			return (int)i;
	return -1;
}

bool name_is_added(struct text name, const char *op)
{
	return added_by_name(name, op) >= 0;
}

enum added name_added(const struct execution_row *r)
{
	int known = added_by_name(text_of(r->name), r->op);
	if (known >= 0)
		return added_names[known].added;
	if (!strcmp(r->op, "to") || !strcmp(r->op, "aten::to")) /* PyTorch: to another device or type */
		return ADDED_COPY;
	for (size_t i = 0; i < sizeof(added_ops) / sizeof(added_ops[0]); i++)
		if (text_contains(text_of(r->op), text_of(added_ops[i].part)))
			return added_ops[i].added;
	return ADDED_COUNT;
}
