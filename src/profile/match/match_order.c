/* Matches the remaining rows with the remaining layers in order: a longest common subsequence with
 * weights, by dynamic programming (Wagner and Fischer, 1974). Exact for its weights; rows x layers in time
 * and memory, at most CELLS_MAX. */
#include "config.h"

#include "profile/match/match_private.h"

#include <stdlib.h>
#include <string.h>

/* Words in the names of operators and kernels of frameworks, and the ONNX operators that they run. The first
 * match counts. */
static const struct { const char *word, *ops;
} kinds[] = {
	{ "softmax", " Softmax LogSoftmax " },
	{ "batchnorm", " BatchNormalization " },
	{ "batch_norm", " BatchNormalization " },
	{ "bn_fw", " BatchNormalization " },
	{ "layernorm", " LayerNormalization SkipLayerNormalization RMSNormalization " },
	{ "layer_norm", " LayerNormalization SkipLayerNormalization RMSNormalization " },
	{ "groupnorm", " GroupNormalization InstanceNormalization " },
	{ "lrn", " LRN " },
	{ "pool", " MaxPool AveragePool GlobalAveragePool GlobalMaxPool " },
	{ "addmm", " Gemm MatMul " },
	{ "linear", " Gemm MatMul " },
	{ "innerproduct", " Gemm MatMul " },
	{ "fullyconnected", " Gemm MatMul " },
	{ "matmul", " Gemm MatMul FusedMatMul Einsum " },
	{ "gemm", " Gemm MatMul FusedMatMul Einsum Conv " },
	{ "gemv", " Gemm MatMul " },
	{ "conv", " Conv ConvTranspose ConvInteger QLinearConv FusedConv " },
	{ "relu", " Relu LeakyRelu PRelu Clip " },
	{ "clamp", " Relu Clip " },
	{ "threshold", " Relu " },
	{ "clip", " Clip " },
	{ "gelu", " Gelu FastGelu Erf Tanh Sigmoid " }, { "attention", " Softmax " },
	{ "sigmoid", " Sigmoid " },
	{ "tanh", " Tanh " },
	{ "concat", " Concat " },
	{ "cat", " Concat " },
	{ "transpose", " Transpose " },
	{ "permute", " Transpose " },
	{ "gather", " Gather " },
	{ "embedding", " Gather " },
	{ "slice", " Slice Split " },
	{ "split", " Split " },
	{ "resize", " Resize Upsample " },
	{ "upsample", " Resize Upsample " },
	{ "interpolate", " Resize Upsample " },
	{ "reduce", " ReduceMean ReduceSum ReduceMax GlobalAveragePool " },
	{ "mean", " ReduceMean " },
	{ "mul", " Mul " },
	{ "div", " Div " },
	{ "sub", " Sub " },
	{ "add", " Add Sum " },
	{ "sum", " Add Sum " },
	{ "pad", " Pad " },
	{ "elementwise", " Relu LeakyRelu Clip Sigmoid Tanh Elu Gelu Add Sub Mul Div Sum Sqrt Pow Exp " },
	{ "cast", " Cast " },
};

#define KIND_COUNT ((int)(sizeof(kinds) / sizeof(kinds[0])))

/* The operators that rows may run. They are looked up once, because that takes longer than the alignment. */
struct may_run {
	int op_count;
	struct text *ops; /* distinct operators of the plan */
	int *op_of_layer; /* index into ops */
	int *kind_of_row; /* index into kinds, or -1 */
	int *op_of_row;   /* operator of the plan with the same name, or -1 */
	bool *runs;       /* KIND_COUNT x op_count */
};

/* Returns the operator of a row, else its kernel. */
static struct text word_of(const struct execution_row *r)
{
	return text_of(*r->op ? r->op : *r->kernel ? r->kernel : r->level == LEVEL_KERNEL ? r->name : "");
}

static bool kind_runs(int kind, struct text op)
{
	char padded[64];
	if (op.n + 3 > sizeof(padded))
		return false;
	padded[0] = ' ';
	memcpy(padded + 1, op.p, op.n);
	memcpy(padded + op.n + 1, " ", 2);
	return strstr(kinds[kind].ops, padded) != NULL;
}

static void index_ops(struct may_run *m, const struct matcher *x, struct arena *a)
{
	struct hash ops = { 0 };
	m->ops = ARENA_ARRAY(a, struct text, x->p->layer_count + 1);
	m->op_of_layer = ARENA_ARRAY(a, int, x->p->layer_count + 1);
	for (int i = 0; i < x->p->layer_count; i++) {
		int64_t *at = hash_at(&ops, x->p->layers[i].node->op);
		if (*at < 0) {
			m->ops[m->op_count] = x->p->layers[i].node->op;
			*at = m->op_count++;
		}
		m->op_of_layer[i] = (int)*at;
	}
	hash_free(&ops);
	m->runs = ARENA_ARRAY(a, bool, KIND_COUNT * m->op_count + 1);
	for (int k = 0; k < KIND_COUNT; k++)
		for (int i = 0; i < m->op_count; i++)
			m->runs[k * m->op_count + i] = kind_runs(k, m->ops[i]);
}

static void index_row(struct may_run *m, int row, struct text word)
{
	m->kind_of_row[row] = m->op_of_row[row] = -1;
	for (int k = 0; k < KIND_COUNT && m->kind_of_row[row] < 0; k++)
		if (text_contains(word, text_of(kinds[k].word)))
			m->kind_of_row[row] = k;
	for (int i = 0; i < m->op_count && m->op_of_row[row] < 0; i++)
		if (word.n == m->ops[i].n && text_contains(word, m->ops[i]))
			m->op_of_row[row] = i;
}

static bool may_run(const struct may_run *m, int row, int layer)
{
	int op = m->op_of_layer[layer], kind = m->kind_of_row[row];
	return m->op_of_row[row] == op || (kind >= 0 && m->runs[kind * m->op_count + op]);
}

/* Returns the first list of numbers: after the first '[' that a digit follows, because names of types contain
 * digits ([{"float16":[1,3]}]); without such a '[', from the first digit; NULL without digits. */
static const char *first_list(const char *shapes)
{
	for (const char *at = shapes; (at = strchr(at, '[')); at++)
		if (at[1] >= '0' && at[1] <= '9')
			return at + 1;
	return strpbrk(shapes, "0123456789");
}

/* Compares the first list of numbers in the row's shapes with the layer's first input. Returns 1 if equal, 0
 * if unknown, -1 if different. */
static int compare_shape(const struct matcher *x, const char *shapes, const struct plan_layer *l)
{
	if (l->input_count == 0 || l->inputs[0] < 0)
		return 0;
	const struct shape *s = &x->p->values[l->inputs[0]].shape;
	const char *at = first_list(shapes);
	if (!at || s->rank < 1)
		return 0;
	for (int i = 0; i < s->rank; i++) {
		char *end;
		long long dim = strtoll(at, &end, 10);
		if (end == at || s->dims[i].kind != DIM_KNOWN)
			return 0;
		if (dim != s->dims[i].value)
			return -1;
		if (i + 1 < s->rank && *end != ',' && *end != 'x')
			return i == 0 ? 0 : -1;
		at = end + strspn(end, "x, ");
	}
	return 1;
}

/* Returns the weight of a pair: 0 impossible, 1 same operator, 3 same operator and shape. */
static int weigh(const struct matcher *x, const struct may_run *m, int row, int layer)
{
	if (!may_run(m, row, layer))
		return 0;
	int shape = compare_shape(x, x->e->rows[row].shapes, &x->p->layers[layer]);
	return shape < 0 ? 0 : shape > 0 ? 3 : 1;
}

#define CELLS_MAX ((size_t)1 << 24)
#define REPEATS_MAX 100
#define REPEATED_LEAST 4 /* shorter sequences may repeat by chance */

/* Rows and layers to match, ascending. */
struct sequence {
	size_t row_count, layer_count;
	int *rows, *layers;
	struct may_run may;
};

/* Longest common subsequence (Wagner and Fischer, 1974) with weights; best[i][j] is that of the rows from i
 * and the layers from j. Returns the number of matched rows; matched layers come first in s->layers. */
static size_t align(struct matcher *x, struct sequence *s)
{
	struct arena scratch = { 0 };
	size_t n = s->row_count, k = s->layer_count, width = k + 1, matched = 0;
	if (!n || !k || n + 1 > CELLS_MAX / width)
		return 0;
	int *best = ARENA_ARRAY(&scratch, int, (n + 1) * width);
	for (size_t i = n; i-- > 0;)
		for (size_t j = k; j-- > 0;) {
			int weight = weigh(x, &s->may, s->rows[i], s->layers[j]),
			    down = best[(i + 1) * width + j];
			int right = best[i * width + j + 1];
			int both = weight ? weight + best[(i + 1) * width + j + 1] : 0;
			int most = down > right ? down : right;
			best[i * width + j] = both > most ? both : most;
		}
	for (size_t i = 0, j = 0; i < n && j < k;) {
		int weight = weigh(x, &s->may, s->rows[i], s->layers[j]), here = best[i * width + j];
		if (weight && here == weight + best[(i + 1) * width + j + 1]) {
			struct match_row *r = &x->m->rows[s->rows[i]];
			matcher_claim(x, s->rows[i++], s->layers[j]);
			r->how = MATCH_ORDER;
			r->confidence = weight == 3 ? 0.6 : 0.4;
			s->layers[matched++] = s->layers[j++];
		} else if (here == best[i * width + j + 1]) /* before a row: further runs may follow */
			j++;
		else
			i++;
	}
	arena_free(&scratch);
	return matched;
}

/* Collects the unmatched rows that may run one of the sequence's layers. */
static void rows_left(const struct matcher *x, struct sequence *s)
{
	s->row_count = 0;
	for (int i = 0; i < x->m->row_count; i++) {
		bool any = false;
		if (!matcher_traces(x, i) || x->m->rows[i].how != MATCH_NONE)
			continue;
		for (size_t k = 0; k < s->layer_count && !any; k++)
			any = may_run(&s->may, i, s->layers[k]);
		if (any)
			s->rows[s->row_count++] = i;
	}
}

/* Matches the unmatched rows with the same layers as further runs, if the source does not separate runs. */
static void match_repeats(struct matcher *x, struct sequence *s, size_t matched)
{
	while (!x->runs_known && x->m->runs < REPEATS_MAX) {
		s->layer_count = matched;
		rows_left(x, s);
		if (s->row_count < matched || align(x, s) < matched)
			return;
		x->m->runs++;
	}
}

void match_by_order(struct matcher *x)
{
	struct match *m = x->m;
	struct arena scratch = { 0 };
	struct sequence s = { .rows = ARENA_ARRAY(&scratch, int, m->row_count + 1),
		.layers = ARENA_ARRAY(&scratch, int, m->layer_count + 1),
		.may = { .kind_of_row = ARENA_ARRAY(&scratch, int, m->row_count + 1),
			.op_of_row = ARENA_ARRAY(&scratch, int, m->row_count + 1) } };
	for (int i = 0; i < m->layer_count; i++)
		if (m->row_of_layer[i] < 0 && !plan_layer_is_folded(x->p, &x->p->layers[i]))
			s.layers[s.layer_count++] = i;
	index_ops(&s.may, x, &scratch);
	for (int i = 0; i < m->row_count; i++)
		if (matcher_traces(x, i) && m->rows[i].how == MATCH_NONE)
			index_row(&s.may, i, word_of(&x->e->rows[i]));
	rows_left(x, &s);
	size_t matched = align(x, &s);
	if (matched >= REPEATED_LEAST)
		match_repeats(x, &s, matched);
	arena_free(&scratch);
}
