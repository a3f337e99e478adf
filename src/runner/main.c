/* The main program of each runner: options, standard output kept free of what libraries print, the device,
 * then one problem or the protocol. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner/protocol/batch.h"
#include "runner/protocol/options.h"
#include "runner/protocol/serve.h"
#include "runner/protocol/table.h"
#include "wire/wire.h"

static void info_print(const struct options *o, const struct device *d, FILE *out)
{
	char llc[STR_QUANTITY];
	if (o->json) {
		char *hello = wire_hello(d);
		fputs(hello, out);
		free(hello);
		return;
	}
	fprintf(out, "name        %s\nmodel       %s\nstack       %s\nthreads     %d\n", d->name, d->model,
		d->stack, d->threads);
	fprintf(out, "last cache  %s\nmatrix      %s\nhost        %s\nversion     %s\nattributes  %s\n",
		str_bytes(llc, d->llc_bytes), d->has_matrix ? "yes" : "no", d->host, d->version,
		d->attributes);
}

/* Libraries may print to file descriptor 1: it becomes stderr, and the real output gets another descriptor
 * before any library is opened. Output of a linked library while it is loaded comes before the hello,
 * where the parent skips it. */
static int stdout_take(void)
{
	fflush(stdout);
	int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (out >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return -1;
	return out;
}

/* Number of cores that the process may use. */
static int cores_count(void)
{
	cpu_set_t set;
	return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* Starts the threads that list and compile ahead. Returns NULL if the device has no use for them or none are
 * wanted, or with a message if they cannot start: everything is then done in its turn. */
static struct ahead *ahead_start(const struct options *o)
{
	struct error err = ERROR_NONE;
	int asked = o->machine.compile_threads, most = (int)o->algorithms;
	struct ahead_options options = { .backends = platform.backends,
		.threads = asked > 0 ? asked : ahead_threads(cores_count()),
		.enter = platform.enter,
		.lists_only = o->machine.plan || o->list,
		.most = most,
		.ahead_ns = AHEAD_NS };
	if (!platform.enter || o->info || asked == 0)
		return NULL;
	struct ahead *a = ahead_open(&options, &err);
	if (!a)
		fprintf(stderr, "%s: no threads to compile on: %s\n", platform.program, err.text);
	return a;
}

static int for_a_person(const struct options *o, const struct device *d, struct ahead *ahead, int out)
{
	FILE *f = fdopen(out, "w");
	int status = EXIT_DONE;
	if (f && o->info)
		info_print(o, d, f);
	if (f && o->problem)
		status = table_problem(o, d, ahead, f);
	if (f && fclose(f) == 0)
		return status;
	fprintf(stderr, "%s: cannot write: %s\n", platform.program, strerror(errno));
	return EXIT_DEVICE;
}

static int for_a_program(const struct options *o, const struct device *d, struct ahead *ahead, int out)
{
	struct error err = ERROR_NONE;
	struct batch batch;
	struct serving s = { .device = d,
		.batch = &batch,
		.budget_ms = o->budget_ms,
		.check = o->check,
		.ahead = ahead,
		.all = o->all,
		.most = (int)o->algorithms,
		.planning = o->machine.plan != NULL,
		.idle_ms = o->machine.plan ? 0 : o->idle_s * 1000, /* a plan holds no device */
		.caches = o->has_caches ? o->caches : NULL,
		.launches = o->has_launches ? o->launches : NULL };
	int bad = batch_open(&batch, out, d, &err);
	/* without a parent nobody else ends a job that hangs */
	double usual_s = batch.is_file ? platform.step_limit_s : 0;
	double limit_s = o->step_limit_s >= 0 ? (double)o->step_limit_s : usual_s;
	s.step_limit_ms = (int64_t)(limit_s * 1000);
	bad = bad || serve(&s, STDIN_FILENO, out, &err);
	if (bad)
		fprintf(stderr, "%s: %s\n", platform.program, err.text);
	if (batch.skipped)
		fprintf(stderr, "%s: %lld jobs have results in the output already and are skipped\n",
			platform.program, (long long)batch.skipped);
	batch_close(&batch);
	return bad ? EXIT_DEVICE : s.wrong ? EXIT_GAPS : EXIT_DONE;
}

static int run(const struct options *o, int out)
{
	struct arena arena = { 0 };
	struct device device;
	struct error err = ERROR_NONE;
	int status = EXIT_DEVICE;
	if (platform.open(&o->machine, &arena, &device, &err)) {
		fprintf(stderr, "%s: %s\n", platform.program, err.text);
	} else {
		struct ahead *ahead = ahead_start(o);
		status = o->problem || o->info ? for_a_person(o, &device, ahead, out)
					       : for_a_program(o, &device, ahead, out);
		ahead_close(ahead);
	}
	if (platform.close)
		platform.close();
	arena_free(&arena);
	return status;
}

/* Opens the output. Returns its descriptor, or -1 after a message on stderr. */
static int output_open(const struct options *o)
{
	int out = stdout_take();
	if (out < 0) {
		fprintf(stderr, "%s: no standard output: %s\n", platform.program, strerror(errno));
		return -1;
	}
	if (!o->output)
		return out;
	close(out);
	out = open(o->output, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (out < 0)
		fprintf(stderr, "%s: %s: %s\n", platform.program, o->output, strerror(errno));
	return out;
}

int main(int argc, char **argv)
{
	struct options options;
	int status = options_read(&options, argc, argv);
	if (status >= 0)
		return status;
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_IGN); /* a limit of file sizes is an error of write */
	if (platform.prepare)
		platform.prepare(&options.machine, argv);
	int out = output_open(&options);
	return out < 0 ? EXIT_DEVICE : run(&options, out);
}
