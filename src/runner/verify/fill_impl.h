/* The functions of fill.h for C and CUDA, included by fill.c and by the kernels that fill or convert. They
 * use integer arithmetic wherever CPU and GPU could round differently. */
#ifndef RUNNER_FILL_IMPL_H
#define RUNNER_FILL_IMPL_H

#include <string.h>

#include "runner/verify/fill.h"

#ifdef __CUDACC__
#define FILL_HD __host__ __device__
#else
#define FILL_HD
#endif

/* A small floating-point format: sign, exponent, mantissa, from the highest bit down. */
struct fill_format {
	int exponent_bits, mantissa_bits;
	bool has_infinity; /* false: the highest exponent holds numbers, only all ones is NaN, overflow
			      saturates */
	bool saturates;    /* overflow gives the largest number although there is an infinity */
};

static inline FILL_HD bool fill_format_of(enum dtype type, struct fill_format *f)
{
	f->has_infinity = true;
	f->saturates = false;
	switch (type) {
	case DTYPE_F16: f->exponent_bits = 5; f->mantissa_bits = 10; return true;
	case DTYPE_BF16: f->exponent_bits = 8; f->mantissa_bits = 7; return true;
	case DTYPE_F32: f->exponent_bits = 8; f->mantissa_bits = 23; return true;
	case DTYPE_TF32: f->exponent_bits = 8; f->mantissa_bits = 10; return true;
	case DTYPE_F8E5M2: f->exponent_bits = 5; f->mantissa_bits = 2; f->saturates = true; return true;
	case DTYPE_F8E4M3:
		f->exponent_bits = 4;
		f->mantissa_bits = 3;
		f->has_infinity = false;
		f->saturates = true;
		return true;
	default: return false;
	}
}

/* Hash in which every input bit affects every output bit: the finalizer of splitmix64 (Steele, Lea, Flood
 * 2014) over a Weyl sequence. */
static inline FILL_HD uint64_t fill_hash(uint64_t seed, uint64_t index)
{
	uint64_t x = (index + 1) * UINT64_C(0x9e3779b97f4a7c15) + seed * UINT64_C(0xd1342543de82ef95);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* Rounds a double to a format and returns the bits. There is only one rounding, of the double's 52-bit
 * mantissa. */
static inline FILL_HD uint32_t fill_round(double value, struct fill_format f)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof(bits));
	int width = f.exponent_bits + f.mantissa_bits, bias = (1 << (f.exponent_bits - 1)) - 1;
	uint32_t sign = (uint32_t)(bits >> 63) << width, top = (1u << f.exponent_bits) - 1;
	uint32_t infinity = top << f.mantissa_bits, nan = infinity | ((1u << f.mantissa_bits) - 1);
	uint32_t largest = f.has_infinity ? infinity - 1 : nan - 1;
	int exponent = (int)(bits >> 52 & 0x7ff);
	uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
	if (exponent == 0x7ff && mantissa)
		return sign | nan;
	if (exponent == 0x7ff)
		return sign | (f.saturates ? largest : infinity);
	if (exponent == 0)
		return sign; /* subnormal doubles are less than half of every format's smallest number */
	mantissa |= UINT64_C(1) << 52;
	int own = exponent - 1023 + bias;           /* the exponent in the format; below 1: a subnormal
						       number */
	int drop = 52 - f.mantissa_bits + (own < 1 ? 1 - own : 0);
	if (drop > 54)
		return sign;
	uint64_t kept = mantissa >> drop, rest = mantissa & ((UINT64_C(1) << drop) - 1),
		 half = UINT64_C(1) << (drop - 1);
	if (rest > half || (rest == half && (kept & 1)))
		kept++;
	/* the hidden bit, or a carry out of the mantissa, increments the exponent */
	uint64_t number = kept + ((uint64_t)(own < 1 ? 0 : own - 1) << f.mantissa_bits);
	if (number > largest)
		return sign | (f.saturates ? largest : infinity);
	return sign | (uint32_t)number;
}

/* The value of the bits of a format. */
static inline FILL_HD double fill_widen(uint32_t from, struct fill_format f)
{
	int width = f.exponent_bits + f.mantissa_bits, bias = (1 << (f.exponent_bits - 1)) - 1;
	uint64_t sign = (uint64_t)(from >> width & 1) << 63, bits;
	uint32_t top = (1u << f.exponent_bits) - 1, ones = (1u << f.mantissa_bits) - 1;
	uint32_t exponent = from >> f.mantissa_bits & top, mantissa = from & ones;
	double value;
	if (exponent == 0) {
		/* mantissa * 2^(1 - bias - mantissa_bits), by a power of two that is exact */
		bits = (uint64_t)(1023 + 1 - bias - f.mantissa_bits) << 52;
		memcpy(&value, &bits, sizeof(value));
		value *= mantissa;
		return sign ? -value : value;
	}
	if (exponent == top && f.has_infinity)
		bits = sign | UINT64_C(0x7ff) << 52 | (mantissa ? UINT64_C(1) << 51 : 0);
	else if (exponent == top && mantissa == ones && !f.has_infinity)
		bits = UINT64_C(0x7ff8) << 48;
	else
		bits = sign | (uint64_t)(exponent + 1023 - (uint32_t)bias) << 52 |
			(uint64_t)mantissa << (52 - f.mantissa_bits);
	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Rounds to an integer, ties to even, independent of the rounding mode. From 2^52 on every double is an
 * integer. */
static inline FILL_HD double fill_whole(double value)
{
	if (!(value > -4503599627370496.0 && value < 4503599627370496.0))
		return value;
	double down = (double)(int64_t)value, rest;
	if (down > value)
		down -= 1;
	rest = value - down;
	return rest > 0.5 || (rest == 0.5 && ((int64_t)down & 1)) ? down + 1 : down;
}

/* Rounds to an integer type of `bits` bits and saturates; returns the bits in the low end. */
static inline FILL_HD uint64_t fill_integer(double value, int bits, bool is_signed)
{
	if (value != value)
		return 0;
	value = fill_whole(value);
	if (is_signed) {
		int64_t most = (int64_t)(UINT64_MAX >> (65 - bits));
		double limit = (double)(UINT64_C(1) << (bits - 1)); /* exact */
		return (uint64_t)(value >= limit ? most : value < -limit ? -most - 1 : (int64_t)value);
	}
	double limit = 2.0 * (double)(UINT64_C(1) << (bits - 1));
	return value >= limit ? UINT64_MAX >> (64 - bits) : value <= 0 ? 0 : (uint64_t)value;
}

/* Bits of an integer type; 0: another type. */
static inline FILL_HD int fill_whole_bits(enum dtype type, bool *is_signed)
{
	*is_signed = type == DTYPE_S4 || type == DTYPE_S8 || type == DTYPE_S16 || type == DTYPE_S32 ||
		type == DTYPE_S64;
	switch (type) {
	case DTYPE_S4:
	case DTYPE_U4: return 4;
	case DTYPE_S8:
	case DTYPE_U8: return 8;
	case DTYPE_S16:
	case DTYPE_U16: return 16;
	case DTYPE_S32:
	case DTYPE_U32: return 32;
	case DTYPE_S64:
	case DTYPE_U64: return 64;
	default: return 0;
	}
}

/* Converts a value to a type; returns the bits in the low end, for kernels that store them themselves. */
static inline FILL_HD uint64_t fill_bits(double value, enum dtype type)
{
	struct fill_format f;
	bool is_signed;
	int whole = fill_whole_bits(type, &is_signed);
	uint64_t bits = 0;
	if (whole)
		return fill_integer(value, whole, is_signed);
	if (type == DTYPE_BOOL)
		return value == value && value != 0;
	if (type == DTYPE_F64) {
		memcpy(&bits, &value, sizeof(bits));
		return bits;
	}
	if (!fill_format_of(type, &f))
		return 0;
	return (uint64_t)fill_round(value, f) << (type == DTYPE_TF32 ? 13 : 0);
}

static inline FILL_HD double fill_unbits(uint64_t bits, enum dtype type)
{
	struct fill_format f;
	bool is_signed;
	int whole = fill_whole_bits(type, &is_signed);
	double value;
	if (whole && is_signed)
		return (double)((int64_t)(bits << (64 - whole)) >> (64 - whole));
	if (whole)
		return (double)(bits << (64 - whole) >> (64 - whole));
	if (type == DTYPE_BOOL)
		return (bits & 0xff) != 0;
	if (type == DTYPE_F64) {
		memcpy(&value, &bits, sizeof(value));
		return value;
	}
	if (!fill_format_of(type == DTYPE_TF32 ? DTYPE_F32 : type, &f)) {
		bits = UINT64_C(0x7ff8) << 48;
		memcpy(&value, &bits, sizeof(value));
		return value;
	}
	return fill_widen((uint32_t)bits, f);
}

/* Bytes of a type that fill_encode handles; 0: not handled. */
static inline FILL_HD int fill_bytes(enum dtype type)
{
	switch (type) {
	case DTYPE_S8:
	case DTYPE_U8:
	case DTYPE_BOOL:
	case DTYPE_F8E4M3:
	case DTYPE_F8E5M2: return 1;
	case DTYPE_S16:
	case DTYPE_U16:
	case DTYPE_F16:
	case DTYPE_BF16: return 2;
	case DTYPE_S32:
	case DTYPE_U32:
	case DTYPE_F32:
	case DTYPE_TF32: return 4;
	case DTYPE_S64:
	case DTYPE_U64:
	case DTYPE_F64: return 8;
	default: return 0;
	}
}

/* fill_value before rounding to the type. */
static inline FILL_HD double fill_raw(
	uint64_t seed, int64_t index, enum fill_kind kind, int64_t limit, enum dtype type)
{
	uint64_t h = fill_hash(seed, (uint64_t)index);
	double unit = (double)(h >> 11) * 1.1102230246251565e-16; /* 2^-53: [0, 1) */
	bool is_signed;
	int whole = fill_whole_bits(type, &is_signed);
	if (kind == FILL_ONE)
		return 1;
	if (kind == FILL_INDEX) {
		int64_t at = (int64_t)(unit * (double)limit);
		return (double)(at < limit ? at : limit - 1);
	}
	if (kind == FILL_FACTOR) {
		uint64_t bits = (uint64_t)(1023 - limit - (int64_t)(h % 3)) << 52;
		memcpy(&unit, &bits, sizeof(unit));
		return unit;
	}
	if (kind == FILL_SMALL)
		return (2 * unit - 1) / (double)limit;
	if (type == DTYPE_BOOL)
		return kind == FILL_POSITIVE ? 1 : (double)(h >> 63);
	if (whole)
		return (double)((int64_t)(h >> 61) + (kind == FILL_POSITIVE ? 1 : is_signed ? -4 : 0));
	return kind == FILL_POSITIVE ? 0.5 + unit : 2 * unit - 1;
}

#endif
