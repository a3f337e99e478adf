/* Prints plans and analyses as JSON (benanza-json(5)), CSV and text tables. */
#ifndef COMMANDS_REPORT_H
#define COMMANDS_REPORT_H

#include "analyze/tables/sweep.h"
#include "analyze/advice/advice.h"
#include "session/session.h"
#include "table/lines.h"
#include "table/print.h"
#include "table/tables/total.h"

#include <stdio.h>

struct advice_target;
struct options;

/* Prints remembered dimensions on standard error, for outputs that do not show them. */
void report_dims_note(const struct session *s);
/* Prints a note if -b is not used because --input sets another batch, unless --quiet. batch: that of -b. */
void report_batch_note(const struct session *s, const struct options *o, int64_t batch);
/* `layers --json`, one object. */
void report_layers_json(const struct session *s, FILE *out); /* one line */
/* constants: also list the layers that only compute constants. */
void report_layers_text(const struct session *s, bool constants, FILE *out);

/* `bound --json`: one object of the session's current analysis. t: session_trust. */
json_t *report_bound_json(const struct session *s, const struct trust *t);
/* The verdict on a total: "trust" in `bound --json` and `compare --json`. */
json_t *report_trust_json(const struct trust *t);
void report_bound_text(const struct session *s, const struct trust *t, FILE *out);
/* Appends the interval of a bound, and what of it is no 95% interval: one line without its end. */
void report_interval(const struct analysis *a, struct str *out);
/* The samples that a wide interval lacks: their problems, the command that takes them. */
#define REPORT_WIDE 0.25 /* a wide interval: an end is further from the bound than this share of it */
struct report_lack {
	const char *command; /* "bench --shaky"; NULL: the interval is not wide, or of estimates */
	int problems;
	double spent_s;      /* what their present samples took; NaN: not stored */
};
struct report_lack report_lack_of(const struct session *s);
/* The same as a line, or none. */
void report_lack_text(const struct session *s, FILE *out);
/* The graph in Graphviz's language: a node a layer, coloured by its cost. */
void report_bound_dot(const struct session *s, FILE *out);
/* A page for a browser that needs nothing else, and says how each number was made. */
void report_bound_html(struct session *s, const struct trust *t, FILE *out);
/* The forms of files in which the explorer saves these. */
extern const struct session_export report_exports[];
/* parallel=measured: its lines on branches side by side; the same as JSON, null with another choice. */
void report_besides_text(const struct session *s, FILE *out);
json_t *report_besides_json(const struct session *s);
/* "sequential", "parallel" or "side by side". */
const char *report_bound_kind(const struct analysis *a);
/* Its lines on limits and memory. */
void report_bound_uses(const struct session *s, FILE *out);
/* A line "BEFORE: cuBLASLt missing: reason; fix" for each library that the device's runner lacks; and the
 * lines without BEFORE as JSON. */
void report_libraries_text(const struct device *d, const char *before, FILE *out);
json_t *report_libraries_json(const struct device *d);
/* The number of layers whose measurement is noisy (docs/wire.md: stop "disturbed"). */
int report_disturbed(const struct analysis *a);
/* The value of -t that gives the plan its type; "": it has the model's own, so that none is needed. */
const char *report_type_option(const struct session *s);

/* Model, dimensions, type and device: the lines above a report. most: of report_path_line. */
void report_head_text(const struct session *s, int most, FILE *out);
/* Prints a line of the dimensions, and one of the operators that the user describes, if there are any. */
void report_given_text(const struct session *s, FILE *out);
/* Prints a line: `before`, then the dimensions with their sources, without the batch and those in `but`.
 * Prints nothing if no dimension is left. */
void report_dims_text(
	const struct session *s, const char *before, const struct dim_binding *but, int but_count, FILE *out);

/* `advise`. from: the scenario that the advice starts from; target: what --target asks for. */
void report_advice_text(const struct session *s, const struct advice_list *l, const struct scenario *from,
	const struct advice_target *target, FILE *out);
json_t *report_advice_json(
	const struct session *s, const struct advice_list *l, const struct scenario *from);

/* Missing values (plan_needs): an array of strings; one line of text, nothing if no value is missing. */
json_t *report_needs_json(const struct plan *p);
void report_needs_text(const struct plan *p, FILE *out);

/* The first two fields of every CSV line, "8,bf16,"; the batch is empty if unknown. */
void report_csv_plan(FILE *out, const struct plan *p);

#endif
