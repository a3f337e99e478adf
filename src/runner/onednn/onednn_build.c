/* Builders: a problem of each kernel as an operation of oneDNN with its arguments. */
#include "config.h"

#include "runner/onednn/onednn_case_private.h"

#include <string.h>

#include "runner/verify/domain.h"

#define EPSILON 1e-5f

static struct problem_shape shape_1d(int64_t n)
{
	return (struct problem_shape){ .rank = 1, .dim = { n } };
}

/* Adds per-channel arguments that have no operand in the problem (scale, shift, mean, variance). */
static int args_add_channels(struct onednn_case *c, const int *args, int count, int64_t n, struct error *err)
{
	const struct operand o = { .dtype = DTYPE_F32 };
	for (int i = 0; i < count; i++) {
		struct onednn_arg *a = onednn_arg_add(c, args[i], "", &o, shape_1d(n), CHOICE_NCX, err);
		if (!a)
			return -1;
		a->fill = FILL_POSITIVE;
	}
	return 0;
}

/* Adds source and destination and sets the algorithm of the mode; enough for most kernels. */
static int build_two(struct onednn_case *c, struct problem_shape src, struct problem_shape dst,
	enum onednn_choice choice, struct error *err)
{
	const struct problem *p = &c->problem;
	struct onednn_mode row = { 0 };
	if (p->mode != MODE_NONE && !onednn_mode_resolve(p->mode, p->alpha, p->beta, &row))
		return error_set(
			err, "oneDNN has no %s of mode %s", kernel_name(p->kernel), mode_name(p->mode));
	struct onednn_arg *a = onednn_arg_add(c, DNNL_ARG_SRC, "src", &p->operand[0], src, choice, err);
	if (!a)
		return -1;
	a->fill = fill_mode_positive(p->mode) ? FILL_POSITIVE : FILL_SIGNED;
	c->op.src = a->md;
	a = onednn_arg_add(c, DNNL_ARG_DST, "dst", &p->operand[1], dst, choice, err);
	if (!a)
		return -1;
	c->op.dst = a->md;
	c->op.algorithm = row.algorithm;
	c->op.alpha = row.alpha;
	c->op.beta = row.beta;
	return 0;
}

int onednn_build_plain(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	const struct problem *p = &c->problem;
	/* integers would hold only 0 and 1 */
	if (p->kernel == KERNEL_SOFTMAX && !dtype_is_float(p->operand[1].dtype))
		return error_set(err, "softmax on oneDNN has floating-point results only");
	c->op.axis = p->axis;
	c->op.k = 1;
	c->op.size = p->size;
	return build_two(c, problem_operand_shape(p, 0), problem_operand_shape(p, 1), choice, err);
}

static void windows_set(struct onednn_case *c)
{
	const struct problem *p = &c->problem;
	for (int i = 3 - p->spatial, at = 0; i < 3; i++, at++) {
		c->op.stride[at] = p->stride[i];
		c->op.dilation[at] = p->dilation[i] - 1;
		c->op.window[at] = p->kernel_size[i];
		c->op.pad_begin[at] = p->pad_begin[i];
		c->op.pad_end[at] = p->pad_end[i];
	}
}

/* Weights with the groups as a separate dimension, as oneDNN requires. */
static struct problem_shape grouped_weights(const struct problem *p)
{
	struct problem_shape w = problem_operand_shape(p, 1);
	if (p->g == 1)
		return w;
	memmove(w.dim + 1, w.dim, (size_t)w.rank * sizeof(w.dim[0]));
	w.dim[0] = p->g;
	w.dim[1] = p->k / p->g;
	w.rank++;
	return w;
}

static struct onednn_arg *conv_weights(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	const struct problem *p = &c->problem;
	const struct operand *o = &p->operand[1];
	struct problem_shape w = grouped_weights(p);
	if (o->layout == LAYOUT_ANY || (p->g == 1 && o->layout != LAYOUT_NXC) || o->layout == LAYOUT_NCX)
		return onednn_arg_add(c, DNNL_ARG_WEIGHTS, "wei", o, w, choice, err);
	int64_t strides[ONEDNN_RANK] = { 0 };
	if (o->layout == LAYOUT_STRIDES) {
		memcpy(strides + 1, o->stride, sizeof(o->stride[0]) * (size_t)o->stride_rank);
		strides[0] = strides[1] * (p->k / p->g);
		if (o->stride_rank + 1 != w.rank) {
			error_set(err, "the weights' strides do not match their rank");
			return NULL;
		}
	} else {
		struct problem_shape flat = problem_operand_shape(p, 1);
		int64_t *s = strides + (p->g == 1 ? 0 : 1);
		onednn_strides_nxc(flat.rank, flat.dim, s);
		strides[0] = p->g == 1 ? strides[0] : s[0] * (p->k / p->g);
	}
	return onednn_arg_add_strided(c, DNNL_ARG_WEIGHTS, "wei", o, w, strides, err);
}

static const char *conv_letters(const struct problem *p)
{
	static const char *const letters[2][3] = { { "oiw", "oihw", "oidhw" },
		{ "goiw", "goihw", "goidhw" } };
	return letters[p->g > 1][p->spatial - 1];
}

/* Common part of convolutions and deconvolutions: source, weights, destination and windows. */
static int conv_build(struct onednn_case *c, enum onednn_choice choice,
	struct onednn_arg *(*weights)(struct onednn_case *c, enum onednn_choice choice, struct error *err),
	struct error *err)
{
	const struct problem *p = &c->problem;
	struct onednn_arg *a = onednn_arg_add(
		c, DNNL_ARG_SRC, "src", &p->operand[0], problem_operand_shape(p, 0), choice, err);
	if (!a)
		return -1;
	c->op.src = a->md;
	a = weights(c, choice, err);
	if (!a)
		return -1;
	a->letters = conv_letters(p);
	c->op.src1 = a->md;
	a = onednn_arg_add(c, DNNL_ARG_DST, "dst", &p->operand[2], problem_operand_shape(p, 2), choice, err);
	if (!a)
		return -1;
	c->op.dst = a->md;
	windows_set(c);
	return 0;
}

int onednn_build_conv(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	c->op.algorithm = dnnl_convolution_auto;
	return conv_build(c, choice, conv_weights, err);
}

/* Deconvolution. The problem's weights are c, k/g, space; oneDNN takes [g,] k/g, c/g, space, the
 * dimensions of a convolution with output channels first. */
static struct onednn_arg *deconv_weights(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	const struct problem *p = &c->problem;
	const struct operand *o = &p->operand[1];
	struct problem_shape flat = problem_operand_shape(p, 1), w = { .rank = 0 };
	int64_t strides[ONEDNN_RANK], taps = 1;
	for (int i = 2; i < flat.rank; i++)
		taps *= flat.dim[i];
	if (o->layout == LAYOUT_NXC || o->layout == LAYOUT_STRIDES) {
		error_set(err, "deconvolution on oneDNN takes weights in ONNX order, or constant ones");
		return NULL;
	}
	if (p->g > 1) {
		strides[w.rank] = p->c / p->g * flat.dim[1] * taps;
		w.dim[w.rank++] = p->g;
	}
	strides[w.rank] = taps;
	w.dim[w.rank++] = flat.dim[1];
	strides[w.rank] = flat.dim[1] * taps;
	w.dim[w.rank++] = p->c / p->g;
	for (int i = 2; i < flat.rank; i++) {
		taps /= flat.dim[i];
		strides[w.rank] = taps;
		w.dim[w.rank++] = flat.dim[i];
	}
	struct onednn_arg *a = o->layout == LAYOUT_ANY && o->constant ?
		onednn_arg_add(c, DNNL_ARG_WEIGHTS, "wei", o, w, choice, err) :
		onednn_arg_add_strided(c, DNNL_ARG_WEIGHTS, "wei", o, w, strides, err);
	if (a)
		memcpy(a->plain_strides, strides, (size_t)w.rank * sizeof(strides[0]));
	return a;
}

int onednn_build_deconv(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	const struct problem *p = &c->problem;
	c->op.algorithm = dnnl_deconvolution_direct;
	if (conv_build(c, choice, deconv_weights, err))
		return -1;
	for (int i = 3 - p->spatial, at = 0; i < 3; i++, at++)
		c->op.pad_end[at] -= p->out_pad[i];
	return 0;
}

static bool all_ones(const struct problem_shape *s)
{
	for (int i = 0; i < s->rank; i++)
		if (s->dim[i] != 1)
			return false;
	return true;
}

/* Ranks of a matmul: without a batch dimension if there is no batch; with the batch as further rows if
 * only the first matrix has one and is row-major. */
static struct problem matmul_simplify(const struct problem *p)
{
	struct problem q = *p;
	bool plain = true;
	for (int i = 0; i < 3; i += 2)
		plain = plain && p->operand[i].layout != LAYOUT_STRIDES;
	for (int i = 0; i < p->epilogue_count; i++)
		plain = plain && p->epilogue[i].operand.layout != LAYOUT_STRIDES;
	bool single = all_ones(&p->batch_a) && all_ones(&p->batch_b);
	if (!single && !(all_ones(&p->batch_b) && plain && !p->transpose_a))
		return q;
	for (int i = 0; i < p->batch_a.rank; i++)
		q.m *= p->batch_a.dim[i];
	for (int i = 0; i < 3; i++) {
		struct operand *o = &q.operand[i];
		if (o->layout != LAYOUT_STRIDES || o->stride_rank < 2)
			continue;
		memmove(o->stride, o->stride + o->stride_rank - 2, 2 * sizeof(o->stride[0]));
		o->stride_rank = 2;
	}
	q.batch_a.rank = q.batch_b.rank = 0;
	return q;
}

/* Layout of a matrix. Activations are row-major, or column-major if the problem says transposed; only
 * constants may be repacked: to the library's choice (CHOICE_LIBRARY), rows (NCX) or columns (NXC). */
static struct onednn_arg *matrix_add(
	struct onednn_case *c, int i, int arg, const char *role, enum onednn_choice choice, struct error *err)
{
	const struct problem *p = &c->problem;
	const struct operand *o = &p->operand[i];
	struct problem_shape s = problem_operand_shape(p, i);
	bool repacked = o->layout == LAYOUT_ANY && o->constant;
	bool transposed = repacked ? choice == CHOICE_NXC
		: i == 0	   ? p->transpose_a
				   : i == 1 && p->transpose_b;
	struct onednn_arg *a;
	if (repacked && choice == CHOICE_LIBRARY) {
		a = onednn_arg_add(c, arg, role, o, s, CHOICE_LIBRARY, err);
	} else if (o->layout == LAYOUT_STRIDES) {
		a = onednn_arg_add(c, arg, role, o, s, CHOICE_NCX, err);
	} else {
		int64_t strides[ONEDNN_RANK];
		onednn_strides_ncx(s.rank, s.dim, strides);
		if (transposed) {
			strides[s.rank - 2] = 1;
			strides[s.rank - 1] = s.dim[s.rank - 2];
		}
		a = onednn_arg_add_strided(c, arg, role, o, s, strides, err);
	}
	if (a)
		a->letters = "abcdefghijkl";
	return a;
}

int onednn_build_matmul(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	if (c->problem.size)
		return error_set(err, "no kernel multiplies %s by %s weights with scales in blocks: "
			"only f32 or bf16 by one constant matrix of integers of 2, 4 or 8 bits",
			dtype_name(c->problem.operand[0].dtype), dtype_name(c->problem.operand[1].dtype));
	c->problem = matmul_simplify(&c->problem);
	struct onednn_arg *a = matrix_add(c, 0, DNNL_ARG_SRC, "src", choice, err);
	if (!a)
		return -1;
	c->op.src = a->md;
	a = matrix_add(c, 1, DNNL_ARG_WEIGHTS, "wei", choice, err);
	if (!a)
		return -1;
	c->op.src1 = a->md;
	a = matrix_add(c, 2, DNNL_ARG_DST, "dst", choice, err);
	if (!a)
		return -1;
	c->op.dst = a->md;
	return 0;
}

int onednn_build_pool(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	windows_set(c);
	return build_two(
		c, problem_operand_shape(&c->problem, 0), problem_operand_shape(&c->problem, 1), choice, err);
}

int onednn_build_batchnorm(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	const int args[] = { DNNL_ARG_MEAN, DNNL_ARG_VARIANCE, DNNL_ARG_SCALE, DNNL_ARG_SHIFT };
	c->op.flags = dnnl_use_global_stats | dnnl_use_scale | dnnl_use_shift;
	c->op.epsilon = EPSILON;
	return onednn_build_plain(c, choice, err) ||
			args_add_channels(c, args, 4, c->problem.shape[0].dim[1], err)
		? -1
		: 0;
}

/* Reshapes to a matrix of rows to normalize, because oneDNN normalizes the last dimension. */
int onednn_build_layernorm(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	const int args[] = { DNNL_ARG_SCALE, DNNL_ARG_SHIFT };
	const struct problem *p = &c->problem;
	struct problem_shape s = { .rank = 2, .dim = { 1, 1 } };
	for (int i = 0; i < p->shape[0].rank; i++)
		s.dim[i >= p->axis] *= p->shape[0].dim[i];
	if (p->operand[0].layout == LAYOUT_STRIDES || p->operand[1].layout == LAYOUT_STRIDES)
		return error_set(err, "layer normalization on oneDNN takes no strided operands");
	c->op.flags = dnnl_use_scale | dnnl_use_shift;
	c->op.epsilon = EPSILON;
	return build_two(c, s, s, choice, err) || args_add_channels(c, args, 2, s.dim[1], err) ? -1 : 0;
}

/* Reshapes one dimension to a matrix of one row: version 2's eltwise with post-ops assumes a second
 * dimension and computes nothing without one. */
static void row_make(struct problem *p)
{
	bool strided = p->operand[0].layout == LAYOUT_STRIDES || p->operand[1].layout == LAYOUT_STRIDES;
	if (p->epilogue_count && p->shape[0].rank == 1 && !strided)
		p->shape[0] = (struct problem_shape){ .rank = 2, .dim = { 1, p->shape[0].dim[0] } };
}

/* oneDNN has no hard sigmoid: builds a multiplication by 1 with a linear map and a clip as post-ops. */
int onednn_build_eltwise(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	struct problem *p = &c->problem;
	row_make(p);
	if (p->mode != MODE_HARD_SIGMOID)
		return onednn_build_plain(c, choice, err);
	if (p->epilogue_count == PROBLEM_EPILOGUES)
		return error_set(
			err, "hard_sigmoid takes one post-op more than oneDNN allows after these epilogues");
	memmove(p->epilogue + 1, p->epilogue, (size_t)p->epilogue_count++ * sizeof(p->epilogue[0]));
	p->epilogue[0] = (struct epilogue){
		.kind = EPILOGUE_ELTWISE, .mode = p->mode, .alpha = p->alpha, .beta = p->beta
	};
	p->mode = MODE_MUL;
	struct problem_shape one = { .rank = p->shape[0].rank ? p->shape[0].rank : 1 };
	for (int i = 0; i < one.rank; i++)
		one.dim[i] = 1;
	const struct operand scalar = { .dtype = DTYPE_F32 };
	if (onednn_build_plain(c, choice, err))
		return -1;
	struct onednn_arg *a = onednn_arg_add(c, DNNL_ARG_SRC_1, "", &scalar, one, CHOICE_NCX, err);
	if (!a)
		return -1;
	a->fill = FILL_ONE;
	c->op.src1 = a->md;
	c->op.kind = KERNEL_BINARY;
	return 0;
}

static struct problem_shape shape_of_rank(const struct problem_shape *s, int rank)
{
	struct problem_shape out = { .rank = rank };
	for (int i = 0; i < rank; i++)
		out.dim[i] = i < rank - s->rank ? 1 : s->dim[i - (rank - s->rank)];
	return out;
}

static bool shape_equal(const struct problem_shape *a, const struct problem_shape *b)
{
	return a->rank == b->rank && memcmp(a->dim, b->dim, (size_t)a->rank * sizeof(a->dim[0])) == 0;
}

/* Returns the mode after exchanging its sources, or MODE_NONE. */
static enum mode mode_mirrored(enum mode m)
{
	switch (m) {
	case MODE_ADD:
	case MODE_MUL:
	case MODE_MAXIMUM:
	case MODE_MINIMUM:
	case MODE_EQUAL:
		return m;
	case MODE_GREATER:
		return MODE_LESS;
	case MODE_LESS:
		return MODE_GREATER;
	case MODE_GREATER_EQ:
		return MODE_LESS_EQ;
	case MODE_LESS_EQ:
		return MODE_GREATER_EQ;
	default:
		return MODE_NONE;
	}
}

/* Only the second source may be broadcast: a broadcast first one is exchanged with it if the mode allows. */
int onednn_build_binary(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	struct problem *p = &c->problem;
	struct problem_shape dst = problem_operand_shape(p, 2);
	if (dst.rank == 0)
		dst = shape_1d(1);
	struct problem_shape s[2] = { shape_of_rank(&p->shape[0], dst.rank),
		shape_of_rank(&p->shape[1], dst.rank) };
	bool swap =
		!shape_equal(&s[0], &dst) && shape_equal(&s[1], &dst) && mode_mirrored(p->mode) != MODE_NONE;
	struct onednn_mode row = { 0 };
	if (!onednn_mode_resolve(swap ? mode_mirrored(p->mode) : p->mode, 0, 0, &row))
		return error_set(err, "oneDNN has no binary of mode %s", mode_name(p->mode));
	c->op.algorithm = row.algorithm;
	c->swapped = swap;
	struct onednn_arg *a =
		onednn_arg_add(c, DNNL_ARG_SRC_0, "src", &p->operand[swap], s[swap], choice, err);
	if (!a)
		return -1;
	c->op.src = a->md;
	a = onednn_arg_add(c, DNNL_ARG_SRC_1, "src1", &p->operand[!swap], s[!swap], choice, err);
	if (!a)
		return -1;
	c->op.src1 = a->md;
	a->fill = fill_mode_positive(p->mode) ? FILL_POSITIVE : FILL_SIGNED;
	a = onednn_arg_add(c, DNNL_ARG_DST, "dst", &p->operand[2], dst, choice, err);
	if (!a)
		return -1;
	c->op.dst = a->md;
	return 0;
}

/* Merges adjacent dimensions that are all reduced or all kept: fast implementations need to reduce the
 * last dimension. */
static void reduce_collapse(struct problem_shape *src, struct problem_shape *dst)
{
	struct problem_shape s = { 0 }, d = { 0 };
	bool last = false;
	for (int i = 0; i < src->rank; i++) {
		if (src->dim[i] == 1)
			continue;
		bool reduced = dst->dim[i] == 1;
		if (s.rank && reduced == last) {
			s.dim[s.rank - 1] *= src->dim[i];
			d.dim[s.rank - 1] *= dst->dim[i];
		} else {
			s.dim[s.rank] = src->dim[i];
			d.dim[s.rank++] = dst->dim[i];
		}
		last = reduced;
	}
	d.rank = s.rank;
	if (s.rank) {
		*src = s;
		*dst = d;
	}
}

/* A reduction over dimensions of size 1, which the library refuses, is a copy; for l2 it is |x|. */
int onednn_build_reduce(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	const struct problem *p = &c->problem;
	struct problem_shape src = p->shape[0], dst = p->shape[1];
	bool plain = true;
	for (int i = 0; i < 2; i++)
		plain = plain && (p->operand[i].layout == LAYOUT_NCX ||
			(p->operand[i].layout == LAYOUT_ANY && choice == CHOICE_NCX));
	if (plain)
		reduce_collapse(&src, &dst);
	bool copies = shape_equal(&src, &dst);
	if (copies && src.rank == 1 && plain) /* as one row, see row_make */
		src = dst = (struct problem_shape){ .rank = 2, .dim = { 1, src.dim[0] } };
	c->problem.shape[0] = src;
	c->problem.shape[1] = dst;
	if (build_two(c, src, dst, choice, err))
		return -1;
	if (copies) {
		c->op.kind = KERNEL_ELTWISE;
		c->op.algorithm = p->mode == MODE_REDUCE_L2 ? dnnl_eltwise_abs : dnnl_eltwise_linear;
		c->op.alpha = 1;
		c->op.beta = 0;
	}
	return 0;
}

int onednn_build_concat(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	const struct problem *p = &c->problem;
	for (int i = 0; i < p->shape_count; i++) {
		struct onednn_arg *a = onednn_arg_add(c, DNNL_ARG_MULTIPLE_SRC + i, i ? "" : "src",
			&p->operand[0], p->shape[i], choice, err);
		if (!a)
			return -1;
		c->op.source[c->op.source_count++] = a->md;
	}
	struct onednn_arg *a = onednn_arg_add(
		c, DNNL_ARG_DST, "dst", &p->operand[1], problem_operand_shape(p, 1), choice, err);
	if (!a)
		return -1;
	c->op.dst = a->md;
	c->op.axis = p->axis;
	return 0;
}

/* A transpose as a reorder, which keeps the logical dimensions: the destination has the source's
 * dimensions and the strides of the dense permuted tensor. */
int onednn_build_transpose(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	const struct problem *p = &c->problem;
	struct problem_shape src = p->shape[0], dst = problem_operand_shape(p, 1);
	int64_t dense[ONEDNN_RANK], strides[ONEDNN_RANK] = { 1 };
	struct onednn_arg *a = onednn_arg_add(c, DNNL_ARG_FROM, "src", &p->operand[0], src, choice, err);
	if (!a)
		return -1;
	c->op.src = a->md;
	if (p->operand[1].layout == LAYOUT_STRIDES && p->operand[1].stride_rank == dst.rank)
		memcpy(dense, p->operand[1].stride, sizeof(p->operand[1].stride));
	else
		onednn_strides_ncx(dst.rank, dst.dim, dense);
	for (int i = 0; i < src.rank; i++)
		strides[p->perm[i]] = dense[i];
	if (src.rank == 0)
		src = shape_1d(1);
	a = onednn_arg_add_strided(c, DNNL_ARG_TO, "dst", &p->operand[1], src, strides, err);
	if (!a)
		return -1;
	a->permuted = true;
	c->op.dst = a->md;
	return 0;
}
