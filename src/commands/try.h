/* compare --try: changes of an execution's settings, tried for real beside the unchanged model. */
#ifndef COMMANDS_TRY_H
#define COMMANDS_TRY_H

#include "commands/compare.h"
#include "wire/wire.h"

/* A kind of change, with a value ("batch=8"); value NULL: those that the kind proposes for an execution. */
struct move_kind;
struct move {
	const struct move_kind *kind;
	const char *value;
};
#define MOVES_MAX 64

/* Parses "level,batch=8,f16"; "": every kind. Returns the number of moves, or -1 with an error that lists
 * the kinds. Values live in the arena. */
int moves_parse(struct arena *a, const char *list, struct move moves[MOVES_MAX], struct error *err);

enum tried_state {
	TRIED_MEASURED,
	TRIED_REFUSED,     /* its outputs are NaN or infinite, or were not compared */
	TRIED_UNAVAILABLE, /* the framework, the model or the machine does not have it */
	TRIED_FAILED,
	TRIED_STATE_COUNT
};

struct tried {
	struct wire_try change;
	enum tried_state state;
	const char *why;            /* clean; "" if it was measured */
	double predicted;           /* gain that the bound predicts; NaN: unknown */
	double most;                /* it is at most that; NaN: no limit is known */
	bool estimated;             /* the prediction */
	const char *unknown;        /* why there is no prediction; "": it is known, or `bench` measures it */
	struct execution execution; /* of the changed side */
	struct wire_trial trial;    /* if it was measured */
	bool noisy, significant;    /* significant: the interval of the gain excludes 1, and not noisy */
	const char *bench;          /* options of bench that would give a prediction; "": none */
};

/* Tries the moves on an agent, one after the other, beside the session's current plan. base: its execution
 * beside the bound, whose reality becomes invalid; providers: those of the agent, separated by ", ". Returns
 * the number of *tried, in the arena. Ctrl-C ends it early. */
int try_all(struct arena *a, struct session *s, const struct options *o, const struct move *moves, int count,
	const char *agent, const char *providers, const struct comparison *base, struct tried **tried);
/* EXIT_GAPS if a move failed, or one that was named (all: none was) is not available. */
int try_status(const struct tried *tried, int count, bool all);

/* A table of at most 80 columns. */
void report_try_text(const struct execution *base, const struct tried *tried, int count, FILE *out);
/* An array (benanza-json(5)). */
json_t *report_try_json(const struct tried *tried, int count);

#endif
