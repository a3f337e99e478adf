/* Einsum: the equation as lists of labels, one label per dimension. A label is a letter, or a position in the
 * ellipsis (counted from the right), where tensors broadcast. Operations are counted for the cheapest order
 * of pairwise contractions, found by dynamic programming over subsets of inputs (subset_search), as in
 * Pfeifer, Haegeman and Verstraete, Phys. Rev. E 90, 033315 (2014). */
#include "config.h"

#include "ops/rules/op_rules.h"

#include <math.h>
#include <string.h>

#define LETTERS 128
#define LABELS (LETTERS + OP_RANK_MAX)
#define TERMS_MAX 64 /* with more inputs the result is unknown */

struct term {
	int count;                /* of labels */
	int label[OP_RANK_MAX];
	bool ellipsis;
	int ellipsis_at;          /* labels before it; while parsing, the ellipsis has no labels */
};

struct einsum {
	int input_count;
	struct term in[TERMS_MAX], out;
	bool arrow;
	struct dim size[LABELS];
	bool seen[LABELS];
	int uses[LABELS];         /* in the left side of the equation */
	int ellipsis_rank;        /* number of dimensions; -1: unknown */
	bool ranks_known;
};

/* ---- parsing */

static int term_add(const struct op_call *c, struct term *t, int label, struct error *err)
{
	if (t->count == OP_RANK_MAX)
		return op_fail(c, err, "a term is too long");
	t->label[t->count++] = label;
	return 0;
}

static bool is_letter(char l)
{
	return (l >= 'a' && l <= 'z') || (l >= 'A' && l <= 'Z');
}

static int equation_read(const struct op_call *c, struct einsum *e, struct error *err)
{
	struct text q = node_string(c->node, "equation", "");
	struct term *t = &e->in[0];
	e->input_count = 1;
	for (size_t i = 0; i < q.n; i++) {
		char l = q.p[i];
		if (is_letter(l)) {
			if (term_add(c, t, l, err))
				return -1;
		} else if (l == '.' && i + 2 < q.n && q.p[i + 1] == '.' && q.p[i + 2] == '.' &&
			!t->ellipsis) {
			t->ellipsis = true;
			t->ellipsis_at = t->count;
			i += 2;
		} else if (l == ',' && !e->arrow) {
			if (e->input_count >= c->input_count)
				return op_fail(c, err, "more terms than inputs");
			if (e->input_count == TERMS_MAX)
				return op_fail(c, err, "more than %d inputs", TERMS_MAX);
			t = &e->in[e->input_count++];
		} else if (l == '-' && i + 1 < q.n && q.p[i + 1] == '>' && !e->arrow) {
			e->arrow = true;
			t = &e->out;
			i++;
		} else if (l != ' ') {
			return op_fail(c, err, "the equation has an invalid character");
		}
	}
	if (e->input_count != c->input_count)
		return op_fail(c, err, "%d terms for %d inputs", e->input_count, c->input_count);
	return 0;
}

/* Inserts the labels of `rank` dimensions at the ellipsis. */
static int ellipsis_open(const struct op_call *c, struct term *t, int rank, struct error *err)
{
	if (t->count + rank > OP_RANK_MAX)
		return op_fail(c, err, "a term is too long");
	for (int i = t->count - 1; i >= t->ellipsis_at; i--)
		t->label[i + rank] = t->label[i];
	for (int i = 0; i < rank; i++)
		t->label[t->ellipsis_at + i] = LETTERS + rank - 1 - i;
	t->count += rank;
	return 0;
}

/* Merges a label's size with what is known of it; 1 broadcasts. */
static int label_meet(const struct op_call *c, struct einsum *e, int label, struct dim d, struct error *err)
{
	struct dim *size = &e->size[label], one = dim_known(1);
	if (!e->seen[label] || dim_same(*size, one))
		*size = d;
	else if (!dim_same(d, one) && !op_dim_merge(*size, d, size))
		return label < LETTERS ? op_fail(c, err, "letter %c stands for two sizes", label)
				       : op_fail(c, err, "the dimensions of the ellipsis do not broadcast");
	e->seen[label] = true;
	return 0;
}

/* Matches a term of the left side with the shape of its input. */
static int term_meet(const struct op_call *c, struct einsum *e, struct term *t, struct shape s,
	struct error *err)
{
	if (s.rank < 0) {
		e->ranks_known = false;
		if (t->ellipsis)
			e->ellipsis_rank = -1;
		for (int i = 0; i < t->count; i++) {
			if (!e->seen[t->label[i]] || dim_same(e->size[t->label[i]], dim_known(1)))
				e->size[t->label[i]] = dim_unknown();
			e->seen[t->label[i]] = true;
		}
		return 0;
	}
	int more = s.rank - t->count;
	if (more < 0 || (more > 0 && !t->ellipsis))
		return op_fail(c, err, "%d letters for an input of %d dimensions", t->count, s.rank);
	if (t->ellipsis && ellipsis_open(c, t, more, err))
		return -1;
	if (t->ellipsis && e->ellipsis_rank >= 0 && more > e->ellipsis_rank)
		e->ellipsis_rank = more;
	for (int i = 0; i < s.rank; i++) {
		if (label_meet(c, e, t->label[i], s.dims[i], err))
			return -1;
	}
	return 0;
}

/* The output of an equation without an arrow: the ellipsis, then letters that occur once, sorted. */
static int output_implied(const struct op_call *c, struct einsum *e, struct error *err)
{
	for (int i = 0; i < e->input_count; i++)
		e->out.ellipsis |= e->in[i].ellipsis;
	for (int l = 0; l < LETTERS; l++) {
		if (e->uses[l] == 1 && term_add(c, &e->out, l, err))
			return -1;
	}
	return 0;
}

static int einsum_read(const struct op_call *c, struct einsum *e, struct error *err)
{
	memset(e, 0, sizeof(*e));
	e->ranks_known = true;
	if (equation_read(c, e, err))
		return -1;
	for (int i = 0; i < e->input_count; i++) {
		for (int j = 0; j < e->in[i].count; j++)
			e->uses[e->in[i].label[j]]++;
	}
	for (int i = 0; i < e->input_count; i++) {
		if (!op_in(c, i))
			return op_fail(c, err, "input %d is missing", i);
		if (term_meet(c, e, &e->in[i], c->inputs[i].shape, err))
			return -1;
	}
	if (!e->arrow && output_implied(c, e, err))
		return -1;
	for (int i = 0; i < e->out.count; i++) {
		if (!e->seen[e->out.label[i]])
			return op_fail(c, err, "letter %c of the output is in no input", e->out.label[i]);
	}
	return e->out.ellipsis && e->ellipsis_rank > 0 ? ellipsis_open(c, &e->out, e->ellipsis_rank, err) : 0;
}

/* ---- rules */

static RULE_SHAPE(einsum)
{
	struct einsum e;
	if (c->input_count > TERMS_MAX)
		return 0;
	if (einsum_read(c, &e, err))
		return -1;
	if (e.out.ellipsis && e.ellipsis_rank < 0)
		return 0;
	struct shape y = shape_make(c->arena, e.out.count);
	for (int i = 0; i < y.rank; i++)
		y.dims[i] = e.size[e.out.label[i]];
	c->outputs[0].shape = y;
	return 0;
}

/* ---- pairwise contraction */

/* A set of labels. */
struct labels {
	uint64_t word[LABELS / 64];
};

static bool labels_have(const struct labels *l, int label)
{
	return l->word[label / 64] >> label % 64 & 1;
}

/* The union of both sets, or their intersection. */
static struct labels labels_union(struct labels x, const struct labels *y)
{
	for (size_t i = 0; i < LABELS / 64; i++)
		x.word[i] |= y->word[i];
	return x;
}

static struct labels labels_shared(struct labels x, const struct labels *y)
{
	for (size_t i = 0; i < LABELS / 64; i++)
		x.word[i] &= y->word[i];
	return x;
}

/* The labels of a term, without repetitions and those for which its input (may be NULL) has size 1. */
static struct labels labels_of(const struct einsum *e, const struct term *t, const struct op_value *v)
{
	struct labels l = { { 0 } };
	for (int i = 0; i < t->count; i++) {
		int label = t->label[i];
		bool repeats = v && v->shape.rank == t->count && dim_same(v->shape.dims[i], dim_known(1)) &&
			       !dim_same(e->size[label], dim_known(1));
		l.word[label / 64] |= (uint64_t)!repeats << label % 64;
	}
	return l;
}

/* Product of the sizes. */
static double labels_volume(const struct einsum *e, const struct labels *l)
{
	double volume = 1;
	for (int i = 0; i < LABELS / 64; i++) {
		for (uint64_t left = l->word[i]; left; left &= left - 1)
			volume *= op_dim_number(e->size[64 * i + __builtin_ctzll(left)]);
	}
	return volume;
}

/* A factor: an input, or an intermediate result (value NULL). */
struct factor {
	struct labels has;
	const struct op_value *value;
};

/* Two factors and the labels that remain: those in the output or in other factors. */
struct pair {
	struct factor a, b;
	struct labels y;
	double flops;
};

/* One loop over all labels of both: per step a multiply-add, or a multiplication if nothing is summed. */
static struct pair pair_of(const struct einsum *e, const struct factor *a, const struct factor *b,
	const struct labels *y)
{
	struct labels all = labels_union(a->has, &b->has);
	double volume = labels_volume(e, &all);
	return (struct pair){ *a, *b, *y, volume > labels_volume(e, y) ? 2 * volume : volume };
}

#define SEARCHED_MOST 5 /* most factors for which all orders are searched; of more, the first two are
			   multiplied until so few are left */

/* The product of a subset of factors: its labels, the fewest operations, and its largest pairwise
 * contraction. */
struct subset {
	struct factor made;
	double flops;
	struct pair largest;
};

/* The labels that factors of the set share with the output or with factors outside the set. */
static struct labels labels_left(const struct einsum *e, const struct factor *f, int count, uint64_t set)
{
	struct labels in = { { 0 } }, kept = labels_of(e, &e->out, NULL);
	for (int i = 0; i < count; i++) {
		if (set >> i & 1)
			in = labels_union(in, &f[i].has);
		else
			kept = labels_union(kept, &f[i].has);
	}
	return labels_shared(in, &kept);
}

/* Dynamic programming: the cheapest way to compute a set from two disjoint subsets that are solved
 * already. */
static void subset_search(const struct einsum *e, struct subset *best, unsigned set,
	const struct labels *left)
{
	struct subset *to = &best[set];
	*to = (struct subset){ .made = { *left, NULL }, .flops = INFINITY };
	for (unsigned a = (set - 1) & set; a > (set ^ a); a = (a - 1) & set) {
		const struct subset *x = &best[a], *y = &best[set ^ a];
		struct pair pair = pair_of(e, &y->made, &x->made, left); /* in the order of the inputs */
		double flops = x->flops + y->flops + pair.flops;
		if (flops >= to->flops)
			continue;
		to->flops = flops;
		to->largest = x->largest.flops > y->largest.flops ? x->largest : y->largest;
		if (pair.flops >= to->largest.flops)
			to->largest = pair;
	}
}

/* Contracts all factors (two at least) in the cheapest order. Returns the operations (NaN: unknown) and the
 * largest contraction. */
static double einsum_contract(const struct op_call *c, const struct einsum *e, struct pair *largest)
{
	struct factor f[TERMS_MAX];
	struct subset best[1 << SEARCHED_MOST];
	struct labels all = { { 0 } };
	int count = e->input_count;
	double flops = 0;
	*largest = (struct pair){ .flops = 0 };
	for (int i = 0; i < count; i++) {
		f[i] = (struct factor){ labels_of(e, &e->in[i], &c->inputs[i]), &c->inputs[i] };
		all = labels_union(all, &f[i].has);
	}
	if (!isfinite(labels_volume(e, &all)))
		return NAN;
	for (; count > SEARCHED_MOST; count--) {
		struct labels left = labels_left(e, f, count, 3);
		struct pair pair = pair_of(e, &f[0], &f[1], &left);
		*largest = pair.flops > largest->flops ? pair : *largest;
		flops += pair.flops;
		f[0] = (struct factor){ left, NULL };
		memmove(&f[1], &f[2], (size_t)(count - 2) * sizeof(f[0]));
	}
	for (unsigned set = 1; set < 1u << count; set++) {
		struct labels left = labels_left(e, f, count, set);
		if (set & (set - 1))
			subset_search(e, best, set, &left);
		else
			best[set] = (struct subset){ .made = f[__builtin_ctz(set)] };
	}
	const struct subset *whole = &best[(1u << count) - 1];
	*largest = whole->largest.flops >= largest->flops ? whole->largest : *largest;
	return flops + whole->flops;
}

/* One input: one addition per element if dimensions are summed. */
static RULE_COST(einsum)
{
	struct einsum e;
	struct error err;
	struct pair largest;
	cost->bytes = op_bytes_all(c);
	if (einsum_read(c, &e, &err) || !e.ranks_known)
		return;
	double flops, in = op_count(op_in(c, 0));
	if (e.input_count > 1)
		flops = einsum_contract(c, &e, &largest);
	else
		flops = isnan(in) ? NAN : in > op_count(op_out(c, 0)) ? in : 0;
	cost->flops = isfinite(flops) ? flops : NAN;
}

/* ---- a contraction as a matmul */

/* Role of a label in the matmul: in both factors and the result (batch), in one factor and the result (m, n),
 * in both factors only (k), or in one factor only (summed before). */
enum role { ROLE_BATCH, ROLE_M, ROLE_N, ROLE_K, ROLE_ALONE, ROLE_COUNT };

static enum role label_role(const struct pair *p, int label)
{
	bool a = labels_have(&p->a.has, label), b = labels_have(&p->b.has, label),
		y = labels_have(&p->y, label);
	if (a && b)
		return y ? ROLE_BATCH : ROLE_K;
	return !y ? ROLE_ALONE : a ? ROLE_M : ROLE_N;
}

/* True if the term's labels are consecutive runs of these roles. */
static bool term_is(const struct pair *p, const struct term *t, const enum role order[3])
{
	int at = 0;
	for (int i = 0; i < 3; i++) {
		while (at < t->count && label_role(p, t->label[at]) == order[i])
			at++;
	}
	return at == t->count;
}

static bool term_has(const struct term *t, int label)
{
	for (int i = 0; i < t->count; i++) {
		if (t->label[i] == label)
			return true;
	}
	return false;
}

/* True if the labels that both have are in the same order. */
static bool same_order(const struct term *x, const struct term *y)
{
	int at = 0;
	for (int i = 0; i < x->count; i++) {
		if (!term_has(y, x->label[i]))
			continue;
		while (at < y->count && y->label[at] != x->label[i])
			at++;
		if (at == y->count)
			return false;
	}
	return true;
}

/* True if no term repeats a letter and none broadcasts. */
static bool sizes_are_plain(const struct op_call *c, const struct einsum *e)
{
	for (int i = 0; i < 2; i++) {
		const struct term *t = &e->in[i];
		for (int j = 0; j < t->count; j++) {
			if (dim_differs(c->inputs[i].shape.dims[j], e->size[t->label[j]]))
				return false;
			for (int k = 0; k < j; k++) {
				if (t->label[k] == t->label[j])
					return false;
			}
		}
	}
	return true;
}

/* True if it is a matmul as libraries have it: batch first, then the matrix, each input as it is or
 * transposed. */
static bool is_plain_product(const struct op_call *c, const struct einsum *e, const struct pair *p,
	bool *transpose_a, bool *transpose_b)
{
	static const enum role a[2][3] = { { ROLE_BATCH, ROLE_M, ROLE_K }, { ROLE_BATCH, ROLE_K, ROLE_M } };
	static const enum role b[2][3] = { { ROLE_BATCH, ROLE_K, ROLE_N }, { ROLE_BATCH, ROLE_N, ROLE_K } };
	static const enum role y[3] = { ROLE_BATCH, ROLE_M, ROLE_N };
	const struct term *first = &e->in[0], *second = &e->in[1];
	if (e->input_count != 2 || !sizes_are_plain(c, e))
		return false;
	*transpose_a = !term_is(p, first, a[0]);
	*transpose_b = !term_is(p, second, b[0]);
	return term_is(p, &e->out, y) && (!*transpose_a || term_is(p, first, a[1])) &&
	       (!*transpose_b || term_is(p, second, b[1])) && same_order(first, second) &&
	       same_order(first, &e->out) && same_order(second, &e->out);
}

/* The matmul with the same multiplications; a proxy if dimensions must be permuted first or if it is the
 * largest of several. With one input, a copy. */
static RULE_PROBLEM(einsum)
{
	struct einsum e;
	struct error err;
	struct pair pair;
	int64_t size[ROLE_COUNT] = { 1, 1, 1, 1, 1 };
	if (!op_problem_ready(c, out))
		return;
	if (einsum_read(c, &e, &err)) {
		op_problem_why(out, arena_printf(c->arena, "%s", err.text));
		return;
	}
	if (e.input_count == 1) {
		op_problem_mover(c, out);
		return;
	}
	if (isnan(einsum_contract(c, &e, &pair))) {
		op_problem_why(out, "too large to measure");
		return;
	}
	struct labels all = labels_union(pair.a.has, &pair.b.has);
	for (int l = 0; l < LABELS; l++) {
		if (labels_have(&all, l) &&
			__builtin_mul_overflow(
				size[label_role(&pair, l)], e.size[l].value, &size[label_role(&pair, l)])) {
			op_problem_why(out, "too large to measure");
			return;
		}
	}
	const struct op_value between = { .present = true, .dtype = c->outputs[0].dtype };
	if (!op_problem_matmul(pair.a.value ? pair.a.value : &between, pair.b.value ? pair.b.value : &between,
		    &c->outputs[0], dim_known(size[ROLE_M]), dim_known(size[ROLE_N]), dim_known(size[ROLE_K]),
		    out))
		return;
	struct problem *p = &out->problem;
	p->batch_a.dim[0] = p->batch_b.dim[0] = size[ROLE_BATCH];
	out->proxy = !is_plain_product(c, &e, &pair, &p->transpose_a, &p->transpose_b);
	if (out->proxy)
		p->transpose_a = p->transpose_b = false;
}

static const struct op rows[] = {
	{ "Einsum", "", 12, 0, 1, -1, CLASS_COMPUTE, einsum_shape, einsum_cost, einsum_problem, NULL,
		"measured as a matmul; of several the largest (proxy); with one input "
		"as a copy" },
};
const struct op_rows op_einsum_rows = OP_ROWS(rows);
