/* Functions with an exponential against the reference in double, for each instruction set of this
 * processor. */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "runner/plain/plain_exp.h"
#include "runner/verify/check_private.h"
#include "tap.h"

enum { COUNT = 1000 };

static float value(int i)
{
	static const float extreme[] = { 0, 200, -200, -3e38f, 3e38f, -1e10f, 1e20f, -88, 1e-40f };
	return i < 9 ? extreme[i] : (float)(i % 401 - 200) * 0.1f / (float)(1 + i % 7);
}

/* Number of elements from `at` to `end` that are wrong by more than 1e-6 of the larger of 1 and the result,
 * and of those outside that are changed. */
static int wrong(const struct problem *p, int at, int end)
{
	static float from[COUNT], to[COUNT];
	int count = 0;
	for (int i = 0; i < COUNT; i++) {
		from[i] = value(i);
		to[i] = 12345;
	}
	plain_exp()->eltwise(p, from, to, at, end);
	for (int i = 0; i < COUNT; i++) {
		double want = check_eltwise(p->mode, (double)p->alpha, (double)p->beta, (double)from[i]);
		bool inside = i >= at && i < end;
		count += inside ? !(fabs((double)to[i] - want) <= 1e-6 * fmax(1, fabs(want))) :
			(double)to[i] != 12345;
	}
	return count;
}

static void test_isa(const char *cap, const char *name)
{
	int functions = 0;
	setenv("ONEDNN_MAX_CPU_ISA", cap, 1);
	if (name)
		is_str(plain_exp()->name, name, "oneDNN's limit %s holds here too", cap);
	for (int mode = MODE_NONE + 1; mode < MODE_COUNT; mode++) {
		struct problem p = { .kernel = KERNEL_ELTWISE, .mode = (enum mode)mode, .alpha = 0.7f,
			.operand = { { .dtype = DTYPE_F32 }, { .dtype = DTYPE_F32 } } };
		if (!plain_by_exp(&p))
			continue;
		functions++;
		is_int(wrong(&p, 0, COUNT) + wrong(&p, 5, 38) + wrong(&p, 16, 32) + wrong(&p, 7, 7), 0,
			"%s: %s", cap, mode_name((enum mode)mode));
		p.operand[1].dtype = DTYPE_BF16;
		ok(!plain_by_exp(&p), "%s: only f32", mode_name((enum mode)mode));
	}
	is_int(functions, 7, "%s: functions", cap);
}

int main(void)
{
	test_isa("SSE41", "base");
	test_isa("AVX2", NULL);
	test_isa("AVX512_CORE", NULL);
	return done_testing();
}
