/* A runner that measures nothing: it speaks the wire and behaves as the problem's kind and $FAKE_HELLO say,
 * so that the queue can be tested against every way in which a real one may fail. Not a test itself; t_queue
 * starts it. */
#include "config.h"

#include "wire/wire.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(const struct wire_message *m)
{
	char *line = wire_format(m);
	fputs(line, stdout);
	fflush(stdout);
	free(line);
}

static void say_hello(const char *how)
{
	struct device d = { .name = "fake",
		.model = "Fake CPU",
		.stack = "fake 1.0, strict",
		.runner = "fake-runner",
		.version = "9.9",
		.host = "nowhere",
		.attributes = "{\"uuid\":\"GPU-5f00aa11-22cc\"}",
		.llc_bytes = NAN };
	const char *threads = getenv("OMP_NUM_THREADS");
	char model[64];
	d.threads = threads ? atoi(threads) : 0;
	if (strcmp(how, "changing") == 0) {
		snprintf(model, sizeof(model), "Fake CPU of process %d", (int)getpid());
		d.model = model;
	}
	if (strcmp(how, "banner") == 0)
		printf("Welcome to this host.\n\n{\"not\": \"it\"}\n{\"magic\": 3}\n");
	if (strcmp(how, "old") == 0) {
		printf("{\"magic\":\"" WIRE_MAGIC "\",\"protocol\":0}\n");
		fflush(stdout);
		return;
	}
	char *line = wire_hello(&d);
	fputs(line, stdout);
	fflush(stdout);
	free(line);
}

static void say_result(
	const struct wire_message *asked, int64_t id, const char *problem, double median, int rank)
{
	struct wire_message m = { .type = WIRE_RESULT, .id = id, .problem = "", .what = "" };
	m.result = (struct result){
		.problem = problem,
		.algorithm = { .api = "fake",
			.name = rank ? "slow" : "fast",
			.layouts = "",
			.math = "strict",
			.rank = rank,
			.workspace_bytes = 0 },
		.stats = { .n = 10,
			.executions = 1,
			.min = median,
			.q1 = median,
			.median = median,
			.q3 = median,
			.mean = median,
			.stdev = 0,
			.lo = median,
			.hi = median,
			.stop = STOP_CONVERGED },
		.why = "",
		.runner_version = "",
		.measured_at = 4000000000,
	};
	m.result.cache = asked->caches[CACHE_NET] ? CACHE_NET : CACHE_WARM;
	say(&m);
}

static void say_done(int64_t id, enum status status, const char *why)
{
	struct wire_message m = { .type = WIRE_DONE, .id = id, .status = status, .problem = "", .what = why };
	say(&m);
}

static void say_alive(int64_t id, const char *what)
{
	struct wire_message m = { .type = WIRE_HEARTBEAT, .id = id, .problem = "", .what = what };
	say(&m);
}

static void complain(const char *text)
{
	ssize_t n = write(2, text, strlen(text));
	(void)n;
}

static void do_ok(const struct wire_message *m)
{
	say_alive(m->id, "fast");
	say_result(m, m->id, m->problem, 1000, 0);
	say_result(m, m->id, m->problem, 2000, 1);
	say_done(m->id, STATUS_OK, "");
}

/* As a GPU that a kernel has broken: the job failed, and the process can do no other. */
static void do_leave(const struct wire_message *m)
{
	say(&(struct wire_message){ .type = WIRE_DONE, .id = m->id, .status = STATUS_FAILED, .problem = m->problem,
		.what = "illegal address", .leaves = true });
	pause();
}

static void do_crash(const struct wire_message *m)
{
	say_result(m, m->id, m->problem, 1500, 0);
	complain("first word\nsecond word\nterrible thing in the\x1b[31m library\n");
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
}

static void do_exit(const struct wire_message *m)
{
	printf("{\"type\":\"result\",\"id\":%lld,\"resu", (long long)m->id);
	fflush(stdout);
	_exit(3);
}

static void do_hang(const struct wire_message *m)
{
	(void)m;
	for (;;)
		pause();
}

static void do_stop(const struct wire_message *m)
{
	(void)m;
	raise(SIGSTOP);
}

static void do_garbage(const struct wire_message *m)
{
	(void)m;
	printf("\x1b[2Jonednn_verbose,info,cpu,runtime\n");
	fflush(stdout);
}

static void do_wrong_way(const struct wire_message *m)
{
	say(m);
}

static void do_stranger(const struct wire_message *m)
{
	say_result(m, m->id + 1000, m->problem, 1, 0);
	say_result(m, m->id, "eltwise:f32,f32:relu:7", 1, 0);
	say_done(m->id + 1000, STATUS_OK, "");
	say_result(m, m->id, m->problem, 3000, 0);
	say_done(m->id, STATUS_OK, "");
	say_done(m->id, STATUS_FAILED, "twice");
}

/* A heartbeat each time that nothing was read; ends when told, or not even then. */
static void do_long(const struct wire_message *m, bool obeys)
{
	say_result(m, m->id, m->problem, 1700, 0);
	for (;;) {
		fd_set set;
		FD_ZERO(&set);
		FD_SET(0, &set);
		struct timeval t = { 0, 20000 };
		say_alive(m->id, "slowly");
		char line[4096];
		if (select(1, &set, NULL, NULL, &t) > 0) {
			if (!fgets(line, sizeof(line), stdin))
				_exit(0);
			if (obeys && strstr(line, "\"cancel\"")) {
				say_done(m->id, STATUS_FAILED, "cancelled");
				return;
			}
		}
	}
}

static void do_obedient(const struct wire_message *m)
{
	do_long(m, true);
}

static void do_stubborn(const struct wire_message *m)
{
	do_long(m, false);
}

static void do_unsupported(const struct wire_message *m)
{
	say_done(m->id, STATUS_UNSUPPORTED, "no implementation");
}

static void do_nothing(const struct wire_message *m)
{
	say_done(m->id, STATUS_OK, "");
}

static void do_zero(const struct wire_message *m)
{
	say_result(m, m->id, m->problem, 0, 0);
	say_done(m->id, STATUS_OK, "");
}

static void do_flood(const struct wire_message *m)
{
	(void)m;
	for (int i = 0; i < 1000000; i++)
		printf("{\"type\":\"log\",\"what\":\"%d\"}\n", i);
	say_result(m, m->id, m->problem, 1000, 0);
	say_done(m->id, STATUS_OK, "");
}

static void do_endless(const struct wire_message *m)
{
	(void)m;
	for (;;)
		if (fputs("and on and on", stdout) < 0)
			_exit(1);
}

static void do_noise(const struct wire_message *m)
{
	for (int i = 0; i < 20000; i++)
		complain("a line on standard error that nobody wants to read, one of very many\n");
	do_ok(m);
}

/* Two algorithms, when only those are asked for. */
static void do_list(const struct wire_message *m)
{
	for (int rank = 0; rank < 2; rank++)
		say(&(struct wire_message){ .type = WIRE_ALGORITHM, .id = m->id, .problem = "", .what = "",
			.algorithm = { .api = "fake", .name = rank ? "slow" : "fast", .layouts = "", .math = "strict",
				.rank = rank, .matrix = MATRIX_YES, .workspace_bytes = NAN } });
	say_done(m->id, STATUS_OK, "");
	say_alive(0, "");
}

static const struct {
	const char *mode;
	void (*act)(const struct wire_message *m);
} acts[] = {
	{ ":relu:", do_ok },
	{ ":tanh:", do_crash },
	{ ":swish,", do_leave },
	{ ":sigmoid:", do_hang },
	{ ":exp:", do_stop },
	{ ":logarithm:", do_garbage },
	{ ":sqrt:", do_exit },
	{ ":abs:", do_stranger },
	{ ":square:", do_obedient },
	{ ":hard_swish:", do_stubborn },
	{ ":round:", do_unsupported },
	{ ":softplus:", do_nothing },
	{ ":gelu_erf:", do_zero },
	{ ":mish:", do_flood },
	{ ":gelu_tanh:", do_endless },
	{ ":max:", do_noise },
	{ ":soft:", do_wrong_way },
};

int main(int argc, char **argv)
{
	static char line[WIRE_LINE_MAX];
	if (argc == 3 && strcmp(argv[1], "--device") == 0 && strchr(argv[2], ':')) {
		complain("a device of mine has no runner's name before it\n");
		return 2;
	}
	const char *how = getenv("FAKE_HELLO");
	how = how ? how : "";
	if (strcmp(how, "never") == 0)
		do_hang(NULL);
	if (strcmp(how, "exit") == 0) {
		complain("libdnnl.so.2: cannot open shared object file\n");
		return 5;
	}
	if (strcmp(how, "flood") == 0)
		for (;;)
			if (puts("all work and no play") < 0)
				return 1;
	if (strcmp(how, "deaf") == 0)
		signal(SIGTERM, SIG_IGN);
	say_hello(how);
	while (strcmp(how, "deaf") == 0)
		pause();
	while (fgets(line, sizeof(line), stdin)) {
		struct wire_message m;
		struct error err = ERROR_NONE;
		if (wire_parse(line, strlen(line), &m, &err)) {
			complain(err.text);
			return 4;
		}
		if (m.type == WIRE_QUIT)
			return 0;
		bool lists = m.type == WIRE_ALGORITHMS && strstr(m.problem, ":relu:");
		if (lists)
			do_list(&m);
		for (size_t i = 0; !lists && (m.type == WIRE_RUN || m.type == WIRE_ALGORITHMS) && i < sizeof(acts) / sizeof(acts[0]); i++)
			if (strstr(m.problem, acts[i].mode))
				acts[i].act(&m);
		wire_free(&m);
	}
	return 0;
}
