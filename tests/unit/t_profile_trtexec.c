#include "config.h"

#include "execution_sum.h"
#include "profile_help.h"

#include "base/json.h"

static const char profile[] =
	"[\n  { \"count\" : 100 }\n"
	", { \"name\" : \"Reformatting CopyNode for Input Tensor 0 to Conv_0 + Relu_1\", \"timeMs\" : 1,"
	" \"averageMs\" : 0.01, \"medianMs\" : 0.011, \"percentage\" : 1 }\n"
	", { \"name\" : \"Conv_0 + Relu_1\", \"timeMs\" : 10, \"averageMs\" : 0.1, \"medianMs\" : 0.09,"
	" \"percentage\" : 80 }\n"
	", { \"name\" : \"{ForeignNode[a.weight...Softmax_9]} [profile 1]\", \"timeMs\" : 20, \"averageMs\" "
	": 0.2,"
	" \"percentage\" : 10 }\n"
	", { \"name\" : \"twice\", \"timeMs\" : 4, \"percentage\" : 10 }\n"
	", { \"name\" : \"twice\", \"timeMs\" : 6, \"averageMs\" : \"?\", \"percentage\" : 10 }\n]\n";

#define TENSOR(name, format)                                                                                 \
	"{\"Name\": \"" name "\", \"Dimensions\": [1,3,8,8], \"Format/Datatype\": \"" format "\"}"

static const char layers[] =
	"{\"Layers\": [{\"Name\": \"Reformatting CopyNode for Input Tensor 0 to Conv_0 + Relu_1\","
	"\"LayerType\": \"Reformat\", \"Origin\": \"REFORMAT\", \"Metadata\": \"[ONNX Layer: Conv_0]\"},"
	"{\"Name\": \"Conv_0 + Relu_1\", \"LayerType\": \"CaskConvolution\","
	"\"Inputs\": [" TENSOR("x", "Row major linear FP32") "],"
	"\"Outputs\": [" TENSOR("y", "Row major linear FP32") "," TENSOR("z", "Row major linear FP32") "],"
	"\"TacticName\": \"sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32\","
	"\"Metadata\": \"[ONNX Layer: m/Conv[0]]\\u001e[ONNX Layer: Relu_1]\\u001f[ONNX Layer: b]\"},"
	"{\"Name\": \"{ForeignNode[a.weight...Softmax_9]} [profile 1]\", \"LayerType\": \"Myelin\","
	"\"Inputs\": [" TENSOR("y", "Half(64,1:8)") "]},"
	"{\"Name\": \"twice\", \"LayerType\": \"first\","
	"\"Inputs\": [" TENSOR("z", "Four wide Int8 format") "]},"
	"{\"Name\": \"twice\", \"LayerType\": \"second\"},"
	"{\"Name\": \"of no profile\"}],"
	"\"I/O Tensors\": [{\"Name\": \"x\"}]}";

static void profile_alone(void)
{
	struct execution *e = read_files(file_of_text("p.json", profile), NULL, NULL);
	if (!ok(e && e->row_count == 5, "a row a record"))
		return;
	ok(e->rows[0].ns == 0.011e6 && e->rows[1].ns == 0.09e6, "the median of records with one");
	near(e->rows[2].ns, 0.2e6, 1e-12, "the mean of older records");
	near(e->rows[3].ns, 0.04e6, 1e-12, "timeMs is the sum over the runs");
	near(e->rows[4].ns, 0.06e6, 1e-12, "a text is no number");
	is_str(e->rows[2].name, "{ForeignNode[a.weight...Softmax_9]}", "without the number of the profile");
	is_str(e->source, "trtexec", "source");
	is_str(e->settings, "{\"runs\":100}", "runs");
	ok(isnan(e->profiled_ns) && isnan(e->stats.median) && !*e->rows[1].op && !*e->gaps,
		"layers alone give no latency");
}

static void layer_information(void)
{
	const char *p = file_of_text("p.json", profile), *l = file_of_gzip("l.json.gz", layers);
	struct execution *e = read_files(l, p, NULL);
	if (!ok(e && e->row_count == 5, "layer information before its profile"))
		return;
	const struct execution_row *c = &e->rows[1];
	is_str(c->op, "CaskConvolution", "type of the layer");
	is_str(c->nodes, "m/Conv[0]\nRelu_1\nb",
		"nodes from the metadata, both separators, brackets in a name");
	is_str(e->rows[0].nodes, "", "a reformat stands for no node");
	is_str(c->inputs, "x", "inputs");
	is_str(c->outputs, "y\nz", "outputs");
	is_str(c->shapes, "[1,3,8,8] Row major linear FP32", "shapes");
	is_str(c->dtype, "tf32", "TF32 from the kernel's name");
	is_str(e->math, "tf32", "math of the execution");
	is_str(e->rows[2].op, "Myelin", "information of a further optimization profile");
	is_str(e->rows[2].dtype, "f16", "type of newer formats");
	ok(!strcmp(e->rows[3].op, "first") && !strcmp(e->rows[4].op, "second"),
		"equal names in the order of the engine");
	is_str(e->rows[3].dtype, "s8", "integers");
	e = read_files(p, file_of_text("names.json", "{\"Layers\": [\"Conv_0 + Relu_1\"], \"Bindings\": []}"),
		NULL);
	ok(e && strstr(e->gaps, "detailed"), "information of names alone names the fix");
	ok(is_refused(l, "give the profile"), "layer information without a profile");
	e = read_files(p, file_of_text("other.json", "{\"Layers\": [\"another\"]}"), NULL);
	ok(!e && strstr(err.text, "other.json: has no layer of the profile"),
		"information of another engine");
}

static void times(void)
{
	struct str s = { 0 };
	for (int i = 0; i < 9; i++)
		str_addf(&s, "%s{\"latencyMs\" : 9, \"h2dMs\" : 0.5, \"computeMs\" : %d, \"d2hMs\" : 0.25}",
			i ? ", " : "[", 10 - i);
	str_puts(&s, "]");
	const char *t = file_of_text("t.json", s.p);
	str_free(&s);
	struct execution *e = read_files(file_of_text("p.json", profile), t, NULL);
	ok(e && e->row_count == 5 && e->stats.median == 6e6 && e->stats.n == 9 && e->stats.lo == 3e6 &&
			e->stats.hi == 9e6, "times of the runs beside the profile");
	ok(e && e->copy_in_ns == 0.5e6 && e->copy_out_ns == 0.25e6, "copies apart");
	e = read_files(t, NULL, NULL);
	ok(e && e->row_count == 0 && e->stats.median == 6e6 && !strcmp(e->framework, "tensorrt"),
		"times alone are an execution");
	static const char summary[] =
		"{\"performance_summary\": {\"Throughput\": 1, \"GPU Compute Time\": [1, 9, 3, 2, 4, 5, 6]},"
		"\"device_information\": {\"Selected Device\": \"A100\"}}";
	e = read_files(file_of_text("s.json", summary), NULL, NULL);
	ok(e && e->stats.median == 2e6 && e->p90_ns == 4e6 && e->p99_ns == 6e6 && isnan(e->copy_in_ns),
		"the summary of TREx");
	is_str(e ? e->device : "", "A100", "its device");
}

/* TensorRT 8.6 does not escape control characters; other writers break lines within a string. */
static void raw_controls(void)
{
	static const char raw[] = "{\"Layers\": [\n{\"Name\": \"a + b\", \"LayerType\": \"Con\nv\","
		"\"TacticName\": \"t\\\\\\\"\x01\", \"Metadata\": \"[ONNX Layer: a]\x1e[ONNX Layer: b]\"}]}";
	struct execution *e = read_files(
		file_of_text("p.json", "[{\"count\": 2}, {\"name\": \"a + b\", \"timeMs\": 4}]"),
		file_of_text("l.json", raw), NULL);
	is_str(row_named(e, "a + b")->nodes, "a\nb", "nodes between raw separators");
	is_str(row_named(e, "a + b")->op, "Con?v", "a raw line break is cleaned");
	is_str(row_named(e, "a + b")->kernel, "t\\\"?", "after escapes too");
	is_str(e ? e->gaps : "none", "", "nothing is missing");
}

#define I "[07/05/2026-10:00:00] [I] "

/* The output of trtexec, in both forms of the table. */
static void log_of_trtexec(void)
{
	struct execution *e = read_files(file_of_text("new.log",
		"&&&& RUNNING TensorRT.trtexec [TensorRT v100300] # trtexec --onnx=m.onnx --dumpProfile\n"
		I "Selected Device: NVIDIA A100\n"
		I "GPU Compute Time: min = 0.9 ms, max = 2 ms, mean = 1 ms, median = 0.95 ms, percentile"
		"(90%) = 1 ms\n" I "\n" I "=== Profile (20 iterations ) ===\n"
		I "   Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer\n"
		I "      10.00       0.5000       0.4000      50.0   /conv/Conv + /act/Relu 2\n"
		I "      10.00       0.5000       0.6000      50.0   /fc/Gemm\n"
		I "      20.00       1.0000       1.0000     100.0   Total\n" I "\n"
		I "       1.00       1.0000       1.0000     100.0   later\n"), NULL, NULL);
	ok(e && e->row_count == 2 && row_named(e, "/conv/Conv + /act/Relu 2")->ns == 400e3 &&
			row_named(e, "/fc/Gemm")->ns == 600e3, "names behind the numbers, medians");
	ok(e && e->stats.median == 950e3 && !strcmp(e->device, "NVIDIA A100") &&
			!strcmp(e->settings, "{\"runs\":20}") && !*e->gaps, "latency, device, runs");
	const char *old = file_of_text("old.log",
		"&&&& RUNNING TensorRT.trtexec\n" I "=== Profile (4 iterations ) ===\n"
		I "                      Layer   Time (ms)   Avg. Time (ms)   Time %\n"
		I "             conv 1 + relu 2        8.00           2.0000     80.0\n"
		I "                        pool        2.00           0.5000     20.0\n"
		I "                       Total       10.00           2.5000    100.0\n");
	e = read_files(old, NULL, NULL);
	ok(e && e->row_count == 2 && row_named(e, "conv 1 + relu 2")->ns == 2e6 &&
			row_named(e, "pool")->ns == 500e3, "names before the numbers, averages");
	e = read_files(old, file_of_text("l.json", "{\"Layers\": [{\"Name\": \"pool\", \"LayerType\": "
		"\"Pooling\"}]}"), NULL);
	is_str(row_named(e, "pool")->op, "Pooling", "with layer information");
	const char *twice = file_of_text("twice.log",
		"&&&& RUNNING TensorRT.trtexec\n" I "=== Profile (4 iterations ) ===\n"
		I "                      Layer   Time (ms)   Avg. Time (ms)   Time %\n"
		I "                        pool        9.00           9.0000    100.0\n"
		I "                       Total        9.00           9.0000    100.0\n"
		"&&&& RUNNING TensorRT.trtexec\n" I "=== Profile (5 iterations ) ===\n"
		I "                      Layer   Time (ms)   Avg. Time (ms)   Time %\n"
		I "                        conv        8.00             nan     80.0\n"
		I "                        pool        2.00           0.5000     20.0\n"
		I "                       Total       10.00           2.5000    100.0\n");
	e = read_files(twice, NULL, NULL);
	ok(e && e->row_count == 2 && row_named(e, "pool")->ns == 500e3 && isnan(row_named(e, "conv")->ns) &&
			!strcmp(e->settings, "{\"runs\":5}"), "of two runs the last, a damaged time");
	ok(is_refused(file_of_text("none.log", "&&&& RUNNING TensorRT.trtexec\n" I "done\n"),
		"has neither layers nor a latency"), "nothing to compare");
}

#define TABLE(i)                                                                             \
	i "=== Profile (20 iterations ) ===\n"                                              \
	i "   Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer\n"                       \
	i "      10.00       0.5000       0.4000      50.0   /conv/Conv + /act/Relu\n"        \
	i "      10.00       0.5000       0.6000      50.0   Reformat [I] to fc\n"            \
	i "      20.00       1.0000       1.0000     100.0   Total\n"

/* What gathers, colours and cuts the lines of a log. */
static void dressed_logs(void)
{
	static const char *const logs[] = {
		TABLE(""), TABLE("[I] "), TABLE(I), TABLE("bench-1  | " I),
		TABLE("2026-07-05T10:00:00.5Z " I),
		TABLE("Jul  5 10:00:00 host trtexec[12]: [I] "), TABLE("\033[32m" I "\033[0m"),
		TABLE("\033[0;1m[07/05/2026-10:00:00]\033[m [I] \033[K"),
		TABLE("[07/05/2026-10:00:00] [I] [TRT] "),
	};
	/* CUT: without a line break behind the table; JSON: of Docker's json-file */
	enum { PLAIN, CRLF, CUT, JSON, FORMS };
	for (size_t i = 0; i < FORMS * sizeof(logs) / sizeof(logs[0]); i++) {
		struct str s = { 0 };
		str_puts(&s, "&&&& RUNNING TensorRT.trtexec\n");
		for (const char *p = logs[i / FORMS], *end; *p; p = end) {
			end = strchr(p, '\n') + 1;
			json_t *line = json_pack(
				"{s:s%, s:s}", "log", p, (size_t)(end - p), "stream", "stdout");
			char *text = i % FORMS == JSON ? json_dumps(line, JSON_COMPACT) : NULL;
			if (text)
				str_addf(&s, "%s\n", text);
			else
				str_addf(&s, "%.*s%s", (int)(end - 1 - p), p,
					i % FORMS == CRLF ? "\r\n" : "\n");
			free(text);
			json_decref(line);
		}
		str_puts(&s, i % FORMS == CUT ? "&&&& PASSED" : "");
		struct execution *e = read_files(file_of_text("dressed.log", s.p), NULL, NULL);
		ok(e && e->row_count == 2 && row_named(e, "/conv/Conv + /act/Relu")->ns == 400e3 &&
				row_named(e, "Reformat [I] to fc")->ns == 600e3 && !*e->gaps,
			"log %zu: the layers", i);
		str_free(&s);
	}
	ok(is_refused(file_of_text("comma.log", "&&&& RUNNING TensorRT.trtexec\n"
		I "GPU Compute Time: min = 0,9 ms, median = 0,094 ms\n"), "has neither layers nor a latency"),
		"a decimal comma is no latency of 0");
}

#define IN_TEXT(name, format)                                                                                \
	"{ Name: " name ", Location: Device, Dimensions: [1,3,8,8], Format/Datatype: " format " }"

/* Lists of layers in the log: of --dumpLayerInfo, of --verbose before 8.4, of names alone. */
static void layers_in_log(void)
{
	struct execution *e = read_files(file_of_text("dumped.log",
		"&&&& RUNNING TensorRT.trtexec [TensorRT v100300]\n" I "Layer Information:\n" I "Layers:\n"
		"Name: old, LayerType: Old, Inputs: [], Outputs: []\n" I "Layer Information:\n" I "Layers:\n"
		"Name: Reformat [I] to fc, LayerType: Reformat, Inputs: [ "
		IN_TEXT("(Unnamed Layer* 3) [Shuffle]_output", "Half") "], Outputs: [ " IN_TEXT("r", "Half")
		"], ParameterType: Reformat, Origin: REFORMAT, TacticValue: 0x00000000000003e8, StreamId: 0, "
		"Metadata: [ONNX Layer: fc]\n"
		"Name: /conv/Conv + /act/Relu, LayerType: CaskConvolution, Inputs: [ " IN_TEXT("x",
		"Row major linear FP32") "], Outputs: [ " IN_TEXT("y", "Half") ", " IN_TEXT("z", "Half")
		"], ParameterType: Convolution, Kernel: [3,3], Weights: {\"Type\": \"Half\", \"Count\": "
		"864}, TacticName: sm80_xmma_fprop_tf32f32, TacticValue: 0x280b0ad3c23d8442, StreamId: 0, "
		"Metadata: "
		"[ONNX Layer: /conv/Conv][ONNX Layer: /act/Relu]\n\nBindings:\nx\ny\n" TABLE(I)), NULL, NULL);
	const struct execution_row *c = row_named(e, "/conv/Conv + /act/Relu");
	const struct execution_row *r = row_named(e, "Reformat [I] to fc");
	is_str(c->op, "CaskConvolution", "layers in the log: type");
	is_str(c->kernel, "sm80_xmma_fprop_tf32f32", "kernel");
	is_str(c->nodes, "/conv/Conv\n/act/Relu", "nodes of the model");
	is_str(c->inputs, "x", "inputs");
	is_str(c->outputs, "y\nz", "outputs");
	is_str(c->shapes, "[1,3,8,8] Row major linear FP32", "shapes");
	is_str(c->dtype, "tf32", "type");
	ok(!*r->nodes && !strcmp(r->dtype, "f16") &&
			!strcmp(r->inputs, "(Unnamed Layer* 3) [Shuffle]_output"),
		"a reformat stands for no node");
	ok(e && !*e->gaps && !strcmp(e->math, "tf32"), "nothing is missing");
	e = read_files(file_of_text("verbose.log",
		"&&&& RUNNING TensorRT.trtexec\n[07/05/2026-10:00:00] [V] [TRT] Engine Layer Information:\n"
		"Layer(Reformat): Reformat [I] to fc, Tactic: 0x0, x[Half(1,3:8,8,8)] -> (Unnamed Layer* 3) "
		"[Shuffle]_output[Int8(1,3,8,8)]\n"
		"Layer(CaskConvolution): /conv/Conv + /act/Relu, x (Half[1,3,8,8]), w (Float[4]) -> "
		"y (Half[1,8])\n"
		TABLE(I)), NULL, NULL);
	c = row_named(e, "/conv/Conv + /act/Relu");
	r = row_named(e, "Reformat [I] to fc");
	ok(!strcmp(c->op, "CaskConvolution") && !strcmp(c->inputs, "x\nw") && !strcmp(c->outputs, "y") &&
			!strcmp(c->dtype, "f16") &&
			!strcmp(r->outputs, "(Unnamed Layer* 3) [Shuffle]_output"),
		"older lists, in both forms");
	const char *names = file_of_text("names.log", "&&&& RUNNING TensorRT.trtexec\n" I
		"Layer Information:\n" I "Layers:\n/conv/Conv + /act/Relu\nReformat [I] to fc\n\n"
		"Bindings:\nx\n" TABLE(I));
	e = read_files(names, NULL, NULL);
	is_str(e ? e->gaps : "",
		"the layer information has only names; build with --profilingVerbosity=detailed",
		"names alone: what to do");
	e = read_files(names, file_of_text("l.json", "{\"Layers\": [{\"Name\": \"/conv/Conv + /act/Relu\", "
		"\"LayerType\": \"Conv\"}]}"), NULL);
	ok(e && !*e->gaps && !strcmp(row_named(e, "/conv/Conv + /act/Relu")->op, "Conv"),
		"... unless a file has the information");
}

/* Real files, where they are: sums as in their README. */
static void real_files(void)
{
	static const struct {
		const char *stem;
		int rows;
		double sum_ms, latency_ms;
	} files[] = {
		{ "mobilenet.qat", 73, 0.468768, 0.351196 },
		{ "pytorch_resnet_A100_fp32_resnet", 32, 2.123776, 1.99072 },
		{ "pytorch_resnet_A100_fp16_resnet", 36, 1.016832, 0.862183 },
		{ "pytorch_resnet_A100_qat_resnet-qat", 37, 1.09568, 0.882568 },
		{ "tensorflow_resnet_RTX-3090_fp16_resnet", 86, 4.272736, 4.02026 },
		{ "tensorflow_resnet_RTX-3090_qat_resnet-qat", 63, 2.380608, 2.19547 },
	};
	const char *shared = getenv("BENANZA_SHARED");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		const char *stem = arena_printf(&profiles, "%s/reference/profiles/tensorrt/%s",
			shared ? shared : "", files[i].stem);
		const char *p = arena_printf(&profiles, "%s.profile.json", stem);
		if (access(p, R_OK)) {
			ok(true, "%s # SKIP not present", files[i].stem);
			continue;
		}
		struct execution *e = read_files(p, arena_printf(&profiles, "%s.graph.json.gz", stem),
			arena_printf(&profiles, "%s.profile.metadata.json", stem));
		int bare = 0;
		for (int j = 0; e && j < e->row_count; j++)
			bare += !*e->rows[j].outputs || !*e->rows[j].dtype;
		ok(e && e->row_count == files[i].rows && bare == 0 && !*e->gaps, "%s: rows", files[i].stem);
		near(e ? execution_sum_ns(e, LEVEL_LAYER) : NAN, files[i].sum_ms * 1e6, 1e-6, "%s: sum",
			files[i].stem);
		near(e ? e->stats.median : NAN, files[i].latency_ms * 1e6, 1e-6, "%s: latency",
				files[i].stem);
	}
}

int main(void)
{
	if (!scratch_open())
		return 1;
	profile_alone();
	layer_information();
	times();
	raw_controls();
	log_of_trtexec();
	dressed_logs();
	layers_in_log();
	real_files();
	files_remove();
	return done_testing();
}
