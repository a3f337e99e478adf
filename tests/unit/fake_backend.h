/* A backend for the fake runtime: computes any problem that has a reference, on operands in "device" memory;
 * misbehaves on request. */
#ifndef FAKE_BACKEND_H
#define FAKE_BACKEND_H

#include "runner/gpu/cuda_work.h"

enum mischief {
	MISCHIEF_NONE,
	MISCHIEF_WRONG,
	MISCHIEF_UNWRITTEN,
	MISCHIEF_NAN,
	MISCHIEF_BEHIND,
	MISCHIEF_BEFORE,
	MISCHIEF_SPACE_BEHIND,
	MISCHIEF_SPACE_BEFORE,
	MISCHIEF_SOURCE,
	MISCHIEF_WEIGHTS
};

#define FAKE_TRACE 4096

struct fake_backend {
	enum mischief mischief;
	double workspace_bytes, kernel_ns;
	double plan_ns;                 /* host time of plan(), as of a compilation */
	double ready_ns;                /* host time of ready() per buffer set; it allocates, as
					   an execution on another set does */
	int kernels;                    /* kernels per execution; the first one computes */
	double gain, epsilon;
	double factor;                  /* of the plan; the kernel computes by_factor times the problem */
	double by_factor;               /* 0: once */
	bool plan_fails, enqueue_allocates, enqueue_waits, enqueue_fails;
	int enqueue_returns;            /* with an error: what libraries return that refuse when they run */
	int enqueue_refused_from;       /* ... from the n-th enqueue on */
	int enqueues;
	int plans_alive;
	/* executions in the order in which the device ran them */
	struct cuda_pointers trace[FAKE_TRACE];
	int traced;
};
extern struct fake_backend fake_backend;
extern const struct backend backend_fake;

/* Parses the problem and fills the list. */
void fake_ask(const char *text, struct backend_list *list);

#endif
