/* The outcome of measuring one problem under one algorithm: what runners send, the store keeps, analysis reads. */
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

/* Where operands are when an execution starts (docs/wire.md): net = activations warm, constants rotated past the
 * last-level cache; warm = as the last run left it; cold = everything rotated or flushed. */
enum cache { CACHE_NET, CACHE_WARM, CACHE_COLD, CACHE_COUNT };
/* isolated = one execution between two clock marks; amortized = N back to back, divided by N. */
enum launch { LAUNCH_AMORTIZED, LAUNCH_ISOLATED, LAUNCH_COUNT };
/* Matrix units: AMX and tensor cores count, VNNI does not. */
enum matrix { MATRIX_UNKNOWN, MATRIX_NO, MATRIX_YES };
/* Why sampling stopped. disturbed: the machine was never calm for long enough; all samples count, and the interval is at
 * least their range. */
enum stop { STOP_NONE, STOP_CONVERGED, STOP_BUDGET, STOP_SHORTLIST, STOP_CANCELLED, STOP_DISTURBED, STOP_COUNT };

const char *status_name(enum status s);
const char *cache_name(enum cache c);
const char *launch_name(enum launch l);
const char *matrix_name(enum matrix m); /* "unknown" "no" "yes" */
const char *stop_name(enum stop s);
/* -1 when the name is none. */
int status_parse(const char *name);
int cache_parse(const char *name);
int launch_parse(const char *name);
int matrix_parse(const char *name);
int stop_parse(const char *name);

/* One implementation a library offers for a problem. Name and layouts together identify it for one problem. */
struct algorithm {
	const char *api;      /* "oneDNN" */
	const char *name;     /* the library's own: "brgconv:avx512_core" */
	const char *layouts;  /* what was chosen for `any`: "src=nChw16c wei=OIhw16i16o dst=nChw16c", "" if nothing */
	const char *math;     /* math mode: "strict" ... */
	int rank;             /* place in the library's own order, 0 = its first choice (preferred) */
	enum matrix matrix;
	double workspace_bytes;
	const char *notes;    /* what the library says of its numerics and engine: "winograd down_convert"; "" nothing */
};

/* All times in ns per execution; NaN where unknown. Statistics are set only when status is ok. */
struct sample_stats {
	int64_t n, discarded;         /* samples kept; thrown away */
	int64_t executions;           /* per sample (amortized: N) */
	double min, q1, median, q3, mean, stdev;
	double lo, hi;                /* 95% confidence interval of the median (order statistics); of 2 to 5
				         samples, for which there is none, their range; of one, NaN */
	enum stop stop;
};

struct result {
	const char *problem;
	struct algorithm algorithm;   /* name "" when the problem as a whole failed before any was tried */
	enum status status;
	enum cache cache;
	enum launch launch;
	struct sample_stats stats;
	const char *why;              /* one line when not ok, and of ok ones that were disturbed, else "" */
	const char *kernels;          /* device kernels that one execution ran, one a line; "" unknown */
	double enqueue_ns;            /* host time to enqueue one execution; NaN unknown or without meaning */
	double clock_mhz;             /* device clock while it ran; NaN unknown */
	int64_t measured_at;          /* seconds since the epoch */
	const char *runner_version;
	double rotated_bytes;         /* net: bytes of constant operands that passed before the first came back; 0 none
				         rotate, NaN not told. On the wire only, not kept */
};

/* Who measured. `model` and `stack` are the identity: results of two identities never mix in one bound. */
/* The kinds of jobs that a runner answers are words of lower case letters, digits, '_' and '-', at most
 * JOB_KIND_MAX bytes. A problem (its text is the payload) is the first and so far the only one. */
#define JOB_PROBLEM "problem"
#define JOB_KIND_MAX 32
bool job_kind_is_valid(const char *kind);
/* True if `jobs` of a device contains the kind. NULL and "" are a runner from before this list: it answers
 * problems. */
bool jobs_contain(const char *jobs, const char *kind);

struct device {
	const char *name;      /* what -d selects: "cpu", "cuda:0" */
	const char *model;     /* "AMD EPYC 7B13" */
	const char *stack;     /* libraries, versions, threads, affinity, math: "oneDNN 2.6.3, 2 threads bound, strict" */
	const char *runner;    /* program name */
	const char *version;   /* runner version (attribute) */
	const char *host;      /* attribute */
	const char *attributes;/* JSON text of everything else (attribute): isa, clocks, driver ... */
	int threads;           /* 0 where it means nothing */
	double llc_bytes;      /* last-level cache; NaN unknown */
	bool has_matrix;       /* has matrix units at all */
	const char *jobs; /* kinds of jobs that its runner answers, separated by a blank; see jobs_contain */
};

/* A copy whose strings live in the arena; NULL strings become empty. */
struct device device_copy(struct arena *a, const struct device *d);
struct result result_copy(struct arena *a, const struct result *r);

#endif
