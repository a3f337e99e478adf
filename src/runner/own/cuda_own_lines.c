/* Families along dimensions: topk, argreduce, scan, reduce, global pooling, softmax, normalizations. */
#include "config.h"

#include "problem/kernel.h"
#include "runner/own/cuda_own_private.h"

#include <stdio.h>
#include <string.h>

#define PRODUCT_SM 80 /* least compute capability of CUDA_LINE_PRODUCT */

static int line_plan(struct cuda_own *o, struct error *err)
{
	const struct problem *p = &o->problem;
	const struct problem_shape *s = &p->shape[0];
	struct cuda_line *l = &o->line;
	*l = (struct cuda_line){ .dtype = p->operand[0].dtype,
		.index_type = p->operand[1].dtype,
		.mode = p->mode,
		.outer = 1,
		.size = s->dim[p->axis],
		.inner = 1,
		.k = p->size };
	for (int i = 0; i < s->rank; i++) {
		l->outer *= i < p->axis ? s->dim[i] : 1;
		l->inner *= i > p->axis ? s->dim[i] : 1;
	}
	return cuda_own_is_dense(p) ? 0 : error_set(err, "our kernels along an axis need dense operands");
}

/* Lists the kinds that can do the task. A block scans with CUB. */
static void lines_offer(struct cuda_own *o, const struct cuda_line *l, enum cuda_line_task task)
{
	static const struct {
		enum cuda_line_kind kind;
		const char *name;
	} kinds[] = { { CUDA_LINE_WARP, "line_a_warp" }, { CUDA_LINE_BLOCK, "line_a_block" },
		{ CUDA_LINE_SPLIT, "split_lines" }, { CUDA_LINE_COLUMN, "columns" },
		{ CUDA_LINE_COLUMN_SPLIT, "split_columns" }, { CUDA_LINE_THREAD, "line_a_thread" },
		{ CUDA_LINE_PRODUCT, "products" } };
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		char name[48];
		bool product = kinds[i].kind == CUDA_LINE_PRODUCT;
		if (!cuda_line_can(l, task, kinds[i].kind) || (product && cuda_context()->sm < PRODUCT_SM))
			continue;
		if (task == CUDA_LINE_SCAN && kinds[i].kind == CUDA_LINE_BLOCK)
			snprintf(name, sizeof(name), "block_scan");
		else
			snprintf(name, sizeof(name), "%s:%s", kernel_name(o->problem.kernel), kinds[i].name);
		struct algorithm *a = cuda_own_add(
			o, (int)kinds[i].kind, strchr(name, ':') ? "benanza" : "CUB", name);
		a->workspace_bytes = cuda_line_workspace(l, kinds[i].kind);
		a->matrix = product ? MATRIX_YES : MATRIX_NO;
	}
}

/* --- topk --- */

static int topk_offer(struct cuda_own *o, struct error *err)
{
	static const char *const names[] = { "block_radix_sort", "segmented_radix_sort", "radix_sort",
		"topk:select", "topk:select_split" };
	if (line_plan(o, err))
		return -1;
	if (o->problem.operand[0].dtype != o->problem.operand[1].dtype)
		return error_set(err, "our topk needs the same type on both sides");
	for (int kind = 0; kind < CUDA_TOPK_KINDS; kind++) {
		bool selects = kind >= CUDA_TOPK_SELECT; /* any of equal elements */
		if (!cuda_topk_can(&o->line, kind))
			continue;
		struct algorithm *a = cuda_own_add(o, kind, selects ? "benanza" : "CUB", names[kind]);
		a->workspace_bytes = cuda_topk_workspace(&o->line, kind);
		a->notes = selects ? "nondeterministic" : "";
	}
	return o->count ? 0
			: error_set(err,
				  "our topk needs f32, f16, bf16, f64, bool or integers, "
				  "and less than 2^31 elements");
}

static cudaError_t topk_enqueue(
	const struct cuda_own *o, int kind, const struct cuda_pointers *at, cudaStream_t s)
{
	return cuda_topk(&o->line, kind, at->source[0], at->destination, at->indices, at->workspace, s);
}

const struct cuda_family cuda_family_topk = { topk_offer, topk_enqueue, "topk" };

/* --- argreduce, scan --- */

static int argreduce_offer(struct cuda_own *o, struct error *err)
{
	enum dtype t = o->problem.operand[0].dtype, index = o->problem.operand[1].dtype;
	if (line_plan(o, err))
		return -1;
	if (dtype_bits(t) < 8 || t == DTYPE_TF32 || t == DTYPE_F8E4M3 || t == DTYPE_F8E5M2 ||
		dtype_bits(t) > 64 || (index != DTYPE_S32 && index != DTYPE_S64) || o->line.size > INT32_MAX)
		return error_set(err,
			"our argmax needs f32, f16, bf16, f64, bool or integers, "
			"s32 or s64 outputs, and less than 2^31 elements per line");
	lines_offer(o, &o->line, CUDA_LINE_REDUCE);
	return 0;
}

static cudaError_t argreduce_enqueue(
	const struct cuda_own *o, int kind, const struct cuda_pointers *at, cudaStream_t s)
{
	return cuda_argreduce(&o->line, kind, at->source[0], at->destination, at->workspace, s);
}

const struct cuda_family cuda_family_argreduce = { argreduce_offer, argreduce_enqueue, "argreduce" };

static int scan_offer(struct cuda_own *o, struct error *err)
{
	enum dtype t = o->problem.operand[0].dtype;
	if (line_plan(o, err))
		return -1;
	if (t != o->problem.operand[1].dtype ||
		(t != DTYPE_F32 && t != DTYPE_F16 && t != DTYPE_BF16 && t != DTYPE_F64 && t != DTYPE_S32 &&
			t != DTYPE_S64))
		return error_set(err,
			"our cumulative sum needs f32, f16, bf16, f64, s32 or s64, "
			"the same on both sides");
	lines_offer(o, &o->line, CUDA_LINE_SCAN);
	return 0;
}

static cudaError_t scan_enqueue(
	const struct cuda_own *o, int kind, const struct cuda_pointers *at, cudaStream_t s)
{
	return cuda_scan(&o->line, kind, at->source[0], at->destination, at->workspace, s);
}

const struct cuda_family cuda_family_scan = { scan_offer, scan_enqueue, "scan" };

/* --- reductions --- */

/* Sets *l to the lines of the reduced dimensions of a dense source in any order of dimensions. False: these
 * are not neighbors in memory, or the kept dimensions are not in the order of a row-major destination. */
static bool lines_reduced(const struct cuda_layout *from, const bool *reduced, struct cuda_line *l)
{
	int order[PROBLEM_RANK], count = 0, kept = -1;
	int64_t stride = 1;
	bool good = true;
	for (int i = 0; i < from->shape.rank; i++) {
		int at = count;
		if (from->shape.dim[i] == 1)
			continue;
		for (; at > 0 && from->stride[order[at - 1]] < from->stride[i]; at--)
			order[at] = order[at - 1];
		order[at] = i;
		count++;
	}
	l->outer = l->size = l->inner = 1;
	for (int i = count - 1; i >= 0; stride *= from->shape.dim[order[i--]])
		good = good && from->stride[order[i]] == stride;
	for (int i = 0; i < count; i++) {
		int64_t dim = from->shape.dim[order[i]], *part = l->size == 1 ? &l->outer : &l->inner;
		good = good && (reduced[order[i]] ? l->inner == 1 : order[i] > kept);
		kept = reduced[order[i]] ? kept : order[i];
		*(reduced[order[i]] ? &l->size : part) *= dim;
	}
	return good;
}

static int reduction_offer(struct cuda_own *o, enum mode mode, const bool *reduced, struct error *err)
{
	const struct problem *p = &o->problem;
	struct cuda_layout from = cuda_operand_layout(p, 0, 0), to = cuda_operand_layout(p, 1, 0);
	const bool none[PROBLEM_RANK] = { false };
	struct cuda_line *l = &o->line, whole;
	l->dtype = from.dtype;
	l->mode = mode;
	if (from.dtype != to.dtype || !cuda_reduce_can(l))
		return error_set(err, "our reductions need f32, f16 or bf16 on both sides");
	if (!lines_reduced(&from, reduced, l) || !lines_reduced(&to, none, &whole))
		return error_set(err,
			"our reductions need dense operands, a row-major destination, and reduced "
			"dimensions that are neighbors in memory");
	lines_offer(o, l, CUDA_LINE_REDUCE);
	return 0;
}

static int reduce_offer(struct cuda_own *o, struct error *err)
{
	const struct problem *p = &o->problem;
	bool reduced[PROBLEM_RANK];
	for (int i = 0; i < p->shape[0].rank; i++)
		reduced[i] = p->shape[1].dim[i] == 1;
	return reduction_offer(o, p->mode, reduced, err);
}

/* Pooling of the whole image is a reduction. */
static int pool_offer(struct cuda_own *o, struct error *err)
{
	const struct problem *p = &o->problem;
	const bool reduced[PROBLEM_RANK] = { false, false, true, true, true };
	bool global = true;
	for (int i = 3 - p->spatial; i < 3; i++)
		global = global && p->kernel_size[i] == p->in[i] && problem_out_size(p, i) == 1 &&
			p->pad_begin[i] == 0 && p->pad_end[i] == 0 && p->dilation[i] == 1;
	if (!global)
		return error_set(err, "our pooling is that of the whole image, without pads");
	return reduction_offer(o, p->mode == MODE_MAX ? MODE_REDUCE_MAX : MODE_REDUCE_MEAN, reduced, err);
}

static cudaError_t reduce_enqueue(
	const struct cuda_own *o, int kind, const struct cuda_pointers *at, cudaStream_t s)
{
	return cuda_reduce(&o->line, kind, at->source[0], at->destination, at->workspace, s);
}

const struct cuda_family cuda_family_reduce = { reduce_offer, reduce_enqueue, "our reduction" };
const struct cuda_family cuda_family_pool = { pool_offer, reduce_enqueue, "our pooling" };

/* --- maps: softmax, normalizations --- */

static int softmax_offer(struct cuda_own *o, struct error *err)
{
	if (line_plan(o, err))
		return -1;
	if (o->problem.operand[1].dtype != o->line.dtype || !cuda_reduce_can(&o->line))
		return error_set(err, "our softmax needs f32, f16 or bf16 on both sides");
	lines_offer(o, &o->line, CUDA_LINE_MAP);
	return 0;
}

static cudaError_t softmax_enqueue(
	const struct cuda_own *o, int kind, const struct cuda_pointers *at, cudaStream_t s)
{
	return cuda_softmax(&o->line, kind, at->source[0], at->destination, at->workspace, s);
}

const struct cuda_family cuda_family_softmax = { softmax_offer, softmax_enqueue, "our softmax" };

/* Lines: the dimensions from `axis` on; of instancenorm a channel, of groupnorm a group of channels. */
static int norm_offer(struct cuda_own *o, struct error *err)
{
	const struct problem *p = &o->problem;
	const struct problem_shape *s = &p->shape[0];
	bool channels = p->kernel == KERNEL_INSTANCENORM || p->kernel == KERNEL_GROUPNORM;
	int axis = channels ? 2 : p->axis;
	struct cuda_norm *n = &o->norm;
	*n = (struct cuda_norm){ .line = { .dtype = p->operand[0].dtype, .outer = 1, .size = 1, .inner = 1 },
		.inner = 1,
		.groups = 1,
		.rms = p->kernel == KERNEL_RMSNORM };
	for (int i = 0; i < s->rank; i++)
		*(i < axis ? &n->line.outer : &n->line.size) *= s->dim[i];
	if (channels) {
		int64_t share = p->kernel == KERNEL_GROUPNORM ? s->dim[1] / p->g : 1;
		n->inner = n->line.size;
		n->groups = s->dim[1] / share;
		n->line.outer /= share;
		n->line.size *= share;
	}
	if (!cuda_own_is_dense(p) || p->operand[1].dtype != n->line.dtype || !cuda_norm_can(n))
		return error_set(err,
			"our normalization needs dense row-major operands of one type (f32, f16 or "
			"bf16), and less than 2^31 elements per line");
	lines_offer(o, &n->line, CUDA_LINE_MAP);
	return 0;
}

static cudaError_t norm_enqueue(
	const struct cuda_own *o, int kind, const struct cuda_pointers *at, cudaStream_t s)
{
	return cuda_norm(
		&o->norm, kind, at->source[0], at->scale, at->shift, at->destination, at->workspace, s);
}

const struct cuda_family cuda_family_norm = { norm_offer, norm_enqueue, "our normalization" };
