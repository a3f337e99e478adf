/* A function for each kernel that benchdnn has; other problems are refused with a reason. */
#include "config.h"

#include "commands/benchdnn.h"

#include <string.h>

static const char no_driver[] = "benchdnn has no driver for this kernel";
static const char no_layout[] = "benchdnn does not take these strides";

struct line {
	const struct problem *p;
	struct str out;
	const char *why; /* set if the problem cannot be written */
};

static void dims_add(struct line *l, const struct problem_shape *s)
{
	for (int i = 0; i < s->rank; i++)
		str_addf(&l->out, "%s%lld", i ? "x" : "", (long long)s->dim[i]);
}

static const char *type_of(struct line *l, enum dtype t)
{
	static const enum dtype known[] = { DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_F64, DTYPE_S8, DTYPE_U8,
		DTYPE_S32 };
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i] == t)
			return dtype_name(t);
	l->why = "oneDNN has no such data type";
	return "";
}

/* The types of all operands: " --dt=f32:f32:f32". */
static void types_add(struct line *l, int count)
{
	str_puts(&l->out, " --dt=");
	for (int i = 0; i < count; i++)
		str_addf(&l->out, "%s%s", i ? ":" : "", type_of(l, l->p->operand[i].dtype));
}

/* " --stag=axb"; a layout that the library may choose is `any`, or for kernels without it, ONNX order. */
static void tag_add(struct line *l, const char *option, int operand, const char *any)
{
	enum layout layout = l->p->operand[operand].layout;
	if (layout == LAYOUT_STRIDES)
		l->why = no_layout;
	str_addf(&l->out, " --%s=%s", option, layout == LAYOUT_NCX ? "abx" : layout == LAYOUT_NXC ? "axb" :
		any);
}

/* In the order of d h w: "ih56iw56". */
static void space_add(struct line *l, const char *prefix, const int64_t *sizes, int64_t less)
{
	for (int i = 3 - l->p->spatial; i < 3; i++)
		str_addf(&l->out, "%s%c%lld", prefix, "dhw"[i], (long long)(sizes[i] - less));
}

static void window_add(struct line *l)
{
	const struct problem *p = l->p;
	int64_t out[3] = { 0 };
	for (int i = 3 - p->spatial; i < 3; i++)
		out[i] = problem_out_size(p, i);
	space_add(l, "i", p->in, 0);
	if (p->k)
		str_addf(&l->out, "oc%lld", (long long)p->k);
	space_add(l, "o", out, 0);
	space_add(l, "k", p->kernel_size, 0);
	space_add(l, "s", p->stride, 0);
	space_add(l, "p", p->pad_begin, 0);
	space_add(l, "d", p->dilation, 1); /* 0: dense */
}

static bool has_bias(const struct problem *p)
{
	return p->epilogue_count && p->epilogue[0].kind == EPILOGUE_BIAS;
}

static void conv_add(struct line *l)
{
	const struct problem *p = l->p;
	str_addf(&l->out, "--%s --mode=P --dir=%s", p->kernel == KERNEL_CONV ? "conv" : "deconv",
		has_bias(p) ? "FWD_B" : "FWD_I");
	types_add(l, 3);
	tag_add(l, "stag", 0, "any");
	tag_add(l, "wtag", 1, "any");
	tag_add(l, "dtag", 2, "any");
}

static void conv_end(struct line *l)
{
	str_addf(&l->out, " g%lldmb%lldic%lld", (long long)l->p->g, (long long)l->p->n, (long long)l->p->c);
	window_add(l);
}

static void pool_add(struct line *l)
{
	str_addf(&l->out, "--pool --mode=P --dir=FWD_I");
	types_add(l, 2);
	tag_add(l, "tag", 0, "abx");
	str_addf(&l->out, " --alg=%s", l->p->mode == MODE_MAX ? "max" :
		l->p->mode == MODE_AVG_INCLUDE ? "avg_p" : "avg_np");
}

static void pool_end(struct line *l)
{
	str_addf(&l->out, " mb%lldic%lld", (long long)l->p->n, (long long)l->p->c);
	window_add(l);
}

/* A matrix of rank r that is stored transposed: "ba", "acb". */
static void matrix_tag(struct line *l, const char *option, int operand, int rank, bool transposed)
{
	char tag[PROBLEM_RANK + 1] = "abcdefgh";
	enum layout layout = l->p->operand[operand].layout;
	tag[rank] = '\0';
	if (transposed) {
		tag[rank - 2] = (char)('a' + rank - 1);
		tag[rank - 1] = (char)('a' + rank - 2);
	}
	if (layout == LAYOUT_STRIDES)
		l->why = no_layout;
	bool any = layout == LAYOUT_ANY && l->p->operand[operand].constant;
	str_addf(&l->out, " --%s=%s", option, any ? "any" : tag);
}

static void matmul_add(struct line *l)
{
	const struct problem *p = l->p;
	int rank = p->batch_a.rank + 2;
	str_puts(&l->out, "--matmul --mode=P");
	types_add(l, 3);
	if (p->size)
		l->why = "benchdnn's scales in blocks depend on its version";
	matrix_tag(l, "stag", 0, rank, p->transpose_a);
	matrix_tag(l, "wtag", 1, rank, p->transpose_b);
	matrix_tag(l, "dtag", 2, rank, false);
	if (has_bias(p))
		str_addf(&l->out, " --bia_dt=%s --bia_mask=%d",
			type_of(l, p->epilogue[0].operand.dtype), 1 << (rank - 1));
}

static void matmul_end(struct line *l)
{
	for (int i = 0; i < 2; i++) {
		struct problem_shape s = problem_operand_shape(l->p, i);
		str_puts(&l->out, i ? ":" : " ");
		dims_add(l, &s);
	}
}

static void shapes_end(struct line *l)
{
	for (int i = 0; i < l->p->shape_count; i++) {
		str_puts(&l->out, i ? ":" : " ");
		dims_add(l, &l->p->shape[i]);
	}
}

struct alg {
	enum mode mode;
	const char *name;
	bool alpha, beta;  /* parameters of the problem follow the name */
	const char *fixed; /* parameters that the mode implies */
};

static const struct alg algs[] = {
	{ MODE_RELU, "relu", false, false, "" }, { MODE_LEAKY_RELU, "relu", true, false, "" },
	{ MODE_CLIP, "clip_v2", true, true, "" }, { MODE_SIGMOID, "logistic", false, false, "" },
	{ MODE_TANH, "tanh", false, false, "" }, { MODE_GELU_ERF, "gelu_erf", false, false, "" },
	{ MODE_GELU_TANH, "gelu_tanh", false, false, "" }, { MODE_SWISH, "swish", true, false, "" },
	{ MODE_HARD_SIGMOID, "hardsigmoid", true, true, "" },
	{ MODE_HARD_SWISH, "hardswish", false, false, ":0.16666667:0.5" },
	{ MODE_ELU, "elu", true, false, "" }, { MODE_SOFTPLUS, "soft_relu", false, false, ":1" },
	{ MODE_MISH, "mish", false, false, "" }, { MODE_EXP, "exp", false, false, "" },
	{ MODE_LOG, "log", false, false, "" }, { MODE_SQRT, "sqrt", false, false, "" },
	{ MODE_ABS, "abs", false, false, "" }, { MODE_SQUARE, "square", false, false, "" },
	{ MODE_POW, "pow", true, true, "" }, { MODE_ROUND, "round", false, false, "" },
	{ MODE_LINEAR_MAP, "linear", true, true, "" }, { MODE_ADD, "add", false, false, "" },
	{ MODE_SUB, "sub", false, false, "" }, { MODE_MUL, "mul", false, false, "" },
	{ MODE_DIV, "div", false, false, "" }, { MODE_MAXIMUM, "max", false, false, "" },
	{ MODE_MINIMUM, "min", false, false, "" }, { MODE_GREATER, "gt", false, false, "" },
	{ MODE_GREATER_EQ, "ge", false, false, "" }, { MODE_LESS, "lt", false, false, "" },
	{ MODE_LESS_EQ, "le", false, false, "" }, { MODE_EQUAL, "eq", false, false, "" },
	{ MODE_REDUCE_SUM, "sum", false, false, "" }, { MODE_REDUCE_MEAN, "mean", false, false, "" },
	{ MODE_REDUCE_MAX, "max", false, false, "" }, { MODE_REDUCE_MIN, "min", false, false, "" },
	{ MODE_REDUCE_MUL, "mul", false, false, "" },
};

static const struct alg *alg_of(struct line *l, enum mode m)
{
	for (size_t i = 0; i < sizeof(algs) / sizeof(algs[0]); i++)
		if (algs[i].mode == m)
			return &algs[i];
	l->why = "benchdnn has no such algorithm";
	return &algs[0];
}

/* A driver of shapes: "--eltwise ... --alg=relu --alpha=0.1". */
static void pointwise_add(struct line *l)
{
	const struct problem *p = l->p;
	const struct alg *a = alg_of(l, p->mode);
	char number[STR_QUANTITY];
	bool eltwise = p->kernel == KERNEL_ELTWISE, binary = p->kernel == KERNEL_BINARY;
	str_addf(&l->out, "--%s --mode=P", eltwise ? "eltwise --dir=FWD_I" : binary ? "binary" :
		"reduction");
	if (eltwise)
		str_addf(&l->out, " --dt=%s", type_of(l, p->operand[0].dtype));
	else if (binary)
		str_addf(&l->out, " --sdt=%s:%s --ddt=%s", type_of(l, p->operand[0].dtype),
			type_of(l, p->operand[1].dtype), type_of(l, p->operand[2].dtype));
	else
		str_addf(&l->out, " --sdt=%s --ddt=%s", type_of(l, p->operand[0].dtype),
			type_of(l, p->operand[1].dtype));
	if (eltwise && p->operand[0].dtype != p->operand[1].dtype)
		l->why = "benchdnn's eltwise has one data type";
	tag_add(l, eltwise ? "tag" : "stag", 0, "abx");
	if (binary)
		str_puts(&l->out, p->operand[0].layout == LAYOUT_NXC ? ":axb" : ":abx");
	if (binary && p->operand[0].layout != p->operand[1].layout)
		l->why = no_layout;
	str_addf(&l->out, " --alg=%s", a->name);
	if (a->alpha)
		str_addf(&l->out, " --alpha=%s", str_float(number, p->alpha));
	if (a->beta)
		str_addf(&l->out, " --beta=%s", str_float(number, p->beta));
	if (a->fixed[0])
		str_addf(&l->out, p->mode == MODE_SOFTPLUS ? " --alpha=1" : " --alpha=0.16666667 --beta=0.5");
}

static void softmax_add(struct line *l)
{
	str_puts(&l->out, "--softmax --mode=P --dir=FWD_I");
	str_addf(&l->out, " --sdt=%s --ddt=%s", type_of(l, l->p->operand[0].dtype),
		type_of(l, l->p->operand[1].dtype));
	tag_add(l, "stag", 0, "abx");
	str_addf(&l->out, " --alg=%s --axis=%d", l->p->mode == MODE_SOFTMAX ? "SOFTMAX" : "LOGSOFTMAX",
		l->p->axis);
}

static void lrn_end(struct line *l)
{
	const struct problem_shape *s = &l->p->shape[0];
	char alpha[STR_QUANTITY], beta[STR_QUANTITY];
	str_puts(&l->out, "--lrn --mode=P --dir=FWD_I");
	str_addf(&l->out, " --dt=%s", type_of(l, l->p->operand[0].dtype));
	tag_add(l, "tag", 0, "abx");
	str_addf(&l->out, " --alg=ACROSS ls%lldalpha%sbeta%smb%lldic%lld", (long long)l->p->size,
		str_float(alpha, l->p->alpha), str_float(beta, l->p->beta), (long long)s->dim[0],
		(long long)s->dim[1]);
	for (int i = 2; i < s->rank && s->rank <= 5; i++)
		str_addf(&l->out, "i%c%lld", "dhw"[i + 5 - s->rank - 2], (long long)s->dim[i]);
	if (s->rank < 3 || s->rank > 5)
		l->why = "benchdnn's lrn takes one to three spatial dimensions";
}

static void batchnorm_end(struct line *l)
{
	const struct problem_shape *s = &l->p->shape[0];
	str_puts(&l->out, "--bnorm --mode=P --dir=FWD_I");
	str_addf(&l->out, " --dt=%s", type_of(l, l->p->operand[0].dtype));
	tag_add(l, "tag", 0, "abx");
	str_addf(&l->out, " --flags=GCH mb%lldic%lld", (long long)s->dim[0], (long long)s->dim[1]);
	for (int i = 2; i < s->rank && s->rank <= 5; i++)
		str_addf(&l->out, "i%c%lld", "dhw"[i + 5 - s->rank - 2], (long long)s->dim[i]);
	if (s->rank < 2 || s->rank > 5)
		l->why = "benchdnn's bnorm takes up to three spatial dimensions";
}

/* The options come first, then the attributes of the epilogues, the descriptor last. */
static const struct driver {
	enum kernel kernel;
	void (*options)(struct line *l); /* may be NULL */
	void (*descriptor)(struct line *l);
	bool epilogues;
} drivers[] = {
	{ KERNEL_CONV, conv_add, conv_end, true }, { KERNEL_DECONV, conv_add, conv_end, true },
	{ KERNEL_MATMUL, matmul_add, matmul_end, true }, { KERNEL_POOL, pool_add, pool_end, true },
	{ KERNEL_ELTWISE, pointwise_add, shapes_end, true },
	{ KERNEL_BINARY, pointwise_add, shapes_end, true },
	{ KERNEL_REDUCE, pointwise_add, shapes_end, true },
	{ KERNEL_SOFTMAX, softmax_add, shapes_end, false },
	{ KERNEL_LRN, NULL, lrn_end, false }, { KERNEL_BATCHNORM, NULL, batchnorm_end, false },
};

/* " --attr-post-ops=relu+add:f32:per_tensor" */
static void epilogues_add(struct line *l)
{
	const struct problem *p = l->p;
	bool window = p->kernel == KERNEL_CONV || p->kernel == KERNEL_DECONV || p->kernel == KERNEL_MATMUL;
	char number[STR_QUANTITY];
	int count = 0;
	for (int i = window && has_bias(p); i < p->epilogue_count; i++) {
		const struct epilogue *e = &p->epilogue[i];
		if (e->kind != EPILOGUE_ELTWISE && e->kind != EPILOGUE_BINARY) {
			l->why = "benchdnn has no such epilogue for this kernel";
			return;
		}
		const struct alg *a = alg_of(l, e->mode);
		str_addf(&l->out, "%s%s", count++ ? "+" : " --attr-post-ops=", a->name);
		if (e->kind == EPILOGUE_BINARY)
			str_addf(&l->out, ":%s:per_tensor", type_of(l, e->operand.dtype));
		if (a->alpha)
			str_addf(&l->out, ":%s", str_float(number, e->alpha));
		if (a->beta)
			str_addf(&l->out, ":%s", str_float(number, e->beta));
		str_puts(&l->out, a->fixed);
	}
}

const char *benchdnn_write(const struct problem *p, struct str *out)
{
	struct line l = { .p = p, .why = no_driver };
	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++) {
		const struct driver *d = &drivers[i];
		if (d->kernel != p->kernel)
			continue;
		l.why = p->epilogue_count && !d->epilogues ? "benchdnn has no epilogues for this "
			"kernel" : NULL;
		if (d->options)
			d->options(&l);
		epilogues_add(&l);
		d->descriptor(&l);
	}
	if (!l.why)
		str_add(out, l.out.p, l.out.n);
	str_free(&l.out);
	return l.why;
}
