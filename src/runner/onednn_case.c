#include "config.h"

#include "runner/onednn_case.h"

#include <math.h>
#include <string.h>

#define EPSILON 1e-5f

/* --- tables --- */

static bool type_of(enum dtype t, dnnl_data_type_t *type)
{
	static const struct {
		enum dtype ours;
		dnnl_data_type_t theirs;
	} types[] = {
		{ DTYPE_F32, dnnl_f32 }, { DTYPE_F16, dnnl_f16 }, { DTYPE_BF16, dnnl_bf16 }, { DTYPE_S8, dnnl_s8 },
		{ DTYPE_U8, dnnl_u8 }, { DTYPE_S32, dnnl_s32 }, { DTYPE_BOOL, dnnl_u8 },
	};
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].ours == t) {
			*type = types[i].theirs;
			return true;
		}
	return false;
}

/* Modes that are one algorithm of oneDNN's. The default parameters are written where the mode has none of its own. */
static const struct mode_row {
	enum mode mode;
	dnnl_alg_kind_t algorithm;
	float alpha, beta;
} mode_rows[] = {
	{ MODE_MAX, dnnl_pooling_max, 0, 0 },
	{ MODE_AVG_INCLUDE, dnnl_pooling_avg_include_padding, 0, 0 },
	{ MODE_AVG_EXCLUDE, dnnl_pooling_avg_exclude_padding, 0, 0 },
	{ MODE_SOFTMAX, dnnl_softmax_accurate, 0, 0 },
	{ MODE_LOGSOFTMAX, dnnl_softmax_log, 0, 0 },
	{ MODE_NEAREST, dnnl_resampling_nearest, 0, 0 },
	{ MODE_LINEAR, dnnl_resampling_linear, 0, 0 },
	{ MODE_LRN_ACROSS, dnnl_lrn_across_channels, 0, 0 },
	{ MODE_RELU, dnnl_eltwise_relu, 0, 0 },
	{ MODE_LEAKY_RELU, dnnl_eltwise_relu, 0, 0 },
	{ MODE_CLIP, dnnl_eltwise_clip_v2, 0, 0 },
	{ MODE_SIGMOID, dnnl_eltwise_logistic, 0, 0 },
	{ MODE_TANH, dnnl_eltwise_tanh, 0, 0 },
	{ MODE_GELU_ERF, dnnl_eltwise_gelu_erf, 0, 0 },
	{ MODE_GELU_TANH, dnnl_eltwise_gelu_tanh, 0, 0 },
	{ MODE_SWISH, dnnl_eltwise_swish, 0, 0 },
	{ MODE_HARD_SWISH, dnnl_eltwise_hardswish, 1.0f / 6, 0.5f },
	{ MODE_ELU, dnnl_eltwise_elu, 0, 0 },
	{ MODE_SOFTPLUS, dnnl_eltwise_soft_relu, 1, 0 },
	{ MODE_MISH, dnnl_eltwise_mish, 0, 0 },
	{ MODE_EXP, dnnl_eltwise_exp, 0, 0 },
	{ MODE_LOG, dnnl_eltwise_log, 0, 0 },
	{ MODE_SQRT, dnnl_eltwise_sqrt, 0, 0 },
	{ MODE_ABS, dnnl_eltwise_abs, 0, 0 },
	{ MODE_SQUARE, dnnl_eltwise_square, 0, 0 },
	{ MODE_POW, dnnl_eltwise_pow, 0, 0 },
	{ MODE_ROUND, dnnl_eltwise_round, 0, 0 },
	{ MODE_LINEAR_MAP, dnnl_eltwise_linear, 0, 0 },
	{ MODE_ADD, dnnl_binary_add, 0, 0 },
	{ MODE_SUB, dnnl_binary_sub, 0, 0 },
	{ MODE_MUL, dnnl_binary_mul, 0, 0 },
	{ MODE_DIV, dnnl_binary_div, 0, 0 },
	{ MODE_MAXIMUM, dnnl_binary_max, 0, 0 },
	{ MODE_MINIMUM, dnnl_binary_min, 0, 0 },
	{ MODE_GREATER, dnnl_binary_gt, 0, 0 },
	{ MODE_GREATER_EQ, dnnl_binary_ge, 0, 0 },
	{ MODE_LESS, dnnl_binary_lt, 0, 0 },
	{ MODE_LESS_EQ, dnnl_binary_le, 0, 0 },
	{ MODE_EQUAL, dnnl_binary_eq, 0, 0 },
	{ MODE_REDUCE_SUM, dnnl_reduction_sum, 0, 0 },
	{ MODE_REDUCE_MEAN, dnnl_reduction_mean, 0, 0 },
	{ MODE_REDUCE_MAX, dnnl_reduction_max, 0, 0 },
	{ MODE_REDUCE_MIN, dnnl_reduction_min, 0, 0 },
	{ MODE_REDUCE_MUL, dnnl_reduction_mul, 0, 0 },
	{ MODE_REDUCE_L2, dnnl_reduction_norm_lp_sum, 2, 0 },
};

static const struct mode_row *mode_find(enum mode m)
{
	for (size_t i = 0; i < sizeof(mode_rows) / sizeof(mode_rows[0]); i++)
		if (mode_rows[i].mode == m)
			return &mode_rows[i];
	return NULL;
}

/* A mode with its parameters: the problem's where the mode has some, the row's where not. */
static bool mode_resolve(enum mode m, float alpha, float beta, struct mode_row *out)
{
	const struct mode_row *row = mode_find(m);
	if (!row)
		return false;
	*out = *row;
	if (mode_parameters(m) > 0)
		out->alpha = alpha;
	if (mode_parameters(m) > 1)
		out->beta = beta;
	return true;
}

static const char *activation_letters(int rank)
{
	return rank == 3 ? "ncw" : rank == 4 ? "nchw" : rank == 5 ? "ncdhw" : "abcdefghijkl";
}

/* --- arguments --- */

static int refuse_type(const struct operand *o, struct error *err)
{
	return error_set(err, "oneDNN has no type %s", dtype_name(o->dtype));
}

/* Adds an argument laid out by the operand's own layout or the choice. NULL: refused, err says why. */
static struct onednn_arg *arg_add(struct onednn_case *c, int arg, const char *role, const struct operand *o,
	struct problem_shape s, enum onednn_choice choice, struct error *err)
{
	dnnl_data_type_t type;
	struct onednn_arg *a = &c->arg[c->arg_count];
	if (!type_of(o->dtype, &type)) {
		refuse_type(o, err);
		return NULL;
	}
	*a = (struct onednn_arg){ .arg = arg, .role = role, .constant = o->constant, .rank = s.rank ? s.rank : 1 };
	a->dims[0] = 1;
	memcpy(a->dims, s.dim, (size_t)s.rank * sizeof(s.dim[0]));
	a->letters = activation_letters(a->rank);
	a->any = o->layout == LAYOUT_ANY;
	a->output = arg == DNNL_ARG_DST;
	a->md = onednn_layout_md(o, a->rank, a->dims, type, choice);
	if (!a->md) {
		error_set(err, "oneDNN cannot describe the %s operand's layout", role);
		return NULL;
	}
	c->arg_count++;
	return a;
}

/* The same with strides instead of a layout. */
static struct onednn_arg *arg_add_strided(struct onednn_case *c, int arg, const char *role, const struct operand *o,
	struct problem_shape s, const int64_t *strides, struct error *err)
{
	struct operand fixed = *o;
	fixed.layout = LAYOUT_STRIDES;
	fixed.stride_rank = s.rank;
	memcpy(fixed.stride, strides, (size_t)s.rank * sizeof(strides[0]));
	struct onednn_arg *a = arg_add(c, arg, role, &fixed, s, CHOICE_NCX, err);
	if (a)
		a->any = o->layout == LAYOUT_ANY;
	return a;
}

static struct problem_shape shape_1d(int64_t n)
{
	return (struct problem_shape){ .rank = 1, .dim = { n } };
}

/* Per-channel values that come with an operator and have no operand in the problem (scale, shift, mean, variance). */
static int args_add_channels(struct onednn_case *c, const int *args, int count, int64_t n, struct error *err)
{
	const struct operand o = { .dtype = DTYPE_F32 };
	for (int i = 0; i < count; i++) {
		struct onednn_arg *a = arg_add(c, args[i], "", &o, shape_1d(n), CHOICE_NCX, err);
		if (!a)
			return -1;
		a->fill = FILL_POSITIVE;
	}
	return 0;
}

static bool mode_wants_positive(enum mode m)
{
	return m == MODE_LOG || m == MODE_SQRT || m == MODE_POW || m == MODE_DIV || m == MODE_REDUCE_MUL;
}

/* Source and destination, and the mode: what most kernels have. */
static int build_two(struct onednn_case *c, struct problem_shape src, struct problem_shape dst,
	enum onednn_choice choice, struct error *err)
{
	const struct problem *p = &c->problem;
	struct mode_row row = { 0 };
	if (p->mode != MODE_NONE && !mode_resolve(p->mode, p->alpha, p->beta, &row))
		return error_set(err, "oneDNN has no %s of mode %s", kernel_name(p->kernel), mode_name(p->mode));
	struct onednn_arg *a = arg_add(c, DNNL_ARG_SRC, "src", &p->operand[0], src, choice, err);
	if (!a)
		return -1;
	a->fill = mode_wants_positive(p->mode) ? FILL_POSITIVE : FILL_SIGNED;
	c->op.src = a->md;
	a = arg_add(c, DNNL_ARG_DST, "dst", &p->operand[1], dst, choice, err);
	if (!a)
		return -1;
	c->op.dst = a->md;
	c->op.algorithm = row.algorithm;
	c->op.alpha = row.alpha;
	c->op.beta = row.beta;
	return 0;
}

static int build_plain(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	const struct problem *p = &c->problem;
	c->op.axis = p->axis;
	c->op.k = 1;
	c->op.size = p->size;
	return build_two(c, problem_operand_shape(p, 0), problem_operand_shape(p, 1), choice, err);
}

/* --- one builder a kernel --- */

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

/* Weights with their groups as a dimension of their own, as oneDNN wants them. */
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
		return arg_add(c, DNNL_ARG_WEIGHTS, "wei", o, w, choice, err);
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
	return arg_add_strided(c, DNNL_ARG_WEIGHTS, "wei", o, w, strides, err);
}

static int build_conv(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	const struct problem *p = &c->problem;
	struct onednn_arg *a = arg_add(c, DNNL_ARG_SRC, "src", &p->operand[0], problem_operand_shape(p, 0), choice, err);
	if (!a)
		return -1;
	c->op.src = a->md;
	a = conv_weights(c, choice, err);
	if (!a)
		return -1;
	a->letters = p->g == 1 ? (p->spatial == 1 ? "oiw" : p->spatial == 2 ? "oihw" : "oidhw") :
		p->spatial == 1 ? "goiw" : p->spatial == 2 ? "goihw" : "goidhw";
	c->op.src1 = a->md;
	a = arg_add(c, DNNL_ARG_DST, "dst", &p->operand[2], problem_operand_shape(p, 2), choice, err);
	if (!a)
		return -1;
	c->op.dst = a->md;
	c->op.algorithm = dnnl_convolution_auto;
	windows_set(c);
	return 0;
}

static bool all_ones(const struct problem_shape *s)
{
	for (int i = 0; i < s->rank; i++)
		if (s->dim[i] != 1)
			return false;
	return true;
}

/* How a matmul is put to the library: with no batch where there is none, and with the batch as further rows where only
 * the first matrix has one and is stored row by row. */
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

/* Matrices that are activations arrive row by row, or column by column where the problem says transposed; only constant
 * ones may be repacked. */
static struct onednn_arg *matrix_add(struct onednn_case *c, int i, int arg, const char *role, bool transposed,
	struct error *err)
{
	const struct problem *p = &c->problem;
	const struct operand *o = &p->operand[i];
	struct problem_shape s = problem_operand_shape(p, i);
	struct onednn_arg *a;
	if (o->layout == LAYOUT_ANY && o->constant) {
		a = arg_add(c, arg, role, o, s, CHOICE_LIBRARY, err);
	} else if (o->layout == LAYOUT_STRIDES) {
		a = arg_add(c, arg, role, o, s, CHOICE_NCX, err);
	} else {
		int64_t strides[ONEDNN_RANK];
		onednn_strides_ncx(s.rank, s.dim, strides);
		if (transposed) {
			strides[s.rank - 2] = 1;
			strides[s.rank - 1] = s.dim[s.rank - 2];
		}
		a = arg_add_strided(c, arg, role, o, s, strides, err);
	}
	if (a)
		a->letters = "abcdefghijkl";
	return a;
}

static int build_matmul(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	(void)choice;
	c->problem = matmul_simplify(&c->problem);
	struct onednn_arg *a = matrix_add(c, 0, DNNL_ARG_SRC, "src", c->problem.transpose_a, err);
	if (!a)
		return -1;
	c->op.src = a->md;
	a = matrix_add(c, 1, DNNL_ARG_WEIGHTS, "wei", c->problem.transpose_b, err);
	if (!a)
		return -1;
	c->op.src1 = a->md;
	a = matrix_add(c, 2, DNNL_ARG_DST, "dst", false, err);
	if (!a)
		return -1;
	c->op.dst = a->md;
	return 0;
}

static int build_pool(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	windows_set(c);
	return build_two(c, problem_operand_shape(&c->problem, 0), problem_operand_shape(&c->problem, 1), choice, err);
}

static int build_batchnorm(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	const int args[] = { DNNL_ARG_MEAN, DNNL_ARG_VARIANCE, DNNL_ARG_SCALE, DNNL_ARG_SHIFT };
	c->op.flags = dnnl_use_global_stats | dnnl_use_scale | dnnl_use_shift;
	c->op.epsilon = EPSILON;
	return build_plain(c, choice, err) || args_add_channels(c, args, 4, c->problem.shape[0].dim[1], err) ? -1 : 0;
}

/* Rows to normalize as a matrix: oneDNN normalizes the last dimension. */
static int build_layernorm(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	const int args[] = { DNNL_ARG_SCALE, DNNL_ARG_SHIFT };
	const struct problem *p = &c->problem;
	struct problem_shape s = { .rank = 2, .dim = { 1, 1 } };
	for (int i = 0; i < p->shape[0].rank; i++)
		s.dim[i >= p->axis] *= p->shape[0].dim[i];
	if (p->operand[0].layout == LAYOUT_STRIDES || p->operand[1].layout == LAYOUT_STRIDES)
		return error_set(err, "layer normalization over given strides is not supported");
	c->op.flags = dnnl_use_scale | dnnl_use_shift;
	c->op.epsilon = EPSILON;
	return build_two(c, s, s, choice, err) || args_add_channels(c, args, 2, s.dim[1], err) ? -1 : 0;
}

/* oneDNN has no hard sigmoid of its own: a product with one, followed by the line and the clipping as post-ops. */
static int build_eltwise(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	struct problem *p = &c->problem;
	if (p->mode != MODE_HARD_SIGMOID)
		return build_plain(c, choice, err);
	if (p->epilogue_count == PROBLEM_EPILOGUES)
		return error_set(err, "too many epilogues behind hard_sigmoid");
	memmove(p->epilogue + 1, p->epilogue, (size_t)p->epilogue_count++ * sizeof(p->epilogue[0]));
	p->epilogue[0] = (struct epilogue){ .kind = EPILOGUE_ELTWISE, .mode = p->mode, .alpha = p->alpha, .beta = p->beta };
	p->mode = MODE_MUL;
	struct problem_shape one = { .rank = p->shape[0].rank ? p->shape[0].rank : 1 };
	for (int i = 0; i < one.rank; i++)
		one.dim[i] = 1;
	const struct operand scalar = { .dtype = DTYPE_F32 };
	if (build_plain(c, choice, err))
		return -1;
	struct onednn_arg *a = arg_add(c, DNNL_ARG_SRC_1, "", &scalar, one, CHOICE_NCX, err);
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

/* The mode with its sources exchanged; MODE_NONE where that is none. */
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

/* Only the second source may be broadcast, so a broadcast first one changes places with it where that is the same. */
static int build_binary(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	struct problem *p = &c->problem;
	struct problem_shape dst = problem_operand_shape(p, 2);
	if (dst.rank == 0)
		dst = shape_1d(1);
	struct problem_shape s[2] = { shape_of_rank(&p->shape[0], dst.rank), shape_of_rank(&p->shape[1], dst.rank) };
	bool swap = !shape_equal(&s[0], &dst) && shape_equal(&s[1], &dst) && mode_mirrored(p->mode) != MODE_NONE;
	struct mode_row row = { 0 };
	if (!mode_resolve(swap ? mode_mirrored(p->mode) : p->mode, 0, 0, &row))
		return error_set(err, "oneDNN has no binary of mode %s", mode_name(p->mode));
	c->op.algorithm = row.algorithm;
	c->swapped = swap;
	struct onednn_arg *a = arg_add(c, DNNL_ARG_SRC_0, "src", &p->operand[swap], s[swap], choice, err);
	if (!a)
		return -1;
	c->op.src = a->md;
	a = arg_add(c, DNNL_ARG_SRC_1, "src1", &p->operand[!swap], s[!swap], choice, err);
	if (!a)
		return -1;
	c->op.src1 = a->md;
	a->fill = mode_wants_positive(p->mode) ? FILL_POSITIVE : FILL_SIGNED;
	a = arg_add(c, DNNL_ARG_DST, "dst", &p->operand[2], dst, choice, err);
	if (!a)
		return -1;
	c->op.dst = a->md;
	return 0;
}

/* Neighbouring dimensions that are all reduced, or all kept, are one: fast implementations look for a last dimension. */
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

static int build_reduce(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	const struct problem *p = &c->problem;
	struct problem_shape src = p->shape[0], dst = p->shape[1];
	bool plain = true;
	for (int i = 0; i < 2; i++)
		plain = plain && (p->operand[i].layout == LAYOUT_NCX ||
			(p->operand[i].layout == LAYOUT_ANY && choice == CHOICE_NCX));
	if (plain)
		reduce_collapse(&src, &dst);
	return build_two(c, src, dst, choice, err);
}

static int build_concat(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	const struct problem *p = &c->problem;
	for (int i = 0; i < p->shape_count; i++) {
		struct onednn_arg *a = arg_add(c, DNNL_ARG_MULTIPLE_SRC + i, i ? "" : "src", &p->operand[0], p->shape[i],
			choice, err);
		if (!a)
			return -1;
		c->op.source[c->op.source_count++] = a->md;
	}
	struct onednn_arg *a = arg_add(c, DNNL_ARG_DST, "dst", &p->operand[1], problem_operand_shape(p, 1), choice, err);
	if (!a)
		return -1;
	c->op.dst = a->md;
	c->op.axis = p->axis;
	return 0;
}

/* A reorder keeps the logical dimensions and moves memory: the destination has the source's dimensions, with the strides
 * of the dense permuted tensor. */
static int build_transpose(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	const struct problem *p = &c->problem;
	struct problem_shape src = p->shape[0], dst = problem_operand_shape(p, 1);
	int64_t dense[ONEDNN_RANK], strides[ONEDNN_RANK] = { 1 };
	struct onednn_arg *a = arg_add(c, DNNL_ARG_FROM, "src", &p->operand[0], src, choice, err);
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
	a = arg_add_strided(c, DNNL_ARG_TO, "dst", &p->operand[1], src, strides, err);
	if (!a)
		return -1;
	a->permuted = true;
	c->op.dst = a->md;
	return 0;
}

typedef int build_function(struct onednn_case *c, enum onednn_choice choice, struct error *err);

/* A row a kernel: how it is built, and whether its source has to be concrete. */
static const struct {
	build_function *build;
	bool tries_layouts;
} kernel_rows[KERNEL_COUNT] = {
	[KERNEL_CONV] = { build_conv, false },
	[KERNEL_MATMUL] = { build_matmul, false },
	[KERNEL_POOL] = { build_pool, true },
	[KERNEL_BATCHNORM] = { build_batchnorm, true },
	[KERNEL_LAYERNORM] = { build_layernorm, false },
	[KERNEL_SOFTMAX] = { build_plain, false },
	[KERNEL_ELTWISE] = { build_eltwise, true },
	[KERNEL_BINARY] = { build_binary, true },
	[KERNEL_REDUCE] = { build_reduce, true },
	[KERNEL_CONCAT] = { build_concat, true },
	[KERNEL_TRANSPOSE] = { build_transpose, false },
	[KERNEL_RESAMPLE] = { build_pool, true },
	[KERNEL_LRN] = { build_plain, true },
	[KERNEL_CAST] = { build_plain, false },
	[KERNEL_COPY] = { NULL, false },
};

bool onednn_case_tries_layouts(const struct problem *p)
{
	return kernel_rows[p->kernel].tries_layouts;
}

bool onednn_case_is_open(const struct problem *p)
{
	for (int i = 0; i < problem_operand_count(p); i++)
		if (p->operand[i].layout == LAYOUT_ANY)
			return true;
	return false;
}

/* --- epilogues --- */

static int bias_add(struct onednn_case *c, int epilogue, struct error *err)
{
	const struct problem *p = &c->problem;
	struct problem_shape s = shape_1d(p->k);
	if (p->kernel == KERNEL_MATMUL) {
		s = problem_operand_shape(p, 2);
		for (int i = 0; i < s.rank - 1; i++)
			s.dim[i] = 1;
	}
	struct operand plain = p->epilogue[epilogue].operand;
	plain.layout = LAYOUT_NCX;
	struct onednn_arg *a = arg_add(c, DNNL_ARG_BIAS, "", &plain, s, CHOICE_NCX, err);
	if (!a)
		return -1;
	a->epilogue = epilogue + 1;
	c->op.bias = a->md;
	return 0;
}

/* A second source of a post-op: shaped like the destination, or one value a channel. `any` follows the destination. */
static int post_binary_add(struct onednn_case *c, dnnl_post_ops_t post, int epilogue, enum onednn_choice choice,
	struct error *err)
{
	const struct epilogue *e = &c->problem.epilogue[epilogue];
	struct mode_row row = { .algorithm = dnnl_binary_add };
	struct problem_shape s = problem_operand_shape(&c->problem, problem_operand_count(&c->problem) - 1);
	int arg = DNNL_ARG_ATTR_MULTIPLE_POST_OP(dnnl_post_ops_len(post)) | DNNL_ARG_SRC_1;
	if (e->kind == EPILOGUE_BINARY && !mode_resolve(e->mode, 0, 0, &row))
		return error_set(err, "oneDNN has no post-op of mode %s", mode_name(e->mode));
	int channel = c->problem.kernel == KERNEL_MATMUL ? s.rank - 1 : 1;
	for (int i = 0; e->kind == EPILOGUE_BIAS && i < s.rank; i++)
		s.dim[i] = i == channel ? s.dim[i] : 1;
	if (e->kind == EPILOGUE_BIAS || c->problem.kernel == KERNEL_MATMUL)
		choice = CHOICE_NCX;
	struct onednn_arg *a = arg_add(c, arg, "", &e->operand, s, choice, err);
	if (!a)
		return -1;
	a->epilogue = epilogue + 1;
	a->fill = mode_wants_positive(e->mode) ? FILL_POSITIVE : FILL_SIGNED;
	if (onednn_post_binary(post, row.algorithm, a->md) != dnnl_success)
		return error_set(err, "oneDNN does not take %s as a post-op", mode_name(e->mode));
	return 0;
}

static int post_eltwise_add(dnnl_post_ops_t post, const struct epilogue *e, struct error *err)
{
	struct mode_row row = { .algorithm = dnnl_eltwise_linear, .alpha = e->alpha, .beta = e->beta };
	bool hard = e->mode == MODE_HARD_SIGMOID;
	if (!hard && !mode_resolve(e->mode, e->alpha, e->beta, &row))
		return error_set(err, "oneDNN has no post-op of mode %s", mode_name(e->mode));
	if (onednn_post_eltwise(post, row.algorithm, row.alpha, row.beta) != dnnl_success ||
		(hard && onednn_post_eltwise(post, dnnl_eltwise_clip_v2, 0, 1) != dnnl_success))
		return error_set(err, "oneDNN does not take %s as a post-op", mode_name(e->mode));
	return 0;
}

static int epilogues_add(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	const struct problem *p = &c->problem;
	bool has_bias = p->kernel == KERNEL_CONV || p->kernel == KERNEL_MATMUL;
	dnnl_post_ops_t post = NULL;
	int bad = 0;
	if (dnnl_post_ops_create(&post) != dnnl_success)
		return error_set(err, "oneDNN: no memory for post-ops");
	for (int i = 0; i < p->epilogue_count && !bad; i++) {
		const struct epilogue *e = &p->epilogue[i];
		bad = e->kind == EPILOGUE_ELTWISE ? post_eltwise_add(post, e, err) :
			e->kind == EPILOGUE_BIAS && i == 0 && has_bias ? bias_add(c, i, err) :
			post_binary_add(c, post, i, choice, err);
	}
	if (!bad && dnnl_primitive_attr_set_post_ops(c->attr, post) != dnnl_success)
		bad = error_set(err, "oneDNN does not take these post-ops");
	dnnl_post_ops_destroy(post);
	return bad;
}

int onednn_case_build(struct onednn_case *c, const struct problem *p, enum onednn_choice choice, struct error *err)
{
	*c = (struct onednn_case){ .problem = *p, .op = { .kind = p->kernel } };
	if (!kernel_rows[p->kernel].build)
		return error_set(err, "oneDNN has no %s", kernel_name(p->kernel));
	if (p->accumulator != DTYPE_UNKNOWN && p->accumulator != DTYPE_F32 && p->accumulator != DTYPE_S32)
		return error_set(err, "oneDNN does not accumulate in %s", dtype_name(p->accumulator));
	if (dnnl_primitive_attr_create(&c->attr) != dnnl_success)
		return error_set(err, "oneDNN: no memory for attributes");
	dnnl_primitive_attr_set_scratchpad_mode(c->attr, dnnl_scratchpad_mode_user);
	if (kernel_rows[p->kernel].build(c, choice, err) || epilogues_add(c, choice, err)) {
		onednn_case_free(c);
		return -1;
	}
	return 0;
}

void onednn_case_free(struct onednn_case *c)
{
	for (int i = 0; i < c->arg_count; i++)
		onednn_md_free(c->arg[i].md);
	if (c->attr)
		dnnl_primitive_attr_destroy(c->attr);
	c->arg_count = 0;
	c->attr = NULL;
}
