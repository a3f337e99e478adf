/* An agent: a process that runs whole models with one framework (docs/wire.md, "Agents"). One request at a
 * time, without blocking: the caller's loop calls agent_step. */
#ifndef DRIVE_AGENT_H
#define DRIVE_AGENT_H

#include "config/config.h"
#include "wire/wire.h"

struct agent;

/* One model on one agent. Everything is borrowed until the request ended. */
struct agent_request {
	const struct wire_model *model;
	const char *const *externals; /* paths of model->external[i] on this machine */
	const char *name;             /* of the model, in the execution */
	const char *payload;          /* for logs: less than PROBLEM_TEXT_SIZE bytes, clean */
	int64_t budget_ms;            /* for the samples of the latency; 1 to WIRE_BUDGET_MS_MAX */
};

/* Limits in ms, with the defaults that agent_start sets. */
struct agent_limits {
	int hello;   /* 30000: until the hello, without the time in a cluster's queue */
	int silence; /* 30000: without any message of a busy agent */
	int job;     /* 3600000: of a request; TensorRT takes long to build an engine */
	int grace;   /* 5000: from a cancel to the end of the request */
};

/* Starts the agent's process. NULL with an error that names the agent and the fix if it cannot be started. */
struct agent *agent_start(const struct config_runner *r, struct error *err);
/* Ends the process: quit, SIGTERM, SIGKILL. */
void agent_free(struct agent *a);
struct agent_limits *agent_limits(struct agent *a);

/* Submits a request, which is sent after the hello. The previous request must have ended. */
void agent_run(struct agent *a, const struct agent_request *r);
enum agent_state {
	AGENT_WORKS, /* starting, or busy with the request */
	AGENT_READY, /* hello received, and no request */
	AGENT_ENDED, /* the request ended: agent_execution */
	AGENT_FAILED /* err has one line; only agent_free may follow */
};
/* Waits up to timeout_ms for messages and handles them. AGENT_ENDED is returned once, then AGENT_READY. A
 * request fails if the agent cannot be used (no hello in time, another protocol, not an agent), dies, stops
 * responding, or violates the protocol: invalid messages, a second execution, a request for a file that does
 * not belong to the model. */
enum agent_state agent_step(struct agent *a, int timeout_ms, struct error *err);
/* Cancels the request: it ends as failed, or the agent is AGENT_FAILED after limits.grace. */
void agent_cancel(struct agent *a);

/* Returns the execution with its rows after AGENT_ENDED, whatever its status. An execution with numbers out
 * of range is `mistrusted` and has no numbers. Its source is "agent" and its model_hash that of the request.
 * Valid until the next agent_run or agent_free. */
const struct execution *agent_execution(const struct agent *a);
/* Returns what a trial measured, with that execution; NULL: nothing, or the request was no trial. */
const struct wire_trial *agent_trial(const struct agent *a);
/* Returns the hello, or NULL before it. */
const struct device *agent_device(const struct agent *a);
int agent_fd(const struct agent *a); /* to poll */

struct agent_progress {
	const char *what;  /* "importing onnxruntime", "12 of 50 samples"; "" before */
	const char *waits; /* last line of a command that waits in a cluster's queue; else "" */
	double elapsed_s;  /* of the request, or since the start */
	int64_t sent_bytes, file_bytes; /* of the model's files; sent is 0 if the agent has them */
};
struct agent_progress agent_progress(const struct agent *a);

#endif
