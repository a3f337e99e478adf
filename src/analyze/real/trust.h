/* How far the total of an analysis can be trusted: where its time comes from, what real executions say about
 * it, and one line with a verdict. Pure functions. */
#ifndef ANALYZE_TRUST_H
#define ANALYZE_TRUST_H

#include "analyze/real/reality.h"

/* Where the time of a total comes from: name in JSON, word after a percentage. A suspect measurement is not
 * counted as noisy too. */
#define TRUST_PART_LIST(_)                  \
	_(MEASURED, "measured", "measured") \
	_(NOISY, "noisy", "noisy")          \
	_(SUSPECT, "suspect", "suspect")    \
	_(PROXY, "proxy", "by proxy")       \
	_(ASSUMED, "assumed", "given")      \
	_(ESTIMATED, "estimated", "estimated")
enum trust_part {
#define TRUST_ENUM(id, name, word) TRUST_##id,
	TRUST_PART_LIST(TRUST_ENUM)
#undef TRUST_ENUM
	TRUST_PART_COUNT
};
const char *trust_part_name(enum trust_part p);

/* Verdicts, from the worst to the best. The table of thresholds is in trust.c and in benanza(1). */
enum trust_verdict {
	TRUST_UNKNOWN,  /* no total is known */
	TRUST_PARTIAL,  /* layers are missing: the total is "at least" */
	TRUST_LOW,
	TRUST_ESTIMATE, /* at least half of it is estimated */
	TRUST_FAIR,
	TRUST_GOOD,
	TRUST_VERDICT_COUNT
};
const char *trust_verdict_name(enum trust_verdict v); /* "good" */

/* The next step. */
enum trust_next {
	TRUST_NEXT_NONE,
	TRUST_NEXT_BENCH,   /* measure missing problems */
	TRUST_NEXT_SHAKY,   /* measure noisy results again */
	TRUST_NEXT_AGAIN,   /* measure everything again */
	TRUST_NEXT_COMPARE, /* see which layers are contradicted */
	TRUST_NEXT_RUN,     /* run the model with a framework */
	TRUST_NEXT_COUNT
};
/* The command of each step: "bench --shaky"; NULL for NONE. */
extern const char *const trust_commands[TRUST_NEXT_COUNT];

/* What comparable executions of the model say about the bound. */
struct contradicted {
	bool known;       /* the database was searched for executions */
	int executions;   /* comparable ones, the newest of each setup */
	int able;         /* those of them that can contradict this bound (reality.not_comparable) */
	int layers;       /* layers that one of them runs faster than the bound, with disjoint intervals */
	int not_again;    /* those of them that were not measured again in turn (reality_turn) */
	int whole;        /* executions that are faster than the bound as a whole */
	int unclear;      /* those that are faster, but whose interval is not apart from the bound's */
	double ns;        /* the larger of: what these layers take less than the bound's cost of the same
			     work (reality_group.cost_ns), each in its fastest execution, where a group's
			     difference is divided equally among its layers; what the fastest whole takes
			     less. 0: nothing is contradicted */
	const char *by;   /* the framework of those executions, borrowed; NULL: none, or several */
};
/* Returns what these executions, all beside the same bound, say about it; known is true. layer_count: of the
 * plan. first: per layer the first of the list that contradicts the bound there, set to NULL without one; may
 * be NULL. Time: the layers and the groups. */
struct contradicted contradicted_of(const struct reality *const *list, int count, int layer_count,
	const struct reality **first);

struct trust {
	enum trust_verdict verdict;
	double share[TRUST_PART_COUNT]; /* of the total (with parallel on, of the layers on the longest
					   path), 0..1; they add up to 1. NaN without a total, or if it is
					   0. Casts, conversions and the host's enqueue time count as
					   measured, or as estimated if border_estimated */
	int missing, unsupported; /* layers without a cost */
	const char *option;       /* with which the first of these has a cost, borrowed; NULL: none */
	int open;                 /* layers whose cost is "at least" */
	bool border_missing;      /* casts or conversions have no cost */
	double total_ns, lo_ns, hi_ns; /* of the analysis */
	double uncertainty;       /* half the interval / total; NaN without an interval */
	bool loaded;              /* it is wide only by what other work may have added to what is not
				     noisy, and a runner is at hand */
	struct contradicted against;
	bool measurable;          /* a runner of the device is at hand */
	bool counted;             /* the gaps are counted beside the text: it has no number of them */
};

/* Returns how far analysis a of plan p can be trusted. c: what executions say; NULL: unknown. measurable: a
 * runner can measure missing problems, so that the line suggests it. */
struct trust trust_of(
	const struct plan *p, const struct analysis *a, const struct contradicted *c, bool measurable);
/* Returns the step that the line suggests first; NONE: there is nothing to do. */
enum trust_next trust_next(const struct trust *t);
/* Appends the line: "fair: 12% noisy (bench --shaky); 88% measured; no real run yet". The verdict, then the
 * findings that lower it, the worst first and the step against it, then the rest of the total and what real
 * executions say. Findings that do not fit in `columns` are shortened or left out. steps: the text of each
 * step (trust_commands); NULL: none. */
void trust_describe(const struct trust *t, int columns, const char *const steps[TRUST_NEXT_COUNT],
	struct str *out);

#endif
