/* Starts a program in a new session, with pipes as its standard streams. */
#ifndef DRIVE_RUNNER_SPAWN_H
#define DRIVE_RUNNER_SPAWN_H

#include "base/error.h"

#include <sys/types.h>

enum { PIPE_IN, PIPE_OUT, PIPE_ERR, PIPE_COUNT };

/* Executes argv, with the variables of env_extra ("NAME=VALUE", NULL-terminated; NULL: none) added. Returns
 * the process, which the caller reaps, and sets fd to this process's ends of its streams, which the caller
 * closes; they block. Returns -1 if it cannot be executed: the error names `title` ("the runner sh") and ends
 * with `fix`. From then on SIGPIPE is ignored. The process gets SIGKILL if this one ends, one that works on
 * another machine SIGTERM. */
pid_t runner_spawn(const char *title, const char *fix, const char *const *argv, const char *const *env_extra,
	int fd[PIPE_COUNT], struct error *err);

#endif
