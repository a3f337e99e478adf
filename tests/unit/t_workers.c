/* Several runners at one queue: nothing lost, nothing twice, whatever becomes of them. */
#include "config.h"

#include "drive/link.h"
#include "drive/queue_private.h"

#include <math.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "queue_help.h"

#define PROBLEMS 200

#define BROKEN_AFTER 8 /* a runner that dies on this many problems in a row is given up */

static void bench_prepare(struct bench *b, const char *program, const char *asked)
{
	static const char *const names[BENCH_RUNNERS] = { "a", "b", "c" };
	*b = (struct bench){ .config = { .budget_ms = 10, .problem_limit_ms = 60000, .device = asked },
		.argv = { program, NULL } };
	for (int i = 0; i < BENCH_RUNNERS; i++)
		b->runners[i] = (struct config_runner){
			.name = names[i], .argc = 1, .argv = b->argv, .count = 1, .env = b->env[i]
		};
	b->config.runners = b->runners;
	b->config.runner_count = BENCH_RUNNERS;
	unlink(scratch_path("log"));
	unlink(scratch_path("mark"));
	unlink(scratch_path("gate"));
	setenv("FAKE_LOG", scratch_path("log"), 1);
	setenv("FAKE_MARK", scratch_path("mark"), 1);
	setenv("FAKE_GATE", scratch_path("gate"), 1);
}

static const char *problem(int i)
{
	static char text[4][64];
	static int at;
	at = (at + 1) % 4;
	snprintf(text[at], sizeof(text[at]), "eltwise:f32,f32:relu:%dx64", i + 1);
	return text[at];
}

static void add(struct bench *b, int count)
{
	for (int i = 0; i < count; i++)
		queue_add(b->q, problem(i), false, false);
}

/* Lines of the runners' log that hold a text. */
static int logged(const char *text)
{
	char line[1024];
	int n = 0;
	FILE *f = fopen(scratch_path("log"), "r");
	while (f && fgets(line, sizeof(line), f))
		n += strstr(line, text) != NULL;
	if (f)
		fclose(f);
	return n;
}

/* How many of the problems have what one whole measurement gives: two algorithms, the first at its full time.
 */
static int whole(const struct results *r)
{
	int n = 0, count;
	for (int i = 0; i < PROBLEMS; i++) {
		const struct result *const *all = results_of(r, problem(i), &count);
		n += count == 2 && all[0]->stats.median + all[1]->stats.median == 3000;
	}
	return n;
}

static struct results *stored(const struct bench *b, const char *db, int *devices)
{
	struct store *s = store_open(scratch_path(db), true, &err);
	struct results *r = results_new();
	struct arena a = { 0 };
	struct device *list;
	int64_t *ids;
	struct str out = { 0 };
	*devices = -1;
	ok(s && store_check(s, &out, &err) == 0 && store_devices(s, &a, &list, &ids, devices, &err) == 0 &&
			store_load(s, store_device_find(s, queue_device(b->q), &err), r, &err) == 0,
		"the database is sound");
	arena_free(&a);
	str_free(&out);
	store_close(s);
	return r;
}

/* One of three dies half-way, one is another device. */
static void test_pool(void)
{
	struct bench b;
	int devices;
	bench_prepare(&b, fake, "a,b,c");
	b.env[0][0] = "FAKE_NAME=a";
	b.env[1][0] = "FAKE_NAME=b";
	b.env[1][1] = "FAKE_END=kill";
	b.env[1][2] = "FAKE_AT=10";
	b.env[2][0] = "FAKE_NAME=c";
	b.env[2][1] = "FAKE_MODEL=Another CPU";
	setenv("FAKE_ALL", "2", 1);
	bench_begin(&b, "pool.db");
	is_int(queue_connect(b.q, QUEUE_HELLO_LIMIT, &err), 0, "the first hello determines the device");
	is_int(queue_status(b.q).workers, 3, "three runners");
	is_int(queue_status(b.q).workers_up, 1, "one runner is started first");
	add(&b, PROBLEMS);
	/* one result of the killed attempt, then two of each problem */
	is_int(bench_run(&b), 2 * PROBLEMS + 1, "all results, none twice");
	struct queue_status s = queue_status(b.q);
	ok(s.done == PROBLEMS && s.failed == 0 && s.pending == 0 && s.running == 0,
		"every problem is done, none failed");
	is_int(whole(b.results), PROBLEMS, "each problem counts once, also the one whose runner was lost");
	is_int(logged("eltwise"), PROBLEMS + 1, "no runner was sent another problem");
	ok(logged("a eltwise") > 0 && logged("b eltwise") > 10, "the killed runner was restarted");
	is_int(logged("c eltwise"), 0, "another device was sent no problem");
	has(queue_worker(b.q, 2).out,
		"c: is Another CPU (fake 1.0, strict), but the other runners are Fake CPU", "it was refused");
	has(s.trouble, "results of two devices are never mixed", "the reason stays visible");
	ok(!s.trouble_past, "although all problems were measured");
	is_int(queue_worker(b.q, 0).ended + queue_worker(b.q, 1).ended, PROBLEMS,
		"each runner counts its jobs");
	struct results *kept = stored(&b, "pool.db", &devices);
	is_int(devices, 1, "one device is stored");
	is_int(whole(kept), PROBLEMS, "with the same results");
	results_free(kept);
	bench_close(&b);
	bench_begin(&b, "pool.db");
	is_int(queue_connect(b.q, QUEUE_HELLO_LIMIT, &err), 0,
		"the first runner connects again"); /* not c before it */
	add(&b, PROBLEMS);
	is_int(bench_run(&b), 0, "a second run has nothing to measure");
	bench_close(&b);
}

/* A runner that may have more processes has no more than there are problems. */
static int taken;

static void take(void *user, const struct result *r)
{
	(void)user;
	taken += r->stats.median == 7;
}

/* A runner that answers the kind but is given up is the reason, not the one that does not answer it. */
static void test_kind_of_broken(void)
{
	struct bench b;
	char text[2 * BROKEN_AFTER][64];
	bench_prepare(&b, fake, "a,b");
	b.env[0][0] = "FAKE_JOBS=problem";
	b.env[1][0] = "FAKE_JOBS=model";
	unsetenv("FAKE_ALL");
	bench_begin(&b, NULL);
	for (int i = 0; i < 2 * BROKEN_AFTER; i++) {
		snprintf(text[i], sizeof(text[i]), "eltwise:f32,f32:tanh:%dx64", i + 1);
		queue_add(b.q, text[i], false, false);
	}
	bench_run(&b);
	for (int i = BROKEN_AFTER; i < 2 * BROKEN_AFTER; i++)
		has(queue_why(b.q, text[i]), "problems in a row",
			"the runner that died is the reason of a job left");
	bench_close(&b);
	setenv("FAKE_ALL", "0", 1);
}

/* Each job names the problems that will follow it: what the other runners take is left out, and a job that is
 * sent again names none. */
static void test_next(void)
{
	struct bench b;
	bench_prepare(&b, fake, "a");
	b.config.algorithms = "all";
	b.env[0][0] = "FAKE_NAME=a";
	b.env[0][1] = "FAKE_NEXT=1";
	b.env[0][2] = "FAKE_END=255";
	b.env[0][3] = "FAKE_AT=3";
	bench_begin(&b, NULL);
	is_int(queue_limits(b.q)->problem, 10 * 60000, "all algorithms take ten times as long");
	add(&b, 5);
	bench_run(&b);
	is_int(logged("relu:1x64 4 next, eltwise:f32,f32:relu:2x64, all"), 1, "the first names the others");
	is_int(logged("relu:3x64 2 next, eltwise:f32,f32:relu:4x64, all"), 1, "one whose runner is lost");
	is_int(logged("relu:3x64 0 next, none, all"), 1, "names none when it is sent again");
	is_int(logged("relu:5x64 0 next, none, all"), 1, "the last has none");
	bench_close(&b);
	bench_prepare(&b, fake, "a,b");
	b.env[0][0] = "FAKE_NAME=a";
	b.env[0][1] = b.env[1][1] = "FAKE_NEXT=1";
	b.env[1][0] = "FAKE_NAME=b";
	setenv("FAKE_ALL", "20", 1);
	bench_begin(&b, NULL);
	add(&b, PROBLEMS);
	bench_run(&b);
	setenv("FAKE_ALL", "0", 1);
	ok(logged(" 31 next, ") > 10, "many: as many as a message may name");
	is_int(logged(" 10 next, "), 2, "two runners: half of the 20 or 21 that are left");
	bench_close(&b);
}

/* Only the last of three runners lists models: each job goes to a runner that answers it. */
static void test_kinds(void)
{
	struct bench b;
	bench_prepare(&b, fake, "a,b,c");
	for (int i = 0; i < BENCH_RUNNERS; i++) {
		b.env[i][0] = i == 0 ? "FAKE_NAME=a" : i == 1 ? "FAKE_NAME=b" : "FAKE_NAME=c";
		b.env[i][1] = i == 2   ? "FAKE_JOBS=problem model"
			      : i == 1 ? "FAKE_JOBS=none"
				       : "FAKE_JOBS=problem";
	}
	bench_begin(&b, NULL);
	queue_set_taker(b.q, "model", take, NULL);
	queue_add_job(b.q, "model", "good 0", false, false);
	is_int(bench_run(&b), 1, "a model alone: runners are started until one answers it");
	ok(taken == 1 && logged("c good 0") == 1, "the third one");
	for (int i = 1; i < 6; i++) {
		char name[16];
		snprintf(name, sizeof(name), "good %d", i);
		queue_add_job(b.q, "model", name, false, false);
	}
	add(&b, PROBLEMS);
	is_int(bench_run(&b), 5 + 2 * PROBLEMS, "models and problems");
	ok(taken == 6 && logged("good") == 6 && logged("c good") == 6, "all models are done by it");
	is_int(whole(b.results), PROBLEMS, "each problem once");
	ok(logged("a eltwise") && logged("b eltwise"), "also by the others");
	bench_close(&b);
}

static void test_count(void)
{
	struct bench b;
	int most = 0;
	bench_prepare(&b, fake, "a");
	b.runners[0].count = 5;
	bench_begin(&b, NULL);
	is_int(queue_status(b.q).workers, 5, "five runners");
	is_str(queue_worker(b.q, 4).label, "a #5", "each has a label");
	add(&b, 2);
	while (!queue_status(b.q).idle && queue_step(b.q, 1000, &err) >= 0) {
		int up = 0;
		for (int i = 0; i < 5; i++)
			up += b.q->workers[i].process != NULL;
		most = up > most ? up : most;
	}
	is_int(most, 2, "two runners are started for two problems");
	add(&b, 50);
	is_int(bench_run(&b), 2 * 48, "more problems");
	int busy = 0;
	for (int i = 0; i < 5; i++)
		busy += queue_worker(b.q, i).ended > 0;
	ok(busy > 2, "have more of them (%d)", busy);
	is_int(logged("eltwise"), 50, "each problem is measured by one runner");
	bench_close(&b);
}

static void test_names(void)
{
	static const struct {
		const char *device;
		bool runners;
		int workers;
	} cases[] = { { NULL, true, 1 }, { "a", true, 1 }, { "a:1,a:2", true, 2 }, { "b,c", true, 3 },
		{ "b, a", true, 2 }, { "a,nobody", false, 0 }, { "a,", true, 1 }, { ",a", false, 0 },
		{ "", false, 0 }, { "oneDNN 2.6.3 (OpenMP, avx2)", false, 0 } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench b;
		bench_prepare(&b, fake, cases[i].device);
		b.runners[2].count = 2;
		struct arena a = { 0 };
		const char *unknown = queue_unknown_runner(&b.config, &a);
		is_int(queue_has_runner(&b.config), cases[i].runners, "-d %s",
			cases[i].device ? cases[i].device : "nothing");
		is_str(unknown ? unknown : "",
			cases[i].device && strstr(cases[i].device, "nobody") ? "nobody" : "",
			"the unknown name");
		arena_free(&a);
		if (!cases[i].runners)
			continue;
		bench_begin(&b, NULL);
		is_int(queue_status(b.q).workers, cases[i].workers, "number of runners");
		bench_close(&b);
	}
}

/* One runner of this program name whose first process ends so. What becomes of its problem, and why. */
static enum job_state ended(const char *name, const char *how, bool once, char *why, size_t size)
{
	struct bench b;
	char path[600], end[64];
	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	if (symlink(fake, path) && access(path, X_OK))
		printf("# no %s\n", path);
	snprintf(end, sizeof(end), "FAKE_END=%s", how);
	bench_prepare(&b, path, "a");
	b.env[0][0] = end;
	b.env[0][1] = "FAKE_AT=1";
	if (!once)
		unsetenv("FAKE_MARK");
	bench_begin(&b, NULL);
	if (strcmp(how, "silent") == 0)
		queue_limits(b.q)->silence = 1000;
	add(&b, 1);
	is_int(bench_run(&b) >= 0, 1, "%s, %s: the queue goes on", name, how);
	enum job_state state = queue_state(b.q, problem(0));
	snprintf(why, size, "%s", queue_why(b.q, problem(0)));
	printf("# %s %s: asked %d times; %s\n", name, how, logged("eltwise"), why);
	bench_close(&b);
	return state;
}

/* What the problem is not to blame for it does not suffer from; but not for ever. */
/* What a list of devices means: which runners it names, and whether all of its names are runners. */
static void test_lists(void)
{
	static const struct {
		const char *device;
		bool has, uses[BENCH_RUNNERS];
		const char *unknown;
	} rows[] = {
		{ "a", true, { true, false, false }, NULL },
		{ "c", true, { false, false, true }, NULL },
		{ "a,c", true, { true, false, true }, NULL },
		{ "a, b", true, { true, true, false }, NULL },
		{ "a,x", false, { false, false, false }, "x" },
		{ "x,b,y", false, { false, false, false }, "x" },
		{ "x,y", false, { false, false, false }, NULL }, /* a model of CPU with a comma in its name */
		{ "", false, { false, false, false }, NULL },
		{ NULL, true, { false, false, false }, NULL },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bench b;
		struct arena a = { 0 };
		const char *name = rows[i].device ? rows[i].device : "none given";
		bench_prepare(&b, fake, rows[i].device);
		is_int(queue_has_runner(&b.config), rows[i].has, "\"%s\": all names are runners", name);
		for (int k = 0; k < BENCH_RUNNERS; k++)
			is_int(queue_uses_runner(&b.config, &b.runners[k]), rows[i].uses[k],
				"\"%s\": runner %d is used", name, k);
		is_str(queue_unknown_runner(&b.config, &a), rows[i].unknown, "\"%s\": its unknown name",
			name);
		arena_free(&a);
	}
	struct bench b;
	bench_prepare(&b, fake, NULL);
	b.config.runner_count = 0;
	ok(!queue_has_runner(&b.config), "no runners");
}

/* Number of open descriptors. */
static int descriptors(void)
{
	int n = 0;
	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* A queue closes all pipes of its runners, whatever became of them. */
static void test_descriptors(void)
{
	static const char *const ends[] = { "FAKE_END=none", "FAKE_END=kill" };
	for (int i = 0; i < 2; i++) {
		struct bench b;
		bench_prepare(&b, fake, "a,b");
		b.env[0][0] = ends[i];
		int before = descriptors();
		bench_begin(&b, NULL);
		add(&b, 5);
		bench_run(&b);
		ok(descriptors() > before, "%s: runners have pipes", ends[i]);
		bench_close(&b);
		is_int(descriptors(), before, "%s: they are closed", ends[i]);
	}
}

/* The problem of a runner that was lost is the next one, before those that wait. */
static void test_put_back(void)
{
	struct bench b;
	char line[1024], order[64] = "";
	bench_prepare(&b, fake, "a");
	b.env[0][0] = "FAKE_END=kill";
	b.env[0][1] = "FAKE_AT=2";
	bench_begin(&b, NULL);
	queue_limits(b.q)->restart = 1;
	add(&b, 4);
	ok(bench_run(&b) > 0, "four problems");
	FILE *f = fopen(scratch_path("log"), "r");
	for (int size; f && fgets(line, sizeof(line), f);)
		if (sscanf(line, "%*s eltwise:f32,f32:relu:%d", &size) == 1)
			snprintf(order + strlen(order), sizeof(order) - strlen(order), "%d ", size);
	if (f)
		fclose(f);
	is_str(order, "1 2 2 3 4 ", "the second is measured again at once");
	bench_close(&b);
}

static void test_links(void)
{
	char why[ERROR_TEXT_SIZE];
	is_int(ended("ssh", "255", true, why, sizeof(why)), JOB_DONE,
		"a lost connection: measured by another runner");
	is_int(ended("ssh", "255", false, why, sizeof(why)), JOB_FAILED,
		"a connection that is lost at every try: not for ever");
	is_int(logged("eltwise"), 3, "three tries");
	has(why, "ended with status 255", "the reason is reported");
	is_int(ended("ssh", "silent", true, why, sizeof(why)), JOB_DONE, "no connection");
	is_int(ended("runner", "silent", true, why, sizeof(why)), JOB_FAILED,
		"a local runner that hangs fails the problem");
	is_int(ended("runner", "kill", true, why, sizeof(why)), JOB_DONE, "killed from outside");
	is_int(ended("runner", "kill", false, why, sizeof(why)), JOB_FAILED,
		"killed from outside every time");
	is_int(ended("runner", "left", true, why, sizeof(why)), JOB_DONE,
		"a runner that exits before it starts the job");
	is_int(ended("runner", "left", false, why, sizeof(why)), JOB_FAILED, "every time");
	static const struct {
		const char *program;
		int status;
		bool taken;
	} ends[] = { { "/usr/bin/ssh", 255 << 8, true }, { "sh", 255 << 8, false }, { "ssh", 1 << 8, false },
		{ "srun", (128 + SIGKILL) << 8, true }, { "srun", (128 + SIGSEGV) << 8, false },
		{ "x", SIGSEGV, false }, { "podman", (128 + SIGKILL) << 8, true },
		{ "docker", 255 << 8, false }, { "x", SIGTERM, true }, { "x", 0, false },
		{ "x", 128 << 8, false }, { "srun", 1 << 8, false }, { "bsub", 1 << 8, false },
		{ "qsub", 1 << 8, false }, { "flux", 1 << 8, false }, { "kubectl", 1 << 8, false },
		{ "kubectl", 255 << 8, false } };
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		is_int(link_was_killed(ends[i].program, ends[i].status), ends[i].taken, "%s, status %#x",
			ends[i].program, ends[i].status);
	is_int(link_inner_signal((128 + SIGKILL) << 8), SIGKILL,
		"podman's status when its program was killed");
	is_int(link_inner_signal(SIGKILL) | link_inner_signal(3 << 8) | link_inner_signal(255 << 8), 0,
		"no signal inside");
	ok(link_waits("srun: job 7 queued and waiting for resources") &&
			!link_waits("srun: job 7 has been allocated resources"),
		"a queue");
	ok(link_is_lost("srun: error: Node failure on node3") &&
			!link_is_lost("srun: error: node3: task 0: Segmentation fault"),
		"a node");
}

/* Nothing to do: it goes, without a word of trouble, and comes back. */
static void test_idle(void)
{
	struct bench b;
	bench_prepare(&b, fake, "a");
	bench_begin(&b, NULL);
	queue_limits(b.q)->idle = 1;
	add(&b, 1);
	is_int(bench_run(&b), 2, "a problem");
	for (int i = 0; i < 1000 && queue_fd(b.q) >= 0; i++)
		queue_step(b.q, 100, &err);
	is_int(queue_fd(b.q), -1, "a runner without a job is sent a quit");
	ok(queue_status(b.q).workers_up == 0 && queue_device(b.q), "the device stays known");
	add(&b, 2);
	is_int(bench_run(&b), 2, "a runner is started for the next problem");
	is_str(queue_status(b.q).trouble, "", "without trouble");
	bench_close(&b);

	bench_prepare(&b, fake, "a");
	b.env[0][0] = "FAKE_END=idle";
	b.env[0][1] = "FAKE_AT=1";
	unsetenv("FAKE_MARK");
	bench_begin(&b, NULL);
	for (int i = 0; i < 12; i++) {
		queue_add(b.q, problem(i), false, false);
		for (int n = 0; n < 1000 && queue_state(b.q, problem(i)) != JOB_DONE; n++)
			queue_step(b.q, 100, &err);
		for (int n = 0; n < 1000 && queue_fd(b.q) >= 0; n++)
			queue_step(b.q, 100, &err);
	}
	is_int(queue_status(b.q).done, 12, "a runner that exits by itself each time does not count as dead");
	is_str(queue_status(b.q).trouble, "", "without trouble");
	bench_close(&b);
}

static int said;

static void open_the_gate(const char *line)
{
	has(line, "srun: job 12 queued and waiting for resources", "the wait is reported");
	said++;
	close(open(scratch_path("gate"), O_WRONLY | O_CREAT, 0666));
}

static void test_waiting(void)
{
	struct bench b;
	bench_prepare(&b, fake, "a");
	b.env[0][0] = "FAKE_HELLO=waits";
	bench_begin(&b, NULL);
	queue_limits(b.q)->hello = 5000;
	queue_connect(b.q, 0, &err);
	for (int i = 0; i < 1000 && !queue_status(b.q).waiting[0]; i++)
		queue_step(b.q, 100, &err);
	has(queue_status(b.q).waiting, "queued and waiting", "a wait in a cluster's queue is shown");
	queue_limits(b.q)->hello = 1;
	for (int i = 0; i < 20; i++)
		queue_step(b.q, 5, &err);
	ok(queue_status(b.q).starting && !queue_status(b.q).trouble[0],
		"it does not count as a missing hello");
	ok(queue_status(b.q).waiting_s > 0, "the time of the wait");
	queue_limits(b.q)->hello = 20000;
	open_the_gate(queue_status(b.q).waiting);
	for (int i = 0; i < 1000 && !queue_device(b.q); i++)
		queue_step(b.q, 100, &err);
	ok(queue_device(b.q) && !queue_status(b.q).waiting[0], "the wait ends");
	bench_close(&b);

	unlink(scratch_path("gate"));
	bench_begin(&b, NULL);
	said = 0;
	queue_set_report(b.q, open_the_gate);
	is_int(queue_connect(b.q, QUEUE_HELLO_LIMIT, &err), 0, "queue_connect waits for it");
	is_int(said, 1, "the wait is reported once");
	bench_close(&b);
	unlink(scratch_path("gate"));
	bench_begin(&b, NULL);
	is_int(queue_connect(b.q, 300, &err), -1, "but no longer than its timeout");
	bench_close(&b);
}

static void test_surroundings(void)
{
	struct bench b;
	bench_prepare(&b, fake, "a");
	b.config.threads = 3;
	b.env[0][0] = "FAKE_MODEL=Of its own";
	b.env[0][1] = "OMP_NUM_THREADS=2";
	setenv("SLURM_LABELIO", "1", 1);
	bench_begin(&b, NULL);
	is_int(queue_connect(b.q, QUEUE_HELLO_LIMIT, &err), 0, "connected");
	is_str(queue_device(b.q)->model, "Of its own",
		"the runner's variables are set, those of link_variables are removed");
	is_int(queue_device(b.q)->threads, 2, "they override those of all runners");
	unsetenv("SLURM_LABELIO");
	bench_close(&b);
}

/* A second hello in the middle: whatever it is now, its results are not to be had. */
static void test_second_hello(void)
{
	struct bench b;
	const char *twice = "eltwise:f32,f32:pow,1,2:1x64";
	unsetenv("FAKE_ALL");
	bench_prepare(&b, fake, "a,b");
	bench_begin(&b, NULL);
	queue_add(b.q, twice, false, false);
	is_int(bench_run(&b), -1, "two hellos of each runner: none is used");
	has(err.text, "sent two hellos", "the error has the reason");
	is_int(queue_status(b.q).failed, 0, "no problem fails");
	is_int(queue_status(b.q).pending, 1, "it can be added again");
	bench_close(&b);
	bench_prepare(&b, fake, "a");
	b.env[0][0] = "FAKE_HELLO=twice";
	bench_begin(&b, NULL);
	add(&b, 1);
	is_int(bench_run(&b), -1, "two hellos at once");
	has(err.text, "sent two hellos", "are refused");
	is_int(queue_status(b.q).pending, 1, "for the problem");
	bench_close(&b);
	setenv("FAKE_ALL", "0", 1);
}

/* Two at one device are let work, but it is said. */
static void test_shared(void)
{
	struct bench b;
	for (int i = 0; i < 2; i++) {
		bench_prepare(&b, fake, "a,b");
		b.env[0][0] = "FAKE_UUID=GPU-0001";
		b.env[1][0] = i ? "FAKE_UUID=GPU-0001" : "FAKE_UUID=GPU-0002";
		bench_begin(&b, NULL);
		add(&b, 20);
		while (queue_status(b.q).workers_up < 2 && queue_step(b.q, 100, &err) >= 0)
			;
		ok((strstr(queue_status(b.q).trouble, "measure on the same device") != NULL) == (i == 1),
			"%s", i ? "two runners on one GPU are noticed" : "on two GPUs they are welcome");
		bench_close(&b);
	}
	const struct device one = { .host = "h", .attributes = "{\"cores\":[0,1]}" },
			    two = { .host = "h", .attributes = "{\"cores\":[1,2]}" },
			    three = { .host = "h", .attributes = "{\"cores\":[2,3]}" },
			    far = { .host = "g", .attributes = "{\"cores\":[0,1]}" },
			    odd = { .host = "h", .attributes = "[\"cores\"" };
	ok(device_is_same_hardware(&one, &two) && !device_is_same_hardware(&one, &three) &&
			!device_is_same_hardware(&one, &far) && !device_is_same_hardware(&one, &odd) &&
			!device_is_same_hardware(&odd, &odd),
		"a CPU by its cores");
}

/* Threads that are asked for by a variable, which does not get through every command. */
static void test_threads(void)
{
	struct bench b;
	bench_prepare(&b, fake, "a,b");
	b.env[0][0] = "FAKE_THREADS=1";
	b.env[1][0] = "FAKE_THREADS=2";
	b.config.threads = 1;
	bench_begin(&b, "threads.db");
	is_int(queue_connect(b.q, QUEUE_HELLO_LIMIT, &err), 0,
		"a runner with the configured number of threads");
	is_str(queue_worker(b.q, 0).note, "", "has no note");
	add(&b, 20);
	bench_run(&b);
	has(queue_worker(b.q, 1).out,
		"results of two devices are never mixed; measure it separately, with -d b",
		"a runner with more threads is another device");
	is_int(queue_worker(b.q, 1).ended, 0, "it measures nothing here");
	bench_close(&b);
	b.config.device = "b";
	bench_begin(&b, "threads.db");
	is_int(queue_connect(b.q, QUEUE_HELLO_LIMIT, &err), 0, "alone it is accepted");
	is_int(results_problem_count(b.results), 0, "the results of the other device are not loaded");
	has(queue_worker(b.q, 0).note, "b measures with 2 threads, not with the configured 1",
		"the number of threads is noted");
	queue_add(b.q, problem(0), false, false);
	is_int(bench_run(&b), 2, "it measures");
	has(queue_worker(b.q, 0).note, "--threads 1", "the note stays, with the fix");
	is_int(store_device_find(b.store, queue_device(b.q), &err), 2,
		"its results have a device of their own");
	bench_close(&b);
	static const struct {
		int asked;
		const char *has, *name;
	} quiet[] = { { 0, "FAKE_THREADS=2", "no number is asked for" },
		{ 1, "FAKE_THREADS=0", "a device that has no threads" },
		{ 2, "FAKE_THREADS=2", "as many as are asked for" } };
	for (size_t i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++) {
		b.config.threads = quiet[i].asked;
		b.env[1][0] = quiet[i].has;
		bench_begin(&b, NULL);
		is_int(queue_connect(b.q, QUEUE_HELLO_LIMIT, &err), 0, "%s", quiet[i].name);
		is_str(queue_worker(b.q, 0).note, "", "has no note");
		bench_close(&b);
	}
	b.env[1][0] = "FAKE_THREADS=1";
	bench_begin(&b, NULL);
	queue_connect(b.q, QUEUE_HELLO_LIMIT, &err);
	has(queue_worker(b.q, 0).note, "b measures with 1 thread, not with the configured 2",
		"one thread is fewer than two");
	bench_close(&b);
}

static void test_eta(void)
{
	struct bench b;
	bench_prepare(&b, fake, "a");
	b.runners[0].count = 4;
	bench_begin(&b, NULL);
	add(&b, 20);
	ok(isnan(queue_status(b.q).eta_s), "no estimate yet");
	for (int i = 0; i < b.q->list.count; i++)
		b.q->list.jobs[i].took_s = 1; /* measured before */
	b.q->list.version++;
	is_int((int)queue_status(b.q).eta_s, 20, "a second for each");
	for (int i = 0; i < 4; i++)
		b.q->workers[i].greeted = true;
	is_int((int)queue_status(b.q).eta_s, 5, "by four runners");
	for (int i = 0; i < 4; i++)
		b.q->workers[i].greeted = false;
	bench_close(&b);
}

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

/* At a terminal: a runner, then Ctrl-C, then the runner again. */
static void at_a_terminal(void)
{
	const char *argv[] = { fake, NULL };
	struct wire_message m = { 0 };
	signal(SIGINT, on_interrupt);
	struct runner_process *p = runner_process_start(argv, NULL, &err);
	for (int i = 0; p && i < 2000 && !runner_process_device(p); i++)
		if (runner_process_read(p, &m, &err) == 0)
			nanosleep(&(struct timespec){ 0, 5000000 }, NULL);
	printf("%s\n", p && runner_process_device(p) ? "ready" : "no runner");
	fflush(stdout);
	for (int i = 0; i < 4000 && !interrupted; i++)
		nanosleep(&(struct timespec){ 0, 5000000 }, NULL);
	struct wire_message run = { .type = WIRE_RUN,
		.id = 1,
		.problem = problem(0),
		.budget_ms = 1,
		.what = "",
		.caches = { [CACHE_NET] = true },
		.launches = { [LAUNCH_AMORTIZED] = true } };
	bool alive = interrupted && runner_process_send(p, &run, &err) == 0;
	int got = 0;
	for (int i = 0; alive && i < 2000 && got == 0; i++) {
		got = runner_process_read(p, &m, &err);
		nanosleep(&(struct timespec){ 0, 5000000 }, NULL);
	}
	printf("%s\n", !interrupted ? "not interrupted" : got == 1 ? "alive" : "dead");
	fflush(stdout);
	runner_process_kill(p);
	_exit(0);
}

static bool reads(int fd, const char *wanted)
{
	char all[1024];
	size_t n = 0;
	for (ssize_t got; n < sizeof(all) - 1 && (got = read(fd, all + n, sizeof(all) - 1 - n)) > 0;) {
		n += (size_t)got;
		all[n] = '\0';
		if (strstr(all, wanted))
			return true;
	}
	return false;
}

static void test_terminal(void)
{
	int terminal;
	pid_t pid = forkpty(&terminal, NULL, NULL, NULL);
	if (pid == 0)
		at_a_terminal();
	if (pid < 0) {
		printf("# no pseudo terminals here\n");
		return;
	}
	ok(reads(terminal, "ready"), "a runner of a program at a terminal");
	ok(write(terminal, "\x03", 1) == 1 && reads(terminal, "alive"), "is not ended by Ctrl-C");
	close(terminal);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	const char *dir = getenv("builddir");
	char here[256];
	if (dir && dir[0] == '/')
		snprintf(fake, sizeof(fake), "%s/tests/unit/fake_runner", dir);
	else /* symbolic links to it lie elsewhere */
		snprintf(fake, sizeof(fake), "%s/%s/tests/unit/fake_runner", getcwd(here, sizeof(here)),
			dir ? dir : ".");
	unsetenv("FAKE_HELLO");
	scratch_make();
	test_pool();
	setenv("FAKE_ALL", "0", 1);
	test_kinds();
	test_next();
	test_kind_of_broken();
	test_count();
	test_names();
	test_lists();
	test_descriptors();
	test_put_back();
	test_links();
	test_idle();
	test_waiting();
	test_surroundings();
	test_second_hello();
	test_shared();
	test_threads();
	test_eta();
	test_terminal();
	scratch_remove();
	return done_testing();
}
