/* The planner: requests the algorithms for problems from a runner, without measuring. For GPUs that are only
 * described ("benanza-runner-cuda --plan FILE"). Single-threaded and non-blocking, like the queue. Replies
 * are not stored, since requesting them again takes milliseconds. */
#ifndef DRIVE_PLANNER_H
#define DRIVE_PLANNER_H

#include "drive/runner_process.h"

enum planned_state {
	PLANNED_NONE,  /* not requested */
	PLANNED_ASKED, /* requested, no reply yet */
	PLANNED_YES,   /* at least one algorithm */
	PLANNED_NO     /* no algorithm; `why` has the reason */
};

struct planned {
	enum planned_state state;
	int count;
	const struct algorithm *algorithms; /* in the library's order; owned by the planner */
	const char *why;                    /* the library's reason, "" if none */
};

struct planner;

/* Copies argv (NULL-terminated). The runner is started by planner_step. */
struct planner *planner_new(const char *const *argv);
void planner_free(struct planner *p); /* stops the runner */

/* Requests a problem's algorithms, unless they were requested before. */
void planner_ask(struct planner *p, const char *problem);
/* Sends requests and reads replies, waiting up to timeout_ms. If the runner dies, its current problem becomes
 * PLANNED_NO. After several deaths in a row it is not restarted, and all open problems become PLANNED_NO with
 * that reason. Returns the number of problems that were replied to. */
int planner_step(struct planner *p, int timeout_ms);
bool planner_is_idle(const struct planner *p);   /* no request is open */
int planner_open_count(const struct planner *p); /* requests without a reply */
int planner_fd(const struct planner *p);         /* to poll; -1 if no runner is up */
/* The device of the runner's hello; NULL before it. */
const struct device *planner_device(const struct planner *p);
/* Why no runner answers, one line; "" if one answers. */
const char *planner_trouble(const struct planner *p);
/* Changes with every reply and with the hello. */
uint64_t planner_version(const struct planner *p);

/* The reply for a problem, never NULL. Valid until planner_free; planner_step changes its contents. */
const struct planned *planner_of(const struct planner *p, const char *problem);

#endif
