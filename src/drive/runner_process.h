/* A runner program as a child: started in a session of its own, spoken to over pipes, never blocking. */
#ifndef DRIVE_RUNNER_PROCESS_H
#define DRIVE_RUNNER_PROCESS_H

#include "wire/wire.h"

struct runner_process;

/* Starts argv (NULL-terminated, no shell; argv[0] looked up in PATH). env_extra: "NAME=VALUE" strings added
 * (OMP_NUM_THREADS, OMP_PROC_BIND ...), NULL-terminated, may be NULL; what would make srun bend lines is taken away. Makes the whole program ignore SIGPIPE, so that
 * writing to a runner that died is an error. The child gets SIGTERM when this process ends without stopping it. */
struct runner_process *runner_process_start(const char *const *argv, const char *const *env_extra, struct error *err);
/* File descriptor to poll for reading: its output or its standard error has something. The same as long as p lives. */
int runner_process_fd(const struct runner_process *p);
/* Queues a message for writing (non-blocking; flushed here and in _read). */
int runner_process_send(struct runner_process *p, const struct wire_message *m, struct error *err);
/* Next message, if one has come: 1 filled (wire_free it), 0 nothing now, -1 the runner is gone or talks nonsense
 * (err says how it ended, with the last lines of its stderr). The hello is consumed inside and shows in _device. Call it
 * until it gives 0: the descriptor tells of new bytes, not of messages that were read along with others. */
int runner_process_read(struct runner_process *p, struct wire_message *m, struct error *err);
/* NULL until the hello has come. */
const struct device *runner_process_device(const struct runner_process *p);
/* Milliseconds since anything was heard. */
int64_t runner_process_silence_ms(const struct runner_process *p);
/* Before the hello: its last line of standard error, cleaned, when that says that a cluster's queue is waited for; else NULL.
 * And when it began to be ready to say hello: at its start, or when it was waited for no longer (clock_ms). */
const char *runner_process_waits(const struct runner_process *p);
int64_t runner_process_ready_ms(const struct runner_process *p);
/* The error of one that has said no hello in so long, with what it said and printed instead. Always -1. */
int runner_process_no_hello(struct runner_process *p, double waited_s, struct error *err);
/* Does its command run it on another machine (ssh, srun)? */
bool runner_process_is_remote(const struct runner_process *p);

/* How it ended, once runner_process_read gave -1. */
enum runner_end {
	RUNNER_END_NONE,     /* it has not, or was made to: it talks nonsense, is silent ... */
	RUNNER_END_LEFT,     /* by itself, status 0 */
	RUNNER_END_DIED,     /* by what it was doing, or it could not begin */
	RUNNER_END_TAKEN,    /* from outside: a broken link, a node that failed, a person's or the system's kill */
	RUNNER_END_STRANGER  /* it cannot be worked with: another version, two hellos. Starting it again would not help */
};
enum runner_end runner_process_end(const struct runner_process *p);

/* Tells it to leave and closes its input: runner_process_read gives -1 when it has. */
void runner_process_quit(struct runner_process *p);
#define RUNNER_QUIT_MS 1500
#define RUNNER_TERM_MS 1000
/* As runner_process_stop, with the delays given. */
void runner_process_stop_within(struct runner_process *p, int quit_ms, int term_ms);
/* quit message, close stdin, then SIGTERM, then SIGKILL to the group, each after a delay; frees p. */
void runner_process_stop(struct runner_process *p);
/* At once (SIGKILL to the group), for a hung one; frees p. */
void runner_process_kill(struct runner_process *p);

#endif
