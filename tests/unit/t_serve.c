#include "config.h"

#include "tests/unit/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/measure/platform.h"
#include "runner/protocol/serve.h"

/* The server on files, with an invented machine: one that breaks, one that computes wrongly, one that is only
 * described. */

static struct {
	bool dead;
	bool hangs;     /* the second algorithm of a tanh does not end */
	bool breaks;    /* at the first run of a tanh, */
	bool innocent;  /* through no fault of the tanh */
	bool waits;     /* each run, for another process, longer than the limit of a step */
	bool compiles;  /* algorithms are compiled on threads, */
	bool stuck;     /* those of a tanh without end */
	double worst;   /* what checks find */
	bool varies;    /* the time of a run, so that samples are taken until the budget is spent */
	int runs;
} fake;

#define OFFERED                                                                                              \
	{ { .api = "fake", .name = "first", .layouts = "", .math = "strict" },                               \
		{ .api = "fake", .name = "second", .layouts = "", .math = "strict", .rank = 1 } }
/* Of a tanh in the second row: problems are listed on other threads while one runs. */
static struct algorithm offered[2][2] = { OFFERED, OFFERED };

static bool is_tanh(const void *work)
{
	return work == &offered[1][0] || work == &offered[1][1];
}

static bool is_second(const void *work)
{
	return work == &offered[0][1] || work == &offered[1][1];
}

static int fake_algorithms(const struct problem *p, struct backend_list *list, struct error *err)
{
	if (p->kernel != KERNEL_ELTWISE)
		return error_set(err, "fake has no %s", kernel_name(p->kernel));
	list->count = 2;
	list->algorithm = offered[p->mode == MODE_TANH];
	return 0;
}

static void fake_forget(struct backend_list *list)
{
	list->count = 0;
}

static void fake_compile(const struct backend_list *list, int index)
{
	(void)index;
	while (fake.stuck && list->algorithm == offered[1])
		pause();
}

static void *fake_prepare(const struct backend_list *list, int index, const struct backend_limits *limits,
	enum status *status, struct error *err)
{
	(void)limits;
	(void)status;
	(void)err;
	return (void *)&list->algorithm[index];
}

static bool is_waiting; /* read by another thread */

static int fake_run(void *work, enum cache cache, int64_t times, double *elapsed_ns, struct error *err)
{
	(void)cache;
	__atomic_store_n(&is_waiting, fake.waits, __ATOMIC_RELAXED);
	if (fake.waits)
		sleep(3);
	__atomic_store_n(&is_waiting, false, __ATOMIC_RELAXED);
	fake.waits = false;
	while (fake.hangs && is_tanh(work) && is_second(work))
		pause();
	fake.dead = fake.dead || (fake.breaks && is_tanh(work));
	fake.runs++;
	*elapsed_ns = 6e6 * (double)times * (fake.varies ? 1 + fake.runs * 617 % 1000 : 1);
	return fake.dead ? error_set(err, "illegal address") : 0;
}

static int fake_check(void *work, double *worst, struct error *err)
{
	(void)err;
	*worst = is_second(work) ? fake.worst : 0;
	return 0;
}

static double fake_rotated(const void *work, enum cache cache)
{
	(void)cache;
	(void)work;
	return 0;
}

static void fake_release(void *work)
{
	(void)work;
}

static bool fake_is_waiting(void)
{
	return __atomic_load_n(&is_waiting, __ATOMIC_RELAXED);
}

static double fake_memory(void)
{
	return 1e9;
}

static bool fake_is_alive(void)
{
	return !fake.dead;
}

static const struct platform_loss *fake_loss(void)
{
	static struct platform_loss loss;
	loss = (struct platform_loss){ .why = "fell off the bus", .by_problem = !fake.innocent };
	return fake.dead ? &loss : NULL;
}

static const struct backend backend = { .api = "fake", .algorithms = fake_algorithms, .forget = fake_forget,
	.compile = fake_compile, .prepare = fake_prepare, .run = fake_run, .check = fake_check,
	.rotated_bytes = fake_rotated, .release = fake_release };
static const struct backend *const backends[] = { &backend, NULL };
const struct platform platform = { .program = "t_serve",
	.machine.tolerance = 0.02,
	.machine.long_ns = 5e6,
	.backends = backends,
	.memory_bytes = fake_memory,
	.machine.is_alive = fake_is_alive,
	.is_waiting = fake_is_waiting,
	.loss = fake_loss };

#define RELU "eltwise:f32,f32:relu:100"
#define TANH "eltwise:f32,f32:tanh:100"
#define JOB(id, problem) "{\"type\":\"run\",\"id\":" id ",\"problem\":\"" problem "\",\"budget_ms\":1}\n"

static const struct device device = { .name = "fake:0",
	.model = "Fake",
	.stack = "fake 1",
	.runner = "t_serve",
	.version = "1",
	.host = "here",
	.attributes = "{}",
	.llc_bytes = 1e6 };
static char path[] = "/tmp/t_serve.XXXXXX";
static char said[65536]; /* what the file of answers holds */
static int64_t skipped;

/* Serves what comes from `in`, adding to the file of answers; one process of the real program. */
static int served_from(int in, struct serving how, bool *wrong, struct error *err)
{
	struct batch batch;
	int out = open(path, O_RDWR | O_APPEND);
	*err = (struct error)ERROR_NONE;
	if (in < 0 || out < 0)
		return -2;
	fake.dead = false;
	how.device = &device;
	how.batch = &batch;
	if (fake.compiles)
		how.ahead = ahead_open(&(struct ahead_options){ .backends = backends, .threads = 2,
			.ahead_ns = AHEAD_NS }, err);
	int bad = batch_open(&batch, out, &device, err) || serve(&how, in, out, err) ? -1 : 0;
	skipped = batch.skipped;
	batch_close(&batch);
	ahead_close(how.ahead);
	*wrong = how.wrong;
	ssize_t n = pread(out, said, sizeof(said) - 1, 0);
	said[n > 0 ? n : 0] = '\0';
	close(out);
	return bad;
}

static int served(const char *jobs, struct serving how, bool *wrong, struct error *err)
{
	char name[] = "/tmp/t_serve.XXXXXX";
	int in = mkstemp(name);
	unlink(name);
	if (in < 0 || write(in, jobs, strlen(jobs)) < 0 || lseek(in, 0, SEEK_SET))
		return -2;
	int bad = served_from(in, how, wrong, err);
	close(in);
	return bad;
}

static void empty(void)
{
	int out = open(path, O_RDWR | O_TRUNC);
	close(out);
}

static int times_said(const char *what)
{
	int n = 0;
	for (const char *at = said; (at = strstr(at, what)); at++)
		n++;
	return n;
}

static void test_lost(void)
{
	struct error err;
	bool wrong;
	const char *jobs = JOB("1", RELU) JOB("2", TANH) JOB("3", "eltwise:f32,f32:relu:200");
	fake.breaks = true;
	is_int(served(jobs, (struct serving){ 0 }, &wrong, &err), -1, "a lost device ends the server");
	ok(strstr(err.text, "lost"), "which says so: %s", err.text);
	ok(strstr(said, "\"type\":\"done\",\"id\":1,\"status\":\"ok\""), "what came before is there");
	ok(strstr(said,
		   "\"type\":\"done\",\"id\":2,\"status\":\"failed\",\"why\":\"illegal "
		   "address\",\"leaves\":true"),
		"the problem failed, with the reason");
	ok(strstr(said, "\"status\":\"failed\"") && times_said("\"type\":\"log\"") == 1, "and the log tells");
	ok(!strstr(said, "\"id\":3"), "the next was not begun");
	is_int(served(jobs, (struct serving){ 0 }, &wrong, &err), 0, "the next process");
	ok(skipped == 2 && strstr(said, "\"type\":\"done\",\"id\":3,\"status\":\"ok\""),
		"goes on behind the one that failed");
	ok(times_said("\"magic\"") == 1 && times_said("\"id\":2,\"status\":\"failed\"") == 1,
		"nothing is said twice");
	fake.breaks = false;
	empty();
}

/* The device is lost through no known fault of the problem: it is tried again, once. */
static void test_lost_again(void)
{
	struct error err;
	bool wrong;
	const char *jobs = JOB("1", RELU) JOB("2", TANH) JOB("3", "eltwise:f32,f32:relu:200");
	fake.breaks = fake.innocent = true;
	is_int(served(jobs, (struct serving){ 0 }, &wrong, &err), -1, "a lost device ends the server");
	ok(strstr(err.text, "fell off the bus") && strstr(err.text, "this job"), "with the reason: %s",
		err.text);
	ok(strstr(said, "\"leaves\":true,\"retry\":true"), "the job may be tried again");
	is_int(times_said("\"type\":\"result\",\"id\":2"), 0, "it has no result");
	fake.breaks = false;
	is_int(served(jobs, (struct serving){ 0 }, &wrong, &err), 0, "the next process");
	ok(skipped == 1 && strstr(said, "\"type\":\"done\",\"id\":2,\"status\":\"ok\""),
		"goes on with the job that was lost");
	is_int(served(jobs, (struct serving){ 0 }, &wrong, &err), 0, "a third one");
	is_int(skipped, 3, "has nothing to do");
	empty();
	fake.breaks = true;
	for (int i = 0; i < 2; i++)
		is_int(served(jobs, (struct serving){ 0 }, &wrong, &err), -1, "lost again, process %d", i);
	is_int(times_said("\"retry\":true"), 1, "a second loss counts as the problem's");
	is_int(served(jobs, (struct serving){ 0 }, &wrong, &err), 0, "so that the others are reached");
	if (!ok(skipped == 2 && strstr(said, "\"type\":\"done\",\"id\":3,\"status\":\"ok\""), "and measured"))
		printf("# %lld skipped: %s\n", (long long)skipped, said);
	fake.breaks = fake.innocent = false;
	empty();
}

/* Serves in a process of its own; returns its exit status. */
static int served_alone(const char *jobs, struct serving how)
{
	struct error err;
	bool wrong;
	pid_t child = fork();
	if (child == 0) {
		close(2); /* the reason is in the file too */
		_exit(served(jobs, how, &wrong, &err) == 0 ? 0 : 1);
	}
	int status = -1;
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A kernel that does not end. */
static void test_hangs(void)
{
	struct error err;
	bool wrong;
	const char *jobs = JOB("1", RELU) JOB("2", TANH) JOB("3", "eltwise:f32,f32:relu:200");
	fake.hangs = true;
	is_int(served_alone(jobs, (struct serving){ .step_limit_ms = 500 }), 3, "the program ends");
	served("", (struct serving){ 0 }, &wrong, &err); /* reads the file */
	is_int(times_said("\"type\":\"done\""), 2, "after two jobs");
	ok(strstr(said, "\"type\":\"done\",\"id\":2,\"status\":\"timeout\",\"why\":\"given up: second took "
			"more than"), "the second was given up, with the reason");
	ok(strstr(said, "\"leaves\":true,\"caches\""), "the program said that it would leave");
	ok(strstr(said, "\"id\":2,\"result\":{\"problem\":\"" TANH "\",\"algorithm\":{\"api\":\"fake\","
			"\"name\":\"second\"") && times_said("\"status\":\"timeout\"") == 2,
		"the algorithm has a result");
	is_int(served_alone(jobs, (struct serving){ .step_limit_ms = 60000 }), 0, "the next process");
	served(jobs, (struct serving){ 0 }, &wrong, &err);
	ok(skipped == 3 && strstr(said, "\"type\":\"done\",\"id\":3,\"status\":\"ok\""),
		"goes on behind it, and has ended all jobs");
	fake.hangs = false;
	empty();
}

/* Waiting for another process that measures is no fault of the job. */
static void test_waits(void)
{
	struct error err;
	bool wrong;
	fake.waits = true;
	is_int(served_alone(JOB("1", RELU), (struct serving){ .step_limit_ms = 500 }), 0, "it waits");
	served("", (struct serving){ 0 }, &wrong, &err); /* reads the file */
	ok(strstr(said, "\"type\":\"done\",\"id\":1,\"status\":\"ok\""), "and then measures");
	fake.waits = false;
	empty();
}

/* A compilation that does not end, of a job that waits: that one is given up, not the current one. */
static void test_stuck(void)
{
	struct error err;
	bool wrong;
	const char *jobs = JOB("1", RELU) JOB("2", TANH) JOB("3", "eltwise:f32,f32:relu:200");
	fake.compiles = fake.stuck = true;
	is_int(served_alone(jobs, (struct serving){ .step_limit_ms = 500 }), 3, "the program ends");
	is_int(served_alone(jobs, (struct serving){ .step_limit_ms = 60000 }), 0, "the next does the others");
	fake.compiles = false;
	served("", (struct serving){ 0 }, &wrong, &err); /* reads the file */
	is_int(times_said("\"type\":\"done\""), 3, "each job has its answer");
	ok(strstr(said, "\"type\":\"done\",\"id\":2,\"status\":\"timeout\",\"why\":\"given "
			"up: listing or compiling its algorithms took more than"), "that one is given up");
	is_int(times_said(",\"status\":\"ok\",\"why\":\"\""), 2, "the others are measured");
	fake.stuck = false;
	empty();
}

static void test_checked(void)
{
	struct error err;
	bool wrong;
	const char *jobs =
		JOB("1", RELU) JOB("2", "pool:f32,f32:max:n1c4h4w4r2s2:ph0pw0qh0qw0:sh1sw1:dh1dw1");
	is_int(served(jobs, (struct serving){ .check = true }, &wrong, &err), 0, "checks in place of times");
	ok(!wrong && times_said("\"type\":\"check\",\"id\":1") == 2 && !strstr(said, "\"type\":\"result\""),
		"one line an algorithm, no results");
	ok(strstr(said, "\"type\":\"done\",\"id\":2,\"status\":\"unsupported\",\"why\":\"fake has no pool\""),
		"what nobody computes says so");
	empty();
	fake.worst = 1e-3;
	served(JOB("1", RELU), (struct serving){ .check = true }, &wrong, &err);
	ok(wrong && strstr(said, "\"status\":\"mistrusted\",\"worst\":0.001,\"allowed\":1.05"),
		"a wrong one counts");
	empty();
	served(JOB("1", RELU), (struct serving){ .check = true, .most = 1 }, &wrong, &err);
	ok(!wrong && times_said("\"type\":\"check\"") == 1, "each algorithm once");
	empty();
	served(JOB("1", RELU), (struct serving){ 0 }, &wrong, &err);
	ok(strstr(said, "\"name\":\"second\"") && strstr(said, "\"status\":\"mistrusted\"") &&
			strstr(said, "\"type\":\"done\",\"id\":1,\"status\":\"ok\""),
		"measuring: it is mistrusted, the other one counts");
	fake.worst = 0;
	empty();
}

static void test_planned(void)
{
	struct error err;
	bool wrong;
	const char *jobs = JOB("1", RELU) "{\"type\":\"algorithms\",\"id\":2,\"problem\":\"" TANH "\"}\n";
	is_int(served(jobs, (struct serving){ .planning = true }, &wrong, &err), 0, "planning");
	ok(times_said("\"type\":\"algorithm\",\"id\":1") == 2 &&
			times_said("\"type\":\"algorithm\",\"id\":2") == 2,
		"both kinds of jobs are answered with algorithms");
	ok(strstr(said, "\"id\":1,\"status\":\"unsupported\",\"why\":\"planned only: there is no device\"") &&
		strstr(said, "\"id\":2,\"status\":\"ok\""), "one of them asked for more");
	ok(!strstr(said, "\"type\":\"result\""), "there are no results");
	served(jobs, (struct serving){ .planning = true }, &wrong, &err);
	is_int(skipped, 2, "and they are not planned again");
	empty();
}

/* The most samples of a result that the answers hold. */
static int64_t samples_most(void)
{
	int64_t most = 0;
	for (const char *at = said; (at = strstr(at, "\"n\":")); at++)
		most = atoll(at + 4) > most ? atoll(at + 4) : most;
	return most;
}

/* The budget of the command line is the default of jobs, and a job's own counts first. */
static void test_defaults(void)
{
	static const char job[] = "{\"type\":\"run\",\"id\":1,\"problem\":\"" RELU "\"}\n";
	static const struct {
		const char *job;
		int64_t budget_ms;
		bool many;
	} cases[] = { { job, 0, true }, { job, 1, false }, { JOB("1", RELU), 10000, false } };
	struct error err;
	bool wrong;
	fake.varies = true;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		served(cases[i].job, (struct serving){ .budget_ms = cases[i].budget_ms }, &wrong, &err);
		int64_t n = samples_most();
		ok(n > 0 && (n > 10000) == cases[i].many, "budget %lld: %lld samples",
			(long long)cases[i].budget_ms, (long long)n);
		empty();
	}
	fake.varies = false;
}

#define QUICK(id, problem) \
	"{\"type\":\"run\",\"id\":" id ",\"kind\":\"quick\",\"caches\":[\"net\"]," \
	"\"launches\":[\"amortized\"],\"payload\":\"" problem "\"}\n"

/* Over a pipe a quick measurement is answered under its kind; into a file it is refused, since the file's
 * jobs would then be skipped. */
static void test_quick(void)
{
	struct error err;
	struct batch none = { 0 };
	bool wrong;
	int in[2], out[2];
	const char *jobs = QUICK("1", RELU) JOB("2", RELU);
	is_int(served(jobs, (struct serving){ 0 }, &wrong, &err), 0, "a quick job in a batch");
	ok(strstr(said, "\"jobs\":[\"problem\"]") && strstr(said, "no jobs of the kind \\\"quick\\\""),
		"is refused, and the hello does not list it");
	ok(strstr(said, "\"type\":\"done\",\"id\":2,\"status\":\"ok\""), "the problem is measured");
	empty();
	if (!ok(pipe(in) == 0 && pipe(out) == 0 && write(in[1], jobs, strlen(jobs)) > 0, "two pipes"))
		return;
	close(in[1]);
	fcntl(out[1], F_SETPIPE_SZ, 1 << 20);
	struct serving how = { .device = &device, .batch = &none };
	is_int(serve(&how, in[0], out[1], &err), 0, "served");
	close(out[1]);
	ssize_t n = read(out[0], said, sizeof(said) - 1);
	said[n > 0 ? n : 0] = '\0';
	ok(strstr(said, "\"jobs\":[\"problem\",\"quick\",\"repeat\"]"), "the hello lists it");
	ok(times_said("\"type\":\"result\",\"id\":1,\"kind\":\"quick\"") == 1 &&
			times_said("\"stop\":\"shortlist\"") >= 1,
		"one result, of the kind, with few samples");
	ok(strstr(said, "\"type\":\"done\",\"id\":1,\"status\":\"ok\",\"why\":\"\",\"kind\":\"quick\","
			"\"payload\":\"" RELU "\""),
		"and its end");
	ok(times_said("\"type\":\"result\",\"id\":2") > 1, "the full job follows");
	close(in[0]);
	close(out[0]);
}

#define REPEAT(id) "{\"type\":\"run\",\"id\":" id ",\"kind\":\"repeat\",\"payload\":\"" RELU "\""

/* A repeated measurement is of the one algorithm, and ends with its budget. */
static void test_repeat(void)
{
	static const char jobs[] =
		REPEAT("1") ",\"caches\":[\"net\"],\"launches\":[\"amortized\"],\"budget_ms\":20,"
		"\"algorithm\":{\"api\":\"fake\",\"name\":\"second\",\"math\":\"strict\"}}\n"
		REPEAT("2") ",\"algorithm\":{\"api\":\"fake\",\"name\":\"gone\"}}\n"
		REPEAT("3") "}\n";
	struct error err;
	struct batch none = { 0 };
	int in[2], out[2];
	if (!ok(pipe(in) == 0 && pipe(out) == 0 && write(in[1], jobs, strlen(jobs)) > 0, "two pipes"))
		return;
	close(in[1]);
	fcntl(out[1], F_SETPIPE_SZ, 1 << 20);
	struct serving how = { .device = &device, .batch = &none };
	serve(&how, in[0], out[1], &err);
	close(out[1]);
	ssize_t n = read(out[0], said, sizeof(said) - 1);
	said[n > 0 ? n : 0] = '\0';
	is_int(times_said("\"type\":\"result\""), 1, "one result");
	is_int(times_said("\"type\":\"result\",\"id\":1,\"kind\":\"repeat\""), 1, "of the job");
	ok(strstr(said, "\"id\":2,\"status\":\"unsupported\",\"why\":\"fake does not offer gone any more\""),
		"an algorithm that is not offered");
	ok(strstr(said, "\\\"algorithm\\\" is missing"), "a job without one");
	close(in[0]);
	close(out[0]);
}

/* The input stays open: only the time ends it. Last of all, since the thread that reads stays in its read. */
static void test_idle(void)
{
	struct error err;
	bool wrong;
	int ends[2];
	const char *jobs = JOB("1", RELU);
	ok(pipe(ends) == 0 && write(ends[1], jobs, strlen(jobs)) > 0, "a pipe that nobody closes");
	is_int(served_from(ends[0], (struct serving){ .idle_ms = 300 }, &wrong, &err), 0,
		"is left when nothing comes");
	ok(strstr(said, "\"type\":\"done\",\"id\":1,\"status\":\"ok\""), "after what came was done");
	empty();
}

int main(void)
{
	close(mkstemp(path));
	test_lost();
	test_lost_again();
	test_hangs();
	test_stuck();
	test_waits();
	test_checked();
	test_planned();
	test_defaults();
	test_quick();
	test_repeat();
	test_idle();
	unlink(path);
	return done_testing();
}
