/* A backend runs problems with one library. The runner lists its algorithms for a problem, prepares, runs
 * and releases one; measure.c computes the statistics. platform.backends registers them. */
#ifndef RUNNER_BACKEND_H
#define RUNNER_BACKEND_H

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "problem/result.h"

struct backend;

/* A backend's algorithms for one problem, in the library's order of preference. */
struct backend_list {
	const struct backend *backend;     /* set by the caller of algorithms(), as is the next one */
	bool all;                          /* list all that the library has, not only what its heuristics
					      return, up to the backend's limit */
	int left_out;                      /* algorithms that are known but not listed, for that limit */
	int count;
	const struct algorithm *algorithm; /* owned by the list */
	void *state;                       /* the backend's own */
};

struct backend_limits {
	double memory_bytes;   /* limit of a preparation; above: status no_memory */
	int64_t sets;          /* copies of the constant operands, the first included: CACHE_NET rotates
				  through all, a reuse distance through as many as it needs */
	int64_t cold_sets;     /* copies of all operands that CACHE_COLD rotates through; 1: none */
	bool apart;            /* operands of its own, not those of another work of the same problem */
};

struct backend {
	const char *api;
	bool branches;         /* runs problems side by side (problem/beside.h), and no others */
	const void *detail;    /* data shared by several backends (cuda_work.h), or NULL */
	/* Adds the library's name and version to `stack`, and details to `attributes`; sets *has_matrix if
	 * there are matrix units. Returns -1 if the library cannot be used. NULL: nothing to add. */
	int (*probe)(struct str *stack, json_t *attributes, bool *has_matrix, struct error *err);
	/* Fills the list; 0 algorithms is an error. A backend without heuristics always lists all.
	 * Returns -1 if nothing is offered; err has the reason. A reason that begins with "only " means that
	 * the backend is not for such problems; those of other backends are printed instead. */
	int (*algorithms)(const struct problem *p, struct backend_list *list, struct error *err);
	void (*forget)(struct backend_list *list); /* frees its contents */
	/* Does the host work of an algorithm that needs no device to itself, such as compiling, and keeps
	 * what it made, or why it failed, in the list for prepare(). Several threads may call it at once
	 * for different algorithms. NULL: no such work. */
	void (*compile)(const struct backend_list *list, int index);
	/* Does all untimed work: primitives, memory, packed constants, inputs. Returns the work, to be
	 * released, or NULL with *status and err. */
	void *(*prepare)(const struct backend_list *list, int index, const struct backend_limits *limits,
		enum status *status, struct error *err);
	/* Executes `times` times back to back; *elapsed_ns: the total. In CACHE_NET and at a reuse distance
	 * every execution uses the next copy of the constant operands, in CACHE_COLD of all operands. Returns
	 * 0; else sets err and returns the status of the algorithm (STATUS_UNSUPPORTED if the library
	 * accepted the problem but refuses to execute it, STATUS_NO_MEMORY), or -1 for STATUS_FAILED:
	 * backend_status. */
	int (*run)(void *work, enum cache cache, int64_t times, double *elapsed_ns, struct error *err);
	/* The same for amortized samples, if a single execution of `run` has costs that one of many back to
	 * back has not: launching on a GPU, also of `times` 1. NULL: `run`. */
	int (*amortized)(void *work, enum cache cache, int64_t times, double *elapsed_ns, struct error *err);
	/* Compares sampled outputs of the last run with reference values; *worst is the largest error
	 * relative to the sum of absolute terms. For other defects (an output not written, guard bytes
	 * overwritten) *worst is INFINITY and err names the defect. -1: no comparison is possible, err has
	 * the reason. */
	int (*check)(void *work, double *worst, struct error *err);
	/* Bytes of constant operands read before the first copy is reused, in the runs so far in this state;
	 * 0: none. May be NULL (0). */
	double (*rotated_bytes)(const void *work, enum cache cache);
	void (*release)(void *work);
	/* The rest may be NULL. */
	/* Names of the kernels of one execution, one per line, owned by the work; "": unknown. Executes
	 * once. */
	const char *(*kernels)(void *work);
	/* Host time in ns to enqueue one execution, from the last run; NaN: unknown. */
	double (*enqueue_ns)(const void *work);
	/* Mean clock of the device during the last run in MHz; NaN: unknown. */
	double (*clock_mhz)(const void *work);
	/* Brings the device into its steady state if it paused or its clock fell: a GPU is heated. Called
	 * before samples and no part of them. Returns as run. */
	int (*settle)(void *work, struct error *err);
	/* What limited the times of the runs so far, one line for `why` of a result; "": nothing. Owned by
	 * the work. */
	const char *(*remark)(void *work);
	/* Backends with a larger value come first, equal ones in the platform's order. NULL: 0. */
	int (*preference)(const struct problem *p);
};

/* Returns the status for what run() returned. */
enum status backend_status(int returned);

/* forget() for a state that is one allocation. */
void backend_forget(struct backend_list *list);

/* State of a backend that has one algorithm; backend_forget frees it. */
struct backend_single {
	struct problem problem;
	struct algorithm algorithm;
	char name[48]; /* the algorithm's; the caller writes it */
};

/* Fills the list with copies of the problem and the algorithm. */
struct backend_single *backend_single(
	struct backend_list *list, const struct problem *p, const struct algorithm *a);

extern const struct backend backend_onednn, backend_attention, backend_ones, backend_copy, backend_plain,
	backend_packed, backend_beside;

#endif
