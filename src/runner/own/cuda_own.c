#include "config.h"

#include "problem/kernel.h"
#include "runner/own/cuda_own.h"

#include <stdio.h>
#include <string.h>

#include "runner/verify/integers.h"

/* Kinds of a concat: */
#define CONCAT_WIDE 0     /* one move per source, each of the widest kind possible */
#define CONCAT_MEMCPY 1   /* one cudaMemcpy2DAsync per source */
#define COLUMNS_FEW 8     /* no tiles for shorter dimensions: most threads of a tile would idle */

static struct algorithm *offer(struct cuda_own *o, int kind, const char *api, const char *name)
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

static bool is_dense(const struct problem *p)
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
			offer(o, kind, kind == CUDA_MOVE_MEMCPY ? "CUDA" : "benanza",
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
	offer(o, CONCAT_WIDE, "benanza", name);
	if (is_dense(p) && p->operand[0].dtype == p->operand[1].dtype)
		offer(o, CONCAT_MEMCPY, "CUDA", "cudaMemcpy2DAsync");
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
	if (!is_dense(&o->problem))
		return error_set(err, "our gather needs dense operands");
	if (cuda_gather_plan(&o->gather, &o->problem))
		return error_set(err, "our gather needs s32 or s64 indices, "
			"and equal element types of 8 bits or more");
	snprintf(name, sizeof(name), "gather:%d_bytes", o->gather.bytes);
	offer(o, 0, "benanza", name);
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
	if (!is_dense(&o->problem))
		return error_set(err, "our select needs dense operands");
	if (cuda_select_plan(&o->select, &o->problem))
		return error_set(err, "our select needs an 8-bit condition, "
			"and equal element types of 8 to 64 bits");
	offer(o, 0, "benanza", "select");
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
	offer(o, 0, "benanza", "resample");
	return 0;
}

static cudaError_t resample_enqueue(
	const struct cuda_own *o, int kind, const struct cuda_pointers *at, cudaStream_t s)
{
	(void)kind;
	return cuda_resample(&o->resample, at->source[0], at->destination, s);
}

/* --- lines --- */

static int line_plan(struct cuda_own *o, struct error *err)
{
	const struct problem *p = &o->problem;
	const struct problem_shape *s = &p->shape[0];
	struct cuda_line *l = &o->line;
	*l = (struct cuda_line){ .dtype = p->operand[0].dtype, .index_type = p->operand[1].dtype,
		.mode = p->mode,
		.outer = 1, .size = s->dim[p->axis], .inner = 1, .k = p->size };
	for (int i = 0; i < s->rank; i++) {
		l->outer *= i < p->axis ? s->dim[i] : 1;
		l->inner *= i > p->axis ? s->dim[i] : 1;
	}
	return is_dense(p) ? 0 : error_set(err, "our kernels along an axis need dense operands");
}

static int topk_offer(struct cuda_own *o, struct error *err)
{
	static const char *const names[] = { "block_radix_sort", "segmented_radix_sort", "radix_sort" };
	if (line_plan(o, err))
		return -1;
	if (o->problem.operand[0].dtype != o->problem.operand[1].dtype)
		return error_set(err, "our topk needs the same type on both sides");
	for (int kind = 0; kind < CUDA_TOPK_KINDS; kind++)
		if (cuda_topk_can(&o->line, kind))
			offer(o, kind, "CUB", names[kind])->workspace_bytes =
				cuda_topk_workspace(&o->line, kind);
	return o->count ? 0 : error_set(err, "our topk needs f32, f16, bf16, f64, bool or integers, "
		"and less than 2^31 elements");
}

static cudaError_t topk_enqueue(
	const struct cuda_own *o, int kind, const struct cuda_pointers *at, cudaStream_t s)
{
	return cuda_topk(&o->line, kind, at->source[0], at->destination, at->indices, at->workspace, s);
}

static void lines_offer(struct cuda_own *o, const char *block, const char *thread)
{
	if (cuda_line_can(&o->line, CUDA_LINE_BLOCK))
		offer(o, CUDA_LINE_BLOCK, "CUB", block);
	if (cuda_line_can(&o->line, CUDA_LINE_THREAD))
		offer(o, CUDA_LINE_THREAD, "benanza", thread);
}

static int argreduce_offer(struct cuda_own *o, struct error *err)
{
	enum dtype t = o->problem.operand[0].dtype, index = o->problem.operand[1].dtype;
	if (line_plan(o, err))
		return -1;
	if (dtype_bits(t) < 8 || t == DTYPE_TF32 || t == DTYPE_F8E4M3 || t == DTYPE_F8E5M2 ||
		dtype_bits(t) > 64 || (index != DTYPE_S32 && index != DTYPE_S64))
		return error_set(err, "our argmax needs f32, f16, bf16, f64, bool or integers, "
			"and s32 or s64 outputs");
	lines_offer(o, "block_reduce", "argreduce:line_a_thread");
	return 0;
}

static cudaError_t argreduce_enqueue(
	const struct cuda_own *o, int kind, const struct cuda_pointers *at, cudaStream_t s)
{
	return cuda_argreduce(&o->line, kind, at->source[0], at->destination, s);
}

static int scan_offer(struct cuda_own *o, struct error *err)
{
	enum dtype t = o->problem.operand[0].dtype;
	if (line_plan(o, err))
		return -1;
	if (t != o->problem.operand[1].dtype ||
		(t != DTYPE_F32 && t != DTYPE_F16 && t != DTYPE_BF16 && t != DTYPE_F64 && t != DTYPE_S32 &&
			t != DTYPE_S64))
		return error_set(err, "our cumulative sum needs f32, f16, bf16, f64, s32 or s64, "
			"the same on both sides");
	lines_offer(o, "block_scan", "scan:line_a_thread");
	return 0;
}

static cudaError_t scan_enqueue(
	const struct cuda_own *o, int kind, const struct cuda_pointers *at, cudaStream_t s)
{
	return cuda_scan(&o->line, kind, at->source[0], at->destination, s);
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
	if (!is_same_layout(p) || (q->by_block && !is_dense(p)))
		return error_set(err, "our quantization needs dense operands of equal layout, "
			"row-major for blocks");
	if (q->size > INT32_MAX || !cuda_quantize_can(q))
		return error_set(err, "our quantization has no %s from %s to %s", mode_name(p->mode),
			dtype_name(q->from_type), dtype_name(q->to_type));
	struct algorithm *a =
		offer(o, 0, "benanza", q->dynamic ? "quantize:two_passes" : kernel_name(p->kernel));
	a->workspace_bytes = q->dynamic ? 8.0 * CUDA_QUANTIZE_PARTS : 0;
	return 0;
}

static cudaError_t quantize_enqueue(
	const struct cuda_own *o, int kind, const struct cuda_pointers *at, cudaStream_t s)
{
	(void)kind;
	return cuda_quantize(&o->quantize, at->source[0], at->scale, at->destination, at->workspace, s);
}

/* --- normalization --- */

static int groupnorm_offer(struct cuda_own *o, struct error *err)
{
	const struct problem *p = &o->problem;
	const struct problem_shape *s = &p->shape[0];
	struct cuda_norm *n = &o->norm;
	*n = (struct cuda_norm){
		.dtype = p->operand[0].dtype, .rows = s->dim[0] * p->g, .inner = 1, .groups = p->g
	};
	for (int i = 2; i < s->rank; i++)
		n->inner *= s->dim[i];
	n->size = s->dim[1] / p->g * n->inner;
	if (!is_dense(p) || p->operand[1].dtype != n->dtype || !cuda_norm_can(n))
		return error_set(err,
			"our group normalization needs dense row-major operands of one type (f32, f16 or "
			"bf16) with "
			"less than 2^31 elements");
	offer(o, CUDA_NORM_BLOCK, "benanza", "groupnorm:row_a_block");
	offer(o, CUDA_NORM_TWO_PASS, "benanza", "groupnorm:two_passes")->workspace_bytes =
		8.0 * (double)n->rows;
	return 0;
}

static cudaError_t groupnorm_enqueue(
	const struct cuda_own *o, int kind, const struct cuda_pointers *at, cudaStream_t s)
{
	return cuda_norm(
		&o->norm, kind, at->source[0], at->scale, at->shift, at->destination, at->workspace, s);
}

/* --- families --- */

static const struct {
	int (*offer)(struct cuda_own *o, struct error *err);
	cudaError_t (*enqueue)(
		const struct cuda_own *o, int kind, const struct cuda_pointers *at, cudaStream_t s);
	const char *call;
} families[KERNEL_COUNT] = {
	[KERNEL_COPY] = { plain_offer, move_enqueue, "our copy" },
	[KERNEL_CAST] = { plain_offer, move_enqueue, "our cast" },
	[KERNEL_TRANSPOSE] = { transpose_offer, move_enqueue, "our transpose" },
	[KERNEL_CONCAT] = { concat_offer, concat_enqueue, "our concat" },
	[KERNEL_GATHER] = { gather_offer, gather_enqueue, "our gather" },
	[KERNEL_SELECT] = { select_offer, select_enqueue, "our select" },
	[KERNEL_RESAMPLE] = { resample_offer, resample_enqueue, "our resampling" },
	[KERNEL_TOPK] = { topk_offer, topk_enqueue, "topk" },
	[KERNEL_ARGREDUCE] = { argreduce_offer, argreduce_enqueue, "argreduce" },
	[KERNEL_SCAN] = { scan_offer, scan_enqueue, "scan" },
	[KERNEL_QUANTIZE] = { quantize_offer, quantize_enqueue, "our quantization" },
	[KERNEL_DEQUANTIZE] = { quantize_offer, quantize_enqueue, "our quantization" },
	[KERNEL_GROUPNORM] = { groupnorm_offer, groupnorm_enqueue, "our group normalization" },
};

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
	int sm = cuda_context()->sm;
	if (!families[p->kernel].offer)
		return error_set(err,
			"only data movement, lookups, resampling, quantization, group normalization and "
			"operations along an axis");
	if (p->epilogue_count)
		return error_set(err, "our kernels have no epilogues");
	if (sm < CUDA_LEAST_SM)
		return error_set(err, "our kernels need compute capability %d.%d or later, "
			"this GPU has %d.%d", CUDA_LEAST_SM / 10, CUDA_LEAST_SM % 10, sm / 10, sm % 10);
	layouts_set(o);
	return families[p->kernel].offer(o, err);
}

cudaError_t cuda_own_enqueue(
	const struct cuda_own *o, int kind, const struct cuda_pointers *at, cudaStream_t s, const char **call)
{
	*call = families[o->problem.kernel].call;
	return families[o->problem.kernel].enqueue(o, kind, at, s);
}
