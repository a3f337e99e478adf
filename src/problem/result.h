/* The result of measuring one problem with one algorithm. Runners send it, the store keeps it, the analysis
 * reads it. */
#ifndef PROBLEM_RESULT_H
#define PROBLEM_RESULT_H

#include "problem/problem.h"

#define STATUS_LIST(_)           \
	_(OK, "ok")                \
	_(UNSUPPORTED, "unsupported") \
	_(NO_MEMORY, "no_memory")  \
	_(FAILED, "failed")        \
	_(CRASHED, "crashed")      \
	_(TIMEOUT, "timeout")      \
	_(MISTRUSTED, "mistrusted")
enum status {
#define STATUS_ENUM(id, name) STATUS_##id,
	STATUS_LIST(STATUS_ENUM)
#undef STATUS_ENUM
	STATUS_COUNT
};

/* State of the memory when an execution starts (docs/wire.md). net: activations warm, constants out of the
 * last-level cache (by rotation through copies); warm: as left by the previous execution; cold: nothing
 * cached. The others are reuse distances, powers of two from 1 to 512 MiB: that number of bytes passes
 * between two uses of a constant (its LRU stack distance), activations are warm. The second half are the same
 * states with operands in pages of 2 MiB instead of those that the system gives. */
enum cache {
	CACHE_NET,
	CACHE_WARM,
	CACHE_COLD,
	CACHE_NEAREST,                  /* 1 MiB */
	CACHE_FARTHEST = CACHE_NEAREST + 9, /* 512 MiB */
	CACHE_STATES,                   /* number of states without regard to pages */
	CACHE_COUNT = 2 * CACHE_STATES
};
/* isolated: one execution between two readings of the clock; amortized: N executions back to back, time
 * divided by N. On a GPU both are its own time: the host enqueues before the GPU begins (docs/gpu.md). */
enum launch { LAUNCH_AMORTIZED, LAUNCH_ISOLATED, LAUNCH_COUNT };
/* Use of matrix units: AMX and tensor cores are matrix units, VNNI is not. */
enum matrix { MATRIX_UNKNOWN, MATRIX_NO, MATRIX_YES };
/* Why sampling stopped. disturbed: the budget ended while the interval of the cost was wide, or with too few
 * undisturbed samples (a noisy result). */
enum stop {
	STOP_NONE,
	STOP_CONVERGED,
	STOP_BUDGET,
	STOP_SHORTLIST,
	STOP_CANCELLED,
	STOP_DISTURBED,
	STOP_COUNT
};

const char *status_name(enum status s); /* as in docs/wire.md */
const char *cache_name(enum cache c);   /* "net" "warm" "cold" "1m" ... "512m", "net@2m" ... */
const char *launch_name(enum launch l); /* "amortized" "isolated" */
const char *matrix_name(enum matrix m); /* "unknown" "no" "yes" */
const char *stop_name(enum stop s);
/* The value of a name; -1: no such name. */
int status_parse(const char *name);
int cache_parse(const char *name);
int launch_parse(const char *name);
int matrix_parse(const char *name);
int stop_parse(const char *name);

/* The state with the operands in pages of 2 MiB (huge) or of the system's size. */
static inline enum cache cache_in_pages(enum cache c, bool huge)
{
	return (enum cache)(c % CACHE_STATES + (huge ? CACHE_STATES : 0));
}

/* The state without regard to pages. */
static inline enum cache cache_plain(enum cache c)
{
	return cache_in_pages(c, false);
}

static inline bool cache_is_huge(enum cache c)
{
	return c >= CACHE_STATES;
}

static inline bool cache_is_distance(enum cache c)
{
	return cache_plain(c) >= CACHE_NEAREST;
}

/* Bytes that read between two uses of a constant: 0 for warm, INFINITY for net and cold. */
double cache_distance(enum cache c);
/* Copies of constants (bytes of one) that rotate at this distance, to the nearest: all but one and `other`,
 * what an execution reads besides, pass between two uses of one. At least 1, and 1 without constants. */
double cache_copies(enum cache c, double constant, double other);
/* Of the states in `there` (bits) that with the farthest reuse distance nearer than c's, else warm, both in
 * c's pages; c itself without such a state. */
enum cache cache_nearer(uint32_t there, enum cache c);
/* How far `bytes` are on the way from the next smaller distance to that of the state, on a logarithmic scale:
 * 0 to 1; 1 for states that are no distance. */
double cache_step(enum cache c, double bytes);
/* Returns the smallest reuse distance >= bytes; CACHE_NET if all are smaller or `bytes` is NaN. */
enum cache cache_at_distance(double bytes);

/* An implementation that a library has for a problem. api, name, layouts and math identify it for that
 * problem. */
struct algorithm {
	const char *api;      /* "oneDNN" */
	const char *name;     /* the library's name: "brgconv:avx512_core" */
	const char *layouts;  /* layouts chosen for operands with layout `any`: "src=nChw16c wei=OIhw16i16o
				 dst=nChw16c"; "": none */
	const char *math;     /* math mode: "strict" ... */
	int rank;             /* position in the library's order; 0: its first choice (preferred) */
	enum matrix matrix;
	double workspace_bytes;
	const char *notes;    /* the library's notes on numerics and engine, separated by a blank: "winograd
				 down_convert"; "": none */
};

/* True if the algorithm writes its destination over a source (note "in_place"). A layer can use it only if
 * nothing reads that source later. */
bool algorithm_is_in_place(const struct algorithm *a);
/* Order by name, layouts, API and math; 0: the same algorithm. */
int algorithm_compare(const struct algorithm *a, const struct algorithm *b);
struct algorithm algorithm_copy(struct arena *a, const struct algorithm *from); /* with its strings */

/* All times in ns per execution; NaN where unknown. Statistics are set only when status is ok. */
struct sample_stats {
	int64_t n, discarded;         /* samples kept; discarded */
	int64_t executions;           /* per sample (amortized: N) */
	double min, q1, median, q3, mean, stdev;
	double lo, hi;                /* 95% confidence interval of the median, from order statistics; for 2
					 to 5 samples, which are too few, their range; for one, NaN */
	double p10, p10_lo, p10_hi;   /* 10th percentile, which is the cost (stats_cost), and its 95%
					 interval; NaN or 0: of an earlier version, or another program */
	double spent;                 /* time for all samples, those discarded included; NaN or 0: unknown */
	enum stop stop;
};

/* The cost that a result stands for, ns: the 10th percentile; the median where only that is known (results
 * of earlier versions and of other programs). NaN: unknown. */
double stats_cost(const struct sample_stats *s);
/* The ends of its 95% interval; NaN: unknown. With fewer than STATS_COST_SAMPLES samples (stats.h) the lower
 * end is the minimum, which is no statistical end. */
double stats_cost_lo(const struct sample_stats *s);
double stats_cost_hi(const struct sample_stats *s);

struct result {
	const char *problem;
	struct algorithm algorithm;   /* name "": the problem failed as a whole, before any algorithm was
					 tried */
	enum status status;
	enum cache cache;
	enum launch launch;
	struct sample_stats stats;
	const char *why;              /* the reason, one line, if not ok, noisy or limited; else "" */
	const char *kernels;          /* device kernels of one execution, one per line; "": unknown */
	double enqueue_ns;            /* host time to enqueue one execution, not part of its time; NaN:
					 unknown or not applicable */
	double clock_mhz;             /* device clock during the measurement; NaN: unknown */
	int64_t measured_at;          /* seconds since the epoch */
	const char *runner_version;
	const char *sketch;           /* of its samples (stats_sketch), so that results can be pooled; "":
					 unknown */
	int times;                    /* in memory: measurements that are pooled in it; 0 counts as 1 */
	double least_ns, most_ns;     /* in memory: the lowest and the highest cost of these, */
	double lowest_hi_ns, highest_lo_ns; /* of their intervals the lowest high end, the highest low end */
	bool disputed;                /* in memory: another measurement of its key, as good, differs, and
					 none of the two was repeated more often */
	double rotated_bytes;         /* bytes of constant operands read before the first copy is reused; 0:
					 no rotation, NaN: unknown. Sent by runners, not stored */
};

/* True if the algorithm was not measured in this state, as the copies for its distance had no room. */
static inline bool result_is_beyond(const struct result *r)
{
	return r->status == STATUS_NO_MEMORY && r->algorithm.name[0] && cache_is_distance(r->cache);
}

/* The device that measured. `model` and `stack` are its identity: one bound never uses results of two
 * identities. */
/* The kinds of jobs that a runner answers are words of lower case letters, digits, '_' and '-', at most
 * JOB_KIND_MAX bytes. The payload of a problem is its text; that of a model describes a request. */
#define JOB_PROBLEM "problem"
#define JOB_QUICK "quick" /* a quick measurement of a problem, whose text is the payload */
#define JOB_REPEAT "repeat" /* one algorithm of a problem once more; the payload is the problem's text */
#define JOB_MODEL "model"
#define JOB_KIND_MAX 32
bool job_kind_is_valid(const char *kind);
/* True if `jobs` of a device contains the kind. NULL and "" are a runner from before this list: it answers
 * problems. */
bool jobs_contain(const char *jobs, const char *kind);

struct device {
	const char *name;      /* name for -d: "cpu", "cuda:0" */
	const char *model;     /* "AMD EPYC 7B13" */
	const char *stack;     /* libraries, versions, threads, affinity, math: "oneDNN 2.6.3, 2 threads
				  bound, strict" */
	const char *runner;    /* program name */
	const char *version;   /* runner version (attribute) */
	const char *host;      /* attribute */
	const char *attributes;/* JSON text of everything else (attribute): isa, clocks, driver ... */
	int threads;           /* 0: not applicable */
	double llc_bytes;      /* last-level cache; NaN unknown */
	bool has_matrix;       /* has matrix units */
	const char *jobs; /* kinds of jobs that its runner answers, separated by a blank; see jobs_contain */
	bool distances;   /* its runner measures reuse distances; false: not, or unknown */
	bool huge_pages;  /* ... and pages of 2 MiB, which its system gives */
};

/* Returns the cache state of a model with this reuse distance (bytes; NaN: unknown) on the device: the
 * smallest state of at least that distance; warm up to 1 MiB; net if the distance is unknown, or beyond twice
 * the last-level cache. The cache's nominal size is only an upper limit. */
enum cache device_cache(const struct device *d, double distance);
/* Sets the states in which such a model's problems are measured: that one, the next smaller one (costs are
 * interpolated between both), and warm; net and warm on a device without reuse distances. huge: also in pages
 * of 2 MiB, if the device has them. */
void device_states(const struct device *d, double distance, bool huge, bool caches[CACHE_COUNT]);

/* Copies with strings in the arena; NULL strings become "". */
struct device device_copy(struct arena *a, const struct device *d);
struct result result_copy(struct arena *a, const struct result *r);

#endif
