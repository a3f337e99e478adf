/* Writes the text of a kernel: sizes and strides as constants, wide loads where all operands allow them. */
#include "config.h"

#include "runner/nvrtc/nvrtc_source.h"

#include <string.h>

#include "problem/kernel.h"
#include "runner/gpu/cuda_work.h"

#define PACK_BYTES 16 /* of the widest operand that a thread loads at once */
#define SIDES (NVRTC_INPUTS + 1)

/* --- types --- */

/* The word in memory, and how its value is read and written: by a function, or by its range. */
static const struct type {
	const char *word, *function;
	const char *least, *most; /* integers */
	bool wide;		  /* not exact in f32 */
} types[DTYPE_COUNT] = {
	[DTYPE_F32] = { "float", NULL, NULL, NULL, false },
	[DTYPE_F64] = { "double", NULL, NULL, NULL, true },
	[DTYPE_F16] = { "u16", "f16", NULL, NULL, false },
	[DTYPE_BF16] = { "u16", "bf16", NULL, NULL, false },
	[DTYPE_S8] = { "s8", NULL, "-128", "127", false },
	[DTYPE_U8] = { "u8", NULL, "0", "255", false },
	[DTYPE_S16] = { "s16", NULL, "-32768", "32767", false },
	[DTYPE_U16] = { "u16", NULL, "0", "65535", false },
	[DTYPE_S32] = { "s32", NULL, "-2147483648LL", "2147483647", true },
	[DTYPE_U32] = { "u32", NULL, "0", "4294967295LL", true },
	[DTYPE_S64] = { "s64", NULL, "-9223372036854775807LL - 1", "9223372036854775807LL", true },
	[DTYPE_BOOL] = { "u8", NULL, "0", "1", false },
};

/* --- operations: x is the value, y the second operand; a and b are parameters --- */

static const struct step {
	const char *text;
	bool exact; /* on integers */
} steps[MODE_COUNT] = {
	[MODE_RELU] = { "x > V(0) ? x : V(0)", true },
	[MODE_LEAKY_RELU] = { "x > V(0) ? x : a * x", false },
	[MODE_CLIP] = { "fmin(fmax(x, a), b)", false },
	[MODE_SIGMOID] = { "V(1) / (V(1) + exp(-x))", false },
	[MODE_TANH] = { "tanh(x)", false },
	[MODE_GELU_ERF] = { "V(0.5) * x * (V(1) + erf(x * V(0.70710678118654752)))", false },
	[MODE_GELU_TANH] = { "V(0.5) * x * (V(1) + tanh(V(0.79788456080286536) * "
			     "(x + V(0.044715) * x * x * x)))",
		false },
	[MODE_SWISH] = { "x / (V(1) + exp(-a * x))", false },
	[MODE_HARD_SIGMOID] = { "fmin(fmax(a * x + b, V(0)), V(1))", false },
	[MODE_HARD_SWISH] = { "x * fmin(fmax(x * V(0.16666666666666667) + V(0.5), V(0)), V(1))", false },
	[MODE_ELU] = { "x > V(0) ? x : a * expm1(x)", false },
	[MODE_SOFTPLUS] = { "fmax(x, V(0)) + log1p(exp(-fabs(x)))", false },
	[MODE_MISH] = { "x * tanh(fmax(x, V(0)) + log1p(exp(-fabs(x))))", false },
	[MODE_EXP] = { "exp(x)", false },
	[MODE_LOG] = { "log(x)", false },
	[MODE_SQRT] = { "sqrt(x)", false },
	[MODE_ABS] = { "x < V(0) ? -x : x", true },
	[MODE_SQUARE] = { "x * x", true },
	[MODE_POW] = { "a * pow(x, b)", false },
	[MODE_ROUND] = { "rint(x)", false },
	[MODE_LINEAR_MAP] = { "a * x + b", false },
	[MODE_ADD] = { "x + y", true },
	[MODE_SUB] = { "x - y", true },
	[MODE_MUL] = { "x * y", true },
	[MODE_DIV] = { "x / y", false },
	[MODE_MAXIMUM] = { "x > y ? x : y", true },
	[MODE_MINIMUM] = { "x < y ? x : y", true },
	[MODE_GREATER] = { "V(x > y)", true },
	[MODE_GREATER_EQ] = { "V(x >= y)", true },
	[MODE_LESS] = { "V(x < y)", true },
	[MODE_LESS_EQ] = { "V(x <= y)", true },
	[MODE_EQUAL] = { "V(x == y)", true },
};

/* Powers with a cheaper form. */
static const struct {
	float exponent;
	const char *text;
} powers[] = { { 2, "a * x * x" }, { 3, "a * x * x * x" }, { 1, "a * x" }, { 0.5f, "a * sqrt(x)" },
	{ -1, "a / x" }, { -0.5f, "a / sqrt(x)" } };

static const char *step_text(enum mode m, float beta)
{
	for (size_t i = 0; m == MODE_POW && i < sizeof(powers) / sizeof(powers[0]); i++)
		if (powers[i].exponent == beta)
			return powers[i].text;
	return steps[m].text;
}

/* --- places: where each operand has the element at an index of the destination --- */

/* Sizes in order of falling strides of the destination, neighbors merged; strides of inputs and destination.
 */
struct places {
	int sides, rank;
	enum dtype type[SIDES];
	int64_t dim[PROBLEM_RANK], stride[SIDES][PROBLEM_RANK], count;
};

/* Appends a dimension, or merges it with the last one. */
static void places_append(struct places *w, int64_t dim, const int64_t *stride)
{
	int last = w->rank - 1;
	bool joins = last >= 0;
	for (int k = 0; k < w->sides && joins; k++)
		joins = w->stride[k][last] == stride[k] * dim;
	if (!joins)
		last = w->rank++;
	w->dim[last] = joins ? w->dim[last] * dim : dim;
	for (int k = 0; k < w->sides; k++)
		w->stride[k][last] = stride[k];
}

static void places_of(struct places *w, const struct cuda_layout *side)
{
	const struct cuda_layout *to = &side[w->sides - 1];
	bool done[PROBLEM_RANK] = { false };
	w->count = 1;
	for (;;) {
		int64_t stride[SIDES];
		int next = -1;
		for (int i = 0; i < to->shape.rank; i++)
			if (!done[i] && to->shape.dim[i] > 1 &&
				(next < 0 || to->stride[i] > to->stride[next]))
				next = i;
		if (next < 0)
			break;
		done[next] = true;
		for (int k = 0; k < w->sides; k++) {
			int at = next - (to->shape.rank - side[k].shape.rank);
			stride[k] = at < 0 || side[k].shape.dim[at] == 1 ? 0 : side[k].stride[at];
		}
		places_append(w, to->shape.dim[next], stride);
		w->count *= to->shape.dim[next];
	}
	if (!w->rank)
		w->dim[w->rank++] = 1; /* one element: all strides are 0 */
}

/* Returns how many elements a thread can handle at once: aligned in every operand that has neighbors there.
 */
static int places_words(const struct places *w)
{
	int inner = w->rank - 1, widest = 1;
	for (int k = 0; k < w->sides; k++) {
		int bytes = dtype_bits(w->type[k]) / 8;
		widest = bytes > widest ? bytes : widest;
	}
	for (int n = PACK_BYTES / widest; n > 1; n /= 2) {
		bool good = w->dim[inner] % n == 0;
		for (int k = 0; k < w->sides; k++) {
			good = good && (w->stride[k][inner] == 1 || w->stride[k][inner] == 0);
			for (int i = 0; i < inner && w->stride[k][inner] == 1; i++)
				good = good && w->stride[k][i] % n == 0;
		}
		if (good)
			return n;
	}
	return 1;
}

/* Writes the offset of side k for the element at index i. */
static void offset_write(const struct places *w, int k, struct str *out)
{
	int64_t below = w->count;
	const char *plus = "";
	for (int d = 0; d < w->rank; d++) {
		int64_t above = below;
		below /= w->dim[d];
		if (!w->stride[k][d])
			continue;
		str_puts(out, plus);
		plus = " + ";
		if (above == w->count)
			str_addf(out, "i / %lld", (long long)below);
		else
			str_addf(out, "i %% %lld / %lld", (long long)above, (long long)below);
		str_addf(out, " * %lld", (long long)w->stride[k][d]);
	}
	if (!*plus)
		str_puts(out, "0");
}

static bool places_are_wide(const struct places *w)
{
	bool wide = false;
	for (int k = 0; k < w->sides; k++) {
		int64_t span = 1;
		for (int d = 0; d < w->rank; d++)
			span += (w->dim[d] - 1) * w->stride[k][d];
		wide = wide || span >= INT32_MAX || w->count >= INT32_MAX;
	}
	return wide;
}

/* --- the kernel --- */

struct chain {
	const struct problem *p;
	struct places w;
	int words;
	const char *value; /* type of all values */
	struct str *out;
};

static void load_write(const struct chain *c, int k)
{
	const char *word = types[c->w.type[k]].word;
	if (c->words > 1 && c->w.stride[k][c->w.rank - 1] == 1) {
		str_addf(c->out, "\t\tconst pack<%s, %d> w%d = *(const pack<%s, %d> *)((const %s *)p%d + (",
			word, c->words, k, word, c->words, word, k);
		offset_write(&c->w, k, c->out);
		str_puts(c->out, "));\n");
		return;
	}
	str_addf(c->out, "\t\tconst %s w%d = ((const %s *)p%d)[", word, k, word, k);
	offset_write(&c->w, k, c->out);
	str_puts(c->out, "];\n");
}

/* Writes `name` = the value of input k. */
static void value_write(const struct chain *c, int k, const char *name)
{
	const struct type *t = &types[c->w.type[k]];
	bool packed = c->words > 1 && c->w.stride[k][c->w.rank - 1] == 1;
	const char *at = packed ? ".at[k]" : "";
	str_addf(c->out, "\t\t\t%s = ", name);
	if (c->w.type[k] == DTYPE_BOOL)
		str_addf(c->out, "V(w%d%s != 0);\n", k, at);
	else
		str_addf(c->out, "V(%s%s(w%d%s));\n", t->function ? "read_" : "",
			t->function ? t->function : "", k, at);
}

static void step_write(const struct chain *c, enum mode m, float alpha, float beta)
{
	if (mode_parameters(m) > 0)
		str_addf(c->out, "\t\t\t{ const V a = V(%.9g), b = V(%.9g); (void)b; x = %s; }\n",
			(double)alpha, (double)beta, step_text(m, beta));
	else
		str_addf(c->out, "\t\t\tx = %s;\n", step_text(m, beta));
}

static void result_write(const struct chain *c)
{
	const struct type *t = &types[c->w.type[c->w.sides - 1]];
	const char *to = c->words > 1 ? "z.at[k]" : "*z";
	bool whole = strcmp(c->value, "s64") == 0;
	if (c->w.type[c->w.sides - 1] == DTYPE_BOOL)
		str_addf(c->out, "\t\t\t%s = x != V(0);\n", to);
	else if (!t->least)
		str_addf(c->out, "\t\t\t%s = %s%s(x);\n", to, t->function ? "write_" : "",
			t->function ? t->function : t->word);
	else if (whole)
		str_addf(c->out, "\t\t\t%s = (%s)(x < %s ? %s : x > %s ? %s : x);\n", to, t->word, t->least,
			t->least, t->most, t->most);
	else /* NaN becomes 0, as the comparisons are false */
		str_addf(c->out,
			"\t\t\tx = rint(x);\n\t\t\t%s = x >= V(%s) ? (%s)(%s) : x > V(%s) ? (%s)x : "
			"x <= V(%s) ? (%s)(%s) : (%s)0;\n",
			to, t->most, t->word, t->most, t->least, t->word, t->least, t->word, t->least,
			t->word);
}

static void steps_write(const struct chain *c)
{
	const struct problem *p = c->p;
	int next = problem_operand_count(p) - 1;
	str_puts(c->out, "\t\t\tV x, y = V(0);\n\t\t\t(void)y;\n");
	value_write(c, 0, "x");
	if (p->kernel == KERNEL_BINARY)
		value_write(c, 1, "y");
	step_write(c, p->mode, p->alpha, p->beta);
	for (int i = 0; i < p->epilogue_count; i++) {
		const struct epilogue *e = &p->epilogue[i];
		if (e->kind == EPILOGUE_BINARY)
			value_write(c, next++, "y");
		step_write(c, e->mode, e->alpha, e->beta);
	}
	result_write(c);
}

static void kernel_write(const struct chain *c)
{
	struct str *out = c->out;
	int last = c->w.sides - 1;
	const char *word = types[c->w.type[last]].word;
	str_addf(out, "typedef %s V;\nKERNEL void " NVRTC_NAME "(", c->value);
	for (int k = 0; k < NVRTC_INPUTS; k++)
		str_addf(out, "const void *__restrict__ p%d, ", k);
	str_addf(out, "void *__restrict__ q)\n{\n\tfor (s64 first = FIRST; first < %lld; first += STEP) {\n",
		(long long)(c->w.count / c->words));
	str_addf(out, "\t\tconst %s i = (%s)first * %d;\n\t\t(void)i;\n",
		places_are_wide(&c->w) ? "s64" : "u32", places_are_wide(&c->w) ? "s64" : "u32", c->words);
	for (int k = 0; k < last; k++)
		load_write(c, k);
	if (c->words > 1)
		str_addf(out, "\t\tpack<%s, %d> z;\n#pragma unroll\n\t\tfor (int k = 0; k < %d; k++) {\n",
			word, c->words, c->words);
	else
		str_addf(out, "\t\t%s *z = (%s *)q + i;\n\t\t{\n", word, word);
	steps_write(c);
	str_puts(out, "\t\t}\n");
	if (c->words > 1)
		str_addf(out, "\t\t*(pack<%s, %d> *)((%s *)q + i) = z;\n", word, c->words, word);
	str_puts(out, "\t}\n}\n");
}

/* --- what can be written --- */

static bool chain_is_exact(const struct chain *c)
{
	bool exact = steps[c->p->mode].exact;
	for (int i = 0; i < c->p->epilogue_count; i++)
		exact = exact && steps[c->p->epilogue[i].mode].exact;
	for (int k = 0; k < c->w.sides; k++)
		exact = exact && types[c->w.type[k]].least;
	return exact;
}

static const char *chain_value(const struct chain *c)
{
	bool wide = false;
	for (int k = 0; k < c->w.sides; k++)
		wide = wide || types[c->w.type[k]].wide;
	return chain_is_exact(c) ? "s64" : wide ? "double" : "float";
}

static int side_add(struct nvrtc_source *s, struct places *w, struct cuda_layout *side, bool is_epilogue,
	int number, const struct problem *p, struct error *err)
{
	struct cuda_layout *l = &side[w->sides];
	*l = is_epilogue ? cuda_epilogue_layout(p, number) : cuda_operand_layout(p, number, 0);
	if (!types[l->dtype].word)
		return error_set(err, "pointwise kernels have no %s", dtype_name(l->dtype));
	w->type[w->sides++] = l->dtype;
	if (number < problem_operand_count(p) - 1 || is_epilogue)
		s->input[s->input_count++] = (struct nvrtc_input){ is_epilogue, number };
	return 0;
}

static int sides_make(struct nvrtc_source *s, struct chain *c, struct cuda_layout *side, struct error *err)
{
	const struct problem *p = c->p;
	int last = problem_operand_count(p) - 1;
	for (int i = 0; i < last; i++)
		if (side_add(s, &c->w, side, false, i, p, err))
			return -1;
	for (int i = 0; i < p->epilogue_count; i++) {
		const struct epilogue *e = &p->epilogue[i];
		if (e->kind == EPILOGUE_BIAS || e->kind == EPILOGUE_SCALE || !steps[e->mode].text)
			return error_set(err, "pointwise kernels have no such epilogue");
		if (e->kind == EPILOGUE_BINARY && side_add(s, &c->w, side, true, i, p, err))
			return -1;
	}
	return side_add(s, &c->w, side, false, last, p, err);
}

int nvrtc_source_make(struct nvrtc_source *s, const struct problem *p, struct error *err)
{
	struct chain c = { .p = p, .out = &s->text };
	struct cuda_layout side[SIDES];
	*s = (struct nvrtc_source){ 0 };
	if (p->kernel != KERNEL_ELTWISE && p->kernel != KERNEL_BINARY)
		return error_set(err, "only pointwise operations");
	if (!steps[p->mode].text)
		return error_set(err, "pointwise kernels have no %s", mode_name(p->mode));
	if (sides_make(s, &c, side, err))
		return -1;
	places_of(&c.w, side);
	int64_t span = 1;
	for (int d = 0; d < c.w.rank; d++)
		span += (c.w.dim[d] - 1) * c.w.stride[c.w.sides - 1][d];
	if (span != c.w.count)
		return error_set(err, "pointwise kernels need a dense destination");
	s->words = c.words = places_words(&c.w);
	s->packs = c.w.count / c.words;
	c.value = chain_value(&c);
	kernel_write(&c);
	return 0;
}
