/* Finds what distorts measurements on this machine: variable clocks, busy cores, limits, environment
 * variables, libraries, the GPU's state. Reads /proc, /sys and the environment, changes nothing, needs no
 * privileges; the runners' hellos are passed in. One table of checks (doctor.c), each with a fix. */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include "base/json.h"
#include "problem/result.h"

enum doctor_outcome { DOCTOR_OK, DOCTOR_BENDS, DOCTOR_UNKNOWN, DOCTOR_OUTCOMES };
const char *doctor_outcome_name(enum doctor_outcome o); /* "ok" "bends" "unknown" */

/* One line each, cleaned. */
struct doctor_finding {
	const char *check;   /* "governor" */
	const char *subject; /* the variable, device or file, if a check can find several; else "" */
	enum doctor_outcome outcome;
	const char *what;
	const char *cure;    /* the fix; "" if none is needed or possible */
};

/* A configured runner. */
struct doctor_runner {
	const char *name;
	const struct device *device; /* from its hello; NULL: it does not answer */
	const char *error;           /* why it does not answer */
};

struct doctor_options {
	const char *root;         /* a directory that contains proc and sys; "": the machine's own */
	const char *const *variables; /* "NAME=value" ... NULL; borrowed */
	const char *db;           /* path of the database, which need not exist; NULL: not checked */
	const char *(*network)(const char *path); /* store_network: the network file system of a path, or
						     NULL */
	const char *version;      /* of this program */
	int window_ms;            /* time between the two readings; DOCTOR_WINDOW_MS is enough */
	int pid;                  /* of this process; its load and its children's are not counted */
	int threads;              /* requested of the runners; 0: their default */
	int runner_count;
	const struct doctor_runner *runners;
};

struct doctor;

/* Takes the first reading of all counters (load, steal time, throttling, swapping). Copies the options except
 * the variables. The caller closes it. */
#define DOCTOR_WINDOW_MS 500
struct doctor *doctor_open(const struct doctor_options *o);
void doctor_close(struct doctor *d);
int doctor_due_ms(const struct doctor *d); /* ms until the second reading is due; 0: now */
/* Takes the second reading and runs all checks. Findings are in the table's order, owned by d, valid until
 * the next call. */
const struct doctor_finding *doctor_look(struct doctor *d, int *count);
/* { check, subject, outcome, what, cure } */
json_t *doctor_json(const struct doctor_finding *f);

#endif
