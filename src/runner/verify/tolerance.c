/* The error limit of an algorithm: the largest that its types, its math mode, approximated functions or
 * transforms may cause. */
#include "config.h"

#include "problem/kernel.h"
#include "runner/verify/tolerance.h"

#include <math.h>
#include <string.h>

/* Relative error of computing in the type with sums in f32 or better, and of rounding one value to it.
 * Integers: exact. */
static const struct {
	enum dtype type;
	double computing, rounding;
} types[] = {
	{ DTYPE_F64, 1e-12, 0x1p-53 },
	{ DTYPE_F32, 1e-6, 0x1p-24 },
	{ DTYPE_TF32, 1e-3, 0x1p-11 },
	{ DTYPE_F16, 1e-3, 0x1p-11 },
	{ DTYPE_BF16, 1e-2, 0x1p-8 },
	{ DTYPE_F8E4M3, 1e-1, 0x1p-4 },
	{ DTYPE_F8E5M2, 1e-1, 0x1p-3 },
	{ DTYPE_F4E2M1, 5e-1, 0x1p-2 },
};

/* Error added by a math mode: of the type that it converts to or accumulates in. */
static const struct {
	const char *math;
	double computing;
} maths[] = {
	{ "", 0 },
	{ "strict", 0 },
	{ "tf32", 1e-3 },
	{ "fast_f16", 1e-3 },
	{ "fast_bf16", 1e-2 },
	{ "f16_accumulate", 1e-2 },
	{ "emulated_bf16x9", 1e-6 },
	{ "fast_accumulate", 1e-1 },
};
#define UNKNOWN_MATH 1e-2

/* Relative error of functions that libraries approximate to a few units of f32's precision, such as
 * exponentials and roots. */
#define TRANSCENDENTAL 1e-5

#define HARDWARE_TANH 0x1p-11

static double computing_with(enum dtype type)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].type == type)
			return types[i].computing;
	return 0;
}

static double rounding_to(enum dtype type)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].type == type)
			return types[i].rounding;
	return 0;
}

static double math_tolerance(const char *math)
{
	for (size_t i = 0; i < sizeof(maths) / sizeof(maths[0]); i++)
		if (strcmp(maths[i].math, math) == 0)
			return maths[i].computing;
	return UNKNOWN_MATH;
}

/* True if the problem has any operation other than addition, multiplication, comparison and data movement. */
static bool is_transcendental(enum mode m)
{
	static const enum mode plain[] = { MODE_NONE, MODE_RELU, MODE_LEAKY_RELU, MODE_CLIP, MODE_ABS,
		MODE_SQUARE, MODE_ROUND, MODE_LINEAR_MAP, MODE_HARD_SIGMOID, MODE_HARD_SWISH };
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (plain[i] == m)
			return false;
	return true;
}

static bool has_transcendental(const struct problem *p)
{
	bool any = kernel_row(p->kernel)->transcendental ||
		(p->kernel == KERNEL_ELTWISE && is_transcendental(p->mode));
	for (int i = 0; i < p->epilogue_count; i++)
		any = any ||
			(p->epilogue[i].kind == EPILOGUE_ELTWISE && is_transcendental(p->epilogue[i].mode));
	return any;
}

/* oneDNN's 8-bit Winograd, F(2x2, 3x3): it rounds the transformed source, divided by 4, and the
 * transformed weights, times 4/9, to 8 bits (adj_src_scale and adj_wei_scale in
 * jit_avx512_core_u8s8s32x_wino_convolution.cpp). With values as small as an exact check of the others
 * needs (integers.h), c channels give errors of about 0.28 / sqrt(c) of the sum of the terms where the
 * results are about 0.4 / sqrt(c): a tolerance that accepts it would also accept zeros. */
static const struct approximation approximations[] = {
	{ "oneDNN", "int8_wino", "Winograd in 8 bits rounds the transformed operands", 0 },
};

const struct approximation *approximation_of(const char *api, const char *name)
{
	for (size_t i = 0; i < sizeof(approximations) / sizeof(approximations[0]); i++)
		if (strcmp(approximations[i].api, api) == 0 && strstr(name, approximations[i].name))
			return &approximations[i];
	return NULL;
}

double tolerance_of(const struct problem *p, const struct algorithm *a)
{
	int count = problem_operand_count(p);
	if (kernel_row(p->kernel)->branches) /* the errors of its problems are compared there */
		return 1;
	const struct approximation *x = approximation_of(a->api, a->name);
	double allowed = fmax(math_tolerance(a->math), x ? x->tolerance : 0);
	for (int i = 0; i < count; i++)
		allowed = fmax(allowed, computing_with(p->operand[i].dtype));
	for (int i = 0; i < p->epilogue_count; i++)
		allowed = fmax(allowed, computing_with(p->epilogue[i].operand.dtype));
	if (has_transcendental(p))
		allowed = fmax(allowed, TRANSCENDENTAL);
	/* libraries multiply integers in f32 as well */
	if (p->kernel == KERNEL_REDUCE && p->mode == MODE_REDUCE_MUL)
		allowed = fmax(allowed, computing_with(DTYPE_F32));
	return allowed + rounding_to(p->operand[count - 1].dtype);
}

/* True if the function contains tanh, or a sigmoid, which is (1 + tanh(x / 2)) / 2. */
static bool has_tanh(enum mode m)
{
	static const enum mode modes[] = { MODE_TANH, MODE_SIGMOID, MODE_GELU_TANH, MODE_SWISH, MODE_MISH };
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (modes[i] == m)
			return true;
	return false;
}

double tolerance_hardware(const struct problem *p)
{
	bool any = (p->kernel == KERNEL_ELTWISE && has_tanh(p->mode)) ||
		(p->kernel == KERNEL_RNN && p->mode != MODE_RNN_RELU);
	for (int i = 0; i < p->epilogue_count; i++)
		any = any || (p->epilogue[i].kind == EPILOGUE_ELTWISE && has_tanh(p->epilogue[i].mode));
	return any ? HARDWARE_TANH : 0;
}

/* Winograd and FFT add and subtract operands before they multiply, which amplifies rounding errors, most of
 * all in Winograd's larger tiles. The tolerance of less precise types and math modes has room for a part of
 * it. */
double tolerance_gain(const struct problem *p, const struct algorithm *a)
{
	enum dtype type = p->operand[0].dtype;
	bool precise = type == DTYPE_F64 || (type == DTYPE_F32 && strcmp(a->math, "strict") == 0);
	return strstr(a->notes, "winograd") ? (precise ? 32 : 16) : strstr(a->notes, "fft") ? 16 : 1;
}

void tolerance_all_rejected(int count, struct error *err)
{
	struct error last = *err;
	const char *text = *last.text ? last.text : "outputs differ from the reference values";
	if (count > 1)
		error_set(err,
			"all %d implementations that ran are suspect (%s): probably a bug of benanza, "
			"please report it",
			count, text);
	else
		error_set(err, "the only implementation that ran is suspect (%s): "
			"a bug of benanza or of the library, please report it", text);
}
