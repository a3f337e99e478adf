/* What an execution has besides its latency: one table for reports, JSON and the explorer. */
#ifndef PROBLEM_EXECUTION_FIGURE_H
#define PROBLEM_EXECUTION_FIGURE_H

#include <stddef.h>

#include "problem/execution.h"

/* The line of a report in which it stands. */
enum figure_line { FIGURE_START, FIGURE_RUNS, FIGURE_SETUP, FIGURE_LINES };
const char *figure_line_name(enum figure_line line); /* "start" */

enum figure_unit { FIGURE_NS, FIGURE_BYTES, FIGURE_COUNT, FIGURE_RATE, FIGURE_SHARE };

struct execution_figure {
	const char *key;   /* in JSON */
	const char *label; /* "first run"; of a count or rate, what is counted: "samples" */
	enum figure_line line;
	enum figure_unit unit;
	size_t offset;     /* of a double in struct execution; 0: `get` computes it, else it is a setting */
	double (*get)(const struct execution *e);
};
const struct execution_figure *execution_figures(int *count);
/* NaN: unknown. */
double execution_figure_value(const struct execution *e, const struct execution_figure *f);
/* "52.0 ms"; "-" if it is unknown. In the arena. */
const char *execution_figure_text(struct arena *a, const struct execution_figure *f, double value);

/* Returns the known ones of a line, "import 812 ms, load 310 ms, first run 52.0 ms"; "": nothing is known.
 * FIGURE_SETUP also has the settings that differ from an agent's usual ones: "3 requests at a time, graph
 * optimizations basic, NUM_STREAMS=2". Clean, in the arena. */
const char *execution_figures_line(struct arena *a, const struct execution *e, enum figure_line line);

#endif
