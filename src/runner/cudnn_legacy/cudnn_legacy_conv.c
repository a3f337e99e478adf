/* cudnnConvolutionForward, cudnnConvolutionBiasActivationForward, and cudnnConvolutionBackwardData as
 * transposed convolution: every algorithm with every math type, in the order of cuDNN's own ranking. */
#include "config.h"

#include "runner/cudnn_legacy/cudnn_legacy.h"

#include <stdio.h>
#include <string.h>

enum { SLOT_SOURCE, SLOT_DESTINATION, SLOT_RESIDUAL, SLOT_BIAS };

#define RANKED 32          /* maximum results requested: algorithms times math types */

/* An algorithm of cuDNN; forward and backward data have separate enumerators. */
struct choice {
	int algorithm;
	const char *name, *notes;
};

static const struct choice forward_choices[] = {
	{ CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, "implicit_gemm", "" },
	{ CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, "implicit_precomp_gemm", "" },
	{ CUDNN_CONVOLUTION_FWD_ALGO_GEMM, "gemm", "" },
	{ CUDNN_CONVOLUTION_FWD_ALGO_DIRECT, "direct", "" },
	{ CUDNN_CONVOLUTION_FWD_ALGO_FFT, "fft", "fft" },
	{ CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING, "fft_tiling", "fft" },
	{ CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD, "winograd", "winograd" },
	{ CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED, "winograd_nonfused", "winograd" },
};

static const struct choice backward_choices[] = {
	{ CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, "backward_data_0", "nondeterministic" },
	{ CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, "backward_data_1", "" },
	{ CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT, "backward_data_fft", "fft" },
	{ CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING, "backward_data_fft_tiling", "fft" },
	{ CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD, "backward_data_winograd", "winograd" },
	{ CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED, "backward_data_winograd_nonfused", "winograd" },
};

struct choices {
	const struct choice *row;
	int count;
};

static struct choices choices_of(const struct problem *p)
{
	if (p->kernel == KERNEL_CONV)
		return (struct choices){ forward_choices,
			(int)(sizeof(forward_choices) / sizeof(forward_choices[0])) };
	return (struct choices){ backward_choices,
		(int)(sizeof(backward_choices) / sizeof(backward_choices[0])) };
}

/* ---- math types ---- */

/* The math types requested per data type. A request is a permission; the ranking's result has the math type
 * that an algorithm uses. f32: FMA is strict; DEFAULT allows TF32 from compute capability 8.0 on and equals
 * FMA before; ALLOW_CONVERSION rounds to f16. f16 and bf16 sum in f32 with matrix units (TENSOR_OP) or
 * without (FMA), both strict. */
static const struct math {
	enum dtype in;
	cudnnMathType_t type;
	int sm;                /* minimum compute capability */
	const char *suffix;    /* distinguishes algorithms of equal name and math mode */
} maths[] = {
	{ DTYPE_F32, CUDNN_FMA_MATH, 0, "" },
	{ DTYPE_F32, CUDNN_DEFAULT_MATH, 80, "" },
	{ DTYPE_F32, CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION, 70, "" },
	{ DTYPE_F16, CUDNN_TENSOR_OP_MATH, 70, "" },
	{ DTYPE_F16, CUDNN_FMA_MATH, 0, ":fma" },
	{ DTYPE_BF16, CUDNN_TENSOR_OP_MATH, 80, "" },
	{ DTYPE_BF16, CUDNN_FMA_MATH, 0, ":fma" },
	{ DTYPE_F64, CUDNN_DEFAULT_MATH, 0, "" },
	{ DTYPE_S8, CUDNN_TENSOR_OP_MATH, 72, "" },
	{ DTYPE_S8, CUDNN_FMA_MATH, 0, ":fma" },
};

#define MATHS ((int)(sizeof(maths) / sizeof(maths[0])))

static const char *math_name(enum dtype in, cudnnMathType_t type)
{
	if (in != DTYPE_F32 || type == CUDNN_FMA_MATH)
		return "strict";
	if (type == CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION)
		return "fast_f16";
	return cuda_context()->sm >= 80 ? "tf32" : "strict";
}

static enum matrix math_matrix(enum dtype in, cudnnMathType_t type)
{
	bool has_tf32 = in == DTYPE_F32 && cuda_context()->sm >= 80;
	if (type == CUDNN_FMA_MATH || cuda_context()->sm < 70 ||
		(in == DTYPE_F32 && type == CUDNN_TENSOR_OP_MATH && !has_tf32))
		return MATRIX_NO;
	if (type != CUDNN_DEFAULT_MATH)
		return MATRIX_YES;
	/* with TF32 matrix units are allowed; cuDNN does not report whether they are used */
	return has_tf32 ? MATRIX_UNKNOWN : MATRIX_NO;
}

/* ---- descriptors ---- */

/* True if the problem can be expressed with equal pads at both ends, as the legacy API needs. */
static bool pads_are_even(const struct problem *p)
{
	for (int i = 3 - p->spatial; i < 3; i++) {
		if (p->kernel == KERNEL_DECONV) {
			int64_t rest = p->pad_begin[i] - p->pad_end[i] + p->out_pad[i];
			if (rest < 0 || rest >= p->stride[i])
				return false;
			continue;
		}
		/* a different end pad may still give the same windows */
		struct problem even = *p;
		even.pad_end[i] = even.pad_begin[i];
		if (problem_out_size(&even, i) != problem_out_size(p, i))
			return false;
	}
	return true;
}

static int conv_open(struct cudnn_legacy *l, cudnnMathType_t type, struct error *err)
{
	const struct problem *p = &l->problem;
	int rank = p->spatial < 2 ? 2 : p->spatial, pad[3], stride[3], dilation[3], groups;
	for (int i = 0; i < rank; i++) {
		int at = 3 - rank + i;
		bool real = at >= 3 - p->spatial;
		if (cudnn_legacy_int(real ? p->pad_begin[at] : 0, &pad[i], err) ||
			cudnn_legacy_int(real ? p->stride[at] : 1, &stride[i], err) ||
			cudnn_legacy_int(real ? p->dilation[at] : 1, &dilation[i], err))
			return -1;
	}
	if (cudnn_legacy_int(p->g, &groups, err))
		return -1;
	CUDNN_CALL(l, cudnnCreateConvolutionDescriptor, &l->conv);
	CUDNN_CALL(l, cudnnSetConvolutionNdDescriptor, l->conv, rank, pad, stride, dilation,
		CUDNN_CROSS_CORRELATION, cudnn_legacy_compute(p->operand[0].dtype));
	CUDNN_CALL(l, cudnnSetConvolutionMathType, l->conv, type);
	CUDNN_CALL(l, cudnnSetConvolutionGroupCount, l->conv, groups);
	return 0;
}

static int filter_open(struct cudnn_legacy *l, const struct cuda_layout *layout, struct error *err)
{
	cudnnTensorFormat_t format;
	cudnnDataType_t type;
	int dim[PROBLEM_RANK];
	if (cudnn_legacy_format(layout, &format, err) || cudnn_legacy_type(layout->dtype, &type, err))
		return -1;
	/* weights with one channel or one tap fit both formats: use that of the source */
	struct cuda_layout lifted = cudnn_legacy_lift(layout),
			   source = cuda_operand_layout(&l->problem, 0, 0);
	cudnnTensorFormat_t other;
	struct error ignored;
	bool flat = true;
	for (int i = 2; i < lifted.shape.rank; i++)
		flat = flat && lifted.shape.dim[i] == 1;
	if ((flat || lifted.shape.dim[1] == 1) && cudnn_legacy_format(&source, &other, &ignored) == 0)
		format = other;
	for (int i = 0; i < lifted.shape.rank; i++)
		if (cudnn_legacy_int(lifted.shape.dim[i], &dim[i], err))
			return -1;
	CUDNN_CALL(l, cudnnCreateFilterDescriptor, &l->filter);
	CUDNN_CALL(l, cudnnSetFilterNdDescriptor, l->filter, type, format, lifted.shape.rank, dim);
	return 0;
}

static int describe(struct cudnn_legacy *l, cudnnMathType_t type, struct error *err)
{
	const struct problem *p = &l->problem;
	struct cuda_layout source = cuda_operand_layout(p, 0, 0), weights = cuda_operand_layout(p, 1, 0);
	struct cuda_layout destination = cuda_operand_layout(p, 2, 0);
	return cudnn_legacy_tensor(l, SLOT_SOURCE, &source, err) || filter_open(l, &weights, err) ||
			cudnn_legacy_tensor(l, SLOT_DESTINATION, &destination, err) || conv_open(l, type, err)
		? -1
		: 0;
}

/* ---- forward, plain and fused ---- */

static int forward_plan(struct cudnn_legacy *l, const struct cudnn_legacy_offer *o, struct error *err)
{
	if (describe(l, o->type, err))
		return -1;
	CUDNN_CALL(l, cudnnGetConvolutionForwardWorkspaceSize, l->handle, l->tensor[SLOT_SOURCE], l->filter,
		l->conv, l->tensor[SLOT_DESTINATION], (cudnnConvolutionFwdAlgo_t)l->algorithm, &l->workspace);
	return 0;
}

static int forward_enqueue(
	struct cudnn_legacy *l, const struct cuda_pointers *at, cudaStream_t stream, struct error *err)
{
	(void)stream;
	CUDNN_CALL(l, cudnnConvolutionForward, l->handle, &l->one, l->tensor[SLOT_SOURCE], at->source[0],
		l->filter, at->weights, l->conv, (cudnnConvolutionFwdAlgo_t)l->algorithm, at->workspace,
		l->workspace, &l->zero, l->tensor[SLOT_DESTINATION], at->destination);
	return 0;
}

static const struct cudnn_legacy_way forward_way = { forward_plan, forward_enqueue };

/* Matches the epilogues with activation(conv(x) + z + bias): bias and residual in any order, then optionally
 * relu. */
static int fused_read(const struct problem *p, int *bias, int *residual, bool *relu, struct error *err)
{
	*bias = *residual = -1;
	*relu = false;
	for (int i = 0; i < p->epilogue_count; i++) {
		const struct epilogue *e = &p->epilogue[i];
		if (*relu)
			return error_set(err, "cudnnConvolutionBiasActivationForward has no epilogue after "
				"the activation");
		if (e->kind == EPILOGUE_BIAS && *bias < 0)
			*bias = i;
		else if (e->kind == EPILOGUE_BINARY && e->mode == MODE_ADD && *residual < 0)
			*residual = i;
		else if (e->kind == EPILOGUE_ELTWISE && e->mode == MODE_RELU)
			*relu = true;
		else
			return error_set(err,
				"cudnnConvolutionBiasActivationForward fuses one bias, one add and relu, not "
				"%s",
				e->kind == EPILOGUE_BIAS	    ? "a second bias"
					: e->kind == EPILOGUE_SCALE ? "a scale per channel"
								    : mode_name(e->mode));
	}
	return *bias < 0 ? error_set(err, "cudnnConvolutionBiasActivationForward needs a bias") : 0;
}

static int fused_plan(struct cudnn_legacy *l, const struct cudnn_legacy_offer *o, struct error *err)
{
	const struct problem *p = &l->problem;
	bool relu;
	if (fused_read(p, &l->bias, &l->residual, &relu, err) || forward_plan(l, o, err))
		return -1;
	struct cuda_layout bias = cuda_epilogue_layout(p, l->bias);
	/* one value per channel: 1 k 1 1 */
	struct cuda_layout flat = { .dtype = bias.dtype,
		.shape = { 2 + (p->spatial < 2 ? 2 : p->spatial), { 1, p->k, 1, 1, 1 } },
		.stride = { p->k, 1, 1, 1, 1 } };
	if (cudnn_legacy_tensor(l, SLOT_BIAS, &flat, err))
		return -1;
	if (l->residual >= 0) {
		struct cuda_layout residual = cuda_epilogue_layout(p, l->residual);
		if (cudnn_legacy_tensor(l, SLOT_RESIDUAL, &residual, err))
			return -1;
	}
	CUDNN_CALL(l, cudnnCreateActivationDescriptor, &l->activation);
	CUDNN_CALL(l, cudnnSetActivationDescriptor, l->activation,
		relu ? CUDNN_ACTIVATION_RELU : CUDNN_ACTIVATION_IDENTITY, CUDNN_NOT_PROPAGATE_NAN, 0);
	return 0;
}

static int fused_enqueue(
	struct cudnn_legacy *l, const struct cuda_pointers *at, cudaStream_t stream, struct error *err)
{
	(void)stream;
	bool add = l->residual >= 0;
	CUDNN_CALL(l, cudnnConvolutionBiasActivationForward, l->handle, &l->one, l->tensor[SLOT_SOURCE],
		at->source[0], l->filter, at->weights, l->conv, (cudnnConvolutionFwdAlgo_t)l->algorithm,
		at->workspace, l->workspace, add ? &l->one : &l->zero,
		l->tensor[add ? SLOT_RESIDUAL : SLOT_DESTINATION],
		add ? at->epilogue[l->residual] : at->destination, l->tensor[SLOT_BIAS],
		at->epilogue[l->bias], l->activation, l->tensor[SLOT_DESTINATION], at->destination);
	return 0;
}

static const struct cudnn_legacy_way fused_way = { fused_plan, fused_enqueue };

/* ---- transposed: the data gradient of a convolution from our destination to our source ---- */

static int backward_plan(struct cudnn_legacy *l, const struct cudnn_legacy_offer *o, struct error *err)
{
	if (describe(l, o->type, err))
		return -1;
	CUDNN_CALL(l, cudnnGetConvolutionBackwardDataWorkspaceSize, l->handle, l->filter,
		l->tensor[SLOT_SOURCE], l->conv, l->tensor[SLOT_DESTINATION],
		(cudnnConvolutionBwdDataAlgo_t)l->algorithm, &l->workspace);
	return 0;
}

static int backward_enqueue(
	struct cudnn_legacy *l, const struct cuda_pointers *at, cudaStream_t stream, struct error *err)
{
	(void)stream;
	CUDNN_CALL(l, cudnnConvolutionBackwardData, l->handle, &l->one, l->filter, at->weights,
		l->tensor[SLOT_SOURCE], at->source[0], l->conv, (cudnnConvolutionBwdDataAlgo_t)l->algorithm,
		at->workspace, l->workspace, &l->zero, l->tensor[SLOT_DESTINATION], at->destination);
	return 0;
}

static const struct cudnn_legacy_way backward_way = { backward_plan, backward_enqueue };

/* ---- ranking ---- */

struct ranked {
	int algorithm;
	cudnnMathType_t type;
};

static int rank_forward(struct cudnn_legacy *l, struct ranked *to, struct error *err)
{
	cudnnConvolutionFwdAlgoPerf_t found[RANKED];
	int count = 0, kept = 0;
	CUDNN_CALL(l, cudnnGetConvolutionForwardAlgorithm_v7, l->handle, l->tensor[SLOT_SOURCE], l->filter,
		l->conv, l->tensor[SLOT_DESTINATION], RANKED, &count, found);
	for (int i = 0; i < count && i < RANKED; i++)
		if (found[i].status == CUDNN_STATUS_SUCCESS)
			to[kept++] = (struct ranked){ (int)found[i].algo, found[i].mathType };
	return kept;
}

static int rank_backward(struct cudnn_legacy *l, struct ranked *to, struct error *err)
{
	cudnnConvolutionBwdDataAlgoPerf_t found[RANKED];
	int count = 0, kept = 0;
	CUDNN_CALL(l, cudnnGetConvolutionBackwardDataAlgorithm_v7, l->handle, l->filter,
		l->tensor[SLOT_SOURCE], l->conv, l->tensor[SLOT_DESTINATION], RANKED, &count, found);
	for (int i = 0; i < count && i < RANKED; i++)
		if (found[i].status == CUDNN_STATUS_SUCCESS)
			to[kept++] = (struct ranked){ (int)found[i].algo, found[i].mathType };
	return kept;
}

/* Lists cuDNN's ranking for one math type, followed by the algorithms that it does not include. Returns their
 * number; -1 and sets err if the problem cannot be described. */
static int rank(const struct problem *p, cudnnMathType_t type, struct ranked *to, struct error *err)
{
	const struct cudnn_legacy_offer nothing = { .way = NULL };
	struct choices c = choices_of(p);
	struct cudnn_legacy l;
	int count = -1;
	if (cudnn_legacy_open(&l, p, &nothing, err) == 0 && describe(&l, type, err) == 0)
		count = p->kernel == KERNEL_CONV ? rank_forward(&l, to, err) : rank_backward(&l, to, err);
	bool described = l.api && l.conv;
	if (l.api)
		cudnn_legacy_close(&l);
	if (!described)
		return -1;
	count = count < 0 ? 0 : count; /* no ranking: all algorithms in the order of the table */
	for (int i = 0; i < c.count; i++) {
		bool named = false;
		for (int j = 0; j < count; j++)
			named = named || to[j].algorithm == c.row[i].algorithm;
		if (!named)
			to[count++] = (struct ranked){ c.row[i].algorithm, type };
	}
	return count;
}

/* Adds a candidate unless another math type gave the same one. A request for FMA is executed with FMA even if
 * the ranking returns another math type, so that strict algorithms stay strict. */
static void candidate(struct cudnn_legacy_offers *o, const struct cudnn_legacy_way *way, const struct math *m,
	const struct ranked *r)
{
	struct choices c = choices_of(&o->problem);
	cudnnMathType_t type = m->type == CUDNN_FMA_MATH ? m->type : r->type;
	const char *math = math_name(m->in, type);
	char name[64];
	for (int i = 0; i < c.count; i++) {
		if (c.row[i].algorithm != r->algorithm)
			continue;
		const char *suffix = m->in == DTYPE_F32 ? "" : type == CUDNN_FMA_MATH ? ":fma" :
			type == CUDNN_DEFAULT_MATH && m->type != type ? ":default" : m->suffix;
		snprintf(name, sizeof(name), "%s%s", c.row[i].name, suffix);
		for (int j = 0; j < o->count; j++)
			if (strcmp(o->offer[j].name, name) == 0 && strcmp(o->offer[j].math, math) == 0)
				return;
		struct cudnn_legacy_offer *one = cudnn_legacy_add(o, way, name, r->algorithm);
		one->type = type;
		one->math = math;
		one->matrix = math_matrix(m->in, type);
		snprintf(one->notes, sizeof(one->notes), "%s%s%s", c.row[i].notes,
			c.row[i].notes[0] && one->matrix == MATRIX_YES ? " " : "",
			one->matrix == MATRIX_YES ? "tensor_core" : "");
	}
}

/* True for the two algorithms that the fused function supports without an activation. */
static bool is_for_identity(int algorithm)
{
	return algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM ||
		algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
}

static int offer_all(
	struct cudnn_legacy_offers *o, const struct cudnn_legacy_way *way, bool identity, struct error *err)
{
	const struct problem *p = &o->problem;
	struct ranked ranked[MATHS][RANKED + 8];
	int counts[MATHS] = { 0 }, most = 0;
	if (!pads_are_even(p))
		return error_set(err, "cuDNN's legacy API needs equal pads at both ends");
	if (p->spatial == 3 && p->operand[0].dtype == DTYPE_S8)
		return error_set(err, "cuDNN's legacy API has no 3-D convolution of s8");
	bool asked = false;
	for (int i = 0; i < MATHS; i++) {
		if (maths[i].in != p->operand[0].dtype || cuda_context()->sm < maths[i].sm)
			continue;
		asked = true;
		counts[i] = rank(p, maths[i].type, ranked[i], err);
		most = counts[i] > most ? counts[i] : most;
	}
	/* first choices of all math types, then second ones: so trying only a few covers all math types */
	for (int j = 0; j < most; j++)
		for (int i = 0; i < MATHS; i++)
			if (j < counts[i] && (!identity || is_for_identity(ranked[i][j].algorithm)))
				candidate(o, way, &maths[i], &ranked[i][j]);
	if (!asked)
		return error_set(err, "cuDNN's legacy API has no convolution of %s",
			dtype_name(p->operand[0].dtype));
	return o->count ? 0 : -1;
}

int cudnn_legacy_conv_offer(struct cudnn_legacy_offers *o, struct error *err)
{
	int bias, residual;
	bool relu;
	if (!o->problem.epilogue_count)
		return offer_all(o, &forward_way, false, err);
	if (fused_read(&o->problem, &bias, &residual, &relu, err))
		return -1;
	return offer_all(o, &fused_way, !relu, err);
}

int cudnn_legacy_deconv_offer(struct cudnn_legacy_offers *o, struct error *err)
{
	return cudnn_legacy_refuse_epilogues(&o->problem, err) ? -1 : offer_all(o, &backward_way, false, err);
}
