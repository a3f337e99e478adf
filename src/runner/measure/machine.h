/* What measuring has to know of a device: part of the platform, and an option of measure_problem. */
#ifndef RUNNER_MACHINE_H
#define RUNNER_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct machine {
	/* The algorithms of a problem share its operands and reference values, so copies count once and
	 * checks are cheap. */
	bool shares_operands;
	/* Operands made from now on are in pages of 2 MiB (huge), or in those that the system gives. -1: the
	 * system has none. NULL: neither pages nor reuse distances are measured. */
	int (*pages)(bool huge, struct error *err);
	/* Its instruction for tanh is approximate: outputs may differ by tolerance_hardware (noted as
	 * approximate_tanh). */
	bool approximates;
	/* Warm-up in ns before algorithms are compared, if the device is warm from the previous one; the
	 * rest follows before the full measurement. 0: the full warm-up. */
	double glance_ns;
	/* Longer executions (ns) take as long alone as back to back within a percent. For shorter ones an
	 * amortized sample has at least two. 0: launches cost nothing. */
	double alone_ns;
	double tolerance; /* sampling stops at this relative half-width of the cost's interval */
	/* Samples longer than this (ns) are kept although a thread had to wait for its core: with other work
	 * almost all are. They are corrected (ran_ns). */
	double long_ns;
	/* Disturbances so far: preemptions of measuring threads (CPU), clocks below 75% of the steady one
	 * (GPU). May be NULL. */
	int64_t (*disturbances)(void);
	/* Total time in ns that the measuring threads waited for cores; replaces `disturbances` if known.
	 * NaN: unknown; NULL: not applicable. */
	double (*waited_ns)(void);
	/* The longest time in ns that one measuring thread ran since ran_mark, without its waiting: what a
	 * long execution would have taken with cores of its own, or more. NaN: unknown; both NULL: not
	 * applicable. */
	void (*ran_mark)(void);
	double (*ran_ns)(void);
	/* All measuring threads sleep for this time: the scheduler then gives them their cores at once, for a
	 * whole time slice. NULL: not applicable. */
	void (*rest)(double ns);
	/* False if the device is lost to this process (a poisoned CUDA context): the program then ends
	 * with a log line and the parent starts another. NULL: always true. */
	bool (*is_alive)(void);
};

#endif
