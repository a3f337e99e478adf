/* Functions of 16 f32 values at once, a cache line, as the epilogues of matrix multiplications need them.
 * They are inlined into functions that the caller compiles for one instruction set; elsewhere the compiler
 * divides the vectors. Lines are passed by address, since registers for them depend on the instruction set.
 *
 * Errors are below 1e-6 of the function's largest value near x (exponential: Taylor series on +-ln(2)/2;
 * error function: Abramowitz and Stegun, 7.1.26). */
#ifndef RUNNER_LINES_H
#define RUNNER_LINES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "problem/problem.h"

#define LINE 16

typedef float line_t __attribute__((vector_size(64)));
typedef int32_t line_words __attribute__((vector_size(64)));
typedef uint16_t line_halves __attribute__((vector_size(32)));
#define LINE_INLINE static inline __attribute__((always_inline))

/* to = mask ? from : to; mask: -1 or 0. */
LINE_INLINE void line_pick(line_t *to, const line_words *mask, const line_t *from)
{
	*to = (line_t)(((line_words)*from & *mask) | ((line_words)*to & ~*mask));
}

LINE_INLINE void line_most(line_t *x, const line_t *y)
{
	line_words mask = *y > *x;
	line_pick(x, &mask, y);
}

LINE_INLINE void line_least(line_t *x, const line_t *y)
{
	line_words mask = *y < *x;
	line_pick(x, &mask, y);
}

/* Exchanges the elements of the first 2 * distance; distance: 8, 4, 2 or 1. The others are undefined. */
LINE_INLINE void line_exchange(line_t *to, const line_t *from, int distance)
{
#if defined(__clang__) || __GNUC__ >= 12 /* stays in registers if the distance is a constant */
#define SHUFFLED(...) __builtin_shufflevector(*from, *from, __VA_ARGS__)
	switch (distance) {
	case 8: *to = SHUFFLED(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7); break;
	case 4: *to = SHUFFLED(4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3); break;
	case 2: *to = SHUFFLED(2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1); break;
	default: *to = SHUFFLED(1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0); break;
	}
#undef SHUFFLED
#else
	*to = *from;
	for (int i = 0; i < 2 * distance; i++)
		(*to)[i] = (*from)[i ^ distance];
#endif
}

LINE_INLINE void line_clip(line_t *x, float low, float high)
{
	line_t from = low - (line_t){ 0 }, to = high - (line_t){ 0 };
	line_most(x, &from);
	line_least(x, &to);
}

/* exp(x) for x from -87 to 88; outside the value at these ends. Adding 1.5 * 2^23 rounds to an integer, which
 * is then in the low bits. */
LINE_INLINE void line_exp(line_t *x)
{
	const float rounder = 12582912.0f;
	line_clip(x, -87, 88);
	line_t sum = *x * 1.44269504f + rounder, n = sum - rounder;
	line_t r = *x - n * 0.693359375f + n * 2.12194440e-4f;
	/* not r / 720: compilers keep the division */
	line_t p = (((r * (1.0f / 720) + 1.0f / 120) * r + 1.0f / 24) * r + 1.0f / 6) * r + 0.5f;
	p = p * r * r + r + 1;
	line_words power = ((line_words)sum - 0x4B400000 + 127) << 23;
	*x = p * (line_t)power;
}

/* x / (1 + exp(-y)), or with `flat` 1 / (1 + exp(-y)). Below -87 the exponential is at its limit, and the
 * first is 0. */
LINE_INLINE void line_gate(line_t *x, const line_t *y, bool flat)
{
	line_t e = -*y, zero = { 0 };
	line_words far = *y < -87;
	line_exp(&e);
	*x = (flat ? 1 - zero : *x) / (1 + e);
	if (!flat)
		line_pick(x, &far, &zero);
}

/* (e - 1) / (e + 1) with e = exp(2 x); a series below 0.25, where the difference loses digits. */
LINE_INLINE void line_tanh(line_t *x)
{
	line_t e = 2 * *x, s = *x * *x;
	line_exp(&e);
	line_t series = ((s * (62.0f / 2835) - 17.0f / 315) * s + 2.0f / 15) * s - 1.0f / 3;
	line_t y = *x + *x * s * series, far = (e - 1) / (e + 1);
	line_words mask = s > 0.0625f;
	line_pick(&y, &mask, &far);
	*x = y;
}

LINE_INLINE void line_gelu_erf(line_t *x)
{
	line_t u = *x * 0.70710678f, minus = -u;
	line_most(&u, &minus);
	line_t t = 1 / (1 + 0.3275911f * u), e = -u * u;
	line_exp(&e);
	line_t rest = ((((1.061405429f * t - 1.453152027f) * t + 1.421413741f) * t - 0.284496736f) * t +
			    0.254829592f) * t * e;
	line_t y = 2 - rest; /* 1 + erf */
	line_words mask = *x < 0;
	line_pick(&y, &mask, &rest);
	*x = *x * 0.5f * y;
}

/* x * tanh(log(1 + exp(x))) = x w / (w + 2) with w = e (e + 2). */
LINE_INLINE void line_mish(line_t *x)
{
	line_t e = *x;
	line_clip(&e, -87, 40);
	line_exp(&e);
	line_t w = e * (e + 2), zero = { 0 };
	line_words far = *x < -87;
	*x = *x * (w / (w + 2));
	line_pick(x, &far, &zero);
}

LINE_INLINE void line_below_zero(line_t *x, const line_t *y)
{
	line_words mask = *x < 0;
	line_pick(x, &mask, y);
}

/* True for the modes of line_eltwise. */
static inline bool line_computes(enum mode m)
{
	static const enum mode modes[] = { MODE_RELU, MODE_LEAKY_RELU, MODE_CLIP, MODE_SIGMOID, MODE_TANH,
		MODE_GELU_ERF, MODE_GELU_TANH, MODE_SWISH, MODE_HARD_SIGMOID, MODE_HARD_SWISH, MODE_ELU,
		MODE_MISH, MODE_ABS, MODE_SQUARE, MODE_LINEAR_MAP, MODE_ADD, MODE_SUB, MODE_MUL, MODE_DIV,
		MODE_MAXIMUM, MODE_MINIMUM };
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (modes[i] == m)
			return true;
	return false;
}

/* Elementwise functions of one operand; a and b: their parameters. */
LINE_INLINE void line_eltwise(line_t *x, enum mode m, float a, float b)
{
	line_t y;
	switch (m) {
	case MODE_RELU: y = (line_t){ 0 }; line_most(x, &y); break;
	case MODE_LEAKY_RELU: y = *x * a; line_below_zero(x, &y); break;
	case MODE_CLIP: line_clip(x, a, b); break;
	case MODE_SIGMOID: y = *x; line_gate(x, &y, true); break;
	case MODE_TANH: line_tanh(x); break;
	case MODE_GELU_ERF: line_gelu_erf(x); break;
	case MODE_GELU_TANH: /* 1 + tanh(u) = 2 / (1 + exp(-2 u)) */
		y = *x * (1.59576912f + 0.0713548162f * *x * *x);
		line_gate(x, &y, false);
		break;
	case MODE_SWISH: y = *x * a; line_gate(x, &y, false); break;
	case MODE_HARD_SIGMOID: *x = *x * a + b; line_clip(x, 0, 1); break;
	case MODE_HARD_SWISH: y = *x * (1.0f / 6) + 0.5f; line_clip(&y, 0, 1); *x *= y; break;
	case MODE_ELU: y = *x; line_exp(&y); y = (y - 1) * a; line_below_zero(x, &y); break;
	case MODE_MISH: line_mish(x); break;
	case MODE_ABS: y = -*x; line_below_zero(x, &y); break;
	case MODE_SQUARE: *x *= *x; break;
	case MODE_LINEAR_MAP: *x = *x * a + b; break;
	default: break;
	}
}

LINE_INLINE void line_binary(line_t *x, enum mode m, const line_t *y)
{
	switch (m) {
	case MODE_ADD: *x += *y; break;
	case MODE_SUB: *x -= *y; break;
	case MODE_MUL: *x *= *y; break;
	case MODE_DIV: *x /= *y; break;
	case MODE_MAXIMUM: line_most(x, y); break;
	case MODE_MINIMUM: line_least(x, y); break;
	default: break;
	}
}

/* Reads `count` values (at most LINE) of f32 or bf16, the rest is 0; and writes as many. bf16 is the upper
 * half of an f32, rounded to nearest, ties to even; NaN stays NaN. */
LINE_INLINE void line_load(line_t *x, const void *from, bool narrow, int64_t at, int64_t count)
{
	line_halves half = { 0 };
	if (!narrow && count == LINE) { /* a constant size is a move, not a call */
		memcpy(x, (const float *)from + at, sizeof(*x));
		return;
	}
	*x = (line_t){ 0 };
	if (!narrow) {
		memcpy(x, (const float *)from + at, (size_t)count * sizeof(float));
		return;
	}
	if (count == LINE)
		memcpy(&half, (const uint16_t *)from + at, sizeof(half));
	else
		memcpy(&half, (const uint16_t *)from + at, (size_t)count * sizeof(half[0]));
	*x = (line_t)(__builtin_convertvector(half, line_words) << 16);
}

LINE_INLINE void line_store(const line_t *x, void *to, bool narrow, int64_t at, int64_t count)
{
	uint16_t half[LINE];
	uint32_t word[LINE];
	if (!narrow && count == LINE) {
		memcpy((float *)to + at, x, sizeof(*x));
		return;
	}
	if (!narrow) {
		memcpy((float *)to + at, x, (size_t)count * sizeof(float));
		return;
	}
	memcpy(word, x, sizeof(word));
	for (int i = 0; i < LINE; i++)
		half[i] = (uint16_t)((word[i] & 0x7fffffff) > 0x7f800000 ? word[i] >> 16 | 0x40 :
			(word[i] + 0x7fff + (word[i] >> 16 & 1)) >> 16);
	memcpy((uint16_t *)to + at, half, (size_t)count * sizeof(half[0]));
}

#endif
