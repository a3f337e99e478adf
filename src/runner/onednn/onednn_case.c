/* Arguments, epilogues as post-operations and attributes that all builders share. */
#include "config.h"

#include "problem/kernel.h"
#include "runner/onednn/onednn_case_private.h"

#include <stdlib.h>

#include "runner/verify/domain.h"

/* --- arguments --- */

static struct problem_shape shape_1d(int64_t n)
{
	return (struct problem_shape){ .rank = 1, .dim = { n } };
}

/* One row per kernel: its builder, and whether its source needs a concrete layout. */
static const struct {
	onednn_build *build;
	bool tries_layouts;
} kernels[KERNEL_COUNT] = {
	[KERNEL_CONV] = { onednn_build_conv, false },
	[KERNEL_MATMUL] = { onednn_build_matmul, false },
	[KERNEL_POOL] = { onednn_build_pool, true },
	[KERNEL_BATCHNORM] = { onednn_build_batchnorm, true },
	[KERNEL_LAYERNORM] = { onednn_build_layernorm, false },
	[KERNEL_SOFTMAX] = { onednn_build_plain, false },
	[KERNEL_ELTWISE] = { onednn_build_eltwise, true },
	[KERNEL_BINARY] = { onednn_build_binary, true },
	[KERNEL_REDUCE] = { onednn_build_reduce, true },
	[KERNEL_CONCAT] = { onednn_build_concat, true },
	[KERNEL_TRANSPOSE] = { onednn_build_transpose, false },
	[KERNEL_RESAMPLE] = { onednn_build_pool, true },
	[KERNEL_LRN] = { onednn_build_plain, true },
	[KERNEL_CAST] = { onednn_build_plain, false },
	[KERNEL_COPY] = { NULL, false },
	[KERNEL_DECONV] = { onednn_build_deconv, false },
	[KERNEL_RNN] = { onednn_build_rnn, false },
	[KERNEL_QUANTIZE] = { onednn_build_quantize, false },
	[KERNEL_DEQUANTIZE] = { onednn_build_quantize, false },
};

bool onednn_case_tries_layouts(const struct problem *p)
{
	return kernels[p->kernel].tries_layouts;
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
	if (kernel_row(p->kernel)->channels_last) {
		s = problem_operand_shape(p, 2);
		for (int i = 0; i < s.rank - 1; i++)
			s.dim[i] = 1;
	}
	struct operand plain = p->epilogue[epilogue].operand;
	plain.layout = LAYOUT_NCX;
	struct onednn_arg *a = onednn_arg_add(c, DNNL_ARG_BIAS, "", &plain, s, CHOICE_NCX, err);
	if (!a)
		return -1;
	a->epilogue = epilogue + 1;
	c->op.bias = a->md;
	onednn_bias_before_factors(c, a);
	return 0;
}

/* Second source of a post-op: shaped as the destination, or one value per channel. A layout `any` is that
 * of the destination. */
static int post_binary_add(struct onednn_case *c, dnnl_post_ops_t post, int epilogue,
	enum onednn_choice choice, struct error *err)
{
	const struct epilogue *e = &c->problem.epilogue[epilogue];
	struct onednn_mode row = { .algorithm = dnnl_binary_add };
	struct problem_shape s = problem_operand_shape(&c->problem, problem_operand_count(&c->problem) - 1);
	int arg = DNNL_ARG_ATTR_MULTIPLE_POST_OP(dnnl_post_ops_len(post)) | DNNL_ARG_SRC_1;
	if (e->kind == EPILOGUE_BINARY && !onednn_mode_resolve(e->mode, 0, 0, &row))
		return error_set(err, "oneDNN has no post-op of mode %s", mode_name(e->mode));
	int channel = problem_channel_axis(&c->problem);
	for (int i = 0; e->kind == EPILOGUE_BIAS && i < s.rank; i++)
		s.dim[i] = i == channel ? s.dim[i] : 1;
	if (e->kind == EPILOGUE_BIAS || kernel_row(c->problem.kernel)->channels_last)
		choice = CHOICE_NCX;
	struct onednn_arg *a = onednn_arg_add(c, arg, "", &e->operand, s, choice, err);
	if (!a)
		return -1;
	a->epilogue = epilogue + 1;
	a->fill = fill_mode_positive(e->mode) ? FILL_POSITIVE : FILL_SIGNED;
	if (onednn_post_binary(post, row.algorithm, a->md) != dnnl_success)
		return error_set(err, "oneDNN does not take %s as a post-op", mode_name(e->mode));
	return 0;
}

static void fills_choose(struct onednn_case *c)
{
	struct fill_range range[2];
	bool positive = fill_chain_positive(&c->problem), chosen = fill_domain(&c->problem, range);
	for (int i = 0; i < c->arg_count; i++) {
		struct onednn_arg *a = &c->arg[i];
		bool second =
			a->epilogue > 0 || (c->problem.kernel == KERNEL_BINARY && a->arg == DNNL_ARG_SRC_1);
		if (a->fill != FILL_SIGNED && a->fill != FILL_POSITIVE)
			continue;
		if (chosen) {
			a->fill = range[second].kind;
			a->fill_limit = range[second].limit;
		} else if (positive) {
			a->fill = FILL_POSITIVE;
		}
	}
}

/* True if the kernel computes with bools. They can be moved, selected and compared as bytes, but
 * arithmetic on bytes differs from that on bools. */
static bool computes_bool(const struct problem *p)
{
	switch (p->mode) {
	case MODE_NONE:
	case MODE_MAX:
	case MODE_NEAREST:
	case MODE_REDUCE_MAX:
	case MODE_REDUCE_MIN:
	case MODE_MUL:
	case MODE_MAXIMUM:
	case MODE_MINIMUM:
	case MODE_GREATER:
	case MODE_GREATER_EQ:
	case MODE_LESS:
	case MODE_LESS_EQ:
	case MODE_EQUAL:
		return false;
	default:
		return p->operand[problem_operand_count(p) - 1].dtype == DTYPE_BOOL;
	}
}

/* The chain of eltwise post-ops. Version 2 gives all post-ops of one algorithm the parameters of one of
 * them: its jit_uni_postops_injector keeps one injector per algorithm. So adjacent lines are folded into
 * one, and any other such chain is refused. */
struct post_chain {
	dnnl_post_ops_t post;
	struct onednn_mode row[2 * PROBLEM_EPILOGUES];
	int count;
};

static int post_eltwise_append(struct post_chain *chain, struct onednn_mode row, struct error *err)
{
	for (int i = 0; i < chain->count && DNNL_VERSION_MAJOR < 3; i++) {
		const struct onednn_mode *other = &chain->row[i];
		if (other->algorithm == row.algorithm &&
			(other->alpha != row.alpha || other->beta != row.beta))
			return error_set(err,
				"oneDNN 2 confuses the parameters of two %s in one chain of post-ops",
				mode_name(row.mode));
	}
	chain->row[chain->count++] = row;
	if (onednn_post_eltwise(chain->post, row.algorithm, row.alpha, row.beta) != dnnl_success)
		return error_set(err, "oneDNN does not take %s as a post-op", mode_name(row.mode));
	return 0;
}

/* Post-op x -> alpha x + beta, followed by a clip for a hard sigmoid. */
static bool is_line(const struct epilogue *e)
{
	return e->kind == EPILOGUE_ELTWISE && (e->mode == MODE_LINEAR_MAP || e->mode == MODE_HARD_SIGMOID);
}

static int post_eltwise_add(struct post_chain *chain, const struct epilogue *e, struct error *err)
{
	struct onednn_mode row = {
		.mode = e->mode, .algorithm = dnnl_eltwise_linear, .alpha = e->alpha, .beta = e->beta
	};
	bool hard = e->mode == MODE_HARD_SIGMOID;
	if (!hard && !onednn_mode_resolve(e->mode, e->alpha, e->beta, &row))
		return error_set(err, "oneDNN has no post-op of mode %s", mode_name(e->mode));
	return post_eltwise_append(chain, row, err) ||
			(hard &&
				post_eltwise_append(chain,
					(struct onednn_mode){ .mode = e->mode,
						.algorithm = dnnl_eltwise_clip_v2,
						.beta = 1 },
					err))
		? -1
		: 0;
}

/* Merges the preceding linear map into e. Returns true if e is itself a linear map to be merged into the
 * next one (*line). */
static bool line_folds(struct epilogue *e, struct epilogue *line, bool line_follows)
{
	e->beta += e->alpha * line->beta;
	e->alpha *= line->alpha;
	*line = (struct epilogue){ .alpha = 1 };
	bool folds = e->mode == MODE_LINEAR_MAP && line_follows;
	if (folds)
		*line = *e;
	return folds;
}

static int epilogues_add(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	const struct problem *p = &c->problem;
	bool has_bias = kernel_row(p->kernel)->output_channels != NULL;
	struct post_chain chain = { .post = NULL };
	/* linear maps so far, merged into the next epilogue */
	struct epilogue line = { .mode = MODE_LINEAR_MAP, .alpha = c->share };
	int bad = 0;
	if (dnnl_post_ops_create(&chain.post) != dnnl_success)
		return error_set(err, "oneDNN: no memory for post-ops");
	if (c->share != 1 && !(p->epilogue_count && is_line(&p->epilogue[0]))) {
		bad = post_eltwise_add(&chain, &line, err);
		line.alpha = 1;
	}
	for (int i = 0; i < p->epilogue_count && !bad; i++) {
		struct epilogue one = p->epilogue[i], *e = &one;
		if (is_line(e) &&
			line_folds(e, &line, i + 1 < p->epilogue_count && is_line(&p->epilogue[i + 1])))
			continue;
		bad = e->kind == EPILOGUE_ELTWISE   ? post_eltwise_add(&chain, e, err)
			: e->kind == EPILOGUE_SCALE ? onednn_scale_add(c, i, err)
			: e->kind == EPILOGUE_BIAS && i == (c->factor != NULL) && has_bias
			? bias_add(c, i, err)
			: post_binary_add(c, chain.post, i, choice, err);
	}
	if (!bad && dnnl_primitive_attr_set_post_ops(c->attr, chain.post) != dnnl_success)
		bad = error_set(err, "oneDNN does not take these post-ops");
	dnnl_post_ops_destroy(chain.post);
	return bad;
}

static int attributes_make(struct onednn_case *c, struct error *err)
{
	if (dnnl_primitive_attr_create(&c->attr) != dnnl_success)
		return error_set(err, "oneDNN: no memory for attributes");
	dnnl_primitive_attr_set_scratchpad_mode(c->attr, dnnl_scratchpad_mode_user);
	return 0;
}

/* Frees a case that could not be built. */
static int case_finish(struct onednn_case *c, bool bad)
{
	if (bad)
		onednn_case_free(c);
	else
		fills_choose(c);
	return bad ? -1 : 0;
}

int onednn_case_build(
	struct onednn_case *c, const struct problem *p, enum onednn_choice choice, struct error *err)
{
	*c = (struct onednn_case){ .problem = *p, .op = { .kind = p->kernel }, .share = 1, .prefix = "" };
	if (p->kernel == KERNEL_ATTENTION)
		return error_set(err, "only problems that are one primitive");
	if (!kernels[p->kernel].build)
		return error_set(err, "oneDNN has no %s", kernel_name(p->kernel));
	if (p->kernel == KERNEL_CAST && p->operand[1].dtype == DTYPE_BOOL &&
		p->operand[0].dtype != DTYPE_BOOL)
		return error_set(err, "oneDNN has no conversion to bool"); /* a conversion to u8 differs */
	/* constant weights are repacked before; in channels-last layout only the reference code remains */
	if ((p->kernel == KERNEL_CONV || p->kernel == KERNEL_DECONV) && p->operand[1].constant &&
		p->operand[1].layout == LAYOUT_NXC)
		c->problem.operand[1].layout = LAYOUT_ANY;
	/* oneDNN takes s8 weights only; subtracting 128 from every weight subtracts 128 times the sum of
	 * the sources */
	if (p->accumulator == DTYPE_S32 && p->operand[1].dtype == DTYPE_U8) {
		c->problem.operand[1].dtype = DTYPE_S8;
		c->shifted = true;
	}
	if (computes_bool(p))
		return error_set(err, "oneDNN has no %s of bool", mode_name(p->mode));
	if (p->accumulator != DTYPE_UNKNOWN && p->accumulator != DTYPE_F32 && p->accumulator != DTYPE_S32)
		return error_set(err, "oneDNN does not accumulate in %s", dtype_name(p->accumulator));
	if (attributes_make(c, err))
		return -1;
	return case_finish(c, kernels[p->kernel].build(c, choice, err) || epilogues_add(c, choice, err));
}

int onednn_case_build_ones(struct onednn_case *c, const struct problem *p, enum onednn_choice choice,
	enum onednn_side side, struct error *err)
{
	*c = (struct onednn_case){ .problem = *p, .op = { .kind = KERNEL_MATMUL }, .share = 1,
		.prefix = side == SIDE_RIGHT ? "ones_right:" : "ones_left:" };
	if (attributes_make(c, err))
		return -1;
	return case_finish(c, onednn_build_ones(c, choice, side, err) || epilogues_add(c, CHOICE_NCX, err));
}

void onednn_case_free(struct onednn_case *c)
{
	for (int i = 0; i < c->arg_count; i++)
		onednn_md_free(c->arg[i].md);
	free(c->factor);
	free(c->triangle);
	c->factor = c->triangle = NULL;
	if (c->attr)
		dnnl_primitive_attr_destroy(c->attr);
	c->arg_count = 0;
	c->attr = NULL;
}
