/* Logs of libraries: oneDNN verbose, cuDNN, cuBLASLt. The lines are from real logs. */
#include "config.h"

#include "execution_sum.h"
#include "profile_help.h"

#include "profile/read/calls.h"

/* ---- oneDNN ---- */

#define VERBOSE "onednn_verbose,v1,"
#define INFO(of)                                                                                             \
	of "info,oneDNN v3.13.0 (commit 1289c3b6)\n" of "info,cpu,runtime:threadpool,nthr:2\n"               \
	   of "info,cpu,isa:Intel AVX-512 with Intel DL Boost\n" of "info,gpu,runtime:none\n"
#define REORDER(ms)                                                                                          \
	VERBOSE "primitive,exec,cpu,reorder,jit:uni,undef,src:f32::blocked:abcd::f0 "                        \
		"dst:f32::blocked:acdb::f0,,,1x3x32x32," #ms "\n"
#define CONV(ms)                                                                                             \
	VERBOSE "primitive,exec,cpu,convolution,brg_conv_fwd:avx2,forward_inference,src:f32::blocked:acdb::" \
		"f0 "                                                                                        \
		"wei:f32:a:blocked:Acdb16a::f0 bia:undef::undef::: dst:f32::blocked:acdb::f0,"               \
		"attr-scratchpad:user "                                                                      \
		"attr-post-ops:eltwise_relu:0.1+binary_add:f32:2,alg:convolution_direct,"                    \
		"mb1_ic3oc16_ih32oh32kh3sh1dh0ph1_iw32ow32kw3sw1dw0pw1," #ms "\n"
#define WEIGHTS                                                                                              \
	VERBOSE "primitive,exec,cpu,reorder,jit:uni,undef,src:f32::blocked:abcd::f0 "                        \
		"dst:f32::blocked:Acdb16a::f0,,,16x3x3x3,0.01\n"

static const char verbose[] =
	INFO(VERBOSE) VERBOSE "primitive,info,template:operation,engine,primitive\n" WEIGHTS
			      "RUN\n" REORDER(0.5) CONV(9) REORDER(0.25) CONV(2) VERBOSE
	"graph,exec,cpu,100,x,0.5\n" REORDER(0.75) CONV(3) REORDER(0.5) "42" CONV(4);

static void test_onednn(void)
{
	struct execution *e = read_files(file_of_text("verbose.log", verbose), NULL, NULL);
	ok(e && e->row_count == 2, "a row a primitive of a run");
	const struct execution_row *conv = row_named(e, "convolution+eltwise_relu+binary_add");
	const struct execution_row *reorder = row_named(e, "reorder");
	ok(conv->ns == 3e6 && conv->lo_ns == 2e6 && conv->hi_ns == 4e6,
		"median and range after the first run");
	ok(reorder->ns == 0.5e6 && reorder->calls == 1 && reorder < conv, "in order");
	is_str(conv->op, "convolution", "primitive");
	is_str(conv->kernel, "brg_conv_fwd:avx2", "implementation");
	is_str(conv->shapes, "mb1_ic3oc16_ih32oh32kh3sh1dh0ph1_iw32ow32kw3sw1dw0pw1", "problem");
	is_str(conv->dtype, "f32", "type");
	is_str(e->version, "3.13.0", "version");
	is_int(e->threads, 2, "threads");
	is_str(e->settings,
		"{\"runs\":3,\"runs_left_out\":1,\"isa\":\"Intel AVX-512 with Intel DL Boost\","
		"\"runtime\":\"threadpool\"}", "settings");
	is_str(e->gaps, "1 primitive before the first complete run left out", "reorder of the weights");
	ok(isnan(e->profiled_ns) && isnan(e->outside_ns), "without a clock the runs have no latency");
	e = read_files(file_of_gzip("verbose.gz", verbose), NULL, NULL);
	ok(e && e->row_count == 2, "the same from gzip");
}

/* Before 3.1: no version, no component, other descriptions of tensors; with timestamps: latency of runs. */
static void test_old_onednn(void)
{
	static const char old[] = "dnnl_verbose,info,oneDNN v2.6.3 (commit N/A)\n"
		"dnnl_verbose,exec,cpu,softmax_v2,jit:avx2,forward_inference,src_bf16::blocked:ab:f0 "
		"dst_bf16::blocked:ab:f0,attr-scratchpad:user ,alg:softmax_accurate axis:1,8x16,3.5\n";
	struct execution *e = read_files(file_of_text("old.log", old), NULL, NULL);
	const struct execution_row *r = row_named(e, "softmax_v2");
	ok(r->ns == 3.5e6 && isnan(r->lo_ns) && !strcmp(r->dtype, "bf16"), "one run");
	is_str(r->shapes, "8x16", "problem");
	is_str(e ? e->version : "", "2.6.3", "version");
#define AT(ms, shape, took)                                                                                  \
	"onednn_verbose,v1," #ms ",primitive,exec,cpu,reorder,jit:uni,undef,src:f32::blocked:ab::f0,,,"      \
	shape "," #took "\n"
	e = read_files(
		file_of_text("clock.log",
			AT(1000.5, "1x2", 1) AT(1002.5, "3x4", 1) AT(1010.5, "1x2", 1) AT(1011.5, "3x4", 2)),
		NULL, NULL);
	ok(e && e->row_count == 2 && fabs(e->profiled_ns - 3e6) < 1, "latency of a run");
	ok(e && fabs(e->rows[1].start_ns - 1e6) < 1, "start in the run");
	ok(e && isnan(e->outside_ns) && isnan(e->outside_lo_ns) && isnan(e->outside_hi_ns),
		"between two primitives other nodes may run: no time outside the rows");
}

/* ---- cuDNN ---- */

#define CUDNN_END "i! Time: 2026-11-23T02:39:57.425168 (0d+0h+0m+0s since start)\n\n\n"
#define TENSOR(name, dims)                                                                                   \
	"i!     " name ": type=cudnnTensorDescriptor_t:\n"                                                   \
	"i!         dataType: type=cudnnDataType_t; val=CUDNN_DATA_HALF (2);\n"                              \
	"i!         nbDims: type=int; val=4;\n"                                                              \
	"i!         dimA: type=int; val=[" dims "];\n"                                                       \
	"i!         strideA: type=int; val=[150528,50176,224,1];\n"
#define CUDNN_CONV(v, algo)                                                                                  \
	"\nI! CuDNN (" v ") function cudnnConvolutionForward() called:\n"                                    \
	"i!     handle: type=cudnnHandle_t; streamId=(nil) (defaultStream);\n"                               \
	"i!     alpha: type=CUDNN_DATA_FLOAT; val=1.000000;\n" TENSOR("xDesc", "1,3,224,224")                \
	"i!     convDesc: type=cudnnConvolutionDescriptor_t:\n"                                              \
	"i!         padA: type=int; val=[3,3];\ni!         strideA: type=int; val=[2,2];\n"                  \
	"i!         groupCount: type=int; val=1;\n"                                                          \
	"i!     algo: type=cudnnConvolutionFwdAlgo_t; val=CUDNN_CONVOLUTION_FWD_ALGO_" algo " (1);\n"        \
	TENSOR("yDesc", "1,64,112,112") CUDNN_END
#define CUDNN_SOFTMAX(v)                                                                                     \
	"I! CuDNN (" v ") function cudnnSoftmaxForward() called:\n"                                          \
	"i!     handle: type=cudnnHandle_t; val=NULL_PTR;\n"                                                 \
	"i!     algorithm: type=cudnnSoftmaxAlgorithm_t; val=CUDNN_SOFTMAX_ACCURATE (1);\n" CUDNN_END
#define CUDNN_SET "I! CuDNN (v7605) function cudnnSetConvolutionGroupCount() called:\n" CUDNN_END

static void test_cudnn(void)
{
	struct execution *e = read_files(file_of_text("cudnn7.log", CUDNN_SET
		CUDNN_CONV("v7605", "IMPLICIT_PRECOMP_GEMM") CUDNN_CONV("v7605", "WINOGRAD_NONFUSED")
		CUDNN_SOFTMAX("v7605")), NULL, NULL);
	ok(e && e->row_count == 3, "a row a call that computes");
	is_str(e ? e->version : "", "7.6.5", "version");
	is_str(e->rows[0].name, "ConvolutionForward", "function");
	is_str(e->rows[0].kernel, "implicit_precomp_gemm", "algorithm that was asked for");
	is_str(e->rows[1].kernel, "winograd_nonfused", "and of the second");
	is_str(e->rows[2].kernel, "softmax_accurate", "of another function");
	is_str(e->rows[0].shapes, "x 1x3x224x224 pads 3x3 strides 2x2 groups 1 y 1x64x112x112", "shapes");
	is_str(e->rows[0].dtype, "f16", "type");
	ok(isnan(e->rows[0].ns) && isnan(execution_sum_ns(e, LEVEL_KERNEL)), "the time is unknown, not zero");
	ok(isnan(e->profiled_ns) && isnan(e->outside_ns), "that of the runs and outside the rows, too");
	e = read_files(file_of_text("failed.log", CUDNN_CONV("v91900 56", "GEMM") CUDNN_SOFTMAX("v91900 56")
		"E! CuDNN (v91900 56) function cudnnSoftmaxForward() called:\n"
		"e!         Error: CUDNN_STATUS_BAD_PARAM; Reason: !handle\n" CUDNN_END), NULL, NULL);
	ok(e && e->row_count == 1 && !strcmp(e->gaps, "1 failed calls left out"), "a call that fails");
	is_str(e ? e->version : "", "9.19.0", "version of cuDNN 9");
}

#define CONFIG(id, knobs)                                                                                    \
	"I! CuDNN (v91900 56) function cudnnBackendFinalizeEngineCfgVisualize() called:\n"                   \
	"i!     apiLog: type=json; val={\"cudnnVersion\":91900,\"operationGraph\":{\"tensors\":[{\"name\":"  \
	"\"1\",\"dataType\":\"CUDNN_DATA_FLOAT\",\"dim\":[1,8,16,16],\"isVirtual\":false},{\"name\":\"4\","  \
	"\"dataType\":\"CUDNN_DATA_FLOAT\",\"dim\":[1,16,16,16],\"isVirtual\":true}],\"nodes\":[{"           \
	"\"operation\":"                                                                                     \
	"\"CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR\"},{\"operation\":"                        \
	"\"CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR\",\"pointwiseMode\":\"CUDNN_POINTWISE_RELU_FWD\"}]}" \
	","                                                                                                  \
	"\"engine\":{\"engineId\":" #id ",\"smVersion\":900,\"knobChoices\":{" knobs "}}};\n" CUDNN_END
#define EXECUTE(id)                                                                                          \
	"I! CuDNN (v91900 56) function cudnnBackendExecute() called:\n"                                      \
	"i!     handle: type=cudnnHandle_t; val=NULL_PTR;\n"                                                 \
	"i!     executionPlan: type=CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:\n"                              \
	"i!         engcfg: type=CUDNN_BACKEND_ENGINECFG_DESCRIPTOR:\n"                                      \
	"i!             engine: type=CUDNN_BACKEND_ENGINE_DESCRIPTOR:\n"                                     \
	"i!                 opGraph: type=void*; val=NULL_PTR;\n"                                            \
	"i!                 engine_id: type=int; val=" #id ";\n" CUDNN_END                                   \
	"I! CuDNN (v91900 56) function cudnnBackendExecute() called:\n"                                      \
	"i!     status: type=cudnnStatus_t; val=CUDNN_STATUS_SUCCESS (0);\n" CUDNN_END

static void test_cudnn_graph(void)
{
	struct execution *e = read_files(file_of_text("cudnn9.log",
		CONFIG(7, "\"CUDNN_KNOB_TYPE_SPLIT_K_SLC\":-1,\"CUDNN_KNOB_TYPE_KERNEL_CFG\":29")
		CONFIG(8, "") CONFIG(8, "\"CUDNN_KNOB_TYPE_TILE_SIZE\":2") EXECUTE(7) EXECUTE(8) EXECUTE(-1)),
		NULL, NULL);
	ok(e && e->row_count == 3, "a row an execution; the status is not a call");
	is_str(e->rows[0].kernel, "eng7{SPLIT_K_SLC=-1,KERNEL_CFG=29}", "engine and its knobs");
	is_str(e->rows[0].op, "convolution_forward+pointwise_relu_fwd", "operations");
	is_str(e->rows[0].shapes, "1 1x8x16x16", "tensors that are in memory");
	is_str(e->rows[1].kernel, "eng8", "of two configurations of an engine, none is assumed");
	is_str(e->rows[2].kernel, "", "an engine without a number");
	ok(is_refused(file_of_text("none.log", CONFIG(7, "")), "CUDNN_LOGLEVEL_DBG=3"),
		"plans alone compute nothing");
}

/* ---- cuBLASLt ---- */

#define LT "[2023-04-07 04:57:13][cublasLt][8291]"
#define MATMUL(address, rows)                                                                                \
	LT "[Trace][cublasLtMatmul] A=" address " Adesc=[type=R_16F rows=" rows " cols=16 ld=32] B=" address \
	   " Bdesc=[type=R_16F rows=16 cols=64 ld=16] C=0X7 Cdesc=[type=R_16F rows=" rows " cols=64 ld=32] " \
	   "D=0X7 Ddesc=[type=R_16F rows=" rows " cols=64 ld=32] computeDesc=[computeType=COMPUTE_32F "      \
	   "scaleType=R_32F transa=OP_T epilogue=EPILOGUE_RELU] algo=[algoId=21 tile=MATMUL_TILE_32x32 "     \
	   "stages=MATMUL_STAGES_64x1] workSpace=0X0 workSpaceSizeInBytes=0 beta=0 outOfPlace=0 "            \
	   "stream=0X7\n"

static void test_cublaslt(void)
{
	struct execution *e = read_files(file_of_text("lt.log",
		LT "[Api][cublasLtGetVersion] version=130100\n" LT "[Api][cublasLtCreate] lightHandle=0X7\n"
		MATMUL("0X1", "32") MATMUL("0X2", "64") MATMUL("0X3", "32") MATMUL("0X4", "64")), NULL, NULL);
	ok(e && e->row_count == 2, "two matmuls, repeated at other addresses");
	is_str(e->rows[0].kernel, "algo21 tile32x32 stages64x1", "algorithm as the runner names it");
	is_str(e->rows[0].shapes, "a 32x16 b 16x64 dst 32x64 ta", "shapes");
	is_str(e->rows[0].name, "matmul+RELU", "epilogue");
	is_str(e->rows[1].dtype, "f16", "type");
	is_str(e->version, "13.1.0", "version");
	ok(isnan(e->rows[0].ns) && isnan(e->profiled_ns) && isnan(e->outside_ns), "no time");
	is_str(e->settings, "{\"runs\":1,\"runs_left_out\":1}", "runs");
	ok(is_refused(file_of_text("api.log", LT "[Api][cublasLtMatmul] A=0X7 Adesc=0X5 algo=0X0\n"),
		"have no algorithms"), "calls without a description");
}

/* ---- lines with something before them ---- */

/* Returns the text with `before` and `after` each line, escaped if that is JSON. */
static const char *within(const char *text, const char *before, const char *after)
{
	struct str s = { 0 };
	bool json = before[0] == '{';
	for (const char *p = text, *end; *p; p = end + 1) {
		end = strchrnul(p, '\n');
		str_puts(&s, before);
		for (; p < end; p++)
			str_addf(&s, json && (*p == '"' || *p == '\\') ? "\\%c" : "%c", *p);
		str_addf(&s, "%s\n", after);
	}
	const char *all = arena_strndup(&profiles, s.p, s.n);
	str_free(&s);
	return all;
}

/* True if both have the same rows. */
static bool is_same(const struct execution *a, const struct execution *b)
{
	if (!a || !b || a->row_count != b->row_count || strcmp(a->gaps, b->gaps) ||
		strcmp(a->version, b->version))
		return false;
	for (int i = 0; i < a->row_count; i++) {
		const struct execution_row *x = &a->rows[i], *y = &b->rows[i];
		if (strcmp(x->name, y->name) || strcmp(x->op, y->op) || strcmp(x->kernel, y->kernel) ||
			strcmp(x->shapes, y->shapes) || strcmp(x->dtype, y->dtype))
			return false;
	}
	return true;
}

/* Logs as containers, services and clouds gather them. */
static void test_prefixes(void)
{
	static const char *const logs[] = { CUDNN_CONV("v7605", "GEMM") CUDNN_SOFTMAX("v7605")
			"E! CuDNN (v7605) function cudnnSoftmaxForward() called:\n"
			"e!         Error: CUDNN_STATUS_BAD_PARAM; Reason: !handle\n" CUDNN_END,
		CONFIG(7, "\"CUDNN_KNOB_TYPE_KERNEL_CFG\":29") EXECUTE(7),
		LT "[Api][cublasLtGetVersion] version=130100\n" MATMUL("0X1", "32") MATMUL("0X2", "64"),
		VERBOSE "info,oneDNN v3.13.0 (commit 1289c3b6)\n" REORDER(0.5) CONV(9) };
	static const char *const around[][2] = { { "2026-11-30T19:51:00.123456789Z ", "" },
		{ "2026-11-30T19:51:00.123456789+01:00 stdout F ", "" }, { "web-1  | ", "" },
		{ "[pod/web-7f/main] ", "" }, { "Nov 30 19:51:00 host serve[4711]: ", "" },
		{ "I1130 19:51:00.123456 4711 log.cc:12] ", "" }, { "\033[36mweb_1 |\033[0m ", "" },
		{ "\t", "\r" }, { "[W!] ", "" }, { "{\"log\":\"", "\\n\",\"stream\":\"stdout\"}" },
		{ "{\"stream\":\"stderr\",\"log\":\"", "\\n\",\"time\":\"x\"}" },
		{ "{\"__CURSOR\":\"s=1\",\"MESSAGE\":\"", "\"}" },
		{ "{\"severity\":\"INFO\",\"textPayload\":\"2026-11-30 ", "\"}" } };
	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		struct execution *plain = read_files(file_of_text("plain.log", logs[i]), NULL, NULL);
		for (size_t k = 0; k < sizeof(around) / sizeof(around[0]); k++)
			ok(plain && is_same(plain, read_files(file_of_text("within.log",
				within(logs[i], around[k][0], around[k][1])), NULL, NULL)),
				"log %zu in lines that begin with '%s'", i, around[k][0]);
	}
}

/* ---- all ---- */

static void test_runs(void)
{
	static const uint64_t two[] = { 9, 1, 2, 1, 2, 1, 2 }, none[] = { 1, 2, 3, 4 },
			      cut[] = { 1, 2, 3, 1, 2, 3, 1 }, inner[] = { 0, 5, 5, 5, 7, 0, 5, 5, 5, 7 },
			      same[] = { 4, 4, 4 };
	struct runs r = calls_runs(two, 7, false);
	ok(r.first == 1 && r.period == 2 && r.count == 3, "preparation, then three runs");
	r = calls_runs(none, 4, false);
	ok(r.first == 0 && r.period == 4 && r.count == 1, "no repetition");
	r = calls_runs(inner, 10, false);
	ok(r.period == 5 && r.count == 2, "repetitions within a run");
	r = calls_runs(same, 3, false);
	ok(r.period == 1 && r.count == 3, "one call a run");
	r = calls_runs(cut, 7, true);
	ok(r.first == 0 && r.period == 3 && r.count == 2, "a truncated run at the end");
	r = calls_runs(NULL, 0, true);
	ok(r.period == 0 && r.count == 1, "nothing");
}

/* Each beginning of a log gives its whole lines, or one line that says why not. */
static void test_truncated(void)
{
	static const char *const logs[] = { verbose,
		CUDNN_CONV("v7605", "GEMM") CONFIG(7, "\"a\":1") EXECUTE(7),
		MATMUL("0X1", "32") MATMUL("0X2", "64") };
	int bad = 0, read = 0, complete = 0;
	for (size_t k = 0; k < sizeof(logs) / sizeof(logs[0]); k++)
		for (size_t n = 0; n < strlen(logs[k]); n++) {
			const char *path = file_of("cut.log", logs[k], n);
			struct execution *all;
			err.text[0] = '\0';
			int got = profile_read(&profiles, &path, 1, NULL, &all, &err);
			bad += got < 0 && (strstr(err.text, path) != err.text || strchr(err.text, '\n'));
			read += got > 0;
			complete += got > 0 && !*all->gaps && logs[k][n - 1] != '\n';
		}
	is_int(bad, 0, "each cut gives one line");
	is_int(complete, 0, "or a gap");
	ok(read > 500, "%d of them can be read", read);
}

static void test_hostile(void)
{
	static char line[3 << 20];
	memset(line, ',', sizeof(line) - 1);
	memcpy(line, "onednn_verbose,exec,", 20);
	ok(is_refused(file_of("long.log", line, sizeof(line) - 1), "no execution of a primitive"),
		"a line of commas");
	memset(line, 'i', sizeof(line) - 1);
	memcpy(line, "I! CuDNN (v", 11);
	ok(is_refused(file_of("long.cudnn", line, sizeof(line) - 1), "no call of a computation"),
		"a line of letters");
	memset(line, '[', sizeof(line) - 1);
	memcpy(line, "[x][cublasLt][", 14);
	ok(is_refused(file_of("long.lt", line, sizeof(line) - 1), "no call of cublasLtMatmul"),
		"a line of brackets");
	struct execution *e = read_files(file_of_text("escape.log",
		"onednn_verbose,exec,cpu,\033[2J,jit,x,src_f32,post-ops:'+++::+,a,b,-1\n"
		"onednn_verbose,exec,cpu,\033[2J,jit,x,src_f32,post-ops:'+++::+,a,b,nan\n"
		"onednn_verbose,exec,cpu,\033[2J,jit,x,,post-ops:+,a,b,1e999\nonednn_verbose,exec\n"
		"onednn_verbose,exec,cpu,\033[2J,jit,x,,post-ops:,a\xff,b,1\n"), NULL, NULL);
	ok(e && e->row_count == 1 && !strcmp(e->rows[0].op, "?[2J"), "names are clean");
	is_str(e ? e->gaps : "", "4 incomplete lines", "lines without a time are counted");
	e = read_files(file_of_text("json.log",
			       "I! CuDNN (v9) function cudnnBackendFinalizeEngineCfgVisualize() called:\n"
			       "i!     apiLog: type=json; "
			       "val={\"engine\":{\"engineId\":7,\"knobChoices\":[1]},\"operationGraph\":7};\n"
			       "i!     apiLog: type=json; val=[[[[\n" EXECUTE(7)),
		NULL, NULL);
	ok(e && e->row_count == 1 && !strcmp(e->rows[0].kernel, "eng7"), "JSON of other types");
}

#define COUNTERS "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)\n"

/* Counters of OpenVINO: two infer requests, of both writers (C++ and Python), as CSV; the same as JSON. */
static void openvino(void)
{
	struct execution *e = read_files(file_of_text("counters.csv", COUNTERS
		"x;NOT_RUN;Parameter;unknown_f32;0.000000;0.000000\n"
		"/conv;EXECUTED;Convolution;brgconv_avx512_bf16;0.030000;0.03\n"
		"/relu;OPTIMIZED_OUT;Relu;undef;0.0;0.0\n"
		"\"a;\"\"b\"\"\";EXECUTED;FullyConnected;jit_gemm_FP32;0.002;0.002\n"
		"Total;;;;0.032;0.032\n\n" COUNTERS
		"/conv;Status.EXECUTED;Convolution;brgconv_avx512_bf16;0.05;0.03\n"
		"a;Status.EXECUTED;Pooling;x;bad;0\n"
		"\"a;\"\"b\"\"\";Status.EXECUTED;FullyConnected;jit_gemm_FP32;0.004;0.002\n"
		"Total;;;;0.032;0.032\n\n"), NULL, NULL);
	const struct execution_row *conv = row_named(e, "/conv"), *fc = row_named(e, "a;\"b\"");
	ok(e && e->row_count == 2 && fabs(conv->ns - 40e3) < 1e-6 && fabs(fc->ns - 3e3) < 1e-6,
		"openvino: the nodes that ran, the median of the requests");
	ok(!strcmp(conv->op, "Convolution") && !strcmp(conv->kernel, "brgconv_avx512_bf16") &&
			!strcmp(conv->dtype, "bf16") && !strcmp(fc->dtype, "f32"),
		"openvino: operator, implementation, type");
	is_str(e ? e->settings : "", "{\"runs\":2}", "openvino: requests");
	is_str(e ? e->gaps : "", "1 node without a time", "openvino: a bad time");
	is_str(e ? e->dtype : "", "bf16", "openvino: type of most of the time");
#define JSON_NODES(ms)                                                                               \
	"{\"nodes\": [{\"cpu_time\": 0.1, \"exec_type\": \"jit_f16\", \"name\": \"/conv\", "           \
	"\"node_type\": \"Convolution\", \"real_time\": " #ms ", \"status\": \"EXECUTED\"}, "           \
	"{\"name\": \"y\", \"status\": \"NOT_RUN\", \"real_time\": 0.0}], \"total_real_time\": 1.0}"
	e = read_files(file_of_text("counters.json", "{\"detailed_performance\": [" JSON_NODES(0.25) ", "
		JSON_NODES(0.75) "], \"report_type\": \"detailed\"}"), NULL, NULL);
	ok(e && e->row_count == 1 && e->rows[0].ns == 500e3 && !strcmp(e->rows[0].dtype, "f16"),
		"openvino: JSON of each request");
	e = read_files(file_of_text("average.json", "{\"avg_performance\": " JSON_NODES(0.25)
		", \"report_type\": \"average\"}"), NULL, NULL);
	ok(e && e->row_count == 1 && e->rows[0].ns == 250e3 && !*e->gaps, "openvino: JSON of the average");
	ok(is_refused(file_of_text("none.csv", COUNTERS "x;NOT_RUN;Parameter;unknown_f32;0.0;0.0\n"),
		"no node was executed"), "openvino: nothing ran");
	e = read_files(file_of_text("open.csv", COUNTERS "\"open;EXECUTED;Relu;jit_f32;1;1\n"
		"\"a;b\";EXECUTED;Relu;jit_f32;1;1\n\"x;EXECUTED\n"), NULL, NULL);
	ok(e && e->row_count == 2 && row_named(e, "\"open")->ns == 1e6 && row_named(e, "a;b")->ns == 1e6 &&
			!strcmp(e->gaps, "1 node without a time"),
		"openvino: an unclosed quotation mark is text");
	for (int first = 0; first < 2; first++) {
		static const char detailed[] = "\"detailed_performance\": [" JSON_NODES(0.25) ", "
			JSON_NODES(0.75) "]", average[] = "\"avg_performance\": " JSON_NODES(9);
		e = read_files(file_of_text("both.json", arena_printf(&profiles, "{%s, %s}",
			first ? average : detailed, first ? detailed : average)), NULL, NULL);
		ok(e && e->row_count == 1 && e->rows[0].ns == 500e3 && !strcmp(e->settings, "{\"runs\":2}"),
			"openvino: of both kinds of counters those of the requests, %d", first);
	}
	e = read_files(file_of_text("cut.csv", COUNTERS "a;EXECUTED;Relu;jit_f32;1;1\nb;EXEC"), NULL, NULL);
	ok(e && e->row_count == 1 && strstr(e->gaps, "truncated after 2 lines"), "openvino: truncated");
}

int main(void)
{
	if (!scratch_open())
		return 1;
	test_onednn();
	test_old_onednn();
	test_cudnn();
	test_cudnn_graph();
	test_cublaslt();
	test_prefixes();
	test_runs();
	test_truncated();
	test_hostile();
	openvino();
	files_remove();
	return done_testing();
}
