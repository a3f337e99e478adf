/* Internal interfaces of the checks: files below the root, findings, the two readings. */
#ifndef DOCTOR_PRIVATE_H
#define DOCTOR_PRIVATE_H

#include "base/arena.h"
#include "base/hash.h"
#include "doctor/doctor.h"

#define DOCTOR_CPUS 4096

/* Counters since boot; NaN unknown. */
struct reading {
	double busy, idle, steal;     /* ticks of all processors: busy, idle, stolen by the hypervisor */
	double own;                   /* ticks of this process and its children */
	double throttled;             /* throttling events of cores and packages */
	double swapped;               /* pages swapped in and out */
};

/* A process other than this one and its children. */
struct process {
	int pid, parent;
	double ticks;
	char name[64];
};

struct doctor {
	struct doctor_options o;      /* strings live in kept */
	int64_t opened_ms;
	struct arena kept;
	struct arena arena;           /* of one doctor_look */
	struct reading first, now;
	struct hash ticks;            /* pid -> ticks of the process at the first reading */
	struct process busiest;       /* the process with the most ticks since the first reading */
	const struct doctor_check *at;/* the check that runs */
	int count, capacity;
	struct doctor_finding *findings;
};

struct doctor_check {
	const char *name;
	void (*look)(struct doctor *d);
	const char *cure;             /* the fix for DOCTOR_BENDS */
};

/* Adds a finding; one that distorts measurements gets the check's fix. */
void doctor_found(struct doctor *d, enum doctor_outcome outcome, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same about a subject, with its own fix; NULL: as doctor_found. */
void doctor_found_of(struct doctor *d, const char *subject, enum doctor_outcome outcome, const char *cure,
	const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Contents of a file below the root, at most 256 KiB, without trailing blanks, in d->arena. NULL: it cannot
 * be read. */
const char *doctor_file(struct doctor *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Its first number; NaN: none. */
double doctor_number(struct doctor *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The number after a word at the beginning of a line ("MemTotal:"); NaN: not found. */
double doctor_field(const char *text, const char *word);
/* The rest of that line; NULL: not found. */
const char *doctor_line(struct doctor *d, const char *text, const char *word);
/* Parses "0-3,8" into flags; returns their number. */
int doctor_list(const char *list, bool *flags, int most);
/* Flags of the processors that this process may use; returns their number, 0: unknown. */
int doctor_cpus(struct doctor *d, bool flags[DOCTOR_CPUS]);
/* Directories of this process's cgroup and its parents, innermost first: version 2 if controller is NULL,
 * else that controller of version 1. Returns the count. */
int doctor_groups(struct doctor *d, const char *controller, const char **folders, int most);

/* doctor_load.c: reads all counters. */
void doctor_reading(struct doctor *d, struct reading *r);

/* The checks of a topic, in order; the last row is without a name. */
extern const struct doctor_check doctor_cpu_checks[], doctor_load_checks[], doctor_memory_checks[],
	doctor_variables_checks[], doctor_device_checks[], doctor_database_checks[];

#endif
