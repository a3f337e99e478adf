/* Rows for ssh, srun and similar commands: their exit statuses and what they print while they wait. */
#include "config.h"

#include "drive/link.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>

#define SHELL_SIGNAL                                                                                         \
	128 /* shells, srun, docker and podman exit with 128 + n if signal n killed the command */
#define SSH_FAILED 255   /* ssh's own failure; also if a signal killed the remote command */

static const struct {
	const char *program;
	int lost_status; /* exit status for a lost connection; 0: none */
} remote[] = { { "ssh", SSH_FAILED }, { "srun", 0 }, { "bsub", 0 }, { "qsub", 0 }, { "flux", 0 },
	{ "kubectl", 0 } };

/* Messages of Slurm, PBS and LSF. A wait ends with any other line, or the hello. */
static const char *const waiting[] = { "queued and waiting for resources", "Pending job allocation",
	"qsub: waiting for job", "<<Waiting for dispatch", "Job step creation temporarily disabled, retrying",
	"Requested nodes are busy" };

static const char *const losing[] = { "Node failure", "DUE TO NODE FAILURE", "DUE TO PREEMPTION",
	"DUE TO TIME LIMIT", "CANCELLED AT", "Job allocation revoked",
	"Zero Bytes were transmitted or received", "Connection closed by remote host",
	"closed by remote host", "Broken pipe", "Connection reset by peer", "not responding" };

static const char *const variables[] = { "SLURM_LABELIO", "SLURM_UNBUFFEREDIO", "SLURM_STDINMODE",
	"SLURM_STDOUTMODE", "SLURM_STDERRMODE", "SLURM_OPEN_MODE", NULL };

static int remote_find(const char *program)
{
	const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
	for (size_t i = 0; i < sizeof(remote) / sizeof(remote[0]); i++)
		if (strcmp(name, remote[i].program) == 0)
			return (int)i;
	return -1;
}

bool link_is_remote(const char *program)
{
	return remote_find(program) >= 0;
}

static bool holds_one(const char *line, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcasestr(line, list[i]))
			return true;
	return false;
}

bool link_waits(const char *line)
{
	return holds_one(line, waiting, sizeof(waiting) / sizeof(waiting[0]));
}

bool link_is_lost(const char *line)
{
	return holds_one(line, losing, sizeof(losing) / sizeof(losing[0]));
}

/* Signals that a crash of the process itself does not raise. */
static bool is_from_outside(int signal_number)
{
	return signal_number == SIGKILL || signal_number == SIGTERM || signal_number == SIGHUP ||
		signal_number == SIGINT;
}

int link_inner_signal(int wait_status)
{
	int signal_number = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) - SHELL_SIGNAL : 0;
	return signal_number > 0 && signal_number < NSIG ? signal_number : 0;
}

bool link_was_killed(const char *program, int wait_status)
{
	int at = remote_find(program);
	if (WIFSIGNALED(wait_status))
		return is_from_outside(WTERMSIG(wait_status));
	return is_from_outside(link_inner_signal(wait_status)) ||
		(at >= 0 && remote[at].lost_status && WEXITSTATUS(wait_status) == remote[at].lost_status);
}

const char *const *link_variables(void)
{
	return variables;
}
