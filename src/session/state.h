/* The state of a layer or problem, one word each: commands and the explorer print these, and search accepts
 * the stored name (JSON, database) and the earlier word too. */
#ifndef SESSION_STATE_H
#define SESSION_STATE_H

#include "session/session.h"

enum state {
	STATE_NONE,        /* nothing is recorded and nothing is queued */
	STATE_OK,
	STATE_NOISY,
	STATE_SUSPECT,
	STATE_STALE,
	STATE_RUNNING,
	STATE_QUEUED,
	STATE_UNSUPPORTED,
	STATE_NO_MEMORY,
	STATE_FAILED,
	STATE_CRASHED,
	STATE_TIMEOUT,
	STATE_PROXY,
	STATE_ESTIMATED,
	STATE_ASSUMED,
	STATE_ROUGH,
	STATE_FUSED,
	STATE_FREE,
	STATE_FOLDED,
	STATE_PART,
	STATE_BEGUN,
	STATE_MISSING,
	STATE_UNKNOWN,
	STATE_PLANNING,
	STATE_PLANNABLE,
	STATE_NO_PLAN,
	STATE_COUNT
};

struct state_row {
	const char *word;    /* on the screen: "noisy", "n/a" */
	const char *stored;  /* in JSON and the database: "disturbed", "unsupported"; "": not stored */
	const char *earlier; /* the word on the screen up to version 0.2; "": the same */
	const char *text;    /* one sentence of help, without its full stop */
};
const struct state_row *state_row(enum state s);
/* The state of a result with this status. */
enum state state_of_status(enum status s);

#define STATE_TEXT_SIZE 24
/* "noisy", "queue 3" (position > 0). Returns buf. */
char *state_text(char *buf, enum state s, int position);

/* State of a problem: planned, running or queued (*position from 1; else 0), else that of its results in the
 * current scenario. STATE_NONE: no results, or problem is NULL. */
enum state session_problem_state(const struct session *s, const char *problem, int *position);
/* State of a layer with cost `c` (NULL: unknown yet) that runs `problem`. */
enum state session_layer_state(const struct session *s, const struct plan_layer *l,
	const struct layer_cost *c, const char *problem, int *position);

#endif
