/* A scenario: the set of what-ifs in force. A value, never a global. Batch and data type select the plan. */
#ifndef ANALYZE_SCENARIO_H
#define ANALYZE_SCENARIO_H

#include "base/error.h"
#include "problem/dtype.h"
#include "problem/result.h"

struct scenario {
	bool parallel;        /* longest path instead of the sum */
	bool fusion;          /* groups may be replaced by their measured fused problem */
	bool matrix;          /* algorithms on matrix units allowed (those of unknown use count as allowed) */
	bool best;            /* least cost over algorithms; off = the library's preferred one */
	bool amortized;       /* launch amortized; off = isolated */
	bool relaxed;         /* math relaxed: algorithms that round operands to less than their type (tf32 ...) allowed */
	bool nxc;             /* layout: channels last throughout, conversions measured; off = as the library or ONNX has it */
};

/* Algorithm best, launch amortized; parallel, fusion, matrix, math and layout off. */
struct scenario scenario_default(void);

/* The what-if rows: { name, key, text, apply }; help, --what-if, the status line and the man page are made of them. */
struct what_if {
	const char *name;     /* "parallel" */
	char key;             /* 'p' */
	const char *label;    /* short, for the status line */
	const char *text;     /* one line of help */
	bool (*get)(const struct scenario *s);
	void (*set)(struct scenario *s, bool on);
	const char *on, *off; /* words for --what-if name=WORD: "on"/"off", "best"/"preferred", "amortized"/"isolated" */
	bool quiet;           /* in the status line only where it is on or has a figure */
};
const struct what_if *what_if_table(int *count);
/* "fusion,matrix=off,algorithm=preferred"; a bare name switches on. Errors list the names. */
int scenario_parse(struct scenario *s, const char *list, struct error *err);
/* Names of the toggles that are on, comma separated, into buf. */
char *scenario_text(const struct scenario *s, char *buf, size_t size);

#endif
