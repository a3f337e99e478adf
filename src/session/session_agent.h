/* Runs a session's model on an agent: makes the request of the current plan, stores the execution. */
#ifndef SESSION_SESSION_AGENT_H
#define SESSION_SESSION_AGENT_H

#include "drive/agent.h"
#include "session/session.h"

struct session_agent;

/* The configured agent of a name or alias, also with a provider ("ort:CUDAExecutionProvider"). NULL with err
 * if none exists. */
const struct config_runner *session_agent_find(const struct config *c, struct text name, struct error *err);
/* Starts an agent for the current plan: its inputs with their shapes, its batch and data type, and the
 * configured number of threads. name: of a configured agent, or an alias; "ort:CUDAExecutionProvider" asks
 * for a provider. again: runs the model even if the database has such an execution. Reads the model's files
 * once for their hashes. Returns NULL with an error that names the agent or file and the fix; *bad is then
 * true if the request is wrong (an unknown agent, a model from standard input), false if the agent cannot be
 * used. The session must keep its plan until session_agent_free. */
struct session_agent *session_agent_start(
	struct session *s, const char *name, bool again, bool *bad, struct error *err);
/* The same for a trial: the current plan is measured in turn with a side that has the change, which names no
 * inputs (they follow the batch) and is copied. Without a profile. */
struct session_agent *session_agent_try(struct session *s, const char *name, const struct wire_try *change,
	bool *bad, struct error *err);
/* Waits up to timeout_ms, as agent_step. AGENT_ENDED: session_agent_execution is set; a new execution is in
 * the session's database, unless that is read-only (queued if it is locked: store_waiting). AGENT_FAILED: one
 * line in err. */
enum agent_state session_agent_step(struct session_agent *a, int timeout_ms, struct error *err);
void session_agent_cancel(struct session_agent *a);
void session_agent_free(struct session_agent *a);

/* Its name in the configuration. */
const char *session_agent_name(const struct session_agent *a);
/* Returns the execution with its rows, whatever its status; valid until session_agent_free. */
const struct execution *session_agent_execution(const struct session_agent *a);
/* Returns what the trial measured. NULL: it was none, or nothing counts: it failed, its outputs were not
 * compared or are no numbers, or the agent does not know trials; the execution is then not stored. */
const struct wire_trial *session_agent_trial(const struct session_agent *a);
/* Returns the agent's hello, or NULL before it. */
const struct device *session_agent_device(const struct session_agent *a);
/* Returns true if it was in the database: same files, framework, version, device and provider, and the same
 * request: inputs, batch, type, level, threads, requests and options. */
bool session_agent_is_known(const struct session_agent *a);
/* Returns true if it failed because its framework is not installed. */
bool session_agent_is_missing(const struct session_agent *a);
struct agent_progress session_agent_progress(const struct session_agent *a);
int session_agent_fd(const struct session_agent *a);

/* The attributes of an agent's hello; texts live in the arena. */
struct agent_description {
	const char *framework, *version; /* version "": the framework is not installed */
	const char *providers;           /* separated by ", "; the first is the default */
	const char *executable;          /* the interpreter, or "" */
};
struct agent_description agent_describe(struct arena *a, const struct device *hello);
/* Sets the error of a framework that is not installed, with the fix. Returns -1. */
int agent_not_installed(const char *name, const struct agent_description *d, struct error *err);

/* Takes the agents of the configuration's file as it is now; no run may be in progress. -1: it cannot be
 * read, and those of before stay. */
int session_agents_again(struct session *s, struct error *err);
/* Reads about 2 MB of the model's files for the hashes that session_agent_start needs; callers that must not
 * block call it before. Returns 1 while there is more to read, 0 when all hashes are known, -1 with an error.
 */
int session_agent_prepare(struct session *s, struct error *err);

/* session_digest.c: computes the SHA-256 and the size of a file; reads it again only if its size or date
 * changed. It is an error if the model's file changed after it was loaded. session_digest_step reads about
 * 2 MB: returns 1 while there is more, 0 when known, -1 with an error. */
int session_digest_step(struct session *s, const char *path, struct error *err);
int session_digest(struct session *s, const char *path, char digest[DIGEST_SIZE], int64_t *bytes,
	struct error *err);

#endif
