/* A runner that measures nothing: it speaks the wire and behaves as the problem's kind and $FAKE_HELLO say,
 * so that the queue can be tested against every way in which a real one may fail. Not a test itself; t_queue,
 * t_workers and the tests of ssh and Slurm start it. Variables of the environment decide what it does:
 *
 * FAKE_HELLO   how it begins: banner, old, newer, unended, broken, nul, password, never, exit, flood, blank,
 *              deaf, changing, twice, waits
 * FAKE_THREADS its threads, in the stack too; else those of OMP_NUM_THREADS
 * FAKE_MODEL   the device's model
 * FAKE_UUID    the device's UUID, also ""; else one that all have
 * FAKE_ALL     every problem is answered well; the value is how many milliseconds that takes
 * FAKE_LOG     a file to which each job's begin adds a line: "NAME PROBLEM", NAME being $FAKE_NAME or Slurm's
 *              node
 * FAKE_END     how one of those that share FAKE_MARK ends (none, kill, 255, left, silent), as the first to
 *              get to its job number FAKE_AT (from 1). Or idle: after that job, each time
 * FAKE_MARK    the file that marks that it has happened
 * FAKE_NEXT    the log also tells which problems the job names as the next
 * FAKE_HOLD    a file: while it exists, jobs from number FAKE_AT on are begun, but not answered
 * FAKE_JOBS    the kinds of jobs in its hello, "problem model"; "none": a hello without the list, as before
 *              0.2
 * FAKE_DISTANCES it measures reuse distances: a result for each state that a job asks for
 * FAKE_GATE    waits: a file without which there is no hello */
#include "config.h"

#include "wire/wire.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
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
		.distances = getenv("FAKE_DISTANCES") != NULL,
		.huge_pages = getenv("FAKE_DISTANCES") != NULL,
		.llc_bytes = getenv("FAKE_DISTANCES") ? 32 << 20 : NAN };
	char attributes[128];
	if (getenv("FAKE_UUID")) {
		snprintf(attributes, sizeof(attributes), "{\"uuid\":\"%s\"}", getenv("FAKE_UUID"));
		d.attributes = attributes;
	}
	const char *threads = getenv("OMP_NUM_THREADS"), *named = getenv("FAKE_MODEL");
	char model[64], stack[64];
	if (getenv("FAKE_THREADS")) { /* its own, whatever it is told */
		threads = getenv("FAKE_THREADS");
		snprintf(stack, sizeof(stack), "fake 1.0, %s threads, strict", threads);
		d.stack = stack;
	}
	d.model = getenv("SLURM_LABELIO") ? "labelled lines" : named ? named : d.model;
	d.threads = threads ? atoi(threads) : 0;
	if (strcmp(how, "changing") == 0) {
		snprintf(model, sizeof(model), "Fake CPU of process %d", (int)getpid());
		d.model = model;
	}
	if (strcmp(how, "unended") == 0)
		printf("Welcome.\n\033]0;fake@host\007{\"magic\": 3}$ ");
	if (strcmp(how, "broken") == 0) {
		printf("{\"magic\":\"" WIRE_MAGIC "\",\"protocol\":1,\"threads\":99999999999999999999}\n");
		fflush(stdout);
		return;
	}
	if (strcmp(how, "nul") == 0) {
		printf("{\"protocol\": 1, \"jobs\": [\"\\u0000\"], \"magic\": \"" WIRE_MAGIC "\"}\n");
		fflush(stdout);
		pause();
	}
	if (strcmp(how, "banner") == 0)
		printf("Welcome to this host.\n\n{\"not\": \"it\"}\n{\"magic\": 3}\n");
	if (strcmp(how, "old") == 0 || strcmp(how, "newer") == 0) {
		printf("{\"magic\":\"" WIRE_MAGIC "\",\"protocol\":%d}\n",
			how[0] == 'o' ? 0 : WIRE_VERSION + 1);
		fflush(stdout);
		return;
	}
	const char *jobs = getenv("FAKE_JOBS");
	bool old = jobs && strcmp(jobs, "none") == 0;
	d.jobs = old ? NULL : jobs;
	char *line = wire_hello(&d), *list = old ? strstr(line, "\"jobs\":[\"problem\"],") : NULL;
	if (list)
		memmove(list, list + 19, strlen(list + 19) + 1);
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
	bool all = getenv("FAKE_DISTANCES") != NULL;
	for (enum cache c = 0; all && c < CACHE_COUNT; c++)
		if (asked->caches[c]) {
			m.result.cache = c;
			say(&m);
		}
	m.result.cache = asked->caches[CACHE_NET] ? CACHE_NET : CACHE_WARM;
	if (!all)
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
	say(&(struct wire_message){ .type = WIRE_DONE,
		.id = m->id,
		.status = STATUS_FAILED,
		.problem = m->problem,
		.what = "illegal address",
		.leaves = true });
	pause();
}

/* As a GPU that is lost for another reason. */
static void do_leave_retry(const struct wire_message *m)
{
	say(&(struct wire_message){ .type = WIRE_DONE,
		.id = m->id,
		.status = STATUS_FAILED,
		.problem = m->problem,
		.what = "fell off the bus",
		.leaves = true,
		.retry = true });
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
	char what[200];
	snprintf(what, sizeof(what), "slowly%*s", 100 + (int)strlen("\xe2\x82\xac"), "\xe2\x82\xac");
	for (int i = 0; i < 20; i++) /* bytes 159 and 160 are of one character */
		strcat(what, "\xe2\x82\xac");
	say_result(m, m->id, m->problem, 1700, 0);
	for (;;) {
		fd_set set;
		FD_ZERO(&set);
		FD_SET(0, &set);
		struct timeval t = { 0, 20000 };
		say_alive(m->id, obeys ? "slowly" : what);
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

static void set_times(struct sample_stats *s, double ns)
{
	s->min = s->q1 = s->median = s->q3 = s->mean = s->lo = s->hi = ns;
}

/* What is true of no samples, in as many ways as the problem's first dimension says. */
static void do_unsound(const struct wire_message *m)
{
	struct wire_message one = { .type = WIRE_RESULT,
		.id = m->id,
		.problem = "",
		.what = "",
		.result = { .problem = m->problem,
			.algorithm = { .api = "fake", .name = "fast", .layouts = "", .math = "strict" },
			.stats = { .n = 10, .executions = 1 },
			.why = "",
			.runner_version = "" } };
	struct sample_stats *s = &one.result.stats;
	set_times(s, 8);
	switch (atoi(strrchr(m->problem, ':') + 1)) {
	case 1:
		s->q1 = 9;
		s->q3 = 7;
		break;
	case 2:
		set_times(s, 1e300);
		break;
	case 3:
		set_times(s, 1e-300);
		break;
	case 4:
		s->hi = 1e300;
		break;
	case 5:
		s->n = INT64_MAX;
		break;
	case 6:
		one.result.clock_mhz = 1e300;
		break;
	default:
		one.result.algorithm.workspace_bytes = 1e300;
	}
	say(&one);
	say_done(m->id, STATUS_OK, "");
}

/* The same key again and again, with its time and with another, then its failure; and more keys than any
 * library has algorithms. */
static void do_repeat(const struct wire_message *m)
{
	for (int i = 0; i < 300; i++)
		say_result(m, m->id, m->problem, i < 200 ? 1000 : 1000 + i, 0);
	struct wire_message one = { .type = WIRE_RESULT,
		.id = m->id,
		.problem = "",
		.what = "",
		.result = { .problem = m->problem,
			.algorithm = { .api = "fake", .layouts = "", .math = "strict" },
			.status = STATUS_NO_MEMORY,
			.why = "none left",
			.runner_version = "" } };
	for (int i = 0; i < 5000; i++) {
		char name[16];
		snprintf(name, sizeof(name), "number %d", i);
		one.result.algorithm.name = i ? name : "fast";
		one.result.cache = m->caches[CACHE_NET] ? CACHE_NET : CACHE_WARM;
		say(&one);
	}
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

/* Invalid and implausible numbers. */
static void do_number(const struct wire_message *m, const char *number)
{
	printf("{\"type\":\"result\",\"id\":%lld,\"result\":{\"problem\":\"%s\",\"algorithm\":{\"api\":"
	       "\"fake\",\"name\":\"odd\"},"
	       "\"status\":\"ok\",\"cache\":\"net\",\"launch\":\"amortized\",\"stats\":{\"n\":10,"
	       "\"executions\":1,\"median_ns\":%s}}}\n",
		(long long)m->id, m->problem, number);
	fflush(stdout);
	say_done(m->id, STATUS_OK, "");
}

static void do_nan(const struct wire_message *m)
{
	do_number(m, "NaN");
}

static void do_huge(const struct wire_message *m)
{
	do_number(m, "1e999");
}

static void do_negative(const struct wire_message *m)
{
	do_number(m, "-5");
}

static void do_second_hello(const struct wire_message *m)
{
	say_result(m, m->id, m->problem, 1100, 0);
	setenv("FAKE_MODEL", "Another CPU", 1);
	say_hello("");
}

/* Results after the end of the job. */
static void do_after(const struct wire_message *m)
{
	do_ok(m);
	say_result(m, m->id, m->problem, 5, 0);
	say_done(m->id, STATUS_OK, "");
}

/* Two algorithms, when only those are asked for. */
static void do_list(const struct wire_message *m)
{
	for (int rank = 0; rank < 2; rank++)
		say(&(struct wire_message){ .type = WIRE_ALGORITHM,
			.id = m->id,
			.problem = "",
			.what = "",
			.algorithm = { .api = "fake",
				.name = rank ? "slow" : "fast",
				.layouts = "",
				.math = "strict",
				.rank = rank,
				.matrix = MATRIX_YES,
				.workspace_bytes = NAN } });
	say_done(m->id, STATUS_OK, "");
	say_alive(0, "");
}

static const struct {
	const char *mode;
	void (*act)(const struct wire_message *m);
} acts[] = {
	{ ":relu:", do_ok },
	{ ":leaky_relu,", do_nan },
	{ ":elu,", do_huge },
	{ ":clip,", do_negative },
	{ ":pow,", do_second_hello },
	{ ":affine,", do_after },
	{ ":tanh:", do_crash },
	{ ":swish,2", do_leave_retry },
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
	{ ":hard_sigmoid,", do_unsound },
	{ ":gelu_erf:", do_zero },
	{ ":mish:", do_flood },
	{ ":gelu_tanh:", do_endless },
	{ ":max:", do_noise },
	{ ":soft:", do_wrong_way },
	{ ":log:", do_repeat },
};

static void rest(int ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000L }, NULL);
}

/* A line of the log is one write: several processes may share the file. */
static void log_job(const struct wire_message *m)
{
	const char *path = getenv("FAKE_LOG"), *name = getenv("FAKE_NAME"), *node = getenv("SLURMD_NODENAME");
	char text[2 * PROBLEM_TEXT_SIZE + 128];
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
	if (fd < 0)
		return;
	int n = snprintf(text, sizeof(text), "%s %s%s", name ? name : node ? node : "-",
		strcmp(m->kind, JOB_QUICK) == 0 ? "quick " : wire_is_repeat(m) ? "repeat " : "",
		wire_is_problem(m) ? m->problem : m->payload);
	if (getenv("FAKE_NEXT"))
		n += snprintf(text + n, sizeof(text) - (size_t)n, " %d next, %s%s", m->next_count,
			m->next_count ? m->next[0] : "none", m->all ? ", all" : "");
	n += snprintf(text + n, sizeof(text) - (size_t)n, "\n");
	if (n < 0 || write(fd, text, (size_t)n) != n)
		complain("no log\n");
	close(fd);
}

/* Am I the one that has to go, and now? */
static bool is_my_turn(int job)
{
	const char *at = getenv("FAKE_AT"), *mark = getenv("FAKE_MARK");
	if (!at || job < atoi(at))
		return false;
	int fd = mark ? open(mark, O_WRONLY | O_CREAT | O_EXCL, 0666) : 0;
	return fd >= 0;
}

/* The end that $FAKE_END asks for, at the begin of a job (after a first result) or behind it. */
static void end_if_asked(const struct wire_message *m, int job, bool behind)
{
	const char *end = getenv("FAKE_END");
	if (!end || strcmp(end, "none") == 0 || behind != (strcmp(end, "idle") == 0) || !is_my_turn(job))
		return;
	if (strcmp(end, "idle") == 0 || strcmp(end, "left") == 0)
		_exit(0);
	say_result(m, m->id, m->problem, 1300, 0);
	if (strcmp(end, "kill") == 0)
		raise(SIGKILL);
	if (strcmp(end, "silent") == 0)
		do_hang(m);
	complain("client_loop: send disconnect: Broken pipe\n");
	_exit(255);
}

static void hold(const struct wire_message *m, int job)
{
	const char *path = getenv("FAKE_HOLD"), *at = getenv("FAKE_AT");
	while (path && at && job >= atoi(at) && access(path, F_OK) == 0) {
		say_alive(m->id, "held");
		rest(20);
	}
}

/* A job that is not a problem, which its hello must list. */
static void answer_kind(const struct wire_message *m)
{
	if (!jobs_contain(getenv("FAKE_JOBS"), m->kind)) {
		complain("a job of a kind that the hello does not list\n");
		_exit(6);
	}
	struct wire_message r = { .type = WIRE_RESULT, .id = m->id, .kind = m->kind };
	r.result = (struct result){ .problem = m->payload,
		.why = "",
		.runner_version = "",
		.algorithm = { .api = "fake",
			.name = "whole",
			.layouts = "",
			.math = "strict",
			.workspace_bytes = NAN },
		.stats = { .n = 10,
			.executions = 1,
			.min = 7,
			.q1 = 7,
			.median = 7,
			.q3 = 7,
			.mean = 7,
			.lo = 7,
			.hi = 7 } };
	bool quick = strcmp(m->kind, JOB_QUICK) == 0, repeat = wire_is_repeat(m);
	bool good = strstr(m->payload, quick || repeat ? ":relu:" : "good") != NULL;
	if (repeat) {
		r.result.algorithm = m->algorithm;
		r.result.stats.executions = m->budget_ms;
	}
	r.result.cache = m->caches[CACHE_NET] ? CACHE_NET : CACHE_WARM;
	r.result.launch = m->launches[LAUNCH_AMORTIZED] ? LAUNCH_AMORTIZED : LAUNCH_ISOLATED;
	if (good)
		say(&r);
	say(&(struct wire_message){ .type = WIRE_DONE,
		.id = m->id,
		.kind = m->kind,
		.payload = m->payload,
		.status = good ? STATUS_OK : STATUS_UNSUPPORTED,
		.what = "no such model" });
}

static void answer(const struct wire_message *m, int job)
{
	if (!wire_is_problem(m)) {
		log_job(m);
		answer_kind(m);
		return;
	}
	const char *all = getenv("FAKE_ALL");
	log_job(m);
	hold(m, job);
	end_if_asked(m, job, false);
	for (size_t i = 0; !all && i < sizeof(acts) / sizeof(acts[0]); i++)
		if (strstr(m->problem, acts[i].mode))
			acts[i].act(m);
	if (all) {
		rest(atoi(all));
		do_ok(m);
	}
	end_if_asked(m, job, true);
}

/* A place in a cluster's queue, until the gate is there. */
static void wait_for_gate(void)
{
	const char *gate = getenv("FAKE_GATE");
	complain("srun: job 12 queued and waiting for resources\n");
	while (gate && access(gate, F_OK))
		rest(5);
	complain("srun: job 12 has been allocated resources\n");
}

int main(int argc, char **argv)
{
	static char line[WIRE_LINE_MAX];
	int jobs = 0;
	if (argc == 3 && strcmp(argv[1], "--device") == 0 && strchr(argv[2], ':')) {
		complain("a device of mine has no runner's name before it\n");
		return 2;
	}
	const char *how = getenv("FAKE_HELLO");
	how = how ? how : "";
	if (strcmp(how, "password") == 0) {
		printf("Welcome.\nPassword: ");
		fflush(stdout);
	}
	if (strcmp(how, "never") == 0 || strcmp(how, "password") == 0)
		do_hang(NULL);
	if (strcmp(how, "exit") == 0) {
		complain("libdnnl.so.2: cannot open shared object file\n");
		return 5;
	}
	if (strcmp(how, "flood") == 0)
		for (;;)
			if (puts("all work and no play") < 0)
				return 1;
	if (strcmp(how, "blank") == 0)
		for (;;)
			if (puts("") < 0)
				return 1;
	if (strcmp(how, "deaf") == 0)
		signal(SIGTERM, SIG_IGN);
	if (strcmp(how, "waits") == 0)
		wait_for_gate();
	say_hello(how);
	if (strcmp(how, "twice") == 0)
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
		if (m.type == WIRE_ALGORITHMS && strstr(m.problem, ":relu:"))
			do_list(&m);
		else if (m.type == WIRE_RUN || m.type == WIRE_ALGORITHMS)
			answer(&m, ++jobs);
		wire_free(&m);
	}
	return 0;
}
