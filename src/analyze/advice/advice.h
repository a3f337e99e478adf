/* Advice: the optimizations of a model on a device, ranked by what each would save. */
#ifndef ANALYZE_ADVICE_H
#define ANALYZE_ADVICE_H

#include "analyze/bound/analyzer.h"

enum advice_kind {
	ADVICE_FUSION,    /* fuse the groups of one pattern */
	ADVICE_ALGORITHM, /* run the fastest algorithm of some problems, not the library's first choice */
	ADVICE_UNITS,     /* another data type, matrix units, relaxed math: one of them, or together */
	ADVICE_LAUNCH,    /* spread the launch cost: CUDA graphs */
	ADVICE_PARALLEL,
	ADVICE_LAYOUT,
	ADVICE_PAD,       /* channels padded to a multiple of 8 */
	ADVICE_FOLD,      /* remove what graph optimizers remove */
	ADVICE_JOIN,      /* run matmuls of one value as one */
	ADVICE_TYPE,      /* the f32 model: the device lacks its type (session/type_lack.h) */
	ADVICE_KINDS
};

struct advice {
	enum advice_kind kind;
	const char *title;      /* "fuse Conv+BatchNorm+Relu in 33 places" */
	const char *dtype;      /* the type after it, "bf16" */
	const char *what_ifs;   /* the what-ifs that are on after it, as in scenario_text */
	int layer_count;        /* layers whose cost it changes; 0: all */
	const int *layers;      /* ascending */
	double saves_ns;        /* alone: bound before all advice minus bound with it only; NaN: that bound
				   is unknown */
	double saves_after_ns;  /* bound after all advice above it minus bound with it too: never a sum of
				   gains */
	double saves_lo_ns, saves_hi_ns; /* interval of saves_ns, */
	double after_lo_ns, after_hi_ns; /* and of saves_after_ns (interval_saved) */
	double total_ns;        /* after it and all above it */
	bool estimated;         /* one of these bounds contains estimates: print `~` */
	bool noisy;             /* a measurement that it replaces, or takes, is noisy */
	bool at_most;           /* a limit by the peaks, not a measurement: it saves that much or less, so the
				   lower ends are 0 and what all advice saves at least is without it */
	bool unclear;           /* it may save nothing: the interval of saves_after_ns has 0 */
};

/* An optimization that the advice leaves out, and what it lacks. */
enum advice_lack { LACKS_RESULTS, LACKS_ESTIMATES, LACKS_PEAKS, ADVICE_LACKS };
struct advice_gap {
	enum advice_lack lack;
	const char *what;       /* what-if or data type: "fusion", "bf16" */
	bool is_type;
	int problems;           /* distinct problems that lack it, fused ones too; 0 with LACKS_PEAKS */
};

struct advice_list {
	double start_ns;        /* the bound without advice; NaN: unknown */
	double least_ns;        /* after all advice: the lowest bound found */
	bool complete;          /* no layer is missing in them */
	bool estimated;
	int count;
	struct advice *items;   /* each saves most after those above, by the lower end */
	double saves_lo_ns;     /* lower end of what all advice saves: start_ns - least_ns */
	bool noisy;             /* some advice is */
	double overhead_ns;     /* of the start: layers that are bound by overhead (bound/limit.h); fewer bits
				   do not help them. NaN: no limit is known */
	int overhead_layers;
	int gap_count;
	struct advice_gap *gaps;
	const char *what_ifs;   /* for which the problems of the gaps are measured, with those of the start,
				   as in scenario_text */
	double real_ns;         /* the fastest real execution of the model that is comparable; NaN: none */
	const char *real_by;    /* its framework */
	double target_ns;       /* as given; NaN: none */
	bool reached;           /* by items, which then are only those that the target needs; or without
				   any */
};

/* What the advice may use: the plans of the same model and batch in other types, each with its results. */
struct advice_plan {
	struct ground on;
	const char *dtype;
	bool matrix; /* a run in this type uses matrix units, without being asked to */
};

/* Finds advice for the scenario `start` of plans[0]. Greedy: the move that saves most under all moves before
 * it comes next, as long as one saves 0.2% of the bound; moves that only save together (a type with the units
 * and the math that it needs) are tried together. A bound that lacks other layers than the start's is not
 * compared. target_ns (NaN: none): stops where the bound reaches it, then leaves out moves without which it
 * is still reached. Texts and arrays live in arena a, or are borrowed from the plans. Time: the square of the
 * number of moves (at most 64) times that of an analysis. */
struct advice_list advice_find(struct arena *a, const struct advice_plan *plans, int plan_count,
	const struct scenario *start, double target_ns);

/* The same in steps, each of about one analysis. It works on a snapshot: results, peaks and device may change
 * meanwhile, but plans and fusions must stay, and results may not be freed before d. advice_step: false once
 * it is done. advice_end: hands over what was found, in arena a; advice_cancel (d may be NULL): drops it.
 * Both free d, which may then point to plans that are freed. */
struct adviser;
struct adviser *advice_begin(
	const struct advice_plan *plans, int plan_count, const struct scenario *start, double target_ns);
bool advice_step(struct adviser *d);
struct advice_list advice_end(struct adviser *d, struct arena *a);
void advice_cancel(struct adviser *d);

#endif
