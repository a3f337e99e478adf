/* What on this machine bends numbers: clocks that move, cores that are not free, limits, variables, libraries, the GPU's own
 * troubles. Reads /proc, /sys and the environment, changes nothing, needs no rights; what runners say in their hellos is
 * passed in. One table of checks (doctor.c), each with what to do. */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include "base/json.h"
#include "problem/result.h"

enum doctor_outcome { DOCTOR_OK, DOCTOR_BENDS, DOCTOR_UNKNOWN, DOCTOR_OUTCOMES };
const char *doctor_outcome_name(enum doctor_outcome o); /* "ok" "bends" "unknown" */

/* One line each, cleaned. */
struct doctor_finding {
	const char *check;   /* "governor" */
	const char *subject; /* the variable, device or file it is about where a check may find several, else "" */
	enum doctor_outcome outcome;
	const char *what;
	const char *cure;    /* what to do; "" where nothing need be done, or nothing can */
};

/* A runner that was asked. */
struct doctor_runner {
	const char *name;
	const struct device *device; /* NULL: it does not answer */
	const char *error;           /* then why */
};

struct doctor_options {
	const char *root;         /* a directory with proc and sys in it; "" this machine's own */
	const char *const *variables; /* "NAME=value" ... NULL */
	const char *db;           /* path of the database, which need not be there; NULL: not looked at */
	const char *(*network)(const char *path); /* store_network: tells what network file system a path is on */
	const char *version;      /* of this program */
	int window_ms;            /* from the first reading to the second: DOCTOR_WINDOW_MS tells enough */
	int pid;                  /* of this process: neither its load nor its children's counts */
	int threads;              /* that runners are asked to measure with; 0: as many as they like */
	int runner_count;
	const struct doctor_runner *runners;
};

struct doctor;

/* Takes the first reading of what is counted over a while (load, steal time, throttling, swapping). Options are copied, but
 * for the variables. */
#define DOCTOR_WINDOW_MS 500
struct doctor *doctor_open(const struct doctor_options *o);
void doctor_close(struct doctor *d);
int doctor_due_ms(const struct doctor *d); /* until the second reading: 0 now */
/* The second reading, and all checks: findings in the table's order, owned by d, until the next call. */
const struct doctor_finding *doctor_look(struct doctor *d, int *count);
/* { check, subject, outcome, what, cure } */
json_t *doctor_json(const struct doctor_finding *f);

#endif
