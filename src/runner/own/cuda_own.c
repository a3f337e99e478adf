/* Which of our own kernels do a problem, the most promising first. */
#include "config.h"

#include "problem/kernel.h"
#include "runner/own/cuda_own_private.h"

#include <stdio.h>
#include <string.h>

#include "runner/verify/integers.h"

/* Kinds of a concat: */
#define CONCAT_WIDE 0     /* one move per source, each of the widest kind possible */
#define CONCAT_MEMCPY 1   /* one cudaMemcpy2DAsync per source */
#define COLUMNS_FEW 8     /* no tiles for shorter dimensions: most threads of a tile would idle */

struct algorithm *cuda_own_add(struct cuda_own *o, int kind, const char *api, const char *name)
{
	int i = o->count++;
	snprintf(o->name[i], sizeof(o->name[i]), "%s", name);
	o->kind[i] = kind;
	o->algorithm[i] = (struct algorithm){ .api = api,
		.name = o->name[i],
		.layouts = o->layouts,
		.math = "strict",
		.rank = i,
		.matrix = MATRIX_NO,
		.notes = "" };
	return &o->algorithm[i];
}

static struct cuda_strided strided_of(const struct cuda_layout *l)
{
	struct cuda_strided s = { .dtype = l->dtype, .rank = l->shape.rank };
	memcpy(s.dim, l->shape.dim, sizeof(s.dim));
	memcpy(s.stride, l->stride, sizeof(s.stride));
	return s;
}

bool cuda_own_is_dense(const struct problem *p)
{
	for (int i = 0; i < problem_operand_count(p); i++)
		if (p->operand[i].layout == LAYOUT_NXC || p->operand[i].layout == LAYOUT_STRIDES)
			return false;
	return true;
}

/* --- moves --- */

/* Lists the kinds of a move, most promising first. Leaves out kinds that another one does better: tiles of
 * short dimensions, and element-wise copies if wider words are possible. */
static void moves_offer(struct cuda_own *o)
{
	const struct cuda_move *m = &o->move[0];
	const struct cuda_move_form *f = &m->wide;
	int64_t rows = m->from_inner >= 0 ? f->dim[f->rank - 1] / m->pack : 0;
	int64_t columns = m->from_inner >= 0 ? f->dim[m->from_inner] / m->pack : 0;
	for (int kind = 0; kind < CUDA_MOVE_KINDS; kind++) {
		char buf[32];
		bool tile = kind == CUDA_MOVE_TILED || kind == CUDA_MOVE_TALL;
		bool poor = (tile && (rows < COLUMNS_FEW || columns < COLUMNS_FEW)) ||
			(kind == CUDA_MOVE_TALL && rows <= 32) ||
			(kind == CUDA_MOVE_STRIDED &&
				(cuda_move_can(m, CUDA_MOVE_VECTOR) || cuda_move_can(m, CUDA_MOVE_COPY)));
		if (cuda_move_can(m, kind) && !poor)
			cuda_own_add(o, kind, kind == CUDA_MOVE_MEMCPY ? "CUDA" : "benanza",
				cuda_move_name(m, kind, buf));
	}
}

static int move_plan(
	struct cuda_own *o, const struct cuda_strided *from, const struct cuda_strided *to, struct error *err)
{
	o->move_count = 1;
	if (cuda_move_plan(&o->move[0], from, to))
		return error_set(err, "our kernels do not move elements of less than 8 bits");
	moves_offer(o);
	return 0;
}

static int plain_offer(struct cuda_own *o, struct error *err)
{
	struct cuda_layout from = cuda_operand_layout(&o->problem, 0, 0),
			   to = cuda_operand_layout(&o->problem, 1, 0);
	struct cuda_strided source = strided_of(&from), destination = strided_of(&to);
	return move_plan(o, &source, &destination, err);
}

static int transpose_offer(struct cuda_own *o, struct error *err)
{
	const struct problem *p = &o->problem;
	struct cuda_layout from = cuda_operand_layout(p, 0, 0), to = cuda_operand_layout(p, 1, 0);
	struct cuda_strided source = strided_of(&from), destination = strided_of(&to);
	for (int i = 0; i < source.rank; i++) {
		source.dim[i] = from.shape.dim[p->perm[i]];
		source.stride[i] = from.stride[p->perm[i]];
	}
	return move_plan(o, &source, &destination, err);
}

static cudaError_t move_enqueue(
	const struct cuda_own *o, int kind, const struct cuda_pointers *at, cudaStream_t s)
{
	return cuda_move(&o->move[0], kind, at->source[0], at->destination, s);
}

/* --- concat --- */

static enum cuda_move_kind widest(const struct cuda_move *m)
{
	return cuda_move_can(m, CUDA_MOVE_COPY)	     ? CUDA_MOVE_COPY
		: cuda_move_can(m, CUDA_MOVE_VECTOR) ? CUDA_MOVE_VECTOR
		: m->from_inner >= 0 && !m->dense    ? CUDA_MOVE_TILED
						     : CUDA_MOVE_STRIDED;
}

static int concat_offer(struct cuda_own *o, struct error *err)
{
	const struct problem *p = &o->problem;
	struct cuda_layout to = cuda_operand_layout(p, 1, 0);
	int64_t begin = 0, bytes = dtype_bits(to.dtype) / 8;
	int narrowest = 16;
	char name[48];
	o->move_count = p->shape_count;
	for (int i = 0; i < p->shape_count; i++) {
		struct cuda_layout from = cuda_operand_layout(p, 0, i);
		struct cuda_strided source = strided_of(&from), part = strided_of(&to);
		part.dim[p->axis] = from.shape.dim[p->axis];
		o->move_offset[i] = begin * to.stride[p->axis] * bytes;
		part.data = (void *)(uintptr_t)o->move_offset[i];
		begin += from.shape.dim[p->axis];
		if (cuda_move_plan(&o->move[i], &source, &part))
			return error_set(err, "our kernels do not move elements of less than 8 bits");
		int wide = widest(&o->move[i]) == CUDA_MOVE_STRIDED ? o->move[i].plain.bytes
								    : o->move[i].wide.bytes;
		narrowest = wide < narrowest ? wide : narrowest;
	}
	snprintf(name, sizeof(name), "strided:%d_bytes", narrowest);
	cuda_own_add(o, CONCAT_WIDE, "benanza", name);
	if (cuda_own_is_dense(p) && p->operand[0].dtype == p->operand[1].dtype)
		cuda_own_add(o, CONCAT_MEMCPY, "CUDA", "cudaMemcpy2DAsync");
	return 0;
}

static size_t row_bytes(const struct problem_shape *s, int axis, enum dtype t)
{
	size_t n = (size_t)dtype_bits(t) / 8;
	for (int i = axis; i < s->rank; i++)
		n *= (size_t)s->dim[i];
	return n;
}

static cudaError_t concat_copy(
	const struct cuda_own *o, int i, const struct cuda_pointers *at, cudaStream_t s)
{
	const struct problem *p = &o->problem;
	struct problem_shape to = problem_operand_shape(p, 1);
	size_t width = row_bytes(&p->shape[i], p->axis, p->operand[0].dtype), rows = 1;
	for (int d = 0; d < p->axis; d++)
		rows *= (size_t)to.dim[d];
	return cudaMemcpy2DAsync((char *)at->destination + o->move_offset[i],
		row_bytes(&to, p->axis, p->operand[1].dtype), at->source[i], width, width, rows,
		cudaMemcpyDeviceToDevice, s);
}

static cudaError_t concat_enqueue(
	const struct cuda_own *o, int kind, const struct cuda_pointers *at, cudaStream_t s)
{
	cudaError_t bad = cudaSuccess;
	for (int i = 0; i < o->move_count && bad == cudaSuccess; i++)
		bad = kind == CONCAT_MEMCPY ? concat_copy(o, i, at, s) :
			cuda_move(&o->move[i], widest(&o->move[i]), at->source[i],
				(char *)at->destination + o->move_offset[i], s);
	return bad;
}

/* --- lookups --- */

static int gather_offer(struct cuda_own *o, struct error *err)
{
	char name[48];
	if (!cuda_own_is_dense(&o->problem))
		return error_set(err, "our gather needs dense operands");
	if (cuda_gather_plan(&o->gather, &o->problem))
		return error_set(err, "our gather needs s32 or s64 indices, "
			"and equal element types of 8 bits or more");
	snprintf(name, sizeof(name), "gather:%d_bytes", o->gather.bytes);
	cuda_own_add(o, 0, "benanza", name);
	return 0;
}

static cudaError_t gather_enqueue(
	const struct cuda_own *o, int kind, const struct cuda_pointers *at, cudaStream_t s)
{
	(void)kind;
	return cuda_gather(&o->gather, at->source[0], at->source[1], at->destination, s);
}

static int select_offer(struct cuda_own *o, struct error *err)
{
	if (!cuda_own_is_dense(&o->problem))
		return error_set(err, "our select needs dense operands");
	if (cuda_select_plan(&o->select, &o->problem))
		return error_set(err, "our select needs an 8-bit condition, "
			"and equal element types of 8 to 64 bits");
	cuda_own_add(o, 0, "benanza", "select");
	return 0;
}

static cudaError_t select_enqueue(
	const struct cuda_own *o, int kind, const struct cuda_pointers *at, cudaStream_t s)
{
	(void)kind;
	return cuda_select(&o->select, at->source[0], at->source[1], at->source[2], at->destination, s);
}

/* Sets the strides in order n, c, d, h, w; 0 for missing dimensions. */
static void five_strides(const struct cuda_layout *l, int64_t *stride)
{
	memset(stride, 0, 5 * sizeof(*stride));
	stride[0] = l->stride[0];
	stride[1] = l->stride[1];
	for (int i = 2; i < l->shape.rank; i++)
		stride[5 - l->shape.rank + i] = l->stride[i];
}

static int resample_offer(struct cuda_own *o, struct error *err)
{
	const struct problem *p = &o->problem;
	struct cuda_layout from = cuda_operand_layout(p, 0, 0), to = cuda_operand_layout(p, 1, 0);
	struct cuda_resample *r = &o->resample;
	if (from.dtype != to.dtype ||
		(from.dtype != DTYPE_F32 && from.dtype != DTYPE_F16 && from.dtype != DTYPE_BF16))
		return error_set(err, "our resampling needs f32, f16 or bf16 on both sides");
	*r = (struct cuda_resample){ .mode = p->mode, .dtype = from.dtype, .n = p->n, .c = p->c };
	five_strides(&from, r->from);
	five_strides(&to, r->to);
	r->channels_last = p->c > 1 && to.stride[1] == 1;
	for (int i = 0; i < 3; i++) {
		r->in[i] = i < 3 - p->spatial ? 1 : p->in[i];
		r->out[i] = i < 3 - p->spatial ? 1 : p->out[i];
	}
	cuda_own_add(o, 0, "benanza", "resample");
	return 0;
}

static cudaError_t resample_enqueue(
	const struct cuda_own *o, int kind, const struct cuda_pointers *at, cudaStream_t s)
{
	(void)kind;
	return cuda_resample(&o->resample, at->source[0], at->destination, s);
}

/* --- quantization --- */

static bool is_same_layout(const struct problem *p)
{
	struct cuda_layout from = cuda_operand_layout(p, 0, 0), to = cuda_operand_layout(p, 1, 0);
	bool same = p->operand[0].layout != LAYOUT_STRIDES && p->operand[1].layout != LAYOUT_STRIDES;
	for (int i = 0; i < from.shape.rank; i++)
		same = same && from.stride[i] == to.stride[i];
	return same;
}

static int quantize_offer(struct cuda_own *o, struct error *err)
{
	const struct problem *p = &o->problem;
	struct cuda_layout from = cuda_operand_layout(p, 0, 0);
	struct problem_shape scales = problem_scale_shape(p);
	bool quantizes = p->kernel == KERNEL_QUANTIZE;
	struct cuda_quantize *q = &o->quantize;
	*q = (struct cuda_quantize){ .kernel = p->kernel,
		.from_type = p->operand[0].dtype,
		.to_type = p->operand[1].dtype,
		.single = scales.rank == 0,
		.dynamic = p->mode == MODE_QUANTIZE_DYNAMIC,
		.count = 1,
		.dim = 1,
		.inner = 1,
		.size = 1,
		.by_block = p->mode == MODE_QUANTIZE_BLOCK || p->mode == MODE_DEQUANTIZE_BLOCK,
		.zero = (float)integer_zero_point(p->operand[quantizes ? 1 : 0].dtype) };
	for (int i = 0; i < from.shape.rank; i++)
		q->count *= from.shape.dim[i];
	if (!q->single) {
		q->dim = from.shape.dim[p->axis];
		q->inner = from.stride[p->axis];
		q->size = q->by_block ? p->size : 1;
	}
	if (!is_same_layout(p) || (q->by_block && !cuda_own_is_dense(p)))
		return error_set(err, "our quantization needs dense operands of equal layout, "
			"row-major for blocks");
	if (q->size > INT32_MAX || !cuda_quantize_can(q))
		return error_set(err, "our quantization has no %s from %s to %s", mode_name(p->mode),
			dtype_name(q->from_type), dtype_name(q->to_type));
	struct algorithm *a =
		cuda_own_add(o, 0, "benanza", q->dynamic ? "quantize:two_passes" : kernel_name(p->kernel));
	a->workspace_bytes = q->dynamic ? 8.0 * CUDA_QUANTIZE_PARTS : 0;
	return 0;
}

static cudaError_t quantize_enqueue(
	const struct cuda_own *o, int kind, const struct cuda_pointers *at, cudaStream_t s)
{
	(void)kind;
	return cuda_quantize(&o->quantize, at->source[0], at->scale, at->destination, at->workspace, s);
}

/* --- families --- */

static const struct cuda_family of_copy = { plain_offer, move_enqueue, "our copy" },
				of_cast = { plain_offer, move_enqueue, "our cast" },
				of_transpose = { transpose_offer, move_enqueue, "our transpose" },
				of_concat = { concat_offer, concat_enqueue, "our concat" },
				of_gather = { gather_offer, gather_enqueue, "our gather" },
				of_select = { select_offer, select_enqueue, "our select" },
				of_resample = { resample_offer, resample_enqueue, "our resampling" },
				of_quantize = { quantize_offer, quantize_enqueue, "our quantization" };

static const struct cuda_family *const families[KERNEL_COUNT] = {
	[KERNEL_COPY] = &of_copy,
	[KERNEL_CAST] = &of_cast,
	[KERNEL_TRANSPOSE] = &of_transpose,
	[KERNEL_CONCAT] = &of_concat,
	[KERNEL_GATHER] = &of_gather,
	[KERNEL_SELECT] = &of_select,
	[KERNEL_RESAMPLE] = &of_resample,
	[KERNEL_QUANTIZE] = &of_quantize,
	[KERNEL_DEQUANTIZE] = &of_quantize,
	[KERNEL_TOPK] = &cuda_family_topk,
	[KERNEL_ARGREDUCE] = &cuda_family_argreduce,
	[KERNEL_SCAN] = &cuda_family_scan,
	[KERNEL_REDUCE] = &cuda_family_reduce,
	[KERNEL_POOL] = &cuda_family_pool,
	[KERNEL_SOFTMAX] = &cuda_family_softmax,
	[KERNEL_LAYERNORM] = &cuda_family_norm,
	[KERNEL_RMSNORM] = &cuda_family_norm,
	[KERNEL_INSTANCENORM] = &cuda_family_norm,
	[KERNEL_GROUPNORM] = &cuda_family_norm,
	[KERNEL_CONV] = &cuda_family_eight,
	[KERNEL_MATMUL] = &cuda_family_few,
};

static const struct cuda_family *family_of(const struct problem *p)
{
	enum dtype t = p->operand[0].dtype;
	bool eight = p->kernel == KERNEL_MATMUL && (t == DTYPE_S8 || t == DTYPE_U8);
	return eight ? &cuda_family_eight : families[p->kernel];
}

static void layouts_set(struct cuda_own *o)
{
	const char *const *names = kernel_row(o->problem.kernel)->names;
	int count = problem_operand_count(&o->problem), n = 0;
	for (int i = 0; i < count; i++)
		n += snprintf(o->layouts + n, sizeof(o->layouts) - (size_t)n, "%s%s=%s", i ? " " : "",
			names[i], cuda_layout_name(&o->problem, i));
}

int cuda_own_offer(struct cuda_own *o, struct error *err)
{
	const struct problem *p = &o->problem;
	const struct cuda_family *family = family_of(p);
	int sm = cuda_context()->sm;
	if (!family)
		return error_set(err, "our kernels are data movement, lookups, resampling, quantization, "
			"normalization, operations along an axis, products with weights of 4 bits and of "
			"8-bit integers");
	if (p->epilogue_count && p->kernel != KERNEL_MATMUL && p->kernel != KERNEL_CONV)
		return error_set(err, "our kernels have no epilogues");
	if (sm < CUDA_LEAST_SM)
		return error_set(err, "our kernels need compute capability %d.%d or later, "
			"this GPU has %d.%d", CUDA_LEAST_SM / 10, CUDA_LEAST_SM % 10, sm / 10, sm % 10);
	if (family->offer(o, err))
		return -1;
	layouts_set(o);
	return 0;
}

cudaError_t cuda_own_enqueue(
	const struct cuda_own *o, int kind, const struct cuda_pointers *at, cudaStream_t s, const char **call)
{
	const struct cuda_family *family = family_of(&o->problem);
	*call = family->call;
	return family->enqueue(o, kind, at, s);
}
