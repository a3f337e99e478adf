/* The messages between benanza and a runner: one JSON object a line. docs/wire.md shows each by example. This room
 * turns structs into lines and back; it does no I/O except on whole lines. */
#ifndef WIRE_WIRE_H
#define WIRE_WIRE_H

#include "base/json.h"
#include "problem/result.h"

#define WIRE_MAGIC "BENANZA-RUNNER"
#define WIRE_VERSION 1
#define WIRE_HELLO_BEGIN "{\"magic\":\"" WIRE_MAGIC "\""
#define WIRE_LINE_MAX (1 << 20)
#define WIRE_HEARTBEAT_MS 500
#define WIRE_BUDGET_MS 200          /* a problem and algorithm, where RUN does not say */
#define WIRE_BUDGET_MS_MAX 86400000

enum wire_type {
	/* to the runner */
	WIRE_RUN,        /* id, problem, budget_ms, caches, launches, samples */
	WIRE_ALGORITHMS, /* id, problem: list only */
	WIRE_CANCEL,     /* id (0 = everything queued and running) */
	WIRE_QUIT,
	/* from the runner */
	WIRE_ALGORITHM,  /* id, algorithm: one line each, answer to WIRE_ALGORITHMS */
	WIRE_RESULT,     /* id, result */
	WIRE_DONE,       /* id, status, why: nothing more comes for this id; problem, and of a run caches, launches: what
			    it was about, so that a file of answers tells what need not be asked again */
	WIRE_CHECK,      /* id, problem, algorithm, status, why, worst, allowed: with --check, one line an algorithm */
	WIRE_HEARTBEAT,  /* id (0 idle), what: text */
	WIRE_LOG,        /* level, what: text */
	WIRE_TYPE_COUNT
};

struct wire_message {
	enum wire_type type;
	int64_t id;
	const char *problem;
	int64_t budget_ms;
	bool caches[CACHE_COUNT];
	bool launches[LAUNCH_COUNT];
	bool samples;            /* send raw samples too */
	enum status status;      /* DONE, CHECK */
	bool leaves;             /* DONE: the runner lost its device and leaves now; another one goes on */
	double worst, allowed;   /* CHECK: relative errors, NaN unknown */
	const char *what;        /* DONE, CHECK: why; HEARTBEAT, LOG: text */
	struct algorithm algorithm;
	struct result result;
	const double *sample_ns; /* RESULT when asked for: raw samples in the order taken. Written by wire_format; */
	int64_t sample_count;    /* a reader finds them in json at "sample_ns" */
	json_t *json;            /* owns every string above; freed by wire_free */
};

/* The first line: magic, version, and who measures. Written by the runner, read by the parent. */
char *wire_hello(const struct device *d);  /* malloc'd, with newline */
/* Parses the hello. 1: a hello (strings in the arena, clean); 0: some other line (a login banner: skip it); -1: a hello that
 * cannot be used, e.g. another version; err says which and what to do. */
int wire_parse_hello(const char *line, struct arena *a, struct device *d, struct error *err);

/* The same of a line that may have a banner without an end of line before its hello: a prompt, what sets a terminal's title.
 * *at: where the hello begins. line[n] is NUL. */
int wire_find_hello(struct text line, struct arena *a, struct device *d, size_t *at, struct error *err);

char *wire_format(const struct wire_message *m); /* one line with newline, malloc'd */
/* -1: not a message (err says why); m holds nothing to free then, but its id where the line had one, so that the
 * answer can name it. Absent strings read "", absent numbers NaN. Every text is clean (text_clean); only `kernels`
 * may hold newlines. */
int wire_parse(const char *line, size_t n, struct wire_message *m, struct error *err);
void wire_free(struct wire_message *m);

json_t *wire_algorithm_to_json(const struct algorithm *g);
/* A result as JSON and back: also the batch form (JSON lines). Strings are borrowed from the object. */
json_t *wire_result_to_json(const struct result *r);
int wire_result_from_json(const json_t *o, struct result *r, struct error *err);

#endif
