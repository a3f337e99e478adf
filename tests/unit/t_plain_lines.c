/* The kernels of plain_lines.c against the reference in double, for each instruction set of this processor.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "runner/plain/plain_lines.h"
#include "runner/verify/check_private.h"
#include "tap.h"

enum { COUNT = 1000, MOST = 8192 };

/* Numbers from -2 to 2. */
static float value_at(uint64_t seed, int64_t index)
{
	uint64_t x = (seed * 0x9E3779B97F4A7C15u + (uint64_t)index + 1) * 0xBF58476D1CE4E5B9u;
	return (float)(x >> 40) / 4194304.0f - 2;
}

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
	plain_lines()->compute(
		p, &(struct plain_run){ .x = from + at, .x_step = 1, .to = to + at, .count = end - at });
	for (int i = 0; i < COUNT; i++) {
		double want = check_eltwise(p->mode, (double)p->alpha, (double)p->beta, (double)from[i]);
		bool inside = i >= at && i < end;
		count += inside ? !(fabs((double)to[i] - want) <= 1e-6 * fmax(1, fabs(want)))
				: (double)to[i] != 12345;
	}
	return count;
}

/* Operands and parameters are one function of role, number and index. */
static double input(void *state, enum check_role role, int number, int64_t index)
{
	(void)state;
	double value = (double)value_at((uint64_t)role * 8 + (uint64_t)number, index);
	return role == CHECK_VARIANCE || (role == CHECK_SOURCE && number) ? 0.5 + fabs(value) : value;
}

static int64_t volume(struct problem_shape s)
{
	int64_t n = 1;
	for (int i = 0; i < s.rank; i++)
		n *= s.dim[i];
	return n;
}

/* Largest error of a problem that three shares compute, relative to the sum of terms. */
static double error_of(const char *text, bool in_place)
{
	static float operand[PROBLEM_OPERANDS][MOST], scale[MOST], shift[MOST];
	struct check_inputs in = { .value = input, .epsilon = 1e-5 };
	struct problem p;
	struct error err;
	double worst = 0;
	if (problem_parse(text_of(text), &p, &err) ||
		(in_place ? plain_overwritten(&p) < 0 : !plain_by_lines(&p)))
		return INFINITY;
	struct plain a = { .problem = &p, .lines = plain_lines(), .scale = scale, .shift = shift };
	int last = problem_operand_count(&p) - 1, to = in_place ? plain_overwritten(&p) : last;
	int64_t total = volume(problem_operand_shape(&p, last));
	for (int64_t i = 0; i <= total; i++)
		operand[to][i] = 12345;
	for (int i = 0; i < last; i++) {
		for (int64_t j = 0; j < volume(problem_operand_shape(&p, i)); j++)
			operand[i][j] = (float)input(NULL, CHECK_SOURCE, i, j);
		a.source[i] = operand[i];
	}
	for (int64_t i = 0; i < problem_parameter_count(&p); i++) {
		double by =
			input(NULL, CHECK_SCALE, 0, i) / sqrt(input(NULL, CHECK_VARIANCE, 0, i) + in.epsilon);
		scale[i] = (float)by;
		shift[i] = (float)(input(NULL, CHECK_SHIFT, 0, i) - input(NULL, CHECK_MEAN, 0, i) * by);
	}
	a.destination = operand[to];
	for (int i = 0; i < 3; i++)
		(in_place ? plain_in_place_share : plain_share)(&a, i, 3);
	for (int64_t i = 0; i < total; i++) {
		double want, terms;
		if (!check_output(&p, &in, i, &want, &terms))
			return INFINITY;
		worst = fmax(worst, fabs((double)operand[to][i] - want) / fmax(1, terms));
	}
	check_forget(&in);
	return (double)operand[to][total] == 12345 ? worst : INFINITY;
}

static void test_problems(const char *cap)
{
	static const char *const text[] = { "batchnorm:f32,f32:2x5x7x7", "batchnorm:f32,f32:1x3x2050+relu",
		"batchnorm:f32,f32:3x17+clip,0,6+swish,1",
		"batchnorm:f32,f32:2x2100x1",
		"batchnorm:f32,f32:9x1x1", "batchnorm:f32,f32:9x1x20",
		"binary:f32.c,f32,f32:sub:1x2x40:8x2x40",
		"binary:f32,f32,f32:div:2x3x1x5:1x3x4x1", "binary:f32,f32,f32:mul:1x9x1x1:3x9x5x7+relu",
		"binary:f32,f32,f32:maximum:7x1:1x33", "binary:f32,f32,f32:add:1x1:70x3",
		"binary:f32,f32,f32:minimum:5x1x4:5x6x1", "binary:f32,f32,f32:add:5x1x4x1x3:6x1x2x1",
		"softmax:f32,f32:soft:3x1:ax1",
		"softmax:f32,f32:soft:7x15:ax1", "softmax:f32,f32:soft:7x16:ax1",
		"softmax:f32,f32:soft:5x47:ax1", "softmax:f32,f32:soft:2x3x128:ax2",
		"softmax:f32,f32:soft:2x5x37:ax1",
		"softmax:f32,f32:soft:16x3x100:ax0",
		"eltwise:f32,f32:swish,1:3x50+affine,2,1" };
	setenv("ONEDNN_MAX_CPU_ISA", cap, 1);
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		double error = error_of(text[i], false);
		ok(error < 2e-6, "%s: %s: error %.1e", cap, text[i], error);
	}
}

static void test_in_place(const char *cap)
{
	static const char *const text[] = { "eltwise:f32,f32:relu:3x50", "eltwise:f32,f32:sigmoid:7x9x33",
		"batchnorm:f32,f32:2x5x7x7+relu", "binary:f32,f32,f32:sub:4x40:4x40",
		"binary:f32,f32,f32:div:1x40:8x40", "binary:f32,f32.c,f32:mul:3x9x5x7:9x1x1+relu",
		"softmax:f32,f32:soft:5x47:ax1", "softmax:f32,f32:soft:2x5x137:ax1",
		"batchnorm:f32,f32:5x43", "eltwise:f32,f32:affine,2,1:3x17" };
	static const char *const refused[] = { "binary:f32,f32,f32:add:1x4:4x1",
		"eltwise:bf16,bf16:relu:3x50", "binary:f32.c,f32,f32:add:4x4:1x4",
		"eltwise:f32,f32:sqrt:3x50" };
	struct problem p;
	setenv("ONEDNN_MAX_CPU_ISA", cap, 1);
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		double error = error_of(text[i], true);
		ok(error < 2e-6, "%s: in place: %s: error %.1e", cap, text[i], error);
	}
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		ok(problem_parse(text_of(refused[i]), &p, NULL) == 0 && plain_overwritten(&p) < 0,
			"no source of %s can be overwritten", refused[i]);
}

static int runs;

static void count_run(const struct problem *p, const struct plain_run *r)
{
	(void)p;
	(void)r;
	runs++;
}

/* The cost of a run's start is small beside its elements: as few runs as the operands allow. */
static void test_runs(void)
{
	static const struct { const char *text; int most; } expected[] = {
		{ "batchnorm:f32,f32:64x1024", 66 },
		{ "batchnorm:f32,f32:64x1024x1x1", 66 },
		{ "batchnorm:f32,f32:4x8x7x7", 34 },
		{ "binary:f32,f32,f32:add:1x64x1x1:32x64x1x1", 34 },
		{ "eltwise:f32,f32:swish,1:64x32", 3 },
	};
	static const struct plain_lines counting = { "counting", count_run, NULL, NULL };
	static const float number[1024];
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		struct problem p;
		struct error err;
		struct plain a = { .problem = &p, .lines = &counting, .scale = number, .shift = number };
		a.source[0] = a.source[1] = number;
		a.destination = (void *)(uintptr_t)number;
		runs = 0;
		ok(!problem_parse(text_of(expected[i].text), &p, &err), "%s", expected[i].text);
		for (int share = 0; share < 3; share++)
			plain_share(&a, share, 3);
		ok(runs > 0 && runs <= expected[i].most, "%s: %d runs", expected[i].text, runs);
	}
}

/* Row or column 1 of three has the number `strange`, the others are zeros. */
static void test_strange(const char *cap, bool columns, int place, float strange, double rest)
{
	enum { N = 37 };
	float from[3 * N] = { 0 }, to[3 * N];
	int step = columns ? 3 : 1, bad = 0;
	setenv("ONEDNN_MAX_CPU_ISA", cap, 1);
	from[columns ? place * 3 + 1 : N + place] = strange;
	for (int row = 0; row < 3 && !columns; row++)
		plain_lines()->softmax(from + row * N, to + row * N, N);
	if (columns)
		plain_lines()->softmax_columns(from, to, N, 3, 3);
	for (int row = 0; row < 3; row++)
		for (int i = 0; i < N; i++) {
			double got = (double)to[row * (columns ? 1 : N) + i * step];
			double want = row != 1 ? 1.0 / N : i == place ? 1 - (N - 1) * rest : rest;
			bad += isnan(want) ? !isnan(got) : !(fabs(got - want) < 1e-6);
		}
	is_int(bad, 0, "%s: %g at %d of a %s: only what it reaches", cap, (double)strange, place,
		columns ? "column" : "row");
}

static void test_refused(void)
{
	static const char *const text[] = { "batchnorm:f16,f16:2x5x7x7", "binary:f32,f32,f32:add:4x4:4x4",
		"binary:f32,f32,f32:eq:1x4:4x4",
		"softmax:f32,f32:log:3x5:ax1", "batchnorm:f32,f32:2x5x7x7+sqrt", "eltwise:f32,f32:relu:4x4" };
	struct problem p;
	struct error err;
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		ok(!problem_parse(text_of(text[i]), &p, &err) && !plain_by_lines(&p), "refused: %s", text[i]);
}

static void test_isa(const char *cap, const char *name)
{
	int functions = 0;
	setenv("ONEDNN_MAX_CPU_ISA", cap, 1);
	if (name)
		is_str(plain_lines()->name, name, "oneDNN's limit %s holds here too", cap);
	for (int mode = MODE_NONE + 1; mode < MODE_COUNT; mode++) {
		struct problem p = { .kernel = KERNEL_ELTWISE,
			.mode = (enum mode)mode,
			.alpha = 0.7f,
			.operand = { { .dtype = DTYPE_F32 }, { .dtype = DTYPE_F32 } } };
		if (!plain_by_lines(&p))
			continue;
		functions++;
		is_int(wrong(&p, 0, COUNT) + wrong(&p, 5, 38) + wrong(&p, 16, 32) + wrong(&p, 7, 7), 0,
			"%s: %s", cap, mode_name((enum mode)mode));
		p.operand[1].dtype = DTYPE_BF16;
		ok(!plain_by_lines(&p), "%s: only f32", mode_name((enum mode)mode));
	}
	is_int(functions, 7, "%s: functions", cap);
}

int main(void)
{
	static const char *const caps[] = { "SSE41", "AVX2", "AVX512_CORE" };
	for (int i = 0; i < 3; i++) {
		test_isa(caps[i], i ? NULL : "base");
		test_problems(caps[i]);
		test_in_place(caps[i]);
		for (int place = 0; place < 37; place += 18)
			for (int columns = 0; columns < 2; columns++) {
				test_strange(caps[i], columns, place, NAN, NAN);
				test_strange(caps[i], columns, place, INFINITY, NAN);
				test_strange(caps[i], columns, place, -INFINITY, 1.0 / 36);
				test_strange(caps[i], columns, place, 3e38f, 0);
				test_strange(caps[i], columns, place, 1e-40f, 1.0 / 37);
			}
	}
	test_runs();
	test_refused();
	return done_testing();
}
