#include "config.h"

#include "problem/dim.h"
#include "problem/problem.h"
#include "problem/result.h"
#include "tap.h"

#include <stdlib.h>

/* text, flops, bytes: worked out by hand. */
static const struct {
	const char *text;
	double flops, bytes;
} good[] = {
	{ "conv:f32,f32.c,f32/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1", 2.0 * 64 * 64 * 9 * 56 * 56,
		4.0 * (64 * 56 * 56 * 2 + 64 * 64 * 9) },
	{ "conv:f32,f32.c,f32/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+bias:f32.c+add:f32+relu",
		(2.0 * 64 * 9 + 3) * 64 * 56 * 56, 4.0 * (64 * 56 * 56 * 3 + 64 * 64 * 9 + 64) },
	{ "conv:bf16,bf16.c,bf16/f32:n1c32h112w112k32r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1:g32+clip,0,6",
		(2.0 * 9 + 1) * 32 * 56 * 56, 2.0 * (32 * 112 * 112 + 32 * 9 + 32 * 56 * 56) },
	{ "conv:f32@nxc,f32.c,f32@nxc/f32:n1c8w100k4s3:pw1qw0:sw1:dw4:g1", 2.0 * 8 * 3 * 4 * 93, 4.0 * (800 + 96 + 372) },
	{ "conv:f32,f32.c,f32/f32:n2c3d8h8w8k4t3r3s3:pd0ph0pw0qd0qh0qw0:sd1sh1sw1:dd1dh1dw1:g1",
		2.0 * 3 * 27 * 2 * 4 * 216, 4.0 * (2 * 3 * 512 + 4 * 81 + 2 * 4 * 216) },
	{ "matmul:f32,f32.c,f32/f32:ba1bb1m128n3072k768:ta0tb1+bias:f32.c+gelu_erf", 128.0 * 3072 * (2 * 768 + 2),
		4.0 * (128 * 768 + 768 * 3072 + 128 * 3072 + 3072) },
	{ "matmul:f32,f32@s8192x64x1,f32/f32:ba12bb12m128n128k64:ta0tb0", 2.0 * 12 * 128 * 128 * 64,
		4.0 * 12 * (128 * 64 * 2 + 128 * 128) },
	{ "matmul:f32,f32,f32/f32:ba4x1bb1x3m2n2k2:ta0tb0", 2.0 * 12 * 8, 4.0 * (16 + 12 + 48) },
	{ "pool:f32,f32:max:n1c64h112w112r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1", 9.0 * 64 * 56 * 56,
		4.0 * 64 * (112 * 112 + 56 * 56) },
	{ "batchnorm:f32,f32:1x64x56x56", 2.0 * 64 * 56 * 56, 8.0 * 64 * 56 * 56 },
	{ "layernorm:f32,f32:128x768:ax1", 7.0 * 128 * 768, 8.0 * 128 * 768 },
	{ "softmax:f32,f32:soft:1x12x128x128:ax3", 5.0 * 12 * 128 * 128, 8.0 * 12 * 128 * 128 },
	{ "eltwise:f32,f32:leaky_relu,0.1:10", 10, 80 },
	{ "binary:f32,f32.c,f32:add:1x256x56x56:256x1x1", 256.0 * 56 * 56, 4.0 * (2 * 256 * 56 * 56 + 256) },
	{ "reduce:f32,f32:mean:1x64x7x7:1x64x1x1", 64.0 * 49, 4.0 * 64 * 50 },
	{ "concat:f32,f32:1x64x28x28,1x32x28x28:ax1", 0, 8.0 * 96 * 784 },
	{ "transpose:f32,f32:1x128x12x64:perm0x2x1x3", 0, 8.0 * 128 * 768 },
	{ "resample:f32,f32:nearest:n1c64h20w20:oh40ow40", 0, 4.0 * 64 * 2000 },
	{ "lrn:f32,f32:across,0.0001,0.75:1x64x56x56:n5", 13.0 * 64 * 3136, 8.0 * 64 * 3136 },
	{ "cast:f32,bf16:1x3x224x224", 0, 6.0 * 150528 },
	{ "copy:u8,u8:b602112", 0, 2.0 * 602112 },
};

static const struct {
	const char *text, *says;
} bad[] = {
	{ "", "kernel" },
	{ "conf:f32", "kernel" },
	{ "conv", "\":\"" },
	{ "conv:f33,f32.c,f32/f32:n1c64h56w56k64r3s3", "data type" },
	{ "conv:f32,f32.c,f32:n1c64h56w56k64r3s3", "accumulator" },
	{ "conv:f32,f32.c,f32/f32:n0c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1", "1 or more" },
	{ "conv:f32,f32.c,f32/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g7", "groups" },
	{ "conv:f32,f32.c,f32/f32:n1c64h2w2k64r5s5:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1", "larger than" },
	{ "conv:f32,f32.c,f32/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh0sw1:dh1dw1:g1", "stride" },
	{ "conv:f32,f32.c,f32/f32:n01c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1", "one spelling" },
	{ "conv:f32,f32.c,f32/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+", "epilogue" },
	{ "conv:f32,f32.c,f32/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+relu+relu+relu+relu+relu", "epilogue" },
	{ "conv:f32,f32.c,f32/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1 ", "the end" },
	{ "conv:f32,f32.c,f32/f32:n99999999999999999999c64h56w56", "number" },
	{ "eltwise:f32,f32:leaky_relu:10", "parameter" },
	{ "eltwise:f32,f32:leaky_relu,nan:10", "finite" },
	{ "eltwise:f32,f32:clip,0,6.0:10", "one spelling" },
	{ "eltwise:f32,f32:max:10", "mode" },
	{ "eltwise:string,f32:relu:10", "size" },
	{ "matmul:f32,f32,f32/f32:ba4bb3m2n2k2:ta0tb0", "broadcast" },
	{ "matmul:f32,f32,f32/f32:ba1bb1m2n2k2:ta2tb0", "one spelling" },
	{ "softmax:f32,f32:soft:1x12:ax2", "axis" },
	{ "transpose:f32,f32:1x2:perm0x0", "permutation" },
	{ "reduce:f32,f32:mean:2x3:2x2", "become 1" },
	{ "concat:f32,f32:1x64x28x28,1x32x28x27:ax1", "off the axis" },
	{ "eltwise:f32,f32:relu:1x1x1x1x1x1x1x1x1", "fewer" },
	{ "eltwise:f32,f32:relu:99999999999x99999999999", "1e15" },
	{ "copy:u8,u8:b0", "1 or more" },
};

static void test_texts(void)
{
	struct problem p;
	struct error err = ERROR_NONE;
	char text[PROBLEM_TEXT_SIZE];
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (!ok(problem_parse(text_of(good[i].text), &p, &err) == 0, "reads %s", good[i].text)) {
			printf("# %s\n", err.text);
			continue;
		}
		problem_format(&p, text, &err);
		is_str(text, good[i].text, "and writes it back");
		near(problem_flops(&p), good[i].flops, 1e-12, "operations");
		near(problem_bytes(&p), good[i].bytes, 1e-12, "bytes");
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err.text[0] = '\0';
		ok(problem_parse(text_of(bad[i].text), &p, &err) == -1, "refuses %s", bad[i].text);
		if (!ok(strstr(err.text, bad[i].says) != NULL, "and says why"))
			printf("# says %s, not %s\n", err.text, bad[i].says);
	}
}

/* Every proper prefix of a text is refused: none is another problem's spelling, none crashes. */
static void test_prefixes(void)
{
	int accepted = 0;
	struct problem p;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		for (size_t n = 0; n < strlen(good[i].text); n++) {
			char *copy = strndup(good[i].text, n);
			struct error err;
			char text[PROBLEM_TEXT_SIZE];
			if (problem_parse(text_of(copy), &p, &err) == 0)
				accepted += problem_format(&p, text, &err) || strcmp(text, copy) != 0;
			free(copy);
		}
	is_int(accepted, 0, "a cut text is refused or another problem, spelled its one way");
}

static void test_shapes(void)
{
	struct problem p;
	struct error err;
	problem_parse(TEXT("matmul:f32,f32,f32/f32:ba4x1bb1x3m5n6k7:ta0tb0"), &p, &err);
	struct problem_shape s = problem_operand_shape(&p, 2);
	ok(s.rank == 4 && s.dim[0] == 4 && s.dim[1] == 3 && s.dim[2] == 5 && s.dim[3] == 6, "matmul destination");
	problem_parse(TEXT("binary:f32,f32,f32:add:2x1x4:3x1"), &p, &err);
	s = problem_operand_shape(&p, 2);
	ok(s.rank == 3 && s.dim[0] == 2 && s.dim[1] == 3 && s.dim[2] == 4, "binary broadcasts both ways");
	ok(!problem_has_constant(&p), "no constant operand");
	problem_parse(TEXT("conv:f32,f32.c,f32/f32:n1c8h9w10k4r3s2:ph1pw0qh0qw0:sh2sw1:dh1dw1:g2"), &p, &err);
	s = problem_operand_shape(&p, 1);
	ok(s.rank == 4 && s.dim[0] == 4 && s.dim[1] == 4 && s.dim[2] == 3 && s.dim[3] == 2, "weights as ONNX");
	is_int(problem_out_size(&p, 1), 4, "height: asymmetric pads");
	is_int(problem_out_size(&p, 2), 9, "width");
	ok(problem_has_constant(&p), "weights are constant");
	near(problem_constant_bytes(&p), 4.0 * 4 * 4 * 3 * 2, 0, "constant bytes");
}

static void test_dims(void)
{
	struct arena a = { 0 };
	struct dim batch = dim_symbol(&a, TEXT("batch")), seq = dim_symbol(&a, TEXT("seq"));
	struct dim product = dim_mul(&a, dim_mul(&a, seq, batch), dim_known(12));
	is_str(text_clean(&a, product.text), "12*batch*seq", "products sort");
	ok(dim_same(dim_div(&a, product, dim_mul(&a, batch, dim_known(4))), dim_mul(&a, dim_known(3), seq)),
		"exact division by a product");
	ok(dim_div(&a, product, dim_known(5)).kind == DIM_UNKNOWN, "what does not divide is unknown");
	struct dim sum = dim_add(&a, dim_add(&a, seq, dim_known(1)), batch);
	is_str(text_clean(&a, sum.text), "batch+seq+1", "sums sort");
	ok(dim_same(dim_sub(&a, sum, batch), dim_add(&a, dim_known(1), seq)), "subtraction cancels");
	is_int(dim_sub(&a, sum, sum).value, 0, "to zero");
	ok(!dim_same(dim_unknown(), dim_unknown()), "unknown equals nothing");
	ok(!dim_differs(batch, dim_known(3)), "a symbol contradicts nothing");
	ok(!dim_same(dim_symbol(&a, TEXT("a+b")), dim_add(&a, dim_symbol(&a, TEXT("a")), dim_symbol(&a, TEXT("b")))),
		"a name that looks like a sum is a name");
	struct dim_binding bind[] = { { TEXT("seq"), 128 } };
	is_str(text_clean(&a, dim_bind(&a, product, bind, 1).text), "1536*batch", "partly bound");
	is_str(text_clean(&a, dim_first_symbol(dim_bind(&a, product, bind, 1))), "batch", "what is still free");
	struct dim big = dim_known(INT64_MAX);
	ok(dim_mul(&a, big, big).kind == DIM_UNKNOWN && dim_add(&a, big, big).kind == DIM_UNKNOWN, "overflow is unknown");
	ok(dim_div(&a, batch, dim_known(0)).kind == DIM_UNKNOWN, "division by zero is unknown");
	is_int(dim_div(&a, dim_known(-7), dim_known(2)).value, -4, "floor division");
	is_int(dim_mul(&a, dim_unknown(), dim_known(0)).value, 0, "zero times anything");
	is_int(dim_add(&a, dim_unknown_upto(10), dim_known(5)).upper, 15, "bounds add");
	struct shape s = shape_make(&a, 3);
	s.dims[0] = sum;
	s.dims[1] = dim_known(3);
	is_str(shape_text(&a, s), "(batch+seq+1)x3x?", "shape in words");
	ok(isnan(shape_count(s)), "an unknown count is not a number");
	is_str(shape_text(&a, shape_make(&a, 0)), "scalar", "rank 0");
	is_str(shape_text(&a, SHAPE_UNKNOWN), "?", "unknown rank");
	arena_free(&a);
}

static void test_names(void)
{
	for (int s = 0; s < STATUS_COUNT; s++)
		is_int(status_parse(status_name((enum status)s)), s, "status %s", status_name((enum status)s));
	is_int(status_parse("fine"), -1, "no such status");
	is_int(cache_parse("warm"), CACHE_WARM, "cache");
	is_int(launch_parse("isolated"), LAUNCH_ISOLATED, "launch");
	for (int t = 1; t < DTYPE_COUNT; t++)
		is_int(dtype_parse(text_of(dtype_name((enum dtype)t))), t, "dtype %s", dtype_name((enum dtype)t));
	near(dtype_bytes(DTYPE_S4, 3), 2, 0, "packed types round up");
	ok(isnan(dtype_bytes(DTYPE_STRING, 1)), "a string has no size");
}

int main(void)
{
	test_texts();
	test_prefixes();
	test_shapes();
	test_dims();
	test_names();
	return done_testing();
}
