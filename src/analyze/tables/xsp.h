/* The fifteen analyses A1 to A15 of XSP (Li, Dakkak, Xiong, Wei, Xu, Hwu: "XSP: Across-Stack Profiling and
 * Analysis of Machine Learning Models on GPUs", IPDPS 2020, section III-D), from the available levels: model,
 * layer, kernel. Some need only the bound. An analysis is a table. Six more tables need only the bound:
 * costs by type, scope, class and limit, their distribution, and what each what-if gains in each layer.
 *
 * Leveled correction (section III-C of the paper): a profiler adds its cost to the levels above the one that
 * it observes, so each level's latency comes from the execution in which it is the deepest profiled level:
 * the model's from runs without a profiler, the layers' from profiles of layers alone, less the predicted
 * cost of the profiler, the kernels' from the device's own times. */
#ifndef ANALYZE_XSP_H
#define ANALYZE_XSP_H

#include "analyze/bound/analyzer.h"
#include "profile/match/match.h"

enum xsp_unit {
	XSP_TEXT,
	XSP_INDEX, /* a number of a layer, a batch */
	XSP_COUNT, /* occurrences */
	XSP_NS,
	XSP_BYTES,
	XSP_SHARE, /* 0 to 1 */
	XSP_FLOPS,
	XSP_RATE,      /* FLOP/s */
	XSP_INTENSITY, /* FLOP/byte */
	XSP_PER_S      /* items/s */
};
const char *xsp_unit_name(enum xsp_unit u); /* "text" "index" "count" "ns" "bytes" "share" "flops" ... */

struct xsp_column {
	const char *name;  /* in JSON and CSV: "latency_ns" */
	const char *label; /* in text: "latency" */
	enum xsp_unit unit;
};

struct xsp_cell {
	const char *text; /* XSP_TEXT, clean; "" unknown */
	double number;    /* else; NaN unknown */
	bool estimated;   /* a roofline, a proxy or an assumption is in the number: print `~` */
};

/* Levels that an analysis needs. */
enum { XSP_MODEL = 1, XSP_LAYER = 2, XSP_KERNEL = 4 };

struct xsp_table;
struct xsp_levels;
struct xsp_analysis {
	const char *id;    /* "A6" */
	const char *name;  /* "type-latency" */
	const char *title; /* one line */
	unsigned levels;
	bool from_bound;   /* also from the bound alone */
	bool bound_alone;  /* only from the bound, not part of XSP */
	const struct xsp_column *columns;
	int column_count;
	void (*fill)(struct xsp_table *t, struct xsp_levels *l); /* private */
};
const struct xsp_analysis *xsp_analyses(int *count); /* A1 to A15, B1 to B6; static storage */
/* Sets bit i for analysis i of a list of ids and names, "A2,layer-latency", or "all". Returns -1 with an
 * error that lists them. bound: accepts only analyses that need nothing but the bound. */
int xsp_parse(const char *list, bool bound, unsigned *wanted, struct error *err);

/* An execution and its match with the plan. */
struct xsp_execution {
	const struct execution *execution;
	const struct match *match; /* NULL: not matched */
};

struct xsp_input {
	const struct plan *plan;
	const struct analysis *bound; /* of the plan; NULL: unknown */
	const struct peaks *peaks;    /* of the device; NULL: unknown */
	const struct ground *ground;  /* what the bound is an analysis of; NULL: no gains of what-ifs */
	const char *device;           /* its model, for notes; NULL: unknown */
	/* The first execution is analyzed. Others of the same framework, provider, data type and batch lend
	 * it levels; those of other batches are in A1. With count 0 only the bound is analyzed. */
	const struct xsp_execution *executions;
	int execution_count;
};

struct xsp_table {
	const struct xsp_analysis *analysis;
	int row_count;
	struct xsp_cell *cells; /* row_count times column_count */
	const char *missing; /* why there is no row: the level that is missing, and how to get it; or NULL */
	const char *note;       /* one line on totals, peaks, gaps; "" */
	struct arena *arena;    /* holds the table */
	int capacity, at;       /* private, while it is filled */
};
/* In the arena. The inputs must outlive it. */
struct xsp_table *xsp_analyze(
	struct arena *a, const struct xsp_analysis *analysis, const struct xsp_input *in);
const struct xsp_cell *xsp_cell(const struct xsp_table *t, int row, int column);

#endif
