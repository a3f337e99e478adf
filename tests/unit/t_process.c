/* One runner as a child process: what it prints, how it ends, and how it is stopped. The runners are shell
 * scripts; no test waits for a time that depends on the load. */
#include "config.h"

#include "drive/runner_process.h"
#include "drive/runner_spawn.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "store_help.h"

#define PATIENCE_S 60

static struct error err;
static char hello[512]; /* path of a file with a hello */

/* Starts the script; each $H in it is `cat` of a file with a hello. */
static struct runner_process *start(const char *script)
{
	static char whole[4096];
	snprintf(whole, sizeof(whole), "H='cat %s'; %s", hello, script);
	const char *argv[] = { "sh", "-c", whole, NULL };
	err.text[0] = '\0';
	struct runner_process *p = runner_process_start(argv, NULL, &err);
	if (!p)
		printf("# %s\n", err.text);
	return p;
}

/* Waits for the next message. Returns what runner_process_read does, or -2 if nothing comes. */
static int next(struct runner_process *p, struct wire_message *m)
{
	int got = 0;
	for (time_t until = time(NULL) + PATIENCE_S; got == 0; got = runner_process_read(p, m, &err)) {
		struct pollfd at = { .fd = runner_process_fd(p), .events = POLLIN };
		if (time(NULL) > until)
			return -2;
		poll(&at, 1, 1000);
	}
	return got;
}

/* Reads until the hello. */
static bool greets(struct runner_process *p)
{
	struct wire_message m;
	for (time_t until = time(NULL) + PATIENCE_S; p && !runner_process_device(p);) {
		struct pollfd at = { .fd = runner_process_fd(p), .events = POLLIN };
		if (runner_process_read(p, &m, &err) < 0 || time(NULL) > until)
			return false;
		poll(&at, 1, 100);
	}
	return p != NULL;
}

/* How scripts end, the error of that, and whether the queue takes it as the problem's fault. */
static void test_ends(void)
{
	static const struct {
		const char *script, *error;
		enum runner_end end;
	} cases[] = {
		{ "exit 0", "the runner sh ended with status 0", RUNNER_END_EXITED },
		{ "exit 3", "the runner sh ended with status 3", RUNNER_END_DIED },
		{ "echo 'benanza-runner-cpu: no driver: old' >&2; exit 3",
			"no driver: old; the runner sh ended with status 3", RUNNER_END_DIED },
		{ "echo 'another: no driver' >&2; exit 3",
			"another: no driver; the runner sh ended with status 3", RUNNER_END_DIED },
		{ "echo benanza-runner-cpu >&2; exit 3",
			"benanza-runner-cpu; the runner sh ended with status 3", RUNNER_END_DIED },
		{ "echo no driver >&2; kill -11 $$",
			"the runner sh was killed by signal 11 (Segmentation fault); last output: no driver",
			RUNNER_END_DIED },
		{ "echo Hi; echo Welcome; exit 4",
			"the runner sh ended with status 4; instead of a hello it printed: Welcome",
			RUNNER_END_DIED },
		{ "printf 'Welcome\\nPassword: '; exit 4",
			"the runner sh ended with status 4 in the middle of a line; "
			"instead of a hello it printed: Password: ",
			RUNNER_END_DIED },
		{ "kill -9 $$", "the runner sh was killed by signal 9 (Killed)", RUNNER_END_KILLED },
		{ "kill -15 $$", "the runner sh was killed by signal 15 (Terminated)", RUNNER_END_KILLED },
		{ "kill -1 $$", "the runner sh was killed by signal 1 (Hangup)", RUNNER_END_KILLED },
		{ "kill -6 $$", "the runner sh was killed by signal 6 (Aborted)", RUNNER_END_DIED },
		{ "$H; exit 137",
			"the runner sh ended with status 137 (its program was killed by signal 9, Killed)",
			RUNNER_END_KILLED },
		{ "$H; exit 139",
			"the runner sh ended with status 139 (its program was killed by signal 11, "
			"Segmentation fault)",
			RUNNER_END_DIED },
		{ "$H; exit 128", "the runner sh ended with status 128", RUNNER_END_DIED },
		{ "$H; exit 255", "the runner sh ended with status 255", RUNNER_END_DIED },
		{ "$H; exit 0", "the runner sh ended with status 0", RUNNER_END_EXITED },
		{ "echo Welcome; $H; printf '{\"type\"'; exit 2",
			"the runner sh ended with status 2 in the middle of a line", RUNNER_END_DIED },
		{ "$H; printf 'one\\n' >&2; exit 2", "the runner sh ended with status 2; last output: one",
			RUNNER_END_DIED },
		{ "$H; printf 'a\\nb  \\t\\r\\nc\\n\\n  \\nd e\\n' >&2; exit 2",
			"the runner sh ended with status 2; last output: b | c | d e", RUNNER_END_DIED },
		{ "$H; printf 'a\\nb\\nc\\nd\\ne\\nf' >&2; exit 2",
			"the runner sh ended with status 2; last output: d | e | f", RUNNER_END_DIED },
		{ "$H; echo 'Connection closed by remote host' >&2; echo Bye >&2; exit 1",
			"the runner sh ended with status 1; last output: "
			"Connection closed by remote host | Bye",
			RUNNER_END_KILLED },
		{ "$H; echo '{\"type\":\"odd\"}'; sleep 1000",
			"the runner sh sent an invalid message (unknown message type \"odd\"): "
			"{\"type\":\"odd\"}",
			RUNNER_END_NONE },
		{ "$H; $H; sleep 1000",
			"the runner sh sent two hellos: its command must start only one process (srun: -n1)",
			RUNNER_END_UNUSABLE },
		{ "$H; echo '{\"type\":\"quit\"}'; sleep 1000",
			"the runner sh echoed a message; does its command use a terminal, as ssh -t does? "
			"Use ssh -T: {\"type\":\"quit\"}",
			RUNNER_END_NONE },
		{ "$H; exec >&-; sleep 1000",
			"the runner sh closed its output without ending; it was killed", RUNNER_END_NONE },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct runner_process *p = start(cases[i].script);
		struct wire_message m;
		is_int(next(p, &m), -1, "%s: it ends", cases[i].script);
		is_str(err.text, cases[i].error, "its error");
		is_int(runner_process_end(p), cases[i].end, "how it ended");
		runner_process_kill(p);
	}
}

/* Long texts are cut in errors, at a fixed length. */
static void test_long_texts(void)
{
	struct wire_message m;
	char bytes[400];
	struct runner_process *p = start("$H; printf '%0400d' 0; echo; sleep 1000");
	is_int(next(p, &m), -1, "a long invalid line");
	snprintf(bytes, sizeof(bytes), ": %0120d", 0);
	const char *at = strstr(err.text, "): 0");
	is_str(at ? at + 1 : err.text, bytes, "120 bytes of it are shown");
	runner_process_kill(p);
	p = start("$H; printf '%0300d' 0 >&2; exit 2");
	is_int(next(p, &m), -1, "a long last line");
	snprintf(bytes, sizeof(bytes), "the runner sh ended with status 2; last output: %0199d", 0);
	is_str(err.text, bytes, "199 bytes of it are shown");
	runner_process_kill(p);
	p = start("printf '%0300d' 0; exit 2");
	is_int(next(p, &m), -1, "a long line instead of a hello");
	snprintf(bytes, sizeof(bytes),
		"the runner sh ended with status 2 in the middle of a line; "
		"instead of a hello it printed: %0199d",
		0);
	is_str(err.text, bytes, "199 bytes of it are shown");
	runner_process_kill(p);
	p = start("head -c 65537 /dev/zero | tr '\\0' x; sleep 1000");
	is_int(next(p, &m), -1, "more than 64 KiB without an end of line");
	snprintf(bytes, sizeof(bytes), "the runner sh sent a line that is too long: %.60s",
		"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
	is_str(err.text, bytes, "60 bytes of it are shown");
	runner_process_kill(p);
	p = start("head -c 60000 /dev/zero | tr '\\0' x; echo; $H; sleep 1000");
	ok(greets(p), "less before the hello is a banner");
	runner_process_kill(p);
	p = start("for i in 1 2 3 4 5 6 7; do head -c 10000 /dev/zero | tr '\\0' x; echo; done; $H; "
		  "sleep 1000");
	is_int(next(p, &m), -1, "seven lines of 10000 bytes are more than 64 KiB");
	has(err.text, "the runner sh printed 64 KiB and no hello; is it a benanza runner? Its last line: xxx",
		"no runner");
	runner_process_kill(p);
	p = start("$H; printf '{\"type\":\"log\",\"what\":\"1\",\"x\":\"%070000d\"}\\n' 0; sleep 1000");
	is_int(next(p, &m), 1, "a message of 70000 bytes after the hello");
	is_str(m.what, "1", "is read");
	wire_free(&m);
	runner_process_kill(p);
	p = start("$H; head -c 70000 /dev/zero | tr '\\0' '\\n'; sleep 1000");
	is_int(next(p, &m), -1, "empty lines without end");
	is_str(err.text, "the runner sh sent too many empty lines", "are not read for ever");
	runner_process_kill(p);
}

/* Messages that come in parts or several at once. */
static void test_parts(void)
{
	struct wire_message m, go = { .type = WIRE_LOG, .problem = "", .what = "" };
	struct runner_process *p = start(
		"$H; printf '\\n{\"type\":\"log\",\"what\":\"1\"}\\n{\"type\":\"log\",\"what\":\"2\"}\\n\\n"
		"{\"type\":\"log\",\"wh'; read x; printf 'at\":\"3\"}\\n{\"ty'; read x; "
		"printf 'pe\":\"log\",\"what\":\"4\"}'; read x; echo; cat");
	for (int i = 1; i <= 4; i++) {
		char want[2] = { (char)('0' + i), '\0' };
		for (int sends = i == 4 ? 2 : i == 3; sends > 0; sends--)
			runner_process_send(p, &go, &err);
		is_int(next(p, &m), 1, "message %d", i);
		is_str(m.what, want, "in order");
		wire_free(&m);
		ok(runner_process_device(p) && runner_process_silence_ms(p) >= 0, "the device stays known");
	}
	is_int(runner_process_read(p, &m, &err), 0, "then no further message");
	ok(runner_process_silence_ms(p) < PATIENCE_S * 1000, "the time since the last one");
	ok(!runner_process_is_remote(p), "a shell runs here");
	runner_process_kill(p);
}

/* What it prints instead of a hello. */
static void test_no_hello(void)
{
	struct wire_message m;
	char wanted[] = "the runner sh did not start within 0.25 s (no hello); last output: slow; "
			"instead of a hello it printed: Login:";
	struct runner_process *p = start("echo slow >&2; printf 'Login:'; sleep 1000");
	for (time_t until = time(NULL) + PATIENCE_S; strcmp(err.text, wanted) != 0 && time(NULL) < until;) {
		is_int(runner_process_read(p, &m, &err), 0, "no message");
		ok(!runner_process_device(p) && !runner_process_waits(p), "no device, and no queue");
		is_int(runner_process_no_hello(p, 0.25, &err), -1, "no hello");
		struct pollfd at = { .fd = runner_process_fd(p), .events = POLLIN };
		poll(&at, 1, 100);
	}
	is_str(err.text, wanted, "the error has both outputs");
	runner_process_kill(p);
}

/* The wait in a cluster's queue ends with the next line, or the hello; the limit counts from then. */
static void test_waits(void)
{
	struct wire_message m, go = { .type = WIRE_LOG, .problem = "", .what = "" };
	struct runner_process *p = start(
		"echo 'srun: job 1 queued and waiting for resources' >&2; read x; "
		"echo 'srun: job 1 has been allocated' >&2; read x; $H; echo 'queued and waiting for "
		"resources' >&2; echo '{\"type\":\"log\",\"what\":\"1\"}'; cat");
	int64_t started = runner_process_ready_ms(p);
	struct pollfd at = { .fd = runner_process_fd(p), .events = POLLIN };
	for (int i = 0; i < PATIENCE_S * 10 && !runner_process_waits(p); i++) {
		poll(&at, 1, 100);
		runner_process_read(p, &m, &err);
	}
	is_str(runner_process_waits(p), "srun: job 1 queued and waiting for resources", "it waits");
	is_int(runner_process_ready_ms(p), started, "from its start");
	nanosleep(&(struct timespec){ 0, 2000000 }, NULL); /* the clock's step is 1 ms */
	runner_process_send(p, &go, &err);
	for (int i = 0; i < PATIENCE_S * 10 && runner_process_waits(p); i++) {
		poll(&at, 1, 100);
		runner_process_read(p, &m, &err);
	}
	ok(!runner_process_waits(p) && !runner_process_device(p), "the wait ends with the next line");
	ok(runner_process_ready_ms(p) > started, "the limit for the hello counts from then");
	runner_process_send(p, &go, &err);
	is_int(next(p, &m), 1, "a hello and a message");
	wire_free(&m);
	ok(runner_process_device(p) && !runner_process_waits(p), "after the hello no line is a wait");
	runner_process_kill(p);
}

/* The input of a runner that does not read wakes the caller when there is room, and not before or after. */
static void test_input(void)
{
	char script[1400], gate[512], *text = base_malloc(50001);
	struct wire_message m, big = { .type = WIRE_LOG, .problem = "", .what = text };
	struct stat st = { 0 };
	memset(text, 'x', 50000);
	text[50000] = '\0';
	char *line = wire_format(&big), *quit = wire_format(&(struct wire_message){ .type = WIRE_QUIT });
	long all = 8 * (long)strlen(line), end = (long)strlen(quit);
	free(line);
	free(quit);
	snprintf(gate, sizeof(gate), "%s", scratch_path("gate"));
	mkfifo(gate, 0600);
	snprintf(script, sizeof(script), "$H; read x <'%s'; cat >'%s'", gate, scratch_path("input"));
	struct runner_process *p = start(script);
	ok(greets(p), "a hello");
	struct pollfd at = { .fd = runner_process_fd(p), .events = POLLIN };
	for (int i = 0; i < 8; i++)
		is_int(runner_process_send(p, &big, &err), 0, "message %d of 50000 bytes is queued", i);
	is_int(poll(&at, 1, 0), 0, "there is nothing to do while it does not read");
	int fd = open(gate, O_WRONLY);
	ok(write(fd, "go\n", 3) == 3, "it is let read");
	close(fd);
	is_int(poll(&at, 1, PATIENCE_S * 1000), 1, "that wakes the caller");
	for (time_t until = time(NULL) + PATIENCE_S; st.st_size < all && time(NULL) < until;) {
		poll(&at, 1, 5);
		runner_process_read(p, &m, &err);
		stat(scratch_path("input"), &st);
	}
	is_int(st.st_size, all, "all arrives");
	is_int(runner_process_read(p, &m, &err), 0, "it prints nothing");
	is_int(poll(&at, 1, 0), 0, "and there is nothing to do any more");
	runner_process_quit(p);
	is_int(runner_process_send(p, &big, &err), 0, "after a quit messages are dropped");
	runner_process_quit(p);
	is_int(next(p, &m), -1, "the end of its input ends it");
	is_int(runner_process_end(p), RUNNER_END_EXITED, "by itself");
	stat(scratch_path("input"), &st);
	is_int(st.st_size, all + end, "one quit is sent");
	runner_process_kill(p);
	free(text);
}

/* What the script wrote to a file before it was stopped so. */
static char *stopped(const char *script, int quit_ms, int term_ms)
{
	char whole[1400];
	size_t n;
	unlink(scratch_path("stopped"));
	snprintf(whole, sizeof(whole), script, scratch_path("stopped"));
	struct runner_process *p = start(whole);
	ok(greets(p), "a hello");
	runner_process_stop_within(p, quit_ms, term_ms);
	is_int(waitpid(-1, NULL, WNOHANG), -1, "no process is left");
	return file_read(scratch_path("stopped"), &n);
}

static void test_stop(void)
{
	static const char to_the_end[] = "$H; cat >/dev/null; echo end >'%s'",
			  for_ever[] = "trap 'echo term >\"$F\"; exit 1' TERM; F='%s'; $H; "
				       "while :; do sleep 0.01; done",
			  deaf[] = "trap '' TERM; F='%s'; $H; while :; do sleep 0.01; done";
	char *got = stopped(to_the_end, PATIENCE_S * 1000, 0);
	is_str(got, "end\n", "one that ends at the end of its input");
	free(got);
	got = stopped(for_ever, 1, PATIENCE_S * 1000);
	is_str(got, "term\n", "one that ends at SIGTERM");
	free(got);
	got = stopped(deaf, 0, 1);
	is_str(got, NULL, "one that must be killed");
	runner_process_stop(NULL);
	runner_process_kill(NULL);
}

/* Killing ends the whole process group: a pipe that all of them hold is closed. */
static void test_group(void)
{
	int ends[2];
	char byte;
	ok(pipe(ends) == 0, "a pipe"); /* inherited */
	struct runner_process *p = start("sleep 1000 & $H; sleep 1000");
	close(ends[1]);
	ok(greets(p), "a hello");
	runner_process_kill(p);
	struct pollfd at = { .fd = ends[0], .events = POLLIN };
	ok(poll(&at, 1, PATIENCE_S * 1000) == 1 && read(ends[0], &byte, 1) == 0, "no process holds it");
	close(ends[0]);
}

/* Number of open descriptors with these flags. */
static int descriptors_with(int flags)
{
	int n = 0;
	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) == flags;
	return n;
}

static int descriptors(void)
{
	return descriptors_with(0) + descriptors_with(FD_CLOEXEC);
}

/* Failed starts: the error, and no descriptor is left. */
static void test_failed_starts(void)
{
	const char *argv[] = { "/nonexistent/runner", NULL };
	int before = descriptors();
	ok(!runner_process_start(argv, NULL, &err), "no such command");
	is_str(err.text,
		"cannot start the runner /nonexistent/runner: No such file or directory; "
		"install it, or set another command under runners: in the configuration",
		"the error has the fix");
	is_int(descriptors(), before, "no descriptor is left");
	ok(!runner_process_start_agent("fake", argv, NULL, &err), "no such agent");
	is_str(err.text,
		"cannot start the agent fake: No such file or directory; install /nonexistent/runner, "
		"or set python: or another command under agents: in the configuration",
		"the error has the fix");
	is_int(descriptors(), before, "no descriptor is left");
	struct rlimit old, few;
	int low = dup(0); /* the first free one */
	close(low);
	getrlimit(RLIMIT_NOFILE, &old);
	for (int more = 0; more < 8; more++) {
		few = (struct rlimit){ (rlim_t)(low + more), old.rlim_max };
		setrlimit(RLIMIT_NOFILE, &few);
		struct runner_process *p = start("exit 0");
		setrlimit(RLIMIT_NOFILE, &old);
		ok(!p, "%d descriptors do not suffice", more);
		is_str(err.text, "cannot start the runner sh: Too many open files", "the error");
		is_int(descriptors(), before, "no descriptor is left");
	}
	int shared = descriptors_with(0);
	struct runner_process *p = start("$H; sleep 1000");
	ok(descriptors() > before && greets(p), "a start that succeeds");
	is_int(descriptors_with(0), shared, "other commands do not inherit its descriptors");
	runner_process_kill(p);
	is_int(descriptors(), before, "is closed");
}

/* A program whose standard descriptors are closed can start a runner. */
static void test_without_standard(void)
{
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		close(0);
		close(1);
		close(2);
		struct runner_process *p = start("$H; sleep 1000");
		bool good = greets(p);
		runner_process_kill(p);
		_exit(good ? 0 : 1);
	}
	int status = -1;
	waitpid(pid, &status, 0);
	is_int(status, 0, "without standard descriptors");
}

static pid_t starter; /* the process whose next fork leaves its child alone */

static void starter_ends(void)
{
	if (getpid() == starter)
		_exit(0);
}

static void child_waits(void)
{
	while (starter && getppid() == starter)
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
}

/* A program whose starter has ended before it is executed does not run. */
static void test_orphan(void)
{
	const char *argv[] = { "sh", "-c", "exit 3", NULL };
	int status = -1, fd[PIPE_COUNT];
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pthread_atfork(NULL, starter_ends, child_waits);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		starter = getpid();
		runner_spawn("orphan", "", argv, NULL, fd, &err);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	is_int(status, 0, "its starter has ended");
	waitpid(-1, &status, 0);
	is_int(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 127, "so the child ends as one that cannot run");
	prctl(PR_SET_CHILD_SUBREAPER, 0);
}

int main(void)
{
	signal(SIGHUP, SIG_DFL); /* the processes that it starts inherit it; nohup ignores it */
	scratch_make();
	char *line = wire_hello(&help_device);
	snprintf(hello, sizeof(hello), "%s", scratch_path("hello"));
	file_text(hello, line);
	free(line);
	test_ends();
	test_long_texts();
	test_parts();
	test_no_hello();
	test_waits();
	test_input();
	test_stop();
	test_group();
	test_failed_starts();
	test_without_standard();
	test_orphan();
	scratch_remove();
	return done_testing();
}
