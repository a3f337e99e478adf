/* Parts of the command compare: executions beside the bound of the session's current plan. */
#ifndef COMMANDS_COMPARE_H
#define COMMANDS_COMPARE_H

#include "analyze/real/trust.h"
#include "commands/command.h"

struct compare_options {
	const char *latency; /* --latency 41.2ms; NULL: not given */
	const char *trace;   /* --trace FILE; NULL: none */
	const char *run;     /* --run ort,openvino; NULL: runs none */
	const char *trials;  /* --try[=LIST]; NULL: tries nothing */
	bool against;        /* --against */
	const char *analysis; /* --analysis LIST; NULL: none */
	bool tree;           /* --tree */
	unsigned analyses;   /* bits of --analysis (xsp_parse) */
};

/* One execution beside the bound. In an arena of the command; valid until another plan is selected. */
struct comparison {
	struct execution *execution;
	struct match *match;
	struct reality *reality;
	bool noisy;        /* its latency was disturbed by other work */
};

/* How far the bound can be trusted, with this execution alone. */
struct trust compare_trust(const struct session *s, const struct comparison *c);

/* --analysis and --tree: prints the tables and the tree of one of the `count` executions in place of the
 * report; as JSON, in its object. a: the command's arena. */
void compare_tables(struct arena *a, struct session *s, const struct options *o, struct execution *list,
	int count, const struct comparison *c);

/* Prints the comparison; ascii: no block characters. Names in tables have the columns of the terminal, at
 * least 80; in a file they are whole. */
void report_compare_text(struct session *s, const struct comparison *c, bool ascii, FILE *out);
/* One object (benanza-json(5)). */
json_t *report_compare_json(struct session *s, const struct comparison *c);
/* One line a row of the topmost level. header: with the names of the columns. number: of the execution, from
 * 1. */
void report_compare_csv(struct session *s, const struct comparison *c, int number, bool header, FILE *out);

/* Prints the difference between two executions, layer by layer. */
void report_against_text(struct session *s, const struct comparison *a, const struct comparison *b,
	const struct against *x, FILE *out);
json_t *report_against_json(struct session *s, const struct comparison *a, const struct comparison *b,
	const struct against *x);

/* A trace in the Chrome format, which Perfetto reads. An execution gives two processes: its rows, and the
 * bound's layers. Only one trace can be open. */
struct trace {
	struct output *file;
	FILE *out;
	const char *path;
	int processes;
	bool any; /* an event was written */
};
/* Returns -1 with an error if the file cannot be created or written. What is not closed is dropped with
 * output_drop(t.file). */
int trace_open(struct trace *t, const char *path, const struct output_rules *rules, struct error *err);
void trace_add(struct trace *t, struct session *s, const struct comparison *c);
int trace_close(struct trace *t, struct error *err);

#endif
