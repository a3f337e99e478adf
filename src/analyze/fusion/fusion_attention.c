/* Matches attention as exporters take it apart, from its softmax: upwards past casts, scales and a mask to
 * the product of queries and keys, and on past what scales, transposes or repeats the keys; downwards to the
 * product with the values. The time of attention does not depend on the value of the scale, so any scale
 * matches. Keys whose transposition also moves the heads keep that Transpose as a layer of its own: it moves
 * as many bytes as the one that the fused kernel needs. */
#include "config.h"

#include "analyze/fusion/fusion_private.h"

#include <stdlib.h>
#include <string.h>

struct match {
	struct chain *c;
	const struct plan *p;
	const struct plan_layer *scores; /* product of queries and keys */
	int mask;                        /* value that is added, or -1 */
	bool causal;
	int64_t n, heads;                /* of scores that are reshaped to four dimensions; 0: they are not */
	bool repeats;                    /* what repeats heads of keys and values is inside */
	const char *why;                 /* what ended the match */
};

/* ---- layers */

/* The four dimensions of a run-time tensor of heads: n, heads, rows, columns; three are one sample. */
static bool heads_of(const struct plan *p, int value, int64_t *size)
{
	if (value < 0)
		return false;
	const struct plan_value *v = &p->values[value];
	int front = 4 - v->shape.rank;
	if (v->constant || front < 0 || front > 1 || !shape_is_known(v->shape))
		return false;
	size[0] = 1;
	for (int i = 0; i < v->shape.rank; i++)
		size[front + i] = v->shape.dims[i].value;
	return true;
}

static bool is_product(const struct plan *p, const struct plan_layer *l)
{
	const struct plan_problem *pp = plan_layer_problem(p, l);
	return plan_layer_is(l, "MatMul") && pp && !l->proxy && pp->problem->kernel == KERNEL_MATMUL &&
		!pp->problem->epilogue_count && l->input_count == 2 && !p->values[l->inputs[0]].constant &&
		!p->values[l->inputs[1]].constant;
}

/* True for a multiplication by a constant. */
static bool is_scale(const struct plan *p, const struct plan_layer *l)
{
	const struct plan_problem *pp = plan_layer_problem(p, l);
	return pp && !l->proxy && pp->problem->kernel == KERNEL_ELTWISE &&
		pp->problem->mode == MODE_LINEAR_MAP && pp->problem->beta >= 0 && pp->problem->beta <= 0;
}

static bool is_cast(const struct plan *p, const struct plan_layer *l)
{
	return plan_layer_is(l, "Cast") && dtype_is_float(p->values[l->inputs[0]].dtype) &&
		dtype_is_float(p->values[l->outputs[0]].dtype);
}

static bool is_shaping(const struct plan_layer *l)
{
	return l->class == CLASS_FREE && (plan_layer_is(l, "Reshape") || plan_layer_is(l, "Unsqueeze") ||
		plan_layer_is(l, "Squeeze"));
}

/* Softmax over the last dimension. Old opsets flatten the dimensions after the axis; then the lengths
 * differ. */
static bool is_softmax(const struct plan *p, const struct plan_layer *l, int64_t *keys)
{
	const struct plan_problem *pp = plan_layer_problem(p, l);
	struct problem q;
	if (!pp || l->proxy || pp->problem->kernel != KERNEL_SOFTMAX || pp->problem->mode != MODE_SOFTMAX)
		return false;
	problem_restore(pp->problem, &q);
	if (q.axis != q.shape[0].rank - 1)
		return false;
	*keys = q.shape[0].dim[q.axis];
	return true;
}

/* The input of a layer that is not a constant. */
static int changing_input(const struct plan *p, const struct plan_layer *l)
{
	for (int i = 0; i < l->input_count; i++)
		if (l->inputs[i] >= 0 && !p->values[l->inputs[i]].constant)
			return l->inputs[i];
	return l->inputs[0];
}

#define PROBE_LAYERS 8
#define READ "other layers read a value inside it, or it is a model output"

/* True if one of the layers before l, along their first inputs that change, is a product of two tensors. */
static bool leads_to_product(const struct plan *p, const struct plan_layer *l)
{
	for (int i = 0; i < PROBE_LAYERS && l->input_count > 0; i++) {
		if (is_product(p, l))
			return true;
		int value = changing_input(p, l), producer = value >= 0 ? p->values[value].producer : -1;
		if (producer < 0)
			break;
		l = &p->layers[producer];
	}
	return false;
}

/* ---- steps */

static bool fail(struct match *m, const char *why)
{
	m->why = why;
	return false;
}

static bool altered(struct match *m, const struct plan_layer *l)
{
	return fail(m, leads_to_product(m->p, l)
			       ? "the fused kernel lacks an operation on its scores"
			       : NULL);
}

static bool take(struct match *m, const struct plan_layer *l)
{
	if (m->c->layer_count == FUSION_LAYERS_MAX)
		return fail(m, "it has too many layers");
	chain_take(m->c, l->index, l->outputs[0]);
	return true;
}

/* The layer that computes a value which only one layer reads; NULL if the value cannot be inside a group. */
static const struct plan_layer *maker_of(struct match *m, int value)
{
	int reader, producer = m->p->values[value].producer;
	if (producer < 0)
		return NULL;
	const struct plan_layer *l = &m->p->layers[producer];
	if (!plan_layer_is_onnx(l) || l->body_count || l->input_count < 1 || l->inputs[0] < 0 ||
		!chain_one_output(m->p, l) || l->absorbed_by >= 0)
		return NULL;
	if (chain_readers(m->p, value, &reader, 1) != 1) {
		m->why = leads_to_product(m->p, l) ? READ : NULL;
		return NULL;
	}
	return l;
}

static bool take_scores(struct match *m, int value);

/* Goes on with the one input of l that has the shape of the scores, whichever leads to a product. */
static bool take_either(struct match *m, const struct plan_layer *l, const int *inputs, int *other)
{
	const struct match before = *m;
	int count = m->c->layer_count;
	for (int i = 0; i < 2; i++) {
		const struct plan_value *v = &m->p->values[inputs[i]];
		if (v->constant || !shape_same(v->shape, m->p->values[l->outputs[0]].shape))
			continue;
		*other = inputs[!i];
		if (take_scores(m, inputs[i]))
			return true;
		const char *why = m->why ? m->why : before.why;
		*m = before;
		m->why = why;
		m->c->layer_count = count;
	}
	return false;
}

static bool take_added(struct match *m, const struct plan_layer *l)
{
	int mask;
	const struct plan_problem *pp = plan_layer_problem(m->p, l);
	if (!pp || l->proxy || pp->problem->mode != MODE_ADD || pp->problem->epilogue_count ||
		l->input_count != 2 || l->inputs[1] < 0)
		return altered(m, l);
	if (!take(m, l) || !take_either(m, l, l->inputs, &mask))
		return false;
	if (m->mask >= 0 || m->causal)
		return fail(m, "it has two masks");
	m->causal = triangle_added(m->p, mask);
	m->mask = m->causal ? -1 : mask;
	return true;
}

/* Where(mask, scores, constant), or with both exchanged: the same as adding 0 or the constant. A mask that
 * the model computes stays outside; it counts as one of the scores' type, as the measured kernels read it. */
static bool take_selected(struct match *m, const struct plan_layer *l)
{
	int fill;
	if (l->input_count != 3 || l->inputs[1] < 0 || l->inputs[2] < 0)
		return false;
	if (!take(m, l) || !take_either(m, l, l->inputs + 1, &fill))
		return false;
	bool kept = fill == l->inputs[2];
	if (m->mask >= 0 || m->causal)
		return fail(m, "it has two masks");
	if (!m->p->values[fill].constant)
		return fail(m, "the value of its masked scores is computed at run time");
	if (!triangle_fills(m->p, fill))
		return fail(m, "the value of its masked scores does not hide them");
	enum triangle t = triangle_of(m->p, l->inputs[0]);
	m->causal = kept ? t == TRIANGLE_SEEN : t >= TRIANGLE_HIDDEN;
	if (!m->causal)
		m->mask = l->inputs[0];
	return true;
}

/* Takes the layers from the product of queries and keys to the one that makes `value`, the last first. */
static bool take_scores(struct match *m, int value)
{
	for (;;) {
		const struct plan_layer *l = maker_of(m, value);
		if (!l)
			return false;
		if (is_product(m->p, l)) {
			m->scores = l;
			return take(m, l);
		}
		const struct shape *s = &m->p->values[value].shape;
		if (s->rank == 4 && shape_is_known(*s)) {
			m->n = s->dims[0].value;
			m->heads = s->dims[1].value;
		}
		if (plan_layer_is(l, "Add"))
			return take_added(m, l);
		if (plan_layer_is(l, "Where"))
			return take_selected(m, l);
		if (!is_scale(m->p, l) && !is_cast(m->p, l) && !chain_hands_on(l) && !is_shaping(l))
			return altered(m, l);
		if (!take(m, l))
			return false;
		value = changing_input(m->p, l);
	}
}

/* Takes what repeats heads of keys or values for groups of queries: Unsqueeze, Expand, Reshape. Returns the
 * value before it, or `value`. */
static int take_repeat(struct match *m, int value)
{
	const char *why = m->why;
	int count = m->c->layer_count;
	if (!m->repeats)
		return value;
	const struct plan_layer *l[3] = { maker_of(m, value) };
	for (int i = 0; i < 2 && l[i]; i++)
		l[i + 1] = maker_of(m, l[i]->inputs[0]);
	m->why = why;
	if (!l[0] || !l[1] || !l[2] || !is_shaping(l[0]) || !is_shaping(l[2]) ||
		!(plan_layer_is(l[1], "Expand") || plan_layer_is(l[1], "Tile")))
		return value;
	int64_t from[4], to[4];
	const struct shape *wide = &m->p->values[l[1]->outputs[0]].shape;
	if (!heads_of(m->p, l[2]->inputs[0], from) || !heads_of(m->p, value, to) || wide->rank != 5 ||
		!shape_is_known(*wide) || from[0] != to[0] || from[2] != to[2] || from[3] != to[3] ||
		to[1] % from[1] || wide->dims[1].value != from[1] || wide->dims[2].value * from[1] != to[1])
		return value;
	for (int i = 0; i < 3; i++)
		if (!take(m, l[i])) {
			m->c->layer_count = count;
			return value;
		}
	return l[2]->inputs[0];
}

/* True for a Reshape that only merges samples and heads, or splits them. */
static bool keeps_matrix(const struct plan *p, const struct plan_layer *l)
{
	int64_t from[4], to[4];
	return is_shaping(l) && heads_of(p, l->inputs[0], from) && heads_of(p, l->outputs[0], to) &&
		from[2] == to[2] && from[3] == to[3];
}

static bool same_samples(const struct plan *p, int a, int b)
{
	int64_t x[4], y[4];
	return heads_of(p, a, x) && heads_of(p, b, y) && x[0] == y[0];
}

/* Takes what only scales the queries. Returns the value before. */
static int take_queries(struct match *m, int value)
{
	const char *why = m->why;
	const struct plan_layer *l;
	while ((l = maker_of(m, value)) && is_scale(m->p, l) && take(m, l))
		value = changing_input(m->p, l);
	m->why = why;
	return value;
}

/* Takes what scales the keys, transposes their matrices (*turned), merges samples and heads on the way, or
 * repeats heads. Returns the value before; a Reshape at its end stays if the queries have its form. */
static int take_keys(struct match *m, int value, int queries, bool *turned)
{
	const char *why = m->why;
	int reshaped = -1, count = 0; /* the value behind such a Reshape */
	for (;;) {
		const struct plan_layer *l = maker_of(m, value);
		m->why = why;
		bool swaps = l && chain_swaps_matrix(m->p, l), scales = l && is_scale(m->p, l),
		     keeps = l && keeps_matrix(m->p, l);
		int before = swaps || scales || keeps ? changing_input(m->p, l) : take_repeat(m, value);
		if (before == value || ((swaps || scales || keeps) && !take(m, l)))
			break;
		reshaped = keeps ? value : -1;
		count = m->c->layer_count - 1;
		*turned ^= swaps;
		value = before;
	}
	if (reshaped < 0 || same_samples(m->p, value, queries))
		return value;
	m->c->layer_count = count;
	return reshaped;
}

/* A row without any key gives NaN, which exporters replace: IsNaN and Where behind the softmax, as one unit.
 * Returns the Where, or NULL. */
static const struct plan_layer *take_guard(struct match *m)
{
	struct chain *c = m->c;
	int readers[2];
	if (chain_readers(m->p, c->value, readers, 2) != 2)
		return NULL;
	const struct plan_layer *test = &m->p->layers[readers[0]], *l = &m->p->layers[readers[1]];
	int reader, value = c->value, at = c->layer_count;
	if (!plan_layer_is(test, "IsNaN") || !plan_layer_is(l, "Where") || l->inputs[0] != test->outputs[0] ||
		l->inputs[2] != value || !m->p->values[l->inputs[1]].constant ||
		chain_readers(m->p, test->outputs[0], &reader, 1) != 1 || !take(m, test) || !take(m, l))
		return NULL;
	c->unit[at] = c->unit[at + 1] = test->index | FUSION_REGION;
	return l;
}

/* Takes the layers behind the softmax up to the product with the values, which it returns; NULL: none. */
static const struct plan_layer *take_values(struct match *m)
{
	for (;;) {
		int reader;
		if (chain_readers(m->p, m->c->value, &reader, 1) != 1) {
			if (take_guard(m))
				continue;
			fail(m, READ);
			return NULL;
		}
		const struct plan_layer *l = &m->p->layers[reader];
		if (is_product(m->p, l) && chain_one_output(m->p, l))
			return l->inputs[0] == m->c->value && l->inputs[1] != m->c->value && take(m, l) ? l :
				NULL;
		bool passes = plan_layer_is_onnx(l) && !l->body_count && l->input_count > 0 &&
			(chain_hands_on(l) || is_cast(m->p, l) || is_shaping(l)) && chain_one_output(m->p, l);
		if (!passes || !take(m, l))
			return NULL;
	}
}

/* ---- the problem */

static const char does_not_fit[] = "its queries, keys and values do not fit";

static bool problem_fill(struct match *m, const int *operands, bool turned, int64_t keys)
{
	int64_t q[4], k[4], v[4];
	struct problem *to = &m->c->problem;
	if (!heads_of(m->p, operands[0], q) || !heads_of(m->p, operands[1], k) ||
		!heads_of(m->p, operands[2], v))
		return fail(m, "its queries, keys or values are not tensors of heads");
	int64_t head_size = turned ? k[3] : k[2], length = turned ? k[2] : k[3];
	if (k[0] != q[0] || v[0] != q[0] || v[1] != k[1] || k[1] < 1 || q[1] % k[1] || head_size != q[3] ||
		v[2] != length || length != keys)
		return fail(m, does_not_fit);
	bool merged = m->p->values[operands[0]].shape.rank == 3 && m->heads > 0 &&
		m->n * m->heads == q[1] && k[1] == q[1];
	*to = (struct problem){ .kernel = KERNEL_ATTENTION,
		.mode = MODE_FULL,
		.accumulator = DTYPE_F32,
		.n = merged ? m->n : q[0],
		.heads = merged ? m->heads : q[1],
		.kv_heads = merged ? m->heads : k[1],
		.query_length = q[2],
		.key_length = length,
		.head_size = q[3],
		.value_size = v[3] };
	enum dtype type = plan_wide(m->p, &m->p->values[operands[0]]);
	for (int i = 0; i < 4; i++) {
		to->operand[i].dtype = type;
		if (plan_wide(m->p, &m->p->values[operands[i]]) != type)
			return fail(m, "its queries, keys and values have different types");
	}
	if (m->mask < 0 && m->causal && to->query_length > 1)
		to->mode = MODE_CAUSAL;
	const struct plan_value *mask = m->mask >= 0 ? &m->p->values[m->mask] : NULL;
	if (mask && plan_wide(m->p, mask) != type && mask->dtype != DTYPE_BOOL)
		return fail(m, "its mask has another type than its queries");
	return !mask || op_problem_mask(mask->shape, to) ? true : fail(m, "its mask does not fit the scores");
}

static int layer_compare(const void *x, const void *y)
{
	int a = *(const int *)x, b = *(const int *)y;
	return (a > b) - (a < b);
}

/* Puts the layers in ascending order; each is a unit of its own but those of a guard. */
static void sort_layers(struct chain *c)
{
	int pairs[FUSION_LAYERS_MAX][2];
	for (int i = 0; i < c->layer_count; i++) {
		pairs[i][0] = c->layers[i];
		pairs[i][1] = c->unit[i];
	}
	qsort(pairs, (size_t)c->layer_count, sizeof(pairs[0]), layer_compare);
	for (int i = 0; i < c->layer_count; i++) {
		c->layers[i] = pairs[i][0];
		c->unit[i] = pairs[i][1];
	}
}

static bool find(struct chain *c, const struct plan *p, const struct plan_layer *l, bool repeats,
	const char **why)
{
	int64_t keys;
	*why = NULL;
	c->pattern = (struct str){ 0 };
	if (!is_softmax(p, l, &keys) || !chain_begin(c, p, l))
		return false;
	struct match m = { .c = c, .p = p, .mask = -1, .repeats = repeats };
	bool turned = false;
	const struct plan_layer *last;
	if (!take_scores(&m, l->inputs[0])) {
		*why = m.why;
		return false;
	}
	int operands[4];
	operands[0] = take_queries(&m, m.scores->inputs[0]);
	operands[1] = take_keys(&m, m.scores->inputs[1], operands[0], &turned);
	c->value = l->outputs[0];
	m.why = NULL;
	last = take_values(&m);
	if (!last) {
		*why = m.why;
		return false;
	}
	operands[2] = take_repeat(&m, last->inputs[1]);
	operands[3] = last->outputs[0];
	if (!problem_fill(&m, operands, turned, keys)) {
		*why = m.why;
		return false;
	}
	c->value = last->outputs[0];
	c->residual = m.mask >= 0 && !p->values[m.mask].constant ? p->values[m.mask].producer : -1;
	sort_layers(c);
	c->level = FUSION_PATTERN;
	str_free(&c->pattern);
	str_puts(&c->pattern, c->problem.mode == MODE_CAUSAL ? "Attention(causal)" :
		m.mask >= 0 ? "Attention(mask)" : "Attention");
	return true;
}

/* The operator Attention behind what repeats heads: the operator itself takes fewer keys and values. */
static bool find_repeated(struct chain *c, const struct plan *p, const struct plan_layer *l)
{
	int64_t heads[4];
	c->pattern = (struct str){ 0 };
	if (!plan_layer_is(l, "Attention") || l->input_count < 3 || !chain_begin(c, p, l) ||
		c->problem.kernel != KERNEL_ATTENTION)
		return false;
	for (int i = 4; i < l->input_count; i++) /* earlier keys and values have all heads */
		if (l->inputs[i] >= 0)
			return false;
	struct match m = { .c = c, .p = p, .mask = -1, .repeats = true };
	for (int i = 1; i < 3; i++) {
		int value = l->inputs[i] < 0 ? -1 : take_repeat(&m, l->inputs[i]);
		if (value == l->inputs[i] || !heads_of(p, value, heads) ||
			(i == 2 && heads[1] != c->problem.kv_heads))
			return false;
		c->problem.kv_heads = heads[1];
	}
	c->value = l->outputs[0];
	sort_layers(c);
	c->level = FUSION_PATTERN;
	str_puts(&c->pattern, "(repeat)");
	return true;
}

/* If heads are repeated in a form that is known for the keys or the values only, both stay as repeated. */
bool chain_attention(struct chain *c, const struct plan *p, const struct plan_layer *l, const char **why)
{
	*why = NULL;
	if (find_repeated(c, p, l))
		return true;
	str_free(&c->pattern);
	bool found = find(c, p, l, true, why);
	if (found || *why != does_not_fit)
		return found;
	str_free(&c->pattern);
	return find(c, p, l, false, why);
}
