#include "config.h"

#include "analyze/analyze.h"
#include "make_plan.h"
#include "tap.h"

#include <math.h>

/* Rooflines: of a problem under a scenario, of what was measured, of described devices, and peaks from
 * measurements. */

#define COPY "copy:u8,u8:b1000000"
#define MATMUL "matmul:f32,f32.c,f32/f32:ba1bb1m1000n1000k1000:ta0tb0"
#define MATMUL16 "matmul:f16,f16.c,f16/f32:ba1bb1m1000n1000k1000:ta0tb0"
#define RELU "eltwise:f32,f32:relu:1000x1000"
#define SQUARE "1000x1000"

/* 1 TB/s; f32 10 T, f16 20 T; with matrix units tf32 100 T, f16 200 T. */
static struct peaks known(void)
{
	struct peaks k = peaks_unknown();
	k.bandwidth_bytes_s = 1e12;
	k.flops[DTYPE_F32] = 10e12;
	k.flops[DTYPE_F16] = 20e12;
	k.matrix_flops[DTYPE_TF32] = 100e12;
	k.matrix_flops[DTYPE_F16] = 200e12;
	return k;
}

static double roof(const char *text, const struct peaks *k, const char *toggles)
{
	struct scenario s = scenario_default();
	struct problem p;
	struct error err = ERROR_NONE;
	scenario_parse(&s, toggles, NULL);
	if (problem_parse(text_of(text), &p, &err) < 0)
		ok(false, "%s", err.text);
	return roofline_ns(&p, k, &s);
}

static void scenarios(void)
{
	struct peaks k = known(), none = peaks_unknown();
	near(roof(COPY, &k, ""), 2000, 1e-9, "a copy: bytes read and written by the bandwidth");
	near(roof(RELU, &k, ""), 8000, 1e-9, "element by element: bytes");
	near(roof(MATMUL, &k, ""), 200e3, 1e-9, "a product in f32 on plain units");
	near(roof(MATMUL, &k, "matrix"), 200e3, 1e-9, "f32 does not run on matrix units");
	near(roof(MATMUL, &k, "math"), 200e3, 1e-9, "... nor do plain units round");
	near(roof(MATMUL, &k, "matrix,math"), 20e3, 1e-9, "but rounded to tf32 it does");
	near(roof(MATMUL16, &k, ""), 100e3, 1e-9, "f16 on plain units");
	near(roof(MATMUL16, &k, "matrix"), 10e3, 1e-9, "... on matrix units");
	ok(isnan(roof(MATMUL, &none, "")) && isnan(roof(COPY, &none, "")), "no peaks, no roofline");
	none.bandwidth_bytes_s = 1e12;
	ok(isnan(roof(MATMUL, &none, "")), "the peak that it takes is not known");
	near(roof(COPY, &none, ""), 2000, 1e-9, "a copy takes none");
	none.flops[DTYPE_F32] = 1e9;
	near(roof("eltwise:bf16,bf16:relu:1000x1000", &none, ""), 1e6, 1e-9,
		"without a peak of its own, in f32");
	k.matrix_flops[DTYPE_F16] = 1e12;
	near(roof(MATMUL16, &k, "matrix"), 100e3, 1e-9, "the better of the units that are allowed");
	k.level_count = 2;
	k.level[0] = (struct peak_level){ 2, 1e6, 8e12, false };
	k.level[1] = (struct peak_level){ 3, 40e6, 4e12, false };
	near(roof(COPY, &k, ""), 500, 1e-9, "what fits in a cache, by that one's bandwidth");
	near(roof("copy:u8,u8:b500000", &k, ""), 125, 1e-9, "... the nearest that holds it");
	near(roof("copy:u8,u8:b100000000", &k, ""), 200e3, 1e-9, "what does not, by the memory's");
	k.level[0].bandwidth_bytes_s = NAN;
	near(roof("copy:u8,u8:b500000", &k, ""), 250, 1e-9, "a bandwidth that is not known: the next one");
	ok(!peaks_have_matrix(&none) && peaks_have_matrix(&k), "who has matrix units");
}

static double of_result(
	const char *text, const struct peaks *k, enum matrix matrix, const char *math, const char *notes)
{
	struct problem p;
	struct result r = make_result(text, 1);
	r.algorithm.matrix = matrix;
	r.algorithm.math = math;
	r.algorithm.notes = notes;
	problem_parse(text_of(text), &p, NULL);
	return roofline_of_result(&p, k, &r);
}

static void results(void)
{
	struct peaks k = known();
	near(of_result(MATMUL, &k, MATRIX_NO, "strict", ""), 200e3, 1e-9, "the algorithm's own units");
	near(of_result(MATMUL, &k, MATRIX_YES, "tf32", NULL), 20e3, 1e-9, "... and math");
	near(of_result(MATMUL, &k, MATRIX_YES, "fast_f16", ""), 10e3, 1e-9, "... inside f32");
	near(of_result(MATMUL, &k, MATRIX_UNKNOWN, "strict", ""), 4000, 1e-9,
		"units not known: the weights' bytes alone");
	near(of_result(MATMUL, &k, MATRIX_NO, "strict", "winograd"), 4000, 1e-9, "Winograd counts its own");
	near(of_result(MATMUL, &k, MATRIX_YES, "f16_accumulate", ""), 4000, 1e-9, "math without a figure");
	ok(isnan(of_result(MATMUL, &k, MATRIX_YES, "fast_bf16", "")), "a peak that is not known");
	near(of_result(COPY, &k, MATRIX_NO, "strict", ""), 0, 0,
		"what a cache of unknown size may hold is not claimed");
	k.level_count = 1;
	k.level[0] = (struct peak_level){ 3, 1e6, NAN, false };
	near(of_result(COPY, &k, MATRIX_NO, "strict", ""), 2000, 1e-9, "what it cannot is");
}

/* MatMul -> Relu -> Softmax of an unknown kind */
static struct plan *net(struct maker *m, bool odd)
{
	int y = make_layer(m, "MatMul", MATMUL, SQUARE, make_input(m, SQUARE), make_constant(m, SQUARE));
	y = make_layer(m, "Relu", RELU, SQUARE, y, -1);
	y = make_layer(m, "Identity", NULL, SQUARE, y, -1);
	if (odd)
		y = make_layer(m, "Odd", NULL, SQUARE, y, -1);
	m->plan.values[y].is_output = true;
	return make_finish(m);
}

static struct what_if_effect effect(
	struct arena *a, const struct ground *g, const struct scenario *s, const char *name)
{
	int count;
	struct what_if_effect *e = analyze_what_ifs(a, g, s, &count);
	for (int i = 0; i < count; i++)
		if (strcmp(e[i].row->name, name) == 0)
			return e[i];
	return (struct what_if_effect){ 0 };
}

/* Why a layer has no estimate, and what would give one. */
static void no_estimates(void)
{
	struct maker *m = make_begin();
	struct peaks k = known();
	struct arena a = { 0 };
	struct scenario s = scenario_default();
	struct ground g = { .plan = net(m, false), .results = results_new(), .peaks = &k, .estimate = true };
	k.flops[DTYPE_F32] = NAN;
	struct analysis *x = analyze(&a, &g, &s);
	ok(!x->complete && x->layers[0].origin == ORIGIN_MISSING, "no peak of its units: missing");
	is_str(x->layers[0].why, "f32 peak only on matrix units: add -w matrix,math",
		"... the scenario bars those");
	s.matrix = true;
	is_str(analyze(&a, &g, &s)->layers[0].why, "f32 peak only on matrix units: add -w math",
		"... half of it");
	k.matrix_flops[DTYPE_TF32] = NAN;
	is_str(analyze(&a, &g, &s)->layers[0].why, "no f32 peak of the device is known: f16 has one (-t)",
		"... or the device's peak is not known");
	k.flops[DTYPE_BF16] = k.flops[DTYPE_F16];
	is_str(analyze(&a, &g, &s)->layers[0].why,
		"no f32 peak of the device is known: f16 and bf16 have one (-t)", "... another type has one");
	k.flops[DTYPE_F16] = k.flops[DTYPE_BF16] = k.matrix_flops[DTYPE_F16] = NAN;
	is_str(analyze(&a, &g, &s)->layers[0].why,
		"no f32 peak of the device is known: assume a cost (--assume)", "... none has");
	results_free((struct results *)g.results);
	arena_free(&a);
	make_end(m);
}

static void estimates(void)
{
	struct maker *m = make_begin();
	struct peaks k = known();
	struct arena a = { 0 };
	struct scenario s = scenario_default();
	struct ground g = { .plan = net(m, false), .results = results_new(), .peaks = &k };
	struct fusion *f = fusion_find(g.plan);
	g.fusion = f;
	struct analysis *x = analyze(&a, &g, &s);
	ok(isnan(x->total_ns) && x->coverage.missing == 2 && !x->estimated, "peaks alone estimate nothing");
	near(x->layers[0].roofline_ns, 200e3, 1e-9, "... but tell rooflines");
	near(x->roofline_ns, 208e3, 1e-9, "... of all that runs");
	g.estimate = true;
	x = analyze(&a, &g, &s);
	near(x->total_ns, 208e3, 1e-9, "asked for, they stand for measurements");
	ok(x->estimated && x->complete && x->coverage.estimated == 2 && x->coverage.measured == 0,
		"... counted as such");
	ok(x->layers[0].origin == ORIGIN_ESTIMATED && isnan(x->layers[0].lo) && !x->layers[0].result,
		"... without a result");
	ok(isnan(x->lo_ns) && x->unmeasured_problems == 0, "... nor an interval, nor a wish");
	near(x->coverage.cost_estimated_share, 1, 0, "all of the cost");
	near(x->coverage.flops_measured_share, 0, 0, "none of the work is measured");
	near(effect(&a, &g, &s, "fusion").saves_ns, 8e3 - 100, 1e-9,
		"fused, the Relu has no bytes of its own, but its operations");
	ok(effect(&a, &g, &s, "fusion").estimated, "... marked");
	ok(fabs(effect(&a, &g, &s, "matrix").saves_ns) <= 0 && effect(&a, &g, &s, "matrix").available,
		"matrix units, of no use to f32");
	ok(!effect(&a, &g, &s, "algorithm").available && !effect(&a, &g, &s, "launch").available,
		"an estimate has neither algorithms nor launches");
	k.matrix_flops[DTYPE_TF32] = NAN;
	ok(!effect(&a, &g, &s, "matrix").available && !effect(&a, &g, &s, "math").available,
		"without tf32 nothing for f32");
	k = known();
	s.matrix = true;
	near(effect(&a, &g, &s, "math").saves_ns, 180e3, 1e-9, "but with relaxed math");
	s.matrix = false;
	s.fusion = true;
	x = analyze(&a, &g, &s);
	ok(x->layers[0].origin == ORIGIN_ESTIMATED && x->layers[1].origin == ORIGIN_FUSED,
		"an estimated group");
	measure((struct results *)g.results, MATMUL, 300e3);
	measure((struct results *)g.results, RELU, 20e3);
	x = analyze(&a, &g, &s);
	ok(x->total_ns == 320e3 && !x->estimated, "estimates do not displace what was measured");
	near(x->layers[0].roofline_ns, 200e3, 1e-9, "what was measured beside its roofline");
	struct result no = make_result(RELU, NAN);
	no.status = STATUS_UNSUPPORTED;
	no.algorithm.name = "";
	results_free((struct results *)g.results);
	struct results *r = results_new();
	g.results = r;
	results_put(r, &no);
	s.fusion = false;
	x = analyze(&a, &g, &s);
	ok(x->layers[1].origin == ORIGIN_UNSUPPORTED && !x->complete && x->estimated,
		"what was refused is not estimated");
	arena_free(&a);
	results_free(r);
	fusion_free(f);
	make_end(m);
}

/* What is free inside a group is no estimate more than outside of it. */
static void estimated_groups(void)
{
	for (int inner = 0; inner < 2; inner++) {
		struct maker *m = make_begin();
		struct peaks k = known();
		struct arena a = { 0 };
		struct scenario s = scenario_default();
		int y = make_layer(
			m, "MatMul", MATMUL, SQUARE, make_input(m, SQUARE), make_constant(m, SQUARE));
		for (int i = 0; i < inner; i++)
			y = make_layer(m, "Identity", NULL, SQUARE, y, -1);
		y = make_layer(m, "Relu", RELU, SQUARE, y, -1);
		m->plan.values[y].is_output = true;
		struct ground g = {
			.plan = make_finish(m), .results = results_new(), .peaks = &k, .estimate = true
		};
		struct fusion *f = fusion_find(g.plan);
		g.fusion = f;
		s.fusion = true;
		near(analyze(&a, &g, &s)->total_ns, 200e3 + 100, 1e-9, "an estimated group %s",
			inner ? "across a free layer" : "");
		arena_free(&a);
		results_free((struct results *)g.results);
		fusion_free(f);
		make_end(m);
	}
}

static void gaps(void)
{
	struct maker *m = make_begin();
	struct peaks k = known();
	struct arena a = { 0 };
	struct scenario s = scenario_default();
	struct results *r = results_new();
	struct ground g = { .plan = net(m, true), .results = r, .peaks = &k, .estimate = true };
	struct analysis *x = analyze(&a, &g, &s);
	ok(x->coverage.missing == 1 && !x->complete && isnan(x->roofline_ns),
		"a layer without a problem leaves both open");
	k.flops[DTYPE_F32] = NAN;
	x = analyze(&a, &g, &s);
	ok(x->layers[0].origin == ORIGIN_MISSING && x->layers[1].origin == ORIGIN_ESTIMATED,
		"so does an unknown peak");
	arena_free(&a);
	results_free(r);
	make_end(m);
}

/* Two cores with 32 KiB and 1 MiB each, and 16 MiB that they share. */
/* A peak by the name of its data type: f8 are both, and s8 and u8 use the same units. */
static void named_peaks(void)
{
	struct peaks k = peaks_unknown();
	ok(!peaks_have_matrix(&k) && !peaks_known(&k), "no peak is known");
	is_int(peaks_set(&k, TEXT("f32"), false, 1e12), 0, "f32");
	ok(k.flops[DTYPE_F32] == 1e12 && isnan(k.matrix_flops[DTYPE_F32]) && !peaks_have_matrix(&k),
		"without matrix units");
	is_int(peaks_set(&k, TEXT("bf16"), true, 2e12), 0, "bf16");
	ok(k.matrix_flops[DTYPE_BF16] == 2e12 && isnan(k.flops[DTYPE_BF16]) && peaks_have_matrix(&k),
		"on matrix units");
	is_int(peaks_set(&k, TEXT("f8"), true, 3e12), 0, "f8");
	ok(k.matrix_flops[DTYPE_F8E4M3] == 3e12 && k.matrix_flops[DTYPE_F8E5M2] == 3e12, "is both types");
	is_int(peaks_set(&k, TEXT("s8"), false, 4e12), 0, "s8");
	ok(k.flops[DTYPE_S8] == 4e12 && k.flops[DTYPE_U8] == 4e12, "is u8 too");
	is_int(peaks_set(&k, TEXT("f16"), false, 5e12), 0, "f16");
	ok(k.flops[DTYPE_F16] == 5e12 && k.flops[DTYPE_U8] == 4e12, "is not u8");
	ok(isnan(k.flops[DTYPE_F8E4M3]), "f8 is no type without matrix units here");
	static const double refused[] = { 0, -1, NAN, INFINITY };
	for (int i = 0; i < 4; i++)
		is_int(peaks_set(&k, TEXT("f32"), false, refused[i]), -1, "a peak of %g is refused",
			refused[i]);
	is_int(peaks_set(&k, TEXT("f33"), false, 1e12), -1, "an unknown type is refused");
	ok(k.flops[DTYPE_F32] == 1e12, "and nothing is changed");
}

static struct device two_cores(const char *attributes)
{
	return (struct device){
		.name = "cpu", .threads = 2, .llc_bytes = 16 * 1048576.0, .attributes = attributes
	};
}

#define CACHES                                                                                               \
	"{\"caches\":[{\"level\":1,\"type\":\"Data\",\"bytes\":32768},{\"level\":1,\"type\":"                \
	"\"Instruction\","                                                                                   \
	"\"bytes\":32768},{\"level\":2,\"type\":\"Unified\",\"bytes\":1048576},"                             \
	"{\"level\":3,\"type\":\"Unified\",\"bytes\":16777216%s}]}"

static bool has(const char **texts, int count, const char *text)
{
	for (int i = 0; i < count; i++)
		if (strcmp(texts[i], text) == 0)
			return true;
	return false;
}

/* Prints the peaks if at least one is known, whichever it is. */
static void one_peak(void)
{
	static const char *const texts[] = { "memory -; f32 5.00 TFLOP/s",
		"memory -; on matrix units f32 5.00 TFLOP/s", "memory 5.00 TB/s" };
	struct peaks none = peaks_unknown();
	json_t *o = peaks_json(&none);
	struct str line = { 0 };
	peaks_describe(&none, &line);
	ok(json_is_null(o) && line.n == 0 && !peaks_have_gaps(&none),
		"no peak: nothing is printed, nothing is missing");
	json_decref(o);
	for (int i = 0; i < 3; i++) {
		struct peaks k = peaks_unknown();
		*(i == 0		 ? &k.flops[DTYPE_F32]
				: i == 1 ? &k.matrix_flops[DTYPE_F32]
					 : &k.bandwidth_bytes_s) = 5e12;
		str_clear(&line);
		peaks_describe(&k, &line);
		is_str(line.p, texts[i], "one peak as text");
		is_int(peaks_have_gaps(&k), i < 2, "without the bandwidth there are gaps");
		is_int(peaks_have_matrix(&k), i == 1, "peaks of matrix units");
		o = peaks_json(&k);
		struct peaks back = peaks_from_json(o);
		near(i == 0		 ? back.flops[DTYPE_F32]
				: i == 1 ? back.matrix_flops[DTYPE_F32]
					 : back.bandwidth_bytes_s,
			5e12, 0, "one peak as JSON and back");
		json_decref(o);
	}
	str_free(&line);
}

static void peak_problems(void)
{
	struct arena a = { 0 };
	bool types[DTYPE_COUNT] = { 0 }, good = true;
	int count, all;
	const char **every = peaks_problems_of_all(&a, &all);
	for (int i = 0; i < all; i++) {
		struct problem p;
		char again[PROBLEM_TEXT_SIZE];
		good &= problem_parse(text_of(every[i]), &p, NULL) == 0 &&
			problem_format(&p, again, NULL) == 0 && strcmp(again, every[i]) == 0;
	}
	ok(good, "%d texts read back", all);
	peaks_note_type(types, MATMUL16);
	peaks_note_type(types, RELU);
	peaks_note_type(types, "nonsense");
	struct device cpu = two_cores(arena_printf(&a, CACHES, "")),
		      gpu = { .name = "cuda:0", .llc_bytes = 50e6 };
	const char **texts = peaks_problems(&a, &cpu, types, &count);
	good = true;
	for (int i = 0; i < count; i++)
		good &= has(every, all, texts[i]);
	ok(good && count < 16, "%d of a CPU, of those", count);
	ok(has(texts, count, "copy:u8,u8:b8192") && has(texts, count, "copy:u8,u8:b262144"),
		"a copy for each cache of one core");
	ok(has(texts, count, "copy:u8,u8:b4194304") && has(texts, count, "copy:u8,u8:b67108864"),
		"what is shared, and memory");
	double least = INFINITY, most = 0, all_bytes = 0;
	for (int i = 0; i < count; i++) {
		struct problem p;
		problem_parse(text_of(texts[i]), &p, NULL);
		double bytes = problem_bytes(&p);
		most = fmax(most, bytes);
		all_bytes += bytes;
		if (p.kernel == KERNEL_MATMUL && p.m == 1)
			least = fmin(least, bytes);
	}
	ok(least < 4.3e6 && most < 150e6 && all_bytes < 600e6,
		"reads from %.1f to %.1f MB, %.1f MB in all", least / 1e6, most / 1e6, all_bytes / 1e6);
	ok(has(texts, count, "matmul:f16,f16.c,f16/f32:ba1bb1m576n576k576:ta0tb0"),
		"a product of the type that is asked for");
	ok(!has(texts, count, "matmul:f32,f32.c,f32/f32:ba1bb1m576n576k576:ta0tb0"), "... and of no other");
	cpu.threads = 1;
	texts = peaks_problems(&a, &cpu, types, &count);
	ok(has(texts, count, "copy:u8,u8:b67108864") && !has(texts, count, "copy:u8,u8:b1073741824"),
		"a CPU of one thread is no GPU");
	texts = peaks_problems(&a, &gpu, types, &count);
	ok(has(texts, count, "copy:u8,u8:b1073741824") && has(texts, count, "copy:u8,u8:b8388608"),
		"a GPU: memory and its cache");
	ok(has(texts, count, "matmul:f16,f16.c,f16/f32:ba1bb1m8192n8192k8192:ta0tb0"),
		"... and a product that fills it");
	/* nominal caches of virtual machines change nothing */
	static const double nominal[] = { 8e6, 64 << 20, 260 << 20, 480 << 20, 768 << 20 };
	for (size_t i = 0; i < sizeof(nominal) / sizeof(nominal[0]); i++) {
		struct device vm = { .name = "cpu", .threads = 2, .llc_bytes = nominal[i] };
		most = 0;
		texts = peaks_problems(&a, &vm, types, &count);
		for (int k = 0; k < count; k++) {
			struct problem p;
			problem_parse(text_of(texts[k]), &p, NULL);
			most = fmax(most, problem_bytes(&p));
		}
		ok(most > 128e6 && most < 150e6, "%.0f MiB of cache: the largest set is %.0f MB",
			nominal[i] / (1 << 20), most / 1e6);
	}
	static const char *const odd[] = { "", "[]", "{\"caches\":7}",
		"{\"caches\":[7,{},{\"bytes\":-1},{\"bytes\":1e308}]}",
		"{\"caches\":[{\"level\":1,\"bytes\":64,\"shared\":-5},{\"level\":1,\"bytes\":64,\"shared\":"
		"1e300}]}" };
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		cpu = two_cores(odd[i]);
		texts = peaks_problems(&a, &cpu, types, &count);
		ok(count >= 2 && count < 64, "nonsense for caches: %s", odd[i]);
	}
	arena_free(&a);
}

static struct device vm_of(double llc_bytes)
{
	return (struct device){ .name = "cpu", .threads = 2, .llc_bytes = llc_bytes };
}

/* Reads of sets of 4 to 128 MiB, those up to `knee` at 50 GB/s, larger ones at 20. */
static struct peaks curve(double knee, double nominal)
{
	struct results *r = results_new();
	for (double set = 4 << 20; set <= 128 << 20; set *= 2) {
		char text[PROBLEM_TEXT_SIZE];
		struct problem p;
		snprintf(text, sizeof(text), "matmul:f32,f32,f32/f32:ba1bb1m1n%.0fk4096:ta0tb0",
			set / 4 / 4096);
		problem_parse(text_of(text), &p, NULL);
		double ns = problem_bytes(&p) / (set <= knee ? 50 : 20);
		struct result one = { .problem = text, .status = STATUS_OK, .runner_version = "1",
			.algorithm = { .api = "x", .name = "y", .layouts = "", .math = "strict" },
			.stats = { .n = 30, .min = ns, .median = ns, .stop = STOP_CONVERGED } };
		results_add(r, &one);
	}
	struct device d = vm_of(nominal);
	struct peaks k = peaks_from_results(r, &d);
	results_free(r);
	return k;
}

/* No nominal cache is believed: what is read at the speed of memory comes from memory. */
static void read_curve(void)
{
	struct peaks k = curve(32 << 20, 480 << 20);
	near(k.bandwidth_bytes_s, 20e9, 0.01, "a nominal cache of 480 MiB: 64 MiB come from memory");
	ok(k.level_count == 1 && k.level[0].bytes == 32 << 20, "its cache ends at 32 MiB: %.0f",
		k.level_count ? k.level[0].bytes : NAN);
	near(k.level[0].bandwidth_bytes_s, 50e9, 0.01, "and is as fast as it is");
	k = curve(32 << 20, 30 << 20);
	ok(k.level_count == 1 && k.level[0].bytes == 30 << 20, "a cache that is smaller stays as it is");
	k = curve(0, 64 << 20);
	near(k.bandwidth_bytes_s, 20e9, 0.01, "without a knee all of it is memory");
	ok(k.level_count == 1 && k.level[0].bytes == 2 << 20, "as far as it was read: %.0f",
		k.level_count ? k.level[0].bytes : NAN);
}

static void copied(struct results *r, const char *text, const char *algorithm, double median, double least)
{
	struct result one = make_result(text, median);
	one.algorithm.name = algorithm;
	one.stats.min = least;
	results_put(r, &one);
}

static void measured_levels(void)
{
	struct results *r = results_new();
	struct arena a = { 0 };
	struct device d = two_cores(arena_printf(&a, CACHES, ""));
	struct peaks k = peaks_from_results(r, &d);
	ok(isnan(k.bandwidth_bytes_s) && k.level_count == 3 && isnan(k.level[0].bandwidth_bytes_s),
		"nothing measured, nothing known");
	ok(k.level[0].bytes == 65536 && k.level[1].bytes == 2097152 && k.level[2].bytes == 16777216,
		"what two threads have of each level");
	copied(r, "copy:u8,u8:b8192", "memcpy", 100, 90);
	copied(r, "copy:u8,u8:b8192", "memcpy:2_threads", 1000, 900);
	copied(r, "copy:u8,u8:b262144", "memcpy", 6000, 5000);
	copied(r, "copy:u8,u8:b4194304", "memcpy:2_threads", 100e3, 80e3);
	copied(r, "copy:u8,u8:b67108864", "memcpy:2_threads", 14e6, 12e6);
	k = peaks_from_results(r, &d);
	near(k.level[0].bandwidth_bytes_s, 2 * 16384 / 90e-9, 1e-9,
		"L1: what one thread gets, as often as there are threads; its best sample");
	near(k.level[1].bandwidth_bytes_s, 2 * 524288 / 5e-6, 1e-9, "L2 too");
	near(k.level[2].bandwidth_bytes_s, 8388608 / 80e-6, 1e-9, "L3: what all threads get together");
	ok(k.level[0].estimated && k.level[1].estimated && !k.level[2].estimated,
		"what one thread got times their number is an estimate");
	near(k.bandwidth_bytes_s, 134217728 / 12e-3, 1e-9, "memory");
	struct str line = { 0 };
	ok(!peaks_have_gaps(&k) && !k.noisy, "nothing is missing");
	k.level[2].bandwidth_bytes_s = NAN;
	peaks_describe(&k, &line);
	is_str(line.p, "memory 11.2 GB/s, L3 -, L2 ~210 GB/s, L1 ~364 GB/s",
		"as a line: what is not known, and what is estimated");
	ok(peaks_have_gaps(&k), "... something is");
	str_free(&line);
	struct result disturbed = make_result("matmul:f32,f32,f32/f32:ba1bb1m1n8192k4096:ta0tb0", 11e6);
	disturbed.stats.stop = STOP_DISTURBED;
	results_put(r, &disturbed);
	k = peaks_from_results(r, &d);
	near(k.bandwidth_bytes_s, 134217728 / 12e-3, 1e-9, "what was disturbed tells of no peak");
	ok(k.noisy, "and is said");
	struct results *passed_over = results_new();
	disturbed = make_result("copy:u8,u8:b67108864", 8e6);
	disturbed.stats.stop = STOP_DISTURBED;
	results_put(passed_over, &disturbed);
	disturbed.algorithm.name = "memcpy";
	disturbed.stats.stop = STOP_SHORTLIST;
	results_put(passed_over, &disturbed);
	ok(isnan(peaks_from_results(passed_over, &d).bandwidth_bytes_s),
		"nor does what was passed over for it");
	results_free(passed_over);
	measure(r, "matmul:f32,f32,f32/f32:ba1bb1m1n8192k4096:ta0tb0", 10e6);
	k = peaks_from_results(r, &d);
	near(k.bandwidth_bytes_s, (134217728 + 4 * 12288) / 10e-3, 1e-9,
		"... what is only read may be quicker");
	copied(r, "copy:u8,u8:b262144", "memcpy", 1e6, 1e6);
	k = peaks_from_results(r, &d);
	near(k.level[1].bandwidth_bytes_s, 2 * 524288 / 5e-6, 1e-9,
		"measured again in a worse minute, a peak stays");
	struct results *doubted = results_new();
	for (int i = 0; i < 2; i++) { /* the second one is 100 times too fast */
		double ns = i ? 13e4 : 13e6;
		struct result one = make_result("copy:u8,u8:b67108864", ns);
		one.measured_at = i;
		one.sketch = "1";
		one.stats.p10 = ns;
		one.stats.p10_lo = 0.99 * ns;
		one.stats.p10_hi = 1.01 * ns;
		results_put(doubted, &one);
	}
	near(peaks_from_results(doubted, &d).bandwidth_bytes_s, 134217728 / 13e-3, 1e-9,
		"one that no other measurement confirms is no peak");
	results_free(doubted);
	struct results *slow = results_new();
	copied(slow, "copy:u8,u8:b262144", "memcpy", 1e6, 1e6);
	copied(slow, "copy:u8,u8:b4194304", "memcpy:2_threads", 100e3, 80e3);
	k = peaks_from_results(slow, &d);
	near(k.level[1].bandwidth_bytes_s, k.level[2].bandwidth_bytes_s, 1e-9, "what is nearer is no slower");
	results_free(slow);
	d.attributes = arena_printf(&a, CACHES, ",\"shared\":1");
	ok(peaks_from_results(r, &d).level[2].bytes == 33554432,
		"a last level that each core has for itself");
	d.attributes = "{}";
	k = peaks_from_results(r, &d);
	ok(k.level_count == 1 && k.level[0].level == 3 && k.level[0].bytes == 16777216,
		"without a list, the last level alone");
	arena_free(&a);
	results_free(r);
}

static void measured_products(void)
{
	struct results *r = results_new();
	const char *f32 = "matmul:f32,f32.c,f32/f32:ba1bb1m8192n8192k8192:ta0tb0";
	const char *f16 = "matmul:f16,f16.c,f16/f32:ba1bb1m8192n8192k8192:ta0tb0";
	struct device d = { .name = "cuda:0", .llc_bytes = 50e6, .attributes = "{}" };
	measure_algorithm(r, f32, "slow", 0, MATRIX_NO, 2e9);
	measure_algorithm(r, f32, "fma", 1, MATRIX_NO, 1e9);
	measure_algorithm(r, f32, "unknown", 2, MATRIX_UNKNOWN, 1e8);
	measure_algorithm(r, f16, "hmma", 0, MATRIX_YES, 1e7);
	measure_algorithm(
		r, "matmul:u8,s8.c,s32/s32:ba1bb1m8192n8192k8192:ta0tb0", "imma", 0, MATRIX_YES, 1e7);
	struct result tf32 = make_result(f32, 1e8);
	tf32.algorithm.math = "tf32";
	tf32.algorithm.name = "tensor";
	tf32.algorithm.matrix = MATRIX_YES;
	results_put(r, &tf32);
	struct peaks k = peaks_from_results(r, &d);
	double flops = 2.0 * 8192 * 8192 * 8192;
	near(k.flops[DTYPE_F32], flops, 1e-9, "the best of plain units");
	near(k.matrix_flops[DTYPE_TF32], flops * 10, 1e-9, "relaxed math has its own");
	near(k.matrix_flops[DTYPE_F16], flops * 100, 1e-9, "matrix units");
	near(k.matrix_flops[DTYPE_S8], flops * 100, 1e-9, "integers of either sign");
	ok(isnan(k.flops[DTYPE_F16]) && isnan(k.matrix_flops[DTYPE_F32]) && isnan(k.flops[DTYPE_S8]),
		"the rest is not known");
	results_free(r);
}

/* A peak that was measured before, and now something else of the same algorithm. */
static double peak_after(const struct result *now)
{
	const char *set = "copy:u8,u8:b67108864";
	struct device d = two_cores("{}");
	struct results *r = results_new();
	struct result before = make_result(set, 12e6), other = *now;
	before.algorithm.name = other.algorithm.name = "memcpy:2_threads";
	before.runner_version = "2";
	before.measured_at = 1000;
	other.problem = set;
	results_add(r, &before);
	results_add(r, &other);
	double peak = peaks_from_results(r, &d).bandwidth_bytes_s;
	results_free(r);
	return peak * 12e-3 / 134217728; /* 1: the one before */
}

static void measured_again(void)
{
	struct result now = make_result("", 24e6);
	now.runner_version = "2";
	now.measured_at = 2000;
	near(peak_after(&now), 1, 1e-9, "a newer, lower peak does not count");
	now.measured_at = 500;
	near(peak_after(&now), 1, 1e-9, "nor an older one that arrives late, by import");
	now.stats.median = now.stats.min = 6e6;
	near(peak_after(&now), 2, 1e-9, "... but counts where it is higher");
	now.measured_at = 2000;
	now.stats.stop = STOP_DISTURBED;
	near(peak_after(&now), 1, 1e-9, "a disturbed one leaves what is known, too");
	now.stats.stop = STOP_NONE;
	now.status = STATUS_TIMEOUT;
	near(peak_after(&now), 1, 1e-9, "so does a failure");
	now.status = STATUS_MISTRUSTED;
	ok(isnan(peak_after(&now)), "an algorithm that is not trusted any more has no peak, nor had it one");
	now = make_result("", 24e6);
	now.runner_version = "3";
	now.measured_at = 2000;
	near(peak_after(&now), 0.5, 1e-9, "another version of the runner begins anew");
}

/* ---- what is mistrusted ---- */

#define CONV "conv:f32,f32.c,f32/f32:n1c512h7w7k512r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"
#define CONV_FLOPS (2.0 * 49 * 512 * 512 * 9)
#define DOWN "conv:f32,f32.c,f32/f32:n1c16h2048w2048k16r1s1:ph0pw0qh0qw0:sh2sw2:dh1dw1:g1"

static bool doubts(const char *text, const struct peaks *k, enum cache cache, double ns, const char *notes)
{
	struct problem p;
	struct error err = ERROR_NONE;
	struct result r = make_result(text, ns);
	r.cache = cache;
	r.algorithm.notes = notes;
	if (problem_parse(text_of(text), &p, &err))
		ok(false, "%s", err.text);
	return roofline_mistrusts(&p, k, &r);
}

static void mistrust(void)
{
	struct peaks k = known();
	k.level_count = 2;
	k.level[0] = (struct peak_level){ 2, 1e6, 8e12, false };
	k.level[1] = (struct peak_level){ 3, 16e6, 4e12, false };
	ok(doubts(MATMUL, &k, CACHE_NET, 0.89 * 200e3, ""), "more operations a second than the peak");
	ok(!doubts(MATMUL, &k, CACHE_NET, 0.91 * 200e3, ""), "... by little: a peak is no natural constant");
	ok(!doubts(MATMUL, &k, CACHE_NET, 20e3, "winograd"),
		"an algorithm that counts its own multiplications is not held against them");
	ok(!doubts(MATMUL, &k, CACHE_NET, 20e3, "fft"), "nor is the other");
	double whole = CONV_FLOPS / 10e12 * 1e9, met = whole * 361 / 441;
	ok(!doubts(CONV, &k, CACHE_NET, 0.92 * met, ""), "nobody multiplies with padding");
	ok(doubts(CONV, &k, CACHE_NET, 0.88 * met, ""), "... but with the rest");
	ok(doubts("copy:u8,u8:b400000", &k, CACHE_NET, 40, ""), "bytes that pass by no level so fast");
	ok(!doubts("copy:u8,u8:b8000000", &k, CACHE_NET, 3650, ""), "what the last cache may hold");
	ok(doubts("copy:u8,u8:b8000000", &k, CACHE_NET, 3300, ""),
		"... but the nearest cannot have held all of it");
	ok(!doubts("copy:u8,u8:b16000000", &k, CACHE_NET, 15e3, "") &&
			doubts("copy:u8,u8:b16000000", &k, CACHE_NET, 14e3, ""),
		"of what is larger than the last cache, the rest comes from memory");
	double weights = 4e6 / 1e12 * 1e9;
	ok(!doubts("matmul:f32,f32.c,f32/f32:ba1bb1m1n1000k1000:ta0tb0", &k, CACHE_NET, 0.5 * weights, ""),
		"of weights that rotate a cache may have kept half");
	ok(doubts("matmul:f32,f32.c,f32/f32:ba1bb1m1n1000k1000:ta0tb0", &k, CACHE_NET, 0.4 * weights, ""),
		"... not more");
	ok(!doubts("matmul:f32,f32.c,f32/f32:ba1bb1m1n1000k1000:ta0tb0", &k, CACHE_WARM, 0.4 * weights, ""),
		"... all of it when warm");
	double touched = (16e0 * 1024 * 1024 * 4 * 2 - 16e6) / 1e12 * 1e9;
	ok(!doubts(DOWN, &k, CACHE_NET, touched, "") && doubts(DOWN, &k, CACHE_NET, 0.85 * touched, ""),
		"what a window steps over need not be read");
	struct peaks unknown = peaks_unknown();
	ok(!doubts(MATMUL, &unknown, CACHE_NET, 1, "") && !doubts(COPY, &unknown, CACHE_NET, 1, ""),
		"without peaks nothing is");
	unknown.bandwidth_bytes_s = 1e12;
	ok(!doubts(COPY, &unknown, CACHE_NET, 1, ""), "nor where the caches are not known");
	ok(!doubts("conv:f32,f32.c,f32/f32:n1c1h4000w1k1r2001s1:ph2000pw0qh2000qw0:sh1sw1:dh1dw1:g1", &k,
		   CACHE_NET, 5, ""),
		"of windows beyond measure no operations are claimed");
}

static bool doubts_set(const char *text, const struct peaks *k, double ns, const char *kernels)
{
	struct problem p;
	struct result r = make_result(text, ns);
	r.algorithm.api = "beside";
	r.kernels = kernels;
	return problem_parse(text_of(text), &p, NULL) || roofline_mistrusts(&p, k, &r);
}

#define RAN "lane 1, 1 thread: matmul oneDNN jit\n"
#define WINO "lane 1, 1 thread: matmul oneDNN jit, workspace 64, notes winograd\n"
#define WEIGHTS "matmul:f32,f32.c,f32/f32:ba1bb1m1n1000k1000:ta0tb0"

/* Side by side, nothing is faster than the longest branch, nor than the units and the memory for all. */
static void mistrust_sets(void)
{
	struct peaks k = known();
	static const char two[] = "beside:" MATMUL "%" MATMUL, chain[] = "beside:" COPY "%" MATMUL "=" MATMUL,
		bytes[] = "beside:" WEIGHTS "%" WEIGHTS;
	k.level_count = 1;
	k.level[0] = (struct peak_level){ 3, 16e6, 4e12, false };
	ok(doubts_set(two, &k, 0.89 * 400e3, RAN RAN), "two products take the units of both");
	ok(!doubts_set(two, &k, 0.91 * 400e3, RAN RAN), "... no more");
	ok(doubts_set(chain, &k, 0.89 * 400e3, RAN RAN RAN) &&
			!doubts_set(chain, &k, 0.91 * 400e3, RAN RAN RAN),
		"the problems of a branch wait for each other");
	ok(!doubts_set(two, &k, 0.5 * 400e3, RAN WINO) && !doubts_set(two, &k, 0.5 * 400e3, ""),
		"products of which it is not said what ran, or that count their own, need no unit");
	ok(!doubts_set(bytes, &k, 4000, RAN RAN) && doubts_set(bytes, &k, 3500, RAN RAN),
		"the weights of both pass the memory");
	struct peaks unknown = peaks_unknown();
	ok(!doubts_set(two, &unknown, 1, RAN RAN), "without peaks nothing is suspect");
}

/* Two products side by side: the path has one of them, the units have both. */
static void resources(void)
{
	struct maker *m = make_begin();
	struct peaks k = known();
	struct arena a = { 0 };
	struct scenario s = scenario_default();
	struct results *r = results_new();
	int x = make_input(m, SQUARE),
	    left = make_layer(m, "MatMul", MATMUL, SQUARE, x, make_constant(m, SQUARE));
	int right = make_layer(m, "MatMul", MATMUL, SQUARE, x, make_constant(m, SQUARE));
	int y = make_layer(m, "Relu", RELU, SQUARE, left, -1);
	m->plan.values[right].is_output = m->plan.values[y].is_output = true;
	struct ground g = { .plan = make_finish(m), .results = r, .peaks = &k };
	measure(r, MATMUL, 210e3);
	measure(r, RELU, 10e3);
	near(analyze(&a, &g, &s)->resource_ns, 400e3, 1e-9,
		"units cannot do two products in the time of one");
	near(analyze(&a, &g, &s)->path_ns, 220e3, 1e-9, "... which the longest path would let them");
	near(analyze(&a, &g, &s)->parallel_ns, 400e3, 1e-9, "parallel: the resources");
	is_str(analyze(&a, &g, &s)->limit, "f32 units", "... of which these are the busiest");
	struct scenario p = s;
	scenario_parse(&p, "parallel", NULL);
	struct analysis *on = analyze(&a, &g, &p);
	near(on->total_ns, 400e3, 1e-9, "switched on, the bound is that");
	ok(on->lo_ns <= on->total_ns && on->hi_ns >= on->total_ns, "... inside its interval");
	scenario_parse(&p, "parallel=path", NULL);
	near(analyze(&a, &g, &p)->total_ns, 220e3, 1e-9, "parallel=path: the longest path");
	k.flops[DTYPE_F32] = 1e12;
	near(analyze(&a, &g, &s)->parallel_ns, 420e3, 1e-9,
		"a peak that is too low: no kernel uses its unit for longer than it runs");
	k.flops[DTYPE_F32] = known().flops[DTYPE_F32];
	k.flops[DTYPE_F32] = 20e12;
	near(analyze(&a, &g, &s)->resource_ns, 220e3, 1e-9, "with units to spare, the longest path");
	ok(!analyze(&a, &g, &s)->limit && analyze(&a, &g, &s)->parallel_ns <= 220e3, "... is the bound");
	k.bandwidth_bytes_s = 2e10;
	near(analyze(&a, &g, &s)->resource_ns, 2 * 4e6 / 2e10 * 1e9, 1e-9,
		"memory: what surely comes from there, which is the weights");
	k.level_count = 1;
	k.level[0] = (struct peak_level){ 3, 1e6, 1e12, false };
	k.bandwidth_bytes_s = 6e10;
	near(analyze(&a, &g, &s)->resource_ns, 2 * 12e6 / 6e10 * 1e9 + 10e3, 1e-9,
		"... and what no cache holds, for as long as its kernel runs");
	g.peaks = NULL;
	ok(isnan(analyze(&a, &g, &s)->resource_ns), "without peaks it is not known");
	k = known();
	g.peaks = &k;
	g.estimate = true;
	g.results = results_new();
	near(analyze(&a, &g, &s)->resource_ns, 400e3, 1e-9, "estimated: the same units");
	scenario_parse(&s, "matrix,math=relaxed", NULL);
	near(analyze(&a, &g, &s)->resource_ns, 2 * 2e9 / 100e12 * 1e9, 1e-9,
		"relaxed math on matrix units: tf32 for f32");
	s = scenario_default();
	scenario_parse(&s, "matrix", NULL);
	near(analyze(&a, &g, &s)->resource_ns, 400e3, 1e-9, "strict math: f32 without them");
	results_free((struct results *)g.results);
	arena_free(&a);
	results_free(r);
	make_end(m);
}

static void mistrusted_layers(void)
{
	struct maker *m = make_begin();
	struct peaks k = known();
	struct arena a = { 0 };
	struct scenario s = scenario_default();
	struct results *r = results_new();
	struct ground g = { .plan = net(m, false), .results = r, .peaks = &k };
	measure(r, MATMUL, 100e3);
	measure(r, RELU, 20e3);
	struct analysis *x = analyze(&a, &g, &s);
	ok(x->layers[0].mistrusted && !x->layers[1].mistrusted, "a product in half the time of its roofline");
	near(x->total_ns, 120e3, 1e-9, "... counts all the same: the peak may be wrong as well");
	ok(x->coverage.mistrusted == 1 && x->coverage.measured == 2 && x->complete, "... and is counted");
	near(x->coverage.cost_mistrusted_share, 200.0 / 220, 1e-9, "... with its roofline's share");
	measure(r, MATMUL, 210e3);
	x = analyze(&a, &g, &s);
	ok(!x->layers[0].mistrusted && x->coverage.mistrusted == 0, "measured again, above it");
	g.peaks = NULL;
	x = analyze(&a, &g, &s);
	ok(isnan(x->layers[0].roofline_ns) && !x->layers[0].mistrusted, "without peaks nothing is said");
	arena_free(&a);
	results_free(r);
	make_end(m);
}

int main(void)
{
	scenarios();
	results();
	estimates();
	no_estimates();
	estimated_groups();
	gaps();
	named_peaks();
	one_peak();
	peak_problems();
	read_curve();
	measured_levels();
	measured_products();
	measured_again();
	mistrust();
	mistrust_sets();
	mistrusted_layers();
	resources();
	return done_testing();
}
