/* Reads lines of a child process without blocking, recognizes the hello among what login shells print, and
 * turns the end of a process into a reason that a user understands. */
#include "config.h"

#include "drive/runner_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "drive/link.h"
#include "drive/runner_spawn.h"

#define BANNER_MAX (64 << 10) /* bytes of other output before the hello */
#define UNSENT_MAX (4 << 20)  /* bytes that the runner has not read yet */
#define READ_BLOCK (64 << 10)
#define LAST_LINES 3 /* lines of standard error in error texts */
#define LAST_LINE_SIZE 200

struct runner_process {
	char *program; /* argv[0] */
	char *title;   /* in messages: "the runner benanza-runner-cpu", "the agent ort" */
	pid_t pid;
	bool reaped;
	int status;	    /* of waitpid, once reaped */
	int fd[PIPE_COUNT]; /* the parent's ends; -1 once closed */
	int epoll;
	struct str unsent, line;
	bool input_watched; /* the epoll set has fd[PIPE_IN] */
	size_t line_at; /* offset in `line`: bytes before it are handled */
	size_t scanned; /* offset in `line`: no newline before it */
	size_t banner_bytes; /* of lines that are not messages: before the hello, and empty ones */
	struct arena arena;
	struct device device;
	bool hello;
	bool unusable;  /* another protocol, or several runners: restarting does not help */
	bool waits;     /* its last line of standard error reports a wait in a cluster's queue */
	bool lost;      /* a line of standard error reports a lost machine or connection */
	bool ended_ill; /* it closed its output without exiting */
	int64_t ready_ms; /* the limit for the hello counts from here */
	int64_t heard_ms; /* time of the last output */
	char last[LAST_LINES][LAST_LINE_SIZE]; /* last lines of standard error */
	int last_count;
	char banner[LAST_LINE_SIZE]; /* last line of output before the hello */
	char partial[LAST_LINE_SIZE]; /* incomplete line of standard error */
	size_t partial_n;
};

/* --- starting --- */

static void process_watch(struct runner_process *p, int which)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = p->fd[which] };
	fcntl(p->fd[which], F_SETFL, O_NONBLOCK);
	epoll_ctl(p->epoll, EPOLL_CTL_ADD, p->fd[which], &event);
}

/* title, fix: texts for messages. */
static struct runner_process *process_start(const char *title, const char *fix, const char *const *argv,
	const char *const *env_extra, struct error *err)
{
	int fd[PIPE_COUNT];
	pid_t pid = runner_spawn(title, fix, argv, env_extra, fd, err);
	if (pid < 0)
		return NULL;
	struct runner_process *p = base_calloc(1, sizeof(*p));
	p->program = base_strdup(argv[0]);
	p->title = base_strdup(title);
	p->pid = pid;
	memcpy(p->fd, fd, sizeof(fd));
	p->epoll = epoll_create1(EPOLL_CLOEXEC);
	process_watch(p, PIPE_OUT);
	process_watch(p, PIPE_ERR);
	fcntl(p->fd[PIPE_IN], F_SETFL, O_NONBLOCK);
	p->heard_ms = p->ready_ms = clock_ms();
	return p;
}

struct runner_process *runner_process_start(
	const char *const *argv, const char *const *env_extra, struct error *err)
{
	struct str title = { 0 };
	str_addf(&title, "the runner %s", argv[0]);
	struct runner_process *p = process_start(title.p,
		"install it, or set another command under runners: in the configuration", argv, env_extra,
		err);
	str_free(&title);
	return p;
}

struct runner_process *runner_process_start_agent(
	const char *name, const char *const *argv, const char *const *env_extra, struct error *err)
{
	struct str title = { 0 }, fix = { 0 };
	str_addf(&title, "the agent %s", name);
	str_addf(&fix, "install %s, or set python: or another command under agents: in the configuration",
		argv[0]);
	struct runner_process *p = process_start(title.p, fix.p, argv, env_extra, err);
	str_free(&title);
	str_free(&fix);
	return p;
}

int runner_process_fd(const struct runner_process *p)
{
	return p->epoll;
}

const struct device *runner_process_device(const struct runner_process *p)
{
	return p->hello ? &p->device : NULL;
}

int64_t runner_process_silence_ms(const struct runner_process *p)
{
	return clock_ms() - p->heard_ms;
}

const char *runner_process_waits(const struct runner_process *p)
{
	return p->waits && p->last_count ? p->last[p->last_count - 1] : NULL;
}

int64_t runner_process_ready_ms(const struct runner_process *p)
{
	return p->ready_ms;
}

bool runner_process_is_remote(const struct runner_process *p)
{
	return link_is_remote(p->program);
}

/* --- standard error --- */

static void process_stderr_line(struct runner_process *p)
{
	struct arena a = { 0 };
	while (p->partial_n && strchr("\r\t ", p->partial[p->partial_n - 1]))
		p->partial_n--;
	const char *clean = text_clean(&a, (struct text){ p->partial, p->partial_n });
	if (clean[0]) {
		log_line("%s: %s", p->program, clean);
		if (p->last_count == LAST_LINES)
			memmove(p->last[0], p->last[1], sizeof(p->last) - sizeof(p->last[0]));
		else
			p->last_count++;
		text_fit(p->last[p->last_count - 1], LAST_LINE_SIZE, clean);
		if (p->waits)
			p->ready_ms = clock_ms();
		p->waits = !p->hello && link_waits(clean);
		p->lost |= link_is_lost(clean);
	}
	arena_free(&a);
	p->partial_n = 0;
}

/* Reads what is available, at most 64 blocks, so that endless output does not block the caller. */
static void process_stderr(struct runner_process *p)
{
	char block[4096];
	for (int blocks = 0; blocks < 64 && p->fd[PIPE_ERR] >= 0; blocks++) {
		ssize_t n = read(p->fd[PIPE_ERR], block, sizeof(block));
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			close(p->fd[PIPE_ERR]); /* also removes it from the epoll set */
			p->fd[PIPE_ERR] = -1;
			break;
		}
		for (ssize_t i = 0; i < n; i++) {
			if (block[i] == '\n')
				process_stderr_line(p);
			else if (p->partial_n < sizeof(p->partial))
				p->partial[p->partial_n++] = block[i];
		}
	}
	if (p->fd[PIPE_ERR] < 0 && p->partial_n)
		process_stderr_line(p);
}

static void process_add_last_lines(struct runner_process *p, struct str *s)
{
	process_stderr(p);
	if (p->partial_n)
		process_stderr_line(p);
	for (int i = 0; i < p->last_count; i++)
		str_addf(s, "%s%s", i ? " | " : RUNNER_LAST_OUTPUT, p->last[i]);
}

/* Adds the output in place of a hello. A prompt ("Password:") has no newline, so an incomplete line comes
 * first. */
static void process_add_banner(struct runner_process *p, struct str *s)
{
	struct arena a = { 0 };
	struct text rest = { p->line.p + p->line_at, p->line.n - p->line_at };
	rest.n = rest.n < LAST_LINE_SIZE ? rest.n : LAST_LINE_SIZE - 1;
	const char *said = p->hello ? "" : rest.n ? text_clean(&a, rest) : p->banner;
	if (*said)
		str_addf(s, "; instead of a hello it printed: %s", said);
	arena_free(&a);
}

int runner_process_no_hello(struct runner_process *p, double waited_s, struct error *err)
{
	struct str s = { 0 };
	process_add_last_lines(p, &s);
	process_add_banner(p, &s);
	error_set(err, "%s did not start within %.3g s (no hello)%s", p->title, waited_s, s.n ? s.p : "");
	str_free(&s);
	return -1;
}

/* --- the end --- */

/* True if the process has ended. Does not reap it, so that the id of its process group is not reused yet. */
static bool process_has_ended(struct runner_process *p)
{
	siginfo_t info = { 0 };
	return p->reaped || (waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
				    info.si_pid == p->pid);
}

static void process_reap(struct runner_process *p)
{
	if (p->reaped)
		return;
	kill(-p->pid, SIGKILL); /* with all processes of its group */
	while (waitpid(p->pid, &p->status, 0) < 0 && errno == EINTR)
		;
	p->reaped = true;
}

static void sleep_ms(int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };
	nanosleep(&t, NULL);
}

/* Waits up to limit_ms for its end and discards its output. Returns whether it ended. */
static bool process_ends_within(struct runner_process *p, int64_t limit_ms)
{
	static char block[READ_BLOCK];
	for (int64_t until = clock_ms() + limit_ms; !process_has_ended(p);) {
		int64_t left = until - clock_ms();
		if (left <= 0)
			return false;
		process_stderr(p);
		ssize_t n = p->fd[PIPE_OUT] >= 0 ? read(p->fd[PIPE_OUT], block, sizeof(block)) : 0;
		struct pollfd at = { .fd = p->fd[PIPE_OUT], .events = POLLIN };
		if (n < 0 && errno == EAGAIN)
			poll(&at, 1, left < 20 ? (int)left : 20);
		else if (n <= 0)
			sleep_ms(1); /* its output is closed, so it will end soon */
	}
	return true;
}

enum runner_end runner_process_end(const struct runner_process *p)
{
	if (p->unusable)
		return RUNNER_END_UNUSABLE;
	if (!p->reaped || p->ended_ill)
		return RUNNER_END_NONE;
	if (WIFEXITED(p->status) && WEXITSTATUS(p->status) == 0)
		return RUNNER_END_EXITED;
	return p->lost || link_was_killed(p->program, p->status) ? RUNNER_END_KILLED : RUNNER_END_DIED;
}

/* Sets the error of a runner that exited before its hello. Its own reason comes first: "no NVIDIA driver
 * found ...; the runner X ended with status 3". Returns false if it printed no reason. */
static bool process_describe_refusal(struct runner_process *p, struct error *err)
{
	struct str s = { 0 };
	if (!p->hello && WIFEXITED(p->status))
		process_add_last_lines(p, &s);
	if (s.n) {
		const char *reason = s.p + strlen(RUNNER_LAST_OUTPUT), *prefix = strstr(reason, ": ");
		reason = strncmp(reason, "benanza-runner-", 15) == 0 && prefix ? prefix + 2 : reason;
		log_line("%s: status %d: %s", p->title, WEXITSTATUS(p->status), reason);
		error_set(err, "%s; %s ended with status %d", reason, p->title,
			WEXITSTATUS(p->status));
	}
	bool refused = s.n > 0;
	str_free(&s);
	return refused;
}

/* Sets the error "the runner X was killed by signal 11 (Segmentation fault); last output: ...". Always -1. */
static int process_describe_end(struct runner_process *p, const char *circumstance, struct error *err)
{
	struct str s = { 0 };
	if (process_describe_refusal(p, err))
		return -1;
	if (WIFSIGNALED(p->status))
		str_addf(&s, "killed by signal %d (%s)", WTERMSIG(p->status), strsignal(WTERMSIG(p->status)));
	else
		str_addf(&s, "ended with status %d", WEXITSTATUS(p->status));
	int inner = link_inner_signal(p->status);
	if (inner)
		str_addf(&s, " (its program was killed by signal %d, %s)", inner, strsignal(inner));
	str_addf(&s, "%s", circumstance);
	process_add_last_lines(p, &s);
	process_add_banner(p, &s);
	log_line("%s: %s", p->title, s.p);
	error_set(err, "%s%s %s", p->title, WIFSIGNALED(p->status) ? " was" : "", s.p);
	str_free(&s);
	return -1;
}

/* Its output is closed: waits briefly for its end, else kills it. Always -1. */
static int process_gone(struct runner_process *p, struct error *err)
{
	bool by_itself = process_ends_within(p, 500);
	bool midway = p->line.n > p->line_at;
	process_reap(p);
	p->ended_ill = !by_itself;
	if (!by_itself)
		return error_set(
			err, "%s closed its output without ending; it was killed", p->title);
	return process_describe_end(p, midway ? " in the middle of a line" : "", err);
}

/* --- messages --- */

/* While bytes are unsent, the descriptor to poll also becomes readable when the runner reads. */
static void process_watch_input(struct runner_process *p)
{
	bool wanted = p->fd[PIPE_IN] >= 0 && p->unsent.n > 0;
	struct epoll_event event = { .events = EPOLLOUT, .data.fd = p->fd[PIPE_IN] };
	if (p->fd[PIPE_IN] >= 0 && wanted != p->input_watched)
		epoll_ctl(p->epoll, wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, p->fd[PIPE_IN], &event);
	p->input_watched = wanted;
}

static void process_flush(struct runner_process *p)
{
	size_t done = 0;
	while (p->fd[PIPE_IN] >= 0 && done < p->unsent.n) {
		ssize_t n = write(p->fd[PIPE_IN], p->unsent.p + done, p->unsent.n - done);
		if (n > 0)
			done += (size_t)n;
		else if (errno == EPIPE) /* the runner ended, which the next read reports */
			done = p->unsent.n;
		else if (errno != EINTR)
			break; /* the pipe is full */
	}
	if (done) {
		memmove(p->unsent.p, p->unsent.p + done, p->unsent.n - done + 1);
		p->unsent.n -= done;
	}
	process_watch_input(p);
}

int runner_process_send(struct runner_process *p, const struct wire_message *m, struct error *err)
{
	char *line = wire_format(m);
	size_t n = strlen(line);
	bool fits = p->unsent.n + n <= UNSENT_MAX;
	if (fits)
		str_add(&p->unsent, line, n);
	free(line);
	process_flush(p);
	return fits ? 0 : error_set(err, "%s does not read its standard input", p->title);
}

/* Reads available output. Returns 1 if it read some, 0 if no output is available yet, -1 at its end. */
static int process_receive(struct runner_process *p)
{
	static char block[READ_BLOCK];
	if (p->fd[PIPE_OUT] < 0)
		return -1;
	ssize_t n = read(p->fd[PIPE_OUT], block, sizeof(block));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		close(p->fd[PIPE_OUT]);
		p->fd[PIPE_OUT] = -1;
		return -1;
	}
	p->heard_ms = clock_ms();
	if (p->line_at) { /* drop handled lines */
		memmove(p->line.p, p->line.p + p->line_at, p->line.n - p->line_at + 1);
		p->line.n -= p->line_at;
		p->scanned -= p->line_at;
		p->line_at = 0;
	}
	str_add(&p->line, block, (size_t)n);
	return 1;
}

/* Sets *line to the next complete line, without its newline and NUL-terminated; returns false without a
 * complete line. */
static bool process_next_line(struct runner_process *p, struct text *line)
{
	if (p->scanned >= p->line.n)
		return false;
	char *end = memchr(p->line.p + p->scanned, '\n', p->line.n - p->scanned);
	if (!end) {
		p->scanned = p->line.n;
		return false;
	}
	*end = '\0';
	*line = (struct text){ p->line.p + p->line_at, (size_t)(end - p->line.p) - p->line_at };
	p->line_at = p->scanned = (size_t)(end - p->line.p) + 1;
	return true;
}

/* Sets the error for invalid data: `what`, the previous error, the line and the last lines of standard error.
 * Always -1. */
static int process_nonsense(struct runner_process *p, struct text line, const char *what, struct error *err)
{
	struct str s = { 0 };
	str_addf(&s, "%s %s", p->title, what);
	if (err && err->text[0])
		str_addf(&s, " (%s)", err->text);
	if (line.n)
		str_addf(&s, ": %.*s", line.n > 120 ? 120 : (int)line.n, line.p);
	process_add_last_lines(p, &s);
	error_set(err, "%s", s.p);
	str_free(&s);
	return -1;
}

static void process_log_banner(struct runner_process *p, struct text line)
{
	struct arena a = { 0 };
	const char *clean = text_clean(&a, line);
	log_line("%s, before its hello: %s", p->program, clean);
	if (*clean)
		text_fit(p->banner, sizeof(p->banner), clean);
	arena_free(&a);
}

/* Handles a line before the hello: the hello, or a login banner. */
static int process_hello(struct runner_process *p, struct text line, struct error *err)
{
	size_t at;
	int got = wire_find_hello(line, &p->arena, &p->device, &at, err);
	if (got && at)
		process_log_banner(p, (struct text){ line.p, at });
	if (!got && text_contains(line, TEXT("\"" WIRE_MAGIC "\""))) /* but not valid JSON */
		return process_nonsense(p, line, "sent a damaged hello", err);
	if (got < 0) {
		p->unusable = true;
		return error_context(err, "%s", p->title);
	}
	p->hello = got == 1;
	p->waits = p->waits && !p->hello;
	p->banner_bytes += line.n + 1;
	if (p->hello)
		log_line("%s: %s, %s", p->title, p->device.model, p->device.stack);
	else if (p->banner_bytes > BANNER_MAX)
		return process_nonsense(
			p, line, "printed 64 KiB and no hello; is it a benanza runner? Its last line", err);
	else
		process_log_banner(p, line);
	return 0;
}

static int process_message(
	struct runner_process *p, struct text line, struct wire_message *m, struct error *err)
{
	if (wire_parse(line.p, line.n, m, err)) {
		struct device second;
		struct error said = ERROR_NONE;
		p->unusable = wire_parse_hello(line.p, &p->arena, &second, &said) != 0;
		if (p->unusable)
			return error_set(err,
				"%s sent two hellos: its command must start only one process (srun: -n1)",
				p->title);
		return process_nonsense(p, line, "sent an invalid message", err);
	}
	if (m->type < WIRE_ALGORITHM) {
		wire_free(m);
		return process_nonsense(p, line,
			"echoed a message; does its command use a terminal, as ssh -t does? Use ssh -T", err);
	}
	return 1;
}

int runner_process_read(struct runner_process *p, struct wire_message *m, struct error *err)
{
	struct text line;
	if (err)
		err->text[0] = '\0';
	process_flush(p);
	process_stderr(p);
	for (;;) {
		while (process_next_line(p, &line)) {
			if (line.n == 0 && ++p->banner_bytes > BANNER_MAX)
				return process_nonsense(p, line, "sent too many empty lines", err);
			if (line.n == 0)
				continue;
			if (p->hello)
				return process_message(p, line, m, err);
			if (process_hello(p, line, err))
				return -1;
		}
		size_t most = p->hello ? WIRE_LINE_MAX : BANNER_MAX;
		if (p->line.n - p->line_at > most)
			return process_nonsense(p, (struct text){ p->line.p + p->line_at, 60 },
				"sent a line that is too long", err);
		int got = process_receive(p);
		if (got <= 0)
			return got < 0 ? process_gone(p, err) : 0;
	}
}

/* --- stopping --- */

static void process_free(struct runner_process *p)
{
	process_reap(p);
	for (int i = 0; i < PIPE_COUNT; i++)
		if (p->fd[i] >= 0)
			close(p->fd[i]);
	close(p->epoll);
	str_free(&p->unsent);
	str_free(&p->line);
	arena_free(&p->arena);
	free(p->program);
	free(p->title);
	free(p);
}

void runner_process_kill(struct runner_process *p)
{
	if (p)
		process_free(p);
}

void runner_process_quit(struct runner_process *p)
{
	struct wire_message quit = { .type = WIRE_QUIT, .problem = "", .what = "" };
	if (p->fd[PIPE_IN] < 0)
		return;
	runner_process_send(p, &quit, NULL);
	close(p->fd[PIPE_IN]);
	p->fd[PIPE_IN] = -1;
}

void runner_process_stop_within(struct runner_process *p, int quit_ms, int term_ms)
{
	if (!p)
		return;
	runner_process_quit(p);
	if (!process_ends_within(p, quit_ms)) {
		kill(-p->pid, SIGTERM);
		process_ends_within(p, term_ms);
	}
	process_free(p);
}

void runner_process_stop(struct runner_process *p)
{
	runner_process_stop_within(p, RUNNER_QUIT_MS, RUNNER_TERM_MS);
}
