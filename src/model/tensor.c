/* Element types of ONNX, and single elements of tensors as numbers. */
#include "config.h"

#include "model/tensor.h"

#include <math.h>
#include <string.h>

/* indexed by ONNX's code */
static const enum dtype tensor_codes[] = {
	[1] = DTYPE_F32,
	[2] = DTYPE_U8,
	[3] = DTYPE_S8,
	[4] = DTYPE_U16,
	[5] = DTYPE_S16,
	[6] = DTYPE_S32,
	[7] = DTYPE_S64,
	[8] = DTYPE_STRING,
	[9] = DTYPE_BOOL,
	[10] = DTYPE_F16,
	[11] = DTYPE_F64,
	[12] = DTYPE_U32,
	[13] = DTYPE_U64,
	[14] = DTYPE_C64,
	[15] = DTYPE_C128,
	[16] = DTYPE_BF16,
	[17] = DTYPE_F8E4M3,
	[18] = DTYPE_F8E4M3FNUZ,
	[19] = DTYPE_F8E5M2,
	[20] = DTYPE_F8E5M2FNUZ,
	[21] = DTYPE_U4,
	[22] = DTYPE_S4,
	[23] = DTYPE_F4E2M1,
	[24] = DTYPE_F8E8M0,
	[25] = DTYPE_U2,
	[26] = DTYPE_S2,
	[27] = DTYPE_F6E2M3,
	[28] = DTYPE_F6E3M2,
};
#define TENSOR_CODES ((int)(sizeof(tensor_codes) / sizeof(tensor_codes[0])))

enum dtype tensor_dtype(int64_t onnx_code)
{
	return onnx_code > 0 && onnx_code < TENSOR_CODES ? tensor_codes[onnx_code] : DTYPE_UNKNOWN;
}

int tensor_onnx_code(enum dtype t)
{
	for (int i = 1; t != DTYPE_UNKNOWN && i < TENSOR_CODES; i++)
		if (tensor_codes[i] == t)
			return i;
	return 0;
}

int64_t tensor_elements(int rank, const int64_t *dims)
{
	int64_t product = 1;
	bool empty = false;
	for (int i = 0; i < rank; i++) {
		if (dims[i] < 0)
			return -1;
		empty |= dims[i] == 0;
	}
	for (int i = 0; i < rank && !empty; i++)
		if (__builtin_mul_overflow(product, dims[i], &product))
			return -1;
	/* the widest type has 16 bytes */
	return empty ? 0 : product <= INT64_MAX / 16 ? product : -1;
}

int64_t tensor_bytes(enum dtype t, int64_t elements)
{
	int bits = dtype_bits(t);
	if (bits <= 0)
		return -1;
	/* in two steps, because the number of bits may not fit int64 */
	return elements / 8 * bits + (elements % 8 * bits + 7) / 8;
}

struct shape tensor_shape(struct arena *a, const struct tensor *t)
{
	return shape_known(a, t->rank, t->dims);
}

/* A small float: sign, exponent, mantissa. */
struct float_form {
	enum dtype type;
	int exponent_bits, mantissa_bits, bias;
	/* which bit patterns are not finite numbers */
	enum { FORM_IEEE, FORM_ALL_ONES, FORM_MINUS_ZERO, FORM_FINITE } special;
};

/* FORM_IEEE: the largest exponent means infinity and NaN. The others have no infinity; NaN is all ones after
 * the sign (ALL_ONES), the pattern of minus zero (MINUS_ZERO), or does not exist (FINITE). Sources: OCP 8-bit
 * Floating Point and Microscaling specifications; arXiv 2206.02915 for "fnuz". */
static const struct float_form float_forms[] = {
	{ DTYPE_F16, 5, 10, 15, FORM_IEEE },
	{ DTYPE_BF16, 8, 7, 127, FORM_IEEE },
	{ DTYPE_F8E4M3, 4, 3, 7, FORM_ALL_ONES },
	{ DTYPE_F8E5M2, 5, 2, 15, FORM_IEEE },
	{ DTYPE_F8E4M3FNUZ, 4, 3, 8, FORM_MINUS_ZERO },
	{ DTYPE_F8E5M2FNUZ, 5, 2, 16, FORM_MINUS_ZERO },
	{ DTYPE_F6E2M3, 2, 3, 1, FORM_FINITE },
	{ DTYPE_F6E3M2, 3, 2, 3, FORM_FINITE },
	{ DTYPE_F4E2M1, 2, 1, 1, FORM_FINITE },
};

static double float_decode(const struct float_form *f, uint32_t bits)
{
	uint32_t mantissa = bits & ((1u << f->mantissa_bits) - 1);
	uint32_t top = (1u << f->exponent_bits) - 1;
	uint32_t exponent = bits >> f->mantissa_bits & top;
	uint32_t minus_zero = 1u << (f->mantissa_bits + f->exponent_bits);
	bool negative = bits & minus_zero;
	double value;
	if (f->special == FORM_IEEE && exponent == top)
		value = mantissa ? (double)NAN : (double)INFINITY;
	else if ((f->special == FORM_ALL_ONES && (bits & (minus_zero - 1)) == minus_zero - 1) ||
		(f->special == FORM_MINUS_ZERO && bits == minus_zero))
		value = (double)NAN;
	else if (exponent == 0)
		value = ldexp(mantissa, 1 - f->bias - f->mantissa_bits);
	else
		value = ldexp(mantissa | 1u << f->mantissa_bits, (int)exponent - f->bias - f->mantissa_bits);
	return negative ? -value : value;
}

/* The bits of element i, little-endian as in the file. False if they are not in memory. */
static bool tensor_element_bits(const struct tensor *t, int64_t i, uint64_t *value)
{
	int bits = dtype_bits(t->dtype);
	if (!t->data || i < 0 || i >= t->elements || bits <= 0 || bits > 64)
		return false;
	const unsigned char *p = t->data;
	if (bits < 8) { /* packed from the lowest bit on; an element may cross bytes */
		int64_t byte = i / 8 * bits + i % 8 * bits / 8;
		int shift = (int)(i % 8 * bits % 8);
		uint32_t pair = p[byte] | (shift + bits > 8 ? (uint32_t)p[byte + 1] << 8 : 0);
		*value = pair >> shift & ((1u << bits) - 1);
		return true;
	}
	p += i * (bits / 8);
	*value = 0;
	for (int byte = bits / 8 - 1; byte >= 0; byte--)
		*value = *value << 8 | p[byte];
	return true;
}

static double float_of_bits(enum dtype t, uint64_t bits)
{
	float f;
	double d;
	uint32_t low = (uint32_t)bits;
	switch (t) {
	case DTYPE_F32:
		memcpy(&f, &low, sizeof(f));
		return (double)f;
	case DTYPE_F64:
		memcpy(&d, &bits, sizeof(d));
		return d;
	case DTYPE_F8E8M0: /* a power of two and no sign */
		return low == 255 ? (double)NAN : ldexp(1, (int)low - 127);
	default:
		break;
	}
	for (size_t i = 0; i < sizeof(float_forms) / sizeof(float_forms[0]); i++)
		if (float_forms[i].type == t)
			return float_decode(&float_forms[i], low);
	return (double)NAN;
}

static bool dtype_is_signed(enum dtype t)
{
	return t == DTYPE_S2 || t == DTYPE_S4 || t == DTYPE_S8 || t == DTYPE_S16 || t == DTYPE_S32 ||
		t == DTYPE_S64;
}

bool tensor_int(const struct tensor *t, int64_t i, int64_t *value)
{
	uint64_t bits;
	if (t->dtype == DTYPE_C64 || !tensor_element_bits(t, i, &bits))
		return false;
	if (dtype_is_float(t->dtype)) {
		double d = float_of_bits(t->dtype, bits);
		if (!(d >= -0x1p63 && d < 0x1p63) || d != floor(d))
			return false;
		*value = (int64_t)d;
		return true;
	}
	if (dtype_is_signed(t->dtype)) {
		int unused = 64 - dtype_bits(t->dtype);
		*value = (int64_t)(bits << unused) >> unused;
		return true;
	}
	if (bits > INT64_MAX)
		return false;
	*value = t->dtype == DTYPE_BOOL ? bits != 0 : (int64_t)bits;
	return true;
}

double tensor_double(const struct tensor *t, int64_t i)
{
	uint64_t bits;
	int64_t whole;
	if (dtype_is_float(t->dtype))
		return tensor_element_bits(t, i, &bits) ? float_of_bits(t->dtype, bits) : (double)NAN;
	if (tensor_int(t, i, &whole))
		return (double)whole;
	if (t->dtype == DTYPE_U64 && tensor_element_bits(t, i, &bits))
		return (double)bits;
	return (double)NAN;
}
