/* Matmuls in cuBLASLt: a fake computes from the descriptors, and the results must equal those of plain C. */
#include "config.h"

#include "tap.h"

#include <dlfcn.h>
#include <string.h>

#include "cuda_standin.h"
#include "fake_cublaslt.h"
#include "runner/cublaslt/cublaslt_case.h"
#include "runner/cublaslt/cublaslt_names.h"

static const struct {
	const char *text;
	double most; /* maximum error */
	int calls;
	int batch;
	const char *note; /* in the notes of every algorithm; NULL: no note about batches */
} products[] = {
	{ "matmul:f32,f32.c,f32/f32:ba1bb1m5n7k3:ta0tb0", 1e-6, 1, 1, NULL },
	{ "matmul:f32,f32.c,f32/f32:ba1bb1m5n7k3:ta1tb0", 1e-6, 1, 1, NULL },
	{ "matmul:f32,f32.c,f32/f32:ba1bb1m5n7k3:ta0tb1", 1e-6, 1, 1, NULL },
	{ "matmul:f32,f32.c,f32/f32:ba1bb1m5n7k3:ta1tb1", 1e-6, 1, 1, NULL },
	/* vectors */
	{ "matmul:f32,f32.c,f32/f32:ba1bb1m1n7k3:ta0tb0", 1e-6, 1, 1, NULL },
	{ "matmul:f32,f32.c,f32/f32:ba1bb1m1n7k3:ta1tb1", 1e-6, 1, 1, NULL },
	{ "matmul:f32,f32.c,f32/f32:ba1bb1m5n1k3:ta0tb0", 1e-6, 1, 1, NULL },
	{ "matmul:f32,f32.c,f32/f32:ba1bb1m5n1k3:ta0tb1", 1e-6, 1, 1, NULL },
	{ "matmul:f32,f32,f32/f32:ba1bb1m5n7k1:ta1tb0", 1e-6, 1, 1, NULL },
	{ "matmul:f32,f32,f32/f32:ba1bb1m1n1k9:ta0tb0", 1e-6, 1, 1, NULL },
	/* batches: strided, one side broadcast, folded into rows, two that cannot be merged */
	{ "matmul:f32,f32,f32/f32:ba4bb4m5n7k3:ta0tb0", 1e-6, 1, 4, NULL },
	{ "matmul:f32,f32,f32/f32:ba4bb4m5n7k3:ta0tb1", 1e-6, 1, 4, NULL },
	{ "matmul:f32,f32,f32/f32:ba4bb4m1n7k3:ta0tb1", 1e-6, 1, 4, NULL },
	{ "matmul:f32,f32,f32/f32:ba1bb4m5n7k3:ta0tb0", 1e-6, 1, 4, NULL },
	{ "matmul:f32,f32.c,f32/f32:ba4bb1m5n7k3:ta0tb0", 1e-6, 1, 1, "rows_folded=4" },
	{ "matmul:f32,f32.c,f32/f32:ba4bb1m1n7k3:ta0tb1+bias:f32.c", 1e-6, 1, 1, "rows_folded=4" },
	{ "matmul:f32,f32.c,f32/f32:ba4bb1m5n7k3:ta1tb0", 1e-6, 1, 4, NULL },
	{ "matmul:f32,f32,f32/f32:ba4x1bb1x3m5n7k3:ta0tb0", 1e-6, 3, 4, "calls=3" },
	{ "matmul:f32,f32,f32/f32:ba1x6bb4x1m5n7k3:ta0tb1+bias:f32.c+relu", 1e-6, 1, 4, "rows_folded=6" },
	{ "matmul:f32,f32,f32/f32:ba1x6bb4x1m5n7k3:ta1tb1+bias:f32.c+relu", 1e-6, 4, 6, "calls=4" },
	{ "matmul:f32,f32,f32/f32:ba2x1x3bb2x5x3m2n3k4:ta0tb0", 1e-6, 2 * 3, 5, "calls=6" },
	/* permuted operands: attention heads between the rows */
	{ "matmul:f32@s20x4x1,f32@s36x1x6,f32/f32:ba3bb3m5n6k4:ta0tb0", 1e-6, 1, 3, NULL },
	{ "matmul:f32@s8x40x1,f32@s8x1x40,f32/f32:ba5bb5m6n6k8:ta0tb0", 1e-6, 1, 5, NULL },
	/* epilogues */
	{ "matmul:f32,f32.c,f32/f32:ba1bb1m5n7k3:ta0tb0+bias:f32.c", 1e-6, 1, 1, NULL },
	{ "matmul:f32,f32.c,f32/f32:ba1bb1m5n7k3:ta0tb0+relu", 1e-6, 1, 1, NULL },
	{ "matmul:f32,f32.c,f32/f32:ba1bb1m5n7k3:ta0tb0+gelu_tanh", 1e-6, 1, 1, NULL },
	{ "matmul:f32,f32.c,f32/f32:ba1bb1m5n7k3:ta0tb1+bias:f32.c+relu", 1e-6, 1, 1, NULL },
	{ "matmul:f32,f32.c,f32/f32:ba1bb1m5n7k3:ta0tb0+bias:f32.c+gelu_tanh", 1e-6, 1, 1, NULL },
	{ "matmul:f32,f32.c,f32/f32:ba1bb1m5n7k3:ta0tb0+add:f32", 1e-6, 1, 1, NULL },
	{ "matmul:f32,f32.c,f32/f32:ba4bb1m5n7k3:ta0tb0+bias:f32.c+add:f32+relu", 1e-6, 1, 1,
		"rows_folded=4" },
	{ "matmul:f32,f32,f32/f32:ba4x1bb1x3m5n7k3:ta0tb0+add:f32+bias:f32.c", 1e-6, 3, 4, "calls=3" },
	/* types */
	{ "matmul:f16,f16.c,f16/f32:ba1bb1m5n7k3:ta0tb0+bias:f16.c+relu", 1e-6, 1, 1, NULL },
	{ "matmul:f16,f16.c,f32/f32:ba1bb1m5n7k3:ta0tb0", 1e-6, 1, 1, NULL },
	{ "matmul:bf16,bf16.c,bf16/f32:ba2bb2m5n7k3:ta0tb1+add:bf16", 1e-6, 1, 2, NULL },
	{ "matmul:s8,s8.c,s32/s32:ba1bb1m5n7k3:ta0tb1", 0, 1, 1, NULL },
	{ "matmul:s8,s8.c,s8/s32:ba1bb1m5n7k3:ta0tb1", 0, 1, 1, NULL },
	{ "matmul:s8,s8.c,s8/s32:ba1bb1m5n7k3:ta0tb1+scale:f32.c", 1e-6, 1, 1, NULL },
	{ "matmul:s8,s8.c,s8/s32:ba4bb1m5n7k3:ta0tb1+scale:f32.c+bias:f32.c+relu", 1e-6, 1, 1,
		"rows_folded=4" },
	{ "matmul:f64,f64.c,f64/f64:ba1bb1m5n7k3:ta0tb0", 1e-12, 1, 1, NULL },
	{ "matmul:f8e4m3,f8e4m3.c,bf16/f32:ba1bb1m5n7k3:ta0tb1+bias:bf16.c", 1e-6, 1, 1, NULL },
	{ "matmul:f8e4m3,f8e4m3.c,bf16/f32:ba1bb1m5n7k3:ta0tb0+bias:bf16.c", 1e-6, 1, 1, NULL },
	{ "matmul:f8e5m2,f8e4m3.c,f16/f32:ba3bb1m5n1k3:ta0tb0", 1e-6, 1, 1, "rows_folded=3" },
	{ "matmul:f8e4m3,f8e4m3.c,f16/f32:ba2bb2m5n7k3:ta0tb0", 1e-6, 1, 2, NULL },
	{ "matmul:f8e4m3,f8e4m3.c,f8e4m3/f32:ba1bb1m5n7k3:ta0tb1", 1e-6, 1, 1, NULL },
	{ "matmul:f8e4m3,f8e4m3.c,f8e4m3/f32:ba1bb1m5n7k3:ta0tb1+bias:f16.c+relu", 1e-6, 1, 1, NULL },
	{ "matmul:f8e4m3,f8e5m2.c,f16/f32:ba1bb1m5n7k3:ta0tb1+add:f16", 1e-6, 1, 1, NULL },
	{ "matmul:f8e4m3,f8e4m3.c,bf16/f32:ba3bb1m5n7k3:ta0tb1+scale:f32.c+bias:bf16.c", 1e-6, 1, 1,
		"rows_folded=3" },
};

static void test_products(void)
{
	for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
		struct backend_list list;
		struct error err = ERROR_NONE;
		bool good = true;
		double most = 0;
		if (!ok(standin_ask(&backend_cublaslt, products[i].text, &list, &err) > 0, "%s is offered",
			    products[i].text)) {
			printf("# %s\n", err.text);
			continue;
		}
		for (int j = 0; j < list.count; j++) {
			int before = fake_cublaslt.calls;
			double worst = standin_worst(&list, j, &err);
			most = worst > most || worst != worst ? worst : most;
			good = good && worst <= products[i].most &&
				fake_cublaslt.calls - before == products[i].calls &&
				fake_cublaslt.batch == products[i].batch &&
				standin_workspace_bytes == list.algorithm[j].workspace_bytes;
			const char *notes = list.algorithm[j].notes;
			good = good &&
				(products[i].note ? strstr(notes, products[i].note) != NULL
						  : !strchr(notes, '='));
		}
		if (!ok(good, "%s is computed rightly by all %d", products[i].text, list.count))
			printf("# error %g, %d calls, batch %d: %s %s\n", most, fake_cublaslt.calls,
				fake_cublaslt.batch, list.algorithm[0].notes, err.text);
		backend_cublaslt.forget(&list);
	}
	is_int(fake_cublaslt.created, fake_cublaslt.destroyed, "every descriptor was given back");
	is_int(fake_cublaslt.handles, 1, "one handle");
}

/* Constants of 8 bits are laid out by column, which the matrix units need; scales are passed. */
static void test_eight_bits(void)
{
	struct backend_list list;
	struct error err;
	fake_cublaslt.transposed_only = true;
	ok(standin_ask(&backend_cublaslt, "matmul:s8,s8.c,s32/s32:ba1bb1m5n7k3:ta0tb0", &list, &err) > 0,
		"s8 weights by row");
	is_str(list.algorithm[0].layouts, "a=ncx b=strided dst=ncx", "are repacked");
	near(standin_worst(&list, 0, &err), 0, 0, "and right");
	ok(fake_cublaslt.scale[0] == 0, "integers have no scale pointers");
	backend_cublaslt.forget(&list);
	is_int(standin_ask(&backend_cublaslt, "matmul:s8,s8,s32/s32:ba1bb1m5n7k3:ta0tb0", &list, &err), -1,
		"not if they are not constant");
	fake_cublaslt.transposed_only = false;
	standin_ask(&backend_cublaslt, "matmul:f8e4m3,f8e4m3.c,f8e4m3/f32:ba1bb1m5n7k3:ta0tb0", &list, &err);
	near(standin_worst(&list, 0, &err), 0, 1e-6, "8-bit floats by row");
	ok(fake_cublaslt.scale[0] == 0.25 && fake_cublaslt.scale[1] == 4 && fake_cublaslt.scale[2] == 0.5,
		"with scales of both sources and of the destination, none of which is 1");
	backend_cublaslt.forget(&list);
	standin_ask(&backend_cublaslt, "matmul:f8e4m3,f8e4m3.c,f16/f32:ba1bb1m5n7k3:ta0tb1", &list, &err);
	near(standin_worst(&list, 0, &err), 0, 1e-6, "to f16");
	ok(fake_cublaslt.scale[0] == 0.25 && fake_cublaslt.scale[1] == 4 && fake_cublaslt.scale[2] == 0,
		"only those of the sources");
	backend_cublaslt.forget(&list);
	is_int(fake_cublaslt.created, fake_cublaslt.destroyed, "and their memory was given back");
}

/* ---- products with ones ---- */

/* Sums of rows and columns, of a batch, of images, running ones: one product each, by every algorithm. */
static void test_ones(void)
{
	static const struct {
		const char *text, *side;
		int batch;
		int64_t rows, cols; /* of the product, column-major */
	} sums[] = {
		{ "reduce:f32,f32:sum:6x10:6x1", "ones_right:", 1, 6, 1 },
		{ "reduce:f32,f32:mean:6x10:6x1", "ones_right:", 1, 6, 1 },
		{ "reduce:f16,f16:sum:6x16:6x1", "ones_right:", 1, 6, 1 },
		{ "reduce:f16,f32:mean:6x16:6x1", "ones_right:", 1, 6, 1 },
		{ "reduce:bf16,bf16:mean:6x16:6x1", "ones_right:", 1, 6, 1 },
		{ "reduce:f32,f32:sum:6x10:1x10", "ones_left:", 1, 10, 1 },
		{ "reduce:f32,f32:sum:6x10:1x1", "ones_right:", 1, 1, 1 },
		{ "reduce:f32,f32:mean:3x6x10:3x1x10", "ones_left:", 3, 10, 1 },
		{ "reduce:f32,f32:mean:3x6x10:3x1x10+relu", "ones_left:", 3, 10, 1 },
		{ "reduce:f32,f32:sum:3x6x10:3x1x1", "ones_right:", 1, 3, 1 },
		{ "reduce:f32@nxc,f32:mean:3x4x5x6:3x4x1x1", "ones_left:", 3, 4, 1 },
		{ "reduce:f32@s20x1,f32:sum:6x10:6x1", "ones_right:", 1, 6, 1 },
		{ "reduce:f32@s1x8,f32:sum:6x10:6x1", "ones_left:", 1, 6, 1 },
		{ "pool:f16,f16:avg_exclude:n2c3h4w5r4s5:ph0pw0qh0qw0:sh1sw1:dh1dw1", "ones_right:", 1, 6,
			1 },
		{ "pool:f32@nxc,f32@nxc:avg_include:n2c3h4w5r4s5:ph0pw0qh0qw0:sh1sw1:dh1dw1", "ones_left:", 2,
			3, 1 },
		{ "scan:f32,f32:cumsum:6x10:ax1", "ones_right:", 1, 10, 6 },
		{ "scan:f32,f32:cumsum:6x10:ax0", "ones_left:", 1, 10, 6 },
		{ "scan:f16,f16:cumsum:3x6x10:ax1", "ones_left:", 3, 10, 6 },
	};
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
		struct backend_list list;
		struct error err = ERROR_NONE;
		bool good = standin_ask(&backend_cublaslt, sums[i].text, &list, &err) > 0;
		for (int j = 0; j < list.count; j++) {
			const struct algorithm *a = &list.algorithm[j];
			int before = fake_cublaslt.calls;
			double worst = standin_worst(&list, j, &err);
			bool one = worst <= 1e-6 && fake_cublaslt.calls == before + 1 &&
				fake_cublaslt.batch == sums[i].batch &&
				(int64_t)fake_cublaslt.rows == sums[i].rows &&
				(int64_t)fake_cublaslt.cols == sums[i].cols &&
				strncmp(a->name, sums[i].side, strlen(sums[i].side)) == 0 &&
				strcmp(a->math, "f16_accumulate") != 0 && strncmp(a->layouts, "src=", 4) == 0;
			if (!one)
				printf("# %s %s: error %g, batch %d of %d x %d\n", a->name, a->math,
					worst, fake_cublaslt.batch, (int)fake_cublaslt.rows,
					(int)fake_cublaslt.cols);
			good = good && one;
		}
		if (!ok(good, "%s is one product with ones, by %d ways", sums[i].text, list.count))
			printf("# %s\n", err.text);
		if (list.count)
			backend_cublaslt.forget(&list);
	}
	is_int(fake_cublaslt.created, fake_cublaslt.destroyed, "the ones were freed");
}

static void test_ones_refused(void)
{
	static const char *const refused[][2] = {
		{ "reduce:f32,f32:rmax:6x10:6x1", "only sums, means" },
		{ "reduce:s32,s32:sum:6x10:6x1", "only f32, bf16 and f16" },
		{ "reduce:f32,f32:sum:2x3x4:1x3x1", "only sums along adjacent" },
		{ "reduce:f32@s99x3,f32:sum:6x10:6x1", "only sums of dense rows or columns" },
		{ "reduce:f32,f32@s1x6:sum:6x10x2:6x1x2", NULL },
		{ "scan:f32,f32@s1x6:cumsum:6x10:ax1", "only dense results" },
		{ "reduce:f32,f32:sum:2x16777217:2x1", "only sums of at most 2^24" },
		{ "scan:f32,f32:cumsum:6x513:ax1", "only running sums of at most 512" },
		{ "reduce:f32,f32:sum:6x10:6x1+mul:f32", "only element-wise epilogues" },
		{ "reduce:f32,f32:sum:6x10:6x1+swish,1", "cuBLASLt does not fuse swish" },
		{ "reduce:f32,f16:sum:6x10:6x1", "cuBLASLt has no matmul of f32 with output f16" },
	};
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct backend_list list;
		struct error err = ERROR_NONE;
		ok(standin_ask(&backend_cublaslt, refused[i][0], &list, &err) < 0, "%s: %s", refused[i][0],
			err.text);
		if (refused[i][1])
			ok(strncmp(err.text, refused[i][1], strlen(refused[i][1])) == 0, "is its reason");
	}
}

/* ---- random problems ---- */

static uint32_t seed = 20200518;

static int dice(int sides)
{
	seed = seed * 1664525 + 1013904223;
	return (int)(seed >> 8) % sides;
}

/* Makes strides with dense rows or columns and the other dimensions in any order, sometimes with gaps. */
static void strides_random(struct operand *o, const struct problem_shape *s)
{
	int order[PROBLEM_RANK], rank = s->rank, last = rank - 1 - dice(2);
	for (int i = 0; i < rank; i++)
		order[i] = i;
	order[last] = order[rank - 1];
	order[rank - 1] = last;
	for (int i = rank - 2; i > 0; i--) {
		int j = dice(i + 1), swap = order[i];
		order[i] = order[j];
		order[j] = swap;
	}
	int64_t step = 1;
	o->layout = LAYOUT_STRIDES;
	o->stride_rank = rank;
	for (int i = rank - 1; i >= 0; i--) {
		o->stride[order[i]] = step;
		step = step * s->dim[order[i]] + dice(2) * dice(3);
	}
}

static void epilogues_random(struct problem *p)
{
	static const enum mode modes[] = { MODE_RELU, MODE_GELU_TANH };
	struct operand plain = { .dtype = DTYPE_F32 };
	if (dice(2))
		p->epilogue[p->epilogue_count++] =
			(struct epilogue){ .kind = EPILOGUE_BIAS, .operand = plain };
	if (dice(2)) {
		p->epilogue[p->epilogue_count++] =
			(struct epilogue){ .kind = EPILOGUE_BINARY, .mode = MODE_ADD, .operand = plain };
		struct problem_shape s = problem_operand_shape(p, 2);
		struct operand *o = &p->epilogue[p->epilogue_count - 1].operand;
		if (dice(3) == 0) {
			strides_random(o, &s);
			if (o->stride[s.rank - 1] != 1) /* a residual needs dense rows */
				*o = plain;
		}
	}
	if (dice(2))
		p->epilogue[p->epilogue_count++] =
			(struct epilogue){ .kind = EPILOGUE_ELTWISE, .mode = modes[dice(2)] };
}

static void problem_random(struct problem *p)
{
	*p = (struct problem){ .kernel = KERNEL_MATMUL,
		.accumulator = DTYPE_F32,
		.m = 1 + dice(4),
		.mn = 1 + dice(4),
		.mk = 1 + dice(4),
		.transpose_a = dice(2),
		.transpose_b = dice(2) };
	for (int i = 0; i < 3; i++)
		p->operand[i].dtype = DTYPE_F32;
	p->batch_a.rank = p->batch_b.rank = 1 + dice(3);
	for (int i = 0; i < p->batch_a.rank; i++) {
		int64_t size = 1 + dice(3);
		p->batch_a.dim[i] = dice(3) ? size : 1;
		p->batch_b.dim[i] = dice(3) ? size : 1;
	}
	for (int i = 0; i < 2; i++)
		if (dice(3) == 0) {
			struct problem_shape s = problem_operand_shape(p, i);
			strides_random(&p->operand[i], &s);
		}
	epilogues_random(p);
}

static void test_random(void)
{
	int tried = 0, right = 0, folded = 0, looped = 0, strided = 0;
	for (int i = 0; i < 1500; i++) {
		struct problem p;
		struct backend_list list;
		struct error err = ERROR_NONE;
		char text[PROBLEM_TEXT_SIZE];
		problem_random(&p);
		if (problem_format(&p, text, &err))
			continue; /* other notation of the batch dimensions */
		tried++;
		double worst = standin_ask(&backend_cublaslt, text, &list, &err) > 0
			? standin_worst(&list, 0, &err)
			: NAN;
		if (worst <= 1e-6)
			right++;
		else
			printf("# %s: %g %s\n", text, worst, err.text);
		folded += list.count > 0 && strstr(list.algorithm[0].notes, "rows_folded") != NULL;
		looped += list.count > 0 && strstr(list.algorithm[0].notes, "calls") != NULL;
		strided += strchr(text, '@') != NULL;
		if (list.count > 0)
			backend_cublaslt.forget(&list);
	}
	is_int(right, tried, "problems at random are computed rightly");
	ok(tried > 300 && folded > 30 && looped > 30 && strided > 100,
		"of all kinds: %d, %d folded, %d in several calls, "
		"%d with strides",
		tried, folded, looped, strided);
	is_int(fake_cublaslt.created, fake_cublaslt.destroyed, "every descriptor was given back");
}

/* What the heuristics offer may still be refused by the multiplication itself. */
/* Beyond the heuristics: all settings that cuBLASLt accepts, each once. */
static void test_all(void)
{
	static const char text[] = "matmul:f16,f16.c,f32/f32:ba1bb1m5n7k3:ta0tb0";
	struct backend_list list;
	struct error err = ERROR_NONE;
	struct str names = { 0 };
	fake_cublaslt.checked = 0;
	int few = standin_ask(&backend_cublaslt, text, &list, &err);
	is_int(fake_cublaslt.checked, 0, "%d algorithms of the heuristics, without a sweep", few);
	backend_cublaslt.forget(&list);
	int count = standin_ask_all(&backend_cublaslt, text, &list, &err), twice = 0;
	bool right = true;
	for (int i = 0; i < count; i++) {
		str_addf(&names, "%s;", list.algorithm[i].name);
		for (int j = 0; j < i; j++)
			twice += strcmp(list.algorithm[i].name, list.algorithm[j].name) == 0 &&
				strcmp(list.algorithm[i].math, list.algorithm[j].math) == 0;
		right = right && standin_worst(&list, i, &err) <= 1e-6 &&
			standin_workspace_bytes == list.algorithm[i].workspace_bytes;
	}
	ok(count > few && fake_cublaslt.checked > 0, "%d in all", count);
	is_int(twice, 0, "each once: %s", names.p);
	ok(right, "all compute rightly, with the workspace that they name");
	ok(strstr(names.p, "algo66 tile128x128 ") && strstr(names.p, "algo66 tile256x64 ") &&
			strstr(names.p, " splitk3"), "tiles and parts of k beyond the heuristics");
	ok(!strstr(names.p, " splitk6"), "not what cuBLASLt refuses");
	ok(strstr(list.algorithm[0].name, "cluster2x1x1") != NULL, "the heuristics' choice is first");
	backend_cublaslt.forget(&list);
	fake_cublaslt.no_algorithm = true;
	ok(standin_ask_all(&backend_cublaslt, text, &list, &err) > 0, "also if the heuristics have none");
	fake_cublaslt.no_algorithm = false;
	backend_cublaslt.forget(&list);
	is_int(fake_cublaslt.created, fake_cublaslt.destroyed, "every descriptor was given back");
	str_free(&names);
}

static void test_refused_run(void)
{
	static const struct {
		cublasStatus_t says;
		int returned;
	} cases[] = { { CUBLAS_STATUS_NOT_SUPPORTED, STATUS_UNSUPPORTED },
		{ CUBLAS_STATUS_ARCH_MISMATCH, STATUS_UNSUPPORTED },
		{ CUBLAS_STATUS_ALLOC_FAILED, STATUS_NO_MEMORY }, { CUBLAS_STATUS_EXECUTION_FAILED, -1 },
		{ CUBLAS_STATUS_SUCCESS, 0 } };
	struct backend_list list;
	struct error err = ERROR_NONE;
	ok(standin_ask(&backend_cublaslt, "matmul:f32,f32.c,f32/f32:ba1bb1m5n7k3:ta0tb0", &list, &err) > 0,
		"a product");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_cublaslt.matmul_status = cases[i].says;
		standin_worst(&list, 0, &err);
		is_int(standin_enqueued, cases[i].returned, "cuBLASLt says %d when run: %s", cases[i].says,
			err.text);
	}
	backend_cublaslt.forget(&list);
}

static void test_refusals(void)
{
	static const char *const refused[][2] = {
		{ "matmul:f32,f32.c,f32/f32:ba1bb1m5n7k3:ta0tb0+gelu_erf",
			"cuBLASLt's GELU is the tanh form, not the erf form" },
		{ "matmul:f32,f32.c,f32/f32:ba1bb1m5n7k3:ta0tb0+relu+bias:f32.c",
			"cuBLASLt has no epilogue after an activation" },
		{ "matmul:f32,f32.c,f32/f32:ba1bb1m5n7k3:ta0tb0+relu+add:f32",
			"cuBLASLt has no epilogue after an activation" },
		{ "matmul:f32,f32.c,f32/f32:ba1bb1m5n7k3:ta0tb0+sigmoid", "cuBLASLt does not fuse sigmoid" },
		{ "matmul:f32,f32.c,f32/f32:ba1bb1m5n7k3:ta0tb0+mul:f32", "cuBLASLt does not fuse mul" },
		{ "matmul:f32,f32.c,f32/f32:ba1bb1m5n7k3:ta0tb0+bias:f32.c+bias:f32.c",
			"cuBLASLt does not fuse a second bias" },
		{ "matmul:f32@s99x9x3,f32.c,f32/f32:ba1bb1m5n7k3:ta0tb0", NULL },
		{ "matmul:f32,f16.c,f32/f32:ba1bb1m5n7k3:ta0tb0", "cuBLASLt has no matmul of f32 and f16" },
		{ "matmul:u8,u8.c,s32/s32:ba1bb1m5n7k3:ta0tb0", "b: cuBLASLt has no type u8" },
		{ "matmul:f32,f32.c,f16/f32:ba1bb1m5n7k3:ta0tb0",
			"cuBLASLt has no matmul of f32 with output f16" },
		{ "matmul:f8e4m3,f8e4m3,bf16/f32:ba1bb1m5n7k3:ta0tb0",
			"cublasLtMatmulAlgoGetHeuristic: CUBLAS_STATUS_NOT_SUPPORTED" },
		{ "matmul:f8e4m3,f8e4m3.c@ncx,bf16/f32:ba1bb1m5n7k3:ta0tb0", NULL },
		{ "matmul:f8e5m2,f8e5m2.c,bf16/f32:ba1bb1m5n7k3:ta0tb1",
			"cuBLASLt has no matmul of f8e5m2 and f8e5m2" },
		{ "matmul:f32,f32,f32/f32:ba40x1x40x1bb1x40x1x40m2n2k2:ta1tb1",
			"the batch dimensions need more than 1024 calls of cuBLASLt" },
		{ "softmax:f32,f32:soft:2x3:ax1",
			"only sums, means, averages of whole images and running sums are products with "
			"ones" },
	};
	struct backend_list list;
	struct error err;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		ok(standin_ask(&backend_cublaslt, refused[i][0], &list, &err) < 0, "%s is refused",
			refused[i][0]);
		if (refused[i][1])
			is_str(err.text, refused[i][1], "and says why");
		ok(list.count == 0 && !list.state, "and leaves nothing");
	}
	fake_cublaslt.no_algorithm = true;
	ok(standin_ask(&backend_cublaslt, products[0].text, &list, &err) < 0, "no algorithm is an error");
	is_str(err.text, "cublasLtMatmulAlgoGetHeuristic: CUBLAS_STATUS_NOT_SUPPORTED",
		"and the library's own");
	fake_cublaslt.no_algorithm = false;
	is_int(fake_cublaslt.created, fake_cublaslt.destroyed, "every descriptor was given back");
}

/* Writes name|math|matrix|workspace of every algorithm. */
static void listing(const char *text, char *buf, size_t size)
{
	struct backend_list list;
	struct error err;
	size_t n = 0;
	buf[0] = '\0';
	if (standin_ask(&backend_cublaslt, text, &list, &err) < 0)
		return;
	for (int i = 0; i < list.count && n < size; i++) {
		const struct algorithm *a = &list.algorithm[i];
		n += (size_t)snprintf(buf + n, size - n, "%s|%s|%s|%.0f|%s\n", a->name, a->math,
			matrix_name(a->matrix), a->workspace_bytes, a->notes);
		if (a->rank != i || strcmp(a->api, "cuBLASLt") != 0 ||
			strcmp(a->layouts, "a=ncx b=ncx dst=ncx") != 0)
			n += (size_t)snprintf(buf + n, size - n, "wrong rank, api or layouts\n");
	}
	backend_cublaslt.forget(&list);
}

static void test_listing(void)
{
	char got[4096];
	listing("matmul:f32,f32.c,f32/f32:ba1bb1m5n7k3:ta0tb0", got, sizeof(got));
	is_str(got,
		"algo13 tile128x128 stages64x3 cluster2x1x1|strict|no|0|fma in_f32 acc_f32\n"
		"algo66 tile128x128 stages64x3 cluster2x1x1|tf32|yes|0|hmma in_tf32 acc_f32\n"
		"algo66 tile128x128 stages64x3 cluster2x1x1|fast_f16|yes|0|hmma in_f16 acc_f32\n"
		"algo66 tile128x128 stages64x3 cluster2x1x1|fast_bf16|yes|0|hmma in_bf16 acc_f32\n"
		"algo66 tile128x128 stages64x3 cluster2x1x1|emulated_bf16x9|yes|0|hmma in_bf16 acc_f32\n"
		"algo13 tile128x128 stages64x3 cluster2x1x1 splitk4|strict|no|16384|fma in_f32 acc_f32\n"
		"algo66 tile128x128 stages64x3 cluster2x1x1 splitk4|tf32|yes|16384|hmma in_tf32 acc_f32\n"
		"algo66 tile128x128 stages64x3 cluster2x1x1 splitk4|fast_f16|yes|16384|hmma in_f16 acc_f32\n"
		"algo66 tile128x128 stages64x3 cluster2x1x1 splitk4|fast_bf16|yes|16384|hmma in_bf16 "
		"acc_f32\n"
		"algo66 tile128x128 stages64x3 cluster2x1x1 splitk4|emulated_bf16x9|yes|16384|hmma in_bf16 "
		"acc_f32\n",
		"f32: each way once, called what it does");
	listing("matmul:f16,f16.c,f16/f32:ba1bb1m5n7k3:ta0tb0", got, sizeof(got));
	is_str(got,
		"algo66 tile128x128 stages64x3 cluster2x1x1|strict|yes|0|hmma in_f16 acc_f32\n"
		"algo13 tile128x128 stages64x3 cluster2x1x1|strict|no|0|fma in_f16 acc_f32\n"
		"algo66 tile128x128 stages64x3 cluster2x1x1|f16_accumulate|yes|0|hmma in_f16 acc_f16\n"
		"algo66 tile128x128 stages64x3 cluster2x1x1 splitk4|strict|yes|16384|hmma in_f16 acc_f32\n"
		"algo13 tile128x128 stages64x3 cluster2x1x1 splitk4|strict|no|16384|fma in_f16 acc_f32\n"
		"algo66 tile128x128 stages64x3 cluster2x1x1 splitk4|f16_accumulate|yes|16384|hmma in_f16 "
		"acc_f16\n",
		"f16: with and without matrix units, and sums in f16");
	listing("matmul:f16,f16.c,f16/f16:ba1bb1m5n7k3:ta0tb0", got, sizeof(got));
	ok(!strstr(got, "f16_accumulate") && strstr(got, "|strict|yes|0|hmma in_f16 acc_f32"),
		"sums in f16 are strict where they are asked for");
	ok(fake_cublaslt.workspace_most == 1u << 30, "up to 1 GiB of workspace");
	standin_context.memory_bytes = 1 << 30;
	listing("matmul:f32,f32,f32/f32:ba4x1bb1x3m5n7k3:ta0tb0", got, sizeof(got));
	ok(fake_cublaslt.workspace_most == 1u << 27, "or an eighth of the memory");
	standin_context.memory_bytes = 16e9;
	is_int(fake_cublaslt.align[0], 4, "calls begin at addresses as their strides allow: a");
	is_int(fake_cublaslt.align[1], 256, "b does not move");
	is_int(fake_cublaslt.align[3], 4, "d");
	fake_cublaslt.no_out_of_place = true;
	listing("matmul:f32,f32.c,f32/f32:ba1bb1m5n7k3:ta0tb0+add:f32", got, sizeof(got));
	ok(got[0] && !strstr(got, "splitk4"),
		"a residual is only for algorithms that write to another place");
	listing("matmul:f32,f32.c,f32/f32:ba1bb1m5n7k3:ta0tb0", got, sizeof(got));
	ok(strstr(got, "splitk4") != NULL, "which matters to nothing else");
	fake_cublaslt.no_out_of_place = false;
}

static void test_planning(void)
{
	struct backend_list list;
	struct error err;
	int asked = fake_cublaslt.asked;
	standin_context.planning = true;
	ok(standin_ask(&backend_cublaslt, products[0].text, &list, &err) < 0, "nothing without a device");
	is_str(err.text, "cuBLASLt cannot be asked without a GPU", "and says so");
	ok(standin_ask(&backend_cublaslt, "matmul:f32,f32.c,f32/f32:ba1bb1m5n7k3:ta0tb0+gelu_erf", &list,
		   &err) < 0 &&
			strstr(err.text, "tanh"),
		"what could never be is said as ever");
	standin_context.planning = false;
	is_int(fake_cublaslt.asked, asked, "the library was not asked");
	struct str stack = { 0 };
	json_t *attributes = json_object();
	bool has_matrix = false;
	str_addf(&stack, "CUDA 13.0");
	is_int(backend_cublaslt.probe(&stack, attributes, &has_matrix, &err), 0, "probe");
	is_str(stack.p, "CUDA 13.0, cuBLASLt 13.1.0", "identity");
	str_free(&stack);
	json_decref(attributes);
}

/* The real library, if installed, must have all functions of the list. Calls only its version. */
static void test_symbols(void)
{
	static const char *const names[] = {
#define NAME(name) #name,
		CUBLASLT_FUNCTIONS(NAME)
#undef NAME
	};
	void *handle = dlopen("libcublasLt.so.13", RTLD_LAZY | RTLD_LOCAL);
	if (!handle)
		handle = dlopen(BENANZA_CUDA_LIBDIR "/libcublasLt.so", RTLD_LAZY | RTLD_LOCAL);
	if (!handle) {
		printf("ok %d - the library's symbols # SKIP no libcublasLt\n", ++tap_count);
		return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ok(dlsym(handle, names[i]) != NULL, "libcublasLt has %s", names[i]);
}

int main(void)
{
	test_products();
	test_eight_bits();
	test_ones();
	test_ones_refused();
	test_random();
	test_refusals();
	test_refused_run();
	test_all();
	test_listing();
	test_planning();
	test_symbols();
	return done_testing();
}
