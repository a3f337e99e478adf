/* The kernels generated for pointwise chains. Their text, compiled for a CPU in one library, must compute
 * what the reference of the check computes; and NVRTC, if it is there, must compile it for every capability.
 */
#include "layout_case.h"
#include "pointwise_prelude.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

extern "C" {
#include "runner/gpu/cuda_compiler.h"
#include "runner/nvrtc/nvrtc_source.h"
}

/* T: f32, f16 and bf16 in turn. tolerance: of f32. */
static const struct {
	const char *text;
	double tolerance;
	int words; /* at once, of f32 or the given type; 0: of no interest */
} cases[] = {
	{ "eltwise:T,T:relu:1x256x5x4", 0, 4 },
	{ "eltwise:T,T:leaky_relu,0.1:3x7", 1e-6, 1 },
	{ "eltwise:T,T:clip,-0.25,0.5:16x8", 0, 4 },
	{ "eltwise:T,T:sigmoid:16x8", 1e-6, 0 },
	{ "eltwise:T,T:tanh:16x8", 1e-6, 0 },
	{ "eltwise:T,T:gelu_erf:16x8", 1e-6, 0 },
	{ "eltwise:T,T:gelu_tanh:16x8", 1e-6, 0 },
	{ "eltwise:T,T:swish,1.5:16x8", 1e-6, 0 },
	{ "eltwise:T,T:hard_sigmoid,0.2,0.5:16x8", 1e-6, 0 },
	{ "eltwise:T,T:hard_swish:16x8", 1e-6, 0 },
	{ "eltwise:T,T:elu,0.7:16x8", 1e-6, 0 },
	{ "eltwise:T,T:softplus:16x8", 1e-6, 0 },
	{ "eltwise:T,T:mish:16x8", 1e-6, 0 },
	{ "eltwise:T,T:exp:16x8", 1e-6, 0 },
	{ "eltwise:T,T:abs:16x8", 0, 0 },
	{ "eltwise:T,T:square:16x8", 1e-6, 0 },
	{ "eltwise:T,T:pow,2,3:16x8", 1e-6, 0 },
	{ "eltwise:T,T:pow,0.5,2:16x8", 1e-6, 0 },
	{ "eltwise:T,T:pow,0.5,4:16x8", 1e-6, 0 },
	{ "eltwise:T,T:round:16x8", 0, 0 },
	{ "eltwise:T,T:affine,3,-0.5:16x8", 1e-6, 0 },
	{ "eltwise:T@nxc,T@nxc:tanh:2x3x4x8", 1e-6, 4 },
	{ "eltwise:T@nxc,T:relu:2x8x3x4", 0, 1 },
	{ "eltwise:T@s1x12,T:affine,2,1:12x8", 1e-6, 1 },
	{ "binary:T,T,T:add:2x8x3x4:2x8x3x4", 1e-6, 4 },
	{ "binary:T,T,T:mul:2x8x3x4:8x1x1", 1e-6, 4 },
	{ "binary:T,T,T:sub:16x24:16x1", 1e-6, 4 },
	{ "binary:T,T,T:maximum:24:16x24", 0, 4 },
	{ "binary:T,T,T:minimum:16x1:1x5", 0, 1 },
	{ "binary:T,T,T:add:3x1x5x1:1x4x1x8", 1e-6, 4 },
	{ "binary:T,T,T:mul:7:1", 1e-6, 1 },
	{ "binary:T@nxc,T,T@nxc:add:2x8x3x4:1x8x1x1", 1e-6, 4 },
	{ "binary:T,T,bool:gt:16x8:16x8", 0, 0 },
	{ "binary:T,T,bool:le:16x8:1", 0, 0 },
	{ "eltwise:T,T:sigmoid:16x8+mul:T", 1e-6, 4 },
	{ "binary:T,T,T:add:16x8:8+relu+mul:T+affine,2,0.25", 1e-6, 4 },
	{ "binary:T,T,T:mul:16x8:16x8+add:T+tanh+sub:T", 2e-6, 4 },
	{ "eltwise:f64,f64:tanh:16x8", 1e-15, 2 },
	{ "binary:s32,s32,s32:mul:16x8:8", 0, 4 },
	{ "binary:s64,s64,s64:sub:5x7:5x7", 0, 1 },
	{ "binary:u8,u8,u8:add:16x8:16x8", 0, 16 },
	{ "binary:s8,s8,s8:sub:16x32:16x1", 0, 16 },
	{ "binary:s32,s32,bool:eq:16x8:16x8", 0, 4 },
	{ "binary:s16,s16,s16:div:16x8:1", 0, 8 },
	{ "eltwise:s32,s32:abs:33", 0, 1 },
	{ "eltwise:u8,u8:affine,0.5,3:16x8", 0, 0 },
	{ "binary:u32,u32,u32:maximum:16x8:8", 0, 4 },
};

struct made {
	std::string text;
	struct problem p;
	struct nvrtc_source source;
	double tolerance;
};

static std::vector<struct made> chains;

static void chain_make(std::string text, double tolerance, int words)
{
	struct made m = { text, parse(text), {}, tolerance };
	struct error err = ERROR_NONE;
	if (!ok(nvrtc_source_make(&m.source, &m.p, &err) == 0, "%s has a kernel", text.c_str())) {
		printf("# %s\n", err.text);
		return;
	}
	if (words)
		is_int(m.source.words, words, "%s: elements at once", text.c_str());
	chains.push_back(m);
}

static void chains_make(void)
{
	static const struct {
		const char *name;
		double slack;
		int factor;
	} types[] = { { "f32", 0, 1 }, { "f16", 1e-3, 2 }, { "bf16", 8e-3, 2 } };
	for (auto &c : cases)
		for (auto &type : types) {
			std::string text;
			bool any = strchr(c.text, 'T') != NULL;
			for (const char *s = c.text; *s; s++)
				text += *s == 'T' ? std::string(type.name) : std::string(1, *s);
			if (!any && type.factor == 2)
				continue;
			int words = c.words == 4 && any ? 4 * type.factor : c.words;
			/* sizes that are a multiple of 4 but not of 8 */
			bool odd = text.find("x3x4") != std::string::npos && type.factor == 2;
			chain_make(text, c.tolerance > type.slack || !any ? c.tolerance : type.slack,
				odd ? 0 : words);
		}
}

typedef void run_function(const void *const *in, void *out);

static void *library_make(void)
{
	char folder[] = "/tmp/pointwiseXXXXXX";
	if (!mkdtemp(folder))
		return NULL;
	std::string source = std::string(folder) + "/all.cpp", library = std::string(folder) + "/all.so";
	FILE *f = fopen(source.c_str(), "w");
	fputs(pointwise_prelude, f);
	for (size_t i = 0; i < chains.size(); i++)
		fprintf(f,
			"namespace n%d {\n%s\n}\nextern \"C\" void run%d(const void *const *p, void *q)\n"
			"{ n%d::pointwise(p[0], p[1], p[2], p[3], p[4], p[5], q); }\n",
			(int)i, chains[i].source.text.p, (int)i, (int)i);
	fclose(f);
	const char *compiler = getenv("CXX"), *folder_of_sources = getenv("BENANZA_SRC");
	std::string command = std::string(compiler && *compiler ? compiler : CXX_USED) +
		" -x c++ -std=c++17 -O1 -w -fPIC -shared -ffp-contract=off -fno-strict-aliasing -I" +
		(folder_of_sources ? folder_of_sources : SOURCES) + "/src -o " + library + " " + source;
	void *handle = system(command.c_str()) == 0 ? dlopen(library.c_str(), RTLD_NOW) : NULL;
	if (!handle)
		printf("# %s: %s\n", command.c_str(), dlerror());
	unlink(source.c_str());
	unlink(library.c_str());
	rmdir(folder);
	return handle;
}

static void chain_run(const struct made &m, run_function *run, int64_t *thread, int64_t *threads)
{
	struct operand_values v;
	std::vector<buffer *> held;
	const void *in[NVRTC_INPUTS] = { NULL };
	int last = problem_operand_count(&m.p) - 1;
	v.bytes.resize((size_t)last);
	v.epilogue.resize(PROBLEM_EPILOGUES);
	v.epilogue_type.resize(PROBLEM_EPILOGUES);
	for (int i = 0; i < m.source.input_count; i++) {
		int number = m.source.input[i].number;
		bool is_epilogue = m.source.input[i].is_epilogue;
		struct cuda_layout l = is_epilogue ? cuda_epilogue_layout(&m.p, number)
						   : cuda_operand_layout(&m.p, number, 0);
		held.push_back(operand_make(l, 70 + i, FILL_SIGNED, 0,
			is_epilogue ? &v.epilogue[(size_t)number] : &v.bytes[(size_t)number]));
		if (is_epilogue)
			v.epilogue_type[(size_t)number] = l.dtype;
		else
			v.type.push_back(l.dtype);
		in[i] = held.back()->p;
	}
	struct cuda_layout to = cuda_operand_layout(&m.p, last, 0);
	buffer out(span_bytes(to));
	*threads = 3;
	for (*thread = 0; *thread < *threads; ++*thread)
		run(in, out.p);
	std::vector<char> dense = row_major_of(to, out.p);
	is_int(outputs_wrong(&m.p, &v, dense.data(), m.tolerance), 0, "%s is right", m.text.c_str());
	for (buffer *b : held)
		delete b;
}

static void test_on_cpu(void)
{
	void *library = library_make();
	if (!ok(library != NULL, "the kernels compile for a CPU"))
		return;
	int64_t *thread = (int64_t *)dlsym(library, "thread"),
		*threads = (int64_t *)dlsym(library, "threads");
	for (size_t i = 0; i < chains.size(); i++) {
		std::string name = "run" + std::to_string(i);
		chain_run(chains[i], (run_function *)dlsym(library, name.c_str()), thread, threads);
	}
	dlclose(library);
}

/* Joins every `of`-th kernel from number `first` on, with other names, to one program. */
static void texts_join(struct str *text, size_t first, size_t of, bool narrow)
{
	str_puts(text, nvrtc_prelude);
	for (size_t i = first; i < chains.size(); i += of)
		if (!narrow || chains[i].p.operand[0].dtype == DTYPE_F32 ||
			size_of(chains[i].p.operand[0].dtype) < 4)
			str_addf(text,
				"#define pointwise pointwise%d\nnamespace n%d {\n%s\n}\n#undef pointwise\n",
				(int)i, (int)i, chains[i].source.text.p);
}

static void test_nvrtc(void)
{
	struct error err = ERROR_NONE;
	const struct cuda_compiler *compiler = cuda_compiler(&err);
	if (!compiler) {
		ok(strstr(err.text, "NVRTC") && strstr(err.text, "install"),
			"a missing NVRTC is named, with the fix");
		printf("# no NVRTC: %s\n", err.text);
		return;
	}
	/* all for the oldest, for the others a fifth each; make check-long: all for all */
	size_t turn = 0;
	for (int sm : { 75, 80, 89, 90, 100, 120 }) {
		struct str code = {}, text = {};
		size_t of = sm == 75 || getenv("CHECK_LONG") ? 1 : 5;
		texts_join(&text, of == 1 ? 0 : turn++, of, false);
		bool good = cuda_compile(text.p, sm, &code, &err) == 0;
		if (!good)
			printf("# %s\n", err.text);
		ok(good && code.n > 1000 && memcmp(code.p, "\177ELF", 4) == 0,
			"NVRTC %s compiles one in %d of %d for sm_%d", compiler->version, (int)of,
			(int)chains.size(), sm);
		str_free(&code);
		str_free(&text);
	}
	struct str ptx = {};
	ok(cuda_compile("__device__ int x;", 999, &ptx, &err) == 0 && strstr(ptx.p, ".version"),
		"a capability that it does not know gets PTX");
	ok(cuda_compile("__device__ int x;", 20, &ptx, &err) == -1 && strstr(err.text, "2.0"),
		"one too old is refused");
	ok(cuda_compile("int x = y;\nint z = u;\n", 90, &ptx, &err) == -1 &&
			strstr(err.text, "pointwise.cu(1)"),
		"an error names its line");
	str_free(&ptx);
}

/* Chains of narrow types must not compute in f64, which is slow. */
static void test_precision(void)
{
	struct error err = ERROR_NONE;
	struct str text = {}, ptx = {};
	texts_join(&text, 0, 4, true);
	if (cuda_compiler(&err))
		ok(cuda_compile(text.p, 999, &ptx, &err) == 0 && !strstr(ptx.p, ".f64"),
			"no arithmetic in f64 in chains of narrow types");
	if (ptx.p && strstr(ptx.p, ".f64"))
		printf("# %.300s\n", strstr(ptx.p, ".f64") - 100);
	str_free(&text);
	str_free(&ptx);
}

static void refuse(const char *text, const char *why)
{
	struct problem p = parse(text);
	struct nvrtc_source s;
	struct error err = ERROR_NONE;
	ok(nvrtc_source_make(&s, &p, &err) == -1 && strstr(err.text, why), "%s: %s (%s)", text, why,
		err.text);
	str_free(&s.text);
}

int main(void)
{
	chains_make();
	test_on_cpu();
	test_nvrtc();
	test_precision();
	refuse("softmax:f32,f32:soft:1x8:ax1", "only pointwise");
	refuse("eltwise:f8e4m3,f32:relu:8", "no f8e4m3");
	refuse("binary:u64,u64,u64:add:8:8", "no u64");
	refuse("eltwise:f32,f32@s32x1:relu:4x8", "dense destination");
	for (struct made &m : chains)
		str_free(&m.source.text);
	return done_testing();
}
