/* What the tests of the store, the queue and the configuration share: a scratch directory, files, results. */
#ifndef STORE_HELP_H
#define STORE_HELP_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "problem/result.h"
#include "tap.h"

static char scratch[256];

__attribute__((unused)) static void scratch_make(void)
{
	const char *tmp = getenv("TMPDIR");
	snprintf(scratch, sizeof(scratch), "%s/benanza-test.XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
	if (!mkdtemp(scratch)) {
		perror(scratch);
		exit(1);
	}
	chmod(scratch, 0755);
}

__attribute__((unused)) static void scratch_remove(void)
{
	char command[300];
	snprintf(command, sizeof(command), "rm -rf '%s'", scratch);
	if (system(command))
		printf("# %s stays\n", scratch);
}

/* A path in the scratch directory; four may be in use at a time. */
__attribute__((unused)) static const char *scratch_path(const char *name)
{
	static char path[4][512];
	static int at;
	at = (at + 1) % 4;
	snprintf(path[at], sizeof(path[at]), "%s/%s", scratch, name);
	return path[at];
}

__attribute__((unused)) static void file_write(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");
	if (!f || fwrite(bytes, 1, n, f) != n || fclose(f))
		printf("# cannot write %s\n", path);
}

__attribute__((unused)) static void file_text(const char *path, const char *text)
{
	file_write(path, text, strlen(text));
}

/* A file in the scratch directory, its folders included. */
__attribute__((unused)) static void scratch_file(const char *name, const char *text)
{
	char whole[1024];
	snprintf(whole, sizeof(whole), "%s/%s", scratch, name);
	for (char *slash = whole + strlen(scratch) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		mkdir(whole, 0755); /* where it is not there afterwards the file says so */
	}
	file_text(whole, text);
}

/* The whole file, malloc'd. */
__attribute__((unused)) static char *file_read(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	char *bytes = NULL;
	*n = 0;
	if (!f)
		return NULL;
	fseek(f, 0, SEEK_END);
	long size = ftell(f);
	rewind(f);
	bytes = malloc((size_t)size + 1);
	*n = fread(bytes, 1, (size_t)size, f);
	bytes[*n] = '\0';
	fclose(f);
	return bytes;
}

__attribute__((unused)) static void has(const char *text, const char *part, const char *name)
{
	if (!ok(text && strstr(text, part), "%s", name))
		printf("# got  %s\n# lacks %s\n", text ? text : "(null)", part);
}

static const struct device help_device = {
	.name = "cpu",
	.model = "Example CPU",
	.stack = "oneDNN 2.6.3, 2 threads bound, strict",
	.runner = "benanza-runner-cpu",
	.version = "0.1.0",
	.host = "here",
	.attributes = "{\"isa\":\"avx512_core_amx\"}",
	.threads = 2,
	.llc_bytes = 105.0 * 1024 * 1024,
	.has_matrix = true,
};

__attribute__((unused)) static struct result help_result(
	const char *problem, const char *algorithm, double median)
{
	return (struct result){
		.problem = problem,
		.algorithm = { .api = "oneDNN", .name = algorithm, .layouts = "src=nChw16c", .math = "strict",
			.rank = 1, .matrix = MATRIX_YES, .workspace_bytes = 4096 },
		.status = STATUS_OK,
		.cache = CACHE_NET,
		.launch = LAUNCH_AMORTIZED,
		.stats = { .n = 12, .discarded = 1, .executions = 8, .min = median * 0.9, .q1 = median * 0.95,
			.median = median, .q3 = median * 1.05, .mean = median * 1.01, .stdev = median * 0.02,
			.lo = median * 0.99, .hi = median * 1.01, .stop = STOP_CONVERGED },
		.why = "",
		.measured_at = 1700000000,
		.runner_version = "0.1.0",
	};
}

#endif
