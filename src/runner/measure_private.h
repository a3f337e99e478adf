/* What the files of measuring share: one problem on its way, and the algorithms that compete for it. */
#ifndef RUNNER_MEASURE_PRIVATE_H
#define RUNNER_MEASURE_PRIVATE_H

#include "runner/measure.h"

/* Samples since the canary was asked last: nobody knows yet whether they are calm. */
struct pending {
	struct samples samples;
	double ns; /* what they cost */
};

/* One algorithm on its way: prepared, shortlisted, and either dropped or measured in full. */
struct contender {
	const struct offer *offer;
	void *work;            /* NULL: not prepared, or released */
	double one_ns;         /* what an execution takes, from the warm-up */
	double first_ns;       /* the same, launched alone */
	double warmed_ns;      /* so long */
	int64_t executions;    /* of an amortized sample */
	double shortlist_ns;   /* the fastest it has been on the shortlist, NaN before */
	bool sent;             /* its shortlist result went out */
	struct samples samples;/* all of the present state */
	struct samples calm;   /* those of them that nothing disturbed */
	struct pending pending;/* these may yet become so */
	double budget_ns;      /* of the present state */
	double spent_ns;       /* on it, with all that belongs to a sample */
	double calm_ns;        /* of that, on the calm ones */
	double least_ns;       /* what disturbed ones might have been: as much less as the canary was slower; INFINITY none */
	double rotated_bytes;  /* in state net; outlives the work */
	const char *kernels;   /* the work's */
	char notes[256];       /* the library's, and ours; "" as the library's */
	bool finished;         /* with the present state, */
	enum stop stop;        /* for this reason */
};

struct state {
	enum cache cache;
	enum launch launch;
};

struct run {
	const struct offers *offers;
	const struct problem *problem;
	const char *text;
	const struct measure_options *options;
	struct state states[CACHE_COUNT * LAUNCH_COUNT];
	int state_count;
	struct backend_limits limits;
	struct contender contenders[MEASURE_CONTENDERS];
	int count, rejected;                 /* `rejected`: by the check of their outputs */
	double canary_asked, canary_cost_ns; /* when, and what it took */
	double canary_slower;                /* as it said then */
	double unsettled_ns;                 /* went into samples and waiting since then */
	const char *canary_says;             /* NULL: calm */
	const char *disturbed_by;            /* what it said last when it was not, or what else was noticed */
	bool any_ok, dead;
	enum status status;
	struct error *err;
};

static inline const struct algorithm *algorithm_of(const struct contender *c)
{
	return &c->offer->algorithm;
}

static inline const struct backend *backend_of(const struct contender *c)
{
	return c->offer->list->backend;
}

/* --- measure_sample.c: executions, and what they are worth --- */

/* At least one execution, and until it has been warmed for so long; *fastest: what one took. -1: it failed and is out. */
int measure_warm_up(struct run *r, struct contender *c, enum cache cache, double until_ns, double *fastest);
/* What one of several executions back to back takes, and how many make an amortized sample. -1 as above. */
int measure_refine(struct run *r, struct contender *c, enum cache cache);
int64_t measure_executions_wanted(const struct run *r, double one_ns);
int64_t measure_executions_for(const struct contender *c, enum launch launch);
/* One more sample of the state. -1 as above. */
int measure_sample(struct run *r, struct contender *c, struct state s);
/* Nothing sampled yet. */
void measure_forget_samples(struct contender *c);
/* Has it been sampled enough? STOP_NONE: no. */
enum stop measure_stop(struct run *r, struct contender *c);
void measure_emit(struct run *r, struct contender *c, struct state s, enum stop stop, int64_t executions);
/* What went wrong with one, r->err: it is out, and perhaps all of them. -1. */
int measure_give_up(struct run *r, struct contender *c, enum status status);
void measure_release(struct contender *c);

/* --- measure_shortlist.c --- */

/* All algorithms tried; who is worth measuring in full is left with its work. -1: cancelled, or nothing can be measured. */
int measure_shortlist(struct run *r);

static inline bool measure_is_over(const struct run *r)
{
	return r->dead || r->options->cancelled(r->options->user);
}

#endif
