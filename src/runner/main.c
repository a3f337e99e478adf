#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner/job.h"
#include "runner/platform.h"
#include "runner/serve.h"
#include "wire/wire.h"

#define CHECK_F32 1e-5 /* worst acceptable error relative to the sum of absolute terms */
#define CHECK_SHORT 2e-2

enum exits { EXIT_DONE = 0, EXIT_GAPS = 1, EXIT_USAGE = 2, EXIT_DEVICE = 3 };

struct options {
	const char *problem;
	int64_t budget_ms;
	int threads;
	bool list, json, info, check;
	bool caches[CACHE_COUNT], launches[LAUNCH_COUNT];
};

static const char usage[] =
	"usage: benanza-runner-cpu [--threads N]\n"
	"       benanza-runner-cpu [--threads N] --problem TEXT [--budget-ms N] [--list] [--json]\n"
	"       benanza-runner-cpu [--threads N] --info\n"
	"\n"
	"Without --problem it takes jobs from standard input and answers on standard output,\n"
	"one JSON object a line.\n"
	"\n"
	"  -p, --problem TEXT   measure one problem and print a table\n"
	"  -l, --list           only list its algorithms\n"
	"  -b, --budget-ms N    time for each algorithm (200)\n"
	"      --cache LIST     net, warm (both)\n"
	"      --launch LIST    amortized, isolated (both)\n"
	"  -j, --json           one JSON object a line instead of a table\n"
	"  -i, --info           describe the device\n"
	"  -n, --threads N      threads (OMP_NUM_THREADS, else one a core)\n"
	"      --version, --help\n";

enum long_only { OPTION_CACHE = 256, OPTION_LAUNCH, OPTION_CHECK, OPTION_VERSION };

static const struct option long_options[] = {
	{ "problem", required_argument, NULL, 'p' },
	{ "budget-ms", required_argument, NULL, 'b' },
	{ "list", no_argument, NULL, 'l' },
	{ "json", no_argument, NULL, 'j' },
	{ "info", no_argument, NULL, 'i' },
	{ "threads", required_argument, NULL, 'n' },
	{ "cache", required_argument, NULL, OPTION_CACHE },
	{ "launch", required_argument, NULL, OPTION_LAUNCH },
	{ "check", no_argument, NULL, OPTION_CHECK },
	{ "version", no_argument, NULL, OPTION_VERSION },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static int complain(const char *fmt, const char *what)
{
	fputs("benanza-runner-cpu: ", stderr);
	fprintf(stderr, fmt, what);
	fputs("\nTry 'benanza-runner-cpu --help'.\n", stderr);
	return EXIT_USAGE;
}

static bool number_read(const char *text, int64_t from, int64_t to, int64_t *n)
{
	return text_to_int64(text_of(text), n) && *n >= from && *n <= to;
}

/* "net,warm" into flags. */
static bool words_read(const char *text, int (*parse)(const char *), bool *set, int count)
{
	char word[32];
	memset(set, 0, (size_t)count * sizeof(*set));
	for (const char *at = text;; at++) {
		size_t n = strcspn(at, ",");
		snprintf(word, sizeof(word), "%.*s", n < sizeof(word) ? (int)n : 0, at);
		int value = parse(word);
		if (value < 0 || value >= count)
			return false;
		set[value] = true;
		at += n;
		if (!*at)
			return true;
	}
}

/* -1: go on; else the exit status. */
static int option_take(struct options *o, int option)
{
	int64_t n;
	switch (option) {
	case 'p': o->problem = optarg; return -1;
	case 'l': o->list = true; return -1;
	case 'j': o->json = true; return -1;
	case 'i': o->info = true; return -1;
	case OPTION_CHECK: o->check = true; return -1;
	case 'b':
		if (!number_read(optarg, 1, WIRE_BUDGET_MS_MAX, &o->budget_ms))
			return complain("--budget-ms wants milliseconds, not '%s'", optarg);
		return -1;
	case 'n':
		if (!number_read(optarg, 1, 4096, &n))
			return complain("--threads wants 1 to 4096, not '%s'", optarg);
		o->threads = (int)n;
		return -1;
	case OPTION_CACHE:
		return words_read(optarg, cache_parse, o->caches, CACHE_COLD) ? -1 : /* nothing here makes caches cold */
			complain("--cache wants net, warm or both, not '%s'", optarg);
	case OPTION_LAUNCH:
		return words_read(optarg, launch_parse, o->launches, LAUNCH_COUNT) ? -1 :
			complain("--launch does not know '%s'", optarg);
	case OPTION_VERSION: puts("benanza-runner-cpu " PACKAGE_VERSION); return EXIT_DONE;
	case 'h': fputs(usage, stdout); return EXIT_DONE;
	default: fputs("Try 'benanza-runner-cpu --help'.\n", stderr); return EXIT_USAGE;
	}
}

static int options_read(struct options *o, int argc, char **argv)
{
	*o = (struct options){ .budget_ms = WIRE_BUDGET_MS };
	o->caches[CACHE_NET] = o->caches[CACHE_WARM] = true;
	o->launches[LAUNCH_AMORTIZED] = o->launches[LAUNCH_ISOLATED] = true;
	for (int option; (option = getopt_long(argc, argv, "p:b:ljin:h", long_options, NULL)) != -1;) {
		int status = option_take(o, option);
		if (status >= 0)
			return status;
	}
	if (optind < argc)
		return complain("'%s' is one argument too many", argv[optind]);
	if (!o->problem && (o->list || o->check))
		return complain("--%s needs --problem", o->list ? "list" : "check");
	return -1;
}

/* --- one problem, for a person --- */

struct table {
	FILE *out;
	const struct options *options;
	int rows;
	double rotated_bytes; /* the least of any result in state net, INFINITY none */
	bool bad; /* a check failed */
};

static bool never(void *user)
{
	(void)user;
	return false;
}

static void ignore_trying(void *user, const struct algorithm *a, enum cache c, enum launch l)
{
	(void)user;
	(void)a;
	(void)c;
	(void)l;
}

static void json_print(FILE *out, json_t *o)
{
	json_dumpf(o, out, JSON_COMPACT | JSON_REAL_PRECISION(12));
	fputc('\n', out);
	json_decref(o);
}

static void row_print(struct table *t, const struct result *r)
{
	char median[STR_QUANTITY], lo[STR_QUANTITY], hi[STR_QUANTITY], scratch[STR_QUANTITY];
	const struct algorithm *g = &r->algorithm;
	if (t->rows++ == 0)
		fprintf(t->out, "%4s  %-22s %-5s %-9s %9s  %-19s %5s %-9s  %-7s %9s  %s\n", "rank", "algorithm", "cache",
			"launch", "median", "95% or (range)", "n", "stop", "matrix", "workspace", "layouts");
	fprintf(t->out, "%4d  %-22s %-5s %-9s ", g->rank, *g->name ? g->name : "-", cache_name(r->cache),
		launch_name(r->launch));
	if (r->status != STATUS_OK) {
		fprintf(t->out, "%s: %s\n", status_name(r->status), r->why);
		return;
	}
	if (r->rotated_bytes > 0)
		t->rotated_bytes = fmin(t->rotated_bytes, r->rotated_bytes);
	char interval[2 * STR_QUANTITY + 8];
	int64_t unused;
	bool is_range = !stats_interval_ranks(r->stats.n, &unused, &unused);
	snprintf(interval, sizeof(interval), is_range ? "(%s .. %s)" : "%s .. %s", str_duration(lo, r->stats.lo),
		str_duration(hi, r->stats.hi));
	fprintf(t->out, "%9s  %-19s %5lld %-9s  %-7s %9s  %s\n", str_duration(median, r->stats.median),
		isnan(r->stats.lo) ? "-" : interval, (long long)r->stats.n, stop_name(r->stats.stop),
		matrix_name(g->matrix), str_bytes(scratch, g->workspace_bytes), g->layouts);
}

static void table_emit(void *user, const struct result *r, const struct samples *samples)
{
	struct table *t = user;
	(void)samples;
	if (t->options->json)
		json_print(t->out, wire_result_to_json(r));
	else if (r->status != STATUS_UNSUPPORTED)
		row_print(t, r);
	fflush(t->out);
}

static void table_list(void *user, const struct algorithm *a)
{
	struct table *t = user;
	char scratch[STR_QUANTITY];
	if (t->options->json) {
		char *line = wire_format(&(struct wire_message){ .type = WIRE_ALGORITHM, .algorithm = *a });
		fputs(line, t->out);
		free(line);
		return;
	}
	if (t->rows++ == 0)
		fprintf(t->out, "%4s  %-22s %-7s %9s  %s\n", "rank", "algorithm", "matrix", "workspace", "layouts");
	fprintf(t->out, "%4d  %-22s %-7s %9s  %s\n", a->rank, a->name, matrix_name(a->matrix),
		str_bytes(scratch, a->workspace_bytes), a->layouts);
}

static void table_check(void *user, const struct algorithm *a, double worst, const char *why)
{
	struct table *t = user;
	bool f32 = !strstr(t->options->problem, "bf16") && !strstr(t->options->problem, "f16");
	bool good = worst <= (f32 ? CHECK_F32 : CHECK_SHORT);
	t->bad = t->bad || !good;
	if (*why)
		fprintf(t->out, "not checked  %s %s: %s\n", a->name, a->layouts, why);
	else
		fprintf(t->out, "%s  %s %s: worst error %.3g\n", good ? "good" : "WRONG", a->name, a->layouts, worst);
}

static void heading_print(const struct options *o, const struct device *d, FILE *out)
{
	struct problem p;
	char flops[STR_QUANTITY], bytes[STR_QUANTITY];
	if (problem_parse(text_of(o->problem), &p, NULL))
		return;
	fprintf(out, "problem  %s\n", o->problem);
	fprintf(out, "work     %sFLOP, %s at least\n", str_count(flops, problem_flops(&p)),
		str_bytes(bytes, problem_bytes(&p)));
	fprintf(out, "device   %s; %s\n\n", d->model, d->stack);
}

static int problem_measure(const struct options *o, const struct device *d, FILE *out)
{
	struct error err = ERROR_NONE;
	struct table t = { .out = out, .options = o, .rotated_bytes = INFINITY };
	struct job j = { .problem = o->problem, .budget_ns = (double)o->budget_ms * 1e6, .device = d, .user = &t,
		.cancelled = never, .trying = ignore_trying, .emit = table_emit, .list = table_list };
	bool stopped;
	struct problem p;
	memcpy(j.caches, o->caches, sizeof(j.caches));
	memcpy(j.launches, o->launches, sizeof(j.launches));
	if (problem_parse(text_of(o->problem), &p, &err)) {
		fprintf(stderr, "benanza-runner-cpu: %s\n", err.text);
		return EXIT_USAGE;
	}
	if (!o->json && !o->check)
		heading_print(o, d, out);
	enum status status = o->list ? job_list(&j, &err) : o->check ? job_check(&j, table_check, &err) :
		job_run(&j, &stopped, &err);
	char passed[STR_QUANTITY];
	if (t.rotated_bytes < measure_enough_bytes(d->llc_bytes))
		fprintf(out, "\nnet: only %s of constant operands pass before the first come back, less than twice the\n"
			"last-level cache: some may have come from there\n", str_bytes(passed, t.rotated_bytes));
	if (status != STATUS_OK)
		fprintf(stderr, "benanza-runner-cpu: %s: %s\n", status_name(status), err.text);
	return status == STATUS_OK && !t.bad ? EXIT_DONE : EXIT_GAPS;
}

static void info_print(const struct options *o, const struct device *d, FILE *out)
{
	char llc[STR_QUANTITY];
	if (o->json) {
		char *hello = wire_hello(d);
		fputs(hello, out);
		free(hello);
		return;
	}
	fprintf(out, "name        %s\nmodel       %s\nstack       %s\nthreads     %d\n", d->name, d->model, d->stack,
		d->threads);
	fprintf(out, "last cache  %s\nmatrix      %s\nhost        %s\nversion     %s\nattributes  %s\n",
		str_bytes(llc, d->llc_bytes), d->has_matrix ? "yes (AMX)" : "no", d->host, d->version, d->attributes);
}

/* Libraries print to file descriptor 1 when they feel like it: theirs becomes stderr, ours is kept aside. */
static int stdout_take(void)
{
	fflush(stdout);
	int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (out >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return -1;
	return out;
}

static int run(const struct options *o, int out)
{
	struct arena arena = { 0 };
	struct device device;
	struct error err = ERROR_NONE;
	struct platform_options machine = { .threads = o->threads };
	int status = EXIT_DEVICE;
	if (platform.open(&machine, &arena, &device, &err)) {
		fprintf(stderr, "benanza-runner-cpu: %s\n", err.text);
	} else if (o->problem || o->info) {
		FILE *f = fdopen(out, "w");
		status = EXIT_DONE;
		if (f && o->info)
			info_print(o, &device, f);
		if (f && o->problem)
			status = problem_measure(o, &device, f);
		if (!f || fclose(f)) {
			fprintf(stderr, "benanza-runner-cpu: cannot write: %s\n", strerror(errno));
			status = EXIT_DEVICE;
		}
	} else {
		status = serve(STDIN_FILENO, out, &device, &err) ? EXIT_DEVICE : EXIT_DONE;
		if (status)
			fprintf(stderr, "benanza-runner-cpu: %s\n", err.text);
	}
	platform.close();
	arena_free(&arena);
	return status;
}

int main(int argc, char **argv)
{
	struct options options;
	int status = options_read(&options, argc, argv);
	if (status >= 0)
		return status;
	signal(SIGPIPE, SIG_DFL);
	if (platform.prepare)
		platform.prepare(&(struct platform_options){ .threads = options.threads }, argv);
	int out = stdout_take();
	if (out < 0) {
		fprintf(stderr, "benanza-runner-cpu: no standard output: %s\n", strerror(errno));
		return EXIT_DEVICE;
	}
	return run(&options, out);
}
