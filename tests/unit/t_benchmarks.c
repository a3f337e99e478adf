#include "config.h"

#include "profile_help.h"
#include "profile/bench/benchmarks.h"

static struct benchmarks all;

#define NAME(api, modes, arguments)                                                                          \
	"LAYER_" api "__BatchSize_2__1234" modes "/" arguments "/batch_size:2/manual_time"
#define IMAGE "input[0]:2/input[1]:64/input[2]:56/input[3]:28"
#define FLAT IMAGE "/input[4]:-1/input[5]:-1/input[6]:-1/input[7]:-1"
#define WINDOW "/filter_height:3/filter_width:5/pad_height:1/pad_width:2/stride_height:2/stride_width:1"
#define SQUARE "/filter_height:3/filter_width:3/pad_height:1/pad_width:1/stride_height:1/stride_width:1"
#define DENSE "/dilation_height:1/dilation_width:1/group:2"
#define GPU                                                                                                  \
	"\"gpu_name:Tesla X\": 1e9, \"cudnn_version:7.6.3\": 2, \"cublas_version:10.1\": 3, "                \
	"\"compute_capability:7.0\": 4"
#define TIMES "\"iterations\": 100, \"real_time\": 8.5, \"cpu_time\": 9, \"time_unit\": \"us\", " GPU
#define CONV_SIZES ":n2c64h56w28k32r3s5:ph1pw2qh1qw2:sh2sw1:dh1dw1:g2"

/* Reads a file of these benchmarks: the array's text. */
static int read_dated(const char *date, const char *benchmarks)
{
	struct str s = { 0 };
	str_addf(&s, "{\"context\": {\"date\": \"%s\"}, \"benchmarks\": [%s]}", date, benchmarks);
	benchmarks_free(&all);
	int bad = benchmarks_read(file_of("gb.json", s.p, s.n), NULL, &all, &err);
	str_free(&s);
	return bad;
}

static int read_text(const char *benchmarks)
{
	return read_dated("2019-09-30 10:25:24", benchmarks);
}

static int read_one(const char *name, const char *more)
{
	struct str s = { 0 };
	str_addf(&s, "{\"name\": \"%s\", %s}", name, more);
	int bad = read_text(s.p);
	str_free(&s);
	return bad;
}

static bool is_only(const char *problem, const char *algorithm, enum status status)
{
	const struct result *r = all.result_count == 1 ? &all.results[0].result : NULL;
	bool good = r && strcmp(r->problem, problem) == 0 && strcmp(r->algorithm.name, algorithm) == 0 &&
		r->status == status && r->cache == CACHE_WARM && r->launch == LAUNCH_ISOLATED &&
		all.results[0].finished && all.reason_count == 0;
	if (!good)
		printf("# %lld results: %s %s; %s\n", (long long)all.result_count, r ? r->problem : "",
			r ? r->algorithm.name : "", all.reason_count ? all.reasons[0].text : "");
	return good;
}

static void names(void)
{
	static const struct {
		const char *name, *problem, *algorithm;
	} rows[] = {
		{ NAME("CUDNN_CONV_FWD_0_FLOAT32", "<CUDNN_CONVOLUTION_FWD_ALGO_GEMM>",
			  IMAGE "/filter_count:32" WINDOW DENSE),
			"conv:f32,f32.c,f32/f32" CONV_SIZES, "gemm" },
		{ NAME("CUDNN_CONV_BIAS_ACTIVATION_FWD_FLOAT32",
			  "<CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED, CUDNN_ACTIVATION_RELU>",
			  IMAGE "/filter_count:32" SQUARE DENSE),
			"conv:f32,f32.c,f32/"
			"f32:n2c64h56w28k32r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g2+bias:f32.c+relu",
			"winograd_nonfused" },
		{ NAME("CUDNN_CONV_BIAS_ACTIVATION_FWD_FLOAT32",
			  "<CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, CUDNN_ACTIVATION_IDENTITY>",
			  IMAGE "/filter_count:32" SQUARE DENSE),
			"conv:f32,f32.c,f32/f32:n2c64h56w28k32r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g2+bias:f32.c",
			"implicit_gemm" },
		{ NAME("CUDNN_ACTIVATION_FWD_FLOAT32", "<CUDNN_ACTIVATION_CLIPPED_RELU>", FLAT),
			"eltwise:f32,f32:clip,0,1:2x64x56x28", "activation:clipped_relu" },
		{ NAME("CUDNN_ACTIVATION_FWD_FLOAT64", "<CUDNN_ACTIVATION_TANH>", FLAT),
			"eltwise:f64,f64:tanh:2x64x56x28", "activation:tanh" },
		{ NAME("CUDNN_BATCHNORM_FWD_INFERENCE_FLOAT32", "<CUDNN_BATCHNORM_SPATIAL>", FLAT),
			"batchnorm:f32,f32:2x64x56x28", "spatial" },
		{ NAME("CUDNN_BATCHNORM_FWD_INFERENCE_FLOAT32", "<CUDNN_BATCHNORM_PER_ACTIVATION>", FLAT),
			"batchnorm:f32,f32:2x100352", "per_activation" },
		{ NAME("CUDNN_POOLING_FWD_FLOAT32", "<CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING>",
			  IMAGE WINDOW),
			"pool:f32,f32:avg_include:n2c64h56w28r3s5:ph1pw2qh1qw2:sh2sw1:dh1dw1",
			"average_include" },
		{ NAME("CUDNN_SOFTMAX_FWD_FLOAT32", "<CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_CHANNEL>", FLAT),
			"softmax:f32,f32:log:2x64x56x28:ax1", "log:channel" },
		{ NAME("CUDNN_SOFTMAX_FWD_FLOAT32", "<CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_INSTANCE>",
			  FLAT),
			"softmax:f32,f32:soft:2x100352:ax1", "accurate:instance" },
		{ NAME("CUDNN_ADD_TENSOR_FLOAT32", "", IMAGE "/input[4]:1/input[5]:64/input[6]:1/input[7]:1"),
			"binary:f32,f32.c,f32:add:2x64x56x28:1x64x1x1", "add_tensor" },
		{ NAME("CUDNN_OP_TENSOR_MIN_FWD_FLOAT32", "", FLAT),
			"binary:f32,f32,f32:minimum:2x64x56x28:2x64x56x28", "op_tensor:min" },
		{ NAME("CUBLAS_GEMM_FWD_FLOAT32", "",
			  "input[0]:32/input[1]:1000/input[2]:2048/input[3]:0/input[4]:1/input[5]:1/"
			  "input[6]:1/input[7]:-1"),
			"matmul:f32.c,f32,f32/f32:ba1bb1m1000n32k2048:ta1tb0", "gemm" },
		{ NAME("CUBLAS_GEMV_FWD_FLOAT32", "",
			  "input[0]:1000/input[1]:2048/input[2]:1/input[3]:1/input[4]:1"),
			"matmul:f32,f32.c,f32/f32:ba1bb1m1n1000k2048:ta0tb0", "gemv" },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ok(read_one(rows[i].name, TIMES) == 0 &&
				is_only(rows[i].problem, rows[i].algorithm, STATUS_OK),
			"%s", rows[i].problem);
}

static void values(void)
{
	const struct benchmarks_result *one = all.results;
	read_one(NAME("CUDNN_CONV_FWD_FLOAT32", "<CUDNN_CONVOLUTION_FWD_ALGO_FFT>",
			 IMAGE "/filter_count:32" WINDOW DENSE),
		TIMES
		", \"advised_convolution_algorithm\": 4.0e+00, \"workspace_bytes\": 1.5e3, \"math_type\": 0");
	one = all.results;
	ok(all.result_count == 1 && one->result.stats.median == 8500 && one->result.stats.n == 1 &&
			one->result.stats.executions == 100 && isnan(one->result.stats.lo),
		"one run: the time of its mean, no interval");
	ok(one->result.measured_at == 1569839124, "its date");
	ok(one->result.algorithm.rank == 0 && one->result.algorithm.workspace_bytes == 1500 &&
			strcmp(one->result.algorithm.notes, "fft") == 0 &&
			strcmp(one->result.algorithm.layouts, "src=ncx wei=ncx dst=ncx") == 0 &&
			strcmp(one->result.algorithm.math, "strict") == 0 &&
			one->result.algorithm.matrix == MATRIX_NO,
		"the advised algorithm is the library's first choice");
	ok(all.device_count == 1 && strcmp(all.devices[0].model, "Tesla X") == 0 &&
			strcmp(all.devices[0].stack, "cuDNN 7.6.3, cuBLAS 10.1, SCOPE") == 0 &&
			all.devices[0].has_matrix,
		"the GPU is the device, the libraries its stack");
	read_one(NAME("CUDNN_CONV_FWD_FLOAT32", "<CUDNN_CONVOLUTION_FWD_ALGO_FFT>",
			 IMAGE "/filter_count:32" WINDOW DENSE),
		TIMES ", \"advised_convolution_algorithm\": 1");
	ok(all.results[0].result.algorithm.rank == 5, "another one is not");
}

#define HALF(order)                                                                                          \
	"{\"name\": \"" NAME("CUDNN_CONV_FWD_TENSORCOREHALF", "<CUDNN_CONVOLUTION_FWD_ALGO_GEMM>",           \
		IMAGE "/filter_count:32" WINDOW DENSE) "\", " TIMES ", \"x_tensor_layout\": " order "}"

static void modes(void)
{
	read_text(HALF("1") "," HALF("0"));
	ok(all.result_count == 2 &&
			strcmp(all.results[0].result.problem,
				"conv:f16@nxc,f16.c@nxc,f16@nxc/f32" CONV_SIZES) == 0 &&
			strcmp(all.results[1].result.problem, "conv:f16,f16.c,f16/f32" CONV_SIZES) == 0,
		"both orders of tensors are problems of their own");
	ok(strcmp(all.results[0].result.algorithm.math, "f16_accumulate") == 0 &&
			all.results[0].result.algorithm.matrix == MATRIX_UNKNOWN,
		"sums in half precision are relaxed math; tensor cores were allowed");
}

#define RELU "{\"name\": \"" NAME("CUDNN_ACTIVATION_FWD_FLOAT32", "<CUDNN_ACTIVATION_RELU>", FLAT) "\", "
#define FAILED RELU "\"error_occurred\": true, \"error_message\": "

static void statuses(void)
{
	static const struct {
		const char *message;
		enum status status;
	} rows[] = {
		{ "CUDNN/ACTIVATION_FWD failed because of CUDNN_STATUS_NOT_SUPPORTED", STATUS_UNSUPPORTED },
		{ "Exception in CUDNN/CONV_FWDstd::bad_alloc", STATUS_NO_MEMORY },
		{ "CUDNN/ACTIVATION_FWD device memory allocation failed", STATUS_NO_MEMORY },
		{ "CUDNN/ACTIVATION_FWD failed to launch kernel", STATUS_FAILED },
	};
	const char *other = "{\"name\": \"" NAME(
		"CUDNN_ACTIVATION_FWD_FLOAT32", "<CUDNN_ACTIVATION_TANH>", FLAT) "\", " TIMES "}";
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		read_text(arena_printf(&profiles, FAILED "\"%s\"}, %s", rows[i].message, other));
		const struct result *r =
			&all.results[all.result_count - 2 + (all.results[0].result.status == STATUS_OK)]
				 .result;
		ok(all.result_count == 2 && all.device_count == 1 && r->status == rows[i].status &&
				strcmp(r->why, rows[i].message) == 0 && isnan(r->stats.median),
			"a failure: %s", status_name(rows[i].status));
	}
	read_text(FAILED "\"out of luck\"}, " RELU TIMES "}");
	ok(all.result_count == 1 && all.results[0].result.status == STATUS_OK,
		"a run that did not fail counts");
	read_text(FAILED "\"out of luck\"}");
	ok(all.result_count == 0 && all.reason_count == 1 && strstr(all.reasons[0].text, "names its GPU"),
		"a failure on an unknown GPU is left out");
	read_text(RELU TIMES
		"}, " RELU "\"iterations\": 50, \"real_time\": 0.0105, \"time_unit\": \"ms\", " GPU "}, " RELU
		"\"iterations\": 70, \"real_time\": 9500, \"time_unit\": \"ns\", " GPU "}");
	const struct sample_stats *s = &all.results[0].result.stats;
	ok(all.result_count == 1 && all.entries == 3 && s->n == 3 && s->min == 8500 && s->median == 9500 &&
			s->lo == 8500 && s->hi == 10500 && s->executions == 50,
		"repetitions are samples");
	read_dated("2019-09-30T10:25:24+02:00", RELU TIMES "}");
	is_int(all.results[0].result.measured_at, 1569839124 - 7200, "a date with an offset");
	read_dated("yesterday", RELU TIMES "}");
	is_int(all.results[0].result.measured_at, 0, "no date");
}

static void refusals(void)
{
	static const struct {
		const char *name, *more, *says;
	} rows[] = {
		{ "BM_memcpy/8", TIMES, "another program" },
		{ NAME("CUDNN_ACTIVATION_BWD_FLOAT32", "<CUDNN_ACTIVATION_RELU>", FLAT), TIMES,
			"no problem" },
		{ NAME("CUDNN_ACTIVATION_FWD_INT8", "<CUDNN_ACTIVATION_RELU>", FLAT), TIMES, "data type" },
		{ NAME("CUDNN_ACTIVATION_FWD_FLOAT32", "<CUDNN_ACTIVATION_GELU>", FLAT), TIMES,
			"activation" },
		{ NAME("CUDNN_ACTIVATION_FWD_FLOAT32", "<CUDNN_ACTIVATION_RELU>", "input[0]:0"), TIMES,
			"lacks sizes" },
		{ NAME("CUDNN_POOLING_FWD_FLOAT32", "<CUDNN_POOLING_MAX>", IMAGE), TIMES,
			"size of its window" },
		{ NAME("CUDNN_CONV_BIAS_ACTIVATION_FWD_FLOAT32",
			  "<CUDNN_CONVOLUTION_FWD_ALGO_GEMM, CUDNN_ACTIVATION_RELU>",
			  IMAGE "/filter_count:32" WINDOW DENSE),
			TIMES, "unequal height and width" },
		{ NAME("CUDNN_ADD_TENSOR_FLOAT32", "", FLAT), TIMES, "another tensor than a bias" },
		{ "LAYER_CUDNN_ACTIVATION_FWD_FLOAT32<CUDNN_ACTIVATION_RELU>/" FLAT, TIMES, "manual_time" },
		{ NAME("CUDNN_ACTIVATION_FWD_FLOAT32", "<CUDNN_ACTIVATION_RELU>", FLAT),
			"\"iterations\": 1, \"real_time\": inf, \"time_unit\": \"ns\", " GPU,
			"without a time" },
		{ NAME("CUDNN_ACTIVATION_FWD_FLOAT32", "<CUDNN_ACTIVATION_RELU>", FLAT) "_mean", TIMES,
			"deviation" },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool read = read_one(rows[i].name, rows[i].more) == 0;
		bool good = read && !all.result_count && all.reason_count == 1 && all.reasons[0].count == 1 &&
			strstr(all.reasons[0].text, rows[i].says);
		if (!good)
			printf("# %s\n", all.reason_count ? all.reasons[0].text : "no reason");
		ok(good, "left out: %s", rows[i].says);
	}
}

static void table(void)
{
	static const char text[] =
		"set,gpu,cudnn,batch,api,algo,dtype,n,c,h,w,k,r,s,pad_h,pad_w,stride_h,stride_w,dil_h,dil_w,"
		"group,b0,b1,real_us,cpu_us,iters,status,advised_algo,workspace_bytes\n"
		"some,GPU_A,7.6.3,1,CUDNN_ACTIVATION_FWD,ACTIVATION_RELU,FLOAT32,1,8,4,4,,,,,,,,,,,-1,-1,5.5,"
		"7,9,ok,,\n"
		"nhwc_low,GPU_A,7.6.3,1,CUDNN_CONV_FWD,CONVOLUTION_FWD_ALGO_DIRECT,TENSORCOREHALF,"
		"1,8,4,4,8,1,1,0,0,1,1,1,1,1,,,2,3,4,ok,3,64\n"
		"nhwc_low,GPU_A,,1,CUDNN_CONV_FWD,CONVOLUTION_FWD_ALGO_FFT,TENSORCOREHALF,"
		"1,8,4,4,8,1,1,0,0,1,1,1,1,1,,,,,1,CUDNN_STATUS_NOT_SUPPORTED,,\n"
		"some,GPU_B,,1,CUDNN_ACTIVATION_FWD,ACTIVATION_RELU,FLOAT32,1,8,4,4,,,,,,,,,,,-1,-1,,,1,lost,"
		",\n"
		"short,GPU_B\n";
	benchmarks_free(&all);
	int bad = benchmarks_read(file_of_gzip("table.csv.gz", text), NULL, &all, &err);
	ok(!bad && all.entries == 5 && all.result_count == 3 && all.device_count == 1 &&
			strcmp(all.devices[0].model, "GPU A") == 0 && all.devices[0].has_matrix,
		"a table: results of one GPU");
	ok(!bad && strncmp(all.results[1].result.problem, "conv:f16@nxc,", 13) == 0 &&
			all.results[1].result.algorithm.rank == 0 &&
			all.results[2].result.status == STATUS_UNSUPPORTED,
		"a failure belongs to the stack of its file");
	ok(all.reason_count == 2 && strstr(all.reasons[0].text, "number of columns") &&
			strstr(all.reasons[1].text, "names its GPU"),
		"the others are counted by reason");
	benchmarks_free(&all);
	ok(benchmarks_read(file_of_text("t.csv", "set,gpu\n1,2\n"), NULL, &all, &err) < 0 &&
			strstr(err.text, "has no column cudnn"),
		"another table");
	benchmarks_free(&all);
	ok(benchmarks_read(file_of_text("t.txt", "hello\n"), NULL, &all, &err) < 0 &&
			strstr(err.text, "neither JSON of Google Benchmark nor"),
		"another file");
	benchmarks_free(&all);
	ok(benchmarks_read(file_of_text("t.json", "{\"a\": 1}"), NULL, &all, &err) < 0 &&
			strstr(err.text, "has no \"benchmarks\""),
		"other JSON");
}

/* True if reading gives results that the store accepts, or an error of one clean line that names the file. */
static bool reads(const char *path)
{
	struct benchmarks b;
	err.text[0] = '\0';
	int bad = benchmarks_read(path, NULL, &b, &err);
	bool good = !bad || (strstr(err.text, path) == err.text && text_is_clean(text_of(err.text)));
	for (int64_t i = 0; i < b.result_count; i++) {
		const struct result *r = &b.results[i].result;
		struct problem p;
		good = good && b.results[i].device >= 0 && b.results[i].device < b.device_count &&
			problem_parse(text_of(r->problem), &p, NULL) == 0 && text_is_clean(text_of(r->why)) &&
			(r->status != STATUS_OK || r->stats.median > 0);
	}
	for (int i = 0; i < b.device_count; i++)
		good = good && text_is_clean(text_of(b.devices[i].model)) &&
			text_is_clean(text_of(b.devices[i].stack));
	if (!good)
		printf("# %s\n", err.text);
	benchmarks_free(&b);
	return good;
}

/* Truncated at every byte; with every byte changed by a bit, replaced, or removed in turn. */
static void damaged(const char *what, const char *bytes)
{
	size_t n = strlen(bytes);
	char *changed = base_malloc(n + 1);
	int wrong = !reads(memory_file(bytes, n));
	for (size_t i = 0; i < n; i++) {
		wrong += !reads(memory_file(bytes, i));
		memcpy(changed, bytes, n);
		if (i % 3 == 0)
			changed[i] ^= (char)(1 << i % 8);
		else if (i % 3 == 1)
			changed[i] = "\"9},"[i % 4];
		else
			memmove(changed + i, bytes + i + 1, n - i - 1);
		wrong += !reads(memory_file(changed, i % 3 == 2 ? n - 1 : n));
	}
	free(changed);
	ok(!wrong, "%s: truncated, changed and shortened at each of %zu bytes", what, n);
}

static void hostile(void)
{
	damaged("JSON",
		"{\"context\": {\"date\": \"2019-09-30 10:25:24\"}, \"benchmarks\": [" HALF(
			"1") ", " FAILED "\"CUDNN_STATUS_NOT_SUPPORTED\"}, " RELU TIMES "}]}");
	damaged("table",
		"set,gpu,cudnn,batch,api,algo,dtype,n,c,h,w,k,r,s,pad_h,pad_w,stride_h,stride_w,dil_h,dil_w,"
		"group,b0,b1,real_us,cpu_us,iters,status,advised_algo,workspace_bytes\n"
		"nhwc_low,GPU_A,7.6.3,1,CUDNN_CONV_FWD,CONVOLUTION_FWD_ALGO_DIRECT,TENSORCOREHALF,"
		"1,8,4,4,8,1,1,0,0,1,1,1,1,1,,,2,3,4,ok,3,64\n"
		"nhwc_low,GPU_A,,1,CUDNN_CONV_FWD,CONVOLUTION_FWD_ALGO_FFT,TENSORCOREHALF,"
		"1,8,4,4,8,1,1,0,0,1,1,1,1,1,,,,,1,CUDNN_STATUS_NOT_SUPPORTED,,\n");
	damaged("a result of benanza",
		"{\"context\": {\"benanza\": {\"magic\":\"BENANZA-RUNNER\",\"protocol\":1,\"runner\":\"r\","
		"\"version\":\"1\",\"name\":\"cpu\",\"model\":\"m\",\"stack\":\"s\",\"threads\":1}}, "
		"\"benchmarks\": "
		"[{\"name\": \"x\", \"benanza\": {\"type\":\"result\",\"id\":1,\"result\":{\"problem\":"
		"\"eltwise:f32,f32:relu:4\",\"algorithm\":{\"api\":\"a\",\"name\":\"b\",\"rank\":0},"
		"\"status\":\"ok\","
		"\"cache\":\"net\",\"launch\":\"amortized\",\"stats\":{\"n\":1,\"discarded\":0,"
		"\"executions\":1,"
		"\"median_ns\":5},\"why\":\"\",\"measured_at\":5}, \"finished\": true}}]}");
}

int main(void)
{
	names();
	values();
	modes();
	statuses();
	refusals();
	table();
	hostile();
	benchmarks_free(&all);
	arena_free(&profiles);
	files_remove();
	return done_testing();
}
