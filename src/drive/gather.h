/* Assembles an execution from its messages: one `execution`, its rows, and `done` (docs/wire.md). */
#ifndef DRIVE_GATHER_H
#define DRIVE_GATHER_H

#include "wire/wire.h"

/* A zeroed struct is empty. */
struct gather {
	struct arena arena;
	struct execution execution; /* with the rows so far, in the arena */
	struct wire_trial *trial;   /* that came with it; NULL: none */
	int capacity;
	int64_t id;                 /* of the job */
	bool open;                  /* between the execution's message and its end */
};

/* Takes a message of the type `execution` or `row`. -1: a second execution of a job, a row without an
 * execution, or too many rows. */
int gather_take(struct gather *g, const struct wire_message *m, struct error *err);
/* Ends the execution. Returns what is wrong with its numbers ("row 3 (conv1) has ..."), in the arena, or
 * NULL. */
const char *gather_end(struct gather *g);
/* Marks the execution as suspect: status mistrusted with this reason, without times and rows. */
void gather_mistrust(struct gather *g, const char *why);
/* Empties it; the execution is invalid afterwards. */
void gather_clear(struct gather *g);

#endif
