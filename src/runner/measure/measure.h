/* Measures one problem: selects algorithms, takes samples, decides when to stop. Uses backends only
 * through backend.h and the clock only through the options, so tests can simulate both. */
#ifndef RUNNER_MEASURE_H
#define RUNNER_MEASURE_H

#include "runner/measure/machine.h"
#include "runner/measure/offers.h"
#include "problem/stats.h"

/* Maximum number of algorithms of a problem that are tried: more than the backends list (cudnn_offers.h,
 * cublaslt_sweep.h), so that none is left out without a word. */
#define MEASURE_CONTENDERS 2048

struct measure_options {
	struct machine machine;
	double budget_ns;          /* per algorithm, split over cache states and launch modes */
	bool caches[CACHE_STATES], launches[LAUNCH_COUNT]; /* without regard to pages */
	bool huge;                 /* the operands are in pages of 2 MiB, which the results say */
	double memory_bytes;       /* algorithms that need more are refused */
	double rotation_bytes;     /* limit for copies of constant operands, all algorithms together */
	double llc_bytes;          /* last-level cache; NaN: unknown */
	int most;                  /* maximum number of algorithms; 0: MEASURE_CONTENDERS */
	bool quick;                /* only the library's first choice that runs, in the first state, with few
				      samples and without a check of its outputs */
	bool repeats;              /* of algorithms that were checked: ends with the budget, however few
				      samples there are, since they are pooled with those of other times */
	bool has_matrix;           /* also measure the best algorithm without matrix units in full */
	double (*now_ns)(void);    /* monotonic */
	double *rest;              /* time to rest before a sample, in samples; kept between problems. 0: the
				      machine is idle */
	void *user;                /* argument of the functions below */
	bool (*cancelled)(void *user); /* called before every sample and step of a set-up */
	/* Called before each algorithm and state. */
	void (*trying)(void *user, const struct algorithm *a, enum cache c, enum launch l);
	/* Called with each result as soon as it is complete, and with its samples in the order taken. */
	void (*emit)(void *user, const struct result *r, const struct samples *samples);
};

/* Default values (docs/wire.md). */
#define MEASURE_WARMUP_NS 5e6
#define MEASURE_AMORTIZED_NS 200e3 /* minimum duration of an amortized sample */
#define MEASURE_EXECUTIONS 2000    /* maximum executions in a sample: they may be recorded one by one */
#define MEASURE_FEWEST_SAMPLES 3    /* of an execution that is longer than the budget */
#define MEASURE_MOST_SAMPLES 20000
#define MEASURE_SHORTLIST_SAMPLES 3
#define MEASURE_QUICK_SAMPLES 3    /* of a quick measurement */
#define MEASURE_SHORTLIST_TRIES 8  /* samples at most, if some were taken at a low clock */
#define MEASURE_CLOCK_APART 0.03   /* clocks that differ by this share are different */
#define MEASURE_SLOPES 3           /* pairs of samples of N and 2N executions */
#define MEASURE_SLOPE_TOLERANCE 0.02 /* their growth per execution differs by more from the median: */
#define MEASURE_SLOPE_MOST_NS 5e6  /* longer samples have no fixed costs that matter */
#define MEASURE_DROP_FACTOR 4.0    /* an algorithm this many times slower than the best is dropped */
#define MEASURE_CLOSE_FACTOR 1.25  /* algorithms within this factor of the fastest are measured in full */
#define MEASURE_BEATEN 1.1         /* one that costs so much more than another one is measured no longer */
#define MEASURE_TURN_NS 2e6         /* samples of an algorithm before it is another one's turn */
#define MEASURE_LEAST_QUIET 6      /* undisturbed samples; with fewer, and disturbed ones, it is noisy */
#define MEASURE_WAITED_SHARE 0.05  /* of a sample: total time that its threads may wait for cores */
#define MEASURE_PATIENCE 3         /* times the budget, until as many samples are undisturbed as are needed */
#define MEASURE_LEAST_LONG 10      /* samples of a long execution */
#define MEASURE_SLICE_NS 2e6       /* about a time slice of a scheduler */
#define MEASURE_REST_MOST 8        /* rest: at most this factor of the time between two rests, */
#define MEASURE_REST_MOST_NS 20e6  /* and this time */
#define MEASURE_REST_DECAY 0.7     /* of a rest to the next one while samples are undisturbed */
#define MEASURE_WIDE 0.25          /* noisy: the upper end is further above the cost than this share */

#define MEASURE_SETS 16384         /* maximum number of copies of the constant operands */
#define MEASURE_SETS_BYTES 544e6   /* maximum size of the copies of one algorithm: the farthest distance */
#define MEASURE_LLC_FACTOR 2       /* bytes read before a copy is reused, in last-level caches */
#define MEASURE_LLC_GUESS 33554432.0

/* Measures the problem with every candidate, or with as many of each backend as o->most allows, and sends
 * results through o->emit. *status: ok if any algorithm was measured, else the status of the last one tried,
 * with the reason in err; failed as soon as the device is lost (is_alive). Outputs that can be compared are
 * checked after the warm-up (without shares_operands: after the first samples, and only for algorithms that
 * may be measured in full); an error above tolerance_of gives the status `mistrusted` (suspect). Returns -1
 * if cancelled. */
int measure_problem(const struct offers *offers, const struct problem *p, const char *text,
	const struct measure_options *o, enum status *status, struct error *err);

/* Returns the maximum number of algorithms that are tried. */
int measure_most(const struct measure_options *o);

/* Returns the number of executions in an amortized sample; one_ns: duration of one. */
int64_t measure_executions(double one_ns);

/* Returns the number of copies of the constant operands, the first included, so that pass_bytes pass before
 * one is used again, as far as memory allows. It is equal for all algorithms, so that they find their
 * constants in the same cache. */
int64_t measure_sets(double constant_bytes, double pass_bytes, double rotation_bytes, int contenders);

/* Returns how many copies of the constant operands, the first included, memory allows: rotation_bytes for all
 * algorithms, MEASURE_SETS_BYTES to the nearest copy for one. */
double measure_room(double constant_bytes, double rotation_bytes, int contenders);

/* The states of the caches in the order in which they are measured; i: 0 to CACHE_STATES - 1. */
enum cache measure_cache(int i);

/* Returns how many bytes to read so that no constant operand is still in the last-level cache when it is
 * used again. */
double measure_enough_bytes(double llc_bytes);

#endif
