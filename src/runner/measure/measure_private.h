/* Shared by measure*.c: the state of one problem and of its competing algorithms. */
#ifndef RUNNER_MEASURE_PRIVATE_H
#define RUNNER_MEASURE_PRIVATE_H

#include "runner/measure/measure.h"

/* Sum of the mean clocks of samples, MHz. */
struct clocks {
	double sum;
	int64_t count;
};

/* One algorithm: prepared, compared on the shortlist, then dropped or measured in full. */
struct contender {
	const struct offer *offer;
	void *work;            /* NULL: not prepared, or released */
	double one_ns;         /* duration of an execution, from the warm-up */
	double first_ns;       /* the same, of a single launch */
	double warmed_ns;      /* duration of the warm-up so far */
	bool warmed_quiet;     /* it was undisturbed, and had several executions */
	int64_t executions;    /* in an amortized sample */
	double shortlist_ns;   /* minimum on the shortlist, NaN before */
	double shortlist_mhz;  /* clock of the sample that had it; NaN: unknown */
	bool shortlist_low;    /* all its samples were taken at a low clock: it cannot be dropped */
	bool sent;             /* its shortlist result was sent */
	struct samples samples;/* all samples of the current state */
	struct samples quiet;   /* the undisturbed ones */
	int64_t corrected;     /* of these, long ones that were disturbed and corrected */
	double budget_ns;      /* for the current state */
	double spent_ns;       /* of that, used, with untimed executions */
	struct {
		double ns, mhz;    /* per execution; its clock, NaN: unknown */
		bool quiet;
	} last;                /* the last sample */
	struct clocks clocks;  /* of all samples of the current state */
	struct samples quiet_mhz; /* of the undisturbed ones, in their order; empty: no clock is known */
	struct samples steady; /* of the undisturbed ones, those at the steady clock: made for a result */
	bool wants_slopes;     /* in a full measurement, if samples have fixed costs (backend.amortized) */
	double slope[MEASURE_SLOPES]; /* (T(2N) - T(N)) / N, without what both have in common */
	int slopes;
	char why[512];         /* of the result being sent */
	const char *kernels;   /* kernel names, owned by `work` */
	char notes[256];       /* replaces the library's notes unless "" */
	bool finished;         /* the current state is complete, */
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
	bool caches[CACHE_STATES], beyond[CACHE_STATES]; /* to measure; requested, but their copies have no
						room */
	struct backend_limits limits;
	struct contender *contenders;        /* room for all offers */
	int *picked;                         /* those that are tried, as indices of offers */
	int count, rejected;                 /* algorithms; those whose outputs are wrong, without the
						approximate ones */
	const struct contender *before;      /* whose execution was the last one */
	double rested_at;                    /* when its threads last rested */
	bool last_quiet;                     /* the last sample was undisturbed */
	const char *disturbed_by;            /* last reason why a sample was disturbed */
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

/* --- measure_sample.c: samples and their quality --- */

/* Executes at least once and until the total warm-up is until_ns; *fastest: the minimum duration in ns.
 * -1: an execution failed; the contender was released. */
int measure_warm_up(struct run *r, struct contender *c, enum cache cache, double until_ns, double *fastest);
/* Estimates the duration of one of several executions back to back and sets the executions of an amortized
 * sample. Returns -1 as above. */
int measure_refine(struct run *r, struct contender *c, enum cache cache);
int64_t measure_executions_wanted(const struct run *r, double one_ns);
int64_t measure_executions_for(const struct contender *c, enum launch launch);
/* Takes one sample in state s, after an untimed execution if another contender ran before. Returns -1 as
 * above. */
int measure_sample(struct run *r, struct contender *c, struct state s);
/* Keeps the fastest execution of the warm-up as a sample. */
void measure_keep_first(struct contender *c);
/* Deletes all samples. */
void measure_forget_samples(struct contender *c);
/* Returns why sampling ends, or STOP_NONE. */
enum stop measure_stop(const struct run *r, const struct contender *c);
void measure_emit(struct run *r, struct contender *c, struct state s, enum stop stop, int64_t executions);
/* Sends that the state is not measured, as the copies for its distance have no room. */
void measure_emit_beyond(struct run *r, const struct contender *c, struct state s);
/* Sends a failed result with r->err and releases the contender; sets r->dead if the device is lost.
 * Returns -1. */
int measure_give_up(struct run *r, struct contender *c, enum status status);
void measure_release(struct contender *c);

/* --- measure_shortlist.c --- */

/* Tries all algorithms; those worth measuring in full keep their work. Returns -1 if cancelled or if the
 * device is lost. */
int measure_shortlist(struct run *r);

/* True if the contender's samples so far, MEASURE_LEAST_LONG or more, cost MEASURE_BEATEN times those of
 * another one, and it is neither the fastest nor the library's first choice of a kind that the analysis
 * compares. */
bool measure_is_beaten(const struct run *r, const struct contender *c);

/* For options.quick: measures the first algorithm that runs and sends its result. Returns as above. */
int measure_quick(struct run *r);

static inline bool measure_is_over(const struct run *r)
{
	return r->dead || r->options->cancelled(r->options->user);
}

#endif
