#include "config.h"

#include "drive/records.h"

#include <math.h>

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "store_help.h"

#define RELU "eltwise:f32,f32:relu:1x64x56x56"
#define TANH "eltwise:f32,f32:tanh:1x64x56x56"

static struct error err;

static char *hello_line(const char *model)
{
	struct device d = help_device;
	d.model = model;
	return wire_hello(&d);
}

static char *result_line(int64_t id, const char *problem, double median)
{
	struct wire_message m = { .type = WIRE_RESULT, .id = id, .problem = "", .what = "",
		.result = help_result(problem, "jit", median) };
	return wire_format(&m);
}

/* Writes lines to a file; NULL ends them. Those that came from malloc are freed by the caller's pool, the
 * process. */
static const char *file_of(const char *name, const char *const *lines)
{
	struct str all = { 0 };
	for (int i = 0; lines[i]; i++)
		str_addf(&all, "%s", lines[i]);
	const char *path = scratch_path(name);
	file_write(path, all.p ? all.p : "", all.n);
	str_free(&all);
	return path;
}

/* The items of a file as a text: "D:model R1:median F:... E" and how it ended: "." or "! error"; "~" torn. */
static char *items_of(const char *path)
{
	struct str out = { 0 };
	struct records_item item;
	int got = -1;
	err.text[0] = '\0';
	struct records *r = records_open(path, &err);
	while (r && (got = records_next(r, &item, &err)) == 1)
		switch (item.kind) {
		case RECORDS_DEVICE:
			str_addf(&out, "D:%s ", item.device->model);
			break;
		case RECORDS_EXECUTION:
			str_addf(&out, "X%lld:%s:%d:%g ", (long long)item.line, item.execution->framework,
				item.execution->row_count, item.execution->stats.median);
			break;
		case RECORDS_RESULT:
			str_addf(&out, "R%lld:%s:%g:%s ", (long long)item.line,
				strcmp(item.result.problem, RELU) ? "t" : "r", item.result.stats.median,
				status_name(item.result.status));
			break;
		case RECORDS_DONE:
			str_addf(&out, "E:%s:%s ", strcmp(item.problem, RELU) ? "t" : "r",
				status_name(item.status));
			break;
		case RECORDS_FAULT:
			str_addf(&out, "F%lld(%s) ", (long long)item.line, strrchr(item.fault, '/') + 1);
			break;
		}
	str_addf(&out, "%s", got == 0 ? "." : "!");
	if (r && records_is_truncated(r))
		str_addf(&out, "~");
	records_close(r);
	return out.p;
}

static void expect(const char *path, const char *want, const char *name)
{
	char *got = items_of(path);
	is_str(got, want, "%s", name);
	free(got);
}

#define DONE(id, status) "{\"type\":\"done\",\"id\":" #id ",\"status\":\"" status "\",\"why\":\"\"}\n"

static void test_sound(void)
{
	char *a = hello_line("A"), *b = hello_line("B"), *one = result_line(1, RELU, 10),
	     *two = result_line(2, TANH, 20);
	char *again = result_line(1, TANH, 30);
	expect(file_of("a.jsonl", (const char *const[]){ a, one, DONE(1, "ok"), two, DONE(2, "ok"), NULL }),
		"D:A R2:r:10:ok E:r:ok R4:t:20:ok E:t:ok .", "a batch");
	expect(file_of("b.jsonl",
		       (const char *const[]){ "Welcome to gpu7 {\n", "\n", "  Last login: today\n",
			       "{\"motd\": 1}\n", "{ half\n", a, "srun: job 7 started\n", one,
			       "{\"type\":\"heartbeat\",\"id\":1,\"what\":\"x\"}\n",
			       "{\"type\":\"log\",\"id\":0,\"what\":\"x\"}\n", DONE(1, "ok"), "\n", NULL }),
		"D:A R8:r:10:ok E:r:ok .", "other output is skipped");
	expect(file_of("c.jsonl",
		       (const char *const[]){ a, one, b, again, DONE(1, "ok"), a, DONE(1, "ok"), NULL }),
		"D:A R2:r:10:ok D:B R4:t:30:ok E:t:ok D:A .", "several hellos, each with its own jobs");
	expect(file_of("prompt.jsonl", (const char *const[]){ "user@gpu7:~$ ", a, one, DONE(1, "ok"), NULL }),
		"D:A R2:r:10:ok E:r:ok .", "a banner without a newline before the hello");
	expect(file_of("joined.jsonl",
		       (const char *const[]){ a, one, "{\"type\":\"result\",\"id\":2,\"resu", b, again,
			       DONE(1, "ok"), NULL }),
		"D:A R2:r:10:ok D:B R4:t:30:ok E:t:ok .",
		"a truncated file followed by another: each result has its own device");
	expect(file_of("d.jsonl", (const char *const[]){ a, one, DONE(1, "failed"), DONE(2, "ok"), NULL }),
		"D:A R2:r:10:ok E:r:failed .", "an end without a result is skipped");
	expect(file_of("e.jsonl", (const char *const[]){ "", NULL }), ".", "an empty file");
	struct records *r =
		records_open(file_of("f.jsonl", (const char *const[]){ a, one, DONE(1, "ok"), NULL }), &err);
	struct records_item item;
	while (r && records_next(r, &item, &err) == 1)
		;
	ok(r && !records_had_execution(r) && !records_is_truncated(r), "a batch has no execution");
	records_close(r);
	free(a);
	free(b);
	free(one);
	free(two);
	free(again);
}

/* A file of version 0.1.0, as it was written, and one of a later version with a job of another kind. */
static void test_versions(void)
{
	static const char old[] =
		"{\"magic\":\"BENANZA-RUNNER\",\"protocol\":1,\"runner\":\"benanza-runner-cpu\",\"version\":"
		"\"0.1.0\",\"name\":\"cpu\","
		"\"model\":\"AMD EPYC\",\"stack\":\"oneDNN 2.6.3 (OpenMP, avx2), 2 threads bound one a core, "
		"strict\",\"threads\":2,"
		"\"llc_bytes\":33554432,\"has_matrix\":false,\"host\":\"vm\",\"attributes\":{\"isa\":"
		"\"avx2\",\"cores\":[0,1]}}\n"
		"{\"type\":\"result\",\"id\":1,\"result\":{\"problem\":\"" RELU
		"\",\"algorithm\":{\"api\":\"oneDNN\",\"name\":\"jit:avx2\","
		"\"layouts\":\"src=nChw8c "
		"dst=nChw8c\",\"math\":\"strict\",\"rank\":0,\"matrix\":\"no\",\"workspace_bytes\":0,"
		"\"notes\":\"\"},"
		"\"status\":\"ok\",\"cache\":\"net\",\"launch\":\"amortized\",\"stats\":{\"n\":13,"
		"\"discarded\":0,\"executions\":1,"
		"\"min_ns\":1197404,\"q1_ns\":1210285,\"median_ns\":1221928,\"q3_ns\":1233991,\"mean_ns\":"
		"1226540.6,\"stdev_ns\":18234.3,"
		"\"lo_ns\":1208550,\"hi_ns\":1235524,\"stop\":\"converged\"},\"why\":\"\",\"kernels\":\"\","
		"\"enqueue_ns\":null,"
		"\"clock_mhz\":null,\"measured_at\":1795234168,\"runner_version\":\"0.1.0\"}}\n"
		"{\"type\":\"done\",\"id\":1,\"status\":\"ok\",\"why\":\"\",\"caches\":[\"net\",\"warm\"],"
		"\"launches\":[\"amortized\",\"isolated\"],\"problem\":\"" RELU "\"}\n";
	expect(file_of("old.jsonl", (const char *const[]){ old, NULL }),
		"D:AMD EPYC R2:r:1.22193e+06:ok E:r:ok .", "a file of version 0.1.0");
	char *a = hello_line("A"), *one = result_line(2, TANH, 20);
	struct wire_message m = { .type = WIRE_RESULT,
		.id = 1,
		.kind = "model",
		.result = help_result("resnet50.onnx", "whole", 5) };
	char *model = wire_format(&m);
	expect(file_of("kinds.jsonl",
		       (const char *const[]){ a, model, DONE(1, "ok"), one, DONE(2, "ok"), NULL }),
		"D:A F2(kinds.jsonl:2: a result of a job of the kind \"model\", which this version cannot "
		"store) R4:t:20:ok E:t:ok .",
		"a result of another kind of jobs is skipped and reported");
	free(a);
	free(one);
	free(model);
}

static void test_torn(void)
{
	char *a = hello_line("A"), *one = result_line(1, RELU, 10);
	char *whole = base_strdup(one);
	whole[strlen(whole) - 1] = '\0';
	char half[64];
	snprintf(half, sizeof(half), "%.40s", one);
	char half_line[66];
	snprintf(half_line, sizeof(half_line), "%s\n", half);
	expect(file_of("t1.jsonl", (const char *const[]){ a, one, half, NULL }), "D:A R2:r:10:ok .~",
		"a truncated last line");
	expect(file_of("t2.jsonl", (const char *const[]){ a, whole, NULL }), "D:A R2:r:10:ok .",
		"a complete last line without a newline");
	expect(file_of("t3.jsonl", (const char *const[]){ a, one, half_line, a, one, NULL }),
		"D:A R2:r:10:ok D:A R5:r:10:ok .", "a truncated line before the next hello");
	char *got = items_of(file_of("t4.jsonl", (const char *const[]){ a, half_line, one, NULL }));
	ok(strncmp(got, "D:A F2(t4.jsonl:2: not JSON: ", 29) == 0,
		"an invalid line between messages is a fault");
	has(got, ") R3:r:10:ok .", "the next line is read");
	free(got);
	got = items_of(file_of("t5.jsonl", (const char *const[]){ a, one, half_line, NULL }));
	has(got, "F3(t5.jsonl:3: not JSON", "an invalid last line with a newline is a fault");
	free(got);
	free(a);
	free(one);
	free(whole);
}

static void test_faults(void)
{
	char *a = hello_line("A"), *one = result_line(1, RELU, 10);
	char *nonsense = result_line(1, "conv:nonsense", 10), *zero = result_line(1, RELU, 0);
	struct wire_message m = { .type = WIRE_RESULT, .id = 1, .problem = "", .what = "",
		.result = help_result(RELU, "jit", 10) };
	m.result.stats.q1 = 100;
	char *quartiles = wire_format(&m);
	char *got = items_of(file_of("f1.jsonl", (const char *const[]){ one, a, nonsense, one, NULL }));
	has(got, "F1(f1.jsonl:1: a result before the first hello", "a result without a device");
	has(got, "D:A F3(f1.jsonl:3: ", "an invalid problem");
	has(got, ") R4:r:10:ok .", "does not end the reading");
	free(got);
	got = items_of(file_of(
		"f2.jsonl", (const char *const[]){ a, quartiles, "{\"type\":\"nonsense\"}\n", zero, NULL }));
	has(got, "F2(f2.jsonl:2: a result that has quartiles out of order)", "impossible statistics");
	has(got, "F3(f2.jsonl:3: unknown message type", "an unknown message");
	ok(!strstr(got, ":ok") && strstr(got, "R4:r:0:mistrusted .") != NULL, "a time of zero is suspect");
	printf("# %s\n", got);
	free(got);
	char *old = base_strdup(a), *protocol = strstr(old, "\"protocol\":1");
	protocol[11] = '7';
	got = items_of(file_of("f3.jsonl", (const char *const[]){ a, one, old, one, NULL }));
	is_str(got, "D:A R2:r:10:ok !", "a hello of another protocol is an error");
	has(err.text, "f3.jsonl:3: hello: ", "the error has the line");
	free(got);
	struct str huge = { 0 };
	str_addf(&huge, "{\"type\":\"result\",\"x\":\"");
	for (int i = 0; i < WIRE_LINE_MAX / 64 + 2; i++)
		str_addf(&huge, "%064d", i);
	str_addf(&huge, "\"}\n");
	expect(file_of("f4.jsonl", (const char *const[]){ huge.p, a, huge.p, one, NULL }),
		"D:A F3(f4.jsonl:3: a line longer than 1048576 bytes) R4:r:10:ok .",
		"a line that is too long");
	str_free(&huge);
	is_int(records_open(scratch_path("none.jsonl"), &err) == NULL, 1, "a missing file");
	has(err.text, "none.jsonl: cannot be read: No such file", "the error has the reason");
	expect(scratch, "!", "a directory");
	free(a);
	free(one);
	free(nonsense);
	free(zero);
	free(quartiles);
	free(old);
}

/* Numbers that no measurement gives; each line is left out, and the next one is read. */
static void test_lies(void)
{
	static const struct {
		double median, hi, clock_mhz;
		int64_t n, at;
		const char *says;
	} lies[] = {
		{ 1e-300, NAN, NAN, 12, 1, "has a time below 0.01 ns" },
		{ 0.009, NAN, NAN, 12, 1, "has a time below 0.01 ns" },
		{ 1e300, NAN, NAN, 12, 1, "has a time above 1e15 ns (11 days)" },
		{ 10, 1e300, NAN, 12, 1, "has a time above 1e15 ns (11 days)" },
		{ 10, NAN, 1e300, 12, 1, "has a clock rate out of range" },
		{ 10, NAN, NAN, INT64_MAX, 1, "has a sample or execution count" },
		{ 10, NAN, NAN, 12, INT64_MAX, "has a date out of range" },
		{ 10, NAN, NAN, 0, 1, "but \"n\"" },
		{ 10, 9, NAN, 12, 1, "the median is outside its interval" },
	};
	char *a = hello_line("A"), *one = result_line(1, RELU, 0.01);
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct wire_message m = { .type = WIRE_RESULT, .id = 1, .problem = "", .what = "",
			.result = help_result(RELU, "jit", lies[i].median) };
		m.result.stats.hi = lies[i].hi;
		m.result.stats.n = lies[i].n;
		m.result.clock_mhz = lies[i].clock_mhz;
		m.result.measured_at = lies[i].at;
		char *lie = wire_format(&m);
		char *got = items_of(file_of("l.jsonl", (const char *const[]){ a, lie, one, NULL }));
		ok(strncmp(got, "D:A F2(l.jsonl:2: ", 18) == 0, "line 2 is skipped");
		has(got, lies[i].says, "the fault has the reason");
		has(got, ") R3:r:0.01:ok .", "the next line is read");
		free(got);
		free(lie);
	}
	free(a);
	free(one);
}

static void test_compressed(void)
{
	char *a = hello_line("A");
	struct str all = { 0 };
	str_addf(&all, "%s", a);
	for (int i = 0; i < 200; i++) {
		char *line = result_line(i + 1, RELU, 10 + i * 1.37);
		str_addf(&all, "%s", line);
		free(line);
	}
	file_write(scratch_path("z.jsonl"), all.p, all.n);
	char command[600];
	snprintf(command, sizeof(command), "gzip -c '%s' >'%s'", scratch_path("z.jsonl"),
		scratch_path("z.jsonl.gz"));
	if (system(command)) {
		ok(true, "# SKIP no gzip");
		return;
	}
	char *plain = items_of(scratch_path("z.jsonl"));
	expect(scratch_path("z.jsonl.gz"), plain, "gzipped: the same items");
	size_t n;
	char *bytes = file_read(scratch_path("z.jsonl.gz"), &n);
	file_write(scratch_path("cut.jsonl.gz"), bytes, n / 2);
	char *cut = items_of(scratch_path("cut.jsonl.gz"));
	size_t length = strlen(cut);
	ok(length > 20 && length < strlen(plain) && strncmp(cut, plain, length - 3) == 0,
		"truncated gzip: the items before the end are read");
	is_str(cut + (length < 2 ? 0 : length - 2), ".~", "records_is_truncated");
	bytes[n / 2] ^= 0x55;
	bytes[n / 2 + 1] ^= 0x55;
	bytes[n / 2 + 7] ^= 0xff;
	file_write(scratch_path("bad.jsonl.gz"), bytes, n);
	char *bad = items_of(scratch_path("bad.jsonl.gz"));
	/* inflate may go on with wrong bytes for a while; its checksum tells at the end */
	ok(bad[strlen(bad) - 1] == '!', "damaged gzip: an error");
	has(err.text, "bad.jsonl.gz:", "the error names the file");
	free(bytes);
	free(plain);
	free(cut);
	free(bad);
	free(a);
	str_free(&all);
}

/* Zeros, as much of them as is asked for, which take no room; then an end of line and a text. */
static void add_zeros(FILE *f, long bytes, const char *then)
{
	fseek(f, bytes, SEEK_CUR);
	fprintf(f, "\n%s", then);
}

static void test_silence(void)
{
	const long half = RECORDS_SILENCE_MAX / 2 + (1 << 17);
	char *a = hello_line("A"), *one = result_line(1, RELU, 10);
	FILE *f = fopen(scratch_path("s1.jsonl"), "wb");
	fputs(a, f);
	add_zeros(f, half, one);
	add_zeros(f, half, one);
	add_zeros(f, half, a);
	add_zeros(f, half, "");
	fclose(f);
	char *got = items_of(scratch_path("s1.jsonl"));
	ok(strstr(got, "R3:r:10:ok") && strstr(got, "R5:r:10:ok") && got[strlen(got) - 1] == '.',
		"results far apart are read");
	free(got);
	f = fopen(scratch_path("s2.jsonl"), "wb");
	fputs(a, f);
	fputs(one, f);
	add_zeros(f, half, "\n");
	add_zeros(f, half, one);
	fclose(f);
	got = items_of(scratch_path("s2.jsonl"));
	ok(strstr(got, "R2:r:10:ok") && got[strlen(got) - 1] == '!', "too much without a message ends it: %s",
		got);
	has(err.text, "s2.jsonl:5: no runner message in 64 MiB", "the error has the line and the limit");
	free(got);
	free(a);
	free(one);
}

static void test_stop(void)
{
	volatile sig_atomic_t stop = 0;
	struct records_item item;
	FILE *f = fopen(scratch_path("stop.jsonl"), "wb");
	char *a = hello_line("A");
	fputs(a, f);
	add_zeros(f, RECORDS_SILENCE_MAX / 2, "");
	fclose(f);
	struct records *r = records_open(scratch_path("stop.jsonl"), &err);
	records_set_stop(r, &stop);
	is_int(records_next(r, &item, &err), 1, "a hello, then other output");
	stop = 1;
	is_int(records_next(r, &item, &err), -1, "reading ends after the stop flag is set");
	has(err.text, "interrupted", "the error has the reason");
	records_close(r);
	free(a);
}

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#elif defined(__has_feature)
#define SANITIZED __has_feature(address_sanitizer)
#else
#define SANITIZED false
#endif

/* The most memory that this process ever had, in KiB. */
static long peak_kib(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

/* Reads all of it; what is held meanwhile must not grow with it. */
static void reads_in_little(const char *path, int items, const char *name)
{
	struct records_item item;
	long before = peak_kib();
	int n = 0;
	struct records *r = records_open(path, &err);
	while (records_next(r, &item, &err) == 1)
		n++;
	is_int(n, items, "%s: all are read", name);
	records_close(r);
	long more = peak_kib() - before;
	if (SANITIZED)
		printf("# what is freed stays: %ld KiB\n", more);
	else
		ok(more < 8192, "%s: in little memory (%ld KiB)", name, more);
}

static void test_memory(void)
{
	struct device d = help_device;
	struct str attributes = { 0 };
	str_addf(&attributes, "{\"x\":\"%060000d\"}", 7);
	d.attributes = attributes.p;
	char *long_hello = wire_hello(&d), *hello = hello_line("A");
	FILE *f = fopen(scratch_path("m1.jsonl"), "wb");
	for (int i = 0; i < 500; i++)
		fputs(long_hello, f);
	fclose(f);
	reads_in_little(scratch_path("m1.jsonl"), 500, "hellos");
	f = fopen(scratch_path("m2.jsonl"), "wb");
	fputs(hello, f);
	for (int i = 1; i <= 200000; i++)
		fprintf(f,
			"{\"type\":\"result\",\"id\":%d,\"result\":{\"problem\":\"eltwise:f32,f32:relu:%d\","
			"\"status\":\"failed\"}}\n",
			i, i);
	fclose(f);
	reads_in_little(scratch_path("m2.jsonl"), 200001, "problems");
	str_free(&attributes);
	free(long_hello);
	free(hello);
}

static bool want_tanh(const void *context, struct text problem)
{
	(void)context;
	return text_is(problem, TANH);
}

static void test_want(void)
{
	char *a = hello_line("A"), *one = result_line(1, RELU, 10), *two = result_line(2, TANH, 20);
	const char *path = file_of("w.jsonl",
		(const char *const[]){
			a, one, DONE(1, "ok"), two, DONE(2, "ok"), "{\"problem\":\"half", NULL });
	struct records *r = records_open(path, &err);
	struct records_item item;
	struct str got = { 0 };
	records_set_filter(r, want_tanh, NULL);
	while (records_next(r, &item, &err) == 1)
		str_addf(&got, "%d:%lld ", (int)item.kind, (long long)item.line);
	is_str(got.p, "0:1 1:4 2:5 ", "only the problems that pass the filter");
	records_close(r);
	str_free(&got);
	free(a);
	free(one);
	free(two);
}

static char *execution_line(int64_t id, double median)
{
	struct execution e = execution_new();
	e.framework = "onnxruntime";
	e.stats = (struct sample_stats){ .n = 5, .executions = 1, .median = median, .min = NAN, .q1 = NAN,
		.q3 = NAN, .mean = NAN, .stdev = NAN, .lo = median, .hi = median };
	return wire_format(&(struct wire_message){ .type = WIRE_EXECUTION, .id = id, .execution = &e });
}

static char *row_line(int64_t id, int parent)
{
	struct execution_row r = execution_row_new();
	r.name = "conv";
	r.ns = 4;
	r.parent = parent;
	return wire_format(&(struct wire_message){ .type = WIRE_ROW, .id = id, .row = &r });
}

/* Executions of whole models, with their rows; the end of the job completes them. */
static void test_executions(void)
{
	const char *done = "{\"type\":\"done\",\"id\":1,\"kind\":\"model\",\"payload\":\"m\",\"status\":"
			   "\"ok\"}\n",
		   *beat = "{\"type\":\"heartbeat\",\"id\":1,\"what\":\"12 of 50 samples\"}\n";
	struct {
		const char *lines[8], *items, *name;
	} cases[] = {
		{ { hello_line("A"), execution_line(1, 7), row_line(1, -1), beat, row_line(1, 0), done,
			  NULL },
			"D:A X2:onnxruntime:2:7 .", "an execution with two rows" },
		{ { execution_line(1, 7), done, NULL }, "X1:onnxruntime:0:7 .",
			"without a hello, and no row" },
		{ { execution_line(1, 7), row_line(1, -1), NULL }, ".~", "no end: it is cut off" },
		{ { execution_line(1, 7), hello_line("A"), result_line(1, RELU, 3), NULL }, "D:A R3:r:3:ok .",
			"another run begins before its end" },
		{ { row_line(1, -1), done, execution_line(1, 7), done, NULL },
			"F1(executions.jsonl:1: a row without its execution) X3:onnxruntime:0:7 .",
			"a row without its execution" },
		{ { execution_line(1, 7), execution_line(1, 8), done, NULL },
			"F2(executions.jsonl:2: a second execution before the end of the first) .",
			"a second execution" },
		{ { execution_line(1, 7), row_line(1, 3), done, execution_line(2, 9), NULL },
			"F1(executions.jsonl:1: an execution: row 0 (conv) has a parent that is not a row "
			"before it) .~",
			"a row whose parent does not come before it" },
		{ { execution_line(1, 0), done, NULL },
			"F1(executions.jsonl:1: an execution: has a latency of zero) .",
			"a latency of zero" },
	};
	static void *lines[sizeof(cases) / (sizeof(void *))]
		__attribute__((used)); /* keeps them reachable */
	memcpy(lines, cases, sizeof(lines));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *got = items_of(file_of("executions.jsonl", cases[i].lines));
		is_str(got, cases[i].items, "%s", cases[i].name);
		free(got);
	}
}

/* Number of descriptors that other commands would inherit. */
static int inherited(void)
{
	int n = 0;
	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) == 0;
	return n;
}

/* Standard input becomes a pipe with this text. */
static void feed(const char *const *lines)
{
	int ends[2];
	if (pipe(ends))
		return;
	for (int i = 0; lines[i]; i++)
		ok(write(ends[1], lines[i], strlen(lines[i])) == (ssize_t)strlen(lines[i]), "written");
	close(ends[1]);
	dup2(ends[0], 0);
	close(ends[0]);
}

/* Whether the next call may block: not in a file, and not while a whole line is buffered. */
static void test_may_wait(void)
{
	char *a = hello_line("A"), *one = result_line(1, RELU, 10);
	static const char odd[] = "{\"type\":\"nonsense\"}\n";
	struct records_item item;
	int before = inherited();
	struct records *r = records_open(file_of("wait.jsonl", (const char *const[]){ a, one, NULL }), &err);
	is_int(inherited(), before, "other commands do not inherit the file");
	ok(!records_may_wait(r), "a file never waits");
	while (records_next(r, &item, &err) == 1)
		ok(!records_may_wait(r), "a file never waits");
	records_close(r);

	feed((const char *const[]){ a, odd, one, DONE(1, "ok"), "half", NULL });
	r = records_open("-", &err);
	ok(records_may_wait(r), "a pipe may wait before the first line");
	static const struct {
		enum records_kind kind;
		bool waits;
		const char *name;
	} want[] = { { RECORDS_DEVICE, false, "a hello, and further lines" },
		{ RECORDS_FAULT, false, "a fault, and further lines" },
		{ RECORDS_RESULT, false, "a result, and a further line" },
		{ RECORDS_DONE, true, "the end of the job, and half a line" } };
	for (int i = 0; i < 4; i++) {
		is_int(records_next(r, &item, &err), 1, "%s", want[i].name);
		is_int(item.kind, want[i].kind, "the kind");
		is_int(item.line, i + 1, "the line");
		is_int(records_may_wait(r), want[i].waits, "whether it may wait");
		if (item.kind == RECORDS_FAULT)
			has(item.fault, "standard input:2: unknown message type", "the fault has its place");
	}
	is_int(records_next(r, &item, &err), 0, "the end");
	records_close(r);

	feed((const char *const[]){ a, odd, one, NULL });
	r = records_open("-", &err);
	ok(records_next(r, &item, &err) == 1 && records_next(r, &item, &err) == 1, "a hello and a fault");
	ok(item.kind == RECORDS_FAULT && !records_may_wait(r),
		"the line after it was read, so it does not wait");
	ok(records_next(r, &item, &err) == 1 && item.kind == RECORDS_RESULT, "a result");
	ok(records_may_wait(r), "then it may wait");
	records_close(r);
	free(a);
	free(one);
}

int main(void)
{
	scratch_make();
	test_sound();
	test_versions();
	test_torn();
	test_faults();
	test_lies();
	test_compressed();
	test_silence();
	test_stop();
	test_memory();
	test_want();
	test_executions();
	test_may_wait();
	scratch_remove();
	return done_testing();
}
