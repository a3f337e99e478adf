/* The references against answers worked out by hand. */
#include "config.h"

#include <float.h>

#include "runner/verify/check.h"
#include "runner/verify/reference.h"
#include "runner/verify/domain.h"
#include "runner/verify/fill.h"
#include "runner/verify/integers.h"
#include "tap.h"

struct values {
	const double *source[4], *weights, *scale, *shift, *mean, *variance, *epilogue[2];
	double epsilon;
};

static double value_of(void *state, enum check_role role, int number, int64_t index)
{
	const struct values *v = state;
	const double *from[] = { v->source[role == CHECK_SOURCE ? number : 0], v->weights,
		v->epilogue[role == CHECK_EPILOGUE ? number : 0], v->scale, v->shift, v->mean, v->variance };
	return from[role] ? from[role][index] : NAN;
}

static struct problem parse(const char *text)
{
	struct problem p;
	struct error err = ERROR_NONE;
	if (problem_parse(text_of(text), &p, &err))
		ok(false, "%s: %s", text, err.text);
	return p;
}

static double one_of(void *state, enum check_role role, int number, int64_t index)
{
	(void)state, (void)role, (void)number, (void)index;
	return 1;
}

static int64_t volume(const struct problem_shape *s)
{
	int64_t n = 1;
	for (int i = 0; i < s->rank; i++)
		n *= s->dim[i];
	return n;
}

#define LIST(...) (const double[]){ __VA_ARGS__ }
#define IN(...) .source = { __VA_ARGS__ }
#define WITH(...) .weights = LIST(__VA_ARGS__)
#define expect(text, count, want, ...) expect_(text, count, want, (struct values){ __VA_ARGS__ })

static void expect_(const char *text, int64_t count, const double *want, struct values v)
{
	struct problem p = parse(text);
	struct check_inputs in = { .value = value_of, .state = &v, .epsilon = v.epsilon };
	struct problem_shape dst = problem_operand_shape(&p, problem_operand_count(&p) - 1);
	is_int(volume(&dst), count, "%s: outputs", text);
	for (int64_t i = 0; i < count; i++) {
		double value = NAN, scale = NAN;
		bool known = check_output(&p, &in, i, &value, &scale);
		ok(known && (fabs(value - want[i]) <= 1e-6 * fabs(want[i]) || fabs(value - want[i]) < 1e-12),
			"%s [%d] is %.9g", text, (int)i, want[i]);
		if (!known || !(fabs(value - want[i]) <= 1e-6 * fabs(want[i]) + 1e-12))
			printf("# got %.9g\n", value);
		ok(scale >= fabs(value) * (1 - 1e-12), "%s [%d]: the scale covers the value", text, (int)i);
	}
	check_forget(&in);
}

static const double counting[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };

/* A library that computes ELU as exp(x) - 1 in f32 is right near 0, where the two almost cancel. */
static void test_elu(void)
{
	static const double xs[] = { -1e-4, -2e-3, -0.5, -8, 1e-4 };
	static const char *const texts[] = { "eltwise:f32,f32:elu,1:5",
		"binary:f32,f32,f32:add:5:5+elu,1" };
	for (size_t t = 0; t < 2; t++) {
		struct problem p = parse(texts[t]);
		struct values v = { .source = { xs, (const double[]){ 0, 0, 0, 0, 0 } } };
		struct check_inputs in = { .value = value_of, .state = &v };
		for (int64_t i = 0; i < 5; i++) {
			double value = NAN, scale = NAN, x = xs[i];
			float got = x < 0 ? expf((float)x) - 1.0f : (float)x;
			check_output(&p, &in, i, &value, &scale);
			ok(fabs((double)got - value) <= 1e-6 * scale, "%s of %g by exp(x) - 1", texts[t], x);
			ok(fabs(0.9 * (double)got - value) > 1e-5 * scale || fabs(x) < 1e-3,
				"%s of %g: a tenth less is wrong", texts[t], x);
		}
		check_forget(&in);
	}
}

static void test_space(void)
{
	expect("conv:f32,f32,f32/f32:n1c1w4k1s2:pw0qw0:sw1:dw1:g1", 3, LIST(21, 32, 43), IN(counting),
		WITH(1, 10));
	expect("conv:f32,f32,f32/f32:n1c1w4k1s2:pw1qw0:sw2:dw2:g1", 2, LIST(20, 42), IN(counting),
		WITH(1, 10));
	expect("conv:f32,f32,f32/f32:n1c2w2k2s1:pw0qw0:sw1:dw1:g2", 4, LIST(3, 6, 15, 20), IN(counting),
		WITH(3, 5));
	expect("conv:f32,f32,f32/f32:n1c1h2w2k1r2s2:ph0pw0qh0qw0:sh1sw1:dh1dw1:g1+bias:f32.c+relu", 1,
		LIST(0), IN(counting), WITH(1, -1, 1, -2), .epilogue = { LIST(1) });
	expect("deconv:f32,f32,f32/f32:n1c1w2k1s3:pw0qw0:sw2:dw1:uw0:g1", 5, LIST(1, 10, 102, 20, 200),
		IN(counting), WITH(1, 10, 100));
	expect("deconv:f32,f32,f32/f32:n1c1w2k1s3:pw1qw1:sw2:dw1:uw1:g1", 4, LIST(10, 102, 20, 200),
		IN(counting), WITH(1, 10, 100));
	expect("deconv:f32,f32,f32/f32:n1c1w2k1s2:pw0qw0:sw1:dw2:uw0:g1", 4, LIST(1, 2, 10, 20), IN(counting),
		WITH(1, 10));
	expect("deconv:f32,f32,f32/f32:n1c2w2k2s1:pw0qw0:sw1:dw1:uw0:g2", 4, LIST(3, 6, 15, 20), IN(counting),
		WITH(3, 5));
	expect("deconv:f32,f32,f32/f32:n1c2w1k2s1:pw0qw0:sw1:dw1:uw0:g1+bias:f32.c", 2, LIST(121, 242),
		IN(counting), WITH(1, 2, 10, 20), .epilogue = { LIST(100, 200) });
	expect("deconv:f32,f32,f32/f32:n1c1h2w1k1r2s2:ph0pw0qh0qw0:sh1sw1:dh1dw1:uh0uw0:g1", 6,
		LIST(1, 10, 102, 1020, 200, 2000), IN(counting), WITH(1, 10, 100, 1000));
	expect("pool:f32,f32:max:n1c1w4s2:pw0qw0:sw2:dw1", 2, LIST(2, 4), IN(counting));
	expect("pool:f32,f32:avg_include:n1c1w2s2:pw1qw1:sw1:dw1", 3, LIST(0.5, 1.5, 1), IN(counting));
	expect("pool:f32,f32:avg_exclude:n1c1w2s2:pw1qw1:sw1:dw1", 3, LIST(1, 1.5, 2), IN(counting));
	expect("matmul:f32,f32,f32/f32:ba1bb1m2n2k2:ta0tb0", 4, LIST(210, 430, 430, 890),
		IN(LIST(1, 2, 3, 4)), WITH(10, 30, 100, 200));
}

static void test_resample(void)
{
	expect("resample:f32,f32:nearest:n1c1w2:ow4", 4, LIST(1, 1, 2, 2), IN(counting));
	expect("resample:f32,f32:nearest:n1c1w4:ow2", 2, LIST(1, 3), IN(counting));
	expect("resample:f32,f32:linear:n1c1w2:ow4", 4, LIST(1, 1.25, 1.75, 2), IN(counting));
	expect("resample:f32,f32:linear:n1c1h2w2:oh1ow1", 1, LIST(2.5), IN(counting));
	/* along w: 1 2 3 4 at -0.25 is 0.89453125, and 4 down at -0.25 is 4 * -0.10546875 */
	expect("resample:f32,f32:cubic:n1c1h4w4:oh1ow8", 8,
		LIST(6.89453125, 7.19140625, 7.66796875, 8.296875, 8.703125, 9.33203125, 9.80859375,
			10.10546875),
		IN(counting));
	struct problem p = parse("resample:f32,f32:cubic:n1c1h4w4:oh8ow8");
	struct values v = { .source = { counting } };
	struct check_inputs in = { .value = value_of, .state = &v };
	double value, scale;
	ok(check_output(&p, &in, 0, &value, &scale) && fabs(value - 0.47265625) < 1e-12,
		"cubic's first corner");
	ok(check_output(&p, &in, 63, &value, &scale) && fabs(value - 16.52734375) < 1e-12,
		"cubic's last corner");
}

static void test_norm(void)
{
	expect("softmax:f32,f32:soft:1x2:ax1", 2, LIST(0.25, 0.75), IN(LIST(0, log(3))));
	expect("softmax:u8,u8:soft:1x2:ax1", 2, LIST(128, 128), IN(LIST(3, 3)));
	expect("softmax:u8,s8:soft:1x2:ax1", 2, LIST(0, 0), IN(LIST(3, 3)));
	expect("softmax:f32,f32:log:2x1:ax0", 2, LIST(-log(4), -log(4) + log(3)), IN(LIST(7, 7 + log(3))));
	expect("layernorm:f32,f32:1x2:ax1", 2, LIST(8, 23), IN(LIST(1, 3)), .scale = LIST(2, 3),
		.shift = LIST(10, 20));
	expect("rmsnorm:f32,f32:2x2:ax1", 4, LIST(0.848528137, 2.26274170, 1, 2), IN(LIST(3, 4, 1, 1)),
		.scale = LIST(1, 2));
	expect("rmsnorm:f32,f32:1x2:ax1", 2, LIST(0.8, 2), IN(LIST(2, 5)), .scale = LIST(2, 2),
		.epsilon = 10.5);
	expect("instancenorm:f32,f32:1x2x2", 4, LIST(-2, 2, 2, 8), IN(LIST(1, 3, 10, 30)),
		.scale = LIST(2, 3), .shift = LIST(0, 5));
	/* two groups of two channels: 1 1 and 3 3, 10 30 and 10 30 */
	expect("groupnorm:f32,f32:1x4x2:g2", 8, LIST(-1.5, -1.5, 5.5, 5.5, 0, 6, 9, 17),
		IN(LIST(1, 1, 3, 3, 10, 30, 10, 30)), .scale = LIST(1, 3, 3, 4),
		.shift = LIST(-0.5, 2.5, 3, 13));
	expect("batchnorm:f32,f32:1x2x2", 4, LIST(0, 2, 4.5, 5.5), IN(LIST(1, 2, 3, 4)), .scale = LIST(2, 2),
		.shift = LIST(0, 5), .mean = LIST(1, 3.5), .variance = LIST(1, 4));
	expect("lrn:f32,f32:across,3,1:1x3x1:n3", 3, LIST(1.0 / 6, 2.0 / 15, 3.0 / 14), IN(counting));
	expect("reduce:f32,f32:sum:2x2:1x2", 2, LIST(4, 6), IN(counting));
	expect("reduce:f32,f32:mean:2x2:2x1", 2, LIST(1.5, 3.5), IN(counting));
	expect("reduce:f32,f32:rmax:2x2:1x1", 1, LIST(4), IN(counting));
	expect("reduce:f32,f32:rmin:2x2:1x1", 1, LIST(1), IN(counting));
	expect("reduce:f32,f32:prod:2x2:1x1", 1, LIST(24), IN(counting));
	expect("reduce:f32,f32:l2:1x2:1x1", 1, LIST(5), IN(LIST(3, 4)));
}

static void test_attention(void)
{
	expect("attention:f32,f32,f32,f32/f32:full:n1hq1hk1lq1lk2d1e2", 2, LIST(7, 2),
		IN(LIST(1), LIST(0, log(3)), LIST(4, 8, 8, 0)));
	expect("attention:f32,f32,f32,f32/f32:full:n1hq1hk1lq1lk2d4e1", 1, LIST(7),
		IN(LIST(2, 0, 0, 0), LIST(0, 1, 1, 1, log(3), 9, 9, 9), LIST(4, 8)));
	expect("attention:f32,f32,f32,f32/f32:causal:n1hq1hk1lq2lk2d1e1", 2, LIST(4, 7),
		IN(LIST(1, 1), LIST(0, log(3)), LIST(4, 8)));
	expect("attention:f32,f32,f32,f32/f32:causal:n1hq1hk1lq1lk2d1e1", 1, LIST(7),
		IN(LIST(1), LIST(0, log(3)), LIST(4, 8)));
	expect("attention:f32,f32,f32,f32/f32:full:n1hq4hk2lq1lk1d1e1", 4, LIST(5, 5, 6, 6),
		IN(LIST(1, 2, 3, 4), LIST(1, 1), LIST(5, 6)));
	expect("attention:f32,f32,f32,f32/f32:masked:n1hq2hk2lq2lk2d1e1:1x1x2x2", 4, LIST(7, 5, 7, 5),
		IN(LIST(1, 1, 1, 1), LIST(0, 0, 0, 0), LIST(4, 8, 4, 8), LIST(0, log(3), log(3), 0)));
	expect("attention:f32,f32,f32,f32/f32:masked:n2hq1hk1lq1lk2d1e1:2x1x1x2", 2, LIST(7, 5),
		IN(LIST(1, 1), LIST(0, 0, 0, 0), LIST(4, 8, 4, 8), LIST(0, log(3), log(3), 0)));
}

static void test_rnn(void)
{
	double up = log(3), most = log(9); /* sigmoid: 0.75 and 0.9; of -up 0.25 */
	double c1 = 0.75 * 0.5, c2 = 0.25 * c1 + 0.75 * 0.5;
	expect("rnn:f32,f32.c,f32:lstm:t2n1i1h1d1", 2, LIST(0.9 * tanh(c1), 0.9 * tanh(c2)), IN(LIST(0, 0)),
		WITH(0, 0, 0, 0, 0, 0, 0, 0, up, -up, atanh(0.5), most, 0, 0, 0, 0));
	/* the input's weights come before the state's; both biases count */
	double h1 = 0.9 * tanh(0.5 * 0.5), g2 = tanh(2 * h1 + atanh(0.5)), d2 = 0.5 * 0.25 + 0.5 * g2;
	expect("rnn:f32,f32.c,f32:lstm:t2n1i1h1d1", 2, LIST(h1, 0.9 * tanh(d2)), IN(LIST(1, 1)),
		WITH(0, 0, atanh(0.5), 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, most - 1));
	double a = 0.25 * tanh(0.1 + 0.25 * 0.4), b = 0.25 * tanh(0.1 + 0.25 * (2 * a + 0.4)) + 0.75 * a;
	expect("rnn:f32,f32.c,f32:gru:t2n1i1h1d1", 2, LIST(a, b), IN(LIST(0, 0)),
		WITH(0, 0, 0, 0, 0, 2, -up, up, 0.1, 0, 0, 0.4));
	/* two directions, two sequences of two inputs: n only, of w x */
	double f[2] = { 0.5 * tanh(0.3), 0 }, r[2] = { 0, 0.5 * tanh(0.5) };
	f[1] = 0.5 * tanh(0.5) + 0.5 * f[0];
	r[0] = 0.5 * tanh(0.3) + 0.5 * r[1];
	expect("rnn:f32,f32.c,f32:gru:t2n2i2h1d2", 8, LIST(f[0], 0, r[0], 0, f[1], 0, r[1], 0),
		IN(LIST(0.1, 0.2, 0, 0, 0.3, 0.2, 0, 0)),
		WITH(0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
			0));
	/* two cells: rows are gate by gate, and each cell sees the states of both */
	double x0 = 0.5 * tanh(1), x1 = 0.5 * tanh(2);
	expect("rnn:f32,f32.c,f32:gru:t2n1i1h2d1", 4,
		LIST(x0, x1, 0.5 * tanh(1 + 0.5 * x1) + 0.5 * x0, 0.5 * tanh(2) + 0.5 * x1), IN(LIST(1, 1)),
		WITH(0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
			0));
}

static void test_moves(void)
{
	expect("concat:f32,f32:2x1,2x2:ax1", 6, LIST(1, 10, 20, 2, 30, 40),
		IN(counting, LIST(10, 20, 30, 40)));
	expect("transpose:f32,f32:2x3:perm1x0", 6, LIST(1, 4, 2, 5, 3, 6), IN(counting));
	expect("cast:f32,s32:2", 2, LIST(1, 2), IN(counting));
	expect("gather:f32,s64,f32:2x3:ax1:2", 4, LIST(3, 1, 6, 4), IN(counting, LIST(2, -3)));
	expect("gather:f32,s64,f32:3x2:ax0:1x2", 4, LIST(5, 6, 1, 2), IN(counting, LIST(2, 0)));
	expect("select:bool,f32,f32,f32:2x1:1x2:1", 4, LIST(1, 2, 9, 9), IN(LIST(1, 0), counting, LIST(9)));
	expect("topk:f32,f32:largest:2x3:ax1:k2", 4, LIST(3, 2, 9, 5), IN(LIST(1, 3, 2, 9, 5, 5)));
	expect("topk:f32,f32:smallest:3x2:ax0:k2", 4, LIST(1, 2, 3, 4), IN(LIST(5, 2, 3, 4, 1, 6)));
	expect("argreduce:f32,s64:argmax:2x3:ax1", 2, LIST(1, 0), IN(LIST(1, 3, 3, 9, 5, 5)));
	expect("argreduce:f32,s64:argmin:3x2:ax0", 2, LIST(2, 0), IN(LIST(5, 2, 3, 4, 1, 6)));
	expect("scan:f32,f32:cumsum:2x3:ax1", 6, LIST(1, 3, 6, 4, 9, 15), IN(counting));
	expect("scan:f32,f32:cumsum:2x3:ax0", 6, LIST(1, 2, 3, 5, 7, 9), IN(counting));
	expect("binary:f32,f32,f32:sub:2x1:2", 4, LIST(-9, -19, -8, -18), IN(counting, LIST(10, 20)));
	expect("eltwise:f32,f32:affine,2,1:2", 2, LIST(3, 5), IN(counting));
}

static void test_accepts(void)
{
	struct values v = { .source = { LIST(1, 3, 3, 9, 5, 9) } };
	struct check_inputs in = { .value = value_of, .state = &v };
	struct problem p = parse("argreduce:f32,s64:argmax:2x3:ax1");
	bool known = false;
	ok(check_accepts(&p, &in, 0, 1, 0, &known) && check_accepts(&p, &in, 0, 2, 0, &known) && known,
		"both of two equal");
	ok(!check_accepts(&p, &in, 0, 0, 0, &known) && !check_accepts(&p, &in, 0, 3, 0, &known) &&
		!check_accepts(&p, &in, 0, -1, 0, &known) && !check_accepts(&p, &in, 0, NAN, 0, &known) &&
		!check_accepts(&p, &in, 0, 1.5, 0, &known), "no other place, and none outside");
	p = parse("topk:f32,f32:largest:2x3:ax1:k2");
	ok(check_accepts(&p, &in, 2, 0, 0, &known) && check_accepts(&p, &in, 2, 2, 0, &known) &&
			check_accepts(&p, &in, 3, 0, 0, &known) && !check_accepts(&p, &in, 3, 1, 0, &known),
		"topk's places");
	p = parse("dropout:f32,f32:drop,0.5:6");
	ok(check_accepts(&p, &in, 1, 6, 1e-6, &known) && check_accepts(&p, &in, 1, 0, 1e-6, &known) &&
		!check_accepts(&p, &in, 1, 3, 1e-6, &known), "a dropped value or a scaled one");
	struct problem whole = parse("cast:f32,s8:2"), truth = parse("cast:f32,bool:2");
	struct values parts = { .source = { LIST(2.75, -0.5) } };
	struct check_inputs of = { .value = value_of, .state = &parts };
	ok(check_accepts(&whole, &of, 0, 2, 0, &known) && check_accepts(&whole, &of, 0, 3, 0, &known) &&
			!check_accepts(&whole, &of, 0, 2.75, 0, &known) &&
			!check_accepts(&whole, &of, 1, -1, 0, &known),
		"a whole number");
	ok(check_accepts(&truth, &of, 1, 1, 0, &known) && !check_accepts(&truth, &of, 1, 0, 0, &known),
		"what is not 0 is true");
	double value, scale;
	ok(check_output(&truth, &of, 1, &value, &scale) && value == 1, "... as one answer, too");
	ok(!check_output(&p, &in, 0, &value, &scale), "dropout has no single answer");
	p = parse("scan:f32,f32:cumsum:2x3:ax1");
	ok(!check_accepts(&p, &in, 0, 1, 0, &known) && !known, "a scan has one answer");
}

static double ask(void *state, int64_t place)
{
	return ((const double *)state)[place];
}

/* What a library may do in its own way is no error; anything else is. */
static void test_expected(void)
{
	struct problem p = parse("resample:f32,f32:nearest:n1c1w4:ow2"); /* each output lies between two */
	struct values v = { IN(counting) };
	struct check_inputs in = { .value = value_of, .state = &v };
	struct reference e;
	struct error err = ERROR_NONE;
	ok(reference_make(&e, &p, &in, 2, REFERENCE_MOST, &err) == 0 && e.count == 2, "what to expect");
	ok(reference_off(&e, ask, (double[]){ 1, 3 }) == 0 && reference_off(&e, ask, (double[]){ 2, 4 }) == 0,
		"of two that are equally near either");
	ok(reference_off(&e, ask, (double[]){ 1, 2 }) > 0.1 &&
			reference_off(&e, ask, (double[]){ 1.5, 3 }) > 0.1,
		"... no other one, and none between");
	ok(isinf(reference_off(&e, ask, (double[]){ NAN, 3 })), "... and not nothing");
	p = parse("pool:f32,f32:max:n1c1w2s1:pw0qw2:sw2:dw1"); /* the second window sees padding alone */
	ok(reference_make(&e, &p, &in, 2, REFERENCE_MOST, &err) == 0, "a window that sees nothing");
	ok(reference_off(&e, ask, (double[]){ 1, -FLT_MAX }) == 0 &&
			reference_off(&e, ask, (double[]){ 1, -INFINITY }) == 0,
		"... is the least there is");
	ok(isinf(reference_off(&e, ask, (double[]){ 1, 0 })) &&
			isinf(reference_off(&e, ask, (double[]){ 1, FLT_MAX })),
		"... and nothing else");
	p = parse("resample:f32,f32:linear:n1c1w1000:ow999");
	double few, many;
	double value;
	ok(check_output(&p, &(struct check_inputs){ .value = one_of, .state = NULL }, 1, &value, &few) &&
			check_output(&p, &(struct check_inputs){ .value = one_of, .state = NULL }, 998,
				&value, &many) &&
			many > 50 * few,
		"weights far from the beginning are as exact as f32's coordinates");
	p = parse("reduce:f32,f32:l2:1x1000000:1x1");
	ok(check_output(&p, &(struct check_inputs){ .value = one_of, .state = NULL }, 0, &value, &many) &&
			fabs(value - 1000) < 1e-9 && many > 200 * value && many < 300 * value,
		"a long sum of squares may be added up one by one");
}

static void test_sample(void)
{
	struct problem p = parse("scan:f32,f32:cumsum:2x300000:ax1"),
		       r = parse("rnn:f32,f32.c,f32:lstm:t128n64i1024h1024d2");
	int64_t last = -1, bad = 0, sequences = 0, seen = -1;
	for (int64_t i = 0; i < 500; i++) {
		int64_t at = check_sample(&p, 600000, 500, i);
		bad += at <= last || at >= 600000;
		last = at;
	}
	ok(bad == 0 && last > 590000, "spread over the whole, none twice");
	is_int(check_sample(&p, 600000, 500, 0), 0, "from the first");
	is_int(last, 599999, "to the last");
	unsigned lanes = 0, tail = 0;
	for (int64_t i = 0; i < 500; i++) { /* rows of 1000, whose even parts all begin at multiples of 8 */
		int64_t column = check_sample(&p, 256000, 500, i) % 1000;
		lanes |= 1u << column % 8;
		tail += column >= 992;
	}
	ok(lanes == 0xff && tail > 0, "in every lane of a row, its end included");
	is_int(check_sample(&p, 3, 500, 2), 2, "few outputs: every one");
	bad = 0;
	for (int64_t i = 0; i < 500; i++) {
		int64_t at = check_sample(&r, INT64_C(128) * 2 * 64 * 1024, 500, i),
			sequence = at / 1024 % 128;
		sequences += sequence != seen;
		seen = sequence;
		bad += at < 0 || at >= INT64_C(128) * 2 * 64 * 1024;
	}
	ok(bad == 0 && sequences == 1, "a long rnn is looked at in one sequence");
	is_int(check_sample(&r, INT64_C(128) * 2 * 64 * 1024, 500, 499), INT64_C(128) * 2 * 64 * 1024 - 1,
		"to its end");
	r = parse("rnn:f32,f32.c,f32:lstm:t4n3i2h2d2");
	uint64_t met = 0;
	for (int64_t i = 0; i < 500; i++)
		met |= UINT64_C(1) << check_sample(&r, 48, 500, i);
	ok(met == (UINT64_C(1) << 48) - 1, "a small one everywhere");
}

/* What is off in a result is what was off before, times what an epilogue makes of it. */
static void test_scale(void)
{
	static const struct {
		const char *epilogue;
		double scale;
	} rows[] = { { "relu", 8 }, { "leaky_relu,1e02", 800 }, { "leaky_relu,0.5", 8 }, { "square", 8 },
		{ "affine,-4,3", 35 }, { "sigmoid", 8.5 }, { "hard_sigmoid,0.25,0.5", 8.5 }, { "exp", 9 },
		{ "affine,0.25,0", 2 }, { "div:f32", 16 }, { "mul:f32", 4 } };
	struct values v = { IN(LIST(-4, 1)), WITH(1, 4),
		.epilogue = { LIST(0.5) } }; /* two terms of 4, in sum 0 */
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[128];
		double value, scale = NAN;
		struct check_inputs in = { .value = value_of, .state = &v };
		snprintf(text, sizeof(text), "matmul:f32,f32,f32/f32:ba1bb1m1n1k2:ta0tb0+%s",
			rows[i].epilogue);
		struct problem p = parse(text);
		bool known = check_output(&p, &in, 0, &value, &scale);
		ok(known && fabs(scale - rows[i].scale) < 1e-3 * rows[i].scale,
			"behind terms of 8 in all %s has %g, %g", rows[i].epilogue, rows[i].scale, scale);
		check_forget(&in);
	}
}

static void test_whole(void)
{
	expect("conv:u8,s8.c,u8/s32:n1c1w2k2s1:pw0qw0:sw1:dw1:g1+scale:f32.c+bias:f32.c+relu", 4,
		LIST(2.5, 4.5, 0, 0), IN(LIST(4, 8)), WITH(1, -2),
		.epilogue = { LIST(0.5, 2), LIST(0.5, 1) });
	expect("matmul:u8,s8,f32/s32:ba1bb1m1n2k2:ta0tb0+scale:f32.c", 2, LIST(5.5, 2), IN(LIST(1, 2)),
		WITH(1, 2, 5, 3), .epilogue = { LIST(0.5, 0.25) });
	expect("quantize:f32,s8:tensor:2", 2, LIST(2, -300), IN(LIST(1, -150)), .scale = LIST(0.5));
	expect("quantize:f32,u8:tensor:2", 2, LIST(130, -172), IN(LIST(1, -150)), .scale = LIST(0.5));
	expect("quantize:f32,s8:axis:2x2x1:ax1", 4, LIST(1, 0.5, 3, 1), IN(counting), .scale = LIST(1, 4));
	expect("quantize:f32,s4:block:1x5x2:ax1:b3", 10, LIST(1, 1, 3, 2, 5, 3, 1.75, 1, 2.25, 1.25),
		IN(counting), .scale = LIST(1, 2, 4, 8));
	expect("dequantize:s8,f32:axis:2x2:ax0", 4, LIST(2, 4, 30, 40), IN(counting), .scale = LIST(2, 10));
	expect("dequantize:u8,f32:tensor:2", 2, LIST(-63.5, -63), IN(counting), .scale = LIST(0.5));
	/* 0 to 5.1 by steps of 0.02; -1 to 1.55 by steps of 0.01, zero at 100 */
	expect("quantize:f32,u8:dynamic:3", 3, LIST(50, 255, 100), IN(LIST(1, 5.1, 2)));
	expect("quantize:f32,u8:dynamic:3", 3, LIST(0, 255, 150), IN(LIST(-1, 1.55, 0.5)));
	expect("quantize:f32,u8:dynamic:2", 2, LIST(0, 0), IN(LIST(0, 0)));
	expect("rnn:f32,f32.c,f32:rnn_relu:t2n1i1h1d1", 2, LIST(0.5, 0.25), IN(LIST(0.25, -0.5)),
		WITH(1, 1, 0.125, 0.125));
	expect("rnn:f32,f32.c,f32:rnn_tanh:t1n1i1h2d1", 2, LIST(tanh(2), tanh(-3)), IN(LIST(1)),
		WITH(1, -3, 0, 0, 0, 0, 1, 0, 0, 0));
	ok(integer_error(DTYPE_U8, 3, 2.5) == 0 && integer_error(DTYPE_U8, 2, 2.5) == 0,
		"halfway either will do");
	ok(integer_error(DTYPE_U8, 3, 2.25) == 0.25, "elsewhere the nearer one");
	ok(integer_error(DTYPE_U8, 255, 999) == 0 && integer_error(DTYPE_S8, -128, -129.5) == 0,
		"beyond the range its end");
	ok(integer_error(DTYPE_S8, 127, 255) == 0 && integer_error(DTYPE_S8, -1, 255) > 100,
		"no wrapping around");
	ok(isnan(integer_error(DTYPE_U8, NAN, 1)), "no number is no answer");
	ok(integer_error(DTYPE_F32, -INFINITY, -6e38) == 0, "what does not fit into f32 is infinite");
	ok(integer_error(DTYPE_F32, INFINITY, -6e38) > 1 && integer_error(DTYPE_F32, INFINITY, 3e38) > 1,
		"but not the other way, nor early");
	ok(integer_error(DTYPE_F8E4M3, 448, 900) == 0 && integer_error(DTYPE_F8E4M3, 416, 900) > 1 &&
			integer_error(DTYPE_F8E4M3, 448, 400) > 1,
		"8-bit floats saturate");
	ok(integer_error(DTYPE_S8, 0, NAN) == 0 && integer_error(DTYPE_S8, 1, NAN) == 1 &&
			isnan(integer_error(DTYPE_F32, 0, NAN)),
		"a root of a negative integer is 0 in integers, and no number in f32");
	ok(integer_error(DTYPE_F16, INFINITY, 7e4) == 0 && integer_error(DTYPE_F16, INFINITY, 6e4) > 1,
		"each type has its end");
}

struct filled {
	const struct problem *p;
	struct fill_range range[2];
};

static double filled_value(void *state, enum check_role role, int number, int64_t index)
{
	const struct filled *f = state;
	bool second = role == CHECK_EPILOGUE || (f->p->kernel == KERNEL_BINARY && number == 1);
	struct fill_range r = f->range[second];
	return fill_value((uint64_t)role * 8 + (uint64_t)number, index, r.kind, r.limit, DTYPE_F32);
}

/* The first `changed` problems need other values than positive ones; every output of all is finite. */
static void test_domain(void)
{
	static const char *const texts[] = { "eltwise:f32,f32:logarithm:500+sqrt",
		"eltwise:f32,f32:affine,-1,1:500+sqrt", "eltwise:f32,f32:affine,-1,1:500+logarithm",
		"eltwise:f32,f32:affine,1,-1:500+pow,1,0.5",
		"eltwise:f32,f32:logarithm:500+affine,-1,0+logarithm+affine,-1,0",
		"eltwise:f32,f32:logarithm:500+sqrt+logarithm+sqrt",
		"eltwise:f32,f32:abs:500+logarithm+pow,1,-0.5",
		"matmul:f32,f32.c,f32/f32:ba1bb1m20n25k1:ta0tb0+bias:f32.c+affine,1,-0.8+sqrt",
		"conv:f32,f32.c,f32/f32:n1c1h8w8k2r1s1:ph0pw0qh0qw0:sh1sw1:dh1dw1:g1+logarithm+sqrt",
		"binary:f32,f32,f32:sub:500:500+sqrt", "eltwise:f32,f32:exp:500+sub:f32+affine,1,-1+sqrt",
		"reduce:f32,f32:mean:20x10:20x1+logarithm+sqrt",
		/* positive ones serve */
		"eltwise:f32,f32:exp:500+affine,1,1+logarithm",
		"eltwise:f32,f32:square:500+affine,1,1e-05+sqrt", "binary:f32,f32,f32:div:500:500+sqrt",
		"matmul:f32,f32.c,f32/f32:ba1bb1m8n8k64:ta0tb0+sqrt", "eltwise:f32,f32:tanh:500+logarithm",
		"reduce:f32,f32:sum:8x100:8x1+logarithm" };
	int changed = 12, count = sizeof(texts) / sizeof(texts[0]);
	for (int i = 0; i < count; i++) {
		struct problem p = parse(texts[i]);
		struct filled f = { .p = &p };
		bool chosen = fill_domain(&p, f.range);
		ok(chosen == (i < changed), "%s: %s", texts[i],
			i < changed ? "positive operands do not serve" : "positive operands serve");
		if (!chosen)
			f.range[0] = f.range[1] = (struct fill_range){ FILL_POSITIVE, 0 };
		struct check_inputs in = { .value = filled_value, .state = &f };
		struct problem_shape dst = problem_operand_shape(&p, problem_operand_count(&p) - 1);
		double value = 0, scale = 0;
		int64_t bad = 0;
		for (int64_t k = 0; k < volume(&dst); k++)
			bad += !check_output(&p, &in, k, &value, &scale) || !isfinite(value) ||
				!isfinite(scale);
		is_int(bad, 0, "%s: outputs outside the domain", texts[i]);
		check_forget(&in);
	}
	struct problem none = parse("eltwise:f32,f32:affine,0,-1:8+sqrt"),
		       whole = parse("eltwise:s32,s32:logarithm:8+sqrt");
	struct fill_range range[2];
	ok(!fill_domain(&none, range), "no values serve the root of a negative constant");
	ok(!fill_domain(&whole, range), "integers stay: NaN becomes 0 in them");
}

int main(void)
{
	test_domain();
	test_elu();
	test_space();
	test_scale();
	test_whole();
	test_resample();
	test_norm();
	test_attention();
	test_rnn();
	test_moves();
	test_accepts();
	test_expected();
	test_sample();
	return done_testing();
}
