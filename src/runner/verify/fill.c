/* fill_impl.h compiled for the CPU. */
#include "config.h"

#include "runner/verify/fill.h"

#include <math.h>

#include "runner/verify/fill_impl.h"

/* The CPU's conversion rounds the same way and is faster: embedding tables have many values. */
static bool is_own(enum dtype type, double value)
{
	return type == DTYPE_F32 && !isnan(value);
}

double fill_value(uint64_t seed, int64_t index, enum fill_kind kind, int64_t limit, enum dtype type)
{
	double raw = fill_raw(seed, index, kind, limit, type);
	if (is_own(type, raw))
		return (double)(float)raw;
	return fill_unbits(fill_bits(raw, type), type);
}

/* Copies the low bytes in the machine's byte order. */
void fill_encode(double value, enum dtype type, void *to)
{
	if (is_own(type, value)) {
		float own = (float)value;
		memcpy(to, &own, sizeof(own));
		return;
	}
	uint64_t bits = fill_bits(value, type);
	uint32_t bits32 = (uint32_t)bits;
	uint16_t bits16 = (uint16_t)bits;
	uint8_t bits8 = (uint8_t)bits;
	switch (fill_bytes(type)) {
	case 1: memcpy(to, &bits8, 1); break;
	case 2: memcpy(to, &bits16, 2); break;
	case 4: memcpy(to, &bits32, 4); break;
	case 8: memcpy(to, &bits, 8); break;
	default: break;
	}
}

double fill_decode(const void *from, enum dtype type)
{
	uint64_t bits = 0;
	uint32_t bits32;
	uint16_t bits16;
	uint8_t bits8;
	switch (fill_bytes(type)) {
	case 1: memcpy(&bits8, from, 1); bits = bits8; break;
	case 2: memcpy(&bits16, from, 2); bits = bits16; break;
	case 4: memcpy(&bits32, from, 4); bits = bits32; break;
	case 8: memcpy(&bits, from, 8); break;
	default: return NAN;
	}
	return fill_unbits(bits, type);
}

bool fill_handles(enum dtype type)
{
	return fill_bytes(type) > 0;
}
