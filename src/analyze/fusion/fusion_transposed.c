/* Matches a matmul of which one operand or both are matrices that a layer before it transposes, as exporters
 * write the keys of attention: the fused problem reads the operand as it is stored (`ta1` or `tb1`), as ONNX
 * Runtime's FusedMatMul and Gemm do, and nothing is moved. */
#include "config.h"

#include "analyze/fusion/fusion_private.h"

bool chain_swaps_matrix(const struct plan *p, const struct plan_layer *l)
{
	if (!plan_layer_is(l, "Transpose") || l->class == CLASS_FREE || l->inputs[0] < 0)
		return false;
	const struct attribute *a = node_attribute(l->node, "perm");
	int rank = p->values[l->inputs[0]].shape.rank;
	if (!a) /* reverses all dimensions */
		return rank == 2;
	if (rank < 2 || a->count != (size_t)rank)
		return false;
	for (int i = 0; i < rank; i++)
		if (a->ints[i] != (i < rank - 2 ? i : 2 * rank - 3 - i))
			return false;
	return true;
}

/* True if the matrices of a value have that many rows: batch dimensions that are merged with the rows of a
 * matmul's first operand are not between its rows any more once the matrices are transposed. */
static bool rows_are(const struct plan *p, int value, int64_t rows)
{
	const struct shape *s = &p->values[value].shape;
	struct dim d = s->dims[s->rank - 2];
	return d.kind == DIM_KNOWN && d.value == rows;
}

/* True if operand `which` of a product is made by a layer that exchanges rows and columns, for the product
 * alone; q: the product's problem. */
static bool is_swapped(
	const struct plan *p, const struct plan_layer *product, int which, const struct problem *q)
{
	int value = product->inputs[which], maker = value >= 0 ? p->values[value].producer : -1, reader;
	if (maker < 0 || !chain_swaps_matrix(p, &p->layers[maker]) ||
		!chain_one_output(p, &p->layers[maker]) || chain_readers(p, value, &reader, 1) != 1)
		return false;
	/* a Gemm has no batch dimensions */
	return which || plan_layer_is(product, "Gemm") || rows_are(p, value, q->m);
}

static void swap(struct chain *c, const struct plan_layer *product, int which)
{
	*(which ? &c->problem.transpose_b : &c->problem.transpose_a) ^= true;
	chain_take(c, c->plan->values[product->inputs[which]].producer, product->inputs[which]);
	str_puts(&c->pattern, "Transpose+");
}

/* True for a product of two different operands, neither of which is its third. */
static bool is_product(const struct plan_layer *l)
{
	const int *in = l->inputs;
	bool gemm = plan_layer_is(l, "Gemm");
	return (gemm || plan_layer_is(l, "MatMul")) && l->input_count >= 2 && in[0] != in[1] &&
		(l->input_count == 2 || (gemm && in[2] != in[0] && in[2] != in[1]));
}

bool chain_transposed(struct chain *c, const struct plan *p, const struct plan_layer *l)
{
	int reader;
	c->pattern = (struct str){ 0 };
	if (!chain_swaps_matrix(p, l) || !chain_one_output(p, l) ||
		chain_readers(p, l->outputs[0], &reader, 1) != 1)
		return false;
	const struct plan_layer *product = &p->layers[reader];
	if (!is_product(product) || product->absorbed_by >= 0 || !chain_start(c, p, product) ||
		c->problem.kernel != KERNEL_MATMUL)
		return false;
	int mine = product->inputs[1] == l->outputs[0], other = p->values[product->inputs[!mine]].producer;
	if (product->inputs[mine] != l->outputs[0] || !is_swapped(p, product, mine, &c->problem))
		return false;
	bool both = other > l->index && is_swapped(p, product, !mine, &c->problem); /* counted once */
	c->level = FUSION_PATTERN;
	c->layer_count = 0;
	str_free(&c->pattern);
	swap(c, product, mine);
	if (both)
		swap(c, product, !mine);
	chain_take(c, product->index, product->outputs[0]);
	str_puts(&c->pattern, product->op->name);
	return true;
}
