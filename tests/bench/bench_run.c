/* Runs a command and says what it took: {"wall_ns", "cpu_ns", "peak_bytes", "status"} as the last line on
 * standard error. A shell or Python in its place would count its own memory as the command's.
 *
 *   bench_run COMMAND WORD...
 *   bench_run --until TEXT COMMAND WORD...    in a terminal of 120x40; ends when TEXT is on its way to the
 * screen */
#include "config.h"

#include <errno.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t timeval_ns(struct timeval t)
{
	return (int64_t)t.tv_sec * 1000000000 + (int64_t)t.tv_usec * 1000;
}

static void child_run(char **command)
{
	execvp(command[0], command);
	perror(command[0]);
	_exit(127);
}

/* Reads what the terminal gets until `text` was among it; false: the command ended before. */
static bool terminal_wait(int fd, const char *text)
{
	static char seen[1 << 20];
	size_t n = 0;
	for (ssize_t got; n < sizeof(seen) - 1; n += (size_t)got) {
		got = read(fd, seen + n, sizeof(seen) - 1 - n);
		if (got <= 0)
			return false;
		seen[n + (size_t)got] = '\0';
		if (memmem(seen, n + (size_t)got, text, strlen(text)))
			return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	bool until = argc > 3 && strcmp(argv[1], "--until") == 0;
	struct winsize size = { .ws_row = 40, .ws_col = 120 };
	struct rusage usage;
	int fd = -1, status;
	if (argc < 2)
		return 2;
	int64_t begin = now_ns();
	pid_t pid = until ? forkpty(&fd, NULL, NULL, &size) : fork();
	if (pid == 0)
		child_run(argv + (until ? 3 : 1));
	bool shown = until && terminal_wait(fd, argv[2]);
	int64_t wall = now_ns() - begin;
	if (until)
		kill(pid, SIGTERM);
	while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR)
		;
	if (!until)
		wall = now_ns() - begin;
	fprintf(stderr, "{\"wall_ns\": %lld, \"cpu_ns\": %lld, \"peak_bytes\": %lld, \"status\": %d}\n",
		(long long)wall, (long long)(timeval_ns(usage.ru_utime) + timeval_ns(usage.ru_stime)),
		(long long)usage.ru_maxrss * 1024,
		until			    ? !shown
			: WIFEXITED(status) ? WEXITSTATUS(status)
					    : 128 + WTERMSIG(status));
	return 0;
}
