/* Bits of numbers against what the formats say, and what the values look like as a whole. */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "runner/verify/fill.h"
#include "tap.h"

static uint64_t bits_of(double value, enum dtype type)
{
	uint64_t bits = 0;
	fill_encode(value, type, &bits); /* little-endian machines only: so are all that have a GPU */
	return bits;
}

static double value_of(uint64_t bits, enum dtype type)
{
	return fill_decode(&bits, type);
}

static void test_patterns(void)
{
	static const struct {
		enum dtype type;
		double value;
		uint64_t bits;
	} rows[] = {
		{ DTYPE_F32, 1, 0x3f800000 },
		{ DTYPE_F32, -0.1, 0xbdcccccd },
		{ DTYPE_F32, 16777217, 0x4b800000 },
		{ DTYPE_F32, 1e-45, 1 },
		{ DTYPE_F32, 1e39, 0x7f800000 },
		{ DTYPE_F32, 3.4028234663852886e38, 0x7f7fffff },
		{ DTYPE_F16, 1, 0x3c00 },
		{ DTYPE_F16, -2, 0xc000 },
		{ DTYPE_F16, 65504, 0x7bff },
		{ DTYPE_F16, 65519, 0x7bff },
		{ DTYPE_F16, 65520, 0x7c00 },
		{ DTYPE_F16, -1e9, 0xfc00 },
		{ DTYPE_F16, 5.9604644775390625e-08, 1 },
		{ DTYPE_F16, 2.98023223876953125e-08, 0 },
		{ DTYPE_F16, 2.9802322387695317e-08, 1 },
		{ DTYPE_F16, 6.103515625e-05, 0x400 },
		{ DTYPE_F16, 2049, 0x6800 },
		{ DTYPE_F16, 2051, 0x6802 },
		{ DTYPE_F16, 0.333251953125, 0x3555 },
		{ DTYPE_BF16, 1, 0x3f80 },
		{ DTYPE_BF16, 3.140625, 0x4049 },
		{ DTYPE_BF16, 257, 0x4380 },
		{ DTYPE_BF16, 259, 0x4382 },
		{ DTYPE_BF16, 3.4e38, 0x7f80 },
		{ DTYPE_BF16, -0.0, 0x8000 },
		{ DTYPE_F8E4M3, 448, 0x7e },
		{ DTYPE_F8E4M3, 1e6, 0x7e },
		{ DTYPE_F8E4M3, -1e6, 0xfe },
		{ DTYPE_F8E4M3, 1, 0x38 },
		{ DTYPE_F8E4M3, 0.001953125, 1 },
		{ DTYPE_F8E4M3, 0.0009765625, 0 },
		{ DTYPE_F8E4M3, 256, 0x78 },
		{ DTYPE_F8E4M3, 17, 0x58 },
		{ DTYPE_F8E4M3, 19, 0x5a },
		{ DTYPE_F8E5M2, 57344, 0x7b },
		{ DTYPE_F8E5M2, 1e9, 0x7b },
		{ DTYPE_F8E5M2, 1, 0x3c },
		{ DTYPE_F8E5M2, 1.52587890625e-05, 1 },
		{ DTYPE_F8E5M2, 0.375, 0x36 },
		{ DTYPE_TF32, 1.00048828125, 0x3f800000 },
		{ DTYPE_TF32, 1.0009765625, 0x3f802000 },
		{ DTYPE_F64, 1, 0x3ff0000000000000 },
		{ DTYPE_S8, -3.5, 0xfc },
		{ DTYPE_S8, -2.5, 0xfe },
		{ DTYPE_S8, 200, 0x7f },
		{ DTYPE_S8, -200, 0x80 },
		{ DTYPE_U8, -1, 0 },
		{ DTYPE_U8, 254.5, 254 },
		{ DTYPE_U8, 300, 255 },
		{ DTYPE_BOOL, 0.25, 1 },
		{ DTYPE_BOOL, 0, 0 },
		{ DTYPE_S16, 40000, 0x7fff },
		{ DTYPE_U16, 65535.5, 65535 },
		{ DTYPE_S32, -2147483648.0, 0x80000000 },
		{ DTYPE_S32, 1e10, 0x7fffffff },
		{ DTYPE_U32, 5e9, 0xffffffff },
		{ DTYPE_S64, 1e19, INT64_MAX },
		{ DTYPE_S64, -1e19, 0x8000000000000000 },
		{ DTYPE_U64, 1e20, UINT64_MAX },
		{ DTYPE_U64, 1e19, 10000000000000000000u },
		{ DTYPE_S32, NAN, 0 },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		is_int(bits_of(rows[i].value, rows[i].type), rows[i].bits, "%s %.17g",
			dtype_name(rows[i].type), rows[i].value);
}

/* Every pattern of a format is a number that comes back; numbers between two neighbours round to the nearer.
 */
static void test_all(enum dtype type, uint64_t count)
{
	uint64_t lost = 0, wrong = 0, half = count / 2;
	for (uint64_t i = 0; i < count; i++) {
		double v = value_of(i, type);
		if (isnan(v) ? !isnan(value_of(bits_of(v, type), type)) : !isinf(v) && bits_of(v, type) != i)
			lost++;
		if (i >= half || i + 1 >= half)
			continue;
		double next = value_of(i + 1, type);
		if (isnan(next) || isinf(next))
			continue;
		double middle = (v + next) / 2;
		wrong += !(next > v) || bits_of(middle, type) != (i & 1 ? i + 1 : i) ||
			bits_of(nextafter(middle, v), type) != i ||
			bits_of(nextafter(middle, next), type) != i + 1 ||
			bits_of(-middle, type) != (bits_of(middle, type) | half);
	}
	is_int(lost, 0, "%s: every number comes back", dtype_name(type));
	is_int(wrong, 0, "%s: between two neighbours the nearer, halves the even one", dtype_name(type));
}

static void test_f32(void)
{
	uint64_t wrong = 0, x = 1;
	for (int i = 0; i < 200000; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		double v;
		uint64_t bits = x;
		memcpy(&v, &bits, sizeof(v));
		if (i & 1)
			v = ldexp((double)(int64_t)x, (int)(x >> 55) - 256 - 63);
		float f = (float)v;
		uint32_t want;
		memcpy(&want, &f, sizeof(want));
		wrong += isnan(v) ? !isnan(value_of(bits_of(v, DTYPE_F32), DTYPE_F32))
				  : bits_of(v, DTYPE_F32) != want;
		wrong += !isnan(f) && value_of(want, DTYPE_F32) != f;
	}
	is_int(wrong, 0, "f32 as the machine rounds");
}

static void test_special(void)
{
	ok(isinf(value_of(0x7c00, DTYPE_F16)) && isnan(value_of(0x7c01, DTYPE_F16)),
		"f16 has infinity and NaN");
	ok(isnan(value_of(0x7f, DTYPE_F8E4M3)) && value_of(0x78, DTYPE_F8E4M3) == 256,
		"f8e4m3 has NaN alone");
	ok(isinf(value_of(0xfc, DTYPE_F8E5M2)) && isnan(value_of(0x7f, DTYPE_F8E5M2)), "f8e5m2 has both");
	ok(isnan(value_of(bits_of(NAN, DTYPE_BF16), DTYPE_BF16)), "NaN stays NaN");
	is_int(bits_of(INFINITY, DTYPE_F8E4M3), 0x7e, "infinity saturates in a type without infinity");
	uint8_t guard[4] = { 7, 7, 7, 7 };
	fill_encode(1, DTYPE_S4, guard);
	fill_encode(1, DTYPE_F16, guard + 1);
	ok(guard[0] == 7 && guard[3] == 7 && guard[2] == 0x3c,
		"only the type's own bytes are written, at any place");
	ok(isnan(fill_decode(guard, DTYPE_U4)), "a type of half bytes reads as unknown");
	is_int(value_of(0x80, DTYPE_S8), -128, "s8 is signed");
	is_int(value_of(0x80, DTYPE_U8), 128, "u8 is not");
}

static void test_statistics(enum dtype type, enum fill_kind kind, int64_t limit, double low, double high,
	double mean, double deviation)
{
	enum { N = 100000 };
	double sum = 0, squares = 0, least = INFINITY, most = -INFINITY, lag = 0, last = 0;
	int unrounded = 0;
	for (int64_t i = 0; i < N; i++) {
		double v = fill_value(42, i, kind, limit, type);
		sum += v;
		squares += v * v;
		least = fmin(least, v);
		most = fmax(most, v);
		lag += (v - mean) * last;
		last = v - mean;
		unrounded += value_of(bits_of(v, type), type) != v;
	}
	const char *name = dtype_name(type);
	double m = sum / N, sd = sqrt(squares / N - m * m);
	ok(least >= low && most <= high, "%s %d: within %g and %g", name, kind, low, high);
	ok(fabs(m - mean) <= 0.01 * (high - low), "%s %d: mean %g is near %g", name, kind, m, mean);
	ok(fabs(sd - deviation) <= 0.02 * deviation, "%s %d: deviation %g is near %g", name, kind, sd,
		deviation);
	ok(fabs(lag / N) <= 0.02 * deviation * deviation, "%s %d: neighbours are independent", name, kind);
	is_int(unrounded, 0, "%s %d: values are the type's own", name, kind);
}

int main(void)
{
	test_patterns();
	test_all(DTYPE_F16, 65536);
	test_all(DTYPE_BF16, 65536);
	test_all(DTYPE_F8E4M3, 256);
	test_all(DTYPE_F8E5M2, 256);
	test_f32();
	test_special();
	static const enum dtype floats[] = { DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_F64, DTYPE_TF32 };
	for (size_t i = 0; i < sizeof(floats) / sizeof(*floats); i++) {
		test_statistics(floats[i], FILL_SIGNED, 0, -1, 1, 0, 0.57735);
		test_statistics(floats[i], FILL_POSITIVE, 0, 0.5, 1.5, 1, 0.288675);
	}
	test_statistics(DTYPE_F8E4M3, FILL_SIGNED, 0, -1, 1, 0, 0.57735);
	test_statistics(DTYPE_S8, FILL_SIGNED, 0, -4, 3, -0.5, 2.2913);
	test_statistics(DTYPE_U8, FILL_SIGNED, 0, 0, 7, 3.5, 2.2913);
	test_statistics(DTYPE_S32, FILL_POSITIVE, 0, 1, 8, 4.5, 2.2913);
	test_statistics(DTYPE_BOOL, FILL_SIGNED, 0, 0, 1, 0.5, 0.5);
	test_statistics(DTYPE_S64, FILL_INDEX, 1000, 0, 999, 499.5, 288.67);
	test_statistics(DTYPE_F32, FILL_ONE, 0, 1, 1, 1, 0);
	test_statistics(DTYPE_F32, FILL_SMALL, 4, -0.25, 0.25, 0, 0.144338);
	test_statistics(DTYPE_F32, FILL_FACTOR, 3, 0.03125, 0.125, 0.0729167, 0.038976);
	int same = 0;
	for (int64_t i = 0; i < 1000; i++)
		same += fill_value(1, i, FILL_SIGNED, 0, DTYPE_F32) ==
			fill_value(2, i, FILL_SIGNED, 0, DTYPE_F32);
	int powers = 0;
	for (int64_t i = 0; i < 1000; i++)
		powers += log2(fill_value(1, i, FILL_FACTOR, 5, DTYPE_F32)) ==
			floor(log2(fill_value(1, i, FILL_FACTOR, 5, DTYPE_F32)));
	is_int(powers, 1000, "factors are powers of two");
	is_int(same, 0, "another seed gives other values");
	ok(fill_value(7, INT64_C(1) << 40, FILL_SIGNED, 0, DTYPE_F32) ==
			fill_value(7, INT64_C(1) << 40, FILL_SIGNED, 0, DTYPE_F32),
		"a value is a function of its place");
	return done_testing();
}
