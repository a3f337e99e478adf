/* A row for each function that the benchmarks call, with a function that sets the problem, or says why it
 * cannot. */
#include "config.h"

#include "profile/bench/scope.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plan/plan.h"
#include "problem/kernel.h"
#include "profile/read/lines.h"

/* ---- words */

static bool is_word(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Index of the row whose name is a whole word among the modes, with or without "CUDNN_"; -1: none. */
static int mode_of(struct text modes, const char *prefix, const char *const *names, int count)
{
	for (size_t at = 0; at < modes.n;) {
		size_t n = 0;
		while (at + n < modes.n && is_word(modes.p[at + n]))
			n++;
		struct text word = { modes.p + at, n };
		if (text_begins(word, "CUDNN_"))
			word = (struct text){ word.p + 6, word.n - 6 };
		if (text_begins(word, prefix))
			for (int i = 0; i < count; i++)
				if (text_is((struct text){ word.p + strlen(prefix), word.n - strlen(prefix) },
					    names[i]))
					return i;
		at += n ? n : 1;
	}
	return -1;
}

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* ---- types */

static const struct {
	const char *name;
	enum dtype dtype;
} dtypes[] = {
	{ "FLOAT32", DTYPE_F32 },
	{ "FLOAT64", DTYPE_F64 },
	{ "TENSORCOREHALF", DTYPE_F16 },
	{ "FLOAT16", DTYPE_F16 },
	{ "FLOAT", DTYPE_F32 },
	{ "DOUBLE", DTYPE_F64 },
	{ "HALF", DTYPE_F16 },
};

static enum dtype dtype_of(const struct scope_benchmark *b)
{
	for (int i = 0; i < COUNT(dtypes); i++)
		if (text_is(b->dtype, dtypes[i].name))
			return dtypes[i].dtype;
	return DTYPE_UNKNOWN;
}

bool scope_is_half(const struct scope_benchmark *b)
{
	return dtype_of(b) == DTYPE_F16;
}

/* ---- numbers */

/* An integer of at least `least`; false: absent, or no such number. */
static bool size_of(double value, int64_t least, int64_t *to)
{
	if (!(value >= (double)least && value < 0x1p48) || value != floor(value))
		return false;
	*to = (int64_t)value;
	return true;
}

/* The dimensions of the input before the first that is absent. */
static bool input_shape(const struct scope_benchmark *b, struct problem_shape *s)
{
	s->rank = 0;
	while (s->rank < SCOPE_INPUTS && size_of(b->input[s->rank], 1, &s->dim[s->rank]))
		s->rank++;
	for (int i = s->rank; i < SCOPE_INPUTS; i++)
		if (b->input[i] >= 0)
			return false;
	return s->rank >= 2;
}

/* Product of all dimensions but the first; 0: too many elements. */
static int64_t merged(const struct problem_shape *s)
{
	int64_t product = 1;
	for (int i = 1; i < s->rank; i++)
		if (__builtin_mul_overflow(product, s->dim[i], &product))
			return 0;
	return product;
}

/* n, c, h, w, and of the window its size, pads and strides. */
static bool window(const struct scope_benchmark *b, struct problem *p)
{
	bool good = size_of(b->input[0], 1, &p->n) && size_of(b->input[1], 1, &p->c);
	p->spatial = 2;
	for (int i = 0; i < 2; i++) {
		int at = i + 1;
		good = good && size_of(b->input[2 + i], 1, &p->in[at]) &&
			size_of(b->window[i], 1, &p->kernel_size[at]) &&
			size_of(b->pad[i], 0, &p->pad_begin[at]) &&
			size_of(b->stride[i], 1, &p->stride[at]) &&
			size_of(isnan(b->dilation[i]) ? 1 : b->dilation[i], 1, &p->dilation[at]);
		p->pad_end[at] = p->pad_begin[at];
	}
	return good;
}

/* ---- APIs: each fills the problem (types are set) and the algorithm; returns why it cannot, or NULL */

static const char *const algorithm_words[] = { "IMPLICIT_GEMM", "IMPLICIT_PRECOMP_GEMM", "GEMM", "DIRECT",
	"FFT", "FFT_TILING", "WINOGRAD", "WINOGRAD_NONFUSED" };
static const struct {
	const char *name, *notes;
} algorithms[] = { { "implicit_gemm", "" }, { "implicit_precomp_gemm", "" }, { "gemm", "" }, { "direct", "" },
	{ "fft", "fft" }, { "fft_tiling", "fft" }, { "winograd", "winograd" },
	{ "winograd_nonfused", "winograd" } };
static const char *const activation_words[] = { "SIGMOID", "RELU", "TANH", "CLIPPED_RELU", "ELU",
	"IDENTITY" };
#define IDENTITY 5

/* The function of an activation with the coefficient 1, which SCOPE passes. */
static const struct {
	enum mode mode;
	float alpha, beta;
	const char *name;
} activations[] = {
	{ MODE_SIGMOID, 0, 0, "activation:sigmoid" },
	{ MODE_RELU, 0, 0, "activation:relu" },
	{ MODE_TANH, 0, 0, "activation:tanh" },
	{ MODE_CLIP, 0, 1, "activation:clipped_relu" },
	{ MODE_ELU, 1, 0, "activation:elu" },
};

static const char lacks[] = "a benchmark whose name lacks sizes, or has some out of range";

static void product_math(const struct scope_benchmark *b, struct problem *p, struct algorithm *to)
{
	enum dtype in = p->operand[0].dtype;
	p->accumulator = in == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
	to->math = "strict";
	to->matrix = MATRIX_NO;
	if (in == DTYPE_F16) {
		to->math = "f16_accumulate";
		to->matrix = b->math_type == 0 && !text_is(b->dtype, "TENSORCOREHALF") ? MATRIX_NO
										       : MATRIX_UNKNOWN;
	} else if (in == DTYPE_F32 && b->math_type == 2) {
		to->math = "fast_f16";
		to->matrix = MATRIX_UNKNOWN;
	} else if (in == DTYPE_F32 && !b->before_tf32) {
		to->math = "tf32";
		to->matrix = MATRIX_UNKNOWN;
	}
}

static const char *map_conv(
	struct arena *a, const struct scope_benchmark *b, struct problem *p, struct algorithm *to)
{
	(void)a;
	int algorithm = mode_of(b->modes, "CONVOLUTION_FWD_ALGO_", algorithm_words, COUNT(algorithm_words));
	if (algorithm < 0)
		return "a convolution with an unknown algorithm";
	if (!window(b, p) || !size_of(b->filters, 1, &p->k) ||
		!size_of(isnan(b->group) || b->group == 0 ? 1 : b->group, 1, &p->g))
		return lacks;
	p->operand[1].constant = true;
	product_math(b, p, to);
	to->name = algorithms[algorithm].name;
	to->notes = algorithms[algorithm].notes;
	to->rank = algorithm == b->advised ? 0 : 1 + algorithm;
	to->workspace_bytes = b->workspace_bytes;
	return NULL;
}

static void add_epilogue(struct problem *p, enum epilogue_kind kind, enum mode mode)
{
	struct epilogue *e = &p->epilogue[p->epilogue_count++];
	*e = (struct epilogue){ .kind = kind, .mode = mode };
	if (kind == EPILOGUE_BIAS)
		e->operand = (struct operand){ .dtype = p->operand[2].dtype, .constant = true };
}

static const char *map_fused(
	struct arena *a, const struct scope_benchmark *b, struct problem *p, struct algorithm *to)
{
	int activation = mode_of(b->modes, "ACTIVATION_", activation_words, COUNT(activation_words));
	if (b->window[0] != b->window[1] || b->pad[0] != b->pad[1] || b->stride[0] != b->stride[1])
		return "a fused convolution of unequal height and width, whose order differs between "
		       "versions of "
		       "SCOPE";
	if (activation < 0)
		return "a fused convolution with an unknown activation";
	const char *why = map_conv(a, b, p, to);
	add_epilogue(p, EPILOGUE_BIAS, MODE_NONE);
	if (activation != IDENTITY) {
		add_epilogue(p, EPILOGUE_ELTWISE, activations[activation].mode);
		p->epilogue[1].alpha = activations[activation].alpha;
		p->epilogue[1].beta = activations[activation].beta;
	}
	return why;
}

static const char *map_activation(
	struct arena *a, const struct scope_benchmark *b, struct problem *p, struct algorithm *to)
{
	(void)a;
	int activation = mode_of(b->modes, "ACTIVATION_", activation_words, COUNT(activations));
	if (activation < 0)
		return "an activation of unknown or no function";
	p->shape_count = 1;
	p->mode = activations[activation].mode;
	p->alpha = activations[activation].alpha;
	p->beta = activations[activation].beta;
	to->name = activations[activation].name;
	return input_shape(b, &p->shape[0]) ? NULL : lacks;
}

/* Per activation: one scale for each channel and position, which is a channel each if the tensor is flat. */
static const char *map_batchnorm(
	struct arena *a, const struct scope_benchmark *b, struct problem *p, struct algorithm *to)
{
	static const char *const words[] = { "PER_ACTIVATION", "SPATIAL", "SPATIAL_PERSISTENT" };
	static const char *const names[] = { "per_activation", "spatial", "spatial_persistent" };
	(void)a;
	int mode = mode_of(b->modes, "BATCHNORM_", words, COUNT(words));
	struct problem_shape *s = &p->shape[0];
	p->shape_count = 1;
	if (mode < 0)
		return "a batch normalization of unknown mode";
	if (!input_shape(b, s))
		return lacks;
	to->name = names[mode];
	to->rank = mode == 2;
	if (mode == 0) {
		s->dim[1] = merged(s);
		s->rank = 2;
	}
	return s->dim[1] ? NULL : lacks;
}

static const char *map_pool(
	struct arena *a, const struct scope_benchmark *b, struct problem *p, struct algorithm *to)
{
	static const char *const words[] = { "MAX", "MAX_DETERMINISTIC", "AVERAGE_COUNT_INCLUDE_PADDING",
		"AVERAGE_COUNT_EXCLUDE_PADDING" };
	static const char *const names[] = { "max", "max_deterministic", "average_include",
		"average_exclude" };
	static const enum mode modes[] = { MODE_MAX, MODE_MAX, MODE_AVG_INCLUDE, MODE_AVG_EXCLUDE };
	(void)a;
	int mode = mode_of(b->modes, "POOLING_", words, COUNT(words));
	if (mode < 0)
		return "a pooling of unknown mode";
	if (isnan(b->window[0]) || isnan(b->window[1]))
		return "a pooling without the size of its window";
	if (!window(b, p))
		return lacks;
	p->mode = modes[mode];
	to->name = names[mode];
	to->rank = mode == 1;
	return NULL;
}

/* Instance: over all dimensions but the first. Channel: over the second. */
static const char *map_softmax(
	struct arena *a, const struct scope_benchmark *b, struct problem *p, struct algorithm *to)
{
	static const char *const words[] = { "FAST", "ACCURATE", "LOG" },
				 *const ways[] = { "INSTANCE", "CHANNEL" };
	static const char *const names[][2] = { { "fast:instance", "fast:channel" },
		{ "accurate:instance", "accurate:channel" }, { "log:instance", "log:channel" } };
	(void)a;
	int how = mode_of(b->modes, "SOFTMAX_", words, COUNT(words)),
	    over = mode_of(b->modes, "SOFTMAX_MODE_", ways, COUNT(ways));
	struct problem_shape *s = &p->shape[0];
	if (how < 0 || over < 0)
		return "a softmax of unknown mode";
	if (!input_shape(b, s))
		return lacks;
	p->shape_count = 1;
	p->axis = 1;
	p->mode = how == 2 ? MODE_LOGSOFTMAX : MODE_SOFTMAX;
	if (over == 0 || merged(s) == s->dim[1]) {
		s->dim[1] = merged(s);
		s->rank = 2;
	}
	to->name = names[how][over];
	to->rank = how == 0;
	return s->dim[1] ? NULL : lacks;
}

/* The input plus a bias of one value a channel. */
static const char *map_add_tensor(
	struct arena *a, const struct scope_benchmark *b, struct problem *p, struct algorithm *to)
{
	(void)a;
	for (int i = 0; i < 4; i++)
		if (!size_of(b->input[i], 1, &p->shape[0].dim[i]))
			return lacks;
	for (int i = 0; i < 4; i++) {
		double size = b->input[4 + i], wanted = i == 1 ? b->input[1] : 1;
		if (size != wanted && !(i > 1 && isnan(size)))
			return "an addition of another tensor than a bias";
		p->shape[1].dim[i] = (int64_t)wanted;
	}
	p->shape[0].rank = p->shape[1].rank = 4;
	p->shape_count = 2;
	p->mode = MODE_ADD;
	p->operand[1].constant = true;
	to->name = "add_tensor";
	return NULL;
}

static const char *map_op_tensor(
	struct arena *a, const struct scope_benchmark *b, struct problem *p, struct algorithm *to)
{
	static const struct {
		const char *word;
		enum mode mode;
		const char *name;
	} rows[] = { { "ADD", MODE_ADD, "op_tensor:add" }, { "MUL", MODE_MUL, "op_tensor:mul" },
		{ "MIN", MODE_MINIMUM, "op_tensor:min" }, { "MAX", MODE_MAXIMUM, "op_tensor:max" } };
	struct text op = { b->api.p + strlen("CUDNN_OP_TENSOR_"), 3 };
	(void)a;
	for (int i = 0; i < COUNT(rows); i++)
		if (text_is(op, rows[i].word)) {
			p->mode = rows[i].mode;
			to->name = rows[i].name;
		}
	p->shape_count = 2;
	if (!input_shape(b, &p->shape[0]))
		return lacks;
	p->shape[1] = p->shape[0];
	return NULL;
}

static void product_shape(struct problem *p)
{
	p->batch_a = p->batch_b = (struct problem_shape){ .rank = 1, .dim = { 1 } };
}

/* m n k, transposed a and b, alpha, beta, as cuBLAS takes them: column by column. In row order the same
 * memory holds the transposed product: the layer's constant b is the first factor. */
static const char *map_gemm(
	struct arena *a, const struct scope_benchmark *b, struct problem *p, struct algorithm *to)
{
	int64_t ta, tb;
	(void)a;
	if (!size_of(b->input[0], 1, &p->mn) || !size_of(b->input[1], 1, &p->m) ||
		!size_of(b->input[2], 1, &p->mk) || !size_of(b->input[3], 0, &ta) ||
		!size_of(b->input[4], 0, &tb) || ta > 1 || tb > 1)
		return lacks;
	p->operand[0].constant = true;
	p->transpose_a = tb;
	p->transpose_b = ta;
	product_shape(p);
	product_math(b, p, to);
	to->api = "cuBLAS";
	to->name = "gemm";
	return NULL;
}

/* Rows and columns of the matrix, which is stored column by column and, whatever the name says, never
 * transposed: one row times a constant. */
static const char *map_gemv(
	struct arena *a, const struct scope_benchmark *b, struct problem *p, struct algorithm *to)
{
	(void)a;
	p->m = 1;
	if (!size_of(b->input[0], 1, &p->mn) || !size_of(b->input[1], 1, &p->mk))
		return lacks;
	p->operand[1].constant = true;
	product_shape(p);
	product_math(b, p, to);
	to->api = "cuBLAS";
	to->name = "gemv";
	return NULL;
}

static const struct api {
	const char *name;
	enum kernel kernel;
	const char *(*map)(
		struct arena *a, const struct scope_benchmark *b, struct problem *p, struct algorithm *to);
} apis[] = {
	{ "CUDNN_CONV_BIAS_ACTIVATION_FWD", KERNEL_CONV, map_fused },
	{ "CUDNN_CONV_FWD", KERNEL_CONV, map_conv },
	{ "CUDNN_ACTIVATION_FWD", KERNEL_ELTWISE, map_activation },
	{ "CUDNN_BATCHNORM_FWD_INFERENCE", KERNEL_BATCHNORM, map_batchnorm },
	{ "CUDNN_POOLING_FWD", KERNEL_POOL, map_pool },
	{ "CUDNN_SOFTMAX_FWD", KERNEL_SOFTMAX, map_softmax },
	{ "CUDNN_ADD_TENSOR", KERNEL_BINARY, map_add_tensor },
	{ "CUDNN_OP_TENSOR_ADD_FWD", KERNEL_BINARY, map_op_tensor },
	{ "CUDNN_OP_TENSOR_MUL_FWD", KERNEL_BINARY, map_op_tensor },
	{ "CUDNN_OP_TENSOR_MIN_FWD", KERNEL_BINARY, map_op_tensor },
	{ "CUDNN_OP_TENSOR_MAX_FWD", KERNEL_BINARY, map_op_tensor },
	{ "CUBLAS_GEMM_FWD", KERNEL_MATMUL, map_gemm },
	{ "CUBLAS_GEMV_FWD", KERNEL_MATMUL, map_gemv },
};

/* ---- the mapping */

static const char *layouts_of(struct arena *a, const struct problem *p, enum scope_order order)
{
	static const char *const names[] = { "ncx", "nxc" };
	const struct kernel_row *row = kernel_row(p->kernel);
	char text[64];
	size_t n = 0;
	if (p->kernel == KERNEL_MATMUL)
		return "";
	for (int i = 0; i < row->operands; i++)
		n += (size_t)snprintf(
			text + n, sizeof(text) - n, "%s%s=%s", n ? " " : "", row->names[i], names[order]);
	return arena_strndup(a, text, n);
}

const char *scope_map(struct arena *a, const struct scope_benchmark *b, struct result *r)
{
	struct problem p = { 0 }, twin;
	char text[PROBLEM_TEXT_SIZE];
	const struct api *api = NULL;
	enum dtype dtype = dtype_of(b);
	for (int i = 0; i < COUNT(apis) && !api; i++)
		api = text_is(b->api, apis[i].name) ? &apis[i] : NULL;
	if (!api)
		return "a function for which there is no problem";
	if (dtype == DTYPE_UNKNOWN)
		return "an unknown data type, or integers, whose scales the name does not tell";
	p.kernel = api->kernel;
	for (int i = 0; i < kernel_row(api->kernel)->operands; i++)
		p.operand[i].dtype = dtype;
	r->algorithm = (struct algorithm){ .api = "cuDNN legacy",
		.name = "",
		.math = "strict",
		.notes = "",
		.matrix = MATRIX_NO,
		.workspace_bytes = NAN };
	const char *why = api->map(a, b, &p, &r->algorithm);
	if (why)
		return why;
	if (b->order == SCOPE_ORDER_UNKNOWN && p.kernel != KERNEL_MATMUL)
		return "tensors in an unknown order";
	if (problem_format(&p, text, NULL))
		return lacks;
	r->algorithm.layouts = layouts_of(a, &p, b->order);
	if (b->order == SCOPE_NHWC && plan_twin(&p, &twin) && problem_format(&twin, text, NULL))
		return lacks;
	r->problem = arena_strndup(a, text, strlen(text));
	return NULL;
}

/* ---- names */

/* True if the text is `word`, alone or with one or two digits ("CUDNN_CONV_FWD_0", a part of a large file)
 * between it and `tail`, which is what follows. */
static bool api_is(struct text t, const char *word, struct text *tail)
{
	if (!text_begins(t, word))
		return false;
	size_t at = strlen(word), digits = 0;
	while (at + 1 + digits < t.n && t.p[at] == '_' && t.p[at + 1 + digits] >= '0' &&
		t.p[at + 1 + digits] <= '9')
		digits++;
	at += digits ? digits + 1 : 0;
	*tail = (struct text){ t.p + at, t.n - at };
	return tail->n > 1 && tail->p[0] == '_';
}

bool scope_name(struct text name, struct scope_benchmark *b, struct text *arguments)
{
	const char *slash = memchr(name.p, '/', name.n);
	struct text head = { name.p, slash ? (size_t)(slash - name.p) : name.n }, tail;
	if (!text_begins(head, "LAYER_CU"))
		return false;
	*arguments = slash ? (struct text){ slash + 1, name.n - head.n - 1 } : (struct text){ "", 0 };
	head = (struct text){ head.p + strlen("LAYER_"), head.n - strlen("LAYER_") };
	const char *open = memchr(head.p, '<', head.n);
	if (open) {
		b->modes = (struct text){ open, head.n - (size_t)(open - head.p) };
		head.n = (size_t)(open - head.p);
	}
	b->api = head; /* of an unknown function: all */
	for (int i = 0; i < COUNT(apis); i++)
		if (api_is(head, apis[i].name, &tail)) {
			b->api = (struct text){ head.p, strlen(apis[i].name) };
			const char *end = memmem(tail.p + 1, tail.n - 1, "__", 2);
			b->dtype = (struct text){ tail.p + 1, end ? (size_t)(end - tail.p - 1) : tail.n - 1 };
			return true;
		}
	return true;
}
