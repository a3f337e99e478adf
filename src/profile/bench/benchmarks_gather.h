/* Runs of SCOPE's benchmarks become results: runs of the same benchmark are its samples, and a run that
 * failed takes what only successful runs say (device, order of the tensors) from the other runs of its part
 * of the file. Private to the room. */
#ifndef PROFILE_BENCH_BENCHMARKS_GATHER_H
#define PROFILE_BENCH_BENCHMARKS_GATHER_H

#include "profile/bench/benchmarks.h"
#include "profile/bench/scope.h"

struct gather_runs;

/* A run as the file states it. */
struct benchmarks_run {
	struct scope_benchmark benchmark;
	struct text name;	   /* of the benchmark, for reports */
	const char *model, *stack; /* of the device; model "": this run does not say */
	const char *attributes;	   /* of the device, JSON */
	double compute_capability; /* NaN: unknown */
	double ns;
	int64_t iterations;  /* of which ns is the mean */
	const char *failure; /* the message of a run that failed; NULL: it did not */
	int64_t measured_at; /* 0: unknown */
};

/* Collects the runs of a file; gather_runs_end frees it. b is borrowed. */
struct gather_runs *gather_runs_new(struct benchmarks *b);
/* Ends a part of the file, in which all runs are of one device and order. */
void gather_runs_part(struct gather_runs *g);
void gather_runs_add(struct gather_runs *g, const struct benchmarks_run *run);
/* Ends the last part and adds the results to the benchmarks. Frees g. */
void gather_runs_end(struct gather_runs *g);
/* Counts a benchmark that is left out. reason: constant. */
void benchmarks_leave_out(struct benchmarks *b, const char *reason, struct text name);

/* The readers of both kinds of files; see benchmarks_read. */
int benchmarks_read_json(
	const char *path, const struct profile_options *options, struct benchmarks *b, struct error *err);
int benchmarks_read_csv(
	const char *path, const struct profile_options *options, struct benchmarks *b, struct error *err);

#endif
