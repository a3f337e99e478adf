/* The messages between benanza and a runner: one JSON object per line. docs/wire.md describes the protocol
 * with examples. This room converts structs to lines and back; it does no I/O. */
#ifndef WIRE_WIRE_H
#define WIRE_WIRE_H

#include "base/json.h"
#include "problem/execution.h"

#define WIRE_MAGIC "BENANZA-RUNNER"
#define WIRE_VERSION 1
#define WIRE_HELLO_BEGIN "{\"magic\":\"" WIRE_MAGIC "\""
#define WIRE_LINE_MAX (1 << 20)     /* bytes, without the newline */
#define WIRE_HEARTBEAT_MS 500
#define WIRE_BUDGET_MS 200          /* default time for one algorithm of a problem */
#define WIRE_BUDGET_MS_MAX 86400000
#define WIRE_CHUNK (1 << 19)        /* most bytes of a file in one message */
#define WIRE_HASH 64                /* characters of a SHA-256 */
#define WIRE_NEXT_MAX 31            /* problems that a RUN may name besides its own */

enum wire_type {
	/* to the runner */
	/* id, kind, problem or payload, budget_ms, caches, launches, samples, all, next, algorithm, model */
	WIRE_RUN,
	WIRE_ALGORITHMS, /* id, problem, all: list the algorithms, measure none */
	WIRE_CANCEL,	 /* id (0: all queued and running jobs) */
	WIRE_QUIT,
	WIRE_FILE,	 /* id, sha256, offset, data; or what: why the file cannot be sent */
	/* from the runner */
	WIRE_ALGORITHM, /* id, algorithm: reply to WIRE_ALGORITHMS, one message per algorithm */
	WIRE_RESULT,	/* id, kind, result */
	/* id, status, why, left_out: the last message of a job; kind; problem, all, and after a run caches
	 * and launches, so that a batch can skip the jobs that its output file already has */
	WIRE_DONE,
	WIRE_CHECK,	/* id, problem, algorithm, status, why, worst, allowed: --check, one per algorithm */
	WIRE_HEARTBEAT, /* id (0: idle), what: current algorithm and state */
	WIRE_LOG,	/* what: text */
	/* messages of an agent */
	WIRE_NEED,	/* id, sha256, offset, bytes: asks for a part of a file of the request */
	WIRE_EXECUTION, /* id, execution, whose rows follow */
	WIRE_ROW,	/* id, row: the next row of the execution's profile */
	WIRE_TYPE_COUNT
};

/* A file of the model: the model itself has the name "". */
struct wire_part {
	const char *name; /* path from the model's directory: wire_part_is_below */
	int64_t bytes;
	const char *sha256; /* hexadecimal, lower case */
};
/* Returns true if the name is a path in the model's directory or below it: no part is empty, begins with a
 * dot or has a backslash. */
bool wire_part_is_below(const char *name);

/* A model input, with the shape that is used. */
struct wire_input {
	const char *name, *dtype; /* "f32" */
	int rank;
	const int64_t *shape;
	double low, high; /* range of an integer input; NaN: 0 to 1 */
};

/* A change that is tried beside the unchanged model (docs/wire.md, "Trials"): values that the changed side
 * has instead of those of the request. "" and 0: as in the request. */
struct wire_try {
	const char *move; /* its name: "batch=8" */
	const char *provider, *dtype, *level;
	const char *pages; /* of the framework's heap: "2m" */
	int threads;
	int64_t batch;
	int input_count;
	const struct wire_input *inputs;
};

/* What a trial measured besides the execution of the changed side. */
struct wire_trial {
	struct sample_stats base; /* latency of the unchanged side, in turn with the changed one */
	double gain; /* time of an item of the unchanged side divided by that of the changed one: the median
			over the rounds */
	double lo, hi;            /* its 95% interval; NaN: unknown */
	int64_t rounds;
};

/* A request to run a model (docs/wire.md). Absent texts are "", absent numbers have the defaults there. */
struct wire_model {
	const char *path; /* path on the parent's machine */
	int64_t bytes;
	const char *sha256;
	int external_count;
	const struct wire_part *external; /* files of external data, names from the model's directory */
	int input_count;
	const struct wire_input *inputs;
	int64_t seed, batch; /* batch 0: unknown */
	const char *provider, *dtype, *level;
	int threads, requests;
	bool own_type;    /* dtype is that of the model: nothing is converted */
	bool io_binding, profile, compare;
	const char *options; /* JSON object of texts, for the framework itself; "": none */
	const struct wire_try *change; /* NULL: no trial */
};

struct wire_message {
	enum wire_type type;
	int64_t id;
	/* RUN, RESULT, DONE: the job's kind; NULL or "": JOB_PROBLEM, which a parsed message always has. A
	 * job of another kind has no problem, but a payload: a text of less than PROBLEM_TEXT_SIZE bytes,
	 * which is result.problem in its results. */
	const char *kind, *payload;
	const char *problem;
	int64_t budget_ms;
	bool caches[CACHE_COUNT];
	bool launches[LAUNCH_COUNT];
	bool samples;            /* RUN: send the raw samples too */
	bool all;                /* RUN, ALGORITHMS, DONE: all algorithms, not only those that heuristics
				    return */
	int next_count;          /* RUN: the problems that will probably follow */
	const char *const *next;
	int64_t left_out;        /* DONE: algorithms that were left out for a limit of the runner */
	enum status status;      /* DONE, CHECK */
	bool leaves;             /* DONE: the runner lost its device and exits, */
	bool retry;              /* not through this problem, as far as is known: it may be sent again */
	double worst, allowed;   /* CHECK: relative errors; NaN: unknown */
	const char *what;        /* DONE, CHECK, FILE: why; HEARTBEAT, LOG: text */
	struct algorithm algorithm;
	struct result result;
	const double *sample_ns; /* RESULT: raw samples in the order taken, if RUN requested them. Only for */
	int64_t sample_count;    /* wire_format; a reader takes them from json["sample_ns"] */
	const struct wire_model *model;	    /* RUN of the kind JOB_MODEL; NULL: no request */
	const struct execution *execution;  /* EXECUTION: without rows */
	const struct wire_trial *trial;     /* EXECUTION of a trial that was measured; else NULL */
	const struct execution_row *row;    /* ROW */
	const char *sha256;      /* NEED, FILE: which file, by its content */
	int64_t offset, bytes;   /* NEED: bytes at most WIRE_CHUNK; FILE: offset */
	struct text data;        /* FILE: its bytes there; at most WIRE_CHUNK */
	json_t *json;            /* owns the strings of a parsed message; freed by wire_free */
	struct arena arena;      /* of a parsed message: model, execution, row, data */
};

/* Returns the hello, the first line of a runner: magic, protocol version and device. malloc'd, with
 * newline. */
char *wire_hello(const struct device *d);
/* Parses a hello. Returns 1 and fills d (strings are clean, in the arena); 0 if the line is not a hello (a
 * login banner, for example); -1 if the hello cannot be used, such as that of another protocol version. */
int wire_parse_hello(const char *line, struct arena *a, struct device *d, struct error *err);

/* The same for a line with other text before the hello: a prompt, or an escape sequence that sets a
 * terminal's title. Sets *at to the offset of the hello. line.p[line.n] must be NUL. */
int wire_find_hello(struct text line, struct arena *a, struct device *d, size_t *at, struct error *err);

/* True if the message is about a problem, not about a job of another kind. */
bool wire_is_problem(const struct wire_message *m);
bool wire_is_repeat(const struct wire_message *m);

/* Returns the message as one line with newline, malloc'd. */
char *wire_format(const struct wire_message *m);
/* Parses a line. Absent strings become "", absent numbers NaN. Every text is clean (text_clean); only
 * `kernels` may contain newlines. Returns -1 if the line is not a valid message: m then needs no wire_free,
 * and m->id is the line's id if it has one, for the reply. */
int wire_parse(const char *line, size_t n, struct wire_message *m, struct error *err);
void wire_free(struct wire_message *m);

/* A result as a JSON object. */
json_t *wire_result_to_json(const struct result *r);

#endif
