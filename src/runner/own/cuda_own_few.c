/* Products of floats with constant weights of 4 bits: cuda_few. The kernels read scales and zero points, one
 * for every block of terms of a column, which are 1 and 0. */
#include "config.h"

#include "runner/own/cuda_own_private.h"

#define FEW_BLOCK 128     /* of a text that has none; most are smaller and read more */
#define FEW_TERMS 32      /* weights that a thread reads at once: the smallest block */
#define FEW_ROWS_MOST 64  /* of the kernel that reads the weights once per 4 rows */
#define FEW_TILE_LEAST 5  /* rows from which tiles can be faster */

/* The weights lie by column: as they are, or repacked, as constants may be. */
static int weights_place(struct problem *p, struct error *err)
{
	struct operand *b = &p->operand[1];
	if (!b->constant)
		return error_set(err, "our product with weights of 4 bits needs constant weights");
	if (p->transpose_b && b->layout != LAYOUT_STRIDES)
		return 0;
	if (b->layout != LAYOUT_ANY)
		return error_set(
			err, "our product with weights of 4 bits needs them by column, or an open layout");
	struct problem_shape s = problem_operand_shape(p, 1);
	b->layout = LAYOUT_STRIDES;
	b->stride_rank = s.rank;
	for (int i = 0; i < s.rank; i++)
		b->stride[i] = i == s.rank - 1 ? p->mk : i == s.rank - 2 ? 1 : p->mk * p->mn;
	return 0;
}

static int types_check(const struct problem *p, struct error *err)
{
	enum dtype t = p->operand[0].dtype, w = p->operand[1].dtype;
	const struct epilogue *e = &p->epilogue[0];
	if ((w != DTYPE_S4 && w != DTYPE_U4) || p->operand[2].dtype != t ||
		(t != DTYPE_F32 && t != DTYPE_F16 && t != DTYPE_BF16))
		return error_set(err, "our products are of f32, f16 or bf16 with weights of s4 or u4");
	if (p->epilogue_count > 1 ||
		(p->epilogue_count && (e->kind != EPILOGUE_BIAS || e->operand.dtype != t)))
		return error_set(err, "our product with weights of 4 bits has no epilogue but a bias of %s",
			dtype_name(t));
	return 0;
}

static int few_offer(struct cuda_own *o, struct error *err)
{
	struct problem *p = &o->problem;
	struct cuda_few *f = &o->few;
	*f = (struct cuda_few){ .dtype = p->operand[0].dtype, .is_signed = p->operand[1].dtype == DTYPE_S4,
		.rows = p->m, .columns = p->mn, .terms = p->mk,
		.block = p->size ? (p->size + FEW_TERMS - 1) / FEW_TERMS * FEW_TERMS : FEW_BLOCK };
	if (types_check(p, err))
		return -1;
	for (int i = 0; i < p->batch_b.rank; i++) {
		if (p->batch_b.dim[i] != 1)
			return error_set(err, "our product with weights of 4 bits has no batch of weights");
		f->rows *= p->batch_a.dim[i];
	}
	if (f->terms % FEW_TERMS || (p->transpose_a && p->m > 1 && p->mk > 1) ||
		p->operand[0].layout == LAYOUT_STRIDES || p->operand[2].layout == LAYOUT_STRIDES)
		return error_set(err, "our product with weights of 4 bits needs dense rows "
			"of a multiple of %d", FEW_TERMS);
	if (weights_place(p, err))
		return -1;
	if (f->rows <= FEW_ROWS_MOST)
		cuda_own_add(o, CUDA_FEW_ROWS, "benanza", "dequantize_product:4columns_a_block");
	if (f->rows >= FEW_TILE_LEAST)
		cuda_own_add(o, CUDA_FEW_TILE, "benanza", "dequantize_product:tile64x64");
	for (int i = 0; i < o->count; i++)
		o->algorithm[i].notes = f->block == p->size ? "" :
			p->size ? "larger_blocks" : "scales_block128";
	return 0;
}

static cudaError_t few_enqueue(
	const struct cuda_own *o, int kind, const struct cuda_pointers *at, cudaStream_t s)
{
	struct cuda_few_operands operands = { .source = at->source[0], .weights = at->weights,
		.scales = at->scale, .zeros = at->shift,
		.bias = o->problem.epilogue_count ? at->epilogue[0] : NULL, .to = at->destination };
	return cuda_few(&o->few, (enum cuda_few_kind)kind, &operands, s);
}

const struct cuda_family cuda_family_few = { few_offer, few_enqueue, "our product with weights of 4 bits" };
