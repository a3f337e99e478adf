/* A runner as a child process in its own session, with non-blocking pipes. */
#ifndef DRIVE_RUNNER_PROCESS_H
#define DRIVE_RUNNER_PROCESS_H

#include "wire/wire.h"

struct runner_process;

/* Starts argv (NULL-terminated, without a shell; argv[0] is searched in PATH). env_extra: "NAME=VALUE"
 * strings to add (OMP_NUM_THREADS ...), NULL-terminated, or NULL; the variables of link_variables are
 * removed. Sets SIGPIPE of this process to ignored, so that writing to a dead runner is an error. The child
 * gets SIGTERM if this process dies. Returns NULL on errors. */
struct runner_process *runner_process_start(
	const char *const *argv, const char *const *env_extra, struct error *err);
/* Starts an agent (drive/agent.h) in the same way; messages call it "the agent NAME". */
struct runner_process *runner_process_start_agent(
	const char *name, const char *const *argv, const char *const *env_extra, struct error *err);
/* Returns the file descriptor to poll for reading: readable if the runner's output or standard error is, or
 * if the runner accepts more of the unsent messages. It does not change until p is freed. */
int runner_process_fd(const struct runner_process *p);
/* Queues a message for writing (non-blocking; flushed here and in runner_process_read). Returns -1 if too
 * many bytes are unread. */
int runner_process_send(struct runner_process *p, const struct wire_message *m, struct error *err);
/* Reads the next message. Returns 1 (then call wire_free), 0 if no message is available yet, -1 if the runner
 * ended or sent invalid data (err has the reason and the last lines of its standard error). Handles the hello
 * itself. Call it until it returns 0: poll does not report messages that are already buffered. */
int runner_process_read(struct runner_process *p, struct wire_message *m, struct error *err);
/* The device of the hello; NULL before it. */
const struct device *runner_process_device(const struct runner_process *p);
/* Milliseconds since the last output. */
int64_t runner_process_silence_ms(const struct runner_process *p);
/* Before the hello: the last line of standard error, cleaned, if it reports a wait in a cluster's queue; else
 * NULL. */
const char *runner_process_waits(const struct runner_process *p);
/* clock_ms from which the limit for the hello counts: the start, or the end of the wait in a cluster's queue.
 * */
int64_t runner_process_ready_ms(const struct runner_process *p);
/* Sets the error for a missing hello, with the output instead of it. Always -1. */
int runner_process_no_hello(struct runner_process *p, double waited_s, struct error *err);
/* True if its command runs it on another machine (ssh, srun ...). */
bool runner_process_is_remote(const struct runner_process *p);

/* Separates, in the error of a runner that ended, the reason from the last lines of its standard error. */
#define RUNNER_LAST_OUTPUT "; last output: "

/* How the runner ended; valid after runner_process_read returned -1. */
enum runner_end {
	RUNNER_END_NONE,     /* not by itself: it sent invalid data, did not respond ... */
	RUNNER_END_EXITED,   /* with status 0 */
	RUNNER_END_DIED,     /* by a signal or with an error status */
	RUNNER_END_KILLED,   /* from outside: connection lost, node failed, killed by a person or the
				system */
	RUNNER_END_UNUSABLE  /* another protocol, or two hellos; restarting does not help */
};
enum runner_end runner_process_end(const struct runner_process *p);

/* Sends a quit and closes the runner's input; runner_process_read returns -1 once it has exited. */
void runner_process_quit(struct runner_process *p);
#define RUNNER_QUIT_MS 1500
#define RUNNER_TERM_MS 1000
/* As runner_process_stop, with other delays. */
void runner_process_stop_within(struct runner_process *p, int quit_ms, int term_ms);
/* Ends the runner and frees p: quit and end of input; after RUNNER_QUIT_MS SIGTERM; after RUNNER_TERM_MS more
 * SIGKILL, to the process group. */
void runner_process_stop(struct runner_process *p);
/* Ends the runner at once (SIGKILL to the process group) and frees p. */
void runner_process_kill(struct runner_process *p);

#endif
