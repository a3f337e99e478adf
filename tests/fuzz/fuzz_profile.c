/* Bytes are a profile: recognized and read alone, and as the file that completes a profile of TensorRT or of
 * ONNX Runtime; and a file of benchmarks. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "profile/bench/benchmarks.h"
#include "profile/profile.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Limits of reading, far above what it takes with sanitizers: beyond them something is quadratic. */
#define CPU_S 1.0
#define CPU_S_PER_BYTE 10e-6

static void check_text(const char *text)
{
	struct arena a = { 0 };
	FUZZ_CHECK(text);
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		struct text t = { line, strcspn(line, "\n") };
		FUZZ_CHECK(text_is_clean(t));
	}
	arena_free(&a);
}

static void check_execution(const struct execution *e)
{
	const char *texts[] = { e->source, e->framework, e->version, e->provider, e->device, e->dtype,
		e->math, e->settings, e->model, e->gaps };
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		check_text(texts[i]);
	for (int i = 0; i < e->row_count; i++) {
		const struct execution_row *r = &e->rows[i];
		const char *row[] = { r->name, r->op, r->provider, r->kernel, r->nodes, r->inputs, r->outputs,
			r->shapes, r->dtype };
		for (size_t j = 0; j < sizeof(row) / sizeof(row[0]); j++)
			check_text(row[j]);
		FUZZ_CHECK(r->level >= 0 && r->level < LEVEL_COUNT);
		FUZZ_CHECK(r->parent >= -1 && r->parent < i);
		FUZZ_CHECK(isnan(r->ns) || (r->ns >= 0 && isfinite(r->ns)));
		FUZZ_CHECK(isnan(r->calls) || r->calls > 0);
	}
}

static void check_read(const char *first, const char *second)
{
	const char *paths[] = { first, second };
	struct arena a = { 0 };
	struct error err = ERROR_NONE;
	struct execution *all;
	int n = profile_read(&a, paths, second ? 2 : 1, NULL, &all, &err);
	if (n < 0)
		fuzz_check_line(err.text);
	for (int i = 0; i < n; i++)
		check_execution(&all[i]);
	arena_free(&a);
}

static void check_benchmarks(const char *path)
{
	struct benchmarks b;
	struct error err = ERROR_NONE;
	if (benchmarks_read(path, NULL, &b, &err))
		fuzz_check_line(err.text);
	for (int i = 0; i < b.device_count; i++) {
		check_text(b.devices[i].model);
		check_text(b.devices[i].stack);
	}
	for (int i = 0; i < b.reason_count; i++)
		check_text(b.reasons[i].example);
	for (int64_t i = 0; i < b.result_count; i++) {
		const struct result *r = &b.results[i].result;
		struct problem p;
		FUZZ_CHECK(b.results[i].device >= 0 && b.results[i].device < b.device_count);
		FUZZ_CHECK(problem_parse(text_of(r->problem), &p, NULL) == 0);
		FUZZ_CHECK(r->status != STATUS_OK || r->stats.median > 0);
		check_text(r->why);
	}
	benchmarks_free(&b);
}

/* A profile with nodes a and b, made once. */
static const char *fixed(char *path, const char *text)
{
	if (*path)
		return path;
	strcpy(path, "/tmp/fuzz-profile-XXXXXX");
	int fd = mkstemp(path);
	FUZZ_CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	unlink(path);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static char trtexec[64], onnxruntime[64];
	clock_t begin = clock(); /* CPU time: other work does not count */
	const char *path = fuzz_file(bytes, n);
	check_benchmarks(path);
	check_read(path, NULL);
	check_read(path, fixed(trtexec, "[{\"count\": 1}, {\"name\": \"a + b\", \"timeMs\": 1}]"));
	check_read(path,
		fixed(onnxruntime,
			"[{\"cat\":\"Node\",\"ts\":1,\"dur\":1,\"name\":\"a_kernel_time\",\"args\":{\"op_"
			"name\":\"Conv\"}}]"));
	FUZZ_CHECK((double)(clock() - begin) / CLOCKS_PER_SEC < CPU_S + CPU_S_PER_BYTE * (double)n);
	return 0;
}
