/* What the checks share: files below the root, findings, the two readings. */
#ifndef DOCTOR_PRIVATE_H
#define DOCTOR_PRIVATE_H

#include "base/arena.h"
#include "base/hash.h"
#include "doctor/doctor.h"

#define DOCTOR_CPUS 4096

/* What is counted since the machine was started. NaN where it is not told. */
struct reading {
	double busy, idle, steal;     /* ticks of all processors: work, none, what the hypervisor took */
	double own;                   /* of this process and its children */
	double throttled;             /* how often cores and packages were */
	double swapped;               /* pages in and out */
};

/* A process of others. */
struct process {
	int pid, parent;
	double ticks;
	char name[64];
};

struct doctor {
	struct doctor_options o;      /* strings live in kept */
	int64_t opened_ms;
	struct arena kept;
	struct arena arena;           /* of one look */
	struct reading first, now;
	struct hash ticks;            /* pid -> what every process had used at the first reading */
	struct process busiest;       /* since then; its ticks are those since then */
	const struct doctor_check *at;/* the check at work */
	int count, capacity;
	struct doctor_finding *findings;
};

struct doctor_check {
	const char *name;
	void (*look)(struct doctor *d);
	const char *cure;             /* for what bends */
};

/* Adds a finding; the check's cure goes with what bends. */
void doctor_found(struct doctor *d, enum doctor_outcome outcome, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same about something, with a cure of its own; NULL: the check's, where it bends. */
void doctor_found_of(struct doctor *d, const char *subject, enum doctor_outcome outcome, const char *cure, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* A file below the root, at most 256 KiB of it, without the blanks at its end; lives in d->arena. NULL: cannot be read. */
const char *doctor_file(struct doctor *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Its first number; NaN: none. */
double doctor_number(struct doctor *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The number behind a word at the beginning of a line ("MemTotal:"); NaN: it is not there. */
double doctor_field(const char *text, const char *word);
/* The rest of that line; NULL: it is not there. */
const char *doctor_line(struct doctor *d, const char *text, const char *word);
/* "0-3,8" into flags; how many. */
int doctor_list(const char *list, bool *flags, int most);
/* Processors that this process may use; how many, 0: not known. */
int doctor_cpus(struct doctor *d, bool flags[DOCTOR_CPUS]);
/* Folders of this process's control group, its own first, then those around it: version 2 where controller is NULL, else
 * that of version 1. Returns the count. */
int doctor_groups(struct doctor *d, const char *controller, const char **folders, int most);

/* doctor_load.c: what is counted now. */
void doctor_reading(struct doctor *d, struct reading *r);

/* The checks. */
void doctor_governor(struct doctor *d);
void doctor_boost(struct doctor *d);
void doctor_frequency(struct doctor *d);
void doctor_throttling(struct doctor *d);
void doctor_power(struct doctor *d);
void doctor_virtual(struct doctor *d);
void doctor_cores(struct doctor *d);
void doctor_siblings(struct doctor *d);
void doctor_quota(struct doctor *d);
void doctor_clock(struct doctor *d);
void doctor_load(struct doctor *d);
void doctor_pressure(struct doctor *d);
void doctor_steal(struct doctor *d);
void doctor_memory(struct doctor *d);
void doctor_swap(struct doctor *d);
void doctor_pages(struct doctor *d);
void doctor_nodes(struct doctor *d);
void doctor_limits(struct doctor *d);
void doctor_database(struct doctor *d);
void doctor_variables(struct doctor *d);
void doctor_runners(struct doctor *d);
void doctor_isa(struct doctor *d);
void doctor_threads(struct doctor *d);
void doctor_gpu(struct doctor *d);
void doctor_gpu_power(struct doctor *d);
void doctor_gpu_load(struct doctor *d);

#endif
