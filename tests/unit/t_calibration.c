#include "config.h"

#include "analyze/analyze.h"
#include "make_plan.h"
#include "tap.h"

#include <math.h>

/* Estimates of described GPUs: the rows, which one a problem gets, the spread, and what analyses do
 * with it. */

#define CONV(type, shape) "conv:" type "," type ".c," type "/f32:" shape ":dh1dw1:g1"
#define CONV16 CONV("f16", "n32c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1")
#define CONV32 CONV("f32", "n32c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1")
#define STRIDED CONV("f32", "n32c64h56w56k64r3s3:ph1pw1qh1qw1:sh2sw2")
#define IMAGE CONV("f16", "n32c3h224w224k64r7s7:ph3pw3qh3qw3:sh2sw2")
#define DEPTHWISE "conv:f16,f16.c,f16/f32:n1c32h112w112k32r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g32"
#define MATMUL "matmul:f16,f16.c,f16/f32:ba1bb1m1000n1000k1000:ta0tb0"
#define RELU "eltwise:f16,f16:relu:1000x1000"
#define TRANSPOSE "transpose:f16,f16:1000x1000:perm1x0"
#define NORM "layernorm:f16,f16:1000x1000:ax1"
#define SQUARE "1000x1000"

/* The peaks of an A100; sm: another generation. */
static struct peaks a100(int sm)
{
	struct peaks k = peaks_unknown();
	k.bandwidth_bytes_s = 1935e9;
	k.flops[DTYPE_F32] = 19.5e12;
	k.flops[DTYPE_F16] = 78e12;
	k.matrix_flops[DTYPE_F16] = 312e12;
	k.matrix_flops[DTYPE_TF32] = 156e12;
	k.sm = sm;
	return k;
}

static struct estimate guess(const char *text, const struct peaks *k, const char *toggles)
{
	struct scenario s = scenario_default();
	struct problem p;
	struct error err = ERROR_NONE;
	scenario_parse(&s, toggles, NULL);
	if (problem_parse(text_of(text), &p, &err) < 0)
		ok(false, "%s", err.text);
	return estimate_of(&p, k, &s, NAN);
}

static double roof(const char *text, const struct peaks *k, const char *toggles)
{
	struct scenario s = scenario_default();
	struct problem p;
	scenario_parse(&s, toggles, NULL);
	problem_parse(text_of(text), &p, NULL);
	return roofline_ns(&p, k, &s);
}

static void table(void)
{
	int count, same = 0, wrong = 0, fitted = 0;
	const struct calibration_row *r = calibration_rows(&count);
	for (int i = 0; i < count; i++) {
		wrong += !(r[i].fixed_ns > 500 && r[i].fixed_ns < 1e5 && r[i].share_flops > 0 &&
			r[i].share_bytes > 0 && r[i].share_bytes <= 1 && r[i].low > 0 && r[i].low <= 1 &&
			r[i].high >= 1 && r[i].points >= 0);
		wrong += r[i].share_flops > 1 && r[i].kind != CALIBRATION_CONV_WINOGRAD;
		fitted += r[i].points > 0;
		for (int k = 0; k < i; k++)
			same += r[i].library == r[k].library && r[i].kind == r[k].kind &&
				r[i].matrix == r[k].matrix;
	}
	is_int(wrong, 0, "each row has times and shares that can be, above 1 only for Winograd");
	is_int(same, 0, "one row for each library, kind and unit");
	ok(count == 18 && fitted >= 12, "all kinds for both libraries, most of them fitted");
}

/* Checks the row that a problem gets. */
static void gets(const char *text, int sm, const char *toggles, enum calibration_kind kind, bool matrix,
	const char *what)
{
	struct peaks k = a100(sm);
	struct estimate e = guess(text, &k, toggles);
	ok(e.row && e.row->kind == kind && e.row->matrix == matrix, "%s", what);
	ok(e.row && e.row->library == CALIBRATION_NEW, "... of new libraries, launched in a row");
}

static void rows(void)
{
	gets(CONV16, 80, "matrix", CALIBRATION_CONV, true, "a convolution on matrix units");
	gets(CONV16, 70, "matrix", CALIBRATION_CONV, true, "... on a V100");
	gets(CONV16, 80, "", CALIBRATION_CONV_WINOGRAD, false, "... on plain units, 3x3: Winograd");
	gets(CONV32, 80, "matrix", CALIBRATION_CONV_WINOGRAD, false, "3x3 in f32: Winograd");
	gets(CONV32, 80, "matrix,math", CALIBRATION_CONV, true, "... in tf32 on matrix units");
	gets(STRIDED, 80, "", CALIBRATION_CONV, false, "with a stride there is no Winograd");
	gets(IMAGE, 75, "matrix", CALIBRATION_CONV_FEW, true, "three channels do not fill a matrix unit");
	gets(DEPTHWISE, 80, "matrix", CALIBRATION_CONV_GROUP, false, "depthwise");
	gets(MATMUL, 90, "matrix", CALIBRATION_MATMUL, true, "a matrix product");
	gets(RELU, 90, "matrix", CALIBRATION_MEMORY, false, "element by element");
	gets(NORM, 90, "matrix", CALIBRATION_MEMORY, false, "a kernel that nobody measured");
}

/* An isolated launch adds its time; the mode in which a library was not measured has a wider range. */
static void launches(const struct peaks *k)
{
	struct peaks volta = *k;
	struct estimate row = guess(CONV16, k, "matrix"), alone = guess(CONV16, k, "matrix,launch=isolated");
	volta.sm = 70;
	near(alone.ns - row.ns, row.row->launch_ns, 1e-9, "an isolated launch adds its time");
	ok(alone.other_launch && !row.other_launch && alone.hi / alone.ns > 1.4 * row.hi / row.ns,
		"TensorRT's layers were not launched alone: a wider range");
	row = guess(CONV16, &volta, "matrix");
	alone = guess(CONV16, &volta, "matrix,launch=isolated");
	ok(!row.other_launch && !alone.other_launch && alone.row->library == CALIBRATION_OLD,
		"alone the authors launched them, with cuDNN 7.6");
	volta = *k;
	volta.clock_share = 0.5;
	near(guess(CONV16, &volta, "matrix,launch=isolated").ns - guess(CONV16, &volta, "matrix").ns,
		row.row->launch_ns, 1e-9, "the clock does not change a launch");
	volta.clock_share = 1;
	volta.clock_mhz = 2820;
	near(guess(RELU, k, "").ns - guess(RELU, &volta, "").ns, guess(RELU, k, "").row->fixed_ns / 2, 1e-9,
		"a fixed time is of a clock of 1410 MHz");
	int count;
	const struct calibration_row *r = calibration_rows(&count);
	for (int i = 0; i < count; i++)
		for (int j = 0; j < i; j++)
			if (r[i].kind == r[j].kind && r[i].matrix == r[j].matrix)
				ok(r[i].fixed_ns == r[j].fixed_ns && r[i].launch_ns == r[j].launch_ns &&
						r[i].launch_ns > 0,
					"%s: one fixed time and one launch",
					calibration_kind_name(r[i].kind));
}

static void costs(void)
{
	struct peaks k = a100(80), slow = k, old = a100(0);
	struct estimate e = guess(CONV16, &k, "matrix"), plain = guess(CONV16, &k, "");
	near(e.ns, e.row->fixed_ns + roof(CONV16, &k, "matrix") / e.row->share_flops, 1e-9,
		"fixed time and the operations by their share");
	ok(e.lo < e.ns && e.ns < e.hi && fabs(e.lo / e.ns - e.row->low) < 1e-9 && !e.nearest,
		"the range of its row");
	ok(plain.nearest && plain.lo / plain.ns < 0.8, "a borrowed row has a wider one, and says so");
	e = guess(RELU, &k, "");
	near(e.ns, e.row->fixed_ns + roof(RELU, &k, "") / e.row->share_bytes, 1e-9,
		"bytes by their share");
	struct estimate n = guess(NORM, &k, "");
	ok(n.nearest && n.row == e.row && fabs(n.hi / n.ns - 1.5 * e.row->high) < 1e-9,
		"the nearest kind: wider by half");
	ok(!guess(TRANSPOSE, &k, "").nearest, "a transpose was measured");
	launches(&k);
	slow.clock_share = 0.5;
	e = guess(CONV16, &k, "matrix");
	near(guess(CONV16, &slow, "matrix").ns, 2 * e.ns, 1e-9, "a GPU that holds half its clock");
	slow.clock_share = 1;
	slow.bandwidth_share = 0.8;
	near(guess(CONV16, &slow, "matrix").ns, e.ns, 1e-9, "less bandwidth does not slow operations");
	ok(guess(RELU, &slow, "").ns > 1.05 * guess(RELU, &k, "").ns, "... but bytes");
	e = guess(CONV16, &old, "matrix");
	near(e.ns, roof(CONV16, &old, "matrix"), 1e-9, "not a described GPU: the pure roofline");
	ok(!e.row && isnan(e.lo) && isnan(e.hi) && !e.nearest, "... without a range");
	k.bandwidth_bytes_s = NAN;
	ok(isnan(guess(RELU, &k, "").ns) && !guess(RELU, &k, "").row, "an unknown peak, an unknown time");
}

/* Never below the roofline, and a group never above its parts. */
static void sane(void)
{
	static const char *const shapes[] = { "n1c64h56w56k64r1s1:ph0pw0qh0qw0:sh1sw1",
		"n32c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1", "n8c3h224w224k64r7s7:ph3pw3qh3qw3:sh2sw2",
		"n64c512h7w7k2048r1s1:ph0pw0qh0qw0:sh1sw1", "n1c16h4w4k16r3s3:ph1pw1qh1qw1:sh2sw2" };
	static const char *const relu = "+relu", *const add = "+add:f16+relu";
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		for (int sm = 70; sm <= 90; sm += 10) {
			char text[200], with[220];
			struct peaks k = a100(sm);
			snprintf(text, sizeof(text), "conv:f16,f16.c,f16/f32:%s:dh1dw1:g1", shapes[i]);
			double alone = guess(text, &k, "matrix").ns;
			ok(alone > roof(text, &k, "matrix"), "sm %d, %s: above the roofline", sm, shapes[i]);
			snprintf(with, sizeof(with), "%s%s", text, relu);
			near(guess(with, &k, "matrix").ns, alone, 5e-3, "... with Relu the same");
			snprintf(with, sizeof(with), "%s%s", text, add);
			struct problem p;
			problem_parse(text_of(text), &p, NULL);
			double bytes = 3 * dtype_bytes(DTYPE_F16, problem_operand_traffic(&p, 2)) /
				k.bandwidth_bytes_s * 1e9;
			ok(guess(with, &k, "matrix").ns <= alone + 1000 + bytes,
				"... with an addition no more than that by itself");
		}
}

static void analyses(void)
{
	struct maker *m = make_begin();
	struct arena a = { 0 };
	struct peaks k = a100(80);
	struct scenario s = scenario_default();
	m->dtype = m->plan.dtype = DTYPE_F16;
	int y = make_layer(m, "Relu", RELU, SQUARE, make_input(m, SQUARE), -1);
	y = make_layer(m, "LayerNormalization", NORM, SQUARE, y, -1);
	m->plan.values[y].is_output = true;
	struct ground g = { .plan = make_finish(m), .results = results_new(), .peaks = &k, .estimate = true };
	struct analysis *x = analyze(&a, &g, &s);
	struct estimate one = guess(RELU, &k, ""), two = guess(NORM, &k, "");
	near(x->total_ns, one.ns + two.ns, 1e-9, "the sum of estimates");
	near(x->lo_ns, one.lo + two.lo, 1e-9, "its range: all low ends");
	near(x->hi_ns, one.hi + two.hi, 1e-9, "... and all high ends");
	near(x->roofline_ns, roof(RELU, &k, "") + roof(NORM, &k, ""), 1e-9,
		"the roofline stays that of the peaks");
	ok(x->estimated && x->without_interval == 0 && x->coverage.estimated == 2, "marked");
	ok(x->layers[0].row == one.row && !x->layers[0].nearest && x->layers[1].nearest,
		"each layer has its row");
	is_int(x->coverage.nearest, 1, "layers by the nearest kind are counted");
	struct result r = make_result(RELU, 7e3);
	results_put((struct results *)g.results, &r);
	x = analyze(&a, &g, &s);
	near(x->layers[0].ns, 7e3, 1e-9, "a measurement is not changed");
	ok(!x->layers[0].row && x->layers[1].row, "... and has no row");
	arena_free(&a);
	results_free((struct results *)g.results);
	make_end(m);
}

int main(void)
{
	table();
	rows();
	costs();
	sane();
	analyses();
	return done_testing();
}
