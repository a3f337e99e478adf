/* A backend computes problems with one library. The runner lists its algorithms for a problem, prepares one, runs it and
 * releases it; statistics are in measure.c. Backends are registered in platform.backends. */
#ifndef RUNNER_BACKEND_H
#define RUNNER_BACKEND_H

#include "base/error.h"
#include "base/json.h"
#include "problem/result.h"

#include <stdlib.h>

struct backend;

/* A backend's algorithms for one problem, in the library's order of preference. */
struct backend_list {
	const struct backend *backend;     /* set by the caller of algorithms() */
	int count;
	const struct algorithm *algorithm; /* as long as the list */
	void *state;                       /* the backend's own */
};

struct backend_limits {
	double memory_bytes;   /* a preparation that needs more is refused: no_memory */
	int64_t sets;          /* copies of the constant operands that CACHE_NET rotates through, the first included */
	int64_t cold_sets;     /* copies of all operands that CACHE_COLD rotates through; 1: cold is not asked for */
};

struct backend {
	const char *api;
	const void *detail;    /* of what several backends share (cuda_work.h); else NULL */
	/* Adds what identifies the library to the stack line, and what is worth recording to the attributes. NULL: there is
	 * nothing to add. */
	int (*probe)(struct str *stack, json_t *attributes, bool *has_matrix, struct error *err);
	/* Fills the list; 0 algorithms is an error. -1: nothing offered, err says why; a text that begins with "only " says
	 * that such problems are other backends' business, and gives way to theirs. */
	int (*algorithms)(const struct problem *p, struct backend_list *list, struct error *err);
	void (*forget)(struct backend_list *list); /* empties it */
	/* Everything that is never timed: primitives, memory, packed constants, inputs. NULL: *status and err say why. */
	void *(*prepare)(const struct backend_list *list, int index, const struct backend_limits *limits,
		enum status *status, struct error *err);
	/* Executes `times` times back to back between two clock marks; *elapsed_ns is the whole. In CACHE_NET every
	 * execution takes the next copy of the constant operands, in CACHE_COLD of all operands. */
	int (*run)(void *work, enum cache cache, int64_t times, double *elapsed_ns, struct error *err);
	/* Compares sampled outputs of the last run with reference values; *worst is the largest error relative to the sum of
	 * absolute terms. For other defects (an output not written, guard bytes overwritten) *worst is INFINITY and err names
	 * the defect. -1: no comparison is possible, err has the reason. */
	int (*check)(void *work, double *worst, struct error *err);
	/* Bytes of constant operands that pass in CACHE_NET before the first come back; 0 (of NULL, too): there are none. */
	double (*rotated_bytes)(const void *work);
	void (*release)(void *work);
	/* The rest may be NULL. */
	/* Names of the kernels that one execution really runs, one a line, owned by the work; "" unknown. Runs it once. */
	const char *(*kernels)(void *work);
	/* Host time to enqueue one execution, as last seen; NaN unknown. */
	double (*enqueue_ns)(const void *work);
	/* Mean clock of the device during the last run, MHz; NaN unknown. */
	double (*clock_mhz)(const void *work);
	/* Of backends that offer algorithms, those with a larger one come first, equal ones in the platform's order; NULL: 0. */
	int (*preference)(const struct problem *p);
};

/* forget() where the state is one allocation. */
static inline void backend_forget(struct backend_list *list)
{
	free(list->state);
	*list = (struct backend_list){ 0 };
}

extern const struct backend backend_onednn, backend_attention, backend_copy, backend_plain;

#endif
