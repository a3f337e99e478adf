/* Compares real executions of the session's model (problem/execution.h) with its bound
 * (analyze/real/reality.h). */
#ifndef SESSION_SESSION_REALITY_H
#define SESSION_SESSION_REALITY_H

#include "analyze/real/reality.h"
#include "session/session.h"

/* Returns true if the execution may be shown beside the bound of the current plan (USE_STORED). The model's
 * hash is not compared. */
bool session_is_comparable(const struct session *s, const struct execution *e);
/* Returns NULL if it may, else why not; a constant or in the arena. */
const char *session_why_not_comparable(
	const struct session *s, struct arena *a, const struct execution *e);

/* Returns the SHA-256 of the model's file in hexadecimal; NULL before session_reality_step has read the file,
 * or if it cannot be read (standard input). */
const char *session_model_hash(const struct session *s);
/* Reads about 2 MB of the model's file for its hash, if the database has an execution that may be of this
 * model; else does nothing. Returns true while there is more to read. */
bool session_reality_step(struct session *s);
/* True while there is something to read. */
bool session_reality_waits(struct session *s);

/* Reads the rest of that file. Returns -1 with an error if the executions in the database cannot be read. */
int session_reality_wait(struct session *s, struct error *err);

/* The executions beside the bound are those that `compare` without a file compares in this plan: of each
 * setup (execution_setup) the newest that is comparable (session_is_comparable). They are looked up and
 * matched once per plan and device. The results are kept until the analysis changes. Need an analysis
 * (session_refresh). */

/* Returns the chosen one of them, at first the newest, beside the current bound; NULL without one, or before
 * the model's hash is known. In a large model it may be `pending` (session_effects_step). */
const struct reality *session_reality(struct session *s);
/* True while it or another one of them is: then nothing contradicts the bound yet. */
bool session_reality_pending(struct session *s);
/* Goes on with them, for about as long as an analysis takes. Returns true while they are pending. */
bool session_reality_go_on(struct session *s);
/* The number of them, newest first, and which one is chosen; chooses another (0: the newest) until they are
 * looked up again. */
int session_reality_count(struct session *s);
int session_reality_chosen(struct session *s);
void session_reality_choose(struct session *s, int number);
/* Returns what all of them say about the bound; zeros without executions. */
struct contradicted session_contradicted(struct session *s);
/* Returns the execution with the lowest latency of those that can be compared with the bound, or NULL. Valid
 * as the analysis is. */
const struct reality *session_reality_fastest(struct session *s);
/* Returns how far the current bound can be trusted, with these contradictions. */
struct trust session_trust(struct session *s);
/* Returns the newest of them that contradicts the bound at this layer of the plan's main graph, or NULL. */
const struct reality *session_contradicting(struct session *s, int layer);
/* Adds a new execution of the session's model (by its hash) to those of the database, even if the database
 * cannot store it. */
void session_reality_take(struct session *s, const struct execution *e);
/* Looks up the executions of all plans again; call it after an execution was stored. */
void session_reality_renew(struct session *s);

/* Returns the newest execution before e with the same setup (execution_setup) and model, with its rows, in
 * the arena; NULL if the database has none. */
const struct execution *session_execution_before(
	struct session *s, struct arena *a, const struct execution *e);
/* Calls reality_turn with that execution, if there is one. Takes as long as reality_of. */
void session_turn(struct session *s, struct arena *a, struct reality *y);
/* Returns true if the whole or a group is faster than the bound, but was not measured again in turn. */
bool session_turn_open(const struct reality *y);
/* Queues the problems of the layers in these groups again; those of all layers if the whole is faster.
 * Returns the number of problems; 0 without a runner. */
int session_turn_measure(struct session *s, const struct reality *y);

/* Returns the group of rows and layers that contains this layer of the plan's main graph, or NULL. */
const struct reality_group *session_reality_group(const struct reality *y, int layer);
/* Returns the number of layers in groups of one execution that contradict the bound (reality_contradicts). */
int session_reality_contradicted(const struct reality *y);

#endif
