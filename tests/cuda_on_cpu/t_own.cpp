/* Our kernels as a backend: every listed algorithm must compute its problem, with operands in the problem's
 * layouts. */
#include "layout_case.h"

#include <algorithm>

extern "C" {
#include "problem/kernel.h"
#include "runner/own/cuda_own.h"
}

static struct cuda_context context;

extern "C" const struct cuda_context *cuda_context(void)
{
	return &context;
}

/* Copies row-major operand values to memory in the operands' layouts. */
struct laid {
	struct problem p;
	struct operand_values values;
	std::vector<buffer *> held;
	struct cuda_pointers at;
	struct cuda_layout to;
	buffer *out, *indices;

	explicit laid(const struct problem &problem) : p(problem), at(), to(), out(NULL), indices(NULL)
	{
		int last = problem_operand_count(&p) - 1,
		    count = p.kernel == KERNEL_CONCAT ? p.shape_count : last;
		for (int i = 0; i < count; i++) {
			struct cuda_layout l = cuda_operand_layout(&p, p.kernel == KERNEL_CONCAT ? 0 : i, i);
			bool is_index = p.kernel == KERNEL_GATHER && i == 1;
			values.type.push_back(l.dtype);
			values.bytes.push_back({});
			held.push_back(operand_make(l, 50 + i, is_index ? FILL_INDEX : FILL_SIGNED,
				p.shape[0].dim[p.axis], &values.bytes.back()));
			at.source[i] = held[i]->p;
		}
		to = cuda_operand_layout(&p, last, 0);
		const struct kernel_row *row = kernel_row(p.kernel);
		for (int64_t i = 0; i < problem_parameter_count(&p); i++) {
			enum fill_kind kind = row->quantizer ? FILL_FACTOR : FILL_SIGNED;
			int64_t limit = row->quantizer ? integer_factor_limit(&p) : 0;
			values.scale.push_back((float)fill_value(40, i, kind, limit, DTYPE_F32));
			values.shift.push_back((float)fill_value(41, i, FILL_SIGNED, 0, DTYPE_F32));
		}
		at.scale = parameter(values.scale);
		at.shift = parameter(values.shift);
	}
	const void *parameter(const std::vector<float> &v)
	{
		held.push_back(new buffer(v.size() * sizeof(float)));
		std::copy(v.begin(), v.end(), (float *)held.back()->p);
		return held.back()->p;
	}
	~laid()
	{
		for (buffer *b : held)
			delete b;
		delete out;
		delete indices;
	}
	laid(const laid &) = delete;

	void clear(double workspace_bytes)
	{
		delete out;
		delete indices;
		out = new buffer(span_bytes(to));
		indices = new buffer((size_t)volume(to.shape.rank, to.shape.dim) * 8);
		held.push_back(new buffer((size_t)workspace_bytes));
		at.destination = out->p;
		at.indices = indices->p;
		at.workspace = held.back()->p;
	}
	/* Returns the number of wrong outputs, plus bytes between them that were written. */
	int64_t wrong(double tolerance)
	{
		int64_t n = volume(to.shape.rank, to.shape.dim), bytes = size_of(to.dtype), bad = 0;
		std::vector<char> dense = row_major_of(to, out->p);
		for (int64_t i = 0; i < n; i++)
			memset(out->p + place(to, i) * bytes, 0xa5, (size_t)bytes);
		for (size_t i = 0; i < out->n; i++)
			bad += out->p[i] != (char)0xa5;
		struct check_inputs in = {};
		in.value = operand_value;
		in.state = &values;
		bool known;
		for (int64_t i = 0; p.kernel == KERNEL_TOPK && i < n; i++)
			bad += !check_accepts(&p, &in, i, (double)((int64_t *)indices->p)[i], 0, &known);
		return bad + outputs_wrong(&p, &values, dense.data(), tolerance);
	}
};

static void expect(const char *text, const char *names, double tolerance)
{
	struct error err = ERROR_NONE;
	struct cuda_own *o = (struct cuda_own *)calloc(1, sizeof(*o));
	o->problem = parse(text);
	std::string got;
	if (!ok(cuda_own_offer(o, &err) == 0, "%s is ours", text)) {
		printf("# %s\n", err.text);
		free(o);
		return;
	}
	laid l(o->problem);
	int64_t wrong = 0;
	for (int i = 0; i < o->count; i++) {
		const char *call = NULL;
		got += (i ? " " : "") + std::string(o->algorithm[i].name);
		l.clear(o->algorithm[i].workspace_bytes);
		bool bad = cuda_own_enqueue(o, o->kind[i], &l.at, NULL, &call) != cudaSuccess ||
			l.wrong(tolerance) != 0 || o->algorithm[i].rank != i || !call;
		if (bad)
			printf("# %s is wrong\n", o->algorithm[i].name);
		wrong += bad;
	}
	is_str(got.c_str(), names, "%s: what is offered", text);
	is_int(wrong, 0, "%s: all of it is right", text);
	free(o);
}

static void refuse(const char *text, const char *why)
{
	struct error err = ERROR_NONE;
	struct cuda_own *o = (struct cuda_own *)calloc(1, sizeof(*o));
	o->problem = parse(text);
	ok(cuda_own_offer(o, &err) == -1 && strstr(err.text, why), "%s: %s", text, why);
	if (!strstr(err.text, why))
		printf("# %s\n", err.text);
	free(o);
}

static void test_moves(void)
{
	expect("copy:u8,u8:b100003", "cudaMemcpyAsync copy16", 0);
	expect("transpose:f32,f32:40x33:perm1x0", "tiled32x32:4_bytes tiled32x64:4_bytes strided:4_bytes", 0);
	expect("transpose:f16,f16:2x64x8:perm0x2x1", "strided:2_bytes", 0);
	expect("transpose:f16,f16:2x64x80:perm0x2x1", "tiled64x64:2_bytes strided:2_bytes", 0);
	expect("transpose:f16,f16:2x80x64:perm0x2x1",
		"tiled64x64:2_bytes tiled64x128:2_bytes strided:2_bytes", 0);
	expect("transpose:f32,f32:4x6x8:perm1x0x2", "strided:16_bytes", 0);
	expect("transpose:bf16,bf16:1x5x1x7:perm2x1x0x3", "cudaMemcpyAsync copy16", 0);
	expect("transpose:f32@nxc,f32:2x9x10x11:perm0x2x3x1", "cudaMemcpyAsync copy16", 0);
	expect("transpose:f32@s100x3,f32:7x5:perm1x0", "strided:4_bytes", 0);
	expect("cast:f32,f16:3x5x7", "cast", 1e-3);
	expect("cast:f32,f32@nxc:2x12x9x10", "tiled32x32:4_bytes strided:4_bytes", 0);
	expect("cast:f32,f16@nxc:2x12x9x10", "cast_strided", 1e-3);
	expect("cast:f32@s31x1,f32:9x20", "strided:4_bytes", 0);
	expect("cast:f32@s30x1,f32:9x20", "strided:8_bytes", 0);
	expect("cast:f32@s32x1,f32:9x20", "strided:16_bytes", 0);
	expect("cast:u32,s16:77", "cast", 0);
}

static void test_concat(void)
{
	expect("concat:f32,f32:2x3x5,2x4x5:ax1", "strided:4_bytes cudaMemcpy2DAsync", 0);
	expect("concat:f16,f16:2x8x4,2x16x4,2x8x4:ax1", "strided:16_bytes cudaMemcpy2DAsync", 0);
	expect("concat:u8,u8:3,5,1:ax0", "strided:1_bytes cudaMemcpy2DAsync", 0);
	expect("concat:f32@nxc,f32@nxc:1x4x5x5,1x8x5x5:ax1", "strided:16_bytes", 0);
	expect("concat:f32,f32@nxc:1x9x5x5,1x3x5x5:ax1", "strided:4_bytes", 0);
	expect("concat:s64,s64:2x2,2x1:ax1", "strided:8_bytes cudaMemcpy2DAsync", 0);
}

static void test_quantize(void)
{
	expect("quantize:f32,u8:tensor:3x5x67", "quantize", 0);
	expect("quantize:f32,s8:tensor:3", "quantize", 0);
	expect("quantize:f32,s8:axis:3x5x67:ax1", "quantize", 0);
	expect("quantize:f32@nxc,u8@nxc:axis:2x5x6x7:ax1", "quantize", 0);
	expect("quantize:f32@nxc,u8@nxc:tensor:2x5x6x7", "quantize", 0);
	expect("quantize:f16,u8:axis:5x67:ax1", "quantize", 0);
	expect("quantize:bf16,s8:block:3x100x7:ax1:b32", "quantize", 0);
	expect("quantize:f32,u8:block:3x100:ax1:b16", "quantize", 0);
	expect("quantize:f32,u16:tensor:1001", "quantize", 0);
	expect("quantize:f32,f8e4m3:tensor:1001", "quantize", 0.07);
	expect("quantize:bf16,f8e4m3:axis:9x8:ax0", "quantize", 0.07);
	expect("quantize:f32,u8:dynamic:3x5x67", "quantize:two_passes", 1e-6);
	expect("quantize:f32,s8:dynamic:20000", "quantize:two_passes", 1e-6);
	expect("quantize:f16,u8:dynamic:7", "quantize:two_passes", 1e-6);
	expect("dequantize:u8,f32:tensor:3x5x67", "dequantize", 0);
	expect("dequantize:s8,f16:axis:64x9:ax0", "dequantize", 1e-3);
	expect("dequantize:s32,f32:axis:5x64:ax1", "dequantize", 0);
	expect("dequantize:s8,bf16:block:64x70:ax0:b30", "dequantize", 1e-2);
	expect("dequantize:f8e5m2,f32:tensor:100", "dequantize", 0);
	refuse("quantize:f32,s4:tensor:100", "no tensor from f32 to s4");
	refuse("quantize:f32,u8@nxc:axis:2x5x6x7:ax1", "equal layout");
	refuse("quantize:f32@nxc,u8@nxc:block:2x5x6x7:ax1:b2", "equal layout");
	refuse("quantize:f32,u8:tensor:8+relu", "no epilogues");
}

static void test_others(void)
{
	expect("gather:f32.c,s64,f32:50x6:ax0:3x5", "gather:8_bytes", 0);
	expect("gather:s64,s32,s64:4x9:ax1:2", "gather:8_bytes", 0);
	expect("select:bool,f32,f32,f32:1x1x5x5:2x3x5x5:1", "select", 0);
	expect("resample:f32,f32:linear:n1c3h5w6:oh10ow12", "resample", 1e-6);
	expect("resample:f16@nxc,f16@nxc:nearest:n2c3h5w6:oh10ow12", "resample", 1e-3);
	expect("resample:f32,f32@nxc:cubic:n2c3h5w6:oh7ow3", "resample", 1e-6);
	expect("resample:f32,f32:linear:n2c2w9:ow4", "resample", 1e-6);
	expect("topk:f32,f32:largest:2x100:ax1:k5", "block_radix_sort segmented_radix_sort radix_sort", 0);
	expect("topk:f16,f16:smallest:20x100x2:ax1:k5", "block_radix_sort segmented_radix_sort", 0);
	expect("topk:s64,s64:largest:5000:ax0:k3", "segmented_radix_sort radix_sort topk:select", 0);
	expect("topk:f32,f32:largest:2x9000:ax1:k300",
		"segmented_radix_sort radix_sort topk:select topk:select_split", 0);
	expect("topk:bool,bool:smallest:10000:ax0:k20",
		"segmented_radix_sort radix_sort topk:select topk:select_split", 0);
	expect("argreduce:f32,s64:argmax:4x1000:ax1", "argreduce:line_a_warp argreduce:line_a_block", 0);
	expect("argreduce:bf16,s32:argmin:4x10x3:ax1", "argreduce:columns", 0);
	expect("argreduce:f16,s64:argmax:2x20000:ax1", "argreduce:line_a_block argreduce:split_lines", 0);
	expect("argreduce:s8,s64:argmin:300x16:ax0", "argreduce:columns argreduce:split_columns", 0);
	expect("scan:f32,f32:cumsum:4x1000:ax1", "block_scan", 1e-6);
	expect("scan:s32,s32:cumsum:4x10x3:ax1", "scan:line_a_thread", 0);
	expect("scan:f16,f16:cumsum:2x9000:ax1", "block_scan scan:split_lines", 1e-3);
}

static void test_refusals(void)
{
	refuse("batchnorm:f32,f32:2x3x4", "our kernels are data movement");
	refuse("gather:f32@s20x2,s64,f32:5x6:ax0:3", "gather needs dense operands");
	refuse("gather:f32,s16,f32:5x6:ax0:3", "s32 or s64 indices");
	refuse("select:s32,f32,f32,f32:5:5:5", "8-bit condition");
	refuse("cast:s4,f32:8", "less than 8 bits");
	refuse("concat:s4,s4:8,8:ax0", "less than 8 bits");
	refuse("resample:f64,f64:linear:n1c3h5w6:oh10ow12", "f32, f16 or bf16");
	refuse("topk:f8e4m3,f8e4m3:largest:8:ax0:k1", "topk needs f32");
	refuse("argreduce:f32,u8:argmax:8:ax0", "s32 or s64 outputs");
	refuse("scan:u8,u8:cumsum:8:ax0", "our cumulative sum");
	context.sm = 70;
	refuse("copy:u8,u8:b100", "need compute capability 7.5");
	context.sm = 75;
}

/* Adds the kernel's name and a colon to each of the words. */
static std::string named(const char *text, const char *words)
{
	std::string kernel(text, strcspn(text, ":")), out, word;
	for (const char *w = words; *w; w += strspn(w, " ")) {
		size_t n = strcspn(w, " ");
		out += (out.empty() ? "" : " ") + kernel + ":" + std::string(w, n);
		w += n;
	}
	return out;
}

/* The same for f32, f16 and bf16: T stands for the type. */
static void expect_floats(const char *text, const char *words, double tolerance)
{
	static const struct {
		const char *name;
		double factor;
	} types[] = { { "f32", 1 }, { "f16", 1e3 }, { "bf16", 1e4 } };
	for (auto &type : types) {
		std::string t;
		for (const char *c = text; *c; c++)
			t += *c == 'T' ? std::string(type.name) : std::string(1, *c);
		expect(t.c_str(), named(text, words).c_str(), tolerance * type.factor);
	}
}

#define WARP "line_a_warp"
#define BLOCK "line_a_block"
#define SPLIT "split_lines"

static void test_norm(void)
{
	expect_floats("groupnorm:T,T:2x12x5x7:g3", WARP, 2e-6);
	expect_floats("groupnorm:T,T:1x4x3000:g2", BLOCK, 2e-6);
	expect_floats("groupnorm:T,T:3x4x700:g4", WARP " " BLOCK, 2e-6);
	expect_floats("groupnorm:T,T:5x6:g1", WARP, 2e-6);
	expect_floats("groupnorm:T,T:1x8x9x130:g1", BLOCK " " SPLIT, 2e-6);
	expect_floats("instancenorm:T,T:2x3x8x16", WARP, 2e-6);
	expect_floats("instancenorm:T,T:1x3x17x31", WARP " " BLOCK, 2e-6);
	expect_floats("layernorm:T,T:5x64:ax1", WARP, 2e-6);
	expect_floats("layernorm:T,T:3x7x11:ax1", WARP, 2e-6);
	expect_floats("layernorm:T,T:2x3x1600:ax2", BLOCK, 2e-6);
	expect_floats("layernorm:T,T:2x8200:ax1", BLOCK " " SPLIT, 2e-6);
	expect_floats("rmsnorm:T,T:9x768:ax1", WARP " " BLOCK, 2e-6);
	expect_floats("rmsnorm:T,T:2x4097:ax1", BLOCK, 2e-6);
	expect_floats("rmsnorm:T,T:1x9001:ax1", BLOCK " " SPLIT, 2e-6);
	refuse("groupnorm:f64,f64:2x12x5x7:g3", "f32, f16 or bf16");
	refuse("groupnorm:f32,f16:2x12x5x7:g3", "of one type");
	refuse("groupnorm:f32@nxc,f32@nxc:2x12x5x7:g3", "row-major");
}

static void test_softmax(void)
{
	expect_floats("softmax:T,T:soft:3x40:ax1", WARP, 2e-6);
	expect_floats("softmax:T,T:soft:9x1000:ax1", WARP " " BLOCK, 2e-6);
	expect_floats("softmax:T,T:log:2x2003:ax1", BLOCK, 2e-6);
	expect_floats("softmax:T,T:soft:1x8192:ax1", BLOCK " " SPLIT, 2e-6);
	expect_floats("softmax:T,T:log:2x50257:ax1", BLOCK " " SPLIT, 2e-6);
	expect_floats("softmax:T,T:soft:2x16x5x8:ax1", "columns", 2e-6);
	expect_floats("softmax:T,T:log:70x3:ax0", "columns", 2e-6);
	expect_floats("softmax:T,T:soft:1x1:ax1", WARP, 2e-6);
	refuse("softmax:f32,u8:soft:1x8:ax1", "f32, f16 or bf16");
	refuse("softmax:f32@nxc,f32@nxc:soft:1x8x3x3:ax1", "dense");
}

static void test_reduce(void)
{
	for (const char *mode : { "sum", "mean", "rmax", "rmin", "l2" }) {
		std::string head = std::string("reduce:T,T:") + mode + ":";
		expect_floats((head + "3x49:3x1").c_str(), WARP, 2e-6);
		expect_floats((head + "2x600:2x1").c_str(), WARP " " BLOCK, 2e-6);
		expect_floats((head + "6x5x40:6x1x40").c_str(), "columns", 2e-6);
	}
	/* products of many random values are too small for f16 */
	expect("reduce:f32,f32:prod:3x49:3x1", "reduce:line_a_warp", 2e-6);
	expect("reduce:bf16,bf16:prod:2x5x40:2x1x40", "reduce:columns", 1e-2);
	expect_floats("reduce:T,T:prod:300x2:300x1", WARP, 2e-6);
	expect_floats("reduce:T,T:sum:20000:1", BLOCK " " SPLIT, 2e-6);
	expect_floats("reduce:T,T:rmin:1x9001:1x1", BLOCK " " SPLIT, 2e-6);
	expect_floats("reduce:T,T:l2:300x7:1x7", "columns split_columns", 2e-6);
	expect_floats("reduce:T,T:mean:2x1000x264:2x1x264", "columns split_columns", 2e-6);
	expect_floats("reduce:T,T:sum:2x3x4x5:2x1x1x5", "columns", 2e-6);
	expect_floats("reduce:T@nxc,T:mean:2x24x5x7:2x24x1x1", "columns", 2e-6);
	expect_floats("reduce:T@nxc,T:mean:2x24x5x7:2x1x5x7", WARP, 2e-6);
	expect_floats("reduce:T@s1x7,T:sum:7x20:1x20", WARP, 2e-6);
	expect_floats("pool:T,T:avg_include:n2c9h7w7r7s7:ph0pw0qh0qw0:sh1sw1:dh1dw1", WARP, 2e-6);
	expect_floats(
		"pool:T@nxc,T@nxc:avg_exclude:n2c9h7w7r7s7:ph0pw0qh0qw0:sh1sw1:dh1dw1", "columns", 2e-6);
	expect_floats("pool:T,T:max:n2c3w9s9:pw0qw0:sw1:dw1", WARP, 2e-6);
	refuse("pool:f32,f32:max:n1c3h8w8r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1", "the whole image");
	refuse("pool:f32,f32:max:n1c3h7w7r7s7:ph1pw0qh0qw0:sh2sw2:dh1dw1", "the whole image");
	refuse("reduce:f32,f32:sum:4x5x6:1x5x1", "neighbors");
	refuse("reduce:f32@s8x1,f32:sum:4x5:4x1", "dense");
	refuse("reduce:f32@nxc,f32:mean:2x24x5x7:1x24x5x7", "neighbors");
	refuse("reduce:f32,f16:sum:4x5:4x1", "on both sides");
	refuse("reduce:s32,s32:sum:4x5:4x1", "f32, f16 or bf16");
}

/* A value of 4 bits in a row of them, two to a byte, the first in the low bits. */
static int nibble(const std::vector<unsigned char> &v, int64_t i, bool is_signed)
{
	int one = v[(size_t)(i / 2)] >> i % 2 * 4 & 15;
	return is_signed && one > 7 ? one - 16 : one;
}

static std::vector<unsigned char> random_bytes(int64_t n, uint64_t seed)
{
	std::vector<unsigned char> v((size_t)n);
	for (int64_t i = 0; i < n; i++)
		v[(size_t)i] = (unsigned char)fill_value(seed, i, FILL_INDEX, 256, DTYPE_S32);
	return v;
}

/* A product with weights of 4 bits, with a scale and a zero point per block, against plain loops. */
static void few_case(const char *text, int64_t block, const char *names, double tolerance)
{
	struct error err = ERROR_NONE;
	struct cuda_own *o = (struct cuda_own *)calloc(1, sizeof(*o));
	o->problem = parse(text);
	if (!ok(cuda_own_offer(o, &err) == 0, "%s is ours", text)) {
		printf("# %s\n", err.text);
		free(o);
		return;
	}
	o->few.block = block;
	const struct cuda_few &f = o->few;
	int bytes = size_of(f.dtype);
	int64_t blocks = (f.terms + block - 1) / block, zero_bytes = (blocks + 1) / 2, wrong = 0;
	std::vector<unsigned char> w = random_bytes(f.columns * f.terms / 2, 1),
				   z = random_bytes(f.columns * zero_bytes, 2);
	buffer a((size_t)(f.rows * f.terms * bytes)), scales((size_t)(f.columns * blocks * bytes)),
		bias((size_t)(f.columns * bytes)), weights(w.size()), zeros(z.size());
	memcpy(weights.p, w.data(), w.size());
	memcpy(zeros.p, z.data(), z.size());
	auto fill = [&](buffer &b, uint64_t seed, enum fill_kind kind) {
		for (size_t i = 0; i < b.n / (size_t)bytes; i++)
			fill_encode(fill_value(seed, (int64_t)i, kind, 1, f.dtype), f.dtype, b.p + i * bytes);
	};
	auto at = [&](const buffer &b, int64_t i) { return fill_decode(b.p + i * bytes, f.dtype); };
	fill(a, 3, FILL_SIGNED);
	fill(scales, 4, FILL_POSITIVE);
	fill(bias, 5, FILL_SIGNED);
	std::string got;
	for (int i = 0; i < o->count; i++) {
		buffer to((size_t)(f.rows * f.columns * bytes));
		struct cuda_pointers p = {};
		const char *call;
		p.source[0] = a.p;
		p.weights = weights.p;
		p.scale = scales.p;
		p.shift = zeros.p;
		p.epilogue[0] = bias.p;
		p.destination = to.p;
		got += (i ? " " : "") + std::string(strchr(o->algorithm[i].name, ':') + 1);
		wrong += cuda_own_enqueue(o, o->kind[i], &p, NULL, &call) != cudaSuccess;
		for (int64_t r = 0; r < f.rows; r++)
			for (int64_t c = 0; c < f.columns; c++) {
				double sum = o->problem.epilogue_count ? at(bias, c) : 0, terms = fabs(sum);
				for (int64_t k = 0; k < f.terms; k++) {
					int64_t b = k / block;
					double one = at(a, r * f.terms + k) * at(scales, c * blocks + b) *
						(nibble(w, c * f.terms + k, f.is_signed) -
							nibble(z, c * zero_bytes * 2 + b, f.is_signed));
					sum += one;
					terms += fabs(one);
				}
				wrong += !(fabs(at(to, r * f.columns + c) - sum) <= tolerance * terms);
			}
	}
	is_str(got.c_str(), names, "its kernels");
	is_int(wrong, 0, "all results");
	free(o);
}

/* Rows and columns that do and do not fill a block, one step of it and more; blocks of terms that are no
 * power of two, end early or hold all terms. */
static void test_few_sizes(void)
{
	static const struct {
		const char *sizes;
		int64_t block;
	} some[] = { { "m1n1k32", 32 }, { "m1n2k64", 1024 }, { "m1n3k4192", 96 }, { "m1n4k2048", 256 },
		{ "m2n5k2112", 160 }, { "m4n6k4096", 32 }, { "m9n7k224", 64 } };
	static const struct {
		const char *type;
		double tolerance;
	} types[] = { { "f32", 1e-6 }, { "f16", 1e-3 }, { "bf16", 1e-2 } };
	for (auto &size : some)
		for (auto &t : types)
			for (const char *weights : { "u4", "s4" }) {
				std::string type = t.type, text = "matmul:" + type + "," + weights + ".c," +
					type + "/f32:ba1bb1" + size.sizes + ":ta0tb1";
				few_case(text.c_str(), size.block, size.sizes[1] < '5' ?
					"4columns_a_block" : "4columns_a_block tile64x64", t.tolerance);
			}
}

/* Fills an operand with bytes of the whole range. */
static void bytes_set(struct laid *l, int i)
{
	struct cuda_layout layout = cuda_operand_layout(&l->p, i, 0);
	std::vector<char> &to = l->values.bytes[(size_t)i];
	std::vector<unsigned char> v = random_bytes((int64_t)to.size(), 70 + (uint64_t)i);
	for (size_t k = 0; k < v.size(); k++)
		l->held[(size_t)i]->p[place(layout, (int64_t)k)] = to[k] = (char)v[k];
}

/* The operands of the epilogues. */
static void epilogues_set(struct laid *l)
{
	for (int e = 0; e < l->p.epilogue_count; e++) {
		const struct epilogue *x = &l->p.epilogue[e];
		enum fill_kind kind = x->kind == EPILOGUE_SCALE ? FILL_FACTOR : FILL_SIGNED;
		l->values.epilogue.push_back({});
		l->values.epilogue_type.push_back(x->operand.dtype);
		if (x->kind == EPILOGUE_ELTWISE)
			continue;
		l->held.push_back(operand_make(cuda_epilogue_layout(&l->p, e), 60 + e, kind,
			kind == FILL_FACTOR ? integer_factor_limit(&l->p) : 0, &l->values.epilogue.back()));
		l->at.epilogue[e] = l->held.back()->p;
	}
}

static void eight_case(const char *text, const char *names)
{
	struct error err = ERROR_NONE;
	struct cuda_own *o = (struct cuda_own *)calloc(1, sizeof(*o));
	o->problem = parse(text);
	if (!ok(cuda_own_offer(o, &err) == 0, "%s is ours", text)) {
		printf("# %s\n", err.text);
		free(o);
		return;
	}
	laid l(o->problem);
	std::string got;
	int64_t wrong = 0;
	for (int i = 0; i < 2 && !l.p.epilogue_count; i++) /* else most results would saturate */
		bytes_set(&l, i);
	epilogues_set(&l);
	l.at.weights = l.at.source[1];
	for (int i = 0; i < o->count; i++) {
		const char *call = NULL;
		got += (i ? " " : "") + std::string(strchr(o->algorithm[i].name, ':') + 1);
		l.clear(0);
		wrong += cuda_own_enqueue(o, o->kind[i], &l.at, NULL, &call) != cudaSuccess || l.wrong(1e-6);
	}
	is_str(got.c_str(), names, "its kernels");
	is_int(wrong, 0, "all results");
	free(o);
}

static void test_eight(void)
{
	eight_case("matmul:u8,u8,s32/s32:ba1bb1m67n70k96:ta0tb0", "tile64x64");
	eight_case("matmul:u8,s8,s32/s32:ba1bb1m5n66k37:ta0tb1", "tile64x64");
	eight_case("matmul:s8,u8,s32/s32:ba1bb1m66n3k65:ta1tb0", "tile64x64");
	eight_case("matmul:s8,u8.c,s32/s32:ba1bb1m4n8k64:ta0tb1", "tile64x64");
	eight_case("matmul:u8,u8,u8/s32:ba2x3bb2x1m9n10k64:ta0tb1+scale:f32.c+bias:f32.c", "tile64x64");
	eight_case("matmul:u8,s8,f16/s32:ba3bb3m7n12k33:ta1tb1+scale:f32.c+clip,-1,5", "tile64x64");
	eight_case("matmul:u8,s8.c,s32/s32:ba2bb2m8n9k16:ta0tb0", "tile64x64");
	eight_case("conv:u8,u8,s32/s32:n2c8h5w6k67r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1", "tile64x64");
	eight_case("conv:s8,u8,s32/s32:n1c5h7w6k9r2s3:ph0pw2qh1qw0:sh2sw1:dh1dw2:g1", "direct tile64x64");
	eight_case("conv:u8,s8,s8/s32:n1c12h6w5k16r1s1:ph0pw0qh0qw0:sh1sw1:dh1dw1:g1+scale:f32.c+add:s8+relu",
		"tile64x64");
	eight_case("conv:s8,s8.c,s8/s32:n1c24h7w9k24r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g24"
		   "+scale:f32.c+bias:f32.c",
		"direct");
	eight_case("conv:u8,s8.c,u8/s32:n2c6h8w5k6r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1:g6"
		   "+scale:f32.c+bias:f32.c+relu",
		"direct");
	eight_case("conv:s8,s8.c,s32/s32:n1c6h5w5k12r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g6", "direct");
	eight_case("conv:u8,s8.c,bf16/s32:n1c8h9w9k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g2+scale:f32.c+clip,0,6",
		"tile64x64");
	eight_case("conv:u8,u8,s32/s32:n2c3w9k4s3:pw1qw1:sw1:dw1:g1", "direct");
	eight_case("conv:s8,s8.c,f32/s32:n1c4d4h5w3k4t2r2s2:pd1ph0pw0qd0qh1qw0:sd1sh1sw1:dd1dh1dw1:g4"
		   "+scale:f32.c",
		"direct");
	refuse("matmul:s8,s8,s32/s32:ba1bb1m4n8k64:ta0tb0", "no library has");
	refuse("matmul:u8,s8.c,s32/s32:ba1bb1m4n8k64:ta0tb0", "no library has");
	refuse("matmul:u8,u8,s8/s32:ba1bb1m4n8k64:ta0tb0+scale:f32.c+tanh", "followed by factors");
	refuse("conv:f32,f32.c,f32/f32:n1c4w9k4s3:pw1qw1:sw1:dw1:g1", "our convolutions are of 8");
	refuse("conv:u8@ncx,u8,s32/s32:n1c4w9k4s3:pw1qw1:sw1:dw1:g1", "needs channels last");
}

static void test_few(void)
{
	struct error err = ERROR_NONE;
	test_few_sizes();
	few_case("matmul:f32,u4.c,f32/f32:ba1bb1m1n19k96:ta0tb1", 32, "4columns_a_block", 1e-6);
	few_case("matmul:f32,s4.c,f32/f32:ba1bb1m3n9k2080:ta0tb0+bias:f32.c", 128, "4columns_a_block", 1e-6);
	few_case("matmul:f16,u4.c,f16/f32:ba3bb1m2n70k160:ta0tb1+bias:f16.c", 64,
		"4columns_a_block tile64x64", 1e-3);
	few_case("matmul:bf16,s4.c,bf16/f32:ba1bb1m67n66k64:ta0tb1", 32, "tile64x64", 1e-2);
	static const char *const refused[] = {
		"matmul:f32,u4,f32/f32:ba1bb1m1n19k96:ta0tb1",
		"matmul:f32,u4.c,f32/f32:ba1bb1m1n19k97:ta0tb1",
		"matmul:f32,u4.c,f16/f32:ba1bb1m1n19k96:ta0tb1",
		"matmul:f32,u4.c,f32/f32:ba2bb2m1n19k96:ta0tb1",
		"matmul:f32,u4.c,f32/f32:ba1bb1m1n19k96:ta0tb1+relu",
		"matmul:f32,u4.c@ncx,f32/f32:ba1bb1m1n19k96:ta0tb0",
		"matmul:f32,f32.c,f32/f32:ba1bb1m1n19k96:ta0tb1",
	};
	for (const char *text : refused) {
		struct cuda_own *o = (struct cuda_own *)calloc(1, sizeof(*o));
		o->problem = parse(text);
		ok(cuda_own_offer(o, &err) == -1 && *err.text, "%s is not: %s", text, err.text);
		free(o);
	}
	struct cuda_own *o = (struct cuda_own *)calloc(1, sizeof(*o));
	o->problem = parse("matmul:f32,s4.c,f32/f32:ba1bb1m3n9k64:ta0tb0");
	ok(cuda_own_offer(o, &err) == 0, "weights by row");
	struct cuda_layout l = cuda_operand_layout(&o->problem, 1, 0);
	ok(l.stride[1] == 1 && l.stride[2] == 64, "are repacked by column");
	is_str(o->layouts, "a=ncx b=strided dst=ncx", "and said so");
	free(o);
}

/* The same (or complete names) for f16 and bf16, on a GPU with the matrix units that products need. */
static void expect_products(const char *text, const char *words)
{
	context.sm = 80;
	for (const char *type : { "f16", "bf16" }) {
		std::string t;
		for (const char *c = text; *c; c++)
			t += *c == 'T' ? std::string(type) : std::string(1, *c);
		std::string names = strchr(words, ':') ? words : named(text, words);
		expect(t.c_str(), names.c_str(), *type == 'f' ? 2e-3 : 2e-2);
	}
	context.sm = 75;
}

static void test_products(void)
{
	expect_products("reduce:T,T:sum:3x16:3x1", WARP " products");
	expect_products("reduce:T,T:mean:37x49:37x1", WARP " products");
	expect_products("reduce:T,T:sum:150x264:150x1", WARP " " BLOCK " products");
	expect_products("reduce:T,T:mean:21x1003:21x1", WARP " " BLOCK " products");
	expect_products("reduce:T,T:sum:17x4096:17x1", WARP " " BLOCK " products");
	expect_products("reduce:T,T:rmax:17x64:17x1", WARP);
	expect_products("reduce:T,T:sum:3x15:3x1", WARP);
	expect_products("pool:T,T:avg_include:n2c30h7w7r7s7:ph0pw0qh0qw0:sh1sw1:dh1dw1", WARP " products");
	expect_products("layernorm:T,T:19x72:ax1", WARP " products");
	expect_products("layernorm:T,T:35x1600:ax1", BLOCK " products");
	expect_products("rmsnorm:T,T:16x768:ax1", WARP " " BLOCK " products");
	expect_products("groupnorm:T,T:2x12x4x6:g3", WARP " products");
	expect_products("instancenorm:T,T:1x3x17x31", WARP " " BLOCK);
	expect_products("scan:T,T:cumsum:5x16:ax1", "block_scan scan:line_a_thread scan:products");
	expect_products("scan:T,T:cumsum:131x104:ax1", "block_scan scan:line_a_thread scan:products");
	expect_products("softmax:T,T:soft:5x64:ax1", WARP);
	expect("reduce:f32,f32:sum:3x16:3x1", "reduce:line_a_warp", 2e-6);
}

int main(void)
{
	context.sm = 75;
	test_moves();
	test_concat();
	test_quantize();
	test_norm();
	test_softmax();
	test_reduce();
	test_products();
	test_others();
	test_refusals();
	test_few();
	test_eight();
	return done_testing();
}
