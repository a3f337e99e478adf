/* The planner: asks a runner which algorithms it has for problems, and measures none. Meant for a GPU that is only described
 * ("benanza-runner-cuda --plan FILE"). Single-threaded and never blocking, like the queue; nothing of it is stored,
 * since asking again costs milliseconds. */
#ifndef DRIVE_PLANNER_H
#define DRIVE_PLANNER_H

#include "drive/runner_process.h"

enum planned_state {
	PLANNED_NONE,  /* never asked for */
	PLANNED_ASKED,
	PLANNED_YES,   /* at least one algorithm */
	PLANNED_NO     /* none: `why` */
};

struct planned {
	enum planned_state state;
	int count;
	const struct algorithm *algorithms; /* in the library's order; owned by the planner */
	const char *why;                    /* the library's reason, "" if none */
};

struct planner;

/* argv (NULL-terminated) is copied. Nothing is started before planner_step. */
struct planner *planner_new(const char *const *argv);
void planner_free(struct planner *p); /* stops the runner */

/* Asks, unless it was asked already. */
void planner_ask(struct planner *p, const char *problem);
/* Reads and sends what can be done now, waiting up to timeout_ms for the runner. A runner that dies costs the problem it was
 * at (PLANNED_NO); after several in a row it is not started again, and all that is open becomes PLANNED_NO with that
 * reason. Returns the number of problems that got their answer. */
int planner_step(struct planner *p, int timeout_ms);
bool planner_is_idle(const struct planner *p);   /* nothing asked is open */
int planner_open_count(const struct planner *p); /* problems asked for and not answered */
int planner_fd(const struct planner *p);         /* to poll; -1 when no runner is up */
/* The hello of the runner; NULL before. */
const struct device *planner_device(const struct planner *p);
/* Why no runner answers, one line; "" if nothing is wrong. */
const char *planner_trouble(const struct planner *p);
/* Counts answers: changes when there is something new to show. */
uint64_t planner_version(const struct planner *p);

/* Valid until planner_free; its contents change with planner_step. Never NULL. */
const struct planned *planner_of(const struct planner *p, const char *problem);

#endif
