/* Conversions of runs of elements, in loops that the compiler vectorizes. */
#include "config.h"

#include "runner/plain/plain_convert.h"

#include <string.h>

#include "runner/verify/fill_impl.h"

bool plain_converts(enum dtype t)
{
	return t == DTYPE_F32 || t == DTYPE_F16 || t == DTYPE_BF16 || t == DTYPE_S8 || t == DTYPE_U8 ||
		t == DTYPE_S16 || t == DTYPE_U16 || t == DTYPE_S32 || t == DTYPE_F8E4M3 ||
		t == DTYPE_F8E5M2 || t == DTYPE_S4 || t == DTYPE_U4;
}

static float float_of(uint32_t bits)
{
	float f;
	memcpy(&f, &bits, sizeof(f));
	return f;
}

static uint32_t bits_of(float f)
{
	uint32_t bits;
	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

/* A multiplication adjusts the exponent, also of subnormal numbers; infinity and NaN are handled
 * separately. */
static float half_load(uint16_t h)
{
	float f = float_of((uint32_t)(h & 0x7fff) << 13) * 0x1p112f;
	uint32_t top = (h & 0x7c00) == 0x7c00 ? 0x7f800000u : 0;
	return float_of(bits_of(f) | top | (uint32_t)(h & 0x8000) << 16);
}

/* Rounds to nearest even at the last bit by adding a number whose last bit has that value. */
static uint16_t half_store(float f)
{
	uint32_t sign = bits_of(f) >> 16 & 0x8000, size = bits_of(f) & 0x7fffffffu;
	uint32_t small = bits_of(float_of(size) + 0.5f) - bits_of(0.5f);
	uint32_t normal = (size + 0xfff + (size >> 13 & 1) - (112u << 23)) >> 13;
	uint32_t big = size > 0x7f800000u ? 0x7e00 : 0x7c00;
	return (uint16_t)(sign | (size < 0x38800000u ? small : size < 0x477ff000u ? normal : big));
}

static uint16_t brain_store(float f)
{
	uint32_t bits = bits_of(f);
	uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
	return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc0 | bits >> 16 : rounded);
}

/* Rounds to an integer by adding 1.5 * 2^23, beyond which f32 has no fraction; for |f| up to 2^21. */
static float whole(float f, float low, float high)
{
	f = f > low ? f : low; /* also for NaN */
	f = f < high ? f : high;
	return (f + 0x1.8p23f) - 0x1.8p23f;
}

#define LOAD(type)                                            \
	for (int64_t i = 0; i < n; i++)                       \
		to[i] = (float)((const type *)from)[at + i]
#define STORE(type, low, high)                                \
	for (int64_t i = 0; i < n; i++)                       \
		((type *)to)[at + i] = (type)whole(from[i], low, high)

static int nibble(const void *from, enum dtype t, int64_t at)
{
	int v = ((const uint8_t *)from)[at / 2] >> at % 2 * 4 & 15;
	return t == DTYPE_S4 && v > 7 ? v - 16 : v;
}

void plain_load(float *to, const void *from, enum dtype t, int64_t at, int64_t n)
{
	switch (t) {
	case DTYPE_F32: memcpy(to, (const float *)from + at, (size_t)n * sizeof(float)); break;
	case DTYPE_S8: LOAD(int8_t); break;
	case DTYPE_U8: LOAD(uint8_t); break;
	case DTYPE_S16: LOAD(int16_t); break;
	case DTYPE_U16: LOAD(uint16_t); break;
	case DTYPE_S32: LOAD(int32_t); break;
	case DTYPE_F16:
		for (int64_t i = 0; i < n; i++)
			to[i] = half_load(((const uint16_t *)from)[at + i]);
		break;
	case DTYPE_BF16:
		for (int64_t i = 0; i < n; i++)
			to[i] = float_of((uint32_t)((const uint16_t *)from)[at + i] << 16);
		break;
	case DTYPE_S4:
	case DTYPE_U4:
		for (int64_t i = 0; i < n; i++)
			to[i] = (float)nibble(from, t, at + i);
		break;
	default:
		for (int64_t i = 0; i < n; i++)
			to[i] = (float)fill_unbits(((const uint8_t *)from)[at + i], t);
		break;
	}
}

static void nibbles_store(uint8_t *to, enum dtype t, int64_t at, const float *from, int64_t n)
{
	float low = t == DTYPE_S4 ? -8 : 0;
	for (int64_t i = 0; i < n; i += 2) {
		int first = (int)whole(from[i], low, low + 15) & 15;
		int second = i + 1 < n ? (int)whole(from[i + 1], low, low + 15) & 15 : 0;
		to[(at + i) / 2] = (uint8_t)(first | second << 4);
	}
}

void plain_store(void *to, enum dtype t, int64_t at, const float *from, int64_t n)
{
	switch (t) {
	case DTYPE_F32: memcpy((float *)to + at, from, (size_t)n * sizeof(float)); break;
	case DTYPE_S8: STORE(int8_t, -128, 127); break;
	case DTYPE_U8: STORE(uint8_t, 0, 255); break;
	case DTYPE_S16: STORE(int16_t, -32768, 32767); break;
	case DTYPE_U16: STORE(uint16_t, 0, 65535); break;
	case DTYPE_F16:
		for (int64_t i = 0; i < n; i++)
			((uint16_t *)to)[at + i] = half_store(from[i]);
		break;
	case DTYPE_BF16:
		for (int64_t i = 0; i < n; i++)
			((uint16_t *)to)[at + i] = brain_store(from[i]);
		break;
	case DTYPE_S4:
	case DTYPE_U4: nibbles_store(to, t, at, from, n); break;
	default:
		for (int64_t i = 0; i < n; i++)
			((uint8_t *)to)[at + i] = (uint8_t)fill_bits((double)from[i], t);
		break;
	}
}
