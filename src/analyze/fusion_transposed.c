#include "config.h"

#include "analyze/analyze_private.h"

/* Matches a matmul one of whose operands is a matrix that the layer before it transposes, as exporters write
 * the keys of attention: the fused problem reads the operand as it is stored (`ta1` or `tb1`), as ONNX
 * Runtime's FusedMatMul does, and nothing is moved. */

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

bool chain_transposed(struct chain *c, const struct plan *p, const struct plan_layer *l)
{
	int reader;
	c->pattern = (struct str){ 0 };
	if (!chain_swaps_matrix(p, l) || !chain_one_output(p, l) ||
		chain_readers(p, l->outputs[0], &reader, 1) != 1)
		return false;
	const struct plan_layer *product = &p->layers[reader];
	const int *in = product->inputs;
	if (!plan_layer_is(product, "MatMul") || product->input_count != 2 || in[0] == in[1] ||
		!chain_start(c, p, product))
		return false;
	struct problem *q = &c->problem;
	if (q->kernel != KERNEL_MATMUL || product->absorbed_by >= 0)
		return false;
	bool is_a = in[0] == l->outputs[0];
	if (is_a && !rows_are(p, in[0], q->m))
		return false;
	*(is_a ? &q->transpose_a : &q->transpose_b) ^= true;
	c->level = FUSION_PATTERN;
	c->layer_count = 0;
	chain_take(c, l->index, l->outputs[0]);
	chain_take(c, product->index, product->outputs[0]);
	str_free(&c->pattern);
	str_puts(&c->pattern, "Transpose+MatMul");
	return true;
}
