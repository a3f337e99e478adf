#include "config.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include "execution_sum.h"
#include "profile_help.h"

#define EVENT(category, name, tid, ts, dur, args)                                                            \
	"  {\n    \"ph\": \"X\", \"cat\": \"" category "\", \"name\": \"" name                               \
	"\", \"pid\": 7, \"tid\": " #tid ",\n    \"ts\": " #ts ", \"dur\": " #dur                            \
	",\n    \"args\": {\n      " args "\n    }\n  },\n"
#define OP(name, ts, dur, id, dims)                                                                          \
	EVENT("cpu_op", name, 7, ts, dur,                                                                    \
		"\"External id\": " #id ", \"Input Dims\": " dims ", \"Input type\": [\"\", \"c10::Half\"]")
#define CALL(ts, correlation)                                                                                \
	EVENT("cuda_runtime", "cudaLaunchKernel", 7, ts, 2,                                                  \
		"\"External id\": 999, \"correlation\": " #correlation)
#define KERNEL(name, ts, dur, id, correlation)                                                               \
	EVENT("kernel", name, 3, ts, dur,                                                                    \
		"\"External id\": " #id ", \"device\": 1, \"stream\": 13, \"correlation\": " #correlation    \
		", \"est. achieved occupancy %\": 25")

/* A step at `at` hundred us: conv2d with an operator inside, which launches a kernel; relu whose kernel has
 * only the id of its operator; a kernel of no operator; a view. */
#define STEP(n, at, conv, relu)                                                                              \
	EVENT("user_annotation", "ProfilerStep#" #n, 7, at##00.0, 90.5, "\"External id\": 1")               \
	OP("aten::conv2d", at##01, 20, n##10, "[[1, 3, 8, 8], [4, 3, 1, 1]]")                                \
	OP("aten::cudnn_convolution", at##02, 18, n##11, "[]") CALL(at##03, n##1)                            \
	OP("aten::relu", at##30, 10, n##20, "[[1, 4, 8, 8]]") OP("aten::view", at##50, 1, n##30, "[]")

#define DEVICE(n, at, conv, relu)                                                                            \
	KERNEL("conv<float, 4>", at##95, conv, n##1, n##1)                                                   \
	KERNEL("relu\\\"k\\\"", at##97, relu, n##20, n##2) EVENT("gpu_memcpy", "Memcpy DtoH", 3, at##85, 3,  \
		"\"device\": 1, \"stream\": 13, \"correlation\": 0")

static const char head[] =
	"{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\"id\": 0, \"name\": \"other\"},"
	"{\"id\": 1, \"name\": \"NVIDIA A100\"}\n  ],\n  \"traceEvents\": [\n";
static const char steps[] = STEP(1, 1, 9, 9) STEP(2, 2, 5, 2) STEP(3, 3, 6, 3);
static const char device[] = DEVICE(1, 1, 9, 9) DEVICE(2, 2, 5, 2) DEVICE(3, 3, 6, 3);
static const char flow[] =
	"  {\n    \"ph\": \"s\", \"id\": 1, \"pid\": 7, \"tid\": 7, \"ts\": 103, \"cat\": \"ac2g\", "
	"\"name\": \"ac2g\"\n  }\n";
static const char tail[] = "  ],\n  \"traceName\": \"t.json\"\n}\n";

static const char *trace(const char *name, const char *first, const char *second)
{
	return file_of_text(name, arena_printf(&profiles, "%s%s%s%s%s", head, first, second, flow, tail));
}

static void check(const struct execution *e, const char *how)
{
	const struct execution_row *conv = row_named(e, "aten::conv2d"), *relu = row_named(e, "aten::relu");
	const struct execution_row *k = row_named(e, "conv<float, 4>"), *copy = row_named(e, "Memcpy DtoH");
	ok(e && e->row_count == 7 && !*e->gaps, "%s: layers, kernels, a copy, a call", how);
	ok(conv->level == LEVEL_LAYER && conv->ns == 5500 && conv->lo_ns == 5000 && conv->hi_ns == 6000,
		"%s: a layer takes the time of its kernels in the steps after the first", how);
	is_str(conv->shapes, "[[1, 3, 8, 8], [4, 3, 1, 1]]", "%s: shapes", how);
	is_str(conv->dtype, "f16", "%s: type of the first tensor", how);
	is_str(conv->op, "conv2d", "%s: operator", how);
	ok(relu->ns == 2500 && relu->parent == -1, "%s: by the id of the operator", how);
	ok(e && k->level == LEVEL_KERNEL && k->parent == conv - e->rows && k->stream == 13 &&
			k->occupancy == 0.25,
		"%s: a kernel under the layer of its call", how);
	is_str(row_named(e, "relu\"k\"")->kernel, "relu\"k\"", "%s: an escaped name", how);
	ok(copy->level == LEVEL_COPY && copy->parent == -1 && copy->ns == 3000, "%s: a copy of no operator",
		how);
	ok(row_named(e, "aten::view")->ns == 0, "%s: no time on the device", how);
	ok(e && e->profiled_ns == 90500 && e->first_ns == 90500, "%s: steps are runs", how);
	is_str(e ? e->device : "", "NVIDIA A100", "%s: device of the kernels", how);
	is_str(e ? e->settings : "", "{\"runs\":2,\"runs_left_out\":1}", "%s: runs", how);
	is_str(e ? e->dtype : "", "f16", "%s: type", how);
}

static void orders(void)
{
	check(read_files(trace("t.json", steps, device), NULL, NULL), "in order");
	check(read_files(trace("t.json", device, steps), NULL, NULL), "kernels first");
}

static void on_the_host(void)
{
	struct execution *e = read_files(trace("cpu.json", steps, ""), NULL, NULL);
	ok(row_named(e, "aten::conv2d")->ns == 20e3 && row_named(e, "aten::view")->ns == 1e3,
		"without kernels layers take their own time");
	ok(row_named(e, "cudaLaunchKernel")->parent == row_named(e, "aten::conv2d") - e->rows,
		"a call under its layer");
}

static void damage(void)
{
	const char *control = OP("aten::\x01", 240, 1, 5, "[]");
	struct execution *e = read_files(
		trace("control.json", arena_printf(&profiles, "%s%s", steps, control), device), NULL, NULL);
	ok(row_named(e, "aten::?")->level == LEVEL_LAYER && !*e->gaps, "control characters in a name");
	char *text = arena_printf(&profiles, "%s%s%s", head, steps, device);
	text[strlen(text) - 40] = '\0';
	e = read_files(file_of_text("cut.json", text), NULL, NULL);
	ok(e && strstr(e->gaps, "truncated after ") == e->gaps, "truncated within an event");
	e = read_files(file_of_text("x.json", "{\"schemaVersion\": 1, \"traceEvents\": []}"), NULL, NULL);
	ok(!e && strstr(err.text, "x.json: no operator and no kernel"), "an empty trace");
}

/* Events whose time Kineto lost. */
static void no_times(void)
{
	static const char zero[] = EVENT("cpu_op", "aten::relu", 7, 0.000, 0.000, "")
		EVENT("cpu_op", "aten::conv2d", 7, 0, 0, "");
	static const char lost[] = EVENT("user_annotation", "ProfilerStep#4", 7, 400.0, 90.5, "")
		EVENT("user_annotation", "ProfilerStep#5", 7, 500.0, 90.5, "")
		OP("aten::relu", 530, 77, 530, "[[1, 4, 8, 8]]");
	const char *all = arena_printf(&profiles, "%s%s%s", zero, steps, lost);
	struct execution *e = read_files(trace("zero.json", all, ""), NULL, NULL);
	ok(row_named(e, "aten::conv2d")->ns == 20e3 && row_named(e, "aten::relu")->ns == 10e3,
		"steps without all their operators do not count");
	is_str(e ? e->settings : "", "{\"runs\":2,\"runs_left_out\":1}", "the others do");
	is_str(e ? e->gaps : "", "2 runs without all operators left out; 2 events without a time",
		"both are said");
	/* since 1970, with fractions; an event at 0 with a duration is as far away */
	e = read_files(trace("late.json", OP("aten::odd", 0, 5, 9, "[]")
		EVENT("user_annotation", "ProfilerStep#1", 7, 1700000000000100.25, 90.5, "")
		OP("aten::a", 1700000000000101.5, 20.5, 8, "[]"), ""), NULL, NULL);
	ok(e && e->row_count == 1 && e->rows[0].ns == 20500 && e->rows[0].start_ns == 1250,
		"an event 50 years before the others is left out, the others keep their fractions");
	ok(e && strstr(e->gaps, "1 event without a time"), "and counted");
}

/* Kernels without a time: their steps do not count. */
static void no_kernel_times(void)
{
	static const char kernels[] = DEVICE(1, 1, 9, 9) DEVICE(2, 2, 5, 2)
		KERNEL("conv<float, 4>", 0, 0, 31, 31) KERNEL("relu", 0, 0, 320, 32);
	struct execution *e = read_files(trace("kernels.json", steps, kernels), NULL, NULL);
	ok(row_named(e, "aten::conv2d")->ns == 5000 && row_named(e, "aten::relu")->ns == 2000,
		"a step whose kernels have no time does not count");
}

/* Runs without ProfilerStep. */
static void runs(void)
{
	struct str s = { 0 };
	for (int run = 0; run < 4; run++) {
		int at = run * 1000;
		str_addf(&s,
			"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"infer\",\"pid\":7,\"tid\":7,"
			"\"ts\":%d,\"dur\":500},",
			at);
		for (int i = 0; i < 9; i++)
			str_addf(&s,
				"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::op%d\",\"pid\":7,\"tid\":"
				"7,"
				"\"ts\":%d,\"dur\":%d},",
				i, at + 10 * i + 1, i + run);
	}
	struct execution *e = read_files(trace("notes.json", s.p, ""), NULL, NULL);
	ok(e && e->profiled_ns == 500e3 && row_named(e, "aten::op1")->ns == 3e3,
		"runs of a repeated annotation");
	ok(e && strstr(e->gaps, "4 runs of the annotation infer"), "said in gaps");
	for (char *at = s.p; (at = strstr(at, "user_annotation"));)
		memcpy(at, "xser", 4);
	e = read_files(trace("repeated.json", s.p, ""), NULL, NULL);
	ok(e && e->row_count == 9 && row_named(e, "aten::op1")->ns == 3e3 && e->profiled_ns == 90e3,
		"runs by repeated operators");
	ok(e && strstr(e->gaps, "4 runs found by repeated operators"), "said in gaps");
	str_free(&s);
	e = read_files(
		trace("one.json", OP("aten::a", 1, 1, 1, "[]") OP("aten::b", 3, 2, 2, "[]"), ""), NULL, NULL);
	ok(e && e->row_count == 2 && isnan(e->profiled_ns) && strstr(e->gaps, "the whole trace is one run"),
		"else one run, whose latency is unknown");
}

/* A trace from before Kineto: an array, without categories. Kernels follow their operators; those of an outer
 * operator include those of the inner ones. */
#define OLD(name, ts, dur, on)                                                                               \
	"{\"name\": \"" name "\", \"ph\": \"X\", \"ts\": " #ts ", \"dur\": " #dur                            \
	", \"tid\": 1, \"pid\": \"" on " functions\", \"args\": {}}, "
#define OLD_ARROW                                                                                            \
	"{\"name\": \"a\", \"ph\": \"s\", \"ts\": 1, \"tid\": 1, \"pid\": \"CPU functions\", "           \
	"\"id\": 1, \"cat\": \"cpu_to_cuda\", \"args\": {}}, "
#define OLD_END OLD("aten::end", 999, 1, "CPU") "{}]"

static void before_kineto(void)
{
	struct str s = { 0 };
	str_puts(&s, "[");
	for (int run = 0; run < 3; run++)
		for (int i = 0; i < 8; i++)
			str_addf(&s,
				"{\"name\": \"aten::op%d\", \"ph\": \"X\", \"ts\": %d.0, "
				"\"dur\": %d.0, "
				"\"tid\": 1, \"pid\": \"CPU functions\", \"args\": {}}, ",
				i, run * 1000 + i * 100, 10 * i + run + 1);
	s.p[s.n - 2] = ']';
	struct execution *e = read_files(file_of("old.json", s.p, s.n - 1), NULL, NULL);
	str_free(&s);
	ok(e && e->row_count == 8 && row_named(e, "aten::op3")->ns == 32500 &&
			!strcmp(row_named(e, "aten::op3")->op, "op3"), "layers of repeated operators");
	ok(e && strstr(e->gaps, "3 runs found by repeated operators"), "said in gaps");
	e = read_files(file_of_text("old_cuda.json", "["
		OLD("aten::conv2d", 100, 20, "CPU") OLD_ARROW OLD("aten::conv2d", 130, 9, "CUDA")
		OLD("aten::cudnn", 102, 10, "CPU") OLD_ARROW OLD("aten::cudnn", 131, 7, "CUDA")
		OLD("aten::relu", 125, 5, "CPU") OLD_ARROW OLD("relu kernel", 140, 3, "CUDA") OLD_END),
		NULL, NULL);
	ok(row_named(e, "aten::conv2d")->ns == 9e3 && row_named(e, "aten::relu")->ns == 3e3,
		"the time on the device, that of inner operators once");
	ok(row_named(e, "relu kernel")->level == LEVEL_KERNEL, "kernels");
}

/* Kernels of a replayed graph have no operator: the operators are calls of the host then. */
static void graphs(void)
{
	struct execution *e = read_files(trace("g.json", OP("aten::a", 1, 1, 1, "[]"),
		KERNEL("k", 5, 7, 0, 50) KERNEL("k", 15, 8, 0, 50)), NULL, NULL);
	ok(e && row_named(e, "aten::a")->level == LEVEL_API && e->row_count == 3 &&
			execution_sum_ns(e, LEVEL_KERNEL) == 15e3,
		"kernels of a graph are rows of their own");
}

static void write_big(const char *path, int64_t bytes)
{
	FILE *f = fopen(path, "wb");
	int64_t written = fprintf(f, "%s", head);
	for (int64_t n = 0; written < bytes; n++) {
		int64_t op = n % 20, step = n / 20;
		if (op == 0)
			written += fprintf(f,
				"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#%lld\","
				"\"pid\":7,\"tid\":7,\"ts\":%lld,\"dur\":900},\n",
				(long long)step, (long long)step * 1000);
		written += fprintf(f,
			"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::op%d\",\"pid\":7,\"tid\":7,"
			"\"ts\":%lld,\"dur\":%d,\"args\":{\"External id\":%lld}},\n",
			(int)op, (long long)(step * 1000 + op * 40), (int)(op + 1), (long long)n + 1);
	}
	fprintf(f, "{}%s", tail);
	fclose(f);
}

/* 120 MB of events are read in under 60 MB of memory; the earliest are kept. */
static void large(void)
{
	const char *path = file_of_text("large.json", "");
	write_big(path, 120 << 20);
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		struct execution *e = read_files(path, NULL, NULL);
		bool good = e && e->row_count == 20 && row_named(e, "aten::op7")->ns == 8e3 &&
			e->profiled_ns == 900e3 && strstr(e->gaps, " steps are read");
		_exit(good ? 0 : 1);
	}
	int status = 1;
	struct rusage used = { 0 };
	wait4(child, &status, 0, &used);
	ok(status == 0, "a large trace gives its first steps");
#ifdef __SANITIZE_ADDRESS__
	ok(true, "memory # SKIP AddressSanitizer");
#else
	ok(used.ru_maxrss < 60 << 10, "in under 60 MB of memory");
	printf("# %ld KiB\n", used.ru_maxrss);
#endif
	unlink(path);
}

/* Operators that all differ, the latest first: the earliest stay, with their names. */
static void many_names(void)
{
	const char *path = file_of_text("names.json", head);
	FILE *f = fopen(path, "ab");
	for (int i = 99999; i >= 0; i--)
		fprintf(f,
			"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::op%d\",\"pid\":7,\"tid\":7,\"ts\":"
			"%d,"
			"\"dur\":%d},\n",
			i, i * 10, 1 + i % 7);
	fprintf(f, "{}%s", tail);
	fclose(f);
	struct execution *e = read_files(path, NULL, NULL);
	ok(e && e->row_count > 10000 && e->row_count < 40000 && !strcmp(e->rows[0].name, "aten::op0") &&
			row_named(e, "aten::op5")->ns == 6e3, "the earliest of 100,000 different operators");
	ok(e && strstr(e->gaps, " later events are not read"), "the others are counted");
	unlink(path);
}

/* A real trace, where it is: AlexNet on a GPU (HolisticTraceAnalysis). */
static void real_file(void)
{
	const char *shared = getenv("BENANZA_SHARED");
	const char *path = arena_printf(&profiles, "%s/reference/profiles/kineto/alexnet_pytorch_gpu.json.gz",
		shared ? shared : "");
	if (access(path, R_OK)) {
		ok(true, "alexnet # SKIP not present");
		return;
	}
	struct execution *e = read_files(path, NULL, NULL);
	double calls = 0, ns = 0, owned = 0;
	for (int i = 0; e && i < e->row_count; i++) {
		const struct execution_row *r = &e->rows[i];
		bool is_kernel = r->level == LEVEL_KERNEL && *r->kernel;
		calls += is_kernel ? r->calls : 0;
		ns += is_kernel ? r->ns : 0;
		owned += is_kernel && r->parent >= 0 ? r->ns : 0;
	}
	ok(calls == 79 && ns == 10692e3, "alexnet: 79 kernels, 10.692 ms");
	ok(owned == ns, "alexnet: every kernel has its operator");
	is_str(e ? e->device : "", "NVIDIA A100-PG509-200", "alexnet: device");
}

int main(void)
{
	if (!scratch_open())
		return 1;
	large();
	orders();
	on_the_host();
	damage();
	no_times();
	no_kernel_times();
	runs();
	graphs();
	before_kineto();
	many_names();
	real_file();
	files_remove();
	return done_testing();
}
