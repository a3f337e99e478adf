/* fork and exec. The child reports a failed exec over a pipe that closes itself on success, so that the
 * parent gets errno. */
#include "config.h"

#include "drive/runner_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "drive/link.h"

/* Makes a pipe with descriptors from 3 on, also if this process's standard descriptors are closed; children
 * of other starts do not inherit them. */
static int process_pipe(int ends[2])
{
	int low[2];
	if (pipe2(low, O_CLOEXEC))
		return -1;
	for (int i = 0; i < 2; i++) {
		ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 3);
		close(low[i]);
	}
	return ends[0] < 0 || ends[1] < 0 ? -1 : 0;
}

static void close_all(int ends[][2], int count)
{
	for (int i = 0; i < count; i++)
		for (int e = 0; e < 2; e++)
			if (ends[i][e] >= 0)
				close(ends[i][e]);
}

/* In the child process: executes the program, or writes errno to `report`. Never returns. */
static void process_become(
	const char *const *argv, const char *const *env_extra, int ends[][2], int report, pid_t parent)
{
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	setsid(); /* detached from the terminal: no Ctrl-C, and no password prompt of ssh */
	/* If benanza is killed, the runner must not keep the cores busy; a stopped one ignores SIGTERM.
	 * Commands such as ssh and srun get SIGTERM, so that they can end what they started on the other
	 * machine. */
	prctl(PR_SET_PDEATHSIG, link_is_remote(argv[0]) ? SIGTERM : SIGKILL);
	if (getppid() != parent)
		_exit(127);
	for (const char *const *name = link_variables(); *name; name++)
		unsetenv(*name);
	for (; env_extra && *env_extra; env_extra++)
		putenv((char *)(uintptr_t)*env_extra);
	if (dup2(ends[PIPE_IN][0], 0) == 0 && dup2(ends[PIPE_OUT][1], 1) == 1 &&
		dup2(ends[PIPE_ERR][1], 2) == 2)
		execvp(argv[0], (char *const *)(uintptr_t)argv);
	int why = errno;
	ssize_t written = write(report, &why, sizeof(why));
	_exit(written == sizeof(why) ? 127 : 126);
}

/* Waits for the child's exec. Returns 0, or the errno of its failure. */
static int process_report(int fd)
{
	int why = 0;
	ssize_t n;
	do
		n = read(fd, &why, sizeof(why));
	while (n < 0 && errno == EINTR);
	return n == sizeof(why) ? why : 0;
}

pid_t runner_spawn(const char *title, const char *fix, const char *const *argv, const char *const *env_extra,
	int fd[PIPE_COUNT], struct error *err)
{
	int ends[PIPE_COUNT + 1][2] = { { -1, -1 }, { -1, -1 }, { -1, -1 }, { -1, -1 } };
	for (int i = 0; i <= PIPE_COUNT; i++)
		if (process_pipe(ends[i])) {
			error_set(err, "cannot start %s: %s", title, strerror(errno));
			close_all(ends, PIPE_COUNT + 1);
			return -1;
		}
	/* writing to a dead runner must return an error, not end this process */
	signal(SIGPIPE, SIG_IGN);
	pid_t parent = getpid(), pid = fork();
	if (pid == 0)
		process_become(argv, env_extra, ends, ends[PIPE_COUNT][1], parent);
	int failed = pid < 0 ? errno : 0;
	if (pid > 0) {
		close(ends[PIPE_COUNT][1]);
		ends[PIPE_COUNT][1] = -1;
		failed = process_report(ends[PIPE_COUNT][0]);
		if (failed)
			waitpid(pid, NULL, 0);
	}
	if (failed) {
		close_all(ends, PIPE_COUNT + 1);
		error_set(err, "cannot start %s: %s; %s", title, strerror(failed), fix);
		return -1;
	}
	int theirs[3] = { ends[PIPE_IN][0], ends[PIPE_OUT][1], ends[PIPE_ERR][1] };
	for (int i = 0; i < 3; i++)
		close(theirs[i]);
	close(ends[PIPE_COUNT][0]);
	log_line("%s started, process %d", title, (int)pid);
	fd[PIPE_IN] = ends[PIPE_IN][1];
	fd[PIPE_OUT] = ends[PIPE_OUT][0];
	fd[PIPE_ERR] = ends[PIPE_ERR][0];
	return pid;
}
