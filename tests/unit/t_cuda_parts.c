#include "config.h"

#include "runner/gpu/cuda_buffers.h"

#include "tap.h"

/* Formats strides as "12x4x1". */
static const char *strides(const struct cuda_layout *l)
{
	static char text[160];
	int n = 0;
	for (int i = 0; i < l->shape.rank; i++)
		n += snprintf(
			text + n, sizeof(text) - (size_t)n, "%s%lld", i ? "x" : "", (long long)l->stride[i]);
	return text;
}

static struct problem parse(const char *text)
{
	struct problem p;
	struct error err = ERROR_NONE;
	if (problem_parse(text_of(text), &p, &err))
		ok(false, "%s: %s", text, err.text);
	return p;
}

static void operand(const char *text, int i, const char *want, const char *name)
{
	struct problem p = parse(text);
	struct cuda_layout l = cuda_operand_layout(&p, i, 0);
	is_str(strides(&l), want, "%s operand %d", text, i);
	is_str(cuda_layout_name(&p, i), name, "which is called %s", name);
}

#define CONV_NUMBERS "n2c4h5w6k8r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"

static void test_layouts(void)
{
	operand("conv:f32,f32.c,f32/f32:" CONV_NUMBERS, 0, "120x30x6x1", "ncx");
	operand("conv:f32,f32.c,f32/f32:" CONV_NUMBERS, 1, "36x9x3x1", "ncx");
	operand("conv:f32,f32.c,f32/f32:" CONV_NUMBERS, 2, "240x30x6x1", "ncx");
	operand("conv:f32@nxc,f32.c@nxc,f32@nxc/f32:" CONV_NUMBERS, 0, "120x1x24x4", "nxc");
	operand("conv:f32@nxc,f32.c@nxc,f32@nxc/f32:" CONV_NUMBERS, 1, "36x1x12x4", "nxc");
	operand("conv:f32@nxc,f32.c@nxc,f32@nxc/f32:" CONV_NUMBERS, 2, "240x1x48x8", "nxc");
	operand("conv:f32@nxc,f32.c@nxc,f32@nxc/"
		"f32:n1c3d4h5w6k2t1r1s1:pd0ph0pw0qd0qh0qw0:sd1sh1sw1:dd1dh1dw1:g1",
		0, "360x1x90x18x3", "nxc");
	operand("matmul:f32,f32.c,f32/f32:ba2bb2m4n8k16:ta0tb0", 0, "64x16x1", "ncx");
	operand("matmul:f32,f32.c,f32/f32:ba2bb2m4n8k16:ta1tb0", 0, "64x1x4", "ncx");
	operand("matmul:f32,f32.c,f32/f32:ba2bb2m4n8k16:ta0tb1", 1, "128x1x16", "ncx");
	operand("matmul:f32,f32.c,f32/f32:ba2bb1m4n8k16:ta0tb0", 2, "32x8x1", "ncx");
	operand("matmul:f32@s1x100x5,f32.c,f32/f32:ba2bb1m4n8k16:ta1tb0", 0, "1x100x5", "strided");
	operand("eltwise:f32@nxc,f32@nxc:relu:4x5", 0, "5x1", "nxc");
	struct problem p = parse("concat:f32,f32:2x3,2x5:ax1");
	struct cuda_layout l = cuda_operand_layout(&p, 0, 1);
	is_str(strides(&l), "5x1", "the second source of a concat");
	l = cuda_operand_layout(&p, 1, 0);
	is_str(strides(&l), "8x1", "its destination");
}

static void test_epilogues(void)
{
	struct problem p =
		parse("conv:f32@nxc,f32.c@nxc,f32@nxc/f32:" CONV_NUMBERS "+bias:f32.c+add:f32@nxc+relu");
	struct cuda_layout l = cuda_epilogue_layout(&p, 0);
	ok(l.shape.rank == 1 && l.shape.dim[0] == 8 && l.stride[0] == 1,
		"a convolution's bias: one a filter");
	l = cuda_epilogue_layout(&p, 1);
	is_str(strides(&l), "240x1x48x8", "a residual as its layout says");
	p = parse("matmul:f32,f32.c,f32/f32:ba1bb1m4n8k16:ta0tb0+bias:f32.c");
	l = cuda_epilogue_layout(&p, 0);
	is_int(l.shape.dim[0], 8, "a matrix's bias: one a column");
}

static const struct cuda_part *part(
	const struct cuda_part *parts, int count, enum check_role role, int number)
{
	for (int i = 0; i < count; i++)
		if (parts[i].kind == CUDA_PART_INPUT && parts[i].role == role && parts[i].number == number)
			return &parts[i];
	return NULL;
}

static void test_parts(void)
{
	struct cuda_part parts[CUDA_PARTS];
	double bytes[2];
	struct error err = ERROR_NONE;
	int count = 0;
	struct problem p = parse("conv:f16,f16.c,f16/f32:" CONV_NUMBERS "+bias:f16.c+add:f16");
	is_int(cuda_parts_list(&p, parts, &count, bytes, &err), 0, "parts of a convolution");
	is_int(count, 5, "source, weights, bias, residual, destination");
	const struct cuda_part *w = part(parts, count, CHECK_WEIGHTS, 0),
			       *s = part(parts, count, CHECK_SOURCE, 0);
	const struct cuda_part *b = part(parts, count, CHECK_EPILOGUE, 0),
			       *r = part(parts, count, CHECK_EPILOGUE, 1);
	ok(w && w->constant && b && b->constant && s && !s->constant && r && !r->constant,
		"weights and bias are constant");
	near(w->bytes, 288 * 2, 0, "bytes of the weights");
	ok(w->at >= CUDA_GUARD && b->at >= w->at + 288 * 2 + CUDA_GUARD, "with guards before and behind");
	ok(w->at % 256 == 0 && b->at % 256 == 0 && s->at % 256 == 0, "aligned");
	ok(bytes[1] >= (double)(b->at + 16 + CUDA_GUARD), "and room in the block");
	ok(cuda_part_seed(s) != cuda_part_seed(w) && cuda_part_seed(b) != cuda_part_seed(r),
		"each with a seed of its own");
	p = parse("gather:f32.c,s32,f32:50x4:ax0:1x12");
	cuda_parts_list(&p, parts, &count, bytes, &err);
	const struct cuda_part *i = part(parts, count, CHECK_SOURCE, 1);
	ok(i && i->fill == FILL_INDEX && i->limit == 50, "indices are within the axis");
	p = parse("binary:f32,f32,f32:div:8:8");
	cuda_parts_list(&p, parts, &count, bytes, &err);
	ok(part(parts, count, CHECK_SOURCE, 0)->fill == FILL_SIGNED &&
			part(parts, count, CHECK_SOURCE, 1)->fill == FILL_POSITIVE,
		"a divisor is positive");
	p = parse("matmul:f32,f32.c,f32/f32:ba1bb1m8n8k8:ta0tb0+bias:f32.c+mul:f32+sqrt");
	cuda_parts_list(&p, parts, &count, bytes, &err);
	bool positive = count == 5;
	for (int j = 0; j < count - 1; j++)
		positive = positive && parts[j].fill == FILL_POSITIVE;
	ok(positive, "a root at the end of a chain needs positive operands everywhere");
	p = parse("binary:f32,f32,f32:sub:8:8+add:f32+logarithm+sqrt");
	cuda_parts_list(&p, parts, &count, bytes, &err);
	const struct cuda_part *x = part(parts, count, CHECK_SOURCE, 0),
			       *y = part(parts, count, CHECK_SOURCE, 1);
	ok(x->fill == FILL_FACTOR && x->limit == -4, "sqrt(log(x - y + z)) needs a large x: 4 to 16");
	ok(y->fill == FILL_POSITIVE && part(parts, count, CHECK_EPILOGUE, 0)->fill == FILL_POSITIVE,
		"and positive y and z");
	p = parse("batchnorm:f32,f32:2x3x4x4");
	cuda_parts_list(&p, parts, &count, bytes, &err);
	is_int(count, 6, "a batch normalization has four parameters");
	ok(part(parts, count, CHECK_VARIANCE, 0)->fill == FILL_POSITIVE, "its variance is positive");
	near(part(parts, count, CHECK_MEAN, 0)->bytes, 12, 0, "one a channel");
	p = parse("topk:f32,f32:largest:4x9:ax1:k3");
	cuda_parts_list(&p, parts, &count, bytes, &err);
	ok(parts[count - 1].kind == CUDA_PART_INDICES && parts[count - 1].bytes == 4 * 3 * 8,
		"topk writes places too");
}

/* Problems whose operands cannot be held in memory. */
static void test_refused(void)
{
	struct cuda_part parts[CUDA_PARTS];
	double bytes[2];
	int count;
	struct error err = ERROR_NONE;
	struct problem p = parse("eltwise:s4,s4:relu:8");
	is_int(cuda_parts_list(&p, parts, &count, bytes, &err), -1, "types of less than a byte: %s",
		err.text);
	p = parse("matmul:f16,f16,u4/f32:ba1bb1m2n3k5:ta0tb1");
	is_int(cuda_parts_list(&p, parts, &count, bytes, &err), -1, "but as weights: %s", err.text);
	p = parse("matmul:f16,u4.c,f16/f32:ba1bb1m2n3k5:ta0tb1");
	is_int(cuda_parts_list(&p, parts, &count, bytes, &err), 0, "which are packed");
	near(parts[1].bytes, 8, 0, "two to a byte");
	p = parse("eltwise:f32@s4x1,f32:relu:2x3");
	is_int(cuda_parts_list(&p, parts, &count, bytes, &err), 0, "strides with gaps");
	near(parts[0].bytes, 28, 0, "span the gaps");
	p.operand[0].stride_rank = 1;
	is_int(cuda_parts_list(&p, parts, &count, bytes, &err), -1, "too few strides: %s", err.text);
	p.operand[0].stride_rank = 2;
	p.operand[0].stride[0] = INT64_C(1) << 60;
	is_int(cuda_parts_list(&p, parts, &count, bytes, &err), -1, "absurd strides: %s", err.text);
	p.operand[0].stride[0] = 0;
	is_int(cuda_parts_list(&p, parts, &count, bytes, &err), -1, "strides that overlap: %s", err.text);
	p.operand[0].stride[0] = 2;
	p.operand[0].stride[1] = 1;
	is_int(cuda_parts_list(&p, parts, &count, bytes, &err), -1,
		"rows of 3 that begin every 2 elements: %s", err.text);
	p.operand[0].stride[0] = 1;
	p.operand[0].stride[1] = 2;
	is_int(cuda_parts_list(&p, parts, &count, bytes, &err), 0, "transposed strides do not overlap");
}

int main(void)
{
	test_layouts();
	test_epilogues();
	test_parts();
	test_refused();
	return done_testing();
}
