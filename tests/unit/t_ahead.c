/* Listing and compiling ahead, with an invented library that is slow to compile and a server that measures
 * from a file of jobs. */
#include "config.h"

#include "tests/unit/tap.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runner/measure/clock.h"
#include "runner/measure/platform.h"
#include "runner/protocol/serve.h"

#define ALGORITHMS 6

/* What the library was asked for. */
static struct {
	atomic_int lists;          /* that exist */
	atomic_int entered;
	atomic_int compiling, most_at_once, compiled, compiled_twice;
	atomic_int run_while_compiling;
	atomic_int prepared, prepared_raw; /* algorithms that were prepared; of those, not compiled before */
	atomic_int compile_ms;
	atomic_int entering_fails, listed_all;
	atomic_int hangs; /* compiling for a tanh does not end */
} fake;

struct state {
	struct problem problem;
	atomic_int compiled[ALGORITHMS];
	struct algorithm algorithm[ALGORITHMS];
};

static void pause_ms(int ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000L }, NULL);
}

static int fake_algorithms(const struct problem *p, struct backend_list *list, struct error *err)
{
	static const char *const names[ALGORITHMS] = { "a", "b", "c", "d", "e", "f" };
	bool list_all = list->all;
	if (p->kernel != KERNEL_ELTWISE)
		return error_set(err, "fake has no %s", kernel_name(p->kernel));
	struct state *s = base_calloc(1, sizeof(*s));
	s->problem = *p;
	for (int i = 0; i < ALGORITHMS; i++)
		s->algorithm[i] = (struct algorithm){
			.api = "fake", .name = names[i], .layouts = "", .math = "strict", .notes = ""
		};
	*list = (struct backend_list){ .count = ALGORITHMS, .algorithm = s->algorithm, .state = s };
	fake.lists++;
	fake.listed_all += list_all;
	return 0;
}

static void fake_forget(struct backend_list *list)
{
	fake.lists--;
	backend_forget(list);
}

static void fake_compile(const struct backend_list *list, int index)
{
	struct state *s = list->state;
	int now = ++fake.compiling, seen = fake.most_at_once;
	while (now > seen && !atomic_compare_exchange_weak(&fake.most_at_once, &seen, now))
		;
	pause_ms(fake.compile_ms);
	while (fake.hangs && s->problem.mode == MODE_TANH)
		pause_ms(10);
	if (s->compiled[index]++)
		fake.compiled_twice++;
	fake.compiled++;
	fake.compiling--;
}

static void *fake_prepare(const struct backend_list *list, int index, const struct backend_limits *limits,
	enum status *status, struct error *err)
{
	struct state *s = list->state;
	(void)limits;
	(void)status;
	(void)err;
	fake.prepared++;
	fake.prepared_raw += !s->compiled[index];
	return s;
}

static int fake_run(void *work, enum cache cache, int64_t times, double *elapsed_ns, struct error *err)
{
	(void)work;
	(void)cache;
	(void)err;
	fake.run_while_compiling += fake.compiling > 0;
	*elapsed_ns = 6e6 * (double)times;
	return 0;
}

static void fake_release(void *work)
{
	(void)work;
}

static double fake_memory(void)
{
	return 1e9;
}

static int fake_enter(struct error *err)
{
	fake.entered++;
	return fake.entering_fails ? error_set(err, "no such device") : 0;
}

static const struct backend backend = { .api = "fake", .algorithms = fake_algorithms, .forget = fake_forget,
	.compile = fake_compile, .prepare = fake_prepare, .run = fake_run, .release = fake_release };
static const struct backend *const backends[] = { &backend, NULL };
const struct platform platform = { .program = "t_ahead",
	.machine.tolerance = 0.02,
	.machine.long_ns = 5e6,
	.backends = backends,
	.memory_bytes = fake_memory,
	.enter = fake_enter };

static bool never(void *user)
{
	(void)user;
	return false;
}

#define A "eltwise:f32,f32:relu:100"
#define B "eltwise:f32,f32:tanh:100"
#define C "eltwise:f32,f32:abs:100"
#define POOL "pool:f32,f32:max:n1c4h4w4r2s2:ph0pw0qh0qw0:sh1sw1:dh1dw1"

static struct ahead *opened(struct ahead_options o)
{
	struct error err = ERROR_NONE;
	o.backends = backends;
	o.enter = fake_enter;
	fake.compiled = fake.most_at_once = fake.compiled_twice = fake.prepared = fake.prepared_raw = 0;
	fake.run_while_compiling = 0;
	return ahead_open(&o, &err);
}

/* Takes a problem and frees it. Returns its status, -1 if it was not prepared. */
static int taken(struct ahead *a, const char *text, struct error *err)
{
	struct problem p;
	struct offers o;
	enum status status;
	if (!ahead_take(a, (struct ahead_job){ text, false }, &p, &o, &status, err))
		return -1;
	if (status == STATUS_OK) {
		ok(o.count == ALGORITHMS && o.offer[2].list == &o.list[0], "the offers point to their list");
		offers_close(&o);
	}
	return status;
}

static void test_round(void)
{
	const struct ahead_job jobs[] = { { A, false }, { POOL, false }, { B, false }, { A, false },
		{ "nonsense", false }, { C, false } };
	struct error err = ERROR_NONE;
	fake.compile_ms = 20;
	fake.entered = 0;
	struct ahead *a = opened((struct ahead_options){ .threads = 6, .ahead_ns = 60e9 });
	is_int(fake.entered, 6, "each thread makes the device its own");
	double begin = clock_ns();
	ahead_prepare(a, jobs, 6, never, NULL);
	double took = clock_ns() - begin;
	is_int(fake.compiled, 3 * ALGORITHMS, "all algorithms of all problems are compiled");
	is_int(fake.compiled_twice, 0, "each once");
	ok(fake.most_at_once > 2 && fake.most_at_once <= 6, "%d at once, on 6 threads", fake.most_at_once);
	ok(took < 18 * 20e6 * 0.8, "in less time than one after another: %.0f ms", took / 1e6);
	is_int(taken(a, B, &err), STATUS_OK, "a problem is handed out");
	is_int(taken(a, B, &err), -1, "once");
	is_int(taken(a, POOL, &err), STATUS_UNSUPPORTED, "one that has no algorithm");
	is_str(err.text, "fake has no pool", "with the reason");
	is_int(taken(a, "nonsense", &err), STATUS_FAILED, "one that is none");
	is_int(taken(a, A, &err), STATUS_OK, "one that was asked for twice");
	ahead_prepare(a, (struct ahead_job[]){ { C, false }, { A, false } }, 2, never, NULL);
	is_int(fake.compiled, 3 * ALGORITHMS, "what is prepared begins no round");
	ahead_prepare(a, (struct ahead_job[]){ { B, false } }, 1, never, NULL);
	is_int(fake.lists, 1, "what is not asked for again is freed");
	is_int(fake.compiled, 4 * ALGORITHMS, "what was taken is made again");
	pause_ms(30);
	is_int(fake.compiled, 4 * ALGORITHMS, "between rounds nothing is compiled");
	ahead_close(a);
	is_int(fake.lists, 0, "the end frees what was not taken");
}

/* All algorithms of a problem and those of the heuristics are two lists. */
static void test_all(void)
{
	struct problem p;
	struct offers o;
	enum status status;
	struct error err = ERROR_NONE;
	struct ahead *a = opened((struct ahead_options){ .threads = 2, .ahead_ns = 60e9 });
	fake.compile_ms = fake.listed_all = 0;
	ahead_prepare(a, (struct ahead_job[]){ { A, true } }, 1, never, NULL);
	is_int(fake.listed_all, 1, "all are asked for");
	is_int(taken(a, A, &err), -1, "what was prepared is not for who wants others");
	ok(ahead_take(a, (struct ahead_job){ A, true }, &p, &o, &status, &err), "but for who wants all");
	offers_close(&o);
	ahead_close(a);
	is_int(fake.lists, 0, "nothing is left");
}

static void test_limits(void)
{
	const struct ahead_job jobs[] = { { A, false }, { B, false }, { C, false } };
	struct error err = ERROR_NONE;
	fake.compile_ms = 5;
	struct ahead *a = opened((struct ahead_options){ .threads = 2, .ahead_ns = 0 });
	ahead_prepare(a, jobs, 3, never, NULL);
	is_int(fake.compiled, ALGORITHMS, "without time only the first problem is prepared");
	is_int(taken(a, B, &err), -1, "not the second");
	ahead_close(a);
	a = opened((struct ahead_options){ .threads = 2, .ahead_ns = 60e9, .most = 4 });
	ahead_prepare(a, jobs, 3, never, NULL);
	is_int(fake.compiled, 3 * 4, "no more algorithms than are tried");
	ahead_close(a);
	a = opened((struct ahead_options){ .threads = 2, .ahead_ns = 60e9, .lists_only = true });
	ahead_prepare(a, jobs, 3, never, NULL);
	is_int(fake.compiled, 0, "only listed");
	is_int(taken(a, C, &err), STATUS_OK, "all of them");
	ahead_close(a);
	is_int(fake.lists, 0, "nothing is left");
	is_int(ahead_threads(1), 1, "a thread on one core");
	is_int(ahead_threads(4), 3, "three on four");
	is_int(ahead_threads(64), AHEAD_THREADS, "not more than the limit");
}

static bool after_some(void *user)
{
	(void)user;
	return fake.compiled >= 2;
}

static void test_cancelled(void)
{
	const struct ahead_job jobs[] = { { A, false }, { B, false }, { C, false } };
	fake.compile_ms = 60;
	struct ahead *a = opened((struct ahead_options){ .threads = 1, .ahead_ns = 60e9 });
	ahead_prepare(a, jobs, 3, after_some, NULL);
	ok(fake.compiled < ALGORITHMS, "a cancelled round ends: %d compiled", fake.compiled);
	is_int(fake.compiling, 0, "and waits for what was begun");
	ahead_prepare(a, jobs, 3, never, NULL);
	is_int(fake.compiled, 3 * ALGORITHMS, "the next one does the rest");
	is_int(fake.compiled_twice, 0, "and only that");
	ahead_close(a);
}

static void test_no_device(void)
{
	struct error err = ERROR_NONE;
	struct ahead_options o = { .backends = backends, .threads = 2, .enter = fake_enter };
	fake.entering_fails = 1;
	ok(!ahead_open(&o, &err), "a thread that cannot use the device");
	is_str(err.text, "no such device", "is told with its reason");
	fake.entering_fails = 0;
}

/* --- the server --- */

#define JOB(id, problem) "{\"type\":\"run\",\"id\":" id ",\"problem\":\"" problem "\",\"budget_ms\":1}\n"

static const struct device device = { .name = "fake:0", .model = "Fake", .stack = "fake 1",
	.runner = "t_ahead", .version = "1", .host = "here", .attributes = "{}", .llc_bytes = 1e6 };
static char said[262144];

static int file_of(const char *text)
{
	char name[] = "/tmp/t_ahead.XXXXXX";
	int f = mkstemp(name);
	unlink(name);
	return f >= 0 && write(f, text, strlen(text)) >= 0 && lseek(f, 0, SEEK_SET) == 0 ? f : -1;
}

static void test_served(void)
{
	struct error err = ERROR_NONE;
	struct batch batch;
	fake.compile_ms = 3;
	struct ahead *a = opened((struct ahead_options){ .threads = 3, .ahead_ns = 60e9 });
	int in = file_of(JOB("1", A) JOB("2", POOL) JOB("3", B) JOB("4", C)), out = file_of("");
	batch_open(&batch, out, &device, &err);
	struct serving how = { .device = &device, .batch = &batch, .ahead = a };
	is_int(serve(&how, in, out, &err), 0, "a file of jobs is served");
	batch_close(&batch);
	ssize_t n = pread(out, said, sizeof(said) - 1, 0);
	said[n > 0 ? n : 0] = '\0';
	ok(strstr(said, "\"id\":2,\"status\":\"unsupported\",\"why\":\"fake has no pool\""),
		"what has no algorithm says so");
	ok(strstr(said, "\"type\":\"done\",\"id\":4,\"status\":\"ok\""), "the last is measured");
	is_int(fake.prepared, 3 * ALGORITHMS, "all algorithms are tried");
	is_int(fake.prepared_raw, 0, "all were compiled before");
	is_int(fake.compiled, 3 * ALGORITHMS, "once");
	is_int(fake.run_while_compiling, 0, "nothing is compiled while samples run");
	ahead_close(a);
	is_int(fake.lists, 0, "every list is freed");
	close(in);
	close(out);
}

#define RUN(id, problem) "{\"type\":\"run\",\"id\":" id ",\"problem\":\"" problem "\",\"budget_ms\":1"

/* Serves jobs that come one at a time, as from a parent: `after` is sent when the first has ended. */
static void served_by_parent(const char *first, const char *after, struct serving how)
{
	struct error err = ERROR_NONE;
	struct batch batch;
	int in[2], out[2];
	ok(pipe(in) == 0 && pipe(out) == 0, "pipes");
	how.device = &device;
	how.batch = &batch;
	pid_t child = fork();
	if (child == 0) {
		how.ahead = opened((struct ahead_options){ .threads = 3, .ahead_ns = 60e9 });
		close(2);
		close(in[1]);
		batch_open(&batch, out[1], &device, &err);
		int bad = serve(&how, in[0], out[1], &err);
		char line[200];
		int n = snprintf(line, sizeof(line), "compiled %d twice %d raw %d all %d\n", fake.compiled,
			fake.compiled_twice, fake.prepared_raw, fake.listed_all);
		_exit(write(out[1], line, (size_t)n) != n || bad);
	}
	close(in[0]);
	close(out[1]);
	size_t size = 0;
	bool sent = false;
	ok(write(in[1], first, strlen(first)) > 0, "a job");
	for (ssize_t n; (n = read(out[0], said + size, sizeof(said) - 1 - size)) > 0;) {
		said[size += (size_t)n] = '\0';
		if (!sent && strstr(said, "\"done\"")) {
			sent = true;
			if (*after)
				ok(write(in[1], after, strlen(after)) > 0, "the next one");
			close(in[1]);
		}
	}
	int status;
	waitpid(child, &status, 0);
	close(out[0]);
}

/* A parent sends one job at a time, and names those that will follow. */
static void test_next(void)
{
	fake.compile_ms = 3;
	served_by_parent(RUN("1", A) ",\"algorithms\":\"all\",\"next\":[\"" B "\",\"nonsense\",\"" C "\"]}\n",
		RUN("2", C) ",\"algorithms\":\"all\"}\n", (struct serving){ 0 });
	ok(strstr(said, "\"type\":\"done\",\"id\":2,\"status\":\"ok\""), "both are measured");
	ok(strstr(said, "\"algorithms\":\"all\",\"caches\""), "with all algorithms, as the end says");
	const char *end = strstr(said, "compiled ");
	ok(end && strncmp(end, "compiled 18 twice 0 raw 0 all 3\n", 32) == 0,
		"the next ones were compiled with the first: %s", end ? end : "nothing");
}

/* One of the next problems does not compile: the job in hand is not to blame. */
static void test_next_hangs(void)
{
	fake.hangs = 1;
	served_by_parent(RUN("1", A) ",\"next\":[\"" B "\"]}\n", "",
		(struct serving){ .next_limit_ms = 300 });
	fake.hangs = 0;
	ok(strstr(said, "\"done\",\"id\":1,\"status\":\"failed\",\"why\":\"compiling for one of the next "
			"problems does not end: " B "\",\"leaves\":true,\"retry\":true"),
		"the job may be sent again, and the reason names the other: %s", said);
}

int main(void)
{
	test_next();
	test_next_hangs();
	test_all();
	test_round();
	test_limits();
	test_cancelled();
	test_no_device();
	test_served();
	return done_testing();
}
