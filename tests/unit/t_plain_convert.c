/* Conversions of plain C against the formats' own bits (fill.h). */
#include "config.h"

#include <math.h>

#include "runner/verify/fill.h"
#include "runner/plain/plain_convert.h"
#include "tap.h"

static void test_patterns(enum dtype t, int count)
{
	int wrong = 0, lost = 0;
	for (int i = 0; i < count; i++) {
		uint16_t bits = (uint16_t)i, back = 0;
		float f;
		plain_load(&f, &bits, t, 0, 1);
		double want = fill_decode(&bits, t);
		wrong += isnan(want) ? !isnan(f) : (double)f != want;
		plain_store(&back, t, 0, &f, 1);
		lost += isfinite(want) && fill_decode(&back, t) != want;
	}
	is_int(wrong, 0, "%s: every pattern is the number it stands for", dtype_name(t));
	is_int(lost, 0, "%s: and comes back, if it is a number", dtype_name(t));
}

/* Numbers of all sizes, and those halfway between two of the type's. */
static void test_rounding(enum dtype t, float step)
{
	int wrong = 0;
	uint32_t dice = 1;
	for (int i = 0; i < 200000; i++) {
		dice = dice * 1664525 + 1013904223;
		float f = i % 2 ? ldexpf((float)(int32_t)dice, (int)(dice % 60) - 60)
				: (float)((int)(dice >> 16) - 32768) * step;
		uint16_t got = 0, want = 0;
		plain_store(&got, t, 0, &f, 1);
		fill_encode((double)f, t, &want);
		wrong += got != want && fill_decode(&got, t) != fill_decode(&want, t);
	}
	is_int(wrong, 0, "%s: rounds to nearest even and saturates", dtype_name(t));
}

static void test_packed(void)
{
	const float values[] = { -9, -8, -1.5f, -0.5f, 0.5f, 6.5f, 7.5f };
	uint8_t bytes[4] = { 0xff, 0xff, 0xff, 0xff };
	float back[7];
	plain_store(bytes, DTYPE_S4, 0, values, 7);
	is_int(bytes[0], 0x88, "s4: the first in the low half, held at -8");
	is_int(bytes[1], 0x0e, "rounded to even");
	is_int(bytes[3], 0x07, "nothing behind the last");
	plain_load(back, bytes, DTYPE_S4, 0, 7);
	ok(back[0] == -8 && back[2] == -2 && back[4] == 0 && back[5] == 6 && back[6] == 7, "and back");
	plain_store(bytes, DTYPE_U4, 0, (float[]){ 15.4f, 99, -3, 2.5f }, 4);
	ok(bytes[0] == 0xff && bytes[1] == 0x20, "u4");
	plain_load(back, bytes, DTYPE_U4, 1, 3);
	ok(back[0] == 15 && back[1] == 0 && back[2] == 2, "from an odd place");
}

int main(void)
{
	test_patterns(DTYPE_F16, 65536);
	test_patterns(DTYPE_BF16, 65536);
	test_patterns(DTYPE_F8E4M3, 256);
	test_patterns(DTYPE_F8E5M2, 256);
	test_patterns(DTYPE_S8, 256);
	test_patterns(DTYPE_U8, 256);
	test_patterns(DTYPE_S16, 65536);
	test_patterns(DTYPE_U16, 65536);
	test_rounding(DTYPE_F16, 0.03125f);
	test_rounding(DTYPE_BF16, 0.03125f);
	test_rounding(DTYPE_S8, 0.0625f);
	test_rounding(DTYPE_U8, 0.0625f);
	test_rounding(DTYPE_S16, 2.5f);
	test_rounding(DTYPE_U16, 2.5f);
	test_packed();
	float nothing = NAN;
	uint8_t least = 1;
	plain_store(&least, DTYPE_U8, 0, &nothing, 1);
	is_int(least, 0, "NaN is the least whole number");
	return done_testing();
}
