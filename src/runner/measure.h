/* Measuring one problem: which algorithms, how often, when to stop. Knows backends only through backend.h and time only
 * through the options, so that it is tested with an invented one. */
#ifndef RUNNER_MEASURE_H
#define RUNNER_MEASURE_H

#include "runner/offers.h"
#include "runner/stats.h"

#define MEASURE_CONTENDERS 48 /* most algorithms of one problem that are tried */

/* How much of the last seconds of sampling and waiting went into calm samples: kept from problem to problem. Zeroed: nothing known,
 * and all is hoped to. */
struct measure_outlook {
	double calm_ns, ns; /* into calm ones, and in all */
};

struct measure_options {
	double budget_ns;          /* an algorithm, split over cache states and launches */
	bool caches[CACHE_COUNT], launches[LAUNCH_COUNT];
	double memory_bytes;       /* an algorithm that needs more is refused */
	double rotation_bytes;     /* most that copies of constant operands may take, of all algorithms together */
	double llc_bytes;          /* last-level cache; NaN unknown */
	bool shares_operands;      /* platform.h */
	int most;                  /* algorithms that are tried; 0: MEASURE_CONTENDERS */
	double glance_ns, alone_ns;/* platform.h */
	bool has_matrix;           /* then the best algorithm without matrix units is measured in full too */
	double (*now_ns)(void);    /* monotonic */
	double tolerance;          /* half-width of the median's interval at which sampling stops, relative */
	double long_ns;            /* samples from here on take disturbances as they come */
	int64_t (*disturbances)(void); /* of what measures, so far (platform.h); may be NULL */
	double (*waited_ns)(void); /* of what measures, so far (platform.h); may be NULL */
	const char *(*canary)(double *slower); /* what is wrong with the machine now (platform.h), NULL nothing; may be NULL */
	struct measure_outlook *outlook;
	bool (*is_alive)(void);    /* can anything be measured any more (platform.h); may be NULL */
	void *user;                /* of the calls below */
	bool (*cancelled)(void *user);                                         /* asked before every sample */
	void (*trying)(void *user, const struct algorithm *a, enum cache c, enum launch l); /* what begins now */
	/* One result as soon as it is known; samples are those of the result, in the order taken. */
	void (*emit)(void *user, const struct result *r, const struct samples *samples);
};

/* The usual numbers (docs/wire.md): everything but the calls, the device and the states. */
#define MEASURE_WARMUP_NS 5e6
#define MEASURE_AMORTIZED_NS 200e3 /* an amortized sample takes at least this long */
#define MEASURE_EXECUTIONS 2000    /* but no more executions than that: they may have to be recorded one by one */
#define MEASURE_LEAST_SAMPLES 10
#define MEASURE_MOST_SAMPLES 20000
#define MEASURE_SHORTLIST_SAMPLES 3
#define MEASURE_DROP_FACTOR 4.0    /* one sample slower than this times the best: no further ones */
#define MEASURE_CLOSE_FACTOR 1.25  /* those within this of the fastest on the shortlist are measured in full */
#define MEASURE_LEAST_CALM 6       /* undisturbed samples that stand for all */
#define MEASURE_WAITED_SHARE 0.05  /* of a sample: what its threads may wait for cores, together */
#define MEASURE_CANARY_NS 1e6      /* the canary is asked no more often */
#define MEASURE_CANARY_SHARE 0.02  /* and takes no more of the time */
#define MEASURE_SCATTER_FACTOR 4.0 /* a median so far above the least sample is not believed before the budget ends */
#define MEASURE_DISTURBED_TOLERANCE 0.05 /* of the median where no calm ones are to be hoped for, */
#define MEASURE_DISTURBED_SHARE 0.25 /* after so much of the budget: what disturbs comes and goes within milliseconds */
#define MEASURE_OUTLOOK_NS 1e9     /* what was so long ago counts a third */
#define MEASURE_HOPE_NS 10e6       /* so much calm is thought to have been before anything is known */
#define MEASURE_CALM_SHARE 0.5     /* so much of the budget spent on calm samples is enough, however few they are */

#define MEASURE_SETS 16384         /* most copies of the constant operands */
#define MEASURE_SETS_BYTES 512e6   /* most that those of one algorithm take */
#define MEASURE_LLC_FACTOR 2       /* so many times the last-level cache is to pass before a copy comes back */
#define MEASURE_LLC_GUESS 33554432.0

/* Measures the problem with every algorithm offered, or as many of each backend's as MEASURE_CONTENDERS allows. The outcome of the problem as a whole: ok when any algorithm was
 * measured, else what became of the last one tried, with err; failed as soon as nothing more can be measured (is_alive).
 * Every algorithm whose outputs can be compared is checked after its warm-up (without shares_operands: where it may be
 * measured in full, and after its first samples); those further off than tolerance_of says are `mistrusted`. -1: cancelled. */
int measure_problem(const struct offers *offers, const struct problem *p, const char *text,
	const struct measure_options *o, enum status *status, struct error *err);

/* Executions in an amortized sample, given what one takes. */
int64_t measure_executions(double one_ns);

/* Copies of the constant operands, the first included, that every algorithm rotates through: one number for all, so that what
 * is compared finds its constants in the same place. */
int64_t measure_sets(double constant_bytes, double llc_bytes, double rotation_bytes, int contenders);

/* What has to pass so that nothing constant is in the last-level cache when it comes back. */
double measure_enough_bytes(double llc_bytes);

#endif
