/* Knowledge of the commands that start a runner on another machine: ssh, srun and similar. Runners work
 * without it; it distinguishes a failed connection from a failed problem, and waiting in a cluster's queue
 * from a hang. */
#ifndef DRIVE_LINK_H
#define DRIVE_LINK_H

#include <stdbool.h>

/* True if this program (argv[0]) runs its command on another machine. */
bool link_is_remote(const char *program);
/* True if a line of standard error reports that the command waits in a cluster's queue. */
bool link_waits(const char *line);
/* True if a line of standard error reports that the machine or the connection to it was lost. */
bool link_is_lost(const char *line);
/* The signal that killed the command inside a shell, srun, docker or podman, which then exits with 128 + its
 * number; 0: none. */
int link_inner_signal(int wait_status);
/* True if `program` with this status of waitpid was ended from outside: the connection broke, or a person or
 * the system killed it. False if the runner itself caused its end. A signal on the remote machine can look
 * like a broken connection. */
bool link_was_killed(const char *program, int wait_status);
/* Environment variables that make srun change the lines between benanza and a runner: labels in front of
 * them, a pseudo terminal that echoes, files instead of the pipes. NULL-terminated. */
const char *const *link_variables(void);

#endif
