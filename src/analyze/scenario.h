/* A scenario: the set of what-ifs that are on. Passed by value or pointer, never global. Batch and data type
 * select the plan instead. */
#ifndef ANALYZE_SCENARIO_H
#define ANALYZE_SCENARIO_H

#include "base/error.h"
#include "problem/dtype.h"
#include "problem/result.h"

struct scenario {
	bool parallel;        /* longest path instead of the sum */
	bool fusion;          /* a group may be replaced by its measured fused problem */
	bool matrix;          /* algorithms on matrix units are allowed (also if their use is unknown) */
	bool best;            /* the fastest algorithm; off: the library's preferred one */
	bool amortized;       /* launch amortized; off: isolated */
	bool relaxed;         /* math relaxed: algorithms that round operands to lower precision (tf32 ...)
				 are allowed */
	bool nxc;             /* layout: channels last throughout, conversions measured; off: layout of the
				 library or ONNX */
};

/* Algorithm best, launch amortized; parallel, fusion, matrix, math and layout off. */
struct scenario scenario_default(void);

/* A row of the what-if table, from which help, --what-if, the status line and the man page are generated. */
struct what_if {
	const char *name;     /* "parallel" */
	char key;             /* 'p' */
	const char *label;    /* short, for the status line */
	const char *text;     /* one line of help */
	bool (*get)(const struct scenario *s);
	void (*set)(struct scenario *s, bool on);
	const char *on, *off; /* words for --what-if name=WORD: "on"/"off", "best"/"preferred",
				 "amortized"/"isolated" */
	bool quiet;           /* in the status line only if it is on or has a figure */
	const char *absent;   /* why it is not available for a model and device */
};
const struct what_if *what_if_table(int *count); /* static storage */
/* Applies "fusion,matrix=off,algorithm=preferred" to s; a bare name switches on. On error (-1) s is
 * unchanged; the error lists the names. */
int scenario_parse(struct scenario *s, const char *list, struct error *err);
/* Comma-separated names of the what-ifs that are on, into buf; only whole names that fit. */
char *scenario_text(const struct scenario *s, char *buf, size_t size);

#endif
