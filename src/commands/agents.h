/* Runs the model of a session on agents, one after the other, with progress. */
#ifndef COMMANDS_AGENTS_H
#define COMMANDS_AGENTS_H

#include "commands/command.h"
#include "drive/agent.h"
#include "problem/execution.h"

/* Outcomes of the executions in one or several calls of agents_run. A zeroed struct with `report` set to a
 * JSON array is empty. */
struct agents_tally {
	int measured, known, failed; /* known: already in the database; failed: unsupported ones too */
	json_t *report; /* [ { agent, model, batch, dtype, status, already, measured_ns, why } ] */
};

/* Executions, and the names of the agents that made them, as listed; NULL: read from a file or database. */
struct agents_made {
	int count, capacity;
	struct execution *list; /* the arrays are in an arena */
	const char **agents;
	const char **providers; /* of the agent's hello, separated by ", " */
};
/* Appends an execution. Its rows and texts, and those of the agent, must outlive m. */
void agents_made_add(struct arena *a, struct agents_made *m, struct execution e, const char *agent,
	const char *providers);

struct session_agent;
/* Runs the agent's steps until it ended or failed, with progress. Ctrl-C cancels it. */
enum agent_state agents_drain(struct session_agent *a, const struct options *o, struct error *err);

/* -1 with err: an item of the list of agents is empty, or names none. */
int agents_list_check(const struct config *c, const char *list, struct error *err);

/* Runs the session's current plan on the agents of `list` ("ort,openvino:GPU"; "": all whose framework is
 * installed). Executions of status ok are appended to *made (NULL: none wanted), in the arena. Every failure
 * is one line on standard error, and the next agent goes on; if no agent could be used, the last line is in
 * err instead. Returns an exit_status: EXIT_GAPS after failures, EXIT_BAD for a wrong list or model,
 * EXIT_NO_DEVICE if no agent could be used. */
int agents_run(struct session *s, const struct options *o, const char *list, bool again, struct arena *a,
	struct agents_made *made, struct agents_tally *t, struct error *err);
/* The same in every batch and data type of the options; returns the highest exit_status. */
int agents_run_all(struct session *s, const struct options *o, const char *list, bool again, struct arena *a,
	struct agents_made *made, struct agents_tally *t, struct error *err);

#endif
